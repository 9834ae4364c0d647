"""Kin, animals, work, traits and peoples, as single words; the last word of a phrase is looked up."""

from typing import Final

from episodic_agent.data import listed_words

PARTNERS: Final = listed_words("facts/people.partners")
KIN: Final = PARTNERS | listed_words("facts/people.kin")
FRIENDS: Final = listed_words("facts/people.friends")
PETS: Final = listed_words("facts/people.pets")
WORK: Final = listed_words("facts/people.work")
TITLES: Final = listed_words("facts/people.titles")
TRAITS: Final = listed_words("facts/people.traits")
PEOPLES: Final = listed_words("facts/people.peoples")
FAITHS: Final = listed_words("facts/people.faiths")
