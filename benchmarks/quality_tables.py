"""The tables of quality: shipped and unseen boundaries, every cue and leg switched off, abstention."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import segmentation
from benchmarks.abstention import KEPT, SHIPPED
from benchmarks.results import read

Rows = Mapping[str, Mapping[str, Any]]
QUALITY = "quality"


def markdown(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Lay out a table: the first column left, numbers right.

    >>> print(markdown(["set", "F1"], [["a", ".5"]]))
    | set | F1 |
    | :-- | --: |
    | a | .5 |
    """
    body = [f"| {' | '.join(line)} |" for line in lines]
    if not body:
        return ""
    return "\n".join(
        [f"| {' | '.join(head)} |", f"| {' | '.join([':--', *['--:'] * (len(head) - 1)])} |", *body]
    )


def share(value: Any) -> str:
    """Write a figure between 0 and 1 in three digits; a dash for none.

    >>> share(0.5), share(1.25), share(None)
    ('.500', '1.25', '-')
    """
    if value is None:
        return "-"
    number = float(value)
    return f"{number:.3f}".removeprefix("0") if number <= 1 else f"{number:.2f}"


def with_error(values: Mapping[str, Any] | None) -> str:
    """Write an estimate with its standard error.

    >>> with_error({"value": 0.5, "se": 0.0125}), with_error({"value": 0.5, "se": None}), with_error(None)
    ('.500 ± .013', '.500', '-')
    """
    if values is None:
        return "-"
    return share(values["value"]) + ("" if values.get("se") is None else f" ± {share(values['se'])}")


def change(values: Mapping[str, Any] | None) -> str:
    """Write a difference with its sign and standard error; in bold where the interval leaves out 0.

    >>> change({"value": -0.0421, "se": 0.01, "interval": [-0.06, -0.02]})
    '**-.042** ± .010'
    >>> change({"value": 0.001, "se": 0.01, "interval": [-0.02, 0.02]}), change(None)
    ('+.001 ± .010', '-')
    """
    if values is None or values["value"] is None:
        return "-"
    sign = "-" if values["value"] < 0 else "+"
    text = f"{sign}{share(abs(values['value']))}"
    low, high = values["interval"]
    clear = low is not None and high is not None and (low > 0 or high < 0)
    error = "" if values.get("se") is None else f" ± {share(values['se'])}"
    return (f"**{text}**" if clear else text) + error


def title(row: Mapping[str, Any], name: str) -> str:
    """Name a row, saying that only a part of its set was measured."""
    return name + (" (quick)" if row.get("quick") else "")


def _group(results: Path, kind: str) -> dict[str, Mapping[str, Any]]:
    """Return the rows of a kind by the rest of their key."""
    rows = read(results, QUALITY)
    return {key.partition(" | ")[2]: row for key, row in rows.items() if key.partition(" | ")[0] == kind}


# --- boundaries ---


def shipped(results: Path) -> str:
    """Show the default beside the strongest plain rule, which sees the whole stream."""
    rows = read(results, "segmentation")
    lines = []
    for stem in (name + end for name in segmentation.FILES for end in ("", " without times")):
        row = rows.get(f"{stem} | default, delay 2")
        if row is None or "errors" not in row:
            continue
        errors, over = row["errors"], row["over_depth"]
        cells = [with_error(errors["score"]), _interval(errors["score"]), with_error(errors["segeval_f1"])]
        cells += [with_error(errors["density"]), change(over["score"]), change(over["segeval_f1"])]
        lines.append([title(row, stem), f"{row['streams']:,}", *cells])
    head = ("set", "dialogues", "Score", "95 %", "pooled F1", "density")
    return markdown((*head, "Score over vector depth", "pooled F1 over it"), lines)


def _interval(values: Mapping[str, Any]) -> str:
    return f"[{share(values['interval'][0])}, {share(values['interval'][1])}]"


def unseen(results: Path) -> str:
    """Show what models do on threads, and on whole sets, they were not trained on."""
    known, strange = _group(results, "unseen"), _group(results, "left out")
    lines = []
    for name in [*known, *(n for n in strange if n not in known and not n.startswith("glue"))]:
        row = known.get(name) or strange[name]
        cells = [
            with_error(some.get(name, {}).get(figure))
            for some in (known, strange)
            for figure in ("score", "segeval_f1", "density")
        ]
        lines.append([title(row, name), f"{row['threads']:,}", *cells])
    head = [f"{part}: {figure}" for part in ("unseen", "set left out") for figure in _FIGURES]
    return markdown(("set", "dialogues", *head), lines)


_FIGURES = ("Score", "pooled F1", "density")


def glued(results: Path) -> str:
    """Show the glued dialogues under the shipped model and under one that knew none of their sources."""
    ours, strange = _group(results, "glue in-sample"), _group(results, "left out")
    lines = []
    for name, row in ours.items():
        cells = [
            with_error(some.get(name, {}).get(figure))
            for some in (ours, strange)
            for figure in ("score", "segeval_f1", "density")
        ]
        lines.append([title(row, name), f"{row['threads']:,}", f"`{row['material'][:8]}`", *cells])
    head = [f"{part}: {figure}" for part in ("in-sample", "sources left out") for figure in _FIGURES]
    return markdown(("glued dialogues", "number", "material", *head), lines)


