"""Put a question to a language model, and once more with what was wrong with the answer."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from episodic_agent.core.interfaces import LanguageModel
from episodic_agent.core.prompts.quoting import asked_again
from episodic_agent.errors import BadReply
from episodic_agent.schemas import Json

T = TypeVar("T")


def ask(
    model: LanguageModel,
    prompt: str,
    schema: Mapping[str, Json],
    stage: str,
    read: Callable[[Mapping[str, Json]], T],
) -> T:
    """Return what `read` makes of the answer; where it raises BadReply the model is asked once more."""
    try:
        return read(model.complete(prompt, schema, stage).value)
    except BadReply as error:
        return read(model.complete(asked_again(prompt, error), schema, stage).value)
