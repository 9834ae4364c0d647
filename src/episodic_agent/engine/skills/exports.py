"""Skills in exports: written after the threads that show them, and put back where they are not there yet."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from datetime import datetime
from typing import Final
from uuid import UUID

from episodic_agent.core.skills.keeping import DECISION
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.files.own import Noun, SkillLine
from episodic_agent.engine.files.restoring import erased_after
from episodic_agent.engine.skills.job import embedded, index_skill, take_up
from episodic_agent.engine.skills.verbs import USED
from episodic_agent.errors import InvalidInput
from episodic_agent.protocols import Transaction
from episodic_agent.schemas import Decision, Json, Scope, Vector
from episodic_agent.schemas.skills import Skill, SkillKind, SkillState, StoredSkill, TurnRef

_APART: Final = ("kind", "last_used", "evidence")  # fields that are no plain JSON


def skill_nouns(tx: Transaction) -> Iterator[Noun]:
    """Yield every skill of a scope with its decisions, what may become one and what was forgotten too."""
    for skill in tx.knowledge.skills():
        yield from tx.knowledge.decisions(subject=skill.id, type=DECISION)
        yield from tx.knowledge.decisions(subject=skill.id, type=USED)
        evidence = tuple(f"{turn.thread_id}:{turn.seq}" for turn in tx.knowledge.evidence(skill.id))
        yield SkillLine(skill.id, skill.pattern, skill.state, skill.created_at, _plain(skill.skill), evidence)


def without_skills(nouns: Iterator[Noun], skills: list[Noun]) -> Iterator[Noun]:
    """Yield the nouns of threads; what belongs to skills is put into `skills`."""
    for noun in nouns:
        if isinstance(noun, SkillLine) or (isinstance(noun, Decision) and noun.type in (DECISION, USED)):
            skills.append(noun)
        else:
            yield noun


def restore_skills(deps: Deps, scope: Scope, nouns: Sequence[Noun], exported_at: datetime) -> None:
    """Put back the skills of an export where neither they nor their patterns are there yet.

    Where there are none in the file, what it holds is looked through for some. One whose threads had
    something erased since the export stays away: its words may tell of that.
    """
    lines = [(line, _stored_skill(line)) for line in nouns if isinstance(line, SkillLine)]
    with deps.store.begin(scope, write=False) as tx:
        there = tx.knowledge.skills()
        lines = [(line, kept) for line, kept in lines if not erased_after(tx, _threads(line), exported_at)]
    taken = {kept.id for kept in there} | {kept.pattern for kept in there}
    lines = [(line, kept) for line, kept in lines if kept.id not in taken and kept.pattern not in taken]
    vectors: dict[UUID, Vector | None] = {}
    for _, skill in lines:
        if skill.state is SkillState.ACTIVE:
            vectors[skill.id] = embedded(deps, skill.skill)
    decisions = [noun for noun in nouns if isinstance(noun, Decision)]
    restored = {kept.id for _, kept in lines}
    with deps.store.begin(scope) as tx:
        for line, skill in lines:
            written = tx.knowledge.put_skill(skill, _present(tx, line))
            if written.id in vectors:
                index_skill(tx, deps, written, vectors[written.id])
        for decision in decisions:
            if decision.subject in restored:
                tx.knowledge.decide(decision)
        if not nouns:
            take_up(tx, deps.clock())


def _present(tx: Transaction, line: SkillLine) -> list[TurnRef]:
    """Return the turns of a line that are in this memory."""
    turns: list[TurnRef] = []
    for text in line.evidence:
        thread, _, seq = text.partition(":")
        try:
            turn = TurnRef(UUID(thread), int(seq))
        except ValueError as error:
            raise InvalidInput(f"the export is damaged: {text!r} is no turn; export it again") from error
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


def _stored_skill(line: SkillLine) -> StoredSkill:
    answers = dict(line.skill)
    last, kind = answers.pop("last_used", None), answers.pop("kind", None)
    values = {
        name: tuple(value) if isinstance(value, list | tuple) else value for name, value in answers.items()
    }
    try:
        used = datetime.fromisoformat(str(last)) if last is not None else None
        skill = Skill(**values, kind=SkillKind(str(kind)), last_used=used)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"the export is damaged: skill {line.id}: {error}; export it again") from error
    return StoredSkill(line.id, line.pattern, line.state, skill, line.created_at)
