"""Find what somebody took on to do, and what settled it since, for search and contexts alike.

Messages that take something on lie in one direction of the judge's space: what lies farthest along it, alone
and toward the question, is read beside what answers to the question's words. No index has to know of it.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache, partial
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from episodic_agent.core.echo import is_echo, own_words
from episodic_agent.core.episodes.languages import content_terms
from episodic_agent.core.facts.stating import KNOWN_EMBEDDERS, is_person
from episodic_agent.core.language import fold, tokens, words
from episodic_agent.core.recall import kept_terms, term_weight
from episodic_agent.core.recall.alone import QUESTION_MARKS
from episodic_agent.core.recall.bm25 import K1, B
from episodic_agent.core.recall.commitments import (
    BY_NAME,
    LIST_ASKED,
    SURE_TAKING,
    AskedPeople,
    Undertaking,
    answering,
    asks_for_commitments,
    by_name_alone,
    may_be_listed,
    people_asked,
    takes_on,
    towards_commitments,
    undertakings,
)
from episodic_agent.core.recall.due import due_by
from episodic_agent.core.recall.settling import Report, reports, settling, towards_reports
from episodic_agent.core.threads.turns import is_reply
from episodic_agent.engine.results import Commitment
from episodic_agent.engine.threads.resolving import given_name, name_of_somebody
from episodic_agent.engine.visibility.hidden import Visibility
from episodic_agent.protocols import OBSERVATIONS, Refs, Scores, Transaction, split_ref
from episodic_agent.schemas import Observation, Vector

PER_LEG: Final = 160  # messages each way of looking brings
LIKELY: Final = 0.3  # from which a message may take something on
LEAST: Final = 0.15  # nothing less likely is the best there is
NEAR_BEST: Final = 0.4  # share of the best from which a commitment is told beside it
NEAR: Final = 3  # messages on either side that tell what is spoken of
BARE: Final = 2  # words of content of a question that says no more than "what did he promise?"
FEW: Final = 8  # words of a message that says only with the one before it what is meant
TOGETHER: Final = timedelta(days=2)  # from then on nothing is an answer to what stands before it
_DAY: Final = 86_400.0
REPORTED: Final = 0.05  # from which a message may report that something is settled
_FOLLOWING: Final = 12  # messages behind something in its thread that are read whatever they say
_LIKE_REPORTS: Final = 40  # messages that are likest to a report of one thing
_BEFORE: Final = 2  # messages before a report that tell what it is of
SETTLED: Final = 0.2  # from which a later message is told to have settled something
SURELY: Final = 0.4  # and from which a list says that it is settled: .79 of what it calls so is
_DONE: Final = 0.5  # from which a message that may take something on rather reports that it is done
MOST_LISTED: Final = 20  # commitments that are listed
_LESS: Final = 0.5  # of the share of what is surely settled is taken away
ANSWERING: Final = 0.38  # how likely one is asked for, from which a search does not say that it knows nothing
SURELY_ASKED: Final = 0.75  # how likely a question asks for commitments that asks for nothing else
_BEHIND: Final = 0.9  # of the share of a commitment what it answers to has
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CommitmentQuestion:
    """A question that may be for commitments, as it is embedded by `embedder` (`vector` None: by none).

    Only among the messages that `among` gives is looked for what answers it, None: among all.
    """

    text: str
    vector: Vector | None
    embedder: str
    language: str | None
    among: Callable[[], Refs] | None = None

    @property
    def judged(self) -> Vector | None:
        """Return the vector that the judges know, or None."""
        return self.vector if self.embedder in KNOWN_EMBEDDERS else None


class ListedCommitment(NamedTuple):
    """A commitment, with the reference of its message, and that with what settled it."""

    ref: int
    refs: frozenset[int]
    commitment: Commitment


class Commitments(NamedTuple):
    """What tells of the commitments a question asks for: each one's share of the best, by reference, rising.

    `likely` is how likely the best is what is asked for, in [0, 1]. Where it is sure whose are asked for,
    `listed` are these: the open ones by the day they are due, then what is settled. `alone`: surely
    nothing else is asked for.
    """

    shares: Mapping[int, float] = MappingProxyType({})
    likely: float = 0.0
    listed: Sequence[ListedCommitment] = ()
    alone: bool = False

    def within(self, keep: Callable[[Refs], Refs]) -> "Commitments":
        """Return what of it lies in the references that `keep` leaves."""
        if not self.shares:
            return self
        refs = frozenset(keep(np.array([*self.shares], np.int64)).tolist())
        shares = {ref: share for ref, share in self.shares.items() if ref in refs}
        listed = [one for one in self.listed if one.refs <= refs]
        return self._replace(shares=shares, listed=listed, alone=self.alone and bool(listed))


NONE_ASKED: Final = Commitments()


def commitments_asked(
    tx: Transaction, asked: CommitmentQuestion, now: datetime, visibility: Visibility
) -> Commitments:
    """Return what tells of the commitments that a question asks for, nothing where it asks for none.

    Of "ok, will do" the request before it is told too, and of what is settled the message that settled it.
    """
    if not asks_for_commitments(asked.text, asked.judged):
        return NONE_ASKED
    people, some = read_undertakings(tx, asked, now, visibility)
    bare = _is_bare(tx, asked, people)
    likely = answering(people, list(some.values()))
    theirs = _theirs(people, some.values())
    if theirs is not None and bare:  # all that is theirs is asked for, and nothing else
        certain = np.array([one.likelihood for one in some.values()])
        likely = np.where(theirs, np.maximum(likely, BY_NAME * certain), 0.0)
        chosen = _shares_of(some, likely, theirs & (certain >= SURE_TAKING))
    else:
        chosen = _shares_of(some, likely)
    answers = [ref for ref in chosen if some[ref].answers and len(words(some[ref].text)) <= FEW]
    shares = dict(chosen)
    for ref in answers:
        shares[ref - 1] = max(shares.get(ref - 1, 0.0), _BEHIND * chosen[ref])
    taken_on = read_taken_on(tx, list(chosen), answers, visibility)
    settled = settled_by(tx, taken_on, asked, now, visibility)
    for ref, (report, sure) in settled.items():
        if sure >= SETTLED:
            shares[report] = max(shares.get(report, 0.0), chosen[ref])
            for part in (ref, ref - 1) if ref in answers else (ref,):
                shares[part] *= 1.0 - sure * _LESS
    sure = max(by_name_alone(people, some.values()) if bare else 0.0, float(likely.max(initial=0.0)))
    if theirs is not None:
        taken_on = _listable(taken_on, some, theirs, people)
    # "what is Ben's phone number?": what he took on is no answer
    listable = asks_for_commitments(asked.text, asked.judged, LIST_ASKED) if bare else sure >= ANSWERING
    if theirs is None or not taken_on or not listable:
        return Commitments(dict(sorted(shares.items())), sure)
    surely = {ref: report for ref, (report, sure_of) in settled.items() if sure_of >= max(SETTLED, SURELY)}
    listed = _listed(tx, asked, taken_on, surely, visibility)
    alone = bare and asks_for_commitments(asked.text, asked.judged, SURELY_ASKED)
    if bare:
        shares |= _in_turn(listed, answers)
    return Commitments(dict(sorted(shares.items())), sure, listed, alone)


def _theirs(people: AskedPeople, some: Iterable[Undertaking]) -> NDArray[np.bool_] | None:
    """Tell which messages are surely whose are asked for, None where that is not sure or they say nothing."""
    every = list(some)
    if not people.sure or not any(fold(one.actor) in people.whose for one in every):
        return None
    return np.array([people.keeps(one) for one in every])


def _listable(
    taken_on: Iterable["TakenOn"],
    some: Mapping[int, Undertaking],
    theirs: NDArray[np.bool_],
    people: AskedPeople,
) -> list["TakenOn"]:
    """Return what is surely theirs and taken on; of an assistant only where its own are asked for.

    Its services are nobody's promise.
    """
    own = frozenset(ref for ref, is_theirs in zip(some, theirs.tolist(), strict=True) if is_theirs)
    of_people = any(map(is_person, people.whose))
    return [
        one
        for one in taken_on
        if one.ref in own
        and _may_be_listed(some[one.ref])
        and not one.is_nod
        and not (of_people and is_reply(one.item))
    ]


def _may_be_listed(undertaking: Undertaking) -> bool:
    """Tell whether a message likely takes something on, and neither asks nor reports that it is done."""
    text = undertaking.text.rstrip()
    asks = text.endswith(QUESTION_MARKS)
    return may_be_listed(text) and not asks and reports(text) < _DONE


def _shares_of(
    some: Iterable[int], likely: Floats, chosen: NDArray[np.bool_] | None = None
) -> dict[int, float]:
    """Return the share of the best that messages have, of those near the best, and `chosen`."""
    shares = likely / max(likely.max(initial=0.0), LEAST)
    near = shares >= NEAR_BEST
    chosen = near if chosen is None else near | chosen
    every = zip(some, shares.tolist(), chosen.tolist(), strict=True)
    return {ref: share for ref, share, is_chosen in every if is_chosen}


def _in_turn(listed: Sequence[ListedCommitment], answers: Sequence[int]) -> dict[int, float]:
    """Return shares by which commitments stand as they are listed, each before its request and its report."""
    shares: dict[int, float] = {}
    for place, row in enumerate(listed):
        request = [row.ref - 1] if row.ref in answers else []
        for n, ref in enumerate(dict.fromkeys([row.ref, *sorted(row.refs - {row.ref}), *request])):
            settled = 1.0 if row.commitment.settled_by is None else 1.0 - _LESS
            shares.setdefault(ref, settled * (1.0 - (0.5 * place + 0.1 * n) / len(listed)))
    return shares


def _is_bare(tx: Transaction, asked: CommitmentQuestion, people: AskedPeople) -> bool:
    """Tell whether a question says nothing of what was taken on: it names people, and that they did."""
    return len(_terms_of_question(tx, asked, people)) <= BARE


def _terms_of_question(tx: Transaction, asked: CommitmentQuestion, people: AskedPeople) -> list[str]:
    named = people.whose | people.others
    names = {term for actor in tx.observations.actors() if fold(actor) in named for term in tokens(actor)}
    return [term for term in content_terms(asked.text, asked.language) if term not in names]


def read_undertakings(
    tx: Transaction, asked: CommitmentQuestion, now: datetime, visibility: Visibility
) -> tuple[AskedPeople, dict[int, Undertaking]]:
    """Return whose commitments a question asks for, and the messages that may tell of them, rising."""
    actors = tx.observations.actors()
    people = people_asked(asked.text, actors, tx.scope.user_id, asked.judged)
    terms = content_terms(asked.text, asked.language)
    legs = _CommitmentLegs(tx, asked, _terms_of_question(tx, asked, people))
    likely = _likely(tx, asked, _stored(tx, visibility.shown(legs.candidates()), now))
    around = np.unique([ref + n for ref in likely for n in range(-NEAR, NEAR + 1)]).astype(np.int64)
    stored = _stored(tx, visibility.shown(around), now)
    seen = _TalkAround(tx, legs, people, stored, frozenset(terms))
    return people, {ref: seen.undertaking(ref, share, now) for ref, share in likely.items()}


def _stored(tx: Transaction, refs: Refs, now: datetime) -> dict[int, Observation]:
    return {
        ref: item
        for ref, item in sorted(tx.observations.get(refs.tolist()).items())
        if item.at <= now and not is_echo(item) and item.text.strip()
    }


class _CommitmentLegs:
    """The ways of looking: the question's words, its likeness, and where commitments lie."""

    def __init__(self, tx: Transaction, asked: CommitmentQuestion, terms: Sequence[str]) -> None:
        self._tx = tx
        self._asked = asked
        statistics = tx.index.statistics(OBSERVATIONS, list(terms))
        frequent = kept_terms(dict(statistics.frequencies), statistics.documents)
        self._weights = {t: term_weight(t, n, statistics.documents) for t, n in frequent.items()}
        self._length = statistics.average_length

    def candidates(self) -> Refs:
        """Return messages that may take something on and answer the question, rising."""
        asked = self._asked
        every = None if asked.among is None else asked.among()
        legs = [self._best(self._worded, every)] if self._weights else []
        if asked.vector is not None:
            queries = [asked.vector]
            if asked.judged is not None:
                towards = towards_commitments()
                queries += [
                    towards,
                    (towards + asked.vector / np.linalg.norm(asked.vector)).astype(np.float32),
                ]
            legs += [self._best(partial(self._like, query), every) for query in queries]
        refs = np.concatenate([np.zeros(0, np.int64), *legs]).astype(np.int64)
        refs = np.unique(np.concatenate([refs, refs + 1]))  # "leave it with me" stands behind what it answers
        return refs if every is None else np.intersect1d(refs, every)

    def _best(self, leg: Callable[[Refs | None], tuple[Refs, Scores]], among: Refs | None) -> Refs:
        refs, scores = leg(among)
        return refs if among is None else refs[np.lexsort((refs, -np.nan_to_num(scores)))[:PER_LEG]]

    def _worded(self, refs: Refs | None) -> tuple[Refs, Scores]:
        most = PER_LEG if refs is None else 0
        return self._tx.index.text_scores(
            OBSERVATIONS, self._weights, refs, k1=K1, b=B, average_length=self._length, limit=most
        )

    def _like(self, query: Vector, refs: Refs | None) -> tuple[Refs, Scores]:
        most = PER_LEG if refs is None else 0
        return self._tx.index.vector_scores(OBSERVATIONS, self._asked.embedder, query, refs, limit=most)

    def cosines(self, refs: Refs) -> Floats:
        """Return how alike messages are to the question, 0 without vectors."""
        if self._asked.vector is None or not len(refs):
            return np.zeros(len(refs))
        cosines: Floats = np.nan_to_num(self._like(self._asked.vector, refs)[1].astype(np.float64))
        return cosines

    def held(self, refs: Refs) -> Floats:
        """Return how much of the question's words messages hold, by rarity, of the best 1."""
        if not self._weights or not len(refs):
            return np.zeros(len(refs))
        scores: Floats = self._worded(refs)[1].astype(np.float64)
        shares: Floats = scores / max(float(scores.max()), 1e-9)
        return shares


