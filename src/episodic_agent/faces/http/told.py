"""Recalled episodes as the Markdown that seed 003 shows to a language model."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from episodic_agent.faces.http.bodies import Detail, EpisodeRecord, RecalledEpisode

KEY_MOMENT: Final = 0.7  # surprise, from here on
_SHOWN_RANK: Final = {"auto": 2, "low": 1}  # up to which rank a key moment is shown in full
_UNITS: Final = (
    ("year", 365.0),
    ("month", 30.0),
    ("week", 7.0),
    ("day", 1.0),
    ("hour", 1 / 24),
    ("minute", 1 / 1440),
)


def ago(at: datetime, now: datetime) -> str:
    """Say how long ago something was, in the largest unit of which there is at least one.

    >>> from datetime import UTC
    >>> noon = datetime(2026, 3, 12, 12, tzinfo=UTC)
    >>> ago(noon - timedelta(days=2, hours=5), noon), ago(noon + timedelta(hours=1), noon)
    ('2 days ago', 'in 1 hour')
    """
    days = (now - at) / timedelta(days=1)
    for unit, size in _UNITS:
        count = int(abs(days) / size)
        if count:
            words = f"{count} {unit}{'' if count == 1 else 's'}"
            return f"{words} ago" if days > 0 else f"in {words}"
    return "just now"


def is_detailed(rank: int, surprise: float, detail: Detail) -> bool:
    """Tell whether an episode's messages are shown: `auto` for two key moments, `low` for one.

    >>> [is_detailed(rank, 0.7, "auto") for rank in (1, 2, 3)], is_detailed(9, 0.0, "high")
    ([True, True, False], True)
    """
    return detail == "high" or (surprise >= KEY_MOMENT and rank <= _SHOWN_RANK.get(detail, 0))


def retrieved_markdown(episodes: Sequence[RecalledEpisode], detail: Detail, now: datetime) -> str:
    """Render an answer; a section without anything in it is absent."""
    if not episodes:
        return ""
    blocks = [_recalled(rank, episode, detail, now) for rank, episode in enumerate(episodes, 1)]
    return "## Episodic Memories\n" + "\n\n".join(blocks) + "\n"


def recent_markdown(episodes: Sequence[EpisodeRecord], now: datetime) -> str:
    """Render the newest episodes."""
    if not episodes:
        return ""
    blocks = [_block(f"### {_line(e.title)}{_moment(e, ' (key moment)')}", e, now) for e in episodes]
    return "## Recent Memories\n" + "\n\n".join(blocks) + "\n"


def _recalled(rank: int, episode: RecalledEpisode, detail: Detail, now: datetime) -> str:
    marks = f"[rank: {rank}, score: {episode.score:.2f}{_moment(episode, ', key moment')}]"
    lines = [_block(f"### {_line(episode.title)} {marks}", episode, now)]
    if is_detailed(rank, episode.surprise, detail):
        said = [f'- {_line(m.role)}: "{_line(m.content)}"' for m in episode.messages]
        lines.append("\n**Details:**\n" + "\n".join(said))
    return "\n".join(lines)


def _block(head: str, episode: EpisodeRecord, now: datetime) -> str:
    when = f"**When:** {episode.start_at:%Y-%m-%d %H:%M} UTC ({ago(episode.end_at, now)})"
    return "\n".join([head, when, *([f"**Summary:** {_line(episode.summary)}"] if episode.summary else [])])


def _moment(episode: EpisodeRecord, words: str) -> str:
    return words if episode.surprise >= KEY_MOMENT else ""


def _line(text: str) -> str:
    # what was said stays on its line: it can open no heading and end no list
    return " ".join(text.split())
