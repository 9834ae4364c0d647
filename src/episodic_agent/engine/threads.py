"""The verbs about threads themselves: show, select, close, rename, and how long silence may last."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from episodic_agent.core.interfaces import Transaction
from episodic_agent.core.threads import Channels, as_record
from episodic_agent.core.threads.channels import channel_name, check_timeout
from episodic_agent.core.threads.records import OPEN
from episodic_agent.engine.given import aware, tidy
from episodic_agent.engine.parting import summary_of
from episodic_agent.engine.resolving import own_channels, view_of
from episodic_agent.engine.scoped import Scoped, find_thread
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import Json, Thread

MANUAL: Final = "manual"


@dataclass(frozen=True, slots=True)
class ThreadCard:
    """A thread with the silence that ends it; `record` is its metadata as seed 002 writes it (1.3)."""

    thread: Thread
    timeout: timedelta
    record: Mapping[str, Json]


def card_of(tx: Transaction, thread: Thread, channels: Channels) -> ThreadCard:
    """Return a thread's card."""
    own = own_channels(channels, tx.scope, tx.threads.timeouts())
    user = tx.scope.user_id
    timeout = max(own.silence(user, channel, thread.timeout) for channel in thread.channels or (None,))
    view = replace(view_of(thread), last_activity_at=thread.last_activity_at)
    part = tx.parts.last(thread.id)
    joined = tx.links.joined([thread.id])
    record = as_record(
        view,
        user,
        timeout=timeout,
        turn_count=thread.turn_count,
        cross_thread_episodes=[str(episode) for episode in joined.values()],
        primary_episode_id=None if part is None else str(part.episode_id),
        summary=summary_of(tx, thread) or thread.title or "",
    )
    return ThreadCard(thread, timeout, record)


def select(tx: Transaction, name: str, now: datetime) -> Thread:
    """Make a thread the one that the user's next message goes on with; a closed one opens again."""
    tx.threads.hold()
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
    tx.threads.hold()
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
    tx.threads.hold()
    if thread is not None:
        tx.threads.save(replace(find_thread(tx, thread), timeout=timeout))
    else:
        tx.threads.set_timeout(channel_name(channel) if channel else "", timeout)


def _minutes(minutes: float) -> timedelta:
    try:
        return timedelta(minutes=minutes)
    except (OverflowError, ValueError, TypeError) as error:
        raise InvalidInput(f"{minutes!r} minutes are no time a thread could be silent") from error


class ThreadVerbs(Scoped):
    """The verbs of `Memory` about threads."""

    def thread(self, name: str, *, user_id: str | None = None) -> ThreadCard:
        """Return one thread with its metadata as seed 002 writes it; NotFound names what there is."""
        with self._read(user_id) as tx:
            return card_of(tx, find_thread(tx, tidy(name) or ""), self._parts.channels)

    def select_thread(self, name: str, *, user_id: str | None = None, now: datetime | None = None) -> Thread:
        """Let the user's next message go on with a thread, however long it was silent."""
        at = aware(now) or self._parts.clock()
        return self._change(user_id, lambda tx: select(tx, tidy(name) or "", at))

    def rename_thread(self, name: str, title: str, *, user_id: str | None = None) -> Thread:
        """Give a thread a title; it is still called by its name."""
        return self._change(user_id, lambda tx: rename(tx, tidy(name) or "", tidy(title) or ""))

    def set_timeout(
        self,
        minutes: float | None,
        *,
        user_id: str | None = None,
        thread: str | None = None,
        channel: str | None = None,
    ) -> None:
        """Say after how many minutes of silence a thread ends: one thread, or the user's (on a channel).

        None goes back to what holds without it. A user's own need not be remembered of yet.
        """
        with self._parts.store.begin(self._scope(user_id)) as tx:
            set_timeout(tx, minutes, thread=tidy(thread), channel=tidy(channel))

    def _change(self, user_id: str | None, act: Callable[[Transaction], Thread]) -> Thread:
        with self._parts.store.begin(self._known(user_id)) as tx:
            return act(tx)
