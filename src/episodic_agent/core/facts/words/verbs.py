"""English verbs by what they say of a speaker, and their forms: what is looked up of a clause's verb."""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from episodic_agent.data import listed_words, phrases

# Done again and again when told in the present: they need no word of time.
PRACTISED: Final = listed_words("facts/verbs.practised")
# Told in the present with what is done, they are habits too.
DONE: Final = listed_words("facts/verbs.done")
# Of these, the ones that seldom tell of the moment.
STEADY: Final = listed_words("facts/verbs.steady")
# Of the mind and of talk: in the present they tell about the moment.
TALK: Final = listed_words("facts/verbs.talk")
# What is told of a life once and for all.
LIFE: Final = listed_words("facts/verbs.life")
# They say little without what is done.
GENERIC_VERBS: Final = listed_words("facts/verbs.light")
# What is done at a desk is the day's work.
OFFICE: Final = listed_words("facts/verbs.office")
# What befalls a thing or a person owned.
PARTING: Final = listed_words("facts/verbs.parting")
TASTE: Final = listed_words("facts/verbs.taste")
DISTASTE: Final = listed_words("facts/verbs.distaste")


def _forms() -> tuple[Mapping[str, str], Mapping[str, str]]:
    past: dict[str, str] = {}
    done: dict[str, str] = {}
    for row in phrases("facts/verbs.irregular"):
        lemma, was, been = row.split()
        past[was], done[been] = lemma, lemma
    return MappingProxyType(past), MappingProxyType(done)


PAST, PARTICIPLE = _forms()
KNOWN: Final = PRACTISED | DONE | TALK | LIFE | PARTING | DISTASTE | frozenset(PAST.values())
_STEMS: Final = KNOWN | GENERIC_VERBS | OFFICE
_NOT_PAST: Final = listed_words("facts/verbs.not_past")


def _stem(word: str, ending: str) -> str:
    """Return the lemma of a regular form: the one the lists know, else the plainest."""
    base = word[: -len(ending)]
    doubled = base[:-1] if len(base) > 3 and base[-1] == base[-2] else base
    tries = (base, f"{base}e", doubled, f"{base[:-1]}y" if base.endswith("i") else base)
    return next((one for one in tries if one in _STEMS), tries[-1])


@lru_cache(maxsize=4096)
def past_of(word: str) -> str:
    """Return the verb a past form belongs to, "" where it is none.

    >>> past_of("moved"), past_of("quit"), past_of("married"), past_of("need"), past_of("swapped")
    ('move', 'quit', 'marry', '', 'swapp')
    """
    if word in PAST:
        return PAST[word]
    return _stem(word, "ed") if word.endswith("ed") and len(word) > 4 and word not in _NOT_PAST else ""


@lru_cache(maxsize=4096)
def participle_of(word: str) -> str:
    """Return the verb a past participle belongs to, "" where it is none.

    >>> participle_of("given"), participle_of("lived"), participle_of("red")
    ('give', 'live', '')
    """
    return PARTICIPLE.get(word, "") or ("" if word in PAST else past_of(word))


@lru_cache(maxsize=4096)
def doing_of(word: str) -> str:
    """Return the verb an -ing form belongs to, "" where it is none.

    >>> doing_of("running"), doing_of("saving"), doing_of("morning"), doing_of("thing")
    ('run', 'save', '', '')
    """
    if (
        not word.endswith("ing")
        or len(word) < 5
        or word in ("morning", "evening", "thing", "spring", "string")
    ):
        return ""
    return _stem(word, "ing")


@lru_cache(maxsize=4096)
def third_to_base(word: str) -> str:
    """Return the base of a third person's verb.

    >>> third_to_base("lives"), third_to_base("studies"), third_to_base("teaches"), third_to_base("has")
    ('live', 'study', 'teach', 'have')
    """
    fixed = {"is": "am", "has": "have", "does": "do", "goes": "go", "was": "was"}
    if word in fixed:
        return fixed[word]
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith("es") and word[:-2] in KNOWN:
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word
