"""The verbs together: whose memory it is, what is made of a chat, and the life of the file."""

import math
from itertools import accumulate
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from builders.chats import BREAD, CELLO, LISBON, NOW, START, TAP, Clock, diary, mine, say, talk
from builders.embedders import TopicEmbedder
from conftest import OpenMemory

from episodic_agent import Memory
from episodic_agent.core.boundary.machine import unpack_record
from episodic_agent.core.boundary.policies import policy
from episodic_agent.core.strength import initial_strength
from episodic_agent.errors import EpisodicError, InvalidInput, NotFound
from episodic_agent.protocols import EPISODES, OBSERVATIONS, ref_of, stored_decision
from episodic_agent.schemas import Scope

SCOPE = Scope()


def errors(memory: Memory) -> list[str]:
    return [f"{f.invariant}: {f.message}" for f in memory.doctor() if f.severity == "error"]


# --- what becomes of a chat -----------------------------------------------------------------------------


def test_a_chat_becomes_titled_episodes_that_cover_it_without_a_gap(memory: Memory) -> None:
    mine(memory).add(diary())
    episodes = mine(memory).episodes.list()
    assert [e.state for e in episodes] == ["archived", "archived", "archived", "open"]  # days ago: compacted
    assert [e.observations for e in episodes] == [4, 4, 4, 4]
    assert [e.reason for e in episodes[:3]] == ["time_gap"] * 3
    assert all(e.title.strip() and e.summary.strip() for e in episodes[:3])
    assert [e.start_at.day for e in episodes] == [1, 2, 3, 4]
    texts = [o.text for e in episodes for o in mine(memory).episodes.messages(e.episode_id)]
    assert texts == [m["content"] for m in diary()]
    assert errors(memory) == []


@pytest.mark.parametrize("name", ["seed-001", "default"])
def test_flush_closes_what_is_open_and_only_once(open_memory: OpenMemory, name: str) -> None:
    memory = open_memory(policy=name)
    mine(memory).add(diary())
    assert mine(memory).flush() == 1
    assert mine(memory).flush() == 0
    assert {e.state for e in mine(memory).episodes.list()} == {"archived", "closed"}
    assert mine(memory).episodes.list()[-1].reason == "manual"
    assert mine(memory).stats().open_observations == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["seed-001", "default"])
def test_an_episode_that_grows_too_long_is_cut_and_the_doctor_agrees(
    open_memory: OpenMemory, name: str
) -> None:
    memory = open_memory(policy=name)
    mine(memory).add([say("the log says the same thing again", n) for n in range(300)])
    closed = [e for e in mine(memory).episodes.list() if e.state != "open"]
    assert {e.reason for e in closed} == {"size_cap"}
    assert errors(memory) == []
    explanation = mine(memory).boundaries.explain(closed[0].episode_id)
    assert explanation.ends.sentence.startswith("size_cap: ")
    assert not [line for line in explanation.what_would_change if "would have joined" in line]


def test_flush_of_one_thread_leaves_the_others_open(memory: Memory) -> None:
    mine(memory).add("one", thread="a")
    mine(memory).add("two", thread="b")
    assert mine(memory).flush(thread="a") == 1
    assert {e.origin: e.state for e in mine(memory).episodes.list()} == {"a": "closed", "b": "open"}


def test_messages_after_a_flush_begin_a_new_episode(memory: Memory) -> None:
    mine(memory).add(talk(TAP, 0))
    mine(memory).flush()
    mine(memory).add(say("one more about the tap", 8.5))
    closed, opened = mine(memory).episodes.list()
    assert (closed.state, opened.state, opened.observations) == ("closed", "open", 1)


