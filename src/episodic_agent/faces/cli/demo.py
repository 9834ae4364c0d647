"""`episodic demo`: a first minute with a memory, on bundled conversations; more of it behind its flags."""

import json
import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import click
from rich.rule import Rule
from rich.text import Text

from episodic_agent.agents.run import RunReport
from episodic_agent.core.language import plural
from episodic_agent.data import demo_folder
from episodic_agent.engine.boundary.explain import Explanation
from episodic_agent.engine.context.assembling import ThreadContext
from episodic_agent.engine.facts.verbs import FactCard
from episodic_agent.engine.ingest.runs import remembering
from episodic_agent.engine.memory import Memory as Engine
from episodic_agent.engine.results import EpisodeCard, Recall
from episodic_agent.engine.user import UserMemory
from episodic_agent.errors import InvalidInput
from episodic_agent.faces.cli.app import App, common, moment, out, print_json, say
from episodic_agent.faces.cli.reading import render_recall
from episodic_agent.faces.markdown import write_episode
from episodic_agent.faces.plot.arc import arc_png, arc_terminal
from episodic_agent.faces.plot.figure import MISSING, plot_png
from episodic_agent.faces.plot.map import map_png, map_terminal
from episodic_agent.faces.plot.terminal import plot_terminal
from episodic_agent.faces.plot.words import day
from episodic_agent.faces.plot.year import check_drawing
from episodic_agent.faces.shapes import recall_json
from episodic_agent.faces.wording import cue_words, reason
from episodic_agent.faces.year.living import ALONE, REVIEWED, Lived, SimulatedClock, joined, live
from episodic_agent.faces.year.report import markdown, report_of, write
from episodic_agent.faces.year.story import DAYS, read_story
from episodic_agent.private import make_folder, write_text
from episodic_agent.schemas import Observation
from episodic_agent.showing import clipped
from episodic_agent.wiring import Memory, Say, load_settings, make_embedder
from episodic_agent.wiring.agents import make_sensor

USER = "maya"
PLOTTED = "maya-assistant"
CHATS = {PLOTTED: "assistant", "maya-family": "family", "maya-work": "work"}
QUESTIONS = (  # one of each chat, and one that none of them answers
    "When does Maya start at Tidewater?",
    "Where was Hanna's lost dog found?",
    "Who owns ticket ING-482?",
    "What is the name of Maya's dentist?",
)
EATER, MEALS = "ana", "ana-assistant.json"  # what she eats changes
ASKED, ASKED_AT = "What shall I cook on Saturday?", "2026-06-11T17:30:00Z"
BUDGET = 250  # tokens of the context
NEWEST = 8  # episodes that are listed
TITLE = 55  # characters of their titles
QUOTED = 84  # of a message at the cut
AROUND = 2  # episodes drawn before the cut, and after it
FOR_A_CUT = ("words", "novelty", "distance", "depth", "marker")  # cues that speak for one, but for silence
LOUDEST = 3  # of them that are named
ROBOT = "robot"  # whose memory the agent fills
WALK = "household"
WALKED = ("What happened in the kitchen?", "Who brought the parcel?")
TALKER, CHANNELS = "tim", "tim-channels.json"  # one story over SMS, WhatsApp and the web
MARK = ".episodic-demo"  # marks a folder as ours, so that only such a one is ever emptied
TELLER = "noor"
STORY = "noor-three-days.json"
PICTURE = "arc.png"
APART = timedelta(minutes=2)  # from message to message
MONTH = 30  # days from one line of progress to the next
FILES = {REVIEWED: "reviewed.db", ALONE: "alone.db"}


