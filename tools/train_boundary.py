"""Train the `default` conversation policy on labelled dialogues and report how well it cuts.

    python tools/train_boundary.py --data DIR --vectors DIR --report FILE [--leave-out] [--write]
    python tools/train_boundary.py --data DIR --vectors DIR --broad [--write]
    python tools/train_boundary.py --data DIR --vectors DIR --clock [--write]

Cues are computed by the policy itself, led along the true boundaries of the labelled threads; every figure
is of the policy online, along its own. Each set weighs the same, whatever its size. Folds are by thread, and
glued dialogues are made of threads of one fold only. `--leave-out` also trains without each set and judges
it there, and without groups of sets and judges dialogues glued from them: what to expect of a new kind of
talk. The networks called broad learn from the lives too (weeks of one person's talk, labelled by topic), from
crowds glued of a channel's conversations, from events told in Chinese, and from talk of many kinds in ten
languages that was written for that (`boundary/talks_*.jsonl`); each life is judged without it.
`--broad` trains only those. "Whole" rows are of the pass over threads known to their end, "single topics" of
threads that need no cut. What silence adds is learnt last, from lives and from REALTALK, whose labels are
sessions; `--clock` learns only that, which takes seconds. `--vectors` is a folder where the units' vectors
are kept between runs, one `<name>.npz` a data file.
"""

import argparse
import json
import os
import sys
import time as clocks
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from boundary.data import (
    FOLDS,
    SETS,
    Thread,
    load,
    load_beam,
    load_conversations,
    load_events,
    load_lives,
    load_talks,
    untimed,
)
from boundary.material import Style, alone, crowds, glue
from boundary.measure import pooled, report
from boundary.rows import UNTIMED, Table, TimedGap, model_of, silences, table
from boundary.training import DRAWN, fit_network, fit_time
from shipping import DATA, Origin, ship_arrays

from episodic_agent.core.boundary.conversation.model import (
    BROAD,
    VECTORS,
    WORDS,
    BoundaryModel,
    Network,
    encode,
    shipped,
)

DELAYS = (2, 1, 0)
KINDS = (VECTORS, WORDS, BROAD)
WHOLE = "whole"  # as a delay: the pass over threads that are known to their end
JUDGED_IN_FOLDS = (
    ("vectors", 2), ("vectors", 0), ("vectors", WHOLE), ("words", 2), ("words", 0), ("words", WHOLE),
)  # fmt: skip
JUDGED_LEFT_OUT = (2, 0, WHOLE)
GLUED, VARIED, TESTED = 900, 1200, 160
CROWDS, EVENTS, TALKS = 700, 250, 200
ALONE = 120  # threads of one topic, of each set
BAGS = 3  # networks averaged
BROADLY = 6  # times as many rows as the others learn from
GROUPS = {
    "superdialseg+beam": ("superdialseg", "beam"),
    "tiage+topiocqa": ("tiage", "topiocqa"),
    "realtalk+qmsum": ("realtalk", "qmsum"),
}


@dataclass(frozen=True)
class Material:
    """Labelled threads by set (`glue` among them), those trained on, glued ones by group of sources.

    `lives` are sittings with times and labels of topics: the clock learns from them, and with `wider`, crowds
    and events, the networks called broad.
    """

    labelled: Mapping[str, Sequence[Thread]]
    learnt: Sequence[Thread]
    glued: Mapping[str, Mapping[str, Sequence[Thread]]]
    lives: Sequence[Thread] = ()
    wider: Sequence[Thread] = ()

    @property
    def unread(self) -> frozenset[str]:
        """Return the sources that only broad networks learn from."""
        return frozenset().union(*(t.sources for t in (*self.lives, *self.wider)))


