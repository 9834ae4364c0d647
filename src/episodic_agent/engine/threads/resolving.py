"""Find the thread of what came without one, inside the transaction that stores it (seed 002, section 1.2).

The scope is held meanwhile, so two first messages at once open one thread. What a resolution did is kept as a
decision of type `thread`, except that a message went on with the current thread: that follows from the times.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from episodic_agent.core.facts.speakers import person_of
from episodic_agent.core.identity import decision_id, thread_id
from episodic_agent.core.ingest import Item
from episodic_agent.core.threads.channels import Channels, channel_name
from episodic_agent.core.threads.resolution import (
    OF_LATE,
    OPEN,
    Arriving,
    IntakeVerdict,
    Resolution,
    Resolver,
    ThreadView,
    idle,
    is_over_channels,
)
from episodic_agent.core.threads.turns import is_reply
from episodic_agent.lazily import module
from episodic_agent.protocols import Transaction, stored_decision
from episodic_agent.schemas import Decision, Observation, Scope, Thread

if TYPE_CHECKING:
    from episodic_agent.core.links import reading
    from episodic_agent.engine.threads import recounting
else:
    reading = module("episodic_agent.core.links.reading")
    recounting = module("episodic_agent.engine.threads.recounting")

THREAD: Final = "thread"
NAMED: Final = "named"  # verdict of the decision that a caller named a thread which a message had begun
POLICY: Final = "threads-2027-03"
_NEAREST: Final = 8  # threads that may be current; the first is, unless it is closed in this call
_EARLIER: Final = 200  # threads looked at for a place in time
_LONGEST_NAME: Final = 3  # words of a name of a person, or of a group
_COME_BACK_TO: Final = timedelta(days=1)  # between the first and the last message of a place
_MADE_UP: Final = re.compile(r"(?:^|[-_:])[0-9a-f]{8,}(?:-[0-9a-f]+)*$", re.IGNORECASE)  # hashes, UUIDs
_UNNAMED: Final = re.compile(r" \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ(?: \(\d+\))?$")


@dataclass(frozen=True, slots=True)
class PlacedItem:
    """Where one item goes: the thread's resolution and, where it opens one, the name given to it."""

    resolution: Resolution
    thread: UUID
    origin: str | None


