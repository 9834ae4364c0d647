"""What every command shares: the opened memory, output, progress, and errors as one line."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import click
from click.core import ParameterSource

from episodic_agent.core.ingest import read_time
from episodic_agent.core.threads.channels import channel_name
from episodic_agent.engine.trace.acts import calling
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.faces.cli.saying import make_sure, say, say_error, tell, tell_json
from episodic_agent.lazily import module
from episodic_agent.schemas import Caller
from episodic_agent.showing import ID, plain

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from episodic_agent import wiring
    from episodic_agent.engine import lived, scoped
    from episodic_agent.engine import memory as engine
    from episodic_agent.engine.lived import Timed
    from episodic_agent.engine.memory import Memory as Engine
    from episodic_agent.engine.user import UserMemory
    from episodic_agent.faces import finding, wording
    from episodic_agent.faces.cli import printing
else:
    engine = module("episodic_agent.engine.memory")
    lived = module("episodic_agent.engine.lived")
    scoped = module("episodic_agent.engine.scoped")
    finding = module("episodic_agent.faces.finding")
    printing = module("episodic_agent.faces.cli.printing")
    wiring = module("episodic_agent.wiring")
    wording = module("episodic_agent.faces.wording")

__all__ = [
    "ID",
    "STANDARD",
    "App",
    "Listing",
    "check_output",
    "common",
    "elsewhere",
    "everybody",
    "force",
    "lines_in",
    "make_sure",
    "moment",
    "names_of_only",
    "out",
    "parse_id",
    "past",
    "print_json",
    "progress_bar",
    "say",
    "say_error",
    "say_more",
    "say_replaced",
    "standard_input",
    "table",
    "tell",
    "tell_json",
    "whose",
    "with_json",
    "with_user",
]
WHOSE = "name whose memory it is with --user NAME, or set EPISODIC_USER"
STANDARD = "-"  # standard input, or output, in the place of a text or a file
force = click.option("--force", "overwrite", is_flag=True, help="Overwrite a file without asking.")


class Listing(click.Group):
    """A group of commands that lists (or shows), with the options for that, where none of them is named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `list`, or `show` where there is none, before options alone; help stays that of the group."""
        named = any(one in self.commands or one in ctx.help_option_names for one in args)
        listed = not named and not (args and not args[0].startswith("-"))
        first = "list" if "list" in self.commands else "show"
        return super().parse_args(ctx, [first, *args] if listed else args)


@dataclass(slots=True)
class App:
    """One invocation of the command: where the memory is and how to speak."""

    db: str | None = None
    policy: str | None = None
    embedder: str | None = None
    debug: bool = False
    calibration: str | None = None
    llm: str | None = None
    as_of: datetime | None = None
    user_name: str | None = None
    as_json: bool = False

    @property
    def url(self) -> str:
        """Return the database the command works on."""
        if self.db is not None and not self.db.strip():
            raise InvalidInput("--db is empty; name a file or a postgresql:// URL")
        return self.db or wiring.load_settings().db

    @property
    def on_server(self) -> bool:
        """Tell whether the database is on a server, where each user's rows stand apart."""
        return wiring.is_server(self.url)

    @property
    def shown_url(self) -> str:
        """Return the database as it may be printed."""
        return wiring.without_password(self.url)

    @contextmanager
    def memory(
        self,
        *,
        create: bool = False,
        space: str | None = None,
        resume: bool = False,
    ) -> "Iterator[Engine]":
        """Open the memory; reading commands refuse a file that is not there instead of making one."""
        path = None if wiring.is_server(self.url) else wiring.database_path(self.url)
        left = path and path.with_name(f"{path.name}-wal").exists()  # its log alone: opening says so
        if path and not create and not left:
            _check_there(path)
        who = calling(Caller("cli"))
        with (
            who,
            wiring.Memory.open(
                self.url,
                policy=self.policy,
                embedder=self.embedder,
                calibration=self.calibration,
                language_model=self.llm,
                space=space,
                say=say,
                resume=resume,  # most commands do what they were asked for and leave
            ) as memory,
        ):
            try:
                yield memory
            except scoped.UnknownUser as error:
                if words := elsewhere(memory):
                    raise NotFound(words) from error
                raise

    @contextmanager
    def user(self, *, create: bool = False, first: str | None = None) -> "Iterator[UserMemory]":
        """Open one user's memory: the one named, EPISODIC_USER, or the only one there is.

        `first` is whose it is where nobody is remembered yet; without it that must be said.
        """
        nameless = not (self.user_name or first or wiring.load_settings().user)
        if create and nameless:  # no file is made for nobody
            create = wiring.is_server(self.url) or wiring.database_path(self.url).exists()
            if not create:
                raise InvalidInput(f"{WHOSE}; nobody is remembered here yet")
        with self.memory(create=create) as memory:
            yield self.asked(whose(memory, self.user_name, first=first))

    def asked(self, memory: "UserMemory") -> "UserMemory":
        """Return a user's memory as it is, or as it stood at the moment that was asked for."""
        return memory if self.as_of is None else memory.as_of(self.as_of)

    def shown(self, memory: "UserMemory", timed: "Sequence[Timed]") -> "Sequence[Timed]":
        """Return what was answered with its times as they were lived, for people; JSON has them in UTC."""
        return timed if self.as_json else lived.as_lived(memory, timed)

    def reply(self, value: Any, text: str) -> None:
        """Print what was asked for: as JSON for scripts, as a text for people."""
        if self.as_json:
            print_json(value)
        else:
            tell(text)

    def answered(self, value: Any, items: Sequence[Any], nothing: str) -> bool:
        """Print a listing as JSON for scripts, or say that it has `nothing`; tell whether that was all."""
        if self.as_json:
            print_json(value)
        elif not items:
            say(nothing)
        return self.as_json or not items

    def remark(self, value: Any, text: str) -> None:
        """Print JSON for scripts, for people a remark on standard error: nothing was asked for but an act."""
        if self.as_json:
            print_json(value)
        else:
            say(text)


