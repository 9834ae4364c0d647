"""`calibrate` end to end: what it makes of an embedder, where it is kept, and what depends on it."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from builders.chats import TAP, mine, talk
from builders.commands import Run
from builders.minilm import model_folder
from conftest import OpenMemory

from benchmarks.served import WordAverage, served
from episodic_agent import Memory, calibrate
from episodic_agent.core.calibration import Calibration
from episodic_agent.core.evaluation.segmentation import score_streams
from episodic_agent.data import demo_folder
from episodic_agent.engine.evaluate import calibrating
from episodic_agent.engine.evaluate.cases import LabelledStream, LabelledUnit
from episodic_agent.engine.evaluate.segmentation import segment, vectors_of
from episodic_agent.errors import InvalidInput
from episodic_agent.protocols import Embedder
from episodic_agent.providers.embedders.hashing import HashingEmbedder
from episodic_agent.providers.embedders.minilm import MiniLM
from episodic_agent.providers.embedders.openai import OpenAIEmbedder
from episodic_agent.schemas import Scope, Vector
from episodic_agent.wiring import (
    calibration_file,
    demo_conversations,
    find_calibration,
    load_settings,
    resolve_policy,
    temporary_memory,
)

DATA = demo_folder()
PROBLEM = "the embedding model is not at hand: `episodic models pull`"
FOREIGN = (  # questions about nothing the demo's people ever spoke of
    "Which chess opening did Viktor play against the grandmaster?",
    "How many kilometres did the rover drive on Mars?",
    "What is the boiling point of tungsten?",
    "Who won the sumo tournament in Osaka?",
)


class Raised:
    """The hashing embedder with a part that all texts have in common: unrelated texts get cosine .5 and more."""

    name = "raised"
    dimensions = 257

    def embed(self, texts: Sequence[str]) -> Vector:
        own = HashingEmbedder().embed(texts)
        statement = own.any(axis=1)[:, None]
        return np.hstack([own, statement]).astype(np.float32) / np.sqrt(np.float32(2))


@pytest.fixture(scope="module")
def cache() -> Path:
    return model_folder()


@pytest.fixture(scope="module")
def raised() -> Calibration:
    """What is fitted where the hashing embedder plays the default one: no model is needed."""
    return calibrating.calibrate(Raised(), HashingEmbedder(), demo_conversations()).calibration


def dialogues() -> list[LabelledStream]:
    """The shipped conversations with the boundaries a reader marked, as labelled streams."""
    labels = json.loads((DATA / "boundaries.json").read_text(encoding="utf-8"))
    result = []
    for path in sorted(DATA.glob("*.jsonl")):
        statements = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        units = [
            LabelledUnit(row.get("name", row.get("role", "user")), row["content"], None) for row in statements
        ]
        starts = [int(n > 0 and row["id"] in labels[path.stem]) for n, row in enumerate(statements)]
        result.append(LabelledStream(path.stem, units, starts))
    return result


def score(embedder: Embedder, calibration: Calibration | None) -> float:
    policy = resolve_policy("default", embedder=embedder, calibration=calibration)
    cases = dialogues()
    predicted = [segment(c.units, policy, vectors_of(c, embedder), use_times=False) for c in cases]
    return score_streams([c.starts for c in cases], predicted, empty_f1=0.0).score


def score_by_words() -> float:
    cases = dialogues()
    words = resolve_policy("default?vectors=0")
    predicted = [segment(c.units, words, [None] * len(c.units), use_times=False) for c in cases]
    return score_streams([c.starts for c in cases], predicted, empty_f1=0.0).score


def answered(embedder: Embedder, calibration: Calibration | None) -> tuple[float, float]:
    """Return the mean confidence on the demo's questions that have an answer there, and on foreign ones."""
    questions = json.loads((DATA / "questions.json").read_text(encoding="utf-8"))
    with temporary_memory(embedder, calibration=calibration) as memory:
        for path in sorted(DATA.glob("*.jsonl")):
            mine(memory).import_file(path)
        own = [mine(memory).search(q["question"]).confidence for q in questions if q["evidence"]]
        foreign = [mine(memory).search(question).confidence for question in FOREIGN]
    return float(np.mean(own)), float(np.mean(foreign))


# --- with a model of known geometry ----------------------------------------------------------------------


