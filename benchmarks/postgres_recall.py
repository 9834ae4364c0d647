"""Recall on PostgreSQL: one scope among many, many small ones, one large one; time of each verb, bytes.

The server is started for the measurement. A scope is filled by the engine itself, then copied row by row to
the others: the rows of all scopes take turns, so that no two of one scope lie on a page of a table, which is
the worst there is. Only vectors that are packed keep together by 256, as packing writes them.
"""

import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import numpy as np
import psycopg

from benchmarks.servers import server
from benchmarks.speed import WORDS, spread
from benchmarks.synthetic import Vocabulary, WordVectors, conversation, questions, real_texts
from episodic_agent.core import recall as ranking
from episodic_agent.engine.recall.gathering import Gatherer
from episodic_agent.protocols import EPISODES, OBSERVATIONS, Transaction
from episodic_agent.schemas import Scope
from episodic_agent.stores.postgres.index import PostgresIndex
from episodic_agent.stores.postgres.server.distribute import DISTRIBUTED as TABLES
from episodic_agent.stores.postgres.server.large import index_large_scopes, pack_indexes
from episodic_agent.stores.postgres.server.session import PostgresSession, key_of
from episodic_agent.wiring import Memory, load_settings, make_store, utc_now

Row = dict[str, Any]
_Result = TypeVar("_Result")
LAYOUTS = {
    "30 scopes of 10,000": (30, 10_000),
    "1,000 scopes of 300": (1000, 300),
    "1 scope of 100,000": (1, 100_000),
}
SPACE = {"30 scopes of 1,000": (30, 1_000), "1 scope of 10,000": (1, 10_000)}
QUICK = {"30 scopes of 1,000": (30, 1_000), "1 scope of 5,000": (1, 5_000)}
SEARCHES, WARM = 120, 20
# What the common advice gives a server of 16 GB: a quarter of the memory for its own cache.
MEMORY = "4GB"


def measure(data: Path, *, quick: bool = False, memory: str = MEMORY) -> Iterator[tuple[str, Row]]:
    """Yield (key, figures) of every layout."""
    vocabulary = vocabulary_of(data)
    with server(shared_buffers=memory, max_wal_size="4GB") as own:
        for number, (name, (copies, count)) in enumerate((QUICK if quick else LAYOUTS).items()):
            database = f"bench{number}"
            yield name, layout(own.create(database), vocabulary, copies, count, memory=memory)
            own.drop(database)


def space(data: Path, *, quick: bool = False) -> Iterator[tuple[str, Row]]:
    """Yield (key, bytes of an observation in each table and index) where nothing is timed."""
    vocabulary = vocabulary_of(data)
    with server(max_wal_size="4GB") as own:
        for number, (name, (copies, count)) in enumerate((QUICK if quick else SPACE).items()):
            url = own.create(f"bench{number}")
            fill(url, WordVectors(vocabulary), conversation(vocabulary, count))
            with psycopg.connect(url, autocommit=True) as db:
                if copies > 1:  # else all lies as the engine left it, rows that wait to be vacuumed too
                    scatter(db, copies)
                yield name, {"bytes_per_observation": sizes(db, copies * count)}


def vocabulary_of(data: Path) -> Vocabulary:
    """Return the words of real texts, made-up ones where there are none."""
    real = real_texts(data, 1000)
    vocabulary = Vocabulary.of(m["content"] for messages in real.values() for m in messages)
    return vocabulary if vocabulary.words else Vocabulary(WORDS, [1] * len(WORDS), [8])


def fill(url: str, embedder: WordVectors, messages: Sequence[Mapping[str, Any]]) -> None:
    """Tell the first user's messages to a database."""
    with Memory.open(url, embedder=embedder) as opened:
        opened.user(user(0)).add(messages, thread="synthetic")


def layout(url: str, vocabulary: Vocabulary, copies: int, count: int, *, memory: str) -> Row:
    """Fill a database and measure recall in it."""
    embedder, messages = WordVectors(vocabulary), conversation(vocabulary, count)
    asked = questions(messages, SEARCHES)
    embedder.embed([*(m["content"] for m in messages), *asked])
    started = time.perf_counter()
    fill(url, embedder, messages)
    spent = time.perf_counter() - started
    with psycopg.connect(url, autocommit=True) as db:
        scatter(db, copies)
        row: Row = {
            "scopes": copies,
            "observations_each": count,
            "server_cache": memory,
            "written_per_second": round(count / spent),
            "bytes_per_observation": sizes(db, copies * count),
        }
        row |= timings(url, embedder, asked, copies)
        row["packed"] = list(pack_indexes(db))
        row["bytes_per_observation_packed"] = sizes(db, copies * count)
        row |= beside_a_file(url, embedder, messages, asked, copies)
        if copies == 1:
            row |= with_hnsw(db, url, embedder, asked)
    return row


