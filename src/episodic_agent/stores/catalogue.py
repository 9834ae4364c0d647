"""Every table that holds something of a scope, and how a thread's rows are found: what forgetting goes by.

The order is that of deletion: what refers to other rows stands before them. `tests/house` compares this with
the migrations, so that a new table cannot be forgotten here. Conditions are written for both stores:
`:mine` says whose rows; `:thread` is a thread's number, `:id` its id, `:first` and `:last` bound its refs.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

_MINE: Final = ":mine"
_VALUE: Final = re.compile(r"(?<!:):(\w+)")
_HERE: Final = "ref BETWEEN :first AND :last"
_SAID: Final = "observation IN (SELECT id FROM observation WHERE :mine AND ref BETWEEN :first AND :last)"
_OF_SKILLS: Final = "stream IN (SELECT number FROM stream WHERE :mine)"
_EPISODES: Final = "SELECT id FROM episode WHERE :mine AND thread = :thread"
_ABOUT: Final = f"subject = :id OR subject IN ({_EPISODES})"


class Kept(NamedTuple):
    """A table: how a thread's rows are found (`of_thread`; "" where none is a thread's) and what they are.

    `noun` is what counts call its rows ("" of those nobody asks for); `whose` is the condition on the scope
    where it is not the usual one.
    """

    table: str
    of_thread: str = ""
    noun: str = ""
    whose: str = _MINE


_SHARED: Final = (
    Kept("work", "first_ref BETWEEN :first AND :last"),
    Kept("unmined", _HERE),
    Kept("skill_turn", _HERE),
    Kept("skill", noun="skills"),  # those its turns showed are derived again
    Kept("pending_review", "thread = :thread", "pending reviews"),
    Kept("joined", "thread = :thread"),
    Kept("link", "later = :thread OR earlier = :thread", "links"),
    Kept("part", "thread = :thread", "parts"),
    Kept("stay", "first_ref BETWEEN :first AND :last", "stays"),
    Kept("fact_move"),
    Kept("fact_tombstone", _SAID),
    Kept("fact_evidence", _SAID),
    Kept("fact", noun="facts"),  # those that rest on more than a thread stay
    Kept("span_mark", "first_ref >= :first AND last_ref <= :last"),
    Kept("suppressed_words"),
    Kept("expiry", _HERE),
    Kept("retention"),
    Kept("usage"),
    Kept("timeout"),
    Kept("job", noun="jobs"),  # a thread's bear the ids of it and its episodes
    Kept("metadata_term", f"episode IN ({_EPISODES})"),
    Kept("chain_refusal", f"child IN ({_EPISODES}) OR parent IN ({_EPISODES})"),
    Kept("encoding", f"episode IN ({_EPISODES})", "summaries"),
    Kept("decision", _ABOUT, "decisions"),
    Kept("episode", "thread = :thread", "episodes"),
)
_THREADS: Final = (
    Kept("observation", _HERE, "observations"),
    Kept("frame", "thread = :thread"),
    Kept("thread", "number = :thread", "threads"),
    Kept("scope"),
)
SQLITE: Final = (
    *_SHARED,
    Kept("vector", f"{_HERE} AND {_OF_SKILLS}", "vectors", _OF_SKILLS),
    Kept("document", f"{_HERE} AND {_OF_SKILLS}", whose=_OF_SKILLS),
    Kept("stream"),
    Kept("actor"),  # a thread's share is taken off before
    *_THREADS,
)
POSTGRES: Final = (
    *_SHARED,
    Kept("embedding", _HERE, "vectors"),
    Kept("coarse", _HERE),
    Kept("posting", _HERE),
    Kept("document", _HERE),
    Kept("total", "thread = :thread AND kind NOT IN ('k', 'f')"),
    Kept("verdict", _HERE),
    Kept("fact_number"),
    Kept("actor", "thread = :thread"),
    *_THREADS,
)
# What stays: receipts (no word of it is in them), the ledger of migrations, names of embedders.
OUTSIDE: Final = ("erasure", "migration", "embedder")


def deleting(tables: Sequence[Kept]) -> Sequence[tuple[Kept, str]]:
    """Return each table with the statement that deletes a scope's rows, in order."""
    return [(kept, f"DELETE FROM {kept.table} WHERE {kept.whose}") for kept in tables]


def deleting_thread(tables: Sequence[Kept]) -> Sequence[str]:
    """Return the statements that delete a thread's rows, in order."""
    return [f"DELETE FROM {kept.table} WHERE {_of_thread(kept)}" for kept in tables if kept.of_thread]


def counting(tables: Sequence[Kept], *, of_thread: bool) -> Sequence[tuple[str, str]]:
    """Return (noun, statement) for what is counted of a scope or a thread."""
    return [
        (
            kept.noun,
            f"SELECT count(*) FROM {kept.table} WHERE {_of_thread(kept) if of_thread else kept.whose}",
        )
        for kept in tables
        if kept.noun and (kept.of_thread or not of_thread)
    ]


def _of_thread(kept: Kept) -> str:
    whose = "" if kept.whose != _MINE else f"{_MINE} AND "
    return f"{whose}({kept.of_thread})"


def bound(
    sql: str, mark: str, mine: tuple[str, Sequence[Any]], values: Mapping[str, Any]
) -> tuple[str, list[Any]]:
    """Return a statement with a driver's marks, and its values in order.

    `mine` is the condition that says whose rows, and its values.

    >>> bound("DELETE FROM stay WHERE :mine AND first_ref >= :first", "?", ("scope = ?", [7]), {"first": 9})
    ('DELETE FROM stay WHERE scope = ? AND first_ref >= ?', [7, 9])
    """
    bindings: list[Any] = []

    def spoken(found: "re.Match[str]") -> str:
        name = found[1]
        if f":{name}" == _MINE:
            bindings.extend(mine[1])
            return mine[0]
        bindings.append(values[name])
        return mark

    return _VALUE.sub(spoken, sql), bindings
