"""The language model played by hand: what is filed, what is replayed, and what comes of recorded answers."""

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from threading import Thread
from time import sleep
from typing import Any

import pytest

from episodic_agent.core.prompts import digest, thread_link, topic_shift
from episodic_agent.core.prompts.lenient import strict
from episodic_agent.errors import ProviderUnavailable
from episodic_agent.providers.models.openai import ModelLimits, OpenAIModel
from tools import model_by_hand as by_hand

CASES = Path(__file__).parents[2] / "benchmarks/cases/by_hand"
LIVES = ("leipzig", "nurse", "shanghai")
BLIND = ("backend", "flatshare")  # answered once, and no prompt was mended with their labels in view
LONGER = tuple(f"longer/{life}" for life in LIVES)
SCHEMAS = {
    "facts": digest.SCHEMA,
    "thread_link": thread_link.CHOICE_SCHEMA,
    "topic_shift": topic_shift.LOOKING_BACK,
}
OPENINGS = {  # of each prompt: words that every question of its version begins with
    "facts": digest.prompt.__globals__["_INSTRUCTIONS"].split("{")[0],
    "thread_link": thread_link.choice([], []).split("\nEarlier")[0],
    "topic_shift": topic_shift.prompt.__globals__["_LOOKING_BACK"].split("{")[0],
}
REMADE = "made anew by hand: tools/model_by_hand.py play FOLDER LIFE, then pack"


def rows(life: str) -> list[dict[str, str]]:
    text = gzip.decompress((CASES / f"{life}.answers.jsonl.gz").read_bytes()).decode()
    return [json.loads(line) for line in text.splitlines()][1:]  # the first names the policies


def asked(url: str, prompt: str) -> str:
    model = OpenAIModel("any", base_url=url, limits=ModelLimits(tries=1, timeout=10.0))
    return str(model.complete(prompt, thread_link.CHOICE_SCHEMA, "thread_link").value["reason"])


def answer_of(folder: Path, name: str, reason: str) -> None:
    text = json.dumps({"reason": reason, "threads": [], "confidence": 0.9})
    (folder / (name + by_hand.ANSWER)).write_text(f"Let me see.\n{text}\n", encoding="utf-8")


def test_a_prompt_is_filed_and_waits_for_its_answer(tmp_path: Path) -> None:
    folder = by_hand.Folder(tmp_path, 10.0)
    name = by_hand.name_of("thread_link", "Which?")
    (tmp_path / (name + by_hand.ANSWER)).touch()  # as one that is just being written

    def write() -> None:
        while not folder.waiting():
            sleep(0.01)
        answer_of(tmp_path, name, "by hand")

    writer = Thread(target=write)
    writer.start()
    with by_hand.serving(folder) as url:
        assert asked(url, "Which?") == "by hand"
    writer.join()
    filed = json.loads((tmp_path / (name + by_hand.PROMPT)).read_text(encoding="utf-8"))
    assert (filed["stage"], filed["user"]) == ("thread_link", "Which?")
    assert filed["schema"] == strict(thread_link.CHOICE_SCHEMA)
    assert "data" in filed["system"]
    assert folder.waiting() == []


def test_what_was_answered_once_is_replayed_and_another_prompt_is_not(tmp_path: Path) -> None:
    folder = by_hand.Folder(tmp_path, 0.0)
    answer_of(tmp_path, by_hand.name_of("thread_link", "Which?"), "from the file")
    with by_hand.serving(folder) as url:
        assert asked(url, "Which?") == "from the file"
        with pytest.raises(ProviderUnavailable, match="nobody answered thread_link-"):
            asked(url, "Which else?")
    assert [path.name for path in folder.waiting()] == [
        by_hand.name_of("thread_link", "Which else?") + by_hand.PROMPT
    ]


def test_a_folder_packed_and_unpacked_is_the_same(tmp_path: Path) -> None:
    packed = CASES / "leipzig.answers.jsonl.gz"
    count = by_hand.unpack(packed, tmp_path / "folder")
    assert by_hand.pack(tmp_path / "folder", tmp_path / "again.gz") == count == len(rows("leipzig"))
    assert gzip.decompress((tmp_path / "again.gz").read_bytes()) == gzip.decompress(packed.read_bytes())


def test_a_file_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert by_hand.main(["play", str(tmp_path), str(tmp_path / "life.jsonl")]) == 2
    assert by_hand.main(["waiting", str(tmp_path / "none")]) == 2
    assert capsys.readouterr().err.splitlines() == [
        f"no such file or folder: {tmp_path / 'life.jsonl'}",
        f"no such file or folder: {tmp_path / 'none'}",
    ]


def test_a_recording_says_under_which_policies_it_was_made(tmp_path: Path) -> None:
    today = by_hand.todays_policies()
    assert by_hand.policies_of(tmp_path / "new") == today
    by_hand.unpack(CASES / "leipzig.answers.jsonl.gz", tmp_path / "recorded")
    recorded = by_hand.policies_of(tmp_path / "recorded")
    assert recorded.keys() == today.keys()
    assert {name: recorded[name] for name in ("boundaries", "links", "facts")} == {
        "boundaries": "default-2027-03", "links": "choice-2027-01", "facts": "default",
    }  # fmt: skip


