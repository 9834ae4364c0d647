"""The door: turn what a caller gives into one clean shape, `Item`, before anything else sees it.

Strings, chat messages, tool calls and results (OpenAI's and Anthropic's forms), an agent's steps; times in
any common form; ids of any type.

**Rules of the room.**
1. Text is repaired, not refused: NUL and lone surrogates become U+FFFD, which every store can hold.
2. Nothing is guessed silently. A time that cannot be, an empty text or a value of the wrong kind is refused,
   and the error names the field and what was seen.
3. How much of a time was given is kept (`given`, `date_only`, `received`, `assumed`). What is said live
   without a time happened when it came; an assumed one gives no gap cue, no recency and no date words.
4. Synonyms of field names are listed in one table (`FIELDS`); what nobody recognises is kept in `extras`,
   but for a key or a role that a caller most likely misspelt (`check_names`).
5. Limits are checked here, before anything is stored or embedded.
6. What was given is never changed.

**To add** a field or a form, extend `FIELDS` or `words.py`, and add what real programs send to
`tests/core/test_intake.py`, wrong values included.
"""

from typing import TYPE_CHECKING

from episodic_agent.lazily import names_from

if TYPE_CHECKING:
    from episodic_agent.core.ingest.item import (
        FIELDS,
        LARGEST,
        IntakeLimits,
        Item,
        check_names,
        check_size,
        read_item,
        received,
        too_large,
    )
    from episodic_agent.core.ingest.times import Moment, check_ahead, read_time
else:
    __getattr__ = names_from(
        __name__,
        {
            "item": ("FIELDS LARGEST IntakeLimits Item check_names check_size read_item received too_large"),
            "times": "Moment check_ahead read_time",
        },
    )

__all__ = [
    "FIELDS",
    "LARGEST",
    "IntakeLimits",
    "Item",
    "Moment",
    "check_ahead",
    "check_names",
    "check_size",
    "read_item",
    "read_time",
    "received",
    "too_large",
]
