"""The verbs about facts: list and find them, show what proves one, put it right by hand, learn what waits."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from episodic_agent.core import facts as core
from episodic_agent.core.facts import Changes
from episodic_agent.core.facts.slots import group_of
from episodic_agent.core.facts.speakers import OWNER, speaker_of
from episodic_agent.core.language import fold
from episodic_agent.core.threads.channels import project_called
from episodic_agent.engine.arguments import FEW_FACTS, aware, clean_name, counted, name_or_none, names_or_none
from episodic_agent.engine.filters import Walls, Where, walls_of
from episodic_agent.engine.jobs.retrying import until_unopposed
from episodic_agent.engine.later import Later
from episodic_agent.engine.people.naming import people_of, reading_named
from episodic_agent.engine.recall.elsewhere import Elsewhere, projects_meant
from episodic_agent.engine.recall.walls import walled_off, within
from episodic_agent.engine.scoped import RoomOf, Scoped
from episodic_agent.engine.trace.acts import acts, concerns
from episodic_agent.engine.visibility.hidden import EXPIRED, Visibility
from episodic_agent.errors import InvalidInput, NotFound, ProviderError
from episodic_agent.lazily import module
from episodic_agent.protocols import MarkKind, Transaction, query_vector, ref_of
from episodic_agent.schemas import Json, Observation, Scope, Vector
from episodic_agent.schemas.facts import Category, Fact, FactEvidence, StoredFact, since_when
from episodic_agent.showing import as_card, described

if TYPE_CHECKING:
    from episodic_agent.core import recall as ranking
    from episodic_agent.engine.facts import writing
    from episodic_agent.engine.recall import facts as recalled
else:
    ranking = module("episodic_agent.core.recall")
    recalled = module("episodic_agent.engine.recall.facts")
    writing = module("episodic_agent.engine.facts.writing")


MOST: Final = 100_000  # facts a query looks at
Change = Callable[[Fact], Fact | None]


@dataclass(frozen=True, slots=True)
class Quote:
    """The words that prove a fact, as they stand in an observation, and the episode that holds them today.

    `text` is "" where the observation is gone. `said_at` and `valid_at` (since when it is so) are event time,
    `learned_at` is record time.
    """

    observation_id: UUID
    episode_id: UUID | None
    actor: str
    text: str
    said_at: datetime
    valid_at: datetime
    learned_at: datetime | None

    def __repr__(self) -> str:
        return described(self, self.said_at, f"{self.actor}: {self.text}")


@dataclass(frozen=True, slots=True)
class FactCard:
    """A fact as it is shown; `score` is how well it answers. Cards of a list carry no quotes."""

    fact: Fact
    score: float = 0.0
    quotes: Sequence[Quote] = ()

    def __repr__(self) -> str:
        return described(
            self,
            self.fact.fact,
            since_when(self.fact),
            *(f"{one.actor}: “{one.text}”" for one in self.quotes[:1]),
            self.id,
        )

    @property
    def id(self) -> UUID:
        """Return the fact's id."""
        return self.fact.id

    @property
    def record(self) -> Mapping[str, Json]:
        """Return it as plain JSON, with seed 003's field names and what people did to it."""
        versions: list[Json] = [
            {"fact": one.fact, "value": one.value, "changed_at": one.changed_at.isoformat()}
            for one in self.fact.versions
        ]
        return {**self.fact.as_record(), "versions": versions}

    def _repr_html_(self) -> str:
        """Show the fact in a notebook, with the words that prove it."""
        beside = f"{self.fact.category.value}, {since_when(self.fact)}"
        return as_card(self.fact.fact, beside, [f"{one.actor}: “{one.text}”" for one in self.quotes])


def find_fact(tx: Transaction, value: "UUID | str") -> StoredFact:
    """Return a fact by its id or the unambiguous beginning of it; an old id leads to who holds its evidence.

    Raises NotFound.
    """
    text = (clean_name(value) or "").strip().lower()
    with suppress(ValueError):
        identity = UUID(text)
        fact = next(iter(tx.knowledge.facts(ids=[identity])), None)
        heir = tx.knowledge.moves(identity).get(identity) if fact is None else None
        fact = next(iter(tx.knowledge.facts(ids=[heir])), None) if heir is not None else fact
        if fact is not None:
            return fact
    span = _span(text)
    near = () if span is None else tx.knowledge.facts(between=span, limit=2)
    if span is not None and not near:
        near = tx.knowledge.facts(ids=sorted(set(tx.knowledge.moves(*span).values())))
    if len(near) == 1:
        return near[0]
    problem = "no fact begins with" if not near else "more than one fact begins with"
    raise NotFound(f"{problem} {text!r}; `episodic facts list` shows the ids")


