"""The table of tools: what each is called, takes, answers and does. Nothing names a user: no model may.

What is shown of each thing is in `faces/shapes`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from episodic_agent.core.chains.metadata import OUTCOMES
from episodic_agent.core.chains.sequences import GAP, ReplayedEpisode, replay_text, story_ends
from episodic_agent.core.context.quoting import shown_name
from episodic_agent.core.echo import marked
from episodic_agent.core.ingest import read_time
from episodic_agent.engine.chains.sequences import replay, story_of
from episodic_agent.engine.lived import as_lived
from episodic_agent.engine.results import NO_PROJECT, EpisodeCard, Recall
from episodic_agent.engine.threads.sessions import Session
from episodic_agent.engine.user import UserMemory
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.faces.finding import episode_id
from episodic_agent.faces.shapes import (
    AnswerItem,
    commitment_item,
    episode_item,
    explanation_item,
    fact_card_item,
    fact_item,
    facts_as_lived,
    hit_item,
    message_item,
    sequenced_data,
    session_data,
    thread_item,
)
from episodic_agent.faces.tools.answers import ToolResult, for_agents
from episodic_agent.faces.tools.schemas import Schema, arguments, count, names, recalled, shape, text, texts
from episodic_agent.faces.wording import erased_words
from episodic_agent.schemas.facts import Category
from episodic_agent.schemas.observations import ERASED, OPEN

Arguments = Mapping[str, Any]
Answered = TypeVar("Answered")
FEW_FACTS: Final = 5
MOST_OF_THREAD: Final = 100
CATEGORIES: Final = tuple(one.value for one in Category)
SESSION: Final = shape(
    session_id="string", thread="string", state="string", continues="string?", outcome="string?"
)
EPISODE: Final = shape(episode_id="string", title="string", summary="string", start="string", end="string")


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. `reads`: it changes nothing; `idempotent`: once more changes nothing more."""

    name: str
    title: str
    description: str
    takes: Schema
    answers: Schema
    run: Callable[[UserMemory, Arguments], ToolResult]
    reads: bool = True
    idempotent: bool = True
    destroys: bool = False


def _add(memory: UserMemory, value: Arguments) -> ToolResult:
    receipts = memory.add(
        value["content"],
        role=value["role"],
        thread=_thread(memory, value),
        timestamp=value.get("timestamp"),
        id=value.get("id"),
        wait=False,  # titles and summaries come later; it is searchable now
    )
    receipt = receipts[0]
    data = {
        "observation_id": str(receipt.id),
        "thread_id": str(receipt.thread_id),
        "added": receipt.added,
        "state": receipt.state,
    }
    if receipt.state == ERASED:
        answer = "not kept: this message was erased, and stays so; a new id keeps it"
    elif receipt.added:
        answer = f"remembered as {receipt.id}"
    else:
        answer = f"remembered before as {receipt.id}; nothing was added"
    return ToolResult(answer, "", (), data, recalled=False)


def _search(memory: UserMemory, value: Arguments) -> ToolResult:
    def search(thread: str | None) -> Recall:
        return memory.search(
            value["query"],
            limit=value["limit"],
            facts=FEW_FACTS,
            thread=thread,
            since=_time(value, "since"),
            until=_time(value, "until"),
            speaker=value.get("speaker"),
            where=value.get("where"),
            project=value.get("project"),
            only=value.get("only"),
        )

    recall = _in_thread(memory, value.get("thread"), search)
    spoken = [one.observation for one in recall.observations]
    items = [*map(commitment_item, recall.commitments), *(fact_item(one, spoken) for one in recall.facts)]
    items += [hit_item(hit, recall.query) for hit in recall.hits]
    head = f"{len(items)} found:" if items else "nothing relevant is remembered"
    head = "\n".join([*_of_no_project(recall.notes), head])
    return ToolResult(head, "found", items, {"confidence": recall.confidence})


def _in_thread(memory: UserMemory, name: str | None, act: Callable[[str | None], Answered]) -> Answered:
    """Do something in the thread of a name; where there is none, in the one that is shown by that name."""
    try:
        return act(name)
    except NotFound:
        origin = None if name is None else _thread_shown_as(memory, name)
        if origin is None:
            raise
        return act(origin)


