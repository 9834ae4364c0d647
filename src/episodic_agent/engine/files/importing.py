"""Import files: chats through the ordinary way of an observation, own exports by restoring them whole."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TypeVar
from uuid import UUID

from episodic_agent.core.identity import Repeats, assign_ids
from episodic_agent.core.ingest import IntakeLimits
from episodic_agent.core.language import plural
from episodic_agent.engine.chains.ancestry import drop_reversed
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.facts.exports import restore_facts, without_facts
from episodic_agent.engine.files import Format, Unreadable, check_unpacked, detect, read_export, read_file
from episodic_agent.engine.files.own import Noun, read_header
from episodic_agent.engine.files.restoring import Restorer
from episodic_agent.engine.ingest.appending import Incoming, Ingest, Progress
from episodic_agent.engine.results import ImportReport
from episodic_agent.engine.skills.exports import restore_skills, without_skills
from episodic_agent.engine.tuning.runs import TUNE, keep_tunings
from episodic_agent.engine.visibility.exports import restore_visibility, without_visibility
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import Decision, Episode, Link, Observation, Scope, Thread

T = TypeVar("T")
COUNTED = {"thread": Thread, "observation": Observation, "episode": Episode}  # what a header announces
BATCH = 256  # items named at a time, so that a file of any size streams


class Importer:
    """The verb `import_file`. `settle` runs the later work of a scope between groups, in this process."""

    def __init__(self, deps: Deps, ingest: Ingest, settle: Callable[[Scope], int]) -> None:
        self._deps = deps
        self._ingest = ingest
        self._settle = settle

    def run(
        self, path: Path, scope: Scope, source: str | None, encoding: str | None, progress: Progress | None
    ) -> ImportReport:
        """Import one file; see `UserMemory.import_file`."""
        if not path.is_file():
            raise InvalidInput(
                f"{path} is a folder; name its files" if path.is_dir() else f"no such file: {path}"
            )
        limits = self._deps.limits
        check_unpacked(path, limits)  # before anything is stored
        episodes = self._episodes(scope)
        if detect(path, encoding=encoding, limits=limits) == Format.OWN:
            read, added, threads, taken = self._restore(path, scope)
            unreadable: list[Unreadable] = []
        else:
            read, added, threads, taken, unreadable = self._chats(path, scope, source, encoding, progress)
        self._settle(scope)
        return ImportReport(
            observations=read,
            added=added,
            duplicates=read - added - len(taken),
            episodes=self._episodes(scope) - episodes,
            unreadable=[f"{path.name}:{u.line}: {u.reason}" for u in unreadable]
            + [f"{path.name}: {why}" for why in taken],
            threads=threads,
        )

    def _episodes(self, scope: Scope) -> int:
        with self._deps.store.begin(scope, write=False) as tx:
            return tx.count("episodes")

    def _chats(
        self, path: Path, scope: Scope, source: str | None, encoding: str | None, progress: Progress | None
    ) -> tuple[int, int, int, list[str], list[Unreadable]]:
        unreadable: list[Unreadable] = []
        origins: set[str] = set()
        incoming = self._incoming(path, scope, source, encoding, unreadable, origins=origins)
        counts = self._ingest.run(
            scope,
            incoming,
            receipts=False,
            skips_taken=True,
            progress=progress,
            after_group=lambda: self._settle(scope),
        )
        return counts.observations, counts.added, len(origins), [*counts.taken.values()], unreadable

    def _incoming(
        self,
        path: Path,
        scope: Scope,
        source: str | None,
        encoding: str | None,
        unreadable: list[Unreadable],
        *,
        origins: set[str],
    ) -> Iterator[Incoming]:
        seen = Repeats()
        items = _readable(read_file(path, encoding=encoding, limits=self._deps.limits), unreadable)
        while batch := list(itertools.islice(items, BATCH)):
            ids = assign_ids(batch, scope, source, seen=seen)
            for item, identity in zip(batch, ids, strict=True):
                origin = item.conversation or path.stem
                origins.add(origin)
                yield Incoming(origin, identity, item)

    def _keep_timeouts(self, scope: Scope, timeouts: Mapping[str, timedelta]) -> None:
        """Keep the timeouts of an export where this user has none of their own."""
        if not timeouts:
            return
        with self._deps.store.begin(scope) as tx:
            own = tx.threads.timeouts()
            for channel in timeouts.keys() - own.keys():
                tx.threads.set_timeout(channel, timeouts[channel])

    def _restore(self, path: Path, scope: Scope) -> tuple[int, int, int, list[str]]:
        limits = self._deps.limits
        check_export(path, limits)
        restorer, head = Restorer(self._deps, self._ingest), read_header(path, limits)
        read = added = threads = 0
        taken: list[str] = []
        runs: list[Decision] = []
        skills: list[Noun] = []
        facts: list[Noun] = []
        visibility: list[Noun] = []
        of_threads = without_facts(without_skills(_apart(read_export(path, limits), runs), skills), facts)
        chained: list[UUID] = []
        for nouns in _by_thread(without_visibility(of_threads, visibility)):
            chained += [n.id for n in nouns if isinstance(n, Episode) and n.parent_episode_id is not None]
            if isinstance(nouns[0], Link):
                restorer.restore_links(scope, nouns, head.exported_at)
                continue
            restored = restorer.restore(scope, nouns)
            read, added, threads = read + restored.observations, added + restored.added, threads + 1
            taken += restored.taken.values()
        if chained:
            with self._deps.store.begin(scope) as tx:
                drop_reversed(tx, chained)
        restore_skills(self._deps, scope, skills, head.exported_at)
        restore_facts(self._deps, scope, facts)
        restore_visibility(self._deps, scope, visibility)
        self._keep_timeouts(scope, head.timeouts)
        if runs:
            with self._deps.store.begin(scope) as tx:
                keep_tunings(tx, runs)
        return read, added, threads, taken


def check_export(path: Path, limits: IntakeLimits) -> None:
    """Read an export through before anything of it is stored, since half of one would be no memory.

    Raises InvalidInput naming the damaged line, or what is missing of what the header announces.
    """
    results: Counter[type] = Counter()
    for noun in read_export(path, limits):
        if isinstance(noun, Unreadable):
            raise InvalidInput(f"{path} is damaged at line {noun.line}: {noun.reason}; export it again")
        results[type(noun)] += 1
    announced = read_header(path, limits).counts
    for name, kind in COUNTED.items():
        if results[kind] != announced.get(name, results[kind]):
            raise InvalidInput(
                f"{path} is damaged: it holds {results[kind]} of {plural(announced[name], name)}; "
                "export it again"
            )


def _readable(records: "Iterator[T | Unreadable]", unreadable: list[Unreadable]) -> Iterator[T]:
    for record in records:
        if isinstance(record, Unreadable):
            unreadable.append(record)
        else:
            yield record


def _apart(nouns: "Iterator[Noun | Unreadable]", runs: list[Decision]) -> Iterator[Noun]:
    """Yield what belongs to threads, and put aside what tuning left, which belongs to none."""
    for noun in nouns:
        if isinstance(noun, Decision) and noun.type == TUNE:
            runs.append(noun)
        elif not isinstance(noun, Unreadable):
            yield noun


def _by_thread(nouns: Iterator[Noun]) -> Iterator[Sequence[Noun]]:
    group: list[Noun] = []
    for noun in nouns:
        begins = isinstance(noun, Link) and not isinstance(group[0], Link) if group else False
        if group and (isinstance(noun, Thread) or begins):
            yield group
            group = []
        group.append(noun)
    if group:
        yield group
