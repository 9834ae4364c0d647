"""Mail: mbox files (Thunderbird, Gmail's takeout), `.eml` messages, Maildir folders (a message a file).

Written from knowledge of the formats (mboxo, mboxrd, Maildir, `.emlx`), not tried on a mailbox. A thread is
what `References` and `In-Reply-To` join, called by its subject. Quoted replies and signatures are cut: what
was answered is a message of its own. Bounces, drafts, spam and what lies in the bin are left out. Where its
date cannot be read a mail is of when it was put into its mailbox, or received, else of the one before it.
"""

import codecs
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from email.message import Message
from email.parser import BytesParser
from email.utils import format_datetime, parseaddr, parsedate_to_datetime
from typing import BinaryIO, Final

from episodic_agent.core.episodes.letters import FOOT
from episodic_agent.core.ingest import Item
from episodic_agent.engine.files.formats.glimpse import Glimpse
from episodic_agent.engine.files.formats.speaking import Chat, Records, joined, note, speak, without_marks
from episodic_agent.engine.files.opening import DAMAGED, Opened, Unreadable, binary, excerpt
from episodic_agent.engine.files.options import ReadingNotes, ReadingOptions
from episodic_agent.engine.files.speakers import ADDRESS

_HEADERS: Final = frozenset(
    ("from", "to", "date", "subject", "message-id", "received", "return-path", "delivered-to", "mime-version")
)
_HEADER: Final = re.compile(r"([A-Za-z][\w-]*):(?=\s|$)")
_FROM_LINE: Final = re.compile(rb"From \S+.*\d{4}(?: [+-]\d{4})?\s*$")
_MAILDIR: Final = re.compile(r"(?:^|/)(?:cur|new)/(\d{9,10})\.[^/]+$")
_LARGEST: Final = 32_000_000  # bytes held of a message: what is beyond them is of an attachment
_UNWANTED: Final = frozenset(("Spam", "Trash", "Drafts"))  # labels of Gmail
_REPLY: Final = re.compile(
    r"\s*(?:(?:re|aw|antw|sv|vs|ref|rif|odp|fwd?|wg|tr|rv|enc|回复|答复|转发|回覆|轉寄)(?:\[\d+\])?\s*[:：]\s*)+",
    re.IGNORECASE,
)
_FORWARD: Final = re.compile(r"\s*(?:fwd?|wg|tr|rv|enc|转发|轉寄)\s*[:：]", re.IGNORECASE)
_VIA: Final = re.compile(r"['\"]?(.+?)['\"]? via .+")
_OF_LISTS: Final = ("List-Id", "List-Post", "X-Original-From")
_IDS: Final = re.compile(r"<[^<>\s]+>")
_ORIGINAL: Final = re.compile(
    r"\s*(?:-{3,}\s*(?:Original Message|Ursprüngliche Nachricht|Original-Nachricht|Message d'origine|"
    r"Mensaje original|Mensagem original|Messaggio originale|原始邮件|原始郵件)\s*-{3,}|_{20,})\s*",
    re.IGNORECASE,
)
_HEAD_FROM: Final = re.compile(r"\s*\*?(?:From|Von|De|Da|Van|发件人|寄件者)\s?\*?\s?[:：]\*?\s?\S")
_HEAD_SENT: Final = re.compile(
    r"\s*\*?(?:Sent|Gesendet|Datum|Date|Envoyé|Enviado|Enviada|Fecha|Inviato|Verzonden|To|An|À|Para|发送时间|寄件日期)"
    r"(?: (?:el|le|em))?\s?\*?\s?[:：]"
)
_PHONE: Final = re.compile(
    r"\s*(?:Sent from my \w+.*|Von meinem \w+ gesendet\.?|Envoyé de(?:puis)? mon \w+.*|"
    r"Enviado desde mi \w+.*|Enviado do meu \w+.*|Inviato da(?:l mio)? \w+.*|发自我的\s?\w+)\s*"
)
_UNSEEN: Final = re.compile(r"<(style|script|head|blockquote)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_QUOTE: Final = re.compile(r"<div[^>]*class=\"?(?:gmail_quote|moz-cite-prefix|yahoo_quoted).*", re.DOTALL)


def fits(seen: Glimpse) -> bool:
    """Tell mail by the line an mbox begins with, or by its headers."""
    lines = seen.text.lstrip("\ufeff").splitlines()[:40]
    if lines and lines[0].strip().isdigit():  # .emlx: how many bytes follow
        lines = lines[1:]
    if not lines or not (lines[0].startswith("From ") or _HEADER.match(lines[0])):
        return False
    names = {match[1].lower() for line in lines if (match := _HEADER.match(line))}
    return "from" in names and len(names & _HEADERS) >= 3


