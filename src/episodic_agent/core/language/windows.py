"""Cut a long text into windows that an embedder can read whole."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from episodic_agent.core.language import sentences
from episodic_agent.lazily import module

if TYPE_CHECKING:
    import numpy as np
else:
    np = module("numpy")

WINDOW = 900  # characters of a Latin text that stay under 256 word pieces; wider scripts count more
FEW = 8  # windows that are embedded at once, in about half a second; of a longer text only the first is
WIDE = 3.6  # one CJK character is about one word piece, a Latin one about a quarter
WIDE_FROM = 0x2E80


def weight(text: str) -> float:
    """Estimate how much of a window a text fills, in Latin characters.

    >>> weight("tea"), weight("茶")
    (3.0, 3.6)
    """
    if text.isascii():
        return float(len(text))
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    return len(text) + (WIDE - 1) * int((codes >= WIDE_FROM).sum())


def windows(text: str, size: int = WINDOW) -> list[str]:
    """Split a text at sentence borders into pieces of at most about `size` Latin characters.

    A sentence longer than a window is cut between words where it can be. The pieces hold every word.

    >>> windows("One. Two.")
    ['One. Two.']
    >>> [len(w) for w in windows("word " * 400)]
    [899, 899, 199]
    """
    if len(text) * WIDE <= size or weight(text) <= size:
        return [text.strip()]
    pieces: list[str] = []
    current = ""
    for sentence in _fitting(sentences(text), size):
        if current and weight(current) + weight(sentence) + 1 > size:
            pieces.append(current)
            current = sentence
        else:
            current = f"{current} {sentence}" if current else sentence
    return [*pieces, current] if current else pieces


def is_long(text: str) -> bool:
    """Tell whether a text is so long that only its beginning is embedded while somebody waits.

    >>> is_long("word " * 1_000), is_long("word " * 2_000)
    (False, True)
    """
    return len(text) * WIDE > FEW * WINDOW and weight(text) > FEW * WINDOW


def beginning(text: str) -> list[str]:
    """Return what of a text is embedded at once: all windows of a short one, the first of a long one.

    >>> [len(beginning("word " * count)) for count in (400, 2_000)]
    [3, 1]
    """
    return windows(text[: FEW * WINDOW])[:1] if is_long(text) else windows(text)


def _fitting(parts: list[str], size: int) -> list[str]:
    return [p.strip() for part in parts for p in _cut(part, size) if p.strip()]


def _cut(part: str, size: int) -> Iterator[str]:
    """Yield pieces of a sentence; its characters are weighed once, however many pieces there are."""
    if weight(part) <= size:
        yield part
        return
    codes = np.frombuffer(part.encode("utf-32-le", "surrogatepass"), np.uint32)
    wide = np.concatenate([[0], np.cumsum(codes >= WIDE_FROM)])
    start, last = 0, len(part)
    while (heavy := last - start + (WIDE - 1) * int(wide[last] - wide[start])) > size:
        end = start + max(1, int(size * (last - start) / heavy))
        space = part.rfind(
            " ", start + (end - start) // 2, end + 1
        )  # not inside a word, where there are spaces
        end = space if space > start else end
        yield part[start:end]
        start = end
        while start < last and part[start].isspace():
            start += 1
    yield part[start:]
