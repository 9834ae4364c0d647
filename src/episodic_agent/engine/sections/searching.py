"""Which sections a query is about: by their own words and meaning, and by what was said in them."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from episodic_agent.core.language import tokens
from episodic_agent.core.recall.bm25 import K1, B, term_weight
from episodic_agent.protocols import OBSERVATIONS, PARTS, Refs, Transaction, ref_of, split_ref
from episodic_agent.schemas import Section, Vector

_CANDIDATES: Final = 200  # parts each way of searching names
_NEAREST: Final = 50  # observations whose parts are looked at
_DIGITS: Final = 6


def score_sections(
    tx: Transaction, query: str, vector: Vector | None, refs: Refs | None, language: str | None, embedder: str
) -> list[tuple[int, float]]:
    """Return refs (of all parts, or among these), best first: half a point for words, half for meaning."""
    terms = list(dict.fromkeys(tokens(query, language)))
    known = tx.index.statistics(PARTS, terms)
    weights = {t: term_weight(t, df, known.documents) for t, df in known.frequencies.items() if df}
    scores: dict[int, float] = {}
    if weights:
        length = known.average_length
        places, words = tx.index.text_scores(
            PARTS, weights, refs, k1=K1, b=B, average_length=length, limit=_CANDIDATES
        )
        best = float(words.max(initial=0.0)) or 1.0
        scores = {r: 0.5 * s / best for r, s in zip(places.tolist(), words.tolist(), strict=True)}
    if vector is not None:
        places, cosines = tx.index.vector_scores(PARTS, embedder, vector, refs, limit=_CANDIDATES)
        meaning = dict(zip(places.tolist(), np.nan_to_num(cosines).tolist(), strict=True))
        for ref, cosine in _through_observations(tx, vector, embedder):
            if refs is None or ref in meaning:
                meaning[ref] = max(cosine, meaning.get(ref, 0.0))
        for ref, cosine in meaning.items():
            scores[ref] = scores.get(ref, 0.0) + 0.5 * max(0.0, cosine)
    rounded = ((ref, round(score, _DIGITS)) for ref, score in scores.items())
    return sorted(((r, s) for r, s in rounded if s > 0), key=lambda item: (-item[1], item[0]))


def _through_observations(tx: Transaction, vector: Vector, embedder: str) -> Iterator[tuple[int, float]]:
    """Yield the parts that the observations nearest a query are told in, nearest first."""
    places, cosines = tx.index.vector_scores(OBSERVATIONS, embedder, vector, limit=_NEAREST)
    threads = tx.threads.by_numbers([ref >> 32 for ref in places.tolist()])
    for ref, cosine in zip(places.tolist(), cosines.tolist(), strict=True):
        number, seq = split_ref(ref)
        section = tx.threads.section(threads[number], seq) if number in threads else None
        if section is not None and section.compacted_through is not None and seq <= section.compacted_through:
            yield ref_of(number, section.first_seq), cosine


def sections_of(tx: Transaction, scored: Sequence[tuple[int, float]]) -> list[tuple[Section, float]]:
    """Return the parts that refs lead to, with their scores, in order."""
    places = [(*split_ref(ref), score) for ref, score in scored]
    threads = tx.threads.by_numbers([number for number, _, _ in places])
    pairs = [(tx.threads.section(threads[n], seq), score) for n, seq, score in places if n in threads]
    return [(part, score) for part, score in pairs if part is not None]
