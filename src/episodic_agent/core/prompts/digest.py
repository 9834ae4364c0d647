"""One reading of finished conversations: where their subject changes, what is kept of each part, what lasts.

Titles, summaries and facts rest on the same words. Asked together they are read once, at a third of the calls
and less than half of the tokens; and who has read the whole can tell best where another subject begins. Each
part of an answer is checked as where it is asked alone (`episode`, `facts`), and what cannot be used is left
out: the rest holds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from episodic_agent.core.prompts import FACTS, lasting
from episodic_agent.core.prompts import episode as telling
from episodic_agent.core.prompts import facts as stating
from episodic_agent.core.prompts.lenient import STRING, STRINGS, closed, one_of
from episodic_agent.core.prompts.quoting import DATA, Aliases, earlier_lines, lines_of, named
from episodic_agent.errors import BadReply
from episodic_agent.schemas import Json, Observation
from episodic_agent.schemas.facts import Fact

VERSION: Final = "digest-4"
STAGE: Final = FACTS

_DESCRIBED = closed(
    {
        "begins": STRING,
        "ends": STRING,
        "title": STRING,
        "summary": STRING,
        "tags": STRINGS,
        "outcome": one_of(telling.OUTCOMES),
    }
)
SCHEMA = closed({"parts": {"type": "array", "items": _DESCRIBED}, "facts": stating.GATHERED})

_INSTRUCTIONS: Final = """\
You keep the memory of {owner}. Below stand known facts, and finished
conversations in the order of time. Write in their language, and only what was said: no guess, no name or
number that does not stand there.
parts: what was said, divided by subject; a conversation has one, or a few. A part begins where somebody turns
to another matter, not with answers, details, thanks, or a digression that comes back.
begins, ends: its first and last message, both in one conversation. Every message is in a part.
title: what {name} would want to find later, at most 70 characters: the matter and the names that count.
summary: one to four sentences, third person: who said, asked, decided or did what, by the names in the
headers, names and numbers exactly as said. What an assistant said, or somebody pasted, is theirs ("the
assistant advised", "the mail says"). Relative times get their date: last month (July 2023).
tags: 3 to 5 subjects in lower case. outcome: how the matter stood at the end.
facts: what is not known yet and will matter for weeks or years, about {name}, the people around them, their
things, projects, places and arrangements.
{worth}{each}{none}{data}"""


@dataclass(frozen=True, slots=True)
class Finished:
    """A conversation as the question shows it: what was said in it, in order, and the messages before it."""

    observations: Sequence[Observation]
    earlier: Sequence[Observation] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """What was said on one subject, as a model divided a conversation, and what it keeps of that.

    `words` None: of what was said there is nothing to tell.
    """

    observations: Sequence[Observation]
    words: telling.EpisodeWords | None = None


@dataclass(frozen=True, slots=True)
class Digest:
    """What an answer holds: the parts in the order of what was said, and the facts."""

    parts: Sequence[Part] = ()
    facts: stating.Reconciled = field(default_factory=stating.Reconciled)


def prompt(owner: stating.Owner, known: Sequence[Fact], conversations: Sequence[Finished]) -> str:
    """Return the question about finished conversations, in the order of time.

    Messages stand under aliases m1, m2, … over all conversations, facts under F1, F2, …; long messages are
    shortened. `known` are at most `facts.MOST_BEARING`.
    """
    observations = [o for one in conversations for o in one.observations]
    limit, first = stating.limit_of(observations), 1
    shown: list[str] = []
    for conversation in conversations:
        shown += [_heading(conversation), *earlier_lines(conversation.earlier)]
        shown += lines_of(conversation.observations, limit, first)
        first += len(conversation.observations)
    name = next((name for name in owner.names), owner.subject)
    return "\n".join(
        [
            _INSTRUCTIONS.format(
                owner=owner.introduced.removeprefix("its owner "),
                name=named(name),
                worth=lasting.WORTH,
                each=lasting.EACH.format(subject=named(owner.subject)),
                none=lasting.NONE,
                data=DATA,
            ),
            *stating.known_lines(known),
            *shown,
            "What does the memory keep?",
        ]
    )


def _heading(conversation: Finished) -> str:
    channels = dict.fromkeys(o.channel for o in conversation.observations if o.channel)
    return " · ".join(["Conversation", *(named(channel) for channel in channels)])


def read(
    value: Mapping[str, Json],
    known: Sequence[Fact],
    conversations: Sequence[Finished],
    owner: stating.Owner,
) -> Digest:
    """Return what an answer holds of parts and facts; raises BadReply where it has neither list."""
    entries, facts = value.get("parts"), value.get("facts")
    if not isinstance(entries, list) and not isinstance(facts, list):
        raise BadReply("there must be a list of parts, and one of facts")
    observations = [o for one in conversations for o in one.observations]
    stated = stating.Reconciled()
    if isinstance(facts, list):
        stated = stating.read_gathered(value, known, observations, owner)
    return Digest(_parts(entries if isinstance(entries, list) else [], conversations), stated)


def _parts(entries: Sequence[Json], conversations: Sequence[Finished]) -> list[Part]:
    """Return the parts of an answer, each within one conversation, in order, none over another.

    One whose first message is not known is left out. Where the last one is not known, or lies in what
    follows, a part reaches to the next one, or to the end of its conversation.
    """
    observations = [o for one in conversations for o in one.observations]
    ends = [n for n, one in enumerate(conversations) for _ in one.observations]
    limits = {n: place for place, n in enumerate(ends)}  # of each conversation: where its last message stands
    aliases = Aliases(list(range(len(observations))), "m")
    begun: dict[int, Mapping[str, Json]] = {}
    for entry in entries:
        if isinstance(entry, Mapping):
            first, _ = aliases.sort_out([entry.get("begins")])
            if first:
                begun.setdefault(first[0], entry)
    parts = []
    for start, following in pairwise([*sorted(begun), len(observations)]):
        last, _ = aliases.sort_out([begun[start].get("ends")])
        most = min(following - 1, limits[ends[start]])
        end = min(last[0], most) if last and last[0] >= start else most
        parts.append(Part(observations[start : end + 1], _words(begun[start])))
    return parts


def _words(entry: Mapping[str, Json]) -> telling.EpisodeWords | None:
    try:
        return telling.read(entry)
    except BadReply:
        return None
