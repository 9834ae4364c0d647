"""What is left of what was erased: a tombstone in its thread, and a receipt without a word of it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Final

from episodic_agent.schemas import Scope
from episodic_agent.schemas.erasures import What

LONGEST_SAMPLE: Final = 48
SHORTEST_SAMPLE: Final = 8
SAMPLES: Final = 12


def fingerprint(scope: Scope, what: What, name: str) -> str:
    """Return what a receipt calls a thing: who knows its name finds the receipt, who reads one learns none.

    >>> len(fingerprint(Scope("ana"), What.USER, "ana"))
    32
    """
    text = "\0".join((scope.space, scope.user_id, what.value, name))
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def samples(texts: Iterable[str]) -> Sequence[str]:
    """Return strings to look for after an erasure: the longest texts' middles, which tell them from others.

    >>> samples(["ok", "The piano mover comes on the 12th."])
    ['The piano mover comes on the 12th.']
    """
    worth = {text.strip() for text in texts}
    longest = sorted((t for t in worth if len(t) >= SHORTEST_SAMPLE), key=lambda t: (-len(t), t))[:SAMPLES]
    return [_middle(text) for text in longest]


class Quotable:
    """Texts that go, by their search terms: what repeats one of them goes too."""

    def __init__(self, texts: Iterable[Iterable[str]]) -> None:
        self._holding: dict[str, list[int]] = {}
        for number, terms in enumerate(texts):
            for term in set(terms):
                self._holding.setdefault(term, []).append(number)

    def quoted_in(self, terms: Iterable[str]) -> bool:
        """Tell whether half the terms are those of one text, or one of them is a number or code of a text.

        >>> Quotable([["code", "safe", "4711"]]).quoted_in(["4711", "train", "leave", "today"])
        True
        >>> Quotable([["code", "safe", "4711"]]).quoted_in(["who", "rob", "safe"])
        False
        """
        asked = set(terms)
        shared: Counter[int] = Counter()
        for term in asked:
            texts = self._holding.get(term, [])
            if texts and any(character.isdigit() for character in term):
                return True
            shared.update(texts)
        return bool(shared) and max(shared.values()) * 2 >= len(asked)


def _middle(text: str) -> str:
    start = max(0, (len(text) - LONGEST_SAMPLE) // 2)
    return text[start : start + LONGEST_SAMPLE]
