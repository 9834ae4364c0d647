"""Which thread an observation joins (seed 002, section 1.2; docs/internals/threads.md#the-rules-in-order).

1. An observation that is known already stays where it is.
2. A thread the caller names is the one, however long it was silent; a closed one reopens. Without a name it
   is the one the user selected last, on whatever channel, until that was silent for longer than its timeout.
   On an explicit channel, neither means a new thread, unless nobody picks threads there: the last thread of
   the channel was never named, the agent has answered in it or in an earlier one of that kind, and no longer
   silence than the timeout has passed; or two minutes at most, before any answer. Such a thread of another
   channel, answered, is gone on with by a message that means nothing alone.
3. On an implicit channel the current thread is the user's most recently active one, on whatever channel; but
   what comes by a folder, a project, goes on with no thread of another project, and over channels goes on
   only who the memory is of, and not where others talk: what Ana writes to the group is no part of her
   direct messages. What the agent says belongs where its channel is.
4. A silence longer than the timeout closes it and opens another; exactly the timeout does not.

Time here is event time, so what counts is when something was said, not when it arrived. An arrival older than
the current thread goes where it would have gone in time: to a thread whose span, widened by the timeout on
both sides, holds it, or to a new one. Nothing ever moves `last_activity_at` back.

What it reads and answers are small values that a store can give and keep as they are.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

from episodic_agent.core.facts.speakers import OWNER
from episodic_agent.core.threads.channels import Channels, are_apart, channel_name, projects_of
from episodic_agent.errors import NotFound
from episodic_agent.schemas import Json

INACTIVITY: Final = "inactivity"  # why a thread was closed, by the next message or by the clock
OPEN: Final = "open"
CLOSED: Final = "closed"


@dataclass(frozen=True, slots=True)
class ThreadView:
    """What resolution needs of a thread.

    `created_at` is the event time of the earliest observation in it, `last_activity_at` that of the latest.
    `timeout` is the thread's own. `closed_for` is the reason a closed thread was closed for: one that was
    closed for `inactivity` can still be continued by a message that was only slow to arrive. `selected_at` is
    when the user chose it last, which counts as activity. `unpicked` tells that nobody ever named or selected
    it, and `answered` that the agent has spoken in it besides: whoever lets resolution find the place of
    answers does not pick threads. `speakers` are who said each of its latest messages, where anybody asked.
    """

    id: UUID
    channels: tuple[str, ...]
    explicit: bool
    created_at: datetime
    last_activity_at: datetime
    status: str = OPEN
    timeout: timedelta | None = None
    closed_for: str = ""
    selected_at: datetime | None = None
    unpicked: bool = False
    answered: bool = False
    speakers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Arriving:
    """An observation looking for its thread; `at` is event time, aware UTC.

    `thread` is the one the caller names; `creates` says that an unknown one is to be created (the
    `conversation_id` of seeds 001 and 003). `reply` marks what the agent says or does: it keeps a thread
    alive and never opens one. `leans` tells that it means nothing without what went before ("and on
    Thursday?"). `speaker` is who says it, "" where that is the agent or nobody asked.
    """

    id: UUID
    at: datetime
    channel: str | None = None
    thread: UUID | None = None
    creates: bool = False
    reply: bool = False
    leans: bool = False
    speaker: str = ""


class IntakeVerdict(StrEnum):
    """What becomes of an observation."""

    CONTINUES = "continues"
    OPENS = "opens"
    REOPENS = "reopens"
    LATE = "late"  # joins a thread whose time was before the current one's; that thread stays as it is
    DUPLICATE = "duplicate"


@dataclass(frozen=True, slots=True)
class Resolution:
    """Where an observation belongs, and why.

    `thread` is None where a new one is to be opened and nobody has named it yet. `closes` is the thread that
    ends with it, for inactivity. The next four are the thread's values afterwards (a duplicate's are those
    it has). `gap` and `timeout` are what was compared, None where nothing was. `why` is one line.
    """

    verdict: IntakeVerdict
    thread: UUID | None
    closes: UUID | None
    explicit: bool
    created_at: datetime
    last_activity_at: datetime
    channels: tuple[str, ...]
    why: str
    gap: timedelta | None = None
    timeout: timedelta | None = None

    @property
    def new(self) -> bool:
        """Tell whether a thread is to be created."""
        return self.verdict is IntakeVerdict.OPENS

    def features(self) -> dict[str, float]:
        """Return what a Decision of type `thread` records: the seconds that were compared."""
        compared = {"gap_seconds": self.gap, "timeout_seconds": self.timeout}
        return {name: span.total_seconds() for name, span in compared.items() if span is not None}


@dataclass(frozen=True, slots=True)
class Settled(Resolution):
    """A resolution whose thread has its name, opened or not."""

    thread: UUID

    @classmethod
    def of(cls, resolution: Resolution, thread: UUID) -> "Settled":
        """Return a resolution with its thread's name."""
        return cls(
            resolution.verdict,
            thread,
            resolution.closes,
            resolution.explicit,
            resolution.created_at,
            resolution.last_activity_at,
            resolution.channels,
            resolution.why,
            resolution.gap,
            resolution.timeout,
        )


