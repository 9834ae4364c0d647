"""The verbs about links: list, explain, link and unlink by hand, and what a message would be linked to."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from episodic_agent.engine.arguments import aware, clean_name, counted, worded
from episodic_agent.engine.episodes.listing import find_thread
from episodic_agent.engine.jobs.kinds import LINK
from episodic_agent.engine.links import joining
from episodic_agent.engine.links.joining import unlink
from episodic_agent.engine.scoped import RoomOf, Scoped
from episodic_agent.engine.trace.acts import acts
from episodic_agent.engine.works import Works
from episodic_agent.errors import InvalidInput, NotFound, ProviderError
from episodic_agent.lazily import module
from episodic_agent.protocols import stored_decision
from episodic_agent.schemas import Decision, Episode, Link, Thread
from episodic_agent.showing import described

if TYPE_CHECKING:
    from episodic_agent.core.links import outcomes as link_outcomes
    from episodic_agent.core.links import verdict as core_links
    from episodic_agent.engine.links import explaining
    from episodic_agent.engine.links import job as link_job
    from episodic_agent.engine.tuning import outcomes as tuning_outcomes
else:
    core_links = module("episodic_agent.core.links.verdict")
    explaining = module("episodic_agent.engine.links.explaining")
    link_job = module("episodic_agent.engine.links.job")
    link_outcomes = module("episodic_agent.core.links.outcomes")
    tuning_outcomes = module("episodic_agent.engine.tuning.outcomes")


@dataclass(frozen=True, slots=True)
class LinkCard:
    """A link with its two threads, and the decision it came from, unless somebody made it by hand."""

    link: Link
    earlier: Thread
    later: Thread
    decision: Decision | None

    def __repr__(self) -> str:
        return described(
            self, f"{self.later.origin} goes on with {self.earlier.origin}", self.link.basis, self.link.label
        )


@acts("links")
class LinkRoom(RoomOf):
    """The links between a user's threads."""

    def __init__(self, at: Scoped, works: Works) -> None:
        self._at = at
        self._deps = at.deps
        self._works = works

    def list(
        self,
        *,
        thread: str | None = None,
        taken_back: bool = False,
        limit: int = joining.EVERY,
    ) -> Sequence[LinkCard]:
        """Return links (of one thread), newest first; with those that were taken back where wanted."""
        most = counted("limit", limit, 0)
        with self._at.read() as tx:
            if thread is None:
                links: Sequence[Link] = tx.threads.links(limit=most, taken_back=bool(taken_back))
            else:
                named = find_thread(tx, clean_name(thread) or "")
                links = [*reversed(tx.threads.links([named.id], taken_back=bool(taken_back)))][:most]
            ends = {identity for link in links for identity in (link.earlier, link.later)}
            threads = {t.id: t for t in map(tx.threads.get, ends) if t is not None}
            return [
                LinkCard(
                    link,
                    threads[link.earlier],
                    threads[link.later],
                    stored_decision(tx, link.decision_id),
                )
                for link in links
            ]

    def explain(self, thread: str, other: str | None = None) -> "explaining.LinkExplanation":
        """Say why a thread was linked to earlier ones (to one of them) and to others not."""
        with self._at.read() as tx:
            named = find_thread(tx, clean_name(thread) or "")
            return explaining.explain_links(
                tx, named, None if other is None else find_thread(tx, clean_name(other) or "")
            )

    def add(self, thread: str, other: str) -> Link:
        """Link two threads by hand, whatever was decided of them; InvalidInput for one thread twice."""
        with self._at.write() as tx:
            this_thread, two = (find_thread(tx, clean_name(name) or "") for name in (thread, other))
            if this_thread.id == two.id:
                raise InvalidInput("a thread is not linked to itself; name two threads")
            return link_job.link_by_hand(tx, this_thread, two, self._deps.clock())

    def remove(self, thread: str, other: str) -> Link:
        """Take the link of two threads back; they stay apart until somebody links them by hand.

        A thread that nothing else links drops out of its cross-thread episode. Raises NotFound where the two
        are not linked.
        """
        with self._at.write() as tx:
            tx.hold("threads")
            this_thread, two = (find_thread(tx, clean_name(name) or "") for name in (thread, other))
            links = tx.threads.links([this_thread.id])
            there = [link for link in links if {link.earlier, link.later} == {this_thread.id, two.id}]
            if not there:
                raise NotFound(
                    f"{this_thread.origin} and {two.origin} are not linked; `episodic link list` shows links"
                )
            now = self._deps.clock()
            if there[0].decision_id is not None:  # who takes it back says that it was wrong
                tuning_outcomes.tell(tx, there[0].decision_id, link_outcomes.INCORRECT, now, type=LINK)
            return unlink(tx, there[0], now)

    def episodes(self) -> Sequence[Episode]:
        """Return the episodes that linked threads form, each with its threads and members in `metadata`."""
        with self._at.read() as tx:
            return joining.episodes(tx)

    def foresee(
        self,
        text: str,
        *,
        at: datetime | None = None,
        thread: str | None = None,
    ) -> "Sequence[tuple[Thread, core_links.LinkVerdict]]":
        """Return what a message would be linked to if it began a thread now, best first; keeps nothing.

        `thread` is one to leave out, its own. No language model is asked.
        """
        embedder, vector = self._deps.embedder, None
        if worded("text", text).strip() and embedder is not None:
            try:
                vector = embedder.embed([text])[0]
            except ProviderError:
                vector = None  # the algorithm then reads words alone
        moment = aware(at) or self._deps.clock()
        with self._at.read() as tx:
            own = [] if thread is None else [find_thread(tx, clean_name(thread) or "").id]
            pairs = self._works.linker.foreseen(tx, text, vector, moment, own)
            threads = {identity: tx.threads.get(identity) for identity, _ in pairs}
            return [(t, verdict) for identity, verdict in pairs if (t := threads[identity]) is not None]

    def outcome(self, link: "UUID | str", outcome: str) -> Decision:
        """Say whether a link, or a refusal to link, was `correct` or `incorrect`; return its decision.

        `link` is the decision's id (a link's `decision_id`) or the beginning of it. What is told by hand
        counts as much as the user's own words, and no behaviour overwrites it. An incorrect link is taken
        back at once; `link` brings it back.
        """
        with self._at.write() as tx:
            return tuning_outcomes.tell(tx, link, outcome, self._deps.clock(), type=LINK)
