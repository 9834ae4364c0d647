"""The verbs about chains: read one, read the whole arc, link by hand, take a link back."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from episodic_agent.core.chaining import (
    Choice,
    Refusal,
    Walk,
    ancestors,
    arc,
    check_parent,
    decision_of,
    given,
)
from episodic_agent.core.chaining.deciding import AUTO, HAND
from episodic_agent.core.chaining.deciding import CHAIN as LINKED
from episodic_agent.core.identity import decision_id
from episodic_agent.core.interfaces import Transaction
from episodic_agent.core.linking.outcomes import CORRECT, INCORRECT
from episodic_agent.engine.chaining import chain_decisions
from episodic_agent.engine.chains import CHAIN, parents_above, tree_of
from episodic_agent.engine.given import episode_identity, tidy
from episodic_agent.engine.parting import whole
from episodic_agent.engine.scoped import Scoped
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.schemas import Decision, Episode, EpisodeKind

log = logging.getLogger(__name__)


class ChainVerbs(Scoped):
    """The verbs of `Memory` about which session goes on from which."""

    def get_episode_chain(self, episode: "UUID | str", *, user_id: str | None = None) -> list[Episode]:
        """Return a session with those before it in its chain, the root first; NotFound for an unknown one.

        Where a damaged store has parents run in a circle each is told once, with a warning in the log.
        """
        identity = episode_identity(episode)
        with self._read(user_id) as tx:
            _there(tx, identity)
            return _told(tx, ancestors(identity, parents_above(tx, [identity])))

    def get_episode_arc(self, episode: "UUID | str", *, user_id: str | None = None) -> list[Episode]:
        """Return the whole tree a session stands in, branches too, by start; NotFound for an unknown one."""
        identity = episode_identity(episode)
        with self._read(user_id) as tx:
            _there(tx, identity)
            return _told(tx, arc(identity, tree_of(tx, identity)))

    def chain(
        self, episode: "UUID | str", parent: "UUID | str", *, user_id: str | None = None
    ) -> Decision | None:
        """Let a session go on from an earlier one, by hand; return the record (None: it does so already).

        A refusal of the pair is forgotten. Raises NotFound for either, InvalidInput for the session itself,
        for what goes on from it, and for what is no session.
        """
        child, above = episode_identity(episode), episode_identity(parent)
        with self._parts.store.begin(self._known(user_id)) as tx:
            tx.threads.hold()
            before = _session(tx, child).parent_episode_id
            check_parent(child, above, parents_above(tx, [above]))
            _session(tx, above)
            tx.chains.lift(child, above)
            _judge(tx, child, above, belongs=True)
            if before == above:
                return None
            tx.chains.lead(child, above)
            return _by_hand(tx, child, above, self._parts.clock())

    def unchain(self, episode: "UUID | str", *, by: str = "", user_id: str | None = None) -> Refusal:
        """Take the link of a session to its parent back: neither that chain is proposed for it again.

        `by` says who did. Raises NotFound for an unknown session and for one without a parent.
        """
        child = episode_identity(episode)
        with self._parts.store.begin(self._known(user_id)) as tx:
            tx.threads.hold()
            parent = _there(tx, child).parent_episode_id
            if parent is None:
                raise NotFound(f"episode {child} goes on from none; `episodic chain {child}` shows its chain")
            refusal = Refusal(child, parent, self._parts.clock(), tidy(by) or "")
            tx.chains.lead(child, None)
            tx.chains.refuse(refusal)
            _judge(tx, child, parent, belongs=False)
            return refusal

    def chain_refusals(self, *, user_id: str | None = None) -> list[Refusal]:
        """Return the links of sessions that were taken back, oldest first."""
        with self._read(user_id) as tx:
            return list(tx.chains.refusals())


def _there(tx: Transaction, identity: UUID) -> Episode:
    found = tx.episodes.get(identity)
    if found is None:
        raise NotFound(f"no episode {identity}; `episodic summaries` lists sessions")
    return found


def _session(tx: Transaction, identity: UUID) -> Episode:
    found = _there(tx, identity)
    if found.kind is not EpisodeKind.PRIMARY:
        raise InvalidInput(f"{identity} is no session; `episodic summaries` lists sessions")
    return found


def _told(tx: Transaction, walk: Walk) -> list[Episode]:
    if walk.looped:
        log.warning("the chain of %s runs in a circle; unlink one of its episodes", walk.ids[-1])
    found = tx.episodes.by_ids(walk.ids)
    return [whole(tx, found[one]) for one in walk.ids if one in found]


def _judge(tx: Transaction, child: UUID, parent: UUID, *, belongs: bool) -> None:
    """Keep what a hand says of the newest automatic verdict, where it says anything of it."""
    judged = [one for one in chain_decisions(tx, child) if one.detail.get("method") == AUTO]
    for one in judged[-1:]:
        chained, same = one.verdict == LINKED, one.detail.get("candidate") == str(parent)
        if same:
            tx.episodes.amend(replace(one, outcome=CORRECT if chained == belongs else INCORRECT))
        elif chained and belongs:  # it goes on from another one
            tx.episodes.amend(replace(one, outcome=INCORRECT))


def _by_hand(tx: Transaction, child: UUID, parent: UUID, now: datetime) -> Decision:
    made = decision_of(child, Choice(given(parent, HAND)), now, "open")
    assert made is not None  # there is a parent
    count = len(_of_hand(chain_decisions(tx, child)))
    made = replace(made, id=decision_id(child, f"{CHAIN}:{HAND}:{count}"))
    tx.episodes.decide(made)
    return made


def _of_hand(decisions: Sequence[Decision]) -> list[Decision]:
    return [one for one in decisions if one.detail.get("method") == HAND]
