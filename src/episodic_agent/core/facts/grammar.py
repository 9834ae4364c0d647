"""What rules are made of: readings of a clause, checks of a value, and what a rule finds."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice, takewhile
from typing import Final, TypeAlias

from episodic_agent.core.facts.attribution import Sentence
from episodic_agent.core.language.mentions import mentions
from episodic_agent.core.language.mentions.lists import word_set

_MOST_WORDS: Final = 9
_MOST_CLAUSES: Final = 24  # of one sentence: what has more was not said in one breath


@dataclass(frozen=True, slots=True)
class SlotMatch:
    """One slot filled by a rule.

    `subject` is "" for the speaker; `own` are the words told in slots without a sentence; `ends` marks the
    end of something known.
    """

    attribute: str
    value: str
    holds: bool = True
    subject: str = ""
    own: str = ""
    ends: bool = False


Make: TypeAlias = Callable[[re.Match[str]], Iterator[SlotMatch]]
Check: TypeAlias = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern that a clause must begin with, and what it then says.

    `stops` keeps later rules off the clause; `begins` says which first words a clause must have.
    """

    source: str
    make: Make
    stops: bool = True
    begins: str = ""

    @property
    def pattern(self) -> re.Pattern[str]:
        """Return the pattern, compiled at its first use: there are hundreds, and few programs learn facts."""
        return _compiled(self.source)


@cache
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(source, re.IGNORECASE)


_CAPITALS: Final = re.compile(r"\[A-Z(?:À-ÞŠŽ|À-Þ|ÁÉÍÓÚ|ÄÖÜ|ÉÈ|É)?\]")
_LEADS: Final = (("i", ("I ", "(?:I|we) ")), ("my", ("my ", "(?:my|our) ", "our ")))
_FIRSTS: Final = {"i": frozenset({"i", "we"}), "my": frozenset({"my", "ou"})}


def rule(pattern: str, make: Make, *, stops: bool = True) -> Rule:
    """Return a rule for clauses that begin with a pattern, in any case but where it asks for capitals."""
    cased = _CAPITALS.sub(r"(?-i:\g<0>)", pattern)
    start = next((first for first, lead in _LEADS if pattern.startswith(lead)), "")
    return Rule(cased, make, stops, start)


RuleBook: TypeAlias = Mapping[str, tuple[Rule, ...]]


def rule_book(rules: Sequence[Rule]) -> RuleBook:
    """Return rules in their order by the first words that leave them a chance: it spares most the search."""
    kinds = ("", *_FIRSTS)
    return {kind: tuple(one for one in rules if one.begins in ("", kind)) for kind in kinds}


def rules_for(book: RuleBook, view: str) -> tuple[Rule, ...]:
    """Return the rules that may match a clause."""
    first = view[:2].casefold().strip()
    return book[next((name for name, firsts in _FIRSTS.items() if first in firsts), "")]


def open_rule(pattern: str, make: Make) -> Rule:
    """Return a rule after which later ones still read the clause."""
    return rule(pattern, make, stops=False)


def take(attribute: str, check: Check | None = None, *, holds: bool = True) -> Make:
    """Return what fills one slot with the group `v`, where the check leaves something of it.

    A group `no` that took part turns what holds into what does not.
    """

    def make(match: re.Match[str]) -> Iterator[SlotMatch]:
        value = (check or phrase)(match.group("v"))
        if value:
            negated = bool(match.groupdict().get("no"))
            yield SlotMatch(attribute, value, holds is not negated, own=clause_of(match))

    return make


def clause_of(match: re.Match[str]) -> str:
    """Return the clause a rule matched, without what comes after the sentence."""
    return " ".join(match.string.split()).rstrip(" .!,;:")


