"""Every table that holds something of a scope, and how a thread's rows are found: what forgetting goes by.

The order is that of deletion: what refers to other rows stands before them. `tests/house` compares this with
the migrations, so that a new table cannot be forgotten here. Conditions are written for both stores:
`:mine` says whose rows; `:thread` is a thread's number, `:id` its id, `:first` and `:last` bound its refs.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

_MINE: Final = ":mine"
_HERE: Final = "ref BETWEEN :first AND :last"
_QUOTED: Final = "observation IN (SELECT id FROM observation WHERE :also AND ref BETWEEN :first AND :last)"
_OF_SKILLS: Final = "stream IN (SELECT number FROM stream WHERE :mine)"
_EPISODES: Final = "SELECT id FROM episode WHERE :mine AND thread = :thread"
_ABOUT: Final = f"subject = :id OR subject IN ({_EPISODES})"


class StoredTable(NamedTuple):
    """A table: how a thread's rows are found (`of_thread`; "" where none is a thread's) and what they are.

    `noun` is what counts call its rows ("" of those nobody asks for); `whose` is the condition on the scope
    where it is not the usual one, `also` that on rows found by their own number.
    """

    table: str
    of_thread: str = ""
    noun: str = ""
    whose: str = _MINE
    also: str = _MINE


_SHARED: Final = (
    StoredTable("work", "first_ref BETWEEN :first AND :last"),
    StoredTable("unmined", _HERE),
    StoredTable("skill_turn", _HERE),
    StoredTable("skill", noun="skills"),  # those its turns showed are derived again
    StoredTable("pending_review", "thread = :thread", "pending reviews"),
    StoredTable("joined", "thread = :thread"),
    StoredTable("link", "later = :thread OR earlier = :thread", "links"),
    StoredTable("part", "thread = :thread", "parts"),
    StoredTable("stay", "first_ref BETWEEN :first AND :last", "stays", also=":also"),
    StoredTable("fact_move"),
    StoredTable("fact_tombstone", _QUOTED),
    StoredTable("fact_evidence", _QUOTED),
    StoredTable("fact", noun="facts"),  # those that rest on more than a thread stay
    StoredTable("span_mark", "first_ref >= :first AND last_ref <= :last"),
    StoredTable("suppressed_words"),
    StoredTable("expiry", _HERE),
    StoredTable("retention"),
    StoredTable("usage"),
    StoredTable("timeout"),
    StoredTable("request"),
    StoredTable("audit"),  # ids and numbers: of an erased thread they stay
    StoredTable("job", noun="jobs"),  # a thread's bear the ids of it and its episodes
    StoredTable("metadata_term", f"episode IN ({_EPISODES})"),
    StoredTable("chain_refusal", f"child IN ({_EPISODES}) OR parent IN ({_EPISODES})"),
    StoredTable("encoding", f"episode IN ({_EPISODES})", "summaries"),
    StoredTable("decision", _ABOUT, "decisions"),
    StoredTable("episode", "thread = :thread", "episodes"),
)
_THREADS: Final = (
    StoredTable("observation", _HERE, "observations", also=":also"),
    StoredTable("frame", "thread = :thread"),
    StoredTable("thread", "number = :thread", "threads"),
    StoredTable("scope", whose=":this"),
)
SQLITE: Final = (
    *_SHARED,
    StoredTable("vector", f"{_HERE} AND {_OF_SKILLS}", "vectors", _OF_SKILLS),
    StoredTable("document", f"{_HERE} AND {_OF_SKILLS}", whose=_OF_SKILLS),
    StoredTable("stream"),
    StoredTable("actor"),  # a thread's share is taken off before
    *_THREADS,
)
POSTGRES: Final = (
    *_SHARED,
    StoredTable("coarse", _HERE, "vectors"),
    StoredTable("coarse_packed", _HERE, "vectors"),
    StoredTable("posting_block"),  # a thread's words are taken out of it before
    StoredTable("document", _HERE),
    StoredTable("total", "thread = :thread AND kind NOT IN ('k', 'f')"),
    StoredTable("verdict", _HERE),
    StoredTable("fact_number"),
    StoredTable("actor", "thread = :thread"),
    *_THREADS,
)
# What stays: receipts (no word of it is in them), the ledger of migrations, names of embedders, spaces' keys.
OUTSIDE: Final = ("erasure", "migration", "embedder", "api_key")


def deleting(tables: Sequence[StoredTable]) -> Sequence[tuple[StoredTable, str]]:
    """Return each table with the statement that deletes a scope's rows, in order."""
    return [(kept, f"DELETE FROM {kept.table} WHERE {kept.whose}") for kept in tables]


def deleting_thread(tables: Sequence[StoredTable]) -> Sequence[str]:
    """Return the statements that delete a thread's rows, in order."""
    return [f"DELETE FROM {kept.table} WHERE {_of_thread(kept)}" for kept in tables if kept.of_thread]


def counting(tables: Sequence[StoredTable], *, of_thread: bool) -> Sequence[tuple[str, str]]:
    """Return (noun, statement) for what is counted of a scope or a thread."""
    return [
        (
            kept.noun,
            f"SELECT count(*) FROM {kept.table} WHERE {_of_thread(kept) if of_thread else kept.whose}",
        )
        for kept in tables
        if kept.noun and (kept.of_thread or not of_thread)
    ]


def _of_thread(table: StoredTable) -> str:
    whose = "" if table.whose != _MINE else f"{table.also} AND "
    return f"{whose}({table.of_thread})"
