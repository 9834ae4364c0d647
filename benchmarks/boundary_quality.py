"""Boundaries by models that did not see what they judge, on glued dialogues, and without each kind of cue.

Models come from the trainer (`tools/train_boundary.py`): `train` makes them and keeps them in the cache, and
without it those of the cache are judged, or nothing where there are none and the committed rows stay. Every
figure is of the policy online, along its own cuts, with delay 2. Errors are bootstrapped over dialogues.
"""

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import train_boundary as trainer
from boundary.data import EPOCH, FOLDS, SETS, Thread, arrivals, untimed
from boundary.material import timed
from boundary.rows import SHARE, family_of

from benchmarks.cue_families import CLOCK_AND_IDLE, ablations
from benchmarks.trained import kept_or_trained, stamp_of
from benchmarks.uncertainty import compare_streams, estimate_streams, mean_of_estimates
from episodic_agent.core.boundary.contract import ManualCut
from episodic_agent.core.boundary.conversation.cues import how_far
from episodic_agent.core.boundary.conversation.default import DefaultPolicy
from episodic_agent.core.boundary.conversation.model import BoundaryModel, Network, shipped
from episodic_agent.core.boundary.machine import run
from episodic_agent.core.evaluation.segmentation import StreamScore, score_stream

SEED = 7
EMPTY = 0.0  # F1 of a dialogue without any boundary on either side, as in the other tables
MEETINGS = 3  # meetings are long: every third is enough, every ninth where a family is switched off
ENOUGH = 300  # threads, about, where a family is switched off: twenty times over all sets
QUICK = 40  # threads of a set
CODE = (
    "tools/boundary", "tools/train_boundary.py", "src/episodic_agent/core/boundary",
    "src/episodic_agent/data/boundary/speech.toml",
)  # fmt: skip
NEEDED = (*(f"seg_{source}" for source in SETS), "ret_beam100k", "ret_memdaily", "thr_irc")
UNDER = {"unseen": "threads not trained on", "left out": "the whole set not trained on"}

Row: TypeAlias = dict[str, Any]
Sets: TypeAlias = Mapping[str, Sequence[Thread]]
Chosen: TypeAlias = Callable[[Thread], BoundaryModel]


@dataclass(frozen=True)
class Trained:
    """Networks of every fold and of every set left out, and the clock's weights by fold (-1: all)."""

    networks: Mapping[trainer.Key, Network]
    clocks: Mapping[int, tuple[float, ...]]
    seconds: float

    def fold(self, number: int) -> BoundaryModel:
        """Return the model that saw nothing of a fold."""
        return replace(trainer.assemble_plain(self.networks, fold=number), time=self.clocks[number])

    def without(self, sources: Sequence[str]) -> BoundaryModel:
        """Return the model that saw nothing of some sets; its clock is that of all of them."""
        return replace(trainer.assemble_plain(self.networks, frozenset(sources)), time=self.clocks[-1])


def measure(
    data: Path, cache: Path, *, train: bool = False, quick: bool = False
) -> Iterator[tuple[str, Row]]:
    """Yield (key, row): glued dialogues under the shipped model, then what trained models allow to say."""
    material = trainer.gather(data, cache / "units")
    baseline = usual_length(material.learnt)
    for name, some in _fewer(glue_names(material), quick).items():
        row = judged(some, lambda _: shipped()) | {"material": material_digest(some)}
        yield f"glue in-sample | {name}", {"under": "shipped, trained on these sources", **row}
    file = cache / f"networks-{_stamp(data)}.pickle"
    trained = kept_or_trained(file, lambda: _trained(material), train=train)
    if trained is None:
        return
    seconds = {"seconds_of_training": round(trained.seconds)}
    folds = [trained.fold(number) for number in range(FOLDS)]
    labelled = _fewer(views(material.labelled), quick)
    for name, some in labelled.items():
        yield (
            f"unseen | {name}",
            {"under": UNDER["unseen"], **judged(some, lambda t: folds[t.fold]), **seconds},
        )
    for name, (some, model) in left_out(material, trained, quick=quick).items():
        row = judged(some, lambda _, m=model: m)  # type: ignore[misc]
        yield f"left out | {name}", {"under": UNDER["left out"], **row, "material": material_digest(some)}
    yield from ablated(material, trained, baseline, quick=quick)


def missing(data: Path) -> list[str]:
    """Return the files that are needed and not there: models are trained on all sets together."""
    return [f"{name}.jsonl.gz" for name in NEEDED if not (data / f"{name}.jsonl.gz").is_file()]


def glue_names(material: trainer.Material) -> dict[str, Sequence[Thread]]:
    """Return the glued dialogues that are judged, by name."""
    return {name: some for group in material.glued.values() for name, some in group.items()}


def views(labelled: Sets) -> dict[str, Sequence[Thread]]:
    """Return the sets as they are judged: REALTALK with and without times, a part of the meetings."""
    results: dict[str, Sequence[Thread]] = {}
    for source, some in labelled.items():
        if source == "realtalk":
            results |= {"realtalk timed": some, "realtalk untimed": [untimed(t) for t in some]}
        elif source == "glue":
            results |= {"glue": some, "glue timed": [timed(t, n) for n, t in enumerate(some)]}
        else:
            results[source] = some[:: MEETINGS if source == "qmsum" else 1]
    return results


