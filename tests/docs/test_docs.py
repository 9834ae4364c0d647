"""The pages run: every block of code by itself, in an empty folder with an empty home; links lead somewhere."""

import re
import shlex
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import cached_property
from pathlib import Path

import click
import pytest
from builders.pages import (
    DOCS,
    INTERNALS,
    PAGES,
    PORT,
    ROOT,
    SECONDS,
    USER_PAGES,
    Block,
    anchors_of,
    blocks_of,
    environment,
    free_port,
    prose_of,
    run_block,
)
from command_reference import reference

import episodic_agent
from benchmarks import lives
from benchmarks.lives import KillServer
from docs import command_child
from episodic_agent import UserMemory
from episodic_agent.faces.cli.main import SHARED, cli
from episodic_agent.schemas import Json
from episodic_agent.settings import Settings
from episodic_agent.testing import serving

MANY = 1  # commands; each is a process: blocks with more, and with a service, are run by the slow suite only
WORDS = 15_000
RUN_HERE = {("bash", ""), ("python", ""), ("bash", "serve")}
OTHERS = {"pip", "make", "docker", "export", "claude", "codex", "psql", "createdb"}  # of other programs
OTHERS |= {"pg_dump", "pg_dumpall", "pg_restore"}

PROGRAMS = [block for page in PAGES for block in blocks_of(page, "bash", "python")]
BLOCKS = [block for block in PROGRAMS if (block.language, block.mark) in RUN_HERE]
SHOWN = [block for page in PAGES for block in blocks_of(page, "console")]


def is_long(block: Block) -> bool:
    """Tell whether the slow suite alone runs a block: it takes seconds, or is of the inside; none of the first page."""
    if block.page.name == "README.md":
        return False
    return (
        block.page in INTERNALS
        or " serve " in block.text
        or len(re.findall(r"^\s*(?:\w+=\$\()?episodic ", block.text, re.MULTILINE)) > MANY
    )


def reply(prompt: str) -> Mapping[str, Json]:
    """Answer as a model would that understands every question a little."""
    return {"title": "A talk", "summary": "They talked.", "answer": "I have noted it."}


@pytest.fixture(scope="module")
def model_server() -> Iterator[str]:
    with serving(reply) as server:
        yield server.url


@pytest.fixture(scope="module")
def imported() -> Iterator[KillServer]:
    with lives.serving("docs.block_child", plan="run", die={"seconds": SECONDS}) as server:
        yield server


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with command_child.serving(tmp_path_factory.mktemp("commands")) as folder:
        yield folder


def assert_it_runs(server: KillServer, block: Block, folder: Path, model_server: str) -> None:
    """Run Python in a process that has imported what every block imports: most of its time would be that."""
    inside = folder / "here"
    inside.mkdir()
    (folder / "block.py").write_text(block.text.replace(PORT, str(free_port())), encoding="utf-8")
    files = {name: str(folder / name) for name in ("out", "err")}
    life = server.live(
        file=str(folder / "block.py"),
        folder=str(inside),
        environment=environment(inside, model_server),
        **files,
    )
    said = "".join(Path(file).read_text(encoding="utf-8") for file in files.values())
    assert (life.ended, life.word("done")) == (0, True), said


@pytest.mark.parametrize(
    "block", [pytest.param(b, marks=pytest.mark.slow if is_long(b) else (), id=b.name) for b in BLOCKS]
)
def test_a_block_runs_by_itself(
    block: Block, tmp_path: Path, model_server: str, imported: KillServer, request: pytest.FixtureRequest
) -> None:
    """Short blocks start the command that is installed; the many commands of long ones are forks of one."""
    if block.language == "python":
        assert_it_runs(imported, block, tmp_path, model_server)
        return
    if "curl" in block.text and shutil.which("curl") is None:
        pytest.skip("curl is not here: the block was not run")
    commands = request.getfixturevalue("commands") if is_long(block) else None
    done = run_block(block, tmp_path, model_server, commands)
    assert done.returncode == 0, done.stdout + done.stderr
    if " serve " in block.text:  # what a page asks a server is answered, and with no problem
        assert '"problem' not in done.stdout
        assert done.stdout.strip()


