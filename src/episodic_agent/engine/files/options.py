"""How a file is to be read, and what its reader has to say beside its messages."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Final

from episodic_agent.core.episodes.letters import Feet
from episodic_agent.core.ingest import LARGEST, Moment
from episodic_agent.core.language import plural
from episodic_agent.engine.files.dates import DateOrder
from episodic_agent.engine.files.speakers import UnnamedMessages

MOST_NAMES: Final = 5  # of files that were left out


@dataclass(slots=True)
class ReadingNotes:
    """What was left out, by kind in the singular ("notice"), and remarks on how the file was read.

    `files` names the files left out whole, by kind; `closed` says by name why archives in a bundle could not
    be opened. `unnamed` are the messages in which nobody is named as their speaker, by file;
    `named_by_key` counts those that the key of the options named one of.
    """

    left_out: Counter[str] = field(default_factory=Counter)
    remarks: Counter[str] = field(default_factory=Counter)
    files: dict[str, list[str]] = field(default_factory=dict)
    closed: dict[str, str] = field(default_factory=dict)
    unnamed: dict[str, UnnamedMessages] = field(default_factory=dict)
    named_by_key: int = 0

    def lines(self) -> list[str]:
        """Return the remarks, and what was left out in one line.

        >>> left = Counter({"notice": 2, "file without talk": 1})
        >>> ReadingNotes(left, files={"file without talk": ["notes.pdf"]}).lines()
        ['2 notices, 1 file without talk (notes.pdf) left out']
        """
        counts = ", ".join(
            f"{_counted(count, kind)}{_names(self.files.get(kind, ()))}"
            for kind, count in self.left_out.most_common()
        )
        remarks = [f"{text} ({count} files)" if count > 1 else text for text, count in self.remarks.items()]
        return [*remarks, *([f"{counts} left out"] if counts else [])]


def _names(files: Sequence[str]) -> str:
    """Return the names of files in brackets, of many the first and how many more there are."""
    more = [f"{len(files) - MOST_NAMES} more"] if len(files) > MOST_NAMES else []
    return f" ({', '.join([*files[:MOST_NAMES], *more])})" if files else ""


def _counted(count: int, kind: str) -> str:
    match = re.match(r"(.*?)( (?:of|without) .*)?$", kind)
    noun, rest = (match[1], match[2] or "") if match else (kind, "")
    return f"{plural(count, noun)}{rest}"


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """How to read: the file's encoding (for error messages), the zone of naive times, the default actor.

    `largest` is how many bytes a message may have. `dates` is the order of day, month and year in numeric
    dates (None: found from the file); `began` is when a meeting began whose captions only count from there.
    `speaker` is the key of a JSON message that says who spoke, where it is none of those that are known;
    `file` is the name of the file that is read. Readers put down in `notes` what they leave out.
    `mail_feet` are how the mails of each sender end, `mail_threads` the first messages of the threads of
    answers read before, which may be in other files.
    """

    encoding: str = "utf-8"
    timezone: tzinfo | None = None
    default_actor: str = "user"
    largest: int = LARGEST
    dates: DateOrder | None = None
    began: Moment | None = None
    speaker: str | None = None
    file: str = ""
    notes: ReadingNotes = field(default_factory=ReadingNotes)
    mail_threads: dict[str, str] = field(default_factory=dict)
    mail_feet: Feet = field(default_factory=Feet)

    def leave_out(self, kind: str, file: str = "") -> None:
        """Count something that is no message and is not reported as unreadable; a whole `file` by name."""
        self.notes.left_out[kind] += 1
        if file:
            self.notes.files.setdefault(kind, []).append(file)

    def note_unnamed(self, message: object) -> None:
        """Count a message in which nobody is named as its speaker."""
        self.notes.unnamed.setdefault(self.file, UnnamedMessages()).take(message)
