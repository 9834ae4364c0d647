"""Hooks of coding agents: written, shown and undone to the byte; run with each agent's own JSON."""

import io
import json
import os
import stat
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from builders.commands import Outcome, Run

from episodic_agent import Memory
from episodic_agent.faces.hooks import running
from episodic_agent.faces.hooks.agents import AGENTS
from episodic_agent.faces.hooks.events import project_of, read_event
from episodic_agent.faces.hooks.spool import Spool

RECORDED = Path(__file__).parents[1] / "data" / "hooks"
PROMPT = "The login test is flaky because the clock is mocked in the wrong place"
THEIRS = '{"model": "opus",\n "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}'
Hook = Callable[..., Outcome]
DETACH = running.detach  # what starts a process; most tests note the command instead


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder and a cache of the test's own: the user's settings are not touched."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("EPISODIC_CACHE", str(tmp_path / "cache"))
    return folder


@pytest.fixture(autouse=True)
def begun(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    """Note what a hook would start beside the agent: a process for each event is a second of work."""
    commands: list[Sequence[str]] = []
    monkeypatch.setattr(running, "detach", commands.append)
    return commands


@pytest.fixture
def hook(run: Run, begun: list[Sequence[str]], monkeypatch: pytest.MonkeyPatch) -> Hook:
    """Run a hook as an agent does, its JSON on standard input, and keep what then waits."""

    def called(event: dict[str, Any] | str, agent: str = "claude-code", *, kind: str = "Stop") -> Outcome:
        text = event if isinstance(event, str) else json.dumps(event)
        name = kind if isinstance(event, str) else event["hook_event_name"]
        monkeypatch.setattr("sys.stdin", stdin(text))
        outcome = run("hooks", "run", name, "--agent", agent, "--user", "ana")
        for command in begun:
            assert run(*command).code == 0
        begun.clear()
        assert run("hooks", "keep", "--user", "ana").code == 0
        return outcome

    return called


def stdin(text: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(text.encode()), encoding="ascii")


def recorded(agent: str, folder: Path, session: str | None = None) -> list[dict[str, Any]]:
    """Return the events of one session as an agent hands them over, the transcript's path put in."""
    transcript = folder / "transcript.jsonl"
    transcript.write_text("{}\n")
    lines = (RECORDED / f"{agent}.jsonl").read_text(encoding="utf-8").splitlines()
    events = [json.loads(line.replace('"TRANSCRIPT"', json.dumps(str(transcript)))) for line in lines]
    return [event | ({"session_id": session} if session else {}) for event in events]


NOW = datetime(2026, 3, 2, tzinfo=UTC)


def settings_of(agent: str, home: Path) -> Path:
    return AGENTS[agent].file(home)


# --- the events ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prompt", "topic"),
    [
        ("The login test is flaky, it fails one time in five. We use pytest-randomly and xdist.", "The login test is flaky, it fails one time in five"),
        ("Hi. Why does the login test fail one time in five? It did not before the release of May.", "Hi. Why does the login test fail one time in five?"),
        ("make the " + "very " * 20 + "long line short", "make the " + "very " * 13 + "very…"),
        ("fix the bug\nin the login", "fix the bug"),
    ],
)  # fmt: skip
def test_the_topic_of_a_session_is_a_line_or_a_sentence_and_says_where_it_is_cut(
    prompt: str, topic: str
) -> None:
    event = read_event(
        "claude-code",
        "UserPromptSubmit",
        json.dumps({"session_id": "s", "prompt": prompt}),
        NOW,
        largest=1_000,
    )
    assert event.topic == topic


