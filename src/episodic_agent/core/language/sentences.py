"""Sentences, with the rule-based `sentencex` segmenter."""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Final

from episodic_agent.core.language.scripts import script
from episodic_agent.core.language.terms import tokens

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
    """
    code = language or _BY_SCRIPT.get(script(text), "en")
    segment = _segmenter()
    texts: list[str] = []
    for line in text.splitlines():
        if len(line) < 4:  # too short to hold two sentences; spares the segmenter's call
            texts.append(line.strip())
            continue
        texts.extend(piece.strip() for piece in segment(code, line))
    return [piece for piece in texts if piece]


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
