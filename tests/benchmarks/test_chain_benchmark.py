"""The chaining benchmark: worlds are dealt as they say, one half is read, and figures follow from pairs."""

import gzip
import json
from pathlib import Path

from benchmarks.chain_cases import ARCS, LENGTH, dealt, figures, pairs, stories
from benchmarks.chain_quality import Reader, chained, judged, previous
from episodic_agent.core.chains.policies import chain_policy


def test_pairs_and_figures_are_of_sessions_that_stand_in_one_tree() -> None:
    results = pairs({"a": None, "b": "a", "c": "a", "d": None})
    assert results == {("a", "b"), ("a", "c"), ("b", "c")}
    true = pairs({"a": None, "b": "a", "c": None, "d": None})
    assert figures([results], [true]) == {"f1": 0.5, "precision": 0.3333, "recall": 1.0}


def test_only_the_stories_of_the_named_half_are_read(tmp_path: Path) -> None:
    items = {
        "id": "s1",
        "parent": None,
        "messages": [{"at": "2026-03-04T09:00:00Z", "speaker": "Tim", "text": "Hi"}],
    }
    for name, half, sessions in (("mine", "dev", [items]), ("other", "frozen", "not to be looked at")):
        raw = {"name": name, "half": half, "speaker": "Tim", "sessions": sessions}
        (tmp_path / f"{name}.json").write_text(json.dumps(raw), encoding="utf-8")
    assert [world.name for world in stories(tmp_path, "dev")] == ["mine"]
    assert len(list(stories(ARCS, "dev"))) == 8


def test_dealt_chats_are_days_apart_and_half_of_their_sessions_go_on_from_nothing(tmp_path: Path) -> None:
    path = tmp_path / "chats.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        for chat in range(8):
            messages = [
                {"speaker": "user", "text": f"matter {chat} part {n}", "session": n} for n in range(4)
            ]
            file.write(json.dumps({"id": f"chat{chat}", "messages": messages}) + "\n")
    worlds = list(dealt(path, 3))
    assert len(worlds) == 3
    for world in worlds:
        by_id = {session.id: session for session in world.sessions}
        starts = [session.start for session in world.sessions]
        assert starts == sorted(starts)
        going_on = [session for session in world.sessions if session.parent is not None]
        assert len(going_on) == len(world.sessions) - len(going_on) == 4 * (LENGTH - 1)
        for session in going_on:
            before = by_id[session.parent or ""]
            assert before.id.split("/")[0] == session.id.split("/")[0]
            assert 1.0 <= (session.start - before.start).total_seconds() / 86400 <= 2.0


def test_the_default_chains_a_story_better_than_the_session_before() -> None:
    worlds = [world for world in stories(ARCS, "dev") if world.name in ("board-game", "pet-illness")]
    read = Reader(None)
    results = judged(worlds, lambda world: chained(world, read, chain_policy()))
    rule = judged(worlds, previous)
    assert results["precision"] > rule["precision"]
    assert results["f1"] > rule["f1"]
    assert set(results["worlds"]) == {"board-game", "pet-illness"}
