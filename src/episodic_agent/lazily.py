"""Imports that wait for their first use: the only ways this package has to import late.

Opening a memory needs a fifth of its modules; loading all of them takes longer than most commands work.
A room's `__init__` re-exports names with `names_from`: importing one loads the module that defines it and no
other. Who needs a module in few of its calls holds it with `module`. Beside either stands the ordinary
import under TYPE_CHECKING, which type checker and import linter read; a house test compares the two.
"""

import gc
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, ForwardRef


def load(name: str) -> Any:
    """Return a module by its whole name; ImportError as the import raises it.

    Imports make hardly any garbage, and looking for some takes a sixth of their time.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        return import_module(name)
    finally:
        if enabled:
            gc.enable()


class _Waiting:
    """Stands for a module until one of its names is asked for, and hands them on from then on."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._module: Any = None

    def __getattr__(self, name: str) -> Any:
        if self._module is None:  # two threads at once load it once: imports have their own lock
            self._module = load(self._name)
        return getattr(self._module, name)

    def __repr__(self) -> str:
        return f"<module {self._name!r}, loaded at its first use>"


def module(name: str) -> Any:
    """Return what stands for a module (its whole name) and loads it at its first use."""
    return _Waiting(name)


def late_type(text: str, where: str) -> Any:
    """Return what stands for a type in annotations; who evaluates them finds its names in the module `where`.

    A type alias is an expression that runs: without this, every noun with a vector in it would load numpy.
    """
    return ForwardRef(text, module=where)


def names_from(package: str, table: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package that re-exports names: by module, its names with spaces between.

    A module of the package is written without the package's own name. No re-exported name may be that of a
    module in the package: importing that module would take its place.
    """
    homes = {
        name: home if "." in home else f"{package}.{home}"
        for home, names in table.items()
        for name in names.split()
    }

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(load(homes[name]), name)

    return find
