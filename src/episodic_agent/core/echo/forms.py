r"""Recalled text known by its form: what this project itself writes into prompts.

The texts of seeds 002 and 003 are fixed to the letter, so that nothing can be added to them; but their own
lines, in their order, are a marker: nobody writes `### Title [rank: 1, score: 0.83]` over `**When:**`, or
"You were discussing …" over "Previous questions:". What callers put together themselves can be put between
marks of its own (`marked`). Lines are looked at, not words: one line of a form alone proves nothing.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

_OPEN, _CLOSE = "<recalled-memory>", "</recalled-memory>"
_WRAPPED: Final = re.compile(r"<recalled-memory>.*?(?:</recalled-memory>|\Z)", re.DOTALL)
_MAY: Final = (  # most texts hold none of these, and are looked at no further: a rare letter is found fast
    ("<", "<recalled-memory>"), ("d", "discussing "), ("R", "Recent threads:"), ("#", "## Known Facts"),
    ("#", " Memories"), ("[", "[rank: "), ("_", "last_reviewed_at"),
)  # fmt: skip
_BREAK: Final = re.compile(r"\r?\n|\\n")  # also as JSON writes it
_DRESS: Final = r"[>\s\"'“]*"  # a quoting mail, a JSON string

_TOPIC: Final = re.compile(rf"{_DRESS}(?:[\w ]{{1,24}}: )?You (?:were|may have been) discussing \S.*")
_ASKS: Final = re.compile(rf"{_DRESS}Current question: ")
_LABEL: Final = re.compile(rf"{_DRESS}(?:Previous questions|Recent threads):\s*$")
_NOTE: Final = re.compile(rf"{_DRESS}(?:Summary|Mentioned): \S")
_BREAK_NOTE: Final = re.compile(rf"{_DRESS}\((?:Possibly c|C)ontinuing from previous thread after .+ break\)")
_ITEM: Final = re.compile(rf"{_DRESS}- \S")

_SECTION: Final = re.compile(
    rf"{_DRESS}(?:[\w ]{{1,40}}: )?[\"']?## (?:Known Facts|(?:Episodic|Recent) Memories)\s*$"
)
_RANKED: Final = re.compile(rf"{_DRESS}### .*\[rank: \d+, score: -?[\d.]+(?:, key moment)?\]")
_TITLE: Final = re.compile(rf"{_DRESS}### \S")
_FIELD: Final = re.compile(rf"{_DRESS}\*\*(?:When|Summary|Details):\*\*")
_FACT: Final = re.compile(rf"{_DRESS}- \[[^\]]+\] .+\(from \d+ episodes?\)")
_SAID: Final = re.compile(rf"{_DRESS}- [^:]{{1,80}}: \\?\".*")

_RAW: Final = (
    re.compile(r"\\?\"last_reviewed_at\\?\"\s*:"),
    re.compile(r"\\?\"stability\\?\"\s*:"),
    re.compile(r"\\?\"(?:episodic|title)\\?\"\s*:"),
)
_FLAT: Final = re.compile(  # the context on one line, as some frameworks store prompts
    r"You (?:were|may have been) discussing [^\n]{1,200}?\. (?:Summary: [^\n]*?|Mentioned: [^\n]*?)?"
    r"Previous questions: - [^\n]*?(?= Current question: |$)",
    re.MULTILINE,
)
Line = tuple[int, int, str]  # first and end in characters, and the words


def marked(text: str) -> str:
    """Return recalled text between the marks by which it is known when it comes back.

    >>> print(marked("The key is under the mat."))
    <recalled-memory>
    The key is under the mat.
    </recalled-memory>
    """
    inside = text.replace(_CLOSE, "‹/recalled-memory>").replace(_OPEN, "‹recalled-memory>")
    return f"{_OPEN}\n{inside}\n{_CLOSE}"


def recalled_spans(text: str) -> list[tuple[int, int]]:
    r"""Return the parts of a text that have the form of recalled text: (first, end) in characters, rising.

    >>> prompt = "You were discussing rent.\nPrevious questions:\n- How much? (900)\n\nCurrent question: Why?"
    >>> [prompt[first:end][-18:] for first, end in recalled_spans(prompt)]
    ['Current question: ']
    >>> recalled_spans("You were discussing rent. I could hear it.")
    []
    """
    if not any(rare in text and sign in text for rare, sign in _MAY):
        return []
    spans = [match.span() for match in _WRAPPED.finditer(text)]
    spans += _raw(text)
    lines = list(_lines(text))
    spans += _contexts(lines)
    spans += _answers(lines)
    spans += [match.span() for match in _FLAT.finditer(text)]
    return sorted(spans)


def _lines(text: str) -> Iterator[Line]:
    place = 0
    for found in _BREAK.finditer(text):
        yield place, found.start(), text[place : found.start()]
        place = found.end()
    yield place, len(text), text[place:]


def _raw(text: str) -> list[tuple[int, int]]:
    """Return where raw answers stand, from the first bracket to the last."""
    if not all(key.search(text) for key in _RAW):
        return []
    opened = [place for place in (text.find("{"), text.find("[")) if place >= 0]
    end = max(text.rfind("}"), text.rfind("]"))
    return [(min(opened), end + 1)] if opened and end > min(opened) else []


def _contexts(lines: Sequence[Line]) -> Iterator[tuple[int, int]]:
    """Yield blocks of seed 002's form; of "Current question: …" the question is the asker's own."""
    number = 0
    while number < len(lines):
        if not (_TOPIC.match(lines[number][2]) or _LABEL.match(lines[number][2])):
            number += 1
            continue
        first, end, proofs, listed = lines[number][0], lines[number][1], 0, False
        while number < len(lines):
            start, stop, words = lines[number]
            asks = _ASKS.match(words)
            if asks:
                end, proofs = start + asks.end(), proofs + 1
                number += 1
                break
            if _LABEL.match(words):
                listed, proofs = True, proofs + 1
            elif _NOTE.match(words) or _BREAK_NOTE.match(words):
                proofs += 1
            elif words.strip() and not (_TOPIC.match(words) or (listed and _ITEM.match(words))):
                break
            end = stop if words.strip() else end
            number += 1
        if proofs and (proofs > 1 or _TOPIC.match(_words_at(lines, first))):
            yield first, end
            if number < len(lines) and _BREAK_NOTE.match(lines[number][2]):
                yield lines[number][:2]
                number += 1


def _words_at(lines: Sequence[Line], first: int) -> str:
    return next(words for start, _, words in lines if start == first)


def _answers(lines: Sequence[Line]) -> Iterator[tuple[int, int]]:
    """Yield blocks of seed 003's Markdown."""
    forms = (_SECTION, _RANKED, _TITLE, _FIELD, _FACT, _SAID)
    number = 0
    while number < len(lines):
        if not (_SECTION.match(lines[number][2]) or _RANKED.match(lines[number][2])):
            number += 1
            continue
        first, end, proofs = lines[number][0], lines[number][1], 0
        while number < len(lines):
            _, stop, words = lines[number]
            if words.strip():
                if not any(form.match(words) for form in forms):
                    break
                proofs += bool(_RANKED.match(words) or _FIELD.match(words) or _FACT.match(words))
                end = stop
            number += 1
        if proofs:
            yield first, end
