"""The words of the house: a class has a name of its own, a name says what is meant, and one idea has one word."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from builders.sources import SOURCE, trees

ROOT = Path(__file__).parents[2]
WORDS = ROOT / "docs" / "internals" / "words.md"

# They say nothing: where a name is all there is to read, it is the noun. Comprehensions may use them.
VAGUE = frozenset(["found", "one", "told", "said", "heard", "kept", "given", "wanted", "whole", "wholes"])
MOST_VAGUE_LOCALS = 0

# Words of the table's right column that name nothing else in this house. The others there ("event", "window") are
# good words for something else, and no test can tell.
REFUSED = {
    "odds": "probability",
    "chance": "probability",
    "usual": "baseline",
    "habits": "baseline",
    "crowd": "disentanglement",
    "voices": "attribution",
    "twin": "section",
    "stay": "visit",
    "curtain": "visibility",
    "care": "visibility",
    "tidy": "clean_name",
}
STORED = {
    "JSON of answers and reports": {"Resegmented.kept", "Undone.kept", "Learned.said"},
    "values of a column": {"TimeSource.GIVEN"},
}
EXCEPTIONS = frozenset().union(*STORED.values())


class Name(NamedTuple):
    """A name that others see: of a module, class, function, parameter or field; `place` tells where it stands."""

    kind: str
    name: str
    place: str


Scope = tuple[str, ...]


def _names(node: ast.AST, scope: Scope, inside: str) -> Iterator[Name]:
    for child in ast.iter_child_nodes(node):
        place = ".".join(scope)
        if isinstance(child, ast.ClassDef):
            yield Name("class", child.name, place)
            yield from _names(child, (*scope, child.name), "class")
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield Name("function", child.name, place)
            yield from _names(child, (*scope, child.name), "function")
        elif isinstance(child, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp | ast.Lambda):
            yield from _names(child, scope, "comprehension")
        elif isinstance(child, ast.arg):
            if inside != "comprehension":
                yield Name("parameter", child.arg, place)
        elif isinstance(child, ast.Attribute) and isinstance(child.ctx, ast.Store):
            yield Name("field", child.attr, place)
        elif isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            kinds = {"class": "field", "module": "constant", "function": "local"}
            if inside in kinds:
                yield Name(kinds[inside], child.id, place)
        else:
            yield from _names(child, scope, inside)


@cache
def names() -> list[Name]:
    """Every name of the package."""
    collected: list[Name] = []
    for path, tree in trees().items():
        module = path.relative_to(SOURCE).with_suffix("")
        collected += [Name("module", part, str(module)) for part in module.parts if part != "__init__"][-1:]
        collected += _names(tree, (str(module).replace("/", "."),), "module")
    return collected


def tokens(name: str) -> list[str]:
    """Return the words of a name, in small letters."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_").split("_")


def owned(name: Name) -> str:
    """Return a name behind that of its class or function."""
    return f"{name.place.rpartition('.')[2]}.{name.name}"


def test_no_two_classes_have_the_same_name() -> None:
    counted = Counter(n.name.lstrip("_") for n in names() if n.kind == "class")
    # wiring's are the engine's own, which also know how to open a store
    assert {name for name, count in counted.items() if count > 1} == {"AsyncMemory", "Memory"}


def test_no_name_that_others_see_says_nothing() -> None:
    seen = (n for n in names() if n.kind != "local" and n.name.lower().strip("_") in VAGUE)
    assert [n for n in seen if owned(n) not in EXCEPTIONS] == []


def test_local_names_say_what_they_hold() -> None:
    vague = [n for n in names() if n.kind == "local" and n.name.lower().strip("_") in VAGUE]
    assert len(vague) <= MOST_VAGUE_LOCALS, vague


def test_a_word_that_gave_way_to_another_names_nothing_any_more() -> None:
    seen = (n for n in names() if n.kind != "local" and set(tokens(n.name)) & REFUSED.keys())
    assert [n for n in seen if owned(n) not in EXCEPTIONS] == []


@pytest.mark.parametrize("word", sorted(REFUSED))
def test_what_is_refused_stands_in_the_table_of_words(word: str) -> None:
    rows = [
        line.split("|") for line in WORDS.read_text(encoding="utf-8").splitlines() if line.startswith("| ")
    ]
    refusing = [row for row in rows if re.search(rf"\b{word}\b", row[-2])]
    assert any(REFUSED[word] in row[2] for row in refusing), f"{word}: {REFUSED[word]}"


@pytest.mark.parametrize("name", sorted(EXCEPTIONS))
def test_every_exception_is_still_one(name: str) -> None:
    assert name in {owned(n) for n in names()}
