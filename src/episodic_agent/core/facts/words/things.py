"""Belongings, conditions, allergens and diets, as words; the last word of a phrase is looked up."""

from typing import Final

from episodic_agent.data import listed_words

BELONGINGS: Final = listed_words("facts/things.belongings")
HEALTH: Final = listed_words("facts/things.health")
HEALTHY: Final = listed_words("facts/things.healthy")
ALLERGENS: Final = listed_words("facts/things.allergens")
DIETS: Final = listed_words("facts/things.diets")
FOODS: Final = listed_words("facts/things.foods")
SHORT_LIVED: Final = listed_words("facts/things.short_lived")
