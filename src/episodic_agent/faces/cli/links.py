"""Commands of what belongs together: links of threads, chains of episodes, skills, and names of people."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
from rich.table import Table
from rich.text import Text

from episodic_agent.core.language import plural
from episodic_agent.errors import InvalidInput
from episodic_agent.faces.cli.app import (
    App,
    Listing,
    common,
    out,
    parse_id,
    past,
    print_json,
    say,
    say_more,
    table,
    tell,
)
from episodic_agent.faces.cli.boundaries import link_outcome
from episodic_agent.lazily import module
from episodic_agent.schemas import Episode
from episodic_agent.schemas.skills import SkillKind

if TYPE_CHECKING:
    from episodic_agent.engine.links import explaining
    from episodic_agent.engine.links.explaining import JudgedLink
    from episodic_agent.engine.skills.verbs import SkillCard
else:  # it comes with all that judges links: a list needs none of that
    explaining = module("episodic_agent.engine.links.explaining")


KINDS = [kind.value for kind in SkillKind]


@click.group(cls=Listing)
def link() -> None:
    """Show, explain or change which threads belong together; threads are called as `threads` lists them."""


@link.command("list")
@click.option("--thread", "name", help="Only this thread's.")
@click.option("--taken-back", is_flag=True, help="Also those that were taken back.")
@click.option("--limit", type=click.IntRange(1, 100_000), default=50, show_default=True)
@common
@past
def list_(app: App, name: str | None, taken_back: bool, limit: int) -> None:
    """List links, newest first."""
    with app.user() as memory:
        cards = memory.links.list(thread=name, taken_back=taken_back, limit=limit + 1)
        episodes = memory.links.episodes()
    value = {"links": cards[:limit], "cross_thread_episodes": episodes}
    if app.answered(value, cards, "no threads are linked; `episodic link explain THREAD` says why"):
        return
    listed = table("later thread", "goes on with", "by", "sure", "score")
    for card in cards[:limit]:
        listed.add_row(
            card.later.origin,
            card.earlier.origin,
            card.link.basis + (" (taken back)" if card.link.unlinked_at else ""),
            card.link.label,
            "" if card.decision is None else f"{card.decision.score:.3f}",
        )
    out().print(listed)
    say_more(len(cards), limit)
    for episode in episodes:
        say(f"cross-thread episode {episode.id}: {episode.title}")


@link.command()
@click.argument("thread")
@click.argument("other", required=False)
@click.option("--all", "all_of_them", is_flag=True, help="Every decision whole, not only the one in force.")
@common
@past
def explain(app: App, thread: str, other: str | None, all_of_them: bool) -> None:
    """Say why THREAD was linked to earlier threads (to OTHER), or was not: what is in force first."""
    with app.user() as memory:
        explanation = memory.links.explain(thread, other)
    if app.as_json:
        print_json(explanation)
        return
    if explanation.reason:
        say(f"nothing was decided: {explanation.reason}")
    judged, standing = explanation.told_first()
    count = len(judged) if all_of_them else standing
    for entry in judged[:count]:
        _print(entry)
    for entry in judged[count:]:
        tell(f"{entry.verdict} ({entry.decision.at:%Y-%m-%d %H:%M})")
    if judged[count:]:
        say("--all tells each of them whole")


def _print(judged: "JudgedLink") -> None:

    console = out()
    console.print(Text(judged.verdict, style="bold"))
    for sentence in judged.sentences:
        console.print(Text(f"  {sentence}"))
    for contribution in judged.contributions[: explaining.HEAVIEST]:
        console.print(
            Text(
                f"  {contribution.adds:+.3f}  {contribution.words} ({contribution.name} "
                f"{contribution.value:.3f})",
                style="dim",
            )
        )


@link.command()
@click.argument("thread")
@click.argument("other")
@common
def add(app: App, thread: str, other: str) -> None:
    """Link two threads by hand."""
    with app.user() as memory:
        made = memory.links.add(thread, other)
    app.remark(made, f"{thread} and {other} are linked")


@link.command()
@click.argument("thread")
@click.argument("other")
@common
def unlink(app: App, thread: str, other: str) -> None:
    """Take the link of two threads back; they stay apart until `link add`."""
    with app.user() as memory:
        gone = memory.links.remove(thread, other)
    app.remark(gone, f"{thread} and {other} are apart")


link.add_command(link_outcome)


@click.command()
@click.argument("episode")
@click.option("--to", "parent", metavar="EPISODE", help="Let it go on from this one, by hand.")
@click.option("--unlink", "apart", is_flag=True, help="Take the link to its parent back, for good.")
@common
@past
def chain(app: App, episode: str, parent: str | None, apart: bool) -> None:
    """Show a session with those before it in its chain, the first one first; `summaries` lists sessions."""
    if parent is not None and apart:
        raise InvalidInput("--to and --unlink do not go together; name one")
    with app.user() as memory:
        session = parse_id(episode, memory)
        if parent is not None:
            memory.chains.add(session, parse_id(parent, memory))
        if apart:
            memory.chains.remove(session)
        episodes = app.shown(memory, memory.chains.get(session))
    print_chain(app, episodes)


def print_chain(app: App, episodes: Sequence[Episode]) -> None:
    """Print sessions in their order, each with the one it goes on from where that is shown too."""
    if app.as_json:
        print_json(episodes)
        return
    titles = {one.id: one.title or "Untitled" for one in episodes}
    for episode in episodes:
        before = titles.get(episode.parent_episode_id) if episode.parent_episode_id is not None else None
        text = f' (continues from "{before}")' if before is not None else ""
        tell(f"[{episode.start_at:%Y-%m-%d}] {titles[episode.id]}{text}  {episode.id}")


@click.command()
@click.argument("query", required=False)
@click.option("--kind", type=click.Choice(KINDS), help="Only skills of this kind.")
@click.option("--limit", type=click.IntRange(1, 100_000), default=20, show_default=True)
@common
@past
def skills(app: App, query: str | None, kind: str | None, limit: int) -> None:
    """List skills, the surest first, or those that answer a QUERY, best first."""
    with app.user() as memory:
        cards = memory.skills.list(query, kind=kind, limit=limit + 1)
    value = {"skills": [{**_record(card), "score": card.score} for card in cards[:limit]]}
    nothing = "no skill answers this" if query else "no skills yet; what serves fifteen times becomes one"
    if app.answered(value, cards, nothing):
        return
    numbers = ("confidence", "seen", "uses")
    listed = table("skill", "kind", *numbers, "description", right=numbers)
    for card in cards[:limit]:
        skill = card.skill
        counts = (_sure(card), str(skill.frequency), str(skill.uses))
        listed.add_row(skill.name, skill.kind.value, *counts, skill.description)
    out().print(listed)
    say_more(len(cards), limit)


@click.group()
def skill() -> None:
    """Show or change one skill; it is called by its name as `skills` lists it, or by its id."""


@skill.command()
@click.argument("name")
@common
@past
def show(app: App, name: str) -> None:
    """Show a skill with its steps, the turns that show it, and why it is one."""
    with app.user() as memory:
        card = memory.skills.get(name)
    if app.as_json:
        print_json({**card.record, "decision": card.decision})
    else:
        _print_skill(card)


@skill.command()
@click.argument("name")
@click.option("--success/--failure", default=True, help="Whether it served (default: it did).")
@common
def used(app: App, name: str, success: bool) -> None:
    """Say that a skill was used, and whether it served; its confidence follows."""
    with app.user() as memory:
        card = memory.skills.used(name, success)
    skill = card.skill
    text = (
        f"{skill.name}: {skill.successes} of {plural(skill.uses, 'use')} served, confidence "
        f"{card.confidence:.3f}"
    )
    app.remark(_record(card), text)


@skill.command()
@click.argument("name")
@common
def forget(app: App, name: str) -> None:
    """Forget a skill for good; the messages that showed it stay."""
    with app.user() as memory:
        card = memory.skills.delete(name)
    app.remark(_record(card), f"{card.skill.name} is forgotten")


@click.group(cls=Listing)
def people() -> None:
    """List who speaks here, and say which names are one person's or are not."""


