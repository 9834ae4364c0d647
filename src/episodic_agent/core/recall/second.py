"""The second round: what the first hits hold is looked for too, for answers that lie in several places.

"Which hotel did we take for the trip Ana planned?" finds the trip first; the hotel's message shares with it
the town, the day, a name. Without a model that reads, such links are the words the best hits hold and the
question does not, rare ones counting more (a relevance model, Lavrenko and Croft 2001, of two documents).
Candidates only gain by it: nothing that the question finds by itself is dropped.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from math import log1p
from typing import Final

from episodic_agent.core.recall.bm25 import idf

FIRST_HITS: Final = 2  # three cost REALTALK, whose first hit is right once in three, a point of recall@5
TERMS: Final = 25  # terms looked for; ten do less, fifty no more
READ: Final = 120  # terms of a hit that are read: long answers of assistants hold hundreds


def shared_terms(
    hits: Sequence[tuple[float, Mapping[str, int]]],
    frequencies: Mapping[str, int],
    documents: int,
    skipped: Collection[str],
) -> dict[str, float]:
    """Return the terms that lead on from the first hits, with their weights for BM25.

    `hits` are scores with the counts of terms; `frequencies` say in how many of `documents` each term occurs;
    `skipped` are the query's own terms and the speakers' names. What only one text holds leads nowhere.

    >>> hit = (1.0, {"porto": 1, "trip": 1, "the-only": 1})
    >>> weights = shared_terms([hit], {"porto": 2, "trip": 5, "the-only": 1}, 100, {"trip"})
    >>> {term: round(weight, 2) for term, weight in weights.items()}
    {'porto': 3.7}
    """
    worth: defaultdict[str, float] = defaultdict(float)
    for score, counts in hits:
        length = (
            1.0 + log1p(sum(counts.values())) / 3.0
        )  # one of many words says less of what a text is about
        for term in counts:
            if term not in skipped and frequencies.get(term, 0) > 1:
                worth[term] += score * idf(frequencies[term], documents) / length
    best = sorted(worth.items(), key=lambda item: (-item[1], item[0]))[:TERMS]
    if not best or best[0][1] <= 0:
        return {}
    return {term: idf(frequencies[term], documents) * value / best[0][1] for term, value in best}