def left_out(
    material: trainer.Material, trained: Trained, *, quick: bool
) -> dict[str, tuple[Sequence[Thread], BoundaryModel]]:
    """Return each set, and each glue of a group of sets, with the model that saw nothing of it."""
    result = {}
    for source in SETS:
        model = trained.without([source])
        mine = _fewer(views({source: material.labelled[source]}), quick)
        result |= {name: (some, model) for name, some in mine.items()}
    for group, glued in material.glued.items():
        model = trained.without(trainer.GROUPS[group])
        result |= {name: (some, model) for name, some in _fewer(glued, quick).items()}
    return result


def ablated(
    material: trainer.Material, trained: Trained, baseline: float, *, quick: bool
) -> Iterator[tuple[str, Row]]:
    """Yield what each family of cues is worth: change of Score when it is off, paired by dialogue."""
    folds = [trained.fold(number) for number in range(FOLDS)]
    known = {n: s for n, s in views(material.labelled).items() if not n.startswith("glue")}
    jobs = {f"unseen: {n}": (s, folds) for n, s in _fewer(known, quick).items()}
    for name, (some, model) in left_out(material, trained, quick=quick).items():
        part = "left out, glued" if name in glue_names(material) else "left out"
        jobs[f"{part}: {name}"] = some, [model] * FOLDS
    jobs = {
        name: (some[:: MEETINGS if name.endswith("qmsum") else max(1, len(some) // ENOUGH)], models)
        for name, (some, models) in jobs.items()
    }
    scores = {name: [scored(t, models[t.fold]) for t in some] for name, (some, models) in jobs.items()}
    for family, change in ablations(baseline).items():
        off = {}
        for name, (some, models) in jobs.items():
            without = [change(model) for model in models]
            changed = [scored(t, without[t.fold], idle=family != CLOCK_AND_IDLE) for t in some]
            off[name] = compare_streams(changed, scores[name], SEED, empty_f1=EMPTY, names=("score",))[
                "score"
            ]
        row: Row = {name: found.as_json() for name, found in off.items()}
        for part in ("unseen", "left out", "left out, glued"):
            mine = [found for name, found in off.items() if name.startswith(f"{part}: ")]
            row[part] = mean_of_estimates(mine).as_json()
        yield f"without | {family}", {"under": "that family at its usual value", "score": row}


def judged(threads: Sequence[Thread], model: Chosen) -> Row:
    """Return the figures of threads, each with its standard error and interval."""
    figures = estimate_streams([scored(t, model(t)) for t in threads], SEED, empty_f1=EMPTY)
    counts = {"threads": len(threads), "units": sum(len(t.lines) for t in threads)}
    return counts | {name: figure.as_json() for name, figure in figures.items()}


def scored(thread: Thread, model: BoundaryModel, *, idle: bool = True) -> StreamScore:
    """Cut a thread online with a model, with or without the rule of six hours, and score it."""
    policy = DefaultPolicy(model=model)
    policy = policy if idle else replace(policy, idle_after=None)
    step = run(policy.begin(), [*arrivals(thread), ManualCut(EPOCH)], policy)
    before = {cut.before_seq for cut in step.cuts}
    return score_stream(thread.starts, [int(seq in before) for seq in range(len(thread.lines))])


def _fewer(sets: Sets, quick: bool) -> dict[str, Sequence[Thread]]:
    """Return the sets without empty ones, and the first threads of each for a trial."""
    return {name: some[:QUICK] if quick else some for name, some in sets.items() if some}


def usual_length(learnt: Sequence[Thread]) -> float:
    """Return the mean log of a thread's length at its gaps, families of sources weighing as in training."""
    sums: dict[str, list[float]] = {}
    for thread in learnt:
        sums.setdefault(family_of(thread), []).extend(how_far(n) for n in range(1, len(thread.lines)))
    share = {name: SHARE.get(name, 1.0) for name, found in sums.items() if found}
    total = sum(share[name] * sum(sums[name]) / len(sums[name]) for name in share)
    return total / max(sum(share.values()), 1e-9)


def material_digest(threads: Sequence[Thread]) -> str:
    """Return 16 hexadecimal digits that name glued material: who says what, and where it begins."""
    answer = hashlib.sha256()
    for thread in threads:
        for line, start in zip(thread.lines, thread.starts, strict=True):
            answer.update(f"{line.speaker}\0{line.text}\0{start}\n".encode("utf-8", "surrogatepass"))
    return answer.hexdigest()[:16]


def _trained(material: trainer.Material) -> Trained:
    began = time.perf_counter()
    networks = trainer.train(material, leave_out=True)
    learnt = trainer.clocked(networks, material)
    clocks = {fold: trainer.clock(learnt, fold) for fold in range(-1, FOLDS)}
    return Trained(networks, clocks, time.perf_counter() - began)


def _stamp(data: Path) -> str:
    return stamp_of(CODE, [data / f"{name}.jsonl.gz" for name in NEEDED], without="steps")
