"""How many tokens a text is, without a model's tokenizer: near enough for a budget, the same everywhere."""

import re
from typing import Final

# Written without spaces, or (Korean) with several tokens to a word: each character is about one token.
_WIDE: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff"
)
_CHARACTER: Final = re.compile(f"[{_WIDE}]")
_WORD: Final = re.compile(rf"[^\s{_WIDE}]+")
_LONG_WORD: Final = 24  # characters; an address or a key of a thousand letters is not one word
_ENDINGS: Final = " \t,.;:!?–-"


def estimate(text: str) -> int:
    """Return the tokens of a text: words x 1.3 and each CJK (or Thai, Khmer, …) character, rounded up.

    A word of more than 24 characters counts once for every 24.

    >>> estimate("You were discussing weather in New York."), estimate("我去上海"), estimate("")
    (10, 4, 0)
    """
    return (tenths(text) + 9) // 10


def tenths(text: str) -> int:
    """Return ten times the tokens of a text, not rounded: those of its lines add up to those of the text."""
    if text.isascii():
        words = text.split()
        wide = 0
    else:
        words = _WORD.findall(text)
        wide = len(_CHARACTER.findall(text))
    count = len(words)
    if len(text) > _LONG_WORD and max(map(len, words), default=0) > _LONG_WORD:
        count += sum((len(word) - 1) // _LONG_WORD for word in words if len(word) > _LONG_WORD)
    return 13 * count + 10 * wide


def cut_to(text: str, tokens: int) -> str:
    """Return the longest beginning of a text within some tokens, ending in "…" where something is missing.

    Cut between words where there are any; "" where nothing fits.

    >>> cut_to("one two three four", 4)
    'one two three…'
    >>> cut_to("question: 我去上海", 5)
    'question: 我去…'
    """
    if estimate(text) <= tokens:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if estimate(text[:middle] + "…") <= tokens:
            low = middle
        else:
            high = middle - 1
    beginning = text[:low]
    # a script without spaces has no word that a cut could lie inside
    in_a_word = (
        low < len(text) and text[low].strip() and not _CHARACTER.search(text[max(0, low - 1) : low + 1])
    )
    if in_a_word and " " in beginning[low // 2 :]:
        beginning = beginning[: beginning.rindex(" ")]
    beginning = beginning.rstrip(_ENDINGS)
    return beginning + "…" if beginning else ""
