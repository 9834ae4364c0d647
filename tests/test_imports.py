"""What users import: every name has a docstring, is typed, and is all that the verbs return."""

import ast
import inspect
import subprocess
import sys
import types
import typing
from collections.abc import Iterator
from pathlib import Path

import pytest

import episodic_agent
from episodic_agent.core.boundary.contract import Policy
from episodic_agent.engine.async_memory import is_room
from episodic_agent.engine.memory import Memory

SOURCE = Path(episodic_agent.__file__)
NAMES = [name for name in episodic_agent.__all__ if name != "__version__"]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_imports_and_says_what_it_is(name: str) -> None:
    value = getattr(episodic_agent, name)
    assert value.__name__ == name
    assert (value.__doc__ or "").strip()
    assert not (value.__doc__ or "").startswith(f"{name}(")  # which a dataclass writes by itself


def test_what_is_typed_what_is_listed_and_what_is_loaded_are_the_same() -> None:
    tree = ast.parse(SOURCE.read_text(encoding="utf-8"))
    (typed,) = (node for node in tree.body if isinstance(node, ast.If))
    imported = {
        alias.name: node.module
        for node in typed.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert imported == episodic_agent._MODULES
    assert set(NAMES) == set(imported)
    assert dir(episodic_agent) == sorted(episodic_agent.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        _ = episodic_agent.Nothing


def test_an_error_is_caught_without_loading_the_engine() -> None:
    code = (
        "import sys; from episodic_agent import NotFound\n"
        "print([n for n in sys.modules if n.startswith(('numpy', 'episodic_agent.engine', 'episodic_agent.core'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def classes(hint: object) -> Iterator[type]:
    """Yield the classes of this package that stand in a type."""
    for inner in typing.get_args(hint):
        yield from classes(inner)
    if inspect.isclass(hint) and hint.__module__.startswith("episodic_agent"):
        yield hint


def verbs(owner: object) -> Iterator[tuple[str, types.MethodType]]:
    """Yield the public verbs of a memory, and those of the rooms it leads to."""
    for name, member in inspect.getmembers(owner):
        if name.startswith("_"):
            continue
        if inspect.ismethod(member):
            yield f"{type(owner).__name__}.{name}", member
        elif is_room(member):
            yield from verbs(member)


def test_every_type_that_a_verb_returns_is_importable(memory: Memory) -> None:
    public = {getattr(episodic_agent, name) for name in NAMES}
    pairs = [*verbs(memory), *verbs(memory.user("ana", new=True))]
    missing = {
        (verb, kind.__name__)
        for verb, method in pairs
        for kind in classes(typing.get_type_hints(method, localns={"Policy": Policy}).get("return"))
        if kind not in public
    }
    assert missing == set()
    assert len(pairs) > 90
