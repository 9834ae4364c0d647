"""The trainer and the benchmark of steps on made-up agents: reproducible, and every table has its rows."""

import gzip
import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import train_steps as trainer
from boundary import training
from boundary_steps import material, rows, scripts
from boundary_steps.data import SETS, Course

from benchmarks import quality_tables, results, step_quality
from benchmarks.baselines import another_room, short_silence
from benchmarks.segmentation import step_systems
from episodic_agent.core.boundary.steps.cues import FORESEEN, NAMES
from episodic_agent.engine.evaluate.cases import LabelledStream, streams
from episodic_agent.engine.evaluate.segmentation import observation
from episodic_agent.schemas import Kind, TimeSource


def told(course: Course) -> dict[str, object]:
    """Write a course as a line of a labelled file."""
    units = []
    for unit in course.units[:50]:
        row: dict[str, object] = {"text": unit.text, "location": unit.location}
        row |= {"action": unit.action, "objects": list(unit.objects)} if unit.action else {}
        units.append(row | ({"epoch": unit.at.timestamp()} if unit.at else {}))
    return {"kind": "steps", "units": units, "starts": list(course.starts[:50])}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four sets of five made-up streams each."""
    folder = tmp_path_factory.mktemp("steps")
    for number, source in enumerate(SETS):
        with gzip.open(folder / f"steps_{source}.jsonl.gz", "wt", encoding="utf-8") as file:
            for n in range(5):
                file.write(json.dumps(told(scripts.scripted(1000 + 10 * number + n))) + "\n")
    return folder


@pytest.fixture
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "DRAWN", 2000)
    monkeypatch.setattr(training, "PASSES", 1)
    monkeypatch.setattr(material, "SCRIPTS", 3)
    monkeypatch.setattr(material, "WINDOWS", 2)
    monkeypatch.setattr(step_quality, "QUICK", 2)


def test_labelled_steps_keep_what_was_done_with_what_where_and_when(tmp_path: Path) -> None:
    unit = {"text": "take it", "time": 7, "location": "den", "action": "take", "objects": ["mug"]}
    timed = unit | {"epoch": 1.7e9}
    path = tmp_path / "steps_x.jsonl"
    path.write_text(json.dumps({"kind": "steps", "units": [unit, timed], "starts": [0, 0]}) + "\n")
    (stream,) = streams(path)
    first, second = (observation(n, one) for n, one in enumerate(stream.units))
    assert (first.kind, first.location, dict(first.extras)) == (
        Kind.STEP, "den", {"action": "take", "objects": ["mug"]},
    )  # fmt: skip
    assert (first.at_source, second.at_source) == (TimeSource.ASSUMED, TimeSource.GIVEN)


def test_made_up_agents_and_copies_are_the_same_for_the_same_seed(quickly: None) -> None:
    assert scripts.scripted(5) == scripts.scripted(5) != scripts.scripted(6)
    course = scripts.scripted(5)
    spoilt = Course(course.source, course.kind, 0, course.units, course.starts, spoilt=3)
    assert rows.spoil(spoilt) == rows.spoil(spoilt) != list(course.starts)
    assert material.material([course]) == material.material([course])


@pytest.mark.slow
def test_every_family_left_out_and_every_fold_leaves_no_row_with_weight(data: Path, quickly: None) -> None:
    table = trainer.rows_of(trainer.gather(data))
    family = np.array([course.family for course in table.courses])[table.of]
    fold = np.array([course.fold for course in table.courses])[table.of]
    assert table.weights(but=frozenset({"alfred"}))[family == "alfred"].sum() == 0
    assert table.weights(but_fold=2)[fold == 2].sum() == 0
    assert table.weights().min() > 0
    blind = [NAMES.index(name) for name in FORESEEN]
    assert not table.blind().table.cues[:, blind].any()
    assert np.delete(table.table.cues, blind, 1) == pytest.approx(
        np.delete(table.blind().table.cues, blind, 1)
    )


@pytest.mark.slow
def test_what_is_measured_of_steps_fills_the_tables(data: Path, tmp_path: Path, quickly: None) -> None:
    assert list(step_quality.measure(data, tmp_path, quick=True)) == []
    matches = dict(step_quality.measure(data, tmp_path, train=True, quick=True))
    assert set(matches) == {
        f"steps {kind} | {s}" for kind in ("unseen", "left out", "prediction") for s in SETS
    }
    assert dict(step_quality.measure(data, tmp_path, quick=True)) == matches
    results.merge(tmp_path, quality_tables.QUALITY, matches)
    for table in (quality_tables.steps, quality_tables.prediction):
        lines = table(tmp_path).splitlines()[2:]
        assert sorted(line.split(" | ")[0] for line in lines) == sorted(f"| {s}" for s in SETS)


def test_the_plain_rules_for_steps_read_rooms_and_pauses() -> None:
    course = next(c for c in map(scripts.scripted, range(50)) if c.units[0].at and c.units[0].location)
    stream = LabelledStream("made up", course.units, course.starts)
    rooms = [unit.location for unit in course.units]
    assert sum(another_room(course.units)) == sum(a != b for a, b in pairwise(rooms))
    assert len(short_silence(course.units)) == len(rooms)
    names = [system.name for system in step_systems(use_times=True)]
    assert names[:3] == ["default", "steps-2026-12", "seed-000"]
    assert sum(step_systems(use_times=True)[0].cut(stream, [None] * len(rooms))) > 0  # type: ignore[list-item]
