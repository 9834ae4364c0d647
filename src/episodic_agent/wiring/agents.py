"""The agents' door: the only file that names concrete sensors, and finds profiles and detectors by name."""

import difflib
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from time import monotonic
from time import sleep as sleep_for
from typing import Any, Final
from urllib.parse import unquote

from episodic_agent.agents.profiles import SHIPPED, ProfileConfig
from episodic_agent.agents.profiles import find_profile as profile_named
from episodic_agent.agents.sensors.counting import PacedSensor, Say
from episodic_agent.agents.sensors.lines import RecordedSensor, ReplaySensor, StandardInputSensor
from episodic_agent.core.boundary.contract import Policy
from episodic_agent.core.boundary.steps.custom import adapt
from episodic_agent.errors import InvalidInput, install_extra
from episodic_agent.protocols import BoundaryDetector, Sensor

PROFILES: Final = "episodic_agent.agents.profiles"  # the entry points under which packages bring their own
SENSORS: Final[Mapping[str, str]] = {
    "replay": "replay:FILE             a recording (`--record FILE`) or a Unity scene's frames, .gz too",
    "minigrid": "minigrid[:ENV]          rooms, doors and keys, played by their planning bot",
    "gymnasium": "gymnasium:ENV           any Gymnasium environment, seeded random actions",
    "unity": "unity[:ws://HOST:PORT]  a Unity scene over WebSocket (default ws://localhost:8765)",
    "stdin": "stdin:                  readings or frames as JSON lines on standard input",
}
LIVE: Final = ("unity", "stdin")  # sensors that nobody here could slow down


def detector_policy(name: str) -> Policy[Any]:
    """Return the policy of a detector by its import path, `module:Class?parameter=value`.

    Raises InvalidInput, with the cause, for one that is not there, is no detector or cannot be built.
    """
    path, _, query = name.partition("?")
    value = imported(path, "a detector")
    if not (isinstance(value, type) and issubclass(value, BoundaryDetector)):
        raise InvalidInput(f"{path} is no detector; it must be a class that extends BoundaryDetector")
    arguments: dict[str, object] = {}
    for piece in filter(None, query.split("&")):
        key, equals, text = piece.partition("=")
        if not equals:
            raise InvalidInput(f"detector {path}: {piece!r} must be written parameter=value")
        arguments[key] = _value(text)
    make = partial(value, **arguments)
    try:
        make()
    except (Exception, SystemExit) as error:
        raise InvalidInput(f"detector {path} cannot be built: {type(error).__name__}: {error}") from error
    return adapt(make, name)


def _value(text: str) -> object:
    """Read a parameter as JSON where it is (numbers, true), else as a word."""
    with suppress(ValueError):
        return json.loads(unquote(text))
    return unquote(text)


def imported(path: str, what: str) -> object:
    """Return what `module:NAME` names; InvalidInput says what is missing."""
    module, _, attribute = path.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidInput(f"no {path}: {error}; {what} of your own is named module:NAME") from error
    except (Exception, SystemExit) as error:
        raise InvalidInput(f"{path} cannot be imported: {type(error).__name__}: {error}") from error


def all_profiles() -> list[ProfileConfig]:
    """Return the shipped profiles and those that installed packages bring."""
    results = [one.load() for one in entry_points(group=PROFILES)]
    return [*SHIPPED, *(one for one in results if isinstance(one, ProfileConfig))]


def find_profile(name: str) -> ProfileConfig:
    """Return a profile by name, or by the import path `module:NAME`; InvalidInput names the nearest."""
    if ":" not in name:
        return profile_named(name, all_profiles())
    value = imported(name, "a profile")
    if not isinstance(value, ProfileConfig):
        raise InvalidInput(f"{name} is no ProfileConfig")
    return value


def make_sensor(name: str, *, seed: int = 0, say: Say | None = None, fps: float | None = None) -> Sensor:
    """Build the sensor a name stands for (`episodic sensors` lists them).

    With `fps`, simulated worlds and recordings give at most so many readings a second; what is live has a
    pace of its own. Raises InvalidInput for an unknown name or a missing package, SensorError where nothing
    answers.
    """
    kind, _, rest = name.partition(":")
    made = _sensor(kind, rest, name, seed=seed, say=say)
    return made if fps is None or kind in LIVE else paced(made, fps)


def paced(
    sensor: Sensor,
    fps: float,
    *,
    clock: Callable[[], float] = monotonic,
    sleep: Callable[[float], object] = sleep_for,
) -> Sensor:
    """Return a sensor that gives at most `fps` readings a second."""
    return PacedSensor(sensor, fps, clock=clock, sleep=sleep)


def _sensor(kind: str, rest: str, name: str, *, seed: int, say: Say | None) -> Sensor:
    if kind == "replay" and rest:
        return ReplaySensor(Path(rest).expanduser(), say)
    if kind == "stdin":
        return StandardInputSensor(say=say)
    if kind == "unity":
        unity = _extra("unity", "websockets", "a Unity scene")
        made: Sensor = unity.UnitySensor(rest or unity.DEFAULT_URL, say)
        return made
    if kind in ("minigrid", "gymnasium") and (rest or kind == "minigrid"):
        return _world(kind, rest, seed, say)
    if kind in SENSORS:
        raise InvalidInput(f"sensor {kind} needs to know which: {SENSORS[kind].split()[0]}")
    near = difflib.get_close_matches(kind, SENSORS, n=1, cutoff=0.4)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise InvalidInput(f"no sensor {name!r}; {hint}known: {', '.join(SENSORS)}")


def _world(kind: str, env_id: str, seed: int, say: Say | None) -> Sensor:
    """Build a simulated world; MiniGrid's own are read as rooms and things by whichever name."""
    minigrid = kind == "minigrid" or env_id.startswith(("MiniGrid-", "BabyAI-"))
    module = _extra("minigrid" if minigrid else "gymnasium", "minigrid", f"sensor {kind}")
    if not minigrid:
        made: Sensor = module.GymnasiumSensor(env_id, seed=seed, say=say)
    else:
        made = module.MiniGridSensor(env_id or module.DEFAULT_LEVEL, seed=seed, say=say)
    return made


def _extra(sensor: str, package: str, what: str) -> Any:
    """Import a sensor whose package is an extra."""
    extra = "unity" if sensor == "unity" else "minigrid"
    try:
        return import_module(f"episodic_agent.agents.sensors.{sensor}")
    except ImportError as error:
        if (error.name or "").startswith("episodic_agent"):
            raise
        raise InvalidInput(f"{what} needs {error.name or package}; {install_extra(extra)}") from error


def recorded(sensor: Sensor, path: Path) -> Sensor:
    """Return a sensor whose readings are written to a file as they pass."""
    return RecordedSensor(sensor, path)
