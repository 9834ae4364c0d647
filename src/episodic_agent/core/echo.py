"""Recognise recalled text that comes back: which part of an observation only repeats what memory had told.

An agent that stores all it sees stores its own prompts, with the memories in them. Such a message is kept
whole, but the part that is an *echo* makes no new memory: it is not indexed and says nothing to boundaries,
links, facts and reviews.

**Rules of the room.**
1. By form first: the lines of seeds 002 and 003, and marks that callers put around recalled text. Nobody
   writes those by chance.
2. By words only in what agents, tools and prompts say, and only long runs. A person who repeats something
   means it.
3. What is compared with is given: what was shown and what was said, never what later work wrote. So the
   verdict hangs neither on how messages were grouped nor on how far later work had come.
4. The text itself is never changed; the echo lies beside it, as spans.
5. An answer that uses a memory in a sentence is new.

**To add** a form, describe its lines in `recalled_spans`, with examples of text that looks like it.

**By form.** The texts of seeds 002 and 003 are fixed to the letter, so that nothing can be added to
them; but their own lines, in their order, are a marker: nobody writes `### Title [rank: 1, score:
0.83]` over `**When:**`, or "You were discussing …" over "Previous questions:". What callers put
together themselves can be put between marks of its own (`marked`). Lines are looked at, not words: one
line of a form alone proves nothing.

**By words.** What counts is a long run of one's own, not a likeness: an assistant that answers with a fact it
was given says it in a dozen words; one that pastes what it recalled repeats it at length. Words of the same
speaker count only beside somebody else's, because a bot's daily reminder is no recall.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, lru_cache
from typing import Final

from episodic_agent.core.context.frames import frames
from episodic_agent.core.language import fold, tokens, words
from episodic_agent.schemas import Json, Observation

ECHO: Final = "episodic.echo"  # the name it has in an observation's extras
FEW_TOKENS: Final = 3  # "retrieve_memory:" around pasted text is nobody's news
LONGEST_LABEL: Final = 8  # words


class By(StrEnum):
    """How an echo was recognised: by the form of recalled text, as pasted text, or as one quoted sentence."""

    FORM = "form"
    PASTE = "paste"
    QUOTE = "quote"


@dataclass(frozen=True, slots=True)
class Echo:
    """Which parts of a text are recalled: (first, end) of each in characters, rising, and how that was seen.

    `sources` are the ids of observations and episodes it repeats, where they were looked up. `is_complete`
    tells
    that what is left says nothing.
    """

    spans: tuple[tuple[int, int], ...]
    by: By
    sources: tuple[str, ...] = ()
    is_complete: bool = False

    def as_json(self) -> dict[str, Json]:
        """Return what extras hold."""
        spans = [list(span) for span in self.spans]
        return {"spans": spans, "by": str(self.by), "of": list(self.sources), "whole": self.is_complete}


def marked_as(
    text: str, spans: Sequence[tuple[int, int]], by: By, sources: Sequence[str] = (), *, own: bool = False
) -> Echo | None:
    """Return the echo that spans of a text make, joined and in order; None without any.

    `own` is for what a person wrote: every word beside the recalled text is then kept.

    >>> marked_as("You said: the key is under the mat", [(10, 20), (19, 34)], By.PASTE).spans
    ((10, 34),)
    """
    joined: list[tuple[int, int]] = []
    for first, end in sorted(spans):
        if joined and first <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        elif end > first:
            joined.append((first, end))
    if not joined:
        return None
    pieces = _between(text, joined)
    if not own:
        pieces = [*(piece for piece in pieces[:-1] if not _is_label(piece)), *pieces[-1:]]
    left = "\n".join(pieces)
    complete = not any(c.isalnum() for c in left) if own else len(tokens(left)) < FEW_TOKENS
    return Echo(tuple(joined), by, tuple(dict.fromkeys(sources)), complete)


def echo_of(extras: Mapping[str, Json], text: str) -> Echo | None:
    """Read the echo that extras tell of; None without one, or where it cannot be one of this text."""
    answer = extras.get(ECHO)
    if not isinstance(answer, Mapping):
        return None
    spans, by, of = answer.get("spans"), answer.get("by"), answer.get("of")
    if not isinstance(spans, Sequence) or not isinstance(of, Sequence) or by not in set(By):
        return None
    read: list[tuple[int, int]] = []
    for span in spans:
        match span:
            case [int(first), int(end)] if (read[-1][1] if read else 0) <= first < end <= len(text):
                read.append((first, end))
            case _:
                return None
    if not read:
        return None
    return Echo(tuple(read), By(str(by)), tuple(map(str, of)), answer.get("whole") is True)


def own_text(text: str, extras: Mapping[str, Json]) -> str:
    """Return what a text says that is not an echo; "" where that is nothing.

    >>> echo = Echo(((0, 9),), By.FORM)
    >>> own_text("> old <\\n\\nIt rains.", {ECHO: echo.as_json()}), own_text("It rains.", {})
    ('It rains.', 'It rains.')
    """
    if ECHO not in extras:
        return text
    echo = echo_of(extras, text)
    if echo is None:
        return text
    return "" if echo.is_complete else _without(text, echo.spans)


def own_words(observation: Observation) -> Observation:
    """Return an observation with what it says beside the recalled; everything that learns reads this one."""
    if ECHO not in observation.extras:
        return observation
    return replace(observation, text=own_text(observation.text, observation.extras))


def all_own_words(observations: Iterable[Observation]) -> list[Observation]:
    """Return observations as they are heard; those that only repeat what was recalled are left out."""
    return [own_words(one) for one in observations if ECHO not in one.extras or own_words(one).text]


def silenced(observations: Iterable[Observation]) -> list[Observation]:
    """Return what `all_own_words` does, but with blanks for what was recalled: places stay the same."""
    return [
        replace(one, text=_blanked(one.text, echo.spans)) if (echo := echo_of(one.extras, one.text)) else one
        for one in observations
        if not is_echo(one)
    ]


def _blanked(text: str, spans: Sequence[tuple[int, int]]) -> str:
    for start, end in spans:
        if start < end:  # a line of its own: what stands around it is not one sentence
            text = text[:start] + "\n" + " " * (end - start - 1) + text[end:]
    return text


def is_echo(observation: Observation) -> bool:
    """Tell whether an observation says nothing but what was recalled."""
    return ECHO in observation.extras and not own_words(observation).text


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    return "\n".join(piece for piece in _between(text, spans) if any(c.isalnum() for c in piece))


def _between(text: str, spans: Sequence[tuple[int, int]]) -> list[str]:
    """Return what stands before, between and after spans: one piece more than there are spans."""
    edges = [0, *(edge for span in spans for edge in span), len(text)]
    return [text[edges[n] : edges[n + 1]].strip() for n in range(0, len(edges), 2)]


def _is_label(piece: str) -> bool:
    """Tell whether words only announce what follows: "Relevant memories:", a tool's name."""
    bare = piece.rstrip(" \n\"'“«*->#0123456789.[{(")
    return bare.endswith((":", "：")) and len(words(bare)) <= LONGEST_LABEL and "\n\n" not in bare


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


