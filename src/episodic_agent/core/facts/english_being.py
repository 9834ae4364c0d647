"""What an English speaker says they are, have been or were: "I am", "I've been", "I was"."""

import re
from collections.abc import Iterator
from typing import Final

from episodic_agent.core.facts.english_clauses import Clause
from episodic_agent.core.facts.english_values import AGAIN, POINTS, core, things_of
from episodic_agent.core.facts.grammar import Found, bare, head, place, singular
from episodic_agent.core.facts.occupations import work_of
from episodic_agent.core.facts.words import doings, people, things, verbs

_AGE: Final = re.compile(
    r"(?:now |only |turning )?(\d{1,2})(?= years|\s*$| now| and| in )|(\d{1,2}) years? old", re.I
)
_AILING: Final = re.compile(
    r"(?:(?:partially|severely|registered|profoundly|mildly|legally|half|totally|red[ -]green|type \w+) )*"
    r"(?:deaf|blind|colou?r ?-?blind|diabetic|asthmatic|autistic|dyslexic|dyspraxic|epileptic|coeliac"
    r"|celiac|an(?:a|ae)mic|bipolar"
    r"|hard of hearing|short-?sighted|long-?sighted|near-?sighted|lactose intolerant|gluten intolerant"
    r"|intolerant to \w+"
    r"|pre-? ?diabetic|neurodivergent|adhd|paralysed|immunocompromised|partially sighted|in remission"
    r"|pregnant"
    r"|a? ?type \w+ diabetic|an? (?:amputee|diabetic|coeliac|celiac|asthmatic|epileptic"
    r"|wheelchair user)|[ABO]{1,2} (?:positive|negative)"
    r"|missing an? \w+|in a wheelchair)\b(?: in (?:my|one|the) \w+(?: \w+)?)?",
    re.I,
)
_BENT: Final = re.compile(
    r"(?:(?:so|really|very|pretty|quite|absolutely|completely|utterly|a bit|not very|totally|rather"
    r"|deeply) )*"
    r"(?P<how>good|great|bad|terrible|hopeless|useless|rubbish|awful|brilliant|decent|crap|shit|lousy"
    r"|poor|hopeless|handy|clumsy|careless"
    r"|generous|strict|picky|fussy|superstitious|particular|shy|obsessive|religious|proud|ashamed"
    r"|careful|lazy|sceptical|skeptical|nosy|jealous)"
    r" (?P<prep>at|with|about|of|in) (?P<v>.+)",
    re.I,
)
_KEEN: Final = re.compile(
    r"(?:(?:so|really|very|pretty|quite|absolutely|completely|totally|mad|big|massively|well) )*"
    r"(?:into|obsessed with|crazy about|mad about|nuts about|hooked on|addicted to|fond of|keen on"
    r"|passionate about|in love with|partial to"
    r"|(?:an?|(?P<no>no)) (?:(?:big|huge|massive|lifelong|total|die-?hard|great|real|long-?time|secret"
    r"|serious|proper|mad) )*"
    r"(?:fan of|lover of|fan for|sucker for|addict for|devotee of|believer in)) (?P<v>.+)",
    re.I,
)
_AFRAID: Final = re.compile(
    r"(?:(?:so|really|very|pretty|quite|absolutely|completely|totally|actually|a bit) )*"
    r"(?P<v>(?:scared|terrified|afraid|frightened|petrified|phobic|claustrophobic|scared stiff) of .+)",
    re.I,
)
_KINDS: Final = re.compile(
    r"(?:more of )?(?P<v>an? (?:\w+ ){0,2}?(?:(?!good|bad|nice|mixed|busy|tired|happy|awful|terrible"
    r"|better|new|different|horrible|lucky|only|last|first|up|great|worse|real|whole"
    r"|normal)[\w-]+ person|night owl|early bird|early riser|(?:light|heavy) sleeper|creature of habit"
    r"|homebody|bookworm|perfectionist|worrier|(?:picky|fussy) eater|introvert|extrovert|control freak"
    r"|people pleaser|procrastinator"
    r"|slow reader|fast reader|lefty|stickler for \w+|list maker|tea drinker|coffee drinker|foodie"
    r"|minimalist|smoker|non-?smoker"
    r"|runner|climber|swimmer|cyclist|gamer|vegan|vegetarian|atheist|feminist|pacifist|hoarder|twin"
    r"|only child|widow|widower|orphan"
    r"|immigrant|refugee|citizen of \w+|blood donor|early adopter|union rep|school governor|cat lady"
    r"|member of [\w' ]+))\b",
    re.I,
)
_PARENT: Final = re.compile(
    r"(?:an? )?(?:(?:proud|single|foster|stay-at-home|new) )*(?:mum|mom|dad|mother|father|parent"
    r"|granny|grandmother|grandfather) (?:of|to) (?P<v>.+)",
    re.I,
)
_AMONG: Final = re.compile(
    r"(?P<v>the (?:youngest|oldest|eldest|middle|second|third|only) (?:child |one |girl |boy )?of .+)"
    r"|(?P<u>an only child)",
    re.I,
)


