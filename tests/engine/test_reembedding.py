"""Another embedder for a memory that has vectors: search meanwhile, progress, and going on after a kill."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from builders.chats import CELLO, LISBON, TAP, Clock, mine, talk
from builders.embedders import TopicEmbedder
from conftest import OpenMemory

from episodic_agent import Memory
from episodic_agent.engine.doctor import reembedding
from episodic_agent.errors import InvalidInput
from episodic_agent.protocols import OBSERVATIONS
from episodic_agent.providers.embedders.hashing import HashingEmbedder
from episodic_agent.providers.embedders.openai import OpenAIEmbedder
from episodic_agent.schemas import Scope, Vector
from episodic_agent.settings import read_settings
from episodic_agent.wiring.policies import former_embedder

QUESTION = "what did the plumber say about the tap"
TALKS = (TAP, LISBON, CELLO)


class Failing(HashingEmbedder):
    """An embedder that ends the process, as it were, after some calls."""

    def __init__(self, dimensions: int, calls: int) -> None:
        super().__init__(dimensions)
        self.left = calls

    def embed(self, texts: Sequence[str]) -> Vector:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        return super().embed(texts)


def filled(memory: Memory) -> None:
    for day, lines in enumerate(TALKS):
        mine(memory).add(talk(lines, day))
    mine(memory).flush()


def count(memory: Memory, embedder: str) -> int:
    with memory._deps.store.begin(Scope(), write=False) as tx:
        return sum(map(len, TALKS)) - len(tx.index.unindexed(OBSERVATIONS, embedder, limit=1000))


def best(memory: Memory) -> list[tuple[str, bool]]:
    recall = mine(memory).search(QUESTION, explain=True)
    return [(shown.observation.text, shown.legs.get("dense", 0) != 0) for shown in recall.observations]


@pytest.mark.slow
def test_search_reads_the_former_vectors_until_the_new_ones_are_there(
    open_memory: OpenMemory,
) -> None:
    before = open_memory(embedder="hashing")
    filled(before)
    expected = best(before)
    before.close()
    memory = open_memory(embedder=HashingEmbedder(64))
    assert best(memory) == expected
    (note,) = mine(memory).search(QUESTION).notes
    assert note == (
        "not everything has vectors of hashing-64 yet (`episodic jobs reembed` makes them); the rest is compared "
        "by those of hashing-256"
    )
    (finding,) = [f for f in memory.doctor() if f.invariant == "I9"]
    assert finding.severity == "note"
    assert (
        "12 observations have no vector of hashing-64 (of 12; hashing-256 answers for them meanwhile"
        in finding.message
    )
    told: list[tuple[int, int]] = []
    assert memory.jobs.reembed(progress=lambda *p: told.append(p)) >= 12
    assert told == [(12, 12)]
    assert mine(memory).search(QUESTION).notes == []
    assert best(memory)[0] == expected[0]
    assert memory.doctor() == []
    with memory._deps.store.begin(Scope(), write=False) as tx:
        assert tx.embedders() == ["hashing-256", "hashing-64"]
    assert memory.jobs.list() == []
    assert memory.jobs.reembed() == 0


@pytest.mark.slow
def test_what_was_embedded_before_a_kill_stays_and_the_next_process_goes_on(
    open_memory: OpenMemory, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reembedding, "PAGE", 3)
    before = open_memory(embedder="hashing")
    filled(before)
    before.close()
    killed = open_memory(embedder=Failing(64, calls=2))
    with pytest.raises(KeyboardInterrupt):
        killed.jobs.reembed()
    assert count(killed, "hashing-64") == 6
    killed.close()
    memory = open_memory(embedder=HashingEmbedder(64))
    # both kinds of vectors answer, each document by the one it has
    recall = mine(memory).search("where is the flat in Lisbon", explain=True)
    assert all(shown.legs.get("dense", 0) != 0 for shown in recall.observations)
    assert [job.kind for job in memory.jobs.list()] == ["reembed"]
    clock.forward(minutes=6)
    assert memory.jobs.run() == 1
    assert count(memory, "hashing-64") == 12
    assert (memory.jobs.list(), memory.doctor()) == ([], [])


@pytest.mark.slow
def test_what_is_added_meanwhile_is_compared_by_its_own_vector(open_memory: OpenMemory) -> None:
    before = open_memory(embedder="hashing")
    filled(before)
    before.close()
    memory = open_memory(embedder=HashingEmbedder(64))
    mine(memory).add("The plumber has mended the tap at last.")
    shown = dict(best(memory))
    assert shown["The plumber has mended the tap at last."]
    assert all(shown.values())
    assert any(text in shown for _, text in TAP)


def test_where_the_former_embedder_is_not_at_hand_words_answer_and_it_is_said(
    open_memory: OpenMemory,
) -> None:
    before = open_memory(embedder=TopicEmbedder("tap", name="mine-1"))
    filled(before)
    before.close()
    memory = open_memory(embedder=HashingEmbedder(64))
    recall = mine(memory).search(QUESTION, explain=True)
    assert recall.observations
    assert not any(shown.legs.get("dense", 0) != 0 for shown in recall.observations)
    assert "mine-1 is not at hand, so the rest is found by words only" in recall.notes[0]


def test_a_memory_that_never_changed_its_embedder_is_looked_at_once(open_memory: OpenMemory) -> None:
    memory = open_memory(embedder="hashing")
    filled(memory)
    mine(memory).search(QUESTION)
    former = memory._deps.former
    assert former._settled == {Scope()}
    with memory._deps.store.begin(Scope(), write=False) as tx:
        tx.embedders = lambda: pytest.fail("it was looked at again")  # type: ignore[method-assign]
        assert former.between(tx) is None


@pytest.mark.slow
def test_a_worker_with_another_embedder_leaves_the_job_and_says_why(
    open_memory: OpenMemory, clock: Clock
) -> None:
    before = open_memory(embedder="hashing")
    filled(before)
    before.close()
    asking = open_memory(embedder=HashingEmbedder(64), jobs="workers")
    assert asking.jobs.reembed(wait=False) == 1
    asking.close()
    wrong = open_memory(embedder="hashing", resume=False)
    wrong.jobs.run()
    (job,) = wrong.jobs.list()
    assert "this process embeds with hashing-256, and hashing-64 was asked for" in str(job.last_error)
    wrong.close()
    clock.forward(hours=2)
    right = open_memory(embedder=HashingEmbedder(64), resume=False)
    right.jobs.run()
    assert count(right, "hashing-64") == 12


def test_without_an_embedder_there_is_nothing_to_embed_with(open_memory: OpenMemory) -> None:
    with pytest.raises(InvalidInput, match="choose one by EPISODIC_EMBEDDER"):
        open_memory(embedder="none").jobs.reembed()


SLOW = """
import sys, time
from episodic_agent import Memory
from episodic_agent.engine.doctor import reembedding
from episodic_agent.providers.embedders.hashing import HashingEmbedder
from episodic_agent.providers.embedders.openai import OpenAIEmbedder
reembedding.PAGE = 2
class Slow(HashingEmbedder):
    def embed(self, texts):
        time.sleep(0.3)
        return super().embed(texts)
