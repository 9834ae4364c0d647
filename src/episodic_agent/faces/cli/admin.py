"""Commands of a server's administrator: make a database ready and let logins in."""

from collections.abc import Iterable

import click

from episodic_agent.faces.cli.app import App, common, out, print_json
from episodic_agent.wiring import (
    distribute_database,
    distributing_statements,
    index_database,
    init_database,
    load_settings,
)

SHARDS = 32


@click.group()
def admin() -> None:
    """Look after a PostgreSQL database (with an administrator's URL)."""


@admin.command("init-db")
@click.option("--login", "logins", metavar="NAME", multiple=True, help="Let this login in (repeatable).")
@click.option(
    "--worker-login",
    "worker_logins",
    metavar="NAME",
    multiple=True,
    help="Let this login in and claim the jobs of all spaces (repeatable).",
)
@common
def init_db(
    app: App, logins: tuple[str, ...], worker_logins: tuple[str, ...], user: str | None, as_json: bool
) -> None:
    """Create roles, extension, schema and policies; again, it changes only what is missing."""
    del user
    steps = init_database(app.url, load_settings(), logins, worker_logins)
    if as_json:
        print_json({"db": app.shown_url, "steps": [{"state": state, "what": what} for state, what in steps]})
        return
    for state, what in steps:
        out().print(f"{state:8} {what}", markup=False)


@admin.command("index")
@click.option(
    "--above",
    type=click.IntRange(min=1),
    help="Users with so many documents get one; search uses it from 50,000 on (the default).",
)
@click.option("--pack", is_flag=True, help="Also rebuild the indexes that were written to in many places.")
@common
def index(app: App, above: int | None, pack: bool, user: str | None, as_json: bool) -> None:
    """Index the vectors of users with very many documents (HNSW); nobody has to wait meanwhile."""
    del user
    _tell(app, index_database(app.url, load_settings(), above, pack=pack), as_json)


@admin.command("distribute")
@click.option(
    "--shards",
    type=click.IntRange(min=1),
    default=SHARDS,
    show_default=True,
    help="Pieces the users are spread over.",
)
@click.option("--print", "only_print", is_flag=True, help="Only print the statements, for one's own tools.")
@common
def distribute(app: App, shards: int, only_print: bool, user: str | None, as_json: bool) -> None:
    """Spread the tables over a Citus cluster; each statement is printed once it is done."""
    del user
    settings = load_settings()
    steps = distributing_statements(settings, shards) if only_print else None
    _tell(app, distribute_database(app.url, settings, shards) if steps is None else steps, as_json)


def _tell(app: App, steps: Iterable[str], as_json: bool) -> None:
    """Print steps as they are done, or all of them as one JSON object."""
    if as_json:
        print_json({"db": app.shown_url, "steps": list(steps)})
        return
    for step in steps:
        out().print(step, markup=False)
