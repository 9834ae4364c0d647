"""Episodic memory for AI agents: streams of experience become episodes you can recall, explain and forget.

>>> from episodic_agent import Memory
>>> memory = Memory.open("memory.db")                          # doctest: +SKIP
>>> ana = memory.user("ana")                                   # doctest: +SKIP
>>> receipts = ana.add("I'm moving to Lisbon in May")          # doctest: +SKIP
>>> print(ana.search("where is Ana moving?"))                  # doctest: +SKIP

Everything that a verb returns, and every error it raises, is imported from here. A name is loaded at its
first use, so that importing the package costs almost nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from episodic_agent.agents.run import RunReport
    from episodic_agent.core.links.verdict import LinkVerdict
    from episodic_agent.engine.boundary.explain import Explanation, WhatIf
    from episodic_agent.engine.boundary.resegmenting import Resegmented, Undone
    from episodic_agent.engine.boundary.traces import BoundaryTrace
    from episodic_agent.engine.chains.arcs import Arc, ArcStep
    from episodic_agent.engine.chains.sequences import EpisodeSequence, Sequenced
    from episodic_agent.engine.context.assembling import ContextLine, ThreadContext
    from episodic_agent.engine.doctor.examining import Finding
    from episodic_agent.engine.evaluate.calibrating import Fitted
    from episodic_agent.engine.facts.verbs import FactCard
    from episodic_agent.engine.filters import Filter
    from episodic_agent.engine.jobs.backlog import JobEntry
    from episodic_agent.engine.jobs.operations import Operation
    from episodic_agent.engine.jobs.worker import Worker
    from episodic_agent.engine.keys import NewKey
    from episodic_agent.engine.links.explaining import LinkExplanation
    from episodic_agent.engine.links.verbs import LinkCard
    from episodic_agent.engine.people.verbs import PersonCard, ProposedName
    from episodic_agent.engine.recall.places import PlaceSummary, VisitCard
    from episodic_agent.engine.results import (
        DetailedRecall,
        EpisodeCard,
        Evidence,
        FactHit,
        FullEpisode,
        Hit,
        ImportReport,
        Recall,
        Stats,
    )
    from episodic_agent.engine.sections.verbs import SectionCard
    from episodic_agent.engine.skills.verbs import SkillCard
    from episodic_agent.engine.threads.sessions import Session
    from episodic_agent.engine.threads.verbs import ThreadCard
    from episodic_agent.engine.trace.changes import MemoryChanges
    from episodic_agent.engine.trace.turns import TurnTrace
    from episodic_agent.engine.tuning.runs import TuningRun
    from episodic_agent.engine.user import UserMemory
    from episodic_agent.engine.visibility.retention import RetentionPass
    from episodic_agent.engine.visibility.verbs import LetGo, Marked, RetentionState
    from episodic_agent.errors import (
        BadReply,
        BudgetSpent,
        Conflict,
        EpisodicError,
        IdTaken,
        InvalidInput,
        KeyRefused,
        NotFound,
        ProviderError,
        ProviderRefused,
        ProviderUnavailable,
        SensorError,
        StoreDamaged,
        StoreError,
        StoreUnavailable,
        TooLarge,
        UnreadableAnswer,
    )
    from episodic_agent.faces.client.client import AsyncClient, Client
    from episodic_agent.schemas import (
        AuditEntry,
        Backup,
        Caller,
        Decision,
        Encoding,
        Episode,
        Link,
        ModelUse,
        Observation,
        Receipt,
        Thread,
    )
    from episodic_agent.schemas.chains import Refusal
    from episodic_agent.schemas.erasures import Erasure
    from episodic_agent.schemas.facts import Category, Fact
    from episodic_agent.schemas.keys import ApiKey
    from episodic_agent.wiring.event_loop import AsyncMemory
    from episodic_agent.wiring.memory import Memory
    from episodic_agent.wiring.policies import calibrate

__version__ = "0.1.0"
__all__ = [
    "ApiKey",
    "Arc",
    "ArcStep",
    "AsyncClient",
    "AsyncMemory",
    "AuditEntry",
    "Backup",
    "BadReply",
    "BoundaryTrace",
    "BudgetSpent",
    "Caller",
    "Category",
    "Client",
    "Conflict",
    "ContextLine",
    "Decision",
    "DetailedRecall",
    "Encoding",
    "Episode",
    "EpisodeCard",
    "EpisodeSequence",
    "EpisodicError",
    "Erasure",
    "Evidence",
    "Explanation",
    "Fact",
    "FactCard",
    "FactHit",
    "Filter",
    "Finding",
    "Fitted",
    "FullEpisode",
    "Hit",
    "IdTaken",
    "ImportReport",
    "InvalidInput",
    "JobEntry",
    "KeyRefused",
    "LetGo",
    "Link",
    "LinkCard",
    "LinkExplanation",
    "LinkVerdict",
    "Marked",
    "Memory",
    "MemoryChanges",
    "ModelUse",
    "NewKey",
    "NotFound",
    "Observation",
    "Operation",
    "PersonCard",
    "PlaceSummary",
    "ProposedName",
    "ProviderError",
    "ProviderRefused",
    "ProviderUnavailable",
    "Recall",
    "Receipt",
    "Refusal",
    "Resegmented",
    "RetentionPass",
    "RetentionState",
    "RunReport",
    "SectionCard",
    "SensorError",
    "Sequenced",
    "Session",
    "SkillCard",
    "Stats",
    "StoreDamaged",
    "StoreError",
    "StoreUnavailable",
    "Thread",
    "ThreadCard",
    "ThreadContext",
    "TooLarge",
    "TuningRun",
    "TurnTrace",
    "Undone",
    "UnreadableAnswer",
    "UserMemory",
    "VisitCard",
    "WhatIf",
    "Worker",
    "__version__",
    "calibrate",
]  # fmt: skip

_NAMES: Final = {  # by the module that has them
    "episodic_agent.schemas.chains": "Refusal",
    "episodic_agent.schemas.erasures": "Erasure",
    "episodic_agent.schemas.keys": "ApiKey",
    "episodic_agent.schemas.facts": "Category Fact",
    "episodic_agent.core.links.verdict": "LinkVerdict",
    "episodic_agent.engine.chains.arcs": "Arc ArcStep",
    "episodic_agent.engine.jobs.backlog": "JobEntry",
    "episodic_agent.engine.jobs.operations": "Operation",
    "episodic_agent.engine.keys": "NewKey",
    "episodic_agent.engine.evaluate.calibrating": "Fitted",
    "episodic_agent.engine.visibility.verbs": "LetGo Marked RetentionState",
    "episodic_agent.engine.context.assembling": "ContextLine ThreadContext",
    "episodic_agent.engine.doctor.examining": "Finding",
    "episodic_agent.engine.boundary.explain": "Explanation WhatIf",
    "episodic_agent.engine.facts.verbs": "FactCard",
    "episodic_agent.engine.links.explaining": "LinkExplanation",
    "episodic_agent.engine.links.verbs": "LinkCard",
    "episodic_agent.engine.people.verbs": "PersonCard ProposedName",
    "episodic_agent.engine.recall.places": "PlaceSummary VisitCard",
    "episodic_agent.engine.boundary.resegmenting": "Resegmented Undone",
    "episodic_agent.engine.results": (
        "DetailedRecall EpisodeCard Evidence FactHit Hit ImportReport Recall Stats FullEpisode"
    ),
    "episodic_agent.engine.visibility.retention": "RetentionPass",
    "episodic_agent.agents.run": "RunReport",
    "episodic_agent.engine.chains.sequences": "EpisodeSequence Sequenced",
    "episodic_agent.engine.threads.sessions": "Session",
    "episodic_agent.engine.skills.verbs": "SkillCard",
    "episodic_agent.engine.sections.verbs": "SectionCard",
    "episodic_agent.engine.threads.verbs": "ThreadCard",
    "episodic_agent.engine.boundary.traces": "BoundaryTrace",
    "episodic_agent.engine.tuning.runs": "TuningRun",
    "episodic_agent.engine.trace.changes": "MemoryChanges",
    "episodic_agent.engine.trace.turns": "TurnTrace",
    "episodic_agent.engine.jobs.worker": "Worker",
    "episodic_agent.errors": (
        "BadReply BudgetSpent Conflict EpisodicError IdTaken InvalidInput KeyRefused NotFound ProviderError "
        "ProviderRefused ProviderUnavailable SensorError StoreDamaged StoreError StoreUnavailable "
        "TooLarge UnreadableAnswer"
    ),
    "episodic_agent.schemas": (
        "AuditEntry Backup Caller Decision Encoding Episode Link ModelUse Observation Receipt Thread"
    ),
    "episodic_agent.engine.filters": "Filter",
    "episodic_agent.engine.user": "UserMemory",
    "episodic_agent.wiring.memory": "Memory",
    "episodic_agent.wiring.policies": "calibrate",
    "episodic_agent.wiring.event_loop": "AsyncMemory",
    "episodic_agent.faces.client.client": "AsyncClient Client",
}
_MODULES: Final = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Load what is named, with what it needs and no more; AttributeError for what there is none of."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    loaded = globals()[name] = getattr(import_module(_MODULES[name]), name)
    return loaded


def __dir__() -> list[str]:
    return __all__
