"""Damage to the file: told, whatever bit it is, and what can be read is saved in a new file."""

import random
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import apsw
import pytest
from builders.chats import Clock, diary
from builders.commands import Run

from episodic_agent import Memory
from episodic_agent.errors import EpisodicError
from episodic_agent.schemas import Observation, Scope
from episodic_agent.stores.sqlite import SqliteStore

FLIPS = 40
PAGE = 8192
USERS = ("ana", "bo")
Said = dict[tuple[str, str], list[Observation]]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sound") / "memory.db"
    with Memory.open(path, embedder="none", policy="seed-001", clock=Clock()) as memory:
        for user in USERS:
            memory.user(user).add(diary())
        memory.user("ana").add(
            # told by the assistant: of what a person states each line would be held against all others
            [{"role": "assistant", "content": f"line {n} " + "ä long story " * 40} for n in range(300)],
            thread="long",
        )
        memory.user("ana").flush()
    return path


@pytest.fixture
def path(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(sound, tmp_path / "memory.db"))


def said(path: Path) -> Said:
    """Read what everybody said, past the engine."""
    store, statement = SqliteStore(path), {}
    for scope in map(Scope, USERS):
        with store.begin(scope, write=False) as tx:
            for thread in tx.threads.list():
                statement[scope.user_id, thread.origin] = list(tx.observations.read(thread.id, 0, 10_000))
    store.close()
    return statement


def complaints(path: Path) -> list[str]:
    """Open and examine a memory; return what is said to be wrong."""
    try:
        with Memory.open(path, embedder="none", policy="seed-001", clock=Clock(), resume=False) as memory:
            return [finding.message for finding in memory.doctor() if finding.severity == "error"]
    except EpisodicError as error:
        return [str(error)]


def flipped(path: Path, rng: random.Random) -> None:
    content = bytearray(path.read_bytes())
    place = rng.randrange(len(content))
    content[place] ^= 1 << rng.randrange(8)
    path.write_bytes(content)


