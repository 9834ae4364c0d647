"""Where labels go so that none covers another, and which fonts can write them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from unicodedata import east_asian_width

from episodic_agent.faces.plot.words import shorten

# Families that hold Chinese, Japanese and Korean, by the systems that ship them; then scripts at large.
_CANDIDATES: Final = (
    "Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans SC", "Source Han Sans SC", "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei", "Droid Sans Fallback", "PingFang SC", "Hiragino Sans GB", "Heiti SC",
    "Microsoft YaHei", "SimHei", "Malgun Gothic", "Yu Gothic", "Arial Unicode MS", "Noto Sans",
    "Noto Sans Devanagari", "Noto Sans Thai", "Noto Emoji", "Unifont",
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
        texts = [name for name in _CANDIDATES if name in installed]
        self.families = [_BASE, *texts]
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
    """An episode's title, why it began, the messages at the cut; `at` is its line in pixels from the left."""

    at: float
    title: str
    reason: str
    quotes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlacedLabel:
    """A label on its level (0 is the top), to the right of its line or, near the edge, to its left.

    `crossed` tells that another episode's line runs behind it.
    """

    label: Label
    level: int
    start: float
    end: float
    leftwards: bool = False
    crossed: bool = False


def to_draw(text: str, fonts: Fonts) -> str:
    """Keep what the fonts can write; "" when most of a text would be lost, so that a caller can number it."""
    remaining = "".join(character for character in text if fonts.writes(character)).strip()
    written = sum(character.isalnum() for character in remaining)
    limit = sum(character.isalnum() for character in text)
    return remaining if written * 2 > limit or not limit else ""


def text_width(text: str, size: float, dpi: float) -> float:
    """Estimate a text's width in pixels: an em for East Asian characters, a bold mean for the others.

    >>> text_width("日本", 10, 72)
    20.0
    """
    ems = sum(1.0 if east_asian_width(character) in "WF" else _EM_BOLD for character in text)
    return round(ems * size * dpi / 72, 3)


def stagger(labels: Sequence[Label], width: float, levels: int, dpi: float) -> list[PlacedLabel]:
    """Give each label a level where it covers no other and, if it can be, no line runs through it.

    A label's line hangs from its level down, so earlier labels go above later ones. Titles are shortened
    where that helps; a label that fits nowhere is left out (its line still stands in the chart). `width`
    is the axis' in pixels, as is `at`.

    >>> first, second = stagger([Label(0, "One", "begins"), Label(20, "Two", "surprise")], 900, 4, 72)
    >>> first.level, second.level
    (0, 1)
    """
    placed: list[PlacedLabel] = []
    for label in labels:
        titles = dict.fromkeys(shorten(label.title, cells) for cells in (99, 40, 30, 22, _SHORTEST))
        choices = [_fit(replace(label, title=title), placed, width, levels, dpi=dpi) for title in titles]
        fitting = [choice for choice in choices if choice is not None]
        # Few crossings first, then the longest title, which comes first.
        best = min(fitting, key=lambda choice: choice[0], default=None)
        if best is not None:
            placed.append(best[1])
    return [replace(one, crossed=any(_runs_through(other, one) for other in placed)) for one in placed]


def _fit(
    label: Label, placed: Sequence[PlacedLabel], width: float, levels: int, *, dpi: float
) -> tuple[int, PlacedLabel] | None:
    """Find the level with the fewest lines through labels; return their number and the place."""
    size = max(text_width(label.title, 8.6, dpi), _small_width(label, dpi)) + _GAP
    leftwards = label.at + size > width
    start, end = (label.at - size, label.at) if leftwards else (label.at, label.at + size)
    best: tuple[int, PlacedLabel] | None = None
    for level in range(levels if start >= 0 else 0):
        here = PlacedLabel(label, level, start, end, leftwards)
        if any(start < other.end and other.start < end for other in placed if other.level == level):
            continue
        crossings = sum(_runs_through(here, other) + _runs_through(other, here) for other in placed)
        if best is None or crossings < best[0]:
            best = crossings, here
    return best


def _small_width(label: Label, dpi: float) -> float:
    return max(text_width(text, 7.4, dpi) for text in (label.reason, *label.quotes))


def _runs_through(above: PlacedLabel, below: PlacedLabel) -> bool:
    """Tell whether the line that hangs from one label runs through another, lower one."""
    return above.level < below.level and below.start < above.label.at < below.end
