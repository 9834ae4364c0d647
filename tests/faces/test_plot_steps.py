"""Plots of an agent's steps: the score with its factors, the freezes with their reasons, the places."""

import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest
from builders.chats import mine
from builders.commands import Run
from builders.examples import share
from conftest import OpenMemory
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from episodic_agent.core.boundary.steps.custom import adapt
from episodic_agent.engine.boundary.traces import BoundaryTrace
from episodic_agent.faces.plot.figure import plot_png, plot_svg
from episodic_agent.faces.plot.steps import freezes, visits
from episodic_agent.faces.plot.terminal import plot_terminal
from episodic_agent.protocols import BoundaryDetector
from episodic_agent.schemas import ActiveContextFrame, Entity, Reading


class EverySeven(BoundaryDetector):
    """A detector of somebody's own."""

    def check(self, acf: ActiveContextFrame) -> tuple[bool, str | None]:
        return acf.step_count >= 7, "seven"


class House:
    """A robot that walks through a house, a mug coming and going."""

    name = "house"
    counts: Mapping[str, int] = {}

    def __iter__(self) -> Iterator[Reading]:
        places = ["Living room"] * 20 + ["Kitchen"] * 15 + [None] * 3 + ["Kitchen"] * 4 + ["Hall"] * 12
        for n, place in enumerate(places):
            yield Reading(n, place=place, entities=(Entity("m", "mug"),) if n % 5 == 3 else ())

    def close(self) -> None:
        pass


@pytest.fixture
def traced(open_memory: OpenMemory, request: pytest.FixtureRequest) -> BoundaryTrace:
    policy = request.param
    memory = open_memory()
    mine(memory).run(House(), thread="robot", policy=adapt(EverySeven, "own") if policy == "own" else policy)
    return mine(memory).boundaries.trace("robot")


def words(path: Path) -> str:
    return " ".join("".join(ElementTree.parse(path).getroot().itertext()).split())


# the default's trace has everything to be drawn, one's own nothing but steps; the rest lies between
POLICIES = (
    "steps",
    "own",
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("seed-000", "stub?freeze_interval=9")),
)


@pytest.mark.slow
@pytest.mark.parametrize("traced", POLICIES, indirect=True)
def test_every_detectors_thread_plots_with_what_it_has_and_says_steps(
    traced: BoundaryTrace, tmp_path: Path
) -> None:
    plot_svg(traced, tmp_path / "plot.svg")
    plot_png(traced, tmp_path / "plot.png")
    shown = plot_terminal(traced, 120, colour=False)
    drawn = words(tmp_path / "plot.svg")
    for text in (shown, drawn):
        assert "54 steps" in text
        assert "3 places" in text
        assert "message" not in text
        for place in ("Living room", "Kitchen", "Hall"):
            assert place in text
    assert "freeze" in drawn
    assert struct.unpack(">II", (tmp_path / "plot.png").read_bytes()[16:24]) == (1600, 900)
    assert len(freezes(traced)) == len(traced.episodes()) > 2


@pytest.mark.parametrize("traced", ["steps", "seed-000"], indirect=True)
def test_the_score_is_drawn_with_its_factors_and_both_thresholds(
    traced: BoundaryTrace, tmp_path: Path
) -> None:
    plot_svg(traced, tmp_path / "plot.svg")
    drawn = words(tmp_path / "plot.svg")
    for word in ("location", "events", "prediction error", "time", "high threshold", "low threshold"):
        assert word in drawn
    lines = plot_terminal(traced, 120, colour=False).splitlines()
    assert [name for name in ("loc", "evt", "pred", "time", "at") if any(li.startswith(name) for li in lines)] == [
        "loc", "evt", "pred", "time", "at",
    ]  # fmt: skip
    assert any("╌" in line for line in lines)
    assert any("┈" in line for line in lines)


@pytest.mark.parametrize("traced", ["steps-2026-12"], indirect=True)
def test_a_freeze_stands_at_its_check_with_the_reason_and_what_the_score_was_made_of(
    traced: BoundaryTrace,
) -> None:
    assert [(traced.seqs[i], reason) for i, reason in freezes(traced)] == [
        (21, "location_change"), (43, "location_change"), (53, "end_of_stream"),
    ]  # fmt: skip
    lines = plot_terminal(traced, 120, colour=False).splitlines()
    at = next(n for n, line in enumerate(lines) if line.strip().startswith("21 "))
    assert lines[at + 1].strip().startswith("▲ freeze, another place: loc 1.00 + ")
    assert lines[-1].strip() == "▲ freeze, end of stream"
    (heading,) = [line for line in lines if line.startswith("2. ")]
    assert heading.endswith("another place 1.00")
    assert [(s.place, s.start, s.end) for s in visits(traced)] == [
        ("Living room", 0, 20), ("Kitchen", 20, 35), ("Kitchen", 38, 42), ("Hall", 42, 54),
    ]  # fmt: skip


