"""A memory that is held to some threads and channels: whatever is asked of it, nothing said elsewhere is told."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from builders.chats import Clock
from builders.teams import moves_the_port
from engine.test_only import NOW, OPEN, QUESTION, context, places, team, told

from episodic_agent import AsyncMemory, Filter, UserMemory
from episodic_agent.engine.async_memory import is_room
from episodic_agent.errors import EpisodicError, InvalidInput, NotFound

__all__ = ["team"]  # the fixture
HELD = {
    *("add", "as_of", "context", "erase", "only", "retrieve", "search"),
    *("boundaries.explain", "chains.replay", "chains.sequence", "facts.list", "sections.ids"),
    *(f"episodes.{verb}" for verb in ("card", "contents", "get", "list", "messages", "recent", "replaced")),
    *("sessions.end", "sessions.get", "sessions.list", "sessions.start", "threads.get", "threads.list"),
}
SECRETS = ("Sven's probation", "harbour office", "in rhymes", "dm-lena", "9,600", "nordlicht", "Nordlicht")


@pytest.fixture
def public(team: UserMemory) -> UserMemory:
    return team.only(OPEN)


def verbs(memory: UserMemory) -> dict[str, Callable[..., Any]]:
    """Return every public verb of a user's memory, by its name in the tree."""
    tree: dict[str, Callable[..., Any]] = {}
    for name in (one for one in dir(memory) if not one.startswith("_")):
        member = getattr(memory, name)
        if is_room(member):
            inner = {one: getattr(member, one) for one in dir(member) if not one.startswith("_")}
            tree |= {f"{name}.{one}": verb for one, verb in inner.items() if callable(verb)}
        elif callable(member):
            tree[name] = member
    return tree


def silent(text: object) -> bool:
    return not any(secret in str(text) for secret in SECRETS)


def test_every_verb_that_cannot_be_held_to_threads_is_refused(team: UserMemory, public: UserMemory) -> None:
    named = verbs(public)
    refused = set()
    for name, verb in named.items():
        try:
            verb()
        except InvalidInput as error:
            if str(error).startswith(f"{name} cannot be held to threads: this memory tells of 'general' and"):
                refused.add(name)
        except (TypeError, EpisodicError):
            pass
    assert named.keys() - refused == HELD
    assert {"export", "links.list", "jobs.follow", "jobs.worker", "trace.turn", "erasures.list"} <= refused
    with pytest.raises(
        InvalidInput, match=r"cannot be held to threads.*; ask the whole memory, without `only`"
    ):
        public.export()
    assert team.stats().threads == 4


def test_context_and_search_stay_within_whatever_they_are_asked_for(
    team: UserMemory, public: UserMemory
) -> None:
    assert "15 December" in context(team)
    for only in (None, [*OPEN, "dm-lena", "nordlicht"], "harbor"):
        walled = [context(public, only=only), told(public.search(QUESTION, limit=20, only=only))]
        walled.append(public.retrieve(QUESTION, limit=20, detail="high", filter=Filter(only=only)))
        for name in ("dm-lena", "nordlicht"):  # what was asked for may be repeated
            walled = [text.replace(f"no thread or channel '{name}' here", "") for text in walled]
        assert all(map(silent, walled))
        inside = ["harbor"] if only == "harbor" else OPEN
        assert {*places(walled[1])} <= {*inside}
    assert places(told(public.search("18,400 euros and cake", limit=20))) == OPEN
    assert silent(context(public, only=["dm-lena"]).replace("'dm-lena'", ""))
    for name in ("dm-lena", "dm-nobody"):
        with pytest.raises(NotFound, match=f"^no thread or channel '{name}' here; `episodic threads` lists"):
            public.search(QUESTION, only=name)


