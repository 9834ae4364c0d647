"""What a path holds, a file, a folder or a zip: parts, each of one format, to be streamed."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from episodic_agent.core.ingest import IntakeLimits, Item
from episodic_agent.core.language import plural
from episodic_agent.engine.files.bundle import Bundle, BundledFile, is_bundle, open_bundle
from episodic_agent.engine.files.formats import signal, slack
from episodic_agent.engine.files.opening import Unreadable
from episodic_agent.engine.files.options import ReadingOptions
from episodic_agent.engine.files.read import ACCEPTED, Format, read_recognised, recognise
from episodic_agent.engine.files.speakers import UnknownSpeakers
from episodic_agent.errors import InvalidInput, TooLarge
from episodic_agent.schemas import TimeSource

_NAMED: Final = 3  # files an error names
_OURS: Final = (Format.JSON, Format.JSON_LINES)


@dataclass(frozen=True, slots=True)
class SourcePart:
    """Records of one format; each comes with the name of its file."""

    format: str
    label: str
    records: Iterable[tuple[str, Item | Unreadable]]


@contextmanager
def open_source(
    path: Path, reading: ReadingOptions, *, encoding: str | None, limits: IntakeLimits
) -> Iterator[Iterator[SourcePart]]:
    """Open a path as parts; raises InvalidInput where nothing of it is talk.

    Which formats are there is settled at once; the parts are read as they are walked through.
    """
    if not is_bundle(path):
        recognised = recognise(path, encoding=encoding, limits=limits, speaker=reading.speaker)
        records = ((path.name, record) for record in read_recognised(recognised, reading))
        yield iter([SourcePart(recognised.name, recognised.label, records)])
        return
    with open_bundle(path, limits) as bundle:
        yield iter(_parts(bundle, reading, encoding))


@dataclass(frozen=True, slots=True)
class _Known:
    """A file of a bundle and its format; of what it begins with nothing is held until it is read."""

    file: BundledFile
    format: Format
    name: str
    label: str
    of_account: bool


def _parts(bundle: Bundle, reading: ReadingOptions, encoding: str | None) -> list[SourcePart]:
    root = slack.root_of(bundle)
    rest = [file for file in bundle.files if root is None or not file.name.startswith(root)]
    files, refused = _recognised(rest, bundle, reading, encoding)
    exported = {known.file.folder for known in files if known.of_account}
    signals = {
        known.file.folder for known in files if known.name == "signal" and not signal.is_page(known.file.name)
    }
    parts = [] if root is None else [_workspace(bundle, root, reading)]
    for known in files:
        # beside an export's conversations lie its accounts, ratings and projects, which are no talk
        besides = known.format in _OURS and known.file.folder in exported
        if besides or known.format in (Format.EMPTY, Format.OWN):
            reading.leave_out("file without talk", known.file.name)
        elif signal.is_page(known.file.name) and known.file.folder in signals:
            reading.leave_out("duplicate of a chat", known.file.name)
        else:
            records = _records(known.file, bundle, reading, encoding)
            parts.append(SourcePart(known.name, known.label, records))
    if not parts:
        raise InvalidInput(_nothing(bundle, refused))
    for name in refused:
        reading.leave_out("file without talk", name)
    reading.notes.closed.update(bundle.closed)
    return parts


def _records(
    file: BundledFile, bundle: Bundle, reading: ReadingOptions, encoding: str | None
) -> Iterator[tuple[str, Item | Unreadable]]:
    recognised = recognise(file.file, encoding=encoding, limits=bundle.limits, speaker=reading.speaker)
    for record in read_recognised(recognised, reading):
        yield file.name, record


def _recognised(
    files: Iterable[BundledFile], bundle: Bundle, reading: ReadingOptions, encoding: str | None
) -> tuple[list[_Known], list[str]]:
    recognised: list[_Known] = []
    refused: list[str] = []
    unnamed: list[tuple[BundledFile, str]] = []
    for file in files:
        try:
            seen = recognise(file.file, encoding=encoding, limits=bundle.limits, speaker=reading.speaker)
        except TooLarge:
            raise
        except UnknownSpeakers as error:
            refused.append(file.name)
            unnamed.append((file, str(error).replace(str(file.file), file.name)))
        except InvalidInput:
            refused.append(file.name)
        else:
            of_account = seen.foreign is not None and seen.foreign.of_account
            recognised.append(_Known(file, seen.format, seen.name, seen.label, of_account))
    exported = {known.file.folder for known in recognised if known.of_account}
    for file, problem in unnamed:
        if file.folder not in exported:
            reading.notes.remarks[f"left out: {problem}"] += 1
    return recognised, refused


def _nothing(bundle: Bundle, refused: list[str]) -> str:
    what = "a folder" if bundle.path.is_dir() else "an archive"
    if bundle.closed:
        name, why = next(iter(bundle.closed.items()))
        return f"{bundle.path} is {what} in which no file is a chat; {name} {why}"
    if not bundle.files:
        return f"{bundle.path} is {what} without text files; accepted: {ACCEPTED}"
    names = ", ".join(refused[:_NAMED] or [file.name for file in bundle.files[:_NAMED]])
    return f"{bundle.path} is {what} in which no file is a chat (it holds {names}); accepted: {ACCEPTED}"


def _workspace(bundle: Bundle, root: str, reading: ReadingOptions) -> SourcePart:
    return SourcePart("slack", "Slack export", slack.read(bundle, root, reading))


_LISTED: Final = 20  # conversations that a dry run lists
_PEOPLE: Final = 4  # and names of each
_SLACK: Final = timedelta(days=1)  # by which zones and clocks differ


@dataclass(slots=True)
class MetFormat:
    """What was read in one format: its conversations by their names, and how many messages."""

    name: str
    conversations: set[str] = field(default_factory=set)
    messages: int = 0


@dataclass(slots=True)
class MetConversation:
    """One conversation: its title, when it was held, how many messages it has and whose."""

    title: str
    messages: int = 0
    first: datetime | None = None
    last: datetime | None = None
    people: dict[str, None] = field(default_factory=dict)

    def line(self) -> str:
        """Say it in one line.

        >>> MetConversation("Trip", 2, people={"Ana": None, "Bo": None}).line()
        'Trip: 2 messages by Ana, Bo'
        """
        when = ""
        if self.first is not None and self.last is not None:
            days = dict.fromkeys((f"{self.first:%Y-%m-%d}", f"{self.last:%Y-%m-%d}"))
            when = f", {' to '.join(days)},"
        names = list(self.people)
        more = f" and {len(names) - _PEOPLE} more" if len(names) > _PEOPLE else ""
        return f"{self.title}: {plural(self.messages, 'message')}{when} by {', '.join(names[:_PEOPLE])}{more}"


class Survey:
    """Counts what passes, `now`. `lists` keeps each conversation as well, for a dry run."""

    def __init__(self, *, now: datetime, lists: bool = False) -> None:
        self.now = now
        self.formats: dict[str, MetFormat] = {}
        self._ahead = 0
        self._latest = now
        self._lists = lists
        self._undated = self._placed = 0
        self._conversations: dict[str, MetConversation] = {}

    def meet(self, name: str, label: str) -> None:
        """Note that a format is there."""
        self.formats.setdefault(label, MetFormat(name))

    def take(self, label: str, origin: str, item: Item) -> None:
        """Count one message."""
        met = self.formats[label]
        met.conversations.add(origin)
        met.messages += 1
        if item.at_source is TimeSource.ASSUMED:
            self._undated += item.at is None
            self._placed += item.at is not None
        if item.at is not None and item.at - self.now > _SLACK:
            self._ahead += 1
            self._latest = max(self._latest, item.at)
        if not self._lists:
            return
        at = None if item.at_source is TimeSource.ASSUMED else item.at
        if at is not None:  # days are those of the place
            at += timedelta(seconds=item.utc_offset or 0)
        held = self._conversations.setdefault(origin, MetConversation(item.title or origin))
        held.messages += 1
        held.people[item.actor] = None
        if at is not None:
            held.first = at if held.first is None else min(held.first, at)
            held.last = at if held.last is None else max(held.last, at)

    @property
    def threads(self) -> int:
        """Return how many conversations there were."""
        return len(set().union(*(met.conversations for met in self.formats.values())))

    @property
    def names(self) -> str:
        """Return the formats' short names, with commas."""
        return ", ".join(dict.fromkeys(met.name for met in self.formats.values()))

    def lines(self) -> list[str]:
        """Say what was recognised, a line a format, then the conversations that were asked for."""
        lines = [
            f"{label}: {plural(len(met.conversations), 'conversation')}, {plural(met.messages, 'message')}"
            for label, met in self.formats.items()
        ]
        lines += [f"  {held.line()}" for held in list(self._conversations.values())[:_LISTED]]
        more = len(self._conversations) - _LISTED
        if more > 0:
            lines.append(f"  … and {plural(more, 'conversation')} more")
        if self._ahead:
            ahead = plural(self._ahead, "message")
            lines.append(f"{ahead} dated ahead of now, up to {self._latest:%Y-%m-%d}: kept so")
        if self._undated:
            lines.append(f"{plural(self._undated, 'message')} without a time: kept as if said now")
        if self._placed:
            lines.append(
                f"{plural(self._placed, 'message')} without a time: placed beside those next to them"
            )
        return lines
