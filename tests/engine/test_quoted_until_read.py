"""With a language model, too, messages are quoted as they come; what a model reads takes the place of it."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from builders.chats import Clock
from conftest import OpenMemory

from episodic_agent import Memory
from episodic_agent.errors import ProviderUnavailable
from episodic_agent.providers.models.openai import ModelLimits, OpenAIModel
from episodic_agent.providers.models.staged import StagedModel
from episodic_agent.schemas import Json
from episodic_agent.testing import Behaviour, ScriptedModel, serving

NINE = datetime(2026, 3, 2, 9, tzinfo=UTC)
PATIENCE = 60.0  # seconds until a test that hangs fails
WISH = "Please always answer me in short bullet points"
PERHAPS = "please always keep us posted on the school places, the head told the parents"  # .47 likely a wish
HARM = "I'm allergic to shellfish"
RENT = "Our rent is 700 euros a month"
TOLD = "The user pays 700 euros of rent a month"
WORKS = ["embed", "ask", "encode", "facts"]


def read_as(*facts: tuple[str, str]) -> Callable[[str], Mapping[str, Json]]:
    """Return what answers a reading: no part, these facts, each with the words that prove it."""

    def answer(_prompt: str) -> Mapping[str, Json]:
        rows: list[Json] = [
            {"action": "new", "fact": fact, "quote": quote, "matters": "years"} for fact, quote in facts
        ]
        return {"parts": [], "facts": rows}

    return answer


def unavailable(_prompt: str, _stage: str) -> ProviderUnavailable:
    return ProviderUnavailable("no answer")


class Life:
    """A memory whose model of every stage is asked at one place."""

    def __init__(self, open_memory: OpenMemory, path: Path, model: Any, **more: Any) -> None:
        self.clock = Clock(NINE)
        self._open = lambda: open_memory(path / "memory.db", clock=self.clock, language_model=model, **more)
        self.memory: Memory = self._open()
        self.user = self.memory.user("gem", new=True)

    def say(self, *texts: str, thread: str = "t") -> None:
        for text in texts:
            self.clock.now += timedelta(minutes=1)
            self.user.add({"role": "user", "content": text, "timestamp": self.clock.now}, thread=thread)

    def facts(self) -> set[str]:
        return {card.fact.fact for card in self.user.facts.list()}

    def reopen(self) -> None:
        self.memory.close()
        self.memory = self._open()
        self.user = self.memory.user("gem")

    def pass_hours(self, hours: float) -> None:
        self.clock.now += timedelta(hours=hours)
        self.user.upkeep(now=self.clock.now)


def speaking(url: str, **limits: Any) -> OpenAIModel:
    return OpenAIModel("any", base_url=url, limits=ModelLimits(tries=1, away=0.0, **limits))


def quoted(text: str) -> str:
    return f'The user: "{text}"'


@pytest.mark.parametrize("behaviour", [Behaviour.UNAVAILABLE, Behaviour.UNAUTHORIZED, Behaviour.GONE])
def test_wishes_and_facts_are_told_at_once_while_a_model_is_away(
    open_memory: OpenMemory, tmp_path: Path, behaviour: Behaviour
) -> None:
    with serving() as server:
        server.baseline = behaviour
        life = Life(open_memory, tmp_path, speaking(server.url))
        life.say(WISH, HARM)
        for _ in range(2):
            assert life.facts() == {quoted(WISH), quoted(HARM)}
            assert WISH in life.user.context("suggest a dinner", thread="new").text
            life.user.flush()
            life.reopen()


def test_the_doctor_names_the_model_that_is_away_and_what_waits_for_it(
    open_memory: OpenMemory, tmp_path: Path
) -> None:
    with serving() as server:
        server.baseline = Behaviour.UNAVAILABLE
        life = Life(open_memory, tmp_path, speaking(server.url), embedder="hashing")
        life.say(HARM)
        life.user.flush()
        life.pass_hours(30)
        notes = [one.message for one in life.memory.doctor() if one.invariant == "model"]
        (note,) = [one for one in notes if "for facts" in one]
        assert note.startswith("openai:any answered none of ")
        assert "2026-03-03" in note
        assert "1 episode waits for it" in note
        server.baseline = Behaviour.RIGHT
        server.respond = read_as((HARM, HARM))
        life.pass_hours(5)
        assert [one for one in life.memory.doctor() if one.severity == "error"] == []


def test_what_a_model_read_takes_the_place_of_what_was_quoted(
    open_memory: OpenMemory, tmp_path: Path
) -> None:
    model = ScriptedModel(respond=lambda prompt, _: read_as((TOLD, RENT))(prompt))
    stages = StagedModel(None, dict.fromkeys(("facts", "episode"), model))
    life = Life(open_memory, tmp_path, stages, policy="seed-001")
    life.say(RENT, WISH, HARM, "My sister Hannah is a nurse")
    before = {card.fact.fact: card.fact.id for card in life.user.facts.list()}
    assert before.keys() == {quoted(one) for one in (RENT, WISH, HARM, "My sister Hannah is a nurse")}
    life.user.flush()
    life.pass_hours(30)
    # what is restated stands once, what is left out goes, but for wishes and what may harm
    assert life.facts() == {TOLD, quoted(WISH), quoted(HARM)}
    assert life.user.facts.get(before[quoted(RENT)]).fact.fact == TOLD  # the old id leads on
    assert all(quoted(RENT) not in prompt for _, prompt in model.calls)  # it is not shown as known
    assert life.memory.doctor() == []


def test_words_that_may_be_a_wish_go_where_a_model_leaves_them_out(
    open_memory: OpenMemory, tmp_path: Path
) -> None:
    model = ScriptedModel(respond=lambda prompt, _: read_as()(prompt))
    stages = StagedModel(None, dict.fromkeys(("facts", "episode"), model))
    life = Life(open_memory, tmp_path, stages, policy="seed-001")
    life.say(WISH, PERHAPS)
    assert life.facts() == {quoted(WISH), quoted(PERHAPS)}
    life.user.flush()
    life.pass_hours(30)
    assert life.facts() == {quoted(WISH)}


def test_a_quotation_that_a_hand_confirmed_stays(open_memory: OpenMemory, tmp_path: Path) -> None:
    model = ScriptedModel(respond=lambda prompt, _: read_as()(prompt))
    stages = StagedModel(None, dict.fromkeys(("facts", "episode"), model))
    life = Life(open_memory, tmp_path, stages, policy="seed-001")
    life.say(RENT)
    life.user.facts.confirm(life.user.facts.list()[0].id)
    life.user.flush()
    life.pass_hours(30)
    assert model.calls
    assert life.facts() == {quoted(RENT)}


def test_what_a_model_read_before_it_was_quoted_is_not_quoted_after(
    open_memory: OpenMemory, tmp_path: Path
) -> None:
    model = ScriptedModel(respond=lambda prompt, _: read_as((TOLD, RENT))(prompt))
    stages = StagedModel(None, dict.fromkeys(("facts", "episode"), model))
    life = Life(open_memory, tmp_path, stages, policy="seed-001", jobs="workers")
    life.say(RENT)
    life.memory.jobs.worker(kinds=WORKS).run(once=True)
    life.user.flush()
    life.memory.jobs.worker(kinds=WORKS).run(once=True)
    life.pass_hours(30)
    life.memory.jobs.worker(kinds=WORKS).run(once=True)
    assert life.facts() == {TOLD}
    life.memory.jobs.worker().run(once=True)
    assert life.facts() == {TOLD}


def test_what_was_read_and_is_to_be_read_again_is_quoted_meanwhile(
    open_memory: OpenMemory, tmp_path: Path
) -> None:
    model = ScriptedModel(respond=lambda prompt, _: read_as((TOLD, RENT), (HARM, HARM))(prompt))
    stages = StagedModel(None, dict.fromkeys(("facts", "episode"), model))
    life = Life(open_memory, tmp_path, stages, policy="seed-001")
    life.say(RENT, thread="t")
    life.clock.now += timedelta(hours=2)
    life.say(HARM, thread="u")
    life.user.flush()
    life.pass_hours(30)
    assert life.facts() == {TOLD, HARM}
    model.respond = unavailable
    life.user.erase(thread="u")
    life.memory.jobs.run()
    assert life.facts() == {quoted(RENT)}