with Memory.open(sys.argv[1], embedder=Slow(64), resume=False) as memory:
    memory.jobs.reembed(progress=lambda done, total: print(done, total, flush=True))
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="there is no such kill")
def test_a_killed_process_has_lost_a_page_at_most(open_memory: OpenMemory, database: Path) -> None:
    before = open_memory(embedder="hashing")
    filled(before)
    before.close()
    running = subprocess.Popen([sys.executable, "-c", SLOW, str(database)], stdout=subprocess.PIPE, text=True)
    assert running.stdout is not None
    done = int(running.stdout.readline().split()[0])
    running.send_signal(signal.SIGKILL)
    running.communicate()
    memory = open_memory(embedder=HashingEmbedder(64))
    left = count(memory, "hashing-64")
    assert 0 < left < 12
    assert done >= 1
    assert memory.jobs.reembed() > 0
    assert memory.doctor() == []
    vector = memory._deps.embedder.embed(["the tap"])[0]  # type: ignore[union-attr]
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-3)


def test_a_server_that_is_named_no_more_is_told_no_question() -> None:
    settings = read_settings({"EPISODIC_OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}, Path("/nowhere"))
    local, remote = HashingEmbedder(64), OpenAIEmbedder("small", base_url="http://127.0.0.1:9/v1")
    assert former_embedder("openai:large", settings, local) is None
    assert former_embedder("openai:large", settings, None) is None
    assert former_embedder("openai:large", settings, remote) is not None
    assert former_embedder("hashing-mine", settings, local) is None  # an object's own name, no size
    assert former_embedder("hashing-64", settings, None) is not None


def test_what_was_made_of_messages_is_embedded_later_though_the_messages_are_done(
    open_memory: OpenMemory,
) -> None:
    filled(open_memory(embedder=HashingEmbedder(64)))
    memory = open_memory(embedder=HashingEmbedder(32))
    name = memory._deps.embedder_name
    with memory._deps.store.begin(Scope()) as tx:
        refs = tx.index.unindexed(OBSERVATIONS, name, limit=1000)
        tx.index.put_vectors(OBSERVATIONS, name, refs, np.ones((len(refs), 32), np.float32))
    assert memory.jobs.reembed(wait=False) == 1