def beside_a_file(
    url: str, embedder: WordVectors, messages: Sequence[Mapping[str, Any]], asked: Sequence[str], copies: int
) -> Row:
    """Return searches on the packed server and of the same memory in a SQLite file, taking turns."""
    with TemporaryDirectory(prefix="episodic-") as folder:
        path = str(Path(folder) / "memory.db")
        fill(path, embedder, messages)
        served: list[float] = []
        embedded: list[float] = []
        half = len(asked) // 2
        for part in (asked[:half], asked[half:]):
            served += searches(url, embedder, part, copies)
            embedded += searches(path, embedder, part, 1)
    return {"packed_search_ms": quantiles(served), "sqlite_search_ms": quantiles(embedded)}


def user(number: int) -> str:
    """Return the name of one of the users."""
    return f"user{number}"


# --- filling --------------------------------------------------------------------------------------------


def scatter(db: psycopg.Connection[Any], copies: int) -> None:
    """Write the rows of the first user for all of them: some rows of each, then the next of each."""
    db.execute("SET search_path = episodic, public; SET work_mem = '256MB'")
    db.execute(
        "CREATE TEMP TABLE whose AS SELECT * FROM unnest(%s::bigint[], %s::text[]) AS w (key, name)",
        ([key_of(user(n)) for n in range(copies)], [user(n) for n in range(copies)]),
    )
    with db.transaction():
        for table in TABLES:
            db.execute(f"CREATE TEMP TABLE first_{table} AS SELECT * FROM {table}")
        db.execute(f"TRUNCATE {', '.join(TABLES)}")
        for table in TABLES:
            results = db.execute(
                "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0"
                " AND NOT attisdropped ORDER BY attnum",
                (f"episodic.{table}",),
            ).fetchall()
            changed = {"owner": "w.key", **({"user_id": "w.name"} if table == "scope" else {})}
            columns = ", ".join(changed.get(name, f"f.{name}") for (name,) in results)
            together = 256 if table == "coarse_packed" else 1
            db.execute(
                f"INSERT INTO {table} SELECT {columns}"
                f" FROM (SELECT *, row_number() OVER (ORDER BY ctid) AS nth FROM first_{table}) f, whose w"
                f" ORDER BY f.nth / {together}, w.key, f.nth"
            )
            db.execute(f"DROP TABLE first_{table}")
    db.execute("DROP TABLE whose")
    db.execute("VACUUM ANALYZE")
    db.execute("CHECKPOINT")


def sizes(db: psycopg.Connection[Any], observations: int) -> Mapping[str, int]:
    """Return the bytes of each table (with what it moved out of line) and index, by observation."""
    results = db.execute(
        "SELECT relname, pg_relation_size(oid) + coalesce(pg_relation_size(nullif(reltoastrelid, 0)), 0)"
        " FROM pg_class WHERE relnamespace = 'episodic'::regnamespace AND relkind IN ('r', 'i')"
        " ORDER BY 2 DESC"
    ).fetchall()
    held = {str(name): round(int(size) / observations) for name, size in results}
    return {"all": sum(held.values()), **{name: size for name, size in held.items() if size}}


# --- asking ---------------------------------------------------------------------------------------------


def searches(url: str, embedder: WordVectors, asked: Sequence[str], copies: int) -> list[float]:
    """Return the milliseconds of whole searches, one user after the other; the vectors are given."""
    spent = []
    with Memory.open(url, embedder=embedder, resume=False) as memory:
        for turn, question in enumerate(asked):
            started = time.perf_counter()
            memory.user(user(turn % copies)).search(question, observations=10)
            if turn >= WARM:
                spent.append(1000 * (time.perf_counter() - started))
    return spent


def quantiles(milliseconds: Sequence[float]) -> dict[str, float]:
    """Return p5, median and p95."""
    low, middle, high = np.quantile(milliseconds, [0.05, 0.5, 0.95]).tolist()
    return {"p5": round(low, 2), "median": round(middle, 2), "p95": round(high, 2)}


