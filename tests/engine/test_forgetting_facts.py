"""Facts where what proves them is erased, suppressed or expired: they go, or stay untold."""

import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from builders.chats import START, Clock, mine
from builders.erasing import SECRET, everywhere
from builders.models import alias_in

from episodic_agent import Memory
from episodic_agent.providers.models.staged import StagedModel
from episodic_agent.schemas import Json, Scope
from episodic_agent.testing.models import ScriptedModel

OpenMemory = Callable[..., Memory]
RENT, RENT_NOW = (
    "Our rent is 700 euros a month, says Brackmoor.",
    "Our rent is 720 euros a month now, says Quillmere.",
)
HANNAH = "My sister Hannah is a nurse."
QUERY = "how much is our rent?"


@pytest.fixture
def memory(open_memory: OpenMemory, clock: Clock) -> Memory:
    """A memory that was told of a rent, of another and of a sister, each in a thread of its own."""
    memory = open_memory()
    for day, text in enumerate((RENT, RENT_NOW, HANNAH)):
        clock.now = START + timedelta(days=30 * day)
        tell(memory, clock, text, thread=str(day))
    mine(memory).facts.consolidate()
    return memory


def tell(memory: Memory, clock: Clock, text: str, *, thread: str) -> None:
    mine(memory).add({"role": "user", "content": text, "timestamp": clock.now.isoformat()}, thread=thread)
    mine(memory).flush(thread=thread)


def known(memory: Memory) -> set[str]:
    return {card.fact.value for card in mine(memory).facts.list()}


def told(memory: Memory, query: str = QUERY) -> list[str]:
    return [found.fact.value for found in mine(memory).search(query).facts]


def test_what_an_erased_statement_had_ended_holds_again(memory: Memory, url: str) -> None:
    assert known(memory) == {RENT_NOW, HANNAH}
    mine(memory).erase(thread="1")
    assert known(memory) == {RENT, HANNAH}
    assert told(memory) == [RENT]
    assert everywhere(url, "quillmere") == []
    assert mine(memory).erasures.residue(["Quillmere"]) == []
    assert [f.message for f in memory.doctor() if f.severity == "error"] == []


def test_what_was_replaced_can_be_erased_and_leaves_no_word(memory: Memory, url: str) -> None:
    mine(memory).erase(thread="0")
    assert known(memory) == {RENT_NOW, HANNAH}
    assert everywhere(url, "brackmoor") == []
    assert [f.message for f in memory.doctor() if f.severity == "error"] == []


def test_an_erased_observation_proves_nothing_and_what_else_says_so_does(
    memory: Memory, clock: Clock, url: str
) -> None:
    tell(memory, clock, RENT_NOW, thread="3")
    mine(memory).facts.consolidate()
    (fact,) = [card.fact for card in mine(memory).facts.list() if card.fact.value == RENT_NOW]
    assert len(fact.evidence) == 2
    mine(memory).erase(observation=fact.evidence[0].observation_id)
    (left,) = [card.fact for card in mine(memory).facts.list() if card.fact.value == RENT_NOW]
    assert [one.observation_id for one in left.evidence] == [fact.evidence[1].observation_id]
    mine(memory).erase(observation=fact.evidence[1].observation_id)
    assert RENT_NOW not in known(memory)
    assert everywhere(url, "quillmere") == []


def test_an_export_from_before_does_not_bring_an_erased_fact_back(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "old.jsonl").write_text("\n".join(mine(memory).export()), encoding="utf-8")
    (evidence,) = [card.fact.evidence[0] for card in mine(memory).facts.list() if card.fact.value == RENT_NOW]
    mine(memory).erase(observation=evidence.observation_id)
    mine(memory).import_file(tmp_path / "old.jsonl")
    assert known(memory) == {RENT, HANNAH}


