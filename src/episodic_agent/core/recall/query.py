"""What a recall query asks for: terms, quoted phrases, people, times, words to look for, threads by name.

Questions name a person, and a sentence model then ranks turns that *address* that person. So known speakers'
names become "you" in the text that is embedded, and the turn's speaker is compared with the one asked about
(recall@10 of such questions: .288 with the bare text, .581 with "you", .652 with a bonus for the speaker).

A query may be words to look for, as people type them into a search box: a name, a word, a date. They
ask for the texts that hold them as they stand; a date is written in many ways ("October 3", "3.
Oktober", 10月3号), and all of them are looked for. And a question may mean a thread or a channel as such
("in #harbor", "im Kanal harbor"): whether something is called so only the memory knows, so it is asked
for each of a few names.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from functools import cache, lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from episodic_agent.core.episodes.languages import content_terms
from episodic_agent.core.language import fold, tokens, words
from episodic_agent.core.language.dayparts import without
from episodic_agent.core.language.japanese import japanese_numbers
from episodic_agent.core.language.pastdays import asked_time, with_dates
from episodic_agent.core.language.terms import BIGRAM_SCRIPTS, script
from episodic_agent.core.language.timewords import TimeQuery, date_terms, date_words, normal
from episodic_agent.core.recall.alone import (
    asks,
    asks_nothing_else,
    asks_only_outcomes,
    asks_what_became,
    asks_what_happened,
    asks_what_is_new,
    asks_what_was_said,
    asks_who_came,
    looks_back,
    outcomes_asked,
)
from episodic_agent.core.recall.due import DaysAsked, days_asked
from episodic_agent.core.recall.order import Order, order_of, read_order, without_order
from episodic_agent.core.recall.places import Named, read_places
from episodic_agent.data import lines, phrases
from episodic_agent.lazily import module

if TYPE_CHECKING:
    from episodic_agent.core.language import clocks
else:
    clocks = module("episodic_agent.core.language.clocks")


_Form: TypeAlias = "tuple[re.Pattern[str], str]"
_DAY: Final = timedelta(days=1)
Name: TypeAlias = tuple[tuple[str, ...], ...]  # the terms each of its words may be stored under

# Roles, not names: "the user interface" does not ask about the role "user".
ROLES: Final = frozenset({"user", "assistant", "system", "tool", "agent", "human", "ai", "bot", "function"})
ASKER_ROLES: Final = ("user", "human")
_ANSWERER_ROLES: Final = ("assistant", "ai", "bot", "agent")
# Patterns are compiled at their first use (`re` keeps them): at import they would cost every start 2 ms.
_QUOTED: Final = r"[\"“”„«»「」『』]([^\"“”„«»「」『』]{2,200})[\"“”„«»「」『』]"
_FIRST_PERSON: Final = (
    r"\b(?:i|me|my|mine|myself|i'm|i've|i'd|i'll|ich|mir|mich|mein\w*|yo|mis?|je|mon|mes|moi|io|mio|mia|eu|meu|"
    r"minha|ik|mijn|я|мне|меня|мой|моя|мои|we|our|us)\b|我|咱"
)
ASKER: Final = r"\b(?:i|ich|yo|je|io|eu|ik|я)\b|我(?!们)"  # who asks, as the subject of the question
_ABOUT_ANSWERER: Final = (
    r"\b(?:did|have|had|were|do|could|can) you (?:\w+ )?(?:say|said|tell|told|recommend\w*|"
    r"suggest\w*|advi[sc]e\w*|"
    r"propose\w*|explain\w*|mention\w*|give|gave|given|list\w*|provide\w*|describe\w*|write|wrote|create\w*)\b|"
    r"\byou(?:'d)? (?:said|told|recommended|suggested|advised|proposed|explained|mentioned|gave|provided|"
    r"listed)\b|"
    r"\byour (?:advice|answer|suggestions?|recommendations?|explanation|list|reply|response)\b|"
    r"你(?:说|告诉|推荐|建议|提到|给)"
)
_INSIDE: Final = r"(?<=[\w,;'’”)] )[^\W\d_][\w'’-]*"  # a word that does not open a sentence
_NOUNS_CAPITALISED: Final = frozenset({"de", "lb"})
_GERMAN: Final = frozenset(
    {
        "der", "das", "und", "ist", "wann", "wer", "wie", "ich", "eine", "einen", "wir", "nicht", "habe",
        "wurde", "zum", "zur", "vom", "beim", "kommt", "für", "nach", "auf", "sind", "wird", "werden",
        "haben", "hatte", "welche", "welcher", "welches", "welchen", "warum", "wieso", "wohin", "woher",
        "wem", "wen", "mein", "meine", "meinen", "unser", "unsere", "einem", "einer",
    }
)  # fmt: skip
# What a question with an expression of time is made of beside its content; stems, as `tokens` gives them.
_ABOUT_TIME: Final = frozenset(
    {
        "last", "next", "past", "previous", "ago", "yesterday", "today", "tonight", "day", "week",
        "weekend", "month", "year", "hour", "minut", "morn", "afternoon", "even", "night", "noon", "earli",
        "late", "mid", "begin", "start", "end", "happen", "event", "thing",
    }
)  # fmt: skip
# "What's left on the list?" names no side, as "the left knee" does.
_REMAINING: Final = (
    r"(?i)(\b(?:what\w*|(?:any|no)thing|much|many)\b[^.?!]{0,24}?)"
    r"(?<!\bthe )(?<!\bmy )\bleft(?=\s+(?:to|on|in|for)\b)"
)
_LONGEST_LITERAL: Final = 60  # characters of a query that is words to look for
_QUESTIONS: Final = r"(?<=[?？])\s*|(?<=[。！!.])\s*|另外[，,]?|对了[，,]"


@dataclass(frozen=True, slots=True)
class Query:
    """Hold a query as recall needs it.

    `text` is what was asked, `dense_text` what is embedded; `terms` are looked up in the postings;
    `content` are the terms without those of an expression of time and without the owner's name. `speakers`
    are actors asked about, as they are stored; `parts` are the terms of each question when several are
    asked; `order` prefers the last or first times. `names` are proper names that are no actor's: one that
    nothing here holds was never mentioned; `written` are they as they stand in the question. `anonymous`:
    only roles spoke, so one of them may be the asker's; `by_asker`: it is about whoever asks, and what others
    say of themselves is no answer. `places` are the keys of known places named,
    `place_terms` the terms that name them (no `content`), and `place_alone` says that nothing else is
    asked but perhaps a time; `said_alone`, nothing but what was said at its times; `happened_alone`, nothing
    but what happened in them, or is new since; `reviews`, for what became of a matter in them, of which one
    is longer than a day. Of a question behind a filter `everything` says that it asks for whatever is left
    there, `who_came` for nothing but who came. `outcomes` are those of steps that it asks for, and for
    nothing else but perhaps a place and a time.
    `ahead` are days to come that it asks about (`looking_ahead`). `literal` matches the texts that hold a
    query as it stands, where it is words to look for.
    """

    text: str
    dense_text: str
    terms: tuple[str, ...]
    content: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    literal: str = ""
    parts: tuple[tuple[str, ...], ...] = ()
    speakers: frozenset[str] = frozenset()
    time: TimeQuery = field(default_factory=TimeQuery)
    script: str = "latin"
    language: str | None = None
    order: Order | None = None
    names: tuple[Name, ...] = ()
    written: tuple[str, ...] = ()
    anonymous: bool = False
    by_asker: bool = False
    places: tuple[str, ...] = ()
    place_terms: tuple[str, ...] = ()
    place_alone: bool = False
    said_alone: bool = False
    happened_alone: bool = False
    reviews: bool = False
    everything: bool = False
    who_came: bool = False
    outcomes: frozenset[str] = frozenset()
    ahead: DaysAsked | None = None


def analyse(
    text: str,
    speakers: Iterable[str],
    now: datetime,
    *,
    owner: str | None = None,
    language: str | None = None,
    utc_offset: timedelta | None = None,
    places: Mapping[str, str] | None = None,
    filtered: bool = False,
) -> Query:
    """Read a query against the actors and places known in its scope.

    `speakers` are the scope's distinct actors (names or roles); `now` is aware; `language` an ISO 639-1 code;
    `places` are the labels of its places by key; `owner` is whose memory it is: they are "user" too;
    `filtered`: the caller filters besides.

    >>> from datetime import UTC
    >>> now = datetime(2024, 1, 1, tzinfo=UTC)
    >>> found = analyse('Did Ana say "green tea" in May 2023?', ["Ana", "Bo"], now)
    >>> found.dense_text, sorted(found.speakers), found.phrases
    ('Did you say "green tea" in May 2023?', ['Ana'], ('green tea',))
    >>> found.terms
    ('ana', 'say', 'green', 'tea', '2023', '2023-05')
    >>> sorted(analyse("Where does Ana live?", ["user", "assistant"], now, owner="ana").speakers)
    ['ana', 'user']
    """
    actors = tuple(dict.fromkeys(speakers))
    time = asked_time(text, now, utc_offset)
    asked_for = tuple(dict.fromkeys(content_terms(plain := re.sub(_REMAINING, r"\1still", text), language)))
    besides = _calendar(time, utc_offset).union(_words_of_dates(text, time, now, utc_offset))
    dense, named = _addressed(plain, (*actors, owner) if owner and owner not in actors else actors)
    if owner and any(fold(name) == fold(owner) for name in named):
        besides = besides.union(tokens(owner, language))  # "I" to those whose memory it is: seldom written
        named |= {actor for actor in actors if fold(actor) in ASKER_ROLES}
    there, bare = read_places(text, places, language) if places else Named(), dense
    if there.places:  # their names are nobody's, and met by where something was, not by words
        bare, _ = _addressed(there.rest, (*actors, owner) if owner else actors)
        besides = besides.union(tokens(there.words, language))
    query = Query(
        text=text,
        dense_text=dense,
        terms=tuple(dict.fromkeys((*asked_for, *date_terms(time)))),
        content=tuple(term for term in asked_for if term not in besides),
        phrases=tuple(match.strip() for match in re.findall(_QUOTED, text)),
        literal=_literal(text, time, utc_offset),
        parts=_parts(text, language),
        speakers=frozenset(named or _by_role(text, actors)),
        time=time,
        order=read_order(text),
        names=tuple(names := proper_names(bare, language)),
        written=tuple(names.values()),
        anonymous=not named and all(fold(actor) in ROLES for actor in actors),
        by_asker=not named and re.search(ASKER, text.casefold()) is not None,
        script=script(text),
        language=language,
        places=there.places,
        place_terms=tuple(dict.fromkeys(tokens(there.words, language))),
    )
    return _alone(query, bare, now, utc_offset, placed=there.placed, filtered=filtered)


def _literal(text: str, time: TimeQuery, utc_offset: timedelta | None) -> str:
    if len(text) > _LONGEST_LITERAL:
        return ""
    days = [part.start for part in time.ranges if part.kind == "day"]
    if time and len(days) != 1:
        return ""
    return literal_pattern(text, (days[0] + (utc_offset or timedelta())).date() if days else None)


def _alone(
    query: Query, bare: str, now: datetime, utc_offset: timedelta | None, *, placed: bool, filtered: bool
) -> Query:
    """Return a query with what it asks for alone; `bare` is its text without the places it names."""
    timed = bool(query.time.ranges)
    is_of_time = timed and not placed and bare == query.text and query.time.ranges[0].start < now
    is_of_words = (filtered or timed) and asks_what_was_said(bare, now, utc_offset)
    is_long = any(part.kind != "open" and part.end - part.start > _DAY for part in query.time.ranges)
    is_empty = (filtered or placed) and asks_nothing_else(bare, now, utc_offset)
    happened = is_of_time and not is_of_words and asks_what_happened(bare, now, utc_offset)
    return replace(
        query,
        place_alone=placed and is_empty,
        said_alone=timed and not placed and is_of_words,
        happened_alone=happened,
        reviews=is_of_time and is_long and not (is_of_words or happened) and asks_what_became(bare),
        everything=filtered and (is_of_words or is_empty),
        who_came=filtered and asks_who_came(bare, now, utc_offset),
        outcomes=frozenset(outcomes_asked(bare) if asks_only_outcomes(bare, now, utc_offset) else ()),
    )


def looking_ahead(query: Query, now: datetime, utc_offset: timedelta | None) -> Query:
    """Return a query with the days to come that it asks about: its Friday is not the last one then.

    >>> from datetime import UTC
    >>> monday = datetime(2024, 3, 18, tzinfo=UTC)
    >>> found = looking_ahead(analyse("What's on on Friday?", [], monday), monday, None)
    >>> [day.isoformat() for day in found.ahead.days], found.time.ranges
    (['2024-03-22'], ())
    """
    happened = query.happened_alone and (
        asks_what_is_new(query.text)
        or looks_back(query.text)
        or all(part.kind == "open" for part in query.time.ranges)
    )
    is_over = query.said_alone or happened
    asked = None if is_over or query.place_alone else days_asked(query.text, now, utc_offset)
    if asked is None:
        return query
    running = tuple(part for part in query.time.ranges if part.end > now)
    time = TimeQuery(running, asks=query.time.asks, utc_offset=query.time.utc_offset)
    over = {*date_terms(query.time)} - {*date_terms(time)}
    terms = tuple(term for term in query.terms if term not in over)
    return replace(query, ahead=asked, time=time, terms=terms, happened_alone=False)


def in_order(query: Query) -> Query:
    """Return a query with the end of time it asks for, and without the words that ask for it.

    "Where are my keys?" asks for the newest place.

    >>> from datetime import UTC
    >>> now = datetime(2024, 1, 1, tzinfo=UTC)
    >>> in_order(analyse("When did I last feed the cat?", [], now)).terms
    ('feed', 'cat')
    >>> in_order(analyse("Where is the cat?", [], now)).order
    Order(latest=True, count=1)
    """
    return replace(
        query,
        order=order_of(query.text),
        terms=without_order(query.terms, query.text, query.language),
        content=without_order(query.content, query.text, query.language),
    )


def _parts(text: str, language: str | None) -> tuple[tuple[str, ...], ...]:
    """Return the terms of each question when several are asked at once, nothing otherwise.

    The longest question's words would drown the others: MemDaily's recall@5 is .85 without, .87 with.
    """
    pieces = [piece.strip() for piece in re.split(_QUESTIONS, text)]
    asked = [
        tuple(dict.fromkeys(content_terms(piece, language)))
        for piece in pieces
        if piece.endswith(("?", "？"))
    ]
    asked = [terms for terms in asked if len(terms) > 1]
    return tuple(asked) if len(asked) > 1 else ()


def _calendar(time: TimeQuery, utc_offset: timedelta | None) -> frozenset[str]:
    """Return the terms in which a question speaks of its times: they are met by dates, not by words."""
    if not time:
        return frozenset()
    ends = [moment for part in time.ranges for moment in (part.start, part.end - timedelta(microseconds=1))]
    words = _ABOUT_TIME.union(*(date_words(moment, utc_offset) for moment in ends))
    return words.union(clocks.clock_terms()) if time.names_hours else words


def _words_of_dates(
    text: str, time: TimeQuery, now: datetime, utc_offset: timedelta | None
) -> frozenset[str]:
    """Return the terms that are gone where dates are written out: "vor fünf Tagen" is met by a date."""
    if not time.ranges:  # "da" is no since where nothing behind it is a time
        return frozenset()
    dated = with_dates(text, now, utc_offset)
    return frozenset() if dated is text else frozenset(tokens(text)).difference(tokens(dated))


def proper_names(text: str, language: str | None) -> Mapping[Name, str]:
    """Return the runs of capitalised words inside sentences as written, actors' names being "you" by now.

    Nothing where capitals do not tell: German nouns, titles. Months and weekdays are time, not names.
    """
    inside = re.findall(_INSIDE, text)
    capital = [word[0].isupper() for word in inside]
    if not any(capital) or 5 * sum(capital) > 4 * len(inside) > 12:
        return {}
    if language in _NOUNS_CAPITALISED or (language is None and not _GERMAN.isdisjoint(words(text))):
        return {}
    runs: list[list[tuple[tuple[str, ...], str]]] = [[]]
    for word, upper in zip(inside, capital, strict=True):
        terms = tuple(tokens(word, language)) if upper else ()
        if terms and _days_and_months().isdisjoint(terms):
            runs[-1].append((terms, word))
        elif runs[-1]:
            runs.append([])
    return {tuple(terms for terms, _ in run): " ".join(word for _, word in run) for run in runs if run}


@lru_cache(maxsize=1)
def _days_and_months() -> frozenset[str]:
    days = [datetime(2024, month, day, tzinfo=UTC) for month in range(1, 13) for day in range(1, 8)]
    return frozenset(word for day in days for word in date_words(day) if word.isalpha())


def words_capitalised(text: str) -> tuple[str, ...]:
    """Return the last word of each run of capitalised words inside sentences, folded: a surname, a noun.

    >>> words_capitalised("What did we promise to Ms Ito and Ana Berg?")
    ('ito', 'berg')
    """
    inside = re.findall(_INSIDE, text)
    runs = [list(run) for upper, run in groupby(inside, key=lambda word: word[0].isupper()) if upper]
    return tuple(fold(run[-1]) for run in runs)


def _addressed(text: str, actors: tuple[str, ...]) -> tuple[str, set[str]]:
    """Return the text with the names of actors replaced by "you", and the actors named."""
    named: set[str] = set()
    spaced, unspaced = _names(actors)
    pairs = {name: form for word in set(words(text)) for name, form in spaced.get(word, {}).items()}
    pairs.update({name: form for name, form in unspaced.items() if name in text})
    for _, (pattern, actor) in sorted(pairs.items(), key=lambda item: (-len(item[0]), item[0])):
        changed = pattern.sub(_second_person, text)
        if changed != text:
            named.add(actor)
            text = changed
    return text, named


def people_named(text: str, actors: Iterable[str]) -> list[tuple[int, str]]:
    """Return the actors that a text names, each with where it does first.

    >>> people_named("Did Jonas call Ana?", ["Ana", "Jonas Olsen"])
    [(4, 'Jonas Olsen'), (15, 'Ana')]
    """
    spaced, unspaced = _names(tuple(dict.fromkeys(actors)))
    forms = [form for word in set(words(text)) for form in spaced.get(word, {}).values()]
    forms += [form for name, form in unspaced.items() if name in text]
    places: dict[str, int] = {}
    for pattern, actor in forms:
        if match := pattern.search(text):
            places[actor] = min(match.start(), places.get(actor, match.start()))
    return sorted((at, actor) for actor, at in places.items())


@lru_cache(maxsize=64)
def _names(actors: tuple[str, ...]) -> tuple[dict[str, dict[str, _Form]], dict[str, _Form]]:
    """Return the ways of naming actors: by first word, and those written without spaces.

    A first name alone names its bearer where only one actor has it.
    """
    forms = {actor: actor for actor in actors if fold(actor) not in ROLES and words(actor)}
    firsts: dict[str, set[str]] = {}
    for actor in forms:
        firsts.setdefault(actor.split()[0], set()).add(actor)
    for first, bearers in firsts.items():
        if len(bearers) == 1 and len(first) > 2 and words(first):
            forms.setdefault(first, next(iter(bearers)))
    spaced: dict[str, dict[str, _Form]] = {}
    unspaced: dict[str, _Form] = {}
    for name, actor in forms.items():
        form = (_name_pattern(name), actor)
        if script(name) in BIGRAM_SCRIPTS:
            unspaced[name] = form
        else:
            spaced.setdefault(words(name)[0], {})[name] = form
    return spaced, unspaced


def _name_pattern(name: str) -> re.Pattern[str]:
    """Match a name in any case, but a capitalised single name not against a lower-case word."""
    if script(name) in BIGRAM_SCRIPTS:
        return re.compile(re.escape(name))
    body = r"\s+".join(map(re.escape, name.split()))
    if " " not in name:
        body = rf"(?:{re.escape(name)}|{re.escape(name.capitalize())}|{re.escape(name.upper())})"
        return re.compile(rf"(?<!\w){body}(?P<of>['’]s)?(?!\w)")
    return re.compile(rf"(?<!\w){body}(?P<of>['’]s)?(?!\w)", re.IGNORECASE)


def _second_person(match: re.Match[str]) -> str:
    if script(match.group()) == "han":
        return "你"
    return "your" if match.groupdict().get("of") else "you"


def _by_role(text: str, actors: tuple[str, ...]) -> Iterator[str]:
    """Yield the roles a question without names is about: the asker's own words, or the answers given."""
    folded = text.casefold().replace("’", "'")
    if re.search(_ABOUT_ANSWERER, folded):
        yield from (actor for actor in actors if fold(actor) in _ANSWERER_ROLES)
    elif re.search(_FIRST_PERSON, folded):
        yield from (actor for actor in actors if fold(actor) in ASKER_ROLES)


