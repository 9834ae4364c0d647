"""Commands that look: search, retrieve, context, sequence, replay, episodes, show, stats, export."""

import sys
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table
from rich.text import Text

from episodic_agent.core.context.retrieved import DETAILS
from episodic_agent.core.language import plural
from episodic_agent.engine.arguments import FORMS, MAX_TOKENS, MOST_EPISODES, MOST_FACTS, MOST_OBSERVATIONS
from episodic_agent.engine.results import NOTHING, NOTHING_ELSE, EpisodeCard, Hit, Recall
from episodic_agent.faces import wording
from episodic_agent.faces.cli.app import (
    ID,
    STANDARD,
    App,
    check_output,
    common,
    elsewhere,
    force,
    moment,
    names_of_only,
    out,
    parse_id,
    past,
    print_json,
    say,
    say_more,
    say_replaced,
    tell,
    tell_json,
    whose,
)
from episodic_agent.faces.cli.saying import WIDE
from episodic_agent.faces.shapes import recall_json
from episodic_agent.lazily import module
from episodic_agent.private import replacing
from episodic_agent.schemas import AuditKind
from episodic_agent.schemas.facts import since_when
from episodic_agent.showing import clipped

if TYPE_CHECKING:
    from episodic_agent.core.chains import sequences as core_sequences
    from episodic_agent.engine import lived
    from episodic_agent.engine.chains import sequences
    from episodic_agent.engine.context.assembling import ThreadContext
    from episodic_agent.engine.memory import Memory
    from episodic_agent.engine.user import UserMemory
else:
    core_sequences = module("episodic_agent.core.chains.sequences")
    lived = module("episodic_agent.engine.lived")
    sequences = module("episodic_agent.engine.chains.sequences")


LABELS = {  # of counts whose own names say too little to people
    "origins": "names of threads", "observations": "messages and steps", "facts": "facts that hold",
    "open_observations": "in open episodes", "unconsolidated": "unread for facts",
}  # fmt: skip
OTHER_COLUMNS = 64  # of a listing, beside the title
FEW_ENTRIES = 100  # of the audit, for people
EVERY_ENTRY = (1 << 31) - 1
LIMIT = click.IntRange(1, MOST_EPISODES)
FACTS = click.IntRange(0, MOST_FACTS)
RANKED = click.IntRange(1, MOST_OBSERVATIONS)
ORDER = click.option("--order", default="relevant", show_default=True, help="relevant or recent.")
SINCE = click.option(
    "--since", type=moment, help="Only what began from this time on (UTC without an offset)."
)
UNTIL = click.option("--until", type=moment, help="Only what began before this time.")
WHERE = click.option(
    "--where", multiple=True, metavar="FILTER", help="By metadata: tag=debugging, tool=bash."
)
PROJECT = click.option("--project", metavar="FOLDER", help="Nothing of other projects' folders.")
ONLY = click.option(
    "--only", multiple=True, metavar="NAME", help="Nothing but of these threads and channels."
)
SPEAKER = click.option("--speaker", metavar="NAME", help="Only what this one said.")
POLICY = click.option("--policy", default="default", show_default=True, help="default or seed-004.")


