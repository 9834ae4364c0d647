"""How strong memories are and will be; what is pinned, suppressed, let go; erasing with its preview."""

from collections.abc import Sequence

from fastapi import APIRouter, Request, Response

from episodic_agent.core.strength import retrievability
from episodic_agent.engine.results import EpisodeCard
from episodic_agent.engine.user import UserMemory
from episodic_agent.errors import InvalidInput
from episodic_agent.faces.dashboard.pages import Pages, check_role, user_of
from episodic_agent.schemas.erasures import Erasure
from episodic_agent.schemas.keys import Role

BANDS = ((0.9, "vivid"), (0.7, "clear"), (0.5, "dim"), (0.0, "faint"))
LATER = (0, 30, 90, 365)  # days from now
FADING = 12
NEWEST = 2000  # episodes that are counted


def routes(pages: Pages) -> APIRouter:
    """Return the routes of strength and forgetting."""
    router = pages.router()

    @router.get("/users/{user}/strength")
    @pages.endpoint
    def strength(request: Request, user: str) -> Response:
        """Show how strong memories are, and what fades first."""
        name, ana = user_of(request, user)
        cards = [c for c in ana.episodes.recent(limit=NEWEST, suppressed=True) if c.state != "open"]
        fading = sorted((c for c in cards if not c.pinned and not c.hidden), key=lambda c: c.retrievability)
        return pages.page(
            request,
            "strength.html",
            user=name,
            section="strength",
            bands=bands_over_time(cards),
            counted=len(cards),
            newest=NEWEST,
            fading=fading[:FADING],
            pinned=ana.episodes.pinned(),
            suppressed=ana.episodes.suppressed(),
            retention=ana.retention.get(),
            leaving=ana.retention.preview()[:20],
            receipts=ana.erasures.list()[-20:],
        )

    @router.get("/users/{user}/erase")
    @pages.endpoint
    def erase(request: Request, user: str, what: str = "", name: str = "") -> Response:
        """Count what erasing something would take, before it is done."""
        shown, ana = user_of(request, user)
        check_role(request, Role.ADMIN)
        preview = erase_named(ana, what, name, dry_run=True)
        return pages.page(
            request, "erase.html", user=shown, section="strength", what=what, name=name, preview=preview
        )

    return router


def erase_named(ana: UserMemory, what: str, name: str, *, dry_run: bool = False) -> Erasure:
    """Erase what a form names, or only count it; InvalidInput for anything else."""
    if what == "everything":
        return ana.erase(everything=True, dry_run=dry_run)
    if what not in ("observation", "episode", "thread") or not name:
        raise InvalidInput("say what is to be erased: an observation, an episode, a thread or everything")
    return ana.erase(**{what: name}, dry_run=dry_run)  # type: ignore[arg-type]


def bands_over_time(cards: Sequence[EpisodeCard]) -> "list[tuple[int, list[tuple[str, int]]]]":
    """Count episodes by how well they are recalled: now, and in so many days if nothing recalls them."""
    results = []
    for later in LATER:
        shares = [_then(card, later) for card in cards]
        counts, upper = [], 2.0
        for least, word in BANDS:
            counts.append((word, sum(least <= share < upper for share in shares)))
            upper = least
        results.append((later, counts))
    return results


def _then(card: EpisodeCard, later: int) -> float:
    """Return how well an episode is recalled in so many days: its curve goes on from where it is now."""
    if card.pinned or not later or card.stability <= 0:
        return card.retrievability
    low, high = 0.0, 100_000.0
    for _ in range(40):  # how old it is, from how strong it is: the curve falls
        middle = (low + high) / 2
        if retrievability(card.stability, middle) > card.retrievability:
            low = middle
        else:
            high = middle
    return float(retrievability(card.stability, low + later))
