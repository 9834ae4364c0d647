"""Import files: chats through the ordinary way of an observation, own exports by restoring them whole."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta, tzinfo
from pathlib import Path
from typing import Final
from uuid import UUID

from episodic_agent.core.identity import Repeats
from episodic_agent.core.ingest import IntakeLimits, Moment, check_ahead
from episodic_agent.core.language import plural
from episodic_agent.engine.arguments import Progress
from episodic_agent.engine.boundary.closing import Closer
from episodic_agent.engine.chains.ancestry import drop_reversed
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.facts.exports import restore_facts, without_facts
from episodic_agent.engine.files.bundle import is_bundle
from episodic_agent.engine.files.conversations import Conversations, is_channel
from episodic_agent.engine.files.dates import DateOrder
from episodic_agent.engine.files.editing import add_between_cuts, hide_versions
from episodic_agent.engine.files.opening import Unreadable, check_unpacked
from episodic_agent.engine.files.options import ReadingOptions
from episodic_agent.engine.files.own import FactLine, Noun, SkillLine, read_export, read_header
from episodic_agent.engine.files.read import Format, detect
from episodic_agent.engine.files.recognising import Placed, Recogniser, session_thread
from episodic_agent.engine.files.restoring import Restorer
from episodic_agent.engine.files.sources import SourcePart, Survey, open_source
from episodic_agent.engine.files.speakers import NOBODY, ImportOwner
from episodic_agent.engine.ingest.appending import Incoming, Ingest, shortened
from episodic_agent.engine.jobs.kinds import TUNE
from episodic_agent.engine.own_ids import IMPORT, keep_origins, read_origins
from episodic_agent.engine.people.keeping import restore_people
from episodic_agent.engine.results import ImportReport
from episodic_agent.engine.skills.exports import restore_skills, without_skills
from episodic_agent.engine.threads.session_records import SESSION
from episodic_agent.engine.tuning.runs import keep_tunings
from episodic_agent.engine.visibility.exports import restore_visibility, without_visibility
from episodic_agent.errors import InvalidInput
from episodic_agent.protocols import OwnTimeout
from episodic_agent.schemas import Decision, Episode, Link, Observation, Scope, Thread
from episodic_agent.schemas.decisions import PERSON
from episodic_agent.showing import visible

COUNTED = {"thread": Thread, "observation": Observation, "episode": Episode}  # what a header announces
BATCH = 256  # items named at a time, so that a file of any size streams


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """How to import: see `UserMemory.import_file`. `dry_run` stores nothing."""

    source: str | None = None
    encoding: str | None = None
    timezone: tzinfo | None = None
    dates: DateOrder | None = None
    began: Moment | None = None
    me: tuple[str, ...] = ()
    speaker: str | None = None
    dry_run: bool = False
    progress: Progress | None = None


class Importer:
    """The verb `import_file`. `settle` runs the later work of a scope between groups, in this process."""

    def __init__(self, deps: Deps, ingest: Ingest, closer: Closer, settle: Callable[[Scope], int]) -> None:
        self._deps = deps
        self._ingest = ingest
        self._closer = closer
        self._settle = settle

    def run(self, path: Path, scope: Scope, options: ImportOptions) -> ImportReport:
        """Import a file, a folder or an archive; see `UserMemory.import_file`."""
        if not path.exists():
            raise InvalidInput(f"no such file: {path}")
        limits = self._deps.limits
        bundled = is_bundle(path)
        if not bundled:
            check_unpacked(path, limits)  # before anything is stored
        episodes = self._episodes(scope)
        if (
            not bundled
            and detect(path, encoding=options.encoding, limits=limits, speaker=options.speaker) == Format.OWN
        ):
            report = self._own(path, scope, options)
        else:
            report = self._chats(path, scope, options)
        if options.dry_run:
            return report
        self._settle(scope)
        return replace(report, episodes=self._episodes(scope) - episodes)

    def _episodes(self, scope: Scope) -> int:
        with self._deps.store.begin(scope, write=False) as tx:
            return tx.count("episodes")

    def _own(self, path: Path, scope: Scope, options: ImportOptions) -> ImportReport:
        held = check_export(path, self._deps.limits)
        beside = ", ".join(plural(held[one], one, many) for one, many in _BESIDE.items() if held[one])
        notes = [*self._whose(path, scope), *([f"{path.name} holds {beside}, too"] if beside else [])]
        if options.dry_run:
            nouns = read_export(path, self._deps.limits)
            threads: set[UUID] = set()
            read, known = self._count_known(scope, _observations(nouns, threads))
            return ImportReport(
                read,
                read - known,
                known,
                0,
                threads=len(threads),
                format=Format.OWN.value,
                notes=notes,
            )
        read, added, restored, taken = self._restore(path, scope)
        return ImportReport(
            read,
            added,
            read - added - len(taken),
            0,
            [f"{path.name}: {why}" for why in taken],
            restored,
            Format.OWN.value,
            notes,
        )

    def _whose(self, path: Path, scope: Scope) -> list[str]:
        """Say that an export of somebody else is told as this user's from now on; nothing of their own."""
        owner = read_header(path, self._deps.limits).scope.user_id
        if owner == scope.user_id:
            return []
        mine, theirs = visible(scope.user_id), visible(owner)
        return [
            f"{path.name} is an export of {theirs!r}, not of {mine!r}: what its user said counts as {mine}'s"
        ]

    def _chats(self, path: Path, scope: Scope, options: ImportOptions) -> ImportReport:
        reading = ReadingOptions(
            timezone=options.timezone, dates=options.dates, began=options.began, speaker=options.speaker
        )
        owner = ImportOwner(scope.user_id, options.me)
        survey = Survey(now=self._deps.clock(), lists=options.dry_run)
        unreadable: list[str] = []
        recogniser = Recogniser(self._deps.store, scope, options.source, reading.notes)
        with open_source(path, reading, encoding=options.encoding, limits=self._deps.limits) as parts:
            items = _surveyed(parts, survey, owner, unreadable, path)
            incoming = _incoming(items, recogniser)
            if options.dry_run:
                every = itertools.chain(incoming, _late(recogniser))
                read, known = self._count_known(scope, (arriving.id for arriving in every))
                added, taken = read - known, list[str]()
            else:
                counts = self._ingest.run(
                    scope,
                    incoming,
                    receipts=False,
                    skips_taken=True,
                    progress=options.progress,
                    after_group=lambda: self._settle(scope),
                )
                every_count = [
                    counts,
                    *add_between_cuts(self._ingest, self._closer, scope, recogniser.late),
                ]
                read, added = (sum(c.observations for c in every_count), sum(c.added for c in every_count))
                taken = [why for c in every_count for why in c.taken.values()]
                if edited := hide_versions(self._deps, scope, recogniser.edited):
                    whose = "its" if edited == 1 else "their"
                    words = f"{plural(edited, 'message')} edited since: {whose} new words are told"
                    reading.notes.remarks[f"{words}, those before are hidden"] += 1
        recogniser.note_kept()
        return ImportReport(
            observations=read + recogniser.skipped,
            added=added,
            duplicates=read + recogniser.skipped - added - len(taken),
            episodes=0,
            unreadable=[
                *(f"{name} {why}" for name, why in reading.notes.closed.items()),
                *unreadable,
                *(f"{path.name}: {why}" for why in taken),
            ],
            threads=survey.threads,
            format=survey.names,
            notes=[*survey.lines(), *owner.lines(), *_unnamed(reading, scope), *reading.notes.lines()],
        )

    def _count_known(self, scope: Scope, ids: Iterator[UUID]) -> tuple[int, int]:
        """Return how many ids there are, and how many are stored already or come again."""
        read = known = 0
        seen = Repeats()
        while batch := list(itertools.islice(ids, BATCH)):
            first = [identity for identity in batch if not seen.count(identity)]
            with self._deps.store.begin(scope, write=False) as tx:
                known += len(batch) - len(first) + len(tx.observations.known(first))
            read += len(batch)
        return read, known

    def _keep_timeouts(self, scope: Scope, timeouts: Mapping[str, timedelta]) -> None:
        """Keep the timeouts of an export where this user has none of their own."""
        if not timeouts:
            return
        with self._deps.store.begin(scope) as tx:
            own = tx.upkeep.settings().timeouts
            for channel in timeouts.keys() - own.keys():
                tx.upkeep.put(OwnTimeout(channel, timeouts[channel]))

    def _restore(self, path: Path, scope: Scope) -> tuple[int, int, int, list[str]]:
        limits = self._deps.limits
        restorer, head = Restorer(self._deps, self._ingest), read_header(path, limits)
        read = added = threads = 0
        taken: list[str] = []
        runs: list[Decision] = []
        skills: list[Noun] = []
        facts: list[Noun] = []
        visibility: list[Noun] = []
        of_threads = without_facts(without_skills(_apart(read_export(path, limits), runs), skills), facts)
        chained: list[UUID] = []
        with self._deps.store.begin(scope) as tx:  # before any of its messages: half of it may come again
            keep_origins(tx, [head.scope], self._deps.clock())
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
                keep_tunings(tx, [one for one in runs if one.type == TUNE])
                keep_origins(tx, read_origins(runs), self._deps.clock())
                restore_people(tx, [one for one in runs if one.type == PERSON])
        return read, added, threads, taken


