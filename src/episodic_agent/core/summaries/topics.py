"""What an episode is about: its key phrases, as they were written, and the title made of them."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain
from math import fsum
from typing import Final

from episodic_agent.core.summaries.clauses import Clause
from episodic_agent.core.summaries.languages import UNSPACED, Phrasebook, is_function_word, phrasebook
from episodic_agent.core.summaries.weak import HAN_BREAK_CHARACTERS, HAN_BREAKS, HAN_DOUBTFUL, LIGHT, WEAK
from episodic_agent.core.text import fold, script, tokens

_MARKS: Final = (  # vowel signs and tones that `\w` leaves out and that belong to their letter
    "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0dff\u0e31-\u0e3a\u0e47-\u0e4e"
    "\u0eb1-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u17b4-\u17d3\u3099\u309a"
)
_LETTERS: Final = rf"(?:[^\W_]+|[{_MARKS}]+)+"
_PIECE, _ASCII_PIECE = (  # the second finds the same in ASCII, in half the time
    re.compile(rf"{letters}(?:(?:[-'’.&/+_]|:(?=\d)){letters})*(?:\+\+|#|%)?|[^\w\s]|\s{{2,}}")
    for letters in (_LETTERS, "[a-zA-Z0-9]+")
)
_UNSIGNED: Final = re.compile(rf"[^\w{_MARKS}]+")
# Verb forms by their endings, where articles do not tell nouns apart well enough.
_VERBS: Final = {
    "es": re.compile(r"..(?:é|ió|ó|rá[ns]?|aron|ieron|aba[ns]?|ando|iendo)$"),
    "pt": re.compile(r"...(?:ando|endo|indo|aram|eram|ei|ou)$"),
    "it": re.compile(r"...(?:ando|endo|iamo|eremo|anno)$"),
    "fr": re.compile(r"...(?:ez|ait|aient)$"),
    "ru": re.compile(r"...(?:ть(?:ся)?|л[аои]?с[ья]|ешь|ете|уют|ует|али|или|[щзшчдлрв]ал|ала|ило|ели)$"),
    "ko": re.compile(r".(?:요|다|까|죠|네)$"),
}
# Nearly every noun has its article in these languages: a phrase never seen after one is doubtful.
_ARTICLED: Final = frozenset({"es", "fr", "it", "pt", "nl"})
_HAN_RUN: Final = re.compile(
    "|".join([*map(re.escape, HAN_BREAKS), HAN_DOUBTFUL, f"[{HAN_BREAK_CHARACTERS}]", r"[^\w]+", r"_"])
)
_HIRAGANA: Final = re.compile("[\u3041-\u309f]+")
_ARTICLES: Final = {
    "en": "a an the my your his her our their its this that these those some any another",
    # Noun phrases in the letters of `_kind`: content, perhaps joined by a preposition and article to more.
    "es": "el la los las un una unos unas mi mis tu tus su sus nuestro nuestra este esta ese esa",
    "fr": "le la les l un une des mon ma mes ton ta tes son sa ses notre nos votre vos leur leurs ce cette",
    "it": "il lo la i gli le l un uno una mio mia suo sua nostro nostra questo questa",
    "pt": "o a os as um uma meu minha seu sua nosso nossa este esta esse essa",
    "nl": "de het een mijn jouw zijn haar ons onze dit dat deze die",
}
_DETERMINERS: Final = {language: frozenset(words.split()) for language, words in _ARTICLES.items()}
# A noun phrase in the letters of `_kind`: content, perhaps joined by one preposition and article to more.
# "to" joins only names and articles ("to Lisbon", "to the sea"): else it begins an infinitive.
_SPAN: Final = re.compile(r"(?P<head>[cNw]+)(?P<tail>(?:jd?|t(?=[Nd])d?)[cNw]+)?")
_SPAN_DE: Final = re.compile(r"(?P<head>[cw]*N+)(?P<tail>jd?[cw]*N+)?")  # German nouns have capitals
_LONGEST: Final = 5  # words of a phrase, joints included
_LONGEST_RUN: Final = 14  # characters of a phrase in a script without spaces
_TITLE_PHRASES: Final = 3
_MORE_PHRASES: Final = 5  # where the best three are single words
_TITLE_LEAST: Final = 5  # words
_TITLE_WORDS: Final = 13
_TITLE_CHARACTERS: Final = 34  # where words cannot be counted
_OPENING: Final = 4  # sentences of a message that phrases are taken from: it begins with its subject
_RELATIVE: Final = 0.35  # share of the best phrase's score that another needs
_KEYWORDS: Final = 8


@dataclass(frozen=True, slots=True)
class Phrase:
    """A key phrase as written, its first place in the episode, its terms and its score."""

    text: str
    place: int
    terms: tuple[str, ...]
    score: float


@dataclass(slots=True)
class _Tally:
    """What is known of one phrase while the sentences are read."""

    forms: dict[str, int]
    place: int
    terms: tuple[str, ...]
    count: int = 0
    marked: int = 0  # seen after an article or possessive: surely a noun phrase
    named: int = 0  # seen in capitals inside a sentence: a name
    weight: float = 0.0


def key_phrases(
    found: Sequence[Clause], weights: Mapping[str, float], language: str, speakers: frozenset[str]
) -> list[Phrase]:
    """Return an episode's key phrases, most telling first, none containing the words of a better one.

    `speakers` are the terms of the speakers' names: no phrase consists of them or ends in one.
    """
    tallies: dict[tuple[str, ...], _Tally] = {}
    terms_of = _reader(language)
    for clause in found:
        if clause.order >= _OPENING:
            continue
        for pieces, marked, named in _phrases(clause.text, language):
            terms = _without_ending(pieces, terms_of, speakers)
            if not terms:
                continue
            form = " ".join(pieces)
            tally = tallies.get(terms)
            if tally is None:
                tally = tallies[terms] = _Tally({}, clause.place, terms)
            tally.forms[form] = tally.forms.get(form, 0) + 1
            tally.count += 1
            tally.marked += marked
            tally.named += named
            tally.weight = max(tally.weight, clause.weight)
    ranked = sorted([_rank(tally, weights, language) for tally in tallies.values()])
    return _distinct(Phrase(text, place, terms, -score) for score, place, text, terms in ranked)


def _without_ending(
    pieces: list[str], terms_of: Callable[[str], tuple[str, ...]], speakers: frozenset[str]
) -> tuple[str, ...]:
    """Drop speakers' names at the end ("skiing Kevin": he is spoken to) and return the terms of the rest."""
    parts = [*map(terms_of, pieces)]
    while parts and speakers.issuperset(parts[-1]):
        parts.pop()
        pieces.pop()
    return tuple(chain.from_iterable(parts))


