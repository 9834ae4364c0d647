"""What somebody took on, as it is asked for (`asking`), how it was settled (`settling`); open `sessions`."""

from episodic_agent.engine.recall.commitments.asking import (
    ANSWERING,
    NONE_ASKED,
    Commitments,
    commitments_asked,
    read_undertakings,
)
from episodic_agent.engine.recall.commitments.sessions import sessions_asked
from episodic_agent.engine.recall.commitments.settling import CommitmentQuestion

__all__ = [
    "ANSWERING",
    "NONE_ASKED",
    "CommitmentQuestion",
    "Commitments",
    "commitments_asked",
    "read_undertakings",
    "sessions_asked",
]
