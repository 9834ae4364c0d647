"""Train the judges of facts (`core/facts/stating.py`, `core/facts/replacing.py`) and ship them.

    python tools/train_facts.py LIFE.jsonl…                  # measure with each life left out, then ship
    python tools/train_facts.py --only-measure LIFE.jsonl…
    python tools/train_facts.py --only-pairs LIFE.jsonl…     # the judge of pairs alone, beside what ships

They learn from labelled lives (weeks of one person's talk: which messages tell what lasts, what replaced
what); from `tools/facts/plain_*.tsv` (statements in fifteen languages with the category of what they tell, or
"-") and `tools/facts/pairs_*.tsv` ("=": the later statement takes the earlier one's place, "/": both hold),
written without sight of this code but for `pairs_d`, simple sentences that the others lack; and from the
statements of `benchmarks/cases` that are for development.
Printed for each life left out: precision and recall by evidence, the share of tempting lines that gave a
fact, and of what was replaced the share that still holds; then precision and recall of the judges that ship
on lists they are never taught (`tools/facts/held_*.tsv`).
"""

import argparse
import csv
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from judges import FORM, HERE, LEAST, WORD, Floats, Row, Weights, matrix, packed, rows_of
from scipy import sparse
from shipping import Origin, ship_arrays
from sklearn.linear_model import LogisticRegression
from talks import EPOCH
from talks import read_talk as talk_lines

from episodic_agent.core.facts.harm import may_end
from episodic_agent.core.facts.quoting import LIKELY, MAY_CHANGE
from episodic_agent.core.facts.replacing import BOTH, NEWER, OLDER, JudgedStatement, features, threshold
from episodic_agent.core.facts.stating import (
    CATEGORIES,
    EMBEDDER,
    LAST_HEARD,
    judged,
    moved,
    parts_of,
    share_of,
    signs,
)
from episodic_agent.core.language import tokens
from episodic_agent.protocols import Embedder
from episodic_agent.schemas.facts import Category
from episodic_agent.wiring import load_settings, make_embedder

CASES = HERE.parent / "benchmarks" / "cases"
KIND = 3.0  # ridge of the categories
VECTOR, KIND_VECTOR = 1.0, 4.0  # scale of a unit vector's numbers beside signs of 0 and 1
PLAIN = 1.0  # what a plain statement weighs beside one of talk
BAR = 0.18  # where belief begins: the sum is moved by it, so that it is even there
MEMORIES = (0, 3, 12)  # other statements in the memories that a written pair is put into, each in each
RIVALS = 3  # of those, the nearest to the newer statement: it takes the place of none
HARD = 0.25  # what a pair that was written to mislead weighs beside the others
RIVAL, OF_A_LIFE = 0.5, 0.25  # what such a rival weighs, and a pair of a life, beside a written pair
WISHES, BESIDE_EACH, BESIDE = 10, 1, 0.02  # of somebody; pairs of each; what a pair weighs
LEAST_WEIGHT = 0.02  # of what ships
LEAST_PAIRS = 18  # pairs that a word must occur in to be learned
WORDS, VECTORS = 0.55, 0.59  # scales: of words, and of a vector's numbers, beside features of one spread
NEAREST = 24  # facts a new one is compared with


@dataclass(slots=True)
class Life:
    """A life: statements of people in order, labels by message, and pairs of messages that replace."""

    name: str
    rows: list[Row]
    facts: list[tuple[frozenset[str], bool]]
    telling: frozenset[str]
    tempting: frozenset[str]
    replaced: set[tuple[str, str]]
    times: dict[str, datetime]
    speakers: dict[str, str]


