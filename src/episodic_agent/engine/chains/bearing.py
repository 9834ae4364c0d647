"""What goes on from a long entry and bears on the topic that is asked for.

Who dictates a day says ten things in one message. Another day goes on from it by one of them, which need not
be the one that is asked for.
"""

from collections.abc import Iterable, Sequence
from typing import Final
from uuid import UUID

from episodic_agent.core.episodes.languages import content_terms
from episodic_agent.core.language import tokens, words
from episodic_agent.core.language.sentences import sentences
from episodic_agent.core.recall import Query
from episodic_agent.core.threads.turns import opens_turn
from episodic_agent.engine.chains.stories import Further, session_around
from episodic_agent.protocols import OBSERVATIONS, Transaction
from episodic_agent.schemas import Episode, Observation

SEVERAL_MATTERS: Final = 80  # words of a message from which on it may tell of several
_RARE_COUNT: Final = 4  # messages that hold a word which says what is meant
_RARE_SHARE: Final = 0.05  # or so many of all


def those_that_bear(
    tx: Transaction, query: Query, language: str | None, shown: Sequence[Episode], further: Sequence[Further]
) -> list[Further]:
    """Return what goes on from some episodes without what only goes on from other matters of a long entry.

    Of a long entry counts what its sentences about the topic say: a word of these, or of the topic, stands in
    what goes on from it. Where a shorter message tells of the topic, all that goes on from it is told.
    """
    if not further:
        return []
    topic = set(query.content or query.terms)
    roots = {one.root for one in further}
    around: dict[UUID, list[Episode]] = {}
    for episode in shown:
        if (session := session_around(tx, episode)) in roots and session is not None:
            around.setdefault(session, []).append(episode)
    matters = {root: _matter(_messages(tx, episodes), topic, language) for root, episodes in around.items()}
    terms = {one.episode.id: _terms(_messages(tx, [one.episode]), language) for one in further}
    statistics = tx.index.statistics(OBSERVATIONS, sorted(set().union(*terms.values())))
    most = max(_RARE_COUNT, _RARE_SHARE * statistics.documents)

    def bears(session: Further) -> bool:
        matter = matters.get(session.root)
        shared = set() if matter is None else terms[session.episode.id] & (matter | topic)
        return matter is None or any(statistics.frequencies.get(t, 0) <= most or t in topic for t in shared)

    return [one for one in further if bears(one)]


def _messages(tx: Transaction, episodes: Iterable[Episode]) -> list[Observation]:
    spans = [(one.thread_id, one.first_seq, one.last_seq) for one in episodes]
    return [message for some in tx.observations.read(spans) for message in some]


def _terms(messages: Iterable[Observation], language: str | None) -> set[str]:
    return {term for one in messages for term in content_terms(one.text, language)}


def _matter(messages: Sequence[Observation], topic: set[str], language: str | None) -> set[str] | None:
    """Return the words of what long messages say of a topic; None where not only these tell of it."""
    about = [one for one in messages if not topic.isdisjoint(tokens(one.text, language))]
    if not about or not all(opens_turn(one) and len(words(one.text)) > SEVERAL_MATTERS for one in about):
        return None
    parts = [part for one in about for part in sentences(one.text)]
    return {
        term
        for part in parts
        if not topic.isdisjoint(tokens(part, language))
        for term in content_terms(part, language)
    }