@pytest.mark.slow
def test_a_folder_is_played_under_its_own_policies_whatever_the_defaults_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    played = {}
    for name in ("default-2027-01", "default-2027-01?threshold=0.99"):
        folder = tmp_path / name
        folder.mkdir()
        policies = {**by_hand.todays_policies(), "boundaries": name, "threads": "threads-1999"}
        (folder / by_hand.POLICIES).write_text(json.dumps(policies), encoding="utf-8")
        life = str(CASES / "leipzig.jsonl")
        assert by_hand.main(["play", "--replay", str(folder), life, "--messages", "12"]) == 0
        printed = capsys.readouterr()
        assert "threads: recorded under threads-1999, today's is threads-" in printed.err
        played[name] = json.loads(printed.out)["episodes"]["density"]
    assert played["default-2027-01"] > played["default-2027-01?threshold=0.99"]


@pytest.mark.parametrize(
    ("policies", "why"),
    [
        ({}, "names no policy for boundaries, links, facts"),
        (
            {"boundaries": "nonsense", "links": "default", "facts": "default"},
            "unknown boundary policy 'nonsense'",
        ),
    ],
)
def test_policies_that_are_none_are_refused_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], policies: dict[str, str], why: str
) -> None:
    (tmp_path / by_hand.POLICIES).write_text(json.dumps(policies), encoding="utf-8")
    life = str(CASES / "leipzig.jsonl")
    assert by_hand.main(["play", "--replay", str(tmp_path), life, "--messages", "2"]) == 2
    assert why in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize("life", [*LIVES, *BLIND, *LONGER])
def test_the_recorded_prompts_are_those_of_today(life: str) -> None:
    for row in rows(life):
        assert row["name"] == by_hand.name_of(row["stage"], row["user"]), REMADE
        assert row["schema"] == strict(SCHEMAS[row["stage"]]), REMADE
        assert row["user"].startswith(OPENINGS[row["stage"]]), REMADE


def test_the_answers_the_page_shows_are_recorded_ones() -> None:
    page = (CASES.parents[2] / "docs" / "internals" / "prompts.md").read_text(encoding="utf-8")
    recorded = [json.loads(row["answer"]) for life in LIVES for row in rows(life)]
    reading, choice, boundary = (json.loads(piece.split("```")[0]) for piece in page.split("```json\n")[1:4])
    assert choice in recorded
    assert not topic_shift.read_verdict(boundary).is_boundary  # asked of one gap alone
    whole = next(a for a in recorded if reading["facts"][0] in a.get("facts", ()))
    assert reading["parts"][0] in whole["parts"]


@pytest.mark.slow
@pytest.mark.parametrize("life", LIVES)
def test_a_life_with_recorded_answers_is_what_a_careful_model_makes_of_it(life: str, tmp_path: Path) -> None:
    figures = replayed(life, tmp_path)
    assert figures["answers_refused"] == figures["wrong_high_links"] == 0
    assert figures["links"]["f1"] >= 0.85
    assert figures["calls_per_100"] <= 12
    assert figures["facts"]["recall"] >= 0.9
    assert figures["facts"]["precision"] >= 0.95
    assert figures["episodes"]["f1_tol1"] >= 0.85


@pytest.mark.slow
@pytest.mark.parametrize("life", BLIND)
def test_a_life_that_was_answered_blind_is_what_its_reader_made_of_it(life: str, tmp_path: Path) -> None:
    figures = replayed(life, tmp_path)
    assert figures["answers_refused"] == figures["wrong_high_links"] == 0
    assert figures["links"]["precision"] == 1.0
    assert figures["calls_per_100"] <= 8
    assert min(figures["facts"]["recall"], figures["facts"]["precision"]) >= 0.75
    assert figures["episodes"]["f1_tol1"] >= 0.75


@pytest.mark.slow
@pytest.mark.parametrize("life", LONGER)
def test_a_life_that_goes_on_is_what_a_careful_reader_made_of_it(life: str, tmp_path: Path) -> None:
    figures = replayed(life, tmp_path)
    assert figures["answers_refused"] == 0
    assert figures["wrong_high_links"] <= 1  # at the reader's own word
    assert figures["links"]["f1"] >= 0.8
    assert figures["facts"]["recall"] >= 0.9
    assert figures["facts"]["precision"] >= 0.85
    assert figures["episodes"]["f1_tol1"] >= 0.75


def replayed(life: str, folder: Path) -> Mapping[str, Any]:
    """Return the figures of a life played with its recorded answers, each of which is asked for."""
    count = by_hand.unpack(CASES / f"{life}.answers.jsonl.gz", folder)
    recorded = by_hand.Folder(folder, 0.0)
    figures = by_hand.play(recorded, CASES / f"{life}.jsonl", None)
    if (changed := recorded.waiting()) and (others := by_hand.others_today(folder)):
        pytest.skip(f"{len(changed)} of {count} prompts changed, for {'; '.join(others)}; {REMADE}")
    assert changed == [], f"{len(changed)} of {count} prompts changed since they were answered; {REMADE}"
    messages = len(json.loads((CASES / f"{life}.jsonl").read_text(encoding="utf-8"))["messages"])
    assert figures["calls_per_100"] == pytest.approx(100 * count / messages, abs=0.001)
    return figures