class Placement:
    """The resolutions of one transaction, item after item."""

    def __init__(
        self,
        tx: Transaction,
        channels: Channels,
        items: Sequence[tuple[Item, datetime]],
        opened: Mapping[str, UUID],
        *,
        hold: bool = True,
        as_of: datetime | None = None,
    ) -> None:
        """Hold the scope and read what the items may join; `items` come with their event times.

        `opened` is what the same call has opened so far, by explicit channel. Without `hold` nothing is
        promised to last, and a read transaction will do: for asking where something would go. With `as_of`, a
        moment of event time, that is asked of the threads as they stood then: what began later, or was said
        in one since, leads nobody there.
        """
        if hold:
            tx.hold("threads")
        self._tx = tx
        self._channels = own_channels(channels, tx.scope, tx.upkeep.settings().timeouts)
        self._names: dict[UUID, str] = {}
        self._as_of = as_of
        threads = {thread.id: thread for thread in self._candidates(items)}
        threads |= {t.id: t for t in map(tx.threads.get, opened.values()) if t is not None}
        views = [view for one in threads.values() if (view := self._view(one)) is not None]
        if any(self._seeks(item) for item, _ in items):
            spoken_in = _unpicked(tx, threads.values())
            views = [
                replace(view, unpicked=view.id in spoken_in, answered=spoken_in.get(view.id, False))
                for view in views
            ]
        several = any(
            is_over_channels(view, channel) for view in views for channel in {i.channel for i, _ in items}
        )
        speakers = self._speakers(views) if several else {}
        views = [replace(view, speakers=speakers.get(view.id, ())) for view in views]
        self._resolver = Resolver(views, tx.scope.user_id, self._channels, name=self._name, opened=opened)

    @property
    def opened(self) -> Mapping[str, UUID]:
        """Return what the call has opened by now."""
        return self._resolver.opened

    def take(self, observation: UUID, item: Item, at: datetime) -> PlacedItem:
        """Resolve the next item."""
        leans = self._seeks(item) and reading.read_message(item.text, at).elliptical
        speaker = self._speaker(item)
        arriving = Arriving(observation, at, item.channel, reply=is_reply(item), leans=leans, speaker=speaker)
        resolution = self._resolver.take(arriving)
        thread = resolution.thread
        return PlacedItem(resolution, thread, self._names.get(thread) if resolution.new else None)

    def _view(self, thread: Thread) -> ThreadView | None:
        return view_of(thread) if self._as_of is None else _view_at(self._tx, thread, self._as_of)

    def _seeks(self, item: Item) -> bool:
        """Tell whether an item may find a thread on a channel where users mostly pick one."""
        return self._channels.is_explicit(item.channel) and not is_reply(item)

    def _speakers(self, views: Sequence[ThreadView]) -> dict[UUID, tuple[str, ...]]:
        """Return who said the latest messages of threads that another channel's message may join."""
        frames = self._tx.threads.frame([view.id for view in views]) if views else {}
        ranges = [
            (one, max(0, frame.next_seq - OF_LATE), frame.next_seq - 1) for one, frame in frames.items()
        ]
        rows = self._tx.observations.read(ranges) if ranges else []
        return {
            identity: tuple(name for one in row if (name := self._speaker(one)))
            for (identity, _, _), row in zip(ranges, rows, strict=True)
        }

    def _speaker(self, spoken: Item | Observation) -> str:
        """Return the person who says something, whose memory it is under one name; "" for the agent."""
        return "" if is_reply(spoken) else person_of(spoken.actor, self._tx.scope.user_id)

    def _name(self, arriving: Arriving) -> UUID:
        """Name a new thread by its channel and its beginning, as people speak of it."""
        name = f"{channel_name(arriving.channel)} {arriving.at:%Y-%m-%dT%H:%M:%SZ}"
        origin, number = name, 1
        while origin in self._names.values() or self._tx.threads.get(origin) is not None:
            number += 1
            origin = f"{name} ({number})"
        identity = thread_id(self._tx.scope, origin)
        self._names[identity] = origin
        return identity

    def _candidates(self, items: Sequence[tuple[Item, datetime]]) -> Iterator[Thread]:
        picked = self._channels.explicit
        current = self._tx.threads.list("current", picked=picked, limit=_NEAREST)
        seen = {thread.id for thread in current}
        yield from current
        if not self._looks_back(current, items):
            return
        latest = self._as_of or max(at for _, at in items) + self._channels.longest
        for thread in self._tx.threads.list(begun=latest, limit=_EARLIER):
            if thread.id not in seen and is_shared(thread, picked):
                yield thread

    def _looks_back(self, current: Sequence[Thread], items: Sequence[tuple[Item, datetime]]) -> bool:
        """Tell whether an item may belong before the current thread, or to what is over."""
        # a reply on an explicit channel belongs to the last thread there, whatever is current
        chosen = any(is_reply(item) and self._channels.is_explicit(item.channel) for item, _ in items)
        if not current or chosen:
            return True
        first = view_of(current[0])
        if self._as_of is not None and first.last_activity_at > self._as_of:
            return True  # the current thread of then may not be among those of now
        longest = max(self._channels.longest, first.timeout or timedelta(0))
        return min(at for _, at in items) < first.created_at - longest


def view_of(thread: Thread) -> ThreadView:
    """Return what resolution reads of a thread; having been selected counts as activity."""
    active = thread.last_activity_at
    if thread.selected_at is not None:
        active = max(active, thread.selected_at)
    return ThreadView(
        thread.id,
        thread.channels,
        thread.explicit,
        thread.created_at,
        active,
        thread.status,
        thread.timeout,
        thread.closed_for,
        thread.selected_at,
    )


def _view_at(tx: Transaction, thread: Thread, moment: datetime) -> ThreadView | None:
    """Return what resolution would have read of a thread at an event time; None before it began.

    One in which something was said later was not over then.
    """
    view = view_of(thread)
    if view.last_activity_at <= moment:
        return view
    if view.created_at > moment:
        return None
    selected_at = thread.selected_at if thread.selected_at is None or thread.selected_at <= moment else None
    last = recounting.said_by(tx, thread, moment) - 1
    active = max((one.at for one in tx.observations.read(thread.id, last, last)), default=view.created_at)
    if thread.last_activity_at > moment:
        view = replace(view, status=OPEN, closed_for="")
    return replace(view, selected_at=selected_at, last_activity_at=max(active, selected_at or active))


def is_unnamed(thread: Thread) -> bool:
    """Tell whether a thread has the name a message that began it gave it."""
    return _UNNAMED.search(thread.origin) is not None


def given_name(thread: Thread) -> str:
    """Return what a caller or an import called a thread; "" where nobody did, or the name says nothing.

    A name made up for one conversation ("chat-8f3c2d91a0") says nothing that its time does not.
    """
    if not thread.explicit or is_unnamed(thread):
        return ""
    return thread.title or ("" if _MADE_UP.search(thread.origin) else thread.origin)


