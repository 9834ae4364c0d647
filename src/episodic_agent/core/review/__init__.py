"""Judge how recalled episodes served in the turns after, and what that does to their strength.

`uptake` grades without a language model; `strengthening` turns a grade into stability, difficulty and a clock
(FSRS-6, in `core/strength`).

**Rules of the room.**
1. Used is what an episode *brought*: words and runs of words that stood neither in the query nor in the talk
   before. Much of it is Good, some Hard.
2. Nothing taken up is no grade: silence proves nothing. Again needs an objection, of what was taken up or
   passed over for something else.
3. One grade an episode and day.
4. Again lowers the stability and leaves the clock, so that noise never ranks above its unreviewed twin;
   `seed-003` sets the clock, as its document says.
5. Days come in, state goes out; the tests compare with the `fsrs` package.

**To add** a sign of use, give `uptake.py` a number for it and examples both of use and of mere repetition.
"""