def read_life(path: Path, embedder: Embedder) -> Life:
    """Read a life; of a long message that tells a fact only the sentence nearest to it is certain."""
    row = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
    telling = frozenset(e for fact in row["facts"] for e in fact["evidence"])
    by_id = {fact["id"]: fact for fact in row["facts"]}
    facts_of: dict[str, list[str]] = {}
    for fact in row["facts"]:
        for e in fact["evidence"]:
            facts_of.setdefault(e, []).append(fact["fact"])
    rows: list[Row] = []
    before: dict[str, str] = {}
    pending: list[tuple[str, str, str]] = []
    for message in row["messages"]:
        earlier = before.get(message["sitting"], "")
        if message["role"] == "user":
            for start, end in parts_of(message["text"]):
                pending.append((message["id"], message["text"][start:end], earlier))
                earlier = ""
        before[message["sitting"]] = message["text"] if message["role"] != "tool" else ""
    vectors = np.asarray(embedder.embed([text for _, text, _ in pending]), float)
    texts = [fact["fact"] for fact in row["facts"]]
    of_facts = dict(zip(texts, np.asarray(embedder.embed(texts), float), strict=True))
    lasting, unsure = _lasting(pending, vectors, facts_of, of_facts)
    for place, (message, text, earlier) in enumerate(pending):
        certain = place not in unsure
        rows.append(Row(text, earlier, lasting[place], None, vectors[place], message, certain))
    replaced = {
        (old, new)
        for fact in row["facts"]
        if fact.get("replaces") in by_id
        for old in by_id[fact["replaces"]]["evidence"]
        for new in fact["evidence"]
    }
    gone = {fact["replaces"] for fact in row["facts"] if fact.get("replaces")}
    gone |= {fact["id"] for fact in row["facts"] if fact.get("replaced_by")}
    return Life(
        path.stem,
        rows,
        [(frozenset(fact["evidence"]), fact["id"] in gone) for fact in row["facts"]],
        telling,
        frozenset(row["tempting"]) - telling,
        replaced,
        {m["id"]: datetime.fromisoformat(m["time"]).replace(tzinfo=UTC) for m in row["messages"]},
        {m["id"]: m["speaker"] for m in row["messages"]},
    )


def read_talk(path: Path, embedder: Embedder, *, wishes: bool = True) -> Life:
    """Read a talk of `tools/facts`: a line has day, speaker, label, key and text; "---" parts its sittings.

    Of a long message that tells something nobody said which sentence it is: it teaches nothing. Without
    `wishes` their judge, which is to be taught, cuts no message.
    """
    rows: list[Row] = []
    telling: list[str] = []
    tempting: set[str] = set()
    replaced: set[tuple[str, str]] = set()
    times: dict[str, datetime] = {}
    speakers: dict[str, str] = {}
    sitting = before = ""
    for line in talk_lines(path):
        if line.sitting != sitting:
            sitting, before = line.sitting, ""
        times[line.name], speakers[line.name] = line.at, line.speaker
        if line.is_person:
            places = parts_of(line.text, wishes=wishes)
            earlier = before
            for start, end in places:
                kind = Category(line.label) if line.tells else None
                certain = not line.tells or len(places) == 1
                rows.append(
                    Row(line.text[start:end], earlier, line.tells, kind, np.zeros(0), line.name, certain)
                )
                earlier = ""
            telling += [line.name] if line.tells else []
            tempting |= {line.name} if line.label == "~" else set()
            replaced |= {(old, line.name) for old in line.ends}
        before = line.text if line.speaker != "tool" else ""
    vectors = np.asarray(embedder.embed([row.text for row in rows]), float)
    for row, vector in zip(rows, vectors, strict=True):
        row.vector = vector
    gone = {old for old, _ in replaced}
    return Life(
        path.stem,
        rows,
        [(frozenset([name]), name in gone) for name in telling],
        frozenset(telling),
        frozenset(tempting),
        replaced,
        times,
        speakers,
    )


def _lasting(
    pending: Sequence[tuple[str, str, str]],
    vectors: Floats,
    facts_of: Mapping[str, Sequence[str]],
    of_facts: Mapping[str, Floats],
) -> tuple[dict[int, bool], set[int]]:
    """Return by place which statements last, and the places of which nobody knows."""
    by_message: dict[str, list[int]] = {}
    for place, (message, _, _) in enumerate(pending):
        by_message.setdefault(message, []).append(place)
    lasting: dict[int, bool] = {}
    unsure: set[int] = set()
    for message, places in by_message.items():
        for place in places:
            lasting[place] = message in facts_of and len(places) == 1
        if message in facts_of and len(places) > 1:
            for fact in facts_of[message]:
                near = [
                    float(vectors[p] @ of_facts[fact])
                    + len(set(tokens(pending[p][1])) & set(tokens(fact))) / max(1, len(set(tokens(fact))))
                    for p in places
                ]
                lasting[places[int(np.argmax(near))]] = True
            unsure |= {p for p in places if not lasting[p]}
    return lasting, unsure


