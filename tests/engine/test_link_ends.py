"""A thread's links are judged again when it is over: what was missed is added, what was wrong is taken back."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from builders.chats import Clock, mine

from episodic_agent import Memory
from episodic_agent.engine.jobs.kinds import LINK, LINK_END
from episodic_agent.engine.links.joining import MATTER, settle
from episodic_agent.schemas import Decision, Link, Scope, Thread

TEN = datetime(2026, 3, 2, 10, tzinfo=UTC)
HOUR = 60.0
MATTERS = {
    "kiln": ["The kiln at the pottery studio trips the fuse", "Which glaze survives a cone six firing?"],
    "tax": ["My tax return lacks the receipt for the printer", "The refund letter names box 44"],
    "ferry": ["The Gozo ferry from Cirkewwa is cancelled", "Is there a harbour bus to Marsalforn?"],
    "bread": ["My sourdough starter smells of acetone", "How much rye flour does the levain want?"],
    "bike": ["The derailleur of my bike jumps under load", "Which cassette fits an eleven speed hub?"],
}
Opened = Callable[..., Memory]


@pytest.fixture
def opened(url: str, clock: Clock) -> Iterator[Opened]:
    """Open memories on each store that judge links by words."""
    with ExitStack() as stack:
        arguments = {"embedder": "none", "policy": "seed-001", "clock": clock}
        yield lambda **more: stack.enter_context(Memory.open(url, **{**arguments, **more}))


def tell(memory: Memory, minute: float, *texts: str, **more: Any) -> Thread:
    """Add messages a minute apart and return the thread they are in."""
    channel = more.pop("channel", "sms")
    for n, text in enumerate(texts):
        at = TEN + timedelta(minutes=minute + n)
        (receipt,) = mine(memory).add(text, timestamp=at, channel=channel, **more)
    return next(t for t in mine(memory).threads.list() if t.id == receipt.thread_id)


def five_matters(memory: Memory) -> dict[str, Thread]:
    """Have five unrelated matters alive at once, an hour and a half apart."""
    return {name: tell(memory, 1.5 * HOUR * n, *texts) for n, (name, texts) in enumerate(MATTERS.items())}


def silence(memory: Memory, clock: Clock, minute: float) -> None:
    """Let the clock end what is silent."""
    clock.now = TEN + timedelta(minutes=minute)
    mine(memory).upkeep(now=clock.now)


def links(memory: Memory) -> list[tuple[str, str]]:
    return [(c.later.origin, c.earlier.origin) for c in mine(memory).links.list()]


def ends(memory: Memory, thread: Thread) -> Sequence[Decision]:
    with memory._deps.store.begin(Scope(), write=False) as tx:
        decisions = tx.knowledge.decisions(subject=thread.id, type=LINK)
    return [d for d in decisions if d.detail.get("stage") == "end"]


def sound(memory: Memory) -> bool:
    return [f.message for f in memory.doctor() if f.severity == "error"] == []


def test_five_unrelated_matters_of_a_day_stay_apart(opened: Opened, clock: Clock) -> None:
    memory = opened()
    five_matters(memory)
    silence(memory, clock, 12 * HOUR)
    assert links(memory) == []
    assert list(mine(memory).links.episodes()) == []
    assert sound(memory)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(MATTERS))
def test_what_goes_on_with_one_of_five_is_linked_with_it_when_it_is_over(
    opened: Opened, clock: Clock, name: str
) -> None:
    memory = opened()
    threads = five_matters(memory)
    first, second = MATTERS[name]
    back = tell(memory, 26 * HOUR, "Me again", f"Still the same: {first}", second)
    silence(memory, clock, 28 * HOUR)
    assert links(memory) == [(back.origin, threads[name].origin)]
    (card,) = mine(memory).links.list()
    assert (card.link.basis, card.link.label) == (MATTER, "HIGH")
    assert sound(memory)


def test_an_elliptical_return_goes_on_with_what_was_just_left(opened: Opened) -> None:
    memory = opened()
    threads = five_matters(memory)
    asked = tell(memory, 7 * HOUR, "Oh, and what about that one for the other wheel?")
    assert links(memory) in ([(asked.origin, threads["bike"].origin)], [])
    foreseen = mine(memory).links.foresee("Oh, and what about it?", at=TEN + timedelta(minutes=7 * HOUR))
    assert foreseen[0][0].id in {threads["bike"].id, asked.id}


@pytest.mark.slow
def test_the_end_adds_a_link_that_its_opening_could_not_show(opened: Opened, clock: Clock) -> None:
    memory = opened()
    threads = five_matters(memory)
    back = tell(memory, 50 * HOUR, "Good morning", "One moment please", "Sorry, somebody rang")
    assert links(memory) == []
    more = ("The refund letter names box 44", "The printer receipt is lost", "So the tax return lacks it")
    tell(memory, 50 * HOUR + 3, *more)
    assert links(memory) == []
    silence(memory, clock, 52 * HOUR)
    assert links(memory) == [(back.origin, threads["tax"].origin)]
    judged = ends(memory, back)
    assert [d.verdict for d in judged].count("LINK") == 1
    listed = [d.score for d in judged] + [float(str(o["score"])) for d in judged for o in d.alternatives]
    none = {float(str(d.detail["none"])) for d in judged}
    assert sum(listed) + none.pop() == pytest.approx(1.0, abs=1e-4)  # every candidate's share is kept
    explained = mine(memory).links.explain(back.origin, threads["tax"].origin).judged[-1]
    assert any("as it ended" in sentence for sentence in explained.sentences)


def wrongly_linked(
    memory: Memory, basis: str = "continuity", *, agreed: bool = False
) -> tuple[Thread, Thread]:
    """Return an earlier thread and a later one of another matter that are linked."""
    threads = five_matters(memory)
    back, wrong = tell(memory, 26 * HOUR, *MATTERS["tax"]), threads["bread"]
    with memory._deps.store.begin(Scope()) as tx:
        made = tx.knowledge.decisions(subject=back.id, type=LINK)[0]
        if agreed:
            opinion = {"related": True, "confidence": 0.9}
            tx.knowledge.decide(replace(made, detail={**made.detail, "llm": opinion}), amend=True)
        tx.threads.save(Link(wrong.id, back.id, TEN, basis, "HIGH", made.id))
        settle(tx, [back.id, wrong.id], TEN)
    return wrong, back


@pytest.mark.slow
def test_the_end_takes_back_what_the_algorithm_alone_had_linked_wrongly(opened: Opened, clock: Clock) -> None:
    memory = opened()
    wrong, back = wrongly_linked(memory)
    assert (back.origin, wrong.origin) in links(memory)
    silence(memory, clock, 28 * HOUR)
    assert (back.origin, wrong.origin) not in links(memory)
    gone = [c.link for c in mine(memory).links.list(taken_back=True) if c.earlier.id == wrong.id]
    assert [link.unlinked_at is not None for link in gone] == [True]
    about = [d for d in ends(memory, back) if d.detail["candidate"] == str(wrong.id)]
    assert [d.detail["takes_back"] for d in about] == [True]
    assert sound(memory)


@pytest.mark.slow
@pytest.mark.parametrize("basis", ["hand", "recall"])
def test_the_end_leaves_what_a_person_linked_or_recalled(opened: Opened, clock: Clock, basis: str) -> None:
    memory = opened()
    wrong, back = wrongly_linked(memory, basis=basis)
    silence(memory, clock, 28 * HOUR)
    assert (back.origin, wrong.origin) in links(memory)


@pytest.mark.slow
def test_the_end_leaves_what_a_language_model_agreed_to(opened: Opened, clock: Clock) -> None:
    memory = opened()
    wrong, back = wrongly_linked(memory, agreed=True)
    silence(memory, clock, 28 * HOUR)
    assert (back.origin, wrong.origin) in links(memory)


@pytest.mark.slow
def test_an_end_is_judged_once_and_again_after_more_was_said(opened: Opened, clock: Clock) -> None:
    memory = opened()
    five_matters(memory)
    back = tell(memory, 26 * HOUR, *MATTERS["tax"])
    silence(memory, clock, 28 * HOUR)
    before = [d.id for d in ends(memory, back)]
    with memory._deps.store.begin(Scope()) as tx:
        tx.upkeep.ask(LINK_END, str(back.id), LINK, now=clock.now)
    memory.jobs.run()
    assert [d.id for d in ends(memory, back)] == before
    assert len({d.detail["through"] for d in ends(memory, back)}) == 1


def test_other_policies_judge_no_end(opened: Opened, clock: Clock) -> None:
    for name in ("seed-002", "link-2026-12", "none"):
        memory = opened(link_policy=name)
        assert not memory._deps.judges_ends


@pytest.mark.slow
def test_a_chosen_thread_is_judged_when_it_falls_silent_and_when_it_is_closed(
    opened: Opened, clock: Clock
) -> None:
    memory = opened()
    threads = five_matters(memory)
    named = tell(memory, 26 * HOUR, *MATTERS["kiln"], channel="web", thread="studio")
    assert links(memory) == []
    silence(memory, clock, 27 * HOUR)
    assert links(memory) == [(named.origin, threads["kiln"].origin)]
    other = tell(memory, 30 * HOUR, *MATTERS["ferry"], channel="web", thread="gozo")
    mine(memory).threads.close("gozo")
    assert (other.origin, threads["ferry"].origin) in links(memory)
    assert sound(memory)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            ("Harriet Okonkwo wants to see the flat in Pollard Street", "She comes with her brother"),
            ("Harriet liked it", "Only the rent is too high for her"),
        ),
        (
            ("Nilüfer Müzik Okulu'na başvurdum bugün", "piyano için"),
            ("Nilüfer Müzik Okulu'ndan aradılar", "Sınava çağırıyorlar"),
        ),
    ],
    ids=["in part", "inflected"],
)
def test_a_name_is_the_same_where_it_is_in_part_or_inflected(
    opened: Opened, clock: Clock, before: Sequence[str], after: Sequence[str]
) -> None:
    memory = opened()
    five_matters(memory)
    first = tell(memory, 10 * HOUR, *before)
    back = tell(memory, 30 * HOUR, *after)
    silence(memory, clock, 32 * HOUR)
    assert links(memory) == [(back.origin, first.origin)]


CHOIR = (
    (0, "Mia", "who is coming on the choir weekend in June? I want to book the barn"),
    (0, "Jo", "me. can we leave on friday afternoon?"),
    (0, "Ruth", "I have to work until six, I take the late train"),
    (0, "Sam", "the piano tuner still wants his money by the way"),
    (0, "Mia", "I'll ask the treasurer"),
    (0, "Jo", "and who brings the music stands?"),
    (0, "Sam", "I bring ten, the rest are in the cellar"),
    (0, "Ruth", "I bring cake"),
    (20, "Tess", "did anyone hear the new organ in the cathedral?"),
    (20, "Ruth", "it was lovely, the Bach most of all"),
    (70, "Ruth", "I am thinking of leaving the choir in summer, I got a place in Oslo"),
    (70, "Jo", "oh no. from june?"),
    (70, "Ruth", "from august"),
    (130, "Mia", "the barn is booked for the june weekend, friday till sunday, 40 each"),
    (130, "Jo", "great, and the music stands?"),
    (130, "Sam", "ten from me, I get the others from the cellar on friday"),
    (130, "Ruth", "late train for me and I bring the cake"),
)


def test_in_a_group_a_few_words_that_all_use_leave_doubt_and_what_goes_on_is_sure(
    opened: Opened, clock: Clock
) -> None:
    memory = opened()
    for minute, (hour, who, text) in enumerate(CHOIR):
        at = TEN + timedelta(hours=hour, minutes=minute)
        mine(memory).add({"role": "user", "name": who, "content": text}, timestamp=at, channel="choir")
    silence(memory, clock, 140 * HOUR)
    leaving, weekend = "choir 2026-03-05T08:10:00Z", "choir 2026-03-07T20:13:00Z"
    cards = {card.later.origin: card.link for card in mine(memory).links.list()}
    assert cards[weekend].label == "HIGH"
    # both talk of the choir, of June and of leaving: what shares that has nearly all of the choice
    assert cards[leaving].label == "UNCERTAIN"
    assert max(one.decision.score for one in mine(memory).links.explain(leaving).judged) > 0.9
    assert sound(memory)
