"""Observations by the ids their callers gave: a platform knows its own number of a message, not ours."""

from collections.abc import Iterator
from typing import Final
from uuid import UUID

from episodic_agent.core.identity import UNNAMED_SOURCE, observation_id
from episodic_agent.engine.arguments import clean_name
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.protocols import Transaction
from episodic_agent.schemas import Observation
from episodic_agent.showing import clipped

NAMED: Final = 5  # messages an error tells apart
QUOTED: Final = 40  # characters of each


def own_id(named: object) -> UUID | None:
    """Read an id as this memory gives it; None for what is none.

    >>> own_id("d8") is None, own_id("01890000-0000-7000-8000-000000000000")
    (True, UUID('01890000-0000-7000-8000-000000000000'))
    """
    try:
        return named if isinstance(named, UUID) else UUID(str(named))
    except ValueError:
        return None


def find_by_id(tx: Transaction, named: "UUID | str", inside: frozenset[UUID] | None = None) -> Observation:
    """Return the observation (of some threads) of an id, ours or its caller's.

    Raises NotFound for one that is not there or erased, InvalidInput for a caller's id that several have.
    """
    identity = own_id(named)
    observation = None if identity is None else tx.observations.get([identity]).get(identity)
    if observation is not None and (inside is None or observation.thread_id in inside):
        return observation
    called = (clean_name(named) or "").strip()
    most = NAMED + 1 if inside is None else None
    refs = tx.observations.having("external_id", [called], limit=most)
    named_so = tx.observations.get(refs).values()
    having = [one for one in named_so if inside is None or one.thread_id in inside]
    if len(having) == 1:
        return having[0]
    if having:
        named_each = "; ".join(f"{one.id} ({clipped(one.text, QUOTED)!r})" for one in having[:NAMED])
        more = "; …" if len(having) > NAMED else ""
        raise InvalidInput(
            f"several messages have the id {called!r}, each from another source; "
            f"say which by its own id: {named_each}{more}"
        )
    ours = [] if identity is None else [identity]
    if inside is None and tx.observations.known([*given_ids(tx, called), *ours]):
        raise NotFound(f"observation {called} is erased already; `episodic forget receipts` lists when")
    raise NotFound(
        f"no observation {called!r}; give the id it was added with, or the one `add` returned; "
        "`episodic show EPISODE --json` lists their ids"
    )


def given_ids(tx: Transaction, called: str) -> Iterator[UUID]:
    """Yield our ids for a caller's one in the sources this memory has by itself: threads and channels.

    They find what was erased, of which nothing but our id is left.
    """
    threads = tx.threads.list()
    sources = {UNNAMED_SOURCE, *(t.origin for t in threads), *(name for t in threads for name in t.channels)}
    for source in sorted(sources):
        yield observation_id(tx.scope, source, called)
