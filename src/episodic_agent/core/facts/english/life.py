"""English rules for who and where somebody is: name, age, home, origin, work, studies, health, belongings."""

import re
from collections.abc import Iterator
from typing import Final

from episodic_agent.core.facts.grammar import (
    Rule,
    SlotMatch,
    bare,
    head,
    listed,
    name,
    open_rule,
    phrase,
    place,
    rule,
    singular,
    take,
)
from episodic_agent.core.facts.words import people, things
from episodic_agent.core.language.mentions.lists import word_set

_NO: Final = r"(?P<no> not| never)?"
_END: Final = r"(?=\s*(?:$|[,;.!—–(]|and\b|but\b|so\b|now\b|today\b|years old\b|years of age\b))"
_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DATE: Final = (
    rf"(?:the )?(?:\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}|{_MONTH} (?:the )?\d{{1,2}}(?:st|nd"
    rf"|rd|th)?|\d{{1,2}}[./]\d{{1,2}})(?:,? (?:19|20)\d\d)?"
)
_FIRM: Final = r"(?P<v>(?:the )?[A-ZÀ-Þ][^,;:.!?()—–]*)"


# --- names and dates -------------------------------------------------------------------------------------


def _called(match: re.Match[str]) -> Iterator[SlotMatch]:
    value = name(match.group("v"))
    if value:
        yield SlotMatch("name", value, not match.group("no"))


def _introduced(match: re.Match[str]) -> Iterator[SlotMatch]:
    """Read "I'm Priya, 34": one or two words, and then an end."""
    value = name(match.group("v"))
    rest = match.group("v")[len(value) :].strip() if value else "?"
    words = value.casefold().split()
    if value and not rest and len(words) <= 3 and not set(words) & (people.PEOPLES | people.FAITHS):
        yield SlotMatch("name", value, True, own="introduced")
        age = re.match(r",\s*(\d{1,2})\b(?=\s*(?:[,.;!]|$|and\b|years))", match.string[match.end() :])
        if age:
            yield SlotMatch("age", age.group(1))


def _age(match: re.Match[str]) -> Iterator[SlotMatch]:
    if 4 < int(match.group("v")) < 111:
        yield SlotMatch("age", match.group("v"), not match.groupdict().get("no"))


def _organisation(text: str) -> str:
    """Return the organisation a text begins with: capitals, without the time and the task after it."""
    cut = re.split(
        r"\s+(?:as|since|on|in (?=(?:19|20)\d\d)|this|last|for|from|until|right|straight|now|and|but"
        r"|with|because|while|after|before|doing|where|at the|when|again|next|these|full-?time"
        r"|part-?time|over|to be|so|too)\b",
        text.strip(),
        maxsplit=1,
    )[0].strip(" .!'\"")
    first = cut.removeprefix("the ").removeprefix("The ")[:1]
    return cut if first.isupper() and len(cut.split()) <= 7 and name(first + "x") else ""


def _work_place(text: str) -> str:
    """Return a named employer, or a kind of one ("a bakery", "theatre companies in Bristol")."""
    named = _organisation(text)
    value = phrase(re.split(r"\s+(?:as|since|for|from|on|until|during|after|before)\b", text, maxsplit=1)[0])
    kinds = (
        r"(?:company|companies|firm|firms|bank|school|schools|hospital|hospitals|university|bakery"
        r"|clinic|clinics|restaurant|hotel|start-?up|start-?ups|agency|studio|studios|library|museum"
        r"|theatre|shop|store|office|council|charity|charities|ngo|lab|laboratory|factory|kindergarten"
        r"|nursery|publisher|publishing house|ministry|station|brewery|garage|pharmacy|post office"
        r"|supermarket|practice|zoo|call centre|call center|warehouse|newspaper|magazine|radio station"
        r"|farm|navy|army|police|fire brigade|fire service|ambulance service)"
    )
    return named or (value if re.search(rf"\b{kinds}\b", value, re.IGNORECASE) else "")


# --- work ------------------------------------------------------------------------------------------------


