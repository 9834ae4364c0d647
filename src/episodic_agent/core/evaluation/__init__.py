"""Compute figures for boundaries, recall, threads and lives: pure functions of labels and answers.

**Rules of the room.**
1. The definitions are those of the published tables, by name of their paper; where two protocols are in print
   both are computed (`nltk` and `segeval` for boundaries).
2. What cannot be scored is refused or scored as the reference package does, and the docstring says which.
3. A figure never flatters: a dialogue without labelled boundaries counts F1 0 in the headline, a question
   whose evidence is not found stays in the denominator.
4. Reports are valid JSON: no NaN, no infinity, counts beside shares.
5. Nothing here reads files or runs an engine; `engine/evaluate` does, and `benchmarks` calls that
   and says how sure a figure is (`benchmarks/uncertainty.py`).

**To add** a figure, check it against a reference package in a test, and put it into the report of its task.
"""
