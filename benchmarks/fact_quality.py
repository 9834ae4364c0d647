"""How well facts are quoted without a model: `python -m benchmarks.fact_quality`.

The labelled statements were written by somebody who had not seen the code. The development half taught the
judge (`tools/train_facts.py`); the frozen half is run to judge, never to tune, and only when it is named.
"""

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

from benchmarks.results import merge
from episodic_agent.core.facts import FactCandidate, Statement, quotations
from episodic_agent.core.facts.quoting import Meaning
from episodic_agent.core.facts.stating import EMBEDDER
from episodic_agent.engine.evaluate.cases import digest
from episodic_agent.wiring import load_settings, make_embedder

HERE = Path(__file__).parent
CASES = HERE / "cases" / "facts2.jsonl"
HALVES = ("dev", "frozen")
SPACE = UUID("5a2e1d6c-98ad-5b4e-8f31-1f6f7f0d2c11")


@dataclass(slots=True)
class Score:
    """Counts of labels found, labels missed and facts made up."""

    hits: int = 0
    missed: int = 0
    wrong: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return the counts with precision, recall and F1."""
        index, labels = self.hits + self.wrong, self.hits + self.missed
        precision = self.hits / index if index else None
        recall = self.hits / labels if labels else None
        both = (precision or 0.0) + (recall or 0.0)
        return {
            "labels": labels,
            "found": index,
            "precision": None if precision is None else round(precision, 4),
            "recall": None if recall is None else round(recall, 4),
            "f1": round(2 * (precision or 0.0) * (recall or 0.0) / both, 4) if both else None,
        }


def labelled(path: Path, half: str) -> Iterator[Mapping[str, Any]]:
    """Yield the statements of one half; no line of the other half is looked at beyond its mark."""
    rows = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    yield from (row for row in rows if row["half"] == half)


def read(row: Mapping[str, Any], meaning: Meaning | None = None) -> list[FactCandidate]:
    """Return what is quoted of a statement."""
    at = datetime.fromisoformat(row["at"])
    statement = Statement(row["text"], at, row["speaker"], uuid5(SPACE, row["id"]))
    return [quotation.candidate for quotation in quotations([statement], meaning)]


def meaning_of(name: str) -> Meaning | None:
    """Return what embeds statements for the judge: nothing for `none`. SystemExit without the model."""
    if name == "none":
        return None
    settings = load_settings()
    embedder = make_embedder(name, settings, lambda *_, **__: None)
    if embedder is None or embedder.name != EMBEDDER:
        raise SystemExit(f"the judge of statements knows the vectors of {EMBEDDER} alone")
    return embedder.embed


# --- scoring ---------------------------------------------------------------------------------------------


def score(candidates: Sequence[FactCandidate], row: Mapping[str, Any]) -> Score:
    """Count labels that a quotation holds words of, those that none does, and quotations of none.

    What a careful reader may keep or leave (`optional`) is neither a hit nor an error.
    """
    labels, optional = row["facts"], row.get("optional", [])
    total = Score()
    total.hits = sum(any(map(partial(meets, label), candidates)) for label in labels)
    total.missed = len(labels) - total.hits
    total.wrong = sum(not any(meets(label, one) for label in [*labels, *optional]) for one in candidates)
    return total


def meets(label: Mapping[str, Any], candidate: FactCandidate) -> bool:
    """Say whether a quotation holds some of the words that a label is proved by."""
    place = candidate.evidence
    return bool(label["start"] < place.end and place.start < label["end"])


def measure(cases: Iterable[Mapping[str, Any]], meaning: Meaning | None = None) -> dict[str, Any]:
    """Return precision, recall and F1 over all statements, by kind and by language; and right categories."""
    scores: dict[str, Score] = {}
    count = right = placed = 0
    for row in cases:
        count += 1
        candidates = read(row, meaning)
        this_score = score(candidates, row)
        for name in ("all", f"kind {row['kind']}", f"language {row['lang']}"):
            _add(scores.setdefault(name, Score()), this_score)
        for one in candidates:
            kinds = {label["category"] for label in row["facts"] if meets(label, one)}
            placed += bool(kinds)
            right += one.category.value in kinds
    figures = {name: one.as_json() for name, one in sorted(scores.items())}
    return {"statements": count, "right_categories": round(right / placed, 4) if placed else None, **figures}


def _add(total: Score, score: Score) -> None:
    total.hits += score.hits
    total.missed += score.missed
    total.wrong += score.wrong


def table(figures: Mapping[str, Any]) -> str:
    """Return the figures as lines: kind, labels, facts found, precision, recall, F1."""
    lines = [f"{'':24}{'labels':>7}{'found':>7}{'P':>8}{'R':>8}{'F1':>8}"]
    for name, row in figures.items():
        if isinstance(row, Mapping):
            shares = "".join(
                f"{'-' if row[key] is None else format(row[key], '.3f'):>8}"
                for key in ("precision", "recall", "f1")
            )
            lines.append(f"{name:24}{row['labels']:7}{row['found']:7}{shares}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Score one half and print the figures; `--out` merges them into `facts.json`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fact_quality", description=__doc__)
    parser.add_argument("--cases", type=Path, default=CASES)
    parser.add_argument("--half", choices=HALVES, default="dev")
    parser.add_argument("--out", type=Path, help="folder of committed results")
    parser.add_argument("--embedder", choices=("minilm", "none"), default="minilm")
    options = parser.parse_args(arguments)
    figures = measure(labelled(options.cases, options.half), meaning_of(options.embedder))
    print(table(figures))
    if options.out:
        merge(options.out, "facts", {options.half: {**figures, "cases_digest": digest(options.cases)}})


if __name__ == "__main__":
    main()