def walk(count: int = 40, **changes: object) -> BoundaryTrace:
    flat = [0.1] * count
    fields: dict[str, object] = {
        "seqs": range(count), "times": [None] * count, "actors": ["agent"] * count, "texts": ["go"] * count,
        "probability": flat, "threshold": [0.8] * count, "surprise": flat,
        "cues": {"location": flat, "event": flat, "activity": [n % 9 / 9 for n in range(count)]},
        "cuts": [(20, "location_change")], "freezes": [(21, "location_change")], "unit": "step",
        "places": ["hall"] * 20 + ["den"] * (count - 20) if count > 20 else ["hall"] * count, "low": [0.3] * count,
    }  # fmt: skip
    return BoundaryTrace(**(fields | changes))  # type: ignore[arg-type]


def test_a_cue_nobody_foresaw_is_drawn_by_its_name(tmp_path: Path) -> None:
    plot_svg(walk(), tmp_path / "plot.svg")
    assert "activity" in words(tmp_path / "plot.svg")
    (row,) = [line for line in plot_terminal(walk(), 100, colour=False).splitlines() if "activity" in line]
    assert "▁ ▂ ▃" in row


@pytest.mark.parametrize(
    "changes",
    [
        {"places": ()}, {"places": [None] * 40}, {"low": ()}, {"low": [math.nan] * 40}, {"freezes": ()},
        {"freezes": [(999, "manual")]}, {"cuts": ()}, {"cues": {"time": [math.nan] * 40}},
        {"probability": [math.nan] * 40, "threshold": [math.nan] * 40, "surprise": [math.nan] * 40},
    ],
)  # fmt: skip
def test_a_poor_trace_of_steps_still_makes_a_picture(changes: dict[str, object], tmp_path: Path) -> None:
    plot_svg(walk(**changes), tmp_path / "plot.svg")
    assert "40 steps" in words(tmp_path / "plot.svg")
    assert "40 steps" in plot_terminal(walk(**changes), 80, colour=False)


@settings(max_examples=share(60), deadline=None)
@given(st.integers(40, 160), st.integers(1, 200), st.text(max_size=40), st.text(max_size=40))
def test_no_line_of_steps_is_wider_than_the_terminal_and_no_name_controls_it(
    width: int, count: int, place: str, cue: str
) -> None:
    cues = {"location": [0.2] * count, cue: [n % 2 / 2 for n in range(count)]}
    drawn = walk(count, places=[place, *[None] * (count - 1)], cues=cues, cuts=(), freezes=[(0, place)])
    for line in plot_terminal(drawn, width, colour=False).split("\n"):
        assert cell_len(line) <= width
        assert all(character.isprintable() for character in line)


def test_a_conversations_plot_still_speaks_of_messages(run: Run, tmp_path: Path) -> None:
    run("add", "I am moving to Lisbon", "--thread", "talk")
    run("plot", "talk", "--output", tmp_path / "plot.svg")
    drawn = words(tmp_path / "plot.svg")
    assert "1 message · 1 episode" in drawn
    assert "place" not in drawn
    assert "step" not in drawn
    assert "1 message, 1 episode" in run("plot", "talk").out


@pytest.mark.parametrize("traced", ["steps", "seed-000"], indirect=True)
def test_a_part_of_a_long_run_keeps_its_episodes_titles_and_freezes(traced: BoundaryTrace) -> None:
    episodes = traced.episodes()
    for first, last in ((0, 999), (0, 30), (15, 45), (25, 25), (25, 53)):
        part = traced.between(first, last)
        assert list(part.seqs) == [seq for seq in traced.seqs if first <= seq <= last]
        texts = {part.seqs[start]: title for start, _, title, _ in part.episodes()}
        assert texts.items() <= {seq: _title(episodes, seq) for seq in traced.seqs}.items()
        inside = [(traced.seqs[i], why) for i, why in freezes(traced) if first <= traced.seqs[i] <= last]
        assert [(part.seqs[i], why) for i, why in freezes(part)] == inside
        assert plot_terminal(part, 100)
    assert traced.between(0, 999) == traced


def _title(episodes: Sequence[tuple[int, int, str, str]], index: int) -> str:
    return next(title for start, end, title, _ in episodes if start <= index < end)


def test_the_command_plots_a_part_and_refuses_an_empty_one(run: Run, tmp_path: Path) -> None:
    for word in ("one", "two", "three"):
        run("add", word, "--thread", "talk")
    assert "2 messages" in run("plot", "talk", "--from", 1).out
    assert run("plot", "talk", "--from", 1, "--to", 1, "--json").json["seqs"] == [1]
    assert "has 3 messages, numbered from 0" in run("plot", "talk", "--from", 7).error
