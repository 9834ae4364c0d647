"""Which earlier conversations a message belongs with: evidence, candidates, verdicts, outcomes.

Three steps, each pure. `candidates` chooses what is compared; `judge` turns message and threads into numbers
and, by a policy, into scores; `decide` joins a score with a language model's opinion. What a verdict came
from is kept as flat numbers, so that it can be computed again. `outcome_of` reads from the user's next turns
whether it was right, which is what `core.tuning` learns from.
"""

from episodic_agent.core.linking.candidates import Activity, Candidate, candidates, due, named_ranges
from episodic_agent.core.linking.evidence import Evidence, judge, score
from episodic_agent.core.linking.features import (
    Features,
    Mentioned,
    SetOf,
    ThreadFeatures,
    features_of,
    grown,
    thread_of,
)
from episodic_agent.core.linking.lexicon import Cues, cues
from episodic_agent.core.linking.outcomes import Outcome, UserTurn, outcome_of
from episodic_agent.core.linking.policies import (
    FittedPolicy,
    LinkPolicy,
    SeedPolicy,
    link_policy,
    link_policy_names,
    seed_score,
)
from episodic_agent.core.linking.verdict import LinkVerdict, Opinion, decide, recomputed

__all__ = [
    "Activity",
    "Candidate",
    "Cues",
    "Evidence",
    "Features",
    "FittedPolicy",
    "LinkPolicy",
    "LinkVerdict",
    "Mentioned",
    "Opinion",
    "Outcome",
    "SeedPolicy",
    "SetOf",
    "ThreadFeatures",
    "UserTurn",
    "candidates",
    "cues",
    "decide",
    "due",
    "features_of",
    "grown",
    "judge",
    "link_policy",
    "link_policy_names",
    "named_ranges",
    "outcome_of",
    "recomputed",
    "score",
    "seed_score",
    "thread_of",
]
