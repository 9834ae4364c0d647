"""The rooms of later work: what waits, what was given up, and who does it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, tzinfo
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

from episodic_agent.engine.arguments import counted, file_path
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.jobs.backlog import STATES, Backlog, JobEntry
from episodic_agent.engine.jobs.operations import (
    IMPORTS,
    Operation,
    begin_import,
    operation_of,
    state_of_import,
)
from episodic_agent.engine.jobs.operations import operation_id as id_of
from episodic_agent.engine.jobs.worker import POLL, Say, Worker
from episodic_agent.engine.later import Later, check_kinds, runner_of
from episodic_agent.engine.results import ImportReport
from episodic_agent.engine.scoped import Scoped
from episodic_agent.engine.trace.acts import acts
from episodic_agent.errors import InvalidInput
from episodic_agent.lazily import module
from episodic_agent.schemas import Receipt, Scope
from episodic_agent.showing import visible

if TYPE_CHECKING:
    from episodic_agent.engine.doctor import reembedding
else:
    reembedding = module("episodic_agent.engine.doctor.reembedding")


@acts("jobs", without=("worker", "follow"))
class JobRoom:
    """The later work of a whole space, or of one user."""

    def __init__(
        self,
        deps: Deps,
        later: Later,
        at: Scoped | None = None,
        importing: Callable[..., ImportReport] | None = None,
    ) -> None:
        """Take `at` to narrow it to one user; `importing` is that user's verb `import_file`."""
        self._deps = deps
        self._later = later
        self._at = at
        self._importing = importing

    def __repr__(self) -> str:
        whose = f"the space {visible(self._later.space)!r}"
        return f"<JobRoom of {whose if self._at is None else repr(visible(self._at.scope.user_id))}>"

    def list(self, *, state: str | None = None, limit: int | None = None) -> Sequence[JobEntry]:
        """Return the later work by user and time, the first `limit`; `state` is waiting, leased or dead."""
        return self._backlog().entries(state, None if limit is None else counted("limit", limit, 0))

    def counts(self) -> Mapping[str, int]:
        """Count the later work by its state: waiting, leased (being done) and dead (given up)."""
        store, space = self._deps.store, self._later.space
        scope = None if self._at is None else self._at.known()
        if scope is not None:
            return {state: store.waiting(scope, state=state) for state in STATES}
        return {state: store.waiting(space=space, state=state) for state in STATES}

    def retry(self, job_id: "UUID | str") -> JobEntry:
        """Make a waiting or dead job due now with all its attempts back, and return what it was.

        Takes an id, or its unambiguous beginning or end. Raises NotFound, and Conflict while it is done.
        """
        return self._backlog().retry(job_id)

    def retry_dead(self) -> int:
        """Try again every job that was given up; return how many."""
        return self._backlog().retry_dead()

    def cancel(self, job_id: "UUID | str") -> JobEntry:
        """Delete a waiting or dead job, named as for `retry`, and return what it was."""
        return self._backlog().cancel(job_id)

    def run(self) -> int:
        """Run the later work that waits (encodings, questions), and return how many jobs ran.

        What is new is then looked through for skills, and what is due for facts, which is not counted. None
        with `jobs="workers"`: this process then never claims any.
        """
        scope = None if self._at is None else self._at.known()
        ran = self._later.run(scope)
        self._later.finish(self._scopes())
        return ran

    def worker(
        self,
        *,
        all_spaces: bool = False,
        kinds: Sequence[str] | None = None,
        poll: float = POLL,
        say: Say | None = None,
    ) -> Worker:
        """Return a worker for this later work, or that of every space.

        `kinds` narrows it to kinds of jobs; `poll` is how many seconds it waits when nothing is due; `say`
        receives a line for each batch. Its `run` works until its `stop`. Raises InvalidInput for an unknown
        kind, NotFound for an unknown user.
        """
        handlers = check_kinds(kinds, self._later.handlers)
        scope = None if self._at is None else self._at.known()
        space = None if all_spaces else self._later.space
        store = self._deps.store
        return Worker(
            runner_of(self._deps, handlers, space=space, scope=scope),
            lambda: store.scopes(space) if scope is None else [scope],
            self._later.upkeep.keep_up,
            self._settle,
            clock=self._deps.clock,
            entropy=self._deps.entropy,
            poll=poll,
            say=say,
        )

    def _settle(self, scopes: Sequence[Scope]) -> None:
        # of a space whose users were all erased no scope is left
        for space in dict.fromkeys([self._later.space, *(scope.space for scope in scopes)]):
            self._later.upkeep.settle(space)

    def follow(self, receipts: Sequence[Receipt]) -> Operation:
        """Return what follows from messages that were added with `wait=False`, as it stands now.

        Ask `operation` with its id later on. Raises InvalidInput where these are the jobs of a whole space.
        """
        return self.operation(id_of(receipts))

    def operation(self, operation_id: str) -> Operation:
        """Return how an operation stands: running, done or failed.

        Raises InvalidInput for what is no id of one, NotFound for an unknown user and for an id that
        this user's messages were never answered with, or whose whole thread was erased.
        """
        if self._at is None:
            raise InvalidInput("an operation is a user's: ask `memory.user(name).jobs`")
        if operation_id.startswith(IMPORTS):
            return state_of_import(self._at, operation_id)
        return operation_of(self._at, operation_id)

    def import_file(
        self,
        path: "str | Path",
        *,
        source: str | None = None,
        encoding: str | None = None,
        timezone: "str | tzinfo | None" = None,
        dates: str | None = None,
        began: "str | datetime | None" = None,
        me: "Iterable[str] | str | None" = None,
        speaker: str | None = None,
        then: "Callable[[], object] | None" = None,
    ) -> Operation:
        """Import a file as the handle's `import_file` does, in the background; return what to follow it by.

        `operation` tells how it stands, in any process, for a day. What it stores is durable group by group:
        where the process ends before it, the file given again adds the rest. `then` is called when it is
        over, as to delete the file. Raises InvalidInput where it is not there, or these are the jobs of a
        whole space, StoreUnavailable where 8 imports of this process are not done.
        """
        if self._at is None or self._importing is None:
            raise InvalidInput("an import is a user's: ask `memory.user(name).jobs`")
        file = file_path(path)
        if not file.exists():
            raise InvalidInput(f"no such file: {file}")
        how: dict[str, object] = {"source": source, "encoding": encoding, "timezone": timezone}
        how |= {"dates": dates, "began": began, "me": me, "speaker": speaker}
        importing = partial(self._importing, file, **how)
        return begin_import(self._at, file, importing, then)

    def reembed(self, *, wait: bool = True, progress: "Callable[[int, int], object] | None" = None) -> int:
        """Embed again what has no vector of the embedder, as after it was changed; return how many texts.

        Search reads the former vectors meanwhile, where their embedder is at hand. Each page is durable, and
        a job stands for each user until it is done: where this process ends, the next one goes on.
        `progress` is told how many observations are done, and of how many. Without `wait` only the jobs are
        asked for, and it returns for how many users. Raises InvalidInput without an embedder.
        """
        asked = reembedding.reembed(self._deps, self._scopes(), progress, wait=wait)
        if not wait and self._later.here:
            self._later.background.wake()
        return asked

    def _scopes(self) -> Sequence[Scope]:
        return self._deps.store.scopes(self._later.space) if self._at is None else [self._at.known()]

    def _backlog(self) -> Backlog:
        return Backlog(self._deps, self._scopes())