def _thread(memory: UserMemory, value: Arguments) -> str | None:
    """Return the thread a call names; one that cannot be shown as it is is called by what is shown of it."""
    name: str | None = value.get("thread")
    if name is None:
        return None
    try:
        memory.threads.get(name)
    except NotFound:
        return _thread_shown_as(memory, name) or name
    return name


def _thread_shown_as(memory: UserMemory, name: str) -> str | None:
    try:
        origins = [thread.origin for thread in memory.threads.list()]
    except NotFound:  # nobody yet
        return None
    return next((origin for origin in origins if shown_name(origin) == name), None)


def _recent(memory: UserMemory, value: Arguments) -> ToolResult:
    cards = memory.episodes.recent(
        limit=value["limit"],
        days=value.get("days"),
        where=value.get("where"),
        project=value.get("project"),
    )
    head = "the newest first:" if cards else "nothing is remembered"
    return ToolResult(head, "episodes", list(map(episode_item, as_lived(memory, cards))))


def _context(memory: UserMemory, value: Arguments) -> ToolResult:
    context = memory.context(
        value["message"],
        thread=_thread(memory, value),
        max_tokens=value["max_tokens"],
        project=value.get("project"),
        only=value.get("only"),
    )
    lines = [AnswerItem("", {"text": line.text, "thread": shown_name(line.thread)}) for line in context.items]
    # the question below the last of them was not recalled: between the marks it would not be stored
    below = max((line.line + 1 for line in context.items), default=0)
    text_ = "\n".join(context.text.split("\n")[:below]).strip() or "\n".join(
        ("nothing that came before bears on this", *map(for_agents, context.notes))
    )
    if context.items:
        text_ = "\n".join([*_of_no_project(context.notes), text_])
    data = {"tokens": context.tokens, "lines": [line.data for line in lines]}
    return ToolResult(text_, "", (), data)


def _of_no_project(notes: Sequence[str]) -> list[str]:
    """Return the notes that say of a named project that nothing is known of it."""
    return [for_agents(note) for note in notes if note.startswith(NO_PROJECT)]


def _replay(memory: UserMemory, value: Arguments) -> ToolResult:
    sequence = story_of(
        memory.chains.sequence,
        value["topic"],
        value["limit"],
        order=value["order"],
        since=_time(value, "since"),
        until=_time(value, "until"),
        where=value.get("where"),
        project=value.get("project"),
    )
    story = replay(as_lived(memory, sequence))
    listed = {one.id for one in story}
    items = [
        AnswerItem(_lines(value["topic"], one, gap=one.parent not in listed), sequenced_data(data))
        for one, data in zip(story, sequence, strict=True)
    ]
    head = replay_text(value["topic"], story).partition("\n")[0]
    head += "" if story else "; search_memory finds single messages and facts"
    below = [line for line in story_ends(sequence.left_out, sequence.ending) if line]
    return ToolResult("\n".join([head, *below]) + "\n" * bool(items), "episodes", items)


def _lines(topic: str, episode: ReplayedEpisode, *, gap: bool) -> str:
    """Return an episode as a replay of several tells it."""
    answer = replay_text(topic, [episode]).partition("\n\n")[2]
    return answer if gap else answer.removeprefix(f"{GAP}\n")


def _threads(memory: UserMemory, value: Arguments) -> ToolResult:
    items = list(map(thread_item, as_lived(memory, memory.threads.list(limit=value["limit"]))))
    return ToolResult("threads, the latest first:" if items else "there are no threads", "threads", items)


def resolved_thread(memory: UserMemory, name: str) -> ToolResult:
    """Return the newest episodes of a thread, earliest first."""

    def episodes(thread: str | None) -> Sequence[EpisodeCard]:
        return memory.episodes.list(thread=thread, limit=MOST_OF_THREAD)

    cards = as_lived(memory, _in_thread(memory, name, episodes))
    return ToolResult(f"{shown_name(name)}:", "episodes", [episode_item(c) for c in cards if not c.hidden])


