"""Have closed episodes told again: by a better model, a newer prompt, or without one; or titled by hand."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from episodic_agent.engine.deps import Deps
from episodic_agent.engine.episodes import listing
from episodic_agent.engine.episodes.encoding import ask_again, stored_posting
from episodic_agent.errors import InvalidInput
from episodic_agent.protocols import EPISODES, Transaction, ref_of
from episodic_agent.schemas import Encoding, Episode, EpisodeKind, Scope

BY_HAND: Final = "hand"  # who encoded what a person titled
LONGEST_TITLE: Final = 200  # characters

_AT_ONCE = 256  # jobs asked for in one transaction


def reencode(deps: Deps, scope: Scope, thread_id: UUID | None, by: str | None) -> int:
    """Ask for the words of the closed episodes of a thread (None: of all) anew; return of how many.

    `by` narrows it to what was encoded by this, or by what begins so.
    """
    with deps.store.begin(scope, write=False) as tx:
        chosen = _encoded(tx, thread_id, by)
    for start in range(0, len(chosen), _AT_ONCE):
        with deps.store.begin(scope) as tx:
            ask_again(tx, chosen[start : start + _AT_ONCE], deps.clock())
    return len(chosen)


def _encoded(tx: Transaction, thread_id: UUID | None, by: str | None) -> Sequence[Episode]:
    """Return the current episodes that have words, and by whom it was asked for."""
    threads = [thread_id] if thread_id is not None else [one.id for one in tx.threads.list()]
    episodes = [episode for one in threads for episode in tx.episodes.list(threads=[one])]
    encoded = [e for e in episodes if e.encoding_version]
    if by is None:  # what a person called it stays, unless it is asked for by name
        return [e for e in encoded if e.encoded_by != BY_HAND]
    return [e for e in encoded if e.encoded_by.startswith(by)]


def rename(tx: Transaction, episode_id: UUID, title: str, now: datetime, language: str | None) -> Episode:
    """Give a closed episode a title by hand: the newest version of its words; the summary stays."""
    words = " ".join(title.split())
    if not words or len(words) > LONGEST_TITLE:
        raise InvalidInput(f"the title has {len(words)} characters; give it 1 to {LONGEST_TITLE}")
    episode = listing.episode(tx, episode_id)
    if episode.kind is not EpisodeKind.EVENT or not episode.encoding_version:
        raise InvalidInput(f"episode {episode.id} has no words of its own yet; try again when it has")
    if episode.title == words:
        return episode
    version = episode.encoding_version + 1
    tx.episodes.put(Encoding(episode.id, version, words, episode.summary, episode.metadata, BY_HAND, now))
    renamed = listing.episode(tx, episode.id)
    ref = ref_of(tx.threads.number(renamed.thread_id), renamed.first_seq)
    tx.index.put_postings(EPISODES, [stored_posting(tx, ref, renamed, language)])
    return renamed
