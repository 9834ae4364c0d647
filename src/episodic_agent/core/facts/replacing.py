"""Does what somebody says now take the place of something they said before? Judged by a pair of statements.

Moved, changed, cancelled, corrected, put off: the later words name the same matter and another state of it. A
weighed sum over few features of the pair, with weights from `data/facts/replacing.json` (made by
`tools/train_facts.py`): one set for pairs with vectors, one without.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from math import exp, log1p
from typing import Final

from episodic_agent.core.facts.stating import signs
from episodic_agent.core.language import tokens
from episodic_agent.data import number, numbers
from episodic_agent.schemas import Vector
from episodic_agent.schemas.facts import Category

_NUMBERS: Final = re.compile(r"\d+(?:[.,:]\d+)*")
_STATES: Final = {f":{name}": name for name in ("change", "negation", "passing", "hedge", "number", "kin")}
_BEFORE: Final = {sign: f"before {name}" for sign, name in _STATES.items()}


@dataclass(frozen=True, slots=True, eq=False)
class JudgedStatement:
    """A statement as pairs are judged: its words, when it was said, its category, its vector [d] or None.

    Time tells nothing of a pair but which of the two is the older.
    """

    text: str
    at: datetime
    category: Category
    vector: Vector | None = None


def features(
    older: JudgedStatement, newer: JudgedStatement, rivals: Sequence[float] = ()
) -> dict[str, float]:
    """Return what a pair is judged by; `rivals` are the newer one's cosines with others it may replace.

    With no vector on either side the features of meaning are left out.
    """
    (before, theirs, old_form), (after, ours, form) = _read(older.text), _read(newer.text)
    shared = before & after
    least, most = min(len(before), len(after)), len(before | after)
    row = {
        "shared": log1p(len(shared)),
        "overlap": len(shared) / least if least else 0.0,
        "jaccard": len(shared) / most if most else 0.0,
        "same numbers": float(bool(ours) and ours == theirs),
        "other numbers": float(bool(ours and theirs) and not ours & theirs),
        "repeated": float(before == after),
        "category": float(older.category is newer.category),
        "short": float(len(after) <= 3),
        "care": float(":care" in form and ":care" in old_form),
        "care forgotten": float(":care" in old_form and ":care" not in form),
    }
    row["other numbers of it"] = row["other numbers"] * row["overlap"]
    row |= {name: float(sign in form) for sign, name in _STATES.items()}
    row |= {name: float(sign in old_form) for sign, name in _BEFORE.items()}
    row["change of it"] = row["change"] * row["overlap"]
    row["negation of it"] = row["negation"] * row["overlap"]
    if older.vector is not None and newer.vector is not None:
        cosine = float(older.vector @ newer.vector)
        row["cosine"] = cosine
        row["near"] = max(0.0, cosine - 0.5)
        row["margin"] = cosine - max(rivals, default=0.0)
        row["nearest"] = float(all(cosine >= other for other in rivals))
        row["change nearby"] = row["change"] * cosine
        row["other numbers nearby"] = row["other numbers"] * cosine
    return row


def likelihood(older: JudgedStatement, newer: JudgedStatement, rivals: Sequence[float] = ()) -> float:
    """Return how likely the newer statement takes the older one's place, in [0, 1]."""
    row = features(older, newer, rivals)
    kind = "meaning" if "cosine" in row else "words"
    weights = numbers(f"facts/replacing.{kind}")
    total = weights["base"] + sum(weights.get(name, 0.0) * value for name, value in row.items())
    return 1.0 / (1.0 + exp(-max(-30.0, min(30.0, total))))


def threshold(meaning: bool) -> float:
    """Return the likelihood from which a statement counts as replaced, with vectors and without."""
    return number("facts/replacing.threshold" if meaning else "facts/replacing.threshold_words")


@lru_cache(maxsize=4_096)
def _read(text: str) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Return the terms, the numbers and the signs of a statement."""
    return frozenset(tokens(text)), frozenset(_NUMBERS.findall(text)), frozenset(signs(text))
