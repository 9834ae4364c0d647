"""Write the tables of docs/internals (benchmarks, tuning); the prose around them stays."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import quality_tables, retrieval, segmentation
from benchmarks.quality_tables import QUALITY, markdown, share, title
from benchmarks.results import read
from benchmarks.tuning_simulation import BLOCK

Rows = Mapping[str, Mapping[str, Any]]
MARK = re.compile(r"(<!-- table: (?P<name>[a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
TRAINING = "training"


def rewrite(page: Path, results: Path) -> None:
    """Replace what stands between `<!-- table: NAME -->` and `<!-- end -->`."""
    text = page.read_text(encoding="utf-8")
    page.write_text(filled(text, results), encoding="utf-8")


def filled(text: str, results: Path) -> str:
    """Return a page with its tables made anew; KeyError for a table nobody makes."""

    def table(match: re.Match[str]) -> str:
        made = TABLES[match["name"]](results) or "(not measured yet)"
        return f"{match[1]}{made}\n{match[3]}"

    return MARK.sub(table, text)


def number(value: Any) -> str:
    """Write a count or a time in a few digits.

    >>> number(12345.6), number(3.14159), number(0.0123), number(None)
    ('12,346', '3.1', '0.012', '-')
    """
    if value is None:
        return "-"
    size = abs(float(value))
    return (
        f"{value:,.0f}"
        if size >= 100 or value == int(value)
        else f"{value:.1f}"
        if size >= 1
        else f"{value:.3f}"
    )


# --- boundaries ---

_BOUNDARY_HEAD = (
    "set / system", "Pk", "WD", "F1", "F1 ±1", "F1 ±2", "Score (se)", "density", "segeval Pk", "segeval WD",
    "pooled F1 (se)", "ms/unit",
)  # fmt: skip


def _boundaries(files: Sequence[str]) -> Callable[[Path], str]:
    def table(results: Path) -> str:
        rows = read(results, "segmentation")
        lines: list[list[str]] = []
        for stem in (name + end for name in files for end in ("", " without times")):
            mine = {
                key.partition(" | ")[2]: row for key, row in rows.items() if key.partition(" | ")[0] == stem
            }
            listed = segmentation.step_systems if files is segmentation.STEPS else segmentation.systems
            for name in [s.name for s in listed(use_times=True)]:
                if name in mine:
                    lines.append(_boundary_line(mine[name], f"{title(mine[name], stem)}: {name}"))
        return markdown(_BOUNDARY_HEAD, lines)

    return table


def _boundary_line(row: Mapping[str, Any], name: str) -> list[str]:
    shown = ("pk", "wd", "f1", "f1_tol1", "f1_tol2")
    other = [share(row["segeval"][n]) for n in ("pk", "wd")]
    density = "-" if row["density"] is None else f"{row['density']:.2f}"
    errors = row.get("errors", {})
    score = share(row["score"]) + in_brackets(errors.get("score"))
    pooled = share(row["segeval"]["f1"]) + in_brackets(errors.get("segeval_f1"))
    cost = f"{row['ms_per_unit']:.3f}"
    return [name, *(share(row[n]) for n in shown), score, density, *other, pooled, cost]


def in_brackets(values: Mapping[str, Any] | None) -> str:
    """Write the standard error behind a figure, nothing where there is none.

    >>> in_brackets({"value": 0.5, "se": 0.0125}), in_brackets(None)
    (' (.013)', '')
    """
    return f" ({share(values['se'])})" if values and values.get("se") is not None else ""


_TRAINED = (  # title in the trainer's report, heading, figures shown
    ("shipped, trained on the same data", "in-sample", ("score", "f1")),
    ("cross-validated vectors delay 2", "unseen", ("score", "f1", "segeval_f1", "density")),
    ("cross-validated vectors delay 0", "unseen, delay 0", ("score",)),
    ("cross-validated words delay 2", "unseen, words only", ("score",)),
    ("left out", "set left out", ("score", "f1", "density")),
    ("left out, whole", "set left out, whole thread", ("score",)),
)
_SHORT = {"score": "Score", "f1": "F1", "segeval_f1": "pooled F1", "density": "density"}


def _cross_validated(results: Path) -> str:
    """Show what the trainer measured on threads its models had not seen (tools/train_boundary.py)."""
    figures = read(results, TRAINING).get("figures", {})
    sets = list(dict.fromkeys(name for key, _, _ in _TRAINED for name in figures.get(key, {})))
    head = [f"{title}: {_SHORT[column]}" for _, title, columns in _TRAINED for column in columns]
    lines = [
        [name, *(share(figures.get(key, {}).get(name, {}).get(c)) for key, _, cs in _TRAINED for c in cs)]
        for name in sets
    ]
    return markdown(("set", *head), lines)


# --- recall ---

_RECALL_HEAD = (
    "set / system", "R@1", "R@5", "R@10 (se)", "R@50", "any@10", "all@10", "nDCG@10", "MRR", "session R@5",
    "false recall", "…at 90 %", "ms/query", "ms/message",
)  # fmt: skip


def _retrieval(results: Path) -> str:
    rows = read(results, "retrieval")
    lines = []
    for stem in retrieval.FILES:
        for key, row in sorted(rows.items(), key=lambda item: item[0].partition(" | ")[2] != "default"):
            if key.partition(" | ")[0] == stem:
                lines.append(_recall_line(row, f"{title(row, stem)}: {row['system']}"))
    return markdown(_RECALL_HEAD, lines)


def _recall_line(row: Mapping[str, Any], name: str) -> list[str]:
    seen, silent = row["observation"], row["abstention"]
    shown = ("recall@1", "recall@5", "recall@10", "recall@50", "any@10", "all@10", "ndcg@10", "mrr")
    figures = [share(seen.get(n)) for n in shown]
    figures[2] += in_brackets({"se": row.get("se", {}).get("recall@10")})
    figures.append(share(row["session"].get("recall@5")))
    own = silent["false_recall"] if row["system"] == "default" else None  # a baseline never abstains
    figures += [share(own), share(silent["false_recall@0.9"])]
    cost = row["ms_per_message"] if row["system"] != row["embedder"] else None
    return [name, *figures, number(row["ms_per_query"]), number(cost)]


def _gains(results: Path) -> str:
    rows = read(results, "retrieval")
    lines = []
    for stem in retrieval.FILES:
        row = rows.get(f"{stem} | default")
        if row is None:
            continue
        cells = [_interval(row.get(name, {})) for name in ("over_bm25", "over_embedder")]
        lines.append([title(row, stem), f"{row['questions']:,}", f"{row['messages']:,}", *cells])
    return markdown(("set", "questions", "messages", "over BM25", "over the raw embedder"), lines)


def _interval(gain: Mapping[str, Any]) -> str:
    if not gain:
        return "-"
    low, high = gain["interval"]
    return f"{gain['mean']:+.3f} [{low:+.3f}, {high:+.3f}]"


def _types(results: Path) -> str:
    rows = read(results, "retrieval")
    lines = []
    for stem in retrieval.FILES:
        ours, plain = rows.get(f"{stem} | default"), rows.get(f"{stem} | bm25")
        if ours is None or plain is None or len(ours["by_type"]) < 2:
            continue
        for kind, row in ours["by_type"].items():
            other = plain["by_type"][kind]
            cells = [share(r[name]) for name in ("recall@10", "mrr") for r in (row, other)]
            lines.append([f"{title(ours, stem)}: {kind}", f"{row['questions']:,}", *cells])
    return markdown(("set: type", "questions", "R@10", "BM25 R@10", "MRR", "BM25 MRR"), lines)


# --- threads ---

_THREADS_HEAD = (
    "system", "link P", "link R", "link F1", "scaled VI", "one-to-one", "exact P", "exact R", "exact F1",
    "ms/line",
)  # fmt: skip


def _threads(results: Path) -> str:
    shown = ("link_precision", "link_recall", "link_f1", "scaled_vi", "one_to_one")
    shown += tuple(f"exact_{name}" for name in ("precision", "recall", "f1"))
    rows = sorted(read(results, "threads").items(), key=lambda item: -item[1]["link_f1"])
    lines = [
        [title(row, key), *(share(row[name]) for name in shown), number(row["ms_per_line"])]
        for key, row in rows
    ]
    return markdown(_THREADS_HEAD, lines)


# --- speed, a server ---


def _figures(name: str) -> Callable[[Path], str]:
    """Show every figure of every row of a file."""

    def table(results: Path) -> str:
        lines = [
            [f"{title(row, key)}: {what.replace('_', ' ')}", _figure(value)]
            for key, row in read(results, name).items()
            for what, value in row.items()
            if what not in PROVENANCE
        ]
        return markdown(("what", "median [least, greatest]"), lines)

    return table


def _costs(results: Path) -> str:
    """Show what the guard against echoes costs an ingest."""
    rows = {key: row for key, row in read(results, "echoes").items() if key.startswith("cost ")}
    lines = [
        [
            key.removeprefix("cost ").replace(" ", ", embedder "),
            *(number(row[name]) for name in ("letters_each", "guard_microseconds", "add_microseconds")),
            *(f"{100 * row[name]:.1f} %" for name in ("share_of_add", "share_of_ingest", "told_in_turns")),
            number(row["load"]),
        ]
        for key, row in rows.items()
    ]
    return markdown(_COST_HEAD, lines)


_COST_HEAD = (
    "messages of", "letters each", "guard µs", "`add` without it µs", "share of `add`", "share of ingest",
    "runs in turns", "load",
)  # fmt: skip
SMALL = 10  # bytes: what takes less is not shown
_LAYOUT_HEAD = (
    "layout", "search ms", "p95", "packed", "a file instead", "index verbs ms", "exact scan ms",
    "HNSW ms", "top 10 shared", "bytes/observation", "packed bytes",
)  # fmt: skip


def _layouts(results: Path) -> str:
    lines = []
    for key, row in read(results, "postgres_recall").items():
        verbs = row["verb_ms"]
        times = [row["search_ms"]["median"], row["search_ms"]["p95"]]
        times += [row.get(name, {}).get("median") for name in ("packed_search_ms", "sqlite_search_ms")]
        times += [sum(verb["median"] for verb in verbs.values())]
        times += [row.get("exact_ms", verbs["vector_scores"])["median"], row.get("hnsw_ms", {}).get("median")]
        sizes = [row[name]["all"] for name in ("bytes_per_observation", "bytes_per_observation_packed")]
        shared = share(row.get("hnsw_overlap_of_top_10"))
        lines.append([title(row, key), *map(number, times), shared, *map(number, sizes)])
    return markdown(_LAYOUT_HEAD, lines)


def _space(results: Path) -> str:
    """Show which tables and indexes the bytes of an observation lie in, the layouts side by side."""
    rows = {key: row["bytes_per_observation"] for key, row in read(results, "postgres_space").items()}
    names = {name: max(r.get(name, 0) for r in rows.values()) for row in rows.values() for name in row}
    lines = [
        [name, *(number(row.get(name, 0)) for row in rows.values())]
        for name, most in sorted(names.items(), key=lambda item: -item[1])
        if most >= SMALL
    ]
    return markdown(("bytes per observation", *rows), lines)


def _parity(results: Path) -> str:
    rows = read(results, "parity")
    names = [name for row in list(rows.values())[:1] for name in row if name not in PROVENANCE]
    lines = [[title(row, key), *(number(row[name]) for name in names)] for key, row in rows.items()]
    return markdown(("set", *(name.replace("_", " ") for name in names)), lines)


_DRIFTS = ("drifts up", "drifts down", "drifts slowly")


def _tuning(results: Path) -> str:
    """Show the accuracy of users who drift, block by block, with tuning and without."""
    rows = read(results, "tuning")
    if any(name not in rows for name in _DRIFTS):
        return ""
    heads = ("links", *(f"{name}, {way}" for name in _DRIFTS for way in ("tuned", "untuned")))
    curves = [rows[name][way] for name in _DRIFTS for way in ("accuracy", "untuned")]
    lines = [
        [f"{n * BLOCK} - {(n + 1) * BLOCK}", *map(share, block)]
        for n, block in enumerate(zip(*curves, strict=True))
    ]
    best = [cell for name in _DRIFTS for cell in (share(rows[name]["end_best"]), "")]
    return markdown(heads, [*lines, ["best possible at the end", *best]])


def brief(row: Mapping[str, Any]) -> str:
    """Write a row's figures on one line."""
    return "; ".join(f"{name} {_figure(value)}" for name, value in row.items() if name not in PROVENANCE)


