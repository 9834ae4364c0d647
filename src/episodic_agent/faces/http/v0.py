"""Seed 003's routes, `/api/v0/…`: add a message, retrieve what answers a question, list what is recent."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Annotated, Any, Final

from fastapi import APIRouter, Body, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import PlainTextResponse

from episodic_agent.core.context.retrieved import ToldEpisode, recent, retrieved
from episodic_agent.core.forgetting import initial_strength
from episodic_agent.engine.fact_recall import category_of
from episodic_agent.engine.memory import Memory
from episodic_agent.engine.recalling import told_fact
from episodic_agent.engine.results import EpisodeCard, FactHit, Hit, Whole
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.faces.http.bodies import (
    NOBODY,
    Accepted,
    AddMessage,
    EpisodeRecord,
    FactRecord,
    Problem,
    RecalledEpisode,
    Recent,
    Retrieve,
    Retrieved,
    Said,
)

MOST: Final = 100
FEW: Final = 5
NOTE: Final = "X-Episodic-Note"
MARKDOWN: Final = "text/markdown; charset=utf-8"
_ERRORS: Final[dict[int | str, dict[str, Any]]] = {
    status: {"model": Problem, "description": words, "content": {"application/problem+json": {}}}
    for status, words in (
        (400, "Something in it cannot be used"),
        (413, "The request is too large"),
        (422, "Of the wrong form"),
        (503, "Try again later"),
    )
}
_TEXT: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "Markdown, empty where nothing answers",
        "content": {"text/markdown": {"schema": {"type": "string"}}},
    }
}


def routes(memory_of: Callable[[], Memory], clock: Callable[[], datetime]) -> APIRouter:
    """Return the routes over a memory that is open while they are served."""
    router = APIRouter(prefix="/api/v0", tags=["seed 003"], responses=_ERRORS)

    @router.post("/add_message")
    def add_message(body: Annotated[AddMessage, Body()]) -> Accepted:
        """Keep a message of a conversation, exactly once: the same id again adds nothing."""
        (receipt,) = memory_of().add(
            body.message.model_dump(exclude_none=True),
            user_id=body.user_id or body.conversation_id,
            thread=body.conversation_id,
            wait=False,
        )
        return Accepted(id=receipt.id)

    @router.post("/retrieve_memory", response_class=PlainTextResponse, responses=_TEXT)
    def retrieve_memory(body: Annotated[Retrieve, Body()]) -> Response:
        """Return the facts and episodes that best answer a question, as Markdown for a prompt."""
        found, facts, notes = _retrieved(memory_of(), body)
        told = [_told(episode, episode.score) for episode in found.episodic]
        return _markdown(retrieved([told_fact(f) for f in facts], told, body.detail, clock()), notes)

    @router.post("/retrieve_memory/raw")
    def retrieve_memory_raw(body: Annotated[Retrieve, Body()], response: Response) -> Retrieved:
        """Return the facts and episodes that best answer a question, whole."""
        found, _, notes = _retrieved(memory_of(), body)
        _say(response, notes)
        return found

    @router.post("/recent_memory", response_class=PlainTextResponse, responses=_TEXT)
    def recent_memory(body: Annotated[Recent, Body()]) -> Response:
        """Return the newest episodes by the end of their time, as Markdown."""
        found, notes = _recent(memory_of(), body)
        return _markdown(recent([_told(episode) for episode in found], clock()), notes)

    @router.post("/recent_memory/raw")
    def recent_memory_raw(body: Annotated[Recent, Body()], response: Response) -> list[EpisodeRecord]:
        """Return the newest episodes by the end of their time, whole."""
        found, notes = _recent(memory_of(), body)
        _say(response, notes)
        return found

    return router


def _retrieved(memory: Memory, body: Retrieve) -> tuple[Retrieved, Sequence[FactHit], list[str]]:
    user = _user(body)
    if not body.query.strip():
        raise InvalidInput("the query is empty; ask for something")
    category_of(body.category)  # wrong whoever asks, and where nobody said anything yet
    notes: list[str] = []
    given = [asked for asked in (body.episodic_limit, body.limit) if asked is not None]
    limit = _clamped(given[0] if given else FEW, 1, "episodic_limit", notes)
    facts = _clamped(body.semantic_limit, 0, "semantic_limit", notes)
    try:
        conversation = body.conversation_id
        recall = memory.search(
            body.query,
            user_id=user,
            thread=conversation,
            limit=limit,
            asking=conversation,
            facts=facts,
            category=body.category,
            where=body.where or None,
        )
    except NotFound:  # nobody said anything there yet: that is an answer
        return Retrieved(semantic=[], episodic=[]), (), notes
    hits = () if recall.abstained else recall.hits
    wholes = memory.wholes(hits, user_id=user) if hits else ()
    episodes = [
        RecalledEpisode(**_fields(whole, hit, body.conversation_id), score=round(hit.score, 6))
        for hit, whole in zip(hits, wholes, strict=True)
        if whole is not None
    ]
    known = [_fact(hit, body.conversation_id) for hit in recall.facts]
    return Retrieved(semantic=known, episodic=episodes), recall.facts, notes


def _fact(hit: FactHit, conversation: str | None) -> FactRecord:
    """Return seed 003's fields of a fact; its conversation is the first that proves it."""
    fact = hit.fact
    return FactRecord(
        id=fact.id,
        conversation_id=conversation or hit.origin,
        category=fact.category.value,
        fact=fact.fact,
        keywords=list(fact.keywords),
        source_episodic_ids=list(hit.episodes),
        valid_at=fact.valid_at,
        invalid_at=fact.invalid_at,
        score=hit.score,
    )


