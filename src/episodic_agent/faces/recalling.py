"""What of the past bears on a message, for a prompt that already holds the conversation it is in."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from episodic_agent.core.echo import marked
from episodic_agent.engine.user import UserMemory
from episodic_agent.schemas.contexts import LineKind

MAX_TOKENS: Final = 800  # of what is recalled for one prompt, unless the caller says otherwise
# the last messages of the thread itself, and the line that says what it goes on from
_IN_PROMPT: Final = (LineKind.PAIR, LineKind.RECENT, LineKind.CONTINUING)


def recalled(
    memory: UserMemory, message: str, *, thread: str | None = None, max_tokens: int = MAX_TOKENS
) -> str:
    """Return what of the past bears on a message, between marks; "" where nothing does.

    The last messages of the thread itself are left out: the framework has them in its prompt.
    """
    if not message.strip():
        return ""
    context = memory.context(message, thread=thread, max_tokens=max_tokens)
    items = {item.line: item.kind for item in context.items}
    blocks = list(_blocks(context.text.split("\n"), items))
    return marked("\n\n".join(blocks)) if blocks else ""


def _blocks(lines: Sequence[str], items: Mapping[int, LineKind]) -> Iterator[str]:
    """Yield the blocks of a context that tell something, without what is in the prompt already."""
    block: list[int] = []
    for number, line in [*enumerate(lines), (len(lines), "")]:
        if line:
            block.append(number)
            continue
        if any(n in items and items[n] not in _IN_PROMPT for n in block):
            yield "\n".join(lines[n] for n in block if items.get(n) not in _IN_PROMPT)
        block = []