def _likely(
    tx: Transaction, asked: CommitmentQuestion, stored: Mapping[int, Observation]
) -> dict[int, float]:
    """Return the messages that may take something on, each with how likely it does."""
    vectors: Mapping[int, Vector] = {}
    if asked.judged is not None and stored:
        vectors = tx.index.vectors(OBSERVATIONS, asked.embedder, list(stored))
    every = {ref: takes_on(own_words(item).text, vectors.get(ref)) for ref, item in stored.items()}
    return {ref: share for ref, share in every.items() if share >= LIKELY}


class _TalkAround:
    """What stands around messages that may take something on, and what of a question it holds."""

    def __init__(
        self,
        tx: Transaction,
        legs: _CommitmentLegs,
        people: AskedPeople,
        stored: Mapping[int, Observation],
        terms: frozenset[str],
    ) -> None:
        refs = np.array([*stored], np.int64)
        self._stored = stored
        self._people = people
        self._cosines = dict(zip(stored, legs.cosines(refs).tolist(), strict=True))
        self._held = dict(zip(stored, legs.held(refs).tolist(), strict=True))
        asked_for = terms.union(*map(tokens, people.others))
        ids = sorted({item.thread_id for item in stored.values()})
        threads = tx.threads.list(ids=ids) if ids else ()
        self._named = {one.id for one in threads if not asked_for.isdisjoint(tokens(given_name(one)))}

    def undertaking(self, ref: int, likelihood: float, now: datetime) -> Undertaking:
        """Return a message as the choice reads it."""
        item = self._stored[ref]
        near = [
            other
            for other in range(ref - NEAR, ref + NEAR + 1)
            if other != ref and other in self._stored and self._stored[other].thread_id == item.thread_id
        ]
        own = [ref, ref - 1] if ref - 1 in near and self._answers(ref) else [ref]
        return Undertaking(
            item.actor,
            own_words(item).text,
            len(own) > 1,
            likelihood,
            max(self._cosines[one] for one in own),
            max(self._held[one] for one in own),
            max((self._held[one] for one in near), default=0.0),
            item.thread_id in self._named,
            any(fold(self._stored[one].actor) in self._people.others for one in near),
            (now - item.at).total_seconds() / _DAY,
        )

    def _answers(self, ref: int) -> bool:
        item, before = self._stored[ref], self._stored[ref - 1]
        return item.at - before.at <= TOGETHER and before.actor != item.actor


