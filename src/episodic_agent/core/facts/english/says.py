"""What an English clause says of its subject: one frame for each kind of verb, not one for each phrase.

A frame proposes; whether what it proposes is said in earnest and lasts is for `judging`.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from episodic_agent.core.facts.english.being import been, is_something
from episodic_agent.core.facts.english.clauses import EnglishClause
from episodic_agent.core.facts.english.doing import abilities, needs, past, plans, routines
from episodic_agent.core.facts.english.states import (
    believes,
    has_something,
    lives,
    speaks,
    studies,
    tastes,
    works,
)
from episodic_agent.core.facts.english.values import core, thing
from episodic_agent.core.facts.grammar import SlotMatch, name, place
from episodic_agent.core.facts.occupations import work_of
from episodic_agent.core.facts.words import verbs
from episodic_agent.core.language.mentions.lists import word_set

Frame: TypeAlias = Callable[[EnglishClause], Iterator[tuple[str, SlotMatch]]]
_FRAMES: Final[dict[str, Frame]] = {
    **dict.fromkeys(("live", "reside", "move", "relocate", "emigrate", "stay"), lives),
    "work": works, "have": has_something, "own": has_something, "speak": speaks,
    **dict.fromkeys(("study", "learn", "major"), studies),
    **dict.fromkeys(verbs.TASTE | verbs.DISTASTE | {"prefer", "fancy"}, tastes),
    **dict.fromkeys(("believe", "trust", "vote"), believes),
}  # fmt: skip
_SUBJECT_OF: Final = re.compile(
    r"(?:law|medicine|nursing|biology|chemistry|physics|maths|history|economics|engineering|computer science"
    r"|psychology|philosophy|linguistics|music|architecture|dentistry|pharmacy|classics|english|french|german"
    r"|theology|geography|politics|ppe)\b(?: (?:at|in) [\w' ]+?(?= and | but |$))?",
    re.I,
)
_WISHED: Final = word_set("would could should must may might")
# They tell when and where of what stands beside them.
_ASIDE: Final = word_set("before until till after when whenever while once as where which whose")
_LASTING: Final = word_set("live work study learn")  # said of the present in any form


def says(clause: EnglishClause) -> Iterator[tuple[str, SlotMatch]]:
    """Yield the frames of a clause with what they propose, none for talk and for what is only wished.

    >>> from episodic_agent.core.facts.english.clauses import parsed, plain
    >>> for clause in parsed(plain("I'm terrified of bees and I keep every receipt")):
    ...     for frame, found in says(clause):
    ...         print(frame, "|", found.attribute, "|", found.value)
    am-afraid | fears | terrified of bees
    habit-again-steady | habit | keep every receipt
    """
    if clause.aux in _WISHED or clause.join in _ASIDE:
        return
    if clause.aux == "used":
        yield from _used_to(clause)
    elif clause.form == "be" or clause.verb == "be":
        yield from is_something(clause) if clause.aux == "am" else been(clause)
    elif (
        clause.verb == "read"
        and clause.form in ("base", "ing")
        and (subject := _SUBJECT_OF.match(clause.rest))
    ):
        yield "study-read", SlotMatch("studies", core(subject.group()), not clause.no)
    elif clause.verb in _LASTING and clause.form != "past" and clause.aux in ("", "am", "do", "have"):
        yield from _FRAMES[clause.verb](clause)
    elif phrasal := next(
        (read for lead, read in _PHRASAL if lead.match(f"{clause.verb} {clause.rest}")), None
    ):
        yield from phrasal(clause)
    else:
        yield from _by_time(clause)(clause)


def _by_time(clause: EnglishClause) -> Frame:
    """Return the frame of a clause by its helping verb and the form of its verb."""
    if clause.aux == "can":
        return abilities
    if clause.aux == "will" or (clause.aux == "am" and clause.form == "ing"):
        return plans
    if clause.form in ("past", "done") or clause.aux == "did":
        moved = clause.verb in ("move", "relocate", "emigrate")
        return lives if moved else tastes if clause.verb in verbs.TASTE | verbs.DISTASTE else past
    return _present(clause)


def _present(clause: EnglishClause) -> Frame:
    if clause.verb in ("need", "want") or (clause.verb == "have" and clause.rest.startswith("to ")):
        return needs
    if clause.verb in _FRAMES:
        return _FRAMES[clause.verb]
    if clause.verb in verbs.TALK or clause.aux == "was":
        return _silent
    if (
        clause.verb in ("start", "begin", "retire", "graduate", "finish")
        and clause.form == "base"
        and clause.rest
    ):
        return plans
    return _drives if clause.verb in ("drive", "ride") else routines


def _used_to(clause: EnglishClause) -> Iterator[tuple[str, SlotMatch]]:
    value = core(f"{clause.verb} {clause.rest}")
    text = clause.rest.removeprefix("be ")
    job = work_of(text) if clause.verb == "be" and re.match(r"an? ", text) else ""
    if job:
        yield "used-to-be", SlotMatch("job", job, False)
    elif value:
        yield "used-to", SlotMatch("did", f"used to {value}")


def _comes_from(clause: EnglishClause) -> Iterator[tuple[str, SlotMatch]]:
    if where := place(clause.rest.removeprefix("from ")):
        yield "come-from", SlotMatch("from", where, not clause.no)


def _goes_by(clause: EnglishClause) -> Iterator[tuple[str, SlotMatch]]:
    if called := name(clause.rest.removeprefix("by ")):
        yield "go-by", SlotMatch("also_called", called, not clause.no)


def _swears_by(clause: EnglishClause) -> Iterator[tuple[str, SlotMatch]]:
    if value := thing(re.sub(r"^(?:by|for) ", "", clause.rest)):
        yield "swear-by", SlotMatch("likes", value, not clause.no)


def _turned(clause: EnglishClause) -> Iterator[tuple[str, SlotMatch]]:
    yield "went-diet", SlotMatch("diet", clause.rest.partition(" ")[0].strip(".,"), not clause.no)


def _finds(clause: EnglishClause) -> Iterator[tuple[str, SlotMatch]]:
    match = _FIND.match(f"{clause.verb} {clause.rest}")
    if match and (value := thing(match["v"])):
        yield "find", SlotMatch("dislikes" if match["bad"] else "likes", value, not clause.no)


_FIND: Final = re.compile(
    r"find (?!it\b|that\b|this\b|them\b|him\b|her\b|you)(?P<v>[\w' -]+?) (?:really |quite |so |very "
    r"|a bit |absolutely )*"
    r"(?:(?P<bad>revolting|disgusting|boring|terrifying|dull|unbearable|annoying|creepy|exhausting"
    r"|stressful|scary|tedious)"
    r"|relaxing|fascinating|soothing|calming|beautiful|delightful)\b",
    re.I,
)
_PHRASAL: Final[tuple[tuple[re.Pattern[str], Frame], ...]] = (
    (re.compile(r"come from (?:the )?[A-ZÀ-Þ]"), _comes_from),
    (re.compile(r"go by [A-ZÀ-Þ]\w+(?: |$)"), _goes_by),
    (re.compile(r"(?:swear by|live for) (?!it\b|that\b)"), _swears_by),
    (
        re.compile(
            r"(?:go|turn|become) (?:vegan|vegetarian|pescatarian|veggie|teetotal|gluten-free"
            r"|dairy-free|kosher)\b"
        ),
        _turned,
    ),
    (_FIND, _finds),
)


def _silent(clause: EnglishClause) -> Iterator[tuple[str, SlotMatch]]:
    yield from ()


def _drives(clause: EnglishClause) -> Iterator[tuple[str, SlotMatch]]:
    owned = re.match(r"(?:an?|my) (?P<v>.+)", clause.rest)
    value = core(owned["v"]) if owned else ""
    if value and not clause.no and re.search(r"[A-Z]|\b(?:van|truck|lorry|taxi|bike|car)\b", value):
        yield "drives", SlotMatch("owns", value)
    else:
        yield from routines(clause)
