"""How numbers become a score: seed 002's weighted sum to the letter, and a fitted one.

A policy's name says everything it was made with (`seed-002?threshold=0.72&keyword=0.35`), so that the name
on a decision is enough to compute its score again.
"""

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Final, Protocol

from episodic_agent.data import numbers
from episodic_agent.errors import InvalidInput

BACKWARD: Final = ("pointing", "choosing", "going_on", "report", "says_continuation")
PLAIN: Final = (
    "near", "centre", "last", "near_lead", "rare", "rare_lead", "shared", "keyword", "age", "newest",
    "inherits", "length", "foreign", "says_recall", "says_dated", "says_new_subject", "says_continuation",
    "says_anaphora", "pointing", "choosing", "going_on", "fresh", "report", "definite", "indefinite",
    "personal", "advice", "fragment", "asks",
)  # fmt: skip
VECTOR_INPUTS: Final = frozenset(
    ("near", "centre", "last", "near_lead", "back_near", "recall_near", "foreign_near")
)
CLOSE: Final = 0.05  # to the threshold: without a second judge the verdict is uncertain
COMPONENTS: Final = ("keyword", "entity", "topic")
NONE: Final = "none"  # how the names of what speaks for no candidate begin; alone, where it starts
AT_END, SAYS_NOTHING = "at_end", "says_nothing"  # of the end of a thread; nothing but thanks
SIZE, OWN_SIZE = "size", "own_size"  # how much a candidate, and the thread itself, speaks of: log(1 + terms)
NEAR: Final = "near_mean"  # the mean, over the thread's messages, of the nearest one's cosine
OTHERS: Final = "others"  # the logarithm of the summed weights of all rivals and of none of them
_EDGE: Final = 1e-4  # a share nearer to 0 or 1 says no more
_LIMIT: Final = 30.0  # of a log-odds: beyond it a probability is 0 or 1 to the last digit kept


class LinkPolicy(Protocol):
    """A frozen, named way to turn a candidate's numbers into a score in [0, 1], linked above `threshold`.

    `tunable` is how low and how high tuning may set the threshold. Where it
    `competes`, a message is linked to the best candidate above the threshold; else to each of them. Where it
    `chooses`, one choice is asked over all candidates, and again when the thread ends.
    """

    @property
    def name(self) -> str: ...  # noqa: D102 - the class says it
    @property
    def threshold(self) -> float: ...  # noqa: D102
    @property
    def tunable(self) -> tuple[float, float]: ...  # noqa: D102
    @property
    def competes(self) -> bool: ...  # noqa: D102
    @property
    def chooses(self) -> bool: ...  # noqa: D102

    def limit(self, features: Mapping[str, float]) -> float:
        """Return the score above which a candidate with these numbers is linked."""
        ...

    def unsure(self, score: float, features: Mapping[str, float]) -> bool:
        """Say whether a score alone, without a second judge, leaves doubt."""
        ...

    def score(self, features: Mapping[str, float]) -> float:
        """Return the score of a candidate's numbers."""
        ...


class _OneMessage:
    """What policies share that judge a message beside each thread by itself, against one threshold."""

    __slots__ = ()
    threshold: float

    @property
    def chooses(self) -> bool:
        """Return False: a message is judged beside each thread."""
        return False

    def limit(self, features: Mapping[str, float]) -> float:
        """Return the threshold, whatever the numbers are."""
        return self.threshold

    def unsure(self, score: float, features: Mapping[str, float]) -> bool:
        """Say whether a score lies within .05 of the threshold."""
        return round(abs(score - self.threshold), 9) < CLOSE


