"""Weeks of somebody's life, played through the verbs a user calls: `episodic evaluate lives` as rows.

Links, the clock of boundaries, facts and contexts were trained on these lives too, so the rows are in sample;
what each is worth on a life left out stands with its trainer and on its page.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from episodic_agent.engine.evaluate.lives import evaluate_file
from episodic_agent.protocols import Embedder
from episodic_agent.wiring import temporary_memory

NAMES = ("backend", "flatshare", "leipzig", "nurse", "shanghai")
FILES = tuple(f"lives/{name}.jsonl" for name in NAMES)


def measure(data: Path, embedder: Embedder, *, quick: bool = False) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (life, figures) of each life, the shortest alone where it must be quick."""
    for name in ("nurse",) if quick else NAMES:
        figures = evaluate_file(
            data / "lives" / f"{name}.jsonl",
            lambda clock, language: temporary_memory(embedder, now=clock, language=language),
        )
        yield name, flat(figures)


def flat(figures: Mapping[str, Any]) -> dict[str, Any]:
    """Return figures of parts under one name each; lists, and what hangs on the machine, are left out.

    >>> flat({"links": {"f1": 0.5}, "facts": {"tempted_by": ["m1"]}, "ms_per_message": 20.0})
    {'links f1': 0.5}
    """
    rows: dict[str, Any] = {}
    for part, values in figures.items():
        if isinstance(values, Mapping):
            rows |= {f"{part} {name}": v for name, v in values.items() if not isinstance(v, list)}
    return rows
