"""What is left of what was erased: a tombstone in its thread, and a receipt without a word of it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Final

from episodic_agent.core.episodes.languages import content_terms
from episodic_agent.core.language import tokens
from episodic_agent.schemas import Scope
from episodic_agent.schemas.erasures import What

LONGEST_SAMPLE: Final = 48
SHORTEST_SAMPLE: Final = 8
SAMPLES: Final = 12
CLIPPED: Final = "…"  # what titles end with where they leave the rest of a sentence out
SHORTEST_CLIPPED: Final = 3  # characters of a word that was cut through
SHORTEST_TOLD: Final = 3  # characters of a word that tells of something: "5" and "mg" stand anywhere
SHORTEST_OF_OTHERS: Final = 2  # of scripts other than ASCII's


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
    return [_middle(text) for text in _longest(texts)]


def traces(texts: Iterable[str]) -> Sequence[str]:
    """Return `samples`, and how the texts begin: a title is made of the first words, and is cut short.

    >>> traces(["The piano mover\\ncomes on the 12th, between eight and ten in the morning."])
    ['ver\\ncomes on the 12th, between eight and ten in ', 'The piano mover']
    """
    beginnings = (_beginning(text) for text in _longest(texts))
    return list(dict.fromkeys([*samples(texts), *(one for one in beginnings if one)]))


def telling_terms(text: str, language: str | None = None) -> frozenset[str]:
    """Return the search terms of a text that tell what it is about: no function words, nothing very short.

    >>> sorted(telling_terms("papa nimmt ramipril 5 mg und seit juli donepezil"))
    ['donepezil', 'juli', 'nimmt', 'papa', 'ramipril']
    """
    return frozenset(term for term in content_terms(text, language) if _tells(term))


def told_only_by(gone: Iterable[str], staying: Iterable[str], text: str, language: str | None = None) -> bool:
    """Tell whether a text has a word, or three in a row, of texts that go, which no text that stays has.

    Stop words do not count. `staying` is read no further than it takes to answer no.

    >>> told_only_by(["Postgres broke on staging"], ["It broke again"], "#eng: Postgres bro…")
    True
    >>> told_only_by(["Hi Maya, hi Tom"], ["Maya", "Tom"], "Maya & Tom")
    False
    """
    terms, lost = tokens(text, language), [tokens(lost_text, language) for lost_text in gone]
    if terms and text.endswith(CLIPPED):
        terms[-1] = next((t for some in lost for t in some if _begins(t, terms[-1])), terms[-1])
    left = _pieces(terms) & {piece for some in lost for piece in _pieces(some)}
    for kept_text in staying:
        if not left:
            break
        left -= _pieces(tokens(kept_text, language))
    return bool(left)


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


def _pieces(terms: Sequence[str]) -> set[tuple[str, ...]]:
    return {(term,) for term in terms} | set(zip(terms, terms[1:], terms[2:], strict=False))


def _tells(term: str) -> bool:
    return len(term) >= (SHORTEST_TOLD if term.isascii() else SHORTEST_OF_OTHERS)


def _begins(term: str, clipped: str) -> bool:
    """Tell whether a word that was cut through may be this one; of a stem more may be left than there is."""
    shared = min(len(term), len(clipped))
    return shared >= SHORTEST_CLIPPED and term[:shared] == clipped[:shared]


def _longest(texts: Iterable[str]) -> list[str]:
    worth = {text.strip() for text in texts}
    return sorted((t for t in worth if len(t) >= SHORTEST_SAMPLE), key=lambda t: (-len(t), t))[:SAMPLES]


def _beginning(text: str) -> str:
    """Return the first line of a text as far as a title tells it, "" where that says too little."""
    line = text.splitlines()[0].strip()[:LONGEST_SAMPLE]
    return line if len(line) >= SHORTEST_SAMPLE else ""


def _middle(text: str) -> str:
    start = max(0, (len(text) - LONGEST_SAMPLE) // 2)
    return text[start : start + LONGEST_SAMPLE]
