"""One question for parts, titles, summaries and facts: when it is asked, what is used of it, what faults cost."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from builders.chats import Clock
from builders.erasing import everywhere
from builders.models import alias_in
from conftest import OpenMemory

from episodic_agent import Memory
from episodic_agent.core.prompts import digest
from episodic_agent.engine.deps import ALONE
from episodic_agent.engine.episodes.wording import EXTRACTIVE, REFUSED
from episodic_agent.engine.facts.job import ENOUGH
from episodic_agent.engine.user import UserMemory
from episodic_agent.providers.models.openai import ModelLimits, OpenAIModel
from episodic_agent.providers.models.staged import StagedModel
from episodic_agent.schemas import Json
from episodic_agent.testing import Behaviour, serving
from episodic_agent.testing.models import ScriptedModel

NINE = datetime(2026, 4, 13, 9, tzinfo=UTC)
BOAT = (
    "We booked the ferry to Gozo for the 4th of May, Marta comes along with both dogs",
    "I am allergic to peanuts, so please never plan a stop at the nut bar in Victoria again",
)
KILN = (
    "The kiln at the pottery studio trips the fuse whenever the second shelf is heated up",
    "Samuel wants to borrow the kiln on Thursdays, which is fine with me as long as he sweeps",
)
SUMMARY = "The user booked the ferry to Gozo for the 4th of May; Marta comes along with both dogs."
TITLE = "Ferry to Gozo on the 4th of May with Marta"
Answer = Callable[[str], Mapping[str, Json]]


def entry(prompt: str = "", **more: Json) -> dict[str, Json]:
    begins, ends = (alias_in(prompt, text) if prompt else "m1" for text in BOAT)
    return {
        "begins": begins, "ends": ends, "title": TITLE, "summary": SUMMARY, "tags": ["ferry", "gozo"],
        "outcome": "ongoing", **more,
    }  # fmt: skip


def peanuts(prompt: str, **more: Json) -> dict[str, Json]:
    return {
        "message": alias_in(prompt, BOAT[1]), "quote": "I am allergic to peanuts", "action": "new",
        "known": None, "subject": "The user", "category": "identity", "attribute": "allergic",
        "value": "peanuts", "fact": "The user is allergic to peanuts", "holds": True, "since": None,
        "on": None, **more,
    }  # fmt: skip


def good(prompt: str) -> dict[str, Json]:
    boat = all(text in prompt for text in BOAT)
    return {"parts": [entry(prompt)] if boat else [], "facts": [peanuts(prompt)] if boat else []}


class Digested:
    """A memory with one model for everything that may be read at once, and nothing else."""

    def __init__(self, open_memory: OpenMemory, clock: Clock, model: Any = None, **more: Any) -> None:
        self.answer: Answer = good
        self.prompts: list[str] = []
        asked = model or ScriptedModel(respond=self._respond)
        staged = StagedModel(None, dict.fromkeys(("episode", "facts", "compact"), asked))
        arguments = {"policy": "seed-001", "clock": clock, "embedder": "hashing", "language_model": staged}
        self.memory: Memory = open_memory(**{**arguments, **more})
        self.user: UserMemory = self.memory.user("gem", new=True)
        self._clock = clock

    def _respond(self, prompt: str, _stage: str) -> Mapping[str, Json]:
        self.prompts.append(prompt)
        return self.answer(prompt)

    def talk(self, hours: float, *texts: str, **more: str) -> None:
        for n, text in enumerate(texts):
            self._clock.now = NINE + timedelta(hours=hours, minutes=n)
            message = {"role": "user", "content": text, "timestamp": self._clock.now, **more}
            self.user.add(message, channel="sms")

    def pass_to(self, hours: float) -> None:
        self._clock.now = NINE + timedelta(hours=hours)
        self.user.upkeep(now=self._clock.now)

    def card(self, word: str = "erry") -> Any:
        cards = [c for c in self.user.episodes.list() if word in c.title or word in c.summary]
        return cards[0]

    def facts(self) -> set[str]:
        return {card.fact.fact for card in self.user.facts.list()}


@pytest.fixture
def clock() -> Clock:
    return Clock(NINE)


@pytest.fixture
def digested(open_memory: OpenMemory, clock: Clock) -> Digested:
    return Digested(open_memory, clock)


def test_titles_summaries_and_facts_come_of_one_question_a_day_later(digested: Digested) -> None:
    digested.talk(0, *BOAT)
    digested.pass_to(2)
    assert digested.prompts == []
    before = digested.user.episodes.get(digested.card().episode_id)
    assert (before.encoded_by, before.encoding_version) == (EXTRACTIVE, 1)  # it has its words at once
    digested.pass_to(30)
    assert len(digested.prompts) == 1
    after = digested.user.episodes.get(before.id)
    assert (after.title, after.summary) == (TITLE, SUMMARY)
    assert (after.encoded_by, after.encoding_version) == (f"scripted {digest.VERSION}", 2)
    assert digested.facts() == {"The user is allergic to peanuts"}
    assert digested.user.search("Where does the ferry go?").hits[0].episode_id == after.id
    assert [f.message for f in digested.memory.doctor() if f.severity == "error"] == []
    digested.pass_to(60)
    assert len(digested.prompts) == 1  # nothing is read twice


def test_enough_that_was_said_is_asked_about_when_its_sitting_is_over(digested: Digested) -> None:
    digested.talk(0, *(f"{BOAT[n % 2]}, said for the {n}th time" for n in range(ENOUGH)))
    assert digested.prompts == []  # the talk goes on
    digested.pass_to(2)
    assert len(digested.prompts) == 1
    assert all(text in digested.prompts[0] for text in BOAT)


def test_conversations_are_shown_in_the_order_of_time_each_once(digested: Digested) -> None:
    digested.talk(0, *BOAT)
    digested.talk(3, *KILN)
    digested.pass_to(30)
    (prompt,) = digested.prompts
    places = [prompt.index(text) for text in (*BOAT, *KILN)]
    assert places == sorted(places)
    assert [prompt.count(text) for text in (*BOAT, *KILN)] == [1, 1, 1, 1]
    assert prompt.count('Conversation · "sms"') == 2


def test_a_piece_that_holds_nothing_is_shown_for_its_facts_and_not_told(digested: Digested) -> None:
    thanks = {"begins": "m1", "ends": "m1", "title": "Thanks for it all, says the user"}
    digested.answer = lambda p: {"parts": [{**entry(p), **thanks}, entry(p)], "facts": []}
    digested.talk(0, "ok, thanks")
    digested.talk(3, *BOAT)
    digested.pass_to(30)
    (prompt,) = digested.prompts
    assert '"ok, thanks"' in prompt
    assert {c.title for c in digested.user.episodes.list()} == {"ok, thanks", TITLE}


def test_a_question_and_its_answer_are_told_in_the_words_of_the_reading(digested: Digested) -> None:
    title, question = "Getting candle wax out of a school jumper", "how do i get candle wax off a jumper"
    summary = "The user asked how to get candle wax off a school jumper."
    digested.answer = lambda p: {
        "parts": [entry(begins="m1", ends="m2", title=title, summary=summary)], "facts": []
    }  # fmt: skip
    digested.talk(0, question, "its a school one")
    digested.pass_to(30)
    (card,) = digested.user.episodes.list()
    assert (card.title, card.summary) == (title, summary)


@pytest.mark.parametrize(
    ("changed", "title", "said"),
    [
        ({"title": "Ferry to Sardinia with Marta and the dogs"}, None, "nobody named Sardinia"),
        ({"title": ""}, None, "0 words"),
        ({"summary": f"{SUMMARY} It costs 77 euros."}, None, "nobody said 77"),
        ({"outcome": "splendid", "tags": "ferry, gozo"}, TITLE, ""),
        ({"begins": "message 1", "ends": None}, TITLE, ""),
        ({"begins": "m9"}, None, ""),
        ({"ends": "m9"}, TITLE, ""),
    ],
)
def test_a_part_that_cannot_be_used_costs_only_itself(
    digested: Digested, changed: Mapping[str, Json], title: str | None, said: str
) -> None:
    digested.answer = lambda p: {"parts": [entry(p, **changed)], "facts": [peanuts(p)]}
    digested.talk(0, *BOAT)
    digested.pass_to(30)
    episode = digested.user.episodes.get(digested.card().episode_id)
    assert (episode.title == TITLE) == (title is not None)
    assert said in str(episode.metadata.get(REFUSED, ""))
    assert digested.facts() == {"The user is allergic to peanuts"}
    assert len(digested.prompts) == 1  # no second question for it


def test_a_name_from_another_conversation_of_the_question_is_no_invention(digested: Digested) -> None:
    summary = f"{SUMMARY} The user knows Samuel."
    digested.answer = lambda p: {"parts": [entry(p, summary=summary)], "facts": []}
    digested.talk(0, *BOAT)
    digested.talk(3, *KILN)
    digested.pass_to(30)
    assert "Samuel" in digested.user.episodes.get(digested.card("Samuel").episode_id).summary


def test_a_question_of_its_own_is_asked_for_each_where_the_policy_says_so(
    open_memory: OpenMemory, clock: Clock
) -> None:
    digested = Digested(open_memory, clock, fact_policy=ALONE)
    digested.answer = lambda p: entry() if "finished piece of conversation" in p else {"facts": []}
    digested.talk(0, *BOAT)
    digested.pass_to(2)
    titles = [p for p in digested.prompts if "finished piece of conversation" in p]
    facts = [p for p in digested.prompts if "lasting facts" in p]
    assert (len(titles), len(facts)) == (1, 1)
    assert digested.card().title == TITLE


@pytest.mark.parametrize("fact_policy", ["default", ALONE])
def test_what_went_before_stands_above_in_two_lines_where_it_is_not_shown(
    open_memory: OpenMemory, clock: Clock, fact_policy: str
) -> None:
    digested = Digested(open_memory, clock, fact_policy=fact_policy)
    digested.answer = lambda p: good(p) if "facts: " in p else entry()
    digested.talk(0, KILN[0], *BOAT, conversation_id="chat")
    digested.user.flush()
    digested.pass_to(30)
    first = len(digested.prompts)
    digested.talk(
        30,
        f"Yes, that one, and another thing to be told of it: {KILN[1]}",
        KILN[0] + "!",
        conversation_id="chat",
    )
    digested.user.flush()
    digested.pass_to(60)
    later, *_ = [p for p in digested.prompts[first:] if "Yes, that one" in p and "title: " in p]
    before = [line for line in later.splitlines() if line.startswith("before · ")]
    assert [text[:30] in line for text, line in zip(BOAT, before, strict=True)] == [True, True]
    assert not any(line.startswith("before") for p in digested.prompts[:first] for line in p.splitlines())
    assert f'"{KILN[0]}"' not in later  # two lines, no more


def test_words_told_below_what_is_erased_are_found_anew(digested: Digested) -> None:
    digested.answer = lambda p: {"parts": [entry(p)] if BOAT[0] in p else [], "facts": []}
    digested.talk(0, KILN[0], conversation_id="chat")
    digested.user.flush()
    digested.pass_to(30)
    digested.talk(30, *BOAT, conversation_id="chat")
    digested.user.flush()
    digested.pass_to(60)
    assert f'before · Mon 13 Apr 2026 09:00 · user: "{KILN[0]}"' in digested.prompts[-1]
    assert digested.user.episodes.get(digested.card().episode_id).encoded_by == f"scripted {digest.VERSION}"
    asked = len(digested.prompts)
    (erased,) = [e.id for e in digested.user.search("kiln fuse shelf", observations=1).observations]
    digested.user.erase(observation=erased)
    digested.pass_to(90)
    assert len(digested.prompts) == asked + 1
    assert "kiln" not in digested.prompts[-1]
    assert digested.card().title == TITLE


def test_a_part_of_a_thread_waits_for_the_words_of_its_episodes(digested: Digested) -> None:
    digested.talk(0, *(f"{BOAT[n % 2]}, said for the {n}th time" for n in range(6)))
    thread = digested.user.threads.list()[0].origin
    digested.user.threads.close(thread)
    digested.pass_to(30)
    digested.pass_to(31)
    assert len(digested.prompts) == 1  # it is told by what its episode was told as
    (section,) = digested.user.sections.list()
    assert section.meso == SUMMARY


def test_words_that_read_what_is_erased_go_with_it_and_are_found_anew(
    digested: Digested, tmp_path: Path
) -> None:
    digested.talk(0, *BOAT)
    digested.talk(3, *KILN)
    told = f"{SUMMARY} The user knows Samuel."
    digested.answer = lambda p: {
        "parts": [entry(p, summary=told) if "Samuel" in p else entry(p)],
        "facts": [peanuts(p)],
    }
    digested.pass_to(30)
    assert "Samuel" in digested.card().summary
    (erased,) = [e.id for e in digested.user.search("Samuel sweeps", observations=1).observations]
    digested.user.erase(observation=erased)
    assert "Samuel" not in digested.card().summary
    digested.pass_to(60)
    assert digested.card().summary == SUMMARY
    assert digested.facts() == {"The user is allergic to peanuts"}
    url = f"sqlite:///{next(tmp_path.glob('*.db'))}"
    assert everywhere(url, "Samuel") == []
    assert [f.message for f in digested.memory.doctor() if f.severity == "error"] == []


# --- faults, over the real protocol -----------------------------------------------------------------------


def spoken(open_memory: OpenMemory, clock: Clock, url: str, timeout: float = 5.0) -> Digested:
    model = OpenAIModel("any", base_url=url, limits=ModelLimits(tries=1, timeout=timeout, away=0.0))
    return Digested(open_memory, clock, model)


@pytest.mark.parametrize(
    "behaviour", [Behaviour.FENCED, Behaviour.THINKING, Behaviour.PROSE, Behaviour.LOOSE]
)
def test_an_answer_in_a_fence_or_after_thinking_aloud_is_used_at_once(
    open_memory: OpenMemory, clock: Clock, behaviour: Behaviour
) -> None:
    with serving(good, script=[behaviour]) as server:
        digested = spoken(open_memory, clock, server.url)
        digested.talk(0, *BOAT)
        digested.pass_to(30)
        assert len(server.asked) == 1
    assert digested.card().title == TITLE
    assert digested.facts() == {"The user is allergic to peanuts"}


def test_a_refusal_is_asked_once_more_and_then_everything_is_done_without(
    open_memory: OpenMemory, clock: Clock
) -> None:
    with serving(good) as server:
        server.baseline = Behaviour.REFUSAL
        digested = spoken(open_memory, clock, server.url)
        digested.talk(0, *BOAT)
        for hours in (30, 32, 40, 60):
            digested.pass_to(hours)
        assert len(server.asked) <= 3  # a question costs no more, however often it is due
    assert digested.user.stats().unconsolidated == 0
    assert digested.user.episodes.get(digested.card().episode_id).encoded_by == EXTRACTIVE
    assert any("peanuts" in fact for fact in digested.facts())  # quoted as it was said
    (use,) = digested.memory.usage()
    assert (use.refused, use.used) == (use.calls, 0)


def test_a_late_answer_is_given_up_and_had_when_it_comes_in_time(
    open_memory: OpenMemory, clock: Clock
) -> None:
    with serving(good, script=[Behaviour.SLOW]) as server:
        digested = spoken(open_memory, clock, server.url, timeout=0.3)
        digested.talk(0, *BOAT)
        digested.pass_to(30)
        assert digested.facts()  # quoted until then
        assert all(fact.startswith('The user: "') for fact in digested.facts())
        (use,) = digested.memory.usage()
        assert (use.late, use.used) == (1, 0)
        server.released.set()
        digested.pass_to(34)
    assert digested.facts() == {"The user is allergic to peanuts"}


@pytest.mark.parametrize(
    ("quote", "proved"),
    [
        ("I am allergic to peanuts", True),
        ("“i am  ALLERGIC — to peanuts”", True),
        ("I am allergic … never plan a stop", True),
        ("I'm allergic to peanuts", False),
        ("I am allergic to walnuts", False),
    ],
)
def test_a_quotation_that_is_wrong_by_a_word_proves_nothing(
    digested: Digested, quote: str, proved: bool
) -> None:
    digested.answer = lambda p: {"parts": [entry(p)], "facts": [peanuts(p, quote=quote)]}
    digested.talk(0, *BOAT)
    digested.pass_to(30)
    # what may harm stands in the words it was said in where no reading that holds restates it
    (left,) = digested.facts()
    assert (left == "The user is allergic to peanuts") is proved
    assert proved or left.startswith('The user: "I am allergic to peanuts')
    assert digested.card().title == TITLE
