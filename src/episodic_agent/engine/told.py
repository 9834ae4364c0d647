"""What this process recalled last: a text that comes back is most likely one of these."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Final
from uuid import UUID

from episodic_agent.core.echo import Source, heard
from episodic_agent.engine.results import EpisodeCard, Evidence, Hit
from episodic_agent.schemas import Scope

KEPT: Final = 48  # texts of a scope: those of the last few recalls


@dataclass(frozen=True, slots=True)
class ToldText:
    """A text that a recall showed, and where it stands; a summary stands nowhere."""

    name: str
    text: str
    actor: str = ""
    thread_id: UUID | None = None
    seq: int = 0

    def heard_by(self, actor: str) -> Source:
        """Return the text as what somebody may repeat."""
        return Source(self.name, self.text, self.actor == actor)


class Told:
    """The texts shown last, by scope; thread safe.

    Kept in memory alone. Where one process recalls and another adds, what comes back is known by its form, by
    recalls that name the asking thread, and by the index.
    """

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._lock = Lock()
        self._texts: dict[Scope, dict[str, ToldText]] = {}

    def note(self, scope: Scope, texts: Iterable[ToldText]) -> None:
        """Keep texts that were shown; of more than are kept the oldest go."""
        with self._lock:
            known = self._texts.setdefault(scope, {})
            for one in texts:
                known.pop(one.name, None)
                known[one.name] = one
            for name in list(known)[: max(0, len(known) - self._kept)]:
                del known[name]

    def forget(self, scope: Scope) -> None:
        """Let go what was shown: some of it was erased, and what repeats that later repeats nothing."""
        with self._lock:
            self._texts.pop(scope, None)

    def of(self, scope: Scope) -> Sequence[ToldText]:
        """Return what was shown last."""
        with self._lock:
            return list(self._texts.get(scope, {}).values())


def told_by(shown: Sequence[Hit | EpisodeCard], beside: Sequence[Evidence] = ()) -> Iterator[ToldText]:
    """Yield the texts that episodes were shown with: summaries, and the observations that prove them."""
    for one in shown:
        if one.summary:
            yield ToldText(str(one.episode_id), one.summary)
    proofs = [proof for one in shown if isinstance(one, Hit) for proof in one.evidence]
    for proof in (*beside, *proofs):
        said = heard(proof.observation)
        yield ToldText(str(said.id), said.text, said.actor, said.thread_id, said.seq)
