"""What an administrator does for speed while others read and write: HNSW for large scopes, packed indexes."""

from collections.abc import Iterator
from time import perf_counter
from typing import Final, NamedTuple

from episodic_agent.core.language import plural
from episodic_agent.stores.postgres.server.distribute import has_citus
from episodic_agent.stores.postgres.server.migrate import APP, SCHEMA, WORKER
from episodic_agent.stores.postgres.server.session import Connection, PostgresSession

LARGE: Final = 50_000  # documents from which on a scope's HNSW index is used
EFFORT: Final = 400  # rows the index proposes, at least

_FIND: Final = "SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(%s) AND indisvalid"
_BECOME_OWNER: Final = (
    f"SET LOCAL ROLE {APP}; SET LOCAL search_path = {SCHEMA};"
    " SELECT set_config('episodic.space', '{}', true), set_config('episodic.owner', '{}', true)"
)
_LARGE: Final = (
    "SELECT t.kind::text, t.documents, e.number, e.width FROM"
    " (SELECT kind, sum(documents)::bigint AS documents FROM total WHERE space = %s AND owner = %s"
    "  GROUP BY kind HAVING sum(documents) >= %s) t"
    " CROSS JOIN embedder e WHERE EXISTS (SELECT 1 FROM coarse_packed c WHERE c.space = %s AND c.owner = %s"
    "  AND c.embedder = e.number AND c.kind = t.kind) ORDER BY t.kind, e.number"
)
# Rows of a scope go into the middle of these, so that pages split in halves and stay half full.
_PACKED: Final = ("coarse_packed_pkey", "posting_block_pkey", "document_pkey")
# `%s` is the name of a shard's table, whose indexes are named after those of the whole.
_ON_SHARDS: Final = (
    "SELECT result FROM run_command_on_shards('episodic.{}',"
    " $$SELECT coalesce(sum(pg_relation_size(indexrelid)), 0) FROM pg_index JOIN pg_class ON oid = indexrelid"
    " WHERE indrelid = '%s'::regclass AND starts_with(relname, '{}_')$$)"
)
_WIDEST: Final = 4000  # dimensions HNSW takes


class Large(NamedTuple):
    """The vectors of one kind that one embedder made in a large scope; `whose` names the scope."""

    whose: str
    space: int
    owner: int
    number: int
    kind: str
    width: int
    documents: int

    @property
    def name(self) -> str:
        """Return the name of their index."""
        return index_name(self.space, self.owner, self.number, self.kind)


def index_name(space: int, owner: int, number: int, kind: str) -> str:
    """Return the name of the HNSW index of one scope, embedder and kind.

    >>> index_name(10, 255, 1, "o")
    'coarse_near_a_ff_1_o'
    """
    return f"coarse_near_{space:x}_{owner:x}_{number}_{kind}"


def has_index(session: PostgresSession, kind: str, number: int) -> bool:
    """Tell whether the scope has an HNSW index that is ready."""
    return bool(session.rows(_FIND, (f"episodic.{index_name(*session.keys, number, kind)}",)))


def index_large_scopes(db: Connection, *, above: int = LARGE, memory: str = "1GB") -> Iterator[str]:
    """Give each scope with at least `above` documents of a kind its HNSW index; yield a line for each step.

    `db` is an administrator's, in autocommit. Nobody waits: the indexes are made CONCURRENTLY. One that a
    killed run left half made is made anew. `memory` is for the server while it builds (a 384-dimensional
    vector takes about 1.2 kB).
    """
    db.execute(f"SET maintenance_work_mem = '{memory}'".encode())
    larges = list(large_scopes(db, above))
    if not larges:
        yield f"no scope has {above:,} documents: every one is scanned exactly"
    for scope in larges:
        started = perf_counter()
        if db.execute(_FIND, (f"episodic.{scope.name}",)).fetchone():
            yield f"{scope.whose}: {scope.name} is there"
            continue
        if scope.width > _WIDEST:
            yield f"{scope.whose}: {scope.width} dimensions are too many for an index; scanned exactly"
            continue
        db.execute(f"DROP INDEX CONCURRENTLY IF EXISTS episodic.{scope.name}".encode())
        db.execute(_statement(db, scope).encode())
        seconds = perf_counter() - started
        yield f"{scope.whose}: {scope.name} over {plural(scope.documents, 'document')}, {seconds:.0f} s"


def pack_indexes(db: Connection) -> Iterator[str]:
    """Rebuild the indexes that grow in their middle, CONCURRENTLY; yield a line for each."""
    for name in _PACKED:
        sizes = []
        for statement in (None, f"REINDEX INDEX CONCURRENTLY episodic.{name}"):
            if statement is not None:
                db.execute(statement.encode())
            sizes.append(_size(db, name))
        yield f"{name}: {sizes[0] / 1e6:,.0f} MB, now {sizes[1] / 1e6:,.0f} MB"


def _size(db: Connection, name: str) -> int:
    """Return the bytes of an index; on a cluster of all its parts, for the coordinator's own is empty."""
    if has_citus(db):
        table = name.rpartition("_")[0]
        sizes = db.execute(_ON_SHARDS.format(table, name).encode()).fetchall()
        return sum(int(size) for (size,) in sizes if size is not None)
    row = db.execute("SELECT pg_relation_size(%s::regclass)", (f"episodic.{name}",)).fetchone()
    return 0 if row is None else int(row[0])


def large_scopes(db: Connection, above: int) -> Iterator[Large]:
    """Look through all scopes as their own tenants do, for row-level security binds the tables' owner too."""
    with db.transaction():
        db.execute(f"SET LOCAL ROLE {WORKER}".encode())
        scopes = db.execute("SELECT space, owner, name, user_id FROM episodic.scope ORDER BY 1, 2").fetchall()
    for space, owner, name, user_id in scopes:
        with db.transaction():
            db.execute(_BECOME_OWNER.format(space, owner).encode())
            results = db.execute(_LARGE, (space, owner, above, space, owner)).fetchall()
        for kind, documents, number, width in results:
            yield Large(f"{user_id} in {name}", space, owner, number, kind, width, documents)


def _statement(db: Connection, scope: Large) -> str:
    row = db.execute(
        "SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'vector'"
    ).fetchone()
    schema = "public" if row is None else row[0]
    return (
        f"CREATE INDEX CONCURRENTLY {scope.name} ON episodic.coarse_packed"
        f" USING hnsw ((v::{schema}.halfvec({scope.width})) {schema}.halfvec_ip_ops)"
        f" WITH (m = 16, ef_construction = 128)"
        f" WHERE space = {scope.space} AND owner = {scope.owner}"
        f" AND embedder = {scope.number} AND kind = '{scope.kind}'"
    )
