"""Sentences, with the rule-based `sentencex` segmenter."""

import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Final

from episodic_agent.core.language.scripts import script
from episodic_agent.core.language.terms import tokens
from episodic_agent.data import texts

_ORDINAL: Final = re.compile(r"\b\d{1,2}\.\s*$")
_DAY_OR_MONTH: Final = re.compile(r"\s*\d{1,2}\.")  # the 3. of "16. 3."
# German words before an ordinal and a noun, which has a capital: "der 2. Weltkrieg"; "I am 20." is none
_BEFORE_ORDINAL: Final = re.compile(
    r"(?i)\b(?:der|die|das|den|dem|des|im|vom|zum|zur|beim|ins|fürs|(?<!\bi )am"
    r"|jede[rmns]?|(?:m|s|d)?ein(?:e[rmns]?)?"
    r"|ihr(?:e[rmns]?)?|unser(?:e[rmns]?)?|bis|ab|seit) \d{1,2}\.\s*$"
)
_LOOKED_AT: Final = 1_000_000  # characters of a text an excerpt is taken from: a third of a second

_BY_SCRIPT: Final = {
    "latin": "en",
    "cyrillic": "ru",
    "han": "zh",
    "kana": "ja",
    "greek": "el",
    "arabic": "ar",
    "hebrew": "he",
    "devanagari": "hi",
    "armenian": "hy",
    "hangul": "ko",
    "bengali": "bn",
    "tamil": "ta",
    "telugu": "te",
}


def sentences(text: str, language: str | None = None) -> list[str]:
    r"""Cut a text into stripped, non-blank sentences; a line break always ends one.

    `language` is an ISO 639-1 code; without it the script decides (abbreviations differ between languages).

    >>> sentences("Dr. Lee came. We spoke!\n- first point")
    ['Dr. Lee came.', 'We spoke!', '- first point']
    >>> sentences("Die Miete ist am 3. April fällig. Danke.")
    ['Die Miete ist am 3. April fällig.', 'Danke.']
    >>> sentences("Urlaub ist vom 16. bis 20. März. Der 2. Weltkrieg. It costs 20. Fine.")
    ['Urlaub ist vom 16. bis 20. März.', 'Der 2. Weltkrieg.', 'It costs 20.', 'Fine.']
    >>> sentences("Prerow vom 18.7. bis 1.8. ; dort waren sie schon.")
    ['Prerow vom 18.7. bis 1.8. ; dort waren sie schon.']
    """
    code = language or _BY_SCRIPT.get(script(text), "en")
    segment = _segmenter()
    cut_pieces: list[str] = []
    for line in text.splitlines():
        if len(line) < 4:  # too short to hold two sentences; spares the segmenter's call
            cut_pieces.append(line.strip())
            continue
        cut_pieces.extend(piece.strip() for piece in _joined_at_ordinals(segment(code, line), code))
    return [piece for piece in cut_pieces if piece]


def _joined_at_ordinals(pieces: Iterable[str], language: str) -> list[str]:
    """Join what an ordinal tore apart: "16." and "bis", "3." and "April", "fürs 1." and "Quartal"."""
    joined: list[str] = []
    for piece in pieces:
        if joined and _ORDINAL.search(joined[-1]) and (language == "de" or _continues(joined[-1], piece)):
            joined[-1] += piece
        else:
            joined.append(piece)
    return joined


def _continues(before: str, piece: str) -> bool:
    """Tell whether a sentence goes on behind an ordinal, whatever language it is in."""
    start = piece.lstrip()[:1]
    small = start.isalpha() and start == start.lower() != start.upper()
    # no sentence begins with a comma or a semicolon
    if small or start in (",", ";") or _DAY_OR_MONTH.match(piece) or _begins_with_a_month(piece):
        return True
    return _BEFORE_ORDINAL.search(before) is not None


def _begins_with_a_month(piece: str) -> bool:
    return any(word.rstrip(".,;:!?").casefold() in _months() for word in piece.split(maxsplit=1)[:1])


@cache
def _months() -> frozenset[str]:
    return frozenset(name.casefold() for names in texts("language/months").values() for name in names.split())


@cache
def _segmenter() -> "Callable[[str, str], Iterable[str]]":
    """Import the segmenter when first used: most commands never cut sentences."""
    from sentencex import segment  # noqa: PLC0415

    cut: Callable[[str, str], Iterable[str]] = segment
    return cut


def excerpt(text: str, query: str, limit: int) -> str:
    """Return the part of a text, at most `limit` characters long, that holds most of a query's terms.

    It begins with a sentence; "…" stands where something is left out. Of equal parts the first is taken.

    >>> excerpt("We talked for long. The clutch costs 900 euros. So be it.", "what does the clutch cost", 32)
    '… The clutch costs 900 euros. …'
    """
    if len(text) <= limit:
        return text
    terms, parts = set(tokens(query)), sentences(text[:_LOOKED_AT])
    meeting = [len(terms.intersection(tokens(part))) for part in parts]
    first = meeting.index(max(meeting)) if parts else 0
    room = limit - 4
    shown, rest = "", parts[first:] or [text]
    for part in rest:
        if shown and len(shown) + 1 + len(part) > room:
            break
        shown = f"{shown} {part}".strip()
    return f"{'… ' if first else ''}{shown[:room].rstrip()} …"
