"""Which earlier session a session goes on from, what a story it makes, and what each is about.

All of it is pure. `view_of` reads an episode, `decide` chooses its parent when it opens and when it closes,
`trees` walks what came of it, `metadata` and `filters` say what it is about and find it by that, and
`sequences` tells episodes in the order of time.

**Rules of the room.**
1. A session goes on from a *chain*, not from one session: the members share a score, the latest becomes the
   parent. A matter that comes up again after weeks looks like nothing its last session said.
2. Similarity is raw and calibrated, never a rank (I5); a feature without evidence is left out and the weights
   are spread anew.
3. A parent is closed, ended before the child began, has the same user and agent, declares no other project,
   is about something, and stands nowhere below the child. Every walk visits an episode once, whatever a
   store holds.
4. What a hand said (linked, refused) is never judged again.
5. A verdict keeps the numbers it came from; `follows` computes it again (I6).
6. What the records tell (participants, tools, key decisions) is never left to a model.

**To add** a number to the evidence, compute it in `evidence.py`, fit the weights again
(`benchmarks.chain_training`) and register the policy under a new date in `policies.py`.
"""

from typing import TYPE_CHECKING

from episodic_agent.lazily import names_from

if TYPE_CHECKING:
    from episodic_agent.core.chains.deciding import (
        ChainChoice,
        ChainVerdict,
        decide,
        decision_of,
        eligible,
        follows,
        recomputed,
        unjudged_verdict,
    )
    from episodic_agent.core.chains.evidence import judge
    from episodic_agent.core.chains.filters import (
        MetadataFilter,
        in_time,
        matches,
        metadata_terms,
        parse_filter,
    )
    from episodic_agent.core.chains.metadata import (
        Guess,
        Metadata,
        SuppliedMetadata,
        capped,
        metadata_of,
        read_guess,
        read_metadata,
    )
    from episodic_agent.core.chains.opening import OpeningCues
    from episodic_agent.core.chains.policies import (
        ChainPolicy,
        FittedChain,
        FixedChain,
        SeedChain,
        Stage,
        chain_policy,
        chain_policy_names,
    )
    from episodic_agent.core.chains.records import (
        ChainEvidence,
        EpisodeStanding,
        EpisodeView,
        SessionTurn,
        view_of,
    )
    from episodic_agent.core.chains.sequences import (
        ReplayedEpisode,
        ReplayHit,
        fetched,
        replay_text,
        selected,
    )
    from episodic_agent.core.chains.trees import (
        PlacedEpisode,
        Walk,
        allowed,
        ancestors,
        arc,
        check_order,
        check_parent,
        descendants,
        heads,
        laid_out,
        reparented,
        roots,
    )
    from episodic_agent.schemas.chains import Condition, Refusal, Term, TreeNode
else:
    __getattr__ = names_from(
        __name__,
        {
            "episodic_agent.schemas.chains": "Condition TreeNode Refusal Term",
            "deciding": "ChainVerdict ChainChoice decide decision_of eligible follows unjudged_verdict "
            "recomputed",
            "evidence": "judge",
            "filters": "MetadataFilter in_time matches metadata_terms parse_filter",
            "metadata": "SuppliedMetadata Guess Metadata capped metadata_of read_guess read_metadata",
            "opening": "OpeningCues",
            "policies": (
                "ChainPolicy FittedChain FixedChain SeedChain Stage chain_policy chain_policy_names"
            ),
            "records": "EpisodeView ChainEvidence EpisodeStanding SessionTurn view_of",
            "sequences": "ReplayHit ReplayedEpisode fetched replay_text selected",
            "trees": (
                "PlacedEpisode Walk allowed ancestors arc check_order check_parent descendants heads "
                "laid_out "
                "reparented roots"
            ),
        },
    )

__all__ = [
    "ChainChoice",
    "ChainEvidence",
    "ChainPolicy",
    "ChainVerdict",
    "Condition",
    "EpisodeStanding",
    "EpisodeView",
    "FittedChain",
    "FixedChain",
    "Guess",
    "Metadata",
    "MetadataFilter",
    "OpeningCues",
    "PlacedEpisode",
    "Refusal",
    "ReplayHit",
    "ReplayedEpisode",
    "SeedChain",
    "SessionTurn",
    "Stage",
    "SuppliedMetadata",
    "Term",
    "TreeNode",
    "Walk",
    "allowed",
    "ancestors",
    "arc",
    "capped",
    "chain_policy",
    "chain_policy_names",
    "check_order",
    "check_parent",
    "decide",
    "decision_of",
    "descendants",
    "eligible",
    "fetched",
    "follows",
    "heads",
    "in_time",
    "judge",
    "laid_out",
    "matches",
    "metadata_of",
    "metadata_terms",
    "parse_filter",
    "read_guess",
    "read_metadata",
    "recomputed",
    "reparented",
    "replay_text",
    "roots",
    "selected",
    "unjudged_verdict",
    "view_of",
]
