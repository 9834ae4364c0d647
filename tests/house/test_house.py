"""The house rules that no linter holds: sizes, arrows' exceptions, where the world may be touched."""

import ast
import re
import statistics
import tomllib
from functools import cache
from pathlib import Path
from typing import get_type_hints

import pytest
from builders.sources import FILES, SOURCE, trees

from episodic_agent.protocols import Transaction
from episodic_agent.stores.catalogue import OUTSIDE, POSTGRES, SQLITE, StoredTable

ROOT = Path(__file__).parents[2]
LONGEST_FILE, LONGEST_FUNCTION, MOST_PARAMETERS, MOST_FILES = 700, 60, 6, 20
MOST_AGGREGATES, MOST_METHODS, LARGEST_PORT = 6, 15, 90
MOST_PUBLIC = 20  # methods of a class, with those it inherits
LOCKS = ("constraints.txt", "constraints-base.txt", "constraints-build.txt", "constraints-docs.txt")
FRAMEWORKS = {  # lock: the extras it installs, for `make test-adapters`
    "constraints-adapters.txt": "langgraph langchain openai-agents pydantic-ai llama-index agent-framework",
    "constraints-crewai.txt": "crewai",
}


def relative(path: Path) -> str:
    return str(path.relative_to(SOURCE))


@cache
def functions() -> list[tuple[Path, ast.FunctionDef | ast.AsyncFunctionDef]]:
    return [
        (path, node)
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def test_no_file_is_over_seven_hundred_lines_and_the_median_is_small() -> None:
    sizes = {relative(p): p.read_text(encoding="utf-8").count("\n") for p in FILES}
    assert {n: s for n, s in sizes.items() if s > LONGEST_FILE} == {}
    assert statistics.median(sizes.values()) <= 250  # an idea whole; more would be several


def test_no_folder_holds_more_than_twenty_files() -> None:
    folders = [path for path in (SOURCE, *SOURCE.rglob("*")) if path.is_dir()]
    sizes = {relative(folder): len(list(folder.glob("*.py"))) for folder in folders}
    assert {name: size for name, size in sizes.items() if size > MOST_FILES} == {}


def test_no_file_beside_the_package_is_over_seven_hundred_lines() -> None:
    files = [path for folder in ("tests", "benchmarks", "tools") for path in (ROOT / folder).rglob("*.py")]
    sizes = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8").count("\n") for path in files}
    assert {name: size for name, size in sizes.items() if size > LONGEST_FILE} == {}


def test_no_function_is_over_sixty_lines_and_the_median_is_short() -> None:
    sizes = {f"{relative(p)}:{f.name}": (f.end_lineno or 0) - f.lineno + 1 for p, f in functions()}
    assert {n: s for n, s in sizes.items() if s > LONGEST_FUNCTION} == {}
    assert statistics.median(sizes.values()) <= 12


def test_no_class_has_more_than_twenty_public_methods() -> None:
    classes = {
        node.name: node
        for tree in trees().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }

    def public(node: ast.ClassDef) -> set[str]:
        own = {one.name for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)}
        bases = [classes.get(getattr(base, "id", "")) for base in node.bases]
        inherited = [public(base) for base in bases if base is not None and base is not node]
        return {name for name in own.union(*inherited) if not name.startswith("_")}

    counts = {name: len(public(node)) for name, node in classes.items()}
    # what the tables of a store share is no face: its tables alone meet it
    assert {name for name, count in counts.items() if count > MOST_PUBLIC} == {"PostgresSession"}


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
    # jobs of any kind; somebody else's detector; somebody else's world: whatever they raise, we go on in order;
    # a coding agent's turn: whatever fails in a hook of ours, the agent goes on
    allowed = {
        "engine/jobs/runner.py",
        "core/boundary/steps/custom.py",
        "agents/run.py",
        "faces/hooks/running.py",
        "providers/embedders/encoder/reading.py",  # the library of tokenizers raises nothing narrower
    }
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
    # ONNX Runtime and the hub's client are spoken to by the environment alone
    spoken_to = {f"providers/embedders/minilm/{name}.py" for name in ("runtime", "hub")}
    assert readers <= {"settings.py", "wiring/process.py", "wiring/providers.py", *spoken_to}


