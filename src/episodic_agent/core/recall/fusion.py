"""Score-level fusion of recall legs: steps 2 to 5 of docs/internals/recall.md#how-hits-are-found-and-scored.

The store hands over parallel arrays over a few hundred candidates. Not rank fusion: ranks forget how much
better the best hit is. Every leg is divided by its best value within the query, so BM25 and cosine can be
added, and the scale does not depend on how many candidates there are. In the end near-duplicates give way to
hits that say something else.

In a second round what the first hits hold is looked for too, for answers that lie in several places. "Which
hotel did we take for the trip Ana planned?" finds the trip first; the hotel's message shares with it the
town, the day, a name. Without a model that reads, such links are the words the best hits hold and the
question does not, rare ones counting more (a relevance model, Lavrenko and Croft 2001, of two documents).
Candidates only gain by it: nothing that the question finds by itself is dropped.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import log1p
from typing import Final

import numpy as np
import numpy.typing as npt

from episodic_agent.core.language.terms import BIGRAM_SCRIPTS
from episodic_agent.core.language.timewords import TimeQuery
from episodic_agent.core.recall.bm25 import FloatArray, IntArray, idf
from episodic_agent.core.recall.order import Order, order_match
from episodic_agent.core.recall.policies import DEFAULT_WEIGHTS, FusionWeights
from episodic_agent.core.recall.query import Query

PER_LEG: Final = 100
NEAR: Final = 20


def _empty() -> FloatArray:
    return np.zeros(0)


@dataclass(frozen=True, slots=True)
class Candidates:
    """Hold observations that may answer a query: arrays with one entry for each id, or none at all.

    `bm25` is 0 only where no term is shared, not outside the leg's best 100; `cosine` is that of the
    observation's best vector, NaN where it has none. `*_before` and `*_after` are those of seq - 1 and
    seq + 1 in the same thread, 0 (or NaN) where there is none, `gap_*` the seconds between, 0 where times
    are unknown. `at` is event time in seconds since 1970, NaN where assumed; `moment` is the same with
    assumed times kept, for order only. `episode` is an index into `EpisodeArrays`, -1 for none. `phrase` is
    the share of the query's quoted phrases the text holds, or 1 where a query that is words to look for
    stands there; `parts` has one row of BM25 scores for each of
    `Query.parts`; `octets` is the text's length in UTF-8; `held` is the share of the question's words,
    weighed by rarity, that the text holds; `place` is 1 for what was observed at a place the query names;
    `where` 1 for what may tell where something is, read where that is asked for, and `sighted` 1 for what
    says where the thing that is asked for was.
    """

    ids: Sequence[str]
    bm25: FloatArray
    cosine: FloatArray
    bm25_before: FloatArray = field(default_factory=_empty)
    bm25_after: FloatArray = field(default_factory=_empty)
    cosine_before: FloatArray = field(default_factory=_empty)
    cosine_after: FloatArray = field(default_factory=_empty)
    gap_before: FloatArray = field(default_factory=_empty)
    gap_after: FloatArray = field(default_factory=_empty)
    actors: Sequence[str] = ()
    at: FloatArray = field(default_factory=_empty)
    episode: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    phrase: FloatArray = field(default_factory=_empty)
    parts: FloatArray = field(default_factory=_empty)
    moment: FloatArray = field(default_factory=_empty)
    octets: FloatArray = field(default_factory=_empty)
    held: FloatArray = field(default_factory=_empty)
    place: FloatArray = field(default_factory=_empty)
    where: FloatArray = field(default_factory=_empty)
    sighted: FloatArray = field(default_factory=_empty)

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class EpisodeArrays:
    """Hold the episodes of the candidates and those found by their own text; arrays as in `Candidates`.

    `bm25` and `cosine` are of title, summary and metadata; `retrievability` in (0, 1], 1 for an open frame;
    `thread` numbers the threads, any integers.
    """

    ids: Sequence[str]
    bm25: FloatArray
    cosine: FloatArray
    retrievability: FloatArray
    thread: IntArray

    def __len__(self) -> int:
        return len(self.ids)


def no_episodes() -> EpisodeArrays:
    """Return an empty set of episodes, for a scope that has only an open frame."""
    return EpisodeArrays((), np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0, np.int64))


_LEAST_COSINE: Final = 0.3  # a leg whose best cosine is below this is not blown up to 1
_DAY: Final = 86_400.0
JUST_BEHIND: Final = 0.999  # of the score of what took its place
_SIGHTED: Final = 2.0  # of sightings of a thing the order counts for more than all other legs together
_FEWEST: Final = 20  # cosines from which on strangers can be told: of a few all may be about the question
_DIGITS: Final = 6  # cosines differ in the last bits between machines
# "Yes!" and "Me too" match much and prove little. Not in scripts cut into bigrams: there a dozen characters
# are a statement (MemDaily lost .003).
_FULL_LENGTH: Final = 80.0


@dataclass(frozen=True, slots=True)
class Fused:
    """Hold fused scores in [0, 1], the order of the ids (best first, ties by id) and each leg's part.

    `legs` are already weighted and add up to `scores` before scaling by their common total.
    """

    scores: FloatArray
    order: IntArray
    legs: Mapping[str, FloatArray]


def fuse(
    query: Query,
    candidates: Candidates,
    episodes: EpisodeArrays,
    weights: FusionWeights = DEFAULT_WEIGHTS,
    *,
    share: float | None = None,
) -> Fused:
    """Score observations by words, meaning, neighbours, speaker, time, phrases and their episode's text.

    `share` is the vector leg's (`measured_share`); None: what the query's script says.

    >>> query = Query("tea?", "tea?", ("tea",))
    >>> found = Candidates(("a", "b"), np.array([2.0, 0.0]), np.array([0.5, 0.5]))
    >>> fused = fuse(query, found, EpisodeArrays((), *[np.zeros(0)] * 3, np.zeros(0, np.int64)))
    >>> fused.scores.round(2).tolist(), fused.order.tolist()
    ([1.0, 0.5], [0, 1])
    """
    count = len(candidates)
    bigrams = query.script in BIGRAM_SCRIPTS
    weights = weights.for_bigrams() if bigrams else weights
    share = dense_share(query, weights) if share is None else share
    legs = {
        "lexical": (1 - share) * _lexical(candidates, weights),
        "dense": share * _dense(candidates, weights),
    }
    if query.speakers and candidates.actors:
        named = np.fromiter((actor in query.speakers for actor in candidates.actors), np.float64, count)
        legs["speaker"] = weights.speaker * named
    if query.time and len(candidates.at):
        legs["time"] = weights.time * time_match(query.time, candidates.at)
    if query.places and len(candidates.place):
        legs["place"] = weights.place * candidates.place
    if candidates.phrase.any():
        name, weight = ("phrase", weights.phrase) if query.phrases else ("literal", weights.literal)
        legs[name] = weight * candidates.phrase
    if len(query.parts) > 1 and candidates.parts.ndim == 2:
        legs["part"] = weights.part * np.max([_scaled(row) for row in candidates.parts], axis=0)
    if len(candidates.episode) and len(episodes):
        own = _scaled(episodes.bm25)
        legs["summary"] = weights.summary * np.where(candidates.episode >= 0, own[candidates.episode], 0.0)
    if len(candidates.octets) and not bigrams:
        legs["length"] = weights.length * np.minimum(candidates.octets / _FULL_LENGTH, 1.0)
    if query.order and len(candidates.moment):
        relevance = np.add.reduce(
            [values for name, values in legs.items() if name != "length" or not weights.occasions]
        )
        legs["order"] = weights.order * _ordered(query.order, candidates, relevance)
    return _finish(legs, _total(legs, weights), candidates.ids)


def _ordered(order: Order, candidates: Candidates, relevance: FloatArray) -> FloatArray:
    """Return how much the end of time that is asked for counts: of sightings of a thing alone, if any."""
    moments, strength = candidates.moment, order.strength
    if candidates.sighted.any():  # the newest first, however well older ones are worded
        moments, strength = np.where(candidates.sighted > 0, moments, np.nan), _SIGHTED
        relevance = np.where(candidates.sighted > 0, relevance.max(), relevance)
    elif len(candidates.where):
        moments = np.where(candidates.where > 0, moments, np.nan)
    return strength * order_match(order, relevance, moments, candidates.episode)


def dense_share(query: Query, weights: FusionWeights = DEFAULT_WEIGHTS) -> float:
    """Return the vector leg's share: less where the query is not in the embedder's language.

    >>> dense_share(Query("", "", ())), dense_share(Query("", "", (), script="han"))
    (0.5, 0.2)
    """
    foreign = query.script not in {"latin", ""} or (query.language or "en") != "en"
    return weights.dense_foreign if foreign else weights.dense


def strangers_cosine(candidates: Candidates) -> float | None:
    """Return how near the embedder puts what has nothing to do with the query; None: too few to tell.

    The lower quartile of the candidates' cosines: of some two hundred most are no answer. The default
    embedder puts strangers at .05 to .2 in English, .25 to .45 in German, .4 to .65 in Chinese, where it
    reads little more than that the text is Chinese.

    >>> strangers_cosine(Candidates("a" * 20, np.zeros(20), np.array([0.1] * 15 + [0.6] * 5)))
    0.1
    """
    known = candidates.cosine[np.isfinite(candidates.cosine)]
    return round(float(np.quantile(known, 0.25)), _DIGITS) if len(known) >= _FEWEST else None


def trust(strangers: float, weights: FusionWeights = DEFAULT_WEIGHTS) -> float:
    """Return in [0, 1] how well the embedder knows the language, from the cosine of strangers.

    >>> trust(0.1), trust(0.375), trust(0.6)
    (1.0, 0.5, 0.0)
    """
    width = weights.foreign_from - weights.known_below
    return min(max((weights.foreign_from - strangers) / width, 0.0), 1.0)


def measured_share(
    query: Query, candidates: Candidates, weights: FusionWeights = DEFAULT_WEIGHTS, *, known: bool = True
) -> float:
    """Return the vector leg's share, by how near the embedder puts strangers in this memory.

    Where cosines are on no known scale (`known` False) or are too few to tell, the script decides.

    >>> chinese = Query("", "", (), script="han")
    >>> measured_share(chinese, Candidates("a" * 20, np.zeros(20), np.array([0.1] * 15 + [0.6] * 5)))
    0.5
    """
    strangers = strangers_cosine(candidates) if known and weights.foreign_from > 0 else None
    if strangers is None:
        return dense_share(query, weights)
    return weights.dense_foreign + (weights.dense - weights.dense_foreign) * trust(strangers, weights)


def with_second(fused: Fused, shared: FloatArray, ids: Sequence[str], weights: FusionWeights) -> Fused:
    """Return a fused result after a second round: `shared` scores what candidates share with the first hits.

    >>> first = Fused(np.array([0.5, 0.49]), np.array([0, 1]), {"lexical": np.array([0.5, 0.49])})
    >>> with_second(first, np.array([0.0, 3.0]), ["a", "b"], DEFAULT_WEIGHTS).order.tolist()
    [1, 0]
    """
    if not len(shared) or not float(shared.max()) > 0:
        return fused
    greatest = float(np.add.reduce(list(fused.legs.values())).max())
    legs = {**fused.legs, "second": weights.second * greatest * _scaled(shared)}
    return _finish(legs, _reached(fused) * (1.0 + weights.second), ids)


def with_statements(fused: Fused, stating: FloatArray, ids: Sequence[str], weights: FusionWeights) -> Fused:
    """Return a fused result in which what states something stands above what asks or chats about it.

    `stating` is how likely each candidate states what lasts, in [0, 1]; 0 where nobody looked. It lifts in
    proportion to the score: what has nothing to do with the question stays where it is.

    >>> first = Fused(np.array([0.5, 0.49]), np.array([0, 1]), {"lexical": np.array([0.5, 0.49])})
    >>> with_statements(first, np.array([0.1, 0.9]), ["a", "b"], DEFAULT_WEIGHTS).order.tolist()
    [1, 0]
    """
    summed = np.add.reduce(list(fused.legs.values()))
    legs = {**fused.legs, "states": weights.states * summed * stating}
    return _finish(legs, _reached(fused) * (1.0 + weights.states), ids)


def with_replaced(fused: Fused, pairs: Sequence[tuple[int, Sequence[int]]], ids: Sequence[str]) -> Fused:
    """Return a fused result in which what took the place of a hit stands where that stood, just before it.

    Each of `pairs` is a row and the rows that took its place, the newest first: what is asked about is often
    named by what was said first alone. What took its place and is no candidate moves nothing: what was is
    then the best there is.

    >>> first = Fused(np.array([0.5, 0.4]), np.array([0, 1]), {"lexical": np.array([0.5, 0.4])})
    >>> with_replaced(first, [(0, [1])], ["a", "b"]).order.tolist()
    [1, 0]
    """
    summed = np.add.reduce(list(fused.legs.values()))
    placed = summed.copy()
    for row, newer in reversed(pairs):  # the oldest first: what changed it may have been changed since
        for later in newer:
            placed[later] = max(placed[later], placed[row])
    for row, newer in pairs:
        placed[row] = min([placed[row], *(JUST_BEHIND * placed[later] for later in newer)])
    if (placed == summed).all():
        return fused
    return _finish({**fused.legs, "replaced": placed - summed}, _reached(fused), ids)


def replaced_episodes(
    observations: Fused, candidates: Candidates, pairs: Sequence[tuple[int, Sequence[int]]]
) -> list[tuple[int, list[int]]]:
    """Return the episodes found by what is no longer so, with those of what took its place, newest first.

    `pairs` are those of messages, as in `with_replaced`. An episode is found by the best of its messages.
    """
    first: dict[int, int] = {}
    for row in observations.order.tolist():
        first.setdefault(int(candidates.episode[row]), row)
    owner = candidates.episode.tolist()
    proving = [(owner[row], newer) for row, newer in pairs if owner[row] >= 0 and first[owner[row]] == row]
    return [(own, sorted({owner[later] for later in newer} - {own, -1})) for own, newer in proving]


def with_raised(fused: Fused, shares: FloatArray, ids: Sequence[str], weight: float, leg: str) -> Fused:
    """Return a fused result in which what has a share in [0, 1] of something stands higher.

    A share may be how close a text is to the days that are asked about, or that it was said where the
    question names; `leg` is its name among the legs.

    >>> first = Fused(np.array([0.5, 0.4]), np.array([0, 1]), {"lexical": np.array([0.5, 0.4])})
    >>> with_raised(first, np.array([0.0, 1.0]), ["a", "b"], 0.3, "due").order.tolist()
    [1, 0]
    """
    if not shares.any():
        return fused
    greatest = float(np.add.reduce(list(fused.legs.values())).max())
    legs = {**fused.legs, leg: weight * greatest * shares}
    return _finish(legs, _reached(fused) * (1.0 + weight), ids)


def _reached(fused: Fused) -> float:
    """Return what the sum of the legs was divided by."""
    best = float(fused.scores.max(initial=0.0))
    return float(np.add.reduce(list(fused.legs.values())).max()) / best if best > 0 else 1.0


def _total(legs: Mapping[str, FloatArray], weights: FusionWeights) -> float:
    """Return the greatest sum the legs present could reach, a constant of the query."""
    full = {
        "speaker": weights.speaker,
        "time": weights.time,
        "place": weights.place,
        "phrase": weights.phrase,
        "literal": weights.literal,
        "part": weights.part,
        "order": weights.order,
        "length": weights.length,
    }
    return 1.0 + sum(full.get(name, weights.summary) for name in legs if name not in {"lexical", "dense"})


def _finish(legs: Mapping[str, FloatArray], total: float, ids: object) -> Fused:
    names = np.asarray(ids, dtype=str)
    summed = np.add.reduce(list(legs.values())) if legs else np.zeros(len(names))
    values = np.clip(summed / total, 0.0, 1.0)
    order: IntArray = np.lexsort((names, -values)) if len(names) else np.zeros(0, np.int64)
    return Fused(values, order, legs)


def _lexical(candidates: Candidates, weights: FusionWeights) -> FloatArray:
    values = candidates.bm25 + _neighbours(
        candidates.bm25_before, candidates.bm25_after, candidates, weights.neighbour_lexical, weights
    )
    return _scaled(values)


def _dense(candidates: Candidates, weights: FusionWeights) -> FloatArray:
    values = np.nan_to_num(candidates.cosine) + _neighbours(
        candidates.cosine_before, candidates.cosine_after, candidates, weights.neighbour_dense, weights
    )
    return _scaled(np.maximum(values, 0.0), _LEAST_COSINE)


def _neighbours(
    before: FloatArray, after: FloatArray, candidates: Candidates, share: float, weights: FusionWeights
) -> FloatArray:
    """Return both neighbours' share of a leg, less the longer the silence between them."""
    total = np.zeros(len(candidates))
    for values, gaps in ((before, candidates.gap_before), (after, candidates.gap_after)):
        if len(values):
            hours = np.maximum(np.nan_to_num(gaps), 0.0) / 3600 if len(gaps) else 0.0
            total += share * np.nan_to_num(values) / (1 + hours / weights.neighbour_hours)
    return total