_MOST_WORDS: Final = 3
_LONGEST_WORDS: Final = 8  # characters of a script without spaces
_LETTER: Final = r"[^\W\u3041-\u30fa\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]"  # of scripts with spaces
_FIGURE: Final = re.compile(r"\d")
_SIGN: Final = re.compile(r"\d{1,4}(?:st|nd|rd|th|er|го)?|of|de|\d{1,2}月\d{1,2}[日号]")


def literal_pattern(text: str, day: date | None) -> str:
    """Return what matches texts that hold a query as it stands, "" where it is no word to look for.

    Texts are folded to words with one space between (`spoken`). `day` is the one day a query names, if any.

    >>> bool(re.search(literal_pattern("Kick-off", None), spoken("the kick off is on Friday")))
    True
    >>> pattern = literal_pattern("October 3", date(2026, 10, 3))
    >>> [bool(re.search(pattern, spoken(text))) for text in ("am 3. Oktober", "3rd of October", "October 30")]
    [True, True, False]
    >>> literal_pattern("what did I say?", None)
    ''
    """
    query = spoken(text)
    if not query or asks(text):
        return ""
    if day is not None:
        return _dates(day.month, day.day) if _is_date(query) else ""
    run = query.split()
    is_sentence = script(query) in BIGRAM_SCRIPTS and (len(run) > 1 or len(query) > _LONGEST_WORDS)
    if is_sentence or len(run) > _MOST_WORDS:
        return ""
    return _bounded(re.escape(query))


