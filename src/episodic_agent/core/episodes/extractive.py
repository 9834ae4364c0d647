"""Title, summary and metadata of an episode, taken from what was said in it or from an agent's steps."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from episodic_agent.core.boundary.conversation.speech import speech
from episodic_agent.core.episodes.clauses import Clause, clauses, tame
from episodic_agent.core.episodes.languages import (
    ASSISTANTS,
    PROMPTS,
    SOURCES,
    UNSPACED,
    USERS,
    Phrasebook,
    guess_language,
    phrasebook,
)
from episodic_agent.core.episodes.selection import choose, scored, shortened, term_weights
from episodic_agent.core.episodes.steps import is_of_steps, step_metadata, step_summary, step_title
from episodic_agent.core.episodes.times import grounded
from episodic_agent.core.episodes.titles import cut, key_phrases, keywords, runs, telling_clause
from episodic_agent.core.language import script, tokens
from episodic_agent.core.threads.turns import role_of
from episodic_agent.schemas import Json, Kind, Observation, Vector

_SAMPLE: Final = 200  # characters of each message that its language is guessed from
_SAMPLED: Final = 12  # messages
_TITLE_FALLBACK: Final = 60
_CLOSING: Final = ")）]”\"'’»"
_GOING_ON: Final = " ,，、،՝–—"  # what a text does not end with
_NUMERAL: Final = 0.4  # share of its weight that a number keeps in a title
_REMARKS: Final = 3  # of people, in the summary of an agent's job
_KEYWORDS: Final = 8  # of an episode of steps: the things most of it is about


@dataclass(frozen=True, slots=True)
class EpisodeText:
    """What an episode is called and what it says; metadata is plain JSON."""

    title: str
    summary: str
    metadata: Mapping[str, Json]


def sample_of(observations: Sequence[Observation]) -> str:
    """Return the text by which the language of observations is told."""
    return " ".join([o.text[:_SAMPLE] for o in observations[:_SAMPLED]])


def encode_extractive(
    observations: Sequence[Observation],
    vectors: Sequence[Vector | None],
    *,
    language: str | None = None,
) -> EpisodeText:
    """Return title, third-person summary and metadata of an episode's observations, in seq order.

    `vectors` has one entry for each observation (None where there is none; all of one embedder), used to
    find the messages nearest the centre. `language` is an ISO 639-1 code, "" for none, guessed when None. The
    title is never empty; the summary is empty only when nothing was said. An episode that is mostly steps is
    told as the job it was, however well somebody put a remark.
    """
    if is_of_steps(observations):
        return _encode_job(observations, language)
    tongue = guess_language(sample_of(observations)) if language is None else language
    book = phrasebook(tongue)
    matching_clauses = clauses(observations, tongue)
    weights = term_weights(matching_clauses)
    speakers = Counter(o.actor for o in observations if o.actor)
    # who spoke stands in front of the title already
    own = frozenset(term for actor in speakers for term in tokens(actor, tongue or None))
    spoken_clauses = [clause for clause in matching_clauses if not clause.pasted] or matching_clauses
    phrases = key_phrases(spoken_clauses, weights, tongue, own)
    # callers may have vectors of the first observations only: the rest is centred by words
    padded = [*vectors, *[None] * (len(observations) - len(vectors))]
    actors = [role_of(o) for o in observations]
    title, opening = "", None
    if any(actors[clause.place].casefold() not in PROMPTS for clause in matching_clauses):
        # a title names the matter: its numbers are for the summary
        matter = {term: w * (_NUMERAL if term[:1].isdecimal() else 1.0) for term, w in weights.items()}
        candidates = [*matching_clauses, *runs(matching_clauses, actors)]
        scores = scored(candidates, matter, padded, actors, tongue)
        telling = telling_clause(candidates, scores, matter, actors, tongue)
        title = cut(telling.text, matter, tongue)
        place = telling.place, telling.order
        opening = next(clause for clause in matching_clauses if (clause.place, clause.order) == place)
    chosen = choose(matching_clauses, weights, padded, actors, opening)
    spoken = [o for o in observations if role_of(o).casefold() not in PROMPTS]
    title = title or _first_words(spoken, book)
    summary = _summary(chosen or matching_clauses[:1], observations, tongue)
    summary = summary or _first_words(observations, None)
    return EpisodeText(title, summary, _metadata(observations, speakers, keywords(phrases), tongue))


def encode_steps(
    observations: Sequence[Observation], detail: Mapping[str, Json] | None = None
) -> EpisodeText:
    """Return title, summary and metadata of an episode of steps, in seq order.

    The title is of the place and what happened there, the summary of what happened in order; `detail` is that
    of the decision that ended the episode; without it place, path and things are counted from the steps.
    """
    about = step_metadata(observations, detail)
    title = step_title(observations, str(about["location"]))
    speakers = Counter(o.actor for o in observations if o.actor)
    entities = about["entities"]
    keys = [str(one) for one in entities][:_KEYWORDS] if isinstance(entities, list) else []
    metadata = _metadata(observations, speakers, keys, "") | about
    return EpisodeText(title, step_summary(observations), metadata)


def _encode_job(observations: Sequence[Observation], language: str | None) -> EpisodeText:
    """Return the words of an agent's job with what people said to it, in order."""
    steps = [one for one in observations if one.kind is Kind.STEP]
    tongue = guess_language(sample_of(observations)) if language is None else language
    about = step_metadata(steps)
    title = _request(observations, tongue) or step_title(steps, str(about["location"]))
    parts: list[str] = []
    left = _REMARKS
    for done, group in groupby(observations, key=lambda one: one.kind is Kind.STEP):
        if done:
            parts.append(step_summary(list(group)))
            continue
        remarks = [o for o in group if o.text.strip() and role_of(o).casefold() not in PROMPTS][:left]
        left -= len(remarks)
        matching_clauses = [(o, [c for c in clauses([o], tongue) if not c.pasted][:1]) for o in remarks]
        for observation, first in matching_clauses:
            parts += [_summary(first, [observation], tongue)] if first else []
    entities = about["entities"]
    keys = [str(one) for one in entities][:_KEYWORDS] if isinstance(entities, list) else []
    speakers = Counter(o.actor for o in observations if o.actor)
    return EpisodeText(title, " ".join(parts), _metadata(observations, speakers, keys, tongue))


