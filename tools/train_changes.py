"""Train the judge of what words change in their conversation (`core/facts/changing.py`) and ship it.

    python tools/train_changes.py LIFE.jsonl…                  # measure with streams left out, then ship
    python tools/train_changes.py --only-measure LIFE.jsonl…
    python tools/train_changes.py --held                       # measure what ships on what taught nothing

It learns from talks (`tools/facts/talk_*.tsv`, `changes_*.tsv`, the latter written for it without sight of
this code) and from labelled lives: which message took the place of which. What a person says is weighed
against what was told before it and lasts. Printed for what is left out: the average precision over all pairs
of words and something told before; then, of the likeliest of each message, how many are right, of how many,
from one half and from the likelihood that ends a fact. `held_changes_*.tsv` teach nothing.
"""

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from judges import HERE, LEAST, Floats
from numpy.typing import NDArray
from scipy import sparse
from shipping import Origin, ship_arrays
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from talks import Line, read_life, read_talk

from episodic_agent.core.facts.changing import (
    CHANGED,
    LONGEST_TALK,
    PLACES,
    TALK,
    SpokenBefore,
    SpokenNow,
    features,
    likelihoods,
)
from episodic_agent.core.facts.replacing import JudgedStatement
from episodic_agent.core.facts.stating import EMBEDDER, judged, parts_of
from episodic_agent.engine.facts.quoting import NEAR
from episodic_agent.protocols import Embedder
from episodic_agent.schemas import Vector
from episodic_agent.wiring import load_settings, make_embedder

FOLDS = 5
FORM, WORD, VECTOR = 0.5, 0.5, 2.0  # scales beside features of one spread
RIDGE = 10.0
LEAST_WEIGHT = 0.01  # of what ships


@dataclass(slots=True)
class Weighed:
    """What somebody said beside what was told before: features by column, which of it is changed."""

    stream: str
    line: str
    now: SpokenNow
    known: Sequence[SpokenBefore]
    columns: dict[str, Floats]
    changed: NDArray[np.bool_]
    all_changed: int


def weighed(stream: str, lines: Sequence[Line], embedder: Embedder) -> list[Weighed]:
    """Return what people say in a stream, each beside what was told before it."""
    vectors = _vectors(lines, embedder)
    told: list[tuple[Line, SpokenBefore]] = []
    result: list[Weighed] = []
    talk: list[Line] = []
    for line in lines:
        talk = [one for one in talk if one.sitting == line.sitting]
        if line.is_person:
            spoken = [_now(line, text, talk, vectors) for text in _parts(line)]
            rows = [row for now in spoken if (row := _weigh(stream, line, now, told))]
            # of a message that says several things nobody labelled which of them it is
            result += [max(rows, key=_likeliest_pair)] if line.ends and rows else rows
            if line.tells:
                lasting = max(spoken, key=lambda now: judged(now.statement.text, "", now.statement.vector)[0])
                told.append((line, SpokenBefore(lasting.statement, line.speaker, same_sitting=False)))
        talk.append(line)
    return result


def _vectors(lines: Sequence[Line], embedder: Embedder) -> dict[str, Vector]:
    texts = list(dict.fromkeys(t for line in lines for t in (line.text, *_parts(line))))
    return dict(zip(texts, embedder.embed(texts), strict=True))


def _parts(line: Line) -> list[str]:
    return [line.text[start:end] for start, end in parts_of(line.text)] or [line.text]


def _now(line: Line, text: str, talk: Sequence[Line], vectors: dict[str, Vector]) -> SpokenNow:
    last = talk[-TALK:]
    vector = vectors[text]
    statement = JudgedStatement(text, line.at, judged(text, "", vector).category, vector)
    texts = [one.text[:LONGEST_TALK] for one in last]
    return SpokenNow(
        statement, line.speaker, texts, [vectors[one.text] for one in last], min(len(talk), PLACES)
    )


