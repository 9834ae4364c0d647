"""One reading of some finished conversations: what each is called, what is kept of it, what lasts of it.

Titles, summaries and facts rest on the same words. Asked together they are read once, at a third of the calls
and less than half of the tokens. Each part of an answer is checked as where it is asked alone (`episode`,
`facts`), and a part that cannot be used is left out: the others hold.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from episodic_agent.core.prompts import FACTS
from episodic_agent.core.prompts import episode as telling
from episodic_agent.core.prompts import facts as stating
from episodic_agent.core.prompts.quoting import DATA, Aliases, header, lines_of, named
from episodic_agent.errors import BadReply
from episodic_agent.schemas import Json, Observation
from episodic_agent.schemas.facts import Fact

VERSION: Final = "digest-1"
STAGE: Final = FACTS
LONGEST_BEFORE: Final = 120  # characters of the message before a conversation

_DESCRIBED: Mapping[str, Json] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["conversation", "title", "summary", "tags", "outcome"],
    "properties": {
        "conversation": {"type": "string"},
        "title": {"type": "string"},
        "summary": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "outcome": {"type": "string", "enum": list(telling.OUTCOMES)},
    },
}
SCHEMA: Mapping[str, Json] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["conversations", "facts"],
    "properties": {
        "conversations": {"type": "array", "items": _DESCRIBED},
        "facts": stating.GATHERED_SCHEMA["properties"]["facts"],  # type: ignore[index, call-overload]
    },
}

_INSTRUCTIONS: Final = """\
You keep the memory of {owner}. Below stand finished conversations in the order
of time, and known facts that bear on them. Write in the language of the conversation.
conversations: one entry for each of {names}: what would {name} want to find later?
title: at most 70 characters: the matter and the names that count, not the kind of talk.
summary: one to four sentences in the third person: who said, asked, decided or did what, each by the name in
the header, with names and numbers exactly as they were said. What an assistant said is theirs ("the assistant
advised ..."), and so is what somebody pasted ("the mail says ..."). Relative times get their date in
brackets: last month (July 2023).
tags: 3 to 5 subjects in lower case. outcome: how the matter stood at the end.
facts: what will still matter next month and is not known yet, about {name}, the people around them, their
things, projects, places and arrangements: who somebody is to whom; what they like, can, own, must not eat or
do; how projects, machines and homes are named, set up or decided; prices, terms, regular times; appointments
and firm plans; standing wishes to the assistant. One fact is one sentence that is clear by itself, with names
instead of pronouns.
message and quote: the alias of a message, and words of it that prove the fact, copied letter by letter.
action: "new"; "reinforce" a known fact said again; "update" one whose value changed; "invalidate" one that no
longer holds. known: its alias, null for a new one; at most one action each.
subject: whom or what it is about, by name; {subject} for the owner of the memory, whatever they are called.
value: the part of the sentence that could change. holds: false for what is said not to be so.
since: the day from which it is so; on: the day of an event or appointment; YYYY-MM-DD, null where not told.
No facts are questions, hypotheticals, jokes, play, tasks of the moment, moods, what passes within days,
hearsay about strangers, and what only an assistant says. An empty list is a good answer.
Write only what was said: no guess, no name and no number that does not stand there.
{data}"""


@dataclass(frozen=True, slots=True)
class Finished:
    """A conversation as the question shows it: what was said in it, in order, and the message before it.

    `asked` says whether its words are asked for: of little that was said there is nothing to tell.
    """

    observations: Sequence[Observation]
    before: Observation | None = None
    asked: bool = True


@dataclass(frozen=True, slots=True)
class Digest:
    """What an answer holds: words by the number of the conversation, from 0, and its facts."""

    words: Mapping[int, telling.EpisodeWords] = field(default_factory=dict)
    facts: stating.Reconciled = field(default_factory=stating.Reconciled)


def prompt(owner: stating.Owner, known: Sequence[Fact], conversations: Sequence[Finished]) -> str:
    """Return the question about finished conversations, in the order of time.

    Conversations stand under aliases C1, C2, …, messages under m1, m2, … over all of them, facts under F1,
    F2, …; long messages are shortened. `known` are at most `facts.MOST_BEARING`.
    """
    observations = [o for one in conversations for o in one.observations]
    lines = iter(lines_of(observations, stating.limit_of(observations)))
    shown: list[str] = []
    for number, conversation in enumerate(conversations, 1):
        shown.append(_heading(number, conversation))
        shown += [next(lines) for _ in conversation.observations]
    names = [f"C{n}" for n, one in enumerate(conversations, 1) if one.asked]
    name = next((name for name in owner.names), owner.subject)
    return "\n".join(
        [
            _INSTRUCTIONS.format(
                owner=owner.introduced.removeprefix("its owner "),
                name=named(name),
                subject=named(owner.subject),
                names=", ".join(names) or "none of them (an empty list)",
                data=DATA,
            ),
            *stating.known_lines(known),
            *shown,
            "What does the memory keep?",
        ]
    )


def _heading(number: int, conversation: Finished) -> str:
    channels = dict.fromkeys(o.channel for o in conversation.observations if o.channel)
    parts = [f"Conversation C{number}", *(named(channel) for channel in channels)]
    before = conversation.before
    if before is not None and before.text.strip():
        spoken = named(before.text, LONGEST_BEFORE)
        parts.append(f"before it {header(before, '').removeprefix(' · ')}: {spoken}")
    return " · ".join(parts)


def read(
    value: Mapping[str, Json],
    known: Sequence[Fact],
    conversations: Sequence[Finished],
    owner: stating.Owner,
) -> Digest:
    """Return what an answer holds of words and facts; raises BadReply where it has neither list.

    An entry whose conversation is not known, or that has no summary, is left out.
    """
    entries, facts = value.get("conversations"), value.get("facts")
    if not isinstance(entries, list) and not isinstance(facts, list):
        raise BadReply("there must be a list of conversations, and one of facts")
    observations = [o for one in conversations for o in one.observations]
    stated = stating.Reconciled()
    if isinstance(facts, list):
        stated = stating.read_gathered(value, known, observations, owner)
    return Digest(_words(entries if isinstance(entries, list) else [], conversations), stated)


def _words(entries: Sequence[Json], conversations: Sequence[Finished]) -> dict[int, telling.EpisodeWords]:
    aliases = Aliases(list(range(len(conversations))), "C")
    words: dict[int, telling.EpisodeWords] = {}
    for entry in entries:
        if not isinstance(entry, Mapping):
            continue
        numbers, _ = aliases.sort_out([entry.get("conversation")])
        try:
            if numbers and conversations[numbers[0]].asked:
                words.setdefault(numbers[0], telling.read(entry))
        except BadReply:
            continue
    return words
