"""What an assistant concluded at the end of a turn in which tools ran: far from the request it answers."""

from collections.abc import Callable, Sequence
from typing import Final
from uuid import UUID

import numpy as np

from episodic_agent.core.echo import is_echo
from episodic_agent.core.threads.turns import opens_turn
from episodic_agent.protocols import Refs, Transaction, ref_of
from episodic_agent.schemas import Kind, Observation

_PAGES: Final = (2, 66, 128, 256)  # observations of a turn, page by page: most have one or none


def conclusions(
    tx: Transaction,
    requests: Sequence[Observation],
    shown: Callable[[Refs], Refs],
    *,
    tooled_only: bool = True,
) -> dict[UUID, Observation]:
    """Return by the ids of requests what was said last in answer, where tools ran before and it is shown.

    In a turn without tools the answer stands beside its request and is found there; who wants it all the
    same says so.
    """
    ends: dict[UUID, Observation] = {}
    places = {(one.thread_id, one.seq) for one in requests}
    starts = [(one, (one.thread_id, one.seq + 1)) for one in requests]
    waiting = {one.id: (*start, False) for one, start in starts if start not in places}  # others end at once
    for size in _PAGES:
        spans = [(thread, seq, seq + size - 1) for thread, seq, _ in waiting.values()]
        pages = tx.observations.read(spans) if spans else ()
        for (name, (thread, seq, tooled)), page in zip(list(waiting.items()), pages, strict=True):
            over = next((n for n, one in enumerate(page) if _ends_turn(one)), None)
            turn = page[:over]
            ran = tooled or any(one.kind is Kind.TOOL for one in turn)
            if turn:
                ends[name] = turn[-1]
            if page and over is None:
                waiting[name] = thread, seq + size, ran
                continue
            del waiting[name]
            if tooled_only and not ran:
                ends.pop(name, None)
    answers = {name: one for name, one in ends.items() if name not in waiting and _concludes(one)}
    refs = {name: ref_of(tx.threads.number(one.thread_id), one.seq) for name, one in answers.items()}
    there = set(shown(np.array(list(refs.values()), np.int64)).tolist()) if refs else set()
    return {name: one for name, one in answers.items() if refs[name] in there}


def _ends_turn(observation: Observation) -> bool:
    """Tell whether what an agent says and does in answer is over; what it does step by step is no answer."""
    return opens_turn(observation) or observation.kind is Kind.STEP


def _concludes(observation: Observation) -> bool:
    return observation.kind is Kind.MESSAGE and bool(observation.text.strip()) and not is_echo(observation)
