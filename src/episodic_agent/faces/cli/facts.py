"""Commands about facts: list, search, show and put right what a memory holds to be so; learn what waits."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table
from rich.text import Text

from episodic_agent.core.language import plural
from episodic_agent.errors import NotFound
from episodic_agent.faces import wording
from episodic_agent.faces.cli.app import (
    ID,
    App,
    Listing,
    common,
    moment,
    names_of_only,
    out,
    past,
    print_json,
    say_more,
    table,
)
from episodic_agent.faces.cli.reading import ONLY, PROJECT
from episodic_agent.lazily import module
from episodic_agent.schemas.facts import Category

if TYPE_CHECKING:
    from episodic_agent.engine.facts.verbs import FactCard
    from episodic_agent.engine.user import UserMemory
    from episodic_agent.faces import shapes
    from episodic_agent.schemas.facts import Fact
else:
    shapes = module("episodic_agent.faces.shapes")


CATEGORIES = [category.value for category in Category]
DAY = "%Y-%m-%d"
Act = Callable[["UserMemory", str], "FactCard"]


def _narrowed(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that say which facts are meant."""
    for option in (
        click.option("--limit", type=click.IntRange(1, 100_000), default=20, show_default=True),
        click.option("--suppressed", is_flag=True, help="What is suppressed as well."),
        click.option("--history", is_flag=True, help="What is over or still to come as well."),
        click.option(
            "--known-by", type=moment, help="What was believed on what the memory had taken in by then."
        ),
        click.option("--at", type=moment, help="What held then (ISO 8601 or epoch; default: now)."),
        click.option("--subject", help="Only facts about this person."),
        click.option("--category", type=click.Choice(CATEGORIES), help="Only facts of this category."),
        PROJECT,
        ONLY,
    ):
        function = option(function)
    return function


@click.group(cls=Listing)
def facts() -> None:
    """List facts, what lasts of what people said; subcommands find and correct them.

    A fact is called by its id or the beginning of it.
    """


@facts.command("list")
@_narrowed
@common
@past
def list_(app: App, **narrowed: Any) -> None:
    """List facts that hold, the newest first."""
    nothing = "no facts; what people say of themselves and their world is kept as it is said"
    limit = narrowed["limit"]
    owner, cards = _find_facts(app, None, {**narrowed, "limit": limit + 1})
    if not cards and (waiting := _waiting(app)):
        episodes = plural(waiting, "episode waits", "episodes wait")
        nothing = f"no facts yet: {episodes} to be read; `facts learn` reads now, `doctor` says why not"
    _show(app, owner, cards[:limit], nothing)
    if not app.as_json:
        say_more(len(cards), limit)


@facts.command()
@click.argument("query")
@_narrowed
@common
@past
def search(app: App, query: str, **narrowed: Any) -> None:
    """Find the facts that answer a QUERY, best first."""
    matching = _find_facts(app, query, narrowed)
    _show(app, *matching, "no fact answers this")


def _waiting(app: App) -> int:
    with app.user() as memory:
        return memory.stats().unconsolidated


def _find_facts(app: App, query: str | None, narrowed: Mapping[str, Any]) -> "tuple[str, Sequence[FactCard]]":
    with app.user() as memory:
        only = names_of_only(memory, narrowed["only"])
        cards = memory.facts.list(query, **{**narrowed, "only": only})
        return memory.name, _as_lived(app, memory, cards)


def _as_lived(app: App, memory: "UserMemory", cards: "Sequence[FactCard]") -> "Sequence[FactCard]":
    return cards if app.as_json else shapes.facts_as_lived(memory, cards)


@facts.command()
@click.argument("fact")
@common
@past
def show(app: App, fact: str) -> None:
    """Show a fact with the words that prove it."""
    with app.user() as memory:
        (card,) = _as_lived(app, memory, [memory.facts.get(fact)])
        heirs: list[str] = []
        if card.fact.superseded_by is not None and not app.as_json:
            with suppress(NotFound):  # deleted since
                heirs = [wording.fact_words(memory.facts.get(card.fact.superseded_by).fact.fact, memory.name)]
    if app.as_json:
        print_json({**card.record, "evidence": card.quotes})
    else:
        _print(card, memory.name, *heirs)


@facts.command()
@click.argument("fact")
@common
@past
def history(app: App, fact: str) -> None:
    """Show what was so before a fact, and after it, oldest first."""
    with app.user() as memory:
        facts = _as_lived(app, memory, memory.facts.history(fact))
    _show(app, memory.name, facts, "")


