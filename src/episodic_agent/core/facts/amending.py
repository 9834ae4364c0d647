"""Does somebody put right what was said just before: "sorry, I meant the 16th", "not Köln, Bonn"?

Judges of what changes read words by what they mean, and of a correction little is left to read: a word that
it was wrong, and the right value. Its place says the rest. It stands right behind what it puts right, be that
the speaker's own message or another's that repeats what is known, and gives a value of the same kind in the
place of the one there: a day for a day, a figure for a figure, a name for a name. A "no" answers the message
before it: the value it denies must stand there. What opens a correction is data (`data/facts/amending.toml`),
in languages that part words by spaces.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from enum import Enum
from functools import cache, lru_cache
from typing import Final, NamedTuple

from episodic_agent.core.language import fold, sentences, tokens, words
from episodic_agent.core.language.coming import named_days
from episodic_agent.core.language.terms import stop_words
from episodic_agent.core.language.timewords import normal
from episodic_agent.core.recall.alone import QUESTION_MARKS
from episodic_agent.data import phrases, texts
from episodic_agent.schemas.facts import TalkLine

LONGEST: Final = 160  # characters: who says more tells something new
BEHIND: Final = 2  # messages back at the most: an answer may stand between
MOST_NEW: Final = 3  # words of content beside those denied: "not Köln, the old town of Bonn"
_DATA: Final = "facts/amending"
_FEW: Final = 2  # words that may stand between a "not" and what it denies: "not in the"
_WORD: Final = re.compile(r"\d+(?:[.,:h]?\d+)*[^\W\d_]{0,3}|[^\W\d_]+(?:['’][^\W\d_]+)?")
_CLAUSE: Final = re.compile(r"[.,;:!?–—]+(?!\d)\s*")
_SOME_DAY: Final = date(2026, 3, 2)  # any: whether days are named is asked, not which


class _ValueKind(Enum):
    """What a word may be changed for: another one of its kind."""

    DAY = "day"
    FIGURE = "figure"
    NAME = "name"
    PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class _ContentWord:
    """A word of content by its stem, of what kind it is, and the word before it."""

    stem: str
    kind: _ValueKind
    behind: str


@dataclass(frozen=True, slots=True)
class _CorrectionOpening:
    """What opens a correction: whether it denies and whether it says that it was wrong; and the rest."""

    denies: bool
    errs: bool
    rest: str

    @property
    def states(self) -> bool:
        """Tell whether it says itself that something is not so."""
        return self.denies or self.errs


class Amendment(NamedTuple):
    """How words put others right: by a value of the kind; how much is shared; whether they say of what."""

    same_kind: bool
    shared: int
    stands_alone: bool


def may_amend(statement: str) -> bool:
    """Tell by a statement alone whether it may put right what was said before it.

    >>> may_amend("sorry, I meant the 16th"), may_amend("nicht Köln, Bonn"), may_amend("I live in Bonn")
    (True, True, False)
    """
    return any(map(_may_amend, _beginning(statement)))


def _may_amend(sentence: str) -> bool:
    if len(sentence) > LONGEST or _is_asked(sentence):
        return False
    opening = _opening(sentence)
    # hardly a statement corrects: what it says beside that is read last
    return (opening.states or bool(_denied(sentence))) and bool(_content(opening.rest))


def _beginning(statement: str) -> list[str]:
    """Return of several sentences the first two, as what puts right stands first, and the whole."""
    parts = sentences(statement)[:2]
    return [*parts, statement] if len(parts) > 1 else [statement]


def amending_part(statement: str) -> tuple[int, int] | None:
    """Return the place of the words of a statement that may put others right; None for none."""
    part = next(filter(_may_amend, _beginning(statement)), None)
    if part is None:
        return None
    start = statement.index(part)
    return start, start + len(part)


def amendment(statement: str, talk: Sequence[TalkLine], older: str, *, just_said: bool) -> Amendment | None:
    """Return how a statement, or one of its first sentences, puts right what was said before it in `older`.

    None where it does not.
    `talk` are the messages before it in its sitting, the last of them last; `just_said` tells that its
    speaker said `older` in the last of them, or with only an answer behind it. Otherwise the last must repeat
    what the statement puts right.

    >>> from uuid import UUID
    >>> known = "My knee operation is on the 14th of April."
    >>> noted, asks = (TalkLine(UUID(int=1), text) for text in ("Noted.", "Is the party on the 15th?"))
    >>> amendment("sorry, I meant the 16th", [noted], known, just_said=True)
    Amendment(same_kind=True, shared=0, stands_alone=False)
    >>> amendment("no, on the 16th", [asks], known, just_said=True)
    """
    if not talk or len(older) > LONGEST:
        return None
    parts = filter(_may_amend, _beginning(statement))
    return next((how for part in parts if (how := _amendment(part, talk, older, just_said))), None)


def _amendment(statement: str, talk: Sequence[TalkLine], older: str, just_said: bool) -> Amendment | None:
    opening, last = _opening(statement), talk[-1]
    stated = [term for term in _content(opening.rest) if term.stem not in _saying()]
    there = _content(older)
    known, mine, repeated = _stems_of(older), _stems(stated), _stems_of(last.text)
    wrong = [term for term in _denied(statement) if term.stem in known]
    denied = _stems(wrong)
    gone = [term for term in there if term.stem not in mine or term.stem in denied]
    echoed = [term for term in gone if term.stem in repeated]
    if not just_said and (last.own or not echoed or not _is_spoken_of(known, mine, talk)):
        return None
    new = [term for term in stated if term.stem not in known]
    if denied:
        pairs = [(a, b) for a in new for b in wrong if _alike(a, b, loosely=True)]
        if not pairs or len(_stems(new)) > MOST_NEW:  # who says more tells news, which the judges read
            return None
        return Amendment(_of_a_kind(pairs), len(known & mine), stands_alone=bool(mine & known - denied))
    # a "no" answers what was said before it: what it denies stands there
    if not last.own and not opening.errs and (_is_asked(last.text) or not just_said):
        gone = echoed
    pairs = [(a, b) for a in new for b in gone if _alike(a, b)]
    rest = mine - _stems([term for term, _ in pairs])
    if not opening.states or not pairs:
        return None
    if not rest:
        in_place = any(_in_its_place(a, b, opening.rest) for a, b in pairs)
        return Amendment(_of_a_kind(pairs), len(known & repeated), stands_alone=False) if in_place else None
    same = rest <= known or (opening.errs and bool(rest & known))
    return Amendment(_of_a_kind(pairs), len(known & (mine | repeated)), stands_alone=True) if same else None


def _of_a_kind(pairs: Sequence[tuple[_ContentWord, _ContentWord]]) -> bool:
    """Tell whether a value stands for one of its very kind: "the 8th" for a figure is a guess."""
    return any(new.kind is old.kind for new, old in pairs)


def _is_spoken_of(known: frozenset[str], mine: frozenset[str], talk: Sequence[TalkLine]) -> bool:
    """Tell whether a sitting is about what is known: by two words of it at least, as one comes by chance."""
    spoken = mine.union(*(_stems_of(line.text) for line in talk))
    return len(known & spoken) > 1


def _is_asked(text: str) -> bool:
    return text.rstrip().endswith(QUESTION_MARKS)


def _alike(term: _ContentWord, other: _ContentWord, *, loosely: bool = False) -> bool:
    """Tell whether one value may stand for another; who names the wrong one may write as they like."""
    if term.kind is other.kind:
        return loosely or term.kind is not _ValueKind.PLAIN
    if term.stem[:1].isdigit() and other.stem[:1].isdigit():
        return True  # "the 8th" is a day where a day stands before it
    return loosely and {term.kind, other.kind} == {_ValueKind.NAME, _ValueKind.PLAIN}


def _in_its_place(term: _ContentWord, other: _ContentWord, rest: str) -> bool:
    """Tell whether a name that stands for itself stands as the other does: "in Bonn" for "in Köln"."""
    return term.kind is not _ValueKind.NAME or term.behind == other.behind or len(words(rest)) == 1


@lru_cache(maxsize=1_024)
def _opening(statement: str) -> _CorrectionOpening:
    bare = statement.strip()
    rest = bare.strip("*").strip()
    # "*Thursday", "Thursday*" put a slip right; "*sighs*" does not
    starred = bare.startswith("*") != bare.endswith("*") and "*" not in rest
    denies, errs = False, starred
    while opener := _opener().match(_plain(rest)):
        denies = denies or opener.lastgroup == "denies"
        errs = errs or opener.lastgroup == "errs"
        rest = rest[opener.end() :]
    return _CorrectionOpening(denies, errs, rest)


def _plain(text: str) -> str:
    """Return a text folded letter by letter, so that each stands where it stood."""
    if text.isascii():  # folds to lower case and nothing else
        return text.lower()
    return "".join(folded if len(folded := fold(letter)) == 1 else letter.lower() for letter in text)


@cache
def _opener() -> re.Pattern[str]:
    groups = []
    for part in ("errs", "denies", "softens"):
        forms = sorted({" ".join(words(form)) for form in _forms(part)}, key=lambda form: (-len(form), form))
        either = "|".join(re.escape(form).replace(r"\ ", r"[\s'’]+") for form in forms)
        groups.append(rf"(?P<{part}>(?:{either})(?![\w'’])(?:[\s]*(?:[.,;:!?…–—-]+|$)\s*|\s+))")
    return re.compile("|".join(groups))


def _forms(part: str) -> Iterator[str]:
    for language in texts(_DATA):
        yield from phrases(f"{_DATA}.{language}.{part}")


@cache
def _saying() -> frozenset[str]:
    return frozenset(stem for form in _forms("saying") for stem in tokens(form))


@lru_cache(maxsize=1_024)
def _denied(statement: str) -> tuple[_ContentWord, ...]:
    """Return the words that a "not" of the statement's language denies, to the end of their clause."""
    clauses = [clause for clause in _CLAUSE.split(statement) if clause.strip()]
    if len(clauses) == 1:
        return ()
    result: list[_ContentWord] = []
    negation = _not(_languages(statement))
    for clause in clauses:
        no = negation.search(f" {_plain(clause)} ")
        behind = clause[max(0, no.end() - 1) :] if no else ""
        first = next((n for n, word in enumerate(words(behind)) if word not in _empty()), None)
        if first is not None and first <= _FEW:
            result += _content(behind)
    return tuple(result)


