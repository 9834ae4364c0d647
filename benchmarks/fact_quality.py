"""How well facts are read without a model: `python -m benchmarks.fact_quality`.

The labelled statements were written by somebody who had not seen the rules. One half is for development; the
frozen half is run to judge, never to tune, and only when it is named.
"""

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

from benchmarks.results import merge
from episodic_agent.core.facts import Fact, FactCandidate, Statement, learn, read_facts
from episodic_agent.core.language import fold, tokens, words
from episodic_agent.engine.evaluate.cases import digest

HERE = Path(__file__).parent
CASES = HERE / "cases" / "facts.jsonl"
HALVES = ("dev", "frozen")
SPACE = UUID("5a2e1d6c-98ad-5b4e-8f31-1f6f7f0d2c11")
LEAST = 0.5  # share of the content words that a value and a label must have in common, both ways
# Slots that say the same of a value; the label's relation on the left.
SAME = {
    "dislikes": {"dislikes", "fears", "likes", "diet"},
    "likes": {"likes", "habit", "interest", "prefers"},
    "prefers": {"prefers", "likes"},
    "habit": {"habit", "likes", "interest", "diet"},
    "diet": {"diet", "dislikes", "habit", "health"},
    "relationship": {"relationship", "partner", "children", "marital", "has_pet"},
    "status": {"status", "marital", "nationality"},
    "name": {"name", "also_called"},
    "health": {"health", "diet", "allergic"},
    "from": {"from", "nationality"},
    "job": {"job", "studies"},
    "did": {"did", "lives_in", "marital", "studies", "job", "employer"},
}
ENDED = {"likes": "dislikes", "dislikes": "likes"}


@dataclass(frozen=True, slots=True)
class Labelled:
    """One labelled statement, with the one it supersedes, if any."""

    row: Mapping[str, Any]
    earlier: Mapping[str, Any] | None = None


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


def labelled(path: Path, half: str) -> Iterator[Labelled]:
    """Yield the statements of one half; no line of the other half is looked at beyond its mark."""
    rows = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    mine = {row["id"]: row for row in rows if row["half"] == half}
    for row in mine.values():
        named = [fact["supersedes"] for fact in row["facts"] if fact.get("supersedes")]
        yield Labelled(row, mine.get(named[0]) if named else None)


def read(case: Labelled) -> tuple[FactCandidate, ...]:
    """Return what the rules read from a statement, knowing only what it supersedes."""
    known: tuple[Fact, ...] = ()
    if case.earlier is not None:
        known = learn((), read_facts(_statement(case.earlier))).applied(())
    return read_facts(_statement(case.row), known)


def _statement(row: Mapping[str, Any]) -> Statement:
    at = datetime.fromisoformat(row["at"])
    return Statement(row["text"], at, row["speaker"], uuid5(SPACE, row["id"]))


# --- scoring ---------------------------------------------------------------------------------------------


def content(text: str, language: str) -> set[str]:
    """Return the content stems of a text in a language."""
    return set(tokens(text, language)) or {fold(word) for word in words(text)}


def agrees(
    candidate: FactCandidate, label: Mapping[str, Any], language: str = "en", *, slot: bool = False
) -> bool:
    """Say whether a fact and a label name the same subject, value and polarity (with `slot`, the slot too).

    Values agree by their content words: at least half of each must be in the other, or in its sentence.
    """
    if fold(candidate.subject) != fold(label["subject"]):
        return False
    relation, same = label["relation"], SAME.get(label["relation"], {label["relation"]})
    holds = candidate.holds
    if ENDED.get(relation) == candidate.attribute:
        holds = not holds
    if holds is not label["polarity"] or (slot and candidate.attribute not in same):
        return False
    mine, theirs = content(candidate.value, language), content(label["value"], language)
    wide = content(f"{candidate.value} {candidate.fact}", language)
    terms = content(f"{label['value']} {label['fact']}", language)
    return bool(mine) and len(theirs & wide) >= LEAST * len(theirs) and len(mine & terms) >= LEAST * len(mine)


def score(candidates: Sequence[FactCandidate], row: Mapping[str, Any], *, slot: bool = False) -> Score:
    """Count the hits, misses and errors of one statement: each label takes one fact, each fact one label.

    What a careful reader may keep or leave (`optional`) is neither a hit nor an error.
    """
    left = list(candidates)
    total = Score()
    for label in row["facts"]:
        match = next((one for one in left if agrees(one, label, row["lang"], slot=slot)), None)
        if match is None:
            total.missed += 1
        else:
            total.hits += 1
            left.remove(match)
    optional = row.get("optional", [])
    total.wrong = sum(not any(agrees(one, label, row["lang"]) for label in optional) for one in left)
    return total


def measure(cases: Iterable[Labelled]) -> dict[str, Any]:
    """Return precision, recall and F1 over all statements, by kind and by language, and with the slot."""
    scores: dict[str, Score] = {}
    count = 0
    for case in cases:
        count += 1
        candidates = read(case)
        this_score = score(candidates, case.row)
        names = ("all", f"kind {case.row['kind']}", f"language {case.row['lang']}")
        for name in names:
            _add(scores.setdefault(name, Score()), this_score)
        _add(scores.setdefault("all, slot too", Score()), score(candidates, case.row, slot=True))
    return {"statements": count, **{name: one.as_json() for name, one in sorted(scores.items())}}


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
    options = parser.parse_args(arguments)
    figures = measure(labelled(options.cases, options.half))
    print(table(figures))
    if options.out:
        merge(options.out, "facts", {options.half: {**figures, "cases_digest": digest(options.cases)}})


if __name__ == "__main__":
    main()
