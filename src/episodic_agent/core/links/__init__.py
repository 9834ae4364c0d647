"""Which earlier conversations a message belongs with: evidence, candidates, verdicts, outcomes.

Four steps, each pure. `candidates` chooses what is compared; `judge` turns message and threads into numbers
and, by a policy, into scores; `decide` joins a score with a language model's opinion; `compete` leaves the
best of those that would be linked. The default policy replaces the second step by `choice.choose`: shares of
one choice over all candidates and none, as a thread begins and when it is over. `outcome_of` reads from the
user's next turns whether it was right, which is what `core.tuning` learns from. Who answers what in a crowded
channel is judged by the evidence of one message.

**Rules of the room.**
1. Age is a number of the evidence, never a filter: a thread of a year ago can be meant.
2. Scores are raw; thresholds are asked of them (I5). What the message does not speak of is left out and the
   weights spread anew, so that "ok, thanks" never links.
3. A verdict keeps flat numbers from which it is computed again (I6); a policy's name says all it was made
   with.
4. One message goes on with one thing, unless it speaks of several. A loser names its rival.
5. Threads form an episode only where most links hold them together (`grouping.py`).
6. Phrases are closed classes of words, in several languages: a missing one weakens the evidence, a content
   word would fake it.

**To add** a number to a choice, compute it in `choice.py` and fit again with `tools/train_links.py`; to the
evidence of one message, in `evidence.py` with `tools/train_linking.py`. Register the policy under a new date
in `policies.py`. `seed-002` stays as it is.
"""

from typing import TYPE_CHECKING

from episodic_agent.lazily import names_from

if TYPE_CHECKING:
    from episodic_agent.core.links.candidates import ActivePeriod, ThreadCandidate, due, named_ranges
    from episodic_agent.core.links.evidence import LinkEvidence, judge, score
    from episodic_agent.core.links.features import (
        Features,
        Mentioned,
        SetOf,
        ThreadFeatures,
        features_of,
        grown,
        thread_of,
    )
    from episodic_agent.core.links.lexicon import Cues, cues
    from episodic_agent.core.links.outcomes import Outcome, UserTurn, outcome_of
    from episodic_agent.core.links.policies import (
        FittedPolicy,
        LinkPolicy,
        SeedPolicy,
        link_policy,
        link_policy_names,
        seed_score,
    )
    from episodic_agent.core.links.verdict import LinkVerdict, Opinion, compete, decide, recomputed
else:
    __getattr__ = names_from(
        __name__,
        {
            "candidates": "ActivePeriod ThreadCandidate due named_ranges",
            "evidence": "LinkEvidence judge score",
            "features": "Features Mentioned SetOf ThreadFeatures features_of grown thread_of",
            "lexicon": "Cues cues",
            "outcomes": "Outcome UserTurn outcome_of",
            "policies": "FittedPolicy LinkPolicy SeedPolicy link_policy link_policy_names seed_score",
            "verdict": "LinkVerdict Opinion compete decide recomputed",
        },
    )

__all__ = [
    "ActivePeriod",
    "Cues",
    "Features",
    "FittedPolicy",
    "LinkEvidence",
    "LinkPolicy",
    "LinkVerdict",
    "Mentioned",
    "Opinion",
    "Outcome",
    "SeedPolicy",
    "SetOf",
    "ThreadCandidate",
    "ThreadFeatures",
    "UserTurn",
    "compete",
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
