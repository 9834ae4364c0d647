"""Give closed episodes their words, and list episodes and open frames as they stand.

**The job.** Each cut asks for an `encode` job. It runs in batches (one by one with a language model), asks
the model or extracts, and writes title, summary, metadata, search terms and vector as one version, together
with the end of the job; what is to be learned from the episode (facts, skills) is asked for then.

**Rules of the room.**
1. Everything is computed outside the transaction that writes. If the episode was replaced or erased
   meanwhile, nothing is written.
2. Words are versions: the newest counts and is searched, older ones stay, observations and strength are not
   touched (I4).
3. A model's title or summary that cannot be used costs only itself; the extractive words stand in, and the
   metadata say what became of the question (I8).
4. What a caller said of a session comes before what was read from messages.
5. A listing shows open frames beside episodes (I2), in an order that is the same on both stores; an id of a
   replaced episode leads to what stands in its place.
6. What is hidden is left out, or named with its reason where that was asked for; expired text is never shown.

**To add** something to an episode's words, put it into the metadata of the encoding: exports, filters and
erasure then take it along. A new listing reads marks first and texts only of what it shows.
"""
