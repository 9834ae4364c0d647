"""What is surely no longer so is told beside what took its place, or not at all.

A fact that another one ended is known to be over: no judge is needed. What was said of it is a line of talk,
and the line that says what is so now may be the last that anything leads to from the message: it is read from
the evidence of that fact. A judge of pairs (`core/facts/replacing.py`) ends a fact only where it is sure.
What is less sure is still not told alone: "the movers come on the 26th" misleads without "they can only come
on the 28th", and costs one line with it.

What was only of days that are over is left out of what is known ("notary today at 11", of three weeks ago).
It stays in the store and in every list of facts; who asks for it is told it as it was said, under its day.

The answer that came the next day stands with its question, where that is told. By mail an answer takes a
night, and so is of another sitting than what it answers; in few words ("all right, 160 it is"), it bears on
no later message by itself. What answers at once is judged with the sitting it is of. What was said last of a
matter in its thread was lifted the same way, and told nothing more that was needed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Final
from uuid import UUID

import numpy as np

from episodic_agent.core.context.telling import TOOL, Block, QuotedText, Spot, terms_of
from episodic_agent.core.echo import is_echo, own_words
from episodic_agent.core.episodes.languages import content_terms
from episodic_agent.core.facts.amending import BEHIND, LONGEST, amendment
from episodic_agent.core.facts.harm import may_end
from episodic_agent.core.facts.passing import is_over_by, names_days
from episodic_agent.core.facts.quoting import is_quotation
from episodic_agent.core.facts.replacing import JudgedStatement, likelihood
from episodic_agent.core.language import sentences
from episodic_agent.core.recall.alone import QUESTION_MARKS
from episodic_agent.core.threads.turns import is_reply
from episodic_agent.engine.context.gathering import PAUSE, Situation, free, quoted
from episodic_agent.engine.context.lines import AGENT, ASSISTANT, are_named, told_by
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.facts.quoting import knows_meaning
from episodic_agent.engine.recall.facts import ended_words, replaced_words
from episodic_agent.engine.visibility.hidden import Visibility
from episodic_agent.protocols import OBSERVATIONS, Transaction, ref_of
from episodic_agent.schemas import Kind, Observation, Vector
from episodic_agent.schemas.facts import Category, Fact, TalkLine

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


MOST_ANSWERS: Final = 12  # lines, the likeliest to be told, whose answers are looked for
MAY_BE_TOLD: Final = -6.0  # log-odds from which a line may be told at all
_BELOW: Final = 0.5  # log-odds below that line


def with_late_answers(
    tx: Transaction,
    around: Surroundings,
    earlier: Sequence[QuotedText],
    stored: Mapping[int, Observation],
) -> tuple[list[QuotedText], dict[int, Observation]]:
    """Return what was said earlier with what answered it late, and the observations by reference."""
    likely = [line for line in earlier if line.worth >= MAY_BE_TOLD and not _is_nameless(line)]
    likely = sorted(likely, key=lambda line: (-line.worth, line.at, line.spot))[:MOST_ANSWERS]
    answers = {ref: (item, line.worth - _BELOW) for line in likely for ref, item in _late(tx, around, line)}
    worths = {(item.thread_id, item.seq): worth for item, worth in answers.values()}
    there = {line.spot for line in earlier}
    result = [replace(line, worth=max(line.worth, worths.get(line.spot, line.worth))) for line in earlier]
    before = around.now.before
    named = are_named((*before, *stored.values(), *(item for item, _ in answers.values())))
    for item, worth in answers.values():
        if (item.thread_id, item.seq) not in there:
            speaker = told_by(item, whose=tx.scope, here=before, named=named)
            result.append(quoted(own_words(item), worth, speaker))
    return result, dict(stored) | {ref: item for ref, (item, _) in answers.items()}


def _is_nameless(line: QuotedText) -> bool:
    """Tell whether an assistant or a tool without a name says a line: nobody answers it as a question."""
    return line.reply and line.speaker in (AGENT, ASSISTANT, TOOL)


def _late(tx: Transaction, around: Surroundings, line: QuotedText) -> Iterator[tuple[int, Observation]]:
    """Yield the answer right behind a line, where it came after a pause and may be told."""
    now, number, seq = around.now, tx.threads.number(line.thread_id), line.last_seq + 1
    read = around.visibility.visible(number, tx.observations.read(line.thread_id, seq, seq))
    when = now.when if now.when and now.when.alone and not now.when.due else None  # then it is no answer
    for item in read:
        is_message = item.kind is Kind.MESSAGE and item.text.strip() and not is_echo(item)
        is_late = item.at <= now.at and item.at - line.at > PAUSE and (when is None or when.holds(item.at))
        if is_message and is_reply(item) and is_late:
            ref = ref_of(number, item.seq)
            if len(free(tx, np.array([ref], np.int64), now, around.apart, around.shown)):
                yield ref, item


MAY_CORRECT: Final = 0.25  # from which later words are told with what they may have changed
LOOKED_AT: Final = 24  # lines, the likeliest to be told, for each of which
NEAREST: Final = 8  # later statements are judged by meaning, and
FOLLOWING: Final = 3  # those that stand next behind it
BEARS: Final = -2.0  # log-odds from which a line bears on the message: what it says must be so
MOST_CORRECTIONS: Final = 2  # of them are told with it, the likeliest
_ALIKE: Final = 0.3  # cosine, or share of terms


def with_corrections(
    tx: Transaction,
    deps: Deps,
    facts: Sequence[QuotedText],
    earlier: Sequence[QuotedText],
    stored: Mapping[int, Observation],
) -> tuple[list[QuotedText], list[QuotedText]]:
    """Return facts and what was said earlier, each with what may have changed it, and that worth as much.

    Judged are statements that bear on the message: an answer would rest on them. A question changes nothing.
    """
    judged = _corrections(tx, deps, earlier, stored)
    later = dict(judged)
    for line in earlier:  # what surely took a fact's place, too
        if line.corrected_by:
            later[line.spot] = tuple(dict.fromkeys([*line.corrected_by, *later.get(line.spot, ())]))
    if not later:
        return list(facts), list(earlier)
    worths: dict[Spot, float] = {}
    # in the order of time: what changed the one may have been changed by the other
    for line in sorted((*facts, *earlier), key=lambda one: (one.at, one.spot, one.block)):
        worth = max(line.worth, worths.get(line.spot, line.worth))
        # a fact that is known holds, whatever else its message said
        for spot in (judged if line.block is Block.KNOWN else later).get(line.spot, ()):
            worths[spot] = max(worths.get(spot, worth), worth) + _ABOVE
    known: dict[Spot, str] = {}
    for line in facts:
        known[line.spot] = known.get(line.spot, "") + line.text
    known_lines = [
        replace(
            one, worth=max(one.worth, worths.get(one.spot, one.worth)), corrected_by=judged.get(one.spot, ())
        )
        for one in facts
    ]
    earlier_lines = [
        replace(
            one,
            # where facts tell all of it, its message need not stand there again
            worth=one.worth
            if one.text in known.get(one.spot, "")
            else max(one.worth, worths.get(one.spot, one.worth)),
            corrected_by=later.get(one.spot, ()),
        )
        for one in earlier
    ]
    return known_lines, earlier_lines


def _corrections(
    tx: Transaction,
    deps: Deps,
    earlier: Sequence[QuotedText],
    stored: Mapping[int, Observation],
) -> dict[Spot, tuple[Spot, ...]]:
    """Return by the place of what was said before the places of what may have changed it, oldest first."""
    refs = {(item.thread_id, item.seq): ref for ref, item in stored.items()}
    statements = [one for one in earlier if not one.reply and not one.text.rstrip().endswith(QUESTION_MARKS)]
    statements.sort(key=lambda one: (one.at, one.thread_id, one.first_seq))
    amended = {n: places for n in range(len(statements)) if (places := _amending(n, statements))}
    likely = sorted(range(len(statements)), key=lambda n: (-statements[n].worth, n))[:LOOKED_AT]
    likely = [n for n in likely if statements[n].worth >= BEARS]
    if not likely and not amended:
        return {}
    rows: Mapping[int, Vector] = {}
    if knows_meaning(deps):
        rows = tx.index.vectors(OBSERVATIONS, deps.embedder_name, [refs[one.spot] for one in statements])
    judged = [
        JudgedStatement(one.text, one.at, Category.EXPERIENCE, rows.get(refs[one.spot])) for one in statements
    ]
    result: dict[Spot, tuple[Spot, ...]] = {}
    for older in dict.fromkeys([*likely, *amended]):
        later = _later(older, judged) if older in likely else []
        behind = dict.fromkeys([*amended.get(older, ()), *later])
        spots = [statements[place].spot for place in (older, *behind)]
        # of two that may have changed the same, the earlier may be changed by the later
        for n, spot in enumerate(spots[:-1], 1):
            result[spot] = tuple(dict.fromkeys([*result.get(spot, ()), *spots[n:]]))
    return result


def _amending(older: int, statements: Sequence[QuotedText]) -> list[int]:
    """Return the place of the speaker's next words where they put one right: "Sorry, I meant 120!".

    That is sure whatever the one bears on, so that neither is told without the other.
    """
    before = statements[older]
    for place in range(older + 1, len(statements)):
        after = statements[place]
        if after.thread_id == before.thread_id and after.speaker == before.speaker:
            behind = after.first_seq - before.last_seq <= BEHIND
            return [place] if behind and _puts_right(after, before) else []
    return []


def _puts_right(after: QuotedText, before: QuotedText) -> bool:
    olds = [
        TalkLine(before.thread_id, part, own=True) for part in sentences(before.text) if len(part) <= LONGEST
    ]
    return any(amendment(after.text, [old], old.text, just_said=True) for old in olds)


def _later(older: int, judged: Sequence[JudgedStatement]) -> list[int]:
    """Return the places of the statements that may have changed one, the likeliest few in order of time."""
    before = judged[older]
    places = range(older + 1, len(judged))
    alike = {place: _alike(before, judged[place]) for place in places}
    near = [place for place in sorted(alike, key=lambda one: (-alike[one], one)) if alike[place] >= _ALIKE]
    likelihoods: dict[int, float] = {}
    for place in dict.fromkeys([*near[:NEAREST], *places[:FOLLOWING]]):
        after = judged[place]
        if after.at > before.at and may_end(after.text, before.text):
            likelihoods[place] = round(likelihood(before, after), 6)
    likely = [place for place, sure in likelihoods.items() if sure >= MAY_CORRECT]
    return sorted(sorted(likely, key=lambda place: (-likelihoods[place], place))[:MOST_CORRECTIONS])


def _alike(before: JudgedStatement, after: JudgedStatement) -> float:
    """Return the cosine of two statements, or without vectors the share of the fewer terms that both have."""
    if before.vector is not None and after.vector is not None:
        return round(float(before.vector @ after.vector), 6)
    terms, others = terms_of(before.text), terms_of(after.text)
    return len(terms & others) / min(len(terms), len(others)) if terms and others else 0.0


def not_over(tx: Transaction, facts: Iterable[Fact], now: datetime) -> Iterator[Fact]:
    """Yield facts but those that, each time they were said, only told of days that are over at `now`.

    What a person pinned, edited or confirmed stands as long as they let it.
    """
    for fact in facts:
        by_hand = fact.pinned or fact.edited or fact.confirmed
        if by_hand or not is_quotation(fact) or not names_days(fact.value) or not _is_over(tx, fact, now):
            yield fact


def _is_over(tx: Transaction, fact: Fact, now: datetime) -> bool:
    stored = tx.observations.get([proof.observation_id for proof in fact.telling])
    spoken = [
        (stored[proof.observation_id], proof)
        for proof in fact.telling
        if proof.observation_id in stored and stored[proof.observation_id].at <= now
    ]
    return bool(spoken) and all(
        is_over_by(item.text[proof.start : proof.end], *_days(item, now)) for item, proof in spoken
    )


def _days(item: Observation, now: datetime) -> tuple[date, date]:
    """Return the day something was said and today, by the clock of who writes as far as it is known."""
    asked = now.utcoffset() or None  # what a program asks has a time in UTC
    spoken = asked if item.utc_offset is None else timedelta(seconds=item.utc_offset)
    return _day(item.at, spoken), _day(now, asked or spoken)


def _day(at: datetime, offset: timedelta | None) -> date:
    return (at.astimezone(UTC) + (offset or timedelta())).date()
