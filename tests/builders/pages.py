"""What the pages hold: blocks of code, links, headings, words."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
INTERNALS = sorted((DOCS / "internals").glob("*.md"))
USER_PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
PAGES = [*USER_PAGES, ROOT / "CONTRIBUTING.md", *INTERNALS]
PORT = "8765"  # what a page's server listens at; here it is another each time
SECONDS = 120  # longest a block may take

_BLOCK = re.compile(r"^( *)```(\w+)([^\n]*)\n(.*?)^\1```[ ]*$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced piece of a page: its language, what stands behind that (`mark`), and its text."""

    page: Path
    line: int
    language: str
    mark: str
    text: str

    @property
    def name(self) -> str:
        """Say where it stands, as a test is called by it."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks_of(page: Path, *languages: str) -> Iterator[Block]:
    """Yield the blocks of a page in these languages, in order."""
    text = page.read_text(encoding="utf-8")
    for found in _BLOCK.finditer(text):
        indent, language, mark, body = found.groups()
        if language in languages:
            line = text.count("\n", 0, found.start()) + 1
            yield Block(
                page, line, language, mark.strip(), re.sub(rf"^{indent}", "", body, flags=re.MULTILINE)
            )


def prose_of(page: Path) -> str:
    """Return a page without its blocks."""
    return _BLOCK.sub("", page.read_text(encoding="utf-8"))


def anchors_of(page: Path) -> set[str]:
    """Return what the headings of a page are linked by."""
    headings = re.findall(r"^#+ (.*)$", prose_of(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", words.lower()).replace(" ", "-") for words in headings}


def free_port() -> int:
    """Return a port of this machine that nobody listens at."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def environment(home: Path, model_server: str) -> dict[str, str]:
    """Return a newcomer's environment: an empty home, no setting, and a language model's server."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("EPISODIC_", "OPENAI_"))}
    path = f"{Path(sys.executable).parent}{os.pathsep}{inherited.get('PATH', '')}"
    served = {"OPENAI_BASE_URL": model_server, "OPENAI_API_KEY": "sk-of-a-test"}
    return {**inherited, "PATH": path, "HOME": str(home), "EPISODIC_EMBEDDER": "hashing", **served}


def run_block(
    block: Block, folder: Path, model_server: str, commands: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run one block by itself in a folder; what it left running in the background is ended.

    Commands that lie in a folder `commands` are taken before those that are installed.
    """
    around = environment(folder, model_server)
    if commands is not None:
        around["PATH"] = f"{commands}{os.pathsep}{around['PATH']}"
    script = block.text.replace(PORT, str(free_port()))
    shell = ["bash", "-euo", "pipefail", "-c", script]
    command = shell if block.language == "bash" else [sys.executable, "-c", script]
    running = subprocess.Popen(
        command, cwd=folder, env=around, text=True, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=(folder / ".out").open("w"), stderr=(folder / ".err").open("w"),
    )  # fmt: skip
    try:
        code = running.wait(SECONDS)
    finally:
        with suppress(ProcessLookupError):  # nothing was left running
            os.killpg(running.pid, signal.SIGTERM)
    texts = [(folder / name).read_text(encoding="utf-8", errors="replace") for name in (".out", ".err")]
    return subprocess.CompletedProcess(command, code, *texts)
