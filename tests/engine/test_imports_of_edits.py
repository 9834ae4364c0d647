"""Messages that were edited on their platform between two exports: the new words are told, once."""

import json
from pathlib import Path
from typing import Any

import pytest
from builders.commands import Run

from episodic_agent.engine.files.recognising import Recogniser

WORDS = (
    "Maintenance starts at 03:00",
    "Maintenance starts at 04:00, not 03:00",
    "Maintenance starts at 05:30",
)
Message = dict[str, Any]


def slack(folder: Path, text: str, edits: int) -> Path:
    told: Message = {"type": "message", "user": "U1", "ts": "1795525800.000100", "text": text}
    if edits:
        told["edited"] = {"user": "U1", "ts": f"{1795529400 + edits}.000000"}
    other = {"type": "message", "user": "U1", "ts": "1795525900.000100", "text": "Tell the customers please"}
    folder.mkdir(exist_ok=True)
    (folder / "users.json").write_text(json.dumps([{"id": "U1", "name": "lena"}]), encoding="utf-8")
    (folder / "channels.json").write_text(json.dumps([{"id": "C1", "name": "ops"}]), encoding="utf-8")
    (folder / "ops").mkdir(exist_ok=True)
    (folder / "ops" / "2026-11-24.json").write_text(json.dumps([told, other]), encoding="utf-8")
    return folder


def telegram(folder: Path, text: str, edits: int) -> Path:
    told: Message = {
        "id": 1, "type": "message", "date": "2026-11-24T09:50:00", "date_unixtime": "1795513800", "from": "Lena",
        "text": text,
    }  # fmt: skip
    if edits:
        told["edited_unixtime"] = str(1795517400 + edits)
    chat = {"name": "Ops", "type": "private_group", "id": 9, "messages": [told]}
    folder.mkdir(exist_ok=True)
    path = folder / "result.json"
    path.write_text(json.dumps(chat), encoding="utf-8")
    return path


@pytest.mark.parametrize("export", [slack, telegram])
def test_an_edited_message_is_told_in_its_newest_words(run: Run, tmp_path: Path, export: Any) -> None:
    for edits, words in enumerate(WORDS):
        report = run("import", export(tmp_path / "export", words, edits), "--json")
        assert report.code == 0, report.err
        assert (report.json["added"] > 0, report.json["unreadable"]) == (True, [])
        assert ("edited since" in report.err) == bool(edits)
    again = run("import", export(tmp_path / "export", WORDS[2], 2), "--json")
    assert (again.json["added"], again.json["unreadable"]) == (0, [])
    assert "edited since" not in again.err
    found = run("search", "when does the maintenance start?").out
    assert "05:30" in found
    assert "03:00" not in found
    assert "04:00" not in found


def test_other_words_under_an_id_that_nobody_edited_are_refused_as_before(run: Run, tmp_path: Path) -> None:
    run("import", slack(tmp_path / "export", WORDS[0], 0))
    refused = run("import", slack(tmp_path / "export", WORDS[1], 0))
    assert refused.code == 2
    assert "another text" in refused.err
    assert "03:00" in run("search", "when does the maintenance start?").out


def test_what_an_import_ended_before_it_hid_the_next_one_hides(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("import", slack(tmp_path / "export", WORDS[0], 0))
    with monkeypatch.context() as cut_off:
        cut_off.setattr(Recogniser, "hide_edited", lambda *_: 0)
        run("import", slack(tmp_path / "export", WORDS[1], 1))
    assert "at 03:00" in run("search", "when does the maintenance start?").out
    report = run("import", slack(tmp_path / "export", WORDS[1], 1), "--json")
    assert (report.json["added"], "1 message edited since" in report.err) == (0, True)
    assert "at 03:00" not in run("search", "when does the maintenance start?").out
