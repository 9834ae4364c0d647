"""Know again what stands under another name: a chat read in another zone, a session that hooks kept.

An import names what it reads after the file alone. Some of it may stand under a name that the file alone does
not give: versions before named a chat by its times in the zone it was read in, a session by its id alone, and
let a tool's answer be the user's; hooks name each message after the event that brought it. What stands keeps
its name, what is new joins it, and nothing is stored twice.

A chat without ids is named by its first line, and its messages by who said them. With a contact renamed
between two exports all of them would be new. So what is read is compared with what stands: the same words at
the same time at the beginning of a chat make it the same chat, and whoever says at all the same times what
somebody else is stored to have said is that person, where neither of the two names is in both. A chat whose
beginning is cut off is known by the run of messages that both have.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Final, NamedTuple
from uuid import UUID

from episodic_agent.core.identity import Repeats, assign_ids
from episodic_agent.core.ingest import Item
from episodic_agent.core.language import plural
from episodic_agent.engine.files.editing import is_out_of_place
from episodic_agent.engine.files.formats.speaking import CELL
from episodic_agent.engine.files.naming import BEGINNING, chat_name, tells_apart
from episodic_agent.engine.files.options import ReadingNotes
from episodic_agent.engine.files.speakers import written_as
from episodic_agent.engine.ingest.appending import Incoming
from episodic_agent.engine.own_ids import as_brought
from episodic_agent.protocols import Store, Transaction
from episodic_agent.schemas import Kind, Observation, Scope, Thread, TimeSource
from episodic_agent.showing import visible

_READ: Final = 1000  # messages of a chat that are compared
_NEAR: Final = 5000  # messages of all chats around one of which the zone is not known
_ZONES: Final = timedelta(hours=27)  # between the clocks of any two zones
_UNNAMED: Final = "chat-"
_NEVER: Final = datetime.max.replace(tzinfo=UTC)
_RUN: Final = 3  # messages that two files of one chat share at least
_MOSTLY: Final = 0.8  # of somebody's messages; one may be edited or deleted since
_Spoken = Counter[tuple[object, str]]  # the messages of somebody, by time and text
_TELLING: Final = 20  # characters of a single line that nobody else says in the same minute


def thread_begun_so(tx: Transaction, items: Sequence[Item]) -> Thread | None:
    """Return the chat that stands and begins with the words of these at the same times; None without one."""
    for observation in _standing(tx, items):
        if observation.seq:
            continue
        (thread,) = tx.threads.list(ids=[observation.thread_id])
        if thread.origin.startswith(_UNNAMED):
            names = renamed_speakers(tx, thread, items)
            if names and items[0].actor in (*names, observation.actor):
                return thread
    return None


def renamed_speakers(
    tx: Transaction, thread: Thread, items: Sequence[Item], begin: int = 0
) -> Mapping[str, Sequence[str]]:
    """Return the names under which speakers of these are stored in a thread, by those they have now.

    `begin` is the message of the thread that the first of these is. Times are compared as they were written:
    they may have been read in another zone.
    """
    stored = [o for o in tx.observations.read(thread.id, begin, begin + _READ - 1) if o.external_id is None]
    timed = [item for item in items if item.at is not None and item.at_source is TimeSource.GIVEN]
    gone = {o.actor for o in stored} - {item.actor for item in timed}
    if not gone or not timed:
        return {}
    before, now = _by_speaker(stored, timed)
    names: dict[str, Sequence[str]] = {}
    for name, spoken in now.items():
        fresh = spoken - before[name]  # what is not stored under the name itself
        alike = {other: fresh & before[other] for other in sorted(gone) if fresh & before[other]}
        same = [other for other, shared in alike.items() if _is_most(shared, before[other])]
        together = sum((alike[other] for other in same), _Spoken())
        if same and _is_telling(together) and _is_most(together, fresh):
            names[name] = same
            gone -= set(same)
    return names


def _is_most(shared: _Spoken, spoken: _Spoken) -> bool:
    return shared.total() >= _MOSTLY * spoken.total()


def _is_telling(shared: _Spoken) -> bool:
    return shared.total() > 1 or any(len(text) >= _TELLING for _, text in shared)


def _by_speaker(
    stored: Iterable[Observation], read: Iterable[Item]
) -> tuple[Mapping[str, _Spoken], Mapping[str, _Spoken]]:
    """Count what each said when, of what is stored and of what is read, as far as both go."""
    had = [(o.actor, _written(o), o.text) for o in stored]
    come = [(item.actor, item.written, item.text) for item in read if item.written]
    last = min(max((at for _, at, _ in messages), default=_NEVER) for messages in (had, come))
    counts: tuple[dict[str, _Spoken], dict[str, _Spoken]] = defaultdict(Counter), defaultdict(Counter)
    for spoken, messages in zip(counts, (had, come), strict=True):
        for actor, at, text in messages:
            if at <= last:
                spoken[actor][at, text] += 1
    return counts


def thread_gone_on(tx: Transaction, items: Sequence[Item]) -> tuple[Thread, int] | None:
    """Return the chat that stands and holds the messages these begin with, and where; None without one.

    WhatsApp cuts the beginning of long chats off. What one sends to several people at once is no such run:
    it takes two speakers and most of what both go over.
    """
    for met in _standing(tx, items):
        (thread,) = tx.threads.list(ids=[met.thread_id])
        if met.seq and thread.origin.startswith(_UNNAMED):
            stored = tx.observations.read(thread.id, met.seq, met.seq + _READ - 1)
            before, now = _by_speaker(stored, items)
            come = sum(now.values(), _Spoken())
            shared = come & sum(before.values(), _Spoken())
            speakers = sum(1 for spoken in before.values() if spoken & shared)
            if speakers > 1 and shared.total() >= _RUN and _is_most(shared, come):
                return thread, met.seq
    return None


def _standing(tx: Transaction, items: Sequence[Item]) -> Iterator[Observation]:
    """Yield what stands in the words of the first of these and at the time it was written, in any zone."""
    first = items[0] if items else None
    if first is None or first.at is None or first.at_source is not TimeSource.GIVEN:
        return
    refs = tx.index.between(first.at - _ZONES, first.at + _ZONES, limit=_NEAR).tolist()
    for met in tx.observations.get(refs).values():
        if (met.text, met.channel, _written(met)) == (first.text, first.channel, first.written):
            yield met


def _written(observation: Observation) -> datetime:
    return observation.at + timedelta(seconds=observation.utc_offset or 0)


SESSIONS: Final = ("claude-code", "codex")  # formats of which hooks keep sessions, too
NEAR: Final = timedelta(minutes=2)  # how far apart a hook's clock and a transcript's may be about one message
_OFFSETS: Final = tuple(900 * n for n in range(-12 * 4, 14 * 4 + 1))  # seconds east of UTC, of any zone
_HOUR: Final = 3600  # by which a zone's summer differs
_EVENT: Final = re.compile(r"[A-Z][A-Za-z]+:(.+)", re.DOTALL)  # how hooks name what an event brought
_PART: Final = re.compile(r"#(?:answer|words)\Z")  # of a line that was one message before
_PICTURE: Final = re.compile(r"\[image[^\]\n]*\]", re.IGNORECASE)
_PAGE: Final = 1000
_NAMED: Final = 3  # threads that a remark names
_ZONE: Final = "zone "
_EDITED: Final = "edited since"


def session_thread(kind: str, origin: str) -> str:
    """Return the thread of a format's conversation: of a coding agent's session the one that hooks name.

    >>> session_thread("claude-code", "026f"), session_thread("slack", "slack-C01AB")
    ('claude-code:026f', 'slack-C01AB')
    """
    return f"{kind}:{origin}" if kind in SESSIONS else origin


class Placed(NamedTuple):
    """An item of an import: the part it is from, by number, and the thread its file alone gives it."""

    part: int
    origin: str
    item: Item


@dataclass(slots=True)
class _HookedSession:
    """What hooks kept of a session: the calls of tools by their ids, and when each text was said."""

    calls: set[str] = field(default_factory=set)
    texts: dict[tuple[str, str], list[Observation]] = field(default_factory=lambda: defaultdict(list))

    def takes(self, item: Item) -> bool:
        """Tell whether an item is one of these, each of which is no more than one."""
        calls = _calls(item)
        if calls:
            spoken = item.actor == "assistant" and not item.text.startswith("called ")
            return calls <= self.calls and not spoken
        at = item.at
        held = self.texts.get((item.actor, _plain(item.text)))
        if not held or at is None or item.at_source is TimeSource.ASSUMED:
            return False
        nearest = min(held, key=lambda o: abs(o.at - at))
        if abs(nearest.at - at) > NEAR:
            return False
        held.remove(nearest)
        return True


@dataclass(slots=True)
class _StandingChat:
    """A conversation as it stands: its thread, the name it had before, and the offsets it was read in.

    `names` are those under which its speakers stand, by what they are called now. `joins` tells that what is
    new is named as the chat is that stands, since the beginning it would be named after is cut off.
    """

    thread: str
    conversation: str | None = None
    offsets: tuple[int, ...] = ()
    hooked: _HookedSession | None = None
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    joins: bool = False


class Recogniser:
    """Names what one import brings. `skipped` counts what stands in another form, and is not added again.

    A part of an import is named as if it came alone: of two exports of one chat in a folder the second adds
    only what is new, as it does when it comes later. What repeats is counted within a part.
    """

    def __init__(self, store: Store, scope: Scope, source: str | None, notes: ReadingNotes) -> None:
        self._store = store
        self._scope = scope
        self._source = source
        self._notes = notes
        self._seen: dict[tuple[int, str, Scope], Repeats] = defaultdict(Repeats)
        self._standing: dict[tuple[int, str], _StandingChat] = {}
        self._compared: set[str] = set()
        self._hooked = 0
        self._under: dict[str, list[str]] = defaultdict(
            list
        )  # threads of the user's messages, by other names
        self.edited: dict[UUID, list[UUID]] = {}  # by the id of the new words those of all before
        self.late: list[Incoming] = []  # new words of messages after which their threads have gone on
        self.skipped = 0

    def name(self, batch: Sequence[Placed]) -> Iterator[Incoming]:
        """Yield a batch with ids, each item in its thread; what stands in another form is left out."""
        with self._store.begin(self._scope, write=False) as tx:
            standing = [self._stands(tx, n, batch) for n in range(len(batch))]
            batch = [_joined(placed, stands) for placed, stands in zip(batch, standing, strict=True)]
            items = [placed.item for placed in batch]
            named = [(placed.part, placed.item) for placed in batch]
            ids = as_brought(tx, self._ids("", named), partial(self._ids, "", named))
            known = set(tx.observations.known(ids))
            earlier = self._earlier(tx, batch, standing, [identity in known for identity in ids])
            self._count_others(tx, items, ids, known)
            self._compare(tx, items, [i if i in known else earlier.get(n) for n, i in enumerate(ids)])
            edits, late = self._take_edits(tx, batch, ids, items)
            known -= edits
            _keep_texts(tx, ids, items, known)
        self._forget_parts_before(batch[-1].part)
        for n, (identity, item) in enumerate(zip(ids, items, strict=True)):
            stands, new = standing[n], identity not in known and n not in earlier
            if n in earlier and _PART.search(item.external_id or ""):
                self.skipped += 1  # its text stands in that of the whole line
            elif new and stands.hooked and stands.hooked.takes(item):
                self.skipped += 1
                self._hooked += 1
            elif identity in late:
                self.late.append(Incoming(stands.thread, identity, item))
            else:
                yield Incoming(stands.thread, earlier.get(n, identity), item)

    def _take_edits(
        self, tx: Transaction, batch: Sequence[Placed], ids: list[UUID], items: list[Item]
    ) -> tuple[set[UUID], set[UUID]]:
        """Give messages that were edited since ids of their own, in place.

        Returns the ids they had, and those of new words for which it is too late in their threads. Each
        version has the number of edits that are known before it, so that each is taken in once.
        """
        marked = {n: ids[n] for n, item in enumerate(items) if item.edited and item.external_id is not None}
        standing = dict(tx.observations.get(list(marked.values()))) if marked else {}
        had, late = set[UUID](), set[UUID]()
        for n, first in marked.items():
            before = standing.get(first)
            stale: list[UUID] = []
            while before is not None and not _says_same(before, items[n]):
                stale.append(ids[n])
                version = f"{batch[n].item.external_id}~{len(stale)}"
                items[n] = replace(items[n], external_id=version)
                (ids[n],) = self._ids(_EDITED, [(batch[n].part, items[n])])
                before = tx.observations.get([ids[n]]).get(ids[n])
            if before is not None:
                items[n] = replace(items[n], text=before.text)
            if stale:
                had.add(first)
                self.edited[ids[n]] = stale
                if before is None and is_out_of_place(tx, standing[first]):
                    late.add(ids[n])
        return had, late

    def _ids(self, name: str, items: Sequence[tuple[int, Item]], scope: Scope | None = None) -> list[UUID]:
        """Return the ids of items, each with its part, read as `name` says; as of `scope`."""
        scope = scope or self._scope
        ids: list[UUID] = []
        for part, group in groupby(items, key=itemgetter(0)):
            alike = [item for _, item in group]
            ids += assign_ids(alike, scope, self._source, seen=self._seen[part, name, scope])
        return ids

    def _forget_parts_before(self, part: int) -> None:
        self._seen = defaultdict(Repeats, {key: seen for key, seen in self._seen.items() if key[0] == part})
        self._standing = {key: stands for key, stands in self._standing.items() if key[0] == part}

    def _stands(self, tx: Transaction, place: int, batch: Sequence[Placed]) -> _StandingChat:
        key = batch[place].part, batch[place].origin
        if key not in self._standing:
            following = (placed.item for placed in batch[place:] if placed.part == key[0])
            items = list(following)
            stands = self._look_up(tx, batch[place], items)
            self._standing[key] = self._with_names(tx, batch[place], stands, items)
        return self._standing[key]

    def _with_names(
        self, tx: Transaction, placed: Placed, stands: _StandingChat, following: Sequence[Item]
    ) -> _StandingChat:
        """Return a chat without ids as it stands, with the names its speakers had there."""
        item = placed.item
        if item.external_id is not None or stands.thread != item.conversation or not item.local:
            return stands
        items = [one for one in following if one.conversation == item.conversation]
        thread, begin = tx.threads.get(stands.thread) or thread_begun_so(tx, items), 0
        if thread is None and (run := thread_gone_on(tx, items)) is not None:
            thread, begin = run
            remark = (
                f"{item.title or item.conversation}: its beginning is cut off; what is known is not added"
            )
            self._notes.remarks[f"{remark} again"] += 1
        names = renamed_speakers(tx, thread, items, begin) if thread is not None else {}
        if thread is None or not (names or begin):
            return stands
        for name, others in names.items():
            earlier = ", ".join(repr(visible(other)) for other in others)
            self._notes.remarks[
                f"{item.title or item.conversation}: {visible(name)!r} was {earlier} in an earlier export: "
                "what is known stays under that name, and nothing of it is added again"
            ] += 1
        origin = thread.origin
        return replace(stands, thread=origin, conversation=origin, names=names, joins=begin > 0)

    def _look_up(self, tx: Transaction, placed: Placed, following: Iterable[Item]) -> _StandingChat:
        part, origin, item = placed
        conversation = item.conversation or ""
        thread = tx.threads.get(origin)
        if origin.endswith(f":{conversation}") and conversation:
            if thread is not None:
                return _StandingChat(origin, hooked=_hooked_session(tx, thread))
            return _StandingChat(conversation if tx.threads.get(conversation) else origin)
        if thread is not None or not item.local:
            first = tx.observations.read(thread.id, 0, 0) if thread is not None and item.local else ()
            return _StandingChat(origin, offsets=_around(first[0].utc_offset) if first else ())
        began = self._standing.get((part, conversation))
        if began is not None and origin.startswith(conversation):  # a conversation of a channel that stands
            return replace(began, thread=began.thread + origin.removeprefix(conversation))
        beginning = _beginning(conversation, following)
        for offset in _OFFSETS if beginning else ():
            name = chat_name([_read_in(message, offset) for message in beginning])
            if tx.threads.get(name) is not None:
                return _StandingChat(name, name, _around(offset))
        return _StandingChat(origin)

    def _earlier(
        self,
        tx: Transaction,
        batch: Sequence[Placed],
        standing: Sequence[_StandingChat],
        known: Sequence[bool],
    ) -> dict[int, UUID]:
        """Return the ids under which earlier versions stored items that are not known by their own."""
        older: dict[int, UUID] = {}
        by_variant: dict[str, list[tuple[int, Item]]] = defaultdict(list)
        for n, placed in enumerate(batch):
            for name, variant in _variants(placed.item, standing[n]):
                by_variant[name].append((n, variant))
        for name, variants in by_variant.items():
            ids = self._ids(name, [(batch[n].part, variant) for n, variant in variants])
            unknown = [i for i, (n, _) in zip(ids, variants, strict=True) if not known[n]]
            stored = tx.observations.get(unknown) if unknown else {}
            for identity, (n, variant) in zip(ids, variants, strict=True):
                observation = stored.get(identity)
                if known[n] or observation is None:
                    continue
                # by another zone's clock the same words may have been said at this one's time, too
                if not name.startswith(_ZONE) or observation.at == variant.at:
                    older.setdefault(n, identity)
        return older

    def _compare(self, tx: Transaction, items: Sequence[Item], stored: Sequence[UUID | None]) -> None:
        """Say of each chat that stands with the times of another zone that they stay."""
        asked: dict[UUID, Item] = {}
        for item, identity in zip(items, stored, strict=True):
            name = item.conversation or ""
            if item.local and identity is not None and name not in self._compared:
                self._compared.add(name)
                asked[identity] = item
        for identity, observation in (tx.observations.get(list(asked)) if asked else {}).items():
            item = asked[identity]
            if item.at is not None and item.at_source is not TimeSource.ASSUMED and observation.at != item.at:
                title = item.title or item.conversation
                self._notes.remarks[
                    f"{title!r} was read in another time zone before: what is known keeps its times "
                    f"({observation.at:%Y-%m-%d %H:%M} UTC, now {item.at:%Y-%m-%d %H:%M}); give the same "
                    "--timezone again, or forget that thread first"
                ] += 1

    def _count_others(
        self, tx: Transaction, items: Sequence[Item], ids: Sequence[UUID], known: Collection[UUID]
    ) -> None:
        """Count the messages of the user's that are known as somebody else's."""
        own = {i: item for i, item in zip(ids, items, strict=True) if i in known and written_as(item)}
        for identity, observation in (tx.observations.get(list(own)) if own else {}).items():
            if observation.actor != "user":
                self._under[observation.actor].append(own[identity].title or own[identity].conversation or "")

    def note_kept(self) -> None:
        """Say how much of what was read hooks had kept, and what stands under another name."""
        for name, threads in self._under.items():
            stay = plural(len(threads), "message of the user's stays", "messages of the user's stay")
            titles = [repr(visible(title)) for title in dict.fromkeys(threads)]
            more = f" and {len(titles) - _NAMED} more" if len(titles) > _NAMED else ""
            self._notes.remarks[
                f"{stay} under {visible(name)!r}, as read in an earlier import; to change that, forget "
                f"{', '.join(titles[:_NAMED])}{more} first and import again"
            ] += 1
        if self._hooked:
            count = plural(self._hooked, "message")
            self._notes.remarks[f"{count} of sessions that hooks kept already: only the rest was added"] += 1


def _joined(placed: Placed, standing: _StandingChat) -> Placed:
    """Return an item named as the chat is that its own goes on with."""
    if not standing.joins:
        return placed
    return placed._replace(item=replace(placed.item, conversation=standing.conversation))


def _keep_texts(tx: Transaction, ids: Sequence[UUID], items: list[Item], known: Collection[UUID]) -> None:
    """Let messages stand as they were read before: by other names, or the cells of a table as one word."""
    rows = [n for n, item in enumerate(items) if ids[n] in known and (item.says_same or CELL in item.text)]
    stored = tx.observations.get([ids[n] for n in rows]) if rows else {}
    for n in rows:
        before = stored.get(ids[n])
        if before is not None and _says_same(before, items[n]):
            items[n] = replace(items[n], text=before.text)


def _says_same(before: Observation, item: Item) -> bool:
    if item.says_same is not None and item.says_same(before.text):
        return True
    glued = CELL in item.text and _glued(before.text) == _glued(item.text)
    return glued or before.text == item.text


def _glued(text: str) -> str:
    return "".join(text.replace(CELL.strip(), "").split())


def _hooked_session(tx: Transaction, thread: Thread) -> _HookedSession | None:
    session = _HookedSession()
    for begin in range(0, tx.threads.frame(thread.id).next_seq, _PAGE):
        for observation in tx.observations.read(thread.id, begin, begin + _PAGE - 1):
            event = _EVENT.fullmatch(observation.external_id or "")
            if event is None:
                continue
            if observation.kind is Kind.TOOL:
                session.calls.add(event[1])
            else:
                session.texts[observation.actor, _plain(observation.text)].append(observation)
    return session if session.calls or session.texts else None


def _calls(item: Item) -> set[str]:
    """Return the ids of the calls of tools that an item makes or answers."""
    if item.kind is not Kind.TOOL:
        return set()
    calls = item.extras.get("calls")
    uses = [*(calls if isinstance(calls, list) else ()), item.extras]
    ids = (use.get("tool_call_id") for use in uses if isinstance(use, Mapping))
    return {identity for identity in ids if isinstance(identity, str)}


def _plain(text: str) -> str:
    return " ".join(_PICTURE.sub("", text).split())


def _beginning(conversation: str, items: Iterable[Item]) -> list[Item]:
    """Return the messages that an unnamed chat is named after; none where it was not named so."""
    held: list[Item] = []
    for item in items:
        if item.conversation != conversation:
            continue
        assumed = item.at_source is TimeSource.ASSUMED
        held.append(replace(item, at=None) if assumed else item)
        if tells_apart(item) or len(held) == BEGINNING:
            break
    return held if held and chat_name(held) == conversation else []


def _around(offset: int | None) -> tuple[int, ...]:
    return () if offset is None else (offset, offset + _HOUR, offset - _HOUR)


def _read_in(item: Item, offset: int) -> Item:
    """Return an item as it is named by its time in a zone that lies so many seconds east of UTC."""
    if item.written is None or not item.local:
        return item
    return replace(item, at=item.written - timedelta(seconds=offset), utc_offset=None)


def _variants(item: Item, standing: _StandingChat) -> Iterator[tuple[str, Item]]:
    """Yield how earlier versions read an item that named it otherwise."""
    if item.external_id is not None:
        if _PART.search(item.external_id):
            yield "part", replace(item, external_id=_PART.sub("", item.external_id))
        return
    if item.actor == "tool":
        yield "actor", replace(item, actor="user")
    if (item.conversation or "").startswith("signal-"):  # one file of a chat has zones, the other none
        yield "zoned", replace(item, local=not item.local)
    before = replace(item, conversation=standing.conversation or item.conversation)
    if name := written_as(item):  # read before anybody said whose name that is
        yield "written", replace(before, actor=name)
    if standing.names:
        for n, name in enumerate(standing.names.get(item.actor, (item.actor,))):
            yield f"renamed {n}", replace(before, actor=name)
    if item.local and item.at_source is not TimeSource.ASSUMED:
        told_zone = () if item.utc_offset is None else (item.utc_offset,)
        for offset in dict.fromkeys((*standing.offsets, *told_zone)):
            yield f"{_ZONE}{offset}", _read_in(before, offset)
