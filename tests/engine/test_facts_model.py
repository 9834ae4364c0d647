"""Facts by a language model: what it tells, what is refused, and what happens where it fails or is slow."""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta

import pytest
from builders.chats import Clock, mine
from builders.facts import (
    NOW_TRUE,
    RENT_NOW,
    SISTER,
    START,
    Opened,
    decisions,
    episode,
    memories,
    three,
    told,
    waiting,
)
from builders.injections import INJECTIONS
from builders.models import alias_in, messages_in

from episodic_agent import Memory
from episodic_agent.core.prompts import facts as question
from episodic_agent.engine.facts import job as consolidating
from episodic_agent.errors import BudgetSpent, ProviderError, ProviderUnavailable
from episodic_agent.providers.models.staged import StagedModel
from episodic_agent.schemas import Json
from episodic_agent.testing.models import ScriptedModel


@pytest.fixture
def clock() -> Clock:
    return Clock(START + timedelta(days=60))


@pytest.fixture
def opened(url: str, clock: Clock) -> Iterator[Opened]:
    """Open memories on one database of each of the two stores."""
    with memories(url, clock) as opened:
        yield opened


Answer = Mapping[str, Json] | ProviderError


def fact(
    prompt: str, action: str, statement: str, text: str, known: str | None = None, **more: Json
) -> dict[str, Json]:
    """Return one fact of an answer: by which words, and what known fact it acts on."""
    return {
        "action": action, "known": alias_in(prompt, known) if known else None, "subject": "Maya",
        "category": "identity", "attribute": "other", "value": text, "fact": text, "holds": True,
        "message": alias_in(prompt, statement), "quote": statement, "since": None, "on": None, **more,
    }  # fmt: skip


