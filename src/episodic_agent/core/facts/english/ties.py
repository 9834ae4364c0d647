"""English rules for relations, animals, what was lived through and what is planned."""

import re
from collections.abc import Iterator
from typing import Final

from episodic_agent.core.facts.english.life import occupation
from episodic_agent.core.facts.grammar import (
    Rule,
    SlotMatch,
    clause_of,
    name,
    names,
    open_rule,
    rule,
    singular,
)
from episodic_agent.core.facts.words import people, things

_KIN: Final = "|".join(sorted(people.KIN | people.FRIENDS, key=len, reverse=True))
_SINGLE: Final = (
    rf"(?P<kin>(?:(?:older|younger|elder|little|big|best|oldest|eldest|youngest|middle|late|twin"
    rf"|new|closest|childhood|only|dear) )?(?:{_KIN}))"
)
_NUMBER: Final = r"(?:an?|one|two|three|four|five|six|seven|eight|\d|our|both|a pair of|a couple of)"
_PET: Final = "|".join(
    sorted({f"{p}s?" for p in people.PETS} | {"puppies", "ponies", "geese"}, key=len, reverse=True)
)
_DONE: Final = (
    r"(?:broke|lost|won|ran|spent|crossed|climbed|nearly drowned|almost died|nearly died|lived"
    r"|worked|studied|served|taught|coached|played|sang|travelled|traveled|walked|cycled"
    r"|hitchhiked|sailed|rowed|backpacked|volunteered|graduated|finished|completed|published|wrote"
    r"|built|founded|started|opened|closed|survived|had|was|were|met|married|emigrated|came|flew"
    r"|swam|crawled|trained|went|saw|drove|danced|acted|toured|interned|bought|ruptured|tore"
    r"|fractured|beat|hiked|performed|shared|learned|learnt|fell|got married|divorced|gave birth"
    r"|escaped|fled|competed|sold|rode|became|dropped out)"
)
_YEARS: Final = (
    r"(?:a|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty"
    r"|\d+|several|many)"
)
_WHEN: Final = (
    rf"(?:in (?:the )?(?:19|20)\d\d(?:s)?|in (?:19|20)\d\d|back in (?:the )?\w+"
    rf"|(?:for )?{_YEARS} (?:years|seasons|decades|summers|winters|semesters|months|terms)"
    rf"|at the age of \w+|at (?:1[3-9]|[2-9]\d|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen"
    rf"|nineteen|twenty|thirty|forty)(?! (?:am|pm|o'clock|today|tonight|sharp|past|a\.m|p\.m)|:)"
    rf"|as a (?:child|kid|boy|girl|student|teenager|young \w+)|when I was (?:\d+|a (?:child|kid"
    rf"|student|teenager)|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen"
    rf"|seventeen|eighteen|nineteen|twenty|young|little|small|pregnant)|in my (?:twenties|thirties"
    rf"|forties|teens|youth|childhood)|at (?:boarding school|university|school|art school"
    rf"|drama school)|right after (?:uni|university|school|college)|after (?:uni|university"
    rf"|college))"
)
_RECENT: Final = re.compile(
    r"\b(?:today|tonight|yesterday|this (?:morning|week|evening|afternoon|weekend)|last night"
    r"|just now|at (?:work|home) today|minutes|hours|(?:for|in) \w+ (?:days|weeks))\b",
    re.I,
)
_FUTURE: Final = (
    r"(?:next (?:week|month|year|spring|summer|autumn|fall|winter|january|february|march|april|may"
    r"|june|july|august|september|october|november|december|semester|term)|in (?:the )?(?:spring"
    r"|summer|autumn|winter|fall|new year|january|february|march|april|may|june|july|august"
    r"|september|october|november|december|20\d\d)|this (?:spring|summer|autumn|winter|fall|year)"
    r"|as soon as [^,;.!?]+|by (?:the end of|20\d\d|christmas|summer)[^,;.!?]*"
    r"|on (?:the )?\d{1,2}(?:st|nd|rd|th)?(?: \w+)?|from (?:\d+ )?(?:january|february|march|april"
    r"|may|june|july|august|september|october|november|december))"
)