@dataclass(frozen=True, slots=True)
class SeedPolicy(_OneMessage):
    """Seed 002's algorithm: a weighted sum in which what the message does not speak of is left out."""

    threshold: float = 0.7
    keyword: float = 0.3
    entity: float = 0.3
    topic: float = 0.2
    recency: float = 0.2
    name: str = "seed-002"

    @property
    def tunable(self) -> tuple[float, float]:
        """Return the bounds of seed 002's grid."""
        return 0.50, 0.90

    @property
    def competes(self) -> bool:
        """Return False: by the document every candidate is judged by itself."""
        return False

    def score(self, features: Mapping[str, float]) -> float:
        """Return the weighted mean of the components there are; without evidence the weighted recency alone.

        >>> policy = SeedPolicy()
        >>> round(policy.score({"keyword": 1.0, "entity": 0.5, "topic": 1.0, "recency": 0.35}), 3)
        0.72
        >>> round(policy.score({"recency": 1.0}), 3)
        0.2
        """
        parts = [(getattr(self, name), features[name]) for name in COMPONENTS if name in features]
        recency = self.recency * features["recency"]
        if not parts:
            return recency
        total = sum(weight for weight, _ in parts) + self.recency
        return (sum(weight * value for weight, value in parts) + recency) / total if total > 0.0 else 0.0


def seed_score(arguments: Mapping[str, float], features: Mapping[str, float]) -> float:
    """Return seed 002's score by other weights: what tuning needs to try them.

    >>> round(seed_score({"keyword": 0.5, "recency": 0.5}, {"keyword": 1.0, "recency": 0.0}), 3)
    0.5
    """
    names = (*COMPONENTS, "recency")
    keyword, entity, topic, recency = (arguments.get(name, 0.0) for name in names)
    return SeedPolicy(keyword=keyword, entity=entity, topic=topic, recency=recency).score(features)


@dataclass(frozen=True, slots=True)
class FittedPolicy(_OneMessage):
    """A small logistic model over the evidence and a few products of it, fitted by `tools/train_linking.py`.

    Its score is the probability that the message belongs with the thread. Without vectors it reads another
    set of weights, fitted without them.
    """

    threshold: float = 0.45  # between the two best of the held-out halves
    name: str = "link-2026-12"

    @property
    def tunable(self) -> tuple[float, float]:
        """Return bounds around one half: the score is a probability."""
        return 0.25, 0.75

    @property
    def competes(self) -> bool:
        """Return True: a message mostly goes on with one thing, and what it is like is no proof."""
        return True

    def score(self, features: Mapping[str, float]) -> float:
        """Return the probability that a candidate with these numbers is one to link.

        Thanks or an "ok" with nothing beside it belongs nowhere, however recent a thread is.
        """
        if features.get("says_nothing", 0.0):
            return 0.0
        read = inputs(features)
        probability = sum(weight * read[name] for name, weight in fitted_weights(features).items())
        return 1.0 / (1.0 + math.exp(-max(-_LIMIT, min(_LIMIT, probability))))


def fitted_weights(features: Mapping[str, float]) -> Mapping[str, float]:
    """Return the weights of `link-2026-12` by input that fit what a candidate's evidence was read from.

    >>> fitted_weights({"near": 0.5})["near"], "near" in fitted_weights({})
    (1.2702, False)
    """
    return numbers("links/weights.vectors" if "near" in features else "links/weights.words")


def inputs(features: Mapping[str, float]) -> dict[str, float]:
    """Return what the fitted model reads: the evidence and a few products of it, all of order one.

    >>> inputs({"near": 0.5, "pointing": 1.0, "content": 3.0})["bare"]
    0.5
    """

    def read(name: str) -> float:
        return features.get(name, 0.0)

    # a pronoun in a message of few own words points back; in one of many it points into the message itself
    few = 3.0 / (3.0 + read("content"))
    back = max(read(name) for name in BACKWARD)
    return {name: read(name) for name in PLAIN} | {
        "bias": 1.0,
        "few": float(read("content") == 0.0),
        "bare": few * read("pointing"),
        "bare_any": few * max(read("pointing"), read("choosing"), read("says_continuation")),
        "fresh_only": read("fresh") * (1.0 - read("pointing")),
        "back_near": back * read("near"),
        "recall_near": read("says_recall") * read("near"),
        "foreign_near": read("foreign") * read("near"),
    }


