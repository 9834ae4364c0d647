"""Find what somebody took on to do, and what settled it since, for search and contexts alike."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import cache, partial
from itertools import groupby
from types import MappingProxyType
from typing import Final, NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from episodic_agent.core.echo import own_words
from episodic_agent.core.episodes.languages import content_terms
from episodic_agent.core.facts.stating import is_person
from episodic_agent.core.ingest.words import SUCCESS
from episodic_agent.core.language import fold, tokens, words
from episodic_agent.core.recall import kept_terms, term_weight
from episodic_agent.core.recall.alone import QUESTION_MARKS
from episodic_agent.core.recall.bm25 import K1, B
from episodic_agent.core.recall.commitments import (
    BY_NAME,
    LIST_ASKED,
    MAYBE,
    REQUESTS,
    SURE_TAKING,
    AskedPeople,
    Undertaking,
    answering,
    asking_sentence,
    asks_for_commitments,
    by_name_alone,
    may_be_listed,
    of_another,
    only_asks,
    parts_taken_on,
    people_asked,
    pieces_settled,
    reports,
    takes_on,
    towards_commitments,
    undertakings,
)
from episodic_agent.core.recall.due import due_by
from episodic_agent.core.recall.query import words_capitalised
from episodic_agent.core.threads.turns import is_reply
from episodic_agent.engine.recall.sessions import sessions_asked
from episodic_agent.engine.recall.settling import (
    CommitmentQuestion,
    EndedSession,
    TakenOn,
    end_of,
    ends_of,
    read_taken_on,
    sessions_of,
    settled_by,
    stored_before,
)
from episodic_agent.engine.results import Commitment, SessionEnd
from episodic_agent.engine.threads.resolving import given_name, name_of_somebody
from episodic_agent.engine.threads.session_records import SESSION, read_record
from episodic_agent.engine.visibility.hidden import Visibility
from episodic_agent.protocols import OBSERVATIONS, Refs, Scores, Transaction
from episodic_agent.schemas import Kind, Observation, Vector

PER_LEG: Final = 160  # messages each way of looking brings
LEAST: Final = 0.15  # nothing less likely is the best there is
NEAR_BEST: Final = 0.4  # share of the best from which a commitment is told beside it
NEAR: Final = 3  # messages on either side that tell what is spoken of
BARE: Final = 2  # words of content of a question that says no more than "what did he promise?"
FEW: Final = 8  # words of a message that says only with the one before it what is meant
TOGETHER: Final = timedelta(days=2)  # from then on nothing is an answer to what stands before it
_DAY: Final = 86_400.0
SURELY: Final = 0.3  # and from which a list says that it is settled: .82 of what it calls so is
_DONE: Final = 0.5  # from which a message that may take something on rather reports that it is done
_OVERDUE: Final = 7  # days after which what was due is rather over than to be done
_REPORTS: Final = 2  # messages that are told to settle one thing, the second where it surely does
MOST_LISTED: Final = 20  # commitments that are listed
_LESS: Final = 0.5  # of the share of what is surely settled is taken away
ANSWERING: Final = 0.38  # how likely one is asked for, from which a search does not say that it knows nothing
SURELY_ASKED: Final = 0.75  # how likely a question asks for commitments that asks for nothing else
_BEHIND: Final = 0.9  # of the share of a commitment what it answers to has
Floats = NDArray[np.float64]


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
        alone = self.alone and (bool(listed) or not self.listed)
        return self._replace(shares=shares, listed=listed, alone=alone)


NONE_ASKED: Final = Commitments()


def commitments_asked(
    tx: Transaction, asked: CommitmentQuestion, now: datetime, visibility: Visibility
) -> Commitments:
    """Return what tells of the commitments that a question asks for, nothing where it asks for none.

    Of "ok, will do" the request before it is told too, and of what is settled the message that settled it.
    Of the sessions that a question asks for all is told, how each begins and ends first.
    """
    if sessions := sessions_asked(tx, asked, now, visibility):
        return Commitments(_of_sessions(sessions), 1.0, alone=True)
    asked = replace(asked, text=asking_sentence(asked.text))
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
    rivals = [ref for ref, one in some.items() if ref not in chosen and _takes_on(one)]
    beside = read_taken_on(tx, rivals, [], visibility)
    settled = settled_by(tx, taken_on, asked, now, visibility, beside)
    _add_reports(shares, chosen, answers, settled)
    sure = max(by_name_alone(people, some.values()) if bare else 0.0, float(likely.max(initial=0.0)))
    if theirs is not None:
        taken_on = _listable(taken_on, some, theirs, people)
    # "what is Ben's phone number?": what he took on is no answer
    listable = asks_for_commitments(asked.text, asked.judged, LIST_ASKED) if bare else sure >= ANSWERING
    if theirs is None or not taken_on or not listable:
        return Commitments(dict(sorted(shares.items())), sure)
    surely = {
        task.ref: [report for report, sure_of in settled.get(task.ref, ()) if sure_of >= SURELY]
        for task in taken_on
    }
    ended = sessions_of(tx, taken_on, asked, now, visibility)
    listed = _listed(tx, asked, taken_on, surely, ended, visibility, today=now.date())
    alone = bare and asks_for_commitments(asked.text, asked.judged, SURELY_ASKED)
    if bare:
        shares |= _in_turn(listed, answers)
    return Commitments(dict(sorted(shares.items())), max(sure, ANSWERING), listed, alone)


def _of_sessions(sessions: Sequence[Refs]) -> dict[int, float]:
    """Return shares by which the messages of sessions stand, the newest session's first."""
    shares: dict[int, float] = {}
    for place, refs in enumerate(sessions):
        for ref in refs.tolist():
            ends = ref in (refs[0], refs[-1])
            shares[ref] = (1.0 if ends else 0.6) - 0.3 * place / len(sessions)
    return dict(sorted(shares.items()))


