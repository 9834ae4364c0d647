"""What an episode is about, in fields: who took part, with which tools, what was named, how it ended.

What the records tell is never left to a model: participants, tools and key decisions come from observations
and from the caller. Entities, tags and the outcome come from a model's reply where there is one and it can be
used, else from extraction. Nothing here raises: a closing episode must close.

How it ended is read from its last words, conservatively, in several languages, else it is unknown. The last
sentence of the user that says how it stands decides; a question says nothing, and neither does what the
assistant promises.

Filters go over these fields: `tool=bash participant=Tim entity~cognition tag=debugging outcome=failure
since=…`. Between fields all must hold, inside one field any: `tag=a tag=b` and `tag=a,b` mean either.
Case and accents are folded. `=` compares whole values, `~` looks for a part.
"""

import difflib
import json
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from episodic_agent.core.episodes.languages import ASSISTANTS, SOURCES
from episodic_agent.core.ingest.times import read_time
from episodic_agent.core.ingest.words import FAILURE, ONGOING, PARTIAL, SUCCESS, ending_of
from episodic_agent.core.language import fold, sentences, words
from episodic_agent.core.language.phrases import phrase_pattern, unspaced_pattern
from episodic_agent.core.threads.turns import role_of
from episodic_agent.data import listed_words, texts
from episodic_agent.errors import InvalidInput
from episodic_agent.lazily import module
from episodic_agent.schemas import Json, Kind, Observation
from episodic_agent.schemas.chains import Condition, Term

if TYPE_CHECKING:
    from episodic_agent.core.episodes import steps
    from episodic_agent.core.language.mentions import reading
else:
    steps = module("episodic_agent.core.episodes.steps")
    reading = module("episodic_agent.core.language.mentions.reading")


ABANDONED, UNKNOWN = "abandoned", "unknown"
OUTCOMES: Final = (SUCCESS, PARTIAL, FAILURE, ONGOING, ABANDONED, UNKNOWN)
LAST_MESSAGES: Final = 3  # of the user, newest first
DENIED_WITHIN: Final = 3  # words before a success, among which a denial is its own

_DONE: Final = frozenset(("done", "fertig", "listo", "fini", "fatto", "hecho", "klaar", "готово"))
_IDEOGRAPHS: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def outcome_of(own: Sequence[str]) -> str:
    """Return how an episode ended from the user's messages in order; `unknown` where nobody says.

    >>> outcome_of(["It leaks again", "Patched. It works now, thanks!"])
    'success'
    >>> outcome_of(["Does it work now?"]), outcome_of(["I give up."]), outcome_of(["Es geht nicht."])
    ('unknown', 'abandoned', 'failure')
    >>> outcome_of(["Cottage booked.", "The flight is not booked yet."])
    'unknown'
    """
    for text in [*own][: -LAST_MESSAGES - 1 : -1]:
        for sentence in reversed(sentences(text)):
            if not re.search("[?？]", sentence) and (result := _spoken_words(sentence)):
                return result
    return UNKNOWN


def _spoken_words(sentence: str) -> str:
    spoken = words(sentence)
    if len(spoken) == 1 and spoken[0] in _DONE:
        return SUCCESS
    line = f" {' '.join(spoken)} "
    for outcome in texts("chains/outcomes.forms"):
        form = phrase_pattern(f"chains/outcomes.forms.{outcome}").search(line)
        if form is not None:
            denied = outcome == SUCCESS and _denied(line[: form.start()])
            return UNKNOWN if denied else outcome  # nor does an earlier success stand beside it
    return _unspaced(sentence)


def _denied(before: str) -> bool:
    """Tell whether what follows these words is said not to be so ("not booked yet")."""
    return not listed_words("chains/outcomes.denying.words").isdisjoint(before.split()[-DENIED_WITHIN:])


def _unspaced(sentence: str) -> str:
    if not _IDEOGRAPHS.search(sentence):
        return ""
    known = texts("chains/outcomes.han")
    results = (
        outcome for outcome in known if unspaced_pattern(f"chains/outcomes.han.{outcome}").search(sentence)
    )
    return next(results, "")


def outcome_named(word: object) -> str:
    """Return an outcome as it is written here, `unknown` for any other word.

    >>> outcome_named(" Success "), outcome_named("great")
    ('success', 'unknown')
    """
    folded = word.strip().casefold() if isinstance(word, str) else ""
    return folded if folded in OUTCOMES else UNKNOWN


