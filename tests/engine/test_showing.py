"""What values show of themselves: what a person wants to see in one line, and nothing that acts unseen."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from builders.chats import Clock, mine

from episodic_agent import Memory

NOON = datetime(2024, 6, 3, 12, tzinfo=UTC)
LONGEST = 420  # characters of a repr
HOSTILE = (
    "\x1b]52;c;cm0=\x07 <script>alert(1)</script> \u202egnp.exe The rent of the Alfama flat is 900 euros"
)
ACTS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u206f]")


@pytest.fixture
def memory(memory: Memory, clock: Clock) -> Memory:
    clock.now = NOON + timedelta(days=2)
    mine(memory).add("My name is Ana and I live in Lisbon.", thread="flat\u202e", timestamp=NOON)
    mine(memory).add(HOSTILE, thread="flat\u202e", role="land\x07lord", timestamp=NOON + timedelta(minutes=1))
    mine(memory).add("What about the deposit?", thread="other", timestamp=NOON + timedelta(days=1))
    mine(memory).flush()
    mine(memory).facts.consolidate()
    return memory


def values(memory: Memory) -> list[object]:
    """Return what verbs answer, one value a verb at least."""
    cards, facts = mine(memory).episodes.list(), mine(memory).facts.list()
    recall = mine(memory).search("What is the rent of the flat?", detail="high")
    assert recall.hits
    assert facts
    session = mine(memory).sessions.start("The flat\x07 again")
    return [
        *mine(memory).add("and the <b>balcony</b>\x07?"),
        recall,
        *recall.hits,
        *recall.observations,
        *recall.facts,
        *cards,
        mine(memory).episodes.get(cards[0].episode_id),
        mine(memory).boundaries.explain(cards[0].episode_id),
        *mine(memory).episodes.messages(cards[0].episode_id),
        *mine(memory).episodes.history(cards[0].episode_id),
        *facts,
        facts[0].fact,
        mine(memory).facts.get(facts[0].id),
        *mine(memory).threads.list(),
        mine(memory).threads.get("flat\u202e"),
        mine(memory).context("What about the rent?", thread="flat\u202e"),
        mine(memory).boundaries.trace("flat\u202e"),
        mine(memory).boundaries.whatif("flat\u202e", "seed-001"),
        session,
        *mine(memory).sessions.list(),
        mine(memory).chains.sequence("rent"),
        *memory.jobs.list(),
        mine(memory).trace.turn("flat\u202e:0", text=True),
        mine(memory).boundaries.resegment("flat\u202e", dry_run=True),
        mine(memory).episodes.pin(thread="flat\u202e", reason="\x1b[2J"),
        mine(memory).retention.get(),
        mine(memory).stats(),
        *memory.doctor(),
        mine(memory).erase(thread="other", dry_run=True),
    ]


def test_no_repr_is_a_dump_or_acts_on_who_reads_it(memory: Memory) -> None:
    for value in values(memory):
        for item in value if isinstance(value, list) else [value]:
            assert len(repr(item)) <= LONGEST, repr(item)
            assert not ACTS.search(repr(item)), repr(item)
            assert "\n" not in repr(item)


def test_what_is_printed_acts_on_nobody_and_what_a_notebook_shows_is_no_markup(memory: Memory) -> None:
    shown = 0
    for value in values(memory):
        if type(value).__name__ != "ThreadContext":  # a text for a prompt, which has rules of its own
            assert not ACTS.search(str(value)), repr(value)
        if hasattr(value, "_repr_html_"):
            page = value._repr_html_()
            shown += "&lt;script&gt;" in page
            assert not ACTS.search(page)
            assert re.sub(r"</?(?:div|b|small|p)>|<br>", "", page).count("<") == 0, page
    assert shown


def test_an_answer_shows_the_sentence_that_was_found(memory: Memory) -> None:
    recall = mine(memory).search("What is the rent of the flat?", detail="high")
    for shown in (
        str(recall),
        recall._repr_html_(),
        repr(recall.hits[0]),
        repr(mine(memory).search("rent of the flat?").hits),
    ):
        assert "The rent of the Alfama flat is 900 euros" in shown
    assert repr(recall).startswith("<DetailedRecall What is the rent of the flat? · ")


def test_a_line_says_what_a_person_asks_first(memory: Memory) -> None:
    (receipt,) = mine(memory).add("and the balcony?", thread="flat\u202e")
    assert repr(receipt) == f"<Receipt added · message 2 · {receipt.id}>"
    card = mine(memory).episodes.list(thread="other")[0]
    assert repr(card).startswith("<EpisodeCard 2024-06-04 12:00 · ")
    assert "1 message" in repr(card)
    (thread,) = [one for one in mine(memory).threads.list() if one.origin == "other"]
    assert "other · " in repr(thread)
    lives = next(one for one in mine(memory).facts.list() if "Lisbon" in one.fact.fact)
    fact = mine(memory).facts.get(lives.id)
    assert "“My name is Ana and I live in Lisbon.”" in repr(fact)
    assert "“My name is Ana and I live in Lisbon.”" in fact._repr_html_()
    texts = str(mine(memory).boundaries.explain(card.episode_id)).splitlines()
    assert texts[1] == "begins: the thread begins here"
