"""Counts as they are said: the noun agrees with the number."""


def plural(count: float, word: str, several: str = "") -> str:
    """Write a count of things; `several` is the plural where it is not the word with an s.

    >>> plural(1, "step"), plural(1_300, "step"), plural(2, "memory", "memories")
    ('1 step', '1,300 steps', '2 memories')
    >>> plural(1, "job waits", "jobs wait"), plural(1.0, "day"), plural(0.5, "day")
    ('1 job waits', '1 day', '0.5 days')
    """
    number = f"{count:,}" if isinstance(count, int) else f"{count:,g}"
    return f"{number} {word if count == 1 else several or f'{word}s'}"
