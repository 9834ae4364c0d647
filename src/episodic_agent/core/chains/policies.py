"""How numbers become a parent: seed 004 to the letter, fixed weights, and a fitted one.

A policy's name says everything it was made with (`seed-004?threshold=0.9`), so that the name on a decision
is enough to compute its verdict again.
"""

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, Protocol, TypeAlias

from episodic_agent.data import numbers
from episodic_agent.errors import InvalidInput

Stage: TypeAlias = Literal["open", "close"]
DAY_HOURS: Final = 24.0
CLOSE_HOURS: Final = 48.0  # inclusive
WEEK_HOURS: Final = 7 * DAY_HOURS
WEEK_ENTITIES: Final = 2
WEEK_COSINE: Final = 0.80
CONFIRMED: Final = 0.75  # of the summaries' cosine, or of p, at close
DROPPED: Final = 0.50  # a provisional link with less is dropped at close
COSINE, OVERLAP, SAME_THREAD, DEICTIC = 0.55, 0.25, 0.10, 0.10
LONGEST_HOURS: Final = 400 * DAY_HOURS  # a yearly matter comes back, one of two years ago is a new one
_LIMIT: Final = 30.0  # of a log-odds
_SURE: Final = 0.001  # a probability is kept this far from 0 and 1: its log-odds are an input
# Log-odds that one choice must give a chain: few beside no other, more where it is one of many. Tried on the
# labelled stories and lives together: these join fewest sessions wrongly without losing more of the stories.
_EASY, _RIVALS = -3.0, 1.0
_AGREED: Final = 0.4  # the probability which that stands for
_SAME_TICKET, _OTHER_TICKET = 0.9, 0.1  # probability where a chain names the ticket, and where only others
_NAMES_IT: Final = 0.05  # above the rest of that chain for the session that does


class ChainPolicy(Protocol):
    """A frozen, named way to turn a candidate's numbers into a score and a verdict.

    `most` is how many candidates, best first, are considered (None: all).
    """

    @property
    def name(self) -> str: ...  # noqa: D102 - the class says it
    @property
    def threshold(self) -> float: ...  # noqa: D102
    @property
    def most(self) -> int | None: ...  # noqa: D102
    @property
    def tunable(self) -> tuple[float, float]: ...  # noqa: D102

    def score(self, features: Mapping[str, float]) -> float:
        """Return the score of a candidate's numbers, in [0, 1]."""
        ...

    def reaches(self, features: Mapping[str, float]) -> bool:
        """Say whether a candidate lies in the policy's window of time."""
        ...

    def links(self, features: Mapping[str, float], stage: Stage, *, provisional: bool = False) -> bool:
        """Give the verdict; `provisional` tells that this candidate was linked when the episode opened."""
        ...


@dataclass(frozen=True, slots=True)
class SeedChain:
    """Seed 004: the topic's best hit, raw cosine over .85, closed within 48 hours, decided at the start."""

    threshold: float = 0.85
    name: str = "seed-004"
    most: int | None = 3

    @property
    def tunable(self) -> tuple[float, float]:
        """Return how low and how high tuning may set the threshold."""
        return 0.70, 0.95

    def score(self, features: Mapping[str, float]) -> float:
        """Return the raw cosine, 0 without vectors.

        >>> SeedChain().score({"raw": 0.9, "hours": 2.0})
        0.9
        """
        return max(0.0, features.get("raw", 0.0))

    def reaches(self, features: Mapping[str, float]) -> bool:
        """Say whether it ended within 48 hours.

        >>> SeedChain().reaches({"hours": 48.0}), SeedChain().reaches({"hours": 48.02})
        (True, False)
        """
        return 0.0 <= features["hours"] <= CLOSE_HOURS

    def links(self, features: Mapping[str, float], stage: Stage, *, provisional: bool = False) -> bool:
        """Link at the start alone; what was linked then stays."""
        if stage == "close":
            return provisional
        return self.reaches(features) and self.score(features) > self.threshold