def spoken(text: str) -> str:
    """Return the folded words of a text with one space between them."""
    return " ".join(words(text))


def _bounded(pattern: str) -> str:
    """Return a pattern that begins and ends no word in half; characters stand without spaces."""
    return rf"(?:(?<!{_LETTER})|(?!{_LETTER})){pattern}(?:(?!{_LETTER})|(?<!{_LETTER}))"


def _is_date(query: str) -> bool:
    months = {name for names in lines("entities/times.months") for name in names.split()}
    return _FIGURE.search(query) is not None and all(
        word in months or _SIGN.fullmatch(word) for word in query.split()
    )


@lru_cache(maxsize=64)
def _dates(month: int, day: int) -> str:
    names = "|".join(lines("entities/times.months")[month - 1].split())
    number = rf"0?{day}(?:st|nd|rd|th|er|го)?"
    kanji = japanese_numbers(date(2024, month, day))[1].removesuffix("日")
    months = japanese_numbers(date(2024, 1, month))[1].removesuffix("日")
    forms: Iterable[str] = (
        rf"(?<!\d){number} (?:of |de |do )?(?:{names})(?!{_LETTER})",
        rf"(?<!{_LETTER})(?:{names}) {number}(?!{_LETTER})",
        rf"(?<!\d){month}月{day}[日号](?!{_LETTER})",
        rf"(?<![一二三四五六七八九十]){months}月{kanji}[日号]",
    )
    return "|".join(forms)


