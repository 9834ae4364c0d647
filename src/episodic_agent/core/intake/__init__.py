"""The door: what a caller gives, cleaned into one shape before anything else sees it."""

from episodic_agent.core.intake.item import FIELDS, Item, read_item
from episodic_agent.core.intake.times import Moment, read_time

__all__ = ["FIELDS", "Item", "Moment", "read_item", "read_time"]
