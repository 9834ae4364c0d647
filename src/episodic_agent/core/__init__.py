"""Decisions: everything the engine concludes, as pure functions of what they are given.

Each room answers one kind of question (where does an episode end, what goes on with what, what answers a
query) and has the same name as the room in `engine` that asks it.

**Rules of the ring.**
1. No I/O, no clock, no environment, no randomness, no logging: times, ids and chance are arguments. So the
   same observations give the same memory (I7), and `whatif`, replay and the doctor can ask again.
2. Values in, values out: frozen dataclasses, tuples, numpy arrays. What was given is never changed.
3. Numbers are rounded before they are compared, and kept with the verdict (I6).
4. A policy has a dated name. What may decide otherwise is another name; the old one stays, for stored
   decisions refer to it. `seed-*` follow the founding documents to the letter (docs/internals/seeds.md).
5. A model is never called here: what it is asked is in `prompts`, its answer is an argument, and there is an
   answer without it (I8).
6. Of this package it imports `schemas` and `errors` alone; the import linter holds it.

**To add** a decision, put it into the room of its question, as a function with a doctest, and let the
engine's room of that name call it.
"""
