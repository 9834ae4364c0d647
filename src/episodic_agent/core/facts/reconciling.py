"""New statements against what is known: what confirms, what supersedes, what only belongs to the past.

The facts of a slot are a function of their evidence alone: whenever something is learned, the slot's
statements are laid out in event time once more and told from the beginning. So the same statements give the
same present facts and the same history in whatever order they arrive.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import blake2b
from uuid import UUID, uuid5

from episodic_agent.core.facts.slots import STATED, group_of, keywords, match_key
from episodic_agent.core.identity import NAMESPACE
from episodic_agent.core.language import fold
from episodic_agent.schemas.facts import Category, Fact, FactCandidate, FactEvidence, FactTombstone, Version


@dataclass(frozen=True, slots=True)
class Changes:
    """What learning changed: new facts, facts that read otherwise now, and what became of those gone.

    `gone` gives for each id the fact that holds its evidence now. `conflicts` are statements that contradict
    a pinned fact: they are kept as history only.
    """

    added: tuple[Fact, ...] = ()
    changed: tuple[Fact, ...] = ()
    gone: Mapping[UUID, UUID | None] = field(default_factory=dict)
    conflicts: tuple[FactCandidate, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.gone)

    def applied(self, known: Sequence[Fact]) -> tuple[Fact, ...]:
        """Return the known facts with the changes made, oldest first."""
        facts = {fact.id: fact for fact in known if fact.id not in self.gone}
        facts.update((fact.id, fact) for fact in (*self.changed, *self.added))
        return tuple(sorted(facts.values(), key=lambda fact: (fact.valid_at, str(fact.id))))


@dataclass(frozen=True, slots=True)
class _Claim:
    """One statement of one value; `fixed` is the fact a hand has edited, which says it.

    `lead` are the words before it that it points to.
    """

    subject: str
    attribute: str
    category: Category
    holds: bool
    evidence: FactEvidence
    fixed: Fact | None = None
    lead: tuple[FactEvidence, ...] = ()

    @property
    def key(self) -> str:
        return match_key(self.attribute, self.evidence.value)

    @property
    def says_yes(self) -> bool:
        """Return the stance: to dislike a thing is the no to liking it."""
        return self.holds is not (self.attribute == "dislikes")

    @property
    def order(self) -> tuple[tuple[datetime, datetime, str, int, int], bool, str, bool]:
        # of one sentence the new value goes before the old one's end, which it then replaces
        return self.evidence.order, not self.says_yes, self.attribute + self.key, self.holds


@dataclass(slots=True, eq=False)
class _Run:
    """One stretch of time in which one thing was so."""

    claims: list[_Claim]
    start: datetime
    end: datetime | None = None
    by: "_Run | UUID | None" = None

    @property
    def first(self) -> _Claim:
        return self.claims[0]

    @property
    def id(self) -> UUID:
        fixed = next((claim.fixed for claim in self.claims if claim.fixed), None)
        if fixed is not None:
            return fixed.id
        return _id(self.first)

    def repeats(self, claim: _Claim) -> bool:
        """Say whether a statement says this again; other words for it stand beside it."""
        spoken_claim = self.first
        return (spoken_claim.key, spoken_claim.attribute, spoken_claim.holds) == (
            claim.key,
            claim.attribute,
            claim.holds,
        )

    def evidence_in(self, observation: UUID) -> bool:
        return any(claim.evidence.observation_id == observation for claim in self.claims)


def _id(claim: _Claim) -> UUID:
    parts = (
        fold(claim.subject),
        claim.attribute,
        claim.key,
        claim.holds,
        claim.evidence.observation_id,
        claim.evidence.start,
    )
    return uuid5(NAMESPACE, "fact:" + "\x1f".join(map(str, parts)))


def identity_of(candidate: FactCandidate) -> UUID:
    """Return the id of the fact that a candidate becomes where nothing said it before."""
    return _id(_claimed(candidate))


def marks(fact: Fact) -> frozenset[tuple[UUID, str]]:
    """Return what a fact's evidence is recognised by: the observation, and a hash of the reading."""
    proofs = (one for one in fact.evidence if one.leads_to is None)
    return frozenset((one.observation_id, _mark(fact.subject, fact.attribute, one)) for one in proofs)


def mark_of(candidate: FactCandidate) -> tuple[UUID, str]:
    """Return what a candidate's evidence is recognised by, as `marks` of the fact that takes it up has it."""
    evidence = candidate.evidence
    return evidence.observation_id, _mark(candidate.subject, candidate.attribute, evidence)


