"""The verbs together: whose memory it is, what is made of a chat, and the life of the file."""

import math
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from builders.chats import BREAD, CELLO, LISBON, NOW, START, TAP, Clock, diary, say, talk
from builders.embedders import TopicEmbedder
from conftest import OpenMemory

from episodic_agent import Memory
from episodic_agent.core.boundary.policies import policy
from episodic_agent.core.boundary.records import unpack_record
from episodic_agent.core.forgetting import initial_strength
from episodic_agent.core.interfaces import EPISODES, OBSERVATIONS, ref_of
from episodic_agent.errors import EpisodicError, InvalidInput, NotFound
from episodic_agent.schemas import Scope

SCOPE = Scope()


def errors(memory: Memory) -> list[str]:
    return [f"{f.invariant}: {f.message}" for f in memory.doctor() if f.severity == "error"]


# --- what becomes of a chat -----------------------------------------------------------------------------


def test_a_chat_becomes_titled_episodes_that_cover_it_without_a_gap(memory: Memory) -> None:
    memory.add(diary())
    episodes = memory.episodes()
    assert [e.state for e in episodes] == ["archived", "archived", "archived", "open"]  # days ago: compacted
    assert [e.observations for e in episodes] == [4, 4, 4, 4]
    assert [e.reason for e in episodes[:3]] == ["time_gap"] * 3
    assert all(e.title.strip() and e.summary.strip() for e in episodes[:3])
    assert [e.start_at.day for e in episodes] == [1, 2, 3, 4]
    kept = [o.text for e in episodes for o in memory.messages(e.episode_id)]
    assert kept == [m["content"] for m in diary()]
    assert errors(memory) == []


@pytest.mark.parametrize("name", ["seed-001", "default"])
def test_flush_closes_what_is_open_and_only_once(open_memory: OpenMemory, name: str) -> None:
    memory = open_memory(policy=name)
    memory.add(diary())
    assert memory.flush() == 1
    assert memory.flush() == 0
    assert {e.state for e in memory.episodes()} == {"archived", "closed"}
    assert memory.episodes()[-1].reason == "manual"
    assert memory.stats().open_observations == 0


@pytest.mark.parametrize("name", ["seed-001", "default"])
def test_an_episode_that_grows_too_long_is_cut_and_the_doctor_agrees(
    open_memory: OpenMemory, name: str
) -> None:
    memory = open_memory(policy=name)
    memory.add([say("the log says the same thing again", n) for n in range(300)])
    closed = [e for e in memory.episodes() if e.state != "open"]
    assert {e.reason for e in closed} == {"size_cap"}
    assert errors(memory) == []
    told = memory.explain(closed[0].episode_id)
    assert told.ends.sentence.startswith("size_cap: ")
    assert not [line for line in told.what_would_change if "would have joined" in line]


def test_flush_of_one_thread_leaves_the_others_open(memory: Memory) -> None:
    memory.add("one", thread="a")
    memory.add("two", thread="b")
    assert memory.flush(thread="a") == 1
    assert {e.origin: e.state for e in memory.episodes()} == {"a": "closed", "b": "open"}


def test_messages_after_a_flush_begin_a_new_episode(memory: Memory) -> None:
    memory.add(talk(TAP, 0))
    memory.flush()
    memory.add(say("one more about the tap", 8.5))
    closed, opened = memory.episodes()
    assert (closed.state, opened.state, opened.observations) == ("closed", "open", 1)


def test_upkeep_closes_only_what_has_been_silent_past_the_policys_gap(
    open_memory: OpenMemory, clock: Clock
) -> None:
    memory = open_memory(policy="default")
    gap = policy("default").idle_after
    assert gap is not None
    memory.add("a remark of this very moment", timestamp=NOW, thread="chat")
    assert memory.upkeep() == 0
    clock.forward(seconds=gap.total_seconds() - 1)
    assert memory.upkeep() == 0
    clock.forward(seconds=2)
    assert memory.upkeep() == 1
    assert memory.episodes()[0].reason == "time_gap"
    assert memory.upkeep() == 0


