"""The command that shows what was done for one turn, as a tree."""

import click
from rich.markup import escape
from rich.tree import Tree

from episodic_agent.core.turn_trace import CALL, FAILED
from episodic_agent.engine.turns import Node, Said, TurnTrace, Verdict
from episodic_agent.faces.cli.app import ID, App, common, out, print_json
from episodic_agent.schemas import Json

QUIET = ("job", CALL, FAILED)  # told in another way, or only to scripts
NUMBERS = 6  # of a decision's numbers, the largest first, that a person is shown
LONGEST = 200  # characters of a text


@click.command()
@click.argument("turn")
@click.option("--text", is_flag=True, help="Let words into it: messages, reasons of a model.")
@common
def trace(app: App, turn: str, text: bool, user: str | None, as_json: bool) -> None:
    """Show what was done for one turn: work and its times, decisions, calls of models.

    TURN is an observation's id, its beginning, or THREAD:SEQ.
    """
    with app.memory() as memory:
        found = memory.trace_turn(turn, user_id=user, text=text)
    if as_json:
        print_json(found)
    else:
        out().print(tree(found))


def tree(found: TurnTrace) -> Tree:
    """Lay a turn out for the terminal."""
    first, last = found.messages[0], found.messages[-1]
    span = f"{first.seq}" if first is last else f"{first.seq}-{last.seq}"
    root = Tree(f"[bold]turn {escape(found.thread)}:{span}[/bold]  {found.turn}")
    for said in found.messages:
        root.add(_said(said))
    for node in found.work:
        began = "" if node.at is None else f"  [dim]{node.at:%Y-%m-%d %H:%M:%S}[/dim]"
        _hang(root, node, began)
    return root


def _said(said: Said) -> str:
    words = "" if said.text is None else f"  {escape(_short(said.text))}"
    return f"{escape(said.actor)}  [dim]{said.at:%Y-%m-%d %H:%M:%S}[/dim]{words}"


def _hang(above: Tree, node: Node, began: str = "") -> None:
    attributes = dict(node.attributes)
    took = "  [dim]time not kept[/dim]" if node.seconds is None else f"  {duration(node.seconds)}"
    failed = f"  [red]{attributes[FAILED]}[/red]" if FAILED in attributes else ""
    told = ", ".join(f"{name} {value}" for name, value in attributes.items() if name not in QUIET)
    branch = above.add(f"[bold]{escape(node.name)}[/bold]{took}{failed}  {escape(told)}{began}".rstrip())
    for child in node.children:
        _hang(branch, child)
    for verdict in node.verdicts:
        _hang_verdict(branch, verdict)


def _hang_verdict(above: Tree, one: Verdict) -> None:
    sure = f", {one.confidence.lower()}" if one.confidence else ""
    by = f"  [dim]{escape(one.policy)}, decision {str(one.decision)[:ID]}[/dim]" if one.decision else ""
    # a resolution compares seconds of silence
    score = f"{_number(one.score)} against {_number(one.threshold)}"
    branch = above.add(f"[cyan]{escape(one.verdict)}[/cyan]  {score}{sure}{by}")
    numbers = {k: v for k, v in one.detail.items() if isinstance(v, int | float) and not isinstance(v, bool)}
    largest = sorted((k for k, v in numbers.items() if v), key=lambda k: -abs(float(numbers[k])))[:NUMBERS]
    if largest:
        branch.add("[dim]" + ", ".join(f"{k} {_number(float(numbers[k]))}" for k in largest) + "[/dim]")
    rest = {
        k: v
        for k, v in one.detail.items()
        if k not in numbers and k != "observation" and v not in (None, "", [], {})
    }
    if rest:
        branch.add("[dim]" + escape(", ".join(f"{k} {_plain(v)}" for k, v in rest.items())) + "[/dim]")


def duration(seconds: float) -> str:
    """Write a length of time in three digits or so.

    >>> duration(0.00042), duration(0.0123), duration(2.5), duration(90)
    ('0.42 ms', '12.3 ms', '2.50 s', '90.0 s')
    """
    if seconds < 1:
        return f"{seconds * 1000:.2f} ms" if seconds < 0.01 else f"{seconds * 1000:.1f} ms"
    return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.1f} s"


def _number(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


def _plain(value: Json) -> str:
    return _short(str(value))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"
