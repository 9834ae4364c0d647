"""The title of an episode: the clause that says best what it is about, cut whole from what was said."""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations, pairwise
from typing import Final

from episodic_agent.core.boundary.conversation.cues.speech import speech
from episodic_agent.core.episodes.clauses import Clause
from episodic_agent.core.episodes.languages import ASSISTANTS, PROMPTS, SOURCES, UNSPACED
from episodic_agent.core.episodes.letters import salutation
from episodic_agent.core.episodes.selection import telling_words
from episodic_agent.core.episodes.stop_words import abbreviated, negation
from episodic_agent.core.language import fold, script, tokens
from episodic_agent.data import listed_words

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
