"""The verbs about threads themselves: show, select, close, rename, and how long silence may last."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from episodic_agent.core.threads.channels import Channels, channel_name, check_timeout
from episodic_agent.core.threads.resolution import OPEN, as_record
from episodic_agent.engine.arguments import (
    aware,
    clean_name,
    counted,
)
from episodic_agent.engine.episodes.listing import find_thread, newest_summary, titled
from episodic_agent.engine.scoped import RoomOf, Scoped
from episodic_agent.engine.sections.bounds import summary_of
from episodic_agent.engine.threads.resolving import own_channels, view_of
from episodic_agent.engine.trace.acts import acts
from episodic_agent.engine.visibility.hidden import Visibility
from episodic_agent.engine.works import Works
from episodic_agent.errors import InvalidInput
from episodic_agent.lazily import module
from episodic_agent.protocols import OwnTimeout, Transaction
from episodic_agent.schemas import Json, Reason, Thread
from episodic_agent.showing import described

if TYPE_CHECKING:
    from episodic_agent.engine.recall import walls
else:
    walls = module("episodic_agent.engine.recall.walls")


@dataclass(frozen=True, slots=True)
class ThreadCard:
    """A thread with the silence that ends it; `record` is its metadata as in seed 002, section 1.3."""

    thread: Thread
    timeout: timedelta
    record: Mapping[str, Json]

    def __repr__(self) -> str:
        return described(
            self, self.thread.title, self.thread.origin, self.thread.status, self.thread.last_activity_at
        )


def card_of(tx: Transaction, thread: Thread, channels: Channels, now: datetime) -> ThreadCard:
    """Return a thread's card."""
    own = own_channels(channels, tx.scope, tx.upkeep.settings().timeouts)
    user = tx.scope.user_id
    timeout = max(own.silence(user, channel, thread.timeout) for channel in thread.channels or (None,))
    view = replace(view_of(thread), last_activity_at=thread.last_activity_at)
    section = tx.threads.section(thread.id)
    joined = tx.threads.joined([thread.id])
    record = as_record(
        view,
        user,
        timeout=timeout,
        turn_count=thread.turn_count,
        cross_thread_episodes=[str(episode) for episode in joined.values()],
        primary_episode_id=None if section is None else str(section.episode_id),
        summary=_summary(tx, thread, now),
    )
    return ThreadCard(thread, timeout, record)


def _summary(tx: Transaction, thread: Thread, now: datetime) -> str:
    """Return the paragraph of the newest part that is told, else the newest episode's or open frame's."""
    # a paragraph tells of all of the thread: where some of that is hidden, the episodes say what is left
    paragraph = "" if Visibility(tx, now).touches(thread) else summary_of(tx, thread)
    return paragraph or newest_summary(tx, thread, now) or thread.title or ""


def select(tx: Transaction, name: str, now: datetime) -> Thread:
    """Make a thread the one that the user's next messages go on with; a closed one opens again."""
    tx.hold("threads")
    thread = find_thread(tx, name)
    if thread.modality != "message":
        raise InvalidInput(f"{name!r} holds an agent's steps; messages cannot go on with it")
    chosen = replace(thread, status=OPEN, closed_for="", explicit=True, selected_at=now)
    tx.threads.save(chosen)
    return chosen


def rename(tx: Transaction, name: str, title: str) -> Thread:
    """Give a thread a title; its name stays what it is called by."""
    if not title.strip():
        raise InvalidInput("the title is empty; give the thread some words")
    tx.hold("threads")
    renamed = replace(find_thread(tx, name), title=title.strip())
    tx.threads.save(renamed)
    return renamed


def set_timeout(
    tx: Transaction, minutes: float | None, *, thread: str | None = None, channel: str | None = None
) -> None:
    """Keep how long silence may last: in one thread, else for the user, on one channel or on all.

    `minutes` None takes the own value away. Raises InvalidInput for a number that is no time.
    """
    if thread is not None and channel is not None:
        raise InvalidInput("a timeout is one thread's or one channel's; give one of the two")
    timeout = None if minutes is None else check_timeout(_minutes(minutes))
    tx.hold("threads")
    if thread is not None:
        tx.threads.save(replace(find_thread(tx, thread), timeout=timeout))
    else:
        tx.upkeep.put(OwnTimeout(channel_name(channel) if channel else "", timeout))


def _minutes(minutes: float) -> timedelta:
    try:
        return timedelta(minutes=minutes)
    except (OverflowError, ValueError, TypeError) as error:
        raise InvalidInput(
            f"`minutes` is how long silence may last, a number such as 45, or None; not {minutes!r}"
        ) from error


@acts("threads", within=("get", "list"))
class ThreadRoom(RoomOf):
    """A user's threads: list, show, close, select, rename, and how long silence may last."""

    def __init__(self, at: Scoped, works: Works) -> None:
        self._at = at
        self._deps = at.deps
        self._works = works

    def list(self, *, limit: int | None = None) -> Sequence[Thread]:
        """Return the threads by last activity, newest first; the first `limit` of them.

        What nobody gave a title is called by its session's topic, by its newest episode, or by what was said.
        """
        most = None if limit is None else counted("limit", limit, 0)
        with self._at.read() as tx:
            inside = walls.within(tx, self._at.walls) if self._at.walls else None
            if inside is None:
                threads = tx.threads.list(limit=most)
            else:
                latest = sorted(
                    tx.threads.list(ids=sorted(inside)), key=lambda one: one.last_activity_at, reverse=True
                )
                threads = latest[:most]
            return titled(tx, threads, self._deps.clock())

    def get(self, name: str) -> ThreadCard:
        """Return one thread with its metadata as seed 002 writes it; NotFound names what there is."""
        with self._at.read() as tx:
            thread, now = self._asked_for(tx, clean_name(name) or ""), self._deps.clock()
            return card_of(tx, titled(tx, [thread], now)[0], self._deps.channels, now)

    def _asked_for(self, tx: Transaction, name: str) -> Thread:
        if not self._at.walls:
            return find_thread(tx, name)
        walls.check_thread(tx, self._at.walls, name)
        return tx.threads.list(ids=[walls.thread_asked_for(tx, name, walled=True)])[0]  # no title leads there

    def close(self, name: str) -> Thread:
        """Close a thread and its open frame; the next message without a thread begins another."""
        scope = self._at.known()
        self._works.later.embed_first(scope)
        self._works.closer.end(scope, self._at.thread_id(name), Reason.MANUAL)
        self._works.later.run(scope)
        return self.get(name).thread

    def select(self, name: str, *, now: datetime | None = None) -> Thread:
        """Let the user's next messages go on with a thread, however long it was silent, on every channel.

        It holds until another thread is selected, or nothing was said in this one for its timeout.
        """
        at = aware(now) or self._deps.clock()
        return self._change(lambda tx: select(tx, clean_name(name) or "", at))

    def rename(self, name: str, title: str) -> Thread:
        """Give a thread a title; it is still called by its name."""
        return self._change(lambda tx: rename(tx, clean_name(name) or "", clean_name(title) or ""))

    def set_timeout(
        self,
        minutes: float | None,
        *,
        thread: str | None = None,
        channel: str | None = None,
    ) -> None:
        """Say after how many minutes of silence a thread ends: one thread, or the user's (on a channel).

        None goes back to what holds without it. A user's own need not be remembered of yet.
        """
        with self._deps.store.begin(self._at.scope) as tx:
            set_timeout(tx, minutes, thread=clean_name(thread), channel=clean_name(channel))

    def _change(self, act: Callable[[Transaction], Thread]) -> Thread:
        with self._at.write() as tx:
            return act(tx)
