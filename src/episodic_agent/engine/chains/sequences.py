"""Sequences and replays (`chains.sequence`, `chains.replay`): the episodes of a topic in order (seed 004).

Relevance is how likely an episode is about the topic: the curve that tells whether a question is answered,
read with this episode's own best cosine (calibrated) and share of words. A fused rank score would not do: of
it every first hit has nearly the most there is.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from episodic_agent.core import recall as ranking
from episodic_agent.core.chains.metadata import Metadata, MetadataFilter, read_metadata
from episodic_agent.core.chains.sequences import (
    DEFAULT,
    RECENT,
    RELEVANT,
    SEED,
    ReplayedEpisode,
    ReplayHit,
    fetched,
    replay_text,
    selected,
    with_ends,
)
from episodic_agent.core.links.features import cosine
from episodic_agent.core.threads.channels import project_called
from episodic_agent.engine.arguments import MOST_EPISODES, counted, worded
from episodic_agent.engine.chains.bearing import those_that_bear
from episodic_agent.engine.chains.finding import Finder, Ranked
from episodic_agent.engine.chains.stories import (
    ending_of,
    following,
    still_open,
    text_vectors,
    without_guesses,
)
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.filters import Filter, Walls, metadata_filter, walls_of
from episodic_agent.engine.people.naming import reading_named
from episodic_agent.engine.recall.elsewhere import NO_OTHERS, Elsewhere, projects_meant
from episodic_agent.engine.recall.filtering import passing
from episodic_agent.engine.recall.gathering import Gatherer
from episodic_agent.engine.recall.walls import walled_off, within
from episodic_agent.engine.recently_shown import ShownText
from episodic_agent.engine.scoped import Scoped
from episodic_agent.engine.threads.session_records import declared, session_of_episode
from episodic_agent.engine.visibility.hidden import Visibility
from episodic_agent.errors import InvalidInput, ProviderError
from episodic_agent.protocols import Transaction, query_vector
from episodic_agent.schemas import Episode, Scope, Vector
from episodic_agent.schemas.strength import Standing
from episodic_agent.showing import described

WIDER: Final = 4  # times as many are looked through where filters leave too few


@dataclass(frozen=True, slots=True)
class Sequenced:
    """An episode of a sequence; `relevance` is in [0, 1], 0 where only time was asked for.

    `parent_episode_id` is the episode it goes on with, `parent_title` that one's title ("" where it is gone).
    """

    episode_id: UUID
    thread_id: UUID
    title: str
    summary: str
    start_at: datetime
    end_at: datetime
    relevance: float
    parent_episode_id: UUID | None = None
    parent_title: str = ""
    metadata: Metadata = field(default_factory=Metadata)

    def __repr__(self) -> str:
        return described(
            self, self.start_at, self.title or "untitled", self.relevance, self.summary, self.episode_id
        )


class EpisodeSequence(list[Sequenced]):
    """Episodes earliest first; `left_out` is how many more there are at least, over the limit.

    `ending` says how the chain of the newest one ended, "" where it stands in none.
    """

    def __init__(self, sequenceds: Iterable[Sequenced] = (), *, left_out: int = 0, ending: str = "") -> None:
        super().__init__(sequenceds)
        self.left_out, self.ending = left_out, ending


@dataclass(frozen=True, slots=True)
class _Wish:
    """What a sequence is asked for."""

    topic: str
    limit: int
    order: str
    policy: str
    metadata: MetadataFilter
    min_relevance: float
    others: Elsewhere = NO_OTHERS
    walls: Walls = ()


def sequence_of(
    at: Scoped,
    topic: str,
    limit: int,
    min_relevance: float,
    filter: Filter,
    *,
    order: str = RELEVANT,
    policy: str = DEFAULT,
) -> EpisodeSequence:
    """Find one sequence; see `ChainRoom.sequence`. Nothing is written."""
    deps, conditions = at.deps, metadata_filter(filter)
    counted("limit", limit, most=MOST_EPISODES)
    worded("topic", topic)
    if not isinstance(min_relevance, int | float) or not 0.0 <= min_relevance <= 1.0:
        raise InvalidInput(f"`min_relevance` is a probability from 0 to 1, not {min_relevance}")
    selected((), limit, order=order, policy=policy)  # refuses unknown names before anything is read
    scope, walls = at.known(), walls_of(at.walls, filter.only)
    named = [(name,) for name in (filter.thread, filter.channel) if name is not None]
    walls = (*walls, *named)
    inside, own = None, project_called(filter.project)
    if walls or own:
        with deps.store.begin(scope, write=False) as tx:
            inside = within(tx, walls, filter.only)
            for names in named:
                within(tx, (*at.walls, names), names)
            own = projects_meant(tx, own, inside).own
    others = Elsewhere(own, only=inside)
    sequence = Sequences(deps).run(
        scope, _Wish(topic.strip(), limit, order, policy, conditions, min_relevance, others, walls)
    )
    deps.recently_shown.note(scope, (ShownText(str(e.episode_id), e.summary) for e in sequence if e.summary))
    return sequence


def story_of(
    sequence_for: Callable[..., EpisodeSequence],
    topic: str,
    limit: int,
    *,
    order: str = RELEVANT,
    **asked: Any,
) -> EpisodeSequence:
    """Return the episodes a replay tells: those of a sequence, and whatever the limit how it came out.

    `sequence_for` is a `chains.sequence`. The last word on a matter seldom is the one that is most about it:
    it takes the place of the one least so.
    """
    sequence = sequence_for(topic, limit, order=order, **asked)
    if not sequence.left_out or limit < 2 or order != RELEVANT or not topic.strip():
        return sequence  # nor is anything left out under the seed's policy
    newest = sequence_for(topic, 1, order=RECENT, **asked)
    if {one.episode_id for one in newest} <= {one.episode_id for one in sequence}:
        return sequence
    least = min(sequence, key=lambda one: one.relevance)
    result = sorted([*(one for one in sequence if one is not least), *newest], key=lambda one: one.start_at)
    return EpisodeSequence(result, left_out=sequence.left_out, ending=newest.ending)


def replay_of(topic: str, sequence: EpisodeSequence, *, policy: str = DEFAULT) -> str:
    """Return the story of a topic as text."""
    story = replay(sequence)
    return replay_text(topic, story, policy=policy, left_out=sequence.left_out, ending=sequence.ending)


def replay(sequenceds: Iterable[Sequenced]) -> list[ReplayedEpisode]:
    """Return episodes as a replay tells them."""
    return [
        ReplayedEpisode(
            e.episode_id, e.start_at, e.title, e.summary, e.parent_episode_id, e.parent_title, e.metadata
        )
        for e in sequenceds
    ]


class Sequences:
    """Finds the sequences of one store."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def run(self, scope: Scope, wish: _Wish) -> EpisodeSequence:
        """Find one sequence; see `ChainRoom.sequence`."""
        deps, now = self._deps, self._deps.clock()
        vector = self._embed(wish.topic)
        if wish.policy == SEED and wish.topic:
            return self._by_seed(scope, wish, vector)
        others = wish.others
        with reading_named(deps.store, scope) as unwalled:
            tx = walled_off(unwalled, wish.walls)
            visibility = Visibility(tx, now)
            spans = None if wish.metadata.empty else passing(tx, wish.metadata, visibility)
            finder = None
            if wish.topic:
                owner = None if scope.user_id == Scope().user_id else scope.user_id
                query = ranking.analyse(wish.topic, (), now, owner=owner, language=deps.language)
                gatherer = Gatherer(
                    tx, query, vector, deps.embedder_name, deps.calibration, visibility=visibility
                )
                finder = Finder(tx, deps, query, gatherer, spans, alone=bool(others))
                episodes, relevance = _enough(tx, finder.best, visibility, wish)
            else:
                episodes, relevance = _enough(tx, _newest(tx, spans), visibility, wish)
            hits = [_hit(e, relevance) for e in episodes]
            every, chosen = (_selected(hits, most, wish) for most in (max(len(hits), 1), wish.limit))
            known = {e.id: e for e in episodes}
            left_out = len(every)
            if wish.topic:
                names = None if spans is None else {UUID(hex=one.name) for one in spans}
                shown = [known[hit.id] for hit in chosen]
                further = following(tx, visibility, shown, names)
                here = {e.id for e in others.but_theirs(tx, (one.episode for one in further))}
                further = [one for one in further if one.episode.id in here]
                further = those_that_bear(tx, query, deps.language, shown, further)
                known |= {one.episode.id: one.episode for one in further}
                new = [_hit(one.episode, relevance) for one in further]
                left_out = len({hit.id for hit in (*every, *new)})
                ends = [one.episode.id for one in further if one.is_end]
                chosen = with_ends(chosen, new, ends, wish.limit, order=wish.order)
            sequenceds = _sequenced(tx, visibility, [known[hit.id] for hit in chosen], relevance, others)
            last = known[chosen[-1].id] if chosen else None
            ending = _ending(tx, visibility, last, finder, wish) if finder is not None else ""
            over = 0 if wish.policy == SEED else left_out - len(chosen)
            return EpisodeSequence(sequenceds, left_out=over, ending=ending)

    def _by_seed(self, scope: Scope, wish: _Wish, vector: Vector | None) -> EpisodeSequence:
        """Find one as seed 004 does: by the raw cosine of the topic with title and summary together.

        Without vectors the share of the topic's words in them stands for it.
        """
        deps, now = self._deps, self._deps.clock()
        count = fetched(wish.limit, SEED)
        with reading_named(deps.store, scope) as unwalled:
            tx = walled_off(unwalled, wish.walls)
            visibility = Visibility(tx, now)
            spans = None if wish.metadata.empty else passing(tx, wish.metadata, visibility)
            query = ranking.analyse(wish.topic, (), now, language=deps.language)
            gatherer = Gatherer(
                tx, query, vector, deps.embedder_name, deps.calibration, visibility=visibility
            )
            pool = Finder(tx, deps, query, gatherer, spans).by_words(WIDER * count)
            hidden = visibility.why_all([episode for episode, _ in pool])
            here = {episode.id for episode in wish.others.but_theirs(tx, (episode for episode, _ in pool))}
        pool = [pair for pair in pool if pair[0].id in here and pair[0].id not in hidden]
        full_episodes = {} if vector is None else text_vectors(deps.embedder, [one for one, _ in pool])
        relevance = {e.id: held for e, held in pool}
        relevance |= {one: max(0.0, cosine(vector, whole) or 0.0) for one, whole in full_episodes.items()}
        best = sorted(
            (e for e, _ in pool if relevance[e.id] > 0.0),
            key=lambda e: (-relevance[e.id], e.start_at, e.thread_id.bytes, e.first_seq),
        )
        known = {e.id: e for e in best[:count]}
        hits = [_hit(e, relevance) for e in known.values()]
        chosen = _selected(hits, wish.limit, wish)
        with reading_named(deps.store, scope) as unwalled:
            tx = walled_off(unwalled, wish.walls)
            episodes = [known[hit.id] for hit in chosen]
            visibility = Visibility(tx, now)
            return EpisodeSequence(_sequenced(tx, visibility, episodes, relevance, wish.others))

    def _embed(self, topic: str) -> Vector | None:
        if not topic or self._deps.embedder is None:
            return None
        try:
            return query_vector(self._deps.embedder, topic)
        except ProviderError:
            return None  # by words, as search does