@pytest.mark.parametrize("flips", [FLIPS // 4, pytest.param(FLIPS, marks=pytest.mark.slow)])
def test_no_flipped_bit_changes_what_was_said_unseen(sound: Path, tmp_path: Path, flips: int) -> None:
    before, unseen, seen = said(sound), [], 0
    for seed in range(flips):
        path = Path(shutil.copy(sound, tmp_path / f"{seed}.db"))
        flipped(path, random.Random(seed))
        if complaints(path):
            seen += 1
            continue
        with suppress(EpisodicError):
            if said(path) == before:
                continue
        unseen.append(seed)
    assert unseen == []
    assert 0 < seen < flips


def spoil_pages(path: Path, texts: Iterator[str] | list[str]) -> None:
    """Overwrite the pages on which texts stand."""
    content = bytearray(path.read_bytes())
    for text in texts:
        start = (
            content.index(f"assistant{text}".encode()) // PAGE * PAGE
        )  # the actor stands before it in its row
        content[start : start + PAGE] = b"\xa5" * PAGE
    path.write_bytes(content)


def salvaged(path: Path) -> Path:
    return path.with_name("memory.salvaged.db")


@pytest.mark.slow
def test_what_can_be_read_is_saved_in_a_new_file_and_what_is_lost_is_named(run: Run, path: Path) -> None:
    before = said(path)
    spoil_pages(path, ["line 100 ", "line 200 "])
    damaged = path.read_bytes()
    examined = run("doctor")
    assert examined.code == 1
    assert "Traceback" not in examined.err
    saved = run("doctor", "--repair")
    assert saved.code == 1
    assert path.read_bytes() == damaged
    assert f"is saved in {salvaged(path)}" in saved.out
    assert "thread long: observation 100 is lost" in saved.out
    after = said(salvaged(path))
    remaining = {key: [one.text for one in some] for key, some in after.items()}
    for key, observations in before.items():
        texts = [one.text for one in observations]
        assert set(remaining[key]) <= set(texts)
        if key != ("ana", "long"):
            assert remaining[key] == texts
    lost = 300 - len(remaining["ana", "long"])
    assert 2 <= lost <= 60
    assert saved.out.count(" is lost") == lost
    assert run("doctor", "--repair", db=salvaged(path)).code == 0
    assert run("doctor", db=salvaged(path)).out == "sound\n"
    assert run("search", "cello teacher", "--user", "bo", "--json", db=salvaged(path)).json["hits"]


def test_a_text_that_changed_is_saved_as_it_reads_and_named(run: Run, path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content.replace(b"line 7 \xc3\xa4", b"line 7 \xff\xa4"))
    outcome = run("doctor")
    assert "thread long: observation 7 (" in outcome.out
    saved = run("doctor", "--repair")
    assert "is not what was stored; it is saved as it reads" in saved.out
    texts = [one.text for one in said(salvaged(path))["ana", "long"]]
    assert len(texts) == 300
    assert texts[7].startswith("line 7 ��")
    assert run("doctor", "--repair", db=salvaged(path)).code == 0


@pytest.mark.slow
def test_facts_of_words_that_changed_are_read_again_from_what_is_there(run: Run, path: Path) -> None:
    def quoted(of: Path) -> list[str]:
        with Memory.open(of, embedder="none", policy="seed-001", clock=Clock()) as memory:
            memory.user("ana").facts.consolidate()
            return [kept.fact.fact for kept in memory.user("ana").facts.list()]

    before = quoted(path)
    assert any("cello teacher" in fact for fact in before)
    content = path.read_bytes()
    path.write_bytes(content.replace(b"cello teacher", b"cell\xff teacher"))
    saved = run("doctor", "--repair")
    assert "2 facts could not be kept; the words are read for facts again" in saved.out  # of two users
    assert run("doctor", "--repair", db=salvaged(path)).code == 0
    assert run("doctor", db=salvaged(path)).code == 0
    assert quoted(salvaged(path)) == [fact.replace("cello", "cell\ufffd") for fact in before]


@pytest.mark.slow
def test_a_thread_whose_rows_are_lost_is_saved_under_another_name(run: Run, path: Path) -> None:
    with apsw.Connection(str(path)) as db:
        db.execute("PRAGMA foreign_keys = OFF; DELETE FROM thread; DELETE FROM frame; DELETE FROM scope")
    assert run("doctor").code == 1
    run("doctor", "--repair")
    store = SqliteStore(salvaged(path))
    assert [scope.user_id for scope in store.scopes()] == ["salvaged 1", "salvaged 2"]
    with store.begin(store.scopes()[0], write=False) as tx:
        counts = sorted(len(tx.observations.read(t.id, 0, 999)) for t in tx.threads.list())
    assert counts == [16, 300]
    store.close()
    assert run("doctor", "--repair", db=salvaged(path)).code == 0


def test_a_second_copy_gets_a_name_of_its_own(run: Run, path: Path) -> None:
    spoil_pages(path, ["line 100 "])
    run("doctor", "--repair")
    first = salvaged(path).read_bytes()
    run("doctor", "--repair")
    assert salvaged(path).read_bytes() == first
    assert path.with_name("memory.salvaged-2.db").exists()


def test_a_file_of_which_nothing_can_be_read_is_told_so(run: Run, path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[100:PAGE] = b"\xa5" * (PAGE - 100)
    path.write_bytes(content)
    assert "damaged" in run("doctor").error
    assert "restore a backup" in run("doctor", "--repair").error
    assert [file.name for file in path.parent.iterdir() if "salvaged" in file.name] == []


def test_a_sound_memory_is_repaired_in_its_place(run: Run, path: Path) -> None:
    assert run("doctor", "--repair").code == 0
    assert not salvaged(path).exists()
