"""Commands that put experience in: init, add, import, flush, upkeep."""

import sys
from pathlib import Path

import click

from episodic_agent.core.language import plural
from episodic_agent.engine.results import ImportReport
from episodic_agent.errors import InvalidInput
from episodic_agent.faces.cli.app import App, common, out, print_json, progress_bar, say, say_error

SHOWN = 20  # unreadable records listed for people; --json lists all


@click.command()
@common
def init(app: App, user: str | None, as_json: bool) -> None:
    """Create the memory file and fetch the embedding model, if need be."""
    del user
    with app.memory(create=True) as memory:
        memory.doctor()
    if as_json:
        print_json({"db": app.shown_url, "ready": True})
    else:
        out().print(f"ready: {app.shown_url}")


@click.command()
@click.argument("text")
@click.option("--role", default="user", show_default=True, help="Who says it: a role or a name.")
@click.option("--thread", help="The thread it belongs to.")
@click.option("--channel", help="The channel it came by.")
@click.option("--timestamp", help="When it was said (ISO 8601 or epoch; default: now).")
@click.option("--id", "identity", help="Your own id of it; the same id is never added twice.")
@click.option("--ttl", metavar="SPAN", help='Erase it so long after its time: "30d", "12h", seconds.')
@click.option("--expires-at", metavar="TIME", help="Erase it at this time.")
@common
def add(
    app: App,
    text: str,
    role: str,
    thread: str | None,
    channel: str | None,
    timestamp: str | None,
    identity: str | None,
    ttl: str | None,
    expires_at: str | None,
    user: str | None,
    as_json: bool,
) -> None:
    """Remember one message."""
    with app.user(user, create=True) as memory:
        receipts = memory.add(
            text,
            thread=thread,
            channel=channel,
            role=role,
            timestamp=timestamp,
            id=identity,
            ttl=ttl,
            expires_at=expires_at,
        )
    receipt = receipts[0]
    if as_json:
        print_json(receipt)
    else:
        out().print(f"{'added' if receipt.added else 'known already'}: {receipt.id} (seq {receipt.seq})")


@click.command("import")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--source", help="Within what the messages' ids are unique (default: their conversation).")
@click.option("--encoding", help="The files' encoding (default: UTF-8, or UTF-16 by its mark).")
@common
def import_(
    app: App,
    paths: tuple[Path, ...],
    source: str | None,
    encoding: str | None,
    user: str | None,
    as_json: bool,
) -> None:
    """Import chat files: JSONL or JSON messages, `[time] Name: text` transcripts, own exports."""
    total = ImportReport(0, 0, 0, 0)
    refused: list[str] = []
    with app.user(user, create=True) as memory:
        for path in paths:
            try:
                with progress_bar(f"importing {path.name}") as progress:
                    report = memory.import_file(path, source=source, encoding=encoding, progress=progress)
            except InvalidInput as error:  # the files after it are read all the same
                refused.append(str(error))
            else:
                total = _sum(total, report)
    if len(refused) < len(paths):
        _tell(total, as_json=as_json)
    for line in refused[:-1]:
        say_error(line)
    if refused:
        raise InvalidInput(refused[-1])
    if total.unreadable:  # the rest is in; a script should learn all the same that something is missing
        sys.exit(InvalidInput.exit_code)


def _tell(total: ImportReport, *, as_json: bool) -> None:
    if as_json:
        print_json(total)
        return
    for line in total.unreadable[:SHOWN]:
        say(f"unreadable: {line}")
    if len(total.unreadable) > SHOWN:
        say(f"… and {len(total.unreadable) - SHOWN} more (--json lists all)")
    out().print(
        f"{plural(total.observations, 'message')} read, {total.added} added, {total.duplicates} "
        "known already, "
        f"{plural(total.episodes, 'episode')} closed in {plural(total.threads, 'thread')}, "
        f"{len(total.unreadable)} unreadable"
    )


def _sum(a: ImportReport, b: ImportReport) -> ImportReport:
    return ImportReport(
        a.observations + b.observations,
        a.added + b.added,
        a.duplicates + b.duplicates,
        a.episodes + b.episodes,
        [*a.unreadable, *b.unreadable],
        a.threads + b.threads,
    )


@click.command()
@click.option("--thread", help="Only this thread.")
@common
def flush(app: App, thread: str | None, user: str | None, as_json: bool) -> None:
    """Close the open frames now, so that they become episodes."""
    with app.user(user) as memory:
        closed = memory.flush(thread=thread)
    if as_json:
        print_json({"closed": closed})
    else:
        out().print(f"{plural(closed, 'open frame')} closed")


@click.command()
@common
def upkeep(app: App, user: str | None, as_json: bool) -> None:
    """Close threads that have been silent for long, and run the work that waits."""
    with app.memory() as memory:
        closed = memory.upkeep() if user is None else memory.user(user).upkeep()
    if as_json:
        print_json({"closed": closed})
    else:
        out().print(f"{plural(closed, 'open thread')} closed")
