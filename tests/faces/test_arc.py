"""Arcs as pictures: a row for each session, a lane for each branch, how and how surely each goes on."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID
from xml.etree import ElementTree

import numpy as np
import pytest
from builders.chats import mine
from builders.commands import Run
from builders.examples import share
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from episodic_agent import Memory
from episodic_agent.core.chains.trees import laid_out
from episodic_agent.engine.chains.arcs import Arc, ArcStep
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.plots import arc_png, arc_svg, arc_terminal
from episodic_agent.schemas import Scope
from episodic_agent.schemas.chains import TreeNode

AT = datetime(2026, 3, 4, 9, 12, tzinfo=UTC)
LEAK = "Fix <b>&amp; $x^2$"


def arc(titles: Sequence[str], parents: Sequence[int | None], gap: float = 1.0, **more: object) -> Arc:
    """Build an arc: sessions `gap` days apart, each with the number of its parent."""
    ids = [UUID(int=n + 1) for n in range(len(titles))]
    nodes = [
        TreeNode(ids[n], None if p is None else ids[p], AT + timedelta(days=gap * n))
        for n, p in enumerate(parents)
    ]
    steps = [
        ArcStep(
            episode_id=place.id,
            parent_episode_id=place.parent,
            title=titles[place.id.int - 1],
            start_at=nodes[place.id.int - 1].start_at,
            end_at=nodes[place.id.int - 1].start_at + timedelta(minutes=9),
            row=place.row,
            lane=place.lane,
            **({"method": "auto", "score": 0.873, "threshold": 0.4, **more} if place.parent else {}),  # type: ignore[arg-type]
        )
        for place in laid_out(nodes)
    ]
    return Arc(ids[0], steps)


STORY = arc(["The leak", LEAK, "记忆泄漏", "Another attempt"], [None, 0, 1, 0])


def words(path: Path) -> str:
    return "".join(ElementTree.parse(path).getroot().itertext())


@pytest.mark.slow
def test_the_picture_is_the_same_every_time_and_tells_titles_days_and_links(tmp_path: Path) -> None:
    for name in ("one.svg", "two.svg"):
        arc_svg(STORY, tmp_path / name, title="a & b")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    text = words(tmp_path / "one.svg")
    for expected in (
        "a & b", "The leak", LEAK, "记忆泄漏", "4 Mar 2026", "09:12", "found: 0.87, linked from 0.40 on",
        "4 sessions · 4 days · 2 branches",
    ):  # fmt: skip
        assert expected in text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "sure", "expected"),
    [
        ("auto", False, "found: 0.87, linked from 0.40 on, unsure"),
        ("hand", True, "by hand"),
        ("explicit", True, "named by the caller"),
        ("roll", True, "the next part of its thread"),
        ("inherited", True, "its parent was erased"),
    ],
)
def test_how_a_session_goes_on_stands_in_every_form(
    method: str, sure: bool, expected: str, tmp_path: Path
) -> None:
    this_arc = arc(["a", "b"], [None, 0], method=method, sure=sure)
    arc_svg(this_arc, tmp_path / "arc.svg")
    assert expected in words(tmp_path / "arc.svg")
    assert expected in arc_terminal(this_arc)


@pytest.mark.slow
@pytest.mark.parametrize(
    "seen",
    [
        arc(["alone"], [None]),
        arc([""] * 3, [None, 0, 0]),
        arc([f"session {n}" for n in range(60)], [None, *(n // 2 for n in range(59))]),
        arc([f"session {n}" for n in range(30)], [None, *[0] * 29]),
        arc(["w" * 300, "字" * 300], [None, 0], gap=200.0),
        arc(["a", "b", "c"], [2, 0, 1]),  # a circle, which a damaged store may hold
    ],
)
def test_every_arc_makes_a_picture_with_everything_inside(seen: Arc, tmp_path: Path) -> None:
    arc_png(seen, tmp_path / "arc.png")
    assert (tmp_path / "arc.png").read_bytes().startswith(b"\x89PNG")
    arc_svg(seen, tmp_path / "arc.svg")
    root = ElementTree.parse(tmp_path / "arc.svg").getroot()
    width, height = map(float, root.attrib["viewBox"].split()[2:])
    for text in root.iter("{http://www.w3.org/2000/svg}text"):
        x, y = (float(text.get(axis, "nan")) for axis in "xy")
        assert np.isnan(x) or 0 <= x <= width  # nan where it is placed by its style
        assert np.isnan(y) or 0 <= y <= height
    assert len(arc_terminal(seen).splitlines()) >= len(seen.steps)


@pytest.mark.slow
def test_of_a_very_long_arc_the_latest_are_drawn_and_the_rest_is_told(tmp_path: Path) -> None:
    long = arc([f"session {n}." for n in range(120)], [None, *range(119)])
    arc_svg(long, tmp_path / "arc.svg")
    text = words(tmp_path / "arc.svg")
    assert "120 sessions" in text
    assert "drawn: the latest 80" in text
    assert "session 119." in text
    assert "session 39." not in text
    assert arc_terminal(long).count("found: ") == 119


def test_an_arc_without_sessions_is_no_picture(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no sessions"):
        arc_svg(Arc(UUID(int=1), ()), tmp_path / "arc.svg")
    assert arc_terminal(Arc(UUID(int=1), ())) == "No sessions yet."


def test_the_terminal_draws_branches_as_lanes_and_tells_a_long_rest() -> None:
    seen = arc(["one", "two", "three", "four"], [None, 0, 0, 1], gap=40.0)
    assert [line[13:19].rstrip() for line in arc_terminal(seen).splitlines()[2:]] == [
        "◉    o", "├─╮  0", "│ │  3", "● │  t", "│ │  0", "│ │  3", "│ ●  t", "│    0", "│    3", "●    f", "     0",
    ]  # fmt: skip


@settings(max_examples=share(40), deadline=None)
@given(
    st.integers(40, 160),
    st.lists(st.tuples(st.text(max_size=40), st.integers(0, 30)), min_size=1, max_size=25),
    st.booleans(),
)
def test_no_line_is_wider_than_the_terminal_and_no_title_controls_it(
    width: int, sessions: list[tuple[str, int]], sure: bool
) -> None:
    parents = [None if n == 0 else earlier % n for n, (_, earlier) in enumerate(sessions)]
    drawn = arc_terminal(arc([title for title, _ in sessions], parents, sure=sure), width)
    for line in drawn.split("\n"):
        assert cell_len(line) <= width
        assert all(character.isprintable() for character in line)


# --- what the engine tells of an arc, and the command ------------------------------------------------------


def session(memory: Memory, name: str, day: int, *texts: str) -> UUID:
    at = AT + timedelta(days=day)
    items = [
        {"role": "user", "content": text, "timestamp": (at + timedelta(minutes=n)).isoformat()}
        for n, text in enumerate(texts)
    ]
    mine(memory).add(items, thread=name)
    mine(memory).threads.close(name)
    memory.jobs.run()
    (section,) = mine(memory).sections.list(thread=name, limit=1)
    return section.episode_id


@pytest.fixture
def told(url: str) -> Memory:
    return Memory.open(url, embedder="none", policy="seed-001")


@pytest.mark.slow
def test_an_arc_tells_how_each_session_came_to_its_parent(told: Memory, tmp_path: Path) -> None:
    with told as memory:
        first = session(
            memory, "one", 0, "The ingest worker leaks memory.", "I take heap dumps of the worker."
        )
        identifier = session(
            memory, "two", 1, "Back to the ingest worker: both heap dumps of its memory are in."
        )
        bread = session(memory, "bread", 2, "What's a good ratio of flour to water for rye bread?")
        mine(memory).chains.add(bread, identifier)
        seen = mine(memory).chains.arc(bread)
        assert [(s.episode_id, s.parent_episode_id, s.method) for s in seen.steps] == [
            (first, None, ""),
            (identifier, first, "auto"),
            (bread, identifier, "hand"),
        ]
        assert seen.asked == bread
        auto = seen.steps[1]
        assert auto.score is not None
        assert auto.threshold is not None
        assert auto.score >= auto.threshold
        mine(memory).erase(thread="two")
        assert [(s.episode_id, s.method) for s in mine(memory).chains.arc(bread).steps] == [
            (first, ""),
            (bread, "inherited"),
        ]
        with memory._deps.store.begin(Scope("default", "default")) as tx:
            tx.episodes.lead(first, bread)
        arc_svg(mine(memory).chains.arc(first), tmp_path / "circle.svg")
        with pytest.raises(NotFound, match="no episode"):
            mine(memory).chains.arc(UUID(int=1))


def test_the_command_draws_an_arc(run: Run, database: Path, tmp_path: Path) -> None:
    with Memory.open(database, embedder="none", policy="seed-001") as memory:
        first = session(
            memory, "one", 0, "The ingest worker leaks memory.", "I take heap dumps of the worker."
        )
        session(memory, "two", 1, "Back to the ingest worker: both heap dumps of its memory are in.")
    assert "2 sessions · 2 days" in run("arc", first).out
    for name in ("arc.svg", "arc.png"):
        assert run("arc", first, "-o", tmp_path / name).out == ""
        assert (tmp_path / name).stat().st_size > 1000
    shown = run("arc", first, "--json").json
    assert [(step["row"], step["lane"], step["method"]) for step in shown["steps"]] == [
        (0, 0, ""),
        (1, 0, "auto"),
    ]
    for value, code, problem in (
        ((first, "-o", "arc.jpg"), 2, "must end in .svg or .png"),
        ((first, "-o", "nowhere/arc.svg"), 2, "cannot write nowhere/arc.svg"),
        ((UUID(int=1),), 3, "no episode"),
        (("nonsense",), 3, "no episode"),
    ):
        done = run("arc", *value)
        assert problem in done.error
        assert done.code == code