_STOP: Final = re.compile(
    r"\s+(?:and (?:i|we|my|it|he|she|they|the|no|not|had|have|then"
    r"|will|still|so|now|that|do|don't"
    r"|am|is|was|never|always)\b|but|so|because|since|when|while|now|though|although|anyway"
    r"|by the way|btw|until|which|who|that|where|if|these days|at"
    r" the moment|right now|any ?more"
    r"|yet|please|at all|these days|nowadays|currently|again|instead|actually|obviously"
    r"|these|this (?:week|month|year|time)|for (?:now|years|\w+ (?:years"
    r"|months|weeks))|as (?:well"
    r"|a|an|you)|too|already|lately|by now|ever since|over the phone|it's|its(?= (?:so|a|my|the"
    r"|great|very|really))|it is|more than|a lot|very much|much|as much|so much|especially"
    r"|most of all|except|apart from|other than|that'?s why)\b",
    re.IGNORECASE,
)
_ARTICLE: Final = re.compile(r"^(?:an?|the|some|my|our|any)\s+", re.IGNORECASE)
_VAGUE: Final = re.compile(
    r"^(?:it|that|this|them|him|her|you|us|those|these|one|ones|so"
    r"|there|here|something|anything"
    r"|everything|nothing|everyone|nobody|someone|what\w*|i|how|when"
    r"|where|why|more|much|all|both"
    r"|to|if|your|his|their|its"
    r"|i .*|(?:him|her|them|you) .*|this .*|that .*|these .*|those .*|your .*|his .*|her"
    r" .*|their .*|its .*|it .*|you .*"
    r"|how .*|when .*|what .*|the (?:idea|way|sound|look|thought|fact|feeling) .*)$",
    re.IGNORECASE,
)
_MARKUP: Final = re.compile(r"[{}\[\]<>=*|\\]")
_PLACE: Final = re.compile(
    r"(?:the |a (?:\w+ ){0,2}(?:village|town|suburb|farm|city|island)"
    r" (?:near|in|of|outside|called) )?"
    r"[A-ZÀ-ÞŠŽ][\w'’.-]*(?:(?: (?:de|del|la|el|le|les|du|of|upon|am|an der|the"
    r"|and the))? [A-ZÀ-ÞŠŽ][\w'’-]*)*"
)
_NAME: Final = re.compile(
    r"[A-ZÀ-ÞŠŽ][\w'’.-]*(?: (?:van|von|de|da|di|del|la|al|bin|ben)?\s?[A-ZÀ-ÞŠŽ][\w'’.-]*){" r"0,3}"
)
_NOT_NAMES: Final = word_set(
    "i i'm the a my monday tuesday wednesday thursday friday saturday sunday january february"
    " march april may june july"
    " august september october november december english french"
    " german spanish chinese christmas"
    " easter"
)


def phrase(text: str) -> str:
    """Return a noun phrase without what hangs on it; "" for what says nothing by itself.

    >>> phrase("horror films but I can't do gore"), phrase("this idea"), phrase("the sea because of you")
    ('horror films', '', 'the sea')
    """
    value = _STOP.split(f" {text.strip()}", maxsplit=1)[0].strip(" '\"-–_.…")
    words = value.split()
    spoiled = not words or len(words) > _MOST_WORDS or _VAGUE.match(value) or _MARKUP.search(value)
    return "" if spoiled else value


def bare(text: str) -> str:
    """Return a noun phrase without its article.

    >>> bare("a standing desk and I never sit")
    'standing desk'
    """
    return _ARTICLE.sub("", phrase(text))


def head(value: str) -> str:
    """Return the folded last word before a preposition.

    >>> head("firmware engineer at Halden"), head("twins")
    ('engineer', 'twins')
    """
    core = re.split(
        r"\s+(?:of|in|at|for|with|on|from|to|by|who|that|called|named|and|behind|near|under|outside"
        r"|next|over|without)\s+",
        value.strip().casefold(),
        maxsplit=1,
    )[0]
    return core.split()[-1].strip(".,'’") if core.split() else ""


