"""Learn lasting statements from episodes, and let people see, correct and prove them.

**The jobs.** Without a language model a `facts` job of each message quotes what lasts, as it comes.
Episodes wait until three are encoded, or one that was very surprising; then a `facts` job takes some,
oldest first. With a language model it asks what would be expected and what was said beyond that; else it
quotes what was not read yet. Facts, what became of older ones, a decision for each episode and the mark
`consolidated_at` are written in one transaction.

**Rules of the room.**
1. A fact is a function of its evidence: a slot is told anew from all that was said about it. Order of
   arrival, repeated reading and batching change nothing.
2. Every statement names the observation and the words that prove it. A model's answer goes through the same
   door: it must quote what a person said.
3. What assistants, tools and devices say proves nothing about people.
4. A model that fails leaves the episodes pending; after hours, or with no budget, they are quoted (I8).
5. If two workers, or a person and a worker, change the same fact, the first commit wins and the other
   evaluates again.
6. What a person edited, pinned, confirmed or deleted outranks what is learned; a deleted fact leaves a
   tombstone without words.
7. Facts do not fade: they hold from `valid_at` until something ends them.

**To add** a kind of statement, teach the judges of `core/facts` with labelled examples. To add a verb, write
it against `FactRoom` and let it tell the slot anew.
"""