def gather(data: Path, vectors: Path) -> Material:
    """Read the sets and glue them; a third of the (long) meetings is enough to learn from."""
    threads = {source: load(data, vectors, source) for source in SETS}
    every = [t for some in threads.values() for t in some] + load_beam(data, vectors)
    mixture = glue(every, GLUED, 1)
    varied = glue(every, VARIED, 2, Style(longest=30, varied=True))
    varied = [replace(t, name=f"varied/{n}") for n, t in enumerate(varied)]
    learnt = [untimed(t) for source in SETS for t in threads[source][:: 3 if source == "qmsum" else 1]]
    glued = {}
    for name, sources in GROUPS.items():
        own = [t for t in every if t.source in sources]
        glued[name] = {
            f"glue of {name}, shared words": glue(own, TESTED, 11, Style(mixed=0.0, neat=1.0)),
            f"glue of {name}, mixed": glue(own, TESTED, 12, Style(mixed=1.0, neat=1.0)),
        }
    lives = load_lives(data, vectors)
    events = glue(load_events(data, vectors), EVENTS, 6, Style(varied=True, neat=1.0))
    events = [replace(t, source="events", name=f"events/{n}") for n, t in enumerate(events)]
    talks = load_talks(vectors)
    mixed = glue(talks, TALKS, 7, Style(longest=30, varied=True))
    mixed = [replace(t, source="talks glued", name=f"talks glued/{n}") for n, t in enumerate(mixed)]
    wider = [*crowds(load_conversations(data, vectors), CROWDS, 5), *events, *talks, *mixed]
    return Material(threads | {"glue": mixture}, [*learnt, *mixture, *varied], glued, lives, wider)


Key = tuple[str, frozenset[str], int]  # kind-delay, sets left out, fold left out (-1: none)


def train(
    material: Material, *, leave_out: bool, kinds: Sequence[str] = KINDS, folds: Sequence[int] = range(FOLDS)
) -> dict[Key, Network]:
    """Train every network that is asked for; the rows of one kind and delay are held at a time."""
    networks: dict[Key, Network] = {}
    lives = sorted({t.source for t in material.lives})
    for delay in DELAYS:
        rows = table([*material.learnt, *material.wider, *map(untimed, material.lives)], delay)
        for kind in kinds:
            mine = rows.words() if kind == WORDS else rows
            unread = frozenset() if kind == BROAD else material.unread
            fit = partial(_fit, networks, mine, f"{kind}-{delay}", unread)
            for fold in (-1, *folds):  # every delay: a thread's last gaps are judged with less
                fit(frozenset(), fold)
            if leave_out and kind != WORDS:
                for out in [*[{source} for source in SETS], *GROUPS.values()]:
                    fit(frozenset(out), -1)
            for life in lives if folds and kind == BROAD else ():
                fit(frozenset({life}), -1)
        print(f"delay {delay}: {len(rows.starts)} rows", flush=True)
    return networks


def _fit(
    networks: dict[Key, Network],
    rows: Table,
    name: str,
    unread: frozenset[str],
    out: frozenset[str],
    fold: int,
) -> None:
    drawn = DRAWN if unread else BROADLY * DRAWN
    networks[name, out, fold] = fit_network(rows, rows.weights(but_fold=fold, but=out | unread), BAGS, drawn)


Clocked = Sequence[tuple[Thread, Sequence[TimedGap]]]


def clocked(networks: Mapping[Key, Network], material: Material) -> tuple[Clocked, Clocked]:
    """Return the gaps with times of the sittings of lives, whose labels are of topics, and of real chats.

    Content is that of the networks not trained on the thread's fold: networks are too sure of threads they
    learnt, and the clock would trust them too much. Of those no network learnt from lives, and the broad ones
    have no say (`silences`).
    """
    plain = [assemble_plain(networks, fold=fold) for fold in range(-1, FOLDS)]
    lives = [(t, silences(t, plain[0])) for t in material.lives]
    chats = [(t, silences(t, plain[1 + t.fold])) for t in material.labelled["realtalk"]]
    return lives, chats


