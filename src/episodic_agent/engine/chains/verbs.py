"""The verbs about chains: read one, read the whole arc, link by hand, take a link back."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final, Unpack
from uuid import UUID

from episodic_agent.core.chains.deciding import CHAIN as LINKED
from episodic_agent.core.chains.deciding import HAND, ChainChoice, decision_of, unjudged_verdict
from episodic_agent.core.chains.sequences import DEFAULT, LEAST_RELEVANCE, RELEVANT
from episodic_agent.core.chains.trees import Walk, ancestors, arc, check_order, check_parent, heads
from episodic_agent.core.identity import decision_id
from episodic_agent.core.links.outcomes import CORRECT, INCORRECT
from episodic_agent.engine.arguments import clean_name, counted, episode_identity
from episodic_agent.engine.chains.ancestry import parents_above, tree_of
from episodic_agent.engine.chains.arcs import Arc, arc_of
from episodic_agent.engine.chains.job import automatic_verdict, chain_decisions, keep_above
from episodic_agent.engine.chains.sequences import EpisodeSequence, replay_of, sequence_of, story_of
from episodic_agent.engine.filters import Filter, Narrowed, narrowed
from episodic_agent.engine.jobs.kinds import CHAIN
from episodic_agent.engine.lived import as_lived
from episodic_agent.engine.scoped import RoomOf, Scoped
from episodic_agent.engine.sections.bounds import with_end
from episodic_agent.engine.trace.acts import acts
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.protocols import Transaction
from episodic_agent.schemas import Decision, Episode, EpisodeKind
from episodic_agent.schemas.chains import Refusal, TreeNode

_EVER: Final = datetime.max.replace(tzinfo=UTC)
log = logging.getLogger(__name__)


@acts("chains", within=("replay", "sequence"))
class ChainRoom(RoomOf):
    """Which of a user's sessions goes on from which, and the episodes of a topic in order."""

    def __init__(self, at: Scoped) -> None:
        self._at = at
        self._deps = at.deps

    def get(self, episode: "UUID | str") -> Sequence[Episode]:
        """Return a session with those before it in its chain, the root first; NotFound for an unknown one.

        An episode stands for the session it lies in.
        Where a damaged store has parents run in a circle each is told once, with a warning in the log.
        """
        identity = episode_identity(episode)
        with self._at.read() as tx:
            session = _around(tx, identity)
            return _walk_episodes(tx, ancestors(session, parents_above(tx, [session])))

    def tree(self, episode: "UUID | str") -> Sequence[Episode]:
        """Return the whole tree a session stands in, branches too, by start; NotFound for an unknown one."""
        identity = episode_identity(episode)
        with self._at.read() as tx:
            session = _around(tx, identity)
            return _walk_episodes(tx, arc(session, tree_of(tx, session)))

    def heads(self, *, limit: int = 20) -> Sequence[Episode]:
        """Return the closed sessions that nothing goes on from yet, where a story may go on; latest first.

        Raises InvalidInput for a limit under 1.
        """
        limit = counted("limit", limit)
        with self._at.read() as tx:
            asked = limit
            while True:
                closed = tx.episodes.latest(limit=asked, before=_EVER)
                children = tx.episodes.nodes(closed, "children")
                nodes = {n.id: n for n in (*tx.episodes.nodes(closed), *children)}
                among = set(closed)
                ends = [one for one in heads(list(nodes.values())) if one in among]
                if len(ends) >= limit or len(closed) < asked:
                    break
                asked *= 2
            episodes = tx.episodes.get(ends[:limit])
            return [episodes[one] for one in ends[:limit] if one in episodes]

    def add(self, episode: "UUID | str", parent: "UUID | str") -> Decision | None:
        """Let a session go on from an earlier one, by hand; return the record (None: it does so already).

        A refusal of the pair is forgotten. Raises NotFound for either, InvalidInput for the session itself,
        for what goes on from it, began after it, or is no session.
        """
        child, above = episode_identity(episode), episode_identity(parent)
        with self._at.write() as tx:
            tx.hold("threads")
            before = _session(tx, child).parent_episode_id
            check_parent(child, above, parents_above(tx, [above]))
            earlier = _session(tx, above)
            check_order(_node(_there(tx, child)), _node(earlier))
            tx.episodes.drop(*(one for one in tx.episodes.refusals(child) if one.parent == above))
            _judge(tx, child, above, belongs=True)
            if before == above:
                return None
            tx.episodes.lead(child, above)
            keep_above(tx, above)
            return _by_hand(tx, child, above, self._deps.clock())

    def remove(self, episode: "UUID | str", *, by: str = "") -> Refusal:
        """Take the link of a session to its parent back: neither that chain is proposed for it again.

        `by` says who did. Raises NotFound for an unknown session and for one without a parent.
        """
        child = episode_identity(episode)
        with self._at.write() as tx:
            tx.hold("threads")
            parent = _there(tx, child).parent_episode_id
            if parent is None:
                raise NotFound(f"episode {child} goes on from none; `episodic chain {child}` shows its chain")
            refusal = Refusal(child, parent, self._deps.clock(), clean_name(by) or "")
            tx.episodes.lead(child, None)
            tx.episodes.put(refusal)
            _judge(tx, child, parent, belongs=False)
            return refusal

    def refusals(self) -> Sequence[Refusal]:
        """Return the links of sessions that were taken back, oldest first."""
        with self._at.read() as tx:
            return list(tx.episodes.refusals())

    def arc(self, episode: "UUID | str") -> Arc:
        """Return the tree a session stands in, placed for a picture; NotFound for an unknown session.

        `episodic_agent.plots` draws it (`arc_svg`, `arc_png`, `arc_terminal`).
        """
        identity = episode_identity(episode)
        with self._at.read() as tx:
            return arc_of(tx, _around(tx, identity))

    def sequence(
        self,
        topic: str = "",
        limit: int = 10,
        min_relevance: float = LEAST_RELEVANCE,
        *,
        order: str = RELEVANT,
        policy: str = DEFAULT,
        filter: Filter | None = None,
        **narrow: Unpack[Narrowed],
    ) -> EpisodeSequence:
        """Return the closed episodes of a topic, earliest first: the `limit` most relevant, or the newest.

        The sessions that go on from theirs are told too, each by its last episode, the end of a chain before
        anything else (from a long entry of several matters only those that bear on the topic); `left_out`
        says how many there are more than the limit.

        Only what is over `min_relevance` (a calibrated probability, strict) counts. `order` is `relevant` or
        `recent`; an empty topic takes the newest whatever they are about. A filter's `since <= start < until`
        and `where` narrow it, its `project` leaves out what is of other folders, its `only` what was not said
        in these threads and channels, as `thread` and `channel` do of one. Policy `seed-004` is the seed's
        own. What is suppressed or archived is left out. Raises InvalidInput for what cannot be read, NotFound
        for a thread or channel that is none.
        """
        takes = ("thread", "channel", "since", "until", "where", "project", "only")
        filter_ = narrowed(filter, narrow, takes=takes)
        return sequence_of(self._at, topic, limit, min_relevance, filter_, order=order, policy=policy)

    def replay(
        self,
        topic: str,
        limit: int = 5,
        *,
        order: str = RELEVANT,
        policy: str = DEFAULT,
        filter: Filter | None = None,
        **narrow: Unpack[Narrowed],
    ) -> str:
        """Return the story of a topic as text, in seed 004's form; takes what `sequence` does.

        Where the limit leaves episodes out, the newest of them is told in place of the one least relevant.
        """
        sequence = story_of(self.sequence, topic, limit, order=order, policy=policy, filter=filter, **narrow)
        sequence[:] = as_lived(self, sequence)  # the day on which it was said is told
        return replay_of(topic, sequence, policy=policy)


