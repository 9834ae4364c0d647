"""Does what somebody says now take the place of something they said before? Judged by a pair of statements.

Moved, changed, cancelled, corrected, put off: the later words name the same matter and another state of it. A
weighed sum over features of the pair: what the two share, how alike they are built, words of change, how near
they are beside other statements, whether they are wishes how to answer; the words that only the newer one
has, that only the older one has and that both have; and both vectors. The weights
(`data/facts/replacing.npz`, made by `tools/train_facts.py`) are of two judges: one for pairs with vectors,
one for pairs without.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache, lru_cache
from itertools import repeat
from math import exp, fsum, log, log1p
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from episodic_agent.core.facts.stating import signs, wish
from episodic_agent.core.language import fold, tokens
from episodic_agent.core.language.coming import named_days
from episodic_agent.core.language.recurring import changed_days, recurring_days, skipped_days
from episodic_agent.core.language.timewords import normal
from episodic_agent.data import arrays
from episodic_agent.schemas import Vector
from episodic_agent.schemas.facts import Category

WEIGHTS: Final = "facts/replacing.npz"
NEWER, BOTH, OLDER = "+", "=", "-"  # before a word: which of the two statements has it
_THRESHOLD: Final = 0.7  # from which a statement counts as replaced
_THRESHOLD_WORDS: Final = 0.8  # and without vectors
_UNLIKELY: Final = -2.0  # log-odds below which nothing is replaced, whatever it speaks of
_BEGINNING: Final = 4  # words from which on a beginning is wholly the same
_NUMBERS: Final = re.compile(r"\d+(?:[.,:]\d+)*")
_WORD: Final = re.compile(r"\w+")
_UNSPACED: Final = re.compile("[\u3040-\u30ff\u4e00-\u9fff]")
_STATES: Final = {f":{name}": name for name in ("change", "negation", "passing", "hedge", "number", "kin")}
_BEFORE: Final = {sign: f"before {name}" for sign, name in _STATES.items()}


@dataclass(frozen=True, slots=True, eq=False)
class JudgedStatement:
    """A statement as pairs are judged: its words, when it was said, its category, its vector [d] or None.

    Time tells nothing of a pair but which of the two is the older.
    """

    text: str
    at: datetime
    category: Category
    vector: Vector | None = None


@dataclass(frozen=True, slots=True)
class _Read:
    """A statement's terms, numbers and signs; its words in order, as a set, the places of each as bits.

    `states` are the features that its signs alone tell as those of the newer statement, `states_before` as of
    the older.
    `wish` is how likely it is a standing wish, by words: a wish is taken back by another, and by no news.
    """

    terms: frozenset[str]
    numbers: frozenset[str]
    form: frozenset[str]
    states: Mapping[str, float]
    states_before: Mapping[str, float]
    row: tuple[str, ...]
    words: frozenset[str]
    places: Mapping[str, int]
    wish: float


@dataclass(frozen=True, slots=True)
class _PairJudge:
    """A judge's weights by feature, and by word: of words that the newer statement has, both, the older one.

    `vectors` are of the older and the newer vector, [2, d] or None; `base` is what stands without any.
    """

    weights: Mapping[str, float]
    newer: Mapping[str, float]
    both: Mapping[str, float]
    older: Mapping[str, float]
    vectors: NDArray[np.float32] | None
    base: float


class _WeighedWords(NamedTuple):
    """What a judge gives for a statement's words and states, as the newer one of a pair and as the older."""

    newer: Mapping[str, float]
    older: Mapping[str, float]
    states: Sequence[float]
    states_before: Sequence[float]


def features(
    older: JudgedStatement, newer: JudgedStatement, rivals: Sequence[float] = ()
) -> dict[str, float]:
    """Return what a pair is judged by; `rivals` are the newer one's cosines with others it may replace.

    With no vector on either side the features of meaning are left out.
    """
    before, after = _read(older.text), _read(newer.text)
    row = {**after.states, **before.states_before, **_form(before, after, older, newer, rivals)}
    row |= {f"{NEWER}{word}": 1.0 for word in after.words - before.words}
    row |= {f"{BOTH}{word}": 1.0 for word in after.words & before.words}
    row |= {f"{OLDER}{word}": 1.0 for word in before.words - after.words}
    return row


