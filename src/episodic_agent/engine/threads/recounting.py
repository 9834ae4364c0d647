"""What a thread has to tell: its title, its last questions with their answers, a summary, names.

Reads only the end of a thread, so that a long one costs no more than a short one.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Final, TypeAlias
from uuid import UUID

import numpy as np

from episodic_agent.core.calibration import Calibration
from episodic_agent.core.echo import all_own_words
from episodic_agent.core.episodes.extractive import EpisodeText, encode_extractive
from episodic_agent.core.identity import episode_id
from episodic_agent.core.language.mentions.reading import mentions
from episodic_agent.core.strength import retrievability
from episodic_agent.core.threads.turns import Pair, Turn, pairs, turns
from episodic_agent.engine.threads.session_records import declared_title
from episodic_agent.engine.visibility.hidden import Visibility
from episodic_agent.protocols import OBSERVATIONS, Transaction, ref_of
from episodic_agent.schemas import Episode, Json, Observation, Thread, Vector
from episodic_agent.schemas.contexts import AnsweredQuestion, ThreadBackground

SummaryOf: TypeAlias = Callable[[Transaction, Thread], str]
PAIRS: Final = 5
_TURNS: Final = 8  # read for title, summary and names
_REACHES: Final = (32, 160)  # observations read from the end; more where these hold too few questions
_SUMMARIES: Final = 3  # of the last episodes
_NAMED: Final = frozenset(("place", "person", "organisation", "product"))  # numbers alone tell nothing
_NAMES: Final = 16
_LATEST: Final = 24  # observations, where those turns are longer
_READ: Final = 2_000  # characters of one observation
_UNKNOWN: Final = 0.5
_DAY: Final = 86_400.0
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_TICK: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Recounted:
    """A thread's background, and the observations it rests on by seq, as their caller named them."""

    thread: Thread
    background: ThreadBackground
    names: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class Asking:
    """What the message brings: its vector (None without an embedder), its event time, and how to read both.

    `summary_of` gives a thread's summary, "" where it has none. What a `visibility` hides is not told.
    `until`: the event time after which nothing is told, where the caller named one.
    """

    vector: Vector | None
    at: datetime
    embedder: str
    calibration: Calibration | None = None
    language: str | None = None
    summary_of: SummaryOf | None = None
    visibility: Visibility | None = None
    until: datetime | None = None


