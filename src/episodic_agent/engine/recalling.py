"""The verbs of `Memory` that recall: what answers, what is recent, what was where."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from episodic_agent.core.context.retrieved import (
    DETAILS,
    Detail,
    ToldEpisode,
    ToldFact,
    is_detailed,
    retrieved,
)
from episodic_agent.core.interfaces import Transaction
from episodic_agent.engine import listing
from episodic_agent.engine.curtain import Curtain
from episodic_agent.engine.filtering import Where, cards_about, filter_of
from episodic_agent.engine.given import aware, counted, episode_identity, tidy
from episodic_agent.engine.places import Places, Stretch, VisitCard, count_places, route_of, visits_of
from episodic_agent.engine.recall import FEW_FACTS, Recaller, SearchOptions
from episodic_agent.engine.results import EpisodeCard, FactHit, Hit, Recall, Whole
from episodic_agent.engine.reviewing import REVIEW, note_recall
from episodic_agent.engine.scoped import Scoped
from episodic_agent.engine.told import told_by
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import Decision, Scope

LONGEST_AGE: Final = 100_000.0  # days; before any time that is accepted


class RecallVerbs(Scoped):
    """Search, and the listings by time and place. Nothing writes, but for a recall to be judged later."""

    _recaller: Recaller

    def search(
        self,
        query: str,
        *,
        user_id: str | None = None,
        limit: int = 5,
        observations: int | None = None,
        policy: str = "default",
        since: datetime | None = None,
        until: datetime | None = None,
        thread: str | None = None,
        place: str | None = None,
        now: datetime | None = None,
        explain: bool = False,
        asking: str | None = None,
        facts: int = FEW_FACTS,
        category: str | None = None,
        suppressed: bool = False,
        where: Where = None,
    ) -> Recall:
        """Return the episodes and facts that best answer a query, with the observations that prove it.

        `limit` counts episodes, `observations` the ranked observations over all (`limit` of them unless
        given). `since` and `until` are filters on event time, `place` on where it was; time words and places
        in the query are a preference, and all of a question that asks for nothing else. Raises
        InvalidInput for a blank query and NotFound for an unknown user or place.

        `facts` is how many at most: those that hold now (or at `until`), of one `category` where it is given;
        `thread` narrows them too, and a `place` leaves them out.

        `asking` names the thread that asks: what it says next tells how the episodes served, and they are
        stronger or weaker for it (a review). Otherwise nothing is written.

        `where` leaves only closed episodes that are about something, as in `tool=bash tag=memory,leak`
        (docs/chains.md), and the facts they prove. `suppressed` fills `Recall.suppressed`: the hits that the
        suppression list, retention or fading kept out, each with its reason.
        """
        scope = self._known(user_id)
        options = SearchOptions(
            limit=limit,
            observations=limit if observations is None else observations,
            policy=policy,
            since=aware(since),
            until=aware(until),
            thread_id=self._thread_id(scope, thread) if thread else None,
            place=tidy(place),
            now=aware(now),
            explain=explain,
            facts=facts,
            category=category,
            suppressed=suppressed,
            where=filter_of(where),
        )
        reviewer = self._thread_id(scope, asking) if asking else None
        recall = self._recaller.run(scope, query, options)
        self._parts.told.note(scope, told_by(recall.hits, recall.observations))
        if reviewer is not None and not recall.abstained:
            closed = [hit.episode_id for hit in recall.hits if hit.state != "open"]
            note_recall(self._parts, scope, reviewer, query, closed, policy=policy, identity=self._fresh())
        return recall

    def retrieve(
        self,
        query: str,
        *,
        detail: Detail = "auto",
        user_id: str | None = None,
        limit: int = 5,
        facts: int = FEW_FACTS,
        category: str | None = None,
        thread: str | None = None,
        now: datetime | None = None,
        asking: str | None = None,
        where: Where = None,
    ) -> str:
        """Return what `search` finds as Markdown for a prompt, in seed 003's form; "" where nothing answers.

        `detail` says which episodes show what was said: `auto` key moments of the first two, `low` of the
        first, `high` all, `none` none. Raises as `search` does, and InvalidInput for another `detail`.
        """
        if detail not in DETAILS:
            raise InvalidInput(f"no detail {detail!r}; there are {', '.join(DETAILS)}")
        recall = self.search(
            query,
            user_id=user_id,
            limit=limit,
            facts=facts,
            category=category,
            thread=thread,
            now=now,
            asking=asking,
            where=where,
        )
        scope = self._known(user_id)
        with self._parts.store.begin(scope, write=False) as tx:
            hits, curtain = () if recall.abstained else recall.hits, Curtain(tx, self._parts.clock())
            told = [
                _told(tx, curtain, hit, is_detailed(n, hit.surprise, detail)) for n, hit in enumerate(hits, 1)
            ]
        known = [told_fact(hit) for hit in recall.facts]
        return retrieved(known, told, detail, aware(now) or self._parts.clock())

    def reviews(self, episode_id: "UUID | str", *, user_id: str | None = None) -> list[Decision]:
        """Return how an episode served each time it was judged, oldest first."""
        with self._read(user_id) as tx:
            subject = listing.episode(tx, episode_identity(episode_id)).id
            return list(tx.episodes.decisions(subject=subject, type=REVIEW))

    def recent(
        self,
        *,
        user_id: str | None = None,
        limit: int = 10,
        days: float | None = None,
        thread: str | None = None,
        suppressed: bool = False,
    ) -> list[EpisodeCard]:
        """Return episodes (of a thread) by end of event time, newest first, open frames included.

        `suppressed` shows what is suppressed or archived too, each with why it is (`hidden`).
        """
        counted("limit", limit)
        if days is not None and not (isinstance(days, int | float) and days >= 0):
            raise InvalidInput(f"`days` is a number, 0 or more, not {days!r}")
        now = self._parts.clock()
        since = now - timedelta(days=min(days, LONGEST_AGE)) if days is not None else None
        scope = self._known(user_id)
        thread_id = self._thread_id(scope, thread) if thread else None
        with self._parts.store.begin(scope, write=False) as tx:
            found = listing.recent(
                tx, now, limit=limit, since=since, thread_id=thread_id, suppressed=suppressed
            )
        self._parts.told.note(scope, told_by(found))
        return found

    def episodes(
        self,
        *,
        user_id: str | None = None,
        thread: str | None = None,
        place: str | None = None,
        limit: int | None = None,
        where: Where = None,
    ) -> list[EpisodeCard]:
        """Return episodes (that reach into a place) in chronological order, open frames included.

        `where` says what they are to be about, as in `tool=bash tag=memory,leak since=2026-03-01`
        (docs/chains.md); open frames are about nothing yet. Raises InvalidInput for what is no filter.
        """
        wanted = filter_of(where)
        scope = self._known(user_id)
        thread_id, now = self._thread_id(scope, thread) if thread else None, self._parts.clock()
        with self._parts.store.begin(scope, write=False) as tx:
            named = None if place is None else tidy(place) or ""
            if not wanted.empty:
                return cards_about(tx, now, wanted, thread_id=thread_id, place=named, limit=limit)
            if named is not None:
                return listing.at_place(tx, now, named, thread_id=thread_id, limit=limit)
            return listing.chronological(tx, now, thread_id=thread_id, limit=limit)

    def wholes(self, cards: Sequence[EpisodeCard | Hit], *, user_id: str | None = None) -> list[Whole | None]:
        """Return what is behind cards or hits (events, open frames), read at once; None for what is gone.

        Messages that recall leaves out (`suppress`, expiry) are left out here too.
        """
        with self._read(user_id) as tx:
            return listing.wholes(tx, cards, self._parts.clock())

    def places(
        self,
        *,
        user_id: str | None = None,
        thread: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Places:
        """Return where the user's threads were, how often and how long, and the moves from place to place.

        Visits that touch [since, until) count whole.
        """
        scope = self._known(user_id)
        asked = self._stretch(scope, thread, since, until)
        with self._parts.store.begin(scope, write=False) as tx:
            return count_places(tx, asked)

    def visits(
        self,
        place: str,
        *,
        user_id: str | None = None,
        thread: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int | None = None,
        order: str = "newest",
    ) -> list[VisitCard]:
        """Return the visits of a place, each linked to the one before and the one after it.

        `order` is newest (first) or oldest. Raises NotFound, with the nearest name, where nobody ever was.
        """
        scope = self._known(user_id)
        asked = self._stretch(scope, thread, since, until)
        with self._parts.store.begin(scope, write=False) as tx:
            return visits_of(tx, tidy(place) or "", asked, limit=limit, order=order)

    def route(
        self,
        thread: str,
        *,
        user_id: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> list[VisitCard]:
        """Return the places a thread went through, in order, with the episodes of each visit."""
        scope = self._known(user_id)
        asked = self._stretch(scope, thread, since, until)
        with self._parts.store.begin(scope, write=False) as tx:
            return route_of(tx, asked)

    def _stretch(
        self, scope: Scope, thread: str | None, since: datetime | None, until: datetime | None
    ) -> Stretch:
        thread_id = None if thread is None else self._thread_id(scope, thread)
        return Stretch(thread_id, aware(since), aware(until))


def told_fact(hit: FactHit) -> ToldFact:
    """Return a fact as a prompt is told it."""
    return ToldFact(hit.fact.category.value, hit.fact.fact, len(hit.episodes))


def _told(tx: Transaction, curtain: Curtain, hit: Hit, detailed: bool) -> ToldEpisode:
    found = listing.messages(tx, hit.episode_id) if detailed else []
    shown = curtain.heard(tx.threads.number(hit.thread_id), found) if curtain.drawn else found
    said = [(o.actor, o.text) for o in shown]
    return ToldEpisode(hit.title, hit.summary, hit.start_at, hit.end_at, hit.surprise, said, hit.score)
