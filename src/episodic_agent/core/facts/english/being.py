"""What an English speaker says they are, have been or were: "I am", "I've been", "I was"."""

import re
from collections.abc import Iterator
from typing import Final

from episodic_agent.core.facts.english.clauses import EnglishClause
from episodic_agent.core.facts.english.values import AGAIN, POINTS, core, things_of
from episodic_agent.core.facts.grammar import SlotMatch, bare, head, place, singular
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


def is_something(clause: EnglishClause) -> Iterator[tuple[str, SlotMatch]]:
    """Read "I am": age, name, home, work, health, creed, kin, what one is good at or into."""
    text, no = clause.rest, clause.no
    age = _AGE.match(text)
    if age and re.match(r"(?:now |only )?\d{1,2}(?: years? old| now| and\b|\s*$| in \w+)", text, re.I):
        yield "am-age", SlotMatch("age", age.group(1) or age.group(2), not no)
        return
    stored_match = re.match(r"(?:done|finished|through) with (?P<v>.+)", text)
    if stored_match and (value := core(stored_match["v"])):
        yield "am-done-with", SlotMatch("habit", value, no, own=value)
        return
    for frame, pattern, slot in (
        ("am-afraid", _AFRAID, "fears"), ("am-health", _AILING, "health"), ("am-kind", _KINDS, "trait"),
        ("am-among", _AMONG, "relationship"), ("am-parent", _PARENT, "children"),
        ("am-into", _KEEN, "likes"), ("am-bent", _BENT, "trait"),
    ):  # fmt: skip
        match = pattern.match(text)
        if match:
            yield from _bent(frame, slot, match, no)
            return
    yield from _is_from(clause)


def _bent(frame: str, slot: str, match: re.Match[str], no: bool) -> Iterator[tuple[str, SlotMatch]]:
    groups = match.groupdict()
    statement = groups.get("v") or groups.get("u") or match.group()
    if frame == "am-bent":
        value = core(match.group())
        if value and not POINTS.match(groups["v"]):
            yield frame, SlotMatch(slot, value, not no)
    elif frame == "am-parent":
        yield frame, SlotMatch(slot, core(match.group()), not no)
    elif frame == "am-into":
        for value in things_of(statement, ""):
            yield frame, SlotMatch("likes" if not no and not groups.get("no") else "dislikes", value)
    elif value := core(re.sub(r"\bmy\b", "the", statement)):
        yield frame, SlotMatch(slot, value, not no)


_WHERE: Final = re.compile(
    r"(?P<how>from|originally from|based in|based out of|living in|born in|born and raised in"
    r"|raised in) (?P<v>.+)",
    re.I,
)


def _is_from(clause: EnglishClause) -> Iterator[tuple[str, SlotMatch]]:
    text, no = clause.rest, clause.no
    where = _WHERE.match(text)
    if where:
        value = place(where["v"])
        if value:
            slot = "lives_in" if re.search("based|living", where["how"], re.I) else "from"
            yield f"am-{slot}", SlotMatch(slot, value, not no)
        return
    if re.match(r"allergic to ", text, re.I):
        for value in things_of(text[12:], clause.more):
            known = {head(value), singular(head(value))} & (things.ALLERGENS | things.FOODS | people.PETS)
            if not known and head(value) in things.SHORT_LIVED:
                continue
            yield f"am-allergic-{'known' if known else 'new'}", SlotMatch("allergic", value, not no)
        return
    diet = re.match(
        r"(?:(?:a|mostly|strictly|strict|almost) )*(vegan|vegetarian|pescatarian|pescetarian|teetotal"
        r"|veggie|gluten[- ]free|dairy[- ]free|halal|kosher|on (?:a|the) [\w-]+ diet)\b",
        text,
        re.I,
    )
    if diet:
        yield "am-diet", SlotMatch("diet", diet.group(1), not no)
        return
    status = re.match(
        r"(?:(?:happily|newly|recently|still|now) )*(married|divorced|widowed|engaged|single|separated)\b",
        text,
        re.I,
    )
    if status and not re.match(r"engaged (?:in|with)", text):
        yield "am-marital", SlotMatch("marital", status.group(1).lower(), not no)
        return
    work = re.match(
        r"(?:retired|self-employed|unemployed|between jobs|semi-retired|on (?:maternity|paternity|sick"
        r"|parental) leave)\b",
        text,
        re.I,
    )
    if work:
        yield "am-retired", SlotMatch("job", core(work.group()), not no)
        return
    yield from _is_noun(clause)


