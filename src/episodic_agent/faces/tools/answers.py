"""What a tool answers: text for a model and the same as data, marked as recalled and held to a budget."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from episodic_agent.core.context.quoting import shown_name
from episodic_agent.core.echo import marked
from episodic_agent.errors import InvalidInput
from episodic_agent.faces.shapes import AnswerItem
from episodic_agent.faces.wording import for_no_terminal

LEAST_BUDGET: Final = 1_000  # bytes; a receipt takes some hundred
SHORTEST: Final = 40  # characters a text is cut to at the most
# a pasted answer is known by these, as text and as JSON (core/echo)
OPEN, CLOSE = (mark.strip() for mark in marked(" ").split("\n")[::2])
NONE_LEFT: Final = "the answer did not fit; ask for something narrower"
REMEDIES: Final = {  # by the command that an error or a note names
    "episodes": "recent_memory and search_memory tell the ids",
    "session list": "start_session begins one",
    "summaries": "start_session begins one",
    "threads": "list_threads tells the names",
    "show": "explain_memory shows an episode's messages",
}


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool found, before it is held to a budget; `recalled` tells that it is memory, to be marked."""

    head: str
    name: str = "items"
    items: Sequence[AnswerItem] = ()
    data: Mapping[str, Any] = field(default_factory=dict)
    recalled: bool = True


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a tool answers. `data` fits the tool's output schema, but for an error, which has none."""

    text: str
    data: Mapping[str, Any] = field(default_factory=dict)
    is_error: bool = False

    def __str__(self) -> str:
        """Return the text."""
        return self.text

    @property
    def size(self) -> int:
        """Return how many bytes it takes as JSON, text and data together."""
        payload = {"content": [{"type": "text", "text": self.text}], "structuredContent": self.data}
        return len(json.dumps(payload, ensure_ascii=False).encode())


def for_agents(problem: str) -> str:
    """Return an error or a note for an agent, with the tool that does what a command of the terminal does.

    >>> for_agents("no episode 'x' in this memory; `episodic episodes` lists the ids")
    "no episode 'x' in this memory; recent_memory and search_memory tell the ids"
    """
    return shown_name(for_no_terminal(problem, REMEDIES))


def answer_of(result: ToolResult, budget: int) -> ToolAnswer:
    """Return an answer of at most `budget` bytes: the last items go first, then what is long is cut."""
    for count in range(len(result.items), 0, -1):
        built = _built(result, result.items[:count], len(result.items) - count)
        if built.size <= budget:
            return built
    longest = budget
    while longest > SHORTEST:
        longest //= 2
        cut = ToolResult(
            shortened(result.head, longest), result.name, (), shortened(result.data, longest), result.recalled
        )
        first = [AnswerItem(shortened(i.text, longest), shortened(i.data, longest)) for i in result.items[:1]]
        built = _built(cut, first, max(len(result.items) - 1, 0))
        if built.size <= budget:
            return built
    return ToolAnswer(f"error: {NONE_LEFT}", is_error=True)


def _built(result: ToolResult, items: Sequence[AnswerItem], left_out: int) -> ToolAnswer:
    note = f"({left_out} more did not fit; ask for fewer, or for something narrower)" if left_out else ""
    text = "\n".join(filter(None, (result.head, *(item.text for item in items), note)))
    data: dict[str, Any] = dict(result.data)
    if result.name:
        data[result.name] = [item.data for item in items]
        data["left_out"] = left_out
    if not result.recalled:
        return ToolAnswer(text, data)
    return ToolAnswer(marked(text), {"begin": OPEN, **data, "end": CLOSE})


def shortened(value: Any, longest: int) -> Any:
    """Return a value with every text in it cut to so many characters.

    >>> shortened({"a": ["abcdef", 1]}, 4)
    {'a': ['abc…', 1]}
    """
    if isinstance(value, str):
        return value if len(value) <= longest else value[: longest - 1] + "…"
    if isinstance(value, Mapping):
        return {key: shortened(one, longest) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [shortened(one, longest) for one in value]
    return value


def check_budget(budget: int) -> int:
    """Return a budget that an answer can be held to; InvalidInput for a smaller one."""
    if budget < LEAST_BUDGET:
        raise InvalidInput(f"a budget of {budget} bytes holds no answer; EPISODIC_TOOL_BUDGET from 1000 on")
    return budget
