"""Chaining: who may be a parent, what each policy decides, and that a verdict follows from its record."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from episodic_agent.core.calibration import Calibration
from episodic_agent.core.chains.deciding import (
    decide,
    decision_of,
    eligible,
    follows,
    recomputed,
    unjudged_verdict,
)
from episodic_agent.core.chains.evidence import judge
from episodic_agent.core.chains.policies import ChainPolicy, FixedChain, chain_policy, chain_policy_names
from episodic_agent.core.chains.records import EpisodeStanding, EpisodeView, SessionTurn, opening, view_of
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import Vector
from episodic_agent.schemas.chains import Refusal

NOW = datetime(2026, 3, 6, 12, tzinfo=UTC)
SEED, FIXED, DEFAULT = chain_policy("seed-004"), chain_policy("chain-fixed"), chain_policy()
LEAK = ("The ingest worker leaks memory again, 40 MB an hour.", "Take two heap dumps.", "Will do.")
LEAK_2 = ("Back to the leaking ingest worker: the heap dumps are in.", "Who holds the memory?", "A dict.")
BREAD = ("What's a good ratio of flour to water for rye bread?", "Ten to eight.", "Thanks, baking now.")
AXES = {"leak": (1.0, 0.0), "bread": (0.0, 1.0)}


def axis(cosine: float) -> Vector:
    """Return a vector that has this cosine with (1, 0)."""
    return np.array([cosine, (1.0 - cosine * cosine) ** 0.5], np.float32)


def episode(
    number: int, texts: Sequence[str], ended: datetime, vector: Vector | None = None, **standing: object
) -> EpisodeView:
    began = ended - timedelta(minutes=10)
    turns = [SessionTurn(began, text, own=n % 2 == 0, vector=vector) for n, text in enumerate(texts)]
    known = {"thread_id": UUID(int=1000 + number), **standing}
    return view_of(
        EpisodeStanding(UUID(int=number), start_at=began, end_at=ended, **known),  # type: ignore[arg-type]
        turns,
        vector=vector,
    )


def opened(
    texts: Sequence[str] = LEAK_2, at: datetime = NOW, vector: Vector | None = None, **standing: object
) -> EpisodeView:
    view = episode(99, texts, at + timedelta(minutes=10), vector, **standing)
    return replace(view, start_at=at, closed=False)


def parent_of(new: EpisodeView, before: Sequence[EpisodeView], policy: ChainPolicy) -> UUID | None:
    verdict = decide(new, before, policy, stage="open").parent
    return None if verdict is None else verdict.parent


@pytest.mark.parametrize("policy", [SEED, FIXED, DEFAULT], ids=lambda p: p.name)
def test_a_similar_episode_closed_two_hours_ago_is_the_parent_and_its_score_is_recorded(
    policy: ChainPolicy,
) -> None:
    before = episode(1, LEAK, NOW - timedelta(hours=2), axis(1.0))
    choice = decide(opened(vector=axis(0.95)), [before], policy, stage="open")
    assert choice.parent is not None
    assert choice.parent.parent == before.id
    made = decision_of(UUID(int=99), choice, NOW, "open")
    assert made is not None
    assert made.verdict == "CHAIN"
    assert made.score == choice.parent.score >= made.threshold


@pytest.mark.parametrize("policy", [SEED, FIXED, DEFAULT], ids=lambda p: p.name)
def test_another_topic_has_no_parent(policy: ChainPolicy) -> None:
    before = episode(1, LEAK, NOW - timedelta(hours=2), axis(1.0))
    assert parent_of(opened(BREAD, vector=axis(0.05)), [before], policy) is None


@pytest.mark.parametrize("policy", [SEED, FIXED], ids=lambda p: p.name)
@pytest.mark.parametrize(("minutes", "links"), [(47 * 60 + 59, True), (48 * 60, True), (48 * 60 + 1, False)])
def test_forty_eight_hours_are_within_the_window_and_a_minute_more_is_not(
    policy: ChainPolicy, minutes: int, links: bool
) -> None:
    before = episode(1, LEAK, NOW - timedelta(minutes=minutes), axis(1.0))
    assert (parent_of(opened(vector=axis(0.95)), [before], policy) is not None) is links


@pytest.mark.parametrize(
    ("days", "entities", "cosine", "within"),
    [(7, 2, 0.8, True), (7, 1, 0.9, False), (7, 2, 0.79, False), (7.01, 3, 1.0, False), (1, 0, 0.0, True)],
)
def test_the_window_of_a_week_needs_rare_names_and_a_high_cosine(
    days: float, entities: int, cosine: float, within: bool
) -> None:
    numbers = {"hours": 24.0 * days, "rare_entities": float(entities), "cosine": cosine}
    assert FixedChain().reaches(numbers) is within


def test_seed_004_wants_more_than_its_threshold_and_looks_at_three_at_most() -> None:
    at = {"hours": 1.0}
    assert not SEED.links({"raw": 0.85, **at}, "open")
    assert SEED.links({"raw": 0.8501, **at}, "open")
    before = [episode(n, LEAK, NOW - timedelta(hours=n), axis(0.9 + n / 100)) for n in range(1, 6)]
    choice = decide(opened(vector=axis(1.0)), before, SEED, stage="open")
    assert len(choice.verdicts) == 3
    assert choice.parent is not None
    assert choice.parent.parent == UUID(int=5)


def test_seed_004_decides_at_the_start_alone() -> None:
    before = episode(1, LEAK, NOW - timedelta(hours=2), axis(1.0))
    new = opened(vector=axis(1.0))
    assert decide(new, [before], SEED, stage="close").parent is None
    choice = decide(replace(new, vector=axis(0.1)), [before], SEED, stage="close", provisional=before.id)
    assert choice.parent is not None


@pytest.mark.parametrize(
    ("cosine", "provisional", "links"),
    [(0.75, False, True), (0.74, False, False), (0.50, True, True), (0.49, True, False), (0.75, True, True)],
)
def test_closing_confirms_keeps_drops_or_makes_a_link_of_the_fixed_weights(
    cosine: float, provisional: bool, links: bool
) -> None:
    numbers = {"hours": 2.0, "cosine": cosine, "overlap": 0.0, "same_thread": 0.0, "deictic": 0.0}
    assert FIXED.links(numbers, "close", provisional=provisional) is links


def test_p_alone_confirms_at_close_and_links_at_open_from_six_tenths() -> None:
    strong = {"hours": 2.0, "cosine": 0.7, "overlap": 0.9, "same_thread": 1.0, "deictic": 1.0}
    assert FIXED.score(strong) == pytest.approx(0.81)
    assert FIXED.links(strong, "close")
    assert FIXED.links(
        {"hours": 2.0, "cosine": 0.6, "overlap": 0.6, "same_thread": 0.6, "deictic": 0.6}, "open"
    )
    assert not FIXED.links({"hours": 2.0, "cosine": 0.59, "overlap": 0.59, "same_thread": 0.59}, "open")


def test_a_feature_without_evidence_is_left_out_and_the_weights_are_spread_anew() -> None:
    assert FIXED.score({"overlap": 0.5, "same_thread": 1.0}) == pytest.approx((0.125 + 0.10) / 0.35)
    assert FIXED.score({}) == 0.0


def test_a_top_hit_with_a_cosine_of_a_tenth_never_links() -> None:
    before = episode(1, BREAD, NOW - timedelta(hours=2), axis(1.0))
    new = opened(("How do I tie a bowline?",), vector=axis(0.1))
    for name in ("seed-004", "chain-fixed", "default"):
        assert parent_of(new, [before], chain_policy(name)) is None, name


def test_an_open_trivial_or_abandoned_episode_is_never_a_parent() -> None:
    at = NOW - timedelta(hours=2)
    sound = episode(1, LEAK, at, axis(1.0))
    bad = [
        episode(2, LEAK, at, axis(1.0), closed=False),
        episode(3, ("Hi!", "Hello."), at, axis(1.0)),
        episode(4, LEAK, at, axis(1.0), outcome="abandoned"),
        episode(5, LEAK, NOW + timedelta(minutes=1), axis(1.0)),
        episode(6, LEAK, at, axis(1.0), user_id="somebody"),
        episode(7, LEAK, at, axis(1.0), agent_id="other"),
        replace(opened(vector=axis(1.0)), closed=True, end_at=at),
    ]
    assert eligible(opened(vector=axis(1.0)), [*bad, sound]) == (sound,)


def test_ties_go_to_the_latest_end_whatever_the_order_they_come_in() -> None:
    before = [episode(n, LEAK, NOW - timedelta(hours=n), axis(1.0)) for n in (3, 1, 2)]
    for some in (before, before[::-1]):
        assert parent_of(opened(vector=axis(1.0)), some, SEED) == UUID(int=1)


def test_two_sessions_that_begin_alike_an_hour_apart_are_two_episodes_and_chained() -> None:
    first = episode(1, LEAK, NOW - timedelta(hours=1), axis(1.0))
    for policy in (SEED, FIXED, DEFAULT):
        assert parent_of(opened(LEAK, vector=axis(1.0)), [first], policy) == first.id, policy.name


def test_what_was_refused_is_never_proposed_again_and_neither_is_the_rest_of_its_chain() -> None:
    first = episode(1, LEAK, NOW - timedelta(hours=30), axis(1.0))
    second = episode(2, LEAK_2, NOW - timedelta(hours=3), axis(1.0), parent=first.id)
    new = opened(vector=axis(1.0))
    refusal = Refusal(new.id, second.id, NOW, "Tim")
    for policy in (SEED, FIXED, DEFAULT):
        for stage in ("open", "close"):
            choice = decide(new, [first, second], policy, stage=stage, refusals=[refusal])  # type: ignore[arg-type]
            assert choice.parent is None, policy.name
    other = Refusal(UUID(int=98), second.id, NOW)
    assert decide(new, [first, second], DEFAULT, stage="open", refusals=[other]).parent is not None


def test_what_goes_on_from_an_episode_is_never_its_parent() -> None:
    new = opened(vector=axis(1.0))
    child = episode(1, LEAK, NOW - timedelta(hours=2), axis(1.0), parent=new.id)
    grandchild = episode(2, LEAK, NOW - timedelta(hours=1), axis(1.0), parent=child.id)
    assert eligible(new, [child, grandchild]) == ()


def test_closing_may_make_a_link_that_opening_did_not_and_drop_one_that_it_made() -> None:
    before = episode(1, LEAK, NOW - timedelta(hours=2), axis(1.0))
    answers = ("How do I bake something nice?", "Gladly.", *LEAK_2)
    first = decide(opened(answers[:1], vector=axis(0.0)), [before], FIXED, stage="open")
    assert first.parent is None
    assert decide(opened(answers, vector=axis(0.9)), [before], FIXED, stage="close").parent is not None
    turned = decide(opened(BREAD, vector=axis(0.1)), [before], FIXED, stage="close", provisional=before.id)
    assert turned.parent is None
    assert turned.verdicts[0].provisional


def test_a_confirmed_provisional_parent_stays_even_where_another_scores_higher() -> None:
    held = episode(1, LEAK, NOW - timedelta(hours=3), axis(0.9))
    better = episode(2, LEAK_2, NOW - timedelta(hours=1), axis(1.0))
    choice = decide(opened(vector=axis(1.0)), [held, better], FIXED, stage="close", provisional=held.id)
    assert choice.parent is not None
    assert choice.parent.parent == held.id
    assert choice.related == (better.id,)


def test_a_chain_is_gone_on_with_at_its_end_even_where_its_beginning_is_nearer() -> None:
    first = episode(1, LEAK, NOW - timedelta(days=3), axis(1.0))
    second = episode(
        2,
        ("Rolled the fix out, the graph is flat so far.",),
        NOW - timedelta(days=1),
        axis(0.4),
        parent=first.id,
    )
    assert parent_of(opened(vector=axis(1.0)), [first, second], chain_policy("chain-2027-01")) == second.id


def test_what_was_chained_wrongly_does_not_become_the_parent_of_what_goes_on_with_the_first() -> None:
    leak = episode(1, LEAK, NOW - timedelta(days=3), axis(1.0))
    bread = episode(2, BREAD, NOW - timedelta(days=1), axis(0.05), parent=leak.id)
    assert parent_of(opened(vector=axis(0.95)), [leak, bread], chain_policy("chain-2027-01")) == bread.id
    assert parent_of(opened(vector=axis(0.95)), [leak, bread], DEFAULT) == leak.id


def test_the_default_links_over_a_weekend_and_after_months_and_forgets_after_years() -> None:
    new = opened(vector=axis(0.95))
    for days, links in ((3, True), (90, True), (800, False)):
        before = episode(1, LEAK, NOW - timedelta(days=days), axis(1.0))
        assert (parent_of(new, [before], DEFAULT) is not None) is links, days


def test_another_embedders_cosines_are_read_on_the_defaults_scale() -> None:
    before = episode(1, LEAK, NOW - timedelta(hours=2), axis(1.0))
    new = opened(("Something quite different here",), vector=axis(0.8))
    flat = Calibration("mine", 1.0, None, ((-1.0, -1.0), (0.8, 0.2), (1.0, 1.0)))
    plain, fitted = (judge(new, [before], FIXED, calibration=c)[0].features for c in (None, flat))
    assert plain["cosine"] == pytest.approx(1.0)
    assert fitted["cosine"] == pytest.approx(0.0, abs=1e-6)
    assert fitted["raw"] == pytest.approx(0.8)


def test_without_vectors_the_seed_links_nothing_and_the_others_go_by_words() -> None:
    before = episode(1, LEAK, NOW - timedelta(hours=2))
    assert parent_of(opened(), [before], SEED) is None
    features = judge(opened(), [before], DEFAULT)[0].features
    assert "cosine" not in features
    assert parent_of(opened(LEAK), [before], FIXED) is None  # .25 * overlap alone, of .45
    assert parent_of(opened(LEAK), [before], DEFAULT) == before.id


@pytest.mark.parametrize("stage", ["open", "close"])
@pytest.mark.parametrize("name", ["seed-004", "chain-fixed", "default", "default?threshold=0.45"])
def test_every_verdict_is_computed_again_from_its_record_alone(name: str, stage: str) -> None:
    before = [
        episode(1, LEAK, NOW - timedelta(hours=2), axis(1.0)),
        episode(2, BREAD, NOW - timedelta(hours=1), axis(0.0)),
    ]
    choice = decide(
        opened(vector=axis(0.9)), before, chain_policy(name), stage=stage, provisional=before[0].id
    )  # type: ignore[arg-type]
    assert choice.verdicts
    for verdict in choice.verdicts:
        again = recomputed(verdict.parent, verdict.policy, verdict.recorded())
        assert (again.link, again.score, again.label, again.stage) == (
            verdict.link,
            verdict.score,
            verdict.label,
            verdict.stage,
        )
    made = decision_of(UUID(int=99), choice, NOW, stage)  # type: ignore[arg-type]
    assert made is not None
    assert follows(made)
    turned = {"CHAIN": "DON'T_CHAIN", "DON'T_CHAIN": "CHAIN"}[made.verdict]
    assert not follows(replace(made, verdict=turned))


def test_doctor_is_told_of_a_decision_that_names_nothing_or_an_unknown_policy() -> None:
    before = episode(1, LEAK, NOW - timedelta(hours=2), axis(1.0))
    made = decision_of(
        UUID(int=99), decide(opened(vector=axis(1.0)), [before], SEED, stage="open"), NOW, "open"
    )
    assert made is not None
    for broken in (replace(made, detail={}), replace(made, policy_version="chain-1999")):
        with pytest.raises(InvalidInput):
            follows(broken)


@pytest.mark.parametrize("method", ["explicit", "hand", "roll"])
def test_a_link_by_somebodys_word_has_a_record_too(method: str) -> None:
    verdict = unjudged_verdict(UUID(int=1), method)
    assert recomputed(verdict.parent, verdict.policy, verdict.recorded()).link
    assert verdict.label == "HIGH"


def test_unknown_policies_parameters_and_methods_are_refused_with_a_remedy() -> None:
    for name, remedy in (
        ("seed-04", "seed-004"),
        ("seed-004?weight=1", "threshold"),
        ("default?threshold=x", "number"),
    ):
        with pytest.raises(InvalidInput, match=remedy):
            chain_policy(name)
    with pytest.raises(InvalidInput, match=r"\[0, 1\]"):
        chain_policy(threshold=1.5)
    with pytest.raises(InvalidInput, match="roll"):
        unjudged_verdict(UUID(int=1), "auto")
    assert all(chain_policy(name).name for name in chain_policy_names())


@pytest.mark.parametrize(
    ("text", "does"),
    [
        ("Continue with the leak", "deictic"), ("OK, back to the kitchen", "deictic"), ("Zurück zum Garten", "deictic"),
        ("Seguimos con la mudanza", "deictic"), ("Je continue le chapitre", "deictic"), ("继续昨天的事", "deictic"),
        ("New idea: a game about bread", "new"), ("Unrelated: the logo is blurry", "new"),
        ("Neue Frage: wie tief kommt die Leitung?", "new"), ("Otra cosa: el gato", "new"), ("另外一个问题", "new"),
        ("A customer wants oak doors", "others"), ("Meine Nachbarin hat auch Schnecken", "others"),
        ("Un amigo también se muda", "others"), ("我朋友的狗也病了", "others"),
        ("How do you tie a bowline?", "asks"), ("Ich brauche ein Rezept", "asks"), ("Necesito un chiste", "asks"),
    ],
)  # fmt: skip
def test_openings_are_read_in_several_languages(text: str, does: str) -> None:
    assert getattr(opening(text), does) == 1.0


@pytest.mark.parametrize(
    "text", ["Both dumps are in.", "Der Abfluss ist fertig.", "El camión llegó a las nueve."]
)
def test_a_plain_report_neither_announces_nor_asks(text: str) -> None:
    cues = opening(text)
    assert (cues.new, cues.others, cues.asks) == (0.0, 0.0, 0.0)


def test_another_attempt_is_nothing_new() -> None:
    assert opening("Another attempt at the parser.").new == 0.0
    assert opening("Another author this time.").new == 1.0


words = st.sampled_from(["leak", "worker", "bread", "kitchen", "tiles", "rye", "dump", "memory", "garden"])


@drawn(
    st.lists(st.tuples(st.lists(words, max_size=4), st.integers(0, 300), st.floats(-1, 1)), max_size=6),
    st.lists(words, min_size=1, max_size=4),
    st.sampled_from(["seed-004", "chain-fixed", "default"]),
    st.randoms(use_true_random=False),
)
def test_the_order_of_candidates_does_not_matter_and_there_is_one_parent_at_most(
    told: list[tuple[list[str], int, float]], said: list[str], name: str, shuffled: object
) -> None:
    before = [
        episode(n, [" ".join(text)], NOW - timedelta(hours=hours), axis(cosine))
        for n, (text, hours, cosine) in enumerate(told, 1)
    ]
    new = opened([" ".join(said)], vector=axis(1.0))
    mixed = list(before)
    shuffled.shuffle(mixed)  # type: ignore[attr-defined]
    policy = chain_policy(name)
    choice, other = (decide(new, some, policy, stage="open") for some in (before, mixed))
    assert [v.parent for v in choice.verdicts] == [v.parent for v in other.verdicts]
    assert choice.parent == other.parent
    if choice.parent is not None:
        assert choice.parent.parent not in choice.related
        assert choice.parent.parent in {c.id for c in eligible(new, before)}


def test_without_a_word_in_common_and_without_cosines_nothing_speaks_for_a_link() -> None:
    nothing = {"hours": 2.0, "arc_rare": 0.0, "arc_newest": 1.0, "arc_link": 1.5}
    policy = chain_policy("chain-2027-01")
    assert policy.score(nothing) == 0.0
    assert not DEFAULT.links({**nothing, "lead": 3.0}, "open")
    assert policy.score({**nothing, "deictic": 1.0}) > policy.threshold  # "back to it" is something
    assert policy.score({**nothing, "arc_rare": 0.2}) > policy.threshold


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Back to the leaking worker: what shall we do about its memory?", True),
        ("¿Cuánto tiempo hay que dejar en remojo las lentejas pardinas para la sopa?", False),
    ],
)
def test_cosines_of_the_default_embedder_are_read_in_its_own_language_only(said: str, told: bool) -> None:
    vector = axis(1.0)
    first, second = (
        EpisodeStanding(UUID(int=n), UUID(int=n), at, at) for n in (1, 2) for at in [NOW + timedelta(hours=n)]
    )
    earlier = view_of(first, [SessionTurn(NOW, "The worker leaks memory", True, vector)], vector=vector)
    new = view_of(second, [SessionTurn(NOW, said, True, vector)], vector=vector)
    (evidence,) = judge(new, [earlier], DEFAULT)
    assert ("cosine" in evidence.features) == told
    assert evidence.features["raw"] == pytest.approx(1.0)
    other = Calibration("other", 1.0, None, ((-1.0, -1.0), (1.0, 1.0)))
    (evidence,) = judge(new, [earlier], DEFAULT, calibration=other)  # fitted for another: it may know Spanish
    assert "cosine" in evidence.features


def test_the_ticket_that_a_session_is_about_tells_its_chain() -> None:
    eta = episode(1, ["HAR-98 return eta in UTC", "A new field is safer.", "Fine."], NOW - timedelta(days=20))
    after = episode(2, ["Raise the API timeout", "To 45 seconds."], NOW - timedelta(days=15), parent=eta.id)
    chart = episode(3, ["HAR-101 stale eta in the berth chart", "Caching."], NOW - timedelta(days=1))
    new = episode(9, ["HAR-98: remove the old eta"], NOW, closed=False)
    choice = decide(new, [chart, after, eta], DEFAULT, stage="open")
    assert choice.parent is not None
    assert choice.parent.parent == eta.id  # of its chain the one that names it, not the latest
    marked = {one.parent: one.features.get("arc_reference") for one in choice.verdicts}
    assert marked == {eta.id: 1.0, after.id: 1.0, chart.id: -1.0}
    recorded = choice.parent.recorded()
    assert recomputed(eta.id, DEFAULT.name, recorded) == choice.parent


def test_another_ticket_of_the_same_list_speaks_against_a_chain() -> None:
    chart = ("LAN-236 stale data in the berth chart", "The service worker caches it.", "Ok.")
    for opener, links in (
        ("Back to the stale data in the berth chart", True),
        ("Back to LAN-240, the chart", False),
    ):
        new = episode(9, [opener], NOW, closed=False)
        choice = decide(new, [episode(1, chart, NOW - timedelta(days=2))], DEFAULT, stage="open")
        assert (choice.parent is not None) is links


def test_what_many_chains_name_is_no_ticket() -> None:
    files = [
        episode(n, [f"Export number {n} is no UTF-8 file", "Convert it."], NOW - timedelta(days=n))
        for n in range(1, 5)
    ]
    new = episode(9, ["Why UTF-8 for the labels?"], NOW, closed=False)
    assert all("arc_reference" not in one.features for one in judge(new, files, DEFAULT))
