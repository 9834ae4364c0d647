"""Profiles: which detector, with which numbers, an agent runs under (seed 000, "Profile Parameters").

    UNITY_FULL_PROFILE = ProfileConfig(
        name="unity_full",
        boundary_detector="HysteresisBoundaryDetector",
        parameters={"boundary_high_threshold": 0.8, ...},
    )

`HysteresisBoundaryDetector` in a profile means its sound form, the default for steps; `--policy seed-000`
runs the document's to the letter with the same numbers. A detector of your own is named by its import path,
`mypackage.detectors:MyBoundaryDetector`.
"""

import difflib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote

from episodic_agent.core.boundary.policies import STEP, check_modality, for_modality, policy_names, written
from episodic_agent.core.boundary.steps.parameters import PREFIX
from episodic_agent.errors import InvalidInput

STUB_DETECTOR, HYSTERESIS_DETECTOR = "StubBoundaryDetector", "HysteresisBoundaryDetector"
_POLICY_OF: Final[Mapping[str, str]] = {STUB_DETECTOR: "stub", HYSTERESIS_DETECTOR: "steps"}
_FAMILY: Final[Mapping[str, str]] = {
    "stub": "stub", "steps": "steps", "steps-2027-02": "steps", "steps-2027-01": "steps",
    "steps-2026-12": "steps", "seed-000": "steps", "hysteresis": "steps",
}  # fmt: skip
_INTERVAL_OF: Final[Mapping[str, str]] = {"stub": "freeze_interval", "steps": "time_interval"}


@dataclass(frozen=True, slots=True)
class ProfileConfig:
    """A named way to run: a detector, its parameters, and the sensor where none is named.

    `boundary_detector` is one of seed 000's two, a policy's name, or the import path of your own
    (`module:Class`); `parameters` are numbers and texts and may carry the prefix `boundary_`.
    """

    name: str
    description: str = ""
    boundary_detector: str = HYSTERESIS_DETECTOR
    parameters: Mapping[str, Any] = field(default_factory=dict)
    sensor: str = "minigrid:"

    def policy(self, interval: int | None = None) -> str:
        """Return the name of the policy it means, parameters included; `interval` is `--freeze-interval`.

        >>> STUB_PROFILE.policy(30)
        'stub?freeze_interval=30'
        >>> UNITY_FULL_PROFILE.policy(100)
        'steps?high_threshold=0.8&low_threshold=0.3&time_interval=100'
        """
        base = _POLICY_OF.get(self.boundary_detector, self.boundary_detector)
        return self.named(base, interval)

    def named(self, policy: str, interval: int | None = None) -> str:
        """Return a policy's name with this profile's numbers, as far as it has none of its own.

        >>> UNITY_FULL_PROFILE.named("seed-000?time_interval=50")
        'seed-000?high_threshold=0.8&low_threshold=0.3&time_interval=50'
        """
        base, _, query = policy.partition("?")
        kind = _FAMILY.get(base, base)
        own_base = _POLICY_OF.get(self.boundary_detector, self.boundary_detector).partition("?")[0]
        asked: dict[str, str] = {}
        if _FAMILY.get(own_base, own_base) == kind:  # numbers of one detector say nothing to another
            asked = {key.removeprefix(PREFIX): self._parameter(key, base) for key in self.parameters}
        if interval is not None:
            if kind not in _INTERVAL_OF:
                raise InvalidInput(f"{base} has no interval; give its own parameters: {base}?name=value")
            asked[_INTERVAL_OF[kind]] = str(interval)
        for piece in filter(None, query.split("&")):
            key, equals, value = piece.partition("=")
            if not equals:
                raise InvalidInput(f"policy {base}: {piece!r} must be written parameter=value")
            asked[key.removeprefix(PREFIX)] = value
        written = "&".join(f"{key}={value}" for key, value in asked.items())
        return f"{base}?{written}" if written else base

    def _parameter(self, key: str, policy: str) -> str:
        """Write a parameter so that reading it gives the same value; InvalidInput where nothing can."""
        value = self.parameters[key]
        if ":" in policy:  # a detector of one's own reads JSON, and takes for a word what is none
            try:
                return quote(_as_json(value), safe=":/,. ")
            except (TypeError, ValueError) as error:
                raise InvalidInput(
                    f"profile {self.name}: {key} must be a number, a text or a list, not {value!r}"
                ) from error
        if isinstance(value, str | tuple) or (isinstance(value, int | float) and math.isfinite(value)):
            return written(_integral(value))
        raise InvalidInput(f"profile {self.name}: {key} must be a number or a text, not {value!r}")


def _integral(value: int | float | str | tuple[float, float]) -> int | float | str | tuple[float, float]:
    """Return a number that is whole as one: what counts steps takes no other."""
    return int(value) if isinstance(value, int | float) and value == int(value) else value


def _as_json(value: object) -> str:
    """Return a text as it is where it reads as nothing else, any other value as JSON.

    >>> _as_json("high"), _as_json("20"), _as_json(1_000_000), _as_json([1, 2])
    ('high', '"20"', '1000000', '[1, 2]')
    """
    if isinstance(value, str):
        try:
            json.loads(value)
        except ValueError:
            return value
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


STUB_PROFILE: Final = ProfileConfig(
    "stub", "freezes every N steps: for tests and development", STUB_DETECTOR, {"freeze_interval": 50}
)
UNITY_CHEAT_PROFILE: Final = ProfileConfig(
    "unity_cheat",
    "a Unity scene, freezing every N steps",
    STUB_DETECTOR,
    {"freeze_interval": 50},
    sensor="unity:",
)
UNITY_FULL_PROFILE: Final = ProfileConfig(
    "unity_full",
    "a Unity scene, cut by place, events, prediction error and time",
    HYSTERESIS_DETECTOR,
    {"boundary_high_threshold": 0.8, "boundary_low_threshold": 0.3, "boundary_time_interval": 100},
    sensor="unity:",
)
MINIGRID_PROFILE: Final = ProfileConfig(
    "minigrid", "an agent in the rooms of a MiniGrid world, driven by its planner"
)
CONVERSATION_PROFILE: Final = ProfileConfig(
    "conversation", "messages, not steps: what `add` and `import` use", "default", sensor=""
)
SHIPPED: Final = (
    STUB_PROFILE,
    UNITY_CHEAT_PROFILE,
    UNITY_FULL_PROFILE,
    MINIGRID_PROFILE,
    CONVERSATION_PROFILE,
)


def find_profile(name: str, known: Iterable[ProfileConfig] = SHIPPED) -> ProfileConfig:
    """Return a profile by its name; InvalidInput names the nearest.

    >>> find_profile("unity_full").boundary_detector
    'HysteresisBoundaryDetector'
    """
    by_name = {profile.name: profile for profile in known}
    if name in by_name:
        return by_name[name]
    near = difflib.get_close_matches(name, by_name, n=1, cutoff=0.4)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise InvalidInput(f"no profile {name!r}; {hint}known: {', '.join(sorted(by_name))}")


def known_policy(name: str) -> str:
    """Return a policy's name as steps read it; InvalidInput for one that is not there, or for messages.

    >>> known_policy("default"), known_policy("seed-000?time_interval=50")
    ('steps-2027-02', 'seed-000?time_interval=50')
    """
    base = name.partition("?")[0]
    if ":" not in base and base not in policy_names():
        raise InvalidInput(f"no policy {base!r}; known: {', '.join(policy_names())}")
    check_modality(name, STEP)
    return for_modality(name, STEP)
