"""Threads with their boundaries and links; one episode: its messages, why it is one, its strength."""

from contextlib import suppress
from dataclasses import replace

from fastapi import APIRouter, Request, Response

from episodic_agent.core.context.retrieved import heading
from episodic_agent.engine.lived import as_lived
from episodic_agent.engine.user import UserMemory
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.faces.dashboard.figures import boundary_plot, strength_curve
from episodic_agent.faces.dashboard.pages import Pages, data, user_of
from episodic_agent.faces.http.v1.asking import name_in_path
from episodic_agent.schemas import Episode

AROUND = 20  # messages of the plot before and behind the episode
PAGE = 200  # messages of a page


def routes(pages: Pages) -> APIRouter:
    """Return the routes of threads, and of one episode."""
    router = pages.router()
    _add_threads(router, pages)
    _add_episode(router, pages)
    return router


def _add_episode(router: APIRouter, pages: Pages) -> None:
    @router.get("/users/{user}/episodes/{episode}")
    @pages.endpoint
    def episode_page(request: Request, user: str, episode: str, after: int = 0) -> Response:
        """Show an episode."""
        name, ana = user_of(request, user)
        (card,) = as_lived(ana, [ana.episodes.card(ana.episodes.successor(episode))])
        why = ana.boundaries.explain(card.episode_id)
        shown = why.episode
        trace = ana.boundaries.trace(card.origin)
        plot = boundary_plot(trace.between(max(0, shown.first_seq - AROUND), shown.last_seq + AROUND))
        messages = ana.episodes.messages(card.episode_id)
        first = min(max(after, 0), max(len(messages) - 1, 0))
        is_open = card.state == "open"
        return pages.page(
            request,
            "episode.html",
            user=name,
            section="timeline",
            card=card,
            title=heading(card.title, card.start_at),
            why=why,
            plot=plot,
            probability=dict(zip(trace.seqs, trace.probability, strict=True)),
            messages=messages[first : first + PAGE],
            first=first,
            total=len(messages),
            following=first + PAGE if len(messages) > first + PAGE else None,
            has_before=shown.first_seq > 0,
            has_after=shown.last_seq + 1 < len(trace.seqs),
            curve=None if is_open else strength_curve(shown.stability, shown.last_reviewed_at, pages.clock()),
            reviews=[] if is_open else ana.episodes.reviews(card.episode_id),
            versions=[] if is_open else ana.episodes.history(card.episode_id),
            suppressed=card.hidden.startswith("suppressed"),
            neighbours=_neighbours(ana, card.origin, shown),
        )

    @router.get("/users/{user}/threads/{thread}/whatif.json")
    @pages.endpoint
    def whatif(request: Request, user: str, thread: str, threshold: float = 0.5) -> Response:
        """Return what another threshold would make of a thread."""
        _, ana = user_of(request, user)
        if not 0.01 <= threshold <= 0.99:
            raise InvalidInput("`threshold` lies between 0.01 and 0.99")
        answer = ana.boundaries.whatif(thread, f"default?threshold={threshold:.2f}")
        return data(
            {
                "stored": len(answer.stored),
                "proposed": len(answer.proposed),
                "same": answer.same,
                "removed": list(answer.removed),
                "added": list(answer.added),
                "policy": answer.policy,
            }
        )


def _neighbours(ana: UserMemory, thread: str, episode: Episode) -> "tuple[object, object]":
    """Return the cards of the episodes before and behind one in its thread, None where there is none."""
    cards = ana.episodes.list(thread=thread)
    place = None
    with suppress(NotFound, StopIteration):
        place = next(n for n, card in enumerate(cards) if card.episode_id == episode.id)
    if place is None:
        return None, None
    before = cards[place - 1] if place else None
    return before, cards[place + 1] if place + 1 < len(cards) else None


THREADS = 100


def _add_threads(router: APIRouter, pages: Pages) -> None:
    @router.get("/users/{user}/threads")
    @pages.endpoint
    def threads(request: Request, user: str, most: int = THREADS) -> Response:
        """List a user's threads, the newest first."""
        name, ana = user_of(request, user)
        limit = min(max(most, 1), 5000)
        listed = as_lived(ana, ana.threads.list(limit=limit))
        more = limit + THREADS * 2 if len(listed) >= limit else None
        return pages.page(request, "threads.html", user=name, section="threads", threads=listed, more=more)

    @router.get("/users/{user}/threads/{thread}")
    @pages.endpoint
    def thread_page(request: Request, user: str, thread: str) -> Response:
        """Show a thread."""
        name, ana = user_of(request, user)
        card = ana.threads.get(name_in_path("thread", thread))
        card = replace(card, thread=as_lived(ana, [card.thread])[0])
        origin = card.thread.origin
        trace = ana.boundaries.trace(str(card.thread.id))
        return pages.page(
            request,
            "thread.html",
            user=name,
            section="threads",
            card=card,
            title=card.thread.title or origin,
            cards=as_lived(ana, ana.episodes.list(thread=str(card.thread.id))),
            plot=boundary_plot(trace),
            total=len(trace.seqs),
            links=ana.links.list(thread=str(card.thread.id)),
            judged=ana.links.explain(str(card.thread.id)).judged,
        )
