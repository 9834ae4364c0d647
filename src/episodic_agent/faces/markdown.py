"""Write episodes as Markdown: one file an episode, named by date, with the messages that are its evidence."""

import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

from episodic_agent.engine.results import EpisodeCard
from episodic_agent.schemas import Observation

SLUG = 48  # characters of a title that go into a file name


def slug(title: str) -> str:
    """Make a file name of a title.

    >>> slug("Maya: café in Lisbon?")
    'maya-cafe-in-lisbon'
    """
    plain = unicodedata.normalize("NFKD", title).casefold()
    words = re.sub(r"[^\w]+", "-", "".join(c for c in plain if not unicodedata.combining(c)))
    return words.strip("-_")[:SLUG].rstrip("-") or "episode"


def episode_markdown(card: EpisodeCard, messages: Sequence[Observation]) -> str:
    """Render one episode."""
    lines = [
        f"# {card.title}",
        "",
        f"- from {card.start_at:%Y-%m-%d %H:%M} to {card.end_at:%Y-%m-%d %H:%M} UTC, thread `{card.origin}`",
        f"- {card.observations} messages; ended by: {card.reason or 'still open'}",
        f"- surprise {card.surprise:.2f}, stability {card.stability:.2f} days, R {card.retrievability:.2f}",
        f"- id `{card.episode_id}`",
        "",
    ]
    if card.summary:
        lines += ["## Summary", "", card.summary, ""]
    lines += ["## Messages", ""]
    for o in messages:
        body = "\n".join(f"> {line}" for line in o.text.splitlines() or [""])
        lines += [f"**{o.actor}** · {o.at:%Y-%m-%d %H:%M}", "", body, ""]
    return "\n".join(lines)


def write_episode(folder: Path, card: EpisodeCard, messages: Sequence[Observation]) -> Path:
    """Write one episode into a folder and return the file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{card.start_at:%Y-%m-%d-%H%M}-{slug(card.title)}.md"
    path.write_text(episode_markdown(card, messages), encoding="utf-8")
    return path
