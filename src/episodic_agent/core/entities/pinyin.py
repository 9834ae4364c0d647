"""Chinese names in Latin letters: what is made of the syllables of Mandarin."""

import re
from functools import lru_cache
from typing import Final

# Finals by the initials they go with: the syllables of Mandarin in pinyin.
_SYLLABLES: Final = """
b a o ai ei ao an en ang eng i iao ie ian in ing u
p a o ai ei ao ou an en ang eng i iao ie ian in ing u
m a o e ai ei ao ou an en ang eng i iao ie iu ian in ing u
f a o ei ou an en ang eng u
d a e ai ao ou an ang eng ong i iao ie iu ian ing u uo ui uan un
t a e ai ao ou an ang eng ong i iao ie ian ing u uo ui uan un
n a e ai ei ao ou an en ang eng ong i iao ie iu ian in iang ing u uo uan v
l a e ai ei ao ou an ang eng ong i ia iao ie iu ian in iang ing u uo uan un v
g a e ai ei ao ou an en ang eng ong u ua uo uai ui uan un uang
k a e ai ao ou an en ang eng ong u ua uo uai ui uan un uang
h a e ai ei ao ou an en ang eng ong u ua uo uai ui uan un uang
j i ia iao ie iu ian in iang ing iong u ue uan un
q i ia iao ie iu ian in iang ing iong u ue uan un
x i ia iao ie iu ian in iang ing iong u ue uan un
zh a e ai ao ou an en ang eng ong i u ua uo uai ui uan un uang
ch a e ai ao ou an en ang eng ong i u uo uai ui uan un uang
sh a e ai ei ao ou an en ang eng i u ua uo uai ui uan un uang
r ao ou an en ang eng ong i u uo ui uan un
z a e ai ao ou an en ang eng ong i u uo ui uan un
c a e ai ao ou an en ang eng ong i u uo ui uan un
s a e ai ao ou an en ang eng ong i u uo ui uan un
y a e ao ou an ang i in ing ong u ue uan un
w a o ai ei an en ang eng u
"""


def _syllable_pattern() -> str:
    rows = (row.split() for row in _SYLLABLES.strip().splitlines())
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
