"""The `skills` job: look through new episodes for what served again and again (seed 002, section 5.3).

Whoever encodes an episode notes it. A run takes some of those noted, reads them with the episodes just before
them, and writes what it found; so a run costs the same however long the history is. What a pattern was seen
in before stays with it as a candidate (`core/skills/keeping.py`), so its count goes on over the windows.
Mining waits until enough is new, or a flush, `work` or the clock asks for it.
"""

import logging
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Final, TypeAlias
from uuid import UUID

import numpy as np

from episodic_agent.core.boundary.policies import STEP
from episodic_agent.core.echo import all_own_words
from episodic_agent.core.identity import decision_id, skill_id
from episodic_agent.core.language import term_counts
from episodic_agent.core.language.windows import windows
from episodic_agent.core.prompts import skills as asking
from episodic_agent.core.skills.keeping import DECISION, Change, changes, in_words_of, overflowing, verdict_on
from episodic_agent.core.skills.mining import mine
from episodic_agent.core.skills.requests import Exchange, courses_of
from episodic_agent.core.skills.sequences import Course
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.jobs.asking import LAST_TRY, ask, may_pass, say_failed
from episodic_agent.engine.jobs.kinds import MINE
from episodic_agent.engine.visibility.hidden import span_of
from episodic_agent.errors import Conflict, ProviderError
from episodic_agent.protocols import (
    SKILLS,
    LanguageModel,
    MarkKind,
    Posting,
    Store,
    Transaction,
    ref_of,
)
from episodic_agent.schemas import Episode, Job, Observation, Scope, Vector
from episodic_agent.schemas.skills import Skill, SkillState, StoredSkill

ENOUGH: Final = 100  # new episodes that are worth a run by themselves
SOME: Final = 10  # that are worth one when the clock sweeps
PAGE: Final = 200  # of them one run takes
WINDOW: Final = 300  # episodes one run reads, with those before
PAGES: Final = 4  # of so many episodes that are looked at for them
MOST_READ: Final = 5_000  # observations one run reads; those that wait come first, then the newest
MOST_NAMED: Final = 20  # skills one run asks a model about
_INSTANT: Final = timedelta(microseconds=1)
Mined: TypeAlias = Sequence[Skill]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _WordedSkill:
    """The words of a skill to be, and their vectors."""

    words: Skill
    vectors: Vector | None


@dataclass(frozen=True, slots=True)
class MiningWindow:
    """What a run reads; `left` are refs of episodes that wait and were too much for it."""

    courses: list[Course] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)
    left: set[int] = field(default_factory=set)


def note_episodes(tx: Transaction, refs: Sequence[int], now: datetime) -> None:
    """Note encoded episodes of messages and of actions for mining, and ask for it where enough wait."""
    if not refs:
        return
    tx.knowledge.note_mining(refs)
    if len(tx.knowledge.awaiting(limit=ENOUGH)) == ENOUGH:
        ask_for_mining(tx, now)


def ask_for_mining(tx: Transaction, now: datetime) -> None:
    """Ask for a run; asking twice asks once."""
    tx.upkeep.ask(MINE, MINE, MINE, now=now)


def ask_where_awaited(store: Store, scope: Scope, now: datetime, *, least: int = 1) -> bool:
    """Ask for a run where so many episodes wait for one; tell whether they did."""
    with store.begin(scope, write=False) as tx:
        if len(tx.knowledge.awaiting(limit=least)) < least:
            return False
    with store.begin(scope) as tx:
        ask_for_mining(tx, now)
    return True


def take_up(tx: Transaction, now: datetime) -> int:
    """Note the newest episodes of a memory from before there were skills; return how many."""
    if tx.knowledge.skills() or tx.knowledge.awaiting(limit=1):
        return 0
    newest = _shown(tx, tx.episodes.list(limit=WINDOW), steps=True)
    refs = [ref_of(tx.threads.number(episode.thread_id), episode.first_seq) for episode in newest]
    if refs:
        tx.knowledge.note_mining(refs)
        ask_for_mining(tx, now)
    return len(refs)


