"""The seams of the house: where core and engine meet stores, providers, sensors and custom detectors.

Protocols in the domain's own words, never query text, and the one public ABC (seed 000's
`BoundaryDetector`). Stores and providers implement these; `wiring` introduces them to the engine.
"""

from episodic_agent.core.interfaces.care import Care, Mark, MarkKind, SuppressedWords
from episodic_agent.core.interfaces.chains import Chains
from episodic_agent.core.interfaces.collaborators import (
    LONGEST_ANSWER,
    BoundaryDetector,
    Embedder,
    LanguageModel,
    Reply,
    Routed,
    Sensor,
    SpanSink,
)
from episodic_agent.core.interfaces.erasing import Erasing
from episodic_agent.core.interfaces.facts import Facts
from episodic_agent.core.interfaces.index import (
    EPISODES,
    FACTS,
    LAST_REF,
    OBSERVATIONS,
    PARTS,
    SKILLS,
    Cover,
    EpisodeMark,
    Index,
    ObservationMark,
    Posting,
    Refs,
    Scores,
    Span,
    TextStatistics,
    ref_of,
    split_ref,
)
from episodic_agent.core.interfaces.records import Episodes, Places, ThreadParts, Threads
from episodic_agent.core.interfaces.relations import LONGEST_RUN, Jobs, Links, Reviews, Skills, Usage, Work
from episodic_agent.core.interfaces.store import Store, Transaction

__all__ = [
    "EPISODES",
    "FACTS",
    "LAST_REF",
    "LONGEST_ANSWER",
    "LONGEST_RUN",
    "OBSERVATIONS",
    "PARTS",
    "SKILLS",
    "BoundaryDetector",
    "Care",
    "Chains",
    "Cover",
    "Embedder",
    "EpisodeMark",
    "Episodes",
    "Erasing",
    "Facts",
    "Index",
    "Jobs",
    "LanguageModel",
    "Links",
    "Mark",
    "MarkKind",
    "ObservationMark",
    "Places",
    "Posting",
    "Refs",
    "Reply",
    "Reviews",
    "Routed",
    "Scores",
    "Sensor",
    "Skills",
    "Span",
    "SpanSink",
    "Store",
    "SuppressedWords",
    "TextStatistics",
    "ThreadParts",
    "Threads",
    "Transaction",
    "Usage",
    "Work",
    "ref_of",
    "split_ref",
]
