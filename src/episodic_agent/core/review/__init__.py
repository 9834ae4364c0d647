"""Reviews: how recalled episodes served in the turns after, and what that does to their strength."""

from episodic_agent.core.review.strengthening import SEED, Reviewed, reviewed
from episodic_agent.core.review.uptake import Grade, Shown, Turn, grades

__all__ = ["SEED", "Grade", "Reviewed", "Shown", "Turn", "grades", "reviewed"]