@click.command()
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Folder for the memory and the pictures (default: demo; demo-agent, demo-arc, … with the flags).",
)
@click.option("--channels", "part", flag_value="channels", help="A talk that goes on over three channels.")
@click.option("--arc", "part", flag_value="arc", help="A bug hunt of three days that nobody linked.")
@click.option("--agent", "part", flag_value="agent", help="A robot's walk through a house.")
@click.option("--year", "part", flag_value="year", help="A simulated year: what fades, what reviews keep.")
@click.option("--days", type=click.IntRange(31, DAYS), default=DAYS, hidden=True)
@common
def demo(app: App, output: Path | None, part: str | None, days: int) -> None:
    """Show what a memory does, on bundled conversations: episodes, answers, facts, a prompt's context."""
    folder = output or Path(f"demo-{part}" if part else "demo")
    _fresh(folder)
    if part == "year":
        demo_year(app, folder, days=days)
        return
    show = {None: _first_minute, "channels": _channels, "arc": _arc, "agent": _agent}[part]
    with Memory.open(folder / "memory.db", embedder=app.embedder, say=say) as memory:
        show(app, memory, folder)


def _fresh(output: Path) -> None:
    if output.exists():
        if not (output / MARK).exists() and any(output.iterdir()):
            raise InvalidInput(f"{output} holds other things; give an empty or new folder by --output")
        shutil.rmtree(output)
    make_folder(output)
    write_text(output / MARK, "made by `episodic demo`; it may be emptied\n")


# --- the first minute -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class QuietCut:
    """A cut that no pause explains: in the episode before it, a silence as long as `longest` cut nothing.

    `number` is that of the new episode in its thread, from 0.
    """

    number: int
    before: Observation
    after: Observation
    longest: timedelta
    explanation: Explanation


def _first_minute(app: App, memory: Engine, output: Path) -> None:
    mine, eater = memory.user(USER), memory.user(EATER)
    for name in CHATS:
        mine.import_file(demo_folder() / f"{name}.jsonl")
    eater.import_file(demo_folder() / MEALS)
    mine.flush()
    eater.flush()
    cards = mine.episodes.list()
    cut = _quiet_cut(mine)
    recalls = [mine.search(question) for question in QUESTIONS]
    facts = sorted(eater.facts.list(history=True), key=lambda card: card.fact.valid_at)
    context = eater.context(ASKED, at=ASKED_AT, max_tokens=BUDGET)
    if app.as_json:
        print_json(
            {
                "episodes": cards,
                "answers": [{"question": recall.query, **recall_json(recall)} for recall in recalls],
                "cut": cut.explanation,
                "facts": [card.record for card in facts],
                "context": context,
            }
        )
    else:
        _tell_episodes(cards)
        _tell_cut(cut)
        _tell_answers(recalls)
        _tell_facts(facts)
        _tell_context(context)
    _write(mine, cut, output)
    if not app.as_json:
        _tell_more(output, len(cards))


def _quiet_cut(memory: UserMemory) -> QuietCut:
    """Return the surest cut at a change of subject before which nobody was silent for long."""
    cards = memory.episodes.list(thread=PLOTTED)
    cuts = []
    for number, (ended, began) in enumerate(pairwise(cards), 1):
        messages = memory.episodes.messages(ended.episode_id)
        longest = max((b.at - a.at for a, b in pairwise(messages)), default=timedelta())
        if ended.reason == "topic_shift" and began.start_at - ended.end_at < longest:
            after = memory.episodes.messages(began.episode_id)[0]
            explanation = memory.boundaries.explain(began.episode_id)
            cuts.append(QuietCut(number, messages[-1], after, longest, explanation))
    return max(
        cuts,
        key=lambda cut: (
            0.0 if cut.explanation.begins.decision is None else cut.explanation.begins.decision.score
        ),
    )


def _heading(text: str) -> None:
    out().print(Rule(Text(text, style="bold"), align="left"))


def _line(text: str, style: str = "") -> None:
    out().print(Text(text, style=style))


def _tell_episodes(cards: Sequence[EpisodeCard]) -> None:
    messages = plural(sum(card.observations for card in cards), "message")
    threads = plural(len({card.origin for card in cards}), "thread")
    episodes = plural(len(cards), "episode")
    _heading(
        f"Maya's bundled chats: {messages}, {threads}, {episodes}. The last {NEWEST}, and why each began"
    )
    began: dict[str, EpisodeCard] = {}
    reasons = {}
    for card in cards:
        reasons[card.episode_id] = _why(began.get(card.origin), card)
        began[card.origin] = card
    for card in cards[-NEWEST:]:
        title, why = clipped(card.heading, TITLE), reasons[card.episode_id]
        _line(f"{card.start_at:%Y-%m-%d}  {CHATS[card.origin]:<11}{title:<{TITLE + 2}}{why}")


