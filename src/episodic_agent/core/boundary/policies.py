"""The policies by name: the one table that turns a name on a frame or a command line into a policy."""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any, Final, TypeAlias
from urllib.parse import quote, unquote

from episodic_agent.core.boundary.contract import Policy
from episodic_agent.core.boundary.default import NEIGHBOURS, DefaultPolicy
from episodic_agent.core.boundary.dual_channel import DualChannelPolicy
from episodic_agent.core.boundary.steps.default import StepsPolicy
from episodic_agent.core.boundary.steps.learned import LearnedStepsPolicy
from episodic_agent.core.boundary.steps.letter import HysteresisPolicy, StubPolicy
from episodic_agent.core.boundary.steps.parameters import PREFIX
from episodic_agent.core.calibration import Calibration
from episodic_agent.errors import InvalidInput

Pair: TypeAlias = tuple[float, float]
Parameter: TypeAlias = int | float | str | Pair
Override: TypeAlias = int | float | str | Pair

# Each policy has its own kind of memory; only the policy itself looks inside, hence Any.
_POLICIES: Final[Mapping[str, Callable[..., Policy[Any]]]] = {
    "default-2026-12": DefaultPolicy,
    "seed-001": DualChannelPolicy,
    "steps-2027-01": LearnedStepsPolicy,
    "steps-2026-12": StepsPolicy,
    "seed-000": HysteresisPolicy,
    "stub": StubPolicy,
}
MEASURED: Final = "minilm"  # the family of embedder names whose cosines `NEIGHBOURS` was measured on
_ALIASES: Final[Mapping[str, str]] = {
    "default": "default-2026-12",
    "dual-channel": "seed-001",
    "steps": "steps-2027-01",
    "hysteresis": "seed-000",
}
DEFAULT: Final = "default"
STEP: Final = "step"  # the modality of a thread that begins with an agent's step
_DEFAULT_STEPS: Final = "steps-2027-01"


def policy_names() -> list[str]:
    """Return every name `policy` accepts, aliases included, sorted.

    >>> "dual-channel" in policy_names()
    True
    """
    return sorted([*_POLICIES, *_ALIASES])


def policy(name: str, **overrides: Override) -> Policy[Any]:
    """Return a policy by name, with parameters of your own; `default` is the one for conversations.

    A name may carry them too, as the names stored on frames do: `seed-001?max_messages=30`. Raises
    InvalidInput for an unknown name or parameter, naming the nearest known one.

    >>> policy("dual-channel").name
    'seed-001'
    >>> policy("seed-001", max_messages=30).name == policy("seed-001?max_messages=30").name
    True
    """
    base, _, query = name.strip().partition("?")
    known = _ALIASES.get(base, base)
    if known not in _POLICIES:
        raise InvalidInput(f"unknown boundary policy {base!r}{_nearest(base, policy_names())}")
    factory = _POLICIES[known]
    parameters = _parameters(factory)
    given = _typed(parameters, _parse(query, known) | overrides, known)
    changed = {key: given[key] for key in parameters if given.get(key, parameters[key]) != parameters[key]}
    if not changed:
        return factory()
    # a frame stores only the name: it must say everything the policy was made with (I7)
    own = "&".join(f"{key}={_written(value)}" for key, value in changed.items())
    return factory(**changed, name=f"{known}?{own}")


def for_modality(name: str, modality: str) -> str:
    """Return the name under which `policy` finds what `default` means for a thread's modality.

    Any other name stays as it is: who asks for a policy gets that one.

    >>> for_modality("default", "step"), for_modality("default", "message"), for_modality("seed-000", "step")
    ('steps-2027-01', 'default', 'seed-000')
    """
    base, query, parameters = name.strip().partition("?")
    return _DEFAULT_STEPS + query + parameters if modality == STEP and base == DEFAULT else name


def for_embedder(chosen: Policy[Any], embedder: str) -> Policy[Any]:
    """Return the policy as it reads the cosines of an embedder, named as vectors name it.

    The table of the default policy belongs to one embedder, and what a calibration fitted to another; with
    any other the policy learns each thread's own scale. So name and embedder together say everything.

    >>> for_embedder(DefaultPolicy(), "hashing-256").scale is None
    True
    >>> for_embedder(DefaultPolicy(), "minilm-f32-1") == DefaultPolicy()
    True
    >>> fitted = policy("default", scale=(0.5, 0.1), embedder="mine")
    >>> for_embedder(fitted, "mine").scale, for_embedder(fitted, "yours").scale
    ((0.5, 0.1), None)
    """
    if not isinstance(chosen, DefaultPolicy) or chosen.embedder == embedder:
        return chosen
    measured = embedder.startswith(MEASURED)
    if chosen.embedder:
        return replace(chosen, scale=NEIGHBOURS if measured else None, vectors=1)
    by_hand = chosen.scale != NEIGHBOURS or measured
    return chosen if by_hand else replace(chosen, scale=None)


