"""Read what a message names (places, times, people, organisations, numbers, products) and what it is about.

Without a model: rules, capitals, the words around, and a lexicon that users can extend. Linking, facts,
metadata and search compare what comes out.

**Rules of the room.**
1. A text is cut into words once (`scan.py`). Times are read first, then names, then numbers; what one reading
   takes the next leaves, and mentions never overlap.
2. A mention has the text as written and a value that compares by `==`: folded names, digits with their unit,
   times as a few `name:what` parts.
3. A stretch of words is judged whole: each piece of evidence adds to one kind or several, the best wins if it
   is sure enough. Rather none than a wrong one.
4. No clock: what "tomorrow" is depends on the moment given, and without one it stays `day:+1`.
5. Any text can be read, in time linear in its length.

**To add** names, extend the lexicon (`Lexicon.extended`) or the word lists. To add evidence, add a line to
`judging.py` with its weight and score it with `benchmarks.entity_quality`; to add a kind, see `KINDS`.
"""
