"""When to freeze the frame: theory of operation, and the rules of this room.

**The theory.** People do not remember a stream, they remember events. Event segmentation theory says
that we carry an *event model* (what is happening now), predict with it what comes next, and feel a
boundary where prediction fails: the topic moves, the place changes, hours pass. What lies between two
boundaries becomes one memory. A boundary in the wrong place is not cosmetic: an episode of one message
cannot be understood, one of three hundred cannot be recalled.

**The machine that asks.** `run(memory, inputs, policy)` feeds a policy its inputs one at a time and
returns a `Step`: new memory, cuts, records, and perhaps a `Question`. The machine never fetches
anything. Where a policy needs a language model it stops and asks; the engine asks the model whenever it
can, `settle` puts the verdict (or None, when none came) back in, and `run` goes on over the tail. So the
room stays pure, a slow model never holds up an append, and every question has an answer without a model.

**Three inputs, no more.** `Arrival` (an observation and its vector), `ManualCut` (flush, thread end)
and `Tick` (the clock). They are what is replayed: the same inputs give the same cuts, however they
were batched, wherever the process stopped. That is why a policy takes one input at a time, keeps all it
needs in one small immutable value, packs it to JSON without loss, and rounds its numbers *before* it
compares them. A stored record must recompute its verdict.

**Hindsight.** Some boundaries are seen only one or two messages later. A policy may decide late, by at
most `hindsight` observations: `Boundary.before_seq` says where the cut falls, `decided_at_seq` when it
was known. Only the open frame is judged again; what is closed stays closed.

**Edges.** With `KEEP_LAST` the observation that gave the boundary away opens the next episode ("by the
way, ..." belongs to what follows). With `DRAIN_ALL` everything taken in is closed: manual cuts, thread
ends, step caps. Cuts come in order and leave no gap: each episode begins where the one before it ended.

**The clock.** A silent thread may be closed without waiting for its next message only where the policy
would cut before *any* later one (`idle_after`). Otherwise the clock would make history depend on when
somebody looked.

**The whole thread at once.** With all of a thread known, nothing must be decided early: `whole_thread`
judges every gap and then chooses the best set of cuts together. Manual cuts, ticks and idle silences stay
where they are. What follows the last cut is the open frame again, and `continued` brings a policy to where
it must stand so that the next message finds it there.

**Rules of the room.**
1. No I/O, clock, environment, logging or randomness; no model, no store.
2. Cues are numbers in [0, 1], small pure functions with a doctest, each in its own file under `cues`.
3. A policy is a frozen dataclass with a dated name. A change that may move a cut is a new name; the old
   one stays, because frames and decisions refer to it. `seed-*` follow the source documents to the
   letter and are never improved.
4. An arrival without a vector is still an arrival: decide with what there is.
5. Every observation leaves a `Record`, cut or not. The last record of a seq counts (a question's is
   followed by its verdict's).

**To add a cue:** write the function, give it a name in the vector of cues, train again, register the
policy under a new date. **To add a policy:** implement `Policy` (contract.py), add it to the table in
policies.py; the machine's property tests then run over it.
"""
