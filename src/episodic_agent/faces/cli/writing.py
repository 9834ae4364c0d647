"""Commands that put experience in: init, add, import, flush, upkeep."""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from episodic_agent.core.language import plural
from episodic_agent.engine.arguments import file_path
from episodic_agent.engine.results import ImportReport
from episodic_agent.errors import InvalidInput
from episodic_agent.faces.cli.app import (
    STANDARD,
    App,
    common,
    lines_in,
    out,
    print_json,
    progress_bar,
    say,
    say_error,
    standard_input,
)
from episodic_agent.lazily import module
from episodic_agent.schemas.observations import ERASED
from episodic_agent.showing import plain

if TYPE_CHECKING:
    from episodic_agent import wiring
    from episodic_agent.engine.files import speakers
    from episodic_agent.engine.user import UserMemory
else:
    wiring = module("episodic_agent.wiring")
    speakers = module("episodic_agent.engine.files.speakers")

PIPED = "stdin"  # what names the file, and the thread, of a chat that was piped
SHOWN = 20  # unreadable records listed for people; --json lists all


@click.command()
@common
def init(app: App) -> None:
    """Create the memory file and fetch the embedding model, if need be."""
    with app.memory(create=True) as memory:
        memory.doctor()
    app.reply({"db": app.shown_url, "ready": True}, f"ready: {app.shown_url}")


@click.command()
@click.argument("text")
@click.option("--role", default="user", show_default=True, help="Who says it: a role or a name.")
@click.option("--thread", help="The thread it belongs to.")
@click.option("--channel", help="The channel it came by.")
@click.option("--timestamp", help="When it was said (ISO 8601 or epoch; default: now).")
@click.option("--id", help="Your own id of it: added once to its thread.")
@click.option("--ttl", metavar="SPAN", help='Erase it so long after its time: "30d", "12h", seconds.')
@click.option("--expires-at", metavar="TIME", help="Erase it at this time.")
@common
def add(app: App, text: str, **options: Any) -> None:
    """Remember one message; the TEXT `-` is read from standard input.

    JSON of an object with a `kind`, as of an agent's step, is that and no text.
    """
    if text == STANDARD:
        text = _piped_text()
    with app.user(create=True) as memory:
        receipts = memory.add(_event_in(text) or text, **options)
        memory.upkeep()  # nobody serves this memory: who comes by ends what fell silent
    receipt = receipts[0]
    if app.as_json:
        print_json(receipt)
    else:
        known = "erased, not added again" if receipt.state == ERASED else "known already"
        remedy = "; a new --id keeps it" if receipt.state == ERASED else ""
        out().print(f"{'added' if receipt.added else known}: {receipt.id} (seq {receipt.seq}){remedy}")


def _event_in(text: str) -> dict[str, Any] | None:
    """Return the event that a text is as JSON, None for any other text."""
    try:
        event = json.loads(text) if text.lstrip().startswith("{") else None
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) and "kind" in event else None


def _piped_text() -> str:
    """Return standard input as a text: the line end at its end belongs to the pipe."""
    try:
        return standard_input().decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise InvalidInput("standard input is no text in UTF-8; convert it") from error


@click.command("import")
@click.argument("paths", nargs=-1, required=True, type=click.Path())
@click.option("--source", help="Within what the messages' ids are unique (default: their conversation).")
@click.option("--encoding", help="The files' encoding (default: UTF-8, or UTF-16 by its mark).")
@click.option(
    "--timezone", metavar="ZONE", help="The zone of times without one, as Europe/Berlin (default: UTC)."
)
@click.option(
    "--dates",
    type=click.Choice(["dmy", "mdy", "ymd"]),
    help="What 03/01/2024 means (default: what the dates of the file show).",
)
@click.option("--began", metavar="TIME", help="When a meeting began whose captions do not say it.")
@click.option(
    "--me",
    multiple=True,
    metavar="NAME",
    help="What the user is called there, a name or address; repeatable.",
)
@click.option(
    "--speaker", metavar="KEY", help="Which key of JSON messages says who spoke (none: all are the user's)."
)
@click.option("--dry-run", is_flag=True, help="Show what would come, and store nothing.")
@common
def import_(app: App, paths: tuple[str, ...], **options: Any) -> None:
    """Import conversations: a file, a folder or a zip; the path `-` is standard input.

    ChatGPT, Claude, Claude Code, Codex, OpenAI and LangChain messages, Slack, Discord, Telegram, WhatsApp,
    mail, journals, transcripts of meetings (WebVTT, SRT), JSON or JSONL messages, `[time] Name: text`
    lines, own exports.
    """
    dry_run: bool = options["dry_run"]
    total = ImportReport(0, 0, 0, 0)
    refused: list[str] = []
    unmet: Sequence[str] = options["me"]
    with _opened(app, dry_run=dry_run) as memory:
        for path in paths:
            try:
                with (
                    _file(path) as file,
                    progress_bar(f"importing {file.name}", lines_in(file)) as progress,
                ):
                    report = memory.import_file(file, **options, progress=progress)
            except InvalidInput as error:  # the files after it are read all the same
                refused.append(str(error))
            else:
                unmet = _say_notes(report, options["me"], unmet)
                total = _sum(total, report)
    if len(refused) < len(paths):
        _tell(app, total, unmet, dry_run=dry_run)
    for line in refused[:-1]:
        say_error(line)
    if refused:
        raise InvalidInput(refused[-1])
    if total.unreadable:  # the rest is in; a script should learn all the same that something is missing
        sys.exit(InvalidInput.exit_code)