_DATA: Final = "recall/talks"
_LONGEST_NAME: Final = 400  # characters of a question
_MOST: Final = 12  # names that are looked up
_NAME: Final = r"(?:[^\W぀-鿿]|[.\-](?=\w))+"  # characters without spaces end it
_MORE: Final = rf"{_NAME}(?: {_NAME}){{0,2}}"
_TRIED: Final = re.compile(r" ")


class TalkName(NamedTuple):
    """A name that may be a thread's or a channel's, and the question without the words that name it.

    `sure` tells that nothing else can be meant: it stands behind # or beside "channel".
    """

    name: str
    rest: str
    sure: bool


def talk_names(question: str) -> list[TalkName]:
    """Return the names a question may mean a thread or channel by, the sure and longer ones first.

    >>> [(one.name, one.sure) for one in talk_names("what happened in the harbor channel?")]
    [('harbor', True), ('harbor channel', False), ('harbor', False)]
    >>> talk_names("what happened yesterday in #ops?")[0].rest.split()
    ['what', 'happened', 'yesterday', '?']
    """
    if len(question) > _LONGEST_NAME:
        return []
    folded = normal(question)
    if len(folded) != len(question):  # then nothing stands where it stood
        question = folded
    return list(dict.fromkeys(_read(question, folded)))[:_MOST]


