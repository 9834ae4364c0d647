"""Short talks of one subject each, and one that drifts; and how a message of one arrives at a policy."""

from datetime import UTC, datetime
from uuid import UUID

from episodic_agent.core.boundary.contract import Arrival
from episodic_agent.schemas import Observation, TimeSource, Vector

START = datetime(2026, 3, 1, 9, tzinfo=UTC)

COOKING = [
    "I want to bake sourdough bread this weekend",
    "Do you already have a sourdough starter, or do you need to make one?",
    "My starter is five days old and doubles in four hours",
    "Then the dough can rise overnight in the fridge after you fold the dough four times",
    "How warm should the oven be for sourdough bread?",
    "Bake the bread at 250 degrees with steam, then 20 minutes at 220 without steam",
]
GARDEN = [
    "The garden beds need new soil this spring",
    "I would mix the soil with compost from the heap",
    "Is the compost heap warm enough after winter?",
    "It steams when I turn it, so the compost is ready",
    "Then spread the compost on the beds with tomatoes first",
    "The tomatoes can go out when the nights stay above ten degrees",
]
DRIFT = [  # from a holiday to an oven seal, each step near the one before
    "I want to plan the holiday in Portugal, mostly Lisbon",
    "Lisbon has good hotels near the river, what is the budget for the hotel?",
    "About ninety a night for the hotel, breakfast included",
    "Breakfast in Lisbon is best in a bakery, with custard tarts",
    "I love custard tarts, can one bake them at home?",
    "Yes, custard tarts need puff pastry and a very hot oven",
    "My oven only reaches 230 degrees, is that hot enough for puff pastry?",
    "It works if the pastry is cold and the oven is well preheated",
    "The oven door does not close well, the seal is torn",
    "A new oven seal costs about twenty, you can order it by model number",
    "Where do I find the model number of the oven?",
    "On a plate inside the oven door, the seal just clips in",
]
TAXES = [
    "By the way, can you help me with my tax return? I moved for a new job in May",
    "The moving costs are deductible. Do you have the receipts for the tax return?",
    "I have the receipts of the moving company and the rental car",
    "Add the receipts to the tax form for work expenses, the moving costs go in line 62",
]


def arrival(
    seq: int,
    text: str,
    *,
    actor: str = "",
    at: datetime = START,
    vector: Vector | None = None,
    source: TimeSource = TimeSource.GIVEN,
) -> Arrival:
    actor = actor or ("user", "assistant")[seq % 2]
    number = UUID(int=seq)
    return Arrival(Observation(number, UUID(int=0), seq, at, at, actor, text, at_source=source), vector)
