"""Compaction end to end: when parts of threads are due, what is made of them, and what is found afterwards."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from builders.chats import Clock, mine
from builders.commands import Run
from builders.models import only
from conftest import OpenMemory

from episodic_agent import Memory
from episodic_agent.core.chains.metadata import parse_filter
from episodic_agent.core.context.tokens import estimate
from episodic_agent.core.identity import section_id
from episodic_agent.core.prompts import compact
from episodic_agent.core.prompts import episode as question
from episodic_agent.core.sections.resolutions import MACRO_TOKENS, MESO_TOKENS, MICRO_TOKENS, source_tokens
from episodic_agent.engine.sections.job import EXTRACTIVE
from episodic_agent.engine.sections.verbs import SectionCard
from episodic_agent.errors import BadReply, InvalidInput, NotFound, ProviderUnavailable
from episodic_agent.providers.embedders.hashing import HashingEmbedder
from episodic_agent.providers.models.openai import ModelLimits, OpenAIModel
from episodic_agent.schemas import Decision, EpisodeKind, EpisodeState, Json, Scope, Thread, Vector
from episodic_agent.testing.model_server import Behaviour, serving
from episodic_agent.testing.models import ScriptedModel

TEN = datetime(2025, 11, 5, 10, tzinfo=UTC)
DAY = timedelta(hours=24)
TRIP = (
    ("user", "I want to plan a trip to Lisbon with my sister Clara in May."),
    ("assistant", "How long do you want to stay, and what is your budget?"),
    ("user", "Six nights, from the 12th. We can spend 1,400 euros together."),
    ("assistant", "There is a flight at 9:40 for 214 euros. A flat in Alfama costs 97 a night."),
    ("user", "Clara is allergic to shellfish. Book the flight, and let's take the flat."),
    ("assistant", "Booked: flight TP1351 on 12 May at 9:40."),
    ("user", "Do we need a visa, and is the tram included in a city card?"),
    ("assistant", "No visa. The Lisboa Card includes trams and costs 46 euros for three days."),
    ("user", "Then buy two Lisboa Cards, please."),
    ("assistant", "Two Lisboa Cards are ordered for 92 euros."),
)
WHOLE = "default?band=0&threshold=0.99"  # the trip is one event, and nobody is asked whether
REPLY: Mapping[str, Json] = {
    "micro": "A trip to Lisbon was planned and booked.",
    "meso": "The user and Clara fly to Lisbon at 9:40 for 214 euros and take a flat in Alfama for 97 a night.",
    "macro": "Clara is allergic to shellfish.",
}
ABOUT: Mapping[str, Json] = {
    "entities": ["Lisbon", "Napoleon"],
    "tags": ["Travel", "booking"],
    "outcome": "success",
}
Opened = Callable[[], Memory]


@pytest.fixture
def clock() -> Clock:
    return Clock(TEN)


@pytest.fixture
def opened(url: str, clock: Clock) -> Iterator[Opened]:
    with ExitStack() as stack:
        yield lambda: stack.enter_context(
            Memory.open(url, embedder="hashing", policy="seed-001", clock=clock)
        )


def talk(memory: Memory, *, start: float = 0, lines: Sequence[tuple[str, str]] = TRIP, **more: Any) -> Thread:
    """Add messages a minute apart and return the thread they are in."""
    statements = [
        {
            "role": role,
            "content": text,
            "timestamp": (TEN + timedelta(minutes=start + n)).isoformat(),
            **more,
        }
        for n, (role, text) in enumerate(lines)
    ]
    receipts = mine(memory).add(statements)
    return next(t for t in mine(memory).threads.list() if t.id == receipts[-1].thread_id)


def turns(count: int, *, start: float = 0) -> list[dict[str, Any]]:
    return [
        {
            "role": "user",
            "content": f"Please note that parcel {n} for Ana weighs {n + 2} kilos.",
            "timestamp": (TEN + timedelta(minutes=start + n)).isoformat(),
            "conversation_id": "parcels",
        }
        for n in range(count)
    ]


def parts(memory: Memory, name: str) -> list[tuple[int, int, str, str]]:
    """Return first and last seq, state and trigger of a thread's parts."""
    with memory._deps.store.begin(Scope(), write=False) as tx:
        thread = tx.threads.get(name)
        assert thread is not None
        sections = tx.threads.sections(thread.id)
    cards = [mine(memory).episodes.get(part.episode_id) for part in sections]
    return [
        (e.first_seq, e.last_seq, e.state.value, part.trigger)
        for e, part in zip(cards, sections, strict=True)
    ]


