"""The index of the PostgreSQL store: bit for bit SQLite's answers, exact in spite of halves, HNSW on demand."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
from stores.builders import ANA, BO, begin_thread, identity, posting, random_vectors
from stores.postgres_server import connect, open_postgres
from stores.test_sqlite import open_sqlite

from episodic_agent.errors import EpisodicError, InvalidInput
from episodic_agent.protocols import EPISODES, OBSERVATIONS, Posting, Store, Transaction, ref_of
from episodic_agent.schemas import Scope, Vector
from episodic_agent.stores import faults
from episodic_agent.stores.postgres import PostgresStore
from episodic_agent.stores.postgres.index import PostgresIndex
from episodic_agent.stores.postgres.server.connection import PostgresOptions
from episodic_agent.stores.postgres.server.large import index_large_scopes, index_name, pack_indexes
from episodic_agent.stores.postgres.server.packing import half_vector, halves_sent
from episodic_agent.stores.postgres.server.session import PostgresSession, keys_of
from episodic_agent.stores.postgres.vectors import rounding_bound
from episodic_agent.stores.scoring import unit

BM25 = {"k1": 1.2, "b": 0.75}
WORDS = [f"word{n}" for n in range(400)]


@pytest.fixture
def store(postgres_url: str) -> Iterator[Store]:
    opened = open_postgres(postgres_url)
    yield opened
    opened.close()


@pytest.fixture
def both(store: Store, tmp_path: Path) -> Iterator[Sequence[Store]]:
    other = open_sqlite(str(tmp_path / "memory.db"))
    yield store, other
    other.close()


@pytest.fixture
def db(postgres_url: str, store: Store) -> Iterator[psycopg.Connection[Any]]:
    with connect(postgres_url) as opened:
        opened.execute("SET search_path = episodic, public")
        yield opened


@contextmanager
def index_of(db: psycopg.Connection[Any], scope: Scope, **options: int) -> Iterator[PostgresIndex]:
    """The index as a reader of one scope has it, with options of its own."""
    space, owner = keys_of(scope)
    with db.transaction():
        db.execute("SET LOCAL ROLE episodic_app")
        db.execute(
            "SELECT set_config('episodic.space', %s, true), set_config('episodic.owner', %s, true)",
            (str(space), str(owner)),
        )
        yield PostgresIndex(PostgresSession(db, scope, write=False), **options)


def put(
    store: Store, scope: Scope, rows: Vector, *, kind: str = OBSERVATIONS, embedder: str = "small"
) -> None:
    with store.begin(scope) as tx:
        refs = [ref_of(1, seq) for seq in range(len(rows))]
        tx.index.put_postings(kind, [posting(ref, "tea") for ref in refs])
        tx.index.put_vectors(kind, embedder, refs, rows)


def best(tx: Transaction, query: Vector, limit: int) -> list[tuple[int, float]]:
    refs, scores = tx.index.vector_scores(OBSERVATIONS, "small", query, limit=limit)
    return list(zip(refs.tolist(), scores.tolist(), strict=True))


# --- the same bits as SQLite ----------------------------------------------------------------------------


def zipf_documents(seed: int, count: int) -> list[Posting]:
    random = np.random.default_rng(seed)
    share = 1 / np.arange(1, len(WORDS) + 1)
    result = []
    for seq in range(count):
        chosen = random.choice(len(WORDS), int(random.integers(1, 30)), p=share / share.sum())
        result.append(posting(ref_of(1 + seq % 3, seq), " ".join(WORDS[n] for n in chosen)))
    return result


def test_words_score_as_in_sqlite_to_the_last_bit(both: Sequence[Store]) -> None:
    documents = zipf_documents(1, 900)
    asked = np.array([*[d.ref for d in documents][::3], 7], dtype=np.int64)
    random = np.random.default_rng(2)
    queries = [dict.fromkeys(random.choice(WORDS, 7).tolist(), 0.0) for _ in range(20)]
    weights = [{term: float(random.random()) for term in terms} for terms in queries]
    answers = []
    for store in both:
        with store.begin(ANA) as tx:
            tx.index.put_postings(OBSERVATIONS, documents)
        answer: list[object] = []
        with store.begin(ANA, write=False) as tx:
            for arguments in weights:
                statistics = tx.index.statistics(OBSERVATIONS, list(arguments))
                options = {**BM25, "average_length": statistics.average_length}
                refs, scores = tx.index.text_scores(OBSERVATIONS, arguments, **options, limit=40)
                of = tx.index.text_scores(OBSERVATIONS, arguments, asked, **options)[1]
                answer.append((statistics, refs.tolist(), scores.tolist(), of.tolist()))
        answers.append(answer)
    assert answers[0] == answers[1]


def answers_of(store: Store, terms: Sequence[str]) -> list[object]:
    with store.begin(ANA, write=False) as tx:
        statistics = tx.index.statistics(OBSERVATIONS, terms)
        options = {**BM25, "average_length": statistics.average_length}
        refs, scores = tx.index.text_scores(OBSERVATIONS, dict.fromkeys(terms, 1.5), **options, limit=60)
        unindexed = tx.index.unindexed(OBSERVATIONS, "small", limit=9, first_ref=ref_of(1, 40))
        return [statistics, refs.tolist(), scores.tolist(), unindexed]


def segments(db: psycopg.Connection[Any]) -> int:
    ((count,),) = db.execute("SELECT count(*) FROM posting_block WHERE bucket = 0").fetchall()
    return int(count)


def test_words_that_were_packed_and_merged_are_changed_and_taken_out_as_others_are(
    both: Sequence[Store], db: psycopg.Connection[Any]
) -> None:
    documents, random = zipf_documents(5, 400), np.random.default_rng(6)
    documents[7] = posting(documents[7].ref, " ".join(["word1"] * 300))
    for store in both:
        for start in range(0, 400, 10):
            with store.begin(ANA) as tx:
                tx.index.put_postings(OBSERVATIONS, documents[start : start + 10])
    assert segments(db) < 10
    for number in range(6):
        chosen = random.choice(400, 12, replace=False)
        gone = [documents[n].ref for n in chosen[:6]]
        changed = [posting(documents[n].ref, f"word{n} word1 word1") for n in chosen[6:]]
        for store in both:
            with store.begin(ANA) as tx:
                tx.index.drop(OBSERVATIONS, gone)
                tx.index.put_postings(OBSERVATIONS, changed)
        terms = [f"word{n}" for n in (1, 2, number, *chosen[6:])]
        assert answers_of(both[0], terms) == answers_of(both[1], terms)
    with both[0].begin(ANA) as tx:
        tx.index.drop(OBSERVATIONS, [document.ref for document in documents])
    assert db.execute("SELECT count(*) FROM posting_block").fetchone() == (0,)


def test_words_of_a_thread_that_is_deleted_are_gone_from_the_blocks(
    store: Store, db: psycopg.Connection[Any]
) -> None:
    with store.begin(ANA) as tx:
        numbers = [begin_thread(tx, origin) for origin in ("kitchen", "porch")]
        for kind in (OBSERVATIONS, EPISODES):
            refs = [ref_of(number, seq) for number in numbers for seq in range(4)]
            tx.index.put_postings(kind, [posting(ref, "tea rain") for ref in refs])
    assert segments(db) == 2
    with store.begin(ANA) as tx:
        tx.threads.drop(identity("kitchen"))
    with store.begin(ANA, write=False) as tx:
        for kind in (OBSERVATIONS, EPISODES):
            statistics = tx.index.statistics(kind, ["tea"])
            assert (statistics.documents, statistics.frequencies) == (4, {"tea": 4})


def test_a_reader_packs_what_an_upgrade_left_unpacked(postgres_url: str, db: psycopg.Connection[Any]) -> None:
    with closing(PostgresStore(postgres_url, PostgresOptions(fresh=99))) as unpacking:
        with unpacking.begin(ANA) as tx:
            tx.index.put_postings(OBSERVATIONS, zipf_documents(1, 60))
        assert segments(db) == 0
    with closing(open_postgres(postgres_url)) as packing:
        assert answers_of(packing, ["word1"]) == answers_of(packing, ["word1"])
    assert segments(db) == 1


def families(seed: int, count: int, width: int) -> Vector:
    """Rows in families so close that halves hardly tell their members apart; some zero, some long."""
    random = np.random.default_rng(seed)
    centres = random_vectors(seed, 5, width)
    rows = centres[random.integers(0, 5, count)] + random.normal(size=(count, width)) * 2e-4
    rows[::50] = 0
    return np.asarray(rows * random.choice([0.01, 1.0, 300.0], (count, 1)), dtype=np.float32)


@pytest.mark.slow
@pytest.mark.parametrize(("width", "count"), [(24, 1500), (384, 1200), (1536, 500)])
def test_cosines_are_those_of_sqlite_to_the_last_bit_however_close_the_rows(
    both: Sequence[Store], width: int, count: int
) -> None:
    rows, random = families(3, count, width), np.random.default_rng(4)
    refs = [ref_of(1 + n % 4, n // 3) for n in range(count)]  # up to three chunks a ref
    queries = [*rows[1:4], random_vectors(5, 1, width)[0], np.zeros(width, dtype=np.float32)]
    asked = random.choice(np.array(refs), 300)
    answers = []
    for store in both:
        with store.begin(ANA) as tx:
            tx.index.put_vectors(OBSERVATIONS, "small", refs, rows)
        answer: list[object] = []
        for query in queries:
            with store.begin(ANA, write=False) as tx:
                answer.append([best(tx, query, limit) for limit in (3, 40)])
                answer.append(tx.index.vector_scores(OBSERVATIONS, "small", query, asked)[1].tolist())
                answer.append(
                    {r: v.tolist() for r, v in tx.index.vectors(OBSERVATIONS, "small", refs[:9]).items()}
                )
        answers.append(answer)
    assert answers[0] == answers[1]


@pytest.mark.parametrize("count", [3, 399, 401])
def test_few_rows_and_many_are_answered_alike(both: Sequence[Store], count: int) -> None:
    answers = []
    for store in both:
        put(store, ANA, random_vectors(8, count))
        with store.begin(ANA, write=False) as tx:
            refs = np.array([ref_of(1, n) for n in (2, 0, 400, 2)])
            query = random_vectors(9, 1)[0]
            of = np.nan_to_num(tx.index.vector_scores(OBSERVATIONS, "small", query, refs)[1], nan=-2)
            answers.append([best(tx, query, 10), of.tolist(), best(tx, np.zeros(8, np.float32), 3)])
    assert answers[0] == answers[1]


@pytest.mark.slow
def test_a_filter_s_worth_of_refs_scores_as_a_few_do(store: Store) -> None:
    put(store, ANA, random_vectors(8, 9_000))
    refs = np.array([ref_of(1, n) for n in np.random.default_rng(1).permutation(9_500)])
    query = random_vectors(9, 1)[0]
    with store.begin(ANA, write=False) as tx:
        many = tx.index.vector_scores(OBSERVATIONS, "small", query, refs)[1]
        few = tx.index.vector_scores(OBSERVATIONS, "small", query, refs[:50])[1]
    assert np.array_equal(many[:50], few, equal_nan=True)
    assert int(np.isnan(many).sum()) == 500


# --- the bound on what halves lose ----------------------------------------------------------------------


@pytest.mark.parametrize("width", [1, 8, 384, 1024])
def test_no_half_precision_score_misses_by_more_than_the_bound(
    store: Store, db: psycopg.Connection[Any], width: int
) -> None:
    random = np.random.default_rng(width)
    uneven = random.normal(size=(300, width)) * 10.0 ** random.integers(-7, 2, (300, width))
    rows = np.concatenate([random_vectors(1, 100, width), uneven, np.full((1, width), 2049 / 2048)])
    put(store, ANA, rows.astype(np.float32))
    for query in (rows[400], rows[-1], random_vectors(7, 1, width)[0]):
        targets = unit(query)
        rounded = targets.astype(np.float16)
        results = db.execute(
            "SELECT v <#> %s::halfvec, halfvec_send(v) FROM coarse_packed", (half_vector(rounded),)
        ).fetchall()
        held = halves_sent([v for _, v in results]).astype(np.float64)
        true = held @ targets.astype(np.float64) / np.linalg.norm(held, axis=1)
        missed = np.abs(true + np.array([far for far, _ in results]))
        assert len(results) == len(rows)
        assert missed.max() <= rounding_bound(targets, rounded)
        assert rounding_bound(targets, rounded) < 2e-3


def test_the_rows_of_a_scope_lie_side_by_side_whoever_writes_between(
    store: Store, db: psycopg.Connection[Any]
) -> None:
    users = [Scope(f"user{n}") for n in range(6)]
    for seq in range(40):
        for n, user in enumerate(users):
            with store.begin(user) as tx:
                tx.index.put_postings(OBSERVATIONS, [posting(ref_of(1, seq), "tea")])
                tx.index.put_vectors(OBSERVATIONS, "small", [ref_of(1, seq)], random_vectors(n, 1, 900))
    results = db.execute(
        "SELECT count(*), count(DISTINCT (ctid::text::point)[0]) FROM coarse_packed"
        " WHERE space = %s AND owner = %s",
        keys_of(users[3]),
    ).fetchall()
    assert results == [(40, 10)]  # packed by four, and a page holds four
    assert db.execute("SELECT count(*) FROM coarse").fetchone() == (0,)


# --- large scopes ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_large_scope_gets_an_index_whose_candidates_are_scored_exactly(
    store: Store, db: psycopg.Connection[Any]
) -> None:
    large, small = Scope("large"), Scope("small")
    put(store, large, random_vectors(1, 3_000, 32))
    put(store, large, random_vectors(2, 50, 32), kind=EPISODES)
    put(store, small, random_vectors(3, 500, 32))
    lines = list(index_large_scopes(db, above=2_000, memory="64MB"))
    assert [line.partition(" over ")[0] for line in lines] == [
        f"large in default: {index_name(*keys_of(large), 1, OBSERVATIONS)}"
    ]
    assert "is there" in next(iter(index_large_scopes(db, above=2_000)))
    shared = []
    for query in random_vectors(4, 20, 32):
        with index_of(db, large, large=2_000) as index:
            refs, scores = index.vector_scores(OBSERVATIONS, "small", query, limit=10)
        with index_of(db, large) as index:
            exact = dict(
                zip(
                    *map(np.ndarray.tolist, index.vector_scores(OBSERVATIONS, "small", query, limit=3_000)),
                    strict=True,
                )
            )
        assert scores.tolist() == [exact[ref] for ref in refs.tolist()]
        assert len(refs) == 10
        shared.append(len({*refs.tolist()} & {*[*exact][:10]}) / 10)
    assert np.mean(shared) >= 0.99


def test_an_index_half_made_is_made_anew(store: Store, db: psycopg.Connection[Any]) -> None:
    put(store, ANA, random_vectors(1, 30))
    name = index_name(*keys_of(ANA), 1, OBSERVATIONS)
    list(index_large_scopes(db, above=20))
    db.execute(
        "UPDATE pg_index SET indisvalid = false WHERE indexrelid = %s::regclass", (f"episodic.{name}",)
    )
    with index_of(db, ANA, large=20) as index:  # does without
        assert len(index.vector_scores(OBSERVATIONS, "small", random_vectors(2, 1)[0], limit=5)[0]) == 5
    assert [f"{name} over 30" in line for line in index_large_scopes(db, above=20)] == [True]


def test_where_no_scope_is_large_nothing_is_made(store: Store, db: psycopg.Connection[Any]) -> None:
    put(store, ANA, random_vectors(1, 30))
    assert list(index_large_scopes(db)) == ["no scope has 50,000 documents: every one is scanned exactly"]


def test_packing_leaves_the_answers_as_they_are(store: Store, db: psycopg.Connection[Any]) -> None:
    put(store, ANA, random_vectors(1, 800))
    query = random_vectors(2, 1)[0]
    with store.begin(ANA, write=False) as tx:
        before = best(tx, query, 20)
    assert len(list(pack_indexes(db))) == 3
    with store.begin(ANA, write=False) as tx:
        assert best(tx, query, 20) == before


# --- embedders ------------------------------------------------------------------------------------------


def test_tenants_may_use_one_name_for_embedders_of_different_widths(store: Store) -> None:
    put(store, ANA, random_vectors(1, 5, 8))
    put(store, BO, random_vectors(1, 5, 16))
    for scope, width in ((ANA, 8), (BO, 16)):
        with store.begin(scope) as tx:
            assert len(best(tx, random_vectors(2, 1, width)[0], 9)) == 5
            with pytest.raises(InvalidInput, match="dimensions here"):
                best(tx, random_vectors(2, 1, 24 - width)[0], 9)
            with pytest.raises(InvalidInput, match="dimensions here"):
                tx.index.vector_scores(
                    OBSERVATIONS, "small", random_vectors(2, 1, 24 - width)[0], np.array([1])
                )[1]


def test_two_who_name_new_embedders_at_once_get_different_numbers(
    postgres_url: str, db: psycopg.Connection[Any]
) -> None:
    stores = [open_postgres(postgres_url) for _ in range(6)]
    barrier = threading.Barrier(6)
    failures: list[EpisodicError] = []

    def name_embedders(number: int) -> None:
        try:
            with stores[number].begin(Scope(f"user{number}")) as tx:
                barrier.wait(30)
                for name in ("shared", f"own{number}"):
                    tx.index.put_vectors(OBSERVATIONS, name, [1], random_vectors(number, 1))
        except EpisodicError as error:
            failures.append(error)

    threads = [threading.Thread(target=name_embedders, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []
    for number, store in enumerate(stores):
        with store.begin(Scope(f"user{number}"), write=False) as tx:
            for name in ("shared", f"own{number}"):
                vectors = tx.index.vectors(OBSERVATIONS, name, [1])
                assert np.array_equal(vectors[1], random_vectors(number, 1)[0])
        store.close()
    assert sorted(db.execute("SELECT number FROM embedder").fetchall()) == [(n,) for n in range(1, 8)]


def test_the_number_of_an_embedder_that_was_rolled_back_is_forgotten(postgres_url: str, store: Store) -> None:
    with pytest.raises(ZeroDivisionError), store.begin(ANA) as tx:  # noqa: PT012 the block is the case
        tx.index.put_vectors(OBSERVATIONS, "lost", [1], random_vectors(1, 1))
        assert tx.index.vectors(OBSERVATIONS, "lost", [1]).keys() == {1}
        raise ZeroDivisionError
    other = open_postgres(postgres_url)
    put(other, ANA, random_vectors(2, 3), embedder="kept")
    other.close()
    with store.begin(ANA) as tx:
        assert tx.index.vectors(OBSERVATIONS, "lost", [ref_of(1, 0)]) == {}
        tx.index.put_vectors(OBSERVATIONS, "lost", [ref_of(1, 0)], random_vectors(5, 1))
    with store.begin(ANA, write=False) as tx:
        vectors = tx.index.vectors(OBSERVATIONS, "kept", [ref_of(1, 0)])
        assert np.array_equal(vectors[ref_of(1, 0)], random_vectors(2, 3)[0])


# --- what fails half way --------------------------------------------------------------------------------


@pytest.mark.parametrize("point", ["mid-postings", "mid-vectors"])
def test_what_stops_half_way_leaves_nothing(store: Store, db: psycopg.Connection[Any], point: str) -> None:
    def stop() -> None:
        raise ZeroDivisionError

    faults.arm(point, 1, stop)
    try:
        with pytest.raises(ZeroDivisionError):
            put(store, ANA, random_vectors(1, 10))
    finally:
        faults.disarm()
    for table in ("document", "posting_block", "total", "coarse", "coarse_packed"):
        assert db.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
    put(store, ANA, random_vectors(1, 10))


def test_replacing_and_dropping_leave_no_row_behind(store: Store, db: psycopg.Connection[Any]) -> None:
    refs = [ref_of(1, n) for n in range(5)]
    put(store, ANA, random_vectors(1, 5))
    with store.begin(ANA) as tx:
        tx.index.put_postings(
            OBSERVATIONS, [posting(refs[0], "rain rain door"), posting(ref_of(2, 0), "new")]
        )
        tx.index.put_vectors(OBSERVATIONS, "small", [refs[0], refs[0], 99], random_vectors(2, 3))
        tx.index.put_vectors(OBSERVATIONS, "small", [refs[0]], random_vectors(3, 1))
    ((vectors,),) = db.execute(
        "SELECT (SELECT count(*) FROM coarse) + (SELECT count(*) FROM coarse_packed)"
    ).fetchall()
    assert vectors == 6
    totals = db.execute("SELECT thread, documents, length FROM total WHERE thread > 0 ORDER BY 1").fetchall()
    assert totals == [(1, 5, 7), (2, 1, 1)]
    with store.begin(ANA) as tx:
        tx.index.drop(OBSERVATIONS, [*refs, 99, ref_of(2, 0)])
    for table in ("document", "posting_block", "coarse", "coarse_packed"):
        assert db.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
    assert db.execute("SELECT sum(documents), sum(length) FROM total").fetchone() == (0, 0)
