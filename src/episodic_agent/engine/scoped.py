"""Whose memory a verb works on: one user of one space, and the transactions that open it."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from uuid import UUID

from episodic_agent.core.identity import uuid7
from episodic_agent.engine.arguments import clean_name
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.filters import LONGEST_NAMED, MOST_NAMED, Walls
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.lazily import module
from episodic_agent.protocols import Store, Transaction
from episodic_agent.schemas import Scope
from episodic_agent.schemas.decisions import PEOPLE, PERSON
from episodic_agent.showing import clipped, visible

if TYPE_CHECKING:
    from episodic_agent.engine.episodes import listing
    from episodic_agent.engine.people import naming
    from episodic_agent.engine.recall import walls as recall_walls
else:
    listing = module("episodic_agent.engine.episodes.listing")
    naming = module("episodic_agent.engine.people.naming")
    recall_walls = module("episodic_agent.engine.recall.walls")

RANDOM_BITS: Final = 74  # of a UUIDv7


class UnknownUser(NotFound):
    """Nothing is remembered of a user in this space."""


def scope_of(name: object, space: str) -> Scope:
    """Read the name of a user as a scope; InvalidInput for one that is empty or cannot be kept."""
    cleaned = clean_name(name, "user")
    user = "" if name is None else str(name)
    if not user.strip():
        raise InvalidInput("user_id is empty; name whose memory it is")
    if cleaned not in (None, user):  # repairing it might make two users one (I11)
        raise InvalidInput(f"user_id {user!r} holds characters no database can keep; choose another name")
    return Scope(user, space)


@dataclass(frozen=True, slots=True)
class Scoped:
    """One user's part of a store: what every room reads and writes through (I11).

    `new` says that nothing need be remembered of the user yet: reading then finds nothing. Otherwise it
    raises NotFound, which names the users there are. `walls` hold it to some threads (`UserMemory.only`):
    what a room reads is then of these alone, and a verb that cannot see to that is refused (`acts`).
    """

    deps: Deps
    scope: Scope
    new: bool = False
    walls: Walls = ()

    def known(self) -> Scope:
        """Return the scope; NotFound where nothing is remembered of this user, unless they may be new."""
        if not self.new:
            check_known(self.deps.store, self.scope)
        return self.scope

    @contextmanager
    def read(self, *, as_stored: bool = False) -> Iterator[Transaction]:
        """Open the one transaction of a verb that reads what lies within walls; raises as `known`.

        Who goes by several names is read by one, unless all is wanted `as_stored`.
        """
        with self.deps.store.begin(self.scope, write=False) as tx:
            known = self.new or bool(tx.observations.actors(limit=1))
            if known:
                yield self._held(tx if as_stored else _named(tx))
        if not known:  # asked only now: most who are named are known, and this is another transaction
            with self.deps.store.begin(self.known(), write=False) as tx:
                yield self._held(tx if as_stored else _named(tx))

    def _held(self, tx: Transaction) -> Transaction:
        return recall_walls.walled_off(tx, self.walls) if self.walls else tx

    def write(self) -> AbstractContextManager[Transaction]:
        """Open the user's memory to change what is in it; raises as `known`."""
        return self.deps.store.begin(self.known())

    def thread_id(self, thread: str) -> UUID:
        """Return the id of a thread by its name or id; NotFound names what there is."""
        with self.deps.store.begin(self.scope, write=False) as tx:
            return listing.find_thread(tx, clean_name(thread, "thread") or "").id

    def fresh(self) -> UUID:
        """Return a new id of this moment."""
        return fresh_id(self.deps)


class RoomOf:
    """What every room of one user's memory has: it shows whose it is."""

    _at: Scoped

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {visible(self._at.scope.user_id)!r}>"


def _named(tx: Transaction) -> Transaction:
    """Return what reads with one name for each person; most memories say nothing of names."""
    return naming.named(tx) if tx.knowledge.decisions(subject=PEOPLE, type=PERSON, last=1) else tx


def fresh_id(deps: Deps) -> UUID:
    """Return a new id of this moment."""
    return uuid7(deps.clock(), deps.entropy(RANDOM_BITS))


def check_known(store: Store, scope: Scope) -> None:
    """Raise UnknownUser, with the users there are, where nothing was ever written for a scope."""
    if store.scopes(scope):
        return
    users = sorted(one.user_id for one in store.scopes(scope.space))
    known = f"known users: {', '.join(users[:MOST_NAMED])}" if users else "the memory is empty"
    raise UnknownUser(f"no user {clipped(scope.user_id, LONGEST_NAMED)!r} in this memory; {known}")
