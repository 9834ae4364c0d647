"""Lists of phrases as patterns, compiled when first asked for."""

import re
from collections.abc import Iterable
from functools import cache

from episodic_agent.data import phrases


@cache
def phrase_pattern(*addresses: str) -> re.Pattern[str]:
    """Return the phrases of lists as a pattern for a line of folded words.

    The line begins and ends with a space. A match takes the space before the phrase, not the one after it.

    >>> phrase_pattern("links/dependence.choosing").search(" is the cheaper one free ").group()
    ' the cheaper'
    """
    return compiled_phrases({phrase for address in addresses for phrase in phrases(address)})


def compiled_phrases(listed: Iterable[str]) -> re.Pattern[str]:
    """Compile phrases of a line of folded words, the longest first.

    >>> compiled_phrases(["so", "so far"]).search(" done so far ").group()
    ' so far'
    """
    longest = sorted(listed, key=lambda phrase: (-len(phrase), phrase))
    return re.compile(f" (?:{'|'.join(map(re.escape, longest))})(?= )")


@cache
def unspaced_pattern(*addresses: str) -> re.Pattern[str]:
    """Return the phrases of lists as a pattern for text without spaces between words, the longest first.

    >>> unspaced_pattern("links/lexicon.han.anaphora").search("我要那个").group()
    '那个'
    """
    listed = [phrase for address in addresses for phrase in phrases(address)]
    longest = sorted(listed, key=lambda phrase: (-len(phrase), phrase))
    return re.compile("|".join(map(re.escape, longest)))
