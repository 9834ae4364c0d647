"""What an English clause says of its subject: one frame for each kind of verb, not one for each phrase.

A frame proposes; whether what it proposes is said in earnest and lasts is for `judging`.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from episodic_agent.core.entities.lists import word_set
from episodic_agent.core.facts.english_being import been, is_something
from episodic_agent.core.facts.english_clauses import Clause
from episodic_agent.core.facts.english_doing import abilities, habits, needs, past, plans
from episodic_agent.core.facts.english_states import (
    believes,
    has_something,
    lives,
    speaks,
    studies,
    tastes,
    works,
)
from episodic_agent.core.facts.english_values import core, thing
from episodic_agent.core.facts.grammar import Found, name, place
from episodic_agent.core.facts.occupations import work_of
from episodic_agent.core.facts.words import verbs

Frame: TypeAlias = Callable[[Clause], Iterator[tuple[str, Found]]]
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


def says(one: Clause) -> Iterator[tuple[str, Found]]:
    """Yield the frames of a clause with what they propose, none for talk and for what is only wished.

    >>> from episodic_agent.core.facts.english_clauses import parsed, plain
    >>> for clause in parsed(plain("I'm terrified of bees and I keep every receipt")):
    ...     for frame, found in says(clause):
    ...         print(frame, "|", found.attribute, "|", found.value)
    am-afraid | fears | terrified of bees
    habit-again-steady | habit | keep every receipt
    """
    if one.aux in _WISHED or one.join in _ASIDE:
        return
    if one.aux == "used":
        yield from _used_to(one)
    elif one.form == "be" or one.verb == "be":
        yield from is_something(one) if one.aux == "am" else been(one)
    elif one.verb == "read" and one.form in ("base", "ing") and (subject := _SUBJECT_OF.match(one.rest)):
        yield "study-read", Found("studies", core(subject.group()), not one.no)
    elif one.verb in _LASTING and one.form != "past" and one.aux in ("", "am", "do", "have"):
        yield from _FRAMES[one.verb](one)
    elif phrasal := next((read for lead, read in _PHRASAL if lead.match(f"{one.verb} {one.rest}")), None):
        yield from phrasal(one)
    else:
        yield from _by_time(one)(one)


def _by_time(one: Clause) -> Frame:
    """Return the frame of a clause by its helping verb and the form of its verb."""
    if one.aux == "can":
        return abilities
    if one.aux == "will" or (one.aux == "am" and one.form == "ing"):
        return plans
    if one.form in ("past", "done") or one.aux == "did":
        moved = one.verb in ("move", "relocate", "emigrate")
        return lives if moved else tastes if one.verb in verbs.TASTE | verbs.DISTASTE else past
    return _present(one)


def _present(one: Clause) -> Frame:
    if one.verb in ("need", "want") or (one.verb == "have" and one.rest.startswith("to ")):
        return needs
    if one.verb in _FRAMES:
        return _FRAMES[one.verb]
    if one.verb in verbs.TALK or one.aux == "was":
        return _silent
    if one.verb in ("start", "begin", "retire", "graduate", "finish") and one.form == "base" and one.rest:
        return plans
    return _drives if one.verb in ("drive", "ride") else habits


def _used_to(one: Clause) -> Iterator[tuple[str, Found]]:
    value = core(f"{one.verb} {one.rest}")
    said = one.rest.removeprefix("be ")
    job = work_of(said) if one.verb == "be" and re.match(r"an? ", said) else ""
    if job:
        yield "used-to-be", Found("job", job, False)
    elif value:
        yield "used-to", Found("did", f"used to {value}")


def _comes_from(one: Clause) -> Iterator[tuple[str, Found]]:
    if where := place(one.rest.removeprefix("from ")):
        yield "come-from", Found("from", where, not one.no)


def _goes_by(one: Clause) -> Iterator[tuple[str, Found]]:
    if called := name(one.rest.removeprefix("by ")):
        yield "go-by", Found("also_called", called, not one.no)


def _swears_by(one: Clause) -> Iterator[tuple[str, Found]]:
    if value := thing(re.sub(r"^(?:by|for) ", "", one.rest)):
        yield "swear-by", Found("likes", value, not one.no)


def _turned(one: Clause) -> Iterator[tuple[str, Found]]:
    yield "went-diet", Found("diet", one.rest.partition(" ")[0].strip(".,"), not one.no)


def _finds(one: Clause) -> Iterator[tuple[str, Found]]:
    found = _FIND.match(f"{one.verb} {one.rest}")
    if found and (value := thing(found["v"])):
        yield "find", Found("dislikes" if found["bad"] else "likes", value, not one.no)


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


def _silent(one: Clause) -> Iterator[tuple[str, Found]]:
    yield from ()


def _drives(one: Clause) -> Iterator[tuple[str, Found]]:
    owned = re.match(r"(?:an?|my) (?P<v>.+)", one.rest)
    value = core(owned["v"]) if owned else ""
    if value and not one.no and re.search(r"[A-Z]|\b(?:van|truck|lorry|taxi|bike|car)\b", value):
        yield "drives", Found("owns", value)
    else:
        yield from habits(one)
