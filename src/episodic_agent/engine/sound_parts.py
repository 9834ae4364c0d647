"""What the doctor checks and mends of the parts of threads."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from episodic_agent.core.compaction import Trigger
from episodic_agent.core.interfaces import Transaction, split_ref
from episodic_agent.core.threads.records import OPEN
from episodic_agent.engine.compacting import embeddable
from episodic_agent.engine.parting import COMPACT, covers, current, end_part, request
from episodic_agent.engine.parts import Parts
from episodic_agent.engine.session_facts import SESSION, topic_of
from episodic_agent.schemas import Episode, EpisodeState, Frame, Scope, Thread, ThreadPart

ERROR: Final = "error"
NOTE: Final = "note"


def with_ends(parts: Sequence[ThreadPart], next_seq: int) -> list[tuple[ThreadPart, int]]:
    """Return a thread's parts in order, each with the last seq of its span; `next_seq` is the thread's."""
    ends = [*(following.first_seq for following in parts[1:]), next_seq]
    return [(part, end - 1) for part, end in zip(parts, ends, strict=True)]


def part_problems(tx: Transaction, thread: Thread, frame: Frame) -> Iterator[tuple[str, str]]:
    """Yield (severity, what is wrong) of a thread's parts."""
    parts = tx.parts.of_thread(thread.id)
    if not parts:
        if frame.next_seq:
            yield NOTE, "it was stored before threads had parts; `doctor --repair` makes them"
        return
    if parts[0].first_seq:
        yield ERROR, f"its parts begin at {parts[0].first_seq}, not 0"
    episodes = tx.episodes.by_ids([part.episode_id for part in parts])
    waiting = {job.key for job in tx.jobs.list() if job.kind == COMPACT}
    for part, end in with_ends(parts, frame.next_seq):
        episode = episodes.get(part.episode_id)
        if episode is None:
            yield ERROR, f"the part at {part.first_seq} has no episode {part.episode_id}"
            continue
        is_last = part is parts[-1]
        yield from _span(part, episode, end, is_last=is_last)
        yield from _words(tx, part, episode)
        late = not part.grown and not covers(part, end) and f"{part.episode_id}:{end}" not in waiting
        if late and tx.threads.observations(part.thread_id, part.first_seq, end):  # not all of it is erased
            yield ERROR, f"nobody compacts the part at {part.first_seq}; `doctor --repair` asks for it"


def _span(part: ThreadPart, episode: Episode, end: int, *, is_last: bool) -> Iterator[tuple[str, str]]:
    where = f"the part at {part.first_seq}"
    waits = is_last and part.opened_for == SESSION and not part.ended
    if (end < part.first_seq and not waits) or episode.first_seq != part.first_seq:
        yield ERROR, f"{where} holds nothing"
    if not is_last and (episode.last_seq != end or episode.state is EpisodeState.OPEN):
        yield ERROR, f"{where} ends at {episode.last_seq}, {episode.state.value}, not closed at {end}"
    if part.compacted_through is not None and part.compacted_through > end:
        yield ERROR, f"{where} is compacted through {part.compacted_through}, but ends at {end}"
    if episode.state is EpisodeState.COMPACTED and not covers(part, end):
        yield ERROR, f"{where} is called compacted, and is only through {part.compacted_through}"


def _words(tx: Transaction, part: ThreadPart, episode: Episode) -> Iterator[tuple[str, str]]:
    if part.compacted_through is None:
        return
    decision = tx.episodes.decision(episode.decision_id) if episode.decision_id else None
    if decision is None or not episode.encoding_version:
        yield ERROR, f"nothing tells how the part at {part.first_seq} was compacted"
        return
    if decision.score < decision.threshold:
        yield ERROR, f"that the part at {part.first_seq} was due ({decision.verdict}) does not follow"
    source = decision.features.get("source_tokens", 0.0)
    for name in ("micro", "meso", "macro"):
        if decision.features.get(f"{name}_tokens", 0.0) > source:
            yield ERROR, f"the {name} of the part at {part.first_seq} is longer than what it stands for"


def mend_parts(parts: Parts, scope: Scope) -> int:
    """Make the parts of threads stored before there were any, and ask again for lost compactions."""
    with parts.store.begin(scope, write=False) as tx:
        threads = [one for one in tx.threads.list() if any(part_problems(tx, one, tx.threads.frame(one.id)))]
    for thread in threads:
        with parts.store.begin(scope) as tx:
            settle_parts(tx, thread, tx.threads.frame(thread.id).next_seq, parts.clock())
    return len(threads)


def settle_parts(tx: Transaction, thread: Thread, next_seq: int, now: datetime) -> None:
    """See to it that a stored thread has parts, and that what is to be compacted is asked for.

    A compaction that is asked for already is not asked for again.
    """
    if not next_seq:
        return
    current(tx, thread, next_seq - 1, now)
    found = with_ends(tx.parts.of_thread(thread.id), next_seq)
    for place, (part, end) in enumerate(found, 1):
        if not part.grown and part.first_seq <= end:  # in a session that just began nothing is said yet
            trigger = Trigger(part.trigger or Trigger.MANUAL)
            request(tx, part, trigger, end, now, followed=place < len(found))
    last = found[-1][0]
    if thread.status != OPEN and not last.ended:
        end_part(tx, thread, next_seq - 1, now)


def part_texts(tx: Transaction, refs: Sequence[int]) -> dict[int, str]:
    """Return what parts are found by through its meaning, by reference."""
    places = [(ref, *split_ref(ref)) for ref in refs]
    threads = tx.threads.by_numbers([number for _, number, _ in places])
    parts = {ref: tx.parts.at(threads[number], seq) for ref, number, seq in places if number in threads}
    ids = {ref: part.episode_id for ref, part in parts.items() if part is not None}
    found = tx.episodes.by_ids(list(ids.values()))
    told = {ref: found[i] for ref, i in ids.items() if i in found}
    return {ref: "".join(embeddable(part.micro, part.summary, topic_of(part))) for ref, part in told.items()}
