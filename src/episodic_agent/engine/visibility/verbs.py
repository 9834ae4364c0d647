"""Care: pin and suppress, and what a memory lets go with time (docs/forgetting.md)."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from episodic_agent.core.language import repair
from episodic_agent.core.strength import Chosen, Retention, read_retention, strength_at
from episodic_agent.engine.arguments import aware, clean_name, episode_identity
from episodic_agent.engine.episodes import listing
from episodic_agent.engine.episodes.listing import find_thread
from episodic_agent.engine.scoped import RoomOf, Scoped
from episodic_agent.engine.trace.acts import acts, concerns
from episodic_agent.engine.visibility.hidden import longer_words, pattern_of, span_of
from episodic_agent.engine.visibility.retention import Plan, RetentionPass, plan, policy_of, proofs
from episodic_agent.engine.works import Works
from episodic_agent.errors import InvalidInput
from episodic_agent.protocols import Mark, MarkKind, OwnRetention, SuppressedWords, Transaction, split_ref
from episodic_agent.schemas.strength import Standing
from episodic_agent.showing import described

BY_HAND: Final = "by hand"
LONGEST_WORDS: Final = 1000  # characters
COUNTED: Final = 20_000  # messages, the newest, among which those that hold words are counted
_PAGE: Final = 1000
_NAMED: Final = 3  # longer words in which these stand
_ALL: Final = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
_HOW_COMPARED: Final = "words are compared whole and in any case, and hide also what comes to hold them later"


@dataclass(frozen=True, slots=True)
class Marked:
    """What is pinned, suppressed or archived: a stretch of a thread (`last_seq` None: to its end), or words.

    `thread` is its name, "" of words; `at` is record time; `episodes` are those that it meets today.
    `messages` counts, where words are suppressed, those that hold them now, and `note` says where that is
    none, or not all were looked at.
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
    messages: int | None = None
    note: str = ""

    def __repr__(self) -> str:
        return described(self, self.kind, self.words or self.title or self.thread, self.reason)


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

    `at` is when it is erased, None where that is not decided yet. `facts` is how many facts that hold today
    are told in it, and elsewhere in nothing that stays: erasing it takes them along.
    """

    episode_id: UUID
    thread: str
    title: str
    end_at: datetime
    action: str
    reason: str
    retrievability: float
    at: datetime | None = None
    facts: int = 0

    def __repr__(self) -> str:
        return described(self, self.action, self.title, self.thread, self.reason, self.at)


def pin(
    tx: Transaction, episode_id: "UUID | str | None", thread: str | None, *, reason: str, now: datetime
) -> Marked:
    """Pin what is meant; what was archived of it comes back."""
    span, title = _meant(tx, episode_id, thread)
    mark = Mark(*span, MarkKind.PINNED, now, (clean_name(reason) or "").strip())
    tx.upkeep.put(mark)
    tx.upkeep.release(MarkKind.ARCHIVED, *span)
    return _marked(tx, mark, title)


def pinned(tx: Transaction) -> list[Marked]:
    """Return what is pinned, by thread and place in it."""
    return [_marked(tx, mark) for mark in tx.upkeep.marks(MarkKind.PINNED)]


def suppress(
    tx: Transaction, episode_id: "UUID | str | None", thread: str | None, *, reason: str, now: datetime
) -> Marked:
    """Put what is meant on the suppression list."""
    span, title = _meant(tx, episode_id, thread)
    mark = Mark(*span, MarkKind.SUPPRESSED, now, (clean_name(reason) or "").strip() or BY_HAND)
    tx.upkeep.put(mark)
    return _marked(tx, mark, title)


def suppress_words(tx: Transaction, words: str, *, reason: str, now: datetime) -> Marked:
    """Put words on the suppression list."""
    why = (clean_name(reason) or "").strip() or BY_HAND
    tx.upkeep.put(SuppressedWords(words, now, why))
    return Marked(MarkKind.SUPPRESSED.value, now, why, words=words)


def counted(tx: Transaction, marked: Marked) -> Marked:
    """Return suppressed words with how many messages hold them now, of the newest `COUNTED` messages."""
    refs = tx.index.between(*_ALL, limit=COUNTED + 1, newest=True).tolist()
    all_of_them, refs = len(refs) <= COUNTED, refs[-COUNTED:]
    pattern, held = pattern_of(marked.words), 0
    longer: dict[str, None] = {}
    for start in range(0, len(refs), _PAGE):
        for observation in tx.observations.get(refs[start : start + _PAGE]).values():
            if observation.expires_at is not None and observation.expires_at <= marked.at:
                continue  # nobody is told of it
            if pattern.search(observation.text):
                held += 1
            elif len(longer) < _NAMED and (word := longer_words(marked.words, observation.text)):
                longer[word] = None
    return replace(marked, messages=held, note=_note(held, [*longer], among=0 if all_of_them else COUNTED))


def _note(held: int, longer: Sequence[str], *, among: int) -> str:
    """Say what a count leaves open: `among` so many of the newest, 0 where all were looked at."""
    if held:
        looked = f"counted among the newest {among:,} messages: older ones that hold them are hidden, too"
        return looked if among else ""
    nobody = f"none of the newest {among:,} messages holds them" if among else "no message holds them now"
    if longer:
        inside = ", ".join(repr(word) for word in longer)
        return f"{nobody}, but {inside}, of which they are a part: suppress that; {_HOW_COMPARED}"
    return f"{nobody}: {_HOW_COMPARED}"


def suppressed(tx: Transaction) -> list[Marked]:
    """Return what is suppressed: words first, then by thread and place in it."""
    markeds = [
        Marked(MarkKind.SUPPRESSED.value, w.at, w.reason, words=w.words) for w in tx.upkeep.settings().words
    ]
    return markeds + [_marked(tx, mark) for mark in tx.upkeep.marks(MarkKind.SUPPRESSED)]


def take_off(tx: Transaction, kind: MarkKind, episode_id: "UUID | str | None", thread: str | None) -> bool:
    """Take a mark off what is meant; tell whether there was one."""
    span, _ = _meant(tx, episode_id, thread)
    taken = tx.upkeep.release(kind, *span)
    if taken and kind is MarkKind.SUPPRESSED:
        # nobody has learnt from them while they were hidden
        firsts = _first_refs(tx, span)
        tx.knowledge.note_mining(firsts)
        tx.episodes.consolidate([e.id for e in tx.episodes.get(firsts).values()], None)
    return taken > 0


def _meant(
    tx: Transaction, episode_id: "UUID | str | None", thread: str | None
) -> tuple[tuple[int, int], str]:
    """Return the refs that are meant, and what they are called."""
    if (episode_id is None) == (thread is None):
        raise InvalidInput("name one thing: an episode, or a thread")
    if thread is not None:
        matching_thread = find_thread(tx, clean_name(thread) or "")
        concerns("thread", matching_thread.id)
        return span_of(tx, matching_thread.id, 0, None), matching_thread.title or matching_thread.origin
    observations = listing.messages(tx, identity := episode_identity(episode_id or ""))
    if not observations:
        raise InvalidInput(f"episode {identity} holds no messages any more")
    if any(o.thread_id != observations[0].thread_id for o in observations):
        raise InvalidInput("this episode is made of linked threads; name one of its threads")
    held = tx.episodes.get(listing.successor(tx, identity))
    concerns("episode", identity)
    title = listing.words_of_open(observations).title if held is None else held.title
    return span_of(tx, observations[0].thread_id, observations[0].seq, observations[-1].seq), title


def words_of(words: str, episode_id: object, thread: object) -> str:
    """Return words that are to be hidden, in one line; InvalidInput where they are none, or not alone."""
    text = " ".join(repair(str(words))[0].split())
    if episode_id is not None or thread is not None:
        raise InvalidInput("name one thing: an episode, a thread, or words")
    if not text or len(text) > LONGEST_WORDS:
        raise InvalidInput(f"the words are 1 to {LONGEST_WORDS} characters long; give what is to be hidden")
    return text


@acts("retention")
class RetentionRoom(RoomOf):
    """What a user's memory lets go with time."""

    def __init__(self, at: Scoped, works: Works) -> None:
        self._at = at
        self._deps = at.deps
        self._works = works

    def get(self) -> RetentionState:
        """Return the policy that says what this user's memory lets go, and what it has put away."""
        with self._at.read() as tx:
            return RetentionState(
                policy=str(policy_of(tx, self._deps)),
                own=tx.upkeep.settings().retention is not None,
                archived=sum(len(_episodes(tx, mark)) for mark in tx.upkeep.marks(MarkKind.ARCHIVED)),
                pinned=sum(len(_episodes(tx, mark)) for mark in tx.upkeep.marks(MarkKind.PINNED)),
                expiring=tx.count("expiring"),
            )

    def set(self, policy: str | None) -> RetentionState:
        """Set the user's own policy ("age=365d,strength=0.2,count=10000,grace=30d", or "none").

        With `keep=facts` an episode stays as long as it tells a fact that nothing has ended.
        `audit=730d` is how long it is kept who did what (`trace.audit`), alone or beside these.
        None goes back to the setting `EPISODIC_RETENTION`. Nothing happens until upkeep or
        `apply`; `preview` says what will. Raises InvalidInput for an unknown rule.
        """
        text = None if policy is None else str(read_retention(clean_name(policy) or ""))
        with self._deps.store.begin(self._at.scope) as tx:
            tx.upkeep.put(OwnRetention(text))
        return self.get()

    def preview(self, policy: str | None = None, *, now: datetime | None = None) -> list[LetGo]:
        """Return what a policy (the user's unless given) would put away, erase and bring back, and why.

        An archived episode keeps everything, and its facts with it; erasing takes the evidence away.
        """
        moment = aware(now) or self._deps.clock()
        with self._at.read() as tx:
            retention = (
                policy_of(tx, self._deps) if policy is None else read_retention(clean_name(policy) or "")
            )
            return list(_preview(tx, plan(tx, retention, moment), retention, moment))

    def apply(self, *, now: datetime | None = None) -> RetentionPass:
        """Do at once what upkeep does bit by bit: erase what has expired, archive, erase what was archived.

        Nothing is put away and erased by one call.
        """
        return self._works.keeper.apply(self._at.known(), aware(now))


