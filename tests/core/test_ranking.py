"""Ranking: reading the query, BM25, fusion, episodes, confidence, the seed's rank fusion, diversity."""

from dataclasses import replace
from datetime import UTC, datetime
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodic_agent.core.language.timewords import TimeQuery, parse_time
from episodic_agent.core.recall import (
    DEFAULT_WEIGHTS,
    Candidates,
    EpisodeArrays,
    FusionWeights,
    Order,
    Query,
    Signs,
    analyse,
    assess,
    ceiling,
    diversify,
    fuse,
    fuse_episodes,
    idf,
    kept_terms,
    no_episodes,
    order_match,
    read_order,
    reciprocal_ranks,
    scores,
    seed_003,
    strength_prior,
    support,
    term_score,
    term_weight,
    time_match,
)
from episodic_agent.core.recall.query import Name

NOW = datetime(2024, 3, 20, tzinfo=UTC)
PLAIN = Query("tea", "tea", ("tea",), ("tea",))
UNIT = st.floats(0, 1, allow_nan=False)


def candidates(bm25: list[float], cosine: list[float], **more: object) -> Candidates:
    ids = [f"o{number}" for number in range(len(bm25))]
    return replace(Candidates(ids, np.array(bm25), np.array(cosine)), **more)  # type: ignore[arg-type]


def episodes(count: int, **more: object) -> EpisodeArrays:
    plain = EpisodeArrays(
        [f"e{number}" for number in range(count)],
        np.zeros(count),
        np.zeros(count),
        np.ones(count),
        np.arange(count),
    )
    return replace(plain, **more)  # type: ignore[arg-type]


# --- the query


def test_names_of_known_speakers_become_you() -> None:
    query = analyse("What is Paola's favourite book, and did Emi read it?", ["Paola", "Emi"], NOW)
    assert query.dense_text == "What is your favourite book, and did you read it?"
    assert query.speakers == {"Paola", "Emi"}
    assert "paola" in query.terms


@pytest.mark.parametrize(
    ("query", "actors", "speakers"),
    [
        ("What did Ann Lee say?", ["Ann Lee", "Bo"], {"Ann Lee"}),
        ("What did Ann say?", ["Ann Lee", "Bo"], {"Ann Lee"}),
        ("What did Ann say?", ["Ann Lee", "Ann Ray"], set()),
        ("What did the project manager think?", ["Project Manager", "Marketing"], {"Project Manager"}),
        ("the marketing plan", ["Project Manager", "Marketing"], set()),
        ("What did elise cook? Elise cooks.", ["elise"], {"elise"}),
        ("Which user interface?", ["user", "assistant"], set()),
        ("Where did I park my car?", ["user", "assistant"], {"user"}),
        ("What did you recommend to me?", ["user", "assistant"], {"assistant"}),
        ("我的上司叫什么名字？", ["user"], {"user"}),
        ("王芳昨天说了什么？", ["王芳", "李雷"], {"王芳"}),
        ("Who is it?", [], set()),
        ("Who is --- it?", ["--- a", "🙂"], set()),
    ],
)
def test_who_is_asked_about(query: str, actors: list[str], speakers: set[str]) -> None:
    assert analyse(query, actors, NOW).speakers == speakers


def test_quoted_phrases_and_dates_are_read() -> None:
    query = analyse('the last three times I said "green tea" since May 2023', ["user"], NOW)
    assert query.phrases == ("green tea",)
    assert query.time.ranges[0].kind == "open"


