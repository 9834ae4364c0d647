"""The verbs about facts: list and find them, show what proves one, put it right by hand, learn what waits."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from episodic_agent.core import facts as core
from episodic_agent.core import ranking
from episodic_agent.core.fact_records import Category, Evidence, Fact, KeptFact
from episodic_agent.core.facts import Changes
from episodic_agent.core.facts.slots import group_of
from episodic_agent.core.interfaces import Transaction, ref_of
from episodic_agent.core.text import fold
from episodic_agent.engine.consolidating import request_where_due
from episodic_agent.engine.fact_recall import best_facts
from episodic_agent.engine.fact_writing import embedded_if_possible, reworded, slots_of, write_facts
from episodic_agent.engine.given import aware, counted, tidy
from episodic_agent.engine.retrying import until_unopposed
from episodic_agent.engine.scoped import Scoped
from episodic_agent.errors import InvalidInput, NotFound, ProviderError
from episodic_agent.schemas import Json, Observation, Scope

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


@dataclass(frozen=True, slots=True)
class FactCard:
    """A fact as it is shown; `score` is how well it answers. Cards of a list carry no quotes."""

    fact: Fact
    score: float = 0.0
    quotes: Sequence[Quote] = ()

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


def find_fact(tx: Transaction, given: "UUID | str") -> KeptFact:
    """Return a fact by its id or the unambiguous beginning of it; an old id leads to who holds its evidence.

    Raises NotFound.
    """
    text = (tidy(given) or "").strip().lower()
    with suppress(ValueError):
        identity = UUID(text)
        found = tx.facts.get(identity)
        heir = tx.facts.successor(identity) if found is None else None
        found = tx.facts.get(heir) if heir is not None else found
        if found is not None:
            return found
    near = tx.facts.near(*span) if (span := _span(text)) is not None else ()
    if len(near) == 1 and (one := tx.facts.get(near[0])) is not None:
        return one
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
    found = tx.threads.by_ids([one.observation_id for one in fact.evidence])
    return [_quote(tx, one, found.get(one.observation_id)) for one in fact.evidence]


def _quote(tx: Transaction, said: Evidence, observation: Observation | None) -> Quote:
    identity, episode, actor, text = said.observation_id, said.episode_id, "", ""
    if observation is not None:
        ref = ref_of(tx.threads.number(observation.thread_id), observation.seq)
        owner = tx.episodes.covers([(ref, ref)])
        episode = UUID(owner[0].name) if owner else None  # segmented again: another one than it was then
        actor, text = observation.actor, observation.text[said.start : said.end]
    return Quote(identity, episode, actor, text, said.said_at, said.valid_at, said.learned_at)


class FactVerbs(Scoped):
    """The verbs of `Memory` about facts."""

    _here: bool

    def _run_here(self, scope: Scope | None = None) -> int:
        raise NotImplementedError

    def facts(
        self,
        query: str | None = None,
        *,
        category: "Category | str | None" = None,
        subject: str | None = None,
        at: datetime | None = None,
        known_by: datetime | None = None,
        history: bool = False,
        limit: int = 20,
        user_id: str | None = None,
    ) -> list[FactCard]:
        """Return facts that hold: those that answer a query, best first, else the newest first.

        `at` is another moment of event time than now; with `known_by`, a moment of record time, what was
        believed on the evidence taken in by then; `history` shows all, over or still to come. Raises
        InvalidInput for a blank query or an unknown category.
        """
        wanted, moment, told_by = _category(category), aware(at) or self._parts.clock(), aware(known_by)
        about = None if subject is None else fold((tidy(subject) or "").strip())
        most = counted("limit", limit)
        scope = self._known(user_id)
        analysed = None if query is None else _analysed(query, moment, self._parts.language)
        vector = None
        if analysed is not None and self._parts.embedder is not None:
            with suppress(ProviderError):  # words alone then answer
                vector = self._parts.embedder.embed([analysed.dense_text])[0]
        with self._parts.store.begin(scope, write=False) as tx:
            scores: dict[UUID, float] | None = None
            if analysed is not None:
                rows = best_facts(tx, self._parts, analysed, vector, limit=MOST, history=True)
                scores = {fact.id: score for fact, score in rows}
                facts = [fact for fact, _ in rows]
                # what was believed of a matter hangs on all that is known of it
                known = tx.facts.of_slots(slots_of(facts)) if told_by is not None else ()
            else:
                known = tx.facts.list()
                facts = [kept.fact for kept in known]
            if told_by is not None:
                told = [kept.fact for kept in known]
                facts = list(core.settled(told, told_by))
                scores = None if scores is None else _scored(facts, told, scores)
        cards = [
            FactCard(fact, 0.0 if scores is None else scores[fact.id])
            for fact in facts
            if (history or fact.held_at(moment))
            and wanted in (None, fact.category)
            and about in (None, fold(fact.subject))
            and (scores is None or fact.id in scores)
        ]
        cards.sort(key=lambda card: (-card.score, -card.fact.valid_at.timestamp(), card.id))
        return cards[:most]

    def fact(self, fact_id: "UUID | str", *, user_id: str | None = None) -> FactCard:
        """Return one fact with the words that prove it.

        Takes an id or its unambiguous beginning, and that of a fact whose evidence another one holds now.
        """
        with self._read(user_id) as tx:
            kept = find_fact(tx, fact_id)
            return FactCard(kept.fact, quotes=quotes_of(tx, kept.fact))

    def fact_history(self, fact_id: "UUID | str", *, user_id: str | None = None) -> list[FactCard]:
        """Return what was so of one matter, past and present, oldest first.

        Of a slot that holds one value that is every value it had; of another, the one value.
        """
        with self._read(user_id) as tx:
            fact = find_fact(tx, fact_id).fact
            matter = group_of(fact.subject, fact.attribute, fact.value)
            slot = [kept.fact for kept in tx.facts.of_slots(slots_of([fact]))]
            return [
                FactCard(one) for one in slot if group_of(one.subject, one.attribute, one.value) == matter
            ]

    def edit_fact(
        self,
        fact_id: "UUID | str",
        *,
        text: str | None = None,
        value: str | None = None,
        category: "Category | str | None" = None,
        user_id: str | None = None,
    ) -> FactCard:
        """Put a fact right by hand: its sentence, the value it is compared by, its category.

        How it read before is kept in `versions`, and the words it came from do not teach it again. Raises
        InvalidInput where nothing is given, or what is given leaves no fact.
        """
        if text is None and value is None and category is None:
            raise InvalidInput("give a text, a value or a category to put the fact right")
        kind, now = None if category is None else str(category), self._parts.clock()
        told, held = tidy(text), tidy(value)
        return self._by_hand(
            fact_id, user_id, lambda fact: core.edit(fact, now, text=told, value=held, category=kind)
        )

    def pin_fact(self, fact_id: "UUID | str", pinned: bool = True, *, user_id: str | None = None) -> FactCard:
        """Let no statement end a fact by itself (or, unpinned, let those end it that were made)."""
        return self._by_hand(fact_id, user_id, lambda fact: core.pin(fact, pinned))

    def confirm_fact(self, fact_id: "UUID | str", *, user_id: str | None = None) -> FactCard:
        """Say yes to a fact: it is certain."""
        return self._by_hand(fact_id, user_id, core.confirm)

    def delete_fact(self, fact_id: "UUID | str", *, user_id: str | None = None) -> FactCard:
        """Delete a fact, and return what it was; the same words do not teach it again, others may.

        What it had ended holds again. What was observed stays.
        """
        return self._by_hand(fact_id, user_id, lambda _fact: None)

    def consolidate(self, *, user_id: str | None = None) -> int:
        """Learn facts from every episode that waits for it, though too few wait; return how many there were.

        Where a language model fails they wait on, and are not counted. With `jobs="workers"` it only asks for
        it, and returns 0.
        """
        return self._consolidate_here(self._known(user_id), any_waiting=True)

    def _consolidate_here(self, scope: Scope, *, any_waiting: bool = False) -> int:
        done, store = 0, self._parts.store
        before = request_where_due(store, scope, self._parts.clock(), any_waiting=any_waiting)
        while before and self._here:
            self._run_here(scope)
            with store.begin(scope, write=False) as tx:
                left = tx.episodes.count_unconsolidated()
            if left >= before:
                break  # what waits cannot be done now
            done += before - left
            before = request_where_due(store, scope, self._parts.clock(), any_waiting=any_waiting)
        return done

    def _by_hand(self, fact_id: "UUID | str", user_id: str | None, change: Change) -> FactCard:
        scope = self._known(user_id)
        return until_unopposed(lambda: self._changed(scope, fact_id, change))

    def _changed(self, scope: Scope, fact_id: "UUID | str", change: Change) -> FactCard:
        """Change one fact and tell its slot anew: what it had ended, or what had ended it, may hold again."""
        parts, now = self._parts, self._parts.clock()
        with parts.store.begin(scope, write=False) as tx:
            _, known, changes = _by_hand(tx, fact_id, change)
        vectors = embedded_if_possible(parts, [fact.fact for fact in reworded(known, changes)])
        with parts.store.begin(scope) as tx:
            tx.facts.hold()
            before, known, changes = _by_hand(tx, fact_id, change)
            if change(before) is None:
                tx.facts.bury(core.delete(before, now))
            write_facts(tx, parts, known, changes, vectors, now=now)
            heir = tx.facts.successor(before.id)  # what a hand made the same as another is one with it
            after = tx.facts.get(before.id if heir is None else heir)
            return FactCard(before if after is None else after.fact)


def _by_hand(
    tx: Transaction, fact_id: "UUID | str", change: Change
) -> tuple[Fact, Sequence[KeptFact], Changes]:
    """Return a fact as it is, what it bears on, and what a change by hand makes of all that."""
    before = find_fact(tx, fact_id).fact
    after = change(before)
    known = tx.facts.of_slots(slots_of([before] if after is None else [before, after]))
    return before, known, core.retold([kept.fact for kept in known], {before.id: after})


def _scored(
    settled: Sequence[Fact], facts: Sequence[Fact], scores: Mapping[UUID, float]
) -> dict[UUID, float]:
    """Return how well facts answer as they stood once: as those do that hold their evidence today.

    Their ids may have been others then: an earlier statement that came later gives a fact another one.
    """
    best: dict[tuple[UUID, str], float] = {}
    for fact in facts:
        best |= dict.fromkeys(core.marks(fact), scores[fact.id]) if fact.id in scores else {}
    found = {}
    for fact in settled:
        held = [best[mark] for mark in core.marks(fact) if mark in best]
        held += [scores[fact.id]] if fact.id in scores else []
        if held:
            found[fact.id] = max(held)
    return found


def _analysed(query: str, moment: datetime, language: str | None) -> ranking.Query:
    if not isinstance(query, str) or not query.strip():
        raise InvalidInput("the query is empty; ask something, or leave it out")
    return ranking.analyse(query, (), moment, language=language)


def _category(category: "Category | str | None") -> Category | None:
    if category is None or isinstance(category, Category):
        return category
    try:
        return Category(category.strip().lower())
    except (ValueError, AttributeError) as error:
        raise InvalidInput(f"no category {category!r}; there are {', '.join(Category)}") from error