@dataclass(frozen=True, slots=True)
class TakenOn:
    """A message that takes something on, with the request it answers, None: none."""

    ref: int
    item: Observation
    asked: Observation | None = None

    @property
    def is_nod(self) -> bool:
        """Tell whether it answers what somebody else takes on: "ok" to "I'll do it next week"."""
        if self.asked is None:
            return False
        before = own_words(self.asked).text.rstrip()
        return not before.endswith(QUESTION_MARKS) and takes_on(before) >= SURE_TAKING

    @property
    def text(self) -> str:
        """Return what it says, behind the request."""
        before = "" if self.asked is None else own_words(self.asked).text + "\n"
        return before + own_words(self.item).text


def read_taken_on(
    tx: Transaction, refs: Sequence[int], answers: Sequence[int], visibility: Visibility
) -> list[TakenOn]:
    """Return messages as what they take on, those of `answers` with the request before them."""
    requests = visibility.shown(np.array([ref - 1 for ref in answers], np.int64)).tolist()
    items = tx.observations.get(sorted({*refs, *requests}))
    return [
        TakenOn(ref, items[ref], items.get(ref - 1) if ref in answers and ref - 1 in requests else None)
        for ref in sorted(refs)
    ]


def _listed(
    tx: Transaction,
    asked: CommitmentQuestion,
    taken_on: Sequence[TakenOn],
    settled: Mapping[int, int],
    visibility: Visibility,
) -> list[ListedCommitment]:
    """Return commitments as they are listed: open ones by the day they are due, then what is settled."""
    reports = tx.observations.get([*settled.values()])
    refs = np.unique([task.ref - n for task in taken_on for n in range(1, NEAR + 1)]).astype(np.int64)
    refs = refs if asked.among is None else np.intersect1d(refs, asked.among())
    before = _stored(tx, visibility.shown(refs), max(task.item.at for task in taken_on))
    result = []
    for task in taken_on:
        item = task.item
        request = None if task.asked is None else before.get(task.ref - 1)
        texts = undertakings(own_words(item).text, asked.language)
        report = reports.get(settled.get(task.ref, -1))
        done = _settled_of(texts, before.get(task.ref - 1), report, asked.language)
        for text in texts:
            due = _due(text, item)
            if due is None and request is not None and text is texts[0]:
                due = _due(own_words(request).text, request)
            is_done = text in done
            refs_of = {task.ref, settled[task.ref]} if is_done else {task.ref}
            commitment = Commitment(item, text, _said_to(tx, task, before), due, report if is_done else None)
            result.append(ListedCommitment(task.ref, frozenset(refs_of), commitment))
    return sorted(result, key=lambda row: _as_due(row.commitment))[:MOST_LISTED]