def test_each_of_several_questions_has_its_own_terms() -> None:
    query = analyse("Where is my blue car? And when does the meeting start?", [], NOW)
    assert query.parts == (("blue", "car"), ("meet", "start"))
    assert analyse("Where is my blue car?", [], NOW).parts == ()


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("What did Zelda say about the IKEA shelf?", ((("zelda",),), (("ikea",),))),
        ("Where is the X-Men poster of Bob Lane?", ((("xmen", "men"),), (("bob",), ("lane",)))),
        ("What did Ana and I eat on Monday in May or on Tuesday the 3rd of December?", ()),  # an actor; time
        ("Also, where is it? Then where?", ()),  # words that open a sentence
        ("Wann hat Hanna den Kuchen gebacken, und wer war da?", ()),  # German nouns
        ("What Is The Best Song Of Queen Ever", ()),  # a title
        ("Когда Вера видела Машу в лесу у реки?", ((("вер",),), (("маш",),))),
        ("她什么时候去北京？", ()),
    ],
)
def test_proper_names_that_are_nobodys_here_are_read(query: str, names: tuple[Name, ...]) -> None:
    assert analyse(query, ["Ana", "Bo"], NOW).names == names


def test_nouns_of_a_german_memory_are_no_names() -> None:
    assert analyse("Backt Hanna den Kuchen?", [], NOW).names == ((("hanna",),), (("kuchen",),))
    assert analyse("Backt Hanna den Kuchen?", [], NOW, language="de").names == ()


def test_words_of_time_and_the_owners_name_are_looked_up_but_are_no_content() -> None:
    query = analyse("What news did Maya get in the last week of April?", ["user"], NOW, owner="maya")
    assert query.content == ("news", "get")
    assert {"maya", "last", "week", "april", "2023-04-30"} <= set(query.terms)
    assert analyse("How long did the last week feel to Maya?", ["Maya"], NOW).content[-1] == "maya"
    assert "last" in analyse("When did it last rain?", [], NOW).content  # no time: "last" is a word as others


@given(st.text(max_size=80), st.lists(st.text(max_size=8), max_size=4))
def test_any_query_can_be_read(text: str, actors: list[str]) -> None:
    query = analyse(text, actors, NOW)
    assert query.text == text
    assert query.speakers <= set(actors)
    assert len(set(query.terms)) == len(query.terms)


# --- BM25


def test_bm25_follows_the_formula() -> None:
    results = scores([(np.array([0, 2]), np.array([1.0, 3.0]))], np.array([4.0, 4.0, 8.0]))
    weight = log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    average = 16 / 3
    assert results[0] == pytest.approx(weight * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 4 / average)))
    assert results[1] == 0
    assert results[2] == pytest.approx(weight * 3 * 2.2 / (3 + 1.2 * (0.25 + 0.75 * 8 / average)))


@given(st.integers(1, 50), st.integers(1, 400), st.floats(1, 500))
def test_the_term_form_and_the_array_form_agree(tf: int, length: int, average: float) -> None:
    results = scores([(np.array([0]), np.array([float(tf)]))], np.array([float(length)]), average)
    assert results[0] == pytest.approx(term_score(idf(1, 1), tf, length, average))


@given(st.integers(0, 1000), st.integers(1, 1000))
def test_idf_is_positive_and_falls_with_frequency(df: int, count: int) -> None:
    assert idf(df, count) > 0
    assert idf(df, count) >= idf(df + 1, count)


def test_a_chinese_bigram_with_a_particle_weighs_half() -> None:
    assert term_weight("的时", 3, 100) == pytest.approx(idf(3, 100) / 2)
    for term in ("时间", "时", "的", "de", "的s"[1:]):
        assert term_weight(term, 3, 100) == idf(3, 100)
    assert ceiling({"时间": 3, "的时": 3}, 100) == pytest.approx(1.5 * idf(3, 100))


def test_common_terms_are_dropped_in_large_scopes_only() -> None:
    assert kept_terms({"tea": 3, "day": 9}, 10) == {"tea": 3, "day": 9}
    assert kept_terms({"tea": 400, "day": 401}, 2000) == {"tea": 400}
    assert kept_terms({"day": 1999, "absent": 0}, 2000) == {"day": 1999}


def test_absent_terms_raise_the_ceiling() -> None:
    assert ceiling({"tea": 2, "zebra": 0}, 10) > ceiling({"tea": 2}, 10)
    assert ceiling({"tea": 2, "2023-05": 1}, 10, ("tea",)) == ceiling({"tea": 2}, 10)


