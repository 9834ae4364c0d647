"""The embedded store: one SQLite file holds rows, text index, vectors and jobs.

**How it works.** WAL, short `BEGIN IMMEDIATE` transactions, one writer at a time: threads of a process queue
on a lock, other processes wait. Index rows are written in commit order and copied into memory for each scope;
a search reads where its snapshot ends, extends its copy to there and scans it exactly.

**Rules of the room.**
1. Acknowledged is committed: it survives a killed process, and with `synchronous=full` a power cut.
2. The file is watched: one that was deleted, replaced or lost its log is noticed before more is acknowledged.
3. What a process keeps in memory is only a copy, versioned by the stream's place and epoch; it can be dropped
   at any time, and is, by bytes.
4. Deleted text is overwritten; an erasure also rewrites the file and empties the log (I12).
5. A damaged file is never written to: what can be read is saved in another one.
6. Rows of one scope are found by small numbers given in the file; no hash, no name in a key.

**To add** a table, write the next migration, its entry in `stores/catalogue.py`, a module of its aggregate,
and the same in `stores/postgres`; `tests/stores/test_chain_plans.py` shows how to hold a statement to its
index.
"""

from typing import TYPE_CHECKING

from episodic_agent.lazily import names_from

if TYPE_CHECKING:
    from episodic_agent.stores.sqlite.store import SqliteStore, repair_file, scratch_store
else:
    __getattr__ = names_from(
        __name__,
        {
            "store": "SqliteStore repair_file scratch_store",
        },
    )

__all__ = ["SqliteStore", "repair_file", "scratch_store"]
