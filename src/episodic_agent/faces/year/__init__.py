"""A year of an invented person's conversations, told to two memories: one that reviews, one that does not.

The demonstration that strength is worth something: how well each memory still finds what happened, by age;
which facts changed and when; what was suppressed. `story` writes the year, `living` lives through it,
`report` and `sections` tell what came of it.

**Rules of the room.**
1. The same seed gives the same conversations and the same questions.
2. The memories are real: the year goes through `add`, `search` and the clock like anybody's.
3. What is asked was said once, and the answer is known; no figure is made up.

**To add** a section, compute it from the two memories, write it for machines and for people, and say in words
what it shows.
"""
