"""Words of a part that a language model has found already: those of its events, or of what it was before.

A question about a part costs as much as the whole conversation does, so it is put only where its answer could
say more than what there is: where the words of the events do not stand for the part, or it has grown much.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Final

import numpy as np

from episodic_agent.core.context.tokens import cut_to, estimate
from episodic_agent.core.episodes.extractive import EpisodeText
from episodic_agent.core.language import sentences
from episodic_agent.core.prompts import digest, question_of
from episodic_agent.core.prompts import episode as question
from episodic_agent.core.sections.resolutions import (
    MACRO_TOKENS,
    MESO_TOKENS,
    MICRO_SENTENCES,
    MICRO_TOKENS,
    Resolutions,
    resolutions,
    source_tokens,
)
from episodic_agent.engine.episodes.wording import LEAST
from episodic_agent.protocols import Transaction, ref_of
from episodic_agent.schemas import Episode, Json, Kind, Observation

BY_EVENTS: Final = "events-1"  # after the name of who found the words of the events
MUCH: Final = 0.25  # share of a part's tokens that is new from which it is asked about again
MOST_APART: Final = 0.34  # of a part's tokens that sentences of its own may tell beside what a model told
SHORTENINGS: Final = (3, 2, 1)  # sentences of each event that a paragraph tells which all would overfill
_SUBJECTS: Final = 40  # tokens a macro may have where the paragraph tells all
_MOST_LISTED: Final = 20


class ToCome(StrEnum):
    """What the words of a part's events wait for."""

    NOTHING = ""
    END = "end"  # one of them is open, or was closed just now
    READING = "reading"  # all were closed, and wait for the question that tells them, or for its answer


def events_of(
    tx: Transaction, part: Episode, last_seq: int, inside: Sequence[Observation], *, reads_once: bool = False
) -> tuple[Sequence[Episode], ToCome]:
    """Return the events that tell a part up to a seq, in order, and what words of one still wait for.

    An event that reaches over a border is told where most of it is; of a part that has the smaller half of
    one alone, that one is returned. No event where any that bears on the part is open, or has no words yet;
    where titles and facts are asked for in one question (`reads_once`), until that was answered.
    """
    number = tx.threads.number(part.thread_id)
    refs = np.asarray([ref_of(number, one.seq) for one in inside], dtype=np.int64)
    marks = tx.index.episode_marks(refs, covering=True)
    if len(marks) < len(refs):
        return (), ToCome.END
    episodes = tx.episodes.get(sorted({mark.ref for mark in marks.values()}))
    events = sorted(episodes.values(), key=lambda one: one.first_seq)
    if not all(one.encoding_version for one in events):
        return (), ToCome.END
    if reads_once and not all(one.consolidated_at for one in events):
        return (), ToCome.READING
    mostly = [one for one in events if _mostly_in(one, part.first_seq, last_seq)]
    return mostly or events, ToCome.NOTHING


def _mostly_in(event: Episode, first_seq: int, last_seq: int) -> bool:
    shared = min(event.last_seq, last_seq) - max(event.first_seq, first_seq) + 1
    return 2 * shared > event.last_seq - event.first_seq + 1


def words_of_events(
    events: Sequence[Episode], observations: Sequence[Observation], skills: Sequence[str]
) -> tuple[Resolutions, EpisodeText, str] | None:
    """Return a part's texts, its title with metadata, and by whom, from events a model found words for.

    None where more than little of it has no model's words (little is told whole by its own sentences), or
    where the first sentences of several are together more than a paragraph.
    """
    by = next((one.encoded_by for one in events if _by_model(one)), "")
    size = source_tokens(observations)
    apart = [_tokens_of(one, observations) for one in events if not _by_model(one)]
    if not by or (max(apart, default=0) >= LEAST and sum(apart) > MOST_APART * size):
        return None
    most = min(MESO_TOKENS, size)
    meso = _paragraph(events, most)
    if len(events) == 1:
        micro = " ".join(sentences(meso)[:MICRO_SENTENCES])
    else:
        micro = "; ".join(one.title for one in events)
        micro = " ".join(sentences(micro)[:MICRO_SENTENCES])
    if not meso:
        return None
    about = _about(events)
    left = min(MACRO_TOKENS, max(size - estimate(meso), min(size, _SUBJECTS)))
    macro = _macro(about.metadata, skills, left)
    matching_resolutions = Resolutions(cut_to(micro, min(MICRO_TOKENS, size)), meso, macro, size)
    return matching_resolutions, about, f"{by} {BY_EVENTS}"