@pytest.mark.parametrize("text", ["raise SystemExit(2)", "import nothing_of_that_name"])
def test_a_block_of_python_that_fails_is_noticed(
    text: str, tmp_path: Path, model_server: str, imported: KillServer
) -> None:
    block = Block(DOCS / "none.md", 1, "python", "", text)
    with pytest.raises(AssertionError):
        assert_it_runs(imported, block, tmp_path, model_server)


@pytest.mark.slow
def test_a_block_of_commands_that_fails_is_noticed(tmp_path: Path, model_server: str, commands: Path) -> None:
    block = Block(
        DOCS / "none.md", 1, "bash", "", "episodic add hello --user ana\nepisodic tea\nepisodic stats"
    )
    done = run_block(block, tmp_path, model_server, commands)
    assert (done.returncode, "tea" in done.stderr) == (2, True)
    assert done.stdout.count("\n") == 1


def test_a_block_is_marked_only_with_what_runs_it_elsewhere() -> None:
    """tests/adapters runs blocks where their framework is installed, and the clients' page has its own test."""
    marked = [block for block in PROGRAMS if block not in BLOCKS]
    assert {block.page.name for block in marked if block.mark != "serve"} == {"adapters.md"}
    assert {block.page.name for block in marked if block.mark == "serve"} == {"clients.md"}


