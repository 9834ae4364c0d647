"""A memory that knows how to be opened: everything the engine is handed comes together here."""

import os
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Self

from episodic_agent.core.calibration import Calibration
from episodic_agent.core.links.policies import DEFAULT as DEFAULT_LINKING
from episodic_agent.core.strength import read_retention
from episodic_agent.core.threads.channels import read_channels
from episodic_agent.engine.chains.ancestry import check_chain_policy
from episodic_agent.engine.deps import Deps, check_fact_policy, check_link_policy
from episodic_agent.engine.jobs.runner import check_jobs
from episodic_agent.engine.memory import Memory as Engine
from episodic_agent.errors import EpisodicError, InvalidInput
from episodic_agent.lazily import module
from episodic_agent.protocols import Embedder, LanguageModel
from episodic_agent.settings import Settings
from episodic_agent.stores.lease import is_gone, process_owner
from episodic_agent.stores.sqlite import scratch_store
from episodic_agent.wiring.database import make_store, without_password
from episodic_agent.wiring.policies import check_policy, find_calibration, former_embedder, resolver
from episodic_agent.wiring.process import budget_of, checked_clock, limits_of, load_settings, utc_now
from episodic_agent.wiring.providers import (
    Say,
    chosen_language_model,
    link_patience,
    make_embedder,
    make_sink,
)

if TYPE_CHECKING:
    from episodic_agent.providers.embedders import hashing
else:
    hashing = module("episodic_agent.providers.embedders.hashing")

REHEARSED = ("We are moving to Lisbon on 3 May, Ana said.", "As I told you yesterday, she likes the sea.")


class Memory(Engine):
    """An episodic memory; open it with `Memory.open()`."""

    @classmethod
    def open(
        cls,
        url: "str | Path | None" = None,
        *,
        space: str | None = None,
        embedder: "str | Embedder | None" = None,
        policy: str | None = None,
        language_model: "str | LanguageModel | None" = None,
        calibration: "str | Path | Calibration | None" = None,
        clock: Callable[[], datetime] | None = None,
        say: Say | None = None,
        resume: bool = True,
        jobs: str | None = None,
        link_policy: str | None = None,
        chain_policy: str | None = None,
        fact_policy: str | None = None,
    ) -> Self:
        """Open (and create, if need be) the memory at a path, `sqlite:///` or `postgresql://` URL.

        What is not given comes from the environment (`EPISODIC_*`, see the configuration page).
        `embedder` is `auto`, `minilm`, `minilm-int8`, `hf:OWNER/MODEL`, a folder, `openai:MODEL`, `hashing`,
        `none`, or an object with `name, dimensions, embed`; `language_model` is `none`, `openai:MODEL`, or an
        object with `name, complete`; `calibration` is `auto`, `none`, a file, or what `calibrate` fitted.
        `resume` has the background do what was left. Raises StoreError for an unusable file, InvalidInput for
        unknown names.
        """
        settings = load_settings()
        check_policy(policy or settings.policy)  # an unknown name is refused before a file is made
        done_by = check_jobs(jobs or settings.jobs)
        built = _chosen_embedder(embedder, settings, say)
        fitted = find_calibration(built, settings, calibration)
        deps = Deps(
            retention=read_retention(settings.retention),  # refused before a file is made
            link_policy=check_link_policy(link_policy or settings.link_policy),
            chain_policy=check_chain_policy(chain_policy or settings.chain_policy),
            fact_policy=check_fact_policy(fact_policy or settings.fact_policy),
            budget=budget_of(settings),
            language_model=chosen_language_model(language_model, settings),
            link_patience=link_patience(settings),
            store=make_store(_target(url, settings), settings),
            embedder=built,
            policy=policy or settings.policy,
            resolve_policy=resolver(built, fitted),
            clock=checked_clock(clock),
            entropy=secrets.randbits,
            owner=process_owner(),
            gone=is_gone,
            language=settings.language or None,
            calibration=fitted,
            channels=read_channels(settings.channels, timedelta(minutes=settings.thread_timeout)),
            trace_days=settings.trace_days,
            sink=make_sink(settings),
            limits=limits_of(settings),
            scratch=scratch_store,
            embedder_named=partial(former_embedder, settings=settings, own=built),
        )
        memory = cls(deps, space=space or settings.space, jobs=done_by, where=_shown(url, settings))
        if resume:
            memory.resume()
        return memory

    def warm(self) -> None:
        """Begin to load what a first message and a first answer need, so that neither waits for all of it.

        For a process that goes on: the model that embeds, and the word lists that messages are read by.
        """
        super().warm()
        # no daemon: a process must not end inside an import
        threading.Thread(target=_rehearse, args=(self._deps,), name="episodic-rehearsal").start()


def _target(url: "str | Path | None", settings: Settings) -> str:
    """Return where the memory is, as given or as set; refuse what is neither a path nor a URL."""
    if not isinstance(url, str | os.PathLike | None):
        raise InvalidInput(f"name the memory as a path or a URL, not {type(url).__name__}")
    return settings.db if url is None else str(url)


def _shown(url: "str | Path | None", settings: Settings) -> str:
    return without_password(_target(url, settings))


def _chosen_embedder(
    embedder: "str | Embedder | None", settings: Settings, say: Say | None
) -> Embedder | None:
    chosen = settings.embedder if embedder is None else embedder
    return make_embedder(chosen, settings, say) if isinstance(chosen, str) else chosen


@contextmanager
def temporary_memory(
    embedder: Embedder | None,
    *,
    policy: str = "default",
    now: "datetime | Callable[[], datetime] | None" = None,
    language: str | None = None,
    calibration: Calibration | None = None,
    language_model: LanguageModel | None = None,
    patience: float | None = None,
    link_policy: str = DEFAULT_LINKING,
    fact_policy: str | None = None,
) -> Iterator[Engine]:
    """Open a fresh memory in a temporary folder, for evaluations and trials; gone afterwards.

    `now` is the moment it always is there, or a clock; `patience` is how many seconds a link waits for the
    language model, where the settings are not to say; nor does `fact_policy`, where it is given.
    """
    settings = replace(load_settings(), synchronous="normal")
    with TemporaryDirectory(prefix="episodic-") as folder:
        clock = (lambda: now) if isinstance(now, datetime) else now or utc_now
        deps = Deps(
            store=make_store(str(Path(folder) / "trial.db"), settings),
            embedder=embedder,
            policy=policy,
            resolve_policy=resolver(embedder, calibration),
            clock=clock,
            entropy=secrets.randbits,
            owner=process_owner(),
            language=language,
            calibration=calibration,
            language_model=language_model,
            link_policy=check_link_policy(link_policy),
            fact_policy=check_fact_policy(fact_policy or settings.fact_policy),
            link_patience=link_patience(settings) if patience is None else patience,
            limits=limits_of(settings),
            scratch=scratch_store,
        )
        with Engine(deps) as memory:
            yield memory


def _rehearse(deps: Deps) -> None:
    """Tell a memory that is thrown away what loads a first message's modules and builds its word lists.

    A process that ends meanwhile can load nothing more: RuntimeError.
    """
    with (
        suppress(EpisodicError, OSError, RuntimeError),
        temporary_memory(hashing.HashingEmbedder(), policy=deps.policy, language=deps.language) as trial,
    ):
        somebody = trial.user("somebody", new=True)
        somebody.add(REHEARSED)
        somebody.search(REHEARSED[0])