def as_record(
    thread: ThreadView,
    user_id: str,
    *,
    timeout: timedelta,
    turn_count: int,
    primary_episode_id: str | None = None,
    cross_thread_episodes: Sequence[str] = (),
    summary: str = "",
) -> Mapping[str, Json]:
    """Return a thread's metadata as in seed 002, section 1.3: its fields, its order, times with Z.

    `timeout` is the one in force, the thread's own or another.

    >>> at = datetime(2025, 11, 5, 10, tzinfo=UTC)
    >>> view = ThreadView(UUID(int=1), ("sms",), False, at, at + timedelta(minutes=45))
    >>> record = as_record(view, "ana", timeout=timedelta(minutes=30), turn_count=3)
    >>> record["last_activity_at"], record["inactivity_timeout_minutes"], record["explicit_channel"]
    ('2025-11-05T10:45:00Z', 30, False)
    """
    minutes = timeout / timedelta(minutes=1)
    return {
        "thread_id": str(thread.id),
        "user_id": user_id,
        "created_at": with_z(thread.created_at),
        "last_activity_at": with_z(thread.last_activity_at),
        "channels": list(thread.channels),
        "inactivity_timeout_minutes": int(minutes) if minutes.is_integer() else minutes,
        "explicit_channel": thread.explicit,
        "primary_episode_id": primary_episode_id,
        "cross_thread_episodes": list(cross_thread_episodes),
        "turn_count": turn_count,
        "summary": summary,
    }


def with_z(at: datetime) -> str:
    """Return a time in ISO 8601, in UTC with a Z.

    >>> with_z(datetime(2025, 11, 5, 10, tzinfo=UTC))
    '2025-11-05T10:00:00Z'
    """
    return at.astimezone(UTC).isoformat().removesuffix("+00:00") + "Z"


DEFAULT_TIMEOUT = Channels()
SELECTED = "the user selected it"
_AT_ONCE = timedelta(minutes=2)
OF_LATE = 8  # messages back that tell who talks in a thread
_A_WORD = 1 / 3  # the share of what others say on a channel that is still the owner's with the agent


