"""The list of commands, which imports none of them; options before and after a command; completion."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from builders.commands import Outcome, Run

from episodic_agent.faces.cli import printing
from episodic_agent.faces.cli.main import EVERYDAY, GROUPS, HELPS, cli, main
from episodic_agent.faces.cli.printing import ProgressLines

NINE = ["add", "import", "search", "context", "episodes", "facts", "explain", "serve", "doctor"]


def test_the_list_of_commands_says_what_each_says_of_itself() -> None:
    assert {name: cli.commands[name].get_short_help_str(200) for name in cli.commands} == HELPS


def test_the_help_begins_with_nine_everyday_commands_and_groups_the_others(run: Run) -> None:
    assert GROUPS[EVERYDAY].split() == NINE
    listed = [name for names in GROUPS.values() for name in names.split()]
    assert sorted(listed) == sorted(cli.commands)
    lines = run("--help").out.splitlines()
    headings = [line[:-1] for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert headings == ["Options", *GROUPS, "Exit codes"]
    assert all(len(line) <= 100 for line in lines)
    shown = [line.split()[0] for line in lines if line.startswith("  ") and line[2] not in " -"]
    assert [name for name in shown if name in cli.commands] == listed
    assert "130 interrupted" in " ".join(lines)


def _options(command: click.Command) -> Iterator[tuple[str, click.Option]]:
    for name in getattr(command, "commands", ()):
        inner = command.get_command(click.Context(command), name)  # type: ignore[attr-defined]
        yield from ((f"{name} {below}", option) for below, option in _options(inner))
    yield from (("", option) for option in command.params if isinstance(option, click.Option))


def test_each_command_that_writes_a_file_takes_the_short_name_of_its_option() -> None:
    writing = {name.strip(): option for name, option in _options(cli) if "--output" in option.opts}
    assert {"export", "arc", "demo"} <= writing.keys()
    assert [name for name, option in writing.items() if "-o" not in option.opts] == []


def test_facts_alone_lists_them(run: Run) -> None:
    run("add", "I live in Lisbon and I am a nurse", "--user", "ana")
    listed = run("facts", "list", "--user", "ana", "--json").json
    assert len(listed["facts"]) > 0
    assert run("facts", "--user", "ana", "--json").json == listed
    assert run("facts", "--category", "goal", "--user", "ana", "--json").json == {"facts": []}
    assert "no such command 'lst'" in run("facts", "lst").error
    assert "Commands:" in run("facts", "--help").out


@pytest.mark.slow
@pytest.mark.parametrize("group", ["jobs", "link", "keys", "session", "retention"])
def test_a_group_alone_lists_or_shows_what_it_is_about(run: Run, group: str) -> None:
    run("add", "I live in Lisbon and I am a nurse", "--user", "ana")
    alone = run(group)
    told = alone.out + alone.err
    assert (alone.code, "Usage" in told) == (0, False)
    assert told.strip(), "what is empty is said"
    assert run(group, "--json").out.startswith(("{", "["))


Call = Callable[..., Outcome]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """Run a command with nothing but what the test writes, unlike `run`."""

    def called(*words: object) -> Outcome:
        capsys.readouterr()
        code: object = 0
        try:
            main([*map(str, words)])
        except SystemExit as leave:
            code = leave.code
        return Outcome(code if isinstance(code, int) else 1, *capsys.readouterr())

    return called


OPTIONS = ["--policy", "seed-001", "--embedder", "none", "--llm", "none", "--calibration", "none", "--json"]


@pytest.mark.parametrize("after", [0, 2, 4, 6, 8, 10, 11])
def test_options_of_opening_stand_before_and_after_a_command(call: Call, tmp_path: Path, after: int) -> None:
    options = ["--db", tmp_path / "chosen.db", *OPTIONS]
    settings = call(*options[:after], "config", *options[after:]).json["settings"]
    assert settings["db"] == str(tmp_path / "chosen.db")
    assert (settings["policy"], settings["embedder"], settings["llm"]) == ("seed-001", "none", "none")
    call(*options[:after], "add", "hello", *options[after:])
    assert (tmp_path / "chosen.db").exists()


@pytest.mark.parametrize("place", [0, 1, 2])
def test_options_stand_between_the_names_of_two_commands(call: Call, tmp_path: Path, place: int) -> None:
    opening = ["--db", tmp_path / "memory.db", "--embedder", "none"]
    call("add", "I live in Lisbon and I am a nurse", "--user", "ana", *opening)
    call("add", "I live in Porto", "--user", "bo", *opening)
    names = ["facts", "list"]
    listed = call(*names[:place], *opening, "--user", "bo", "--json", *names[place:]).json
    assert "Porto" in str(listed["facts"])
    assert "Lisbon" not in str(listed["facts"])
    assert "no user 'cleo'" in call(*names[:place], *opening, "--user", "cleo", *names[place:]).error


def test_what_stands_after_the_command_wins_and_its_own_meaning_of_a_name_goes_first(
    call: Call, tmp_path: Path
) -> None:
    opening = ["--db", tmp_path / "memory.db", "--embedder", "none"]
    call(*opening, "--user", "ana", "add", "hello", "--user", "bo")
    assert call(*opening, "stats", "--json").json["users"] == ["bo"]
    assert call(*opening, "--policy", "seed-001", "search", "hello", "--policy", "seed-003").code == 0
    assert "no recall policy" in call(*opening, "search", "hello", "--policy", "seed-001").error


def test_what_means_nothing_to_a_command_is_refused_wherever_it_stands(call: Call) -> None:
    for words in (["serve", "--user", "ana"], ["--user", "ana", "serve"], ["--json", "serve"]):
        assert "`episodic serve` takes no --" in call(*words).error


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_commands_and_options(tmp_path: Path, shell: str) -> None:
    def ask(instruction: str, **more: str) -> str:
        environment = {**os.environ, **more, "_EPISODIC_COMPLETE": f"{shell}_{instruction}"}
        command = [sys.executable, "-m", "episodic_agent"]
        return subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment
        ).stdout

    if shell == "bash" and shutil.which("bash") is None:
        pytest.skip("click asks bash for its version")
    assert "_EPISODIC_COMPLETE" in ask("source")
    if shell == "bash":
        assert "plain,search" in ask("complete", COMP_WORDS="episodic sea", COMP_CWORD="1").split()
        asked = ask("complete", COMP_WORDS="episodic search --emb", COMP_CWORD="2")
        assert asked.split() == []  # what every command takes is listed by `episodic --help` alone
        assert "plain,--thread" in ask("complete", COMP_WORDS="episodic search --th", COMP_CWORD="2").split()


def test_long_work_without_a_terminal_says_every_ten_seconds_how_far_it_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    seconds = iter([0.0, 3.0, 10.0, 19.0, 21.0])
    progress = ProgressLines("importing chat.jsonl", 100, lambda: next(seconds))
    for done in (12, 40, 76, 84):
        progress(done)
    assert capsys.readouterr().err.splitlines() == [
        "importing chat.jsonl: 40 of 100, 4 a second, 15 s left",
        "importing chat.jsonl: 84 of 100, 4 a second, 4 s left",
    ]


def test_an_import_and_an_evaluation_know_how_much_there_is(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(printing, "EVERY", 0.0)  # a line for every report instead of one in ten seconds
    chat = tmp_path / "chat.jsonl"
    chat.write_text('{"role": "user", "content": "hello"}\n' * 3, encoding="utf-8")
    assert "importing chat.jsonl: 3 of 3, " in run("import", chat).err
    case = {"messages": [{"id": "1", "speaker": "a", "text": "hello"}], "questions": []}
    labelled = tmp_path / "ret.jsonl"
    labelled.write_text(json.dumps(case) + "\n", encoding="utf-8")
    assert "ret.jsonl: 1 of 1, " in run("evaluate", "retrieval", labelled).err