def _languages(statement: str) -> tuple[str, ...]:
    """Return the languages most of whose function words a statement has: "no" denies not alike in all."""
    row = words(statement)
    hits = {name: sum(word in known for word in row) for name, known in stop_words().items()}
    return tuple(sorted(name for name, count in hits.items() if count and count == max(hits.values())))


@cache
def _not(languages: tuple[str, ...]) -> re.Pattern[str]:
    spoken = [form for name in languages for form in phrases(f"{_DATA}.{name}.not")]
    forms = sorted({" ".join(words(form)) for form in spoken}, key=lambda form: (-len(form), form))
    either = "|".join(map(re.escape, forms)) or "(?!)"
    return re.compile(rf"(?<=\s)(?:{either})(?=\s)")


@lru_cache(maxsize=4_096)
def _content(text: str) -> tuple[_ContentWord, ...]:
    folded = normal(text)
    days = {word for day in named_days(folded, _SOME_DAY) for word in words(folded[day.start : day.end])}
    result = []
    behind = ""
    spoken = _WORD.findall(text)
    for place, written in enumerate(spoken):
        first = place == 0 and len(spoken) > 1
        for word in [fold(written)] if written[0].isdigit() else words(written):
            if word not in _empty() or (not first and _is_month(written)):
                stem = (tokens(word) or [word])[0] if word.isalpha() else word
                result.append(_ContentWord(stem, _kind(written, days, first=first), behind))
            behind = word
    return tuple(result)


@lru_cache(maxsize=1_024)
def _is_month(written: str) -> bool:
    """Tell whether a word written as a name is a month of that name: "may" is a function word, "May" none."""
    return written[0].isupper() and bool(named_days(f"in {fold(written)}", _SOME_DAY))


def _kind(written: str, days: set[str], *, first: bool) -> _ValueKind:
    if not days.isdisjoint(words(written)) or (not first and _is_month(written)):
        return _ValueKind.DAY
    if written[0].isdigit():
        return _ValueKind.FIGURE
    return _ValueKind.NAME if written[0].isupper() and not first else _ValueKind.PLAIN


@lru_cache(maxsize=4_096)  # all that is known is looked at beside the same talk
def _stems_of(text: str) -> frozenset[str]:
    return _stems(_content(text))


def _stems(terms: Sequence[_ContentWord]) -> frozenset[str]:
    return frozenset(term.stem for term in terms)


@cache
def _empty() -> frozenset[str]:
    return frozenset(word for known in stop_words().values() for word in known)