def _settled_of(
    texts: Sequence[str], before: Observation | None, report: Observation | None, language: str | None
) -> frozenset[str]:
    """Return which sentences of one message a report settles: those it shares words with, all if with none.

    The first sentence is read behind the message before it: it may answer a request.
    """
    if report is None:
        return frozenset()
    reported = frozenset(content_terms(own_words(report).text, language))
    shares = []
    for place, text in enumerate(texts):
        behind = "" if place or before is None else own_words(before).text
        shares.append(len(reported.intersection(content_terms(f"{behind}\n{text}", language))))
    best = max(shares)
    return frozenset(text for text, shared in zip(texts, shares, strict=True) if shared == best)


def _as_due(commitment: Commitment) -> tuple[bool, date, datetime]:
    return commitment.settled_by is not None, commitment.due or date.max, commitment.observation.at


def _said_to(tx: Transaction, task: TakenOn, before: Mapping[int, Observation]) -> str:
    """Return who something was said to: who spoke there before, else whom its thread is called by."""
    near = [before[task.ref - n] for n in range(1, NEAR + 1) if task.ref - n in before]
    others = (
        item.actor for item in near if item.thread_id == task.item.thread_id and item.actor != task.item.actor
    )
    thread = tx.threads.get(task.item.thread_id)
    return next(others, "" if thread is None else name_of_somebody(thread))