# --- fusion


def test_words_and_meaning_are_added() -> None:
    fused = fuse(PLAIN, candidates([4.0, 4.0, 0.0], [0.3, 0.6, 0.6]), no_episodes())
    assert fused.order.tolist() == [1, 0, 2]
    assert fused.scores[1] == pytest.approx(1.0)
    assert fused.scores[2] == pytest.approx(0.5)


def test_meaning_counts_less_in_another_script() -> None:
    matching_candidates = candidates([4.0, 0.0], [0.0, 0.6])
    assert fuse(PLAIN, matching_candidates, no_episodes()).scores.tolist() == pytest.approx([0.5, 0.5])
    foreign = replace(PLAIN, script="han")
    assert fuse(foreign, matching_candidates, no_episodes()).scores.tolist() == pytest.approx([0.8, 0.2])


def test_neighbours_share_their_score_less_over_a_long_silence() -> None:
    matching_candidates = candidates(
        [4.0, 0.0, 0.0],
        [0.0, 0.0, 0.0],
        bm25_before=np.array([0.0, 4.0, 4.0]),
        gap_before=np.array([0.0, 60.0, 86_400.0]),
    )
    lexical = fuse(PLAIN, matching_candidates, no_episodes()).legs["lexical"]
    assert lexical[1] == pytest.approx(0.5 * 0.3, rel=0.01)
    assert lexical[2] == pytest.approx(0.5 * 0.3 / 3)


def test_in_bigrams_neighbours_are_parted_sooner_and_a_question_among_several_counts_more() -> None:
    apart = candidates([4.0, 0.0], [0, 0], bm25_before=np.array([0, 4.0]), gap_before=np.array([0, 10_800.0]))
    chinese = replace(PLAIN, script="han")
    assert fuse(chinese, apart, no_episodes()).legs["lexical"][1] == pytest.approx(0.8 * 0.35 / 2)
    asked = replace(chinese, parts=(("a", "b"), ("c", "d")))
    matching_candidates = candidates([1.0], [0.0], parts=np.ones((2, 1)))
    assert fuse(asked, matching_candidates, no_episodes()).legs["part"].tolist() == [0.8]
    assert fuse(replace(asked, script="latin"), matching_candidates, no_episodes()).legs["part"].tolist() == [
        0.5
    ]


def test_the_speaker_asked_about_is_preferred() -> None:
    query = replace(PLAIN, speakers=frozenset({"Ana"}))
    fused = fuse(query, candidates([1.0, 1.0], [0.5, 0.5], actors=["Bo", "Ana"]), no_episodes())
    assert fused.order.tolist() == [1, 0]


def test_an_expression_of_time_is_a_soft_preference() -> None:
    query = replace(PLAIN, time=parse_time("in May 2023", NOW))
    at = np.array(
        [datetime(2023, 4, 2, tzinfo=UTC).timestamp(), datetime(2023, 5, 2, tzinfo=UTC).timestamp()]
    )
    fused = fuse(query, candidates([1.0, 1.0], [0.5, 0.5], at=at), no_episodes())
    assert fused.order.tolist() == [1, 0]
    far_better = fuse(query, candidates([9.0, 1.0], [0.9, 0.1], at=at), no_episodes())
    assert far_better.order.tolist() == [0, 1]


def test_times_of_day_wrap_around_midnight() -> None:
    query = TimeQuery(hours=((20, 28),), weekdays=(2,))
    at = np.array([datetime(2024, 3, 20, hour, tzinfo=UTC).timestamp() for hour in (1, 12, 22)])
    assert time_match(query, at).tolist() == [1.0, 0.5, 1.0]
    assert time_match(query, np.array([np.nan])).tolist() == [0.0]


