"""Forgetting a message by its caller's own id, and a person by name, in every face."""

from contextlib import nullcontext

import pytest
from builders.chats import USER, mine
from builders.commands import Run
from builders.web import LocalClient
from conftest import OpenMemory

from episodic_agent import Memory
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.faces.http.app import make_app
from episodic_agent.faces.tools.calling import Tools
from episodic_agent.wiring import utc_now

CAKE = "Grandmother's quokkazanzibar cake stands in my cellar"
GROUP = [
    {"id": "d1", "name": "Tom", "content": CAKE},
    {"id": "d2", "role": "user", "content": "I live in Kiel and I love the sea"},
    {"id": "d3", "name": "Mia", "content": "Then Tom must bring it on Sunday"},
    {"id": "d4", "name": "tom", "content": "I live in Oldenburg, so I come by train"},
]


@pytest.fixture
def group(memory: Memory) -> Memory:
    mine(memory).add(GROUP, thread="group")
    mine(memory).flush()
    return memory


def test_a_message_is_forgotten_by_the_id_it_was_added_with(group: Memory) -> None:
    preview = mine(group).erase(observation="d1", dry_run=True)
    done = mine(group).erase(observation="d1")
    assert (preview.counts["observations"], done.state, done.residue) == (1, "done", 0)
    assert mine(group).erasures.list(observation="d1") == [done]
    with pytest.raises(NotFound, match="observation d1 is erased already"):
        mine(group).erase(observation="d1")
    with pytest.raises(NotFound, match="no observation 'd77'; give the id it was added with"):
        mine(group).erase(observation="d77")
    (receipt,) = mine(group).add(GROUP[0], thread="group")
    assert not receipt.added


def test_an_id_of_several_sources_says_how_to_be_precise(group: Memory) -> None:
    (other,) = mine(group).add({"id": "d2", "content": "The sea is cold"}, thread="work")
    with pytest.raises(InvalidInput, match=f"several messages have the id 'd2'.*{other.id}.*sea is cold"):
        mine(group).erase(observation="d2")
    assert mine(group).erase(observation=other.id).state == "done"
    assert mine(group).erase(observation="d2").state == "done", "the other one is left"


def test_a_turn_is_traced_by_the_id_it_was_added_with(group: Memory) -> None:
    assert next(one.text for one in mine(group).trace.turn("d2", text=True).messages) == GROUP[1]["content"]


def test_a_part_of_a_name_erases_nobody_and_the_error_says_which_to_give(group: Memory) -> None:
    for who in ("Joanne (Fenwick Mills)", "Joanne Okafor"):
        mine(group).add({"name": who, "content": f"{who} said so"}, thread="mail")
    both = r"did you mean 'Joanne .*' or 'Joanne .*'\? Give the whole name"
    for name, guess in (("joanne", both), ("Fenwick Mills", r"mean 'Joanne \(Fenwick Mills\)'\? Give")):
        with pytest.raises(NotFound, match=guess):
            mine(group).erase(speaker=name)
    assert mine(group).erase(speaker="joanne okafor", dry_run=True).counts["observations"] == 1


def test_a_receipt_says_that_others_repeat_it_where_they_do(group: Memory) -> None:
    mine(group).add({"name": "Mia", "content": CAKE}, thread="mail")
    assert "repeated by 1 kept message" in repr(mine(group).erase(observation="d1"))
    assert "repeated" not in repr(mine(group).erase(observation="d2"))