def singular(word: str) -> str:
    """Return a word without the ending of a plural.

    >>> singular("cats"), singular("ponies"), singular("glass")
    ('cat', 'pony', 'glass')
    """
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def place(text: str) -> str:
    """Return the place a text begins with, "" where it names none.

    >>> place("Porto now with the cat"), place("the UK"), place("my head"), place("Berlin for a meeting")
    ('Porto', 'the UK', '', 'Berlin')
    """
    match = _PLACE.match(text.strip())
    if match is None:  # who writes without capitals is believed where the place is known
        known = next(iter(mentions(text.strip()[:60])), None) if text.islower() else None
        return known.text if known and known.kind == "place" and not known.start else ""
    if match[0].casefold() in _NOT_NAMES:
        return ""
    return match[0].rstrip(".'")


def name(text: str) -> str:
    """Return the personal name a text begins with, "" where it is none.

    >>> name("Joana and we"), name("great"), name("Rui Costa.")
    ('Joana', '', 'Rui Costa')
    """
    match = _NAME.match(text.strip())
    if match is None or match[0].casefold().strip(".") in _NOT_NAMES:
        return ""
    return match[0].rstrip(".'")


def names(text: str) -> tuple[str, ...]:
    """Return the names of a list, in order; () where something else stands in it.

    >>> names("Ada, Noah and Pim"), names("Miso and a dog")
    (('Ada', 'Noah', 'Pim'), ())
    """
    parts = [part for part in re.split(r"\s*,\s*(?:and\s+)?|\s+(?:and|&)\s+", text.strip(" .!")) if part]
    texts = tuple(name(part) for part in parts)
    return texts if texts and all(texts) and all(f == p for f, p in zip(texts, parts, strict=True)) else ()


_CLAUSE: Final = re.compile(
    r"[\w'-]+(?: [\w'-]+)? (?:has|have|had|is|are|was|were|does|did|will|can|cannot|hates?|loves?|says?"
    r"|wants?|thinks?)\b"
)


def listed(text: str) -> tuple[str, ...]:
    """Return the parts of a list of nouns, each without an article; it ends where another clause begins.

    >>> listed("cats and dogs"), listed("a car, a bike and the boat")
    (('cats', 'dogs'), ('car', 'bike', 'boat'))
    >>> listed("hills, Jonas has a grumpy knee")
    ('hills',)
    """
    parts = re.split(r"\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or|&|nor)\s+", text.strip(" .!"))
    parts = [*parts[:1], *takewhile(lambda part: not _CLAUSE.match(part), parts[1:])]
    return tuple(value for value in (bare(part) for part in parts) if value)


# --- clauses ---------------------------------------------------------------------------------------------

