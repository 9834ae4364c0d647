"""How well mentions are found: precision, recall and F1 by kind, for exact and for overlapping spans.

A predicted span that only meets an optional label (one that a reader may mark or leave) counts neither way.
A label may allow a second kind. Overlap pairs each label with at most one prediction of its kind.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from episodic_agent.core.evaluation.summary import rounded

Span: TypeAlias = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class Labels:
    """Hold one text's labels: spans (start, end, kind), other kinds a label allows, and optional spans."""

    spans: tuple[Span, ...]
    also: Mapping[Span, str]
    optional: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class MentionScore:
    """Count labels found, labels missed and predictions that meet no label."""

    hits: int = 0
    missed: int = 0
    wrong: int = 0

    @property
    def precision(self) -> float:
        """Return the share of predictions that are right; 0 without predictions."""
        return self.hits / (self.hits + self.wrong) if self.hits else 0.0

    @property
    def recall(self) -> float:
        """Return the share of labels found; 0 without labels."""
        return self.hits / (self.hits + self.missed) if self.hits else 0.0

    @property
    def f1(self) -> float:
        """Return the harmonic mean of precision and recall."""
        total = 2 * self.hits + self.missed + self.wrong
        return 2 * self.hits / total if total else 0.0

    def as_json(self) -> dict[str, float | None]:
        """Return the figures for a result file."""
        values = {"precision": self.precision, "recall": self.recall, "f1": self.f1}
        return {**{name: rounded(value) for name, value in values.items()}, "labels": self.hits + self.missed}


def score_mentions(
    texts: Iterable[tuple[Labels, Sequence[Span]]], *, exact: bool = True
) -> dict[str, MentionScore]:
    """Return the score of each kind and of "all" over texts, given as (labels, predicted spans).

    `exact` asks for the same start and end; otherwise one shared character is enough. The kind must agree,
    or be the other one the label allows; such a hit counts for the label's kind.

    >>> labels = Labels(((0, 8, "place"), (12, 14, "number")), {}, ((20, 25, "time"),))
    >>> found = score_mentions([(labels, [(0, 8, "place"), (11, 14, "number"), (20, 25, "time")])])
    >>> found["place"].f1, found["number"].f1, found["all"].precision
    (1.0, 0.0, 0.5)
    """
    counts: dict[str, list[int]] = {}
    for labels, predicted in texts:
        _count(labels, predicted, exact, counts)
    scores = {kind: MentionScore(*numbers) for kind, numbers in sorted(counts.items())}
    totals = [sum(numbers[place] for numbers in counts.values()) for place in range(3)]
    return {**scores, "all": MentionScore(*totals)}


def _count(labels: Labels, predicted: Sequence[Span], exact: bool, counts: dict[str, list[int]]) -> None:
    unused = list(dict.fromkeys(predicted))
    for label in labels.spans:
        hit = next((one for one in unused if _meets(label, one, labels, exact)), None)
        if hit is not None:
            unused.remove(hit)
        counts.setdefault(label[2], [0, 0, 0])[0 if hit is not None else 1] += 1
    for items in unused:
        if not any(_overlap(items, other) for other in labels.optional):
            counts.setdefault(items[2], [0, 0, 0])[2] += 1


def _meets(label: Span, item: Span, labels: Labels, exact: bool) -> bool:
    if item[2] not in {label[2], labels.also.get(label)}:
        return False
    return item[:2] == label[:2] if exact else _overlap(label, item)


def _overlap(item: Span, other: Span) -> bool:
    return item[0] < other[1] and other[0] < item[1]
