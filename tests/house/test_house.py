"""The house rules that no linter holds: sizes, arrows' exceptions, where the world may be touched."""

import ast
import re
import statistics
from functools import cache
from pathlib import Path

import pytest

from episodic_agent.stores.catalogue import OUTSIDE, POSTGRES, SQLITE, Kept

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "episodic_agent"
FILES = sorted(SOURCE.rglob("*.py"))
LONGEST_FILE, LONGEST_FUNCTION, MOST_PARAMETERS = 700, 60, 6
GENERATED = {"weights.py"}  # plain arrays written by the training script


def relative(path: Path) -> str:
    return str(path.relative_to(SOURCE))


@cache
def trees() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in FILES}


@cache
def functions() -> list[tuple[Path, ast.FunctionDef | ast.AsyncFunctionDef]]:
    return [
        (path, node)
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def test_no_file_is_over_seven_hundred_lines_and_the_median_is_small() -> None:
    sizes = {relative(p): p.read_text(encoding="utf-8").count("\n") for p in FILES if p.name not in GENERATED}
    assert {n: s for n, s in sizes.items() if s > LONGEST_FILE} == {}
    assert statistics.median(sizes.values()) <= 150


def test_no_file_beside_the_package_is_over_seven_hundred_lines() -> None:
    files = [path for folder in ("tests", "benchmarks", "tools") for path in (ROOT / folder).rglob("*.py")]
    sizes = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8").count("\n") for path in files}
    assert {name: size for name, size in sizes.items() if size > LONGEST_FILE} == {}


def test_no_function_is_over_sixty_lines_and_the_median_is_short() -> None:
    sizes = {f"{relative(p)}:{f.name}": (f.end_lineno or 0) - f.lineno + 1 for p, f in functions()}
    assert {n: s for n, s in sizes.items() if s > LONGEST_FUNCTION} == {}
    assert statistics.median(sizes.values()) <= 12


def test_functions_take_at_most_six_positional_parameters() -> None:
    wide = {}
    for path, node in functions():
        if "faces/cli" in str(path):
            continue  # a command's parameters are its options
        count = len([a for a in (*node.args.posonlyargs, *node.args.args) if a.arg not in {"self", "cls"}])
        if count > MOST_PARAMETERS:
            wide[f"{relative(path)}:{node.name}"] = count
    assert wide == {}


def test_own_modules_are_imported_at_the_top_of_files_only() -> None:
    hidden = []
    for path, node in functions():
        for inner in ast.walk(node):
            if isinstance(inner, ast.ImportFrom) and (
                inner.level or (inner.module or "").startswith("episodic_agent")
            ):
                hidden.append(f"{relative(path)}:{inner.lineno}")
    assert hidden == []


def test_broad_excepts_stand_only_at_the_named_boundaries() -> None:
    # jobs of any kind; somebody else's detector; somebody else's world: whatever they raise, we go on in order
    allowed = {"engine/jobs.py", "core/boundary/steps/custom.py", "engine/running.py"}
    broad = {
        f"{relative(path)}"
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or getattr(node.type, "id", "") in {"Exception", "BaseException"})
    }
    assert broad <= allowed


def test_the_environment_is_read_only_by_the_door_frame() -> None:
    readers = {relative(p) for p in FILES if re.search(r"os\.environ|getenv", p.read_text(encoding="utf-8"))}
    assert readers <= {"settings.py", "wiring.py", "providers/minilm/weights.py"}


@pytest.mark.parametrize(
    "pattern",
    [
        r"\bdatetime\.now\(",
        r"\btime\.time\(",
        r"\bdate\.today\(",
        r"\bimport (?:random|secrets|logging|socket)\b",
    ],
)
def test_core_reads_no_clock_draws_no_randomness_and_writes_no_log(pattern: str) -> None:
    guilty = [
        relative(p)
        for p in FILES
        if p.is_relative_to(SOURCE / "core") and re.search(pattern, p.read_text(encoding="utf-8"))
    ]
    assert guilty == []


def test_core_opens_no_files() -> None:
    guilty = []
    for path, tree in trees().items():
        if not path.is_relative_to(SOURCE / "core"):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "open":
                guilty.append(relative(path))
    assert guilty == []


def test_the_engine_reads_the_clock_it_was_given() -> None:
    allowed = {"wiring.py"}
    readers = {
        relative(p)
        for p in FILES
        if re.search(r"datetime\.now\(|(?<!date)time\.time\(", p.read_text(encoding="utf-8"))
    }
    assert readers <= allowed


def test_core_and_interfaces_have_no_untyped_dictionaries() -> None:
    guilty = [
        relative(p)
        for p in FILES
        if p.is_relative_to(SOURCE / "core") and "dict[str, Any]" in p.read_text(encoding="utf-8")
    ]
    assert guilty == []


def test_tests_use_the_shipped_fakes_and_no_mocks() -> None:
    banned = ("unittest" + ".mock", "Magic" + "Mock", "mocker" + ".")
    guilty = [
        str(p)
        for p in (ROOT / "tests").rglob("*.py")
        if any(b in p.read_text(encoding="utf-8") for b in banned)
    ]
    assert guilty == []


def test_no_file_of_the_house_is_called_by_a_word_that_says_nothing() -> None:
    vague = {"utils.py", "util.py", "helpers.py", "common.py", "misc.py", "manager.py", "base.py"}
    assert [relative(p) for p in FILES if p.name in vague] == []


def test_no_tracked_text_names_a_registry_host() -> None:
    parts = (("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("debian", "org"))
    hosts = re.compile(
        "|".join(rf"{name}\.{end}\b" for name, end in parts)
    )  # in parts: this file is text too
    names = ["pyproject.toml", "Makefile", "constraints.txt", "README.md", ".ci/run"]
    texts = [ROOT / n for n in names if (ROOT / n).exists()] + FILES
    assert [str(p) for p in texts if hosts.search(p.read_text(encoding="utf-8"))] == []


TABLES = re.compile(r"^CREATE TABLE (?:IF NOT EXISTS )?(\w+)", re.MULTILINE)


@pytest.mark.parametrize(("store", "catalogue"), [("sqlite", SQLITE), ("postgres", POSTGRES)])
def test_forgetting_knows_every_table_a_store_has(store: str, catalogue: tuple[Kept, ...]) -> None:
    # A table that is missing here would outlive its user: say in stores/catalogue.py whose its rows are.
    scripts = (SOURCE / "stores" / store / "migrations").glob("*.sql")
    made = {name for script in scripts for name in TABLES.findall(script.read_text(encoding="utf-8"))}
    named = [kept.table for kept in catalogue]
    assert len(named) == len(set(named))
    assert made - set(OUTSIDE) == set(named)
