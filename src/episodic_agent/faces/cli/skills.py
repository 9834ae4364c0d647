"""Commands about skills: skills, and `skill` show, used, forget."""

import click
from rich.table import Table

from episodic_agent.core.skills import SkillKind
from episodic_agent.engine.skills import SkillCard
from episodic_agent.faces.cli.app import App, common, out, print_json, say

KINDS = [kind.value for kind in SkillKind]


@click.command()
@click.argument("query", required=False)
@click.option("--kind", type=click.Choice(KINDS), help="Only skills of this kind.")
@click.option("--limit", type=click.IntRange(1, 100_000), default=20, show_default=True)
@common
def skills(
    app: App, query: str | None, kind: str | None, limit: int, user: str | None, as_json: bool
) -> None:
    """List skills, the surest first, or those that answer a QUERY, best first."""
    with app.memory() as memory:
        found = memory.skills(query, kind=kind, limit=limit, user_id=user)
    if as_json:
        print_json({"skills": [{**_record(card), "score": card.score} for card in found]})
        return
    if not found:
        say("no skill answers this" if query else "no skills yet; what serves fifteen times becomes one")
        return
    table = Table(box=None, header_style="bold")
    for name in ("skill", "kind"):
        table.add_column(name, overflow="fold")
    for name in ("confidence", "seen", "uses"):
        table.add_column(name, justify="right")
    table.add_column("description", overflow="fold")
    for card in found:
        skill = card.skill
        counts = (f"{card.confidence:.2f}", str(skill.frequency), str(skill.uses))
        table.add_row(skill.name, skill.kind.value, *counts, skill.description)
    out().print(table)


@click.group()
def skill() -> None:
    """Show or change one skill; it is called by its name as `skills` lists it, or by its id."""


@skill.command()
@click.argument("name")
@common
def show(app: App, name: str, user: str | None, as_json: bool) -> None:
    """Show a skill with its steps, the turns that show it, and why it is one."""
    with app.memory() as memory:
        card = memory.skill(name, user_id=user)
    if as_json:
        print_json({**card.record, "decision": card.decision})
    else:
        _print(card)


@skill.command()
@click.argument("name")
@click.option("--success/--failure", default=True, help="Whether it served (default: it did).")
@common
def used(app: App, name: str, success: bool, user: str | None, as_json: bool) -> None:
    """Say that a skill was used, and whether it served; its confidence follows."""
    with app.memory() as memory:
        card = memory.skill_used(name, success, user_id=user)
    skill = card.skill
    told = f"{skill.name}: {skill.successes} of {skill.uses} uses served, confidence {card.confidence:.3f}"
    _tell(card, told, as_json=as_json)


@skill.command()
@click.argument("name")
@common
def forget(app: App, name: str, user: str | None, as_json: bool) -> None:
    """Forget a skill for good; the messages that showed it stay."""
    with app.memory() as memory:
        card = memory.forget_skill(name, user_id=user)
    _tell(card, f"{card.skill.name} is forgotten", as_json=as_json)


def _record(card: SkillCard) -> dict[str, object]:
    return {name: value for name, value in card.record.items() if name != "evidence"}


def _tell(card: SkillCard, told: str, *, as_json: bool) -> None:
    if as_json:
        print_json(_record(card))
    else:
        say(told)


def _print(card: SkillCard) -> None:
    table = Table(box=None, show_header=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    shown = {k: v for k, v in card.record.items() if k not in ("evidence", "checks")}
    for name, value in shown.items():
        lines = "\n".join(map(str, value)) if isinstance(value, list) else value
        table.add_row(name, "" if lines is None else str(lines))
    table.add_row("evidence", f"{len(card.skill.evidence)} turns")
    if card.decision is not None:
        failed = [name for name, held in card.skill.checks.items() if not held]
        checks = f"all but {', '.join(failed)}" if failed else "all"
        count, score = card.decision.features["count"], card.decision.score
        passed = f"seen {count:.0f} times when judged, checks passed: {checks}"
        table.add_row("why", f"{passed}; {score:.3f} > {card.decision.threshold}")
    out().print(table)
