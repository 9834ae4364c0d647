"""Episodes: list, show, pin, suppress, and have them told again."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Final, Unpack
from uuid import UUID

from episodic_agent.core.threads.channels import project_called
from episodic_agent.engine.arguments import clean_name, counted, episode_identity, name_or_none, worded
from episodic_agent.engine.episodes import listing
from episodic_agent.engine.filters import (
    Filter,
    Narrowed,
    Walls,
    Where,
    filter_of,
    metadata_filter,
    narrowed,
    walls_of,
)
from episodic_agent.engine.jobs.kinds import REVIEW
from episodic_agent.engine.later import Later
from episodic_agent.engine.recall.elsewhere import Elsewhere, projects_meant
from episodic_agent.engine.recall.walls import check_episode, check_place, thread_within, walled_off, within
from episodic_agent.engine.recently_shown import shown_by
from episodic_agent.engine.results import EpisodeCard, FullEpisode, Hit
from episodic_agent.engine.scoped import RoomOf, Scoped
from episodic_agent.engine.trace.acts import acts
from episodic_agent.engine.visibility.hidden import WIDER
from episodic_agent.errors import InvalidInput
from episodic_agent.lazily import module
from episodic_agent.protocols import MarkKind, Transaction
from episodic_agent.schemas import Decision, Encoding, Episode, Observation

if TYPE_CHECKING:
    from episodic_agent.engine.episodes import encoding
    from episodic_agent.engine.recall import filtering
    from episodic_agent.engine.visibility import verbs as marking
else:
    filtering = module("episodic_agent.engine.recall.filtering")
    marking = module("episodic_agent.engine.visibility.verbs")
    encoding = module("episodic_agent.engine.episodes.encoding")


LONGEST_AGE: Final = 100_000.0  # days; before any time that is accepted


@acts("episodes", within=("card", "contents", "get", "list", "messages", "recent", "replaced"))
class EpisodeRoom(RoomOf):
    """A user's episodes."""

    def __init__(self, at: Scoped, later: Later) -> None:
        self._at = at
        self._deps = at.deps
        self._later = later

    # --- read --------------------------------------------------------------------------------------------

    def list(
        self, *, limit: int | None = None, filter: Filter | None = None, **narrow: Unpack[Narrowed]
    ) -> Sequence[EpisodeCard]:
        """Return episodes in chronological order, open frames included; the last `limit` of them.

        A filter leaves those of a `thread`, that hold a message of a `channel` or a `speaker`, that begin
        from `since` and before `until`, reach into a `place`, or are about something (`where`): open frames
        are about nothing yet. A `project` leaves out those of other folders, `only` those of other threads
        and channels than these. Raises InvalidInput for what is no filter.
        """
        takes = ("thread", "channel", "speaker", "since", "until", "place", "where", "project", "only")
        filter_ = narrowed(filter, narrow, takes=takes)
        about, place = (
            metadata_filter(filter_),
            None if filter_.place is None else clean_name(filter_.place) or "",
        )
        now, own = self._deps.clock(), project_called(filter_.project)
        walls = walls_of(self._at.walls, filter_.only)
        with self._at.read() as unwalled:
            tx = unwalled if walls == self._at.walls else walled_off(unwalled, walls)
            thread_id = thread_within(tx, self._at.walls, filter_.thread, walled=bool(walls))
            others = _elsewhere(tx, own, thread_id, walls, filter_.only)
            if others.only is not None and place is not None:
                check_place(tx, place, others.only)

            def cards(most: int | None) -> Sequence[EpisodeCard]:
                if filter_.speaker is None:
                    return every(most)
                called = filtering.actors_called(tx, filter_.speaker)
                spoken = filtering.cards_holding(tx, every(None), filtering.refs_of_actors(tx, called))
                return spoken if most is None else spoken[max(0, len(spoken) - most) :]

            def every(most: int | None) -> Sequence[EpisodeCard]:
                if not about.empty:
                    return filtering.cards_about(tx, now, about, thread_id=thread_id, place=place, limit=most)
                if place is not None:
                    return listing.at_place(tx, now, place, thread_id=thread_id, limit=most)
                return listing.chronological(tx, now, thread_id=thread_id, limit=most)

            if filter_.channel is not None:
                listed = filtering.cards_of_channel(tx, cards(None), filter_.channel)
                listed = Elsewhere(only=others.only).but_theirs(tx, listed)
                return listed if limit is None else listed[max(0, len(listed) - limit) :]
            return _but_theirs(tx, others, cards, limit, newest_last=True)

    def recent(
        self,
        *,
        limit: int = 10,
        days: float | None = None,
        thread: str | None = None,
        where: Where = None,
        suppressed: bool = False,
        project: str | None = None,
    ) -> Sequence[EpisodeCard]:
        """Return episodes (of a thread) by end of event time, newest first, open frames included.

        `where` leaves those that are about something, as in `outcome=failure topic~billing`; `project`, a
        folder, leaves out those of others.
        `suppressed` shows what is suppressed or archived too, each with why it is (`hidden`).
        """
        own, walls = project_called(name_or_none("project", project)), self._at.walls
        limit = counted("limit", limit)
        if days is not None and not (isinstance(days, int | float) and days >= 0):
            raise InvalidInput(f"`days` is a number, 0 or more, not {days!r}")
        now, about = self._deps.clock(), filter_of(where)
        since = now - timedelta(days=min(days, LONGEST_AGE)) if days is not None else None
        with self._at.read() as tx:
            thread_id = thread_within(tx, walls, thread, walled=bool(walls))

            def newest(most: int | None) -> Sequence[EpisodeCard]:
                if about.empty:
                    return listing.recent(
                        tx, now, limit=most or limit, since=since, thread_id=thread_id, suppressed=suppressed
                    )
                shown = filtering.cards_about(tx, now, about, thread_id=thread_id, hidden=suppressed)
                ended = [card for card in shown if since is None or card.end_at >= since]
                return sorted(ended, key=lambda card: -card.end_at.timestamp())[:most]

            cards = _but_theirs(tx, _elsewhere(tx, own, thread_id, walls), newest, limit)
        self._deps.recently_shown.note(self._at.scope, shown_by(cards))
        return cards

    def get(self, episode_id: "UUID | str") -> Episode:
        """Return one closed episode (in place of a replaced one its `successor`); NotFound otherwise."""
        with self._at.read() as tx:
            check_episode(tx, self._at.walls, episode_identity(episode_id))
            return listing.episode(tx, episode_identity(episode_id))

    def card(self, episode_id: "UUID | str") -> EpisodeCard:
        """Return what listings show of an episode, of a part of a thread too; NotFound otherwise."""
        with self._at.read() as tx:
            check_episode(tx, self._at.walls, episode_identity(episode_id))
            return listing.card(tx, episode_identity(episode_id), self._deps.clock())

    def messages(self, episode_id: "UUID | str") -> Sequence[Observation]:
        """Return the observations of an episode or open frame, in order."""
        with self._at.read() as tx:
            check_episode(tx, self._at.walls, episode_identity(episode_id))
            return listing.messages(tx, episode_identity(episode_id))

    def contents(self, cards: Sequence[EpisodeCard | Hit]) -> Sequence[FullEpisode | None]:
        """Return what is behind cards or hits (events, open frames), read at once; None for what is gone.

        Messages that recall leaves out (`suppress`, expiry) are left out here too.
        """
        with self._at.read() as tx:
            contents = listing.full_episodes(tx, cards, self._deps.clock())
            inside = within(tx, self._at.walls)
            return contents if inside is None else [_if_inside(one, inside) for one in contents]

    def history(self, episode_id: "UUID | str") -> Sequence[Encoding]:
        """Return every version of an episode's words, oldest first."""
        with self._at.read() as tx:
            return [*tx.episodes.encodings(listing.episode(tx, episode_identity(episode_id)).id)]

    def reviews(self, episode_id: "UUID | str") -> Sequence[Decision]:
        """Return how an episode served each time it was judged, oldest first."""
        with self._at.read() as tx:
            subject = listing.episode(tx, episode_identity(episode_id)).id
            return [*tx.knowledge.decisions(subject=subject, type=REVIEW)]

    def successor(self, episode_id: "UUID | str") -> UUID:
        """Return the id under which an episode's messages are found today: another one once it was replaced.

        That of the current episode or open frame that shares most messages with it.
        """
        with self._at.read() as tx:
            return listing.successor(tx, episode_identity(episode_id))

    def replaced(self) -> Sequence[UUID]:
        """Return the ids of episodes that a `resegment` replaced, for which `successor` knows another."""
        with self._at.read() as tx:
            return listing.replaced_ids(tx, within(tx, self._at.walls))

    # --- pin ---------------------------------------------------------------------------------------------

    def pin(
        self, episode_id: "UUID | str | None" = None, *, thread: str | None = None, reason: str = ""
    ) -> "marking.Marked":
        """Pin an episode or open frame, or a whole thread with what is still to come.

        What is pinned is let go by no policy and does not fade in recall; what was archived comes back.
        """
        with self._at.write() as tx:
            return marking.pin(tx, episode_id, thread, reason=reason, now=self._deps.clock())

    def unpin(self, episode_id: "UUID | str | None" = None, *, thread: str | None = None) -> bool:
        """Take the pin off an episode or a thread; tell whether there was one."""
        with self._at.write() as tx:
            return marking.take_off(tx, MarkKind.PINNED, episode_id, thread)

    def pinned(self) -> "Sequence[marking.Marked]":
        """Return what is pinned, by thread and place in it."""
        with self._at.read() as tx:
            return marking.pinned(tx)

    # --- suppress ----------------------------------------------------------------------------------------

    def suppress(
        self,
        episode_id: "UUID | str | None" = None,
        *,
        thread: str | None = None,
        words: str | None = None,
        reason: str = "",
    ) -> "marking.Marked":
        """Keep an episode, a whole thread, or whatever holds some words, but show it no more.

        `search`, `recent` and `context` leave it out, and no skills are learnt from it. Words are compared
        whole and in any case, with messages and with the titles and summaries of episodes: "live" is in
        "sk_live", not in "alive". What is returned of words counts the messages that hold them now.
        """
        now = self._deps.clock()
        with self._at.write() as tx:
            if words is None:
                return marking.suppress(tx, episode_id, thread, reason=reason, now=now)
            marked = marking.suppress_words(
                tx, marking.words_of(words, episode_id, thread), reason=reason, now=now
            )
        with self._deps.store.begin(self._at.scope, write=False) as tx:  # nobody who writes waits for it
            return marking.counted(tx, marked)

    def unsuppress(
        self,
        episode_id: "UUID | str | None" = None,
        *,
        thread: str | None = None,
        words: str | None = None,
    ) -> bool:
        """Take an episode, a thread or words off the suppression list; tell whether they were on it.

        An episode of a suppressed thread can be shown alone; the thread takes all of its episodes off.
        """
        with self._at.write() as tx:
            if words is None:
                return marking.take_off(tx, MarkKind.SUPPRESSED, episode_id, thread)
            return tx.upkeep.release(marking.words_of(words, episode_id, thread)) > 0

    def suppressed(self) -> "Sequence[marking.Marked]":
        """Return what is suppressed, with reason and time: words first, then by thread and place in it."""
        with self._at.read() as tx:
            return marking.suppressed(tx)

    # --- words -------------------------------------------------------------------------------------------

    def rename(self, episode_id: "UUID | str", title: str) -> Episode:
        """Give a closed episode a title by hand, under which it is found from now on; return it.

        It is the newest version of its words (`history` lists them), and `reencode` leaves it alone unless
        asked for what is `by="hand"`. Raises InvalidInput for an empty title or one of over 200 characters,
        and NotFound for an episode that is not closed.
        """
        words = clean_name(worded("title", title)) or ""
        with self._at.write() as tx:
            return encoding.rename(
                tx, episode_identity(episode_id), words, self._deps.clock(), self._deps.language
            )

    def reencode(self, *, thread: str | None = None, every: bool = False, by: str | None = None) -> int:
        """Find the words of closed episodes anew, with what this memory is opened with; return of how many.

        Those of one `thread`, or with `every` all the user's; `by` narrows it to what was encoded by this (as
        `Episode.encoded_by` says, or its beginning: "extractive"). What comes out otherwise than it was
        becomes the newest version (`history` lists them) and replaces what is searched; observations and
        strength stay. With `jobs="workers"` it waits for nobody. Raises InvalidInput where nothing says which
        episodes.
        """
        if (thread is None) == (not every):
            raise InvalidInput("name a thread, or say that all of them are meant (`every=True`), not both")
        scope, maker = self._at.known(), clean_name(by)
        count = encoding.reencode(
            self._deps, scope, None if thread is None else self._at.thread_id(thread), maker
        )
        self._later.run(scope)
        return count


