"""Facts with the words that prove them, since when they hold, what they replaced; and how to mend them."""

from fastapi import APIRouter, Request, Response

from episodic_agent.engine.arguments import aware
from episodic_agent.faces.dashboard.pages import Pages, user_of
from episodic_agent.faces.shapes import facts_as_lived
from episodic_agent.schemas.facts import Category

MOST = 60


def routes(pages: Pages) -> APIRouter:
    """Return the routes of facts."""
    router = pages.router()

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