def read(opened: Opened, reading: ReadingOptions) -> Records:
    """Stream the messages of a file, one of them held at a time."""
    line = 1
    _learn_feet(opened, reading)
    try:
        with binary(opened.path, opened.limits) as stream:
            before: datetime | None = None
            for number, content, stamp in _messages(stream, _delivered(str(opened.path))):
                line = number
                for record in _message(BytesParser().parsebytes(content), reading, number, stamp, before):
                    yield record
                    before = before if isinstance(record, Unreadable) else record.at
    except DAMAGED as error:
        yield Unreadable(line, f"the file ends in this message: {error}")


def _learn_feet(opened: Opened, reading: ReadingOptions) -> None:
    """Read how the mails of each sender end, so that the first of them is read as the others are."""
    quiet = replace(reading, notes=ReadingNotes())
    with suppress(*DAMAGED), binary(opened.path, opened.limits) as stream:
        for _, content, _ in _messages(stream, ""):
            message = BytesParser().parsebytes(content)
            reading.mail_feet.learn(_sender(message)[1], _spoken_words(message, quiet))


def _spoken_words(message: Message, reading: ReadingOptions) -> str:
    forwarded = _FORWARD.match(_header(message, "Subject")) is not None
    return spoken(_text(message, reading), forwarded=forwarded)


def _messages(stream: BinaryIO, delivered: str) -> Iterator[tuple[int, bytes, str]]:
    """Yield each message of an mbox, or the one message there is, with its line and when it was put there."""
    first = stream.readline()
    if first.strip().isdigit():
        yield 2, stream.read(min(int(first), _LARGEST)), delivered
        return
    stamp = _stamp(first) or delivered
    lines: list[bytes] = [] if first.startswith(b"From ") else [first]
    many, begin, size, blank = not lines, 1, len(first), False
    for number, line in enumerate(stream, 2):
        if many and blank and _FROM_LINE.match(line):
            yield begin, b"".join(lines), stamp
            lines, begin, size, blank, stamp = [], number, 0, False, _stamp(line)
            continue
        blank = not line.strip()
        size += len(line)
        if size <= _LARGEST:
            lines.append(line[1:] if many and re.match(rb">+From ", line) else line)
    yield begin, b"".join(lines), stamp


def _stamp(line: bytes) -> str:
    """Return the time in the line that begins a message of an mbox, "" where there is none.

    >>> _stamp(b"From ana@example.org Sat Jan  3 01:05:34 2026")
    'Sat Jan 3 01:05:34 2026'
    """
    return " ".join(line.decode("latin-1").split()[2:]) if line.startswith(b"From ") else ""


def _delivered(path: str) -> str:
    """Return when a message of a Maildir was put there, which its name begins with."""
    match = _MAILDIR.search(path)
    return format_datetime(datetime.fromtimestamp(int(match[1]), UTC)) if match else ""


def _message(
    message: Message, reading: ReadingOptions, line: int, stamp: str, before: datetime | None
) -> Records:
    name, address = _sender(message)
    if not (name or address):
        yield Unreadable(line, "a mail without a sender", excerpt(_header(message, "Subject")))
        return
    labels = {label.strip() for label in _header(message, "X-Gmail-Labels").split(",")}
    if message.get_content_type() == "multipart/report" or labels & _UNWANTED:
        reading.leave_out("unwanted or automatic mail")
        return
    subject = _header(message, "Subject")
    identity = _first_id(_header(message, "Message-ID"))
    text = _spoken_words(message, reading)
    fields: dict[str, object] = {
        "speaker": name or address,
        "extras": {ADDRESS: address} if name and address else {},
        "content": joined(text, *_attached(message)),
        "timestamp": (at := _time(message, stamp)),
        "id": identity,
    }
    if (foot := reading.mail_feet.begin(address, text)) is not None:
        fields[FOOT] = foot
    root = _root(message, identity, reading)
    chat = Chat(f"mail-{root}" if root else None, _REPLY.sub("", subject, count=1).strip() or None, "email")
    if at is None and before is None:
        yield Unreadable(line, "a mail without a date that can be read, and none before it", excerpt(subject))
        return
    for record in speak(chat, fields, reading, line, also=(address,)):
        if at is None and isinstance(record, Item):
            yield replace(record, at=before)
        else:
            yield record


def _sender(message: Message) -> tuple[str, str]:
    """Return the name and the address of who wrote a mail, also where a list sends it in its own name."""
    name, address = parseaddr(_header(message, "From"))
    rewritten = _VIA.fullmatch(name)
    if rewritten is None or not any(_header(message, header) for header in _OF_LISTS):
        return name, address
    for header in ("X-Original-From", "Reply-To"):
        called, written = parseaddr(_header(message, header))
        if written and written.casefold() != address.casefold():
            return called or rewritten[1], written
    return rewritten[1], address


