"""Fixtures of the end-to-end tests: a real memory on a temporary file, deterministic in every part."""

import gc
import json
import linecache
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from builders.chats import USER, Clock, diary
from builders.commands import Outcome, Run
from builders.examples import FAST
from builders.originals import Originals, Story
from hypothesis import settings
from stores.postgres_server import bare_url, citus, citus_url, login, postgres, postgres_url

from episodic_agent import Memory
from episodic_agent.core.sections.triggers import SectionLimits
from episodic_agent.engine.facts import coming as quoting_job
from episodic_agent.engine.sections import bounds as parting
from episodic_agent.engine.sections import job as compacting
from episodic_agent.faces.cli.main import main
from episodic_agent.stores.sqlite import SqliteStore

KEPT = ("EPISODIC_CACHE", "EPISODIC_TEST_")  # where the model is, and what steers the tests themselves
POLICY = "seed-001"  # its cuts follow from gaps and lengths alone while no model answers
OpenMemory = Callable[..., Memory]
After = Callable[..., None]
settings.load_profile(FAST)  # --hypothesis-profile=full, which the slow suite names, comes after this
IN_MEMORY = Path("/dev/shm")  # a disk in memory, on every Linux
STORES = Path(__file__).parent / "stores"
EVERY = 12  # of a module's tests on both stores, how many-th the fast suite runs on a server too
ROOM = 2 * 2**30  # bytes to be free there; a run of the fast suite takes a tenth of that
__all__ = ["bare_url", "citus", "citus_url", "login", "postgres", "postgres_url"]  # fixtures of every test


def pytest_configure() -> None:
    """Keep the tests' files in memory: half their time they would wait for a disk (TMPDIR chooses another).

    Nor does the collector look for garbage while tests are collected: there is none yet.
    """
    gc.disable()
    if "TMPDIR" in os.environ or not os.access(IN_MEMORY, os.W_OK | os.X_OK):
        return
    if shutil.disk_usage(IN_MEMORY).free > ROOM:
        os.environ["TMPDIR"] = tempfile.tempdir = str(IN_MEMORY)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave to the slow suite what proves on a server again what a file proves, but for a share of large modules.

    What the stores themselves do (`tests/stores`) is tried on both in the fast suite.
    """
    seen = Counter[Path]()
    for item in items:
        parameters = (
            item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
        )
        if parameters.get("url") == "postgres" and STORES not in item.path.parents:
            seen[item.path] += 1
            if seen[item.path] % EVERY:
                item.add_marker(pytest.mark.slow)


def pytest_collection_finish() -> None:
    """Let the collector pass over thousands of tests that live as long as the process: no garbage is there.

    And let it look seldom: every 700 objects, as it would, cost a tenth of a test's time. Nor are the lines of
    the modules kept that doctests were collected from: each doctest would ask again whether any of those files
    has changed.
    """
    gc.enable()
    gc.collect()
    gc.freeze()
    gc.set_threshold(200_000, 20, 20)
    linecache.clearcache()


@pytest.fixture(autouse=True, scope="session")
def _no_settings_from_outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        # No test asks anybody by https: reading whom this machine trusts costs each client twenty milliseconds.
        patch.setenv("SSL_CERT_DIR", str(tmp_path_factory.mktemp("nobody-trusted")))
        patch.delenv("SSL_CERT_FILE", raising=False)
        for name in [n for n in os.environ if n.startswith("EPISODIC_") and not n.startswith(KEPT)]:
            patch.delenv(name)
        for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "OTEL_EXPORTER_OTLP_ENDPOINT"):
            patch.delenv(name, raising=False)
        patch.setenv("EPISODIC_USER", USER)  # whose memory a command means that names nobody
        patch.setenv("EPISODIC_CALIBRATION", "none")  # what somebody fitted on this machine must not matter
        yield


@pytest.fixture(autouse=True)
def _no_key_refused_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget which keys were refused: a later test's server may get the port of an earlier one's."""
    http = sys.modules.get("episodic_agent.providers.openai_http")
    if http is not None:
        monkeypatch.setattr(http, "refusals", http.Refusals())