def _request(observations: Sequence[Observation], language: str) -> str:
    """Return the request that started an agent's job as its title, "" where none did.

    It stands right before the first step, and asks for something or names what is then done.
    """
    first = next((n for n, one in enumerate(observations) if one.kind is Kind.STEP), 0)
    opening = observations[first - 1] if first else None
    if (
        opening is None
        or opening.kind is not Kind.MESSAGE
        or role_of(opening).casefold() in ASSISTANTS | PROMPTS
    ):
        return ""
    done = {
        term for one in observations if one.kind is Kind.STEP for term in tokens(one.text, language or None)
    }
    for clause in clauses([opening], language):
        cues = speech(clause.text)[0]
        names_it = done.intersection(clause.terms) and not (cues.agrees or cues.thanks or cues.own)
        if cues.requests or names_it:
            return cut(clause.text, dict.fromkeys(clause.terms, 1.0), language)
    return ""


def plain_metadata(
    observations: Sequence[Observation], keys: list[str], *, language: str | None = None
) -> Mapping[str, Json]:
    """Return the metadata of an episode whose words, and `keys` among them, somebody else found."""
    tongue = language or guess_language(sample_of(observations))
    return _metadata(observations, Counter(o.actor for o in observations if o.actor), keys, tongue)


def _name(actor: str, book: Phrasebook) -> str:
    folded = actor.casefold()
    if folded in USERS:
        return book.user
    if folded in ASSISTANTS:
        return book.assistant
    return actor.capitalize() if actor.isalpha() and actor.islower() and len(actor) > 1 else actor


def _summary(chosen: Sequence[Clause], observations: Sequence[Observation], language: str) -> str:
    """Return the sentences with who said or asked them; neighbours of one speaker share the name."""
    book = phrasebook(language)
    parts: list[str] = []
    dated: set[str] = set()
    for lead, group in groupby(chosen, key=lambda c: _lead(observations[c.place], c.asks, book)):
        texts = [
            _finished(grounded(shortened(c.text), observations[c.place], language, dated)) for c in group
        ]
        text = ("" if script(texts[0]) in ("han", "kana") else " ").join(texts)
        gap = "" if not lead or lead.endswith("：") else " "
        parts.append(f"{lead}{gap}{text}")
    return ("" if language in ("zh", "ja") else " ").join(parts)


def _lead(observation: Observation, asks: bool, book: Phrasebook) -> str:
    """Return what stands before a quoted sentence: who said or asked it; nothing before steps and tools."""
    if observation.kind is not Kind.MESSAGE or not observation.actor:
        return ""
    form = "{}:" if observation.actor.casefold() in SOURCES else book.asked if asks else book.says
    lead = form.format(_name(observation.actor, book))
    return lead[:1].upper() + lead[1:]


def _finished(text: str) -> str:
    """End a sentence with a full stop where it has no end of its own, in place of a comma or dash."""
    # without one, an embedder's tokens and a reader's eyes run two speakers together
    text = text.rstrip(_GOING_ON) or text
    # a bracket or a quotation that ends it may end no sentence: "in March (2027)"
    if text[-1] in ":：" or (text.rstrip(_CLOSING) or text)[-1] in ".!?…。！？؟:：;":
        return text
    written = script(text)
    return text + ("。" if written in ("han", "kana") else "" if written in UNSPACED else ".")


def _first_words(observations: Sequence[Observation], book: Phrasebook | None) -> str:
    """Return the beginning of the first text there is: the last resort of a title or a summary."""
    for observation in observations:
        text = " ".join(tame(observation.text).split())
        if text:
            cut = text[:_TITLE_FALLBACK]
            return (
                text if len(text) <= _TITLE_FALLBACK else (cut.rsplit(" ", 1)[0] if " " in cut else cut) + "…"
            )
    return book.empty if book is not None else ""


def _metadata(
    observations: Sequence[Observation], speakers: Counter[str], keys: list[str], language: str
) -> dict[str, Json]:
    results: dict[str, Json] = {
        "actors": dict(speakers),
        "keywords": keys,
        "observations": len(observations),
        "characters": sum(len(o.text) for o in observations),
        "channels": sorted({o.channel for o in observations if o.channel}),
    }
    if observations:
        results["start"] = min(o.at for o in observations).isoformat()
        results["end"] = max(o.at for o in observations).isoformat()
    if language:
        results["language"] = language
    places = list(dict.fromkeys(o.location for o in observations if o.location))
    if places:
        results["places"] = places
    return results
