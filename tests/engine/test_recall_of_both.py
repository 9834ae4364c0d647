"""Facts and episodes in one answer: what holds, of which category, from which thread, told to a prompt."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from builders.chats import START, Clock
from builders.embedders import Crowded

from episodic_agent import Memory
from episodic_agent.engine.user import UserMemory
from episodic_agent.errors import InvalidInput

OpenMemory = Callable[..., Memory]
LIFE = (
    ("home", "Our rent is 700 euros a month, warm."),
    ("work", "My sister Hannah is a nurse at the children's hospital."),
    ("taste", "My flight to Lisbon is on 3 May."),
    ("talk", "The weather was dreadful on the whole way back."),
)

RENT_NOW = "Our rent is 720 euros a month now, warm."


@pytest.fixture
def memory(open_memory: OpenMemory, clock: Clock) -> UserMemory:
    """A memory that was told a little of Ana's life, each in a thread of its own, and has learned from it."""
    memory = open_memory().user("ana")
    for day, (thread, text) in enumerate(LIFE):
        clock.now = START + timedelta(days=day)
        memory.add({"role": "user", "content": text, "timestamp": clock.now.isoformat()}, thread=thread)
        memory.flush(thread=thread)
    memory.facts.consolidate()
    return memory


def told(memory: UserMemory, query: str, **options: object) -> list[str]:
    return [found.fact.value for found in memory.search(query, **options).facts]  # type: ignore[arg-type]


def test_one_answer_holds_the_fact_and_the_episode_it_was_said_in(memory: UserMemory) -> None:
    recall = memory.search("how much is our rent?")
    assert recall.facts[0].fact.value == LIFE[0][1]
    assert recall.facts[0].episodes == (recall.hits[0].episode_id,)
    assert "700 euros" in str(recall).splitlines()[0]
    assert told(memory, "quantum chromodynamics") == []
    assert told(memory, "how much is our rent?", facts=0) == []


def test_a_fact_that_ended_answers_only_for_its_time(memory: UserMemory, clock: Clock) -> None:
    clock.forward(days=30)
    moved = {"role": "user", "content": RENT_NOW, "timestamp": clock.now.isoformat()}
    memory.add(moved, thread="later")
    memory.flush(thread="later")
    memory.facts.consolidate()
    assert told(memory, "how much is our rent?") == [RENT_NOW]
    assert told(memory, "how much is our rent?", until=START + timedelta(days=9)) == [LIFE[0][1]]


def test_what_is_printed_of_a_hit_is_its_confidence_and_not_its_score(memory: UserMemory) -> None:
    recall = memory.search("how much is our rent?")
    fact, hit = str(recall).splitlines()[:2]
    assert fact.startswith("fact: user: ")
    assert hit.startswith(f"confidence {recall.hits[0].confidence:.0%}: {recall.hits[0].start_at:%Y-%m-%d} ")
    only_facts = replace(recall, hits=())
    assert str(only_facts).splitlines() == [fact, "nothing else relevant"]


@pytest.mark.parametrize(
    ("facts", "answered", "unanswered"),
    [
        (
            ("Наша кошка Муся ест только курицу.", "Моя сестра Аня живёт в Самаре."),
            "Что ест кошка?",
            "Какая столица Монголии?",
        ),
        (
            ("Unsere Katze Mia frisst nur Huhn.", "Meine Schwester Anna wohnt in Bremen."),
            "Was frisst die Katze?",
            "Was kostet ein Theaterticket?",
        ),
    ],
)
def test_where_the_embedder_finds_everything_near_only_words_bring_a_fact(
    open_memory: OpenMemory, facts: tuple[str, ...], answered: str, unanswered: str
) -> None:
    """A model of English puts any two Russian sentences close: its cosines must not lead an answer."""
    memory = open_memory(embedder=Crowded()).user("ana")
    memory.add(list(facts))
    memory.flush()
    assert told(memory, answered) == [facts[0]]
    assert told(memory, unanswered) == []
    assert "Known Facts" in memory.retrieve(answered)
    assert "Known Facts" not in memory.retrieve(unanswered)


def test_a_stretch_of_time_narrows_the_facts_by_when_they_were_said(memory: UserMemory) -> None:
    query, day = "how much is our rent?", timedelta(days=1)
    assert told(memory, query, since=START - day, until=START + 30 * day) == [LIFE[0][1]]
    assert told(memory, query, since=START + 30 * day) == []
    assert told(memory, query, until=START - day) == []


def test_category_and_thread_narrow_the_facts(memory: UserMemory) -> None:
    query = "how much is our rent?"
    assert told(memory, query) == told(memory, query, category=" Experience ") == [LIFE[0][1]]
    assert told(memory, query, category="guideline") == []
    assert told(memory, query, thread="home") == [LIFE[0][1]]
    assert told(memory, query, thread="work") == []
    with pytest.raises(InvalidInput, match="there are identity"):
        memory.search("anything", category="magic")
    with pytest.raises(InvalidInput, match="0 or more"):
        memory.search("anything", facts=-1)


def test_a_prompt_is_told_both_in_the_seed_s_form(memory: UserMemory) -> None:
    text = memory.retrieve("how much is our rent?", detail="high")
    facts, episodes = text.split("\n\n", 1)
    assert facts.startswith("## Known Facts\n- [experience] ")
    assert 'warm." (from 1 episode)' in facts
    assert episodes.startswith("## Episodic Memories\n### ")
    assert f'**Details:**\n- user: "{LIFE[0][1]}"' in episodes
    assert "Details" not in memory.retrieve("how much is our rent?", detail="none")
    assert memory.retrieve("quantum chromodynamics") == ""
    with pytest.raises(InvalidInput, match="there are auto"):
        memory.retrieve("where", detail="all")  # type: ignore[arg-type]


def test_asking_for_both_changes_no_strength(memory: UserMemory) -> None:
    def strengths() -> list[tuple[float, float]]:
        return [(card.stability, card.surprise) for card in memory.episodes.list()]

    before, facts = strengths(), memory.facts.list()
    memory.search("how much is our rent?")
    memory.retrieve("how much is our rent?")
    assert (strengths(), memory.facts.list()) == (before, facts)
