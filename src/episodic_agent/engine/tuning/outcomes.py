"""What came of a decision: read from the user's next turns (links), or told by hand (any type).

`core.linking.outcome_of` reads two turns within ten minutes; here stands what it is asked, and when. A label
is worked out anew from what is stored each time something is heard, so that a second turn can correct what
the first seemed to say; what a person told stays. What nobody spoke of has no outcome. A link that the user
denies in words, or a person calls incorrect, is taken back at once; one that mere behaviour speaks against
stays, and no context tells of it while it does.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import Final
from uuid import UUID

from episodic_agent.core.boundary.policies import STEP
from episodic_agent.core.links.candidates import LAST_TRY
from episodic_agent.core.links.evidence import judge, score
from episodic_agent.core.links.features import Features, ThreadFeatures, thread_of
from episodic_agent.core.links.outcomes import (
    BEHAVIOUR,
    CORRECT,
    EXPLICIT,
    GOES_ON,
    INCORRECT,
    MOST_TURNS,
    Outcome,
    UserTurn,
    denies_in_words,
    meant,
    outcome_of,
)
from episodic_agent.core.links.policies import PAIRWISE, SeedPolicy, link_policy
from episodic_agent.core.links.reading import read_message
from episodic_agent.core.links.verdict import LINK as LINKED
from episodic_agent.core.recall import CALIBRATED_FOR
from episodic_agent.core.threads.turns import opens_turn
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.jobs.kinds import LINK, OUTCOME
from episodic_agent.engine.links.joining import section_of
from episodic_agent.engine.tuning.runs import HAND, ask_for_tuning
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.protocols import OBSERVATIONS, Transaction, ref_of, stored_decision
from episodic_agent.schemas import Decision, Job, Json, Observation, Scope, Thread, Vector

SETTLED: Final = LAST_TRY + MOST_TURNS  # the user message of a thread after which nothing more tells of links
REACH: Final = 200  # observations after a message among which its next two turns are looked for
REPLY: Final = 2  # messages before a denial that may be what it denies
CONTEXT: Final = 16  # observations of an earlier thread's end, which what goes on goes on with
BY_WORDS: Final = SeedPolicy()  # whenever it says that words go on with something, they do
LISTED: Final = 2_000  # decisions among which the beginning of an id is looked for


@dataclass(frozen=True, slots=True)
class KnownOutcome:
    """How a decision's outcome is known: `by` words (1), behaviour (.5) or hand (1), and in which turn."""

    outcome: str
    strength: float
    by: str
    turn: UUID | None = None
    why: str = ""

    def as_json(self) -> Mapping[str, Json]:
        """Return what the decision's detail keeps of it."""
        turn = None if self.turn is None else str(self.turn)
        return {"strength": self.strength, "by": self.by, "turn": turn, "why": self.why}


def labelled(decision: Decision, recently_shown: KnownOutcome | None) -> Decision:
    """Return a decision with its outcome and how it is known, or with none."""
    detail = {name: value for name, value in decision.detail.items() if name != OUTCOME}
    if recently_shown is None:
        return replace(decision, outcome=None, detail=detail)
    return replace(
        decision, outcome=recently_shown.outcome, detail={**detail, OUTCOME: recently_shown.as_json()}
    )


def is_by_hand(decision: Decision) -> bool:
    """Tell whether a person labelled it."""
    known = decision.detail.get(OUTCOME)
    return isinstance(known, Mapping) and known.get("by") == HAND


# --- when to listen


def listen(tx: Transaction, before: Thread, observations: Sequence[Observation], now: datetime) -> None:
    """Ask to hear what new messages say about a thread's links; `before` is it without them.

    Links are made at a thread's first messages, and only the few after those tell anything of them by what
    they do; a denial in words counts in any turn.
    """
    spoken = [o for o in observations if opens_turn(o)]
    if before.modality == STEP or not spoken or not before.turn_count:
        return
    early = before.turn_count < SETTLED
    if (early or any(denies_in_words(o.text) for o in spoken)) and tx.knowledge.decisions(
        subject=before.id, type=LINK, last=1
    ):
        ask_for_outcomes(tx, before.id, now)


def ask_for_outcomes(tx: Transaction, thread_id: UUID, now: datetime) -> None:
    """Ask to hear what was said after a thread's links; whoever decides after the fact asks for it too."""
    tx.upkeep.ask(OUTCOME, str(thread_id), str(thread_id), now=now)