def _span(text: str) -> tuple[UUID, UUID] | None:
    """Return the first and the last id that begin with a text; None where none can."""
    digits = text.replace("-", "")
    with suppress(ValueError):
        first, last = (UUID(digits.ljust(32, filler)) for filler in "0f")
        return (first, last) if text and str(first).startswith(text) else None
    return None


def quotes_of(tx: Transaction, fact: Fact) -> list[Quote]:
    """Return the words that prove a fact, in the order of event time."""
    observations = tx.observations.get([one.observation_id for one in fact.evidence])
    return [_quote(tx, one, observations.get(one.observation_id)) for one in fact.evidence]


def _quote(tx: Transaction, evidence: FactEvidence, observation: Observation | None) -> Quote:
    identity, episode, actor, text = evidence.observation_id, evidence.episode_id, "", ""
    if observation is not None:
        ref = ref_of(tx.threads.number(observation.thread_id), observation.seq)
        owner = tx.index.covers([(ref, ref)])
        episode = UUID(owner[0].name) if owner else None  # segmented again: another one than it was then
        actor, text = observation.actor, observation.text[evidence.start : evidence.end]
    return Quote(identity, episode, actor, text, evidence.said_at, evidence.valid_at, evidence.learned_at)


@acts("facts", within=("list",))
class FactRoom(RoomOf):
    """What is known of a user's world, each fact with the words that prove it."""

    def __init__(self, at: Scoped, later: Later) -> None:
        self._at = at
        self._deps = at.deps
        self._later = later

    def list(
        self,
        query: str | None = None,
        *,
        category: "Category | str | None" = None,
        subject: str | None = None,
        at: datetime | None = None,
        known_by: datetime | None = None,
        history: bool = False,
        limit: int | None = None,
        project: str | None = None,
        only: Where = None,
        suppressed: bool = False,
    ) -> Sequence[FactCard]:
        """Return facts that hold: those that answer a query, best first, else the newest first.

        Without `limit` these are the best 20 of a query, and without one all.
        `at` is another moment of event time than now; with `known_by`, a moment of record time, what was
        believed on the evidence taken in by then; `history` shows all, over or still to come. What rests on
        expired messages alone is not shown, nor, unless `suppressed`, on suppressed ones alone, or what holds
        suppressed words. `project`, a folder, leaves out what was said in another project
        alone, but for how to answer; of `only`, threads and channels, facts are told as they were said there.
        Raises InvalidInput for a blank query, an unknown category or what is no folder.
        """
        requested_category, told_by = _category(category), aware(known_by)
        moment = aware(at) or self._deps.clock()
        own, names = project_called(name_or_none("project", project)), names_or_none("only", only)
        most = counted("limit", (MOST if query is None else FEW_FACTS) if limit is None else limit)
        scope, walls = self._at.known(), walls_of(self._at.walls, names)
        analysed = None if query is None else _analysed(query, moment, self._deps.language)
        vector = None if analysed is None else self._vector(analysed.dense_text)
        with self._reading(scope, walls) as tx:
            facts, scores = self._known(tx, analysed, vector, told_by)
            facts = _inside(tx, walls, names, facts)
            about = (
                None
                if subject is None
                else _subjects(people_of(tx).shown(clean_name(subject) or ""), scope.user_id)
            )
        cards = [
            FactCard(fact, 0.0 if scores is None else scores[fact.id])
            for fact in facts
            if (history or fact.held_at(moment))
            and requested_category in (None, fact.category)
            and (about is None or fold(fact.subject) in about)
            and (scores is None or fact.id in scores)
        ]
        cards.sort(key=lambda card: (-card.score, -card.fact.stated_at.timestamp(), card.id))
        with self._reading(scope, walls) as tx:
            elsewhere = _of_others(tx, own, walls, names).hold(tx, (card.fact for card in cards))
            cards = [card for card in cards if card.id not in elsewhere]
            shown = _shown(tx, cards, most, self._deps.clock(), suppressed=suppressed)
            return shown if history or told_by is not None else _after_what_holds(tx, shown, moment)

    def _known(
        self,
        tx: Transaction,
        analysed: "ranking.Query | None",
        vector: Vector | None,
        told_by: datetime | None,
    ) -> tuple[Sequence[Fact], dict[UUID, float] | None]:
        """Return all facts, or those that answer a query with how well, as they were believed by then."""
        scores: dict[UUID, float] | None = None
        if analysed is not None:
            rows = recalled.matching_facts(tx, self._deps, analysed, vector, limit=MOST)
            scores = {fact.id: score for fact, score in rows}
            facts: Sequence[Fact] = [fact for fact, _ in rows]
            # what was believed of a matter hangs on all that is known of it
            known = tx.knowledge.facts(slots=writing.slots_of(facts)) if told_by is not None else ()
        else:
            known = tx.knowledge.facts()
            facts = [kept.fact for kept in known]
        if told_by is not None:
            reported_facts = [kept.fact for kept in known]
            facts = core.settled(reported_facts, told_by)
            scores = None if scores is None else _scored(facts, reported_facts, scores)
        return facts, scores

    @contextmanager
    def _reading(self, scope: Scope, walls: Walls) -> Iterator[Transaction]:
        with reading_named(self._deps.store, scope) as tx:
            yield walled_off(tx, walls)

    def _vector(self, text: str) -> Vector | None:
        """Return the vector of what is asked; None: words alone answer."""
        if self._deps.embedder is not None:
            with suppress(ProviderError):
                return query_vector(self._deps.embedder, text)
        return None

    def get(self, fact_id: "UUID | str") -> FactCard:
        """Return one fact with the words that prove it.

        Takes an id or its unambiguous beginning, and that of a fact whose evidence another one holds now.
        """
        with self._at.read() as tx:
            fact = find_fact(tx, fact_id)
            return FactCard(fact.fact, quotes=quotes_of(tx, fact.fact))

    def history(self, fact_id: "UUID | str") -> Sequence[FactCard]:
        """Return what was so of one matter, past and present, oldest first.

        Of a slot that holds one value that is every value it had; of another, the one value.
        """
        with self._at.read() as tx:
            fact = find_fact(tx, fact_id).fact
            matter = group_of(fact.subject, fact.attribute, fact.value)
            slot = [kept.fact for kept in tx.knowledge.facts(slots=writing.slots_of([fact]))]
            return [
                FactCard(one) for one in slot if group_of(one.subject, one.attribute, one.value) == matter
            ]

    def edit(
        self,
        fact_id: "UUID | str",
        *,
        text: str | None = None,
        value: str | None = None,
        category: "Category | str | None" = None,
    ) -> FactCard:
        """Put a fact right by hand: its sentence, the value it is compared by, its category.

        How it read before is kept in `versions`, and the words it came from do not teach it again. Raises
        InvalidInput where nothing is given, or what is given leaves no fact.
        """
        if text is None and value is None and category is None:
            raise InvalidInput("give a text, a value or a category to put the fact right")
        kind, now = None if category is None else str(category), self._deps.clock()
        answer, held = clean_name(text), clean_name(value)
        return self._by_hand(
            fact_id, lambda fact: core.edit(fact, now, text=answer, value=held, category=kind)
        )

    def pin(self, fact_id: "UUID | str", pinned: bool = True) -> FactCard:
        """Let no statement end a fact by itself (or, unpinned, let those end it that were made)."""
        return self._by_hand(fact_id, lambda fact: core.pin(fact, pinned))

    def confirm(self, fact_id: "UUID | str") -> FactCard:
        """Say yes to a fact: it is certain."""
        return self._by_hand(fact_id, core.confirm)

    def delete(self, fact_id: "UUID | str") -> FactCard:
        """Delete a fact, and return what it was; the same words do not teach it again, others may.

        What it had ended holds again. What was observed stays.
        """
        return self._by_hand(fact_id, lambda _fact: None)

    def consolidate(self) -> int:
        """Learn facts from every episode that waits for it, though too few wait; return how many there were.

        Where a language model fails they wait on, and are not counted. With `jobs="workers"` it only asks for
        it, and returns 0.
        """
        return self._later.learn(self._at.known(), any_waiting=True)

    def _by_hand(self, fact_id: "UUID | str", change: Change) -> FactCard:
        scope = self._at.known()
        return until_unopposed(lambda: self._changed(scope, fact_id, change))

    def _changed(self, scope: Scope, fact_id: "UUID | str", change: Change) -> FactCard:
        """Change one fact and tell its slot anew: what it had ended, or what had ended it, may hold again."""
        deps, now = self._deps, self._deps.clock()
        with deps.store.begin(scope, write=False) as tx:
            _, known, changes = _by_hand(tx, fact_id, change)
        vectors = writing.embedded_if_possible(deps, writing.reworded(known, changes))
        with deps.store.begin(scope) as tx:
            tx.hold("facts")
            before, known, changes = _by_hand(tx, fact_id, change)
            concerns("fact", before.id)
            if change(before) is None:
                tx.knowledge.bury(core.delete(before, now))
            writing.write_facts(tx, deps, known, changes, vectors, now=now)
            heir = tx.knowledge.moves(before.id).get(
                before.id
            )  # what a hand made the same as another is one with it
            after = next(iter(tx.knowledge.facts(ids=[before.id if heir is None else heir])), None)
            return FactCard(before if after is None else after.fact)


