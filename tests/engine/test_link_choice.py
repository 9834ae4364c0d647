"""One message goes on with one thing; what a user denies is parted; what is one matter is linked to most of it."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from builders.chats import Clock, mine
from builders.commands import Run
from builders.examples import first
from conftest import OpenMemory

from episodic_agent import Memory
from episodic_agent.engine.jobs.kinds import LINK
from episodic_agent.schemas import Decision, Scope, Thread

TEN = datetime(2026, 3, 2, 10, tzinfo=UTC)
MATTERS = (
    "What's the weather in Leeds tomorrow?",
    "When does the pottery class start again?",
    "Remind me what the tax return still needs",
)
THURSDAY = "Oh, and what is it on Thursday?"
Opened = Callable[..., Memory]


@pytest.fixture
def opened(url: str, clock: Clock) -> Iterator[Opened]:
    """Open memories on each store that judge links by words."""
    with ExitStack() as stack:
        arguments = {"embedder": "none", "policy": "seed-001", "clock": clock}
        yield lambda **more: stack.enter_context(Memory.open(url, **{**arguments, **more}))


@pytest.fixture
def single(open_memory: OpenMemory) -> Opened:
    """Open memories on one file, where the store makes no difference."""
    return lambda **more: open_memory(**{"embedder": "none", "policy": "seed-001", **more})


def tell(memory: Memory, minute: float, text: str, **more: Any) -> Thread:
    """Add one message and return the thread it is in."""
    (receipt,) = mine(memory).add(text, timestamp=TEN + timedelta(minutes=minute), channel="sms", **more)
    return next(t for t in mine(memory).threads.list() if t.id == receipt.thread_id)


def matters(memory: Memory) -> list[Thread]:
    return [tell(memory, 45 * n, text) for n, text in enumerate(MATTERS)]


def decisions(memory: Memory, thread: Thread) -> Sequence[Decision]:
    with memory._deps.store.begin(Scope(), write=False) as tx:
        return tx.knowledge.decisions(subject=thread.id, type=LINK)


def sound(memory: Memory) -> bool:
    return [f.message for f in memory.doctor() if f.severity == "error"] == []


# --- one message, one thing


@pytest.mark.slow
def test_one_elliptical_message_goes_on_with_one_thread_and_the_others_say_why_not(opened: Opened) -> None:
    memory = opened()
    *_, tax = matters(memory)
    asked = tell(memory, 135, THURSDAY)
    assert [(c.later.id, c.earlier.id) for c in mine(memory).links.list()] == [(asked.id, tax.id)]
    matching_decisions = decisions(memory, asked)
    assert sorted(d.verdict for d in matching_decisions) == ["DON'T_LINK", "DON'T_LINK", "LINK"]
    assert sum(d.score for d in matching_decisions) < 1.0  # the rest is the share of none of them
    judged = mine(memory).links.explain(asked.origin).judged
    assert all(any("its share of one choice" in s for s in entry.sentences) for entry in judged)
    assert sound(memory)
    assert [
        t.id for t, v in mine(memory).links.foresee(THURSDAY, at=TEN + timedelta(minutes=136)) if v.link
    ] == [asked.id]


def test_under_the_policy_before_a_loser_names_its_rival(opened: Opened) -> None:
    memory = opened(link_policy="link-2026-12")
    matters(memory)
    asked = tell(memory, 135, THURSDAY)
    judged = mine(memory).links.explain(asked.origin).judged
    numbers = [
        sum("another candidate of this message is better" in s for s in entry.sentences) for entry in judged
    ]
    assert numbers == [0, 1, 1]


@pytest.mark.slow
def test_the_doctor_finds_a_loser_that_was_better_than_its_rival(opened: Opened) -> None:
    memory = opened(link_policy="link-2026-12")
    matters(memory)
    asked = tell(memory, 135, THURSDAY)
    loser = next(d for d in decisions(memory, asked) if d.features.get("yields"))
    with memory._deps.store.begin(Scope()) as tx:
        tx.knowledge.revoke(loser.id)
        tx.knowledge.decide(replace(loser, features={**loser.features, "rival": loser.score - 0.1}))
    assert [f.invariant for f in memory.doctor() if f.severity == "error"] == ["I6"]


@pytest.mark.slow
def test_what_is_said_of_two_things_is_linked_with_both(opened: Opened) -> None:
    memory = opened()
    leeds = tell(memory, 0, "What's the weather in Leeds?")
    tell(memory, 45, "Remind me what the tax return still needs")
    york = tell(memory, 90, "What is the weather in York like?")
    both = tell(memory, 135, "What about weather in both cities?")
    ends = {c.earlier.id for c in mine(memory).links.list() if c.later.id == both.id}
    assert ends == {leeds.id, york.id}
    assert sound(memory)


# --- one matter


def test_a_cross_thread_episode_takes_nobody_who_is_hardly_linked_to_it(opened: Opened) -> None:
    memory = opened(link_policy="seed-002")
    texts = (
        "What's the weather in Leeds?",
        THURSDAY,
        *(f"And what about {d}?" for d in ("Friday", "Sunday")),
    )
    threads = [tell(memory, 45 * n, text) for n, text in enumerate(texts)]
    assert len(mine(memory).links.list()) == 3  # each to the one before
    (episode,) = mine(memory).links.episodes()
    assert episode.metadata["linked_threads"] == [str(t.id) for t in threads[:3]]
    assert sound(memory)
    mine(memory).links.add(threads[3].origin, threads[1].origin)
    (episode,) = mine(memory).links.episodes()
    assert episode.metadata["linked_threads"] == [str(t.id) for t in threads]
    mine(memory).links.remove(threads[3].origin, threads[1].origin)
    assert mine(memory).links.episodes()[0].metadata["linked_threads"] == [str(t.id) for t in threads[:3]]
    assert sound(memory)
    mine(memory).links.remove(threads[0].origin, threads[1].origin)
    (smaller,) = mine(memory).links.episodes()
    assert (smaller.id, smaller.metadata["linked_threads"]) == (episode.id, [str(t.id) for t in threads[1:]])
    assert sound(memory)


def test_a_cross_thread_episode_names_the_primary_episodes_of_its_threads(opened: Opened) -> None:
    memory = opened()
    ends = linked_pair(memory)
    (episode,) = mine(memory).links.episodes()
    primaries = [mine(memory).threads.get(thread.origin).record["primary_episode_id"] for thread in ends]
    assert None not in primaries
    assert episode.metadata["member_episode_ids"] == primaries
    assert {mine(memory).episodes.get(str(one)).kind for one in primaries} == {"primary"}
    assert mine(memory).episodes.get(episode.id).metadata["member_episode_ids"] == primaries


# --- what the user denies


def linked_pair(memory: Memory) -> tuple[Thread, Thread]:
    """Let a thread be linked to an earlier one, and be answered."""
    first = tell(memory, 0, "What's the weather in Leeds tomorrow?")
    second = tell(memory, 45, THURSDAY)
    tell(memory, 45.5, "Rain in Leeds on Thursday.", role="assistant")
    assert len(mine(memory).links.list()) == 1
    return first, second


def context(memory: Memory, minute: float, text: str = "What now?") -> str:
    return mine(memory).context(text, channel="sms", at=TEN + timedelta(minutes=minute)).text


@pytest.mark.parametrize("link_policy", first(1, ["default", "seed-002"]))
@pytest.mark.parametrize(
    "denial", ["That's not what I meant", "Das meinte ich nicht", "No me refiero a eso", "我不是这个意思"]
)
def test_a_denial_parts_the_two_at_once_and_no_context_tells_of_it(
    single: Opened, denial: str, link_policy: str
) -> None:
    memory = single(link_policy=link_policy)
    first, second = linked_pair(memory)
    assert "Leeds tomorrow" in context(memory, 45.8)
    assert tell(memory, 46, denial).id == second.id
    assert (mine(memory).links.list(), mine(memory).links.episodes()) == ([], [])
    (gone,) = mine(memory).links.list(taken_back=True)
    assert gone.decision is not None
    assert gone.decision.outcome == "INCORRECT"
    assert "Leeds tomorrow" not in context(memory, 46.5)
    tell(memory, 47, "And what is it on Friday?")  # nor is it linked again by itself
    assert mine(memory).links.list() == []
    mine(memory).links.add(first.origin, second.origin)
    tell(memory, 48, "ok")
    assert "Leeds tomorrow" in context(memory, 48.5)
    assert sound(memory)


def test_a_denial_in_the_second_turn_counts_and_later_it_does_not(opened: Opened) -> None:
    memory = opened()
    linked_pair(memory)
    tell(memory, 46, "ok")
    tell(memory, 47, "That's not what I meant")
    assert mine(memory).links.list() == []
    assert sound(memory)


def test_what_is_said_after_the_window_parts_nothing(opened: Opened) -> None:
    memory = opened()
    linked_pair(memory)
    tell(memory, 46, "ok")
    tell(memory, 47, "thanks")
    tell(memory, 48, "That's not what I meant")
    assert len(mine(memory).links.list()) == 1


def test_a_correction_in_the_denial_is_linked_with_what_was_meant(single: Opened) -> None:
    memory = single()
    pottery = tell(memory, 0, "When does the pottery class at the mill start again?")
    weather = tell(memory, 45, "What's the weather in Leeds tomorrow?")
    asked = tell(memory, 90, THURSDAY)
    assert [c.earlier.id for c in mine(memory).links.list()] == [weather.id]
    tell(memory, 91, "No, not that, I meant the pottery class at the mill")
    assert [(c.later.id, c.earlier.id) for c in mine(memory).links.list()] == [(asked.id, pottery.id)]
    assert sound(memory)


FENCES = [  # what was said before, what goes on with it, a reply that guesses wrong, and what was meant
    (
        "The storm took two panels of the garden fence, get a quote for fence panels",
        "The garden fence lost another panel, what about the quote for fence panels?",
        "Is this about the bookshelf that tipped over?",
        "No, not that, I mean the fence. The panel on the left blew out.",
    ),
    (
        "Der Zaun an der Garage ist umgefallen, frag nach einem Angebot für den Zaun",
        "Der Zaun an der Garage ist wieder umgefallen, was ist mit dem Angebot für den Zaun?",
        "Meinst du das Regal im Keller?",
        "Nein, nicht das Regal, ich meine den Zaun an der Garage.",
    ),
    (
        "La caldera del baño gotea, pide cita con el técnico de la caldera",
        "La caldera del baño gotea otra vez, ¿y la cita con el técnico de la caldera?",
        "¿Hablas del grifo de la cocina?",
        "No, eso no, me refiero a la caldera. El técnico vino y la caldera sigue igual.",
    ),
    (
        "客厅的窗帘掉下来了，找个师傅来修窗帘轨道",
        "客厅的窗帘又掉下来了，修窗帘轨道的师傅呢？",
        "你是说卧室的书架吗？",
        "不是那个，我说的是窗帘，窗帘轨道又松了。",
    ),
]


@pytest.mark.parametrize(("before", "asked", "guess", "meant"), FENCES, ids=("en", "de", "es", "zh"))
def test_a_wrong_guess_that_is_denied_leaves_the_link_to_what_was_meant(
    single: Opened, before: str, asked: str, guess: str, meant: str
) -> None:
    memory = single()
    first = tell(memory, 0, before)
    second = tell(memory, 300, asked)
    assert [(c.later.id, c.earlier.id) for c in mine(memory).links.list()] == [(second.id, first.id)]
    tell(memory, 300.5, guess, role="assistant")
    tell(memory, 301, meant)
    tell(memory, 302, "ok")
    (card,) = mine(memory).links.list()
    assert card.decision is not None
    assert (card.earlier.id, card.decision.outcome) == (first.id, "CORRECT")
    assert sound(memory)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spoken", "shelf", "bare"),
    [
        (FENCES[0], "The bookshelf tipped over, I screw the bookshelf to the wall", "no, not that"),
        (FENCES[1], "Das Regal im Keller hängt schief, ich kaufe Dübel für das Regal", "nein nicht das"),
        (FENCES[2], "El grifo de la cocina gotea, compro una llave para el grifo", "no es eso"),
        (FENCES[3], "卧室的书架太满了，要买一个新的书架", "不是这个意思"),
    ],
    ids=("en", "de", "es", "zh"),
)
def test_a_bare_denial_of_a_guess_at_another_thread_parts_nothing(
    single: Opened, spoken: tuple[str, ...], shelf: str, bare: str
) -> None:
    memory = single()
    first, _, second = tell(memory, 0, spoken[0]), tell(memory, 300, shelf), tell(memory, 600, spoken[1])
    tell(memory, 600.5, spoken[2], role="assistant")
    tell(memory, 601, bare)
    assert [(c.later.id, c.earlier.id) for c in mine(memory).links.list()] == [(second.id, first.id)]
    assert sound(memory)


@pytest.mark.parametrize(
    ("guess", "denial"),
    [
        # the reply names what was linked, and what is meant shares less with it
        ("A quote for two fence panels?", "No, not that, I mean the fence my neighbour painted."),
        ("A quote for two fence panels?", "No, not that, I mean the boiler in the loft."),
        ("A quote for two fence panels?", "That's not what I meant"),
        ("Which one do you mean?", "No, not that, I mean the boiler in the loft."),
    ],
)
def test_a_denial_of_what_is_linked_parts_the_two(single: Opened, guess: str, denial: str) -> None:
    memory = single()
    tell(memory, 0, FENCES[0][0])
    tell(memory, 300, FENCES[0][1])
    assert len(mine(memory).links.list()) == 1
    tell(memory, 300.5, guess, role="assistant")
    tell(memory, 301, denial)
    assert mine(memory).links.list() == []
    assert sound(memory)


def test_a_link_that_a_person_calls_incorrect_is_parted_and_a_copy_knows_it(
    opened: Opened, single: Opened, tmp_path: Path
) -> None:
    memory = opened()
    first, second = linked_pair(memory)
    (card,) = mine(memory).links.list()
    assert card.link.decision_id is not None
    mine(memory).links.outcome(card.link.decision_id, "incorrect")
    (tmp_path / "all.jsonl").write_text("\n".join(mine(memory).export()), encoding="utf-8")
    copy = single(path=tmp_path / "copy.db")
    mine(copy).import_file(tmp_path / "all.jsonl")
    for this_memory in (memory, copy):
        assert (mine(this_memory).links.list(), mine(this_memory).links.episodes()) == ([], [])
        assert "Leeds tomorrow" not in context(this_memory, 46)
        tell(this_memory, 46, "And on Friday?")
        assert mine(this_memory).links.list() == []
        mine(this_memory).links.add(first.origin, second.origin)
        assert "Leeds tomorrow" in context(this_memory, 47)
        assert sound(this_memory)


def test_a_link_that_a_person_calls_correct_outlives_a_denial(single: Opened) -> None:
    memory = single()
    linked_pair(memory)
    (card,) = mine(memory).links.list()
    assert card.link.decision_id is not None
    mine(memory).links.outcome(card.link.decision_id, "correct")
    tell(memory, 46, "That's not what I meant")
    assert len(mine(memory).links.list()) == 1


def test_no_context_tells_of_a_link_that_the_user_turned_away_from(single: Opened) -> None:
    memory = single()
    linked_pair(memory)
    tell(memory, 46, "How do I reset a Garmin watch?")
    (card,) = mine(memory).links.list()
    assert card.decision is not None
    assert card.decision.outcome == "INCORRECT"  # by behaviour: the link stays, and is not told of
    assert "Leeds tomorrow" not in context(memory, 46.5)


def test_the_commands_part_what_was_called_incorrect_and_link_it_again(run: Run) -> None:
    for minute, text in ((0, MATTERS[0]), (45, THURSDAY)):
        moment = (TEN + timedelta(minutes=minute)).isoformat()
        run("add", text, "--channel", "sms", "--timestamp", moment)
    (card,) = json.loads(run("link", "list", "--json").out)["links"]
    ends = card["earlier"]["origin"], card["later"]["origin"]
    asked = ("context", "What now?", "--channel", "sms", "--at", (TEN + timedelta(minutes=46)).isoformat())
    assert "Leeds" in run(*asked).out
    assert run("link", "outcome", card["decision"]["id"], "incorrect").code == 0
    assert json.loads(run("link", "list", "--json").out)["links"] == []
    assert "Leeds" not in run(*asked).out
    assert run("link", "add", *ends).code == 0
    assert "Leeds" in run(*asked).out


def test_where_nothing_was_compared_the_explanation_says_why(opened: Opened) -> None:
    memory = opened()
    matters(memory)
    named = tell(memory, 135, "The kiln trips the fuse again", thread="pottery")
    explained = mine(memory).links.explain(named.origin)
    assert (explained.judged, "named the thread" in explained.reason) == ([], True)
    recalling = tell(memory, 140, "Remember when we talked about the tax return?", thread="papers")
    explained = mine(memory).links.explain(recalling.origin)
    assert explained.judged
    assert explained.reason == ""


def test_an_explanation_tells_the_link_in_force_whole_and_of_the_others_a_line(run: Run) -> None:
    weather = "What's the weather in New York?"
    for clock, text in (("10:00", THURSDAY), ("10:45", weather), ("11:30", THURSDAY)):
        run("add", text, "--channel", "sms", "--timestamp", f"2025-11-05T{clock}:00Z")
    third = "sms 2025-11-05T11:30:00Z"
    judged = run("link", "explain", third, "--json").json["judged"]
    (link,) = [one["link"] for one in run("link", "list", "--thread", third, "--json").json["links"]]
    assert len(judged) > 1
    told = run("link", "explain", third)
    in_force = next(one for one in judged if one["decision"]["id"] == link["decision_id"])
    assert told.out.startswith(f"{in_force['candidate']['origin']}: LINK")
    assert in_force["sentences"][0] in told.out
    assert len(told.out.splitlines()) < len(run("link", "explain", third, "--all").out.splitlines())
    assert told.err == "--all tells each of them whole\n"
