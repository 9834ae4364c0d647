"""The verbs about chains: read one, read the whole arc, link by hand, take a link back."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final
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
    heads,
)
from episodic_agent.core.chaining.deciding import AUTO, HAND
from episodic_agent.core.chaining.deciding import CHAIN as LINKED
from episodic_agent.core.identity import decision_id
from episodic_agent.core.interfaces import Transaction
from episodic_agent.core.linking.outcomes import BEHAVIOUR, CORRECT, INCORRECT
from episodic_agent.engine.chaining import chain_decisions
from episodic_agent.engine.chains import CHAIN, parents_above, tree_of
from episodic_agent.engine.given import counted, episode_identity, tidy
from episodic_agent.engine.outcomes import Told, labelled
from episodic_agent.engine.parting import whole
from episodic_agent.engine.scoped import Scoped
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.schemas import Decision, Episode, EpisodeKind

_EVER: Final = datetime.max.replace(tzinfo=UTC)
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

    def get_episode_heads(self, *, limit: int = 20, user_id: str | None = None) -> list[Episode]:
        """Return the closed sessions that nothing goes on from yet, where a story may go on; latest first.

        Raises InvalidInput for a limit under 1.
        """
        counted("limit", limit)
        with self._read(user_id) as tx:
            asked = limit
            while True:
                closed = tx.chains.latest(limit=asked, before=_EVER)
                nodes = {n.id: n for n in (*tx.chains.nodes(closed), *tx.chains.children(closed))}
                among = set(closed)
                ends = [one for one in heads(list(nodes.values())) if one in among]
                if len(ends) >= limit or len(closed) < asked:
                    break
                asked *= 2
            found = tx.episodes.by_ids(ends[:limit])
            return [found[one] for one in ends[:limit] if one in found]

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
            keep_above(tx, above)
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
    for one in _judged(tx, child):
        chained, same = one.verdict == LINKED, one.detail.get("candidate") == str(parent)
        if same:
            tx.episodes.amend(replace(one, outcome=CORRECT if chained == belongs else INCORRECT))
        elif chained and belongs:  # it goes on from another one
            tx.episodes.amend(replace(one, outcome=INCORRECT))


def keep_above(tx: Transaction, episode_id: UUID) -> None:
    """Keep that somebody went on with a session: as far as that tells, it was chained rightly."""
    for one in _judged(tx, episode_id):
        if one.verdict == LINKED and one.outcome is None:
            tx.episodes.amend(labelled(one, Told(CORRECT, BEHAVIOUR, "behaviour", why="it was gone on with")))


def _judged(tx: Transaction, episode_id: UUID) -> list[Decision]:
    """Return the automatic verdict on an episode that stands, of its end or its start, if there is any."""
    found = [one for one in chain_decisions(tx, episode_id) if one.detail.get("method") == AUTO]
    return sorted(found, key=lambda one: one.detail.get("stage") == "close")[-1:]


def _by_hand(tx: Transaction, child: UUID, parent: UUID, now: datetime) -> Decision:
    made = decision_of(child, Choice(given(parent, HAND)), now, "open")
    assert made is not None  # there is a parent
    count = len(_of_hand(chain_decisions(tx, child)))
    made = replace(made, id=decision_id(child, f"{CHAIN}:{HAND}:{count}"))
    tx.episodes.decide(made)
    return made


def _of_hand(decisions: Sequence[Decision]) -> list[Decision]:
    return [one for one in decisions if one.detail.get("method") == HAND]
