"""What a model that read finished talk makes of it: parts by subject, and the words each is told in.

A part is a proposal: the policy weighs it (`engine/boundary/reading.py`), and its words go to the episode
that holds most of it, whether or not it was cut so.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from episodic_agent.core.context.tokens import estimate
from episodic_agent.core.prompts.episode import EpisodeWords
from episodic_agent.protocols import Transaction
from episodic_agent.schemas import Episode, Observation

LEAST: Final = 12  # tokens: "ok, thanks" has nothing to tell. Words of a reading cost no call


@dataclass(frozen=True, slots=True)
class ReadPart:
    """A part of a conversation as a model divided it: its messages in order, and what it keeps of them.

    `by` names the model, `shown` are the messages of the question, of this part and of others. `words` None:
    there was nothing to tell of it.
    """

    observations: Sequence[Observation]
    words: EpisodeWords | None
    by: str
    shown: Sequence[Observation] = ()


@dataclass(frozen=True, slots=True)
class EpisodeAnswer:
    """What a model called an episode and kept of it, before it is checked, and by whom it is.

    `shown` are the messages it was shown, of this episode and of others; `elsewhere` those of others that
    the words tell of.
    """

    words: EpisodeWords
    by: str
    shown: Sequence[Observation] = ()
    elsewhere: Sequence[Observation] = ()


def current_of(tx: Transaction, ids: Iterable[UUID]) -> list[Episode]:
    """Return the current episodes that stand where these do or did, in order."""
    standing: dict[UUID, Episode] = {}
    for episode in tx.episodes.get(sorted(set(ids))).values():
        if episode.generation_to is None:
            standing[episode.id] = episode
            continue
        for other in tx.episodes.list(threads=[episode.thread_id]):
            if other.first_seq <= episode.last_seq and other.last_seq >= episode.first_seq:
                standing[other.id] = other
    return sorted(standing.values(), key=lambda e: (e.start_at, e.thread_id, e.first_seq))


def answers_for(episodes: Sequence[Episode], parts: Sequence[ReadPart]) -> dict[UUID, EpisodeAnswer]:
    """Return what parts say of episodes: each part of the one that holds most of it, several of one together.

    Of little that was said there is nothing to tell: it is told whole by its own sentences.
    """
    parts_of: dict[UUID, list[ReadPart]] = {}
    for part in parts:
        home = max(episodes, key=lambda e: _held(e, part.observations), default=None)
        if home is not None and part.words is not None and _held(home, part.observations):
            parts_of.setdefault(home.id, []).append(part)
    answers = {}
    for episode in episodes:
        mine = parts_of.get(episode.id, [])
        shown = {o.id: o for part in mine for o in part.shown if _held(episode, [o])}
        if mine and sum(estimate(o.text) for o in shown.values()) >= LEAST:
            elsewhere = [o for part in mine for o in part.observations if not _held(episode, [o])]
            answers[episode.id] = EpisodeAnswer(_together(mine), mine[0].by, mine[0].shown, elsewhere)
    return answers


def _held(episode: Episode, observations: Sequence[Observation]) -> int:
    return sum(
        o.thread_id == episode.thread_id and episode.first_seq <= o.seq <= episode.last_seq
        for o in observations
    )


def _together(parts: Sequence[ReadPart]) -> EpisodeWords:
    """Return the words of parts that were not cut apart: all they tell, titled by the longest of them."""
    words = [part.words for part in parts if part.words is not None]
    longest = max(parts, key=lambda part: sum(len(o.text) for o in part.observations)).words or words[0]
    if len(words) == 1:
        return longest
    return EpisodeWords(
        longest.title,
        " ".join(one.summary for one in words),
        tags=tuple(dict.fromkeys(tag for one in (longest, *words) for tag in one.tags)),
        outcome=words[-1].outcome,
    )


def spans_of_parts(parts: Sequence[ReadPart]) -> Mapping[UUID, Sequence[tuple[int, int]]]:
    """Return the first and last seqs of the parts of each thread, in order."""
    spans: dict[UUID, list[tuple[int, int]]] = {}
    for part in parts:
        seqs = [o.seq for o in part.observations]
        spans.setdefault(part.observations[0].thread_id, []).append((min(seqs), max(seqs)))
    return {thread: sorted(mine) for thread, mine in spans.items()}
