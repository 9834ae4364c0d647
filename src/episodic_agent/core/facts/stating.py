"""Does a sentence state something that lasts, and of what kind? Judged by its form, its words, its meaning.

The weights (`data/facts/stating.npz`, made by `tools/train_facts.py`) are of two judges: one reads form,
words and the vector of the embedding model that it was trained with, the other form and words alone, for
every other embedder and for none. Each is a weighed sum, a column for "this lasts" and one a category.

*Form* is what holds in any language: who is spoken of, a question or a request, hedges, negations, numbers,
length (`data/facts/cues.toml` lists the words).

How much of what is said lasts differs from talk to talk: statements that somebody puts down one after another
nearly all do, a week's chatter hardly ever. So a judge also hears what the talk before was like, and
asks more where little of it lasted, as a classifier is moved to another prior (Saerens, Latinne and
Decaestecker, Neural Computation 14, 2002).

Whether a statement is a standing wish, how whoever remembers it is to answer or to work, a judge of its own
tells (`data/facts/wishing.npz`, read the same two ways): wishes are told with every message, so one that is
none costs a line each time, and of eight categories the right one is found for half.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import groupby, pairwise
from math import exp, log
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from episodic_agent.core.episodes.languages import ASSISTANTS, SOURCES
from episodic_agent.core.language import fold, sentences, words
from episodic_agent.core.language.remembering import remembered
from episodic_agent.core.language.terms import script
from episodic_agent.data import arrays, phrases, texts
from episodic_agent.schemas import Vector
from episodic_agent.schemas.facts import Category

WEIGHTS: Final = "facts/stating.npz"
WISHING: Final = "facts/wishing.npz"
WISH: Final = 0.35  # from which a statement that lasts is a standing wish
SURE_WISH: Final = 0.55  # and from which it lasts for that alone, or is a wish at all in a long entry
EMBEDDER: Final = "minilm-f32-1"  # the model whose vectors the judge knows
KNOWN_EMBEDDERS: Final = (EMBEDDER, "minilm-int8-1")  # the same model in 8 bits: cosines of .997 to it
CATEGORIES: Final = tuple(Category)
SHORT: Final = 160  # characters: a message so short is one statement, however many sentences it has
LONG_ENTRY: Final = 400  # characters: a diary's entry, hardly a sentence of which is said to who remembers it
LONGEST: Final = 2_000  # characters: what is longer was pasted, not said
LAST_HEARD: Final = 100  # statements before one that say what the talk is like
EVEN: Final = 0.5  # the share that lasts of talk nobody has heard yet
_UNHEARD: Final = 20.0  # statements that the even share weighs as many as
# share: talk of which less lasts asks no more; words alone tell too little of short statements to ask as much
_LOWEST: Final = {"meaning": 0.32, "words": 0.363}
_PULL: Final = 1.6  # log-odds for each of the share's
_FRESH: Final = 0.6  # log-odds by which a statement of talk nobody has heard yet is believed sooner
STATEMENTS: Final = 6  # of a long message, that a search or a context judges: all of them bring no more
NO_WISH: Final = 1.1  # no statement is as likely one
_ASKS, _WISHES, _STATES = "asks", "wishes", "states"  # what a sentence does
_UNSPACED: Final = frozenset({"han", "kana", "thai"})
_BEGINNING: Final = 2  # words that open a sentence
_NUMBER: Final = re.compile(r"\d")
_MONEY: Final = re.compile(
    r"[€$£¥₹]|\d\s?(?:k|eur|euro|usd|gbp|quid|bucks|元|块|万|円|원|тыс|руб|tl|zł)\b", re.IGNORECASE
)
_TIME: Final = re.compile(r"\b\d{1,2}(?:[:.]\d{2}|\s?(?:am|pm|uhr|h)\b)|\d\s?[点时時시]", re.IGNORECASE)
_CODE: Final = re.compile(r"[`{}<>]|[\w.]\(\)|\w_\w|\w[./]\w+[./]\w|--\w|==|=>|\b[0-9a-f]{7,40}\b")
_QUOTED: Final = re.compile(r"[\"“”„«»「」『』]|(?:^|\s)>")
_ASKED: Final = re.compile(r"[?？؟][\s\"'”’)»\u2600-\u27bf\U0001f300-\U0001faff]*$")
_EMOJI: Final = re.compile(r"[\U0001f300-\U0001faff☀-➿]")
_CAPITAL: Final = re.compile(r"(?<=[\w,;:] )[A-ZÀ-ÖØ-ÞА-Я][\w'’-]+")
_ASKS_INSIDE: Final = re.compile(r"[?？؟]")
_ASKED_BEFORE: Final = re.compile(r"[?？؟]\s*$")
_LOOKS: Final = (
    ("number", _NUMBER),
    ("money", _MONEY),
    ("clock", _TIME),
    ("code", _CODE),
    ("quotes", _QUOTED),
    ("name", _CAPITAL),
)
_TOGETHER: Final = (
    ("self", "ask"),
    ("self", "hedge"),
    ("self", "passing"),
    ("self", "number"),
    ("self", "care"),
    ("kin", "self"),
)
_MARKS: Final = {"?": "?", "？": "?", "؟": "?", "!": "!", "！": "!", "…": "…", "。": ".", ".": ".", ":": ":"}


_Spans = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class _Judge:
    """A judge's columns: weights by sign, [signs, k]; of a vector, [d, k] or None; what stands without."""

    places: dict[str, int]
    weights: NDArray[np.float32]
    vector: NDArray[np.float32] | None
    base: NDArray[np.float32]