def decisions(memory: Memory) -> list[Decision]:
    with memory._deps.store.begin(Scope(), write=False) as tx:
        return list(tx.knowledge.decisions(type="compact"))


def errors(memory: Memory) -> list[str]:
    return [f.message for f in memory.doctor() if f.severity == "error"]


def within_limits(card: SectionCard, memory: Memory) -> bool:
    source = source_tokens(mine(memory).episodes.messages(card.episode_id))
    sizes = [estimate(text) for text in (card.micro, card.meso, card.macro)]
    limits = (MICRO_TOKENS, MESO_TOKENS, MACRO_TOKENS)
    return all(size <= min(limit, source) for size, limit in zip(sizes, limits, strict=True))


# --- when --------------------------------------------------------------------------------------------------


def test_a_thread_that_silence_ends_is_told_at_three_resolutions(opened: Opened, clock: Clock) -> None:
    memory = opened()
    first = talk(memory, channel="sms")
    assert mine(memory).sections.list() == []
    second = talk(memory, start=60, lines=[("user", "What about the weather in Boston?")], channel="sms")
    assert second.id != first.id
    (card,) = mine(memory).sections.list()
    assert (card.thread_id, card.trigger, card.state) == (first.id, "thread_end", "compacted")
    assert (card.first_seq, card.last_seq, card.compacted_through) == (0, 9, 9)
    assert card.text == card.meso
    assert card.micro
    assert within_limits(card, memory)
    assert "shellfish" in card.meso + card.macro
    assert [o.text for o in mine(memory).episodes.messages(card.episode_id)] == [text for _, text in TRIP]
    assert {e.state for e in mine(memory).episodes.list(thread=first.origin)} == {"archived"}
    (decision,) = decisions(memory)
    assert (decision.verdict, decision.subject) == ("thread_end", card.episode_id)
    assert decision.features["source_tokens"] == source_tokens(
        mine(memory).episodes.messages(card.episode_id)
    )
    assert decision.detail["steps"] == {"skills": 0}
    record = mine(memory).threads.get(first.origin).record
    assert (record["primary_episode_id"], record["summary"]) == (str(card.episode_id), card.meso)
    assert errors(memory) == []


def test_the_fifty_first_turn_begins_a_part_and_the_full_one_is_told(opened: Opened) -> None:
    memory = opened()
    mine(memory).add(turns(50))
    assert parts(memory, "parcels") == [(0, 49, "open", "")]
    mine(memory).add(turns(51)[50:])
    assert parts(memory, "parcels") == [(0, 49, "compacted", "size"), (50, 50, "open", "")]
    (card,) = mine(memory).sections.list()
    thread = mine(memory).threads.list()[0]
    following = mine(memory).episodes.get(section_id(thread.id, 50))
    assert following.kind is EpisodeKind.PRIMARY
    assert card.episode_id == section_id(thread.id, 0)
    assert following.parent_episode_id is None  # whether the words went on tells its end
    assert mine(memory).threads.get("parcels").record["primary_episode_id"] == str(following.id)
    (decision,) = decisions(memory)
    assert (decision.score, decision.threshold) == (50.0, 50.0)
    assert errors(memory) == []


