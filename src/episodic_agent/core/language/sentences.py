"""Sentences, with the rule-based `sentencex` segmenter."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from math import log
from typing import TYPE_CHECKING, Final

from episodic_agent.core.language.remembering import remembered
from episodic_agent.core.language.terms import script, stop_words, tokens, words
from episodic_agent.data import texts
from episodic_agent.lazily import module

if TYPE_CHECKING:
    from episodic_agent.core import failing
else:
    failing = module("episodic_agent.core.failing")  # a listing reads none

_OKAY: Final = re.compile(r"(?<=\b[Oo]k\.)\s+")  # which the segmenter takes for Oklahoma
_ORDINAL: Final = re.compile(r"\b\d{1,2}\.\s*$")
_DAY_OR_MONTH: Final = re.compile(r"\s*\d{1,2}\.")  # the 3. of "16. 3."
# German words before an ordinal and a noun, which has a capital: "der 2. Weltkrieg"; "I am 20." is none
_BEFORE_ORDINAL: Final = re.compile(
    r"(?i)\b(?:der|die|das|den|dem|des|im|vom|zum|zur|beim|ins|fürs|(?<!\bi )am"
    r"|jede[rmns]?|(?:m|s|d)?ein(?:e[rmns]?)?"
    r"|ihr(?:e[rmns]?)?|unser(?:e[rmns]?)?|bis|ab|seit) \d{1,2}\.\s*$"
)
_LOOKED_AT: Final = 1_000_000  # characters of a text an excerpt is taken from: a third of a second

_LONGEST_SENTENCE: Final = 280  # characters, beyond which one is cut at its commas
_PART: Final = 160  # characters of such a part
_CLAUSE: Final = re.compile(r"[^,;，；、]{1,160}[,;，；、]*")
_WORDS: Final = 0.5  # what holding most of a query's rare terms counts beside a cosine
_NEXT: Final = 0.3  # share of the worth of what stands before it that counts
_FOLLOWS: Final = 0.05  # what standing behind a piece that is shown counts
_SHORTEST: Final = 20  # characters, below which no piece is looked for any more
_CALL: Final = re.compile(r"called [^\s(]+\(.*?\):\s")  # as an observation begins that tells of one
_PIECE: Final = re.compile(r"[^\n]{1,160}(?:\s|$)|[^\n]{1,160}")  # a line, or of a long one a part
_BEARS: Final = 0.5  # weight of the shared terms from which a line bears on a query
_BESIDE: Final = 3  # lines that follow one that bears, as details do
_NAMED: Final = 2  # terms of a query that a line holds before it may be what is asked for
_LEAST: Final = 24  # characters of an output beside its call

_BY_SCRIPT: Final = {
    "latin": "en",
    "cyrillic": "ru",
    "han": "zh",
    "kana": "ja",
    "greek": "el",
    "arabic": "ar",
    "hebrew": "he",
    "devanagari": "hi",
    "armenian": "hy",
    "hangul": "ko",
    "bengali": "bn",
    "tamil": "ta",
    "telugu": "te",
}


def sentences(text: str, language: str | None = None) -> list[str]:
    r"""Cut a text into stripped, non-blank sentences; a line break always ends one.

    `language` is an ISO 639-1 code; without it the script decides (abbreviations differ between languages).

    >>> sentences("Dr. Lee came. We spoke!\n- first point")
    ['Dr. Lee came.', 'We spoke!', '- first point']
    >>> sentences("Ran 6k, legs ok. I need a nap.")
    ['Ran 6k, legs ok.', 'I need a nap.']
    >>> sentences("Die Miete ist am 3. April fällig. Danke.")
    ['Die Miete ist am 3. April fällig.', 'Danke.']
    >>> sentences("Urlaub ist vom 16. bis 20. März. Der 2. Weltkrieg. It costs 20. Fine.")
    ['Urlaub ist vom 16. bis 20. März.', 'Der 2. Weltkrieg.', 'It costs 20.', 'Fine.']
    >>> sentences("Prerow vom 18.7. bis 1.8. ; dort waren sie schon.")
    ['Prerow vom 18.7. bis 1.8. ; dort waren sie schon.']
    """
    return list(_cut(text, language))


@remembered(2_048)  # what a message states, tells and puts right is read by its sentences, each by itself
def _cut(text: str, language: str | None) -> tuple[str, ...]:
    code = language or _BY_SCRIPT.get(script(text), "en")
    segment = _segmenter()
    cut_pieces: list[str] = []
    for line in text.splitlines():
        if len(line) < 4:  # too short to hold two sentences; spares the segmenter's call
            cut_pieces.append(line.strip())
            continue
        for piece in _joined_at_ordinals(segment(code, line), code):
            cut_pieces.extend(part.strip() for part in _OKAY.split(piece))
    return tuple(piece for piece in cut_pieces if piece)


def _joined_at_ordinals(pieces: Iterable[str], language: str) -> list[str]:
    """Join what an ordinal tore apart: "16." and "bis", "3." and "April", "fürs 1." and "Quartal"."""
    joined: list[str] = []
    for piece in pieces:
        if joined and _ORDINAL.search(joined[-1]) and (language == "de" or _continues(joined[-1], piece)):
            joined[-1] += piece
        else:
            joined.append(piece)
    return joined


def _continues(before: str, piece: str) -> bool:
    """Tell whether a sentence goes on behind an ordinal, whatever language it is in."""
    start = piece.lstrip()[:1]
    small = start.isalpha() and start == start.lower() != start.upper()
    # no sentence begins with a comma or a semicolon
    if small or start in (",", ";") or _DAY_OR_MONTH.match(piece) or _begins_with_a_month(piece):
        return True
    return _BEFORE_ORDINAL.search(before) is not None


def _begins_with_a_month(piece: str) -> bool:
    return any(word.rstrip(".,;:!?").casefold() in _months() for word in piece.split(maxsplit=1)[:1])


@cache
def _months() -> frozenset[str]:
    return frozenset(name.casefold() for names in texts("language/months").values() for name in names.split())


@cache
def _segmenter() -> "Callable[[str, str], Iterable[str]]":
    """Import the segmenter when first used: most commands never cut sentences."""
    from sentencex import segment  # noqa: PLC0415

    cut: Callable[[str, str], Iterable[str]] = segment
    return cut


def pieces(text: str) -> list[str]:
    """Return a text's sentences; of one that never ends, as people dictate, parts between its commas.

    >>> [len(piece) for piece in pieces("One. Two, " + "and so on, " * 30)]
    [4, 158, 153, 21]
    """
    cut: list[str] = []
    for sentence in sentences(text[:_LOOKED_AT]):
        if len(sentence) <= _LONGEST_SENTENCE:
            cut.append(sentence)
            continue
        part = ""
        for clause in _CLAUSE.findall(sentence):
            if part and len(part) + len(clause) > _PART:
                cut.append(part.strip())
                part = ""
            part += clause
        cut.append(part.strip())
    return [piece for piece in cut if piece]


def excerpt(
    text: str, query: str, limit: int, *, output: bool = False, nearness: Sequence[float] = ()
) -> str:
    """Return what of a text bears most on a query, at most `limit` characters of its own pieces, in order.

    A piece counts by the query's terms it holds, by how few pieces hold them, and by its `nearness` in
    meaning where that is given, in [-1, 1] for each of `pieces(text)`; what follows one that bears counts
    too. "…" stands where something is left out. Of equal pieces the first is taken, with what
    follows. Of a tool's `output`, as which a text that begins with a call is read anyway, see
    `output_excerpt`.

    >>> excerpt("We talked for long. The clutch costs 900 euros. So be it.", "what does the clutch cost", 32)
    '… The clutch costs 900 euros. …'
    """
    if len(text) <= limit:
        return text
    if output or _CALL.match(text):
        return output_excerpt(text, query, limit)
    parts = pieces(text) or [text]
    worths = _line_weights(parts, _content(query))
    most = max(worths) or 1.0
    near = nearness if len(nearness) == len(parts) else [0.0] * len(parts)
    worths = [_WORDS * worth / most + close for worth, close in zip(worths, near, strict=True)]
    return _joined(parts, _taken(parts, worths, limit - 4) or [worths.index(max(worths))], limit - 2)


def _joined(parts: Sequence[str], taken: Sequence[int], most: int) -> str:
    """Return the pieces at some places, `most` characters of them, with "…" for what is left out."""
    shown = ""
    for place, before in zip(taken, [-1, *taken], strict=False):
        gap = " " if place == before + 1 else " … "
        shown = f"{shown}{gap}{parts[place]}"
    end = " …" if taken[-1] < len(parts) - 1 or len(shown.strip()) > most - 2 else ""
    return f"{shown.strip()[:most].rstrip()}{end}"


def _content(query: str) -> frozenset[str]:
    """Return a query's terms without function words; all where it has no others."""
    functional = frozenset().union(*stop_words().values())
    empty = {term for word in words(query) if word in functional for term in tokens(word)}
    terms = frozenset(tokens(query))
    return terms - empty or terms


