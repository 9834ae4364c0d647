"""Train the judges of facts (`core/facts/stating.py`, `core/facts/replacing.py`) and ship them.

    python tools/train_facts.py LIFE.jsonl…                  # measure with each life left out, then ship
    python tools/train_facts.py --only-measure LIFE.jsonl…

They learn from labelled lives (weeks of one person's talk: which messages tell what lasts, what replaced
what); from `tools/facts/plain_*.tsv` (statements in fifteen languages with the category of what they tell, or
"-") and `tools/facts/pairs_*.tsv` ("=": the later statement takes the earlier one's place, "/": both hold),
written without sight of this code; and from the statements of `benchmarks/cases` that are for development.
Printed for each life left out: precision and recall by evidence, the share of tempting lines that gave a
fact, and of what was replaced the share that still holds; then precision and recall of the judge that ships
on a list it is never taught (`tools/facts/held_a.tsv`).
"""

import argparse
import csv
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from shipping import Origin, ship_arrays, ship_numbers
from sklearn.linear_model import LogisticRegression

from episodic_agent.core.facts.quoting import LIKELY
from episodic_agent.core.facts.replacing import JudgedStatement, features
from episodic_agent.core.facts.stating import (
    CATEGORIES,
    EMBEDDER,
    EVEN,
    LAST_HEARD,
    moved,
    parts_of,
    share_of,
    signs,
)
from episodic_agent.core.language import tokens
from episodic_agent.protocols import Embedder
from episodic_agent.schemas.facts import Category
from episodic_agent.wiring import load_settings, make_embedder

HERE = Path(__file__).resolve().parent
CASES = HERE.parent / "benchmarks" / "cases"
LEAST = 3  # times a sign must occur to be learned
FORM, WORD, KIND = 1.5, 8.0, 3.0  # ridges: of form, of words; of the categories
VECTOR, KIND_VECTOR = 1.0, 4.0  # scale of a unit vector's numbers beside signs of 0 and 1
PLAIN = 1.0  # what a plain statement weighs beside one of talk
BAR = 0.2  # where belief begins: the sum is moved by it, so that it is even there
BAR_WORDS = 0.8  # likelihood from which a fact is replaced, where no vector tells what is meant
WRITTEN = 4.0  # what a written pair weighs beside one of a life, of which most are unlike
NEAREST = 24  # facts a new one is compared with
EPOCH = datetime(2026, 3, 2, tzinfo=UTC)
Floats = NDArray[np.float64]


@dataclass(slots=True)
class Row:
    """A statement to learn from: whether it lasts, and its category where that is known."""

    text: str
    before: str
    lasts: bool
    kind: Category | None
    vector: Floats
    message: str = ""
    certain: bool = True
    share: float = EVEN  # of what lasts in the talk before it


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


def read_talk(path: Path, embedder: Embedder) -> Life:
    """Read a talk of `tools/facts`: a line has day, speaker, label, key and text; "---" parts its sittings.

    Of a long message that tells something nobody said which sentence it is: it teaches nothing.
    """
    rows: list[Row] = []
    telling: list[str] = []
    tempting: set[str] = set()
    replaced: set[tuple[str, str]] = set()
    times: dict[str, datetime] = {}
    speakers: dict[str, str] = {}
    held: dict[str, str] = {}
    before = ""
    for n, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
        if line == "---":
            before = ""
            continue
        day, speaker, label, key, text = line.split("\t")
        name = f"{path.stem}:{n}"
        times[name], speakers[name] = EPOCH + timedelta(days=int(day), seconds=n), speaker
        if speaker not in ("assistant", "tool"):
            lasts = label not in ("-", "~")
            places = parts_of(text)
            earlier = before
            for start, end in places:
                kind = Category(label) if lasts else None
                certain = not lasts or len(places) == 1
                rows.append(Row(text[start:end], earlier, lasts, kind, np.zeros(0), name, certain))
                earlier = ""
            telling += [name] if lasts else []
            tempting |= {name} if label == "~" else set()
            new, _, old = key.partition(">")
            replaced |= {(held[old], name)} if old in held else set()
            held |= {new: name} if new else {}
        before = text if speaker != "tool" else ""
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
    return _rows(found_rows, embedder)


