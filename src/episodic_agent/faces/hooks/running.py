"""Run a hook: keep what the agent tells, answer what it waits for, and never break its turn."""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from episodic_agent.core.context.quoting import quoted, shown_name
from episodic_agent.core.echo import marked
from episodic_agent.engine.user import UserMemory
from episodic_agent.errors import EpisodicError
from episodic_agent.faces.hooks.events import ANSWERED, END, PROMPT, START, TOOL, AgentEvent, read_event
from episodic_agent.faces.hooks.spool import Spool, log_error
from episodic_agent.faces.recalling import recalled

RECENT: Final = 5  # episodes of the project that a session's beginning is told of
MOST_OPEN: Final = 10_000  # sessions that may be open at once, of agents that never say that one ends
LONGEST: Final = 300  # characters of an episode's summary there
Open = Callable[[Callable[[UserMemory], str]], str]


def run(
    agent: str,
    kind: str,
    text: str,
    *,
    spool: Spool,
    opened: Open,
    detach: Callable[[], object],
    now: Callable[[], datetime],
) -> str:
    """Handle one event and return what is to be printed for the agent, "" for nothing.

    `opened` hands the memory to a function; `detach` starts the process that keeps what waits.
    """
    at = now()
    event = read_event(agent, kind, text, at)
    if event.item is not None or kind == END:
        spool.put(event, int(at.timestamp() * 1e9))
    answer = opened(lambda memory: answered(memory, event)) if kind in ANSWERED else ""
    if kind not in (START, TOOL):  # a tool's answer waits for the end of its turn
        detach()
    if not answer:
        return ""
    told_to_model = {"hookEventName": kind, "additionalContext": answer}
    return json.dumps({"hookSpecificOutput": told_to_model}, ensure_ascii=False)


def answered(memory: UserMemory, event: AgentEvent) -> str:
    """Return what the agent should know now; "" where nobody remembers anything that bears on it."""
    if memory.missing:
        return ""
    if event.kind == START:
        return _beginning(memory, event)
    return recalled(memory, event.text, thread=event.thread) if event.kind == PROMPT and event.text else ""


def _beginning(memory: UserMemory, event: AgentEvent) -> str:
    """Return what was done last in the project, the newest last."""
    if not event.project:
        return ""
    cards = memory.episodes.list(channel=event.project, limit=RECENT)
    lines = [
        f"- {card.start_at:%Y-%m-%d}: {quoted(card.heading, LONGEST)}"
        + (f". {quoted(card.summary, LONGEST)}" if card.summary else "")
        for card in cards
        if not card.hidden
    ]
    if not lines:
        return ""
    return marked("\n".join([f"What was done last in {shown_name(Path(event.project).name)}:", *lines]))


def keep(memory: UserMemory, spool: Spool, report: Callable[[str], object]) -> int:
    """Keep all events that wait, in order, and return how many; each leaves its file once it is durable.

    What the memory refuses for good is reported and left out, so that it does not hold up what follows.
    """
    count = 0
    for path, event in spool.waiting():
        try:
            _keep(memory, event)
            count += 1
        except EpisodicError as error:
            if error.retryable:
                raise
            report(f"{event.kind} of {event.thread} is left out: {error}")
        path.unlink(missing_ok=True)
    return count


def _keep(memory: UserMemory, event: AgentEvent) -> None:
    if event.kind == END:
        sessions = [] if memory.missing else memory.sessions.list(state="open", limit=MOST_OPEN)
        for session in sessions:
            if session.key == event.thread:
                memory.sessions.end(session.id)
        return
    if event.kind == PROMPT:  # the same key again is the same session
        memory.sessions.start(
            event.topic or event.agent,
            thread=event.thread,
            key=event.thread,
            agent_id=event.agent,
            timestamp=event.at,
        )
    if event.item is not None:
        memory.add([event.item], thread=event.thread, channel=event.project or event.agent)


def detach(arguments: Sequence[str]) -> None:
    """Start the process that keeps what waits; it outlives this one, and the agent does not wait for it."""
    subprocess.Popen(
        [sys.executable, "-m", "episodic_agent", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def unbroken(
    act: Callable[[], str], *, cache: Path, now: Callable[[], datetime], say: Callable[[str], object]
) -> str:
    """Return what a hook prints; what fails is said in one line, logged, and costs the turn nothing."""
    try:
        return act()
    except Exception as error:  # noqa: BLE001 (whatever it is, the agent's turn goes on)
        line = f"episodic hook: {type(error).__name__}: {' '.join(str(error).split())}"
        try:
            log_error(cache, f"{now():%Y-%m-%dT%H:%M:%SZ} {line}")
        except OSError as unwritable:
            line += f" (not logged: {unwritable})"
        say(line)
        return ""