def _is_noun(clause: EnglishClause) -> Iterator[tuple[str, SlotMatch]]:
    text, no = clause.rest, clause.no
    for part in re.split(r"\s+and (?=an?\b)", text):
        job = work_of(part)
        if job:
            yield "am-job", SlotMatch("job", job, not no)
            at = re.search(
                r"\s(?:at|with|for(?= [A-Z]| an? )) (?P<v>(?:(?:the|a|an) )?[\w'&. -]+)$", core(part)
            )
            if at and not no and not re.match(r"(?:retired|former|ex)", job) and len(at["v"].split()) <= 6:
                yield "am-job-at", SlotMatch("employer", bare(at["v"]), True)
    creed = re.match(
        r"(?:an? )?(?:(?:practising|practicing|lapsed|devout|proud|half|strict"
        r"|bit) )*(?P<v>[a-z]+)\b(?P<rest>.*)",
        text,
        re.I,
    )
    if creed and (creed["v"].casefold() in people.FAITHS or creed["v"].casefold() == "religious"):
        yield "am-creed", SlotMatch("belief", core(text.split(",")[0], 4) or creed["v"], not no)
    elif creed and creed["v"].casefold() in people.PEOPLES and not creed["rest"].strip():
        yield "am-people", SlotMatch("nationality", creed["v"], not no)
    trait = re.match(
        r"(?:(?:very|really|quite|pretty|so|a bit|too|super|extremely) )*(?P<v>[a-z-]+)$", core(text), re.I
    )
    if trait and trait["v"].casefold() in people.TRAITS:
        yield "am-trait", SlotMatch("trait", trait["v"], not no)
    year = re.match(
        r"(?:in|doing|starting) (?P<v>(?:my|the|year|an?) ?(?:\w+ )?(?:year|semester|term|phd"
        r"|master'?s|degree|apprenticeship|a-levels)?\b.*)",
        text,
        re.I,
    )
    if year and re.search(r"\b(?:year|semester|phd|master|degree|apprentice|levels|grade)\b", text, re.I):
        yield "am-year", SlotMatch("studies", core(text), not no)
    at = re.match(r"at (?P<v>[A-ZÀ-Þ][\w'&. -]*?)(?: now| these days| for \w+ \w+|$)", text)
    if at and (clause.adverbs & {"now"} or re.search(r"\bnow\b", text)):
        yield "am-at", SlotMatch("employer", core(at["v"]), not no)
    on = re.match(rf"on (?P<v>(?:[\w.]+ ?(?:mg|mcg|micrograms) of )?{doings.MEDICINES}\b)", text, re.I)
    if on and doings.is_medicine(on["v"]):
        yield "am-on", SlotMatch("health", core(on["v"]), not no)


def been(clause: EnglishClause) -> Iterator[tuple[str, SlotMatch]]:
    """Read "have been" and "was": states that last, and those that are over."""
    text = clause.rest
    if clause.aux == "was" or clause.form == "past" or clause.aux == "used":
        job = work_of(text) if re.match(r"(?:an?|the) ", text) else ""
        at = re.match(r"(?:at|with) (?P<v>(?:the )?[A-ZÀ-Þ].*?) (?:until|till|for|before|from)\b", text)
        if at:
            yield "was-at", SlotMatch("employer", at["v"], False)
        elif job or re.match(
            r"(?:born|raised|diagnosed|married|divorced|brought up|adopted|promoted|elected"
            r"|in the (?:army|navy|marines|choir))\b",
            text,
        ):
            yield "was", SlotMatch("did", core(text, 12) or job, not clause.no)
        return
    if text.startswith("to "):
        yield from _been_to(clause)
        return
    at = re.match(
        r"(?:at|with) (?P<v>(?:the )?[A-ZÀ-Þ].*?)(?= (?:since|for|as|now|almost|over|nearly)\b|$)", text
    )
    if at:
        yield "been-at", SlotMatch("employer", at["v"], not clause.no)
        return
    ing = re.match(r"(?P<v>\w+ing)\b(?P<rest>.*)", text)
    if ing and verbs.doing_of(ing["v"].casefold()):
        if AGAIN.search(ing["rest"]) and (value := core(text, 10)):
            yield "been-doing", SlotMatch("habit", value, not clause.no, own=f"has been {value}")
        return
    if re.match(
        r"(?:sober|clean|smoke-free|meat-free|self-employed|single|together)\b", text
    ) and AGAIN.search(text):
        yield "been-since", SlotMatch("habit", core(text), not clause.no, own=f"has been {core(text)}")
        return
    yield from ((f"been-{frame}", found) for frame, found in is_something(clause))


def _been_to(clause: EnglishClause) -> Iterator[tuple[str, SlotMatch]]:
    """Read "been to Kenya"; "haven't been yet" says little."""
    ever = bool(clause.adverbs & {"never", "ever"})
    value = core(clause.rest.removeprefix("to "))
    if value and (ever or not clause.no):
        yield f"been-to{'-never' if ever else ''}", SlotMatch("did", f"been to {value}", not ever)
