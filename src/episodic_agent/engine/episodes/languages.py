"""The language in which an episode is told: a short one in that of the talk around it."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from episodic_agent.core.context.frames import language_written
from episodic_agent.core.episodes.extractive import sample_of
from episodic_agent.core.language import words
from episodic_agent.engine.facts.transcripts import earlier_than
from episodic_agent.protocols import Transaction
from episodic_agent.schemas import Episode, Observation

_SHORT: Final = 16  # words, of which two or three may be another language's by chance
_LATEST: Final = 8  # episodes before it whose language is the user's


def language_for(
    tx: Transaction, episode: Episode, observations: Sequence[Observation], declared: str | None
) -> str | None:
    """Return the ISO 639-1 code of the language to tell observations of an episode in, "" for none.

    `declared` is that of the whole memory. None leaves it to what was said, where that is enough.
    """
    sample = sample_of(observations)
    if declared or len(words(sample)) > _SHORT:
        return declared
    latest = tx.episodes.list(before=episode.start_at, limit=_LATEST)
    written = Counter(str(language) for one in latest if (language := one.metadata.get("language")))
    usual = next((language for language, _ in written.most_common(1)), "")
    return language_written(sample, [one.text for one in earlier_than(tx, episode)], usual)
