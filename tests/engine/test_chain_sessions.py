"""Lives of agents that frame their sessions, several matters at once, chained by the whole engine."""

from collections import Counter

import pytest
from builders.chats import mine
from test_chain_stories import embedder

from benchmarks.chain_sessions import WRONG, counted, lives, play
from benchmarks.chain_stories import fresh


@pytest.mark.slow
def test_what_begins_new_in_a_project_rarely_gets_a_parent_and_what_goes_on_rarely_a_wrong_one() -> None:
    if embedder() == "none":
        pytest.skip("the figures are those of the default embedder")
    total: dict[str, Counter[str]] = {"open": Counter(), "end": Counter()}
    for life in lives("dev"):
        with fresh(embedder()) as (memory, clock):
            for stage, parents in zip(total, play(life, mine(memory), clock), strict=True):
                total[stage] += counted(life, parents)
    for counts in total.values():
        assert counts[WRONG] <= 5  # two judges that ask what a session is like made 15 and 13
        assert counts["right parent"] >= 20
