"""Write episodes as Markdown: one file an episode, named by date, with the messages that are its evidence.

What somebody wrote ends no line and opens no heading of the page (`harmless`); messages stand quoted.
"""

import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

from episodic_agent.engine.results import EpisodeCard
from episodic_agent.faces.shapes import episode_markdown
from episodic_agent.private import make_folder, write_text
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


def write_episode(folder: Path, card: EpisodeCard, messages: Sequence[Observation]) -> Path:
    """Write one episode into a folder and return the file."""
    make_folder(folder)
    path = folder / f"{card.start_at:%Y-%m-%d-%H%M}-{slug(card.title)}.md"
    write_text(path, episode_markdown(card, messages))
    return path
