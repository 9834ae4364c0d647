r"""How values show themselves: a line in a Python prompt, a card in a notebook, no hidden signs in either.

What is stored was written by others. What acts unseen on a terminal, or on the order of a text, stands as an
escape (`visible`, in JSON `escaped`); in a page nothing of it is markup. Imports nothing of this package, so
that every noun can show itself by it.
"""

import dataclasses
import html
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from enum import Enum
from typing import Any, Final
from uuid import UUID

LONGEST: Final = 100  # characters of a text inside a line
ID: Final = 8  # characters of an id shown to people; commands accept the beginning of an id

# C0 but tab and line end, DEL, C1; bidirectional marks, overrides, isolates; line and paragraph separators;
# annotations; lone surrogates; tags. The flags of England, Scotland and Wales are written with tags.
_ACTING: Final = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f"
)
_ACTS: Final = re.compile(f"[{_ACTING}]")
_SHOWN: Final = re.compile(f"\U0001f3f4[\U000e0061-\U000e007a]{{2,6}}\U000e007f|\r\n|[{_ACTING}]")


def visible(text: str) -> str:
    r"""Return a text as it may be printed on a terminal: what acts unseen stands as a backslash escape.

    Line ends and tabs stay (CR LF becomes a line end); everything else that moves the cursor, writes to the
    clipboard or turns the order of what is read, is shown as Python writes it.

    >>> print(visible("\x1b]52;c;cm0=\x07 and \u202eso\r\n on"))
    \x1b]52;c;cm0=\x07 and \u202eso
     on
    """
    return _SHOWN.sub(_shown, text) if _ACTS.search(text) else text


def _shown(match: re.Match[str]) -> str:
    text = match[0]
    if text == "\r\n":
        return "\n"
    if len(text) > 1:
        return text  # a flag
    code = ord(text)
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def escaped(written: str) -> str:
    r"""Return JSON with what acts unseen written as \u escapes: it reads as the same value.

    >>> print(escaped('["\x7f\u202e tea"]'))
    ["\u007f\u202e tea"]
    """
    return _ACTS.sub(_as_json, written) if _ACTS.search(written) else written


def _as_json(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[n]:02x}{units[n + 1]:02x}" for n in range(0, len(units), 2))


def clipped(text: str, longest: int = LONGEST) -> str:
    """Return a text on one line of at most `longest` characters; a longer one ends in an ellipsis.

    >>> clipped("We are  moving\\nto Lisbon", 18)
    'We are moving to …'
    """
    line = " ".join(text.split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def described(value: object, *details: object) -> str:
    r"""Return the `repr` of a value: its class and what a person wants to see of it, in one line.

    Times are shown to the minute, numbers with two places, ids by their beginning; what is empty is left out.

    >>> described(KeyError(), datetime(2026, 3, 2, 9), "Lisbon\x07 flat", "", 0.5, None)
    '<KeyError 2026-03-02 09:00 · Lisbon\\x07 flat · 0.50>'
    """
    shown = " · ".join(_detail(one) for one in details if one is not None and one != "")
    return f"<{type(value).__name__} {shown}>" if shown else f"<{type(value).__name__}>"


def _detail(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}"
    if isinstance(value, UUID):
        return str(value)[:ID]
    if isinstance(value, date):
        return f"{value:%Y-%m-%d %H:%M}" if isinstance(value, datetime) else f"{value:%Y-%m-%d}"
    return visible(clipped(str(value)))


def plain(value: Any) -> Any:
    """Turn a value into JSON: dataclasses to objects, times to ISO 8601, spans to seconds, ids to strings."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, date):  # or a time, which is one too
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain(v) for v in value]
    return value


def as_card(title: str, beside: str = "", lines: Iterable[str] = (), *, inside: Iterable[str] = ()) -> str:
    r"""Return HTML for a notebook: a title, a remark beside it, lines below; `inside` are cards already.

    >>> as_card("<b>", "2 March", ["Bo: \u202eyes"])
    '<div><b>&lt;b&gt;</b> <small>2 March</small><p>Bo: \\u202eyes</p></div>'
    """
    small = f" <small>{_as_html(beside)}</small>" if beside else ""
    rows = "".join(f"<p>{_as_html(line)}</p>" for line in lines)
    return f"<div><b>{_as_html(title)}</b>{small}{rows}{''.join(inside)}</div>"


def _as_html(text: str) -> str:
    return html.escape(visible(text)).replace("\n", "<br>")