def clock(learnt: tuple[Clocked, Clocked], fold: int = -1, but: str = "") -> tuple[float, ...]:
    """Fit the clock's weights without the threads of a fold, or without a life."""
    lives, chats = (
        [gap for t, gaps in some if t.fold != fold and t.source != but for gap in gaps] for some in learnt
    )
    return fit_time(lives, chats)


def of_lives(
    final: BoundaryModel,
    learnt: tuple[Clocked, Clocked],
    material: Material,
    networks: Mapping[Key, Network] | None = None,
) -> dict[str, dict[str, float]]:
    """Judge each life, its sittings as threads, by the model that ships and by one that never saw it.

    Without `networks` that did not see it only the clock did not. The constants of the rate and of how a
    frame ripens (`cues.py`) were chosen with all lives in view.
    """
    rows = {}
    for source in sorted({t.source for t in material.lives}):
        some = [t for t in material.lives if t.source == source]
        others = {
            name: net for (name, sets, _), net in (networks or {}).items() if sets == frozenset({source})
        }
        unseen = replace(final, networks={**final.networks, **others}, time=clock(learnt, but=source))
        left = "left out" if others else "clock left out"
        for under, model in (("in-sample", final), (left, unseen)):
            row = rows[f"{source}, {under}"] = pooled(some, model)
            print(f"{source:20s} {under:15s}", *[f"{k} {v:.3f}" for k, v in row.items()], flush=True)
    return rows


def retrain_clock(material: Material) -> BoundaryModel:
    """Fit the clock anew on the networks that ship, report on lives and REALTALK, and return the model."""
    networks = shipped().networks
    learnt = tuple(
        [(t, silences(t, BoundaryModel(networks, UNTIMED))) for t in some]
        for some in (material.lives, material.labelled["realtalk"])
    )
    model = BoundaryModel(networks, clock(learnt))
    print("clock", model.time)
    of_lives(model, learnt, material)
    report("shipped", {"realtalk": material.labelled["realtalk"]}, lambda _: model, oracle=False)
    return model


def assemble_plain(
    networks: Mapping[Key, Network], out: frozenset[str] = frozenset(), fold: int = -1
) -> BoundaryModel:
    """Return the model without some sets or a fold, with a clock that says nothing."""
    mine = {name: net for (name, sets, part), net in networks.items() if (sets, part) == (out, fold)}
    return model_of(mine, UNTIMED)


def cross_validated(models: Mapping[int, BoundaryModel], material: Material) -> dict[str, object]:
    """Judge each thread by the model not trained on its fold."""
    values: dict[str, object] = {}
    for kind, delay in JUDGED_IN_FOLDS:
        headline = (kind, delay) in (("vectors", 2), ("vectors", WHOLE))
        some = {k: v for k, v in material.labelled.items() if headline or k != "qmsum"}
        some |= {"qmsum": some["qmsum"][::3]} if headline else {}  # meetings are long: a third is enough
        title = f"cross-validated {kind} delay {delay}"
        values[title] = report(
            title,
            some,
            lambda t: models[t.fold],
            vectors=kind == "vectors",
            oracle=headline and delay != WHOLE,
            **seeing(delay),
        )
    return values


def seeing(delay: int | str) -> dict[str, object]:
    """Return what to call the measures with for a delay or the pass over whole threads."""
    return {"complete": True} if delay == WHOLE else {"hindsight": delay}


