"""`episodic demo`: the main job on bundled conversations and an agent's walk, with something to look at."""

import json
import shutil
from importlib.resources import files
from pathlib import Path
from typing import Any

import click
from rich.rule import Rule
from rich.text import Text

from episodic_agent.engine.memory import Memory as Engine
from episodic_agent.engine.running import RunReport
from episodic_agent.errors import InvalidInput
from episodic_agent.faces.cli.app import App, common, moment, out, print_json, say
from episodic_agent.faces.cli.demo_days import PICTURE, TELLER, days_json, draw_days, live_days, tell_days
from episodic_agent.faces.cli.demo_year import demo_year
from episodic_agent.faces.cli.reading import recall_json, render_cards, render_recall
from episodic_agent.faces.cli.why import render_explanation
from episodic_agent.faces.markdown import write_episode
from episodic_agent.faces.plot import map_png, map_terminal, plot_png, plot_terminal
from episodic_agent.faces.year.story import DAYS
from episodic_agent.wiring import Memory
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


@click.command()
@click.option("--output", type=click.Path(path_type=Path), default=Path("demo"), show_default=True)
@click.option("--year", is_flag=True, help="Simulate a year: what fades, what reviews keep, what is found.")
@click.option("--days", type=click.IntRange(31, DAYS), default=DAYS, hidden=True)
@common
def demo(app: App, output: Path, year: bool, days: int, user: str | None, as_json: bool) -> None:
    """Import bundled conversations and run an agent: episodes, answers, why a boundary is where it is."""
    del user
    data = Path(str(files("episodic_agent") / "demo" / "data"))
    _fresh(output)
    if year:
        demo_year(output, app.embedder, say, days=days, as_json=as_json)
        return
    questions = json.loads((data / "questions.json").read_text(encoding="utf-8"))
    with Memory.open(output / "memory.db", user_id=USER, embedder=app.embedder, say=say) as memory:
        for name in CHATS:
            memory.import_file(data / name)
        memory.flush()
        answers = _answers(memory, questions)
        walk = make_sensor(f"replay:{data / WALK}.readings.jsonl.gz")
        walked = memory.run(walk, user_id=ROBOT, thread=WALK)
        asked = _talk(memory, data)
        topic = live_days(memory, data)
        if as_json:
            agent = {"run": walked, "episodes": memory.episodes(user_id=ROBOT)}
            told = {"links": memory.links(user_id=TALKER), "context": _context(memory, asked)}
            print_json(
                {
                    "episodes": memory.episodes(),
                    "answers": answers,
                    "agent": agent,
                    "channels": told,
                    **days_json(memory, topic),
                }
            )
        else:
            _tell(memory, questions)
            _tell_channels(memory, asked)
            tell_days(memory, topic)
            _tell_walk(memory, walked)
        written = _write(memory, output)
        _write_walk(memory, output)
        draw_days(memory, output)
    if not as_json:
        _say_where(output, written)


def _say_where(output: Path, written: int) -> None:
    console = out()
    console.print(Rule("to look at"))
    console.print(f"{output / 'boundaries.png'}: cues, thresholds and cuts of one thread")
    console.print(f"{output / 'household.png'}, {output / 'map.png'}: the agent's score and its places")
    console.print(f"{output / PICTURE}: three days of {TELLER}'s, from session to session")
    console.print(f"{output / 'episodes'}: {written} episodes as Markdown")
    console.print(f'try: episodic --db {output}/memory.db search "What did the plumber find?" --user {USER}')
    console.print(f"     episodic --db {output}/memory.db plot {WALK} --user {ROBOT}")
    console.print(f'     episodic --db {output}/memory.db replay "memory leak" --user {TELLER}')


def _fresh(output: Path) -> None:
    if output.exists():
        if not (output / MARK).exists() and any(output.iterdir()):
            raise InvalidInput(f"{output} holds other things; give an empty or new folder by --output")
        shutil.rmtree(output)
    output.mkdir(parents=True)
    (output / MARK).write_text("made by `episodic demo`; it may be emptied\n", encoding="utf-8")


def _answers(memory: Engine, questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    recalls = [memory.search(q["question"], limit=SHOWN) for q in questions]
    return [{"question": r.query, **recall_json(r)} for r in recalls]


def _tell(memory: Engine, questions: list[dict[str, Any]]) -> None:
    console = out()
    cards = memory.episodes()
    threads = {c.origin for c in cards}
    messages = sum(c.observations for c in cards)
    console.print(Rule(f"{messages} messages, {len(threads)} threads, {len(cards)} episodes"))
    render_cards(cards)
    for question in questions:
        console.print(Rule(style="dim"))
        console.print(Text(f"? {question['question']}", style="bold cyan"))
        render_recall(memory.search(question["question"], limit=SHOWN))
    console.print(Rule("why does this episode begin and end here?"))
    shifts = [c for c in cards if c.reason == "topic_shift"]
    explained = max(shifts, key=lambda c: c.surprise, default=cards[0])
    render_explanation(memory.explain(explained.episode_id))


def _talk(memory: Engine, data: Path) -> dict[str, Any]:
    """Let a user begin on SMS, go on by WhatsApp and come back a week later; return the last message."""
    said = json.loads((data / CHANNELS).read_text(encoding="utf-8"))
    memory.add(said, user_id=TALKER)
    last: dict[str, Any] = said[-1]
    return last


def _context(memory: Engine, asked: dict[str, Any]) -> str:
    found = memory.context(
        asked["content"], user_id=TALKER, channel=asked["channel"], at=moment(asked["timestamp"])
    )
    return found.text


def _tell_channels(memory: Engine, asked: dict[str, Any]) -> None:
    """Show which threads go on with which, why, and what the next prompt is told."""
    console = out()
    threads = memory.threads(user_id=TALKER)
    console.print(Rule(f"one story over three channels: {len(threads)} threads"))
    for card in memory.links(user_id=TALKER):
        console.print(Text(f"{card.later.origin} goes on with {card.earlier.origin}", style="bold"))
        told = memory.link_explain(card.later.origin, card.earlier.origin, user_id=TALKER)
        for sentence in told.judged[0].sentences if told.judged else ():
            console.print(Text(f"  {sentence}", style="dim"))
    console.print(Rule("what the next prompt is told", style="dim"))
    console.print(Text(_context(memory, asked)))


def _tell_walk(memory: Engine, walked: RunReport) -> None:
    """Show an agent's run: the score over its steps, where it was, and what it can be asked."""
    console = out()
    console.print(Rule(f"an agent in a house: {walked.steps} steps, {walked.episodes} episodes"))
    console.print(Text.from_ansi(plot_terminal(memory.trace(WALK, user_id=ROBOT), console.width)))
    console.print()
    console.print(map_terminal(memory.places(user_id=ROBOT, thread=WALK), console.width), markup=False)
    for question in WALKED:
        console.print(Rule(style="dim"))
        console.print(Text(f"? {question}", style="bold cyan"))
        render_recall(memory.search(question, user_id=ROBOT, limit=1))


def _write_walk(memory: Engine, output: Path) -> None:
    plot_png(memory.trace(WALK, user_id=ROBOT), output / "household.png")
    map_png(memory.places(user_id=ROBOT, thread=WALK), output / "map.png", title=WALK)


def _write(memory: Engine, output: Path) -> int:
    plot_png(memory.trace(PLOTTED), output / "boundaries.png")
    cards = memory.episodes()
    for card in cards:
        write_episode(output / "episodes", card, memory.messages(card.episode_id))
    return len(cards)