MOST_VALUES: Final = 20
LONGEST_VALUE: Final = 80  # characters
LEAST_TAGS, MOST_TAGS = 3, 5
MOST_DOMAINS: Final = 2
SURE_DOMAIN: Final = 0.75  # two words tell it
LISTS: Final = ("participants", "tools_used", "entities", "key_decisions", "tags")
FIELDS: Final = (*LISTS, "outcome")
STAGE: Final = "metadata"
SCHEMA: Mapping[str, Json] = {
    "type": "object",
    "properties": {
        "entities": {"type": "array", "items": {"type": "string"}, "maxItems": MOST_VALUES},
        "tags": {"type": "array", "items": {"type": "string"}, "minItems": LEAST_TAGS, "maxItems": MOST_TAGS},
        "outcome": {"enum": ["success", "partial", "failure", "ongoing", "abandoned", "unknown"]},
    },
}
_NAMED: Final = frozenset({"place", "person", "organisation", "product"})
_SILENT: Final = frozenset({"system", "tool", "function"})
_LONGEST_TEXT: Final = 2_000  # characters of each message that entities are read from
_FENCED: Final = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Metadata:
    """The structured metadata of one episode; lists are capped at 20 values of 80 characters."""

    participants: tuple[str, ...] = ()
    tools_used: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    key_decisions: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    outcome: str = UNKNOWN

    def as_json(self) -> dict[str, Json]:
        """Return the fields of seed 004, all of them; `{}` where nothing at all is known.

        >>> Metadata().as_json(), Metadata(tags=("leak",)).as_json()["outcome"]
        ({}, 'unknown')
        """
        if self == Metadata():
            return {}
        lists: dict[str, Json] = {name: list(getattr(self, name)) for name in LISTS}
        return lists | {"outcome": self.outcome}


@dataclass(frozen=True, slots=True)
class SuppliedMetadata:
    """What the caller names when an episode begins or ends; the outcome overrules every other."""

    participants: tuple[str, ...] = ()
    tools_used: tuple[str, ...] = ()
    key_decisions: tuple[str, ...] = ()
    outcome: str | None = None


@dataclass(frozen=True, slots=True)
class Guess:
    """What a language model said of an episode, as far as it can be used."""

    entities: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    outcome: str = UNKNOWN


NOTHING: Final = SuppliedMetadata()


def metadata_of(
    observations: Sequence[Observation],
    encoded: Mapping[str, Json] | None = None,
    *,
    metadata: SuppliedMetadata = NOTHING,
    guess: Guess | None = None,
    language: str | None = None,
) -> Metadata:
    """Return an episode's structured metadata from its observations, in seq order.

    `encoded` is what encoding wrote of it (`keywords`, and `entities` of steps); `guess` is a model's reply.
    Without observations only what was given is there.
    """
    actors = [o.actor for o in observations if o.kind is Kind.MESSAGE]
    participants = [*metadata.participants, *(a for a in actors if fold(a) not in _SILENT | SOURCES)]
    known = encoded or {}
    return Metadata(
        participants=capped(participants),
        tools_used=capped([*metadata.tools_used, *_tools(observations)]),
        entities=capped(
            guess.entities if guess and guess.entities else _entities(observations, known, language)
        ),
        key_decisions=capped(metadata.key_decisions),
        tags=_tags(observations, known, guess, language),
        outcome=_outcome(observations, metadata, guess),
    )


def read_guess(reply: object) -> Guess | None:
    """Return what can be used of a model's reply: an object, or its text with or without a fence.

    Unknown keys are dropped, and so are participants, tools and decisions: those are not a model's to tell.
    None where the reply is no object; ask once more then, and leave it at `{}` after that.

    >>> read_guess('Sure: ```json\\n{"tags": ["leak", 7], "outcome": "Success", "mood": 1}\\n```')
    Guess(entities=(), tags=('leak',), outcome='success')
    >>> read_guess("no idea") is None
    True
    """
    value = _parsed(reply) if isinstance(reply, str) else reply
    if not isinstance(value, Mapping):
        return None
    return Guess(
        capped(_texts(value.get("entities"))),
        capped(_texts(value.get("tags")))[:MOST_TAGS],
        outcome_named(value.get("outcome")),
    )


