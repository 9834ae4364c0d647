"""Commands that look: search, recent, episodes, show, stats, export."""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from episodic_agent.core.context.retrieved import DETAILS, Detail
from episodic_agent.engine.results import EpisodeCard, Evidence, Hit, Recall
from episodic_agent.faces.cli.app import (
    ID,
    WIDE,
    App,
    common,
    moment,
    out,
    parse_id,
    print_json,
    say,
    say_replaced,
)

OTHER_COLUMNS = 64  # of a listing, beside the title


@click.command()
@click.argument("query")
@click.option(
    "--limit", type=click.IntRange(1, 1000), default=5, show_default=True, help="Episodes to return."
)
@click.option("--observations", type=click.IntRange(1, 10_000), help="Observations to rank over all.")
@click.option("--policy", "ranking", default="default", show_default=True, help="default or seed-003.")
@click.option("--since", help="Only from this time on.")
@click.option("--until", help="Only before this time.")
@click.option("--thread", help="Only this thread.")
@click.option("--place", help="Only what was observed at this place.")
@click.option("--where", multiple=True, metavar="FIELD=VALUE", help="Only episodes about this: tag=memory.")
@click.option("--now", help="As if it were this time (for `last week` and for forgetting).")
@click.option("--asking", metavar="THREAD", help="The thread that asks: what it says next is a review.")
@click.option("--facts", type=click.IntRange(0, 1000), default=5, show_default=True, help="Facts to return.")
@click.option("--category", help="Only facts of this category.")
@click.option("--explain", is_flag=True, help="Show each leg's score.")
@click.option("--suppressed", is_flag=True, help="List what was left out too, and why.")
@common
def search(
    app: App,
    query: str,
    limit: int,
    observations: int | None,
    ranking: str,
    since: str | None,
    until: str | None,
    thread: str | None,
    place: str | None,
    where: tuple[str, ...],
    now: str | None,
    asking: str | None,
    facts: int,
    category: str | None,
    explain: bool,
    suppressed: bool,
    user: str | None,
    as_json: bool,
) -> None:
    """Find the facts and episodes that answer a question, with the messages that prove it."""
    with app.memory() as memory:
        recall = memory.search(
            query,
            user_id=user,
            limit=limit,
            observations=observations,
            policy=ranking,
            since=moment(since),
            until=moment(until),
            thread=thread,
            place=place,
            where=where,
            now=moment(now),
            asking=asking,
            explain=explain,
            facts=facts,
            category=category,
            suppressed=suppressed,
        )
    if as_json:
        shaped = recall_json(recall, explain=explain)
        if suppressed:
            shaped["suppressed"] = [
                {**_hit_json(one.hit, explain=explain), "reason": one.reason} for one in recall.suppressed
            ]
        print_json(shaped)
    else:
        render_recall(recall, explain=explain)


@click.command()
@click.argument("query")
@click.option(
    "--detail", type=click.Choice(DETAILS), default="auto", show_default=True, help="Whose messages to show."
)
@click.option(
    "--limit", type=click.IntRange(1, 1000), default=5, show_default=True, help="Episodes to return."
)
@click.option("--facts", type=click.IntRange(0, 1000), default=20, show_default=True, help="Facts to return.")
@click.option("--category", help="Only facts of this category.")
@click.option("--thread", help="Only this thread.")
@click.option("--where", multiple=True, metavar="FIELD=VALUE", help="Only episodes about this: tag=memory.")
@click.option("--now", help="As if it were this time.")
@click.option("--asking", metavar="THREAD", help="The thread that asks: what it says next is a review.")
@common
def retrieve(
    app: App,
    query: str,
    detail: Detail,
    limit: int,
    facts: int,
    category: str | None,
    thread: str | None,
    where: tuple[str, ...],
    now: str | None,
    asking: str | None,
    user: str | None,
    as_json: bool,
) -> None:
    """Print what answers a question as Markdown for a prompt; nothing where nothing answers."""
    with app.memory() as memory:
        text = memory.retrieve(
            query,
            user_id=user,
            detail=detail,
            limit=limit,
            facts=facts,
            category=category,
            thread=thread,
            where=where,
            now=moment(now),
            asking=asking,
        )
    if as_json:
        print_json({"text": text})
    else:
        click.echo(text, nl=False)


