"""What was recalled into a prompt and comes back is kept, but is no new memory: on both stores, end to end."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import pytest
from builders.chats import Clock, mine
from conftest import OpenMemory

from episodic_agent import Memory
from episodic_agent.core.echo import By, Echo, echo_of, marked, own_words
from episodic_agent.engine.ingest.appending import Incoming, Ingest
from episodic_agent.schemas import Observation, Scope

TAP = (
    "The kitchen tap dripped all night, so I called plumber Rossi; he came on Friday afternoon, "
    "replaced the ceramic cartridge and charged 80 euros in cash"
)
MARKDOWN = (
    "## Episodic Memories\n### Kitchen tap [rank: 1, score: 0.83]\n"
    "**When:** 2026-03-02 10:15 UTC (3 weeks ago)\n**Summary:** Rossi replaced the cartridge.\n"
)


@pytest.fixture
def stores(url: str, clock: Clock) -> Iterator[Memory]:
    with ExitStack() as stack:
        yield stack.enter_context(Memory.open(url, embedder="hashing", policy="seed-001", clock=clock))


def told_of_the_tap(memory: Memory, clock: Clock) -> None:
    mine(memory).add(TAP, thread="march", timestamp=clock.now)
    mine(memory).flush(thread="march")
    clock.forward(days=9)


def kept(memory: Memory, thread: str) -> list[Observation]:
    return [
        o
        for card in mine(memory).episodes.list(thread=thread)
        for o in mine(memory).episodes.messages(card.episode_id)
    ]


def echo(observation: Observation) -> Echo | None:
    return echo_of(observation.extras, observation.text)


def test_a_tool_message_with_what_was_recalled_is_kept_whole_and_found_by_nobody(
    stores: Memory, clock: Clock
) -> None:
    told_of_the_tap(stores, clock)
    receipts = mine(stores).add(
        [
            {"role": "user", "content": "Who repaired the tap?"},
            {"role": "tool", "name": "retrieve_memory", "content": MARKDOWN},
        ],
        thread="today",
        timestamp=clock.now,
    )
    assert [r.seq for r in receipts] == [0, 1]
    assert all(r.added for r in receipts)
    message = kept(stores, "today")[1]
    matching_echo = echo(message)
    assert "Rossi replaced the cartridge." in message.text
    assert matching_echo is not None
    assert matching_echo.is_complete
    assert matching_echo.by is By.FORM
    shown = {
        e.observation.id
        for e in mine(stores).search("Rossi cartridge", limit=20, observations=50).observations
    }
    assert message.id not in shown
    assert shown
    assert all(f.severity == "note" for f in stores.doctor())


def test_an_open_frame_is_called_by_what_is_heard_of_it_not_by_what_was_recalled(
    stores: Memory, clock: Clock
) -> None:
    told_of_the_tap(stores, clock)
    recalled = {"role": "tool", "name": "retrieve_memory", "content": MARKDOWN}
    mine(stores).add([recalled], thread="today", timestamp=clock.now)
    (card,) = mine(stores).episodes.list(thread="today")
    assert (card.state, card.title) == ("open", "Messages without words")
    assert mine(stores).episodes.pin(card.episode_id).title
    mine(stores).add(
        [{"role": "user", "content": "Who repaired the tap?"}], thread="today", timestamp=clock.now
    )
    (card,) = mine(stores).episodes.list(thread="today")
    assert (card.state, card.title) == ("open", "Who repaired the tap?")
    assert mine(stores).episodes.pin(card.episode_id).title == "Who repaired the tap?"


def test_a_message_that_is_part_echo_is_found_by_its_own_words_alone(stores: Memory, clock: Clock) -> None:
    told_of_the_tap(stores, clock)
    prompt = (
        "You were discussing the kitchen tap.\nPrevious questions:\n- Who fixed it? (Rossi, on Friday)\n\n"
        "Current question: Is the dishwasher still under warranty?"
    )
    mine(stores).add(prompt, thread="today", timestamp=clock.now)
    (message,) = kept(stores, "today")
    assert message.text == prompt
    assert own_words(message).text == "Is the dishwasher still under warranty?"
    evidence = mine(stores).search("dishwasher warranty", observations=5).observations
    assert evidence[0].observation.id == message.id
    assert message.id not in {
        e.observation.id for e in mine(stores).search("Who fixed it, Rossi?", observations=1).observations
    }


def test_pasted_text_is_known_by_what_was_recalled_before(stores: Memory, clock: Clock) -> None:
    told_of_the_tap(stores, clock)
    mine(stores).search("kitchen tap")
    mine(stores).add(TAP, role="assistant", thread="today", timestamp=clock.now)
    (message,) = kept(stores, "today")
    matching_echo = echo(message)
    assert matching_echo is not None
    assert matching_echo.is_complete
    assert matching_echo.sources
    (card,) = mine(stores).episodes.list(thread="today")
    assert "an echo of" in mine(stores).boundaries.explain(card.episode_id).echoes[0]


def test_a_person_who_repeats_himself_is_believed(stores: Memory, clock: Clock) -> None:
    told_of_the_tap(stores, clock)
    mine(stores).search("kitchen tap")
    mine(stores).add(TAP, thread="today", timestamp=clock.now)
    assert [echo(o) for o in kept(stores, "today")] == [None]


def test_an_answer_that_uses_a_memory_is_a_new_message(stores: Memory, clock: Clock) -> None:
    told_of_the_tap(stores, clock)
    mine(stores).search("kitchen tap")
    answer = "Plumber Rossi repaired it on Friday, he charged 80 euros."
    mine(stores).add(answer, role="assistant", thread="today", timestamp=clock.now)
    assert [echo(o) for o in kept(stores, "today")] == [None]


def test_what_a_caller_marked_as_recalled_is_an_echo(stores: Memory, clock: Clock) -> None:
    told_of_the_tap(stores, clock)
    text = marked("The tap: Rossi, 80 euros.") + "\nTell him it drips again."
    mine(stores).add(text, thread="today", timestamp=clock.now)
    assert [own_words(o).text for o in kept(stores, "today")] == ["Tell him it drips again."]


def test_pasted_recall_is_no_use_of_it_but_an_answer_is(open_memory: OpenMemory, tmp_path: Path) -> None:
    verdicts = {}
    for name, text in (
        ("pasted", MARKDOWN + f'\n**Details:**\n- user: "{TAP}"'),
        ("answered", "Plumber Rossi replaced the ceramic cartridge on Friday, he charged 80 euros in cash."),
    ):
        clock = Clock()
        memory = open_memory(tmp_path / f"{name}.db", clock=clock)
        told_of_the_tap(memory, clock)
        mine(memory).add("What about the tap?", thread="today", timestamp=clock.now)
        mine(memory).search("what about the kitchen tap that dripped?", asking="today")
        clock.forward(seconds=20)
        mine(memory).add(text, role="assistant", thread="today", timestamp=clock.now)
        mine(memory).flush(thread="today")
        (card,) = mine(memory).episodes.list(thread="march")
        verdicts[name] = [d.verdict for d in mine(memory).episodes.reviews(card.episode_id)]
    assert verdicts == {"pasted": [], "answered": ["Good"]}


def test_an_export_keeps_what_is_an_echo(stores: Memory, clock: Clock, tmp_path: Path) -> None:
    told_of_the_tap(stores, clock)
    mine(stores).add(MARKDOWN, role="assistant", thread="today", timestamp=clock.now)
    mine(stores).flush()
    lines = "\n".join(mine(stores).export())
    (tmp_path / "all.jsonl").write_text(lines + "\n", encoding="utf-8")
    with Memory.open(tmp_path / "other.db", embedder="hashing", policy="seed-001", clock=clock) as other:
        mine(other).import_file(tmp_path / "all.jsonl")
        assert [echo(o) for o in kept(other, "today")] == [echo(o) for o in kept(stores, "today")]
        assert all(
            e.observation.thread_id != kept(other, "today")[0].thread_id
            for e in mine(other).search("Rossi cartridge", observations=20).observations
        )


def test_segmenting_again_hears_the_same(open_memory: OpenMemory, clock: Clock) -> None:
    memory = open_memory(policy="default")
    told_of_the_tap(memory, clock)
    for n in range(12):
        clock.forward(minutes=4)
        mine(memory).add(
            f"Question {n} about my garden: which {n} roses should I plant?", thread="t", timestamp=clock.now
        )
        clock.forward(seconds=5)
        mine(memory).add(MARKDOWN, role="system", thread="t", timestamp=clock.now)
    mine(memory).flush()
    before = [(c.start_at, c.end_at, c.title) for c in mine(memory).episodes.list(thread="t")]
    reported_if = mine(memory).boundaries.whatif("t", "default")
    assert [(s.first_seq, s.last_seq) for s in reported_if.stored] == [
        (s.first_seq, s.last_seq) for s in reported_if.proposed
    ]
    assert before
    assert all("Rossi" not in c.summary for c in mine(memory).episodes.list(thread="t"))


OWN = (
    "To grow roses from cuttings, take shoots as thick as a pencil in late summer, remove all but two leaves, put "
    "them in sand under a jar in the shade, and keep them damp until the roots are as long as a finger"
)
SAID_BEFORE = (
    "The worker's memory grows because the cache of parsed headers is never emptied: each request of a new client "
    "adds about four kilobytes, and nothing removes them before the process ends, so after a day it is killed"
)


def chat(thread: str, clock: Clock) -> list[dict[str, object]]:
    """A talk whose agent says, forty messages later, what somebody had said elsewhere, as what it remembers."""
    talk: list[dict[str, object]] = []
    for n in range(40):
        clock.forward(seconds=30)
        actor = "assistant" if n % 2 else "user"
        text = (
            f"I remember: {SAID_BEFORE}" if n == 39 else f"About the {thread} at step {n}: what comes next?"
        )
        talk.append({"role": actor, "content": text, "conversation_id": thread, "timestamp": clock.now})
    return talk


@pytest.mark.slow
def test_how_messages_are_grouped_changes_no_verdict(
    open_memory: OpenMemory, tmp_path: Path, clock: Clock
) -> None:
    """All at once, one by one, begun again in the middle, with all later work done or none: all hear the same."""
    messages = [
        {"role": role, "content": text, "conversation_id": "before", "timestamp": clock.now}
        for role, text in (("user", SAID_BEFORE), ("user", "And roses?"), ("assistant", OWN))
    ]
    for thread in ("leak", "garden", "kitchen"):
        messages += chat(thread, clock)
    clock.forward(minutes=1)
    own = {"role": "assistant", "content": f"I remember: {OWN}", "timestamp": clock.now}
    messages.append(
        {**own, "conversation_id": "roses"}
    )  # an agent that says something twice hands nothing on
    heard_by = []
    for number, sizes in enumerate(([len(messages)], [1] * len(messages), [50, 1, 30, 60], [3, *[7] * 20])):
        memory = open_memory(tmp_path / f"{number}.db", clock=clock)
        rest = list(messages)
        for size in sizes:
            group, rest = rest[:size], rest[size:]
            mine(memory).add(group)
            if number % 2 and len(rest) < len(messages) - 2:
                mine(memory).flush()
        assert not rest
        threads = ("before", "leak", "garden", "kitchen", "roses")
        heard_by.append([(one, o.seq) for one in threads for o in kept(memory, one) if echo(o)])
    assert heard_by[0] == heard_by[1] == heard_by[2] == heard_by[3]
    assert heard_by[0] == [("leak", 39), ("garden", 39), ("kitchen", 39)]


def test_history_repeats_nothing_that_was_recalled_here(
    open_memory: OpenMemory, tmp_path: Path, clock: Clock
) -> None:
    """Conversations of long ago, imported in any order, while the same matter is being recalled."""
    values = [{"role": "user", "content": TAP, "conversation_id": "first", "timestamp": clock.now}]
    again = [{"role": "assistant", "content": f"I remember: {TAP}", "conversation_id": "second"}]
    again[0]["timestamp"] = clock.now + timedelta(hours=1)
    marks = []
    for name, parts in (("one", [values, again]), ("other", [again, values])):
        late = Clock(clock.now + timedelta(days=30))
        memory = open_memory(tmp_path / f"{name}.db", clock=late)
        told_of_the_tap(memory, late)
        mine(memory).search("kitchen tap")
        for some in parts:
            mine(memory).add(some)
        marks.append([echo(o) for o in kept(memory, "second")])
        (now,) = mine(memory).add(f"I remember: {TAP}", role="assistant", thread="today", timestamp=late.now)
        assert [echo(o) is not None for o in kept(memory, "today")] == [True]
        assert now.added
    assert marks == [[None], [None]]


# --- the loop ------------------------------------------------------------------------------------------------

TURNS = 100
FEW = 15


def loop(memory: Memory, clock: Clock, turns: int = TURNS) -> None:
    """An agent that asks its memory at each turn and stores everything it saw, prompts included."""
    for n in range(turns):
        clock.forward(minutes=7)
        question = f"Day {n}: what should I remember about errand number {n % 17} at the {PLACES[n % 7]}?"
        mine(memory).add(question, thread=f"day-{n // 20}", timestamp=clock.now)
        recall = mine(memory).search(question, limit=4)
        context = mine(memory).context(question, thread=f"day-{n // 20}")
        shown = "\n".join(f"- {e.observation.text}" for hit in recall.hits for e in hit.evidence)
        mine(memory).add(
            [
                {
                    "role": "system",
                    "content": f"Relevant memories:\n{shown}" if shown else "No memories yet.",
                },
                {"role": "tool", "name": "get_context", "content": context.text or "nothing"},
                {"role": "assistant", "content": f"Noted for errand {n % 17}: go there by {n % 12} o'clock."},
            ],
            thread=f"day-{n // 20}",
            timestamp=clock.now,
        )


PLACES = ("bakery", "library", "harbour", "post office", "garage", "market hall", "town archive")


def letters(memory: Memory) -> tuple[int, int]:
    """Count the letters that are searchable: of what was really said, and of all."""
    own = everything = 0
    threads = dict.fromkeys(card.origin for card in mine(memory).episodes.list())
    for observation in (o for thread in threads for o in kept(memory, thread)):
        searchable = len(own_words(observation).text)
        everything += searchable
        own += searchable if observation.actor in ("user", "assistant") else 0
    return own, everything


@pytest.mark.parametrize("turns", [FEW, pytest.param(TURNS, marks=pytest.mark.slow)])
def test_a_memory_that_hears_itself_does_not_fill_up_with_itself(
    open_memory: OpenMemory, clock: Clock, turns: int
) -> None:
    memory = open_memory()
    loop(memory, clock, turns)
    own, everything = letters(memory)
    assert own > 100 * turns
    assert everything - own < 0.05 * everything
    assert all(f.severity == "note" for f in memory.doctor())


@pytest.mark.slow
def test_without_the_guard_most_of_a_memory_is_its_own_echo(
    open_memory: OpenMemory, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deaf(_: Ingest, scope: Scope, new: Sequence[Incoming], before: Sequence[Incoming]) -> list[Incoming]:
        return list(new)

    monkeypatch.setattr(Ingest, "_listened", deaf)
    memory = open_memory()
    loop(memory, clock, turns=14)  # more would take minutes: what is pasted doubles
    own, everything = letters(memory)
    assert everything - own > 0.8 * everything


def test_pasted_facts_and_episodes_teach_nothing_and_what_is_new_beside_them_does(
    stores: Memory, clock: Clock
) -> None:
    for number, text in enumerate(
        (
            "Our rent is 700 euros a month.",
            "My sister Hannah is a nurse.",
            "My flight to Lisbon is on 3 May.",
        )
    ):
        mine(stores).add(text, thread=f"{number}", timestamp=clock.now)
        mine(stores).flush(thread=f"{number}")
    mine(stores).facts.consolidate()
    before = {card.fact.id: len(card.fact.evidence) for card in mine(stores).facts.list()}
    clock.forward(days=40)
    answer = mine(stores).retrieve("how much is our rent?", detail="high")
    assert answer.startswith("## Known Facts")
    mine(stores).add(f"{answer}\nMy brother Ben teaches the cello.", thread="pasted", timestamp=clock.now)
    mine(stores).flush(thread="pasted")
    mine(stores).facts.consolidate()
    after = {card.fact.id: len(card.fact.evidence) for card in mine(stores).facts.list()}
    assert before.items() <= after.items()
    (new,) = [card.fact for card in mine(stores).facts.list() if card.fact.id not in before]
    assert new.value == "My brother Ben teaches the cello."
    (quote,) = mine(stores).facts.get(new.id).quotes
    assert "cello" in str(quote)
    assert all(f.severity == "note" for f in stores.doctor())
