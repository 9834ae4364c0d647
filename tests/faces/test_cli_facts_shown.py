"""Facts beside the hits of a search: those of other matters are counted, not printed."""

import json
from pathlib import Path

import pytest
from builders.commands import Run

LIFE = [
    ("Mein Bruder Ole wohnt jetzt in Kiel und arbeitet bei der Werft.", "2026-03-02T09:00:00Z"),
    ("Ich bin gegen Nüsse allergisch, das darf keiner vergessen.", "2026-03-09T09:00:00Z"),
    ("Unser Boot liegt seit dem Winter im Hafen von Laboe.", "2026-03-16T09:00:00Z"),
    ("Die Miete kostet ab Mai 940 Euro, ich habe zugestimmt.", "2026-03-23T09:00:00Z"),
]


@pytest.fixture
def lived(run: Run, tmp_path: Path) -> Run:
    path = tmp_path / "life.json"
    path.write_text(json.dumps([{"role": "user", "content": text, "timestamp": at} for text, at in LIFE]))
    run("import", path, "--user", "ada")
    run("flush", "--user", "ada")
    return run


@pytest.mark.parametrize(
    "asked", ["Was hat mein Bruder über das Wetter gesagt?", "Wo ist der Hafenmeister von Kiel geboren?"]
)
def test_a_fact_of_another_matter_is_not_printed_beside_hits(lived: Run, asked: str) -> None:
    known = lived("search", asked, "--user", "ada", "--json").json["facts"]
    assert known
    shown = lived("search", asked, "--user", "ada")
    assert "•" not in shown.out
    assert f"{len(known)} fact of other matters left out; --explain shows them" in shown.err
    assert lived("search", asked, "--user", "ada", "--explain").out.count("•") == len(known)


def test_a_fact_that_answers_is_printed(lived: Run) -> None:
    assert (
        '• ada: "Ich bin gegen Nüsse' in lived("search", "Wogegen bin ich allergisch?", "--user", "ada").out
    )
    assert '• ada: "Die Miete kostet' in lived("search", "Was kostet die Miete?", "--user", "ada").out