def test_a_backlog_that_has_just_come_in_is_not_silent(open_memory: OpenMemory, clock: Clock) -> None:
    memory = open_memory(policy="default")
    memory.add("an old remark", timestamp=START)
    assert memory.upkeep() == 0
    clock.forward(days=1)
    assert memory.upkeep() == 1


def test_a_policy_that_may_keep_silent_frames_is_never_closed_by_the_clock(
    memory: Memory, clock: Clock
) -> None:
    memory.add("a remark", timestamp=NOW, thread="chat")
    clock.forward(days=365)
    assert memory.upkeep() == 0


def test_every_cut_has_a_decision_from_which_the_verdict_follows(memory: Memory) -> None:
    memory.add(diary())
    store = memory._parts.store
    for card in memory.episodes()[:3]:
        episode = memory.get(card.episode_id)
        with store.begin(SCOPE, write=False) as tx:
            assert episode.decision_id is not None
            decision = tx.episodes.decision(episode.decision_id)
        assert decision is not None
        assert (decision.type, decision.subject) == ("boundary", episode.id)
        assert decision.verdict == episode.reason
        assert decision.score >= decision.threshold
        assert decision.policy_version == policy("seed-001").name
        assert decision.detail["before_seq"] == episode.last_seq + 1


@pytest.mark.parametrize("name", ["seed-001", "default"])
def test_every_decided_observation_keeps_the_record_of_its_check(open_memory: OpenMemory, name: str) -> None:
    memory = open_memory(policy=name)
    memory.add(diary())
    memory.flush()
    thread = memory.threads()[0].id
    with memory._parts.store.begin(SCOPE, write=False) as tx:
        records = {s: unpack_record(s, b) for s, b in tx.threads.records(thread, 0, 15).items()}
    assert sorted(records) == list(range(16))
    cuts = {4, 8, 12}
    for seq, record in records.items():
        assert (
            record.probability >= record.threshold and record.action not in ("keep", "roll")
        ) or seq not in cuts


def test_strength_begins_as_the_seed_says(memory: Memory) -> None:
    memory.add(diary())
    memory.flush()
    for card in memory.episodes():
        episode = memory.get(card.episode_id)
        assert episode.stability == pytest.approx(2.3065 * (1 + 0.5 * episode.surprise))
        assert episode.difficulty == pytest.approx(initial_strength(episode.surprise).difficulty)
        assert episode.last_reviewed_at == episode.end_at  # an old import is not fresh
        assert 0 < card.retrievability < 1


def test_vectors_name_their_embedder(memory: Memory) -> None:
    memory.add(diary())
    memory.flush()
    first = memory.get(memory.episodes()[0].episode_id)
    with memory._parts.store.begin(SCOPE, write=False) as tx:
        ref = ref_of(tx.threads.number(first.thread_id), 0)
        assert set(tx.index.vectors(OBSERVATIONS, "hashing-256", [ref])) == {ref}
        assert set(tx.index.vectors(EPISODES, "hashing-256", [ref])) == {ref}
        assert tx.index.vectors(OBSERVATIONS, "another", [ref]) == {}


def test_recent_lists_newest_first_and_filters_by_days(memory: Memory) -> None:
    memory.add(diary())
    ends = [e.end_at for e in memory.recent(limit=3)]
    assert ends == sorted(ends, reverse=True)
    assert len(ends) == 3
    assert memory.recent()[0].state == "open"
    days = (NOW - START).days - 2
    assert [e.start_at.day for e in memory.recent(days=days)] == [4]
    assert len(memory.recent(days=1e12)) == 4


def test_history_shows_every_version_of_the_words(memory: Memory) -> None:
    memory.add(diary())
    card = memory.episodes()[0]
    (words,) = memory.history(card.episode_id)
    assert (words.version, words.title, words.summary) == (1, card.title, card.summary)


def test_stats_count_what_is_there(memory: Memory) -> None:
    memory.add(diary())
    stats = memory.stats()
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
    memory.add(talk(TAP, 0, "m") + talk(LISBON, 1, "n"), user_id="ana", thread="chat")
    memory.add(talk(CELLO, 0, "m") + talk(BREAD, 1, "n"), user_id="bo", thread="chat")
    return memory