# --- people ----------------------------------------------------------------------------------------------


def _relation(kin: str) -> str:
    return re.sub(r"^(?:new|late|dear) ", "", kin.lower())


def _tie(kin: str, called: str, holds: bool = True) -> SlotMatch:
    relation = _relation(kin)
    slot = "partner" if relation.split()[-1] in people.PARTNERS else "relationship"
    return SlotMatch(slot, f"{relation} {called}", holds)


def _kin_named(match: re.Match[str]) -> Iterator[SlotMatch]:
    """Read "My sister Hannah is a nurse": the tie, and what is said of the one who has a name."""
    called = name(match.group("v"))
    if not called or called.casefold() in ("i", "god", "christ"):
        return
    kin = match.group("kin")
    yield _tie(kin, called, not match.groupdict().get("gone"))
    rest = match.string[match.start("v") + len(called) :]
    spoken_match = re.match(r"(?:,? who)? is (?P<no>not )?(?P<v>[^,;:.!?()—–]+)", rest)
    if spoken_match is None or spoken_match["no"]:
        return
    word = re.split(r"\s(?:and|but|so|at|in|with|who)\b", spoken_match["v"], maxsplit=1)[0]
    if work := occupation(word):
        yield SlotMatch("job", work, subject=called)
    elif word.casefold() in things.HEALTHY:
        yield SlotMatch("health", word, subject=called)


def _kin_is(match: re.Match[str]) -> Iterator[SlotMatch]:
    """Read "Odette is my flatmate" and "my oldest friend is Tobi"."""
    called = name(match.group("v"))
    rest = match.group("v")[len(called) :] if called else "?"
    if called and re.match(r"\s*(?:$|[,.;!(—–]|and\b|but\b|,|who\b|from\b|,? we\b)", rest):
        yield _tie(match.group("kin"), called, not match.groupdict().get("no"))


def _kin_list(match: re.Match[str]) -> Iterator[SlotMatch]:
    """Read "two kids, Ada and Pim", "our three: Ada, Noah and Pim", "a twin, Jun"."""
    texts = names(match.group("v"))
    kin = singular(match.groupdict().get("kin") or "child")
    for called in texts:
        yield _tie({"kid": "child", "children": "child"}.get(kin, kin), called)


def _kin_count(match: re.Match[str]) -> Iterator[SlotMatch]:
    kin = match.group("kin").lower()
    if singular(kin.split()[-1].replace("children", "child")) in people.KIN | {
        "sibling",
        "grandchild",
        "grandchildren",
    }:
        yield SlotMatch("relationship", f"{match.group('n').lower()} {kin}")


def _childless(match: re.Match[str]) -> Iterator[SlotMatch]:
    yield SlotMatch(
        "children" if "sib" not in match["kin"].lower() else "relationship",
        "children" if "sib" not in match["kin"].lower() else "siblings",
        False,
    )


def _married_to(match: re.Match[str]) -> Iterator[SlotMatch]:
    called = name(match.group("v"))
    if called:
        yield SlotMatch(
            "partner", f"{match.group('how').lower()} to {called}", not match.groupdict().get("no")
        )


def _parted(match: re.Match[str]) -> Iterator[SlotMatch]:
    called = name(match.group("v"))
    if called:
        yield SlotMatch("partner", f"partner {called}", False, ends=True)


def _left_us(match: re.Match[str]) -> Iterator[SlotMatch]:
    """Read "Tofu died in March": the end of whatever ties are known of Tofu."""
    called = name(match.group("v"))
    if called and called == match.group("v").strip():
        yield SlotMatch("", called, False, ends=True)