def test_upkeep_closes_only_what_has_been_silent_past_the_policys_gap(
    open_memory: OpenMemory, clock: Clock
) -> None:
    memory = open_memory(policy="default")
    gap = policy("default").idle_after
    assert gap is not None
    mine(memory).add("a remark of this very moment", timestamp=NOW, thread="chat")
    assert memory.upkeep() == 0
    clock.forward(seconds=gap.total_seconds() - 1)
    assert memory.upkeep() == 0
    clock.forward(seconds=2)
    assert memory.upkeep() == 1
    assert mine(memory).episodes.list()[0].reason == "time_gap"
    assert memory.upkeep() == 0


def test_a_backlog_that_has_just_come_in_is_not_silent(open_memory: OpenMemory, clock: Clock) -> None:
    memory = open_memory(policy="default")
    mine(memory).add("an old remark", timestamp=START)
    assert memory.upkeep() == 0
    clock.forward(days=1)
    assert memory.upkeep() == 1


def test_a_policy_that_may_keep_silent_frames_is_never_closed_by_the_clock(
    memory: Memory, clock: Clock
) -> None:
    mine(memory).add("a remark", timestamp=NOW, thread="chat")
    clock.forward(days=365)
    assert memory.upkeep() == 0


def test_every_cut_has_a_decision_from_which_the_verdict_follows(memory: Memory) -> None:
    mine(memory).add(diary())
    store = memory._deps.store
    for card in mine(memory).episodes.list()[:3]:
        episode = mine(memory).episodes.get(card.episode_id)
        with store.begin(SCOPE, write=False) as tx:
            assert episode.decision_id is not None
            decision = stored_decision(tx, episode.decision_id)
        assert decision is not None
        assert (decision.type, decision.subject) == ("boundary", episode.id)
        assert decision.verdict == episode.reason
        assert decision.score >= decision.threshold
        assert decision.policy_version == policy("seed-001").name
        assert decision.detail["before_seq"] == episode.last_seq + 1


@pytest.mark.parametrize("name", ["seed-001", "default"])
def test_every_decided_observation_keeps_the_record_of_its_check(open_memory: OpenMemory, name: str) -> None:
    memory = open_memory(policy=name)
    mine(memory).add(diary())
    mine(memory).flush()
    thread = mine(memory).threads.list()[0].id
    with memory._deps.store.begin(SCOPE, write=False) as tx:
        records = {s: unpack_record(s, b) for s, b in tx.observations.records(thread, 0, 15).items()}
    assert sorted(records) == list(range(16))
    cuts = {4, 8, 12}
    for seq, record in records.items():
        assert (
            record.probability >= record.threshold and record.action not in ("keep", "roll")
        ) or seq not in cuts


def test_strength_begins_as_the_seed_says(memory: Memory) -> None:
    mine(memory).add(diary())
    mine(memory).flush()
    for card in mine(memory).episodes.list():
        episode = mine(memory).episodes.get(card.episode_id)
        assert episode.stability == pytest.approx(2.3065 * (1 + 0.5 * episode.surprise))
        assert episode.difficulty == pytest.approx(initial_strength(episode.surprise).difficulty)
        assert episode.last_reviewed_at == episode.end_at  # an old import is not fresh
        assert 0 < card.retrievability < 1


def test_vectors_name_their_embedder(memory: Memory) -> None:
    mine(memory).add(diary())
    mine(memory).flush()
    first = mine(memory).episodes.get(mine(memory).episodes.list()[0].episode_id)
    with memory._deps.store.begin(SCOPE, write=False) as tx:
        ref = ref_of(tx.threads.number(first.thread_id), 0)
        assert set(tx.index.vectors(OBSERVATIONS, "hashing-256", [ref])) == {ref}
        assert set(tx.index.vectors(EPISODES, "hashing-256", [ref])) == {ref}
        assert tx.index.vectors(OBSERVATIONS, "another", [ref]) == {}


