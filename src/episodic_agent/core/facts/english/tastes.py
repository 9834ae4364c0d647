"""English rules for what somebody likes, does by habit and is like."""

import re
from collections.abc import Iterator
from typing import Final

from episodic_agent.core.facts.grammar import (
    Rule,
    SlotMatch,
    bare,
    clause_of,
    listed,
    open_rule,
    phrase,
    place,
    rule,
    singular,
    take,
)
from episodic_agent.core.facts.words import people, things
from episodic_agent.core.language.mentions.lists import word_set

_V: Final = r"(?P<v>[^,;:.!?()—–]+)"
_TIMES: Final = (
    r"(?:every (?:single )?(?:other )?(?:day|morning|evening|night|week|weekend|month|year|summer"
    r"|winter|spring|autumn|sunday|monday|tuesday|wednesday|thursday|friday|saturday|easter"
    r"|christmas|two weeks)"
    r"|(?:once|twice|three times|four times|five times|six times|\d+ times) (?:a|every|per) (?:day"
    r"|week|month|year)|(?:on )?(?:mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays"
    r"|weekends)|(?:on )?weekdays|daily(?=\s*(?:$|[,.;!]))|each (?:morning|evening|week)"
    r"|before breakfast|before bed|most (?:mornings|days|evenings|weekends|nights)|at (?:five|six"
    r"|seven) (?:every|each))"
)
_NOT_YET: Final = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|this (?:morning|week|evening|time|weekend|afternoon)"
    r"|just now|right now|again today|last night|the other day|so far)\b",
    re.I,
)


def _thing(text: str) -> str:
    """Return a liking that lasts: kinds and names, not this one or today's."""
    value = phrase(text)
    low = value.casefold().split()
    if not low or _NOT_YET.search(text) or low[-1] in things.SHORT_LIVED:
        return ""
    if low[0] in ("the", "a", "an") and not re.match(
        r"(?:the|an?) (?:\w+ )?(?:sea|mountains|outdoors|ocean|cold|heat|dark|beach|countryside"
        r"|theatre|theater|opera|cinema|smell of|taste of|sound of|good|beatles|[A-Z])",
        value,
    ):
        return ""
    if low[0] in (
        "my",
        "our",
        "being",
        "having",
        "to",
        "when",
        "seeing",
        "standing",
        "waiting",
        "holding",
        "watching",
        "getting",
    ):
        return ""
    return bare(value)


def _likes(match: re.Match[str]) -> Iterator[SlotMatch]:
    parts = match.groupdict()
    bad = bool(parts.get("bad")) is not bool(parts.get("no"))
    for value in _things(match.group("v")):
        yield SlotMatch("dislikes" if bad else "likes", value)


def _things(text: str) -> tuple[str, ...]:
    if _NOT_YET.search(text):
        return ()
    full = _thing(text)
    parts = (
        listed(full) if not re.match(r"\w+ing\b", full) and re.search(r"\band\b|\bor\b", full) else (full,)
    )
    return tuple(value for value in (_thing(part) for part in parts) if value)


def _prefers(match: re.Match[str]) -> Iterator[SlotMatch]:
    value = phrase(
        re.split(
            r"\s(?:to|over|rather than|instead of|more|especially|a lot)\b", match.group("v"), maxsplit=1
        )[0]
    )
    if (
        value
        and value.split()[-1] not in things.SHORT_LIVED | {"stuff", "ones", "hi"}
        and not re.match(r"(?:not|my|the|the (?:first|second|other|old|new)|option|if|you)\b", value)
    ):
        yield SlotMatch("prefers", bare(value))


def _favourite(match: re.Match[str]) -> Iterator[SlotMatch]:
    value = phrase(match.group("v"))
    if value and match.group("what").casefold().split()[0] not in (
        "part",
        "bit",
        "thing",
        "time",
        "memory",
        "line",
        "moment",
        "kind",
        "word",
    ):
        yield SlotMatch("likes", bare(value), own=f"favourite {match.group('what')}: {value}")


def _afraid(match: re.Match[str]) -> Iterator[SlotMatch]:
    value = _thing(match.group("v"))
    if value:
        yield SlotMatch("dislikes", value, not match.group("no"))


def _supports(match: re.Match[str]) -> Iterator[SlotMatch]:
    value = place(match.group("v"))
    if value and len(value.split()) <= 3:
        yield SlotMatch("likes", value, not match.groupdict().get("no"))


