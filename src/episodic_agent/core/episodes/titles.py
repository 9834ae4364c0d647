"""The title and the key phrases of an episode: what it is about, cut whole from what was said."""

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from itertools import chain, combinations, pairwise
from math import fsum
from typing import Final

from episodic_agent.core.boundary.conversation.speech import speech
from episodic_agent.core.episodes.clauses import Clause
from episodic_agent.core.episodes.languages import (
    ASSISTANTS,
    PROMPTS,
    SOURCES,
    UNSPACED,
    abbreviated,
    han_run,
    is_function_word,
    light,
    negation,
    phrasebook,
    weak,
)
from episodic_agent.core.episodes.letters import salutation
from episodic_agent.core.episodes.selection import telling_words
from episodic_agent.core.language import fold, script, tokens
from episodic_agent.data import listed_words, texts

LONGEST: Final = 70  # characters of a title
_LONGEST_RUN: Final = 34  # where words are not spaced
_TELLING: Final = 4  # terms from which a clause needs no neighbours
_CUT: Final = 0.7  # a clause that no title holds whole
_TRIED: Final = 4
_FIRST: Final = 1.7  # what somebody begins with is mostly what it is about
_OPENING: Final = 2.2  # above all its first sentence
_ANSWERING: Final = 0.5  # what an assistant says answers what the episode is about
_MAIN: Final = 2.0  # a sentence begins with its main clause
_SOURCE: Final = 0.05  # tools, notices and what was pasted only where nobody else says anything
_BORDER: Final = re.compile(
    r"(?!(?<=\d)[,:]\d)"  # a sign between two digits is part of a time or a number: 9:30, 1,200
    r"[,;:!?\uff0c\uff1b\uff1a\uff01\uff1f、。…]+\s*|(?<=[^\W\d])[.]\s+|\s[-–—|]+\s|"
    r"\s*[()\[\]“”„\"\uff08\uff09]\s*"
)
_SENTENCE_END: Final = re.compile(r"(?<!\d)[.!?…。！？]")
_ENDS: Final = " \t,.;:!\uff0c\uff1b\uff1a\uff01。、-–—…*_'\"“”„()[]\uff08\uff09"
_FEWEST: Final = 3  # words of a clause that is cut before a join
_PAIRS: Final = ("()", "[]", "“”", "\uff08\uff09")
_NEXT_ITEM: Final = re.compile(r"(?<=[.:;,])\s+\d{1,2}$")  # the number of a list that follows
_STOPS: Final = ".!…"
_SIGNS: Final = ",;:!.\uff0c\uff01"
_MARK: Final = re.compile(r"^\s*[\[(][^\])]{1,20}[\])]\s*")  # [voice], (laughs)


@cache
def _fillers() -> frozenset[str]:
    return listed_words("language/fillers.words")


@cache
def _joins() -> frozenset[str]:
    return listed_words("language/fillers.joins")


@cache
def _signed_fillers() -> frozenset[str]:
    return listed_words("language/fillers.signed")


def telling_clause(
    clauses: Sequence[Clause],
    scores: Sequence[float],
    weights: Mapping[str, float],
    actors: Sequence[str],
    language: str,
) -> Clause:
    """Return the clause that says best what an episode is about: mostly what a person began with.

    `scores` says how well each of the clauses, one at least, stands for the episode (`selection.scored`),
    `weights` what each term tells of it; `actors` belong to the observations that `Clause.place` counts.
    """
    trust = [_trust(clause, actors[clause.place].casefold()) for clause in clauses]
    own = [clause for clause, share in zip(clauses, trust, strict=True) if share == 1.0]
    first = min((clause.place for clause in own), default=-1)
    opening = next((c for c in own if c.place == first and not _greets(c.text)), None)

    def standing(clause: Clause) -> float:
        if clause.place != first:
            return 1.0
        return _OPENING if opening is not None and clause.order == opening.order else _FIRST

    values = [
        score
        * share
        * min(telling_words(clause), _TELLING)
        * standing(clause)
        * (not _only_greets(clause.text))
        for clause, score, share in zip(clauses, scores, trust, strict=True)
    ]
    best = sorted(range(len(clauses)), key=lambda n: (-round(values[n], 9), n))[:_TRIED]
    for n in best:
        # what can only be cut inside a clause makes a poorer title than what can be cut whole
        if cut(clauses[n].text, weights, language).endswith("…"):
            values[n] *= _CUT
    return clauses[max(best, key=lambda n: (round(values[n], 9), -n))]


