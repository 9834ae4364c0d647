"""English rules for standing wishes to the assistant: what is asked for always, not once."""

import re
from collections.abc import Iterator
from typing import Final

from episodic_agent.core.facts.grammar import Rule, SlotMatch, rule

_VERBS: Final = (
    r"(?:use|give|answer|reply|respond|write|keep|explain|address|speak|talk|send|show|call|remind"
    r"|flag|include|add|avoid|leave|skip|spell|format|convert|quote|list|put|make|tell|ask|assume"
    r"|stick|translate|recommend|suggest|check|sign|start|end|begin|mention|offer|describe|cite"
    r"|schedule|book|warn|round|sort|return|provide|refer|treat|do)"
)
_BANNED: Final = (
    r"(?:use|call|send|give|tell|show|ask|suggest|recommend|include|add|put|write|start|end|begin"
    r"|explain|schedule|book|remind|mention|sell|sugar-?coat|lecture|apologi[sz]e|answer|reply"
    r"|translate|offer|round|talk|address|assume|make|sign|list|quote)"
)
_FOREVER: Final = re.compile(
    r"\b(?:always|never|from now on|every time|each time|in (?:the )?future|going forward|whenever"
    r"|by default|in general|as a rule|for good|at all times|every (?:recipe|answer|reply|mail"
    r"|email|message|summary|plan|chart|quote|draft|week|morning|day)|any (?:recipe|answer|reply"
    r"|message|change)|in all\b)",
    re.I,
)
_FOR_ME: Final = re.compile(
    r"\b(?:for me|with me|to me|call me|you give me|address me|sell me|my (?:answers|mails|emails"
    r"|messages|drafts|plans|menu plans|recipes|charts))\b",
    re.I,
)
_ONCE: Final = re.compile(
    r"\b(?:this (?!way|style)|these|that|today|tonight|tomorrow|it's for|it is for|for (?:the|a"
    r"|an) |the (?:next|last|first|following) |here|now(?! on)|below|above|attached|him|her|them"
    r"|it)\b",
    re.I,
)


# What points at something else, and what is advice to whom it is said to.
_ELSEWHERE: Final = re.compile(
    r"^(?:please )?\w+ (?:it|that|this)\b|\b(?:always|never) \w+ (?:it|that|this)\b"
    r"|\byour (?!answers?|repl|responses?|messages|summar|suggest|explan|output|tone)|\byou (?:can"
    r"|should|will|have|need|must)\b",
    re.I,
)


def _until_end(text: str) -> str:
    return re.split(r"[;.!?—–]", text, maxsplit=1)[0].strip(" ,")


def _standing(match: re.Match[str]) -> Iterator[SlotMatch]:
    """Read a wish that names all times: always, never, from now on, every time."""
    text = _until_end(match.string)
    if _FOREVER.search(text) and len(text.split()) >= 3 and ":" not in text and not _ELSEWHERE.search(text):
        yield SlotMatch("rule", _plainly(text), own=text)


def _personal(match: re.Match[str]) -> Iterator[SlotMatch]:
    """Read a wish without a time, but about the speaker: "Please don't use red in charts for me"."""
    text = _until_end(match.string)
    if (
        (_FOR_ME.search(text) or _FOREVER.search(text))
        and not _ONCE.search(text)
        and not _ELSEWHERE.search(text)
    ):
        yield SlotMatch("rule", _plainly(text), own=text)


def _reasoned(match: re.Match[str]) -> Iterator[SlotMatch]:
    """Read what follows from a lasting fact: "I pray five times a day, so keep meetings clear of noon"."""
    text = _until_end(match.group("v"))
    if not _ONCE.search(text) and len(text.split()) >= 3:
        yield SlotMatch("rule", _plainly(text), own=text)


def _when(match: re.Match[str]) -> Iterator[SlotMatch]:
    yield SlotMatch(
        "rule", f"{match.group('what').strip()}: {_until_end(match.group('v'))}", own=_until_end(match.string)
    )


def _plainly(text: str) -> str:
    return re.sub(r"^(?:please|kindly|and|so|also|just),? |,? please$", "", text.strip(), flags=re.I).strip(
        " ,"
    )


_ASKED: Final = r"(?:please,? |kindly |and |just |also )*"
WISHES: Final[tuple[Rule, ...]] = (
    rule(rf"{_ASKED}(?:always|never) {_VERBS}\b", _standing),
    rule(
        rf"{_ASKED}(?:from now on|in future|in the future|going forward|by default"
        rf"|as a rule),? (?:please,? )?(?:do not|never|always|you should|I want you|I would like you"
        rf"|just|only|{_VERBS})\b",
        _standing,
    ),
    rule(
        rf"{_ASKED}(?:every time|whenever|each time) [^,;.!?]+, (?:please,? )?(?:do not|never|always"
        rf"|just|{_VERBS})\b",
        _standing,
    ),
    rule(rf"{_ASKED}(?:do not|don't|stop|no need to) (?:ever )?{_BANNED}\w*\b", _personal),
    rule(
        rf"{_ASKED}{_VERBS}\b[^;.!?]*\b(?:always|from now on|every time|going forward|whenever"
        rf"|by default|each time|every (?:recipe|answer|reply|mail|email|message|summary|plan|chart"
        rf"|quote))\b",
        _standing,
    ),
    rule(rf"{_ASKED}(?:use|speak|write|spell) [^;.!?]* (?:with|for|to) me\b", _personal),
    rule(rf"{_ASKED}flag (?:any|every|all) [^;.!?]+", _standing),
    rule(
        r"(?P<what>when(?:ever)? I (?:ask|say|write|send|share|paste)[^,;.!?]*), (?P<v>(?:I want"
        r"|I need|please|always|never|give|use|just|only|keep|answer)\b[^;.!?]+)",
        _when,
    ),
    rule(r"I (?:want|would like|need|would prefer|expect) you to (?:always|never) [^;.!?]+", _standing),
    rule(
        r"(?:my|our) (?:quotes?|mails?|emails?|reports?|invoices?|recipes?|answers?|plans?|documents?"
        r"|quotes) (?:always |should always |must always )(?:need|have|show|be|use)\b[^;.!?]*",
        _standing,
    ),
    rule(
        r"(?:quotes?|mails?|emails?|reports?|invoices?|recipes?|answers?|dates?|prices?"
        r"|times) always (?:need|have|go|in|with|get)\b[^;.!?]*",
        _standing,
    ),
    rule(
        r"(?P<v>(?:all |the )?(?:prices|temperatures|distances|times|dates|weights|measurements"
        r"|amounts|units|recipes|quantities) (?:always )?in [A-Z][\w ]+?,? please)",
        _reasoned,
    ),
)
# After a lasting fact of the same sentence, "so" makes an imperative a standing wish.
REASONED: Final[tuple[Rule, ...]] = (
    rule(
        r"(?:please,? )?(?P<v>(?:do not |don't |no |never |always |keep |use |avoid |leave |skip "
        r"|only |give |make sure |stick )[^;.!?]+)",
        _reasoned,
    ),
)