def resolve(
    arriving: Arriving, threads: Iterable[ThreadView], user_id: str, channels: Channels = DEFAULT_TIMEOUT
) -> Resolution:
    """Decide which of a user's threads an observation joins; raises NotFound for a name nobody knows.

    `threads` are the user's, in any order. Resolving reads nothing else: the same threads and observation
    give the same answer. Duplicates are the caller's to know (`Resolver` does).

    >>> from datetime import UTC, timedelta
    >>> at = datetime(2025, 11, 5, 10, tzinfo=UTC)
    >>> weather = ThreadView(UUID(int=1), ("sms",), False, at, at)
    >>> resolve(Arriving(UUID(int=7), at + timedelta(minutes=30), "whatsapp"), [weather], "ana").verdict.value
    'continues'
    >>> late = resolve(Arriving(UUID(int=8), at + timedelta(minutes=31), "sms"), [weather], "ana")
    >>> late.verdict.value, late.closes == weather.id, late.why
    ('opens', True, 'silent for 0:31:00, longer than 0:30:00')
    """
    known = list(threads)
    if arriving.thread is not None:
        return _named(arriving, known)
    own = projects_of([arriving.channel or ""])
    # what comes from the folder of a project goes on with no talk of another: their rules would be mixed up
    known = [thread for thread in known if not (own and are_apart(projects_of(thread.channels), own))]
    known = _among_the_same(known, arriving, user_id, channels)
    chosen = selected(known, arriving, user_id, channels)
    if chosen is not None:
        timeout = channels.silence(user_id, arriving.channel, chosen.timeout)
        joined = _joins(arriving, chosen, SELECTED)
        return replace(joined, gap=arriving.at - chosen.last_activity_at, timeout=timeout)
    if channels.is_explicit(arriving.channel):
        return _unnamed(arriving, known, user_id, channels)
    current = max(filter(_continuable, known), key=_activity, default=None)
    if current is None:
        return _without_current(arriving, known, user_id, channels)
    timeout = channels.silence(user_id, arriving.channel, current.timeout)
    if arriving.at < current.created_at - timeout:
        return _late(arriving, known, user_id, channels)
    gap = arriving.at - current.last_activity_at
    if gap > timeout and not arriving.reply:
        opened = _opens(arriving, f"silent for {gap}, longer than {timeout}", explicit=False)
        # a thread the user has chosen stays open to be chosen again; a swept one is closed already
        ends = current.id if current.status == OPEN and not current.explicit else None
        return replace(opened, closes=ends, gap=gap, timeout=timeout)
    why = "a reply opens no thread" if gap > timeout else "the current thread"
    return replace(_joins(arriving, current, why), gap=gap, timeout=timeout)


def _among_the_same(
    known: Sequence[ThreadView], arriving: Arriving, user_id: str, channels: Channels
) -> list[ThreadView]:
    """Return the threads that bring together no people of several channels.

    Where others talk on the channel, whoever speaks there speaks to them. Others cross no channel, whoever
    they are: a person's direct messages and what they say to a group are apart. Who alone is heard is whose
    memory it is, by whatever name.
    """
    if len({arriving.speaker}.union(*(thread.speakers for thread in known)) - {""}) < 2:
        return [*known]
    here = [thread for thread in known if not is_over_channels(thread, arriving.channel)]
    if arriving.speaker not in ("", OWNER):
        return here
    name = channel_name(arriving.channel)
    in_time = [thread for thread in here if _within(thread, arriving, user_id, channels)]
    shared = _shared_channels(known)
    if name in shared or any(_others(thread) for thread in in_time):
        return here
    ids = {thread.id for thread in here}
    return [t for t in known if t.id in ids or not (_others(t) or _leads_to(t, name, shared))]


def _others(thread: ThreadView) -> int:
    return sum(speaker != OWNER for speaker in thread.speakers)


def _leads_to(thread: ThreadView, channel: str, shared: Set[str]) -> bool:
    """Tell whether a thread that a message is to cross to is on a channel on which others talk."""
    return channel not in thread.channels and not shared.isdisjoint(thread.channels)


def _shared_channels(known: Sequence[ThreadView]) -> set[str]:
    """Return the channels on which others talk, not those on which they put in a word."""
    messages, of_others = Counter[str](), Counter[str]()
    for thread in known:
        for channel in thread.channels:
            messages[channel] += len(thread.speakers)
            of_others[channel] += _others(thread)
    return {channel for channel, count in of_others.items() if count > messages[channel] * _A_WORD}