def test_a_quoted_phrase_and_the_episode_text_add_to_the_score() -> None:
    quoted = replace(PLAIN, phrases=("green tea",))
    fused = fuse(quoted, candidates([1.0, 1.0], [0.5, 0.5], phrase=np.array([0.0, 1.0])), no_episodes())
    assert fused.order.tolist() == [1, 0]
    placed = candidates([1.0, 1.0], [0.5, 0.5], episode=np.array([0, 1]))
    assert fuse(PLAIN, placed, episodes(2, bm25=np.array([0.0, 3.0]))).order.tolist() == [1, 0]


def test_each_of_several_questions_lifts_its_own_best_hit() -> None:
    query = replace(PLAIN, parts=(("blue", "car"), ("meet", "start")))
    matching_candidates = candidates(
        [9.0, 4.0, 1.0], [0.0, 0.0, 0.0], parts=np.array([[9.0, 4.0, 0.0], [0.0, 0.0, 1.0]])
    )
    assert fuse(query, matching_candidates, no_episodes()).order.tolist() == [0, 2, 1]


def test_a_very_short_text_gives_way_and_beyond_a_sentence_length_does_not_matter() -> None:
    alike = candidates([2.0, 2.0, 2.0], [0.5, 0.5, 0.5], octets=np.array([4.0, 120.0, 4000.0]))
    fused = fuse(PLAIN, alike, no_episodes())
    assert fused.order.tolist() == [1, 2, 0]
    assert fused.scores[1] == fused.scores[2] == pytest.approx(1.0)


def test_without_any_vector_words_alone_decide() -> None:
    fused = fuse(PLAIN, candidates([1.0, 2.0], [np.nan, np.nan]), no_episodes())
    assert fused.order.tolist() == [1, 0]


def test_nothing_to_fuse_gives_an_empty_result() -> None:
    fused = fuse(PLAIN, candidates([], []), no_episodes())
    assert len(fused.scores) == len(fused.order) == 0
    assert len(fuse_episodes(PLAIN, fused, candidates([], []), no_episodes()).order) == 0


@given(st.lists(st.tuples(UNIT, st.floats(-1, 1)), min_size=1, max_size=12))
def test_scores_stay_between_zero_and_one_and_follow_the_order(pairs: list[tuple[float, float]]) -> None:
    matching_candidates = candidates([9 * a for a, _ in pairs], [b for _, b in pairs])
    fused = fuse(PLAIN, matching_candidates, no_episodes())
    assert ((fused.scores >= 0) & (fused.scores <= 1)).all()
    assert sorted(fused.order.tolist()) == list(range(len(pairs)))
    assert (np.diff(fused.scores[fused.order]) <= 0).all()


@given(st.lists(st.tuples(UNIT, UNIT), min_size=2, max_size=10), st.randoms(use_true_random=False))
def test_the_order_of_the_candidates_does_not_matter(
    pairs: list[tuple[float, float]], random: object
) -> None:
    matching_candidates = candidates([a for a, _ in pairs], [b for _, b in pairs])
    turned = Candidates(
        matching_candidates.ids[::-1], matching_candidates.bm25[::-1], matching_candidates.cosine[::-1]
    )
    first, second = fuse(PLAIN, matching_candidates, no_episodes()), fuse(PLAIN, turned, no_episodes())
    assert [matching_candidates.ids[row] for row in first.order] == [turned.ids[row] for row in second.order]


# --- episodes


def test_an_episode_takes_its_best_observation_and_more_of_them_count_a_little() -> None:
    matching_candidates = candidates([4.0, 3.9, 3.9], [0.0, 0.0, 0.0], episode=np.array([0, 1, 1]))
    fused = fuse(PLAIN, matching_candidates, episodes(2))
    ranked = fuse_episodes(PLAIN, fused, matching_candidates, episodes(2))
    assert ranked.order.tolist() == [1, 0]
    alone = fuse_episodes(PLAIN, fused, matching_candidates, episodes(2), replace(DEFAULT_WEIGHTS, more=0.0))
    assert alone.order.tolist() == [0, 1]