_INSTRUMENTS: Final = (
    r"(?:the )?(?:\w+ )?(?:piano|guitar|cello|violin|viola|drums|bass|flute|clarinet|saxophone|sax"
    r"|trumpet|trombone|tuba|accordion|harp|ukulele|banjo|organ|oboe|harmonica|bagpipes|keyboard"
    r"|keys|french horn|recorder)"
)
_GAMES: Final = (
    r"(?:chess|football|soccer|tennis|badminton|squash|golf|rugby|hockey|cricket|basketball"
    r"|volleyball|handball|baseball|softball|table tennis|ping pong|poker|bridge|go|darts|padel"
    r"|board games|video games|d&d|dungeons and dragons|water polo|netball|pool|snooker)"
)


def _plays(match: re.Match[str]) -> Iterator[SlotMatch]:
    if not _NOT_YET.search(match.group("v")):
        yield SlotMatch(
            "habit",
            phrase(match.group("v")) or match.group("what"),
            not match.group("no"),
            own=clause_of(match),
        )


def _collects(match: re.Match[str]) -> Iterator[SlotMatch]:
    value = _thing(match.group("v"))
    if value and not re.match(r"(?:the kids|my|data|him|her|them)\b", value):
        yield SlotMatch("habit", f"{match.group('verb').lower()}s {value}", own=clause_of(match))


def _habit(match: re.Match[str]) -> Iterator[SlotMatch]:
    """Read a present verb with a time that comes again: "I pray five times a day"."""
    statement = re.split(
        r"[,;!?()—–]|\.(?:\s|$)|\s(?:so|because|but|that's)\b|\sand (?:i|my|it|we|please)\b",
        match.group("v"),
        maxsplit=1,
        flags=re.I,
    )[0].strip()
    verb = statement.split()[0].casefold() if statement else ""
    if not statement or _NOT_YET.search(statement) or len(statement.split()) > 16:
        return
    # what somebody is, thinks and had is no habit, and past forms tell of once
    if verb in _NOT_ROUTINES or (verb.endswith("ed") and verb not in ("need", "feed", "speed", "breed")):
        return
    if re.search(r"\b(?:it|that|them|this|there)\b|^do(?: not\b|$)", statement):  # says nothing by itself
        return
    yield SlotMatch("habit", statement, own=clause_of(match))


_NOT_ROUTINES: Final = word_set(
    "prefer am is are was were had did said went came got took made thought felt told knew saw"
    " have know mean think guess feel need want hope see wonder said say ll ve re can could will"
    " would"
    " should may might must forget remember swear promise understand find get hear love hate like"
    " lost found ate drank slept read wrote spent left put woke"
)
_NEVER_NOT: Final = word_set(
    "said meant thought knew asked told heard saw got had understood understand know believed"
    " expected liked did was wanted think mind forget met forgot wanted worked found used"
    " finished went looked felt came made received realised realized again seen been wrote went"
    " sang ran drove took gave kept left let lost"
)


_NO_DEED: Final = word_set(
    "am are feel get seem end forget knew have want think say look try hope wish like love enjoy thought"
    " wanted find miss need should leave see will would could can manage wonder"
)
_OWN_SLOT: Final = word_set("live work have own like love eat drink")  # read by rules of their own


def _always(match: re.Match[str]) -> Iterator[SlotMatch]:
    statement = re.split(
        r"[,;!?()—–]|\.(?:\s|$)|\s(?:so|because|but)\b|\sand (?:i|my|it's|we|please)\b",
        match.group("v"),
        maxsplit=1,
        flags=re.I,
    )[0].strip()
    verb = statement.split()[0].casefold() if statement else ""
    vague = not statement or _NOT_YET.search(statement) or re.search(r"\b(?:it|that|this|them)\b", statement)
    if vague or len(statement.split()) < 2 or (verb.endswith("ed") and verb != "need"):
        return
    if verb in _NEVER_NOT | _NO_DEED or (match.group("how").lower() == "no longer" and verb in _OWN_SLOT):
        return
    yield SlotMatch("habit", f"{match.group('how').lower()} {statement}", own=clause_of(match))


def _trait(match: re.Match[str]) -> Iterator[SlotMatch]:
    value = bare(re.split(r"\s(?:who|when|by|at|and|with|in|about)\b", match.group("v"), maxsplit=1)[0])
    words = value.casefold().split()
    if words and (
        words[-1] in people.TRAITS
        or singular(words[-1]) in people.TRAITS
        or "-".join(words[-2:]) in people.TRAITS
    ):
        yield SlotMatch("trait", value, not match.group("no"))