def test_an_embedder_that_is_the_default_but_for_its_scale_is_read_as_the_default(
    raised: Calibration,
) -> None:
    assert raised.agreement == pytest.approx(1.0, abs=0.01)
    assert raised.scale is not None
    assert raised.scale == pytest.approx((0.5 + 0.32 / 2, 0.2 / 2), abs=0.01)
    cosines = np.array([0.0, 0.1, 0.3, 1.0])
    np.testing.assert_allclose(raised.as_default(0.5 + cosines / 2), cosines, atol=0.02)


def test_fitting_twice_gives_the_same_numbers(raised: Calibration) -> None:
    assert calibrating.calibrate(Raised(), HashingEmbedder(), demo_conversations()).calibration == raised


def test_frames_carry_the_calibration_in_their_policys_name(
    open_memory: OpenMemory, raised: Calibration
) -> None:
    with open_memory(embedder=Raised(), policy="default", calibration=raised) as memory:
        mine(memory).add(talk(TAP, 0))
        mine(memory).flush()
        with memory._deps.store.begin(Scope(), write=False) as tx:
            names = {d.policy_version for d in tx.knowledge.decisions()}
        mean, spread = raised.scale or (0.0, 0.0)
        assert names == {f"default-2027-03?scale={mean},{spread}&embedder=raised"}
    with open_memory(embedder=Raised(), policy="default") as memory:  # the file is gone, the name is not
        mine(memory).add(talk(TAP, 1))
        assert memory.doctor() == []
        assert mine(memory).boundaries.whatif("chat", names.pop()).removed == []


@pytest.mark.slow
def test_recall_reads_every_cosine_on_the_default_scale(raised: Calibration) -> None:
    plain, before, after = (
        answered(embedder, calibration)
        for embedder, calibration in ((HashingEmbedder(), None), (Raised(), None), (Raised(), raised))
    )
    assert before == plain  # without a calibration only words are counted
    assert after != before
    assert after[1] < before[1]


@pytest.mark.slow
def test_labelled_dialogues_settle_what_similarity_alone_cannot(tmp_path: Path) -> None:
    rows = [
        {"units": [{"speaker": u.speaker, "text": u.text} for u in s.units], "starts": s.starts}
        for s in dialogues()
    ]
    path = tmp_path / "labelled.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    fitted = calibrating.calibrate(Raised(), HashingEmbedder(), demo_conversations(), [path])
    assert len(fitted.scores) == 2 + len(calibrating.THRESHOLDS)
    best = resolve_policy("default", embedder=Raised(), calibration=fitted.calibration).name
    assert max(score for _, score in fitted.scores) - dict(fitted.scores)[best] <= calibrating.GAIN
    assert dict(fitted.scores)[best] >= fitted.scores[0][1]
    assert fitted.calibration.threshold is not None
    path.write_text("", encoding="utf-8")
    with pytest.raises(InvalidInput, match="is empty; give a file of labelled cases"):
        calibrating.calibrate(Raised(), HashingEmbedder(), demo_conversations(), [path])


@pytest.mark.slow
def test_a_memorys_own_threads_and_chat_files_are_texts_too(open_memory: OpenMemory, tmp_path: Path) -> None:
    memory = open_memory()
    for path in sorted(DATA.glob("*.jsonl")):
        mine(memory).import_file(path)
    own = calibrating.conversations_of(mine(memory))
    assert sorted(map(len, own)) == sorted(map(len, demo_conversations()))
    assert sorted(own) == sorted(demo_conversations())
    with pytest.raises(InvalidInput, match="no such file"):
        calibrating.conversations_in(tmp_path / "none.jsonl")
    with pytest.raises(InvalidInput, match="no texts to calibrate on"):
        calibrating.calibrate(Raised(), HashingEmbedder(), [[" "]])


# --- where it is kept ------------------------------------------------------------------------------------


def test_a_calibration_is_found_by_the_embedders_name_or_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, raised: Calibration
) -> None:
    monkeypatch.setenv("EPISODIC_CACHE", str(tmp_path))
    monkeypatch.setenv("EPISODIC_CALIBRATION", "auto")
    assert find_calibration(Raised(), load_settings()) is None
    path = calibration_file("raised", load_settings())
    calibrating.save(raised, path)
    assert find_calibration(Raised(), load_settings()) == raised
    assert find_calibration(HashingEmbedder(), load_settings()) is None
    assert find_calibration(Raised(), load_settings(), "none") is None
    assert find_calibration(Raised(), load_settings(), path) == raised
    assert find_calibration(None, load_settings(), path) is None
    with pytest.raises(InvalidInput, match="fitted for raised, not hashing-256; run `episodic calibrate`"):
        find_calibration(HashingEmbedder(), load_settings(), path)
    with pytest.raises(InvalidInput, match="fitted for raised"):
        Memory.open(tmp_path / "m.db", embedder="hashing", calibration=path)
    path.write_text("{", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"raised\.json cannot be read .*run `episodic calibrate` again"):
        find_calibration(Raised(), load_settings())
    with pytest.raises(InvalidInput, match="cannot be read"):
        find_calibration(Raised(), load_settings(), tmp_path / "missing.json")