def _mark(subject: str, attribute: str, evidence: FactEvidence) -> str:
    # which matter a quotation belongs to is told by what is known, not by the words
    slot = STATED if attribute.startswith(STATED) else attribute
    parts = (fold(subject), slot, match_key(attribute, evidence.value), evidence.start, evidence.end)
    text = "\x1f".join(map(str, parts))
    return blake2b(text.encode(), digest_size=8).hexdigest()


def learn(
    known: Sequence[Fact], candidates: Iterable[FactCandidate], tombstones: Iterable[FactTombstone] = ()
) -> Changes:
    """Return what candidates change in the known facts (all of a scope, or at least of their slots).

    The same value again is more evidence; another value of a slot that holds one supersedes it from its event
    time on; what is dated before the present value enters the history alone. Evidence already used, or
    deleted by hand, changes nothing.
    """
    taken = {mark for fact in known for mark in marks(fact)}
    taken |= {(one.observation_id, one.mark) for one in tombstones}
    fresh = [
        one
        for one in candidates
        if (one.evidence.observation_id, _mark(one.subject, one.attribute, one.evidence)) not in taken
    ]
    fresh = [_led(one, known, fresh) for one in fresh]
    groups: dict[tuple[str, str, str], list[FactCandidate]] = {}
    for candidate in fresh:
        groups.setdefault(group_of(candidate.subject, candidate.attribute, candidate.value), []).append(
            candidate
        )
    before = [fact for fact in known if group_of(fact.subject, fact.attribute, fact.value) in groups]
    runs: list[_Run] = []
    conflicts: list[_Claim] = []
    for group, new in groups.items():
        old = [fact for fact in before if group_of(fact.subject, fact.attribute, fact.value) == group]
        claims = [*(claim for fact in old for claim in _unrolled(fact)), *map(_claimed, new)]
        reported_runs, against = _stated_runs(claims, {fact.id for fact in old if fact.pinned}, old)
        runs += reported_runs
        conflicts += against
    return compared(before, _facts(runs, before), _rejected(conflicts, fresh))


def retold(known: Sequence[Fact], by_hand: Mapping[UUID, Fact | None] | None = None) -> Changes:
    """Return what telling facts anew from their evidence changes: nothing, but for what a hand did.

    `known` must hold whole slots, `by_hand` those of them as a hand left them, None where it deleted one.
    """
    left = by_hand or {}
    facts = [fact for old in known if (fact := left.get(old.id, old)) is not None]
    groups: dict[tuple[str, str, str], list[Fact]] = {}
    for fact in facts:
        groups.setdefault(group_of(fact.subject, fact.attribute, fact.value), []).append(fact)
    runs: list[_Run] = []
    for group in groups.values():
        claims = [claim for fact in group for claim in _unrolled(fact)]
        runs += _stated_runs(claims, {fact.id for fact in group if fact.pinned}, group)[0]
    return compared(known, _facts(runs, facts), ())


def settled(facts: Sequence[Fact], known_by: datetime) -> tuple[Fact, ...]:
    """Return the facts as they stood on the evidence taken in by a moment of record time.

    Evidence without a record time counts from when it was said.
    """
    stored_claims: list[_Claim] = []
    for fact in facts:
        stored_claims += [
            claim
            for claim in _unrolled(fact)
            if (claim.evidence.learned_at or claim.evidence.said_at) <= known_by
        ]
    groups: dict[tuple[str, str, str], list[_Claim]] = {}
    for claim in stored_claims:
        groups.setdefault(group_of(claim.subject, claim.attribute, claim.evidence.value), []).append(claim)
    runs = [run for claims in groups.values() for run in _stated_runs(claims, set(), ())[0]]
    return tuple(sorted(_facts(runs, facts), key=lambda fact: (fact.valid_at, str(fact.id))))


# --- the telling -----------------------------------------------------------------------------------------


def _led(candidate: FactCandidate, known: Sequence[Fact], fresh: Sequence[FactCandidate]) -> FactCandidate:
    """Return a candidate that ends a fact by one that is known already with the id that one has."""
    by = candidate.evidence.ended_by
    new = next((one for one in fresh if by is not None and identity_of(one) == by), None)
    if new is None:
        return candidate
    statement = (fold(new.subject), new.attribute, match_key(new.attribute, new.value), new.holds)
    there = next(
        (
            fact.id
            for fact in known
            if fact.invalid_at is None
            and (fold(fact.subject), fact.attribute, match_key(fact.attribute, fact.value), fact.holds)
            == statement
        ),
        by,
    )
    return replace(candidate, evidence=replace(candidate.evidence, ended_by=there))


