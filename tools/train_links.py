"""Fit the weights of the linking policy `choice-2027-01` on labelled lives, and say how well it links.

    python tools/train_links.py LIFE.jsonl…                # measure with each life left out, then ship
    python tools/train_links.py --only-measure LIFE.jsonl…
    python tools/train_links.py --only-measure --woven /tmp/woven LIFE.jsonl…    # learns from woven weeks too
    python tools/train_links.py --groups /tmp/groups LIFE.jsonl…    # and how sure it is (links/sure.json)

A life is weeks of one person's talk: messages, and sittings with those they go on from. Every sitting is one
choice over all earlier ones; the older sitting is right wherever it lies behind the newer one. Openings are
also learnt from `benchmarks/cases/links_own.jsonl` and the development half of `links.jsonl`. Printed for
each life left out, by threshold: precision over links, recall over linked sittings, F1, and how often a link
that calls itself HIGH is right.
"""

import argparse
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from linking.cases import load
from numpy.typing import NDArray
from scipy.optimize import minimize
from shipping import ROOT, Origin, ship_numbers

from episodic_agent.core.links.choice import Talk, features_of_options, talk_of
from episodic_agent.core.links.features import Features
from episodic_agent.core.links.policies import (
    AT_END,
    NEAR,
    NONE,
    OWN_SIZE,
    SAYS_NOTHING,
    SIZE,
    ChoicePolicy,
    sureness,
)
from episodic_agent.core.links.reading import read_message
from episodic_agent.protocols import Embedder
from episodic_agent.wiring import load_settings, make_embedder

Floats = NDArray[np.float64]
RIDGE = {"opening": 5.0, "early": 20.0, "end": 5.0}
EARLY = (3, 5)  # messages of a thread after which it is judged again: the user's second and third turn
OF_WOVEN = 0.25  # what a sitting of a woven week (tools/weave_lives.py) weighs
OF_CASES = 2.0  # what a case written for the purpose weighs beside a sitting of a life
OF_GROUPS = 0.5  # what a link of a woven group's week weighs in the calibration
SURE_BY = ("lead", "words", NEAR, "none_closest", OWN_SIZE, SIZE)  # what it reads, without vectors less
SURE_RIDGE = 3.0
DIGITS = 5
THRESHOLDS = np.arange(0.2, 0.75, 0.05)
OF_VECTORS = frozenset(
    ("near_rank", NEAR, "opening_near", "opening_rank", "mean_edge", "nearest_rank", "none_closest")
)
# what can only speak against a candidate, and only for one: else a rival that is worse could help it
NEVER_POSITIVE = frozenset(
    (
        "near_rank",
        "opening_rank",
        "pair_rank",
        "none_alone",
        "turn",
        "few_turn",
        "ellipsis_turn",
        "ellipsis_age",
    )
)
NEVER_NEGATIVE = frozenset(("words_edge", "words_ratio", "pair", "pair_alone"))


@dataclass(frozen=True)
class Choice:
    """One choice: the numbers of each option, which are right, and whose labels say so."""

    life: str
    newer: str
    older: Sequence[str]
    rows: Sequence[Mapping[str, float]]
    right: Floats
    weight: float = 1.0


@dataclass(frozen=True)
class Life:
    """A life as talks, in order, with the sittings behind each."""

    name: str
    talks: Sequence[Talk]
    behind: Mapping[str, frozenset[str]]

    def choices(self, *, messages: int | None, vectors: bool) -> Iterator[Choice]:
        """Yield the choice of every sitting but the first, after so many messages (None: at its end)."""
        for place, talk in enumerate(self.talks):
            earlier = self.talks[:place]
            if not earlier:
                continue
            new = talk if messages is None else opened(talk, messages)
            rows = features_of_options(new, earlier, at_end=messages is None)
            right = np.array([float(one.thread_id in self.behind[talk.thread_id]) for one in earlier])
            yield Choice(
                self.name, talk.thread_id, [one.thread_id for one in earlier], trimmed(rows, vectors), right
            )


def trimmed(rows: Sequence[Mapping[str, float]], vectors: bool) -> list[Mapping[str, float]]:
    """Return rows without the numbers of vectors, where there are to be none."""
    return [{k: v for k, v in row.items() if vectors or k not in OF_VECTORS} for row in rows]


