"""What is surely no longer so is told beside what took its place, or not at all.

A fact that another one ended is known to be over: no judge is needed. What was said of it is a line of talk,
and the line that says what is so now may be the last that anything leads to from the message: it is read from
the evidence of that fact.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID

import numpy as np

from episodic_agent.core.context.telling import QuotedText, Spot
from episodic_agent.core.echo import is_echo, own_words
from episodic_agent.core.episodes.languages import content_terms
from episodic_agent.engine.context.gathering import Situation, free, quoted
from episodic_agent.engine.context.speakers import are_named, told_by
from episodic_agent.engine.recall.facts import ended_words, replaced_words
from episodic_agent.engine.visibility.hidden import Visibility
from episodic_agent.protocols import Transaction, ref_of
from episodic_agent.schemas import Observation

LOOKED_THROUGH: Final = 60  # of what was said earlier, the likeliest to be told, at the least
_LEAST_LINE: Final = 10  # tokens: no more lines have room
_ABOVE: Final = 1e-3  # log-odds: what holds is taken first


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What may be told with a message: no thread that is `apart`, nor what is `shown` elsewhere."""

    now: Situation
    visibility: Visibility
    apart: AbstractSet[UUID]
    shown: frozenset[int]
    language: str | None


def without_replaced(
    tx: Transaction, earlier: Sequence[QuotedText], stored: Mapping[int, Observation], at: datetime
) -> list[QuotedText]:
    """Return what was said without what is no longer so at a moment."""
    likely = {line.spot for line in sorted(earlier, key=lambda line: -line.worth)[:LOOKED_THROUGH]}
    read = {item.id: item for item in stored.values() if (item.thread_id, item.seq) in likely}
    over = {(read[name].thread_id, read[name].seq) for name, _ in replaced_words(tx, read, at)}
    return [line for line in earlier if line.spot not in over]


def beside_what_holds(
    tx: Transaction,
    around: Surroundings,
    earlier: Sequence[QuotedText],
    stored: Mapping[int, Observation],
    *,
    max_tokens: int,
) -> tuple[list[QuotedText], dict[int, Observation]]:
    """Return what was said, what is no longer so with what took its place, and the observations by reference.

    The judge of pairs errs, and what it ended wrongly would be lost: dated, the older misleads nobody where
    the later stands below it. Where that may not be told here the older is left out. An answer that repeats
    what the line it answers said is as much over.
    """
    at_spot = {(item.thread_id, item.seq): item for item in stored.values()}
    most = max(LOOKED_THROUGH, max_tokens // _LEAST_LINE)
    likely = sorted(earlier, key=lambda line: -line.worth)[:most]
    answered = {line.spot: line.answers or _before(line.spot) if line.reply else line.spot for line in likely}
    statements = {at_spot[spot].id: at_spot[spot] for spot in answered.values() if spot in at_spot}
    changes = _latest(tx, around, ended_words(tx, statements, around.now.at), stored)
    over: dict[Spot, Sequence[Observation]] = {}
    for line in likely:
        old = at_spot.get(answered[line.spot])
        if old is None or old.id not in changes:
            continue
        if line.spot == _spot(old) or _repeats(line.text, old, changes[old.id], around.language):
            over[line.spot] = changes[old.id]
    if not over:
        return list(earlier), dict(stored)
    return _rewritten(tx, around, earlier, stored, over)


def _rewritten(
    tx: Transaction,
    around: Surroundings,
    earlier: Sequence[QuotedText],
    stored: Mapping[int, Observation],
    over: Mapping[Spot, Sequence[Observation]],
) -> tuple[list[QuotedText], dict[int, Observation]]:
    lines = {line.spot: line for line in earlier}
    untold = _untold(lines, over)
    corrected_by = {spot: tuple(map(_spot, newer)) for spot, newer in over.items() if spot not in untold}
    worths = _lifted(lines, corrected_by)
    result = [
        replace(
            line,
            worth=max(line.worth, worths.get(line.spot, line.worth)),
            corrected_by=corrected_by.get(line.spot, ()),
        )
        for line in earlier
        if line.spot not in untold
    ]
    newest = {_spot(item): item for spot in corrected_by for item in over[spot]}
    refs = {spot: ref_of(tx.threads.number(spot[0]), spot[1]) for spot in newest if spot not in lines}
    fetched = {ref: newest[spot] for spot, ref in refs.items() if ref not in around.shown}
    before = around.now.before
    named = are_named((*before, *stored.values()))
    for item in fetched.values():
        speaker = told_by(item, whose=tx.scope, here=before, named=named)
        result.append(quoted(own_words(item), worths[_spot(item)], speaker))
    return result, dict(stored) | fetched


def _spot(item: Observation) -> Spot:
    return item.thread_id, item.seq


def _before(spot: Spot) -> Spot:
    thread, seq = spot
    return thread, seq - 1


def _latest(
    tx: Transaction,
    around: Surroundings,
    ended: Mapping[UUID, Sequence[frozenset[UUID]]],
    stored: Mapping[int, Observation],
) -> dict[UUID, Sequence[Observation]]:
    """Return what tells what is so now by the id of what is over; none where some of it may not be told."""
    names = {name for lasts in ended.values() for last in lasts for name in last}
    known = {item.id: item for item in stored.values()}
    read = tx.observations.get(sorted(names - known.keys())) if names - known.keys() else {}
    refs = {
        ref_of(tx.threads.number(item.thread_id), item.seq): name
        for name, item in read.items()
        if item.at <= around.now.at and not is_echo(item) and item.text.strip()
    }
    numbers = around.visibility.shown(np.array(sorted(refs), np.int64))
    numbers = free(tx, numbers, around.now, around.apart, frozenset())
    known |= {refs[ref]: read[refs[ref]] for ref in numbers.tolist()}

    def latest(last: frozenset[UUID]) -> Observation | None:
        there = [known[name] for name in last if name in known]
        return max(there, key=lambda item: (item.at, item.seq), default=None)

    result: dict[UUID, Sequence[Observation]] = {}
    for old, lasts in ended.items():
        newer = [latest(last) for last in lasts]
        readable = [item for item in newer if item is not None]
        result[old] = (
            list({item.id: item for item in readable}.values()) if len(readable) == len(newer) else ()
        )
    return result


def _repeats(text: str, answered: Observation, newer: Sequence[Observation], language: str | None) -> bool:
    """Tell whether an answer has words of what it answers that are in nothing that is so now."""
    now_told = {term for item in newer for term in content_terms(item.text, language)}
    common = set(content_terms(text, language)) & set(content_terms(answered.text, language))
    return bool(common - now_told)


def _untold(
    lines: Mapping[Spot, QuotedText], over: Mapping[Spot, Sequence[Observation]]
) -> AbstractSet[Spot]:
    """Return the places of what is over and may not be told: what took its place may not be, either."""
    untold: set[Spot] = set()
    for spot in sorted(over, key=lambda one: (lines[one].at, one), reverse=True):
        if not over[spot] or any(_spot(item) in untold for item in over[spot]):
            untold.add(spot)
    return untold


def _lifted(
    lines: Mapping[Spot, QuotedText], corrected_by: Mapping[Spot, Sequence[Spot]]
) -> Mapping[Spot, float]:
    """Return what each text that took the place of another is worth: more than that."""
    worths: dict[Spot, float] = {}
    for spot in sorted(corrected_by, key=lambda one: (lines[one].at, one)):
        worth = max(lines[spot].worth, worths.get(spot, lines[spot].worth))
        for newer in corrected_by[spot]:
            worths[newer] = max(worths.get(newer, worth), worth + _ABOVE)
    return worths
