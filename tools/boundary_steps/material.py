"""Copies of the labelled streams as other sensors would tell them, so that no network clings to one telling.

Without action and things, without times, with made-up times, without places; a home as many windows with
sensors left out; an agent's day as a smart home would see it; and the same rows led along spoilt boundaries.
"""

import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from boundary_steps.data import Course, rebuilt
from boundary_steps.scripts import scripted
from episodic_agent.engine.evaluate.cases import LabelledUnit

BEGINNING = datetime(2024, 1, 1, tzinfo=UTC)
WINDOWS = 14  # of each home
SCRIPTS = 260


def material(courses: Sequence[Course]) -> list[Course]:
    """Return everything that is learnt from, each kind with its own weight (`rows.SHARE`)."""
    results: list[Course] = []
    for number, item in enumerate(courses):
        lot = random.Random(f"{item.source}:{number}")
        results += [rebuilt(item, f"{item.source}, text", list(map(_text_only, item.units)))]
        if item.source == "homes":
            results += windows(item, lot)
        else:
            results.append(item)
            results.append(replace(item, kind=f"{item.source}, spoilt", spoilt=number + 1))
            text = list(map(_text_only, item.units))
            results.append(replace(rebuilt(item, f"{item.source}, text, spoilt", text), spoilt=number + 1))
        if any(unit.at for unit in item.units):
            results.append(
                rebuilt(item, f"{item.source}, untimed", [replace(u, at=None) for u in item.units])
            )
        else:
            results.append(rebuilt(item, f"{item.source}, timed", timed(item, lot)))
            results += [as_home(item, lot) for _ in range(2 if item.source == "alfred_houses" else 1)]
        if item.source in ("alfred_houses", "homes"):
            bare = [replace(u, location=None) for u in item.units]
            results.append(rebuilt(item, f"{item.source}, unplaced", bare))
    results += [scripted(seed) for seed in range(SCRIPTS)]
    return [one for one in results if len(one.units) >= 20]


def _text_only(unit: LabelledUnit) -> LabelledUnit:
    return replace(unit, action=None, objects=())


def timed(course: Course, lot: random.Random) -> list[LabelledUnit]:
    """Return the units at made-up times: steps take seconds, some activities begin after a pause."""
    at, result = BEGINNING, []
    typical, share = lot.choice((2.0, 8.0, 30.0)), lot.uniform(0.2, 0.8)
    pause = lot.choice((4.0, 15.0, 60.0))
    for unit, start in zip(course.units, course.starts, strict=True):
        wait = lot.lognormvariate(math.log(typical), 0.9)
        if start and lot.random() < share:
            wait *= lot.lognormvariate(math.log(pause), 0.8)
        at += timedelta(seconds=wait)
        result.append(replace(unit, at=at))
    return result


def windows(course: Course, lot: random.Random) -> Iterable[Course]:
    """Yield stretches of a long stream with some things left out; a boundary moves on to what is kept."""
    sizes = (150, 300, 600, 1200) if len(course.units) < 5000 else (400, 800, 1600)
    for _ in range(WINDOWS):
        size = lot.choice(sizes)
        begin = lot.randrange(max(1, len(course.units) - size))
        names = sorted({unit.objects for unit in course.units[begin : begin + size]})
        dropped = {name for name in names if lot.random() < lot.choice((0.0, 0.0, 0.1))}
        units, starts, open_ = [], [], 0
        end = begin + size
        for unit, start in zip(course.units[begin:end], course.starts[begin:end], strict=True):
            open_ |= start
            if unit.objects not in dropped:
                units.append(unit)
                starts.append(open_)
                open_ = 0
        if len(units) >= 60 and sum(starts[1:]) >= 3:
            yield rebuilt(course, course.kind, units, [0, *starts[1:]])


def as_home(course: Course, lot: random.Random) -> Course:
    """Return a day as a smart home would tell it: sensors of what is touched, pauses, noise, no words."""
    typical, spread = lot.choice((5.0, 15.0, 40.0)), lot.uniform(0.7, 1.6)
    pause, share = lot.choice((120.0, 600.0, 2400.0)), lot.uniform(0.4, 0.95)
    noise, value = lot.choice((0.0, 0.0, 0.3, 1.5)), lot.uniform(0.5, 1.0)
    motion, placed = lot.random() < 0.5, lot.random() < 0.4
    silent: set[str] = set()
    at, units, starts, open_ = BEGINNING, list[LabelledUnit](), list[int](), 0

    def fire(name: str, place: str | None) -> None:
        nonlocal open_
        units.append(LabelledUnit("agent", name, at, place, True, "sensor", (name,)))
        starts.append(open_)
        open_ = 0

    for unit, start in zip(course.units, course.starts, strict=True):
        open_ |= start
        if start:
            long = lot.random() < share
            median, wide = (pause, 1.2) if long else (2.0 * typical, spread)
            wait = lot.lognormvariate(math.log(median), wide)
            at += timedelta(seconds=wait)
        place = unit.location if placed else None
        for name in unit.objects[:2]:
            if name not in silent and lot.random() > value and lot.random() < 0.3:
                silent.add(name)
            if name in silent:
                continue
            for again in range(1 + min(6, int(lot.expovariate(1.2)))):
                at += timedelta(
                    seconds=lot.lognormvariate(math.log(typical), spread) * (0.3 if again else 1.0)
                )
                fire(name, place)
            while motion and lot.random() < noise / (1.0 + noise):
                at += timedelta(seconds=lot.lognormvariate(math.log(0.3 * typical), spread))
                fire(f"motion {(unit.location or 'room').split()[0]}", place)
    return rebuilt(course, f"{course.source}, as a home", units, [0, *starts[1:]])