def _due(text: str, item: Observation) -> date | None:
    offset = None if item.utc_offset is None else timedelta(seconds=item.utc_offset)
    return due_by(text, item.at, offset)


def settled_by(
    tx: Transaction,
    taken_on: Sequence[TakenOn],
    asked: CommitmentQuestion,
    now: datetime,
    visibility: Visibility,
) -> dict[int, tuple[int, float]]:
    """Return for things taken on the message that settles it likeliest, and how likely, by reference."""
    best: dict[int, tuple[int, float]] = {}
    for ref, later, some in read_reports(tx, taken_on, asked, now, visibility):
        likely = settling(some)
        if len(likely):
            place = int(likely.argmax())
            best[ref] = (later[place], float(likely[place]))
    return best


def read_reports(
    tx: Transaction,
    taken_on: Sequence[TakenOn],
    asked: CommitmentQuestion,
    now: datetime,
    visibility: Visibility,
) -> list[tuple[int, list[int], list[Report]]]:
    """Return for each thing taken on the later messages that may settle it, rising, as the pair is judged."""
    if not taken_on:
        return []
    vectors = _MessageVectors(tx, asked)
    candidates = visibility.shown(_report_candidates(taken_on, asked, vectors))
    stored = _stored(tx, candidates, now)
    around = sorted({ref - n for ref in stored for n in range(1, _BEFORE + 1)} - stored.keys())
    before = _stored(tx, visibility.shown(np.array(around, np.int64)), now)
    near = {**stored, **before}
    vectors.load(
        [
            *near,
            *(task.ref for task in taken_on),
            *(task.ref - 1 for task in taken_on if task.asked),
        ]
    )
    likely = {ref: reports(own_words(item).text, vectors.judged(ref)) for ref, item in stored.items()}
    later = {ref: item for ref, item in stored.items() if likely[ref] >= REPORTED}
    pairs = _ReportPairs(tx, taken_on, asked, near, vectors)
    result = []
    for task in taken_on:
        refs = [ref for ref, item in later.items() if ref != task.ref and item.at >= task.item.at]
        thread = split_ref(task.ref)[0]
        refs = [ref for ref in refs if split_ref(ref)[0] != thread or ref > task.ref]
        result.append((task.ref, refs, [pairs.report(task, ref, likely[ref]) for ref in refs]))
    return result


