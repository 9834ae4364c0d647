"""Read what stood at a moment of record time: the nouns of a scope as an export of then would hold them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import combinations, islice, starmap
from typing import Final
from uuid import UUID

from episodic_agent.core.identity import cross_thread_id
from episodic_agent.core.links.grouping import groups_of
from episodic_agent.core.past import facts_at, link_at, parent_at, strength_at
from episodic_agent.core.threads.channels import channel_name
from episodic_agent.core.threads.resolution import CLOSED, INACTIVITY, OPEN
from episodic_agent.core.threads.turns import turn_count
from episodic_agent.engine.boundary.generations import RESEGMENT
from episodic_agent.engine.files.own import CheckRecord, FactLine, MarkLine, Moved, Noun, SkillLine
from episodic_agent.engine.jobs.kinds import CHAIN, COMPACT, OUTCOME, REVIEW
from episodic_agent.engine.links.joining import EVERY, NAMED, THREADS, live_ties
from episodic_agent.engine.skills.exports import skill_nouns
from episodic_agent.engine.threads.session_records import SESSION, SessionFacts, read_record, record_of
from episodic_agent.engine.trace.changes import first_after
from episodic_agent.engine.tuning.outcomes import labelled
from episodic_agent.engine.visibility.exports import visibility_nouns
from episodic_agent.protocols import MarkKind, Transaction
from episodic_agent.schemas import (
    Decision,
    Encoding,
    Episode,
    EpisodeKind,
    EpisodeState,
    Frame,
    Joined,
    Link,
    Observation,
    Reason,
    Section,
    Thread,
)
from episodic_agent.schemas.chains import Refusal
from episodic_agent.schemas.decisions import PEOPLE, PERSON
from episodic_agent.schemas.facts import FactTombstone, StoredFact

MOST_NAMES: Final = 2_000  # under which episodes of one group of linked threads are looked for
_PAGE: Final = 1024


@dataclass(slots=True)
class PastNouns:
    """What stood then: `threads` as groups of nouns, each a thread with all of its own.

    `retold` are the episodes whose words were others then than now, or are not in the index now.
    """

    threads: list[list[Noun]] = field(default_factory=list)
    links: list[Noun] = field(default_factory=list)
    facts: list[Noun] = field(default_factory=list)
    skills: list[Noun] = field(default_factory=list)
    visibility: list[Noun] = field(default_factory=list)
    timeouts: Mapping[str, timedelta] = field(default_factory=dict)
    people: Sequence[Decision] = ()
    retold: set[UUID] = field(default_factory=set)


class PastReader:
    """Reads a scope as it stood at `moment`; `now` tells what is not to be shown any more."""

    def __init__(self, tx: Transaction, moment: datetime, now: datetime) -> None:
        self._tx = tx
        self._moment = moment
        self._now = now
        self._decided: dict[UUID, Decision] = {}
        self._about: dict[UUID, list[Decision]] = defaultdict(list)
        for decision in tx.knowledge.decisions():
            self._decided[decision.id] = decision
            self._about[decision.subject].append(decision)
        turns = {turn for one in self._decided.values() if (turn := _turn(one)) is not None}
        self._turns = tx.observations.get(sorted(turns)) if turns else {}
        self._refusals: dict[UUID, list[Refusal]] = defaultdict(list)
        for refusal in tx.episodes.refusals():
            self._refusals[refusal.child].append(refusal)
        self._ids: set[UUID] = set()  # of the observations and episodes that were there
        self._consolidated: set[UUID] = set()
        self._created: dict[UUID, datetime] = {}  # event time at which threads began, as known then
        self._nouns = PastNouns(timeouts=tx.upkeep.settings().timeouts)

    def read(self) -> PastNouns:
        """Return what stood; empty where nothing had been received yet."""
        tx, nouns = self._tx, self._nouns
        threads = tx.threads.list()
        numbers = {thread.id: tx.threads.number(thread.id) for thread in threads}
        frames = tx.threads.frame(list(numbers))
        for thread in sorted(threads, key=lambda one: numbers[one.id]):  # as they were made
            end = first_after(tx, thread.id, self._moment, frames[thread.id].next_seq)
            if end or self._opened(thread):
                nouns.threads.append(list(self._thread(thread, frames[thread.id], end)))
        if nouns.threads:
            nouns.links = list(self._links())
            nouns.facts = list(self._facts())
            nouns.people = self._of(PEOPLE, PERSON)
            nouns.skills = list(self._skills())
            nouns.visibility = list(self._visibility())
        return nouns

    # --- a thread ---------------------------------------------------------------------------------------

    def _opened(self, thread: Thread) -> bool:
        """Tell whether a session had been opened in a thread in which nothing was said yet."""
        return bool(self._of(thread.id, SESSION))

    def _thread(self, thread: Thread, frame: Frame, end: int) -> Iterator[Noun]:
        tx, observations = self._tx, list(self._observations(thread.id, end))
        episodes = self._events(thread, end)
        first = episodes[-1].last_seq + 1 if episodes else 0
        closed_for = self._closed_for(thread, frame, episodes, end)
        head = self._head(thread, observations, closed_for)
        self._created[thread.id] = head.created_at
        yield head
        if end == frame.next_seq and first == frame.first_seq:
            yield replace(frame, version=0)
        else:
            received = observations[-1].received_at if observations else None
            yield Frame(thread.id, frame.policy, frame.embedder, end, first, end, last_received_at=received)
        yield from self._decisions(thread.id)
        yield from observations
        if end:
            yield from tx.observations.erased([(thread.id, 0, end - 1)])
            for seq, packed in sorted(tx.observations.records(thread.id, 0, end - 1).items()):
                yield CheckRecord(thread.id, seq, packed)
        compactions = self._compactions(thread)
        for episode in episodes:
            if episode.decision_id and (cut := self._decided.get(episode.decision_id)):
                yield cut
            yield from self._event(episode, compactions)
        yield from self._sections(thread, observations, end, closed=closed_for != "")

    def _observations(self, thread: UUID, end: int) -> Iterator[Observation]:
        for start in range(0, end, _PAGE):
            for observation in self._tx.observations.read(thread, start, min(start + _PAGE, end) - 1):
                self._ids.add(observation.id)
                expired = observation.expires_at is not None and observation.expires_at <= self._now
                # what is not shown any more was never to be shown longer
                yield replace(observation, expires_at=self._moment) if expired else observation

    def _head(self, thread: Thread, observations: Sequence[Observation], closed_for: str) -> Thread:
        channels = sorted({channel_name(o.channel) for o in observations if o.channel})
        own = [one.started_at for one in self._sessions(thread) if one.own_thread]
        times = [*own, *(o.at for o in observations)] or [thread.created_at]
        selected = thread.selected_at is not None and thread.selected_at <= self._moment
        return replace(
            thread,
            created_at=min(times),
            last_activity_at=max(times),
            status=CLOSED if closed_for else OPEN,
            closed_for=closed_for,
            channels=tuple(channels),
            generation=self._generation(thread),
            selected_at=thread.selected_at if selected else None,
            turn_count=turn_count(observations),
        )

    def _generation(self, thread: Thread) -> int:
        """Return which segmentation of a thread was current."""
        later = [d for d in self._about[thread.id] if d.type == RESEGMENT and d.at > self._moment]
        made = [_number(d.detail["generation"]) for d in later]
        return min(made) - 1 if made else thread.generation

    def _closed_for(self, thread: Thread, frame: Frame, episodes: Sequence[Episode], end: int) -> str:
        """Return why a thread was over by then, "" for one that was not: its last cut, or section, tells."""
        if not episodes or episodes[-1].last_seq + 1 < end:
            return ""
        ended = [d for d in self._compactions(thread) if d.verdict == "thread_end"]
        closing = episodes[-1].reason == Reason.THREAD_END or any(
            _number(d.detail["last_seq"]) == end - 1 for d in ended
        )
        if not closing:
            return ""
        return thread.closed_for if end == frame.next_seq else INACTIVITY

    def _compactions(self, thread: Thread) -> list[Decision]:
        return [
            one
            for section in self._tx.threads.sections(thread.id)
            for one in self._of(section.episode_id, COMPACT)
        ]

    def _of(self, subject: UUID, type: str) -> list[Decision]:
        """Return the decisions of a type about something by then, oldest first."""
        return [d for d in self._about[subject] if d.type == type and d.at <= self._moment]

    def _decisions(self, subject: UUID) -> Iterator[Decision]:
        """Yield what had been decided about something, as it was known."""
        for decision in self._about[subject]:
            if decision.at > self._moment or decision.type in (RESEGMENT, "boundary"):
                continue
            known = labelled(decision, None) if self._told_later(decision) else decision
            yield self._running(known) if known.type == SESSION else known

    def _told_later(self, decision: Decision) -> bool:
        """Tell whether what came of a decision was known only by what was said since."""
        turn = _turn(decision)
        observation = None if turn is None else self._turns.get(turn)
        return observation is not None and observation.received_at > self._moment

    def _running(self, decision: Decision) -> Decision:
        """Return the record of a session as it was before its end."""
        facts = read_record(decision)
        if facts.ended_at is None or facts.ended_by(self._moment):
            return decision
        supplied = replace(facts.supplied, outcome=None)
        return record_of(
            replace(facts, ended_at=None, end_received_at=None, last_seq=None, supplied=supplied)
        )

    def _events(self, thread: Thread, end: int) -> list[Episode]:
        """Return the event episodes a thread was cut into by then, in order."""
        generation = self._generation(thread)
        episodes: list[Episode] = []
        current = generation == thread.generation
        stored = self._tx.episodes.list(threads=[thread.id], generation=None if current else generation)
        for episode in stored:
            follows = episode.first_seq == (episodes[-1].last_seq + 1 if episodes else 0)
            if episode.created_at > self._moment or episode.last_seq >= end or not follows:
                break
            episodes.append(episode)
        return episodes

    def _event(self, episode: Episode, compactions: Sequence[Decision]) -> Iterator[Noun]:
        archived = episode.state is EpisodeState.ARCHIVED and any(
            _number(d.detail["first_seq"]) <= episode.last_seq <= _number(d.detail["last_seq"])
            # what a compacted part is segmented into again is archived from the first
            and (episode.created_at <= d.at or episode.generation_from > 0)
            for d in compactions
        )
        state = EpisodeState.ARCHIVED if archived else EpisodeState.CLOSED
        consolidated = episode.consolidated_at
        if consolidated is not None and consolidated > self._moment:
            consolidated = None
        if consolidated is not None:
            self._consolidated.add(episode.id)
        if episode.generation_to is not None:  # the index has the words of what is in its place today
            self._nouns.retold.add(episode.id)
        episode = replace(episode, state=state, consolidated_at=consolidated, generation_to=None)
        yield from self._worded(episode)

    def _worded(self, episode: Episode) -> Iterator[Noun]:
        """Yield an episode with its strength, all versions of its words, and what was decided of it."""
        self._ids.add(episode.id)
        reviews = [d for d in self._about[episode.id] if d.type == REVIEW]
        encodings = self._encodings(episode)
        version = encodings[-1].version if encodings else 0
        if version != episode.encoding_version:
            self._nouns.retold.add(episode.id)
        words = encodings[-1] if encodings else Encoding(episode.id, 0, "", "", {}, "", self._moment)
        yield replace(
            strength_at(episode, reviews, self._moment),
            title=words.title,
            summary=words.summary,
            encoding_version=words.version,
            encoded_by=words.by,
            metadata=words.metadata,
        )
        yield from encodings
        yield from self._decisions(episode.id)

    def _encodings(self, episode: Episode) -> list[Encoding]:
        if not episode.encoding_version:
            return []
        return [e for e in self._tx.episodes.encodings(episode.id) if e.created_at <= self._moment]

    # --- its sections -----------------------------------------------------------------------------------

    def _sections(
        self, thread: Thread, observations: Sequence[Observation], end: int, *, closed: bool
    ) -> Iterator[Noun]:
        begun = [one for one in self._tx.threads.sections(thread.id) if self._begun(thread, one, end)]
        primaries = self._tx.episodes.get([one.episode_id for one in begun])
        for section, following in zip(begun, [*begun[1:], None], strict=True):
            episode = primaries.get(section.episode_id)
            if episode is None:
                continue
            last = end - 1 if following is None else following.first_seq - 1
            over = following is not None or closed or self._session_over(thread, section, last)
            inside = [o for o in observations if section.first_seq <= o.seq <= last]
            ended = over if following is None else section.ended
            yield from self._section(replace(section, ended=ended), episode, inside, last, over=over)

    def _sessions(self, thread: Thread) -> list[SessionFacts]:
        """Return the sessions that had been started in a thread."""
        return [read_record(one) for one in self._of(thread.id, SESSION)]

    def _begun(self, thread: Thread, section: Section, end: int) -> bool:
        if section.first_seq < end:
            return True
        opened = self._sessions(thread)
        return section.first_seq == end and any(one.episode_id == section.episode_id for one in opened)

    def _session_over(self, thread: Thread, section: Section, last: int) -> bool:
        return section.first_seq <= last and any(
            one.ended_by(self._moment) and one.last_seq == last for one in self._sessions(thread)
        )

    def _section(
        self, section: Section, episode: Episode, inside: Sequence[Observation], last: int, *, over: bool
    ) -> Iterator[Noun]:
        compactions = self._of(episode.id, COMPACT)
        newest = compactions[-1] if compactions else None
        through = None if newest is None else _number(newest.detail["last_seq"])
        complete = through is not None and through >= last
        state = EpisodeState.CLOSED if over else EpisodeState.OPEN
        chained = [d for d in self._about[episode.id] if d.type == CHAIN]
        parent = parent_at(episode, chained, self._refusals[episode.id], self._moment)
        trigger = newest.verdict if newest is not None else section.trigger if over else ""
        reach = last if over or complete else section.first_seq if through is None else through
        times = [o.at for o in inside if o.seq <= reach] if over or through is not None else []
        yield replace(
            section,
            grown=not (complete or over),
            trigger=trigger,
            compacted_through=through,
            compacted_at=None if newest is None else newest.at,
        )
        yield from self._worded(
            replace(
                episode,
                state=EpisodeState.COMPACTED if complete else state,
                last_seq=max(reach, section.first_seq),
                reason=trigger,
                end_at=max([episode.start_at, *times]),
                decision_id=None if newest is None else newest.id,
                parent_episode_id=parent,
            )
        )

    # --- what lies beside threads -----------------------------------------------------------------------

    def _links(self) -> Iterator[Noun]:
        stored = reversed(self._tx.threads.links(limit=EVERY, taken_back=True))
        links = [
            link for one in stored if (link := link_at(one, self._about[one.later], self._moment)) is not None
        ]
        yield from links
        yield from self._joined(links)

    def _joined(self, links: Sequence[Link]) -> Iterator[Noun]:
        """Yield the cross-thread episodes that were there: their words say which threads they held."""
        tx = self._tx
        ends = sorted({end for one in links for end in (one.earlier, one.later)}, key=self._birth)
        groups = groups_of(dict.fromkeys(ends), live_ties(one for one in links if one.unlinked_at is None))
        names = {*tx.threads.joined(ends).values(), *_names(links, ends)}
        newest: dict[tuple[UUID, ...], tuple[datetime, Episode]] = {}
        for episode in tx.episodes.get(sorted(names)).values():
            encodings = self._encodings(episode)
            if episode.kind is not EpisodeKind.CROSS_THREAD or not encodings:
                continue
            words = encodings[-1]
            held = tuple(UUID(str(one)) for one in _texts(words.metadata.get(THREADS)))
            known = newest.get(held)
            if known is None or known[0] < words.created_at:
                newest[held] = words.created_at, episode
        for group in groups:
            if len(group) > 1 and (last := newest.get(tuple(group[:NAMED]))) is not None:
                yield from self._worded(last[1])
                yield Joined(last[1].id, tuple(group))

    def _birth(self, thread: UUID) -> tuple[datetime, bytes]:
        return self._created.get(thread, self._moment), thread.bytes

    def _facts(self) -> Iterator[Noun]:
        tx = self._tx
        moves = tx.knowledge.moves()
        stored: Sequence[StoredFact] = tx.knowledge.facts()
        for fact in facts_at(stored, moves, self._consolidated, self._moment):
            yield FactLine(fact.fact, fact.created_at)
        for old, holder in moves.items():
            yield Moved(old, holder)
        for stone in tx.knowledge.tombstones():
            if isinstance(stone, FactTombstone) and stone.deleted_at <= self._moment:
                yield stone

    def _skills(self) -> Iterator[Noun]:
        waiting: list[Noun] = []
        for noun in skill_nouns(self._tx):
            if isinstance(noun, Decision):
                waiting += [noun] if noun.at <= self._moment else []
            elif isinstance(noun, SkillLine):
                if noun.created_at <= self._moment:
                    yield from (*waiting, noun)
                waiting = []

    def _visibility(self) -> Iterator[Noun]:
        """Yield what was pinned or put away by then, and all that is suppressed today."""
        for noun in visibility_nouns(self._tx):
            if isinstance(noun, MarkLine):
                if noun.kind != MarkKind.SUPPRESSED and noun.at > self._moment:
                    continue
                if noun.first_id is not None and noun.first_id not in self._ids:
                    continue  # it begins after what was there
                yield noun if noun.last_id in self._ids else replace(noun, last_id=None)
            elif not isinstance(noun, Refusal) or noun.at <= self._moment:
                yield noun


def _names(links: Sequence[Link], ends: Sequence[UUID]) -> Iterator[UUID]:
    """Yield what cross-thread episodes of linked threads can be called: by any two of them, in order."""
    groups = {one: {one} for one in ends}
    for link in links:
        group = groups[link.earlier] | groups[link.later]
        groups |= dict.fromkeys(group, group)
    for group in {id(one): one for one in groups.values()}.values():
        members = [one for one in ends if one in group]
        yield from starmap(cross_thread_id, islice(combinations(members, 2), MOST_NAMES))


def _turn(decision: Decision) -> UUID | None:
    """Return the turn by which what came of a decision is known, where one told it."""
    known = decision.detail.get(OUTCOME)
    turn = known.get("turn") if decision.outcome is not None and isinstance(known, Mapping) else None
    return UUID(turn) if isinstance(turn, str) else None


def _texts(value: object) -> Sequence[object]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