def occupation(text: str) -> str:
    """Return the work a noun phrase names, "" where it names none.

    >>> occupation("a firmware engineer at Halden"), occupation("a wreck"), occupation("the head of data")
    ('firmware engineer', '', 'head of data')
    """
    if re.search(r"\bfor (?:today|tonight|now|the day)\b", text):
        return ""
    value = bare(
        re.split(
            r"\s+(?:(?:at|with|for|by|on|who|from|since|near|these)\b|in (?=[A-ZÀ-Þ]))", text, maxsplit=1
        )[0]
    )
    words = value.casefold().split()
    if not words or len(words) > 6 or words[0] in ("best", "worst", "greatest"):
        return ""
    known = head(value) in people.WORK or singular(head(value)) in people.WORK
    leads = words[0] in people.TITLES and (len(words) == 1 or words[1] in ("of", "at"))
    last = bool(set(words) & people.WORK) and " in " in value  # "a nurse in training"
    return value if known or leads or words[-1] in people.TITLES or last else ""


def _job(match: re.Match[str]) -> Iterator[SlotMatch]:
    no = bool(match.groupdict().get("no"))
    for part in re.split(r"\s+and (?=an?\b)", match.group("v")):
        value = occupation(part)
        if not value:
            return
        retired = value.casefold().startswith(("retired ", "former ", "ex-"))
        yield SlotMatch("job", value, not no)
        at = re.search(r"\s(?:at|for|with) ((?:the )?[A-ZÀ-Þ].*)$", part)
        if at and not retired and not no and (firm := _organisation(at.group(1))):
            yield SlotMatch("employer", firm)


def _runs(match: re.Match[str]) -> Iterator[SlotMatch]:
    """Read "I run the data team at Halden Freight": work in the speaker's words, and for whom."""
    if re.search(r"\b(?:today|tonight)\b", match.group("v")):
        return
    what = phrase(re.split(r"\s+(?:at|with|together|since|from|called)\s", match.group("v"), maxsplit=1)[0])
    nouns = (
        r"(?:team|department|company|business|shop|store|firm|school|studio|practice|farm|bakery|café"
        r"|cafe|restaurant|hotel|agency|joinery|workshop|clinic|bar|pub|gallery|bookshop|garage"
        r"|brewery|salon|nursery|lab|group|unit|office|kitchen|project|programme|program|start-?up"
        r"|charity|stall|newsletter|podcast|guest ?house|b&b|vineyard|kiosk|bookstore|magazine|press"
        r"|laundry|florist's|division|branch)"
    )
    if not what or not re.search(rf"\b{nouns}\b", what, re.IGNORECASE):
        return
    verb = {"am leading": "leads", "am running": "runs", "am managing": "manages"}.get(
        match.group("verb").lower()
    )
    verb = verb or f"{match.group('verb').lower()}s"
    yield SlotMatch("job", f"{verb} {what.removeprefix('my own ')}")
    at = re.search(r"\sat ((?:the )?[A-ZÀ-Þ].*)$", match.group("v"))
    if at and (firm := _organisation(at.group(1))):
        yield SlotMatch("employer", firm)


def _teaches(match: re.Match[str]) -> Iterator[SlotMatch]:
    value = phrase(re.split(r"\s(?:at|near|in (?=an? |the |[A-Z]))", match.group("v"), maxsplit=1)[0])
    if value and not re.match(r"(?:myself|my|him|her|them)\b", value):
        yield SlotMatch("job", f"teaches {value}")


def _firm(match: re.Match[str]) -> Iterator[SlotMatch]:
    value = _work_place(match.group("v"))
    # who works with somebody by name names a colleague
    named = re.match(r"I (?:worked|work|am working|have worked)\b[^,]*? with (?=[A-Z])", match.string)
    if (
        not value
        or named
        or re.match(
            r"(?:my|our|his|her|people|kids|the (?:same|store|company|office|shop|place|restaurant"
            r"|school))\b",
            value,
        )
    ):
        return
    parts = match.groupdict()
    ended = (
        bool(parts.get("no"))
        or bool(re.search(r"\b(?:until|till)\b", match.string))
        or parts.get("past") is not None
    )
    yield SlotMatch("employer", value, not ended)
    role = re.search(r"\bas (an? [^,;.!?]+)$", match.group("v"))
    if role and not ended and (work := occupation(role.group(1))):
        yield SlotMatch("job", work)


