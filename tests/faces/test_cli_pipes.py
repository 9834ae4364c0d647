"""`-` in the place of a text or a file: what is piped in is kept, what is written comes out of a pipe."""

import io
import json
import sys
import zipfile
from pathlib import Path

import pytest
from builders.commands import Run

ANA = ("--user", "ana")
CHAT = b"[2025-03-01 09:00] Ana: I'm moving to Lisbon in May.\n"


def pipe(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="ascii"))


def test_a_piped_text_is_remembered(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe(monkeypatch, "The tap drips – since Monday\n".encode())
    run("add", "-", *ANA)
    (episode,) = run("episodes", "--json", *ANA).json["episodes"]
    (message,) = run("show", episode["episode_id"], "--json", *ANA).json["messages"]
    assert message["text"] == "The tap drips – since Monday"


def test_an_export_goes_through_a_pipe_into_another_memory(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    run("add", "The tap drips", *ANA)
    exported = run("export", "--output", "-", *ANA).out
    assert json.loads(exported.splitlines()[0])
    assert not Path("-").exists()
    pipe(monkeypatch, exported.encode())
    report = run("import", "-", *ANA, "--json", db=tmp_path / "other.db").json
    assert (report["added"], report["format"]) == (1, "own")


@pytest.mark.parametrize("packed", [False, True])
def test_the_format_of_what_is_piped_is_recognised(
    run: Run, monkeypatch: pytest.MonkeyPatch, packed: bool
) -> None:
    data = io.BytesIO(CHAT)
    if packed:
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w") as archive:
            archive.writestr("chat.txt", CHAT)
    pipe(monkeypatch, data.getvalue())
    outcome = run("import", "-", *ANA)
    assert outcome.out.startswith("1 message read, 1 added")
    assert outcome.err.startswith("transcript: 1 conversation")


@pytest.mark.parametrize(
    ("call", "data", "words"),
    [
        (("add", "-"), b"", "standard input is empty; pipe something into it"),
        (("add", "-"), b" \n", "standard input is empty"),
        (("add", "-"), b"caf\xe9", "no text in UTF-8; convert it"),
        (("import", "-"), b"", "standard input is empty"),
        (("import", "-"), b"\x00\x01\x02\xff\xfe\x80", "error: stdin is not text"),
    ],
)
def test_what_cannot_be_read_from_a_pipe_is_one_line_that_helps(
    run: Run, monkeypatch: pytest.MonkeyPatch, call: tuple[str, ...], data: bytes, words: str
) -> None:
    pipe(monkeypatch, data)
    outcome = run(*call, *ANA)
    assert outcome.code == 2
    assert words in outcome.error