def _form(
    before: _Read, after: _Read, older: JudgedStatement, newer: JudgedStatement, rivals: Sequence[float]
) -> dict[str, float]:
    """Return the features of a pair but for its words and for what the signs of one alone tell."""
    form, old_form = after.form, before.form
    change, negation = after.states["change"], after.states["negation"]
    shared = len(before.terms & after.terms)
    least, most = min(len(before.terms), len(after.terms)), len(before.terms | after.terms)
    row = {
        "shared": log1p(shared),
        "overlap": shared / least if least else 0.0,
        "jaccard": shared / most if most else 0.0,
        "same numbers": float(bool(after.numbers and after.numbers == before.numbers)),
        "other numbers": float(bool(after.numbers and before.numbers) and not after.numbers & before.numbers),
        "repeated": float(before.terms == after.terms),
        "category": float(older.category is newer.category),
        "short": float(len(after.terms) <= 3),
        "care": float(":care" in form and ":care" in old_form),
        "care forgotten": float(":care" in old_form and ":care" not in form),
    }
    row["other numbers of it"] = row["other numbers"] * row["overlap"]
    row["wish"], row["before wish"] = after.wish, before.wish
    row["wish of wish"] = after.wish * before.wish
    row["none of wish"] = (1.0 - after.wish) * before.wish
    row["change of it"] = change * row["overlap"]
    row["negation of it"] = negation * row["overlap"]
    _put_frame(row, before, after)
    row["change in frame"] = change * row["frame"]
    if older.vector is not None and newer.vector is not None:
        cosine = float(older.vector @ newer.vector)
        row["cosine"] = cosine
        row["near"] = max(0.0, cosine - 0.5)
        row["margin"] = cosine - max(rivals, default=0.0)
        row["nearest"] = float(all(cosine >= other for other in rivals))
        row["change nearby"] = change * cosine
        row["other numbers nearby"] = row["other numbers"] * cosine
    return row


def likelihood(older: JudgedStatement, newer: JudgedStatement, rivals: Sequence[float] = ()) -> float:
    """Return how likely the newer statement takes the older one's place, in [0, 1].

    A vector is that of `stating.EMBEDDER`.
    """
    with_meaning, by_words = _judges()
    meant = older.vector is not None and newer.vector is not None
    judge = with_meaning if meant else by_words
    before, after = _read(older.text), _read(newer.text)
    form = _form(before, after, older, newer, rivals)
    mine, others = _weighed(newer.text, meant), _weighed(older.text, meant)
    weights, shared = judge.weights, after.words & before.words
    # exactly: the words come in the order of a set, which differs from run to run
    total = fsum(
        [
            judge.base,
            *mine.states,
            *others.states_before,
            *[weights[name] * value for name, value in form.items() if value and name in weights],
            *_of_others(mine.newer, shared),
            *_of_others(others.older, shared),
            *map(judge.both.get, shared, repeat(0.0)),
        ]
    )
    if older.vector is not None and newer.vector is not None and judge.vectors is not None:
        total += float(older.vector @ judge.vectors[0]) + float(newer.vector @ judge.vectors[1])
    if total > _UNLIKELY and _is_of_one_day(older.text, newer.text, newer.at.date()):
        return 0.0
    return 1.0 / (1.0 + exp(-max(-30.0, min(30.0, total))))


def rivals_of(cosines: Sequence[float]) -> list[tuple[float, ...]]:
    """Return for each of what may be replaced its nearest rival's cosine, the only one that counts.

    >>> rivals_of([0.2, 0.9, 0.4]), rivals_of([0.3])
    ([(0.9,), (0.4,), (0.9,)], [()])
    """
    if len(cosines) < 2:
        return [()] * len(cosines)
    best = max(range(len(cosines)), key=cosines.__getitem__)
    second = max(cosine for place, cosine in enumerate(cosines) if place != best)
    return [(second,) if place == best else (cosines[best],) for place in range(len(cosines))]