_EXPAND: Final = (
    (re.compile(r"[’ʼ]"), "'"),
    (re.compile(r"\b(I|we|you|they)'ve\b", re.I), r"\1 have"),
    (re.compile(r"\bI'm\b|\bim\b(?= )|\bI am\b", re.I), "I am"),
    (re.compile(r"\b(we|they|you)'re\b", re.I), r"\1 are"),
    (re.compile(r"\b(I|we)'ll\b", re.I), r"\1 will"),
    (re.compile(r"\bI'd (like you|rather you|prefer)\b", re.I), r"I would \1"),
    (re.compile(r"\b(?:can't|cannot|can not)\b", re.I), "cannot"),
    (re.compile(r"\bwon't\b", re.I), "will not"),
    (re.compile(r"\b(do|does|did|is|are|was|were|have|has|had)n't\b", re.I), r"\1 not"),
    (re.compile(r"\bhave got\b", re.I), "have"),
    (
        re.compile(
            r"\b(I|we) (?:got|gotta)\b(?= (?:a|an|two|three|four) (?:cat|dog|kid|son|daughter|brother"
            r"|sister))",
            re.I,
        ),
        r"\1 have",
    ),
)
_SHORT: Final = re.compile(r"['’ʼ]|\b(?:im|i am|can ?not|have got|(?:i|we) got)\b", re.IGNORECASE)
_FILLER: Final = re.compile(
    r"\b((?:I|we)(?: (?:am|are|have|was|do|did|live|work)(?: not)?)?)"
    r" (?:(?:really|actually|also"
    r"|just|still|currently|basically|honestly|absolutely|totally|definitely"
    r"|already|simply|truly|literally|now|genuinely|personally|kind of|sort of|deeply|very much"
    r"|properly|officially|presently|only just|recently|finally|both|myself) )+",
    re.IGNORECASE,
)
_OPENER: Final = re.compile(
    r"^(?:(?:hi|hello|hey|hey there|hi there|yes|no(?=[,.!:;])|nope"
    r"|yeah|yep|well|so|and|but|also|plus|btw"
    r"|by the way|actually|fyi|for the record|just so you know|heads up|note(?: that| to self)?"
    r"|save this|remember(?: this| that)?|quick intro|quick question"
    r"|new here|honestly|personally"
    r"|in fact|to be honest|tbh|as you know|please (?:note|remember)(?: that)?"
    r"|don't forget(?: that)?|do not forget(?: that)?"
    r"|because|since|as|though|although|ok|okay|oh|look|sorry|correction|one more thing|update"
    r"|good news|big news|news|fun fact|confession|for context|context"
    r"|some background|background"
    r"|about me|anyway|right|sure|finally|now|currently"
    r"|these days|nowadays|originally|luckily|sadly|unfortunately|thankfully|of course"
    r"|in case it matters|first of all|that's why|which is why|since then|last year|last month"
    r"|last week|this year|this spring|this summer|in (?:19|20)\d\d"
    r"|(?:in|since|last|this|next|from) (?:january|february|march|april|may|june|july|august"
    r"|september|october|november|december|spring|summer|autumn|winter|fall)|from \d{1,2} \w+"
    r"|yesterday|today|on \w+day|as of \w+)\b[,:;.!–—-]*\s+)+",
    re.IGNORECASE,
)
_CUT: Final = re.compile(
    r"(?:[,;:–—(]|\.\s|\s-)\s*(?=\S)|\s+(?=(?:and|but|so|because|since|although|though|as"
    r"|that's why) (?:i|we|my|our|please|i'm|i've|i'd|always|never|don't)\b)"
    r"|\s+(?=and [a-z]+(?:ed)?\b)",
    re.IGNORECASE,
)
_ELIDED: Final = re.compile(
    r"(?:and |but )(?P<go>(?:(?:always|never|usually|rarely|then|now|still|also|recently"
    r"|currently) )?(?:live|work|play|study|speak|own|drive|run|teach|collect|prefer|like|love"
    r"|hate|read|commute|swim|cycle|vote|joined|started|moved|came|went|quit|left|lived|worked"
    r"|married|bought|have|can't|cannot|do not|don't|was|am|had|grew|got|adopted|sold|became"
    r"|graduated|studied|did|haven't|have not|recycle))\b",
    re.IGNORECASE,
)
_DROPPED: Final = (
    (re.compile(r"been \w+ing\b", re.I), "I have "),
    (
        re.compile(
            r"(?:moved|quit|joined|started (?:at|as)|gave up|grew up|sold (?:the|my)|bought a|adopted"
            r"|got (?:my|married|engaged|divorced|diagnosed|promoted|hired)"
            r"|got a (?:new |second )?(?:dog"
            r"|cat|job|kitten|puppy)|spent|switched|retired|live in|work as|worked|have (?:two|three|a)"
            r"|don't eat|can't eat|can't stand|hate|love|prefer|went to|used"
            r" to|studied|lived in|been with|been vegan|graduated|turned)\b",
            re.I,
        ),
        "I ",
    ),
    (
        re.compile(
            r"(?:(?:going for|saving (?:up )?for|moving to|training for|working (?:as|at|for)|learning"
            r"|planning to|studying|hoping to)(?![^.;!?]*(?::|\b(?:is|are"
            r"|was|sounds|seems|can|will|takes"
            r"|makes|helps|has|would|feels|looks)\b))|allergic to|born in"
            r"|(?-i:From [A-Z])[\w ]+(?:, (?-i:[A-Z])\w+)?[.!]?$|originally"
            r" from|based in|vegan|vegetarian"
            r"|married to|retired|engaged to|currently (?:leading|working|living)|leading the"
            r"|VAT registered|divorced since|widowed since|married since)",
            re.I,
        ),
        "I am ",
    ),
)


