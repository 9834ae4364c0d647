"""Boundary plots: readable in a terminal of any width, and as pictures that are the same every time."""

import importlib
import math
import struct
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from xml.etree import ElementTree

import pytest
from builders.examples import share
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from episodic_agent.engine.boundary.traces import BoundaryTrace
from episodic_agent.errors import InvalidInput
from episodic_agent.faces.plot.figure import plot_png, plot_svg
from episodic_agent.faces.plot.labels import Fonts, Label, stagger, text_width, to_draw
from episodic_agent.faces.plot.terminal import plot_terminal
from episodic_agent.faces.plot.words import time_labels

START = datetime(2024, 3, 1, 9, 15, tzinfo=UTC)


def trace(count: int = 30, every: int = 10, **changes: object) -> BoundaryTrace:
    cuts = list(range(every, count, every))
    fields: dict[str, object] = {
        "seqs": range(count),
        "times": [START + timedelta(minutes=3 * n) for n in range(count)],
        "actors": ["Ana" if n % 2 else "Bruno" for n in range(count)],
        "texts": [f"words of message {n}" for n in range(count)],
        "probability": [math.nan] + [0.9 if n in cuts else (n * 37 % 40) / 100 for n in range(1, count)],
        "threshold": [0.5] * count,
        "surprise": [(n * 17 % 60) / 100 for n in range(count)],
        "cues": {
            "silence": [(n * 29 % 100) / 100 for n in range(count)],
            "topic_distance": [n % 7 / 7 for n in range(count)],
            "flag": [1.0] * count,
        },
        "cuts": [(n, "topic_shift") for n in cuts],
        "titles": ["The trip", *(f"Subject {n}" for n in range(1, len(cuts) + 1))],
        "title": "Ana and Bruno",
    }
    return BoundaryTrace(**(fields | changes))  # type: ignore[arg-type]


def fonts(*, any_glyph: bool = False) -> Fonts:
    return Fonts(importlib.import_module("matplotlib.font_manager"), any_glyph=any_glyph)


def test_a_trace_knows_its_episodes() -> None:
    assert trace(25, 10).episodes() == [
        (0, 10, "The trip", ""), (10, 20, "Subject 1", "topic_shift"), (20, 25, "Subject 2", "topic_shift"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"times": []}, "times"), ({"cues": {"gap": [1.0]}}, "cue gap"), ({"seqs": [1] * 30}, "rising order")],
)
def test_sequences_that_do_not_fit_are_refused(changes: Mapping[str, object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        trace(**changes)


def test_the_terminal_plot_shows_episodes_reasons_and_messages() -> None:
    shown = plot_terminal(trace(), 100, colour=False)
    assert "30 messages, 3 episodes" in shown
    assert "2. Subject 1  10-19 · 1 Mar 2024 09:45 · new subject 0.90" in shown
    assert "words of message 29" in shown
    assert shown.count("▲") == 2
    assert "╌" in shown


def test_a_cut_is_marked_under_its_own_bar() -> None:
    lines = plot_terminal(trace(), 100, colour=False).splitlines()
    (marks,) = [line for line in lines if "▲" in line]
    top = next(line for line in lines if "█" in line)
    assert [n for n, mark in enumerate(marks) if mark == "▲"] == [
        n for n in range(1, len(top)) if top[n] == "█" and top[n - 1] != "█"
    ]


def test_long_threads_list_episodes_only_unless_messages_are_wanted() -> None:
    long = trace(400, 50)
    assert "words of message" not in plot_terminal(long, 80)
    assert "words of message 399" in plot_terminal(long, 80, messages=True)


def test_colour_is_ansi_and_can_be_left_out() -> None:
    assert "\x1b" not in plot_terminal(trace(), 90, colour=False)
    assert Text.from_ansi(plot_terminal(trace(), 90)).plain == plot_terminal(trace(), 90, colour=False)


def test_an_empty_trace_says_so() -> None:
    empty = BoundaryTrace([], [], [], [], [], [], [])
    assert plot_terminal(empty) == "No observations yet."
    with pytest.raises(InvalidInput, match="nothing to plot"):
        plot_png(empty, Path("never.png"))


@settings(max_examples=share(60), deadline=None)
@given(st.integers(40, 160), st.integers(1, 200), st.integers(1, 50), st.text(max_size=60), st.booleans())
def test_no_line_is_wider_than_the_terminal_and_no_text_controls_it(
    width: int, count: int, every: int, text: str, timed: bool
) -> None:
    drawn = trace(
        count, every, texts=[text] * count, actors=[text[:12]] * count, titles=[text] * 60, title=text,
        times=[START if timed else None] * count,
    )  # fmt: skip
    for line in plot_terminal(drawn, width, colour=False).split("\n"):
        assert cell_len(line) <= width
        assert all(character.isprintable() for character in line)


# --- pictures ---------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_png_has_the_promised_size(tmp_path: Path) -> None:
    plot_png(trace(), tmp_path / "plot.png")
    data = (tmp_path / "plot.png").read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", data[16:24]) == (1600, 900)


@pytest.mark.slow
def test_the_svg_is_the_same_every_time_and_keeps_words_as_text(tmp_path: Path) -> None:
    chinese = trace(titles=["里斯本之旅 & <tea>", "costs $5 or $6", "three\x00\x1b"])
    for name in ("one.svg", "two.svg"):
        plot_svg(chinese, tmp_path / name)
    first = (tmp_path / "one.svg").read_bytes()
    assert first == (tmp_path / "two.svg").read_bytes()
    words = "".join(ElementTree.fromstring(first).itertext())
    for expected in (
        "里斯本之旅 & <tea>",
        "costs $5 or $6",
        "new subject · 0.90",
        "topic distance",
        "1 Mar 2024",
    ):
        assert expected in words
    assert "flag" not in words  # it never moves


@pytest.mark.slow
def test_a_picture_of_few_episodes_says_what_its_lines_are_and_quotes_the_messages_at_each_cut(
    tmp_path: Path,
) -> None:
    cues = {"novelty": [n % 5 / 5 for n in range(30)], "own_cue": [n % 3 / 3 for n in range(30)]}
    plot_svg(trace(cues=cues), tmp_path / "few.svg")
    words = "".join(ElementTree.parse(tmp_path / "few.svg").getroot().itertext())
    for expected in (
        "30 messages · 3 episodes. A new episode begins (red) where the blue line reaches the dashed one.",
        "how likely a new episode begins at this message",
        "threshold it has to reach",
        "surprise: how little the message was expected",
        "before: “words of message 9”",
        "after: “words of message 10”",
        "rows: the cues that make the blue line, message by message",
        "new words",
        "own cue",
    ):
        assert expected in words
    plot_svg(trace(60, 5), tmp_path / "many.svg")
    assert "before: “" not in (tmp_path / "many.svg").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {"cues": {}},
        {"times": [None] * 30},
        {"titles": []},
        {"probability": [math.nan] * 30, "threshold": [math.nan] * 30, "surprise": [math.nan] * 30},
        {"cuts": []},
        {"cuts": [(n, "surprise") for n in range(1, 30)]},
    ],
)
def test_every_poor_trace_still_makes_a_picture(tmp_path: Path, changes: Mapping[str, object]) -> None:
    plot_svg(trace(**changes), tmp_path / "plot.svg")
    assert ElementTree.parse(tmp_path / "plot.svg").getroot().tag.endswith("svg")
    assert plot_terminal(trace(**changes), 80)


