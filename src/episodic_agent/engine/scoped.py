"""What every verb does first: find out whose memory is meant, and open it."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from typing import Final
from uuid import UUID

from episodic_agent.core.identity import uuid7
from episodic_agent.core.interfaces import Transaction
from episodic_agent.engine.given import tidy
from episodic_agent.engine.parts import Parts
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.schemas import Scope, Thread

RANDOM_BITS: Final = 74  # of a UUIDv7
_NAMED: Final = 10  # threads an error message names


class Scoped:
    """The memories of one space, with the user that is meant where a verb names none (I11)."""

    def __init__(self, parts: Parts, *, user_id: str, space: str) -> None:
        self._parts = parts
        self._user = user_id
        self._space = space

    def users(self) -> list[str]:
        """Return the users this space remembers something of."""
        return sorted(s.user_id for s in self._scopes())

    def _scopes(self) -> Sequence[Scope]:
        return self._parts.store.scopes(self._space)

    def _scope(self, user_id: str | None) -> Scope:
        user = str(self._user if user_id is None else user_id)
        if not user.strip():
            raise InvalidInput("user_id is empty; name whose memory it is")
        if tidy(user) != user:  # repairing it might make two users one (I11)
            raise InvalidInput(f"user_id {user!r} holds characters no database can keep; choose another name")
        return Scope(user, self._space)

    def _known(self, user_id: str | None) -> Scope:
        scope = self._scope(user_id)
        if user_id is not None and not self._parts.store.exists(scope):
            users = self.users()
            known = f"known users: {', '.join(users[:10])}" if users else "the memory is empty"
            raise NotFound(f"no user {scope.user_id!r} in this memory; {known}")
        return scope

    def _read(self, user_id: str | None) -> AbstractContextManager[Transaction]:
        return self._parts.store.begin(self._known(user_id), write=False)

    def _fresh(self) -> UUID:
        return uuid7(self._parts.clock(), self._parts.entropy(RANDOM_BITS))

    def _thread_id(self, scope: Scope, thread: str) -> UUID:
        with self._parts.store.begin(scope, write=False) as tx:
            return find_thread(tx, tidy(thread) or "").id


def find_thread(tx: Transaction, name: str) -> Thread:
    """Return a thread by its name, or its id as listings print it; NotFound names what there is."""
    found = tx.threads.by_origin(name)
    if found is None:
        with suppress(ValueError):
            found = tx.threads.get(UUID(name))
    if found is None:
        known = ", ".join(t.origin for t in tx.threads.list(limit=_NAMED)) or "none yet"
        raise NotFound(f"no thread {name!r} in this memory; threads: {known}")
    return found
