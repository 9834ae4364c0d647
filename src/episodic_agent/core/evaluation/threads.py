"""How well messages are put into threads: links to what they answer, and the clusters these make.

The figures of conversation disentanglement (Kummerfeld et al. 2019): precision, recall and F1 of links;
variation of information, scaled so that 1 is perfect; one-to-one overlap; precision, recall and F1 of
threads found exactly. Messages are any hashable ids; a clustering names each message's thread.
"""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from episodic_agent.core.evaluation.retrieval import rounded
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import Json

Link: TypeAlias = tuple[Hashable, Hashable]
Clusters: TypeAlias = Mapping[Hashable, Hashable]


@dataclass(frozen=True, slots=True)
class Overlap:
    """How many were labelled, how many predicted, how many of both."""

    labelled: int
    predicted: int
    matched: int

    @property
    def precision(self) -> float:
        """Return the share of what was predicted that is right, 0 where nothing was."""
        return self.matched / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """Return the share of what is labelled that was found, 0 where nothing is."""
        return self.matched / self.labelled if self.labelled else 0.0

    @property
    def f1(self) -> float:
        """Return the harmonic mean of both."""
        total = self.labelled + self.predicted
        return 2 * self.matched / total if total else 0.0

    def __add__(self, other: "Overlap") -> "Overlap":
        return Overlap(
            self.labelled + other.labelled, self.predicted + other.predicted, self.matched + other.matched
        )


@dataclass(frozen=True, slots=True)
class ThreadReport:
    """Links and exact threads pooled over all streams; the two cluster figures weighed by their messages."""

    streams: int
    messages: int
    links: Overlap
    exact: Overlap
    scaled_vi: float
    one_to_one: float

    def as_json(self) -> dict[str, Json]:
        """Return the report for a results file, six decimals."""
        results: dict[str, Json] = {"streams": self.streams, "messages": self.messages}
        for name, overlap in (("link", self.links), ("exact", self.exact)):
            for kind in ("precision", "recall", "f1"):
                results[f"{name}_{kind}"] = rounded(getattr(overlap, kind))
        results |= {"scaled_vi": rounded(self.scaled_vi), "one_to_one": rounded(self.one_to_one)}
        return results


def match_links(labelled: Iterable[Link], predicted: Iterable[Link]) -> Overlap:
    """Compare links as (newer, older) pairs; a link of a message to itself says that it begins a thread.

    >>> match_links([(1, 1), (2, 1), (3, 1)], [(1, 1), (2, 1), (3, 2)]).f1
    0.6666666666666666
    """
    truth, guess = set(labelled), set(predicted)
    return Overlap(len(truth), len(guess), len(truth & guess))


def clusters_of(messages: Sequence[Hashable], links: Iterable[Link]) -> dict[Hashable, Hashable]:
    """Return each message's thread: what links join, named by its first message; links to others are ignored.

    >>> clusters_of([1, 2, 3, 4], [(3, 1), (4, 2), (4, 4)])
    {1: 1, 2: 2, 3: 1, 4: 2}
    """
    order = {message: place for place, message in enumerate(messages)}
    parent = {message: message for message in messages}

    def root(message: Hashable) -> Hashable:
        while parent[message] != message:
            parent[message] = parent[parent[message]]
            message = parent[message]
        return message

    for newer, older in links:
        if newer in order and older in order:
            item, other = sorted((root(newer), root(older)), key=order.__getitem__)
            parent[other] = item
    return {message: root(message) for message in messages}


def scaled_variation(labelled: Clusters, predicted: Clusters) -> float:
    """Return 1 - VI / log2(n): 1 for equal clusterings, near 0 for the worst there can be.

    Variation of information (Meila 2007) sums what each clustering leaves unknown of the other.

    >>> scaled_variation({1: "a", 2: "a", 3: "b", 4: "b"}, {1: "a", 2: "b", 3: "a", 4: "b"})
    0.0
    """
    count = _messages(labelled, predicted)
    if count == 1:
        return 1.0
    joint = Counter((labelled[message], predicted[message]) for message in labelled)
    ours, theirs = Counter(labelled.values()), Counter(predicted.values())
    unknown = sum(
        n / count * (math.log2(ours[a] / n) + math.log2(theirs[b] / n)) for (a, b), n in joint.items()
    )
    return 1.0 - unknown / math.log2(count)


