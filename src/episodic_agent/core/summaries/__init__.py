"""The words of a closed episode without a language model: title, summary and metadata (boundaries.md A4).

Everything is taken from what was said, nothing is invented: the title from the most telling noun phrases,
the summary from the sentences nearest the centre of the episode that together cover it, each with who said
it and with its relative times dated. The same input gives the same words.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from episodic_agent.core.summaries.clauses import Clause, clauses, tame, told
from episodic_agent.core.summaries.languages import (
    ASSISTANTS,
    SOURCES,
    UNSPACED,
    USERS,
    Phrasebook,
    guess_language,
    phrasebook,
)
from episodic_agent.core.summaries.selection import choose, shortened, term_weights
from episodic_agent.core.summaries.steps import step_metadata, step_summary, step_title
from episodic_agent.core.summaries.times import grounded
from episodic_agent.core.summaries.topics import key_phrases, keywords, title_of
from episodic_agent.core.text import script, tokens, words
from episodic_agent.schemas import Json, Kind, Observation, Vector

__all__ = ["Words", "encode_extractive", "encode_steps", "plain_metadata", "tame", "told"]

_NAMED: Final = 3  # speakers named in a title; more are counted
_SAMPLE: Final = 200  # characters of each message that its language is guessed from
_TITLE_FALLBACK: Final = 60
_KEYWORDS: Final = 8  # of an episode of steps: the things most of it is about


@dataclass(frozen=True, slots=True)
class Words:
    """What an episode is called and what it says; metadata is plain JSON."""

    title: str
    summary: str
    metadata: Mapping[str, Json]


def encode_extractive(
    observations: Sequence[Observation],
    vectors: Sequence[Vector | None],
    *,
    language: str | None = None,
) -> Words:
    """Return title, third-person summary and metadata of an episode's observations, in seq order.

    `vectors` has one entry for each observation (None where there is none; all of one embedder), used to
    find the messages nearest the centre. `language` is an ISO 639-1 code, guessed when None. The title
    is never empty; the summary is empty only when nothing was said.
    """
    sample = " ".join([o.text[:_SAMPLE] for o in observations[:12]])
    tongue = language or guess_language(words(sample), sample)
    book = phrasebook(tongue)
    found = clauses(observations, tongue)
    weights = term_weights(found)
    speakers = Counter(o.actor for o in observations if o.actor)
    # who spoke stands in front of the title already
    own = frozenset(term for actor in speakers for term in tokens(actor, tongue or None))
    phrases = key_phrases(found, weights, tongue, own)
    # callers may have vectors of the first observations only: the rest is centred by words
    padded = [*vectors, *[None] * (len(observations) - len(vectors))]
    chosen = choose(found, weights, padded, [o.actor for o in observations], tongue)
    title = title_of(phrases, _who(list(speakers), book), tongue) or _first_words(observations, book)
    summary = _summary(chosen or found[:1], observations, tongue)
    summary = summary or _first_words(observations, None)
    return Words(title, summary, _metadata(observations, speakers, keywords(phrases), tongue))


def encode_steps(observations: Sequence[Observation], detail: Mapping[str, Json] | None = None) -> Words:
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
    return Words(title, step_summary(observations), metadata)


def plain_metadata(
    observations: Sequence[Observation], keys: list[str], *, language: str | None = None
) -> Mapping[str, Json]:
    """Return the metadata of an episode whose words, and `keys` among them, somebody else found."""
    sample = " ".join([o.text[:_SAMPLE] for o in observations[:12]])
    tongue = language or guess_language(words(sample), sample)
    return _metadata(observations, Counter(o.actor for o in observations if o.actor), keys, tongue)


def _who(actors: Sequence[str], book: Phrasebook) -> str:
    """Return the names of a title; roles alone say nothing and are left out."""
    names = [_name(actor, book) for actor in actors if not _is_role(actor)]
    if not names:
        return ""
    roles = [_name(actor, book) for actor in actors if _is_role(actor)]
    known = list(dict.fromkeys([*names, *roles]))
    if len(known) == 1:
        return known[0]
    if len(known) <= _NAMED:
        return book.both.format(", ".join(known[:-1]), known[-1])
    shown = _NAMED - 1  # so that at least two are counted as others
    return book.both.format(", ".join(known[:shown]), book.others.format(len(known) - shown))


def _is_role(actor: str) -> bool:
    # single letters are labels of corpora and games ("A", "B"), not names
    folded = actor.casefold()
    return folded in ASSISTANTS or folded in SOURCES or len(folded) == 1 or folded in USERS


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
        said = ("" if script(texts[0]) in ("han", "kana") else " ").join(texts)
        gap = "" if not lead or lead.endswith("：") else " "
        parts.append(f"{lead}{gap}{said}")
    return ("" if language in ("zh", "ja") else " ").join(parts)


def _lead(observation: Observation, asks: bool, book: Phrasebook) -> str:
    """Return what stands before a quoted sentence: who said or asked it; nothing before steps and tools."""
    if observation.kind is not Kind.MESSAGE or not observation.actor:
        return ""
    form = "{}:" if observation.actor.casefold() in SOURCES else book.asked if asks else book.said
    lead = form.format(_name(observation.actor, book))
    return lead[:1].upper() + lead[1:]


def _finished(text: str) -> str:
    """End a sentence with a full stop where it has no end of its own."""
    # without one, an embedder's tokens and a reader's eyes run two speakers together
    if text[-1] in ".!?…。！？؟)）]:：”\"'":
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
    found: dict[str, Json] = {
        "actors": dict(speakers),
        "keywords": keys,
        "observations": len(observations),
        "characters": sum(len(o.text) for o in observations),
        "channels": sorted({o.channel for o in observations if o.channel}),
    }
    if observations:
        found["start"] = min(o.at for o in observations).isoformat()
        found["end"] = max(o.at for o in observations).isoformat()
    if language:
        found["language"] = language
    places = list(dict.fromkeys(o.location for o in observations if o.location))
    if places:
        found["places"] = places
    return found