@pytest.mark.slow
def test_parts_are_the_same_however_a_thread_comes(open_memory: OpenMemory, tmp_path: Path) -> None:
    statements = [m for start in (0, 100, 4_000) for m in turns(70, start=start)]
    for n, message in enumerate(statements):
        message["id"] = str(n)
    at_once = open_memory()
    mine(at_once).add(statements)
    piece_by_piece = open_memory(path=tmp_path / "other.db")
    for start in range(0, len(statements), 37):
        mine(piece_by_piece).add(statements[start : start + 37])
    assert parts(at_once, "parcels") == parts(piece_by_piece, "parcels")
    spans = [(first, last) for first, last, _, _ in parts(at_once, "parcels")]
    assert spans == [(0, 49), (50, 99), (100, 139), (140, 189), (190, 209)]
    assert [c.text for c in mine(at_once).sections.list()] == [
        c.text for c in mine(piece_by_piece).sections.list()
    ]
    assert errors(at_once) == errors(piece_by_piece) == []


def test_upkeep_tells_a_part_whose_first_turn_is_a_day_old(opened: Opened, clock: Clock) -> None:
    memory = opened()
    talk(memory, conversation_id="trip")
    memory.upkeep(now=TEN + DAY - timedelta(seconds=1))
    assert parts(memory, "trip") == [(0, 9, "open", "")]
    clock.now = TEN + DAY
    memory.upkeep()
    assert parts(memory, "trip") == [(0, 9, "compacted", "time")]
    memory.upkeep()
    assert len(decisions(memory)) == 1
    talk(memory, start=1500, conversation_id="trip", lines=[("assistant", "The tickets are in your mail.")])
    assert parts(memory, "trip")[0][:3] == (0, 10, "open")
    talk(memory, start=1501, conversation_id="trip", lines=[("user", "Thank you!")])
    assert parts(memory, "trip") == [(0, 10, "compacted", "time"), (11, 11, "open", "")]
    assert [len(mine(memory).episodes.history(card.episode_id)) for card in mine(memory).sections.list()] == [
        2
    ]
    assert errors(memory) == []


def test_a_thread_that_goes_on_after_its_end_begins_another_part(opened: Opened) -> None:
    memory = opened()
    talk(memory, conversation_id="trip")
    mine(memory).threads.close("trip")
    assert parts(memory, "trip") == [(0, 9, "compacted", "thread_end")]
    archived = {e.episode_id for e in mine(memory).episodes.list() if e.state == "archived"}
    talk(memory, start=20, conversation_id="trip", lines=TRIP[6:8])
    assert parts(memory, "trip") == [(0, 9, "compacted", "thread_end"), (10, 11, "open", "")]
    assert (
        mine(memory).boundaries.explain(section_id(mine(memory).threads.list()[0].id, 10)).begins.reason
        == "reopened"
    )
    assert archived == {e.episode_id for e in mine(memory).episodes.list() if e.state == "archived"} != set()
    mine(memory).threads.select("trip")
    assert len(parts(memory, "trip")) == 2
    assert errors(memory) == []


def test_what_comes_late_to_a_thread_that_is_over_is_told_with_the_rest(opened: Opened) -> None:
    memory = opened()
    first = talk(memory, channel="sms")
    talk(memory, start=500, lines=[("user", "Good evening.")], channel="sms")
    talk(memory, start=12, lines=[("user", "Clara also wants to see the Belem tower.")], channel="sms")
    assert parts(memory, first.origin) == [(0, 10, "compacted", "thread_end")]
    (card,) = mine(memory).sections.list(thread=first.origin)
    assert "Belem" in card.meso + card.macro
    assert errors(memory) == []


def test_on_request_everything_is_told_once(opened: Opened, clock: Clock) -> None:
    memory = opened()
    talk(memory, conversation_id="trip")
    mine(memory).add(turns(3))
    (card,) = mine(memory).sections.compact(thread="trip")
    assert (card.trigger, card.state, card.thread) == ("manual", "compacted", "trip")
    assert mine(memory).sections.compact(thread="trip") == []
    assert [card.thread for card in mine(memory).sections.compact()] == ["parcels"]
    assert mine(memory).sections.compact() == []
    assert len(decisions(memory)) == 2
    mine(memory).threads.close("trip")
    assert len(decisions(memory)) == 2  # nothing came since
    with pytest.raises(NotFound, match="no thread 'nobody'"):
        mine(memory).sections.compact(thread="nobody")
    assert errors(memory) == []


