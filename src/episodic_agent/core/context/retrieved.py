"""What answers a question, as the Markdown that seed 003 shows to a language model: facts, then episodes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, TypeAlias, get_args

Detail: TypeAlias = Literal["auto", "none", "low", "high"]
DETAILS: Final[tuple[Detail, ...]] = get_args(Detail)

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


@dataclass(frozen=True, slots=True)
class ToldFact:
    """A fact as it is told: `episodes` counts those it rests on."""

    category: str
    fact: str
    episodes: int


@dataclass(frozen=True, slots=True)
class ToldEpisode:
    """An episode as it is told; `messages` are (who, what) in order, `score` counts in an answer only."""

    title: str
    summary: str
    start_at: datetime
    end_at: datetime
    surprise: float
    messages: Sequence[tuple[str, str]] = ()
    score: float = 0.0

    @property
    def key_moment(self) -> bool:
        """Tell whether it was surprising enough to be marked."""
        return self.surprise >= KEY_MOMENT


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


def retrieved(
    facts: Sequence[ToldFact], episodes: Sequence[ToldEpisode], detail: Detail, now: datetime
) -> str:
    """Render an answer; a section without anything in it is absent.

    >>> from datetime import UTC
    >>> noon = datetime(2026, 3, 12, 12, tzinfo=UTC)
    >>> print(retrieved([ToldFact("identity", "Ana lives in Lisbon", 2)], [], "auto", noon), end="")
    ## Known Facts
    - [identity] Ana lives in Lisbon (from 2 episodes)
    """
    known = [f"- [{f.category}] {_line(f.fact)} (from {f.episodes} episodes)" for f in facts]
    sections = ["## Known Facts\n" + "\n".join(known)] if known else []
    if episodes:
        blocks = [_recalled(rank, episode, detail, now) for rank, episode in enumerate(episodes, 1)]
        sections.append("## Episodic Memories\n" + "\n\n".join(blocks))
    return "\n\n".join(sections) + "\n" if sections else ""


def recent(episodes: Sequence[ToldEpisode], now: datetime) -> str:
    """Render the newest episodes."""
    if not episodes:
        return ""
    marks = [" (key moment)" if e.key_moment else "" for e in episodes]
    blocks = [_block(f"### {_line(e.title)}{mark}", e, now) for e, mark in zip(episodes, marks, strict=True)]
    return "## Recent Memories\n" + "\n\n".join(blocks) + "\n"


def _recalled(rank: int, episode: ToldEpisode, detail: Detail, now: datetime) -> str:
    moment = ", key moment" if episode.key_moment else ""
    head = f"### {_line(episode.title)} [rank: {rank}, score: {episode.score:.2f}{moment}]"
    lines = [_block(head, episode, now)]
    if is_detailed(rank, episode.surprise, detail):
        said = [f'- {_line(who)}: "{_line(text)}"' for who, text in episode.messages]
        lines.append("\n**Details:**\n" + "\n".join(said))
    return "\n".join(lines)


def _block(head: str, episode: ToldEpisode, now: datetime) -> str:
    when = f"**When:** {episode.start_at:%Y-%m-%d %H:%M} UTC ({ago(episode.end_at, now)})"
    return "\n".join([head, when, *([f"**Summary:** {_line(episode.summary)}"] if episode.summary else [])])


def _line(text: str) -> str:
    # what was said stays on its line: it can open no heading and end no list
    return " ".join(text.split())
