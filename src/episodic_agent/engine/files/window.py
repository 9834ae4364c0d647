"""One JSON document seen through a window that moves forward: no more of it is held than one value.

`json` decodes whole texts only. So a value is tried on what is there, and where it may only have been cut off
by the window's end, it is tried again on twice as much; no text is thus read more than twice.
"""

import json
import re
from typing import Final

from episodic_agent.engine.files.opening import Opened, pieces

_SPACE: Final = re.compile(r"[\s,]*")
_DECODER: Final = json.JSONDecoder()
_CUT: Final = (
    16  # characters: where a word, a number or an escape is cut off, an error stands so near to the end
)
_MARGIN: Final = 4096  # characters kept before the position, for the beginning of its line


class TooLong(ValueError):
    """A value is longer than may be held."""


class TextWindow:
    """A text that is read forward; positions are counted in characters from its beginning."""

    def __init__(self, opened: Opened) -> None:
        self._pieces = pieces(opened)
        self._limits = opened.limits
        self._text = ""
        self._at = 0  # where the position is in the text that is held
        self._dropped = 0
        self._line, self._counted = 1, 0  # the line of a place before the position: none is counted twice
        self._ended = False

    @property
    def position(self) -> int:
        """Return how many characters lie before the position."""
        return self._dropped + self._at

    @property
    def line(self) -> int:
        """Return the line of the position, from 1."""
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    @property
    def ended(self) -> bool:
        """Tell whether nothing follows."""
        return self._at >= len(self._text) and not self._more()

    @property
    def indent(self) -> str | None:
        """Return what stands before the position on its line; None on the first line, or after words."""
        begin = self._text.rfind("\n", max(self._at - _MARGIN, 0), self._at)
        before = self._text[begin + 1 : self._at]
        return None if begin < 0 or before.strip() else before

    def peek(self, size: int) -> str:
        """Return up to so many characters from the position on."""
        while len(self._text) - self._at < size and self._more():
            pass
        return self._text[self._at : self._at + size]

    def move(self, size: int) -> None:
        """Move over characters that were seen."""
        self._at += size
        self._drop()

    def seek(self, position: int) -> None:
        """Move forward to a position."""
        while self._dropped + len(self._text) < position:
            self._at = len(self._text)
            self._drop()
            if not self._more():
                break
        self._at = position - self._dropped
        self._drop()

    def skip(self) -> None:
        """Move over white space and commas."""
        while True:
            match = _SPACE.match(self._text, self._at)
            self._at = self._at if match is None else match.end()
            self._drop()
            if self._at < len(self._text) or not self._more():
                return

    def value(self) -> tuple[object, str]:
        """Read one JSON value and return it with its text.

        Raises ValueError (JSONDecodeError; TooLong) or RecursionError, and then stays where it is.
        """
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if not _may_be_cut(error) or not self._widen():
                    raise
                continue
            if end < len(self._text) or not self._widen():  # a number may go on
                text = self._text[self._at : end]
                self._at = end
                self._drop()
                return value, text

    def key(self) -> str:
        """Read the key of an object's field and move to its value; raises as `value`."""
        key, _ = self.value()
        self.skip()
        if not isinstance(key, str) or self.peek(1) != ":":
            raise json.JSONDecodeError("Expecting a key and a colon", self.peek(400), 0)
        self.move(1)
        self.skip()
        return key

    def resume(self, indent: str) -> bool:
        """Move to the next object that begins a line of this indentation; False at the end."""
        begin = re.compile("\n" + re.escape(indent) + r"(?=\{)")
        return self.find(begin, len(indent) + 2) is not None

    def find(self, pattern: re.Pattern[str], overlap: int) -> re.Match[str] | None:
        """Move behind the next match and return it; None at the end. No match is longer than the overlap."""
        while True:
            match = pattern.search(self._text, self._at)
            if match is not None:
                self._at = match.end()
                return match
            self._at = max(self._at, len(self._text) - overlap)
            self._drop()
            if not self._more():
                return None

    def _widen(self) -> bool:
        """Read twice as much from the position on; False at the end, TooLong beyond the limit."""
        held = len(self._text) - self._at
        if held > self._limits.line:
            raise TooLong(self._limits.too_long)
        more: list[str] = []
        while sum(map(len, more)) <= held and (piece := next(self._pieces, "")):
            more.append(piece)
        self._text += "".join(more)
        return bool(more)

    def _more(self) -> bool:
        piece = next(self._pieces, "")
        self._text += piece
        return bool(piece)

    def _drop(self) -> None:
        if self._at < max(16 * _MARGIN, len(self._text) // 2):  # what is dropped costs copying what is not
            return
        _ = self.line  # counted while it is here
        near = max(self._at - _MARGIN, 0)
        begin = max(self._text.rfind("\n", near, self._at), near)
        self._text = self._text[begin:]
        self._at, self._counted = self._at - begin, self._at - begin
        self._dropped += begin


def _may_be_cut(error: json.JSONDecodeError) -> bool:
    return error.msg.startswith("Unterminated") or error.pos >= len(error.doc) - _CUT