@cache
def _judges(file: str = WEIGHTS) -> tuple[_Judge, _Judge]:
    """Read the judge with vectors and the one without of a file, once."""
    judges = arrays(file)

    def read(kind: str, vector: NDArray[np.float32] | None) -> _Judge:
        names = judges[f"{kind}_signs"].tobytes().decode().split("\n")
        places = {name: place for place, name in enumerate(names)}
        weights, base = (judges[f"{kind}_{part}"].astype(np.float32) for part in ("weights", "base"))
        return _Judge(places, weights, vector, base)

    return read("meaning", judges["meaning_vector"].astype(np.float32)), read("words", None)


class Judgement(NamedTuple):
    """How likely a statement tells what lasts, in [0, 1]; its category; how likely it is a standing wish."""

    likelihood: float
    category: Category
    wish: float


def judged(
    text: str,
    before: str = "",
    vector: Vector | None = None,
    share: float | None = None,
    least_wish: float = WISH,
) -> Judgement:
    """Return how likely a statement tells something that lasts, its category, how likely it is a wish.

    `before` is what somebody else said just before it, `vector` [384] that of `EMBEDDER`, None: none. `share`
    is that of what lasts in the talk before it (`share_of`), None: it is judged by itself alone. `least_wish`
    is how likely it must be a standing wish to be called one.
    """
    total = _sums(WEIGHTS, text, before, vector)
    likely = _lasts(total, share, meaning=vector is not None)
    wished = wish(text, vector)
    if wished >= least_wish:
        return Judgement(likely, Category.GUIDELINE, wished)
    others = [n for n, kind in enumerate(CATEGORIES) if kind is not Category.GUIDELINE]
    return Judgement(likely, CATEGORIES[max(others, key=lambda n: float(total[1 + n]))], wished)


def lasts(text: str, before: str = "") -> float:
    """Return how likely a statement lasts, in [0, 1], by its words and by itself alone."""
    return _lasts(_sums(WEIGHTS, text, before, None), None, meaning=False)


def by_shares(text: str, before: str, vector: Vector | None, shares: Sequence[float]) -> list[float]:
    """Return the likelihood of `judged` in talk of each of these shares, without category and wish.

    >>> quiet, even = by_shares("I'm allergic to walnuts.", "", None, (0.0, EVEN))
    >>> quiet < even
    True
    """
    total = _sums(WEIGHTS, text, before, vector)
    return [_lasts(total, share, meaning=vector is not None) for share in shares]