def selected(
    threads: Iterable[ThreadView], arriving: Arriving, user_id: str, channels: Channels = DEFAULT_TIMEOUT
) -> ThreadView | None:
    """Return the thread that a user's selection holds for an observation; None where there is none.

    The latest selection counts, from the thread's beginning until its timeout has passed since it was chosen
    or spoken in; only one that nobody closed by hand. What an agent says on an explicit channel follows the
    user's message there, not the selection.
    """
    if arriving.reply and channels.is_explicit(arriving.channel):
        return None
    ever = [(t.selected_at, t.id, t) for t in threads if t.selected_at is not None]
    if not ever:
        return None
    _, _, thread = max(ever, key=lambda one: one[:2])
    timeout = channels.silence(user_id, arriving.channel, thread.timeout)
    early = arriving.at < thread.created_at - timeout
    late = arriving.at - thread.last_activity_at > timeout
    return thread if _continuable(thread) and not early and not late else None


def is_over_channels(thread: ThreadView, channel: str | None) -> bool:
    """Tell whether a message by a channel would make or find a thread of several."""
    return thread.channels != (channel_name(channel),)


def idle(
    threads: Iterable[ThreadView], now: datetime, user_id: str, channels: Channels = DEFAULT_TIMEOUT
) -> list[ThreadView]:
    """Return the open implicit threads that silence has ended by the clock, longest silent first.

    A thread on several channels has the longest of their timeouts: the clock must not end what the next
    message could continue.
    """
    ended = [t for t in threads if t.status == OPEN and not t.explicit and _silent(t, now, user_id, channels)]
    return sorted(ended, key=_activity)


def closed(thread: ThreadView, reason: str = INACTIVITY) -> ThreadView:
    """Return a thread as it is after it was closed."""
    return replace(thread, status=CLOSED, closed_for=reason)


class Resolver:
    """Resolve many observations of one user, one after the other, keeping the threads as they become.

    `name` gives the id of the thread that an observation opens; made of the observation's id, a repeated
    call names it the same. `known` maps ids of stored observations to their threads. Within one Resolver,
    which is one call, the observations of an explicit channel without a named thread share the thread that
    the first of them opens: a list is one conversation.

    >>> from datetime import UTC, timedelta
    >>> at = datetime(2025, 11, 5, 10, tzinfo=UTC)
    >>> resolver = Resolver((), "ana", name=lambda arriving: UUID(int=arriving.id.int + 100))
    >>> minutes = (0, 5, 45, 5)
    >>> found = [resolver.take(Arriving(UUID(int=m), at + timedelta(minutes=m), "sms")) for m in minutes]
    >>> [resolution.thread.int for resolution in found], found[3].verdict.value
    ([100, 100, 145, 100], 'duplicate')
    """

    def __init__(
        self,
        threads: Iterable[ThreadView],
        user_id: str,
        channels: Channels = DEFAULT_TIMEOUT,
        *,
        name: Callable[[Arriving], UUID],
        known: Mapping[UUID, UUID] | None = None,
        opened: Mapping[str, UUID] | None = None,
    ) -> None:
        self._threads = {thread.id: thread for thread in threads}
        self._user = user_id
        self._channels = channels
        self._name = name
        self._known = dict(known or {})
        self._opened = dict(opened or {})  # explicit channel -> the thread this call opened on it

    @property
    def threads(self) -> Sequence[ThreadView]:
        """Return the threads as the observations taken so far have left them, least recently active first."""
        return sorted(self._threads.values(), key=_activity)

    @property
    def opened(self) -> Mapping[str, UUID]:
        """Return the thread this call opened on each explicit channel, for the Resolver after it."""
        return dict(self._opened)

    def take(self, arriving: Arriving) -> Settled:
        """Resolve one observation and remember what it did; raises NotFound and remembers nothing then."""
        if arriving.id in self._known:
            return _duplicate(arriving, self._known[arriving.id], self._threads)
        chosen = self._within_call(arriving)
        resolution = resolve(chosen, self._threads.values(), self._user, self._channels)
        thread = resolution.thread or self._name(arriving)
        settled = Settled.of(resolution, thread)
        if settled.closes is not None:
            self._threads[settled.closes] = closed(self._threads[settled.closes])
        before = self._threads.get(thread)
        picked = arriving.thread is not None or settled.why == SELECTED
        unpicked = not picked and (before is None or before.unpicked)
        answers = arriving.reply or (before is not None and before.answered)
        view = after(settled, before, unpicked=unpicked, answered=answers and unpicked)
        speaker = (arriving.speaker,) if arriving.speaker else ()
        self._threads[thread] = replace(view, speakers=(*view.speakers, *speaker)[-OF_LATE:])
        self._known[arriving.id] = thread
        if self._channels.is_explicit(arriving.channel) and arriving.thread is None:
            self._opened[channel_name(arriving.channel)] = thread
        return settled

    def _within_call(self, arriving: Arriving) -> Arriving:
        if arriving.thread is not None or not self._channels.is_explicit(arriving.channel):
            return arriving
        return replace(arriving, thread=self._opened.get(channel_name(arriving.channel)))


