"""How pages say numbers, times and kinds."""

from collections import deque
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, Final
from uuid import UUID

from episodic_agent.core.language import plural
from episodic_agent.engine.lived import lived_at
from episodic_agent.faces.wording import (
    act_words,
    caller_words,
    counted_words,
    fact_words,
    leg_words,
    minute,
    reason,
    sentence,
    spoken_by,
    work_words,
    zone,
)
from episodic_agent.schemas import Thread
from episodic_agent.showing import visible

COLOURS: Final = 12  # that the style sheet has for threads and people


def ago(at: datetime, now: datetime) -> str:
    """Say how long ago a time was, roughly.

    >>> ago(datetime(2026, 3, 1), datetime(2026, 3, 4)), ago(datetime(2026, 3, 4), datetime(2026, 3, 4))
    ('3 days ago', 'just now')
    """
    seconds = (now - at).total_seconds()
    if seconds < 0:
        return f"on {at:%Y-%m-%d}"
    for size, name in (
        (31_557_600, "year"),
        (2_629_800, "month"),
        (86_400, "day"),
        (3_600, "hour"),
        (60, "min"),
    ):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {name}{'' if count == 1 or name == 'min' else 's'} ago"
    return "just now"


def day(at: datetime) -> str:
    """Return a day.

    >>> day(datetime(2026, 3, 4))
    '4 Mar 2026'
    """
    return f"{at.day} {at:%b %Y}"


def span(start: datetime, end: datetime) -> str:
    """Say from when to when, each thing once.

    >>> span(datetime(2026, 3, 4, 9), datetime(2026, 3, 4, 9, 30))
    '4 Mar 2026, 09:00–09:30'
    """
    if start.date() != end.date():
        begun = "" if zone(start) == zone(end) else zone(start)
        return f"{day(start)}, {start:%H:%M}{begun} – {day(end)}, {end:%H:%M}{zone(end)}"
    until = "" if f"{start:%H%M}" == f"{end:%H%M}" else f"–{end:%H:%M}"
    return f"{day(start)}, {start:%H:%M}{until}{zone(end)}"


def clock_seconds(at: datetime) -> int:
    """Return what the clock showed as seconds since 1970: the script draws them as if they were in UTC."""
    return int(at.timestamp() + (at.utcoffset() or timedelta()).total_seconds())


def thread_labels(threads: Sequence[Thread]) -> dict[str, str]:
    """Return by name what a list of threads to choose from shows: the title, then the name."""
    return {one.origin: f"{one.title} ({one.origin})" if one.title else one.origin for one in threads}


def percent(share: float | None) -> str:
    """Return a share as a percentage; a dash where there is none.

    >>> percent(0.284), percent(float("nan"))
    ('28 %', '–')
    """
    return "–" if share is None or share != share else f"{share:.0%}".replace("%", " %")  # noqa: PLR0124


def score(value: Any) -> str:
    """Return a score with two places; a dash where there is none."""
    return "–" if value is None or value != value else f"{float(value):.2f}"  # noqa: PLR0124


def count(number: float) -> str:
    """Return a number with thin spaces between thousands.

    >>> count(1234567)
    '1\u2009234\u2009567'
    """
    return f"{number:,.0f}".replace(",", "\u2009")


def days(number: float) -> str:
    """Say how long a stability is.

    >>> days(0.5), days(12.3), days(800)
    ('12 hours', '12 days', '2.2 years')
    """
    if number < 2:
        return f"{number * 24:.0f} hours"
    return f"{number:.0f} days" if number < 730 else f"{number / 365.25:.1f} years"


def duration(time: timedelta) -> str:
    """Say how long something took."""
    minutes = time.total_seconds() / 60
    return (
        f"{minutes:.0f} min"
        if minutes < 90
        else f"{minutes / 60:.0f} h"
        if minutes < 2880
        else days(minutes / 1440)
    )


def hue(name: str) -> int:
    """Return one of twelve colours for a name, always the same.

    >>> hue("work") == hue("work"), 0 <= hue("Ana") < 12
    (True, True)
    """
    return sum((n + 1) * ord(letter) for n, letter in enumerate(visible(name)[:64])) % COLOURS


def thread_hues(threads: Iterable[Thread]) -> dict[UUID, int]:
    """Return the colour of each of a memory's threads: of its id, but of none that began just before it.

    So no two of twelve that follow each other share one, and what begins later changes none.

    >>> at = datetime(2025, 1, 1)
    >>> hues = thread_hues(Thread(UUID(int=12 * n), str(n), at, at) for n in range(12))
    >>> sorted(hues.values()) == list(range(12))
    True
    """
    hues: dict[UUID, int] = {}
    taken: deque[int] = deque(maxlen=COLOURS - 1)
    for thread in sorted(threads, key=lambda one: (one.created_at, one.id)):
        own = own_hue(thread.id)
        hues[thread.id] = next(one for n in range(COLOURS) if (one := (own + n) % COLOURS) not in taken)
        taken.append(hues[thread.id])
    return hues


def own_hue(thread: UUID) -> int:
    """Return the colour that a thread's id alone gives it."""
    return thread.int % COLOURS


def by_month(cards: Sequence[Any]) -> list[tuple[str, list[Any]]]:
    """Group cards by the month they began in, in their order."""
    return [(month, list(group)) for month, group in groupby(cards, lambda card: f"{card.start_at:%B %Y}")]


def plural_of(things: Sequence[Any], noun: str) -> str:
    """Count things.

    >>> plural_of([1, 2], "hit")
    '2 hits'
    """
    return plural(len(things), noun)


FILTERS: Final = {
    "groupby_month": by_month,
    "plural_of": plural_of,
    "ago": ago,
    "minute": minute,
    "lived_at": lived_at,
    "clock_seconds": clock_seconds,
    "day": day,
    "span": span,
    "reason": reason,
    "leg_words": leg_words,
    "spoken_by": spoken_by,
    "fact_words": fact_words,
    "sentence": sentence,
    "job": work_words,
    "act_words": act_words,
    "caller_words": caller_words,
    "counted_words": counted_words,
    "percent": percent,
    "score": score,
    "count": count,
    "days": days,
    "duration": duration,
    "hue": hue,
}
