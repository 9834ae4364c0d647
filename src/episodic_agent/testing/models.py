"""A language model that says what it was told to say: the shipped fake for tests and examples."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from episodic_agent.core.language import plural
from episodic_agent.errors import ProviderError, ProviderUnavailable
from episodic_agent.protocols import Reply
from episodic_agent.schemas import Json

Answer = Mapping[str, Json] | ProviderError


@dataclass(slots=True)
class ScriptedModel:
    """Answer calls in order from `answers`, or by asking `respond(prompt, stage)`.

    An answer that is an error is raised. What was asked is kept in `calls` as (stage, prompt). Raises
    ProviderUnavailable when the script has run out.
    """

    answers: Sequence[Answer] = ()
    respond: Callable[[str, str], Answer] | None = None
    name: str = "scripted"
    calls: list[tuple[str, str]] = field(default_factory=list)

    def complete(self, prompt: str, schema: Mapping[str, Json], stage: str) -> Reply:
        """Return the next scripted answer."""
        turn = len(self.calls)
        self.calls.append((stage, prompt))
        if self.respond is not None:
            answer = self.respond(prompt, stage)
        elif turn < len(self.answers):
            answer = self.answers[turn]
        else:
            raise ProviderUnavailable(f"the script has only {plural(len(self.answers), 'answer')}")
        if isinstance(answer, ProviderError):
            raise answer
        return Reply(answer, prompt_tokens=len(prompt) // 4, completion_tokens=16)