def keywords(phrases: Sequence[Phrase]) -> list[str]:
    """Return the surface forms of the best key phrases, for metadata."""
    return [phrase.text for phrase in phrases[:_KEYWORDS]]


def title_of(phrases: Sequence[Phrase], who: str, language: str) -> str:
    """Return a title from key phrases and the names of who took part ("" where those say nothing)."""
    book = phrasebook(language)
    chosen: list[Phrase] = []
    length = _length(who)
    limit = (
        _TITLE_CHARACTERS if any(script(phrase.text) in UNSPACED for phrase in phrases[:1]) else _TITLE_WORDS
    )
    for phrase in phrases:
        more = _length(phrase.text) + (1 if chosen else 0)
        if len(chosen) >= (_TITLE_PHRASES if length >= _TITLE_LEAST else _MORE_PHRASES):
            break
        least = _RELATIVE if length >= _TITLE_LEAST else _RELATIVE / 2
        if chosen and (length + more > limit or phrase.score < least * chosen[0].score):
            continue
        chosen.append(phrase)
        length += more
    about = _listed(
        [phrase.text for phrase in sorted(chosen, key=lambda phrase: phrase.place)], book, language
    )
    if not who:
        return about[:1].upper() + about[1:]
    separator = "：" if language in ("zh", "ja") else ": "
    return f"{who}{separator}{about}" if about else who


def _listed(texts: Sequence[str], book: Phrasebook, language: str) -> str:
    if len(texts) < 2:
        return "".join(texts)
    comma = "、" if language in ("zh", "ja") else ", "
    return book.both.format(comma.join(texts[:-1]), texts[-1])


def _length(text: str) -> int:
    """Count words, or characters where they are not spaced."""
    return len(text) if script(text) in UNSPACED else len(text.split())


def _rank(
    tally: _Tally, weights: Mapping[str, float], language: str
) -> tuple[float, int, str, tuple[str, ...]]:
    """Return (score, least for the most telling; place; text; terms) of a phrase: the order of phrases."""
    forms = tally.forms
    text = next(iter(forms)) if len(forms) == 1 else max(forms, key=lambda f: (forms[f], -len(f), f))
    distinct = set(tally.terms)
    told = fsum([weights.get(term, 0.0) for term in distinct])
    # a two- or three-word phrase says more than a word; a longer one says it less sharply
    score: float = told / (len(distinct) + 0.8) ** 0.6
    if len(distinct) == 1 and not tally.named:
        score *= 0.45 if tally.count < 3 else 0.8
    if tally.count > 1:
        score *= 1.0 + 0.2 * min(tally.count - 1, 3)
    score *= 1.0 + 0.35 * (tally.named > 0) + 0.2 * (tally.marked > 0)
    if language in _ARTICLED and not (tally.named or tally.marked):
        score *= 0.4
    if text.isdecimal():
        score *= 0.1
    return -score * (0.6 + 0.4 * tally.weight), tally.place, text, tally.terms