def _why(before: EpisodeCard | None, card: EpisodeCard) -> str:
    """Say in a few words why an episode began, by how the one before it in its thread ended."""
    if before is None:
        return "the chat begins"
    if before.reason == "time_gap":
        return f"pause of {_long(card.start_at - before.end_at)}"
    return reason(before.reason)


def _long(time: timedelta) -> str:
    minutes = round(time.total_seconds() / 60)
    if minutes < 120:
        return plural(minutes, "minute")
    return plural(round(minutes / 60), "hour") if minutes < 2880 else plural(round(minutes / 1440), "day")


def _tell_cut(cut: QuietCut) -> None:
    decision = cut.explanation.begins.decision
    if decision is None:
        return
    _heading("A new episode without a pause: the subject changed")
    _line(f'before  {_who(cut.before)}: "{clipped(cut.before.text, QUOTED)}"')
    _line(f'after   {_who(cut.after)}: "{clipped(cut.after.text, QUOTED)}"')
    pause, longer = _long(cut.after.at - cut.before.at), _long(cut.longest)
    _line(
        f"Only {pause} apart; {longer} of silence earlier cut nothing. "
        f"A cut: {decision.score:.0%} likely, {decision.threshold:.0%} is enough."
    )
    cues = sorted(((decision.features.get(name, 0.0), name) for name in FOR_A_CUT), reverse=True)
    loudest = ", ".join(f"{cue_words(name)} {value:.1f}" for value, name in cues[:LOUDEST])
    silence = decision.features.get("silence", 0.0)
    _line(f"The loudest cues, from 0 to 1: {loudest}; silence {silence:.1f}")


def _who(message: Observation) -> str:
    return USER.capitalize() if message.actor == "user" else message.actor


def _tell_answers(recalls: Sequence[Recall]) -> None:
    _heading("Questions, answered with the message that proves it, or not at all")
    for recall in recalls:
        _line(f"? {recall.query}", "bold cyan")
        if recall.abstained:
            _line("  nothing relevant", "yellow")
            continue
        proof = recall.hits[0].evidence[0].observation
        _line(f'  {_who(proof)}, {day(proof.at, year=True)}: "{proof.text}"')


def _tell_facts(facts: Sequence[FactCard]) -> None:
    _heading("Facts learned from Ana's chats with her assistant, in her words; one took another's place")
    known = {card.id: card for card in facts}
    later = {card.fact.superseded_by for card in facts}
    for first in facts:
        card = None if first.id in later else first
        while card is not None:
            _tell_fact(card, "since " if card is first else "then since ")
            following = card.fact.superseded_by
            card = None if following is None else known.get(following)


def _tell_fact(card: FactCard, opening: str) -> None:
    fact, since = card.fact, day(card.fact.valid_at, year=True)
    until = "" if fact.invalid_at is None else day(fact.invalid_at, year=True)
    held = f"{since} until {until}" if until else f"{opening}{since}"
    _line(f'{held:<30}"{fact.value}"', "dim" if until else "")


def _tell_context(context: ThreadContext) -> None:
    _heading(f'The text for a prompt, in at most {BUDGET} tokens, when Ana asks "{ASKED}"')
    for line in filter(None, context.text.splitlines()):
        _line(f"  {line}")


def _tell_more(output: Path, written: int) -> None:
    run = _command()
    _heading("More")
    for flag, what in (
        ("channels", "one talk over SMS, WhatsApp and the web, linked"),
        ("arc", "a bug hunt of three days that nobody linked, in order"),
        ("agent", "a robot's walk through a house, and what it can tell"),
        ("year", "a year in two minutes: what fades, what reviews keep"),
    ):
        _line(f"{run} demo --{flag:<10}{what}")
    picture, pages = (
        f"{output / 'boundaries.png'} (the cut above)",
        f"{output / 'episodes'} ({plural(written, 'page')})",
    )
    _line(f"Look at {picture} and {pages}" if _draws() else f"Look at {pages}. {MISSING}")
    _line(f'Try {run} --db {output / "memory.db"} search "What did the new tap cost?" --user {USER}', "bold")