def left_out(
    networks: Mapping[Key, Network], material: Material, time: tuple[float, ...]
) -> dict[str, object]:
    """Judge each set, and what is glued of each group of sets, by a model that saw nothing of them.

    Single topics as well: of threads that need no cut, `uncut` says how many were left whole.
    The clock's weights are those of the whole material: of the sets only REALTALK has times.
    """
    values: dict[str, object] = {}
    for delay in JUDGED_LEFT_OUT:
        title = {2: "left out", 0: "left out, delay 0"}.get(delay, f"left out, {delay}")
        rows: dict[str, object] = {}
        single: dict[str, object] = {}
        for source in SETS:
            model = replace(assemble_plain(networks, frozenset({source})), time=time)
            rows |= report(title, {source: material.labelled[source][:: 3 if source == "qmsum" else 1]},
                           lambda t, m=model: m, **seeing(delay))  # fmt: skip
            items = {f"one topic of {source}": alone(material.labelled[source], ALONE, 3)}
            figures = report(title, items, lambda t, m=model: m, oracle=False, **seeing(delay))
            single |= {name: {"uncut": every["uncut"]} for name, every in figures.items()}
        for name, some in material.glued.items():
            model = replace(assemble_plain(networks, frozenset(GROUPS[name])), time=time)
            rows |= report(title, some, lambda t, m=model: m, **seeing(delay))
        values |= {title: rows, f"{title}, single topics": single}
    return values


def write_weights(model: BoundaryModel, folder: Path = DATA) -> None:
    """Write the archive that the policy reads: the clock's weights, and each network in float16."""
    arrays = {"time": np.array(model.time)}
    arrays |= {name: encode(network) for name, network in sorted(model.networks.items())}
    made_from = f"dialogues ({', '.join(SETS)}, BEAM), also glued; lives, IRC, MemDaily, tools/boundary"
    what = "networks of the conversation policy `default` by kind and delay, and the weights of its clock"
    ship_arrays("boundary/default.npz", arrays, Origin("tools/train_boundary.py", made_from, what), folder)


def read_options() -> argparse.Namespace:
    """Return the options of the command line."""
    here = Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=here.parent / "shared" / "data")
    parser.add_argument("--vectors", type=Path, required=True, help="folder that keeps the vectors")
    parser.add_argument("--report", type=Path, help="where to write the figures as JSON")
    parser.add_argument("--leave-out", action="store_true", help="also judge sets the model never saw")
    parser.add_argument("--write", action="store_true", help="train on everything and write what ships")
    parser.add_argument("--broad", action="store_true", help="train only the networks called broad")
    parser.add_argument("--clock", action="store_true", help="fit the clock on the networks that ship")
    options = parser.parse_args()
    if not options.data.is_dir():
        sys.exit(f"no folder {options.data}: name the labelled data with --data")
    return options


def retrain(options: argparse.Namespace) -> BoundaryModel:
    """Train the clock or the broad networks alone, beside what ships."""
    if options.clock:
        real = {"realtalk": load(options.data, options.vectors, "realtalk")}
        return retrain_clock(Material(real, (), {}, load_lives(options.data, options.vectors)))
    material = gather(options.data, options.vectors)
    networks = train(material, leave_out=False, kinds=(BROAD,), folds=())
    everything = (frozenset(), -1)
    mine = {name: net for (name, *left), net in networks.items() if tuple(left) == everything}
    return replace(shipped(), networks={**shipped().networks, **mine})


def main() -> None:
    options = read_options()
    if options.clock or options.broad:
        model = retrain(options)
        if options.write:
            write_weights(model)
        return
    began = clocks.time()
    material = gather(options.data, options.vectors)
    networks = train(material, leave_out=options.leave_out)
    learnt = clocked(networks, material)
    models = {
        fold: replace(assemble_plain(networks, fold=fold), time=clock(learnt, fold))
        for fold in range(-1, FOLDS)
    }
    final = models[-1]
    values: dict[str, object] = {}

    def keep() -> None:
        if options.report:
            body = {"figures": values, "seconds": round(clocks.time() - began)}
            options.report.write_text(json.dumps(body, indent=1))

    if options.write:
        write_weights(final)
    if options.leave_out:
        values |= left_out(networks, material, tuple(final.time))
        keep()
    if options.report:
        values |= cross_validated(models, material)
        keep()
        title = "shipped, trained on the same data"
        values[title] = report("shipped", material.labelled, lambda _: final, oracle=False)
        values["lives, sittings as threads"] = of_lives(final, learnt, material, networks)
        keep()


if __name__ == "__main__":
    main()
