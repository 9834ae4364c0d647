"""The demo's story of three days: sessions that find the one they go on from, told again and drawn."""

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from rich.rule import Rule
from rich.text import Text

from episodic_agent.engine.memory import Memory
from episodic_agent.faces.cli.app import out
from episodic_agent.faces.plot import arc_png, arc_terminal

TELLER = "noor"
STORY = "noor-three-days.json"
PICTURE = "arc.png"
APART = timedelta(minutes=2)  # from message to message


def live_days(memory: Memory, data: Path) -> str:
    """Hold a session a day, and others between them, each in a thread that is closed; return the topic."""
    story: dict[str, Any] = json.loads((data / STORY).read_text(encoding="utf-8"))
    for session in story["sessions"]:
        begins = datetime.fromisoformat(session["at"])
        said = [
            {"role": role, "content": text, "timestamp": (begins + n * APART).isoformat()}
            for n, (role, text) in enumerate(session["said"])
        ]
        memory.add(said, thread=session["thread"], user_id=TELLER)
        memory.close_thread(session["thread"], user_id=TELLER)
        memory.work()
    topic: str = story["topic"]
    return topic


def days_json(memory: Memory, topic: str) -> dict[str, Any]:
    """Return the replay and the arc."""
    return {
        "replay": memory.replay_topic(topic, user_id=TELLER),
        "arc": memory.arc(_last(memory), user_id=TELLER),
    }


def tell_days(memory: Memory, topic: str) -> None:
    """Print the replay of the topic, and the arc its sessions make."""
    console = out()
    console.print(Rule("a bug hunt of three days, which nobody linked"))
    console.print(Text(memory.replay_topic(topic, user_id=TELLER)))
    console.print(arc_terminal(memory.arc(_last(memory), user_id=TELLER), console.width), markup=False)


def draw_days(memory: Memory, output: Path) -> None:
    """Draw the arc of the three days."""
    arc_png(memory.arc(_last(memory), user_id=TELLER), output / PICTURE)


def _last(memory: Memory) -> Any:
    """Return the session of the story's last day, the newest there is."""
    return memory.summaries(user_id=TELLER, limit=1)[0].episode_id