def _taken(parts: Sequence[str], worths: Sequence[float], room: int) -> list[int]:
    """Return the places of the pieces that are shown, in order: the best, then what still fits."""

    before = [0.0, *worths]
    values = [worth + _NEXT * max(0.0, before[place]) for place, worth in enumerate(worths)]
    left, taken = set(range(len(parts))), set[int]()
    while left:
        place = max(left, key=lambda n: (round(values[n] + _FOLLOWS * (n - 1 in taken), 6), -n))
        left.discard(place)
        if len(parts[place]) + 3 <= room:
            taken.add(place)
            room -= len(parts[place]) + 3
        elif not taken or room < _SHORTEST:
            break
    return sorted(taken)


def output_excerpt(text: str, query: str, limit: int) -> str:
    r"""Return the call of a tool and the lines of its output that are nearest to a query by rare terms.

    Lines that say that something failed come before all others but those that hold most of the query, with
    what follows them. What stands in nearly every line tells none from another. Where none bears on the query
    the last ones stand, and fewer: there an output says what came of it.

    >>> log = "called sh(command=\"t\"): " + "\n".join(f"t{n} passed" for n in range(40)) + "\nt9 failed\nbye"
    >>> output_excerpt(log, "bread", 64), output_excerpt(log.replace("failed", "late"), "bread", 64)
    ('called sh(command="t"): … t9 failed bye', 'called sh(command="t"): … t39 passed t9 late bye')
    """
    call = _CALL.match(text)
    head = "" if call is None else call.group().strip()
    if len(head) > limit // 2:
        head = head[: limit // 2 - 1].rstrip() + "…"
    body = text[call.end() if call else 0 :][-_LOOKED_AT:]
    lines = [piece for match in _PIECE.finditer(body) if (piece := match.group().strip())]
    room = max(_LEAST, limit - len(head) - 5)
    terms = frozenset(tokens(query))
    weights = _line_weights(lines, terms)
    failed = failing.failing(lines)
    if any(failed):
        return f"{head} {_with_failures(lines, weights, failed, query, room)}".strip()
    best = max(range(len(lines)), key=lambda place: (weights[place], place), default=0)
    bearing = [weight >= _BEARS for weight in weights]
    if not any(bearing):
        best, room, bearing = len(lines) - 1, max(_LEAST, room // 3), [True] * len(lines)
    first, last = _around(lines, best, room, bearing)
    shown = " ".join(lines[first : last + 1])[:room].rstrip()
    before, after = "… " if first else "", " …" if last < len(lines) - 1 else ""
    return f"{head} {before}{shown}{after}".strip()


def _with_failures(
    lines: Sequence[str], weights: Sequence[float], failed: Sequence[bool], query: str, room: int
) -> str:
    """Return failed lines and those that hold most of a query, then what follows them or bears on it."""
    terms, most = _content(query), max(weights) or 1.0
    held = [len(terms.intersection(tokens(line))) for line in lines]
    worths = [
        (fails or (count >= _NAMED and count * 2 > len(terms))) + _WORDS * weight / most
        for fails, count, weight in zip(failed, held, weights, strict=True)
    ]
    near = [
        place
        for place, weight in enumerate(weights)
        if weight >= _BEARS or any(failed[max(0, place - _BESIDE) : place + 1])
    ]
    taken = [near[n] for n in _taken([lines[n] for n in near], [worths[n] for n in near], room)]
    return _joined(lines, taken or [worths.index(max(worths))], room)


def _line_weights(lines: Sequence[str], terms: frozenset[str]) -> list[float]:
    """Return how much of a query each line holds: its terms, by how few lines hold them."""
    shared = [terms.intersection(tokens(line)) for line in lines]
    counts = Counter(term for held in shared for term in held)
    rarity = {term: log((1 + len(lines)) / (1 + count)) for term, count in counts.items()}
    return [round(sum(rarity[term] for term in sorted(held)), 6) for held in shared]


def _around(lines: Sequence[str], best: int, room: int, bearing: Sequence[bool]) -> tuple[int, int]:
    """Return the first and last place of a run of lines: the best, what follows it, what bears before it."""
    first = last = best
    size = len(lines[best]) if lines else 0
    beside = 0
    while last + 1 < len(lines) and beside < _BESIDE and size + 1 + len(lines[last + 1]) <= room:
        last += 1
        beside = 0 if bearing[last] else beside + 1
        size += 1 + len(lines[last])
    while first > 0 and bearing[first - 1] and size + 1 + len(lines[first - 1]) <= room:
        first -= 1
        size += 1 + len(lines[first])
    return first, last
