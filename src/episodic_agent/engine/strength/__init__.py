"""Let memories grow stronger by use and weaker by time: FSRS-6, and the reviews that feed it.

A new episode begins with the stability of a first "Good", raised by its surprise (up to one half). From then
on its retrievability falls with the days since its last review; `core/strength` computes it for whole result
lists at once and never stores it.

**The job.** A search that names the thread that asks leaves a pending review. When that thread next closes an
event, a `review` job grades what was shown: a language model says Again, Hard, Good or Easy; without one, use
is measured by what the next messages take up.

**Rules of the room.**
1. Recall itself changes no strength and writes nothing in its own transaction.
2. Only what was shown is rated, once an episode and day. Absence of evidence is no rating.
3. Again needs a contradiction, or that another memory was used instead. Under the default policy it lowers
   stability and leaves the clock, so that noise does not rank above its unreviewed twin.
4. What merely repeats recalled text (an echo) is no use.
5. A review is a decision with the strength before and after; a concurrent one is refused by version and
   judged again.
6. Elapsed days go in, state comes out: no clock is read inside the arithmetic.

**To add** a sign of use, write it in `core/review` as a number in [0, 1] with examples of both kinds. The
arithmetic itself is checked against the `fsrs` package and is not changed.
"""
