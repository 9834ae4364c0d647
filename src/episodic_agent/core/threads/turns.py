"""Turns: a user message with everything up to the next one, replies and tool calls (the glossary's word).

What somebody is to the agent tells the role given beside a name, else what the name itself says.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from episodic_agent.core.episodes.languages import ASSISTANTS, PROMPTS
from episodic_agent.schemas import Json, Kind, Observation

AGENTS: Final = ASSISTANTS | PROMPTS | {"tool", "function"}


class Attributed(Protocol):
    """Whatever has a speaker: an observation, or an item on its way to become one."""

    @property
    def actor(self) -> str:
        """Return who speaks."""
        ...

    @property
    def extras(self) -> Mapping[str, Json]:
        """Return what else came with it: intake leaves the role there where the speaker has a name too."""
        ...


def role_of(spoken: Attributed) -> str:
    """Return the role of whoever speaks for the agent under a name of its own; of all others the name.

    A role of people says nothing here: among named people all may be "user".

    >>> from episodic_agent.core.ingest.item import read_item
    >>> pedal = {"role": "assistant", "name": "Pedal", "content": "Noted."}
    >>> [role_of(read_item(one)) for one in (pedal, pedal | {"role": "user"}, "Hi")]
    ['assistant', 'Pedal', 'user']
    """
    role = spoken.extras.get("role")
    return role if isinstance(role, str) and role.casefold() in AGENTS else spoken.actor


_QUESTION_MARKS: Final = ("?", "？", "؟", ";?")


@dataclass(frozen=True, slots=True)
class Turn:
    """The observations of one turn, in seq order; never empty.

    What precedes the first user message of a thread is a turn without a question (`opened` is False) and
    is not counted.
    """

    observations: tuple[Observation, ...]

    @property
    def opened(self) -> bool:
        """Tell whether a user message opens it."""
        return opens_turn(self.observations[0])

    @property
    def first_seq(self) -> int:
        """Return where it begins in its thread."""
        return self.observations[0].seq

    @property
    def last_seq(self) -> int:
        """Return where it ends in its thread."""
        return self.observations[-1].seq


@dataclass(frozen=True, slots=True)
class Pair:
    """What was asked or told, and the answer, with where they stand in their thread; "" is no answer."""

    question: str
    answer: str
    first_seq: int
    last_seq: int
    asks: bool


class Spoken(Attributed, Protocol):
    """Whatever was said or done: an observation, or an item on its way to become one."""

    @property
    def kind(self) -> Kind:
        """Return what it is."""
        ...


def is_reply(observation: Spoken) -> bool:
    """Tell whether the agent said or did this: an assistant's message, a tool call or result, a step.

    An assistant may have a name beside its role. Every other speaker counts as a user, so that in a chat
    between people each message opens a turn.
    """
    return observation.kind is not Kind.MESSAGE or role_of(observation).casefold() in AGENTS


def opens_turn(observation: Spoken) -> bool:
    """Tell whether an observation opens a turn."""
    return not is_reply(observation)


def turn_count(observations: Iterable[Spoken], before: int = 0) -> int:
    """Count turns; `before` is the count so far, so that a thread's number grows with what is added.

    Counting in pieces gives the same number as counting at once.
    """
    return before + sum(map(opens_turn, observations))


def turns(observations: Iterable[Observation]) -> Iterator[Turn]:
    """Cut observations, in seq order, into turns; together they hold every one of them."""
    waiting: list[Observation] = []
    for observation in observations:
        if waiting and opens_turn(observation):
            yield Turn(tuple(waiting))
            waiting = []
        waiting.append(observation)
    if waiting:
        yield Turn(tuple(waiting))


def pairs(turns: Sequence[Turn]) -> list[Pair]:
    """Return the question-answer pairs of turns, in order; of what nobody answered only questions.

    The answer is the last thing the agent said in the turn: before it stand "let me look" and tools. Between
    people a question's answer is what another speaker says next.
    """
    following = [*turns[1:], None]
    return [
        pair
        for turn, after in zip(turns, following, strict=False)
        if (pair := _pair(turn, after)) is not None
    ]


def _pair(turn: Turn, after: Turn | None) -> Pair | None:
    first = turn.observations[0]
    if not turn.opened or not first.text.strip():
        return None
    asks = first.text.rstrip("\"'”’)» ").endswith(_QUESTION_MARKS)
    answer = next((o for o in reversed(turn.observations[1:]) if _speaks(o)), None)
    if answer is None and asks and after is not None and after.observations[0].actor != first.actor:
        answer = after.observations[0] if _speaks(after.observations[0]) else None
    if answer is None and not asks:
        return None
    last = turn.last_seq if answer is None else max(turn.last_seq, answer.seq)
    return Pair(first.text, answer.text if answer is not None else "", turn.first_seq, last, asks)


def _speaks(observation: Observation) -> bool:
    return observation.kind is Kind.MESSAGE and bool(observation.text.strip())
