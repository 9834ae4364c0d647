"""Profiles: which detector, with which numbers, an agent runs under (seed 000, "Profile parameters").

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
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from episodic_agent.core.boundary.policies import STEP, for_modality, policy_names
from episodic_agent.core.boundary.steps.parameters import PREFIX
from episodic_agent.errors import InvalidInput

STUB_DETECTOR, HYSTERESIS_DETECTOR = "StubBoundaryDetector", "HysteresisBoundaryDetector"
_POLICY_OF: Final[Mapping[str, str]] = {STUB_DETECTOR: "stub", HYSTERESIS_DETECTOR: "steps"}
_FAMILY: Final[Mapping[str, str]] = {
    "stub": "stub", "steps": "steps", "steps-2027-01": "steps", "steps-2026-12": "steps", "seed-000": "steps",
    "hysteresis": "steps",
}  # fmt: skip
_INTERVAL_OF: Final[Mapping[str, str]] = {"stub": "freeze_interval", "steps": "time_interval"}


@dataclass(frozen=True, slots=True)
class ProfileConfig:
    """A named way to run: a detector, its parameters, and the sensor where none is named.

    `boundary_detector` is one of seed 000's two, a policy's name, or the import path of your own
    (`module:Class`); `parameters` may carry the prefix `boundary_`.
    """

    name: str
    description: str = ""
    boundary_detector: str = HYSTERESIS_DETECTOR
    parameters: Mapping[str, float] = field(default_factory=dict)
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
            asked = {key.removeprefix(PREFIX): f"{value:g}" for key, value in self.parameters.items()}
        if interval is not None:
            if kind not in _INTERVAL_OF:
                raise InvalidInput(f"{base} has no interval; give its own parameters: {base}?name=value")
            asked[_INTERVAL_OF[kind]] = str(interval)
        given = dict(piece.split("=", 1) for piece in query.split("&") if "=" in piece)
        asked |= {key.removeprefix(PREFIX): value for key, value in given.items()}
        written = "&".join(f"{key}={value}" for key, value in asked.items())
        return f"{base}?{written}" if written else base


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
    """Return a policy's name as steps read it; InvalidInput for one that is neither named nor imported.

    >>> known_policy("default"), known_policy("seed-000?time_interval=50")
    ('steps-2027-01', 'seed-000?time_interval=50')
    """
    base = name.partition("?")[0]
    if ":" not in base and base not in policy_names():
        raise InvalidInput(f"no policy {base!r}; known: {', '.join(policy_names())}")
    return for_modality(name, STEP)
