"""What stood at an earlier moment of record time, read from what stands now and from the decisions since.

A store keeps what it concluded with the time it did so, and what it took back with the time of that. So the
former state follows: a strength from the first review after the moment, a parent from the last decision
before it, a fact from the evidence taken in by then. Nothing that was erased can follow from anything.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from episodic_agent.core.chains.deciding import CHAIN
from episodic_agent.core.facts.reconciling import settled
from episodic_agent.core.facts.slots import keywords
from episodic_agent.schemas import Decision, Episode, Link
from episodic_agent.schemas.chains import Refusal
from episodic_agent.schemas.facts import Fact, FactEvidence, StoredFact

_FIRST: Final = "continuity"  # what a link rests on until its thread is over


def strength_at(episode: Episode, reviews: Sequence[Decision], moment: datetime) -> Episode:
    """Return an episode with the strength it had, from all of its reviews, oldest first."""
    since = [one for one in reviews if one.at > moment]
    if not since:
        return episode
    before = since[0].features
    return replace(
        episode,
        stability=before["stability"],
        difficulty=before["difficulty"],
        last_reviewed_at=_clock_before(episode, reviews, since[0]),
    )


def _clock_before(episode: Episode, reviews: Sequence[Decision], first: Decision) -> datetime:
    """Return from when its decay counted before a review, which keeps the days between as a number alone."""
    counted = first.at - timedelta(days=first.features["days"])
    known = [episode.end_at, *(one.at for one in reviews if one.at < first.at)]
    # a day's fraction is rounded: the moments it can have been are known
    return min(known, key=lambda at: abs(at - counted)) if first.features["days"] else max(known)


def parent_at(
    episode: Episode, decisions: Sequence[Decision], refusals: Sequence[Refusal], moment: datetime
) -> UUID | None:
    """Return the parent a session had, from the decisions and refusals about it, each oldest first."""
    if all(at <= moment for at in (*(d.at for d in decisions), *(r.at for r in refusals))):
        return episode.parent_episode_id
    by_then = [one for one in decisions if one.at <= moment]
    if not by_then or by_then[-1].verdict != CHAIN:
        return None
    parent = UUID(str(by_then[-1].detail["candidate"]))
    refused = any(r.parent == parent and by_then[-1].at <= r.at <= moment for r in refusals)
    return None if refused else parent


def link_at(link: Link, decisions: Sequence[Decision], moment: datetime) -> Link | None:
    """Return a link as it was, None where it was not made yet; `decisions` are about its later thread.

    What was judged again at the thread's end rests on another decision since, and perhaps on more.
    """
    if link.at > moment:
        return None
    if link.unlinked_at is not None and link.unlinked_at > moment:
        link = replace(link, unlinked_at=None)
    if all(one.at <= moment for one in decisions if one.id == link.decision_id):
        return link
    before = [
        one
        for one in decisions
        if one.at <= moment and one.verdict == "LINK" and one.detail.get("candidate") == str(link.earlier)
    ]
    if not before:
        return replace(link, decision_id=None)
    return replace(link, basis=_FIRST, label=before[-1].confidence_label, decision_id=before[-1].id)


def facts_at(
    stored: Sequence[StoredFact],
    moves: Mapping[UUID, UUID],
    consolidated: Collection[UUID],
    moment: datetime,
) -> list[StoredFact]:
    """Return the facts that were held, in the order they were learned, from all there are.

    `moves` leads from ids that are gone to the facts that hold their evidence, `consolidated` are the
    episodes that facts were drawn from by the moment. What was deleted by hand since is gone.
    """
    heirs = set(moves.values())
    then = [_edited_at(one.fact, moment) for one in stored if one.created_at <= moment or one.id in heirs]
    known = {one.id: one for one in stored}
    result = []
    for stood in settled(then, moment):
        fact = replace(stood, evidence=tuple(_sourced(one, consolidated) for one in stood.evidence))
        held = known.get(fact.id)
        learned = [one.learned_at or one.said_at for one in fact.evidence]
        if held is not None and held.created_at <= moment:
            result.append(StoredFact(fact, held.created_at, held.number))
        elif held is None:  # it reads otherwise since, under another id
            result.append(StoredFact(fact, max(min(learned), min(moment, max(learned)))))
    return sorted(result, key=lambda one: (one.created_at, one.number or 1 << 62, one.id.bytes))


def _sourced(evidence: FactEvidence, consolidated: Collection[UUID]) -> FactEvidence:
    drawn = evidence.episode_id is None or evidence.episode_id in consolidated
    return evidence if drawn else replace(evidence, episode_id=None)


def _edited_at(fact: Fact, moment: datetime) -> Fact:
    """Return a fact as hands had left it by a moment, on the evidence taken in by then."""
    if fact.edited:  # it rests on the hand, with which `settled` counts all that was ever said of it
        learned = tuple(one for one in fact.evidence if (one.learned_at or one.said_at) <= moment)
        fact = replace(fact, evidence=learned or fact.evidence[:1])
    since = [one for one in fact.versions if one.changed_at > moment]
    if not since:
        return fact
    before = tuple(one for one in fact.versions if one.changed_at <= moment)
    value = since[0].value
    read = replace(fact, fact=since[0].fact, value=value, keywords=keywords(value), versions=before)
    return read if before else replace(read, edited=False)
