"""Which statements a Citus cluster is known not to route to the one node that holds their scope.

The rules are those of a trial on a real cluster (13.0.1): what they refuse was refused there, answered by all
nodes, or written by COPY, which row-level security refuses.
"""

import re
from collections.abc import Iterator

from episodic_agent.stores.postgres.server.distribute import DISTRIBUTED, LOCAL
from episodic_agent.stores.postgres.server.session import OWN_ROW

MOST_ROWS = 8  # of one VALUES list: each is planned for itself
KEYS = re.compile(r"(\w+\.)?space = (%s|\d+) AND (\w+\.)?owner = (%s|\d+)")
# A plain join may equate the keys; through LATERAL a cluster does not see that.
_JOINED = re.compile(r"\w+\.space = \w+\.space AND \w+\.owner = \w+\.owner")
_TABLE = re.compile(r"\b(FROM|JOIN|USING|UPDATE|INTO)\s+(?:ONLY\s+)?(?:episodic\.)?(\w+)\b(?!\s*\()")
_INSERT = re.compile(r"\bINSERT INTO\s+(?:episodic\.)?(\w+)(?:\s+AS\s+\w+)?\s*\([^)]*\)\s*(.*)", re.DOTALL)
_VOLATILE = re.compile(r"\b(clock_timestamp|random|gen_random_uuid|nextval)\(")


def faults(sql: str) -> list[str]:
    """Return what keeps a statement from being routed, one line each; none for one that may be.

    >>> faults("SELECT 1 FROM thread WHERE space = %s AND owner = %s")
    []
    >>> faults("SELECT 1 FROM thread WHERE id = %s")
    ['thread is read without the keys of its scope']
    """
    flat = " ".join(sql.split())
    return [*_of_message(flat), *_of_keys(flat), *_of_insert(flat), *_of_update(flat)]


def _of_message(sql: str) -> Iterator[str]:
    if ";" in sql.rstrip("; "):
        yield "several statements in one message"
    if re.match(r"COPY\b", sql):
        yield "COPY under row-level security"
    if "set_config(" in sql:
        yield "set_config() is not told to the nodes; SET LOCAL is"
    if "SKIP LOCKED" in sql and _distributed(sql):
        yield "SKIP LOCKED over distributed tables"


def _distributed(sql: str) -> list[str]:
    """Return the distributed tables a statement reads or changes, once for each time it names one."""
    return [table for place, table in _TABLE.findall(sql) if place != "INTO" and table in DISTRIBUTED]


def _of_keys(sql: str) -> Iterator[str]:
    # `FOR UPDATE` and `DO UPDATE SET` name no table; a table named twice needs its keys twice, inside LATERAL too.
    read = _distributed(re.sub(r"\b(FOR( NO KEY)?|DO) UPDATE\b", "", sql))
    joined = 0 if "LATERAL" in sql else len(_JOINED.findall(sql))
    if len(KEYS.findall(sql)) + joined < len(read):
        yield f"{', '.join(dict.fromkeys(read))} is read without the keys of its scope"
    local = {table for _, table in _TABLE.findall(sql) if table in LOCAL}
    if read and local:
        yield f"{', '.join(sorted(local))} and distributed tables in one statement"


def _of_insert(sql: str) -> Iterator[str]:
    match = _INSERT.search(sql)
    if match is None or match[1] not in DISTRIBUTED:
        return
    source = match[2]
    if _VOLATILE.search(source):
        yield "a volatile function in what is written"
    if source.startswith("VALUES"):
        if len(re.findall(r"\)\s*,\s*\(", source)) >= MOST_ROWS:
            yield "a long list of VALUES"
        return
    if OWN_ROW not in source or not source.startswith("SELECT s.space, s.owner"):
        yield "INSERT … SELECT that does not read the scope's own row"
    constants = KEYS.sub("", source.partition(f"FROM {OWN_ROW}")[0])
    if re.search(r"%s(?!::)", constants):
        yield f"a constant without a type in {constants!r}"


def _of_update(sql: str) -> Iterator[str]:
    changed = re.search(r"\bUPDATE\s+(\w+)(?:\s+\w+)?\s+SET\s+(.*?)\s+(?:FROM|WHERE)\b", sql)
    if changed is not None and re.search(r"(^|,\s*)owner\s*=", changed[2]):
        yield "the column that says whose rows they are is changed"
    if changed is not None and changed[1] in DISTRIBUTED and _VOLATILE.search(changed[2]):
        yield "a volatile function in what is written"