def test_onnx_runtime_is_imported_only_where_it_is_silenced_first() -> None:
    folders = ("src", "benchmarks", "tools", "tests")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    importing = re.compile(r"^\s*(?:import|from) onnxruntime\b|importorskip\([\"']onnxruntime", re.MULTILINE)
    guilty = {path.name for path in files if importing.search(path.read_text(encoding="utf-8"))}
    assert guilty == {"runtime.py"}


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


def test_only_two_files_print() -> None:
    # what is stored was written by others: they show what would act on a terminal; no command may forget it
    printing = {"print", "echo", "secho", "Console", "Progress"}
    of_click = {*printing, "echo_via_pager", "confirm", "prompt"}
    guilty = set()
    for path, tree in trees().items():
        for node in ast.walk(tree):
            called = node.func if isinstance(node, ast.Call) else None
            owner = getattr(called, "value", None)
            name = getattr(called, "attr", getattr(called, "id", ""))
            own = isinstance(called, ast.Name) and name in printing
            click = getattr(owner, "id", "") in {"click", "rich"} and name in of_click
            if own or click or (name == "write" and getattr(owner, "attr", "") in {"stdout", "stderr"}):
                guilty.add(relative(path))
    assert guilty <= {"faces/cli/saying.py", "faces/cli/printing.py"}


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
    allowed = {"wiring/process.py"}
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


def methods(protocol: type) -> set[str]:
    """What a protocol asks for, inherited ones counted."""
    return {
        name
        for kind in protocol.__mro__
        if kind.__module__.startswith("episodic_agent.")
        for name in vars(kind)
        if not name.startswith("_")
    }


def test_the_port_of_a_store_is_a_few_aggregates_of_a_few_methods() -> None:
    read = {name: member.fget for name, member in vars(Transaction).items() if isinstance(member, property)}
    aggregates = {name: get_type_hints(one)["return"] for name, one in read.items() if name != "scope"}
    sizes = {name: len(methods(protocol)) for name, protocol in aggregates.items()}
    assert len(sizes) <= MOST_AGGREGATES
    assert {name: size for name, size in sizes.items() if size > MOST_METHODS} == {}
    assert sum(sizes.values()) <= LARGEST_PORT
    assert len(methods(Transaction) - set(read)) <= MOST_METHODS


def test_the_engine_and_the_core_ask_collaborators_for_declared_members_only() -> None:
    # A member by its name in quotes is one no protocol names: declare it (`Preloading`, `Resuming`).
    guilty = [
        f"{relative(path)}:{call.lineno}"
        for path, tree in trees().items()
        if relative(path).split("/")[0] in ("core", "engine")
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id in ("getattr", "hasattr")
        and isinstance(name := call.args[1], ast.Constant)
        and not str(name.value).startswith("__")
    ]
    assert guilty == []


