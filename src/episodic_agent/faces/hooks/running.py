"""Run a hook: keep what the agent tells, answer what it waits for, and never break its turn."""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from episodic_agent.errors import EpisodicError, NotFound
from episodic_agent.faces.hooks.events import ANSWERED, END, PROMPT, START, TOOL, AgentEvent, read_event
from episodic_agent.faces.hooks.spool import Spool, log_error
from episodic_agent.lazily import module

if TYPE_CHECKING:
    from episodic_agent.engine.user import UserMemory
    from episodic_agent.faces.hooks import telling
else:
    telling = module("episodic_agent.faces.hooks.telling")  # an agent waits while a tool's answer is put down

MOST_OPEN: Final = 10_000  # sessions that may be open at once, of agents that never say that one ends
Open = Callable[[Callable[["UserMemory"], str]], str]


def run(
    agent: str,
    kind: str,
    text: str,
    *,
    spool: Spool,
    opened: Open,
    detach: Callable[[], object],
    now: Callable[[], datetime],
    largest: int,
) -> str:
    """Handle one event and return what is to be printed for the agent, "" for nothing.

    `opened` hands the memory to a function; `detach` starts the process that keeps what waits. No text of
    more than `largest` bytes is kept whole.
    """
    at = now()
    event = read_event(agent, kind, text, at, largest=largest)
    if event.item is not None or kind == END:
        spool.put(event, int(at.timestamp() * 1e9))
    answer = opened(lambda memory: telling.answered(memory, event)) if kind in ANSWERED else ""
    if kind not in (START, TOOL):  # a tool's answer waits for the end of its turn
        detach()
    if not answer:
        return ""
    told_to_model = {"hookEventName": kind, "additionalContext": answer}
    return json.dumps({"hookSpecificOutput": told_to_model}, ensure_ascii=False)


def keep(memory: "UserMemory", spool: Spool, report: Callable[[str], object]) -> int:
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


def _keep(memory: "UserMemory", event: AgentEvent) -> None:
    if event.kind == END:
        if memory.missing:
            return
        for session in memory.sessions.list(state="open", limit=MOST_OPEN):
            if session.key == event.thread:
                memory.sessions.end(session.id)
        with suppress(NotFound):  # nothing was said in it
            memory.threads.close(event.thread)
        return
    if event.kind == PROMPT:  # the same key again is the same session
        memory.sessions.start(
            event.topic or event.agent,
            thread=event.thread,
            channel=event.project or event.agent,
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