def _scaled(values: FloatArray, least: float = 0.0) -> FloatArray:
    """Divide by the best value, so that it is 1; all zero stays so."""
    if len(values) == 0:
        return values
    best = max(float(values.max()), least)
    return values / best if best > 0 else np.zeros(len(values))


def time_match(time: TimeQuery, at: FloatArray) -> FloatArray:
    """Return how well event times (seconds since 1970, NaN unknown) meet a query's expressions, in [0, 1].

    The mean over the kinds of condition present: in any range, at any of the hours, on any of the weekdays.
    """
    local = at + time.utc_offset.total_seconds()
    met: list[FloatArray] = []
    if time.ranges:
        inside = [(at >= part.start.timestamp()) & (at < part.end.timestamp()) for part in time.ranges]
        met.append(np.logical_or.reduce(inside).astype(np.float64))
    if time.hours:
        hour = np.mod(local, _DAY) / 3600
        at_hour = [
            ((hour >= start) & (hour < end)) | ((hour + 24 >= start) & (hour + 24 < end))
            for start, end in time.hours
        ]
        met.append(np.logical_or.reduce(at_hour).astype(np.float64))
    if time.weekdays:
        weekday = np.mod(np.floor(local / _DAY) + 3, 7)  # 1 January 1970 was a Thursday
        met.append(np.isin(weekday, time.weekdays).astype(np.float64))
    return np.mean(met, axis=0) if met else np.zeros(len(at))