def whose(memory: "Engine", name: str | None, *, first: str | None = None) -> "UserMemory":
    """Return the memory of the user named, of EPISODIC_USER, or of the only one there is.

    Where there is none it is that of `first`. Raises InvalidInput, which lists the users, otherwise.
    """
    if name is not None:
        return memory.user(name)
    if settled := wiring.load_settings().user:
        return memory.user(settled, new=True)
    users = memory.users()
    if len(users) == 1:
        return memory.user(users[0])
    if first is not None and not users:
        return memory.user(first, new=True)
    raise InvalidInput(f"{WHOSE}; {elsewhere(memory) or wording.users_words(users)}")


def elsewhere(memory: "Engine") -> str:
    """Say where users are remembered if none is in this space; "" where some are, or none is anywhere."""
    spaces = [] if memory.users() else engine.Spaces(memory).remembering()
    return wording.spaces_words(spaces) if spaces else ""


def everybody(memory: "Engine", first: str) -> list[str]:
    """Return whose memories there are, and EPISODIC_USER, who may be erased by now; `first` for nobody's."""
    users, settled = memory.users(), wiring.load_settings().user
    return sorted({*users, *([settled] if settled else [])}) or [first]


def moment(text: str | None) -> datetime | None:
    """Read a time given as an option; InvalidInput for what is none."""
    return None if text is None else read_time(text).lived


def say_more(count: int, limit: int) -> None:
    """Say below a listing that there are more than it shows; it asks for one more than that to know."""
    if count > limit:
        say(f"there are more than these {limit:,}; --limit N shows more")


def say_replaced(asked: UUID, shown: UUID) -> None:
    """Say that another episode is shown than the one asked for, and why."""
    say(f"episode {asked} was replaced when its thread was segmented again; this is {shown}")


def out() -> "Console":
    """Return the console for people (plain and wide when standard output is no terminal)."""
    return printing.out()


def names_of_only(memory: "UserMemory", names: Sequence[str]) -> list[str] | None:
    """Return what `--only` names as `--thread` does: a title stands for the thread that it alone has.

    Threads and channels by their own names go before. What holds a memory to threads takes no titles: they
    may be given anew.
    """
    if not names or memory.missing:
        return list(names) or None
    threads = memory.threads.list()
    own = {name for thread in threads for name in (thread.origin, str(thread.id))}
    channels = {channel_name(channel) for thread in threads for channel in thread.channels}
    titles = {(thread.title or "").casefold() for thread in threads}
    return [
        name
        if name in own or channel_name(name) in channels or name.strip().casefold() not in titles
        else memory.threads.get(name).thread.origin  # NotFound where several have it
        for name in names
    ]


def print_json(value: Any) -> None:
    """Print one JSON object and nothing else."""
    tell_json(json.dumps(plain(value), ensure_ascii=False))


