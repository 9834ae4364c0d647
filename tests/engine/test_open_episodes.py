"""An episode that is still open stands in listings, and whoever asks for it by its id is told so."""

import pytest
from builders.chats import Clock, mine

from episodic_agent import Memory
from episodic_agent.errors import NotFound


def test_the_id_of_an_open_episode_is_said_to_be_open_with_what_reads_it(clock: Clock) -> None:
    with Memory.open(":memory:", embedder="hashing", clock=clock) as memory:
        mine(memory).add("The beehive at the church wall hums.", thread="bees")
        (listed,) = mine(memory).episodes.list()
        with pytest.raises(
            NotFound, match=r"is still open; `episodes\.card` and `episodes\.messages` read it"
        ):
            mine(memory).episodes.get(listed.episode_id)
        assert mine(memory).episodes.card(listed.episode_id).state == "open"
        assert len(mine(memory).episodes.messages(listed.episode_id)) == 1
        mine(memory).flush()
        assert mine(memory).episodes.list()[0].episode_id == listed.episode_id
        assert mine(memory).episodes.get(listed.episode_id).id == listed.episode_id
