"""Who said it: a search of what one person said, by the names they go by."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from builders.chats import Clock

from episodic_agent import Filter, Memory, UserMemory
from episodic_agent.engine.results import Recall
from episodic_agent.errors import InvalidInput

START = datetime(2026, 5, 4, 9, tzinfo=UTC)
TALK = (
    ("Ana", "the van costs 390 for the weekend"),
    ("Ben", "the van has seven seats, who drives the van?"),
    ("Ana", "whoever drives the van pays no fuel"),
    ("club", "I fetch the van on friday"),
    ("Cleo", "I can drive the van back"),
    ("Dora", "good night to all of you"),
)


@pytest.fixture
def club(url: str, clock: Clock) -> Iterator[UserMemory]:
    """Return the memory of a club in whose group some people talk of a van, and one tells the assistant."""
    with Memory.open(url, embedder="none", clock=clock) as memory:
        yield talked(memory.user("club", new=True), clock)


def talked(memory: UserMemory, clock: Clock) -> UserMemory:
    for n, (who, text) in enumerate(TALK):
        clock.now = START + timedelta(minutes=n)
        memory.add({"role": "user", "name": who, "content": text}, channel="group")
    memory.add("please order the van, and a roof box for the van", channel="dm-ana")
    memory.add("The van is ordered.", role="assistant", channel="dm-ana")
    memory.add("what does the roof box cost?", channel="dm-ana")
    memory.add("The roof box costs 12 euros.", role="assistant", channel="dm-ana")
    clock.now = START + timedelta(days=1)
    memory.flush()
    return memory


def speakers(recall: Recall) -> set[str]:
    return {proof.observation.actor for hit in recall.hits for proof in hit.evidence}


def test_a_search_of_one_speaker_has_nothing_that_others_said(club: UserMemory) -> None:
    assert speakers(club.search("what about the van?")) > {"Ana", "Ben"}
    for name in ("Ana", "ana", " ANA "):
        recall = club.search("what about the van?", speaker=name)
        assert speakers(recall) == {"Ana"}
        assert {proof.observation.actor for proof in recall.observations} == {"Ana"}
        assert not [hit for hit in recall.facts if not hit.fact.fact.startswith("Ana")]
    assert "390" in club.retrieve("the van", filter=Filter(speaker="Ana"), detail="high")


def test_the_user_is_meant_by_their_own_name_and_by_none(club: UserMemory) -> None:
    for name in ("club", "user"):
        assert speakers(club.search("the van", speaker=name)) == {"club", "user"}
    assert speakers(club.search("the van", speaker="assistant")) == {"assistant"}


def test_what_others_answered_or_said_beside_it_stands_beside_nothing(club: UserMemory) -> None:
    question = "what does the roof box cost?"
    assert "assistant" in speakers(club.search(question))
    assert speakers(club.search(question, speaker="user")) == {"club", "user"}
    for question in ("the van", "seven seats", "who pays no fuel?"):
        assert speakers(club.search(question, speaker="Dora")) <= {"Dora"}


def test_what_is_worth_most_of_others_takes_no_place_of_what_one_said(club: UserMemory) -> None:
    recall = club.search("who has seven seats and drives the van?", speaker="Cleo", limit=1, observations=1)
    assert [proof.observation.text for proof in recall.observations] == ["I can drive the van back"]


def test_a_speaker_nobody_heard_of_is_named_with_those_who_spoke(club: UserMemory) -> None:
    recall = club.search("the van", speaker="Zed")
    assert not recall.hits
    assert not recall.facts
    assert "nothing is stored that 'Zed' said; who spoke: " in recall.notes[-1]
    assert "Ben" in recall.notes[-1]
    club.add("I can bring rope", role="user", thread="dm")
    spoke = club.search("the van", speaker="Zed").notes[-1].partition("who spoke: ")[2].split(", ")
    assert club.name in spoke  # as she is called everywhere else
    assert "user" not in spoke


def test_who_spoke_elsewhere_is_not_told_where_a_search_is_held_to_some_channels(club: UserMemory) -> None:
    recall = club.search("the roof box", speaker="user", only=["group"])
    assert speakers(recall) <= {"club"}
    recall = club.search("the roof box", speaker="Zed", only=["group"])
    assert recall.notes[-1] == "nothing is stored that 'Zed' said"


def test_episodes_are_listed_in_which_somebody_speaks(club: UserMemory) -> None:
    listed = [club.episodes.list(speaker=name) for name in ("cleo", "assistant", "Zed")]
    assert [[one.origin.split()[0] for one in cards] for cards in listed] == [["group"], ["dm-ana"], []]
    assert [len(club.episodes.list(speaker="user", limit=n)) for n in (1, 2, 9)] == [1, 2, 2]
    assert [one.origin.split()[0] for one in club.episodes.list(speaker="user", limit=1)] == ["dm-ana"]
    assert [one.origin.split()[0] for one in club.episodes.list(speaker="user", only=["group"])] == ["group"]


def test_what_cannot_be_narrowed_to_a_speaker_says_so(club: UserMemory) -> None:
    with pytest.raises(InvalidInput, match="cannot be narrowed by 'speaker'"):
        club.chains.replay("the van", speaker="Ana")
    with pytest.raises(InvalidInput, match="seed-003 knows no filters"):
        club.search("the van", speaker="Ana", policy="seed-003")
