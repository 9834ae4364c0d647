"""Filters over metadata: `tool=bash participant=Tim entity~cognition tag=debugging outcome=failure since=…`.

Between fields all must hold, inside one field any: `tag=a tag=b` and `tag=a,b` mean either. Case and accents
are folded. `=` compares whole values, `~` looks for a part.
"""

import difflib
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from episodic_agent.core.chains.metadata import OUTCOMES, Metadata, read_metadata
from episodic_agent.core.ingest.times import read_time
from episodic_agent.core.ingest.words import ending_of
from episodic_agent.core.language import fold
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas.chains import Condition, Term

EQUALS, CONTAINS = "=", "~"
NAMES: Final[Mapping[str, str]] = {
    "participant": "participants",
    "tool": "tools_used",
    "entity": "entities",
    "decision": "key_decisions",
    "tag": "tags",
    "outcome": "outcome",
}
SESSION: Final[Mapping[str, str]] = {"topic": "topic", "agent": "agent_id"}  # what only sessions have
_ALIASES: Final[Mapping[str, str]] = {
    "participants": "participant",
    "person": "participant",
    "tools": "tool",
    "tool_used": "tool",
    "tools_used": "tool",
    "entities": "entity",
    "decisions": "decision",
    "key_decision": "decision",
    "key_decisions": "decision",
    "tags": "tag",
    "agent_id": "agent",
}
TIMES: Final = ("since", "until")
LONGEST_TERM: Final = 80


@dataclass(frozen=True, slots=True)
class MetadataFilter:
    """What episodes are to be like: every one of `fields` (each any of its conditions), begun in a time.

    `since <= start_at < until`, event time.
    """

    fields: tuple[tuple[Condition, ...], ...] = ()
    since: datetime | None = None
    until: datetime | None = None

    @property
    def empty(self) -> bool:
        """Say whether everything passes."""
        return not self.fields and self.since is None and self.until is None


EVERYTHING: Final = MetadataFilter()


def metadata_terms(metadata: Metadata | Mapping[str, object]) -> tuple[Term, ...]:
    """Return the rows an episode has in the inverted table, in order, each once.

    >>> [(t.field, t.value) for t in metadata_terms({"tags": ["Café"], "outcome": "success"})]
    [('outcome', 'success'), ('tag', 'cafe')]
    """
    read = metadata if isinstance(metadata, Metadata) else read_metadata(metadata)
    rows = {
        Term(name, folded(value))
        for name, column in ({} if read == Metadata() else NAMES).items()
        for value in ([read.outcome] if column == "outcome" else getattr(read, column))
    }
    if isinstance(metadata, Mapping):
        session = {name: metadata.get(column) for name, column in SESSION.items()}
        rows |= {Term(name, folded(value)) for name, value in session.items() if isinstance(value, str)}
    return tuple(sorted(row for row in rows if row.value))


def parse_filter(text: str | Sequence[str]) -> MetadataFilter:
    """Read a filter from one line or from several, each split at spaces; quote values that hold a sign.

    Raises InvalidInput for an unknown field, a piece without a value, a word that is no outcome, or a time
    that cannot be read.

    >>> found = parse_filter('tool=bash entity~"CSTP server" tag=debugging,memory since=2026-03-01')
    >>> [(c.field, c.values, c.contains) for field in found.fields for c in field]
    [('tool', ('bash',), False), ('entity', ('cstp server',), True), ('tag', ('debugging', 'memory'), False)]
    """
    fields: dict[str, list[Condition]] = {}
    times: dict[str, datetime] = {}
    for piece in _pieces(text):
        name, sign, value = _split(piece)
        if name in TIMES:
            if sign != EQUALS or name in times:
                raise InvalidInput(f"write {name} once, as {name}=2026-03-01")
            times[name] = _moment(name, value)
        else:
            fields.setdefault(name, []).append(_condition(name, sign, value))
    since, until = times.get("since"), times.get("until")
    if since is not None and until is not None and since >= until:
        raise InvalidInput("since lies after until; turn them round")
    return MetadataFilter(tuple(tuple(some) for some in fields.values()), since, until)