def test_the_default_embedder_and_none_are_not_calibrated(run: Run) -> None:
    class Default(HashingEmbedder):
        def __init__(self) -> None:
            super().__init__()
            self.name = "minilm-f32-1"

    with pytest.raises(InvalidInput, match="what everything was fitted on"):
        calibrating.calibrate(Default(), HashingEmbedder(), demo_conversations())
    assert "makes no vectors" in run("calibrate", embedder="none").error


# --- with real models ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_two_real_embedders_cut_and_abstain_better_once_calibrated(cache: Path) -> None:
    """Fails where the boundary policy or recall is not given what was fitted."""
    with served(WordAverage(cache).embed) as endpoint:
        for embedder in (HashingEmbedder(), OpenAIEmbedder("word-average", base_url=endpoint.url)):
            fitted = calibrating.calibrate(embedder, MiniLM(cache), demo_conversations()).calibration
            if fitted.scale is None:  # hashes are too far from meaning: words alone judge
                assert score(embedder, fitted) == score_by_words()
            else:
                assert score(embedder, fitted) > score(embedder, None) + 0.03
            (own, foreign), (own_before, foreign_before) = (answered(embedder, c) for c in (fitted, None))
            assert foreign < foreign_before  # by words alone they look likelier
            assert own - foreign > 0.3
            assert own_before - foreign_before > 0.3


@pytest.mark.slow
def test_the_command_fits_keeps_and_uses_it(
    cache: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "hashing.json"
    result = run("calibrate", "--output", path, "--json").json
    assert result["path"] == str(path)
    assert result["calibration"]["embedder"] == "hashing-256"
    assert calibrating.load(path).as_json() == result["calibration"]
    assert "by words alone" in run("calibrate", "--output", path, "--force").out
    case = tmp_path / "seg.jsonl"
    units = [{"speaker": s.speaker, "text": s.text} for s in dialogues()[2].units]
    case.write_text(json.dumps({"units": units, "starts": dialogues()[2].starts}) + "\n", encoding="utf-8")
    before = run("evaluate", "segmentation", case, "--json").json
    monkeypatch.setenv("EPISODIC_CALIBRATION", str(path))
    after = run("evaluate", "segmentation", case, "--json").json
    assert before["seg.jsonl"]["f1"] != after["seg.jsonl"]["f1"]
    assert run("config", "--json").json["settings"]["calibration"] == str(path)
    for source in sorted(DATA.glob("*.jsonl")):
        run("import", source)
    path.write_text("damaged", encoding="utf-8")
    assert "run `episodic calibrate` again" in run("search", "tap").error
    assert run("calibrate", "--own", "--output", path, "--force", "--json").json["calibration"]["texts"] > 250


def test_a_refused_key_stops_the_command_with_the_remedy_and_is_never_shown(
    cache: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    del cache
    with served(HashingEmbedder().embed) as endpoint:
        endpoint.scripted.append((401, {}, b"{}"))
        monkeypatch.setenv("EPISODIC_OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("EPISODIC_OPENAI_API_KEY", "sk-secret")
        outcome = run("calibrate", embedder="openai:m", db=":memory:")
        shown = run("config", embedder="openai:m").out + run("config", "--json", embedder="openai:m").out
    assert outcome.code == 6
    assert outcome.err.count("\n") == 2  # what it does, and what is wrong
    assert "set EPISODIC_OPENAI_API_KEY" in outcome.err
    assert "sk-secret" not in outcome.err + shown
    assert "***" in shown


@pytest.mark.slow
def test_calibrate_is_a_function_of_the_package(cache: Path, tmp_path: Path) -> None:
    del cache
    fitted = calibrate("hashing", output=tmp_path / "c.json")
    assert find_calibration(HashingEmbedder(), load_settings(), tmp_path / "c.json") == fitted.calibration
    with pytest.raises(InvalidInput, match="no embedder 'hashign'"):
        calibrate("hashign")
