"""What others wrote is shown and never obeyed: every command, on a memory with escape sequences everywhere."""

import io
import json
import logging
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import click
import pytest
from builders.chats import mine
from builders.commands import Run
from builders.hostile import ACTING, MARKUP, NOW, PLACE, THREAD, TOOL, UNSEEN, furnish
from rich.color import ColorSystem
from rich.table import Table
from rich.text import Text

from episodic_agent import Memory
from episodic_agent.core.language import escaped, visible
from episodic_agent.faces.cli import saying
from episodic_agent.faces.cli.main import cli
from episodic_agent.faces.cli.printing import Printed
from episodic_agent.faces.plot.arc import arc_svg, arc_terminal
from episodic_agent.faces.plot.figure import plot_svg
from episodic_agent.faces.plot.map import map_svg, map_terminal
from episodic_agent.faces.plot.terminal import plot_terminal

OTHER = f"other{UNSEEN}"
# Arguments of every command; {names} are ids in the memory. Those after are told to print what is stored.
PRINTING: Mapping[str, tuple[str, ...]] = {
    "search": ("garden hose", "--explain", "--suppressed"),
    "retrieve": ("garden hose", "--detail", "high"),
    "context": ("Where is the garden hose?", "--thread", THREAD, "--sources"),
    "recent": (),
    "episodes": (),
    "show": ("{episode}",),
    "sequence": ("garden",),
    "replay": ("garden",),
    "threads": (),
    "thread show": (THREAD,),
    "thread close": (THREAD,),
    "thread rename": (THREAD, f"Again {UNSEEN}"),
    "link list": (),
    "link unlink": (THREAD, OTHER),
    "session show": ("{session}",),
    "session list": (),
    "session end": ("{session}",),
    "chain": ("{episode}",),
    "arc": ("{episode}",),
    "facts list": (),
    "facts search": ("lisbon",),
    "facts show": ("{fact}",),
    "facts history": ("{fact}",),
    "facts edit": ("{fact}", "--text", f"Ana lives {UNSEEN}"),
    "facts pin": ("{fact}",),
    "facts unpin": ("{fact}",),
    "facts confirm": ("{fact}",),
    "facts delete": ("{fact}",),
    "people list": (),
    "places": (),
    "visits": (f"{PLACE}1",),
    "route": ("walk",),
    "explain": ("{episode}",),
    "trace": ("{observation}", "--text"),
    "map": (),
    "stats": (),
    "forget thread": (THREAD, "--dry-run"),
    "forget speaker": (f"user {UNSEEN}", "--dry-run"),
    "forget words": (f"radio. {UNSEEN}", "--dry-run"),
    "pinned": (),
    "suppress": ("--thread", THREAD, "--reason", UNSEEN),
    "suppressed": (),
    "pin": ("--thread", THREAD, "--reason", UNSEEN),
    "export": (),
    "link add": (THREAD, OTHER),
}
OTHERS: Mapping[str, tuple[str, ...]] = {
    "init": (),
    "import": (f"/nowhere/{UNSEEN}",),
    "run": ("--policy", f"no{UNSEEN}"),
    "profiles": (),
    "sensors": (),
    "thread timeout": ("30",),
    "link outcome": (f"no{UNSEEN}", "CORRECT"),
    "session start": (f"More {UNSEEN}",),
    "compact": (),
    "summaries": (),
    "skills": (),
    "skill show": (TOOL,),
    "skill used": (TOOL,),
    "skill forget": (TOOL,),
    "facts learn": (),
    "people same": (f"no{UNSEEN}", "ana"),
    "people apart": (f"no{UNSEEN}",),
    "tune run": (f"no{UNSEEN}",),
    "tune dry-run": (f"no{UNSEEN}",),
    "tune history": (),
    "tune rollback": (f"no{UNSEEN}",),
    "tune outcome": (f"no{UNSEEN}", "CORRECT"),
    "reencode": (),
    "decisions": (),
    "rename": (f"no{UNSEEN}", f"A {UNSEEN} title"),
    "flush": (),
    "upkeep": (),
    "worker": ("--once",),
    "jobs retry": (f"no{UNSEEN}",),
    "jobs cancel": (f"no{UNSEEN}",),
    "usage": (),
    "forget user": (f"no{UNSEEN}", "--dry-run"),
    "forget receipts": (),
    "retention show": (),
    "retention set": (f"no{UNSEEN}",),
    "retention preview": (),
    "retention apply": (),
    "doctor": (),
    "backup": (f"/nowhere/{UNSEEN}",),
    "evaluate segmentation": (f"/nowhere/{UNSEEN}",),
    "evaluate retrieval": (f"/nowhere/{UNSEEN}",),
    "evaluate threads": (f"/nowhere/{UNSEEN}",),
    "evaluate lives": (f"/nowhere/{UNSEEN}",),
    "models list": (),
    "config": (),
    "thread select": (THREAD, "--channel", f"sms{UNSEEN}"),
    "link explain": (THREAD, OTHER),
    "whatif": (THREAD, "--policy", "default"),
    "resegment": (THREAD, "--policy", "default"),
    "plot": (THREAD, "--format", "terminal"),
    "forget observation": ("{observation}", "--dry-run"),
    "forget episode": ("{episode}", "--dry-run"),
    "forget check": (UNSEEN,),
    "unsuppress": ("--thread", OTHER),
    "unpin": ("{episode}",),
    "jobs list": (),
    "add": (f"More {UNSEEN}", "--thread", THREAD),
    "keys list": (),
    "keys create": ("--role", "read", "--space", "acme"),
    "keys revoke": (f"no{UNSEEN}",),
    "keys rotate": (f"no{UNSEEN}",),
    "changes": ("--since", "2000-01-01"),
    "audit": (),
    "jobs reembed": (),
    "hooks status": (),
}
# They serve until they are stopped, write into another program's settings, fetch a model, measure for minutes, need a server, or fill a new memory.
NOT_RUN = {
    "serve", "mcp", "models pull", "calibrate", "demo", "admin init-db", "admin index", "admin distribute", "admin scrub",
    "hooks install", "hooks remove", "hooks run", "hooks keep",
}  # fmt: skip


