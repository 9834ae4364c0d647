"""How a story goes on: the sessions that follow those of some episodes, and how the last of them ended."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final, NamedTuple
from uuid import UUID

from episodic_agent.core.chains.deciding import AUTO, UNCERTAIN
from episodic_agent.core.chains.deciding import CHAIN as LINKED
from episodic_agent.core.chains.metadata import UNKNOWN, Metadata, read_metadata
from episodic_agent.core.context.quoting import harmless, shown_name
from episodic_agent.core.language.windows import windows
from episodic_agent.engine.jobs.kinds import CHAIN
from episodic_agent.engine.lived import lived_at, lived_in
from episodic_agent.engine.recall.elsewhere import Elsewhere
from episodic_agent.engine.threads.session_records import declared
from episodic_agent.engine.visibility.hidden import Visibility
from episodic_agent.errors import ProviderError
from episodic_agent.protocols import Embedder, Transaction
from episodic_agent.schemas import Episode, EpisodeState, Observation, Vector
from episodic_agent.schemas.chains import TreeNode

MOST_SESSIONS: Final = 200  # that are followed: no story told is longer
MOST_OPEN: Final = 4  # messages in no episode yet that a story ends with
LONGEST_OPEN: Final = 300  # characters of each
_LOOKED_BACK: Final = 64  # observations at the end of a thread, for one that may be shown


class Further(NamedTuple):
    """The last episode of a session that goes on from one that is told, the `root`.

    `is_end`: nothing goes on from it, there the story ends.
    """

    episode: Episode
    is_end: bool
    root: UUID


def following(
    tx: Transaction,
    visibility: Visibility,
    episodes: Sequence[Episode],
    among: Collection[UUID] | None = None,
) -> list[Further]:
    """Return the last episode of every session that goes on from those of some episodes, earliest first.

    Sessions that the episodes tell of already are left out, and so is what is hidden or not `among` those
    given.
    """
    here = {identity for one in episodes if (identity := session_around(tx, one)) is not None}
    below = tx.episodes.nodes(sorted(here, key=str), "below")
    nodes = _surely_below(tx, here, sorted(below, key=lambda n: (n.start_at, n.id.bytes))[:MOST_SESSIONS])
    gone_on = {node.parent for node in nodes}
    roots = {identity: identity for identity in here}  # by session, which of these it goes on from
    for node in nodes:
        if node.parent is not None:
            roots.setdefault(node.id, roots.get(node.parent, node.parent))
    further = [node.id for node in nodes if node.id not in here]
    full_episodes = tx.episodes.get(further)
    events: dict[UUID, list[Episode]] = {one.thread_id: [] for one in full_episodes.values()}
    for episode in tx.episodes.list(threads=list(events)):
        events[episode.thread_id].append(episode)
    result = []
    for identity in further:
        full_episode = full_episodes.get(identity)
        inside = (
            [] if full_episode is None else _inside(tx, full_episode, events.get(full_episode.thread_id, ()))
        )
        if inside and (among is None or inside[-1].id in among):
            result.append(Further(inside[-1], identity not in gone_on, roots[identity]))
    hidden = visibility.why_all([one.episode for one in result])
    return [one for one in result if one.episode.id not in hidden]


def _surely_below(tx: Transaction, here: Collection[UUID], nodes: Sequence[TreeNode]) -> list[TreeNode]:
    """Return those of some sessions, in order, that links nobody need doubt lead to from where one is."""
    reached, result = set(here), []
    for node in nodes:
        if node.id not in here:
            made = [d for d in tx.knowledge.decisions(subject=node.id, type=CHAIN) if d.verdict == LINKED]
            judged = [d for d in made if d.detail.get("candidate") == str(node.parent)][-1:]
            doubted = any(d.detail.get("method") == AUTO and d.confidence_label == UNCERTAIN for d in judged)
            if doubted or node.parent not in reached:
                continue
        reached.add(node.id)
        result.append(node)
    return result


def ending_of(tx: Transaction, visibility: Visibility, last: Episode, others: Elsewhere) -> str:
    """Return how the session of the last episode told ended, in a sentence; "" outside of chains.

    That it goes on elsewhere is not told.
    """
    identity = session_around(tx, last)
    episode = None if identity is None else tx.episodes.get(identity)
    further = episode is not None and _goes_on(tx, episode, last, others)
    if episode is None or (episode.parent_episode_id is None and not further):
        return ""
    if further:
        return f"The story goes on after this; `episodic arc {episode.id}` shows all of it."
    end = lived_in(tx, last.thread_id, last.end_at)
    later = _newest_after(tx, visibility, last)
    if later is not None:
        return f"Told until {end:%Y-%m-%d}; its thread goes on until {lived_at(later):%Y-%m-%d}."
    if episode.state is EpisodeState.OPEN:
        return f"Last on {end:%Y-%m-%d}; it is still open."
    shown = visibility.worded(last)
    outcome = (
        without_guesses(tx, last, read_metadata(shown.metadata))
        if last.encoding_version
        else declared(tx, last)
    ).outcome
    how = "nobody said how it came out" if outcome == UNKNOWN else f"outcome {outcome}"
    return f"It ended on {end:%Y-%m-%d}: {how}."


def still_open(tx: Transaction, visibility: Visibility, others: Elsewhere, refs: Sequence[int]) -> str:
    """Return the newest of some messages that are in no episode yet, in sentences, earliest first.

    A talk may go on for weeks before it is cut: they may be how a matter came out.
    """
    lines = []
    for message in sorted(tx.observations.get(refs).values(), key=lambda one: one.at):
        shown = visibility.visible(tx.threads.number(message.thread_id), [message])
        hidden = not shown or visibility.holds(message.text) or not message.text.strip()
        if not (hidden or others.hold_thread(tx, message.thread_id)):
            text = harmless(message.text, LONGEST_OPEN)
            speaker, day = shown_name(message.actor), f"{lived_at(message):%Y-%m-%d}"
            lines.append(f"Not yet in an episode, on {day}: {speaker}: {text}")
    return "\n".join(lines[-MOST_OPEN:])


def _newest_after(tx: Transaction, visibility: Visibility, last: Episode) -> Observation | None:
    """Return what was said last in an event's thread after it, if anything that may be shown was."""
    end = tx.threads.frame(last.thread_id).next_seq
    return _newest(tx, visibility, last.thread_id, last.last_seq + 1, end)


