"""The verbs of care: pin, suppress, and what a memory lets go with time (docs/forgetting.md)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from episodic_agent.core.echo import all_heard
from episodic_agent.core.interfaces import Mark, MarkKind, SuppressedWords, Transaction, split_ref
from episodic_agent.core.retention import Chosen, Retention, Standing, read_retention
from episodic_agent.core.text import repair
from episodic_agent.engine import listing
from episodic_agent.engine.curtain import span_of
from episodic_agent.engine.given import aware, episode_identity, tidy
from episodic_agent.engine.retaining import Keeper, Kept, Plan, plan, policy_of
from episodic_agent.engine.scoped import Scoped, find_thread
from episodic_agent.errors import InvalidInput

BY_HAND: Final = "by hand"
LONGEST_WORDS: Final = 1000  # characters


@dataclass(frozen=True, slots=True)
class Marked:
    """What is pinned, suppressed or archived: a stretch of a thread (`last_seq` None: to its end), or words.

    `thread` is its name, "" of words; `at` is record time; `episodes` are those that it meets today.
    """

    kind: str
    at: datetime
    reason: str = ""
    words: str = ""
    thread: str = ""
    first_seq: int = 0
    last_seq: int | None = None
    episodes: Sequence[UUID] = ()
    title: str = ""


@dataclass(frozen=True, slots=True)
class RetentionState:
    """The policy of a user: its rules, whether it is their own or the setting's, and what it has put away.

    `expiring` counts the observations with a time to live.
    """

    policy: str
    own: bool
    archived: int
    pinned: int
    expiring: int


@dataclass(frozen=True, slots=True)
class LetGo:
    """An episode that retention would change: `action` is archive, erase, wait (archived already) or return.

    `at` is when it is erased, None where that is not decided yet.
    """

    episode_id: UUID
    thread: str
    title: str
    end_at: datetime
    action: str
    reason: str
    retrievability: float
    at: datetime | None = None


class CareVerbs(Scoped):
    """The verbs of `Memory` that keep, hide and let go."""

    _keeper: Keeper

    # --- pin ---------------------------------------------------------------------------------------------

    def pin(
        self,
        episode_id: "UUID | str | None" = None,
        *,
        thread: str | None = None,
        reason: str = "",
        user_id: str | None = None,
    ) -> Marked:
        """Pin an episode or open frame, or a whole thread with what is still to come.

        What is pinned is let go by no policy and does not fade in recall; what was archived comes back.
        """
        with self._parts.store.begin(self._known(user_id)) as tx:
            span, title = self._meant(tx, episode_id, thread)
            mark = Mark(*span, MarkKind.PINNED, self._parts.clock(), (tidy(reason) or "").strip())
            tx.care.mark(mark)
            tx.care.release(MarkKind.ARCHIVED, *span)
            return _marked(tx, mark, title)

    def unpin(
        self,
        episode_id: "UUID | str | None" = None,
        *,
        thread: str | None = None,
        user_id: str | None = None,
    ) -> bool:
        """Take the pin off an episode or a thread; tell whether there was one."""
        return self._take_off(MarkKind.PINNED, episode_id, thread, user_id)

    def pinned(self, *, user_id: str | None = None) -> list[Marked]:
        """Return what is pinned, by thread and place in it."""
        with self._read(user_id) as tx:
            return [_marked(tx, mark) for mark in tx.care.marks(MarkKind.PINNED)]

    # --- suppress ----------------------------------------------------------------------------------------

    def suppress(
        self,
        episode_id: "UUID | str | None" = None,
        *,
        thread: str | None = None,
        words: str | None = None,
        reason: str = "",
        user_id: str | None = None,
    ) -> Marked:
        """Keep an episode, a whole thread, or whatever holds some words, but show it no more.

        `search`, `recent` and `context` leave it out, and no skills are learnt from it. Words are compared
        whole and in any case, with messages and with the titles and summaries of episodes.
        """
        now, why = self._parts.clock(), (tidy(reason) or "").strip()
        with self._parts.store.begin(self._known(user_id)) as tx:
            if words is not None:
                said = _words(words, episode_id, thread)
                tx.care.suppress_words(SuppressedWords(said, now, why or BY_HAND))
                return Marked(MarkKind.SUPPRESSED.value, now, why or BY_HAND, words=said)
            span, title = self._meant(tx, episode_id, thread)
            mark = Mark(*span, MarkKind.SUPPRESSED, now, why or BY_HAND)
            tx.care.mark(mark)
            return _marked(tx, mark, title)

    def unsuppress(
        self,
        episode_id: "UUID | str | None" = None,
        *,
        thread: str | None = None,
        words: str | None = None,
        user_id: str | None = None,
    ) -> bool:
        """Take an episode, a thread or words off the suppression list; tell whether they were on it.

        An episode of a suppressed thread can be shown alone; the thread takes all of its episodes off.
        """
        if words is None:
            return self._take_off(MarkKind.SUPPRESSED, episode_id, thread, user_id)
        with self._parts.store.begin(self._known(user_id)) as tx:
            return tx.care.unsuppress_words(_words(words, episode_id, thread))

    def suppressed(self, *, user_id: str | None = None) -> list[Marked]:
        """Return what is suppressed, with reason and time: words first, then by thread and place in it."""
        with self._read(user_id) as tx:
            said = [Marked(MarkKind.SUPPRESSED.value, w.at, w.reason, words=w.words) for w in tx.care.words()]
            return said + [_marked(tx, mark) for mark in tx.care.marks(MarkKind.SUPPRESSED)]

    # --- retention ---------------------------------------------------------------------------------------

    def retention(self, *, user_id: str | None = None) -> RetentionState:
        """Return the policy that says what this user's memory lets go, and what it has put away."""
        with self._read(user_id) as tx:
            return RetentionState(
                policy=str(policy_of(tx, self._parts)),
                own=tx.care.policy() is not None,
                archived=sum(len(_episodes(tx, mark)) for mark in tx.care.marks(MarkKind.ARCHIVED)),
                pinned=sum(len(_episodes(tx, mark)) for mark in tx.care.marks(MarkKind.PINNED)),
                expiring=tx.care.expiring(),
            )

    def set_retention(self, policy: str | None, *, user_id: str | None = None) -> RetentionState:
        """Set the user's own policy ("age=365d,strength=0.2,count=10000,grace=30d", or "none").

        None goes back to the setting `EPISODIC_RETENTION`. Nothing happens until upkeep or
        `apply_retention`; `preview_retention` says what will. Raises InvalidInput for an unknown rule.
        """
        kept = None if policy is None else str(read_retention(tidy(policy) or ""))
        with self._parts.store.begin(self._scope(user_id)) as tx:
            tx.care.set_policy(kept)
        return self.retention(user_id=user_id)

    def preview_retention(
        self, policy: str | None = None, *, user_id: str | None = None, now: datetime | None = None
    ) -> list[LetGo]:
        """Return what a policy (the user's unless given) would put away, erase and bring back, and why.

        An archived episode keeps everything, and its facts with it; erasing takes the evidence away.
        """
        moment = aware(now) or self._parts.clock()
        with self._read(user_id) as tx:
            wanted = policy_of(tx, self._parts) if policy is None else read_retention(tidy(policy) or "")
            return list(_preview(tx, plan(tx, wanted, moment), wanted, moment))

    def apply_retention(self, *, user_id: str | None = None, now: datetime | None = None) -> Kept:
        """Do at once what upkeep does bit by bit: erase what has expired, archive, erase what was archived.

        Nothing is put away and erased by one call.
        """
        return self._keeper.apply(self._known(user_id), aware(now))

    # --- which -------------------------------------------------------------------------------------------

    def _meant(
        self, tx: Transaction, episode_id: "UUID | str | None", thread: str | None
    ) -> tuple[tuple[int, int], str]:
        """Return the refs that are meant, and what they are called."""
        if (episode_id is None) == (thread is None):
            raise InvalidInput("name one thing: an episode, or a thread")
        if thread is not None:
            found = find_thread(tx, tidy(thread) or "")
            return span_of(tx, found.id, 0, None), found.title or found.origin
        said = listing.messages(tx, identity := episode_identity(episode_id or ""))
        if not said:
            raise InvalidInput(f"episode {identity} holds no messages any more")
        if any(o.thread_id != said[0].thread_id for o in said):
            raise InvalidInput("this episode is made of linked threads; name one of its threads")
        held = tx.episodes.get(listing.successor(tx, identity))
        first = next(iter(all_heard(said)), said[0])
        title = first.text[: listing.PREVIEW] if held is None else held.title
        return span_of(tx, said[0].thread_id, said[0].seq, said[-1].seq), title

    def _take_off(
        self, kind: MarkKind, episode_id: "UUID | str | None", thread: str | None, user_id: str | None
    ) -> bool:
        with self._parts.store.begin(self._known(user_id)) as tx:
            span, _ = self._meant(tx, episode_id, thread)
            taken = tx.care.release(kind, *span)
            if taken and kind is MarkKind.SUPPRESSED:
                # nobody has learnt from them while they were hidden
                firsts = _first_refs(tx, span)
                tx.skills.await_mining(firsts)
                tx.episodes.reconsider([e.id for e in tx.episodes.by_refs(firsts).values()])
            return taken > 0