def _weigh(
    stream: str, line: Line, now: SpokenNow, told: Sequence[tuple[Line, SpokenBefore]]
) -> Weighed | None:
    if not told:
        return None
    near = [
        (other, known._replace(same_sitting=other.sitting == line.sitting))
        for other, known in _nearest(now, told)
    ]
    known = [one for _, one in near]
    changed = np.array([other.name in line.ends for other, _ in near])
    return Weighed(stream, line.name, now, known, features(now, known), changed, len(line.ends))


def _nearest(
    now: SpokenNow, told: Sequence[tuple[Line, SpokenBefore]]
) -> Sequence[tuple[Line, SpokenBefore]]:
    """Return those nearest by the words alone and with those before them."""
    rows = np.stack([np.asarray(one.statement.vector) for _, one in told])
    mine = np.asarray(now.statement.vector)
    talk = (now.talk_vectors or [mine])[-1]
    places = {int(n) for wanted in (mine, mine + talk) for n in np.argsort(-(rows @ wanted))[:NEAR]}
    return [told[n] for n in sorted(places)]


def _likeliest_pair(row: Weighed) -> float:
    column = row.columns["pair"] + row.columns["shared in talk"]
    return float(column[row.changed].max(initial=-99.0))


# --- the judge -------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Weights:
    """A judge: features with their weights, signs with theirs, of the vector [d], and its base."""

    features: dict[str, float]
    signs: dict[str, float]
    vector: Floats
    base: float


def fit(rows: Sequence[Weighed]) -> Weights:
    """Return the judge that streams teach."""
    names = sorted(rows[0].columns)
    table = np.concatenate([np.stack([row.columns[name] for name in names], 1) for row in rows])
    changed = np.concatenate([row.changed for row in rows])
    middle, spread = table.mean(0), table.std(0) + 1e-9
    counts = Counter(sign for row in rows for sign in row.now.signs)
    known_signs = sorted(sign for sign, count in counts.items() if count >= LEAST)
    owner = np.repeat(np.arange(len(rows)), [len(row.changed) for row in rows])
    vectors = np.stack([np.asarray(row.now.statement.vector, float) for row in rows])
    alone = sparse.hstack([_sign_table(rows, known_signs), sparse.csr_matrix(VECTOR * vectors)]).tocsr()
    model = LogisticRegression(C=1 / RIDGE, max_iter=400)
    model.fit(sparse.hstack([sparse.csr_matrix((table - middle) / spread), alone[owner]]).tocsr(), changed)
    learned = model.coef_[0]
    dense, of_signs, of_vector = np.split(learned, [len(names), len(names) + len(known_signs)])
    dense = dense / spread
    scales = np.array([_scale(sign) for sign in known_signs])
    return Weights(
        dict(zip(names, dense.tolist(), strict=True)),
        dict(zip(known_signs, (of_signs * scales).tolist(), strict=True)),
        VECTOR * of_vector,
        float(model.intercept_[0] - dense @ middle),
    )


def _scale(sign: str) -> float:
    return FORM if sign.startswith(":") else WORD


def _sign_table(rows: Sequence[Weighed], known_signs: Sequence[str]) -> sparse.csr_matrix:
    places = {sign: n for n, sign in enumerate(known_signs)}
    cells = [
        (n, places[sign], _scale(sign))
        for n, row in enumerate(rows)
        for sign in sorted(row.now.signs)
        if sign in places
    ]
    where = tuple(np.array([cell[:2] for cell in cells], int).T)
    values = [cell[2] for cell in cells]
    return sparse.csr_matrix((values, where), shape=(len(rows), len(known_signs)))


def judged_by(judge: Weights, rows: Sequence[Weighed]) -> list[Floats]:
    """Return for each row how likely it changes each of what is known."""
    result = []
    for row in rows:
        now = row.now
        total = judge.base + sum(judge.signs.get(s, 0.0) for s in now.signs)
        total += float(np.asarray(now.statement.vector, float) @ judge.vector)
        sums = total + sum(judge.features[name] * column for name, column in row.columns.items())
        result.append(1 / (1 + np.exp(-np.clip(sums, -30, 30))))
    return result