def _lasts(total: NDArray[np.float32], share: float | None, *, meaning: bool) -> float:
    return _logistic(float(total[0]) + (0.0 if share is None else moved(share, meaning=meaning)))


def wish(text: str, vector: Vector | None = None) -> float:
    """Return how likely a statement is a standing wish: how to answer, or to work, from now on; in [0, 1].

    `vector` [384] is that of `EMBEDDER`, None: none.
    """
    return likely(WISHING, text, vector)


def likely(file: str, text: str, vector: Vector | None = None) -> float:
    """Return how likely a judge of one column, by its file, holds a text for what it looks for; in [0, 1].

    `vector` [384] is that of `EMBEDDER`, None: none.
    """
    return _logistic(float(_sums(file, text, "", vector)[0]))


def vector_of(file: str) -> Vector:
    """Return the direction [384] in which what a judge of one column looks for lies, by its file."""
    vector = _judges(file)[0].vector
    if vector is None:
        raise ValueError(f"{file} has no judge that reads vectors")
    direction: Vector = vector[:, 0] / np.linalg.norm(vector[:, 0])
    return direction


def _sums(file: str, text: str, before: str, vector: Vector | None) -> NDArray[np.float32]:
    """Return the sums of a judge's columns, [k]."""
    total = _sums_of_words(text, _ASKED_BEFORE.search(before) is not None, file, vector is not None)
    judge = _judges(file)[0]
    if vector is not None and judge.vector is not None:
        total = total.copy()
        total += vector @ judge.vector
    return total


@remembered(4_096)  # read when it comes, when it is quoted, when it is heard again and when it is weighed
def _sums_of_words(text: str, answers: bool, file: str, meaning: bool) -> NDArray[np.float32]:
    """Return what a judge's columns are without a vector, of the judge with vectors or the one without."""
    with_meaning, by_words = _judges(file)
    judge = with_meaning if meaning else by_words
    rows = [place for place in map(judge.places.get, _signs(text, answers=answers)) if place is not None]
    total: NDArray[np.float32] = judge.base + judge.weights[rows].sum(0)
    total.setflags(write=False)
    return total


def _logistic(total: float) -> float:
    return 1.0 / (1.0 + exp(-min(max(total, -30.0), 30.0)))


def share_of(chances: Sequence[float]) -> float:
    """Return the share of what lasts in talk, in (0, 1), from how likely each of its last statements does.

    >>> share_of([]), round(share_of([0.05] * LAST_HEARD), 3), round(share_of([0.9] * 10), 3)
    (0.5, 0.125, 0.633)
    """
    last = chances[-LAST_HEARD:]
    return (_UNHEARD * EVEN + sum(last)) / (_UNHEARD + len(last))


def moved(share: float, *, meaning: bool) -> float:
    """Return by how much, in log-odds, a statement in talk of such a share is believed sooner (or later).

    >>> moved(0.5, meaning=True), round(moved(0.125, meaning=True), 2), round(moved(0.125, meaning=False), 2)
    (0.6, -0.61, -0.3)
    """
    share = min(max(share, _LOWEST["meaning" if meaning else "words"]), EVEN)
    return _PULL * log(share / (1.0 - share)) + _FRESH


def chances(text: str, language: str | None = None) -> tuple[float, ...]:
    """Return how likely each statement of a message lasts, by words alone."""
    return () if len(text) > LONGEST else _chances(text, language)


@lru_cache(maxsize=4_096)  # each is heard again by the hundred statements after it
def _chances(text: str, language: str | None) -> tuple[float, ...]:
    totals = (_sums(WEIGHTS, text[start:end], "", None) for start, end in parts_of(text, language))
    return tuple(_lasts(total, None, meaning=False) for total in totals)


