"""Boundaries: why episodes begin and end where they do, and what another policy would make of it."""

from typing import Any
from uuid import UUID

from episodic_agent.core.boundary.contract import Policy
from episodic_agent.core.boundary.policies import DEFAULT, MESSAGE, check_modality, for_modality
from episodic_agent.engine.arguments import episode_identity, worded
from episodic_agent.engine.boundary.by_hand import edit_of
from episodic_agent.engine.boundary.explain import Explanation, WhatIf, explain, whatif
from episodic_agent.engine.boundary.resegmenting import Resegmented, Undone
from episodic_agent.engine.boundary.traces import BoundaryTrace, trace
from episodic_agent.engine.recall.walls import check_episode
from episodic_agent.engine.scoped import RoomOf, Scoped
from episodic_agent.engine.trace.acts import acts
from episodic_agent.engine.works import Works
from episodic_agent.errors import InvalidInput
from episodic_agent.protocols import Transaction


@acts("boundaries", within=("explain",))
class BoundaryRoom(RoomOf):
    """The boundaries of a user's threads."""

    def __init__(self, at: Scoped, works: Works) -> None:
        self._at = at
        self._deps = at.deps
        self._works = works

    def explain(self, episode_id: "UUID | str") -> Explanation:
        """Say why an episode begins and ends where it does, and what would have changed it."""
        with self._at.read() as tx:
            check_episode(tx, self._at.walls, episode_identity(episode_id), entire=True)
            return explain(tx, episode_identity(episode_id))

    def whatif(self, thread: str, policy: "str | Policy[Any]") -> WhatIf:
        """Compare a thread's episodes with those another policy would make; writes nothing."""
        self._check_policy(policy)
        scope = self._at.known()
        identity = self._at.thread_id(thread)
        with self._deps.store.begin(scope, write=False) as tx:
            if policy is None or isinstance(policy, str):
                policy = self._policy_of(tx, identity, policy)
            return whatif(tx, identity, policy, self._deps.embedder_name)

    def resegment(
        self,
        thread: str,
        policy: str | None = None,
        *,
        complete: bool = True,
        dry_run: bool = False,
        cut: int | None = None,
        join: int | None = None,
    ) -> Resegmented:
        """Segment a thread again, by a policy (this memory's unless given), as a new generation.

        `complete` judges every gap with the whole thread known, otherwise as if the messages came again one
        by one.
        Flushes and the clock's cuts stay. An episode whose span is the same keeps its row, id, strength
        and words; a new one inherits the strength of those its messages were in. What the last cut leaves is
        the open frame again.

        `cut` and `join` correct one boundary by hand instead, by no policy: a new episode begins with the
        message of that number (`seq`), or the one that begins with it is joined to the one before. Everything
        else stays as it is. InvalidInput where nothing can be corrected so.

        `dry_run` writes nothing. The whole change is one transaction; Conflict where
        the thread went on all the time meanwhile. `undo` takes it back.
        """
        if policy is not None:
            self._check_policy(worded("policy", policy))
        edit = edit_of(cut, join)
        if edit is not None and (policy is not None or not complete):
            raise InvalidInput("`cut` and `join` correct by hand: leave the policy and `complete` out")
        scope = self._at.known()
        identity = self._at.thread_id(thread)
        if edit is not None:
            corrected = self._works.resegmenter.edit(scope, identity, edit, dry_run=dry_run)
            self._works.later.run(scope)
            return corrected
        with self._deps.store.begin(scope, write=False) as tx:
            chosen = self._policy_of(tx, identity, policy)
        done = self._works.resegmenter.run(scope, identity, chosen, complete=complete, dry_run=dry_run)
        self._works.later.run(scope)
        return done

    def undo(self, thread: str) -> Undone:
        """Go back to the generation before the last `resegment`; each call goes back one more.

        Its episodes return as they were, ids, strengths, words and decisions; the episodes made since are
        deleted. What came since is segmented as if the thread had never been segmented again. Raises NotFound
        when there is nothing to undo.
        """
        scope = self._at.known()
        done = self._works.resegmenter.undo(scope, self._at.thread_id(thread))
        self._works.later.run(scope)
        return done

    def trace(self, thread: str) -> BoundaryTrace:
        """Return a thread's cues, probabilities, thresholds and cuts over time, to be plotted."""
        scope = self._at.known()
        with self._deps.store.begin(scope, write=False) as tx:
            return trace(tx, self._at.thread_id(thread), self._deps.resolve_policy)

    def _check_policy(self, policy: "str | Policy[Any] | None") -> None:
        """Refuse an unknown policy before anything is read; what `default` takes depends on the thread."""
        if not (policy is None or isinstance(policy, str | Policy)):
            raise InvalidInput(f"no policy {policy!r}; name one, as in seed-001")
        if isinstance(policy, str) and policy.strip().partition("?")[0] != DEFAULT:
            self._deps.resolve_policy(policy)

    def _policy_of(self, tx: Transaction, thread_id: UUID, policy: str | None) -> Policy[Any]:
        """Return a policy by name as a thread's modality reads it; this memory's own unless named."""
        thread = tx.threads.get(thread_id)
        if policy is None:
            return self._works.segmenter.of(thread).policy
        check_modality(policy, thread.modality if thread else MESSAGE)
        return self._deps.resolve_policy(for_modality(policy, thread.modality if thread else ""))
