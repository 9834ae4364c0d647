"""The table of tools: what each is called, takes, answers and does. Nothing names a user: no model may."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from episodic_agent.core.chaining import Told, replay_text
from episodic_agent.core.chaining.sequences import GAP
from episodic_agent.core.intake import read_time
from episodic_agent.engine.memory import Memory
from episodic_agent.engine.results import EpisodeCard, FactHit, Hit
from episodic_agent.engine.sequences import Sequenced, told_sequence
from episodic_agent.errors import InvalidInput
from episodic_agent.faces.tools.answers import Found, Item
from episodic_agent.faces.tools.schemas import Schema, arguments, count, recalled, shape, text
from episodic_agent.schemas import Observation

Given = Mapping[str, Any]
FEW_FACTS: Final = 5
MOST_OF_THREAD: Final = 100
EPISODE: Final = shape(episode_id="string", title="string", summary="string", start="string", end="string")


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. `reads`: it changes nothing; `idempotent`: once more changes nothing more."""

    name: str
    title: str
    description: str
    takes: Schema
    answers: Schema
    run: Callable[[Memory, str | None, Given], Found]
    reads: bool = True
    idempotent: bool = True
    destroys: bool = False


def _add(memory: Memory, user: str | None, given: Given) -> Found:
    receipts = memory.add(
        given["content"],
        user_id=user,
        role=given["role"],
        thread=given.get("thread"),
        timestamp=given.get("timestamp"),
        id=given.get("id"),
        wait=False,  # titles and summaries come later; it is searchable now
    )
    data = {"observation_id": str(receipts[0].id), "thread_id": str(receipts[0].thread_id)}
    return Found(f"remembered as {data['observation_id']}", "", (), data, recalled=False)


def _search(memory: Memory, user: str | None, given: Given) -> Found:
    found = memory.search(
        given["query"],
        user_id=user,
        limit=given["limit"],
        facts=FEW_FACTS,
        thread=given.get("thread"),
        since=_time(given, "since"),
        until=_time(given, "until"),
        where=given.get("where"),
    )
    hits = () if found.abstained else found.hits
    items = [*map(_fact, found.facts), *map(_hit, hits)]
    head = f"{len(items)} found:" if items else "nothing relevant is remembered"
    return Found(head, "found", items, {"confidence": found.confidence})


def _fact(found: FactHit) -> Item:
    since = f"{found.fact.valid_at:%Y-%m-%d}"
    data: dict[str, Any] = {
        "kind": "fact",
        "title": found.fact.fact,
        "start": since,
        "episode_id": None,
        "messages": [],
    }
    return Item(f"- fact since {since}: {found.fact.fact}", data)


def _hit(hit: Hit) -> Item:
    said = [f"{e.observation.actor}: {e.observation.text}" for e in hit.evidence]
    start = f"{hit.start_at:%Y-%m-%d %H:%M}"
    data = {
        "kind": "episode",
        "title": hit.title,
        "start": hit.start_at.isoformat(),
        "episode_id": str(hit.episode_id),
        "messages": said,
    }
    lines = [f"- [{start}] {hit.title} (episode {hit.episode_id})", *(f"  {line}" for line in said)]
    return Item("\n".join(lines), data)


def _recent(memory: Memory, user: str | None, given: Given) -> Found:
    cards = memory.recent(user_id=user, limit=given["limit"], days=given.get("days"))
    head = "the newest first:" if cards else "nothing is remembered"
    return Found(head, "episodes", list(map(_card, cards)))


def _card(card: EpisodeCard) -> Item:
    data = {
        "episode_id": str(card.episode_id),
        "title": card.title,
        "summary": card.summary,
        "start": card.start_at.isoformat(),
        "end": card.end_at.isoformat(),
    }
    told = f": {card.summary}" if card.summary else ""
    return Item(f"- [{card.start_at:%Y-%m-%d %H:%M}] {card.title}{told} (episode {card.episode_id})", data)


def _context(memory: Memory, user: str | None, given: Given) -> Found:
    found = memory.context(
        given["message"], user_id=user, thread=given.get("thread"), max_tokens=given["max_tokens"]
    )
    lines = [Item("", {"text": line.text, "thread": line.thread}) for line in found.items]
    text_ = found.text.strip() or "nothing that came before bears on this"
    data = {"tokens": found.tokens, "lines": [line.data for line in lines]}
    return Found(text_, "", (), data)


