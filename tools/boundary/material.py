"""Dialogues glued together from runs of different threads: boundaries that are certain, at any density."""

import math
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import pairwise
from typing import TypeAlias

from boundary.data import EPOCH, FOLDS, Line, Thread

ASKING = {"user", "A"}
ANSWERING = {"agent", "assistant", "B"}
Run: TypeAlias = tuple[str, Sequence[Line]]
Runs: TypeAlias = Mapping[tuple[int, str], Sequence[Run]]
LONGEST = 160  # units of a varied dialogue, about
ROLES = {"user", "agent", "assistant"}


@dataclass(frozen=True)
class Style:
    """How glued dialogues are made; `mixed` is the share glued across sets (unshared vocabulary), `neat` the
    share whose sides take turns across the joins, as they do where whole dialogues follow each other."""

    longest: int = 14
    parts: tuple[int, int] = (3, 7)
    mixed: float = 0.35
    varied: bool = False
    neat: float = 0.7


def pieces(threads: Sequence[Thread], rng: random.Random, longest: int) -> dict[tuple[int, str], list[Run]]:
    """Cut threads into runs of one topic, 2 to `longest` units long, by fold and set."""
    result = defaultdict(list)
    for thread in threads:
        edges = [0, *[n for n, s in enumerate(thread.starts) if s and n], len(thread.starts)]
        for first, high in pairwise(edges):
            low = first
            while high - low >= 2:
                size = high - low if high - low <= longest else rng.randint(4, longest)
                result[thread.fold, thread.source].append((thread.name, thread.lines[low : low + size]))
                low += size + 20
    return result


def glue(threads: Sequence[Thread], count: int, seed: int, style: Style | None = None) -> list[Thread]:
    """Join runs of different threads, mostly of one set (shared vocabulary), some across sets."""
    rng = random.Random(seed)
    style = style or Style()
    runs = pieces(threads, rng, style.longest)
    results = [_glued(runs, rng, style, f"glue{seed}", number) for number in range(count)]
    return [thread for thread in results if thread is not None]


