"""Fit the judge of English facts and report how well it judges statements held out.

    PYTHONPATH=. python tools/train_fact_judge.py [--write] [--without FILE]

Learns from both halves of `benchmarks/cases/facts.jsonl`, from the development half of `facts2.jsonl`, and
from `tools/facts/sayings.txt`. The frozen half of `facts2.jsonl` is never read here. `--without` leaves out
the statements whose ids a file lists, and scores them.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from shipping import DATA, Origin, ship_numbers

from benchmarks.fact_quality import agrees
from episodic_agent.core.facts.attribution import earnest
from episodic_agent.core.facts.proposing import proposals
from episodic_agent.core.facts.reading import language_of, speaker_of
from episodic_agent.core.facts.slots import sentence

HERE = Path(__file__).resolve().parent.parent
CASES = HERE / "benchmarks" / "cases"
SAYINGS = HERE / "tools" / "facts" / "sayings.txt"
FOLDS, SEED = 10, 7
STRENGTH = 1.0  # of the pull towards nothing: few rows, many signs
LEAST = 2  # rows a sign must stand in
THRESHOLD = 0.80
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Read:
    """What the benchmark compares of a candidate."""

    subject: str
    attribute: str
    value: str
    holds: bool
    fact: str


@dataclass(frozen=True)
class Example:
    """One proposal: its signs, the label it is (its place among its statement's, None for none)."""

    group: str
    signs: frozenset[str]
    label: int | None
    told: str


def sayings(path: Path) -> Iterator[Row]:
    """Yield the everyday sayings as labelled statements of somebody called Ada."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
        if not line or line.startswith("#"):
            continue
        text, _, answer = line.partition("=>")
        facts = [_fact(part.strip(), text) for part in answer.split("|") if part.strip()]
        yield {
            "id": f"s{number:04}",
            "lang": "en",
            "speaker": "Ada",
            "text": text.strip(),
            "facts": facts,
            "optional": [],
        }


def _fact(statement: str, text: str) -> Row:
    who, _, rest = statement.rpartition(": ")
    value, holds = (rest if who else statement).lstrip("-"), not statement.startswith("-")
    relation = "other" if holds else "likes"  # what does not hold may be read as a dislike
    return {"subject": who or "Ada", "relation": relation, "value": value, "polarity": holds, "fact": text}


def labelled(path: Path, halves: Sequence[str]) -> Iterator[Row]:
    """Yield the statements of some halves; of the others no line is looked at beyond its mark."""
    rows = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    return (row for row in rows if row["half"] in halves)


def examples(rows: Iterable[Row]) -> tuple[list[Example], int]:
    """Return what the grammar proposes of English statements, and how many labels these have."""
    examples: list[Example] = []
    labels = 0
    for row in rows:
        if row["lang"] != "en" or language_of(row["text"]) != "en":
            continue
        labels += len(row["facts"])
        for proposal in proposals(row["text"], earnest(row["text"], "en"), row["speaker"]):
            f = proposal.match
            subject = f.subject or speaker_of(row["speaker"])
            read = Read(
                subject,
                f.attribute,
                f.value,
                f.holds,
                sentence(subject, f.attribute, f.value, f.holds, f.own),
            )
            label = next((n for n, fact in enumerate(row["facts"]) if agrees(read, fact)), None)
            if label is not None or not any(agrees(read, fact) for fact in row.get("optional", [])):
                examples.append(
                    Example(
                        row["id"],
                        frozenset(proposal.signs),
                        label,
                        f"{proposal.frame} {f.value} | {row['text']}",
                    )
                )
    return examples, labels


# --- fitting ---------------------------------------------------------------------------------------------


def fit(rows: Sequence[Example]) -> dict[str, float]:
    """Return the weights of a logistic regression by Newton's method; "" is the base."""
    counts = Counter(sign for row in rows for sign in row.signs)
    names = ["", *sorted(sign for sign, count in counts.items() if count >= LEAST)]
    place = {name: number for number, name in enumerate(names)}
    table = np.zeros((len(rows), len(names)))
    table[:, 0] = 1.0
    for number, row in enumerate(rows):
        table[number, [place[sign] for sign in row.signs if sign in place]] = 1.0
    targets = np.array([row.label is not None for row in rows], float)
    pull = np.full(len(names), STRENGTH)
    pull[0] = 0.01
    weights = np.zeros(len(names))
    for _ in range(60):
        probability = 1 / (1 + np.exp(-table @ weights))
        curve = (table * (probability * (1 - probability))[:, None]).T @ table + np.diag(pull)
        step = np.linalg.solve(curve, table.T @ (probability - targets) + pull * weights)
        weights -= step
        if np.abs(step).max() < 1e-9:
            break
    return dict(zip(names, weights.tolist(), strict=True))


def chance_of(weights: Mapping[str, float], row: Example) -> float:
    total = weights[""] + sum(weights.get(sign, 0.0) for sign in row.signs)
    return float(1 / (1 + np.exp(-total)))


def held_out(rows: Sequence[Example]) -> list[float]:
    """Return each row's chance by weights that have not seen its statement."""
    groups = sorted({row.group for row in rows})
    np.random.default_rng(SEED).shuffle(groups)
    fold = {group: number % FOLDS for number, group in enumerate(groups)}
    values = [0.0] * len(rows)
    for number in range(FOLDS):
        weights = fit([row for row in rows if fold[row.group] != number])
        for at, row in enumerate(rows):
            if fold[row.group] == number:
                values[at] = chance_of(weights, row)
    return values


def figures(rows: Sequence[Example], chances: Sequence[float], labels: int, least: float) -> str:
    """Return precision and recall of what is accepted; two proposals of one label are one hit."""
    taken = [row for row, chance in zip(rows, chances, strict=True) if chance >= least]
    hits = len({(row.group, row.label) for row in taken if row.label is not None})
    wrong = sum(row.label is None for row in taken)
    return (
        f"from {least:.2f}: precision {hits / max(1, hits + wrong):.3f}, recall"
        f" {hits / max(1, labels):.3f} ({hits} hits, {wrong} wrong)"
    )


def write(weights: Mapping[str, float], folder: Path = DATA) -> None:
    """Write what the judge reads; "" is the base."""
    signs = {sign: round(weight, 3) for sign, weight in weights.items() if sign}
    tables = {"threshold": THRESHOLD, "base": round(weights[""], 3), "weights": signs}
    made_from = (
        "both halves of benchmarks/cases/facts.jsonl, the development half of benchmarks/cases/facts2.jsonl, "
        "tools/facts/sayings.txt"
    )
    what = "judge of English facts: weights of a proposal's signs, their base, and where belief begins"
    ship_numbers("facts/judge.json", tables, Origin("tools/train_fact_judge.py", made_from, what), folder)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--without", type=Path, help="file of ids, one a line, to leave out and to score")
    parser.add_argument("--write", action="store_true", help="write data/facts/judge.json")
    parser.add_argument("--errors", action="store_true", help="print what was judged wrong by folds")
    options = parser.parse_args()
    left = set(options.without.read_text().split()) if options.without else set()
    sets = {
        "first list": list(labelled(CASES / "facts.jsonl", ("dev", "frozen"))),
        "second list, dev": list(labelled(CASES / "facts2.jsonl", ("dev",))),
        "sayings": list(sayings(SAYINGS)),
    }
    parts = {name: examples([row for row in rows if row["id"] not in left]) for name, rows in sets.items()}
    rows = [row for found, _ in parts.values() for row in found]
    chances = held_out(rows)
    at = 0
    for name, (matching_examples, labels) in parts.items():
        for least in (0.65, 0.75, THRESHOLD):
            print(
                f"{name}, {FOLDS} folds, "
                f"{figures(matching_examples, chances[at : at + len(matching_examples)], labels, least)}"
            )
        at += len(matching_examples)
    others = [row for name, (found, _) in parts.items() if not name.startswith("second") for row in found]
    second, labels = parts["second list, dev"]
    alone = fit(others)
    print(
        f"second list by the others alone,"
        f" {figures(second, [chance_of(alone, row) for row in second], labels, THRESHOLD)}"
    )
    weights = fit(rows)
    if left:
        matching_examples, labels = examples(
            [row for every in sets.values() for row in every if row["id"] in left]
        )
        print(
            "left out,",
            figures(
                matching_examples, [chance_of(weights, row) for row in matching_examples], labels, THRESHOLD
            ),
        )
    if options.errors:
        for row, probability in sorted(zip(rows, chances, strict=True), key=lambda pair: -pair[1]):
            if (probability >= THRESHOLD) is (row.label is None):
                print(f"{probability:.2f} {'miss' if row.label is not None else 'wrong'} {row.told[:170]}")
    if options.write:
        write(weights)
        print(f"{len(weights)} weights written")


if __name__ == "__main__":
    main()
