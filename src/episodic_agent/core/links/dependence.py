"""How much a message needs something said before it, read from its closed-class words alone.

A follow-up points ("it", "the cheaper one", "the second"), goes on ("still", "again", "else") or reports what
came of advice ("did that, works now"); a fresh request introduces what it is about ("is there a …", "how do I
…"). English mostly; German, Spanish, French and Chinese by their commonest forms.
"""

import re
from dataclasses import dataclass
from typing import Final

from episodic_agent.core.language import words
from episodic_agent.core.language.phrases import phrase_pattern
from episodic_agent.data import texts

_IDEOGRAPHS: Final = re.compile("[\u3400-\u9fff]")
_FEW: Final = 5  # words; shorter messages seldom introduce a subject


@dataclass(frozen=True, slots=True)
class Dependence:
    """What stands in a message that points back, or that begins anew; each a share in [0, 1]."""

    pointing: float = 0.0
    choosing: float = 0.0
    going_on: float = 0.0
    fresh: float = 0.0
    report: float = 0.0
    definite: float = 0.0
    indefinite: float = 0.0
    personal: float = 0.0
    advice: float = 0.0
    fragment: float = 0.0
    asks: float = 0.0


def dependence(text: str) -> Dependence:
    """Read how much a message depends on an earlier one.

    >>> dependence("Is it cheaper than the other one?").pointing, dependence("How do I boil an egg?").fresh
    (1.0, 1.0)
    """
    spoken = words(text)
    line = f" {' '.join(spoken)} "
    values = {
        "pointing": _any("links/dependence.pointing", phrase_pattern("links/dependence.idle").sub(" ", line)),
        "choosing": _any("links/dependence.choosing", phrase_pattern("links/dependence.idle").sub(" ", line)),
        "going_on": _any("links/dependence.going_on", line),
        "fresh": _any("links/dependence.fresh", line),
        "report": _any("links/dependence.report", line),
        "definite": _any("links/dependence.definite", line),
        "indefinite": _any("links/dependence.indefinite", line),
        "personal": _any("links/dependence.personal", line),
        "advice": _any("links/dependence.advice", line),
    }
    if _IDEOGRAPHS.search(text):
        values |= {
            name: float(bool(re.search(source, text)))
            for name, source in texts("links/dependence.han").items()
        }
    else:
        values["fragment"] = max(0.0, 1.0 - max(len(spoken) - 1, 0) / _FEW)
    return Dependence(**values, asks=float(bool(re.search("[?？]", text))))


def _any(address: str, line: str) -> float:
    """Return 1 where any phrase of the list stands."""
    return float(bool(phrase_pattern(address).search(line)))
