"""Take observations in: exactly once, in order, durable before they are acknowledged.

**What happens, in this order.** A caller's item is read and its text repaired. Ids that are stored already
are answered with their first receipts. What only repeats recalled text is marked as an echo. The rest is
embedded, with no transaction open. Then each chunk of one thread (at most 256 observations) becomes one short
transaction: resolve the thread, append, index, run the boundary machine, write its cuts and the jobs they
cause. Only after the commit is anything acknowledged.

**Rules of the room.**
1. No network call, and no embedding, inside a transaction (I10).
2. Everything a chunk concludes is written with the chunk: there is no state between "stored" and "decided",
   except what waits for a model or for a vector, and that wait is a job in the same commit.
3. How items were grouped into calls changes nothing: not the cuts (I7), not what counts as an echo.
4. An id is a promise about a text. The same id with the same text adds nothing; with another text it is
   refused, and the error names what stands.
5. An embedder that is away delays vectors, never the append.
6. A chunk that meets another writer is repeated whole, from its first read on.

**To add** a field to what callers may give: read it in `core/ingest`, give `Observation` the field, and let
`as_item` of the export restore it. A second way into memory does not exist on purpose: files, runs of agents
and faces all come through here.
"""