def opened(talk: Talk, messages: int) -> Talk:
    """Return a talk as it was when its first messages had come."""
    turns = [(talk.first_at, turn) for turn in talk.turns[:messages]]
    return talk_of(talk.thread_id, turns, opening=talk.opening, channels=talk.channels)


def read_life(path: Path, embedder: Embedder) -> Life:
    """Read a life as the engine would: sittings with all that was said in them."""
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    vectors = embedder.embed([m["text"] for m in data["messages"]])
    sittings: dict[str, list[tuple[dict[str, Any], datetime, Features]]] = {}
    for message, vector in zip(data["messages"], vectors, strict=True):
        if message["role"] == "tool":  # what tools return is no talk: the engine compares messages alone
            continue
        at = datetime.fromisoformat(message["time"])
        at = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
        read = read_message(message["text"], at, vector=vector, language=data.get("lang"))
        sittings.setdefault(message["sitting"], []).append((message, at, read))
    talks = []
    for name, items in sittings.items():
        opening = next((read for m, _, read in items if m["role"] == "user"), items[0][2])
        channels = frozenset(m["channel"] for m, *_ in items)
        turns = [(at, read) for _, at, read in items]
        talks.append(talk_of(name, turns, opening=opening, channels=channels))
    talks.sort(key=lambda talk: talk.first_at)
    goes_on = {s["id"]: s["goes_on_from"] for s in data["sittings"]}
    if data.get("direct"):
        return Life(str(data["id"]), talks, {name: frozenset(older) for name, older in goes_on.items()})
    return Life(str(data["id"]), talks, {name: behind(name, goes_on) for name in goes_on})


