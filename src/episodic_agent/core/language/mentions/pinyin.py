"""Chinese names in Latin letters: what is made of the syllables of Mandarin."""

import re
from functools import lru_cache

from episodic_agent.data import lines


def _syllable_pattern() -> str:
    rows = (row.split() for row in lines("entities/pinyin.syllables"))
    return (
        "(?:"
        + "|".join(f"{row[0]}(?:{'|'.join(sorted(row[1:], key=len, reverse=True))})" for row in rows)
        + ")"
    )


@lru_cache(maxsize=2)
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Compile both patterns when first used (20 ms): a word of one or two syllables, and a given name."""
    syllable = _syllable_pattern()
    return re.compile(rf"(?:{syllable}|ai|ao|an|ang|ou|en|er){{1,2}}"), re.compile(rf"{syllable}{{2}}")


@lru_cache(maxsize=65_536)
def is_word(low: str) -> bool:
    """Say whether a folded word is one or two syllables of Mandarin.

    >>> is_word("mingxuan"), is_word("street")
    (True, False)
    """
    return _patterns()[0].fullmatch(low) is not None


@lru_cache(maxsize=65_536)
def is_given(low: str) -> bool:
    """Say whether a folded word is two syllables that both begin with a consonant, as given names do."""
    return _patterns()[1].fullmatch(low) is not None
