"""What this thread is doing and for whom: an act for each call of a verb and each piece of later work.

A face says who calls (`called_by`); a verb that is called by it, and by no other verb, begins an act; a
worker begins one for the jobs it was handed. Everything written meanwhile is the act's
(`engine.trace.auditing`).
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import wraps
from types import FunctionType
from typing import Any, Final, TypeVar
from uuid import UUID

from episodic_agent.schemas import AuditEntry, Caller, Job, Scope
from episodic_agent.schemas.audit import WORK

MOST_CAUSES: Final = 4  # jobs that an act names
UPKEEP: Final = "upkeep"
_Room = TypeVar("_Room")
_Handler = Callable[[Scope, Sequence[Job]], None]


class Act:
    """A call or a piece of work: what it is, whose, and what the audit keeps of it in each scope so far.

    `subject` is what it is about, where what it writes does not say so: the kind of thing, and its id.
    """

    __slots__ = ("by", "entries", "subject", "verb")

    def __init__(self, verb: str, by: Caller) -> None:
        self.verb = verb
        self.by = by
        self.entries: dict[Scope, AuditEntry] = {}
        self.subject: tuple[str, UUID] | None = None


_PYTHON: Final = Caller("python")  # a program of the user's own, unless a face says otherwise
_CALLER: Final[ContextVar[Caller]] = ContextVar("caller", default=_PYTHON)
_ACT: Final[ContextVar[Act | None]] = ContextVar("act", default=None)


def called_by(caller: Caller) -> None:
    """Say who calls from here on, in this task or thread and those that begin with a copy of its context."""
    _CALLER.set(caller)


def current_act() -> Act:
    """Return the act of this thread; what nobody called is upkeep."""
    return _ACT.get() or Act(UPKEEP, Caller(WORK))


def current_caller() -> Caller:
    """Return who is behind what this thread does: whoever called the verb, or work that nobody called."""
    return current_act().by


def concerns(thing: str, subject: UUID) -> None:
    """Say what the act of this thread is about."""
    current_act().subject = thing, subject


@contextmanager
def calling(caller: Caller) -> Iterator[None]:
    """Let everything in the block be called by somebody."""
    token = _CALLER.set(caller)
    try:
        yield
    finally:
        # A server may end the block in another context than it began it in, where there is nothing to reset.
        with suppress(ValueError):
            _CALLER.reset(token)


@contextmanager
def acting(act: Act) -> Iterator[Act]:
    """Let everything in the block be part of an act."""
    token = _ACT.set(act)
    try:
        yield act
    finally:
        _ACT.reset(token)


def acts(room: str = "", *, without: Sequence[str] = ()) -> Callable[[type[_Room]], type[_Room]]:
    """Return what makes an act of each call of a class's public methods, named by the room and the method.

    A method that goes on for as long as its process is no act: name it in `without`.
    """

    def named(kind: type[_Room]) -> type[_Room]:
        for name, method in list(vars(kind).items()):
            if isinstance(method, FunctionType) and not name.startswith("_") and name not in without:
                setattr(kind, name, _acted(method, f"{room}.{name}" if room else name))
        return kind

    return named


def _acted(method: Callable[..., Any], verb: str) -> Callable[..., Any]:
    @wraps(method)
    def called(*values: Any, **named: Any) -> Any:
        if _ACT.get() is not None:  # a verb that another one uses is part of it
            return method(*values, **named)
        token = _ACT.set(Act(verb, _CALLER.get()))
        try:
            return method(*values, **named)
        finally:
            _ACT.reset(token)

    return called


def worked(handler: _Handler) -> _Handler:
    """Return a handler whose work is an act of its own, with the jobs as its cause."""

    def handle(scope: Scope, jobs: Sequence[Job], /) -> None:
        causes = [job.key for job in jobs[:MOST_CAUSES]]
        more = [f"{len(jobs) - MOST_CAUSES} more"] if len(jobs) > MOST_CAUSES else []
        with acting(Act(jobs[0].kind, Caller(WORK, cause=", ".join([*causes, *more])))):
            handler(scope, jobs)

    return handle
