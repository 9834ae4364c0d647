"""What `doctor` says of language models that do not answer: which, since when, and what waits for them."""

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Final

from episodic_agent.core.language import plural
from episodic_agent.core.prompts import FACTS
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.jobs import kinds
from episodic_agent.engine.trace.usage import model_of
from episodic_agent.protocols import Transaction
from episodic_agent.schemas import ModelUse

LOOKED_BACK: Final = timedelta(days=7)


def silent_models(tx: Transaction, deps: Deps) -> Iterator[str]:
    """Yield a line for each stage whose model answered no call on the last day that it was asked."""
    today = deps.clock().date()
    last: dict[str, ModelUse] = {}
    for use in tx.upkeep.usage(today - LOOKED_BACK, today):  # by day
        model = model_of(deps.language_model, use.stage)
        if use.calls and model is not None and model.name == use.model:
            last[use.stage] = use
    for stage, use in last.items():
        if use.failures >= use.calls:
            yield _line(tx, stage, use, use.day)


def _line(tx: Transaction, stage: str, use: ModelUse, day: date) -> str:
    asked = plural(use.calls, "call")
    line = f"{use.model} answered none of {asked} for {stage} on {day}, the last day it was asked"
    if stage != FACTS or not (waiting := tx.count("unconsolidated")):
        return f"{line}; memory goes on without it"
    job = next(
        (one for one in tx.upkeep.jobs(kinds=[kinds.FACTS]) if one.key == kinds.FACTS and one.last_error),
        None,
    )
    why = "" if job is None else f" ({job.last_error}; tried again at {job.run_after:%Y-%m-%d %H:%M} UTC)"
    return (
        f"{line}{why}; {plural(waiting, 'episode waits', 'episodes wait')} for it, and what was said there "
        "is quoted meanwhile"
    )
