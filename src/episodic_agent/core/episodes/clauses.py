"""From observations to clauses: sentences fit to be quoted, with markdown, code and tool output tamed."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from string import ascii_letters
from typing import Final

from episodic_agent.core.boundary.conversation.cues.speech import speech
from episodic_agent.core.episodes.languages import (
    ASSISTANTS,
    UNSPACED,
    UNSPOKEN,
    is_function_word,
    phrasebook,
)
from episodic_agent.core.episodes.pasted import instructs, pasted, unwrapped
from episodic_agent.core.episodes.roles import role_of
from episodic_agent.core.episodes.stop_words import light, negation, weak
from episodic_agent.core.language import fold, script, sentences, tokens, words
from episodic_agent.core.language.remembering import remembered
from episodic_agent.schemas import Json, Kind, Observation

_READ: Final = 2_000  # characters read of one message: long replies say what they are about at the start
_MOST: Final = 8  # clauses kept of one message
_SHORT_TALK: Final = 60  # characters and, below, terms of the longest sentence that is but a courtesy
_FEW_TERMS: Final = 3
_ALMOST_NOTHING: Final = 2  # terms of a refusal that a section leaves out
_BRIEF: Final = 4  # words of a sentence that goes with its neighbours, up to so many characters together
_TOGETHER: Final = 70
_STOPS: Final = ".!?…"
_TOOL_RESULT: Final = 160
_PASTED: Final = 0.3  # fitness for quoting of what a machine wrote, and of headings

_FENCE: Final = re.compile(r"```[ \t]*(\w*)[^\n]*\n.*?(?:```|\Z)", re.DOTALL)
_MARKED: Final = re.compile(r"[\[<*_`~#{\\]")  # what no plain text holds: spares it all the rest
_LINK: Final = re.compile(r"!?\[([^\]]*)\]\([^)\s]*\)")
_URL: Final = re.compile(  # a bracket or a sign behind an address is none of it
    r"https?://(?:www\.)?([^\s/)\]]+)(?:\([^\s()]*\)|[^\s()\]])*?(?=[.,;:!?]{0,3}(?:[\s)\]]|$))"
)
_TAG: Final = re.compile(r"</?[a-zA-Z][^<>]{0,80}>|\{[a-z_]{3,20}\}")  # and {laughs} of transcripts
_EMPHASIS: Final = re.compile(r"[*_~`]+")
_HEADING: Final = re.compile(r"^\s{0,3}#{1,6}\s+|^\s*\*\*[^*]{1,80}\*\*:?\s*$")
_ITEM: Final = re.compile(r"^\s*(?:[-*+•·]|\(?\d{1,2}[.)])\s+")
_NUMBER_OF_HEADING: Final = re.compile(r"^\s*(?:step\s+)?\d{1,2}[.):](?!\d)\s*", re.IGNORECASE)
_TABLE: Final = re.compile(r"^\s*\|.*\|\s*$|^\s*[-=_*|:\s]{3,}$")
_CODE_LINE: Final = re.compile(
    r"[{};]\s*$|^\s*(?:import|from|def|class|return|const|let|var|public|#include)\s\S.*[=(;]"
)
_CODE_SIGN: Final = re.compile(r"[{};=(]")  # what every line of code in that sense holds
_NO_LETTER: Final = bytes(range(128)).translate(None, f"{ascii_letters} ".encode())
_SPACES: Final = re.compile(r"\s+")
_FORMULA: Final = re.compile(r"\\[()\[\]]|\$\$")
_COMMAS: Final = (",", "，", "、", "،", "՝")
_UNSPACED: Final = ("，", "、")  # of languages that write no spaces
_STRAY_STOP: Final = re.compile(r"([。！？])[。]+")


@dataclass(frozen=True, slots=True)
class Clause:
    """A sentence of an episode: `place` counts observations, `order` clauses inside one.

    `weight` in (0, 1] says how fit for quoting its form is: a heading or the lead-in of a list is less.
    `pasted` says that a machine wrote it, or that it only instructs one; `follows` that nothing was left out
    between it and the one before.
    """

    place: int
    order: int
    text: str
    terms: frozenset[str]
    weight: float
    asks: bool
    pasted: bool = False
    follows: bool = True


def clauses(observations: Sequence[Observation], language: str, *, together: bool = True) -> list[Clause]:
    """Return the sentences of an episode that say something, in order; courtesies are left out.

    `together` makes one of those of a few words that follow each other.
    """
    clauses: list[Clause] = []
    begun = False
    for place, observation in enumerate(observations):
        sentences_read = _of_message(place, observation, language, together=together)
        if sentences_read and not begun and role_of(observation).casefold() not in UNSPOKEN:
            begun, sentences_read = True, _without_part(sentences_read)
        clauses.extend(sentences_read)
    return clauses


def _without_part(first: Sequence[Clause]) -> list[Clause]:
    """Mark what a talk begins with where it only tells an assistant what to be; questions are the matter."""
    part = instructs([clause.text for clause in first])
    return [
        replace(clause, weight=clause.weight * _PASTED, pasted=True)
        if n < part and not clause.asks
        else clause
        for n, clause in enumerate(first)
    ]


def tame(text: str, code: str = "code") -> str:
    r"""Strip markdown, markup and code blocks from a message; its lines stay lines.

    >>> tame("### Plan\n1. **Pack** the `boxes`\n```python\nx = 1\n```\nSee [the map](https://a.b/c).")
    '### Plan\n1. Pack the boxes\n\nSee the map.'
    >>> tame("```python\nx = 1\n```")
    '[python code]'
    """
    text = text[:_READ]
    if not _MARKED.search(text) and "http" not in text and "$$" not in text:
        return text.strip()
    fence = _FENCE.search(text) if "```" in text else None
    language = fence.group(1) if fence else ""
    plain = _FENCE.sub("", text) if fence else text
    plain = _TAG.sub(" ", _LINK.sub(r"\1", plain))
    if "\\" in plain or "$$" in plain:
        plain = _FORMULA.sub("", plain)
    if "http" in plain:
        plain = _URL.sub(r"\1", plain)
    headed = [line if _HEADING.match(line) is None else _heading(line) for line in plain.splitlines()]
    plain = _EMPHASIS.sub(_unmarked, "\n".join(headed)).strip()
    return plain or (f"[{' '.join(filter(None, (language, code)))}]" if fence else "")


def _unmarked(match: re.Match[str]) -> str:
    """Drop signs of emphasis but keep `snake_case`, `2 * 3` and the like."""
    sign = match.group()
    if len(sign) > 1 or sign == "`":
        return ""
    before, after = (
        match.string[match.start() - 1 : match.start()],
        match.string[match.end() : match.end() + 1],
    )
    opens = not before.isalnum() and bool(after.strip())
    closes = not after.isalnum() and bool(before.strip())
    return "" if opens or closes else sign


def _heading(line: str) -> str:
    """Mark every form of heading with the sign `_of_message` knows it by."""
    return "### " + line.strip().strip("#*: ")


def plain_text(observation: Observation, language: str = "en") -> str:
    """Return what an observation says, as plain text; a tool's call and result shortly.

    Tool observations carry `name`, `arguments`, `result` and `error` in `extras`.
    """
    text = tame(observation.text, phrasebook(language).code)
    if observation.kind is not Kind.TOOL:
        return text
    # the four names are what intake leaves; a tool message without them is only text
    name = observation.extras.get("name")
    if not isinstance(name, str) or not name:
        return _short(text)
    error, result = observation.extras.get("error"), observation.extras.get("result")
    answer = error if error is not None else result
    call = f"{name}({_arguments(observation.extras.get('arguments'))})"
    return call if answer is None else f"{call}: {_short(tame(_plain(answer)))}"


def _arguments(arguments: Json) -> str:
    if not isinstance(arguments, Mapping):
        return "" if arguments is None else _short(_plain(arguments), 60)
    return _short(", ".join(_plain(value) for value in arguments.values()), 80)


def _plain(value: Json) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_plain(part)}" for key, part in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(_plain(part) for part in value)
    return str(value)


def _short(text: str, limit: int = _TOOL_RESULT) -> str:
    """Cut a text to a limit, at a space where there is one.

    >>> _short("one two three", 9)
    'one two …'
    """
    flat = _SPACES.sub(" ", text).strip()
    if len(flat) <= limit:
        return flat
    cut = flat[: limit - 1]
    spaced = cut.rsplit(" ", 1)[0] if " " in cut[limit // 2 :] else cut
    return spaced.rstrip(" ,;:") + " …"


def _of_message(place: int, observation: Observation, language: str, *, together: bool) -> list[Clause]:
    if observation.kind is Kind.TOOL:
        text = plain_text(observation, language)
        return [Clause(place, 0, text, frozenset(tokens(text)), 0.5, False)] if text else []
    # assistants write at length about what users say in a word
    trust = 0.85 if role_of(observation).casefold() in ASSISTANTS else 1.0
    return [
        replace(one, place=place)
        for one in _of_text(observation.text, language, trust=trust, together=together)
    ]


@remembered(512, longest=4 * _READ)  # an episode is told when it ends, and again when it is compacted
def _of_text(text: str, language: str, *, trust: float, together: bool) -> tuple[Clause, ...]:
    """Return the clauses of a message as if it stood first."""
    clauses: list[Clause] = []
    # counted apart, so that a question below a log is read, and read as the beginning it is
    counts = {True: 0, False: 0}
    follows = True
    for line, foreign in _read(text, language):
        if counts[foreign] == _MOST or _says_nothing(line):
            continue
        # items and headings list what a sentence before them says in one breath
        item = _ITEM.match(line)
        weight = _PASTED if foreign or line[0] == "#" else 0.65 if item else 1.0
        bare = line[item.end() :] if item else _without_number(line.lstrip("# >"))
        read = sentences(bare, language or None)
        for sentence in read if foreign or item or not together else _together(read, language, bare):
            made = _clause(counts[foreign], sentence, trust * weight, language, foreign)
            if not together and made and _refuses(made[0].text) and speech(made[0].text)[0].agrees:
                made = [] if _is_short(made[0]) else made
            clauses.extend(made if follows else [replace(one, follows=False) for one in made])
            follows = bool(made)
            counts[foreign] += len(made)
            if counts[foreign] == _MOST:
                break
        if counts[False] == _MOST:
            break
    return tuple(clauses)


def _together(sentences_read: Sequence[str], language: str, text: str) -> list[str]:
    """Return a text's sentences, those of a few words that follow each other as one, as far as a title goes.

    "I GOT IT. brightwater. ops manager." Alone none of them says what it is about. A courtesy at an end of
    them stays apart, and what no blank parts in the text ("???n") is no run.

    >>> said = "ok. tom. did. not. turn. up. He texted at four instead."
    >>> _together(sentences(said), "en", said)
    ['ok.', 'tom. did. not. turn. up.', 'He texted at four instead.']
    """
    plain = " ".join(text.split())
    result: list[str] = []
    run: list[str] = []
    for sentence in [*sentences_read, ""]:
        brief = 0 < len(sentence.split()) <= _BRIEF and script(sentence) not in UNSPACED
        fits = brief and len(" ".join([*(run or result[-1:]), sentence]).rstrip(_STOPS)) <= _TOGETHER
        if run and fits:
            run.append(sentence)
            continue
        if (
            result
            and fits
            and f"{result[-1]} {sentence}" in plain
            and not tokens(sentence, language or None)
            and not _only_social(sentence, language)
        ):
            result[-1] += f" {sentence}"  # "Tom came for the bike. himself."
            continue
        # what is asked in a word, and answered behind it, is none
        asked = bool(sentence and run and run[-1].endswith("?"))
        length = len(run) - (not asked and bool(run[1:]) and _only_social(run[-1], language))
        joined = " ".join(run[:length])
        result += [joined, *run[length:]] if run and joined in plain else run
        run = [sentence] if brief and not _only_social(sentence, language) else []
        result += [sentence] if sentence and not run else []
    return result


def _only_social(sentence: str, language: str) -> bool:
    """Tell whether a sentence is a courtesy, and tells nothing of who writes it: "I got it" does."""
    return not speech(sentence)[0].own and _is_courtesy(
        sentence, frozenset(tokens(sentence, language or None))
    )


def _read(text: str, language: str) -> list[tuple[str, bool]]:
    """Return the lines of a message that are read, and of each whether it was pasted.

    Its beginning is read; of a long one that begins with nothing else than what was pasted, the end too.
    """
    spoken = unwrapped(text)
    lines = _marked(spoken or text, language)
    if not spoken:
        return [(line, True) for line, _ in lines]
    if len(spoken) > _READ and all(foreign or _says_nothing(line) for line, foreign in lines):
        lines += _marked(spoken[_READ:][-_READ:].partition("\n")[2], language)
    return lines


def _marked(text: str, language: str) -> list[tuple[str, bool]]:
    lines = _whole_lines(tame(text, phrasebook(language).code), language)
    return list(zip(lines, pasted(lines, language), strict=True))


def _says_nothing(line: str) -> bool:
    """Tell whether a line is blank, a rule or row of a table, or code."""
    return bool(
        not line.strip() or _TABLE.match(line) or (_CODE_SIGN.search(line) and _CODE_LINE.search(line))
    )


def _whole_lines(text: str, language: str) -> list[str]:
    r"""Return the lines of a message; one that ends with a comma goes on with the next that says something.

    A comma ends no sentence in any language. Where a letter begins with such a line, it says to whom: it is
    left out, as a greeting is.

    >>> _whole_lines("Dear Mrs Keller,\n\nthe tap drips,\nand the floor is wet.", "en")
    ['', 'the tap drips, and the floor is wet.']
    """
    lines = text.splitlines()
    if not any(line.rstrip().endswith(_COMMAS) for line in lines):
        return lines
    first = next((n for n, line in enumerate(lines) if line.strip()), 0)
    if _addresses(lines[first:], language):
        lines = lines[first + 1 :]
    merged: list[str] = []
    open_at = -1  # the line that waits for its end
    for line in lines:
        goes_on = open_at >= 0 and not _says_nothing(line) and not _begins_anew(line)
        if goes_on:
            begun = merged[open_at].rstrip()
            merged[open_at] = f"{begun}{'' if begun.endswith(_UNSPACED) else ' '}{line.strip()}"
        else:
            merged.append(line)
        if line.strip():
            at = open_at if goes_on else len(merged) - 1
            open_at = at if line.rstrip().endswith(_COMMAS) and not _says_nothing(line) else -1
    return merged


def _begins_anew(line: str) -> bool:
    """Tell whether a line cannot be the rest of another: an item of a list, a heading, a quotation."""
    return _ITEM.match(line) is not None or line.lstrip()[:1] in ("#", ">", "|")


def _addresses(lines: Sequence[str], language: str) -> bool:
    """Tell whether a letter begins here with a line that only says to whom, and goes on below.

    Such a line is short, ends with a comma, and stands apart.
    """
    line = lines[0].strip()
    if not line.endswith(_COMMAS) or len(line) > _SHORT_TALK or _begins_anew(line):
        return False
    if not any(map(str.strip, lines[1:])) or lines[1].strip() or any(map(str.isdigit, line)):
        return False
    terms = len(line) - 1 if line.endswith(_UNSPACED) else len(tokens(line, language or None))
    return not any(comma in line[:-1] for comma in _COMMAS) and terms <= _FEW_TERMS


def _without_number(line: str) -> str:
    """Return a line without "Step 2:", "3." and the like at its beginning."""
    number = _NUMBER_OF_HEADING.match(line)
    return line if number is None else line[number.end() :]


def _clause(order: int, sentence: str, weight: float, language: str, foreign: bool) -> list[Clause]:
    text = " ".join(sentence.split())
    if "。" in text:
        text = _STRAY_STOP.sub(r"\1", text)
    text = text.strip(" -–•")
    terms = frozenset(tokens(text, language or None))
    if not terms or _is_courtesy(text, terms):
        return []
    asks = text.rstrip("\"'”’)»").endswith(("?", "？", "؟", ";?"))
    return [Clause(0, order, text, terms, weight * _form(text), asks, foreign)]


def _form(text: str) -> float:
    """Return how fit for quoting a sentence's form is, in (0, 1]."""
    fit = 0.4 if text.endswith((":", "：")) else 1.0
    if text.startswith(("[", "(")):
        fit *= 0.5
    if text.isascii():  # spares a look at each character
        letters = len(text.encode().translate(None, _NO_LETTER))
    else:
        letters = sum(map(str.isalpha, text)) + text.count(" ")
    return fit if letters >= 0.7 * len(text) else fit * 0.5


def _is_short(clause: Clause) -> bool:
    return len(clause.text) <= _SHORT_TALK and len(clause.terms) <= _ALMOST_NOTHING


def _refuses(text: str) -> bool:
    """Tell whether a sentence says no to something that it names: "no to Kestrel", "No heating"."""
    folded = fold(text)
    no = negation().match(folded)
    talk = light() | weak()
    return no is not None and any(
        len(word) > 1 and word not in talk and not is_function_word(word, "en")
        for word in words(folded[no.end() :])
    )


def _is_courtesy(text: str, terms: frozenset[str]) -> bool:
    """Tell whether a sentence only greets, thanks, acknowledges or takes leave."""
    if len(text) > _SHORT_TALK or len(terms) > _FEW_TERMS:
        return False
    # numbers are never a courtesy: "Thanks, 3 June" is an answer
    cues = speech(text)[0]
    social = cues.greets or cues.thanks or cues.closes or (cues.agrees and not _refuses(text))
    return bool(cues.ack) or (bool(social) and len(terms) <= 2 and not any(map(str.isdigit, text)))
