"""What facts are read from: episodes with what was said in them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final, TypeVar
from uuid import UUID

from episodic_agent.core.echo import silenced
from episodic_agent.core.episodes.languages import ASSISTANTS, SOURCES
from episodic_agent.core.episodes.letters import without_frames
from episodic_agent.core.facts.changing import PLACES
from episodic_agent.core.facts.quoting import in_doubt
from episodic_agent.core.facts.stating import LAST_HEARD, chances, share_of
from episodic_agent.core.language import fold
from episodic_agent.core.threads.turns import role_of
from episodic_agent.engine.visibility.hidden import newest_versions, span_of
from episodic_agent.protocols import MarkKind, Transaction
from episodic_agent.schemas import Episode, Kind, Observation, TimeSource, Vector
from episodic_agent.schemas.facts import Statement, TalkLine

MOST_WAITING: Final = 64  # episodes of which a run takes some
MOST_EARLIER: Final = 4  # messages of its speaker that one may point to
SITTING: Final = timedelta(minutes=30)  # of silence, after which a sitting is over
LOOKED_BACK: Final = 8  # places before an episode at which messages before it are looked for
MOST_HEARD: Final = 2 * LAST_HEARD  # messages read to hear what the talk is like: half of them are replies
_NO_PERSON: Final = ASSISTANTS | SOURCES
_Dated = TypeVar("_Dated", Statement, Observation)
FIRST_MOMENT: Final = datetime.min.replace(tzinfo=UTC)
MOST_READ: Final = 20_000  # characters one run reads; a longer episode is read alone


@dataclass(frozen=True, slots=True)
class Transcript:
    """An episode with what was said in it, tools apart, and what came just before that.

    `before` is the message right before it, `earlier` are the last few, whatever tools did meanwhile.
    """

    episode: Episode
    observations: Sequence[Observation]
    before: Observation | None = None
    earlier: Sequence[Observation] = ()

    @property
    def people(self) -> Sequence[Observation]:
        """Return what people said: the words of assistants and devices prove nothing about anybody."""
        return [o for o in self.observations if speaks_for_people(o)]


def speaks_for_people(observation: Observation) -> bool:
    """Say whether an observation may tell of people: somebody said something, no tool or device did."""
    if observation.kind is Kind.TOOL or not observation.text.strip():
        return False
    return fold(role_of(observation)) not in _NO_PERSON


def over(tx: Transaction, before: datetime) -> list[Episode]:
    """Return episodes that wait to be consolidated and ended before a moment, in the order of event time."""
    waiting = tx.episodes.list(unconsolidated=True, limit=MOST_WAITING)
    return sorted((e for e in waiting if e.end_at <= before), key=lambda e: (e.start_at, e.end_at, e.id))


def read_page(
    tx: Transaction, most: int, ended_before: datetime | None = None
) -> tuple[list[Transcript], bool]:
    """Read the episodes one run takes, oldest first, at least one where any waits; and whether more do.

    Those that `ended_before` a moment come alone, in the order of event time, so that a sitting is read
    whole; where none did, all that wait. Of those that are suppressed nothing is heard.
    """
    waiting: Sequence[Episode] = [] if ended_before is None else over(tx, ended_before)
    waiting = waiting or tx.episodes.list(unconsolidated=True, limit=most + 1)
    page: list[Transcript] = []
    left = MOST_READ
    spans = [span_of(tx, e.thread_id, e.first_seq, e.last_seq) for e in waiting[:most]]
    suppressed = tx.upkeep.touched([MarkKind.SUPPRESSED], spans) if spans else {}
    for place, episode in enumerate(waiting[:most]):
        before, spoken = _read(tx, episode.thread_id, episode.first_seq, episode.last_seq)
        earlier = earlier_than(tx, episode)
        transcript = Transcript(episode, () if place in suppressed else spoken, before, earlier)
        left -= sum(len(o.text) for o in transcript.observations)
        if page and left < 0:
            break
        page.append(transcript)
    return page, len(page) < len(waiting)


def earlier_than(tx: Transaction, episode: Episode) -> Sequence[Observation]:
    """Return the last few messages of its thread before an episode; of what is suppressed none."""
    return _spoken_before(tx, episode.thread_id, episode.first_seq)


def _spoken_before(tx: Transaction, thread: UUID, seq: int) -> Sequence[Observation]:
    first, last = max(0, seq - LOOKED_BACK), seq - 1
    if last < first or tx.upkeep.touched([MarkKind.SUPPRESSED], [span_of(tx, thread, first, last)]):
        return ()
    spoken = without_frames(silenced(newest_versions(tx, tx.observations.read(thread, first, last))))
    return [one for one in spoken if one.kind is not Kind.TOOL]


def read_messages(tx: Transaction, thread: UUID, first: int, last: int) -> Sequence[Statement]:
    """Read what people said at these places of a thread; of what is suppressed nothing is heard."""
    if tx.upkeep.touched([MarkKind.SUPPRESSED], [span_of(tx, thread, first, last)]):
        return ()
    before, spoken = _read(tx, thread, first, last)
    return statements_of(spoken, before, _spoken_before(tx, thread, first))


def _read(
    tx: Transaction, thread: UUID, first: int, last: int
) -> tuple[Observation | None, Sequence[Observation]]:
    """Return what came just before these places, where that is no tool's, and what was said there."""
    stored = tx.observations.read(thread, max(0, first - 1), last)
    spoken = without_frames(silenced(newest_versions(tx, stored)))
    here = [one for one in spoken if one.seq >= first and one.kind is not Kind.TOOL]
    before = next((one for one in spoken if one.seq < first and one.kind is not Kind.TOOL), None)
    return before, here