def parts_of(text: str, language: str | None = None, *, wishes: bool = True) -> list[tuple[int, int]]:
    """Return the places of a message's statements: all of a short one, the sentences of a longer one.

    What a short one states, asks and wishes are apart: a question beside it makes no statement less lasting.
    Without `wishes` these stand with what is stated, so that the judge that tells them can be taught.

    >>> parts_of("I'm vegetarian. And allergic to walnuts.")
    [(0, 40)]
    >>> parts_of("I'm vegetarian. And allergic to walnuts. What can I cook?")
    [(0, 40), (41, 57)]
    """
    stripped = text.strip()
    if not stripped or len(text) > LONGEST:
        return []
    short = len(stripped) <= SHORT and "\n\n" not in stripped
    places = []
    at = 0
    for sentence in sentences(text, language):
        at = text.index(sentence, at)
        places.append((at, at + len(sentence)))
        at += len(sentence)
    return _together(text, places, wishes=wishes) if short else places


def _together(text: str, places: Sequence[tuple[int, int]], *, wishes: bool) -> list[tuple[int, int]]:
    """Return the sentences of a short message as its statements: what is asked or wished apart from the rest.

    "The rate is 960 euros. Please answer in English." is news, which other news may end, and a wish, which
    they may not.
    """
    if len(places) == 1:
        return list(places)
    result: list[tuple[int, int]] = []
    kinds = [_kind_of(text[slice(*place)], wishes=wishes) for place in places]
    for kind, some in groupby(zip(kinds, places, strict=True), key=lambda one: one[0]):
        row = [place for _, place in some]
        result += row if kind == _ASKS else [(row[0][0], row[-1][1])]
    return [(places[0][0], places[-1][1])] if all(kind == _ASKS for kind in kinds) else result


def _kind_of(sentence: str, *, wishes: bool) -> str:
    if _ASKED.search(sentence):
        return _ASKS
    return _WISHES if wishes and wish(sentence) >= SURE_WISH else _STATES


def is_person(actor: str) -> bool:
    """Tell whether what is said is a person's: assistants and devices say nothing about people."""
    return fold(actor) not in ASSISTANTS | SOURCES


def lasting(actor: str, text: str, language: str | None = None, most: int | None = None) -> float:
    """Return in [0, 1] how likely a person states what lasts, by words alone, in the first `most` statements.

    >>> lasting("Tom", "I'm allergic to walnuts.") > 0.5 > lasting("Tom", "what time is it?")
    True
    >>> lasting("assistant", "I'm allergic to walnuts.")
    0.0
    """
    if not is_person(actor):
        return 0.0
    return max(chances(text, language)[:most], default=0.0)


def signs(text: str, before: str = "") -> tuple[str, ...]:
    """Return what a statement is judged by, each sign once: its form (":name"), its words and their pairs.

    >>> [sign for sign in signs("Can you call me Nik?") if sign.startswith(":ends")]
    [':ends ?']
    """
    return _signs(text, answers=_ASKED_BEFORE.search(before) is not None)


def _signs(text: str, *, answers: bool) -> tuple[str, ...]:
    look, rest = _signs_alone(text)
    return (*look, ":answers", *rest) if answers else (*look, *rest)


