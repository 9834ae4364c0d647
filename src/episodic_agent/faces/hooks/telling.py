"""What a coding agent is told: how its project was left, and what of the past bears on a prompt."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from episodic_agent.core.context.quoting import as_sentence, quoted, shown_name
from episodic_agent.core.echo import marked
from episodic_agent.core.threads.turns import is_reply
from episodic_agent.engine.results import EpisodeCard
from episodic_agent.engine.user import UserMemory
from episodic_agent.faces.hooks.events import START, AgentEvent
from episodic_agent.faces.recalling import recalled
from episodic_agent.schemas import Kind

RECENT: Final = 5  # episodes of the project that a session's beginning is told of
LONGEST: Final = 300  # characters of an episode's summary there
LAST: Final = 600  # characters of the last request there, and of the last answer


def answered(memory: UserMemory, event: AgentEvent) -> str:
    """Return what the agent should know now; "" where nobody remembers anything that bears on it."""
    if memory.missing:
        return ""
    if event.kind == START:
        return _beginning(memory, event)
    return recalled(memory, event.text, thread=event.thread, project=event.project)


def _beginning(memory: UserMemory, event: AgentEvent) -> str:
    """Return what was done last in the project, the newest last, with how it ended word for word."""
    if not event.project:
        return ""
    cards = [c for c in memory.episodes.list(channel=event.project, limit=RECENT) if not c.hidden]
    if not cards:
        return ""
    newest = max(cards, key=lambda card: card.end_at)
    lines = [f"What was done last in {shown_name(Path(event.project).name)}:"]
    for card in cards:
        heading = quoted(card.heading, LONGEST)
        line = f"- {card.start_at:%Y-%m-%d}: {heading}"
        if card is newest and (last := _last(memory, cards, card)):
            lines += [line, *last]
        else:
            summary = quoted(card.summary, LONGEST)
            lines.append(f"- {card.start_at:%Y-%m-%d}: {as_sentence(heading)} {summary}" if summary else line)
    return marked("\n".join(lines))


def _last(memory: UserMemory, cards: Sequence[EpisodeCard], newest: EpisodeCard) -> list[str]:
    """Return the last request of the newest episode's thread and what was answered to it, a line each.

    A summary shortens both, and what was decided stands in one and what is still to be done in the other.
    """
    same = [card for card in cards if card.thread_id == newest.thread_id]
    messages = [
        one
        for full in memory.episodes.contents(same)
        for one in (full.messages if full is not None else ())
        if one.kind is Kind.MESSAGE and one.text.strip()
    ]
    requests = [n for n, one in enumerate(messages) if not is_reply(one)]
    if not requests:
        return []
    lines = [f"  last request: {quoted(messages[requests[-1]].text, LAST)}"]
    if requests[-1] < len(messages) - 1:
        lines.append(f"  last answer: {quoted(messages[-1].text, LAST)}")
    return lines
