"""Whether something failed: which lines of a tool's output say so, and how an agent's step ended.

Runners of tests write a line for each test, with a mark that all but the failed ones share. Where several
lines begin alike ("ok 3 …", "✓ …"), those of the same form with another mark ("x 6 …", "not ok 4 …") failed;
what the others say ("ok 9 shows an error") is no sign. Anywhere else a word of failure tells where it stands
for the whole line: as its first word, behind a place in a file or a count, or in capitals at its end.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from episodic_agent.core.boundary.steps.events import kind_of
from episodic_agent.core.ingest.words import FAILED, FAILURE, SUCCESS, ending_of
from episodic_agent.schemas import Json

_MOST: Final = 400  # characters in which a line says what it is
_WORD: Final = rf"(?:{'|'.join(sorted(FAILED))}|(?:[a-z]\w*\.)*\w+(?:Error|Exception)|failures|errors)"
_SIGN: Final = re.compile(
    rf"(?i)[^\w'\"#/*<]*(?:(?!no\b|0)\w{{1,3}}\b[^\w'\"(]+)?{_WORD}"  # "E   KeyError: 3", "npm error"
    r"(?![\w.=(/-]|\s*[=(]|:\s*\w[\w\[\], |.]{0,30}\s=\s)"  # no line of a program: "error: str = ''"
    rf"|.*?[:\])]\s(?:fatal )?{_WORD}(?:[:!\[]|\s[A-Z]+\d|\s*$)"  # "a.ts(3,5): error TS2322: …"
    rf"|.*?(?<![\w.,])[1-9]\d*\s(?:\w+\s)?(?:failing|{_WORD})\b"  # "1 failed, 60 passed"
    r"|.*?\bexit(?:ed)?(?: with)?(?: code| status)?:? [1-9]|.*?\bERR!"
)
_CAPITALS: Final = re.compile(r"\bFAIL(?:ED)?\b(?:[:.]|\s*\[[^\]]*\]|\s*\([^)]*\))?(?:\s|$)")
_SOME: Final = 3  # lines that begin alike before their mark is one
_SHORT: Final = 5  # characters of a mark: "ok", "✓", "PASS"


def failing(lines: Sequence[str]) -> list[bool]:
    """Tell of each line of an output whether it says that something failed.

    >>> failing(["ok 1 adds", "ok 2 shows an error", "x 3 pays", "ok 4 leaves", "  Error: no total", "bye"])
    [False, False, True, False, True, False]
    >>> failing(["3 passed, 0 failed", "error_pages = 4", "cart.ts(3,5): error TS2322: no", "test_a FAILED"])
    [False, False, True, True]
    """
    parts = [line[:_MOST].split(maxsplit=3) for line in lines]
    marks = Counter(part[0] for part in parts if part and len(part[0]) <= _SHORT)
    passing, count = max(marks.items(), key=lambda item: item[1], default=("", 0))
    if count < _SOME or _fails(passing):
        return [_fails(line) for line in lines]
    numbered = sum(part[:1] == [passing] and _is_numbered(part) for part in parts) * 2 > count
    return [
        _CAPITALS.search(line, 0, _MOST) is not None  # "--- FAIL: TestTotal", "test total ... FAILED"
        if part[:1] == [passing]
        else _differs(part, passing, numbered) or _fails(line)
        for part, line in zip(parts, lines, strict=True)
    ]


def _fails(line: str) -> bool:
    return bool(_SIGN.match(line, 0, _MOST) or _CAPITALS.search(line, 0, _MOST))


def _is_numbered(parts: Sequence[str]) -> bool:
    return len(parts) > 1 and parts[1].strip(".):").isdecimal()


def _differs(parts: Sequence[str], passing: str, numbered: bool) -> bool:
    """Tell whether a line is one of those with the passing mark, but for its mark."""
    if len(parts) < 2 or len(parts[0]) > _SHORT:
        return False
    if parts[1] == passing:
        return True
    if not (passing.isalnum() or parts[0].isalnum() or (passing + parts[0]).isascii()):
        return True  # "✓" and "✕"
    return numbered and _is_numbered(parts) and passing[0].isalnum() == parts[0][0].isalnum()


class EndingStep(Protocol):
    """A step as it is kept, or on its way there."""

    @property
    def events(self) -> tuple[Mapping[str, Json], ...]:
        """Return what happened."""
        ...

    @property
    def extras(self) -> Mapping[str, Json]:
        """Return what came beside."""
        ...


def outcome_of_step(step: EndingStep) -> str:
    """Return how a step ended by its outcome or an event of it, in the words of an episode's; "" for unknown.

    What was interrupted is ongoing: it is gone on with.
    """
    sources: list[Mapping[str, Json]] = [step.extras, *step.events]
    if any(one.get("success") is False for one in sources) or any(
        ending_of(kind_of(event)) == FAILURE for event in step.events
    ):
        return FAILURE
    outcome = step.extras.get("outcome")
    if isinstance(outcome, bool):
        return SUCCESS if outcome else FAILURE
    ending = ending_of(outcome) if isinstance(outcome, str) else ""
    return ending or (SUCCESS if step.extras.get("success") is True else "")