def test_the_more_urgent_reason_is_served_first(open_memory: OpenMemory, clock: Clock) -> None:
    memory = open_memory(jobs="workers")
    for name in ("asked", "over", "old", "full"):
        mine(memory).add([{**message, "conversation_id": name} for message in turns(3)])
    clock.now = TEN + DAY
    memory.upkeep()  # all of them are a day old
    mine(memory).add([{**message, "conversation_id": "full"} for message in turns(60, start=10)])
    mine(memory).threads.close("over")
    mine(memory).sections.compact(thread="asked")
    with memory._deps.store.begin(Scope(), write=False) as tx:
        names = {str(p.episode_id): t.origin for t in tx.threads.list() for p in tx.threads.sections(t.id)}
        order = [names[job.key.partition(":")[0]] for job in tx.upkeep.jobs() if job.kind == "compact"]
    assert order[:3] == ["asked", "over", "full"]
    assert order[3:].count("old") == 1


# --- what --------------------------------------------------------------------------------------------------


def test_summaries_are_found_by_what_they_are_about(opened: Opened) -> None:
    memory = opened()
    talk(memory, conversation_id="trip")
    mine(memory).add(turns(3, start=30))
    mine(memory).sections.compact()
    assert [card.thread for card in mine(memory).sections.list()] == ["parcels", "trip"]
    best = mine(memory).sections.list("who is allergic to shellfish?", resolution="macro")[0]
    assert (best.thread, best.text) == ("trip", best.macro)
    assert best.score > 0
    assert [c.thread for c in mine(memory).sections.list("a parcel for Ana", thread="trip")] in ([], ["trip"])
    assert mine(memory).sections.list("parcel", resolution="micro", limit=1)[0].thread == "parcels"
    hits = mine(memory).search("who is allergic to shellfish?").hits  # the raw words are found as before
    assert hits[0].evidence[0].observation.text.startswith("Clara is allergic")
    shown = mine(memory).episodes.card(best.episode_id)
    assert (shown.title, shown.observations, shown.state) == (best.title, 10, "compacted")
    explanation = mine(memory).boundaries.explain(best.episode_id)
    assert explanation.ends.sentence == f"compacted by {EXTRACTIVE} because somebody asked for it (1 of 1)"
    for wrong in ({"resolution": "tiny"}, {"limit": 0}, {"query": "  "}):
        with pytest.raises(InvalidInput):
            mine(memory).sections.list(**wrong)


def test_an_agents_steps_are_told_too(open_memory: OpenMemory) -> None:
    memory = open_memory()
    steps = [
        {"type": "step", "text": f"go to the {room}", "location": room, "timestamp": TEN.isoformat()}
        for room in ("hall", "kitchen") * 20
    ]
    mine(memory).add(steps, thread="robot")
    (card,) = mine(memory).sections.compact(thread="robot")
    assert (card.first_seq, card.last_seq) == (0, 39)
    assert within_limits(card, memory)
    assert errors(memory) == []


def test_a_thread_that_says_nothing_is_no_obstacle(open_memory: OpenMemory) -> None:
    memory = open_memory()
    mine(memory).add([{"role": "user", "content": "…", "conversation_id": "blank"}])
    mine(memory).sections.compact()
    assert len(mine(memory).sections.list()) == 1
    assert errors(memory) == []


# --- what fails --------------------------------------------------------------------------------------------


class Broken(HashingEmbedder):
    """An embedder that is away while it is told to be."""

    away = False

    def embed(self, texts: Sequence[str]) -> Vector:
        if self.away:
            raise ProviderUnavailable("the embedder is away")
        return super().embed(texts)


def test_a_compaction_that_fails_is_tried_again_and_nothing_is_lost(
    open_memory: OpenMemory, clock: Clock
) -> None:
    embedder = Broken()
    memory = open_memory(embedder=embedder)
    talk(memory, conversation_id="trip")
    mine(memory).flush()
    embedder.away = True
    (card,) = mine(memory).sections.compact()
    assert (card.compacted_through, card.text) == (None, "")
    assert mine(memory).stats().waiting_jobs == 1
    assert len(mine(memory).episodes.messages(card.episode_id)) == 10
    embedder.away = False
    clock.forward(minutes=5)
    memory.jobs.run()
    assert [card.compacted_through for card in mine(memory).sections.list()] == [9]
    assert mine(memory).stats().waiting_jobs == 0
    assert errors(memory) == []