def plain_rows(embedder: Embedder) -> list[Row]:
    """Read the plain statements: written lines, and the development half of the labelled cases."""
    found_rows = [row for path in sorted((HERE / "facts").glob("plain_*.tsv")) for row in _listed(path)]
    for line in (HERE / "facts" / "sayings.txt").read_text(encoding="utf-8").splitlines():
        if "=>" in line and not line.startswith("#"):
            text, _, facts = line.partition("=>")
            found_rows.append((text.strip(), bool(facts.strip()), None))
    for name in ("facts.jsonl", "facts2.jsonl"):
        for line in (CASES / name).read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            if case["half"] == "dev":
                kinds = {fact["category"] for fact in case["facts"]}
                kind = Category(kinds.pop()) if len(kinds) == 1 else None
                found_rows.append((case["text"], bool(case["facts"]), kind))
    return rows_of(found_rows, embedder)


def held_rows(embedder: Embedder, names: Sequence[str] = ("held_a.tsv", "held_b.tsv")) -> list[Row]:
    """Read the statements that no judge is taught: they tell how it does on what it never saw."""
    paths = [HERE / "facts" / name for name in names]
    return rows_of([row for path in paths for row in _listed(path)], embedder)


def _listed(path: Path) -> list[tuple[str, bool, Category | None]]:
    """Read a list of label, language and text; a label that is no category ("context") teaches none."""
    rows = csv.reader(path.open(encoding="utf-8"), delimiter="\t", quoting=csv.QUOTE_NONE)
    return [
        (text, label != "-", Category(label) if label in set(Category) else None) for label, _, text in rows
    ]


# --- the judges ------------------------------------------------------------------------------------------


def fit(plain: Sequence[Row], lives: Sequence[Row], *, meaning: bool) -> Weights:
    """Return the judge that plain statements and talk teach; `meaning` False: without vectors."""
    certain = [row for row in lives if row.certain]
    rows = [*plain, *certain]
    counts = Counter(sign for row in rows for sign in signs(row.text, row.before))
    names = sorted(sign for sign, count in counts.items() if count >= LEAST)
    scales = np.array([1 / np.sqrt(FORM if name.startswith(":") else WORD) for name in names])
    parts: list[Any] = [matrix(rows, names, scales)]
    if meaning:
        parts.append(VECTOR * np.stack([row.vector for row in rows]))
    model = LogisticRegression(C=1.0, max_iter=500)
    weigh = [PLAIN] * len(plain) + [1.0] * len(certain)
    model.fit(sparse.hstack(parts).tocsr(), [row.lasts for row in rows], sample_weight=weigh)
    lasting, read = model.coef_[0, : len(names)] * scales, VECTOR * model.coef_[0, len(names) :]
    base = float(model.intercept_[0]) - BAR
    kinds, kind_vector, kind_base = _categories([row for row in rows if row.kind], names, meaning=meaning)
    vector = np.hstack([read[:, None], kind_vector]) if meaning else None
    return Weights(names, np.hstack([lasting[:, None], kinds]), vector, np.concatenate([[base], kind_base]))


def _categories(rows: Sequence[Row], names: Sequence[str], *, meaning: bool) -> tuple[Floats, Floats, Floats]:
    scales = np.full(len(names), 1 / np.sqrt(KIND))
    parts: list[Any] = [matrix(rows, names, scales)]
    if meaning:
        parts.append(KIND_VECTOR * np.stack([row.vector for row in rows]))
    model = LogisticRegression(C=1.0, max_iter=500)
    model.fit(sparse.hstack(parts).tocsr(), [CATEGORIES.index(row.kind) for row in rows if row.kind])
    size = len(names)
    return model.coef_[:, :size].T * scales[0], KIND_VECTOR * model.coef_[:, size:].T, model.intercept_