def matches(
    metadata: Metadata | Mapping[str, object], conditions: MetadataFilter, start_at: datetime | None = None
) -> bool:
    """Say whether an episode passes; without `start_at` no filter with times lets it through.

    >>> matches({"tags": ["Memory", "leak"]}, parse_filter("tag=memory"))
    True
    >>> matches({"tags": ["memory"]}, parse_filter("tag=memory outcome=success"))
    False
    """
    if not in_time(conditions, start_at):
        return False
    terms = metadata_terms(metadata) if conditions.fields else ()
    return all(any(one.holds(terms) for one in field) for field in conditions.fields)


def in_time(conditions: MetadataFilter, start_at: datetime | None) -> bool:
    """Say whether an episode began in the filter's stretch of time."""
    if conditions.since is None and conditions.until is None:
        return True
    if start_at is None:
        return False
    after = conditions.since is None or conditions.since <= start_at
    return after and (conditions.until is None or start_at < conditions.until)


def folded(value: str) -> str:
    """Fold a value for comparison: case, accents, spaces.

    >>> folded(" CSTP  Server ")
    'cstp server'
    """
    return " ".join(fold(piece) for piece in value.split())[:LONGEST_TERM]


def _pieces(text: str | Sequence[str]) -> list[str]:
    if not isinstance(text, str):
        if not isinstance(text, Sequence) or not all(isinstance(piece, str) for piece in text):
            raise InvalidInput(f"a filter is a text, or a list of them, not {text!r}; write tag=debugging")
        return [piece for line in text for piece in _words(line)]
    return _words(text)


def _words(text: str) -> list[str]:
    """Split a line at spaces, but not before a word without a sign: it goes on with the value before.

    >>> _words('participant=Tim Lee tag=memory entity~"a b"')
    ['participant=Tim Lee', 'tag=memory', 'entity~a b']
    """
    try:
        # an apostrophe is no quote here: participant=O'Brien
        lexer = shlex.shlex(text, posix=True)
        lexer.whitespace_split, lexer.quotes, lexer.escape, lexer.commenters = True, '"', "", ""
        words = list(lexer)
    except ValueError as error:
        raise InvalidInput(f"the filter {text!r} has an open quote; close it") from error
    pieces: list[str] = []
    for word in words:
        if pieces and not {EQUALS, CONTAINS} & set(word):
            pieces[-1] += f" {word}"
        else:
            pieces.append(word)
    return pieces


def _split(piece: str) -> tuple[str, str, str]:
    places = [n for n in (piece.find(EQUALS), piece.find(CONTAINS)) if n >= 0]
    if not places:
        raise InvalidInput(f"{piece!r} is no filter; write field=value, as in tag=debugging")
    name, sign, value = piece[: min(places)], piece[min(places)], piece[min(places) + 1 :]
    name = _ALIASES.get(name.strip().casefold(), name.strip().casefold())
    known = [*NAMES, *SESSION, *TIMES]
    if name not in known:
        close = difflib.get_close_matches(name, known, n=1, cutoff=0.7)  # a farther one was not meant
        nearest = f"did you mean {close[0]}? " if close else ""
        raise InvalidInput(f"no field {name!r} to filter by; {nearest}there are {', '.join(known)}")
    if not value.strip(' ",'):
        raise InvalidInput(f"{name}{sign} has no value; write {name}{sign}something")
    return name, sign, value


def _condition(name: str, sign: str, value: str) -> Condition:
    values = tuple(dict.fromkeys(folded(one.strip(' "')) for one in value.split(",") if one.strip(' "')))
    if name == "outcome":
        values = tuple(ending_of(one) or one for one in values)  # as a step says it: failed, interrupted
        unknown = next((one for one in values if one not in OUTCOMES), None)
        if sign == CONTAINS or unknown is not None:
            raise InvalidInput(f"outcome{sign}{value} names no outcome; use {', '.join(OUTCOMES)}")
    return Condition(name, values, sign == CONTAINS)


def _moment(name: str, value: str) -> datetime:
    try:
        return read_time(value.strip(' "')).at
    except InvalidInput as error:
        raise InvalidInput(f"{name}={value} is no time; write {name}=2026-03-01 or with a clock") from error
