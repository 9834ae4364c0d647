"""From observations to clauses: sentences fit to be quoted, with markdown, code and tool output tamed.

Lines that a machine wrote and somebody pasted, or that only instruct a machine, make no title and no summary.
Logs, traces, data, listings, heads and feet of letters and notices are told by their form, notices and
instructions also by formulae that stand the same everywhere (`data/language/notices.toml`).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from string import ascii_letters
from typing import Final

from episodic_agent.core.boundary.conversation.speech import speech
from episodic_agent.core.episodes.languages import (
    ASSISTANTS,
    UNSPACED,
    UNSPOKEN,
    is_function_word,
    light,
    negation,
    phrasebook,
    weak,
)
from episodic_agent.core.language import fold, script, sentences, tokens, words
from episodic_agent.core.language.remembering import remembered
from episodic_agent.core.threads.turns import role_of
from episodic_agent.data import phrase_set, phrases
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


# What a machine begins a line with: a moment, a place in a program, a prompt of a shell, a sign of a patch.
_BEGINS: Final = re.compile(
    r"\s*(?:[\[(]?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|[\[(]?\d\d:\d\d:\d\d\b|Traceback \(|File \"|at [\w.$<>]+\(|"
    r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Warning)\b(?=:|\s*\(|\s*$)|\$ [a-z./~]|> \S|"
    r"\w+: (?:error|fatal|warning):|diff --git |(?:---|\+\+\+) [ab]/|@@ .*@@|#\d+ +(?:[/{]|$)|"
    r"(?:PS )?[A-Z]:\\\S*>|[VDIWEF]/[\w.]+:|"
    r"[A-Z_][A-Z0-9_]{2,}=\S*\s*$|(?:[A-Z]\w*\s)?[Ff]atal error:|panic: |thread '[^']*' panicked|"
    r"BUILD (?:FAILED|SUCCESSFUL)|[A-Za-z_][\w.]*\([\w.,()\s\"'=]*\)\s*$|"
    r"\[?(?:ERROR|WARN|WARNING|INFO|DEBUG|FATAL|TRACE|FAILED)(?:\]|\s+\S+::|\s+\[|:[\w.]+:)|"
    r"\[[^\[\]]{1,80}\]\s*$)"
)
# What stands in no line that a person writes: a moment to the second behind a date, a level behind a mark, a
# key in quotation marks, dotted leaders, what a runner of tests frames.
_HOLDS: Final = re.compile(
    r"\d[:./\s]\d\d:\d\d:\d\d\b|[|\])\d] (?:\[?(?:ERROR|WARN|WARNING|INFO|DEBUG|FATAL|TRACE)\b)|\bERR!|"
    r"\"[\w-]+\":\s?[\w\"{\[-]|(?:\s\.){4}|(?:={4,}|-{4,}).*(?:={4,}|-{4,})"
)
# What a person writes only in a sentence: a place in a file, an address of the net, values of names.
_HINTS: Final = re.compile(
    r"\w\.[A-Za-z]{1,5}:\d|\.\w{1,5} on line \d|\w::\w+\(|\w=\S+\s+\w+=\S|\(\d{1,3}(?:\.\d{1,3}){3}\)|"
    r"\bexit(?:ed)?(?: with)? (?:code|status) \d"
)
_VALUES: Final = re.compile(r"(?:\w=\S+\s+\w+){2}=\S")  # three names with a value
_MOST_PASTED: Final = 240  # characters in which a line shows what it is
_FIELD: Final = re.compile(r"([\w-]{1,30})(?::(?:\s|$)|：)")
_SETTING: Final = re.compile(r"\s*(?:[\w.-]{1,40}\s*=\s*\S|\[[\w .-]{1,40}\]\s*$)")
_FRAME: Final = re.compile(r"\s+at \S+[.(]\S")
_FIELDS: Final = 3  # lines of one word and a value that are no talk
_ADDRESS: Final = re.compile(r"[\w.+-]@[\w-]+\.\w")
_COLUMNS: Final = re.compile(r"[^\s.!?,;:] {2,}(?=\S)")
_CELLS: Final = 0.25  # gaps of two spaces for each word, from which they are columns
_SEPARATORS: Final = (";", "\t", "|", ",")
_TAGGED: Final = re.compile(r"\s*</?[\w:-]+(?:\s[^<>]*)?>")
_WRAPPED: Final = re.compile(r"<([a-z]+(?:[-_][a-z]+)+)(?:\s[^<>]*)?>.*?</\1>", re.DOTALL)
_READ_PASTED: Final = 8_000  # characters of a message in which its tags are looked for
_LISTED: Final = re.compile(r"\s*(?:#+|[-*+•]|\d{1,2}[.)])\s")
_CODED: Final = re.compile(r"\w[/\\_=<>{}]\w|\w\.[a-z]\w|::|[`@{}<>$]|[a-z][A-Z]")
# What any of these hold: it spares most lines the rest.
_SIGNS: Final = re.compile(r"[=/\\{}<>|`_$\[\]\"#:]| {3}|---|\.[a-z]|[a-z][A-Z(]|[A-Z]{3}|exit")
_CODE: Final = re.compile(r"(?<!\d)\d{4,8}(?!\d)|(?<!\d)\d{3}[ -]\d{3}(?!\d)")
_ENDS: Final = ".,;:!?…()\"'“”„«»"
_ASKS: Final = ("?", "？", "؟")
_SHARE: Final = 0.5  # of the words of a line that are no words
_SPOKEN: Final = 0.2  # share of function words from which a line is somebody's sentence
_FEWEST: Final = 2


def pasted(lines: Sequence[str], language: str) -> list[bool]:
    """Tell of each line of a message whether a machine wrote it, or it is quoted, or the foot of a letter.

    `language` is the one its people speak, "" where it is not known.

    >>> pasted(["the shop is slow", "Mar  2 07:12:44 web-01 nginx[811]: upstream timed out"], "en")
    [False, True]
    """
    marked = [_by_a_machine(line, language) for line in lines]
    if len(lines) > 1:
        forms = (_fields(lines), _rows(lines), _patch(lines), _quotations(lines), _foot(lines))
        marked = list(map(any, zip(marked, *forms, strict=True)))
        _go_on(marked, lines, language)
    return marked


def unwrapped(text: str) -> str:
    """Return a message without what an agent's program put into it between tags; "" where that is all.

    >>> unwrapped("<system-reminder>Be brief.</system-reminder> Fix the test")
    ' Fix the test'
    """
    if "</" not in text:
        return text
    rest = _WRAPPED.sub("", text[:_READ_PASTED])
    return rest if rest.strip() else ""


def instructs(sentences: Sequence[str]) -> int:
    """Return how many of a message's sentences only tell an assistant what to be and how to answer.

    Whoever begins with a part for it ("You are an experienced career coach.") says the matter last, or asks.

    >>> instructs(["You are a patient cook.", "Never use numbers.", "How long do chickpeas soak?"])
    2
    """
    if len(sentences) < _FEWEST or not sentences[0].casefold().startswith(phrases("language/notices.parts")):
        return 0
    return len(sentences) - 1


def _by_a_machine(line: str, language: str) -> bool:
    if _is_notice(line):
        return True
    if not _SIGNS.search(line):
        return False
    if line.lstrip("#").startswith(" ") and line.startswith("#"):
        return False  # a heading
    return bool(_BEGINS.match(line) or _holds_a_sign(line, language) or _is_coded(line, language))


def _go_on(marked: list[bool], lines: Sequence[str], language: str) -> None:
    """Mark what is indented under a marked line, and what stands between two and is no sentence."""
    last = max((n for n, mark in enumerate(marked) if mark), default=0)
    inside = False
    for n, line in enumerate(lines):
        if not line.strip():
            continue
        if inside and not marked[n] and not _LISTED.match(line):
            marked[n] = line[0].isspace() or (n < last and not _is_spoken(line, language))
        inside = marked[n]


def _is_spoken(line: str, language: str) -> bool:
    """Tell whether a line has the small words of a sentence; without spaces every line may be one."""
    if script(line) in UNSPACED:
        return True
    return _function_words(line, language) >= _SPOKEN * len(line.split())


def _is_notice(line: str) -> bool:
    folded = line.casefold()
    if folded.rstrip().endswith(_ASKS):
        return False  # who asks about a notice speaks
    begun, unspaced = _formulae()
    if not folded.isascii() and any(formula in folded for formula in unspaced):
        return True
    for word in folded.split():
        if word in begun and any(formula in folded for formula in begun[word]):
            return True
    return _CODE.search(line) is not None and any(
        name in folded for name in phrases("language/notices.codes")
    )


@cache
def _formulae() -> tuple[Mapping[str, Sequence[str]], Sequence[str]]:
    """Return the formulae by their first word, which spares most lines a look at them, and those without."""
    begun: dict[str, list[str]] = {}
    unspaced: list[str] = []
    for formula in phrases("language/notices.formulae"):
        if script(formula) in UNSPACED:
            unspaced.append(formula)
        else:
            begun.setdefault(formula.split()[0], []).append(formula)
    return begun, unspaced


def _holds_a_sign(line: str, language: str) -> bool:
    """Tell whether a line has what no person writes, and nobody's words stand before it."""
    sign = _HOLDS.search(line, 0, _MOST_PASTED)
    if sign is None:
        sign = _HINTS.search(line, 0, _MOST_PASTED)
        if sign is None or _is_spoken(line, language):
            return False
        if _VALUES.search(line, 0, _MOST_PASTED):
            return True
    before = line[: sign.start()]
    return script(before) not in UNSPACED and not _function_words(before, language)


