"""Read what was said earlier and may be needed now, by meaning, words, links and nearness in time."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from functools import partial
from itertools import pairwise
from math import log
from typing import Any, Final
from uuid import UUID

import numpy as np
import numpy.typing as npt

from episodic_agent.core import recall as ranking
from episodic_agent.core.context.relevance import (
    LAST,
    READ_AGAIN,
    RIVALS,
    SITTING,
    EarlierWords,
    bearing,
    fading,
    relevances,
    statement_worth,
)
from episodic_agent.core.context.telling import BAR, Block, QuotedText
from episodic_agent.core.context.tokens import estimate
from episodic_agent.core.echo import is_echo, own_words
from episodic_agent.core.episodes.languages import content_terms
from episodic_agent.core.facts.stating import STATEMENTS, lasting
from episodic_agent.core.language import tokens
from episodic_agent.core.language.pastdays import asked_time, sums_up
from episodic_agent.core.recall.alone import QUESTION_MARKS, asks, asks_what_is_new, looks_back
from episodic_agent.core.recall.bm25 import K1, B, kept_terms, term_weight
from episodic_agent.core.recall.due import days_asked
from episodic_agent.core.recall.order import order_of, without_order
from episodic_agent.core.recall.places import thing_asked
from episodic_agent.core.recall.query import Query
from episodic_agent.core.threads.turns import is_reply
from episodic_agent.engine.context.lines import (
    are_named,
    in_order,
    is_named_agent,
    is_unanswered,
    newest_outputs,
    newest_rounds,
    replier,
    told_by,
    without_unsure,
)
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.recall import commitments, settling
from episodic_agent.engine.recall.concluding import conclusions
from episodic_agent.engine.recall.due import due_shares
from episodic_agent.engine.recall.elsewhere import NO_OTHERS, Elsewhere
from episodic_agent.engine.recall.facts import as_shown
from episodic_agent.engine.recall.filtering import SearchBounds, refs_of_threads
from episodic_agent.engine.recall.gathering import REACH, outermost, within
from episodic_agent.engine.recall.happening import (
    asked_alone,
    happened_refs,
    in_its_time,
    named_talk,
    nothing_due,
    refs_of_people,
    silence,
    span,
    zone_of_writer,
    zone_then,
)
from episodic_agent.engine.visibility.hidden import Visibility
from episodic_agent.protocols import OBSERVATIONS, Refs, Transaction, ref_of, split_ref
from episodic_agent.schemas import Kind, Observation, Thread, Vector
from episodic_agent.schemas.contexts import LineKind
from episodic_agent.schemas.observations import by_clock

PER_LEG: Final = 120  # candidates each way of looking brings
OWN: Final = 40  # messages of the thread that are looked at as what goes before
MOST_TIMED: Final = 400  # messages of a time that is asked about
NEWEST: Final = 4  # threads that were active last, and
OF_EACH: Final = 24  # so many of their last messages: what is not said again is often just there
PAUSE: Final = timedelta(minutes=30)  # begins a new sitting inside one thread
AMONG_OTHERS: Final = 10  # times as many candidates are read where other projects have some of them
_SKIPS: Final = 24  # messages between two candidates of one sitting
_ANSWERED: Final = 16  # requests, the likeliest to be told, whose answers are looked for behind tools
_FIGURE: Final = re.compile(r"\d")
_LONGEST_QUESTION: Final = 400  # characters: what is longer asks for no time alone, and would cost more
_AT_TIME: Final = 1.5  # log-odds that having been said at the time a question names adds
_NEVER: Final = 100.0  # log-odds that what was said at another time loses, where the time alone is asked for
_DUE: Final = 1.5  # log-odds that being said of the days to come that it asks about adds
_TAKEN_ON: Final = 2.5  # log-odds that surely being a commitment it asks for adds,
_OTHER: Final = 4.0  # and that being none loses where nothing else is asked for
_TALK: Final = 1.0  # log-odds that having been said in the thread or channel it names adds
_FIRST_BY: Final = 1e-3  # log-odds: what stands first, and no further above the rest
_LINKED, _MAYBE, _CHOSEN = 0.7, 0.3, 1.0  # log-odds that a link adds
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Situation:
    """What a message is said into: its thread with what went before it there, oldest first.

    `sitting` is the part of `before` that is one stretch of talk with the message. `place` is the seq
    its part of the thread is found by: its own, or of what stands before it, -1 where nothing does; None
    where it would stand behind the thread's last. Of `others` nothing is told. `talk` is what was said in the
    thread or channel that the message names, `taken_on` what tells of the commitments it asks for.
    """

    text: str
    vector: Vector | None
    at: datetime
    thread: Thread | None
    number: int | None
    end: int  # the seq from which on nothing counts
    before: Sequence[Observation]
    sitting: Sequence[Observation]
    place: int | None = None
    when: "AskedTime | None" = None
    others: Elsewhere = NO_OTHERS
    talk: Refs | None = None
    taken_on: commitments.Commitments = commitments.NONE_ASKED

    @property
    def stands_alone(self) -> bool:
        """Tell whether a message neither goes on with a talk nor names one, a time or commitments."""
        timed = self.when is not None and bool(len(self.when.refs))
        return not (timed or self.sitting or self.taken_on.shares) and self.talk is None


@dataclass(frozen=True, slots=True)
class AskedTime:
    """A time that a message asks about, and what is shown of it; `alone`: nothing else is asked for.

    `due` tells that the time is to come: shown is what was said of it, whenever that was, the first what is
    `close` to it, in [0, 1] by reference. `bounds` tells that of a matter nothing counts but what was said
    then, where that bears on it.
    """

    query: Query
    refs: Refs
    alone: bool
    silence: str = ""
    due: bool = False
    close: Mapping[int, float] = field(default_factory=dict)
    bounds: bool = False

    def holds(self, at: datetime) -> bool:
        """Tell whether a moment lies between the ends of that time."""
        if self.due:
            return False
        since, until = span(self.query)
        return since <= at < until


def with_time(tx: Transaction, deps: Deps, now: Situation, visibility: Visibility) -> Situation:
    """Return what a message is said into with the time it asks about, and the thread or channel it names.

    It asks what was said then, or about what is over, or what is due on days to come: when an appointment is
    to be, its day tells little of when it was spoken of.
    """
    if len(text := now.text) > _LONGEST_QUESTION:
        return now
    talk = named_talk(tx, text, now.at) if asks(text) else None
    now = now if talk is None else replace(now, talk=talk.refs)
    now = _with_commitments(tx, deps, now, visibility)
    over = (asks(text) or sums_up(text)) and bool(asked_time(text, now.at).ranges)
    if not over and days_asked(text, now.at) is None:
        return now
    actors = tuple(tx.observations.actors())
    analyse = partial(ranking.analyse, text, actors, language=deps.language)
    last = tx.observations.last_at()
    writer = None if last is None else zone_of_writer(tx, last)

    def read(at: datetime, zone: timedelta | None) -> Query:
        return ranking.looking_ahead(analyse(at, utc_offset=zone), at, zone)

    query = in_its_time(read, now.at, last, writer)
    if last is not None and (then := zone_then(tx, query, now.at, last)) is not None:
        query = in_its_time(read, now.at.astimezone(timezone(then)), last, then)
    query = (None if talk is None else asked_alone(query, talk, now.at)) or query
    if query.ahead is not None:
        close = due_shares(tx, query.ahead, now.at, visibility)
        refs = _of_before(tx, np.array([*close], np.int64), now)
        quiet = query.ahead.alone and not len(refs)
        note = nothing_due(query.ahead.days, drawn=visibility.drawn) if quiet else ""
        return replace(now, when=AskedTime(query, refs, query.ahead.alone, note, due=True, close=close))
    is_new = query.happened_alone and asks_what_is_new(text)
    is_back = query.said_alone or query.reviews or is_new or looks_back(text)
    if not over or not query.time.ranges or not is_back:
        return now
    since, until = span(query)
    if since > now.at:
        return now
    refs = visibility.shown(within(tx, SearchBounds(since, min(until, now.at + timedelta.resolution))))
    alone = query.said_alone
    if query.happened_alone or (talk is not None and talk.alone):
        bounds = SearchBounds(about=talk.refs if talk is not None and talk.alone else None)
        happened = happened_refs(tx, query, bounds, now.at, visibility)
        refs = happened if (some := len(_of_before(tx, happened, now)) > 0) else refs
        alone = some or not (len(refs) or until <= now.at)  # of what is over others tell later
    people = refs_of_people(tx, query, SearchBounds(about=refs)) if query.said_alone else None
    refs = _of_before(tx, refs if people is None or not len(people) else people, now)
    note = silence(since, until, drawn=visibility.drawn) if alone and not len(refs) else ""
    if len(refs) > MOST_TIMED:  # of a long time something of every part of it
        refs = refs[np.linspace(0, len(refs) - 1, MOST_TIMED).astype(np.int64)]
    return replace(now, when=AskedTime(query, refs, alone, note, bounds=query.reviews and not alone))


def _with_commitments(tx: Transaction, deps: Deps, now: Situation, visibility: Visibility) -> Situation:
    only = now.others.only
    among = None if only is None else partial(refs_of_threads, tx, only)
    asked = settling.CommitmentQuestion(now.text, now.vector, deps.embedder_name, deps.language, among)
    every = commitments.commitments_asked(tx, asked, now.at, visibility)
    return replace(now, taken_on=every.within(partial(_of_before, tx, now=now)))


def _of_before(tx: Transaction, refs: Refs, now: Situation) -> Refs:
    """Return references without what stands behind the message in its thread or is of other projects."""
    keep = [split_ref(ref)[0] != now.number or split_ref(ref)[1] < now.end for ref in refs.tolist()]
    return now.others.without(tx, refs[np.array(keep, np.bool_)])


def situation(
    tx: Transaction,
    text: str,
    vector: Vector | None,
    at: datetime,
    thread: Thread | None,
    *,
    end: int | None,
    visibility: Visibility,
    until: datetime | None = None,
    past: bool = False,
    others: Elsewhere = NO_OTHERS,
) -> Situation:
    """Read what goes before a message in its thread: nothing that was said after `until`.

    `past` tells that the thread has gone on since.
    """
    if thread is None:
        return Situation(text, vector, at, None, None, 0, (), (), others=others)
    number = tx.threads.number(thread.id)
    last = tx.threads.frame(thread.id).next_seq
    last = last if end is None else min(end, last)
    read = tx.observations.read(thread.id, max(0, last - OWN), last - 1) if last else ()
    before = [item for item in visibility.visible(number, read) if not is_echo(item)]
    before = [item for item in before if until is None or item.at <= until]
    first = len(before)
    following = at
    while first and following - before[first - 1].at <= PAUSE:
        first -= 1
        following = before[first].at
    place = last - 1 if past else end
    return Situation(text, vector, at, thread, number, last, before, before[first:], place, others=others)


def gathered(
    tx: Transaction,
    deps: Deps,
    now: Situation,
    *,
    linked: Mapping[UUID, float],
    apart: Iterable[UUID],
    visibility: Visibility,
    shown: frozenset[int],
    policy: str = RIVALS,
) -> tuple[list[QuotedText], dict[int, Observation]]:
    """Return what was said earlier with what it is worth, and the observations by reference.

    `linked` says what a link to a thread adds; `apart` are threads nothing is told of; `shown` are references
    that stand elsewhere in the text.
    """
    legs = _Legs(tx, deps, now, ordered=policy == RIVALS)
    refs = visibility.shown(_candidates(tx, legs, now, linked, apart, shown))
    stored = {
        ref: item
        for ref, item in tx.observations.get(refs.tolist()).items()
        if item.at <= now.at and not is_echo(item) and item.text.strip()
    }
    if not stored:
        return [], {}
    order = sorted(stored)
    sitting = _sittings(order, stored)
    texts = [own_words(stored[ref]) for ref in order]
    links = np.array([linked.get(item.thread_id, 0.0) for item in texts])
    seen = _seen(legs, now, np.array(order, np.int64), texts, sitting, links)
    worths = relevances(seen, vectors=legs.vectors, policy=policy)
    if policy == RIVALS:
        first = np.argsort(-worths, kind="stable")[:READ_AGAIN]
        stating = bearing(seen, vectors=legs.vectors)[first] * states([texts[row] for row in first])
        worths[first] += statement_worth(vectors=legs.vectors) * stating
    worths = in_order(_timed(worths, now, texts, order), legs.order, texts, seen, legs.thing, now.text)
    if policy == RIVALS and now.stands_alone and is_unanswered(deps, now.text, now.at, seen, legs.documents):
        worths = without_unsure(worths, order)
    added = dict(linked) if policy != RIVALS else {}  # there a link is one of the features
    called = partial(told_by, whose=tx.scope, here=now.before, named=are_named((*now.before, *texts)))
    quotes = [
        replace(quoted(item, float(worth) + added.get(item.thread_id, 0.0), called(item)), sitting=int(part))
        for item, worth, part in zip(texts, worths.round(6), sitting, strict=True)
    ]
    quotes = newest_rounds(quotes, texts, talk=legs.order is not None and legs.order.latest)
    if policy != RIVALS or all(item.kind is not Kind.TOOL for item in texts):
        return quotes, stored
    quotes = newest_outputs(quotes, texts)
    ends = _conclusions(tx, now, quotes, texts, apart, (shown, visibility))
    return _answered(quotes, ends), stored | {ref: item for ref, _, item in ends}


def quoted(observation: Observation, worth: float, speaker: str) -> QuotedText:
    """Return what was said earlier as a text that may be told."""
    return QuotedText(
        Block.BEFORE,
        LineKind.RECALLED,
        observation.text,
        observation.thread_id,
        None,
        observation.seq,
        observation.seq,
        by_clock(observation.at, observation.utc_offset),
        worth,
        speaker=speaker,
        reply=is_reply(observation),
    )


def _timed(worths: Floats, now: Situation, texts: Sequence[Observation], refs: Sequence[int]) -> Floats:
    """Let what was said at the time, or in the talk, asked for stand first; alone where nothing else is.

    Then its worth is its place alone, above every bar: how well it answers to "what did we talk about" tells
    in which order the lines of a day are taken, and nothing of whether they are meant.
    """
    when = now.when
    if now.talk is not None:
        worths = worths + _TALK * np.isin(refs, now.talk)
    if now.taken_on.shares:
        shares = np.array([now.taken_on.shares.get(ref, 0.0) for ref in refs])
        worths = worths + _TAKEN_ON * shares - _OTHER * (now.taken_on.alone & (shares == 0.0))
    if when is None:
        return worths
    close = np.array([when.close.get(ref, 0.0) for ref in refs])
    if when.alone:
        shares = -close if when.due else _shares_of_days(worths, texts)
        places = np.empty(len(worths))
        places[np.lexsort((-worths.round(6), shares))] = np.arange(len(worths))
        return 1.0 - places / len(worths)
    if when.due:
        # no further than first: far above all else it would leave them below the floor of a young memory
        lifted = np.minimum(worths + _DUE * close, worths.max() + _FIRST_BY)
        return np.where(np.isin(refs, when.refs), lifted, worths)
    then = np.array([when.holds(item.at) for item in texts])
    first = worths[then].max(initial=-np.inf)
    if when.bounds and first >= max(BAR, worths[~then].max(initial=BAR) - 1.5 * _AT_TIME):
        return np.where(then, worths, worths - _NEVER)
    at = np.array([item.at.timestamp() for item in texts])
    return worths + _AT_TIME * ranking.time_match(when.query.time, at)


def _shares_of_days(worths: Floats, texts: Sequence[Observation]) -> Floats:
    """Return what share of its day goes before each text, by worth: a budget is spread over all the days."""
    days = np.array([by_clock(item.at, item.utc_offset).date().toordinal() for item in texts])
    shares = np.zeros(len(worths))
    for day in np.unique(days):
        rows = np.flatnonzero(days == day)
        best = rows[np.argsort(-worths[rows].round(6), kind="stable")]
        shares[best] = np.arange(len(best)) / len(best)
    return shares


def _conclusions(
    tx: Transaction,
    now: Situation,
    quotes: Sequence[QuotedText],
    texts: Sequence[Observation],
    apart: Iterable[UUID],
    bounds: tuple[frozenset[int], Visibility],
) -> list[tuple[int, QuotedText, Observation]]:
    """Return what was concluded where tools ran: its reference, the request it answers, and the message."""
    tooled = {item.thread_id for item in texts if item.kind is Kind.TOOL}
    likely = [one for one in quotes if not one.reply and one.thread_id in tooled]
    likely = sorted(likely, key=lambda one: (-one.worth, one.at))[:_ANSWERED]
    asked = {one.spot: one for one in likely}
    requests = {item.id: item for item in texts if (item.thread_id, item.seq) in asked}
    shown, visibility = bounds

    def shown_refs(refs: Refs) -> Refs:
        return free(tx, visibility.shown(refs), now, apart, shown)

    return [
        (
            ref_of(tx.threads.number(item.thread_id), item.seq),
            asked[requests[name].thread_id, requests[name].seq],
            item,
        )
        for name, item in conclusions(tx, list(requests.values()), shown_refs).items()
        if item.at <= now.at
    ]


def _answered(
    quotes: Sequence[QuotedText], ends: Iterable[tuple[int, QuotedText, Observation]]
) -> list[QuotedText]:
    """Return texts with what was concluded, each as much worth as the request it answers, or more."""
    result = {one.spot: one for one in quotes}
    for _, request, item in ends:
        text = own_words(item)
        made = replace(
            request,
            text=text.text,
            first_seq=item.seq,
            last_seq=item.seq,
            at=by_clock(item.at, item.utc_offset),
            speaker=replier(item),
            reply=True,
        )
        there = result.get(made.spot, made)
        result[made.spot] = replace(there, worth=max(there.worth, request.worth), answers=request.spot)
    return list(result.values())


def link_worth(*, chosen: bool, uncertain: bool) -> float:
    """Return what a link adds to the worth of what its thread says."""
    return _CHOSEN if chosen else _MAYBE if uncertain else _LINKED


def states(observations: Sequence[Observation]) -> Floats:
    """Return how likely each of some messages states what lasts, in [0, 1], by words alone."""
    return np.array([lasting(item.actor, item.text, most=STATEMENTS) for item in observations])


class _Legs:
    """The ways of looking: likeness and words, of the message and of what went before it."""

    def __init__(self, tx: Transaction, deps: Deps, now: Situation, *, ordered: bool) -> None:
        self._tx = tx
        self._deps = deps
        self._others = now.others
        last = now.sitting[-LAST:]
        self.language = deps.language
        terms = content_terms(now.text, self.language)
        names = {term for name in now.others.project_names for term in content_terms(name, self.language)}
        self.terms = [term for term in terms if term not in names] or terms  # a project's name tells nothing
        self.order = order_of(now.text) if ordered and len(now.text) <= _LONGEST_QUESTION else None
        if ordered and len(now.text) <= _LONGEST_QUESTION:
            self.terms = list(without_order(self.terms, now.text, self.language))
        self.thing = thing_asked(now.text, tuple(self.terms), self.language)
        weights: dict[str, float] = dict.fromkeys(self.terms, 1.0)
        before: dict[str, float] = {}
        for weight, item in zip(fading(len(last)), last, strict=True):
            share = float(weight / fading(1)[0])
            for term in content_terms(item.text, self.language):
                before[term] = max(before.get(term, 0.0), share)
        statistics = tx.index.statistics(OBSERVATIONS, list({**weights, **before}))
        frequent = kept_terms(dict(statistics.frequencies), statistics.documents)
        self._length = statistics.average_length
        self.documents = statistics.documents
        self.asking, self.before = (
            {
                t: w * term_weight(t, frequent[t], statistics.documents)
                for t, w in some.items()
                if t in frequent
            }
            for some in (weights, before)
        )
        self.message: Floats | None = None
        self.around: Floats | None = None
        self.matter: Floats | None = None
        if now.vector is not None:
            self._combine(now, np.asarray(now.vector, np.float64))

    @property
    def vectors(self) -> bool:
        return self.message is not None

    def _combine(self, now: Situation, vector: Floats) -> None:
        number = now.number or 0
        refs = [ref_of(number, item.seq) for item in now.sitting[-SITTING:]]
        stored = self._tx.index.vectors(OBSERVATIONS, self._deps.embedder_name, refs) if refs else {}
        rows = [np.asarray(stored[ref], np.float64) for ref in refs if ref in stored]
        around = vector.copy()
        for weight, row in zip(fading(len(rows[-LAST:])), rows[-LAST:], strict=True):
            around += weight * row
        self.message = vector
        self.around = around / (np.linalg.norm(around) or 1.0)
        if rows:
            total: Floats = np.sum(rows, axis=0)
            self.matter = total / (np.linalg.norm(total) or 1.0)

    def nearest(self, vector: Floats | None) -> Refs:
        if vector is None:
            return np.zeros(0, np.int64)
        query, name = vector.astype(np.float32), self._deps.embedder_name
        return self._of_here(
            lambda most: self._tx.index.vector_scores(OBSERVATIONS, name, query, limit=most)[0],
            lambda refs: self._tx.index.vector_scores(OBSERVATIONS, name, query, refs)[1],
        )

    def worded(self, weights: Mapping[str, float]) -> Refs:
        if not weights:
            return np.zeros(0, np.int64)

        return self._of_here(
            lambda most: self._worded(weights, limit=most)[0], lambda refs: self.words(weights, refs)
        )

    def _worded(
        self, weights: Mapping[str, float], refs: Refs | None = None, *, limit: int = 0
    ) -> tuple[Refs, npt.NDArray[Any]]:
        index, length = self._tx.index, self._length
        return index.text_scores(OBSERVATIONS, weights, refs, k1=K1, b=B, average_length=length, limit=limit)

    def _of_here(self, read: Callable[[int], Refs], scores: Callable[[Refs], npt.NDArray[Any]]) -> Refs:
        """Return the best of what lies nowhere else: more are read where some of them do.

        Where these are too few, the threads that may be told are looked through.
        """
        refs = read(PER_LEG)
        left = self._others.without(self._tx, refs)
        if len(left) == len(refs):
            return refs
        left = self._others.without(self._tx, read(PER_LEG * AMONG_OTHERS))[:PER_LEG]
        if len(left) == PER_LEG or self._others.only is None:
            return left
        every = self._others.without(self._tx, refs_of_threads(self._tx, self._others.only))
        worths = np.nan_to_num(scores(every))
        best = np.lexsort((every, -worths))[:PER_LEG]
        exact: Refs = every[best[worths[best] > 0]].astype(np.int64)
        return exact

    def outermost(self) -> Refs:
        """Return the newest (oldest) of what answers well, where a message asks for that."""
        if self.order is None:
            return np.zeros(0, np.int64)
        index, legs = self._tx.index, []
        if self.asking:
            legs.append(self._worded(self.asking, limit=REACH))
        if self.message is not None:
            query = self.message.astype(np.float32)
            legs.append(index.vector_scores(OBSERVATIONS, self._deps.embedder_name, query, limit=REACH))
        ends = [outermost(self._tx, refs, scores.astype(np.float64), self.order) for refs, scores in legs]
        return np.concatenate([np.zeros(0, np.int64), *ends])

    def cosines(self, vector: Floats | None, refs: Refs) -> Floats:
        if vector is None:
            return np.zeros(len(refs))
        query = vector.astype(np.float32)
        scores = self._tx.index.vector_scores(OBSERVATIONS, self._deps.embedder_name, query, refs)[1]
        return as_shown(self._deps, scores)

    def words(self, weights: Mapping[str, float], refs: Refs) -> Floats:
        if not weights:
            return np.zeros(len(refs))
        return self._worded(weights, refs)[1].astype(np.float64)


def _candidates(
    tx: Transaction,
    legs: _Legs,
    now: Situation,
    linked: Mapping[UUID, float],
    apart: Iterable[UUID],
    shown: frozenset[int],
) -> Refs:
    """Return the references of what may be told, rising."""
    if now.when is not None and now.when.alone:
        return free(tx, now.when.refs, now, apart, shown)
    legs_refs = [legs.nearest(legs.message), legs.nearest(legs.around), legs.worded(legs.asking)]
    legs_refs += [legs.worded(legs.before), legs.outermost()]
    hits = np.unique(np.concatenate(legs_refs).astype(np.int64))
    ends = dict.fromkeys(linked)
    newest = tx.threads.list(limit=(NEWEST + 1) * (AMONG_OTHERS if now.others.only is not None else 1))
    outside = now.others.outside(thread.id for thread in newest)
    ends |= {thread.id: None for thread in [one for one in newest if one.id not in outside][: NEWEST + 1]}
    frames = tx.threads.frame(list(ends))
    reach = []
    for item, frame in frames.items():
        end = ref_of(tx.threads.number(item), frame.next_seq)
        reach.append(np.arange(end - min(OF_EACH, frame.next_seq), end))
    timed = [] if now.when is None else [now.when.refs]
    timed += [] if now.talk is None else [now.talk[-PER_LEG:]]
    timed += [np.array([*now.taken_on.shares], np.int64)]
    refs = np.unique(np.concatenate([hits - 1, hits, hits + 1, *reach, *timed]).astype(np.int64))
    return free(tx, refs, now, apart, shown)


def free(tx: Transaction, refs: Refs, now: Situation, apart: Iterable[UUID], shown: frozenset[int]) -> Refs:
    """Return references without what nothing is told of, what stands elsewhere, and the message itself."""
    numbers = {tx.threads.number(item) for item in apart}
    refs = now.others.without(tx, refs)
    keep = [
        ref
        for ref in refs.tolist()
        if ref >= 0
        and ref not in shown
        and split_ref(ref)[0] not in numbers
        and not (split_ref(ref)[0] == now.number and split_ref(ref)[1] >= now.end)
    ]
    return np.array(keep, np.int64)


def _sittings(order: Sequence[int], stored: Mapping[int, Observation]) -> npt.NDArray[np.int64]:
    """Number the stretches of talk: another thread, a long pause or many messages between begin one."""
    numbers = [0]
    for item, other in pairwise(order):
        earlier, later = stored[item], stored[other]
        apart = (
            earlier.thread_id != later.thread_id
            or other - item > _SKIPS
            or later.at - earlier.at > PAUSE * max(1, min(other - item, 4))
        )
        numbers.append(numbers[-1] + apart)
    return np.array(numbers, np.int64)


def _seen(
    legs: _Legs,
    now: Situation,
    refs: Refs,
    texts: Sequence[Observation],
    sitting: npt.NDArray[np.int64],
    links: Floats,
) -> EarlierWords:
    moments = np.array([item.at.timestamp() for item in texts])
    ends = np.full(int(sitting[-1]) + 1, -np.inf)
    np.maximum.at(ends, sitting, moments)
    # what somebody at a desk says binds as what people say does: the judges know nameless assistants alone
    replies = [is_reply(item) and not is_named_agent(item) for item in texts]
    speaker = _speaker(now, texts)
    words = [set(tokens(item.text, legs.language)) for item in texts]
    held, together = _held(set(legs.terms), words, sitting)
    return EarlierWords(
        sitting=sitting,
        cosine=legs.cosines(legs.message, refs),
        around=legs.cosines(legs.around, refs),
        matter=legs.cosines(legs.matter, refs),
        words=legs.words(legs.asking, refs),
        words_around=legs.words(legs.before, refs),
        days=(now.at.timestamp() - ends[sitting]) / 86_400,
        tokens=np.array([estimate(item.text) for item in texts], np.float64),
        replies=np.array(replies, np.float64),
        tools=np.array([item.kind is Kind.TOOL for item in texts], np.float64),
        asks=np.array([any(mark in item.text for mark in QUESTION_MARKS) for item in texts], np.float64),
        figures=np.array([_FIGURE.search(item.text) is not None for item in texts], np.float64),
        same_speaker=np.array([item.actor == speaker for item in texts], np.float64),
        links=links,
        held=held,
        held_together=together,
        terms=len(legs.terms),
        begins=not now.sitting,
    )


def _held(asked: set[str], held: Sequence[set[str]], sitting: npt.NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return what share of the message's terms, by rarity, each text and each text's sitting holds."""
    shared = [terms & asked for terms in held]
    count = Counter(term for terms in shared for term in terms)
    weights = {term: log(1 + len(held) / (1 + count[term])) for term in asked}
    total = sum(weights[term] for term in sorted(asked)) or 1.0
    together: dict[int, set[str]] = {}
    for part, terms in zip(sitting.tolist(), shared, strict=True):
        together.setdefault(part, set()).update(terms)
    shares = {part: sum(weights[t] for t in sorted(terms)) / total for part, terms in together.items()}
    alone = np.array([sum(weights[t] for t in sorted(terms)) / total for terms in shared])
    return alone, np.array([shares[part] for part in sitting.tolist()])


def _speaker(now: Situation, texts: Sequence[Observation]) -> str:
    """Return who speaks now, as far as one can tell: who spoke last here, or speaks most."""
    here = [item.actor for item in now.sitting if not is_reply(item)]
    counts = Counter(item.actor for item in texts if not is_reply(item))
    return here[-1] if here else max(counts, key=lambda name: (counts[name], name), default="")
