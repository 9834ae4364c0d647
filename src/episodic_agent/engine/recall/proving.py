"""What proves a hit: the messages that made it one, the answer before its question, no output twice."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from episodic_agent.core import recall as ranking
from episodic_agent.core.context.retrieved import Detail, is_detailed
from episodic_agent.core.recall.alone import only_asks
from episodic_agent.core.recall.due import DaysAsked
from episodic_agent.core.threads.turns import opens_turn
from episodic_agent.engine.episodes.listing import full_episodes
from episodic_agent.engine.recall.facts import DIGITS
from episodic_agent.engine.recall.gathering import Gathered, Gatherer
from episodic_agent.engine.results import DetailedRecall, EpisodeCard, Evidence, Hit, Recall, hit_of
from episodic_agent.engine.visibility.hidden import Visibility
from episodic_agent.protocols import Transaction, ref_of
from episodic_agent.schemas import Episode, Kind, Observation

PROOFS: Final = 5  # observations shown with a hit
_REACH: Final = 40  # among which those are chosen where tools ran, which say the same again and again


def evidence_of(observation: Observation, fused: ranking.Fused, n: int, *, explain: bool) -> Evidence:
    """Return an observation as it proves a hit, with the score that candidate `n` reached."""
    legs = {name: round(float(values[n]), DIGITS) for name, values in fused.legs.items()} if explain else {}
    return Evidence(observation, round(float(fused.scores[n]), DIGITS), legs)


def of_days(recall: Recall, asked: DaysAsked | None) -> Recall:
    """Return an answer whose proofs know the days to come asked about, and quote what names one."""
    if asked is None:
        return recall

    def named(hits: Sequence[Hit]) -> list[Hit]:
        return [replace(hit, evidence=[replace(one, days=asked) for one in hit.evidence]) for hit in hits]

    return replace(recall, hits=named(recall.hits), candidates=named(recall.candidates))


def proofs_of(gathered: Gathered, fused: ranking.Fused, row: int, most: int = PROOFS) -> list[int]:
    """Return the rows of the observations that made an episode a hit, best first."""
    inside: list[int] = fused.order[gathered.candidates.episode[fused.order] == row][:most].tolist()
    return inside


def concluded(
    gatherer: Gatherer,
    gathered: Gathered,
    fused: ranking.Fused,
    evidence: Mapping[int, list[Evidence]],
    actors: Collection[str] | None,
    *,
    explain: bool,
    until: datetime | None,
) -> dict[int, list[Evidence]]:
    """Return what proves hits, no output of a tool twice, and behind a request what was concluded of it.

    What others said than `actors`, where some are named, or from `until` on, is put beside nothing.
    """

    def counts(item: Observation) -> bool:
        return (until is None or item.at < until) and (actors is None or item.actor in actors)

    def spoken(proof: Evidence) -> bool:
        return actors is None or proof.observation.actor in actors

    tooled = [row for row, proofs in evidence.items() if any(map(_is_output, proofs))]
    more = {row: proofs_of(gathered, fused, row, most=_REACH) for row in tooled}
    stored = gatherer.observations(gathered, [n for inside in more.values() for n in inside])
    read = {n: evidence_of(one, fused, n, explain=explain) for n, one in stored.items()}
    once = {row: _told_once([read[n] for n in inside]) for row, inside in more.items() if inside}
    best = {row: [*filter(spoken, once.get(row, proofs))][:PROOFS] for row, proofs in evidence.items()}
    requests = [one.observation for proofs in best.values() for one in proofs if opens_turn(one.observation)]
    ends = gatherer.conclusions(requests)
    ends = {name: one for name, one in ends.items() if counts(one)}
    seen = {one.observation.id: one for proofs in (*once.values(), *best.values()) for one in proofs}
    best = {row: _with_ends(proofs, ends, seen) for row, proofs in best.items()} if ends else best
    return _answers_first(gatherer, best, counts)


def _answers_first(
    gatherer: Gatherer, best: Mapping[int, list[Evidence]], counts: Callable[[Observation], bool]
) -> dict[int, list[Evidence]]:
    """Return what proves hits, before a best message that only asks the answer to it.

    A question is near whoever asks the same again, and proves nothing.
    """
    questions = {
        row: proofs[0].observation
        for row, proofs in best.items()
        if proofs and opens_turn(proofs[0].observation) and only_asks(proofs[0].observation.text)
    }
    replies = gatherer.answers(list(questions.values())) if questions else {}
    result = dict(best)
    for row, question in questions.items():
        proofs, reply = best[row], replies.get(question.id)
        if reply is None or not counts(reply):
            # between people each message opens a turn: the next one answers where it proves the hit too
            reply = next((one.observation for one in proofs if _comes_next(one.observation, question)), None)
        if reply is not None and not only_asks(reply.text):
            answer = next((one for one in proofs if one.observation.id == reply.id), Evidence(reply, 0.0))
            others = [one for one in proofs if one.observation.id != reply.id]
            result[row] = [answer, *others][:PROOFS]
    return result


def _comes_next(observation: Observation, question: Observation) -> bool:
    return observation.seq == question.seq + 1 and observation.actor != question.actor


def _is_output(proof: Evidence) -> bool:
    return proof.observation.kind is Kind.TOOL


def _told_once(proofs: Sequence[Evidence]) -> list[Evidence]:
    """Return proofs, best first, with one output of those of a tool that say the same: the newest."""
    outputs = sorted(filter(_is_output, proofs), key=lambda one: (one.observation.at, one.observation.seq))
    newest = ranking.newest_outputs([one.observation.text for one in outputs])
    stands = {one.observation.id: outputs[n] for one, n in zip(outputs, newest, strict=True)}
    standing = (stands.get(one.observation.id, one) for one in proofs)
    return list({one.observation.id: one for one in standing}.values())


def _with_ends(
    proofs: Sequence[Evidence], ends: Mapping[UUID, Observation], seen: Mapping[UUID, Evidence]
) -> list[Evidence]:
    """Return proofs with what was concluded behind what it answers: these first, then others that fit."""
    answers = {o.id: ends[o.id] for one in proofs if (o := one.observation).id in ends}
    later = {end.id for end in answers.values()}
    groups = [
        [one, *(seen.get(end.id, Evidence(end, 0.0)) for end in [answers.get(one.observation.id)] if end)]
        for one in proofs
        if one.observation.id not in later
    ]
    fitting: set[int] = set()
    room = PROOFS
    for place in sorted(range(len(groups)), key=lambda n: -len(groups[n])):
        if len(groups[place]) <= room:
            room -= len(groups[place])
            fitting.add(place)
    return [one for place in sorted(fitting) for one in groups[place]]


def why_hidden(tx: Transaction, visibility: Visibility, hit: Hit) -> str:
    """Return why a hit is left out: its episode is hidden, or what proves it."""
    closed = tx.episodes.get(hit.episode_id)
    if closed is not None and (why := visibility.why_episode(closed)):
        return why
    number = tx.threads.number(hit.thread_id)
    hidden = visibility.why([ref_of(number, one.observation.seq) for one in hit.evidence])
    return next(iter(hidden.values()), "")


def nearest_evidence(gatherer: Gatherer, card: "Episode | EpisodeCard") -> list[Evidence]:
    """Return what proves an episode found by its summary alone."""
    return [Evidence(o, s) for o, s in gatherer.proof(card, PROOFS)] if isinstance(card, Episode) else []


def ranked_hits(
    gathered: Gathered,
    fused: ranking.Fused,
    trust: ranking.Confidence,
    rows: Sequence[int],
    cards: Mapping[int, "Episode | EpisodeCard"],
    proofs: Mapping[int, Sequence[Evidence]],
) -> list[Hit]:
    """Return episodes as hits: each one's score, how sure it is, how strong, with what proves it.

    What a session decided stands in each of its events, those before it was decided, too: it is told with
    the last of them.
    """
    hits = []
    for row in rows:
        legs = {name: round(float(values[row]), DIGITS) for name, values in fused.legs.items()}
        inside = trust.hits[gathered.candidates.episode == row]
        confidence = round(float(inside.max()) if len(inside) else 0.0, DIGITS)
        strength = round(float(gathered.episodes.retrievability[row]), DIGITS)
        score = round(float(fused.scores[row]), DIGITS)
        hits.append(hit_of(cards[row], score, confidence, strength, proofs[row], legs))
    last = {
        (hit.thread_id, hit.decisions): hit.episode_id for hit in sorted(hits, key=lambda hit: hit.end_at)
    }
    return [
        hit if last[hit.thread_id, hit.decisions] == hit.episode_id else replace(hit, decisions=())
        for hit in hits
    ]


def detailed(tx: Transaction, recall: Recall, detail: Detail, now: datetime) -> Recall:
    """Return an answer with the messages of those hits that are shown with them."""
    meant = [hit for n, hit in enumerate(recall.hits, 1) if is_detailed(n, hit.surprise, detail)]
    if not meant:
        return recall
    read = zip(meant, full_episodes(tx, meant, now), strict=True)
    contents = {hit.episode_id: content for hit, content in read if content is not None}
    return DetailedRecall(**{f.name: getattr(recall, f.name) for f in fields(recall)}, contents=contents)