# --- pairs -----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Pair:
    """Two statements, what they are judged by, and whether the later takes the earlier one's place."""

    older: JudgedStatement
    newer: JudgedStatement
    row: Mapping[str, float]
    replaces: bool
    weight: float


@dataclass(slots=True)
class PairWeights:
    """A judge of pairs: [features] weights, [2, d] of the vectors or None, and its base."""

    names: list[str]
    weights: Floats
    vectors: Floats | None
    base: float

    def chances(self, pairs: Sequence[Pair]) -> Floats:
        """Return how likely pairs replace, [n], as the engine computes it."""
        total = self.base + _features(pairs, self.names) @ self.weights
        if self.vectors is not None and pairs:
            total += _vectors(pairs) @ self.vectors.ravel()
        return 1 / (1 + np.exp(-np.clip(total, -30, 30)))  # type: ignore[no-any-return]


def statements(
    rows: Sequence[Row], weights: Weights | None, times: Sequence[datetime]
) -> list[JudgedStatement]:
    """Return rows as pairs are judged, with categories of a judge; None: of the one that ships."""
    vectors = [row.vector.astype(np.float32) for row in rows]
    if weights is None:
        kinds = [judged(row.text, row.before, vector)[1] for row, vector in zip(rows, vectors, strict=True)]
    else:
        kinds = [CATEGORIES[int(k)] for k in weights.scores(rows)[:, 1:].argmax(1)]
    together = zip(rows, times, kinds, vectors, strict=True)
    return [JudgedStatement(row.text, at, kind, vector) for row, at, kind, vector in together]


def written_pairs(
    paths: Sequence[Path], embedder: Embedder, weights: Weights | None, memories: Sequence[int] = MEMORIES
) -> tuple[list[Pair], list[Pair]]:
    """Read pairs that were written for it, each in memories of others' older statements of its language.

    In a memory the newer statement has rivals, as in use; the nearest are pairs too, the second list.
    """
    lines = [
        line
        for path in paths
        for line in csv.reader(path.open(encoding="utf-8"), delimiter="\t", quoting=csv.QUOTE_NONE)
    ]
    texts = [text for line in lines for text in line[2:]]
    embedded = np.asarray(embedder.embed(texts), float)
    rows = [Row(text, "", True, None, v) for text, v in zip(texts, embedded, strict=True)]
    spoken = statements(rows, weights, [EPOCH + timedelta(days=k) for k in range(len(rows))])
    vectors = embedded[::2]
    own: list[Pair] = []
    beside: list[Pair] = []
    rng = np.random.default_rng(1)
    for n, (label, language, *_) in enumerate(lines):
        new = spoken[2 * n + 1]
        others = [m for m in range(len(lines)) if m != n]
        same = [m for m in others if lines[m][1] == language]
        cosines = vectors @ embedded[2 * n + 1]
        for size in memories:
            memory = rng.choice(same if len(same) >= size else others, size, replace=False)
            told = [n, *sorted(memory, key=lambda m: -cosines[m])]
            for place, m in enumerate(told[: 1 + RIVALS]):
                rivals = [float(cosines[k]) for k in told if k != m]
                weight = (RIVAL if place else 1.0) / len(memories)
                row = features(spoken[2 * m], new, rivals)
                (beside if place else own).append(
                    Pair(spoken[2 * m], new, row, label == "=" and not place, weight)
                )
    return own, beside


def wishes_beside(embedder: Embedder, weights: Weights | None) -> list[Pair]:
    """Return pairs of standing wishes drawn by lot, each in a memory of others of its language: both hold.

    Who has ten wishes and tells an eleventh loses none: of a hundred pairs one was held for a change.
    """
    lines = [
        line
        for path in sorted((HERE / "facts").glob("wishes_*.tsv"))
        for line in csv.reader(path.open(encoding="utf-8"), delimiter="\t", quoting=csv.QUOTE_NONE)
        if line[0] == "+"
    ]
    embedded = np.asarray(embedder.embed([text for *_, text in lines]), float)
    rows = [Row(text, "", True, None, v) for (*_, text), v in zip(lines, embedded, strict=True)]
    spoken = statements(rows, weights, [EPOCH + timedelta(days=k) for k in range(len(rows))])
    rng = np.random.default_rng(2)
    pairs = []
    for n, (_, language, _) in enumerate(lines):
        same = [m for m in range(len(lines)) if m != n and lines[m][1] == language]
        memory = rng.choice(same, min(WISHES, len(same)), replace=False)
        cosines = {int(m): float(embedded[m] @ embedded[n]) for m in memory}
        for m in list(cosines)[:BESIDE_EACH]:
            rivals = [cosine for k, cosine in cosines.items() if k != m]
            row = features(spoken[m], spoken[n], rivals)
            pairs.append(Pair(spoken[m], spoken[n], row, False, BESIDE))
    return pairs