def _read(question: str, folded: str) -> Iterator[TalkName]:
    for sure, pattern in _patterns():
        for match in pattern.finditer(folded):
            start, end = match.span("name")
            ends = [end, *(space.start() + start for space in reversed(list(_TRIED.finditer(match["name"]))))]
            for last in sorted({*ends}, reverse=True):
                behind = match.end() if last == end else last
                yield TalkName(question[start:last], without(question, [(match.start(), behind)]), sure)


@cache
def _patterns() -> list[tuple[bool, re.Pattern[str]]]:
    before, article, kinds = (
        "|".join(sorted(map(re.escape, phrases(f"{_DATA}.{name}")), key=len, reverse=True))
        for name in ("before", "article", "kinds")
    )
    lead = rf"(?:(?<!\w)(?:{before})\s*(?:(?<=\s)(?:{article})\s+)?)"
    return [
        (True, re.compile(rf"{lead}?#(?P<name>{_NAME})(?:\s+(?:{kinds})(?!\w))?")),
        (True, re.compile(rf"{lead}(?:{kinds})\s+(?P<name>{_NAME})(?!\w)")),
        (True, re.compile(rf"{lead}(?P<name>{_NAME})[\s-]*(?:{kinds})(?!\w)")),
        (False, re.compile(rf"(?<!\w)(?:{before})\s+(?:(?:{article})\s+)?(?P<name>{_MORE})(?!\w)")),
    ]
