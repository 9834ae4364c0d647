"""Which noun phrases name work: by the lists, by their ending, or by their short form."""

import re
from typing import Final

from episodic_agent.core.facts.english.life import occupation
from episodic_agent.core.facts.grammar import bare, head
from episodic_agent.data import listed_words

_SUFFIX: Final = re.compile(
    r"\w{3,}(?:ologist|ographer|grapher|smith|wright|monger|keeper|maker|therapist|hygienist|anist|ician|onomist|iatrist|optist|ologer|wife)$"
)


def work_of(text: str) -> str:
    """Return the work a noun phrase names, by list, by ending or by its short form; "" where it names none.

    >>> work_of("a dental hygienist in Leeds"), work_of("a GP"), work_of("a reader")
    ('dental hygienist', 'GP', '')
    """
    known = occupation(text)
    if known:
        return known
    value = bare(re.split(r"\s+(?:at|with|for|by|on|who|from|near|in)\b", text, maxsplit=1)[0])
    last = head(value)
    last_two = "-".join(value.casefold().split()[-2:])
    if len(value.split()) > 5 or last in listed_words("facts/occupations.not_work"):
        return ""
    return (
        value
        if _SUFFIX.match(last)
        or last in listed_words("facts/occupations.short_work")
        or last_two in listed_words("facts/occupations.short_work")
        else ""
    )