def test_an_episode_can_be_found_by_its_summary_alone() -> None:
    matching_candidates = candidates([1.0], [0.0], episode=np.array([-1]))
    known = episodes(2, bm25=np.array([0.0, 2.0]))
    ranked = fuse_episodes(PLAIN, fuse(PLAIN, matching_candidates, known), matching_candidates, known)
    assert ranked.order.tolist() == [1, 0]
    assert ranked.scores[1] > 0


def test_the_thread_of_a_good_episode_is_evidence() -> None:
    matching_candidates = candidates([4.0, 1.0, 1.0], [0.0, 0.0, 0.0], episode=np.array([0, 1, 2]))
    known = episodes(3, thread=np.array([7, 8, 7]))
    ranked = fuse_episodes(PLAIN, fuse(PLAIN, matching_candidates, known), matching_candidates, known)
    assert ranked.order.tolist() == [0, 2, 1]


def test_a_weaker_memory_ranks_below_its_twin_but_age_never_buries_relevance() -> None:
    matching_candidates = candidates([4.0, 4.0, 1.0], [0.0, 0.0, 0.0], episode=np.array([0, 1, 2]))
    known = episodes(3, retrievability=np.array([0.01, 0.9, 1.0]))
    ranked = fuse_episodes(PLAIN, fuse(PLAIN, matching_candidates, known), matching_candidates, known)
    assert ranked.order.tolist() == [1, 0, 2]


@given(UNIT, UNIT)
def test_the_strength_prior_is_bounded_and_rises(one: float, other: float) -> None:
    low, high = strength_prior(np.array(sorted((one, other))))
    assert 0.7 <= low <= high <= 1.0


# --- the last time, the first time


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("When was the last time Elise saw her ex?", Order(latest=True)),
        ("What are the last three books Ana read?", Order(latest=True, count=3)),
        ("What did I cook the last 4 times?", Order(latest=True, count=4)),
        ("When did we last meet?", Order(latest=True)),
        ("What is the most recent place Bo visited?", Order(latest=True)),
        ("Which class did Emi attend for the first time?", Order(latest=False)),
        ("Who was there the first two times?", Order(latest=False, count=2)),
        ("我上次去上海是什么时候？", Order(latest=True)),
        ("最近三次去医院是什么时候？", Order(latest=True, count=3)),
        ("她第一次用手机付款是哪一天？", Order(latest=False)),
        ("Wann war ich das letzte Mal in Rom?", Order(latest=True)),
        ("¿Cuándo fue la última vez que nadé?", Order(latest=True)),
        ("Que m'a-t-elle dit les trois dernières fois ?", Order(latest=True, count=3)),
        ("Quando foi a primeira vez que corri?", Order(latest=False)),
        ("Когда я была там в последний раз?", Order(latest=True)),
    ],
)
def test_the_last_and_the_first_times_are_read(text: str, order: Order) -> None:
    assert read_order(text) == order
    assert analyse(text, [], NOW).order == order


@pytest.mark.parametrize(
    "text",
    [
        "How long did the concert last?",
        "What is Ana's last name?",
        "What did we do in the last three weeks?",
        "What happened last Friday?",
        "Which place did Elise visit in the first week of 2024?",
        "What was in my first draft?",
        "最近天气怎么样？",
        "I last saw you in May. What is your address?",
        "When did Ana swim for the first time after her operation?",
        "",
    ],
)
def test_calendar_names_and_small_talk_are_no_order(text: str) -> None:
    assert read_order(text) is None


def test_the_latest_relevant_candidate_gains_most_and_an_irrelevant_one_nothing() -> None:
    scores, moments = np.array([1.0, 0.9, 0.8, 0.1]), np.array([1.0, 2.0, 3.0, 4.0])
    assert order_match(Order(latest=True), scores, moments).tolist() == pytest.approx([0.25, 0.45, 0.8, 0.0])
    assert order_match(Order(latest=False), scores, moments).tolist() == pytest.approx([1.0, 0.45, 0.2, 0.0])


def test_the_last_two_times_are_two_occasions_not_two_messages() -> None:
    scores, moments = np.ones(4), np.array([1.0, 2.0, 3.0, 3.5])
    gains = order_match(Order(latest=True, count=2), scores, moments, np.array([0, 1, 2, 2]))
    assert gains.tolist() == [0.5, 1.0, 1.0, 1.0]


