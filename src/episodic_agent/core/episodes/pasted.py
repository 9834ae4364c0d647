"""Lines that a machine wrote and somebody pasted, or that only instruct a machine: no title, no summary.

Logs, traces, data, listings, heads and feet of letters and notices are told by their form, notices and
instructions also by formulae that stand the same everywhere (`data/language/notices.toml`).
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Final

from episodic_agent.core.episodes.languages import UNSPACED, is_function_word
from episodic_agent.core.language import script
from episodic_agent.data import phrase_set, phrases

# What a machine begins a line with: a moment, a place in a program, a prompt of a shell, a sign of a patch.
_BEGINS: Final = re.compile(
    r"\s*(?:[\[(]?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|[\[(]?\d\d:\d\d:\d\d\b|Traceback \(|File \"|at [\w.$<>]+\(|"
    r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Warning)\b(?=:|\s*\(|\s*$)|\$ [a-z./~]|> \S|"
    r"\w+: (?:error|fatal|warning):|diff --git |(?:---|\+\+\+) [ab]/|@@ .*@@|#\d+ +(?:[/{]|$)|"
    r"(?:PS )?[A-Z]:\\\S*>|[VDIWEF]/[\w.]+:|"
    r"[A-Z_][A-Z0-9_]{2,}=\S*\s*$|(?:[A-Z]\w*\s)?[Ff]atal error:|panic: |thread '[^']*' panicked|"
    r"BUILD (?:FAILED|SUCCESSFUL)|[A-Za-z_][\w.]*\([\w.,()\s\"'=]*\)\s*$|"
    r"\[?(?:ERROR|WARN|WARNING|INFO|DEBUG|FATAL|TRACE|FAILED)(?:\]|\s+\S+::|\s+\[|:[\w.]+:)|"
    r"\[[^\[\]]{1,80}\]\s*$)"
)
# What stands in no line that a person writes: a moment to the second behind a date, a level behind a mark, a
# key in quotation marks, dotted leaders, what a runner of tests frames.
_HOLDS: Final = re.compile(
    r"\d[:./\s]\d\d:\d\d:\d\d\b|[|\])\d] (?:\[?(?:ERROR|WARN|WARNING|INFO|DEBUG|FATAL|TRACE)\b)|\bERR!|"
    r"\"[\w-]+\":\s?[\w\"{\[-]|(?:\s\.){4}|(?:={4,}|-{4,}).*(?:={4,}|-{4,})"
)
# What a person writes only in a sentence: a place in a file, an address of the net, values of names.
_HINTS: Final = re.compile(
    r"\w\.[A-Za-z]{1,5}:\d|\.\w{1,5} on line \d|\w::\w+\(|\w=\S+\s+\w+=\S|\(\d{1,3}(?:\.\d{1,3}){3}\)|"
    r"\bexit(?:ed)?(?: with)? (?:code|status) \d"
)
_VALUES: Final = re.compile(r"(?:\w=\S+\s+\w+){2}=\S")  # three names with a value
_MOST: Final = 240  # characters in which a line shows what it is
_FIELD: Final = re.compile(r"([\w-]{1,30})(?::(?:\s|$)|：)")
_SETTING: Final = re.compile(r"\s*(?:[\w.-]{1,40}\s*=\s*\S|\[[\w .-]{1,40}\]\s*$)")
_FRAME: Final = re.compile(r"\s+at \S+[.(]\S")
_FIELDS: Final = 3  # lines of one word and a value that are no talk
_ADDRESS: Final = re.compile(r"[\w.+-]@[\w-]+\.\w")
_COLUMNS: Final = re.compile(r"[^\s.!?,;:] {2,}(?=\S)")
_CELLS: Final = 0.25  # gaps of two spaces for each word, from which they are columns
_SEPARATORS: Final = (";", "\t", "|", ",")
_TAGGED: Final = re.compile(r"\s*</?[\w:-]+(?:\s[^<>]*)?>")
_WRAPPED: Final = re.compile(r"<([a-z]+(?:[-_][a-z]+)+)(?:\s[^<>]*)?>.*?</\1>", re.DOTALL)
_READ: Final = 8_000  # characters of a message in which its tags are looked for
_LISTED: Final = re.compile(r"\s*(?:#+|[-*+•]|\d{1,2}[.)])\s")
_CODED: Final = re.compile(r"\w[/\\_=<>{}]\w|\w\.[a-z]\w|::|[`@{}<>$]|[a-z][A-Z]")
# What any of these hold: it spares most lines the rest.
_SIGNS: Final = re.compile(r"[=/\\{}<>|`_$\[\]\"#:]| {3}|---|\.[a-z]|[a-z][A-Z(]|[A-Z]{3}|exit")
_CODE: Final = re.compile(r"(?<!\d)\d{4,8}(?!\d)|(?<!\d)\d{3}[ -]\d{3}(?!\d)")
_ENDS: Final = ".,;:!?…()\"'“”„«»"
_ASKS: Final = ("?", "？", "؟")
_SHARE: Final = 0.5  # of the words of a line that are no words
_SPOKEN: Final = 0.2  # share of function words from which a line is somebody's sentence
_FEWEST: Final = 2


def pasted(lines: Sequence[str], language: str) -> list[bool]:
    """Tell of each line of a message whether a machine wrote it, or it is quoted, or the foot of a letter.

    `language` is the one its people speak, "" where it is not known.

    >>> pasted(["the shop is slow", "Mar  2 07:12:44 web-01 nginx[811]: upstream timed out"], "en")
    [False, True]
    """
    marked = [_by_a_machine(line, language) for line in lines]
    if len(lines) > 1:
        forms = (_fields(lines), _rows(lines), _patch(lines), _quotations(lines), _foot(lines))
        marked = list(map(any, zip(marked, *forms, strict=True)))
        _go_on(marked, lines, language)
    return marked


def unwrapped(text: str) -> str:
    """Return a message without what an agent's program put into it between tags; "" where that is all.

    >>> unwrapped("<system-reminder>Be brief.</system-reminder> Fix the test")
    ' Fix the test'
    """
    if "</" not in text:
        return text
    rest = _WRAPPED.sub("", text[:_READ])
    return rest if rest.strip() else ""


def instructs(sentences: Sequence[str]) -> int:
    """Return how many of a message's sentences only tell an assistant what to be and how to answer.

    Whoever begins with a part for it ("You are an experienced career coach.") says the matter last, or asks.

    >>> instructs(["You are a patient cook.", "Never use numbers.", "How long do chickpeas soak?"])
    2
    """
    if len(sentences) < _FEWEST or not sentences[0].casefold().startswith(phrases("language/notices.parts")):
        return 0
    return len(sentences) - 1


def _by_a_machine(line: str, language: str) -> bool:
    if _is_notice(line):
        return True
    if not _SIGNS.search(line):
        return False
    if line.lstrip("#").startswith(" ") and line.startswith("#"):
        return False  # a heading
    return bool(_BEGINS.match(line) or _holds_a_sign(line, language) or _is_coded(line, language))


def _go_on(marked: list[bool], lines: Sequence[str], language: str) -> None:
    """Mark what is indented under a marked line, and what stands between two and is no sentence."""
    last = max((n for n, mark in enumerate(marked) if mark), default=0)
    inside = False
    for n, line in enumerate(lines):
        if not line.strip():
            continue
        if inside and not marked[n] and not _LISTED.match(line):
            marked[n] = line[0].isspace() or (n < last and not _is_spoken(line, language))
        inside = marked[n]


def _is_spoken(line: str, language: str) -> bool:
    """Tell whether a line has the small words of a sentence; without spaces every line may be one."""
    if script(line) in UNSPACED:
        return True
    return _function_words(line, language) >= _SPOKEN * len(line.split())


def _is_notice(line: str) -> bool:
    folded = line.casefold()
    if folded.rstrip().endswith(_ASKS):
        return False  # who asks about a notice speaks
    begun, unspaced = _formulae()
    if not folded.isascii() and any(formula in folded for formula in unspaced):
        return True
    for word in folded.split():
        if word in begun and any(formula in folded for formula in begun[word]):
            return True
    return _CODE.search(line) is not None and any(
        name in folded for name in phrases("language/notices.codes")
    )


@cache
def _formulae() -> tuple[Mapping[str, Sequence[str]], Sequence[str]]:
    """Return the formulae by their first word, which spares most lines a look at them, and those without."""
    begun: dict[str, list[str]] = {}
    unspaced: list[str] = []
    for formula in phrases("language/notices.formulae"):
        if script(formula) in UNSPACED:
            unspaced.append(formula)
        else:
            begun.setdefault(formula.split()[0], []).append(formula)
    return begun, unspaced


def _holds_a_sign(line: str, language: str) -> bool:
    """Tell whether a line has what no person writes, and nobody's words stand before it."""
    sign = _HOLDS.search(line, 0, _MOST)
    if sign is None:
        sign = _HINTS.search(line, 0, _MOST)
        if sign is None or _is_spoken(line, language):
            return False
        if _VALUES.search(line, 0, _MOST):
            return True
    before = line[: sign.start()]
    return script(before) not in UNSPACED and not _function_words(before, language)