def _told(episode: EpisodeRecord, score: float = 0.0) -> ToldEpisode:
    return ToldEpisode(
        episode.title,
        episode.summary,
        episode.start_at,
        episode.end_at,
        episode.surprise,
        [(said.role, said.content) for said in episode.messages],
        score,
    )


def _recent(memory: Memory, body: Recent) -> tuple[list[EpisodeRecord], list[str]]:
    user, notes = _user(body), list[str]()
    limit = _clamped(body.limit, 1, "limit", notes)
    try:
        conversation = body.conversation_id
        cards = memory.recent(user_id=user, limit=limit, days=body.days_limit, thread=conversation)
    except NotFound:
        return [], notes
    wholes = memory.wholes(cards, user_id=user) if cards else ()
    found = [
        EpisodeRecord(**_fields(whole, card, body.conversation_id))
        for card, whole in zip(cards, wholes, strict=True)
        if whole is not None
    ]
    return found, notes


def _user(body: Retrieve | Recent) -> str:
    user = body.user_id or body.conversation_id
    if user is None:  # it is the form that is wrong, as where a field is missing
        raise RequestValidationError([{"loc": ("body",), "msg": NOBODY, "type": "missing"}])
    return user


def _fields(whole: Whole, found: Hit | EpisodeCard, conversation: str | None) -> dict[str, Any]:
    """Return seed 003's fields of an episode; one that is still open has the strength it would begin with."""
    messages, name = whole.messages, conversation or whole.origin
    shared = {
        "id": found.episode_id,
        "conversation_id": name,
        "messages": [Said(role=o.actor, content=o.text, timestamp=o.at) for o in messages],
        "title": found.title,
        "summary": found.summary,
        "start_at": found.start_at,
        "end_at": found.end_at,
    }
    if whole.episode is None:
        strength = initial_strength()
        begun = min(o.received_at for o in messages)
        return shared | {
            "stability": strength.stability,
            "difficulty": strength.difficulty,
            "surprise": 0.0,
            "created_at": begun,
            "last_reviewed_at": found.end_at,
            "consolidated_at": None,
        }
    kept = ("stability", "difficulty", "surprise", "created_at", "last_reviewed_at", "consolidated_at")
    return shared | {name: getattr(whole.episode, name) for name in kept}


def _clamped(wanted: int, least: int, name: str, notes: list[str]) -> int:
    limit = min(max(wanted, least), MOST)
    if limit != wanted:
        notes.append(f"{name} {wanted} was taken as {limit}")
    return limit


def _markdown(text: str, notes: list[str]) -> Response:
    response = Response(text, media_type=MARKDOWN)
    _say(response, notes)
    return response


def _say(response: Response, notes: list[str]) -> None:
    if notes:
        response.headers[NOTE] = "; ".join(notes)
