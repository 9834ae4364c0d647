"""From readings to steps: what changed since the last reading, and how a step is said.

Pure. A `World` is what was perceived so far; `perceive` takes one reading and returns the new world and the
step the memory takes in (`boundaries.md` B5: perception, location, entities, events).
"""

from episodic_agent.core.perception.changes import World, perceive
from episodic_agent.core.perception.records import reading_as_json, reading_from_json

__all__ = ["World", "perceive", "reading_as_json", "reading_from_json"]
