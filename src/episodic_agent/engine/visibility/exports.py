"""Pins, suppressions, retention, refused chains in exports: written last, put back where nothing stands."""

from collections.abc import Collection, Iterator, Sequence
from typing import Final
from uuid import UUID

from episodic_agent.core.strength import read_retention
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.files.own import MarkLine, Noun, RetentionLine
from episodic_agent.engine.visibility.hidden import span_of
from episodic_agent.errors import InvalidInput
from episodic_agent.protocols import (
    Mark,
    MarkKind,
    OwnRetention,
    SuppressedWords,
    Transaction,
    ref_of,
    split_ref,
)
from episodic_agent.schemas import Scope
from episodic_agent.schemas.chains import Refusal

PAIR: Final = 2  # a link has two ends: both must be there to be kept apart


def visibility_nouns(tx: Transaction, among: Collection[UUID] | None = None) -> Iterator[Noun]:
    """Yield the marks of a scope (of some threads), its suppressed words and its own policy."""
    for mark in sorted(tx.upkeep.marks()):
        lines = list(_line(tx, mark))
        yield from (one for one in lines if among is None or one.thread_id in among)
    yield from tx.upkeep.settings().words
    if (policy := tx.upkeep.settings().retention) is not None:
        yield RetentionLine(policy)
    refusals = tx.episodes.refusals()
    ends = tx.episodes.get([end for one in refusals for end in (one.child, one.parent)]) if among else {}
    inside = {one.id for one in ends.values() if one.thread_id in (among or ())}
    yield from (one for one in refusals if among is None or {one.child, one.parent} <= inside)


def without_visibility(nouns: Iterator[Noun], visibility: list[Noun]) -> Iterator[Noun]:
    """Yield the nouns of threads and what belongs to them; those of care are put into `visibility`."""
    for noun in nouns:
        if isinstance(noun, MarkLine | SuppressedWords | RetentionLine | Refusal):
            visibility.append(noun)
        else:
            yield noun


def restore_visibility(deps: Deps, scope: Scope, nouns: Sequence[Noun]) -> None:
    """Put back what an export says where this memory says nothing: its own marks and policy stay."""
    if not nouns:
        return
    with deps.store.begin(scope) as tx:
        tx.hold("threads")
        known = {w.words.casefold() for w in tx.upkeep.settings().words}
        for noun in nouns:
            if isinstance(noun, MarkLine):
                _mark(tx, noun)
            elif isinstance(noun, SuppressedWords) and noun.words.casefold() not in known:
                tx.upkeep.put(noun)
            elif isinstance(noun, RetentionLine) and tx.upkeep.settings().retention is None:
                tx.upkeep.put(OwnRetention(str(read_retention(noun.policy))))
            elif isinstance(noun, Refusal) and len(tx.episodes.nodes([noun.child, noun.parent])) == PAIR:
                tx.episodes.put(noun)


def _line(tx: Transaction, mark: Mark) -> Iterator[MarkLine]:
    """Yield a mark by the observations it begins and ends with: elsewhere they may have other places."""
    number, first = split_ref(mark.first_ref)
    thread = tx.threads.by_numbers([number])[number]
    end = tx.threads.frame(thread).next_seq - 1
    last = split_ref(mark.last_ref)[1]
    inside = tx.observations.read(thread, first, min(last, end))
    if inside or first == 0:
        begins = None if first == 0 and last > end else inside[0].id
        ends = None if last > end else inside[-1].id
        yield MarkLine(thread, mark.kind.value, mark.at, mark.reason, begins, ends)


def _mark(tx: Transaction, line: MarkLine) -> None:
    if line.kind not in set(MarkKind):
        raise InvalidInput(f"no kind of mark {line.kind!r}; there are {', '.join(MarkKind)}")
    if tx.threads.get(line.thread_id) is None:
        return
    identifiers = [one for one in (line.first_id, line.last_id) if one is not None]
    observations = tx.observations.get(identifiers)
    if len(observations) < len(set(identifiers)):
        return  # erased here, or never imported
    pair = span_of(tx, line.thread_id, 0, None)
    number = tx.threads.number(line.thread_id)
    first = pair[0] if line.first_id is None else ref_of(number, observations[line.first_id].seq)
    last = pair[1] if line.last_id is None else ref_of(number, observations[line.last_id].seq)
    kind = MarkKind(line.kind)
    if first <= last and not tx.upkeep.touched([kind], [(first, last)]):
        tx.upkeep.put(Mark(first, last, kind, line.at, line.reason))
