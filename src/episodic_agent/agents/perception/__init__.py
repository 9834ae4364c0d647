"""From readings to steps: what changed since the last reading, and how a step is said.

A `World` is what was perceived so far; `perceive` takes one reading and returns the new world and the step
the memory takes in (seed 000: perception, location, entities, events).

**Rules of the room.**
1. Pure: a world is a value, a run can go on from any of them, a recording replays to the same steps.
2. A sensor that reports its own changes is believed. Beside that a change is derived only between two
   readings of the same stay: entering a room is no appearance of everything in it.
3. An event has a name made of stay and entity, so that what flickers in and out of sight counts once.
4. A sensor may lie: numbers that are none are dropped, numbers out of range clamped, forms that cannot be
   read refused by name.
5. Readings become JSON and come back without loss: that is what `--record` writes.

**To add** something a sensor can tell, give `Reading` the field with a default, read and write it in
`records.py`, and say in `changes.py` what of it becomes an event.
"""
