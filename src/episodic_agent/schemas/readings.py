"""What an embodied agent's sensor reads, and the frame its detectors judge."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from episodic_agent.schemas.observations import Observation
from episodic_agent.schemas.values import Json


@dataclass(frozen=True, slots=True)
class Entity:
    """A thing a sensor perceives: its stable id, what it is called, and the state it is in."""

    id: str
    label: str
    category: str = ""
    state: str = ""
    visible: bool = True
    distance: float | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """What a sensor delivers for one step, before anything is concluded from it.

    `number` is the sensor's own count of its readings; `at` is None where the sensor has no clock;
    `place` is None where it cannot tell, `confidence` in [0, 1] says how sure it is. `changes` are events
    the sensor reports itself. `restarts` marks the first reading of a new world (an environment was reset):
    what came before is over. `outcome` is how the action ended, in words or as true or false, `reward` a
    finite number.
    """

    number: int
    at: datetime | None = None
    place: str | None = None
    confidence: float = 1.0
    entities: tuple[Entity, ...] = ()
    changes: tuple[Mapping[str, Json], ...] = ()
    action: str = ""
    text: str = ""
    prediction_error: float | None = None
    restarts: bool = False
    extras: Mapping[str, Json] = field(default_factory=dict)
    outcome: str | bool | None = None
    reward: float | None = None


@dataclass(slots=True)
class ActiveContextFrame:
    """The open end of a thread as seed 000 shows it to custom detectors; mutable on purpose."""

    acf_id: str = ""
    step_count: int = 0
    location_label: str = "unknown"
    location_confidence: float = 0.0
    entities: list[Mapping[str, Json]] = field(default_factory=list)
    events: list[Mapping[str, Json]] = field(default_factory=list)
    extras: dict[str, Json] = field(default_factory=dict)
    observations: list[Observation] = field(default_factory=list)
    event_model: str = ""
    detector_state: dict[str, Json] = field(default_factory=dict)
    version: int = 0
