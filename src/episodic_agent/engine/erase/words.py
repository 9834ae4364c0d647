"""What becomes of words that a model found for an episode while it read what is erased."""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from episodic_agent.engine.erase.sections import retell_sections
from episodic_agent.engine.jobs.kinds import ENCODE
from episodic_agent.engine.links import joining
from episodic_agent.protocols import EPISODES, Transaction, ref_of


def retell_episodes(tx: Transaction, ids: Iterable[UUID], now: datetime) -> None:
    """Take the words of episodes away, of every version, with those made of them, and ask for new ones.

    To be called for episodes that stay; their observations do.
    """
    for episode in tx.episodes.get(sorted(ids)).values():
        number = tx.threads.number(episode.thread_id)
        frame = tx.threads.frame(episode.thread_id)  # nobody appends to the thread meanwhile
        tx.index.drop(EPISODES, [ref_of(number, episode.first_seq)])
        tx.episodes.drop(episode.id, words_only=True)
        tx.upkeep.ask(ENCODE, str(episode.id), f"{ENCODE}:{episode.id}", now=now)
        retell_sections(tx, episode.thread_id, [episode.first_seq, episode.last_seq], frame, now)
        for identifier in tx.threads.joined([episode.thread_id]).values():
            tx.episodes.drop(identifier, words_only=True)
            joining.reword(tx, identifier, now)