def _claimed(candidate: FactCandidate) -> _Claim:
    lead = () if candidate.lead is None else (candidate.lead,)
    evidence = candidate.evidence
    return _Claim(
        candidate.subject, candidate.attribute, candidate.category, candidate.holds, evidence, None, lead
    )


def _unrolled(fact: Fact) -> list[_Claim]:
    """Return the statements a fact rests on; one edited by hand rests on the hand alone."""
    leads = [one for one in fact.evidence if one.leads_to is not None]
    claims = [
        _Claim(
            fact.subject,
            fact.attribute,
            fact.category,
            fact.holds,
            one,
            lead=tuple(e for e in leads if (e.leads_to, e.fact) == (one.observation_id, one.fact)),
        )
        for one in fact.evidence
        if one.leads_to is None
    ]
    if not fact.edited:
        return claims
    ends = [claim for claim in claims if claim.evidence.ended_by is not None]
    return [_Claim(fact.subject, fact.attribute, fact.category, fact.holds, _in_hand(fact), fact), *ends]


def _in_hand(fact: Fact) -> FactEvidence:
    """Return the words of an edited fact, in the place of the earliest it rests on: it stands there again."""
    proofs = [one for one in fact.evidence if one.leads_to is None]
    first = min(proofs, key=lambda one: (one.ended_by is not None, *one.order))
    return replace(
        first,
        fact=fact.fact,
        value=fact.value,
        valid_at=fact.valid_at,
        corrects=False,
        ended_by=None,
        begins_at=None,
    )


def _stated_runs(
    claims: Sequence[_Claim], pinned: set[UUID], old: Sequence[Fact]
) -> tuple[list[_Run], list[_Claim]]:
    """Lay statements out in event time; return the stretches and the statements a pin stands against.

    Words that another fact took the place of end what they name, and are no stretch of their own.
    """
    held = {
        (one.observation_id, one.start, match_key(fact.attribute, one.value))
        for fact in old
        if fact.id in pinned
        for one in (*fact.evidence, _in_hand(fact))
    }
    # a hand's words take the place of all that was said for a fact: telling it anew knows of no correction
    fixed = {(one.key, one.attribute, one.holds) for one in claims if one.fixed}
    runs: list[_Run] = []
    present: list[_Run] = []  # several only where one message gives several values
    denied: list[_Run] = []
    against: list[_Claim] = []
    for claim in sorted(claims, key=lambda one: one.order):
        fits = next((run for run in (*present, *denied) if run.repeats(claim)), None)
        if fits is not None:
            fits.claims.append(claim)
        if claim.evidence.ended_by is not None and fits is not None:
            if _is_pinned(fits, held):
                against.append(claim)
            else:
                fits.end, fits.by = max(fits.start, claim.evidence.takes_effect), claim.evidence.ended_by
                present, denied = _others(present, fits), _others(denied, fits)
        if claim.evidence.ended_by is not None or fits is not None:
            continue
        run = _Run([claim], claim.evidence.valid_at)
        runs.append(run)
        ended = _ended(claim, present)
        blocked = next((r for r in ended if _is_pinned(r, held)), None)
        if blocked is not None:
            run.end, run.by = run.start, blocked
            against.append(claim)
            continue
        if claim.says_yes:
            ended += [one for one in denied if one.first.key == claim.key]
        corrects = claim.evidence.corrects and (claim.key, claim.attribute, claim.holds) not in fixed
        for this_run in ended:
            _close(this_run, run, claim, corrects=corrects)
        present, denied = _others(present, *ended), _others(denied, *ended)
        (present if claim.says_yes else denied).append(run)
    return runs, against


def _is_pinned(run: _Run, held: Collection[tuple[UUID, int, str]]) -> bool:
    return any((c.evidence.observation_id, c.evidence.start, c.key) in held for c in run.claims)


def _others(runs: Sequence[_Run], *gone: _Run) -> list[_Run]:
    return [run for run in runs if run not in gone]


