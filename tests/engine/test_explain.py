"""`explain`, `whatif`, `trace` and the replay they stand on."""

import math
from datetime import timedelta
from pathlib import Path

import pytest
from builders.chats import BREAD, CELLO, LISBON, NOW, START, TAP, Clock, diary, mine, say, talk
from builders.embedders import TopicEmbedder
from conftest import OpenMemory

from episodic_agent import Memory
from episodic_agent.core.boundary.policies import policy
from episodic_agent.engine.boundary.explain import replay
from episodic_agent.errors import InvalidInput, ProviderUnavailable
from episodic_agent.schemas import EpisodeState, Scope
from episodic_agent.testing.models import ScriptedModel

THREAD = "chat"


def replayed(memory: Memory, name: str, thread: str = THREAD) -> list[tuple[int, int, str]]:
    """Run a policy over a thread's stored inputs."""
    with memory._deps.store.begin(Scope(), write=False) as tx:
        matching_thread = tx.threads.get(thread)
        assert matching_thread is not None
        again = replay(tx, matching_thread.id, policy(name), memory._deps.embedder_name)
    return [(s.first_seq, s.last_seq, s.reason) for s in again.spans]


def stored(memory: Memory) -> list[tuple[int, int, str]]:
    closed = [
        mine(memory).episodes.get(c.episode_id) for c in mine(memory).episodes.list() if c.state != "open"
    ]
    spans = [(e.first_seq, e.last_seq, e.reason) for e in closed]
    last = mine(memory).stats()
    if last.open_observations:
        spans.append((last.observations - last.open_observations, last.observations - 1, "open"))
    return spans


def test_an_explanation_names_both_edges_with_their_messages_and_cues(memory: Memory) -> None:
    mine(memory).add(diary())
    explanation = mine(memory).boundaries.explain(mine(memory).episodes.list()[1].episode_id)
    assert (explanation.begins.seq, explanation.ends.seq) == (4, 8)
    assert explanation.begins.observation is not None
    assert explanation.begins.observation.text == LISBON[0][1]
    assert explanation.ends.observation is not None
    assert explanation.ends.observation.text == CELLO[0][1]
    for edge in (explanation.begins, explanation.ends):
        assert edge.reason == "time_gap"
        assert edge.sentence.startswith("time_gap")
        assert edge.sentence.endswith("after 24 h of silence")
        assert edge.decision is not None
        assert edge.decision.score >= edge.decision.threshold
    assert list(explanation.what_would_change) == [
        "no threshold would have joined this to the one before: time_gap was certain",
        "no threshold would have joined this to the one after: time_gap was certain",
    ]
    assert explanation.runners_up == []  # nothing inside came near a boundary


def test_the_first_episode_begins_with_its_thread_and_a_flush_is_called_one(memory: Memory) -> None:
    mine(memory).add(talk(TAP, 0))
    mine(memory).flush()
    explanation = mine(memory).boundaries.explain(mine(memory).episodes.list()[0].episode_id)
    assert explanation.begins.sentence == "the thread begins here"
    assert explanation.ends.sentence == "a flush closed everything taken in so far"
    assert not [line for line in explanation.what_would_change if "joined" in line]


def test_what_a_session_ended_is_said_to_end_with_it(memory: Memory) -> None:
    session = mine(memory).sessions.start("the tap", thread="kitchen")
    mine(memory).add("The tap drips", thread="kitchen")
    mine(memory).sessions.end(session.id, "success")
    cut = next(card for card in mine(memory).episodes.list() if card.reason == "thread_end")
    said = mine(memory).boundaries.explain(cut.episode_id).ends.sentence
    assert said == "thread_end: its thread was closed or its session ended", "no score made this cut"


def test_the_open_frame_is_explained_too(memory: Memory) -> None:
    mine(memory).add(diary())
    card = mine(memory).episodes.list()[-1]
    explanation = mine(memory).boundaries.explain(card.episode_id)
    assert (explanation.episode.state, explanation.episode.first_seq, explanation.episode.last_seq) == (
        EpisodeState.OPEN,
        12,
        15,
    )
    assert explanation.episode.title == card.title
    assert explanation.begins.reason == "time_gap"
    assert explanation.ends.sentence == "the episode is still open"
    assert explanation.ends.decision is None


def said(*answers: tuple[bool, float]) -> ScriptedModel:
    """Script a model that answers (boundary, confidence) in turn."""
    return ScriptedModel(
        [
            {"is_boundary": yes, "confidence": c, "signals": {}, "updated_event_model": None}
            for yes, c in answers
        ]
    )


DRIPS = [say(f"the tap drips and drips and drips, part {n}", n) for n in range(5)]


def test_an_uncertain_cut_names_the_threshold_that_would_have_joined(open_memory: OpenMemory) -> None:
    memory = open_memory(
        embedder=TopicEmbedder("tap", "cello"), language_model=said((False, 0.8), (True, 0.8))
    )
    mine(memory).add([*DRIPS, say("the cello!", 5)])
    explanation = mine(memory).boundaries.explain(mine(memory).episodes.list()[0].episode_id)
    assert (
        explanation.what_would_change[0]
        == "a threshold above 0.80 (it is 0.70) would have joined this to the one after"
    )