def test_no_block_of_a_page_is_skipped() -> None:
    languages = {"bash", "python", "js", "console", "json", "text"}
    marks = {"", "serve", *project()["optional-dependencies"]}
    fences = {
        f"{page.relative_to(ROOT)}: {fence}"
        for page in PAGES
        for fence in re.findall(r"^ *```(\S.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
        if fence.split()[0] not in languages or " ".join(fence.split()[1:]) not in marks
    }
    assert fences == set()


# --- what is shown and not run: the commands exist ---------------------------------------------------------


def shown_commands() -> list[tuple[str, list[str]]]:
    return [
        (f"{block.name} {line}", shlex.split(line[2:], comments=True))
        for block in SHOWN
        for line in block.text.splitlines()
        if line.startswith("$ ")
    ]


def project() -> Mapping[str, Mapping[str, list[str]]]:
    about: Mapping[str, Mapping[str, list[str]]] = tomllib.loads(
        (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    )["project"]
    return about


def complaint(words: list[str]) -> str:
    """Say what is wrong with a command that a page shows; "" where nothing is."""
    match words:
        case ["make", *targets]:
            known = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
            return ", ".join(t for t in targets if "=" not in t and t not in known)
        case ["pip", *rest]:
            extras = {e for word in rest for e in re.findall(r"(?:episodic-agent|\.)\[([^]]*)\]", word)}
            named = {e for extra in extras for e in extra.split(",")}
            return ", ".join(sorted(named - set(project()["optional-dependencies"])))
        case ["export", *settings]:
            names = [setting.partition("=")[0] for setting in settings]
            own = {f"EPISODIC_{field.name.upper()}" for field in fields(Settings)}
            return ", ".join(name for name in names if name.startswith("EPISODIC_") and name not in own)
        case ["docker", "compose", *_]:
            return "" if (ROOT / "docker-compose.yml").is_file() else "no docker-compose.yml"
        case ["episodic", *rest]:
            return complaint_of_episodic(rest)
    return "" if words[0] in OTHERS else f"{words[0]} is no command that pages show"


def complaint_of_episodic(words: list[str]) -> str:
    command: click.Command = cli
    known = {*SHARED, "--help"}
    rest = iter(words)
    for word in rest:
        if word in OF_VALUE:
            next(rest)
        elif word.startswith("--"):
            known |= {name for parameter in command.params for name in parameter.opts}
            if word.partition("=")[0] not in known:
                return f"no option {word}"
        elif isinstance(command, click.Group):
            found = command.get_command(click.Context(command), word)
            if found is None and not command.invoke_without_command:
                return f"no command {word}"
            command = found or command
    return ""


OF_VALUE = {name for name, (value, _) in SHARED.items() if value}


@pytest.mark.parametrize(("where", "words"), [pytest.param(w, c, id=w) for w, c in shown_commands()])
def test_a_command_that_is_shown_exists(where: str, words: list[str]) -> None:
    assert complaint(words) == "", where


@pytest.mark.parametrize(
    "command",
    [
        "make tea",
        "pip install episodic-agent[tea]",
        "pip install .[tea]",
        "export EPISODIC_TEA=1",
        "episodic tea",
        "episodic --db x add --tea",
    ],
)
def test_a_command_that_does_not_exist_is_noticed(command: str) -> None:
    assert complaint(shlex.split(command)) != ""


# --- links ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    lost = []
    for target, anchor in re.findall(r"\]\(([^)#:\s]*)(?:#([^)]*))?\)", prose_of(page)):
        other = (page.parent / target).resolve() if target else page
        if not other.exists():
            lost.append(target)
        elif anchor and other.suffix == ".md" and anchor not in anchors_of(other):
            lost.append(f"{target}#{anchor}")
    assert lost == []


# --- what the pages have to say ------------------------------------------------------------------------------


def test_users_have_at_most_fifteen_thousand_words_to_read() -> None:
    reference = re.compile(r"^:::.*\n(?: +.*\n)*", re.MULTILINE)  # a docstring stands here in its place
    counts = {page.name: len(reference.sub("", prose_of(page)).split()) for page in USER_PAGES}
    assert sum(counts.values()) <= WORDS, counts
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120


def test_pages_for_users_name_no_founding_document_and_no_inside() -> None:
    """The pages of `docs/internals` tell of both; `seed` for random numbers is another word."""
    told = [
        f"{page.name}: {word}"
        for page in USER_PAGES
        if page.name != "http.md"  # whose routes are called by one
        for word in re.findall(r"\b[Ss]eeds? ?-?\d{3}\b|founding|\b\w+-202\d-\d\d\b", prose_of(page))
    ]
    assert told == []


def test_every_setting_is_documented() -> None:
    text = (DOCS / "configuration.md").read_text(encoding="utf-8")
    assert [f.name for f in fields(Settings) if f"EPISODIC_{f.name.upper()}" not in text] == []


def test_the_python_reference_has_every_public_name() -> None:
    text = (DOCS / "api.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^::: episodic_agent\.(\w+)$", text, re.MULTILINE))
    assert listed == {name for name in episodic_agent.__all__ if not name.startswith("_")}
    rooms = {name for name, value in vars(UserMemory).items() if isinstance(value, cached_property)}
    assert rooms - set(re.findall(r"^### (\w+)$", text, re.MULTILINE)) == set()


def test_the_navigation_of_the_site_has_every_page() -> None:
    named = set(
        re.findall(r": ([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    )
    there = {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")}
    assert there == named


def test_the_reference_of_commands_has_all_of_them() -> None:
    written = "\n".join(reference())
    missing = [name for name in cli.commands if f"\n#### episodic {name}\n" not in written]
    assert (missing, "#### episodic facts pin" in written) == ([], True)
    assert "<!-- commands:" in (DOCS / "cli.md").read_text(encoding="utf-8")


def test_every_extra_is_documented() -> None:
    text = (DOCS / "configuration.md").read_text(encoding="utf-8")
    assert [extra for extra in project()["optional-dependencies"] if f"`{extra}`" not in text] == []


def test_the_changelog_lists_every_command() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    (listed,) = re.findall(r"- Command line: ([^.]*)\.", text)
    assert sorted(re.split(r",\s+", listed)) == sorted(cli.commands)


@pytest.mark.parametrize("page", INTERNALS, ids=lambda p: p.name)
def test_pages_of_the_inside_name_only_rooms_that_exist(page: Path) -> None:
    source = ROOT / "src" / "episodic_agent"
    rooms = "core|engine|stores|faces|providers|sensors|tools|tests|benchmarks"
    named = re.findall(rf"`((?:{rooms})/[\w/.]*)`", page.read_text(encoding="utf-8"))
    missing = [n for n in named if not (source / n).exists() and not (ROOT / n).exists()]
    assert missing == []
    assert len(named) > 10 or page.name != "tour.md"


@pytest.mark.slow
def test_the_glossary_explains_ten_words() -> None:
    text = (DOCS / "glossary.md").read_text(encoding="utf-8")
    assert len(re.findall(r"^\| \*\*", text, re.MULTILINE)) == 10
