"""Episodes as a store keeps them: with every version of their words, and which goes on from which."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal, Protocol, overload
from uuid import UUID

from episodic_agent.schemas import Encoding, Episode, EpisodeState
from episodic_agent.schemas.chains import Condition, Refusal, TreeNode
from episodic_agent.schemas.strength import Strength

Walk = Literal["self", "children", "above", "below"]


class Episodes(Protocol):
    """Episodes, their encodings (versions), which goes on from which, and which does not.

    Replaced episodes (those with a `generation_to`) stay, with their words and decisions, for undo and for
    references to them. Only `get`, `encodings` and `list` with a generation show them. Whoever
    deletes for good (I12) must delete them too, and the `resegment` decisions of the thread, which hold the
    frame and the records from before.
    """

    def put(self, written: Episode | Encoding | Refusal) -> None:
        """Write an episode, or append a version of its words; what is there already stays as it is.

        Or that a chain was taken back, in the place of what was refused of the same pair. What an episode is
        found by (`Index.described`) is written with its newest version, again where that is put again.
        Raises Conflict when another current event episode begins at the same observation; NotFound for
        words of an unknown episode.
        """
        ...

    def change(
        self,
        episode_id: UUID,
        *,
        state: EpisodeState,
        last_seq: int,
        end_at: datetime | None = None,
        reason: str | None = None,
        decision_id: UUID | None = None,
    ) -> None:
        """Move an episode that owns no observations on; what is None stays. NotFound for any other."""
        ...

    def archive(self, thread_id: UUID, first_seq: int, last_seq: int) -> int:
        """Archive the current closed event episodes that end within `first_seq..last_seq`; return how many.

        They stay as searchable as they were.
        """
        ...

    def retire(self, ids: Sequence[UUID], generation: int) -> None:
        """Let current event episodes end with the generation before this one; Conflict where one is not.

        In a write transaction nobody else writes to them before its end. What the index holds of them is
        the caller's to drop, afterwards.
        """
        ...

    def revive(self, thread_id: UUID, generation: int) -> None:
        """Undo a generation: delete what it made, make current again what it retired.

        Deletes the thread's event episodes from this generation on, with their encodings and the decisions
        about them. What it kept stays as it is. Raises NotFound for an unknown thread.
        """
        ...

    @overload
    def get(self, key: UUID) -> Episode | None:
        """Read one episode with its newest words."""
        ...

    @overload
    def get(self, key: Sequence[UUID]) -> Mapping[UUID, Episode]:
        """Read several at once; unknown ones are left out."""
        ...

    @overload
    def get(self, key: Sequence[int]) -> Mapping[int, Episode]:
        """Read current event episodes by `ref_of(thread number, first_seq)`."""
        ...

    def list(
        self,
        *,
        threads: Sequence[UUID] | None = None,
        generation: int | None = None,
        since: datetime | None = None,
        before: datetime | None = None,
        unconsolidated: bool = False,
        about: Sequence[Sequence[Condition]] | None = None,
        limit: int | None = None,
    ) -> Sequence[Episode]:
        """Return current event episodes whose event time ends in [since, before), newest first.

        Of equals the newest thread's come first, and of one thread the latest. `threads` asks for those of
        these threads by first_seq, of their current (or the given) generation; `unconsolidated` for those
        that have words and are not consolidated, oldest created first, ties by id; `about` for those of
        every kind whose metadata pass each of its fields by any condition, by id.
        """
        ...

    def strengthen(self, before: Episode, after: Strength, last_reviewed_at: datetime) -> None:
        """Give an episode another strength and clock; Conflict where `before` is no longer so."""
        ...

    def consolidate(self, ids: Sequence[UUID], at: datetime | None) -> None:
        """Set `consolidated_at` of pending episodes; Conflict where one is not, or no longer, among them.

        In a write transaction nobody else writes to them before its end. None lets any of these episodes
        wait to be consolidated again; unknown ones are left out.
        """
        ...

    def encodings(self, episode_id: UUID) -> Sequence[Encoding]:
        """Return every version of an episode's words, oldest first."""
        ...

    def lead(self, child: UUID, parent: UUID | None) -> None:
        """Let an episode go on from another, or from none; NotFound for either. Loops are not looked for."""
        ...

    def nodes(self, ids: Sequence[UUID], walk: Walk = "self") -> Sequence[TreeNode]:
        """Return those of these episodes that there are, by id, each once.

        "children" are the episodes whose parent is one of these; "above" these and all they go on from, and
        "below" these and all that goes on from them, though parents run in a circle.
        """
        ...

    def latest(self, *, limit: int, before: datetime) -> Sequence[UUID]:
        """Return closed parts and sessions that ended at a time or before, newest end and last said first."""
        ...

    def refusals(self, child: UUID | None = None) -> Sequence[Refusal]:
        """Return the refusals of an episode, or all, oldest first, ties by child, then parent."""
        ...

    def drop(self, *gone: UUID | Refusal, words_only: bool = False) -> None:
        """Delete episodes, replaced ones too, with their words and the decisions about them; or refusals.

        `words_only` deletes every version of their words, and who decided them where others make them up.
        What is gone already changes nothing.
        """
        ...