@contextmanager
def _file(path: str) -> Iterator[Path]:
    """Return the file of a path; standard input is one for as long as it is read: its format must be seen."""
    if path != STANDARD:
        yield file_path(path)
        return
    with TemporaryDirectory() as folder:
        file = Path(folder) / PIPED
        file.write_bytes(standard_input())
        try:
            yield file
        except InvalidInput as error:
            raise type(error)(str(error).replace(str(file), PIPED)) from error


@contextmanager
def _opened(app: App, *, dry_run: bool) -> "Iterator[UserMemory]":
    """Open the memory to import into; where a dry run has none, it has one in a folder that goes."""
    if not dry_run or wiring.is_server(app.url) or wiring.database_path(app.url).exists():
        with app.user(create=not dry_run) as memory:
            yield memory
        return
    with TemporaryDirectory() as folder:
        apart = replace(app, db=str(Path(folder) / "dry-run.db"), user_name=app.user_name or "nobody")
        with apart.user(create=True) as memory:
            yield memory


def _say_notes(report: ImportReport, me: Sequence[str], unmet: Sequence[str]) -> Sequence[str]:
    """Say the notes of a file, and return which of the user's `unmet` names are not met in it either."""
    once = speakers.unmet_lines(speakers.unmet_names(me, report.notes))  # of all files
    for note in report.notes:
        if note not in once:
            say(note)
    return speakers.unmet_names(unmet, report.notes)


def _tell(app: App, total: ImportReport, unmet: Sequence[str], *, dry_run: bool) -> None:
    for line in speakers.unmet_lines(unmet):
        say(line)
    if app.as_json:
        print_json(plain(total))
        return
    for line in total.unreadable[:SHOWN]:
        say(f"unreadable: {line}")
    if len(total.unreadable) > SHOWN:
        say(f"… and {len(total.unreadable) - SHOWN} more (--json lists all)")
    if dry_run:
        out().print(
            f"{plural(total.observations, 'message')} read, {total.added:,} would be added to "
            f"{plural(total.threads, 'thread')}, {total.duplicates:,} known already, "
            f"{len(total.unreadable):,} unreadable; nothing was stored"
        )
        return
    out().print(
        f"{plural(total.observations, 'message')} read, {total.added:,} added, {total.duplicates:,} "
        "known already, "
        f"{plural(total.episodes, 'episode')} closed in {plural(total.threads, 'thread')}, "
        f"{len(total.unreadable):,} unreadable"
    )


def _sum(a: ImportReport, b: ImportReport) -> ImportReport:
    return ImportReport(
        a.observations + b.observations,
        a.added + b.added,
        a.duplicates + b.duplicates,
        a.episodes + b.episodes,
        [*a.unreadable, *b.unreadable],
        a.threads + b.threads,
        ", ".join(dict.fromkeys(name for name in (a.format, b.format) if name)),
        [*a.notes, *b.notes],
    )


@click.command()
@click.option("--thread", help="Only this thread.")
@common
def flush(app: App, thread: str | None) -> None:
    """Close the open frames now, so that they become episodes."""
    with app.user() as memory:
        closed = memory.flush(thread=thread)
    app.reply({"closed": closed}, f"{plural(closed, 'open frame')} closed")


@click.command()
@common
def upkeep(app: App) -> None:
    """Close threads that have been silent for long, and run the work that waits."""
    with app.memory() as memory:
        closed = memory.upkeep() if app.user_name is None else memory.user(app.user_name).upkeep()
    app.reply({"closed": closed}, f"{plural(closed, 'open thread')} closed")