class Script:
    """A model for facts alone: what it is asked, and what it answers to the question to calibrate."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answer: Callable[[str], list[Json]] = lambda _prompt: []
        self.problem: ProviderError | None = None
        self.wrong: Mapping[str, Json] | None = None

    @property
    def model(self) -> StagedModel:
        return StagedModel(None, {"facts": ScriptedModel(respond=self.respond)})

    def respond(self, prompt: str, _stage: str) -> Answer:
        self.asked.append(prompt)
        if self.problem is not None:
            return self.problem
        if self.wrong is not None:
            return self.wrong
        if "What do you expect?" in prompt:
            return {"expected": "She talks of Lisbon."}
        return {"facts": self.answer(prompt)}


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def knowing(opened: Opened, script: Script) -> Memory:
    """A memory whose model has told three facts of three episodes."""
    script.answer = lambda p: [
        fact(p, "new", "I live in Lisbon", "Maya lives in Lisbon", attribute="lives_in", value="Lisbon"),
        fact(p, "new", "I love fado", "Maya loves fado", attribute="likes", value="fado", category="preference"),
        fact(p, "new", SISTER, "Maya has a sister, Hannah", attribute="relationship", value="sister Hannah"),
    ]  # fmt: skip
    memory = opened(language_model=script.model)
    episode(memory, "I live in Lisbon", 0)
    episode(memory, "I love fado", 1)
    episode(memory, SISTER, 2)
    return memory


def test_a_model_tells_what_is_new(knowing: Memory, script: Script) -> None:
    assert told(knowing) == {"Maya lives in Lisbon", "Maya loves fado", "Maya has a sister, Hannah"}
    assert len(script.asked) == 1  # three episodes together
    assert [use.stage for use in knowing.usage()] == ["facts"]
    card = mine(knowing).facts.get(mine(knowing).facts.list("Hannah")[0].id)
    (quote,) = card.quotes
    assert (quote.text, quote.learned_at) == (SISTER, START + timedelta(days=60))
    assert card.record["source_episodic_ids"] == [str(mine(knowing).episodes.list()[2].episode_id)]
    records = decisions(knowing)
    assert {d.policy_version for d in records} == {question.VERSION}
    assert [d.features["told"] for d in records] == [1, 1, 1]
    assert all(len(d.detail["together"]) == 3 for d in records)  # type: ignore[arg-type]
    assert knowing.doctor() == []


def test_a_model_reinforces_updates_and_ends_what_is_known(knowing: Memory, script: Script) -> None:
    texts = {
        "again": "Fado again tonight",
        "moved": "We moved to Porto",
        "end": "Hannah is not my sister",
        "odd": "I am 41",
    }
    script.answer = lambda p: [
        fact(p, "reinforce", texts["again"], "Maya loves fado", "Maya loves fado", value="fado"),
        fact(p, "update", texts["moved"], "Maya lives in Porto", "Maya lives in Lisbon", value="Porto", since="2026-03-11"),
        fact(p, "invalidate", texts["end"], "Maya has no sister", "Maya has a sister, Hannah"),
        fact(p, "new", texts["odd"], "Maya is 42 years old", value="42"),
        {**fact(p, "reinforce", texts["odd"], "Maya is 41"), "known": "F9"},
    ]  # fmt: skip
    for n, text in enumerate(texts.values()):
        mine(knowing).add(text, role="Maya", thread=text, timestamp=START + timedelta(days=10 + n))
    mine(knowing).flush()
    assert told(knowing) == {"Maya loves fado", "Maya lives in Porto", "Maya has no sister"}
    home = mine(knowing).facts.list("Porto")[0].fact
    assert home.valid_at == datetime(2026, 3, 11, tzinfo=UTC)
    assert len(mine(knowing).facts.list("fado")[0].fact.evidence) == 2
    refused = next(d.detail["refused"] for d in decisions(knowing) if d.detail["refused"])
    assert refused == ["fact 4: nobody said 42", "fact 5: 'F9' is none of F1 to F3"]
    assert "Maya lives in Lisbon" in script.asked[1]
    assert len(script.asked) == 2  # nothing is asked about what is to be expected
    assert knowing.doctor() == []


def test_the_same_in_other_words_is_no_second_fact(knowing: Memory, script: Script) -> None:
    script.answer = lambda p: [
        fact(p, "new", "How I love fado", "Maya loves fado!", attribute="likes", value="the fado music", category="preference"),
        fact(p, "new", "but not jazz", "Maya loves fado not", attribute="dislikes", value="fado", category="preference"),
    ]  # fmt: skip
    episode(knowing, "How I love fado", 9)
    episode(knowing, "but not jazz", 10)
    mine(knowing).facts.consolidate()
    loved = [card.fact for card in mine(knowing).facts.list(history=True) if card.fact.attribute == "likes"]
    assert [(one.value, len(one.evidence)) for one in loved] == [("fado", 2)]
    assert loved[0].invalid_at is not None  # the one that was said against it is not merged: it ends it


@pytest.mark.slow
def test_a_failing_model_leaves_everything_waiting_and_recall_working(
    opened: Opened, script: Script, clock: Clock
) -> None:
    script.problem = ProviderUnavailable("no answer; try again later")
    memory = three(opened(language_model=script.model))
    for _ in range(4):
        clock.forward(minutes=30)
        memory.jobs.run()
        assert mine(memory).facts.consolidate() == 0
    assert (waiting(memory), told(memory), decisions(memory)) == (3, NOW_TRUE, [])  # quoted until it answers
    assert mine(memory).search("where does Maya live?").observations
    assert len(memory.jobs.list()) == 1
    script.problem = None
    script.answer = lambda p: [fact(p, "new", SISTER, "Maya has a sister")] if SISTER in p else []
    clock.forward(hours=2)
    memory.jobs.run()
    assert (waiting(memory), told(memory), memory.jobs.list()) == (0, {"Maya has a sister"}, [])


@pytest.mark.slow
@pytest.mark.parametrize("problem", ["away", "wrong", "refuses"])
def test_a_model_that_fails_for_hours_leaves_it_to_the_rules(
    opened: Opened, script: Script, clock: Clock, problem: str
) -> None:
    problems = {"away": ProviderUnavailable("no answer"), "refuses": ProviderError("the key is wrong")}
    script.problem = problems.get(problem)
    script.wrong = {"facts": "none"} if problem == "wrong" else None
    memory = three(opened(language_model=script.model))

    def asked_in(turns: int) -> int:
        before = len(script.asked)
        for _ in range(turns):
            clock.forward(hours=1)
            memory.jobs.run()
            memory.upkeep()
        return len(script.asked) - before

    first = asked_in(1)
    assert first > 0
    if problem == "wrong":  # nonsense costs at most three calls a question, however long it lasts
        assert len(script.asked) <= 3 * 3
    else:
        assert (waiting(memory), decisions(memory)) == (3, [])
        assert asked_in(17) > 0
    assert (waiting(memory), memory.jobs.list()) == (0, [])
    assert told(memory) == NOW_TRUE
    assert [bool(one.detail["without_model"]) for one in decisions(memory)] == [True] * 3
    assert asked_in(5) == 0


def test_a_run_among_the_dead_letters_is_asked_for_by_what_is_new_alone(
    opened: Opened, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def spoilt(*_: object) -> list[object]:
        raise ValueError("a fault of ours")

    memory = opened(jobs="workers")
    three(memory)
    memory.jobs.worker(kinds=["encode", "compact"]).run(once=True)
    memory = opened()
    monkeypatch.setattr(consolidating, "quoted", spoilt)
    for _ in range(8):
        clock.forward(hours=1)
        memory.jobs.run()
    dead = memory.jobs.list()
    assert {job.state for job in dead} == {"dead"}
    assert sum(job.key == "facts" for job in dead) == 1
    clock.forward(hours=1)
    assert memory.jobs.run() == memory.jobs.run() == 0
    assert [job.id for job in memory.jobs.list()] == [job.id for job in dead]
    monkeypatch.undo()
    assert mine(memory).facts.consolidate() == 3


def test_one_episode_a_model_cannot_read_does_not_hold_back_the_others(
    opened: Opened, script: Script, clock: Clock
) -> None:
    memory = opened(language_model=script.model)
    respond = script.respond

    def picky(prompt: str, stage: str) -> Answer:
        answer = respond(prompt, stage)
        refuses = f': "{SISTER}"' in prompt
        return {"facts": "cannot"} if refuses else answer

    script.respond = picky  # type: ignore[method-assign]
    memory = opened(language_model=script.model)
    script.answer = lambda p: [fact(p, "new", RENT_NOW, "Maya pays 720")] if f': "{RENT_NOW}"' in p else []
    three(memory)
    assert waiting(memory) == 3
    clock.forward(minutes=30)
    memory.jobs.run()
    assert waiting(memory) == 0
    assert "Maya pays 720" in told(memory)
    by_rules = [bool(one.detail.get("without_model")) for one in decisions(memory)]
    assert sorted(by_rules) == [False, False, True]


def test_a_spent_budget_leaves_it_to_the_rules(opened: Opened, script: Script) -> None:
    script.problem = BudgetSpent("spent")
    memory = three(opened(language_model=script.model))
    assert told(memory) == NOW_TRUE
    assert {d.policy_version for d in decisions(memory)} == {"facts-13"}


@pytest.mark.parametrize("injection", INJECTIONS, ids=range(len(INJECTIONS)))
def test_what_is_said_to_the_model_stands_quoted(open_memory: Opened, script: Script, injection: str) -> None:
    memory = open_memory(language_model=script.model)
    attack = injection.replace("{fence}", "```")
    for n, text in enumerate((attack, "I live in Lisbon")):
        mine(memory).add(text, role="Maya", thread=f"t{n}", timestamp=START)
    mine(memory).flush()
    mine(memory).facts.consolidate()
    (prompt,) = script.asked
    assert [who for who, _ in messages_in(prompt)] == ["Maya", "Maya"]
    expected = question.gather(question.Owner(), (), []).split("\n")
    lines = [line for line in prompt.split("\n") if line not in expected and not line.startswith("m")]
    headings = [line for line in lines if line.startswith('Conversation: "') and "2 March 2026" in line]
    assert (len(headings), len(lines)) == (2, 2)


def test_nobody_is_asked_where_nobody_speaks(opened: Opened, script: Script) -> None:
    memory = opened(language_model=script.model)
    for n in range(3):
        episode(memory, "I live in Rome", n, role="assistant")
    assert (waiting(memory), script.asked) == (0, [])


def test_a_hand_that_is_faster_than_the_model_is_heeded(
    opened: Opened, knowing: Memory, script: Script
) -> None:
    other = opened()
    old = mine(other).facts.list("Lisbon")[0].id

    def answer(prompt: str) -> list[Json]:
        if not mine(other).facts.get(old).fact.pinned:
            mine(other).facts.pin(old)
        update = fact(
            prompt,
            "update",
            "We moved to Porto",
            "Maya lives in Porto",
            "Maya lives in Lisbon",
            value="Porto",
        )
        return [update]

    script.answer = answer
    episode(knowing, "We moved to Porto", 9)
    mine(knowing).facts.consolidate()
    assert told(knowing, query="lives", category="identity") == {"Maya lives in Lisbon"}
    assert mine(knowing).facts.get(old).fact.pinned
    assert knowing.doctor() == []


def test_a_process_that_dies_after_its_call_leaves_everything_to_the_next(
    opened: Opened, script: Script, clock: Clock
) -> None:
    def answer(prompt: str) -> list[Json]:
        if len(script.asked) == 1:
            raise KeyboardInterrupt
        return [fact(prompt, "new", SISTER, "Maya has a sister")] if SISTER in prompt else []

    script.answer = answer
    memory = opened(language_model=script.model)
    with pytest.raises(KeyboardInterrupt):
        three(memory)
    assert (waiting(memory), told(memory)) == (3, NOW_TRUE)
    clock.forward(minutes=5)
    opened(language_model=script.model).jobs.run()
    assert (waiting(memory), told(memory), memory.jobs.list()) == (0, {"Maya has a sister"}, [])
