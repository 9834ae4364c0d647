"""Commands about facts: list, search, show and put right what a memory holds to be so; learn what waits."""

from collections.abc import Callable, Sequence
from datetime import datetime

import click
from rich.table import Table
from rich.text import Text

from episodic_agent.core.facts import Category
from episodic_agent.engine.facts import FactCard
from episodic_agent.engine.memory import Memory
from episodic_agent.faces.cli.app import ID, App, common, moment, out, print_json, say

CATEGORIES = [category.value for category in Category]
DAY = "%Y-%m-%d"
Act = Callable[[Memory, str, str | None], FactCard]


@click.group()
def facts() -> None:
    """What lasts of what people said; a fact is called by its id or the beginning of it."""


@facts.command("list")
@click.option("--category", type=click.Choice(CATEGORIES), help="Only facts of this category.")
@click.option("--subject", help="Only facts about this person.")
@click.option("--at", help="What held then (ISO 8601 or epoch; default: now).")
@click.option("--known-by", help="What was believed on what the memory had taken in by then.")
@click.option("--history", is_flag=True, help="What is over or still to come as well.")
@click.option("--limit", type=click.IntRange(1, 100_000), default=20, show_default=True)
@common
def list_(
    app: App,
    category: str | None,
    subject: str | None,
    at: str | None,
    known_by: str | None,
    history: bool,
    limit: int,
    user: str | None,
    as_json: bool,
) -> None:
    """List facts that hold, the newest first."""
    with app.memory() as memory:
        found = memory.facts(
            category=category, subject=subject, at=moment(at), known_by=moment(known_by), history=history,
            limit=limit, user_id=user,
        )  # fmt: skip
    _show(found, "no facts; three episodes in which people tell of themselves teach some", as_json=as_json)


@facts.command()
@click.argument("query")
@click.option("--category", type=click.Choice(CATEGORIES), help="Only facts of this category.")
@click.option("--subject", help="Only facts about this person.")
@click.option("--at", help="What held then (ISO 8601 or epoch; default: now).")
@click.option("--history", is_flag=True, help="What is over or still to come as well.")
@click.option("--limit", type=click.IntRange(1, 100_000), default=20, show_default=True)
@common
def search(
    app: App,
    query: str,
    category: str | None,
    subject: str | None,
    at: str | None,
    history: bool,
    limit: int,
    user: str | None,
    as_json: bool,
) -> None:
    """Find the facts that answer a QUERY, best first."""
    with app.memory() as memory:
        found = memory.facts(
            query, category=category, subject=subject, at=moment(at), history=history, limit=limit,
            user_id=user,
        )  # fmt: skip
    _show(found, "no fact answers this", as_json=as_json)


@facts.command()
@click.argument("fact")
@common
def show(app: App, fact: str, user: str | None, as_json: bool) -> None:
    """Show a fact with the words that prove it."""
    with app.memory() as memory:
        card = memory.fact(fact, user_id=user)
    if as_json:
        print_json({**card.record, "evidence": card.quotes})
    else:
        _print(card)


@facts.command()
@click.argument("fact")
@common
def history(app: App, fact: str, user: str | None, as_json: bool) -> None:
    """Show what was so before a fact, and after it, oldest first."""
    with app.memory() as memory:
        found = memory.fact_history(fact, user_id=user)
    _show(found, "", as_json=as_json)


@facts.command()
@click.argument("fact")
@click.option("--text", help="The sentence as it should read.")
@click.option("--value", help="What it is compared by, where that changes too.")
@click.option("--category", type=click.Choice(CATEGORIES), help="Another category.")
@common
def edit(
    app: App,
    fact: str,
    text: str | None,
    value: str | None,
    category: str | None,
    user: str | None,
    as_json: bool,
) -> None:
    """Put a fact right; how it read before is kept."""
    with app.memory() as memory:
        card = memory.edit_fact(fact, text=text, value=value, category=category, user_id=user)
    _tell(card, f"it reads now: {card.fact.fact}", as_json=as_json)


def _tell(card: FactCard, told: str, *, as_json: bool) -> None:
    if as_json:
        print_json(card.record)
    else:
        say(told)


def _by_hand(name: str, help: str, done: str, act: Act) -> None:
    """Add a command that does one thing to one fact."""

    @facts.command(name, help=help)
    @click.argument("fact")
    @common
    def command(app: App, fact: str, user: str | None, as_json: bool) -> None:
        with app.memory() as memory:
            card = act(memory, fact, user)
        _tell(card, f"{done}: {card.fact.fact}", as_json=as_json)


_by_hand(
    "pin",
    "Let no later statement end a fact.",
    "pinned",
    lambda memory, fact, user: memory.pin_fact(fact, user_id=user),
)
_by_hand(
    "unpin",
    "Let statements end a fact again, those too that it withstood.",
    "no longer pinned",
    lambda memory, fact, user: memory.pin_fact(fact, False, user_id=user),
)
_by_hand(
    "confirm",
    "Say that a fact is so.",
    "confirmed",
    lambda memory, fact, user: memory.confirm_fact(fact, user_id=user),
)
_by_hand(
    "delete",
    "Delete a fact; the words it came from stay, and do not teach it again.",
    "deleted",
    lambda memory, fact, user: memory.delete_fact(fact, user_id=user),
)


@facts.command()
@common
def learn(app: App, user: str | None, as_json: bool) -> None:
    """Learn facts from the episodes that wait for it now, though fewer than three do."""
    with app.memory() as memory:
        before = memory.stats(user_id=user).facts
        done = memory.consolidate(user_id=user)
        after = memory.stats(user_id=user)
    if as_json:
        print_json({"episodes": done, "waiting": after.unconsolidated, "facts": after.facts})
    else:
        say(f"{done} episodes read, {after.unconsolidated} wait; {after.facts} facts hold, {before} before")


def _show(found: Sequence[FactCard], nothing: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"facts": [{**card.record, "score": card.score} for card in found]})
        return
    if not found:
        say(nothing)
        return
    table = Table(box=None, header_style="bold")
    for name in ("id", "category", "since", "until", "fact"):
        table.add_column(name, overflow="fold")
    table.add_column("said", justify="right")
    for card in found:
        fact = card.fact
        span = (_day(fact.valid_at), _day(fact.invalid_at))
        told = f"{fact.fact} (pinned)" if fact.pinned else fact.fact
        # as text: what people said may look like markup
        table.add_row(str(fact.id)[:ID], fact.category.value, *span, Text(told), str(len(fact.evidence)))
    out().print(table)


def _day(at: datetime | None) -> str:
    return "" if at is None else f"{at:{DAY}}"


def _print(card: FactCard) -> None:
    table = Table(box=None, show_header=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in card.record.items():
        lines = "\n".join(map(str, value)) if isinstance(value, list) else value
        table.add_row(name, Text("" if lines is None else str(lines)))
    for quote in card.quotes:
        said = f'{_day(quote.said_at)} {quote.actor}: "{quote.text}" ({quote.episode_id})'
        table.add_row("said", Text(said))
    out().print(table)