SHINGLE: Final = 5  # words in a row that two texts share by more than habit
RUN: Final = 12.0  # words of a run that is a repetition
SHORT_RUN: Final = 5.0  # in what only passes memory on
PASTED: Final = 30.0  # words in all from where on nobody only answers
GAP: Final = 2  # words that may differ inside a run: near-exact is enough
MOST_TERMS: Final = 24
LEAST_SHARED: Final = 4  # of the terms looked for; less cannot hold a run
MOST: Final = 0.5  # of a source's shingles, with which it is there as a whole
LONGEST: Final = 8000  # characters of a source that are looked at
LEAST_LETTERS: Final = 40  # shorter texts hold none
_WIDE: Final = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0eff"  # a word is two or so of these
_UNIT: Final = re.compile(rf"[{_WIDE}]|[^\W{_WIDE}]+")
_IS_WIDE: Final = re.compile(rf"[{_WIDE}]")
_FENCE: Final = "```"
Unit = tuple[str, int, int]
Shingle = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """A text that may be repeated; `same` tells that the same speaker said it, so that it proves nothing."""

    name: str
    text: str
    same: bool = False


def wanted_terms(text: str, terms: Collection[str]) -> list[str]:
    """Return the terms by which to look for what a text repeats: its longest, which are its rarest.

    Only of the text itself, so that the same text always looks for the same; none where it is too short.

    >>> wanted_terms("Yes, on Friday.", {"friday"})
    []
    >>> wanted_terms("Rossi the plumber came twice to see the tap", {"rossi", "plumber", "twice", "tap"})
    ['plumber', 'rossi', 'twice', 'tap']
    """
    if len(terms) < LEAST_SHARED or (len(text) < LEAST_LETTERS and not _IS_WIDE.search(text)):
        return []
    return sorted(sorted(terms), key=len, reverse=True)[:MOST_TERMS]