class Miner:
    """The handler of `skills` jobs."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def handle(self, scope: Scope, jobs: Sequence[Job]) -> None:
        """Mine once for each job; there is one at a time, of a scope."""
        for job in jobs:
            self._mine(scope, job)

    def _mine(self, scope: Scope, job: Job) -> None:
        with self._deps.store.begin(scope, write=False) as tx:
            refs = tx.knowledge.awaiting(limit=PAGE)
            window = read_window(tx, refs)
        mined = mine(window.courses, window.exchanges)
        skills = [*mined.created, *mined.below]
        now = self._deps.clock()
        with self._deps.store.begin(scope, write=False) as tx:
            planned = _changes(tx, skills, now)
            names = _names(tx.knowledge.skills(state=SkillState.ACTIVE))
        prepared = self._prepare(scope, job, [change for change in planned if change.created], names)
        with self._deps.store.begin(scope) as tx:
            tx.upkeep.drop(job)
            self._keep(tx, _changes(tx, skills, now), prepared, now)
            tx.knowledge.note_mining([ref for ref in refs if ref not in window.left], done=True)
            if window.left or (len(refs) == PAGE and tx.knowledge.awaiting(limit=1)):
                ask_for_mining(tx, now)

    def _prepare(
        self, scope: Scope, job: Job, created: Sequence[Change], names: set[str]
    ) -> Mapping[str, _WordedSkill]:
        """Name and embed what is to be created, while no transaction is open."""
        named = self._named(scope, job, created)
        prepared: dict[str, _WordedSkill] = {}
        for change in created:
            words = named.get(change.skill.pattern, change.skill.skill)
            words = replace(words, name=_unique(words.name, names))
            names.add(words.name.casefold())
            prepared[change.skill.pattern] = _WordedSkill(words, embedded(self._deps, words))
        return prepared

    def _named(self, scope: Scope, job: Job, created: Sequence[Change]) -> Mapping[str, Skill]:
        model = self._deps.model_for(scope, asking.STAGE)
        named: dict[str, Skill] = {}
        if model is None:
            return named
        for change in created[:MOST_NAMED]:
            try:
                named[change.skill.pattern] = _complete(model, change.skill.skill)
            except ProviderError as error:
                if job.attempts < LAST_TRY and may_pass(error):
                    raise
                say_failed(log, "a skill keeps the words it was mined with: %s", error=error)
                break
        return named

    def _keep(
        self, tx: Transaction, made: Sequence[Change], prepared: Mapping[str, _WordedSkill], now: datetime
    ) -> None:
        """Write what was found; the least sure candidates of too many are given up, or not written at all."""
        standing = {kept.id: kept for kept in tx.knowledge.skills()}
        standing |= {change.skill.id: change.skill for change in made}
        given_up = {kept.id: kept for kept in overflowing(standing.values())}
        for change in made:
            if change.skill.id not in given_up:
                self._write(tx, change, prepared, now)
        for skill in given_up.values():
            if skill.number:
                tx.knowledge.drop_skill(skill.id)
                tx.knowledge.revoke(decision_id(skill.id, DECISION))

    def _write(
        self, tx: Transaction, change: Change, prepared: Mapping[str, _WordedSkill], now: datetime
    ) -> None:
        skill = change.skill
        if change.created:
            if skill.pattern not in prepared:
                raise Conflict("the skills of this user were changed just now; mine again")
            skill = replace(skill, skill=in_words_of(skill.skill, prepared[skill.pattern].words))
        skill = tx.knowledge.put_skill(skill, change.turns)
        if change.created or skill.state is SkillState.CANDIDATE:
            # only the newest verdict on a pattern stays: a candidate is judged again whenever it is seen
            verdict = verdict_on(skill, now)
            tx.knowledge.revoke(verdict.id)
            tx.knowledge.decide(verdict)
        if change.created:
            index_skill(tx, self._deps, skill, prepared[skill.pattern].vectors)


def _complete(model: LanguageModel, skill: Skill) -> Skill:
    prompt = asking.prompt(skill)
    return ask(model, prompt, asking.SCHEMA, asking.STAGE, lambda value: asking.read(value, skill))


def _changes(tx: Transaction, result: Mined, now: datetime) -> list[Change]:
    turns_found = list(dict.fromkeys(turn for skill in result for turn in skill.evidence))
    scope, known = tx.scope, tx.knowledge.skills()
    return changes(result, known, tx.knowledge.evidence(turns_found), lambda p: skill_id(scope, p), now)


def _names(skills: Iterable[StoredSkill]) -> set[str]:
    return {one.skill.name.casefold() for one in skills}


def _unique(name: str, names: set[str]) -> str:
    """Return a name that none has yet.

    >>> _unique("Book a train", {"book a train"})
    'Book a train (2)'
    """
    unique, count = name, 1
    while unique.casefold() in names:
        count += 1
        unique = f"{name} ({count})"
    return unique


# --- what is read ----------------------------------------------------------------------------------------


def read_window(tx: Transaction, refs: Sequence[int]) -> MiningWindow:
    """Read episodes that wait, and those that ended just before them, as what mining takes: oldest first."""
    waiting = tx.episodes.get(refs)
    if not waiting:
        return MiningWindow()
    fresh = {episode.id: episode for episode in _shown(tx, waiting.values(), steps=True)}
    newest = max(episode.end_at for episode in waiting.values()) + _INSTANT
    steps = any(_of_steps(tx, {episode.thread_id for episode in fresh.values()}).values())
    before = {episode.id: episode for episode in _before(tx, newest, steps=steps)}
    chosen = _affordable({**fresh, **before}.values())
    unread = fresh.keys() - {episode.id for episode in chosen}
    window = MiningWindow(left={ref for ref, episode in waiting.items() if episode.id in unread})
    read = _read(tx, chosen)
    ordered = sorted(chosen, key=lambda e: (e.start_at, e.thread_id, e.first_seq))
    courses, exchanges = courses_of([(episode.id, read[episode.id]) for episode in ordered])
    return replace(window, courses=courses, exchanges=exchanges)


def _before(tx: Transaction, until: datetime, *, steps: bool) -> Iterator[Episode]:
    """Yield episodes, newest first.

    Where only conversations wait, long runs of an agent between them are passed over.
    """
    for _ in range(PAGES):
        page = tx.episodes.list(limit=WINDOW, before=until)
        yield from _shown(tx, page, steps=steps)
        if len(page) < WINDOW:
            return
        until = page[-1].end_at


def _affordable(episodes: Iterable[Episode]) -> list[Episode]:
    """Return the first episodes that a run can read; always one."""
    chosen: list[Episode] = []
    left = MOST_READ
    for episode in islice(episodes, WINDOW):
        left -= episode.size
        if chosen and left < 0:
            break
        chosen.append(episode)
    return chosen


def _read(tx: Transaction, episodes: Sequence[Episode]) -> Mapping[UUID, Sequence[Observation]]:
    """Read the observations of episodes; those that follow one another are read at once."""
    read: dict[UUID, Sequence[Observation]] = {}
    joined: list[list[Episode]] = []
    for episode in sorted(episodes, key=lambda e: (e.thread_id, e.first_seq)):
        last = joined[-1][-1] if joined else None
        if last is None or (last.thread_id, last.last_seq + 1) != (episode.thread_id, episode.first_seq):
            joined.append([])
        joined[-1].append(episode)
    for group in joined:
        observations = all_own_words(
            tx.observations.read(group[0].thread_id, group[0].first_seq, group[-1].last_seq)
        )
        seqs = [o.seq for o in observations]
        for episode in group:
            first, after = bisect_left(seqs, episode.first_seq), bisect_right(seqs, episode.last_seq)
            read[episode.id] = observations[first:after]
    return read


def _of_steps(tx: Transaction, threads: Iterable[UUID]) -> dict[UUID, bool]:
    """Tell of each thread whether it is of an agent's steps, or gone."""
    return {
        identity: (thread := tx.threads.get(identity)) is None or thread.modality == STEP
        for identity in threads
    }


