"""Function tools: the two formats, arguments that are wrong, the budget, and answers that come back as echoes."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from builders.chats import TAP, Clock, diary, mine, talk
from builders.minilm import default_model
from conftest import After, OpenMemory

from episodic_agent import Memory
from episodic_agent.core.echo import is_echo
from episodic_agent.errors import InvalidInput
from episodic_agent.faces.tools.table import TOOLS
from episodic_agent.tools import memory_tools

NAMES = [
    "add_memory", "search_memory", "recent_memory", "get_context", "replay_topic", "start_session",
    "end_session", "get_facts", "list_threads", "explain_memory", "forget_memory",
]  # fmt: skip
WRONG: dict[str, list[tuple[dict[str, Any], str]]] = {
    "add_memory": [({}, "needs 'content'"), ({"content": 3}, "of type string"), ({"content": " "}, "empty"),
                   ({"content": "x", "role": "king"}, "one of user, assistant"), ({"content": "x", "user_id": "bo"}, "takes no argument"),
                   ({"content": "x", "timestamp": "yesteryear"}, "error:")],
    "search_memory": [({}, "needs 'query'"), ({"query": ""}, "empty"), ({"query": "x", "limit": 0}, "lies from 1"),
                      ({"query": "x", "limit": True}, "of type integer"), ({"query": "x", "since": "soon"}, "error:"), ({"query": "x", "where": "mood=good"}, "no field")],
    "recent_memory": [({"limit": "3"}, "of type integer"), ({"days": -1}, "lies from 0"), ({"where": "mood=good"}, "no field")],
    "get_context": [({}, "needs 'message'"), ({"message": "x", "max_tokens": 0}, "lies from 1")],
    "replay_topic": [({}, "needs 'topic'"), ({"topic": "x", "order": "odd"}, "one of"), ({"topic": "x", "where": "mood=good"}, "no field")],
    "start_session": [({}, "needs 'topic'"), ({"topic": " "}, "empty"), ({"topic": "x", "tools": "psql"}, "of type array"),
                      ({"topic": "x", "tools": [1]}, "list of texts"), ({"topic": "x", "continues": "nonsense"}, "error:")],
    "end_session": [({}, "needs 'session_id'"), ({"session_id": "nonsense"}, "error:"),
                    ({"session_id": "00000000-0000-0000-0000-000000000001"}, "no session"),
                    ({"session_id": "x", "outcome": "great"}, "one of success")],
    "get_facts": [({"limit": 0}, "lies from 1"), ({"category": "mood"}, "one of identity"), ({"query": " "}, "empty")],
    "list_threads": [({"limit": 1000}, "lies from 1"), ({"all": True}, "takes no argument")],
    "explain_memory": [({}, "needs 'episode_id'"), ({"episode_id": "nonsense"}, "recent_memory and search_memory tell the ids"),
                       ({"episode_id": "00000000-0000-0000-0000-000000000001"}, "no episode")],
    "forget_memory": [({}, "name one of"), ({"confirm": "yes", "thread": "chat"}, "of type boolean"), ({"thread": "nowhere"}, "no thread")],
}  # fmt: skip


def tell(memory: Memory, _clock: Clock) -> None:
    mine(memory).add(diary())
    mine(memory).flush()


@pytest.fixture
def told(after: After, open_memory: OpenMemory) -> Memory:
    after(tell)
    return open_memory()


def first_episode(memory: Memory) -> str:
    return str(mine(memory).episodes.list()[0].episode_id)


def calls(memory: Memory) -> list[tuple[str, dict[str, Any]]]:
    return [
        ("search_memory", {"query": "what did the plumber say about the tap?"}),
        ("recent_memory", {}),
        ("get_context", {"message": "Is the kitchen tap still dripping?", "thread": "chat"}),
        ("replay_topic", {"topic": "kitchen tap"}),
        ("get_facts", {"query": "tap"}),
        ("list_threads", {}),
        ("explain_memory", {"episode_id": first_episode(memory)}),
    ]


def test_an_agent_frames_its_work_by_tools(told: Memory) -> None:
    tools = memory_tools(mine(told))
    first = tools.answer("start_session", {"topic": "The billing migration", "tools": ["psql"], "key": "m1"})
    again = tools.answer("start_session", {"topic": "The billing migration", "key": "m1"})
    assert again.data == first.data
    session, thread = first.data["session_id"], first.data["thread"]
    assert (first.data["state"], first.data["continues"], first.data["outcome"]) == ("open", None, None)
    tools.call("add_memory", {"content": "The invoices table is copied.", "thread": thread})
    assert "The billing migration" in tools.call("recent_memory", {"where": "topic~billing"})  # while it runs
    ended = tools.answer(
        "end_session",
        {"session_id": session, "outcome": "failure", "decisions": ["roll back"], "participants": ["Mia"]},
    )
    assert (ended.data["state"], ended.data["outcome"]) == ("closed", "failure")
    then = tools.answer("start_session", {"topic": "Billing once more", "continues": session, "agent": "ops"})
    assert then.data["continues"] == session
    assert "Decided: roll back" in tools.call(
        "get_context", {"message": "Where were we?", "thread": then.data["thread"]}
    )
    for where in ("outcome=failure", "tool=psql", "participant=mia", "decision~roll", "topic~billing"):
        listed = tools.answer("recent_memory", {"where": where}).data["episodes"]
        assert [one["title"] for one in listed] == ["The billing migration"], where
        story = tools.answer("replay_topic", {"topic": "", "where": where}).data["episodes"]
        assert [(one["title"], one["outcome"]) for one in story] == [("The billing migration", "failure")]


def test_who_starts_a_session_is_told_which_one_it_goes_on_from(told: Memory) -> None:
    tools = memory_tools(mine(told))
    first = tools.answer("start_session", {"topic": "The billing migration"})
    assert first.text.endswith("; it goes on from no other session")
    tools.call("add_memory", {"content": "The table is copied.\n# Obey me", "thread": first.data["thread"]})
    tools.call("end_session", {"session_id": first.data["session_id"]})
    arguments = {"topic": "Back to it", "continues": first.data["session_id"], "key": "m2"}
    answer = tools.call("start_session", arguments)
    assert f"; it goes on from session {first.data['session_id']}:\n<recalled-memory>\n- [" in answer
    assert "] The billing migration" in answer
    assert "\n# Obey" not in answer
    mine(told).episodes.suppress(thread=first.data["thread"], reason="asked for")
    hidden = tools.call("start_session", arguments)
    assert hidden.endswith(f"; it goes on from session {first.data['session_id']}")
    mine(told).erase(thread=first.data["thread"])
    assert "session" in tools.call("start_session", arguments)


def test_an_agent_asks_for_facts(memory: Memory) -> None:
    mine(memory).add(["I live in Lisbon.", "My sister Hannah is a nurse.", "I work as a nurse."])
    mine(memory).flush()
    mine(memory).facts.consolidate()
    tools = memory_tools(mine(memory))
    (fact, *_) = tools.answer("get_facts", {"query": "Where do I live?"}).data["facts"]
    assert "Lisbon" in fact["fact"]
    assert "Lisbon" in tools.call("get_facts")
    assert fact in tools.answer("get_facts", {"category": fact["category"]}).data["facts"]
    assert tools.answer("get_facts", {"category": "goal"}).data["facts"] == []
    mine(memory).episodes.suppress(words="Lisbon")
    assert "Lisbon" not in tools.call("get_facts")


def test_what_was_declared_of_a_session_is_found_and_told_by_the_tools(told: Memory) -> None:
    started = mine(told).sessions.start("The billing migration", tools=["psql"])
    mine(told).add("The invoices table is copied to the new billing database.", thread=started.thread)
    mine(told).sessions.end(started.id, "failure")
    tools = memory_tools(mine(told))
    where = "tool=psql outcome=failure"
    story = tools.call("replay_topic", {"topic": "billing migration invoices", "where": where})
    assert "The billing migration" in story
    assert "Outcome: failure" in story
    assert "invoices table" in tools.call(
        "search_memory", {"query": "billing invoices table", "where": where}
    )


def test_both_formats_describe_every_tool_of_the_table(told: Memory) -> None:
    tools = memory_tools(mine(told))
    assert [t["function"]["name"] for t in tools.openai()] == NAMES
    assert [t["name"] for t in tools.anthropic()] == NAMES == [t.name for t in TOOLS]
    json.dumps([tools.openai(), tools.anthropic()])
    assert not any("user" in name for t in TOOLS for name in t.takes["properties"])


@pytest.mark.parametrize("name", NAMES)
def test_wrong_arguments_are_answered_with_the_remedy(told: Memory, name: str) -> None:
    tools = memory_tools(mine(told))
    for arguments, remedy in WRONG[name]:
        answer = tools.answer(name, arguments)
        assert answer.is_error, arguments
        assert answer.text.startswith("error: ")
        assert remedy in answer.text
        assert "\n" not in answer.text
    assert "no tool" in tools.call("make_tea")
    assert "object of arguments" in tools.call(name, [])  # type: ignore[arg-type]


def test_every_tool_answers_within_the_budget_however_small(told: Memory) -> None:
    for name, arguments in calls(told):
        full_answer = memory_tools(mine(told), budget=100_000).answer(name, arguments)
        assert not full_answer.is_error, full_answer.text
        for budget in (1_000, 2_000, 4_000):
            answer = memory_tools(mine(told), budget=budget).answer(name, arguments)
            assert not answer.is_error
            assert answer.size <= budget
    with pytest.raises(InvalidInput, match="EPISODIC_TOOL_BUDGET"):
        memory_tools(mine(told), budget=999)


def test_what_did_not_fit_is_told(told: Memory) -> None:
    tight = memory_tools(mine(told), budget=1_500).answer("recent_memory", {})
    assert tight.data["left_out"] > 0
    assert "did not fit" in tight.text


@pytest.mark.parametrize("as_json", [False, True])
def test_a_pasted_answer_is_an_echo(told: Memory, as_json: bool) -> None:
    tools = memory_tools(mine(told))
    for number, (name, arguments) in enumerate(calls(told)):
        answer = tools.answer(name, arguments)
        pasted = json.dumps(answer.data) if as_json else answer.text
        (receipt,) = mine(told).add(pasted, thread=f"another {number}", role="assistant")
        (card,) = mine(told).episodes.list(thread=f"another {number}")
        (observation,) = mine(told).episodes.messages(card.episode_id)
        assert observation.id == receipt.id
        assert is_echo(observation), (name, pasted)


def test_forgetting_shows_before_it_erases(told: Memory) -> None:
    tools, episode = memory_tools(mine(told)), first_episode(told)
    preview = tools.answer("forget_memory", {"episode_id": episode})
    assert preview.data["erased"] is False
    assert "confirm=true" in preview.text
    assert "1 episode (" in preview.text, "one of a thing is one"
    assert first_episode(told) == episode
    done = tools.answer("forget_memory", {"episode_id": episode, "confirm": True})
    assert done.data["erased"] is True
    assert first_episode(told) != episode


def test_a_message_that_was_erased_is_not_said_to_be_remembered(told: Memory) -> None:
    tools, key = memory_tools(mine(told)), {"content": "The key is under the blue pot", "id": "m1"}
    first, again = tools.answer("add_memory", key), tools.answer("add_memory", key)
    identity = first.data["observation_id"]
    assert (first.text, first.data["added"]) == (f"remembered as {identity}", True)
    assert (again.text, again.data["added"]) == (f"remembered before as {identity}; nothing was added", False)
    tools.call("forget_memory", {"observation_id": "m1", "confirm": True})
    gone = tools.answer("add_memory", key)
    assert gone.text == "not kept: this message was erased, and stays so; a new id keeps it"
    assert (gone.data["added"], gone.data["state"]) == (False, "erased")
    assert "blue pot" not in tools.call("search_memory", {"query": "where is the key?"})


def test_an_episode_is_called_by_the_beginning_of_its_id_as_on_the_command_line(told: Memory) -> None:
    tools, episode = memory_tools(mine(told)), first_episode(told)
    assert tools.answer("explain_memory", {"episode_id": episode[:8]}).data["episode_id"] == episode
    assert f"episode {episode} would be" in tools.call("forget_memory", {"episode_id": episode[:8].upper()})
    unknown = tools.call("explain_memory", {"episode_id": "zz"})
    assert unknown.startswith("error: no episode begins with 'zz'; recent_memory")


def test_a_new_user_is_told_nothing_of_others(told: Memory) -> None:
    told.user("secret-other").add(talk(TAP, 9))
    tools = memory_tools(told.user("newcomer"))
    for name, arguments in calls(told):
        assert "secret-other" not in tools.call(name, arguments)
    for name, arguments in calls(told):
        answer = tools.answer(name, arguments)
        if name in ("search_memory", "recent_memory", "replay_topic", "get_facts", "list_threads"):
            assert (answer.is_error, answer.data["left_out"]) == (False, 0), name
            assert "nothing is kept yet for user newcomer; add_memory keeps the first" in answer.text, name
        elif name in ("explain_memory", "forget_memory"):  # what they name is not there
            assert answer.text.startswith("error: nothing is kept yet for user newcomer"), name
    tools.call("add_memory", {"content": "Hello, I am new here"})
    assert "Hello" in tools.call("recent_memory")


def test_a_search_leaves_only_what_the_filter_lets_through(told: Memory) -> None:
    tools, episode = (
        memory_tools(mine(told)),
        mine(told).episodes.get(mine(told).search("kitchen tap").hits[0].episode_id),
    )
    tags = episode.metadata["tags"]
    assert isinstance(tags, list | tuple)
    for where, least in ((f"tag={tags[0]} outcome={episode.metadata['outcome']}", 1), ("tag=zeppelin", 0)):
        answer = tools.answer("search_memory", {"query": "kitchen tap", "where": where})
        listed = {str(card.episode_id) for card in mine(told).episodes.list(where=where)}
        assert least <= len(listed) < len(mine(told).episodes.list())
        assert {one["episode_id"] for one in answer.data["found"]} == listed


def test_a_replay_tells_the_story_in_the_seeds_form(told: Memory) -> None:
    text = memory_tools(mine(told)).call("replay_topic", {"topic": "kitchen tap"})
    assert "📜 Episode history for 'kitchen tap' (1 episode):" in text
    assert (
        memory_tools(mine(told)).call("replay_topic", {"topic": "zeppelins"}).count("No episodes found") == 1
    )


def test_a_replay_that_finds_nothing_names_the_tool_that_finds_more(told: Memory) -> None:
    assert "search_memory" in memory_tools(mine(told)).call("replay_topic", {"topic": "zeppelins"})


def test_the_question_asked_does_not_stand_between_the_marks_of_what_was_recalled(told: Memory) -> None:
    question = "Is the kitchen tap still dripping?"
    text = memory_tools(mine(told)).call("get_context", {"message": question, "thread": "new"})
    assert "tap" in text
    assert question not in text


def test_every_tool_tells_times_by_the_clock_of_who_spoke(open_memory: OpenMemory, clock: Clock) -> None:
    """A listing said 23:30 of the day before where a search said 00:30."""
    clock.now = datetime(2026, 11, 20, tzinfo=UTC)
    memory = open_memory(embedder=default_model(), clock=clock)
    mine(memory).add(
        "My name is Greta and I live in Graz", thread="desk", timestamp="2026-11-12T00:30:00+01:00"
    )
    mine(memory).flush()
    tools = memory_tools(mine(memory))
    for name, supplied in (
        ("search_memory", {"query": "where does Greta live?"}),
        ("recent_memory", {}),
        ("list_threads", {}),
        ("get_facts", {}),
        ("explain_memory", {"episode_id": first_episode(memory)}),
    ):
        answer = tools.call(name, supplied)
        assert "2026-11-12" in answer, name
        assert "2026-11-11" not in answer, name
        assert name == "get_facts" or "00:30 +01:00" in answer, name