# --- health, things, character ---------------------------------------------------------------------------


_NO_CONDITION: Final = word_set(
    "heard seen read had no never any always problem question to been a-lot enough met known"
)


def _condition(match: re.Match[str]) -> Iterator[SlotMatch]:
    for value in listed(re.split(r"\s+(?:since|diagnosed|for|from)\b|,", match.group("v"), maxsplit=1)[0]):
        key = value.casefold().split()
        if len(key) > 4 or key[0] in _NO_CONDITION:
            continue
        known = key[-1] in things.HEALTH or bool(re.match(r"type (?:1|2|one|two) diabetes", " ".join(key)))
        stated = "-".join(key[-2:]) in things.HEALTH | things.HEALTHY or key[-1] in things.HEALTHY
        if known or stated or " ".join(key).endswith(("syndrome", "disorder", "disease", "intolerance")):
            yield SlotMatch("health", value, not match.groupdict().get("no"))


def _adjective(match: re.Match[str]) -> Iterator[SlotMatch]:
    """Read "I'm colour-blind, red-green", "I'm Portuguese", "I'm left-handed", "I'm vegan and married"."""
    holds = not match.group("no")
    statement = re.split(
        r"[,;.!?()—–]|\s(?:for|since|with|so|because|but|from|by|in|on|at|now|myself|about)\b",
        match.group("v"),
        maxsplit=1,
    )[0]
    for part in listed(statement)[:3]:
        low = part.casefold()
        last = low.split()[-1]
        if low in things.DIETS or (last in things.DIETS and len(low.split()) <= 2):
            yield SlotMatch("diet", part, holds)
        elif (
            low in things.HEALTHY
            or low.replace(" ", "-") in things.HEALTHY
            or (last in things.HEALTHY and len(low.split()) <= 3)
        ):
            yield SlotMatch("health", part, holds)
        elif (last in people.PEOPLES and part[:1].isupper()) or re.fullmatch(r"half[- ][A-Z]\w+", part):
            yield SlotMatch("nationality", part, holds)
        elif last in people.FAITHS and part[:1].isupper():
            yield SlotMatch("status", part, holds)
        elif low in people.TRAITS or low.replace(" ", "-") in people.TRAITS:
            yield SlotMatch("trait", part, holds)
        elif low in ("retired", "unemployed", "self-employed", "freelance", "semi-retired"):
            yield SlotMatch("job", part, holds)
        elif low in ("married", "single", "divorced", "widowed", "engaged"):
            yield SlotMatch("marital", part, holds)
        else:
            return


def _allergic(match: re.Match[str]) -> Iterator[SlotMatch]:
    for value in listed(
        re.split(r"[;.!?()—–]|,? (?:please|so|and (?:i|please|my|it|the))\b", match.group("v"), flags=re.I)[0]
    ):
        if value.casefold().split()[-1] in things.ALLERGENS or head(value) in things.ALLERGENS:
            yield SlotMatch("allergic", value, not match.group("no"))


def _food(match: re.Match[str]) -> Iterator[SlotMatch]:
    for value in listed(
        re.split(
            r"[;.!?()—–,]|\s(?:after|before|on|since|for|at|because|so|anymore|any more|but)\b",
            match.group("v"),
        )[0]
    )[:4]:
        if value.casefold().split()[-1] in things.FOODS:
            ended = re.search(r"\b(?:any ?more|no longer)\b", match.string)
            yield SlotMatch("diet", value, False) if ended else SlotMatch("diet", f"no {value}")


def _abstains(match: re.Match[str]) -> Iterator[SlotMatch]:
    slot, what = ("diet", "alcohol") if match["v"] == "drink" else ("habit", "smoking")
    if re.search(r"\b(?:any ?more|no longer)\b", match.string):
        yield SlotMatch(slot, what, False, own=f"no longer {match['v']}s")
    else:
        yield SlotMatch(slot, f"no {what}", own=f"does not {match['v']}")


