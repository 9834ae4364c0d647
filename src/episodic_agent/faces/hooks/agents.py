"""The coding agents there are: where their hooks are written, and which of their events are heard."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from episodic_agent.errors import InvalidInput

MARK: Final = "-m episodic_agent"  # by which an entry of ours is known, with `hooks run`
RUN: Final = "hooks run"


@dataclass(frozen=True, slots=True)
class CodingAgent:
    """A coding agent: its settings file below the home folder, and its events with their limits in seconds.

    `after` is what its user has to do once the hooks are written.
    """

    name: str
    title: str
    settings: str
    events: Mapping[str, int]
    after: str = ""

    def file(self, home: Path) -> Path:
        """Return its settings file."""
        return home / self.settings


# The events of both have the same names and fields: Claude Code 2.1, and Codex 0.155, which gives a session's
# end three seconds at most.
AGENTS: Final = {
    agent.name: agent
    for agent in (
        CodingAgent(
            "claude-code",
            "Claude Code",
            ".claude/settings.json",
            {"SessionStart": 15, "UserPromptSubmit": 30, "PostToolUse": 10, "Stop": 10, "SessionEnd": 10},
        ),
        CodingAgent(
            "codex",
            "Codex",
            ".codex/hooks.json",
            {"SessionStart": 15, "UserPromptSubmit": 30, "PostToolUse": 10, "Stop": 10, "SessionEnd": 3},
            after="Codex runs new hooks once you trusted them: open /hooks in Codex",
        ),
    )
}


def agent_of(name: str) -> CodingAgent:
    """Return an agent by its name; InvalidInput names those there are."""
    if name not in AGENTS:
        raise InvalidInput(f"no hooks for {name!r}; there are {', '.join(AGENTS)}")
    return AGENTS[name]


def entries(agent: CodingAgent, python: str, options: Sequence[str]) -> dict[str, Any]:
    """Return what is written for each event: the command, with the memory and whose it is, and its limit."""
    end = shlex.join(["--agent", agent.name, *options])
    return {
        event: {
            "hooks": [
                {
                    "type": "command",
                    "command": f"{shlex.quote(python)} {MARK} {RUN} {event} {end}",
                    "timeout": seconds,
                }
            ]
        }
        for event, seconds in agent.events.items()
    }


def is_ours(handler: object) -> bool:
    """Tell whether a handler in a settings file is an entry of ours."""
    command = handler.get("command") if isinstance(handler, dict) else None
    return isinstance(command, str) and MARK in command and RUN in command
