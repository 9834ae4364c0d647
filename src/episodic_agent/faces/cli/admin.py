"""Commands of a server's administrator: make a database ready and let logins in."""

import click

from episodic_agent.faces.cli.app import App, common, out, print_json
from episodic_agent.wiring import init_database, load_settings


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