def runs(clauses: Sequence[Clause], actors: Sequence[str]) -> list[Clause]:
    """Return the short sentences that a person began with, together as they stand, as far as a title goes.

    "Wrote Lumeo. I'm declining. I stay here." Alone each says too little, together they are the matter.
    """
    own = [c for c in clauses if _trust(c, actors[c.place].casefold()) == 1.0]
    opened = [c for c in own if c.place == own[0].place]
    result = []
    for n, first in enumerate(opened):
        run = first
        for before, after in pairwise(opened[n:]):
            text = f"{run.text} {after.text}"
            ended = run.text[-1] in _STOPS  # a list is no talk, nor is the head of a mail
            plain = min(before.weight, after.weight) == 1.0 and not after.asks
            beside = after.follows and after.order == before.order + 1
            if not (ended and plain and beside) or len(text.rstrip(_ENDS)) > LONGEST:
                break
            run = replace(run, text=text, terms=run.terms | after.terms)
        short = len(first.terms) < _TELLING and not first.asks and script(first.text) not in UNSPACED
        if short and run is not first:
            result.append(run)
    return result


def _trust(clause: Clause, role: str) -> float:
    """Return the share of its worth a clause keeps for who wrote it: a person, an assistant, a machine."""
    if role in PROMPTS:
        return 0.0
    if role in SOURCES or clause.pasted:
        return _SOURCE
    return _ANSWERING if role in ASSISTANTS else 1.0


def _greets(text: str) -> bool:
    return bool(speech(text.split(maxsplit=1)[0])[0].greets)


def _only_greets(text: str) -> bool:
    return salutation(text) == len(text.rstrip())


def cut(text: str, weights: Mapping[str, float], language: str) -> str:
    """Return the most telling stretch of whole clauses of a sentence that fits a title.

    >>> cut("Ok so, the boiler leaks again, can you believe it?", {"boiler": 1.0, "leak": 1.0}, "en")
    'The boiler leaks again, can you believe it?'
    """
    plain = _bare(_MARK.sub("", text), language)
    longest = _LONGEST_RUN if script(plain) in UNSPACED else LONGEST
    if len(plain) <= longest:
        return _titled(_closed(plain, text))
    borders = [0, *(m.end() for m in _BORDER.finditer(plain) if not _abbreviates(m)), len(plain)]
    denied = _denied(plain)
    pairs = combinations(sorted({*borders}), 2)
    stretches = [plain[a:b] for a, b in pairs if 0 < b - a <= longest + 2 and a not in denied]
    bare = [_bare(stretch, language) for stretch in stretches]
    stretches = [s for s in bare if s and len(s) <= longest and _paired(s)]

    def telling(piece: str) -> tuple[float, int]:
        value = math.fsum(weights.get(term, 0.0) for term in set(tokens(piece, language or None)))
        return round(value * (_MAIN if plain.startswith(piece) else 1.0), 9), -len(piece)

    best = max(stretches, key=telling, default="")
    if best and len(set(tokens(best, language or None))) > 1:
        return _titled(best)
    return _titled(_joined(plain, longest) or _cut_off(plain, longest))


def _denied(text: str) -> Collection[int]:
    """Return the places of a text where a sentence goes on behind its "not": alone it says the opposite."""
    folded = fold(text)
    result: set[int] = set()
    for no in negation().finditer(folded) if len(folded) == len(text) else ():
        end = _SENTENCE_END.search(text, no.end())
        result.update(range(no.end(), end.end() if end else len(text)))
    return result


def _abbreviates(border: re.Match[str]) -> bool:
    """Tell whether a stop belongs to the word before it: "Dr. Peña" is no end of a clause."""
    if border.group()[0] != ".":
        return False
    word = border.string[: border.start()].rsplit(None, 1)[-1]
    return word.casefold().strip(_ENDS) in abbreviated()


def _joined(text: str, longest: int) -> str:
    """Return the clauses before the last word that joins another and still fits; "" where there is none."""
    words = text[: longest + 1].split(" ")[:-1]
    for n in range(len(words) - 1, _FEWEST, -1):
        if words[n].casefold() in _joins():
            return " ".join(words[:n]).rstrip(_ENDS)
    return ""


def _cut_off(text: str, longest: int) -> str:
    head = text[: longest - 1]
    return (head.rsplit(" ", 1)[0] if " " in head else head).rstrip(_ENDS) + "…"