def _is_coded(line: str, language: str) -> bool:
    """Tell whether a line is of names, paths and numbers or set in columns, and no sentence of a language."""
    if "   " not in line and not _CODED.search(line):
        return False
    pieces = line.split()
    coded = sum(_CODED.search(piece) is not None for piece in pieces)
    gaps = len(_COLUMNS.findall(line))
    if "   " not in line or gaps < _CELLS * len(pieces):
        gaps = 0
    if (coded < _FEWEST or coded < _SHARE * len(pieces)) and gaps < _FEWEST:
        return False
    return not _is_spoken(line, language)


def _function_words(text: str, language: str) -> int:
    bare = [piece.strip(_ENDS) for piece in text.split()]
    return sum(is_function_word(word, "en") or is_function_word(word, language) for word in bare if word)


def _fields(lines: Sequence[str]) -> list[bool]:
    """Mark the head of a letter and nested settings: neighbours that give one name each a value.

    A week's meals have that form too: an address, a name that only opens others, or two that stand in such
    heads must be among them.
    """
    fields = [_FIELD.match(line.strip()) for line in lines]
    marked = _runs([field is not None for field in fields], _FIELDS)
    nested = [
        line.rstrip().endswith(":") and _indent(after) > _indent(line)
        for line, after in zip(lines, [*lines[1:], ""], strict=True)
    ]
    known = any(
        mark and (deep or _ADDRESS.search(line))
        for mark, deep, line in zip(marked, nested, lines, strict=True)
    )
    known = known or _heads([field[1].casefold() for field in fields if field])
    settings = _runs([_SETTING.match(line) is not None for line in lines], _FIELDS)
    return [(known and mark) or setting for mark, setting in zip(marked, settings, strict=True)]


