"""Seed 003's routes, `/api/v0/…`: add a message, retrieve what answers a question, list what is recent."""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, Final

from fastapi import APIRouter, Body, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import PlainTextResponse

from episodic_agent.core.context.retrieved import Detail, RetrievedEpisode, recent
from episodic_agent.engine.memory import Memory
from episodic_agent.engine.recall.verbs import contents_of, recall_markdown
from episodic_agent.engine.results import Recall
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
)
from episodic_agent.faces.shapes import episode_record, fact_record
from episodic_agent.schemas.observations import ERASED

MOST: Final = 100
FEW: Final = 5
NOTE: Final = "X-Episodic-Note"
MARKDOWN: Final = "text/markdown; charset=utf-8"
_ERRORS: Final[dict[int | str, dict[str, Any]]] = {
    status: {"model": Problem, "description": words, "content": {"application/problem+json": {}}}
    for status, words in (
        (400, "Something in it cannot be used"),
        (403, "Sent by a page of another site"),
        (409, "The id is another message's"),
        (408, "It takes too long to arrive"),
        (413, "The request is too large"),
        (421, "For another host than this machine"),
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
        """Keep a message of a conversation, exactly once: the same id again adds nothing.

        One that was erased is not kept again: `accepted` is false.
        """
        (receipt,) = (
            memory_of()
            .user(body.user_id or body.conversation_id)
            .add(
                body.message.model_dump(exclude_none=True),
                thread=body.conversation_id,
                wait=False,
            )
        )
        return Accepted(accepted=receipt.state != ERASED, id=receipt.id)

    @router.post("/retrieve_memory", response_class=PlainTextResponse, responses=_TEXT)
    def retrieve_memory(body: Annotated[Retrieve, Body()]) -> Response:
        """Return the facts and episodes that best answer a question, as Markdown for a prompt."""
        recall, notes = _searched(memory_of(), body, body.detail)
        return _markdown(recall_markdown(recall, body.detail, clock()), notes)

    @router.post("/retrieve_memory/raw")
    def retrieve_memory_raw(body: Annotated[Retrieve, Body()], response: Response) -> Retrieved:
        """Return the facts and episodes that best answer a question, whole."""
        recall, notes = _searched(memory_of(), body, "high")
        _say(response, notes)
        return _retrieved(recall, body.conversation_id)

    @router.post("/recent_memory", response_class=PlainTextResponse, responses=_TEXT)
    def recent_memory(body: Annotated[Recent, Body()]) -> Response:
        """Return the newest episodes by the end of their time, as Markdown."""
        records, notes = _recent(memory_of(), body)
        return _markdown(recent([_as_retrieved(episode) for episode in records], clock()), notes)

    @router.post("/recent_memory/raw")
    def recent_memory_raw(body: Annotated[Recent, Body()], response: Response) -> list[EpisodeRecord]:
        """Return the newest episodes by the end of their time, whole."""
        records, notes = _recent(memory_of(), body)
        _say(response, notes)
        return records

    return router


def _searched(memory: Memory, body: Retrieve, detail: Detail) -> tuple[Recall, list[str]]:
    user = _user(body)
    if not body.query.strip():
        raise InvalidInput("the query is empty; ask for something")
    notes: list[str] = []
    numbers = [asked for asked in (body.episodic_limit, body.limit) if asked is not None]
    limit = _clamped(numbers[0] if numbers else FEW, 1, "episodic_limit", notes)
    facts = _clamped(body.semantic_limit, 0, "semantic_limit", notes)
    try:
        conversation = body.conversation_id
        recall = memory.user(user).search(
            body.query,
            thread=conversation,
            limit=limit,
            asking=conversation,
            facts=facts,
            category=body.category,
            where=body.where or None,
            detail=detail,
        )
    except NotFound:  # nobody said anything there yet: that is an answer
        return Recall(body.query, (), (), 0.0), notes
    if recall.candidates:
        notes.append(recall.notes[-1])  # why none of them is a hit
    return recall, notes


def _retrieved(recall: Recall, conversation: str | None) -> Retrieved:
    contents = contents_of(recall)
    episodes = [
        RecalledEpisode(**episode_record(content, hit, conversation), score=round(hit.score, 6))
        for hit in recall.hits
        if (content := contents.get(hit.episode_id)) is not None
    ]
    known = [FactRecord(**fact_record(hit, conversation)) for hit in recall.facts]
    return Retrieved(semantic=known, episodic=episodes)


def _as_retrieved(episode: EpisodeRecord) -> RetrievedEpisode:
    return RetrievedEpisode(
        episode.title, episode.summary, episode.start_at, episode.end_at, episode.surprise
    )


def _recent(memory: Memory, body: Recent) -> tuple[list[EpisodeRecord], list[str]]:
    user, notes = _user(body), list[str]()
    limit = _clamped(body.limit, 1, "limit", notes)
    try:
        conversation = body.conversation_id
        cards = memory.user(user).episodes.recent(
            limit=limit, days=body.days_limit, thread=conversation, where=body.where or None
        )
    except NotFound:
        return [], notes
    episodes = memory.user(user).episodes.contents(cards) if cards else ()
    records = [
        EpisodeRecord(**episode_record(whole, card, body.conversation_id))
        for card, whole in zip(cards, episodes, strict=True)
        if whole is not None
    ]
    return records, notes


def _user(body: Retrieve | Recent) -> str:
    user = body.user_id or body.conversation_id
    if user is None:  # it is the form that is wrong, as where a field is missing
        raise RequestValidationError([{"loc": ("body",), "msg": NOBODY, "type": "missing"}])
    return user


def _clamped(requested_limit: int, least: int, name: str, notes: list[str]) -> int:
    limit = min(max(requested_limit, least), MOST)
    if limit != requested_limit:
        notes.append(f"{name} {requested_limit} was taken as {limit}")
    return limit


def _markdown(text: str, notes: list[str]) -> Response:
    response = Response(text, media_type=MARKDOWN)
    _say(response, notes)
    return response


def _say(response: Response, notes: list[str]) -> None:
    if notes:
        response.headers[NOTE] = "; ".join(notes)
