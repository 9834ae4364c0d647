"""Maps of an agent's places: the same picture every time, nothing covered, nothing cut off."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from builders.commands import Run
from builders.examples import share
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from episodic_agent.engine.recall.places import MoveCard, PlaceCard, PlaceSummary
from episodic_agent.errors import InvalidInput
from episodic_agent.faces.plot.map import layout, map_png, map_svg, map_terminal

AT = datetime(2026, 3, 1, 8, tzinfo=UTC)
GRID = [((x, y), (x + 1, y)) for x in range(2) for y in range(3)] + [
    ((x, y), (x, y + 1)) for x in range(3) for y in range(2)
]


def places(names: Sequence[str], moves: Sequence[tuple[str, str, int]] = (), steps: int = 20) -> PlaceSummary:
    cards = [PlaceCard(name, steps * (n + 1), n + 1, n, AT, AT) for n, name in enumerate(names)]
    return PlaceSummary(cards, [MoveCard(*move) for move in moves])


HOUSE = places(
    ["Kitchen", "Hall & stairs", "浴室"],
    [("Kitchen", "Hall & stairs", 3), ("Hall & stairs", "Kitchen", 2), ("Hall & stairs", "浴室", 1)],
)


# --- the layout -------------------------------------------------------------------------------------------


def graphs() -> st.SearchStrategy[tuple[int, list[tuple[int, int]]]]:
    return st.integers(1, 30).flatmap(
        lambda n: st.tuples(
            st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=60)
        )
    )


@settings(max_examples=share(20), deadline=None)
@given(graphs())
def test_no_place_covers_another_and_the_same_graph_lies_the_same(
    graph: tuple[int, list[tuple[int, int]]],
) -> None:
    count, edges = graph
    sizes = [(150.0 + 7 * (n % 5), 110.0 + 9 * (n % 4)) for n in range(count)]
    points = layout(count, edges, sizes, 270.0)
    assert np.isfinite(points).all()
    assert np.array_equal(points, layout(count, edges, sizes, 270.0))
    for a in range(count):
        for b in range(a):
            gaps = np.abs(points[a] - points[b])
            over = [(sizes[a][i] + sizes[b][i]) / 2 - gaps[i] for i in (0, 1)]
            assert min(over) <= 1.0


def test_a_grid_of_rooms_lies_as_a_grid() -> None:
    number = {room: n for n, room in enumerate((x, y) for x in range(3) for y in range(3))}
    points = layout(9, [(number[a], number[b]) for a, b in GRID], [(150.0, 120.0)] * 9, 270.0)
    for a, b in GRID:
        way = np.abs(points[number[a]] - points[number[b]])
        assert way.min() < 20
        assert way.max() > 200


def test_a_corridor_lies_across_in_its_order() -> None:
    points = layout(6, [(n, n + 1) for n in range(5)], [(100.0, 80.0)] * 6, 200.0)
    assert list(np.argsort(points[:, 0])) == [0, 1, 2, 3, 4, 5]
    assert np.ptp(points[:, 1]) < 60


def test_no_places_have_no_layout() -> None:
    assert layout(0, [], [], 200.0).shape == (0, 2)


# --- pictures ---------------------------------------------------------------------------------------------


def test_the_map_is_the_same_every_time_and_names_places_and_counts(tmp_path: Path) -> None:
    for name in ("one.svg", "two.svg"):
        map_svg(HOUSE, tmp_path / name, title="robot")
    first = (tmp_path / "one.svg").read_bytes()
    assert first == (tmp_path / "two.svg").read_bytes()
    words = "".join(ElementTree.fromstring(first).itertext())
    for expected in (
        "robot", "Kitchen", "Hall & stairs", "浴室", "0 episodes · 1 visit", "2 episodes · 3 visits",
        "3 places · 120 steps · 6 visits · 6 moves", "40", "60",
    ):  # fmt: skip
        assert expected in words


@pytest.mark.slow
@pytest.mark.parametrize(
    "seen",
    [
        places(["alone"]),
        places(["a", "b", "c"]),
        places([f"room {n}" for n in range(30)], [(f"room {n}", f"room {n // 2}", n) for n in range(1, 30)]),
        places([f"room {n}" for n in range(60)], [(f"room {n}", f"room {n - 1}", 1) for n in range(1, 60)]),
        places(["same", "other"], [("same", "same", 4)]),
    ],
)
def test_every_map_makes_a_picture_with_everything_inside(seen: PlaceSummary, tmp_path: Path) -> None:
    map_png(seen, tmp_path / "map.png")
    map_svg(seen, tmp_path / "map.svg")
    root = ElementTree.parse(tmp_path / "map.svg").getroot()
    width, height = map(float, root.attrib["viewBox"].split()[2:])
    for text in root.iter("{http://www.w3.org/2000/svg}text"):
        x, y = (float(text.get(axis, "nan")) for axis in "xy")
        if np.isfinite([x, y]).all():
            assert 0 <= x <= width
            assert 0 <= y <= height


def test_without_places_there_is_no_map(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no step told where it was"):
        map_svg(PlaceSummary((), ()), tmp_path / "map.svg")
    assert map_terminal(PlaceSummary((), ())) == "No places yet."


@pytest.mark.slow
def test_the_busiest_of_many_places_are_drawn_and_the_rest_is_told(tmp_path: Path) -> None:
    map_svg(places([f"room {n}" for n in range(60)]), tmp_path / "map.svg")
    words = "".join(ElementTree.parse(tmp_path / "map.svg").getroot().itertext())
    assert "60 places" in words
    assert "drawn: the 40 with most steps" in words
    assert "room 59" in words
    assert "room 19" not in words


# --- the terminal -----------------------------------------------------------------------------------------


def test_the_terminal_lists_places_with_steps_and_where_they_led() -> None:
    lines = map_terminal(HOUSE, 100, title="robot").splitlines()
    assert lines[0] == "robot · 3 places · 120 steps · 6 visits · 6 moves"
    assert lines[2].startswith("Kitchen        █████▍")
    assert lines[2].endswith("20 steps, 1 visit, 0 episodes")
    assert lines[3].strip() == "→ Hall & stairs 3"
    assert lines[5].strip() == "→ Kitchen 2, 浴室 1"


@settings(max_examples=share(40), deadline=None)
@given(st.integers(40, 160), st.lists(st.text(max_size=40), min_size=1, max_size=8, unique=True))
def test_no_line_is_wider_than_the_terminal_and_no_place_controls_it(width: int, names: list[str]) -> None:
    seen = places(names, [(names[0], name, 2) for name in names])
    for line in map_terminal(seen, width, title=names[0]).split("\n"):
        assert cell_len(line) <= width
        assert all(character.isprintable() for character in line)


# --- the command ------------------------------------------------------------------------------------------


@pytest.fixture
def walked(run: Run, tmp_path: Path) -> Run:
    walk = tmp_path / "walk.jsonl"
    rooms = ["hall"] * 12 + ["kitchen"] * 15 + ["hall"] * 12
    walk.write_text("".join(f'{{"number": {n}, "place": "{room}"}}\n' for n, room in enumerate(rooms)))
    assert (
        run("run", "--policy", "steps", "--sensor", f"replay:{walk}", "--thread", "robot", "--quiet").code
        == 0
    )
    run("add", "I am moving to Lisbon", "--thread", "talk")
    return run


def test_the_command_maps_a_thread_or_all_of_a_memory(walked: Run, tmp_path: Path) -> None:
    for value in ((), ("--thread", "robot")):
        seen = walked("map", *value, "--json").json
        assert [(p["label"], p["steps"], p["visits"]) for p in seen["places"]] == [
            ("hall", 24, 2),
            ("kitchen", 15, 1),
        ]
        assert sorted((m["source"], m["target"], m["count"]) for m in seen["moves"]) == [
            ("hall", "kitchen", 1),
            ("kitchen", "hall", 1),
        ]
    assert "hall" in walked("map").out
    assert walked("map", "--thread", "robot", "-o", tmp_path / "map.svg").out == ""
    assert walked("map", "-o", tmp_path / "map.png").code == 0
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
    assert "robot" in "".join(ElementTree.parse(tmp_path / "map.svg").getroot().itertext())


@pytest.mark.parametrize(
    ("given_", "code", "problem"),
    [
        (("--thread", "talk"), 3, "thread 'talk' has no places: no step told its `location`"),
        (("--thread", "nobody"), 3, "no thread 'nobody'"),
        (("--output", "map.jpg"), 2, "must end in .svg or .png"),
        (("--output", "nowhere/map.svg"), 2, "cannot write nowhere/map.svg"),
    ],
)
def test_what_cannot_be_mapped_is_one_line(
    walked: Run, given_: Sequence[str], code: int, problem: str
) -> None:
    done = walked("map", *given_)
    assert problem in done.error
    assert done.code == code


def test_a_memory_of_conversations_has_no_map(run: Run) -> None:
    run("add", "I am moving to Lisbon", "--thread", "talk")
    assert "this memory has no places" in run("map").error
    assert run("map", "--json").json == {"places": [], "moves": []}