def _ending(
    tx: Transaction, visibility: Visibility, last: Episode | None, finder: Finder, wish: _Wish
) -> str:
    """Return how a story ended, and what of its topic is in no episode yet.

    Who filters asks for the episodes that pass alone.
    """
    ending = "" if last is None else ending_of(tx, visibility, last, wish.others)
    refs = finder.still_open() if finder.spans is None else ()
    return "\n".join(part for part in (ending, still_open(tx, visibility, wish.others, refs)) if part)


def _hit(episode: Episode, relevance: Mapping[UUID, float]) -> ReplayHit:
    place = episode.thread_id, episode.first_seq
    return ReplayHit(episode.id, episode.start_at, relevance.get(episode.id, 0.0), place)


def _selected(hits: Sequence[ReplayHit], limit: int, wish: _Wish) -> tuple[ReplayHit, ...]:
    return selected(
        hits,
        limit,
        topic=wish.topic,
        order=wish.order,
        min_relevance=wish.min_relevance,
        policy=wish.policy,
    )


def _enough(
    tx: Transaction, best: Callable[[int], Ranked], visibility: Visibility, wish: _Wish
) -> tuple[list[Episode], dict[UUID, float]]:
    """Ask for more and more candidates until enough are shown, or there are no more."""
    count = fetched(wish.limit, wish.policy)
    asked = count
    while True:
        ranked, exhausted = best(asked)
        hidden = visibility.why_all([episode for episode, _ in ranked])
        here = {episode.id for episode in wish.others.but_theirs(tx, (episode for episode, _ in ranked))}
        pairs = [pair for pair in ranked if pair[0].id in here and pair[0].id not in hidden]
        if len(pairs) >= count or exhausted:
            break
        asked *= WIDER
    if not (wish.topic and wish.order == RECENT):
        pairs = pairs[:count]  # of the newest each relevant one counts, not only the most relevant
    return [episode for episode, _ in pairs], {episode.id: relevance for episode, relevance in pairs}


