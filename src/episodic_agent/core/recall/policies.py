"""Named ways to recall: what `default` means now, and what it meant before, kept to the byte."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from episodic_agent.core.recall.weights import DEFAULT_WEIGHTS, WEIGHTS_2026_12, FusionWeights
from episodic_agent.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class RecallPolicy:
    """Hold what one way to recall differs by.

    `threshold` is the confidence in [0, 1] below which nothing relevant is reported. `measured`: how far the
    embedder is trusted is measured in the memory (`fusion.measured_share`), equal vectors are duplicates in a
    language it does not know only where the words are equal too, and confidence knows the size of the memory.
    """

    name: str
    weights: FusionWeights = DEFAULT_WEIGHTS
    threshold: float = 0.15
    measured: bool = True

    @property
    def rounds(self) -> int:
        """Return 2 where what the first hits hold is looked for too, else 1."""
        return 2 if self.weights.second > 0 else 1


RECALL_2027_01: Final = RecallPolicy("recall-2027-01")
RECALL_2026_12: Final = RecallPolicy("recall-2026-12", WEIGHTS_2026_12, 0.2, measured=False)
SEED_003: Final = "seed-003"
FUSING: Final[Mapping[str, RecallPolicy]] = {
    policy.name: policy for policy in (RECALL_2027_01, RECALL_2026_12)
}
ALIASES: Final = {"default": RECALL_2027_01.name, "rrf-decay": SEED_003}
NAMES: Final = ("default", *FUSING, SEED_003)


def policy_name(named: str) -> str:
    """Return the dated name of a policy; InvalidInput where there is none.

    >>> policy_name("default"), policy_name("recall-2026-12")
    ('recall-2027-01', 'recall-2026-12')
    """
    name = ALIASES.get(named, named)
    if name not in FUSING and name != SEED_003:
        raise InvalidInput(f"no recall policy {named!r}; there are {', '.join(NAMES)}")
    return name
