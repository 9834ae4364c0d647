"""Where a language model chooses what a thread goes on with: asked once, and what it says stands."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from builders.chats import Clock, mine
from builders.models import only
from conftest import OpenMemory

from episodic_agent import Memory
from episodic_agent.core.prompts.thread_link import CHOICE_VERSION, MOST_OPTIONS, STAGE
from episodic_agent.engine.links.candidates import with_latest
from episodic_agent.engine.links.job import FEWEST_OPTIONS, LINK
from episodic_agent.errors import ProviderUnavailable
from episodic_agent.schemas import Decision, Json, Scope, Thread
from episodic_agent.testing.models import Answer, ScriptedModel

TEN = datetime(2026, 3, 2, 10, tzinfo=UTC)
HOUR = 60.0
MATTERS = {
    "kiln": ("The kiln at the pottery studio trips the fuse", "Which glaze survives a cone six firing?"),
    "tax": ("My tax return lacks the receipt for the printer", "The refund letter names box 44"),
    "ferry": ("The Gozo ferry from Cirkewwa is cancelled", "Is there a harbour bus to Marsalforn?"),
    "bread": ("My sourdough starter smells of acetone", "How much rye flour does the levain want?"),
    "bike": ("The derailleur of my bike jumps under load", "Which cassette fits an eleven speed hub?"),
}
MORE = ("violin", "tomato", "passport", "router", "mortgage", "kayak", "chess")
FAILED = "well, it failed"
_OPTION = re.compile(r"^(t\d+) · (.*)$", re.MULTILINE)
Opened = Callable[..., Memory]


@pytest.fixture
def opened(open_memory: OpenMemory, clock: Clock) -> Opened:
    """Open memories whose model is asked about links alone."""

    def with_model(model: ScriptedModel, **more: Any) -> Memory:
        arguments = {
            "embedder": "none", "policy": "seed-001", "clock": clock, "link_policy": "default?ask=0"
        }  # fmt: skip
        return open_memory(**{**arguments, "language_model": only(model, STAGE), **more})

    return with_model


def shown(prompt: str) -> dict[str, str]:
    """Return the candidates of a prompt, by alias."""
    return dict(_OPTION.findall(prompt))


def choosing(*words: str, confidence: float = 0.95) -> Callable[[str, str], Answer]:
    """Choose the candidates whose line holds one of these words."""

    def respond(prompt: str, _stage: str) -> Answer:
        named: list[Json] = [
            alias for alias, line in shown(prompt).items() if any(word in line for word in words)
        ]
        return {"reason": "the same matter", "threads": named, "confidence": confidence}

    return respond


def tell(memory: Memory, minute: float, *texts: str, **more: Any) -> Thread:
    """Add messages a minute apart and return the thread they are in."""
    for n, text in enumerate(texts):
        at = TEN + timedelta(minutes=minute + n)
        (receipt,) = mine(memory).add(text, **{"timestamp": at, "channel": "sms", **more})
    return next(t for t in mine(memory).threads.list() if t.id == receipt.thread_id)


def five_matters(memory: Memory) -> dict[str, Thread]:
    return {name: tell(memory, 1.5 * HOUR * n, *texts) for n, (name, texts) in enumerate(MATTERS.items())}


def silence(memory: Memory, clock: Clock, minute: float) -> None:
    clock.now = TEN + timedelta(minutes=minute)
    mine(memory).upkeep(now=clock.now)


def links(memory: Memory) -> list[tuple[str, str]]:
    return [(c.later.origin, c.earlier.origin) for c in mine(memory).links.list()]


def decisions(memory: Memory, thread: Thread) -> Sequence[Decision]:
    with memory._deps.store.begin(Scope(), write=False) as tx:
        return tx.knowledge.decisions(subject=thread.id, type=LINK)


def sound(memory: Memory) -> bool:
    return [f.message for f in memory.doctor() if f.severity == "error"] == []


def test_the_model_chooses_among_more_than_three_and_the_fourth_may_be_meant(opened: Opened) -> None:
    model = ScriptedModel(respond=choosing())
    memory = opened(model)
    threads = five_matters(memory)
    model.calls.clear()
    model.respond = choosing("tax", confidence=0.8)
    back = tell(memory, 26 * HOUR, FAILED)
    ((stage, prompt),) = model.calls
    lines = shown(prompt)
    assert (stage, len(lines)) == (STAGE, 5)
    assert "tax" in lines["t4"]
    assert all(re.match(r'\d+ h ago · ".+" · left at ".+"', line) for line in lines.values())
    assert FAILED in prompt.splitlines()[-2]
    assert links(memory) == [(back.origin, threads["tax"].origin)]
    assert sound(memory)


def test_what_a_matter_came_to_last_is_shown_behind_its_beginning(opened: Opened) -> None:
    model = ScriptedModel(respond=choosing())
    memory = opened(model)
    threads = five_matters(memory)
    mine(memory).links.add(threads["tax"].origin, threads["kiln"].origin)
    tell(memory, 26 * HOUR, f"{MATTERS['kiln'][0]} again")
    lines = shown(model.calls[-1][1])
    assert "kiln" in lines["t1"]
    assert "tax" in lines["t2"]  # it shares no word with what is asked about


@dataclass
class Joined:
    """A transaction that knows of one cross-thread episode, and of nothing else."""

    held: Sequence[UUID]

    @property
    def threads(self) -> "Joined":
        return self

    def joined(self, key: Sequence[UUID]) -> Mapping[UUID, UUID]:
        return {thread: UUID(int=99) for thread in key if thread in self.held}


@pytest.mark.parametrize(("likely", "order"), [("03", "023"), ("031", "0231"), ("0314", "0314")])
def test_nothing_likelier_gives_way_to_what_a_matter_came_to_last(likely: str, order: str) -> None:
    threads = {str(UUID(int=n + 1)): str(n) for n in range(5)}
    names = {number: name for name, number in threads.items()}
    ends = {name: TEN + timedelta(hours=int(number)) for name, number in threads.items()}
    tx: Any = Joined([UUID(names["0"]), UUID(names["2"])])  # the first goes on in the third
    named = {UUID(name): UUID(name) for name in threads}
    both = with_latest(tx, [names[number] for number in likely], ends, named, 4)
    assert "".join(threads[name] for name in both) == order


@pytest.mark.slow
def test_a_choice_shows_so_many_candidates_and_no_more(opened: Opened) -> None:
    model = ScriptedModel(respond=choosing())
    memory = opened(model)
    five_matters(memory)
    for n, name in enumerate(MORE):
        tell(memory, (8 + n) * HOUR, f"What does a {name} cost?")
    tell(memory, 26 * HOUR, FAILED)
    assert len(shown(model.calls[-1][1])) == MOST_OPTIONS


@pytest.mark.slow
def test_what_the_model_refuses_and_what_ranks_below_is_not_linked_by_the_algorithm(
    opened: Opened, clock: Clock, tmp_path: Path
) -> None:
    alone = opened(ScriptedModel(), language_model=None)
    five_matters(alone)
    again = ("Still the same: " + MATTERS["tax"][0], MATTERS["tax"][1])
    tell(alone, 26 * HOUR, *again)
    assert len(links(alone)) == 1
    refusing = ScriptedModel(respond=choosing())
    memory = opened(refusing, path=tmp_path / "refusing.db")
    five_matters(memory)
    asked = len(refusing.calls)
    back = tell(memory, 26 * HOUR, *again)
    silence(memory, clock, 28 * HOUR)
    assert links(memory) == []
    assert len(refusing.calls) == asked + 1  # a sure verdict settles, at the end too
    made = decisions(memory, back)
    assert {d.verdict for d in made} == {"DON'T_LINK"}
    assert any(d.detail["disagreement"] for d in made)
    assert sound(memory)
    explained = mine(memory).links.explain(back.origin).judged
    assert any("a language model chose" in sentence for entry in explained for sentence in entry.sentences)


def test_a_refusal_keeps_its_numbers_and_who_gave_it(opened: Opened) -> None:
    memory = opened(ScriptedModel(respond=choosing(confidence=0.9)))
    tell(memory, -2 * HOUR, f"What does a {MORE[0]} cost?")
    threads = five_matters(memory)
    back = tell(memory, 26 * HOUR, "Is the receipt for the printer in the tax return?")
    made = {str(d.detail["candidate"]): d for d in decisions(memory, back)}
    # what is hardly likely is not asked about, unless it is what was spoken of last
    assert len(made) == FEWEST_OPTIONS + 1 < len(threads) + 1
    assert str(threads["bike"].id) in made
    refused = made[str(threads["tax"].id)]
    assert (refused.verdict, refused.confidence_label) == ("DON'T_LINK", "HIGH")
    assert refused.features["llm_settles"] == 1.0
    assert refused.detail["llm"]["prompt"] == CHOICE_VERSION  # type: ignore[index, call-overload]


@pytest.mark.slow
def test_the_end_links_nothing_the_model_was_not_shown_where_it_cannot_be_asked(
    opened: Opened, clock: Clock
) -> None:
    model = ScriptedModel(respond=choosing())
    memory = opened(model)
    five_matters(memory)
    tell(memory, 26 * HOUR, "Is there a cure for hiccups?", "The refund letter names box 44")
    tell(memory, 26 * HOUR + 3, "The printer receipt is lost", "So the tax return lacks it")
    model.respond = lambda prompt, stage: ProviderUnavailable("away")
    silence(memory, clock, 28 * HOUR)
    assert links(memory) == []
    assert sound(memory)


@pytest.mark.slow
def test_an_unsure_or_elliptical_opening_is_asked_about_again_and_a_sure_one_is_not(opened: Opened) -> None:
    model = ScriptedModel(respond=choosing(confidence=0.5))
    memory = opened(model)
    threads = five_matters(memory)
    model.calls.clear()
    back = tell(memory, 26 * HOUR, "I have a question about something else")
    assert len(model.calls) == 1
    model.respond = choosing("tax")
    tell(memory, 26 * HOUR + 1, "Where does the refund letter say that?")
    assert links(memory) == [(back.origin, threads["tax"].origin)]
    assert "I have a question about something else" in model.calls[-1][1]  # its own thread stands above
    tell(memory, 26 * HOUR + 2, "Which box was it?")
    assert len(model.calls) == 2
    assert sound(memory)


@pytest.mark.slow
def test_a_bare_greeting_asks_nobody(opened: Opened) -> None:
    model = ScriptedModel(respond=choosing())
    memory = opened(model)
    threads = five_matters(memory)
    model.calls.clear()
    model.respond = choosing("tax")
    back = tell(memory, 26 * HOUR, "ok, thanks")
    assert model.calls == []
    tell(memory, 26 * HOUR + 1, "And the refund letter?")
    assert links(memory) == [(back.origin, threads["tax"].origin)]


@pytest.mark.slow
def test_the_end_puts_a_new_candidate_to_the_model_once(opened: Opened, clock: Clock) -> None:
    model = ScriptedModel(respond=choosing(confidence=0.6))
    memory = opened(model)
    threads = five_matters(memory)
    back = tell(memory, 50 * HOUR, "Well here I am", "One moment please", "Sorry, somebody rang")
    more = ("The refund letter names box 44", "The printer receipt is lost", "So the tax return lacks it")
    tell(memory, 50 * HOUR + 3, *more)
    model.calls.clear()
    model.respond = choosing("tax")
    silence(memory, clock, 52 * HOUR)
    assert len(model.calls) == 1
    assert all(text in model.calls[0][1] for text in more)
    assert links(memory) == [(back.origin, threads["tax"].origin)]
    (card,) = mine(memory).links.list()
    assert card.link.label == "HIGH"
    (episode,) = mine(memory).links.episodes()  # what is sure grows a matter
    assert episode.metadata["linked_threads"] == [str(threads["tax"].id), str(back.id)]
    assert sound(memory)


@pytest.mark.slow
def test_by_default_an_opening_asks_nobody_and_a_doubtful_end_is_asked_about_once(
    opened: Opened, clock: Clock
) -> None:
    model = ScriptedModel(respond=choosing("tax"))
    memory = opened(model, link_policy="default?sure=1")
    threads = five_matters(memory)
    back = tell(memory, 26 * HOUR, "Still the same: " + MATTERS["tax"][0], MATTERS["tax"][1])
    assert model.calls == []  # nobody waits for it: what the opening says little of, the end will tell
    silence(memory, clock, 28 * HOUR)
    assert len(model.calls) == 1
    assert all(text in model.calls[0][1] for text in MATTERS["tax"])
    assert (back.origin, threads["tax"].origin) in links(memory)
    silence(memory, clock, 30 * HOUR)
    assert len(model.calls) == 1
    assert sound(memory)


@pytest.mark.slow
def test_an_end_that_is_sure_of_its_link_asks_nobody(opened: Opened, clock: Clock) -> None:
    model = ScriptedModel(respond=choosing())
    memory = opened(model, link_policy="default")
    threads = five_matters(memory)
    back = tell(memory, 26 * HOUR, "Still the same: " + MATTERS["tax"][0], MATTERS["tax"][1])
    silence(memory, clock, 28 * HOUR)
    assert model.calls == []
    assert (back.origin, threads["tax"].origin) in links(memory)
    assert sound(memory)


@pytest.mark.slow
def test_an_end_that_is_in_no_doubt_asks_nobody(opened: Opened, clock: Clock) -> None:
    model = ScriptedModel(respond=choosing())
    memory = opened(model, link_policy="default")
    five_matters(memory)
    silence(memory, clock, 12 * HOUR)
    assert model.calls == []
    assert links(memory) == []


@pytest.mark.slow
def test_the_end_takes_back_what_the_algorithm_linked_while_the_model_was_away(
    opened: Opened, clock: Clock
) -> None:
    model = ScriptedModel(respond=lambda prompt, stage: ProviderUnavailable("away"))
    memory = opened(model, link_policy="default?ask=0&sure=1")
    five_matters(memory)
    back = tell(memory, 26 * HOUR, "Still the same: " + MATTERS["tax"][0], MATTERS["tax"][1])
    assert [later for later, _ in links(memory)] == [back.origin]  # the algorithm decided alone
    model.respond = choosing()
    silence(memory, clock, 28 * HOUR)
    assert links(memory) == []
    assert sound(memory)


def context_of(memory: Memory, minute: float, text: str, **more: Any) -> str:
    at = TEN + timedelta(minutes=minute)
    return mine(memory).context(text, **{"channel": "sms", "at": at, **more}).text


@pytest.mark.slow
def test_a_context_asks_before_the_first_prompt_and_the_message_is_not_asked_about_again(
    opened: Opened,
) -> None:
    model = ScriptedModel(respond=choosing())
    memory = opened(model)
    threads = five_matters(memory)
    model.calls.clear()
    model.respond = choosing("ferry")
    text = context_of(memory, 26 * HOUR, FAILED)
    assert "Continuing from previous thread" in text
    assert "Marsalforn" in text
    assert context_of(memory, 26 * HOUR + 0.1, FAILED)
    back = tell(memory, 26 * HOUR + 0.2, FAILED)
    assert len(model.calls) == 1
    assert links(memory) == [(back.origin, threads["ferry"].origin)]
    assert sound(memory)


@pytest.mark.slow
def test_a_context_of_a_chosen_thread_asks_only_where_the_message_recalls(opened: Opened) -> None:
    model = ScriptedModel(respond=choosing("tax"))
    memory = opened(model)
    five_matters(memory)
    model.calls.clear()
    context_of(memory, 26 * HOUR, FAILED, channel="web")
    assert model.calls == []
    context_of(memory, 26 * HOUR, "Remember when we talked about the tax return?", channel="web")
    assert len(model.calls) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "answer",
    [
        {"threads": ["t99"], "confidence": 0.9, "reason": ""},
        {"threads": [], "reason": "who knows"},
        {"confidence": 1.0},
    ],
)
def test_an_answer_that_cannot_be_read_leaves_the_algorithm_alone(
    opened: Opened, answer: Mapping[str, Json]
) -> None:
    memory = opened(ScriptedModel(respond=lambda prompt, stage: answer))
    threads = five_matters(memory)
    back = tell(memory, 26 * HOUR, "Still the same: " + MATTERS["tax"][0], MATTERS["tax"][1])
    assert links(memory) == [(back.origin, threads["tax"].origin)]
    assert not any(d.features.get("llm_settles") for d in decisions(memory, back))
    assert sound(memory)


def test_a_founding_policy_asks_its_own_question(opened: Opened) -> None:
    model = ScriptedModel(respond=lambda prompt, stage: ProviderUnavailable("away"))
    memory = opened(model, link_policy="seed-002")
    tell(memory, 0, "What's the weather in New York?")
    tell(memory, 45, "Oh, and what is it on Thursday?")
    assert '<conversation alias="t1">' in model.calls[0][1]
