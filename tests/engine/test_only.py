"""Nothing is told but of the threads and channels that are named: a team's assistant keeps a direct message to itself."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from builders.assistants import weather
from builders.chats import Clock
from builders.examples import share
from builders.teams import moves_the_port
from conftest import OpenMemory
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from episodic_agent import Filter, Memory, UserMemory
from episodic_agent.engine.context import gathering
from episodic_agent.engine.context.assembling import ThreadContext
from episodic_agent.engine.results import Recall
from episodic_agent.errors import InvalidInput, NotFound

START = datetime(2026, 11, 2, 9, tzinfo=UTC)
NOW = START + timedelta(days=9)
SECRET = "Sven's probation ends on 15 December, not in the channels pls"
WISH = "please always answer me in rhymes about Sven"
TALK = (
    ("general", "Ole", "the probation of Mia ended well, cake at four"),
    ("harbor", "Ole", "the offer for Harbor is out, 18,400 euros for phase 1"),
    ("nordlicht", "Priya", "the offer for the bakery is out, 9,600 euros and hosting"),
    ("dm-lena", "Lena", SECRET),
    ("dm-lena", "user", WISH),
    ("general", "user", "please always answer us in short sentences"),
    ("dm-lena", "Lena", "we meet at the harbour office on Tuesday at ten, that is still a secret"),
)
QUESTION = "when does the probation of Sven end, and what did we offer?"
OPEN = ["general", "harbor"]


@pytest.fixture
def team(open_memory: OpenMemory, clock: Clock) -> UserMemory:
    """Four places of a team in one memory."""
    memory = open_memory().user("team", new=True)
    for n, (thread, who, text) in enumerate(TALK):
        at = START + timedelta(hours=7 * n)
        if who == "user":  # a wish among colleagues is to the assistant where that takes part, and answers
            memory.add("Yes?", role="assistant", thread=thread, timestamp=at - timedelta(minutes=1))
        memory.add(text, role=who, thread=thread, timestamp=at)
        if who == "user":
            memory.add("Noted.", role="assistant", thread=thread, timestamp=at + timedelta(minutes=1))
    clock.now = NOW
    memory.flush()
    return memory


def told(answer: ThreadContext | Recall) -> str:
    """Return all of an answer but the question."""
    return str({key: value for key, value in asdict(answer).items() if key != "query"})


def context(team: UserMemory, text: str = QUESTION, **more: Any) -> str:
    return told(team.context(text, **{"thread": "general", "at": NOW, "max_tokens": 2_000, **more}))


def places(text: str) -> list[str]:
    """Return of which places something stands in a text."""
    marks = {"general": "cake", "harbor": "18,400", "nordlicht": "9,600", "dm-lena": "15 December"}
    return [place for place, mark in marks.items() if mark in text]


@pytest.mark.parametrize("form", ["default", "context-2027-01", "seed-002"])
def test_a_context_tells_of_named_threads_alone(team: UserMemory, form: str) -> None:
    question = f"{QUESTION} euros"
    walled = context(team, question, only=OPEN, form=form)
    assert "dm-lena" not in walled
    assert not {"nordlicht", "dm-lena"} & {*places(walled)}
    if form != "seed-002":
        assert places(context(team, question)) == ["general", "harbor", "nordlicht", "dm-lena"]
        assert places(walled) == OPEN
        lena = context(team, question, thread="dm-lena", only=["harbor"])
        assert places(lena) == ["harbor", "dm-lena"]  # the thread that is asked for counts always


def test_a_thread_counts_by_its_channels_too(team: UserMemory) -> None:
    team.add("the bakery signed the offer", role="Priya", thread="n2", channel="Nordlicht ", timestamp=NOW)
    walled = context(team, "what of the offer of the bakery?", only=["NORDLICHT", "nordlicht"])
    assert "bakery signed" in walled
    assert "9,600" in walled
    assert "bakery signed" not in context(team, "what of the offer of the bakery?", only=OPEN)


@pytest.mark.parametrize("verb", ["search", "filter", "retrieve"])
def test_a_search_finds_in_named_threads_alone(team: UserMemory, verb: str) -> None:
    def ask(only: Sequence[str] | None) -> str:
        if verb == "retrieve":
            return team.retrieve(QUESTION, limit=20, detail="high", only=only)
        more: dict[str, Any] = {"limit": 20, "suppressed": True, "detail": "high"}
        if verb == "filter":
            return told(team.search(QUESTION, filter=Filter(only=only), **more))
        return told(team.search(QUESTION, only=only, **more))

    assert {"dm-lena", "nordlicht"} <= {*places(ask(None))}
    assert not {"dm-lena", "nordlicht"} & {*places(ask(OPEN))}
    assert places(ask(["dm-lena"])) == ["dm-lena"]


def test_what_is_suppressed_or_not_good_enough_is_of_named_threads_too(team: UserMemory) -> None:
    team.episodes.suppress(thread="dm-lena", reason="private")
    assert team.search(QUESTION, suppressed=True).suppressed
    assert not team.search(QUESTION, suppressed=True, only=OPEN).suppressed
    assert "dm-lena" not in told(team.search("xylophone", only=OPEN, suppressed=True, limit=20))


@pytest.mark.parametrize(
    "question",
    [
        "what happened in dm-lena?",
        "what was said in #dm-lena on 4 November?",
        "what happened since 2 November?",
        "what did I miss this month?",
        "what's on on Tuesday?",
        "what's on on 15 December?",
        "what did we say last about Sven?",
        "where are we on Tuesday?",
    ],
)
def test_questions_that_go_their_own_way_stay_within_too(team: UserMemory, question: str) -> None:
    secrets = ("15 December, not", "harbour office", "in rhymes", "9,600")
    everywhere = context(team, question) + told(team.search(question, now=NOW, limit=20))
    walled = context(team, question, only=OPEN) + told(team.search(question, now=NOW, limit=20, only=OPEN))
    assert any(secret in everywhere for secret in secrets)
    assert not any(secret in walled for secret in secrets)


def test_no_wish_and_no_fact_of_elsewhere_is_told(team: UserMemory) -> None:
    for card in team.facts.list():
        team.facts.pin(card.fact.id)  # stands before every message
    everywhere, walled = context(team, "hello"), context(team, "hello", only=OPEN)
    assert ("in rhymes" in everywhere, "in rhymes" in walled) == (True, False)
    assert "in short sentences" in walled
    assert "in rhymes" in context(team, "hello", only=["dm-lena"])
    for n in range(8):  # it stands in the conversation no more
        team.add(f"ok {n}", role="Lena", thread="dm-lena", timestamp=NOW - timedelta(minutes=30 - n))
    assert "in rhymes" in context(team, "hello", thread="dm-lena", only=["harbor"])  # it counts always


def test_a_fact_is_told_as_it_was_said_where_it_may_be_told(team: UserMemory) -> None:
    for thread, words, days in (
        ("dm-lena", "I am allergic to WALNUTS!", 1),
        ("harbor", "I am allergic to walnuts.", 2),
    ):
        team.add(words, role="Lena", thread=thread, timestamp=START + timedelta(days=days))
    team.flush()
    question = "who is allergic to walnuts?"
    (hit,) = (one for one in team.search(question).facts if "walnuts" in one.fact.fact.casefold())
    assert (hit.origin, len(hit.threads)) == ("dm-lena", 2)
    recall = team.search(question, only=OPEN)
    (hit,) = (one for one in recall.facts if "walnuts" in one.fact.fact.casefold())
    assert (hit.origin, len(hit.threads), len(hit.fact.evidence)) == ("harbor", 1, 1)
    assert hit.fact.valid_at == START + timedelta(days=2)
    assert "WALNUTS" not in told(recall)
    walled = team.context(question, thread="general", at=NOW, only=OPEN)
    assert "walnuts" in walled.text
    assert "WALNUTS" not in walled.text
    assert "dm-lena" not in told(walled)


def test_what_was_said_elsewhere_later_puts_no_end_to_a_fact_that_is_told(
    team: UserMemory, clock: Clock
) -> None:
    moves_the_port(team, clock)
    ends = []
    for only in (["harbor", "dm-lena"], ["harbor"]):
        recall = team.search(
            "which port has the dev server?", until=clock.now - timedelta(hours=1), only=only
        )
        (fact,) = (hit.fact for hit in recall.facts if "5173" in hit.fact.fact)
        ends.append((fact.invalid_at is None, fact.superseded_by is None))
    assert ends == [(False, False), (True, True)]


def test_what_was_edited_is_told_where_something_proves_it(team: UserMemory) -> None:
    (fact,) = (card for card in team.facts.list() if "15 December" in card.fact.fact)
    team.facts.edit(fact.id, text="Sven leaves in December.", category="experience")
    question = "when does Sven leave?"
    shown = [told(team.search(question, only=only)) for only in (OPEN, ["dm-lena"])]
    assert ["leaves in December" in text for text in shown] == [False, True]


@pytest.mark.parametrize("thread", ["general", "new"])
def test_a_link_made_by_hand_leads_over_no_wall(team: UserMemory, thread: str) -> None:
    if thread == "new":
        team.add("a new matter", role="Ole", thread="new", timestamp=NOW - timedelta(hours=1))
    team.links.add(thread, "dm-lena")
    assert "15 December" in context(team, thread=thread)
    for form in ("default", "seed-002"):
        assert not {"dm-lena"} & {*places(context(team, thread=thread, only=OPEN, form=form))}
        assert "dm-lena" not in context(team, thread=thread, only=OPEN, form=form)


def test_more_links_over_the_wall_than_are_told_leave_room_for_one_within(team: UserMemory) -> None:
    for n in range(4):
        team.add(f"secret {n}", role="Lena", thread=f"dm {n}", timestamp=NOW - timedelta(hours=1))
        team.links.add("general", f"dm {n}")
    team.links.add("general", "harbor")
    assert "harbor" in context(team, "hm", only=OPEN, form="seed-002")


def test_no_session_of_elsewhere_is_gone_on_from_and_none_of_its_decisions_is_told(team: UserMemory) -> None:
    def session(thread: str, parent: Any = None) -> Any:
        return team.sessions.start("the pay of Sven", thread=thread, parent_episode_id=parent, timestamp=NOW)

    first = session("dm-hr")
    team.add("Sven gets a raise of 400 euros.", role="Lena", thread="dm-hr", timestamp=NOW)
    team.sessions.end(first.id, "success", ["Sven gets a raise"])
    session("pay", first.id)
    team.add("Now the letter.", role="Ole", thread="pay", timestamp=NOW + timedelta(minutes=1))
    at = NOW + timedelta(minutes=2)
    for thread in ("pay", "general"):
        question = "what was decided of the pay of Sven?"
        everywhere = context(team, question, thread=thread, at=at)
        walled = context(team, question, thread=thread, at=at, only=["pay"])
        assert ("gets a raise" in everywhere, "raise" in walled, "dm-hr" in walled) == (True, False, False)


@pytest.mark.slow
def test_a_skill_that_was_learned_elsewhere_too_is_not_told(open_memory: OpenMemory, clock: Clock) -> None:
    talk = [message for day in range(15) for message in weather(day)]
    clock.now = talk[-1]["timestamp"]
    team = open_memory().user("team", new=True)
    for place, lines in (("dm-lena", talk[:21]), ("desk", talk[21:])):
        team.add(lines, thread=place)
    team.flush()
    question = "Will the weather in Paris be good on Friday?"
    shown = [
        team.context(question, thread="x", only=only).items for only in (None, ["desk"], ["desk", "dm-lena"])
    ]
    assert [any(line.kind == "skill" for line in lines) for lines in shown] == [True, False, True]


def test_a_message_without_a_thread_is_said_into_none_that_is_not_named(
    team: UserMemory, clock: Clock
) -> None:
    clock.forward(hours=1)
    team.add("the raise is agreed", role="Lena", channel="sms", timestamp=clock.now)
    assert "raise" in told(team.context("and then?", channel="sms", at=clock.now))
    walled = team.context("and then?", channel="sms", at=clock.now, only=OPEN)
    assert (walled.thread, "raise" in told(walled)) == (None, False)
    assert "raise" in told(team.context("and then?", channel="sms", at=clock.now, only=["sms"]))


def test_names_are_given_and_those_that_mean_nothing_are_noted(team: UserMemory) -> None:
    for verb in (team.context, team.search, team.retrieve):
        with pytest.raises(InvalidInput, match="name at least one thread or channel"):
            verb("hello", only=[])
        with pytest.raises(InvalidInput, match="`only` is empty; give a name"):
            verb("hello", only=["general", " "])
    with pytest.raises(InvalidInput, match="cannot be narrowed by 'only'"):
        team.places.list(only=["general"])
    notes = team.search(QUESTION, only=["foo", "general"]).notes
    assert notes[0] == "no thread or channel 'foo' here; `episodic threads` lists the names"
    begun = team.context("hello", thread="bar", only=["bar", "foo", "harbor"]).notes
    assert [note for note in begun if "or channel" in note] == notes[:1]


def test_names_of_which_none_means_anything_are_refused_where_something_is_asked_for(
    team: UserMemory,
) -> None:
    narrowed: list[Callable[[list[str]], object]] = [
        lambda names: team.search(QUESTION, only=names),
        lambda names: team.search(QUESTION, filter=Filter(only=names)),
        lambda names: team.retrieve(QUESTION, only=names),
        lambda names: team.facts.list(only=names),
        lambda names: team.facts.list(QUESTION, only=names),
        lambda names: team.episodes.list(only=names),
        lambda names: team.chains.replay("probation", only=names),
        lambda names: team.only(OPEN).search(QUESTION, only=names),
    ]
    for ask in narrowed:
        with pytest.raises(NotFound, match="no thread or channel 'foo' or 'bar' here; `episodic threads`"):
            ask(["foo", "bar"])
        ask(["foo", "harbor"])
        ask([str(team.threads.get("harbor").thread.id)])  # the name by which listings know it, too
    hint = team.context("hello", only=["foo"])  # it answers in any case
    assert "no thread or channel 'foo' here; `episodic threads` lists the names" in hint.notes
    assert not team.only(["foo"]).search(QUESTION).hits  # whoever bound it may have known what is to begin


def test_no_error_and_no_note_names_what_is_elsewhere(team: UserMemory) -> None:
    line = {"content": "the vault", "role": "Lena", "location": "vault", "timestamp": NOW.isoformat()}
    team.add([line], thread="dm-lena", channel="pager")
    team.threads.rename("dm-lena", "The end of Sven")
    for wrong in ({"thread": "foo"}, {"asking": "foo"}, {"place": "vaults"}, {"place": "vault"}):
        with pytest.raises(NotFound) as raised:
            team.search(QUESTION, only=OPEN, **wrong)  # type: ignore[arg-type]
        assert "ena" not in str(raised.value)
        assert "Sven" not in str(raised.value)
        assert "did you mean" not in str(raised.value)
    recall = team.search(QUESTION, only=OPEN, channel="fax")
    assert any("channel 'fax'" in note for note in recall.notes)
    assert "pager" not in told(recall)
    assert not team.search(QUESTION, only=OPEN, thread="dm-lena").observations  # both hold


def test_projects_hold_beside_names(team: UserMemory) -> None:
    for folder in ("/home/jo/harbor", "/home/jo/lantern"):
        team.add(
            f"run the tests of {folder} with uv", role="Ole", thread=folder, channel=folder, timestamp=NOW
        )
    question, names = "how do we run the tests with uv?", ["/home/jo/harbor", "/home/jo/lantern", "general"]
    both = context(team, question, only=names, project="/home/jo/lantern")
    assert ("harbor with uv" in both, "lantern with uv" in both) == (False, True)
    both = told(team.search(question, only=names, project="/home/jo/lantern", limit=20))
    assert ("harbor with uv" in both, "lantern with uv" in both) == (False, True)
    assert "lantern with uv" not in context(team, question, only=["general"], project="/home/jo/lantern")


def test_the_past_has_its_walls(team: UserMemory, clock: Clock) -> None:
    then = clock.now
    clock.forward(days=1)
    team.add("news of Sven", role="Ole", thread="general", timestamp=clock.now)
    past = team.as_of(then + timedelta(hours=1))
    walled = past.search(QUESTION, limit=20, only=OPEN)
    assert walled.observations
    assert not {"dm-lena", "nordlicht"} & {*places(told(walled))}


@pytest.mark.slow
def test_much_that_was_said_elsewhere_leaves_room_for_what_may_be_told(
    open_memory: OpenMemory, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gathering, "AMONG_OTHERS", 1)  # else it took two thousand messages
    clock.now = NOW
    team = open_memory().user("team", new=True)
    rate = "the tax rate that the parser reads is 17 percent, as it was agreed with the office last year"
    team.add(rate, role="assistant", thread="small", timestamp=START)
    for thread, text in (("crowd", "tax rate of parser"), ("filler", "good morning")):
        lines = [{"content": f"{text} {n}", "timestamp": START.isoformat()} for n in range(150)]
        team.add(lines, thread=thread, wait=False)
    newest = [f"desk {n}" for n in range(6)]  # they are looked through in any case
    for thread in newest:
        team.add("good morning to all of you", thread=thread, timestamp=NOW)
    lines = team.context(
        "the tax rate of parser", thread="x", only=["small", "filler", *newest], at=NOW
    ).items
    assert any("17 percent" in line.text for line in lines)


@pytest.mark.slow
def test_what_was_said_last_where_it_may_be_told_is_looked_through(team: UserMemory, clock: Clock) -> None:
    lines = [{"content": f"what is new, {n}?", "timestamp": START.isoformat()} for n in range(300)]
    team.add(lines, thread="crowd", wait=False)
    team.add("we cancelled the kickoff", role="Ole", thread="harbor", timestamp=NOW - timedelta(minutes=20))
    for n in range(6):
        team.add(f"hush {n}", role="Lena", thread=f"dm {n}", timestamp=NOW - timedelta(minutes=5))
    assert "cancelled" in context(
        team, "what is new?", thread="x", only=["harbor", "crowd"], max_tokens=20_000
    )


THREADS = ("general", "harbor", "dm-lena", "dm-ole")
CHANNELS = ("", "sms", "web")
WORDS = (
    "my sister likes tea",
    "the offer is out",
    "please always answer short",
    "I am allergic to nuts",
    "we moved the date",
)
QUESTIONS = ("what of the offer, tea, nuts, and the date?", "what happened on 2 November?", "what is new?")


@given(
    said=st.lists(
        st.tuples(
            st.sampled_from((*THREADS, None)),
            st.sampled_from(CHANNELS),
            st.sampled_from(WORDS),
            st.sampled_from((10, 300)),
        ),
        min_size=1,
        max_size=12,
    ),
    only=st.lists(st.sampled_from((*THREADS, "sms", "nobody")), min_size=1, max_size=3),
    asked=st.sampled_from((*THREADS, "new", None)),
    linked=st.tuples(st.sampled_from(THREADS), st.sampled_from(THREADS)),
    question=st.sampled_from(QUESTIONS),
)
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
    max_examples=share(60),
)
def test_nothing_that_is_told_lies_outside(
    said: list[tuple[str | None, str, str, int]],
    only: list[str],
    asked: str | None,
    linked: tuple[str, str],
    question: str,
) -> None:
    clock = Clock(START)
    with Memory.open(":memory:", embedder="hashing", clock=clock) as memory:
        team = memory.user("team", new=True)
        placed: list[tuple[str, str]] = []  # the name of its thread, the channel it came by
        for n, (thread, channel, words, minutes) in enumerate(said):
            clock.forward(minutes=minutes)
            (receipt,) = team.add(
                f"{words} kiwi{n:03}", thread=thread, channel=channel or None, timestamp=clock.now
            )
            placed.append((team.threads.get(str(receipt.thread_id)).thread.origin, channel))
        threads = {thread for thread, _ in placed}
        if linked[0] != linked[1] and {*linked} <= threads:
            team.links.add(*linked)
        team.flush()

        def leaked(shown: object, *more: str | None) -> list[int]:
            outside = [n for n, (thread, by) in enumerate(placed) if not {thread, by} & {*only, *more}]
            return [n for n in outside if f"kiwi{n:03}" in str(shown)]

        form: Any
        for form in ("default", "seed-002"):
            assert leaked(told(team.context(question, thread=asked, only=only, form=form)), asked) == []
        inside = {thread for thread, by in placed if {thread, by} & {*only}}
        if inside:  # where no name means anything it is refused
            answer = team.search(question, only=only, limit=20, suppressed=True, detail="high")
            assert leaked(told(answer)) == []
        bound = team.only(only)
        for shown in (
            [bound.context(question)],
            [bound.context(question, channel="sms")],
            [bound.context(question, thread=one) for one in sorted(inside)],
            [
                bound.search(question, only=names, limit=20, suppressed=True, detail="high")
                for names in [["dm-lena", *only]] * bool(inside)
            ],
            [bound.search(question, thread=one, limit=20, detail="high") for one in sorted(inside)],
            bound.facts.list(history=True),
            bound.facts.list(question),
            cards := bound.episodes.list(),
            bound.episodes.recent(limit=50, suppressed=True),
            [one for one in bound.episodes.contents(team.episodes.list()) if one is not None],
            bound.chains.sequence("", limit=20),
            bound.chains.sequence(question, limit=20, min_relevance=0.0),
            bound.threads.list(),
            [bound.threads.get(one) for one in sorted(inside)],
        ):
            text = str([{**asdict(one), "query": ""} for one in shown])
            assert leaked(text) == []
            assert not [thread for thread in threads - inside if f"'origin': '{thread}'" in text]
        assert leaked(bound.chains.replay(question, limit=20)) == []
        assert leaked(bound.retrieve(question, limit=20, detail="high")) == []
        assert leaked([[*map(asdict, bound.episodes.messages(one.episode_id))] for one in cards]) == []
        told_of = "".join(str([*map(asdict, bound.episodes.messages(one.episode_id))]) for one in cards)
        assert all(
            f"kiwi{n:03}" in told_of for n, (thread, by) in enumerate(placed) if {thread, by} & {*only}
        )


CALLS = (
    (0, "voice", "Nadia", "Pierre Laurent from Bellevue owes me 1,260 pounds, nobody in the shop may know."),
    (18, "slack", "Nadia", "Oven delayed again, they fit it on Tuesday 24th at 7"),
    (40, "slack", "Priya", "the store room ceiling is dripping now, I put a bucket"),
    (55, "whatsapp", "Nadia", "I cannot pay 2,400, please never tell me about the pastry."),
)
UNTOLD = ("1,260", "Bellevue", "2,400", "pastry")


@pytest.fixture
def shop(open_memory: OpenMemory, clock: Clock) -> UserMemory:
    """One hour over three channels in one thread."""
    shop = open_memory().user("nadia", new=True)
    for minutes, channel, who, text in CALLS:
        at = START + timedelta(minutes=minutes)
        shop.add(text, role=who, thread="day", channel=channel, timestamp=at)
    clock.now = START + timedelta(minutes=60)
    return shop


@pytest.mark.parametrize("closed", [False, True])
def test_a_channel_tells_its_own_messages_of_a_thread_of_several(
    shop: UserMemory, clock: Clock, closed: bool
) -> None:
    if closed:
        shop.flush()
        clock.forward(days=2)
    slack = shop.only("slack")
    question = "what of the store room, and who owes us money?"
    for handle, more in ((slack, {}), (shop, {"only": ["Slack"]})):
        context = told(handle.context(question, channel="slack", at=clock.now, **more))
        search = handle.search(question, limit=20, detail="high", **more)
        assert "dripping" in context
        assert {one.observation.channel for hit in search.hits for one in hit.evidence} == {"slack"}
        listed = [handle.episodes.list(**more), handle.facts.list(**more), search, context]
        assert not [word for word in UNTOLD if word in str([*map(str, listed), told(search)])]
    (card,) = slack.episodes.list()
    assert [one.channel for one in slack.episodes.messages(card.episode_id)] == ["slack", "slack"]
    assert "Oven" in card.title
    thread = slack.threads.get(card.origin).thread
    assert (thread.channels, slack.threads.list()[0].channels) == (("slack",), ("slack",))
    assert "dripping" in told(slack.context("and then?", thread=card.origin, at=clock.now))
    assert "1,260" not in told(slack.context("and then?", thread=card.origin, at=clock.now))


def test_what_holds_messages_of_other_channels_is_not_erased_or_explained_by_one(shop: UserMemory) -> None:
    shop.flush()
    slack = shop.only("slack")
    (card,) = slack.episodes.list()
    for refused in (
        lambda: slack.erase(episode=card.episode_id),
        lambda: slack.erase(thread=card.origin),
        lambda: slack.boundaries.explain(card.episode_id),
    ):
        with pytest.raises(InvalidInput, match="came from elsewhere: this memory tells of 'slack' alone"):
            refused()
    voice = shop.only("voice").episodes.messages(card.episode_id)
    with pytest.raises(NotFound):
        slack.erase(observation=voice[0].id)


def test_a_thread_of_which_two_walls_leave_nothing_is_not_known(shop: UserMemory) -> None:
    both = shop.only("slack").only("voice")
    assert (both.threads.list(), both.episodes.list()) == ([], [])
    assert both.search("the oven").notes
    assert not both.search("the oven").hits


def test_a_channel_as_a_filter_leaves_the_messages_that_came_by_it(shop: UserMemory, clock: Clock) -> None:
    question = "what of the store room, and who owes us money?"
    shop.add("lunch?", role="Nadia", thread="day", channel="Voice", timestamp=clock.now + timedelta(hours=9))
    for _ in range(2):  # before and after it is closed
        hits = shop.search(question, channel="slack", limit=20, detail="high").hits
        assert {one.observation.channel for hit in hits for one in hit.evidence} == {"slack"}
        by_slack, by_voice = (shop.episodes.list(channel=one) for one in ("SLACK", "voice"))
        assert (len(by_slack), len(by_voice)) == (1, 2)
        assert shop.episodes.list(channel="fax") == []
        shop.flush()