def _elsewhere(
    tx: Transaction,
    own: frozenset[str],
    thread_id: UUID | None,
    walls: Walls,
    names: Sequence[str] | None = None,
) -> Elsewhere:
    """Return what lies elsewhere than in some projects and within walls."""
    # who names a thread means that one, of whatever project
    only = within(tx, walls, names)
    return Elsewhere(projects_meant(tx, own, only).own, () if thread_id is None else (thread_id,), only)


def _if_inside(content: FullEpisode | None, inside: frozenset[UUID]) -> FullEpisode | None:
    """Return what is behind a card unless it lies outside, whatever the card says."""
    if content is None:
        return None
    threads = {one.thread_id for one in content.messages}
    threads |= set() if content.episode is None else {content.episode.thread_id}
    return content if threads <= inside else None


def _but_theirs(
    tx: Transaction,
    others: Elsewhere,
    cards: Callable[[int | None], Sequence[EpisodeCard]],
    limit: int | None,
    *,
    newest_last: bool = False,
) -> Sequence[EpisodeCard]:
    """Return the newest cards that do not lie elsewhere: more and more are read until these are enough."""
    asked = limit
    if not others:
        return cards(limit)
    while True:
        read = cards(asked)
        here = others.but_theirs(tx, read)
        if limit is None or asked is None or len(here) >= limit or len(read) < asked:
            break
        asked *= WIDER
    if limit is None:
        return here
    return here[max(0, len(here) - limit) :] if newest_last else here[:limit]
