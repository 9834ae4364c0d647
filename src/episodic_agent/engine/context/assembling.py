"""The context of the next prompt, read from what is stored; nothing is written (seed 002, section 3).

The message is embedded once, before the transaction. A message that is not stored yet is resolved on trial,
by the same rules as it will be when it is added.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, TypeAlias
from uuid import UUID

from episodic_agent.core.context.assembling import assemble
from episodic_agent.core.context.relevance import FIRST, RIVALS
from episodic_agent.core.ingest import Item, read_item, read_time
from episodic_agent.core.language import plural
from episodic_agent.core.language.windows import windows
from episodic_agent.core.links.outcomes import reminds
from episodic_agent.core.prompts import thread_link
from episodic_agent.core.threads.channels import are_apart, project_called, projects_of
from episodic_agent.core.threads.turns import is_reply
from episodic_agent.engine.arguments import FORMS, LATER, Form, name_or_none
from episodic_agent.engine.context.gathering import AMONG_OTHERS, situation, with_time
from episodic_agent.engine.context.passages import PieceReading, PieceVectors
from episodic_agent.engine.context.prompting import Prompt, prompt, source_of
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.episodes.listing import named_thread
from episodic_agent.engine.filters import Walls, Where, walls_of
from episodic_agent.engine.links.linked import Near, NearThread, chosen, links_of, on_both_sides
from episodic_agent.engine.people.naming import reading_named, translated
from episodic_agent.engine.recall.elsewhere import NO_OTHERS, Elsewhere, projects_meant
from episodic_agent.engine.recall.walls import NamedThreads, reading, threads_called
from episodic_agent.engine.threads.recounting import (
    Asking,
    Recounted,
    SummaryOf,
    mention,
    recount,
    said_by,
)
from episodic_agent.engine.threads.resolving import Placement
from episodic_agent.engine.visibility.hidden import Visibility, span_of
from episodic_agent.errors import InvalidInput, ProviderError
from episodic_agent.protocols import Transaction, query_vector
from episodic_agent.schemas import Observation, Scope, Thread, Vector
from episodic_agent.schemas.contexts import Basis, Context, ContextItem, LineKind, Linked
from episodic_agent.showing import as_card, described

MOST_LINKED: Final = 3
_MOST_RECENT: Final = 3
_RECENT: Final = timedelta(hours=24)
_LOOKED_AT: Final = 8  # threads of the last day, of which the current one is none
_TRIAL: Final = UUID(int=0)  # the id of a message that is not stored

Foresee: TypeAlias = Callable[
    [Transaction, str, Vector | None, datetime, UUID | None], Iterable[tuple[UUID, str, bool]]
]
"""Tell what a message that would open a thread would be linked to: thread, basis (as a `Link`'s), uncertain.

Takes the transaction, the message, its vector and event time, and a thread that is none of them.
"""

AskAhead: TypeAlias = Callable[[Scope, str, str, Vector | None, datetime, str | None], None]
"""Ask a language model what such a message goes on with, so that it can be foreseen.

Takes the scope, the message, its speaker, vector, event time and channel; no transaction is open meanwhile.
"""


@dataclass(frozen=True, slots=True)
class ContextLine:
    """A recalled line of a context and where it is from: thread, episode and observations.

    `line` counts the text's lines from 0. `observations` are the caller's own ids where there are any;
    `episode_id` may be that of an open frame.
    """

    line: int
    kind: LineKind
    text: str
    thread: str
    thread_id: UUID
    episode_id: UUID | None
    first_seq: int
    last_seq: int
    observations: tuple[str, ...]
    score: float

    def __repr__(self) -> str:
        return described(self, self.kind, self.thread, self.text)


@dataclass(frozen=True, slots=True)
class ThreadContext:
    """The text for the next prompt, and where each recalled line of it is from.

    `thread` is the name of the thread the message is in, or would join; None where it would begin one.
    `tokens` is what the text is estimated at. `notes` tell in words what limited it.
    """

    text: str
    items: Sequence[ContextLine]
    tokens: int
    thread: str | None = None
    thread_id: UUID | None = None
    notes: Sequence[str] = ()

    def __repr__(self) -> str:
        return described(
            self,
            self.thread,
            plural(len(self.items), "line"),
            f"{self.tokens} tokens",
            *(one.text for one in self.items[:1]),
        )

    def __str__(self) -> str:
        """Return the text."""
        return self.text

    def _repr_html_(self) -> str:
        """Show the text in a notebook."""
        return as_card(self.thread or "a new thread", f"{self.tokens} tokens", [self.text])


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """What a context is asked for; see `UserMemory.context`."""

    message: Item
    at: datetime | None
    thread: str | None
    max_tokens: int
    form: Form = "default"
    projects: frozenset[str] = frozenset()
    only: Walls = ()
    bound: Walls = ()  # those of `only` that hold for the thread asked for, too


@dataclass(frozen=True, slots=True)
class _Current:
    """The message's thread: `before` is the seq from which on nothing counts, `at` when it was said.

    That is the message's own where it is stored, and that of what was said after it where its caller dated
    it; `past` tells that something was. `others` is what lies elsewhere than in what may be told.
    """

    thread: Thread | None
    explicit: bool
    at: datetime
    before: int | None = None
    notes: tuple[str, ...] = ()
    past: bool = False
    others: Elsewhere = NO_OTHERS


class Contexts:
    """Assembles contexts over one store."""

    def __init__(
        self,
        deps: Deps,
        *,
        foreseen: Foresee | None = None,
        ask_ahead: AskAhead | None = None,
        summary_of: SummaryOf | None = None,
    ) -> None:
        """Take `foreseen` to link what is not stored yet, and `summary_of` for the summary of a thread.

        `ask_ahead` asks a language model about a message that would begin a thread, before it is foreseen.
        """
        self._deps = deps
        self._foreseen = foreseen
        self._ask_ahead = ask_ahead
        self._summary_of = summary_of
        self._pieces = PieceVectors(deps)

    def run(self, scope: Scope, request: ContextRequest) -> ThreadContext:
        """Assemble one context; see `UserMemory.context`."""
        vector, notes = self._embed(request.message.text)
        self._ask(scope, request, vector)
        pieces = PieceReading(self._pieces)
        context = self._read(scope, request, vector, pieces)
        if self._pieces.embed(pieces.missing):
            context = self._read(scope, request, vector, pieces)
        return replace(context, notes=(*notes, *context.notes))

    def _read(
        self, scope: Scope, request: ContextRequest, vector: Vector | None, pieces: PieceReading
    ) -> ThreadContext:
        """Assemble a context in one transaction, by what is known of `pieces` of long texts."""
        with reading_named(self._deps.store, scope) as unwalled:
            named = threads_called(unwalled, request.only) if request.only else None
            request, unknown = _in_project(unwalled, request, named)
            current = self._current(unwalled, request, named)
            tx = unwalled if named is None else _inside(unwalled, request, current, named)
            deps = self._deps
            visibility = Visibility(tx, max(current.at, deps.clock()))
            current = replace(current, others=_others(request, current, named))
            asking = Asking(
                vector,
                current.at,
                deps.embedder_name,
                calibration=deps.calibration,
                language=deps.language,
                summary_of=self._summary_of,
                visibility=visibility,
                until=request.at,
            )
            if request.form == "seed-002":
                context = self._assembled(tx, request, current, asking)
            else:
                context = self._default_form(tx, request, current, asking, visibility, pieces)
        missing = () if named is None else named.but(request.thread).notes
        return replace(context, notes=(*unknown, *current.notes, *missing, *context.notes))

    def _ask(self, scope: Scope, request: ContextRequest, vector: Vector | None) -> None:
        """Ask a language model before the first prompt of a thread what it goes on with."""
        deps, message = self._deps, request.message
        if self._ask_ahead is None or deps.model_for(scope, thread_link.STAGE) is None:
            return
        with deps.store.begin(scope, write=False) as tx:
            named = threads_called(tx, request.only) if request.only else None
            request, _ = _in_project(tx, request, named)
            current = self._current(tx, request, named)
        if current.thread is None and (not current.explicit or reminds(message.text)):
            self._ask_ahead(scope, message.text, message.actor, vector, current.at, message.channel)

    def _embed(self, text: str) -> tuple[Vector | None, list[str]]:
        if self._deps.embedder is None:
            return None, []
        try:
            return query_vector(self._deps.embedder, windows(text)[0]), []
        except ProviderError as error:
            return None, [f"likeness by words only: {error}"]

    def _current(self, tx: Transaction, request: ContextRequest, named: NamedThreads | None) -> _Current:
        """Find the message's thread: the one asked for, or the one it would join, if that may be told."""
        message, channels = request.message, self._deps.channels
        at = request.at or self._deps.clock()
        explicit = channels.is_explicit(message.channel)
        if request.thread is None:
            placement = Placement(tx, channels, [(message, at)], {}, hold=False, as_of=request.at)
            placed = placement.take(_TRIAL, message, at)
            thread = _begun_by(tx, message) if placed.resolution.new else tx.threads.get(placed.thread)
            if thread is not None and are_apart(projects_of(thread.channels), request.projects):
                thread = None  # what runs is of another project: the message is not said into it
            if thread is not None and named is not None and thread.id not in named.ids:
                thread = None  # it came about by nobody's asking for it
        else:
            thread = named_thread(tx, request.thread)
            if thread is None:
                # as with `add`: a name nobody knows is that of a thread to begin
                note = f"no thread {request.thread!r} yet; the message would begin it"
                return _Current(None, message.channel is None or explicit, at, notes=(note,))
            explicit = thread.explicit if message.channel is None else explicit
        if thread is None:
            return _Current(None, explicit, at)
        end = None if request.at is None else said_by(tx, thread, request.at)
        past = end is not None and end < tx.threads.frame(thread.id).next_seq
        last = _last(tx, thread, end)
        if last is None or is_reply(last) or last.text != message.text:
            return _Current(thread, explicit, at, before=end if past else None, past=past)
        return _Current(thread, explicit, request.at or last.at, before=last.seq)

    def _assembled(
        self, tx: Transaction, request: ContextRequest, current: _Current, asking: Asking
    ) -> ThreadContext:
        thread = current.thread
        own = None if thread is None else recount(tx, thread, asking, before=current.before)
        near = self._near(tx, request, current, asking)
        linked = [(one, recount(tx, one.thread, asking)) for one in near]
        recent = [] if current.explicit or near else _recent(tx, thread, asking, current.others)
        if asking.visibility is not None and asking.visibility.drawn:
            own = own if own is not None and own.names else None
            linked = [(one, told) for one, told in linked if told.names]
            recent = [told for told in recent if told.names]
        context = assemble(
            request.message.text,
            None if own is None else own.background,
            at=current.at,
            linked=[Linked(told.background, one.basis, one.uncertain) for one, told in linked],
            recent=[told.background for told in recent],
            explicit=current.explicit,
            max_tokens=request.max_tokens,
            language=self._deps.language,
        )
        recounteds = [*recent, *(one for _, one in linked), *([] if own is None else [own])]
        by_thread = {one.thread.id: one for one in recounteds}
        lines = context.text.split("\n")
        return ThreadContext(
            text=context.text,
            items=[_line(item, lines[item.line], by_thread) for item in context.items],
            tokens=context.tokens,
            thread=None if thread is None else thread.origin,
            thread_id=None if thread is None else thread.id,
        )

    def _default_form(
        self,
        tx: Transaction,
        request: ContextRequest,
        current: _Current,
        asking: Asking,
        visibility: Visibility,
        pieces: PieceReading,
    ) -> ThreadContext:
        """Return the default form: what is known, this conversation, and what was said earlier."""
        thread, text = current.thread, translated(tx, request.message.text)
        near = self._near(tx, request, current, asking)
        into = situation(
            tx,
            text,
            asking.vector,
            current.at,
            thread,
            end=current.before,
            visibility=visibility,
            until=request.at,
            past=current.past,
            others=current.others.but(one.thread.id for one in near),
        )
        if request.form != FIRST:
            into = with_time(tx, self._deps, into, visibility)
        written = prompt(
            tx,
            self._deps,
            current=into,
            near=near,
            explicit=current.explicit,
            max_tokens=request.max_tokens,
            visibility=visibility,
            policy=FIRST if request.form == FIRST else RIVALS,
            called=lambda one: mention(tx, one, asking).background.title,
            pieces=pieces,
        )
        return ThreadContext(
            text=written.context.text,
            items=_context_lines(written),
            tokens=written.context.tokens,
            thread=None if thread is None else thread.origin,
            thread_id=None if thread is None else thread.id,
            notes=[
                *([into.when.silence] if into.when is not None and into.when.silence else []),
                *_no_room(written.context, request.max_tokens),
            ],
        )

    def _near(
        self, tx: Transaction, request: ContextRequest, current: _Current, asking: Asking
    ) -> list[NearThread]:
        own = None if current.thread is None else current.thread.id
        if own is not None:
            direct = links_of(tx, own)
        elif self._foreseen is not None:
            foreseen = self._foreseen(tx, request.message.text, asking.vector, asking.at, None)
            direct = [Near(*one) for one in foreseen]
        else:
            direct = []
        most = MOST_LINKED if current.others.only is None else MOST_LINKED * AMONG_OTHERS
        near = chosen(tx, direct, own, explicit=current.explicit, most=most)
        outside = current.others.outside(one.thread.id for one in near)
        near = [one for one in near if one.thread.id not in outside][:MOST_LINKED]
        # what was linked by hand is meant, whatever project it is of
        elsewhere = current.others.among(tx, [one.thread.id for one in near])
        near = [one for one in near if one.basis is not Basis.CONTINUITY or one.thread.id not in elsewhere]
        until = request.at
        return near if until is None else [one for one in near if one.thread.created_at <= until]


def read_request(
    message: str,
    *,
    thread: str | None,
    channel: str | None,
    at: "str | float | datetime | None",
    max_tokens: int,
    largest: int,
    form: str = "default",
    project: str | None = None,
    only: Where = None,
    walls: Walls = (),
) -> ContextRequest:
    """Read what a context is asked for with; InvalidInput for what cannot be read."""
    if isinstance(max_tokens, bool) or not isinstance(max_tokens, int) or max_tokens < 1:
        raise InvalidInput(f"`max_tokens` is a whole number from 1 on, not {max_tokens!r}")
    if form not in FORMS:
        raise InvalidInput(f"no form {form!r} of a context; there are {', '.join(FORMS)}")
    if not isinstance(message, str):
        raise InvalidInput(f"the message is a text, not {type(message).__name__}")
    if not message.strip():
        raise InvalidInput("the message is empty; give the words that are about to be answered")
    moment = None if at is None else read_time(at).lived
    item = read_item(message, channel=name_or_none("channel", channel), largest=largest)
    requested_form = next(one for one in FORMS if one == form)
    projects = project_called(name_or_none("project", project)) or projects_of([item.channel or ""])
    return ContextRequest(
        item,
        moment,
        name_or_none("thread", thread),
        max_tokens,
        requested_form,
        projects,
        walls_of(walls, only),
        walls,
    )


def context_of(
    contexts: Contexts,
    deps: Deps,
    scope: Scope,
    request: ContextRequest,
    *,
    as_of: datetime | None = None,
) -> ThreadContext:
    """Assemble a context, with a note where nothing is remembered of the user yet, or was `as_of` then."""
    context = contexts.run(scope, request)
    if context.thread is None and not context.items and not deps.store.scopes(scope):
        note = f"nothing is remembered of {scope.user_id!r} yet"
        if as_of is not None:
            moment = f"{as_of:%Y-%m-%d %H:%M %Z}"
            note = f"nothing was known of {scope.user_id!r} before {moment}; {LATER}"
        return replace(context, notes=(*context.notes, note))
    return context


def _no_room(context: Context, max_tokens: int) -> list[str]:
    """Say that a budget is too small to tell anything of the past, and which one is not."""
    if not context.least:
        return []
    return [f"no line of the past fits into {plural(max_tokens, 'token')}; {context.least} have room for one"]


def _context_lines(written: Prompt) -> list[ContextLine]:
    lines = written.context.text.split("\n")
    return [
        ContextLine(
            line=item.line,
            kind=item.kind,
            text=lines[item.line],
            thread=written.threads[item.thread_id].origin,
            thread_id=item.thread_id,
            episode_id=written.episodes.get(item.line),
            first_seq=item.first_seq,
            last_seq=item.last_seq,
            observations=source_of(item, written),
            score=item.score,
        )
        for item in written.context.items
    ]


def _begun_by(tx: Transaction, message: Item) -> Thread | None:
    """Return the thread a message has just begun, where it is stored already; else None."""
    for thread in tx.threads.list("current", limit=1):
        last = _last(tx, thread)
        if last is not None and (last.text, last.channel) == (message.text, message.channel):
            return thread
    return None


def _last(tx: Transaction, thread: Thread, end: int | None = None) -> Observation | None:
    """Return a thread's last observation (before a seq), unless it is erased."""
    end = tx.threads.frame(thread.id).next_seq if end is None else end
    observations = tx.observations.read(thread.id, end - 1, end - 1) if end else ()
    return observations[-1] if observations else None


def _in_project(
    tx: Transaction, request: ContextRequest, named: NamedThreads | None
) -> tuple[ContextRequest, tuple[str, ...]]:
    """Return a request with the project that its folder means, and a note where that is unknown."""
    if request.projects == projects_of([request.message.channel or ""]):
        return request, ()  # by a channel a project may begin
    own, notes = projects_meant(tx, request.projects, None if named is None else named.ids)
    return replace(request, projects=own), notes


def _inside(tx: Transaction, request: ContextRequest, current: _Current, named: NamedThreads) -> Transaction:
    """Return what reads what may be told alone: of the thread that is asked for all that the memory tells."""
    outside = named.outside
    if request.thread is not None and current.thread is not None:
        begin, end = span_of(tx, current.thread.id, 0, None)
        always = threads_called(tx, request.bound).outside if request.bound else frozenset()
        outside = frozenset(ref for ref in outside if not begin <= ref <= end or ref in always)
    return reading(tx, request.only, outside)


def _others(request: ContextRequest, current: _Current, named: NamedThreads | None) -> Elsewhere:
    """Return what lies elsewhere: outside what is named, and of other projects than the message.

    Its project is its own channel, else that of its thread. That thread counts in any case.
    """
    thread, only = current.thread, None if named is None else named.ids
    if thread is None:
        return Elsewhere(request.projects, only=only)
    only = None if only is None else only | {thread.id}
    return Elsewhere(request.projects or projects_of(thread.channels), [thread.id], only)


def _recent(tx: Transaction, current: Thread | None, asking: Asking, others: Elsewhere) -> list[Recounted]:
    """Return the other threads of the last day that nobody denied, the most recently active first."""
    own = None if current is None else current.id
    apart = set() if own is None else {own, *on_both_sides(tx, own)}
    latest = tx.threads.list(begun=asking.at, limit=_LOOKED_AT * (AMONG_OTHERS if others else 1))
    apart |= others.among(tx, [thread.id for thread in latest])
    threads = [thread for thread in latest if thread.id not in apart][:_LOOKED_AT]
    fresh = [t for t in threads if asking.at - t.last_activity_at <= _RECENT]
    return [mention(tx, thread, asking) for thread in fresh[:_MOST_RECENT]]


def _line(item: ContextItem, text: str, recounteds: Mapping[UUID, Recounted]) -> ContextLine:
    source = recounteds[item.thread_id]
    seqs = range(item.first_seq, item.last_seq + 1)
    return ContextLine(
        line=item.line,
        kind=item.kind,
        text=text,
        thread=source.thread.origin,
        thread_id=item.thread_id,
        episode_id=item.episode_id,
        first_seq=item.first_seq,
        last_seq=item.last_seq,
        observations=tuple(source.names[seq] for seq in seqs if seq in source.names),
        score=item.score,
    )
