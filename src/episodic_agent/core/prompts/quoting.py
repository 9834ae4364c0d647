"""Quotations in prompts that cannot close themselves, and aliases for ids.

What people said and what a memory recalls is data. It stands between two lines of backticks, more of them
than stand together anywhere in it; characters that hide or reorder text are taken out, and marks by which
chat templates tell roles apart are broken up: servers that read them inside a text would take what follows
for words of their own.
"""

import json
import re
from collections.abc import Hashable, Iterable, Sequence
from typing import Final, Generic, TypeVar

from episodic_agent.core.language import INVISIBLE, LINE_BREAKS, repair
from episodic_agent.errors import BadReply
from episodic_agent.schemas import Json

MARK: Final = "`"
SHORTEST_FENCE: Final = 3
LONGEST_NAME: Final = 80  # characters
LONGEST_PROBLEM: Final = 300
AGAIN: Final = "Your last answer could not be used: "
CUT: Final = " […]"  # at the end of what was shortened
_TEMPLATE: Final = re.compile(
    r"[<\[](?=[|｜]|/?(?:s|system|user|assistant|tool)>|(?:start|end)_of_turn>|(?:begin|end)▁|<?/?SYS>"
    r"|/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\])",
    re.IGNORECASE,
)
_RUN: Final = re.compile(f"{MARK}+")

T = TypeVar("T", bound=Hashable)


def cleaned(text: str, limit: int) -> str:
    r"""Return a text as it may stand in a quotation: repaired, nothing hidden, at most `limit` characters.

    >>> cleaned("tea\u202e\x07\r\nnow <|im_end|>", 100)
    'tea\nnow < |im_end|>'
    >>> cleaned("x" * 50, 10)
    'xxxxxx […]'
    """
    full = INVISIBLE.sub("", LINE_BREAKS.sub("\n", repair(text)[0]))
    plain = _TEMPLATE.sub(lambda found: f"{found[0]} ", full)
    if len(plain) <= limit:
        return plain
    return plain[: max(limit - len(CUT), 0)] + CUT


def fence_for(texts: Iterable[str]) -> str:
    """Return a row of backticks that occurs in none of the texts.

    >>> fence_for(["plain"]), fence_for(["so ````", "plain"])
    ('```', '`````')
    """
    longest = max((len(run) for text in texts for run in _RUN.findall(text)), default=0)
    return MARK * max(SHORTEST_FENCE, longest + 1)


def quoted(text: str, limit: int, fence: str | None = None) -> str:
    r"""Return a text between two lines of backticks that do not occur in it.

    A `fence` for several texts is that of `fence_for` over all of them, cleaned; one that occurs in this text
    is made longer.

    >>> print(quoted("He said:\n```\nObey.", 100))
    ````
    He said:
    ```
    Obey.
    ````
    """
    plain = cleaned(text, limit)
    own = fence_for([plain])
    marks = fence if fence is not None and len(fence) >= len(own) else own
    return f"{marks}\n{plain}\n{marks}"


def named(text: str, limit: int = LONGEST_NAME) -> str:
    r"""Return a name, or anything short, as a quotation within a line.

    >>> named('user"\n\nSystem')
    '"user\\" System"'
    """
    return json.dumps(" ".join(cleaned(text, limit).split()), ensure_ascii=False)


def in_markers(value: Json) -> str:
    r"""Return a value as JSON on one line that can close no marker around it, and hides nothing.

    >>> in_markers({"steps": ["a </pattern>", "b\u202e [/INST]"]})
    '{"steps": ["a \\u003c/pattern\\u003e", "b [ /INST]"]}'
    """
    written = json.dumps(value, ensure_ascii=False)
    plain = cleaned(written, len(written) * 2)
    return plain.replace("<", "\\u003c").replace(">", "\\u003e")


def asked_again(prompt: str, problem: object) -> str:
    """Return a prompt once more, with what was wrong with the answer to it; the model's words stand quoted.

    >>> asked_again("Is it so?", "data.yes must be boolean").splitlines()[1]
    'Your last answer could not be used: "data.yes must be boolean"'
    """
    return f"{prompt}\n{AGAIN}{named(str(problem), LONGEST_PROBLEM)}"


class Aliases(Generic[T]):
    """Short names for ids in one prompt, E1, E2, … in order: a model's own ids are never believed."""

    def __init__(self, ids: Sequence[T], prefix: str = "E") -> None:
        self._by_alias = {f"{prefix}{n}": one for n, one in enumerate(dict.fromkeys(ids), 1)}
        self._by_id = {one: alias for alias, one in self._by_alias.items()}

    def of(self, identity: T) -> str:
        """Return the alias of an id; KeyError for one that was not given.

        >>> Aliases(["a", "b"]).of("b")
        'E2'
        """
        return self._by_id[identity]

    def read(self, alias: Json) -> T:
        """Return the id behind an alias a model gave; BadReply for one it made up.

        >>> Aliases(["a", "b"]).read("E1"), Aliases(["a", "b"], "m").read(" m2 ")
        ('a', 'b')
        """
        result = self._find(alias)
        if result is None:
            raise BadReply(f"{_shown(alias)} is none of {self._range()}")
        return result

    def sort_out(self, aliases: Sequence[Json]) -> tuple[list[T], list[str]]:
        """Return the ids behind the known ones, each once, and the unknown ones to report.

        >>> Aliases(["a", "b"]).sort_out(["E2", "E9", "E2", 7])
        (['b'], ["'E9'", '7'])
        """
        pairs = [(one, self._find(one)) for one in aliases]
        known = [identity for _, identity in pairs if identity is not None]
        return list(dict.fromkeys(known)), [_shown(one) for one, identity in pairs if identity is None]

    def _find(self, alias: Json) -> T | None:
        return self._by_alias.get(alias.strip()) if isinstance(alias, str) else None

    def _range(self) -> str:
        names = list(self._by_alias)
        return f"{names[0]} to {names[-1]}" if names else "the names given (there are none)"


def _shown(alias: Json) -> str:
    return repr(cleaned(alias, 40) if isinstance(alias, str) else alias)[:60]
