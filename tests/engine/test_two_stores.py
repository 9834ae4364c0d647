"""The same memory on SQLite and on PostgreSQL: equal episodes, equal hits in equal order, and moved without loss."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from builders.chats import BREAD, Clock, diary, mine, say, talk
from conftest import OpenMemory

from episodic_agent import Memory
from episodic_agent.data import demo_folder
from episodic_agent.engine.evaluate.cases import rows

DEMO = demo_folder()
GIVEN = os.environ.get("EPISODIC_TEST_DATA")  # read now: the tests see no such variables


@dataclass(frozen=True)
class Twins:
    """Two memories that are told and asked the same."""

    embedded: Memory
    served: Memory

    def __iter__(self) -> Iterator[Memory]:
        return iter((self.embedded, self.served))

    def assert_same(self, answer: Callable[[Memory], Any]) -> Any:
        """Let both answer; the answers must be equal to the last digit."""
        first, second = map(answer, self)
        assert second == first
        return first


@pytest.fixture
def twins(open_memory: OpenMemory, postgres_url: str) -> Iterator[Twins]:
    with ExitStack():
        yield Twins(open_memory(policy="default"), open_memory(path=postgres_url, policy="default"))


def exported(memory: Memory) -> list[str]:
    """Return an export without its header, which holds the time of writing."""
    return list(mine(memory).export())[1:]


def ask_both(duplicates: Twins, questions: Sequence[str]) -> int:
    """Compare hits, evidence, scores, legs and confidence; return how many observations were compared."""
    compared = 0
    for question in questions:
        for options in ({}, {"explain": True, "observations": 50}):
            recall = duplicates.assert_same(lambda m, q=question, o=options: mine(m).search(q, limit=10, **o))
            compared += len(recall.observations)
    return compared


@pytest.mark.parametrize(
    ("files", "episodes"),
    [("maya-family.jsonl", 5), pytest.param("maya-*.jsonl", 20, marks=pytest.mark.slow)],
)
def test_the_demo_is_the_same_memory_on_both(twins: Twins, files: str, episodes: int) -> None:
    for file in sorted(DEMO.glob(files)):
        twins.assert_same(lambda m, f=file: mine(m).import_file(f))
    assert twins.assert_same(exported)
    assert len(twins.assert_same(lambda m: mine(m).episodes.list())) > episodes
    twins.assert_same(lambda m: [(t.origin, t.title, t.last_activity_at) for t in mine(m).threads.list()])
    twins.assert_same(
        lambda m: [
            mine(m).boundaries.explain(card.episode_id)
            for card in mine(m).episodes.list()
            if card.state != "open"
        ]
    )
    twins.assert_same(lambda m: mine(m).episodes.recent(limit=7))
    asked = json.loads((DEMO / "questions.json").read_text(encoding="utf-8"))
    assert ask_both(twins, [q["question"] for q in asked[:: 20 // episodes]]) > 15 * episodes


@pytest.mark.slow
def test_filters_by_time_and_thread_leave_the_same(twins: Twins) -> None:
    for memory in twins:
        mine(memory).add(diary(), thread="home")
        mine(memory).add(talk(BREAD, 9, "later"), thread="work")
    spans = twins.assert_same(lambda m: [(c.start_at, c.end_at) for c in mine(m).episodes.list()])
    for start, end in spans:
        twins.assert_same(
            lambda m, s=start, e=end: mine(m).search("the bread and the cello", since=s, until=e)
        )
    for thread in ("home", "work"):
        twins.assert_same(lambda m, t=thread: mine(m).search("bread", thread=t))
        twins.assert_same(lambda m, t=thread: mine(m).boundaries.trace(t))
        twins.assert_same(lambda m, t=thread: mine(m).boundaries.whatif(t, "seed-001"))


@pytest.mark.slow
def test_both_go_on_alike_after_flush_and_silence(twins: Twins, clock: Clock) -> None:
    for memory in twins:
        mine(memory).add(diary(), thread="home")
        mine(memory).flush(thread="home")
        mine(memory).add(say("the bread again, and another loaf", 9 * 1440 + 10), thread="home")
    clock.forward(days=30)
    twins.assert_same(lambda m: m.upkeep())
    twins.assert_same(exported)
    twins.assert_same(lambda m: [f for f in m.doctor() if f.severity == "error"])


@pytest.mark.slow
def test_both_segment_again_go_on_and_undo_alike(twins: Twins) -> None:
    for memory in twins:
        mine(memory).import_file(DEMO / "maya-work.jsonl")
    (origin,) = [t.origin for t in mine(twins.embedded).threads.list()]
    before = twins.assert_same(exported)
    for policy, complete in (
        ("seed-001", True),
        ("default?threshold=0.2", True),
        ("seed-001?max_messages=9", False),
    ):
        twins.assert_same(
            lambda m, p=policy, w=complete: mine(m).boundaries.resegment(origin, p, complete=w, dry_run=True)
        )
        assert twins.assert_same(
            lambda m, p=policy, w=complete: mine(m).boundaries.resegment(origin, p, complete=w)
        ).written
        twins.assert_same(exported)
        twins.assert_same(lambda m: m.doctor())
        twins.assert_same(lambda m: mine(m).episodes.replaced())
        twins.assert_same(lambda m: [mine(m).episodes.successor(i) for i in mine(m).episodes.replaced()])
        ask_both(twins, ["what about the release?", "who was at the workshop?"])
    for memory in twins:
        mine(memory).add(say("and one more thing", 5 * 10**5), thread=origin)
    for _ in range(3):
        twins.assert_same(lambda m: mine(m).boundaries.undo(origin))
        twins.assert_same(exported)
        ask_both(twins, ["what about the release?"])
    assert len(twins.assert_same(exported)) > len(before)
    twins.assert_same(lambda m: m.doctor())


@pytest.mark.parametrize(
    "back",
    [
        pytest.param(False, id="file to server", marks=pytest.mark.slow),
        pytest.param(True, id="server to file", marks=pytest.mark.slow),
    ],
)
def test_a_memory_moves_to_the_other_store_and_back_without_loss(
    twins: Twins, open_memory: OpenMemory, tmp_path: Path, back: bool
) -> None:
    source, target = (twins.served, twins.embedded) if back else (twins.embedded, twins.served)
    mine(source).import_file(DEMO / "maya-family.jsonl")
    mine(source).add(
        [say("שלום 🎉 猫が好き", 3, name="Bo", mood="glad"), say("nul \x00 inside", 4)], thread="odd"
    )
    path = tmp_path / "moved.jsonl"
    path.write_text("".join(line + "\n" for line in mine(source).export()), encoding="utf-8")
    report = mine(target).import_file(path)
    assert report.added == report.observations == mine(source).stats().observations
    twins.assert_same(exported)
    asked = json.loads((DEMO / "questions.json").read_text(encoding="utf-8"))
    assert ask_both(twins, [q["question"] for q in asked[:10]]) > 50
    assert mine(target).import_file(path).added == 0
    twins.assert_same(exported)
    for memory in twins:
        mine(memory).add(say("and it goes on here", 5), thread="odd")
    twins.assert_same(lambda m: [c.observations for c in mine(m).episodes.list(thread="odd")])


@pytest.mark.slow
def test_places_and_questions_for_them_are_the_same_on_both_and_move_along(
    twins: Twins, tmp_path: Path
) -> None:
    rooms = ["Kitchen"] * 9 + ["Hall", "unknown"] * 4 + ["kitchen"] * 11 + ["Küche"] * 5 + ["Hall"] * 8
    steps = [
        say(f"look at thing {n * 7 % 13}", n, "agent", location=room, kind="step")
        for n, room in enumerate(rooms)
    ]
    for memory in twins:
        mine(memory).add(steps[:20], thread="robot")
        mine(memory).add(steps[20:], thread="robot")
    asked = ["what happened in the kitchen?", "thing 3 in the hall", "Was war in der Küche?", "thing 5"]
    assert ask_both(twins, asked) > 40
    moved = tmp_path / "moved.jsonl"
    moved.write_text("\n".join(mine(twins.embedded).export()) + "\n", encoding="utf-8")
    twins.served.user("copy").import_file(moved)
    for answer in (
        lambda user: user.places.list(),
        lambda user: [(v.place, v.first_seq, v.since_previous) for v in user.places.visits("KITCHEN")],
        lambda user: [len(v.episodes) for v in user.places.route("robot")],
    ):
        assert twins.assert_same(lambda m, t=answer: t(mine(m))) == answer(twins.served.user("copy"))


@pytest.mark.slow
@pytest.mark.skipif(GIVEN is None, reason="EPISODIC_TEST_DATA names no folder of labelled data")
def test_a_long_real_conversation_is_the_same_memory_on_both(twins: Twins) -> None:
    case: Mapping[str, Any] = next(iter(rows(Path(GIVEN or "") / "ret_realtalk.jsonl.gz")))
    answers = [
        {"id": str(m["id"]), "name": str(m["speaker"]), "content": m["text"] or "…", "timestamp": m["time"]}
        for m in case["messages"]
    ]
    twins.assert_same(lambda m: len(mine(m).add(answers, thread="real")))
    assert len(twins.assert_same(exported)) > len(answers)
    assert ask_both(twins, [q["question"] for q in case["questions"]]) > 1000