def _command() -> str:
    """Return how this program is started from here, so that its lines can be pasted."""
    name = Path(sys.argv[0])
    if name.name == "__main__.py":
        return "python -m episodic_agent"
    return "episodic" if shutil.which("episodic") else shlex.quote(str(name))


def _write(memory: UserMemory, cut: QuietCut, output: Path) -> None:
    """Draw the episodes around the cut, and write all as Markdown."""
    if _draws():
        cards = memory.episodes.list(thread=PLOTTED)
        near = cards[max(0, cut.number - AROUND) : cut.number + AROUND + 1]
        ends = [memory.episodes.messages(card.episode_id) for card in (near[0], near[-1])]
        trace = memory.boundaries.trace(PLOTTED).between(ends[0][0].seq, ends[1][-1].seq)
        plot_png(trace, output / "boundaries.png")
    for card in memory.episodes.list():
        write_episode(output / "episodes", card, memory.episodes.messages(card.episode_id))


def _draws() -> bool:
    """Say whether pictures can be drawn here: the demonstration goes without them, too."""
    try:
        check_drawing()
    except InvalidInput:
        return False
    return True


# --- behind the flags -----------------------------------------------------------------------------------


def _channels(app: App, memory: Engine, output: Path) -> None:
    """Let a user begin on SMS, go on by WhatsApp and come back a week later; show what is linked and why."""
    talker = memory.user(TALKER)
    loads = json.loads((demo_folder() / CHANNELS).read_text(encoding="utf-8"))
    talker.add(loads)
    asked = loads[-1]
    context = talker.context(asked["content"], channel=asked["channel"], at=moment(asked["timestamp"]))
    if app.as_json:
        print_json({"channels": {"links": talker.links.list(), "context": context.text}})
        return
    _heading(f"One story over three channels: {plural(len(talker.threads.list()), 'thread')}")
    for card in talker.links.list():
        _line(f"{card.later.origin} goes on with {card.earlier.origin}", "bold")
        explanation = talker.links.explain(card.later.origin, card.earlier.origin)
        for sentence in explanation.judged[0].sentences if explanation.judged else ():
            _line(f"  {sentence}", "dim")
    _heading("What the next prompt is told")
    _line(context.text)
    _line(f"Try {_command()} --db {output / 'memory.db'} threads --user {TALKER}", "bold")


def _arc(app: App, memory: Engine, output: Path) -> None:
    """Hold sessions on three days, and others between them; show what makes one story of them."""
    topic = live_days(memory, demo_folder())
    if app.as_json:
        print_json(days_json(memory, topic))
    else:
        tell_days(memory, topic)
    if _draws():
        draw_days(memory, output)
    if not app.as_json:
        _line(f"Look at {output / PICTURE}: the three days, from session to session" if _draws() else MISSING)
        _line(f'Try {_command()} --db {output / "memory.db"} replay "memory leak" --user {TELLER}', "bold")


def _agent(app: App, memory: Engine, output: Path) -> None:
    """Let an agent walk through a house; show its score, its places and what it can be asked."""
    robot = memory.user(ROBOT)
    walked = robot.run(make_sensor(f"replay:{demo_folder() / WALK}.readings.jsonl.gz"), thread=WALK)
    if app.as_json:
        print_json({"agent": {"run": walked, "episodes": robot.episodes.list()}})
    else:
        _tell_walk(robot, walked)
    if _draws():
        plot_png(robot.boundaries.trace(WALK), output / "household.png")
        map_png(robot.places.list(thread=WALK), output / "map.png", title=WALK)
    if not app.as_json:
        pictures = f"{output / 'household.png'} (its score) and {output / 'map.png'} (its places)"
        _line(f"Look at {pictures}" if _draws() else MISSING)
        _line(f"Try {_command()} --db {output / 'memory.db'} plot {WALK} --user {ROBOT}", "bold")