def _gave_up(match: re.Match[str]) -> Iterator[SlotMatch]:
    value = bare(
        re.split(r"\s(?:on|in|last|when|after|for|two|three|\d|years|ages)\b", match.group("v"), maxsplit=1)[
            0
        ]
    )
    if value and value.casefold().split()[-1] in things.FOODS | {"smoking", "drinking", "cigarettes"}:
        yield SlotMatch("habit", value, False, own=f"gave up {value}")


def _owned(match: re.Match[str]) -> Iterator[SlotMatch]:
    statement = re.split(
        r"[,;.!?()—–]|\s(?:and (?:i|it|we|my)|which|that|so|since|from|parked|running|in the|called|to"
        r"|and|for sale)\b",
        match.group("v"),
        maxsplit=1,
        flags=re.I,
    )[0]
    value = bare(statement)
    if re.search(r"\bwith (?:me|us)\b|\b(?:today|tonight|right now|at hand)\b", match.group("v")):
        return
    words = value.casefold().split()
    known = bool(words) and (head(value) in things.BELONGINGS or singular(head(value)) in things.BELONGINGS)
    made = (
        bool(words)
        and bool(re.search(r"\b(?:19|20)\d\d\b", value))
        and match.group("verb").lower() in ("drive", "own", "ride")
    )
    named = match.group("verb").lower() in ("drive", "own", "ride", "drives") and value[:1].isupper()
    tattoo = bool(words) and words[0] in ("tattoo", "piercing")
    if (
        value
        and len(words) <= 8
        and (known or made or named or tattoo)
        and not re.search(
            r"\b(?:rented|rental|borrowed|hire|problem|appointment|question|in mind|idea|look)\b", value
        )
    ):
        yield SlotMatch("owns", value, not match.groupdict().get("no"))


def _is_mine(match: re.Match[str]) -> Iterator[SlotMatch]:
    value = phrase(match.group("v"))
    if (
        value
        and re.match(r"(?:an? |the )?(?:\w+ )?[A-Z0-9]", value)
        and match.group("what").casefold().split()[-1] in things.BELONGINGS | {"machine"}
    ):
        yield SlotMatch(
            "owns", f"{match.group('what')} {bare(value)}" if len(bare(value)) < 4 else bare(value)
        )


def _moved(match: re.Match[str]) -> Iterator[SlotMatch]:
    to = place(match.group("v"))
    if to and not match.groupdict().get("no"):
        yield SlotMatch("lives_in", to)
        after = re.search(r"\sfrom (.+)", match.group("v"))
        origin = match.groupdict().get("origin") or (after.group(1) if after else "")
        if origin and (old := place(origin)):
            yield SlotMatch("from", old)


def _grew_up(match: re.Match[str]) -> Iterator[SlotMatch]:
    value = place(match.group("v"))
    if value:
        yield SlotMatch("from", value)


def _studies(match: re.Match[str]) -> Iterator[SlotMatch]:
    value = phrase(
        re.split(
            r"\s(?:tonight|today|this (?:week|morning)|for (?:the|my|an?|tomorrow)|all day|right now|with"
            r"|every|at night|late)\b",
            match.group("v"),
            maxsplit=1,
        )[0]
    )
    if re.match(
        r"(?:all|hard|a lot|different|various|the|my|how|what|this|that|some|late|together|it|more"
        r"|too|prep|notes|in (?:the|my|a|our) (?=[a-z])(?!field|area))\b",
        value,
    ):
        return
    value = value.removeprefix("at ")
    if (
        value
        and not re.search(r"\b(?:for|tonight|today|tomorrow)\b", match.group("v"))
        and len(value.split()) <= 9
    ):
        yield SlotMatch("studies", value, not match.groupdict().get("no"))


