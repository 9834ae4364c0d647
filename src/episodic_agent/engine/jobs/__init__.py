"""Do later work: claim it, do it in batches, retry it, and keep what failed with its reason.

A job is a row, written in the transaction of its cause, so that nothing is forgotten and nothing is done for
what was rolled back. The same `Runner` serves the process that made the work (a background thread) and worker
processes, of which any number may share a database.

**Rules of the room.**
1. An effect happens once: the transaction that writes it also ends the job and checks the claim's token.
2. A claim is a lease, renewed by one heartbeat thread for as long as the work takes. Whoever dies leaves the
   job; whoever comes next takes the lease over, at once on the same machine.
3. (kind, key) is unique while waiting: asking twice asks once. Jobs with the same `serial` run one after
   another.
4. A failure is retried with growing pauses, then kept as a dead letter. What is not the job's own fault (the
   database away, another writer) is tried for as long as it takes.
5. A job that killed its process twice runs alone; after thirty deaths it is buried.
6. Handlers read, compute and call models outside any transaction.
7. There is one way to a language model (`asking.py`). One that fails is no reason to fail: each handler has
   its fallback (I8) and records which one spoke.

**To add** a kind of job, write a handler with `handle(claimed jobs)` that ends them in its own transaction,
name it in `kinds.py`, add it to the table of handlers in `engine/works.py`, and ask for it where its cause is
written. Its key must name what it is about, so that erasing that takes the job away too.
"""
