"""`Memory`: a whole store, and the door to each user's memory in it."""

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import date, datetime
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from episodic_agent.engine.arguments import aware, day, file_path
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.jobs.runner import HERE, WORKERS
from episodic_agent.engine.scoped import Scoped, scope_of
from episodic_agent.engine.trace.acts import acts
from episodic_agent.engine.trace.usage import ANY_DAY, usage
from episodic_agent.engine.user import UserMemory
from episodic_agent.engine.works import Works
from episodic_agent.errors import EpisodicError, InvalidInput, ProviderError, StoreError
from episodic_agent.lazily import module
from episodic_agent.protocols import Preloading
from episodic_agent.schemas import Backup, ModelUse, Scope
from episodic_agent.schemas.erasures import Erasure
from episodic_agent.showing import described

if TYPE_CHECKING:
    from episodic_agent.engine import keys as key_verbs
    from episodic_agent.engine.doctor import examining
    from episodic_agent.engine.jobs import verbs as job_verbs
else:
    examining = module("episodic_agent.engine.doctor.examining")
    job_verbs = module("episodic_agent.engine.jobs.verbs")
    key_verbs = module("episodic_agent.engine.keys")

SHOWN = 5  # users that the repr of a memory names


@acts()
class Memory:
    """An episodic memory over one store. Thread safe; several processes may share the store.

    `user` is the door to everything that is one user's; what stands here is about all of them. Nothing leaves
    the space it was opened with (I11). `jobs` is the room of later work, `keys` that of
    who may ask over HTTP.
    """

    def __init__(
        self, deps: Deps | None = None, *, space: str = "default", jobs: str = HERE, where: str = ""
    ) -> None:
        """Take `jobs` to say who does later work: `here` this process, `workers` only `episodic worker`s.

        Users open a memory by `Memory.open`, which puts it together; InvalidInput says so.
        """
        if not isinstance(deps, Deps):
            where = "" if deps is None else repr(str(deps))
            raise InvalidInput(f"open a memory with `Memory.open({where})`")
        self._deps = deps
        self._space = space
        self._where = where  # the file or server, as people may read it
        self._works = Works(deps, space=space, jobs=jobs)

    if not TYPE_CHECKING:  # a type checker should not believe that it has every attribute

        def __getattr__(self, name: str) -> Any:
            """Say where the verbs and rooms of a user are: most who miss one here took the wrong door."""
            problem = f"{type(self).__name__!r} object has no attribute {name!r}"
            hint = "" if name.startswith("_") else f"; what is one user's is at `memory.user(name).{name}`"
            raise AttributeError(f"{problem}{hint}")

    @cached_property
    def jobs(self) -> "job_verbs.JobRoom":
        """The room of later work."""
        return job_verbs.JobRoom(self._deps, self._works.later)

    @cached_property
    def keys(self) -> "key_verbs.KeyRoom":
        """The room of the service's keys."""
        return key_verbs.KeyRoom(self._deps, self._space)

    def __repr__(self) -> str:
        with suppress(EpisodicError):
            users = self.users()
            more = ", …" if len(users) > SHOWN else ""
            return described(self, self._where, f"users: {', '.join(users[:SHOWN]) or 'none yet'}{more}")
        return described(self, self._where, "closed or not to be read")

    # --- users -------------------------------------------------------------------------------------------

    def users(self) -> list[str]:
        """Return the users this space remembers something of."""
        return sorted(s.user_id for s in self._scopes())

    def user(self, name: str, *, new: bool = False) -> UserMemory:
        """Return a user's memory; nothing is read or made for it.

        Adding makes a user known. Reading of one who is not raises NotFound, which names those who are; with
        `new` it finds nothing instead. Raises InvalidInput for a name that is empty.
        """
        return UserMemory(Scoped(self._deps, scope_of(name, self._space), new), self._works)

    def _scopes(self) -> Sequence[Scope]:
        return self._deps.store.scopes(self._space)

    # --- care --------------------------------------------------------------------------------------------

    def upkeep(self, *, now: datetime | None = None) -> int:
        """Close frames that have been silent past the gap at which their policy cuts for certain.

        Return how many. What follows from that is done: titles and summaries, chains, skills, and facts of
        what ended an hour ago or more.
        """
        return self._works.later.keep_up(self._scopes(), aware(now))

    def usage(
        self, since: date = ANY_DAY[0], until: date = ANY_DAY[1], *, user: str | None = None
    ) -> list[ModelUse]:
        """Return what language models cost the space, or one user, by day (UTC), stage and model."""
        scope = None if user is None else Scoped(self._deps, scope_of(user, self._space)).known()
        return usage(self._deps.store, self._space, scope, day(since), day(until))

    def erasures(self) -> list[Erasure]:
        """Return the receipts of all that was erased in the space, oldest first."""
        return [*self._deps.store.erasures(self._space, None)]

    def doctor(self, *, repair: bool = False, quick: bool = False) -> "list[examining.Finding]":
        """Check the file and every invariant; `repair` first rebuilds what can be derived again.

        Where what was said is damaged, it saves what can be read in a new file instead and says so.
        A `quick` one only tries whether the file can be read, as is asked of a service every few seconds.
        """
        doctor = examining.Doctor(self._deps, self._space)
        if quick and not repair:
            return doctor.glance()
        if repair:
            if saved := doctor.salvage():
                return [*saved, *doctor.examine()]
            doctor.repair()
            self._works.later.run()
            self._works.eraser.settle(self._space)
        return doctor.examine()

    def backup(
        self, path: "str | Path", *, force: bool = False, progress: Callable[[float], object] | None = None
    ) -> Backup:
        """Copy the file with everybody's memory to another, while writers go on; return what it holds.

        The copy is of one moment, and checked before it gets its name; `force` replaces a file that has it.
        """
        return self._deps.store.backup(file_path(path).expanduser(), force=force, progress=progress)

    # --- life --------------------------------------------------------------------------------------------

    def resume(self) -> None:
        """Let the background take up what an earlier process left waiting, and keep up with the clock.

        Every minute from then on it does what `upkeep` does, pending erasures included, until `close`.
        """
        later = self._works.later
        if not later.here:
            return
        later.background.start()
        if self._deps.store.waiting(space=self._space):
            for scope in self._scopes():
                self._works.orphans.close_left(scope)
            later.background.wake()

    def warm(self) -> None:
        """Begin to load a local embedding model, so that the first answer need not wait for all of it."""
        embedder = self._deps.embedder
        if isinstance(embedder, Preloading):
            # no daemon: a process must not end inside the library that loads it
            threading.Thread(target=_try, args=(embedder.preload,), name="episodic-warm").start()

    def close(self) -> None:
        """Stop the background work (what is left waits for the next opening) and close the store."""
        self._works.later.close()
        self._works.close()
        self._deps.meter.write()
        self._deps.tracer.close()
        self._deps.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Spaces:
    """The memories of all spaces of one store, each opened when it is first asked for.

    `first` is the one that was opened; closing it closes the store, so close these before.
    """

    def __init__(self, first: Memory) -> None:
        self._first = first
        self._memories: dict[str, Memory] = {first._space: first}
        self._lock = threading.Lock()

    def of(self, space: str | None) -> Memory:
        """Return the memory of a space; None: of the one that was opened."""
        first = self._first
        with self._lock:
            memory = self._memories.get(first._space if space is None else space)
            if memory is None:
                jobs = HERE if first._works.later.here else WORKERS
                memory = self._memories[str(space)] = Memory(first._deps, space=str(space), jobs=jobs)
                memory.resume()
            return memory

    def resume(self) -> None:
        """Take up what was left in every space that a key opens, whoever asks first."""
        for space in self.opened_by_keys():
            self.of(space)

    def opened_by_keys(self) -> list[str]:
        """Return the spaces that a key opens."""
        return sorted({key.space for key in self._first.keys.list() if key.revoked_at is None})

    def remembering(self) -> list[str]:
        """Return the spaces that remember somebody; none but the first where the login may see no other."""
        try:
            scopes = self._first._deps.store.scopes()
        except StoreError:
            scopes = self._first._scopes()
        return sorted({scope.space for scope in scopes})

    def close(self) -> None:
        """Stop the background work of all but the first."""
        with self._lock:
            for memory in self._memories.values():
                if memory is not self._first:
                    memory._works.later.close()


def _try(load: Callable[[], object]) -> None:
    """Load a model; what is wrong with it is told to whoever uses it."""
    with suppress(ProviderError):
        load()