def _paragraph(events: Sequence[Episode], most: int) -> str:
    """Return what events were told as within some tokens: less of each where all is too much, "" at last.

    One alone is cut where it has to be, and so are those of talk that is itself shorter than a paragraph: a
    summary is never longer than what it stands for, and a model asked about so little says no more.
    """
    text = " ".join(one.summary for one in events)
    if len(events) == 1 or estimate(text) <= most:
        return cut_to(text, most)
    for count in SHORTENINGS:
        less = " ".join(" ".join(sentences(one.summary)[:count]) for one in events)
        if estimate(less) <= most:
            return less
    return cut_to(less, most) if most < MESO_TOKENS else ""


def previous_words(
    part: Episode, through: int | None, observations: Sequence[Observation], language: str | None
) -> tuple[Resolutions, EpisodeText, str] | None:
    """Return the words a model found for most of a part, with what was said since in a few sentences.

    None where none did, where much is new, or where both are together more than a paragraph.
    """
    new = [one for one in observations if through is None or one.seq > through]
    size = source_tokens(observations)
    if through is None or not new or not _is_models(part.encoded_by) or source_tokens(new) > MUCH * size:
        return None
    meso = f"{part.summary} {resolutions(new, language=language).micro}"
    if estimate(meso) > min(MESO_TOKENS, size):
        return None
    old = Resolutions(str(part.metadata.get("micro", "")), meso, str(part.metadata.get("macro", "")), size)
    about = {name: one for name, one in part.metadata.items() if name != "outcome"}  # it went on since
    return old, EpisodeText(part.title, "", about), part.encoded_by


def _by_model(event: Episode) -> bool:
    return question_of(event.encoded_by) in (question_of(question.VERSION), question_of(digest.VERSION))


def _is_models(by: str) -> bool:
    return " compact-" in by or by.endswith(f" {BY_EVENTS}")  # whatever the version of the question


def _tokens_of(event: Episode, observations: Sequence[Observation]) -> int:
    """Return how much was said in an event, what tools put out apart: no model is asked to tell that."""
    spoken = [one for one in observations if one.kind is not Kind.TOOL]
    inside = [one for one in spoken if event.first_seq <= one.seq <= event.last_seq]
    return sum(estimate(one.text) for one in inside)


def _about(events: Sequence[Episode]) -> EpisodeText:
    """Return the title of the longest event, and the metadata of all of them."""
    title = max(events, key=lambda one: one.size).title
    answers = [one.metadata for one in events]
    actors: Counter[str] = Counter()
    for items in answers:
        result = items.get("actors")
        if isinstance(result, Mapping):
            actors.update({name: n for name, n in result.items() if isinstance(n, int)})
    about: dict[str, Json] = {**answers[-1], "actors": dict(actors)}
    about.pop("refused", None)
    for name in ("keywords", "tags", "entities", "channels", "places"):
        if listed := _listed(one.get(name) for one in answers):
            about[name] = listed
    tagged = Counter(tag for one in answers for tag in _listed([one.get("tags")]) if isinstance(tag, str))
    if tagged:  # there is room for five: what most of the events were about
        about["tags"] = [tag for tag, _ in tagged.most_common()]
    for name in ("observations", "characters"):
        about[name] = sum(n for one in answers if isinstance(n := one.get(name), int))
    starts = [str(one["start"]) for one in answers if "start" in one]
    return EpisodeText(title, "", about | ({"start": starts[0]} if starts else {}))


def _listed(lists: Iterable[Json]) -> list[Json]:
    every = [one for some in lists if isinstance(some, list) for one in some if isinstance(one, str)]
    distinct: list[Json] = [*dict.fromkeys(every)]
    return distinct[:_MOST_LISTED]


def _macro(about: Mapping[str, Json], skills: Sequence[str], budget: int) -> str:
    """Return what was talked of, and the skills shown in it, as far as they find room."""
    keywords = about.get("keywords")
    subjects = [str(one) for one in keywords] if isinstance(keywords, list) else []
    lines: list[str] = []
    for head, names in (("Subjects", subjects), ("Skills", skills)):
        line = f"{head}: {', '.join(names)}"
        if names and estimate("\n".join([*lines, line])) <= budget:
            lines.append(line)
    return "\n".join(lines)
