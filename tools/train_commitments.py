"""Train what finds commitments (`core/recall/commitments.py`) and ship it: four judges, two choices.

    python tools/train_commitments.py
    python tools/train_commitments.py --only-measure

The judges learn from `tools/facts/commitments_*.tsv` and `asked_commitments_*.tsv` ("+": it takes something
on, it asks for that; "-": it does not) and `settled_*.tsv` ("+": it reports that something is settled),
written by hands that had not seen the rules, and from what is said and asked in the stories that teach
(`benchmarks/cases/commitments.jsonl`). What of it a question asks for is learnt from the stories `taught` and
`sittings`, which later message settles it from these and `settled`; the others are only judged.
Printed: how each does on a fifth that it is not taught.
"""

import argparse
import gzip
import json
import sys
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from judges import HERE, Row, Weights, fit_judge, likely, listed_rows, packed, rows_of
from numpy.typing import NDArray
from shipping import Origin, ship_arrays
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

sys.path.append(str(HERE.parent))  # the stories are those of a benchmark

from benchmarks.commitments import moment, play, read_stories
from episodic_agent import Memory
from episodic_agent.core.episodes.languages import ASSISTANTS
from episodic_agent.core.facts.stating import EMBEDDER
from episodic_agent.core.language import words
from episodic_agent.core.recall.commitments import (
    ASKED,
    ASKING,
    CHOOSING,
    FEATURES,
    LISTED,
    LISTING,
    LONGEST,
    MAYBE,
    PAIRING,
    REPORTING,
    TAKING,
    features,
    takes_on,
)
from episodic_agent.core.recall.commitments import settling_features as features_of_pairs
from episodic_agent.engine.recall.commitments import FEW, TOGETHER, read_undertakings
from episodic_agent.engine.recall.settling import REPORTED, SETTLED, CommitmentQuestion, TakenOn, read_reports
from episodic_agent.engine.visibility.hidden import Visibility
from episodic_agent.protocols import OBSERVATIONS, Embedder, Transaction, ref_of
from episodic_agent.schemas import Observation, Scope
from episodic_agent.wiring import load_settings, make_embedder

TAUGHT_SETTLING = ("taught", "settled", "sittings")  # halves of stories that teach what settles what,
TAUGHT_CHOOSING = ("taught", "sittings")  # and which of it is asked for
PARTS = 5
PAIR = 2  # lines that stand side by side are often alike: they are left out together
WORDS, TRUST, LEAST = 1.0, 3.0, 2  # of the judges: words weigh as much as vectors
OTHERS = 2.0  # what lines of every day weigh together, beside the labelled ones
MOST_SPOKEN, MOST_ASKED = 2_500, 600
RIDGE = 0.5
WEEKS = 0.5  # what messages of stories that take nothing on weigh beside those that do
TALK = 0.3  # what everyday talk weighs beside reports: most of it settles nothing
TREES, LEAVES = 150, 8  # of what tells which message settles what