def _report_candidates(
    taken_on: Sequence[TakenOn], asked: CommitmentQuestion, vectors: "_MessageVectors"
) -> Refs:
    every = None if asked.among is None else asked.among()
    refs = [task.ref + n for task in taken_on for n in range(1, _FOLLOWING + 1)]
    for task in taken_on:
        refs += vectors.like_reports(task.ref, every)
    following = np.unique(np.array(refs, np.int64))
    return following if every is None else np.intersect1d(following, every)


class _MessageVectors:
    """The vectors of messages, by reference; of any embedder for cosines, of the judges' own for them."""

    def __init__(self, tx: Transaction, asked: CommitmentQuestion) -> None:
        self._tx = tx
        self._asked = asked
        self._of: dict[int, Vector] = {}

    def load(self, refs: Sequence[int]) -> None:
        """Read the vectors of messages."""
        missing = sorted({*refs} - self._of.keys())
        if self._asked.vector is not None and missing:
            self._of.update(self._tx.index.vectors(OBSERVATIONS, self._asked.embedder, missing))

    def judged(self, ref: int) -> Vector | None:
        """Return the vector that the judges know, or None."""
        return self._of.get(ref) if self._asked.judged is not None else None

    def like_reports(self, ref: int, among: Refs | None) -> list[int]:
        """Return the messages that are likest to a report of what was taken on."""
        self.load([ref])
        vector = self._of.get(ref)
        if vector is None:
            return []
        query = vector / np.linalg.norm(vector)
        if self._asked.judged is not None:
            query = query + towards_reports()
        most = _LIKE_REPORTS if among is None else 0
        refs, scores = self._tx.index.vector_scores(
            OBSERVATIONS, self._asked.embedder, query.astype(np.float32), among, limit=most
        )
        best = np.lexsort((refs, -np.nan_to_num(scores)))[:_LIKE_REPORTS]
        likest: list[int] = refs[best].tolist()
        return likest

    def unit(self, refs: Sequence[int]) -> Floats | None:
        """Return the direction of some messages together, None where none has a vector."""
        some = [self._of[ref] for ref in refs if ref in self._of]
        if not some:
            return None
        total: Floats = np.array(some, np.float64).sum(axis=0)  # equal on every processor
        unit: Floats = total / max(float(np.sqrt(total @ total)), 1e-9)
        return unit


