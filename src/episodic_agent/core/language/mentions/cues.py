"""The words that tell kinds, as sets: what may end, begin, precede or follow a name."""

from functools import cache

from episodic_agent.data import listed_words, phrase_set


@cache
def titles() -> frozenset[str]:
    """Return the titles of persons, without the full stop of their short forms."""
    return _without_stops("entities/people.titles")


@cache
def place_fronts() -> frozenset[str]:
    """Return the words that begin a place's name."""
    return _without_stops("entities/places.fronts")


@cache
def organisation_heads() -> frozenset[str]:
    """Return the words that end an organisation's name."""
    return _without_stops("entities/organisations.heads")


@cache
def not_last() -> frozenset[str]:
    """Return the words that stand inside a name and never end it."""
    return listed_words("entities/cues.connectors") | {"and", "in", "a", "an", "to", "with", "on", "at"}


@cache
def title_words() -> frozenset[str]:
    """Return the connectors inside quoted titles: "An American Werewolf in London"."""
    return not_last() | listed_words("entities/cues.in_titles")


def _without_stops(address: str) -> frozenset[str]:
    return frozenset(word.rstrip(".") for word in phrase_set(address))
