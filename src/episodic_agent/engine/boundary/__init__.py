"""Turn boundary decisions into episodes, explain them, and make them again.

`core/boundary` decides where experience is cut; this room loads an open frame, runs the machine over it and
writes what it concluded: the episode, its decision, the record of every check, and the jobs that follow.
Appends, flushes, the clock, late vectors and settled questions all come through the same `Segmenter`, so they
cannot disagree.

**What else lives here.** Closing by request (`flush`) or by the clock (`upkeep`); explaining an edge from
stored records alone; `whatif` (another policy over the recorded inputs, nothing written); `resegment` (the
whole thread again, as a new generation) and its undo; the trace of cues that a plot reads.

**Rules of the room.**
1. One writer a frame: the frame row is locked, read, moved on and written in one transaction.
2. A frame keeps the policy it began with, and changes it only at a cut.
3. Flushes and ticks are recorded with their time, because replay needs them (I7).
4. A closed episode never changes (I4). A resegmentation keeps episodes whose span is unchanged, retires the
   others and writes new ones; undo restores rows, it does not compute them again.
5. A question to a model is asked by a job, outside any transaction. A flush cannot wait: it takes the
   deterministic fallback.
6. A verdict must follow from its record (I6); `doctor` recomputes every one.

**To add** a policy or a cue, go to `core/boundary`; nothing here knows their names. To add a cause for
closing a frame, give it a `Reason`, feed the machine a `ManualCut` or a `Tick`, and let `recorded_drains`
find it again for replay.
"""