@lru_cache(maxsize=4_096)  # each is compared with all that is known
def _weighed(text: str, meant: bool) -> _WeighedWords:
    judge = _judges()[0 if meant else 1]
    read = _read(text)
    newer, older = (
        {word: weights[word] for word in read.words if word in weights}
        for weights in (judge.newer, judge.older)
    )
    states, before = (
        [judge.weights.get(name, 0.0) for name, value in some.items() if value]
        for some in (read.states, read.states_before)
    )
    return _WeighedWords(newer, older, states, before)


def _of_others(weights: Mapping[str, float], shared: frozenset[str]) -> Collection[float]:
    """Return the weights of words but for those that both statements have."""
    if shared.isdisjoint(weights):
        return weights.values()
    return [weight for word, weight in weights.items() if word not in shared]


@lru_cache(maxsize=4_096)
def _is_of_one_day(older: str, newer: str, today: date) -> bool:
    """Tell whether the newer statement is of one day, or one week, on which what comes again is otherwise.

    "No football this Wednesday" does not take the place of "football is every Wednesday".
    """
    before, after = normal(older), normal(newer)
    if not recurring_days(before, today) or recurring_days(after, today) or changed_days(after, today):
        return False
    return bool(skipped_days(after, named_days(after, today)))


def threshold(meaning: bool) -> float:
    """Return the likelihood from which a statement counts as replaced, with vectors and without."""
    return _THRESHOLD if meaning else _THRESHOLD_WORDS


@cache
def _judges() -> tuple[_PairJudge, _PairJudge]:
    """Read the judge with vectors and the one without, once."""
    judges = arrays(WEIGHTS)

    def read(kind: str, vectors: NDArray[np.float32] | None) -> _PairJudge:
        names = judges[f"{kind}_signs"].tobytes().decode().split("\n")
        values = judges[f"{kind}_weights"].astype(float).tolist()
        weights = dict(zip(names, values, strict=True))
        newer, both, older = (
            {name[1:]: weight for name, weight in weights.items() if name[0] == place}
            for place in (NEWER, BOTH, OLDER)
        )
        return _PairJudge(weights, newer, both, older, vectors, float(judges[f"{kind}_base"][0]))

    return read("meaning", judges["meaning_vectors"].astype(np.float32)), read("words", None)


def _put_frame(row: dict[str, float], before: _Read, after: _Read) -> None:
    """Put how alike two statements are built: "my X is A now" beside "my X is B"."""
    older, newer = len(before.row), len(after.row)
    common = _in_common(before, after)
    same = 0
    for word, other in zip(before.row[:_BEGINNING], after.row, strict=False):
        if word != other:
            break
        same += 1
    row["frame"] = common / max(1, older, newer)
    row["frame before"] = common / max(1, older)
    row["frame after"] = common / max(1, newer)
    row["same beginning"] = same / _BEGINNING
    row["longer"] = log((newer + 1) / (older + 1))


def _in_common(before: _Read, after: _Read) -> int:
    """Return the length of the longest common subsequence of words, a row of it a number's bits.

    Hyyrö, Bit-parallel LCS-length computation revisited, 2004.
    """
    shared = before.words & after.words
    if not shared:
        return 0
    every = (1 << len(before.row)) - 1
    open_places = every
    for word in after.row:
        if word not in shared:  # it changes nothing
            continue
        here = open_places & before.places[word]
        open_places = ((open_places + here) | (open_places - here)) & every
    return len(before.row) - open_places.bit_count()


@lru_cache(maxsize=4_096)
def _read(text: str) -> _Read:
    row: list[str] = []
    for word in _WORD.findall(fold(text)):
        # languages without spaces: pairs of characters
        pairs = [word[n : n + 2] for n in range(max(1, len(word) - 1))] if _UNSPACED.search(word) else [word]
        row += pairs
    places: dict[str, int] = {}
    for n, word in enumerate(row):
        places[word] = places.get(word, 0) | 1 << n
    form = frozenset(signs(text))
    return _Read(
        frozenset(tokens(text)),
        frozenset(_NUMBERS.findall(text)),
        form,
        {name: float(sign in form) for sign, name in _STATES.items()},
        {name: float(sign in form) for sign, name in _BEFORE.items()},
        tuple(row),
        frozenset(row),
        places,
        wish(text),
    )
