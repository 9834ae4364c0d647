"""What an episode is about, in fields: who took part, with which tools, what was named, how it ended.

What the records tell is never left to a model: participants, tools and key decisions come from observations
and from the caller. Entities, tags and the outcome come from a model's reply where there is one and it can be
used, else from extraction. Nothing here raises: a closing episode must close.

How it ended is read from its last words, conservatively, in several languages, else it is unknown. The last
sentence of the user that says how it stands decides; a question says nothing, and neither does what the
assistant promises.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from episodic_agent.core.episodes.languages import ASSISTANTS, SOURCES
from episodic_agent.core.ingest.words import FAILURE, ONGOING, PARTIAL, SUCCESS
from episodic_agent.core.language import fold, sentences, words
from episodic_agent.core.language.phrases import phrase_pattern, unspaced_pattern
from episodic_agent.core.threads.turns import role_of
from episodic_agent.data import listed_words, texts
from episodic_agent.lazily import module
from episodic_agent.schemas import Json, Kind, Observation

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
