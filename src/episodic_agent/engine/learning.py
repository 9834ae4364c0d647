"""The verbs about learning from outcomes: label a decision, tune, look back, take back."""

from uuid import UUID

from episodic_agent.engine.outcomes import tell
from episodic_agent.engine.scoped import Scoped
from episodic_agent.engine.tuning import LINK, Tuner, TuningRun, tunings
from episodic_agent.schemas import Decision


class TuneVerbs(Scoped):
    """The verbs of `Memory` about outcomes and tuning."""

    def link_outcome(self, link: "UUID | str", outcome: str, *, user_id: str | None = None) -> Decision:
        """Say whether a link, or a refusal to link, was `correct` or `incorrect`; return its decision.

        `link` is the decision's id (a link's `decision_id`) or the beginning of it. What is told by hand
        counts as much as the user's own words, and no behaviour overwrites it.
        """
        with self._parts.store.begin(self._known(user_id)) as tx:
            return tell(tx, link, outcome, type=LINK)

    def decision_outcome(
        self, decision: "UUID | str", outcome: str, *, user_id: str | None = None
    ) -> Decision:
        """Say whether any automatic decision was right: of a link, or of a boundary (by its episode's id)."""
        with self._parts.store.begin(self._known(user_id)) as tx:
            return tell(tx, decision, outcome)

    def tune(self, what: str = LINK, *, dry_run: bool = False, user_id: str | None = None) -> TuningRun:
        """Learn from the labelled links what is certainly better, and put it in force; return the record.

        `what` is link or chain. It runs by itself every hundred of either. `dry_run` writes nothing.
        """
        return Tuner(self._parts).run(self._known(user_id), what=what, dry_run=dry_run)

    def tunings(self, *, user_id: str | None = None) -> list[TuningRun]:
        """Return every run with its record, newest first."""
        with self._read(user_id) as tx:
            return tunings(tx)

    def rollback_tuning(self, what: str = LINK, *, user_id: str | None = None) -> TuningRun:
        """Take the last change of links (or of chains) back; asked again, the one before.

        Later runs learn only from what is decided after it. InvalidInput where none stands.
        """
        return Tuner(self._parts).rollback(self._known(user_id), what=what)