_BESIDE: Final = {  # what is counted, by its plural
    "session": "sessions",
    "fact that holds": "facts that hold",
    "fact that ended": "facts that ended",
    "link": "links",
    "skill": "skills",
}


def _beside_messages(noun: object) -> str:
    """Return what a line of an export holds beside messages that its user would miss; "" for all else."""
    if isinstance(noun, Decision):
        return "session" if noun.type == SESSION else ""
    if isinstance(noun, FactLine):
        return "fact that holds" if noun.fact.invalid_at is None else "fact that ended"
    return {Link: "link", SkillLine: "skill"}.get(type(noun), "")


def check_export(path: Path, limits: IntakeLimits) -> Counter[str]:
    """Read an export through before anything of it is stored, since half of one would be no memory.

    Returns how many sessions, facts, links and skills it holds beside messages. Raises InvalidInput
    naming the damaged line, or what is missing of what the header announces.
    """
    results: Counter[type] = Counter()
    held: Counter[str] = Counter()
    for noun in read_export(path, limits):
        if isinstance(noun, Unreadable):
            raise InvalidInput(f"{path} is damaged at line {noun.line}: {noun.reason}; export it again")
        results[type(noun)] += 1
        held[_beside_messages(noun)] += 1
    announced = read_header(path, limits).counts
    for name, kind in COUNTED.items():
        if results[kind] != announced.get(name, results[kind]):
            raise InvalidInput(
                f"{path} is damaged: it holds {results[kind]} of {plural(announced[name], name)}; "
                "export it again"
            )
    return held


