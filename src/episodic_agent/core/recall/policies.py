"""Named ways to recall: what `default` means now, and what it meant before, kept to the byte.

The weights of the default were fitted by hand on development data, one setting for all of it. `seed-003` is
reciprocal rank fusion over episode summaries, times retrievability (seed 003), kept for conformance. It is
not the default: ranks span 1/61 to 1/160, so a month of age outweighs relevance.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from episodic_agent.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class FusionWeights:
    """Hold every number the fusion uses; each leg is scaled to 1 at its best within the query first.

    Fitted on REALTALK, BEAM, MemDaily, LifeBench, QMSum, ALFRED and LLQA together. The optimum is flat:
    a step of a fifth to a half in one weight moves the mean recall by less than .008, so none was fitted
    closer.

    `dense` is the vector leg's share, the rest is BM25's; `dense_foreign` where the embedder does not know
    the query's language (an English model adds little to Chinese). `known_below` and `foreign_from` are the
    cosines of strangers up to which it knows a language well and from which on it does not (`fusion.trust`);
    0 for both: the script decides. `neighbour_*` is each neighbour's share
    of its own leg, halved at `neighbour_hours` of silence between. The names in `_bigrams` stand for them in
    scripts cut into bigrams, where texts written hours apart share them by chance (Chinese: MemDaily +.005,
    LifeBench +.001, with half weight for particles +.008). `speaker`, `time`, `place`, `phrase`, `part` (one
    of several questions asked at once), `order` (the last time, the first time), `length` (a text that can
    hold an answer), `summary` and `second` (shared with the first hits) are added at a full match; `states`
    (somebody states what lasts) by its likelihood, in proportion to the whole; `due` (said of days to come
    that are asked about) as a share of the best; `literal` (words to look for stand there) outweighs the
    rest. For episodes: `more` for further observations (halved for each), `own` for the episode's own
    text and vector, `thread` for the thread's other episodes, `floor` of the strength prior. `occasions`:
    where the last or first time is asked for, an episode is as good as its best observation, and how long
    a text is says nothing of whether it is meant.
    """

    dense: float = 0.5
    dense_foreign: float = 0.2
    known_below: float = 0.25
    foreign_from: float = 0.5
    neighbour_lexical: float = 0.3
    neighbour_dense: float = 0.15
    neighbour_hours: float = 12.0
    speaker: float = 0.25
    time: float = 0.2
    place: float = 0.2
    phrase: float = 0.3
    literal: float = 1.0
    part: float = 0.5
    order: float = 1.0
    length: float = 0.15
    summary: float = 0.05
    second: float = 0.2
    states: float = 0.3
    due: float = 0.3
    more: float = 0.2
    own: float = 0.2
    thread: float = 0.05
    floor: float = 0.7
    occasions: bool = True
    neighbour_lexical_bigrams: float = 0.35
    neighbour_hours_bigrams: float = 3.0
    part_bigrams: float = 0.8

    def for_bigrams(self) -> "FusionWeights":
        """Return the weights for a query in a script that is cut into bigrams."""
        return replace(
            self,
            neighbour_lexical=self.neighbour_lexical_bigrams,
            neighbour_hours=self.neighbour_hours_bigrams,
            part=self.part_bigrams,
        )


DEFAULT_WEIGHTS = FusionWeights()
WEIGHTS_2026_12 = FusionWeights(
    known_below=0.0, foreign_from=0.0, second=0.0, states=0.0, order=0.5, occasions=False
)
"""Those of recall `recall-2026-12`: one round, no matter who states what, and the script says whether the
embedder knows a language."""


@dataclass(frozen=True, slots=True)
class RecallPolicy:
    """Hold what one way to recall differs by.

    `threshold` is the confidence in [0, 1] below which nothing relevant is reported. `measured`: how far the
    embedder is trusted is measured in the memory (`fusion.measured_share`), equal vectors are duplicates in a
    language it does not know only where the words are equal too, and confidence knows the size of the memory.
    """

    name: str
    weights: FusionWeights = DEFAULT_WEIGHTS
    threshold: float = 0.15
    measured: bool = True

    @property
    def rounds(self) -> int:
        """Return 2 where what the first hits hold is looked for too, else 1."""
        return 2 if self.weights.second > 0 else 1


RECALL_2027_01: Final = RecallPolicy("recall-2027-01")
RECALL_2026_12: Final = RecallPolicy("recall-2026-12", WEIGHTS_2026_12, 0.2, measured=False)
SEED_003: Final = "seed-003"
FUSING: Final[Mapping[str, RecallPolicy]] = {
    policy.name: policy for policy in (RECALL_2027_01, RECALL_2026_12)
}
ALIASES: Final = {"default": RECALL_2027_01.name, "rrf-decay": SEED_003}
NAMES: Final = ("default", *FUSING, SEED_003)


def policy_name(named: str) -> str:
    """Return the dated name of a policy; InvalidInput where there is none.

    >>> policy_name("default"), policy_name("recall-2026-12")
    ('recall-2027-01', 'recall-2026-12')
    """
    name = ALIASES.get(named, named)
    if name not in FUSING and name != SEED_003:
        raise InvalidInput(f"no recall policy {named!r}; there are {', '.join(NAMES)}")
    return name


CONSTANT: Final = 60
PER_LEG: Final = 100


def reciprocal_ranks(legs: Sequence[Sequence[str]]) -> dict[str, float]:
    """Return the sum of 1 / (60 + rank) over the legs, ranks from 1; a leg lists ids, best first.

    >>> {key: round(value, 7) for key, value in reciprocal_ranks([["a", "b"], ["a", "c", "b"]]).items()}
    {'a': 0.0327869, 'b': 0.032002, 'c': 0.016129}
    """
    sums: dict[str, float] = {}
    for leg in legs:
        for rank, key in enumerate(dict.fromkeys(leg), 1):
            sums[key] = sums.get(key, 0.0) + 1 / (CONSTANT + rank)
    return sums


def seed_003(
    lexical: Sequence[str], dense: Sequence[str], retrievability: Mapping[str, float], limit: int
) -> list[tuple[str, float]]:
    """Return at most `limit` (id, score) pairs: the best 100 of each leg fused, cut at 100, times R, sorted.

    Ties go to the smaller id. An id without retrievability counts as 1.

    >>> [(key, round(score, 6)) for key, score in seed_003(["a", "b"], ["a"], {"a": 0.4, "b": 1.0}, 5)]
    [('b', 0.016129), ('a', 0.013115)]
    """
    fused = reciprocal_ranks([lexical[:PER_LEG], dense[:PER_LEG]])
    pairs = sorted(fused.items(), key=lambda item: (-item[1], item[0]))[:PER_LEG]
    aged = [(key, score * retrievability.get(key, 1.0)) for key, score in pairs]
    return sorted(aged, key=lambda item: (-item[1], item[0]))[: max(limit, 0)]