@pytest.fixture
def unending_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no part of a thread be full or old, for tests that count jobs of other kinds."""
    endless = SectionLimits(turns=1_000_000, age=timedelta(days=100_000))
    for module in (parting, compacting):
        monkeypatch.setattr(module, "MESSAGES", endless)


@pytest.fixture
def nothing_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no message ask for a job of its own, for tests that count jobs of other kinds."""
    monkeypatch.setattr(quoting_job, "may_teach", lambda *_: False)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture(scope="session")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that was made ready once, as the databases of a server are: making one is most of an opening."""
    path = tmp_path_factory.mktemp("ready") / "memory.db"
    SqliteStore(path).close()
    return path


@pytest.fixture
def empty(database: Path, ready: Path) -> Path:
    """The test's own file, made ready and with nothing in it: for tests that are about no new file."""
    shutil.copy(ready, database)
    return database


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, database: Path, ready: Path) -> str:
    """The URL of a fresh, empty database: a test that takes it runs once on each store."""
    if request.param == "sqlite":
        shutil.copy(ready, database)
        return f"sqlite:///{database}"
    return str(request.getfixturevalue("postgres_url"))


@pytest.fixture
def open_memory(database: Path, clock: Clock, ready: Path) -> Iterator[OpenMemory]:
    """Open memories (the same file unless `path` names another); all are closed at the end."""
    with ExitStack() as stack:

        def opened(path: Path | None = None, **parts: Any) -> Memory:
            chosen = {"embedder": "hashing", "policy": POLICY, "clock": clock, **parts}
            place = path or database
            if isinstance(place, Path) and not place.exists():
                shutil.copy(ready, place)
            return stack.enter_context(Memory.open(place, **chosen))

        yield opened


@pytest.fixture(scope="session")
def originals(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Originals:
    folder = tmp_path_factory.mktemp("originals")
    return Originals(folder, lambda: request.getfixturevalue("postgres"))


@pytest.fixture
def after(originals: Originals, database: Path, clock: Clock) -> After:
    """Fill the test's database, or the fresh one at `url`, with what a story leaves that was told once."""

    def filled(story: Story, *, url: str | None = None, **parts: Any) -> None:
        chosen = {"embedder": "hashing", "policy": POLICY, **parts}
        originals.copy(story, url or f"sqlite:///{database}", clock, **chosen)

    return filled


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    return open_memory()


@pytest.fixture(scope="session")
def _import_of_a_chat(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("imported")
    chat = folder / "chat.jsonl"
    chat.write_text("".join(json.dumps(message) + "\n" for message in diary()), encoding="utf-8")
    with suppress(SystemExit):
        main([*options_of(folder / "memory.db"), "import", str(chat), "--user", "ana"])
    return folder / "memory.db"


@pytest.fixture
def imported(_import_of_a_chat: Path, database: Path) -> Path:
    """The test's own file with what the command's import of a chat leaves, told once."""
    shutil.copy(_import_of_a_chat, database)
    return database


def options_of(db: object, embedder: str = "hashing") -> list[str]:
    return ["--db", str(db), "--embedder", embedder, "--policy", POLICY]


@pytest.fixture
def no_file_yet() -> None:
    """Let the first command of a test make the file: it, or that there is none, is what the test is about."""


@pytest.fixture
def run(
    capsys: pytest.CaptureFixture[str], database: Path, ready: Path, request: pytest.FixtureRequest
) -> Run:
    """Run the command in this process, on the test's own file with the hashing embedder."""
    makes_it = "no_file_yet" in request.fixturenames

    def command(*arguments: object, db: object = database, embedder: str = "hashing") -> Outcome:
        if not makes_it and db == database and not database.exists():
            shutil.copy(ready, database)
        values = [*options_of(db, embedder), *map(str, arguments)]
        code = 0
        capsys.readouterr()
        try:
            main(values)
        except SystemExit as leave:
            code = leave.code if isinstance(leave.code, int) else 1
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return command
