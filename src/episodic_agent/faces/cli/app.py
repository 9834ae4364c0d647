"""What every command shares: the opened memory, JSON output, progress, and errors as one line."""

import dataclasses
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import Enum
from typing import Any
from uuid import UUID

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

from episodic_agent.core.intake import read_time
from episodic_agent.engine.memory import Memory as Engine
from episodic_agent.errors import NotFound
from episodic_agent.faces.cli.saying import say
from episodic_agent.wiring import Memory, database_path, is_server, load_settings, without_password

__all__ = [
    "App",
    "common",
    "moment",
    "out",
    "parse_id",
    "plain",
    "print_json",
    "progress_bar",
    "say",
    "say_replaced",
]
WIDE = 120  # columns where there is no terminal to ask
ID = 8  # characters of an id shown to people; commands accept the beginning of an id


@dataclass(slots=True)
class App:
    """One invocation of the command: where the memory is and how to speak."""

    db: str | None = None
    policy: str | None = None
    embedder: str | None = None
    debug: bool = False
    calibration: str | None = None
    llm: str | None = None

    @property
    def url(self) -> str:
        """Return the database the command works on."""
        return self.db or load_settings().db

    @property
    def shown_url(self) -> str:
        """Return the database as it may be printed."""
        return without_password(self.url)

    @contextmanager
    def memory(
        self,
        *,
        create: bool = False,
        user: str | None = None,
        space: str | None = None,
        resume: bool = False,
    ) -> Iterator[Engine]:
        """Open the memory; reading commands refuse a file that is not there instead of making one."""
        path = None if is_server(self.url) else database_path(self.url)
        if path and not create and not path.exists():
            raise NotFound(f"no memory at {path}; `episodic --db {path} import FILE` or `init` makes one")
        with Memory.open(
            self.url,
            policy=self.policy,
            embedder=self.embedder,
            calibration=self.calibration,
            language_model=self.llm,
            user_id=user,
            space=space,
            say=say,
            resume=resume,  # most commands do what they were asked for and leave
        ) as memory:
            yield memory


def moment(text: str | None) -> datetime | None:
    """Read a time given as an option; InvalidInput for what is none."""
    return None if text is None else read_time(text).at


def say_replaced(asked: UUID, shown: UUID) -> None:
    """Say that another episode is shown than the one asked for, and why."""
    say(f"episode {asked} was replaced when its thread was segmented again; this is {shown}")


def out() -> Console:
    """Return the console for people (plain and wide when standard output is no terminal)."""
    wide = None if sys.stdout.isatty() else WIDE
    return Console(highlight=False, soft_wrap=wide is not None, width=wide)


def plain(value: Any) -> Any:
    """Turn results into JSON: dataclasses to objects, times to ISO 8601, spans to seconds, ids to strings."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, date):  # or a time, which is one too
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain(v) for v in value]
    return value


def print_json(value: Any) -> None:
    """Print one JSON object and nothing else."""
    click.echo(json.dumps(plain(value), ensure_ascii=False))


def common(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options every command has: `--json` and `--user`."""
    with_user = click.option("--user", metavar="NAME", help="Whose memory (default: `default`).")
    with_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object for scripts.")
    return with_user(with_json(click.pass_obj(function)))


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[int], None]]:
    """Show a count and a rate on standard error while something long runs; silent without a terminal."""
    console = Console(stderr=True)
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(label, total=None)
        yield lambda done: progress.update(task, completed=done)


def parse_id(text: str, memory: Engine, user: str | None) -> UUID:
    """Read an episode id, whole or as its unambiguous beginning; NotFound otherwise."""
    try:
        return UUID(text)
    except ValueError:
        pass
    listed = [c.episode_id for c in memory.episodes(user_id=user)]
    found = [one for one in listed if str(one).startswith(text.lower())]
    if not found:
        found = [one for one in memory.part_ids(user_id=user) if str(one).startswith(text.lower())]
    if not found:
        found = [one for one in memory.replaced(user_id=user) if str(one).startswith(text.lower())]
    if len(found) == 1:
        return found[0]
    problem = "no episode begins with" if not found else f"{len(found)} episodes begin with"
    raise NotFound(f"{problem} {text!r}; `episodic episodes` lists the ids")
