"""Facts written with their words and vectors: what learning, a hand or an import changes."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime

import numpy as np

from episodic_agent.core.facts import Changes
from episodic_agent.core.facts.quoting import meant_words
from episodic_agent.core.facts.slots import OPPOSITE
from episodic_agent.core.language import term_counts
from episodic_agent.core.language.windows import windows
from episodic_agent.engine.deps import Deps
from episodic_agent.errors import Conflict, ProviderError
from episodic_agent.protocols import FACTS, Posting, Transaction
from episodic_agent.schemas import Vector
from episodic_agent.schemas.facts import Fact, FactCandidate, StoredFact

Vectors = Mapping[str, Vector]  # by the words that are meant, one row for each window of them


def reworded(known: Sequence[StoredFact], changes: Changes) -> list[Fact]:
    """Return the facts whose sentence is new to the index."""
    before = {kept.id: kept.fact.fact for kept in known}
    return [fact for fact in (*changes.added, *changes.changed) if before.get(fact.id) != fact.fact]


def embedded(
    deps: Deps, facts: Iterable[Fact | FactCandidate], there: Mapping[str, Vector] | None = None
) -> dict[str, Vector]:
    """Return the vectors of facts by the words that are meant; nothing without an embedder.

    `there` are vectors [d] of statements that are known already. Raises ProviderError where embedding fails.
    """
    if deps.embedder is None:
        return {}
    results: dict[str, list[Vector]] = {}
    pieces: list[tuple[str, str]] = []
    for text in dict.fromkeys(meant_words(fact) for fact in facts):
        parts = windows(text)
        if there and text in there and len(parts) == 1:
            results[text] = [there[text]]
        else:
            pieces += [(text, piece) for piece in parts]
    rows = deps.embedder.embed([piece for _, piece in pieces]) if pieces else ()
    for (text, _), row in zip(pieces, rows, strict=True):
        results.setdefault(text, []).append(row)
    return {text: np.stack(vectors) for text, vectors in results.items()}


def embedded_if_possible(deps: Deps, facts: Sequence[Fact]) -> dict[str, Vector] | None:
    """Return the vectors of facts; None where the embedder is away: words alone then find them."""
    with suppress(ProviderError):
        return embedded(deps, facts)
    return None


def write_facts(
    tx: Transaction,
    deps: Deps,
    known: Sequence[StoredFact],
    changes: Changes,
    vectors: Vectors | None,
    *,
    now: datetime,
) -> None:
    """Write what changes of known facts, with words, vectors and what becomes of old ids.

    Raises Conflict where a sentence has no vector though vectors are given: somebody else changed the facts
    after they were made. With None `doctor --repair` makes them later.
    """
    new = reworded(known, changes)
    embeds = vectors is not None and deps.embedder is not None
    if embeds and vectors is not None and any(meant_words(fact) not in vectors for fact in new):
        raise Conflict("the facts of this user were changed just now; repeat the call")
    # put together: a new fact may name one of the others as what took its place
    facts = tx.knowledge.put_facts([StoredFact(fact, now) for fact in (*changes.added, *changes.changed)])
    tx.index.drop(FACTS, tx.knowledge.move_facts(changes.gone))
    named = {fact.id for fact in new}
    index_facts(tx, deps, [one for one in facts if one.id in named], vectors)


def index_facts(tx: Transaction, deps: Deps, facts: Sequence[StoredFact], vectors: Vectors | None) -> None:
    """Index the words of facts, and their vectors where there are any, under the facts' numbers."""
    if not facts:
        return
    counts = {one.number: term_counts(one.fact.fact, deps.language) for one in facts}
    tx.index.put_postings(FACTS, [Posting(n, terms, sum(terms.values())) for n, terms in counts.items()])
    rows = [(one.number, row) for one in facts for row in (vectors or {}).get(meant_words(one.fact), ())]
    if rows:
        stacked = np.stack([row for _, row in rows])
        tx.index.put_vectors(FACTS, deps.embedder_name, [number for number, _ in rows], stacked)


def fact_texts(tx: Transaction, refs: Sequence[int]) -> dict[int, str]:
    """Return the words of facts by number, to be embedded again."""
    return {kept.number: meant_words(kept.fact) for kept in tx.knowledge.facts(numbers=refs)}


def slots_of(facts: Iterable[Fact]) -> list[tuple[str, str]]:
    """Return the whole slots that facts belong to: to dislike a thing belongs to liking it."""
    attributes = ((fact.subject, name) for fact in facts for name in _both(fact.attribute))
    return list(dict.fromkeys(attributes))


def _both(attribute: str) -> Iterable[str]:
    return (attribute, OPPOSITE[attribute]) if attribute in OPPOSITE else (attribute,)
