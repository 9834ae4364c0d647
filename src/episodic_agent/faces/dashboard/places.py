"""Where an agent was, when it was there last, and what it has learned to do."""

from fastapi import APIRouter, Request, Response

from episodic_agent.engine.lived import as_lived
from episodic_agent.faces.dashboard.pages import Pages, user_of

VISITS = 40
SKILLS = 100


def routes(pages: Pages) -> APIRouter:
    """Return the routes of places and skills."""
    router = pages.router()

    @router.get("/users/{user}/places")
    @pages.endpoint
    def places(request: Request, user: str, place: str = "", most: int = VISITS) -> Response:
        """List places and skills; of a place its visits, the newest first."""
        name, ana = user_of(request, user)
        limit = min(max(most, 1), 5000)
        summary = ana.places.list()
        visits = as_lived(ana, ana.places.visits(place, limit=limit, order="newest")) if place else []
        return pages.page(
            request,
            "places.html",
            user=name,
            section="places",
            places=as_lived(ana, summary.places),
            moves=summary.moves,
            place=visits[0].place if visits else place,
            visits=visits,
            more=limit + VISITS * 2 if len(visits) >= limit else None,
            skills=ana.skills.list(limit=SKILLS),
        )

    return router