def commands(above: click.Command = cli, path: tuple[str, ...] = ()) -> Iterator[str]:
    if not isinstance(above, click.Group):
        yield " ".join(path)
        return
    for name, command in above.commands.items():
        yield from commands(command, (*path, name))


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    path = tmp_path_factory.mktemp("hostile") / "memory.db"
    with Memory.open(path, embedder="hashing", policy="seed-001", clock=lambda: NOW) as memory:
        return path, furnish(memory)


@pytest.fixture
def ids(furnished: tuple[Path, dict[str, str]], database: Path) -> dict[str, str]:
    for part in furnished[0].parent.iterdir():
        shutil.copy(part, database.parent / part.name)
    return furnished[1]


def test_every_command_is_tried() -> None:
    assert {*PRINTING, *OTHERS} | NOT_RUN == set(commands())
    assert not {*PRINTING} & {*OTHERS}


@pytest.mark.parametrize("name", [*PRINTING, *OTHERS])
def test_no_command_prints_what_acts_on_a_terminal(run: Run, ids: dict[str, str], name: str) -> None:
    values = [a.format(**ids) if a.startswith("{") else a for a in {**PRINTING, **OTHERS}[name]]
    for more in ((), ("--json",)):
        done = run(*name.split(), *values, *more)
        printed = done.out + done.err
        assert ACTING.findall(printed) == [], printed
        assert "Traceback" not in printed
        assert name not in PRINTING or more or re.search(r"\\x1b|\\u001b|\[red\]x", printed), printed
        if more and done.code == 0 and name != "export":
            json.loads(done.out)


