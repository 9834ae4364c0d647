"""Corrections by hand: one boundary put or taken away, titles; each explained, searched and undone."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from builders.chats import BREAD, LISBON, TAP, Clock, diary, mine, say, talk
from conftest import After, OpenMemory
from engine.test_resegment import (
    assert_sound,
    episodes,
    exported,
    findings,
    spans,
    store_of,
    tamper,
    timeless,
)

from episodic_agent import Memory
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.schemas import Scope

THREAD = "chat"


@pytest.fixture
def memory(open_memory: OpenMemory, url: str) -> Memory:
    return open_memory(path=url)


def tell(memory: Memory, _clock: Clock) -> None:
    mine(memory).add(diary())
    mine(memory).flush()


@pytest.fixture
def told(after: After, open_memory: OpenMemory, url: str) -> Memory:
    after(tell, url=url)
    memory = open_memory(path=url)
    assert spans(memory) == [(0, 3), (4, 7), (8, 11), (12, 15)]
    return memory


def correct(memory: Memory, **edit: Any) -> Any:
    return mine(memory).boundaries.resegment(THREAD, **edit)


def explained(memory: Memory, first: int) -> Any:
    (identity,) = (e.id for e in episodes(memory) if e.first_seq == first)
    return mine(memory).boundaries.explain(identity)


# --- cut and join ---------------------------------------------------------------------------------------


def test_a_cut_by_hand_divides_one_episode_and_leaves_the_others(told: Memory) -> None:
    before = episodes(told)
    done = correct(told, cut=6)
    assert (done.mode, done.kept, done.replaced, done.new, done.generation) == ("hand", 3, 1, 2, 1)
    assert spans(told) == [(0, 3), (4, 5), (6, 7), (8, 11), (12, 15)]
    after = episodes(told)
    assert [after[0], *after[3:]] == [before[0], *before[2:]]
    assert all(e.title and e.encoding_version == 1 for e in after)
    assert explained(told, 4).ends.sentence == "somebody cut it here by hand, after 2 min of silence"
    assert explained(told, 6).begins.sentence.startswith("somebody cut it here by hand")
    assert explained(told, 6).ends.sentence == explained(told, 8).begins.sentence
    assert [s for s in done.proposed if s.first_seq in (4, 6)] == [
        type(done.proposed[0])(4, 5, "manual"),
        type(done.proposed[0])(6, 7, before[1].reason),
    ]
    assert_sound(told)


def test_a_join_by_hand_makes_one_episode_that_tells_so_and_is_found(told: Memory) -> None:
    old = [e.id for e in episodes(told)][:2]
    done = correct(told, join=4)
    assert (done.kept, done.replaced, done.new) == (2, 2, 1)
    assert spans(told) == [(0, 7), (8, 11), (12, 15)]
    assert "what was cut before message 4 was joined by hand" in explained(told, 0).ends.sentence
    (new,) = (e.id for e in episodes(told) if e.first_seq == 0)
    assert {mine(told).episodes.successor(one) for one in old} == {new}
    assert mine(told).search("flights to Lisbon").hits[0].episode_id == new
    assert_sound(told)


def test_a_join_is_still_told_after_another_and_after_a_cut(told: Memory) -> None:
    correct(told, join=8)
    correct(told, join=4)
    assert "before message 4, 8 was joined" in explained(told, 0).ends.sentence
    correct(told, cut=6)
    assert "before message 4 was joined" in explained(told, 0).ends.sentence
    assert "before message 8 was joined" in explained(told, 6).ends.sentence
    assert spans(told) == [(0, 5), (6, 11), (12, 15)]
    assert_sound(told)


@pytest.mark.parametrize("edit", [{"cut": 6}, {"join": 4}, {"join": 12}])
def test_undo_restores_everything_to_the_byte(told: Memory, edit: dict[str, int]) -> None:
    before, stored = timeless(told), episodes(told)
    correct(told, **edit)
    assert episodes(told) != stored
    mine(told).boundaries.undo(THREAD)
    assert episodes(told) == stored
    assert timeless(told) == before
    assert_sound(told)


def test_each_correction_is_undone_by_itself(told: Memory) -> None:
    correct(told, cut=6)
    correct(told, join=4)
    assert spans(told) == [(0, 5), (6, 7), (8, 11), (12, 15)]
    mine(told).boundaries.undo(THREAD)
    assert spans(told) == [(0, 3), (4, 5), (6, 7), (8, 11), (12, 15)]
    mine(told).boundaries.undo(THREAD)
    assert spans(told) == [(0, 3), (4, 7), (8, 11), (12, 15)]
    with pytest.raises(NotFound, match="nothing to undo"):
        mine(told).boundaries.undo(THREAD)


def test_the_thread_goes_on_as_if_nobody_had_corrected_its_past(
    open_memory: OpenMemory, tmp_path: Path
) -> None:
    one, two = (open_memory(path=tmp_path / name, policy="default") for name in ("one.db", "two.db"))
    for memory in (one, two):
        mine(memory).add(diary())
    closed = spans(one)
    correct(one, cut=1)
    for memory in (one, two):
        mine(memory).add(talk(TAP, 9))
        mine(memory).flush()
    assert spans(one) == [(0, 0), (1, closed[0][1]), *spans(two)[1:]]
    assert_sound(one)


@pytest.mark.parametrize("policy", ["seed-001", "default"])
def test_the_open_frame_is_cut_and_goes_on_and_is_undone(
    open_memory: OpenMemory, url: str, policy: str
) -> None:
    memory = open_memory(path=url, policy=policy)
    mine(memory).add([say(text, 2 * n, role) for n, (role, text) in enumerate((*TAP, *LISBON[:2]))])
    mine(memory).boundaries.resegment(THREAD)  # whatever the policy concluded, it is what is corrected
    before, closed = timeless(memory), spans(memory)
    correct(memory, cut=5)
    assert spans(memory)[-1][1] == 4
    assert mine(memory).episodes.list()[-1].state == "open"
    assert_sound(memory)
    mine(memory).boundaries.undo(THREAD)
    assert spans(memory) == closed
    assert timeless(memory) == before
    correct(memory, cut=5)
    mine(memory).add(talk(BREAD, 9))
    mine(memory).flush()
    assert 5 in {first for first, _ in spans(memory)}
    assert_sound(memory)


def test_the_last_episode_is_joined_to_what_is_still_open(open_memory: OpenMemory, url: str) -> None:
    memory = open_memory(path=url, policy="default")
    mine(memory).add([say(text, 2 * n, role) for n, (role, text) in enumerate(TAP)])
    mine(memory).flush()
    mine(memory).add([say(text, 20 + 2 * n, role) for n, (role, text) in enumerate(TAP[:2])])
    before = timeless(memory)
    assert spans(memory) == [(0, 3)]
    correct(memory, join=4)
    assert spans(memory) == []
    assert mine(memory).episodes.list()[-1].observations == 6
    mine(memory).boundaries.undo(THREAD)
    assert timeless(memory) == before
    correct(memory, join=4)
    mine(memory).add(talk(LISBON, 9))
    mine(memory).flush()
    assert spans(memory)[0][0] == 0
    assert spans(memory)[0][1] >= 5
    assert_sound(memory)


def test_a_policy_that_would_cut_again_refuses_to_join_what_is_open(memory: Memory) -> None:
    mine(memory).add(diary())
    with pytest.raises(InvalidInput, match="flush the thread, then join"):
        correct(memory, join=12)
    mine(memory).flush()
    correct(memory, join=12)
    assert spans(memory)[-1] == (8, 15)


def test_what_cannot_be_corrected_is_refused_in_a_line(told: Memory) -> None:
    before = exported(told)
    for edit, why in [
        ({"cut": 4}, "begins with message 4 already"),
        ({"cut": 99}, "none has the number 99"),
        ({"cut": 0}, "1 or more"),
        ({"cut": True}, "1 or more"),
        ({"join": 5}, "no episode begins with message 5"),
        ({"join": 16}, "no episode begins with message 16"),
        ({"cut": 2, "join": 4}, "one boundary"),
        ({"cut": 2, "policy": "seed-001"}, "leave the policy"),
        ({"cut": 2, "complete": False}, "leave the policy"),
    ]:
        with pytest.raises(InvalidInput, match=why):
            correct(told, **edit)
    assert exported(told) == before


def test_a_dry_run_tells_and_writes_nothing(told: Memory) -> None:
    before = exported(told)
    would = correct(told, join=8, dry_run=True)
    assert (would.written, would.replaced, would.new) == (False, 2, 1)
    assert [(s.first_seq, s.last_seq) for s in would.proposed] == [(0, 3), (4, 11), (12, 15)]
    assert exported(told) == before


def test_the_doctor_repeats_a_correction(told: Memory) -> None:
    correct(told, join=4)
    assert findings(told) == []
    with store_of(told).begin(Scope(), write=False) as tx:
        (decision,) = tx.knowledge.decisions(type="resegment")
    assert (decision.verdict, decision.detail["join"]) == ("hand", 4)
    tamper(told, detail={**decision.detail, "join": 8})
    assert findings(told) == [("error", "I7")]
    tamper(told, detail={name: value for name, value in decision.detail.items() if name != "join"})
    assert findings(told) == [("error", "I7")]


def test_a_corrected_thread_is_exported_segmented_again_and_erased(
    told: Memory, open_memory: OpenMemory, tmp_path: Path
) -> None:
    correct(told, join=4)
    copy = open_memory(path=tmp_path / "copy.db")
    target = tmp_path / "export.jsonl"
    target.write_text("\n".join(mine(told).export()), encoding="utf-8")
    mine(copy).import_file(target)
    assert spans(copy) == spans(told)
    assert copy.doctor() == []
    mine(told).boundaries.resegment(THREAD, "seed-001")
    assert spans(told) == [(0, 3), (4, 7), (8, 11), (12, 15)]
    correct(told, cut=6)
    mine(told).erase(episode=next(e.id for e in episodes(told) if e.first_seq == 6))
    assert told.doctor() == []
    with pytest.raises(NotFound, match="erased since"):
        mine(told).boundaries.undo(THREAD)


# --- titles ---------------------------------------------------------------------------------------------


def test_an_episode_is_renamed_found_by_its_new_title_and_keeps_it(told: Memory) -> None:
    episode = episodes(told)[1]
    renamed = mine(told).episodes.rename(episode.id, "  A xylophone for   Ana ")
    assert (renamed.title, renamed.summary, renamed.encoded_by) == (
        "A xylophone for Ana",
        episode.summary,
        "hand",
    )
    assert renamed.stability == episode.stability
    answer = mine(told).search("xylophone", explain=True)
    assert [*answer.hits, *answer.candidates][0].episode_id == episode.id
    assert [e.title for e in mine(told).episodes.history(episode.id)] == [
        episode.title,
        "A xylophone for Ana",
    ]
    mine(told).episodes.reencode(every=True)
    assert mine(told).episodes.get(episode.id).title == "A xylophone for Ana"
    mine(told).episodes.reencode(every=True, by="hand")
    assert mine(told).episodes.get(episode.id).title == episode.title
    assert_sound(told)


def test_what_is_no_title_or_no_episode_is_refused(told: Memory) -> None:
    episode = episodes(told)[0]
    for title in ("", "  \n", "x" * 201):
        with pytest.raises(InvalidInput, match="characters"):
            mine(told).episodes.rename(episode.id, title)
    with pytest.raises(InvalidInput, match="text"):
        mine(told).episodes.rename(episode.id, 5)  # type: ignore[arg-type]
    with pytest.raises(NotFound):
        mine(told).episodes.rename("00000000-0000-7000-8000-000000000000", "x")
    assert mine(told).episodes.rename(episode.id, episode.title) == episode


# --- decisions in the order they were made ----------------------------------------------------------------


def test_decisions_are_listed_by_the_time_they_were_made(told: Memory, clock: Clock) -> None:
    first = mine(told).trace.decisions()
    assert {one.type for one in first} >= {"boundary"}
    clock.forward(hours=1)
    correct(told, join=4)
    later = mine(told).trace.decisions(since=clock.now)
    assert {one.type for one in later} >= {"boundary", "resegment"}
    assert all("former" not in one.detail for one in later)
    assert len(mine(told).trace.decisions(since=clock.now, limit=1)) == 1
    assert mine(told).trace.decisions(since=clock.now + timedelta(hours=1)) == []
    with pytest.raises(InvalidInput):
        mine(told).trace.decisions(limit=0)