def fuse_episodes(
    query: Query,
    observations: Fused,
    candidates: Candidates,
    episodes: EpisodeArrays,
    weights: FusionWeights = DEFAULT_WEIGHTS,
    *,
    share: float | None = None,
) -> Fused:
    """Score episodes by their best observation, further ones, own text, thread and strength.

    `share` is the vector leg's, as in `fuse`. The strength prior is bounded:
    `floor + (1 - floor) * retrievability`, so that age never buries relevance.
    """
    count = len(episodes)
    best, more = _evidence(observations, candidates, count)
    share = dense_share(query, weights) if share is None else share
    own = (1 - share) * _scaled(episodes.bm25)
    own = own + share * _scaled(np.maximum(np.nan_to_num(episodes.cosine), 0.0), _LEAST_COSINE)
    best = np.maximum(best, 0.5 * own)  # found by its summary alone
    # which occasion is the last one neither tells: what is done every day is in the words of all of them
    beside = 0.0 if query.order and weights.occasions else 1.0
    legs = {
        "observation": best,
        "more": weights.more * beside * more,
        "own": weights.own * beside * own,
        "thread": weights.thread * _thread_evidence(best, episodes.thread),
    }
    prior = strength_prior(episodes.retrievability, weights.floor)
    legs = {name: values * prior for name, values in legs.items()}
    return _finish(legs, 1.0 + weights.more + weights.own + weights.thread, episodes.ids)