def after(
    resolution: Resolution, before: ThreadView | None, *, unpicked: bool = False, answered: bool = False
) -> ThreadView:
    """Return the thread as a resolution leaves it; `before` is None where it opens.

    `unpicked` and `answered` are those of `ThreadView`. Raises ValueError for a resolution whose thread
    nobody has named.
    """
    if resolution.thread is None:
        raise ValueError("name the new thread first")
    status = before.status if before is not None and resolution.verdict is IntakeVerdict.LATE else OPEN
    return ThreadView(
        resolution.thread,
        resolution.channels,
        resolution.explicit,
        resolution.created_at,
        resolution.last_activity_at,
        status,
        before.timeout if before is not None else None,
        before.closed_for if before is not None and status == CLOSED else "",
        before.selected_at if before is not None else None,
        unpicked,
        answered,
        before.speakers if before is not None else (),
    )


def _named(arriving: Arriving, known: Sequence[ThreadView]) -> Resolution:
    thread = next((t for t in known if t.id == arriving.thread), None)
    if thread is not None:
        return _joins(arriving, thread, "the caller named it")
    if not arriving.creates:
        raise NotFound(
            f"no thread {arriving.thread}; name one of the user's threads, or none to begin a new one"
        )
    return replace(_opens(arriving, "the caller named it", explicit=True), thread=arriving.thread)


def _unnamed(arriving: Arriving, known: Sequence[ThreadView], user_id: str, channels: Channels) -> Resolution:
    """Open a thread on an explicit channel, unless nobody picks threads there and one goes on.

    What the agent says there belongs to the channel's last one.
    """
    name = channel_name(arriving.channel)
    here = [t for t in known if name in t.channels]
    if arriving.reply and known:
        return _joins(arriving, max(here or known, key=_activity), "a reply opens no thread")
    last = max(here, key=_activity, default=None)
    why = "nobody picks threads here, and the last one goes on"
    if last is not None and not _goes_on(last, here, arriving):
        last = None
    if last is None and arriving.leans:
        last = max((t for t in known if t.answered), key=_activity, default=None)
        why = "it means nothing without what was said on another channel"
    if last is not None and _within(last, arriving, user_id, channels):
        timeout = channels.silence(user_id, arriving.channel, last.timeout)
        joined = _joins(arriving, last, why)
        return replace(joined, gap=arriving.at - last.last_activity_at, timeout=timeout)
    return _opens(arriving, "no thread chosen on an explicit channel", explicit=True)


def _goes_on(last: ThreadView, here: Sequence[ThreadView], arriving: Arriving) -> bool:
    """Tell whether the last thread of an explicit channel is gone on with by whoever picks none.

    Where answers find their own place nobody picks threads, so that what is not answered yet goes on, too. A
    first message has no answer to show it: a second right behind it, "sorry, I meant June", is no new one.
    """
    if any(thread.answered for thread in here):
        return last.unpicked
    return last.unpicked and arriving.at - last.last_activity_at <= _AT_ONCE


def _within(thread: ThreadView, arriving: Arriving, user_id: str, channels: Channels) -> bool:
    """Tell whether an arrival comes into a thread's time, and what closed the thread was silence at most."""
    timeout = channels.silence(user_id, arriving.channel, thread.timeout)
    began, over = thread.created_at, thread.last_activity_at + timeout
    return _continuable(thread) and began <= arriving.at <= over


