"""The names entity reading knows, which users can extend with their own."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple, TypeVar

from episodic_agent.core.entities import pinyin
from episodic_agent.core.entities.lists import entries, word_set
from episodic_agent.core.entities.records import KINDS, Kind
from episodic_agent.core.entities.scan import scan
from episodic_agent.core.entities.words import domains, everyday, organisations, people, places, products
from episodic_agent.core.summaries.weak import LIGHT, WEAK
from episodic_agent.core.text import fold, script
from episodic_agent.core.text.stopwords import STOP_WORDS
from episodic_agent.errors import InvalidInput

_UNSPACED: Final = frozenset({"han", "kana", "hangul", "thai", "lao", "khmer", "myanmar"})
# Names of goods and firms that talk uses for other things; the others among a domain's words are names.
_EVERYDAY_GOODS: Final = word_set(
    """
    flash drive signal line ring calm mint nest excel outlook word bash target
    """
)
_Entry = TypeVar("_Entry")
_LONGEST_NAME: Final = 200  # characters


@lru_cache(maxsize=1)
def common_words() -> frozenset[str]:
    """Return the words that are no names, however they are capitalised."""
    told = {word for words in domains.DOMAINS.values() for word in entries(words)}
    told -= {*entries(products.GOODS), *entries(organisations.COMPANIES)} - _EVERYDAY_GOODS
    english = STOP_WORDS["en"] | LIGHT | WEAK
    return english.union(told, everyday.WORDS.replace("\n", "|").split("|"), entries(everyday.LABELS)) - {""}


# Endings of words that are made, not given: verbs, adverbs, abstract nouns.
_MADE: Final = (
    "ing", "ings", "ed", "ly", "tion", "tions", "sion", "sions", "ment", "ments", "ness", "ity", "ities",
    "ance", "ances", "ence", "ences", "able", "ible", "ous", "ful", "less", "ive", "ives", "ize", "ise",
    "ship", "ships", "hood", "ward", "wards", "ers", "ery", "ture", "tures", "ics", "cian", "cians", "phy",
    "ency", "ancy", "ware", "scape", "tial", "cial", "ional", "ular",
    "ism", "isms", "ist", "ists", "ology", "ical", "iest",
)  # fmt: skip


@lru_cache(maxsize=65_536)
def is_common(low: str) -> bool:
    """Say whether a folded word is one of everyday talk, or made like one (a plural, "-ing", "-tion").

    >>> is_common("parks"), is_common("renovation"), is_common("anna")
    (True, True, False)
    """
    known = common_words()
    if low in known or (low.endswith("s") and low[:-1] in known):
        return True
    if "-" in low:
        return all(map(is_common, low.split("-")))
    return len(low) > 5 and low.endswith(_MADE) and not pinyin.is_word(low)  # "xiuying"


class Name(NamedTuple):
    """One known name: its kind, its value, and whether only the words around it make it a name.

    `own` marks what a user added: it is believed in any writing.
    """

    kind: Kind
    value: str
    doubtful: bool = False
    own: bool = False


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Hold known names by kind. `Lexicon.shipped()` knows some eight thousand; `extended` adds to them."""

    single: Mapping[str, tuple[Name, ...]] = field(repr=False)
    longer: Mapping[str, tuple[tuple[tuple[str, ...], Name], ...]] = field(repr=False)  # by two words
    unspaced: Mapping[str, tuple[tuple[str, Name], ...]] = field(repr=False)
    firsts: frozenset[str] = field(default=frozenset(), repr=False)  # the first words of `longer`

    @staticmethod
    def shipped() -> "Lexicon":
        """Return the names shipped with the package, compiled once.

        >>> [name.value for name in Lexicon.shipped().single["nyc"]]
        ['new york']
        """
        return _shipped()

    @staticmethod
    def empty() -> "Lexicon":
        """Return a lexicon without names: rules and capitals alone then find entities."""
        return Lexicon({}, {}, {})

    def extended(self, names: Mapping[str, Iterable[str]]) -> "Lexicon":
        """Return a lexicon with more names by kind; `"form=value"` names a short form. Added names win.

        Raises InvalidInput for an unknown kind or an empty name.

        >>> mine = Lexicon.shipped().extended({"place": ["Blue Lantern", "HQ=Main Street 5"]})
        >>> mine.single["hq"][0].value
        'main street 5'
        """
        added: list[tuple[str, Name]] = []
        for kind, forms in names.items():
            known = _kind(kind, "the mapping")
            if isinstance(forms, str):
                raise InvalidInput(f"names of kind {kind!r} come as a list of strings, not as one string")
            for form in forms:
                said, _, value = str(form).partition("=")
                added.append((said, Name(known, _value(value or said), own=True)))
        return _compiled(added, self)

    def extended_from(self, lines: Iterable[str], source: str = "the lexicon file") -> "Lexicon":
        """Return a lexicon with the names of a file, given as its lines (an open text file will do).

        A line is `kind: name | name | form=value`, or JSON: `{"kind": "place", "name": "Blue Lantern",
        "value": "..."}`. Blank lines and those that begin with `#` are passed over. Raises InvalidInput,
        which names the line, for anything else.

        >>> mine = Lexicon.shipped().extended_from(["# ours", "person: Muhhamed | Fahim"])
        >>> mine.single["muhhamed"][0].kind
        'person'
        """
        added: dict[str, list[str]] = {}
        for number, line in enumerate(lines, 1):
            where = f"line {number} of {source}"
            text = line.strip().lstrip("\ufeff")
            if text and not text.startswith("#"):
                kind, forms = _json_line(text, where) if text.startswith("{") else _plain_line(text, where)
                added.setdefault(_kind(kind, where), []).extend(forms)
        return self.extended(added)