def strength_prior(retrievability: FloatArray, floor: float = DEFAULT_WEIGHTS.floor) -> FloatArray:
    """Return the factor of a retrievability in [0, 1].

    >>> strength_prior(np.array([0.0, 0.5, 1.0])).round(2).tolist()
    [0.7, 0.85, 1.0]
    """
    return floor + (1 - floor) * np.clip(retrievability, 0.0, 1.0)


def _evidence(observations: Fused, candidates: Candidates, count: int) -> tuple[FloatArray, FloatArray]:
    """Return each episode's best observation score, and the next three at half, a quarter and an eighth."""
    best, more = np.zeros(count), np.zeros(count)
    seen = [0] * count
    if not len(candidates.episode):
        return best, more
    owners = candidates.episode[observations.order].tolist()
    scores = observations.scores[observations.order].tolist()
    for episode, score in zip(owners, scores, strict=True):
        if episode < 0:
            continue
        if seen[episode] == 0:
            best[episode] = score
        elif seen[episode] <= 3:
            more[episode] += score / 2 ** seen[episode]
        seen[episode] += 1
    return best, more


def _thread_evidence(best: FloatArray, thread: IntArray) -> FloatArray:
    """Return the best score among the thread's other episodes."""
    result = np.zeros(len(best))
    for name in np.unique(thread):
        rows = np.flatnonzero(thread == name)
        if len(rows) > 1:
            first, second = rows[np.argsort(-best[rows], kind="stable")[:2]]
            result[rows] = best[first]
            result[first] = best[second]
    return result