def held_rows(embedder: Embedder) -> list[Row]:
    """Read the statements that no judge is taught: they tell how it does on what it never saw."""
    return _rows(_listed(HERE / "facts" / "held_a.tsv"), embedder)


def _listed(path: Path) -> list[tuple[str, bool, Category | None]]:
    """Read a list of label, language and text; a label that is no category ("context") teaches none."""
    rows = csv.reader(path.open(encoding="utf-8"), delimiter="\t", quoting=csv.QUOTE_NONE)
    return [
        (text, label != "-", Category(label) if label in set(Category) else None) for label, _, text in rows
    ]


def _rows(statements: Sequence[tuple[str, bool, Category | None]], embedder: Embedder) -> list[Row]:
    vectors = np.asarray(embedder.embed([text for text, _, _ in statements]), float)
    return [Row(t, "", lasts, kind, v) for (t, lasts, kind), v in zip(statements, vectors, strict=True)]


# --- the judges ------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Weights:
    """One way of judging: the signs it knows, [signs, 9] weights, [d, 9] of the vector or None, [9] base."""

    names: list[str]
    weights: Floats
    vector: Floats | None
    base: Floats

    def scores(self, rows: Sequence[Row]) -> Floats:
        """Return the sums of rows, [n, 9]."""
        places = {name: place for place, name in enumerate(self.names)}
        total = np.tile(self.base, (len(rows), 1))
        for n, row in enumerate(rows):
            total[n] += self.weights[[places[s] for s in signs(row.text, row.before) if s in places]].sum(0)
        if self.vector is not None:
            total += np.stack([row.vector for row in rows]) @ self.vector
        return total


def fit(plain: Sequence[Row], lives: Sequence[Row], *, meaning: bool) -> Weights:
    """Return the judge that plain statements and talk teach; `meaning` False: without vectors."""
    certain = [row for row in lives if row.certain]
    rows = [*plain, *certain]
    counts = Counter(sign for row in rows for sign in signs(row.text, row.before))
    names = sorted(sign for sign, count in counts.items() if count >= LEAST)
    scales = np.array([1 / np.sqrt(FORM if name.startswith(":") else WORD) for name in names])
    parts: list[Any] = [_matrix(rows, names, scales)]
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


def _matrix(rows: Sequence[Row], names: Sequence[str], scales: Floats) -> sparse.csr_matrix:
    places = {name: place for place, name in enumerate(names)}
    cells = [(n, places[s]) for n, row in enumerate(rows) for s in signs(row.text, row.before) if s in places]
    values = [scales[place] for _, place in cells]
    where = tuple(np.array(cells, int).T) if cells else ([], [])
    return sparse.csr_matrix((values, where), shape=(len(rows), len(names)))


def _categories(rows: Sequence[Row], names: Sequence[str], *, meaning: bool) -> tuple[Floats, Floats, Floats]:
    scales = np.full(len(names), 1 / np.sqrt(KIND))
    parts: list[Any] = [_matrix(rows, names, scales)]
    if meaning:
        parts.append(KIND_VECTOR * np.stack([row.vector for row in rows]))
    model = LogisticRegression(C=1.0, max_iter=500)
    model.fit(sparse.hstack(parts).tocsr(), [CATEGORIES.index(row.kind) for row in rows if row.kind])
    size = len(names)
    return model.coef_[:, :size].T * scales[0], KIND_VECTOR * model.coef_[:, size:].T, model.intercept_


# --- pairs -----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Pair:
    """Two statements and whether the later takes the earlier one's place."""

    row: Mapping[str, float]
    replaces: bool
    weight: float


