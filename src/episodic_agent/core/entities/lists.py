"""How word lists are written: entries joined by `|` and line breaks, plain words by spaces."""

from collections.abc import Iterator


def entries(text: str) -> Iterator[str]:
    """Yield the entries of a list joined by `|` and line breaks.

    >>> list(entries("new york|boston"))
    ['new york', 'boston']
    """
    return (entry for entry in text.replace("\n", "|").split("|") if entry)


def pairs(text: str) -> dict[str, str]:
    """Return a list of `form=value` entries as a mapping; a form alone is its own value.

    >>> pairs("nyc=new york|boston")
    {'nyc': 'new york', 'boston': 'boston'}
    """
    return {form: value or form for form, _, value in (entry.partition("=") for entry in entries(text))}


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())