def test_nothing_crosses_users_through_any_verb(shared: Memory) -> None:
    words = {"ana": ("lisbon", "plumber", "cartridge"), "bo": ("vinegar", "sourdough", "odile")}
    for user, other in (("ana", "bo"), ("bo", "ana")):
        seen = [e.title + e.summary for e in shared.episodes(user_id=user)]
        seen += [e.title + e.summary for e in shared.recent(user_id=user)]
        seen += [h.title + h.summary for h in shared.search("tap cello lisbon sourdough", user_id=user).hits]
        seen += [e.observation.text for e in shared.search("plumber cello loaf", user_id=user).observations]
        seen += list(shared.export(user_id=user))
        seen += shared.trace("chat", user_id=user).texts
        told = shared.explain(shared.episodes(user_id=user)[0].episode_id, user_id=user)
        seen += [o.text for o in (told.begins.observation, told.ends.observation) if o is not None]
        heard = " ".join(seen).lower()
        assert not [w for w in words[other] if w in heard]
        assert [w for w in words[user] if w in heard]
        assert shared.stats(user_id=user).observations == 8
    assert shared.users() == ["ana", "bo"]


def test_the_episodes_of_one_user_do_not_exist_for_another(shared: Memory) -> None:
    theirs = shared.episodes(user_id="bo")[0].episode_id
    for verb in (shared.get, shared.messages, shared.explain, shared.history):
        with pytest.raises(NotFound, match=str(theirs)):
            verb(theirs, user_id="ana")


def test_the_same_ids_of_two_users_are_two_observations(shared: Memory) -> None:
    mine, theirs = ({o.id for e in shared.episodes(user_id=u) for o in shared.messages(e.episode_id, user_id=u)}
                    for u in ("ana", "bo"))  # fmt: skip
    assert len(mine) == len(theirs) == 8
    assert not mine & theirs


def test_flush_of_one_user_leaves_the_other_open(shared: Memory) -> None:
    assert shared.flush(user_id="ana") == 1
    assert shared.stats(user_id="bo").open_observations == 4


def test_spaces_keep_users_of_the_same_name_apart(open_memory: OpenMemory) -> None:
    home, work = open_memory(space="home"), open_memory(space="work")
    home.add("the tap drips", user_id="ana")
    work.add("the release is late", user_id="ana")
    assert [e.title for e in home.episodes(user_id="ana")] == ["the tap drips"]
    assert home.users() == work.users() == ["ana"]
    assert work.search("tap drips", user_id="ana").observations[0].observation.text == "the release is late"


def test_threads_of_one_user_are_segmented_apart(memory: Memory) -> None:
    one, two = talk(TAP, 0), talk(CELLO, 0)
    for mine, theirs in zip(one, two, strict=True):
        memory.add(mine, thread="home")
        memory.add(theirs, thread="music")
    assert {e.origin: e.observations for e in memory.episodes()} == {"home": 4, "music": 4}
    assert [e.origin for e in memory.episodes(thread="music")] == ["music"]
    assert {h.thread_id for h in memory.search("cello strings", thread="music").hits} == {
        t.id for t in memory.threads() if t.origin == "music"
    }


def test_an_unknown_user_is_named_beside_the_known_ones(shared: Memory) -> None:
    verbs = [
        lambda: shared.search("x", user_id="cleo"),
        lambda: shared.recent(user_id="cleo"),
        lambda: shared.episodes(user_id="cleo"),
        lambda: shared.threads(user_id="cleo"),
        lambda: shared.stats(user_id="cleo"),
        lambda: shared.flush(user_id="cleo"),
        lambda: shared.upkeep(user_id="cleo"),
        lambda: shared.export(user_id="cleo"),
        lambda: shared.trace("chat", user_id="cleo"),
        lambda: shared.whatif("chat", "default", user_id="cleo"),
        lambda: shared.resegment("chat", user_id="cleo"),
        lambda: shared.undo_resegment("chat", user_id="cleo"),
        lambda: shared.successor(UUID(int=1), user_id="cleo"),
        lambda: shared.replaced(user_id="cleo"),
        lambda: shared.get(UUID(int=1), user_id="cleo"),
    ]
    for verb in verbs:
        with pytest.raises(NotFound, match=r"'cleo'.*known users: ana, bo"):
            verb()
    assert shared.users() == ["ana", "bo"]  # asking after somebody does not make them known


