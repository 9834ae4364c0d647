"""Does a question ask which rules hold: how to work, how to answer? A judge taught by examples tells.

"Which rules hold here?" shares no word with "uv only", so what answers it is found by what it is: every
standing wish. The weights are made by `tools/train_wishes.py`.
"""

from typing import Final

from episodic_agent.core.facts.stating import SHORT, likely
from episodic_agent.schemas import Vector

ASKING: Final = "recall/rules_asked.npz"
RULES_ASKED: Final = 0.45  # from which a question asks for rules


def asks_for_rules(question: str, vector: Vector | None = None) -> bool:
    """Tell whether a question is for the rules that hold, of a project or for all.

    `vector` [384] is that of the judge's embedder, None: none.

    >>> asks_for_rules("Which rules hold here?"), asks_for_rules("Which tests are red here?")
    (True, False)
    """
    return len(question) <= SHORT and likely(ASKING, question, vector) >= RULES_ASKED
