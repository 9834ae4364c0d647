"""Spread the tables over a Citus cluster: an owner's rows on one node, what is shared on all of them."""

from collections.abc import Iterator, Sequence
from typing import Final

import psycopg

from episodic_agent.errors import StoreError
from episodic_agent.stores.postgres.server.failures import gist
from episodic_agent.stores.postgres.server.migrate import ROLES
from episodic_agent.stores.postgres.server.session import Connection

COLUMN: Final = "owner"
ROOT: Final = "scope"
# Referenced tables come before those that refer to them.
DISTRIBUTED: Final = (
    ROOT,
    "thread",
    "frame",
    "observation",
    "verdict",
    "actor",
    "stay",
    "timeout",
    "request",
    "audit",
    "link",
    "joined",
    "pending_review",
    "episode",
    "encoding",
    "metadata_term",
    "chain_refusal",
    "decision",
    "part",
    "document",
    "total",
    "posting_block",
    "coarse",
    "coarse_packed",
    "usage",
    "work",
    "skill",
    "skill_turn",
    "unmined",
    "fact",
    "fact_number",
    "fact_evidence",
    "fact_move",
    "fact_tombstone",
    "span_mark",
    "suppressed_words",
    "expiry",
    "retention",
    "erasure",
)
REFERENCE: Final = ("embedder", "api_key")
# Claims look over all scopes and skip locked rows, which a cluster refuses over several nodes.
LOCAL: Final = ("job", "migration")
KNOWN: Final = ("job",)


def statements(shards: int) -> Sequence[str]:
    """Return what makes a ready database a cluster's, in order; run them on the coordinator.

    `shards` is how many pieces the owners are spread over: a multiple of the nodes there may ever be.

    >>> statements(8)[4]
    "SELECT create_distributed_table('episodic.scope', 'owner', shard_count => 8)"
    """
    # The coordinator asks its nodes as the role that asked it.
    roles = [f"ALTER ROLE {role} LOGIN" for role in ROLES]
    reference = [f"SELECT create_reference_table('episodic.{table}')" for table in REFERENCE]
    root = f"SELECT create_distributed_table('episodic.{ROOT}', '{COLUMN}', shard_count => {shards})"
    others = [
        f"SELECT create_distributed_table('episodic.{table}', '{COLUMN}', colocate_with => 'episodic.{ROOT}')"
        for table in DISTRIBUTED
        if table != ROOT
    ]
    # Without this a transaction that writes jobs too might commit on one node and not on the other.
    known = [f"SELECT citus_add_local_table_to_metadata('episodic.{table}')" for table in KNOWN]
    return [*roles, *reference, root, *others, *known]


def distribute(db: Connection, shards: int) -> Iterator[str]:
    """Run the statements a database still lacks and yield each one once it is done.

    `db` is an administrator's, outside a transaction: each table moves in one of its own. StoreError where
    there is no Citus.
    """
    if not has_citus(db):
        raise StoreError(
            "this database has no extension citus; on the coordinator run `CREATE EXTENSION citus` "
            "and add the nodes, then try again"
        )
    done = _distributed(db)
    for statement in statements(shards):
        if any(f"('episodic.{table}'" in statement for table in done):
            continue
        try:
            db.execute(statement.encode())
        except psycopg.Error as error:
            raise StoreError(
                f"{statement} was refused: {gist(error)}; what is done stays, repeat it"
            ) from error
        yield statement


def has_citus(db: Connection) -> bool:
    """Tell whether the database belongs to a Citus cluster."""
    return db.execute("SELECT 1 FROM pg_extension WHERE extname = 'citus'").fetchone() is not None


def _distributed(db: Connection) -> set[str]:
    results = db.execute("SELECT logicalrelid::regclass::text FROM pg_dist_partition").fetchall()
    return {str(name).rpartition(".")[2] for (name,) in results}
