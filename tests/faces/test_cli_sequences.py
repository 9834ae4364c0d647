"""The commands `sequence` and `replay`, and `mcp` where its settings are wrong."""

import json

import pytest
from builders.chats import diary
from builders.commands import Run
from conftest import OpenMemory


def test_a_topic_is_told_in_order_as_text_and_as_json(run: Run, open_memory: OpenMemory) -> None:
    open_memory().add(diary())
    run("flush")
    told = run("replay", "kitchen tap")
    assert told.code == 0
    assert told.out.startswith("📜 Episode history for 'kitchen tap' (1 episodes):")
    listed = json.loads(run("sequence", "--json", "--limit", "2").out)["episodes"]
    assert len(listed) == 2
    assert listed[0]["start_at"] < listed[1]["start_at"]
    assert run("sequence", "zeppelins").code == 0
    assert run("replay", "tap", "--order", "odd").code == 2
    assert run("sequence", "--where", "mood=good").code == 2


def test_a_budget_that_holds_no_answer_is_refused(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPISODIC_TOOL_BUDGET", "10")
    refused = run("mcp")
    assert refused.code == 2
    assert "EPISODIC_TOOL_BUDGET" in refused.err
