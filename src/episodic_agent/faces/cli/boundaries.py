"""Commands of decisions: explain, whatif, resegment, reencode, rename, decisions, trace, tune, outcome."""

import shlex
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from episodic_agent.core.context.retrieved import heading
from episodic_agent.core.language import plural
from episodic_agent.core.trace import CALL, FAILED
from episodic_agent.engine import lived
from episodic_agent.engine.jobs.kinds import LINK, TUNED
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.faces import wording
from episodic_agent.faces.cli.app import ID, App, common, moment, out, parse_id, print_json, say, say_replaced
from episodic_agent.schemas import Decision, Json, Kind
from episodic_agent.showing import clipped

if TYPE_CHECKING:
    from uuid import UUID

    from episodic_agent.engine.boundary.explain import Edge, ExplainedSpan, Explanation
    from episodic_agent.engine.boundary.resegmenting import Resegmented, Undone
    from episodic_agent.engine.trace.turns import TracedObservation, TracedVerdict, TraceNode, TurnTrace
    from episodic_agent.engine.tuning.runs import TuningRun
    from episodic_agent.engine.user import UserMemory


QUIET = ("job", CALL, FAILED)  # told in another way, or only to scripts
NUMBERS = 6  # of a decision's numbers, the largest first, that a person is shown
LONGEST = 200  # characters of a text
_SUMMARY = "compact"  # the type of a decision that says which summary was due
_MORE = 25  # times as many decisions are read as rows are shown: summaries come in hundreds after an import
QUOTED = 90  # of a message that a boundary is told by
OUTCOMES = click.Choice(["correct", "incorrect"], case_sensitive=False)
of_links_or_chains = click.option(
    "--what", type=click.Choice(TUNED), default=LINK, show_default=True, help="What is tuned."
)
RATES = ("accuracy", "false_positive_rate", "false_negative_rate")


@click.command()
@click.argument("episode")
@common
def explain(app: App, episode: str) -> None:
    """Say why an episode begins and ends where it does."""
    with app.user() as memory:
        explanation = memory.boundaries.explain(parse_id(episode, memory))
    if app.as_json:
        print_json(explanation)
        return
    if explanation.asked is not None:
        say_replaced(explanation.asked, explanation.episode.id)
    render_explanation(explanation, memory.name)


def render_explanation(explanation: "Explanation", owner: str) -> None:
    """Print an explanation for people; `owner` is the user whose memory it is of."""
    console = out()
    console.print(Text(heading(explanation.episode.title, explanation.episode.start_at), style="bold"))
    told_of = explanation.begins.observation
    unit = "steps" if told_of is not None and told_of.kind is Kind.STEP else "messages"
    console.print(Text(f"{unit} {explanation.episode.first_seq}-{explanation.episode.last_seq}", style="dim"))
    for name, edge in (("begins", explanation.begins), ("ends", explanation.ends)):
        at = f"{name} at {edge.seq}: " if edge.decision is not None or name == "begins" else ""
        why = wording.sentence(edge.sentence, edge.reason)
        named = "" if why == edge.sentence else f"{wording.reason(edge.reason)}: "
        console.print(Text(f"{at}{named}{why}"))
        _quote(edge, owner)
        if edge.decision is not None and edge.decision.features:
            loudest = sorted(edge.decision.features.items(), key=lambda cue: (-abs(cue[1]), cue[0]))
            cues = ", ".join(f"{wording.cue_words(name)} {value:.2f}" for name, value in loudest)
            console.print(Text(f"    cues: {cues}", style="dim"))
    for near in explanation.runners_up:
        quoted = f' "{clipped(near.observation.text, QUOTED)}"' if near.observation is not None else ""
        held = f", not cut: {near.held}" if near.held else ""
        console.print(
            Text(f"nearly cut at {near.seq}: {near.probability:.2f} of {near.threshold:.2f}{held}{quoted}")
        )
    for line in explanation.echoes:
        console.print(Text(line, style="dim"))
    for line in explanation.what_would_change:
        console.print(Text(f"→ {line}"))


