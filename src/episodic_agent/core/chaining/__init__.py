"""Episodes of one undertaking: which earlier one a session goes on from, its story, and what it is about.

All of it is pure. `view_of` reads an episode, `decide` chooses its parent when it opens and when it closes,
`trees` walks what came of it, `metadata` and `filters` say what it is about and find it by that, and
`sequences` tells episodes in the order of time.
"""

from episodic_agent.core.chain_records import Condition, Node, Refusal, Term
from episodic_agent.core.chaining.deciding import (
    ChainVerdict,
    Choice,
    decide,
    decision_of,
    eligible,
    follows,
    given,
    recomputed,
)
from episodic_agent.core.chaining.evidence import judge
from episodic_agent.core.chaining.filters import (
    MetadataFilter,
    in_time,
    matches,
    metadata_terms,
    parse_filter,
)
from episodic_agent.core.chaining.metadata import (
    Given,
    Guess,
    Metadata,
    capped,
    metadata_of,
    read_guess,
    read_metadata,
)
from episodic_agent.core.chaining.opening import Opening, opening
from episodic_agent.core.chaining.policies import (
    ChainPolicy,
    FittedChain,
    FixedChain,
    SeedChain,
    Stage,
    chain_policy,
    chain_policy_names,
)
from episodic_agent.core.chaining.records import EpisodeView, Evidence, Standing, Turn, view_of
from episodic_agent.core.chaining.sequences import Hit, Told, fetched, replay_text, selected
from episodic_agent.core.chaining.trees import (
    Placed,
    Walk,
    allowed,
    ancestors,
    arc,
    check_parent,
    descendants,
    heads,
    laid_out,
    reparented,
    roots,
)

__all__ = [
    "ChainPolicy",
    "ChainVerdict",
    "Choice",
    "Condition",
    "EpisodeView",
    "Evidence",
    "FittedChain",
    "FixedChain",
    "Given",
    "Guess",
    "Hit",
    "Metadata",
    "MetadataFilter",
    "Node",
    "Opening",
    "Placed",
    "Refusal",
    "SeedChain",
    "Stage",
    "Standing",
    "Term",
    "Told",
    "Turn",
    "Walk",
    "allowed",
    "ancestors",
    "arc",
    "capped",
    "chain_policy",
    "chain_policy_names",
    "check_parent",
    "decide",
    "decision_of",
    "descendants",
    "eligible",
    "fetched",
    "follows",
    "given",
    "heads",
    "in_time",
    "judge",
    "laid_out",
    "matches",
    "metadata_of",
    "metadata_terms",
    "opening",
    "parse_filter",
    "read_guess",
    "read_metadata",
    "recomputed",
    "reparented",
    "replay_text",
    "roots",
    "selected",
    "view_of",
]