def unfenced(text: str) -> str:
    """Return a text with blanks for its programs: those are alike, and nobody's memories.

    >>> unfenced("Run ```ls``` here")
    'Run          here'
    """
    pieces = text.split(_FENCE)
    if len(pieces) == 1:
        return text
    last = len(pieces) - 1
    fences = [len(_FENCE) * (1 if n == last else 2) for n in range(len(pieces))]
    return "".join(" " * (len(one) + fences[n]) if n % 2 else one for n, one in enumerate(pieces))


def repeated(text: str, sources: Sequence[Source], *, trusted: bool = False) -> Echo | None:
    """Return which runs of a text the sources hold already; None where no run is long enough.

    A source counts where most of it is there, or a long run of it: what is recalled is pasted whole.
    `trusted` is for what only passes memory on (a memory's tool, a prompt): whoever said it counts.

    >>> said = Source("1", "I parked the blue car behind the library on Mill Street, next to the old bakery")
    >>> echo = repeated(f"Noted. {said.text}. Anything else I can look up?", [said])
    >>> echo.by.name, echo.spans
    ('QUOTE', ((7, 86),))
    """
    text = unfenced(text)
    own = _shingles(_words(text))
    full_sources = [one for one in sources if _is_pasted(own, one.text)]
    if not any(trusted or not one.same for one in full_sources):
        return None
    known = frozenset().union(*(_shingles_of(one.text) for one in full_sources))
    runs = [run for run in _runs(_units(text), known) if run[2] >= (SHORT_RUN if trusted else RUN)]
    if not runs:
        return None
    spans = [(first, end) for first, end, _ in runs]
    pasted = trusted or sum(weight for _, _, weight in runs) >= PASTED
    return marked_as(text, spans, By.PASTE if pasted else By.QUOTE, [one.name for one in full_sources])


def _units(text: str) -> list[Unit]:
    """Return the words of a text, folded, with where they stand; wide characters are units by themselves."""
    return [(fold(found.group()), found.start(), found.end()) for found in _UNIT.finditer(text)]


def _words(text: str) -> list[str]:
    """Return the words of `_units` alone, which most texts are asked for and nothing else."""
    return words(text) if text.isascii() else [fold(found) for found in _UNIT.findall(text)]


def _shingles(line: Sequence[str]) -> frozenset[Shingle]:
    return frozenset(zip(*(line[n:] for n in range(SHINGLE)), strict=False))


@lru_cache(maxsize=256)
def _shingles_of(text: str) -> frozenset[Shingle]:
    """Return the shingles of a source; what was recalled is compared with all that is said for a while."""
    return _shingles(_words(text[:LONGEST]))


def _is_pasted(own: frozenset[Shingle], source: str) -> bool:
    there = _shingles_of(source)
    return not own.isdisjoint(there) and len(own & there) >= min(MOST * len(there), PASTED)


def _runs(units: Sequence[Unit], known: frozenset[Shingle]) -> list[tuple[int, int, float]]:
    """Return the runs that are known: first and end in characters, and how many words they are."""
    line = [word for word, _, _ in units]
    covered = [False] * len(units)
    for n in range(len(units) - SHINGLE + 1):
        if tuple(line[n : n + SHINGLE]) in known:
            covered[n : n + SHINGLE] = [True] * SHINGLE
    runs: list[tuple[int, int, float]] = []
    held: list[int] = []
    for place in [n for n, one in enumerate(covered) if one] + [len(units) + GAP + 1]:
        if held and place - held[-1] > GAP + 1:
            weight = sum(0.5 if _IS_WIDE.match(line[n]) else 1.0 for n in held)
            runs.append((units[held[0]][1], units[held[-1]][2], weight))
            held = []
        held.append(place)
    return runs
