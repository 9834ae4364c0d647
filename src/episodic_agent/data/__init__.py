"""What the engine ships besides code: trained weights, word lists and the conversations of the demo.

Every file is plain to read and to compare: word lists are TOML, weights JSON, networks NumPy archives. What
made each of them, from what, when and under which licence stands in `PROVENANCE.toml`, with the file's hash;
a test holds it. A new file goes into the folder of its idea and gets its row there; after a change by hand
`python tools/shipping.py` brings the hashes up to date.

This module is the only one that opens them (but the demo's). An *address* is a file's path without its ending
and, after a dot, the place in it: `links/lexicon.recall` is the key `recall` of `links/lexicon.toml`.
Everything is read at first use and kept, so an accessor is as cheap as a look-up; nothing is read at import.
An address that names nothing raises KeyError: a slip in the code, found by the test that reads every address
in the source.
"""

import io
import json
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from episodic_agent.lazily import module

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:  # word lists are read where nothing is reckoned
    np = module("numpy")

Value: TypeAlias = "str | float | tuple[Value, ...] | Mapping[str, Value]"
_ROOT = files(__name__)


def demo_folder() -> Path:
    """Return the folder of the demo's conversations and of its year: whoever shows them opens them."""
    return Path(str(_ROOT.joinpath("demo")))


def raw(path: str) -> bytes:
    """Return the bytes of a file by its path in this folder, ending included; they are not kept."""
    return _ROOT.joinpath(path).read_bytes()


def arrays(path: str) -> "dict[str, NDArray[Any]]":
    """Return the arrays of a NumPy archive by name, by its path, ending included; they are not kept.

    No pickles are read.
    """
    with np.load(io.BytesIO(raw(path)), allow_pickle=False) as archive:
        return dict(archive)


@cache
def _file(name: str) -> Mapping[str, Value]:
    listed = _ROOT.joinpath(f"{name}.toml")
    if listed.is_file():
        table: Mapping[str, Value] = tomllib.loads(listed.read_text(encoding="utf-8"))
        return table
    weights = _ROOT.joinpath(f"{name}.json")
    if not weights.is_file():
        raise KeyError(f"no data file {name!r}")
    numbers: Mapping[str, Value] = json.loads(weights.read_text(encoding="utf-8"))
    return numbers


def _at(address: str) -> Value:
    name, *keys = address.split(".")
    value: Value = _file(name)
    for key in keys:
        if not isinstance(value, Mapping) or key not in value:
            raise KeyError(f"no {address!r} in the data")
        value = value[key]
    return value


@cache
def text(address: str) -> str:
    """Return a text as it stands, without the line breaks around it."""
    value = _at(address)
    if not isinstance(value, str):
        raise KeyError(f"{address!r} is no text")
    return value.strip("\n")


@cache
def listed_words(address: str) -> frozenset[str]:
    """Return the words of a list written with white space between them.

    >>> sorted(listed_words("language/fillers.words"))[:2]
    ['aber', 'ah']
    """
    return frozenset(text(address).split())


@cache
def phrases(address: str) -> tuple[str, ...]:
    """Return the entries of a list joined by `|` and line breaks, in order.

    >>> phrases("links/dependence.definite")[:3]
    ('the', 'der', 'die')
    """
    return tuple(entry for entry in text(address).replace("\n", "|").split("|") if entry)


@cache
def phrase_set(address: str) -> frozenset[str]:
    """Return the entries of a list joined by `|` and line breaks as a set.

    >>> "north carolina" in phrase_set("entities/places.regions")
    True
    """
    return frozenset(phrases(address))


@cache
def pairs(address: str) -> Mapping[str, str]:
    """Return a list of `form=value` entries as a mapping; a form alone is its own value.

    >>> pairs("entities/places.cities")["nyc"], pairs("entities/places.cities")["boston"]
    ('new york', 'boston')
    """
    split = (entry.partition("=") for entry in phrases(address))
    return {form: value or form for form, _, value in split}


@cache
def texts(address: str) -> Mapping[str, str]:
    """Return a table of texts by key, in the order of the file.

    >>> list(texts("links/dependence.han"))
    ['pointing', 'going_on', 'report', 'fresh']
    """
    return {key: str(value).strip("\n") for key, value in _table(address).items()}


@cache
def tables(address: str) -> Mapping[str, Mapping[str, str]]:
    """Return a table of tables of texts, in the order of the file.

    >>> tables("language/phrasebooks")["de"]["said"]
    '{} sagte:'
    """
    return {key: texts(f"{address}.{key}") for key in _table(address)}


@cache
def numbers(address: str) -> Mapping[str, float]:
    """Return a table of numbers by key, in the order of the file.

    >>> numbers("entities/cues.place_words")["near"]
    2.0
    """
    return {key: _number(value, address) for key, value in _table(address).items()}


@cache
def lines(address: str) -> tuple[str, ...]:
    """Return a list whose order counts: an array of texts, or the lines of one.

    >>> lines("entities/times.weekdays")[0].split()[0]
    'monday'
    """
    value = _at(address)
    if isinstance(value, str):
        return tuple(value.strip().splitlines())
    if isinstance(value, Mapping | float | int):
        raise KeyError(f"{address!r} is no list")
    return tuple(map(str, value))


def _table(address: str) -> Mapping[str, Value]:
    value = _at(address)
    if not isinstance(value, Mapping):
        raise KeyError(f"{address!r} is no table")
    return value


def _number(value: Value, address: str) -> float:
    if not isinstance(value, float | int):
        raise KeyError(f"{address!r} holds what is no number")
    return value
