"""What a thread has to tell: its title, its last questions with their answers, a summary, names.

Reads only the end of a thread, so that a long one costs no more than a short one.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from typing import Final, TypeAlias
from uuid import UUID

import numpy as np

from episodic_agent.core.calibration import Calibration
from episodic_agent.core.context import Asked, Background
from episodic_agent.core.echo import all_heard
from episodic_agent.core.entities import mentions
from episodic_agent.core.forgetting import retrievability
from episodic_agent.core.identity import episode_id
from episodic_agent.core.interfaces import OBSERVATIONS, Transaction, ref_of
from episodic_agent.core.summaries import Words, encode_extractive
from episodic_agent.core.threads.turns import Pair, Turn, pairs, turns
from episodic_agent.engine.curtain import Curtain
from episodic_agent.schemas import Episode, Observation, Thread, Vector

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


@dataclass(frozen=True, slots=True)
class Recounted:
    """A thread's background, and the observations it rests on by seq, as their caller named them."""

    thread: Thread
    background: Background
    names: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class Asking:
    """What the message brings: its vector (None without an embedder), its event time, and how to read both.

    `summary_of` gives a thread's summary, "" where it has none. What a `curtain` hides is not told.
    """

    vector: Vector | None
    at: datetime
    embedder: str
    calibration: Calibration | None = None
    language: str | None = None
    summary_of: SummaryOf | None = None
    curtain: Curtain | None = None


def recount(tx: Transaction, thread: Thread, asking: Asking, *, before: int | None = None) -> Recounted:
    """Return what a thread has to tell; `before` leaves out what stands from this seq on."""
    told = _Thread(tx, thread, asking, before)
    said = pairs(told.turns)[-PAIRS:]
    observations = told.since(min([told.recent[0].seq, *(p.first_seq for p in said)]) if told.recent else 0)
    owners = told.owners(observations)
    kept = told.words(owners, with_summary=not said or told.turn_count > len(said))
    newest = told.newest(owners)
    background = Background(
        thread_id=thread.id,
        title=kept.title,
        first_at=thread.created_at,
        last_activity_at=told.last_at,
        first_seq=observations[0].seq if observations else 0,
        last_seq=observations[-1].seq if observations else 0,
        episode_id=told.open_id if newest is None else newest.id,
        pairs=told.asked(said, owners),
        summary=kept.summary,
        entities=told.entities(),
        speakers=tuple(dict.fromkeys(o.actor for o in observations)),
        turns=told.turn_count,
        importance=importance(newest, asking.at),
    )
    return Recounted(thread, background, _names(observations))


def mention(tx: Transaction, thread: Thread, asking: Asking) -> Recounted:
    """Return of a thread what a line with its title needs."""
    told = _Thread(tx, thread, asking, None)
    owners = told.owners(told.recent)
    kept = told.words(owners, with_summary=False)
    newest = told.newest(owners)
    background = Background(
        thread_id=thread.id,
        title=kept.title,
        first_at=thread.created_at,
        last_activity_at=thread.last_activity_at,
        first_seq=told.recent[0].seq if told.recent else 0,
        last_seq=told.recent[-1].seq if told.recent else 0,
        episode_id=told.open_id if newest is None else newest.id,
        importance=importance(newest, asking.at),
    )
    return Recounted(thread, background, _names(told.recent))


def importance(episode: Episode | None, at: datetime) -> float:
    """Return how much an episode matters, in [0, 1]: the mean of how well it is kept and its surprise.

    An open frame is as fresh as can be, and nobody knows yet how surprising.
    """
    if episode is None:
        return (1.0 + _UNKNOWN) / 2
    days = max(0.0, (at - episode.last_reviewed_at).total_seconds() / _DAY)
    return (float(retrievability(episode.stability, days)) + episode.surprise) / 2


