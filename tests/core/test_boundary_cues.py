"""The cues of a conversation boundary: what a message does, how two sides cohere, how long it was silent."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodic_agent.core.boundary.conversation.cues import (
    DIMENSIONS,
    BaselineCues,
    Pairs,
    PairWeights,
    compact,
    cosines,
    decimals,
    how_far,
    novelty,
    overlap,
    ripeness,
    share_new,
    share_unseen,
    surprise,
)
from episodic_agent.core.boundary.conversation.gap import ALL, LEXICAL, VECTOR_NAMES
from episodic_agent.core.boundary.conversation.model import KNOTS, Network, log_minutes, ramps, sigmoid
from episodic_agent.core.boundary.conversation.speech import (
    MOST_TERMS,
    Speech,
    content_weight,
    speech,
    term_hashes,
)

LINES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data" / "surprise_lines.jsonl").read_text().splitlines()
]


@pytest.mark.parametrize(
    "text",
    [
        "Got it", "Understood.", "I see", "Makes sense", "ok thanks", "Okay, that makes sense, thank you!",
        "Alles klar, danke", "Verstanden", "De acuerdo", "D'accord", "Va bene, grazie", "Entendi, obrigado",
        "好的，谢谢", "明白了", "понятно, спасибо", "Mm-hmm .",
    ],
)  # fmt: skip
def test_an_acknowledgement_is_known_in_many_languages(text: str) -> None:
    cues, reaction, _ = speech(text)
    assert cues.ack == 1.0
    assert cues.content < 0.05
    assert reaction == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "Is it okay?", "The fine was 30 pounds", "Great hotels are in Vienna", "Do you understand the rule?",
        "Sure, book the table for eight", "明白这个规则吗？", "I had no idea!", "",
    ],
)  # fmt: skip
def test_what_says_or_asks_something_is_no_acknowledgement(text: str) -> None:
    assert speech(text)[0].ack == 0.0


@pytest.mark.parametrize(
    ("text", "cue"),
    [
        ("By the way, my sister called", "shifts"),
        ("Übrigens, hast du den Film gesehen", "shifts"),
        ("Por cierto, mañana llueve", "shifts"),
        ("Au fait, tu viens", "shifts"),
        ("对了，明天几点开会", "shifts"),
        ("Hello there", "greets"),
        ("Guten Morgen zusammen", "greets"),
        ("你好，我要退货", "greets"),
        ("Have a great weekend, bye", "closes"),
        ("再见", "closes"),
        ("And then it broke", "continues"),
        ("Where did you find it", "wh"),
        ("Could you check the oven", "yes_no"),
        ("I need a train to Norwich", "requests"),
        ("它什么时候开始", "anaphora"),
        ("I like it here. Do you have any children?", "turns_to_ask"),
    ],
)
def test_a_phrase_gives_its_cue(text: str, cue: str) -> None:
    assert getattr(speech(text)[0], cue) == 1.0


@given(st.text(max_size=300))
def test_speech_cues_stay_in_range_for_any_text(text: str) -> None:
    cues, reaction, terms = speech(text)
    assert all(
        0.0 <= value <= 1.0 for name, value in zip(Speech._fields, cues, strict=True) if name != "length"
    )
    assert 0.0 <= cues.length < 2.0
    assert reaction in {0.0, 0.7, 1.0}
    assert len(terms) <= MOST_TERMS
    assert all(0 <= term < 65_536 for term in terms)


def test_a_long_text_is_read_only_at_its_beginning() -> None:
    assert speech("harbour " * 10 + "x " * 100_000)[2] == term_hashes("harbour x")


@given(st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=1200))
def test_compacting_twice_changes_nothing_but_rounding(values: list[float]) -> None:
    once = compact(np.array(values, np.float32))
    assert once.size == min(len(values), DIMENSIONS)
    assert np.array_equal(once.astype(np.float16).astype(np.float32), once)
    assert np.abs(compact(once) - once).max() < 2e-3


def test_folding_long_vectors_keeps_cosines_roughly() -> None:
    rng = np.random.default_rng(3)
    item, noise = rng.normal(size=(2, 1536)).astype(np.float32)
    near = item + 0.5 * noise
    exact = float(item @ near / np.linalg.norm(item) / np.linalg.norm(near))
    assert cosines([compact(item), compact(near)], Pairs.of([(0, 1)], 2))[0] == pytest.approx(exact, abs=0.1)


def test_a_zero_vector_is_like_nothing() -> None:
    zero = np.zeros(4, np.float32)
    assert cosines([zero, np.ones(4, np.float32)], Pairs.of([(0, 0), (0, 1)], 2)).tolist() == [0.0, 0.0]


def test_a_common_word_binds_less_than_a_rare_one() -> None:
    def alike(numbers: list[int], other: list[int], counts: dict[int, int]) -> float:
        return overlap(frozenset(numbers), frozenset(other), PairWeights(counts))

    assert alike([1, 2], [1, 3], {1: 100}) < alike([1, 2], [1, 3], {}) < alike([1, 2], [1, 2], {})


def test_words_forgotten_by_the_frame_count_as_unseen() -> None:
    assert share_unseen([7], {7: 4}, 5) == 1.0
    assert share_unseen([7], {7: 5}, 5) == 0.0


@given(st.frozensets(st.integers(0, 50)), st.dictionaries(st.integers(0, 50), st.integers(0, 9)))
def test_a_word_is_new_if_it_was_seen_at_no_place_at_all(terms: frozenset[int], seen: dict[int, int]) -> None:
    assert share_new(terms, seen) == share_unseen(terms, seen, 0)


@given(st.integers(1, 40), st.integers(1, 40))
def test_a_share_is_rounded_as_round_does(part: int, whole: int) -> None:
    assert decimals(part / whole, 1e4) == round(part / whole, 4)


@given(st.floats(-1e6, 1e9))
def test_silence_fills_the_stretches_between_knots_from_the_shortest_on(seconds: float) -> None:
    shares = ramps(log_minutes(seconds))
    assert len(shares) == len(KNOTS) - 1
    assert shares == sorted(shares, reverse=True)
    assert sum(0.0 < share < 1.0 for share in shares) <= 1


@given(st.integers(0, 400), st.integers(0, 400))
def test_a_longer_frame_ends_no_less_easily_than_a_shorter_one(size: int, more: int) -> None:
    assert ripeness(size) <= ripeness(size + more)


@given(st.floats(0, 1), st.floats(0, 1), st.sampled_from([0.0, 0.7, 1.0]), st.floats(0, 1))
def test_surprise_keeps_its_scale(new: float, content: float, reaction: float, answered: float) -> None:
    felt = surprise(new, content, reaction, answered)
    assert 0.0 <= felt <= 1.0
    assert felt >= (0.75 if reaction == 1.0 else 0.6 if reaction else 0.0)
    assert surprise(new, 0.02, 0.0, answered) <= 0.02


@given(st.floats(-9, 9), st.floats(-9, 9), st.floats(0, 1))
def test_the_more_alike_the_less_new(one: float, other: float, unseen: float) -> None:
    near, far = max(one, other), min(one, other)
    assert novelty(near, unseen) <= novelty(far, unseen)


def test_content_grows_with_terms_and_never_reaches_one() -> None:
    weights = [content_weight(n) for n in range(MOST_TERMS + 1)]
    assert weights == sorted(weights)
    assert weights[-1] < 1.0


def test_every_cue_of_a_gap_has_one_name() -> None:
    assert len(set(ALL)) == len(ALL) == len(LEXICAL) + len(VECTOR_NAMES)


def test_the_labelled_lines_are_all_there() -> None:
    assert len(LINES) >= 64
    assert {line["class"] for line in LINES} == {"acknowledge", "minor", "pivot", "revelation"}


@pytest.mark.parametrize(
    "line", [one for one in LINES if one["class"] == "acknowledge"], ids=lambda one: one["line"]
)
def test_a_labelled_acknowledgement_has_no_content(line: dict[str, str]) -> None:
    assert speech(line["line"])[0].content <= 0.3


def test_a_network_reads_a_cue_against_its_own_thread_once_the_thread_is_known() -> None:
    size = len(LEXICAL)
    plain, none = np.zeros(2 * size + 1, np.float32), np.zeros(1, np.float32)
    apart = plain[None].copy()
    apart[0, [0, size]] = 1.0, -1.0  # the first cue less its mean
    network = Network(plain, plain + 1.0, apart, none, none + 1.0, 0.0)
    cues, baseline = np.full(size, 0.9), BaselineCues(np.zeros(size, np.float32))
    first = network.probability(cues, baseline, 1)
    assert first == pytest.approx(sigmoid(math.tanh(0.9)), abs=1e-4)  # nothing known: as it stands
    for _ in range(60):
        baseline = baseline.add(cues, size)
    assert 0.5 < network.probability(cues, baseline, 61) < sigmoid(math.tanh(0.12))


def test_means_of_vectors_count_apart_where_some_gaps_have_none() -> None:
    baseline = (
        BaselineCues(np.zeros(4, np.float32)).add(np.ones(4), 2).add(np.ones(2), 2).add(np.full(4, 4.0), 2)
    )
    assert baseline.means.tolist() == [2.0, 2.0, 2.5, 2.5]
    assert np.allclose(baseline.shares(2, 4), [3 / 9, 3 / 9, 2 / 8, 2 / 8])


def test_gaps_without_vectors_leave_the_usual_of_vectors_alone() -> None:
    baseline = BaselineCues(np.zeros(4, np.float32)).add(np.array([1.0, 1.0, 3.0, 3.0]), 2)
    after = baseline.add(np.array([0.0, 0.0]), 2)
    assert after.means.tolist() == [0.5, 0.5, 3.0, 3.0]
    assert (after.seen, after.with_vectors) == (2.0, 1.0)


def test_the_length_of_a_thread_stops_counting_at_some_point() -> None:
    values = [how_far(n) for n in (0, 1, 5, 50, 300, 3_000)]
    assert values == sorted(values)
    assert values[0] == values[1] == 0.0
    assert values[-1] == values[-2]
