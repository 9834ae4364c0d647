"""Rules of one project are not told in another, end to end; what is of none is told in all, and how to answer."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import pytest
from builders.assistants import weather
from builders.chats import Clock, mine
from builders.commands import Run
from conftest import OpenMemory

from episodic_agent import Filter, Memory, UserMemory
from episodic_agent.engine.chains.sequences import Sequenced
from episodic_agent.engine.results import EpisodeCard
from episodic_agent.errors import InvalidInput
from episodic_agent.stores.nouns import thread_of
from episodic_agent.stores.tables import threads
from episodic_agent.tools import memory_tools

HARBOR, LANTERN = "/home/jo/harbor", "/home/jo/lantern"
NO_PIP = "no pip in this repo please, we use uv for everything"
PNPM = "always use pnpm to run the tests here, npm breaks the lockfile"
SHORT = "please always answer short, no bullet lists"
STAGING = "staging moved! the new url for the tests is https://stage2.example"
RUN = "run the tests please, with uv or pnpm?"
START = datetime(2026, 3, 2, 9, tzinfo=UTC)
LATER = START + timedelta(days=3)


@pytest.fixture
def jo(open_memory: OpenMemory, clock: Clock) -> UserMemory:
    """Two projects with rules of their own, and a list of issues that is of neither."""
    clock.now = LATER
    jo = mine(open_memory())
    said = [(NO_PIP, HARBOR), (SHORT, HARBOR), (PNPM, LANTERN), (STAGING, "issues")]
    for day, (text, channel) in enumerate(said):
        jo.add(text, channel=channel, timestamp=START + timedelta(hours=8 * day))
    jo.flush()
    return jo


def context(jo: UserMemory, text: str = RUN, **where: str | None) -> str:
    return jo.context(text, at=LATER, max_tokens=2_000, **where).text  # type: ignore[arg-type]


def test_a_context_tells_the_rules_of_its_own_project_and_what_is_of_none(jo: UserMemory) -> None:
    session = jo.sessions.start("run the tests", channel=LANTERN, timestamp=LATER)
    asked = [
        context(jo, channel=LANTERN),
        context(jo, thread=session.thread),  # its session says the project
        context(jo, project=f"{LANTERN}/"),
        context(jo, thread="new", project=LANTERN),
    ]
    for text in asked:
        assert (NO_PIP in text, PNPM in text, "stage2.example" in text) == (False, True, True)
    here, nowhere = context(jo, channel=HARBOR), context(jo, thread="new", channel="issues")
    assert (NO_PIP in here, PNPM in here, "stage2.example" in here) == (True, False, True)
    assert (NO_PIP in nowhere, PNPM in nowhere) == (True, True)
    assert NO_PIP in context(jo, channel=LANTERN, project=HARBOR)  # what is named wins


def test_what_bears_on_a_message_is_no_fact_of_another_project(jo: UserMemory) -> None:
    jo.add("the staging database of the customer lives on host db7", channel=HARBOR, timestamp=START)
    (fact,) = (card for card in jo.facts.list() if "db7" in card.fact.fact)
    jo.facts.edit(fact.id, text="The staging database is db7.", category="experience")
    shown = [context(jo, "where does the staging database live?", project=one) for one in (HARBOR, LANTERN)]
    assert ["db7" in text for text in shown] == [True, False]


def test_how_to_answer_is_told_in_every_project_and_what_its_words_bind_to_one_is_not(jo: UserMemory) -> None:
    bound = "please always answer in English in this repo, never in German"
    jo.add(bound, channel=HARBOR, timestamp=LATER - timedelta(hours=9))
    lantern, harbor = context(jo, channel=LANTERN), context(jo, channel=HARBOR)
    assert (SHORT in lantern, bound in lantern) == (True, False)
    assert (SHORT in harbor, bound in harbor) == (True, True)
    facts = [card.fact.fact for card in jo.facts.list(project=LANTERN)]
    assert any(SHORT in fact for fact in facts)
    assert not any(bound in fact for fact in facts)


def test_a_rule_that_names_every_project_is_told_in_every_project(jo: UserMemory) -> None:
    of_all, of_one = "never force-push, in none of my repos", "never push to main in this repo"
    for text in (of_all, of_one):
        jo.add(text, channel=HARBOR, timestamp=LATER - timedelta(hours=9))
    jo.flush()
    lantern = context(jo, "push my branch", channel=LANTERN)
    assert (of_all in lantern, of_one in lantern) == (True, False)
    assert of_one in context(jo, "push my branch", channel=HARBOR)


@pytest.mark.parametrize(
    "question", ["which rules hold now?", "what are our rules here?", "welche Regeln gelten hier?"]
)
def test_who_asks_for_the_rules_is_told_those_of_the_project_and_those_of_all(
    jo: UserMemory, run: Run, question: str
) -> None:
    of_all, terse = "never force-push, in none of my repos", "we test against postgres in this repo"
    unsure = "in our tables money is int cents"  # no such wish as is told with every message
    for text in (of_all, f"{terse}, sqlite lies", unsure, "the upload is slow since friday"):
        jo.add(text, channel=HARBOR, timestamp=LATER - timedelta(hours=9))
    for number in range(40):
        jo.add(
            f"which of the rules hold in row {number}?", channel=HARBOR, timestamp=LATER - timedelta(hours=8)
        )
    jo.flush()
    here, beside = (NO_PIP, SHORT, of_all, terse, unsure), (SHORT, of_all, PNPM)
    shown = context(jo, question, channel=HARBOR).split("From earlier")[0].split("Von früher")[0]
    assert all(rule in shown for rule in here)
    for folder, rules, other in ((HARBOR, here, PNPM), (LANTERN, beside, NO_PIP)):
        listed = [hit.fact.value for hit in jo.search(question, filter=Filter(project=folder)).facts]
        assert (all(rule in "".join(listed) for rule in rules), other in listed) == (True, False)
        for form in ([], ["--json"]):
            printed = "".join(run("search", question, *form, "--project", folder).out.split())
            assert (
                all("".join(rule.split()) in printed for rule in rules),
                "".join(other.split()) in printed,
            ) == (True, False)


def test_a_form_of_threads_names_none_of_another_project(jo: UserMemory) -> None:
    jo.add("Where is the idempotency key made?", channel=HARBOR, timestamp=LATER - timedelta(hours=2))
    jo.add("Where is the legend drawn?", channel="chat", timestamp=LATER - timedelta(hours=1))
    text = jo.context("good morning", channel=LANTERN, at=LATER, form="seed-002").text
    assert ("legend" in text, "idempotency" in text) == (True, False)
    jo.add("let us begin", thread="work", channel=LANTERN, timestamp=LATER)
    text = jo.context("good morning", thread="work", channel=LANTERN, at=LATER, form="seed-002").text
    assert ("legend" in text, "idempotency" in text) == (True, False)


def test_much_that_was_said_in_another_project_leaves_room_for_what_was_said_in_this_one(
    open_memory: OpenMemory,
) -> None:
    jo, at = mine(open_memory()), START.isoformat()
    rate = "the tax rate that the parser reads is 17 percent, as it was agreed with the office last year"
    jo.add(rate, role="assistant", channel=LANTERN, timestamp=START)  # what it says is no fact
    for thread, channel, text in (
        ("crowd", HARBOR, "tax rate of parser"),
        ("filler", "chat", "good morning"),
    ):
        jo.add(
            [{"content": f"{text} {n}", "timestamp": at} for n in range(150)], thread=thread, channel=channel
        )
    for n in range(5):  # the newest threads are looked through in any case
        jo.add(f"good morning to all of you {n}", thread=f"{n}", channel="chat", timestamp=LATER)
    lines = jo.context("the tax rate of parser", project=LANTERN, at=LATER).items
    assert any("17 percent" in line.text for line in lines)
    assert not any("rate of parser" in line.text for line in lines)


def test_what_is_said_now_in_another_project_and_what_was_said_last_there_is_not_told(jo: UserMemory) -> None:
    jo.add("the migration of the legend is done", channel=LANTERN, timestamp=LATER - timedelta(hours=9))
    jo.add("the migration of the table failed", channel=HARBOR, timestamp=LATER - timedelta(minutes=2))
    for question in ("what of the migration?", "what was the latest migration?"):
        everywhere, own = context(jo, question), context(jo, question, project=LANTERN)
        assert ("of the table" in everywhere, "of the table" in own) == (True, False)
        assert "of the legend" in own
    assert jo.context("go on", project=LANTERN, at=LATER).thread is None
    assert jo.context("go on", project=HARBOR, at=LATER).thread is not None


def test_of_a_day_on_which_only_another_project_spoke_nothing_is_told(jo: UserMemory) -> None:
    at = START - timedelta(days=10)
    jo.add("the harbour master called twice", channel=HARBOR, timestamp=at)
    question = f"what did we talk about on {at:%d %B %Y}?"
    own, other = (jo.context(question, project=one, at=LATER) for one in (HARBOR, LANTERN))
    assert ("called twice" in own.text, own.notes) == (True, ())
    assert "called twice" not in other.text
    assert other.notes


def test_what_has_worked_in_another_project_alone_is_not_told(open_memory: OpenMemory, clock: Clock) -> None:
    talk = [message for day in range(15) for message in weather(day)]
    clock.now = talk[-1]["timestamp"]
    jo = mine(open_memory())
    jo.add(talk, thread="desk", channel=HARBOR)
    jo.flush()
    question = "Will the weather in Paris be good on Friday?"
    shown = [jo.context(question, project=one).items for one in (HARBOR, LANTERN)]
    assert [any(line.kind == "skill" for line in lines) for lines in shown] == [True, False]


def test_a_rule_of_one_project_ends_none_of_another(open_memory: OpenMemory, clock: Clock) -> None:
    clock.now = LATER
    jo = mine(open_memory())
    jo.add("the dev server is on port 5173", channel=LANTERN, timestamp=START)
    jo.add("the dev server is on port 8000 now", channel=HARBOR, timestamp=START + timedelta(days=1))
    jo.flush()
    shown = [context(jo, "which port has the dev server?", channel=one) for one in (LANTERN, HARBOR)]
    assert [("5173" in text, "8000" in text) for text in shown] == [(True, False), (False, True)]
    jo.add("the dev server is on port 5199 now", channel=LANTERN, timestamp=START + timedelta(days=2))
    jo.flush()
    known = [card.fact.fact for card in jo.facts.list(project=LANTERN)]
    assert [("5173" in fact, "5199" in fact) for fact in known] == [(False, True)]


def test_what_was_linked_by_hand_is_told_whatever_project_it_is_of(jo: UserMemory) -> None:
    harbor = jo.threads.list()[-1].origin
    jo.add("let us begin", thread="work", channel=LANTERN, timestamp=LATER)
    assert "uv for everything" not in context(jo, thread="work")
    jo.links.add("work", harbor)
    assert "uv for everything" in context(jo, thread="work")


def test_what_comes_from_two_projects_within_minutes_is_two_threads(memory: Memory) -> None:
    jo = mine(memory)
    for minute, channel in enumerate((HARBOR, LANTERN, "chat", HARBOR, LANTERN)):
        jo.add(f"{minute}", channel=channel, timestamp=START + timedelta(minutes=minute))
    threads = [{*thread.channels} & {HARBOR, LANTERN} for thread in jo.threads.list()]
    assert sorted(map(len, threads)) == [1, 1]
    assert jo.context("go on", channel=LANTERN, at=START + timedelta(minutes=6)).thread is not None


def test_a_search_leaves_out_other_projects_unless_it_names_where_to_look(jo: UserMemory) -> None:
    def texts(**where: str) -> str:
        recall = jo.search("how do we run the tests with uv or pnpm, and which url?", limit=20, **where)  # type: ignore[arg-type]
        facts = [hit.fact.fact for hit in recall.facts]
        return "\n".join([*facts, *(one.observation.text for one in recall.observations)])

    both, own = texts(), texts(project=LANTERN)
    assert (NO_PIP in both, PNPM in both) == (True, True)
    assert (NO_PIP in own, PNPM in own, "stage2" in own) == (False, True, True)
    assert NO_PIP in texts(project=LANTERN, channel=HARBOR)
    harbor = jo.threads.list()[-1].origin
    assert NO_PIP in texts(project=LANTERN, thread=harbor)
    assert NO_PIP not in jo.retrieve("do we use pip or uv?", project=LANTERN)
    with pytest.raises(InvalidInput, match="named by its folder"):
        jo.search("uv?", project="lantern")
    with pytest.raises(InvalidInput, match="cannot be narrowed by 'project'"):
        jo.places.list(project=LANTERN)


def test_what_happened_in_another_project_is_not_listed_and_no_part_of_a_story(jo: UserMemory) -> None:
    for n in range(12):  # more than are read at once for the newest two
        jo.add(f"the crane tests of harbor broke again, run {n}", channel=HARBOR, thread=f"harbor {n}")
    jo.flush()

    def told(rows: Iterable[EpisodeCard | Sequenced]) -> list[str]:
        threads = [jo.threads.get(str(row.thread_id)).thread.channels for row in rows]
        return sorted({channel for channels in threads for channel in channels})

    own = Filter(project=LANTERN)
    assert (
        told(jo.episodes.list(filter=own))
        == told(jo.episodes.list(limit=2, filter=own))
        == [LANTERN, "issues"]
    )
    assert told(jo.episodes.list(since=START, project=LANTERN)) == [LANTERN, "issues"]
    newest = jo.episodes.recent(limit=2, project=LANTERN)
    assert (len(newest), told(newest)) == (2, [LANTERN, "issues"])
    assert told(jo.episodes.recent(limit=2)) == [HARBOR]
    assert told(jo.episodes.list(project=LANTERN, channel=HARBOR)) == [HARBOR]
    assert told(jo.episodes.recent(thread="harbor 3", project=LANTERN)) == [HARBOR]
    for topic, policy in (("the tests", "default"), ("", "default"), ("the tests", "seed-004")):
        assert HARBOR in told(jo.chains.sequence(topic, min_relevance=0.0, policy=policy))
        here = jo.chains.sequence(topic, min_relevance=0.0, policy=policy, project=LANTERN)
        assert told(here) == [LANTERN, "issues"], (topic, policy)
    assert "crane" not in jo.chains.replay("the tests of harbor", project=LANTERN)
    for verb in (jo.episodes.list, jo.episodes.recent, jo.chains.sequence):
        with pytest.raises(InvalidInput, match="named by its folder"):
            verb(project="lantern")


def test_a_story_that_goes_on_in_another_project_is_told_without_it(jo: UserMemory) -> None:
    first = jo.sessions.start("the login of lantern", channel=HARBOR)
    jo.add("We build the login for lantern here first.", thread=first.thread)
    jo.sessions.end(first.id)
    second = jo.sessions.start("the login of lantern, again", parent_episode_id=first.id, channel=LANTERN)
    jo.add("The login moves to lantern now.", thread=second.thread)
    jo.sessions.end(second.id)
    everywhere = jo.chains.replay("the login of lantern")
    assert "continues from" in everywhere
    text = jo.chains.replay("the login of lantern", project=LANTERN)
    assert ("The login moves" in text, "continues from" in text, "here first" in text) == (True, False, False)
    assert "The login moves" not in jo.chains.replay("the login of lantern", project=HARBOR)


def test_a_search_of_a_project_does_not_read_every_thread_of_the_others(
    jo: UserMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(60):
        jo.add(f"the crane tests broke again, run {n}", channel=HARBOR, thread=f"harbor {n}")
    read: list[object] = []
    monkeypatch.setattr(threads, "thread_of", lambda columns: read.append(columns[0]) or thread_of(columns))
    assert jo.search("how do we run the tests?", project=LANTERN).hits
    assert len(read) < 20
    read.clear()
    assert jo.search("how do we run the tests?", channel=LANTERN).hits
    assert len(read) < 20


def test_a_fact_that_was_said_in_two_places_holds_in_both(jo: UserMemory) -> None:
    for hours, channel in ((10, "chat"), (6, HARBOR)):
        jo.add("I am allergic to walnuts.", channel=channel, timestamp=LATER - timedelta(hours=hours))
    jo.flush()
    for folder in (HARBOR, LANTERN):
        assert any("walnuts" in card.fact.fact for card in jo.facts.list(project=folder))
        lines = jo.context("which nuts am I allergic to?", project=folder, at=LATER).items
        (line,) = (one for one in lines if "walnuts" in one.text and one.kind == "fact")
        told_in = jo.threads.get(line.thread).thread.channels
        assert told_in == ((HARBOR,) if folder == HARBOR else ("chat",))  # it is proved where it is told


def test_facts_of_another_project_are_not_listed(jo: UserMemory) -> None:
    def listed(project: str | None, query: str | None = None) -> tuple[bool, bool]:
        text = "\n".join(card.fact.fact for card in jo.facts.list(query, project=project))
        return NO_PIP in text, PNPM in text

    assert [listed(one) for one in (None, HARBOR, LANTERN)] == [(True, True), (True, False), (False, True)]
    assert listed(LANTERN, "pip, uv or pnpm") == (False, True)


def test_the_tools_of_an_agent_keep_projects_apart(jo: UserMemory) -> None:
    tools = memory_tools(jo)
    for name, arguments in (
        ("search_memory", {"query": "do we run the tests with uv or pnpm?", "limit": 20}),
        ("get_context", {"message": RUN}),
        ("get_facts", {"query": "uv or pnpm"}),
        ("recent_memory", {}),
        ("replay_topic", {"topic": ""}),
    ):
        everywhere = tools.call(name, arguments)
        own = tools.call(name, {**arguments, "project": LANTERN})
        assert ("we use uv" in everywhere, "pnpm to run" in everywhere) == (True, True), name
        assert ("we use uv" in own, "pnpm to run" in own) == (False, True), name
        assert "named by its folder" in tools.call(name, {**arguments, "project": "lantern"})


def test_commands_keep_projects_apart(jo: UserMemory, run: Run) -> None:
    del jo
    for command in (
        ("search", "do we run the tests with uv or pnpm?"),
        ("retrieve", "do we run the tests with uv or pnpm?"),
        ("context", RUN),
        ("facts", "list"),
        ("facts", "search", "uv or pnpm"),
        ("episodes", "--json"),
        ("recent", "--json"),
        ("sequence", "--json"),
        ("replay", ""),
    ):
        shown = run(*command, "--project", LANTERN).out
        assert ("we use uv" in shown, "pnpm to run" in shown) == (False, True), command


INSIDE = f"{LANTERN}/src/lib"


def test_a_folder_inside_a_project_means_the_nearest_project_above_it(jo: UserMemory) -> None:
    def listed() -> list[str]:
        rows = [
            *jo.episodes.list(project=INSIDE),
            *jo.episodes.recent(project=INSIDE),
            *jo.chains.sequence(project=INSIDE),
        ]
        return sorted({one for row in rows for one in jo.threads.get(str(row.thread_id)).thread.channels})

    assert listed() == [LANTERN, "issues"]
    text = context(jo, project=INSIDE)
    assert (NO_PIP in text, PNPM in text, "stage2.example" in text) == (False, True, True)
    facts = [card.fact.fact for card in jo.facts.list(project=INSIDE)]
    assert (any(PNPM in fact for fact in facts), any(NO_PIP in fact for fact in facts)) == (True, False)
    recall = jo.search("do we run the tests with uv or pnpm?", project=INSIDE)
    texts = [one.observation.text for one in recall.observations]
    assert (PNPM in texts, NO_PIP in texts, recall.notes) == (True, False, [])
    jo.add("in src/lib the tests run with deno", channel=INSIDE, timestamp=LATER - timedelta(hours=2))
    text = context(jo, project=f"{INSIDE}/deep")
    assert (PNPM in text, "deno" in text) == (False, True)


@pytest.mark.parametrize("folder", [f"{LANTERN}-old", "/home/jo"])
def test_a_folder_beside_or_above_a_project_means_none_and_that_is_noted(
    folder: str, jo: UserMemory, run: Run
) -> None:
    shown = jo.context(RUN, at=LATER, project=folder)
    assert (NO_PIP in shown.text, PNPM in shown.text, "stage2.example" in shown.text) == (False, False, True)
    note = f"nothing is known of the project {folder!r}, nor of a folder above it"
    assert [one for one in shown.notes if one.startswith(note)] == [*shown.notes]
    assert jo.search(RUN, project=folder).notes[0].startswith(note)
    tools = memory_tools(jo)
    for name, arguments in (("search_memory", {"query": RUN}), ("get_context", {"message": RUN})):
        assert tools.call(name, {**arguments, "project": folder}).count(note) == 1
        assert note not in tools.call(name, {**arguments, "project": INSIDE})
    assert note in run("context", RUN, "--project", folder).err
    assert PNPM in run("context", RUN, "--project", INSIDE).out


def test_a_project_outside_of_what_may_be_told_is_as_one_that_nobody_knows(jo: UserMemory) -> None:
    held = jo.only(["issues", HARBOR])
    assert any("nothing is known of the project" in note for note in held.context(RUN, project=INSIDE).notes)
    assert not held.context(RUN, project=f"{HARBOR}/src", at=LATER).notes