def calibrated(name: str, calibration: Calibration, **overrides: Override) -> Policy[Any]:
    """Return a policy by name with what a calibration fitted, where its name leaves that open.

    A name without a date means the best there is; a dated name, as frames store them, is taken to the letter.

    >>> fitted = Calibration("mine", 0.7, (0.5, 0.1), ((0.0, 0.0), (1.0, 1.0)))
    >>> calibrated("default", fitted).name
    'default-2026-12?scale=0.5,0.1&embedder=mine'
    >>> calibrated("default-2026-12", fitted).name
    'default-2026-12'
    """
    chosen = policy(name, **overrides)
    if name.strip().partition("?")[0] not in _ALIASES or not isinstance(chosen, DefaultPolicy):
        return chosen
    if chosen.embedder or chosen.scale != NEIGHBOURS or not chosen.vectors:
        return chosen
    fitted: dict[str, Override] = {"embedder": calibration.embedder}
    if calibration.scale is None:
        fitted["vectors"] = 0
    else:
        fitted["scale"] = calibration.scale
    if calibration.threshold is not None and chosen.threshold == DefaultPolicy().threshold:
        fitted["threshold"] = calibration.threshold
    return policy(name, **(overrides | fitted))


def asking(chosen: Policy[Any]) -> Policy[Any]:
    """Return a policy as it is where a language model answers: the same one, of the same name.

    A name says what becomes of messages and answers. Whether anybody answers is no part of it, just as for
    `seed-001`: a question nobody answers is decided as if it had not been asked.

    >>> asking(policy("default")).name == policy("default").name
    True
    """
    return replace(chosen, asks=True) if isinstance(chosen, DefaultPolicy) and chosen.band else chosen


def _parse(query: str, name: str) -> dict[str, Override]:
    found: dict[str, Override] = {}
    for piece in filter(None, query.split("&")):
        key, equals, value = piece.partition("=")
        if not equals:
            raise InvalidInput(f"policy {name}: {piece!r} must be written parameter=value")
        found[key.strip()] = unquote(value.strip())
    return found


def _parameters(factory: Callable[..., Policy[Any]]) -> dict[str, Parameter]:
    """Return what a policy is built with and the defaults, in the order of its fields; its name is none."""
    found: Mapping[str, Any] = {f.name: f.default for f in fields(factory) if f.init and f.name != "name"}  # type: ignore[arg-type]
    return {k: v for k, v in found.items() if type(v) in _WANTED}


def _typed(
    parameters: Mapping[str, Parameter], given: Mapping[str, Override], name: str
) -> dict[str, Parameter]:
    """Check the parameters' names and bring each value to the type of its default."""
    typed: dict[str, Parameter] = {}
    for written, value in given.items():
        key = written if written in parameters else written.removeprefix(PREFIX)  # as seed 000's profiles do
        if key not in parameters:
            raise InvalidInput(
                f"policy {name} has no parameter {written!r}{_nearest(key, sorted(parameters))}"
            )
        if key in typed:
            raise InvalidInput(f"policy {name}: {key} is given twice, with and without {PREFIX!r}")
        try:
            typed[key] = _read(value, parameters[key])
        except (ValueError, TypeError) as error:
            wanted = _WANTED[type(parameters[key])]
            raise InvalidInput(f"policy {name}: {key} must be {wanted}, not {value!r}") from error
    return typed


_WANTED: Final[Mapping[type, str]] = {
    int: "a whole number", float: "a number", tuple: "two numbers with a comma between", str: "a word",
}  # fmt: skip


def _read(value: Override, like: Parameter) -> Parameter:
    """Read one parameter as the kind its default is; ValueError or TypeError when it cannot be."""
    if isinstance(like, tuple):
        first, second = value.split(",") if isinstance(value, str) else value  # type: ignore[misc]
        return float(first), float(second)
    return type(like)(value)  # type: ignore[arg-type]


def _written(value: Parameter) -> str:
    """Write a parameter as a name carries it.

    >>> _written(0.4), _written((0.5, 0.1)), _written("openai:m?dimensions=8")
    ('0.4', '0.5,0.1', 'openai:m%3Fdimensions%3D8')
    """
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return quote(str(value), safe=":/ ") if isinstance(value, str) else str(value)


def _nearest(word: str, known: list[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.4)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return f"{hint}; known: {', '.join(known)}"