def _distinct(scored: Iterable[Phrase]) -> list[Phrase]:
    kept: list[Phrase] = []
    seen: set[str] = set()
    for phrase in scored:
        terms = set(phrase.terms)
        if len(terms & seen) * 2 >= len(terms) and seen:
            continue
        if any(phrase.text in other.text or other.text in phrase.text for other in kept):
            continue
        kept.append(phrase)
        seen |= terms
        if len(kept) == 2 * _KEYWORDS:
            break
    return kept


def _phrases(text: str, language: str) -> Iterator[tuple[list[str], bool, bool]]:
    """Yield (words of a phrase, stands after an article, is a name) of a sentence."""
    plain = text.isascii()
    if not plain and script(text) in UNSPACED:
        yield from _runs(text)
        return
    pieces = (_ASCII_PIECE if plain else _PIECE).findall(text)
    kinds = "".join(map(_kinds(language), pieces))
    place, span = 0, _SPAN_DE if language == "de" else _SPAN
    while (match := span.search(kinds, place)) is not None:
        start, end = match.span()
        if not _is_one_phrase(match):
            start, end = max(match.start(), match.end("head") - _LONGEST + 1), match.end("head")
        place = end
        if start and kinds[start - 1] in "st" and kinds[start] == "c":
            start += 1  # after a subject or an infinitive's mark comes a verb
        if "c" not in kinds[start:end] and "N" not in kinds[start:end]:
            continue
        first = pieces[start]
        named = "N" in kinds[start + (start == 0) : end] or (first.isupper() and len(first) > 1)
        yield pieces[start:end], start > 0 and kinds[start - 1] in "dj", named and language != "de"


def _is_one_phrase(match: re.Match[str]) -> bool:
    """Tell "bar in Miami" from two phrases that only stand side by side."""
    tail = match[2]
    if tail is None:
        return match.end() - match.start() < _LONGEST
    told = all("c" in part or "N" in part for part in (match["head"], tail))
    return told and match.end() - match.start() <= _LONGEST


@lru_cache(maxsize=16)
def _kinds(language: str) -> Callable[[str], str]:
    """Return `_kind` for a language; one argument is looked up faster than two."""
    return lru_cache(maxsize=16_384)(partial(_kind, language=language))


def _kind(piece: str, language: str) -> str:
    """Return one letter for a word's part in a phrase.

    N content in capitals, c other content, w weak (only beside content), j a joint ("of"), t "to",
    d an article or possessive, s a subject or auxiliary, b anything else: a break.
    """
    if not piece[0].isalnum():
        return "b"
    folded, plain = fold(piece.replace("’", "'")), piece.lower().replace("’", "'")
    book = phrasebook(language)
    articles = _DETERMINERS.get(language, frozenset())
    for letter, members in (("d", articles), ("j", book.joints), ("s", book.subjects)):
        if folded in members or plain in members:
            return "t" if piece == "to" else letter
    if is_function_word(piece, language) or folded.split("'")[0] in LIGHT:
        return "b"
    if folded in WEAK or piece.isdecimal():
        return "w"
    if len(piece) == 1 or _is_verb(plain, language):
        return "b"
    return "N" if piece[0].isupper() else "c"


def _is_verb(word: str, language: str) -> bool:
    endings = _VERBS.get(language)
    return endings is not None and endings.search(word) is not None


@lru_cache(maxsize=16)
def _reader(language: str) -> Callable[[str], tuple[str, ...]]:
    """Return the function from a word to its terms in a language."""

    @lru_cache(maxsize=16_384)
    def read(piece: str) -> tuple[str, ...]:
        return tuple(tokens(piece, language or None))

    return read


def _runs(text: str) -> Iterator[tuple[list[str], bool, bool]]:
    """Yield the pieces of an unspaced sentence between particles, stop phrases and signs."""
    if script(text) not in ("han", "kana"):  # no dictionary to find words with: what stands between spaces
        yield from (
            ([run], False, False) for run in _UNSIGNED.split(text) if 1 < len(run) <= 2 * _LONGEST_RUN
        )
        return
    for run in _HAN_RUN.split(_HIRAGANA.sub("，", text)):
        if run and 2 <= len(run) <= _LONGEST_RUN and not run.isdecimal():
            yield [run], False, False