def recall_json(recall: Recall, *, explain: bool = False) -> dict[str, Any]:
    """Shape a recall for scripts: the contract of `episodic search --json`."""
    return {
        "facts": [{**found.fact.as_record(), "score": found.score} for found in recall.facts],
        "hits": [_hit_json(h, explain=explain) for h in recall.hits],
        "observations": [_evidence_json(e, explain=explain) for e in recall.observations],
        "abstained": recall.abstained,
        "confidence": recall.confidence,
        "notes": list(recall.notes),
    }


def _hit_json(hit: Hit, *, explain: bool) -> dict[str, Any]:
    shown = {
        "episode_id": hit.episode_id,
        "title": hit.title,
        "summary": hit.summary,
        "score": hit.score,
        "confidence": hit.confidence,
        "start_at": hit.start_at,
        "end_at": hit.end_at,
        "state": hit.state,
        "retrievability": hit.retrievability,
        "key_moment": hit.key_moment,
        "observations": [_evidence_json(e, explain=explain) for e in hit.evidence],
    }
    return {**shown, "legs": hit.legs} if explain else shown


def _evidence_json(evidence: Evidence, *, explain: bool) -> dict[str, Any]:
    o = evidence.observation
    shown = {"id": evidence.id, "actor": o.actor, "text": o.text, "at": o.at, "score": evidence.score}
    return {**shown, "legs": evidence.legs} if explain else shown


def render_recall(recall: Recall, *, explain: bool = False) -> None:
    """Print a recall for people."""
    console = out()
    for note in recall.notes:
        say(note)
    for found in recall.facts:
        fact = found.fact
        console.print(
            Text(f"• {fact.fact}"), Text(f"{fact.category}, since {fact.valid_at:%Y-%m-%d}", style="dim")
        )
    for left in recall.suppressed:
        say(f"left out: {left.hit.title} ({str(left.hit.episode_id)[:ID]}), {left.reason}")
    if recall.abstained:
        if not recall.facts:
            console.print(Text("nothing relevant", style="yellow"))
        return
    for rank, hit in enumerate(recall.hits, 1):
        console.print(Text(f"{rank}. {hit.title}", style="bold"))
        state = " · open" if hit.state == "open" else ""
        state += " · key moment" if hit.key_moment else ""
        console.print(
            Text(
                f"   {hit.start_at:%Y-%m-%d %H:%M}  score {hit.score:.2f}  confidence {hit.confidence:.2f}"
                f"  {str(hit.episode_id)[:ID]}{state}",
                style="dim",
            )
        )
        for evidence in hit.evidence:
            console.print(Text(f"   {evidence.observation.actor}: {_line(evidence.observation.text)}"))
            if explain:
                console.print(Text("      " + _legs(evidence.legs), style="dim"))


def _legs(legs: Any) -> str:
    return "  ".join(f"{name} {value:.3f}" for name, value in legs.items())


def _line(text: str, width: int = 160) -> str:
    one = " ".join(text.split())
    return one if len(one) <= width else one[: width - 1] + "…"


@click.command()
@click.option("--limit", type=click.IntRange(1, 1000), default=10, show_default=True)
@click.option("--days", type=click.FloatRange(min=0), help="Only episodes that ended in the last N days.")
@click.option("--suppressed", is_flag=True, help="What is suppressed or archived too.")
@common
def recent(
    app: App, limit: int, days: float | None, suppressed: bool, user: str | None, as_json: bool
) -> None:
    """List the newest episodes first."""
    with app.memory() as memory:
        cards = memory.recent(user_id=user, limit=limit, days=days, suppressed=suppressed)
        users = memory.users()
    _cards(cards, users, as_json=as_json)


@click.command()
@click.option("--thread", help="Only this thread.")
@click.option("--place", help="Only those that reach into a visit of this place.")
@click.option("--where", multiple=True, metavar="FIELD=VALUE", help="Only those about this: tag=memory.")
@click.option("--limit", type=click.IntRange(1, 100_000), help="Only the newest N.")
@common
def episodes(
    app: App,
    thread: str | None,
    place: str | None,
    where: tuple[str, ...],
    limit: int | None,
    user: str | None,
    as_json: bool,
) -> None:
    """List all episodes in order, open frames included."""
    with app.memory() as memory:
        cards = memory.episodes(user_id=user, thread=thread, place=place, where=where, limit=limit)
        users = memory.users()
    _cards(cards, users, as_json=as_json)


