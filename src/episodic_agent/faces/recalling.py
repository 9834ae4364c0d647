"""What of the past bears on a message, for a prompt that already holds the conversation it is in."""

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from episodic_agent.core.echo import marked
from episodic_agent.engine.filters import Where
from episodic_agent.engine.user import UserMemory
from episodic_agent.schemas.contexts import LineKind

MAX_TOKENS: Final = 800  # of what is recalled for one prompt, unless the caller says otherwise
# the last messages of the thread itself, and the line that says what it goes on from
_IN_PROMPT: Final = (LineKind.PAIR, LineKind.RECENT, LineKind.CONTINUING)


def recalled(
    memory: UserMemory,
    message: str,
    *,
    thread: str | None = None,
    max_tokens: int = MAX_TOKENS,
    project: str | None = None,
    only: Where = None,
) -> str:
    """Return what of the past bears on a message, between marks; "" where nothing does.

    The last messages of the thread itself are left out: the framework has them in its prompt. So is what was
    said in other projects than a folder, and all that was not said in the threads and channels of `only`.
    """
    if not message.strip():
        return ""
    context = memory.context(
        message, thread=thread, max_tokens=max_tokens, project=project or None, only=only
    )
    telling = {item.line for item in context.items if item.kind not in _IN_PROMPT}
    others = {item.line for item in context.items} - telling
    blocks = list(_blocks(context.text.split("\n"), telling, others))
    return marked("\n\n".join(blocks)) if blocks else ""


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
