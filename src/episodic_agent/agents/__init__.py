"""Everything for embodied agents: sensors, perception, profiles, and the run that joins them (seed 000).

**The loop.** A sensor delivers readings. `perceive` compares each with what was perceived so far and returns
the step the memory takes in: place, entities, events, prediction error. A run reads the sensor in a thread of
its own, adds the steps, reports each with a line, and closes the open frame when it ends. The boundary
detector stands where it does for every thread, in the transaction that keeps the steps.

**Rules of the room.**
1. Every sensor is real: recordings, standard input, Gymnasium and MiniGrid worlds, a Unity scene over
   WebSocket. What needs another package is imported by its own module alone.
2. A reading that makes no sense is counted, reported and skipped; a sensor with nothing else fails.
3. Perception is pure. A sensor that reports its own changes is believed; beside that, changes are derived
   only between readings of the same stay.
4. However a run ends (end, interrupt, failure) what was read is stored, and the frame closed as
   `end_of_stream`. A killed run leaves a note by which whoever comes next closes it.
5. A custom detector that raises cuts nothing at that step, is reported, and costs no step.
6. A recording of any sensor replays to the same episodes.

**To add** a sensor, implement `Sensor` (an iterator of `Reading`, `name`, `counts`, `close`) and give it a
name where sensors are made. To add a profile, write a `ProfileConfig`; installed packages may bring their
own. A detector of your own subclasses `BoundaryDetector`, and a profile names it as `module:Class`.
"""