def _by_hand(
    tx: Transaction, fact_id: "UUID | str", change: Change
) -> tuple[Fact, Sequence[StoredFact], Changes]:
    """Return a fact as it is, what it bears on, and what a change by hand makes of all that."""
    before = find_fact(tx, fact_id).fact
    after = change(before)
    known = tx.knowledge.facts(slots=writing.slots_of([before] if after is None else [before, after]))
    return before, known, core.retold([kept.fact for kept in known], {before.id: after})


def _inside(
    tx: Transaction, walls: Walls, names: Sequence[str] | None, facts: Sequence[Fact]
) -> Sequence[Fact]:
    """Return facts as they were said within walls, before it is asked what holds: that may end elsewhere."""
    if not walls:
        return facts
    return [*Elsewhere(only=within(tx, walls, names)).proved(tx, facts).values()]


def _shown(
    tx: Transaction, cards: Sequence[FactCard], most: int, now: datetime, *, suppressed: bool
) -> list[FactCard]:
    """Return the first cards but of facts that what has expired alone proves, or that hold its words.

    The same of what is suppressed, unless it is asked for.
    """
    visibility = Visibility(tx, now, lifted=suppressed)
    if not visibility.drawn:  # nearly always
        return list(cards[:most])
    shown: list[FactCard] = []
    for start in range(0, len(cards), most):
        page = cards[start : start + most]
        held = [one.observation_id for card in page for one in (*card.fact.evidence, *card.fact.leads)]
        hidden = _hidden(tx, visibility, held)
        shown += [
            card
            for card in page
            if card.fact.left_without(hidden)
            and not any(lead.observation_id in hidden for lead in card.fact.leads)
            and not visibility.holds(card.fact.fact, card.fact.value)
        ]
        if len(shown) >= most:
            break
    return shown[:most]