def test_a_thread_outside_is_as_one_that_nobody_knows(public: UserMemory) -> None:
    def problems(name: str) -> list[str]:
        asked: list[Callable[[], Any]] = [
            lambda: public.context("hello", thread=name),
            lambda: public.search(QUESTION, thread=name),
            lambda: public.search(QUESTION, asking=name),
            lambda: public.episodes.list(thread=name),
            lambda: public.episodes.recent(thread=name),
            lambda: public.threads.get(name),
            lambda: public.erase(thread=name),
            lambda: public.add("hello", thread=name),
            lambda: public.add("hello", thread=name, channel=OPEN[0] if name == "dm-lena" else None),
            lambda: public.sessions.start("a talk", thread=name),
        ]
        said = []
        for ask in asked:
            with pytest.raises(NotFound) as raised:
                ask()
            said.append(str(raised.value).replace(name, "it"))
        return said

    assert problems("dm-lena") == problems("dm-nobody")
    assert problems("dm-lena")[0] == "no thread 'it' here: this memory tells of 'general' and 'harbor' alone"


def test_a_title_leads_to_no_thread_outside(team: UserMemory, public: UserMemory) -> None:
    team.threads.rename("dm-lena", "Probation")
    with pytest.raises(NotFound, match="no thread 'Probation' here"):
        public.threads.get("Probation")
    assert public.threads.get("harbor").thread.origin == "harbor"
    yet = team.only(["general", "Probation"])  # a thread of that name may begin
    for ask in (
        yet.threads.get,
        lambda name: yet.erase(thread=name),
        lambda name: yet.search(name, thread=name),
    ):
        with pytest.raises(NotFound) as raised:
            ask("Probation")
        assert str(raised.value) == "no thread 'Probation' in this memory"
    assert yet.add("so it begins", thread="Probation")[0].added
    assert yet.threads.get("Probation").thread.origin == "Probation"


def test_listings_and_stories_leave_out_what_lies_outside(team: UserMemory, public: UserMemory) -> None:
    for shown in (
        [public.episodes.list(), team.episodes.list(only=OPEN), team.episodes.list(filter=Filter(only=OPEN))],
        [public.episodes.recent(limit=3)],
        [
            public.facts.list(),
            team.facts.list(only=OPEN),
            public.facts.list("Sven", only=["dm-lena", "harbor"]),
        ],
        [public.threads.list()],
        [public.chains.sequence("", limit=20), team.chains.sequence("", limit=20, only=OPEN)],
        [public.chains.sequence("the probation", limit=20, min_relevance=0.0)],
        [public.chains.sequence("the offer", limit=20, min_relevance=0.0, policy="seed-004")],
        [public.chains.replay("the probation", limit=20)],
        [public.as_of(NOW).episodes.list(), public.as_of(NOW).facts.list()],
    ):
        assert silent(shown), shown
    latest = [one.origin for one in team.threads.list() if one.origin in OPEN]
    assert [one.origin for one in public.threads.list()] == latest == ["general", "harbor"]
    assert [one.origin for one in public.threads.list(limit=1)] == ["general"]
    assert {one.origin for one in public.episodes.list()} == {"general", "harbor"}
    assert len(public.episodes.list(limit=2)) == len(public.episodes.recent(limit=2)) == 2
    assert any("short sentences" in one.fact.fact for one in public.facts.list())
    assert not silent(team.facts.list(only=["dm-lena"]))
    with pytest.raises(NotFound, match="in these threads"):
        public.episodes.list(place="vault")


def test_a_listed_fact_is_told_as_it_was_said_inside(team: UserMemory, clock: Clock) -> None:
    moves_the_port(team, clock)

    def ports(only: list[str] | None) -> list[str]:
        listed = team.facts.list("which port has the dev server?", only=only)
        return [port for port in ("5173", "8000") if any(port in one.fact.fact for one in listed)]

    assert [ports(one) for one in (None, ["harbor", "dm-lena"], ["harbor"], ["dm-lena"])] == [
        *(["8000"], ["8000"], ["5173"], ["8000"]),
    ]


