"""What a memory knew at an earlier moment: a copy of what stood then, which every reading verb reads.

**How.** One read transaction of the real store collects the observations received by the moment, and what was
concluded of them by then (`core/past.py` says how that follows from what is kept). They are put back, as an
export is, into a scratch store in this process's memory, with their vectors as they are: nothing is embedded
twice, and both stores are read through the port alone. `PastStore` stands in the place of the store for the
verbs of a user, so that none of them knows of it; its clock stands still at the moment.

**Rules of the room.**
1. What is erased stays erased, and what is suppressed or has expired stays hidden: a copy is of what stands
   now, and is made anew as soon as anything was erased, deleted by hand, hidden or expired since (I12).
2. A past is read only: whatever would write raises one error that says so.
3. A copy is on no disk. A memory keeps the few that were asked last.
4. Record time decides (`received_at`, `created_at`, a decision's `at`), never event time.

**To add** a noun that a scope keeps, say in `reading.py` since when it stood; a verb needs nothing here.
"""