def one_to_one(labelled: Clusters, predicted: Clusters) -> float:
    """Return the share of messages in common when threads are paired one to one as well as possible.

    >>> one_to_one({1: "a", 2: "a", 3: "b"}, {1: "x", 2: "y", 3: "y"})
    0.6666666666666666
    """
    count = _messages(labelled, predicted)
    rows = {name: place for place, name in enumerate(dict.fromkeys(labelled.values()))}
    columns = {name: place for place, name in enumerate(dict.fromkeys(predicted.values()))}
    size = max(len(rows), len(columns))
    shared = np.zeros((size, size))
    for message in labelled:
        shared[rows[labelled[message]], columns[predicted[message]]] += 1
    return float(shared[np.arange(size), _best_pairs(shared)].sum()) / count


def match_threads(labelled: Clusters, predicted: Clusters) -> Overlap:
    """Count threads of more than one message that are found exactly.

    >>> match_threads({1: "a", 2: "a", 3: "b"}, {1: "x", 2: "x", 3: "y"})
    Overlap(labelled=1, predicted=1, matched=1)
    """
    _messages(labelled, predicted)
    truth, guess = _groups(labelled), _groups(predicted)
    return Overlap(len(truth), len(guess), len(truth & guess))


def score_threads(
    streams: Sequence[tuple[Sequence[Hashable], Iterable[Link], Iterable[Link]]],
) -> ThreadReport:
    """Score streams of (messages, labelled links, predicted links); clusters follow from the links.

    Links that lead out of the messages count as links but join nothing. Raises InvalidInput for no streams.
    """
    if not streams:
        raise InvalidInput("score at least one stream")
    links, exact = Overlap(0, 0, 0), Overlap(0, 0, 0)
    total, variation, overlap = 0, 0.0, 0.0
    for messages, *both in streams:
        labelled, predicted = (list(some) for some in both)
        truth, guess = clusters_of(messages, labelled), clusters_of(messages, predicted)
        links += match_links(labelled, predicted)
        exact += match_threads(truth, guess)
        total += len(messages)
        variation += len(messages) * scaled_variation(truth, guess)
        overlap += len(messages) * one_to_one(truth, guess)
    return ThreadReport(len(streams), total, links, exact, variation / total, overlap / total)


def _messages(labelled: Clusters, predicted: Clusters) -> int:
    if not labelled or labelled.keys() != predicted.keys():
        raise InvalidInput("both clusterings must put the same messages, at least one, into threads")
    return len(labelled)


def _groups(clusters: Clusters) -> set[frozenset[Hashable]]:
    members: dict[Hashable, list[Hashable]] = {}
    for message, name in clusters.items():
        members.setdefault(name, []).append(message)
    return {frozenset(some) for some in members.values() if len(some) > 1}


def _best_pairs(shared: "np.ndarray[tuple[int, int], np.dtype[np.float64]]") -> list[int]:
    """Return for each row the column of the assignment with the greatest sum (Kuhn 1955; O(n^3)).

    Shortest augmenting paths with potentials, a row at a time, as in Jonker and Volgenant 1987.
    """
    size = len(shared)
    cost = shared.max(initial=0.0) - shared
    over_rows, over_columns = np.zeros(size + 1), np.zeros(size + 1)
    owner = np.zeros(
        size + 1, dtype=np.int64
    )  # row (from 1) of each column; column 0 is the row being placed
    for row in range(1, size + 1):
        owner[0] = row
        column = 0
        slack, came = np.full(size + 1, np.inf), np.zeros(size + 1, dtype=np.int64)
        seen = np.zeros(size + 1, dtype=np.bool_)
        while owner[column]:
            seen[column] = True
            here = owner[column]
            reduced = cost[here - 1] - over_rows[here] - over_columns[1:]
            closer = ~seen[1:] & (reduced < slack[1:])
            slack[1:][closer], came[1:][closer] = reduced[closer], column
            free = np.where(seen, np.inf, slack)
            free[0] = np.inf
            column_next = int(free.argmin())
            step = free[column_next]
            over_rows[owner[seen]] += step
            over_columns[seen] -= step
            slack[~seen] -= step
            column = column_next
        while column:
            owner[column] = owner[came[column]]
            column = int(came[column])
    zeros = np.zeros(size, dtype=np.int64)
    zeros[owner[1:] - 1] = np.arange(size)
    return [int(place) for place in zeros]
