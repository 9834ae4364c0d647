"""Call tools by name: arguments checked, errors as answers with the remedy, output held to the budget."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from episodic_agent.engine.memory import Memory
from episodic_agent.errors import EpisodicError, InvalidInput, NotFound
from episodic_agent.faces.tools.answers import Answer, Found, answer_of, check_budget
from episodic_agent.faces.tools.schemas import checked
from episodic_agent.faces.tools.table import BY_NAME, TOOLS, thread_found

BUDGET = 16_000  # bytes
NOBODY = "nothing is remembered yet; add_memory keeps the first message"


class Tools:
    """The tools of one user's memory, for an agent that calls functions.

    `openai()` and `anthropic()` describe them in those formats, `call` answers a call with text and never
    raises for what a model may get wrong.
    """

    def __init__(self, memory: Memory, *, user_id: str | None = None, budget: int = BUDGET) -> None:
        """Take `budget` as the bytes of an answer as JSON; a smaller one than 1000 is refused."""
        self._memory = memory
        self._user = user_id
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

    def answer(self, name: str, arguments: Mapping[str, Any] | None = None) -> Answer:
        """Return what a tool answers as text and as data."""
        return self._told(partial(self._run, name, arguments))

    def thread(self, name: str) -> Answer:
        """Return the newest episodes of a thread, earliest first, as `answer` does."""
        return self._told(lambda: thread_found(self._memory, self._user, name))

    def _run(self, name: str, arguments: Mapping[str, Any] | None) -> Found:
        if name not in BY_NAME:
            raise InvalidInput(f"no tool {name!r}; there are {', '.join(BY_NAME)}")
        tool = BY_NAME[name]
        return tool.run(self._memory, self._user, checked(name, arguments, tool.takes))

    def _told(self, find: Callable[[], Found]) -> Answer:
        try:
            return answer_of(find(), self._budget)
        except NotFound as error:
            return Answer(f"error: {NOBODY if self._is_nobody() else error}", is_error=True)
        except EpisodicError as error:
            return Answer(f"error: {error}", is_error=True)

    def _is_nobody(self) -> bool:
        """Tell whether the user is new: the error would name the other users, who are none of a model's."""
        return self._user is not None and self._user not in self._memory.users()