def test_recent_lists_newest_first_and_filters_by_days(memory: Memory) -> None:
    mine(memory).add(diary())
    ends = [e.end_at for e in mine(memory).episodes.recent(limit=3)]
    assert ends == sorted(ends, reverse=True)
    assert len(ends) == 3
    assert mine(memory).episodes.recent()[0].state == "open"
    days = (NOW - START).days - 2
    assert [e.start_at.day for e in mine(memory).episodes.recent(days=days)] == [4]
    assert len(mine(memory).episodes.recent(days=1e12)) == 4


def test_history_shows_every_version_of_the_words(memory: Memory) -> None:
    mine(memory).add(diary())
    card = mine(memory).episodes.list()[0]
    (words,) = mine(memory).episodes.history(card.episode_id)
    assert (words.version, words.title, words.summary) == (1, card.title, card.summary)


def test_stats_count_what_is_there(memory: Memory) -> None:
    mine(memory).add(diary())
    stats = mine(memory).stats()
    assert (stats.user_id, stats.threads, stats.observations) == ("default", 1, 16)
    assert (stats.episodes, stats.open_observations, stats.waiting_jobs) == (3, 4, 0)
    assert (stats.embedder, stats.policy) == ("hashing-256", policy("seed-001").name)
    assert stats.first_at == START
    assert stats.last_at is not None
    assert stats.last_at.day == 4


# --- whose memory it is ---------------------------------------------------------------------------------


@pytest.fixture
def shared(memory: Memory) -> Memory:
    """Ana and Bo say different things in threads of the same name, with the same ids."""
    memory.user("ana").add(talk(TAP, 0, "m") + talk(LISBON, 1, "n"), thread="chat")
    memory.user("bo").add(talk(CELLO, 0, "m") + talk(BREAD, 1, "n"), thread="chat")
    return memory


def test_nothing_crosses_users_through_any_verb(shared: Memory) -> None:
    words = {"ana": ("lisbon", "plumber", "cartridge"), "bo": ("vinegar", "sourdough", "odile")}
    for user, other in (("ana", "bo"), ("bo", "ana")):
        seen = [e.title + e.summary for e in shared.user(user).episodes.list()]
        seen += [e.title + e.summary for e in shared.user(user).episodes.recent()]
        seen += [h.title + h.summary for h in shared.user(user).search("tap cello lisbon sourdough").hits]
        seen += [e.observation.text for e in shared.user(user).search("plumber cello loaf").observations]
        seen += list(shared.user(user).export())
        seen += shared.user(user).boundaries.trace("chat").texts
        explanation = shared.user(user).boundaries.explain(shared.user(user).episodes.list()[0].episode_id)
        seen += [
            o.text for o in (explanation.begins.observation, explanation.ends.observation) if o is not None
        ]
        text = " ".join(seen).lower()
        assert not [w for w in words[other] if w in text]
        assert [w for w in words[user] if w in text]
        assert shared.user(user).stats().observations == 8
    assert shared.users() == ["ana", "bo"]


def test_the_episodes_of_one_user_do_not_exist_for_another(shared: Memory) -> None:
    theirs = shared.user("bo").episodes.list()[0].episode_id
    ana = shared.user("ana")
    for verb in (ana.episodes.get, ana.episodes.messages, ana.boundaries.explain, ana.episodes.history):
        with pytest.raises(NotFound, match=str(theirs)):
            verb(theirs)


def test_the_same_ids_of_two_users_are_two_observations(shared: Memory) -> None:
    hers, theirs = ({o.id for e in shared.user(u).episodes.list() for o in shared.user(u).episodes.messages(e.episode_id)}
                    for u in ("ana", "bo"))  # fmt: skip
    assert len(hers) == len(theirs) == 8
    assert not hers & theirs


def test_flush_of_one_user_leaves_the_other_open(shared: Memory) -> None:
    assert shared.user("ana").flush() == 1
    assert shared.user("bo").stats().open_observations == 4


