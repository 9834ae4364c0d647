"""Links between threads as a map, each with both judges' scores and the reasons; chains of sessions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fastapi import APIRouter, Request, Response

from episodic_agent.engine.chains.arcs import ArcStep
from episodic_agent.engine.links.explaining import JudgedLink
from episodic_agent.engine.links.verbs import LinkCard
from episodic_agent.engine.lived import as_lived
from episodic_agent.engine.user import UserMemory
from episodic_agent.faces.dashboard.figures import link_graph
from episodic_agent.faces.dashboard.pages import Pages, user_of
from episodic_agent.faces.dashboard.wording import thread_labels
from episodic_agent.schemas import Decision, Json

MOST = 40  # links of the map
CHAINS = 8


@dataclass(frozen=True, slots=True)
class TwoJudges:
    """What each judge said of a link: the algorithm's score, and the model's where one was asked.

    `model` is None where no model was asked, `model_score` None where it gave no opinion.
    """

    algorithm: float | None
    model: str | None
    model_score: float | None
    model_says: str
    related: bool


def routes(pages: Pages) -> APIRouter:
    """Return the routes of links."""
    router = pages.router()

    @router.get("/users/{user}/links")
    @pages.endpoint
    def links(request: Request, user: str, undone: bool = False) -> Response:
        """Show what belongs together, and why."""
        name, ana = user_of(request, user)
        threads = ana.threads.list(limit=200)
        titled = {one.id: one for one in threads}  # the listing finds titles for those that have none
        cards = [
            replace(c, earlier=titled.get(c.earlier.id, c.earlier), later=titled.get(c.later.id, c.later))
            for c in ana.links.list(limit=MOST, taken_back=undone)
        ]
        there = [card for card in cards if card.link.unlinked_at is None]
        return pages.page(
            request,
            "links.html",
            user=name,
            section="links",
            links=[(card, judges(card.decision), reasons(ana, card)) for card in cards],
            graph=link_graph(there),
            undone=undone,
            chains=_chains(ana),
            threads=thread_labels(threads),
        )

    return router


def judges(decision: Decision | None) -> TwoJudges | None:
    """Return what both judges said; None for a link by hand."""
    if decision is None:
        return None
    answer = decision.detail.get("llm")
    own = decision.features.get("algorithmic", decision.score)
    if not isinstance(answer, dict):
        return TwoJudges(own, None, None, "", related=False)
    score = answer.get("probability", answer.get("confidence"))
    says = answer.get("reasoning") or answer.get("failure") or ""
    return TwoJudges(own, str(answer.get("model")), _number(score), str(says), bool(answer.get("related")))


def reasons(ana: UserMemory, card: LinkCard) -> JudgedLink | None:
    """Return why two threads were linked; None for a link by hand."""
    if card.decision is None:
        return None
    judged = ana.links.explain(str(card.later.id), str(card.earlier.id)).judged
    return next((one for one in judged if card.decision and one.decision.id == card.decision.id), None)


def _number(value: Json) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _chains(ana: UserMemory) -> list[Sequence[ArcStep]]:
    """Return the arcs of the newest sessions that go on from others, each once."""
    chains: list[Sequence[ArcStep]] = []
    seen: set[object] = set()
    for head in ana.chains.heads(limit=CHAINS * 2):
        if head.parent_episode_id is None or head.id in seen:
            continue
        steps = as_lived(ana, ana.chains.arc(head.id).steps)
        seen |= {step.episode_id for step in steps}
        chains.append(steps)
    return chains[:CHAINS]