def _first_refs(tx: Transaction, span: tuple[int, int]) -> list[int]:
    number, first = split_ref(span[0])
    thread = tx.threads.by_numbers([number]).get(number)
    last = min(split_ref(span[1])[1], tx.threads.frame(thread).next_seq - 1) if thread else -1
    if last < first:
        return []
    return [c.first_ref for c in tx.index.covers([(span[0], span[0] - first + last)])]


def _episodes(tx: Transaction, mark: Mark) -> list[UUID]:
    firsts = tx.episodes.get(_first_refs(tx, (mark.first_ref, mark.last_ref)))
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
        episode = tx.episodes.get(episodes[0]) if episodes and not unending else None
        title = (thread.title or thread.origin) if episode is None else episode.title
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


def _preview(tx: Transaction, matching_plan: Plan, policy: Retention, now: datetime) -> Iterator[LetGo]:
    due: Mapping[str, datetime] = {one.standing.name: at for one, at in matching_plan.waiting}
    going = [
        ("erase", matching_plan.erase),
        ("archive", matching_plan.archive),
        ("wait", [one for one, _ in matching_plan.waiting]),
    ]
    ids = [UUID(hex=c.standing.name) for _, some in going for c in some]
    stored = tx.episodes.get([*ids, *(UUID(hex=s.name) for s in matching_plan.back)])
    origins = {t.id: t.origin for t in tx.threads.list()}
    leaving = {c.standing.name for _, some in going for c in some}
    resting = proofs(tx, tx.index.spans([]), now) if leaving else []
    facts = Counter(name for names in resting if names <= leaving for name in names)

    def entry(standing: Standing, action: str, reason: str, strength: float) -> LetGo:
        episode = stored[UUID(hex=standing.name)]
        at = now if action == "erase" else due.get(standing.name)
        where = origins.get(episode.thread_id, "")
        return LetGo(
            episode.id,
            where,
            episode.title,
            episode.end_at,
            action,
            reason,
            round(strength, 4),
            at,
            0 if action == "return" else facts[standing.name],
        )

    def chosen(chosen: Chosen, action: str) -> LetGo:
        return entry(chosen.standing, action, chosen.reason, chosen.retrievability)

    yield from (chosen(one, action) for action, some in going for one in some)
    why = f"no rule of {policy} lets it go any longer" if policy else "nothing is let go any longer"
    yield from (entry(standing, "return", why, strength_at(standing, now)) for standing in matching_plan.back)