def _quote(edge: "Edge", owner: str) -> None:
    if edge.observation is not None:
        actor = wording.spoken_by(edge.observation.actor, owner)
        out().print(Text(f'    {actor}: "{clipped(edge.observation.text, QUOTED)}"', style="italic"))


@click.command()
@click.argument("thread")
@click.option(
    "--policy", "other", required=True, help="The policy to try, e.g. seed-001 or default?threshold=0.6."
)
@common
def whatif(app: App, thread: str, other: str) -> None:
    """Show what another policy would have made of THREAD (`stats` names them); nothing is written."""
    with app.user() as memory:
        compared = memory.boundaries.whatif(thread, other)
    if app.as_json:
        print_json(compared)
        return
    console = out()
    console.print(
        f"{compared.policy}: {plural(len(compared.proposed), 'episode')} instead of {len(compared.stored)}, "
        f"{compared.same} the same"
    )
    _render_diff(compared.stored, compared.proposed)


def _render_diff(stored: "Sequence[ExplainedSpan]", proposed: "Sequence[ExplainedSpan]") -> None:
    before, after = set(stored), set(proposed)
    for span in sorted(before ^ after, key=lambda s: (s.first_seq, s.last_seq, s in after)):
        out().print(_diff(span, added=span in after))


@click.command()
@click.argument("thread")
@click.option(
    "--policy", "other", help="The policy to segment by (default: the memory's); parameters may follow."
)
@click.option(
    "--online", is_flag=True, help="As if the messages came again one by one, not the whole at once."
)
@click.option("--dry-run", is_flag=True, help="Show what would change; write nothing.")
@click.option("--undo", is_flag=True, help="Go back to the episodes before the last resegment.")
@click.option("--cut", type=int, metavar="N", help="Only let an episode begin with message N, by hand.")
@click.option("--join", type=int, metavar="N", help="Only join the episode that begins with message N.")
@common
def resegment(
    app: App,
    thread: str,
    other: str | None,
    online: bool,
    dry_run: bool,
    undo: bool,
    cut: int | None,
    join: int | None,
) -> None:
    """Segment THREAD again (`stats` names them), with the whole of it known; --undo takes it back.

    --cut and --join correct one boundary by hand, by the numbers that `explain` and `plot` show.
    """
    by_hand = cut is not None or join is not None
    if undo and (other or online or dry_run or by_hand):
        raise InvalidInput("--undo goes back to what was before: leave --policy, --online and the others out")
    if by_hand and (other or online):
        raise InvalidInput("--cut and --join correct by hand: leave --policy and --online out")
    with app.user() as memory:
        if undo:
            undone = memory.boundaries.undo(thread)
        else:
            done = memory.boundaries.resegment(
                thread, other, complete=not online, dry_run=dry_run, cut=cut, join=join
            )
    if app.as_json:
        print_json(undone if undo else done)
    elif undo:
        render_undone(undone)
    else:
        render_resegmented(done, dry_run=dry_run, undo=_undo_command(app, thread))


def _undo_command(app: App, thread: str) -> str:
    place = ["--db", app.shown_url] if app.db else []
    whose = ["--user", app.user_name] if app.user_name else []
    return shlex.join(["episodic", *place, "resegment", thread, "--undo", *whose])


def render_resegmented(done: "Resegmented", *, dry_run: bool, undo: str) -> None:
    """Print what segmenting again did, and how to take it back; `undo` is the command for that."""
    console = out()
    if not (done.replaced or done.new):
        console.print(Text(f"{done.policy}: the same episodes as stored; nothing to change"))
        return
    counts = f"{done.kept} kept, {done.replaced} replaced, {done.new} new"
    console.print(Text(f"{done.policy} ({done.mode}): {counts}{' (nothing written)' if dry_run else ''}"))
    _render_diff(done.stored, _as_kept(done))
    if done.unembedded:
        say(
            f"{plural(done.unembedded, 'message without a vector was', 'messages without a vector were')} "
            "judged by words; `doctor --repair` embeds what is left"
        )
    if done.written:
        say(f"`{undo}` takes it back")


