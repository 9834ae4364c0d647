"""Pins, suppressions, retention, refused chains in exports: written last, put back where nothing stands."""

from collections.abc import Collection, Iterator, Sequence
from typing import Final
from uuid import UUID

from episodic_agent.core.chain_records import Refusal
from episodic_agent.core.interfaces import Mark, MarkKind, SuppressedWords, Transaction, ref_of, split_ref
from episodic_agent.core.retention import read_retention
from episodic_agent.engine.curtain import span_of
from episodic_agent.engine.files.own import MarkLine, Noun, RetentionLine
from episodic_agent.engine.parts import Parts
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import Scope

PAIR: Final = 2  # a link has two ends: both must be there to be kept apart


def care_nouns(tx: Transaction, among: Collection[UUID] | None = None) -> Iterator[Noun]:
    """Yield the marks of a scope (of some threads), its suppressed words and its own policy."""
    for mark in sorted(tx.care.marks()):
        lines = list(_line(tx, mark))
        yield from (one for one in lines if among is None or one.thread_id in among)
    yield from tx.care.words()
    if (policy := tx.care.policy()) is not None:
        yield RetentionLine(policy)
    refusals = tx.chains.refusals()
    ends = tx.episodes.by_ids([end for one in refusals for end in (one.child, one.parent)]) if among else {}
    inside = {one.id for one in ends.values() if one.thread_id in (among or ())}
    yield from (one for one in refusals if among is None or {one.child, one.parent} <= inside)


def without_care(nouns: Iterator[Noun], care: list[Noun]) -> Iterator[Noun]:
    """Yield the nouns of threads and what belongs to them; those of care are put into `care`."""
    for noun in nouns:
        if isinstance(noun, MarkLine | SuppressedWords | RetentionLine | Refusal):
            care.append(noun)
        else:
            yield noun


def restore_care(parts: Parts, scope: Scope, nouns: Sequence[Noun]) -> None:
    """Put back what an export says where this memory says nothing: its own marks and policy stay."""
    if not nouns:
        return
    with parts.store.begin(scope) as tx:
        tx.threads.hold()
        known = {w.words.casefold() for w in tx.care.words()}
        for noun in nouns:
            if isinstance(noun, MarkLine):
                _mark(tx, noun)
            elif isinstance(noun, SuppressedWords) and noun.words.casefold() not in known:
                tx.care.suppress_words(noun)
            elif isinstance(noun, RetentionLine) and tx.care.policy() is None:
                tx.care.set_policy(str(read_retention(noun.policy)))
            elif isinstance(noun, Refusal) and len(tx.chains.nodes([noun.child, noun.parent])) == PAIR:
                tx.chains.refuse(noun)


def _line(tx: Transaction, mark: Mark) -> Iterator[MarkLine]:
    """Yield a mark by the observations it begins and ends with: elsewhere they may have other places."""
    number, first = split_ref(mark.first_ref)
    thread = tx.threads.by_numbers([number])[number]
    end = tx.threads.frame(thread).next_seq - 1
    last = split_ref(mark.last_ref)[1]
    inside = tx.threads.observations(thread, first, min(last, end))
    if inside or first == 0:
        begins = None if first == 0 and last > end else inside[0].id
        ends = None if last > end else inside[-1].id
        yield MarkLine(thread, mark.kind.value, mark.at, mark.reason, begins, ends)


def _mark(tx: Transaction, line: MarkLine) -> None:
    if line.kind not in set(MarkKind):
        raise InvalidInput(f"no kind of mark {line.kind!r}; there are {', '.join(MarkKind)}")
    if tx.threads.get(line.thread_id) is None:
        return
    wanted = [one for one in (line.first_id, line.last_id) if one is not None]
    found = tx.threads.by_ids(wanted)
    if len(found) < len(set(wanted)):
        return  # erased here, or never imported
    whole = span_of(tx, line.thread_id, 0, None)
    number = tx.threads.number(line.thread_id)
    first = whole[0] if line.first_id is None else ref_of(number, found[line.first_id].seq)
    last = whole[1] if line.last_id is None else ref_of(number, found[line.last_id].seq)
    kind = MarkKind(line.kind)
    if first <= last and not tx.care.touched([kind], [(first, last)]):
        tx.care.mark(Mark(first, last, kind, line.at, line.reason))
