"""Threads: the list, and one with its episodes, its boundaries, what it is linked to and why."""

from dataclasses import replace

from fastapi import APIRouter, Request, Response

from episodic_agent.engine.lived import as_lived
from episodic_agent.faces.dashboard.figures import boundary_plot
from episodic_agent.faces.dashboard.pages import Pages, user_of
from episodic_agent.faces.http.v1.asking import name_in_path

THREADS = 100


def routes(pages: Pages) -> APIRouter:
    """Return the routes of threads."""
    router = pages.router()

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

    return router
