"""Any English sentence as clauses: who, with what helping verb, does what, and the rest of it.

No clause is looked for; each is read by the few closed classes of English (pronouns, helping verbs,
conjunctions, adverbs) and a table of verb forms. What it says of somebody is for `english_says`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from episodic_agent.core.facts.words import verbs
from episodic_agent.core.language.mentions.lists import word_set

_MOST_CHUNKS: Final = 16
_FORMS: Final = {
    "i'm": "I am", "im": "I am", "iam": "I am", "i've": "I have", "ive": "I have", "can't": "can not",
    "cannot": "can not", "cant": "can not", "cannae": "can not", "won't": "will not", "wont": "will not",
    "ain't": "am not", "aint": "am not", "dinnae": "do not", "dunno": "do not know",
    "gotta": "have to", "wanna": "want to", "gonna": "going to",
    "hes": "he is", "shes": "she is",
}  # fmt: skip
_SHORT: Final = re.compile(rf"\b(?:{'|'.join(sorted(_FORMS, key=len, reverse=True))})\b", re.IGNORECASE)
_QUOTES: Final = re.compile(r"[’ʼ`]")
_MARKED: Final = (
    (re.compile(r"\b(we|they|you)'ve\b", re.I), r"\1 have"),
    (re.compile(r"\b(we|they|you)'re\b", re.I), r"\1 are"),
    (re.compile(r"\b(I|we|he|she|they|you)'ll\b", re.I), r"\1 will"),
    (
        re.compile(r"\b(I|we)'d (?=(?:already |just |never |always )?(?:been|had|lived|worked)\b)", re.I),
        r"\1 had ",
    ),
    (re.compile(r"\b(I|we|he|she|they|you)'d\b", re.I), r"\1 would"),
    (
        re.compile(r"\b(he|she|it|that|who)'s (?=(?:\w+ )?(?:been|got|had|lived|worked|moved|gone)\b)", re.I),
        r"\1 has ",
    ),
    (re.compile(r"\b(he|she|it|that|who|there|here)'s\b", re.I), r"\1 is"),
    (re.compile(r"\b(have|do|does|did|is|are|was|were|has|had|would|could|should)n't\b", re.I), r"\1 not"),
)
_NOT: Final = re.compile(r"\b(do|does|did|is|are|was|were|have|has|had|would|could|should)nt\b", re.I)
_GOT: Final = (
    (re.compile(r"\bhave got(?! \w+(?:ed|en)\b)", re.I), "have"),
    (re.compile(r"\bhas got\b", re.I), "has"),
)
_VERBISH: Final = verbs.KNOWN | frozenset(verbs.PAST) | word_set("am was were have had do did can will")
_SUBJECTS: Final = (
    r"(?:i|we|he|she|they|it|you|my|our|that|this|those|these|there|his|her|their|your|who|which|whose|where"
    r"|everyone|everybody|someone|nobody|people)"
)
_JOINS: Final = (
    r"(?:and|but|so|because|cos|coz|cause|since|though|although|while|when|whenever|until|till|before"
    r"|after|or"
    r"|as|then|plus|cuz|except)"
)
_SPLIT: Final = re.compile(
    rf"\s*(?:[;:()—–,]|\.{{2,}}|\s-+\s|\.\s)\s*|\s+(?={_JOINS}\s+{_SUBJECTS}\b)|\s+(?=(?:which|who"
    rf"|whose|where)\s)"
    r"|\s+(?=(?:and|but|or|then)\s+(?:(?:then|now|also|still|never|always|just|usually|recently|only"
    r"|do|did|am|can|have|will|was)\s+(?:not\s+)?)?"
    r"(?P<verb>[a-z']+)\b)",
    re.IGNORECASE,
)
_JOIN: Final = re.compile(rf"^(?:{_JOINS}|which|who|whose|where)(?=\s)", re.IGNORECASE)
_OPENERS: Final = re.compile(
    r"^(?:(?:hi|hello|hey|hei|hola|yes|no(?= I\b| we\b|[,.!:;])|nope|nah|yeah|yep|yup|aye|well|so|and"
    r"|but|also|plus|btw|by the way|actually"
    r"|fyi|for the record|just so you know|heads up|note(?: that)?|remember(?: this| that)?|honestly"
    r"|personally"
    r"|in fact|to be honest|tbh|as you know|because|ok|okay|oh|ah|look|sorry|correction|one more thing"
    r"|update|wait"
    r"|good news|big news|news|fun fact(?: about me)?|confession|for context|context|background"
    r"|about me|anyway|right|sure"
    r"|finally|currently|nowadays|luckily|sadly|unfortunately|thankfully|of course|in case it matters"
    r"|first of all|that is why|which is why|since then|forgot to say|did I (?:say|mention|tell you)"
    r"|turns out"
    r"|told you|you know|I mean|lol|haha|ooc|ps|p\.s\.|guess what|you know (?:that|what)|I guess|hm+"
    r"|um+|omg|yay"
    r"|unlike \w+|for me|me|myself|mind you|to be fair|in my case|then|now that)\b[,:;.!–—-]*\s*)+",
    re.IGNORECASE,
)
_ADVERBS: Final = word_set(
    "really actually also just still currently basically honestly absolutely totally definitely"
    " already simply"
    " truly literally now genuinely personally deeply properly officially recently finally both myself always"
    " never usually normally mostly often typically generally regularly rarely seldom sometimes occasionally"
    " mainly only even ever once almost nearly probably certainly once quite proper well kinda sorta lately"
    " completely fully happily sadly only originally formerly previously secretly barely hardly pretty much"
    " first then later soon technically obviously apparently all religiously strictly voluntarily mostly"
    " bloody fucking f**king all-day ourselves rather very so too exclusively nearly"
)
_AUXILIARY: Final = word_set(
    "am are is was were have has had do does did will can could would should must may might shall"
)
_SAME: Final = {"are": "am", "is": "am", "were": "was", "has": "have", "does": "do", "shall": "will"}


_WISHED: Final = word_set("would could should must may might")  # what follows them is only thought of


@dataclass(frozen=True, slots=True)
class EnglishClause:
    """One clause: its helping verb, its verb in the base form, and what follows up to the next clause.

    `who` is "" for the speaker; `form` is base, past, ing, done (a participle) or be; `lead` are the words
    before the subject; `more` is what follows in the sentence; `join` is the word that ties it to what
    stands before; `left_out` tells that the subject was not said.
    """

    who: str
    aux: str
    no: bool
    adverbs: frozenset[str]
    verb: str
    form: str
    rest: str
    lead: str = ""
    more: str = ""
    join: str = ""
    left_out: bool = False
    text: str = ""


@lru_cache(maxsize=256)
def plain(text: str) -> str:
    """Write short forms out, also those without their apostrophe.

    >>> plain("I'm 34, ive got asthma and can't swim")
    'I am 34, I have asthma and can not swim'
    """
    text = _QUOTES.sub("'", text)
    text = _SHORT.sub(lambda found: _FORMS[found[0].casefold()], text)
    if "'" in text:
        for pattern, full in _MARKED:
            text = pattern.sub(full, text)
    text = _NOT.sub(r"\1 not", text)
    if " got" in text:
        for pattern, full in _GOT:
            text = pattern.sub(full, text)
    return " ".join(text.split())


def chunks(text: str) -> list[tuple[str, int]]:
    """Return the parts of a sentence that may be clauses, with their places.

    >>> [part for part, _ in chunks("I live in Bonn and work at Halden, love cats and dogs")]
    ['I live in Bonn', 'and work at Halden', 'love cats and dogs']
    """
    cuts = [0]
    ends: list[int] = []
    for match in _SPLIT.finditer(text):
        verb = match["verb"]
        if verb and not _is_verb(
            verb.casefold(), text[: match.start()], text[match.end("verb") :] if verb else ""
        ):
            continue
        ends.append(match.start())
        cuts.append(match.end())
        if len(cuts) >= _MOST_CHUNKS:
            break
    ends.append(len(text))
    return [(text[a:b].strip(), a) for a, b in zip(cuts, ends, strict=True) if text[a:b].strip()]


_NOUNS_TOO: Final = word_set(
    "drink work play dance fish run walk sleep dream fight travel help cook paint box ski surf sail"
    " camp garden"
    " smoke watch train use share care rent look turn swim ride drive knit row climb"
    " fear dread design code study dive love hate record film photograph order"
)
_TASTING: Final = re.compile(
    r"\b(?:love|like|hate|enjoy|prefer|adore|favou?rite|allergic|into|fan of|stand|bear|abide)\b[^,;]*$",
    re.IGNORECASE,
)


_GOES_ON: Final = re.compile(
    r"\s*$|[.,;!]|\s+(?:a|an|the|my|our|in|on|at|for|to|with|as|from|every|until|by|it|them|him|her"
    r"|mostly|only|twice|full|part|"
    r"about|around|into|over|and|[A-Z\d])",
    re.ASCII,
)


def _is_verb(word: str, before: str, after: str) -> bool:
    """Tell whether a word after "and" begins a clause: "cats and dogs", "wake and sleep times" do not."""
    if word in _NOUNS_TOO and (_TASTING.search(before) or not _GOES_ON.match(after)):
        return False
    return word in _VERBISH or bool(verbs.past_of(word))


def parsed(text: str) -> Iterator[EnglishClause]:
    """Yield the clauses of a sentence that the speaker is the subject of, in order.

    >>> for one in parsed(plain("I live in Bonn and don't eat pork")):
    ...     print(one.verb, one.no, one.rest)
    live False in Bonn
    eat True pork
    """
    parts = chunks(text)
    mine = ""  # whether the clause before was the speaker's, and what form it had
    for number, (part, start) in enumerate(parts):
        join = (_JOIN.match(part) or [""])[0].casefold()
        body = _OPENERS.sub("", part[len(join) :].strip() if join else part)
        more = text[start + len(part) :]
        alone = join not in ("which", "who", "whose", "so", "or")  # "so keep it short" is asked of another
        clause = _with_subject(body) or (_bare(body, mine, number == 0, more) if alone else None)
        if clause is not None:
            yield replace(clause, more=more, join=join, text=body)
            mine = _left_by(clause, body)
        elif re.match(rf"{_SUBJECTS}\b|[A-Z]\w+ (?:is|was|has|says)\b", body, re.IGNORECASE):
            mine = "other"


def _left_by(clause: EnglishClause, body: str) -> str:
    """Return what a clause lets the next one leave out: a verb in its form, or a word for what one is."""
    if clause.form == "base" and re.search(r"\bto [a-z]+\b", body):
        return "to"
    if clause.form == "be" and len(clause.rest.split()) > 4:
        return "long"
    return "ing" if clause.form == "ing" else clause.aux or clause.form


_LEAD: Final = re.compile(
    r"^(?P<lead>(?:(?:the (?:other|rest|first|last|next|whole) [a-z]+|as an?|in|on|at|since|from|by"
    r"|for|last|next|this|every|each|most|during|before|after|back|when|as|once|until"
    r"|these|some|usually|normally|always|never|sometimes|often|now|recently|originally|yesterday"
    r"|today|tomorrow"
    r"|\w+ (?:times|days|nights) a)\b[^,;]{0,40}? )?)(?:I|we)\s+(?P<rest>.+)$",
    re.IGNORECASE,
)


def _with_subject(body: str) -> EnglishClause | None:
    """Read a clause with its subject."""
    match = _LEAD.match(body)
    if match is None:
        return None
    clause = predicate(match["rest"])
    return replace(clause, lead=match["lead"].strip()) if clause else None


def predicate(text: str, who: str = "") -> EnglishClause | None:
    """Read what stands after a subject: helping verbs, adverbs, the verb, the rest.

    >>> one = predicate("have never really lived alone")
    >>> one.aux, sorted(one.adverbs), one.verb, one.form, one.rest
    ('have', ['never', 'really'], 'live', 'done', 'alone')
    """
    words = text.split()
    low = [word.casefold().strip(".!,") for word in words]
    aux, no, place = "", False, 0
    adverbs: set[str] = set()
    while place < len(low):
        word = low[place]
        if word == "not":
            no = True
        elif word == "used" and low[place + 1 : place + 2] == ["to"]:
            aux, place = "used", place + 1
        elif word == "no" and low[place + 1 : place + 2] == ["longer"]:
            no, place = True, place + 1
            adverbs.add("no longer")
        elif (
            word in _ADVERBS and place + 1 < len(low) and not (aux == "am" and word in ("very", "so", "all"))
        ):
            adverbs.add(word)
        elif word in _AUXILIARY and _helps(aux, word, low, place):
            aux = aux if aux in _WISHED else _SAME.get(word, word)
        else:
            break
        place += 1
    if place >= len(low):
        return None
    verb, form = _verb(aux, low[place], low[place + 1 : place + 2])
    if not verb:
        return None
    rest = " ".join(words[place + (form != "be") :]).rstrip(" .!")
    if re.match(r"(?:I|we|he|she|they)\b", rest):  # "yes I do I am a nurse": two clauses in one breath
        return None
    return EnglishClause(who, aux, no, frozenset(adverbs), verb, form, rest)


def _helps(aux: str, word: str, low: list[str], place: int) -> bool:
    """Tell whether a word helps the next: "have" before a participle, "do" before "not"."""
    word = _SAME.get(word, word)
    after = [one for one in low[place + 1 : place + 4] if one not in _ADVERBS and one != "not"]
    follow = after[0] if after else ""
    if word in ("have", "had"):
        return bool(verbs.participle_of(follow)) and follow != "hundred"
    if word in ("do", "did"):
        return "not" in low[place + 1 : place + 4] or (follow in verbs.KNOWN and aux == "")
    return aux in ("", "will", "would", "may", "might", "have")


def _verb(aux: str, word: str, after: list[str]) -> tuple[str, str]:
    """Return the base of a verb and the form it has after its helping verb."""
    if aux in ("am", "was"):
        doing = verbs.doing_of(word)
        if doing and word not in _ADJECTIVES:
            return doing, "ing"
        return "be", "be"
    if aux in ("have", "had"):
        return verbs.participle_of(word), "done"
    if not aux:
        if word in ("been", "being"):
            return "", ""
        was = verbs.past_of(word)
        if was and not (
            word in verbs.KNOWN
            and word in ("read", "put", "set", "cut", "let", "cost", "hit", "hurt", "split")
        ):
            return was, "past"
        return (word, "base") if re.fullmatch(r"[a-z][a-z'-]*", word) else ("", "")
    return (word, "base") if word.isalpha() else ("", "")


_ADJECTIVES: Final = word_set(
    "interesting boring annoying amazing stunning exciting loving caring outgoing willing missing lacking"
    " hard-working hardworking easygoing easy-going charming demanding freezing starving boiling"
)
_STATUS: Final = re.compile(
    r"(?:allergic|intolerant|born|based|married|engaged|divorced|widowed|retired|vegan|vegetarian"
    r"|pescatarian|teetotal"
    r"|originally from|left-handed|right-handed|colou?r ?-?blind|deaf|dyslexic|autistic|diabetic"
    r"|coeliac|celiac"
    r"|self-employed|lactose|gluten|obsessed|terrified|scared|afraid|proud owner|mum of|mom of|dad of"
    r"|mother of"
    r"|father of|from [A-Z]|fluent|addicted|pregnant|due in|hopeless|terrible at|rubbish at|useless at"
    r"|into [a-z]+ing)\b"
)
_BARE_PAST: Final = word_set(
    "stuck tired thanked called asked meant needed wanted looked saw said went found told heard"
    " thought read put set cut hit let felt made did had got ordered sent"
)


def _bare(body: str, mine: str, first: bool, more: str) -> EnglishClause | None:
    """Read a clause whose subject was left out: "Moved to Lyon", "allergic to nuts", "been vegan"."""
    words = body.split()
    if not words or mine == "other" or (not first and words[0][:1].isupper()):
        return None
    small = 0
    while small + 1 < len(words) and words[small].casefold().strip(".!,") in _ADVERBS:
        small += 1
    low = words[small].casefold().strip(".!,")
    text = _completed(body, " ".join(words[small:]), low, mine, first, more)
    clause = predicate(text) if text else None
    return replace(clause, left_out=True) if clause else None


def _completed(body: str, core: str, low: str, mine: str, first: bool, more: str) -> str:
    """Return a predicate with the helping verb it was said without, "" where it is none."""
    lowered = f"{body[:1].lower()}{body[1:]}"
    if low == "been":
        return f"have {body}"
    if _GOT_OWN.match(body):
        return re.sub(r"^got", "have", body, flags=re.I)
    if low in _HELPING and (mine or _CAN_NOT.match(body)):
        return body
    if (
        verbs.past_of(low)
        and (first or mine)
        and (mine in ("past", "have", "am", "be", "base") or low not in _BARE_PAST)
    ):
        same = not mine and low in verbs.KNOWN and low not in ("quit", "left")  # "put", "cut": a bidding
        return "" if same else body
    if _STATUS.match(f"{core[:1].lower()}{core[1:]}") or (mine in ("am", "be") and _BEING.match(body)):
        return f"am {lowered}"
    if (
        len(core.split()) > 1
        and _doing(low, mine, first)
        and not _SUBJECTLIKE.search(body + _ITS_OWN.split(more)[0])
    ):
        return f"am {lowered}"
    base = low in verbs.KNOWN and not low.endswith("ing") and low != "like"
    shared = mine in ("base", "do", "can") or (first and _SAID_BARE.match(body))
    return lowered if base and shared and len(core.split()) > 1 else ""


def _doing(low: str, mine: str, first: bool) -> bool:
    return bool(verbs.doing_of(low)) and (first or mine in ("am", "ing", "be"))


_HELPING: Final = word_set("do did can am will was have had used")
_GOT_OWN: Final = re.compile(
    r"got (?:an? \w+ (?:called|named)|two|three|four|five|my own|type \d)\b", re.IGNORECASE
)
_CAN_NOT: Final = re.compile(r"can not (?:stand|eat)\b", re.IGNORECASE)
_BEING: Final = re.compile(r"not an? |(?:now )?(?:an? |the |\d\d\b|in my |from |on )")
_ITS_OWN: Final = re.compile(r"\b(?:I|we)\b")
# "Living alone can be an adventure": what is done is the subject there.
_SUBJECTLIKE: Final = re.compile(
    r"\b(?:is|are|was|were|can|must|may|might|should|would|could|will|has|sounds|seems|looks|feels"
    r"|takes|makes|helps|teaches|gives|gets"
    r"|provides|allows|requires|means|costs|beats|keeps|not only|be)\b",
    re.IGNORECASE,
)
_SAID_BARE: Final = re.compile(
    r"(?:hate|prefer|dislike|detest|live in|work (?:as|at|for|in)|speak (?-i:[A-Z]))\b", re.IGNORECASE
)
