"""The answer that came the next day stands with its question, where that is told.

By mail an answer takes a night, and so is of another sitting than what it answers; in few words ("all right,
160 it is"), it bears on no later message by itself. What answers at once is judged with the sitting it is of.
What was said last of a matter in its thread was lifted the same way, and told nothing more that was needed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from episodic_agent.core.context.telling import TOOL, QuotedText
from episodic_agent.core.echo import is_echo, own_words
from episodic_agent.core.threads.turns import is_reply
from episodic_agent.engine.context.gathering import PAUSE, free, quoted
from episodic_agent.engine.context.replacing import Surroundings
from episodic_agent.engine.context.speakers import AGENT, ASSISTANT, are_named, told_by
from episodic_agent.protocols import Transaction, ref_of
from episodic_agent.schemas import Kind, Observation

MOST: Final = 12  # lines, the likeliest to be told, whose answers are looked for
MAY_BE_TOLD: Final = -6.0  # log-odds from which a line may be told at all
_BELOW: Final = 0.5  # log-odds below that line


def with_late_answers(
    tx: Transaction,
    around: Surroundings,
    earlier: Sequence[QuotedText],
    stored: Mapping[int, Observation],
) -> tuple[list[QuotedText], dict[int, Observation]]:
    """Return what was said earlier with what answered it late, and the observations by reference."""
    likely = [line for line in earlier if line.worth >= MAY_BE_TOLD and not _is_nameless(line)]
    likely = sorted(likely, key=lambda line: (-line.worth, line.at, line.spot))[:MOST]
    answers = {ref: (item, line.worth - _BELOW) for line in likely for ref, item in _late(tx, around, line)}
    worths = {(item.thread_id, item.seq): worth for item, worth in answers.values()}
    there = {line.spot for line in earlier}
    result = [replace(line, worth=max(line.worth, worths.get(line.spot, line.worth))) for line in earlier]
    before = around.now.before
    named = are_named((*before, *stored.values(), *(item for item, _ in answers.values())))
    for item, worth in answers.values():
        if (item.thread_id, item.seq) not in there:
            speaker = told_by(item, whose=tx.scope, here=before, named=named)
            result.append(quoted(own_words(item), worth, speaker))
    return result, dict(stored) | {ref: item for ref, (item, _) in answers.items()}


def _is_nameless(line: QuotedText) -> bool:
    """Tell whether an assistant or a tool without a name says a line: nobody answers it as a question."""
    return line.reply and line.speaker in (AGENT, ASSISTANT, TOOL)


def _late(tx: Transaction, around: Surroundings, line: QuotedText) -> Iterator[tuple[int, Observation]]:
    """Yield the answer right behind a line, where it came after a pause and may be told."""
    now, number, seq = around.now, tx.threads.number(line.thread_id), line.last_seq + 1
    read = around.visibility.visible(number, tx.observations.read(line.thread_id, seq, seq))
    when = now.when if now.when and now.when.alone and not now.when.due else None  # then it is no answer
    for item in read:
        is_message = item.kind is Kind.MESSAGE and item.text.strip() and not is_echo(item)
        is_late = item.at <= now.at and item.at - line.at > PAUSE and (when is None or when.holds(item.at))
        if is_message and is_reply(item) and is_late:
            ref = ref_of(number, item.seq)
            if len(free(tx, np.array([ref], np.int64), now, around.apart, around.shown)):
                yield ref, item
