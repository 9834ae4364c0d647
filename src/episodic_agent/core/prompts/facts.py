"""What conversations tell that lasts: one question by default, two as seed 003 asks them.

By default the model is shown the conversations in the order of time, whom the memory belongs to, and the few
known facts that bear on them (`gather`). Seed 003 has it say first what an episode will hold, from the known
facts alone (`predict`), then what goes beyond that (`reconcile`). Either way each fact comes with the words
that prove it. Words that were not said prove nothing; what else of an answer is missing or misplaced is
filled in from them where it can be.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from episodic_agent.core.episodes.languages import ASSISTANTS, SOURCES, USERS
from episodic_agent.core.facts.reconciling import identity_of
from episodic_agent.core.facts.slots import OTHER, SLOTS, keywords, match_key, slot_of
from episodic_agent.core.ingest.times import read_time
from episodic_agent.core.language import fold
from episodic_agent.core.prompts import FACTS
from episodic_agent.core.prompts.grounding import (
    invented_number,
    invented_year,
    language_of,
    local_time,
    numbers_in,
    numbers_meant,
    numbers_said,
    place_of,
)
from episodic_agent.core.prompts.lasting import A_WEEK, DAYS, EACH, LASTS, NONE, WORTH
from episodic_agent.core.prompts.lenient import BOOLEAN, STRING, STRING_OR_NULL, closed, one_of
from episodic_agent.core.prompts.quoting import DATA, LONGEST_NAME, Aliases, cleaned, lines_of, named
from episodic_agent.core.threads.turns import role_of
from episodic_agent.errors import BadReply, InvalidInput
from episodic_agent.schemas import Json, Observation
from episodic_agent.schemas.facts import Category, Fact, FactCandidate, FactEvidence

VERSION: Final = "facts-llm-7"
SEED_VERSION: Final = "facts-two-4"  # of the two questions
STAGE: Final = FACTS
MOST_FACTS: Final = 20  # related facts that the two questions show
MOST_BEARING: Final = 8  # facts that the one question shows: those that bear on what was said
MOST_FOUND: Final = 30
LONGEST_MESSAGE: Final = 2_000  # characters
LONGEST_CONVERSATION: Final = 24_000
LEAST_OF_MESSAGE: Final = 200
LONGEST_FACT: Final = 300
ACTIONS: Final = ("new", "reinforce", "update", "invalidate")
_CONFIDENCE: Final = 0.8

EXPECTED_SCHEMA = closed({"expected": STRING})
_FACT = closed(
    {
        "message": STRING,  # the proof before what it proves
        "quote": STRING,
        "action": one_of(ACTIONS),
        "known": STRING_OR_NULL,
        "subject": STRING,
        "category": one_of(one.value for one in Category),
        "attribute": one_of(SLOTS),
        "value": STRING,
        "fact": {"type": "string", "maxLength": LONGEST_FACT},
        "holds": BOOLEAN,
        "valid_from": STRING_OR_NULL,
    }
)
SCHEMA = closed({"facts": {"type": "array", "maxItems": MOST_FOUND, "items": _FACT}})

_GATHERED_FACT = closed(
    {
        "message": STRING,
        "quote": STRING,
        "lasts": one_of(LASTS),
        "action": one_of(ACTIONS),
        "known": STRING_OR_NULL,
        "subject": STRING,
        "category": one_of(one.value for one in Category),
        "attribute": one_of(SLOTS),
        "value": STRING,
        "fact": STRING,
        "holds": BOOLEAN,
        "since": STRING_OR_NULL,
        "on": STRING_OR_NULL,
    }
)
GATHERED: Mapping[str, Json] = {"type": "array", "items": _GATHERED_FACT}
GATHERED_SCHEMA = closed({"facts": GATHERED})

_GATHER: Final = """\
A memory keeps lasting facts for {owner}: about them, the people around them, their things, projects, places
and arrangements. Below stand known facts, and conversations in the order of time. Name what these tell that
is not known yet and will matter for weeks or years, in the language of the conversation.
{worth}{each}{none}{data}"""

_PREDICT: Final = """\
A memory keeps lasting facts about the people in it. From the facts it knows, say what you expect to hear in
the conversation named below: what will be said, wanted or done. One short paragraph, in the language of the
facts; do not guess beyond them.
{data}"""

_RECONCILE: Final = """\
A memory keeps lasting facts about the people in it. Below are the facts it knows, what it expected of a
conversation, and the conversation. Name only what the conversation tells beyond what was expected, as facts
that still hold next month: who somebody is, what they like, can, own, believe, lived through, firmly plan,
whom they know, and standing wishes to the assistant.
action: "new"; "reinforce" a known fact said again; "update" a known fact whose value changed; "invalidate" a
known fact that no longer holds. known: the alias of that fact, null for a new one; at most one action each.
holds: false for what is said not to be so. message and quote: where it was said, in the very words.
valid_from: the day since when it is so (YYYY-MM-DD) where the words tell, else null.
value and fact: in the language of the conversation.
Leave out questions, hypotheticals, jokes, play, tasks, quotations of others, hearsay, what passes, and
whatever an assistant says of people. An empty list is a good answer.
{data}"""


@dataclass(frozen=True, slots=True)
class Reconciled:
    """What a reply holds: candidates whose words were said, and why the others were refused.

    `actions` are those the candidates come from, in their order: an update may make two.
    """

    candidates: tuple[FactCandidate, ...] = ()
    actions: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Owner:
    """Whom a memory belongs to: the subject of facts about them, the names they have, how they speak.

    `subject` is what facts name them by in every language and path; `names` may be empty.
    """

    subject: str = "The user"
    names: tuple[str, ...] = ()

    @property
    def introduced(self) -> str:
        """Return how they are named to a model.

        >>> Owner("The user", ("Gem", "Gemma")).introduced, Owner().introduced
        ('its owner "The user" (also "Gem", "Gemma")', 'its owner "The user"')
        """
        others = ", ".join(named(name) for name in self.names if fold(name) != fold(self.subject))
        return f"its owner {named(self.subject)}" + (f" (also {others})" if others else "")

    def answers_to(self, name: str) -> bool:
        """Tell whether a subject means them.

        >>> [Owner("The user", ("Gem",)).answers_to(name) for name in ("gem", "User", "用户", "Gemini")]
        [True, True, True, False]
        """
        key = fold(name)
        own = {fold(self.subject), "owner", "the owner", *map(fold, self.names)}
        return key in own or key in USERS or key.removeprefix("the ") in USERS


@dataclass(frozen=True, slots=True)
class Conversation:
    """An episode as the question shows it: its title and what was said in it, in the order of time."""

    title: str
    observations: Sequence[Observation]


def gather(owner: Owner, known: Sequence[Fact], conversations: Sequence[Conversation]) -> str:
    """Return the question what conversations tell that lasts.

    Facts stand under aliases F1, F2, …, messages under m1, m2, …, over all conversations; long messages are
    shortened. `known` are at most `MOST_BEARING`.
    """
    observations = [o for one in conversations for o in one.observations]
    limit, first = limit_of(observations), 1
    lines = []
    for conversation in conversations:
        lines += [_heading(conversation), *lines_of(conversation.observations, limit, first)]
        first += len(conversation.observations)
    return "\n".join(
        [
            _GATHER.format(
                owner=owner.introduced,
                worth=WORTH,
                each=EACH.format(subject=named(owner.subject)),
                none=NONE,
                data=DATA,
            ),
            *known_lines(known),
            *lines,
            "What lasting facts do these conversations tell?",
        ]
    )


def _heading(conversation: Conversation) -> str:
    first = conversation.observations[0]
    parts = [named(conversation.title, LONGEST_FACT)] if conversation.title else []
    parts.append(f"{local_time(first):%A %d %B %Y}")
    channels = dict.fromkeys(o.channel for o in conversation.observations if o.channel)
    parts += [named(channel) for channel in channels]
    return f"Conversation: {' · '.join(parts)}"


def read_gathered(
    value: Mapping[str, Json],
    known: Sequence[Fact],
    observations: Sequence[Observation],
    owner: Owner,
) -> Reconciled:
    """Return a reply's facts as candidates; raises BadReply without a list, or where no fact can be read.

    A fact needs its sentence and a quotation that somebody said, word by word. What else is missing is filled
    in: the message by the quotation, the rest by what is usual. Refused, and said so, is what nobody said (or
    only an assistant), a new fact of days, a second action on one fact, and a number that was not said and is
    none of its days.
    """
    answers = value.get("facts")
    if not isinstance(answers, list):
        raise BadReply("facts must be a list")
    reading = _FactReading(known, observations, owner)
    for number, answer in enumerate(answers[:MOST_FOUND], 1):
        try:
            reading.take(answer)
        except BadReply as problem:
            reading.refused.append(f"fact {number}: {problem}")
    if answers and not any(isinstance(one, Mapping) and one.get("fact") for one in answers):
        raise BadReply("each fact must be an object with fact and quote")
    return Reconciled(tuple(reading.candidates), tuple(reading.actions), tuple(reading.refused))


class _FactReading:
    """The facts of one reply, read one after another."""

    def __init__(self, known: Sequence[Fact], observations: Sequence[Observation], owner: Owner) -> None:
        self._facts = Aliases(list(known), "F") if known else None
        self._messages = Aliases([o.id for o in observations], "m")
        self._observations = {o.id: o for o in observations}
        self._owner = owner
        self._acted: set[str] = set()
        self._numbers = numbers_meant(observations)
        for fact in known:
            self._numbers |= numbers_in(fact.fact)
        self.candidates: list[FactCandidate] = []
        self.actions: list[str] = []
        self.refused: list[str] = []

    def take(self, answer: Json) -> None:
        """Read one fact; raises BadReply where it cannot be used."""
        if not isinstance(answer, Mapping):
            raise BadReply(f"each fact must be an object, not {answer!r}")
        fact = _line(answer.get("fact") or "")
        if not fact or len(fact) > LONGEST_FACT:
            raise BadReply(f"fact must not be empty, nor longer than {LONGEST_FACT} characters")
        observation, place = self._proof(answer)
        filled = self._filled(answer, fact, observation)
        if filled["action"] == "new" and filled["lasts"] == DAYS:
            raise BadReply("it is over within days")
        old = _acted_on(filled, self._facts, self._acted)
        evidence = self._evidence(filled, observation, place)
        made = _candidates(filled, old, evidence)
        self.candidates += made
        self.actions += [str(filled["action"])] * len(made)

    def _proof(self, answer: Mapping[str, Json]) -> tuple[Observation, tuple[int, int]]:
        """Return the message that has the quotation, and where; the one that is named before all others."""
        quote = str(answer.get("quote") or "")
        meant: Observation | None = None
        with suppress(BadReply):
            meant = self._observations[self._messages.read(_alias(answer.get("message"), "m"))]
        place = None if meant is None else place_of(quote, meant.text)
        if meant is not None and place is not None:
            return self._said_by_people(meant), place
        for observation in self._observations.values():
            place = place_of(quote, observation.text)
            if place is not None and not _is_told_by_nobody(observation):
                return observation, place
        raise BadReply("the quote is in none of the messages of people")

    @staticmethod
    def _said_by_people(observation: Observation) -> Observation:
        if _is_told_by_nobody(observation):
            raise BadReply("the words of an assistant or a device prove nothing about people")
        return observation

    def _filled(self, answer: Mapping[str, Json], fact: str, observation: Observation) -> dict[str, Json]:
        """Return a fact with every field, what is missing or unknown by what is usual."""
        known = _alias(answer.get("known"), "F")
        action = answer.get("action")
        if action not in ACTIONS:
            action = "update" if known else "new"
        slots = answer.get("attribute")
        attribute = slots if isinstance(slots, str) and slots in SLOTS else OTHER
        category = answer.get("category")
        if category not in list(Category):
            category = SLOTS[attribute].category.value
        value = _line(answer.get("value") or "")
        lasts = answer.get("lasts")
        return {
            **answer,
            "lasts": lasts if lasts in LASTS else _lasting(answer, observation),
            "action": action,
            "known": known,
            "subject": self._subject(_line(answer.get("subject") or ""), observation),
            "category": category,
            "attribute": attribute,
            "value": value if 0 < len(value) <= LONGEST_FACT else fact,
            "fact": fact,
            "holds": answer.get("holds") is not False,
        }

    def _subject(self, name: str, observation: Observation) -> str:
        """Return whom a fact is about; the owner has one name, whatever a model or a message calls them."""
        supplied = name if 0 < len(name) <= LONGEST_NAME else observation.actor
        return self._owner.subject if self._owner.answers_to(supplied) else supplied

    def _evidence(
        self, answer: Mapping[str, Json], observation: Observation, place: tuple[int, int]
    ) -> FactEvidence:
        fact, value = str(answer["fact"]), str(answer["value"])
        days = [day for name in ("since", "on") if (day := _day(answer.get(name))) is not None]
        allowed = self._numbers.union(*(numbers_in(f"{day:%Y-%m-%d} {day.day} {day.month}") for day in days))
        invented = invented_number(f"{fact} {value}", allowed)
        if invented:
            raise BadReply(f"nobody said {invented}")
        since, on = _day(answer.get("since")), _day(answer.get("on"))
        # a plan is known when it is told, not on its day
        offset = timedelta(seconds=observation.utc_offset or 0)
        valid_at = observation.at if since is None else min(since - offset, observation.at)
        return FactEvidence(
            observation_id=observation.id,
            start=place[0],
            end=place[1],
            fact=fact if on is None else _dated(fact, on),
            value=value,
            said_at=observation.at,
            valid_at=valid_at,
            confidence=_CONFIDENCE,
        )


def predict(title: str, known: Sequence[Fact]) -> str:
    """Return the first question: what the known facts lead one to expect of an episode with this title."""
    return "\n".join(
        [
            _PREDICT.format(data=DATA),
            *known_lines(known[:MOST_FACTS]),
            "The conversation:",
            named(title, LONGEST_FACT),
            "What do you expect?",
        ]
    )


def read_expected(value: Mapping[str, Json]) -> str:
    """Return what the model expects; raises BadReply where it is no text.

    >>> read_expected({"expected": " She asks about the boat. "})
    'She asks about the boat.'
    """
    expected = value.get("expected")
    if not isinstance(expected, str):
        raise BadReply(f"expected must be a text, not {expected!r}")
    return expected.strip()


def reconcile(expected: str, known: Sequence[Fact], observations: Sequence[Observation]) -> str:
    """Return the second question: what an episode tells beyond what was expected.

    Facts stand under aliases F1, F2, …, messages under m1, m2, …; a long episode is shortened message by
    message.
    """
    so_far = named(expected, LONGEST_MESSAGE) if expected.strip() else "nothing was expected"
    return "\n".join(
        [
            _RECONCILE.format(data=DATA),
            *known_lines(known[:MOST_FACTS]),
            "What was expected:",
            so_far,
            "The conversation:",
            *lines_of(observations, limit_of(observations)),
            "What does it tell beyond that?",
        ]
    )


def read_stated_facts(
    value: Mapping[str, Json],
    known: Sequence[Fact],
    observations: Sequence[Observation],
) -> Reconciled:
    """Return a reply's facts as candidates; raises BadReply where none of them is shaped as asked.

    Refused, and said so, is each fact that is not, whose quotation nobody said (or only an assistant), whose
    known fact was not given, that acts on a fact a second time, or whose sentence has a number that was not
    said. A quotation that stands in one message only is from that one, whatever the answer says.
    """
    answers = value.get("facts")
    if not isinstance(answers, list):
        raise BadReply(f"facts must be a list of at most {MOST_FOUND}")
    _check_any(answers)
    facts = Aliases(list(known[:MOST_FACTS]), "F") if known else None
    messages = Aliases([o.id for o in observations], "m")
    spoken_observations = {o.id: o for o in observations}
    candidates: list[FactCandidate] = []
    actions: list[str] = []
    refused: list[str] = []
    acted: set[str] = set()
    for number, supplied in enumerate(answers[:MOST_FOUND], 1):
        try:
            answer = _checked(supplied)
            old = _acted_on(answer, facts, acted)
            observation = spoken_observations[_message(answer, messages, observations)]
            answer = {**answer, "subject": answer["subject"] or observation.actor}
            candidates += _candidates(answer, old, _evidence(answer, observation, observations))
            acted.update([str(old.id)] if old is not None else [])
            actions += [str(answer["action"])] * (len(candidates) - len(actions))
        except BadReply as problem:
            refused.append(f"fact {number}: {problem}")
    return Reconciled(tuple(candidates), tuple(actions), tuple(refused))


# --- the pieces ------------------------------------------------------------------------------------------


def known_lines(facts: Sequence[Fact]) -> list[str]:
    """Return a line for each known fact: its alias, since when it is so, and its sentence as JSON."""
    if not facts:
        return ["No facts are known yet."]
    return [
        "Known facts:",
        *(
            f"F{n} · since {fact.valid_at:%Y-%m-%d}: {named(fact.fact, LONGEST_FACT)}"
            for n, fact in enumerate(facts, 1)
        ),
    ]


def limit_of(observations: Sequence[Observation]) -> int:
    """Return how many characters of each message a question shows, however many there are."""
    share = max(LEAST_OF_MESSAGE, LONGEST_CONVERSATION // max(len(observations), 1))
    return min(LONGEST_MESSAGE, share)


def _check_any(answers: Sequence[Json]) -> None:
    """Raise BadReply, with what is wrong with the first, where no fact is shaped as the schema says."""
    problem: BadReply | None = None
    for answer in answers:
        try:
            _checked(answer)
        except BadReply as error:
            problem = problem or error
        else:
            return
    if problem is not None:
        raise problem


def _checked(answer: Json) -> Mapping[str, Json]:
    """Return a fact that can be read, with what it leaves out as it is meant then; raises BadReply.

    A fact needs its sentence and its quotation. The rest has a plain meaning where it is missing.
    """
    if not isinstance(answer, Mapping):
        raise BadReply(f"each fact must be an object, not {answer!r}")
    attribute = answer.get("attribute")
    own = slot_of(attribute if isinstance(attribute, str) else OTHER).category.value
    missing = {"value": answer.get("fact"), "category": own, "holds": True, "message": "", "subject": ""}
    full: dict[str, Json] = {"action": "update" if answer.get("known") else "new", **missing, **answer}
    for name in ("action", "subject", "category", "value", "fact", "message", "quote"):
        text = full.get(name)
        if not isinstance(text, str):
            raise BadReply(f"{name} must be a text, not {text!r}")
    if full["action"] not in ACTIONS:
        raise BadReply(f"action must be one of {', '.join(ACTIONS)}, not {full['action']!r}")
    if full["category"] not in [one.value for one in Category]:
        raise BadReply(f"category must be one of {', '.join(Category)}, not {full['category']!r}")
    if not isinstance(full["holds"], bool):
        raise BadReply(f"holds must be true or false, not {full['holds']!r}")
    return full


def _message(
    answer: Mapping[str, Json], messages: Aliases[UUID], observations: Sequence[Observation]
) -> UUID:
    """Return the message a fact cites: the only one that has its quotation, else the one it names."""
    quote = str(answer["quote"])
    holding = [o.id for o in observations if place_of(quote, o.text)]
    try:
        cited = messages.read(answer["message"])
    except BadReply:
        if len(holding) != 1:
            raise
        return holding[0]
    return holding[0] if len(holding) == 1 else cited


def _acted_on(answer: Mapping[str, Json], facts: Aliases[Fact] | None, acted: set[str]) -> Fact | None:
    """Return the known fact an action means, None for a new one."""
    if answer["action"] == "new":
        return None
    alias = answer.get("known")
    if facts is None:
        raise BadReply(f"{alias!r} is no known fact: there are none")
    old = facts.read(alias)
    if str(old.id) in acted:
        raise BadReply(f"{alias!r} is acted on twice; one action for each fact")
    return old


def _evidence(
    answer: Mapping[str, Json],
    observation: Observation,
    observations: Sequence[Observation],
) -> FactEvidence:
    quote, fact, value = str(answer["quote"]), _line(answer["fact"]), _line(answer["value"])
    if fold(role_of(observation)) in ASSISTANTS | SOURCES:
        raise BadReply("the words of an assistant or a device prove nothing about people")
    place = place_of(quote, observation.text)
    if place is None:
        raise BadReply("the quote is not in the message")
    if not fact or not value or max(len(fact), len(value)) > LONGEST_FACT:
        raise BadReply(f"fact and value must not be empty, nor longer than {LONGEST_FACT} characters")
    words = f"{fact} {value}"
    invented = invented_number(words, numbers_said(observations)) or invented_year(
        words, observations, language_of(observations)
    )
    if invented:
        raise BadReply(f"nobody said {invented}")
    return FactEvidence(
        observation_id=observation.id,
        start=place[0],
        end=place[1],
        fact=fact,
        value=value,
        said_at=observation.at,
        valid_at=_since(answer.get("valid_from"), observation.at),
        confidence=_CONFIDENCE,
    )


def _line(text: Json) -> str:
    # one line without anything hidden: facts are listed, and shown to models again
    return " ".join(cleaned(str(text), LONGEST_MESSAGE).split())


def _is_told_by_nobody(observation: Observation) -> bool:
    return fold(role_of(observation)) in ASSISTANTS | SOURCES


def _alias(value: Json, prefix: str) -> str | None:
    """Return an alias as it was given out: `M3`, `[m3]` and `3` are m3; None where it is none.

    >>> _alias(" [M3]", "m"), _alias("none", "F"), _alias(2, "F")
    ('m3', None, 'F2')
    """
    match = re.search(r"\d+", str(value)) if isinstance(value, str | int) else None
    return f"{prefix}{match[0]}" if match else None


def _day(value: Json) -> datetime | None:
    """Return the day that a model names as its midnight in UTC, None where it names none."""
    match = re.match(r"(\d{4}-\d\d)(-\d\d)?", value.strip()) if isinstance(value, str) else None
    with suppress(InvalidInput):
        return read_time(match[1] + (match[2] or "-01")).at if match else None
    return None


def _lasting(answer: Mapping[str, Json], observation: Observation) -> str:
    """Return how long a fact is of use that does not say so: days, where its day is within a week."""
    on = _day(answer.get("on"))
    return DAYS if on is not None and on - observation.at <= A_WEEK else LASTS[-1]


def _dated(fact: str, on: datetime) -> str:
    """Return a sentence with the day it is about, where it does not name it."""
    numbers = numbers_in(fact)
    if str(on.day) in numbers or f"{on:%d}" in numbers:
        return fact
    end = len(fact.rstrip(".。!！")) if len(fact) + 15 <= LONGEST_FACT else 0
    return f"{fact[:end]}, {on:%Y-%m-%d}{fact[end:]}" if end else fact


def _since(value: Json, at: datetime) -> datetime:
    """Return the day a fact is so from, as the model reads it; what it cannot tell is when it was said."""
    if not isinstance(value, str):
        return at
    with suppress(InvalidInput):
        return read_time(value).at
    return at


def _candidates(answer: Mapping[str, Json], old: Fact | None, evidence: FactEvidence) -> list[FactCandidate]:
    """Turn an action into statements.

    An end is a statement that the old value does not hold; of what only changed the new value tells alone.
    """
    holds = answer["holds"] is True
    if old is None:
        arguments = answer.get("attribute")
        attribute = arguments if isinstance(arguments, str) and arguments in SLOTS else OTHER
        subject = _line(answer["subject"])
        if not subject or len(subject) > LONGEST_NAME:
            raise BadReply(f"subject must not be empty, nor longer than {LONGEST_NAME} characters")
        category = Category(str(answer["category"]))
        return [
            FactCandidate(
                subject, attribute, evidence.value, category, evidence, holds, keywords(evidence.value)
            )
        ]
    # the words are about the old value: as it was told, or as it is ended
    same = FactCandidate(
        old.subject,
        old.attribute,
        old.value,
        old.category,
        replace(evidence, fact=old.fact, value=old.value),
        old.holds,
        old.keywords,
    )
    if answer["action"] == "reinforce":
        return [same]
    if answer["action"] == "invalidate":
        return [replace(same, evidence=replace(evidence, value=old.value), holds=not old.holds)]
    single, key = slot_of(old.attribute).single, match_key(old.attribute, old.value)
    if not single and match_key(old.attribute, evidence.value) == key:
        evidence = replace(evidence, value=evidence.fact)  # what changed is in the sentence alone
        if match_key(old.attribute, evidence.value) == key:
            return [same]
    changed = FactCandidate(
        old.subject, old.attribute, evidence.value, old.category, evidence, holds, keywords(evidence.value)
    )
    if single:
        return [changed]
    # beside other values of its slot the old one does not end by itself
    end = max(evidence.valid_at, old.valid_at)
    ends = replace(same.evidence, valid_at=end, ended_by=identity_of(changed))
    return [changed, replace(same, evidence=ends)]
