"""Facts with the words that prove them, and how to mend them; a search with the score of each leg."""

from fastapi import APIRouter, Request, Response

from episodic_agent.engine.arguments import MAX_TOKENS, aware
from episodic_agent.engine.lived import recall_as_lived
from episodic_agent.faces.dashboard.pages import Pages, user_of
from episodic_agent.faces.dashboard.wording import thread_labels
from episodic_agent.faces.shapes import facts_as_lived
from episodic_agent.schemas.facts import Category

MOST = 60


def routes(pages: Pages) -> APIRouter:
    """Return the routes of facts."""
    router = pages.router()
    _add_search(router, pages)

    @router.get("/users/{user}/facts")
    @pages.endpoint
    def facts(
        request: Request,
        user: str,
        *,
        q: str = "",
        category: str = "",
        at: str = "",
        past: bool = False,
        most: int = MOST,
    ) -> Response:
        """List facts."""
        name, ana = user_of(request, user)
        limit = min(max(most, 1), 2000)
        cards = ana.facts.list(
            q.strip() or None,
            category=category or None,
            at=aware(at or None),
            history=past,
            limit=limit,
        )
        return pages.page(
            request,
            "facts.html",
            user=name,
            section="facts",
            cards=facts_as_lived(ana, cards),
            q=q,
            category=category,
            at=at,
            past=past,
            categories=[one.value for one in Category],
            stats=ana.stats(),
            more=limit + MOST * 2 if len(cards) >= limit else None,
        )

    @router.get("/users/{user}/facts/{fact}")
    @pages.endpoint
    def fact_page(request: Request, user: str, fact: str) -> Response:
        """Show a fact with its history."""
        name, ana = user_of(request, user)
        return pages.page(
            request,
            "fact.html",
            user=name,
            section="facts",
            card=facts_as_lived(ana, [ana.facts.get(fact)])[0],
            history=facts_as_lived(ana, ana.facts.history(fact)),
            categories=[one.value for one in Category],
        )

    return router


def _add_search(router: APIRouter, pages: Pages) -> None:
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