def is_something(one: Clause) -> Iterator[tuple[str, Found]]:
    """Read "I am": age, name, home, work, health, creed, kin, what one is good at or into."""
    said, no = one.rest, one.no
    age = _AGE.match(said)
    if age and re.match(r"(?:now |only )?\d{1,2}(?: years? old| now| and\b|\s*$| in \w+)", said, re.I):
        yield "am-age", Found("age", age.group(1) or age.group(2), not no)
        return
    kept = re.match(r"(?:done|finished|through) with (?P<v>.+)", said)
    if kept and (value := core(kept["v"])):
        yield "am-done-with", Found("habit", value, no, own=value)
        return
    for frame, pattern, slot in (
        ("am-afraid", _AFRAID, "fears"), ("am-health", _AILING, "health"), ("am-kind", _KINDS, "trait"),
        ("am-among", _AMONG, "relationship"), ("am-parent", _PARENT, "children"),
        ("am-into", _KEEN, "likes"), ("am-bent", _BENT, "trait"),
    ):  # fmt: skip
        found = pattern.match(said)
        if found:
            yield from _bent(frame, slot, found, no)
            return
    yield from _is_from(one)


def _bent(frame: str, slot: str, found: re.Match[str], no: bool) -> Iterator[tuple[str, Found]]:
    groups = found.groupdict()
    said = groups.get("v") or groups.get("u") or found.group()
    if frame == "am-bent":
        value = core(found.group())
        if value and not POINTS.match(groups["v"]):
            yield frame, Found(slot, value, not no)
    elif frame == "am-parent":
        yield frame, Found(slot, core(found.group()), not no)
    elif frame == "am-into":
        for value in things_of(said, ""):
            yield frame, Found("likes" if not no and not groups.get("no") else "dislikes", value)
    elif value := core(re.sub(r"\bmy\b", "the", said)):
        yield frame, Found(slot, value, not no)


_WHERE: Final = re.compile(
    r"(?P<how>from|originally from|based in|based out of|living in|born in|born and raised in"
    r"|raised in) (?P<v>.+)",
    re.I,
)


def _is_from(one: Clause) -> Iterator[tuple[str, Found]]:
    said, no = one.rest, one.no
    where = _WHERE.match(said)
    if where:
        value = place(where["v"])
        if value:
            slot = "lives_in" if re.search("based|living", where["how"], re.I) else "from"
            yield f"am-{slot}", Found(slot, value, not no)
        return
    if re.match(r"allergic to ", said, re.I):
        for value in things_of(said[12:], one.more):
            known = {head(value), singular(head(value))} & (things.ALLERGENS | things.FOODS | people.PETS)
            if not known and head(value) in things.SHORT_LIVED:
                continue
            yield f"am-allergic-{'known' if known else 'new'}", Found("allergic", value, not no)
        return
    diet = re.match(
        r"(?:(?:a|mostly|strictly|strict|almost) )*(vegan|vegetarian|pescatarian|pescetarian|teetotal"
        r"|veggie|gluten[- ]free|dairy[- ]free|halal|kosher|on (?:a|the) [\w-]+ diet)\b",
        said,
        re.I,
    )
    if diet:
        yield "am-diet", Found("diet", diet.group(1), not no)
        return
    status = re.match(
        r"(?:(?:happily|newly|recently|still|now) )*(married|divorced|widowed|engaged|single|separated)\b",
        said,
        re.I,
    )
    if status and not re.match(r"engaged (?:in|with)", said):
        yield "am-marital", Found("marital", status.group(1).lower(), not no)
        return
    work = re.match(
        r"(?:retired|self-employed|unemployed|between jobs|semi-retired|on (?:maternity|paternity|sick"
        r"|parental) leave)\b",
        said,
        re.I,
    )
    if work:
        yield "am-retired", Found("job", core(work.group()), not no)
        return
    yield from _is_noun(one)