def _hidden(tx: Transaction, visibility: Visibility, observations: Sequence[UUID]) -> set[UUID]:
    """Return which of these are hidden; what is archived proves on, and so does what was edited since."""
    stored = tx.observations.get(observations)
    numbers = {thread: tx.threads.number(thread) for thread in {one.thread_id for one in stored.values()}}
    refs = {ref_of(numbers[one.thread_id], one.seq): one.id for one in stored.values()}
    why = visibility.why(list(refs))
    return {refs[ref] for ref, reason in why.items() if reason.startswith((EXPIRED, MarkKind.SUPPRESSED))}


def _after_what_holds(tx: Transaction, cards: Sequence[FactCard], at: datetime) -> list[FactCard]:
    """Return the cards of facts without the words before their own that are over."""
    if not any(card.fact.leads for card in cards):
        return list(cards)  # and a listing loads nothing that judges words
    facts = recalled.after_what_holds(tx, [card.fact for card in cards], at)
    return [replace(card, fact=facts[card.id]) for card in cards if card.id in facts]


def _scored(
    settled: Sequence[Fact], facts: Sequence[Fact], scores: Mapping[UUID, float]
) -> dict[UUID, float]:
    """Return how well facts answer as they stood once: as those do that hold their evidence today.

    Their ids may have been others then: an earlier statement that came later gives a fact another one.
    """
    best: dict[tuple[UUID, str], float] = {}
    for fact in facts:
        best |= dict.fromkeys(core.marks(fact), scores[fact.id]) if fact.id in scores else {}
    result = {}
    for fact in settled:
        held = [best[mark] for mark in core.marks(fact) if mark in best]
        held += [scores[fact.id]] if fact.id in scores else []
        if held:
            result[fact.id] = max(held)
    return result


def _analysed(query: str, moment: datetime, language: str | None) -> "ranking.Query":
    if not isinstance(query, str) or not query.strip():
        raise InvalidInput("the query is empty; ask something, or leave it out")
    return ranking.analyse(query, (), moment, language=language)


def _subjects(subject: str, user: str) -> frozenset[str]:
    """Return the folded names that facts about a subject may have: the user's own is "The user" too."""
    name = fold((clean_name(subject) or "").strip())
    if name == fold(user) or speaker_of(name) == OWNER:
        return frozenset({name, fold(user), fold(OWNER)})
    return frozenset({name})


def _category(category: "Category | str | None") -> Category | None:
    if category is None or isinstance(category, Category):
        return category
    try:
        return Category(category.strip().lower())
    except (ValueError, AttributeError) as error:
        raise InvalidInput(f"no category {category!r}; there are {', '.join(Category)}") from error


def _of_others(tx: Transaction, own: frozenset[str], walls: Walls, names: Sequence[str] | None) -> Elsewhere:
    """Return what was said in other projects than some folders mean."""
    return Elsewhere(projects_meant(tx, own, within(tx, walls, names)).own) if own else Elsewhere()
