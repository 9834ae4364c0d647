"""The plain tables of both stores, written once: statements, columns, and nouns made of rows.

SQLite and PostgreSQL differ in how they search, lock and scale, not in how a link or a job is written down.
What is the same stands here: the columns of each noun in the order of its statements, the SQL that both
understand, and the few places where they differ as functions of a *dialect* that each store hands in.

**Rules of the room.**
1. Every key and every condition begins with the scope. A statement that forgets it is found by the tenancy
   test, which removes one condition after another (I11).
2. Values are plain: times as microseconds since 1970 UTC, ids as 16 bytes, JSON as text. Text that a store
   cannot hold is repaired before it comes here.
3. Reading a row that nobody wrote raises `StoreDamaged`, which names it.
4. Batches: one statement for many rows, in both dialects.
5. Order is always written down, ties included; the stores must answer alike.
6. No decision is made here: what a row means belongs to `core`, when it is written to `engine`.
7. A schema change is a numbered, checksummed migration of each store; one that was applied never changes.

**To add** a table: a migration for each store, its entry in the catalogue (which the erasing and tenancy
tests read), columns and statements here, the aggregate's method in both stores, and cases in the conformance
suite. What needs an index of its own kind (vectors, postings) stays with its store.
"""