@pytest.mark.parametrize("agent", AGENTS)
def test_a_session_is_kept_once_and_the_next_one_is_told_of_it(
    agent: str, run: Run, hook: Hook, tmp_path: Path
) -> None:
    events = recorded(agent, tmp_path)
    named = [event for event in events if "turn_id" in event or "tool_use_id" in event or event is events[4]]
    for event in [*events[:4], *named, events[4]]:  # what the agent has a name for comes twice
        outcome = hook(event, agent)
        assert (outcome.code, outcome.err) == (0, "")
        assert outcome.out == ""  # nothing is remembered before
    (session,) = run("session", "list", "--user", "ana", "--json").json["sessions"]
    assert session["state"] == "closed"
    assert session["topic"] == PROMPT
    assert session["agent_id"] == agent
    shown = run("search", "why is the login test flaky: the clock", "--user", "ana").out
    assert "clock" in shown
    assert run("stats", "--user", "ana", "--json").json["observations"] == 3
    begun, asked = recorded(agent, tmp_path, "another")[:2]
    answer = json.loads(hook(begun, agent).out)["hookSpecificOutput"]
    assert answer["hookEventName"] == "SessionStart"
    assert "What was done last in shop:" in answer["additionalContext"]
    assert "<recalled-memory>" in answer["additionalContext"]
    asked["prompt"] = "Where was the clock of the login test mocked?"
    answer = json.loads(hook(asked, agent).out)["hookSpecificOutput"]
    assert answer["hookEventName"] == "UserPromptSubmit"
    assert "clock" in answer["additionalContext"]
    assert set(answer) == {"hookEventName", "additionalContext"}  # Codex refuses what it does not know


def test_a_hook_starts_a_process_that_keeps_what_waits(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "detach", DETACH)
    monkeypatch.setattr("sys.stdin", stdin(json.dumps(recorded("claude-code", tmp_path)[1])))
    assert run("hooks", "run", "UserPromptSubmit", "--user", "ana").code == 0
    deadline = time.monotonic() + 60
    while [*tmp_path.glob("cache/hooks/*/*.json")] and time.monotonic() < deadline:
        time.sleep(0.02)
    assert run("stats", "--user", "ana", "--json").json["observations"] == 1


@pytest.mark.slow
def test_what_is_said_again_in_the_same_words_is_kept_again(run: Run, hook: Hook, tmp_path: Path) -> None:
    _, asked, used, stopped, _ = recorded("claude-code", tmp_path)
    del asked["transcript_path"], used["tool_use_id"]
    for _ in range(3):
        for event in (asked, used, stopped):
            hook(event)
    assert run("stats", "--user", "ana", "--json").json["observations"] == 9