def _is_coded(line: str, language: str) -> bool:
    """Tell whether a line is of names, paths and numbers or set in columns, and no sentence of a language."""
    if "   " not in line and not _CODED.search(line):
        return False
    pieces = line.split()
    coded = sum(_CODED.search(piece) is not None for piece in pieces)
    gaps = len(_COLUMNS.findall(line))
    if "   " not in line or gaps < _CELLS * len(pieces):
        gaps = 0
    if (coded < _FEWEST or coded < _SHARE * len(pieces)) and gaps < _FEWEST:
        return False
    return not _is_spoken(line, language)


def _function_words(text: str, language: str) -> int:
    bare = [piece.strip(_ENDS) for piece in text.split()]
    return sum(is_function_word(word, "en") or is_function_word(word, language) for word in bare if word)


def _fields(lines: Sequence[str]) -> list[bool]:
    """Mark the head of a letter and nested settings: neighbours that give one name each a value.

    A week's meals have that form too: an address, a name that only opens others, or two that stand in such
    heads must be among them.
    """
    fields = [_FIELD.match(line.strip()) for line in lines]
    marked = _runs([field is not None for field in fields], _FIELDS)
    nested = [
        line.rstrip().endswith(":") and _indent(after) > _indent(line)
        for line, after in zip(lines, [*lines[1:], ""], strict=True)
    ]
    known = any(
        mark and (deep or _ADDRESS.search(line))
        for mark, deep, line in zip(marked, nested, lines, strict=True)
    )
    known = known or _heads([field[1].casefold() for field in fields if field])
    settings = _runs([_SETTING.match(line) is not None for line in lines], _FIELDS)
    return [(known and mark) or setting for mark, setting in zip(marked, settings, strict=True)]


