"""Where a thread was, and for how long: runs of observations at one place, each a *stay*.

A place is what its label says, whatever the case ("Kitchen", " kitchen"). An observation that does not know
its place neither ends a stay nor counts in it: the stay goes on when the same place comes again.
"""

from collections.abc import Iterable, Iterator

from episodic_agent.schemas import Observation
from episodic_agent.schemas.places import Visit, place_key


def visits_of(number: int, observations: Iterable[Observation]) -> list[Visit]:
    """Return the stays of observations in order, all of the thread that has this number.

    >>> from datetime import UTC, datetime
    >>> from uuid import UUID
    >>> at = datetime(2026, 1, 1, tzinfo=UTC)
    >>> places = ["Hall", None, "hall ", "unknown", "den"]
    >>> walk = [Observation(UUID(int=n), UUID(int=9), n, at, at, "agent", "…", location=p)
    ...     for n, p in enumerate(places)]
    >>> [(s.first_ref, s.last_ref, s.label, s.steps) for s in visits_of(0, walk)]
    [(0, 2, 'Hall', 2), (4, 4, 'den', 1)]
    """
    return list(joined(_each(number, observations)))


def _each(number: int, observations: Iterable[Observation]) -> Iterator[Visit]:
    for observation in observations:
        if observation.location is not None and place_key(observation.location):
            ref = (number << 32) | observation.seq  # as `interfaces.ref_of`, which stands above
            yield Visit(ref, ref, observation.location.strip(), observation.at, observation.at, 1)


def joined(visits: Iterable[Visit]) -> Iterator[Visit]:
    """Join neighbours in one thread that are one stay, of pieces in order of their references."""
    last: Visit | None = None
    for visit in visits:
        if last is not None and (last.thread, last.place) == (visit.thread, visit.place):
            last = last._replace(
                last_ref=visit.last_ref,
                start_at=min(last.start_at, visit.start_at),
                end_at=max(last.end_at, visit.end_at),
                steps=last.steps + visit.steps,
            )
            continue
        if last is not None:
            yield last
        last = visit
    if last is not None:
        yield last