def _cards(cards: Sequence[EpisodeCard], users: Sequence[str], *, as_json: bool) -> None:
    if as_json:
        print_json({"episodes": cards})
    elif cards:
        render_cards(cards)
    else:
        say(f"no episodes here; users: {', '.join(users)} (--user NAME)" if users else "the memory is empty")


def render_cards(cards: Sequence[EpisodeCard]) -> None:
    """Print a table of episodes for people."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("id", "began", "lasted", "n", "ended by"):
        table.add_column(name, no_wrap=True, justify="right" if name == "n" else "left")
    table.add_column("title", ratio=1)
    # a terminal shows the whole title; where a programme reads, an episode is one line
    width = None if sys.stdout.isatty() else WIDE - OTHER_COLUMNS
    for c in cards:
        table.add_row(
            str(c.episode_id)[:ID],
            f"{c.start_at:%Y-%m-%d %H:%M}",
            _duration(c),
            str(c.observations),
            "(open)" if c.state == "open" else c.reason,
            Text(_line(c.title, width or len(c.title)), style="italic" if c.state == "open" else ""),
        )
    out().print(table)


def _duration(card: EpisodeCard) -> str:
    minutes = int((card.end_at - card.start_at).total_seconds() // 60)
    if minutes < 100:
        return f"{minutes} min"
    return f"{minutes / 60:.0f} h" if minutes < 48 * 60 else f"{minutes / 1440:.0f} d"


@click.command()
@click.argument("episode")
@common
def show(app: App, episode: str, user: str | None, as_json: bool) -> None:
    """Show one episode: its title, summary and messages."""
    with app.memory() as memory:
        asked = parse_id(episode, memory, user)
        identity = memory.successor(asked, user_id=user)
        messages = memory.messages(identity, user_id=user)
        card = memory.card(identity, user_id=user)
    if as_json:
        named = {} if identity == asked else {"asked": asked}
        print_json({"episode": card, "messages": messages, **named})
        return
    if identity != asked:
        say_replaced(asked, identity)
    console = out()
    console.print(Text(card.title, style="bold"))
    console.print(
        Text(f"{card.start_at:%Y-%m-%d %H:%M} to {card.end_at:%Y-%m-%d %H:%M} · {card.origin}", style="dim")
    )
    if card.summary:
        console.print(Text(card.summary))
    for o in messages:
        console.print(Text(f"[{o.at:%Y-%m-%d %H:%M}] {o.actor}: {o.text}"))


@click.command()
@common
def stats(app: App, user: str | None, as_json: bool) -> None:
    """Count what the memory holds."""
    with app.memory() as memory:
        counted = memory.stats(user_id=user)
        named = {"origins": [t.origin for t in memory.threads(user_id=user)], "users": memory.users()}
    shown = {**{f: getattr(counted, f) for f in counted.__dataclass_fields__}, **named}
    if as_json:
        print_json(shown)
        return
    for name, value in shown.items():
        told = ", ".join(value) if isinstance(value, list) else value
        label = "names of threads" if name == "origins" else name.replace("_", " ")
        out().print(f"{label:18} {'-' if told in (None, '') else told}", markup=False)


def _write_lines(lines: Iterable[str], output: Path) -> int:
    """Write lines to a file that appears only when all of them are in it; return how many."""
    partial = output.with_name(output.name + ".partial")
    count = 0
    try:
        with partial.open("w", encoding="utf-8") as file:
            for count, line in enumerate(lines, 1):  # noqa: B007 - the last number is the count
                file.write(line + "\n")
        partial.replace(output)
    finally:
        partial.unlink(missing_ok=True)
    return count


@click.command()
@click.option(
    "--output", type=click.Path(path_type=Path), help="Write to this file (default: standard output)."
)
@click.option(
    "--where", multiple=True, metavar="FIELD=VALUE", help="Only threads with episodes about this: tag=memory."
)
@common
def export(app: App, output: Path | None, where: tuple[str, ...], user: str | None, as_json: bool) -> None:
    """Write the memory as JSON lines that `import` takes back without loss."""
    with app.memory() as memory:
        exported = memory.export(user_id=user, where=where)
        if output is None:
            for line in exported:
                click.echo(line)
            return
        lines = _write_lines(exported, output)
    if as_json:
        print_json({"lines": lines, "output": str(output)})
    else:
        say(f"{lines} lines written to {output}")