def timings(url: str, embedder: WordVectors, asked: Sequence[str], copies: int) -> Row:
    """Return whole searches and each verb of the index as a search calls it, in milliseconds."""
    row: Row = {"search_ms": quantiles(searches(url, embedder, asked, copies))}
    store = make_store(url, load_settings())
    spent: dict[str, list[float]] = defaultdict(list)
    try:
        for turn, question in enumerate(asked):
            remaining = spent if turn >= WARM else defaultdict(list)
            with store.begin(Scope(user(turn % copies)), write=False) as tx:
                verbs(tx, question, embedder, remaining)
    finally:
        store.close()
    row["verb_ms"] = {name: spread(values) for name, values in spent.items()}
    return row


def verbs(tx: Transaction, question: str, embedder: WordVectors, spent: dict[str, list[float]]) -> None:
    """Call the index as a recall does and note the milliseconds of each call."""

    def timed(name: str, act: Callable[[], _Result]) -> _Result:
        started = time.perf_counter()
        result = act()
        spent[name].append(1000 * (time.perf_counter() - started))
        return result

    query = ranking.analyse(question, [], utc_now())
    vector = embedder.embed([question])[0]
    gatherer = timed("statistics (both kinds)", lambda: Gatherer(tx, query, vector, embedder.name))
    lexical, _ = timed("text_scores", lambda: gatherer.best_text(OBSERVATIONS, 100))
    dense, _ = timed("vector_scores", lambda: gatherer.best_vectors(OBSERVATIONS, 100))
    timed("vector_scores of episodes", lambda: gatherer.best_vectors(EPISODES, 20))
    seeds = np.concatenate([lexical[:20], dense[:20]])
    refs = np.unique(np.concatenate([lexical, dense, seeds - 1, seeds + 1]))
    around = np.concatenate([refs - 1, refs, refs + 1])
    timed("text_scores_of", lambda: gatherer.text(OBSERVATIONS, around))
    timed("vector_scores_of", lambda: gatherer.cosines(OBSERVATIONS, around))
    timed("vectors", lambda: tx.index.vectors(OBSERVATIONS, embedder.name, refs[:50].tolist()))


# --- large scopes ---------------------------------------------------------------------------------------


def with_hnsw(db: psycopg.Connection[Any], url: str, embedder: WordVectors, asked: Sequence[str]) -> Row:
    """Give the one scope its HNSW index; compare what it finds with the exact scan."""
    lines = list(index_large_scopes(db, above=1))
    size = db.execute(
        "SELECT sum(pg_relation_size(oid))::bigint FROM pg_class WHERE relname LIKE 'coarse_near%'"
    ).fetchone()
    with psycopg.connect(url, autocommit=True) as reader:
        exact = _tops(reader, embedder, asked, large=sys.maxsize)
        likely = _tops(reader, embedder, asked, large=1)
    shared = [len(set(a) & set(b)) / len(a) for a, b in zip(exact.found, likely.found, strict=True) if a]
    return {
        "hnsw": lines,
        "hnsw_bytes": 0 if size is None else int(size[0]),
        "exact_ms": spread(exact.spent),
        "hnsw_ms": spread(likely.spent),
        "hnsw_overlap_of_top_10": round(statistics.fmean(shared), 4),
        "hnsw_searches_that_differ": sum(s < 1 for s in shared),
    }


class _Tops:
    def __init__(self) -> None:
        self.found: list[list[int]] = []
        self.spent: list[float] = []


def _tops(db: psycopg.Connection[Any], embedder: WordVectors, asked: Sequence[str], *, large: int) -> _Tops:
    """Ask for the best 100 by vector; keep the first ten and the milliseconds."""
    tops, scope = _Tops(), Scope(user(0))
    for vector in embedder.embed(asked):
        with db.transaction():
            db.execute(
                "SET LOCAL search_path = episodic, public; SET LOCAL ROLE episodic_app; SET LOCAL jit = off"
            )
            for name, key in (("space", scope.space), ("owner", scope.user_id)):
                db.execute("SELECT set_config(%s, %s, true)", (f"episodic.{name}", str(key_of(key))))
            index = PostgresIndex(PostgresSession(db, scope, write=False), large=large)
            started = time.perf_counter()
            refs, _ = index.vector_scores(OBSERVATIONS, embedder.name, vector, limit=100)
            tops.spent.append(1000 * (time.perf_counter() - started))
            tops.found.append(refs[:10].tolist())
    return tops