@facts.command()
@click.argument("fact")
@click.option("--text", help="The sentence as it should read.")
@click.option("--value", help="What it is compared by, where that changes too.")
@click.option("--category", type=click.Choice(CATEGORIES), help="Another category.")
@common
def edit(app: App, fact: str, text: str | None, value: str | None, category: str | None) -> None:
    """Put a fact right; how it read before is kept."""
    with app.user() as memory:
        card = memory.facts.edit(fact, text=text, value=value, category=category)
    app.remark(card.record, f"it reads now: {wording.fact_words(card.fact.fact, memory.name)}")


def _by_hand(name: str, help: str, done: str, act: Act) -> None:
    """Add a command that does one thing to one fact."""

    @facts.command(name, help=help)
    @click.argument("fact")
    @common
    def command(app: App, fact: str) -> None:
        with app.user() as memory:
            card = act(memory, fact)
        app.remark(card.record, f"{done}: {wording.fact_words(card.fact.fact, memory.name)}")


_by_hand(
    "pin",
    "Let no later statement end a fact.",
    "pinned",
    lambda memory, fact: memory.facts.pin(fact),
)
_by_hand(
    "unpin",
    "Let statements end a fact again, those too that it withstood.",
    "no longer pinned",
    lambda memory, fact: memory.facts.pin(fact, False),
)
_by_hand(
    "confirm",
    "Say that a fact is so.",
    "confirmed",
    lambda memory, fact: memory.facts.confirm(fact),
)
_by_hand(
    "delete",
    "Delete a fact; the words it came from stay, and do not teach it again.",
    "deleted",
    lambda memory, fact: memory.facts.delete(fact),
)


@facts.command()
@common
def learn(app: App) -> None:
    """Learn facts from the episodes that wait for it now, though fewer than three do."""
    with app.user() as memory:
        before = memory.stats().facts
        done = memory.facts.consolidate()
        after = memory.stats()
    app.remark(
        {"episodes": done, "waiting": after.unconsolidated, "facts": after.facts},
        f"{plural(done, 'episode')} read, {after.unconsolidated} waiting; "
        f"{plural(after.facts, 'fact holds', 'facts hold')}, {before} before",
    )


def _show(app: App, owner: str, facts: "Sequence[FactCard]", nothing: str) -> None:
    if app.answered({"facts": [{**card.record, "score": card.score} for card in facts]}, facts, nothing):
        return
    listed = table("id", "category", "since", "said", "until", "fact", "times", right=("times",))
    for card in facts:
        fact = card.fact
        by = "" if fact.superseded_by is None else f" by {str(fact.superseded_by)[:ID]}"
        until = _day(fact.invalid_at) + by
        span = (_day(fact.valid_at), _said_on(fact), until)
        text = wording.fact_words(fact.fact, owner) + (" (pinned)" if fact.pinned else "")
        # as text: what people said may look like markup
        listed.add_row(str(fact.id)[:ID], fact.category.value, *span, Text(text), str(len(fact.telling)))
    out().print(listed)


def _day(at: datetime | None) -> str:
    return "" if at is None else f"{at:{DAY}}"


def _said_on(fact: "Fact") -> str:
    """Return the day on which a fact was first said, by the clock that shows since when it is so."""
    return _day(fact.stated_at.astimezone(fact.valid_at.tzinfo))


def _print(card: "FactCard", owner: str, heir: str = "") -> None:
    """Print a fact; `heir` is how that reads which took its place."""
    table = Table(box=None, show_header=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    fact = card.fact
    until = "" if fact.invalid_at is None else f" until {_day(fact.invalid_at)}"
    by_hand = [name for name in ("pinned", "confirmed", "edited") if getattr(fact, name)]
    rows = {
        "fact": wording.fact_words(fact.fact, owner),
        "about": wording.spoken_by(fact.subject, owner),
        "category": fact.category.value,
        "holds": f"{'' if fact.holds else 'not so, '}since {_day(fact.valid_at)}{until}",
        "stated": _said_on(fact),
        "ended by": "" if fact.superseded_by is None else f"{str(fact.superseded_by)[:ID]} {heir}",
        "sure": f"{fact.confidence:.0%}",
        "by hand": ", ".join(by_hand),
        "id": str(fact.id),
    }
    for name, value in rows.items():
        if value:
            table.add_row(name, Text(value))
    for version in fact.versions:
        table.add_row("read before", Text(f"{_day(version.changed_at)}: {version.fact}"))
    for quote in card.quotes:
        actor = wording.spoken_by(quote.actor, owner)
        text = f'{_day(quote.said_at)} {actor}: "{quote.text}"'
        if quote.episode_id is not None:
            text += f" (episode {str(quote.episode_id)[:ID]})"
        table.add_row("said", Text(text))
    out().print(table)