def written_pairs(embedder: Embedder, weights: Weights) -> list[Pair]:
    """Read the pairs that were written for it."""
    lines = [
        line
        for path in sorted((HERE / "facts").glob("pairs_*.tsv"))
        for line in csv.reader(path.open(encoding="utf-8"), delimiter="\t", quoting=csv.QUOTE_NONE)
    ]
    texts = [text for line in lines for text in line[2:]]
    vectors = np.asarray(embedder.embed(texts), float)
    rows = [Row(text, "", True, None, v) for text, v in zip(texts, vectors, strict=True)]
    kinds = [CATEGORIES[int(k)] for k in weights.scores(rows)[:, 1:].argmax(1)]
    pairs: list[Pair] = []
    spoken: list[tuple[JudgedStatement, JudgedStatement]] = []
    for n, line in enumerate(lines):
        old, new = (
            JudgedStatement(texts[k], EPOCH + timedelta(days=k), kinds[k], vectors[k])
            for k in (2 * n, 2 * n + 1)
        )
        pairs.append(Pair(features(old, new), line[0] == "=", WRITTEN))
        spoken.append((old, new))
    # what has nothing to do with each other: in a long memory nearly every pair is of this kind
    for n, m in enumerate(np.random.default_rng(8).permutation(len(spoken))):
        if m != n:
            pairs.append(Pair(features(spoken[n][0], spoken[m][1]), False, WRITTEN))
    return pairs


def pairs_of(
    life: Life, weights: Weights, rows: Sequence[Row] | None = None
) -> Iterator[tuple[str, str, Pair]]:
    """Yield each statement that tells something with those before it that it may replace."""
    rows = [row for row in life.rows if row.lasts] if rows is None else rows
    kinds = [CATEGORIES[int(k)] for k in weights.scores(rows)[:, 1:].argmax(1)]
    spoken = [
        JudgedStatement(r.text, life.times[r.message], k, r.vector) for r, k in zip(rows, kinds, strict=True)
    ]
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
            yield older, row.message, Pair(features(spoken[m], spoken[n], rivals), replaces, 1.0)


def _cosine(older: Row, newer: Row) -> float:
    return float(older.vector @ newer.vector)


def all_pairs(lives: Sequence[Life], embedder: Embedder, weights: Weights) -> list[Pair]:
    """Return the pairs that were written, and those of lives."""
    of_lives = (pair for life in lives for _, _, pair in pairs_of(life, weights))
    return [*written_pairs(embedder, weights), *of_lives]


def fit_pairs(pairs: Sequence[Pair], *, meaning: bool) -> dict[str, float]:
    """Return the weights of the pair judge; `meaning` False leaves out what comes of vectors."""
    sample = features(JudgedStatement("a", EPOCH, Category.GOAL), JudgedStatement("b", EPOCH, Category.GOAL))
    names = sorted({name for pair in pairs for name in pair.row}) if meaning else sorted(sample)
    x = np.array([[pair.row.get(name, 0.0) for name in names] for pair in pairs])
    spread = x.std(0) + 1e-6
    model = LogisticRegression(C=1.0, max_iter=1000)
    model.fit(x / spread, [pair.replaces for pair in pairs], sample_weight=[pair.weight for pair in pairs])
    weights = model.coef_[0] / spread
    base = round(float(model.intercept_[0]), 4)
    return {"base": base} | {n: round(float(b), 4) for n, b in zip(names, weights, strict=True)}


