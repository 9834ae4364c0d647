"""Order in a question: "the last time", "the latest", "the last three times", "the first time".

A preference among what is relevant, never a filter: recency lifts a candidate only in proportion to its
score, so the newest message about something else gains nothing. Calendar expressions ("last week", "the first
week of May") belong to `timewords` and are not read here; nor are "last name" or "how long did it last".
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final

import numpy as np

from episodic_agent.core.language import fold, tokens, words
from episodic_agent.core.language.phrases import phrase_pattern
from episodic_agent.core.recall.bm25 import FloatArray, IntArray
from episodic_agent.data import listed_words, texts

STRONG: Final = 0.6  # a candidate takes a place in the order from this share of the best score on
_FADE: Final = 0.5  # each place after the ones asked for is worth this share of the one before
_MOST: Final = 50
_MEANT: Final = 0.55  # of a thing that never moves something else was the last to be said

_NUMBERS: Final = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "couple of": 2, "few": 3, "several": 4, "两": 2, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7,
    "八": 8, "九": 9, "十": 10, "几": 3, "zwei": 2, "drei": 3, "vier": 4, "funf": 5, "dos": 2, "tres": 3,
    "cuatro": 4, "cinco": 5, "deux": 2, "trois": 3, "quatre": 4, "cinq": 5, "due": 2, "tre": 3, "quattro": 4,
    "cinque": 5, "duas": 2, "quatro": 4, "twee": 2, "drie": 3, "vijf": 5, "два": 2, "три": 3, "четыре": 4,
    "пять": 5,
}  # fmt: skip
_N: Final = (
    rf"(?P<n>\d{{1,3}}|{'|'.join(sorted((n for n in _NUMBERS if n.isascii()), key=len, reverse=True))})"
)
_CN: Final = rf"(?P<n>\d{{1,3}}|[{''.join(n for n in _NUMBERS if '一' <= n[0] <= '鿿')}])"
_RU: Final = r"(?P<n>\d{1,3}|два|три|четыре|пять)"
_NOT_CALENDAR: Final = (
    r"(?!(?:seconds?|minutes?|hours?|days?|nights?|mornings?|afternoons?|evenings?|weeks?|weekends?|"
    r"fortnights?|months?|quarters?|years?|decades?|names?|\w+days?|spring|summer|autumn|fall|winter|january|february|march|april|may|june|"
    r"july|august|september|october|november|december|chapters?|pages?|words?|lines?)\b)"
)
_DID: Final = (  # "did we last meet", but not "did we spend the last day", "how long did it last for"
    r"^(?!.*\bhow long\b).*\b(?:did|has|have|had|do|does)\s+(?:[\w'’]+\s+){0,3}?"
    r"(?!(?:my|your|his|her|our|their|its|the|a|an)\b)[\w'’]+(?<!['’]s)\s+"
)
_VERB: Final = (
    r"(?!(?:in|on|at|for|from|during|until|till|to|by|of|and|or|when|if|as|than|about|before|after|all|thing)\b)"
    rf"{_NOT_CALENDAR}\w"
)
# "The first time after the move" is not the earliest of all, nor "the last time before it" the latest.
_AFTER: Final = (
    r"\b(?:after|following|since|nachdem|nach|seit|despues|desde|apres|depuis|dopo|depois|nadat|sinds|после)\b"
    r"|后|以来"
)
_BEFORE: Final = r"\b(?:before|until|prior to|bevor|antes|avant|перед)\b|之前|以前"
_ANY: Final = (  # what every expression below holds one of: most questions are done with after this look
    r"last|latest|recent|newest|previous|past|first|earliest|oldest|最|[上前].?次|首次|第一次|头一|letzt|vergangen|"
    r"neuest|jungst|zuletzt|erste|fruhest|altest|ultim|recient|prime|prima|dernier|premier|laatste|vorige|"
    r"nieuwste|послед|недавн|нов|перв"
)
# Compiled at first use (`re` keeps them). Texts are folded: lower case, no accents on Latin letters.
_LATEST: Final = (
    rf"\b(?:last|latest|most recent|past|previous)\s+{_N}\s+(?:times|occasions)\b",
    rf"\b(?:the|my|your|his|her|our|their|its|['’]s)\s+(?:last|latest|most recent)\s+{_N}\s+"
    rf"{_NOT_CALENDAR}\w+s\b",
    r"\b(?:last|latest|most recent|previous)\s+(?:time|occasion)\b",
    r"\bmost\s+recent(?:ly)?\b",
    r"\b(?:latest|newest)\b",
    rf"{_DID}last\s+{_VERB}",
    rf"(?:最近的?|最后|上){_CN}次",
    "最近一次|最后一次|上一次|最新|上次",
    rf"\b(?:letzten|vergangenen)\s+{_N}\s+(?:mal|male)\b",
    r"\b(?:letzte[ns]?\s+mal|zuletzt|neueste[nrsm]?|jungste[nrsm]?)\b",
    rf"\bultimas?\s+{_N}\s+(?:veces|vezes)\b",
    rf"\bultime\s+{_N}\s+volte\b",
    rf"\b{_N}\s+dernieres\s+fois\b",
    r"\bultima\s+(?:vez|volta)\b|\bmas\s+recientes?\b|\bmais\s+recentes?\b|\bpiu\s+recent[ei]\b",
    r"\bderniere\s+fois\b|\bplus\s+recente?s?\b",
    rf"\blaatste\s+{_N}\s+keer\b",
    r"\b(?:laatste|vorige)\s+keer\b|\bmeest\s+recente\b|\bnieuwste\b",
    rf"\bпоследни[ех]\s+{_RU}\s+раза?\b",
    r"\bпоследний\s+раз\b|\bсам\w+\s+(?:последн|недавн|нов)\w+|\bнов(?:ейш)\w+",
)
_EARLIEST: Final = (
    rf"\bfirst\s+{_N}\s+(?:times|occasions)\b",
    r"\bfirst\s+(?:time|occasion)\b",
    r"\b(?:earliest|oldest)\b",
    rf"{_DID}first\s+{_VERB}",
    rf"(?:最初|最早|前){_CN}次",
    "第一次|首次|最早|头一次|头一回",
    rf"\bersten\s+{_N}\s+male?\b",
    r"\berste[ns]?\s+mal\b|\b(?:fruheste|alteste)[nrsm]?\b",
    rf"\bprimeras?\s+{_N}\s+veces\b",
    rf"\bprime\s+{_N}\s+volte\b",
    rf"\b{_N}\s+premieres\s+fois\b",
    r"\bprime(?:ra\s+vez|ira\s+vez)\b|\bprima\s+volta\b|\bpremiere\s+fois\b",
    r"\beerste\s+keer\b|\bпервый\s+раз\b|\bвпервые\b",
)


_WHERE_NOW: Final = (
    r"(?:^|[,.!;:]\s*|\b(?:and|so|well|ok|okay|hey|tell me|know|und|y|et|e|en)\s+)"
    r"(?:where(?:['’]?(?:s|re|ve)\b|\s+(?:is|are|have|has)\b|\s+did\s+(?:i|we|you|he|she|they)\s+(?:last\s+)?"
    r"(?:put|leave|lay|park|store|hide|place|drop|lose|find|see)\b)"
    r"|wo\s+(?:ist|sind|liegt|liegen|steht|stehen|bleibt|(?:hab|habe|haben|hast)\s+\w+.*\b(?:gelegt|hingelegt|gelassen|"
    r"gesteckt|gestellt|geparkt|versteckt)\b)|donde\s+(?:esta|estan|deje|puse)\b|ou\s+(?:est|sont)\b|"
    r"dov(?:e|['’]e)\s*(?:sono)?\b|onde\s+(?:esta|estao|deixei)\b|waar\s+(?:is|zijn|ligt|liggen|staat)\b|где\b)|在哪"
)


@dataclass(frozen=True, slots=True)
class Order:
    """Hold which end of time a question asks for, and how many occasions from there.

    `of_places`: of what tells a place, and of nothing else. `strength` is how much it counts beside the
    words of the question, in [0, 1]: less where it is not asked for in words, but meant.
    """

    latest: bool
    count: int = 1
    of_places: bool = field(default=False, repr=False)
    strength: float = field(default=1.0, repr=False)


def read_order(text: str) -> Order | None:
    """Read which occasions a question prefers, or None.

    >>> read_order("When was the last time Ana swam?")
    Order(latest=True, count=1)
    >>> read_order("What did we cook the first three times?"), read_order("我上次去上海是什么时候？")
    (Order(latest=False, count=3), Order(latest=True, count=1))
    >>> read_order("What happened in the last three weeks?"), read_order("What is my last name?")
    (None, None)
    """
    folded = re.sub(r"\w+", lambda match: fold(match.group()), asking_part(text))
    if not re.search(_ANY, folded):
        return None
    for latest, patterns, anchor in ((True, _LATEST, _BEFORE), (False, _EARLIEST, _AFTER)):
        for pattern in patterns:
            match = re.search(pattern, folded)
            if match:
                anchored = re.search(anchor, folded)
                return None if anchored else Order(latest, _count(match.groupdict().get("n")))
    return None


def order_of(text: str) -> Order | None:
    """Return the end of time that a question asks for, by its words or because it asks where something is.

    >>> order_of("When did I last swim?"), order_of("Where is my cup?"), order_of("Who swims?")
    (Order(latest=True, count=1), Order(latest=True, count=1), None)
    """
    order = read_order(text)
    if not asks_where_now(text):
        return order
    meant = order or Order(latest=True, strength=_MEANT)
    return replace(meant, of_places=True)


def without_order(terms: Sequence[str], text: str, language: str | None) -> tuple[str, ...]:
    """Return the terms of a question without the words in which it asks for an end of time.

    "When did I last take the pills?" is not about whatever else was last, nor "what's going on with the
    flat?" about whoever was going somewhere.

    >>> without_order(("go", "flat"), "what's going on with the flat?", "en")
    ('flat',)
    """
    asking = _standing(text, language)
    terms = tuple(term for term in terms if term not in asking) or tuple(terms)
    if read_order(text) is None:
        return terms
    return tuple(term for term in terms if term not in _ordering(language))


def _standing(text: str, language: str | None) -> frozenset[str]:
    """Return the terms by which alone a question asks how a matter stands."""
    line = f" {' '.join(map(fold, words(text)))} "
    match = phrase_pattern(
        *(f"recall/order.standing.{one}" for one in texts("recall/order.standing"))
    ).search(line)
    if match is None:
        return frozenset()
    rest = line[: match.start()] + line[match.end() :]
    return frozenset(tokens(match.group(), language)) - frozenset(tokens(rest, language))


@lru_cache(maxsize=16)
def _ordering(language: str | None) -> frozenset[str]:
    listed = frozenset().union(
        *(listed_words(f"recall/order.words.{one}") for one in texts("recall/order.words"))
    )
    return listed.union(*(tokens(word, language) for word in listed))


def asks_where_now(text: str) -> bool:
    """Tell whether a question is for where something is now, or was left: the newest place is meant.

    >>> [asks_where_now(text) for text in ("Where are my keys?", "where did I put them", "Wo ist er?")]
    [True, True, True]
    >>> asks_where_now("Where did we eat in May?"), asks_where_now("I know where it is.")
    (False, False)
    """
    folded = re.sub(r"\w+", lambda match: fold(match.group()), asking_part(text))
    return re.search(_WHERE_NOW, folded) is not None


def asking_part(text: str) -> str:
    """Return the sentences that ask, or everything where none does: small talk around is not the question."""
    pieces = re.split(r"(?<=[?？。！!])\s*", text)
    return " ".join(piece for piece in pieces if piece.endswith(("?", "？"))) or text


def _count(text: str | None) -> int:
    if not text:
        return 1
    return min(max(int(text) if text.isdecimal() else _NUMBERS[text], 1), _MOST)


def order_match(
    order: Order, scores: FloatArray, moments: FloatArray, episodes: IntArray | None = None
) -> FloatArray:
    """Return how well each candidate meets an order, in [0, 1]: its relevance times its place.

    Only candidates of at least .6 of the best score take places; those of one episode (numbers from 0, -1
    for none) take one place together, and equal moments too. The `count` first places are worth 1, later
    ones half the one before. `moments` are seconds, NaN for unknown, which takes no place.

    >>> order_match(Order(latest=True), np.array([1.0, 0.9, 0.1]), np.array([1.0, 2.0, 3.0])).tolist()
    [0.5, 0.9, 0.0]
    """
    best = float(scores.max()) if len(scores) else 0.0
    result = np.zeros(len(scores))
    if best <= 0:
        return result
    relevance = scores / best
    rows = np.flatnonzero((relevance >= STRONG) & np.isfinite(moments))
    signed = -moments if order.latest else moments
    occasions: dict[float, list[int]] = {}
    own: dict[int, float] = {}  # the moment of an episode is that of its first strong candidate in the order
    for row in rows[np.argsort(signed[rows], kind="stable")].tolist():
        episode = int(episodes[row]) if episodes is not None and len(episodes) else -1
        moment = own.setdefault(episode, float(signed[row])) if episode >= 0 else float(signed[row])
        occasions.setdefault(moment, []).append(row)
    for place, inside in enumerate(occasions.values()):
        result[inside] = relevance[inside] * _FADE ** max(0, place + 1 - order.count)
    return result