def test_the_doctor_asks_again_for_what_nobody_compacts(open_memory: OpenMemory) -> None:
    embedder = Broken()
    memory = open_memory(embedder=embedder)
    talk(memory, conversation_id="trip")
    mine(memory).flush()
    embedder.away = True
    mine(memory).sections.compact()
    memory.jobs.cancel(memory.jobs.list()[0].id)
    embedder.away = False
    assert errors(memory) == ["thread trip: nobody compacts the part at 0; `doctor --repair` asks for it"]
    memory.doctor(repair=True)
    assert [card.trigger for card in mine(memory).sections.list()] == ["manual"]
    assert errors(memory) == []


# --- with a language model ---------------------------------------------------------------------------------


def test_a_language_models_words_are_taken_where_they_hold(open_memory: OpenMemory) -> None:
    model = ScriptedModel(answers=[{**REPLY, "meso": "The flight costs 999 euros."}])
    memory = open_memory(language_model=model, policy=WHOLE)
    talk(memory, conversation_id="trip")
    (card,) = mine(memory).sections.compact()
    assert (card.micro, card.macro) == (REPLY["micro"], REPLY["macro"])
    assert "214" in card.meso
    assert "999" not in card.meso
    assert card.by == f"scripted {compact.VERSION}"
    (decision,) = decisions(memory)
    assert decision.detail["refused"] == ["meso: nobody said 999"]
    assert [stage for stage, _ in model.calls] == ["compact"]
    assert errors(memory) == []


@pytest.mark.parametrize(
    "answer", [ProviderUnavailable("down"), BadReply("no JSON"), {"micro": 1}, dict.fromkeys(REPLY, "")]
)
def test_a_language_model_that_does_not_serve_gives_way(
    open_memory: OpenMemory, clock: Clock, answer: Any
) -> None:
    model = ScriptedModel(respond=lambda _prompt, _stage: answer)
    memory = open_memory(language_model=model, policy="default")
    talk(memory, conversation_id="trip")
    mine(memory).sections.compact()
    for _ in range(4):
        clock.forward(hours=1)
        memory.jobs.run()
    (card,) = mine(memory).sections.list()
    assert card.by == EXTRACTIVE
    assert mine(memory).stats().waiting_jobs == 0
    assert decisions(memory)[0].detail["refused"] != []
    assert errors(memory) == []


def test_a_served_model_is_asked_again_and_counted(open_memory: OpenMemory) -> None:
    with serving(lambda _prompt: {**REPLY, **ABOUT}) as server:
        server.script.append(Behaviour.NO_JSON)
        model = OpenAIModel("small", base_url=server.url, limits=ModelLimits(tries=1, away=0.0))
        memory = open_memory(language_model=model, policy=WHOLE)
        talk(memory, conversation_id="trip")
        (card,) = mine(memory).sections.compact()
        assert card.micro == REPLY["micro"]
        assert [(use.stage, use.calls, use.failures) for use in memory.usage()] == [("compact", 2, 1)]
        assert "shellfish" in server.prompts[0]


def test_the_call_that_tells_a_part_says_what_it_is_about_too(open_memory: OpenMemory) -> None:
    model = ScriptedModel(answers=[{**REPLY, **ABOUT, "tools_used": ["telepathy"]}])
    memory = open_memory(language_model=model, policy=WHOLE)
    talk(memory, conversation_id="trip")
    (card,) = mine(memory).sections.compact()
    about = mine(memory).episodes.get(card.episode_id).metadata
    assert (about["tags"], about["outcome"]) == (["travel", "booking"], "success")
    assert about["entities"] == ["Lisbon"]  # nobody named Napoleon
    assert (about["participants"], about["tools_used"]) == (["user", "assistant"], [])
    with memory._deps.store.begin(Scope(), write=False) as tx:
        conditions = parse_filter("tag=booking outcome=success").fields
        assert [one.id for one in tx.episodes.list(about=conditions)] == [card.episode_id]
    assert [stage for stage, _ in model.calls] == ["compact"]
    assert errors(memory) == []


