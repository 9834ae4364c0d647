"""One episode: its messages, why it begins and ends where it does, what would change it, its strength."""

from contextlib import suppress

from fastapi import APIRouter, Request, Response

from episodic_agent.core.context.retrieved import heading
from episodic_agent.engine.lived import as_lived
from episodic_agent.engine.user import UserMemory
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.faces.dashboard.figures import boundary_plot, strength_curve
from episodic_agent.faces.dashboard.pages import Pages, data, user_of
from episodic_agent.schemas import Episode

AROUND = 20  # messages of the plot before and behind the episode
PAGE = 200  # messages of a page


def routes(pages: Pages) -> APIRouter:
    """Return the routes of one episode."""
    router = pages.router()

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

    return router


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