def _unnamed(reading: ReadingOptions, scope: Scope) -> Iterator[str]:
    """Say of each file whose messages name no speaker whose words they were taken for."""
    for file, messages in reading.notes.unnamed.items():
        yield messages.line(file, scope.user_id, asks=reading.speaker != NOBODY)
    if reading.speaker is not None and reading.speaker != NOBODY and not reading.notes.named_by_key:
        yield f"no message has the key {visible(reading.speaker)!r}, as --speaker says"


def _late(recogniser: Recogniser) -> Iterator[Incoming]:
    """Yield what the import leaves to its end, once all else of it was named."""
    yield from recogniser.late


def _incoming(items: Iterator[Placed], recogniser: Recogniser) -> Iterator[Incoming]:
    while batch := list(itertools.islice(items, BATCH)):
        yield from recogniser.name(batch)


def _surveyed(
    parts: Iterator[SourcePart], survey: Survey, owner: ImportOwner, unreadable: list[str], path: Path
) -> Iterator[Placed]:
    """Yield the items with their parts and the names of their threads, and put down what cannot be read."""
    conversations = Conversations()
    for number, part in enumerate(parts):
        survey.meet(part.format, part.label)
        for name, record in part.records:
            if isinstance(record, Unreadable):
                unreadable.append(f"{name}:{record.line}: {record.reason}")
                continue
            try:
                check_ahead(record.at, survey.now)
            except InvalidInput as error:
                unreadable.append(f"{name}: {record.actor}: {shortened(record.text)}: {error}")
                continue
            origin, item = record.conversation or path.stem, record
            if is_channel(part.format, origin):
                origin, item = conversations.placed(origin, item)
            origin = session_thread(part.format, origin)
            survey.take(part.label, origin, item)
            item = owner.take(item)
            yield Placed(number, origin, item)


def _observations(nouns: "Iterator[Noun | Unreadable]", threads: set[UUID]) -> Iterator[UUID]:
    """Yield the ids of an export's observations, and put down those of its threads."""
    for noun in nouns:
        if isinstance(noun, Thread):
            threads.add(noun.id)
        elif isinstance(noun, Observation):
            yield noun.id


def _apart(nouns: "Iterator[Noun | Unreadable]", runs: list[Decision]) -> Iterator[Noun]:
    """Yield what belongs to threads; put aside what tuning, imports and people's names left."""
    for noun in nouns:
        if isinstance(noun, Decision) and noun.type in (TUNE, IMPORT, PERSON):
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
