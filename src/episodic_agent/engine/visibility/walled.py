"""A transaction that reads as if some messages had never been said: those outside of walls (recall/walls).

What is made of such a message is not told either: an episode that holds one has the words that the messages
left to it give, none where none is left, and no metadata; parts of a thread, its title by hand, sessions and
skills of its thread have none. No index finds by what is not shown. It only reads.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast
from uuid import UUID

from episodic_agent.engine.threads.session_records import SESSION
from episodic_agent.engine.visibility.hidden import WIDER
from episodic_agent.lazily import module
from episodic_agent.protocols import EPISODES, OBSERVATIONS, PARTS, Refs, Scores, Transaction, ref_of
from episodic_agent.schemas import Decision, Encoding, Episode, EpisodeKind, Observation, Thread, Vector
from episodic_agent.schemas.places import Visit
from episodic_agent.schemas.strength import Standing

if TYPE_CHECKING:
    import numpy as np
    from numpy import typing as npt

    from episodic_agent.engine.episodes import listing
else:
    np = module("numpy")
    listing = module("episodic_agent.engine.episodes.listing")

Span = tuple[int, int]
ChannelsOf = Callable[[Thread], tuple[str, ...]]
_OWN_WORDS: Final = (EPISODES, PARTS)  # kinds of documents that are made of several messages


class _WalledReading:
    """What is read of one aggregate; what says nothing of messages is its own."""

    def __init__(self, tx: Transaction, source: Any, outside: "Outside") -> None:
        self._tx = tx
        self._source = source
        self._outside = outside

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            return getattr(self._source, name)


class Outside:
    """References of messages that are not told, rising, by which stretches of threads are judged."""

    def __init__(self, tx: Transaction, refs: Collection[int]) -> None:
        self._tx = tx
        self.refs = sorted(refs)
        self._known = frozenset(self.refs)
        self.threads = frozenset(ref >> 32 for ref in self.refs)

    def __contains__(self, ref: int) -> bool:
        return ref in self._known

    def within(self, span: Span) -> int:
        """Count them in a span."""
        return bisect_right(self.refs, span[1]) - bisect_left(self.refs, span[0])

    def fill(self, span: Span) -> bool:
        """Tell whether a span holds nothing else."""
        return self.within(span) == span[1] - span[0] + 1

    def reach(self, thread: UUID) -> bool:
        """Tell whether one of them is in a thread."""
        return self._tx.threads.number(thread) in self.threads

    def holds(self, observation: Observation) -> bool:
        """Tell whether an observation is one of them."""
        return ref_of(self._tx.threads.number(observation.thread_id), observation.seq) in self._known


class WalledTransaction:
    """A transaction without some messages; `channels` says by which channels a thread is known then."""

    def __init__(self, tx: Transaction, refs: Collection[int], channels: ChannelsOf) -> None:
        self.unwalled = tx
        outside = Outside(tx, refs)
        self.observations = _WalledObservations(tx, tx.observations, outside)
        self.episodes = _WalledEpisodes(tx, tx.episodes, outside, cast("Transaction", self))
        self.index = _WalledIndex(tx, tx.index, outside)
        self.threads = _WalledThreads(tx, tx.threads, outside, channels)
        self.knowledge = _WalledKnowledge(tx, tx.knowledge, outside)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            return getattr(self.unwalled, name)


class _WalledObservations(_WalledReading):
    def read(self, thread: Any, *seqs: int) -> Any:
        observations = self._source.read(thread, *seqs)
        if isinstance(thread, UUID):
            return self._left(observations)
        return [self._left(some) for some in observations]

    def _left(self, observations: Iterable[Observation]) -> list[Observation]:
        return [one for one in observations if not self._outside.holds(one)]

    def get(self, keys: Sequence[Any]) -> Mapping[Any, Observation]:
        stored = self._source.get(keys)
        return {key: one for key, one in stored.items() if not self._outside.holds(one)}

    def quoting(self, texts: Sequence[str], *, limit: int) -> Sequence[int]:
        refs = self._source.quoting(texts, limit=limit + len(self._outside.refs))
        return [ref for ref in refs if ref not in self._outside][:limit]

    def having(
        self,
        field: str,
        values: Sequence[str],
        *,
        limit: int | None = None,
        besides: Sequence[int] | None = None,
    ) -> Sequence[int]:
        refs = self._source.having(field, values, besides=besides)
        if besides is None:
            return [ref for ref in refs if ref not in self._outside][:limit]
        return sorted({*refs, *(ref for ref in self._outside.refs if ref >> 32 in besides)})[:limit]


class _WalledEpisodes(_WalledReading):
    def __init__(self, tx: Transaction, source: Any, outside: Outside, walled: Transaction) -> None:
        super().__init__(tx, source, outside)
        self._walled = walled

    def get(self, key: Any) -> Any:
        stored = self._source.get(key)
        if isinstance(key, UUID):
            return None if stored is None else next(iter(self._reworded([stored])), None)
        shown = {one.id: one for one in self._reworded(stored.values())}
        return {name: shown[one.id] for name, one in stored.items() if one.id in shown}

    def list(self, *, limit: int | None = None, **asked: Any) -> Sequence[Episode]:
        most = limit
        while True:
            stored = self._source.list(limit=most, **asked)
            shown = self._reworded(stored)
            if limit is None or most is None or len(shown) >= limit or len(stored) < most:
                return shown if limit is None else shown[:limit]
            most = WIDER * max(most, 1)

    def encodings(self, episode_id: UUID) -> Sequence[Encoding]:
        stored = self._source.get(episode_id)
        return () if stored is not None and self._is_mixed(stored) else self._source.encodings(episode_id)

    def _span(self, episode: Episode) -> Span:
        number = self._tx.threads.number(episode.thread_id)
        return ref_of(number, episode.first_seq), ref_of(number, episode.last_seq)

    def _is_mixed(self, episode: Episode) -> bool:
        if episode.kind is EpisodeKind.EVENT:
            return self._outside.within(self._span(episode)) > 0
        return episode.kind is EpisodeKind.CROSS_THREAD or self._outside.reach(episode.thread_id)

    def _reworded(self, episodes: Iterable[Episode]) -> Sequence[Episode]:
        """Return episodes, those with something outside in other words; none that holds nothing else."""
        stored = [*episodes]
        mixed = [one for one in stored if self._is_mixed(one)]
        events = [one for one in mixed if one.kind is EpisodeKind.EVENT]
        read = self._walled.observations.read([(e.thread_id, e.first_seq, e.last_seq) for e in events])
        inside = dict(zip((one.id for one in events), read, strict=True))
        shown = {one.id: self._worded(one, inside.get(one.id, ())) for one in mixed}
        gone = {one.id for one in events if self._outside.fill(self._span(one))}
        return [shown.get(one.id, one) for one in stored if one.id not in gone]

    @staticmethod
    def _worded(episode: Episode, inside: Sequence[Observation]) -> Episode:
        words = listing.words_of_open(inside) if inside and episode.encoding_version else None
        title, summary = ("", "") if words is None else (words.title, words.summary)
        return replace(episode, title=title, summary=summary, metadata={})


class _WalledIndex(_WalledReading):
    def text_scores(
        self,
        kind: str,
        weights: Mapping[str, float],
        refs: Refs | None = None,
        *,
        limit: int = 0,
        **how: float,
    ) -> tuple[Refs, Scores]:
        ask = partial(self._source.text_scores, kind, weights, refs, **how)
        return self._best(kind, ask, limit) if refs is None else self._these(kind, ask(), 0.0)

    def vector_scores(
        self, kind: str, embedder: str, query: Vector, refs: Refs | None = None, *, limit: int = 0
    ) -> tuple[Refs, Scores]:
        ask = partial(self._source.vector_scores, kind, embedder, query, refs)
        return self._best(kind, ask, limit) if refs is None else self._these(kind, ask(), math.nan)

    def _best(self, kind: str, ask: Callable[..., tuple[Refs, Scores]], limit: int) -> tuple[Refs, Scores]:
        refs, scores = ask(limit=limit + len(self._outside.refs))
        shown = ~self._untold(kind, refs)
        return refs[shown][:limit], scores[shown][:limit]

    def _these(self, kind: str, scored: tuple[Refs, Scores], nothing: float) -> tuple[Refs, Scores]:
        refs, scores = scored
        return refs, np.where(self._untold(kind, refs), np.float32(nothing), scores)

    def _untold(self, kind: str, refs: Refs) -> "npt.NDArray[np.bool_]":
        if kind == OBSERVATIONS:
            return np.isin(refs, np.array(self._outside.refs, np.int64))
        if kind not in _OWN_WORDS:
            return np.zeros(len(refs), np.bool_)
        # a document of several messages begins at the first: what its thread holds besides may be in it
        return np.isin(refs >> 32, np.array(sorted(self._outside.threads), np.int64))

    def vectors(self, kind: str, embedder: str, refs: Sequence[int], **more: Any) -> Mapping[int, Vector]:
        asked = np.array([*refs], np.int64)
        shown = asked[~self._untold(kind, asked)].tolist()
        vectors: Mapping[int, Vector] = self._source.vectors(kind, embedder, shown, **more)
        return vectors

    def observation_marks(self, refs: Refs) -> Any:
        return self._source.observation_marks(refs[~self._untold(OBSERVATIONS, refs)])

    def between(self, start: Any, end: Any, *, limit: int, newest: bool = False) -> Refs:
        more = limit + len(self._outside.refs)
        refs = self._source.between(start, end, limit=more, newest=newest)
        left: Refs = refs[~self._untold(OBSERVATIONS, refs)]
        return left[max(0, len(left) - limit) :] if newest else left[:limit]

    def spans(self, fields: Sequence[Any], **time: Any) -> Sequence[Standing]:
        """Leave out what nothing is told of; what has words of others passes no condition on them."""
        stored = self._source.spans(fields, **time)
        if fields:
            return [one for one in stored if not self._outside.within((one.first_ref, one.last_ref))]
        return [one for one in stored if not self._outside.fill((one.first_ref, one.last_ref))]


class _WalledThreads(_WalledReading):
    def __init__(self, tx: Transaction, source: Any, outside: Outside, channels: ChannelsOf) -> None:
        super().__init__(tx, source, outside)
        self._channels = channels

    def get(self, key: UUID | str) -> Thread | None:
        thread = self._source.get(key)
        return None if thread is None else self._shown(thread)

    def list(self, *which: Any, **asked: Any) -> Sequence[Thread]:
        return [self._shown(one) for one in self._source.list(*which, **asked)]

    def _shown(self, thread: Thread) -> Thread:
        if not self._outside.reach(thread.id):
            return thread
        return replace(thread, title=None, channels=self._channels(thread))

    def visits(self, **asked: Any) -> Sequence[Visit]:
        stays = self._source.visits(**asked)
        return [one for one in stays if not self._outside.within((one.first_ref, one.last_ref))]


class _WalledKnowledge(_WalledReading):
    def decisions(self, **asked: Any) -> Sequence[Decision]:
        stored = self._source.decisions(**asked)
        return [one for one in stored if one.type != SESSION or not self._outside.reach(one.subject)]

    def evidence(self, key: Any) -> Any:
        turns = self._source.evidence(key)
        if isinstance(key, UUID) and any(self._outside.reach(one.thread_id) for one in turns):
            return ()  # what it says may be of any of them
        return turns