class _Thread:
    """The end of one thread, as one transaction sees it."""

    def __init__(self, tx: Transaction, thread: Thread, asking: Asking, before: int | None) -> None:
        self._tx = tx
        self._thread = thread
        self._asking = asking
        self._number = tx.threads.number(thread.id)
        self.frame = tx.threads.frame(thread.id)
        self._end = self.frame.next_seq if before is None else min(before, self.frame.next_seq)
        self.turn_count = thread.turn_count - (before is not None)
        self.turns = self._last_turns()
        recent = chain.from_iterable(turn.observations for turn in self.turns[-_TURNS:])
        self.recent = list(recent)[-_LATEST:]

        # a message that is left out was no activity yet
        moved = before is not None and self.recent
        self.last_at = max(o.at for o in self.recent) if moved else thread.last_activity_at
        self.open_id = episode_id(thread.id, self.frame.first_seq, thread.generation)

    def newest(self, owners: Sequence[Episode]) -> Episode | None:
        """Return the closed episode that the last of it lies in, None where that is open."""
        closed = bool(self.recent) and self.recent[-1].seq < self.frame.first_seq
        return owners[-1] if owners and closed else None

    def _last_turns(self) -> list[Turn]:
        found: list[Turn] = []
        for reach in _REACHES:
            first = max(0, self._end - reach)
            said = self._tx.threads.observations(self._thread.id, first, self._end - 1)
            if self._asking.curtain is not None:
                said = self._asking.curtain.heard(self._number, said)
            said = all_heard(said)
            found = list(turns(said))
            if first == 0:
                break
            found = found[1:] or found  # the first is rarely whole
            if len(pairs(found)) >= PAIRS:
                break
        return found

    def since(self, seq: int) -> list[Observation]:
        """Return what was read from a seq on."""
        return [o for turn in self.turns for o in turn.observations if o.seq >= seq]

    def owners(self, observations: Sequence[Observation]) -> list[Episode]:
        """Return the closed episodes of these observations, in order."""
        if not observations:
            return []
        span = (ref_of(self._number, observations[0].seq), ref_of(self._number, observations[-1].seq))
        named = [UUID(hex=cover.name) for cover in self._tx.episodes.covers([span])]
        found = list(self._tx.episodes.by_ids(named).values())
        curtain = self._asking.curtain
        if curtain is not None and curtain.drawn:
            hidden = curtain.why_all(found)
            found = [curtain.worded(one) for one in found if one.id not in hidden]
        return sorted(found, key=lambda episode: episode.first_seq)

    def words(self, owners: Sequence[Episode], *, with_summary: bool) -> Words:
        """Return title and summary: those given or encoded, else the thread's last words in short."""
        summary = self._summary(owners) if with_summary else ""
        newest = self.newest(owners)
        title = self._thread.title or ("" if newest is None else newest.title)
        if not self.recent or (title and (summary or not with_summary)):
            return Words(title, summary, {})
        # what is said since the last closed episode has no words of its own yet
        fresh = [o for o in self.recent if o.seq >= self.frame.first_seq] or self.recent
        brief = [replace(o, text=o.text[:_READ]) for o in fresh]
        made = encode_extractive(brief, [None] * len(brief), language=self._asking.language)
        return Words(title or made.title, summary or made.summary if with_summary else "", {})

    def _summary(self, owners: Sequence[Episode]) -> str:
        given, curtain = self._asking.summary_of, self._asking.curtain
        if curtain is not None and curtain.touches(self._thread):
            given = None  # it tells of the whole thread
        if given is not None and (summary := given(self._tx, self._thread)):
            return summary
        return " ".join(e.summary for e in owners[-_SUMMARIES:] if e.summary)

    def asked(self, said: Sequence[Pair], owners: Sequence[Episode]) -> tuple[Asked, ...]:
        """Return pairs with where they are from and how near they are to the message."""
        times = {o.seq: o.at for turn in self.turns for o in turn.observations}
        near = self._similarities([pair.first_seq for pair in said])
        found = []
        for pair in said:
            owner = next((e for e in owners if e.first_seq <= pair.first_seq <= e.last_seq), None)
            found.append(
                Asked(
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
        return tuple(found)

    def _similarities(self, seqs: Sequence[int]) -> dict[int, float]:
        """Return the cosine of the message and each question that has a vector, on the default scale."""
        vector = self._asking.vector
        if vector is None or not seqs:
            return {}
        refs = {ref_of(self._number, seq): seq for seq in seqs}
        found = self._tx.index.vectors(OBSERVATIONS, self._asking.embedder, list(refs))
        # a server may have changed its model under the same name
        stored = {ref: row for ref, row in found.items() if row.shape == vector.shape}
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
            for one in mentions(observation.text[:_READ], at=observation.at, language=language):
                if one.kind in _NAMED:
                    counts[one.kind, one.value] += 1
                    written.setdefault((one.kind, one.value), one.text)
        return tuple(dict.fromkeys(written[key] for key, _ in counts.most_common(_NAMES)))


def _names(observations: Sequence[Observation]) -> Mapping[int, str]:
    return {o.seq: o.external_id or str(o.id) for o in observations}
