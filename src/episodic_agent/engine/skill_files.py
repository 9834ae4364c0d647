"""Skills in exports: written after the threads that show them, and put back where they are not there yet."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from datetime import datetime
from typing import Final
from uuid import UUID

from episodic_agent.core.interfaces import Transaction
from episodic_agent.core.skills import KeptSkill, Skill, SkillKind, SkillState, TurnRef
from episodic_agent.core.skills.keeping import DECISION
from episodic_agent.engine.files.own import Noun, SkillLine
from episodic_agent.engine.mining import embedded, index_skill, take_up
from episodic_agent.engine.parts import Parts
from episodic_agent.engine.restoring import erased_after
from episodic_agent.engine.skills import USED
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import Decision, Json, Scope, Vector

_APART: Final = ("kind", "last_used", "evidence")  # fields that are no plain JSON


def skill_nouns(tx: Transaction) -> Iterator[Noun]:
    """Yield every skill of a scope with its decisions, what may become one and what was forgotten too."""
    for kept in tx.skills.list():
        yield from tx.episodes.decisions(subject=kept.id, type=DECISION)
        yield from tx.episodes.decisions(subject=kept.id, type=USED)
        evidence = tuple(f"{turn.thread_id}:{turn.seq}" for turn in tx.skills.evidence(kept.id))
        yield SkillLine(kept.id, kept.pattern, kept.state, kept.created_at, _plain(kept.skill), evidence)


def without_skills(nouns: Iterator[Noun], skills: list[Noun]) -> Iterator[Noun]:
    """Yield the nouns of threads; what belongs to skills is put into `skills`."""
    for noun in nouns:
        if isinstance(noun, SkillLine) or (isinstance(noun, Decision) and noun.type in (DECISION, USED)):
            skills.append(noun)
        else:
            yield noun


def restore_skills(parts: Parts, scope: Scope, nouns: Sequence[Noun], exported_at: datetime) -> None:
    """Put back the skills of an export where neither they nor their patterns are there yet.

    Where there are none in the file, what it holds is looked through for some. One whose threads had
    something erased since the export stays away: its words may tell of that.
    """
    lines = [(line, _kept(line)) for line in nouns if isinstance(line, SkillLine)]
    with parts.store.begin(scope, write=False) as tx:
        there = tx.skills.list()
        lines = [(line, kept) for line, kept in lines if not erased_after(tx, _threads(line), exported_at)]
    taken = {kept.id for kept in there} | {kept.pattern for kept in there}
    lines = [(line, kept) for line, kept in lines if kept.id not in taken and kept.pattern not in taken]
    vectors: dict[UUID, Vector | None] = {}
    for _, kept in lines:
        if kept.state is SkillState.ACTIVE:
            vectors[kept.id] = embedded(parts, kept.skill)
    decisions = [noun for noun in nouns if isinstance(noun, Decision)]
    restored = {kept.id for _, kept in lines}
    with parts.store.begin(scope) as tx:
        for line, kept in lines:
            written = tx.skills.put(kept, _present(tx, line))
            if written.id in vectors:
                index_skill(tx, parts, written, vectors[written.id])
        for decision in decisions:
            if decision.subject in restored:
                tx.episodes.decide(decision)
        if not nouns:
            take_up(tx, parts.clock())


def _present(tx: Transaction, line: SkillLine) -> list[TurnRef]:
    """Return the turns of a line that are in this memory."""
    turns: list[TurnRef] = []
    for told in line.evidence:
        thread, _, seq = told.partition(":")
        try:
            turn = TurnRef(UUID(thread), int(seq))
        except ValueError as error:
            raise InvalidInput(f"the export is damaged: {told!r} is no turn; export it again") from error
        if (
            tx.threads.get(turn.thread_id) is not None
            and turn.seq < tx.threads.frame(turn.thread_id).next_seq
        ):
            turns.append(turn)
    return turns


def _threads(line: SkillLine) -> list[UUID]:
    with suppress(ValueError):  # `_present` says what is wrong
        return [UUID(told.partition(":")[0]) for told in line.evidence]
    return []


def _plain(skill: Skill) -> Mapping[str, Json]:
    values = {f.name: getattr(skill, f.name) for f in fields(skill) if f.name not in _APART}
    last = skill.last_used.isoformat() if skill.last_used else None
    return {**values, "kind": skill.kind.value, "last_used": last}


def _kept(line: SkillLine) -> KeptSkill:
    told = dict(line.skill)
    last, kind = told.pop("last_used", None), told.pop("kind", None)
    values = {
        name: tuple(value) if isinstance(value, list | tuple) else value for name, value in told.items()
    }
    try:
        used = datetime.fromisoformat(str(last)) if last is not None else None
        skill = Skill(**values, kind=SkillKind(str(kind)), last_used=used)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"the export is damaged: skill {line.id}: {error}; export it again") from error
    return KeptSkill(line.id, line.pattern, line.state, skill, line.created_at)
