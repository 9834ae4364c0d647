"""Which hits of a search people are shown."""

from dataclasses import replace
from uuid import UUID

import pytest
from builders.chats import START

from episodic_agent.engine.results import Hit, Recall
from episodic_agent.faces.cli.reading import render_recall

BEST = Hit(UUID(int=1), UUID(int=2), "The plumber", "", 0.5, 0.37, START, START, "closed", 1.0, ())
OTHERS = [replace(BEST, title="The cello", confidence=0.02), replace(BEST, title="The tap", confidence=0.14)]


def test_a_hit_that_is_surely_none_is_left_out_and_counted(capsys: pytest.CaptureFixture[str]) -> None:
    recall = Recall("who came?", [BEST, *OTHERS], (), 0.4)
    render_recall(recall, "ana")
    shown = capsys.readouterr()
    assert "1. The plumber" in shown.out
    assert "2. The tap" in shown.out
    assert "The cello" not in shown.out
    assert "1 unlikely hit left out; --explain shows them" in shown.err
    render_recall(recall, "ana", explain=True)
    assert "2. The cello" in capsys.readouterr().out


def test_the_best_hit_is_shown_however_faint_and_all_of_a_policy_that_is_sure_of_none(
    capsys: pytest.CaptureFixture[str],
) -> None:
    render_recall(Recall("who came?", [replace(BEST, confidence=0.003)], (), 0.2), "ana")
    assert "confidence under 1%" in capsys.readouterr().out
    unsure = [replace(hit, confidence=0.0) for hit in (BEST, *OTHERS)]
    render_recall(Recall("who came?", unsure, (), 0.0), "ana")
    assert "3. The tap" in capsys.readouterr().out
