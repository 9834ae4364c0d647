"""The verbs about links: list, explain, link and unlink by hand, and what a message would be linked to."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from episodic_agent.core.linking import LinkVerdict
from episodic_agent.core.linking.outcomes import INCORRECT
from episodic_agent.engine import joining
from episodic_agent.engine.given import aware, counted, tidy, worded
from episodic_agent.engine.link_explaining import LinkExplanation, explain_links
from episodic_agent.engine.linking import LINK, Linker, link_by_hand, unlink
from episodic_agent.engine.outcomes import tell
from episodic_agent.engine.scoped import Scoped, find_thread
from episodic_agent.errors import InvalidInput, NotFound, ProviderError
from episodic_agent.schemas import Decision, Episode, Link, Thread


@dataclass(frozen=True, slots=True)
class LinkCard:
    """A link with its two threads, and the decision it came from, unless somebody made it by hand."""

    link: Link
    earlier: Thread
    later: Thread
    decision: Decision | None


class LinkVerbs(Scoped):
    """The verbs of `Memory` about links between threads."""

    _linker: Linker

    def links(
        self,
        *,
        user_id: str | None = None,
        thread: str | None = None,
        taken_back: bool = False,
        limit: int = joining.EVERY,
    ) -> list[LinkCard]:
        """Return links (of one thread), newest first; with those that were taken back where wanted."""
        most = counted("limit", limit, 0)
        with self._read(user_id) as tx:
            if thread is None:
                found: Sequence[Link] = tx.links.list(limit=most, taken_back=bool(taken_back))
            else:
                named = find_thread(tx, tidy(thread) or "")
                found = [*reversed(tx.links.of([named.id], taken_back=bool(taken_back)))][:most]
            ends = {identity for link in found for identity in (link.earlier, link.later)}
            threads = {t.id: t for t in map(tx.threads.get, ends) if t is not None}
            return [
                LinkCard(
                    link,
                    threads[link.earlier],
                    threads[link.later],
                    tx.episodes.decision(link.decision_id) if link.decision_id else None,
                )
                for link in found
            ]

    def link_explain(
        self, thread: str, other: str | None = None, *, user_id: str | None = None
    ) -> LinkExplanation:
        """Say why a thread was linked to earlier ones (to one of them) and to others not."""
        with self._read(user_id) as tx:
            named = find_thread(tx, tidy(thread) or "")
            return explain_links(tx, named, None if other is None else find_thread(tx, tidy(other) or ""))

    def link(self, thread: str, other: str, *, user_id: str | None = None) -> Link:
        """Link two threads by hand, whatever was decided of them; InvalidInput for one thread twice."""
        with self._parts.store.begin(self._known(user_id)) as tx:
            one, two = (find_thread(tx, tidy(name) or "") for name in (thread, other))
            if one.id == two.id:
                raise InvalidInput("a thread is not linked to itself; name two threads")
            return link_by_hand(tx, one, two, self._parts.clock())

    def unlink(self, thread: str, other: str, *, user_id: str | None = None) -> Link:
        """Take the link of two threads back; they stay apart until somebody links them by hand.

        A thread that nothing else links drops out of its cross-thread episode. Raises NotFound where the two
        are not linked.
        """
        with self._parts.store.begin(self._known(user_id)) as tx:
            tx.threads.hold()
            one, two = (find_thread(tx, tidy(name) or "") for name in (thread, other))
            there = [link for link in tx.links.of([one.id]) if {link.earlier, link.later} == {one.id, two.id}]
            if not there:
                raise NotFound(
                    f"{one.origin} and {two.origin} are not linked; `episodic link list` shows links"
                )
            if there[0].decision_id is not None:  # who takes it back says that it was wrong
                tell(tx, there[0].decision_id, INCORRECT, type=LINK)
            return unlink(tx, there[0], self._parts.clock())

    def cross_thread_episodes(self, *, user_id: str | None = None) -> list[Episode]:
        """Return the episodes that linked threads form, each with its threads and members in `metadata`."""
        with self._read(user_id) as tx:
            return joining.episodes(tx)

    def foresee_links(
        self,
        text: str,
        *,
        user_id: str | None = None,
        at: datetime | None = None,
        thread: str | None = None,
    ) -> list[tuple[Thread, LinkVerdict]]:
        """Return what a message would be linked to if it began a thread now, best first; keeps nothing.

        `thread` is one to leave out, its own. No language model is asked.
        """
        embedder, vector = self._parts.embedder, None
        if worded("text", text).strip() and embedder is not None:
            try:
                vector = embedder.embed([text])[0]
            except ProviderError:
                vector = None  # the algorithm then reads words alone
        moment = aware(at) or self._parts.clock()
        with self._read(user_id) as tx:
            own = [] if thread is None else [find_thread(tx, tidy(thread) or "").id]
            found = self._linker.foreseen(tx, text, vector, moment, own)
            threads = {identity: tx.threads.get(identity) for identity, _ in found}
            return [(t, verdict) for identity, verdict in found if (t := threads[identity]) is not None]
