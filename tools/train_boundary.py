"""Train the `default` conversation policy on labelled dialogues and report how well it cuts.

    python tools/train_boundary.py --data DIR --vectors DIR --report FILE [--write]

Cues are computed by the policy itself, fed with the labelled threads: first led along the true boundaries,
then along its own (so that the networks learn from the frames they will meet). Each set weighs the same,
whatever its size. Folds are by thread, and glued dialogues are made of threads of one fold only.
`--vectors` is a folder where the units' vectors are kept between runs, one `<name>.npz` a data file.
"""

import argparse
import gzip
import json
import math
import os
import random
import sys
import time
import warnings
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from episodic_agent.core.boundary.contract import Arrival, ManualCut
from episodic_agent.core.boundary.cues.gap import ALL, LEXICAL
from episodic_agent.core.boundary.cues.timing import hats, log_minutes
from episodic_agent.core.boundary.default import DefaultPolicy, Judged
from episodic_agent.core.boundary.default_memory import Memory
from episodic_agent.core.boundary.default_model import Model, Network, Silence, encode
from episodic_agent.core.boundary.machine import run
from episodic_agent.core.evaluation.segmentation import score_streams
from episodic_agent.schemas import Observation, TimeSource, Vector
from episodic_agent.wiring import load_settings, make_embedder

SETS = ("tiage", "superdialseg", "topiocqa", "realtalk", "qmsum")
SHARE = {"realtalk": 0.4, "glue": 1.5}  # others weigh 1; REALTALK is four chats, labelled by sessions
CHATS = 0.96  # share of real chats in the clock's weights; the rest is glued dialogues with made-up times
FOLDS, BAGS, HIDDEN, GLUED = 5, 3, 12, 900
IDLE = log_minutes(6 * 3600.0)
EPOCH = datetime(2024, 1, 1, tzinfo=UTC)
NOBODY = UUID(int=0)


class Line(NamedTuple):
    """One unit of a labelled thread; `at` is None where the source has no times."""

    speaker: str
    text: str
    at: datetime | None
    vector: Vector | None


@dataclass(frozen=True)
class Thread:
    """A labelled thread; `starts[i]` says whether unit i opens a segment."""

    source: str
    name: str
    fold: int
    lines: Sequence[Line]
    starts: Sequence[int]


@dataclass
class Rows:
    """Training rows: one for each gap judged."""

    cues: list[np.ndarray] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    silences: list[Silence | None] = field(default_factory=list)
    contents: list[float] = field(default_factory=list)


class Led(DefaultPolicy):
    """The policy itself, recording what it judged; cuts where `truth` says so unless it is None."""

    def lead(self, truth: Sequence[int] | None) -> list[tuple[int, int, Judged, Silence | None]]:
        seen: list[tuple[int, int, Judged, Silence | None]] = []
        object.__setattr__(self, "truth", truth)
        object.__setattr__(self, "seen", seen)
        return seen

    def judge(self, memory: Memory) -> Judged:
        judged = DefaultPolicy.judge(self, memory)
        seq = memory.pending[0].seq
        self.seen.append((seq, len(memory.pending) - 1, judged, judged.clock))
        return judged if self.truth is None else judged._replace(odds=float(self.truth[seq]))


# ---- data ------------------------------------------------------------------------------------------


def fold_of(name: str) -> int:
    return zlib.crc32(name.encode()) % FOLDS


def vector_table(data: Path, vectors: Path, stem: str) -> np.ndarray:
    """Return the vectors of a file's units, embedding them once into the folder `vectors`."""
    kept = vectors / f"{stem}.npz"
    if not kept.exists():
        with gzip.open(data / f"{stem}.jsonl.gz", "rt") as file:
            rows = [json.loads(text) for text in file]
        texts = [unit["text"] for row in rows for unit in row.get("units") or row["messages"]]
        embedder = make_embedder("minilm", load_settings())
        vectors.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(kept, vectors=embedder.embed(texts).astype(np.float16))
    return np.load(kept)["vectors"]


def read(data: Path, vectors: Path, stem: str) -> Iterable[tuple[dict, np.ndarray]]:
    """Yield the rows of a file with the vectors of their units."""
    table = vector_table(data, vectors, stem)
    place = 0
    with gzip.open(data / f"{stem}.jsonl.gz", "rt") as file:
        for text in file:
            row = json.loads(text)
            size = len(row.get("units") or row["messages"])
            yield row, table[place : place + size].astype(np.float32)
            place += size
    if place != len(table):
        sys.exit(f"{stem}: {place} units, {len(table)} vectors")