def test_one_message_makes_a_picture(tmp_path: Path) -> None:
    plot_png(trace(1), tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 5000


def test_a_place_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot write"):
        plot_png(trace(), tmp_path / "missing" / "plot.png")


def test_without_matplotlib_the_remedy_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(name: str) -> object:
        raise ImportError(name)

    monkeypatch.setattr("episodic_agent.faces.plot.figure.importlib.import_module", nothing)
    with pytest.raises(InvalidInput, match=r"pip install '\.\[plot\]' in the clone"):
        plot_png(trace(), tmp_path / "plot.png")


def test_titles_no_font_can_write_give_way_to_a_number() -> None:
    latin = fonts()
    latin.writes = lambda character: character.isascii()  # type: ignore[method-assign]
    assert to_draw("里斯本之旅", latin) == ""
    assert to_draw("Trip to 里斯本", latin) == "Trip to"
    assert to_draw("里斯本之旅", fonts(any_glyph=True)) == "里斯本之旅"


@given(st.lists(st.tuples(st.floats(0, 1300), st.text(max_size=30)), max_size=40), st.integers(1, 6))
def test_no_label_covers_another_or_leaves_the_picture(places: list[tuple[float, str]], levels: int) -> None:
    labels = [Label(at, title, "topic shift") for at, title in sorted(places)]
    placed = stagger(labels, 1376, levels, 125)
    for number, label in enumerate(placed):
        assert 0 <= label.start < label.end <= 1376
        for other in placed[:number]:
            assert label.level != other.level or label.end <= other.start or other.end <= label.start
    assert not labels or placed


def test_a_few_spread_labels_are_all_there_and_no_line_runs_through_them() -> None:
    placed = stagger(
        [Label(at, "A title of usual length", "surprise") for at in (0, 180, 320, 700, 900)], 1376, 6, 125
    )
    assert [one.label.title for one in placed] == ["A title of usual length"] * 5
    assert not any(one.crossed for one in placed)


def test_wide_characters_take_an_em() -> None:
    assert text_width("日本", 10, 72) == 20.0 > text_width("ab", 10, 72)


@pytest.mark.parametrize(
    ("minutes", "labels"),
    [
        ([0, 10, 20], ["1 Mar 2024, 09:15", "09:25", "09:35"]),
        ([0, 1440, 2880], ["1 Mar 2024", "2 Mar", "3 Mar"]),
        ([0, 440_000, 880_000], ["1 Mar 2024", "31 Dec", "2 Nov 2025"]),
    ],
)
def test_the_time_axis_names_days_where_they_change_else_clocks(
    minutes: list[int], labels: list[str]
) -> None:
    times = [START + timedelta(minutes=n) for n in minutes]
    assert [label for _, label in time_labels(times, 9)] == labels
    assert time_labels([None, None], 9) == []
