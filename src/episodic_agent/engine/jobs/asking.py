"""Put a question to a language model, and once more with what was wrong with the answer.

The one way to a model for every stage: here an answer is read leniently, and here is said when asking again
is of no use.
"""

import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, Protocol, TypeVar, runtime_checkable

from episodic_agent.core.prompts.lenient import fitted, strict
from episodic_agent.core.prompts.quoting import asked_again
from episodic_agent.errors import BadReply, BudgetSpent, ProviderError, ProviderRefused
from episodic_agent.protocols import LanguageModel
from episodic_agent.schemas import Json

ROUNDS: Final = 2  # answers to one question that may be unusable
LAST_TRY: Final = 3  # attempts of a job at a model that is away, before what needs none does its work (I8)

T = TypeVar("T")


@runtime_checkable
class JudgedModel(Protocol):
    """A model that wants to know whether its answers could be used."""

    def judged(self, stage: str, *, fits: bool) -> None:
        """Note whether the last answer for a stage could be used."""


_unusable: Final = set[str]()  # kinds of work of this process whose model was said to answer unusably


def ask(
    model: LanguageModel,
    prompt: str,
    schema: Mapping[str, Json],
    stage: str,
    read: Callable[[Mapping[str, Json]], T],
    *,
    rounds: int = ROUNDS,
) -> T:
    """Return what `read` makes of the answer, as far as it fits the schema, its limits included.

    Where it raises BadReply the model is asked again, `rounds` times in all, with what was wrong.
    """
    text = prompt
    while True:
        rounds -= 1
        try:
            answer = fitted(model.complete(text, strict(schema), stage).value, schema)
            return _judged(model, stage, partial(read, answer))
        except BadReply as error:
            if rounds < 1:
                raise
            text = asked_again(prompt, error)


def _judged(model: LanguageModel, stage: str, read: Callable[[], T]) -> T:
    """Return what is read of an answer, and let its model know whether it could be."""
    try:
        result = read()
    except BadReply:
        if isinstance(model, JudgedModel):
            model.judged(stage, fits=False)
        raise
    if isinstance(model, JudgedModel):
        model.judged(stage, fits=True)
    return result


def may_pass(error: ProviderError) -> bool:
    """Tell whether to try again by and by: not where a budget, a key or the answer itself is in the way."""
    return not isinstance(error, BudgetSpent | BadReply | ProviderRefused)


def say_failed(log: logging.Logger, message: str, *details: object, error: Exception) -> None:
    """Log that work goes on without a model: `message` ends in what the error is put into.

    A warning; at debug level where it repeats itself: a refusal was said when it came, and an answer that
    is of no use is said once for each message and process.
    """
    repeated = isinstance(error, ProviderRefused) or (isinstance(error, BadReply) and message in _unusable)
    if isinstance(error, BadReply):
        _unusable.add(message)
    log.log(logging.DEBUG if repeated else logging.WARNING, message, *details, error)