def _add_reports(
    shares: dict[int, float],
    chosen: Mapping[int, float],
    answers: Sequence[int],
    settled: Mapping[int, Sequence[tuple[int, float]]],
) -> None:
    """Add the messages that likeliest settle what is chosen to the shares; what is settled gives way."""
    for ref, reported in settled.items():
        likeliest, sure = reported[0]
        for report, sure_of in reported[:_REPORTS]:
            if sure_of >= SURELY or report == likeliest:
                shares[report] = max(shares.get(report, 0.0), chosen[ref])
        for part in (ref, ref - 1) if ref in answers else (ref,):
            shares[part] *= 1.0 - sure * _LESS


def _takes_on(undertaking: Undertaking) -> bool:
    return undertaking.likelihood >= SURE_TAKING and undertaking.asks < REQUESTS


def _theirs(people: AskedPeople, some: Iterable[Undertaking]) -> NDArray[np.bool_] | None:
    """Tell which messages are surely whose are asked for, None where that is not sure or they say nothing."""
    every = list(some)
    is_theirs = [people.keeps(one) for one in every]
    if not people.sure or not (any(is_theirs) or any(fold(one.actor) in people.whose for one in every)):
        return None
    return np.array(is_theirs)


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
        and people.lists(some[one.ref])
        and _may_be_listed(some[one.ref])
        and not one.is_nod
        and not (of_people and is_reply(one.item))
    ]


def _may_be_listed(undertaking: Undertaking) -> bool:
    """Tell whether a message likely takes something on, and neither asks nor reports that it is done."""
    text = undertaking.text.rstrip()
    asks = text.endswith(QUESTION_MARKS)
    return may_be_listed(text) and not asks and reports(text) < max(_DONE, undertaking.likelihood)


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
    names = names.union(*map(tokens, people.names))
    return [term for term in content_terms(asked.text, asked.language) if term not in names]


def read_undertakings(
    tx: Transaction, asked: CommitmentQuestion, now: datetime, visibility: Visibility
) -> tuple[AskedPeople, dict[int, Undertaking]]:
    """Return whose commitments a question asks for, and the messages that may tell of them, rising."""
    actors = tx.observations.actors()
    people = people_asked(asked.text, actors, tx.scope.user_id, asked.judged)
    terms = content_terms(asked.text, asked.language)
    legs = _CommitmentLegs(tx, asked, _terms_of_question(tx, asked, people))
    stored = stored_before(tx, visibility.shown(legs.candidates()), now)
    vectors = _vectors(tx, asked, [*stored])
    every = {
        ref: takes_on(own_words(item).text, vectors.get(ref))
        for ref, item in stored.items()
        if item.kind is Kind.MESSAGE  # "drive to the parcel" is a step that is done
    }
    likely = {ref: share for ref, share in every.items() if share >= MAYBE}
    around = np.unique([ref + n for ref in likely for n in range(-NEAR, NEAR + 1)]).astype(np.int64)
    seen = _TalkAround(
        tx, legs, people, stored_before(tx, visibility.shown(around), now), frozenset(terms), vectors
    )
    some = {ref: seen.undertaking(ref, share, now) for ref, share in likely.items()}
    return people.naming(words_capitalised(asked.text), some.values()), some


def _vectors(tx: Transaction, asked: CommitmentQuestion, refs: Sequence[int]) -> Mapping[int, Vector]:
    """Return the vectors of messages that the judges know, by reference."""
    if asked.judged is None or not refs:
        return {}
    return tx.index.vectors(OBSERVATIONS, asked.embedder, refs)


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