def load(data: Path, vectors: Path, source: str) -> list[Thread]:
    """Read one labelled set; TopiOCQA's "UNANSWERABLE" leaks some switches and is blanked."""
    threads = []
    for row, table in read(data, vectors, f"seg_{source}"):
        lines = []
        for unit, vector in zip(row["units"], table, strict=True):
            masked = unit["text"] == "UNANSWERABLE"
            at = datetime.fromisoformat(unit["time"]).replace(tzinfo=UTC) if "time" in unit else None
            lines.append(
                Line(unit["speaker"], "" if masked else unit["text"], at, None if masked else vector)
            )
        name = f"{source}/{row['id']}"
        threads.append(Thread(source, name, fold_of(name), lines, row["starts"]))
    return threads


def load_beam(data: Path, vectors: Path) -> list[Thread]:
    """Read the assistant chats: material for glued dialogues only."""
    threads = []
    for row, table in read(data, vectors, "ret_beam100k"):
        messages = row["messages"]
        lines = [Line(m["speaker"], m["text"], None, v) for m, v in zip(messages, table, strict=True)]
        starts = [0] + [int(b["session"] != a["session"]) for a, b in pairwise(messages)]
        threads.append(Thread("beam", f"beam/{len(threads)}", fold_of(f"beam/{len(threads)}"), lines, starts))
    return threads


def pieces(
    threads: Sequence[Thread], rng: random.Random
) -> dict[tuple[int, str], list[tuple[str, Sequence[Line]]]]:
    """Cut threads into runs of one topic, 2 to 14 units long, by fold and set."""
    found = defaultdict(list)
    for thread in threads:
        edges = [0, *[n for n, s in enumerate(thread.starts) if s and n], len(thread.starts)]
        for first, high in pairwise(edges):
            low = first
            while high - low >= 2:
                size = high - low if high - low <= 14 else rng.randint(4, 14)
                found[thread.fold, thread.source].append((thread.name, thread.lines[low : low + size]))
                low += size + 20
    return found


def glue(threads: Sequence[Thread], count: int, seed: int) -> list[Thread]:
    """Join runs of different threads, mostly of one set (shared vocabulary), some across sets."""
    rng = random.Random(seed)
    runs = pieces(threads, rng)
    sets = sorted({source for _, source in runs})
    glued = []
    for number in range(count):
        fold, home = number % FOLDS, rng.choice(sets)
        mixed = rng.random() < 0.35
        names = ("user", "assistant") if rng.random() < 0.5 else (f"P{number}", f"Q{number}")
        lines: list[Line] = []
        starts: list[int] = []
        used: set[str] = set()
        for _ in range(rng.randint(3, 7)):
            pool = [
                run for run in runs.get((fold, rng.choice(sets) if mixed else home), ()) if run[0] not in used
            ]
            if pool:
                name, run_ = rng.choice(pool)
                used.add(name)
                starts += [int(bool(lines)), *[0] * (len(run_) - 1)]
                lines += renamed(run_, names)
        if len(used) > 1:
            source = "glue:mixed" if mixed else f"glue:{home}"
            glued.append(Thread(source, f"glue/{number}", fold, lines, starts))
    return glued


def renamed(lines: Sequence[Line], names: tuple[str, str]) -> list[Line]:
    """Give the speakers of a run two common names: the asking side first."""
    first = {"user", "A"}
    order = sorted({line.speaker for line in lines}, key=lambda s: (s not in first, s))
    if not first & set(order):
        order = list(dict.fromkeys(line.speaker for line in lines))
    place = {speaker: names[n % 2] for n, speaker in enumerate(order)}
    if len(order) == 1 and order[0] in {"agent", "assistant", "B"}:
        place = {order[0]: names[1]}
    return [line._replace(speaker=place[line.speaker], at=None) for line in lines]


def timed(thread: Thread, seed: int) -> Thread:
    """Give a thread chat-like times: six joins in ten follow a longer silence, the others do not."""
    rng = random.Random(seed)
    at, lines = EPOCH, []
    for line, start in zip(thread.lines, thread.starts, strict=True):
        pause = rng.lognormvariate(math.log(3600), 1.2) if start and rng.random() < 0.6 else None
        at += timedelta(seconds=min(pause or rng.lognormvariate(math.log(60), 1.3), 5 * 3600))
        lines.append(line._replace(at=at))
    return replace(thread, source="timed", lines=lines)


def untimed(thread: Thread) -> Thread:
    return replace(thread, lines=[line._replace(at=None) for line in thread.lines])