def _bare(text: str, language: str) -> str:
    """Take greetings, fillers and loose signs off the ends of a clause; what would leave nothing stays."""
    plain = _NEXT_ITEM.sub("", text.strip(_ENDS)).strip(_ENDS)
    plain = plain[salutation(plain) :].strip(_ENDS) or plain
    while " " in plain:
        word, rest = plain.split(" ", 1)
        known = word.casefold().strip(_ENDS)
        signed = word[-1:] in _SIGNS
        greets = signed and (known in _signed_fillers() or speech(word)[0].greets)
        if (known not in _fillers() and not greets) or len(set(tokens(rest, language or None))) < 2:
            break
        plain = rest.lstrip(_ENDS)
    return plain


def _paired(text: str) -> bool:
    """Tell whether every bracket and quotation that a stretch opens is closed in it."""
    return all(text.count(left) == text.count(right) for left, right in _PAIRS) and text.count('"') % 2 == 0


def _closed(piece: str, text: str) -> str:
    """Return a piece with the bracket or quotation mark that follows it and closes what it opens."""
    after = text[text.find(piece) + len(piece) :][:1]
    longer = piece + after
    return longer if after and not _paired(piece) and _paired(longer) else piece


def _titled(text: str) -> str:
    return text[:1].upper() + text[1:]


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
_HIRAGANA: Final = re.compile("[\u3041-\u309f]+")
# A noun phrase in the letters of `_kind`: content, perhaps joined by one preposition and article to more.
# "to" joins only names and articles ("to Lisbon", "to the sea"): else it begins an infinitive.
_SPAN: Final = re.compile(r"(?P<head>[cNw]+)(?P<tail>(?:jd?|t(?=[Nd])d?)[cNw]+)?")
_SPAN_DE: Final = re.compile(r"(?P<head>[cw]*N+)(?P<tail>jd?[cw]*N+)?")  # German nouns have capitals
_LONGEST: Final = 5  # words of a phrase, joints included
_LONGEST_PHRASE: Final = 14  # characters of a phrase in a script without spaces
_OPENING_CLAUSES: Final = 4  # sentences of a message that phrases are taken from: it begins with its subject
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
    clauses: Sequence[Clause], weights: Mapping[str, float], language: str, speakers: frozenset[str]
) -> list[Phrase]:
    """Return an episode's key phrases, most telling first, none containing the words of a better one.

    `speakers` are the terms of the speakers' names: no phrase consists of them or ends in one.
    """
    tallies: dict[tuple[str, ...], _Tally] = {}
    terms_of = _reader(language)
    for clause in clauses:
        if clause.order >= _OPENING_CLAUSES:
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


def _rank(
    tally: _Tally, weights: Mapping[str, float], language: str
) -> tuple[float, int, str, tuple[str, ...]]:
    """Return (score, least for the most telling; place; text; terms) of a phrase: the order of phrases."""
    forms = tally.forms
    text = next(iter(forms)) if len(forms) == 1 else max(forms, key=lambda f: (forms[f], -len(f), f))
    distinct = set(tally.terms)
    value = fsum([weights.get(term, 0.0) for term in distinct])
    # a two- or three-word phrase says more than a word; a longer one says it less sharply
    score: float = value / (len(distinct) + 0.8) ** 0.6
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
    phrases: list[Phrase] = []
    seen: set[str] = set()
    for phrase in scored:
        terms = set(phrase.terms)
        if len(terms & seen) * 2 >= len(terms) and seen:
            continue
        if any(phrase.text in other.text or other.text in phrase.text for other in phrases):
            continue
        phrases.append(phrase)
        seen |= terms
        if len(phrases) == 2 * _KEYWORDS:
            break
    return phrases


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
    is_known = all("c" in part or "N" in part for part in (match["head"], tail))
    return is_known and match.end() - match.start() <= _LONGEST


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
    articles = _determiners().get(language, frozenset())
    for letter, members in (("d", articles), ("j", book.joints), ("s", book.subjects)):
        if folded in members or plain in members:
            return "t" if piece == "to" else letter
    if is_function_word(piece, language) or folded.split("'")[0] in light():
        return "b"
    if folded in weak() or folded in abbreviated() or piece.isdecimal():
        return "w"
    if len(piece) == 1 or _is_verb(plain, language):
        return "b"
    return "N" if piece[0].isupper() else "c"


@cache
def _determiners() -> dict[str, frozenset[str]]:
    return {
        language: listed_words(f"language/articles.{language}") for language in texts("language/articles")
    }


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
            ([run], False, False) for run in _UNSIGNED.split(text) if 1 < len(run) <= 2 * _LONGEST_PHRASE
        )
        return
    for run in han_run().split(_HIRAGANA.sub("，", text)):
        if run and 2 <= len(run) <= _LONGEST_PHRASE and not run.isdecimal():
            yield [run], False, False