def read_metadata(value: object) -> Metadata:
    """Return the metadata that an episode's JSON holds, whoever wrote it; what cannot be read is left out.

    `actors` of episodes encoded before there was metadata count as participants, `keywords` as tags.

    >>> read_metadata({"tags": ["a"], "actors": {"Tim": 3}}).participants
    ('Tim',)
    >>> read_metadata("broken") == Metadata()
    True
    """
    if not isinstance(value, Mapping):
        return Metadata()
    lists = {name: capped(_texts(value.get(name))) for name in LISTS}
    if "participants" not in value:
        lists["participants"] = capped(
            a for a in _texts(value.get("actors")) if fold(a) not in _SILENT | SOURCES
        )
    if "tags" not in value:
        lists["tags"] = capped(_texts(value.get("keywords")))[:MOST_TAGS]
    return Metadata(**lists, outcome=outcome_named(value.get("outcome")))


def capped(values: Iterable[str]) -> tuple[str, ...]:
    """Return at most 20 different texts of at most 80 characters each, without empty ones.

    >>> capped(["bash", "  Bash ", ""]), len(capped(["x" * 99])[0])
    (('bash',), 80)
    """
    texts: dict[str, str] = {}
    for value in values:
        text = " ".join(value.split())[:LONGEST_VALUE].rstrip()
        if text and len(texts) < MOST_VALUES:
            texts.setdefault(text.casefold(), text)
    return tuple(texts.values())


def _parsed(text: str) -> object:
    """Return the object in a text: fenced, or from the first brace to the last."""
    fenced = _FENCED.search(text)
    body = fenced[1] if fenced else text
    start, end = body.find("{"), body.rfind("}")
    try:
        return json.loads(body[start : end + 1])
    except (ValueError, RecursionError):
        return None


def _texts(value: object) -> Iterator[str]:
    """Yield the texts of a list, the names of an object, or a text alone."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Iterable):
        yield from (one for one in value if isinstance(one, str))


def _tools(observations: Sequence[Observation]) -> Iterator[str]:
    for observation in observations:
        if observation.kind is Kind.TOOL:
            calls = observation.extras.get("calls")
            several = calls if isinstance(calls, list | tuple) else [observation.extras]
            for call in several:
                yield from _texts(call.get("name") if isinstance(call, Mapping) else None)


def _entities(
    observations: Sequence[Observation], encoded: Mapping[str, Json], language: str | None
) -> list[str]:
    """Return what is named, most often named first; who speaks is a participant, not an entity."""
    speakers = {fold(o.actor) for o in observations}
    counts: Counter[str] = Counter()
    written: dict[str, str] = {}
    for observation in observations:
        if observation.kind is Kind.STEP:
            continue
        for mention in reading.mentions(
            observation.text[:_LONGEST_TEXT], at=observation.at, language=language
        ):
            if mention.kind in _NAMED and fold(mention.text) not in speakers:
                counts[mention.value] += 1
                written.setdefault(mention.value, mention.text)
    ranked = [written[value] for value, _ in counts.most_common()]
    return [*_texts(encoded.get("entities")), *ranked]


def _tags(
    observations: Sequence[Observation],
    encoded: Mapping[str, Json],
    guess: Guess | None,
    language: str | None,
) -> tuple[str, ...]:
    if guess and guess.tags:
        return guess.tags
    text = "\n".join(o.text[:_LONGEST_TEXT] for o in observations if o.kind is Kind.MESSAGE)
    texts = [
        name for name, weight in reading.domains(text, language=language).items() if weight >= SURE_DOMAIN
    ]
    keywords = [one.casefold() for one in _texts(encoded.get("keywords"))]
    return capped([*texts[:MOST_DOMAINS], *keywords])[:MOST_TAGS]


def _outcome(observations: Sequence[Observation], metadata: SuppliedMetadata, guess: Guess | None) -> str:
    text = UNKNOWN if metadata.outcome is None else outcome_named(metadata.outcome)
    if (
        text != UNKNOWN or fold(metadata.outcome or "").strip() == UNKNOWN
    ):  # that nobody knows may be said too
        return text
    own = [
        o.text
        for o in observations
        if o.kind is Kind.MESSAGE and fold(role_of(o)) not in ASSISTANTS | _SILENT | SOURCES
    ]
    read = outcome_of(own)
    if (done := steps.outcome_of_steps(observations)) and (
        read == UNKNOWN or steps.is_of_steps(observations)
    ):
        return done  # what an agent did came out as its steps say, whatever was talked of beside
    if guess is None or guess.outcome == UNKNOWN:
        return read
    # an abandoned episode is never gone on with: that takes the user's own word
    return read if guess.outcome == ABANDONED and read != ABANDONED else guess.outcome


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
