"""WhatsApp's "Export chat": a text file, alone or in a zip with its media, in the language of the phone.

Written after public descriptions of many regions' exports, not tried on one. iOS writes `[12.03.24,
09:15:22] Ana: text`, Android `12/03/24, 9:15 am - Ana: text`; date, clock and the words for morning and
afternoon follow the phone's region, digits its script. A message goes on over the lines that begin
otherwise. iOS marks what WhatsApp itself wrote with U+200E; Android's notices have no name, and what was
not exported stands in angle brackets. So notices and media are known without their words, but for what was
deleted or edited, and for calls that were missed.
"""

import re
import unicodedata
from dataclasses import dataclass, field
from datetime import datetime, time
from pathlib import PurePosixPath
from typing import Final

from episodic_agent.engine.files.dates import DateOrder, WrittenDate, date_order, written_date
from episodic_agent.engine.files.formats.glimpse import Glimpse
from episodic_agent.engine.files.formats.speaking import Chat, Records, joined, note, speak
from episodic_agent.engine.files.opening import MARK, Opened, Unreadable, excerpt, raw_lines, undecodable
from episodic_agent.engine.files.options import ReadingOptions

_SIGN: Final = "\u200e"  # iOS begins with it what WhatsApp itself wrote
_MARKS: Final = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_SPACES: Final = re.compile("[\u00a0\u2007\u2009\u202f]")
_LONGEST_HEAD: Final = 48  # characters of a date and a clock, in any region
_INVISIBLE: Final = "\u200e\u200f\ufeff"
_CLOCK: Final = re.compile(r"(\d{1,2})[:.h](\d{2})(?:[:.](\d{2}))?(?!\d)")
_MORNING: Final = frozenset(
    (
        "am",
        "a.m.",
        "vorm.",
        "上午",
        "凌晨",
        "早上",
        "清晨",
        "오전",
        "午前",
        "ص",
        "पूर्वाह्न",
        "sa",
        "öö",
        "de.",
        "π.μ.",
    )
)
_AFTERNOON: Final = frozenset(
    ("pm", "p.m.", "nachm.", "下午", "晚上", "中午", "오후", "午後", "م", "अपराह्न", "ch", "ös", "du.", "μ.μ.")
)
_FILLERS: Final = frozenset(
    ("", ",", "،", "à", "às", "um", "kl.", "klo", "at", "о", "в", "a", "alle", "las", "om")
)
_OF_IOS: Final = re.compile(r"\[[\d./-]+, \d{1,2}[:.]\d{2}[:.]\d{2}|\[[\d./-]+,? [^\d\]]")
_NAMED: Final = re.compile(r"([^:\n\"“”„«»]{1,60}?): ?(.*)", re.DOTALL)
_FILE_IOS: Final = re.compile(r"<[^<>:]{3,30}: ([^<>]+\.\w{2,5})>")
_FILE_ANDROID: Final = re.compile(r"(\S[^\n]*\.\w{2,5}) \([^()\n]{4,40}\)")
_OMITTED_ANDROID: Final = re.compile(r"<[^<>:\n]{4,40}>")
_OMITTED: Final = (
    "omitted", "weggelassen", "omitida", "omitido", "omitidas", "omis", "omise", "absente", "absent",
    "ocultada", "oculto", "omesso", "omessa", "weggelaten", "pominięto", "忽略", "略過", "省略", "생략",
    "опущен", "dahil edilmedi",
)  # fmt: skip
_EDITED: Final = re.compile(
    r"\s*\u200e?<(?:This message was edited|Diese Nachricht wurde bearbeitet\.?|Se editó este mensaje\.?|"
    r"Ce message a été modifié|Mensagem editada|"
    r"Questo messaggio è stato modificato|此消息已编辑|此訊息已編輯)>\s*$"
)
_DELETED: Final = re.compile(
    r"(?:This message was deleted|You deleted this message|Diese Nachricht wurde gelöscht|"
    r"Du hast diese Nachricht gelöscht|Se eliminó este mensaje|Eliminaste este mensaje|"
    r"Este mensaje fue eliminado|Dit bericht is verwijderd|"
    r"Ce message a été supprimé|Vous avez supprimé ce message|Mensagem apagada|Esta mensagem foi apagada|"
    r"Questo messaggio è stato eliminato|此消息已删除|此消息已刪除|你删除了此消息|null)\.?"
)
_MISSED: Final = re.compile(
    r"(?:Missed (?:group )?(?:voice|video) call|Verpasster? (?:Gruppen-?)?(?:Sprach|Video)anruf|"
    r"(?:Llamada|Videollamada)(?: de voz)?(?: grupal)? perdida|Appel (?:vocal|vidéo)(?: de groupe)? manqué|"
    r"(?:Chiamata vocale|Videochiamata)(?: di gruppo)? persa|Chamada de (?:voz|vídeo)(?: em grupo)? perdida|"
    r"Gemiste (?:spraak|video)?oproep|未接(?:语音|語音|视频|視訊)通[话話]|(?:音声|ビデオ)通話に応答なし)"
    r"[.,]?(?: (?:Tap|Tippe|Toca|Appuyez|Tocca|Toque) .{0,40})?"
)
_ENCRYPTED: Final = re.compile(
    r"end-to-end|Ende-zu-Ende|extremo a extremo|de bout en bout|ponta a ponta|端到端|端對端", re.IGNORECASE
)
_TITLE: Final = re.compile(
    r"(?:WhatsApp[ -]Chat(?: with| mit| -)|Chat(?: de)? WhatsApp con|Discussion WhatsApp avec|"
    r"Conversa do WhatsApp com|Chat WhatsApp con|WhatsApp Chat -)\s+([^/]+?)(?:\.txt|\.zip|/|$)",
    re.IGNORECASE,
)
_TITLE_ZH: Final = re.compile(r"[与與]\s*([^/]+?)\s*的\s*WhatsApp")


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a message: its date and clock as written, who speaks (None: WhatsApp), the first words."""

    date: WrittenDate
    clock: time
    name: str | None
    text: str


@dataclass(slots=True)
class _Collected:
    line: int
    head: Head
    more: list[str] = field(default_factory=list)
    length: int = 0
    damaged: bool = False


def fits(seen: Glimpse) -> bool:
    """Tell an export by its first lines: Android's own form, or iOS's with a sign that it is WhatsApp's."""
    lines = [line for line in seen.text.splitlines() if line.strip()][:30]
    if not lines or head_of(lines[0]) is None:
        return False
    first = _plain(lines[0])
    if not first.startswith("["):  # an ISO date without a comma may be any log's
        iso = re.match(r"\d{4}-[\d-]+ ", first) is not None
        return not iso or "whatsapp" in seen.name.lower() or any(map(_is_whatsapps, lines))
    base = PurePosixPath(seen.name).name
    marked = any(_SIGN in line for line in lines) or base == "_chat.txt" or "whatsapp" in seen.name.lower()
    return marked or _OF_IOS.match(lines[0]) is not None