_MEANS = {
    "unseen": "unseen, mean of sets",
    "left out": "set left out, mean",
    "left out, glued": "glue of sets left out, mean",
}


def cues(results: Path) -> str:
    """Show the change of Score when a family of cues is at its usual value."""
    rows = _group(results, "without")
    sets = [name for row in rows.values() for name in row["score"] if name.startswith("unseen: ")]
    names = list(dict.fromkeys(sets))
    lines = [
        [title(row, family), *(change(row["score"].get(name)) for name in (*_MEANS, *names))]
        for family, row in sorted(rows.items(), key=lambda item: item[1]["score"]["unseen"]["value"])
    ]
    return markdown(("off", *_MEANS.values(), *names), lines)


def steps(results: Path) -> str:
    """Show the default for steps on streams, and on whole families of sets, it was not trained on."""
    known, strange = _group(results, "steps unseen"), _group(results, "steps left out")
    lines = []
    for name, row in known.items():
        cells = [
            with_error(some.get(name, {}).get(figure))
            for some in (known, strange)
            for figure in ("f1", "segeval_f1", "density")
        ]
        lines.append([title(row, name), f"{row['threads']:,}", *cells])
    shown = ("F1", "pooled F1", "density")
    head = [f"{part}: {figure}" for part in ("unseen", "family left out") for figure in shown]
    return markdown(("set", "streams", *head), lines)


def prediction(results: Path) -> str:
    """Show the change of F1 by prediction: on less off, for the rules and for the default."""
    lines = [
        [title(row, name), *(cell for part in ("rules", "default") for cell in _gain(row["f1"][part]))]
        for name, row in _group(results, "steps prediction").items()
    ]
    return markdown(("set", "rules alone", "95 %", "default", "95 %"), lines)


def _gain(values: Mapping[str, Any]) -> tuple[str, str]:
    low, high = values["interval"]
    return change(values), "-" if low is None else f"[{low:+.3f}, {high:+.3f}]"


# --- recall ---

_RECALL = ("recall@1", "recall@5", "recall@10", "recall@50", "any@10", "mrr")


def recall(results: Path) -> str:
    """Show every set's recall with its standard errors."""
    rows = _group(results, "recall")
    lines = [
        [
            title(row, name),
            f"{row['questions']:,}",
            f"{row['cases']:,}",
            *(with_error(row["figures"][figure]) for figure in _RECALL),
        ]
        for name, row in rows.items()
    ]
    return markdown(("set", "questions", "cases", *_RECALL), lines)


def legs(results: Path) -> str:
    """Show the change of each set's main figure when a leg or weight of recall is off."""
    rows, judged = _group(results, "off"), _group(results, "recall")
    sets = list(dict.fromkeys(name for row in rows.values() for name in row["change"] if name != "mean"))
    lines = [
        [title(row, name), *(change(row["change"].get(one)) for one in ("mean", *sets))]
        for name, row in sorted(rows.items(), key=lambda item: item[1]["change"]["mean"]["value"])
    ]
    head = [f"{one.removeprefix('ret_')}: {judged[one]['main']}" if one in judged else one for one in sets]
    return markdown(("off", "mean", *head), lines)


def abstention(results: Path) -> str:
    """Show the share of unanswerable questions still answered at each share of recall kept."""
    lines = []
    for name, row in _group(results, "abstention").items():
        for kind, result in row["kinds"].items():
            cells = [with_error(result["own"][f"{kept:g}"]) for kept in KEPT]
            head = [title(row, f"{name}: {kind}"), f"{result['questions']:,}", with_error(result["roc"])]
            lines.append([*head, *cells])
    texts = [f"at {share(one)} kept" for one in KEPT]
    return markdown(("set: unanswerable", "questions", "ROC area", *texts), lines)


def thresholds(results: Path) -> str:
    """Show the same under one threshold for all sets, with the share of recall each keeps."""
    levels = read(results, QUALITY).get("abstention thresholds")
    if levels is None:
        return ""
    names = [*(f"{kept:g}" for kept in KEPT), SHIPPED]
    lines = [["threshold", *(share(levels[name]) for name in names)]]
    for group, row in _group(results, "abstention").items():
        texts = [share(row["kept_by_common"][name]) for name in names]
        lines.append([title(row, f"{group}: recall kept"), *texts])
        for kind, result in row["kinds"].items():
            still = [share(result["common"][name]) for name in names]
            lines.append([f"{group}: {kind}, still answered", *still])
    heads = [f"mean kept {share(one)}" for one in KEPT]
    return markdown(("one threshold for all", *heads, SHIPPED), lines)


TABLES: Mapping[str, Callable[[Path], str]] = {
    "quality-shipped": shipped,
    "quality-unseen": unseen,
    "quality-glued": glued,
    "quality-cues": cues,
    "quality-steps": steps,
    "quality-prediction": prediction,
    "quality-recall": recall,
    "quality-legs": legs,
    "quality-abstention": abstention,
    "quality-thresholds": thresholds,
}


def printed(results: Path) -> str:
    """Return every table of quality that has rows, one under the other."""
    made = ((name, table(results)) for name, table in TABLES.items())
    return "\n\n".join(f"{name}\n\n{text}" for name, text in made if text)