@dataclass(frozen=True, slots=True)
class FixedChain:
    """Weights by hand: cosine .55, overlap .25, same thread .10, deictic opener .10, in two stages."""

    threshold: float = 0.60
    name: str = "chain-fixed"
    most: int | None = None

    @property
    def tunable(self) -> tuple[float, float]:
        """Return how low and how high tuning may set the threshold."""
        return 0.40, 0.80

    def score(self, features: Mapping[str, float]) -> float:
        """Return the weighted mean of what there is evidence for.

        >>> FixedChain().score({"cosine": 1.0, "overlap": 0.4, "same_thread": 0.0, "deictic": 1.0})
        0.75
        """
        weighed = (
            ("cosine", COSINE), ("overlap", OVERLAP), ("same_thread", SAME_THREAD), ("deictic", DEICTIC)
        )  # fmt: skip
        there = [(weight, features[name]) for name, weight in weighed if name in features]
        total = sum(weight for weight, _ in there)
        return round(sum(weight * value for weight, value in there) / total, 9) if total else 0.0

    def reaches(self, features: Mapping[str, float]) -> bool:
        """Say whether it ended within 48 hours, or within a week with rare names and a high cosine.

        >>> FixedChain().reaches({"hours": 100.0, "rare_entities": 2.0, "cosine": 0.8})
        True
        """
        hours = features["hours"]
        if 0.0 <= hours <= CLOSE_HOURS:
            return True
        strong = features.get("rare_entities", 0.0) >= WEEK_ENTITIES
        return 0.0 <= hours <= WEEK_HOURS and strong and features.get("cosine", 0.0) >= WEEK_COSINE

    def links(self, features: Mapping[str, float], stage: Stage, *, provisional: bool = False) -> bool:
        """Link by p when it opens; confirm, drop or make the link by the summaries when it closes."""
        if not self.reaches(features):
            return False
        score, cosine = self.score(features), features.get("cosine")
        if stage == "open":
            return score >= self.threshold
        if score >= CONFIRMED or (cosine is not None and cosine >= CONFIRMED):
            return True
        return provisional and (cosine is None or cosine >= DROPPED)


@dataclass(frozen=True, slots=True)
class FittedChain:
    """A small logistic model over the chain a candidate stands in, fitted by `benchmarks.chain_training`.

    Its score is the probability that the episode goes on with that chain; members of one chain share it, so
    the latest of them becomes the parent. Without vectors it reads weights fitted without them. Time is one
    of its numbers: there is no hard window below `days`.
    """

    threshold: float = 0.4  # in the middle of where held-out stories are chained best
    name: str = "chain-2026-12"
    most: int | None = None

    @property
    def tunable(self) -> tuple[float, float]:
        """Return how low and how high tuning may set the threshold."""
        return 0.20, 0.70

    def score(self, features: Mapping[str, float]) -> float:
        """Return the probability that an episode goes on with the candidate's chain."""
        by_vectors = "arc_cosine" in features
        if not by_vectors and not (features.get("arc_rare") or features.get("deictic")):
            return 0.0  # no word in common and nothing else to go by: nothing speaks for it
        table = numbers("chains/weights.vectors" if by_vectors else "chains/weights.words")
        probability = sum(
            weight * (1.0 if name == "bias" else features.get(name, 0.0)) for name, weight in table.items()
        )
        return 1.0 / (1.0 + math.exp(-max(-_LIMIT, min(_LIMIT, probability))))

    def reaches(self, features: Mapping[str, float]) -> bool:
        """Say whether it ended before the episode began, and not longer ago than any matter rests."""
        return 0.0 <= features["hours"] <= LONGEST_HOURS

    def links(self, features: Mapping[str, float], stage: Stage, *, provisional: bool = False) -> bool:
        """Link by the same threshold when it opens and when it closes; never what nothing speaks for.

        A few words soon after a session look like an answer to it: that alone is no matter shared.

        >>> FittedChain().links({"hours": 0.0, "arc_link": 6.0, "arc_rare": 0.0, "arc_newest": 1.0}, "open")
        False
        """
        if not any(
            features.get(name, 0.0) > 0.0 for name in ("arc_cosine", "arc_rare", "deictic", "arc_reference")
        ):
            return False
        return self.reaches(features) and self.score(features) >= self.threshold


@dataclass(frozen=True, slots=True)
class AgreedChain(FittedChain):
    """The fitted policy and one choice over all earlier sessions, which must agree.

    The fitted model learned from stories of a few matters. Where a user's weeks hold thirty, it finds one
    that is near enough for nearly every session, and all end in one chain. The choice that links threads
    weighs the chains against each other and against none: with a few its word counts little, with many it
    must be sure. A ticket that both name decides; another of the same kind speaks against it.
    """

    name: str = "chain-2027-01"

    def score(self, features: Mapping[str, float]) -> float:
        """Return how likely an episode goes on with the candidate's chain to the one that doubts it more.

        >>> near = {"arc_cosine": 0.9, "arc_lead": 0.5, "arc_rare": 0.5, "arc_link": 3.0}
        >>> few, many = ({**near, "arc_choice": -2.0, "arc_rivals": math.log(n)} for n in (2, 30))
        >>> policy = AgreedChain()
        >>> policy.score(few) >= policy.threshold > policy.score(many)
        True
        """
        alone = FittedChain.score(self, features)
        ticket = features.get("arc_reference", 0.0)
        if ticket > 0.0:
            return _SAME_TICKET + _NAMES_IT * features.get("reference", 0.0)
        if ticket < 0.0:
            alone = min(_OTHER_TICKET, alone)
        if "arc_choice" not in features or not alone:
            return alone
        middle = logit(_AGREED)
        lead = features["arc_choice"] - _EASY - _RIVALS * features.get("arc_rivals", 0.0)
        value = min(logit(alone), lead + middle)
        return 1.0 / (1.0 + math.exp(-max(-_LIMIT, min(_LIMIT, value))))


