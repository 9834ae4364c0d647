"""Who finds an episode's words: a language model where one is there and what it says holds, else extraction.

Asked outside of any transaction. What was said is never lost for a model: whatever it answers, or does not,
the extractive words can be had of it, and what became of the question stands in the metadata. A short episode
is told in the language of the talk around it.
"""

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from episodic_agent.core.chains.metadata import NOTHING, SuppliedMetadata, metadata_of, read_guess
from episodic_agent.core.context.frames import language_written
from episodic_agent.core.context.tokens import estimate
from episodic_agent.core.episodes.extractive import EpisodeText, plain_metadata, sample_of
from episodic_agent.core.language import words
from episodic_agent.core.prompts import episode as question
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.facts.transcripts import earlier_than
from episodic_agent.engine.jobs.asking import LAST_TRY, ROUNDS, ask, may_pass, say_failed
from episodic_agent.errors import BadReply, ProviderError
from episodic_agent.protocols import LanguageModel, Transaction
from episodic_agent.schemas import Episode, Job, Json, Observation, Scope

EXTRACTIVE: Final = "extractive-3"
LEAST: Final = 40  # tokens; so little is told whole by its own sentences, at no cost
LATER: Final = timedelta(hours=1)  # until a model whose answer could not be read is asked once more
REFUSED: Final = "refused"  # in the metadata: what of a model's answer could not be used, and why

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Worded:
    """An episode's words and who found them; `again`: a model's answer could not be read, so ask later."""

    words: EpisodeText
    by: str = EXTRACTIVE
    again: bool = False


def worded(
    deps: Deps,
    scope: Scope,
    job: Job,
    observations: Sequence[Observation],
    own: Callable[[], EpisodeText],
    *,
    rounds: int = ROUNDS,
    first: bool = True,
    earlier: Sequence[Observation] = (),
) -> Worded:
    """Return the words of an episode of messages: the model's where they can be used, else its `own`.

    A model that cannot be reached is tried again with the job, thrice in all; a spent budget, a refusal and
    an answer that is wrong twice are not waited for; one that could not be read is asked for again later.
    `first` tells that the episode has no words yet, `earlier` are messages before it.
    """
    model = deps.model_for(scope, question.STAGE)
    if first and deps.reads_once:  # told with its facts, in one question with what else ended (`facts.job`)
        return Worded(own())
    if model is None or sum(estimate(o.text) for o in observations) < LEAST:
        return Worded(own())
    try:
        reported_words, faults = _asked(model, observations, scope.user_id, deps.language, rounds, earlier)
    except ProviderError as error:
        if job.attempts < LAST_TRY and may_pass(error):
            raise
        say_failed(log, "episode %s is told without a language model: %s", job.key, error=error)
        return Worded(_refused(own(), {"answer": str(error)}), again=isinstance(error, BadReply))
    by = f"{model.name} {question.VERSION}"
    return wording_of(reported_words, faults, own, observations, by, deps.language)


def wording_of(
    reported_words: question.EpisodeWords,
    faults: Mapping[str, str],
    own: Callable[[], EpisodeText],
    observations: Sequence[Observation],
    by: str,
    language: str | None,
) -> Worded:
    """Return what can be used of a model's words, `by` whom it is; the episode's `own` for what cannot."""
    if "summary" in faults:
        return Worded(_refused(own(), faults))
    title = own().title if "title" in faults else reported_words.title
    about: dict[str, Json] = {"tags": list(reported_words.tags), "outcome": reported_words.outcome}
    if reported_words.entities:
        about["entities"] = list(reported_words.entities)
    # its subjects are what key phrases would be looked for to find
    plain = plain_metadata(observations, list(reported_words.tags), language=language)
    words = EpisodeText(title, reported_words.summary, {**plain, **about})
    return Worded(_refused(words, faults), by)


def described(
    words: EpisodeText,
    observations: Sequence[Observation],
    language: str | None,
    *,
    guessed: bool = False,
    metadata: SuppliedMetadata = NOTHING,
) -> EpisodeText:
    """Return words whose metadata also say who took part, with what, what was named, and how it ended.

    `guessed` tells that a model named what was talked of: that comes before what is looked for. `metadata` is
    what the caller said of it, which comes before all.
    """
    if not observations:
        return words
    guess = read_guess(words.metadata) if guessed else None
    results = metadata_of(
        observations, words.metadata, metadata=metadata, guess=guess, language=language
    ).as_json()
    return replace(words, metadata={**words.metadata, **results})


def _asked(
    model: LanguageModel,
    observations: Sequence[Observation],
    owner: str,
    language: str | None,
    rounds: int,
    earlier: Sequence[Observation],
) -> tuple[question.EpisodeWords, Mapping[str, str]]:
    """Return the answer with what is wrong with it; a fault is worth asking once more, as a bad form is."""
    faults: dict[str, str] = {}
    answers = 0

    def read(value: Mapping[str, Json]) -> question.EpisodeWords:
        nonlocal answers, faults
        answers += 1
        words = question.grounded(question.read(value), observations, language)
        faults = question.faults(words, observations, language)
        if faults and answers < rounds:
            raise BadReply("; ".join(f"{name}: {why}" for name, why in faults.items()))
        return words

    prompt = question.prompt(observations, owner, earlier)
    return ask(model, prompt, question.SCHEMA, question.STAGE, read, rounds=rounds), faults


def _refused(words: EpisodeText, faults: Mapping[str, str]) -> EpisodeText:
    if not faults:
        return words
    answers: list[Json] = [f"{name}: {why}" for name, why in faults.items()]
    return replace(words, metadata={**words.metadata, REFUSED: answers})


_SHORT: Final = 16  # words, of which two or three may be another language's by chance
_LATEST: Final = 8  # episodes before it whose language is the user's


def language_for(
    tx: Transaction, episode: Episode, observations: Sequence[Observation], declared: str | None
) -> str | None:
    """Return the ISO 639-1 code of the language to tell observations of an episode in, "" for none.

    `declared` is that of the whole memory. None leaves it to what was said, where that is enough.
    """
    sample = sample_of(observations)
    if declared or len(words(sample)) > _SHORT:
        return declared
    latest = tx.episodes.list(before=episode.start_at, limit=_LATEST)
    written = Counter(str(language) for one in latest if (language := one.metadata.get("language")))
    usual = next((language for language, _ in written.most_common(1)), "")
    return language_written(sample, [one.text for one in earlier_than(tx, episode)], usual)