class _TalkAround:
    """What stands around messages that may take something on, and what of a question it holds."""

    def __init__(
        self,
        tx: Transaction,
        legs: _CommitmentLegs,
        people: AskedPeople,
        stored: Mapping[int, Observation],
        terms: frozenset[str],
        vectors: Mapping[int, Vector],
    ) -> None:
        self._tx = tx
        self._vectors = vectors
        refs = np.array([*stored], np.int64)
        self._stored = stored
        self._people = people
        self._cosines = dict(zip(stored, legs.cosines(refs).tolist(), strict=True))
        self._held = dict(zip(stored, legs.held(refs).tolist(), strict=True))
        asked_for = terms.union(*map(tokens, people.others))
        ids = sorted({item.thread_id for item in stored.values()})
        names = {one.id: given_name(one) for one in tx.threads.list(ids=ids)} if ids else {}
        self._names = names
        self._named = {one for one, name in names.items() if not asked_for.isdisjoint(tokens(name))}
        self._topics = cache(self._topics_of)

    def undertaking(self, ref: int, likelihood: float, now: datetime) -> Undertaking:
        """Return a message as the choice reads it."""
        item = self._stored[ref]
        text = own_words(item).text
        near = [
            other
            for other in range(ref - NEAR, ref + NEAR + 1)
            if other != ref and other in self._stored and self._stored[other].thread_id == item.thread_id
        ]
        speakers = sorted({fold(self._stored[one].actor) for one in near} - {fold(item.actor)})
        own = [ref, ref - 1] if ref - 1 in near and self._answers(ref) else [ref]
        return Undertaking(
            item.actor,
            text,
            len(own) > 1,
            likelihood,
            max(self._cosines[one] for one in own),
            max(self._held[one] for one in own),
            max((self._held[one] for one in near), default=0.0),
            item.thread_id in self._named,
            any(fold(self._stored[one].actor) in self._people.others for one in near),
            (now - item.at).total_seconds() / _DAY,
            only_asks(text, self._vectors.get(ref)) if any(map(is_person, speakers)) else 0.0,
            of_another(text, self._vectors.get(ref)),
            "\n".join([fold(self._names.get(item.thread_id, "")), *self._topics(item.thread_id), *speakers]),
        )

    def _topics_of(self, thread: UUID) -> list[str]:
        """Return what the sessions of a thread were started for, folded."""
        sessions = self._tx.knowledge.decisions(subject=thread, type=SESSION)
        return [fold(read_record(session).topic) for session in sessions]

    def _answers(self, ref: int) -> bool:
        item, before = self._stored[ref], self._stored[ref - 1]
        return item.at - before.at <= TOGETHER and before.actor != item.actor


def _listed(
    tx: Transaction,
    asked: CommitmentQuestion,
    taken_on: Sequence[TakenOn],
    settled: Mapping[int, Sequence[int]],
    ended: Mapping[int, Sequence[EndedSession]],
    visibility: Visibility,
    *,
    today: date,
) -> list[ListedCommitment]:
    """Return commitments as they are listed: open ones by the day they are due, then what is settled.

    What was due long ago and nobody spoke of again stands behind what is still to come, the latest first.
    `settled` are the messages that surely settle each, the likeliest first, by reference.
    """
    reported = tx.observations.get(sorted({report for some in settled.values() for report in some}))
    refs = np.unique([task.ref - n for task in taken_on for n in range(1, NEAR + 1)]).astype(np.int64)
    refs = refs if asked.among is None else np.intersect1d(refs, asked.among())
    before = stored_before(tx, visibility.shown(refs), max(task.item.at for task in taken_on))
    pieces = [piece for task in taken_on for piece in _pieces(task, before.get(task.ref - 1), asked.language)]
    evidence = _Settlements(tx, pieces, asked.language)
    for task in taken_on:
        evidence.report(
            task.ref, [(ref, reported[ref]) for ref in settled.get(task.ref, ()) if ref in reported]
        )
    evidence.end(ended)
    result = []
    for piece, report, refs_of in evidence.rows():
        to = _said_to(tx, piece.task, before)
        commitment = Commitment(piece.task.item, piece.text, to, piece.due, report)
        result.append(ListedCommitment(piece.task.ref, frozenset({piece.task.ref, *refs_of}), commitment))
    return sorted(result, key=lambda row: _as_due(row.commitment, today))[:MOST_LISTED]


class _TakenOnPart(NamedTuple):
    """Part of a message that takes something on: a sentence, or what "and" joins in one, which is due `due`.

    `sentence` is what is listed where none of it is settled alone. `terms` are its words, of a first one
    those of the message before it, too: it may answer a request.
    """

    task: TakenOn
    sentence: str
    text: str
    terms: frozenset[str]
    due: date | None


