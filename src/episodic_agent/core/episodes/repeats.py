"""Say nothing twice: a title that is a summary's first sentence, a summary that stands beside its talk."""

import re
from collections.abc import Iterable
from typing import Final

from episodic_agent.core.language.sentences import sentences

_SPEAKER: Final = re.compile(r"^[^\s:][^:.!?]{0,40}?(?: -|:) ")  # "Lena: …", "User - …"
_DATED: Final = re.compile(r" ?\([^()]*\d[^()]*\)")  # "tomorrow (4 May 2024)"
_SIGNS: Final = re.compile(r"[\W_]+")


def title_beside(title: str, summary: str, language: str | None = None) -> str:
    """Return a title as it stands before its summary: "" where that begins with the very sentence.

    >>> title_beside("Snow again tomorrow", "Snow again tomorrow. In March.")
    ''
    >>> title_beside("Snow", "Snow again tomorrow. In March.")
    'Snow'
    """
    return "" if _is_first(title, sentences(summary, language)) else title


def summary_beside(title: str, summary: str) -> str:
    """Return a summary as it stands under its title: without its first sentence where that is the title.

    >>> summary_beside("Snow again tomorrow", "Lena: Snow again tomorrow. In March.")
    'In March.'
    """
    first, *others = sentences(summary) or [""]
    return " ".join(others) if _is_first(title, [first]) else summary


def unsaid(summary: str, there: Iterable[str], language: str | None = None) -> str:
    """Return a summary without the sentences that stand in one of some texts already.

    >>> unsaid("The van is booked. Tom drives.", ["The van is booked."])
    'Tom drives.'
    """
    texts = [f" {_plain(text)} " for text in there]
    if not texts:
        return summary
    fresh = [
        one
        for one in sentences(summary, language)
        if not any(f" {form} " in text for text in texts for form in _forms(one) if form)
    ]
    return " ".join(fresh)


def _is_first(title: str, spoken: list[str]) -> bool:
    return bool(spoken) and bool(_plain(title)) and _plain(title) in _forms(spoken[0])


def _forms(sentence: str) -> tuple[str, str]:
    """Return a sentence's words, with and without who said it."""
    return _plain(sentence), _plain(_SPEAKER.sub("", sentence))


def _plain(text: str) -> str:
    return " ".join(_SIGNS.sub(" ", _DATED.sub("", text)).casefold().split())