def _adopted(match: re.Match[str]) -> Iterator[SlotMatch]:
    called = name(match.group("v"))
    rest = match.string[match.end("v") :]
    if not called:
        return
    kin = re.search(
        r"\b(?:our|my) (?:[\w-]+ ){0,2}(son|daughter|child|dog|cat|puppy|kitten|girl|boy)\b", rest
    )
    if kin and kin.group(1) in ("dog", "cat", "puppy", "kitten"):
        yield SlotMatch("has_pet", f"{kin.group(1)} {called}")
    elif kin:
        yield _tie(kin.group(1), called)


# --- animals ---------------------------------------------------------------------------------------------


def _pets(match: re.Match[str]) -> Iterator[SlotMatch]:
    kind = singular(match.group("kind").lower())
    statement = match.groupdict().get("v") or ""
    texts = names(
        re.split(
            r"\s(?:who|and (?:i|we|they|he|she|it)|that|is|are|since|from|because)\b|[.;!]",
            statement,
            maxsplit=1,
        )[0]
    )
    if texts:
        yield from (
            SlotMatch("has_pet", f"{kind} {called}", not match.groupdict().get("no")) for called in texts
        )
    else:
        count = (match.groupdict().get("n") or "").lower()
        many = (
            f"{count} {match.group('kind').lower()}" if count not in ("", "a", "an", "one", "our") else kind
        )
        yield SlotMatch("has_pet", many, not match.groupdict().get("no"))


# --- what was and what will be ---------------------------------------------------------------------------


def _lived(match: re.Match[str]) -> Iterator[SlotMatch]:
    statement = re.split(r"[;!?—–]|\.\s", match.string[match.start("v") :], maxsplit=1)[0]
    if _RECENT.search(statement) or re.search(r"\b(?:anyone|nobody) (?:home|there)\b", statement):
        return
    value = re.sub(
        r"^(?:was|were|had) ",
        "",
        re.split(
            r",? (?:and (?:i|have|has|haven't|we|it)|but|so|because|that's|it was|don't|do not|then)\b",
            statement,
            maxsplit=1,
            flags=re.I,
        )[0].strip(" ,."),
    )
    bare_words = re.sub(_WHEN, "", value, flags=re.I).split()
    vague = (
        len(bare_words) < 2
        or {w.lower() for w in bare_words[1:3]}
        & {
            "one",
            "it",
            "that",
            "this",
            "them",
            "there",
            "wondering",
            "looking",
            "trying",
            "going",
            "asking",
            "told",
            "thinking",
            "more",
        }
        or bare_words[0]
        in ("wondering", "looking", "trying", "going", "asking", "told", "thinking", "not", "diagnosed")
    )
    if 2 < len(value.split()) <= 22 and not vague and " ago" not in statement:
        yield SlotMatch("did", value, own=clause_of(match))


def _plan(match: re.Match[str]) -> Iterator[SlotMatch]:
    statement = re.split(
        r"[;.!?—–]|,(?! (?:january|february|march|april|may|june|july|august))", match.group("v"), maxsplit=1
    )[0]
    value = re.split(
        r"\s(?:but|so|because|and (?:i|if|you|we|then|my|am|are|will|have)|which)\b",
        statement,
        maxsplit=1,
        flags=re.I,
    )[0].strip()
    low = value.casefold()
    if len(value.split()) < 1 or re.search(
        r"\b(?:today|tonight|tomorrow|this (?:morning|evening|afternoon|weekend)|in (?:a|an|\d+|five"
        r"|ten) (?:minute|hour|sec|bit)\w*|now|later)\b",
        low,
    ):
        return
    if low.split()[0] in (
        "kill",
        "die",
        "scream",
        "be",
        "do",
        "need",
        "make",
        "bed",
        "sleep",
        "lie",
        "cry",
        "have",
        "say",
        "ask",
        "try",
        "send",
        "call",
        "lunch",
        "dinner",
        "get",
    ) and not re.match(
        r"be an? |get (?:married|my |a |an |divorced)|make (?:it|a film)|have (?:a baby|children|kids)"
        r"|do (?:a|my|an) ",
        low,
    ):
        return
    far = re.search(_FUTURE, low) or _LIFE.match(low)
    if (
        match.groupdict().get("v") is None
        or re.search(r"\b(?:it|this|that|them)\b", low)
        or re.match(r"(?:to )?learn (?:more|about|how)\b", low)
        or not far
    ):
        return
    yield SlotMatch("plans", value, not match.groupdict().get("no"), own=clause_of(match))