def arrivals(thread: Thread, *, vectors: bool = True) -> list[Arrival]:
    found = []
    for seq, line in enumerate(thread.lines):
        at = line.at or EPOCH
        source = TimeSource.ASSUMED if line.at is None else TimeSource.GIVEN
        seen = Observation(NOBODY, NOBODY, seq, at, at, line.speaker, line.text, at_source=source)
        found.append(Arrival(seen, line.vector if vectors else None))
    return found


# ---- cues and training -----------------------------------------------------------------------------


def collect(threads: Iterable[Thread], delay: int, model: Model, *, vectors: bool, led: bool) -> Rows:
    """Run the policy over threads and keep what it saw at each gap that had its whole delay."""
    rows = Rows()
    settings = {"max_length": 10**6, "idle_after": None} if led else {}
    for thread in threads:
        policy = Led(hindsight=delay, model=model, **settings)
        seen = policy.lead(thread.starts if led else None)
        run(policy.begin(), [*arrivals(thread, vectors=vectors), ManualCut(EPOCH)], policy)
        for seq, lag, judged, clock in seen:
            if lag == delay and len(judged.raw) == len(ALL if vectors else LEXICAL):
                rows.cues.append(np.array(judged.raw, np.float32))
                rows.starts.append(thread.starts[seq])
                rows.silences.append(clock)
                rows.contents.append(judged.content)
    return rows