def _languages(match: re.Match[str]) -> Iterator[SlotMatch]:
    for value in listed(
        re.split(
            r"[;.!?()—–]|\s(?:at home|with|because|but|fluently|natively)\b", match.group("v"), maxsplit=1
        )[0]
    ):
        if value.split()[-1][:1].isupper():
            yield SlotMatch("speaks", value, not match.groupdict().get("no"))


def _got_and_firm(match: re.Match[str]) -> Iterator[SlotMatch]:
    value = occupation(re.split(r"\s(?:with|at|for)\s", match.group("v"), maxsplit=1)[0])
    if value:
        yield SlotMatch("job", value)
        at = re.search(r"\s(?:with|at|for) (.+)$", match.group("v"))
        if at and (firm := _work_place(at.group(1))):
            yield SlotMatch("employer", firm)


def _left(match: re.Match[str]) -> Iterator[SlotMatch]:
    value = _organisation(match.group("v"))
    if value:
        yield SlotMatch("employer", value, False, ends=match.group(0).lower().startswith("i left"))


def _finished(match: re.Match[str]) -> Iterator[SlotMatch]:
    value = re.sub(r"^(?:my|the|an?) ", "", phrase(match.group("v")))
    if value:
        yield SlotMatch("studies", value, False)


_W: Final = r"(?:I|we) "
LIFE: Final[tuple[Rule, ...]] = (
    rule(
        r"(?:my (?:full |first |real )?name is|I am called|I am named|they call me|everyone calls me"
        r"|everybody calls me)(?P<no> not)? (?P<v>[^,;:.!?]+)",
        _called,
    ),
    rule(
        r"(?:you can |please )?call me (?P<v>[A-Z][\w'-]+)\b(?! (?:at|on|when|if|back|later|a|an|by"
        r"|tomorrow|tonight|in))",
        take("also_called", name),
    ),
    open_rule(
        r"(?:I|we) (?:write|publish|perform|record|play|post|go|DJ)\b.*?\b(?:under the (?:pen "
        r"|stage )?name|under the pseudonym|by the name(?: of)?"
        r"|as) (?P<v>[A-Z][\w.]*(?: [A-Z][\w.]*){0,2})",
        take("also_called", name),
    ),
    open_rule(
        r"I am (?P<v>[A-ZÀ-Þ][\w'’-]*(?: [A-ZÀ-Þ][\w'’-]*){0,2})(?=\s*(?:$|[,.;!]|and I\b|from\b"
        r"|by the way|, ))",
        _introduced,
    ),
    rule(r"my pronouns are(?P<no> not)? (?P<v>[\w/]+)", take("pronouns")),
    rule(r"I (?:use|go by) (?P<v>(?:she|he|they|ze)/\w+)", take("pronouns")),
    open_rule(rf"I am(?P<no> not)? (?P<v>\d{{1,3}}){_END}(?!\s*,?\s*(?:minutes|%|percent))", _age),
    open_rule(r"I (?:have )?turned (?P<v>\d{1,3})\b(?! (?:degrees|pages))", _age),
    open_rule(
        rf"(?:my birthday is|my birthday falls|I was born)(?P<no> not)?(?: on)? (?P<v>{_DATE})",
        take("birthday", str.strip),
    ),
    # homes
    rule(rf"{_W}do (?P<no>not) live in (?P<v>.+)", take("lives_in", place)),
    rule(rf"{_W}(?P<no>no longer|never) lived? in (?P<v>.+)", take("lives_in", place)),
    rule(rf"{_W}used to live in (?P<v>.+)", take("lives_in", place, holds=False)),
    rule(rf"{_W}live (?:in|near|outside|on) (?P<v>.+)", take("lives_in", place)),
    open_rule(rf"{_W}live with .*? in (?P<v>[A-ZÀ-Þ].*)", take("lives_in", place)),
    rule(
        rf"{_W}(?:have lived|have been living|am living|are living|have been|reside"
        rf"|am residing) in (?P<v>.+?) (?:since|for \w+ (?:years|months|decades)|all my life"
        rf"|my whole life)",
        take("lives_in", place),
    ),
    rule(rf"{_W}(?:am|are) (?:based|settled|at home|living|resident) in (?P<v>.+)", take("lives_in", place)),
    open_rule(
        rf"{_W}(?:have )?(?:moved|relocated|emigrated|immigrated)(?: back| over| house| out| down"
        rf"| up)?(?: from (?P<origin>.+?))? to (?P<v>.+)",
        _moved,
    ),
    rule(r"my (?:home ?town|home) is (?P<v>[A-ZÀ-Þ].+)", take("from", place)),
    rule(rf"{_W}am not from (?P<v>.+)", take("from", place, holds=False)),
    rule(rf"{_W}(?:am(?: originally)?|come|are|came) from (?P<v>.+)", take("from", place)),
    open_rule(
        rf"{_W}(?:grew up|was born|was raised|were born|was brought up|was born and raised"
        rf"|come originally)(?: on a farm)? (?:in|near|outside|from) (?P<v>.+)",
        _grew_up,
    ),
    # work
    rule(
        r"I used to be (?P<v>an? .+)",
        lambda m: iter([SlotMatch("job", occupation(m["v"]), False)] if occupation(m["v"]) else []),
    ),
    open_rule(rf"I am{_NO} (?P<v>(?:an?|the) [^,;:.!?()—–]+)", _job),
    open_rule(
        rf"I am{_NO} (?P<v>(?:head|director|ceo|cto|cfo|coo|founder|co-founder|chair|captain) (?:of"
        rf"|at) [^,;:.!?()—–]+)",
        _job,
    ),
    open_rule(
        r"I (?:work|worked|am working|have been working|freelance)(?: \w+ly)? as (?P<v>an?"
        r" [^,;:.!?()—–]+)",
        _job,
    ),
    open_rule(
        r"I (?:work|am working)(?: \w+)? in (?P<v>(?:IT|HR|PR|sales|marketing|finance|construction"
        r"|healthcare|insurance|logistics|publishing|retail|advertising|education|hospitality|catering"
        r"|accounting|procurement|customer service|tech|radio|television|film)\b)",
        take("job", bare),
    ),
    rule(
        r"(?:my job is|my profession is|by trade I am|by profession I am"
        r"|by day I am)(?P<no> not)? (?P<v>an? [^,;:.!?()—–]+)",
        _job,
    ),
    open_rule(
        r"(?:I|we) (?P<verb>run|manage|lead|own|head|co-own|am leading|am running"
        r"|am managing) (?P<v>[^,;:.!?()—–]+)",
        _runs,
    ),
    open_rule(r"I (?P<verb>teach) (?P<v>[^,;:.!?()—–]+)", _teaches),
    open_rule(
        r"I (?P<verb>write) (?P<v>(?:[\w-]+ ){0,3}(?:fantasy|fiction|novels|thrillers|poetry|crime"
        r"|romance|software|code|plays|songs|music|screenplays|children's books|cookbooks|obituaries"
        r"|subtitles|manuals)\b)(?! (?:for (?:school|fun)|tonight|today))",
        lambda m: iter([SlotMatch("job", f"writes {m['v']}")]),
    ),
    open_rule(r"I (?:got|have got|have) (?:a|the) (?:new )?job as (?P<v>an? [^,;:.!?()—–]+)", _job),
    open_rule(r"I (?:got|landed) (?:the|a|that) (?:new )?job[!,:.;—– ]+(?P<v>[^,;:.!?()—–]+)", _got_and_firm),
    open_rule(r"I am starting (?:as|work as) (?P<v>an? [^,;:.!?()—–]+)", _job),
    open_rule(r"I (?:do|did) (?P<no>not) work (?:at|for|with) (?P<v>[^,;:.!?()—–]+)", _firm),
    open_rule(r"I (?P<no>no longer) work (?:at|for|with) (?P<v>[^,;:.!?()—–]+)", _firm),
    open_rule(r"I (?:used to work|worked) (?:at|for|with) (?P<past>)(?P<v>[^,;:.!?()—–]+)", _firm),
    open_rule(
        r"I (?:work|am working|have worked|have been working)(?: mostly| mainly| remotely| part-time"
        r"| full-time| freelance| as (?:an? )?[\w -]+?)? (?:at|for|with) (?P<v>[^,;:.!?()—–]+)",
        _firm,
    ),
    open_rule(r"I (?:work|am working)(?: mostly| mainly)? in (?P<v>an? [^,;:.!?()—–]+)", _firm),
    open_rule(rf"I have been (?:at|with) {_FIRM}(?= since| for)", _firm),
    open_rule(r"I have been (?:at|with) (?P<v>[A-ZÀ-Þ][^,;:.!?()—–]*? (?:since|for) [^,;:.!?]*)", _firm),
    open_rule(r"I am (?:employed (?:at|by)) (?P<v>[A-ZÀ-Þ][^,;:.!?()—–]*)", _firm),
    open_rule(r"I was (?:at|with) (?P<v>[A-ZÀ-Þ][^,;:.!?()—–]*? (?P<past>until|till) [^,;:.!?]*)", _firm),
    open_rule(
        r"I (?:have )?(?:started|joined)(?: (?:at|with|working (?:at|for)|work at|a new job at"
        r"|a job at))? (?P<v>[A-ZÀ-Þ][^,;:.!?()—–]*)",
        _firm,
    ),
    open_rule(r"I am (?:starting|joining)(?: at| with)? (?P<v>[A-ZÀ-Þ][^,;:.!?()—–]*)", _firm),
    open_rule(
        r"I (?:have )?(?:quit|left|resigned from|retired from|got fired from|was laid off from"
        r"|was laid off by)(?: my (?:job|post|position) at)?(?P<past>) (?P<v>[A-ZÀ-Þ][^,;:.!?()—–]*)",
        _left,
    ),
    # studies and languages
    open_rule(
        r"I am(?P<no> not)? (?:doing|writing|studying for|working on|finishing) (?P<v>(?:an?"
        r"|my) (?:phd|doctorate|master's|masters|master|mba|bachelor's|degree|apprenticeship|msc|bsc"
        r"|ma|diploma)\b[^,;:.!?()—–]*)",
        lambda m: iter(
            [SlotMatch("studies", re.sub(r"^(?:an?|my) ", "", phrase(m["v"])), not m["no"])]
            if phrase(m["v"])
            else []
        ),
    ),
    open_rule(
        r"I (?:am studying|study|read|major in|am majoring in|am reading"
        r"|have been studying)(?<!I read)(?<!am reading)(?P<no> not)? (?P<v>[^,;:.!?()—–]+)",
        _studies,
    ),
    open_rule(
        r"I (?:have )?(?P<past>dropped out of|dropped|quit|finished|completed) (?P<v>(?:my|the"
        r"|an?) (?:phd|doctorate|master's|masters|mba|degree|studies|course|bachelor's"
        r"|apprenticeship)\b[^,;:.!?()—–]*)",
        _finished,
    ),
    open_rule(r"I (?:do (?P<no>not) )?speak (?P<v>[^;:.!?()—–]+)", _languages),
    rule(r"my (?:native language|mother tongue|first language) is (?P<v>[A-Z]\w+)", take("speaks")),
    # health, food, things
    rule(
        rf"I am{_NO} (?:severely |very |badly |deathly |slightly |mildly )?allergic to (?P<v>.+)", _allergic
    ),
    rule(
        r"I have an? (?:(?:severe|bad|mild|serious) )?(?P<v>[\w -]+?) allergy",
        lambda m: iter(
            [SlotMatch("allergic", m["v"])]
            if m["v"].casefold().split()[-1] in things.ALLERGENS
            or singular(m["v"].casefold()) in things.ALLERGENS
            else []
        ),
    ),
    open_rule(
        r"I (?:have|suffer from|live with|was diagnosed with|have been diagnosed with"
        r"|got diagnosed with)(?: been diagnosed with)? (?P<v>(?:type (?:1|2|one|two) )?[^;:.!?()—–]+)",
        _condition,
    ),
    open_rule(
        r"(?P<v>[\w' -]+?),? (?:was |got )?diagnosed (?:at|in|with|when|last|two|three|\d)", _condition
    ),
    open_rule(r"I do (?P<no>not) have (?P<v>[^,;:.!?()—–]+)", _condition),
    open_rule(
        r"(?:I (?:got|received) )?(?:my|the|a) diagnosis(?: on \w+| last \w+| in \w+| today"
        r"| this \w+)?(?: is|:|,) (?P<v>[^;:.!?()—–]+)",
        _condition,
    ),
    open_rule(
        rf"I am{_NO} (?:(?:very|a bit|quite|strictly|mostly|legally|happily|pretty|also"
        rf"|partially) )?(?P<v>[^;:.!?()—–]+)",
        _adjective,
    ),
    open_rule(
        r"I (?:have been|went|became|turned) (?P<no>(?!))?(?P<v>(?:vegan|vegetarian|pescatarian"
        r"|teetotal|retired|self-employed|freelance)\b[^,;.!?]*)",
        _adjective,
    ),
    open_rule(r"I keep (?P<v>kosher|halal)\b", lambda m: iter([SlotMatch("diet", f"keeps {m['v']}")])),
    open_rule(
        r"I (?:only )?eat (?:only )?(?P<v>kosher|halal|vegan|vegetarian|gluten-free|plant-based)\b",
        take("diet"),
    ),
    open_rule(
        r"I (?:do not|cannot|never|no longer) (?:eat|drink|touch|have|do|tolerate)(?: any)? (?P<v>.+)", _food
    ),
    open_rule(
        r"I do not (?P<v>drink|smoke)(?=\s*(?:$|[,;.!]|and\b|any ?more|at all|or\b|so\b|but\b))",
        _abstains,
    ),
    open_rule(
        r"I have not (?:eaten|touched|had|drunk) (?P<v>\w+) (?:since|in \w+ years|for \w+ years)", _food
    ),
    open_rule(
        r"I (?:have )?(?:gave up|given up|quit|stopped eating|stopped drinking"
        r"|stopped) (?P<v>[^,;:.!?()—–]+)",
        _gave_up,
    ),
    open_rule(
        r"(?:I|we) (?:do (?P<no>not) |no longer )?(?P<verb>have|own|drive|ride|bought|got"
        r"|play on)(?: myself)? (?P<v>(?:an?|two|three|four|my own|the)\b ?[^,;:.!?()—–]*)",
        _owned,
    ),
    open_rule(r"(?:I|we) (?P<verb>drive|own|ride) (?P<v>[^,;:.!?()—–]+)", _owned),
    open_rule(
        r"(?:I|we) (?:have )?(?P<no>sold|got rid of|wrecked|totalled|gave away) (?:my|our"
        r"|the) (?P<verb>)(?P<v>[^,;:.!?()—–]+)",
        _owned,
    ),
    open_rule(r"my (?P<what>(?:\w+ )?\w+) is (?P<v>(?:an? |the )?[^,;:.!?()—–]+)", _is_mine),
    open_rule(
        r"(?P<what>(?:work |home )(?:laptop|phone|computer|machine|car)) is (?P<v>(?:an? "
        r"|the )?[^,;:.!?()—–]+)",
        _is_mine,
    ),
    open_rule(
        r"I am on (?P<v>(?:Android|iOS|Linux|Windows|Mac)\b[^,;:.!?]*), an? (?P<device>[A-Z][\w ]+)",
        lambda m: iter([SlotMatch("owns", m["device"].strip())]),
    ),
    rule(
        r"my (?P<what>passport|visa|licence|license|contract|lease) (?:expires|runs out|ends"
        r"|is valid until) (?:on |in )?(?P<v>[^,;:.!?]+)",
        lambda m: iter([SlotMatch("owns", f"{m['what']} expiring {m['v'].strip()}")]),
    ),
    open_rule(
        r"I am (?P<v>(?:VAT[- ]registered|registered disabled|a (?:\w+ )?citizen"
        r"|a permanent resident)\b)",
        take("status", bare),
    ),
)