def test_a_private_name_of_a_module_is_used_in_it() -> None:
    guilty = [
        f"{relative(path)}: {name}"
        for path, tree in trees().items()
        for node in tree.body
        for name in (
            [node.name]
            if isinstance(node, ast.FunctionDef | ast.ClassDef)
            else [
                target.id
                for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
                if isinstance(target, ast.Name)
            ]
            if isinstance(node, ast.Assign | ast.AnnAssign)
            else []
        )
        if re.match("_[^_]", name) and len(re.findall(rf"\b{name}\b", path.read_text(encoding="utf-8"))) == 1
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
    names = ["pyproject.toml", "Makefile", *LOCKS, *FRAMEWORKS, "README.md", ".ci/run"]
    texts = [ROOT / n for n in names if (ROOT / n).exists()] + FILES
    assert [str(p) for p in texts if hosts.search(p.read_text(encoding="utf-8"))] == []


LOCKED = re.compile(
    r"([A-Za-z0-9._-]+)==[^ ]+(?: ; [^\\]+)? \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)"
)


def locked(lock: str) -> set[str]:
    """Return the packages of a lock, every one of which must be pinned and have its hashes."""
    text = re.sub(r"^#.*\n", "", (ROOT / lock).read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert LOCKED.sub("", text) == ""
    return {name.lower().replace("_", "-") for name, _ in LOCKED.findall(text)}


def test_setup_installs_by_hashes_alone_whatever_the_project_names() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups = project["dependency-groups"]
    users = [*project["project"]["dependencies"], *project["project"]["optional-dependencies"]["plot"]]
    developers = [line for line in groups["dev"] if isinstance(line, str)]
    builds = {*groups["build"], *project["build-system"]["requires"]}
    site = groups["docs"]
    for lock, needs in zip(LOCKS, ([*users, *developers, *builds], users, builds, site), strict=True):
        names = {re.split(r"[\[<>=]", line)[0].lower() for line in needs}
        assert names - locked(lock) == set(), f"{lock} is older than pyproject.toml"
    for line in (ROOT / "Makefile").read_text(encoding="utf-8").splitlines():
        if "pip install" in line and not re.match(r"(DOCS_)?PIP :=", line):
            pytest.fail(f"installs around the locks: {line}")
        if line.startswith("\t") and re.search(r"\$\((DOCS_)?PIP\)", line):
            assert "--require-hashes" in line or "--no-index" in line


@pytest.mark.parametrize("lock", FRAMEWORKS)
def test_frameworks_are_installed_by_hashes_alone_whatever_their_extras_name(lock: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    needs = [line for extra in FRAMEWORKS[lock].split() for line in extras[extra]]
    needs += [line for line in project["dependency-groups"]["adapters"] if isinstance(line, str)]
    names = {re.split(r"[\[<>=]", line)[0].lower() for line in [*needs, *project["project"]["dependencies"]]}
    assert names - locked(lock) == set(), f"{lock} is older than pyproject.toml"


def test_every_adapter_has_its_extra_and_its_test_against_the_real_framework() -> None:
    shared = {"__init__", "needing", "history"}
    adapters = {path.stem for path in (SOURCE / "adapters").glob("*.py")} - shared
    assert adapters == {extra.replace("-", "_") for extras in FRAMEWORKS.values() for extra in extras.split()}
    tested = {path.stem.removeprefix("test_") for path in (ROOT / "tests" / "adapters").glob("test_*.py")}
    assert adapters <= tested


def test_the_demo_installs_a_part_of_what_developers_get() -> None:
    texts = [
        (ROOT / lock).read_text(encoding="utf-8") for lock in ("constraints-base.txt", "constraints.txt")
    ]
    part, whole = ({found[0].split()[0]: found[2] for found in LOCKED.finditer(text)} for text in texts)
    assert [package for package, hashes in part.items() if whole.get(package) != hashes] == []
    assert len(part) < len(whole) / 2


TABLES = re.compile(r"^CREATE TABLE (?:IF NOT EXISTS )?(\w+)", re.MULTILINE)
DROPPED = re.compile(r"^DROP TABLE (\w+)", re.MULTILINE)
RENAMED = re.compile(r"^ALTER TABLE (\w+) RENAME TO (\w+)", re.MULTILINE)


@pytest.mark.parametrize(("store", "catalogue"), [("sqlite", SQLITE), ("postgres", POSTGRES)])
def test_forgetting_knows_every_table_a_store_has(store: str, catalogue: tuple[StoredTable, ...]) -> None:
    # A table that is missing here would outlive its user: say in stores/catalogue.py whose its rows are.
    made: set[str] = set()
    for path in sorted((SOURCE / "stores" / store / "migrations").glob("*.sql")):
        script = path.read_text(encoding="utf-8")
        made |= set(TABLES.findall(script))
        made -= set(DROPPED.findall(script))
        renamed = RENAMED.findall(script)
        made = (made - {name for name, _ in renamed}) | {name for _, name in renamed}
    named = [kept.table for kept in catalogue]
    assert len(named) == len(set(named))
    assert made - set(OUTSIDE) == set(named)
