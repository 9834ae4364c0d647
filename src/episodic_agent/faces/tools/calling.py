"""Call tools by name: arguments checked, errors as answers with the remedy, output held to the budget."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from episodic_agent.core.context.quoting import shown_name
from episodic_agent.engine.filters import Where
from episodic_agent.engine.user import UserMemory
from episodic_agent.errors import EpisodicError, InvalidInput, NotFound
from episodic_agent.faces.tools.answers import ToolAnswer, ToolResult, answer_of, check_budget, for_agents
from episodic_agent.faces.tools.schemas import checked, nothing_of
from episodic_agent.faces.tools.table import BY_NAME, TOOLS, resolved_thread

BUDGET = 16_000  # bytes
NOBODY = "nothing is kept yet for user {}; add_memory keeps the first message"


class Tools:
    """The tools of one user's memory, for an agent that calls functions.

    `openai()` and `anthropic()` describe them in those formats, `call` answers a call with text and never
    raises for what a model may get wrong.
    """

    def __init__(self, memory: UserMemory, *, only: Where = None, budget: int = BUDGET) -> None:
        """Take `only` to hold every tool to some threads and channels, whatever a model asks for.

        `budget` is the bytes of an answer as JSON; a smaller one than 1000 is refused.
        """
        self._memory = memory if only is None else memory.only(only)
        self._budget = check_budget(budget)

    def openai(self) -> list[dict[str, Any]]:
        """Return the tools as OpenAI's `tools` argument of chat completions takes them."""
        return [
            {
                "type": "function",
                "function": {"name": t.name, "description": t.description, "parameters": t.takes},
            }
            for t in TOOLS
        ]

    def anthropic(self) -> list[dict[str, Any]]:
        """Return the tools as Anthropic's `tools` argument of messages takes them."""
        return [{"name": t.name, "description": t.description, "input_schema": t.takes} for t in TOOLS]

    def call(self, name: str, arguments: Mapping[str, Any] | None = None) -> str:
        """Return what a tool answers as text; what was wrong with a call begins with `error:`."""
        return self.answer(name, arguments).text

    def answer(self, name: str, arguments: Mapping[str, Any] | None = None) -> ToolAnswer:
        """Return what a tool answers as text and as data."""
        return self._answer(partial(self._run, name, arguments))

    def thread(self, name: str) -> ToolAnswer:
        """Return the newest episodes of a thread, earliest first, as `answer` does."""
        return self._answer(lambda: resolved_thread(self._memory, name))

    def _run(self, name: str, arguments: Mapping[str, Any] | None) -> ToolResult:
        if name not in BY_NAME:
            raise InvalidInput(f"no tool {name!r}; there are {', '.join(BY_NAME)}")
        tool = BY_NAME[name]
        supplied, nothing = checked(name, arguments, tool.takes), nothing_of(tool.answers)
        try:
            return tool.run(self._memory, supplied)
        except NotFound:
            if nothing is None or not self._memory.missing:
                raise
            return ToolResult(self._nobody(), "", (), nothing)

    def _answer(self, find: Callable[[], ToolResult]) -> ToolAnswer:
        try:
            return answer_of(find(), self._budget)
        except NotFound as error:
            return ToolAnswer(
                f"error: {self._nobody() if self._memory.missing else _problem(error)}", is_error=True
            )
        except EpisodicError as error:
            return ToolAnswer(f"error: {_problem(error)}", is_error=True)

    def _nobody(self) -> str:
        """Say that the user is new: the error would name the other users, who are none of a model's."""
        return NOBODY.format(shown_name(self._memory.name))


def _problem(error: EpisodicError) -> str:
    """Say what was wrong with a call."""
    return for_agents(error.as_command or str(error))