def _is_noun(one: Clause) -> Iterator[tuple[str, Found]]:
    said, no = one.rest, one.no
    for part in re.split(r"\s+and (?=an?\b)", said):
        job = work_of(part)
        if job:
            yield "am-job", Found("job", job, not no)
            at = re.search(
                r"\s(?:at|with|for(?= [A-Z]| an? )) (?P<v>(?:(?:the|a|an) )?[\w'&. -]+)$", core(part)
            )
            if at and not no and not re.match(r"(?:retired|former|ex)", job) and len(at["v"].split()) <= 6:
                yield "am-job-at", Found("employer", bare(at["v"]), True)
    creed = re.match(
        r"(?:an? )?(?:(?:practising|practicing|lapsed|devout|proud|half|strict"
        r"|bit) )*(?P<v>[a-z]+)\b(?P<rest>.*)",
        said,
        re.I,
    )
    if creed and (creed["v"].casefold() in people.FAITHS or creed["v"].casefold() == "religious"):
        yield "am-creed", Found("belief", core(said.split(",")[0], 4) or creed["v"], not no)
    elif creed and creed["v"].casefold() in people.PEOPLES and not creed["rest"].strip():
        yield "am-people", Found("nationality", creed["v"], not no)
    trait = re.match(
        r"(?:(?:very|really|quite|pretty|so|a bit|too|super|extremely) )*(?P<v>[a-z-]+)$", core(said), re.I
    )
    if trait and trait["v"].casefold() in people.TRAITS:
        yield "am-trait", Found("trait", trait["v"], not no)
    year = re.match(
        r"(?:in|doing|starting) (?P<v>(?:my|the|year|an?) ?(?:\w+ )?(?:year|semester|term|phd"
        r"|master'?s|degree|apprenticeship|a-levels)?\b.*)",
        said,
        re.I,
    )
    if year and re.search(r"\b(?:year|semester|phd|master|degree|apprentice|levels|grade)\b", said, re.I):
        yield "am-year", Found("studies", core(said), not no)
    at = re.match(r"at (?P<v>[A-ZÀ-Þ][\w'&. -]*?)(?: now| these days| for \w+ \w+|$)", said)
    if at and (one.adverbs & {"now"} or re.search(r"\bnow\b", said)):
        yield "am-at", Found("employer", core(at["v"]), not no)
    on = re.match(rf"on (?P<v>(?:[\w.]+ ?(?:mg|mcg|micrograms) of )?{doings.MEDICINES}\b)", said, re.I)
    if on:
        yield "am-on", Found("health", core(on["v"]), not no)


def been(one: Clause) -> Iterator[tuple[str, Found]]:
    """Read "have been" and "was": states that last, and those that are over."""
    said = one.rest
    if one.aux == "was" or one.form == "past" or one.aux == "used":
        job = work_of(said) if re.match(r"(?:an?|the) ", said) else ""
        at = re.match(r"(?:at|with) (?P<v>(?:the )?[A-ZÀ-Þ].*?) (?:until|till|for|before|from)\b", said)
        if at:
            yield "was-at", Found("employer", at["v"], False)
        elif job or re.match(
            r"(?:born|raised|diagnosed|married|divorced|brought up|adopted|promoted|elected"
            r"|in the (?:army|navy|marines|choir))\b",
            said,
        ):
            yield "was", Found("did", core(said, 12) or job, not one.no)
        return
    if said.startswith("to "):
        yield from _been_to(one)
        return
    at = re.match(
        r"(?:at|with) (?P<v>(?:the )?[A-ZÀ-Þ].*?)(?= (?:since|for|as|now|almost|over|nearly)\b|$)", said
    )
    if at:
        yield "been-at", Found("employer", at["v"], not one.no)
        return
    ing = re.match(r"(?P<v>\w+ing)\b(?P<rest>.*)", said)
    if ing and verbs.doing_of(ing["v"].casefold()):
        if AGAIN.search(ing["rest"]) and (value := core(said, 10)):
            yield "been-doing", Found("habit", value, not one.no, own=f"has been {value}")
        return
    if re.match(
        r"(?:sober|clean|smoke-free|meat-free|self-employed|single|together)\b", said
    ) and AGAIN.search(said):
        yield "been-since", Found("habit", core(said), not one.no, own=f"has been {core(said)}")
        return
    yield from ((f"been-{frame}", found) for frame, found in is_something(one))


def _been_to(one: Clause) -> Iterator[tuple[str, Found]]:
    """Read "been to Kenya"; "haven't been yet" says little."""
    ever = bool(one.adverbs & {"never", "ever"})
    value = core(one.rest.removeprefix("to "))
    if value and (ever or not one.no):
        yield f"been-to{'-never' if ever else ''}", Found("did", f"been to {value}", not ever)
