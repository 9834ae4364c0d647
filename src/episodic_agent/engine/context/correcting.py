"""What was said later of the same matter stands beside what it may have changed, or neither does.

A judge of pairs (`core/facts/replacing.py`) ends a fact only where it is sure. What is less sure is still not
told alone: "the movers come on the 26th" misleads without "they can only come on the 28th", and costs one
line with it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from episodic_agent.core.context.telling import Block, QuotedText, Spot, terms_of
from episodic_agent.core.facts.amending import BEHIND, LONGEST, amendment
from episodic_agent.core.facts.harm import may_end
from episodic_agent.core.facts.replacing import JudgedStatement, likelihood
from episodic_agent.core.language import sentences
from episodic_agent.core.recall.alone import QUESTION_MARKS
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.facts.quoting import knows_meaning
from episodic_agent.protocols import OBSERVATIONS, Transaction
from episodic_agent.schemas import Observation, Vector
from episodic_agent.schemas.facts import Category, TalkLine

MAY_CORRECT: Final = 0.25  # from which later words are told with what they may have changed
LOOKED_AT: Final = 24  # lines, the likeliest to be told, for each of which
NEAREST: Final = 8  # later statements are judged by meaning, and
FOLLOWING: Final = 3  # those that stand next behind it
BEARS: Final = -2.0  # log-odds from which a line bears on the message: what it says must be so
MOST: Final = 2  # of them are told with it, the likeliest
_ALIKE: Final = 0.3  # cosine, or share of terms
_ABOVE: Final = 1e-3  # log-odds: what corrects is taken first


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
    return sorted(sorted(likely, key=lambda place: (-likelihoods[place], place))[:MOST])


def _alike(before: JudgedStatement, after: JudgedStatement) -> float:
    """Return the cosine of two statements, or without vectors the share of the fewer terms that both have."""
    if before.vector is not None and after.vector is not None:
        return round(float(before.vector @ after.vector), 6)
    terms, others = terms_of(before.text), terms_of(after.text)
    return len(terms & others) / min(len(terms), len(others)) if terms and others else 0.0
