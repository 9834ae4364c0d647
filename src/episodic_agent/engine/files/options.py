"""How a file is to be read, and what its reader has to say beside its messages."""

import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import tzinfo

from episodic_agent.core.episodes.letters import Feet
from episodic_agent.core.ingest import LARGEST, Moment
from episodic_agent.core.language import plural
from episodic_agent.engine.files.dates import DateOrder
from episodic_agent.engine.files.speakers.unnamed import UnnamedMessages


@dataclass(slots=True)
class ReadingNotes:
    """What was left out, by kind in the singular ("notice"), and remarks on how the file was read.

    `unnamed` are the messages in which nobody is named as their speaker, by file; `named_by_key` counts those
    that the key of the options named one of.
    """

    left_out: Counter[str] = field(default_factory=Counter)
    remarks: Counter[str] = field(default_factory=Counter)
    unnamed: dict[str, UnnamedMessages] = field(default_factory=dict)
    named_by_key: int = 0

    def lines(self) -> list[str]:
        """Return the remarks, and what was left out in one line.

        >>> ReadingNotes(Counter({"notice": 2, "file without talk": 2})).lines()
        ['2 notices, 2 files without talk left out']
        """
        counts = ", ".join(_counted(count, kind) for kind, count in self.left_out.most_common())
        remarks = [f"{text} ({count} files)" if count > 1 else text for text, count in self.remarks.items()]
        return [*remarks, *([f"{counts} left out"] if counts else [])]


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

    def leave_out(self, kind: str) -> None:
        """Count something that is no message and is not reported as unreadable."""
        self.notes.left_out[kind] += 1

    def note_unnamed(self, message: object) -> None:
        """Count a message in which nobody is named as its speaker."""
        self.notes.unnamed.setdefault(self.file, UnnamedMessages()).take(message)