def test_unknown_moments_take_no_place() -> None:
    gains = order_match(Order(latest=True), np.ones(3), np.array([np.nan, 1.0, np.nan]))
    assert gains.tolist() == [0.0, 1.0, 0.0]
    assert order_match(Order(latest=True), np.zeros(2), np.zeros(2)).tolist() == [0.0, 0.0]


def test_the_last_time_lifts_the_later_of_two_alike() -> None:
    alike = candidates([2.0, 2.0, 0.2], [0.5, 0.5, 0.1], moment=np.array([1.0, 2.0, 3.0]))
    assert fuse(PLAIN, alike, no_episodes()).order.tolist() == [0, 1, 2]
    last = replace(PLAIN, order=Order(latest=True))
    fused = fuse(last, alike, no_episodes())
    assert fused.order.tolist() == [1, 0, 2]
    assert fused.legs["order"][2] == 0


@given(st.lists(st.tuples(UNIT, UNIT, st.integers(-1, 3)), max_size=12), st.integers(1, 4), st.booleans())
def test_an_order_never_adds_more_than_the_relevance(
    rows: list[tuple[float, float, int]], count: int, latest: bool
) -> None:
    scores, moments = np.array([r[0] for r in rows]), np.array([r[1] for r in rows])
    gains = order_match(Order(latest, count), scores, moments, np.array([r[2] for r in rows], np.int64))
    best = float(scores.max()) if len(rows) else 0.0
    assert ((gains >= 0) & (gains <= (scores / best if best > 0 else 0) + 1e-12)).all()


# --- confidence


def test_an_unrelated_question_abstains_and_a_good_hit_does_not() -> None:
    unrelated = candidates([0.4, 0.0], [0.12, 0.1])
    assert assess(PLAIN, unrelated, fuse(PLAIN, unrelated, no_episodes()), 20.0).abstains()
    related = candidates([9.0, 1.0], [0.6, 0.1])
    sure = assess(PLAIN, related, fuse(PLAIN, related, no_episodes()), 10.0)
    assert not sure.abstains()
    assert sure.hits[0] > sure.hits[1]


def test_without_vectors_coverage_alone_decides() -> None:
    for query in (PLAIN, replace(PLAIN, script="han")):
        full = candidates([9.0], [np.nan])
        assert not assess(query, full, fuse(query, full, no_episodes()), 10.0).abstains()
        scarce = candidates([0.1], [np.nan])
        assert assess(query, scarce, fuse(query, scarce, no_episodes()), 10.0).abstains()


def test_nothing_found_is_no_confidence() -> None:
    nothing = candidates([], [])
    assert assess(PLAIN, nothing, fuse(PLAIN, nothing, no_episodes()), 10.0).answerable == 0.0
    silent = candidates([0.0], [np.nan])
    assert assess(PLAIN, silent, fuse(PLAIN, silent, no_episodes()), 10.0).abstains()


def test_a_long_text_with_every_word_is_as_sure_as_a_short_one() -> None:
    for cosine in (0.5, np.nan):
        long = candidates([1.0], [cosine], held=np.array([1.0]))
        partly = candidates([9.0], [cosine], held=np.array([0.3]))
        sure, unsure = (
            assess(PLAIN, found, fuse(PLAIN, found, no_episodes()), 10.0) for found in (long, partly)
        )
        assert sure.answerable > unsure.answerable + 0.1


def test_a_cosine_that_stands_out_is_surer_than_one_among_its_like() -> None:
    alone, disentanglement = candidates([1.0] * 12, [0.45, *[0.1] * 11]), candidates([1.0] * 12, [0.45] * 12)
    first, second = (assess(PLAIN, f, fuse(PLAIN, f, no_episodes()), 10.0) for f in (alone, disentanglement))
    assert first.answerable > second.answerable + 0.1