class Listener:
    """The handler of `outcome` jobs: label the links of a thread by what its user said next."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def handle(self, scope: Scope, jobs: Sequence[Job]) -> None:
        """Label what there is to label, and ask for tuning where enough was decided since the last one.

        Texts are read outside the transaction that writes.
        """
        with self._deps.store.begin(scope, write=False) as tx:
            outcomes = {i: t for job in jobs for i, t in self._known_outcomes(tx, UUID(job.key)).items()}
        with self._deps.store.begin(scope) as tx:
            tx.hold("threads")  # a person may label the same decision meanwhile
            for job in jobs:
                tx.upkeep.drop(job)
            self._label(tx, outcomes)
            ask_for_tuning(tx, self._deps.link_policy, self._deps.clock())

    def hear(self, scope: Scope, thread_id: UUID) -> bool:
        """Label a thread's links by what was said since, before the job does; tell whether there was any."""
        with self._deps.store.begin(scope, write=False) as tx:
            outcomes = self._known_outcomes(tx, thread_id)
        if not any(outcomes.values()):
            return False
        with self._deps.store.begin(scope) as tx:
            tx.hold("threads")
            self._label(tx, outcomes)
        return True

    def _label(self, tx: Transaction, outcomes: Mapping[UUID, KnownOutcome | None]) -> None:
        for identity, known in outcomes.items():
            decision = stored_decision(tx, identity)
            if decision is None or is_by_hand(decision):
                continue
            if (amended := labelled(decision, known)) != decision:
                tx.knowledge.decide(amended, amend=True)
                if known is not None and known.strength == EXPLICIT:
                    _part_denied(tx, amended, self._deps.clock())

    def _known_outcomes(self, tx: Transaction, thread_id: UUID) -> Mapping[UUID, KnownOutcome | None]:
        """Return what is known of each link decision of a thread; None where nothing is."""
        decisions = tx.knowledge.decisions(subject=thread_id, type=LINK)
        by_message: dict[UUID, list[Decision]] = {}
        for decision in decisions:
            with suppress(KeyError, TypeError, ValueError):  # one that names no message has no next turn
                by_message.setdefault(UUID(str(decision.detail["observation"])), []).append(decision)
        messages = sorted(tx.observations.get(list(by_message)).values(), key=lambda m: m.seq)
        linked = [m.seq for m in messages if any(d.verdict == LINKED for d in by_message[m.id])]
        reader = _EvidenceReader(tx, self._deps)
        outcomes: dict[UUID, KnownOutcome | None] = dict.fromkeys(
            d.id for some in by_message.values() for d in some
        )
        for message in messages:
            if message.thread_id != thread_id:
                continue
            some, followed = by_message[message.id], reader.after(message)
            if message.seq in linked:
                outcomes.update(_of_links(some, followed, reader, to_its_end=self._deps.judges_ends))
            elif not any(seq > message.seq for seq in linked):  # else a later message put it right
                outcomes.update(_of_refusals(some, followed, reader))
        if self._deps.judges_ends:  # the founding policies listen to two turns
            outcomes.update(self._denied_later(tx, thread_id, decisions, outcomes, reader))
        return outcomes

    def _denied_later(
        self,
        tx: Transaction,
        thread_id: UUID,
        decisions: Sequence[Decision],
        outcomes: Mapping[UUID, KnownOutcome | None],
        reader: "_EvidenceReader",
    ) -> Mapping[UUID, KnownOutcome]:
        """Return the links that a turn after those which follow them denied, as said before or just now.

        A denial speaks of the reply it follows: it takes back the link whose thread that reply is nearest to,
        where it goes on with that thread at all.
        """
        live = [
            d
            for d in decisions
            if d.verdict == LINKED and not d.detail.get("taken_back") and _may_be_denied(outcomes.get(d.id))
        ]
        said_before = {
            d.id: known
            for d in live
            if (known := _known_of(d)) is not None and (known.by, known.outcome) == ("words", INCORRECT)
        }
        last = tx.threads.frame(thread_id).next_seq - 1
        page = tx.observations.read(thread_id, max(0, last - CONTEXT + 1), last)
        turn = next((o for o in reversed(page) if opens_turn(o)), None)
        if turn is None or not live or not denies_in_words(turn.text):
            return said_before
        reply = [o for o in page if o.seq < turn.seq and not opens_turn(o)][-REPLY:]
        if not reply:
            return said_before
        nearest = _nearest_to(reply, live, turn, reader)
        if nearest is None or _is_meant(nearest, turn, _FollowedMessage(turn, (), ()), reader):
            return said_before
        known = KnownOutcome(
            INCORRECT, EXPLICIT, "words", turn.id, "the user says that something else was meant"
        )
        return {**said_before, nearest.id: known}


