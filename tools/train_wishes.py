"""Train the judge of standing wishes (`wish` of `core/facts/stating.py`) and ship it.

    python tools/train_wishes.py LIFE.jsonl…
    python tools/train_wishes.py --only-measure LIFE.jsonl…

It learns from `tools/facts/wishes_*.tsv` ("+": a standing wish how to answer or to work, "-": none;
`wishes_b`, short plain ones, was written after seeing what the others lacked, `wishes_c`, everyday talk and
wishes taken back, German first, after a household's appointments were taken for wishes, `wishes_d`, wishes
asked for politely, loosened or kept to a channel, after a companion's were not learned, `wishes_e` orders of
the moment, after a robot kept one for ever, `wishes_f` wishes revised, `wishes_g` long dictated sentences,
half of them what others want or what is said to others, after a diary took such for wishes, `wishes_h`
Japanese and Chinese ones and how to call somebody, after most of both were missed, `wishes_i` wishes
loosened in few words, and news in the same ones, `wishes_j` short ones in Russian, Korean, Spanish, Turkish
and Japanese and as many orders of the moment, after a newcomer's were missed, `wishes_k` terse rules for
coding agents beside orders, reports and quoted output in the same words), from the plain statements and
from the talks; no life teaches it. Printed: precision and recall on `tools/facts/held_wishes*.tsv`, which it
is never taught, and how many statements of the lives it takes for wishes.
What it says is a category, so `train_facts.py --only-pairs` comes after.
Of `asked_rules.tsv`, questions for such wishes and what only looks like them, a judge of questions is made,
beside questions for commitments and everyday talk; printed is how it does on a fifth that it is not taught.
"""

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from judges import FORM, HERE, LEAST, WORD, Row, Weights, fit_judge, listed_rows, matrix, packed
from numpy.typing import NDArray
from scipy import sparse
from shipping import Origin, ship_arrays
from sklearn.linear_model import LogisticRegression
from train_facts import Life, plain_rows, read_life, read_talk

from episodic_agent.core.facts.rules import RULES_ASKED
from episodic_agent.core.facts.stating import EMBEDDER, SURE_WISH, WISH, signs
from episodic_agent.protocols import Embedder
from episodic_agent.schemas.facts import Category
from episodic_agent.wiring import load_settings, make_embedder

OF_STATEMENTS, OF_TALK = 0.5, 0.25  # what plain statements and talk weigh beside written wishes
TRUST = 2.0  # the inverse of the ridge's strength: 1.0 hides most of what tells whom long sentences address
MADE_FROM = "tools/facts (wishes, plain statements, talks)"
ASKED = sorted((HERE / "facts").glob("asked_commitments_*.tsv"))
ASKED_FROM = "tools/facts (asked_rules, asked_commitments, talks)"
PARTS, EVERYDAY = 5, 1.0  # folds of questions; what those for other things weigh together


def fit_wishes(
    listed: Sequence[Row], plain: Sequence[Row], talks: Sequence[Life], *, meaning: bool
) -> Weights:
    """Return the judge of standing wishes; in talk hardly anything is one, which the talks teach it."""
    spoken = [row for talk in talks for row in talk.rows if row.certain]
    taught = [
        *((row, row.lasts, 1.0) for row in listed),
        *((row, row.kind is Category.GUIDELINE, OF_STATEMENTS) for row in plain),
        *((row, row.kind is Category.GUIDELINE, OF_TALK) for row in spoken),
    ]
    rows = [row for row, _, _ in taught]
    counts = Counter(sign for row in rows for sign in signs(row.text))
    names = sorted(sign for sign, count in counts.items() if count >= LEAST)
    scales = np.array([1 / np.sqrt(FORM if name.startswith(":") else WORD) for name in names])
    parts: list[Any] = [matrix([replace(row, before="") for row in rows], names, scales)]
    if meaning:
        parts.append(np.stack([row.vector for row in rows]))
    model = LogisticRegression(C=TRUST, max_iter=1000)
    model.fit(
        sparse.hstack(parts).tocsr(), [one for _, one, _ in taught], sample_weight=[w for _, _, w in taught]
    )
    weights, vector = model.coef_[0, : len(names)] * scales, model.coef_[0, len(names) :]
    return Weights(names, weights[:, None], vector[:, None] if meaning else None, model.intercept_)


