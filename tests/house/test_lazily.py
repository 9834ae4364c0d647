"""Late imports stand in the open: what runs and what the type checker reads name the same things."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from builders.sources import FILES, SOURCE, text_of, tree_of


def name_of(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def call_of(node: ast.AST, function: str) -> ast.Call | None:
    """Return the call where a statement assigns what this function of `lazily` returns."""
    value = getattr(node, "value", None) if isinstance(node, ast.Assign) else None
    named = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == function
    return value if named and isinstance(value, ast.Call) else None


def checked(tree: ast.Module) -> list[tuple[list[ast.stmt], list[ast.stmt]]]:
    """Return (what the type checker reads, what runs) of every such choice at the top of a module."""
    return [
        (node.body, node.orelse)
        for node in tree.body
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    ]


def users(function: str) -> list[Path]:
    """Return the files that assign what a function of `lazily` returns; asked for at every collection."""
    naming = [path for path in FILES if path.name != "lazily.py" and f" = {function}(" in text_of(path)]
    return [path for path in naming if any(call_of(node, function) for node in ast.walk(tree_of(path)))]


@pytest.mark.parametrize("path", users("names_from"), ids=name_of)
def test_a_room_hands_on_exactly_the_names_the_type_checker_sees(path: Path) -> None:
    package, ((read, run),) = name_of(path), checked(tree_of(path))
    imports = {(node.module, a.name) for node in read if isinstance(node, ast.ImportFrom) for a in node.names}
    (call,) = (call for node in run if (call := call_of(node, "names_from")))
    table = ast.literal_eval(call.args[1])
    full = {home: home if "." in home else f"{package}.{home}" for home in table}
    assert {(full[home], name) for home, names in table.items() for name in names.split()} == imports


@pytest.mark.parametrize("path", users("names_from"), ids=name_of)
def test_no_name_a_room_hands_on_is_that_of_a_module_in_it(path: Path) -> None:
    # importing the module would put it where the name was
    modules = {p.stem for p in path.parent.glob("*.py")} | {
        p.name for p in path.parent.iterdir() if p.is_dir()
    }
    ((read, _),) = checked(tree_of(path))
    names = {alias.name for node in read if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert names & modules == set()


@pytest.mark.parametrize("path", users("module"), ids=name_of)
def test_what_stands_for_a_module_is_imported_for_the_type_checker_too(path: Path) -> None:
    imports, standing = set(), set()
    for read, run in checked(tree_of(path)):
        for node in read:
            if isinstance(node, ast.ImportFrom):
                imports |= {(a.asname or a.name, f"{node.module}.{a.name}") for a in node.names}
            elif isinstance(node, ast.Import):
                imports |= {(a.asname or a.name, a.name) for a in node.names}
        for node in run:
            if (call := call_of(node, "module")) and isinstance(node, ast.Assign):
                standing.add((ast.unparse(node.targets[0]), ast.literal_eval(call.args[0])))
    assert standing <= imports
    everywhere = [node for node in ast.walk(tree_of(path)) if call_of(node, "module")]
    assert len(everywhere) == len(standing)  # at the top of the file, nowhere else


def test_imports_run_in_no_circle_not_even_one_of_late_imports_and_types() -> None:
    modules = {name_of(path): path for path in FILES}
    imports: dict[str, set[str]] = {}
    for name, path in modules.items():
        froms = [node for node in ast.walk(tree_of(path)) if isinstance(node, ast.ImportFrom) and node.module]
        pairs = [(node.module or "", f"{node.module}.{alias.name}") for node in froms for alias in node.names]
        imports[name] = {full if full in modules else room for room, full in pairs} - {name}
    TopologicalSorter(imports).prepare()  # its error names the modules of a circle
