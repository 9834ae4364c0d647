"""Who finds an episode's words: a language model where one is there and what it says holds, else extraction.

Asked outside of any transaction. What was said is never lost for a model: whatever it answers, or does not,
the extractive words can be had of it, and what became of the question stands in the metadata.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from episodic_agent.core.chaining import Given, metadata_of, read_guess
from episodic_agent.core.chaining.metadata import NOTHING
from episodic_agent.core.interfaces import LanguageModel
from episodic_agent.core.prompts import episode as question
from episodic_agent.core.summaries import Words, plain_metadata
from episodic_agent.engine.asking import ask
from episodic_agent.engine.parts import Parts
from episodic_agent.errors import BadReply, BudgetSpent, ProviderError
from episodic_agent.schemas import Job, Json, Observation, Scope

EXTRACTIVE: Final = "extractive-1"
LAST_TRY: Final = 3  # attempts at a model before the extractive words do (I8)
LEAST: Final = 120  # characters; so little is told whole by its own sentences, at no cost
LATER: Final = timedelta(hours=1)  # until a model whose answer could not be read is asked once more
REFUSED: Final = "refused"  # in the metadata: what of a model's answer could not be used, and why

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Worded:
    """An episode's words and who found them; `again`: a model's answer could not be read, so ask later."""

    words: Words
    by: str = EXTRACTIVE
    again: bool = False


def worded(
    parts: Parts, scope: Scope, job: Job, said: Sequence[Observation], own: Callable[[], Words]
) -> Worded:
    """Return the words of an episode of messages: the model's where they can be used, else its `own`.

    A model that cannot be reached is tried again with the job, thrice in all; a spent budget, a refusal and
    an answer that is wrong twice are not waited for; one that could not be read is asked for again later.
    """
    model = parts.model_for(scope, question.STAGE)
    if model is None or sum(len(o.text) for o in said) < LEAST:
        return Worded(own())
    try:
        told, faults = _asked(model, said, parts.language)
    except ProviderError as error:
        if job.attempts < LAST_TRY and not isinstance(error, BudgetSpent | BadReply):
            raise
        log.warning("episode %s is told without a language model: %s", job.key, error)
        return Worded(_refused(own(), {"answer": str(error)}), again=isinstance(error, BadReply))
    if "summary" in faults:
        return Worded(_refused(own(), faults))
    title = own().title if "title" in faults else told.title
    about: dict[str, Json] = {
        "entities": list(told.entities),
        "tags": list(told.tags),
        "outcome": told.outcome,
    }
    # its subjects are what key phrases would be looked for to find
    plain = plain_metadata(said, list(told.tags), language=parts.language)
    found = Words(title, told.summary, {**plain, **about})
    return Worded(_refused(found, faults), f"{model.name} {question.VERSION}")


def described(
    words: Words,
    said: Sequence[Observation],
    language: str | None,
    *,
    guessed: bool = False,
    given: Given = NOTHING,
) -> Words:
    """Return words whose metadata also say who took part, with what, what was named, and how it ended.

    `guessed` tells that a model named what was talked of: that comes before what is looked for. `given` is
    what the caller said of it, which comes before all.
    """
    if not said:
        return words
    guess = read_guess(words.metadata) if guessed else None
    found = metadata_of(said, words.metadata, given=given, guess=guess, language=language).as_json()
    return replace(words, metadata={**words.metadata, **found})


def _asked(
    model: LanguageModel, said: Sequence[Observation], language: str | None
) -> tuple[question.Told, Mapping[str, str]]:
    """Return the answer with what is wrong with it; a fault is worth asking once more, as a bad form is."""
    faults: dict[str, str] = {}
    answers = 0

    def read(value: Mapping[str, Json]) -> question.Told:
        nonlocal answers, faults
        answers += 1
        told = question.grounded(question.read(value), said, language)
        faults = question.faults(told, said, language)
        if faults and answers == 1:
            raise BadReply("; ".join(f"{name}: {why}" for name, why in faults.items()))
        return told

    return ask(model, question.prompt(said), question.SCHEMA, question.STAGE, read), faults


def _refused(words: Words, faults: Mapping[str, str]) -> Words:
    if not faults:
        return words
    told: list[Json] = [f"{name}: {why}" for name, why in faults.items()]
    return replace(words, metadata={**words.metadata, REFUSED: told})