def said_by(tx: Transaction, thread: Thread, moment: datetime) -> int:
    """Return the seq behind the last message of a thread that was said by an event time; 0 where none was.

    What stands before it may have been said later, where messages came out of order.
    """
    end = tx.threads.frame(thread.id).next_seq
    if thread.last_activity_at <= moment or not end:
        return end
    number = tx.threads.number(thread.id)
    times = tx.index.times(np.arange(ref_of(number, 0), ref_of(number, end), dtype=np.int64))
    missing = times == np.iinfo(np.int64).min  # erased
    places = np.flatnonzero(~missing & (times <= (moment - _EPOCH) // _TICK))
    return int(places[-1]) + 1 if len(places) else 0


def recount(tx: Transaction, thread: Thread, asking: Asking, *, before: int | None = None) -> Recounted:
    """Return what a thread has to tell; `before` leaves out what stands from this seq on."""
    reported_thread = _RecountedThread(tx, thread, asking, before)
    statements = pairs(reported_thread.turns)[-PAIRS:]
    observations = reported_thread.since(
        min([reported_thread.recent[0].seq, *(p.first_seq for p in statements)])
        if reported_thread.recent
        else 0
    )
    owners = reported_thread.owners(observations)
    words = reported_thread.words(
        owners, with_summary=not statements or reported_thread.turn_count > len(statements)
    )
    newest = reported_thread.newest(owners)
    background = ThreadBackground(
        thread_id=thread.id,
        title=words.title,
        first_at=thread.created_at,
        last_activity_at=reported_thread.last_at,
        first_seq=observations[0].seq if observations else 0,
        last_seq=observations[-1].seq if observations else 0,
        episode_id=reported_thread.open_id if newest is None else newest.id,
        pairs=reported_thread.asked(statements, owners),
        summary=words.summary,
        entities=reported_thread.entities(),
        speakers=tuple(dict.fromkeys(o.actor for o in observations)),
        turns=reported_thread.turn_count,
        importance=importance(newest, asking.at),
    )
    return Recounted(thread, background, _names(observations))


def mention(tx: Transaction, thread: Thread, asking: Asking) -> Recounted:
    """Return of a thread what a line with its title needs."""
    reported_thread = _RecountedThread(tx, thread, asking, None)
    owners = reported_thread.owners(reported_thread.recent)
    words = reported_thread.words(owners, with_summary=False)
    newest = reported_thread.newest(owners)
    background = ThreadBackground(
        thread_id=thread.id,
        title=words.title,
        first_at=thread.created_at,
        last_activity_at=thread.last_activity_at,
        first_seq=reported_thread.recent[0].seq if reported_thread.recent else 0,
        last_seq=reported_thread.recent[-1].seq if reported_thread.recent else 0,
        episode_id=reported_thread.open_id if newest is None else newest.id,
        importance=importance(newest, asking.at),
    )
    return Recounted(thread, background, _names(reported_thread.recent))


def importance(episode: Episode | None, at: datetime) -> float:
    """Return how much an episode matters, in [0, 1]: the mean of how well it is kept and its surprise.

    An open frame is as fresh as can be, and nobody knows yet how surprising.
    """
    if episode is None:
        return (1.0 + _UNKNOWN) / 2
    days = max(0.0, (at - episode.last_reviewed_at).total_seconds() / _DAY)
    return (float(retrievability(episode.stability, days)) + episode.surprise) / 2


class _RecountedThread:
    """The end of one thread, as one transaction sees it."""

    def __init__(self, tx: Transaction, thread: Thread, asking: Asking, before: int | None) -> None:
        self._tx = tx
        self._thread = thread
        self._asking = asking
        self._number = tx.threads.number(thread.id)
        self.frame = tx.threads.frame(thread.id)
        self._end = self.frame.next_seq if before is None else min(before, self.frame.next_seq)
        until = asking.until
        self._cut = until is not None and thread.last_activity_at > until
        if until is not None and self._cut:
            self._end = min(self._end, said_by(tx, thread, until))
        self.turns = self._last_turns()
        self.turn_count = len(self.turns) if self._cut else thread.turn_count - (before is not None)
        recent = chain.from_iterable(turn.observations for turn in self.turns[-_TURNS:])
        self.recent = list(recent)[-_LATEST:]

        # a message that is left out was no activity yet
        moved = (before is not None or self._cut) and self.recent
        self.last_at = max(o.at for o in self.recent) if moved else thread.last_activity_at
        self.open_id = episode_id(thread.id, self.frame.first_seq, thread.generation)

    def newest(self, owners: Sequence[Episode]) -> Episode | None:
        """Return the closed episode that the last of it lies in, None where that is open."""
        closed = bool(self.recent) and self.recent[-1].seq < self.frame.first_seq
        if self._cut and owners and owners[-1].last_seq < self.recent[-1].seq:
            return None  # its episode went on, and what it came to is not told yet
        return owners[-1] if owners and closed else None

    def _last_turns(self) -> list[Turn]:
        matching_turns: list[Turn] = []
        for reach in _REACHES:
            first = max(0, self._end - reach)
            observations = (
                self._tx.observations.read(self._thread.id, first, self._end - 1) if self._end else ()
            )
            if self._asking.until is not None:
                observations = [one for one in observations if one.at <= self._asking.until]
            if self._asking.visibility is not None:
                observations = self._asking.visibility.visible(self._number, observations)
            observations = all_own_words(observations)
            matching_turns = list(turns(observations))
            if first == 0:
                break
            matching_turns = matching_turns[1:] or matching_turns  # the first is rarely whole
            if len(pairs(matching_turns)) >= PAIRS:
                break
        return matching_turns

    def since(self, seq: int) -> list[Observation]:
        """Return what was read from a seq on."""
        return [o for turn in self.turns for o in turn.observations if o.seq >= seq]

    def owners(self, observations: Sequence[Observation]) -> list[Episode]:
        """Return the closed episodes of these observations, in order."""
        if not observations:
            return []
        span = (ref_of(self._number, observations[0].seq), ref_of(self._number, observations[-1].seq))
        named = [UUID(hex=cover.name) for cover in self._tx.index.covers([span])]
        until = self._asking.until
        episodes = list(self._tx.episodes.get(named).values())
        episodes = [one for one in episodes if until is None or one.end_at <= until]
        visibility = self._asking.visibility
        if visibility is not None and visibility.drawn:
            hidden = visibility.why_all(episodes)
            episodes = [visibility.worded(one) for one in episodes if one.id not in hidden]
        return sorted(episodes, key=lambda episode: episode.first_seq)

    def words(self, owners: Sequence[Episode], *, with_summary: bool) -> EpisodeText:
        """Return title and summary: those given or encoded, else the thread's last words in short."""
        summary = self._summary(owners) if with_summary else ""
        newest = self.newest(owners)
        title = self._thread.title or declared_title(self._tx, self._thread, self._asking.visibility)
        title = title or ("" if newest is None else _topic(newest.title, newest.metadata))
        if not self.recent or (title and (summary or not with_summary)):
            return EpisodeText(title, summary, {})
        # what is said since the last closed episode has no words of its own yet
        fresh = [o for o in self.recent if o.seq >= self.frame.first_seq] or self.recent
        brief = [replace(o, text=o.text[:_READ]) for o in fresh]
        made = encode_extractive(brief, [None] * len(brief), language=self._asking.language)
        return EpisodeText(
            title or _topic(made.title, made.metadata), summary or made.summary if with_summary else "", {}
        )

    def _summary(self, owners: Sequence[Episode]) -> str:
        value, visibility = self._asking.summary_of, self._asking.visibility
        if self._cut or (visibility is not None and visibility.touches(self._thread)):
            value = None  # it tells of the whole thread
        if value is not None and (summary := value(self._tx, self._thread)):
            return summary
        return " ".join(e.summary for e in owners[-_SUMMARIES:] if e.summary)

    def asked(self, statements: Sequence[Pair], owners: Sequence[Episode]) -> tuple[AnsweredQuestion, ...]:
        """Return pairs with where they are from and how near they are to the message."""
        times = {o.seq: o.at for turn in self.turns for o in turn.observations}
        near = self._similarities([pair.first_seq for pair in statements])
        result = []
        for pair in statements:
            owner = next((e for e in owners if e.first_seq <= pair.first_seq <= e.last_seq), None)
            result.append(
                AnsweredQuestion(
                    pair.question[:_READ],
                    pair.answer[:_READ],
                    times[pair.first_seq],
                    pair.first_seq,
                    pair.last_seq,
                    episode_id=self.open_id if owner is None else owner.id,
                    similarity=near.get(pair.first_seq),
                    importance=importance(owner, self._asking.at),
                )
            )
        return tuple(result)

    def _similarities(self, seqs: Sequence[int]) -> dict[int, float]:
        """Return the cosine of the message and each question that has a vector, on the default scale."""
        vector = self._asking.vector
        if vector is None or not seqs:
            return {}
        refs = {ref_of(self._number, seq): seq for seq in seqs}
        vectors = self._tx.index.vectors(OBSERVATIONS, self._asking.embedder, list(refs))
        # a server may have changed its model under the same name
        stored = {ref: row for ref, row in vectors.items() if row.shape == vector.shape}
        if not stored:
            return {}
        cosines = np.array([float(vector @ row) for row in stored.values()])
        if self._asking.calibration is not None:
            cosines = self._asking.calibration.as_default(cosines)
        within = np.clip(cosines, 0.0, 1.0).round(6).tolist()
        return {refs[ref]: value for ref, value in zip(stored, within, strict=True)}

    def entities(self) -> tuple[str, ...]:
        """Return who and what the last turns name, most often named first."""
        counts: Counter[tuple[str, str]] = Counter()
        written: dict[tuple[str, str], str] = {}
        for observation in self.recent:
            language = self._asking.language
            for mention in mentions(observation.text[:_READ], at=observation.at, language=language):
                if mention.kind in _NAMED:
                    counts[mention.kind, mention.value] += 1
                    written.setdefault((mention.kind, mention.value), mention.text)
        return tuple(dict.fromkeys(written[key] for key, _ in counts.most_common(_NAMES)))


def _names(observations: Sequence[Observation]) -> Mapping[int, str]:
    return {o.seq: o.external_id or str(o.id) for o in observations}


def _topic(title: str, metadata: Mapping[str, Json]) -> str:
    """Return what to say was discussed: a noun phrase where the words hold one (seed 002), or the title."""
    keys = metadata.get("keywords")
    return str(keys[0]) if isinstance(keys, list) and keys and " " in str(keys[0]) else title