def _tell_walk(memory: UserMemory, walked: RunReport) -> None:
    console = out()
    steps, episodes = plural(walked.steps, "step"), plural(walked.episodes, "episode")
    _heading(f"An agent in a house: {steps}, {episodes}")
    console.print(Text.from_ansi(plot_terminal(memory.boundaries.trace(WALK), console.width)))
    console.print()
    console.print(map_terminal(memory.places.list(thread=WALK), console.width))
    for question in WALKED:
        console.print(Rule(style="dim"))
        _line(f"? {question}", "bold cyan")
        render_recall(memory.search(question, limit=1), memory.name)


def live_days(memory: Engine, data: Path) -> str:
    """Hold a session a day, and others between them, each in a thread that is closed; return the topic."""
    story: dict[str, Any] = json.loads((data / STORY).read_text(encoding="utf-8"))
    for session in story["sessions"]:
        begins = datetime.fromisoformat(session["at"])
        statements = [
            {"role": role, "content": text, "timestamp": (begins + n * APART).isoformat()}
            for n, (role, text) in enumerate(session["said"])
        ]
        memory.user(TELLER).add(statements, thread=session["thread"])
        memory.user(TELLER).threads.close(session["thread"])
        memory.jobs.run()
    topic: str = story["topic"]
    return topic


def days_json(memory: Engine, topic: str) -> dict[str, Any]:
    """Return the replay and the arc."""
    return {
        "replay": memory.user(TELLER).chains.replay(topic),
        "arc": memory.user(TELLER).chains.arc(_last(memory)),
    }


def tell_days(memory: Engine, topic: str) -> None:
    """Print the replay of the topic, and the arc its sessions make."""
    console = out()
    _heading("A bug hunt of three days, which nobody linked")
    console.print(Text(memory.user(TELLER).chains.replay(topic)))
    console.print(arc_terminal(memory.user(TELLER).chains.arc(_last(memory)), console.width))


def draw_days(memory: Engine, output: Path) -> None:
    """Draw the arc of the three days."""
    arc_png(memory.user(TELLER).chains.arc(_last(memory)), output / PICTURE)


def _last(memory: Engine) -> Any:
    """Return the session of the story's last day, the newest there is."""
    return memory.user(TELLER).sections.list(limit=1)[0].episode_id


def demo_year(app: App, output: Path, *, days: int) -> None:
    """Live through the year and write the report into an empty folder."""
    check_drawing()
    chosen = app.embedder or load_settings().embedder
    # The two share nothing: each has a process, and a machine with two cores takes as long as for one.
    with ProcessPoolExecutor(max_workers=2, mp_context=get_context("spawn")) as pool:
        lives = [pool.submit(_live, name, output / FILES[name], chosen, days, say) for name in FILES]
        reviewed, alone = [one.result() for one in lives]
    report = report_of(read_story(), joined(reviewed, alone), days)
    write(report, output)
    if app.as_json:
        print_json(report)
        return
    console = out()
    _heading("A year of remembering")
    console.print(markdown(report))
    console.print(f"{output / 'year.png'}: forgetting curves, what was found, what was so and when")


def _live(name: str, file: Path, embedder: str, days: int, say: Say) -> Lived:
    """Live through the year with one memory; the one with reviews says how far it is."""
    story, clock = read_story(), SimulatedClock()
    statement = remembering(make_embedder(embedder, load_settings(), say)) or "none"  # much is said again
    with Memory.open(file, embedder=statement, clock=clock) as memory:
        progress = _progress(say, days) if name == REVIEWED else _silent
        return live(story, name, memory.user(story.person), clock, days, progress)


def _silent(day: int) -> None:
    """Say nothing."""


def _progress(say: Say, days: int) -> Callable[[int], None]:
    def progress(day: int) -> None:
        if day % MONTH == 0 or day == days:
            say(f"day {day} of {days}")

    return progress