FIRST_HITS: Final = 2  # three cost REALTALK, whose first hit is right once in three, a point of recall@5
TERMS: Final = 25  # terms looked for; ten do less, fifty no more
READ: Final = 120  # terms of a hit that are read: long answers of assistants hold hundreds


def shared_terms(
    hits: Sequence[tuple[float, Mapping[str, int]]],
    frequencies: Mapping[str, int],
    documents: int,
    skipped: Collection[str],
) -> dict[str, float]:
    """Return the terms that lead on from the first hits, with their weights for BM25.

    `hits` are scores with the counts of terms; `frequencies` say in how many of `documents` each term occurs;
    `skipped` are the query's own terms and the speakers' names. What only one text holds leads nowhere.

    >>> hit = (1.0, {"porto": 1, "trip": 1, "the-only": 1})
    >>> weights = shared_terms([hit], {"porto": 2, "trip": 5, "the-only": 1}, 100, {"trip"})
    >>> {term: round(weight, 2) for term, weight in weights.items()}
    {'porto': 3.7}
    """
    worth: defaultdict[str, float] = defaultdict(float)
    for score, counts in hits:
        length = (
            1.0 + log1p(sum(counts.values())) / 3.0
        )  # one of many words says less of what a text is about
        for term in counts:
            if term not in skipped and frequencies.get(term, 0) > 1:
                worth[term] += score * idf(frequencies[term], documents) / length
    best = sorted(worth.items(), key=lambda item: (-item[1], item[0]))[:TERMS]
    if not best or best[0][1] <= 0:
        return {}
    return {term: idf(frequencies[term], documents) * value / best[0][1] for term, value in best}