def test_an_episode_outside_is_not_read_by_its_id(team: UserMemory, public: UserMemory) -> None:
    cards = {card.origin: card for card in team.episodes.list()}
    for verb in (
        *(public.episodes.get, public.episodes.card, public.episodes.messages, public.boundaries.explain),
        lambda identity: public.erase(episode=identity),
        lambda identity: public.sessions.start("a talk", thread="general", parent_episode_id=identity),
        public.sessions.end,
    ):
        with pytest.raises(NotFound, match=r"no (episode|session) .* in this memory"):
            verb(cards["dm-lena"].episode_id)
    assert "cake" in str(public.episodes.messages(cards["general"].episode_id))
    assert public.boundaries.explain(cards["general"].episode_id).begins.sentence
    assert [one is None for one in public.episodes.contents([cards["dm-lena"], cards["harbor"]])] == [
        True,
        False,
    ]


def test_linked_threads_are_not_read_as_one(team: UserMemory, public: UserMemory) -> None:
    team.links.add("general", "dm-lena")
    (linked,) = team.links.episodes()
    assert "15 December" in str(team.episodes.messages(linked.id))
    with pytest.raises(NotFound):
        public.episodes.messages(linked.id)


def test_what_is_kept_lies_inside(team: UserMemory, public: UserMemory, clock: Clock) -> None:
    with pytest.raises(InvalidInput, match="name the `thread`: this memory tells of 'general' and 'harbor'"):
        public.add("the raise is agreed")
    with pytest.raises(InvalidInput, match="leave the `source` out"):
        public.add("one", thread="general", source="slack", id="1")
    team.add(SECRETS[0], thread="dm-lena", id="m1")
    assert public.add("no such words", thread="general", id="m1")[0].added
    (receipt,) = public.add("the anchor is green", thread="general")
    assert "anchor" in told(public.search("which colour has the anchor?"))
    with pytest.raises(NotFound, match="no thread 'dm-lena' here"):  # it would open it to who reads #general
        public.add("hello", thread="dm-lena", channel="general")
    channel = team.only(["sms"])
    assert channel.add("the ferry leaves at nine", thread="new", channel="SMS")[0].added
    assert "ferry" in told(channel.search("when does the ferry leave?"))
    public.erase(observation=receipt.id)
    assert "anchor" not in told(team.search("which colour has the anchor?"))


def test_only_what_lies_inside_is_erased(team: UserMemory, public: UserMemory) -> None:
    for named in ({"speaker": "Lena"}, {"everything": True}):
        with pytest.raises(InvalidInput, match="erase an episode, a message or a thread here"):
            public.erase(**named)  # type: ignore[arg-type]
    secret = team.episodes.messages(
        next(card.episode_id for card in team.episodes.list() if card.origin == "dm-lena")
    )[0]
    with pytest.raises(NotFound):
        public.erase(observation=secret.id)
    for thread, text in (("dm-lena", "the vault code is 77"), ("general", "good morning all")):
        team.add(text, thread=thread, id="m7")
    for thread in ("dm-lena", "general"):
        team.add("the anchor of the ferry weighs ninety kilos exactly", thread=thread, id="m8")
    everywhere = team.only(["general", "dm-lena"]).erase(thread="general", dry_run=True).repeated_by
    assert everywhere
    assert not public.erase(thread="general", dry_run=True).repeated_by
    public.erase(observation="m7")
    assert "vault code" in told(team.search("what is the vault code?"))
    assert "good morning all" not in told(team.search("good morning all"))
    with pytest.raises(NotFound, match="no observation 'm7'"):
        public.erase(observation="m7")


