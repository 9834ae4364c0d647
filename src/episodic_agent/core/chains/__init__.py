"""Which earlier session a session goes on from, what a story it makes, and what each is about.

All of it is pure. `view_of` reads an episode, `decide` chooses its parent when it opens and when it closes,
`trees` walks what came of it, `metadata` and `filters` say what it is about and find it by that, and
`sequences` tells episodes in the order of time.

**Rules of the room.**
1. A session goes on from a *chain*, not from one session: the members share a score, the latest becomes the
   parent. A matter that comes up again after weeks looks like nothing its last session said.
2. Similarity is raw and calibrated, never a rank (I5); a feature without evidence is left out and the weights
   are spread anew.
3. A parent is closed, ended before the child began, has the same user and agent, declares no other project,
   is about something, and stands nowhere below the child. Every walk visits an episode once, whatever a
   store holds.
4. What a hand said (linked, refused) is never judged again.
5. A verdict keeps the numbers it came from; `follows` computes it again (I6).
6. What the records tell (participants, tools, key decisions) is never left to a model.

**To add** a number to the evidence, compute it in `evidence.py`, fit the weights again
(`benchmarks.chain_training`) and register the policy under a new date in `policies.py`.
"""
