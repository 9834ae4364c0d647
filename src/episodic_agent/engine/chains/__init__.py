"""Join sessions into chains: which earlier session one goes on from, its arc, and stories in order.

**Twice decided.** When a session is opened with a topic, `core/chains` proposes a parent from closed
sessions; when it closes and has its words, a `chain` job confirms, drops or replaces it. A parent the caller
names stands in place of both. Chains are read upwards (root first), as whole arcs with branches, and as
sequences of episodes about a topic, told in seed 004's form.

**Rules of the room.**
1. One parent each. A parent that is unknown, open, the episode itself, below it or later than it is refused.
2. Scores are raw, calibrated similarities, never ranks (I5); every verdict is a decision (I6).
3. What was linked by hand, by the caller or by a roll is never judged again; a link taken back is a refusal
   that no job overrides.
4. Everything is read in one transaction, judged outside of any and written in one more.
5. A walk never trusts the data: each episode is visited once, whatever circles there are.
6. Erasing an episode hands its children down to its own parent.
7. Sequences select first (most relevant, or newest) and sort by time afterwards.

**To add** a policy, implement it in `core/chains/policies.py` under a dated name. To add a field of metadata,
extract it in `core/chains/metadata.py`: filters, the inverted table and exports carry it without more.
"""