def _heads(names: Sequence[str]) -> bool:
    """Tell whether a letter's head is among these names; a journey has a from, a to and a date as well."""
    named = sum(name in phrase_set("language/notices.heads") for name in names)
    return (
        bool(named) and named + sum(name in phrase_set("language/notices.ends") for name in names) >= _FEWEST
    )


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _rows(lines: Sequence[str]) -> list[bool]:
    """Mark neighbours that are divided alike by a sign without a space behind it, or tagged."""
    marked = _runs([_TAGGED.match(line) is not None for line in lines], _FEWEST)
    for sign in _SEPARATORS:
        counts = [line.count(sign) if f"{sign} " not in line else 0 for line in lines]
        for n, (count, after) in enumerate(pairwise(counts)):
            if count == after >= _FEWEST and any(map(str.isdigit, lines[n] + lines[n + 1])):
                marked[n] = marked[n + 1] = True
    return marked


def _patch(lines: Sequence[str]) -> list[bool]:
    """Mark what follows the head of a patch, as far as it is one, and what stands above a trace's frames."""
    marked, inside = [False] * len(lines), False
    for n, line in enumerate(lines):
        if n and not marked[n - 1] and _FRAME.match(line):
            marked[n - 1] = True
        inside = line.startswith(("diff --git ", "@@ ")) or (inside and line[:1] in ("+", "-", " "))
        marked[n] = inside
    return marked


def _quotations(lines: Sequence[str]) -> list[bool]:
    """Mark quoted lines and what says whose they are, where anything else stands beside them."""
    quoted = [line.startswith(">") for line in lines]
    if not any(quoted):
        return quoted
    heads = [
        after and line.rstrip().endswith((":", "："))
        for line, after in zip(lines, [*quoted[1:], False], strict=True)
    ]
    return [quote or head for quote, head in zip(quoted, heads, strict=True)]


def _foot(lines: Sequence[str]) -> list[bool]:
    """Mark what stands behind the line that sets a signature off."""
    start = next((n for n, line in enumerate(lines) if n and line.strip() == "--"), len(lines))
    return [n >= start for n in range(len(lines))]


def _runs(marks: Sequence[bool], least: int) -> list[bool]:
    """Keep the marks that stand in runs of so many at least."""
    marked, start = [False] * len(marks), 0
    for n in range(len(marks) + 1):
        if n == len(marks) or not marks[n]:
            if n - start >= least:
                marked[start:n] = [True] * (n - start)
            start = n + 1
    return marked
