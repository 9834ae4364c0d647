"""Where labels go so that none covers another, and which fonts can write them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from unicodedata import east_asian_width

from episodic_agent.faces.plot.words import shorten

# Families that hold Chinese, Japanese and Korean, by the systems that ship them; then scripts at large.
_CANDIDATES: Final = (
    "Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans SC", "Source Han Sans SC", "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei", "Droid Sans Fallback", "PingFang SC", "Hiragino Sans GB", "Heiti SC", "Microsoft YaHei",
    "SimHei", "Malgun Gothic", "Yu Gothic", "Arial Unicode MS", "Noto Sans", "Noto Sans Devanagari",
    "Noto Sans Thai", "Noto Emoji", "Unifont",
)  # fmt: skip
_BASE: Final = "DejaVu Sans"
_EM_BOLD: Final = 0.69  # mean advance of DejaVu Sans Bold in ems, a little generous
_GAP: Final = 10.0  # pixels between labels
_SHORTEST: Final = 12


class Fonts:
    """The font families of this machine that a picture can use, and the characters they can write.

    With `any_glyph` (SVG, whose viewer brings its own fonts) every character counts as writable.
    """

    def __init__(self, manager: Any, *, any_glyph: bool) -> None:
        installed = {font.name: font.fname for font in manager.fontManager.ttflist}
        found = [name for name in _CANDIDATES if name in installed]
        self.families = [_BASE, *found]
        self._any = any_glyph
        self._glyphs: set[int] = set()
        for name in () if any_glyph else self.families:
            if name in installed:
                self._glyphs |= set(manager.get_font(installed[name]).get_charmap())

    def writes(self, character: str) -> bool:
        """Tell whether a character can be drawn without an empty box."""
        return self._any or character.isspace() or ord(character) in self._glyphs


@dataclass(frozen=True, slots=True)
class Label:
    """An episode's title and why it began; `at` is its line's place in pixels from the left."""

    at: float
    title: str
    reason: str


@dataclass(frozen=True, slots=True)
class Placed:
    """A label on its level (0 is the top), to the right of its line or, near the edge, to its left."""

    label: Label
    level: int
    leftwards: bool


def to_draw(text: str, fonts: Fonts) -> str:
    """Keep what the fonts can write; "" when most of a text would be lost, so that a caller can number it."""
    kept = "".join(character for character in text if fonts.writes(character)).strip()
    written = sum(character.isalnum() for character in kept)
    wanted = sum(character.isalnum() for character in text)
    return kept if written * 2 > wanted or not wanted else ""


def text_width(text: str, size: float, dpi: float) -> float:
    """Estimate a text's width in pixels: an em for East Asian characters, a bold mean for the others.

    >>> text_width("日本", 10, 72)
    20.0
    """
    ems = sum(1.0 if east_asian_width(character) in "WF" else _EM_BOLD for character in text)
    return round(ems * size * dpi / 72, 3)


def stagger(labels: Sequence[Label], width: float, levels: int, fonts: Fonts, dpi: float) -> list[Placed]:
    """Give each label the highest level where it covers no other, shortened where that helps.

    A label that fits nowhere is left out: its line still stands. `width` is the axis' in pixels.
    """
    taken: list[list[tuple[float, float]]] = [[] for _ in range(levels)]
    placed = []
    for position, label in enumerate(labels):
        # Later lines run through this label's level; reaching over one is fine, over its label is not.
        for title in (label.title, shorten(label.title, 22), shorten(label.title, _SHORTEST)):
            fitted = _fit(replace(label, title=title), taken, width, dpi)
            if fitted is not None:
                placed.append(fitted)
                break
    return placed


def _fit(label: Label, taken: list[list[tuple[float, float]]], width: float, dpi: float) -> Placed | None:
    size = max(text_width(label.title, 8.6, dpi), text_width(label.reason, 7.4, dpi)) + _GAP
    leftwards = label.at + size > width
    start, end = (label.at - size, label.at) if leftwards else (label.at, label.at + size)
    if start < 0:
        return None
    for level, spans in enumerate(taken):
        if all(end <= other_start or start >= other_end for other_start, other_end in spans):
            spans.append((start, end))
            return Placed(label, level, leftwards)
    return None