def test_a_server_whose_json_cannot_be_read_stops_no_compaction_and_is_asked_later(
    open_memory: OpenMemory, clock: Clock
) -> None:
    with serving(lambda _prompt: {**REPLY, **ABOUT}) as server:
        server.script.extend([Behaviour.NO_JSON, Behaviour.TRUNCATED])
        model = OpenAIModel("small", base_url=server.url, limits=ModelLimits(tries=1, away=0.0))
        memory = open_memory(language_model=only(model, compact.STAGE), policy="default")
        talk(memory, conversation_id="trip")
        mine(memory).threads.close("trip")
        (card,) = mine(memory).sections.list()
        about = mine(memory).episodes.get(card.episode_id).metadata
        assert (card.by, len(server.asked), mine(memory).stats().waiting_jobs) == (EXTRACTIVE, 2, 1)
        assert about["participants"] == ["user", "assistant"]
        clock.forward(hours=1)
        memory.jobs.run()
        (card,) = mine(memory).sections.list()
        assert (card.micro, card.state) == (REPLY["micro"], EpisodeState.COMPACTED)
        assert mine(memory).episodes.get(card.episode_id).metadata["tags"] == ["travel", "booking"]
        assert "refused" not in mine(memory).episodes.get(card.episode_id).metadata
        assert (len(server.asked), mine(memory).stats().waiting_jobs, errors(memory)) == (3, 0, [])
        assert len(decisions(memory)) == 2


def test_a_server_that_never_answers_readably_is_not_asked_for_ever(
    open_memory: OpenMemory, clock: Clock
) -> None:
    model = ScriptedModel(answers=[BadReply("no JSON")] * 9)
    memory = open_memory(language_model=only(model, compact.STAGE), policy="default")
    talk(memory, conversation_id="trip")
    mine(memory).sections.compact()
    for _ in range(6):
        clock.forward(hours=1)
        memory.jobs.run()
    assert (len(model.calls), mine(memory).stats().waiting_jobs, errors(memory)) == (3, 0, [])
    assert [card.by for card in mine(memory).sections.list()] == [EXTRACTIVE]


def test_a_part_told_by_its_events_is_about_what_most_of_them_are_about(open_memory: OpenMemory) -> None:
    answers: list[Mapping[str, Json]] = [
        {
            "title": "A trip to Lisbon is planned",
            "summary": "The user plans a trip to Lisbon.",
            "tags": ["Flight", "lisbon"],
            "outcome": "failure",
        },
        {
            "title": "Two Lisboa Cards are ordered",
            "summary": "The user orders two Lisboa Cards.",
            "tags": ["Lisbon", "tram"],
            "outcome": "success",
        },
    ]
    model = ScriptedModel(answers=answers)
    reported_model = only(model, question.STAGE, compact.STAGE)
    memory = open_memory(language_model=reported_model, policy="stub?freeze_interval=5")
    talk(memory, conversation_id="trip")
    mine(memory).threads.close("trip")
    (card,) = mine(memory).sections.list()
    assert card.by.endswith("events-1")
    about = mine(memory).episodes.get(card.episode_id).metadata
    assert (about["tags"], about["outcome"]) == (["lisbon", "flight", "tram"], "success")


def test_a_part_whose_event_a_model_worded_is_not_asked_about_again(open_memory: OpenMemory) -> None:
    texts = {"title": "A trip to Lisbon is planned", "summary": "A trip to Lisbon was planned and booked."}
    model = ScriptedModel(respond=lambda _prompt, stage: texts if stage == "episode" else REPLY)
    memory = open_memory(language_model=model, policy=WHOLE, fact_policy="alone")
    talk(memory, conversation_id="trip")
    mine(memory).threads.close("trip")
    (card,) = mine(memory).sections.list()
    assert (card.meso, card.by) == (texts["summary"], "scripted episode-5 events-1")
    assert "compact" not in [stage for stage, _ in model.calls]
    assert errors(memory) == []