def _replay(memory: Memory, user: str | None, given: Given) -> Found:
    found = memory.get_episode_sequence(
        given["topic"],
        given["limit"],
        order=given["order"],
        since=_time(given, "since"),
        until=_time(given, "until"),
        where=given.get("where"),
        user_id=user,
    )
    story = told_sequence(found)
    listed = {one.id for one in story}
    items = [
        Item(_lines(given["topic"], one, gap=one.parent not in listed), _told(data))
        for one, data in zip(story, found, strict=True)
    ]
    head = replay_text(given["topic"], story).partition("\n")[0]
    return Found(head + "\n" * bool(items), "episodes", items)


def _lines(topic: str, one: Told, *, gap: bool) -> str:
    """Return an episode as a replay of several tells it."""
    told = replay_text(topic, [one]).partition("\n\n")[2]
    return told if gap else told.removeprefix(f"{GAP}\n")


def _told(one: Sequenced) -> Mapping[str, Any]:
    return {
        "episode_id": str(one.episode_id),
        "title": one.title,
        "summary": one.summary,
        "start": one.start_at.isoformat(),
        "end": one.end_at.isoformat(),
        "relevance": one.relevance,
        "continues": None if one.parent_episode_id is None else str(one.parent_episode_id),
        "outcome": one.metadata.outcome,
    }


def _threads(memory: Memory, user: str | None, given: Given) -> Found:
    items = []
    for thread in memory.threads(user_id=user)[: given["limit"]]:
        name, title, last = thread.origin, thread.title, thread.last_activity_at
        data = {"name": name, "title": title, "last": last.isoformat(), "status": thread.status}
        items.append(Item(f"- {name}: {title or 'untitled'}, last {last:%Y-%m-%d %H:%M}", data))
    return Found("threads, the latest first:" if items else "there are no threads", "threads", items)


def thread_found(memory: Memory, user: str | None, name: str) -> Found:
    """Return the newest episodes of a thread, earliest first."""
    cards = memory.episodes(user_id=user, thread=name, limit=MOST_OF_THREAD)
    return Found(f"{name}:", "episodes", list(map(_card, [c for c in cards if not c.hidden])))


def _explain(memory: Memory, user: str | None, given: Given) -> Found:
    told = memory.explain(given["episode_id"], user_id=user)
    said = memory.messages(told.episode.id, user_id=user)
    data = {
        "episode_id": str(told.episode.id),
        "title": told.episode.title,
        "begins": told.begins.sentence,
        "ends": told.ends.sentence,
    }
    head = f"{data['title']}\nbegins: {data['begins']}\nends: {data['ends']}\nwhat was said:"
    return Found(head, "messages", list(map(_message, said)), data)


def _message(said: Observation) -> Item:
    data = {"id": str(said.id), "actor": said.actor, "text": said.text}
    return Item(f"- [{said.at:%Y-%m-%d %H:%M}] {said.actor}: {said.text}", data)


def _forget(memory: Memory, user: str | None, given: Given) -> Found:
    named = {
        "episode": given.get("episode_id"),
        "observation": given.get("observation_id"),
        "thread": given.get("thread"),
    }
    what = {key: value for key, value in named.items() if value is not None}
    if len(what) != 1:
        raise InvalidInput("forget_memory: name one of episode_id, observation_id and thread")
    confirmed = given["confirm"]
    done = memory.forget(**what, user_id=user, dry_run=not confirmed)
    ((kind, name),) = what.items()
    counted = ", ".join(f"{n} {key}" for key, n in done.counts.items()) or "nothing"
    if confirmed:
        told = f"{kind} {name} is erased for good: {counted}"
    else:
        told = f"{kind} {name} would be erased: {counted}. Nothing is erased yet; confirm=true does it"
    data = {"erased": confirmed, "counts": dict(done.counts), "receipt": str(done.id) if confirmed else None}
    return Found(told, "", (), data, recalled=False)


def _time(given: Given, name: str) -> Any:
    return read_time(given[name]).at if name in given else None


_SINCE: Final = text("Only from this time on (event time), such as 2026-03-01.")
_UNTIL: Final = text("Only before this time.")
_WHERE: Final = text("A filter by metadata, such as tool=bash tag=debugging outcome=failure.", minLength=1)
_THREAD: Final = text("Only this thread, by its name.", minLength=1)