def pairs_of(
    life: Life, weights: Weights | None, rows: Sequence[Row] | None = None
) -> Iterator[tuple[str, str, Pair]]:
    """Yield each statement that tells something with those before it that it may replace."""
    rows = [row for row in life.rows if row.lasts] if rows is None else rows
    spoken = statements(rows, weights, [life.times[row.message] for row in rows])
    for n, row in enumerate(rows):
        speaker = life.speakers[row.message]
        mine = [
            m
            for m in range(n)
            if rows[m].message != row.message and life.speakers[rows[m].message] == speaker
        ]
        cosines = {m: _cosine(rows[m], row) for m in mine}
        near = sorted(mine, key=lambda m: -cosines[m])[:NEAREST]
        for m in near:
            rivals = [cosines[k] for k in near if k != m]
            older = rows[m].message
            replaces = (older, row.message) in life.replaced
            judged_by = features(spoken[m], spoken[n], rivals)
            yield older, row.message, Pair(spoken[m], spoken[n], judged_by, replaces, OF_A_LIFE)


def _cosine(older: Row, newer: Row) -> float:
    return float(older.vector @ newer.vector)


def all_pairs(
    lives: Sequence[Life], embedder: Embedder, weights: Weights | None, *, meaning: bool
) -> list[Pair]:
    """Return the pairs that were written, and those of lives.

    In hard pairs a name comes again and the first still holds: words alone cannot tell them from changes, and
    would only end less. Wishes loosened and journeys (`pairs_g`, `pairs_h`) share few words: words alone
    ended more of other pairs for them, and less rightly.
    """
    lists = "pairs_[!e].tsv" if meaning else "pairs_[a-df].tsv"
    own, beside = written_pairs(sorted((HERE / "facts").glob(lists)), embedder, weights)
    misleading = written_pairs([HERE / "facts" / "pairs_e.tsv"], embedder, weights) if meaning else ()
    hard = [replace(pair, weight=HARD * pair.weight) for pairs in misleading for pair in pairs]
    apart = wishes_beside(embedder, weights)
    return [*own, *beside, *hard, *apart, *(pair for life in lives for _, _, pair in pairs_of(life, weights))]


def fit_pairs(pairs: Sequence[Pair], *, meaning: bool) -> PairWeights:
    """Return the judge of pairs; `meaning` False leaves out what comes of vectors."""
    sample = features(JudgedStatement("", EPOCH, Category.GOAL), JudgedStatement("", EPOCH, Category.GOAL))
    counts = Counter(name for pair in pairs for name in pair.row)
    words = sorted(n for n, count in counts.items() if n[0] in NEWER + BOTH + OLDER and count >= LEAST_PAIRS)
    plain = sorted(n for n in counts if n[0] not in NEWER + BOTH + OLDER and (meaning or n in sample))
    names = [*plain, *words]
    x = _features(pairs, names)
    spread = np.sqrt(np.asarray(x[:, : len(plain)].power(2).mean(0) - np.square(x[:, : len(plain)].mean(0))))
    scales = np.concatenate([1 / (spread.ravel() + 1e-6), np.full(len(words), WORDS)])
    parts: list[Any] = [x @ sparse.diags(scales)]
    if meaning:
        parts.append(VECTORS * _vectors(pairs))
    model = LogisticRegression(C=1.0, max_iter=2000)
    weigh = [pair.weight for pair in pairs]
    model.fit(sparse.hstack(parts).tocsr(), [pair.replaces for pair in pairs], sample_weight=weigh)
    vectors = (VECTORS * model.coef_[0, len(names) :]).reshape(2, -1) if meaning else None
    return PairWeights(names, model.coef_[0, : len(names)] * scales, vectors, float(model.intercept_[0]))


