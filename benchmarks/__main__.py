"""`python -m benchmarks --data DIR`: measure, merge, write the tables of docs/internals/benchmarks.md."""

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks import (
    agent_run,
    agent_tools,
    boundary_quality,
    context_speed,
    embedders,
    forgetting_speed,
    http_service,
    kills,
    large_scope,
    life_quality,
    linking_speed,
    llm_band,
    parity,
    pipeline_overhead,
    postgres_recall,
    quality_tables,
    recall_quality,
    retrieval,
    segmentation,
    service,
    speed,
    startup,
    step_quality,
    strength_speed,
    tables,
    thread_quality,
    tuning_simulation,
    ways,
)
from benchmarks.provenance import ROOT, digest_of, provenance
from benchmarks.results import merge, read, write_details
from benchmarks.vectors import Remembering
from episodic_agent.errors import EpisodicError, InvalidInput
from episodic_agent.protocols import Embedder
from episodic_agent.wiring import load_settings, make_embedder

RESULTS = ROOT / "benchmarks" / "results"
PAGES = (ROOT / "docs" / "internals" / "benchmarks.md", ROOT / "docs" / "internals" / "tuning.md")
GROUPS = {
    "segmentation": (*segmentation.FILES, *segmentation.STEPS),
    "retrieval": retrieval.FILES,
    "quality": ("boundary_quality", "step_quality", "recall_quality"),
    "threads": ("threads",),
    "lives": ("lives", "lives_untaught"),
    "embedders": ("embedders",),
    "speed": ("speed", "startup", "ways", "large_scope"),
    "agents": ("agents",),
    "context": ("context",),
    "linking": ("linking_speed",),
    "chains": ("chains_speed",),
    "forgetting": ("forgetting", "strength_speed"),
    "tuning": ("tuning",),
    "llm": ("llm_band", "overhead"),
    "postgres": ("service", "postgres_recall", "postgres_space", "parity", "kills"),
    "http": ("http",),
}
NAMES = tuple(name for names in GROUPS.values() for name in names)

