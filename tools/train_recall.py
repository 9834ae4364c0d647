"""Fit how sure recall is in scripts without spaces (`core/recall/confidence.py`), and say how well it tells.

    python tools/train_recall.py [--data DIR] [--report FILE]     # measure with each set left out
    python tools/train_recall.py --write                          # and ship data/recall/confidence.json

A question's share of words that one text holds says little by itself: of five thousand texts one holds a
third of anything. So the curve reads the share against the number of texts, and learns from memories of eight
texts (MemDaily), of three hundred (forty of its people told to one memory), of four hundred (a life) and of
five thousand (LifeBench's Chinese user). Each is asked its own questions and those of others, which nothing
there answers. Words alone are read, by the very functions that recall calls; no embedder is needed.
"""

import argparse
import json
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from shipping import DATA, Origin, ship_numbers

from episodic_agent.core import recall as ranking
from episodic_agent.core.language import tokens
from episodic_agent.core.language.timewords import date_words
from episodic_agent.core.recall.confidence import by_size
from episodic_agent.core.recall.policies import RECALL_2027_01
from episodic_agent.engine.evaluate.cases import digest, rows, unit_time
from episodic_agent.engine.evaluate.retrieval import last_time

HERE = Path(__file__).resolve().parent.parent
SEED, STRENGTH = 5, 1e-3
LANGUAGE = "zh"
PEOPLE, TOGETHER, MEMORIES = 200, 40, 6  # of MemDaily: asked alone; told to one memory, so many memories
STRANGERS = 40  # questions of others asked of a memory of many texts
KEPT = 0.92
NAMES = ("bias", "held", "documents")

Floats = NDArray[np.float64]
Message = Mapping[str, Any]


@dataclass(frozen=True)
class World:
    """One memory to be: its set and family (left out together), its messages, questions, and strangers'."""

    name: str
    family: str
    messages: Sequence[Message]
    own: Sequence[str]
    others: Sequence[str]


@dataclass(frozen=True)
class Row:
    """What one question reads in one memory, and whether it is answered there."""

    name: str
    family: str
    signs: Mapping[str, float]
    answered: bool


