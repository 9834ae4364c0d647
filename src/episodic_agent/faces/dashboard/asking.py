"""Search with the score of each leg, and what the next prompt would be told."""

from fastapi import APIRouter, Request, Response

from episodic_agent.engine.arguments import MAX_TOKENS
from episodic_agent.engine.lived import recall_as_lived
from episodic_agent.faces.dashboard.pages import Pages, user_of
from episodic_agent.faces.dashboard.wording import thread_labels


def routes(pages: Pages) -> APIRouter:
    """Return the route of searching."""
    router = pages.router()

    @router.get("/users/{user}/search")
    @pages.endpoint
    def search(
        request: Request, user: str, q: str = "", thread: str = "", tokens: int = MAX_TOKENS
    ) -> Response:
        """Show what answers a question, and the context a prompt with it would get."""
        name, ana = user_of(request, user)
        answer = context = None
        threads = thread_labels(ana.threads.list(limit=200))
        if q.strip():
            answer = recall_as_lived(ana, ana.search(q, limit=6, explain=True, suppressed=True))
            context = ana.context(q, thread=thread or None, max_tokens=min(max(tokens, 1), 20_000))
        legs = sorted({leg for hit in (() if answer is None else answer.hits) for leg in hit.legs})
        return pages.page(
            request,
            "search.html",
            user=name,
            section="search",
            q=q,
            thread=thread,
            tokens=tokens,
            threads=threads,
            answer=answer,
            context=context,
            legs=legs,
        )

    return router
