"""Where readings come from: recordings, standard input, simulated worlds, a Unity scene.

Each module is one kind of sensor behind `protocols.Sensor`. What needs another package (`gymnasium`,
`minigrid`, `websockets`) is imported by that module alone.

**Rules of the room.**
1. A sensor yields a `Reading` a step until the stream ends, and concludes nothing: that is `perception`.
2. What makes no sense is counted, told while it is new, and skipped; a stream of nothing else is an error.
3. A number that comes twice is skipped, one that jumps or goes back is counted.
4. `close` ends a reader that waits, from another thread.
5. Chance has a seed: the same world and seed give the same readings. Nothing sleeps but `pacing`.

**To add** one, write an iterator with `name`, `counts` and `close`, give it a name where sensors are made,
and record a stretch of it: the recording must replay to the same episodes.
"""