def behind(sitting: str, goes_on: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """Return all sittings that lie behind one, however far."""
    reached: set[str] = set()
    left = list(goes_on[sitting])
    while left:
        entry = left.pop()
        if entry not in reached and entry != sitting:
            reached.add(entry)
            left.extend(goes_on.get(entry, ()))
    return frozenset(reached)


def cases(embedder: Embedder, *, vectors: bool) -> Iterator[Choice]:
    """Yield the choices of cases written for the purpose: a message and a few earlier threads."""
    folder = ROOT / "benchmarks" / "cases"
    for file, half in (("links_own.jsonl", None), ("links.jsonl", "dev")):
        for case in load(folder / file, half):
            texts = [t.text for turns in case.threads.values() for t in turns] + [case.message.text]
            vector_of = dict(zip(texts, embedder.embed(texts), strict=True))
            talks = []
            for name, turns in case.threads.items():
                read = [
                    (t.at, read_message(t.text, t.at, vector=vector_of[t.text], language=case.language))
                    for t in turns
                ]
                talks.append(talk_of(name, read))
            text, at = case.message.text, case.message.at
            new = talk_of(
                "new", [(at, read_message(text, at, vector=vector_of[text], language=case.language))]
            )
            rows = features_of_options(new, talks, at_end=False)
            if not rows or rows[0][SAYS_NOTHING]:
                continue
            right = np.array([float(one.thread_id in case.links) for one in talks])
            names = [one.thread_id for one in talks]
            yield Choice("", case.id, names, trimmed(rows, vectors), right, OF_CASES)


# --- fitting ---------------------------------------------------------------------------------------------


def fit(choices: Sequence[Choice], ridge: float) -> dict[str, float]:
    """Return weights by name, for numbers as they come: a conditional logit, its ridge on standard scale."""
    apart = (AT_END, SAYS_NOTHING, NEAR, SIZE, OWN_SIZE, "sets")
    names = [n for n in choices[0].rows[0] if n not in apart]
    own = [n for n in names if not n.startswith(NONE)]
    none = [n for n in names if n.startswith(NONE)]
    x = np.array([[row[n] for n in own] for c in choices for row in c.rows])
    z = np.array([[c.rows[0][n] for n in none] for c in choices])
    middle, spread = x.mean(axis=0), x.std(axis=0) + 1e-9
    middle_none, spread_none = z.mean(axis=0), z.std(axis=0) + 1e-9
    x, z = (x - middle) / spread, (z - middle_none) / spread_none
    starts = np.cumsum([0, *(len(c.rows) for c in choices)])[:-1]
    of = np.repeat(np.arange(len(choices)), [len(c.rows) for c in choices])
    right = np.concatenate([c.right for c in choices])
    linked = np.array([c.right.any() for c in choices])
    weight = np.array([c.weight for c in choices])

    def loss(parameters: Floats) -> tuple[float, Floats]:
        slopes, nones, bias = parameters[: len(own)], parameters[len(own) : -1], parameters[-1]
        u, v = x @ slopes, z @ nones + bias
        top = np.maximum(np.maximum.reduceat(u, starts), v)
        e, e_none = np.exp(u - top[of]), np.exp(v - top)
        total = np.add.reduceat(e, starts) + e_none
        good = np.where(linked, np.add.reduceat(e * right, starts), e_none)
        value = -(weight * np.log(good / total)).sum() + ridge / 2 * (parameters[:-1] ** 2).sum()
        pull = weight[of] * (e / total[of] - np.where(linked[of], e * right / good[of], 0.0))
        pull_none = weight * (e_none / total - np.where(linked, 0.0, 1.0))
        slope = np.concatenate(
            [x.T @ pull + ridge * slopes, z.T @ pull_none + ridge * nones, [pull_none.sum()]]
        )
        return float(value), slope

    bounds = [(None, 0.0) if n in NEVER_POSITIVE else (0.0, None) if n in NEVER_NEGATIVE else (None, None)
              for n in own]  # fmt: skip
    size = len(own) + len(none) + 1
    best = minimize(
        loss,
        np.zeros(size),
        jac=True,
        method="L-BFGS-B",
        bounds=[
            *bounds,
            *([(None, 0.0) if n in NEVER_POSITIVE else (None, None) for n in none]),
            (None, None),
        ],
    ).x
    slopes, nones = best[: len(own)] / spread, best[len(own) : -1] / spread_none
    bias = float(best[-1] + slopes @ middle - nones @ middle_none)
    return {
        **{n: round(float(w), DIGITS) for n, w in zip(own, slopes, strict=True)},
        NONE: round(bias, DIGITS),
        **{n: round(float(w), DIGITS) for n, w in zip(none, nones, strict=True)},
    }


def shares(choice: Choice, weights: Mapping[str, float]) -> Floats:
    """Return the share of each candidate."""
    if choice.rows[0][SAYS_NOTHING]:
        return np.zeros(len(choice.rows))
    own = {n: w for n, w in weights.items() if not n.startswith(NONE)}
    u = np.array([sum(w * row[n] for n, w in own.items()) for row in choice.rows])
    first = choice.rows[0]
    v = weights[NONE] + sum(w * first[n] for n, w in weights.items() if n.startswith(NONE) and n != NONE)
    top = max(float(u.max()), v)
    e = np.exp(u - top)
    result: Floats = e / (e.sum() + np.exp(v - top))
    return result


# --- how sure a choice is --------------------------------------------------------------------------------

Made = tuple[str, float, Mapping[str, float], bool]  # life, share, numbers of the best, whether it is right


def best_of(choices: Sequence[Choice], weights: Mapping[str, float], threshold: float) -> Iterator[Made]:
    """Yield the links that choices make by weights."""
    for choice in choices:
        shared = shares(choice, weights)
        best = int(shared.argmax())
        if shared[best] > threshold:
            share = float(shared[best])
            numbers = {**choice.rows[best], **sureness(share)}
            yield choice.life, share, numbers, bool(choice.right[best])


def links_of(
    choices: Sequence[Choice], extra: Sequence[Choice], moment: str, weights: Mapping[str, float]
) -> list[Made]:
    """Return all links, each life's by weights that the others taught, those of groups by what ships."""
    policy = ChoicePolicy()
    threshold = policy.end if moment == "end" else policy.threshold
    made: list[Made] = []
    for name in dict.fromkeys(choice.life for choice in choices):
        own = [choice for choice in choices if choice.life == name]
        others = [c for c in choices if c.life != name and not c.life.startswith("group")]
        taught = weights if name.startswith("group") else fit([*others, *extra], RIDGE[moment])
        made += best_of(own, taught, threshold)
    return made


def calibrate(made: Sequence[Made], lives: Sequence[str]) -> dict[str, float]:
    """Return a logistic model of whether a link is right; links of woven groups weigh less."""
    names = ["bias", *(n for n in SURE_BY if n in made[0][2])]
    x = np.array([[numbers[n] for n in names] for _, _, numbers, _ in made])
    middle, spread = x.mean(axis=0), x.std(axis=0) + 1e-9
    middle[0], spread[0] = 0.0, 1.0
    z, right = (x - middle) / spread, np.array([float(good) for *_, good in made])
    weight = np.array([1.0 if life in lives else OF_GROUPS for life, *_ in made])
    held = np.array([0.0, *(SURE_RIDGE for _ in names[1:])])

    def loss(slopes: Floats) -> tuple[float, Floats]:
        odds = z @ slopes
        value = (weight * (np.logaddexp(0.0, odds) - right * odds)).sum() + (held * slopes**2).sum() / 2
        pull = weight * (1.0 / (1.0 + np.exp(-odds)) - right)
        return float(value), z.T @ pull + held * slopes

    best = minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B").x / spread
    best[0] -= float(best[1:] @ middle[1:])
    return {n: round(float(w), DIGITS) for n, w in zip(names, best, strict=True)}


def probabilities(made: Sequence[Made], model: Mapping[str, float]) -> list[float]:
    """Return how probably each link is right."""
    odds = (sum(weight * numbers[n] for n, weight in model.items()) for _, _, numbers, _ in made)
    return [1.0 / (1.0 + math.exp(-one)) for one in odds]


def report_sure(made: Sequence[Made], lives: Sequence[str], sure_from: float, *, over: bool) -> None:
    """Print how many HIGH links are right by the share and by a calibration that saw neither life nor half.

    While a thread opens the share counts beside the calibration.
    """
    policy, groups = ChoicePolicy(), sorted({life for life, *_ in made} - set(lives))
    held = [*((life,) for life in lives), groups[::2], groups[1::2]]
    before, after = Counter[tuple[str, bool]](), Counter[tuple[str, bool]]()
    for names in held:
        judged = [one for one in made if one[0] in names]
        model = calibrate([one for one in made if one[0] not in names], lives)
        kind = "lives" if names[0] in lives else "groups"
        for (_, share, _, right), probability in zip(judged, probabilities(judged, model), strict=True):
            before[kind, right] += share >= sure_from
            after[kind, right] += probability >= policy.certain and (over or share >= sure_from)
    for kind in ("lives", "groups"):
        old, new = ((c[kind, True], c[kind, True] + c[kind, False]) for c in (before, after))
        print(f"  {kind}: HIGH right {old[0]} of {old[1]} by share, {new[0]} of {new[1]} calibrated")


# --- measuring -------------------------------------------------------------------------------------------


def figures(
    judged: Sequence[tuple[Choice, Floats]], life: Life, threshold: float, sure_from: float
) -> dict[str, float]:
    """Return precision, recall and F1 of the links of a life, and of those from `sure` on the precision."""
    links, sure = [], []
    for choice, shared in judged:
        best = int(shared.argmax())
        if shared[best] > threshold:
            links.append((choice.newer, bool(choice.right[best])))
        if shared[best] >= sure_from:
            sure.append(bool(choice.right[best]))
    linked = sum(bool(older) for older in life.behind.values())
    right = {newer for newer, good in links if good}
    precision = sum(good for _, good in links) / len(links) if links else 0.0
    recall = len(right) / linked if linked else 1.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return {"precision": precision, "recall": recall, "f1": f1, "sure": float(len(sure)),
            "sure_right": float(sum(sure))}  # fmt: skip


def report(
    lives: Sequence[Life],
    choices: Mapping[str, Sequence[Choice]],
    also: Mapping[str, Sequence[Choice]],
    extra: Sequence[Choice],
    ridge: float,
    limits: tuple[float, float],
) -> None:
    """Print figures with each life left out, by threshold, then by life at the shipped one, then in-sample.

    `also` are choices of the lives that are learnt from, and left out, but not judged.
    """
    left_out, inside = {}, {}
    learnt = {name: [*some, *also.get(name, ())] for name, some in choices.items()}
    everything = fit([*(c for some in learnt.values() for c in some), *extra], ridge)
    for life in lives:
        others = [c for name, some in learnt.items() if name != life.name for c in some]
        weights = fit([*others, *extra], ridge)
        left_out[life.name] = [(c, shares(c, weights)) for c in choices[life.name]]
        inside[life.name] = [(c, shares(c, everything)) for c in choices[life.name]]
    for threshold in THRESHOLDS:
        rows = [figures(left_out[life.name], life, threshold, limits[1]) for life in lives]
        means = [np.mean([row[k] for row in rows]) for k in ("precision", "recall", "f1")]
        print(f"  left out at {threshold:.2f}: P {means[0]:.3f} R {means[1]:.3f} F1 {means[2]:.3f}")
    for title, judged in (("left out", left_out), ("in-sample", inside)):
        rows = [figures(judged[life.name], life, *limits) for life in lives]
        for life, row in zip(lives, rows, strict=True):
            print(
                f"  {title} {life.name:10} P {row['precision']:.3f} R {row['recall']:.3f} F1 {row['f1']:.3f}"
            )
        sure, good = (sum(row[k] for row in rows) for k in ("sure", "sure_right"))
        print(
            f"  {title} mean F1 {np.mean([r['f1'] for r in rows]):.3f}; HIGH right {good:.0f} of {sure:.0f}"
        )


def read_weeks(folder: Path | None, embedder: Embedder) -> list[Life]:
    """Read the woven weeks of a folder; none without one."""
    return [] if folder is None else [read_life(path, embedder) for path in sorted(folder.glob("*.jsonl"))]


def usable(choices: Iterable[Choice], vectors: bool) -> list[Choice]:
    """Return the choices that can be learnt from: some open with nothing that has a vector."""
    return [choice for choice in choices if not vectors or OF_VECTORS & choice.rows[0].keys()]


def main() -> None:
    """Measure, then fit on all and ship."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("lives", nargs="+", type=Path)
    parser.add_argument("--only-measure", action="store_true")
    parser.add_argument("--woven", type=Path, help="folder of woven weeks to learn from, never judged on")
    parser.add_argument("--groups", type=Path, help="folder of woven weeks of groups: how sure a choice is")
    parser.add_argument("--of-woven", type=float, default=OF_WOVEN, help="what a woven sitting weighs")
    options = parser.parse_args()
    settings = load_settings()
    embedder = make_embedder(settings.embedder, settings, lambda *_, **__: None)
    if embedder is None:
        raise SystemExit("choose an embedder: without one only words can be fitted")
    lives = [read_life(path, embedder) for path in sorted(options.lives)]
    woven = read_weeks(options.woven, embedder)
    groups = read_weeks(options.groups, embedder)
    sure: dict[str, Mapping[str, float]] = {}
    tables: dict[str, Mapping[str, float]] = {}
    policy = ChoicePolicy()
    limits = {"end": (policy.end, policy.end_sure)}
    for vectors in (True, False):
        words = "vectors" if vectors else "words"
        for moment, prefixes in (("opening", (1,)), ("early", EARLY), ("end", (None,))):
            extra = list(cases(embedder, vectors=vectors)) if moment == "opening" else []
            extra += [
                replace(choice, weight=options.of_woven)
                for life in woven
                for messages in prefixes
                for choice in usable(life.choices(messages=messages, vectors=vectors), vectors)
            ]
            judged = {
                messages: {
                    life.name: list(life.choices(messages=messages, vectors=vectors)) for life in lives
                }
                for messages in prefixes
            }
            for messages, choices in judged.items():
                also = {life.name: [c for n in prefixes if n != messages for c in judged[n][life.name]]
                        for life in lives}  # fmt: skip
                print(f"{moment}_{words}" + (f", after {messages}" if messages else ""))
                limit = limits.get(moment, (policy.threshold, policy.sure))
                report(lives, choices, also, extra, RIDGE[moment], limit)
            every = [c for some in judged.values() for part in some.values() for c in part]
            tables[f"{moment}_{words}"] = fit([*every, *extra], RIDGE[moment])
            if groups:
                talks = [
                    usable(g.choices(messages=n, vectors=vectors), vectors) for g in groups for n in prefixes
                ]
                every += [c for some in talks for c in some]
                made = links_of(every, extra, moment, tables[f"{moment}_{words}"])
                report_sure(made, [life.name for life in lives], limit[1], over=moment == "end")
                sure[f"{moment}_{words}"] = calibrate(made, [life.name for life in lives])
    if not options.only_measure:
        names = ", ".join(life.name for life in lives)
        made_from = f"lives {names}; benchmarks/cases/links_own.jsonl, the development half of links.jsonl"
        what = "weights of the linking policy choice-2027-01, as threads begin and end, by vectors or words"
        ship_numbers("links/choice.json", tables, Origin("tools/train_links.py", made_from, what))
        if sure:
            what = "how probably a link of choice-2027-01 is right, by moment, by vectors or words"
            made_from = f"lives {names}; woven weeks of groups"
            ship_numbers("links/sure.json", sure, Origin("tools/train_links.py", made_from, what))


if __name__ == "__main__":
    main()
