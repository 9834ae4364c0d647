"""What an agent's steps tried, and how each try came out: which failed for good, and what made one right.

A later step is another try at the same when it does the same, is done with the thing the first was done with,
or does like it to something both name: "look on the table for the keys" failed, "look under the couch for the
keys" came right. A way round ("put the mugs into the sink instead") makes nothing right.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from episodic_agent.core.episodes.languages import content_terms
from episodic_agent.core.failing import outcome_of_step
from episodic_agent.core.ingest.steps import FAILURE, ONGOING, PARTIAL, SUCCESS
from episodic_agent.schemas import Json, Kind, Observation

_FEWEST: Final = 2  # words that a request shares with a step that does it
_REACH: Final = 64  # steps behind one among which another try at it is looked for
_LEAST: Final = 0.5  # share of what a step without objects names that another try at it names too


class Try(NamedTuple):
    """A step that says how it ended: its place among the observations, its outcome, and what made it right.

    `righted` is the place of the first later try that succeeded; None where none did, or nothing failed.
    """

    place: int
    outcome: str
    righted: int | None = None


def tries(observations: Sequence[Observation]) -> list[Try]:
    """Return the steps that say how they ended, in order."""
    ended = [
        (place, one, outcome)
        for place, one in enumerate(observations)
        if one.kind is Kind.STEP and (outcome := outcome_of_step(one))
    ]
    results: list[Try] = []
    for number, (place, step, outcome) in enumerate(ended):
        later = [
            after
            for after, other, ending in ended[number + 1 : number + _REACH]
            if outcome != SUCCESS and ending == SUCCESS and is_another_try(step, other)
        ]
        results.append(Try(place, outcome, later[0] if later else None))
    return results


def outcome_of_steps(observations: Sequence[Observation]) -> str:
    """Return how an episode of steps came out: as the last try of each task did; "" where no step says.

    What failed for good comes before what is to be gone on with, and that before what succeeded.
    """
    left = {one.outcome for one in tries(observations) if one.righted is None}
    righted = any(one.righted is not None for one in tries(observations))
    worst = next((outcome for outcome in (FAILURE, ONGOING, PARTIAL, SUCCESS) if outcome in left), "")
    return worst or (SUCCESS if righted else "")


def is_another_try(step: Observation, later: Observation) -> bool:
    """Tell whether a later step tries what one tried."""
    action, other = _action(step.extras), _action(later.extras)
    if action and action == other:
        return True
    first, *objects = *_objects(step.extras), ""
    if first and first in _objects(later.extras):
        return True
    verb, *named = *_terms(action), ""
    other_verb, *others = *_terms(other), ""
    shared = {*named} & {*others} - {""}
    if not shared:
        return False
    return verb == other_verb or (not objects and len(shared) >= _LEAST * len({*named} - {""}))


def is_task(request: str, step: Observation) -> bool:
    """Tell whether a step tries what a request asks for: most of what its action names stands there.

    >>> from datetime import UTC, datetime
    >>> from uuid import UUID
    >>> at, extras = datetime(2026, 1, 1, tzinfo=UTC), {"action": "cross the rug"}
    >>> step = Observation(UUID(int=1), UUID(int=2), 0, at, at, "agent", "…", extras=extras)
    >>> is_task("Please cross the kitchen rug", step), is_task("Vacuum the rug", step)
    (True, False)
    """
    named = _terms(_action(step.extras))
    shared = {*named} & {*_terms(request.casefold())}
    return len(shared) >= _FEWEST and len(shared) > _LEAST * len({*named})


def _action(extras: Mapping[str, Json]) -> str:
    action = extras.get("action")
    return " ".join(action.casefold().split()) if isinstance(action, str) else ""


def _objects(extras: Mapping[str, Json]) -> list[str]:
    objects = extras.get("objects")
    listed = objects if isinstance(objects, list | tuple) else [objects]
    return [one.strip().casefold() for one in listed if isinstance(one, str) and one.strip()]


@lru_cache(maxsize=1024)
def _terms(action: str) -> tuple[str, ...]:
    return tuple(content_terms(action, None))
