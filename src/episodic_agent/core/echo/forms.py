r"""Recalled text known by its form: what this project itself writes into prompts.

The texts of seeds 002 and 003 are fixed to the letter, so that nothing can be added to them; but their own
lines, in their order, are a marker: nobody writes `### Title [rank: 1, score: 0.83]` over `**When:**`, or
"You were discussing …" over "Previous questions:". What callers put together themselves can be put between
marks of its own (`marked`). Lines are looked at, not words: one line of a form alone proves nothing.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

from episodic_agent.core.context.frames import frames

_OPEN, _CLOSE = "<recalled-memory>", "</recalled-memory>"
_WRAPPED: Final = re.compile(r"<recalled-memory>.*?(?:</recalled-memory>|\Z)", re.DOTALL)
_BREAK: Final = re.compile(r"\r?\n|\\n")  # also as JSON writes it
_DRESS: Final = r"[>\s\"'“]*"  # a quoting mail, a JSON string
_TOOL: Final = r"(?:[\w ]{1,24}: )?"  # the name of the tool that answered


def _any(*forms: str) -> str:
    """Return a pattern of the words of every language a context is framed in; "{}" stands for something."""
    return "(?:" + "|".join(re.escape(form).replace(r"\{\}", r"\S.*") for form in dict.fromkeys(forms)) + ")"


@cache
def _signs() -> tuple[tuple[str, str], ...]:
    """Return signs, each with a letter of it that is rare and found fast: most texts hold none of them."""
    return (
        ("<", "<recalled-memory>"), ("d", "discussing "), ("R", "Recent threads:"), ("#", "## Known Facts"),
        ("#", " Memories"), ("[", "[rank: "), ("_", "last_reviewed_at"),
        *((frame.asks[0], frame.asks) for frame in frames().values()),
    )  # fmt: skip


def _words_of(*names: str) -> list[str]:
    return [getattr(frame, name) for frame in frames().values() for name in names]


@cache
def _topic() -> re.Pattern[str]:
    texts = [words.rstrip(".。") for words in _words_of("discussing", "maybe_discussing")]
    return re.compile(rf"{_DRESS}{_TOOL}{_any(*texts)}")


@cache
def _asks() -> re.Pattern[str]:
    return re.compile(rf"{_DRESS}{_any(*_words_of('asks'))}")


@cache
def _label() -> re.Pattern[str]:
    words = _any(*_words_of("previous", "recent", "known", "skills", "here", "before"))
    return re.compile(rf"{_DRESS}{_TOOL}{words}\s*$")


@cache
def _note() -> re.Pattern[str]:
    return re.compile(rf"{_DRESS}{_any(*_words_of('summary', 'mentioned', 'session'))}")


@cache
def _break_note() -> re.Pattern[str]:
    return re.compile(rf"{_DRESS}{_any(*_words_of('continuing', 'maybe_continuing'))}")


_ITEM: Final = re.compile(rf"{_DRESS}(?:- \S|\d{{4}}-\d\d-\d\d\s*$)")

_SECTION: Final = re.compile(
    rf"{_DRESS}(?:[\w ]{{1,40}}: )?[\"']?## (?:Known Facts|(?:Episodic|Recent) Memories)\s*$"
)
_RANKED: Final = re.compile(rf"{_DRESS}### .*\[rank: \d+, score: -?[\d.]+(?:, key moment)?\]")
_TITLE: Final = re.compile(rf"{_DRESS}### \S")
_FIELD: Final = re.compile(rf"{_DRESS}\*\*(?:When|Summary|Details):\*\*")
_FACT: Final = re.compile(rf"{_DRESS}- \[[^\]]+\] .+\(from \d+ episodes?\)")
_SPOKEN: Final = re.compile(rf"{_DRESS}- [^:]{{1,80}}: \\?\".*")

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
    if not any(rare in text and sign in text for rare, sign in _signs()):
        return []
    spans = [match.span() for match in _WRAPPED.finditer(text)]
    spans += _raw(text)
    lines = list(_lines(text))
    spans += _contexts(lines)
    spans += _answers(lines)
    spans += [match.span() for match in _FLAT.finditer(text)]
    return sorted(spans)


def with_questions(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    r"""Return the spans with the question at the end of a context: a tool that hands it on asks nothing.

    >>> text = "You were discussing rent.\nPrevious questions:\n- How much? (900)\n\nCurrent question: Why?"
    >>> with_questions(text, recalled_spans(text)) == [(0, len(text))]
    True
    """
    ends = {end: stop for start, stop, words in _lines(text) for end in [_asked(start, words)] if end}
    return [(first, ends.get(end, end)) for first, end in spans]


def _asked(start: int, words: str) -> int:
    """Return where the words before a context's question end; 0 where a line holds none."""
    asks = _asks().match(words)
    return start + asks.end() if asks else 0


def _lines(text: str) -> Iterator[Line]:
    place = 0
    for match in _BREAK.finditer(text):
        yield place, match.start(), text[place : match.start()]
        place = match.end()
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
        if not (_topic().match(lines[number][2]) or _label().match(lines[number][2])):
            number += 1
            continue
        first, end, proofs, listed = lines[number][0], lines[number][1], 0, False
        while number < len(lines):
            start, stop, words = lines[number]
            asks = _asks().match(words)
            if asks:
                end, proofs = start + asks.end(), proofs + 1
                number += 1
                break
            if _label().match(words):
                listed, proofs = True, proofs + 1
            elif _note().match(words) or _break_note().match(words):
                proofs += 1
            elif words.strip() and not (_topic().match(words) or (listed and _ITEM.match(words))):
                break
            end = stop if words.strip() else end
            number += 1
        if proofs and (proofs > 1 or _topic().match(_words_at(lines, first))):
            yield first, end
            if number < len(lines) and _break_note().match(lines[number][2]):
                yield lines[number][:2]
                number += 1


def _words_at(lines: Sequence[Line], first: int) -> str:
    return next(words for start, _, words in lines if start == first)


def _answers(lines: Sequence[Line]) -> Iterator[tuple[int, int]]:
    """Yield blocks of seed 003's Markdown."""
    forms = (_SECTION, _RANKED, _TITLE, _FIELD, _FACT, _SPOKEN)
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