def test_a_name_nothing_here_holds_makes_an_answer_unlikely() -> None:
    for cosine, query in ((0.45, PLAIN), (np.nan, PLAIN)):
        matching_candidates = candidates([4.0], [cosine], held=np.array([0.5]))
        fused = fuse(query, matching_candidates, no_episodes())
        assert not assess(query, matching_candidates, fused, 10.0).abstains()
        assert assess(query, matching_candidates, fused, 10.0, unknown=True).abstains()


def test_a_question_for_nothing_but_a_time_is_judged_by_its_dates_alone() -> None:
    query = replace(PLAIN, content=(), time=parse_time("yesterday", NOW))
    for held, abstains in ((1.0, False), (0.0, True)):
        matching_candidates = candidates([0.0], [0.4], held=np.array([held]))
        assert (
            assess(
                query, matching_candidates, fuse(query, matching_candidates, no_episodes()), 0.0
            ).abstains()
            == abstains
        )


@given(*[st.tuples(st.floats(lowest, 1), st.floats(lowest, 1)) for lowest in (-1, 0, 0, 0)], st.booleans())
def test_support_rises_with_every_sign_and_falls_with_a_stranger(
    cosine: tuple[float, float],
    lift: tuple[float, float],
    held: tuple[float, float],
    coverage: tuple[float, float],
    bigrams: bool,
) -> None:
    for dense in (True, False):
        low, high = (
            Signs(pick(held), pick(coverage), pick(cosine) if dense else None, pick(lift), bigrams=bigrams)
            for pick in (min, max)
        )
        assert 0.0 <= support(low) <= support(high) <= 1.0
        assert support(replace(high, unknown=True)) <= support(high)


# --- the seed's policy


def test_reciprocal_ranks_are_the_seeds_vectors() -> None:
    fused = reciprocal_ranks([["a", "b", "c"], ["a", "c", "b"]])
    assert fused["a"] == pytest.approx(0.0327869, abs=1e-7)
    assert reciprocal_ranks([["a"], ["b", "a"]])["a"] == pytest.approx(0.0325225, abs=1e-7)
    assert reciprocal_ranks([["a"], []])["a"] == pytest.approx(0.0163934, abs=1e-7)


def test_seed_003_multiplies_by_retrievability_and_truncates() -> None:
    ranked = seed_003(["a", "b", "c"], ["a", "b", "c"], {"a": 0.5}, 2)
    assert [key for key, _ in ranked] == ["b", "c"]
    many = [f"m{number:03}" for number in range(150)]
    assert len(seed_003(many, many, {}, 500)) == 100
    assert seed_003([], [], {}, 5) == []


# --- diversity


def test_near_duplicates_give_way_to_other_hits() -> None:
    vectors = np.array([[1, 0, 0], [0.9999, 0.0141, 0], [0, 1, 0], [0, 0, 0], [0, 0, 0]], np.float32)
    order, repeats = diversify(np.array([0, 1, 2, 3, 4]), vectors)
    assert order.tolist() == [0, 2, 3, 4, 1]
    assert repeats.tolist() == [-1, -1, -1, -1, 0]


def test_only_the_first_fifty_are_compared() -> None:
    vectors = np.tile(np.array([[1.0, 0.0]], np.float32), (60, 1))
    order, _ = diversify(np.arange(60), vectors)
    assert sorted(order.tolist()) == list(range(60))
    assert order.tolist()[50:] == list(range(50, 60))


def test_weights_are_one_frozen_setting() -> None:
    assert FusionWeights() == DEFAULT_WEIGHTS
    with pytest.raises(AttributeError):
        DEFAULT_WEIGHTS.dense = 0.1  # type: ignore[misc]


@pytest.mark.parametrize(
    "question", ["so whats left on the list", "what's left to do?", "how much is left to pay"]
)
def test_what_is_left_to_do_is_no_side(question: str) -> None:
    assert "left" not in analyse(question, [], NOW).terms
    assert "left" in analyse("what happened to the left knee?", [], NOW).terms
