"""Cut a long text into windows that an embedder can read whole."""

from episodic_agent.core.text import sentences

WINDOW = 900  # characters of a Latin text that stay under 256 word pieces; wider scripts count more
WIDE = 3.6  # one CJK character is about one word piece, a Latin one about a quarter
WIDE_FROM = 0x2E80


def weight(text: str) -> float:
    """Estimate how much of a window a text fills, in Latin characters.

    >>> weight("tea"), weight("茶")
    (3.0, 3.6)
    """
    if text.isascii():
        return float(len(text))
    return sum(WIDE if ord(c) >= WIDE_FROM else 1.0 for c in text)


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


def _fitting(parts: list[str], size: int) -> list[str]:
    fitting: list[str] = []
    for part in parts:
        rest = part
        while weight(rest) > size:
            end = size if rest.isascii() else max(1, int(size * len(rest) / weight(rest)))
            space = rest.rfind(" ", end // 2, end + 1)  # not inside a word, where words have spaces
            end = space if space > 0 else end
            fitting.append(rest[:end])
            rest = rest[end:].lstrip()
        fitting.append(rest)
    return [p.strip() for p in fitting if p.strip()]