def test_an_event_that_was_kept_and_waits_again_is_kept_once(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever keeps it may die before its file is gone."""
    monkeypatch.setattr("sys.stdin", stdin(json.dumps(recorded("claude-code", tmp_path)[2])))
    run("hooks", "run", "PostToolUse", "--user", "ana")
    asked = recorded("claude-code", tmp_path)[1]
    spool = Spool(next((tmp_path / "cache" / "hooks").iterdir()), ())
    spool.put(read_event("claude-code", "UserPromptSubmit", json.dumps(asked), NOW, largest=1_000), 1)
    waiting = {path: path.read_bytes() for path in spool.folder.glob("*.json")}
    assert run("hooks", "keep", "--user", "ana").out == "2 kept\n"
    for path, text in waiting.items():
        path.write_bytes(text)
    assert run("hooks", "keep", "--user", "ana").out == "2 kept\n"
    assert run("stats", "--user", "ana", "--json").json["observations"] == 2


@pytest.mark.slow
def test_a_text_that_no_memory_takes_is_kept_without_its_middle(
    run: Run, hook: Hook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EPISODIC_MESSAGE_BYTES", "5000")
    _, asked, used, stopped, _ = recorded("claude-code", tmp_path)
    log = "Why does the build fail?\n" + "naïve error\n" * 1_000 + "exit code 3"
    for event in (
        asked | {"prompt": log},
        used | {"tool_input": [{"line": n} for n in range(2_000)], "tool_response": ["y" * 2_000] * 9},
        stopped | {"last_assistant_message": log},
    ):
        outcome = hook(event)
        assert (outcome.code, outcome.err) == (0, "")
    kept = [json.loads(line) for line in run("export", "--user", "ana").out.splitlines()]
    texts = [one["text"] for one in kept if one.get("text", "").startswith("Why does the build fail?")]
    assert len(texts) == 2
    for text in texts:
        assert text.endswith("exit code 3")
        assert "characters were left out here; a message holds 5,000 bytes …]" in text
    assert run("stats", "--user", "ana", "--json").json["observations"] == 3
    assert "last error" not in run("hooks", "status").out


@pytest.mark.slow
def test_a_session_that_ends_closes_its_thread_and_takes_in_nothing_else(
    run: Run, hook: Hook, tmp_path: Path, database: Path
) -> None:
    begun, asked, *_, ended = recorded("claude-code", tmp_path)
    hook(ended)  # nothing was said: there is no thread to close
    for event in (begun, asked, ended):
        hook(event)
    hook(asked | {"session_id": "goes on", "cwd": "/home/ana/blog"})
    run("add", "Dentist on Tuesday at 15:00", "--user", "ana")
    with Memory.open(database, embedder="hashing", resume=False) as memory:
        threads = memory.user("ana").threads.list()
    assert [(one.channels, one.status, one.turn_count) for one in threads] == [
        (("default",), "open", 1),
        (("/home/ana/blog",), "open", 1),
        (("/home/ana/shop",), "closed", 1),
    ]
    assert "left out" not in run("hooks", "status").out


# --- the project -----------------------------------------------------------------------------------------


def test_a_folder_is_of_the_repository_it_lies_in(tmp_path: Path, home: Path) -> None:
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    (tmp_path / "shop" / "backend").mkdir()
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / ".git").write_text("gitdir: elsewhere")
    (home / ".git").mkdir()  # who keeps their settings in a repository has other projects beside
    found = {
        place: project_of(str(place))
        for place in (tmp_path / "shop/backend/not there", tmp_path / "tree", home / "notes", home)
    }
    assert list(found.values()) == [
        str(tmp_path / "shop"),
        str(tmp_path / "tree"),
        str(home / "notes"),
        str(home),
    ]
    assert project_of(f"{tmp_path}/none/../alone/") == str(tmp_path / "alone")


@pytest.mark.slow
def test_a_session_is_told_the_last_request_and_answer_whole(run: Run, hook: Hook, tmp_path: Path) -> None:
    begun, asked, used, stopped, ended = recorded("claude-code", tmp_path)
    request = (
        "revert it. no retries on charge until we have idempotency keys. Tomás from payments will ask Klarna"
    )
    answer = (
        "Reverted in d00dfee and deployed. charge() has no retry now. "
        "Orders 88121 and 88127 must be refunded by hand."
    )
    hook(asked)
    hook(asked | {"prompt": request})
    hook(used)
    hook(stopped | {"last_assistant_message": answer})
    hook(ended)
    told = json.loads(hook(begun | {"cwd": "/home/ana/shop/"}).out)["hookSpecificOutput"]["additionalContext"]
    assert f"  last request: {request}\n  last answer: {answer}\n" in told
    hook(asked | {"session_id": "unanswered", "prompt": "x" * 900})
    told = json.loads(hook(begun).out)["hookSpecificOutput"]["additionalContext"]
    (line,) = (line for line in told.splitlines() if "last request" in line)
    assert 550 < len(line) < 650
    assert "last answer" not in told


@pytest.mark.slow
def test_a_prompt_is_told_of_its_project_and_of_what_is_of_none(run: Run, hook: Hook, tmp_path: Path) -> None:
    asked = recorded("claude-code", tmp_path)[1]
    hook(asked | {"prompt": "Pin the version of httpx to 0.27.2 in the lock file"})
    hook(asked | {"session_id": "b", "cwd": "/home/ana/blog", "prompt": "Pin the version of hugo to 0.126"})
    run("add", "The version of httpx at work is pinned by Odile", "--user", "ana", "--thread", "chat")
    question = "Which version of httpx and which version of hugo is pinned?"

    def told(folder: str, prompt: str = question) -> str:
        return hook(asked | {"session_id": f"asks in {folder}", "cwd": folder, "prompt": prompt}).out

    shop, other = told("/home/ana/shop"), told("/home/ana/elsewhere")
    assert ("0.27.2" in shop, "0.126" in shop, "Odile" in shop) == (True, False, True)
    assert ("0.27.2" in other, "0.126" in other, "Odile" in other) == (False, False, True)
    assert told("/home/ana/shop", "thanks, that is all") == told("/home/ana/shop", "Danke!") == ""


def test_how_to_answer_is_told_in_every_project_and_the_rules_of_one_in_it_alone(
    hook: Hook, tmp_path: Path
) -> None:
    asked = recorded("claude-code", tmp_path)[1]
    hook(asked | {"prompt": "please always answer short, no bullet lists"})
    hook(asked | {"session_id": "b", "prompt": "no pip in this repo please, we use uv for everything"})
    question = {"session_id": "c", "prompt": "Run the tests please"}
    own, other = (hook(asked | question | {"cwd": f"/home/ana/{name}"}).out for name in ("shop", "blog"))
    assert ("always answer short" in own, "no pip" in own) == (True, True)
    assert ("always answer short" in other, "no pip" in other) == (True, False)


def test_no_full_stop_follows_a_title_that_a_mark_ends(run: Run, hook: Hook) -> None:
    event = {"session_id": "a", "cwd": "/home/ana/shop"}
    for session, prompt in enumerate(
        ("What does src/cart.py do?", "Change prices.py", "Thanks, run the tests")
    ):
        one = event | {"session_id": str(session)}
        hook(one | {"hook_event_name": "UserPromptSubmit", "prompt": prompt})
        hook(one | {"hook_event_name": "Stop", "last_assistant_message": "It adds up the prices of a cart."})
        hook(one | {"hook_event_name": "SessionEnd"})
    told = hook(event | {"hook_event_name": "SessionStart", "source": "startup"}).json
    lines = told["hookSpecificOutput"]["additionalContext"].splitlines()
    asked, changed = (next(line for line in lines if words in line) for words in ("cart.py do", "Change"))
    assert "What does src/cart.py do? " in asked
    assert "Change prices.py. " in changed


def test_a_session_goes_on_from_none_of_another_project(run: Run, hook: Hook) -> None:
    def hold(session: str, folder: str, prompt: str, answer: str) -> None:
        event = {"session_id": session, "cwd": folder}
        hook(event | {"hook_event_name": "UserPromptSubmit", "prompt": prompt})
        hook(event | {"hook_event_name": "Stop", "last_assistant_message": answer})
        hook(event | {"hook_event_name": "SessionEnd"})

    hold(
        "mon", "/home/ana/shop", "The ingest worker leaks memory", "Its cache of heap dumps is never emptied"
    )
    hold("tue", "/home/ana/ledger", "Back to the ingest worker that leaks memory", "Its heap dumps are in")
    hold("wed", "/home/ana/Shop/", "Back to the ingest worker that leaks memory", "Its heap dumps are gone")
    listed = run("session", "list", "--user", "ana", "--json").json["sessions"]
    wed, tue, mon = (session["parent_episode_id"] for session in listed)
    assert (mon, tue, wed) == (None, None, listed[2]["id"])


def test_an_answer_that_the_event_does_not_hold_is_read_from_the_transcript(
    run: Run, hook: Hook, tmp_path: Path
) -> None:
    stopped = recorded("claude-code", tmp_path)[3]
    del stopped["last_assistant_message"]
    said = {
        "type": "assistant",
        "message": {"content": [{"type": "text", "text": "The cellar door was open"}]},
    }
    aside = {
        "type": "assistant",
        "isSidechain": True,
        "message": {"content": [{"type": "text", "text": "aside"}]},
    }
    called = {"type": "assistant", "message": {"content": [{"type": "tool_use", "name": "Bash"}]}}
    lines = [json.dumps(entry) for entry in (said, aside, called)]
    (tmp_path / "transcript.jsonl").write_text("\n".join([*lines, "{cut off"]))
    hook(stopped)
    assert "The cellar door was open" in run("search", "the cellar door", "--user", "ana").out
    assert "aside" not in "".join(run("export", "--user", "ana").out)


@pytest.mark.parametrize("tests", [40, 400])
def test_of_a_long_output_its_end_stays_and_what_failed_in_its_middle(
    tests: int, run: Run, hook: Hook, tmp_path: Path
) -> None:
    lines = [f"ok {n} [chromium] > tests/page{n}.spec.ts > renders page {n} (1.2s)" for n in range(tests)]
    failed = f"x {tests // 2} [chromium] > tests/checkout.spec.ts > applies a voucher (5.1s)"
    lines[tests // 2] = f"{failed}\n    Received string: EUR 50.00"
    lines.append("60 passed (48.1s)")
    used = recorded("claude-code", tmp_path)[2] | {
        "tool_response": {
            "stdout": "\n".join(lines),
            "stderr": "a warning",
            "interrupted": True,
            "isImage": False,
        }
    }
    assert hook(used).code == 0
    (kept,) = (
        one["text"]
        for one in map(json.loads, run("export", "--user", "ana").out.splitlines())
        if "chromium" in one.get("text", "")
    )
    assert f": {lines[0]}\n{lines[1]}\n" in kept  # lines of its own, no JSON
    assert kept.endswith("\n60 passed (48.1s)\na warning\ninterrupted: true")
    assert (
        f"characters were left out around these lines …]\n{failed}\n    Received string: EUR 50.00\n" in kept
    )
    assert 1_500 < len(kept) < 2_300
    assert len([line for line in kept.splitlines() if line.startswith("ok")]) > 8


def test_what_is_written_to_a_file_keeps_its_beginning_and_its_end(
    run: Run, hook: Hook, tmp_path: Path
) -> None:
    text = "# The cellar\n" + "\n".join(f"line {n}" for n in range(2_000)) + "\nthe last line of it"
    used = recorded("claude-code", tmp_path)[2]
    hook(used | {"tool_name": "Write", "tool_input": {"content": text}, "tool_response": {"type": "create"}})
    (value,) = (
        one["extras"]["arguments"]["content"]
        for one in map(json.loads, run("export", "--user", "ana").out.splitlines())
        if "extras" in one
    )
    assert value.startswith("# The cellar\nline 0\n")
    assert value.endswith("\nline 1999\nthe last line of it")
    assert "characters were left out here …]" in value
    assert len(value) < 2_100


def test_long_answers_of_tools_are_cut_and_another_answer_changes_nothing(
    run: Run, hook: Hook, tmp_path: Path
) -> None:
    used = recorded("claude-code", tmp_path)[2] | {"tool_response": {"stdout": "x" * 100_000}}
    assert hook(used).code == 0
    assert len(run("export", "--user", "ana").out) < 20_000
    outcome = hook(used | {"tool_response": {"stdout": "another answer under the same id"}})
    assert (outcome.code, outcome.out) == (0, "")
    assert "left out" in run("hooks", "status").out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is no JSON"),
        ("{cut off", "is no JSON"),
        ("[1]", "names no session_id"),
        ('{"session_id": 7}', "names no session_id"),
        ('{"session_id": "s", "last_assistant_message": ["odd"]}', ""),
        ('{"session_id": "s", "transcript_path": "/nowhere"}', ""),
    ],
)
def test_whatever_an_agent_hands_over_its_turn_goes_on(text: str, said: str, hook: Hook, run: Run) -> None:
    outcome = hook(text)
    assert (outcome.code, outcome.out) == (0, "")
    assert said in outcome.err
    assert outcome.err.count("\n") == bool(said)
    assert said in run("hooks", "status").out


@pytest.mark.parametrize("words", [("Unknown",), ("Stop", "--agent", "vim"), ("Stop", "--what", "is this")])
def test_a_hook_of_another_version_ends_with_success(
    words: tuple[str, ...], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", stdin('{"session_id": "s"}'))
    assert run("hooks", "run", *words, "--user", "ana").code == 0


def test_a_memory_that_cannot_be_opened_costs_no_turn_and_what_was_told_waits(
    run: Run, tmp_path: Path, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database.write_bytes(b"no database at all" * 100)
    asked = json.dumps(recorded("claude-code", tmp_path)[1])
    monkeypatch.setattr("sys.stdin", stdin(asked))
    outcome = run("hooks", "run", "UserPromptSubmit", "--user", "ana")
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err.startswith("episodic hook: ")
    shown = run("hooks", "status").out
    assert "events that wait: 1" in shown
    assert f"episodic hooks keep --db {database}" in shown
    assert "--user ana" in shown
    database.unlink()
    run("hooks", "keep", "--user", "ana")
    assert run("stats", "--user", "ana", "--json").json["observations"] == 1


def test_what_waits_is_nobody_elses_to_read(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = json.dumps(recorded("claude-code", tmp_path)[2])
    monkeypatch.setattr("sys.stdin", stdin(used))
    run("hooks", "run", "PostToolUse", "--user", "ana")  # a tool's answer waits for the end of the turn
    (path,) = (tmp_path / "cache").glob("hooks/*/*.json")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_what_waits_for_a_mistyped_memory_is_listed_and_can_be_kept_in_another(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = json.dumps(recorded("claude-code", tmp_path)[2])
    monkeypatch.setattr("sys.stdin", stdin(used))
    run("hooks", "run", "PostToolUse", "--user", "ana", "--db", str(tmp_path / "memroy.db"))
    old = tmp_path / "cache" / "hooks" / "of another version"
    old.mkdir()
    (old / "1-1.json").write_text("{}")
    shown = run("hooks", "status", "--json").json
    assert shown["waiting"] == 2
    mistyped = next(one for one in shown["memories"] if one["folder"] != str(old))
    assert (mistyped["waiting"], mistyped["keep"].split()[:3]) == (1, ["episodic", "hooks", "keep"])
    assert str(tmp_path / "memroy.db") in mistyped["keep"]
    assert "the next hook there says for which memory" in run("hooks", "status").out
    kept = run("hooks", "keep", "--from", mistyped["folder"], "--user", "ana")
    assert (kept.code, kept.out) == (0, "1 kept\n")
    assert not (tmp_path / "memroy.db").exists()
    assert run("stats", "--user", "ana", "--json").json["observations"] == 1


# --- the settings ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("before", [None, "", "{}\n", THEIRS, '{\n\t"permissions": {"allow": []}\n}'])
def test_hooks_are_written_and_undone_to_the_byte(
    agent: str, before: str | None, run: Run, home: Path, database: Path
) -> None:
    path = settings_of(agent, home)
    if before is not None:
        path.parent.mkdir()
        path.write_text(before)
    assert run("hooks", "install", agent, "--user", "ana").code == 0
    settings = json.loads(path.read_text())
    assert list(AGENTS[agent].events) == sorted(settings["hooks"], key=list(AGENTS[agent].events).index)
    command = settings["hooks"]["SessionEnd"][0]["hooks"][0]["command"]
    assert str(database) in command
    assert command.endswith("--user ana")
    if before == THEIRS:
        assert settings["model"] == "opus"
        assert settings["hooks"]["Stop"][0]["hooks"][0]["command"] == "say done"
    written = path.read_text()
    assert "already written" in run("hooks", "install", agent, "--user", "ana").out
    assert path.read_text() == written
    assert "removed" in run("hooks", "remove", agent).out
    assert (path.read_text() if path.exists() else None) == before
    assert [other.name for other in path.parent.iterdir()] == ([path.name] if before is not None else [])
    assert "nothing to remove" in run("hooks", "remove", agent).out


def test_what_the_user_wrote_since_stays_when_hooks_are_removed(run: Run, home: Path) -> None:
    path = settings_of("claude-code", home)
    path.parent.mkdir()
    path.write_text(THEIRS)
    run("hooks", "install", "claude-code", "--user", "ana")
    settings = json.loads(path.read_text())
    settings["theme"] = "dark"
    settings["hooks"]["Stop"][1]["hooks"].append({"type": "command", "command": "say twice"})
    path.write_text(json.dumps(settings))
    run("hooks", "remove", "claude-code")
    rest = json.loads(path.read_text())
    assert rest["theme"] == "dark"
    assert [h["command"] for g in rest["hooks"]["Stop"] for h in g["hooks"]] == ["say done", "say twice"]
    assert list(rest["hooks"]) == ["Stop"]


def test_another_memory_takes_the_place_of_the_first(run: Run, home: Path, tmp_path: Path) -> None:
    path = settings_of("codex", home)
    run("hooks", "install", "codex", "--user", "ana")
    assert "trusted" in run("hooks", "install", "codex", "--user", "bo").out
    (group,) = json.loads(path.read_text())["hooks"]["Stop"]
    assert "--user bo" in group["hooks"][0]["command"]
    run("hooks", "remove", "codex")
    assert not path.exists()


@pytest.mark.usefixtures("no_file_yet")
def test_a_dry_run_shows_every_line_and_writes_nothing(run: Run, home: Path, database: Path) -> None:
    shown = run("hooks", "install", "claude-code", "--user", "ana", "--dry-run").out
    assert "hooks run UserPromptSubmit" in shown
    assert not settings_of("claude-code", home).exists()
    assert not database.exists()
    run("hooks", "install", "claude-code", "--user", "ana")
    assert "-" in run("hooks", "remove", "claude-code", "--dry-run").out
    assert settings_of("claude-code", home).exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{cut off", "is no JSON"),
        ("[]", "holds no object"),
        ('{"hooks": []}', "`hooks` is no object"),
        ('{"hooks": {"Stop": {}}}', "`hooks.Stop` is no list"),
        ("\udcff", "is no UTF-8"),
    ],
)
def test_damaged_settings_are_refused_in_one_line_and_left_as_they_are(
    text: str, said: str, run: Run, home: Path
) -> None:
    path = settings_of("claude-code", home)
    path.parent.mkdir()
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    for command in ("install", "remove"):
        outcome = run("hooks", command, "claude-code", *(["--user", "ana"] if command == "install" else []))
        assert outcome.code == 2
        assert said in outcome.err
        assert outcome.err.count("\n") == 1
    assert path.read_bytes() == text.encode("utf-8", "surrogateescape")


@pytest.mark.usefixtures("no_file_yet")
def test_read_only_settings_are_refused_and_a_link_stays_a_link(
    run: Run, home: Path, tmp_path: Path, database: Path
) -> None:
    path = settings_of("claude-code", home)
    path.parent.mkdir()
    path.write_text(THEIRS)
    path.chmod(0o444)
    outcome = run("hooks", "install", "claude-code", "--user", "ana")
    assert (outcome.code, outcome.err.count("\n")) == (2, 1)
    assert "is read-only" in outcome.err
    assert not database.exists()
    assert path.read_text() == THEIRS
    real = tmp_path / "dotfiles.json"
    path.rename(real)
    real.chmod(0o640)
    path.symlink_to(real)
    assert run("hooks", "install", "claude-code", "--user", "ana").code == 0
    assert path.is_symlink()
    assert "episodic_agent" in real.read_text()
    assert stat.S_IMODE(os.stat(real).st_mode) == 0o640
    run("hooks", "remove", "claude-code")
    assert real.read_text() == THEIRS


def test_an_unknown_agent_and_nobody_are_refused(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "there are claude-code, codex" in run("hooks", "install", "vim", "--user", "ana").err
    monkeypatch.delenv("EPISODIC_USER")
    outcome = run("hooks", "install", "codex")
    assert outcome.code == 2
    assert "--user NAME" in outcome.err
    assert not settings_of("codex", home).exists()


def test_status_says_which_agent_has_hooks_and_with_what(run: Run, home: Path) -> None:
    assert run("hooks", "status").out.count("no hooks") == 2
    run("hooks", "install", "codex", "--user", "ana")
    shown = run("hooks", "status", "--json").json
    assert [(a["agent"], len(a["commands"])) for a in shown["agents"]] == [("claude-code", 0), ("codex", 5)]
    assert shown["waiting"] == 0
    assert "codex: hooks in" in run("hooks", "status").out