def test_an_unknown_thread_is_named_beside_the_known_ones(memory: Memory) -> None:
    memory.add("hello", thread="kitchen")
    for verb in (
        lambda: memory.trace("kitchn"),
        lambda: memory.whatif("kitchn", "default"),
        lambda: memory.resegment("kitchn"),
        lambda: memory.undo_resegment("kitchn"),
        lambda: memory.flush(thread="kitchn"),
        lambda: memory.episodes(thread="kitchn"),
        lambda: memory.search("hello", thread="kitchn"),
    ):
        with pytest.raises(NotFound, match=r"'kitchn'.*kitchen"):
            verb()


def test_an_unknown_episode_is_refused(memory: Memory) -> None:
    memory.add("hello")
    for verb in (memory.get, memory.messages, memory.explain, memory.history):
        with pytest.raises(NotFound, match="no episode"):
            verb(uuid4())


@pytest.mark.parametrize(
    ("user", "problem"), [("  ", "is empty"), ("a\ud800", "no database"), ("a\x00", "no database")]
)
def test_a_user_nobody_can_be_is_refused(memory: Memory, user: str, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        memory.add("hello", user_id=user)
    assert memory.users() == []


def test_other_names_are_repaired_like_text(memory: Memory) -> None:
    memory.add("hello", thread="a\ud800b", channel="c\x00", source="\udfff", id="1")
    assert [t.origin for t in memory.threads()] == ["a\ufffdb"]
    assert len(memory.trace("a\ud800b").seqs) == 1
    assert not memory.add("hello", thread="a\ud800b", source="\udfff", id="1")[0].added


def test_an_episode_is_named_by_its_id_as_listings_print_it(memory: Memory) -> None:
    memory.add(diary())
    card = memory.episodes()[0]
    assert memory.get(str(card.episode_id)).title == card.title
    assert len(memory.messages(str(card.episode_id))) == 4
    with pytest.raises(NotFound, match="no episode 'abc'"):
        memory.explain("abc")


@pytest.mark.parametrize("wrong", [{"limit": 0}, {"limit": -1}, {"days": -1}, {"days": math.nan}])
def test_a_listing_of_fewer_than_one_is_refused(memory: Memory, wrong: dict[str, float]) -> None:
    with pytest.raises(InvalidInput, match="or more"):
        memory.recent(**wrong)  # type: ignore[arg-type]


def test_an_empty_memory_answers_every_reading_verb(memory: Memory) -> None:
    assert (memory.episodes(), memory.recent(), memory.threads(), memory.users()) == ([], [], [], [])
    assert (memory.flush(), memory.upkeep(), memory.work()) == (0, 0, 0)
    recall = memory.search("anything")
    assert recall.abstained
    assert "nothing to search" in recall.notes[0]
    assert len(list(memory.export())) == 1
    assert memory.doctor() == []


# --- embedders, changed and missing ---------------------------------------------------------------------


def test_another_embedder_starts_the_open_frame_again_and_compares_nothing_old(
    open_memory: OpenMemory,
) -> None:
    open_memory().add(diary())
    other = TopicEmbedder("tap", "lisbon", "cello", "bread", name="other-1")
    memory = open_memory(embedder=other)
    before = {e.episode_id: (e.title, e.observations) for e in memory.episodes() if e.state != "open"}
    found = memory.search("what did the plumber say about the crack")
    assert found.hits[0].evidence[0].observation.text.startswith("The plumber says")
    for evidence in memory.search("cello", explain=True).observations:
        assert not evidence.legs.get("dense")  # no vector of this embedder: nothing to compare
    memory.add(say("and bread with raisins", 3 * 1440 + 9))
    after = {e.episode_id: (e.title, e.observations) for e in memory.episodes() if e.state != "open"}
    assert after == before
    with memory._parts.store.begin(SCOPE, write=False) as tx:
        frame = tx.threads.frame(memory.threads()[0].id)
        assert (frame.embedder, frame.cursor) == ("other-1", frame.next_seq)
    assert errors(memory) == []


def test_doctor_names_and_repairs_what_the_new_embedder_has_not_read(open_memory: OpenMemory) -> None:
    open_memory().add(diary())
    memory = open_memory(embedder=TopicEmbedder("tap", "lisbon", "cello", "bread", name="other-1"))
    (note,) = [f for f in memory.doctor() if f.invariant == "I9"]
    assert note.severity == "note"
    assert "16 observations have no vector of other-1" in note.message
    assert memory.doctor(repair=True) == []
    by_meaning = memory.search("lisbon", explain=True)
    assert by_meaning.observations[0].legs["dense"] > 0
    with memory._parts.store.begin(SCOPE, write=False) as tx:
        assert not list(tx.index.unindexed(EPISODES, "other-1", limit=10))


@pytest.mark.parametrize("name", ["seed-001", "default"])
def test_without_an_embedder_recall_goes_by_words_and_says_so(open_memory: OpenMemory, name: str) -> None:
    memory = open_memory(embedder="none", policy=name)
    memory.add(diary())
    assert memory.stats().embedder == "none"
    assert [e.observations for e in memory.episodes()] == [4, 4, 4, 4]
    recall = memory.search("what did the plumber find in the cartridge")
    assert recall.hits[0].evidence[0].observation.text.startswith("The plumber says")
    assert any("words only" in note for note in recall.notes)
    assert errors(memory) == []


def test_a_memory_begun_without_an_embedder_goes_on_with_one(open_memory: OpenMemory) -> None:
    open_memory(embedder="none").add(diary())
    memory = open_memory()
    memory.add(say("a word more on bread", 3 * 1440 + 9))
    assert errors(memory) == []
    assert memory.doctor(repair=True) == []
    assert memory.search("bread", explain=True).observations[0].legs["dense"] > 0


# --- life -----------------------------------------------------------------------------------------------


def test_what_was_acknowledged_is_there_at_the_next_opening(database: Path, clock: Clock) -> None:
    with Memory.open(database, embedder="hashing", policy="seed-001", clock=clock) as memory:
        memory.add(diary())
        episodes = memory.episodes()
    with Memory.open(database, embedder="hashing", policy="seed-001", clock=clock) as memory:
        assert memory.episodes() == episodes
        assert errors(memory) == []


def test_a_closed_memory_says_so(database: Path) -> None:
    memory = Memory.open(database, embedder="none")
    memory.add("hello")
    memory.close()
    memory.close()
    with pytest.raises(EpisodicError):
        memory.add("too late")


def test_two_open_memories_share_one_file(open_memory: OpenMemory) -> None:
    one, two = open_memory(), open_memory()
    one.add(say("first", 0), thread="t")
    two.add(say("second", 1), thread="t")
    one.add(say("third", 2), thread="t")
    for memory in (one, two):
        (frame,) = memory.episodes()
        assert [o.text for o in memory.messages(frame.episode_id)] == ["first", "second", "third"]


def test_retrievability_falls_with_time(memory: Memory, clock: Clock) -> None:
    memory.add(diary())
    before = memory.episodes()[0].retrievability
    clock.forward(days=300)
    after = memory.episodes()[0].retrievability
    assert 0 < after < before < 1
    assert math.isfinite(after)


def test_a_change_of_policy_begins_at_the_next_cut(open_memory: OpenMemory) -> None:
    open_memory().add(talk(TAP, 0))
    memory = open_memory(policy="seed-001?max_messages=3")
    memory.add(talk(LISBON, 1))
    first, *rest = memory.episodes()
    assert (first.observations, first.reason) == (4, "time_gap")  # the old policy still ruled here
    assert [(e.observations, e.reason) for e in rest] == [(3, "size_cap"), (1, "")]
