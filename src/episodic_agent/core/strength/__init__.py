"""How strong a memory is, how it fades, and what a retention policy lets go.

`decay` is FSRS-6: a new episode begins as after a first "Good", stronger the more it surprised (seed 001,
"Surprise-Based FSRS Boost"); `retrievability` says what share is left after some days, for whole result lists
at once; `next_state` what a rating makes of stability and difficulty. `retention` reads rules
("age=365d,strength=0.2,count=10000") and says what they archive, erase or bring back. Who rates, and by what,
is `core/review`.

**Rules of the room.**
1. Days go in, state comes out; no clock. The tests compare with the `fsrs` package.
2. Stability (days) and difficulty (1 to 10) are stored, retrievability is computed. Elapsed time is never
   negative.
3. Strength is counted from event time at first: an old chat that is imported today does not arrive fresh.
4. Arrays and numbers give the same figures, however they are broadcast.
5. A policy archives first and erases after its grace period, never both in one pass; what today's rules no
   longer name comes back, and what is pinned or open is never touched.

**To add** a rule of retention, read it in `read_retention`, a reason in words, and its place among the
others. The arithmetic of FSRS is not ours to change.
"""
