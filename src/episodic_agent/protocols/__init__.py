"""The seams of the house: what the engine asks of stores, models, sensors and detectors.

Here stand the protocols `Store` and its `Transaction` with their aggregates, `Embedder`, `LanguageModel`,
`Sensor`, `SpanSink`, and the one public abstract class, seed 000's `BoundaryDetector`. Core and engine speak
to these; stores and providers implement them; `wiring` introduces one to the other.

**Rules of the room.**
1. A protocol speaks in the nouns of `schemas`, never in rows, SQL or JSON of a server.
2. Every docstring is a contract: order of results, ties, what is idempotent, which error is raised when. What
   it does not say may differ between implementations; what it says is tested for all of them by the
   conformance suite.
3. A transaction is the unit of work of one scope: everything in it becomes visible together or not at all,
   and nothing in it reaches another scope (I11).
4. Batches in, batches out: no method is called in a loop where one call could do.
5. No protocol without at least two implementations, a fake for tests among them.
6. This room imports schemas and errors, nothing else of the engine.

**To add** a method, write its contract, implement it in both stores, and give it cases in
`tests/stores/conformance*.py`. To add an embedder or a model, implement the protocol in `providers` and give
it a name in `wiring`. `episodic_agent.core.interfaces` re-exports what the founding documents import.
"""

from episodic_agent.protocols.collaborators import (
    LONGEST_ANSWER,
    AskingEmbedder,
    BoundaryDetector,
    Embedder,
    LanguageModel,
    Preloading,
    Reply,
    Routed,
    Sensor,
    SpanSink,
    query_vector,
)
from episodic_agent.protocols.episodes import Episodes, Walk
from episodic_agent.protocols.index import (
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
    TextStatistics,
    ref_of,
    split_ref,
)
from episodic_agent.protocols.knowledge import Knowledge
from episodic_agent.protocols.observations import Observations
from episodic_agent.protocols.store import Countable, Keys, Store, Transaction, stored_decision
from episodic_agent.protocols.threads import Threads, WhichThreads
from episodic_agent.protocols.upkeep import (
    LONGEST_RUN,
    Mark,
    MarkKind,
    OwnRetention,
    OwnSettings,
    OwnTimeout,
    SuppressedWords,
    UpkeepNoun,
    UpkeepRecords,
)

__all__ = [
    "EPISODES",
    "FACTS",
    "LAST_REF",
    "LONGEST_ANSWER",
    "LONGEST_RUN",
    "OBSERVATIONS",
    "PARTS",
    "SKILLS",
    "AskingEmbedder",
    "BoundaryDetector",
    "Countable",
    "Cover",
    "Embedder",
    "EpisodeMark",
    "Episodes",
    "Index",
    "Keys",
    "Knowledge",
    "LanguageModel",
    "Mark",
    "MarkKind",
    "ObservationMark",
    "Observations",
    "OwnRetention",
    "OwnSettings",
    "OwnTimeout",
    "Posting",
    "Preloading",
    "Refs",
    "Reply",
    "Routed",
    "Scores",
    "Sensor",
    "SpanSink",
    "Store",
    "SuppressedWords",
    "TextStatistics",
    "Threads",
    "Transaction",
    "UpkeepNoun",
    "UpkeepRecords",
    "Walk",
    "WhichThreads",
    "query_vector",
    "ref_of",
    "split_ref",
    "stored_decision",
]