_STATES: Final = re.compile(
    r"(?:and )?(?P<go>(?:an? [\w -]+?(?=\s*(?:$|[,.;!]|and\b|at\b|from\b|with\b|in\b))|retired"
    r"|married|divorced|single|widowed|vegan|vegetarian|self-employed|unemployed|left-handed"
    r"|originally from|based in|living in|working (?:as|at|for)|studying"
    r"|\d\d years old)\b)",
    re.IGNORECASE,
)
_DOING: Final = re.compile(
    r"(?:and )?(?P<go>(?:currently |now )?(?:leading|running|managing|working (?:as|at|for)"
    r"|living in|studying|teaching)\b)",
    re.IGNORECASE,
)


def _with_subject(rest: str, view: str, text: str) -> str:
    """Return a clause with the subject that it shares with its sentence; `rest` has its "and" still."""
    elided = _ELIDED.match(rest)
    if elided:
        return f"I {normal(rest[elided.start('go') :])}"
    state = _DOING.match(view) or (
        _STATES.match(view) if re.match(r"(?:[\w' ]+[,:!] )?I am\b", text) else None
    )
    return f"I am {view[state.start('go') :]}" if state else view


def normal(text: str) -> str:
    """Write short forms out and leave out adverbs that say nothing, so that rules need not know them.

    >>> normal("I'm really into chess and I've just got a dog, can't cook")
    'I am into chess and I have a dog, cannot cook'
    """
    for _ in range(2):  # an adverb may stand inside what is written short
        before = text
        if _SHORT.search(text):
            for pattern, plain in _EXPAND:
                text = pattern.sub(plain, text)
        text = _FILLER.sub(r"\1 ", text)
        if text == before:
            break
    return text


_SUBJECT: Final = re.compile(r"\b(?:i|we|he|she|they|it|you|who|he's|she's|it's)\b", re.IGNORECASE)


def _still_mine(before: str) -> bool:
    """Tell whether the last subject named is the speaker: "my son, he's 21 and studying" is not."""
    named = _SUBJECT.findall(before)
    return bool(named) and named[-1].casefold() in ("i", "we")


def _lowered(view: str) -> str:
    """Return a clause whose first word is no name for standing first."""
    return view if view[1:2].isupper() else view[:1].lower() + view[1:]


def clauses(sentence: Sentence) -> Iterator[str]:
    """Yield every reading of a sentence that begins where a clause does, to the end of the sentence.

    A verb without a subject after "and" or at the beginning is given "I": it is what people leave out.

    >>> list(clauses(Sentence("I live in Bonn and work at Halden.", 0)))
    ['I live in Bonn and work at Halden.', 'I work at Halden.']
    """
    text = normal(sentence.text)
    seen: set[str] = set()
    mine = bool(re.match(r"(?:i|we)\b", _OPENER.sub("", text), re.IGNORECASE))
    for start in (0, *(cut.end() for cut in islice(_CUT.finditer(text), _MOST_CLAUSES))):
        view = _OPENER.sub("", text[start:])
        if start and mine and _still_mine(text[:start]):
            view = _with_subject(text[start:], view, text)
        if not start or text[start - 2 : start] == ". ":
            view = next(
                (f"{lead}{_lowered(view)}" for pattern, lead in _DROPPED if pattern.match(view)), view
            )
        view = normal(re.sub(r"^(?:and|but|so|because|since|although|though|as)\s+", "", view))
        if view and view not in seen:
            seen.add(view)
            yield view