NEAR_DUPLICATE: Final = 0.97
_FEW: Final = 0.02  # share of the characters in which two outputs of a tool may differ and say the same
_WORD: Final = re.compile(r"\w+|[^\w\s]")
_WINDOW: Final = 50  # deeper hits are seldom shown, and the comparison is quadratic


def diversify(
    order: IntArray,
    vectors: npt.NDArray[np.float32],
    threshold: float = NEAR_DUPLICATE,
    *,
    same: Callable[[int, int], bool] | None = None,
) -> tuple[IntArray, IntArray]:
    """Move hits nearly equal to a better one behind the other hits, keeping the order within both groups.

    `order` ranks rows of `vectors` (unit length; a zero row, not embedded, is never a duplicate). Only the
    first 50 are compared. `same` has the last word on two rows that look equal: an embedder that does not
    know a language lays different statements onto one vector ("my boss is called Chen", "my boss is the
    dean" in Chinese: .998). Returns the new order and, for each of its places, the row it repeats or -1.

    >>> vectors = np.array([[1, 0], [1, 0], [0, 1]], np.float32)
    >>> [part.tolist() for part in diversify(np.array([0, 1, 2]), vectors)]
    [[0, 2, 1], [-1, -1, 0]]
    """
    head = order[:_WINDOW]
    # Not `@`: one small product wakes the threads of a BLAS, which then spin for milliseconds.
    similar = np.einsum("id,jd->ij", vectors[head], vectors[head]) >= threshold
    limits: list[int] = []
    repeats: dict[int, int] = {}
    for place in range(len(head)):
        duplicates = [
            other
            for other in limits
            if similar[place, other] and (same is None or same(int(head[place]), int(head[other])))
        ]
        if duplicates:
            repeats[place] = int(head[duplicates[0]])
        else:
            limits.append(place)
    places = limits + list(repeats)
    tail = order[_WINDOW:]
    moved = np.concatenate([head[np.array(places, np.int64)], tail])
    marks = [repeats.get(place, -1) for place in places] + [-1] * len(tail)
    return moved, np.array(marks, np.int64)


