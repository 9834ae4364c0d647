"""`default` in doubt: when it asks a language model, and what an answer may and may not do."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest
from builders.examples import share
from builders.talks import COOKING, DRIFT, TAXES, arrival
from core.test_boundary_default import streams
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from episodic_agent.core.boundary.contract import (
    DRAIN_ALL,
    Arrival,
    Boundary,
    Input,
    ManualCut,
    Question,
    Record,
    Verdict,
)
from episodic_agent.core.boundary.conversation import asking
from episodic_agent.core.boundary.conversation.default import DefaultPolicy
from episodic_agent.core.boundary.conversation.memory import ConversationMemory
from episodic_agent.core.boundary.machine import replay, run, settle
from episodic_agent.core.boundary.policies import policy
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import Reason, TimeSource

QUICK = settings(max_examples=share(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])
ALWAYS = DefaultPolicy(band=10.0, asks=True)
TALK = [arrival(n, text, source=TimeSource.ASSUMED) for n, text in enumerate([*COOKING[:4], *TAXES])]


def yes(_question: Question) -> Verdict:
    return Verdict(True, 1.0)


def no(_question: Question) -> Verdict:
    return Verdict(False, 1.0)


def by_seq(question: Question) -> Verdict:
    """Answer by the gap alone, as a model that always says the same of it."""
    return Verdict(question.asked_of % 3 == 0, 0.5 + 0.1 * (question.asked_of % 5))


def last(records: Sequence[Record]) -> dict[int, Record]:
    return {record.seq: record for record in records}


def cuts(boundaries: Sequence[Boundary]) -> list[int]:
    return [cut.before_seq for cut in boundaries if cut.edge != DRAIN_ALL]


# --- without an answer ----------------------------------------------------------------------------------


@QUICK
@given(streams(), st.sampled_from([0.3, 10.0]), st.integers(0, 2))
def test_without_an_answer_everything_is_as_if_nobody_could_be_asked(
    stream: list[Arrival], band: float, hindsight: int
) -> None:
    asks = DefaultPolicy(band=band, asks=True, hindsight=hindsight, max_length=6)
    silent = DefaultPolicy(band=0.0, hindsight=hindsight, max_length=6)
    asked, plain = replay(stream, asks), run(silent.begin(), stream, silent)
    assert asked.cuts == plain.cuts
    assert last(asked.records) == last(plain.records)
    assert json.dumps(asks.pack(asked.memory)) == json.dumps(silent.pack(plain.memory))


def test_whether_there_is_a_model_is_no_part_of_the_name() -> None:
    assert policy("default").name == replace(DefaultPolicy(), asks=True).name == "default-2027-03"
    assert policy("default?band=0").name == "default-2027-03?band=0.0"
    with pytest.raises(InvalidInput, match="band must be 0"):
        policy("default", band=-1)


# --- questions ------------------------------------------------------------------------------------------


def questions(stream: Sequence[Input], chosen: DefaultPolicy) -> list[Question]:
    questions: list[Question] = []

    def answer(question: Question) -> None:
        questions.append(question)

    replay(stream, chosen, answer=answer)
    return questions


@pytest.mark.parametrize("hindsight", [0, 1, 2])
def test_a_question_names_the_gap_and_shows_what_came_after_it(hindsight: int) -> None:
    asked = questions(TALK, replace(ALWAYS, hindsight=hindsight))
    assert [q.gap for q in asked] == list(range(1, len(TALK) - hindsight))
    assert all(q.seq == q.asked_of + hindsight for q in asked)
    assert len({q.id for q in asked}) == len(asked)
    assert asked[0].first_seq == 0
    assert all(q.first_seq < q.asked_of for q in asked)


def test_a_long_frame_is_shown_from_its_newest_messages_on() -> None:
    stream = [arrival(n, COOKING[n % 6], source=TimeSource.ASSUMED) for n in range(60)]
    asked = questions(stream, replace(ALWAYS, threshold=0.99))
    assert max(q.seq - q.first_seq for q in asked) == asking.BEFORE + 2


def test_only_gaps_in_the_band_are_asked_about() -> None:
    records = [r for r in last(replay(TALK, DefaultPolicy()).records).values() if r.cues]
    near = [r.seq for r in records if asking.uncertain(r.probability, r.threshold, 3.0)]
    assert [q.gap for q in questions(TALK, replace(ALWAYS, band=3.0))] == near
    assert 0 < len(near) < len(records)
    assert questions(TALK, replace(ALWAYS, band=0.0)) == []


def test_where_nothing_was_cut_for_long_the_likeliest_gap_is_asked_about() -> None:
    cautious = DefaultPolicy(threshold=0.8, asks=True)  # cuts nothing in a talk that drifts
    drift = [arrival(n, text, source=TimeSource.ASSUMED) for n, text in enumerate(DRIFT)]
    silent = last(replay(drift, cautious).records)
    assert not any(record.action == "cut" for record in silent.values())
    (asked,) = questions(drift, cautious)
    assert asked.asked_of >= asking.LONG
    there = silent[asked.asked_of]
    assert there.probability == max(r.probability for r in silent.values())
    assert not asking.uncertain(there.probability, there.threshold, cautious.band)  # the band alone is silent
    assert cuts(replay(drift, cautious, answer=yes).cuts) == [asked.asked_of]
    assert questions(drift[:8], cautious) == questions(drift, replace(cautious, band=0.0)) == []


@pytest.mark.parametrize("text", ["Got it", "ok", "I see"])
def test_no_answer_cuts_before_a_message_that_says_nothing(text: str) -> None:
    stream = [*TALK[:3], *[arrival(n, text, source=TimeSource.ASSUMED) for n in (3, 4, 5)]]
    step = replay(stream, ALWAYS, answer=yes)
    assert not {3, 4, 5} & set(cuts(step.cuts))
    assert all(q.gap in (1, 2) for q in questions(stream, ALWAYS))


def test_no_answer_keeps_a_long_silence_together() -> None:
    stream = [
        arrival(0, COOKING[0]),
        arrival(1, COOKING[1], at=TALK[0].observation.at.replace(day=20)),
    ]
    assert [c.reason for c in replay(stream, ALWAYS, answer=no).cuts] == [Reason.TIME_GAP]


# --- answers --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("odds", "boundary", "confidence", "after"),
    [
        (0.4, True, 1.0, 0.7273),
        (0.4, False, 1.0, 0.1429),
        (0.4, True, 0.0, 0.4),
        (0.4, True, 0.5, 0.5532),
        (0.5, True, 1.0, 0.8),
        (0.02, True, 1.0, 0.0755),
        (0.4, True, 7.0, 0.7273),
    ],
)
def test_an_answer_is_worth_what_a_witness_is(
    odds: float, boundary: bool, confidence: float, after: float
) -> None:
    assert asking.weighed(odds, boundary=boundary, confidence=confidence) == after


def test_an_answer_far_from_the_threshold_is_not_obeyed() -> None:
    sure = {r.seq for r in last(replay(TALK, DefaultPolicy()).records).values() if r.probability < 0.05}
    assert sure
    assert not sure & set(cuts(replay(TALK, ALWAYS, answer=yes).cuts))


def test_a_yes_cuts_before_the_gap_and_a_no_keeps() -> None:
    plain = last(replay(TALK, DefaultPolicy()).records)
    with_yes, with_no = replay(TALK, ALWAYS, answer=yes), replay(TALK, ALWAYS, answer=no)
    assert set(cuts(with_no.cuts)) < set(cuts(with_yes.cuts))
    gained = next(c for c in with_yes.cuts if plain[c.before_seq].action == "keep")
    assert gained.decided_at_seq == gained.before_seq + 2
    assert gained.reason == Reason.TOPIC_SHIFT
    weighed = asking.read(gained.cues)
    assert weighed is not None
    assert weighed.probability == gained.probability >= gained.threshold > weighed.unasked


@QUICK
@given(streams(), st.integers(0, 2))
def test_every_record_with_an_answer_recomputes(stream: list[Arrival], hindsight: int) -> None:
    step = replay(stream, replace(ALWAYS, hindsight=hindsight), answer=by_seq)
    for record in last(step.records).values():
        weighed = asking.read(record.cues)
        assert weighed is None or weighed.probability == record.probability
        if record.action in ("cut", "keep"):
            assert (record.probability >= record.threshold) == (record.action == "cut")
        assert all(0.0 <= value <= 1.0 for value in record.cues.values())


# --- while a question is open ---------------------------------------------------------------------------


@QUICK
@given(streams(), st.integers(0, 2))
def test_a_restart_before_and_after_every_answer_changes_nothing(
    stream: list[Arrival], hindsight: int
) -> None:
    chosen = replace(ALWAYS, hindsight=hindsight, max_length=6)
    full_step = replay(stream, chosen, answer=by_seq)
    memory, boundaries, records = chosen.begin(), list[Boundary](), list[Record]()

    def restarted(memory: ConversationMemory) -> ConversationMemory:
        return chosen.unpack(json.loads(json.dumps(chosen.pack(memory))))

    for item in stream:
        step = run(memory, [item], chosen)
        while True:
            boundaries += step.cuts
            records += step.records
            memory = restarted(step.memory)
            if step.question is None:
                break
            step = settle(memory, step.question, by_seq(step.question), chosen)
    assert (boundaries, records) == (list(full_step.cuts), list(full_step.records))
    assert chosen.pack(memory) == chosen.pack(full_step.memory)


def opened() -> tuple[ConversationMemory, Question]:
    step = run(ALWAYS.begin(), TALK, ALWAYS)
    assert step.question is not None
    assert step.consumed < len(TALK)
    return step.memory, step.question


def test_a_settled_question_and_one_never_asked_change_nothing() -> None:
    memory, question = opened()
    assert ALWAYS.settle(memory, replace(question, id="another"), Verdict(True, 1.0)).memory is memory
    after = ALWAYS.settle(memory, question, Verdict(False, 1.0)).memory
    again = ALWAYS.settle(after, question, Verdict(True, 1.0))
    assert (again.memory, again.cuts) == (after, ())


def test_nothing_is_taken_in_while_a_question_is_open() -> None:
    memory, question = opened()
    with pytest.raises(ValueError, match=f"{question.id} is open"):
        ALWAYS.check(memory, TALK[question.seq + 1])


def test_a_flush_waits_for_no_answer() -> None:
    memory, question = opened()
    check = ALWAYS.drain(memory, ManualCut(TALK[0].observation.at))
    plain = DefaultPolicy()
    step = run(plain.begin(), [*TALK[: question.seq + 1], ManualCut(TALK[0].observation.at)], plain)
    assert list(check.cuts) == list(step.cuts)
    assert not check.memory.asked
