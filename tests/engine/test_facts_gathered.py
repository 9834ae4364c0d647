"""Facts that a model is asked for in one question: what it is shown, what of its answer is used, where they go."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from builders.chats import Clock
from builders.models import alias_in
from conftest import OpenMemory

from episodic_agent import Memory
from episodic_agent.core.prompts import facts as question
from episodic_agent.engine.user import UserMemory
from episodic_agent.errors import InvalidInput
from episodic_agent.providers.models.staged import StagedModel
from episodic_agent.schemas import Json
from episodic_agent.testing.models import ScriptedModel

NINE = datetime(2026, 4, 13, 9, tzinfo=UTC)
SAID = {
    "I can't stand coriander, it tastes of soap": "The user dislikes coriander",
    "Rehearse on heron please, never on bittern": "Rehearsals go on heron, never on bittern",
    "dispatch 4.12 goes out next Thursday": "Dispatch 4.12 is released",
}
Reply = Callable[[str], list[Json]]


@pytest.fixture
def clock() -> Clock:
    return Clock(NINE)


class Asked:
    """A memory of one user whose model is asked for facts alone."""

    def __init__(self, open_memory: OpenMemory, clock: Clock, user: str = "Gem", **more: Any) -> None:
        self.prompts: list[str] = []
        self.reply: Reply = lambda _prompt: []
        model = StagedModel(None, {"facts": ScriptedModel(respond=self._respond)})
        arguments = {"policy": "seed-001", "clock": clock, "language_model": model, **more}
        self.memory: Memory = open_memory(**arguments)
        self.user: UserMemory = self.memory.user(user, new=True)
        self._clock = clock

    def _respond(self, prompt: str, _stage: str) -> Mapping[str, Json]:
        self.prompts.append(prompt)
        if prompt.endswith("What do you expect?"):
            return {"expected": "She talks of work."}
        return {"facts": self.reply(prompt)}

    def talk(self, hours: float, *texts: str, role: str = "user", **more: Any) -> None:
        """Hold a conversation and let it end."""
        self._clock.now = NINE + timedelta(hours=hours)
        for n, text in enumerate(texts):
            at = self._clock.now + timedelta(minutes=n)
            self.user.add(text, role=role, timestamp=at, **{"channel": "sms", **more})
        self.user.flush()

    def facts(self) -> set[str]:
        return {card.fact.fact for card in self.user.facts.list()}


@pytest.fixture
def asked(open_memory: OpenMemory, clock: Clock) -> Asked:
    return Asked(open_memory, clock)


def fact(prompt: str, text: str, **more: Json) -> dict[str, Json]:
    """Return a full answer about a text of `SAID`."""
    return {
        "message": alias_in(prompt, text), "quote": text, "action": "new", "known": None, "subject": "Gem",
        "category": "preference", "attribute": "other", "value": text, "fact": SAID.get(text, text),
        "holds": True, "since": None, "on": None, **more,
    }  # fmt: skip


def three_talks(asked: Asked) -> None:
    first, second, third = SAID
    asked.talk(0, first, channel="whatsapp")
    asked.talk(3, second)
    asked.talk(6, third)


@pytest.mark.parametrize("embedder", ["none", "hashing"])
def test_facts_that_a_model_wrote_reach_the_context(
    open_memory: OpenMemory, clock: Clock, embedder: str
) -> None:
    asked = Asked(open_memory, clock, embedder=embedder)
    liking, rule, release = SAID
    asked.reply = lambda p: [
        fact(p, liking),
        fact(p, rule, category="guideline"),
        fact(p, release, category="goal", subject="dispatch", on="2026-04-23"),
    ]
    three_talks(asked)
    at = NINE + timedelta(hours=8)
    standing = asked.user.context("What is there to do?", channel="sms", at=at)
    assert "- The user dislikes coriander" in standing.text  # what they are like always stands
    assert "- Rehearsals go on heron, never on bittern" in standing.text
    bearing = asked.user.context("When is dispatch released?", channel="sms", at=at)
    # a plan bears on the message before its day has come, and says its day
    assert "- Dispatch 4.12 is released, 2026-04-23" in bearing.text
    assert {item.kind for item in bearing.items} >= {"fact"}


def test_one_question_shows_conversations_in_the_order_of_time_and_whose_memory_it_is(
    asked: Asked,
) -> None:
    three_talks(asked)
    (prompt,) = asked.prompts
    assert 'its owner "The user" (also "Gem")' in prompt
    headings = re.findall(r"^Conversation: .*Monday 13 April 2026 · (\"\w+\")$", prompt, re.MULTILINE)
    assert headings == ['"whatsapp"', '"sms"', '"sms"']
    places = [prompt.index(text) for text in SAID]
    assert places == sorted(places)
    assert "expect" not in prompt


def test_what_was_told_out_of_order_is_shown_in_the_order_of_time(asked: Asked) -> None:
    texts = list(SAID)
    for hours in (6, 0, 3):
        asked.talk(hours, texts[hours // 3], thread=f"talk {hours}")
    places = [asked.prompts[-1].index(text) for text in texts]
    assert places == sorted(places)


@pytest.mark.slow
def test_at_most_eight_known_facts_are_shown_the_nearest_first(open_memory: OpenMemory, clock: Clock) -> None:
    asked = Asked(open_memory, clock, embedder="none")
    asked.reply = lambda p: [fact(p, text) for text in re.findall(r'user: "(The .*)"', p)]
    names = (
        "kiln",
        "violin",
        "tomato",
        "passport",
        "router",
        "kayak",
        "chessboard",
        "lamp",
        "bicycle",
        "piano",
    )
    for n, name in enumerate(names):
        asked.talk(3 * n, f"The {name} costs {n + 10} euros")
    asked.talk(60, "Is the kiln delivered?")
    asked.user.facts.consolidate()
    prompt = asked.prompts[-1]
    shown = re.findall(r"^F\d+ · ", prompt, re.MULTILINE)
    assert len(shown) == question.MOST_BEARING
    assert "The kiln costs" in prompt.partition("F2 · ")[0]


def test_the_day_of_a_plan_is_told_and_does_not_hide_it_until_then(asked: Asked) -> None:
    text = "I start at Nordlicht next month"
    asked.reply = lambda p: [fact(p, text, fact="Gem starts at Nordlicht", since="2026-05-04")]
    asked.talk(0, text)
    asked.user.facts.consolidate()
    (card,) = asked.user.facts.list()
    assert card.fact.valid_at == NINE
    assert card.fact.held_at(NINE + timedelta(hours=1))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Gem", "gem", "user", "The user", "用户", "owner", "Gemma"])
def test_the_owner_is_one_subject_whatever_they_are_called(asked: Asked, name: str) -> None:
    first = "People call me Gemma"
    asked.reply = lambda p: [fact(p, first, attribute="also_called", value="Gemma", subject="user")]
    asked.talk(0, first)
    asked.user.facts.consolidate()
    second = "I play the cello"
    asked.reply = lambda p: [fact(p, second, subject=name)]
    asked.talk(5, second)
    asked.user.facts.consolidate()
    assert '(also "Gem", "Gemma")' in asked.prompts[-1]
    assert {card.fact.subject for card in asked.user.facts.list()} == {"The user"}


def test_an_owner_who_speaks_under_a_name_keeps_it(asked: Asked) -> None:
    text = "I play the cello"
    asked.reply = lambda p: [fact(p, text, subject="user")]
    asked.talk(0, text, role="Gem")
    asked.user.facts.consolidate()
    assert [card.fact.subject for card in asked.user.facts.list()] == ["Gem"]


RENT = "The garage costs 40 euros a month"
DEARER = "They put the garage up to 55 euros"


def changed_rent(asked: Asked) -> None:
    """Have a rent told, then told anew: as a change of the fact that is known."""
    asked.reply = lambda p: [fact(p, RENT, subject="garage", value="40 euros")]
    asked.talk(0, RENT)
    asked.user.facts.consolidate()
    asked.reply = lambda p: (
        [fact(p, DEARER, action="update", known="F1", subject="garage", value="55 euros")]
        if DEARER in p
        else [fact(p, RENT, subject="garage", value="40 euros")]
    )
    asked.talk(72, DEARER)
    asked.user.facts.consolidate()


@pytest.mark.slow
def test_a_change_ends_the_old_fact_and_is_written_once(asked: Asked) -> None:
    changed_rent(asked)
    assert [card.fact.fact for card in asked.user.facts.list()] == [DEARER]
    cards = {card.fact.fact: card for card in asked.user.facts.list(history=True)}
    assert sorted(cards) == sorted([RENT, DEARER])
    assert len(asked.user.facts.list(history=True)) == 2
    old = cards[RENT].fact
    assert (old.superseded_by, old.invalid_at) == (cards[DEARER].id, NINE + timedelta(hours=72))
    assert [q.text for q in asked.user.facts.get(old.id).quotes] == [RENT, DEARER]  # told, and ended
    assert [one.what for one in asked.user.trace.changes(NINE).of("fact ended")] == [RENT]
    asked.reply = lambda _p: []
    asked.talk(96, "Is the garage rent paid?")
    asked.user.facts.consolidate()
    assert (asked.prompts[-1].count(DEARER), asked.prompts[-1].count(RENT)) == (1, 0)
    assert [f.message for f in asked.memory.doctor() if f.severity == "error"] == []


def test_words_that_end_a_fact_are_not_taken_for_what_is_no_longer_so(asked: Asked) -> None:
    asked.reply = lambda p: [fact(p, RENT, subject="garage", value=RENT)]
    asked.talk(0, RENT)
    asked.user.facts.consolidate()
    asked.reply = lambda p: [fact(p, DEARER, action="update", known="F1", value=DEARER)]
    asked.talk(72, DEARER)
    asked.user.facts.consolidate()
    at = NINE + timedelta(hours=80)
    told = asked.user.context("What does the garage cost?", channel="sms", at=at).text
    assert DEARER in told
    found = asked.user.search("What does the garage cost a month?", now=at, observations=5)
    assert [one.observation.text for one in found.observations][:2] == [DEARER, RENT]
    (known,) = [one for one in asked.user.facts.list(history=True) if one.fact.invalid_at is not None]
    assert [one.fact for one in known.fact.telling] == [RENT]


@pytest.mark.slow
def test_the_old_fact_holds_again_where_the_words_that_ended_it_are_erased(asked: Asked) -> None:
    changed_rent(asked)
    (episode,) = [e for e in asked.user.episodes.list() if e.start_at > NINE + timedelta(hours=1)]
    asked.user.erase(episode=episode.episode_id)
    assert [(c.fact.fact, c.fact.invalid_at) for c in asked.user.facts.list(history=True)] == [(RENT, None)]
    assert [f.message for f in asked.memory.doctor() if f.severity == "error"] == []


@pytest.mark.slow
def test_an_ended_fact_goes_with_its_words_and_comes_back_from_an_export(
    asked: Asked, open_memory: OpenMemory, clock: Clock, tmp_path: Path
) -> None:
    changed_rent(asked)
    (tmp_path / "export.jsonl").write_text("\n".join(asked.user.export()), encoding="utf-8")
    copy = open_memory(path=tmp_path / "copy.db", clock=clock)
    copy.user("Gem").import_file(tmp_path / "export.jsonl")
    told = [one.fact for one in copy.user("Gem").facts.list(history=True)]
    assert told == [one.fact for one in asked.user.facts.list(history=True)]
    (episode,) = [e for e in copy.user("Gem").episodes.list() if e.start_at < NINE + timedelta(hours=1)]
    copy.user("Gem").erase(episode=episode.episode_id)
    assert RENT not in [one.fact.fact for one in copy.user("Gem").facts.list(history=True)]
    assert [f.message for f in copy.doctor() if f.severity == "error"] == []


def test_a_pinned_fact_is_ended_by_a_change_only_when_it_is_let_go(asked: Asked) -> None:
    asked.reply = lambda p: [fact(p, RENT, subject="garage", value="40 euros")]
    asked.talk(0, RENT)
    asked.user.facts.consolidate()
    (old,) = asked.user.facts.list()
    asked.user.facts.pin(old.id)
    asked.reply = lambda p: [fact(p, DEARER, action="update", known="F1", value="55 euros")]
    asked.talk(72, DEARER)
    asked.user.facts.consolidate()
    assert asked.facts() == {RENT, DEARER}
    asked.user.facts.pin(old.id, pinned=False)
    assert asked.facts() == {DEARER}


TOLERATED: list[Callable[[dict[str, Json]], dict[str, Json]]] = [
    lambda one: {"fact": one["fact"], "quote": one["quote"]},
    lambda one: {**one, "message": "m77"},
    lambda one: {**one, "message": "[M1]"},
    lambda one: {**one, "action": "add", "category": "food", "attribute": "tastes", "holds": "yes"},
    lambda one: {**one, "quote": "I can\u2019t stand coriander – it tastes of SOAP"},
    lambda one: {**one, "quote": "I can't stand … tastes of soap"},
    lambda one: {**one, "quote": "“can't stand coriander”"},
    lambda one: {**one, "fact": "In 2026 the user said on 13 April that coriander is bad"},
    lambda one: {**one, "since": "some day", "on": "2026-99-99"},
    lambda one: {**one, "known": "null", "value": "", "subject": ""},
]


@pytest.mark.parametrize("change", TOLERATED, ids=range(len(TOLERATED)))
def test_what_is_missing_or_misplaced_is_filled_in(
    asked: Asked, change: Callable[[dict[str, Json]], dict[str, Json]]
) -> None:
    text = next(iter(SAID))
    asked.reply = lambda p: [change(fact(p, text))]
    asked.talk(0, text)
    asked.user.facts.consolidate()
    (listed,) = asked.user.facts.list()
    card = asked.user.facts.get(listed.id)
    assert card.fact.subject == "The user"
    assert card.quotes[0].text in text


REFUSED: list[tuple[dict[str, Json], str]] = [
    ({"quote": "I can't stand parsley"}, "in none of the messages"),
    ({"quote": "ander"}, "in none of the messages"),
    ({"quote": "Noted, no coriander", "message": "m2"}, "prove nothing"),
    ({"fact": "The user dislikes 7 herbs"}, "nobody said 7"),
    ({"action": "update", "known": "F9"}, "is no known fact"),
    ({"fact": " "}, "fact must not be empty"),
]


@pytest.mark.parametrize(("change", "why"), REFUSED)
def test_what_nobody_said_is_refused_and_the_rest_is_used(
    asked: Asked, change: dict[str, Json], why: str
) -> None:
    text, other = list(SAID)[:2]
    asked.reply = lambda p: [{**fact(p, text), **change}, fact(p, other)]
    asked.user.add(text, role="user", channel="sms", timestamp=NINE)
    later = NINE + timedelta(minutes=1)
    asked.user.add("Noted, no coriander", role="assistant", channel="sms", timestamp=later)
    asked.talk(0.1, other)
    asked.user.facts.consolidate()
    assert asked.facts() == {SAID[other]}
    with asked.memory._deps.store.begin(asked.user._at.scope, write=False) as tx:
        refused = [d.detail["refused"] for d in tx.knowledge.decisions(type="facts")]
    assert why in str(refused)


SOON, LATER = "2026-04-17", "2026-04-24"  # four days after it is said, and eleven


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        ({"lasts": "days"}, False),
        ({"lasts": "weeks", "on": SOON}, True),  # who asked for it knows best
        ({"on": SOON}, False),  # what does not say is told by its day
        ({"lasts": "some", "on": SOON}, False),
        ({"on": LATER}, True),
        ({}, True),
    ],
)
def test_a_fact_of_days_is_none_and_the_decision_says_why(
    asked: Asked, change: dict[str, Json], *, kept: bool
) -> None:
    text = next(iter(SAID))
    asked.reply = lambda p: [fact(p, text, **change)]
    asked.talk(0, text)
    asked.user.facts.consolidate()
    assert bool(asked.facts()) is kept
    with asked.memory._deps.store.begin(asked.user._at.scope, write=False) as tx:
        refused = [d.detail["refused"] for d in tx.knowledge.decisions(type="facts")]
    assert ("over within days" in str(refused)) is not kept


def test_what_ends_a_known_fact_is_heard_however_long_it_matters(asked: Asked) -> None:
    text = next(iter(SAID))
    asked.reply = lambda p: [fact(p, text)]
    asked.talk(0, text)
    asked.user.facts.consolidate()
    gone = "I like coriander now, for a day or two"
    asked.reply = lambda p: [fact(p, gone, lasts="days", action="invalidate", known="F1")]
    asked.talk(50, gone)
    asked.user.facts.consolidate()
    cards = asked.user.facts.list(history=True)
    assert not any(card.fact.holds and card.fact.invalid_at is None for card in cards)


def test_numbers_in_words_and_han_are_numbers_that_were_said(asked: Asked) -> None:
    text = "两点半开会，二十五个人来"
    asked.reply = lambda p: [fact(p, text, fact="2点半开会，25个人来")]
    asked.talk(0, text)
    asked.user.facts.consolidate()
    assert asked.facts() == {"2点半开会，25个人来"}


@pytest.mark.slow
def test_the_two_steps_of_the_document_stay_by_name(open_memory: OpenMemory, clock: Clock) -> None:
    asked = Asked(open_memory, clock, fact_policy="seed-003")
    text = next(iter(SAID))
    asked.reply = lambda p: [{**fact(p, text), "valid_from": None}] if text in p else []
    three_talks(asked)
    asked.talk(30, "And now something else")
    asked.user.facts.consolidate()
    assert [p.endswith("What do you expect?") for p in asked.prompts] == [False, True, False]
    with asked.memory._deps.store.begin(asked.user._at.scope, write=False) as tx:
        versions = {d.policy_version for d in tx.knowledge.decisions(type="facts")}
    assert versions == {question.SEED_VERSION}
    with pytest.raises(InvalidInput, match="unknown fact policy"):
        open_memory(fact_policy="seed-004")
