"""Let links and chains learn from what came of them, a little, and only where the evidence is clear.

Decisions carry outcomes: read from the user's next turns, or told by hand. Every hundred decisions, or on
demand, a `tune` job reads the latest labelled ones, lets `core/tuning` look for a better threshold, better
weights and a line of guidance for the language model, and writes a decision of type `tune` whose record has
the form of seed 002, section 2.4.

**Rules of the room.**
1. The newest `tune` decision says everything that is in force. What came before is history, for `rollback`.
2. A change is adopted only if weighted accuracy improves, moves the threshold by at most .05 a run, and is
   taken back when the next labelled decisions are worse.
3. Silence labels nothing. What a person said weighs 1 and is never overwritten, behaviour weighs one half.
4. Scores of different policies are not compared: tuning begins anew for another one.
5. What was taken back by hand is not learned again from the same decisions.
6. Two processes that tune at once adopt a change once: the run's id follows from the run before.
7. Each user has their own; a dry run writes nothing.

**To add** something that learns, give its decisions outcomes, name a fixed subject for its runs, say which of
its policy's settings may move and how far, and hand the labelled decisions to `core/tuning`.
"""
