"""Leave out of what is known what was only of days that are over: "notary today at 11", of three weeks ago.

It stays in the store and in every list of facts; who asks for it is told it as it was said, under its day.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta

from episodic_agent.core.facts.passing import is_over_by, names_days
from episodic_agent.core.facts.quoting import is_quotation
from episodic_agent.protocols import Transaction
from episodic_agent.schemas import Observation
from episodic_agent.schemas.facts import Fact


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
