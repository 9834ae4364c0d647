"""The words that tell kinds, as sets: what may end, begin, precede or follow a name."""

from typing import Final

from episodic_agent.core.entities.lists import entries, word_set
from episodic_agent.core.entities.words import organisations, people, places, products


def _set(text: str) -> frozenset[str]:
    return frozenset(entries(text))


GIVEN: Final = _set(people.GIVEN)
DOUBTFUL_GIVEN: Final = _set(people.DOUBTFUL)
FAMILY: Final = _set(people.FAMILY)
PINYIN_FAMILY: Final = _set(people.PINYIN_FAMILY)
TITLES: Final = frozenset(title.rstrip(".") for title in _set(people.TITLES))
KIN: Final = _set(people.KIN)
SAYING: Final = _set(people.SAYING)
MEETING: Final = _set(people.MEETING)
PLACE_HEADS: Final = _set(places.HEADS)
PLACE_FRONTS: Final = frozenset(front.rstrip(".") for front in _set(places.FRONTS))
VENUES: Final = _set(places.VENUES)
ADJECTIVES: Final = _set(places.ADJECTIVES)
ORGANISATION_HEADS: Final = frozenset(head.rstrip(".") for head in _set(organisations.HEADS))
WORKING: Final = _set(organisations.WORKING)
PRODUCT_HEADS: Final = _set(products.HEADS)
USING: Final = _set(products.USING)

# Prepositions by how surely a place follows.
PLACE_WORDS: Final = {
    "in": 1.6, "at": 0.9, "to": 1.1, "from": 1.0, "near": 2.0, "around": 1.0, "across": 1.2, "through": 0.6,
    "toward": 1.2, "towards": 1.2, "into": 0.9, "outside": 1.2, "inside": 0.8, "throughout": 1.2,
    "visit": 1.4, "visited": 1.2, "visiting": 1.4, "explore": 1.2, "exploring": 1.2, "leaving": 0.8,
    "reach": 0.8, "nach": 2.0, "aus": 1.2, "en": 1.2, "hacia": 1.2, "desde": 0.8, "chez": 0.3, "au": 0.8,
    "via": 0.3, "located": 0.6, "capital": 0.8, "bei": 0.6, "zu": 0.4, "vers": 0.8, "downtown": 2.0,
}  # fmt: skip
# Lower-case nouns after a name that say what it is, and whether they belong to it ("Reminders app").
AFTER_PLACE: Final = word_set(
    """
    city town village street avenue road area airport station region province county district beach
    island river lake museum park hotel resort restaurant cafe square state coast border trip
    weather skyline
    """
)
AFTER_ORGANISATION: Final = word_set(
    """
    team company university college bank hospital school group band corporation club firm agency
    brand office employees stock shares ceo founder recruiter department foundation airlines fans
    """
)
AFTER_PRODUCT: Final = word_set(
    """
    app movie film series show novel book song album game phone laptop camera console browser
    software driver drivers server package plugin api library framework version tablet account
    website website's card users user desktop install installation cd page video videos channel
    playlist subscription installer
    """
)
PART_OF_NAME: Final = word_set(
    """
    app resort hotel restaurant museum beach airport university
    """
)
CONNECTORS: Final = word_set(
    """
    of the de la le du del des da di do van von der den al el bin ibn & for d und zu zur
    """
)
NOT_LAST: Final = CONNECTORS | {"and", "in", "a", "an", "to", "with", "on", "at"}
# Connectors inside quoted titles: "An American Werewolf in London".
TITLE_WORDS: Final = NOT_LAST | word_set(
    """
    from by is or vs mit per il un une as into my so not no who that det med och und der das les los las
    """
)