def _without_current(
    arriving: Arriving, known: Sequence[ThreadView], user_id: str, channels: Channels
) -> Resolution:
    """Place an arrival where every thread was closed by hand, or there is none."""
    if known and (arriving.reply or arriving.at < max(t.last_activity_at for t in known)):
        return _late(arriving, known, user_id, channels)
    return _opens(arriving, "no open thread", explicit=False)


def _late(arriving: Arriving, known: Sequence[ThreadView], user_id: str, channels: Channels) -> Resolution:
    """Place an arrival older than the current thread where it would have gone in time.

    A reply would have gone to whatever thread there was, however long silent; only where nothing had begun
    by then must one be opened for it, as an observation is always somewhere.
    """
    begun = [t for t in known if t.created_at <= arriving.at]
    holding = [t for t in known if _holds(t, arriving, user_id, channels)]
    earlier = [t for t in holding if t.created_at <= arriving.at] or (begun if arriving.reply else [])
    if earlier:  # in time, the thread most recently active by then would have been the current one
        thread = max(earlier, key=lambda t: (min(t.last_activity_at, arriving.at), t.created_at, t.id))
    elif holding:
        thread = min(holding, key=lambda t: (t.created_at, t.id))
    else:
        return _opens(arriving, "older than every thread it could join", explicit=False)
    joined = _joins(
        arriving,
        thread,
        "its time lies in that thread's span" if thread in holding else "a reply opens no thread",
    )
    # what it joins was over, and stays over; a reply that comes after all others speaks on
    over = arriving.at <= thread.last_activity_at or not arriving.reply
    return replace(joined, verdict=IntakeVerdict.LATE) if over else joined


def _holds(thread: ThreadView, arriving: Arriving, user_id: str, channels: Channels) -> bool:
    timeout = channels.silence(user_id, arriving.channel, thread.timeout)
    return thread.created_at - timeout <= arriving.at <= thread.last_activity_at + timeout


def _opens(arriving: Arriving, why: str, *, explicit: bool) -> Resolution:
    names = (channel_name(arriving.channel),)
    return Resolution(IntakeVerdict.OPENS, None, None, explicit, arriving.at, arriving.at, names, why)


def _joins(arriving: Arriving, thread: ThreadView, why: str) -> Resolution:
    name = channel_name(arriving.channel)
    return Resolution(
        IntakeVerdict.CONTINUES if thread.status == OPEN else IntakeVerdict.REOPENS,
        thread.id,
        None,
        thread.explicit,
        min(thread.created_at, arriving.at),
        max(thread.last_activity_at, arriving.at),
        thread.channels if name in thread.channels else (*thread.channels, name),
        why,
    )


def _duplicate(arriving: Arriving, thread: UUID, threads: Mapping[UUID, ThreadView]) -> Settled:
    view = threads.get(thread)
    if view is None:  # a thread nobody loaded: it stays as it is, and the receipt is all there is to say
        names = (channel_name(arriving.channel),)
        return Settled(
            IntakeVerdict.DUPLICATE, thread, None, False, arriving.at, arriving.at, names, "known already"
        )
    return Settled(
        IntakeVerdict.DUPLICATE,
        thread,
        None,
        view.explicit,
        view.created_at,
        view.last_activity_at,
        view.channels,
        "known already",
    )


def _continuable(thread: ThreadView) -> bool:
    """Tell whether the next message may continue a thread: it is open, or only silence has closed it.

    What the clock closed is current still in event time: a message that was said before and arrived after
    the sweep must find the same thread as without it (I7). Said later, it meets the same timeout.
    """
    return thread.status == OPEN or thread.closed_for == INACTIVITY


def _silent(thread: ThreadView, now: datetime, user_id: str, channels: Channels) -> bool:
    longest = max(channels.silence(user_id, c, thread.timeout) for c in thread.channels or (None,))
    return now - thread.last_activity_at > longest


def _activity(thread: ThreadView) -> tuple[datetime, datetime, UUID]:
    return thread.last_activity_at, thread.created_at, thread.id