@dataclass(frozen=True, slots=True)
class ChosenChain(FittedChain):
    """One choice over all earlier sessions and none (`core.chains.evidence`), whose word alone counts.

    The others ask what a session is like; in one project everything is like everything. A ticket that both
    name decides; another of the same kind speaks against it.
    """

    threshold: float = 0.5  # of two chains one has more at most
    name: str = "chain-2027-02"

    @property
    def tunable(self) -> tuple[float, float]:
        """Return how low and how high tuning may set the threshold."""
        return 0.30, 0.80

    def score(self, features: Mapping[str, float]) -> float:
        """Return the candidate's share of the choice, with its chain's where it is the best of that.

        >>> ChosenChain().score({"lead": 0.0}), ChosenChain().score({"arc_rare": 1.0})
        (0.5, 0.0)
        """
        ticket, lead = features.get("arc_reference", 0.0), features.get("lead")
        if ticket > 0.0:
            return _SAME_TICKET + _NAMES_IT * features.get("reference", 0.0)
        share = 0.0 if lead is None else 1.0 / (1.0 + math.exp(-lead))
        return min(_OTHER_TICKET, share) if ticket < 0.0 else share


def logit(probability: float) -> float:
    """Return the log-odds of a probability, as if it were never nearer to 0 and 1 than .001.

    >>> logit(0.5), logit(1.0) == logit(0.999)
    (0.0, True)
    """
    value = min(max(probability, _SURE), 1.0 - _SURE)
    return math.log(value / (1.0 - value))


_POLICIES: Final[Mapping[str, type[SeedChain] | type[FixedChain] | type[FittedChain]]] = {
    "seed-004": SeedChain,
    "chain-fixed": FixedChain,
    "chain-2026-12": FittedChain,
    "chain-2027-01": AgreedChain,
    "chain-2027-02": ChosenChain,
}
DEFAULT: Final = "chain-2027-02"
_ALIASES: Final[Mapping[str, str]] = {"default": DEFAULT}


def chain_policy_names() -> list[str]:
    """Return every name `chain_policy` accepts, the alias included, sorted.

    >>> chain_policy_names()
    ['chain-2026-12', 'chain-2027-01', 'chain-2027-02', 'chain-fixed', 'default', 'seed-004']
    """
    return sorted([*_POLICIES, *_ALIASES])


def chain_policy(name: str = DEFAULT, *, threshold: float | None = None) -> ChainPolicy:
    """Return a chaining policy by name; a threshold of your own may stand in the name or beside it.

    Raises InvalidInput for an unknown name or parameter and for a threshold outside [0, 1].

    >>> chain_policy("seed-004?threshold=0.9").threshold, chain_policy("default", threshold=0.45).name
    (0.9, 'chain-2027-02?threshold=0.45')
    """
    base, _, query = name.strip().partition("?")
    known = _ALIASES.get(base, base)
    if known not in _POLICIES:
        close = difflib.get_close_matches(base, chain_policy_names(), n=1, cutoff=0.4)
        choice = repr(close[0]) if close else f"one of {', '.join(chain_policy_names())}"
        raise InvalidInput(f"unknown chaining policy {base!r}; choose {choice}")
    chosen = _threshold(query, known) if query and threshold is None else threshold
    factory = _POLICIES[known]
    if chosen is None or chosen == factory().threshold:
        return factory()
    if not 0.0 <= chosen <= 1.0:
        raise InvalidInput(f"{known}: threshold must lie in [0, 1], not {chosen}")
    return factory(threshold=chosen, name=f"{known}?threshold={chosen:g}")


def _threshold(query: str, known: str) -> float:
    key, _, value = query.partition("=")
    try:
        number = float(value)
    except ValueError as error:
        raise InvalidInput(f"{known}: write {query!r} as threshold=number") from error
    if key.strip() != "threshold":
        raise InvalidInput(f"{known} has no parameter {key.strip()!r}; it has threshold")
    return number
