"""Which thread an observation belongs to, when silence ends one, and the turns it is made of (seed 002,
section 1.2).

A `Resolver` is given the user's threads and takes arrivals one by one; each answer says which thread, whether
it opens, closes or reopens one, and why. `idle` says what the clock may close. `turns` cuts a talk into a
user's messages with everything up to the next.

**Rules of the room.**
1. The order of the rules stands at the top of `resolution.py`, and the first that applies wins.
2. Time is event time. Activity never moves back; a late message goes where its span lies.
3. A silence must be *longer* than the timeout: 30:00 goes on, 30:01 opens a thread.
4. The nearest timeout wins: thread, user on the channel, user, channel, 30 minutes.
5. A reply extends a thread and never opens one. A name given by the caller is always taken at its word.
6. One by one or in a list gives the same threads; a sweep in between changes no membership.

**To add** a rule, give it a place in that order, a reason in words and numbers, and a scenario in
`tests/scenarios`; the random programs of `tests/core/test_threads.py` must still agree.
"""