@dataclass(frozen=True, slots=True)
class _FollowedMessage:
    """A judged message, the reply, and the user's next two turns."""

    message: Observation
    here: Sequence[Observation]
    turns: Sequence[Observation]


class _EvidenceReader:
    """Reads texts as the evidence needs them, each once."""

    def __init__(self, tx: Transaction, deps: Deps) -> None:
        self._tx = tx
        # other embedders' cosines would be read on the default's scale: without them words decide
        self.embedder = deps.embedder_name if deps.embedder_name.startswith(CALIBRATED_FOR) else None
        self._language = deps.language
        self._turns: dict[UUID, UserTurn] = {}

    def after(self, message: Observation) -> _FollowedMessage:
        """Return what was said after a message."""
        later = self._tx.observations.read(message.thread_id, message.seq + 1, message.seq + REACH)
        turns = list(islice((o for o in later if opens_turn(o)), MOST_TURNS))
        reply = [o for o in later if not turns or o.seq < turns[0].seq]
        return _FollowedMessage(message, [message, *reply[-CONTEXT:]], turns)

    def earlier(self, decision: Decision, followed: _FollowedMessage) -> Sequence[Observation]:
        """Return the end of the thread a decision was about, as it was when the message came."""
        with suppress(KeyError, TypeError, ValueError):
            candidate = UUID(str(decision.detail["candidate"]))
            if self._tx.threads.get(candidate) is not None:
                last = self._tx.threads.frame(candidate).next_seq - 1
                observations = self._tx.observations.read(candidate, max(0, last - CONTEXT + 1), last)
                return [o for o in observations if o.received_at <= followed.message.received_at]
        return ()

    def reply_to(self, turn: Observation) -> Sequence[Observation]:
        """Return the last messages before a user's turn, back to the turn before it."""
        before = self._tx.observations.read(turn.thread_id, max(0, turn.seq - CONTEXT), turn.seq - 1)
        since = max((o.seq for o in before if opens_turn(o)), default=-1)
        return [o for o in before if o.seq > since][-REPLY:]

    def read(self, text: str, at: datetime) -> Features:
        """Return what a text says, in words alone."""
        return read_message(text, at, language=self._language)

    def thread(self, observations: Sequence[Observation]) -> ThreadFeatures:
        """Return observations as one thread."""
        turns = self.turns(observations)
        return thread_of("context", [(turn.at, turn.features) for turn in turns])

    def turns(self, observations: Sequence[Observation]) -> list[UserTurn]:
        """Return observations as turns."""
        fresh = [o for o in observations if o.id not in self._turns]
        vectors = self._vectors(fresh)
        for o in fresh:
            read = read_message(o.text, o.at, vector=vectors.get(o.id), language=self._language)
            self._turns[o.id] = UserTurn(o.at, o.text, read)
        return [self._turns[o.id] for o in observations]

    def _vectors(self, observations: Sequence[Observation]) -> Mapping[UUID, Vector]:
        if self.embedder is None or not observations:
            return {}
        numbers = {thread: self._tx.threads.number(thread) for thread in {o.thread_id for o in observations}}
        refs = {ref_of(numbers[o.thread_id], o.seq): o.id for o in observations}
        vectors = self._tx.index.vectors(OBSERVATIONS, self.embedder, list(refs))
        return {refs[ref]: vector for ref, vector in vectors.items()}


def _of_links(
    decisions: Sequence[Decision], followed: _FollowedMessage, reader: _EvidenceReader, *, to_its_end: bool
) -> Iterator[tuple[UUID, KnownOutcome]]:
    """Say of each link made at a message whether the user goes on with it.

    A denial is read `to_its_end` or not: who objects to a reply about another thread, or means the linked
    one, denies no link.
    """
    refused = [d for d in decisions if d.verdict != LINKED]
    for decision in decisions if followed.turns else ():
        if decision.verdict != LINKED or decision.detail.get("taken_back"):  # it linked nothing
            continue
        context = reader.thread([*reader.earlier(decision, followed), *followed.here])
        known = _outcome_of_words(followed, reader, context, linked=True)
        if known is None:
            continue
        turn = next((o for o in followed.turns if o.id == known.turn), None)
        denied = known.outcome == INCORRECT and known.strength == EXPLICIT
        if to_its_end and denied and turn is not None:
            if _is_meant(decision, turn, followed, reader):
                why = "the user objects to the reply, and means what was linked"
                known = KnownOutcome(CORRECT, BEHAVIOUR, "behaviour", turn.id, why)
            elif _is_of_another(decision, refused, turn, followed, reader):
                continue
        yield decision.id, known


