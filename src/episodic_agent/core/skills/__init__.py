"""Find patterns that served again and again, and say how sure one may be of them (seed 002, section 5.3).

`mine` looks through courses of actions and requests for what recurs: tool calls or an agent's steps in the
same order, and requests answered alike. `changes` joins that with what is known from earlier windows;
`confidence` holds the arithmetic.

**Rules of the room.**
1. Deterministic and of bounded cost; no model. One may word a skill afterwards, and changes nothing counted.
2. Eight checks decide with the count: a skill is created above .7, which takes fifteen occurrences at the
   least.
3. A turn counts once, however many episodes show it; patterns on the same turns are one, the surer stands.
4. What is not sure enough stays a candidate with its turns; its count goes on in the next window.
5. What was forgotten is kept without words, so that neither its pattern nor its turns bring it back.
6. A verdict is recomputed from its record (I6).

**To add** a kind of pattern, return it from `mining.py` with its turns and steps; the checks then apply to
it. A check is a number in [0, 1]; adding one changes every confidence, so it needs new vectors in the tests.
"""
