"""An arc as it is drawn: a row for each session, a lane for each branch, how and how surely it goes on."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from episodic_agent.core.chains.deciding import CHAIN as LINKED
from episodic_agent.core.chains.deciding import HIGH
from episodic_agent.core.chains.trees import PlacedEpisode, laid_out
from episodic_agent.core.language import plural
from episodic_agent.engine.chains.ancestry import tree_of
from episodic_agent.engine.chains.job import chain_decisions
from episodic_agent.engine.sections.bounds import with_end
from episodic_agent.errors import NotFound
from episodic_agent.protocols import Transaction
from episodic_agent.schemas import Decision, Episode, EpisodeState
from episodic_agent.showing import described

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

    def __repr__(self) -> str:
        return described(self, self.start_at, self.title or "untitled", self.method, self.episode_id)


@dataclass(frozen=True, slots=True)
class Arc:
    """A whole arc by start; `asked` is the session it was asked for by."""

    asked: UUID
    steps: Sequence[ArcStep]

    def __repr__(self) -> str:
        return described(self, plural(len(self.steps), "session"), *(one.title for one in self.steps[:1]))


def arc_of(tx: Transaction, identity: UUID) -> Arc:
    """Return the tree a session stands in, placed for a picture; NotFound for an unknown session."""
    nodes = tree_of(tx, identity)
    if not nodes:
        raise NotFound(f"no episode {identity}; `episodic summaries` lists sessions")
    stored = tx.episodes.get([node.id for node in nodes])
    steps = [_step(tx, stored[place.id], place) for place in laid_out(nodes)]
    return Arc(identity, steps)


def _step(tx: Transaction, stored: Episode, place: PlacedEpisode) -> ArcStep:
    episode = with_end(tx, stored)
    made = None if place.parent is None else _link(tx, episode.id, place.parent)
    step = ArcStep(
        episode_id=episode.id,
        parent_episode_id=place.parent,
        title=episode.title,
        start_at=episode.start_at,
        end_at=episode.end_at,
        row=place.row,
        lane=place.lane,
        open=episode.state is EpisodeState.OPEN,
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
    decisions = [
        one
        for one in chain_decisions(tx, child)
        if one.verdict == LINKED and one.detail.get("candidate") == str(parent)
    ]
    return decisions[-1] if decisions else None