def _of_refusals(
    refused: Sequence[Decision], followed: _FollowedMessage, reader: _EvidenceReader
) -> Iterator[tuple[UUID, KnownOutcome]]:
    """Say of the nearest thread that was not linked whether it was missed.

    Of the others a fresh start tells next to nothing: they were never near. A reminder means the one that
    its own words are nearest to. Where the user goes on with what was refused, that is no fresh start.
    """
    if not followed.turns or not refused:
        return
    nearest = max(refused, key=lambda d: (d.score, d.id.bytes))
    at = followed.message.at  # what it does not go on with is not asked of a refusal
    known = _outcome_of_words(followed, reader, ThreadFeatures("context", at, at), linked=False)
    if known is None:
        return
    if known.outcome == INCORRECT and len(refused) > 1:
        nearest = _meant(refused, known, followed, reader) or nearest
    elif known.outcome == CORRECT and _goes_on(nearest, known, followed, reader):
        return
    yield nearest.id, known


def _is_meant(
    decision: Decision, turn: Observation, followed: _FollowedMessage, reader: _EvidenceReader
) -> bool:
    """Tell whether a denial speaks for the linked thread: what is said to be meant goes on with it.

    By words alone, and as much as the reply does that it objects to: else that was what the link points to.
    """
    words, earlier = meant(turn.text), reader.earlier(decision, followed)
    if not words or not earlier:
        return False
    thread = reader.thread(earlier)
    own = _shared_with(reader.read(words, turn.at), thread)
    replies = [_shared_with(reader.read(o.text, o.at), thread) for o in reader.reply_to(turn)]
    return own >= max([GOES_ON, *replies])


def _is_of_another(
    decision: Decision,
    refused: Sequence[Decision],
    turn: Observation,
    followed: _FollowedMessage,
    reader: _EvidenceReader,
) -> bool:
    """Tell whether the reply before a denial names nothing of the linked thread, and another one surely."""
    replies = [reader.read(o.text, o.at) for o in reader.reply_to(turn)]

    def named(other: Decision) -> float:
        thread = reader.thread(reader.earlier(other, followed))
        return max((_shared_with(features, thread) for features in replies), default=0.0)

    there = [one for one in refused if reader.earlier(one, followed)]
    return named(decision) == 0.0 and any(named(one) >= GOES_ON for one in there)


def _nearest_to(
    reply: Sequence[Observation], links: Sequence[Decision], turn: Observation, reader: _EvidenceReader
) -> Decision | None:
    """Return the link to the thread that a reply goes on with most; None where it goes on with none."""
    turns = reader.turns(reply)
    near: dict[UUID, float] = {}
    for decision in links:
        earlier = reader.earlier(decision, _FollowedMessage(turn, (), ()))
        if earlier:
            thread = reader.thread(earlier)
            near[decision.id] = max(_nearness(turn, thread, reader) for turn in turns)
    best = max(links, key=lambda d: (near.get(d.id, 0.0), d.id.bytes))
    return best if near.get(best.id) else None


def _may_be_denied(known: KnownOutcome | None) -> bool:
    return known is None or (known.outcome == CORRECT and known.strength < EXPLICIT)


def _known_of(decision: Decision) -> KnownOutcome | None:
    """Return what a decision keeps of its outcome."""
    known = decision.detail.get(OUTCOME)
    if decision.outcome is None or not isinstance(known, Mapping):
        return None
    turn = known.get("turn")
    return KnownOutcome(
        decision.outcome,
        float(str(known.get("strength", 0.0))),
        str(known.get("by", "")),
        None if turn is None else UUID(str(turn)),
        str(known.get("why", "")),
    )


def _outcome_of_words(
    followed: _FollowedMessage, reader: _EvidenceReader, context: ThreadFeatures, *, linked: bool
) -> KnownOutcome | None:
    turns, at = reader.turns(followed.turns), followed.message.at

    def read(some: Sequence[UserTurn]) -> Outcome:
        return outcome_of(some, context, linked=linked, decided_at=at)

    outcome = read(turns)
    if outcome.label is None:
        return None
    alone = (o.id for o, turn in zip(followed.turns, turns, strict=True) if read([turn]) == outcome)
    by = "words" if outcome.strength == EXPLICIT else "behaviour"
    return KnownOutcome(outcome.label, outcome.strength, by, next(alone, None), outcome.why)


def _turn(known: KnownOutcome, followed: _FollowedMessage, reader: _EvidenceReader) -> UserTurn | None:
    return next(
        (t for o, t in zip(followed.turns, reader.turns(followed.turns), strict=True) if o.id == known.turn),
        None,
    )


