"""How likely what was once said is needed for the message that is about to be answered.

Two small judges read one row of features a candidate: one tells whether the next answer needs it, the other
whether its sitting is of the same matter. Features are the likeness of a candidate to the message and to
what went before it (an elliptical message presupposes that), the words it shares with both by their rarity,
how well its sitting does as a whole, its neighbours in it (an answer stands behind its question), how long
ago it was, and who said it. What they put first is then read once more: what states something that lasts is
likelier to be needed than what asks or chats about the same, as far as it is about the same.
`tools/train_context.py` makes the weights.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from episodic_agent.data import numbers

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]

FIRST, RIVALS = "context-2027-01", "context-2027-02"
CONTEXT_WEIGHTS: Final = {FIRST: "context/relevance", RIVALS: "context/relevance-2027-02"}
NEED, MATTER = "need", "matter"
BIAS: Final = "bias"
STATES: Final = "states"
READ_AGAIN: Final = 60  # first candidates that are judged by what they state: a hundred bring no more
MATTER_SHARE: Final = 0.6  # of the second judge, beside the first
MOST_MATTER: Final = 0.5  # what it may add at most: a sitting that surely is of the matter is not better
FADING: Final = 0.75  # what an earlier message of the sitting weighs, against the one after it
LAST: Final = 6  # messages of the sitting that are read with the message
SITTING: Final = 12  # messages that stand for the sitting as a whole
_APART, _NEAR = 0.05, 0.25  # cosines from which a text may bear on a message, and surely does
_WORDS: Final = 8.0  # a BM25 score that is much
_AROUND: Final = 16.0


@dataclass(frozen=True, slots=True)
class EarlierWords:
    """What may be told, in parallel arrays in the order of sittings and of time in them.

    `sitting` numbers the stretch of talk each is from. `cosine`, `around` and `matter` are the likeness to
    the message, to the message with what went before it, and to the whole sitting; `words` and `words_around`
    are BM25. `days` is since the end of its sitting. `terms` counts those of the message, `begins` tells that
    nothing went before it. `links` is what a link to its thread adds; `held` and `held_together` are the
    shares of the message's terms, by rarity, that a text and its whole sitting hold.
    """

    sitting: Ints
    cosine: Floats
    around: Floats
    matter: Floats
    words: Floats
    words_around: Floats
    days: Floats
    tokens: Floats
    replies: Floats
    tools: Floats
    asks: Floats
    figures: Floats
    same_speaker: Floats
    links: Floats
    held: Floats
    held_together: Floats
    terms: int
    begins: bool


def features(seen: EarlierWords) -> Mapping[str, Floats]:
    """Return every feature of every candidate, by name."""
    words, around = seen.words / _WORDS, seen.words_around / _AROUND
    best, mean = _over(seen.sitting, seen.cosine)
    best_around, mean_around = _over(seen.sitting, seen.around)
    best_words, mean_words = _over(seen.sitting, words)
    best_words_around, mean_words_around = _over(seen.sitting, around)
    best_matter, mean_matter = _over(seen.sitting, seen.matter)
    words_before, words_after = _beside(seen.sitting, words)
    before, after = _beside(seen.sitting, seen.cosine)
    long_ago = np.log1p(np.maximum(seen.days, 0.0))
    short = 1.0 / (1.0 + seen.terms / 4.0)
    opening = 1.0 if seen.begins else 0.0
    return {
        "cosine": seen.cosine,
        "around": seen.around,
        "matter": seen.matter,
        "words": words,
        "words_around": around,
        "best": best,
        "mean": mean,
        "best_around": best_around,
        "mean_around": mean_around,
        "best_words": best_words,
        "mean_words": mean_words,
        "best_words_around": best_words_around,
        "mean_words_around": mean_words_around,
        "best_matter": best_matter,
        "mean_matter": mean_matter,
        "words_before": words_before,
        "words_after": words_after,
        "before": before,
        "after": after,
        "long_ago": long_ago,
        "replies": seen.replies,
        "tools": seen.tools,
        "asks": seen.asks,
        "figures": seen.figures,
        "same_speaker": seen.same_speaker,
        "length": np.log1p(seen.tokens),
        "rank": _rank(seen.cosine),
        "rank_around": _rank(seen.around),
        "rank_words": _rank(words + 1e-3 * seen.cosine),
        "rank_words_around": _rank(around + 1e-3 * seen.around),
        "rank_sitting": _rank(best),
        "rank_sitting_around": _rank(best_around),
        "short_long_ago": short * long_ago,
        "short_cosine": short * seen.cosine,
        "short_around": short * seen.around,
        "opening_long_ago": opening * long_ago,
        "opening_cosine": opening * seen.cosine,
        "opening_words": opening * best_words,
        "opening_best": opening * best,
    }


def rival_features(seen: EarlierWords) -> Mapping[str, Floats]:
    """Return every feature of `context-2027-02`: those before it, and how a sitting stands to its rivals."""
    rows = dict(features(seen))
    legs = {
        "cosine": seen.cosine,
        "around": seen.around,
        "matter": seen.matter,
        "words": seen.words,
        "words_around": seen.words_around,
        "held": seen.held_together,
    }
    for name, values in legs.items():
        rows[f"standing_{name}"], rows[f"margin_{name}"] = _against(seen.sitting, values)
    count = len(seen.cosine)
    rows["held"], rows["held_together"], rows["link"] = seen.held, seen.held_together, seen.links
    rows["other_linked"] = (seen.links == 0.0) * float(bool(np.any(seen.links > 0.0)))
    _, place, sizes = np.unique(seen.sitting, return_inverse=True, return_counts=True)
    since = np.zeros(len(sizes))
    since[place] = seen.days
    rows["recent"] = np.log1p(np.argsort(np.argsort(since, kind="stable"), kind="stable")[place])
    rows["opening_recent"] = rows["recent"] * float(seen.begins)
    rows["short_recent"] = rows["recent"] / (1.0 + seen.terms / 4.0)
    rows["size"] = np.log(sizes[place])
    rows["candidates"] = np.full(count, np.log(max(count, 1)))
    return rows


def relevances(seen: EarlierWords, *, vectors: bool, policy: str = RIVALS) -> Floats:
    """Return how well each candidate answers to the message, as log-odds; by words where no `vectors` are."""
    rows = rival_features(seen) if policy == RIVALS else features(seen)
    kind = "vectors" if vectors else "words"
    need, matter = (_judged(rows, f"{CONTEXT_WEIGHTS[policy]}.{kind}.{judge}") for judge in (NEED, MATTER))
    return need + MATTER_SHARE * np.minimum(matter, MOST_MATTER)


def statement_worth(*, vectors: bool) -> float:
    """Return the log-odds that stating what lasts adds to what `relevances` gives."""
    return dict(_weights(f"{CONTEXT_WEIGHTS[RIVALS]}.{'vectors' if vectors else 'words'}.{NEED}"))[STATES]


def bearing(seen: EarlierWords, *, vectors: bool) -> Floats:
    """Return how far each text bears on the message itself, in [0, 1]: so much counts what it states.

    What shares none of its words and means something else states another matter, however well. Without
    vectors nothing tells what a text means.
    """
    if not vectors:
        return np.ones(len(seen.words))
    near = np.clip((np.maximum(seen.cosine, seen.around) - _APART) / (_NEAR - _APART), 0.0, 1.0)
    return np.where(seen.words > 0, 1.0, near)


def _judged(rows: Mapping[str, Floats], address: str) -> Floats:
    weights = _weights(address)
    score: Floats = sum(
        (weight * rows[name] for name, weight in weights if name not in (BIAS, STATES)),
        np.zeros(len(rows["cosine"])),
    )
    return score + dict(weights)[BIAS]


@cache
def _weights(address: str) -> Sequence[tuple[str, float]]:
    return tuple(numbers(address).items())


def fading(count: int) -> Floats:
    """Return what each of the last messages weighs beside the message itself, in order of time.

    >>> fading(2).tolist()
    [0.5625, 0.75]
    """
    weights: Floats = FADING ** np.arange(count, 0, -1, dtype=np.float64)
    return weights


def _over(sitting: Ints, values: Floats) -> tuple[Floats, Floats]:
    """Return the greatest value and the mean of the sitting each is in."""
    if not len(values):
        return values, values
    _, place, counts = np.unique(sitting, return_inverse=True, return_counts=True)
    most = np.full(len(counts), -np.inf)
    np.maximum.at(most, place, values)
    mean = np.bincount(place, weights=values) / counts
    return most[place], mean[place]


def _against(sitting: Ints, values: Floats) -> tuple[Floats, Floats]:
    """Return how each sitting's best stands to all of them: in spreads from the mean, and to the best."""
    if not len(values):
        return values, values
    _, place = np.unique(sitting, return_inverse=True)
    most = np.full(int(place.max()) + 1, -np.inf)
    np.maximum.at(most, place, values)
    standing = (most - most.mean()) / (most.std() + 1e-6)
    return standing[place], (most - most.max())[place]


def _beside(sitting: Ints, values: Floats) -> tuple[Floats, Floats]:
    """Return what stands before and after each in its sitting, 0 where nothing does."""
    before, after = np.zeros(len(values)), np.zeros(len(values))
    if len(values) > 1:
        same = sitting[1:] == sitting[:-1]
        before[1:] = np.where(same, values[:-1], 0.0)
        after[:-1] = np.where(same, values[1:], 0.0)
    return before, after


def _rank(values: Floats) -> Floats:
    """Return the logarithm of the place of each among all, the best 0."""
    places = np.empty(len(values))
    places[np.argsort(-values.round(6), kind="stable")] = np.arange(len(values))
    ranks: Floats = np.log1p(places)
    return ranks