def _person(match: re.Match[str]) -> Iterator[SlotMatch]:
    if not re.match(
        r"(?:changed|different|bad|good|terrible|horrible|new|happy|better|first|last|only|right|wrong"
        r"|third|second)\b",
        match.group("v"),
        re.I,
    ):
        yield SlotMatch("trait", f"{match.group('v')} person", not match.group("no"))


def _believes(match: re.Match[str]) -> Iterator[SlotMatch]:
    value = re.split(r"[;.!?()—–]", match.group("v"), maxsplit=1)[0].strip(" ,")
    if 3 <= len(value.split()) <= 25:
        yield SlotMatch("belief", value)


_FAN: Final = (
    r"(?:(?:a (?:big|huge|massive|lifelong|real|great) |a )fan of|into|fond of|keen on|crazy about"
    r"|obsessed with|passionate about|interested in(?! (?:learning|knowing|hearing|getting|buying"
    r"|applying|seeing|finding|the|your|how|what))|hooked on|addicted to|mad about|nuts about"
    r"|partial to)"
)
TASTES: Final[tuple[Rule, ...]] = (
    rule(rf"I (?:have )?(?P<no>never) (?:liked|loved|enjoyed|cared for) {_V}", _likes),
    rule(rf"I (?:have )?(?:always |long )(?:liked|loved|enjoyed|adored) {_V}", _likes),
    rule(rf"I (?:have )?(?:always |long )(?P<bad>hated|disliked|detested|loathed) {_V}", _likes),
    rule(rf"I do (?P<no>not) (?:like|love|enjoy|care for|fancy) {_V}", _likes),
    rule(rf"I (?:do not mind|never mind) {_V}", lambda m: iter([])),
    open_rule(
        rf"I (?:very much |quite |especially |particularly |always |do )?(?:love|like|enjoy"
        rf"|adore) (?!to (?:think|see|know|say|point|be|go)|you to\b|me\b){_V}",
        _likes,
    ),
    open_rule(
        rf"I (?:always |do )?(?P<bad>hate|cannot stand|dislike|detest|loathe|cannot do|despise"
        rf"|cannot abide|cannot bear) (?!to (?:say|admit|break|ask|be|see|interrupt|think|tell)){_V}",
        _likes,
    ),
    open_rule(rf"I am (?P<no>not )?(?:much of )?{_FAN} {_V}", _likes),
    rule(rf"(?:my|our) (?P<bad>biggest fear|pet hate|pet peeve) is {_V}", _likes),
    open_rule(
        rf"I am (?P<no>not )?(?:scared|afraid|terrified|frightened|petrified)(?: to death)? of {_V}", _afraid
    ),
    open_rule(
        rf"I have a (?:(?:real|lifelong|terrible|deep) )?(?:fear|phobia) of (?P<no>(?!)x)?{_V}", _afraid
    ),
    open_rule(rf"I (?:much |always |strongly |would |generally |usually )*prefer {_V}", _prefers),
    rule(
        r"(?P<v>[A-Z][\w+#.-]*(?: [\w+#-]+)?)\. (?:always|forever|every time)(?: \1| (?P=v))?[.!]",
        lambda m: iter([SlotMatch("prefers", m["v"])]),
    ),
    rule(
        r"(?P<v>[\w+#.-]+(?: [\w+#-]+)?) over [\w+#. -]+?,? (?:any ?day|every time|always|any time)",
        lambda m: iter([SlotMatch("prefers", m["v"])]),
    ),
    rule(
        rf"(?:my|our) (?:all-time |absolute |very )?favou?rite (?P<what>[\w -]+?) (?:is|are"
        rf"|has always been|of all time is) {_V}",
        _favourite,
    ),
    rule(rf"I do (?P<no>not) support {_V}", _supports),
    open_rule(
        r"I (?:have supported|have been supporting|support|root for|follow|barrack for"
        r"|am a (?:lifelong )?supporter of) (?P<v>[A-ZÀ-Þ][^,;:.!?()—–]+)",
        _supports,
    ),
    rule(
        rf"I (?:do (?P<no>not) |have played |have been playing )?play (?P<what>(?P<v>(?:{_INSTRUMENTS}"
        rf"|{_GAMES})\b[^,;:.!?()—–]*))",
        _plays,
    ),
    rule(
        rf"I have (?:played|been playing)(?P<no>(?!)x)? (?P<what>(?P<v>(?:{_INSTRUMENTS}"
        rf"|{_GAMES})\b[^,;:.!?()—–]*))",
        _plays,
    ),
    open_rule(rf"I (?P<verb>collect|breed|knit|brew|bake|grow|restore|build|paint) {_V}", _collects),
    rule(
        rf"(?:my|our) (?:main |biggest |favou?rite |only )?(?:hobby|hobbies|passion|passions) (?:is"
        rf"|are) {_V}",
        _likes,
    ),
    rule(
        r"I (?:mostly |mainly |almost |pretty much )?(?:read|watch|listen to) (?:mostly |mainly "
        r"|almost )?(?:only |nothing but |exclusively |a lot of |lots of )(?P<v>[^,;:.!?()—–]+)",
        lambda m: iter([SlotMatch("likes", bare(m["v"]))] if bare(m["v"]) else []),
    ),
    rule(
        r"I (?P<v>(?:do|practise|practice) (?:yoga|pilates|karate|judo|taekwondo|aikido|crossfit"
        r"|tai chi|ballet|parkour|meditation|bouldering|improv|capoeira|triathlons?|pottery"
        r"|calligraphy)\b[^,;:.!?()—–]*)",
        _habit,
    ),
    open_rule(r"(?:I|we) (?P<how>always|never|rarely|no longer) (?P<v>.+)", _always),
    rule(r"(?:I|we) (?:have|do) (?P<how>never) (?P<v>.+)", lambda m: iter([])),
    open_rule(rf"(?:I|we) (?P<v>\w+ (?:[^;:.!?]*? )?{_TIMES}\b[^,;:.!?]*)", _habit),
    open_rule(r"(?:the other days|other days|the rest of the (?:week|time)) I (?P<v>\w+ [^,;:.!?]+)", _habit),
    open_rule(
        rf"I have (?P<v>(?:swum|run|cycled|walked|played|gone|cooked|meditated|written|sung|kept"
        rf"|volunteered|been (?!trying|putting|thinking|looking|feeling|struggling|having|getting"
        rf"|wondering|considering)\w+ing) [^,;:.!?]*(?:since (?:19|20)\d\d|{_TIMES}"
        rf"|for \w+ years)[^,;:.!?]*)",
        _habit,
    ),
    open_rule(
        r"(?:I|we) homeschool\b(?P<v>[^,;:.!?]*)",
        lambda m: iter([SlotMatch("habit", "homeschool children", own=clause_of(m))]),
    ),
    open_rule(
        r"I (?P<v>do not (?:fly|drive|swim|cook|dance|vote|ski|use (?:facebook|social media|whatsapp"
        r"|instagram)|watch tv|gamble))(?=\s*(?:$|[,;.!]|and\b|any ?more|at all|or\b|so\b|but\b))",
        lambda m: iter([SlotMatch("habit", m["v"][7:], False, own=clause_of(m))]),
    ),
    open_rule(
        r"I (?:have not|never) (?P<v>(?:skied|swum|flown|smoked|driven|drunk|gambled|eaten meat|sung"
        r"|danced|played|ridden|been back))(?: (?:again|anything))? since\b",
        lambda m: iter([SlotMatch("habit", m["v"], False, own=clause_of(m))]),
    ),
    open_rule(
        r"(?:(?:that's|this is) why )?I do not (?P<v>(?:swim|fly|ski|drink|drive|smoke|go in"
        r"|go swimming))\b",
        lambda m: iter([]),
    ),
    # what somebody is like
    open_rule(
        r"I am(?P<no> not)? (?:an? )(?P<v>[\w-]+) person\b(?! (?:who|in|of|to|for|at|with)\b)", _person
    ),
    open_rule(r"I am(?P<no> not)? (?P<v>(?:an? )[^,;:.!?()—–]+)", _trait),
    open_rule(
        r"I (?:(?:strongly|firmly|do|really|deeply) )+believe (?:that |in )?(?P<v>[^;:.!?()—–]+)", _believes
    ),
    open_rule(r"I (?:do (?P<no>not) )?believe in (?P<v>[^,;:.!?()—–]+)", take("belief", _thing)),
    open_rule(
        r"(?:I think|in my opinion,?|if you ask me,?) (?P<v>(?!it\b|this\b|that\b|i\b|we\b|you\b|the\b"
        r"|my\b|he\b|she\b|when|if\b|maybe|also\b)(?:[\w' -]+?)(?<!\bwe)(?<!\byou)(?<!\bit)(?<!\bthey)"
        r" should (?:not )?(?:be|start|have|pay|get|stop|never|always)\b[^;:.!?()—–]*)",
        _believes,
    ),
)
