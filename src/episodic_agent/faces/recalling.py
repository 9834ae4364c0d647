"""What of the past bears on a message, for a prompt that holds the conversation it is in, or a part of it."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from typing import Final
from uuid import UUID

from episodic_agent.core.echo import marked
from episodic_agent.engine.context.assembling import ContextLine
from episodic_agent.engine.filters import Where
from episodic_agent.engine.user import UserMemory
from episodic_agent.errors import NotFound
from episodic_agent.schemas.contexts import LineKind

MAX_TOKENS: Final = 800  # of what is recalled for one prompt, unless the caller says otherwise
_OF_THREAD: Final = (LineKind.PAIR, LineKind.RECENT)  # the last messages of the thread itself


def recalled(
    memory: UserMemory,
    message: str,
    *,
    thread: str | None = None,
    max_tokens: int = MAX_TOKENS,
    project: str | None = None,
    only: Where = None,
    in_prompt: Sequence[str] | None = None,
) -> str:
    """Return what of the past bears on a message, between marks; "" where nothing does.

    Of the last messages of the thread itself those are left out that the prompt holds: `in_prompt` are the
    texts of its messages, and without them it holds all. So is what was said in other projects than a
    folder, and all that was not said in the threads and channels of `only`.
    """
    if not message.strip():
        return ""
    context = memory.context(
        message, thread=thread, max_tokens=max_tokens, project=project or None, only=only
    )
    others = {item.line for item in context.items if item.kind is LineKind.CONTINUING}
    others |= _lines_in_prompt(memory, [i for i in context.items if i.kind in _OF_THREAD], in_prompt)
    telling = {item.line for item in context.items} - others
    blocks = list(_blocks(context.text.split("\n"), telling, others))
    return marked("\n\n".join(blocks)) if blocks else ""


def _lines_in_prompt(
    memory: UserMemory, items: Sequence[ContextLine], in_prompt: Sequence[str] | None
) -> set[int]:
    """Return the lines whose messages the prompt holds, each of its messages for one of them, newest first.

    A framework that began anew, or let go of the beginning, has not all that the thread has.
    """
    if in_prompt is None:
        return {item.line for item in items}
    left, texts = Counter(in_prompt), _texts(memory, items)
    lines: set[int] = set()
    for item in sorted(items, key=lambda item: -item.last_seq):
        spans = range(item.first_seq, item.last_seq + 1)
        of_line = Counter(texts[item.thread_id, seq] for seq in spans if (item.thread_id, seq) in texts)
        if of_line and of_line <= left:
            left -= of_line
            lines.add(item.line)
    return lines


def _texts(memory: UserMemory, items: Sequence[ContextLine]) -> dict[tuple[UUID, int], str]:
    """Return the texts of the messages that lines are from, in full, by where they stand."""
    texts: dict[tuple[UUID, int], str] = {}
    for episode in {item.episode_id for item in items if item.episode_id is not None}:
        with suppress(NotFound):  # erased since
            texts |= {(o.thread_id, o.seq): o.text for o in memory.episodes.messages(episode)}
    return texts


def _blocks(lines: Sequence[str], telling: Collection[int], others: Collection[int]) -> Iterator[str]:
    """Yield the blocks of a context that still tell something, without the lines that are left out.

    A heading or a date stands as long as something kept stands below it.
    """
    block: list[int] = []
    for number, line in [*enumerate(lines), (len(lines), "")]:
        if line:
            block.append(number)
            continue
        remaining: list[int] = []
        for n in reversed(block):
            above = n not in others and bool(remaining) and (n == block[0] or remaining[-1] in telling)
            if n in telling or above:
                remaining.append(n)
        if remaining:
            yield "\n".join(lines[n] for n in reversed(remaining))
        block = []