_LIFE: Final = re.compile(
    r"(?:(?:to|for|on|the|a|an|my|our|finally|be|am|are|go|going|eventually|one day) )*(?:mov"
    r"|becom|retir|start (?:a|an|my|our|up|as)|start|open|writ|publish|run|learn|study|buy|marry"
    r"|get|travel|visit|climb|build|apply"
    r"|quit|leav|return|graduat|train|sav|have (?:a |kids|children)|adopt|emigrat|launch|do (?:a"
    r"|my|an)\b|doing|tak(?:e|ing) (?:a|the|up|my)|finish|complet|chang|pass|sell|renovat"
    r"|volunteer|sail|cycl|walk|hik|hajj|house|masters?|"
    r"phd|degree|licen[cs]e|pilot|marathon|half[- ]marathon|triathlon|ironman|wedding|trip|evening"
    r"|handing|preparing|prepar|working towards|retrain|expect|propos|enrol|signed|registered|lose"
    r"|own|sabbatical|nurs|flat|boat|exam|qualif|first|new|swim|compet|record|set up|grow"
    r"|keep bees|teach|specialis|bar exam|camino|sobriety)",
    re.I,
)


def _vow(match: re.Match[str]) -> Iterator[SlotMatch]:
    yield SlotMatch("plans", match.group("v").strip(), own=clause_of(match))


