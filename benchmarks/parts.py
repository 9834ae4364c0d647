"""The parts of a memory as benchmarks compare them: the default policy, at a time that stands still."""

import secrets
from datetime import datetime

from episodic_agent.engine.deps import Deps
from episodic_agent.protocols import Embedder
from episodic_agent.settings import Settings
from episodic_agent.stores.lease import process_owner
from episodic_agent.wiring import make_store, resolver


def parts_at(place: str, embedder: Embedder, now: datetime, language: str | None, settings: Settings) -> Deps:
    """Return the parts of a memory at a path or URL, for which it is always `now`."""
    return Deps(
        store=make_store(place, settings),
        embedder=embedder,
        policy="default",
        resolve_policy=resolver(embedder),
        clock=lambda: now,
        entropy=secrets.randbits,
        owner=process_owner(),
        language=language,
    )