def _as_kept(done: "Resegmented") -> "list[ExplainedSpan]":
    """Return the proposed spans, those that are there already with the reason they keep."""
    there = {(s.first_seq, s.last_seq): s for s in done.stored if s.reason != "open"}
    last = len(done.proposed) - 1
    return [
        s if n == last and s.reason == "open" else there.get((s.first_seq, s.last_seq), s)
        for n, s in enumerate(done.proposed)
    ]


def render_undone(undone: "Undone") -> None:
    """Print what undoing did."""
    later = f"; {plural(undone.later, 'message')} came since, segmented on arrival" if undone.later else ""
    counts = f"{plural(undone.restored, 'episode')} restored, {undone.removed} removed, {undone.kept} kept"
    out().print(Text(f"back at generation {undone.generation}: {counts}{later}"))


def _diff(span: "ExplainedSpan", *, added: bool) -> Text:
    sign, style = ("+", "green") if added else ("-", "red")
    return Text(f"{sign} {span.first_seq}-{span.last_seq} {wording.reason(span.reason)}", style=style)


@click.command()
@click.option("--thread", metavar="THREAD", help="The episodes of this thread.")
@click.option("--all", "every", is_flag=True, help="All of the user's.")
@click.option("--by", metavar="NAME", help="Only what was encoded by this: `extractive`, a model's name.")
@common
def reencode(app: App, thread: str | None, every: bool, by: str | None) -> None:
    """Find titles and summaries of closed episodes anew; the versions before are kept."""
    if (thread is None) == (not every):
        raise InvalidInput("give --thread THREAD, or --all for all of them")
    with app.user() as memory:
        asked = memory.episodes.reencode(thread=thread, every=every, by=by)
        waiting = memory.stats().waiting_jobs
    app.remark(
        {"asked": asked, "waiting_jobs": waiting},
        f"{plural(asked, 'episode')} encoded again"
        + (f"; {plural(waiting, 'job waits', 'jobs wait')}" if waiting else ""),
    )


@click.command()
@click.argument("episode")
@click.argument("title")
@common
def rename(app: App, episode: str, title: str) -> None:
    """Give a closed EPISODE a title by hand; the titles before are kept."""
    with app.user() as memory:
        renamed = memory.episodes.rename(parse_id(episode, memory), title)
    app.remark(renamed, f"episode {renamed.id} is titled {renamed.title!r}")


@click.command()
@click.option("--since", metavar="TIME", help="The first from this time on (ISO 8601 or epoch).")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="How many.")
@common
def decisions(app: App, since: str | None, limit: int) -> None:
    """List what was decided: boundaries, links, facts, corrections; the newest last."""
    with app.user() as memory:
        if app.as_json:
            print_json({"decisions": memory.trace.decisions(since=moment(since), limit=limit)})
            return
        made = memory.trace.decisions(since=moment(since), limit=limit * _MORE)
        runs = _folded(made)
        runs = runs[-limit:] if since is None else runs[:limit]
        abouts = _abouts(memory, [run[-1] for run in runs])
    if not runs:
        say("nothing was decided" + ("" if since is None else f" from {since} on"))
        return
    table = Table("when", "decided", "verdict", "measured", "about", box=None, pad_edge=False)
    for run in runs:
        decision, about = run[-1], abouts[run[-1].subject]
        cells = (wording.decided(decision.type), wording.verdict(decision), wording.measured(decision))
        if len(run) > 1:
            cells, about = (*cells[:2], f"{len(run)} like this"), ""
        table.add_row(f"{decision.at:%Y-%m-%d %H:%M}", *map(Text, cells), Text(about))
    out().print(table)


def _folded(made: "Sequence[Decision]") -> "list[list[Decision]]":
    """Return decisions as rows: summaries that were due in a row stand in one, and hide nothing else."""
    runs: list[list[Decision]] = []
    for decision in made:
        before = runs[-1][-1] if runs else None
        alike = before and before.type == decision.type == _SUMMARY and before.verdict == decision.verdict
        if alike:
            runs[-1].append(decision)
        else:
            runs.append([decision])
    return runs