# --- what stays true ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_parts_stay_through_a_resegmentation_and_its_undo(open_memory: OpenMemory) -> None:
    memory = open_memory()
    mine(memory).add(turns(120))
    before, texts = parts(memory, "parcels"), [c.text for c in mine(memory).sections.list()]
    mine(memory).boundaries.resegment("parcels", "stub?freeze_interval=7")
    assert (parts(memory, "parcels"), [c.text for c in mine(memory).sections.list()]) == (before, texts)
    archived = [e for e in mine(memory).episodes.list() if e.state == "archived"]
    assert len(archived) == 100 // 7
    assert errors(memory) == []
    mine(memory).sections.compact()
    mine(memory).boundaries.undo("parcels")
    assert {e.state for e in mine(memory).episodes.list() if e.state != "open"} == {"archived"}
    assert errors(memory) == []


@pytest.mark.slow
def test_parts_and_their_words_are_exported(open_memory: OpenMemory, clock: Clock, tmp_path: Path) -> None:
    memory = open_memory()
    mine(memory).add(turns(120))
    talk(memory, conversation_id="trip")
    mine(memory).sections.compact(thread="trip")
    lines = list(mine(memory).export())
    file = tmp_path / "export.jsonl"
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    copy = open_memory(path=tmp_path / "copy.db")
    assert mine(copy).import_file(file).unreadable == []
    assert list(mine(copy).export())[1:] == lines[1:]
    assert mine(copy).sections.list("shellfish") == mine(memory).sections.list("shellfish") != []
    assert mine(copy).sections.compact(thread="trip") == []
    assert errors(copy) == []


@pytest.mark.slow
@pytest.mark.parametrize("mended", [False, True])
def test_a_thread_from_before_there_were_parts_gets_them(
    open_memory: OpenMemory, database: Path, mended: bool
) -> None:
    memory = open_memory()
    mine(memory).add(turns(120))
    before = parts(memory, "parcels")
    with memory._deps.store._connections.borrow_to_write() as db:  # type: ignore[attr-defined]
        db.execute("DELETE FROM part; DELETE FROM encoding WHERE episode IN"
                   " (SELECT id FROM episode WHERE kind = 'primary');"
                   " DELETE FROM episode WHERE kind = 'primary'")  # fmt: skip
    if mended:
        assert [f.invariant for f in memory.doctor()] == ["parts"]
        memory.doctor(repair=True)
        assert parts(memory, "parcels") == before
    else:
        mine(memory).add(turns(121)[120:])
        assert parts(memory, "parcels")[:2] == before[:2]
    assert errors(memory) == []


def test_commands_compact_and_show(run: Run, tmp_path: Path) -> None:
    assert run("add", "My sister Clara is allergic to shellfish.", "--thread", "trip").code == 0
    assert "no summaries here yet" in run("summaries").err
    assert "shellfish" in run("compact", "--thread", "trip").out
    assert "nothing to compact" in run("compact").err
    (card,) = run("summaries", "shellfish", "--resolution", "micro", "--json").json["summaries"]
    assert card["trigger"] == "manual"
    assert "shellfish" in run("show", card["episode_id"][:8]).out
    assert "somebody asked for it" in run("explain", card["episode_id"][:8]).out
    assert run("compact", "--thread", "nobody").code == 3


def test_states_of_a_part_follow_its_life(open_memory: OpenMemory) -> None:
    memory = open_memory(jobs="workers")
    thread = talk(memory, conversation_id="trip")
    primary = section_id(thread.id, 0)
    assert mine(memory).episodes.get(primary).state is EpisodeState.OPEN
    mine(memory).threads.close("trip")
    assert mine(memory).episodes.get(primary).state is EpisodeState.CLOSED
    assert "not compacted yet" in mine(memory).boundaries.explain(primary).ends.sentence
    memory.jobs.worker().run(once=True)
    assert mine(memory).episodes.get(primary).state is EpisodeState.COMPACTED
