"""Sequences: load what a decision needs, ask `core`, write what follows, in the right transaction.

The room behind `Memory`. It knows stores, embedders, models and sensors only as protocols, and what to
conclude only through `core`.

**Rules of the ring.**
1. What belongs together commits together: an effect, its decision, the end of its job, the jobs it causes.
2. No network call, no embedding and no long computation inside a transaction (I10).
3. Read in one transaction, decide outside of any, write in one more, and check there that nothing changed in
   between; what changed is decided again.
4. Clock, entropy, owner of leases and every collaborator come from outside, so that tests can choose them.
5. `except Exception` stands only at the named boundaries (somebody's job, detector or sensor); `tests/house`
   lists them.
6. Only messages of `errors` reach a caller: one line, with the remedy.

**To add** a verb, write a function here with its transaction in view, put it on the handle with a docstring
that gives shapes, units and errors, and let the faces call that.
"""
