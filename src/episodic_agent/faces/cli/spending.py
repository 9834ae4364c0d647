"""The command that shows what language models cost."""

from datetime import date, datetime

import click
from rich.table import Table

from episodic_agent.engine.usage import summed
from episodic_agent.faces.cli.app import App, common, out, print_json
from episodic_agent.schemas import ModelUse
from episodic_agent.wiring import budget_of, load_settings, utc_now

DAY = click.DateTime(["%Y-%m-%d"])
COLUMNS = ("day", "stage", "model", "calls", "failed", "tokens in", "tokens out", "s a call")


@click.command()
@click.option("--since", type=DAY, help="First day (UTC), YYYY-MM-DD.")
@click.option("--until", type=DAY, help="Last day (UTC).")
@common
def usage(app: App, since: datetime | None, until: datetime | None, user: str | None, as_json: bool) -> None:
    """Show what language models cost the space, or a user, by day, stage and model."""
    first = since.date() if since else date.min
    last = until.date() if until else date.max
    with app.memory() as memory:
        found = memory.usage(first, last, user_id=user)
        today = utc_now().date()
        spent = sum(use.tokens for use in memory.usage(today, today))
    budget = budget_of(load_settings())
    if as_json:
        print_json({"usage": found, "spent_today": spent, "budget": budget})
        return
    if found:
        out().print(_table(found))
    limit = "no budget is set" if budget is None else f"of a budget of {budget:,} a day"
    out().print(f"{'' if found else 'no calls; '}today (UTC) {spent:,} tokens, {limit}")


def _table(uses: list[ModelUse]) -> Table:
    table = Table(*COLUMNS, box=None, show_footer=False)
    for column in table.columns[3:]:
        column.justify = "right"
    total = summed(uses)
    assert total is not None
    for use in uses:
        table.add_row(f"{use.day}", use.stage, use.model, *_counts(use))
    if len(uses) > 1:
        table.add_row("all", "", "", *_counts(total))
    return table


def _counts(use: ModelUse) -> tuple[str, ...]:
    numbers = (use.calls, use.failures, use.prompt_tokens, use.completion_tokens)
    return (*(f"{number:,}" for number in numbers), f"{use.seconds / max(use.calls, 1):.2f}")
