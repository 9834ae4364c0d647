"""What the beginning of a file shows: the keys of its JSON, which may break off anywhere."""

import json
import re
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

_TOKEN: Final = re.compile(r'\s*(?:([{}\[\]:,])|"((?:[^"\\]|\\.)*)"|([^\s{}\[\]:,"]+))', re.DOTALL)
_DEEPEST: Final = 6  # levels whose keys tell formats apart
_LONGEST_WORD: Final = 40  # characters of a value that may be a kind ("session_meta"), and no text
_SHOWN: Final = 8


@dataclass(frozen=True, slots=True)
class Glimpse:
    """The beginning of a file.

    `paths` are the keys of its JSON, dots between levels and `[]` for the elements of a list
    ("[].mapping"); `words` are short strings by their path. `name` is the file's path in its folder.
    """

    name: str
    text: str
    paths: frozenset[str]
    words: Mapping[str, frozenset[str]]

    def has(self, *paths: str) -> bool:
        """Tell whether all of these keys are there, at the top or in the elements of a list at the top."""
        return any(all(prefix + path in self.paths for path in paths) for prefix in ("", "[]."))

    def says(self, path: str, *words: str) -> bool:
        """Tell whether a key holds one of these words, at the top or in the elements of a list."""
        return any(self.words.get(prefix + path, frozenset()) & {*words} for prefix in ("", "[]."))

    @property
    def shape(self) -> str:
        """Say what the JSON is: "a JSON object with the keys a, b, c"."""
        top = sorted({path for path in self.paths if not re.search(r"[.\[]", path)})
        inner = sorted({path[3:] for path in self.paths if re.fullmatch(r"\[\]\.[^.\[]+", path)})
        if top:
            return f"a JSON object with the keys {_listed(top)}"
        if inner:
            return f"a JSON list of objects with the keys {_listed(inner)}"
        return "a JSON list without objects"


def glimpse(name: str, text: str) -> Glimpse:
    """Look at the first characters of a file.

    >>> seen = glimpse("a.json", '[{"title": "Tea", "mapping": {"a": {"id": "a", "mess')
    >>> seen.has("title", "mapping"), sorted(seen.paths)
    (True, ['[].mapping', '[].mapping.a', '[].mapping.a.id', '[].title'])
    """
    paths: set[str] = set()
    words: dict[str, set[str]] = defaultdict(set)
    if text.lstrip()[:1] in ("{", "["):
        _scan(text, paths, words)
    return Glimpse(name, text, frozenset(paths), {path: frozenset(held) for path, held in words.items()})


def _scan(text: str, paths: set[str], words: dict[str, set[str]]) -> None:
    holders: list[tuple[str, str]] = []  # the signs and paths of the open objects and lists
    key: str | None = None
    at = 0
    while match := _TOKEN.match(text, at):
        at = match.end()
        sign, string, _ = match.groups()
        holder, inside = holders[-1] if holders else ("", "")
        names = holder == "{" and key is None and text[at:].lstrip()[:1] == ":"
        if string is not None and names:
            key = _unescaped(string)
            if len(holders) <= _DEEPEST:
                paths.add(_join(inside, key))
        elif string is not None:
            if len(string) <= _LONGEST_WORD and key is not None:
                words[_join(inside, key)].add(string)
            key = None
        elif sign in ("{", "["):
            path = inside if key is None else _join(inside, key)
            holders.append((sign, path + "[]" if sign == "[" else path))
            key = None
        elif sign in ("}", "]"):
            key = None
            if holders:
                holders.pop()
        elif sign == ",":
            key = None


def _unescaped(key: str) -> str:
    """Return a key as it is meant: programs write other letters than English ones as escapes."""
    with suppress(ValueError):
        return str(json.loads(f'"{key}"'))
    return key


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