def _newest(
    tx: Transaction, visibility: Visibility, thread_id: UUID, first: int, end: int
) -> Observation | None:
    first = max(first, end - _LOOKED_BACK)
    read = tx.observations.read(thread_id, first, end - 1) if first < end else ()
    shown = visibility.visible(tx.threads.number(thread_id), read)
    return next((one for one in reversed(shown) if one.text.strip() and not visibility.holds(one.text)), None)


def without_guesses(tx: Transaction, episode: Episode, metadata: Metadata) -> Metadata:
    """Return what is known of an episode without an outcome that only single words of it say.

    "I accepted" finds the evening by `outcome=success`; how the matter came out it does not say, and a week
    later it was declined. What was declared is told, and what a model read.
    """
    if _by_model(episode) or metadata.outcome in (UNKNOWN, declared(tx, episode).outcome):
        return metadata
    return replace(metadata, outcome=UNKNOWN)


def _by_model(episode: Episode) -> bool:
    """Tell whether a model found an episode's words: it is named before its question, rules stand alone."""
    return " " in episode.encoded_by


def _goes_on(tx: Transaction, episode: Episode, last: Episode, others: Elsewhere) -> bool:
    """Tell whether a session goes on after an event; what the event itself reaches over is no more of it."""
    over = {
        section.episode_id
        for section in tx.threads.sections(last.thread_id)
        if last.first_seq < section.first_seq <= last.last_seq
    }
    children = {node.id for node in tx.episodes.nodes([episode.id, *sorted(over, key=str)], "children")}
    further = children - over
    if further and others:
        further = {one.id for one in others.but_theirs(tx, tx.episodes.get(sorted(further)).values())}
    return bool(further)


def text_vectors(embedder: Embedder | None, episodes: Sequence[Episode]) -> dict[UUID, Vector]:
    """Return one vector of title and summary together of each episode that has words; {} without an embedder.

    What is searched otherwise has vectors of its summary alone, and of what was said.
    """
    worded = [one for one in episodes if one.title or one.summary]
    if embedder is None or not worded:
        return {}
    try:
        rows = embedder.embed([windows(f"{one.title}\n{one.summary}".strip())[0] for one in worded])
    except ProviderError:
        return {}
    return dict(zip((one.id for one in worded), rows, strict=True))


def session_around(tx: Transaction, episode: Episode) -> UUID | None:
    """Return the session an episode lies in, None where it lies in none."""
    section = tx.threads.section(episode.thread_id, episode.first_seq)
    return None if section is None else section.episode_id


def _inside(tx: Transaction, episode: Episode, events: Sequence[Episode]) -> list[Episode]:
    """Return the closed events of a session, in order."""
    section = tx.threads.section(episode.thread_id, episode.first_seq)
    if section is None:
        return []
    last = [
        one.first_seq for one in tx.threads.sections(episode.thread_id) if one.first_seq > section.first_seq
    ]
    return [e for e in events if section.first_seq <= e.first_seq < min(last, default=e.first_seq + 1)]
