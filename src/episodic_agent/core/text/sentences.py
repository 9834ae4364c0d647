"""Sentences, with the rule-based `sentencex` segmenter."""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Final

from episodic_agent.core.text.scripts import script

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
    found: list[str] = []
    for line in text.splitlines():
        if len(line) < 4:  # too short to hold two sentences; spares the segmenter's call
            found.append(line.strip())
            continue
        found.extend(piece.strip() for piece in segment(code, line))
    return [piece for piece in found if piece]


@cache
def _segmenter() -> "Callable[[str, str], Iterable[str]]":
    """Import the segmenter when first used: most commands never cut sentences."""
    from sentencex import segment  # noqa: PLC0415

    cut: Callable[[str, str], Iterable[str]] = segment
    return cut