def _root(message: Message, identity: str | None, reading: ReadingOptions) -> str | None:
    """Return the id of the message that a thread began with; the message's own where it answers none."""
    references = _IDS.findall(_header(message, "References"))
    answered = _IDS.findall(_header(message, "In-Reply-To"))
    if not references and not answered:
        return identity
    before: str = (references or answered)[0]
    root = reading.mail_threads.get(before, before)
    if identity is not None:
        reading.mail_threads[identity] = root
    return root


def _first_id(text: str) -> str | None:
    return next(iter(_IDS.findall(text)), text.strip() or None)


def _header(message: Message, name: str) -> str:
    values = (str(value) for key, value in message.raw_items() if key.lower() == name.lower())
    return _header_text(next(values, ""))


def _header_text(raw: str) -> str:
    """Decode a header: encoded words, and UTF-8 as it stands, which the parser holds as surrogates."""
    text = _words(raw.encode("utf-8", "surrogateescape"))
    with suppress(LookupError, UnicodeError, HeaderParseError, ValueError):
        text = str(make_header(decode_header(text)))
    return " ".join(text.split())


def _words(content: bytes) -> str:
    """Read bytes that nobody says the encoding of: UTF-8, else what old programs of Windows wrote.

    >>> _words("Café".encode()), _words("Café".encode("latin-1"))
    ('Café', 'Café')
    """
    for encoding in ("utf-8", "cp1252"):
        with suppress(UnicodeError):
            return content.decode(encoding)
    return content.decode("latin-1")


def _time(message: Message, stamp: str) -> datetime | None:
    """Return when it was sent, else put into its mailbox or received; None where none can be read."""
    received = str(message.get("Received") or "").rpartition(";")[2]
    for text in (_header(message, "Date"), stamp, received):
        try:
            return parsedate_to_datetime(text.strip())
        except (ValueError, TypeError, IndexError):
            continue
    return None


def _text(message: Message, reading: ReadingOptions) -> str:
    """Return the words of a mail: its plain text, else its HTML without what it quotes."""
    plain = [_decoded(part, reading) for part in _parts(message) if part.get_content_type() == "text/plain"]
    if any(text.strip() for text in plain):
        return "\n".join(plain)
    pages = [_decoded(part, reading) for part in _parts(message) if part.get_content_type() == "text/html"]
    return "\n".join(_unmarked(page) for page in pages)


def _parts(message: Message) -> Iterator[Message]:
    for part in message.walk():
        if not part.is_multipart() and part.get_filename() is None:
            yield part


def _attached(message: Message) -> Iterator[str]:
    for part in message.walk():
        if part.get_filename() is not None and not part.is_multipart():
            yield note("file", _header_text(str(part.get_filename())))


def _decoded(part: Message, reading: ReadingOptions) -> str:
    payload = part.get_payload(decode=True)
    content = payload if isinstance(payload, bytes) else b""
    named = part.get_content_charset() or "us-ascii"
    with suppress(LookupError):
        if codecs.lookup(named).name not in ("ascii", "utf-8"):
            return content.decode(named, "replace")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        reading.notes.remarks["mail that is not in UTF-8 and names no encoding read as windows-1252"] = 1
        return _words(content)


def _unmarked(page: str) -> str:
    return without_marks(_QUOTE.sub("", _UNSEEN.sub("", page)))


def spoken(text: str, *, forwarded: bool = False) -> str:
    r"""Return what the sender wrote: without quoted lines, the older mail below, and the signature.

    A forwarded mail keeps what it forwards.

    >>> spoken("Yes, at eight.\n\nOn Mon, 4 Mar 2024, Bo wrote:\n> Dinner?\n> Bo\n\n-- \nAna Souza")
    'Yes, at eight.'
    """
    lines = text.replace("\r\n", "\n").replace("\xa0", " ").split("\n")
    written: list[str] = []
    for n, line in enumerate(lines):
        below = lines[n + 1 : n + 4]
        if line.rstrip() == "--" or _PHONE.fullmatch(line):
            break
        if not forwarded and (_ORIGINAL.fullmatch(line) or _is_head(line, below)):
            break
        if line.startswith(">"):
            _drop_attribution(written)
            continue
        written.append(line.rstrip())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(written)).strip()


def _is_head(line: str, below: list[str]) -> bool:
    """Tell the head of an older mail as Outlook writes it: who, then when or to whom."""
    return _HEAD_FROM.match(line) is not None and any(_HEAD_SENT.match(after) for after in below)


def _drop_attribution(written: list[str]) -> None:
    """Drop the one or two lines above a quotation that say whose it is; they end in a colon."""
    at = len(written)
    while at and not written[at - 1]:
        at -= 1
    if not at or not written[at - 1].endswith((":", "：")):
        return
    longer = at >= 2 and written[at - 2] and not re.search(r"\d", written[at - 1])
    if re.search(r"\d|@|[\"<]", " ".join(written[at - 2 : at] if longer else written[at - 1 : at])):
        del written[at - (2 if longer else 1) :]
