"""What every store's text and vector index must do: the same numbers as a few plain lines of Python."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest
from stores.builders import ANA, BO, bm25, posting, random_vectors
from stores.conformance import StoreFixture

from episodic_agent.core.vectors import rounded
from episodic_agent.errors import InvalidInput
from episodic_agent.protocols import EPISODES, OBSERVATIONS, Posting, Store, Transaction, ref_of
from episodic_agent.schemas import Vector

WORDS = ["tea", "kettle", "pan", "猫", "rain", "door", "key", "lamp"]
WEIGHTS = {"tea": 0.3, "rain": 1.5, "never": 4.0, "猫": 2.0}
K1, B = 1.2, 0.75


def documents(seed: int, count: int) -> dict[int, Posting]:
    """Make documents of random words, some of them empty, in three threads."""
    random = np.random.default_rng(seed)
    texts = [" ".join(random.choice(WORDS, size=random.integers(0, 9))) for _ in range(count)]
    return {ref: posting(ref, text) for seq, text in enumerate(texts) for ref in [ref_of(1 + seq % 3, seq)]}


def assert_bm25(tx: Transaction, held: Mapping[int, Posting], kind: str = OBSERVATIONS) -> None:
    """Compare statistics, the best documents and scores of given documents with the oracle."""
    statistics = tx.index.statistics(kind, [*WEIGHTS, "tea"])
    average = sum(p.length for p in held.values()) / len(held) if held else 0.0
    assert statistics.documents == len(held)
    assert statistics.average_length == pytest.approx(average)
    assert statistics.frequencies == {t: sum(t in p.terms for p in held.values()) for t in WEIGHTS}
    expected = bm25(held, WEIGHTS, k1=K1, b=B, average=average)
    for limit in (0, 3, 10_000):
        refs, scores = tx.index.text_scores(kind, WEIGHTS, k1=K1, b=B, average_length=average, limit=limit)
        assert_ranked(refs.tolist(), scores.tolist(), expected, limit)
    asked = np.array([*held, 5, ref_of(9, 9)], dtype=np.int64)
    scores = tx.index.text_scores(kind, WEIGHTS, asked, k1=K1, b=B, average_length=average)[1]
    assert scores.tolist() == pytest.approx([expected.get(ref, 0.0) for ref in asked.tolist()], rel=1e-5)


def assert_ranked(refs: list[int], scores: list[float], expected: Mapping[int, float], limit: int) -> None:
    """Check that these are the best of `expected`, falling, ties by ref (ties of what was returned)."""
    assert len(refs) == len(set(refs)) == min(limit, len(expected))
    assert scores == pytest.approx([expected[ref] for ref in refs], rel=1e-5, abs=1e-6)
    best = sorted(expected.values(), reverse=True)[:limit]
    assert scores == pytest.approx(best, rel=1e-5, abs=1e-6)
    assert list(zip(refs, scores, strict=True)) == sorted(
        zip(refs, scores, strict=True), key=lambda x: (-x[1], x[0])
    )


def assert_cosines(tx: Transaction, held: Sequence[tuple[int, Vector]], kind: str = OBSERVATIONS) -> None:
    """Compare the best refs, given refs and first chunks with the oracle; `held` has (ref, rows)."""
    query = np.asarray(random_vectors(99, 1)[0] * 3, dtype=np.float32)
    held = [(ref, rounded(rows)) for ref, rows in held]
    expected = {ref: max(cosine(row, query) for row in rows) for ref, rows in held}
    for limit in (0, 4, 10_000):
        refs, scores = tx.index.vector_scores(kind, "small", query, limit=limit)
        assert_ranked(refs.tolist(), scores.tolist(), expected, limit)
    asked = np.array([*expected, ref_of(9, 9)], dtype=np.int64)
    scores = tx.index.vector_scores(kind, "small", query, asked)[1]
    assert scores[:-1].tolist() == pytest.approx(list(expected.values()), abs=1e-6)
    assert np.isnan(scores[-1])
    first = tx.index.vectors(kind, "small", asked.tolist())
    assert first.keys() == expected.keys()
    assert all(np.array_equal(first[ref], rows[0]) for ref, rows in held)
    every = tx.index.vectors(kind, "small", asked.tolist(), every=True)
    assert every.keys() == expected.keys()
    assert all(np.array_equal(every[ref], rows) for ref, rows in held)


def cosine(vector: Vector, other: Vector) -> float:
    lengths = float(np.linalg.norm(vector)) * float(np.linalg.norm(other))
    return float(vector.astype(np.float64) @ other) / lengths if lengths else 0.0


def put(tx: Transaction, held: Sequence[tuple[int, Vector]], kind: str = OBSERVATIONS) -> None:
    refs = [ref for ref, rows in held for _ in rows]
    tx.index.put_vectors(kind, "small", refs, np.concatenate([rows for _, rows in held]))


def chunked(seed: int, count: int) -> list[tuple[int, Vector]]:
    """Make (ref, 1 to 3 rows); the refs do not rise, and not all rows have length 1."""
    return [(ref_of(5 - i % 4, i), random_vectors(seed + i, 1 + i % 3) * (1 + i % 2)) for i in range(count)]


class IndexConformance(StoreFixture):
    def test_bm25_is_that_of_the_formula(self, store: Store) -> None:
        held = documents(1, 60)
        with store.begin(ANA) as tx:
            tx.index.put_postings(OBSERVATIONS, list(held.values()))
            assert_bm25(tx, held)
        with store.begin(ANA, write=False) as tx:
            assert_bm25(tx, held)
            assert_bm25(tx, {}, EPISODES)
        with store.begin(BO, write=False) as tx:
            assert_bm25(tx, {})

    def test_documents_added_dropped_and_replaced_change_the_scores_at_once(
        self, open_store: Callable[[], Store]
    ) -> None:
        this_store, other = open_store(), open_store()
        held: dict[int, Posting] = {}
        for step in range(6):
            added = documents(step, 20 * (step + 1))  # replaces what an earlier step put at the same refs
            dropped = list(added)[:: step + 2]
            with this_store.begin(ANA) as tx:
                tx.index.put_postings(OBSERVATIONS, list(added.values()))
                assert_bm25(tx, {**held, **added})
                tx.index.drop(OBSERVATIONS, [*dropped, 12345])
                held = {ref: p for ref, p in {**held, **added}.items() if ref not in dropped}
                assert_bm25(tx, held)
            for store in (this_store, other):
                with store.begin(ANA, write=False) as tx:
                    assert_bm25(tx, held)

    def test_many_small_additions_rank_like_one_large_one(self, open_store: Callable[[], Store]) -> None:
        store, held = open_store(), {}
        for ref, document in documents(3, 90).items():
            held[ref] = document
            with store.begin(ANA) as tx:
                tx.index.put_postings(OBSERVATIONS, [document])
            if len(held) % 9 == 0:
                with store.begin(ANA, write=False) as tx:
                    assert_bm25(tx, held)
        with open_store().begin(ANA, write=False) as tx:
            assert_bm25(tx, held)

    def test_terms_count_as_often_as_they_occur_once_some_times_or_hundreds_of_times(
        self, open_store: Callable[[], Store]
    ) -> None:
        counted = ({"tea": 1, "rain": 1}, {"tea": 2, "rain": 1}, {"tea": 255}, {"tea": 256, "猫": 1}, {})
        held = {ref: Posting(ref, terms, sum(terms.values()) or 1) for ref, terms in enumerate(counted, 7)}
        with open_store().begin(ANA) as tx:
            tx.index.put_postings(OBSERVATIONS, list(held.values()))
            assert_bm25(tx, held)
        with open_store().begin(ANA, write=False) as tx:
            assert_bm25(tx, held)

    def test_a_document_given_twice_counts_once_and_the_last_counts(self, store: Store) -> None:
        with store.begin(ANA) as tx:
            tx.index.put_postings(OBSERVATIONS, [posting(7, "tea tea"), posting(7, "rain")])
            assert_bm25(tx, {7: posting(7, "rain")})

    def test_no_document_and_no_weight_means_no_score(self, store: Store) -> None:
        with store.begin(ANA) as tx:
            tx.index.put_postings(OBSERVATIONS, [])
            tx.index.put_postings(OBSERVATIONS, [posting(7, "")])
            refs, _ = tx.index.text_scores(OBSERVATIONS, WEIGHTS, k1=K1, b=B, average_length=0.0, limit=5)
            assert refs.tolist() == []
            refs, _ = tx.index.text_scores(OBSERVATIONS, {}, k1=K1, b=B, average_length=1.0, limit=5)
            assert refs.tolist() == []

    def test_cosines_are_those_of_numpy_and_the_best_chunk_counts(self, store: Store) -> None:
        held = chunked(1, 40)
        with store.begin(ANA) as tx:
            put(tx, held[:25])
            assert_cosines(tx, held[:25])
            put(tx, held[25:])
            assert_cosines(tx, held)
        with store.begin(ANA, write=False) as tx:
            assert_cosines(tx, held)
        with store.begin(BO) as tx:
            put(tx, held[:3], EPISODES)
        with store.begin(BO, write=False) as tx:
            assert_cosines(tx, held[:3], EPISODES)

    @pytest.mark.slow
    def test_vectors_that_came_in_many_steps_are_found_like_those_of_one(
        self, open_store: Callable[[], Store]
    ) -> None:
        store, held = open_store(), chunked(1, 600)
        for end in range(60, 601, 60):
            with store.begin(ANA) as tx:
                put(tx, held[end - 60 : end])
            with store.begin(ANA, write=False) as tx:
                assert_cosines(tx, held[:end])
        with open_store().begin(ANA, write=False) as tx:
            assert_cosines(tx, held)

    def test_vectors_added_dropped_and_replaced_change_the_cosines_at_once(
        self, open_store: Callable[[], Store]
    ) -> None:
        this_store, other = open_store(), open_store()
        held: dict[int, Vector] = {}
        for step in range(5):
            added = dict(chunked(step * 100, 10 * (step + 1)))
            dropped = list(added)[:: step + 2]
            with this_store.begin(ANA) as tx:
                put(tx, list(added.items()))
                held = {**held, **added}
                assert_cosines(tx, list(held.items()))
                tx.index.drop(OBSERVATIONS, dropped)
                held = {ref: rows for ref, rows in held.items() if ref not in dropped}
            for store in (this_store, other):
                with store.begin(ANA, write=False) as tx:
                    assert_cosines(tx, list(held.items()))

    def test_the_embedders_of_a_scope_are_those_whose_vectors_it_holds(self, store: Store) -> None:
        with store.begin(ANA) as tx:
            assert tx.embedders() == []
            tx.index.put_postings(OBSERVATIONS, [posting(ref_of(1, 1), "tea")])
            tx.index.put_vectors(OBSERVATIONS, "small", [ref_of(1, 1)], random_vectors(1, 1))
            tx.index.put_vectors(EPISODES, "another", [ref_of(1, 1)], random_vectors(2, 1))
        with store.begin(ANA, write=False) as tx:
            assert tx.embedders() == ["another", "small"]
        with store.begin(BO, write=False) as tx:
            assert tx.embedders() == []
        with store.begin(ANA) as tx:
            tx.index.drop(EPISODES, [ref_of(1, 1)])
            assert tx.embedders() == ["small"]

    def test_what_a_rolled_back_transaction_indexed_is_never_found(
        self, open_store: Callable[[], Store]
    ) -> None:
        store, held = open_store(), chunked(1, 12)
        lost = [(ref + 500, rows) for ref, rows in chunked(500, 30)]
        with store.begin(ANA) as tx:
            put(tx, held)
            tx.index.put_postings(OBSERVATIONS, [posting(1, "tea")])
        with pytest.raises(ZeroDivisionError), store.begin(ANA) as tx:  # noqa: PT012 the block is the case
            put(tx, lost)
            tx.index.put_postings(OBSERVATIONS, [posting(1, "rain"), posting(2, "rain")])
            assert_bm25(tx, {1: posting(1, "rain"), 2: posting(2, "rain")})
            assert tx.index.vector_scores(OBSERVATIONS, "small", lost[29][1][0], limit=1)[0].tolist() == [
                lost[29][0]
            ]
            raise ZeroDivisionError
        with store.begin(ANA) as tx:
            put(tx, [(77, random_vectors(7, 1))])  # takes the places of those rolled back
        with store.begin(ANA, write=False) as tx:
            assert_cosines(tx, [*held, (77, random_vectors(7, 1))])
            assert_bm25(tx, {1: posting(1, "tea")})

    def test_an_older_snapshot_does_not_see_newer_rows_others_have_loaded(self, store: Store) -> None:
        held, texts = chunked(1, 12), documents(1, 30)
        with store.begin(ANA) as tx:
            put(tx, held)
            tx.index.put_postings(OBSERVATIONS, list(texts.values()))
        more, more_texts = [(ref_of(9, 1), random_vectors(50, 2))], {8: posting(8, "tea rain rain")}
        with store.begin(ANA, write=False) as old:
            old.count("observations")
            with store.begin(ANA) as tx:
                put(tx, more)
                tx.index.put_postings(OBSERVATIONS, list(more_texts.values()))
            with store.begin(ANA, write=False) as new:
                assert_cosines(new, held + more)
                assert_bm25(new, {**texts, **more_texts})
            assert_cosines(old, held)
            assert_bm25(old, texts)

    def test_an_older_snapshot_still_sees_rows_others_have_dropped(self, store: Store) -> None:
        held, texts = chunked(1, 12), documents(1, 30)
        with store.begin(ANA) as tx:
            put(tx, held)
            tx.index.put_postings(OBSERVATIONS, list(texts.values()))
        dropped = [held[0][0], *list(texts)[:5]]
        with store.begin(ANA, write=False) as old:
            old.count("observations")
            with store.begin(ANA) as tx:
                tx.index.drop(OBSERVATIONS, dropped)
            left = [(ref, rows) for ref, rows in held if ref not in dropped]
            with store.begin(ANA, write=False) as new:
                assert_cosines(new, left)
                assert_bm25(new, {ref: p for ref, p in texts.items() if ref not in dropped})
            assert_cosines(old, held)
            assert_bm25(old, texts)

    def test_vectors_of_different_embedders_are_never_compared(self, store: Store) -> None:
        with store.begin(ANA) as tx:
            tx.index.put_vectors(OBSERVATIONS, "small", [1], random_vectors(1, 1))
            tx.index.put_vectors(OBSERVATIONS, "large", [2], random_vectors(1, 1, width=16))
            assert tx.index.vector_scores(OBSERVATIONS, "small", random_vectors(1, 1)[0], limit=9)[
                0
            ].tolist() == [1]
            assert tx.index.vectors(OBSERVATIONS, "large", [1, 2]).keys() == {2}
            assert (
                tx.index.vector_scores(EPISODES, "small", random_vectors(1, 1)[0], limit=9)[0].tolist() == []
            )
            tx.index.drop(OBSERVATIONS, [1, 2])
            assert tx.index.vectors(OBSERVATIONS, "large", [1, 2]) == {}

    @pytest.mark.parametrize(
        "rows",
        [
            pytest.param(np.zeros((2, 8)), id="one row too many"),
            pytest.param(np.zeros(8), id="not a table"),
            pytest.param(np.full((1, 8), np.nan), id="not a number"),
            pytest.param(np.zeros((1, 9)), id="another width"),
        ],
    )
    def test_vectors_that_do_not_fit_are_refused(self, store: Store, rows: Vector) -> None:
        with store.begin(ANA) as tx:
            tx.index.put_vectors(OBSERVATIONS, "small", [1], random_vectors(1, 1))
            with pytest.raises(InvalidInput):
                tx.index.put_vectors(OBSERVATIONS, "small", [2], rows.astype(np.float32))
            with pytest.raises(InvalidInput):
                tx.index.vector_scores(OBSERVATIONS, "small", np.zeros(9, dtype=np.float32), limit=1)

    def test_a_beginning_is_replaced_by_all_pieces(self, store: Store) -> None:
        pieces = random_vectors(1, 40)
        with store.begin(ANA) as tx:
            tx.index.put_vectors(OBSERVATIONS, "small", [1, 2], random_vectors(9, 2))
        with store.begin(ANA) as tx:
            tx.index.put_vectors(OBSERVATIONS, "small", [1] * 40, pieces)
        with store.begin(BO) as tx:
            tx.index.put_vectors(OBSERVATIONS, "small", [1], pieces[:1])
        with store.begin(ANA) as tx:
            for piece in pieces:
                refs, scores = tx.index.vector_scores(OBSERVATIONS, "small", piece, limit=1)
                assert refs.tolist() == [1]
                assert scores[0] > 0.99
        with store.begin(ANA, write=False) as tx:  # in their order, before a search has loaded them and after
            for _ in range(2):
                held = tx.index.vectors(OBSERVATIONS, "small", [2, 1, 7], every=True)
                assert {ref: len(rows) for ref, rows in held.items()} == {1: 40, 2: 1}
                assert np.array_equal(held[1], pieces)
                tx.index.vector_scores(OBSERVATIONS, "small", pieces[0], limit=1)
        with store.begin(ANA) as tx:
            tx.index.drop(OBSERVATIONS, [1])
            assert tx.index.vector_scores(OBSERVATIONS, "small", pieces[7], limit=9)[0].tolist() == [2]

    def test_a_zero_vector_is_unlike_everything(self, store: Store) -> None:
        held = [(1, random_vectors(1, 1)), (2, np.zeros((1, 8), dtype=np.float32))]
        with store.begin(ANA) as tx:
            put(tx, held)
            assert_cosines(tx, held)
            blank = tx.index.vector_scores(
                OBSERVATIONS, "small", np.zeros(8, dtype=np.float32), np.array([1])
            )[1]
            assert blank.tolist() == [0.0]

    def test_documents_with_words_but_no_vector_are_listed(self, store: Store) -> None:
        with store.begin(ANA) as tx:
            tx.index.put_postings(OBSERVATIONS, [posting(ref, "tea") for ref in (9, 3, 5)])
            tx.index.put_postings(OBSERVATIONS, [posting(4, "")])
            assert tx.index.unindexed(OBSERVATIONS, "small", limit=2) == [3, 5]
            tx.index.put_vectors(OBSERVATIONS, "small", [3], random_vectors(1, 1))
            tx.index.put_vectors(OBSERVATIONS, "large", [5], random_vectors(1, 1))
            assert tx.index.unindexed(OBSERVATIONS, "small", limit=9) == [5, 9]
            assert tx.index.unindexed(OBSERVATIONS, "small", limit=9, first_ref=6) == [9]
            assert tx.index.unindexed(OBSERVATIONS, "small", limit=9, first_ref=5, last_ref=8) == [5]
            assert tx.index.unindexed(EPISODES, "small", limit=9) == []