def _ended(claim: _Claim, present: Sequence[_Run]) -> list[_Run]:
    """Return the present stretches a statement ends: others of its slot, or, if it denies, its own value."""
    if not claim.says_yes:
        return [run for run in present if run.first.key == claim.key]
    return [
        r for r in present if r.first.key != claim.key and not r.evidence_in(claim.evidence.observation_id)
    ]


def _close(run: _Run, by: _Run, claim: _Claim, *, corrects: bool) -> None:
    run.by = by
    if corrects:  # it was never so: what takes its place holds from its beginning
        run.end = run.start
        if run.first.says_yes:  # of a denial nothing takes the place: another value may have held meanwhile
            by.start = min(by.start, run.start)
    else:
        run.end = max(run.start, claim.evidence.takes_effect)


def _facts(runs: Sequence[_Run], before: Sequence[Fact]) -> list[Fact]:
    """Return the stretches as facts; what hands did to known facts goes with their latest evidence."""
    marked: dict[tuple[UUID, int, str], Fact] = {}
    for fact in before:
        last = fact.evidence[-1]
        if fact.pinned or fact.confirmed or fact.versions:
            marked[last.observation_id, last.start, match_key(fact.attribute, last.value)] = fact
    result = []
    for run in runs:
        fact = _fact(run)
        for claim in run.claims:
            hand = marked.get((claim.evidence.observation_id, claim.evidence.start, claim.key))
            if hand is not None:  # a fact that an edit made the same as a pinned one is pinned from then on
                fact = replace(
                    fact,
                    pinned=fact.pinned or hand.pinned,
                    confirmed=fact.confirmed or hand.confirmed,
                    confidence=1.0 if hand.confirmed else fact.confidence,
                    versions=fact.versions if fact.edited else hand.versions or fact.versions,
                )
        result.append(fact)
    return result


def _fact(run: _Run) -> Fact:
    first, by = run.first, run.by.id if isinstance(run.by, _Run) else run.by
    hands = [claim.fixed for claim in run.claims if claim.fixed]
    spoken = [claim for claim in run.claims if claim.fixed is None]
    spoken_evidence = tuple(one for claim in spoken for one in (*claim.lead, claim.evidence))
    if hands:
        return replace(
            hands[0],
            # two facts that hands made one rest on all that either did
            evidence=tuple(
                dict.fromkeys((*(one for fixed in hands for one in fixed.evidence), *spoken_evidence))
            ),
            valid_at=run.start,
            invalid_at=run.end,
            superseded_by=by,
            pinned=any(fixed.pinned for fixed in hands),
            confirmed=any(fixed.confirmed for fixed in hands),
            confidence=max(fixed.confidence for fixed in hands),
            versions=tuple(sorted((v for fixed in hands for v in fixed.versions), key=_changed_at)),
        )
    doubt = 1.0
    for evidence in spoken_evidence:
        if evidence.ended_by is None and evidence.leads_to is None:
            doubt *= 1.0 - min(evidence.confidence, 0.99)
    return Fact(
        id=run.id,
        subject=first.subject,
        attribute=first.attribute,
        value=first.evidence.value,
        category=first.category,
        fact=first.evidence.fact,
        evidence=spoken_evidence,
        valid_at=run.start,
        holds=first.holds,
        keywords=keywords(first.evidence.value),
        invalid_at=run.end,
        superseded_by=by,
        confidence=1.0 - doubt,
    )


def _changed_at(version: Version) -> datetime:
    return version.changed_at


def compared(before: Sequence[Fact], after: Sequence[Fact], conflicts: tuple[FactCandidate, ...]) -> Changes:
    """Return what makes these facts of those; an id that is gone leads to who holds its evidence."""
    old = {fact.id: fact for fact in before}
    new = {fact.id: fact for fact in after}
    where = {mark: fact.id for fact in after for mark in marks(fact)}
    gone = {
        fact.id: next((where[mark] for mark in sorted(marks(fact), key=str) if mark in where), None)
        for fact in before
        if fact.id not in new
    }
    return Changes(
        added=tuple(fact for fact in after if fact.id not in old),
        changed=tuple(fact for fact in after if fact.id in old and fact != old[fact.id]),
        gone=gone,
        conflicts=conflicts,
    )


def _rejected(conflicts: Sequence[_Claim], fresh: Sequence[FactCandidate]) -> tuple[FactCandidate, ...]:
    against = [claim.evidence for claim in conflicts]
    return tuple(one for one in fresh if one.evidence in against)
