"""Recall as a caller asks for it: search, and the places where a user's threads were, visit by visit.

The options are read, the answer is noted and shown as a prompt is told it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, Unpack
from uuid import UUID

from episodic_agent.core.context.retrieved import (
    LONGEST_PROOF,
    Detail,
    RetrievedEpisode,
    RetrievedFact,
    retrieved,
)
from episodic_agent.core.language import excerpt
from episodic_agent.core.threads.channels import project_called
from episodic_agent.engine.arguments import aware, clean_name
from episodic_agent.engine.episodes.listing import find_thread
from episodic_agent.engine.filters import Filter, Narrowed, Walls, filter_of, narrowed, walls_of
from episodic_agent.engine.recall.places import (
    PlaceSummary,
    Stretch,
    VisitCard,
    count_places,
    route_of,
    visits_of,
)
from episodic_agent.engine.recall.searching import Recaller, SearchOptions
from episodic_agent.engine.recently_shown import shown_by
from episodic_agent.engine.results import DetailedRecall, FullEpisode, Hit, Recall
from episodic_agent.engine.scoped import RoomOf, Scoped
from episodic_agent.engine.strength import note_recall
from episodic_agent.engine.trace.acts import acts
from episodic_agent.protocols import Transaction
from episodic_agent.schemas import Kind, Observation


def options_of(
    filter: Filter,
    *,
    walls: Walls = (),
    limit: int,
    observations: int,
    policy: str,
    now: datetime | None,
    explain: bool,
    facts: int,
    suppressed: bool,
    asking: str | None,
    detail: Detail,
) -> SearchOptions:
    """Read how a search is to be done."""
    return SearchOptions(
        limit=limit,
        observations=observations,
        policy=policy,
        since=aware(filter.since),
        until=aware(filter.until),
        thread=filter.thread,
        asking=clean_name(asking, "asking") or None,
        channel=filter.channel,
        projects=project_called(filter.project),
        only=walls_of(walls, filter.only),
        names=tuple(filter.only or ()),
        place=filter.place,
        speaker=filter.speaker,
        now=now,
        explain=explain,
        facts=facts,
        category=filter.category,
        suppressed=suppressed,
        where=filter_of(filter.where),
        detail=detail,
    )


def recall(at: Scoped, recaller: Recaller, query: str, options: SearchOptions) -> Recall:
    """Answer a query, and keep in mind what was shown: what the thread that asked says next judges it."""
    scope, deps = at.scope, at.deps
    answer, asker = recaller.run(scope, query, options, known=not at.new)
    deps.recently_shown.note(scope, shown_by(answer.hits, answer.observations))
    if asker is not None and not answer.abstained:
        closed = [hit.episode_id for hit in answer.hits if hit.state != "open"]
        if closed:  # an answer without an episode has nothing to be judged
            note_recall(deps, scope, asker, answer.query, closed, policy=options.policy, identity=at.fresh())
    return answer if answer.query == query else replace(answer, query=query)  # in its own names


def recall_markdown(recall: Recall, detail: Detail, now: datetime) -> str:
    """Return an answer as a prompt is told it (seed 003); it was searched for with this `detail`."""
    facts = [RetrievedFact(hit.fact.category.value, hit.fact.fact, len(hit.episodes)) for hit in recall.facts]
    contents = contents_of(recall)
    episodes = [_retrieved(hit, contents.get(hit.episode_id), recall.query) for hit in recall.hits]
    return retrieved(facts, episodes, detail, now, recall.query)


def contents_of(recall: Recall) -> Mapping[UUID, FullEpisode]:
    """Return the messages that an answer came with, by episode."""
    return recall.contents if isinstance(recall, DetailedRecall) else {}


def _retrieved(hit: Hit, content: FullEpisode | None, query: str) -> RetrievedEpisode:
    messages = [] if content is None else [(o.actor, _shown(o, query)) for o in content.messages]
    return RetrievedEpisode(
        hit.thread_title if hit.state == "open" else hit.title,
        hit.summary,
        hit.lived_at,
        hit.end_at,
        hit.surprise,
        messages,
        hit.score,
        [(o.seq, o.actor, _shown(o, query)) for o in (one.observation for one in hit.evidence)],
        hit.state == "open",
        hit.decisions,
    )


def _shown(observation: Observation, query: str) -> str:
    """Return what was said; of a tool's long output the call and the lines that bear on the query."""
    if observation.kind is not Kind.TOOL:
        return observation.text
    return excerpt(observation.text, query, LONGEST_PROOF, output=True)


_TAKES: Final = ("thread", "since", "until")


@acts("places")
class PlaceRoom(RoomOf):
    """Where a user's threads were; a filter takes `thread`, `since` and `until`."""

    def __init__(self, at: Scoped) -> None:
        self._at = at

    def list(self, *, filter: Filter | None = None, **narrow: Unpack[Narrowed]) -> PlaceSummary:
        """Return where the user's threads were, how often and how long, and the moves from place to place.

        Visits that touch [since, until) count whole.
        """
        filter_ = narrowed(filter, narrow, takes=_TAKES)
        with self._at.read() as tx:
            return count_places(tx, _stretch(tx, filter_))

    def visits(
        self,
        place: str,
        /,
        *,
        limit: int | None = None,
        order: str = "newest",
        filter: Filter | None = None,
        **narrow: Unpack[Narrowed],
    ) -> Sequence[VisitCard]:
        """Return the visits of a place, each linked to the one before and the one after it.

        `order` is newest (first) or oldest. Raises NotFound, with the nearest name, where nobody ever was.
        """
        filter_ = narrowed(filter, narrow, takes=_TAKES)
        with self._at.read() as tx:
            return visits_of(tx, clean_name(place) or "", _stretch(tx, filter_), limit=limit, order=order)

    def route(
        self, thread: str, /, *, filter: Filter | None = None, **narrow: Unpack[Narrowed]
    ) -> Sequence[VisitCard]:
        """Return the places a thread went through, in order, with the episodes of each visit."""
        filter_ = narrowed(filter, narrow, takes=("since", "until"))
        with self._at.read() as tx:
            return route_of(tx, _stretch(tx, replace(filter_, thread=thread)))


def _stretch(tx: Transaction, filter: Filter) -> Stretch:
    identity = None if filter.thread is None else find_thread(tx, clean_name(filter.thread) or "").id
    return Stretch(identity, aware(filter.since), aware(filter.until))