@dataclass(frozen=True)
class Lines:
    """Labelled lines, and lists of others that are taken not to be what is looked for."""

    labelled: Sequence[Row]
    others: Sequence[Sequence[Row]] = ()
    weight: float = OTHERS

    def fit(self, *, meaning: bool, but: int = -1) -> Weights:
        """Return the judge they teach, without a part; each list of others weighs the same."""
        taught = [row for n, row in enumerate(self.labelled) if n // PAIR % PARTS != but]
        weight = self.weight * len(taught) / max(1, len(self.others))
        shares = [np.ones(len(taught)), *(np.full(len(some), weight / len(some)) for some in self.others)]
        rows = [*taught, *(row for some in self.others for row in some)]
        return fit_judge(
            rows, meaning=meaning, words=WORDS, trust=TRUST, least=LEAST, shares=np.concatenate(shares)
        )

    def train(self, name: str, bar: float) -> dict[str, Any]:
        """Return the arrays of a judge, with vectors and without, and print how it does on lines left out."""
        part, arrays = np.arange(len(self.labelled)) // PAIR % PARTS, {}
        truth = np.array([row.lasts for row in self.labelled])
        for kind in ("meaning", "words"):
            shares = np.zeros(len(self.labelled))
            for one in range(PARTS):
                left = [row for row, other in zip(self.labelled, part, strict=True) if other == one]
                shares[part == one] = likely(self.fit(meaning=kind == "meaning", but=one), left)
            taken = shares >= bar
            print(
                f"{name} by {kind}: {len(truth)} lines, AUC {roc_auc_score(truth, shares):.3f}; from {bar}: "
                f"precision {truth[taken].mean():.3f}, recall {taken[truth].mean():.3f}"
            )
            arrays |= packed(kind, self.fit(meaning=kind == "meaning"))
        return arrays


def labelled(pattern: str, embedder: Embedder) -> list[Row]:
    return [row for path in sorted((HERE / "facts").glob(pattern)) for row in listed_rows(path, embedder)]


def everyday(data: Path, embedder: Embedder) -> list[list[Row]]:
    """Return what people say and ask every day, which is hardly ever a question for commitments."""
    spoken = [
        max(line.split("\t"), key=len)
        for path in sorted((HERE / "facts").glob("talk_*.tsv"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    lists = [spoken[:: len(spoken) // MOST_SPOKEN]]
    for name in ("beam100k", "lifebench", "memdaily"):
        with gzip.open(data / f"ret_{name}.jsonl.gz", "rt") as file:
            asked = [one["question"] for line in file for one in json.loads(line)["questions"]]
        lists.append(asked[:: max(1, len(asked) // MOST_ASKED)])
    return [
        rows_of([(text, False, None) for text in dict.fromkeys(some) if len(text) <= LONGEST], embedder)
        for some in lists
    ]


def story_messages(embedder: Embedder) -> list[Row]:
    """Return what people say in the stories that teach, and whether each takes something on."""
    lines = {
        said["text"]: said["id"] in {task["by"] for task in story["tasks"]}
        for half in TAUGHT_SETTLING
        for story in read_stories(half)
        for said in story["messages"]
        if said["who"] not in ASSISTANTS and len(said["text"]) <= LONGEST
    }
    return rows_of([(text, takes, None) for text, takes in lines.items()], embedder)


def story_questions(embedder: Embedder) -> list[Row]:
    """Return what is asked in the stories that teach for several things that were taken on.

    What asks for one of them ("did the boiler man ever come?") is asked like anything else.
    """
    texts = [
        one["text"]
        for half in TAUGHT_SETTLING
        for story in read_stories(half)
        for one in story["questions"]
        if len(one["open"]) + len(one["done"]) > 1
    ]
    return rows_of([(text, True, None) for text in dict.fromkeys(texts)], embedder)


def choices(
    story: Mapping[str, Any], embedder: Embedder
) -> Iterator[tuple[NDArray[np.float64], bool, float]]:
    """Yield what each message that may take something on is chosen by, whether it answers, and its weight."""
    with Memory.open(":memory:", embedder=embedder) as memory:
        play(memory, story)
        for question in story["questions"]:
            right = {*question["open"], *question["done"]}
            vector = embedder.embed([question["text"]])[0]
            asked = CommitmentQuestion(question["text"], vector, embedder.name, None)
            at = moment(question["time"])
            with memory._deps.store.begin(Scope(user_id=story["user"]), write=False) as tx:
                people, some = read_undertakings(tx, asked, at, Visibility(tx, at))
                stored = tx.observations.get([*some])
            for ref, row in zip(some, features(people, list(some.values())), strict=True):
                yield row, stored[ref].external_id in right, 1.0 / len(some)


def train_choice(embedder: Embedder) -> dict[str, NDArray[np.float32]]:
    """Return the weights of what is chosen, and print how it does on stories left out."""
    stories = [story for half in TAUGHT_CHOOSING for story in read_stories(half)]
    rows = [(n, *row) for n, story in enumerate(stories) for row in choices(story, embedder)]
    of = np.array([n for n, *_ in rows])
    x, y = np.array([row for _, row, _, _ in rows]), np.array([right for _, _, right, _ in rows])
    w = np.array([weight for *_, weight in rows])
    shares = np.zeros(len(rows))
    for one in np.unique(of):
        out = of == one
        shares[out] = fitted(x[~out], y[~out], w[~out]).predict_proba(x[out])[:, 1]
    print(f"choice: {len(rows)} messages, AUC {roc_auc_score(y, shares):.3f}")
    model = fitted(x, y, w)
    print(", ".join(f"{name} {weight:.2f}" for name, weight in zip(FEATURES, model.coef_[0], strict=True)))
    return {"weights": model.coef_[0].astype(np.float32), "base": model.intercept_[0].astype(np.float32)}


def train_settling(embedder: Embedder) -> dict[str, NDArray[Any]]:
    """Return the trees of what settles something, and print how they do on stories left out."""
    stories = [story for half in TAUGHT_SETTLING for story in read_stories(half)]
    rows = [(n, *row) for n, story in enumerate(stories) for row in settlements(story, embedder)]
    part = np.array([n % PARTS for n, *_ in rows])
    best, settled, right = np.zeros(len(rows)), np.zeros(len(rows), bool), np.zeros(len(rows), bool)
    for out in range(PARTS):
        judge = paired([row[1:] for row, one in zip(rows, part, strict=True) if one != out])
        for place in np.flatnonzero(part == out):
            _, x, y = rows[place]
            settled[place] = y.any()
            if len(x):
                likely = judge.predict_proba(x)[:, 1]
                best[place], right[place] = likely.max(), y[likely.argmax()]
    sure = best >= SETTLED
    print(
        f"settled: {len(rows)} taken on, AUC {roc_auc_score(settled, best):.3f}; from {SETTLED}: precision "
        f"{settled[sure].mean():.3f}, recall {sure[settled].mean():.3f}, by the right message "
        f"{right[sure].mean():.3f}"
    )
    return trees_of(paired([row[1:] for row in rows]))


def paired(
    rows: Sequence[tuple[NDArray[np.float64], NDArray[np.bool_]]],
) -> HistGradientBoostingClassifier:
    x = np.concatenate([x for x, _ in rows if len(x)])
    y = np.concatenate([y for x, y in rows if len(x)])
    return HistGradientBoostingClassifier(
        learning_rate=0.05, max_iter=TREES, max_leaf_nodes=LEAVES, min_samples_leaf=20, random_state=0
    ).fit(x, y)


def trees_of(model: HistGradientBoostingClassifier) -> dict[str, NDArray[Any]]:
    """Return a model's trees as `core/recall/settling` reads them: a leaf leads to itself."""
    nodes = [one[0].nodes for one in model._predictors]
    shape = len(nodes), max(map(len, nodes))
    shipped = {name: np.zeros(shape, np.int16) for name in ("feature", "left", "right")}
    shipped |= {"threshold": np.zeros(shape, np.float64), "value": np.zeros(shape, np.float32)}
    for row, tree in enumerate(nodes):
        inner, own = ~tree["is_leaf"].astype(bool), np.arange(len(tree))
        shipped["feature"][row, : len(tree)] = np.where(inner, tree["feature_idx"], 0)
        shipped["threshold"][row, : len(tree)] = np.where(inner, tree["num_threshold"], 0.0)
        shipped["left"][row, : len(tree)] = np.where(inner, tree["left"], own)
        shipped["right"][row, : len(tree)] = np.where(inner, tree["right"], own)
        shipped["value"][row, : len(tree)] = np.where(inner, 0.0, tree["value"])
    depth = max(int(tree["depth"].max()) for tree in nodes)
    return {**shipped, "base": np.float32(model._baseline_prediction.item()), "depth": np.int16(depth)}


def settlements(
    story: Mapping[str, Any], embedder: Embedder
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.bool_]]]:
    """Yield for each thing taken on what the later messages are judged by, and which of them settle it."""
    at = moment(story["messages"][-1]["time"])
    settled = {task["by"]: {*task["settled"]} for task in story["tasks"]}
    asked = CommitmentQuestion("", embedder.embed(["?"])[0], embedder.name, None)
    with Memory.open(":memory:", embedder=embedder) as memory:
        play(memory, story)
        with memory._deps.store.begin(Scope(user_id=story["user"]), write=False) as tx:
            taken_on = every_undertaking(tx, embedder, settled.keys())
            known = {one.ref: one.item.external_id for one in taken_on}
            for ref, later, some in read_reports(tx, taken_on, asked, at, Visibility(tx, at)):
                if known[ref] in settled:
                    stored = tx.observations.get(later)
                    right = [stored[one].external_id in settled[known[ref]] for one in later]
                    yield features_of_pairs(some) if some else np.zeros((0, 0)), np.array(right, np.bool_)


def every_undertaking(tx: Transaction, embedder: Embedder, named: Container[str]) -> list[TakenOn]:
    """Return what is named, and all else that may take something on: one report is of one of them."""
    stored: dict[int, Observation] = {}
    for thread in tx.threads.list():
        number, end = tx.threads.number(thread.id), tx.threads.frame(thread.id).next_seq
        stored |= tx.observations.get([ref_of(number, seq) for seq in range(end)])
    vectors = tx.index.vectors(OBSERVATIONS, embedder.name, list(stored))
    result = []
    for ref, item in sorted(stored.items()):
        if item.external_id in named or takes_on(item.text, vectors.get(ref)) >= MAYBE:
            before = stored.get(ref - 1)
            answers = (
                before is not None
                and before.actor != item.actor
                and item.at - before.at <= TOGETHER
                and len(words(item.text)) <= FEW
            )
            result.append(TakenOn(ref, item, before if answers else None))
    return result


def fitted(x: NDArray[np.float64], y: NDArray[np.bool_], w: NDArray[np.float64]) -> LogisticRegression:
    return LogisticRegression(C=RIDGE, max_iter=1000).fit(x, y, sample_weight=w * len(w) / w.sum())


@dataclass(frozen=True)
class Judge:
    """A judge to teach: its file, lines, bar, what it learns beside them, and `rows` of the stories."""

    file: str
    pattern: str
    bar: float
    what: str
    beside: tuple[str, Sequence[Sequence[Row]]] = ("", ())
    weight: float = OTHERS
    rows: Sequence[Row] = ()


def judges(data: Path, embedder: Embedder) -> Sequence[Judge]:
    """Return the judges of single messages and questions, each with what teaches it."""
    others, spoken = everyday(data, embedder), story_messages(embedder)
    unrelated = [row for row in spoken if not row.lasts]
    return (
        Judge(TAKING, "commitments_*.tsv", MAYBE, "whether a message takes something on", rows=spoken),
        Judge(
            LISTING,
            "commitments_*.tsv",
            LISTED,
            "whether a message takes something on, among weeks of talk",
            ("messages of the stories that take nothing on", [unrelated]),
            WEEKS,
            [row for row in spoken if row.lasts],
        ),
        Judge(
            ASKING,
            "asked_commitments_*.tsv",
            ASKED,
            "whether what was taken on is asked for",
            ("talk, questions of BEAM, LifeBench, MemDaily", others),
            rows=story_questions(embedder),
        ),
        Judge(
            REPORTING,
            "settled_*.tsv",
            REPORTED,
            "whether a message reports that something is settled",
            ("talk", others[:1]),
            TALK,
        ),
    )


def main() -> None:
    """Train, print the figures, and write the weights: the judges first, which the choices are made by."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only-measure", action="store_true")
    parser.add_argument("--only-choices", action="store_true", help="by the judges as they are shipped")
    parser.add_argument("--data", type=Path, default=HERE.parent.parent / "shared" / "data")
    options = parser.parse_args()
    embedder = make_embedder("minilm", load_settings(), lambda *_, **__: None)
    if embedder is None or embedder.name != EMBEDDER:
        raise SystemExit(f"the judges learn the vectors of {EMBEDDER} alone")
    for judge in () if options.only_choices else judges(options.data, embedder):
        beside, lists = judge.beside
        lines = [*labelled(judge.pattern, embedder), *judge.rows]
        arrays = Lines(lines, lists, judge.weight).train(judge.pattern, judge.bar)
        if not options.only_measure:
            stories = "benchmarks/cases (commitments)" if judge.rows else ""
            made_from = ", ".join(filter(None, (f"tools/facts ({judge.pattern})", stories, beside)))
            origin = Origin("tools/train_commitments.py", made_from, f"judges of {judge.what}")
            ship_arrays(judge.file, arrays, origin)
    for file, train, what in (
        (CHOOSING, train_choice, "which commitments a question asks for"),
        (PAIRING, train_settling, "which later message settles what was taken on"),
    ):
        arrays = train(embedder)
        if not options.only_measure:
            origin = Origin("tools/train_commitments.py", "benchmarks/cases (commitments)", what)
            ship_arrays(file, arrays, origin)


if __name__ == "__main__":
    main()
