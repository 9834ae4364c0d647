"""What this process recalled last: a text that comes back is most likely one of these."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Final
from uuid import UUID

from episodic_agent.core.echo import Source, own_words
from episodic_agent.engine.results import EpisodeCard, Evidence, Hit
from episodic_agent.schemas import Scope

LIMIT: Final = 48  # texts of a scope: those of the last few recalls


@dataclass(frozen=True, slots=True)
class ShownText:
    """A text that a recall showed, and where it stands; a summary stands nowhere."""

    name: str
    text: str
    actor: str = ""
    thread_id: UUID | None = None
    seq: int = 0

    def shown_to(self, actor: str) -> Source:
        """Return the text as what somebody may repeat."""
        return Source(self.name, self.text, self.actor == actor)


class RecentlyShown:
    """The texts shown last, by scope; thread safe.

    Kept in memory alone. Where one process recalls and another adds, what comes back is known by its form, by
    recalls that name the asking thread, and by the index.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self._by_scope = limit
        self._lock = Lock()
        self._texts: dict[Scope, dict[str, ShownText]] = {}

    def note(self, scope: Scope, texts: Iterable[ShownText]) -> None:
        """Keep texts that were shown; of more than are kept the oldest go."""
        with self._lock:
            known = self._texts.setdefault(scope, {})
            for text in texts:
                known.pop(text.name, None)
                known[text.name] = text
            for name in list(known)[: max(0, len(known) - self._by_scope)]:
                del known[name]

    def erase(self, scope: Scope) -> None:
        """Let go what was shown: some of it was erased, and what repeats that later repeats nothing."""
        with self._lock:
            self._texts.pop(scope, None)

    def of(self, scope: Scope) -> Sequence[ShownText]:
        """Return what was shown last."""
        with self._lock:
            return list(self._texts.get(scope, {}).values())


def shown_by(shown: Sequence[Hit | EpisodeCard], beside: Sequence[Evidence] = ()) -> Iterator[ShownText]:
    """Yield the texts that episodes were shown with: summaries, and the observations that prove them."""
    for item in shown:
        if item.summary:
            yield ShownText(str(item.episode_id), item.summary)
    proofs = [proof for one in shown if isinstance(one, Hit) for proof in one.evidence]
    for proof in (*beside, *proofs):
        observation = own_words(proof.observation)
        yield ShownText(
            str(observation.id), observation.text, observation.actor, observation.thread_id, observation.seq
        )