@pytest.mark.slow
def test_all_that_a_speaker_said_is_forgotten_and_what_others_said_stays(url: str) -> None:
    with Memory.open(url, embedder="hashing") as memory:
        mine(memory).add(GROUP, thread="group")
        mine(memory).add({"name": "Tom", "content": "My train leaves at noon"}, thread="travel")
        mine(memory).flush()
        mine(memory).facts.consolidate()
        assert "Oldenburg" in str(mine(memory).facts.list())
        preview = mine(memory).erase(speaker="Tom", dry_run=True)
        done = mine(memory).erase(speaker="Tom")
        assert (preview.what, preview.state, preview.counts["observations"]) == ("speaker", "preview", 3)
        assert (done.counts["observations"], done.state, done.residue) == (3, "done", 0)
        assert mine(memory).erasures.list(speaker="tom") == [done]
        assert mine(memory).erasures.residue([CAKE, "Oldenburg", "train leaves"]) == []
        assert "Oldenburg" not in str(mine(memory).facts.list())
        assert "Then Tom must bring it" in "\n".join(mine(memory).export())
        assert [f.message for f in memory.doctor() if f.severity == "error"] == []
        with pytest.raises(NotFound, match=r"nothing that 'Tom' said is in this memory; .*'Mia'"):
            mine(memory).erase(speaker="Tom")


@pytest.mark.parametrize("name", ["lena", "Lena", "user"])
def test_the_owner_is_a_speaker_by_their_own_name(memory: Memory, name: str) -> None:
    lena = memory.user("lena")
    lena.add([*GROUP, {"name": "Lena", "content": "Lena writes from the group"}], thread="group")
    assert lena.erase(speaker=name).counts["observations"] == 2
    assert "Kiel" not in "\n".join(lena.export())


def test_a_speaker_who_is_misspelt_is_asked_for(group: Memory) -> None:
    with pytest.raises(NotFound, match="did you mean 'Mia'"):
        mine(group).erase(speaker="Miaa")
    with pytest.raises(InvalidInput, match="`speaker` is empty"):
        mine(group).erase(speaker=" ")
    with pytest.raises(InvalidInput, match="or speaker, words, or everything"):
        mine(group).erase(speaker="Mia", thread="group")


def test_a_person_who_was_renamed_is_named_beside(run: Run, open_memory: OpenMemory) -> None:
    with open_memory() as memory:
        user = mine(memory)
        for name in ("Greta", "Greta", "Greta Lindqvist", "Farid"):
            user.add({"name": name, "content": f"{name} is at the hall"}, thread="group")
        preview = user.erase(speaker="Greta Lindqvist", dry_run=True)
        assert (preview.near_names, preview.counts["observations"]) == ({"Greta": 2}, 1)
        assert "'Greta' spoke 2 times, too" in repr(preview)
        assert user.erase(speaker="Farid", dry_run=True).near_names == {}
        assert user.erase(speaker="greta").near_names == {"Greta Lindqvist": 1}
    out = run("forget", "speaker", "Greta Lindqvist", "--dry-run").out
    assert "of like names" not in out
    with open_memory() as memory:
        mine(memory).add({"name": "Gretta Lindqvist", "content": "I brought the rope"}, thread="group")
    out = run("forget", "speaker", "Greta Lindqvist", "--dry-run").out
    assert "kept, of like names: 'Gretta Lindqvist': 1 message" in out


def test_commands_take_both(run: Run, open_memory: OpenMemory) -> None:
    with open_memory() as memory:
        mine(memory).add(GROUP, thread="group")
    assert "observation d3 would go: 1 observation" in run("forget", "observation", "d3", "--dry-run").out
    assert "everything Tom said would go: 2 observations" in run("forget", "speaker", "Tom", "--dry-run").out
    assert "quokkazanzibar" in run("search", "cellar").out
    assert "done, residue 0" in run("forget", "speaker", "Tom", "--yes").out
    assert run("forget", "check", "quokkazanzibar").out == "nothing of it is left\n"
    assert run("forget", "observation", "d3", "--yes").code == 0
    assert "speaker" in run("forget", "receipts").out


def test_the_service_takes_both(group: Memory) -> None:
    base = f"/v1/users/{USER}"
    with LocalClient(make_app(lambda: nullcontext(group), utc_now)) as client:
        preview = client.delete(f"{base}/speakers/Tom", params={"dry_run": "true"}).json()
        assert (preview["what"], preview["counts"]["observations"]) == ("speaker", 2)
        assert client.delete(f"{base}/observations/d3").json()["state"] == "done"
        assert client.delete(f"{base}/speakers/Tom").json()["state"] == "done"
        assert client.delete(f"{base}/speakers/Tom").status_code == 404
    assert "quokkazanzibar" not in "\n".join(mine(group).export())