def _abouts(memory: "UserMemory", made: "Sequence[Decision]") -> "dict[UUID, str]":
    """Name what decisions are about as people know it: by its title, and what commands find it by."""
    threads = {thread.id: thread for thread in memory.threads.list()}
    named = {}
    for subject in {decision.subject for decision in made}:
        if (thread := threads.get(subject)) is not None:
            named[subject] = clipped(thread.title or thread.origin, wording.TITLE + ID)
            continue
        title = ""
        with suppress(NotFound):
            title = memory.episodes.card(subject).heading
        if not title:
            with suppress(NotFound):
                title = memory.skills.get(subject).skill.name
        named[subject] = wording.subject_words(title, str(subject)[:ID])
    return named


@click.command()
@click.argument("turn")
@click.option("--text", is_flag=True, help="Let words into it: messages, reasons of a model.")
@common
def trace(app: App, turn: str, text: bool) -> None:
    """Show what was done for one turn: work and its times, decisions, calls of models.

    TURN is an observation's id, its beginning, or THREAD:SEQ.
    """
    with app.user() as memory:
        trace = memory.trace.turn(turn, text=text)
        trace = trace if app.as_json else lived.trace_as_lived(memory, trace)
    if app.as_json:
        print_json(trace)
    else:
        out().print(tree(trace))


def tree(trace: "TurnTrace") -> Tree:
    """Lay a turn out for the terminal."""
    first, last = trace.messages[0], trace.messages[-1]
    span = f"{first.seq}" if first is last else f"{first.seq}-{last.seq}"
    root = Tree(Text.assemble((f"turn {trace.thread}:{span}", "bold"), f"  {trace.turn}"))
    for observation in trace.messages:
        root.add(_observation_text(observation))
    for node in trace.work:
        _hang(root, node, "" if node.at is None else wording.second(node.at))
    return root


def _observation_text(observation: "TracedObservation") -> Text:
    words = "" if observation.text is None else f"  {clipped(observation.text, LONGEST)}"
    return Text.assemble(f"{observation.actor}  ", (wording.second(observation.at), "dim"), words)


def _hang(above: Tree, node: "TraceNode", began: str = "") -> None:
    attributes = dict(node.attributes)
    took = ("time not kept", "dim") if node.seconds is None else duration(node.seconds)
    line = Text.assemble((node.name, "bold"), "  ", took)
    if FAILED in attributes:
        line.append(f"  {attributes[FAILED]}", style="red")
    text = ", ".join(f"{name} {value}" for name, value in attributes.items() if name not in QUIET)
    line.append(f"  {text}" if text else "")
    line.append(f"  {began}" if began else "", style="dim")
    branch = above.add(line)
    for child in node.children:
        _hang(branch, child)
    for verdict in node.verdicts:
        _hang_verdict(branch, verdict)


def _hang_verdict(above: Tree, verdict: "TracedVerdict") -> None:
    sure = f", {verdict.confidence.lower()}" if verdict.confidence else ""
    by = f"  {verdict.policy}, decision {str(verdict.decision)[:ID]}" if verdict.decision else ""
    # a resolution compares seconds of silence
    score = f"{_number(verdict.score)} against {_number(verdict.threshold)}"
    branch = above.add(Text.assemble((verdict.verdict, "cyan"), f"  {score}{sure}", (by, "dim")))
    numbers = {
        k: v for k, v in verdict.detail.items() if isinstance(v, int | float) and not isinstance(v, bool)
    }
    largest = sorted((k for k, v in numbers.items() if v), key=lambda k: -abs(float(numbers[k])))[:NUMBERS]
    if largest:
        branch.add(Text(", ".join(f"{k} {_number(float(numbers[k]))}" for k in largest), style="dim"))
    rest = {
        k: v
        for k, v in verdict.detail.items()
        if k not in numbers and k != "observation" and v not in (None, "", [], {})
    }
    if rest:
        branch.add(Text(", ".join(f"{k} {_plain(v)}" for k, v in rest.items()), style="dim"))


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
    return clipped(str(value), LONGEST)


