"""What trains writes: data files that are read back to the bit, each with its row of provenance."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shipping
import train
import train_boundary
import train_recall
import train_steps
from shipping import Origin

from benchmarks import chain_training, thread_quality
from episodic_agent.core.boundary.conversation import model as default_model
from episodic_agent.core.boundary.steps import learned

HERE = Origin("tools/shipping.py", "a test", "numbers")


def read(name: str) -> dict[str, Any]:
    tables: dict[str, Any] = json.loads((shipping.DATA / name).read_text(encoding="utf-8"))
    return tables


def test_trained_files_have_a_row_that_says_by_whom_from_what_and_when(tmp_path: Path) -> None:
    file = shipping.ship_numbers("a/b.json", {"words": {"x": 0.1}}, HERE, tmp_path)
    row = shipping.read_rows(tmp_path)["a/b.json"]
    assert file.read_text(encoding="utf-8") == '{\n "words": {\n  "x": 0.1\n }\n}\n'
    assert row["sha256"] == shipping.digest(file)
    assert row["maker_sha256"] == shipping.digest(shipping.ROOT / "tools/shipping.py")
    assert (row["made_by"], row["made_from"], row["licence"]) == ("tools/shipping.py", "a test", "MIT")


def test_the_trainers_write_what_ships_to_the_byte_from_what_was_read(tmp_path: Path) -> None:
    train_boundary.write_weights(default_model.shipped(), tmp_path)
    train_steps.write_weights(learned.shipped(), tmp_path)
    thread_quality.write(read("links/crowd.json"), tmp_path)
    chain_training.write(read("chains/weights.json"), tmp_path)
    train_recall.write({"data": {}, "weights": read("recall/confidence.json")["bigrams"]}, tmp_path)
    written = shipping.shipped(tmp_path)
    assert len(written) == 5
    for name in written:
        assert (tmp_path / name).read_bytes() == (shipping.DATA / name).read_bytes(), name


def test_a_list_changed_by_hand_gets_its_hash_and_date_anew(tmp_path: Path) -> None:
    file = tmp_path / "words.toml"
    file.write_text("a = 'b'\n", encoding="utf-8")
    row = {field: "" for field in shipping.FIELDS if field != "maker_sha256"} | {"made_by": "hand"}
    shipping.write_rows({"words.toml": row}, tmp_path)
    assert shipping.refresh(tmp_path) == ["words.toml"]
    assert shipping.read_rows(tmp_path)["words.toml"]["sha256"] == shipping.digest(file)
    assert shipping.refresh(tmp_path) == []


def test_a_file_without_a_row_and_trained_numbers_touched_by_hand_are_refused(tmp_path: Path) -> None:
    file = shipping.ship_arrays("c.npz", {"x": np.ones(2)}, HERE, tmp_path)
    file.write_bytes(b"other")
    with pytest.raises(SystemExit, match=r"made by a program.*c\.npz"):
        shipping.refresh(tmp_path)
    (tmp_path / "stray.toml").write_text("", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"without a row.*stray\.toml"):
        shipping.refresh(tmp_path)


# --- the training room -----------------------------------------------------------------------------------


def test_whatever_a_program_made_the_training_room_can_make_again() -> None:
    makers = {row["made_by"] for row in shipping.read_rows(shipping.DATA).values()} - {"hand"}
    assert makers == {trainer.program for trainer in train.TRAINERS.values()} | train.BESIDE.keys()
    assert not [line for line in train.listed() if line.startswith("nothing makes it again")]


@pytest.mark.parametrize("name", train.TRAINERS)
def test_every_trainer_takes_the_options_it_is_given(name: str, tmp_path: Path) -> None:
    trainer = train.TRAINERS[name]
    values = {"data": str(tmp_path), "cache": str(tmp_path), "root": str(shipping.ROOT)}
    source = (shipping.ROOT / trainer.program).read_text(encoding="utf-8")
    for write in (False, True):
        command = trainer.command(values, ["life.jsonl"], write=write)
        assert "{" not in "".join(command)
        assert all(f'"{option}"' in source for option in command if option.startswith("--"))
        assert ("life.jsonl" in command) == (train.LIVES in trainer.always)


def test_measuring_never_ships() -> None:
    for trainer in train.TRAINERS.values():
        measured = trainer.command({"data": "d", "cache": "c", "root": "r"}, ["life"], write=False)
        assert not {"--write", "--fit"}.intersection(measured)
        assert trainer.measure != trainer.ship


@pytest.mark.parametrize(
    ("words", "message"),
    [(["bananas"], "nothing is called bananas; there are boundary"), (["recall"], "no labelled lives in")],
)
def test_an_unknown_name_and_missing_data_are_said_in_a_line(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["train.py", "--data", str(tmp_path), "--cache", str(tmp_path), *words])
    with pytest.raises(SystemExit, match=message):
        train.main()