def _is_whatsapps(line: str) -> bool:
    """Tell what only WhatsApp writes: its notice of encryption, or what stands for a file."""
    head = head_of(line)
    if head is None or head.name is None:
        return head is not None and _ENCRYPTED.search(head.text) is not None
    return _OMITTED_ANDROID.fullmatch(head.text) is not None or _FILE_ANDROID.fullmatch(head.text) is not None


def read(opened: Opened, reading: ReadingOptions) -> Records:
    """Stream a chat's messages; the order of day and month is found from the whole file first."""
    order = _order(opened, reading)
    chat = Chat(None, title_of(str(opened.path)), "whatsapp")
    collected: _Collected | None = None
    stray = False
    for number, line in raw_lines(opened):
        if isinstance(line, Unreadable):
            yield line
            continue
        head = head_of(line)
        if head is not None:
            if collected is not None:
                yield from _message(chat, collected, order, reading, opened)
            collected = _Collected(number, head, damaged=MARK in line)
        elif collected is not None:
            collected.length += len(line) + 1
            collected.damaged |= MARK in line
            if collected.length <= 2 * opened.limits.message:  # else the message is refused by its size
                collected.more.append(line)
        elif line.strip() and not stray:
            stray = True
            yield Unreadable(number, "this line comes before the first message", excerpt(line))
    if collected is not None:
        yield from _message(chat, collected, order, reading, opened)


def title_of(path: str) -> str | None:
    """Return the chat's name from what WhatsApp calls the file or the zip.

    >>> title_of("/in/WhatsApp Chat with Ana Souza.txt"), title_of("/in/WhatsApp Chat - Lauf.zip/_chat.txt")
    ('Ana Souza', 'Lauf')
    """
    match = _TITLE.search(path) or _TITLE_ZH.search(path)
    return match[1].strip() if match else None