def fit_network(parts: Sequence[Rows], bags: int = BAGS, hidden: int = HIDDEN, seed: int = 0) -> Network:
    """Train several small networks on weighted rows and join them into one that averages their log-odds."""
    x = np.concatenate([np.array(part.cues) for part in parts if part.cues])
    y = np.concatenate([part.starts for part in parts])
    w = np.concatenate([part.weights for part in parts])
    w = w / w.mean()
    shift = np.average(x, axis=0, weights=w)
    spread = np.sqrt(np.average((x - shift) ** 2, axis=0, weights=w))
    factor = np.where(spread > 1e-3, 1.0 / np.maximum(spread, 1e-3), 0.0)
    z = np.clip((x - shift) * factor, -4, 4)
    rng = np.random.default_rng(seed)
    trained = []
    for bag in range(bags):
        drawn = rng.choice(len(y), size=min(len(y), 60_000), p=w / w.sum())
        net = MLPClassifier(
            (hidden,), activation="tanh", alpha=1.0, learning_rate_init=2e-3, batch_size=256, max_iter=10,
            random_state=seed + bag,
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # stopping early is the regulariser
            trained.append(net.fit(z[drawn], y[drawn]))
    return Network(
        _f32(shift), _f32(factor),
        _f32(np.hstack([net.coefs_[0] for net in trained])),
        _f32(np.hstack([net.intercepts_[0] for net in trained])),
        _f32(np.vstack([net.coefs_[1] for net in trained])[:, 0] / bags),
        float(np.mean([net.intercepts_[1][0] for net in trained])),
    )  # fmt: skip


def _f32(array: object) -> np.ndarray:
    return np.asarray(array, np.float32)


def fit_time(parts: Sequence[Rows]) -> tuple[float, ...]:
    """Fit the weights of evidence of silence on top of the content's log-odds."""
    rows, starts, weights = [], [], []
    for part in parts:
        for silence, content, start, weight in zip(
            part.silences, part.contents, part.starts, part.weights, strict=True
        ):
            if silence is not None and silence.logged <= IDLE:  # beyond, the idle rule decides
                odds = min(max(content, 1e-4), 1 - 1e-4)
                rows.append([math.log(odds / (1 - odds)), silence.z, *hats(silence.logged)])
                starts.append(start)
                weights.append(weight)
    w = np.array(weights)
    fitted = LogisticRegression(C=3.0, fit_intercept=False, max_iter=2000)
    fitted.fit(np.array(rows), starts, sample_weight=w / w.mean())
    return tuple(round(float(weight), 4) for weight in fitted.coef_[0])


def blank() -> Model:
    """Return a model that never cuts, to lead the policy along the true boundaries."""
    networks = {}
    for kind, size in (("words", len(LEXICAL)), ("vectors", len(ALL))):
        zeros = np.zeros(size, np.float32)
        net = Network(zeros, zeros, np.zeros((size, 1), np.float32), zeros[:1], zeros[:1], -5.0)
        networks |= {f"{kind}-{delay}": net for delay in range(3)}
    return Model(networks, (1.0, *[0.0] * 8))


@dataclass
class Bench:
    """Threads by set, and the training rows made of them so far: (kind, delay, set, fold) to rows."""

    threads: Mapping[str, Sequence[Thread]]
    rows: dict[tuple[str, int, str, int], list[Rows]] = field(default_factory=lambda: defaultdict(list))

    def lead(self, kinds: Sequence[str], delays: Sequence[int]) -> None:
        """Make rows along the true boundaries."""
        self._add(kinds, delays, dict.fromkeys(range(FOLDS), blank()), led=True)

    def follow(self, models: Mapping[int, Model], kinds: Sequence[str], delays: Sequence[int]) -> None:
        """Make rows along the boundaries that the model not trained on a fold finds there."""
        self._add(kinds, delays, models, led=False)

    def _add(
        self, kinds: Sequence[str], delays: Sequence[int], models: Mapping[int, Model], *, led: bool
    ) -> None:
        for kind in kinds:
            for delay in delays:
                for (source, fold), mine in self._groups().items():
                    rows = collect(mine, delay, models[fold], vectors=kind == "vectors", led=led)
                    self.rows[kind, delay, source, fold].append(rows)

    def _groups(self) -> dict[tuple[str, int], list[Thread]]:
        """Return the threads to learn from, by source and fold; a third of the (long) meetings is enough."""
        groups = defaultdict(list)
        for thread in (thread for some in self.threads.values() for thread in some):
            groups[thread.source, thread.fold].append(untimed(thread))
        return {key: some[::3] if key[0] == "qmsum" else some for key, some in groups.items()}

    def fit(
        self, kinds: Sequence[str], delays: Sequence[int], but_fold: int = -1, but_set: str = ""
    ) -> Model:
        """Train on all rows, leaving out a fold or a set; the clock's weights are added by `fit_clock`."""
        networks = blank().networks | {
            f"{kind}-{delay}": fit_network(self._parts(kind, delay, but_fold, but_set))
            for kind in kinds
            for delay in delays
        }
        for kind in kinds:  # at a drain a gap may have less than its delay: fall back on what was trained
            for delay in range(3):
                if delay not in delays:
                    networks[f"{kind}-{delay}"] = blank().networks[f"{kind}-{delay}"]
        return Model(networks, blank().time)

    def _parts(self, kind: str, delay: int, but_fold: int, but_set: str) -> list[Rows]:
        """Return the rows to train on, weighted so that each family of sources has its share."""
        wanted = {}
        for (k, d, source, fold), rows in self.rows.items():
            touched = but_set and (source == "glue:mixed" or but_set in source.split(":"))
            if (k, d) == (kind, delay) and fold != but_fold and not touched:
                wanted[source, fold] = rows
        totals: dict[str, int] = defaultdict(int)
        for (source, _), rows in wanted.items():
            totals[source.split(":")[0]] += sum(len(part.starts) for part in rows)
        parts = []
        for (source, _), rows in wanted.items():
            family = source.split(":")[0]
            each = SHARE.get(family, 1.0) / totals[family]
            parts += [replace(part, weights=[each] * len(part.starts)) for part in rows]
        return parts


def fit_clock(model: Model, threads: Mapping[str, Sequence[Thread]], but_fold: int = -1) -> Model:
    """Fit the clock on REALTALK and on glued dialogues that were given times."""
    chats = [t for t in threads["realtalk"] if t.fold != but_fold]
    glued = [timed(t, n) for n, t in enumerate(threads["glue"][:250]) if t.fold != but_fold]
    parts = [collect(some, 2, model, vectors=True, led=True) for some in (chats, glued)]
    for part, share in zip(parts, (CHATS, 1.0 - CHATS), strict=True):
        part.weights = [share / len(part.starts)] * len(part.starts)
    return replace(model, time=fit_time(parts))


# ---- report ----------------------------------------------------------------------------------------


def predict(
    threads: Sequence[Thread], models: Mapping[int, Model], *, vectors: bool = True, **settings: object
) -> list[list[int]]:
    """Return the boundaries the policy finds, each thread judged by the model of its fold."""
    found = []
    for thread in threads:
        policy = DefaultPolicy(model=models[thread.fold], **settings)
        step = run(policy.begin(), [*arrivals(thread, vectors=vectors), ManualCut(EPOCH)], policy)
        starts = [0] * len(thread.lines)
        for cut in step.cuts:
            if cut.before_seq < len(starts):
                starts[cut.before_seq] = 1
        found.append(starts)
    return found


def measure(threads: Sequence[Thread], models: Mapping[int, Model], **settings: object) -> dict[str, float]:
    score = score_streams([t.starts for t in threads], predict(threads, models, **settings))
    names = ("score", "f1", "segeval_f1", "pk", "wd", "f1_tol1", "density")
    return {name: round(float(getattr(score, name)), 4) for name in names}


def report(
    title: str, threads: Mapping[str, Sequence[Thread]], models: Mapping[int, Model], **settings: object
) -> dict:
    """Print and return the figures of every set under one setting."""
    found = {}
    for source, some in threads.items():
        rows = {source: some}
        if source == "realtalk":
            rows = {"realtalk timed": some, "realtalk untimed": [untimed(t) for t in some]}
        if source == "glue":
            rows["glue timed"] = [timed(t, n) for n, t in enumerate(some)]
        for name, mine in rows.items():
            found[name] = measure(mine, models, **settings)
            print(f"{title:34s} {name:17s}", *[f"{k} {v:.3f}" for k, v in found[name].items()], flush=True)
    return found


# ---- program ---------------------------------------------------------------------------------------

KINDS, DELAYS = ("vectors", "words"), (0, 1, 2)


def write_weights(model: Model, path: Path) -> None:
    """Write the module that the policy reads: plain text, base64 in lines of 100."""
    lines = [
        '"""Weights of the `default` policy: written by `tools/train_boundary.py`, not by hand."""',
        "",
        "from typing import Final",
        "",
        "TIME: Final[tuple[float, ...]] = (",
        *[f"    {weight}," for weight in model.time],
        ")",
        "NETWORKS: Final[dict[str, tuple[str, ...]]] = {",
    ]
    for name, network in sorted(model.networks.items()):
        packed = encode(network)
        lines.append(f'    "{name}": (')
        lines += [f'        "{packed[place : place + 96]}",' for place in range(0, len(packed), 96)]
        lines.append("    ),")
    path.write_text("\n".join([*lines, "}", ""]))


def cross_validated(bench: Bench, rounds: int) -> dict[int, Model]:
    """Return a model for each fold, trained on the other folds; each round adds rows along its own cuts."""
    for turn in range(rounds + 1):
        models = {fold: bench.fit(KINDS, DELAYS, but_fold=fold) for fold in range(FOLDS)}
        models = {fold: fit_clock(model, bench.threads, fold) for fold, model in models.items()}
        if turn < rounds:
            bench.follow(models, KINDS, DELAYS)
    return models


def main() -> None:
    here = Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=here.parent / "shared" / "data")
    parser.add_argument("--vectors", type=Path, required=True, help="folder that keeps the vectors")
    parser.add_argument("--report", type=Path, help="where to write the figures as JSON")
    parser.add_argument(
        "--rounds", type=int, default=0, help="how often to add rows along the policy's own cuts"
    )
    parser.add_argument(
        "--leave-out", action="store_true", help="also train without each set and judge it there"
    )
    parser.add_argument("--write", action="store_true", help="train on everything and write weights.py")
    options = parser.parse_args()
    began = time.time()
    threads = {source: load(options.data, options.vectors, source) for source in SETS}
    material = [thread for some in threads.values() for thread in some]
    threads["glue"] = glue(material + load_beam(options.data, options.vectors), GLUED, seed=1)
    bench = Bench(threads)
    bench.lead(KINDS, DELAYS)
    models = cross_validated(bench, options.rounds)
    found = {}
    for kind in KINDS:
        for delay in reversed(DELAYS):
            title = f"cross-validated {kind} delay {delay}"
            some = (
                threads
                if (kind, delay) == ("vectors", 2)
                else {k: v for k, v in threads.items() if k != "qmsum"}
            )
            found[title] = report(title, some, models, vectors=kind == "vectors", hindsight=delay)
    if options.leave_out:
        found["left out"] = {}
        for source in SETS:
            model = replace(bench.fit(("vectors",), DELAYS, but_set=source), time=models[0].time)
            some = {source: threads[source]}
            found["left out"] |= report("left out", some, dict.fromkeys(range(FOLDS), model))
    if options.write:
        final = fit_clock(bench.fit(KINDS, DELAYS), threads)
        write_weights(final, here / "src/episodic_agent/core/boundary/weights.py")
        found["shipped, trained on the same data"] = report(
            "shipped", threads, dict.fromkeys(range(FOLDS), final)
        )
    if options.report:
        options.report.write_text(
            json.dumps({"figures": found, "seconds": round(time.time() - began)}, indent=1)
        )


if __name__ == "__main__":
    main()