def _newest(tx: Transaction, spans: Sequence[Standing] | None) -> Callable[[int], Ranked]:
    """Return what finds the newest episodes, of these where they are given."""
    ordered = sorted(spans or (), key=lambda span: (-span.end_at, -span.first_ref))

    def best(asked: int) -> Ranked:
        if spans is None:
            episodes = list(tx.episodes.list(limit=asked))
            return [(episode, 0.0) for episode in episodes], len(episodes) < asked
        stored = tx.episodes.get([span.first_ref for span in ordered[:asked]])
        newest = [stored[span.first_ref] for span in ordered[:asked]]
        return [(episode, 0.0) for episode in newest], len(ordered) <= asked

    return best


def _sequenced(
    tx: Transaction,
    visibility: Visibility,
    chosen: Sequence[Episode],
    relevance: Mapping[UUID, float],
    others: Elsewhere,
) -> list[Sequenced]:
    parents = parents_of(tx, chosen)
    stored = tx.episodes.get(list({parent for parent in parents.values() if parent is not None}))
    hidden = visibility.why_all(list(stored.values()))
    answer = []
    for episode in map(visibility.worded, chosen):
        parent = stored.get(identity) if (identity := parents[episode.id]) is not None else None
        if parent is not None and (parent.id in hidden or others.hold_thread(tx, parent.thread_id)):
            parent = None  # that it is not shown is not told either
        title = "" if parent is None else _called(tx, visibility, parent)
        answer.append(
            Sequenced(
                episode_id=episode.id,
                thread_id=episode.thread_id,
                title=episode.title,
                summary=episode.summary,
                start_at=episode.start_at,
                end_at=episode.end_at,
                relevance=relevance.get(episode.id, 0.0),
                parent_episode_id=None if parent is None else parent.id,
                parent_title=title,
                metadata=_metadata(tx, visibility, episode),
            )
        )
    return answer