def test_what_only_suppressed_words_prove_stays_untold(memory: Memory) -> None:
    assert told(memory) == [RENT_NOW]
    mine(memory).episodes.suppress(thread="1")
    assert told(memory) == []
    mine(memory).episodes.unsuppress(thread="1")
    assert told(memory) == [RENT_NOW]
    mine(memory).episodes.suppress(words="quillmere")
    assert told(memory) == []


def test_nothing_is_learned_from_what_is_suppressed_until_it_is_shown_again(
    memory: Memory, clock: Clock
) -> None:
    clock.forward(days=1)
    mine(memory).episodes.suppress(words="brother")
    mine(memory).add("My brother Ben is a nurse.", thread="quiet", timestamp=clock.now)
    mine(memory).episodes.suppress(thread="quiet")
    mine(memory).flush(thread="quiet")
    mine(memory).facts.consolidate()
    assert told(memory, "Ben the nurse") == [HANNAH]
    mine(memory).episodes.unsuppress(words="brother")
    mine(memory).episodes.unsuppress(thread="quiet")
    mine(memory).facts.consolidate()
    assert "My brother Ben is a nurse." in told(memory, "Ben the nurse")


def test_what_only_expired_words_prove_is_not_listed(memory: Memory, clock: Clock) -> None:
    mine(memory).add("My brother Ben is a nurse.", thread="soon", timestamp=clock.now, ttl="1h")
    mine(memory).flush(thread="soon")
    assert "My brother Ben is a nurse." in known(memory)
    clock.forward(hours=2)
    assert known(memory) == {RENT_NOW, HANNAH}
    assert len(mine(memory).facts.list(limit=1)) == 1


def test_a_user_s_facts_go_with_the_user(memory: Memory, url: str) -> None:
    memory.user("default").erase(everything=True)
    assert everywhere(url, "hannah") == []
    assert memory.users() == []


# --- what a model tells ----------------------------------------------------------------------------------

SAFE, HOME, SISTER = f"The code of the safe is {SECRET}", "I live in Lisbon", "My sister Hannah is a nurse"