def report(rows: Sequence[Weighed], likely: Sequence[Floats]) -> str:
    """Return the figures: average precision, how many changes there are, right of how many ends."""
    changed, chances = np.concatenate([row.changed for row in rows]), np.concatenate(list(likely))
    every = sum({(row.stream, row.line): row.all_changed for row in rows}.values())
    best = [(float(p.max()), bool(row.changed[p.argmax()])) for row, p in zip(rows, likely, strict=True)]
    pieces = [f"average precision {average_precision_score(changed, chances):.3f}, of {every}"]
    for name, least in (("from .5", 0.5), ("ended", CHANGED)):
        there = [right for p, right in best if p >= least]
        pieces.append(f"{name} {sum(there)} right of {len(there)}")
    return "; ".join(pieces)


def measure(lives: dict[str, list[Weighed]], talks: dict[str, list[Weighed]]) -> None:
    """Print the figures of each life, and a fifth of the talks, left out."""
    names = sorted(talks)
    folds = [[name] for name in lives] + [names[n::FOLDS] for n in range(FOLDS)]
    everything = lives | talks
    likely: dict[str, list[Floats]] = {}
    for fold in folds:
        judge = fit([row for name, rows in everything.items() if name not in fold for row in rows])
        likely |= {name: judged_by(judge, everything[name]) for name in fold}
    for group, streams in (("lives", lives), ("talks", talks)):
        rows = [row for name in streams for row in streams[name]]
        sure = [p for name in streams for p in likely[name]]
        print(f"{group} left out: {report(rows, sure)}")
        pairs = [1 / (1 + np.exp(-row.columns["pair"])) for row in rows]
        print(f"  by the judge of pairs: {report(rows, pairs)}", flush=True)


def measure_held(paths: Iterable[Path], embedder: Embedder) -> None:
    """Print how what ships does on talks it was never taught."""
    rows = [row for path in paths for row in weighed(path.stem, read_talk(path), embedder)]
    print("never taught:", report(rows, [np.array(likelihoods(row.now, row.known)) for row in rows]))


MADE_FROM = (
    "tools/facts (talk_*, changes_*) and five labelled lives (a nurse, a backend team, Leipzig, Shanghai, a "
    "flatshare)"
)
WHAT = "a judge of what words change in their conversation"


def ship(judge: Weights) -> None:
    arrays: dict[str, NDArray[np.generic]] = {
        "vector": judge.vector.astype(np.float32),
        "base": np.array([judge.base], np.float32),
    }
    heavy = {name: value for name, value in judge.signs.items() if abs(value) > LEAST_WEIGHT}
    for part, weights in (("features", judge.features), ("signs", heavy)):
        arrays[part] = np.frombuffer("\n".join(weights).encode(), np.uint8)
        arrays[f"{part}_weights"] = np.array(list(weights.values()), np.float32)
    ship_arrays("facts/changing.npz", arrays, Origin("tools/train_changes.py", MADE_FROM, WHAT))


def main() -> None:
    """Run the program."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("lives", nargs="*", type=Path, help="labelled lives, one JSON object each")
    parser.add_argument("--only-measure", action="store_true", help="ship nothing")
    parser.add_argument("--held", action="store_true", help="measure what ships on what teaches nothing")
    options = parser.parse_args()
    embedder = make_embedder("minilm", load_settings(), lambda *_, **__: None)
    if embedder is None or embedder.name != EMBEDDER:
        raise SystemExit(f"the judge learns the vectors of {EMBEDDER} alone")
    folder = HERE / "facts"
    if options.held:
        measure_held(sorted(folder.glob("held_changes_*.tsv")), embedder)
        return
    paths = sorted([*folder.glob("talk_*.tsv"), *folder.glob("changes_*.tsv")])
    lives = {path.stem: weighed(path.stem, read_life(path), embedder) for path in options.lives}
    talks = {path.stem: weighed(path.stem, read_talk(path), embedder) for path in paths}
    measure(lives, talks)
    if not options.only_measure:
        ship(fit([row for some in (lives, talks) for stream in some.values() for row in stream]))


if __name__ == "__main__":
    main()