class _ReportPairs:
    """What is told of a later message beside something taken on, and beside all else that was."""

    def __init__(
        self,
        tx: Transaction,
        taken_on: Sequence[TakenOn],
        asked: CommitmentQuestion,
        near: Mapping[int, Observation],
        vectors: _MessageVectors,
    ) -> None:
        self._near = near
        self._vectors = vectors
        self._language = asked.language
        self._taken_on = taken_on
        self._terms = {task.ref: sorted(set(content_terms(task.text, asked.language))) for task in taken_on}
        every = sorted({term for terms in self._terms.values() for term in terms})
        statistics = tx.index.statistics(OBSERVATIONS, every)
        self._weights = {
            term: term_weight(term, statistics.frequencies.get(term, 0), statistics.documents)
            for term in every
        }
        self._totals = {ref: sum(self._weights[term] for term in terms) for ref, terms in self._terms.items()}
        self._meant = {
            task.ref: vectors.unit([task.ref] if task.asked is None else [task.ref, task.ref - 1])
            for task in taken_on
        }
        # each message stands beside all that was taken on, and each of those beside all others
        self._unit = cache(lambda *refs: vectors.unit(refs))
        self._words_of = cache(self._content_words)
        self._cosine = cache(self._cosine_of)
        self._held = cache(self._share_held)
        self._beside = cache(self._all_before)

    def report(self, task: TakenOn, ref: int, likelihood: float) -> Report:
        """Return a later message as the pair is judged."""
        item = self._near[ref]
        before = [n for n in range(ref - _BEFORE, ref) if n in self._near and n != task.ref]
        beside = self._beside(ref)
        cosine, with_before = self._cosine(task.ref, ref)
        held = self._held(task.ref, ref)
        here = split_ref(ref)[0] == split_ref(task.ref)[0]
        first, last = bisect_right(beside.refs, task.ref), bisect_left(beside.refs, ref)
        return Report(
            text=beside.text,
            length=beside.length,
            likelihood=likelihood,
            takes_on=beside.takes_on,
            cosine=cosine,
            with_before=with_before,
            margin=max(cosine, with_before) - _best_other(beside.cosines, task.ref),
            held=held,
            held_margin=held - _best_other(beside.held, task.ref),
            held_near=max((self._held(task.ref, n) for n in before), default=0.0),
            between=ref - task.ref - 1 if here else None,
            others_between=max(last - first, 0) if here else len(beside.refs) - beside.refs.count(task.ref),
            by_whose=item.actor == task.item.actor,
            by_asker=task.asked is not None and item.actor == task.asked.actor,
            days=(item.at - task.item.at).total_seconds() / _DAY,
        )

    def _all_before(self, ref: int) -> "_Beside":
        """Return a message beside all that was taken on before it."""
        item = self._near[ref]
        text = own_words(item).text
        refs = sorted(task.ref for task in self._taken_on if task.item.at <= item.at)
        cosines = sorted(((max(self._cosine(one, ref)), one) for one in set(refs)), reverse=True)
        held = sorted(((self._held(one, ref), one) for one in set(refs)), reverse=True)
        likely = takes_on(text, self._vectors.judged(ref))
        return _Beside(text, len(words(text)), likely, refs, cosines, held)

    def _cosine_of(self, task: int, ref: int) -> tuple[float, float]:
        """Return how near a message is to what was taken on, by itself and with the message before it."""
        meant = self._meant[task]
        own, both = self._directions(ref, task)
        if meant is None or own is None or both is None:
            return 0.0, 0.0
        return float(meant @ own), float(meant @ both)

    def _directions(self, ref: int, task: int) -> tuple[Floats | None, Floats | None]:
        own = self._unit(ref)
        return own, self._unit(ref, ref - 1) if ref - 1 in self._near and ref - 1 != task else own

    def _content_words(self, ref: int) -> frozenset[str]:
        return frozenset(content_terms(own_words(self._near[ref]).text, self._language))

    def _share_held(self, task: int, ref: int) -> float:
        """Return the share of the weight of what was taken on that a message's words have."""
        total = self._totals[task]
        if not total:
            return 0.0
        here = self._words_of(ref)
        return float(sum(self._weights[term] for term in self._terms[task] if term in here) / total)


class _Beside(NamedTuple):
    """A message beside what was taken on before it: `refs` rising, the nearest and the likest first."""

    text: str
    length: int
    takes_on: float
    refs: Sequence[int]
    cosines: Sequence[tuple[float, int]]
    held: Sequence[tuple[float, int]]


def _best_other(ranked: Sequence[tuple[float, int]], ref: int) -> float:
    """Return the first value of another reference, 0 where there is none."""
    return next((value for value, other in ranked if other != ref), 0.0)