def with_shares(
    tx: Transaction,
    statements: Sequence[Statement],
    vectors: Mapping[str, Vector] | None,
    read: dict[int, Observation] | None = None,
) -> list[Statement]:
    """Return statements with the share of what lasts in the talk before them, where it may decide.

    `vectors` are those known by text, None where words alone decide. The talk is read in the order of event
    time, so that a message read again later is judged by the same. What was read of it in this transaction
    stands in `read`: the talk before one episode is mostly that before the next.
    """
    read = {} if read is None else read
    doubted = [one.observation_id for one in statements if in_doubt(one, vectors)]
    result = {}
    if doubted:
        asked = tx.observations.get(doubted)
        until = max(one.at for one in asked.values())
        most = MOST_HEARD + len(statements)
        refs = tx.index.between(FIRST_MOMENT, until, limit=most, newest=True).tolist()
        read.update(tx.observations.get([ref for ref in refs if ref not in read]))
        before = (read[ref] for ref in sorted(refs) if ref in read)
        talk = {one.id: one for one in (*asked.values(), *before)}
        order = sorted(filter(is_told, talk.values()), key=lambda o: (o.at, o.thread_id.int, o.seq))
        for place, observation in enumerate(order):
            if observation.id in asked:
                earlier = order[max(0, place - LAST_HEARD) : place]
                result[observation.id] = share_of([chance for o in earlier for chance in chances(o.text)])
    return [replace(one, share=result.get(one.observation_id)) for one in statements]


def is_told(observation: Observation) -> bool:
    """Say whether an observation is a message in which somebody says something."""
    return observation.kind is Kind.MESSAGE and speaks_for_people(observation)


def statements_of(
    observations: Sequence[Observation],
    before: Observation | None = None,
    earlier: Sequence[Observation] = (),
    *,
    episode_id: UUID | None = None,
    language: str | None = None,
) -> list[Statement]:
    """Return what people said in messages as facts are read from it: an assumed time dates nothing.

    `earlier` are the last messages of their thread before them: what is said may point to what its speaker
    said there, in the same sitting.
    """
    statements: list[Statement] = []
    sitting: list[Statement] = []
    if earlier:
        sitting = [replace(one, earlier=(), talk=()) for one in statements_of(earlier)]
    talk = [one for one in (*earlier, *observations) if one.kind is Kind.MESSAGE and one.text.strip()]
    places = {one.id: place for place, one in enumerate(talk)}
    for observation in observations:
        if is_told(observation):
            mine = [one for one in sitting if one.actor == observation.actor]
            statements.append(
                Statement(
                    observation.text,
                    observation.at,
                    observation.actor,
                    observation.id,
                    episode_id=episode_id,
                    language=language,
                    utc_offset=observation.utc_offset,
                    dated=observation.at_source is not TimeSource.ASSUMED,
                    learned_at=observation.received_at,
                    before="" if before is None else before.text,
                    earlier=_one_sitting(mine, observation.at),
                    talk=tuple(
                        TalkLine(one.id, one.text, one.actor == observation.actor)
                        for one in _of_sitting(talk[: places[observation.id]], observation.at, PLACES)
                    ),
                )
            )
            sitting.append(replace(statements[-1], earlier=(), talk=()))
        before = observation
    return statements


def _one_sitting(earlier: Sequence[Statement], at: datetime) -> tuple[Statement, ...]:
    """Return the last of what somebody said before a moment with no long silence between."""
    return _of_sitting(earlier, at, MOST_EARLIER)


def _of_sitting(earlier: Sequence[_Dated], at: datetime, most: int) -> tuple[_Dated, ...]:
    here: list[_Dated] = []
    for before in reversed(earlier[-most:]):
        if at - before.at > SITTING:
            break
        here.append(before)
        at = before.at
    return tuple(reversed(here))