def _there(tx: Transaction, identity: UUID) -> Episode:
    episode = tx.episodes.get(identity)
    if episode is None:
        raise NotFound(f"no episode {identity}; `episodic summaries` lists sessions")
    return episode


def _around(tx: Transaction, identity: UUID) -> UUID:
    """Return the session that is asked for: by its own id, or by that of an episode in it.

    A session that has no words yet and goes on with nothing tells less than its episode.
    """
    episode = _there(tx, identity)
    section = tx.threads.section(episode.thread_id, episode.first_seq)
    if episode.kind is not EpisodeKind.EVENT or section is None:
        return identity
    session = _there(tx, section.episode_id)
    return session.id if session.title or session.parent_episode_id is not None else identity


def _node(episode: Episode) -> TreeNode:
    return TreeNode(episode.id, episode.parent_episode_id, episode.start_at)


def _session(tx: Transaction, identity: UUID) -> Episode:
    episode = _there(tx, identity)
    if episode.kind is not EpisodeKind.PRIMARY:
        raise InvalidInput(f"{identity} is no session; `episodic summaries` lists sessions")
    return episode


def _walk_episodes(tx: Transaction, walk: Walk) -> list[Episode]:
    if walk.looped:
        log.warning("the chain of %s runs in a circle; unlink one of its episodes", walk.ids[-1])
    episodes = tx.episodes.get(walk.ids)
    return [with_end(tx, episodes[one]) for one in walk.ids if one in episodes]


def _judge(tx: Transaction, child: UUID, parent: UUID, *, belongs: bool) -> None:
    """Keep what a hand says of the newest automatic verdict, where it says anything of it."""
    for decision in automatic_verdict(tx, child):
        chained, same = decision.verdict == LINKED, decision.detail.get("candidate") == str(parent)
        if same:
            outcome = CORRECT if chained == belongs else INCORRECT
            tx.knowledge.decide(replace(decision, outcome=outcome), amend=True)
        elif chained and belongs:  # it goes on from another one
            tx.knowledge.decide(replace(decision, outcome=INCORRECT), amend=True)


def _by_hand(tx: Transaction, child: UUID, parent: UUID, now: datetime) -> Decision:
    made = decision_of(child, ChainChoice(unjudged_verdict(parent, HAND)), now, "open")
    assert made is not None  # there is a parent
    count = len(_of_hand(chain_decisions(tx, child)))
    made = replace(made, id=decision_id(child, f"{CHAIN}:{HAND}:{count}"))
    tx.knowledge.decide(made)
    return made


def _of_hand(decisions: Sequence[Decision]) -> list[Decision]:
    return [one for one in decisions if one.detail.get("method") == HAND]
