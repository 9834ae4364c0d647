"""Check a live memory against its invariants, and mend what can be derived again.

`examine` reads the file, then every scope of a space, a page at a time, and returns findings: `error` for a
broken invariant, `note` for later work that waits. `repair` rebuilds derived data (vectors, words, visits,
sections, rows of metadata, cross-thread episodes) and asks for lost jobs. `salvage` saves what can be read of
a damaged database in a new one. docs/internals/invariants.md says what each invariant promises.

**Rules of the room.**
1. `examine` writes nothing.
2. A finding names the invariant, the scope and what to do about it, in one line.
3. Verdicts are recomputed from their records (I6), passes from their inputs (I7), facts from their evidence:
   a check that only compares two stored copies proves nothing.
4. Repair touches only what can be derived. What somebody said is never changed; where it is damaged, nothing
   is written to that file at all.
5. What cannot be read ends one check, not the examination.
6. A memory that was only interrupted has notes, never errors.

**To add** a check, write a generator of (invariant, message) beside the others, with the page of data it
needs, and call it for a scope or a thread. Break the data on purpose in a test, see the finding, and where it
can be derived see `repair` mend it.
"""