def test_a_session_lies_inside_and_says_nothing_of_one_outside_that_it_goes_on_from(
    team: UserMemory, public: UserMemory, clock: Clock
) -> None:
    first = team.sessions.start("the pay of Sven", thread="dm-lena", key="pay", timestamp=clock.now)
    team.add("Sven gets a raise of 400 euros.", role="Lena", thread="dm-lena", timestamp=clock.now)
    team.sessions.end(first.id, "success", ["Sven gets a raise"])
    clock.forward(hours=1)
    second = team.sessions.start(
        "the pay of Sven again", thread="general", parent_episode_id=first.id, timestamp=clock.now
    )
    assert second.parent_episode_id == first.id
    shown = [public.sessions.get(second.id), *public.sessions.list()]
    assert [(one.id, one.parent_episode_id) for one in shown] == [(second.id, None)] * 2
    with pytest.raises(NotFound, match="no session"):
        public.sessions.get(first.id)
    with pytest.raises(InvalidInput, match="the key 'pay' is taken"):
        public.sessions.start("the pay of Sven", thread="general", key="pay")
    with pytest.raises(InvalidInput, match="name the `thread`"):
        public.sessions.start("the pay of Sven")
    third = public.sessions.start("the pay of Sven", channel="harbor", key="mine")
    assert third.thread in {one.origin for one in public.threads.list()}
    assert third.parent_episode_id in (None, second.id)
    public.add("we talk of the pay of Sven", thread=third.thread)
    assert public.sessions.end(third.id, "success").state == "closed"
    assert "raise" not in str(public.chains.sequence("the pay of Sven", min_relevance=0.0))


def test_that_a_story_goes_on_outside_is_not_told(team: UserMemory, public: UserMemory, clock: Clock) -> None:
    parent = None
    for thread in ("general", "dm-lena"):
        clock.forward(hours=1)
        session = team.sessions.start(
            "the red lantern", thread=thread, parent_episode_id=parent, timestamp=clock.now
        )
        team.add("the red lantern is broken", thread=thread, timestamp=clock.now)
        team.sessions.end(session.id, "partial")
        parent = session.id
    shown = [one.chains.sequence("the red lantern", limit=1, order="relevant") for one in (team, public)]
    assert silent(shown[1])
    assert "goes on" not in shown[1].ending


def test_walls_within_walls_are_narrower(team: UserMemory) -> None:
    both = team.only(OPEN).only(["harbor", "dm-lena"])
    assert [one.origin for one in both.threads.list()] == ["harbor"]
    assert "'harbor' and 'dm-lena' alone" in repr(both)
    with pytest.raises(InvalidInput, match="name at least one"):
        team.only([])
    with pytest.raises(InvalidInput, match="name at least one"):
        team.only(None)


def test_names_that_mean_nothing_yet_tell_nothing(team: UserMemory) -> None:
    nobody = team.only("nobody")
    for shown in (
        *(
            nobody.threads.list(),
            nobody.episodes.list(),
            nobody.episodes.recent(),
            nobody.episodes.replaced(),
        ),
        *(nobody.facts.list(), nobody.facts.list(QUESTION), nobody.sessions.list(), nobody.sections.ids()),
        *(nobody.chains.sequence(""), nobody.chains.sequence("probation", min_relevance=0.0)),
        *(nobody.search(QUESTION).hits, nobody.search(QUESTION).facts, nobody.context(QUESTION).items),
    ):
        assert list(shown) == []
    assert nobody.add("the first word", thread="nobody")[0].added
    assert "first word" in told(nobody.search("what was the first word?"))


def test_a_past_is_held_too(team: UserMemory, clock: Clock) -> None:
    then = clock.now
    clock.forward(days=1)
    team.add("news", thread="general", timestamp=clock.now)
    past = team.only(OPEN).as_of(then + timedelta(hours=1))
    assert silent(told(past.search(QUESTION, limit=20)))
    with pytest.raises(InvalidInput, match="cannot be held"):
        past.stats()


def test_an_awaited_memory_is_held_too() -> None:
    async def ask() -> tuple[str, str]:
        async with await AsyncMemory.open(":memory:", embedder="hashing") as memory:
            mine = memory.user("team")
            for thread in ("general", "dm-lena"):
                await mine.add(f"the anchor lies in {thread}", thread=thread)
            public = mine.only(["general"])
            with pytest.raises(InvalidInput, match="cannot be held"):
                await public.stats()
            shown = [str(await one.search("where does the anchor lie?")) for one in (mine, public)]
            return shown[0], shown[1]

    everywhere, walled = asyncio.run(ask())
    assert ("dm-lena" in everywhere, "dm-lena" in walled, "general" in walled) == (True, False, True)