@people.command("list")
@common
@past
def people_list(app: App) -> None:
    """List everybody who spoke, with all their names and those that may be theirs."""
    with app.user() as memory:
        cards = memory.people.list()
    if app.answered({"people": cards}, cards, "nobody spoke yet"):
        return
    listed = table("name", "also", "messages", "first", "last", "channels", "perhaps", right=("messages",))
    for card in cards:
        times = ("" if at is None else f"{at:%Y-%m-%d}" for at in (card.first_at, card.last_at))
        perhaps = "; ".join(f"{one.name} ({one.reason})" for one in card.proposed)
        also, channels = ", ".join(card.names[1:]), ", ".join(card.channels)
        listed.add_row(*map(Text, (card.name, also, str(card.messages), *times, channels, perhaps)))
    out().print(listed)


@people.command()
@click.argument("name")
@click.argument("other")
@click.option("--shown", metavar="NAME", help="The name of the two to show (default: the fullest).")
@common
def same(app: App, name: str, other: str, shown: str | None) -> None:
    """Say that NAME and OTHER are one person's; `people apart` takes it back."""
    with app.user() as memory:
        card = memory.people.same(name, other, shown=shown)
    app.remark(card, f"{card.name} goes by {', '.join(map(repr, card.names))}")


@people.command("apart")
@click.argument("name")
@click.argument("other", required=False)
@common
def people_apart(app: App, name: str, other: str | None) -> None:
    """Say that NAME is a person's of its own, or not OTHER's; it is not proposed again."""
    with app.user() as memory:
        card = memory.people.apart(name, other)
    app.remark(card, f"{card.name} goes by {', '.join(map(repr, card.names))}")


