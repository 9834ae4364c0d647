"""Weeks of somebody's life, played through the verbs a user calls: `episodic evaluate lives` as rows.

Links, the clock of boundaries, facts and contexts were trained on five of them, so those rows are in sample;
what each is worth on a life left out stands with its trainer and on its page. Two of `benchmarks/cases/lives`
taught nothing.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.provenance import ROOT
from episodic_agent.engine.evaluate.lives import evaluate_file
from episodic_agent.protocols import Embedder
from episodic_agent.wiring import temporary_memory

NAMES = ("backend", "flatshare", "leipzig", "nurse", "shanghai")
FILES = tuple(f"lives/{name}.jsonl" for name in NAMES)
OWN = ROOT / "benchmarks" / "cases" / "lives"
UNTAUGHT = ("fukuoka", "sevilla")


def measure(data: Path, embedder: Embedder, *, quick: bool = False) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (life, figures) of each life, the shortest alone where it must be quick."""
    yield from _played(data / "lives", ("nurse",) if quick else NAMES, embedder)


def untaught(embedder: Embedder, *, quick: bool = False) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (life, figures) of each life that taught nothing."""
    yield from _played(OWN, UNTAUGHT[:1] if quick else UNTAUGHT, embedder)


def _played(folder: Path, names: Iterable[str], embedder: Embedder) -> Iterator[tuple[str, dict[str, Any]]]:
    for name in names:
        figures = evaluate_file(
            folder / f"{name}.jsonl",
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