def _start_session(memory: UserMemory, value: Arguments) -> ToolResult:
    started = memory.sessions.start(
        value["topic"],
        parent_episode_id=value.get("continues"),
        thread=_thread(memory, value),
        channel=value.get("channel"),
        key=value.get("key"),
        agent_id=value.get("agent"),
        participants=value["participants"],
        tools=value["tools"],
        timestamp=value.get("timestamp"),
    )
    data = session_data(started)
    speak = f"add_memory with thread={data['thread']!r} until end_session"
    head = f"session {started.id} is {started.state}; {speak}"
    return ToolResult(head + _goes_on_from(memory, started), "", (), data, recalled=False)


def _goes_on_from(memory: UserMemory, started: Session) -> str:
    """Return from which session one goes on, and what that was, marked as recalled."""
    parent = started.parent_episode_id
    if parent is None:
        return "; it goes on from no other session"
    try:
        (card,) = as_lived(memory, [memory.episodes.card(parent)])
    except NotFound:  # erased since the session of this key began
        return ""
    before = "" if card.hidden else f":\n{marked(episode_item(card).text)}"
    return f"; it goes on from session {parent}{before}"


def _end_session(memory: UserMemory, value: Arguments) -> ToolResult:
    ended = memory.sessions.end(
        value["session_id"],
        value.get("outcome"),
        value["decisions"],
        participants=value["participants"],
        tools=value["tools"],
        timestamp=value.get("timestamp"),
    )
    how = f", {ended.outcome}" if ended.outcome else ""
    head = f"session {ended.id} is {ended.state}{how}"
    return ToolResult(head, "", (), session_data(ended), recalled=False)


def _facts(memory: UserMemory, value: Arguments) -> ToolResult:
    cards = memory.facts.list(
        value.get("query"), category=value.get("category"), limit=value["limit"], project=value.get("project")
    )
    head = "what lasts of what was said:" if cards else "no facts are known of this"
    return ToolResult(head, "facts", list(map(fact_card_item, facts_as_lived(memory, cards))))


def _explain(memory: UserMemory, value: Arguments) -> ToolResult:
    explanation = memory.boundaries.explain(episode_id(value["episode_id"], memory))
    observations = memory.episodes.messages(explanation.episode.id)
    shown = explanation_item(explanation)
    return ToolResult(
        f"{shown.text}\nwhat was said:", "messages", list(map(message_item, observations)), shown.data
    )


def _erase(memory: UserMemory, supplied: Arguments) -> ToolResult:
    episode = supplied.get("episode_id")
    named: dict[str, Any] = {
        "episode": None if episode is None else str(episode_id(episode, memory)),
        "observation": supplied.get("observation_id"),
        "thread": _thread(memory, supplied),
        "speaker": supplied.get("speaker"),
        "words": supplied.get("words"),
    }
    what = {key: value for key, value in named.items() if value is not None}
    if len(what) != 1:
        raise InvalidInput("forget_memory: name one of episode_id, observation_id, thread, speaker and words")
    confirmed = supplied["confirm"]
    done = memory.erase(**what, dry_run=not confirmed)
    ((kind, name),) = ((kind, shown_name(name)) for kind, name in what.items())
    counted = erased_words(done.counts)
    if confirmed:
        waits = "" if done.is_done else f"; not cleaned up yet: {done.waits_for}"
        stays = f"; bytes may stay: {done.remains}" if done.remains else ""
        answer = f"{kind} {name} is erased: {counted}{waits}{stays}"
    else:
        answer = f"{kind} {name} would be erased: {counted}. Nothing is erased yet; confirm=true does it"
    data = {"erased": confirmed, "counts": dict(done.counts), "receipt": str(done.id) if confirmed else None}
    return ToolResult(answer, "", (), data, recalled=False)


def _time(value: Arguments, name: str) -> Any:
    return read_time(value[name]).at if name in value else None