def likely(pair: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """Return how likely a pair replaces, as the engine computes it."""
    total = weights["base"] + sum(weights.get(name, 0.0) * value for name, value in pair.items())
    return float(1 / (1 + np.exp(-np.clip(total, -30, 30))))


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


def measured(life: Life, weights: Weights, pair_weights: Mapping[str, float], bar: float) -> dict[str, float]:
    """Return the figures of one life, judged by what others taught."""
    lasting = chance(weights, life.rows)
    told_rows = [row for row, p in zip(life.rows, lasting, strict=True) if p >= LIKELY]
    messages = [row.message for row in told_rows]
    right = sum(m in life.telling for m in messages)
    predicted = [evidence for evidence, _ in life.facts if evidence & set(messages)]
    ended: set[str] = set()
    made = good = 0
    best: dict[str, tuple[float, str]] = {}
    for old, new, pair in pairs_of(life, weights, told_rows):
        p = likely(pair.row, pair_weights)
        if p >= bar and p > best.get(new, (0.0, ""))[0]:
            best[new] = (p, old)
    for new, (_, old) in best.items():
        made += 1
        good += (old, new) in life.replaced
        ended.add(old)
    gone = [evidence for evidence, over in life.facts if over and evidence & set(messages)]
    stale = [evidence for evidence in gone if (evidence & set(messages)) - ended]
    precision, recall = right / max(1, len(messages)), len(predicted) / len(life.facts)
    return {
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / max(1e-9, precision + recall),
        "tempted": len(set(messages) & life.tempting) / max(1, len(life.tempting)),
        "ends": made,
        "right ends": good,
        "stale": len(stale) / max(1, len(gone)),
    }


def main() -> None:
    """Measure with each life left out; ship what all teach."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("lives", nargs="+", type=Path)
    parser.add_argument("--only-measure", action="store_true")
    parser.add_argument("--only-ship", action="store_true")
    parser.add_argument(
        "--bar", type=float, default=0.6, help="likelihood from which a fact counts as replaced"
    )
    options = parser.parse_args()
    settings = load_settings()
    embedder = make_embedder("minilm", settings, lambda *_, **__: None)
    if embedder is None or embedder.name != EMBEDDER:
        raise SystemExit(f"the judge learns the vectors of {EMBEDDER} alone")
    lives = [read_life(path, embedder) for path in options.lives]
    talks = [read_talk(path, embedder) for path in sorted((HERE / "facts").glob("talk_*.tsv"))]
    plain = plain_rows(embedder)
    if not options.only_ship:
        measure(lives, talks, plain, embedder, options.bar)
    if not options.only_measure:
        ship(lives, talks, plain, embedder, options.bar)


def measure(
    lives: Sequence[Life], talks: Sequence[Life], plain: Sequence[Row], embedder: Embedder, bar: float
) -> None:
    """Print the figures of each life, left out; the talks teach always."""
    for meaning in (True, False):
        tables = []
        for life in lives:
            others = [other for other in lives if other is not life]
            taught = [row for other in (*others, *talks) for row in other.rows]
            weights = fit(plain, taught, meaning=meaning)
            hear(life, fit(plain, taught, meaning=False) if meaning else weights)
            pairs = all_pairs(others, embedder, weights)
            tables.append(
                measured(life, weights, fit_pairs(pairs, meaning=meaning), bar if meaning else BAR_WORDS)
            )
            print("meaning" if meaning else "words  ", f"{life.name:10s}", _line(tables[-1]))
        print("mean".ljust(18), _line({k: float(np.mean([t[k] for t in tables])) for k in tables[0]}))
        if meaning:
            print("plain, in five folds:", plain_folds([*lives, *talks], plain))
        weights = fit(plain, [row for life in (*lives, *talks) for row in life.rows], meaning=meaning)
        print("never taught:", _found(weights, held_rows(embedder)))


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


def ship(
    lives: Sequence[Life], talks: Sequence[Life], plain: Sequence[Row], embedder: Embedder, bar: float
) -> None:
    """Train on everything and write the data files; pairs of talks taught their judge nothing."""
    made_from = (
        "five labelled lives (a nurse, a backend team, Leipzig, Shanghai, a flatshare), tools/facts (talks, "
        "plain statements, pairs), the development halves of benchmarks/cases/facts.jsonl and facts2.jsonl"
    )
    rows = [row for life in (*lives, *talks) for row in life.rows]
    arrays: dict[str, Any] = {}
    tables: dict[str, object] = {"threshold": bar, "threshold_words": BAR_WORDS}
    for kind in ("meaning", "words"):
        weights = fit(plain, rows, meaning=kind == "meaning")
        large = np.abs(weights.weights).max(1) > 0.02
        names = [name for name, keep in zip(weights.names, large, strict=True) if keep]
        arrays[f"{kind}_signs"] = np.frombuffer("\n".join(names).encode(), np.uint8)
        arrays[f"{kind}_weights"] = weights.weights[large].astype(np.float16)
        arrays[f"{kind}_base"] = weights.base.astype(np.float32)
        if weights.vector is not None:
            arrays["meaning_vector"] = weights.vector.astype(np.float16)
        pairs = all_pairs(lives, embedder, weights)
        tables[kind] = fit_pairs(pairs, meaning=kind == "meaning")
    what = "judges of statements: does it last, which category; with vectors and by words alone"
    ship_arrays("facts/stating.npz", arrays, Origin("tools/train_facts.py", made_from, what))
    what = "judge of pairs: does the later statement take the earlier one's place"
    ship_numbers("facts/replacing.json", tables, Origin("tools/train_facts.py", made_from, what))


if __name__ == "__main__":
    main()