TOOLS: Final = (
    Tool(
        "add_memory",
        "Remember a message",
        "Keep one message of the conversation word for word. It is searchable at once. "
        "With an id of your own the same message again adds nothing.",
        arguments(
            ("content",),
            content=text("What was said, word for word.", minLength=1),
            role=text("Who said it.", enum=["user", "assistant"], default="user"),
            thread=text("The thread it belongs to; left out, the one that fits.", minLength=1),
            timestamp=text("When it was said; now unless given."),
            id=text("Your own id of the message.", minLength=1),
        ),
        {
            "type": "object",
            "properties": {"observation_id": {"type": "string"}, "thread_id": {"type": "string"}},
            "required": ["observation_id", "thread_id"],
        },
        _add,
        reads=False,
        idempotent=False,
    ),
    Tool(
        "search_memory",
        "Search the memory",
        "Find the facts and past episodes that answer a question, with the messages that prove them.",
        arguments(
            ("query",),
            query=text("The question, in plain words.", minLength=1),
            limit=count("How many episodes at most.", 5, 50),
            thread=_THREAD,
            since=_SINCE,
            until=_UNTIL,
            where=_WHERE,
        ),
        recalled(
            "found",
            {
                "type": "object",
                "properties": {
                    "kind": {"enum": ["fact", "episode"]},
                    "title": {"type": "string"},
                    "start": {"type": "string"},
                    "episode_id": {"type": ["string", "null"]},
                    "messages": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["kind", "title", "start", "episode_id", "messages"],
            },
            confidence={"type": "number"},
        ),
        _search,
    ),
    Tool(
        "recent_memory",
        "The newest episodes",
        "List what happened last, newest first, what is still going on included.",
        arguments(
            limit=count("How many episodes at most.", 10, 100),
            days={
                "type": "number",
                "description": "Only the last so many days.",
                "minimum": 0,
                "maximum": 100_000,
            },
        ),
        recalled("episodes", EPISODE),
        _recent,
    ),
    Tool(
        "get_context",
        "What to know before answering",
        "Return what of the past bears on a message that is about to be answered. It stores nothing.",
        arguments(
            ("message",),
            message=text("The message that is about to be answered.", minLength=1),
            thread=text("The thread it is said in, by its name.", minLength=1),
            max_tokens=count("How long the context may be, in tokens.", 800, 20_000),
        ),
        recalled(
            tokens={"type": "integer"},
            lines={"type": "array", "items": shape(text="string", thread="string")},
        ),
        _context,
    ),
    Tool(
        "replay_topic",
        "Tell the story of a topic",
        "Tell the episodes of a topic in the order of time: what happened, and how it went on.",
        arguments(
            ("topic",),
            topic=text("The topic; empty: whatever was last."),
            limit=count("How many episodes at most.", 5, 50),
            order=text("The most relevant, or the newest.", enum=["relevant", "recent"], default="relevant"),
            since=_SINCE,
            until=_UNTIL,
            where=_WHERE,
        ),
        recalled(
            "episodes",
            shape(
                episode_id="string",
                title="string",
                summary="string",
                start="string",
                end="string",
                relevance="number",
                continues="string?",
                outcome="string",
            ),
        ),
        _replay,
    ),
    Tool(
        "list_threads",
        "The threads there are",
        "List conversations by last activity; their names narrow other tools.",
        arguments(limit=count("How many threads at most.", 10, 100)),
        recalled("threads", shape(name="string", title="string?", last="string", status="string")),
        _threads,
    ),
    Tool(
        "explain_memory",
        "One episode in full",
        "Show an episode's messages, and why it begins and ends where it does.",
        arguments(("episode_id",), episode_id=text("The episode's id, as other tools give it.", minLength=1)),
        recalled(
            "messages",
            shape(id="string", actor="string", text="string"),
            episode_id={"type": "string"},
            title={"type": "string"},
            begins={"type": "string"},
            ends={"type": "string"},
        ),
        _explain,
    ),
    Tool(
        "forget_memory",
        "Erase something for good",
        "Erase an episode, one message or a thread for good, when the user asks for it. "
        "Without confirm=true it only tells what would go.",
        arguments(
            episode_id=text("The episode to erase, with all of its messages.", minLength=1),
            observation_id=text("The message to erase.", minLength=1),
            thread=text("The thread to erase, by its name.", minLength=1),
            confirm={
                "type": "boolean",
                "description": "Erase it; otherwise nothing is changed.",
                "default": False,
            },
        ),
        {
            "type": "object",
            "properties": {
                "erased": {"type": "boolean"},
                "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
                "receipt": {"type": ["string", "null"]},
            },
            "required": ["erased", "counts", "receipt"],
        },
        _forget,
        reads=False,
        idempotent=True,
        destroys=True,
    ),
)
BY_NAME: Final[Mapping[str, Tool]] = {tool.name: tool for tool in TOOLS}
