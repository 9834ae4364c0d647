"""The command that has closed episodes told again: reencode."""

import click

from episodic_agent.errors import InvalidInput
from episodic_agent.faces.cli.app import App, common, print_json, say


@click.command()
@click.option("--thread", metavar="THREAD", help="The episodes of this thread.")
@click.option("--all", "every", is_flag=True, help="All of the user's.")
@click.option("--by", metavar="NAME", help="Only what was encoded by this: `extractive`, a model's name.")
@common
def reencode(
    app: App, thread: str | None, every: bool, by: str | None, user: str | None, as_json: bool
) -> None:
    """Find titles and summaries of closed episodes anew; the versions before are kept."""
    if (thread is None) == (not every):
        raise InvalidInput("give --thread THREAD, or --all for all of them")
    with app.memory() as memory:
        asked = memory.reencode(thread=thread, every=every, by=by, user_id=user)
        waiting = memory.stats(user_id=user).waiting_jobs
    if as_json:
        print_json({"asked": asked, "waiting_jobs": waiting})
    else:
        say(f"{asked} episodes encoded again" + (f"; {waiting} jobs wait" if waiting else ""))