def _features(pairs: Sequence[Pair], names: Sequence[str]) -> sparse.csr_matrix:
    places = {name: place for place, name in enumerate(names)}
    cells = [(n, places[k], v) for n, pair in enumerate(pairs) for k, v in pair.row.items() if k in places]
    rows, columns, values = zip(*cells, strict=True) if cells else ((), (), ())
    return sparse.csr_matrix((values, (rows, columns)), shape=(len(pairs), len(names)))


def _vectors(pairs: Sequence[Pair]) -> Floats:
    return np.stack([np.concatenate([pair.older.vector, pair.newer.vector]) for pair in pairs])


# --- measuring -------------------------------------------------------------------------------------------


def chance(weights: Weights, rows: Sequence[Row]) -> Floats:
    """Return how likely statements last, [n], as the engine believes it in the talk they stand in."""
    moves = [moved(row.share, meaning=weights.vector is not None) for row in rows]
    return 1 / (1 + np.exp(-(weights.scores(rows)[:, 0] + moves)))  # type: ignore[no-any-return]


def hear(life: Life, by_words: Weights) -> None:
    """Tell each statement of a life the share of what lasts in the talk before its message."""
    chances = 1 / (1 + np.exp(-by_words.scores(life.rows)[:, 0]))
    begins = 0
    for place, row in enumerate(life.rows):
        begins = begins if place and life.rows[place - 1].message == row.message else place
        row.share = share_of(chances[max(0, begins - LAST_HEARD) : begins].tolist())


def measured(life: Life, weights: Weights, pair_weights: PairWeights) -> dict[str, float]:
    """Return the figures of one life, judged by what others taught."""
    lasting = chance(weights, life.rows)
    told_rows = [row for row, p in zip(life.rows, lasting, strict=True) if p >= LIKELY]
    messages = [row.message for row in told_rows]
    right = sum(m in life.telling for m in messages)
    predicted = [evidence for evidence, _ in life.facts if evidence & set(messages)]
    bar = threshold(pair_weights.vectors is not None)
    ends = [(old, new) for p, old, new in surest(life, weights, told_rows, pair_weights) if p >= bar]
    ended = {old for old, _ in ends}
    gone = [evidence for evidence, over in life.facts if over and evidence & set(messages)]
    stale = [evidence for evidence in gone if (evidence & set(messages)) - ended]
    precision, recall = right / max(1, len(messages)), len(predicted) / len(life.facts)
    return {
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / max(1e-9, precision + recall),
        "tempted": len(set(messages) & life.tempting) / max(1, len(life.tempting)),
        "ends": len(ends),
        "right ends": len(life.replaced & set(ends)),
        "stale": len(stale) / max(1, len(gone)),
    }


def surest(
    life: Life, weights: Weights | None, rows: Sequence[Row], pair_weights: PairWeights
) -> list[tuple[float, str, str]]:
    """Return for each message the one it likeliest takes the place of: how likely, the older, the newer."""
    pairs = [one for one in pairs_of(life, weights, rows) if may_end(one[2].newer.text, one[2].older.text)]
    best: dict[str, tuple[float, str, str]] = {}
    chances = pair_weights.chances([pair for _, _, pair in pairs])
    for (old, new, _), p in zip(pairs, chances, strict=True):
        if p > best.get(new, (0.0,))[0]:
            best[new] = (float(p), old, new)
    return list(best.values())


def measure_pairs(lives: Sequence[Life], embedder: Embedder) -> None:
    """Print right and wrong ends of lives, each left out, among what the judge that ships believes."""
    for meaning in (True, False):
        ends: list[tuple[float, bool]] = []
        for life in lives:
            others = [other for other in lives if other is not life]
            judge = fit_pairs(all_pairs(others, embedder, None, meaning=meaning), meaning=meaning)
            rows = [
                row
                for row in life.rows
                if judged(row.text, row.before, row.vector.astype(np.float32))[0] >= LIKELY
            ]
            ends += [(p, (old, new) in life.replaced) for p, old, new in surest(life, None, rows, judge)]
        print("ends by meaning" if meaning else "ends by words  ")
        for bar in (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9):
            right = sum(good for p, good in ends if p >= bar)
            print(f"  from {bar}: {right} right, {sum(p >= bar for p, _ in ends) - right} wrong")