def _of_a_topic(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that say which episodes of a topic it tells."""
    for option in (past, common, POLICY, ONLY, PROJECT, WHERE, UNTIL, SINCE, ORDER):
        function = option(function)
    return function


@click.command()
@click.argument("query")
@click.option("--limit", type=LIMIT, default=5, show_default=True, help="Episodes to return.")
@click.option("--observations", type=RANKED, help="Observations to rank over all.")
@click.option("--policy", default="default", show_default=True, help="default, recall-2026-12 or seed-003.")
@click.option("--since", type=moment, help="Only from this time on (UTC without an offset).")
@click.option("--until", type=moment, help="Only before this time.")
@click.option("--thread", help="Only this thread.")
@click.option("--place", help="Only what was observed at this place.")
@click.option("--where", multiple=True, metavar="FIELD=VALUE", help="Only episodes about this: tag=memory.")
@click.option("--now", type=moment, help="As if it were this time (for `last week` and for forgetting).")
@click.option("--asking", metavar="THREAD", help="The thread that asks: what it says next is a review.")
@click.option("--facts", type=FACTS, default=5, show_default=True, help="Facts to return.")
@click.option("--category", help="Only facts of this category.")
@SPEAKER
@PROJECT
@ONLY
@click.option("--explain", is_flag=True, help="Show each leg's score.")
@click.option("--suppressed", is_flag=True, help="List what was left out too, and why.")
@common
@past
def search(app: App, query: str, only: tuple[str, ...], **options: Any) -> None:
    """Find the facts and episodes that answer a question, with the messages that prove it."""
    explain: bool = options["explain"]
    with app.user() as memory:
        recall = memory.search(query, only=names_of_only(memory, only), **options)
        recall = recall if app.as_json else lived.recall_as_lived(memory, recall)
    if app.as_json:
        print_json(recall_json(recall, explain=explain, suppressed=options["suppressed"]))
    else:
        render_recall(recall, memory.name, explain=explain)


@click.command()
@click.argument("query")
@click.option(
    "--detail", type=click.Choice(DETAILS), default="auto", show_default=True, help="Whose messages to show."
)
@click.option("--limit", type=LIMIT, default=5, show_default=True, help="Episodes to return.")
@click.option("--facts", type=FACTS, default=20, show_default=True, help="Facts to return.")
@click.option("--category", help="Only facts of this category.")
@click.option("--thread", help="Only this thread.")
@click.option("--where", multiple=True, metavar="FIELD=VALUE", help="Only episodes about this: tag=memory.")
@click.option("--now", type=moment, help="As if it were this time.")
@click.option("--asking", metavar="THREAD", help="The thread that asks: what it says next is a review.")
@SPEAKER
@PROJECT
@ONLY
@common
@past
def retrieve(app: App, query: str, only: tuple[str, ...], **options: Any) -> None:
    """Print what answers a question as Markdown for a prompt; nothing where nothing answers."""
    with app.user() as memory:
        text = memory.retrieve(query, only=names_of_only(memory, only), **options)
    if app.as_json:
        print_json({"text": text})
    else:
        tell(text, end="")


def render_recall(recall: Recall, owner: str, *, explain: bool = False) -> None:
    """Print a recall for people; `owner` is the user whose memory answered."""
    likely = recall.hits if explain else wording.likely_hits(recall.hits)
    facts = recall.facts if explain else wording.bearing_facts(recall.facts, likely)
    console = out()
    answered = bool(facts or recall.commitments)
    if recall.abstained and not answered:
        console.print(Text(NOTHING, style="yellow"))
    for note in recall.notes:
        say(note.replace(f"{NOTHING}: ", "why: ", 1) if recall.abstained else note)
    console.print(Text("".join(f"• {taken_on.line}\n" for taken_on in recall.commitments)), end="")
    for matching_hit in facts:
        fact = matching_hit.fact
        console.print(
            Text(f"• {wording.fact_words(fact.fact, owner)}"),
            Text(f"{fact.category}, {since_when(fact)}", style="dim"),
        )
    if recall.abstained and answered:
        console.print(Text(NOTHING_ELSE, style="yellow"))
    for left in recall.suppressed:
        say(f"left out: {left.hit.heading} ({str(left.hit.episode_id)[:ID]}), {left.reason}")
    if recall.candidates and explain:
        console.print(Text("not good enough:", style="dim"))
    for rank, hit in enumerate(recall.candidates if explain and recall.abstained else likely, 1):
        console.print(Text(f"{rank}. {hit.heading}", style="bold"))
        state = " · open" if hit.state == "open" else ""
        state += " · key moment" if hit.key_moment else ""
        sure = "under 1%" if 0 < hit.confidence < 0.005 else f"{hit.confidence:.0%}"
        scored = f"  score {hit.score:.2f}" if explain else ""  # what orders them, the sum of the legs
        console.print(
            Text(
                f"   {wording.minute(hit.start_at)}  confidence {sure}{scored}"
                f"  {str(hit.episode_id)[:ID]}{state}",
                style="dim",
            )
        )
        _render_proofs(hit, recall.query, owner, explain=explain)
    if faint := len(recall.hits) - len(likely):
        say(f"{plural(faint, 'unlikely hit')} left out; --explain shows them")
    if astray := len(recall.facts) - len(facts):
        say(f"{plural(astray, 'fact')} of other matters left out; --explain shows them")


def _render_proofs(hit: Hit, query: str, owner: str, *, explain: bool) -> None:
    """Print the messages that prove a hit, and what was decided in its session."""
    console = out()
    for evidence in hit.evidence:
        line = wording.quoted(evidence.quoted(query), evidence.observation.actor, owner)
        console.print(Text(f"   {line}"))
        if explain:
            console.print(Text("      " + _legs(evidence.legs), style="dim"))
    if hit.decisions:
        console.print(Text(f"   decided: {'; '.join(hit.decisions)}"))


def _legs(legs: Any) -> str:
    return "  ".join(f"{wording.leg_words(name)} {value:.3f}" for name, value in legs.items())


@click.command()
@click.option("--limit", type=click.IntRange(1, 100_000), default=10, show_default=True)
@click.option("--days", type=click.FloatRange(min=0), help="Only episodes that ended in the last N days.")
@click.option("--where", multiple=True, metavar="FIELD=VALUE", help="Only those about this: tag=memory.")
@click.option("--suppressed", is_flag=True, help="What is suppressed or archived too.")
@PROJECT
@common
@past
def recent(app: App, limit: int, suppressed: bool, where: tuple[str, ...], **options: Any) -> None:
    """List the newest episodes first."""
    with app.memory() as memory:
        mine = app.asked(whose(memory, app.user_name))
        listed = partial(mine.episodes.recent, where=where or None, **options)
        cards = app.shown(mine, listed(limit=limit + 1, suppressed=suppressed))
        hidden = not (cards or suppressed) and listed(limit=1, suppressed=True)
        empty = _why_empty(memory)
    if hidden and not app.as_json:
        say("what there is here is suppressed or archived; --suppressed shows it")
        return
    _cards(app, cards[:limit], empty)
    if not app.as_json:
        say_more(len(cards), limit)


@click.command()
@click.option("--thread", help="Only this thread.")
@click.option("--place", help="Only those that reach into a visit of this place.")
@click.option("--where", multiple=True, metavar="FIELD=VALUE", help="Only those about this: tag=memory.")
@click.option("--limit", type=click.IntRange(1, 100_000), help="Only the newest N.")
@click.option("--speaker", metavar="NAME", help="Only those in which this one speaks.")
@PROJECT
@ONLY
@common
@past
def episodes(app: App, limit: int | None, only: tuple[str, ...], **filters: Any) -> None:
    """List all episodes in order, open frames included."""
    with app.memory() as memory:
        mine = app.asked(whose(memory, app.user_name))
        cards = mine.episodes.list(limit=limit, only=names_of_only(mine, only), **filters)
        cards = app.shown(mine, cards)
        empty = _why_empty(memory)
    filters |= {"where": " ".join(filters["where"]), "only": " ".join(only)}
    _cards(
        app, cards, empty, filtered=" ".join(f"--{name} {value}" for name, value in filters.items() if value)
    )


def _cards(app: App, cards: Sequence[EpisodeCard], empty: str, *, filtered: str = "") -> None:
    if not app.answered({"episodes": cards}, cards, f"no episode matches {filtered}" if filtered else empty):
        render_cards(cards)


def _why_empty(memory: "Memory") -> str:
    """Say why there are no episodes to list."""
    users = memory.users()
    if users:
        return f"no episodes here; users: {', '.join(users)} (--user NAME)"
    return elsewhere(memory) or "the memory is empty"


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
            wording.minute(c.start_at),
            wording.lasted(c.start_at, c.end_at),
            str(c.observations),
            "(open)" if c.state == "open" else wording.reason(c.reason),
            Text(clipped(c.heading, width or len(c.heading)), style="italic" if c.state == "open" else ""),
        )
    out().print(table)


@click.command()
@click.argument("episode")
@common
@past
def show(app: App, episode: str) -> None:
    """Show one episode: its title, summary and messages."""
    with app.user() as memory:
        asked = parse_id(episode, memory)
        identity = memory.episodes.successor(asked)
        messages = memory.episodes.messages(identity)
        (card,) = app.shown(memory, [memory.episodes.card(identity)])
    if app.as_json:
        named = {} if identity == asked else {"asked": asked}
        print_json({"episode": card, "messages": messages, **named})
        return
    if identity != asked:
        say_replaced(asked, identity)
    console = out()
    console.print(Text(card.heading, style="bold"))
    console.print(
        Text(f"{wording.minute(card.start_at)} to {wording.minute(card.end_at)} · {card.origin}", style="dim")
    )
    if card.summary:
        console.print(Text(card.summary))
    for o in messages:
        at = lived.lived_at(o)
        zone = "" if at.utcoffset() == card.start_at.utcoffset() else wording.zone(at)
        console.print(
            Text(f"[{at:%Y-%m-%d %H:%M}{zone}] {wording.spoken_by(o.actor, memory.name)}: {o.text}")
        )


@click.command()
@common
@past
def stats(app: App) -> None:
    """Count what the memory holds."""
    with app.memory() as memory:
        mine = app.asked(whose(memory, app.user_name))
        (counted,) = app.shown(mine, [mine.stats()])
        named = {"origins": [t.origin for t in mine.threads.list()], "users": memory.users()}
    shown = {**{f: getattr(counted, f) for f in counted.__dataclass_fields__}, **named}
    if app.as_json:
        print_json(shown)
        return
    for name, value in shown.items():
        answer = ", ".join(value) if isinstance(value, list) else value
        answer = wording.minute(answer) if isinstance(answer, datetime) else answer
        label = LABELS.get(name, name.replace("_", " "))
        out().print(f"{label:18} {'-' if answer in (None, '') else answer}")


def _write_lines(lines: Iterable[str], output: Path) -> int:
    """Write lines to a file that appears only when all of them are in it; return how many."""
    count = 0
    with replacing(output) as file:
        for count, line in enumerate(lines, 1):  # noqa: B007 - the last number is the count
            file.write(line + "\n")
    return count


@click.command()
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Write to this file (default, and `-`: standard output).",
)
@click.option(
    "--where", multiple=True, metavar="FIELD=VALUE", help="Only threads with episodes about this: tag=memory."
)
@force
@common
@past
def export(app: App, output: Path | None, where: tuple[str, ...], overwrite: bool) -> None:
    """Write the memory as JSON lines that `import` takes back without loss."""
    output = None if output == Path(STANDARD) else output
    check_output(output, overwrite=overwrite)
    with app.user() as memory:
        exported = memory.export(where=where)
        if output is None:
            for line in exported:
                tell_json(line)
            return
        lines = _write_lines(exported, output)
    app.remark({"lines": lines, "output": str(output)}, f"{plural(lines, 'line')} written to {output}")


@click.command()
@click.argument("message")
@click.option("--thread", help="The thread it is for (default: the one it would join).")
@click.option("--channel", help="The channel it comes by.")
@click.option("--at", help="When it was said (default: now).")
@click.option(
    "--max-tokens", type=click.IntRange(1), default=MAX_TOKENS, show_default=True, help="The text's budget."
)
@click.option("--form", type=click.Choice(FORMS), default=FORMS[0], show_default=True, help="How it is told.")
@PROJECT
@ONLY
@click.option("--sources", is_flag=True, help="Say on standard error where each line is from.")
@common
@past
def context(
    app: App, message: str, only: tuple[str, ...], max_tokens: int, sources: bool, **options: Any
) -> None:
    """Print what a prompt should be told before MESSAGE is answered; stores nothing."""
    with app.memory() as memory:
        mine = whose(memory, app.user_name)
        if mine.missing and memory.users():  # a program asks for a new user before it adds; a person mistypes
            mine.threads.list()  # says whom there is
        context = app.asked(mine).context(
            message, only=names_of_only(mine, only), max_tokens=max_tokens, **options
        )
        other_spaces = elsewhere(memory) if mine.missing else ""
    if app.as_json:
        print_json(context)
        return
    for note in (*context.notes, *filter(None, [other_spaces])):
        say(note)
    if not context.text.strip():
        say(f"nothing fits into {plural(max_tokens, 'token')}, not even the message; raise --max-tokens")
    tell(context.text)
    if sources:
        _say_sources(context)


def _say_sources(context: "ThreadContext") -> None:
    """Say of each recalled line, counted from 1, its thread, its episode and how many messages it is of."""
    for item in context.items:
        episode = f"episode {str(item.episode_id)[:ID]}, " if item.episode_id else ""
        span = f"{len(item.observations)} of its messages"
        say(f"line {item.line + 1}: {item.kind} from {item.thread}, {episode}{span}")


@click.command()
@click.argument("topic", default="")
@click.option("--limit", type=LIMIT, default=10, show_default=True, help="Episodes at most.")
@click.option("--min-relevance", type=click.FloatRange(0, 1), default=0.5, show_default=True)
@_of_a_topic
def sequence(app: App, topic: str, **options: Any) -> None:
    """List the episodes of TOPIC in the order of time; without one, the newest.

    Sessions that go on from those over --min-relevance are listed too, as linked.
    """
    with app.user() as memory:
        sequence = memory.chains.sequence(topic, **_asked(memory, options))
        dated = app.shown(memory, sequence)
        still_open = 0 if sequence else _count_open(memory)
    if app.as_json:
        print_json({"topic": topic, "episodes": sequence, "left_out": sequence.left_out})
        return
    if not sequence:
        say(f"no episodes found for topic: {topic}" if topic else "no episodes here")
        _say_open(still_open)
    for sequenced in dated:
        linked = " linked" * (sequenced.relevance <= options["min_relevance"])
        relevance = f"{sequenced.relevance:.2f}{linked}  " if topic else ""
        at, name = wording.minute(sequenced.start_at), str(sequenced.episode_id)[:ID]
        out().print(Text(f"{at}  {relevance}{name}  {sequenced.title}"))
    for line in core_sequences.story_ends(sequence.left_out, ""):
        say(line)


@click.command()
@click.argument("topic")
@click.option("--limit", type=LIMIT, default=5, show_default=True, help="Episodes at most.")
@_of_a_topic
def replay(app: App, topic: str, **options: Any) -> None:
    """Tell the story of TOPIC in order: what happened, and what it went on with."""
    with app.user() as memory:
        sequence = sequences.story_of(memory.chains.sequence, topic, **_asked(memory, options))
        sequence[:] = app.shown(memory, sequence)
        still_open = 0 if sequence else _count_open(memory)
    text = sequences.replay_of(topic, sequence, policy=options["policy"])
    if app.as_json:
        print_json({"topic": topic, "text": text, "episodes": sequence, "left_out": sequence.left_out})
    else:
        tell(text)
        _say_open(still_open)


def _count_open(memory: "UserMemory") -> int:
    return sum(card.state == "open" for card in memory.episodes.list())


def _say_open(count: int) -> None:
    """Say what no story tells yet, where it may be what was asked for."""
    if count:
        say(f"{plural(count, 'episode is', 'episodes are')} still open; `episodic flush` closes them")


def _asked(memory: "UserMemory", arguments: dict[str, Any]) -> dict[str, Any]:
    lists = {"where": list(arguments["where"]) or None, "only": names_of_only(memory, arguments["only"])}
    return {**arguments, **lists}


@click.command()
@click.option(
    "--since", type=moment, help="What was written after this (ISO 8601 or epoch; default: seven days ago)."
)
@click.option("--until", type=moment, help="And up to this (default: now).")
@common
@past
def changes(app: App, since: datetime | None, until: datetime | None) -> None:
    """List what the memory took in, learned and let go lately, the oldest first.

    Times are those of writing: an old chat that was imported today is news of today.
    """
    with app.user() as memory:
        learned = memory.trace.changes(since, until=until)
    nothing = f"nothing changed from {learned.since:%Y-%m-%d %H:%M} to {learned.until:%Y-%m-%d %H:%M}"
    if app.answered(learned, learned.changes, nothing):
        return
    table = Table("written", "kind", "what", "by", box=None, pad_edge=False)
    for change in learned.changes:
        table.add_row(
            f"{change.at:%Y-%m-%d %H:%M}",
            change.kind.value,
            Text(wording.fact_words(change.what, memory.name)),
            Text(change.by),
        )
    out().print(table)


@click.command()
@click.option("--since", type=moment, help="From this on (ISO 8601 or epoch).")
@click.option("--until", type=moment, help="Before this (default: now).")
@click.option(
    "--kind", type=click.Choice([one.value for one in AuditKind]), help="Only entries of this kind."
)
@click.option("--by", help="Only of a face (cli, http, dashboard, mcp, python, work) or the id of a key.")
@click.option("--limit", type=click.IntRange(1), help="The newest so many (default: 100; with --json all).")
@common
@past
def audit(app: App, limit: int | None, **options: Any) -> None:
    """List who did what to a user's memory, the newest first; never what was said.

    Of an erased user what was erased is left.
    """
    most = limit or (EVERY_ENTRY if app.as_json else FEW_ENTRIES)
    with app.user() as memory:
        entries = memory.trace.audit(limit=most, **options)
    nothing = "no entry is of this kind, by this caller, in this time"
    if app.answered({"entries": entries}, entries, nothing):
        return
    table = Table("written", "kind", "what", "of", "how many", "by", box=None, pad_edge=False)
    for entry in entries:
        thing = f"{entry.thing} {str(entry.subject or '')[:ID]}".strip()
        what = wording.act_words(entry)
        if entry.note and entry.note not in what:  # of a question it names the model already
            what += f" ({entry.note})"
        written = f"{entry.at:%Y-%m-%d %H:%M:%S}"
        cells = [Text(one) for one in (what, thing, wording.counted_words(entry), str(entry.by))]
        table.add_row(written, entry.kind.value, *cells)
    out().print(table)
