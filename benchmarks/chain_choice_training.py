"""Fit the weights of the `chain-2027-02` policy: `python -m benchmarks.chain_choice_training --data DIR`.

Learns from the development halves of the framed sessions and the labelled stories, from labelled lives and,
with a small weight, from dealt chats; the frozen halves are never read here. Printed for each set are the
sessions by the parent they get, when they open and when they close, by weights that have not seen their life.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from uuid import uuid5

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from shipping import Origin, ship_numbers

from benchmarks.chain_cases import ARCS, BEAM, World, dealt, stories
from benchmarks.chain_cases import lives as talks
from benchmarks.chain_quality import SPACE, Reader
from benchmarks.chain_sessions import APART, MISSED, NONE, RIGHT, WRONG, Life, lives
from episodic_agent.core.chains.deciding import eligible
from episodic_agent.core.chains.evidence import OF_VECTORS, choice_inputs, leads
from episodic_agent.core.chains.records import EpisodeStanding, EpisodeView, SessionTurn, view_of
from episodic_agent.core.chains.trees import roots
from episodic_agent.protocols import Embedder
from episodic_agent.wiring import load_settings, make_embedder

WEIGHTS: Final = {"sessions": 2.0, "stories": 1.0, "lives": 0.4, "dealt": 0.3}  # what a choice of each weighs
RIDGE: Final = 10.0  # on standardised inputs
LEAST: Final = 0.5  # share of a choice that links
DIGITS: Final = 5
Floats = NDArray[np.float64]
Numbers = Mapping[str, float]
Table = dict[str, float]


@dataclass(frozen=True, slots=True)
class Told:
    """A session as it opens and as it closes, with the parents it may have."""

    id: str
    opened: EpisodeView
    closed: EpisodeView
    parent: str | None
    allowed: frozenset[str | None]


@dataclass(frozen=True, slots=True)
class Weighed:
    """One choice: the numbers of each option and of none, and which is right, none the last."""

    options: Sequence[Numbers]
    none: Numbers
    right: Sequence[bool]
    weight: float


def framed(life: Life, read: Reader) -> list[Told]:
    """Read framed sessions as the engine does: by the topic as they open, with the first messages after."""
    result = []
    for session in life.sessions:
        at, identity = datetime.fromisoformat(session["at"]), uuid5(SPACE, f"{life.name}/{session['id']}")
        spoken = [
            (at + place * APART, role, text)
            for place, (role, text) in enumerate(session["messages"], start=1)
            if role in ("user", "assistant")
        ]
        vector, *vectors = read.vectors([session["topic"], *(text for *_, text in spoken)])
        projects = frozenset([session["channel"]] if session["channel"] else [])
        end = at + len(session["messages"]) * APART
        standing = EpisodeStanding(identity, identity, at, end, projects=projects)
        turns = [SessionTurn(at, session["topic"], False, vector)]
        turns += [
            SessionTurn(when, text, role == "user", one)
            for (when, role, text), one in zip(spoken, vectors, strict=True)
        ]
        opened = view_of(replace(standing, closed=False), [replace(turns[0], own=True)], vector=vector)
        whole = read.vectors(["\n".join([session["topic"], *(text for *_, text in spoken)])])[0]
        closed = view_of(standing, turns, vector=whole)
        result.append(Told(session["id"], opened, closed, session["parent"], life.allowed[session["id"]]))
    return result


def spoken(world: World, read: Reader) -> list[Told]:
    """Read sessions that nobody framed."""
    return [
        Told(s.id, one.opened, one.closed, s.parent, frozenset([s.parent, *s.also]))
        for s in world.sessions
        for one in [read(world, s)]
    ]


def choices(sessions: Sequence[Told], weight: float) -> Iterator[Weighed]:
    """Yield the choice of each session as it opens and as it closes; true chains are known."""
    ids = {one.id: one.closed.id for one in sessions}
    before: list[EpisodeView] = []
    for one in sessions:
        good = {ids[name] for name in one.allowed if name is not None}
        for view in (one.opened, one.closed):
            candidates = eligible(view, before)
            if candidates:
                options, none = choice_inputs(view, candidates, parents={c.id: c.parent for c in before})
                right = [c.id in good for c in candidates]
                yield Weighed(options, none, [*right, None in one.allowed or not any(right)], weight)
        before.append(replace(one.closed, parent=ids.get(one.parent or "")))


def fit(learnt: Sequence[Weighed], *, vectors: bool) -> Table:
    """Return weights by input, for inputs as they come."""
    names = [name for name in learnt[0].options[0] if vectors or name not in OF_VECTORS]
    of_none = [*learnt[0].none]
    width = len(names) + len(of_none) + 1
    rows, starts = [], []
    for one in learnt:
        starts.append(len(rows))
        rows += [[option[name] for name in names] + [0.0] * (len(of_none) + 1) for option in one.options]
        rows.append([0.0] * len(names) + [one.none[name] for name in of_none] + [1.0])
    x, right = np.array(rows), np.array([good for one in learnt for good in one.right], float)
    is_none = x[:, -1] > 0.0
    spread = np.ones(width)
    spread[: len(names)] = x[~is_none, : len(names)].std(axis=0) + 1e-6
    spread[len(names) : -1] = x[is_none, len(names) : -1].std(axis=0) + 1e-6
    group = np.repeat(np.arange(len(learnt)), [len(one.right) for one in learnt])
    weight, x = np.array([one.weight for one in learnt]), x / spread

    def loss(slopes: Floats) -> tuple[float, Floats]:
        utility = x @ slopes
        parts = np.exp(utility - np.maximum.reduceat(utility, starts)[group])
        share = parts / np.add.reduceat(parts, starts)[group]
        good = np.add.reduceat(share * right, starts) + 1e-300
        pulled = np.append(slopes[:-1], 0.0)
        slope = x.T @ (weight[group] * (share - share * right / good[group]))
        return float(RIDGE * (pulled @ pulled) / 2 - weight @ np.log(good)), slope + RIDGE * pulled

    slopes = minimize(loss, np.zeros(width), jac=True, method="L-BFGS-B", options={"maxiter": 500}).x / spread
    return {name: round(float(v), DIGITS) for name, v in zip([*names, *of_none, "none"], slopes, strict=True)}


def chained(sessions: Sequence[Told], table: Table) -> list[Counter[str]]:
    """Count sessions by their parents, as they open and as they close, chained by these weights."""
    counts: list[Counter[str]] = [Counter(), Counter()]
    before: list[EpisodeView] = []
    names = {one.closed.id: one.id for one in sessions}
    for one in sessions:
        parent = None
        for count, view in zip(counts, (one.opened, one.closed), strict=True):
            candidates = sorted(eligible(view, before), key=lambda c: (c.end_at, c.id.bytes))
            above = {c.id: c.parent for c in before}
            parent = None
            if candidates:
                options, none = choice_inputs(view, candidates, parents=above)
                root = roots(above)
                shares = leads(options, none, [root[c.id] for c in candidates], weights=table)
                best = int(np.argmax(shares))
                parent = candidates[best].id if 1.0 / (1.0 + np.exp(-shares[best])) >= LEAST else None
            right = (names[parent] if parent else None) in one.allowed
            count[(NONE if parent is None else RIGHT) if right else MISSED if parent is None else WRONG] += 1
        before.append(replace(one.closed, parent=parent))
    return counts


def worlds(data: Path, arcs: Path, embedder: Embedder | None) -> dict[str, dict[str, list[Told]]]:
    """Read what is learnt from, by set and life."""
    read = Reader(embedder)
    return {
        "sessions": {one.name: framed(one, read) for one in lives("dev")},
        "stories": {one.name: spoken(one, read) for one in stories(arcs, "dev")},
        "lives": {one.name: spoken(one, read) for one in talks(data / "lives")},
        "dealt": {one.name: spoken(one, read) for one in dealt(data / BEAM)},
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit, print what is held out, and write the weights where asked to."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chain_choice_training", description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of labelled files")
    parser.add_argument("--arcs", type=Path, default=ARCS, help="folder of labelled stories")
    parser.add_argument("--write", action="store_true", help="write the weights; without it print them")
    options = parser.parse_args(arguments)
    default = make_embedder("minilm", load_settings())
    tables: dict[str, Any] = {}
    for name, embedder in (("vectors", default), ("words", None)):
        read = worlds(options.data, options.arcs, embedder)
        learnt = {
            (kind, life): list(choices(sessions, WEIGHTS[kind]))
            for kind, some in read.items()
            for life, sessions in some.items()
        }
        for kind, some in read.items():
            total = [Counter[str](), Counter[str]()]
            for life, sessions in some.items():
                others = [one for key, rows in learnt.items() if key != (kind, life) for one in rows]
                for count, more in zip(
                    total, chained(sessions, fit(others, vectors=name == "vectors")), strict=True
                ):
                    count.update(more)
            print(name, "held out,", kind, json.dumps({"open": total[0], "end": total[1]}), file=sys.stderr)
        tables[name] = fit([one for rows in learnt.values() for one in rows], vectors=name == "vectors")
    if options.write:
        made_from = "development halves of benchmarks/cases/sessions and arcs, labelled lives, dealt chats"
        what = "weights of the chaining policy chain-2027-02, with vectors and by words alone"
        origin = Origin("benchmarks/chain_choice_training.py", made_from, what)
        ship_numbers("chains/choice.json", tables, origin)
    else:
        print(json.dumps(tables, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