@click.group()
def tune() -> None:
    """Let links and chains learn from what came of them; it happens by itself every hundred of either."""


@tune.command("run")
@of_links_or_chains
@common
def tune_run(app: App, what: str) -> None:
    """Learn from the labelled links (or chains) now, and put what is certainly better in force."""
    with app.user() as memory:
        _tell(app, memory.tuning.run(what))


@tune.command("dry-run")
@of_links_or_chains
@common
def tune_dry_run(app: App, what: str) -> None:
    """Say what a run would change; nothing is written."""
    with app.user() as memory:
        _tell(app, memory.tuning.run(what, dry_run=True))


@tune.command("history")
@click.option("--all", "everything", is_flag=True, help="Also runs that changed nothing.")
@common
def tune_history(app: App, everything: bool) -> None:
    """List what was tuned, newest first."""
    with app.user() as memory:
        runs = [run for run in memory.tuning.list() if everything or run.changed]
    if app.as_json:
        print_json({"runs": [_run_json(run) for run in runs]})
    elif runs:
        out().print(_runs(runs))
    else:
        out().print("nothing was tuned yet")


@tune.command("rollback")
@of_links_or_chains
@common
def tune_rollback(app: App, what: str) -> None:
    """Take the last change back; asked again, the one before."""
    with app.user() as memory:
        _tell(app, memory.tuning.rollback(what))


@tune.command("outcome")
@click.argument("decision")
@click.argument("outcome", type=OUTCOMES)
@common
def tune_outcome(app: App, decision: str, outcome: str) -> None:
    """Say whether an automatic decision was right: by its id, or that of the episode it made."""
    with app.user() as memory:
        _tell_outcome(app, memory.tuning.outcome(decision, outcome))


@click.command("outcome")
@click.argument("link")
@click.argument("outcome", type=OUTCOMES)
@common
def link_outcome(app: App, link: str, outcome: str) -> None:
    """Say whether a link, or a refusal to link, was right; it is called by its decision's id."""
    with app.user() as memory:
        _tell_outcome(app, memory.links.outcome(link, outcome))


def _tell_outcome(app: App, decision: Decision) -> None:
    if app.as_json:
        print_json({"decision": decision.id, "type": decision.type, "outcome": decision.outcome})
    else:
        shown = f"{str(decision.id)[:ID]} ({decision.type}: {decision.verdict})"
        out().print(f"{shown} is {str(decision.outcome).lower()}")


def _run_json(run: "TuningRun") -> dict[str, Any]:
    return {"decision": run.decision_id, "policy": run.policy, **run.record}


def _tell(app: App, run: "TuningRun") -> None:
    if app.as_json:
        print_json(_run_json(run))
        return
    console = out()
    console.print(Text(run.record["reason"] if isinstance(run.record["reason"], str) else ""))
    console.print(_runs([run]))
    prompt = f", prompt {run.prompt}" if run.prompt else ""
    console.print(Text(f"policy {run.policy}{prompt}"))
    for finding in run.findings:
        console.print(Text(f"the {finding.side} loses {finding.lost:.0%} of {finding.cases}: {finding.line}"))
    if run.decision_id is None:
        console.print("a dry run: nothing is changed")


def _runs(runs: "list[TuningRun]") -> Table:
    table = Table(box=None, header_style="bold")
    for name in ("date", "what", "threshold", "labels", "accuracy", "false links", "missed links", "why"):
        table.add_column(name, no_wrap=name not in ("why",))
    for run in runs:
        answer: Any = run.record
        rates = (
            f"{answer['metrics'][f'{n}_before']:.1%} > {answer['metrics'][f'{n}_after']:.1%}" for n in RATES
        )
        moved = f"{answer['previous_threshold']:.2f} > {answer['new_threshold']:.2f}"
        labels = str(answer["counts"]["labelled"])
        what = run.kind if answer["decision_type"] == LINK else f"{run.kind} ({answer['decision_type']})"
        table.add_row(answer["tuning_date"], what, moved, labels, *rates, Text(answer["reason"]))
    return table