def _likely(judge: Weights, rows: Sequence[Row]) -> NDArray[np.float64]:
    likely: NDArray[np.float64] = 1 / (1 + np.exp(-judge.scores(rows)[:, 0]))
    return likely


def ship(
    lives: Sequence[Life],
    talks: Sequence[Life],
    plain: Sequence[Row],
    embedder: Embedder,
    *,
    keep: bool = True,
) -> None:
    """Train the judge of standing wishes, print how it does on wishes never taught, and write it."""
    lists = sorted((HERE / "facts").glob("wishes_*.tsv"))
    listed = [row for path in lists for row in listed_rows(path, embedder)]
    held = {
        path.stem: listed_rows(path, embedder) for path in sorted((HERE / "facts").glob("held_wishes*.tsv"))
    }
    spoken = [row for life in lives for row in life.rows]
    arrays: dict[str, Any] = {}
    for kind in ("meaning", "words"):
        judge = fit_wishes(listed, plain, talks, meaning=kind == "meaning")
        for bar in (WISH, SURE_WISH):
            told = int((_likely(judge, spoken) >= bar).sum())
            print(f"by {kind}, from {bar}: in lives {told} of {len(spoken)} statements", flush=True)
            for name, rows in held.items():
                truth, found = np.array([row.lasts for row in rows]), _likely(judge, rows) >= bar
                print(f"  {name}: P {truth[found].mean():.3f} R {found[truth].mean():.3f}", flush=True)
        arrays |= packed(kind, judge)
    if keep:
        what = "judges of standing wishes: how to answer, or to work, from now on; with vectors and without"
        ship_arrays("facts/wishing.npz", arrays, Origin("tools/train_wishes.py", MADE_FROM, what))


def ship_asked(talks: Sequence[Life], embedder: Embedder, *, keep: bool = True) -> None:
    """Train the judge of questions for rules, print how it does on each fifth left out, and write it."""
    listed = listed_rows(HERE / "facts" / "asked_rules.tsv", embedder)
    others = [row for path in ASKED for row in listed_rows(path, embedder)]
    others += [row for talk in talks for row in talk.rows if row.certain]
    for row in others:
        row.lasts = False
    shares = np.full(len(others), EVERYDAY * len(listed) / len(others))
    arrays: dict[str, Any] = {}
    truth, fold = np.array([row.lasts for row in listed]), np.arange(len(listed)) % PARTS
    for kind in ("meaning", "words"):

        def fit(rows: Sequence[Row], meaning: bool = kind == "meaning") -> Weights:
            weights = np.concatenate([np.ones(len(rows)), shares])
            return fit_judge(
                [*rows, *others], meaning=meaning, words=0.3, trust=10.0, least=2, shares=weights
            )

        left = np.zeros(len(listed))
        for part in range(PARTS):
            judge = fit([row for row, at in zip(listed, fold, strict=True) if at != part])
            out = [row for row, at in zip(listed, fold, strict=True) if at == part]
            left[fold == part] = _likely(judge, out)
        judge = fit(listed)
        for bar in (0.4, RULES_ASKED, 0.6):
            hits, wrong = left >= bar, int((_likely(judge, others) >= bar).sum())
            print(
                f"asked by {kind}, {bar}: P {truth[hits].mean():.3f} R {hits[truth].mean():.3f}, else {wrong}"
            )
        arrays |= packed(kind, judge)
    if keep:
        what = "judges of questions for standing rules and wishes; with vectors and without"
        ship_arrays("recall/rules_asked.npz", arrays, Origin("tools/train_wishes.py", ASKED_FROM, what))


def main() -> None:
    """Train, print the figures, and write the weights."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("lives", nargs="*", type=Path)
    parser.add_argument("--only-measure", action="store_true")
    parser.add_argument("--only-asked", action="store_true", help="questions for rules alone")
    options = parser.parse_args()
    embedder = make_embedder("minilm", load_settings(), lambda *_, **__: None)
    if embedder is None or embedder.name != EMBEDDER:
        raise SystemExit(f"the judge learns the vectors of {EMBEDDER} alone")
    talks = [read_talk(path, embedder, wishes=False) for path in sorted((HERE / "facts").glob("talk_*.tsv"))]
    ship_asked(talks, embedder, keep=not options.only_measure)
    if options.only_asked:
        return
    lives = [read_life(path, embedder) for path in options.lives]
    ship(lives, talks, plain_rows(embedder), embedder, keep=not options.only_measure)


if __name__ == "__main__":
    main()