def _shown(tx: Transaction, episodes: Iterable[Episode], *, steps: bool) -> Iterator[Episode]:
    """Yield the episodes that are not suppressed: those of conversations, with `steps` of an agent's too."""
    supplied_episodes = list(episodes)
    passed = {} if steps else _of_steps(tx, {one.thread_id for one in supplied_episodes})
    spans = [span_of(tx, e.thread_id, e.first_seq, e.last_seq) for e in supplied_episodes]
    suppressed = tx.upkeep.touched([MarkKind.SUPPRESSED], spans) if spans else {}
    for place, episode in enumerate(supplied_episodes):
        if place not in suppressed and not passed.get(episode.thread_id):
            yield episode


# --- what is indexed -------------------------------------------------------------------------------------


def text_of(skill: Skill) -> str:
    """Return what a skill is found by, beside its name: its description, steps and examples."""
    return "\n".join(part for part in (skill.description, *skill.steps, *skill.examples) if part)


def embedded(deps: Deps, skill: Skill) -> Vector | None:
    """Return the vectors of a skill's words, one for each window of them; None without an embedder."""
    if deps.embedder is None:
        return None
    return np.asarray(deps.embedder.embed(windows(f"{skill.name}\n{text_of(skill)}")))


def index_skill(tx: Transaction, deps: Deps, skill: StoredSkill, vectors: Vector | None) -> None:
    """Index a skill's words and vectors under its number."""
    counts = term_counts(f"{skill.skill.name}\n{text_of(skill.skill)}", deps.language)
    tx.index.put_postings(SKILLS, [Posting(skill.number, counts, sum(counts.values()))])
    if vectors is not None:
        tx.index.put_vectors(SKILLS, deps.embedder_name, [skill.number] * len(vectors), vectors)


def skill_texts(tx: Transaction, refs: Sequence[int]) -> dict[int, str]:
    """Return the words of skills by number, to be embedded again."""
    skills = {kept.number: kept for kept in tx.knowledge.skills(numbers=refs)}
    active = {n: kept.skill for n, kept in skills.items() if kept.state is SkillState.ACTIVE}
    return {number: f"{skill.name}\n{text_of(skill)}" for number, skill in active.items()}