TIES: Final[tuple[Rule, ...]] = (
    # people
    open_rule(
        rf"(?:my|our) {_SINGLE}(?:'s| is)? (?:name is|called|named|name's) (?P<v>[^,;:.!?()—–]+)", _kin_named
    ),
    open_rule(rf"(?:my|our) {_SINGLE}'s name is (?P<v>[^,;:.!?()—–]+)", _kin_named),
    open_rule(rf"(?:my|our) {_SINGLE} is (?:called |named )?(?P<v>[A-ZÀ-Þ][^,;:.!?()—–]*)", _kin_is),
    open_rule(rf"(?:my|our) {_SINGLE},? (?P<v>[A-ZÀ-Þ][^,;:.!?()—–]*)", _kin_named),
    open_rule(
        rf"(?P<v>[A-ZÀ-Þ][\w'’-]+(?: [A-ZÀ-Þ][\w'’-]+)?) is(?P<no> not| no longer)? my {_SINGLE}\b(?! 's"
        rf"|'s)(?=\s*(?:$|[,.;!]|and\b|any ?more|now\b|,))",
        _kin_is,
    ),
    open_rule(
        rf"I have an? {_SINGLE},? (?:called |named |whose name is )?(?P<v>[A-ZÀ-Þ][\w'’-]+)(?=\s*(?:$"
        rf"|[,.;!—–]|and\b|who\b))",
        _kin_is,
    ),
    rule(
        r"(?:I|we) have (?P<n>two|three|four|five|six|\d) (?:[\w-]+ )?(?P<kin>kids|children|sons"
        r"|daughters|sisters|brothers|boys|girls)(?:,|:| called| named) (?P<v>[A-ZÀ-Þ][^;:.!?()—–]*)",
        _kin_list,
    ),
    open_rule(
        r"(?:I|we) (?:homeschool|have|raised|are raising) our (?:two|three|four|five)(?: (?P<kin>kids"
        r"|children|sons|daughters|boys|girls))?[:,] (?P<v>[A-ZÀ-Þ][^;:.!?()—–]*)",
        _kin_list,
    ),
    rule(
        r"(?:my|our) (?P<kin>kids|children|sons|daughters|sisters|brothers|twins)(?: are(?: called)?|,"
        r"| are named) (?P<v>[A-ZÀ-Þ][^;:.!?()—–]*)",
        _kin_list,
    ),
    open_rule(
        r"(?:I|we) have (?P<n>an?|one|two|three|four|five|six|\d) (?P<kin>(?:older |younger |little "
        r"|big |grown-up |teenage |small |twin |half-)?(?:kids?|children|sons?|daughters?|sisters?"
        r"|brothers?|siblings?|grandchildren|grandkids|twins?))\b(?! (?:menu|bed|seat|size|meal|room))",
        _kin_count,
    ),
    open_rule(
        r"(?:I|we) (?:do not have(?: any)?|have no) (?P<kin>kids|children|siblings"
        r"|brothers or sisters)\b",
        _childless,
    ),
    open_rule(
        r"I am an? (?P<v>only child|twin|orphan|widow|widower|triplet|single (?:mother|father|mum|mom"
        r"|dad|parent)|(?:new |proud )?(?:grandmother|grandfather|grandparent|mother|father|mum|mom"
        r"|dad|stepmum|stepdad)(?: of (?:two|three|four|five|six|\d|twins|triplets))?)(?! (?:in|at|to"
        r"|of|with|-|who)\b)",
        lambda m: iter([SlotMatch("relationship", m["v"])]),
    ),
    open_rule(r"I am(?P<no> not)? (?P<how>married|engaged) to (?P<v>[A-ZÀ-Þ][^,;:.!?()—–]*)", _married_to),
    open_rule(r"(?:I|we) (?P<how>(?:got )?engaged|married) (?:to )?(?P<v>[A-ZÀ-Þ][\w'’-]+)\b", _married_to),
    rule(
        r"(?P<v>[A-ZÀ-Þ][\w'’-]+) and I (?:have )?(?:split up|broke up|broken up|separated|divorced"
        r"|got divorced|parted ways|are no longer together|are getting divorced|are divorced"
        r"|called it quits|are not together)",
        _parted,
    ),
    rule(
        r"I (?:have )?(?:split up|broke up|broken up|separated) (?:with|from) (?P<v>[A-ZÀ-Þ][\w'’-]+)",
        _parted,
    ),
    rule(
        r"(?P<v>[A-ZÀ-Þ][\w'’-]+) (?:has )?(?:died|passed away|passed)\b(?! (?:the|his|her|me|my"
        r"|on the|in the (?:film|movie|book|show|game)))",
        _left_us,
    ),
    rule(r"we adopted (?P<v>[A-ZÀ-Þ][\w'’-]+)", _adopted),
    open_rule(
        r"(?:we are|I am) (?P<v>engaged)(?=\s*(?:$|[!.,]))", lambda m: iter([SlotMatch("marital", "engaged")])
    ),
    open_rule(
        r"I (?:run|own|share|have|live|started|founded)\b[^.;!?]*? with (?:my"
        r"|our) (?P<kin>(?:\w+ )?[\w-]+) (?P<v>[A-ZÀ-Þ][\w'’-]+)(?=\s*(?:$|[,.;!—–]|and\b|in\b"
        r"|since\b))",
        lambda m: iter(
            [_tie(m["kin"].split()[-1], m["v"])]
            if m["kin"].split()[-1].lower() in people.KIN | people.FRIENDS
            else []
        ),
    ),
    # animals
    rule(
        rf"(?:I|we) have (?P<n>{_NUMBER}) (?:(?!for |of |in |with "
        rf"|about )[\w-]+ ){{0,2}}?(?P<kind>{_PET})(?:,| called| named|:|;"
        rf"| by the name of)? (?P<v>[A-ZÀ-Þ][^;:!?()—–]*)",
        _pets,
    ),
    rule(
        rf"(?:I|we) (?:have|adopted|keep|got|have adopted|have bought"
        rf"|bought) (?P<n>{_NUMBER}) (?:(?!for |of |in |with "
        rf"|about )[\w-]+ ){{0,2}}?(?P<kind>{_PET})\b(?=\s*(?:$|[,.;!—–]|and\b|so\b|at home|now\b"
        rf"|in [A-Z(12]|from\b|last\b|called\b|who\b))",
        _pets,
    ),
    open_rule(
        rf"(?:my|our) (?:old |new |two |three )?(?P<kind>{_PET}),? (?P<v>[A-ZÀ-Þ][\w'’-]+)\b",
        lambda m: iter(
            [SlotMatch("has_pet", f"{singular(m['kind'].lower())} {m['v'].removesuffix(chr(39) + 's')}")]
        ),
    ),
    rule(
        rf"(?:my|our) (?P<kind>{_PET})(?:'s name is| is (?:called|named)"
        rf"|s are called) (?P<v>[A-ZÀ-Þ][^;:.!?()—–]*)",
        _pets,
    ),
    # what was
    open_rule(
        rf"(?:I|we) (?:once )?(?P<v>(?:(?:nearly|almost) (?:drowned|died|froze)|broke|lost my|learned"
        rf"|learnt|started|became|emigrated|came to)\b[^;.!?]*?\b(?:{_WHEN}|at (?:five|six|seven|eight"
        rf"|nine|ten|eleven|twelve))\b)",
        _lived,
    ),
    open_rule(rf"(?:I|we|your \w+ and I|my \w+ and I) (?P<v>{_DONE}\b[^;.!?—–]*?\b{_WHEN}\b)", _lived),
    open_rule(rf"I once (?P<v>{_DONE}\b[^;.!?—–]+)", _lived),
    open_rule(rf"{_WHEN} I (?P<v>{_DONE}\b[^;.!?—–]+)", _lived),
    open_rule(rf"we (?P<v>{_DONE} [^;.!?—–]*? at (?:boarding )?(?:school|university) in [A-Z]\w+)", _lived),
    open_rule(
        r"I (?:was|have been) (?P<v>(?:in the (?:navy|army|air force|military|scouts|foreign legion"
        r"|police)|a (?:soldier|refugee|foster child|monk|nun)) [^;.!?—–]*)",
        _lived,
    ),
    rule(
        r"(?P<v>(?:\w+|\d+) years of (?:teaching|nursing|coding|farming|driving|marriage|running"
        r"|studying)\b[^,;.!?]*) (?:taught|behind me|showed|have taught)",
        lambda m: iter([SlotMatch("did", m["v"], own=m["v"])]),
    ),
    open_rule(
        r"I (?:have )?(?P<v>(?:beat|survived|been through|had) (?:cancer|a stroke|a heart attack"
        r"|leukaemia|leukemia|breast cancer|two strokes)\b[^,;.!?]*)",
        lambda m: iter([SlotMatch("did", m["v"], own=clause_of(m))]),
    ),
    # what will be
    open_rule(
        r"(?:I|we) (?:am|are) (?:planning|hoping|aiming|intending|saving(?: up)?)(?: to| on"
        r"| for) (?P<v>[^;.!?—–]+)",
        _plan,
    ),
    open_rule(
        r"(?:I|we) (?:plan|intend|aim|hope|have decided|have signed up) (?:to|on"
        r"|for) (?P<v>[^;.!?—–]+)",
        _plan,
    ),
    open_rule(
        r"I (?:have )?(?:always )?want(?:ed)? to (?P<v>(?:become|learn (?!about|how|more|what|why|if"
        r"|to use)|write an? (?:book|novel|memoir|cookbook|play|musical|screenplay)|publish|run|retire"
        r"|move|open a (?:restaurant|café|cafe|bar|bakery|shop|bookshop|gallery|studio|school|business"
        r"|practice|pub|b&b|guest ?house)|start (?:a (?:business|family|company|band|farm|podcast"
        r"|charity)|my own)|visit|study|climb|build (?:a (?:house|boat|cabin|shed|kayak)|my own)|own"
        r"|get (?:fit|my|into|better)|be an?|lose|quit|save|pass|travel|sail|have (?:kids|children)"
        r"|do (?:an?|my) (?:degree|phd|master's|masters|course|marathon|apprenticeship|doctorate"
        r"|mba))\b(?! (?:a (?:joke|word|letter|mail|email|message|note|poem|card|function|script|test"
        r"|query|new chat)|the (?:code|app|test|mail|email|letter|report|file|program|command)"
        r"|my (?:code|essay|mail|email|letter|question|cv|file)|(?:this|that|it|these|now|tonight"
        r"|today)\b))[^;.!?—–]+)",
        _plan,
    ),
    open_rule(
        r"(?:my|our) (?:(?:big|main|long-term|current|next|new year's|ultimate|personal) )?(?:goal"
        r"|dream|aim|plan|ambition|resolution)(?: for (?:this year|20\d\d|the year"
        r"|next year))? is (?:to )?(?P<v>[^;.!?—–]+)",
        _plan,
    ),
    open_rule(
        r"(?:I|we) (?:am|are) (?:(?:currently|also|slowly) )?(?P<v>(?:training for|saving(?: up)? for"
        r"|preparing for|working towards|learning|studying for|retraining as|applying (?:for"
        r"|to)) (?!(?:to|it|that|this|so|about|how|a lot)\b)[^,;.!?—–]+)",
        _plan,
    ),
    open_rule(
        rf"(?:I|we) (?:am|are) (?:(?:finally|now) )?(?P<v>(?:moving|going|getting|starting|doing|taking"
        rf"|opening|retiring|returning|running|expecting|emigrating|leaving|marrying|buying|launching"
        rf"|changing|flying|walking|handing|quitting|travelling|proposing|relocating|sitting|publishing"
        rf"|joining|selling|closing)\b[^;.!?]*?\b{_FUTURE}\b)",
        _plan,
    ),
    open_rule(
        r"(?:I|we) (?:am|are) (?:finally )?(?P<v>(?:moving (?:back )?to [A-ZÀ-Þ]|getting married"
        r"|getting divorced|retiring|expecting (?:a|our|my|twins)|having a baby|emigrating"
        r"|going back to (?:school|university|uni|college)|quitting my job|opening a)[^;.!?]*)(?<!\?)",
        _plan,
    ),
    open_rule(r"I am (?P<v>handing in my notice (?:on|in|at|next)[^,;.!?]*)", _plan),
    open_rule(rf"(?:I|we) (?:am|are) going to (?P<v>[^;.!?]*?\b{_FUTURE}\b)", _plan),
    open_rule(
        rf"(?:I|we) will (?P<v>(?:be )?(?:start|move|retire|run|open|marry|study|go|finish|graduate"
        rf"|become|starting|moving|retiring)\w*\b[^;.!?]*?\b{_FUTURE}\b)",
        _plan,
    ),
    open_rule(r"I am (?P<v>doing [\w ]+ instead)\b", _plan),
    open_rule(
        r"(?:I|we) (?:have )?(?P<v>(?:enrolled|signed up|registered) (?:in|for"
        r"|on) (?!the past)[^,;.!?—–]+)",
        _plan,
    ),
    open_rule(
        r"(?P<v>(?:an? |my )?(?:evening |night )?(?:course|class|degree|school|apprenticeship|training"
        r"|job)\b[^;.!?,]*? (?:starts|begins) (?:in|on|next) \w+)",
        _vow,
    ),
    open_rule(r"(?P<v>[A-Z]\w+ school in [A-Z]\w+ starts (?:in|on|next) [\w ]+?)(?= and\b|[,.;!]|$)", _vow),
)