def _keep(context: click.Context, option: click.Parameter, value: Any) -> None:
    """Keep in the `App` what an option says, wherever it stands: before the command's name or behind it."""
    app = context.find_object(App)
    if app is not None and option.name is not None:
        stands_here = context.get_parameter_source(option.name) is ParameterSource.COMMANDLINE
        setattr(app, option.name, value if stands_here else context.meta.get(option.opts[0], value))


with_user = click.option(
    "--user",
    "user_name",
    metavar="NAME",
    expose_value=False,
    callback=_keep,
    help="Whose memory (default: EPISODIC_USER, or the only user there is).",
)
with_json = click.option(
    "--json",
    "as_json",
    is_flag=True,
    expose_value=False,
    callback=_keep,
    help="Print one JSON object for scripts.",
)


def common(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command its `App`, and the options every command has: `--json` and `--user`."""
    return with_user(with_json(click.pass_obj(function)))


def past(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command that reads the option to read what was known at a moment."""

    def remember(context: click.Context, _parameter: click.Parameter, text: str | None) -> None:
        app = context.find_object(App)
        if text is not None and app is not None:
            app.as_of = moment(text)

    return click.option(
        "--as-of",
        metavar="MOMENT",
        expose_value=False,
        callback=remember,
        help="As the memory stood then: what was known, whatever came since.",
    )(function)


def table(*columns: str, right: Sequence[str] = ()) -> "Table":
    """Return a table for people: see `printing.table`."""
    return printing.table(columns, right)


def progress_bar(label: str, total: int | None = None) -> AbstractContextManager[Callable[[int], None]]:
    """Show on standard error how much of something long is done: a bar, or a line every ten seconds."""
    return printing.progress_bar(label, total)


def standard_input() -> bytes:
    """Return what standard input holds; InvalidInput for nothing."""
    data = sys.stdin.buffer.read()
    if not data.strip():
        raise InvalidInput("standard input is empty; pipe something into it, or name it in the place of `-`")
    return data


def lines_in(path: Path) -> int | None:
    """Return how many lines a file of a record a line has, to say how far its import is; None for another."""
    if path.suffix not in (".jsonl", ".ndjson") or not path.is_file():
        return None
    with path.open("rb") as file:
        return sum(piece.count(b"\n") for piece in iter(lambda: file.read(1 << 20), b""))


def parse_id(text: str, memory: "UserMemory") -> UUID:
    """Read an episode id, whole or as its unambiguous beginning; NotFound otherwise."""
    return finding.episode_id(text, memory)


def check_output(path: Path | None, *, overwrite: bool, makes_folder: bool = False) -> None:
    """Ask before a file is overwritten; without a terminal to ask at, raise InvalidInput.

    Call it before any work is done: nobody wants to be asked at the end of it. The memory's own files are
    never written over. A command that `makes_folder` needs none to be there.
    """
    if path is None:
        return
    if _is_memory(path):
        raise InvalidInput(f"{path} is the memory itself; name another file")
    if path.is_dir():
        raise InvalidInput(f"{path} is a folder; name a file in it")
    if not makes_folder and not path.parent.is_dir():
        raise InvalidInput(f"cannot write {path}: there is no folder {path.parent}; make it first")
    if overwrite or not path.is_file():  # a pipe or a terminal loses nothing
        return
    if not sys.stdin.isatty():
        raise InvalidInput(f"{path} exists already; overwrite it with --force, or name another file")
    make_sure(f"{path} exists already. Overwrite it?")


def _check_there(path: Path) -> None:
    """Raise NotFound where nothing is to be read: a reading command makes no memory."""
    makes = f"`episodic --db {path} import FILE` or `init` makes one"
    if not path.exists():
        raise NotFound(f"no memory at {path}; {makes}")
    if path.is_file() and not path.stat().st_size:
        raise NotFound(f"no memory in {path}: the file is empty; {makes}")


def _is_memory(path: Path) -> bool:
    context = click.get_current_context(silent=True)
    app = None if context is None else context.find_object(App)
    if app is None or wiring.is_server(app.url):
        return False
    own = wiring.database_path(app.url)
    names = [own, *(own.with_name(own.name + end) for end in ("-wal", "-shm", "-journal"))]
    return any(
        path.resolve() == one.resolve() or (path.exists() and one.exists() and path.samefile(one))
        for one in names
    )