def held_pairs(judge: PairWeights, embedder: Embedder, weights: Weights | None) -> str:
    """Return precision and recall on the pairs that no judge is taught: ends, and what may have changed."""
    bar = threshold(judge.vectors is not None)
    lines = []
    for path in sorted((HERE / "facts").glob("held_pairs*.tsv")):
        own, _ = written_pairs([path], embedder, weights)
        alone, _ = written_pairs([path], embedder, weights, (0,))
        ends, may_have = _right(judge, own, bar), _right(judge, alone, MAY_CHANGE)
        lines.append(f"{path.stem}: ends {ends}, may have changed {may_have}")
    return "; ".join(lines)


def _right(judge: PairWeights, pairs: Sequence[Pair], bar: float) -> str:
    likely, truth = judge.chances(pairs) >= bar, np.array([pair.replaces for pair in pairs])
    return f"from {bar}: P {truth[likely].mean():.3f} R {likely[truth].mean():.3f}"


def main() -> None:
    """Measure with each life left out; ship what all teach."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("lives", nargs="+", type=Path)
    parser.add_argument("--only-measure", action="store_true")
    parser.add_argument("--only-ship", action="store_true")
    parser.add_argument("--only-pairs", action="store_true", help="teach and ship the judge of pairs alone")
    options = parser.parse_args()
    settings = load_settings()
    embedder = make_embedder("minilm", settings, lambda *_, **__: None)
    if embedder is None or embedder.name != EMBEDDER:
        raise SystemExit(f"the judge learns the vectors of {EMBEDDER} alone")
    lives = [read_life(path, embedder) for path in options.lives]
    if options.only_pairs:
        if not options.only_ship:
            measure_pairs(lives, embedder)
        ship_pairs(lives, embedder, dict.fromkeys(("meaning", "words")), keep=not options.only_measure)
        return
    talks = [read_talk(path, embedder) for path in sorted((HERE / "facts").glob("talk_*.tsv"))]
    plain = plain_rows(embedder)
    if not options.only_ship:
        measure(lives, talks, plain, embedder)
    if not options.only_measure:
        ship(lives, talks, plain, embedder)


def measure(lives: Sequence[Life], talks: Sequence[Life], plain: Sequence[Row], embedder: Embedder) -> None:
    """Print the figures of each life, left out; the talks teach always."""
    for meaning in (True, False):
        tables = []
        for life in lives:
            others = [other for other in lives if other is not life]
            taught = [row for other in (*others, *talks) for row in other.rows]
            weights = fit(plain, taught, meaning=meaning)
            hear(life, fit(plain, taught, meaning=False) if meaning else weights)
            pairs = all_pairs(others, embedder, weights, meaning=meaning)
            tables.append(measured(life, weights, fit_pairs(pairs, meaning=meaning)))
            print("meaning" if meaning else "words  ", f"{life.name:10s}", _line(tables[-1]))
        print("mean".ljust(18), _line({k: float(np.mean([t[k] for t in tables])) for k in tables[0]}))
        if meaning:
            print("plain, in five folds:", plain_folds([*lives, *talks], plain))
        weights = fit(plain, [row for life in (*lives, *talks) for row in life.rows], meaning=meaning)
        print("never taught:", _found(weights, held_rows(embedder)))
        print("of the moment, never taught:", _found(weights, held_rows(embedder, ["held_c.tsv"])))
        print("addresses and jobs, never taught:", _found(weights, held_rows(embedder, ["held_d.tsv"])))
        print("jokes and what is meant, never taught:", _found(weights, held_rows(embedder, ["held_e.tsv"])))


def plain_folds(lives: Sequence[Life], plain: Sequence[Row]) -> str:
    """Return precision and recall on plain statements, and the share of right categories, in folds."""
    fold = np.random.default_rng(3).integers(0, 5, len(plain))
    hits = wrong = missed = right = labelled = 0
    for n in range(5):
        taught = [row for row, f in zip(plain, fold, strict=True) if f != n]
        weights = fit(taught, [row for life in lives for row in life.rows], meaning=True)
        mine = [r for r, f in zip(plain, fold, strict=True) if f == n]
        scores = weights.scores(mine)
        predicted = chance(weights, mine) >= LIKELY
        truth = np.array([r.lasts for r in mine])
        hits += int((predicted & truth).sum())
        wrong += int((predicted & ~truth).sum())
        missed += int((~predicted & truth).sum())
        with_kind = [
            (r, CATEGORIES[int(s[1:].argmax())]) for r, s in zip(mine, scores, strict=True) if r.kind
        ]
        labelled += len(with_kind)
        right += sum(r.kind is kind for r, kind in with_kind)
    precision, recall = hits / (hits + wrong), hits / (hits + missed)
    return f"P {precision:.3f} R {recall:.3f}, categories {right / labelled:.3f} of {labelled}"


def _found(weights: Weights, rows: Sequence[Row]) -> str:
    likely = chance(weights, rows) >= LIKELY
    lasts = np.array([row.lasts for row in rows])
    return f"P {lasts[likely].mean():.3f} R {likely[lasts].mean():.3f}"


def _line(table: Mapping[str, float]) -> str:
    return "  ".join(f"{name} {value:.3f}" for name, value in table.items())


MADE_FROM = (
    "five labelled lives (a nurse, a backend team, Leipzig, Shanghai, a flatshare), tools/facts (talks, "
    "plain statements, pairs), the development halves of benchmarks/cases/facts.jsonl and facts2.jsonl"
)
MADE_FROM_PAIRS = (
    "tools/facts (pairs), five labelled lives (a nurse, a backend team, Leipzig, Shanghai, a flatshare)"
)


def ship(lives: Sequence[Life], talks: Sequence[Life], plain: Sequence[Row], embedder: Embedder) -> None:
    """Train on everything and write the data files; pairs of talks taught their judge nothing."""
    rows = [row for life in (*lives, *talks) for row in life.rows]
    arrays: dict[str, Any] = {}
    judges: dict[str, Weights | None] = {}
    for kind in ("meaning", "words"):
        weights = judges[kind] = fit(plain, rows, meaning=kind == "meaning")
        arrays |= packed(kind, weights, LEAST_WEIGHT)
    what = "judges of statements: does it last, which category; with vectors and by words alone"
    ship_arrays("facts/stating.npz", arrays, Origin("tools/train_facts.py", MADE_FROM, what))
    ship_pairs(lives, embedder, judges)


def ship_pairs(
    lives: Sequence[Life], embedder: Embedder, judges: Mapping[str, Weights | None], *, keep: bool = True
) -> None:
    """Train the judges of pairs on everything, print how they do on pairs never taught, and write the file.

    `judges` tell the categories, None: the judge that ships.
    """
    arrays: dict[str, Any] = {}
    for kind, weights in judges.items():
        meaning = kind == "meaning"
        judge = fit_pairs(all_pairs(lives, embedder, weights, meaning=meaning), meaning=meaning)
        print("pairs never taught, by", kind, held_pairs(judge, embedder, weights))
        large = np.abs(judge.weights) > LEAST_WEIGHT
        names = [name for name, keeps in zip(judge.names, large, strict=True) if keeps]
        arrays[f"{kind}_signs"] = np.frombuffer("\n".join(names).encode(), np.uint8)
        arrays[f"{kind}_weights"] = judge.weights[large].astype(np.float16)
        arrays[f"{kind}_base"] = np.array([judge.base], np.float32)
        if judge.vectors is not None:
            arrays["meaning_vectors"] = judge.vectors.astype(np.float16)
    if keep:
        what = (
            "judges of pairs: does the later statement take the earlier one's place; with vectors and without"
        )
        ship_arrays("facts/replacing.npz", arrays, Origin("tools/train_facts.py", MADE_FROM_PAIRS, what))


if __name__ == "__main__":
    main()