class Gossip:
    """A model that tells in every fact what it read in another message of the same question."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.meanwhile: Callable[[], object] = lambda: None

    @property
    def model(self) -> StagedModel:
        return StagedModel(None, {"facts": ScriptedModel(respond=self.respond)})

    def respond(self, prompt: str, _stage: str) -> dict[str, Json]:
        self.asked.append(prompt)
        knows = f" and knows {SECRET}" if SECRET in prompt else ""
        self.meanwhile()
        if "What do you expect?" in prompt:
            return {"expected": f"She lives in Lisbon{knows}."}
        answers = {
            HOME: ("lives_in", "Lisbon", f"She lives in Lisbon{knows}"),
            SISTER: ("other", "nurse", f"Her sister is a nurse{knows}"),
        }
        return {"facts": [_fact(prompt, said, *more) for said, more in answers.items() if said in prompt]}


def _fact(prompt: str, statement: str, attribute: str, value: str, text: str) -> Json:
    return {
        "action": "new", "known": None, "subject": "Maya", "category": "identity", "attribute": attribute,
        "value": value, "fact": text, "holds": True, "message": alias_in(prompt, statement),
        "quote": statement, "valid_from": None,
    }  # fmt: skip


@pytest.mark.parametrize("together", [True, False], ids=["one thread", "three threads"])
def test_what_a_model_told_of_other_messages_is_asked_for_again(
    url: str, clock: Clock, together: bool
) -> None:
    gossip = Gossip()
    with Memory.open(url, embedder="hashing", clock=clock, language_model=gossip.model) as memory:
        ids = [
            mine(memory).add({"role": "Maya", "content": text}, thread="one" if together else text[:6])[0].id
            for text in (SAFE, HOME, SISTER)
        ]
        mine(memory).flush()
        mine(memory).facts.consolidate()
        assert sum(SECRET in card.fact.fact for card in mine(memory).facts.list()) == 2
        mine(memory).erase(observation=ids[0])
        mine(memory).facts.consolidate()
        assert everywhere(url, SECRET) == []
        assert {card.fact.fact for card in mine(memory).facts.list()} == {
            "She lives in Lisbon",
            "Her sister is a nurse",
        }
        assert [f.message for f in memory.doctor() if f.severity == "error"] == []


def test_what_a_model_was_told_before_an_erasure_is_not_learned_after_it(url: str, clock: Clock) -> None:
    gossip = Gossip()
    with Memory.open(url, embedder="hashing", clock=clock, language_model=gossip.model) as memory:
        ids = [
            mine(memory).add({"role": "Maya", "content": text}, thread="one")[0].id
            for text in (SAFE, HOME, SISTER)
        ]
        mine(memory).flush()
        with Memory.open(url, embedder="hashing", clock=clock) as other:
            gossip.meanwhile = lambda: len(gossip.asked) > 1 or mine(other).erase(observation=ids[0])
            mine(memory).facts.consolidate()
        assert everywhere(url, SECRET) == []
        assert [f.message for f in memory.doctor() if f.severity == "error"] == []
        mine(memory).facts.consolidate()
        assert any("nurse" in value for value in known(memory))


def test_a_fact_that_a_person_wrote_outlives_the_words_of_the_model(url: str, clock: Clock) -> None:
    gossip = Gossip()
    with Memory.open(url, embedder="hashing", clock=clock, language_model=gossip.model) as memory:
        ids = [
            mine(memory).add({"role": "Maya", "content": text}, thread="one")[0].id
            for text in (SAFE, HOME, SISTER)
        ]
        mine(memory).flush()
        mine(memory).facts.consolidate()
        sister = next(card.id for card in mine(memory).facts.list() if "sister" in card.fact.fact)
        mine(memory).facts.edit(sister, text="Hannah is a nurse", value="nurse Hannah")
        mine(memory).erase(observation=ids[0])
        assert "Hannah is a nurse" in {card.fact.fact for card in mine(memory).facts.list()}
        assert everywhere(url, SECRET) == []
        assert [f.message for f in memory.doctor() if f.severity == "error"] == []


CHANGED, AGAIN = "We changed the code again", "I wrote it down on a card"


class Reminder:
    """A model that repeats, of the facts it is shown, what the messages it reads do not hold."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.meanwhile: Callable[[], object] = lambda: None

    @property
    def model(self) -> StagedModel:
        return StagedModel(None, {"facts": ScriptedModel(respond=self.respond)})

    def respond(self, prompt: str, _stage: str) -> dict[str, Json]:
        self.asked.append(prompt)
        if "What do you expect?" in prompt:
            return {"expected": f"She speaks of {SECRET}." if SECRET in prompt else "Nothing new."}
        knows = next((f"F{n}" for n in range(1, 9) if re.search(rf"^F{n} · .*{SECRET}", prompt, re.M)), None)
        if SAFE in prompt:
            return {"facts": [_fact(prompt, SAFE, "other", f"code {SECRET}", f"The code is {SECRET}")]}
        answer = []
        if knows:
            self.meanwhile()
        for text, value in ((CHANGED, "a newer code"), (AGAIN, "written down")):
            if text in prompt:
                then = f", and was {SECRET} before" if knows else ""
                answer.append(_fact(prompt, text, "other", value + then, f"The code is {value}{then}"))
                if knows and text == CHANGED:
                    answer[-1] |= {"action": "update", "known": knows}
        if SISTER in prompt:
            answer.append(_fact(prompt, SISTER, "other", "nurse", "Her sister is a nurse"))
        return {"facts": answer}