def _metadata(tx: Transaction, visibility: Visibility, episode: Episode) -> Metadata:
    """Return what is known of an episode; until it has words, what was declared of its session."""
    if not episode.encoding_version:
        episode = visibility.worded(replace(episode, metadata=declared(tx, episode).as_json()))
    return without_guesses(tx, episode, read_metadata(episode.metadata))


def _called(tx: Transaction, visibility: Visibility, parent: Episode) -> str:
    """Return what that is called which an episode goes on with: the session's topic, else its own title."""
    session = session_of_episode(tx, parent)
    topic = "" if session is None or visibility.holds(session.topic) else session.topic
    return topic or visibility.worded(parent).title


def parents_of(tx: Transaction, chosen: Sequence[Episode]) -> dict[UUID, UUID | None]:
    """Return what each episode goes on with: its own parent, or that of the session it is the first of.

    Chains join sessions, a sequence tells what happened in them: where an episode of the session before is
    told too, the last of those stands for it.
    """
    parents: dict[UUID, UUID | None] = {}
    last_of: dict[UUID, UUID] = {}  # by session, the last of its episodes told so far
    for episode in chosen:
        section = tx.threads.section(episode.thread_id, episode.first_seq)
        own = episode.parent_episode_id
        if own is None and section is not None and section.episode_id not in last_of:
            session = tx.episodes.get(section.episode_id)
            own = None if session is None else session.parent_episode_id
        parents[episode.id] = last_of.get(own, own) if own is not None else None
        if section is not None:
            last_of[section.episode_id] = episode.id
    return parents
