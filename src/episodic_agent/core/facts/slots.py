"""The slots of facts: which hold one value at a time, their categories and their sentences."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from episodic_agent.core.language import fold, tokens
from episodic_agent.core.language.remembering import remembered
from episodic_agent.schemas.facts import Category

OTHER: Final = "other"  # what a language model finds outside the table
STATED: Final = "stated"  # a quotation: "stated:" and the mark of its matter, which holds one at a time


@dataclass(frozen=True, slots=True)
class Slot:
    """One attribute: `single` holds one value at a time; the sentences have {s} and {v}.

    A slot whose sentence is "" is told in the speaker's own words.
    """

    category: Category
    says: str = ""
    denies: str = ""
    single: bool = False


_I, _P, _N, _Y = Category.IDENTITY, Category.PREFERENCE, Category.INTEREST, Category.PERSONALITY
_R, _E, _G, _L = Category.RELATIONSHIP, Category.EXPERIENCE, Category.GOAL, Category.GUIDELINE
SLOTS: Final[Mapping[str, Slot]] = MappingProxyType(
    {
        "name": Slot(_I, "{s}'s name is {v}", "{s}'s name is not {v}", single=True),
        "also_called": Slot(_I, "{s} is also called {v}", "{s} is not called {v}"),
        "pronouns": Slot(_I, "{s}'s pronouns are {v}", "{s}'s pronouns are not {v}", single=True),
        "age": Slot(_I, "{s} is {v} years old", "{s} is not {v} years old", single=True),
        "birthday": Slot(_I, "{s}'s birthday is {v}", "{s}'s birthday is not {v}", single=True),
        "lives_in": Slot(_I, "{s} lives in {v}", "{s} does not live in {v}", single=True),
        "from": Slot(_I, "{s} is from {v}", "{s} is not from {v}"),
        "nationality": Slot(_I, "{s} is {v}", "{s} is not {v}"),
        "job": Slot(_I, "{s}'s work: {v}", "{s}'s work is not: {v}"),
        "employer": Slot(_I, "{s} works for {v}", "{s} does not work for {v}", single=True),
        "studies": Slot(_I, "{s} studies {v}", "{s} does not study {v}"),
        "speaks": Slot(_I, "{s} speaks {v}", "{s} does not speak {v}"),
        "owns": Slot(_I, "{s} has {v}", "{s} does not have {v}"),
        "health": Slot(_I, "{s}'s health: {v}", "{s}'s health: not {v}"),
        "allergic": Slot(_I, "{s} is allergic to {v}", "{s} is not allergic to {v}"),
        "status": Slot(_I, "{s} is {v}", "{s} is not {v}"),
        "diet": Slot(_P, "{s}'s diet: {v}", "{s}'s diet: not {v}"),
        "likes": Slot(_P, "{s} likes {v}", "{s} does not like {v}"),
        "dislikes": Slot(_P, "{s} dislikes {v}", "{s} does not dislike {v}"),
        "prefers": Slot(_P, "{s} prefers {v}", "{s} does not prefer {v}"),
        "favourite": Slot(_P, "{s}'s favourite: {v}", "not {s}'s favourite: {v}"),
        "interest": Slot(_N, "{s} is interested in {v}", "{s} is not interested in {v}"),
        "habit": Slot(_Y),
        "trait": Slot(_Y, "{s} is {v}", "{s} is not {v}"),
        "belief": Slot(_Y, "{s} believes {v}", "{s} does not believe {v}"),
        "fears": Slot(_Y, "{s} is afraid of {v}", "{s} is not afraid of {v}"),
        "relationship": Slot(_R, "{s}'s {v}", "no longer {s}'s {v}"),
        "partner": Slot(_R, "{s}'s {v}", "no longer {s}'s {v}", single=True),
        "has_pet": Slot(_R, "{s} has a pet: {v}", "{s} no longer has a pet: {v}"),
        "children": Slot(_R, "{s}'s children: {v}", "{s} has no children"),
        "marital": Slot(_R, "{s} is {v}", "{s} is not {v}", single=True),
        "did": Slot(_E),
        "plans": Slot(_G),
        "rule": Slot(_L),
        OTHER: Slot(_E),
    }
)
_QUOTED: Final = Slot(_E, single=True)  # of a matter, not of a table that a model chooses from
# Two slots of one matter: to like a thing is to end disliking it.
_BY_NAME: Final = frozenset({"partner", "has_pet"})
OPPOSITE: Final = MappingProxyType({"likes": "dislikes", "dislikes": "likes"})


def slot_of(attribute: str) -> Slot:
    """Return the slot of an attribute; one that is not in the table holds many values.

    >>> slot_of("lives_in").single, slot_of("has_boat").single
    (True, False)
    """
    return _QUOTED if attribute.startswith(STATED) else SLOTS.get(attribute, SLOTS[OTHER])


def sentence(subject: str, attribute: str, value: str, holds: bool = True, own: str = "") -> str:
    """Return a fact as a sentence; `own` are the speaker's words, for slots that have no sentence.

    >>> sentence("Maya", "lives_in", "Porto"), sentence("Maya", "habit", "swims", own="swims on Mondays")
    ('Maya lives in Porto', 'Maya: swims on Mondays')
    >>> sentence("The user", "lives_in", "Porto", holds=False)
    'The user does not live in Porto'
    """
    slot = slot_of(attribute)
    pattern = slot.says if holds else slot.denies
    return pattern.format(s=subject, v=value) if pattern else f"{subject}: {own or value}"


def value_key(value: str) -> str:
    """Return what two writings of one value share: its content stems in order, else its folded letters.

    >>> value_key("the Mechanical watches") == value_key("mechanical watch"), value_key("Go")
    (True, 'go')
    """
    return _value_key(value)


@remembered(4_096)  # each statement is compared with all that is known
def _value_key(value: str) -> str:
    return " ".join(tokens(value)) or fold(value.strip())


def keywords(value: str) -> tuple[str, ...]:
    """Return a value's words to search by, each once.

    >>> keywords("the old Fiat, a Fiat")
    ('old', 'fiat')
    """
    return tuple(dict.fromkeys(tokens(value)))


@lru_cache(maxsize=16_384)
def match_key(attribute: str, value: str) -> str:
    """Return what two values of a slot are the same by; partners and animals go by their names.

    >>> match_key("partner", "wife Joana") == match_key("partner", "partner Joana")
    True
    """
    named = [word for word in value.split() if word[:1].isupper()] if attribute in _BY_NAME else []
    return value_key(" ".join(named) or value)


def group_of(subject: str, attribute: str, value: str) -> tuple[str, str, str]:
    """Return what facts must share to bear on each other: a slot with one value, or one value of a slot.

    >>> group_of("Maya", "lives_in", "Porto") == group_of("maya", "lives_in", "Lisbon")
    True
    >>> group_of("Maya", "dislikes", "gore") == group_of("Maya", "likes", "gore")
    True
    """
    base = min(attribute, OPPOSITE.get(attribute, attribute))
    return fold(subject), base, "" if slot_of(attribute).single else match_key(attribute, value)
