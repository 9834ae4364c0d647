"""Which earlier threads a new one is compared with; age never rules a thread out."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from episodic_agent.core.language.timewords import TimeRange, parse_time
from episodic_agent.core.links.features import Features, cues

ACTIVE_WITHIN: Final = timedelta(hours=24)
MOST_ACTIVE: Final = 10
MOST_FOUND: Final = 5
MOST_NAMED: Final = 5
CHOSEN_FROM: Final = 40  # threads active last, however long ago, that a choice looks at beside those found
CHOSEN_FOUND: Final = 20  # and as many that search finds
LAST_TRY: Final = 3  # the message of a new thread after which linking is settled


@dataclass(frozen=True, slots=True)
class ActivePeriod:
    """The stretch of event time in which a thread was active."""

    thread_id: str
    first_at: datetime
    last_at: datetime


@dataclass(frozen=True, slots=True)
class ThreadCandidate:
    """A thread worth comparing and why.

    `active` lately, among the last (`latest`), `named` by a recall cue, `found` by search.
    """

    thread_id: str
    why: tuple[str, ...]


def due(number: int, message: Features, *, explicit: bool, unsettled: bool) -> bool:
    """Say whether the `number`-th user message of a new thread, from 1, is to be linked.

    The first one is; the second and third where the thread is `unsettled`: the verdict before was UNCERTAIN,
    or what it judged was elliptical. A thread opened by hand (`explicit`) only where its first message
    recalls an earlier one; one that the user selected is never asked about.

    >>> from episodic_agent.core.links.features import features_of
    >>> said = features_of("And the trains?")
    >>> due(1, said, explicit=False, unsettled=False), due(2, said, explicit=False, unsettled=False)
    (True, False)
    >>> due(2, said, explicit=False, unsettled=True), due(1, said, explicit=True, unsettled=False)
    (True, False)
    """
    if explicit:
        return number == 1 and message.cues.recall
    return number == 1 or (number <= LAST_TRY and unsettled)


def named_ranges(text: str, now: datetime, utc_offset: timedelta | None = None) -> tuple[TimeRange, ...]:
    """Return the stretches of time a message names together with a recall cue; what lies ahead is none.

    A store is asked for the threads active in them, so that `candidates` sees old ones too.

    >>> from datetime import UTC
    >>> now = datetime(2026, 3, 11, 12, tzinfo=UTC)
    >>> [r.start.day for r in named_ranges("We talked about it last week", now)]
    [2]
    >>> named_ranges("Is it open on Monday?", now)
    ()
    """
    spoken_cues = cues(text)
    if not (spoken_cues.recall or spoken_cues.dated):
        return ()
    ranges = parse_time(text, now, utc_offset).ranges
    return tuple(stretch for stretch in ranges if stretch.start < now)


def candidates(
    threads: Sequence[ActivePeriod],
    texts: Sequence[str],
    now: datetime,
    ranges: Sequence[TimeRange] = (),
    *,
    apart_from: frozenset[str] = frozenset(),
    most_latest: int = 0,
    most_found: int = MOST_FOUND,
) -> tuple[ThreadCandidate, ...]:
    """Return what to compare: active threads (latest first), then named ones, then search hits in order.

    `texts` holds thread ids, best hit first, over all time. Each thread comes once, with every reason there
    is; `apart_from` names the thread of the message itself. `most_latest` threads count that were active
    last, at whatever time.

    >>> from datetime import UTC
    >>> now = datetime(2026, 3, 11, 12, tzinfo=UTC)
    >>> a = ActivePeriod("a", now - timedelta(hours=2), now - timedelta(hours=1))
    >>> [c.why for c in candidates([a], ["b", "a"], now)]
    [('active', 'found'), ('found',)]
    """
    latest = sorted(
        (t for t in threads if t.thread_id not in apart_from),
        key=lambda t: (t.last_at, t.thread_id),
        reverse=True,
    )
    active = [t.thread_id for t in latest if now - t.last_at <= ACTIVE_WITHIN][:MOST_ACTIVE]
    named = [t.thread_id for t in latest if any(_overlap(t, stretch) for stretch in ranges)][:MOST_NAMED]
    hits = [thread_id for thread_id in dict.fromkeys(texts) if thread_id not in apart_from][:most_found]
    last = [t.thread_id for t in latest if t.thread_id not in active][:most_latest]
    reasons: dict[str, list[str]] = {}
    for why, some in (("active", active), ("latest", last), ("named", named), ("found", hits)):
        for thread_id in some:
            reasons.setdefault(thread_id, []).append(why)
    return tuple(ThreadCandidate(thread_id, tuple(why)) for thread_id, why in reasons.items())


def _overlap(thread: ActivePeriod, stretch: TimeRange) -> bool:
    return thread.first_at < stretch.end and thread.last_at >= stretch.start