@lru_cache(maxsize=4_096)  # read when it comes, when it is quoted and when it is weighed
def _signs_alone(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return a statement's signs whatever was said before it: how it is written, then its cues and words."""
    row = words(text)
    unspaced = script(text) in _UNSPACED
    length = len(text) // 2 if unspaced else len(row)
    stripped = text.rstrip("\"'”’)» ")
    look = [f":length {min(length.bit_length(), 6)}", f":ends {_MARKS.get(stripped[-1:], 'plain')}"]
    look += [":ends emoji"] if _EMOJI.match(stripped[-1:]) else []
    look += [f":{name}" for name, pattern in _LOOKS if pattern.search(text)]
    look += [":asks inside"] if _ASKS_INSIDE.search(stripped[:-1]) else []
    cues = _cues(text, row)
    form = [f":{name}" for name in sorted(cues)]
    opening = _cues(" ".join(row[:_BEGINNING]) if not unspaced else text[:4], row[:_BEGINNING])
    form += [f":begins {name}" for name in sorted(opening)]
    together = {*look, *form}
    form += [f":{a} and {b}" for a, b in _TOGETHER if f":{a}" in together and f":{b}" in together]
    form += [] if "self" in cues or "kin" in cues else [":nobody"]
    if unspaced:
        han = [c for c in text if c.isalnum()]
        spoken_words = [*han, *("".join(pair) for pair in pairwise(han))]
    else:
        plain = ["0" * len(word) if word.isdecimal() else word for word in row]
        spoken_words = [*plain, *(f"{a} {b}" for a, b in zip(["^", *plain], [*plain, "$"], strict=True))]
        spoken_words += [f"{word[:4]}-" for word in plain if len(word) > 5]  # stems, roughly, of any language
        spoken_words += _endings(plain, script(text))
    return tuple(look), tuple(dict.fromkeys((*form, *spoken_words)))


def _endings(row: Sequence[str], written: str) -> list[str]:
    """Return how the last word ends, in Korean each: where verbs come last, their ends tell orders apart.

    >>> _endings(["kahve", "içmiyorum"], "latin"), _endings(["쓰지", "말아줘"], "hangul")
    (['um$', 'rum$'], ['지$', '줘$', '아줘$'])
    """
    korean = written == "hangul"
    least = 1 if korean else 2
    words_read = row if korean else row[-1:]
    return [f"{word[-n:]}$" for word in words_read for n in (least, least + 1) if len(word) > n]


def has_cue(text: str, name: str) -> bool:
    """Tell whether a text has a word of a list of `data/facts/cues.toml`.

    >>> has_cue("I've lived here since May", "since"), has_cue("a sincere word", "since")
    (True, False)
    """
    return name in _cues_of(text)


@lru_cache(maxsize=4_096)  # what is known is asked again with each new statement
def _cues_of(text: str) -> frozenset[str]:
    return _cues(text, words(text))


def _cues(text: str, row: Sequence[str]) -> frozenset[str]:
    """Return the names of the cue lists that a text has words of."""
    plain, ascii_spans, other_spans = _cue_words()
    result = {name for word in row for name in plain.get(word, ())}
    line = " ".join(row)
    for joint in _joints(line):
        result.update(name for form, name in ascii_spans.get(joint, ()) if form in line)
    if not text.isascii():
        result.update(name for form, name in other_spans if form in line or form in text)
    return frozenset(result)


def _joints(line: str) -> Iterator[str]:
    """Yield the letters on both sides of each space: few forms of several words have them as their first.

    >>> list(_joints("so to speak"))
    ['ot', 'os']
    """
    pieces = line.split(" ")
    return (before[-1:] + after[:1] for before, after in pairwise(pieces))


@cache
def _cue_words() -> tuple[dict[str, tuple[str, ...]], dict[str, _Spans], _Spans]:
    """Return single words with their lists; then forms of several words with theirs.

    Those in ASCII are found by the letters around their first space.
    """
    plain: dict[str, tuple[str, ...]] = {}
    spans: list[tuple[str, str]] = []
    for name in texts("facts/cues"):
        for entry in phrases(f"facts/cues.{name}"):
            folded = " ".join(words(entry))
            if script(entry) in _UNSPACED or script(entry) == "hangul":
                spans.append((entry, name))
            elif " " in folded:
                spans.append((folded, name))
            else:
                plain[folded] = (*plain.get(folded, ()), name)
    in_ascii: dict[str, _Spans] = {}
    for span in spans:
        if span[0].isascii():
            joint = next(_joints(span[0]))
            in_ascii[joint] = (*in_ascii.get(joint, ()), span)
    return plain, in_ascii, tuple(span for span in spans if not span[0].isascii())
