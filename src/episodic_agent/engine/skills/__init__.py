"""Find patterns that served again and again, keep count of them, and let people use or forget them.

**The job.** Whoever encodes an episode notes it. A `skills` job takes what was noted together with the
episodes just before (a window of bounded cost), lets `core/skills` mine tool sequences and requests that were
answered alike, and writes skills, candidates and verdicts in one transaction. A language model, where there
is one, only names and words what was found.

**Rules of the room.**
1. A run costs the same however long the history is: candidates keep their counts between windows.
2. A pattern becomes a skill by seed 002's arithmetic, above .7 and never by a model's opinion.
3. One turn counts once, however many episodes show it; two patterns on the same turns are one.
4. Evidence is turns. When one of them is erased the skill goes, and the turns that are left are mined again.
5. What a user forgot stays forgotten: its pattern is kept without words, so that nothing brings it back.
6. Suppressed episodes, and steps of an agent, are not read.
7. Every verdict and every use is a decision; `doctor` recomputes confidence from them.

**To add** a kind of pattern, write a miner in `core/skills` that returns candidates with their turns;
counting, confidence, naming and erasure then apply to it. A new check of validation changes every confidence:
give it a new policy name.
"""
