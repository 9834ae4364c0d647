"""The title of an episode: the clause that says best what it is about, cut whole from what was said."""

import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import combinations
from typing import Final

from episodic_agent.core.boundary.conversation.cues.speech import speech
from episodic_agent.core.episodes.clauses import Clause
from episodic_agent.core.episodes.languages import ASSISTANTS, SOURCES, UNSPACED
from episodic_agent.core.language import script, tokens
from episodic_agent.data import listed_words

LONGEST: Final = 70  # characters of a title
_LONGEST_RUN: Final = 34  # where words are not spaced
_TELLING: Final = 4  # terms from which a clause needs no neighbours
_FIRST: Final = 1.7  # what somebody begins with is mostly what it is about
_ANSWERING: Final = 0.6  # what an assistant says answers what the episode is about
_MAIN: Final = 2.0  # a sentence begins with its main clause
_SOURCE: Final = 0.2  # tools and notices say least of all
_BORDER: Final = re.compile(r"[,;:,;:、。!?!?…]+\s*|(?<=\w)[.]\s+|\s[-–—|]+\s|\s*[()\[\]“”„\"]\s*")
_ENDS: Final = " \t,.;:!,。;:!、-–—…*_'\"“”„()[]()"
_MARK: Final = re.compile(r"^\s*[\[(][^\])]{1,20}[\])]\s*")  # [voice], (laughs)


@cache
def _fillers() -> frozenset[str]:
    return listed_words("language/fillers.words")


def title_clause(
    clauses: Sequence[Clause],
    scores: Sequence[float],
    weights: Mapping[str, float],
    actors: Sequence[str],
    language: str,
) -> str:
    """Return a contiguous piece of the most telling clause; "" where there is none.

    `scores` says how well each clause stands for the episode (`selection.scored`), `weights` what each term
    tells of it; `actors` belong to the observations that `Clause.place` counts.
    """
    if not clauses:
        return ""
    roles = [actors[clause.place].casefold() for clause in clauses]
    trust = [_SOURCE if r in SOURCES else _ANSWERING if r in ASSISTANTS else 1.0 for r in roles]
    first = min((c.place for c, share in zip(clauses, trust, strict=True) if share == 1.0), default=-1)
    values = [
        score * share * min(len(clause.terms), _TELLING) * (_FIRST if clause.place == first else 1.0)
        for clause, score, share in zip(clauses, scores, trust, strict=True)
    ]
    best = max(range(len(clauses)), key=lambda n: (round(values[n], 9), -n))
    return cut(clauses[best].text, weights, language)


def cut(text: str, weights: Mapping[str, float], language: str) -> str:
    """Return the most telling stretch of whole clauses of a sentence that fits a title.

    >>> cut("Ok so, the boiler leaks again, can you believe it?", {"boiler": 1.0, "leak": 1.0}, "en")
    'The boiler leaks again, can you believe it?'
    """
    plain = _bare(_MARK.sub("", text), language)
    longest = _LONGEST_RUN if script(plain) in UNSPACED else LONGEST
    if len(plain) <= longest:
        return _titled(plain)
    borders = [0, *(m.end() for m in _BORDER.finditer(plain)), len(plain)]
    stretches = [plain[a:b] for a, b in combinations(sorted(set(borders)), 2) if 0 < b - a <= longest + 2]
    bare = [_bare(stretch, language) for stretch in stretches]
    stretches = [s for s in bare if s and len(s) <= longest and s.count("(") == s.count(")")]

    def telling(piece: str) -> tuple[float, int]:
        value = math.fsum(weights.get(term, 0.0) for term in set(tokens(piece, language or None)))
        return round(value * (_MAIN if plain.startswith(piece) else 1.0), 9), -len(piece)

    best = max(stretches, key=telling, default="")
    if best and len(set(tokens(best, language or None))) > 1:
        return _titled(best)
    head = plain[: longest - 1]
    return _titled((head.rsplit(" ", 1)[0] if " " in head else head).rstrip(_ENDS)) + "…"


def _bare(text: str, language: str) -> str:
    """Take greetings, fillers and loose signs off the ends of a clause; what would leave nothing stays."""
    plain = text.strip(_ENDS)
    while " " in plain:
        word, rest = plain.split(" ", 1)
        known = word.casefold().strip(_ENDS)
        greets = speech(word)[0].greets if word[-1:] in ",!" else False
        if (known not in _fillers() and not greets) or len(set(tokens(rest, language or None))) < 2:
            break
        plain = rest.lstrip(_ENDS)
    return plain


def _titled(text: str) -> str:
    return text[:1].upper() + text[1:]
