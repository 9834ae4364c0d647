"""Suppressed words, end to end on both stores: what holds them is not shown, and all else of its episode is."""

from collections.abc import Iterator
from contextlib import ExitStack
from uuid import UUID

import pytest
from builders.chats import Clock, mine
from builders.dumping import dumped
from conftest import OpenMemory
from engine.test_caring import QUERY, remember, said_of

from episodic_agent import Memory
from episodic_agent.engine.user import UserMemory
from episodic_agent.engine.visibility import verbs as marking
from episodic_agent.errors import InvalidInput, NotFound

PASSWORD = "Molar!2026x"
TICKET = (
    ("Joost", f"hi, my panel password is {PASSWORD} and it does not let me in"),
    ("agent", "Thanks. Please do not send passwords here. I have reset it, you get a mail."),
    ("Joost", "ok got it. also the booking form on our site sends nothing since monday"),
    ("agent", "I see it: the SMTP relay refuses your sender. I will set the SPF record today."),
)
ASKED = ("what is the panel password?", "what is wrong with the booking form?")
AGAIN = f"the password {PASSWORD} works again, thanks"


@pytest.fixture
def stores(url: str, clock: Clock) -> Iterator[OpenMemory]:
    with ExitStack() as stack:
        yield lambda **more: stack.enter_context(
            Memory.open(url, embedder="hashing", policy="seed-001", clock=clock, **more)
        )


@pytest.mark.slow
def test_suppressed_words_hide_what_holds_them_whole(stores: OpenMemory, clock: Clock) -> None:
    memory = stores()
    ids = remember(memory, clock, apart=0.01)
    mine(memory).episodes.suppress(words="campo  de OURIQUE", reason="address")
    assert "Ourique" not in said_of(memory)
    assert "flight" in said_of(memory).replace(QUERY, "")
    left = mine(memory).search("the flat in Campo de Ourique?", suppressed=True)
    assert ids["lisbon"] in [h.episode_id for h in left.hits] or [one.reason for one in left.suppressed] == [
        "suppressed words: campo de OURIQUE"
    ]
    mine(memory).episodes.suppress(words="our")
    assert "four hours" in said_of(memory), "a part of a word is no word"
    assert [one.words for one in mine(memory).episodes.suppressed()] == ["campo de OURIQUE", "our"]
    assert mine(memory).episodes.unsuppress(words="Campo de Ourique")
    assert "Ourique" in said_of(memory)
    for wrong in ("", "  ", "x" * 2000):
        with pytest.raises(InvalidInput):
            mine(memory).episodes.suppress(words=wrong)
    for both in ({"thread": "lisbon"}, {"episode_id": ids["tap"]}):
        with pytest.raises(InvalidInput):
            mine(memory).episodes.suppress(words="x", **both)
    with pytest.raises(InvalidInput):
        mine(memory).episodes.suppress()
    with pytest.raises(NotFound):
        mine(memory).episodes.suppress(UUID(int=5))


def test_suppressed_words_are_counted_and_whoever_hides_nothing_is_told_what_to_write(
    stores: OpenMemory, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana = mine(stores())
    ana.add(["STRIPE_KEY=sk_live_51HxInvented", "the sk_live key is alive", "see you"], thread="a")
    marked = ana.episodes.suppress(words="SK_live")
    assert (marked.messages, marked.note) == (2, "")
    assert "STRIPE" not in str([one.observation.text for one in ana.search("STRIPE_KEY").observations])
    ana.episodes.unsuppress(words="SK_live")
    part = ana.episodes.suppress(words="51hx")
    assert part.messages == 0
    assert part.note.startswith("no message holds them now, but '51HxInvented', of which they are a part")
    assert "STRIPE" in str([one.observation.text for one in ana.search("STRIPE_KEY").observations])
    assert ana.episodes.suppress(words="51HxInvented").messages == 1
    nothing = ana.episodes.suppress(words="nosuchword")
    assert (nothing.messages, nothing.note[:38]) == (0, "no message holds them now: words are c")
    monkeypatch.setattr(marking, "COUNTED", 1)
    assert ana.episodes.suppress(words="key").note.startswith("none of the newest 1 messages holds them")
    some = ana.episodes.suppress(words="see you")
    assert (some.messages, some.note[:34]) == (1, "counted among the newest 1 message")
    assert {one.messages for one in ana.episodes.suppressed()} == {None}
    ana.add("the old code is zebra9876", ttl="1h", timestamp=clock.now)
    clock.forward(hours=2)
    assert "zebra9876" not in ana.episodes.suppress(words="zebra").note


def test_an_episode_whose_title_holds_suppressed_words_is_shown_without_them(
    stores: OpenMemory, clock: Clock
) -> None:
    desk = ticket(stores(), clock)
    [before] = [card for card in desk.episodes.list(thread="T-1") if PASSWORD in card.title + card.summary]
    desk.episodes.suppress(words=PASSWORD, reason="password")
    shown = dumped(desk.episodes.recent(limit=9)) + dumped(desk.threads.list())
    for query in ASKED:
        answers = desk.search(query, limit=9), desk.search(query, limit=9, policy="seed-003")
        shown += "".join(map(dumped, answers)).replace(query, "")
    shown += "".join(desk.context(q, max_tokens=9000).text.replace(q, "") for q in ASKED)
    assert PASSWORD not in shown
    [card] = [card for card in desk.episodes.recent(limit=9) if card.thread_id == before.thread_id]
    assert (card.episode_id, card.hidden or "") == (before.episode_id, "")
    left = " ".join(text for _, text in TICKET[1:]).casefold()
    assert card.title.casefold() in left, "a title of what is left"
    assert "SMTP relay" in card.summary
    hits = desk.search("what is wrong with the booking form?").hits
    assert hits[0].episode_id == before.episode_id
    assert TICKET[2][1] in [one.observation.text for one in hits[0].evidence]
    found = desk.search(f"{PASSWORD} password panel", limit=9, policy="seed-003").hits
    assert before.episode_id not in [hit.episode_id for hit in found], "its title finds it no more"
    whole = {one.hidden for one in desk.episodes.list(thread="T-2")}
    assert whole == {f"suppressed words: {PASSWORD}"}, "where nothing else was said it is hidden as a whole"


def test_facts_that_hold_suppressed_words_are_listed_where_they_are_asked_for(
    stores: OpenMemory, clock: Clock
) -> None:
    desk = ticket(stores(), clock)
    assert PASSWORD in dumped(desk.facts.list())
    others = [card.fact.fact for card in desk.facts.list() if PASSWORD not in card.fact.fact]
    desk.episodes.suppress(words=PASSWORD)
    assert [card.fact.fact for card in desk.facts.list()] == others
    assert PASSWORD not in dumped(desk.facts.list("the panel password", history=True))
    assert PASSWORD in dumped(desk.facts.list(suppressed=True))
    desk.episodes.unsuppress(words=PASSWORD)
    desk.episodes.suppress(thread="T-1")
    left = dumped(desk.facts.list())
    assert AGAIN in left
    assert TICKET[0][1] not in left
    assert TICKET[0][1] in dumped(desk.facts.list(suppressed=True))


def ticket(memory: Memory, clock: Clock) -> UserMemory:
    """Return a desk that was written to in two threads, of which one tells nothing but a password."""
    desk = mine(memory)
    for who, text in TICKET:
        clock.forward(seconds=30)
        desk.add(text, role=who, thread="T-1", timestamp=clock.now)
    clock.forward(days=1)
    desk.add(AGAIN, role="Joost", thread="T-2", timestamp=clock.now)
    desk.flush()
    memory.jobs.run()
    return desk
