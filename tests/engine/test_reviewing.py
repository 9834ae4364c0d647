"""Memories that serve grow stronger, those that mislead weaker: from a search to the strength, end to end."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from builders.chats import Clock, mine
from conftest import OpenMemory

from episodic_agent import Memory
from episodic_agent.core.prompts import review as question
from episodic_agent.core.strength import next_state
from episodic_agent.engine.episodes.listing import find_thread
from episodic_agent.errors import InvalidInput, NotFound, ProviderUnavailable
from episodic_agent.providers.models.openai import ModelLimits, OpenAIModel
from episodic_agent.schemas import Decision, Episode, EpisodeState, Json, Scope
from episodic_agent.schemas.strength import Rating
from episodic_agent.testing.model_server import serving

TAP = "The kitchen tap dripped; plumber Rossi came on Friday and charged 80 euros"
CELLO = "Clara plays the cello with the Ravel quartet on Thursdays"
QUERY = "what about the kitchen tap and the cello?"
USED = "Plumber Rossi repaired it on Friday, he charged 80 euros."


@pytest.fixture
def stores(url: str, clock: Clock) -> Iterator[Memory]:
    with ExitStack() as stack:
        yield stack.enter_context(Memory.open(url, embedder="hashing", policy="seed-001", clock=clock))


def remember(memory: Memory, clock: Clock) -> dict[str, Episode]:
    """Two closed episodes of two threads, three days old, and an asking thread that begins today."""
    for name, text in (("tap", TAP), ("cello", CELLO)):
        mine(memory).add(text, thread=name, timestamp=clock.now)
        mine(memory).flush(thread=name)
    clock.forward(days=3)
    mine(memory).add("Good morning", thread="today", timestamp=clock.now)
    return episodes(memory)


def episodes(memory: Memory) -> dict[str, Episode]:
    closed = [c for c in mine(memory).episodes.list() if c.state != "open" and c.origin in ("tap", "cello")]
    # whether it was read for facts is no matter here
    return {
        card.origin: replace(mine(memory).episodes.get(card.episode_id), consolidated_at=None)
        for card in closed
    }


def say_and_end(memory: Memory, clock: Clock, *pairs: tuple[str, str]) -> None:
    for role, text in pairs:
        clock.forward(seconds=20)
        mine(memory).add(text, role=role, thread="today", timestamp=clock.now)
    mine(memory).flush(thread="today")


def judged(memory: Memory, episode: Episode) -> list[tuple[str, float]]:
    return [(d.verdict, d.features["rating"]) for d in mine(memory).episodes.reviews(episode.id)]


@pytest.mark.slow
def test_a_memory_that_served_is_stronger_on_both_stores(stores: Memory, clock: Clock) -> None:
    before = remember(stores, clock)
    recall = mine(stores).search(QUERY, asking="today")
    assert {hit.thread_id for hit in recall.hits} >= {e.thread_id for e in before.values()}
    assert episodes(stores) == before  # nothing is judged while nothing was said
    say_and_end(stores, clock, ("assistant", USED))
    after = episodes(stores)
    assert after["cello"] == before["cello"]
    good = next_state(before["tap"].stability, before["tap"].difficulty, 3, Rating.GOOD)
    assert (after["tap"].stability, after["tap"].difficulty) == (good.stability, good.difficulty)
    assert after["tap"].last_reviewed_at == clock.now
    (decision,) = mine(stores).episodes.reviews(after["tap"].id)
    assert (decision.type, decision.verdict, decision.subject) == ("review", "Good", after["tap"].id)
    assert decision.features["stability"] == before["tap"].stability
    assert decision.features["new_stability"] == after["tap"].stability
    assert decision.detail["query"] == QUERY


def test_a_search_that_names_nobody_changes_nothing(open_memory: OpenMemory, clock: Clock) -> None:
    memory = open_memory()
    before = remember(memory, clock)
    mine(memory).search(QUERY)
    say_and_end(memory, clock, ("assistant", USED))
    assert episodes(memory) == before


def test_a_memory_nobody_took_up_is_not_punished(open_memory: OpenMemory, clock: Clock) -> None:
    memory = open_memory()
    before = remember(memory, clock)
    mine(memory).search(QUERY, asking="today")
    say_and_end(memory, clock, ("assistant", "I know nothing about that."), ("user", "Never mind"))
    assert episodes(memory) == before
    assert judged(memory, before["tap"]) == []


def test_a_memory_that_misled_falls_below_its_twin(open_memory: OpenMemory, clock: Clock) -> None:
    memory = open_memory()
    before = remember(memory, clock)
    mine(memory).search(QUERY, asking="today")
    say_and_end(memory, clock, ("assistant", USED), ("user", "No, that's not what I meant"))
    after = episodes(memory)
    assert judged(memory, after["tap"]) == [("Again", 1.0)]
    assert after["tap"].stability < before["tap"].stability
    assert after["tap"].last_reviewed_at == before["tap"].last_reviewed_at  # noise does not count as fresh
    chances = {c.origin: c.retrievability for c in mine(memory).episodes.list() if c.origin in before}
    assert chances["tap"] < chances["cello"]


def test_a_memory_is_judged_once_a_day_and_each_recall_once(open_memory: OpenMemory, clock: Clock) -> None:
    memory = open_memory()
    tap = remember(memory, clock)["tap"]
    for _ in range(2):
        mine(memory).search(QUERY, asking="today")
        say_and_end(memory, clock, ("assistant", USED))
    mine(memory).flush()
    assert judged(memory, tap) == [("Good", 3.0)]
    clock.forward(days=1)
    mine(memory).search(QUERY, asking="today")
    say_and_end(memory, clock, ("user", "Right"), ("assistant", USED))
    # what the thread has said already is nobody's news
    assert judged(memory, tap) == [("Good", 3.0)]


@pytest.mark.slow
def test_an_export_takes_along_what_was_judged_and_what_waits_to_be(
    open_memory: OpenMemory, clock: Clock, tmp_path: Path
) -> None:
    memory = open_memory()
    tap = remember(memory, clock)["tap"]
    mine(memory).search(QUERY, asking="today")
    say_and_end(memory, clock, ("assistant", USED))
    mine(memory).add(TAP, thread="later", timestamp=clock.now)
    mine(memory).search(QUERY, asking="later")
    lines = list(mine(memory).export())
    (tmp_path / "all.jsonl").write_text("\n".join(lines), encoding="utf-8")
    copy = open_memory(tmp_path / "copy.db")
    for _ in range(2):  # a second time adds nothing
        mine(copy).import_file(tmp_path / "all.jsonl")
        assert list(mine(copy).export())[1:] == lines[1:]
        assert mine(copy).episodes.reviews(tap.id) == mine(memory).episodes.reviews(tap.id) != []
    clock.forward(days=2)
    for each in (memory, copy):
        mine(each).add(USED, role="assistant", thread="later", timestamp=clock.now)
        mine(each).flush(thread="later")
    assert [d.verdict for d in mine(copy).episodes.reviews(tap.id)] == [
        d.verdict for d in mine(memory).episodes.reviews(tap.id)
    ]
    assert waiting(copy) == waiting(memory) == 0


def waiting(memory: Memory) -> int:
    with memory._deps.store.begin(Scope(), write=False) as tx:
        return sum(len(tx.upkeep.reviews(thread.id)) for thread in tx.threads.list())


def test_a_recall_that_showed_nothing_waits_for_no_judgement(open_memory: OpenMemory, clock: Clock) -> None:
    memory = open_memory()
    remember(memory, clock)
    assert not mine(memory).search("quantum chromodynamics lagrangian", asking="today").hits
    assert waiting(memory) == 0


def test_a_pasted_page_is_judged_by_its_beginning(open_memory: OpenMemory, clock: Clock) -> None:
    memory = open_memory()
    remember(memory, clock)
    mine(memory).search(f"{QUERY} {'and so on and on ' * 500}", asking="today")
    with memory._deps.store.begin(Scope(), write=False) as tx:
        kept = [one for thread in tx.threads.list() for one in tx.upkeep.reviews(thread.id)]
    assert [(len(one.query), one.query.startswith(QUERY), bool(one.shown)) for one in kept] == [
        (1000, True, True)
    ]


def test_what_was_segmented_again_meanwhile_is_judged_as_what_stands_in_its_place(
    open_memory: OpenMemory, clock: Clock, tmp_path: Path
) -> None:
    memory = open_memory(policy="seed-001?max_messages=3")
    mine(memory).add([TAP, "He is quick", "He is cheap", "The door squeaks", "It needs oil"], thread="tap")
    before = episodes(memory)["tap"]
    clock.forward(days=3)
    mine(memory).add("Good morning", thread="today", timestamp=clock.now)
    mine(memory).search(QUERY, asking="today")
    mine(memory).boundaries.resegment("tap", "seed-001?max_messages=4")
    (tmp_path / "all.jsonl").write_text("\n".join(mine(memory).export()), encoding="utf-8")
    copy = open_memory(tmp_path / "copy.db")
    mine(copy).import_file(tmp_path / "all.jsonl")  # which knows nothing of what was replaced
    after = episodes(memory)["tap"].id
    assert after != before.id
    stability = mine(memory).episodes.get(after).stability
    for each in (memory, copy):
        say_and_end(each, clock, ("assistant", USED))
        (decision,) = mine(each).episodes.reviews(after)
        assert (decision.subject, decision.verdict) == (after, "Good")
        assert mine(each).episodes.get(after).stability > stability
        assert waiting(each) == 0


def test_an_archived_memory_is_recalled_and_judged_as_any(stores: Memory, clock: Clock) -> None:
    remember(stores, clock)
    mine(stores).sections.compact(thread="tap")
    before = episodes(stores)["tap"]
    assert before.state == EpisodeState.ARCHIVED
    assert "archived" in {hit.state for hit in mine(stores).search(QUERY, asking="today").hits}
    say_and_end(stores, clock, ("assistant", USED))
    assert judged(stores, before) == [("Good", 3.0)]
    assert episodes(stores)["tap"].stability > before.stability


def test_only_what_is_said_after_the_answer_counts(open_memory: OpenMemory, clock: Clock) -> None:
    memory = open_memory()
    before = remember(memory, clock)
    say_and_end(memory, clock, ("assistant", USED))
    mine(memory).search(QUERY, asking="today")
    say_and_end(memory, clock, ("user", "Thanks"))
    assert episodes(memory) == before


def test_an_answer_is_not_lost_where_its_review_cannot_be_kept(open_memory: OpenMemory, clock: Clock) -> None:
    memory = open_memory()
    remember(memory, clock)
    with pytest.raises(NotFound, match="no thread 'nobody'"):
        mine(memory).search(QUERY, asking="nobody")
    with pytest.raises(InvalidInput):
        mine(memory).search(" ", asking="today")


def test_a_model_judges_where_there_is_one(open_memory: OpenMemory, clock: Clock) -> None:
    def respond(_: str) -> Mapping[str, Json]:
        return {"reviews": [{"episode": "E1", "rating": "easy"}]}

    with serving(respond) as server:
        limits = ModelLimits(tries=1, away=0.0)
        model = OpenAIModel("small", base_url=server.url, limits=limits, sleep=lambda _: None)
        memory = open_memory(language_model=model)
        remember(memory, clock)
        first = mine(memory).search(QUERY, asking="today").hits[0].episode_id
        say_and_end(memory, clock, ("assistant", "Well."))
        (decision,) = mine(memory).episodes.reviews(first)
        assert decision.verdict == "Easy"
        assert question.VERSION in decision.policy_version
        assert [use.stage for use in memory.usage() if use.stage == "review"] == ["review"]


class Away:
    """A model nobody reaches."""

    name = "away"

    def complete(self, prompt: str, schema: Mapping[str, Json], stage: str) -> object:
        raise ProviderUnavailable("no answer; try again later")


def test_without_an_answer_what_was_taken_up_decides(open_memory: OpenMemory, clock: Clock) -> None:
    memory = open_memory(language_model=Away())
    tap = remember(memory, clock)["tap"]
    mine(memory).search(QUERY, asking="today")
    say_and_end(memory, clock, ("assistant", USED))
    for _ in range(4):
        clock.forward(minutes=30)
        memory.jobs.run()
    decisions: list[Decision] = mine(memory).episodes.reviews(tap.id)
    assert [d.verdict for d in decisions] == ["Good"]
    assert "uptake" in decisions[0].policy_version


@pytest.mark.slow
def test_old_recalls_of_a_thread_that_never_ends_an_event_are_let_go(
    open_memory: OpenMemory, clock: Clock
) -> None:
    memory = open_memory()
    remember(memory, clock)
    for _ in range(60):
        mine(memory).search(QUERY, asking="today")
    with memory._deps.store.begin(Scope(), write=False) as tx:
        waiting = tx.upkeep.reviews(find_thread(tx, "today").id)
    assert len(waiting) == 50
    assert waiting[-1].at - waiting[0].at < timedelta(seconds=1)


def test_a_recall_without_an_episode_waits_for_nothing_and_a_long_query_is_cut(
    open_memory: OpenMemory, clock: Clock
) -> None:
    memory = open_memory()
    mine(memory).add("The tap drips at night", thread="today", timestamp=clock.now)
    assert mine(memory).search("tap", asking="today").hits  # of an episode that is open yet
    with memory._deps.store.begin(Scope(), write=False) as tx:
        assert tx.upkeep.reviews() == []
    remember(memory, clock)
    mine(memory).search(f"{QUERY} {'and the tap ' * 200}", asking="today")
    with memory._deps.store.begin(Scope(), write=False) as tx:
        (waiting,) = tx.upkeep.reviews()
    assert len(waiting.query) == 1_000
    assert waiting.shown
