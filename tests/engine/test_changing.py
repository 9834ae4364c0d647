"""What is said changes what was said before: judged in its conversation, told by facts and searches."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from builders.chats import START, Clock
from builders.minilm import default_model

from episodic_agent import Memory
from episodic_agent.engine.user import UserMemory

Line = tuple[int, str, str]
BESIDE = (
    (0, "Jo", "my mother's birthday is 14 May"),
    (1, "Jo", "I play football on Wednesdays"),
    (2, "Jo", "I have a dog called Pip"),
    (3, "Jo", "we use uv for everything"),
)
VAN = "van's booked, Big Dave and his cousin, 8am on the 19th, 420 quid"
HIRE = "the hire on bishy road takes 60 quid a day for a big van"
DENTIST = "dentist is on tuesday at 3"
GARY = "all sorted, Gary from the bakery with his bread van, same day, 9 tho. beer and 100 quid"


@pytest.fixture
def memory(tmp_path: Path, clock: Clock) -> Iterator[Memory]:
    with Memory.open(tmp_path / "m.db", embedder=default_model(), clock=clock) as memory:
        yield memory


@pytest.fixture
def jo(memory: Memory) -> UserMemory:
    return memory.user("jo")


def tell(jo: UserMemory, clock: Clock, lines: Sequence[Line]) -> None:
    """Tell lines, each on its day; those of one day in one sitting, a minute apart."""
    for n, (day, speaker, text) in enumerate(lines):
        clock.now = START + timedelta(days=day, minutes=n)
        jo.add(text, role=speaker, channel="chat", timestamp=clock.now)
    clock.forward(hours=1)
    jo.flush()


def holding(jo: UserMemory) -> set[str]:
    return {card.fact.value for card in jo.facts.list(limit=50)}


@pytest.mark.parametrize(
    ("before", "after", "question"),
    [
        (
            "release of lantern 2.4 is planned for thursday 25 june",
            "lantern 2.4 slips to tuesday 30 june",
            "when is the lantern 2.4 release?",
        ),
        (
            "we keep the old eta until 1 July, then it goes",
            "the old eta stays until 1 august",
            "until when do we keep the old eta?",
        ),
        (
            "the staging api is https://staging.lantern.example/v1",
            "staging moved! new url https://stage2.lantern.example/v1",
            "what is the url of staging?",
        ),
        (  # a rule of how to work, with a part of its own behind the comma
            "in harbor please branch off develop, never main",
            "develop is gone btw, in harbor we branch off main now",
            "what do we branch off in harbor?",
        ),
    ],
)
def test_what_changed_is_over_and_stands_behind_what_is_so(
    jo: UserMemory, clock: Clock, before: str, after: str, question: str
) -> None:
    tell(jo, clock, [*BESIDE, (5, "Jo", before), (20, "Jo", after)])
    assert holding(jo) == {text for _, _, text in BESIDE} | {after}
    recall = jo.search(question)
    assert [hit.fact.value for hit in recall.facts][:1] == [after]
    texts = [one.observation.text for one in recall.observations]
    assert texts.index(after) < texts.index(before)
    proofs = [hit.evidence[0].observation.text for hit in recall.hits]
    assert proofs.index(after) < proofs.index(before)


@pytest.mark.parametrize(
    ("before", "beside"),
    [
        ("my sister Anna lives in Bonn", "my brother Tom lives in Kiel"),
        ("the dev server runs on port 5173", "the postgres container is on port 5433"),
        ("lantern 2.4 is planned for thursday 25 june", "harbor 1.9 is planned for tuesday 30 june"),
        ("I'm allergic to nuts", "I'm allergic to penicillin too"),
        ("always answer short, no emojis", "no bullet points please"),
        ("in harbor please branch off develop, never main", "in lantern we always branch off main"),
        # a name that comes again, with news of its own
        ("I rent from Mr. Cho", "Mr. Cho has a new car, a blue Fiat, he parks it in our yard"),
    ],
)
def test_what_stands_beside_it_ends_nothing(jo: UserMemory, clock: Clock, before: str, beside: str) -> None:
    tell(jo, clock, [*BESIDE, (5, "Jo", before), (20, "Jo", beside)])
    assert holding(jo) == {text for _, _, text in BESIDE} | {before, beside}


@pytest.mark.parametrize("talked", [True, False])
def test_the_words_before_it_tell_what_is_changed(
    memory: Memory, jo: UserMemory, clock: Clock, talked: bool
) -> None:
    before = [(0, "Jo", "I have a dog called Pip"), (2, "Jo", VAN), (4, "Jo", DENTIST)]
    talk = [(6, "Jo", "big dave has broken his foot"), (6, "assistant", "How big is the van")]
    tell(jo, clock, [*before, *(talk if talked else []), (6, "Jo", GARY), (7, "Jo", HIRE)])
    assert GARY in holding(jo)
    assert (VAN in holding(jo)) is not talked
    assert memory.doctor() == []
    # what is asked names what was said first alone: what is so now stands where that stood
    recall = jo.search("how much does Big Dave take for the van on the 19th?")
    first = [one.observation.text for one in recall.observations[:2]]
    assert first == [GARY, VAN] if talked else first[0] == VAN
