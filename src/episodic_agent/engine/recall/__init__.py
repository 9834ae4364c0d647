"""Answer a question: read it, gather candidates, fuse their scores, show what proves each hit.

**How.** The query is parsed and embedded before anything is opened. One read transaction then gathers
candidates from four legs (words and vectors, each over observations and over episodes), the scores of their
neighbours, and the strength of their episodes. `core/recall` fuses, ranks and judges confidence. Texts are
read last, for the few that are shown. Recall by place (places, visits, routes) lives here too; listings are
in `engine/episodes`, replay in the order of time is in `engine/chains`.

**Rules of the room.**
1. Recall never writes. A recall that is to be judged later is queued after the answer, best effort.
2. What was acknowledged can be found: open frames are searched like episodes (I2).
3. Thresholds are asked of raw, calibrated scores; fused scores only order (I5).
4. What is hidden (suppressed, archived, expired) takes no place from what is shown.
5. "Nothing relevant" is an answer: below the threshold there are no hits, and the notes say why.
6. Ranking reads marks (numbers of some hundred candidates), never rows.
7. The same rows give the same order on both stores; ties go by id.

**To add** a leg: gather its candidates as a `_Leg` does, give it a weight in the fusion, fit the weights
again (`tools/`), and let `explain` name it. To add a filter: put it into `Filter`, and make it a set of
references before anything is ranked.
"""
