"""`Memory.open`: where the memory is, what it is made of, and what cannot be opened."""

import sqlite3
import sys
from pathlib import Path

import pytest
from builders.chats import NOW, USER, diary, mine
from builders.embedders import TopicEmbedder

from episodic_agent import Memory
from episodic_agent.errors import EpisodicError, InvalidInput, ProviderUnavailable, StoreError
from episodic_agent.providers.embedders.hashing import HashingEmbedder
from episodic_agent.settings import Settings, read_settings
from episodic_agent.wiring import database_path, make_embedder, make_sink, resolve_policy, temporary_memory


@pytest.mark.parametrize("form", ["{}", "sqlite:///{}"])
def test_a_path_and_a_url_name_the_same_file(tmp_path: Path, form: str) -> None:
    path = tmp_path / "m.db"
    with Memory.open(form.format(path), embedder="none") as memory:
        mine(memory).add("hello")
    with Memory.open(path, embedder="none") as memory:
        assert mine(memory).stats().observations == 1


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("mysql://host/db", "no store for 'mysql'"),
        ("sqlite://memory.db", "sqlite:///FILE"),
        ("sqlite:///", "is no database"),
        ("", "is a folder"),
        (".", "is a folder"),
    ],
)
def test_a_url_that_is_none_is_refused_with_the_remedy(url: str, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        Memory.open(url, embedder="none")
    with pytest.raises(InvalidInput, match=problem):
        database_path(url)


def test_a_memory_without_a_file_works_and_leaves_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Memory.open(":memory:", embedder="hashing", policy="seed-001") as memory:
        mine(memory).add(diary())
        assert mine(memory).search("cello teacher").observations
        assert memory.doctor() == []
    assert list(tmp_path.iterdir()) == []


def test_settings_come_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {
        "DB": str(tmp_path / "env.db"), "SPACE": "home", "EMBEDDER": "hashing", "POLICY": "seed-001",
    }  # fmt: skip
    for name, value in settings.items():
        monkeypatch.setenv(f"EPISODIC_{name}", value)
    with Memory.open() as memory:
        mine(memory).add("hello")
        stats = mine(memory).stats()
    assert (stats.embedder, stats.policy) == ("hashing-256", "seed-001")
    assert (tmp_path / "env.db").is_file()
    with Memory.open() as memory:
        assert memory.users() == [USER]
    with Memory.open(space="default") as memory:
        assert memory.users() == []


@pytest.mark.parametrize(
    ("setting", "seconds"), [("", 5.0), ("60", 5.0), ("20,thread_link=8", 8.0), ("thread_link=0.5", 0.5)]
)
def test_how_long_a_link_waits_for_a_model_is_a_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str, seconds: float
) -> None:
    monkeypatch.setenv("EPISODIC_LLM_TIMEOUT", setting)
    with Memory.open(tmp_path / "m.db", embedder="none") as memory:
        assert memory._works.linker._patience == seconds


def test_what_is_given_outranks_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPISODIC_SPACE", "work")
    monkeypatch.setenv("EPISODIC_EMBEDDER", "minilm")
    with Memory.open(tmp_path / "m.db", space="home", embedder="none", policy="seed-001") as memory:
        mine(memory).add("Hello")
        assert mine(memory).stats().embedder == "none"
    with Memory.open(tmp_path / "m.db", space="home", embedder="none") as memory:
        assert memory.users() == [USER]


def test_a_misspelt_setting_stops_the_opening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPISODIC_POLICIE", "default")
    with pytest.raises(InvalidInput, match="did you mean EPISODIC_POLICY"):
        Memory.open(tmp_path / "m.db")


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        (
            {"embedder": "minlm"},
            "no embedder 'minlm'; there are auto, minilm, minilm-int8, hf:OWNER/MODEL, a folder, openai:MODEL",
        ),
        ({"policy": "defalt"}, "did you mean 'default'"),
        ({"policy": "seed-001?max_mesages=9"}, "did you mean 'max_messages'"),
    ],
)
def test_unknown_parts_are_refused_with_the_known_ones(
    tmp_path: Path, parts: dict[str, str], problem: str
) -> None:
    with pytest.raises(InvalidInput, match=problem):
        Memory.open(tmp_path / "m.db", **{"embedder": "none", **parts})
    assert not (tmp_path / "m.db").exists()


def test_an_embedder_of_ones_own_is_used_and_named(tmp_path: Path) -> None:
    own = TopicEmbedder("tap", name="mine-1")
    with Memory.open(tmp_path / "m.db", embedder=own, policy="seed-001") as memory:
        mine(memory).add("the tap drips")
        assert mine(memory).stats().embedder == "mine-1"
    assert own.seen == ["the tap drips"]


def test_a_file_that_is_no_database_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("these are my notes, not a database, and they are long enough to look like one " * 10)
    before = path.read_bytes()
    with pytest.raises(StoreError, match="not a SQLite database"):
        Memory.open(path, embedder="none")
    assert path.read_bytes() == before


def test_another_programs_database_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE customer (name TEXT)")
    db.close()
    with pytest.raises(StoreError):
        Memory.open(path, embedder="none")
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT name FROM sqlite_master").fetchall() == [("customer",)]


@pytest.mark.slow
def test_a_database_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    Memory.open(path, embedder="none").close()
    with sqlite3.connect(path) as db:
        db.execute("INSERT INTO migration VALUES (999, 'from the future', 'x')")
    db.close()
    with pytest.raises(StoreError, match="newer"):
        Memory.open(path, embedder="none")


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(EpisodicError, match="cannot open"):
        Memory.open(tmp_path / "nowhere" / "m.db", embedder="none")


def test_without_a_model_auto_goes_on_and_minilm_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = read_settings({"EPISODIC_CACHE": str(tmp_path / "empty")}, tmp_path)

    def unreachable(*_: object, **__: object) -> None:
        raise ProviderUnavailable("the embedding model could not be fetched; run `episodic models pull`")

    monkeypatch.setattr("episodic_agent.providers.embedders.minilm.weights.pull", unreachable)
    texts: list[str] = []
    assert make_embedder("auto", settings, texts.append) is None
    assert "fetching the embedding model" in texts[0]
    assert "recall by words (BM25)" in texts[1]
    with pytest.raises(ProviderUnavailable, match="models pull"):
        make_embedder("minilm", settings)


def test_a_trial_memory_is_gone_afterwards() -> None:
    with temporary_memory(HashingEmbedder(), policy="seed-001", now=NOW) as memory:
        mine(memory).add(diary())
        path = Path(str(memory._deps.store.path))  # type: ignore[attr-defined]
        assert path.exists()
        assert mine(memory).stats().episodes == 3
    assert not path.parent.exists()


def test_policies_resolve_with_parameters() -> None:
    assert resolve_policy("seed-001", {"max_messages": 7}).name == "seed-001?max_messages=7"


def test_a_collector_without_its_extra_is_refused_by_our_setting_and_ignored_by_the_common_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry", None)  # type: ignore[arg-type]
    monkeypatch.delitem(sys.modules, "episodic_agent.providers.otel", raising=False)
    assert make_sink(Settings()) is None
    assert make_sink(Settings(otel_endpoint="http://localhost:4318")) is None  # from OTEL_EXPORTER_OTLP_…
    monkeypatch.setenv("EPISODIC_OTEL_ENDPOINT", "http://localhost:4318")
    with pytest.raises(InvalidInput, match=r"pip install '\.\[otel\]' in the clone"):
        make_sink(Settings(otel_endpoint="http://localhost:4318"))
