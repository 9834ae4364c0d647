"""What the next prompt is told of the past, as a text within a budget, every line with its source.

`telling.tell` writes the default form from what `relevance` weighed, `assemble` seed 002's form of threads
and questions, `retrieved` seed 003's Markdown of facts and episodes.

**Rules of the room.**
1. The documents' forms are kept to the letter in English; `frames.py` says the same in the language of the
   talk.
2. Only stored text is quoted, and nothing quoted can end its line, close its bracket or pass for a line of
   the form (`quoting.py`). Whatever shows memory to a model comes by here.
3. The budget is counted on the finished text; lines are taken greedily by likeness, recency, importance and
   against repetition, and none without the line that says what it is about.
4. Each line names thread, episode and observations.
5. What is uncertain is told as possible; what is not linked is marked so.
6. The same input gives the same text, in whatever order candidates come.

**To add** a kind of line, give it a form in every frame, a weight in the budget and a source; then write a
text that tries to break out of it into `tests/core/test_context.py`.
"""
