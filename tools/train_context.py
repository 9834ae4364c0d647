"""Train the judges of what a context tells (`core/context/relevance.py`) on labelled lives, and ship them.

    python tools/train_context.py LIFE.jsonl…          # measure with each life left out, then ship
    python tools/train_context.py --only-measure LIFE.jsonl…

A life is weeks of one person's talk: messages, sittings with those they go on from, `needs` (what a message
can only be answered with) and questions with evidence. The first judge learns which messages are needed, the
second which sittings the labels connect. Printed for each life left out: the share of needed messages told
within 800 and 2,000 tokens, and the share of told lines from sittings the labels do not connect.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from shipping import Origin, ship_numbers

from episodic_agent.core.context import estimate
from episodic_agent.core.context.relevance import (
    BIAS,
    LAST,
    MATTER,
    MATTER_SHARE,
    MOST_MATTER,
    NEED,
    SITTING,
    EarlierWords,
    fading,
    features,
)
from episodic_agent.core.context.telling import floor
from episodic_agent.core.language import tokens
from episodic_agent.core.recall.bm25 import term_score, term_weight
from episodic_agent.protocols import Embedder
from episodic_agent.wiring import load_settings, make_embedder

Floats = NDArray[np.float64]
OF_SITTINGS = frozenset(
    [
        "matter",
        "best",
        "mean",
        "best_around",
        "mean_around",
        "best_words",
        "mean_words",
        "best_words_around",
        "mean_words_around",
        "best_matter",
        "mean_matter",
        "long_ago",
        "rank_sitting",
        "rank_sitting_around",
        "opening_long_ago",
        "opening_words",
        "opening_best",
    ]
)
OF_VECTORS = frozenset(
    [
        "cosine",
        "around",
        "matter",
        "best",
        "mean",
        "best_around",
        "mean_around",
        "best_matter",
        "mean_matter",
        "before",
        "after",
        "rank",
        "rank_around",
        "rank_sitting",
        "rank_sitting_around",
        "short_cosine",
        "short_around",
        "opening_cosine",
        "opening_best",
    ]
)
RIDGE = {NEED: 300.0, MATTER: 20.0}
QUESTIONS = 0.5  # what a question of the labels weighs beside a message of the talk
COVERED = 0.6


@dataclass(frozen=True)
class Case:
    """One message that needs something, with what could be told of it."""

    seen: EarlierWords
    rows: Mapping[str, Floats]
    places: Sequence[int]
    needed: Floats
    connected: Floats
    asked: int | None
    wanted: Sequence[int] = ()


class Life:
    """One life, read for training."""

    def __init__(self, path: Path, embedder: Embedder) -> None:
        """Read a file and embed its messages."""
        self.data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        self.name = self.data["id"]
        self.messages = self.data["messages"]
        self.embedder = embedder
        texts = [m["text"] for m in self.messages]
        self.vectors = np.asarray(embedder.embed(texts), np.float64)
        self.terms = [tokens(text) for text in texts]
        self.counts = [Counter(terms) for terms in self.terms]
        self.place = {m["id"]: n for n, m in enumerate(self.messages)}
        self.at = [datetime.fromisoformat(m["time"]).timestamp() for m in self.messages]
        self.sitting = [m["sitting"] for m in self.messages]
        self.tokens = [estimate(text) for text in texts]
        self.behind = {s["id"]: self._behind(s["id"]) for s in self.data["sittings"]}

    def _behind(self, sitting: str) -> set[str]:
        above = {s["id"]: s["goes_on_from"] for s in self.data["sittings"]}
        reached: set[str] = set()
        waiting = list(above[sitting])
        while waiting:
            one = waiting.pop()
            if one not in reached:
                reached.add(one)
                waiting += above.get(one, [])
        return reached

    def cases(self) -> Iterator[Case]:
        """Yield the messages that need something, then the questions."""
        for need in self.data["needs"]:
            asked = self.place[need["message"]]
            wanted = [self.place[one] for one in need["from"]]
            yield self._case(asked, asked, self.vectors[asked], self.terms[asked], wanted)
        for question in self.data["questions"]:
            moment = datetime.fromisoformat(question["time"][:19]).timestamp()
            end = sum(at <= moment for at in self.at)
            wanted = [place for one in question["evidence"] if (place := self.place[one]) < end]
            if wanted:
                vector = np.asarray(self.embedder.embed([question["question"]])[0], np.float64)
                yield self._case(None, end, vector, tokens(question["question"]), wanted)

    def _case(
        self, asked: int | None, end: int, vector: Floats, terms: Sequence[str], wanted: Sequence[int]
    ) -> Case:
        here = None if asked is None else self.sitting[asked]
        own = [n for n in range(end) if self.sitting[n] == here]
        places = sorted(
            (n for n in range(end) if self.sitting[n] != here), key=lambda n: (self.sitting[n], n)
        )
        around = vector.copy()
        for weight, n in zip(fading(len(own[-LAST:])), own[-LAST:], strict=True):
            around += weight * self.vectors[n]
        whole = self.vectors[own[-SITTING:]].sum(0) if own else np.zeros_like(vector)
        documents = Counter(term for n in range(end) for term in self.counts[n])
        average = sum(len(self.terms[n]) for n in range(end)) / max(1, end)
        asking = {t: term_weight(t, documents[t], end) for t in set(terms) if documents[t]}
        before: dict[str, float] = {}
        for weight, n in zip(fading(len(own[-LAST:])), own[-LAST:], strict=True):
            for t in self.counts[n]:
                before[t] = max(before.get(t, 0.0), weight / fading(1)[0] * term_weight(t, documents[t], end))
        names = {name: k for k, name in enumerate(dict.fromkeys(self.sitting[n] for n in places))}
        last: dict[str, float] = {}
        for n in places:
            last[self.sitting[n]] = max(last.get(self.sitting[n], 0.0), self.at[n])
        now = self.at[end] if asked is not None else self.at[end - 1]
        speaker = self.data["user"] if asked is None else self.messages[asked]["speaker"]
        mine = [self.messages[n] for n in places]
        rows = self.vectors[places]
        seen = EarlierWords(
            sitting=np.array([names[self.sitting[n]] for n in places], np.int64),
            cosine=rows @ vector,
            around=rows @ (around / np.linalg.norm(around)),
            matter=rows @ (whole / (np.linalg.norm(whole) or 1.0)),
            words=self._bm25(places, asking, average),
            words_around=self._bm25(places, before, average),
            days=np.array([(now - last[self.sitting[n]]) / 86_400 for n in places]),
            tokens=np.array([self.tokens[n] for n in places], np.float64),
            replies=np.array([float(m["role"] != "user") for m in mine]),
            tools=np.array([float(m["role"] == "tool") for m in mine]),
            asks=np.array([float("?" in m["text"] or "？" in m["text"]) for m in mine]),
            figures=np.array([float(any(map(str.isdigit, m["text"]))) for m in mine]),
            same_speaker=np.array([float(m["speaker"] == speaker) for m in mine]),
            terms=len(terms),
            begins=not own,
        )
        connected = set() if here is None else self.behind[here]
        connected = connected | {self.sitting[n] for n in wanted}
        return Case(
            seen,
            features(seen),
            places,
            np.array([float(n in set(wanted)) for n in places]),
            np.array([float(self.sitting[n] in connected) for n in places]),
            asked,
            wanted,
        )

    def _bm25(self, places: Sequence[int], weights: Mapping[str, float], average: float) -> Floats:
        return np.array(
            [
                sum(
                    term_score(weights[t], count, len(self.terms[n]), average)
                    for t, count in self.counts[n].items()
                    if t in weights
                )
                for n in places
            ]
        )


def columns(judge: str, vectors: bool) -> list[str]:
    """Return the features a judge reads."""
    some = features(_nothing())
    return [
        name
        for name in some
        if (judge == NEED or name in OF_SITTINGS) and (vectors or name not in OF_VECTORS)
    ]


def _nothing() -> EarlierWords:
    none, zero = np.zeros(0), np.zeros(0, np.int64)
    return EarlierWords(zero, *[none] * 12, 0, False)


def fit(cases: Sequence[Case], judge: str, *, vectors: bool) -> dict[str, float]:
    """Return the weights of a judge: ridge logistic regression, of features as they are."""
    names = columns(judge, vectors)
    matrices, answers, weights = [], [], []
    for case in cases:
        if judge == MATTER and case.asked is None:
            continue
        matrices.append(np.stack([case.rows[name] for name in names], 1))
        answers.append(case.needed if judge == NEED else case.connected)
        if judge == NEED:
            weights.append(np.full(len(case.places), 1.0 if case.asked is not None else QUESTIONS))
        else:  # a sitting counts once however long it is
            counts = np.bincount(case.seen.sitting)
            weights.append(5.0 / counts[case.seen.sitting])
    x, y, w = np.vstack(matrices), np.concatenate(answers), np.concatenate(weights)
    middle, spread = x.mean(0), x.std(0) + 1e-9
    z = np.hstack([(x - middle) / spread, np.ones((len(x), 1))])
    beta = np.zeros(z.shape[1])
    penalty = np.diag([RIDGE[judge]] * len(names) + [0.0])
    for _ in range(25):
        p = 1 / (1 + np.exp(-np.clip(z @ beta, -30, 30)))
        slope = z.T @ (w * (y - p)) - penalty @ beta
        step = np.linalg.solve(
            (z * (w * p * (1 - p))[:, None]).T @ z + penalty + 1e-6 * np.eye(len(beta)), slope
        )
        beta += step
        if np.abs(step).max() < 1e-6:
            break
    plain = beta[:-1] / spread
    bias = beta[-1] - float(plain @ middle)
    return {name: round(float(b), 5) for name, b in zip(names, plain, strict=True)} | {
        BIAS: round(float(bias), 5)
    }


def score(case: Case, need: Mapping[str, float], matter: Mapping[str, float]) -> Floats:
    """Return what the two judges say together."""
    one, other = (
        sum((v * case.rows[n] for n, v in judge.items() if n != BIAS), np.zeros(len(case.places)))
        + judge[BIAS]
        for judge in (need, matter)
    )
    total: Floats = one + MATTER_SHARE * np.minimum(other, MOST_MATTER)
    return total


def told(life: Life, case: Case, scores: Floats, budget: int) -> tuple[float, float, int, int]:
    """Return needed messages told and all, lines of unconnected sittings and all, in a packed budget."""
    if case.asked is None or not len(scores):
        return 0, len(case.wanted), 0, 0
    used, said, noise, lines = (
        estimate(life.messages[case.asked]["text"]) + 8,
        set(life.terms[case.asked]),
        0,
        0,
    )
    least = floor(float(scores.max()), budget)
    for k in np.argsort(-scores, kind="stable"):
        cost = life.tokens[case.places[k]] + 4
        if scores[k] < least or used + cost > budget:
            continue
        used += cost
        said |= set(life.terms[case.places[k]])
        noise += case.connected[k] == 0
        lines += 1
    covered = sum(len(set(life.terms[n]) & said) >= COVERED * len(set(life.terms[n])) for n in case.wanted)
    return covered, len(case.wanted), noise, lines


def main() -> None:
    """Measure with each life left out; ship what all teach."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("lives", nargs="+", type=Path)
    parser.add_argument("--only-measure", action="store_true")
    given = parser.parse_args()
    settings = load_settings()
    embedder = make_embedder(settings.embedder, settings, lambda *_, **__: None)
    train(given.lives, embedder, ship=not given.only_measure)