def test_spaces_keep_users_of_the_same_name_apart(open_memory: OpenMemory) -> None:
    home, work = open_memory(space="home"), open_memory(space="work")
    home.user("ana").add("the tap drips")
    work.user("ana").add("the release is late")
    assert [e.title for e in home.user("ana").episodes.list()] == ["The tap drips"]
    assert home.users() == work.users() == ["ana"]
    assert work.user("ana").search("tap drips").observations[0].observation.text == "the release is late"


def test_threads_of_one_user_are_segmented_apart(memory: Memory) -> None:
    items, two = talk(TAP, 0), talk(CELLO, 0)
    for home, music in zip(items, two, strict=True):
        mine(memory).add(home, thread="home")
        mine(memory).add(music, thread="music")
    assert {e.origin: e.observations for e in mine(memory).episodes.list()} == {"home": 4, "music": 4}
    assert [e.origin for e in mine(memory).episodes.list(thread="music")] == ["music"]
    assert {h.thread_id for h in mine(memory).search("cello strings", thread="music").hits} == {
        t.id for t in mine(memory).threads.list() if t.origin == "music"
    }


def test_an_unknown_user_is_named_beside_the_known_ones(shared: Memory) -> None:
    cleo = shared.user("cleo")
    verbs = [
        lambda: cleo.search("x"),
        cleo.episodes.recent,
        cleo.episodes.list,
        cleo.threads.list,
        cleo.stats,
        cleo.flush,
        cleo.upkeep,
        cleo.export,
        lambda: cleo.boundaries.trace("chat"),
        lambda: cleo.boundaries.whatif("chat", "default"),
        lambda: cleo.boundaries.resegment("chat"),
        lambda: cleo.boundaries.undo("chat"),
        lambda: cleo.episodes.successor(UUID(int=1)),
        cleo.episodes.replaced,
        lambda: cleo.episodes.get(UUID(int=1)),
    ]
    for verb in verbs:
        with pytest.raises(NotFound, match=r"'cleo'.*known users: ana, bo"):
            verb()
    assert shared.users() == ["ana", "bo"]  # asking after somebody does not make them known


def test_an_unknown_thread_is_named_beside_the_known_ones(memory: Memory) -> None:
    mine(memory).add("hello", thread="kitchen")
    for verb in (
        lambda: mine(memory).boundaries.trace("kitchn"),
        lambda: mine(memory).boundaries.whatif("kitchn", "default"),
        lambda: mine(memory).boundaries.resegment("kitchn"),
        lambda: mine(memory).boundaries.undo("kitchn"),
        lambda: mine(memory).flush(thread="kitchn"),
        lambda: mine(memory).episodes.list(thread="kitchn"),
        lambda: mine(memory).search("hello", thread="kitchn"),
    ):
        with pytest.raises(NotFound, match=r"'kitchn'.*kitchen"):
            verb()


def test_an_unknown_episode_is_refused(memory: Memory) -> None:
    mine(memory).add("hello")
    for verb in (
        mine(memory).episodes.get,
        mine(memory).episodes.messages,
        mine(memory).boundaries.explain,
        mine(memory).episodes.history,
    ):
        with pytest.raises(NotFound, match="no episode"):
            verb(uuid4())


