"""Words and numbers stand in data files, each with its row of provenance, and code reads them by address."""

import ast
import hashlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

from builders.sources import trees

import episodic_agent
from episodic_agent import data

SOURCE = Path(episodic_agent.__file__).parent
DATA = SOURCE / "data"
ROOT = SOURCE.parents[1]
MOST_WORDS, MOST_NUMBERS, MOST_FILES = 60, 40, 20
# Code that holds many words and is no list of them, and why.
CODE = {
    "core/facts/*.py": "the grammar of facts: rules and slots, to be replaced as a whole",
    "core/language/timewords.py": "the grammar of times: its words stand in its rules",
    "core/language/coming.py": "the grammar of days to come: patterns around lists of words",
    "core/recall/order.py": "the grammar of order: its number words stand in its rules",
    "core/prompts/*.py": "a prompt stands beside what reads its answer",
    "core/ingest/item.py": "the names that fields of foreign formats have",
    "core/episodes/times.py": "the grammar of relative times",
    "core/language/terms.py": "ranges of Unicode",
    "faces/cli/main.py": "the commands",
    "faces/verbs.py": "the routes",
    "faces/http/v1/asking.py": "the errors",
    "faces/client/calls.py": "what to do where there is no route",
    "faces/mcp/server.py": "what a client is told of the server",
    "faces/tools/table.py": "the tools and their schemas",
    "stores/catalogue.py": "the tables",
    "stores/tables/erasing.py": "the tables",
    "*__init__.py": "the names a room hands on",
    "stores/*/*.py": "SQL, and the messages of a database",
}
READERS = {
    "text",
    "listed_words",
    "phrases",
    "phrase_set",
    "pairs",
    "texts",
    "tables",
    "numbers",
    "number",
    "lines",
}
FIELDS = {"what", "made_by", "made_from", "made_on", "licence", "sha256"}


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path, tree in trees().items():
        if not path.is_relative_to(DATA):
            yield str(path.relative_to(SOURCE)), tree


def literals(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the outermost literals: containers, and texts that are no docstrings."""
    for inner in ast.iter_child_nodes(node):
        plain_text = isinstance(inner, ast.Constant) and isinstance(inner.value, str)
        if isinstance(inner, ast.List | ast.Tuple | ast.Set | ast.Dict | ast.JoinedStr) or plain_text:
            if not isinstance(node, ast.Expr):
                yield inner
        else:
            yield from literals(inner)


def weight(literal: ast.AST) -> tuple[int, int]:
    """Count words of two letters and more (a name with underscores is one), and numbers."""
    held = [node.value for node in ast.walk(literal) if isinstance(node, ast.Constant)]
    words = sum(len(re.findall(r"[^\W\d]{2,}", text)) for text in held if isinstance(text, str))
    return words, sum(isinstance(one, int | float) and not isinstance(one, bool) for one in held)


def test_no_module_holds_a_list_of_words_or_an_array_of_numbers() -> None:
    heavy: dict[str, tuple[int, int]] = {}
    for name, tree in modules():
        if not any(fnmatch(name, pattern) for pattern in CODE):
            for literal in literals(tree):
                words, numbers = weight(literal)
                if words > MOST_WORDS or numbers > MOST_NUMBERS:
                    heavy[f"{name}:{getattr(literal, 'lineno', 0)}"] = words, numbers
    assert heavy == {}, "lists of words and arrays belong to src/episodic_agent/data"


def test_every_exception_is_still_one() -> None:
    idle = []
    for pattern in CODE:
        trees = [tree for name, tree in modules() if fnmatch(name, pattern)]
        weights = [weight(literal) for tree in trees for literal in literals(tree)]
        if not any(words > MOST_WORDS or numbers > MOST_NUMBERS for words, numbers in weights):
            idle.append(pattern)
    assert idle == []


def files() -> dict[str, Path]:
    paths = (path for path in DATA.rglob("*") if path.is_file() and path.suffix not in {".py", ".pyc"})
    return {path.relative_to(DATA).as_posix(): path for path in paths if path.name != "PROVENANCE.toml"}


def test_every_data_file_has_its_row_of_provenance_and_is_what_the_row_says() -> None:
    rows = tomllib.loads((DATA / "PROVENANCE.toml").read_text(encoding="utf-8"))
    assert sorted(rows) == sorted(files()), "python tools/shipping.py"
    for name, path in files().items():
        row = rows[name]
        assert set(row) >= FIELDS, name
        assert all(row.values()), name
        assert row["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest(), f"{name}: tools/shipping.py"
        if row["made_by"] != "hand":
            assert (ROOT / row["made_by"]).is_file(), name
            assert re.fullmatch("[0-9a-f]{64}", row["maker_sha256"]), name


def test_no_folder_of_data_holds_more_than_twenty_files() -> None:
    folders = [path for path in [DATA, *DATA.rglob("*")] if path.is_dir()]
    counts = {str(path): sum(one.is_file() for one in path.iterdir()) for path in folders}
    assert {name: count for name, count in counts.items() if count > MOST_FILES} == {}


def test_word_lists_are_written_to_be_read_and_compared() -> None:
    for name, path in files().items():
        if path.suffix == ".toml":
            text = path.read_text(encoding="utf-8")
            assert text.startswith("# "), f"{name} begins with what it holds"
            assert not [line for line in text.splitlines() if line != line.rstrip() or "\t" in line], name


def addresses() -> Iterator[tuple[str, str, str]]:
    """Yield module, reader and address of every call that reads data by a plain address."""
    for name, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in READERS and node.args:
                first = node.args[0]
                if isinstance(first, ast.Constant) and re.match(r"\w+/\w+", str(first.value)):
                    yield name, getattr(node.func, "id", ""), first.value


def test_every_address_in_the_source_is_there() -> None:
    results = list(addresses())
    assert len(results) > 80
    for _, reader, address in results:
        assert getattr(data, reader)(address), address


def test_importing_the_package_reads_no_data() -> None:
    code = (
        "import sys\nopened = []\n"
        "sys.addaudithook(lambda event, told: opened.append(str(told[0])) if event == 'open' else None)\n"
        "import episodic_agent.wiring\nprint(*opened, sep='\\n')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    read = {Path(line) for line in done.stdout.splitlines() if Path(line).is_relative_to(DATA)}
    # the grammar of facts builds its rules when it is imported: it reads its own lists, and nothing else is read
    own = DATA / "facts"
    assert {path for path in read if path.suffix not in {".py", ".pyc"} and path.parent != own} == set()
