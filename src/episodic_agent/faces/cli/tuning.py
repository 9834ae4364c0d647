"""Commands about learning from outcomes: `tune` run, dry-run, history, rollback, outcome; `link outcome`."""

from typing import Any

import click
from rich.table import Table
from rich.text import Text

from episodic_agent.engine.tuning import LINK, TUNED, TuningRun
from episodic_agent.faces.cli.app import ID, App, common, out, print_json
from episodic_agent.schemas import Decision

OUTCOMES = click.Choice(["correct", "incorrect"], case_sensitive=False)
of_links_or_chains = click.option(
    "--what", type=click.Choice(TUNED), default=LINK, show_default=True, help="What is tuned."
)
RATES = ("accuracy", "false_positive_rate", "false_negative_rate")


@click.group()
def tune() -> None:
    """Let links and chains learn from what came of them; it happens by itself every hundred of either."""


@tune.command("run")
@of_links_or_chains
@common
def tune_run(app: App, what: str, user: str | None, as_json: bool) -> None:
    """Learn from the labelled links (or chains) now, and put what is certainly better in force."""
    with app.memory() as memory:
        _tell(memory.tune(what, user_id=user), as_json=as_json)


@tune.command("dry-run")
@of_links_or_chains
@common
def tune_dry_run(app: App, what: str, user: str | None, as_json: bool) -> None:
    """Say what a run would change; nothing is written."""
    with app.memory() as memory:
        _tell(memory.tune(what, dry_run=True, user_id=user), as_json=as_json)


@tune.command("history")
@click.option("--all", "everything", is_flag=True, help="Also runs that changed nothing.")
@common
def tune_history(app: App, everything: bool, user: str | None, as_json: bool) -> None:
    """List what was tuned, newest first."""
    with app.memory() as memory:
        found = [run for run in memory.tunings(user_id=user) if everything or run.changed]
    if as_json:
        print_json({"runs": [_plain(run) for run in found]})
    elif found:
        out().print(_table(found))
    else:
        out().print("nothing was tuned yet")


@tune.command("rollback")
@of_links_or_chains
@common
def tune_rollback(app: App, what: str, user: str | None, as_json: bool) -> None:
    """Take the last change back; asked again, the one before."""
    with app.memory() as memory:
        _tell(memory.rollback_tuning(what, user_id=user), as_json=as_json)


@tune.command("outcome")
@click.argument("decision")
@click.argument("outcome", type=OUTCOMES)
@common
def tune_outcome(app: App, decision: str, outcome: str, user: str | None, as_json: bool) -> None:
    """Say whether an automatic decision was right: by its id, or that of the episode it made."""
    with app.memory() as memory:
        _tell_outcome(memory.decision_outcome(decision, outcome, user_id=user), as_json=as_json)


@click.command("outcome")
@click.argument("link")
@click.argument("outcome", type=OUTCOMES)
@common
def link_outcome(app: App, link: str, outcome: str, user: str | None, as_json: bool) -> None:
    """Say whether a link, or a refusal to link, was right; it is called by its decision's id."""
    with app.memory() as memory:
        _tell_outcome(memory.link_outcome(link, outcome, user_id=user), as_json=as_json)


def _tell_outcome(decision: Decision, *, as_json: bool) -> None:
    if as_json:
        print_json({"decision": decision.id, "type": decision.type, "outcome": decision.outcome})
    else:
        shown = f"{str(decision.id)[:ID]} ({decision.type}: {decision.verdict})"
        out().print(f"{shown} is {str(decision.outcome).lower()}")


def _plain(run: TuningRun) -> dict[str, Any]:
    return {"decision": run.decision_id, "policy": run.policy, **run.record}


def _tell(run: TuningRun, *, as_json: bool) -> None:
    if as_json:
        print_json(_plain(run))
        return
    console = out()
    console.print(Text(run.record["reason"] if isinstance(run.record["reason"], str) else ""))
    console.print(_table([run]))
    prompt = f", prompt {run.prompt}" if run.prompt else ""
    console.print(Text(f"policy {run.policy}{prompt}"))
    for finding in run.findings:
        console.print(Text(f"the {finding.side} loses {finding.lost:.0%} of {finding.cases}: {finding.line}"))
    if run.decision_id is None:
        console.print("a dry run: nothing is changed")


def _table(runs: list[TuningRun]) -> Table:
    table = Table(box=None, header_style="bold")
    for name in ("date", "what", "threshold", "labels", "accuracy", "false links", "missed links", "why"):
        table.add_column(name, no_wrap=name not in ("why",))
    for run in runs:
        told: Any = run.record
        rates = (f"{told['metrics'][f'{n}_before']:.1%} > {told['metrics'][f'{n}_after']:.1%}" for n in RATES)
        moved = f"{told['previous_threshold']:.2f} > {told['new_threshold']:.2f}"
        labels = str(told["counts"]["labelled"])
        what = run.kind if told["decision_type"] == LINK else f"{run.kind} ({told['decision_type']})"
        table.add_row(told["tuning_date"], what, moved, labels, *rates, Text(told["reason"]))
    return table