@pytest.mark.parametrize(
    ("user", "problem"), [("  ", "is empty"), ("a\ud800", "no database"), ("a\x00", "no database")]
)
def test_a_user_nobody_can_be_is_refused(memory: Memory, user: str, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        memory.user(user).add("hello")
    assert memory.users() == []


@pytest.mark.parametrize("name", ["", "  "])
def test_an_empty_name_is_refused_and_not_taken_for_none(memory: Memory, name: str) -> None:
    ana = mine(memory)
    ana.add(diary())
    before = ana.stats()
    for field in ("role", "thread", "channel", "source", "id"):
        with pytest.raises(InvalidInput, match=f"`{field}` is empty; give a name, or leave it out"):
            ana.add("hello", **{field: name})  # type: ignore[arg-type]
    for field in ("thread", "channel", "place"):
        with pytest.raises(InvalidInput, match=f"`{field}` is empty"):
            ana.search("the tap", **{field: name})  # type: ignore[misc]
    for verb in (ana.flush, lambda thread: ana.context("hello", thread=thread)):
        with pytest.raises(InvalidInput, match="`thread` is empty"):
            verb(thread=name)
    assert ana.stats() == before  # nothing was closed, added or begun


def test_other_names_are_repaired_like_text(memory: Memory) -> None:
    mine(memory).add("hello", thread="a\ud800b", channel="c\x00", source="\udfff", id="1")
    assert [t.origin for t in mine(memory).threads.list()] == ["a\ufffdb"]
    assert len(mine(memory).boundaries.trace("a\ud800b").seqs) == 1
    assert not mine(memory).add("hello", thread="a\ud800b", source="\udfff", id="1")[0].added


def test_an_episode_is_named_by_its_id_as_listings_print_it(memory: Memory) -> None:
    mine(memory).add(diary())
    card = mine(memory).episodes.list()[0]
    assert mine(memory).episodes.get(str(card.episode_id)).title == card.title
    assert len(mine(memory).episodes.messages(str(card.episode_id))) == 4
    with pytest.raises(NotFound, match="no episode 'abc'"):
        mine(memory).boundaries.explain("abc")


@pytest.mark.parametrize("wrong", [{"limit": 0}, {"limit": -1}, {"days": -1}, {"days": math.nan}])
def test_a_listing_of_fewer_than_one_is_refused(memory: Memory, wrong: dict[str, float]) -> None:
    with pytest.raises(InvalidInput, match="or more"):
        mine(memory).episodes.recent(**wrong)  # type: ignore[arg-type]


def test_an_empty_memory_answers_every_reading_verb(memory: Memory) -> None:
    assert (
        mine(memory).episodes.list(),
        mine(memory).episodes.recent(),
        mine(memory).threads.list(),
        memory.users(),
    ) == ([], [], [], [])
    assert (mine(memory).flush(), memory.upkeep(), memory.jobs.run()) == (0, 0, 0)
    recall = mine(memory).search("anything")
    assert recall.abstained
    assert "nothing to search" in recall.notes[0]
    assert len(list(mine(memory).export())) == 1
    assert memory.doctor() == []


# --- embedders, changed and missing ---------------------------------------------------------------------


def test_another_embedder_starts_the_open_frame_again_and_compares_nothing_old(
    open_memory: OpenMemory,
) -> None:
    gone = TopicEmbedder(
        "tap", "lisbon", "cello", "bread", name="gone-1"
    )  # which nobody can build by its name
    mine(open_memory(embedder=gone)).add(diary())
    other = TopicEmbedder("tap", "lisbon", "cello", "bread", name="other-1")
    memory = open_memory(embedder=other)
    before = {
        e.episode_id: (e.title, e.observations) for e in mine(memory).episodes.list() if e.state != "open"
    }
    recall = mine(memory).search("what did the plumber say about the crack")
    assert recall.hits[0].evidence[0].observation.text.startswith("The plumber says")
    for evidence in mine(memory).search("cello", explain=True).observations:
        assert not evidence.legs.get("dense")  # no vector of this embedder: nothing to compare
    mine(memory).add(say("and bread with raisins", 3 * 1440 + 9))
    after = {
        e.episode_id: (e.title, e.observations) for e in mine(memory).episodes.list() if e.state != "open"
    }
    assert after == before
    with memory._deps.store.begin(SCOPE, write=False) as tx:
        frame = tx.threads.frame(mine(memory).threads.list()[0].id)
        assert (frame.embedder, frame.cursor) == ("other-1", frame.next_seq)
    assert errors(memory) == []


def test_doctor_names_and_repairs_what_the_new_embedder_has_not_read(open_memory: OpenMemory) -> None:
    mine(open_memory()).add(diary())
    memory = open_memory(embedder=TopicEmbedder("tap", "lisbon", "cello", "bread", name="other-1"))
    (note,) = [f for f in memory.doctor() if f.invariant == "I9"]
    assert note.severity == "note"
    assert "16 observations have no vector of other-1" in note.message
    assert memory.doctor(repair=True) == []
    by_meaning = mine(memory).search("lisbon", explain=True)
    assert by_meaning.observations[0].legs["dense"] > 0
    with memory._deps.store.begin(SCOPE, write=False) as tx:
        assert not list(tx.index.unindexed(EPISODES, "other-1", limit=10))


@pytest.mark.parametrize("name", ["seed-001", "default"])
def test_without_an_embedder_recall_goes_by_words_and_says_so(open_memory: OpenMemory, name: str) -> None:
    memory = open_memory(embedder="none", policy=name)
    mine(memory).add(diary())
    assert mine(memory).stats().embedder == "none"
    ends = set(accumulate(card.observations for card in mine(memory).episodes.list()))
    assert {4, 8, 12, 16} <= ends  # each day's talk; by words alone two are cut inside as well
    recall = mine(memory).search("what did the plumber find in the cartridge")
    assert recall.hits[0].evidence[0].observation.text.startswith("The plumber says")
    assert any("words only" in note for note in recall.notes)
    assert errors(memory) == []


def test_a_memory_begun_without_an_embedder_goes_on_with_one(open_memory: OpenMemory) -> None:
    mine(open_memory(embedder="none")).add(diary())
    memory = open_memory()
    mine(memory).add(say("a word more on bread", 3 * 1440 + 9))
    assert errors(memory) == []
    assert memory.doctor(repair=True) == []
    assert mine(memory).search("bread", explain=True).observations[0].legs["dense"] > 0


# --- life -----------------------------------------------------------------------------------------------


def test_what_was_acknowledged_is_there_at_the_next_opening(database: Path, clock: Clock) -> None:
    with Memory.open(database, embedder="hashing", policy="seed-001", clock=clock) as memory:
        mine(memory).add(diary())
        episodes = mine(memory).episodes.list()
    with Memory.open(database, embedder="hashing", policy="seed-001", clock=clock) as memory:
        assert mine(memory).episodes.list() == episodes
        assert errors(memory) == []


def test_a_closed_memory_says_so(database: Path) -> None:
    memory = Memory.open(database, embedder="none")
    mine(memory).add("hello")
    memory.close()
    memory.close()
    with pytest.raises(EpisodicError):
        mine(memory).add("too late")


def test_two_open_memories_share_one_file(open_memory: OpenMemory) -> None:
    this_memory, two = open_memory(), open_memory()
    mine(this_memory).add(say("first", 0), thread="t")
    mine(two).add(say("second", 1), thread="t")
    mine(this_memory).add(say("third", 2), thread="t")
    for memory in (this_memory, two):
        (frame,) = mine(memory).episodes.list()
        assert [o.text for o in mine(memory).episodes.messages(frame.episode_id)] == [
            "first",
            "second",
            "third",
        ]


def test_retrievability_falls_with_time(memory: Memory, clock: Clock) -> None:
    mine(memory).add(diary())
    before = mine(memory).episodes.list()[0].retrievability
    clock.forward(days=300)
    after = mine(memory).episodes.list()[0].retrievability
    assert 0 < after < before < 1
    assert math.isfinite(after)


def test_a_change_of_policy_begins_at_the_next_cut(open_memory: OpenMemory) -> None:
    mine(open_memory()).add(talk(TAP, 0))
    memory = open_memory(policy="seed-001?max_messages=3")
    mine(memory).add(talk(LISBON, 1))
    first, *rest = mine(memory).episodes.list()
    assert (first.observations, first.reason) == (4, "time_gap")  # the old policy still ruled here
    assert [(e.observations, e.reason) for e in rest] == [(3, "size_cap"), (1, "")]
