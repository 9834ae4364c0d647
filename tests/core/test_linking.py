"""Linking's evidence: seed 002's own numbers, what must never link, and how scores move."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodic_agent.core.calibration import Calibration
from episodic_agent.core.links.candidates import ActivePeriod, candidates, due, named_ranges
from episodic_agent.core.links.evidence import judge, score
from episodic_agent.core.links.features import (
    Features,
    ThreadFeatures,
    cues,
    dependence,
    features_of,
    grown,
    recalls,
    thread_of,
)
from episodic_agent.core.links.outcomes import meant, reminds
from episodic_agent.core.links.policies import link_policy, link_policy_names
from episodic_agent.core.links.reading import read_message
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import Vector

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
SEED = link_policy("seed-002")
PAIRWISE = link_policy("link-2026-12")
PLACES = ("New York", "Boston", "Tokyo", "Paris")
TIMES = ("Thursday", "next week", "tomorrow")
TOPICS = {"weather": "weather", "flight": "travel", "trip": "travel", "visit": "travel"}
NEW_YORK = ("What's the weather in New York?", "What about next week?")
BOSTON = ("What's the weather in Boston?",)
PARIS = ("I'm planning a trip to Paris",)


@dataclass(frozen=True)
class Named:
    kind: str
    value: str
    start: int
    end: int


@dataclass(frozen=True)
class Both:
    kind: str | None
    start: int
    end: int
    count: int | None = 2


def toy(text: str, at: datetime = NOW, vector: Vector | None = None) -> Features:
    """Read a message with a lexicon of a few places, days and topics."""
    del at
    named = [
        Named(kind, name.lower(), text.index(name), text.index(name) + len(name))
        for kind, names in (("place", PLACES), ("time", TIMES))
        for name in names
        if name in text
    ]
    place = text.find("both cities")
    sets = [Both("place", place, place + 11)] if place >= 0 else []
    topics = {topic: 1.0 for word, topic in TOPICS.items() if word in text.lower()}
    return features_of(text, mentions=named, set_references=sets, topics=topics, vector=vector)


def shipped(text: str, at: datetime = NOW) -> Features:
    return read_message(text, at)


def thread(name: str, gap: timedelta, texts: Sequence[str], read: object = toy) -> ThreadFeatures:
    assert callable(read)
    return thread_of(name, [(NOW - gap, read(text)) for text in texts])


MINUTES, HOURS = timedelta(minutes=1), timedelta(hours=1)
SEED_CASES = [
    ("Oh, and what is it on Thursday?", [("ny", 40 * MINUTES, NEW_YORK)], 0.874),
    ("Oh, and what is it on Thursday?", [("ny", 40 * MINUTES, NEW_YORK[:1])], 0.874),
    ("Book me a flight to Tokyo", [("ny", 36 * MINUTES, NEW_YORK)], 0.345),
    ("What about the weather in Boston?", [("ny", 15.6 * HOURS, NEW_YORK)], 0.72),
    ("What about the weather in Boston?", [("ny", 36 * MINUTES, NEW_YORK)], 0.845),
    ("What's the best time to visit?", [("paris", 36 * MINUTES, PARIS)], 0.564),
    (
        "What about weather in both cities?",
        [("ny", 36 * MINUTES, NEW_YORK), ("boston", 36 * MINUTES, BOSTON)],
        0.995,
    ),
    ("What about weather?", [("ny", HOURS, NEW_YORK), ("boston", HOURS, BOSTON)], 0.988),
    ("Remember when we talked about New York weather?", [("ny", timedelta(days=7), NEW_YORK)], 0.80),
]
# Only the toy lexicon knows that one visits what one travels to.
READ_CASES = [case for case in SEED_CASES if "best time to visit" not in case[0]]


@pytest.mark.parametrize(("message", "threads", "expected"), SEED_CASES)
def test_the_seeds_cases_have_the_seeds_numbers(
    message: str, threads: list[tuple[str, timedelta, Sequence[str]]], expected: float
) -> None:
    matching_evidence = judge(toy(message), [thread(*one) for one in threads], NOW, SEED)
    assert len(matching_evidence) == len(threads)
    for evidence in matching_evidence:
        assert evidence.score == pytest.approx(expected, abs=0.0006)


@pytest.mark.parametrize("policy", ["seed-002", "link-2026-12"])
@pytest.mark.parametrize(("message", "threads", "expected"), READ_CASES)
def test_the_seeds_cases_are_linked_as_the_seed_says_with_the_shipped_reading(
    message: str, threads: list[tuple[str, timedelta, Sequence[str]]], expected: float, policy: str
) -> None:
    chosen = link_policy(policy)
    for evidence in judge(shipped(message), [thread(*one, shipped) for one in threads], NOW, chosen):
        assert (evidence.score > chosen.threshold) == (expected > 0.7)


@pytest.mark.parametrize(
    "text", ["ok, thanks", "Ok thanks", "thanks a lot!", "👍", "", "good morning", "谢谢", "merci !"]
)
@pytest.mark.parametrize("policy", ["seed-002", "link-2026-12"])
def test_thanks_never_link_however_recent_the_thread_is(text: str, policy: str) -> None:
    vector = np.array([1.0, 0.0], np.float32)
    chosen = link_policy(policy)
    recent = thread_of("a", [(NOW - MINUTES, toy("What's the weather?", vector=vector))])
    for read in (toy(text), toy(text, vector=vector)):
        assert score(read, recent, NOW, chosen).score <= 0.2


def test_without_any_evidence_the_seeds_score_is_the_recency_alone() -> None:
    evidence = score(toy("ok, thanks"), thread("a", 12 * HOURS, NEW_YORK), NOW, SEED)
    assert evidence.score == pytest.approx(0.2 * 0.5)


def test_an_elliptical_message_inherits_only_from_the_most_recent_thread_that_fits() -> None:
    older, newer = thread("older", 3 * HOURS, NEW_YORK), thread("newer", HOURS, BOSTON)
    by_id = {e.thread_id: e for e in judge(toy("And what about that?"), [older, newer], NOW, SEED)}
    assert by_id["newer"].features["inherits"] == 1.0
    assert by_id["older"].features["inherits"] == 0.0
    assert by_id["newer"].score > 0.7 > by_id["older"].score


def test_an_elliptical_message_that_names_a_place_inherits_from_a_thread_with_places() -> None:
    trip, clock = thread("trip", 3 * HOURS, PARIS), thread("clock", HOURS, ["Set a timer"])
    by_id = {e.thread_id: e for e in judge(toy("And Tokyo?"), [trip, clock], NOW, SEED)}
    assert [name for name, e in by_id.items() if e.features["inherits"]] == ["trip"]


def test_a_thread_of_a_week_ago_is_found_since_recency_is_no_filter() -> None:
    week = thread("week", timedelta(days=7), NEW_YORK, shipped)
    features = shipped("Remember when we talked about New York weather?")
    assert score(features, week, NOW, SEED).score > SEED.threshold
    assert score(features, week, NOW, PAIRWISE).score > PAIRWISE.threshold


def test_a_topic_by_vectors_is_zero_at_a_cosine_of_point_two_and_one_at_point_eight() -> None:
    def at_cosine(value: float) -> float:
        turn = np.array([1.0, 0.0], np.float32)
        statements = np.array([value, (1 - value**2) ** 0.5], np.float32)
        thread_ = thread_of("a", [(NOW, toy("rain", vector=turn))])
        return score(toy("sunshine", vector=statements), thread_, NOW, SEED).features["topic"]

    assert [round(at_cosine(c), 3) for c in (0.1, 0.2, 0.5, 0.8, 0.9)] == [0.0, 0.0, 0.5, 1.0, 1.0]


def test_another_embedders_cosines_are_read_on_the_default_scale() -> None:
    turn, statements = np.array([1.0, 0.0], np.float32), np.array([0.8, 0.6], np.float32)
    features = thread_of("a", [(NOW, toy("rain", vector=turn))])
    fitted = Calibration("mine", 0.8, None, ((-1.0, -1.0), (0.8, 0.2), (1.0, 1.0)))
    plain = judge(toy("sunshine", vector=statements), [features], NOW, SEED)[0]
    mapped = judge(toy("sunshine", vector=statements), [features], NOW, SEED, calibration=fitted)[0]
    assert plain.features["near"] == pytest.approx(0.8)
    assert mapped.features["near"] == pytest.approx(0.2)
    assert mapped.features["topic"] == pytest.approx(0.0, abs=1e-6)


def test_vectors_are_used_only_where_both_sides_have_them() -> None:
    bare = thread("a", HOURS, NEW_YORK)
    evidence = score(toy("sunshine", vector=np.array([1.0, 0.0], np.float32)), bare, NOW, PAIRWISE)
    assert "near" not in evidence.features


# --- policies


def test_a_policys_name_says_everything_it_was_made_with() -> None:
    changed = link_policy("seed-002", threshold=0.72, keyword=0.35, recency=0.15)
    assert changed.name == "seed-002?threshold=0.72&keyword=0.35&recency=0.15"
    assert link_policy(changed.name) == changed
    assert link_policy("seed-002?threshold=0.7") == SEED


def test_a_policy_is_found_by_its_aliases() -> None:
    assert link_policy("hybrid") == SEED
    assert link_policy("default").name == "choice-2027-01"
    assert {"default", "hybrid"} <= set(link_policy_names())


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("seed-02", "seed-002"),
        ("seed-002?keywords=0.4", "keyword"),
        ("seed-002?threshold=1.4", "[0, 1]"),
        ("seed-002?threshold=high", "parameter=number"),
        ("link-2026-12?keyword=0.4", "threshold"),
    ],
)
def test_a_wrong_policy_is_refused_with_the_remedy(name: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words.replace("[", r"\[").replace("]", r"\]")):
        link_policy(name)


# --- properties

SHARES = st.floats(0.0, 1.0)
COMPONENTS = st.fixed_dictionaries(
    {"recency": SHARES}, optional={"keyword": SHARES, "entity": SHARES, "topic": SHARES}
)
NUMBERS = st.dictionaries(
    st.sampled_from(
        [
            "near",
            "centre",
            "last",
            "rare",
            "keyword",
            "pointing",
            "says_recall",
            "fragment",
            "foreign",
            "asks",
        ]
    ),
    st.floats(-1.0, 1.0),
)


@given(COMPONENTS)
def test_the_seeds_score_lies_in_0_to_1(features: dict[str, float]) -> None:
    assert 0.0 <= SEED.score(features) <= 1.0 + 1e-12


@given(NUMBERS)
def test_the_fitted_score_is_a_probability_whatever_it_reads(features: dict[str, float]) -> None:
    assert 0.0 <= PAIRWISE.score(features) <= 1.0


@given(COMPONENTS, SHARES)
def test_the_seeds_score_never_falls_when_a_thread_is_more_recent(
    features: dict[str, float], other: float
) -> None:
    low, high = sorted((features["recency"], other))
    assert SEED.score(features | {"recency": low}) <= SEED.score(features | {"recency": high}) + 1e-12


@given(st.floats(0.0, 1000.0), st.floats(0.0, 1000.0))
def test_a_thread_scores_no_higher_for_being_older(one: float, other: float) -> None:
    older, newer = sorted((one, other), reverse=True)
    features = toy("What about the weather in Boston?")
    scores = [
        score(features, thread("a", hours * HOURS, NEW_YORK), NOW, SEED).score for hours in (older, newer)
    ]
    assert scores[0] <= scores[1] + 1e-12


@given(st.permutations(["ny", "boston", "paris"]), st.sampled_from(["seed-002", "link-2026-12"]))
def test_the_order_in_which_candidates_come_changes_nothing(order: list[str], policy: str) -> None:
    known = {
        "ny": thread("ny", 2 * HOURS, NEW_YORK),
        "boston": thread("boston", 3 * HOURS, BOSTON),
        "paris": thread("paris", 30 * HOURS, PARIS),
    }
    chosen = link_policy(policy)
    expected = judge(toy("What about Boston?"), list(known.values()), NOW, chosen)
    assert judge(toy("What about Boston?"), [known[name] for name in order], NOW, chosen) == expected


@given(st.permutations(list(NEW_YORK + BOSTON)))
def test_a_thread_is_the_sum_of_its_turns_in_any_order(texts: list[str]) -> None:
    def built(some: Sequence[str]) -> ThreadFeatures:
        return thread_of("a", [(NOW, toy(text)) for text in some])

    features, other = built(texts), built(NEW_YORK + BOSTON)
    assert (features.words, features.topics, features.turns) == (other.words, other.topics, other.turns)
    assert {k: set(v) for k, v in features.values.items()} == {k: set(v) for k, v in other.values.items()}


@given(st.text(max_size=200))
def test_any_text_can_be_read_and_judged(text: str) -> None:
    features = features_of(text)
    evidence = judge(features, [thread("a", HOURS, NEW_YORK), thread("b", 50 * HOURS, PARIS)], NOW, PAIRWISE)
    assert all(0.0 <= e.score <= 1.0 for e in evidence)


def test_a_turn_that_arrives_late_does_not_move_the_last_activity_back() -> None:
    late = grown(thread("a", HOURS, NEW_YORK), NOW - 5 * HOURS, toy("rain"))
    assert (late.first_at, late.last_at, late.turns) == (NOW - 5 * HOURS, NOW - HOURS, 3)


# --- cues


@pytest.mark.parametrize(
    "text",
    [
        "Remember when we talked about Paris?",
        "what was that sleeper service you mentioned",
        "as discussed, please send it",
        "Weißt du noch, wir hatten über die Fähre gesprochen?",
        "¿Te acuerdas de lo que hablamos de los regalos?",
        "Tu te souviens, on avait parlé de la météo ?",
        "还记得我们聊过的机票吗？",
        "上次你推荐的书叫什么？",
    ],
)
def test_recall_cues_are_heard_in_five_languages(text: str) -> None:
    assert cues(text).recall
    assert recalls(text)
    assert reminds(text)


@pytest.mark.parametrize(
    "text", ["I was ill last week", "How is the traffic?", "Das Wetter war gestern schön"]
)
def test_a_date_alone_is_no_recall_of_a_conversation(text: str) -> None:
    assert not cues(text).recall
    assert not recalls(text)


@pytest.mark.parametrize(
    "text",
    ["Different question: how tall is it?", "By the way, who won?", "Was anderes: wann ist Ostern?",
     "Otra cosa: ¿qué hora es?", "Autre chose : quel temps fait-il ?", "换个话题，今天几号？"],
)  # fmt: skip
def test_a_new_subject_is_heard_in_five_languages(text: str) -> None:
    assert cues(text).new_subject


def test_a_greeting_before_a_question_is_more_than_nothing() -> None:
    assert cues("Good morning! Please read me the headlines").nothing is False
    assert cues("好的，谢谢").nothing is True
    assert cues("danke für alles").nothing is True
    assert cues("Thanks so much for all your help!").nothing is True
    assert cues("thanks for the recipe").nothing is False


# --- candidates


def activity(name: str, hours: float, length: float = 0.1) -> ActivePeriod:
    return ActivePeriod(name, NOW - timedelta(hours=hours + length), NOW - timedelta(hours=hours))


def test_candidates_are_the_ten_latest_of_a_day_then_the_best_five_hits() -> None:
    threads = [activity(f"t{n:02}", n) for n in range(1, 15)] + [activity("old", 400)]
    matching_candidates = candidates(threads, ["old", "t01", "h1", "h2", "h3", "h4"], NOW)
    assert [c.thread_id for c in matching_candidates] == [
        *(f"t{n:02}" for n in range(1, 11)),
        "old",
        "h1",
        "h2",
        "h3",
    ]
    assert matching_candidates[0].why == ("active", "found")


def test_a_thread_of_exactly_24_hours_ago_is_active_and_a_minute_older_is_not() -> None:
    matching_candidates = candidates([activity("a", 24.0), activity("b", 24.02)], [], NOW)
    assert [c.thread_id for c in matching_candidates] == ["a"]


def test_a_recall_cue_with_a_date_names_the_threads_of_that_time() -> None:
    text = "We talked about it last week, what was it?"
    ranges = named_ranges(text, NOW)
    threads = [activity("last week", 24 * 5), activity("month", 24 * 40), activity("now", 1)]
    matching_candidates = candidates(threads, ["month"], NOW, ranges)
    assert [(c.thread_id, c.why) for c in matching_candidates] == [
        ("now", ("active",)),
        ("last week", ("named",)),
        ("month", ("found",)),
    ]


def test_a_date_that_lies_ahead_names_no_thread() -> None:
    assert named_ranges("Remember when we said next month?", NOW) == ()


def test_the_messages_own_thread_is_no_candidate() -> None:
    matching_candidates = candidates(
        [activity("own", 0.1), activity("a", 2)], ["own"], NOW, apart_from=frozenset({"own"})
    )
    assert [c.thread_id for c in matching_candidates] == ["a"]


# --- when, and how a message is worded


def test_a_thread_opened_by_hand_is_linked_only_when_it_recalls() -> None:
    assert due(1, toy("Remember when we talked about Paris?"), explicit=True, unsettled=False)
    assert not due(1, toy("And what about Paris?"), explicit=True, unsettled=False)


def test_an_unsettled_thread_is_asked_about_until_its_third_message() -> None:
    asked = [due(n, toy("Paris"), explicit=False, unsettled=True) for n in range(1, 6)]
    assert asked == [True, True, True, False, False]


@pytest.mark.parametrize(
    ("text", "present", "absent"),
    [
        ("Is it cheaper than the other one?", {"pointing", "choosing", "asks"}, {"fresh"}),
        ("How do I boil an egg?", {"fresh", "indefinite", "asks"}, {"pointing", "choosing"}),
        ("tried that, still broken", {"report", "going_on", "pointing"}, {"asks"}),
        ("Is it raining in Rome?", set(), {"pointing"}),
        ("What can I use instead of butter?", set(), {"choosing"}),
        ("Which spare battery fits the second one?", {"choosing"}, {"report"}),
        ("滤网洗过了，还是不冷", {"report", "going_on"}, {"asks"}),
        ("rear?", {"fragment"}, {"fresh"}),
    ],
)
def test_a_messages_wording_says_whether_it_stands_alone(
    text: str, present: set[str], absent: set[str]
) -> None:
    read = dependence(text)
    assert [name for name in present if not getattr(read, name)] == []
    assert [name for name in absent if getattr(read, name)] == []


@pytest.mark.parametrize(
    ("said", "rest"),
    [
        ("No, not that, I mean the fence. The left panel blew out.", "the fence The left panel blew out"),
        ("I don't mean the shelf", ""),
        ("That's not what I meant, how big a tin?", "how big a tin"),
        ("no i meant the fence", "the fence"),
        ("Nein, das nicht. Es geht um die Grundsteuer", "die grundsteuer"),
        ("Ich meine nicht das Regal, sondern den Zaun", "den zaun"),
        ("No, eso no, me refiero a la caldera", "la caldera"),
        ("No me refiero a la caldera", ""),
        ("不是书架，我说的是窗帘", "窗帘"),
        ("不是那个，轨道松了", "轨道松了"),
        ("not that", ""),
    ],
)
def test_of_a_denial_what_is_meant_is_told_apart_from_what_is_not(said: str, rest: str) -> None:
    assert meant(said) == rest
