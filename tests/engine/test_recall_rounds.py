"""`search` in two rounds, with an embedder that does not know the language, in a narrow window, by old names."""

from collections.abc import Sequence
from datetime import timedelta

import numpy as np
import pytest
from builders.chats import START, mine, say
from conftest import OpenMemory

from episodic_agent.schemas import Vector

TRIP = (
    "Ana plans the trip for her birthday: Porto it is, in September",
    "the printer is out of toner again",
    "for Porto I booked the hotel Sao Bento, two rooms",
    "for Leipzig somebody asked about the hotel Astoria, two rooms",
    "in Leipzig the museum is closed on Mondays",
    "somebody left an umbrella at the reception desk",
    "Porto is windy in September, take a coat",
)


class Blind:
    """An embedder that lays every text onto nearly one vector, as an English model does with Chinese."""

    name, dimensions = "minilm-blind", 3

    def embed(self, texts: Sequence[str]) -> Vector:
        """Return vectors whose cosines are .99 and more."""
        rows = [[1.0, 0.05 * (len(text) % 3), 0.05 * (ord(text[0]) % 2) if text else 0.0] for text in texts]
        vectors = np.array(rows, np.float32).reshape(-1, 3)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_what_shares_a_rare_word_with_the_first_hit_is_lifted(open_memory: OpenMemory) -> None:
    memory = open_memory(embedder="none")
    mine(memory).add([say(text, 1440 * n) for n, text in enumerate(TRIP)])
    question = "which hotel did we book for the trip Ana plans?"

    def place(policy: str, text: str) -> int:
        found = mine(memory).search(question, policy=policy, observations=7).observations
        return [one.observation.text for one in found].index(text)

    two_rounds = [place("default", text) for text in (TRIP[2], TRIP[3])]
    one_round = [place("recall-2026-12", text) for text in (TRIP[2], TRIP[3])]
    assert two_rounds[0] < two_rounds[1]
    assert two_rounds[0] <= one_round[0]
    best = mine(memory).search(question, explain=True, observations=7).observations
    legs = {one.observation.text: one.legs for one in best}
    assert legs[TRIP[2]]["second"] > legs[TRIP[3]]["second"] >= 0


def test_the_older_policy_by_name_has_no_second_round(open_memory: OpenMemory) -> None:
    memory = open_memory(embedder="none")
    mine(memory).add([say(text, 1440 * n) for n, text in enumerate(TRIP)])
    newer, older = (
        mine(memory).search("Ana's trip", policy=policy, explain=True).observations[0].legs
        for policy in ("default", "recall-2026-12")
    )
    assert "second" in newer
    assert "second" not in older
    by_date = mine(memory).search("Ana's trip", policy="recall-2027-01")
    assert by_date == mine(memory).search("Ana's trip")


@pytest.mark.slow
def test_statements_a_blind_embedder_takes_for_one_stay_in_their_places(open_memory: OpenMemory) -> None:
    memory = open_memory(embedder=Blind())
    people = [
        f"{who}的上司是{boss}"
        for who, boss in zip("赵钱孙李周吴郑王冯陈", "甲乙丙丁戊己庚辛壬癸", strict=True)
    ]
    mine(memory).add([say(text, 600 * n) for n, text in enumerate(people * 2)])
    mine(memory).add([say(f"天气记录第{n}天", 600 * (30 + n)) for n in range(10)])

    def first(policy: str) -> list[str]:
        found = mine(memory).search("赵和钱的上司是谁", policy=policy, observations=2).observations
        return sorted(one.observation.text for one in found)

    assert first("default") == sorted(people[:2])


@pytest.mark.slow
def test_a_true_repetition_gives_way_in_any_language(open_memory: OpenMemory) -> None:
    memory = open_memory(embedder=Blind())
    mine(memory).add([say("苹果在冰箱里", 600 * n) for n in range(6)])
    mine(memory).add(say("苹果五块钱一斤", 6000))
    mine(memory).add([say(f"天气记录第{n}天", 6600 + 600 * n) for n in range(20)])
    found = [one.observation.text for one in mine(memory).search("苹果", observations=2).observations]
    assert sorted(found) == ["苹果五块钱一斤", "苹果在冰箱里"]


@pytest.mark.parametrize("policy", ["default", "recall-2026-12"])
def test_a_window_of_one_message_is_answered_with_it_by_the_newer_policy(
    open_memory: OpenMemory, policy: str
) -> None:
    memory = open_memory(embedder="none")
    mine(memory).add([say(text, 1440 * n) for n, text in enumerate(TRIP)])
    day = START + timedelta(days=2)
    recall = mine(memory).search(
        "did the agency arrange a coach, breakfast, insurance, guides, tickets, lunch, transfers, porters, a room?",
        policy=policy,
        since=day,
        until=day + timedelta(hours=1),
    )
    assert recall.abstained == (policy == "recall-2026-12")
    assert (recall.confidence > 0.3) == (policy == "default")
    assert bool(recall.candidates) == recall.abstained
    shown = recall.candidates if recall.abstained else recall.hits
    assert "Sao Bento" in shown[0].evidence[0].observation.text


STATED = "Our neighbour Ines keeps bees and is allergic to them"
CHATTED = "we looked at the bees again today, what a day"
ASKED = "have you seen the bees there this year?"


def test_what_somebody_states_stands_above_what_chats_or_asks_about_it(open_memory: OpenMemory) -> None:
    memory = open_memory(embedder="none")
    said = [ASKED, "the bins go out tonight", CHATTED, "the car needs petrol", STATED, "see you at six"]
    mine(memory).add([say(text, 1440 * n) for n, text in enumerate(said)])
    found = mine(memory).search("bees", explain=True).observations
    assert found[0].observation.text == STATED
    legs = {one.observation.text: one.legs for one in found}
    by_words = {text: sum(of for name, of in part.items() if name != "states") for text, part in legs.items()}
    assert by_words[STATED] < by_words[CHATTED], "without it the chat would be first"
    assert legs[STATED]["states"] > max(legs[ASKED]["states"], legs[CHATTED]["states"])


def test_an_assistant_states_nothing(open_memory: OpenMemory) -> None:
    memory = open_memory(embedder="none")
    mine(memory).add([say(STATED), say(STATED + "!", 1440, role="assistant")])
    found = mine(memory).search("who is allergic to bees?", explain=True).observations
    states = {one.observation.actor: one.legs["states"] for one in found}
    assert states["assistant"] == 0
    assert states["user"] > 0


def test_words_of_a_fact_that_ended_stand_behind_those_that_took_its_place(open_memory: OpenMemory) -> None:
    memory = open_memory(embedder="none")
    was, now_is = "Our rent is 700 euros a month.", "Our rent is 720 euros a month now."
    for day, text in ((0, was), (6, "the landlord has a new dog"), (58, now_is)):
        mine(memory).add(say(text, 1440 * day), channel="sms")
    question = "what is our rent a month?"
    later = mine(memory).search(question, now=START + timedelta(days=200), explain=True).observations
    assert [one.observation.text for one in later[:2]] == [now_is, was]
    assert later[1].legs["replaced"] < 0, "without it the older would be first"
    then = mine(memory).search(question, now=START + timedelta(days=1)).observations
    assert then[0].observation.text == was, "then it was so"
