"""The names entity reading knows, which users can extend, and Chinese names in Latin letters."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple, TypeVar

from episodic_agent.core.episodes.languages import light, weak
from episodic_agent.core.language import fold, script
from episodic_agent.core.language.mentions.scan import scan
from episodic_agent.core.language.terms import stop_words
from episodic_agent.data import lines, listed_words, phrases, texts
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas.mentions import KINDS, Kind

_UNSPACED: Final = frozenset({"han", "kana", "hangul", "thai", "lao", "khmer", "myanmar"})
_Entry = TypeVar("_Entry")
_LONGEST_NAME: Final = 200  # characters


@lru_cache(maxsize=1)
def common_words() -> frozenset[str]:
    """Return the words that are no names, however they are capitalised."""
    terms = {
        word
        for domain in texts("entities/domains.words")
        for word in phrases(f"entities/domains.words.{domain}")
    }
    goods = {*phrases("entities/products.goods"), *phrases("entities/organisations.companies")}
    terms -= goods - listed_words("entities/everyday.goods")
    english = stop_words()["en"] | light() | weak()
    return english.union(terms, phrases("entities/everyday.words"), phrases("entities/everyday.labels"))


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
    return len(low) > 5 and low.endswith(lines("entities/everyday.made")) and not is_word(low)  # "xiuying"


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
                text, _, value = str(form).partition("=")
                added.append((text, Name(known, _value(value or text), own=True)))
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
    ("place", ("places.countries", "places.regions", "places.cities", "places.sights", "places.han")),
    ("organisation", ("organisations.companies", "organisations.bodies", "organisations.han")),
    ("product", ("products.goods", "products.works", "products.han")),
    ("person", ("people.famous",)),
)


@lru_cache(maxsize=1)
def _shipped() -> Lexicon:
    """Compile the shipped lists; a single word of everyday talk is a doubtful name."""
    common_ones = common_words().union(
        phrases("entities/people.doubtful"),
        phrases("entities/organisations.doubtful"),
        phrases("entities/products.doubtful"),
    )
    terms = set(phrases("entities/people.given"))
    added: list[tuple[str, Name]] = []
    for kind, lists in _SHIPPED:
        for entry in (entry for name in lists for entry in phrases(f"entities/{name}")):
            form, _, value = entry.partition("=")
            doubtful = (
                form in common_ones
                or (form in terms and kind != "person")
                or len(form) < (4 if kind == "organisation" else 3)
            )
            added.append((form, Name(kind, without_article(value or form), doubtful)))
    added.extend(
        (form, Name("person", form, form in common_ones)) for form in phrases("entities/people.given")
    )
    return _compiled(added, None)


def _syllable_pattern() -> str:
    rows = (row.split() for row in lines("entities/pinyin.syllables"))
    return (
        "(?:"
        + "|".join(f"{row[0]}(?:{'|'.join(sorted(row[1:], key=len, reverse=True))})" for row in rows)
        + ")"
    )


@lru_cache(maxsize=2)
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Compile both patterns when first used (20 ms): a word of one or two syllables, and a given name."""
    syllable = _syllable_pattern()
    return re.compile(rf"(?:{syllable}|ai|ao|an|ang|ou|en|er){{1,2}}"), re.compile(rf"{syllable}{{2}}")


@lru_cache(maxsize=65_536)
def is_word(low: str) -> bool:
    """Say whether a folded word is one or two syllables of Mandarin.

    >>> is_word("mingxuan"), is_word("street")
    (True, False)
    """
    return _patterns()[0].fullmatch(low) is not None


@lru_cache(maxsize=65_536)
def is_given(low: str) -> bool:
    """Say whether a folded word is two syllables that both begin with a consonant, as given names do."""
    return _patterns()[1].fullmatch(low) is not None
