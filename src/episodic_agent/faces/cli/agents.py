"""Commands of agents and stories: sequence, replay, and the MCP server."""

from importlib.util import find_spec
from typing import Any

import click
from rich.text import Text

from episodic_agent.core.chaining import replay_text
from episodic_agent.engine.sequences import told_sequence
from episodic_agent.errors import InvalidInput
from episodic_agent.faces.cli.app import ID, App, common, moment, out, print_json, say
from episodic_agent.faces.cli.loading import load
from episodic_agent.faces.tools.answers import check_budget
from episodic_agent.wiring import load_settings

LIMIT = click.IntRange(1, 1000)
ORDER = click.option("--order", default="relevant", show_default=True, help="relevant or recent.")
SINCE = click.option("--since", help="Only what began from this time on.")
UNTIL = click.option("--until", help="Only what began before this time.")
MISSING = "`mcp` needs its library; run pip install 'episodic-agent[mcp]'"
WHERE = click.option(
    "--where", multiple=True, metavar="FILTER", help="By metadata: tag=debugging, tool=bash."
)
POLICY = click.option("--policy", default="default", show_default=True, help="default or seed-004.")


@click.command()
@click.argument("topic", default="")
@click.option("--limit", type=LIMIT, default=10, show_default=True, help="Episodes at most.")
@click.option("--min-relevance", type=click.FloatRange(0, 1), default=0.5, show_default=True)
@ORDER
@SINCE
@UNTIL
@WHERE
@POLICY
@common
def sequence(app: App, topic: str, as_json: bool, user: str | None, **given: Any) -> None:
    """List the episodes of TOPIC in the order of time; without one, the newest."""
    with app.memory() as memory:
        found = memory.get_episode_sequence(topic, user_id=user, **_asked(given))
    if as_json:
        print_json({"topic": topic, "episodes": found})
        return
    if not found:
        say(f"no episodes found for topic: {topic}" if topic else "no episodes here")
    for one in found:
        relevance = f"{one.relevance:.2f}  " if topic else ""
        out().print(
            Text(f"{one.start_at:%Y-%m-%d %H:%M}  {relevance}{str(one.episode_id)[:ID]}  {one.title}")
        )


@click.command()
@click.argument("topic")
@click.option("--limit", type=LIMIT, default=5, show_default=True, help="Episodes at most.")
@ORDER
@SINCE
@UNTIL
@WHERE
@POLICY
@common
def replay(app: App, topic: str, as_json: bool, user: str | None, **given: Any) -> None:
    """Tell the story of TOPIC in order: what happened, and what it went on with."""
    with app.memory() as memory:
        found = memory.get_episode_sequence(topic, user_id=user, **_asked(given))
    text = replay_text(topic, told_sequence(found), policy=given["policy"])
    if as_json:
        print_json({"topic": topic, "text": text, "episodes": found})
    else:
        click.echo(text)


def _asked(given: dict[str, Any]) -> dict[str, Any]:
    times = {name: moment(given[name]) for name in ("since", "until")}
    return {**given, **times, "where": list(given["where"]) or None}


@click.command()
@click.option("--http", "port", type=click.IntRange(1, 65535), metavar="PORT", help="Serve HTTP at /mcp.")
@click.option("--user", metavar="NAME", help="Whose memory (default: EPISODIC_USER).")
@click.pass_obj
def mcp(app: App, port: int | None, user: str | None) -> None:
    """Give an agent the memory as MCP tools, on standard input and output; needs the extra `mcp`.

    Over HTTP only this machine is listened to; the header X-Episodic-User may name the user.
    """
    budget = check_budget(load_settings().tool_budget)
    if find_spec("mcp") is None:
        raise InvalidInput(MISSING)
    with app.memory(create=True, resume=True) as memory:
        memory.warm()  # on a thread of its own, while the library is imported
        serving = _serving()
        if port is None:
            serving.serve_stdio(memory, user, budget)
        else:
            say(f"serving {app.shown_url} on http://{serving.HOST}:{port}/mcp for this machine only")
            serving.serve_http(memory, user, budget, port)


def _serving() -> Any:
    try:
        return load("episodic_agent.faces.mcp.serving")
    except ImportError as error:
        if (error.name or "").startswith("episodic_agent"):
            raise
        raise InvalidInput(MISSING) from error
