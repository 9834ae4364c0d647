"""Since when something is so that somebody tells: "I've lived in Halle since 2019", not "desde enero viviré".

A month without its year is read as the latest one. Some words for "since" mean "from" as well: the verb says
which. What is to come is dated by the day it was said: dated back, it would have been so all year. Words are
in `data/facts/dating.toml`.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, time, timedelta, timezone
from functools import cache
from typing import Final

from episodic_agent.core.facts.passing import begins_at
from episodic_agent.core.facts.stating import has_cue
from episodic_agent.core.language.coming import any_of, leads_over, named_days
from episodic_agent.core.language.tenses import CLAUSE
from episodic_agent.core.language.timewords import TimeRange, add_months, normal, parse_time
from episodic_agent.data import phrases, tables
from episodic_agent.schemas.facts import Statement

_DATING: Final = "facts/dating"
_AFTER: Final = frozenset({"beri"})  # words for "since" that stand behind the time, in Latin letters
_YEAR: Final = re.compile(r"(?<!\d)(?:19|20|21)\d\d(?!\d)|[去前今]年")
_UNSPACED: Final = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
_WORD: Final = re.compile(r"[^\W\d_]+")
_ONE_WORD: Final = re.compile(r"\s+\S+\s+")  # between two days, as "from Friday to Monday"
_SOON: Final = timedelta(days=92)  # "as of December", said in November without more, is the next one
_FEWEST_WORDS: Final = 2  # of a clause with a verb: in "Desde enero, trabajaré en Sevilla" it stands beside


def so_since(statement: Statement, quote: str) -> datetime:
    """Return since when it is so: the one past time after a word for "since", else when it was said."""
    if not statement.dated or not has_cue(quote, "since"):
        return statement.at
    offset = timedelta(seconds=statement.utc_offset or 0)
    ranges = parse_time(_from_since(quote), statement.at, offset).ranges
    if len(ranges) != 1 or ranges[0].start > statement.at or _is_to_come(quote, ranges[0], statement.at):
        return statement.at
    return ranges[0].start


def announced_for(statement: Statement, quote: str) -> datetime | None:
    """Return from when on it will be so: the first of a day to come behind "from" or the like.

    None for what is so by now, and where another such day stands, or a day that it is moved to: "from Friday
    to Monday".
    """
    if not statement.dated:
        return None
    zone = timezone(timedelta(seconds=statement.utc_offset or 0))
    today = statement.at.astimezone(zone).date()
    folded = normal(quote)
    days = named_days(folded, today)
    named = [day for day in days if begins_at(folded, day.start)]
    if len(named) != 1 or named[0].first <= today:
        return None
    following = next((day for day in days if day.start >= named[0].end), None)
    between = "" if following is None else folded[named[0].end : following.start]
    if _ONE_WORD.fullmatch(between) or leads_over(between):
        return None
    return datetime.combine(named[0].first, time(), zone).astimezone(UTC)


@cache
def _since() -> re.Pattern[str]:
    """Return what finds a word for "since" of a language that writes it before the time it speaks of."""
    forms = [form for form in phrases("facts/cues.since") if form.isascii() and form not in _AFTER]
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, forms))})\b", re.IGNORECASE)


def _from_since(quote: str) -> str:
    """Return a quotation from its word for "since" on: a time before it says when something else is.

    >>> _from_since("I cook on Friday, and no gluten, since he has coeliac disease.")
    'since he has coeliac disease.'
    >>> _from_since("我从2019年以来吃素")
    '我从2019年以来吃素'
    """
    word = _since().search(quote)
    return quote if word is None else quote[word.start() :]


def _is_to_come(quote: str, stretch: TimeRange, at: datetime) -> bool:
    """Tell whether the time that a quotation names behind "since" is to come, by the verb beside it."""
    spoken = quote.lower()
    since = _since().search(spoken)
    word = since[0] if since else next((name for name in tables(_DATING) if name in spoken), "")
    signs = tables(_DATING).get(word)
    if signs is None:
        return False
    start = since.start() if since else spoken.index(word)
    clauses = _clauses(spoken)
    own = next(place for place, (_, end) in enumerate(clauses) if start < end)
    dated = next((n for n in range(own, len(clauses)) if parse_time(spoken[slice(*clauses[n])], at)), own)
    clause = spoken[slice(*clauses[dated])]
    if len(_WORD.findall(clause)) <= _FEWEST_WORDS + word.count(" "):
        clause = spoken[clauses[max(dated - 1, 0)][0] : clauses[min(dated + 1, len(clauses) - 1)][1]]
    if any(pattern.search(clause) for pattern in _coming(word, apart=dated != own)):
        return True
    if "past" not in signs or _YEAR.search(spoken[start:]) or _listed(word, "past").search(clause):
        return False
    over = "this_year" in signs and stretch.start.year == at.year
    return not over and add_months(stretch.start, 12) - at <= _SOON


def _clauses(spoken: str) -> list[tuple[int, int]]:
    ends = [match.start() for match in CLAUSE.finditer(spoken)]
    starts = [0, *(match.end() for match in CLAUSE.finditer(spoken))]
    return list(zip(starts, [*ends, len(spoken)], strict=True))


@cache
def _coming(word: str, *, apart: bool) -> tuple[re.Pattern[str], ...]:
    """Return what finds, in lower case, that a word for "since" stands with something to come."""
    signs: Mapping[str, str] = tables(_DATING)[word]
    names = ("coming", *(("apart",) if apart else ()))
    patterns = [_listed(word, name) for name in names if name in signs]
    if "endings" in signs:
        endings = any_of(phrases(f"{_DATING}.{word}.endings"))
        unlike = any_of(phrases(f"{_DATING}.{word}.unlike")) if "unlike" in signs else "(?!)"
        patterns.append(re.compile(rf"(?<!\w)(?!(?:{unlike})(?!\w))\w*(?:{endings})(?!\w)"))
    if "going" in signs:
        going, verb = (any_of(phrases(f"{_DATING}.{word}.{name}")) for name in ("going", "infinitives"))
        patterns.append(re.compile(rf"(?<!\w)(?:{going})\s+(?:\w+\s+)?\w+(?:{verb})(?!\w)"))
    return tuple(patterns)


@cache
def _listed(word: str, name: str) -> re.Pattern[str]:
    forms = phrases(f"{_DATING}.{word}.{name}")
    return re.compile(any_of(forms) if _UNSPACED.search(word) else rf"(?<!\w)(?:{any_of(forms)})(?!\w)")
