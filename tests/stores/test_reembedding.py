"""Another embedder for a memory on either store: the former vectors answer until the new ones are there."""

import pytest
from builders.chats import CELLO, LISBON, TAP, Clock, mine, talk

from episodic_agent import Memory
from episodic_agent.engine.doctor import reembedding
from episodic_agent.providers.embedders.hashing import HashingEmbedder
from episodic_agent.schemas import Scope


@pytest.mark.slow
def test_a_memory_on_either_store_is_embedded_again_while_it_answers(
    url: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reembedding, "PAGE", 5)
    with Memory.open(url, embedder="hashing", policy="seed-001", clock=clock) as memory:
        for day, lines in enumerate((TAP, LISBON, CELLO)):
            mine(memory).add(talk(lines, day))
        mine(memory).flush()
        expected = [shown.observation.text for shown in mine(memory).search("the tap drips").observations]
    changed = HashingEmbedder(64)
    with Memory.open(url, embedder=changed, policy="seed-001", clock=clock, resume=False) as memory:
        recall = mine(memory).search("the tap drips")
        assert [shown.observation.text for shown in recall.observations] == expected
        assert "compared by those of hashing-256" in recall.notes[0]
        assert reembedding.embed_page(memory._deps, Scope()) >= 5  # and then the process is killed
    with Memory.open(url, embedder=changed, policy="seed-001", clock=clock, resume=False) as memory:
        assert "not everything has vectors of hashing-64 yet" in mine(memory).search("the tap drips").notes[0]
        told: list[tuple[int, int]] = []
        memory.jobs.reembed(progress=lambda *share: told.append(share))
        assert told[-1] == (7, 7)
        assert mine(memory).search("the tap drips").notes == []
        assert memory.doctor() == []
        with memory._deps.store.begin(Scope(), write=False) as tx:
            assert tx.embedders() == ["hashing-256", "hashing-64"]
