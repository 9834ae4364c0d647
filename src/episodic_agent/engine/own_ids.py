"""Observations by the ids their callers gave: a platform knows its own number of a message, not ours.

Our ids are made of the names of the space and the user as well. What an import brings from another scope
keeps the ids it has there, so the import leaves a decision that names that scope: what comes again is looked
for under its names, too.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID, uuid5

from episodic_agent.core.identity import NAMESPACE, UNNAMED_SOURCE, import_id, observation_id
from episodic_agent.engine.arguments import clean_name
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.protocols import Transaction
from episodic_agent.schemas import Decision, Observation, Scope
from episodic_agent.showing import clipped

NAMED: Final = 5  # messages an error tells apart
QUOTED: Final = 40  # characters of each
IMPORT: Final = "import"  # the type of the decision that names whose memory an import brought
_IMPORTED: Final = uuid5(NAMESPACE, IMPORT)  # what those decisions are about
_BY_IMPORT: Final = "import-1"  # who decides, and how


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


def origins(tx: Transaction) -> list[Scope]:
    """Return whose memories imports brought into this one, first come first; ids may name them."""
    return read_origins(origin_decisions(tx))


def read_origins(decisions: Iterable[Decision]) -> list[Scope]:
    """Return the scopes that those of some decisions name which imports left."""
    details = [one.detail for one in decisions if one.type == IMPORT]
    named = [(detail.get("user_id"), detail.get("space")) for detail in details]
    return [Scope(user, space) for user, space in named if isinstance(user, str) and isinstance(space, str)]


def keep_origins(tx: Transaction, brought: Iterable[Scope], now: datetime) -> None:
    """Note whose memories an import brings, this one's own left out."""
    for origin in brought:
        if origin == tx.scope:
            continue
        detail = {"space": origin.space, "user_id": origin.user_id}
        decision = Decision(
            import_id(origin), IMPORT, now, _IMPORTED, {}, 1.0, 0.0, "imported", _BY_IMPORT, detail=detail
        )
        tx.knowledge.decide(decision)


def origin_decisions(tx: Transaction) -> Sequence[Decision]:
    """Return what imports left, for an export: whoever takes that in looks under all these names."""
    return tx.knowledge.decisions(subject=_IMPORTED, type=IMPORT)


def as_brought(tx: Transaction, ids: Sequence[UUID], named: Callable[[Scope], Sequence[UUID]]) -> list[UUID]:
    """Return ids, those that are not known replaced by the ones under which an import brought the same.

    `named` returns the ids of the same messages, one for each, as of another scope. Erased ones are known.
    """
    found_under = list(ids)
    every = origins(tx)
    known = set(tx.observations.known(ids)) if every else set()
    for origin in every:
        theirs = named(origin)
        there = tx.observations.known(theirs)
        for n, identity in enumerate(theirs):
            if found_under[n] not in known and identity in there:
                found_under[n] = identity
                known.add(identity)
    return found_under


def given_ids(tx: Transaction, called: str) -> Iterator[UUID]:
    """Yield our ids for a caller's one in the sources this memory has by itself: threads and channels.

    They find what was erased, of which nothing but our id is left.
    """
    threads = tx.threads.list()
    sources = {UNNAMED_SOURCE, *(t.origin for t in threads), *(name for t in threads for name in t.channels)}
    for scope in (tx.scope, *origins(tx)):
        for source in sorted(sources):
            yield observation_id(scope, source, called)