def test_a_tool_takes_both(group: Memory) -> None:
    tools = Tools(mine(group))
    assert tools.call("forget_memory", {"speaker": "Tom"}).startswith("speaker Tom would be erased")
    assert tools.call("forget_memory", {"speaker": "Tom", "confirm": True}).startswith(
        "speaker Tom is erased"
    )
    assert "is erased" in tools.call("forget_memory", {"observation_id": "d3", "confirm": True})


def test_a_person_who_never_spoke_is_forgotten_by_name_in_every_face(
    run: Run, open_memory: OpenMemory
) -> None:
    talk = [
        {"id": "e1", "role": "user", "content": "Tom   Adler still has my slow cooker and my quokkaspoon"},
        {"id": "e2", "role": "user", "content": "the tomato soup was lovely"},
        {"id": "e3", "role": "assistant", "content": "Shall I write to Tom\nAdler about the cooker?"},
        {"id": "e4", "role": "user", "content": "he is tom adler, not Tom"},
        {"id": "e5", "role": "user", "content": "My sister Hannah likes Vera's bread"},
    ]
    with open_memory() as memory:
        ana = mine(memory)
        ana.add(talk, thread="talk")
        ana.flush()
        seen = ana.erase(words="tom adler", dry_run=True)
        assert (seen.what, seen.state, seen.counts["observations"]) == ("words", "preview", 3)
        with pytest.raises(InvalidInput, match="`words` are empty"):
            ana.erase(words="  ")
        with pytest.raises(NotFound, match="nothing holds 'toma'; words are compared whole"):
            ana.erase(words="toma")
        tools = Tools(ana)
        assert tools.call("forget_memory", {"words": "Vera's"}).startswith("words Vera's would be erased")
        with LocalClient(make_app(lambda: nullcontext(memory), utc_now)) as client:
            answer = client.delete(f"/v1/users/{USER}/words/vera's", params={"dry_run": "true"}).json()
        assert (answer["what"], answer["counts"]["observations"]) == ("words", 1)
    shown = run("forget", "words", "tom adler", "--yes").out
    assert "3 observations" in shown
    assert "done, residue 0" in shown
    with open_memory() as memory:
        ana = mine(memory)
        assert [one.what.value for one in ana.erasures.list(words=" TOM  adler")] == ["words"]
        assert ana.erasures.residue(["quokkaspoon", "Shall I write"]) == []
        kept = "\n".join(ana.export())
        assert "tomato" in kept
        assert "quokkaspoon" not in kept


def test_a_name_goes_out_of_titles_sessions_and_facts_by_hand(open_memory: OpenMemory) -> None:
    with open_memory() as memory:
        ana = mine(memory)
        ana.add("The movers come on Friday, they want the stairs clear", thread="move")
        ana.threads.rename("move", "What Tom Adler lent")
        opened = ana.sessions.start("A call with Tom Adler", participants=["Tom Adler", "Ana"])
        ana.add("We agreed on the price of the van", thread=opened.thread)
        ana.sessions.end(opened.id, key_decisions=["Tom  Adler drives", "The van is hired"])
        ana.add("I'm allergic to walnuts.", thread="food")
        ana.flush()
        fact = next(card for card in ana.facts.list() if "walnuts" in card.fact.value)
        ana.facts.edit(fact.id, text="allergic to walnuts, says tom adler")
        assert ana.erase(words="Tom Adler", dry_run=True).counts["titles"] == 1
        assert "Tom Adler" in "\n".join(ana.export())
        made = ana.erase(words="Tom Adler")
        assert (made.counts["titles"], made.counts["sessions"], made.counts["facts"]) == (1, 1, 1)
        assert made.state == "done"
        assert ana.erasures.residue(["Tom Adler", "tom  adler"]) == []
        session = ana.sessions.list()[0]
        assert "Ana" in session.participants
        with pytest.raises(NotFound, match="nothing holds 'Tom Adler'"):
            ana.erase(words="Tom Adler")
