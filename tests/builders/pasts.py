"""Everything a user's memory answers, to be compared with what it answered once."""

from collections.abc import Sequence
from typing import Any

from episodic_agent.engine.links.explaining import LinkExplanation
from episodic_agent.engine.links.verbs import LinkCard
from episodic_agent.engine.tuning.outcomes import labelled
from episodic_agent.engine.user import UserMemory
from episodic_agent.schemas import Decision

EVERY = 1000


def answers(user: UserMemory, questions: Sequence[str]) -> dict[str, Any]:
    """Return what every reading verb answers."""
    threads, cards = user.threads.list(), user.episodes.list()
    closed = [card.episode_id for card in cards if card.state != "open"]
    facts, heads = user.facts.list(history=True, limit=EVERY), user.chains.heads(limit=EVERY)
    told: dict[str, Any] = {
        "threads": threads,
        "thread cards": [user.threads.get(one.origin) for one in threads],
        "episodes": cards,
        "recent": user.episodes.recent(limit=EVERY),
        "episode": [user.episodes.get(one) for one in closed],
        "words": [user.episodes.history(one) for one in closed],
        "messages": [user.episodes.messages(card.episode_id) for card in cards],
        "reviews": [user.episodes.reviews(one) for one in closed],
        "pinned": user.episodes.pinned(),
        "facts": facts,
        "quotes": [user.facts.get(card.id) for card in facts],
        "matters": [user.facts.history(card.id) for card in facts],
        "links": [_linked(card) for card in user.links.list(taken_back=True, limit=EVERY)],
        "linked": [_explained(user.links.explain(one.origin)) for one in threads],
        "cross-thread": user.links.episodes(),
        "heads": heads,
        "chains": [user.chains.get(one.id) for one in heads],
        "trees": [user.chains.tree(one.id) for one in heads],
        "refusals": user.chains.refusals(),
        "sections": user.sections.list(),
        "sessions": user.sessions.list(),
        "places": user.places.list(),
        "stats": user.stats(),
    }
    for question in questions:
        told |= {
            f"search {question}": user.search(question, limit=10, explain=True),
            f"retrieve {question}": user.retrieve(question),
            f"context {question}": [user.context(question, thread=t) for t in (None, *_origins(threads))],
            f"sequence {question}": user.chains.sequence(question),
            f"replay {question}": user.chains.replay(question),
            f"facts {question}": user.facts.list(question),
        }
    return told


def _linked(card: LinkCard) -> Any:
    return card.link, card.earlier, card.later, card.decision and undated(card.decision)


def _explained(explanation: LinkExplanation) -> Any:
    judged = [(one.candidate, undated(one.decision)) for one in explanation.judged]
    return explanation.thread, explanation.links, judged


def undated(decision: Decision) -> Decision:
    """Return a decision without what came of it: where no one turn told that, nobody knows since when."""
    return labelled(decision, None)


def _origins(threads: Sequence[Any]) -> list[str]:
    return [one.origin for one in threads[:2]]


def differing(before: dict[str, Any], after: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return what is answered otherwise, both ways."""
    return {name: (told, after.get(name)) for name, told in before.items() if told != after.get(name)}
