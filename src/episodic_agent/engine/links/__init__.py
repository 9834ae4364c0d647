"""Link a new thread to the earlier ones it goes on with, and show what linked threads form.

**The job.** The first message of a thread asks for a `link` job in its own transaction. The job reads
candidates (active lately, named by a recall cue, found by search) and their features, lets `core/links` score
them while a language model, if there is one, judges the best three at the same time, and writes decisions,
links and cross-thread episodes in one transaction.

**The end.** Where a thread ends a `link_end` job (`ending.py`) judges it again by all that was
said in it, if the policy chooses: it adds what was missed and takes back what the algorithm alone had linked
wrongly.

**Effect.** Which threads a cross-thread episode holds follows from the live links alone. So linking,
unlinking and merging are one rule, and `doctor` can check it. Outcomes are read from the user's next two
turns; what they teach is `engine/tuning`.

**Rules of the room.**
1. Everything goes by event time: an imported year is linked as it would have been then.
2. The algorithm decides alone where the model is absent, slow, invalid or too dear; the decision says so
   (I8).
3. Every verdict keeps its numbers, and is recomputed from them (I6).
4. A link that was taken back stays as a tombstone. Only a person links the two again.
5. What a person linked or labelled, no job changes.
6. A cross-thread episode owns no observations (I3), and no thread is in two.

**To add** a number to the evidence: compute it in `core/links`, fit the weights again with
`tools/train_links.py`, and register the policy under a new dated name. To add a source of candidates,
extend `candidates.py`; every candidate is judged by the same evidence.
"""