def name_of_somebody(thread: Thread) -> str:
    """Return whom a thread may be called by; "" for a matter's name, with a figure or of many words."""
    name = given_name(thread)
    is_of_matter = len(name.split()) > _LONGEST_NAME or any(letter.isdigit() for letter in name)
    return "" if is_of_matter else name


def is_place(thread: Thread) -> bool:
    """Tell whether a thread is a place people come back to: named, and of more than a day."""
    return bool(given_name(thread)) and thread.last_activity_at - thread.created_at >= _COME_BACK_TO


def _unpicked(tx: Transaction, threads: Iterable[Thread]) -> dict[UUID, bool]:
    """Return the threads that nobody ever named or selected, and whether the agent has spoken in each."""
    able = {t.id: t for t in threads if is_unnamed(t) and t.selected_at is None and t.modality == "message"}
    able = {identity: t for identity, t in able.items() if stored_decision(tx, _naming(identity)) is None}
    ends = tx.threads.frame(list(able)) if able else {}
    return {identity: frame.next_seq > able[identity].turn_count for identity, frame in ends.items()}


def named(thread: Thread, now: datetime) -> Decision | None:
    """Return the decision to be kept where a caller names a thread that a message had begun, else None."""
    if not thread.explicit or not is_unnamed(thread):
        return None
    return Decision(
        id=_naming(thread.id),
        type=THREAD,
        at=now,
        subject=thread.id,
        features={},
        score=0.0,
        threshold=0.0,
        verdict=NAMED,
        policy_version=POLICY,
        detail={"why": "the caller named it", "observation": None, "closed": None},
    )


def _naming(thread: UUID) -> UUID:
    return decision_id(thread, f"{THREAD}-{NAMED}")


def is_shared(thread: Thread, picked: Collection[str]) -> bool:
    """Tell whether a message without a thread may join it: not what only its caller's name leads to.

    That is a thread which a program named, for a session of its own, say. On the channels of `picked` it is
    the user who picks threads, and who goes on with one elsewhere.
    """
    if thread.selected_at is not None or not thread.explicit:
        return True
    return bool(thread.channels) and (is_unnamed(thread) or any(c in picked for c in thread.channels))


def lapsed(tx: Transaction, channels: Channels, thread: Thread, first: Observation) -> Thread:
    """Return a thread without the selection that the silence before an observation has ended, if it has."""
    if thread.selected_at is None:
        return thread
    own = own_channels(channels, tx.scope, tx.upkeep.settings().timeouts)
    longest = own.silence(tx.scope.user_id, first.channel or None, thread.timeout)
    over = first.at - max(thread.last_activity_at, thread.selected_at) > longest
    return replace(thread, selected_at=None) if over else thread


def own_channels(channels: Channels, scope: Scope, own: Mapping[str, timedelta]) -> Channels:
    """Return the channels with a user's own timeouts in them ("" stands for all channels)."""
    if not own:
        return channels
    user = scope.user_id
    by_channel = {(user, channel): timeout for channel, timeout in own.items() if channel}
    everywhere = {user: own[""]} if "" in own else {}
    return replace(
        channels,
        by_user={**channels.by_user, **everywhere},
        by_user_channel={**channels.by_user_channel, **by_channel},
    )


def silent_threads(
    tx: Transaction, threads: Iterable[Thread], now: datetime, channels: Channels
) -> set[UUID]:
    """Return which threads silence has ended, in event time and in record time."""
    known = {thread.id: thread for thread in threads}
    views = [view_of(thread) for thread in known.values() if thread.modality != "step"]
    own = own_channels(channels, tx.scope, tx.upkeep.settings().timeouts)
    result = set()
    for view in idle(views, now, tx.scope.user_id, own):
        received = tx.threads.frame(view.id).last_received_at
        # a backlog that is still being read is not silent
        if received is None or idle([replace(view, last_activity_at=received)], now, tx.scope.user_id, own):
            result.add(view.id)
    return result


def resolved(placed: PlacedItem, observation: UUID, now: datetime) -> Decision | None:
    """Return the decision to be kept of a resolution; None where a message only went on."""
    resolution = placed.resolution
    if resolution.verdict in (IntakeVerdict.CONTINUES, IntakeVerdict.DUPLICATE):
        return None
    return Decision(
        id=decision_id(placed.thread, f"{THREAD}-{observation}"),
        type=THREAD,
        at=now,
        subject=placed.thread,
        features=resolution.features(),
        score=resolution.gap.total_seconds() if resolution.gap is not None else 0.0,
        threshold=resolution.timeout.total_seconds() if resolution.timeout is not None else 0.0,
        verdict=resolution.verdict.value,
        policy_version=POLICY,
        detail={
            "why": resolution.why,
            "observation": str(observation),
            "closed": None if resolution.closes is None else str(resolution.closes),
        },
    )
