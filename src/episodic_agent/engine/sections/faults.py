"""What the doctor checks and mends of the parts of threads."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from episodic_agent.core.sections.triggers import Trigger
from episodic_agent.core.threads.resolution import OPEN
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.jobs.kinds import COMPACT
from episodic_agent.engine.sections.bounds import covers, current, end_section, request
from episodic_agent.engine.sections.job import embeddable
from episodic_agent.engine.threads.session_records import SESSION, topic_of
from episodic_agent.protocols import Transaction, split_ref, stored_decision
from episodic_agent.schemas import Episode, EpisodeState, Frame, Scope, Section, Thread

ERROR: Final = "error"
NOTE: Final = "note"


def with_ends(sections: Sequence[Section], next_seq: int) -> list[tuple[Section, int]]:
    """Return a thread's parts in order, each with the last seq of its span; `next_seq` is the thread's."""
    ends = [*(following.first_seq for following in sections[1:]), next_seq]
    return [(part, end - 1) for part, end in zip(sections, ends, strict=True)]


def section_problems(tx: Transaction, thread: Thread, frame: Frame) -> Iterator[tuple[str, str]]:
    """Yield (severity, what is wrong) of a thread's parts."""
    sections = tx.threads.sections(thread.id)
    if not sections:
        if frame.next_seq:
            yield NOTE, "it was stored before threads had parts; `doctor --repair` makes them"
        return
    if sections[0].first_seq:
        yield ERROR, f"its parts begin at {sections[0].first_seq}, not 0"
    episodes = tx.episodes.get([part.episode_id for part in sections])
    waiting = {job.key for job in tx.upkeep.jobs(kinds=[COMPACT])}
    for section, end in with_ends(sections, frame.next_seq):
        episode = episodes.get(section.episode_id)
        if episode is None:
            yield ERROR, f"the part at {section.first_seq} has no episode {section.episode_id}"
            continue
        is_last = section is sections[-1]
        yield from _span(section, episode, end, is_last=is_last)
        yield from _words(tx, section, episode)
        late = not section.grown and not covers(section, end) and f"{section.episode_id}:{end}" not in waiting
        if late and tx.observations.read(
            section.thread_id, section.first_seq, end
        ):  # not all of it is erased
            yield ERROR, f"nobody compacts the part at {section.first_seq}; `doctor --repair` asks for it"


def _span(section: Section, episode: Episode, end: int, *, is_last: bool) -> Iterator[tuple[str, str]]:
    where = f"the part at {section.first_seq}"
    waits = is_last and section.opened_for == SESSION and not section.ended
    if (end < section.first_seq and not waits) or episode.first_seq != section.first_seq:
        yield ERROR, f"{where} holds nothing"
    if not is_last and (episode.last_seq != end or episode.state is EpisodeState.OPEN):
        yield ERROR, f"{where} ends at {episode.last_seq}, {episode.state.value}, not closed at {end}"
    if section.compacted_through is not None and section.compacted_through > end:
        yield ERROR, f"{where} is compacted through {section.compacted_through}, but ends at {end}"
    if episode.state is EpisodeState.COMPACTED and not covers(section, end):
        yield ERROR, f"{where} is called compacted, and is only through {section.compacted_through}"


def _words(tx: Transaction, section: Section, episode: Episode) -> Iterator[tuple[str, str]]:
    if section.compacted_through is None:
        return
    decision = stored_decision(tx, episode.decision_id)
    if decision is None or not episode.encoding_version:
        yield ERROR, f"nothing tells how the part at {section.first_seq} was compacted"
        return
    if decision.score < decision.threshold:
        yield ERROR, f"that the part at {section.first_seq} was due ({decision.verdict}) does not follow"
    source = decision.features.get("source_tokens", 0.0)
    for name in ("micro", "meso", "macro"):
        if decision.features.get(f"{name}_tokens", 0.0) > source:
            yield ERROR, f"the {name} of the part at {section.first_seq} is longer than what it stands for"


def mend_sections(deps: Deps, scope: Scope) -> int:
    """Make the parts of threads stored before there were any, and ask again for lost compactions."""
    with deps.store.begin(scope, write=False) as tx:
        threads = [
            one for one in tx.threads.list() if any(section_problems(tx, one, tx.threads.frame(one.id)))
        ]
    for thread in threads:
        with deps.store.begin(scope) as tx:
            settle_sections(tx, thread, tx.threads.frame(thread.id).next_seq, deps.clock())
    return len(threads)


def settle_sections(tx: Transaction, thread: Thread, next_seq: int, now: datetime) -> None:
    """See to it that a stored thread has parts, and that what is to be compacted is asked for.

    A compaction that is asked for already is not asked for again.
    """
    if not next_seq:
        return
    current(tx, thread, next_seq - 1, now)
    pairs = with_ends(tx.threads.sections(thread.id), next_seq)
    for place, (section, end) in enumerate(pairs, 1):
        if not section.grown and section.first_seq <= end:  # in a session that just began nothing is said yet
            trigger = Trigger(section.trigger or Trigger.MANUAL)
            request(tx, section, trigger, end, now, followed=place < len(pairs))
    last = pairs[-1][0]
    if thread.status != OPEN and not last.ended:
        end_section(tx, thread, next_seq - 1, now)


def section_texts(tx: Transaction, refs: Sequence[int]) -> dict[int, str]:
    """Return what parts are found by through its meaning, by reference."""
    places = [(ref, *split_ref(ref)) for ref in refs]
    threads = tx.threads.by_numbers([number for _, number, _ in places])
    sections = {
        ref: tx.threads.section(threads[number], seq) for ref, number, seq in places if number in threads
    }
    ids = {ref: part.episode_id for ref, part in sections.items() if part is not None}
    episodes = tx.episodes.get(list(ids.values()))
    reported_episodes = {ref: episodes[i] for ref, i in ids.items() if i in episodes}
    return {
        ref: "".join(embeddable(part.micro, part.summary, topic_of(part)))
        for ref, part in reported_episodes.items()
    }
