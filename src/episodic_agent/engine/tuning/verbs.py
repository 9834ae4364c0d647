"""The verbs about learning from outcomes: label a decision, tune, look back, take back."""

from collections.abc import Sequence
from uuid import UUID

from episodic_agent.engine.jobs.kinds import LINK
from episodic_agent.engine.scoped import RoomOf, Scoped
from episodic_agent.engine.trace.acts import acts
from episodic_agent.engine.tuning.outcomes import tell
from episodic_agent.engine.tuning.runs import Tuner, TuningRun, tunings
from episodic_agent.schemas import Decision


@acts("tuning")
class TuningRoom(RoomOf):
    """What a user's memory learns from outcomes."""

    def __init__(self, at: Scoped) -> None:
        self._at = at
        self._deps = at.deps

    def outcome(self, decision: "UUID | str", outcome: str) -> Decision:
        """Say whether any automatic decision was right: of a link, or of a boundary (by its episode's id)."""
        with self._at.write() as tx:
            return tell(tx, decision, outcome, self._deps.clock())

    def run(self, what: str = LINK, *, dry_run: bool = False) -> TuningRun:
        """Learn from the labelled links what is certainly better, and put it in force; return the record.

        `what` is link or chain. It runs by itself every hundred of either. `dry_run` writes nothing.
        """
        return Tuner(self._deps).run(self._at.known(), what=what, dry_run=dry_run)

    def list(self) -> Sequence[TuningRun]:
        """Return every run with its record, newest first."""
        with self._at.read() as tx:
            return tunings(tx)

    def rollback(self, what: str = LINK) -> TuningRun:
        """Take the last change of links (or of chains) back; asked again, the one before.

        Later runs learn only from what is decided after it. InvalidInput where none stands.
        """
        return Tuner(self._deps).rollback(self._at.known(), what=what)
