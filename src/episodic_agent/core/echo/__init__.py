"""Recognise recalled text that comes back: which part of an observation only repeats what memory had told.

An agent that stores all it sees stores its own prompts, with the memories in them. Such a message is kept
whole, but the part that is an *echo* makes no new memory: it is not indexed and says nothing to boundaries,
links, facts and reviews.

**Rules of the room.**
1. By form first: the lines of seeds 002 and 003, and marks that callers put around recalled text. Nobody
   writes those by chance.
2. By words only in what agents, tools and prompts say, and only long runs. A person who repeats something
   means it.
3. What is compared with is given: what was shown and what was said, never what later work wrote. So the
   verdict hangs neither on how messages were grouped nor on how far later work had come.
4. The text itself is never changed; the echo lies beside it, as spans.
5. An answer that uses a memory in a sentence is new.

**To add** a form, describe its lines in `forms.py` and add examples of text that looks like it and is none.
"""

from typing import TYPE_CHECKING

from episodic_agent.lazily import names_from

if TYPE_CHECKING:
    from episodic_agent.core.echo.forms import marked, recalled_spans, with_questions
    from episodic_agent.core.echo.overlap import RUN, Source, repeated, unfenced, wanted_terms
    from episodic_agent.core.echo.records import (
        ECHO,
        By,
        Echo,
        all_own_words,
        echo_of,
        is_echo,
        marked_as,
        own_text,
        own_words,
        silenced,
    )
else:
    __getattr__ = names_from(
        __name__,
        {
            "forms": "marked recalled_spans with_questions",
            "overlap": "RUN Source repeated unfenced wanted_terms",
            "records": "ECHO By Echo all_own_words echo_of own_words own_text is_echo marked_as silenced",
        },
    )

__all__ = [
    "ECHO",
    "RUN",
    "By",
    "Echo",
    "Source",
    "all_own_words",
    "echo_of",
    "is_echo",
    "marked",
    "marked_as",
    "own_text",
    "own_words",
    "recalled_spans",
    "repeated",
    "silenced",
    "unfenced",
    "wanted_terms",
    "with_questions",
]