def _glued(runs: Runs, rng: random.Random, style: Style, name: str, number: int) -> Thread | None:
    """Return one glued dialogue; a varied one draws its own density, for none to be learnt."""
    fold, sets = number % FOLDS, sorted({source for _, source in runs})
    home, mixed = rng.choice(sets), rng.random() < style.mixed
    names = ("user", "assistant") if rng.random() < 0.5 else (f"P{number}", f"Q{number}")
    neat = rng.random() < style.neat
    typical = rng.choice((2, 3, 4, 6, 9, 14, 22, 30)) if style.varied else 0
    many = rng.randint(2, 12) if style.varied else rng.randint(*style.parts)
    if typical:
        many = max(1, min(many, LONGEST // typical))
    lines: list[Line] = []
    starts: list[int] = []
    used: set[str] = set()
    for _ in range(many):
        pool = runs.get((fold, rng.choice(sets) if mixed else home), ())
        pool = [run for run in pool if run[0] not in used]
        if pool:
            thread, run = _drawn(pool, typical, rng)
            used.add(thread)
            part = _in_turn(run, names, lines) if neat else renamed(run, names)
            part = _worn(part, rng) if style.varied else part
            starts += [int(bool(lines)), *[0] * (len(part) - 1)]
            lines += part
    if len(used) < 2 and not (style.varied and len(lines) > 8):
        return None
    if style.varied and rng.random() < 0.3:
        lines, starts = _digressed(lines, starts, runs.get((fold, home), []), names, rng)
    made_of = frozenset(one.split("/")[0] for one in used)
    return Thread("glue:mixed" if mixed else f"glue:{home}", f"{name}/{number}", fold, lines, starts, made_of)


def crowds(conversations: Sequence[Thread], count: int, seed: int) -> list[Thread]:
    """Join conversations of named people, one after the other: fast talk of many, all with names."""
    rng = random.Random(seed)
    by_fold = defaultdict(list)
    for thread in conversations:
        by_fold[thread.fold].append(thread)
    return [_crowd(by_fold[n % FOLDS], rng, f"crowd{seed}/{n}", n % FOLDS) for n in range(count)]


def _crowd(pool: Sequence[Thread], rng: random.Random, name: str, fold: int) -> Thread:
    """Return one crowd: parts of two to nine conversations, said by three to eight people."""
    people = [f"{rng.choice('ABCDEFGHKLMNPRST')}{rng.choice('aeiou')}{n}" for n in range(rng.randint(3, 8))]
    typical = rng.choice((3, 4, 6, 9, 14))
    lines: list[Line] = []
    starts: list[int] = []
    for thread in rng.sample(pool, rng.randint(2, 9)):
        size = max(2, round(typical * rng.uniform(0.5, 1.5)))
        first = 0 if rng.random() < 0.7 else rng.randint(0, max(0, len(thread.lines) - size))
        rng.shuffle(people)
        run = thread.lines[first : first + size]
        speakers = {actor: n for n, actor in enumerate(dict.fromkeys(line.speaker for line in run))}
        starts += [int(bool(lines)), *[0] * (len(run) - 1)]
        lines += [line._replace(speaker=people[speakers[line.speaker] % len(people)]) for line in run]
    return Thread("crowd", name, fold, lines, starts, frozenset({"irc"}))


def _drawn(pool: Sequence[Run], typical: int, rng: random.Random) -> Run:
    """Draw a run, cut to about the typical length if there is one; long ones are looked for a few times."""
    name, run = rng.choice(pool)
    if typical:
        limit = max(2, round(typical * rng.uniform(0.5, 1.5)))
        if len(run) < 0.6 * limit:
            some = rng.sample(pool, min(12, len(pool)))
            name, run = max(some, key=lambda one: min(len(one[1]), limit))
        place = rng.randint(0, max(0, len(run) - limit))
        run = run[place : place + limit]
    return name, run


def _in_turn(run: Sequence[Line], names: tuple[str, str], before: Sequence[Line]) -> list[Line]:
    """Rename a run so that who speaks first did not speak last before the join."""
    if {line.speaker for line in run} & ASKING & ROLES:
        if run[0].speaker not in ASKING and len(run) > 2:
            run = run[1:]
        if run[-1].speaker in ASKING and len(run) > 2:
            run = run[:-1]
        return renamed(run, names)
    part = renamed(run, names)
    return renamed(run, names[::-1]) if before and part[0].speaker == before[-1].speaker else part


def _worn(lines: list[Line], rng: random.Random) -> list[Line]:
    """Drop a unit of a run now and then, or let one side say everything."""
    if len(lines) > 3 and rng.random() < 0.25:
        lines = [line for line in lines if rng.random() < 0.85] or lines[:2]
    if len(lines) > 3 and rng.random() < 0.1:
        lines = [line._replace(speaker=lines[0].speaker) for line in lines]
    return lines


def _digressed(
    lines: list[Line],
    starts: list[int],
    pool: Sequence[tuple[str, Sequence[Line]]],
    names: tuple[str, str],
    rng: random.Random,
) -> tuple[list[Line], list[int]]:
    """Put one or two messages of something else into a long run: no boundary around them."""
    edges = [0, *[n for n, s in enumerate(starts) if s], len(starts)]
    long = [(a, b) for a, b in pairwise(edges) if b - a >= 7]
    if not long or not pool:
        return lines, starts
    low, high = rng.choice(long)
    place = rng.randint(low + 3, high - 3)
    strange = renamed(rng.choice(pool)[1][: rng.randint(1, 2)], names)
    return [*lines[:place], *strange, *lines[place:]], [*starts[:place], *[0] * len(strange), *starts[place:]]


def renamed(lines: Sequence[Line], names: tuple[str, str]) -> list[Line]:
    """Give the speakers of a run two common names: the asking side first."""
    order = sorted({line.speaker for line in lines}, key=lambda s: (s not in ASKING, s))
    if not ASKING & set(order):
        order = list(dict.fromkeys(line.speaker for line in lines))
    place = {speaker: names[n % 2] for n, speaker in enumerate(order)}
    if len(order) == 1 and order[0] in ANSWERING:
        place = {order[0]: names[1]}
    return [line._replace(speaker=place[line.speaker], at=None) for line in lines]


def alone(threads: Sequence[Thread], count: int, seed: int) -> list[Thread]:
    """Return runs of one topic, 5 to 24 units long, each as a thread of its own: nothing is to be cut."""
    rng = random.Random(seed)
    runs = [run for some in pieces(threads, rng, 24).values() for _, run in some if len(run) >= 5]
    rng.shuffle(runs)
    return [
        Thread("alone", f"alone/{n}", 0, [line._replace(at=None) for line in run], [0] * len(run))
        for n, run in enumerate(runs[:count])
    ]


def timed(thread: Thread, seed: int) -> Thread:
    """Give a thread chat-like times: six joins in ten follow a longer silence, the others do not."""
    rng = random.Random(seed)
    at, lines = EPOCH, []
    for line, start in zip(thread.lines, thread.starts, strict=True):
        pause = rng.lognormvariate(math.log(3600), 1.2) if start and rng.random() < 0.6 else None
        at += timedelta(seconds=min(pause or rng.lognormvariate(math.log(60), 1.3), 5 * 3600))
        lines.append(line._replace(at=at))
    return replace(thread, source="timed", lines=lines)