def train(paths: Sequence[Path], embedder: Embedder, *, ship: bool) -> None:
    """Measure each way of reading with each life left out, then ship the judges of all lives."""
    lives = [Life(path, embedder) for path in paths]
    cases = {life.name: list(life.cases()) for life in lives}
    tables: dict[str, object] = {}
    for kind in ("vectors", "words"):
        vectors = kind == "vectors"
        for life in lives:
            others = [case for name, some in cases.items() if name != life.name for case in some]
            judges = [fit(others, judge, vectors=vectors) for judge in (NEED, MATTER)]
            mine = [case for case in cases[life.name] if case.asked is not None]
            scores = [score(case, *judges) for case in mine]
            tops = sorted(float(one.max()) for one in scores if len(one))
            results = {
                budget: [told(life, c, s, budget) for c, s in zip(mine, scores, strict=True)]
                for budget in (800, 2_000)
            }
            shares = [sum(r[0] for r in rows) / sum(r[1] for r in rows) for rows in results.values()]
            noise = np.mean([r[2] / r[3] for r in results[800] if r[3]])
            size = np.mean([r[3] for r in results[800]])
            print(
                f"{kind:8s}{life.name:10s} covered@800 {shares[0]:.2f}  covered@2000 {shares[1]:.2f}  "
                f"noise@800 {noise:.2f}  lines {size:.0f}  tops {tops[0]:.1f} {tops[len(tops) // 2]:.1f}"
            )
        everything = [case for some in cases.values() for case in some]
        tables[kind] = {judge: fit(everything, judge, vectors=vectors) for judge in (NEED, MATTER)}
    if ship:
        origin = Origin(
            "tools/train_context.py",
            "five labelled lives (a nurse, a backend team, Leipzig, Shanghai, a flatshare)",
            "weights of the judges of what a context tells, with vectors and by words alone",
        )
        ship_numbers("context/relevance.json", tables, origin)


if __name__ == "__main__":
    main()
