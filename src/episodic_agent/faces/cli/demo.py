"""`episodic demo`: the main job on bundled conversations and an agent's walk, with something to look at."""

import json
import shutil
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime, timedelta
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import click
from rich.rule import Rule
from rich.text import Text

from episodic_agent.agents.run import RunReport
from episodic_agent.core.language import plural
from episodic_agent.data import demo_folder
from episodic_agent.engine.ingest.repeating import remembering
from episodic_agent.engine.memory import Memory as Engine
from episodic_agent.engine.user import UserMemory
from episodic_agent.errors import InvalidInput
from episodic_agent.faces.cli.app import App, common, moment, out, print_json, say
from episodic_agent.faces.cli.boundaries import render_explanation
from episodic_agent.faces.cli.reading import render_cards, render_recall
from episodic_agent.faces.markdown import write_episode
from episodic_agent.faces.plot import arc_png, arc_terminal, map_png, map_terminal, plot_png, plot_terminal
from episodic_agent.faces.plot.year import check_drawing
from episodic_agent.faces.shapes import recall_json
from episodic_agent.faces.year.living import ALONE, REVIEWED, Lived, SimulatedClock, joined, live
from episodic_agent.faces.year.report import markdown, report_of, write
from episodic_agent.faces.year.story import DAYS, read_story
from episodic_agent.private import make_folder, write_text
from episodic_agent.wiring import Memory, Say, load_settings, make_embedder
from episodic_agent.wiring_agents import make_sensor

USER = "maya"
CHATS = ("maya-assistant.jsonl", "maya-family.jsonl", "maya-work.jsonl")
PLOTTED = "maya-assistant"
ROBOT = "robot"  # whose memory the agent fills
WALK = "household"
WALKED = ("What happened in the kitchen?", "Who brought the parcel?")
TALKER, CHANNELS = "tim", "tim-channels.json"  # one story over SMS, WhatsApp and the web
SHOWN = 3  # hits shown for each question
MARK = ".episodic-demo"  # marks a folder as ours, so that only such a one is ever emptied
TELLER = "noor"
STORY = "noor-three-days.json"
PICTURE = "arc.png"
APART = timedelta(minutes=2)  # from message to message
MONTH = 30  # days from one line of progress to the next
FILES = {REVIEWED: "reviewed.db", ALONE: "alone.db"}


@click.command()
@click.option("--output", type=click.Path(path_type=Path), default=Path("demo"), show_default=True)
@click.option("--year", is_flag=True, help="Simulate a year: what fades, what reviews keep, what is found.")
@click.option("--days", type=click.IntRange(31, DAYS), default=DAYS, hidden=True)
@common
def demo(app: App, output: Path, year: bool, days: int, user: str | None, as_json: bool) -> None:
    """Import bundled conversations and run an agent: episodes, answers, why a boundary is where it is."""
    del user
    data = demo_folder()
    _fresh(output)
    if year:
        demo_year(output, app.embedder, say, days=days, as_json=as_json)
        return
    questions = json.loads((data / "questions.json").read_text(encoding="utf-8"))
    with Memory.open(output / "memory.db", embedder=app.embedder, say=say) as memory:
        mine = memory.user(USER)
        for name in CHATS:
            mine.import_file(data / name)
        mine.flush()
        answers = _answers(mine, questions)
        walk = make_sensor(f"replay:{data / WALK}.readings.jsonl.gz")
        robot, talker = memory.user(ROBOT), memory.user(TALKER)
        walked = robot.run(walk, thread=WALK)
        asked = _talk(talker, data)
        topic = live_days(memory, data)
        if as_json:
            agent = {"run": walked, "episodes": robot.episodes.list()}
            values = {"links": talker.links.list(), "context": _context(talker, asked)}
            print_json(
                {
                    "episodes": mine.episodes.list(),
                    "answers": answers,
                    "agent": agent,
                    "channels": values,
                    **days_json(memory, topic),
                }
            )
        else:
            _tell(mine, questions)
            _tell_channels(talker, asked)
            tell_days(memory, topic)
            _tell_walk(robot, walked)
        written = _write(mine, output)
        _write_walk(robot, output)
        draw_days(memory, output)
    if not as_json:
        _say_where(output, written)


def _say_where(output: Path, written: int) -> None:
    console = out()
    console.print(Rule("to look at"))
    console.print(f"{output / 'boundaries.png'}: cues, thresholds and cuts of one thread")
    console.print(f"{output / 'household.png'}, {output / 'map.png'}: the agent's score and its places")
    console.print(f"{output / PICTURE}: three days of {TELLER}'s, from session to session")
    console.print(f"{output / 'episodes'}: {plural(written, 'episode')} as Markdown")
    console.print(f'try: episodic --db {output}/memory.db search "What did the plumber find?" --user {USER}')
    console.print(f"     episodic --db {output}/memory.db plot {WALK} --user {ROBOT}")
    console.print(f'     episodic --db {output}/memory.db replay "memory leak" --user {TELLER}')


