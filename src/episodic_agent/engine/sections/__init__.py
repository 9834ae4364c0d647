"""Cut a thread into sections and tell each at three resolutions (seed 002, sections 4.1 and 4.2).

A section is a primary episode with a row about its compaction. `core/sections` decides when one ends (thread
end, 50 turns, 24 hours, by hand) and writes micro, meso and macro texts; this room deals observations out to
sections as they are appended, runs the `compact` job, and shows or searches the words.

**Rules of the room.**
1. A section stores no members: they are the current event episodes that begin in its span. A resegmentation
   leaves nothing stale, and an append reads one row and writes none.
2. A section begins and ends in the transaction that appends or closes; only age is found by the sweep.
3. Everything is read and told outside the transaction that writes; a failure leaves the earlier words and is
   tried again as any job.
4. Compaction never removes observations and never has more tokens than what it tells.
5. A model is asked only where its answer could say more than the words its events have already.
6. The same section up to the same observation is compacted once; when it grew it gets another version (I4).
7. A section does not chain by itself: only one whose talk reaches over the seam goes on (`roll`).

**To add** a trigger, extend `Trigger` with its priority in `core/sections` and ask for the job where it comes
true. To add a resolution, give it a limit of tokens, a text in `Encoding.metadata`, and a place in search.
"""
