"""The documents run: their code blocks are executed, and they name every setting, command and word."""

import os
import re
import socket
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import click
import pytest

from episodic_agent.faces.cli.main import cli
from episodic_agent.settings import Settings

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
MANY = 2  # commands; each is a process, so pages with more are run by the slow suite only
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page: Path, language: str, mark: str = "") -> list[str]:
    """Return the code blocks of a page that carry just this mark: none, `skip` or `serve`."""
    results = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [body for kind, info, body in results if kind == language and info.strip() == mark]


def environment(folder: Path) -> dict[str, str]:
    binaries = Path(sys.executable).parent
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("EPISODIC_")}
    path = f"{binaries}{os.pathsep}{inherited.get('PATH', '')}"
    return {**inherited, "PATH": path, "EPISODIC_EMBEDDER": "hashing", "HOME": str(folder)}


def is_long(page: Path) -> bool:
    return sum(len(re.findall(r"^episodic ", block, re.MULTILINE)) for block in blocks(page, "bash")) > MANY


PROGRAMS = [page for page in PAGES if blocks(page, "bash") or blocks(page, "python")]


@pytest.mark.parametrize(
    "page", [pytest.param(p, marks=pytest.mark.slow if is_long(p) else (), id=p.name) for p in PROGRAMS]
)
def test_the_pages_blocks_run_from_top_to_bottom(page: Path, tmp_path: Path) -> None:
    shell = "\n".join(blocks(page, "bash"))
    python = "\n".join(blocks(page, "python"))
    for command in ([["bash", "-euo", "pipefail", "-c", shell]] if shell else []) + (
        [[sys.executable, "-c", python]] if python else []
    ):
        done = subprocess.run(
            command, cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


SERVED = [(page, block) for page in PAGES for block in blocks(page, "bash", "serve")]


@pytest.mark.parametrize(("page", "block"), SERVED, ids=[page.name for page, _ in SERVED])
def test_what_a_page_asks_a_server_is_answered(page: Path, block: str, tmp_path: Path) -> None:
    assert "8765" in block, page
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        script = block.replace("8765", str(free.getsockname()[1]))
    lines = script.replace("\\\n", "").splitlines()
    (starting,) = (line.removesuffix("&") for line in lines if line.endswith("&"))
    asking = [line for line in lines if not line.endswith("&")]
    with subprocess.Popen(
        ["bash", "-c", f"exec {starting}"], cwd=tmp_path, env=environment(tmp_path), stderr=subprocess.PIPE
    ) as server:
        try:
            for line in asking:
                done = subprocess.run(
                    ["bash", "-euo", "pipefail", "-c", line], cwd=tmp_path, env=environment(tmp_path),
                    capture_output=True, text=True, check=False, timeout=60,
                )  # fmt: skip
                assert (done.returncode, "problem" in done.stdout) == (0, False), done.stdout + done.stderr
                assert done.stdout.strip(), line  # an empty answer is what nobody wants to read of first
        finally:
            server.terminate()


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert [t for t in targets if not (page.parent / t).exists()] == []


def test_every_setting_is_documented() -> None:
    text = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    assert [f.name for f in fields(Settings) if f"EPISODIC_{f.name.upper()}" not in text] == []


def test_every_command_is_documented() -> None:
    text = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    names = list(cli.commands)
    for name, command in cli.commands.items():
        if isinstance(command, click.Group):
            names.extend(f"{sub}" for sub in command.commands)
        assert f"`{name}" in text, name
    assert [n for n in names if n not in text] == []


def test_the_changelog_lists_every_command() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    (listed,) = re.findall(r"- Command line: ([^.]*)\.", text)
    assert sorted(re.split(r",\s+", listed)) == sorted(cli.commands)


INTERNALS = sorted((ROOT / "docs" / "internals").glob("*.md"))


@pytest.mark.parametrize("page", INTERNALS, ids=lambda p: p.name)
def test_pages_of_the_inside_name_only_rooms_that_exist(page: Path) -> None:
    source = ROOT / "src" / "episodic_agent"
    rooms = "core|engine|stores|faces|providers|sensors|tools|tests|benchmarks"
    named = re.findall(rf"`((?:{rooms})/[\w/.]*)`", page.read_text(encoding="utf-8"))
    missing = [n for n in named if not (source / n).exists() and not (ROOT / n).exists()]
    assert missing == []
    assert len(named) > 10 or page.name != "tour.md"


def test_the_glossary_explains_the_nouns_of_the_code() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    for word in (
        "Observation",
        "Thread",
        "Scope",
        "Episode",
        "Decision",
        "Boundary",
        "Cue",
        "Receipt",
        "Job",
    ):
        assert f"**{word}**" in text