def _sure(card: "SkillCard") -> str:
    """Return today's confidence, with what it was before idle time was taken off it."""
    before = card.skill.confidence
    idle = f" (was {before:.3f})" if round(before - card.confidence, 3) else ""
    return f"{card.confidence:.3f}{idle}"


def _record(card: "SkillCard") -> dict[str, object]:
    return {name: value for name, value in card.record.items() if name != "evidence"}


def _since(card: "SkillCard") -> str:
    """Say what made today's confidence of the one when judged."""
    skill = card.skill
    served = f"{skill.successes} of {plural(skill.uses, 'use')} served" if skill.uses else "not used yet"
    seen = f"last seen or used on {skill.last_used:%Y-%m-%d}" if skill.last_used is not None else ""
    return ", ".join(part for part in (served, seen) if part)


def _print_skill(card: "SkillCard") -> None:
    table = Table(box=None, show_header=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    shown = {k: v for k, v in card.record.items() if k not in ("evidence", "checks")}
    for name, value in shown.items():
        lines = "\n".join(map(str, value)) if isinstance(value, list) else value
        if lines not in (None, ""):
            table.add_row(name, str(lines))
    table.add_row("evidence", plural(len(card.skill.evidence), "turn"))
    if card.decision is not None:
        failed = [name for name, held in card.skill.checks.items() if not held]
        checks = f"all but {', '.join(failed)}" if failed else "all"
        count, score = card.decision.features["count"], card.decision.score
        passed = f"seen {plural(round(count), 'time')} when judged, checks passed: {checks}"
        table.add_row("why", f"{passed}; {score:.3f} > {card.decision.threshold}")
        table.add_row("today", f"{_sure(card)}, {_since(card)}")
    out().print(table)