def test_what_a_model_repeats_of_a_fact_it_was_shown_goes_with_what_told_it(url: str, clock: Clock) -> None:
    reminder = Reminder()
    with Memory.open(url, embedder="hashing", clock=clock, language_model=reminder.model) as memory:
        ids = {}
        for text in (SAFE, CHANGED, SISTER, AGAIN):
            clock.forward(hours=1)
            ids[text] = mine(memory).add({"role": "Maya", "content": text}, thread=text[:6])[0].id
            mine(memory).flush()
            mine(memory).facts.consolidate()
        assert sum(SECRET in card.fact.fact for card in mine(memory).facts.list(history=True)) == 3
        with memory._deps.store.begin(Scope(), write=False) as tx:
            shown = [d.detail["known"] for d in tx.knowledge.decisions(type="facts")]
        assert shown[0] == {}
        assert str(ids[SAFE]) in shown[1].values()
        assert str(ids[SAFE]) not in shown[3].values()  # what it told itself was all that still held
        assert str(ids[CHANGED]) in shown[3].values()
        before = len(reminder.asked)
        mine(memory).erase(observation=ids[SAFE])
        mine(memory).facts.consolidate()
        assert everywhere(url, SECRET) == []
        assert mine(memory).erasures.residue([SECRET]) == []
        facts = {card.fact.fact for card in mine(memory).facts.list()}
        assert facts == {"The code is a newer code", "The code is written down", "Her sister is a nurse"}
        assert not any(SISTER in prompt for prompt in reminder.asked[before:] if "What do you" not in prompt)
        assert [f.message for f in memory.doctor() if f.severity == "error"] == []


def test_what_a_model_makes_of_a_fact_that_is_erased_meanwhile_is_not_learned(url: str, clock: Clock) -> None:
    reminder = Reminder()
    with Memory.open(url, embedder="hashing", clock=clock, language_model=reminder.model) as memory:
        (safe,) = mine(memory).add({"role": "Maya", "content": SAFE}, thread="safe")
        mine(memory).flush()
        mine(memory).facts.consolidate()
        mine(memory).add({"role": "Maya", "content": CHANGED}, thread="changed")
        mine(memory).flush()
        with Memory.open(url, embedder="hashing", clock=clock, jobs="workers") as other:
            reminder.meanwhile = lambda: mine(other).erase(observation=safe.id)
            mine(memory).facts.consolidate()
        assert everywhere(url, SECRET) == []
        mine(memory).facts.consolidate()
        assert {card.fact.fact for card in mine(memory).facts.list()} == {"The code is a newer code"}


@pytest.mark.parametrize("erased", [0, 1])
def test_a_fact_goes_with_the_words_it_points_to(
    open_memory: OpenMemory, clock: Clock, url: str, erased: int
) -> None:
    memory = open_memory()
    for text in ("My neighbour is called Brackmoor.", "His cat is called Quillmere."):
        clock.now += timedelta(minutes=1)
        mine(memory).add(text, thread="talk")
    mine(memory).flush()
    facts = {card.fact.value: card for card in mine(memory).facts.list()}
    cat = facts["His cat is called Quillmere."]
    assert cat.fact.fact.endswith('"My neighbour is called Brackmoor. … His cat is called Quillmere."')
    assert len(mine(memory).facts.get(cat.id).quotes) == 2
    assert [f.message for f in memory.doctor() if f.severity == "error"] == []
    mine(memory).erase(observation=cat.fact.evidence[erased].observation_id)
    assert known(memory) == ({"My neighbour is called Brackmoor."} if erased else set())
    assert everywhere(url, ("brackmoor", "quillmere")[erased]) == []
    assert [f.message for f in memory.doctor() if f.severity == "error"] == []


def test_a_fact_that_holds_suppressed_words_of_another_episode_stays_untold(
    open_memory: OpenMemory, clock: Clock
) -> None:
    memory = open_memory(policy="default")
    for text in ("My neighbour is called Brackmoor.", "His cat is called Quillmere."):
        clock.now += timedelta(minutes=1)
        mine(memory).add(text, thread="talk")
        mine(memory).flush()
    question = "What is the cat of the neighbour called?"

    def prompt() -> str:
        return mine(memory).context(question, thread="another").text

    cat, led = "His cat is called Quillmere.", "Brackmoor. … His cat"
    assert cat in told(memory, question)
    assert led in prompt()
    first = min(mine(memory).episodes.list(), key=lambda card: card.start_at)
    mine(memory).episodes.suppress(first.episode_id)
    assert cat not in told(memory, question)
    assert cat in prompt()  # the message itself is not suppressed
    assert "Brackmoor" not in prompt()
    mine(memory).episodes.unsuppress(first.episode_id)
    assert cat in told(memory, question)
    assert led in prompt()