_SINCE: Final = text("Only from this time on (event time), such as 2026-03-01.")
_UNTIL: Final = text("Only before this time.")
_WHERE: Final = text("A filter by metadata, such as tool=bash outcome=failure topic~billing.", minLength=1)
_PROJECT: Final = text(
    "The folder you work in: what was said in that of another project is left out.", minLength=1
)
_ONLY: Final = names(
    "Names of threads and channels, those that who asks may read: nothing said elsewhere is told."
)
_THREAD: Final = text("Only this thread, by its name.", minLength=1)

TOOLS: Final = (
    Tool(
        "add_memory",
        "Remember a message",
        "Keep one message of the conversation word for word. It is searchable at once. "
        "With an id of your own the same message again adds nothing; one that was erased is not kept again.",
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
            "properties": {
                "observation_id": {"type": "string"},
                "thread_id": {"type": "string"},
                "added": {"type": "boolean"},
                "state": {"type": "string", "enum": [OPEN, ERASED]},
            },
            "required": ["observation_id", "thread_id", "added", "state"],
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
            speaker=text("Only what this one said, by name.", minLength=1),
            where=_WHERE,
            project=_PROJECT,
            only=_ONLY,
        ),
        recalled(
            "found",
            {
                "type": "object",
                "properties": {
                    "kind": {"enum": ["commitment", "fact", "episode"]},
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
            where=_WHERE,
            project=_PROJECT,
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
            project=_PROJECT,
            only=_ONLY,
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
            project=_PROJECT,
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
        "start_session",
        "Begin a piece of work",
        "Begin a session about a topic; what is added to its thread belongs to it until end_session. It goes "
        "on from an earlier session that its topic leads to, if to any. A second start with the same key is "
        "the same session.",
        arguments(
            ("topic",),
            topic=text("What it is about, in some words; its title.", minLength=1),
            continues=text("The session it goes on from, by its id.", minLength=1),
            thread=text("A thread that runs already, by its name; else it gets one of its own.", minLength=1),
            channel=text("By which it comes; a folder is its project.", minLength=1),
            key=text("Your own name of the session.", minLength=1),
            agent=text("Which agent holds it; only its own sessions are gone on from.", minLength=1),
            participants=texts("Who takes part."),
            tools=texts("What is used."),
            timestamp=text("When it began; now unless given."),
        ),
        SESSION,
        _start_session,
        reads=False,
        idempotent=False,
    ),
    Tool(
        "end_session",
        "End a piece of work",
        "End a session and say how it came out. It is found by what is declared: outcome, decisions, "
        "participants, tools.",
        arguments(
            ("session_id",),
            session_id=text("The session, as start_session gives it.", minLength=1),
            outcome=text("How it came out.", enum=list(OUTCOMES)),
            decisions=texts("What was decided in it."),
            participants=texts("Who else took part."),
            tools=texts("What else was used."),
            timestamp=text("When it ended; now unless given."),
        ),
        SESSION,
        _end_session,
        reads=False,
    ),
    Tool(
        "get_facts",
        "What is known to hold",
        "List what lasts of what people said: who they are, what they prefer, plan, decided; those that bear "
        "on a query, or the newest.",
        arguments(
            query=text("What they are to bear on, in plain words.", minLength=1),
            category=text("Only those of this category.", enum=list(CATEGORIES)),
            limit=count("How many facts at most.", 20, 100),
            project=_PROJECT,
        ),
        recalled("facts", shape(fact="string", category="string", since="string")),
        _facts,
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
        "Erase an episode, one message, a thread, all that one person said, or every message that holds some "
        "words (a name) for good, when the user asks. "
        "Without confirm=true it only tells what would go.",
        arguments(
            episode_id=text("The episode to erase, with all of its messages.", minLength=1),
            observation_id=text("The message to erase, by its id or the one it came with.", minLength=1),
            thread=text("The thread to erase, by its name.", minLength=1),
            speaker=text("The person whose every message is to be erased.", minLength=1),
            words=text("Words that every message to erase holds, such as a name.", minLength=1),
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
        _erase,
        reads=False,
        idempotent=True,
        destroys=True,
    ),
)
BY_NAME: Final[Mapping[str, Tool]] = {tool.name: tool for tool in TOOLS}