def test_json_and_exports_say_the_same_as_before(run: Run, ids: dict[str, str], tmp_path: Path) -> None:
    shown = run("show", ids["episode"], "--json")
    assert shown.json["messages"][0]["text"].endswith(f"{UNSEEN}{MARKUP}")
    assert shown.json["messages"][0]["external_id"] == f"first{UNSEEN}"
    run("export", "--output", tmp_path / "whole.jsonl")
    printed = run("export").out
    assert ACTING.findall(printed) == []
    in_file = (tmp_path / "whole.jsonl").read_text(encoding="utf-8").rstrip("\n").split("\n")
    lines = printed.rstrip("\n").split("\n")
    assert len(lines) > 30
    assert list(map(json.loads, lines[1:])) == list(map(json.loads, in_file[1:]))  # the first says when


def test_an_error_is_one_line_whatever_names_stand_in_it(run: Run, ids: dict[str, str]) -> None:
    for value in (
        ("thread", "show", f"a\nerror: b{UNSEEN}"),
        ("show", f"\n{UNSEEN}"),
        ("import", f"x\ny{UNSEEN}"),
    ):
        assert ACTING.findall(run(*value).error) == []
    unknown = run(f"no{UNSEEN}")
    assert unknown.code == 2
    assert ACTING.findall(unknown.err) == []


def test_a_terminal_gets_styles_and_nothing_else_that_acts() -> None:
    written = io.StringIO()
    console = Printed(width=60)
    console.file, console._force_terminal, console._color_system = written, True, ColorSystem.STANDARD
    table = Table(title=MARKUP)
    table.add_column(f"name{UNSEEN}")
    table.add_row(Text(f"{UNSEEN}{MARKUP}", style="bold"))
    console.print(table)
    console.print(f"{UNSEEN}{MARKUP}", "plain")
    shown = written.getvalue()
    assert "\x1b[1m" in shown
    assert set(ACTING.findall(re.sub(r"\x1b\[[\d;]*m", "", shown))) == set()
    assert shown.count("[red]x[/red]") >= 2
    assert "smile" in shown


def test_what_modules_log_is_printed_like_everything_else(capsys: pytest.CaptureFixture[str]) -> None:
    saying.listen()
    record = logging.LogRecord("engine", logging.WARNING, "", 1, "a model said %s", (UNSEEN,), None)
    assert logging.lastResort is not None
    logging.lastResort.handle(record)
    assert capsys.readouterr().err == f"a model said {visible(UNSEEN)}\n"


def test_what_acts_unseen_is_shown_and_what_is_read_is_not_touched() -> None:
    plain = "naïve Straße 昨天 עברית فارسی 👩‍👩‍👧 🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f\ta\nb"
    assert visible(plain) == plain
    assert visible(UNSEEN) == (r"\x1b]52;c;cm0gLXJm\x07\x9b31m\x7f\u202egnp\u2066\u2028\x85\U000e0041")
    assert visible("one\r\ntwo\rthree\ud800") == "one\ntwo\\rthree\\ud800".replace("\\r", r"\x0d")
    for text in (plain, UNSEEN, '"\\\x7f'):
        written = escaped(json.dumps(text, ensure_ascii=False))
        assert json.loads(written) == text
        assert ACTING.findall(written) == []


def test_pictures_and_plots_hold_no_control_characters(
    furnished: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    with Memory.open(furnished[0], embedder="hashing", policy="seed-001", clock=lambda: NOW) as memory:
        traced, seen = mine(memory).boundaries.trace(THREAD), mine(memory).places.list()
        arc = mine(memory).chains.arc(furnished[1]["episode"])
    drawn = [
        plot_terminal(traced, colour=False),
        map_terminal(seen, title=f"$x^2$ {UNSEEN}"),
        arc_terminal(arc, title=f"$x^2$ {UNSEEN}"),
    ]
    for draw, what in ((plot_svg, traced), (map_svg, seen), (arc_svg, arc)):
        draw(what, tmp_path / "picture.svg")
        drawn.append((tmp_path / "picture.svg").read_text(encoding="utf-8"))
    assert [ACTING.findall(text) for text in drawn] == [[]] * 6