def _words(words: str, episode_id: object, thread: object) -> str:
    said = " ".join(repair(str(words))[0].split())
    if episode_id is not None or thread is not None:
        raise InvalidInput("name one thing: an episode, a thread, or words")
    if not said or len(said) > LONGEST_WORDS:
        raise InvalidInput(f"the words are 1 to {LONGEST_WORDS} characters long; give what is to be hidden")
    return said


def _first_refs(tx: Transaction, span: tuple[int, int]) -> list[int]:
    number, first = split_ref(span[0])
    thread = tx.threads.by_numbers([number]).get(number)
    last = min(split_ref(span[1])[1], tx.threads.frame(thread).next_seq - 1) if thread else -1
    if last < first:
        return []
    return [c.first_ref for c in tx.episodes.covers([(span[0], span[0] - first + last)])]


def _episodes(tx: Transaction, mark: Mark) -> list[UUID]:
    firsts = tx.episodes.by_refs(_first_refs(tx, (mark.first_ref, mark.last_ref)))
    return [episode.id for _, episode in sorted(firsts.items())]


def _marked(tx: Transaction, mark: Mark, title: str = "") -> Marked:
    """Describe a mark as it stands today."""
    number, first = split_ref(mark.first_ref)
    last = split_ref(mark.last_ref)[1]
    identity = tx.threads.by_numbers([number])[number]
    thread = tx.threads.get(identity)
    unending = last >= tx.threads.frame(identity).next_seq
    episodes = _episodes(tx, mark)
    if not title and thread is not None:
        found = tx.episodes.get(episodes[0]) if episodes and not unending else None
        title = (thread.title or thread.origin) if found is None else found.title
    return Marked(
        kind=mark.kind.value,
        at=mark.at,
        reason=mark.reason,
        thread="" if thread is None else thread.origin,
        first_seq=first,
        last_seq=None if unending else last,
        episodes=tuple(episodes),
        title=title,
    )


def _preview(tx: Transaction, found: Plan, policy: Retention, now: datetime) -> Iterator[LetGo]:
    due: Mapping[str, datetime] = {one.standing.name: at for one, at in found.waiting}
    going = [("erase", found.erase), ("archive", found.archive), ("wait", [one for one, _ in found.waiting])]
    ids = [UUID(hex=c.standing.name) for _, some in going for c in some]
    stored = tx.episodes.by_ids([*ids, *(UUID(hex=s.name) for s in found.back)])
    origins = {t.id: t.origin for t in tx.threads.list()}

    def entry(standing: Standing, action: str, reason: str, strength: float) -> LetGo:
        episode = stored[UUID(hex=standing.name)]
        at = now if action == "erase" else due.get(standing.name)
        where = origins.get(episode.thread_id, "")
        return LetGo(episode.id, where, episode.title, episode.end_at, action, reason, round(strength, 4), at)

    def chosen(one: Chosen, action: str) -> LetGo:
        return entry(one.standing, action, one.reason, one.retrievability)

    yield from (chosen(one, action) for action, some in going for one in some)
    why = f"no rule of {policy} lets it go any longer" if policy else "nothing is let go any longer"
    yield from (entry(standing, "return", why, standing.retrievability(now)) for standing in found.back)
