"""What becomes of facts whose evidence is erased: they rest on what is left of it, or go."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from episodic_agent.core.facts import Changes, delete, retold
from episodic_agent.core.language import fold, term_counts
from episodic_agent.core.prompts import digest, question_of
from episodic_agent.core.prompts import episode as telling
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.erase.records import episodes_of
from episodic_agent.engine.erase.words import retell_episodes
from episodic_agent.engine.facts.coming import request_quotes
from episodic_agent.engine.facts.job import request_facts
from episodic_agent.engine.facts.parts import current_of
from episodic_agent.engine.facts.transcripts import LOOKED_BACK
from episodic_agent.engine.facts.writing import slots_of, write_facts
from episodic_agent.engine.jobs.kinds import FACTS as DECIDED
from episodic_agent.protocols import FACTS, Transaction
from episodic_agent.schemas import Decision, Json
from episodic_agent.schemas.facts import Fact, StoredFact

_PAGE: Final = 512
# questions that show what went before, whatever their version
_SHOWN_BEFORE: Final = frozenset({question_of(digest.VERSION), question_of(telling.VERSION)})
_APART: Final = timedelta(days=1)  # that the clocks of machines may be


def drop_facts(deps: Deps, tx: Transaction, refs: Sequence[int], now: datetime) -> None:
    """Take the evidence that lies in these observations from facts, and tell their slots anew.

    What an erased statement had ended holds again. What a model told of other messages in the same answer
    goes too, for it may say what it read in these, and so does what it told later with words of a fact it was
    shown: their episodes are read again. To be called while the observations can still be read.
    """
    tx.hold("facts")
    concerned, gone = episodes_of(tx, refs), dict[UUID, datetime]()
    places: dict[UUID, set[int]] = {}
    for start in range(0, len(refs), _PAGE):
        for observation in tx.observations.get(refs[start : start + _PAGE]).values():
            gone[observation.id] = observation.received_at
            places.setdefault(observation.thread_id, set()).add(observation.seq)
    following = _told_after(tx, places)
    shown = _erase_shown(tx, deps, concerned | following, gone)
    together, worded = ({one.id for one in current_of(tx, ids)} for ids in shown)
    worded |= following
    ids = sorted(gone)
    for start in range(0, len(ids), _PAGE):
        identifiers = ids[start : start + _PAGE]
        _unlearn(tx, deps, identifiers, now, lambda fact, gone=set(identifiers): _without(fact, gone))  # type: ignore[misc]
    for identity in sorted(together):
        episode = tx.episodes.get(identity)
        if episode is not None:
            observations = tx.observations.read(episode.thread_id, episode.first_seq, episode.last_seq)
            texts = {one.id: one.text for one in observations}
            _unlearn(tx, deps, sorted(texts), now, lambda fact, told=texts: _without_words(fact, told))  # type: ignore[misc]
            request_quotes(tx, deps, observations, now)  # until it is read again
    retell_episodes(tx, worded - concerned, now)
    if waiting := sorted(together - concerned):
        tx.episodes.consolidate(waiting, None)
        request_facts(tx, now)


def unlearn_messages(tx: Transaction, deps: Deps, identifiers: Sequence[UUID], now: datetime) -> None:
    """Take the evidence that lies in messages from facts, while the messages themselves stay."""
    tx.hold("facts")
    gone = set(identifiers)
    _unlearn(tx, deps, sorted(gone), now, lambda fact: _without(fact, gone))


def _told_after(tx: Transaction, places: Mapping[UUID, set[int]]) -> set[UUID]:
    """Return the episodes that a model told while it was shown one of these places as what went before."""
    return {
        episode.id
        for thread, seqs in places.items()
        for episode in tx.episodes.list(threads=[thread])
        if question_of(episode.encoded_by) in _SHOWN_BEFORE
        and any(0 < episode.first_seq - seq <= LOOKED_BACK for seq in seqs)
    }


def mend_facts(deps: Deps, tx: Transaction, now: datetime) -> int:
    """Let facts be what their evidence tells, without what rests on observations that are lost.

    Return how many observations were lost, or facts told otherwise.
    """
    known = tx.knowledge.facts()
    proofs = {one.observation_id for kept in known for one in kept.fact.evidence}
    lost = proofs - set(tx.observations.get(sorted(proofs)))
    if not _changed(known, lost):
        return 0
    tx.hold("facts")
    known = tx.knowledge.facts()
    changes = _changed(known, lost)
    _write_left(tx, deps, known, changes, now)
    return len(lost) or len(changes.changed) + len(changes.added) + len(changes.gone)


def _changed(known: Sequence[StoredFact], lost: Container[UUID]) -> Changes:
    """Return what changes of all facts where they are told anew from the evidence that is not lost."""
    left = {kept.id: _without(kept.fact, lost) for kept in known if _rests_on(kept.fact, lost)}
    return retold([kept.fact for kept in known], left)


def _rests_on(fact: Fact, observations: Container[UUID]) -> bool:
    return any(one.observation_id in observations for one in fact.evidence)


def _unlearn(
    tx: Transaction,
    deps: Deps,
    identifiers: Sequence[UUID],
    now: datetime,
    left_of: Callable[[Fact], Fact | None],
) -> None:
    """Let the facts that rest on observations be what is left of them, and tell their slots anew."""
    resting = tx.knowledge.facts(resting_on=identifiers)
    if not resting:
        return
    left = {kept.id: left_of(kept.fact) for kept in resting}
    known = tx.knowledge.facts(slots=slots_of(kept.fact for kept in resting))
    _write_left(tx, deps, known, retold([kept.fact for kept in known], left), now)


def forget_facts(deps: Deps, tx: Transaction, holds: Callable[[str], object], now: datetime) -> int:
    """Delete every fact that holds words, in any version, for good; return how many.

    Somebody may have written them by hand: then no message that goes holds them.
    """
    holding = [
        kept.fact for kept in tx.knowledge.facts() if any(holds(text) for text in _texts_of(kept.fact))
    ]
    if holding:
        tx.hold("facts")
        tx.knowledge.bury([one for fact in holding for one in delete(fact, now)])
        known = tx.knowledge.facts(slots=slots_of(holding))
        left: dict[UUID, Fact | None] = dict.fromkeys(fact.id for fact in holding)
        _write_left(tx, deps, known, retold([kept.fact for kept in known], left), now)
    return len(holding)


def _texts_of(fact: Fact) -> Iterator[str]:
    yield from (fact.fact, fact.value)
    for version in fact.versions:
        yield from (version.fact, version.value)


def _write_left(
    tx: Transaction, deps: Deps, known: Sequence[StoredFact], changes: Changes, now: datetime
) -> None:
    # an old sentence may hold what is erased: its vectors go with its words
    texts = {fact.id: fact.fact for fact in changes.changed}
    stale = [kept.number for kept in known if texts.get(kept.id, kept.fact.fact) != kept.fact.fact]
    tx.index.drop(FACTS, stale)
    write_facts(tx, deps, known, changes, None, now=now)


def _without(fact: Fact, gone: Container[UUID]) -> Fact | None:
    """Return a fact without some of its evidence, nor how it read before; None where nothing is left."""
    evidence = fact.left_without(gone)
    return replace(fact, evidence=evidence, versions=()) if evidence else None


def _without_words(fact: Fact, texts: Mapping[UUID, str]) -> Fact | None:
    """Return a fact without what a model made of these messages; one that a person wrote rests on them."""
    own = fold(" ".join(texts.get(one.observation_id, "") for one in fact.evidence) + f" {fact.fact}")
    if not (fact.edited and fold(fact.value) in own):
        return _without(fact, texts)
    evidence = tuple(
        replace(one, fact=fact.fact, value=one.value if fold(one.value) in own else fact.value)
        if one.observation_id in texts
        else one
        for one in fact.evidence
    )
    return replace(fact, evidence=evidence, versions=())


def _erase_shown(
    tx: Transaction, deps: Deps, concerned: set[UUID], gone: Mapping[UUID, datetime]
) -> tuple[set[UUID], set[UUID]]:
    """Delete the records of what was read in the episodes concerned, or by a model together with them.

    Others lose what a model expected where it was shown what goes. Returns the episodes that a model read
    together with those concerned, and those of which it told in words of what goes; and the episodes whose
    title and summary are of a question that showed what goes.
    """
    if not gone:
        return set(), set()
    # nobody read of a message before it was received
    records = tx.knowledge.decisions(type=DECIDED, since=min(gone.values()) - _APART)
    names, together, tainted = set(map(str, concerned)), set[UUID](), set(map(str, gone))
    worded = set[UUID]()
    secret = _secret(tx, deps, sorted(gone)) if any(map(_shown, records)) else set[str]()
    for decision in records:  # by time: what is told is shown only later
        group = _group(decision)
        touched = not names.isdisjoint((str(decision.subject), *group))
        shown = tainted.intersection(_shown(decision).values())
        if question_of(decision.policy_version) == question_of(digest.VERSION) and (touched or shown):
            worded.update(map(UUID, group))
        if not touched and shown and _repeats(tx, deps, decision, secret):
            names |= group
            touched = True
        if touched:
            together.update(map(UUID, group))
            tainted.update(str(row["observation"]) for row in _rows(decision))
    revoked = {d.id for d in records if not names.isdisjoint((str(d.subject), *_group(d)))}
    tx.knowledge.revoke(*revoked)
    for decision in records:
        if decision.id not in revoked and (now := _unexpecting(decision, tainted)) is not decision:
            tx.knowledge.decide(now, amend=True)
    return together, worded


def _unexpecting(decision: Decision, tainted: set[str]) -> Decision:
    """Return a record without what a model expected where it was shown what goes, or nobody knows what."""
    shown, detail = _shown(decision), dict(decision.detail)
    left = {fact: said for fact, said in shown.items() if said not in tainted}
    if left != shown:
        detail |= {"known": dict[str, Json](left), "expected": ""}
    elif "known" not in detail and detail.get("expected"):
        detail["expected"] = ""  # a record from before there was `known`
    else:
        return decision
    return replace(decision, detail=detail)


def _group(decision: Decision) -> set[str]:
    """Return the episodes that a model read together; none where it was quoted."""
    read = decision.detail.get("together")
    return set(map(str, read)) if isinstance(read, Sequence) else set()


def _shown(decision: Decision) -> dict[str, str]:
    """Return the known facts a model was shown, each with the observation its words are from."""
    known = decision.detail.get("known")
    return {fact: str(said) for fact, said in known.items()} if isinstance(known, Mapping) else {}


def _rows(decision: Decision) -> list[Mapping[str, object]]:
    answer = decision.detail.get("told")
    return [row for row in answer if isinstance(row, Mapping)] if isinstance(answer, Sequence) else []


def _repeats(tx: Transaction, deps: Deps, decision: Decision, secret: set[str]) -> bool:
    """Say whether a model told of an episode in words that go and that its own messages do not hold."""
    values = _rows(decision)
    own = {UUID(str(row["observation"])) for row in values}
    evidence = (e for kept in tx.knowledge.facts(resting_on=sorted(own)) for e in kept.fact.evidence)
    statements = [f"{e.fact} {e.value}" for e in evidence if e.observation_id in own]
    repeated = secret & _terms(deps, [*statements, *(str(row["fact"]) for row in values)])
    if not repeated:
        return False
    read = tx.episodes.get(list(map(UUID, _group(decision)))).values()
    spans = [(one.thread_id, one.first_seq, one.last_seq) for one in read]
    texts = [o.text for found in tx.observations.read(spans) for o in found]
    return bool(repeated - _terms(deps, texts))


def _secret(tx: Transaction, deps: Deps, gone: Sequence[UUID]) -> set[str]:
    """Return the terms of messages that go, and of what was made of them."""
    terms = set[str]()
    for start in range(0, len(gone), _PAGE):
        page = gone[start : start + _PAGE]
        resting = [e for kept in tx.knowledge.facts(resting_on=page) for e in kept.fact.evidence]
        terms |= _terms(deps, [f"{e.fact} {e.value}" for e in resting if e.observation_id in set(page)])
        terms |= _terms(deps, [one.text for one in tx.observations.get(page).values()])
    return terms


def _terms(deps: Deps, texts: Iterable[str]) -> set[str]:
    return {term for text in texts for term in term_counts(text, deps.language)}