def _fresh(output: Path) -> None:
    if output.exists():
        if not (output / MARK).exists() and any(output.iterdir()):
            raise InvalidInput(f"{output} holds other things; give an empty or new folder by --output")
        shutil.rmtree(output)
    make_folder(output)
    write_text(output / MARK, "made by `episodic demo`; it may be emptied\n")


def _answers(memory: UserMemory, questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    recalls = [memory.search(q["question"], limit=SHOWN) for q in questions]
    return [{"question": r.query, **recall_json(r)} for r in recalls]


def _tell(memory: UserMemory, questions: list[dict[str, Any]]) -> None:
    console = out()
    cards = memory.episodes.list()
    threads = {c.origin for c in cards}
    messages = sum(c.observations for c in cards)
    console.print(
        Rule(
            f"{plural(messages, 'message')}, {plural(len(threads), 'thread')}, "
            f"{plural(len(cards), 'episode')}"
        )
    )
    render_cards(cards)
    for question in questions:
        console.print(Rule(style="dim"))
        console.print(Text(f"? {question['question']}", style="bold cyan"))
        render_recall(memory.search(question["question"], limit=SHOWN))
    console.print(Rule("why does this episode begin and end here?"))
    shifts = [c for c in cards if c.reason == "topic_shift"]
    explained = max(shifts, key=lambda c: c.surprise, default=cards[0])
    render_explanation(memory.boundaries.explain(explained.episode_id))


def _talk(memory: UserMemory, data: Path) -> dict[str, Any]:
    """Let a user begin on SMS, go on by WhatsApp and come back a week later; return the last message."""
    loads = json.loads((data / CHANNELS).read_text(encoding="utf-8"))
    memory.add(loads)
    last: dict[str, Any] = loads[-1]
    return last


def _context(memory: UserMemory, asked: dict[str, Any]) -> str:
    context = memory.context(asked["content"], channel=asked["channel"], at=moment(asked["timestamp"]))
    return context.text


def _tell_channels(memory: UserMemory, asked: dict[str, Any]) -> None:
    """Show which threads go on with which, why, and what the next prompt is told."""
    console = out()
    threads = memory.threads.list()
    console.print(Rule(f"one story over three channels: {plural(len(threads), 'thread')}"))
    for card in memory.links.list():
        console.print(Text(f"{card.later.origin} goes on with {card.earlier.origin}", style="bold"))
        explanation = memory.links.explain(card.later.origin, card.earlier.origin)
        for sentence in explanation.judged[0].sentences if explanation.judged else ():
            console.print(Text(f"  {sentence}", style="dim"))
    console.print(Rule("what the next prompt is told", style="dim"))
    console.print(Text(_context(memory, asked)))


def _tell_walk(memory: UserMemory, walked: RunReport) -> None:
    """Show an agent's run: the score over its steps, where it was, and what it can be asked."""
    console = out()
    console.print(
        Rule(f"an agent in a house: {plural(walked.steps, 'step')}, {plural(walked.episodes, 'episode')}")
    )
    console.print(Text.from_ansi(plot_terminal(memory.boundaries.trace(WALK), console.width)))
    console.print()
    console.print(map_terminal(memory.places.list(thread=WALK), console.width))
    for question in WALKED:
        console.print(Rule(style="dim"))
        console.print(Text(f"? {question}", style="bold cyan"))
        render_recall(memory.search(question, limit=1))


def _write_walk(memory: UserMemory, output: Path) -> None:
    plot_png(memory.boundaries.trace(WALK), output / "household.png")
    map_png(memory.places.list(thread=WALK), output / "map.png", title=WALK)


def _write(memory: UserMemory, output: Path) -> int:
    plot_png(memory.boundaries.trace(PLOTTED), output / "boundaries.png")
    cards = memory.episodes.list()
    for card in cards:
        write_episode(output / "episodes", card, memory.episodes.messages(card.episode_id))
    return len(cards)


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
    console.print(Rule("a bug hunt of three days, which nobody linked"))
    console.print(Text(memory.user(TELLER).chains.replay(topic)))
    console.print(arc_terminal(memory.user(TELLER).chains.arc(_last(memory)), console.width))


def draw_days(memory: Engine, output: Path) -> None:
    """Draw the arc of the three days."""
    arc_png(memory.user(TELLER).chains.arc(_last(memory)), output / PICTURE)


def _last(memory: Engine) -> Any:
    """Return the session of the story's last day, the newest there is."""
    return memory.user(TELLER).sections.list(limit=1)[0].episode_id


def demo_year(output: Path, embedder: str | None, say: Say, *, days: int, as_json: bool) -> None:
    """Live through the year and write the report into an empty folder."""
    check_drawing()
    chosen = embedder or load_settings().embedder
    # The two share nothing: each has a process, and a machine with two cores takes as long as for one.
    with ProcessPoolExecutor(max_workers=2, mp_context=get_context("spawn")) as pool:
        lives = [pool.submit(_live, name, output / FILES[name], chosen, days, say) for name in FILES]
        reviewed, alone = [one.result() for one in lives]
    report = report_of(read_story(), joined(reviewed, alone), days)
    write(report, output)
    if as_json:
        print_json(report)
        return
    console = out()
    console.print(Rule("a year of remembering"))
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