def newest_outputs(outputs: Sequence[str]) -> list[int]:
    """Return for each output of a tool, oldest first, the place of the newest that says the same.

    Two say the same where all but a few characters of their words are the same: a test that is run again
    with another argument fails as it did. What is short is the same in every character.

    >>> red = "FAILED tests/test_cart.py::test_total - assert 19.99 == 20.00 " * 9
    >>> newest_outputs([f"pytest -k prices: {red}", "1 failed", f"pytest -k taxes: {red}", "2 failed"])
    [2, 1, 2, 3]
    """
    standing: list[int] = []
    words = [Counter(_WORD.findall(text)) for text in outputs]
    result = [0] * len(outputs)
    for place in reversed(range(len(outputs))):
        same = (other for other in standing if _same(outputs, words, place, other))
        result[place] = next(same, place)
        if result[place] == place:
            standing.append(place)
    return result


def _same(outputs: Sequence[str], words: Sequence[Counter[str]], first: int, second: int) -> bool:
    if outputs[first] == outputs[second]:
        return True
    sizes = len(outputs[first]), len(outputs[second])
    few = _FEW * max(sizes)
    if max(sizes) - min(sizes) > few:
        return False
    apart = (words[first] - words[second], words[second] - words[first])
    letters = max(sum(len(word) * count for word, count in side.items()) for side in apart)
    return 1 <= few >= letters