def _heads(names: Sequence[str]) -> bool:
    """Tell whether a letter's head is among these names; a journey has a from, a to and a date as well."""
    named = sum(name in phrase_set("language/notices.heads") for name in names)
    return (
        bool(named) and named + sum(name in phrase_set("language/notices.ends") for name in names) >= _FEWEST
    )


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _rows(lines: Sequence[str]) -> list[bool]:
    """Mark neighbours that are divided alike by a sign without a space behind it, or tagged."""
    marked = _runs([_TAGGED.match(line) is not None for line in lines], _FEWEST)
    for sign in _SEPARATORS:
        counts = [line.count(sign) if f"{sign} " not in line else 0 for line in lines]
        for n, (count, after) in enumerate(pairwise(counts)):
            if count == after >= _FEWEST and any(map(str.isdigit, lines[n] + lines[n + 1])):
                marked[n] = marked[n + 1] = True
    return marked


def _patch(lines: Sequence[str]) -> list[bool]:
    """Mark what follows the head of a patch, as far as it is one, and what stands above a trace's frames."""
    marked, inside = [False] * len(lines), False
    for n, line in enumerate(lines):
        if n and not marked[n - 1] and _FRAME.match(line):
            marked[n - 1] = True
        inside = line.startswith(("diff --git ", "@@ ")) or (inside and line[:1] in ("+", "-", " "))
        marked[n] = inside
    return marked


def _quotations(lines: Sequence[str]) -> list[bool]:
    """Mark quoted lines and what says whose they are, where anything else stands beside them."""
    quoted = [line.startswith(">") for line in lines]
    if not any(quoted):
        return quoted
    heads = [
        after and line.rstrip().endswith((":", "："))
        for line, after in zip(lines, [*quoted[1:], False], strict=True)
    ]
    return [quote or head for quote, head in zip(quoted, heads, strict=True)]


def _foot(lines: Sequence[str]) -> list[bool]:
    """Mark what stands behind the line that sets a signature off."""
    start = next((n for n, line in enumerate(lines) if n and line.strip() == "--"), len(lines))
    return [n >= start for n in range(len(lines))]


def _runs(marks: Sequence[bool], least: int) -> list[bool]:
    """Keep the marks that stand in runs of so many at least."""
    marked, start = [False] * len(marks), 0
    for n in range(len(marks) + 1):
        if n == len(marks) or not marks[n]:
            if n - start >= least:
                marked[start:n] = [True] * (n - start)
            start = n + 1
    return marked
