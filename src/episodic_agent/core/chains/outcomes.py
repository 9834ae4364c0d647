"""How an episode ended, read from its last words: conservative, in several languages, else unknown.

Forms are folded as `core.text.words` leaves them. The last sentence of the user that says how it stands
decides; a question says nothing, and neither does what the assistant promises.
"""

import re
from collections.abc import Sequence
from typing import Final

from episodic_agent.core.ingest.steps import FAILURE, ONGOING, PARTIAL, SUCCESS
from episodic_agent.core.language import sentences, words
from episodic_agent.core.language.phrases import phrase_pattern, unspaced_pattern
from episodic_agent.data import listed_words, texts

ABANDONED, UNKNOWN = "abandoned", "unknown"
OUTCOMES: Final = (SUCCESS, PARTIAL, FAILURE, ONGOING, ABANDONED, UNKNOWN)
LAST_MESSAGES: Final = 3  # of the user, newest first
DENIED_WITHIN: Final = 3  # words before a success, among which a denial is its own

_DONE: Final = frozenset(("done", "fertig", "listo", "fini", "fatto", "hecho", "klaar", "готово"))
_IDEOGRAPHS: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def outcome_of(own: Sequence[str]) -> str:
    """Return how an episode ended from the user's messages in order; `unknown` where nobody says.

    >>> outcome_of(["It leaks again", "Patched. It works now, thanks!"])
    'success'
    >>> outcome_of(["Does it work now?"]), outcome_of(["I give up."]), outcome_of(["Es geht nicht."])
    ('unknown', 'abandoned', 'failure')
    >>> outcome_of(["Cottage booked.", "The flight is not booked yet."])
    'unknown'
    """
    for text in [*own][: -LAST_MESSAGES - 1 : -1]:
        for sentence in reversed(sentences(text)):
            if not re.search("[?？]", sentence) and (result := _spoken_words(sentence)):
                return result
    return UNKNOWN


def _spoken_words(sentence: str) -> str:
    spoken = words(sentence)
    if len(spoken) == 1 and spoken[0] in _DONE:
        return SUCCESS
    line = f" {' '.join(spoken)} "
    for outcome in texts("chains/outcomes.forms"):
        form = phrase_pattern(f"chains/outcomes.forms.{outcome}").search(line)
        if form is not None:
            denied = outcome == SUCCESS and _denied(line[: form.start()])
            return UNKNOWN if denied else outcome  # nor does an earlier success stand beside it
    return _unspaced(sentence)


def _denied(before: str) -> bool:
    """Tell whether what follows these words is said not to be so ("not booked yet")."""
    return not listed_words("chains/outcomes.denying.words").isdisjoint(before.split()[-DENIED_WITHIN:])


def _unspaced(sentence: str) -> str:
    if not _IDEOGRAPHS.search(sentence):
        return ""
    known = texts("chains/outcomes.han")
    results = (
        outcome for outcome in known if unspaced_pattern(f"chains/outcomes.han.{outcome}").search(sentence)
    )
    return next(results, "")


def outcome_named(word: object) -> str:
    """Return an outcome as it is written here, `unknown` for any other word.

    >>> outcome_named(" Success "), outcome_named("great")
    ('success', 'unknown')
    """
    folded = word.strip().casefold() if isinstance(word, str) else ""
    return folded if folded in OUTCOMES else UNKNOWN