def head_of(line: str) -> Head | None:
    """Read a line as the head of a message; None where it goes on with the one above.

    >>> head_of("12/03/24, 9:15 pm - Ana: Tea?").clock
    datetime.time(21, 15)
    >>> head_of("[2024/3/12 下午9:15:22] 小明: 喝茶吗").name
    '小明'
    >>> head_of("12 - what a number: it is") is None
    True
    """
    bare = line.lstrip(_INVISIBLE)
    closing = "]" if bare.startswith("[") else " - "
    end = bare.find(closing, 0, 2 * _LONGEST_HEAD)
    if end < 0 or not (closing == "]" or bare[:1].isdigit()):
        return None
    stamp = _stamp(_plain(bare[:end].removeprefix("[")))
    if stamp is None:
        return None
    rest = bare[end + len(closing) :].removeprefix(" ")
    named = _NAMED.match(rest)
    if named is None:
        return Head(*stamp, None, rest)
    name = _MARKS.sub("", _SPACES.sub(" ", named[1])).removeprefix("~").strip()
    return Head(*stamp, name or None, named[2])


def _plain(text: str) -> str:
    """Return a text with plain spaces and digits and without invisible marks."""
    text = _SPACES.sub(" ", _MARKS.sub("", text))
    return "".join(str(unicodedata.digit(c)) if not c.isascii() and c.isdecimal() else c for c in text)


def _stamp(text: str) -> tuple[WrittenDate, time] | None:
    dated = written_date(text)
    if dated is None or dated[1].strip():
        return None
    clock = _CLOCK.search(dated[2])
    if clock is None:
        return None
    hour, minute, second = int(clock[1]), int(clock[2]), int(clock[3] or 0)
    words = f"{dated[2][: clock.start()]} {dated[2][clock.end() :]}".lower().replace("a. m.", "am")
    words = words.replace("p. m.", "pm").replace("a.m.", "am").replace("p.m.", "pm")
    for word in re.split(r"[\s,،]+", words):
        bare = word.strip("[]()")
        if bare in _MORNING or bare in _AFTERNOON:
            hour = hour % 12 + (12 if bare in _AFTERNOON else 0)
        elif bare not in _FILLERS and bare != ".":
            return None
    try:
        return dated[0], time(hour, minute, second)
    except ValueError:
        return None


def _order(opened: Opened, reading: ReadingOptions) -> DateOrder:
    if reading.dates is not None:
        return reading.dates
    heads = (head_of(line) for _, line in raw_lines(opened) if isinstance(line, str))
    chosen = date_order(head.date for head in heads if head is not None)
    if chosen is None:
        return DateOrder.YMD
    reading.notes.remarks[chosen.remark] += 1
    return chosen.order


def _message(
    chat: Chat, collected: _Collected, order: DateOrder, reading: ReadingOptions, opened: Opened
) -> Records:
    head = collected.head
    raw = "\n".join([head.text, *collected.more])
    shown = excerpt(_MARKS.sub("", f"{head.name or ''}: {raw}"))
    if collected.damaged:
        yield Unreadable(collected.line, undecodable(opened.encoding), shown)
        return
    text = None if head.name is None else _words(raw)
    if text is None:
        reading.leave_out("notice")
        return
    day = head.date.read(order)
    if day is None:
        written = head.date.separator.join(head.date.numbers)
        reason = f"{written} is no date as {order.words}; if it is written otherwise, pass --dates"
        yield Unreadable(collected.line, reason, shown)
        return
    at = datetime.combine(day, head.clock)  # without a zone: `speak` places it in that of the options
    fields = {"speaker": head.name, "content": text, "timestamp": at}
    yield from speak(chat, fields, reading, collected.line)


def _words(raw: str) -> str | None:
    """Return what was said, with notes for what was attached; None where WhatsApp itself speaks.

    >>> _words("<Media omitted>"), _words("IMG-1.jpg (file attached)\\nThe sea"), _words("tea")
    ('[media]', '[file: IMG-1.jpg]\\nThe sea', 'tea')
    >>> _words("Verpasster Sprachanruf"), _words("Missed voice call, sorry")
    (None, 'Missed voice call, sorry')
    >>> _words("\u200eAna changed the group's picture") is None
    True
    """
    text = _EDITED.sub("", raw)
    signed = text.startswith(_SIGN)
    first, _, rest = _MARKS.sub("", text).strip().partition("\n")
    if _DELETED.fullmatch(first.strip()) or (not rest and _MISSED.fullmatch(first.strip())):
        return None
    file = _FILE_IOS.search(first) or _FILE_ANDROID.fullmatch(first)
    if file is not None and (signed or _SIGN in text or _FILE_ANDROID.fullmatch(first)):
        before = first[: file.start()].strip()
        return joined(before, note("file", file[1]), rest)
    if _OMITTED_ANDROID.fullmatch(first) and not rest:
        return note("media")
    if _SIGN in text and any(word in first.lower() for word in _OMITTED):
        caption = "" if signed else _MARKS.sub("", text.partition(_SIGN)[0]).strip()
        return joined(caption, note("media"), rest)
    if signed and not rest and "http" not in first:
        return None
    return joined(first, rest)