@dataclass(frozen=True, slots=True)
class ChoicePolicy:
    """A conditional logit over all candidates and "none", asked as a thread begins and when it ends.

    Its score is the candidate's share of the choice, in [0, 1]. The best is linked above `threshold` while
    the thread opens and above `end` when it is over. It is HIGH where the link is right with a probability of
    `certain`, and while the thread opens has a share of `sure` too: a large share of little talk, or of a
    group's, is right less often. `tools/train_links.py` fits the weights and that calibration.

    A language model is asked as a thread opens where the best share is at least `ask`, and when it is over
    where it is at least `doubt`, less than `sure`, and the model was not asked before: an opening seldom says
    what it is about, so that by default (1: never) only who wants a context has it asked then.
    """

    threshold: float = 0.5
    sure: float = 0.9
    end: float = 0.45
    end_sure: float = 0.75
    drop: float = 0.2
    ask: float = 1.0
    doubt: float = 0.1
    certain: float = 0.82
    name: str = "choice-2027-01"

    @property
    def tunable(self) -> tuple[float, float]:
        """Return bounds around the threshold: of many shares the best is seldom near one."""
        return 0.3, 0.75

    @property
    def competes(self) -> bool:
        """Return True: the shares are those of one choice."""
        return True

    @property
    def chooses(self) -> bool:
        """Return True: candidates are compared with each other, and again when the thread ends."""
        return True

    def limit(self, features: Mapping[str, float]) -> float:
        """Return the share above which a candidate is linked: an end has seen more than an opening."""
        return self.end if features.get(AT_END, 0.0) else self.threshold

    def unsure(self, score: float, features: Mapping[str, float]) -> bool:
        """Say whether a share is neither clearly below the limit nor one that is right nine times in ten.

        Decisions made before links were calibrated do not say how much was spoken of: their shares decide.

        >>> [ChoicePolicy().unsure(share, {"at_end": 1.0}) for share in (0.1, 0.5, 0.9)]
        [False, True, False]
        >>> much = {"at_end": 1.0, "words": 0.3, "own_size": 4.0, "size": 4.0}
        >>> ChoicePolicy().unsure(0.9, much), ChoicePolicy().unsure(0.9, much | {"words": 0.0, "size": 1.0})
        (False, True)
        """
        limit, over = self.limit(features), bool(features.get(AT_END, 0.0))
        sure = self.end_sure if over else self.sure
        if score < limit or SIZE not in features:
            return limit - CLOSE < score < max(sure, limit)
        return right_probability(score, features) < self.certain or (score < sure and not over)

    def score(self, features: Mapping[str, float]) -> float:
        """Return the share of a candidate with these numbers; thanks and an "ok" go on with nothing.

        Numbers that do not say what stood beside it (`others`) are those of the only candidate.
        """
        if features.get(SAYS_NOTHING, 0.0):
            return 0.0
        others = features.get(OTHERS)
        if others is None:
            others = none_utility(features)
        lead = choice_utility(features) - others
        return 1.0 / (1.0 + math.exp(-max(-_LIMIT, min(_LIMIT, lead))))


def choice_weights(features: Mapping[str, float]) -> Mapping[str, float]:
    """Return the weights of `choice-2027-01` for a moment (opening, early, end) and what was compared.

    >>> "near_rank" in choice_weights({"near_rank": 0.0}), "near_rank" in choice_weights({"at_end": 1.0})
    (True, False)
    """
    return numbers(f"links/choice.{_moment(features)}")


def _moment(features: Mapping[str, float]) -> str:
    moment = "end" if features.get(AT_END, 0.0) else "opening" if "pair" in features else "early"
    return f"{moment}_{'vectors' if 'near_rank' in features else 'words'}"


def right_probability(share: float, features: Mapping[str, float]) -> float:
    """Return the probability that the best of a choice is right, from its share and its numbers."""
    read = {**features, **sureness(share)}
    weights = numbers(f"links/sure.{_moment(features)}")
    spoken = sum(weight * read.get(name, 0.0) for name, weight in weights.items())
    return 1.0 / (1.0 + math.exp(-max(-_LIMIT, min(_LIMIT, spoken))))