TRAINED = {"boundary_quality": boundary_quality, "step_quality": step_quality}
QUALITY: Mapping[str, Callable[[argparse.Namespace, Embedder], Iterable[tuple[str, dict[str, Any]]]]] = {
    "boundary_quality": lambda options, _: boundary_quality.measure(
        options.data, options.cache, train=options.train, quick=options.quick
    ),
    "step_quality": lambda options, _: step_quality.measure(
        options.data, options.cache, train=options.train, quick=options.quick
    ),
    "recall_quality": lambda options, embedder: recall_quality.measure(
        options.data, embedder, options.cache, weights=options.weights, quick=options.quick
    ),
}
# measured on these of the data; left out without them
FROM_FILES = {
    "lives": life_quality.FILES,
    "lives_untaught": tuple(str(life_quality.OWN / f"{name}.jsonl") for name in life_quality.UNTAUGHT),
    "threads": (thread_quality.FILE,),
    "overhead": (pipeline_overhead.FILE,),
}
MEASURED: Mapping[str, Callable[[argparse.Namespace, Embedder], Iterable[tuple[str, dict[str, Any]]]]] = {
    "threads": lambda options, embedder: thread_quality.measure(options.data, embedder, quick=options.quick),
    "lives": lambda options, embedder: life_quality.measure(options.data, embedder, quick=options.quick),
    "lives_untaught": lambda options, embedder: life_quality.untaught(embedder, quick=options.quick),
    "speed": lambda options, embedder: speed.measure(options.data, embedder, quick=options.quick),
    "startup": lambda options, _: startup.measure(quick=options.quick),
    "ways": lambda options, _: ways.measure(quick=options.quick),
    "large_scope": lambda options, _: large_scope.measure(quick=options.quick),
    "agents": lambda options, embedder: agent_run.measure(embedder, quick=options.quick),
    "tuning": lambda options, _: tuning_simulation.measure(quick=options.quick),
    "chains_speed": lambda options, _: agent_tools.measure(quick=options.quick),
    "linking_speed": lambda options, _: linking_speed.measure(options.data, quick=options.quick),
    "llm_band": lambda options, embedder: llm_band.measure(
        options.data, embedder, cache=options.cache, quick=options.quick
    ),
    "overhead": lambda options, embedder: pipeline_overhead.measure(
        options.data, embedder, quick=options.quick
    ),
    "forgetting": lambda options, _: forgetting_speed.measure(quick=options.quick),
    "strength_speed": lambda options, _: strength_speed.measure(quick=options.quick),
    "context": lambda options, _: context_speed.measure(quick=options.quick),
    "embedders": lambda options, _: embedders.measure(options.data, quick=options.quick),
    "service": lambda options, _: service.measure(quick=options.quick),
    "postgres_recall": lambda options, _: postgres_recall.measure(options.data, quick=options.quick),
    "postgres_space": lambda options, _: postgres_recall.space(options.data, quick=options.quick),
    "parity": lambda options, embedder: parity.measure(
        options.data, Remembering(embedder), quick=options.quick
    ),
    "http": lambda options, _: http_service.measure(quick=options.quick),
    "kills": lambda options, _: [("kills", kills.measure(40 if options.quick else 500))],
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks asked for and return the exit code."""
    values = list(sys.argv[1:] if arguments is None else arguments)
    options = _parser().parse_args(values)
    try:
        if not options.tables:
            with TemporaryDirectory(prefix="episodic-") as folder:
                options.cache = options.cache or Path(folder)
                _measure(options, values)
        own = PAGES if options.output == RESULTS else ()  # a trial's are nobody's pages
        for page in (options.page,) if options.page else own:
            if page.is_file():
                tables.rewrite(page, options.output)
    except EpisodicError as error:
        say(f"error: {error}")
        return 2
    return 0


def _measure(options: argparse.Namespace, values: list[str]) -> None:
    embedder = make_embedder(options.embedder, load_settings(), say)
    if embedder is None:
        raise InvalidInput("the benchmarks need an embedder: `episodic models pull`, or --embedder hashing")
    names = chosen(options.only)
    for name in names:
        _run(name, embedder, options, values)
    if set(names) & set(QUALITY):
        print(quality_tables.printed(options.output))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of labelled files")
    parser.add_argument("--only", default="", help=f"comma-separated: {', '.join([*GROUPS, *NAMES])}")
    parser.add_argument("--quick", action="store_true", help="parts of the large files, small scopes")
    parser.add_argument("--output", type=Path, default=RESULTS, help="folder of results")
    parser.add_argument(
        "--page",
        type=Path,
        help="page of the tables; those of docs/internals that hold some for the own results",
    )
    parser.add_argument(
        "--cache", type=Path, help="folder that keeps vectors, trained networks and what recall gathered"
    )
    parser.add_argument(
        "--train", action="store_true", help="train the networks of folds and sets left out anew (quality)"
    )
    parser.add_argument("--weights", default="", help="also try recall with these, 'dense=.4 length=0'")
    parser.add_argument("--embedder", default="minilm", help="minilm, or hashing for a trial")
    parser.add_argument("--tables", action="store_true", help="only write the tables anew")
    return parser


def chosen(only: str) -> list[str]:
    """Return the benchmarks a comma-separated list of names or groups means, in the order they run.

    >>> chosen("speed,ret_llqa")
    ['ret_llqa', 'speed', 'startup', 'ways', 'large_scope']
    """
    targets = [name.strip() for name in only.split(",") if name.strip()] or list(GROUPS)
    unknown = [name for name in targets if name not in (*GROUPS, *NAMES)]
    if unknown:
        raise InvalidInput(f"no benchmark {', '.join(unknown)}; there are {', '.join([*GROUPS, *NAMES])}")
    named = {inner for name in targets for inner in GROUPS.get(name, (name,))}
    return [name for name in NAMES if name in named]


def _run(name: str, embedder: Embedder, options: argparse.Namespace, values: list[str]) -> None:
    started = time.perf_counter()
    if name in QUALITY:
        _quality(name, embedder, options, values)
    elif name in MEASURED:
        files = [options.data / file for file in FROM_FILES.get(name, ())]
        if absent := [str(file) for file in files if not file.is_file()]:
            say(f"{name}: no {', '.join(absent)}, left out")
            return
        origin = provenance(values, *files[:1]) | ({"sha256": digest_of(files)} if len(files) > 1 else {})
        for key, row in MEASURED[name](options, embedder):
            merge(options.output, name, {key: {**row, "quick": options.quick, **origin}})
            say(f"{key}: {tables.brief(row)}")
            if name == "tuning":
                print(tuning_simulation.printed(key, row))
    else:
        path = options.data / f"{name}.jsonl.gz"
        if not path.is_file():
            say(f"{name}: no {path}, left out")
            return
        measure: Callable[..., None] = _retrieval if name in retrieval.FILES else _segmentation
        measure(path, embedder, options, values)
    say(f"{name}: {time.perf_counter() - started:.0f} s")


def _quality(name: str, embedder: Embedder, options: argparse.Namespace, values: list[str]) -> None:
    """Keep every row as soon as it is measured; glued dialogues that are others than before are told."""
    if name in TRAINED and (absent := TRAINED[name].missing(options.data)):
        say(f"{name}: no {', '.join(absent)} in {options.data}, left out")
        return
    before = read(options.output, quality_tables.QUALITY)
    files = TRAINED[name].NEEDED if name in TRAINED else retrieval.FILES
    data = digest_of(options.data / f"{stem}.jsonl.gz" for stem in files)
    shared = {"quick": options.quick, "embedder": embedder.name, "sha256": data, **provenance(values)}
    for key, row in QUALITY[name](options, embedder):
        if before.get(key, {}).get("material", row.get("material")) != row.get("material"):
            say(f"{key}: other dialogues than those committed; do not compare the two")
        merge(options.output, quality_tables.QUALITY, {key: {**row, **shared}})
        say(f"{key}: done")


def _segmentation(path: Path, embedder: Embedder, options: argparse.Namespace, values: list[str]) -> None:
    origin = provenance(values, path)
    pairs = segmentation.measure(path, embedder, cache=options.cache, quick=options.quick)
    for key, row in pairs:
        merge(options.output, "segmentation", {key: {**row, **origin}})
        say(f"{key}: Score {row['score']:.3f} F1 {row['f1']:.3f} density {row['density']}")


def _retrieval(path: Path, embedder: Embedder, options: argparse.Namespace, values: list[str]) -> None:
    measured = retrieval.measure(path, Remembering(embedder), quick=options.quick)
    origin = provenance(values, path)
    merge(options.output, "retrieval", {key: {**row, **origin} for key, row in measured.rows.items()})
    write_details(options.output / "details" / path.name, measured.details)
    for key, row in measured.rows.items():
        seen = row["observation"]
        say(f"{key}: " + ", ".join(f"{k} {seen[k]:.3f}" for k in ("recall@5", "recall@10", "any@10", "mrr")))


def say(line: str) -> None:
    """Tell how it goes, on standard error."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