def _figure(value: Any) -> str:
    if isinstance(value, Mapping) and {"median", "min", "max"} <= value.keys():
        return f"{number(value['median'])} [{number(value['min'])}, {number(value['max'])}]"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_figure(inner)}" for name, inner in value.items())
    if isinstance(value, list):
        return ", ".join(_figure(inner) for inner in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return number(value) if isinstance(value, float) else str(value)


# --- where it comes from ---

PROVENANCE = ("command", "date", "machine", "revision", "sha256", "quick", "embedder")
SOURCES = (
    "segmentation", "retrieval", "threads", QUALITY, "speed", "startup", "ways", "large_scope", "agents",
    "context", "linking_speed", "tuning", "chains_speed", "forgetting", "strength_speed",
    "service", "postgres_recall", "parity", "kills", "http", "beside", "dashboard",
)  # fmt: skip


def _sources(results: Path) -> str:
    """List the data, code and machine of every figure above, rows that share them together."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for name in SOURCES:
        for key, row in read(results, name).items():
            computer = row["machine"]
            where = f"{computer['cores']} cores, {computer['cpu']}, {' '.join(computer['flags'])}"
            origin = (row["revision"], row["date"], f"{where}, Python {computer['python']}", row["command"])
            label = f"{key.partition(' | ')[0]}{' ' + row['sha256'] if 'sha256' in row else ''}"
            groups.setdefault(origin, []).append(label)
    lines = [
        [", ".join(dict.fromkeys(labels)), revision, date, where, f"`{command}`"]
        for (revision, date, where, command), labels in groups.items()
    ]
    return markdown(("rows, SHA-256 of their data", "revision", "date", "machine", "command"), lines)


def _lives(results: Path, played: str = "lives") -> str:
    """Show a life a column, a figure a line, with the mean."""
    rows = read(results, played)
    figures = [name for row in rows.values() for name in row if name not in PROVENANCE]
    lines = []
    for name in dict.fromkeys(figures):
        values = [row.get(name) for row in rows.values()]
        there = [value for value in values if value is not None]
        mean = sum(there) / len(there) if there else None
        lines.append([name, *("-" if v is None else f"{v:.3f}" for v in (*values, mean))])
    return markdown(("figure", *rows, "mean"), lines)


def _beside(results: Path) -> str:
    """Show an engine's server a line: milliseconds by verb, and requests a second in each round."""
    lines = []
    for key, row in read(results, "beside").items():
        times = [row.get(f"{verb}_ms") for verb in ("add", "search", "context")]
        lines.append(
            [
                key,
                *("-" if one is None else f"{number(one['p50'])} / {number(one['p95'])}" for one in times),
                ", ".join(map(number, row["requests_per_second"])),
                f"{sum(row['refused'].values()):,}",
            ]
        )
    return markdown(
        ("server", "add ms, p50 / p95", "search", "context", "requests a second", "refused"), lines
    )


TABLES: Mapping[str, Callable[[Path], str]] = {
    "segmentation": _boundaries(segmentation.FILES),
    "steps": _boundaries(segmentation.STEPS),
    "cross-validated": _cross_validated,
    "retrieval": _retrieval,
    "gains": _gains,
    "types": _types,
    "threads": _threads,
    "lives": _lives,
    "lives-untaught": partial(_lives, played="lives_untaught"),
    "speed": _figures("speed"),
    "large-scope": _figures("large_scope"),
    "startup": _figures("startup"),
    "ways": _figures("ways"),
    "agents": _figures("agents"),
    "context": _figures("context"),
    "linking": _figures("linking_speed"),
    "chains": _figures("chains_speed"),
    "forgetting": _figures("forgetting"),
    "strength": _figures("strength_speed"),
    "echo-cost": _costs,
    "tuning": _tuning,
    "service": _figures("service"),
    "postgres-recall": _layouts,
    "postgres-space": _space,
    "parity": _parity,
    "kills": _figures("kills"),
    "http": _figures("http"),
    "beside": _beside,
    "dashboard": _figures("dashboard"),
    "sources": _sources,
    **quality_tables.TABLES,
}
