"""Read the times a question names by the clock of whoever writes, and say why a question has no answer."""

from collections.abc import Callable, Sequence
from datetime import date, datetime, time, timedelta
from typing import Final

from episodic_agent.core import recall as ranking
from episodic_agent.core.context.quoting import quoted
from episodic_agent.core.language.timewords import BEGINNING
from episodic_agent.core.recall.query import Query
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.recall.gathering import Gathered
from episodic_agent.protocols import Transaction
from episodic_agent.schemas import Scope

NEWEST, LATELY = 16, timedelta(days=30)  # messages that may tell where their writer is, and since when
_NO_OFFSET: Final = timedelta()
_DAY: Final = timedelta(days=1)
_LONGEST_NAME: Final = 60  # characters of one that a note says is never mentioned


def zone_of_writer(tx: Transaction, last: datetime) -> timedelta | None:
    """Return the offset of the newest messages that tell one: "yesterday" is one of whoever writes.

    What a program writes has a time in UTC, and tells nothing of where its user is. `last` is when the
    newest message was said.
    """
    newest = tx.index.between(last - LATELY, last + timedelta.resolution, limit=NEWEST, newest=True).tolist()
    stored = tx.observations.get(newest)
    offsets = [stored[ref].utc_offset for ref in reversed(newest) if ref in stored]
    return next((timedelta(seconds=offset) for offset in offsets if offset), None)


def zone_then(tx: Transaction, query: Query, now: datetime, last: datetime) -> timedelta | None:
    """Return by whose clock the days that a question names were lived, where it is another than now.

    A day of summer is one of summer time, whenever it is asked for. None where nobody tells, and for who asks
    in another zone than that of the newest messages.
    """
    if not query.time.ranges or query.time.ranges[0].start <= BEGINNING:
        return None
    if now.utcoffset() and now.utcoffset() != zone_of_writer(tx, last):
        return None
    since = query.time.ranges[0].start - _DAY
    near = tx.index.between(since, min(since + LATELY, last + timedelta.resolution), limit=NEWEST).tolist()
    stored = tx.observations.get(near)
    offsets = [stored[ref].utc_offset for ref in near if ref in stored]
    then = next((timedelta(seconds=offset) for offset in offsets if offset), None)
    return None if then == query.time.utc_offset else then


def in_its_time(
    analyse: Callable[[datetime, timedelta | None], Query],
    now: datetime,
    last: datetime | None,
    writer: timedelta | None,
) -> Query:
    """Return a question as read at a moment, its days and hours by the zone of `now`, else the writer's.

    `last` is when the newest message was said.
    """
    zone = now.utcoffset()
    query = analyse(now, zone)
    if (query.time or query.ahead) and not zone and writer:
        zone = writer
        query = analyse(now, zone)
    offset = zone or _NO_OFFSET
    # of "yesterday evening" the day counts: that nobody spoke after four says nothing of what is meant
    days = [datetime.combine(r.start + offset, time(), r.start.tzinfo) for r in query.time.ranges]
    if last is None or query.ahead or not days or any(day - offset <= last for day in days):
        return query
    # "in April" asked long after the last message means the April that is known; "yesterday" is one
    known = analyse(last, zone)
    pairs = zip(query.time.ranges, known.time.ranges, strict=False)
    is_calendar = all((a.start.month, a.start.day) == (b.start.month, b.start.day) for a, b in pairs)
    return known if is_calendar else query


def span(query: Query) -> tuple[datetime, datetime]:
    """Return from when until when the times reach that a question names."""
    ranges = query.time.ranges
    return min(one.start for one in ranges), max(one.end for one in ranges)


def nothing_due(days: Sequence[date], *, drawn: bool) -> str:
    """Say that nothing was said of days to come, as far as is shown."""
    when = f"{days[0]}" if len(days) == 1 else f"{days[0]} to {days[-1]}"
    hidden = "; what is suppressed or archived is not looked at" if drawn else ""
    return f"nothing was said of {when}{hidden}"


def silence(since: datetime, until: datetime, *, drawn: bool) -> str:
    """Say that nothing was said in the time a question names, as far as is shown."""
    end = f"{until:%Y-%m-%d %H:%M}"
    when = f"before {end}" if since == BEGINNING else f"from {since:%Y-%m-%d %H:%M} to {end}"
    hidden = "; what is suppressed or archived is not looked at" if drawn else ""
    return f"nothing was said {when} UTC{hidden}"


def nothing_then(query: Query, *, drawn: bool) -> str:
    """Say that nothing was said in the times a question names: by their days, if it names whole ones.

    >>> from datetime import UTC
    >>> from episodic_agent.core.recall.query import analyse
    >>> thursday = datetime(2026, 10, 29, 9, tzinfo=UTC)
    >>> nothing_then(analyse("was war am 24.10.?", [], thursday), drawn=False)
    'nothing was said of 2026-10-24'
    >>> nothing_then(analyse("what happened yesterday evening?", [], thursday), drawn=False)
    'nothing was said from 2026-10-28 17:00 to 2026-10-28 23:00 UTC'
    """
    since, until = span(query)
    first, end = (
        moment if since == BEGINNING else moment + query.time.utc_offset for moment in (since, until)
    )
    if since == BEGINNING or first.time() != time() or end.time() != time():
        return silence(since, until, drawn=drawn)
    days = dict.fromkeys([first.date(), (end - _DAY).date()])
    return nothing_due([*days], drawn=drawn)


def why_nothing(trust: ranking.Confidence, gathered: Gathered, threshold: float) -> str:
    """Say how sure an answer would have to be, and which names of the question nobody ever mentioned."""
    needed = f"nothing relevant: confidence {trust.answerable:.2f}, {threshold:g} is needed"
    if not gathered.unknown or not gathered.never:
        return needed
    # of "Uncle Rolf", where somebody is called Rolf, that would be false
    *others, last = [f"'{quoted(name, _LONGEST_NAME)}'" for name in gathered.never]
    named = f"{', '.join(others)} and {last} are" if others else f"{last} is"
    return f"{needed}; {named} never mentioned here"


def nothing_to_search(deps: Deps, scope: Scope) -> str:
    """Say of a search that looked through nothing why that is, and what to do."""
    users = sorted(one.user_id for one in deps.store.scopes(scope.space))
    if deps.store.scopes(scope) and deps.embedder is None:
        return (
            "nothing here has a word of this query, and without an embedder words alone are searched; "
            "ask in the words that were used, or open the memory with an embedder"
        )
    if deps.store.scopes(scope) or not users:
        return "the memory holds nothing to search here"
    return f"nothing is remembered of {scope.user_id!r}; known users: {', '.join(users[:10])}"
