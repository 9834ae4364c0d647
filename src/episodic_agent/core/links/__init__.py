"""Which earlier conversations a message belongs with: evidence, candidates, verdicts, outcomes.

Four steps, each pure. `candidates` chooses what is compared; `judge` turns message and threads into numbers
and, by a policy, into scores; `decide` joins a score with a language model's opinion; `compete` leaves the
best of those that would be linked. The default policy replaces the second step by `choice.choose`: shares of
one choice over all candidates and none, as a thread begins and when it is over. `outcome_of` reads from the
user's next turns whether it was right, which is what `core.tuning` learns from. Who answers what in a crowded
channel is judged by the evidence of one message.

**Rules of the room.**
1. Age is a number of the evidence, never a filter: a thread of a year ago can be meant.
2. Scores are raw; thresholds are asked of them (I5). What the message does not speak of is left out and the
   weights spread anew, so that "ok, thanks" never links.
3. A verdict keeps flat numbers from which it is computed again (I6); a policy's name says all it was made
   with.
4. One message goes on with one thing, unless it speaks of several. A loser names its rival.
5. Threads form an episode only where most links hold them together (`grouping.py`).
6. Phrases are closed classes of words, in several languages: a missing one weakens the evidence, a content
   word would fake it.

**To add** a number to a choice, compute it in `choice.py` and fit again with `tools/train_links.py`; to the
evidence of one message, in `evidence.py` with `tools/train_linking.py`. Register the policy under a new date
in `policies.py`. `seed-002` stays as it is.
"""
