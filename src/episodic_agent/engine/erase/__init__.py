"""Delete for good: an observation, an episode, a thread or a user, with everything made of it (I12).

**How.** One transaction takes the observations away, leaves tombstones, and drops or rewrites all that rests
on them: words and vectors, titles and summaries, facts, skills, links' reasons, reviews, replaced
generations. It writes a receipt, pending. Then the database is swept (file rewritten, log emptied, or tables
vacuumed) and the receipt becomes done.

**Rules of the room.**
1. One erasure is one transaction. A process that dies leaves all of it there, or a pending receipt that
   upkeep completes.
2. A tombstone keeps the seq and the id, and no text: the thread stays gapless, and a replayed queue or an old
   export cannot bring the text back.
3. Verdicts keep their numbers and lose their words, so they can still be recomputed (I6).
4. What is derived is derived again from what is left, in the same transaction or by jobs it asks for. Titles
   of threads and what was said of sessions count as derived where they hold words that only what goes has.
5. A receipt names nothing in words: kinds, counts, times, hashes.
6. A worker that read what goes loses its claim; what it made is refused.
7. `dry_run` does exactly the same and rolls back.

**To add** anything that holds a person's words, add it here too: a function that takes the references that go
and drops or rewrites its rows, called from the cascade, counted in the receipt, and covered by the residue
test, which searches the whole database for the erased text.
"""