def _pieces(task: TakenOn, before: Observation | None, language: str | None) -> Iterator[_TakenOnPart]:
    """Yield the parts of a message of which one may be settled and another not."""
    request = None if task.asked is None else before
    for place, sentence in enumerate(undertakings(own_words(task.item).text, language)):
        for n, text in enumerate(parts_taken_on(sentence, language)):
            first = not place and not n
            behind = "" if not first or before is None else own_words(before).text
            due = _due(text, task.item) or _due(sentence, task.item)
            if due is None and first and request is not None:
                due = _due(own_words(request).text, request)
            yield _TakenOnPart(
                task, sentence, text, frozenset(content_terms(f"{behind}\n{text}", language)), due
            )


class _Settlements:
    """Which part of what was taken on is settled, and by what: the first that tells of it."""

    def __init__(self, tx: Transaction, pieces: Sequence[_TakenOnPart], language: str | None) -> None:
        self._tx = tx
        self._pieces = pieces
        self._language = language
        self._by: dict[int, Observation | SessionEnd] = {}
        self._refs: dict[int, int] = {}

    def report(self, task: int, reported: Iterable[tuple[int, Observation]]) -> None:
        """Have messages settle the parts of one message: those they share words with, all if with none."""
        own = [n for n, piece in enumerate(self._pieces) if piece.task.ref == task]
        for ref, item in reported:
            reported_terms = frozenset(content_terms(own_words(item).text, self._language))
            shares = [len(reported_terms & self._pieces[n].terms) for n in own]
            for n, share in zip(own, shares, strict=True):
                if share == max(shares) and n not in self._by:
                    self._by[n], self._refs[n] = item, ref

    def end(self, ended: Mapping[int, Sequence[EndedSession]]) -> None:
        """Have sessions settle what was taken on in them, or in what they go on from.

        Their decisions tell of parts of it; success does of what was due by then, where none of them does.
        """
        of_session: dict[UUID, tuple[EndedSession, list[int]]] = {}
        for n, piece in enumerate(self._pieces):
            for session in ended.get(piece.task.ref, ()):
                of_session.setdefault(session.facts.episode_id, (session, []))[1].append(n)
        ends = {identity: ends_of(session) for identity, (session, _) in of_session.items()}
        weights = self._weights(end.text for some in ends.values() for end in some)
        for identity, (_, places) in of_session.items():
            for end in ends[identity]:
                words_of = content_terms(end.text, self._language)
                for n in pieces_settled(words_of, [self._pieces[place].terms for place in places], weights):
                    self._by.setdefault(places[n], end)
        settled = {self._pieces[n].task.ref for n in self._by}
        for session, places in of_session.values():
            for n in places if session.facts.outcome == SUCCESS else ():
                ref, due = self._pieces[n].task.ref, self._pieces[n].due
                if session.first <= ref <= session.last and ref not in settled and _is_over(due, session):
                    self._by.setdefault(n, end_of(session))

    def _weights(self, texts: Iterable[str]) -> dict[str, float]:
        """Return the words of texts that messages know, weighed by rarity."""
        terms = sorted({term for text in texts for term in content_terms(text, self._language)})
        if not terms:
            return {}
        statistics = self._tx.index.statistics(OBSERVATIONS, terms)
        counts = statistics.frequencies
        return {t: term_weight(t, counts[t], statistics.documents) for t in terms if counts.get(t)}

    def rows(self) -> Iterator[tuple[_TakenOnPart, Observation | SessionEnd | None, frozenset[int]]]:
        """Yield what is listed, with what settled it: in parts only where a part is settled alone."""
        order = groupby(enumerate(self._pieces), key=lambda one: (one[1].task.ref, one[1].sentence))
        for some in (dict(pairs) for _, pairs in order):
            settled = {n: self._by.get(n) for n in some}
            if len({report is None for report in settled.values()}) > 1:
                for n, piece in some.items():
                    yield piece, settled[n], self._refs_of([n])
                continue
            first = min(some)
            yield some[first]._replace(text=some[first].sentence), settled[first], self._refs_of(some)

    def _refs_of(self, places: Iterable[int]) -> frozenset[int]:
        return frozenset(self._refs[n] for n in places if n in self._refs)


def _is_over(due: date | None, session: EndedSession) -> bool:
    return due is not None and due <= session.ended_at.date()


def _as_due(commitment: Commitment, today: date) -> tuple[bool, bool, int, datetime]:
    due = (commitment.due or date.max).toordinal()
    is_over = due < today.toordinal() - _OVERDUE
    return commitment.settled_by is not None, is_over, -due if is_over else due, commitment.observation.at


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
