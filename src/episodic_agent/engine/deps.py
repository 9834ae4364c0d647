"""What the verbs share: the store, the embedder, the policy and the clock, introduced by `wiring`."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

from episodic_agent.core.boundary.contract import Policy
from episodic_agent.core.calibration import Calibration
from episodic_agent.core.chains.policies import DEFAULT as DEFAULT_CHAINING
from episodic_agent.core.ingest import IntakeLimits
from episodic_agent.core.links.policies import DEFAULT as DEFAULT_LINKING
from episodic_agent.core.links.policies import link_policy
from episodic_agent.core.prompts import EPISODE, FACTS, TOPIC_SHIFT
from episodic_agent.core.strength import Retention
from episodic_agent.core.threads.channels import Channels
from episodic_agent.engine.embedding import FormerVectors, Named, RoundedEmbedder, nobody
from episodic_agent.engine.recently_shown import RecentlyShown
from episodic_agent.engine.trace.auditing import AuditedStore
from episodic_agent.engine.trace.usage import KEPT_DAYS, Meter, Tracer, model_of
from episodic_agent.errors import InvalidInput
from episodic_agent.protocols import Embedder, LanguageModel, SpanSink, Store
from episodic_agent.schemas import Scope

NO_EMBEDDER = "none"
SEED_FACTS = "seed-003"  # the policy that asks a model what to expect first
ALONE = "alone"  # the policy that asks for facts and for titles in questions of their own
FACT_POLICIES = ("default", ALONE, SEED_FACTS)
LINK_PATIENCE = 5.0  # seconds a link waits for a model where nothing else is set: a message waits with it
NO_LINKING = "none"  # the name of the linking policy that links nothing


def check_link_policy(name: str) -> str:
    """Return the name of a linking policy, or `none`; InvalidInput for an unknown one."""
    if name != NO_LINKING:
        link_policy(name)
    return name


def check_fact_policy(name: str) -> str:
    """Return the name of a way to ask a model for facts; InvalidInput for an unknown one."""
    if name not in FACT_POLICIES:
        raise InvalidInput(f"unknown fact policy {name!r}; choose {', '.join(FACT_POLICIES)}")
    return name


@dataclass(frozen=True, slots=True)
class Deps:
    """The engine's collaborators. `clock` gives aware UTC times; `entropy(bits)` gives random bits;
    `owner` names this process for leases, so that a dead one's jobs are taken over; `gone` tells whether a
    process so named is known to be no more.

    `embedder` None means recall by words and segmentation by lexical cues; `resolve_policy` turns a
    stored policy name back into its value, so that a frame keeps the policy it began with. `calibration` is
    how recall reads the cosines of an embedder that is not the default; None: as they are. `channels` says
    where silence ends a thread, and how long it must be. `budget` is how many tokens a day language models
    may cost a space; None: as many as they like. `retention` is what users let go who have set no policy of
    their own. `link_policy` names what links threads, before any tuning; `chain_policy` what chains sessions,
    `fact_policy` how a language model is asked for facts. `link_patience` is how many seconds a
    link's decision waits for a model's answer.
    `embedder_named` knows embedders by the names that stored vectors carry.
    `limits` bound what is taken in. `scratch` opens an empty store in memory, for what stood at an earlier
    moment. `audits` says whether it is kept who wrote what; `store` then keeps it beside what is written.
    """

    store: Store
    embedder: Embedder | None
    policy: str
    resolve_policy: Callable[[str], Policy[Any]]
    clock: Callable[[], datetime]
    entropy: Callable[[int], int]
    owner: str
    language_model: LanguageModel | None = None
    language: str | None = None
    calibration: Calibration | None = None
    channels: Channels = field(default_factory=Channels)
    budget: int | None = None
    link_policy: str = DEFAULT_LINKING
    chain_policy: str = DEFAULT_CHAINING
    fact_policy: str = "default"
    link_patience: float = LINK_PATIENCE
    trace_days: int = KEPT_DAYS
    retention: Retention = field(default_factory=Retention)
    sink: SpanSink | None = None
    limits: IntakeLimits = field(default_factory=IntakeLimits)
    gone: Callable[[str], bool] = lambda _owner: False
    embedder_named: Named = nobody
    scratch: Callable[[], Store] | None = None
    audits: bool = True
    meter: Meter = field(init=False)
    tracer: Tracer = field(init=False)
    recently_shown: RecentlyShown = field(init=False)
    former: FormerVectors = field(init=False)

    def __post_init__(self) -> None:
        if self.embedder is not None:
            object.__setattr__(self, "embedder", RoundedEmbedder(self.embedder))
        ledgers, auditor = self.store, None  # what work took and cost is nobody's doing
        if self.audits:
            audited = AuditedStore.of(self.store, self.clock, self.owner)
            ledgers, auditor = audited.store, audited.auditor
            object.__setattr__(self, "store", cast("Store", audited))
        object.__setattr__(self, "meter", Meter(ledgers, self.clock, self.budget, auditor))
        object.__setattr__(self, "former", FormerVectors(self.embedder_name, self.embedder_named))
        object.__setattr__(self, "recently_shown", RecentlyShown())
        object.__setattr__(self, "tracer", Tracer(ledgers, self.clock, self.trace_days, self.sink))

    @property
    def embedder_name(self) -> str:
        """Name the embedder whose vectors this process writes and reads."""
        return self.embedder.name if self.embedder is not None else NO_EMBEDDER

    @property
    def embeds_here(self) -> bool:
        """Tell whether the embedder runs in this process, so that texts may be embedded while reading."""
        return isinstance(self.embedder, RoundedEmbedder) and self.embedder.here

    @property
    def judges_ends(self) -> bool:
        """Tell whether the linking policy judges a thread's links again when it is over."""
        return self.link_policy != NO_LINKING and link_policy(self.link_policy).chooses

    @property
    def reads_once(self) -> bool:
        """Tell whether one question reads finished episodes for their titles, summaries and facts.

        It does where one model is asked for both; another one, or none, for either has a question of its own.
        """
        telling, stating = (model_of(self.language_model, stage) for stage in (EPISODE, FACTS))
        return self.fact_policy == FACT_POLICIES[0] and stating is not None and telling is stating

    @property
    def reads_boundaries(self) -> bool:
        """Tell whether the model that reads finished talk is also the one for single boundaries.

        What it would be asked of a gap, it says of all gaps in that reading, seeing more. Another model for
        stage `topic_shift` is asked at once.
        """
        return self.reads_once and model_of(self.language_model, TOPIC_SHIFT) is model_of(
            self.language_model, FACTS
        )

    def model_for(self, scope: Scope, stage: str) -> LanguageModel | None:
        """Return the stage's language model, counting what it costs this scope; None where there is none."""
        model = model_of(self.language_model, stage)
        return None if model is None else self.meter.of(model, scope)