@pytest.mark.parametrize("expired", [0, 1])
def test_a_fact_is_not_listed_where_its_words_or_those_before_have_expired(
    open_memory: OpenMemory, clock: Clock, expired: int
) -> None:
    memory = open_memory()
    texts = ("My neighbour is called Brackmoor.", "His cat is called Quillmere.")
    for n, text in enumerate(texts):
        clock.now += timedelta(minutes=1)
        mine(memory).add(text, thread="talk", ttl="1h" if n == expired else None)
    mine(memory).flush()
    assert known(memory) == set(texts)
    clock.forward(hours=2)
    assert known(memory) == ({texts[0]} if expired else set())


def test_words_of_another_sitting_lead_to_nothing(open_memory: OpenMemory, clock: Clock) -> None:
    memory = open_memory()
    for text in ("My neighbour is called Brackmoor.", "His cat is called Quillmere."):
        mine(memory).add(text, thread="talk")
        mine(memory).flush()
        clock.now += timedelta(hours=5)
    assert known(memory) == {"My neighbour is called Brackmoor."}


@pytest.mark.parametrize(
    ("name", "alone"),
    [
        ("Her name is Quillmere.", False),
        ("Her name is Quillmere and she lives in the flat below ours with two cats.", True),
    ],
)
def test_words_before_that_are_over_are_not_told_with_what_points_to_them(
    open_memory: OpenMemory, clock: Clock, name: str, alone: bool
) -> None:
    memory = open_memory()
    rent = "Our rent is 700 euros a month."
    for text in (rent, name):
        clock.now += timedelta(minutes=1)
        mine(memory).add(text, thread="talk")
    mine(memory).flush()
    user = mine(memory)
    (led,) = [card for card in user.facts.list() if card.fact.value == name]
    assert led.fact.fact == f'The user: "{rent} … {name}"'
    clock.now += timedelta(days=7)
    user.add("Our rent is 720 euros a month now.", thread="talk")
    user.flush()
    assert rent not in known(memory)
    question = "What is the name of who has our rent?"
    kept = [f'The user: "{name}"'] if alone else []
    assert [card.fact.fact for card in user.facts.list() if card.id == led.id] == kept
    assert [hit.fact.fact for hit in user.search(question).facts if hit.fact.id == led.id] == kept
    known_lines, _, earlier = user.context(question).text.partition("From earlier:")
    assert rent not in known_lines
    assert "720 euros" in known_lines + earlier  # dated, the older is told beside it alone
    before = user.facts.list(at=clock.now - timedelta(days=1))
    assert led.fact.fact in [card.fact.fact for card in before]


def test_retention_says_which_facts_go_along_and_may_keep_them(memory: Memory, clock: Clock) -> None:
    """Three days kept by age took a robot's rules and an allergy, and the preview named episodes alone."""
    tell(memory, clock, "The window rattled a little.", thread="window")
    clock.forward(days=30)
    user, facts = mine(memory), known(memory)
    before = {one.thread: one.facts for one in user.retention.preview("age=3d")}
    assert before == {"0": 0, "1": 1, "2": 1, "window": 0}  # the old rent was ended
    user.retention.set("age=3d,grace=0d,keep=facts")
    assert [one.thread for one in user.retention.preview()] == ["0", "window"]
    user.retention.apply()
    user.retention.apply()
    assert {card.fact.value for card in user.facts.list()} == facts
    user.retention.set("age=3d,grace=0d")
    user.retention.apply()
    user.retention.apply()
    assert known(memory) == set()
