"""Find the thread an observation belongs to, and let people handle threads and sessions.

`core/threads` decides by the rules of seed 002, section 1.2: a named thread is taken at its name, an implicit
channel goes on with the user's current thread until silence ends it. This room reads the threads those rules
look at, applies the result inside the append's own transaction, and offers the verbs: list, select, close,
rename, set a timeout; start and end a session.

**Rules of the room.**
1. Resolution happens in the transaction that stores the message, with the scope held: two first messages at
   once open one thread.
2. Time is event time. A late message goes to the thread whose span covers it, and moves no activity back.
3. Only what opens, reopens or arrives late leaves a decision (type `thread`); "it went on" follows from the
   times.
4. A thread that only its name leads to is joined by that name alone.
5. A session is a stretch of one thread, framed by `start_episode` and `end_episode`. It owns no observation;
   what its caller said of it is a decision of type `session`. Each verb is one transaction and may be
   retried.
6. The clock closes a silent thread together with its open frame, and decides nothing else.

**To add** a kind of channel, extend `Channels` in `core/threads`: settings and `set_timeout` follow. A rule
of resolution goes into `core/threads/resolution.py` with its place in the order; this room only feeds it.
"""
