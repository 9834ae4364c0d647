"""An arc as it is drawn: a row for each session, a lane for each branch, how and how surely it goes on."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from episodic_agent.core.chaining import Placed, laid_out
from episodic_agent.core.chaining.deciding import CHAIN as LINKED
from episodic_agent.core.chaining.deciding import HIGH
from episodic_agent.core.interfaces import Transaction
from episodic_agent.engine.chaining import chain_decisions
from episodic_agent.engine.chains import tree_of
from episodic_agent.engine.given import episode_identity
from episodic_agent.engine.parting import whole
from episodic_agent.engine.scoped import Scoped
from episodic_agent.errors import NotFound
from episodic_agent.schemas import Decision, Episode, EpisodeState

HANDED_DOWN: Final = "inherited"  # the session it went on from was erased


@dataclass(frozen=True, slots=True)
class ArcStep:
    """One session of an arc: its row by start, its lane (0 is the first), and its link to its parent.

    `method` is `auto`, `explicit`, `hand`, `roll` or `inherited`; "" without a parent. `score` and
    `threshold` are those of the verdict, None where nothing was judged; `sure` is False near the threshold.
    """

    episode_id: UUID
    parent_episode_id: UUID | None
    title: str
    start_at: datetime
    end_at: datetime
    row: int
    lane: int
    open: bool = False
    method: str = ""
    score: float | None = None
    threshold: float | None = None
    sure: bool = True


@dataclass(frozen=True, slots=True)
class Arc:
    """A whole arc by start; `asked` is the session it was asked for by."""

    asked: UUID
    steps: Sequence[ArcStep]


class ArcVerbs(Scoped):
    """The verb of `Memory` that tells an arc as it is drawn."""

    def arc(self, episode: "UUID | str", *, user_id: str | None = None) -> Arc:
        """Return the tree a session stands in, placed for a picture; NotFound for an unknown session.

        `episodic_agent.plots` draws it (`arc_svg`, `arc_png`, `arc_terminal`).
        """
        identity = episode_identity(episode)
        with self._read(user_id) as tx:
            nodes = tree_of(tx, identity)
            if not nodes:
                raise NotFound(f"no episode {identity}; `episodic summaries` lists sessions")
            stored = tx.episodes.by_ids([node.id for node in nodes])
            steps = [_step(tx, stored[place.id], place) for place in laid_out(nodes)]
            return Arc(identity, steps)


def _step(tx: Transaction, stored: Episode, place: Placed) -> ArcStep:
    one = whole(tx, stored)
    made = None if place.parent is None else _link(tx, one.id, place.parent)
    step = ArcStep(
        episode_id=one.id,
        parent_episode_id=place.parent,
        title=one.title,
        start_at=one.start_at,
        end_at=one.end_at,
        row=place.row,
        lane=place.lane,
        open=one.state is EpisodeState.OPEN,
        method=HANDED_DOWN if place.parent is not None else "",
    )
    if made is None:
        return step
    return replace(
        step,
        method=str(made.detail.get("method", "")),
        score=made.score,
        threshold=made.threshold,
        sure=made.confidence_label == HIGH,
    )


def _link(tx: Transaction, child: UUID, parent: UUID) -> Decision | None:
    """Return the newest verdict that made a link; None where the link was handed down."""
    found = [
        one
        for one in chain_decisions(tx, child)
        if one.verdict == LINKED and one.detail.get("candidate") == str(parent)
    ]
    return found[-1] if found else None