def test_runners_up_are_the_nearest_misses_inside(open_memory: OpenMemory) -> None:
    memory = open_memory(
        embedder=TopicEmbedder("tap", "cello"), language_model=said((True, 0.3), (True, 0.5))
    )
    mine(memory).add([*DRIPS, say("the cello!", 5), say("the tap", 6)])
    mine(memory).flush()
    explanation = mine(memory).boundaries.explain(mine(memory).episodes.list()[0].episode_id)
    assert [(r.seq, r.probability, r.threshold) for r in explanation.runners_up][:2] == [
        (5, 0.5, 0.7),
        (3, 0.3, 0.7),
    ]
    assert explanation.runners_up[0].observation is not None
    assert explanation.runners_up[0].observation.text == "the cello!"
    assert "a threshold of 0.50 or less would have split it before message 5" in explanation.what_would_change


# --- replay and whatif -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", ["seed-001", "default"])
def test_the_same_policy_replays_to_the_same_episodes(open_memory: OpenMemory, name: str) -> None:
    memory = open_memory(policy=name)
    mine(memory).add(diary())
    assert replayed(memory, name) == stored(memory)
    same = mine(memory).boundaries.whatif(THREAD, name)
    assert (same.added, same.removed, same.same) == ([], [], len(stored(memory)))


@pytest.mark.parametrize("name", ["seed-001", "default"])
def test_a_flush_is_replayed_where_it_happened(open_memory: OpenMemory, name: str) -> None:
    memory = open_memory(policy=name)
    mine(memory).add(talk(TAP, 0)[:2])
    mine(memory).flush()
    mine(memory).add([*talk(TAP, 0)[2:], *talk(BREAD, 1)])
    assert stored(memory)[0] == (0, 1, "manual")
    assert replayed(memory, name) == stored(memory)


def test_a_tick_of_the_clock_is_replayed_where_it_happened(open_memory: OpenMemory, clock: Clock) -> None:
    memory = open_memory(policy="default")
    mine(memory).add("a remark", timestamp=NOW, thread=THREAD)
    clock.forward(days=1)
    assert memory.upkeep() == 1
    clock.forward(days=-1, minutes=1)
    # late: without the tick it would have stayed
    mine(memory).add("another right after it", timestamp=clock.now, thread=THREAD)
    assert stored(memory) == [(0, 0, "time_gap"), (1, 1, "open")]
    assert replayed(memory, "default") == stored(memory)


def test_whatif_shows_another_policy_and_changes_nothing(memory: Memory) -> None:
    mine(memory).add(diary())
    before = mine(memory).episodes.list()
    compared = mine(memory).boundaries.whatif(THREAD, "seed-001?max_messages=3")
    assert compared.policy == "seed-001?max_messages=3"
    assert [(s.first_seq, s.last_seq) for s in compared.stored] == [(0, 3), (4, 7), (8, 11), (12, 15)]
    assert [(s.first_seq, s.last_seq) for s in compared.proposed] == [
        (0, 2), (3, 5), (6, 8), (9, 11), (12, 14), (15, 15),
    ]  # fmt: skip
    assert (compared.removed, compared.added, compared.same) == ([4, 8], [3, 6, 9, 15], 0)
    assert mine(memory).episodes.list() == before
    with pytest.raises(InvalidInput, match="did you mean 'seed-001'"):
        mine(memory).boundaries.whatif(THREAD, "seed-01")


def test_whatif_takes_a_policy_as_a_value(memory: Memory) -> None:
    mine(memory).add(diary())
    assert len(mine(memory).boundaries.whatif(THREAD, policy("seed-001", gap_minutes=3000.0)).proposed) == 1


# --- trace -----------------------------------------------------------------------------------------------


def test_a_trace_lines_up_with_the_episodes(memory: Memory) -> None:
    mine(memory).add(diary())
    trace = mine(memory).boundaries.trace(THREAD)
    assert list(trace.seqs) == list(range(16))
    assert trace.title == THREAD
    assert [cut for cut, _ in trace.cuts] == [4, 8, 12]
    assert {why for _, why in trace.cuts} == {"time_gap"}
    assert [t for _, _, t, _ in trace.episodes()][:3] == [e.title for e in mine(memory).episodes.list()[:3]]
    assert trace.texts[0] == TAP[0][1]
    assert trace.times[0] == START
    assert trace.probability[4] == 1.0
    assert all(0 <= p <= 1 for p in trace.probability)


def test_a_trace_leaves_blank_what_is_not_known(open_memory: OpenMemory) -> None:
    model = ScriptedModel(respond=lambda _prompt, _stage: ProviderUnavailable("gone"))
    memory = open_memory(embedder=TopicEmbedder("tap"), language_model=model)
    mine(memory).add(
        [
            {"role": "user", "content": f"the tap drips for the {n}th time and it is annoying"}
            | ({} if n else {"timestamp": "2021-03-01T09:00:00Z"})  # old talk: the others' times are unknown
            for n in range(6)
        ],
        thread=THREAD,
    )
    trace = mine(memory).boundaries.trace(THREAD)
    assert set(trace.times[1:]) == {None}
    assert math.isnan(trace.probability[5])  # waits behind the question about message 3


def test_explanations_and_traces_need_no_embedder(open_memory: OpenMemory, database: Path) -> None:
    mine(open_memory()).add(diary())
    memory = open_memory(path=database, embedder="none")
    assert (
        mine(memory).boundaries.explain(mine(memory).episodes.list()[1].episode_id).begins.reason
        == "time_gap"
    )
    assert len(mine(memory).boundaries.trace(THREAD).seqs) == 16
    assert [s.first_seq for s in mine(memory).boundaries.whatif(THREAD, "seed-001").proposed] == [0, 4, 8, 12]
    assert START + timedelta(days=3) == mine(memory).episodes.list()[-1].start_at