def worlds(data: Path) -> Iterator[World]:
    """Yield the memories to ask, always the same for the same data."""
    lot = random.Random(SEED)
    people = list(rows(data / "ret_memdaily.jsonl.gz"))
    phones = [case for case in rows(data / "ret_lifebench.jsonl.gz") if case.get("lang") == LANGUAGE]
    lives = [life for file in sorted((data / "lives").glob("*.jsonl")) for life in rows(file)]
    lives = [life for life in lives if life.get("lang") == LANGUAGE]
    pool = {
        name: [q for case in some for q in answerable(case)]
        for name, some in (("memdaily", people), ("lifebench", phones), ("lives", lives))
    }
    foreign = {name: [q for other, some in pool.items() if other != name for q in some] for name in pool}
    for person in people[:: max(len(people) // PEOPLE, 1)]:
        strangers = [lot.choice(foreign["memdaily"]), *lot.sample(pool["memdaily"], 1)]
        yield World("memdaily", "memdaily", person["messages"], answerable(person), strangers)
    for number in range(MEMORIES):
        some = people[number :: len(people) // TOGETHER][:TOGETHER]
        told = [m | {"id": f"{n}:{m['id']}"} for n, person in enumerate(some) for m in person["messages"]]
        own = [q for person in some for q in answerable(person)]
        others = lot.sample(foreign["memdaily"], STRANGERS)
        yield World("memdaily, forty in one", "memdaily", told, own, others)
    for case in phones:
        asked = lot.sample(foreign["lifebench"], 2 * STRANGERS)
        yield World("lifebench", "lifebench", case["messages"], answerable(case), asked)
    for life in lives:
        asked = lot.sample(foreign["lives"], STRANGERS)
        yield World("lives", "lives", life["messages"], answerable(life), asked)


def answerable(case: Mapping[str, Any]) -> list[str]:
    """Return the questions of a case that its messages answer."""
    return [str(q["question"]) for q in case["questions"] if q.get("evidence")]


def read(world: World) -> Iterator[Row]:
    """Ask everything of a memory's words, kept as the index keeps them: own, of the speaker, of the day."""
    now = last_time(world.messages)
    speakers = [str(m.get("speaker", "user")) for m in world.messages]
    times = [unit_time(m.get("time")) for m in world.messages]
    seconds = np.array([np.nan if at is None else at.timestamp() for at in times])
    holders: dict[str, list[int]] = {}
    for row, (m, speaker, at) in enumerate(zip(world.messages, speakers, times, strict=True)):
        held = {*tokens(str(m.get("text", "")), LANGUAGE), *tokens(speaker, LANGUAGE)}
        for term in held.union(date_words(at) if at else ()):
            holders.setdefault(term, []).append(row)
    count, names = len(times), tuple(dict.fromkeys(speakers))
    for text, answered in [(q, True) for q in world.own] + [(q, False) for q in world.others]:
        query = ranking.analyse(text, names, now, language=LANGUAGE)
        frequencies = {term: len(holders.get(term, ())) for term in query.terms}
        kept = ranking.kept_terms(frequencies, count)
        shares, total = np.zeros(count), ranking.ceiling(frequencies, count, query.content)
        for term in kept.keys() & set(query.content):
            shares[holders[term]] += ranking.term_weight(term, kept[term], count)
        if query.time:  # an expression of time counts as two words, as in `Gatherer`
            weight = 2 * total / len(query.content) if query.content else 1.0
            shares, total = shares + weight * ranking.time_match(query.time, seconds), total + weight
        most = float(shares.max()) / total if total > 0 else 0.0
        yield Row(world.name, world.family, by_size(most, count), answered)


def fit(some: Sequence[Row]) -> Floats:
    """Fit the logistic curve: sets weigh the same, and in each its answered and its other questions."""
    inputs = np.array([[row.signs[name] for name in NAMES] for row in some])
    answered = np.array([row.answered for row in some], np.float64)
    keys = [(row.name, row.answered) for row in some]
    weights = np.array([1.0 / keys.count(key) for key in keys]) / len(set(keys))
    curve = np.zeros(len(NAMES))
    ridge = np.diag([0.0, STRENGTH, STRENGTH])
    for _ in range(50):
        p = probabilities(inputs, curve)
        slope = inputs.T @ (weights * (p - answered)) + ridge @ curve
        curve -= np.linalg.solve((inputs.T * (weights * p * (1 - p))) @ inputs + ridge, slope)
    return curve


def probabilities(inputs: Floats, curve: Floats) -> Floats:
    """Return the probability that each question is answered."""
    results: Floats = 1.0 / (1.0 + np.exp(-np.clip(inputs @ curve, -30, 30)))
    return results


def left_out(some: Sequence[Row]) -> dict[str, dict[str, float]]:
    """Return how each set is judged by a curve that knows nothing of its family."""
    results = {}
    for name in dict.fromkeys(row.name for row in some):
        judged = [row for row in some if row.name == name]
        curve = fit([row for row in some if row.family != judged[0].family])
        results[name] = figures(judged, curve)
    return results


def figures(some: Sequence[Row], curve: Floats) -> dict[str, float]:
    """Return the shares of answerable questions refused and of others let pass."""
    p = probabilities(np.array([[row.signs[name] for name in NAMES] for row in some]), curve)
    answered = np.array([row.answered for row in some], np.bool_)
    level = float(np.quantile(p[answered], 1 - KEPT))
    threshold = RECALL_2027_01.threshold
    return {
        "answerable": int(answered.sum()),
        "others": int((~answered).sum()),
        "refused": round(float((p[answered] < threshold).mean()), 3),
        "others answered": round(float((p[~answered] >= threshold).mean()), 3),
        f"others answered where {KEPT:g} are kept": round(float((p[~answered] >= level).mean()), 3),
    }


def write(report: Mapping[str, Any], folder: Path = DATA) -> None:
    """Write what `core/recall/confidence.py` reads, with the hashes of what it was learnt from."""
    hashes = ", ".join(f"{name} {value}" for name, value in report["data"].items())
    made_from = f"labelled questions asked of memories they belong to and of others ({hashes})"
    what = "weights of how sure recall is in scripts cut into bigrams"
    origin = Origin("tools/train_recall.py", made_from, what)
    ship_numbers("recall/confidence.json", {"bigrams": report["weights"]}, origin, folder)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=HERE.parent / "shared" / "data")
    parser.add_argument("--report", type=Path, help="where to write the figures as JSON")
    parser.add_argument("--write", action="store_true", help="write data/recall/confidence.json")
    options = parser.parse_args()
    files = [options.data / f"ret_{name}.jsonl.gz" for name in ("memdaily", "lifebench")]
    files += sorted((options.data / "lives").glob("*.jsonl"))
    missing = [str(file) for file in files[:2] if not file.is_file()]
    if missing or len(files) < 3:
        sys.exit(f"no {', '.join(missing) or options.data / 'lives'}: name the labelled data with --data")
    some = [row for world in worlds(options.data) for row in read(world)]
    curve = fit(some)
    names = dict.fromkeys(row.name for row in some)
    report = {
        "data": {file.name: digest(file) for file in files},
        "weights": {name: round(float(value), 4) for name, value in zip(NAMES, curve, strict=True)},
        "left out": left_out(some),
        "as shipped": {name: figures([row for row in some if row.name == name], curve) for name in names},
    }
    print(json.dumps(report, indent=1))
    if options.report:
        options.report.write_text(json.dumps(report, indent=1) + "\n")
    if options.write:
        write(report)


if __name__ == "__main__":
    main()
