"""Whose memory a verb works on: one user of one space, and the transactions that open it."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from episodic_agent.core.identity import uuid7
from episodic_agent.engine.arguments import clean_name, names_or_none
from episodic_agent.engine.deps import Deps
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.lazily import module
from episodic_agent.protocols import Store, Transaction
from episodic_agent.schemas import Decision, Scope, Thread
from episodic_agent.showing import clipped, visible

if TYPE_CHECKING:
    from episodic_agent.engine.episodes import listing
    from episodic_agent.engine.recall import walls as recall_walls
else:
    listing = module("episodic_agent.engine.episodes.listing")
    recall_walls = module("episodic_agent.engine.recall.walls")

Walls = tuple[tuple[str, ...], ...]  # names of threads and channels; what is told lies within each
RANDOM_BITS: Final = 74  # of a UUIDv7
_NAMED: Final = 10  # threads and users an error message names
_UNTITLED: Final = 200  # threads whose words are read for the title they are shown under
_SHOWN: Final = 80  # characters of a user's name in one


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
    def read(self) -> Iterator[Transaction]:
        """Open the one transaction of a verb that reads what lies within walls; raises as `known`."""
        with self.deps.store.begin(self.scope, write=False) as tx:
            known = self.new or bool(tx.observations.actors(limit=1))
            if known:
                yield self._held(tx)
        if not known:  # asked only now: most who are named are known, and this is another transaction
            with self.deps.store.begin(self.known(), write=False) as tx:
                yield self._held(tx)

    def _held(self, tx: Transaction) -> Transaction:
        return recall_walls.walled_off(tx, self.walls) if self.walls else tx

    def write(self) -> AbstractContextManager[Transaction]:
        """Open the user's memory to change what is in it; raises as `known`."""
        return self.deps.store.begin(self.known())

    def thread_id(self, thread: str) -> UUID:
        """Return the id of a thread by its name or id; NotFound names what there is."""
        with self.deps.store.begin(self.scope, write=False) as tx:
            return find_thread(tx, clean_name(thread, "thread") or "").id

    def fresh(self) -> UUID:
        """Return a new id of this moment."""
        return fresh_id(self.deps)


class RoomOf:
    """What every room of one user's memory has: it shows whose it is."""

    _at: Scoped

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {visible(self._at.scope.user_id)!r}>"


def walls_of(walls: Walls, only: object) -> Walls:
    """Return the walls of a memory and those a caller names beside them, who can narrow them but not widen.

    >>> walls_of((("general", "harbor"),), ["dm-lena"])
    (('general', 'harbor'), ('dm-lena',))
    """
    names = names_or_none("only", only)
    return walls if names is None else (*walls, names)


def check_named(walls: Walls, thread: str | None, source: str | None = None) -> None:
    """Raise InvalidInput unless what is to be kept in a memory with walls names its thread, and that alone.

    Without one it would join what runs, wherever that is; an id of a source may stand in any thread.
    """
    if thread is None:
        raise InvalidInput(f"name the `thread`: {held_to(walls)}")
    if source is not None:
        raise InvalidInput(f"leave the `source` out: {held_to(walls)}")


def held_to(walls: Walls) -> str:
    """Say which threads and channels a memory is held to.

    >>> held_to((("general", "harbor"), ("general",)))
    "this memory tells of 'general' alone"
    """
    names = " and ".join(f"{clipped(one, _SHOWN)!r}" for one in walls[-1][:_NAMED])
    return f"this memory tells of {names}{', …' if len(walls[-1]) > _NAMED else ''} alone"


def fresh_id(deps: Deps) -> UUID:
    """Return a new id of this moment."""
    return uuid7(deps.clock(), deps.entropy(RANDOM_BITS))


def check_known(store: Store, scope: Scope) -> None:
    """Raise UnknownUser, with the users there are, where nothing was ever written for a scope."""
    if store.scopes(scope):
        return
    users = sorted(one.user_id for one in store.scopes(scope.space))
    known = f"known users: {', '.join(users[:_NAMED])}" if users else "the memory is empty"
    raise UnknownUser(f"no user {clipped(scope.user_id, _SHOWN)!r} in this memory; {known}")


def find_thread(tx: Transaction, name: str) -> Thread:
    """Return a thread by its name, its id, or the title that it alone has; NotFound names what there is."""
    return named_thread(tx, name) or _titled(tx, name)


def named_thread(tx: Transaction, name: str) -> Thread | None:
    """Return a thread by its name or its id, None where there is none: a title names no thread to begin."""
    thread = tx.threads.get(name)
    if thread is None:
        with suppress(ValueError):
            thread = tx.threads.get(UUID(name))
    return thread


def _titled(tx: Transaction, title: str) -> Thread:
    """Return the one thread of a title, given or shown; NotFound where none has it, or several."""
    threads = tx.threads.list()
    looked_for = title.strip().casefold()
    called = [one for one in threads if one.title and one.title.casefold() == looked_for]
    if not called and looked_for:  # what expires ever is hidden here: there is no clock
        untitled = [one for one in threads[:_UNTITLED] if not one.title]
        shown = listing.titled(tx, untitled, datetime.max.replace(tzinfo=UTC))
        titles = [(one.title or "").casefold() for one in shown]
        called = [one for one, words in zip(untitled, titles, strict=True) if words == looked_for]
    if len(called) == 1:
        return called[0]
    if called:
        names = ", ".join(repr(one.origin) for one in called[:_NAMED])
        raise NotFound(f"{len(called)} threads have the title {title!r}; say which by its name: {names}")
    known = ", ".join(map(_shown, threads[:_NAMED])) or "none yet"
    raise NotFound(f"no thread {title!r} in this memory; threads: {known}")


def _shown(thread: Thread) -> str:
    return f'{thread.origin} "{thread.title}"' if thread.title else thread.origin


def stored_decision(tx: Transaction, identity: UUID | None) -> Decision | None:
    """Return the decision that an episode or a link names, None where it names none or it is gone."""
    return None if identity is None else next(iter(tx.knowledge.decisions(ids=[identity])), None)
