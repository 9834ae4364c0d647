"""`python -m benchmarks --data DIR`: measure, merge the results, write the tables of docs/benchmarks.md."""

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import kills, parity, postgres_recall, retrieval, segmentation, service, speed, tables
from benchmarks.provenance import ROOT, provenance
from benchmarks.results import merge, write_details
from benchmarks.vectors import Remembering
from episodic_agent.core.interfaces import Embedder
from episodic_agent.errors import EpisodicError, InvalidInput
from episodic_agent.wiring import load_settings, make_embedder

GROUPS = {
    "segmentation": (*segmentation.FILES, *segmentation.STEPS),
    "retrieval": retrieval.FILES,
    "speed": ("speed",),
    "postgres": ("service", "postgres_recall", "parity", "kills"),
}
NAMES = tuple(name for names in GROUPS.values() for name in names)

MEASURED: Mapping[str, Callable[[argparse.Namespace, Embedder], Iterable[tuple[str, dict[str, Any]]]]] = {
    "speed": lambda options, embedder: speed.measure(options.data, embedder, quick=options.quick),
    "service": lambda options, _: service.measure(quick=options.quick),
    "postgres_recall": lambda options, _: postgres_recall.measure(options.data, quick=options.quick),
    "parity": lambda options, embedder: parity.measure(
        options.data, Remembering(embedder), quick=options.quick
    ),
    "kills": lambda options, _: [("kills", kills.measure(40 if options.quick else 500))],
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks asked for and return the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = _parser().parse_args(given)
    try:
        if not options.tables:
            embedder = make_embedder(options.embedder, load_settings(), say)
            if embedder is None:
                raise InvalidInput(
                    "the benchmarks need an embedder: `episodic models pull`, or --embedder hashing"
                )
            for name in chosen(options.only):
                _run(name, embedder, options, given)
        if options.page.is_file():
            tables.rewrite(options.page, options.output)
    except EpisodicError as error:
        say(f"error: {error}")
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of labelled files")
    parser.add_argument("--only", default="", help=f"comma-separated: {', '.join([*GROUPS, *NAMES])}")
    parser.add_argument("--quick", action="store_true", help="parts of the large files, small scopes")
    parser.add_argument(
        "--output", type=Path, default=ROOT / "benchmarks" / "results", help="folder of results"
    )
    parser.add_argument(
        "--page", type=Path, default=ROOT / "docs" / "benchmarks.md", help="page of the tables"
    )
    parser.add_argument("--cache", type=Path, help="folder where the units' vectors are kept (segmentation)")
    parser.add_argument("--embedder", default="minilm", help="minilm, or hashing for a trial")
    parser.add_argument("--tables", action="store_true", help="only write the tables anew")
    return parser


def chosen(only: str) -> list[str]:
    """Return the benchmarks a comma-separated list of names or groups means, in the order they run.

    >>> chosen("speed,ret_llqa")
    ['ret_llqa', 'speed']
    """
    wanted = [name.strip() for name in only.split(",") if name.strip()] or list(GROUPS)
    unknown = [name for name in wanted if name not in (*GROUPS, *NAMES)]
    if unknown:
        raise InvalidInput(f"no benchmark {', '.join(unknown)}; there are {', '.join([*GROUPS, *NAMES])}")
    named = {inner for name in wanted for inner in GROUPS.get(name, (name,))}
    return [name for name in NAMES if name in named]


def _run(name: str, embedder: Embedder, options: argparse.Namespace, given: list[str]) -> None:
    started = time.perf_counter()
    if name in MEASURED:
        for key, row in MEASURED[name](options, embedder):
            merge(options.output, name, {key: {**row, "quick": options.quick, **provenance(given)}})
            say(f"{key}: {tables.brief(row)}")
    else:
        path = options.data / f"{name}.jsonl.gz"
        if not path.is_file():
            say(f"{name}: no {path}, left out")
            return
        measure: Callable[..., None] = _retrieval if name in retrieval.FILES else _segmentation
        measure(path, embedder, options, given)
    say(f"{name}: {time.perf_counter() - started:.0f} s")


def _segmentation(path: Path, embedder: Embedder, options: argparse.Namespace, given: list[str]) -> None:
    origin = provenance(given, path)
    found = segmentation.measure(path, embedder, cache=options.cache, quick=options.quick)
    for key, row in found:
        merge(options.output, "segmentation", {key: {**row, **origin}})
        say(f"{key}: Score {row['score']:.3f} F1 {row['f1']:.3f} density {row['density']}")


def _retrieval(path: Path, embedder: Embedder, options: argparse.Namespace, given: list[str]) -> None:
    found = retrieval.measure(path, Remembering(embedder), quick=options.quick)
    origin = provenance(given, path)
    merge(options.output, "retrieval", {key: {**row, **origin} for key, row in found.rows.items()})
    write_details(options.output / "details" / path.name, found.details)
    for key, row in found.rows.items():
        seen = row["observation"]
        say(f"{key}: " + ", ".join(f"{k} {seen[k]:.3f}" for k in ("recall@5", "recall@10", "any@10", "mrr")))


def say(line: str) -> None:
    """Tell how it goes, on standard error."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
