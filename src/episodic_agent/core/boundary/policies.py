"""The policies by name: the one table that turns a name on a frame or a command line into a policy."""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any, Final, TypeAlias

from episodic_agent.core.boundary.contract import Policy
from episodic_agent.core.boundary.default import DefaultPolicy
from episodic_agent.core.boundary.dual_channel import DualChannelPolicy
from episodic_agent.errors import InvalidInput

Override: TypeAlias = int | float | str

# Each policy has its own kind of memory; only the policy itself looks inside, hence Any.
_POLICIES: Final[Mapping[str, Callable[..., Policy[Any]]]] = {
    "default-2026-12": DefaultPolicy,
    "seed-001": DualChannelPolicy,
}
MEASURED: Final = "minilm"  # the family of embedder names whose cosines `NEIGHBOURS` was measured on
_ALIASES: Final[Mapping[str, str]] = {"default": "default-2026-12", "dual-channel": "seed-001"}


def policy_names() -> list[str]:
    """Return every name `policy` accepts, aliases included, sorted.

    >>> "dual-channel" in policy_names()
    True
    """
    return sorted([*_POLICIES, *_ALIASES])


def policy(name: str, **overrides: Override) -> Policy[Any]:
    """Return a conversation policy by name, with parameters of your own.

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
    own = "&".join(f"{key}={value}" for key, value in changed.items())
    return factory(**changed, name=f"{known}?{own}")


def for_embedder(chosen: Policy[Any], embedder: str) -> Policy[Any]:
    """Return the policy as it reads the cosines of an embedder, named as vectors name it.

    The table of the default policy belongs to one embedder; with another it learns each thread's own scale.

    >>> for_embedder(DefaultPolicy(), "hashing-256").scale is None
    True
    >>> for_embedder(DefaultPolicy(), "minilm-f32-1") == DefaultPolicy()
    True
    """
    if isinstance(chosen, DefaultPolicy) and not embedder.startswith(MEASURED):
        return replace(chosen, scale=None)
    return chosen


def _parse(query: str, name: str) -> dict[str, Override]:
    found: dict[str, Override] = {}
    for piece in filter(None, query.split("&")):
        key, equals, value = piece.partition("=")
        if not equals:
            raise InvalidInput(f"policy {name}: {piece!r} must be written parameter=value")
        found[key.strip()] = value.strip()
    return found


def _parameters(factory: Callable[..., Policy[Any]]) -> dict[str, int | float]:
    """Return the numbers a policy is built with and their defaults, in the order of its fields."""
    found = {f.name: f.default for f in fields(factory) if f.init}  # type: ignore[arg-type]
    return {k: v for k, v in found.items() if isinstance(v, int | float) and not isinstance(v, bool)}


def _typed(
    parameters: Mapping[str, int | float], given: Mapping[str, Override], name: str
) -> dict[str, int | float]:
    """Check the parameters' names and bring each value to the type of its default."""
    typed: dict[str, int | float] = {}
    for key, value in given.items():
        if key not in parameters:
            raise InvalidInput(f"policy {name} has no parameter {key!r}{_nearest(key, sorted(parameters))}")
        kind = int if isinstance(parameters[key], int) else float
        try:
            typed[key] = kind(value)
        except ValueError as error:
            wanted = "a whole number" if kind is int else "a number"
            raise InvalidInput(f"policy {name}: {key} must be {wanted}, not {value!r}") from error
    return typed


def _nearest(word: str, known: list[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.4)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return f"{hint}; known: {', '.join(known)}"
