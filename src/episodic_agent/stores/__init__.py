"""The databases behind the one `Store` port, and what they share.

`sqlite` is the embedded store (a file), `postgres` the service's (a server, many processes and machines).
Beside them lies what must be the same in both: nouns as columns, scores, term hashes, content hashes, the
catalogue of tables, erasing, leases.

**Rules of the ring.**
1. One meaning: the same calls give the same answers in the same order, ties included.
   `tests/stores/conformance.py` and its neighbours hold every store to it, and random programs compare both
   with a model.
2. A transaction is of one scope; every key and condition begins with it (I11). No verb takes rows without
   one.
3. SQL is written by hand, in one place a noun; no row leaves a store, only nouns.
4. A store decides nothing: no thresholds, no policies, no words of people read for their meaning.
5. Every table is in `catalogue.py`, or a house test fails: what is not there would outlive its user (I12).
6. Migrations are numbered files with checksums; one that was applied is never edited.
7. What the database says in an error becomes one line of `errors`, with whether trying again may help.

**To add** a store, implement `Store`, give the conformance tests a fixture that opens it, and name its URL
scheme in `wiring`. `faults.py` has the points at which the crash tests will kill it.
"""
