"""Repair of text that a database cannot hold, and the scripts that decide how text is cut into terms."""

import re
from collections import Counter
from functools import lru_cache
from typing import Final

_BROKEN: Final = re.compile("[\x00\ud800-\udfff]")
_REPLACEMENT: Final = "\ufffd"

# First code point of each range, in order: (start, end, script). Letters outside every range are "other".
_RANGES: Final[tuple[tuple[int, int, str], ...]] = (
    (0x0041, 0x024F, "latin"),
    (0x0370, 0x03FF, "greek"),
    (0x0400, 0x052F, "cyrillic"),
    (0x0530, 0x058F, "armenian"),
    (0x0590, 0x05FF, "hebrew"),
    (0x0600, 0x06FF, "arabic"),
    (0x0750, 0x077F, "arabic"),
    (0x0900, 0x097F, "devanagari"),
    (0x0980, 0x09FF, "bengali"),
    (0x0B80, 0x0BFF, "tamil"),
    (0x0C00, 0x0C7F, "telugu"),
    (0x0E00, 0x0E7F, "thai"),
    (0x0E80, 0x0EFF, "lao"),
    (0x1000, 0x109F, "myanmar"),
    (0x10A0, 0x10FF, "georgian"),
    (0x1100, 0x11FF, "hangul"),
    (0x1780, 0x17FF, "khmer"),
    (0x1E00, 0x1EFF, "latin"),
    (0x1F00, 0x1FFF, "greek"),
    (0x2E80, 0x2FDF, "han"),
    (0x3005, 0x3007, "han"),
    (0x3040, 0x30FF, "kana"),
    (0x3130, 0x318F, "hangul"),
    (0x31F0, 0x31FF, "kana"),
    (0x3400, 0x9FFF, "han"),
    (0xAC00, 0xD7FF, "hangul"),
    (0xF900, 0xFAFF, "han"),
    (0xFB50, 0xFDFF, "arabic"),
    (0xFE70, 0xFEFE, "arabic"),
    (0xFF21, 0xFF5A, "latin"),
    (0xFF66, 0xFF9F, "kana"),
    (0x20000, 0x3FFFF, "han"),
)
# Written without spaces between words, or (Korean) with endings glued on: cut into bigrams.
BIGRAM_SCRIPTS: Final = frozenset({"han", "kana", "hangul", "thai", "lao", "khmer", "myanmar"})
_SAMPLE: Final = 400


def repair(text: str) -> tuple[str, bool]:
    r"""Replace NUL and lone surrogates by U+FFFD and say whether anything was replaced.

    PostgreSQL text cannot hold them and UTF-8 cannot encode the latter. Everything else is left alone.

    >>> repair("a" + chr(0) + "b")
    ('a\ufffdb', True)
    >>> repair("plain")
    ('plain', False)
    """
    if text.isascii() and "\x00" not in text:
        return text, False
    repaired, count = _BROKEN.subn(_REPLACEMENT, text)
    return repaired, count > 0


@lru_cache(maxsize=65_536)
def letter_script(character: str) -> str:
    """Return the script of a character; "" for digits, marks and signs, "other" for unlisted letters.

    >>> letter_script("ж"), letter_script("本"), letter_script("7")
    ('cyrillic', 'han', '')
    """
    if not (character.isalpha() or character == "々"):
        return ""
    code = ord(character)
    for first, last, name in _RANGES:
        if first <= code <= last:
            return name
    return "other"


def script(text: str) -> str:
    """Return the script most letters of a text are written in, "" when it has no letters.

    Only the first 400 letters or so are looked at. Japanese with any kana is "kana", as a few kana among
    Chinese characters decide the language.

    >>> script("Где мы были?"), script("昨天我去了上海"), script("42")
    ('cyrillic', 'han', '')
    """
    sample = text[:_SAMPLE]
    if sample.isascii():
        return "latin" if sample.lower() != sample.upper() else ""  # only letters have both
    counts = Counter(letter_script(character) for character in sample)
    counts.pop("", None)
    if not counts:
        return ""
    if counts["kana"] and counts["kana"] + counts["han"] >= counts.total() / 2:
        return "kana"
    return max(sorted(counts), key=lambda name: counts[name])
