"""The package's files as syntax trees, parsed once in a process: the house tests read them from many sides."""

import ast
import gc
from collections.abc import Mapping
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "episodic_agent"
FILES = sorted(SOURCE.rglob("*.py"))


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(text_of(path))


@cache
def trees() -> Mapping[Path, ast.Module]:
    """Return all of them; the collector, which would look through millions of nodes again and again, does not."""
    gc.disable()
    try:
        return {path: tree_of(path) for path in FILES}
    finally:
        gc.freeze()
        gc.enable()