def _meant(
    refused: Sequence[Decision], known: KnownOutcome, followed: _FollowedMessage, reader: _EvidenceReader
) -> Decision | None:
    """Return the refused thread that a reminder is nearest to; None where nothing is left of any."""
    turn = _turn(known, followed, reader)
    earlier = {str(d.id): reader.earlier(d, followed) for d in refused}
    threads = [replace(reader.thread(some), thread_id=i) for i, some in earlier.items() if some]
    if turn is None or not threads:
        return None
    best = judge(turn.features, threads, turn.at, link_policy(PAIRWISE))[0].thread_id
    return next(d for d in refused if str(d.id) == best)


def _goes_on(
    nearest: Decision, known: KnownOutcome, followed: _FollowedMessage, reader: _EvidenceReader
) -> bool:
    """Tell whether a turn goes on with a thread that was refused.

    By vectors where there are any. Words alone must name the same thing: a pronoun means what was said here.
    """
    turn, earlier = _turn(known, followed, reader), reader.earlier(nearest, followed)
    if turn is None or not earlier:
        return False
    return _nearness(turn, reader.thread(earlier), reader) > 0.0


def _nearness(turn: UserTurn, thread: ThreadFeatures, reader: _EvidenceReader) -> float:
    """Return how surely words go on with a thread, in [0, 1]; 0 where they do not."""
    if reader.embedder is not None:
        probability = score(turn.features, thread, turn.at, link_policy(PAIRWISE)).score
        if probability >= GOES_ON:
            return probability
    shared = _shared_with(turn.features, thread)
    return shared if shared > BY_WORDS.threshold else 0.0


def _shared_with(features: Features, thread: ThreadFeatures) -> float:
    """Return how surely words go on with a thread, in [0, 1]; 0 where they name nothing of it."""
    # how long ago it was says nothing about what a turn speaks of
    evidence, named = score(features, thread, thread.last_at, BY_WORDS), ("shared", "same")
    return evidence.score if any(evidence.features[name] > 0.0 for name in named) else 0.0


# --- by hand


def tell(
    tx: Transaction, name: "UUID | str", outcome: str, now: datetime, *, type: str | None = None
) -> Decision:
    """Label a decision by hand, which nothing overwrites; return it as it stands now.

    `name` is its id, the beginning of it, or the id of the episode it made. `type` refuses any other type. A
    link that is called incorrect is taken back.
    """
    target = str(outcome).strip().upper()
    if target not in (CORRECT, INCORRECT):
        raise InvalidInput(f"an outcome is correct or incorrect, not {outcome!r}")
    tx.hold("threads")  # lest what the user's turns say is written over it meanwhile
    decision = find_decision(tx, name, type)
    amended = labelled(decision, KnownOutcome(target, EXPLICIT, HAND, why="told by hand"))
    tx.knowledge.decide(amended, amend=True)
    _part_denied(tx, amended, now)
    return amended


def _part_denied(tx: Transaction, decision: Decision, now: datetime) -> None:
    """Take back the link that a decision made, where it was wrong by words or by hand."""
    if (decision.type, decision.verdict, decision.outcome) == (LINK, LINKED, INCORRECT):
        with suppress(KeyError, ValueError):  # one that names no thread linked none
            section_of(tx, decision.subject, UUID(str(decision.detail["candidate"])), now)


def find_decision(tx: Transaction, name: "UUID | str", type: str | None = None) -> Decision:
    """Return a decision by its id, the beginning of it, or the id of the episode it made; NotFound."""
    decisions: list[Decision] = []
    try:
        identity = name if isinstance(name, UUID) else UUID(name)
    except ValueError:
        start = str(name).strip().lower()
        listed = tx.knowledge.decisions(type=type, last=LISTED) if start else ()
        decisions = [d for d in listed if str(d.id).startswith(start)]
    else:
        episode = tx.episodes.get(identity)
        named = episode.decision_id if episode is not None and episode.decision_id is not None else identity
        decisions = [d for d in (stored_decision(tx, named),) if d is not None]
    if len(decisions) != 1:
        what = f"{len(decisions)} decisions begin with" if decisions else "no decision"
        raise NotFound(f"{what} {str(name)!r} in this memory; give the whole id, as `--json` prints it")
    if type is not None and decisions[0].type != type:
        raise InvalidInput(
            f"{decisions[0].id} is a decision of type {decisions[0].type!r}, not {type!r}; "
            "`episodic tune outcome` labels any type"
        )
    return decisions[0]
