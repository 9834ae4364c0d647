"""Keep what was done for a turn, and tell it as one tree: work, timings, decisions, model calls.

What language models cost, by day, stage and model, is counted here too, and a budget can refuse a call.

A *turn* is a user's message with everything up to the next one. While work runs, a `Tracer` records spans; a
row goes in with each append, and one with each job, for the observations it was for. Decisions are not
copied: they are looked up when somebody asks, so that they are told as they stand now.

**Rules of the room.**
1. A trace is never a reason to fail, and never a second source of truth: only timings and calls are kept.
2. Text is left out unless it is asked for; numbers, ids and codes always stand.
3. Rows are kept for some days (0: not at all), are not exported, and go when their thread is erased.
4. A row that covers several threads' work is shared out to the turns it was for.
5. A sink (OpenTelemetry, where configured) gets the same spans, without text.
6. The trace of a turn is not the boundary trace of a thread: that one shows cues over time, and belongs to
   `engine/boundary`.

**To add** a step to the tree, record a span around the work (`Tracer.appending`, or a handler wrapped by
`Tracer.handled`); to show a new type of decision, name which turn it was made at and put it into the node of
the work that made it.
"""