def sureness(share: float) -> dict[str, float]:
    """Return what a calibration reads beside the numbers of a choice: a constant and the share's log-odds.

    >>> sureness(0.5)
    {'bias': 1.0, 'lead': 0.0}
    """
    inside = min(1.0 - _EDGE, max(_EDGE, share))
    return {"bias": 1.0, "lead": math.log(inside / (1.0 - inside))}


def choice_utility(features: Mapping[str, float]) -> float:
    """Return what speaks for a candidate, on the scale on which "none" has `none_utility`."""
    weights = choice_weights(features)
    return sum(w * features.get(name, 0.0) for name, w in weights.items() if not name.startswith(NONE))


def none_utility(features: Mapping[str, float]) -> float:
    """Return what speaks for no candidate at all."""
    weights = choice_weights(features)
    spoken = sum(w * features.get(name, 0.0) for name, w in weights.items() if name.startswith(NONE))
    return spoken + weights[NONE]


_POLICIES: Final[Mapping[str, type[SeedPolicy] | type[FittedPolicy] | type[ChoicePolicy]]] = {
    "seed-002": SeedPolicy,
    "link-2026-12": FittedPolicy,
    "choice-2027-01": ChoicePolicy,
}
DEFAULT: Final = "choice-2027-01"
PAIRWISE: Final = "link-2026-12"  # what a message is judged by beside one thread alone
_ALIASES: Final[Mapping[str, str]] = {"default": DEFAULT, "hybrid": "seed-002"}


def link_policy_names() -> list[str]:
    """Return every name `link_policy` accepts, aliases included, sorted.

    >>> link_policy_names()
    ['choice-2027-01', 'default', 'hybrid', 'link-2026-12', 'seed-002']
    """
    return sorted([*_POLICIES, *_ALIASES])


def link_policy(name: str = DEFAULT, **overrides: float) -> LinkPolicy:
    """Return a linking policy by name, with parameters of your own in the name or beside it.

    Raises InvalidInput for an unknown name or parameter, and for a threshold or weight outside [0, 1].

    >>> link_policy("seed-002", threshold=0.72).name
    'seed-002?threshold=0.72'
    >>> link_policy("seed-002?threshold=0.72&keyword=0.35").score({"keyword": 1.0, "recency": 0.0}) > 0.6
    True
    """
    base, _, query = name.strip().partition("?")
    known = _ALIASES.get(base, base)
    if known not in _POLICIES:
        raise InvalidInput(f"unknown linking policy {base!r}; choose {_nearest(base, link_policy_names())}")
    factory = _POLICIES[known]
    defaults = {f.name: f.default for f in fields(factory) if f.name != "name"}
    arguments = {**_parsed(query, known), **overrides}
    for key, value in arguments.items():
        if key not in defaults:
            raise InvalidInput(f"{known} has no parameter {key!r}; it has {', '.join(sorted(defaults))}")
        if not 0.0 <= value <= 1.0:
            raise InvalidInput(f"{known}: {key} must lie in [0, 1], not {value}")
    changed = {
        key: arguments[key] for key in defaults if key in arguments and arguments[key] != defaults[key]
    }
    if not changed:
        return factory()
    own = "&".join(f"{key}={value:g}" for key, value in changed.items())
    return factory(**changed, name=f"{known}?{own}")


def _parsed(query: str, known: str) -> dict[str, float]:
    values: dict[str, float] = {}
    for piece in filter(None, query.split("&")):
        key, _, value = piece.partition("=")
        try:
            values[key.strip()] = float(value)
        except ValueError as error:
            raise InvalidInput(f"{known}: write {piece!r} as parameter=number") from error
    return values


def _nearest(word: str, known: list[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.4)
    return repr(close[0]) if close else f"one of {', '.join(known)}"
