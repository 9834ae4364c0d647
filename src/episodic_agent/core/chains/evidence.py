"""What speaks for one episode going on with another, as flat numbers that a decision keeps (I6).

An undertaking is more than its last session: "page two of the rules" may share no word with the session
before and many with the one before that. Numbers that begin with `arc_` are therefore of the whole chain that
a candidate stands in; the others are of the candidate itself.

One choice over all earlier sessions: which of them a session goes on from, or that it begins anew. It is a
conditional logit. The options are sessions, not chains: a session that was chained wrongly would else lead
whatever goes on with either matter to the latest of both. What speaks for an option is its own, and partly
its rank among the others; what speaks for "none of them" is how the session opens and how many there are.
`benchmarks.chain_choice_training` fits the weights, with vectors and by words alone.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias
from uuid import UUID

import numpy as np

from episodic_agent.core.calibration import Calibration
from episodic_agent.core.chains.policies import ChainPolicy, logit
from episodic_agent.core.chains.records import ChainEvidence, EpisodeView
from episodic_agent.core.chains.trees import Parents, roots
from episodic_agent.core.links.choice import features_of_options, ranks
from episodic_agent.core.links.evidence import COSINE_FLOOR, COSINE_SPAN
from episodic_agent.core.links.evidence import judge as judge_links
from episodic_agent.core.links.features import cosine
from episodic_agent.core.links.policies import NONE, choice_utility, link_policy, none_utility
from episodic_agent.data import numbers

LINKING: Final = "link-2026-12"  # part of what `chain-2026-12` was fitted with; a newer one needs a new fit
FEW_HOLDERS: Final = 3  # chains that may name a ticket for its key to tell which one is meant
RARE_HOLDERS: Final = 2  # chains that may name an entity for it to count as rare
ENGLISH: Final = ("", "en")


@dataclass(frozen=True, slots=True)
class _Setting:
    """What the candidates say together: their chains, how the opening fits each, who holds a term."""

    roots: Mapping[UUID, UUID]
    members: Mapping[UUID, Sequence[EpisodeView]]
    terms: Mapping[UUID, frozenset[str]]
    holders: Mapping[str, int]
    links: Mapping[UUID, float]
    newest: UUID
    followed: frozenset[UUID | None]


def judge(
    new: EpisodeView,
    candidates: Sequence[EpisodeView],
    policy: ChainPolicy,
    *,
    parents: Parents | None = None,
    calibration: Calibration | None = None,
) -> tuple[ChainEvidence, ...]:
    """Score an episode against its candidates, best first; ties to the one that ended latest, then by id.

    `parents` tells the chains, by default from the candidates alone. `calibration` brings another embedder's
    cosines to the default's scale.

    >>> from datetime import UTC, datetime, timedelta
    >>> from episodic_agent.core.chains.policies import chain_policy
    >>> from episodic_agent.core.chains.records import EpisodeStanding, SessionTurn, view_of
    >>> at = datetime(2026, 3, 4, 9, tzinfo=UTC)
    >>> said = ("The worker leaks memory", "Fresh bread with rye", "Back to the leaking worker")
    >>> leak, bread, new = (
    ...     view_of(EpisodeStanding(UUID(int=n), UUID(int=n), t, t), [SessionTurn(t, said[n])])
    ...     for n in range(3)
    ...     for t in [at + timedelta(hours=n)]
    ... )
    >>> judge(new, [bread, leak], chain_policy())[0].episode_id == leak.id
    True
    """
    if not candidates:
        return ()
    setting = _setting(new, candidates, parents, calibration)
    own = {c.id: _own(new, c, setting, calibration) for c in candidates}
    arcs = {root: _arc(new, root, setting, own) for root in setting.members}
    _add_leads(arcs)
    _add_references(new, setting, own, arcs)
    rows = _rows(new, candidates, calibration)
    for root, lead in _chosen(rows, setting).items():
        arcs[root]["arc_choice"] = lead
    if rows:
        options, none = _options(new, candidates, setting, own, rows)
        chains = [setting.roots[c.id] for c in candidates]
        weights = fitted_weights(vectors=any("cosine" in one for one in own.values()))
        for candidate, lead in zip(candidates, leads(options, none, chains, weights=weights), strict=True):
            own[candidate.id]["lead"] = lead
    evidence = [
        ChainEvidence(c.id, features, policy.score(features))
        for c in candidates
        for features in [own[c.id] | arcs[setting.roots[c.id]] | _opening(new)]
    ]
    ends = {c.id: c.end_at.timestamp() for c in candidates}
    return tuple(sorted(evidence, key=lambda e: (-e.score, -ends[e.episode_id], e.episode_id.bytes)))


def _setting(
    new: EpisodeView,
    candidates: Sequence[EpisodeView],
    parents: Parents | None,
    calibration: Calibration | None,
) -> _Setting:
    above = {c.id: c.parent for c in candidates} | dict(parents or {})
    root = roots(above)
    members: dict[UUID, list[EpisodeView]] = {}
    for candidate in candidates:
        members.setdefault(root[candidate.id], []).append(candidate)
    terms = {one: frozenset().union(*(c.terms for c in some)) for one, some in members.items()}
    holders = Counter(term for held in terms.values() for term in held)
    latest = max(candidates, key=lambda c: (c.end_at, c.id.bytes))
    links = _links(new, candidates, calibration)
    return _Setting(root, members, terms, holders, links, root[latest.id], frozenset(above.values()))


def _links(
    new: EpisodeView, candidates: Sequence[EpisodeView], calibration: Calibration | None
) -> dict[UUID, float]:
    """Return how likely the opening belongs with each candidate, as the linking policy sees it."""
    threads = [c.features for c in candidates if c.features is not None]
    opener = new.opener if _tells(new, calibration) else replace(new.opener, vector=None)
    links = judge_links(opener, threads, new.start_at, link_policy(LINKING), calibration=calibration)
    return {UUID(evidence.thread_id): evidence.score for evidence in links}


def _tells(new: EpisodeView, calibration: Calibration | None) -> bool:
    """Say whether cosines tell anything: to the default embedder, which is English, all Spanish is alike.

    Unrelated sessions in another language have a cosine of .6 to .9 there.
    """
    return calibration is not None or new.language in ENGLISH


def _own(
    new: EpisodeView, candidate: EpisodeView, setting: _Setting, calibration: Calibration | None
) -> dict[str, float]:
    shared = new.entities & candidate.entities
    values = {
        "hours": (new.start_at - candidate.end_at).total_seconds() / 3600.0,
        "same_thread": float(new.thread_id == candidate.thread_id),
        "rare_entities": float(sum(setting.holders.get(one, 0) <= RARE_HOLDERS for one in shared)),
        "link": logit(setting.links.get(candidate.id, 0.0)),
    }
    raw = cosine(new.vector, candidate.vector)
    if raw is not None:
        values["raw"] = raw
    if raw is not None and _tells(new, calibration):
        known = raw if calibration is None else float(calibration.as_default(np.array([raw]))[0])
        values["cosine"] = min(1.0, max(0.0, (known - COSINE_FLOOR) / COSINE_SPAN))
    smaller = min(len(new.terms), len(candidate.terms))
    if smaller:
        values["overlap"] = len(new.terms & candidate.terms) / smaller
    return values


def _arc(
    new: EpisodeView, root: UUID, setting: _Setting, own: Mapping[UUID, Mapping[str, float]]
) -> dict[str, float]:
    rows = [own[c.id] for c in setting.members[root]]
    chains = len(setting.members)
    weights = {t: math.log((chains + 1.0) / (setting.holders.get(t, 0) + 0.5)) for t in new.terms}
    total = math.fsum(weights.values())  # in whatever order a set is gone through
    shared = math.fsum(weights[t] for t in new.terms & setting.terms[root])
    values = {
        "arc_link": max(row["link"] for row in rows),
        "arc_rare": shared / total if total > 0.0 else 0.0,
        "arc_age": math.log1p(max(0.0, min(row["hours"] for row in rows))),
        "arc_newest": float(root == setting.newest),
        "arc_rivals": math.log(chains),
    }
    near = [row["cosine"] for row in rows if "cosine" in row]
    return values | ({"arc_cosine": max(near)} if near else {})


def _add_leads(arcs: Mapping[UUID, dict[str, float]]) -> None:
    """Add by how much each chain is nearer than any other, or less near than the nearest."""
    near = sorted((row["arc_cosine"] for row in arcs.values() if "arc_cosine" in row), reverse=True)
    for row in arcs.values():
        if "arc_cosine" in row and len(near) > 1:
            row["arc_lead"] = row["arc_cosine"] - (near[1] if row["arc_cosine"] == near[0] else near[0])


def _add_references(
    new: EpisodeView,
    setting: _Setting,
    own: Mapping[UUID, dict[str, float]],
    arcs: Mapping[UUID, dict[str, float]],
) -> None:
    """Add 1 where a chain names a ticket that the episode is about, -1 where it is about others of that kind.

    Who names it in that chain is marked, too. What many chains name ("UTF-8") tells nothing.
    """
    if not new.own_references:
        return
    every = {root: _united(c.references for c in some) for root, some in setting.members.items()}
    holders = Counter(key for held in every.values() for key in held)
    telling = {key for key in new.own_references if holders[key] <= FEW_HOLDERS}
    kinds = {_kind(key) for key in telling}
    for root, some in setting.members.items():
        about = _united(c.own_references for c in some)
        if telling & every[root]:
            arcs[root]["arc_reference"] = 1.0
            for candidate in some:
                own[candidate.id]["reference"] = float(bool(telling & candidate.references))
        elif kinds & {_kind(key) for key in about}:
            arcs[root]["arc_reference"] = -1.0


def _united(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*sets)


def _kind(key: str) -> str:
    """Return what the keys of one list of tickets have in common: "HAR" of "HAR-98", "#" of "#214"."""
    return key[0] if key.startswith("#") else key.partition("-")[0]


def _rows(
    new: EpisodeView, candidates: Sequence[EpisodeView], calibration: Calibration | None
) -> dict[UUID, dict[str, float]]:
    """Return the numbers of each candidate with words as an option of linking."""
    options = [one for one in candidates if one.talk is not None]
    talks = [one.talk for one in options if one.talk is not None]
    if new.talk is None or not talks:
        return {}
    rows = features_of_options(new.talk, talks, at_end=new.closed, calibration=calibration)
    return {option.id: row for option, row in zip(options, rows, strict=True)}


def _options(
    new: EpisodeView,
    candidates: Sequence[EpisodeView],
    setting: _Setting,
    own: Mapping[UUID, Mapping[str, float]],
    rows: Mapping[UUID, Mapping[str, float]],
) -> tuple[list[dict[str, float]], dict[str, float]]:
    """Return what the choice over sessions reads of each candidate, and of none of them."""
    return option_inputs(
        [own[c.id] for c in candidates],
        [rows.get(c.id, {}) for c in candidates],
        [c.id in setting.followed for c in candidates],
        _opening(new),
    )


def choice_inputs(
    new: EpisodeView,
    candidates: Sequence[EpisodeView],
    *,
    parents: Parents | None = None,
    calibration: Calibration | None = None,
) -> tuple[list[dict[str, float]], dict[str, float]]:
    """Return what the choice over sessions reads of each candidate, and of none of them: for its training."""
    setting = _setting(new, candidates, parents, calibration)
    own = {c.id: _own(new, c, setting, calibration) for c in candidates}
    return _options(new, candidates, setting, own, _rows(new, candidates, calibration))


def _chosen(rows: Mapping[UUID, Mapping[str, float]], setting: _Setting) -> dict[UUID, float]:
    """Return what speaks for each chain in the choice of linking over all sessions, as log-odds in [-7, 7].

    In weeks of many matters some chain is always near: what counts is whether it is nearer than all the
    others and than "none of them". A chain's share is that of its sessions together.
    """
    utilities: dict[UUID, list[float]] = {}
    for option, row in rows.items():
        utilities.setdefault(setting.roots[option], []).append(choice_utility(row))
    of_chain = {root: float(np.logaddexp.reduce(sorted(some))) for root, some in utilities.items()}
    chances: dict[UUID, float] = {}
    for root, own in of_chain.items():
        none = none_utility(next(iter(rows.values())))
        others = sorted(value for other, value in of_chain.items() if other != root)
        lead = own - float(np.logaddexp.reduce([none, *others]))
        chances[root] = max(-MOST_LEAD, min(MOST_LEAD, lead))
    return chances


def _opening(new: EpisodeView) -> dict[str, float]:
    cues = new.opening
    values = {"new": cues.new, "others": cues.others, "asks": cues.asks}
    return values | ({"deictic": cues.deictic} if new.opener.length else {})


MOST_LEAD: Final = 7.0  # log-odds that a choice gives, either way
OF_ROWS: Final = ("words", "opening_words", "opening_near", "mean_edge")
OF_VECTORS: Final = frozenset(("cosine", "opening_near", "mean_edge"))
Numbers: TypeAlias = Mapping[str, float]


def option_inputs(
    own: Sequence[Numbers], rows: Sequence[Numbers], followed: Sequence[bool], opening: Numbers
) -> tuple[list[dict[str, float]], dict[str, float]]:
    """Return what the choice reads of each earlier session, and of "none of them".

    `own` are the numbers of each as a candidate, `rows` as an option of linking, empty where it has no words;
    `followed` tells that a session goes on from it already. `opening` is how the new session opens.
    """
    age = np.log1p(np.maximum([one["hours"] for one in own], 0.0))
    words = np.array([row.get("words", 0.0) for row in rows])
    options = [
        {
            "link": numbers_of["link"],
            "cosine": numbers_of.get("cosine", 0.0),
            **{name: row.get(name, 0.0) for name in OF_ROWS},
            "utility": _clipped(choice_utility(row) - none_utility(row)) if row else 0.0,
            "age": float(age[place]),
            "later": later,
            "worded": worded,
            "head": float(not followed[place]),
        }
        for place, (numbers_of, row, later, worded) in enumerate(
            zip(own, rows, ranks(-age).tolist(), ranks(words).tolist(), strict=True)
        )
    ]
    none = {f"{NONE}_{name}": opening.get(name, 0.0) for name in ("new", "others", "asks")}
    return options, {**none, f"{NONE}_options": math.log(len(options))}


def fitted_weights(*, vectors: bool) -> Numbers:
    """Return the weights of `chain-2027-02` by input."""
    return numbers(f"chains/choice.{'vectors' if vectors else 'words'}")


def leads(
    options: Sequence[Numbers], none: Numbers, chains: Sequence[object], *, weights: Numbers
) -> list[float]:
    """Return the log-odds of each session against all others and none of them, in [-7, 7].

    `chains` names the chain of each. The best of a chain has the share of the whole chain: that others of it
    are near as well is no doubt about it.
    """
    utilities = [
        sum(weight * one[name] for name, weight in weights.items() if not name.startswith(NONE))
        for one in options
    ]
    against = sum(weight * none.get(name, 0.0) for name, weight in weights.items() if name.startswith(NONE))
    against += weights[NONE]
    best: dict[object, int] = {}
    for place, (chain, utility) in enumerate(zip(chains, utilities, strict=True)):
        if chain not in best or utility >= utilities[best[chain]]:
            best[chain] = place
    result = []
    for place, chain in enumerate(chains):
        inside = [n for n, other in enumerate(chains) if other == chain] if best[chain] == place else [place]
        rest = [utilities[n] for n in range(len(utilities)) if n not in inside]
        mine = _summed([utilities[n] for n in inside])
        result.append(_clipped(mine - _summed([against, *rest])))
    return result


def _summed(values: Sequence[float]) -> float:
    return float(np.logaddexp.reduce(sorted(values)))


def _clipped(value: float) -> float:
    return max(-MOST_LEAD, min(MOST_LEAD, value))
