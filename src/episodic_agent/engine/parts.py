"""What the verbs share: the store, the embedder, the policy and the clock, introduced by `wiring`."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from episodic_agent.core.boundary.contract import Policy
from episodic_agent.core.calibration import Calibration
from episodic_agent.core.chaining.policies import DEFAULT as DEFAULT_CHAINING
from episodic_agent.core.interfaces import Embedder, LanguageModel, SpanSink, Store
from episodic_agent.core.linking.policies import DEFAULT as DEFAULT_LINKING
from episodic_agent.core.retention import Retention
from episodic_agent.core.threads import Channels
from episodic_agent.engine.told import Told
from episodic_agent.engine.turn_work import KEPT_DAYS, Tracer
from episodic_agent.engine.usage import Meter, model_of
from episodic_agent.schemas import Scope

NO_EMBEDDER = "none"
NO_LINKING = "none"  # the name of the linking policy that links nothing


@dataclass(frozen=True, slots=True)
class Parts:
    """The engine's collaborators. `clock` gives aware UTC times; `entropy(bits)` gives random bits;
    `owner` names this process for leases, so that a dead one's jobs are taken over.

    `embedder` None means recall by words and segmentation by lexical cues; `resolve_policy` turns a
    stored policy name back into its value, so that a frame keeps the policy it began with. `calibration` is
    how recall reads the cosines of an embedder that is not the default; None: as they are. `channels` says
    where silence ends a thread, and how long it must be. `budget` is how many tokens a day language models
    may cost a space; None: as many as they like. `retention` is what users let go who have set no policy of
    their own. `link_policy` names what links threads, before any tuning; `chain_policy` what chains sessions.
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
    trace_days: int = KEPT_DAYS
    retention: Retention = field(default_factory=Retention)
    sink: SpanSink | None = None
    meter: Meter = field(init=False)
    tracer: Tracer = field(init=False)
    told: Told = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "meter", Meter(self.store, self.clock, self.budget))
        object.__setattr__(self, "told", Told())
        object.__setattr__(self, "tracer", Tracer(self.store, self.clock, self.trace_days, self.sink))

    @property
    def embedder_name(self) -> str:
        """Name the embedder whose vectors this process writes and reads."""
        return self.embedder.name if self.embedder is not None else NO_EMBEDDER

    def model_for(self, scope: Scope, stage: str) -> LanguageModel | None:
        """Return the stage's language model, counting what it costs this scope; None where there is none."""
        model = model_of(self.language_model, stage)
        return None if model is None else self.meter.of(model, scope)
