"""What this thread is doing and for whom: an act for each call of a verb and each piece of later work.

A face says who calls (`called_by`); a verb that is called by it, and by no other verb, begins an act; a
worker begins one for the jobs it was handed. Everything written meanwhile is the act's
(`engine.trace.auditing`).
"""

import difflib
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import wraps
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final, TypeVar
from uuid import UUID

from episodic_agent.errors import EpisodicError, InvalidInput, NotFound
from episodic_agent.lazily import module
from episodic_agent.schemas import AuditEntry, Caller, Job, Scope
from episodic_agent.schemas.audit import WORK
from episodic_agent.yielding import CALLERS

if TYPE_CHECKING:
    from episodic_agent.engine import filters
else:
    filters = module("episodic_agent.engine.filters")

_COMMAND: Final = re.compile(r"`episodic ([a-z][a-z -]*?)(?: [A-Z][A-Z ]*)?(?: --json)?`")
# What does the same as a command, of a user's memory where nothing else is said.
PYTHON: Final[Mapping[str, str]] = {
    "episodes": "`episodes.list()`",
    "show": "`episodes.messages(id)`",
    "summaries": "`sessions.list()`",
    "session list": "`sessions.list()`",
    "facts list": "`facts.list()`",
    "places": "`places.list()`",
    "link list": "`links.list()`",
    "link explain": "`links.explain(thread)`",
    "jobs list": "`jobs.list()`",
    "forget receipts": "`erasures.list()`",
    "tune history": "`tuning.list()`",
    "keys list": "`memory.keys.list()`",
    "keys create": "`memory.keys.create()`",
}
_OF_FACE: Final = {"python": PYTHON}


def in_words_of(face: str, problem: str) -> str:
    """Return an error as a face's callers can follow it: a command gives way to the call that does the same.

    One that has no such call stays, as do all for other faces: these have words of their own.

    >>> in_words_of("python", "no fact 'x'; `episodic facts list` shows the ids")
    "no fact 'x'; `facts.list()` shows the ids"
    """
    calls = _OF_FACE.get(face, {})
    return _COMMAND.sub(lambda command: calls.get(command[1], command[0]), problem)


MOST_CAUSES: Final = 4  # jobs that an act names
UPKEEP: Final = "upkeep"
_ALIKE: Final = 0.7  # how alike a name must be to be taken for a slip: of two letters any other word is like
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


def acts(
    room: str = "", *, without: Sequence[str] = (), within: Sequence[str] = ()
) -> Callable[[type[_Room]], type[_Room]]:
    """Return what makes an act of each call of a class's public methods, named by the room and the method.

    A method that goes on for as long as its process is no act: name it in `without`. What a memory that is
    held to some threads (`UserMemory.only`) may be asked stands in `within`; all else is refused there, what
    is written next year, too.
    """

    def named(kind: type[_Room]) -> type[_Room]:
        for name, method in list(vars(kind).items()):
            if not isinstance(method, FunctionType) or name.startswith("_"):
                continue
            verb = f"{room}.{name}" if room else name
            guarded = method if name in within else _walled(method, verb)
            setattr(kind, name, guarded if name in without else _acted(guarded, verb))
        return kind

    return named


def _walled(method: Callable[..., Any], verb: str) -> Callable[..., Any]:
    """Return a method that is refused in a memory which is held to some threads."""

    @wraps(method)
    def called(room: Any, *values: Any, **named: Any) -> Any:
        at = vars(room).get("_at")  # what is of all users has none
        if at is not None and at.walls:
            remedy = "ask the whole memory, without `only`"
            raise InvalidInput(f"{verb} cannot be held to threads: {filters.held_to(at.walls)}; {remedy}")
        return method(room, *values, **named)

    return called


def _acted(method: Callable[..., Any], verb: str) -> Callable[..., Any]:
    code = inspect.unwrap(method).__code__
    takes = frozenset(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    is_narrowed = bool(code.co_flags & inspect.CO_VARKEYWORDS)

    @wraps(method)
    def called(*values: Any, **named: Any) -> Any:
        if _ACT.get() is not None:  # a verb that another one uses is part of it
            return method(*values, **named)
        if not takes.issuperset(named):
            _check_keywords(method.__name__, named, [*takes], is_narrowed=is_narrowed)
        token = _ACT.set(Act(verb, _CALLER.get()))
        try:
            with CALLERS.calling():
                return method(*values, **named)
        except EpisodicError as error:
            _tell(error, _CALLER.get())
            raise
        finally:
            _ACT.reset(token)

    return called


def _check_keywords(verb: str, named: Mapping[str, Any], takes: Sequence[str], *, is_narrowed: bool) -> None:
    """Raise TypeError, which names what was meant, for a keyword that a verb does not take."""
    known = [*takes, *(filters.ALL if is_narrowed else ())]
    for name in named:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1, cutoff=_ALIKE)
            others = ", ".join(sorted(one for one in known if one != "self"))
            hint = f"did you mean `{near[0]}`?" if near else f"there are {others}"
            raise TypeError(f"{verb}() got an unexpected keyword argument {name!r}; {hint}")


def _tell(error: EpisodicError, caller: Caller) -> None:
    """Say an error in the words of who called, once: what it was made of says the same."""
    problem = str(error)
    reworded = in_words_of(caller.face, problem)
    if reworded != problem:
        error.as_command, error.args = problem, (reworded, *error.args[1:])
    if isinstance(error, InvalidInput | NotFound):
        error.__cause__, error.__suppress_context__ = None, True


def worked(handler: _Handler) -> _Handler:
    """Return a handler whose work is an act of its own, with the jobs as its cause."""

    def handle(scope: Scope, jobs: Sequence[Job], /) -> None:
        causes = [job.key for job in jobs[:MOST_CAUSES]]
        more = [f"{len(jobs) - MOST_CAUSES} more"] if len(jobs) > MOST_CAUSES else []
        with acting(Act(jobs[0].kind, Caller(WORK, cause=", ".join([*causes, *more])))):
            handler(scope, jobs)

    return handle