def _plain_line(text: str, where: str) -> tuple[str, list[str]]:
    kind, colon, names = text.partition(":")
    forms = [form.strip() for form in names.split("|") if form.strip()]
    if not colon or not forms:
        raise InvalidInput(f"{where} is no lexicon entry: write `kind: name | name` or a JSON object")
    return kind.strip().lower(), forms


def _json_line(text: str, where: str) -> tuple[str, list[str]]:
    try:
        entry = json.loads(text)
    except ValueError as error:
        raise InvalidInput(f"{where} is no JSON object: write one object a line") from error
    kind, name, value = (entry.get(key) for key in ("kind", "name", "value"))
    if not isinstance(kind, str) or not isinstance(name, str) or not isinstance(value, str | None):
        raise InvalidInput(f'{where} needs the strings "kind" and "name" (and may have "value")')
    return kind, [f"{name}={value}" if value else name]


def _kind(kind: str, where: str) -> Kind:
    for known in KINDS:
        if kind == known:
            return known
    raise InvalidInput(f"{where} has the unknown kind {kind!r}: use one of {', '.join(KINDS)}")


def _value(name: str) -> str:
    """Return a name's comparable form: folded, single-spaced, without a leading article."""
    return without_article(" ".join(fold(part) for part in name.split()))


def without_article(value: str) -> str:
    """Drop a leading English article, unless nothing is left.

    >>> without_article("the beatles"), without_article("the")
    ('beatles', 'the')
    """
    head, _, rest = value.partition(" ")
    return rest if rest and head in {"the", "a", "an"} else value


def _compiled(added: Iterable[tuple[str, Name]], base: Lexicon | None) -> Lexicon:
    single = dict(base.single) if base else {}
    longer = dict(base.longer) if base else {}
    unspaced = dict(base.unspaced) if base else {}
    for written, name in added:
        form = " ".join(written.split())
        if not form or not name.value or len(form) > _LONGEST_NAME:
            raise InvalidInput(f"a name has 1 to {_LONGEST_NAME} characters; got {form[:40]!r}")
        if script(form) in _UNSPACED:
            _put(unspaced, form[0], (form, name), name.own)
            continue
        parts = tuple(scan(form).lows) or (fold(form),)
        if len(parts) == 1:
            _put(single, parts[0], name, name.own)
        else:
            _put(longer, f"{parts[0]} {parts[1]}", (parts, name), name.own)
    return Lexicon(
        single,
        {first: tuple(sorted(rows, key=lambda row: -len(row[0]))) for first, rows in longer.items()},
        {first: tuple(sorted(rows, key=lambda row: -len(row[0]))) for first, rows in unspaced.items()},
        frozenset(pair.partition(" ")[0] for pair in longer),
    )


def _put(table: dict[str, tuple[_Entry, ...]], key: str, entry: _Entry, first: bool) -> None:
    known = table.get(key, ())
    if entry not in known:
        table[key] = (entry, *known) if first else (*known, entry)


_SHIPPED: Final[tuple[tuple[Kind, tuple[str, ...]], ...]] = (
    ("place", (places.COUNTRIES, places.REGIONS, places.CITIES, places.SIGHTS, places.HAN)),
    ("organisation", (organisations.COMPANIES, organisations.BODIES, organisations.HAN)),
    ("product", (products.GOODS, products.WORKS, products.HAN)),
    ("person", (people.FAMOUS,)),
)


@lru_cache(maxsize=1)
def _shipped() -> Lexicon:
    """Compile the shipped lists; a single word of everyday talk is a doubtful name."""
    common_ones = common_words().union(
        entries(people.DOUBTFUL), entries(organisations.DOUBTFUL), entries(products.DOUBTFUL)
    )
    given = set(entries(people.GIVEN))
    added: list[tuple[str, Name]] = []
    for kind, texts in _SHIPPED:
        for entry in (entry for text in texts for entry in entries(text)):
            form, _, value = entry.partition("=")
            doubtful = (
                form in common_ones
                or (form in given and kind != "person")
                or len(form) < (4 if kind == "organisation" else 3)
            )
            added.append((form, Name(kind, without_article(value or form), doubtful)))
    added.extend((form, Name("person", form, form in common_ones)) for form in entries(people.GIVEN))
    return _compiled(added, None)
