"""One choice over all earlier threads: its shares, what takes and what cannot take them, and its verdicts."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodic_agent.core.links.choice import Talk, choose, edges, ranks, talk_of
from episodic_agent.core.links.features import features_of
from episodic_agent.core.links.policies import ChoicePolicy, link_policy
from episodic_agent.core.links.reading import read_message
from episodic_agent.core.links.verdict import compete, decide, recomputed

TEN = datetime(2026, 3, 2, 10, tzinfo=UTC)
POLICY = ChoicePolicy()
WORDS = [
    "kiln",
    "glaze",
    "wheel",
    "tax",
    "refund",
    "letter",
    "ferry",
    "ticket",
    "harbour",
    "flour",
    "oven",
    "yeast",
]


def said(name: str, texts: Sequence[str], hours: float, vectors: Sequence[Sequence[float]] = ()) -> Talk:
    """Make a talk of messages a minute apart, with vectors where they are given."""
    at = TEN + timedelta(hours=hours)
    turns = []
    for n, text in enumerate(texts):
        vector = np.array(vectors[n], np.float32) if vectors else None
        turns.append((at + timedelta(minutes=n), features_of(text, vector=vector)))
    return talk_of(name, turns, channels=["sms"])


EARLIER = [
    said("clay", ["The pottery kiln is broken", "The glaze ran on my bowl"], 0),
    said("tax", ["What does the tax return still need?", "A letter about the refund"], 24),
    said("sea", ["When does the ferry to Gozo leave?", "The harbour is closed"], 48),
]
NEW = said("new", ["Is the kiln mended?", "The glaze on the second bowl ran too"], 72)


@pytest.mark.parametrize("at_end", [True, False])
def test_no_candidates_leave_nothing_to_choose(at_end: bool) -> None:
    assert choose(NEW, [], POLICY, at_end=at_end) == ()


@pytest.mark.parametrize("at_end", [True, False])
def test_shares_leave_to_none_what_is_missing_to_one(at_end: bool) -> None:
    shares = [entry.score for entry in choose(NEW, EARLIER, POLICY, at_end=at_end)]
    assert 0.0 < sum(shares) < 1.0
    assert shares == sorted(shares, reverse=True)


def test_what_shares_the_rare_words_is_chosen_and_the_rest_is_refused_for_sure() -> None:
    judged = [decide(entry, POLICY) for entry in choose(NEW, EARLIER, POLICY, at_end=True)]
    assert [(v.thread_id, v.link) for v in compete(judged, 1)] == [
        ("clay", True),
        ("tax", False),
        ("sea", False),
    ]


@given(st.permutations(range(len(EARLIER))), st.booleans())
def test_the_order_of_the_candidates_changes_nothing(order: list[int], at_end: bool) -> None:
    shares = {e.thread_id: e.score for e in choose(NEW, EARLIER, POLICY, at_end=at_end)}
    again = choose(NEW, [EARLIER[n] for n in order], POLICY, at_end=at_end)
    assert {e.thread_id: e.score for e in again} == pytest.approx(shares)


@given(
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5), min_size=1, max_size=7),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=6),
    st.booleans(),
)
def test_a_hopeless_candidate_takes_shares_and_gives_none(
    earlier: list[list[str]], new: list[str], vectors: bool
) -> None:
    """What shares no word with the thread, is near to none of it and older than all helps no rival."""
    axes = np.eye(8, dtype=np.float32)

    def vector(words: list[str]) -> list[list[float]]:
        return [axes[len(words) % 4].tolist()] if vectors else []

    talks = [said(str(n), [" ".join(words)], 10.0 * n, vector(words)) for n, words in enumerate(earlier)]
    talk = said(
        "new", [" ".join(new), "and again"], 100.0, [*vector(new), axes[3].tolist()] if vectors else []
    )
    hopeless = said("no", ["zebra xylophone quarks"], -50.0, [axes[7].tolist()] if vectors else [])
    before = {e.thread_id: e.score for e in choose(talk, talks, POLICY, at_end=True)}
    after = {e.thread_id: e.score for e in choose(talk, [*talks, hopeless], POLICY, at_end=True)}
    assert all(after[name] <= share + 1e-9 for name, share in before.items())


def test_a_share_follows_from_the_record_alone() -> None:
    for at_end in (True, False):
        for entry in choose(NEW, EARLIER, POLICY, at_end=at_end):
            verdict = decide(entry, POLICY)
            again = recomputed(verdict.thread_id, verdict.policy, verdict.recorded())
            assert (again.verdict, again.label, again.algorithmic) == (
                verdict.verdict,
                verdict.label,
                pytest.approx(verdict.algorithmic),
            )


def test_thanks_go_on_with_nothing() -> None:
    thanks = said("new", ["ok, thanks"], 72)
    assert {entry.score for entry in choose(thanks, EARLIER, POLICY, at_end=False)} == {0.0}


def test_both_of_two_cities_are_chosen_together() -> None:
    texts = ("What's the weather in Leeds?", "What is the weather in York like?", "What about both cities?")
    leeds, york, both = (
        talk_of(text, [(TEN + timedelta(hours=n), read_message(text, TEN))]) for n, text in enumerate(texts)
    )
    shares = choose(both, [leeds, york], POLICY, at_end=False)
    assert [entry.features["sets"] for entry in shares] == [1.0, 1.0]
    assert all(entry.score > 0.5 for entry in shares)


def test_ends_and_openings_have_limits_and_doubts_of_their_own() -> None:
    end, opening = {"at_end": 1.0}, {"pair": 0.0}
    assert (POLICY.limit(end), POLICY.limit(opening)) == (POLICY.end, POLICY.threshold)
    assert [POLICY.unsure(share, end) for share in (0.1, 0.5, 0.8)] == [False, True, False]
    assert [POLICY.unsure(share, opening) for share in (0.1, 0.8, 0.95)] == [False, True, False]
    assert link_policy("choice-2027-01?end=0.6").limit(end) == 0.6


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12))
def test_what_is_worse_than_all_moves_no_rank_and_no_edge(values: list[float]) -> None:
    some, more = np.array(values), np.array([*values, 0.0])
    assert ranks(more)[:-1].tolist() == pytest.approx(ranks(some).tolist())
    assert edges(more)[:-1].tolist() == pytest.approx(edges(some).tolist())
