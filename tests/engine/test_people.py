"""One person under several names: found, told, erased and exported as one, and taken apart again."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from builders.chats import START, Clock
from conftest import OpenMemory

from episodic_agent import Memory, UserMemory
from episodic_agent.core.people.joining import People
from episodic_agent.engine.people.naming import analysed_by_name
from episodic_agent.errors import InvalidInput, NotFound

NEAREST = r"nobody called 'Tom Whitfeld' .* here: 'Tom Whitfield', .*'Tom Berg', .*'ana'"
TOMS = {"Tom W", "Tom Whitfield", "tom.whitfield@example.org"}
LADDER, KEY, SAILS = (
    "I'll bring the ladder to the club on Saturday, promised.",
    "The key of the boat shed lies under the blue pot.",
    "I live in Bristol now. I will send the invoice for the sails on Monday.",
)
CHATS = {
    "slack": [
        ("Tom W", LADDER),
        ("ana", "Thanks! I will pay Tom W back for the paint tomorrow."),
        ("Tom Berg", "I have two ladders in the cellar, too."),
    ],
    "whatsapp": [
        ("Tom Whitfield", KEY),
        ("Ana Kovac (she/her)", "I'll call the harbour master about the boat shed."),
        ("Tom Berg", "I'm allergic to walnuts, no cake for me."),
    ],
    "email": [("tom.whitfield@example.org", SAILS), ("Ana K.", "I'll forward the contract for the sails.")],
}  # fmt: skip


def fill(ana: UserMemory) -> UserMemory:
    at = START
    for channel, lines in CHATS.items():
        messages = []
        for name, text in lines:
            messages.append({"name": name, "content": text, "timestamp": (at := at + timedelta(minutes=1))})
        ana.add(messages, thread=f"club on {channel}", channel=channel)
        at += timedelta(days=1)
    ana.flush()
    return ana


def join(ana: UserMemory) -> None:
    ana.people.same("Tom W", "Tom Whitfield")
    ana.people.same("tom.whitfield@example.org", "Tom W")
    ana.people.same("ana", "Ana K.")
    ana.people.same("Ana K.", "Ana Kovac (she/her)")


@pytest.fixture
def ana(url: str) -> Iterator[UserMemory]:
    with Memory.open(url, embedder="hashing") as memory:
        yield fill(memory.user("ana", new=True))


@pytest.fixture
def club(memory: Memory) -> UserMemory:
    return fill(memory.user("ana", new=True))


def said(ana: UserMemory, question: str = "what was said?", **narrow: str) -> dict[str, str]:
    answer = ana.search(question, limit=20, observations=20, **narrow)  # type: ignore[arg-type]
    return {one.observation.text: one.observation.actor for one in answer.observations}


def test_a_speaker_is_found_under_every_name_and_none_of_another(ana: UserMemory) -> None:
    assert {*said(ana, speaker="Tom W")} == {LADDER}
    join(ana)
    for name in (*TOMS, "tom w"):
        assert said(ana, speaker=name) == dict.fromkeys((LADDER, KEY, SAILS), "Tom Whitfield")
        assert len(ana.episodes.list(speaker=name)) == 3
    ana.people.apart("Tom W")
    assert said(ana, speaker="Tom W") == {LADDER: "Tom W"}
    assert said(ana, speaker="Tom Whitfield") == dict.fromkeys((KEY, SAILS), "Tom Whitfield")


def test_nothing_stored_changes_and_apart_leaves_what_was(club: UserMemory) -> None:
    messages = [line for line in club.export() if '"observation"' in line]
    join(club)
    assert [line for line in club.export() if '"observation"' in line] == messages
    for name in ("Tom W", "Tom Whitfield", "Ana K.", "Ana Kovac (she/her)"):
        club.people.apart(name)
    assert {one.name for one in club.people.list()} == {
        "ana",
        "Ana K.",
        "Ana Kovac (she/her)",
        "Tom Berg",
        *TOMS,
    }


def test_people_are_listed_with_all_that_is_known_of_them(ana: UserMemory) -> None:
    join(ana)
    tom, user, berg = ana.people.list()
    assert (tom.name, {*tom.names}, tom.messages) == ("Tom Whitfield", TOMS, 3)
    assert [*tom.channels] == ["email", "slack", "whatsapp"]
    assert (tom.first_at, tom.last_at) == (START + timedelta(minutes=1), START + timedelta(days=2, minutes=7))
    assert (user.name, {*user.names}, user.is_user) == ("ana", {"ana", "Ana K.", "Ana Kovac (she/her)"}, True)
    assert (berg.name, [*berg.names], [*berg.proposed]) == ("Tom Berg", ["Tom Berg"], [])


def test_likely_names_are_proposed_and_not_joined_and_a_no_is_kept(club: UserMemory) -> None:
    def perhaps() -> dict[str, set[str]]:
        return {card.name: {one.name for one in card.proposed} for card in club.people.list()}

    assert perhaps()["Tom W"] == TOMS - {"Tom W"}
    assert perhaps()["Ana K."] == {"Ana Kovac (she/her)"}
    assert perhaps()["Tom Berg"] == set()
    club.people.apart("Tom W", "Tom Whitfield")
    assert perhaps()["Tom W"] == {"tom.whitfield@example.org"}
    club.people.same("Tom Whitfield", "tom.whitfield@example.org")
    assert perhaps()["Tom W"] == set()  # what is not Tom Whitfield is none of his names


def test_contexts_cards_and_answers_have_one_name(ana: UserMemory) -> None:
    def text() -> str:
        context = ana.context("What did Tom say of the boat shed and the ladder?", thread="new").text
        answer = ana.retrieve("What is with the boat shed, the sails and the ladder?", detail="high")
        cards = [f"{card.title} {card.summary}" for card in ana.episodes.list()]
        story = ana.chains.replay("the boat shed, the sails and the ladder")
        return "\n".join([context, answer, *cards, story])

    before = text()
    assert all(f"{name}" in before for name in ("Tom W", "tom.whitfield@example.org", "Ana K."))
    join(ana)
    after = text()
    assert "Tom Whitfield said:" in after
    for name in ("Tom W said", "Tom W:", "tom.whitfield@example.org", "Ana K.", "she/her"):
        assert name not in after


def test_parts_of_a_long_thread_are_told_under_one_name(club: UserMemory) -> None:
    things = ("mast", "sail", "keel", "rope", "anchor", "deck", "hull", "oar", "bow", "stern") * 3
    lines = [
        {
            "name": ("Tom W", "Tom Berg", "Tom Whitfield")[n % 3],
            "content": f"We decided that the {thing} number {n} goes to the harbour, and I will paint it.",
            "timestamp": START + timedelta(days=5, minutes=n),
        }
        for n, thing in enumerate(things)
    ]
    club.add(lines, thread="paint")
    club.flush()
    club.sections.compact(thread="paint")
    (part,) = club.sections.list(thread="paint")
    assert "Tom W: " in part.micro + part.meso
    assert "Tom W: " in part.macro
    join(club)
    (part,) = club.sections.list(thread="paint")
    assert "Tom Whitfield: " in part.macro
    assert "Tom W: " not in part.micro + part.meso + part.macro


def test_promises_are_the_persons_under_any_name(ana: UserMemory) -> None:
    join(ana)
    for question in ("What did Tom W promise?", "What did Tom Whitfield promise?"):
        answer = ana.search(question)
        assert answer.query == question
        assert {one.by for one in answer.commitments} == {"Tom Whitfield"}
        assert {one.observation.text for one in answer.commitments} == {LADDER, SAILS}
        assert all(text in ana.context(question, thread="new").text for text in (LADDER, SAILS))


def test_a_prompt_is_told_what_one_of_two_with_a_first_name_took_on(club: UserMemory) -> None:
    sign = "I'll repaint the sign of the club next week, promised."
    club.add({"name": "Tom Berg", "content": sign, "timestamp": START + timedelta(days=4)}, thread="sign")
    join(club)
    text = club.context("What did Tom W promise?", thread="new").text
    assert LADDER in text
    assert sign not in text


def test_ranking_knows_who_spoke_by_the_name_that_is_shown(club: UserMemory) -> None:
    join(club)
    with club._at.read() as tx:
        refs = tx.observations.having("actor", ["Tom Whitfield"])
        marks = tx.index.observation_marks(np.array(refs, np.int64))
    assert [mark.actor for mark in marks] == ["Tom Whitfield"] * 3


def test_i_am_whose_memory_it_is_whatever_they_write_under() -> None:
    people = People("ana", (("ana", "Ana K."),))
    query = analysed_by_name(people, "What did I say of the sails?", ["ana", "Tom W"], START)
    assert query.speakers == {"ana"}


def test_who_took_part_is_found_under_any_name(ana: UserMemory) -> None:
    join(ana)
    assert len(ana.episodes.list(where="participant=Tom W")) == 3
    assert len(ana.episodes.list(where="participant=Tom Berg")) == 2


def test_what_whose_memory_it_is_said_under_any_name_is_theirs(club: UserMemory) -> None:
    join(club)
    assert {*said(club, speaker="user").values()} == {"ana"}
    assert len(said(club, speaker="Ana K.")) == 3
    assert {one.by for one in club.search("What did I promise?").commitments} == {"ana"}
    assert len(club.search("What did I promise?").commitments) > 1


def test_facts_are_about_the_person_under_any_name(ana: UserMemory) -> None:
    ana.facts.consolidate()
    join(ana)
    for name in TOMS:
        cards = ana.facts.list(subject=name)
        assert any("Bristol" in card.fact.fact for card in cards)
        assert all(card.fact.fact.startswith("Tom Whitfield: ") for card in cards)
        assert {ana.facts.get(card.id).fact.subject for card in cards} == {"Tom Whitfield"}


def test_erasing_a_speaker_erases_every_name_and_what_was_said_of_them(ana: UserMemory) -> None:
    join(ana)
    preview = ana.erase(speaker="Tom W", dry_run=True)
    assert ({*preview.names}, preview.counts["observations"]) == (TOMS, 3)
    assert "tom.whitfield@example.org" in repr(preview)
    done = ana.erase(speaker="Tom W")
    assert (done.counts["observations"], {*done.names}, done.residue) == (3, TOMS, 0)
    assert {one.name for one in ana.people.list()} == {"ana", "Tom Berg"}
    assert not any("Tom W" in line or "tom.whitfield@" in line for line in ana.export() if '"person"' in line)


def test_a_name_that_joined_two_others_may_be_erased_alone(club: UserMemory) -> None:
    club.people.same("Tom W", "Tom Whitfield")
    club.people.same("Tom Whitfield", "tom.whitfield@example.org")
    club.erase(thread="club on whatsapp")
    assert {*club.people.list()[0].names} == {"Tom W", "tom.whitfield@example.org"}


def test_an_export_takes_names_along_and_the_past_knows_those_of_then(
    club: UserMemory, open_memory: OpenMemory, tmp_path: Path, clock: Clock
) -> None:
    join(club)
    clock.forward(minutes=1)
    moment = clock()
    clock.forward(minutes=1)
    club.people.apart("Tom W")
    assert {*said(club.as_of(moment), speaker="Tom W")} == {LADDER, KEY, SAILS}
    assert {*said(club, speaker="Tom W")} == {LADDER}
    path = tmp_path / "export.jsonl"
    path.write_text("".join(f"{line}\n" for line in club.export()), encoding="utf-8")
    other = open_memory(tmp_path / "other.db").user("ana", new=True)
    for _ in range(2):
        other.import_file(path)
        assert [(one.name, {*one.names}) for one in other.people.list()] == [
            (one.name, {*one.names}) for one in club.people.list()
        ]


def test_names_are_of_one_memory_alone(club: UserMemory, memory: Memory) -> None:
    join(club)
    bea = fill(memory.user("bea", new=True))
    assert {*said(bea, speaker="Tom W")} == {LADDER}
    club.erase(everything=True)
    ana = fill(memory.user("ana", new=True))
    assert {*said(ana, speaker="Tom W")} == {LADDER}


def test_a_wrong_name_is_answered_with_who_there_is_the_nearest_first(club: UserMemory) -> None:
    with pytest.raises(NotFound, match=NEAREST):
        club.people.same("Tom W", "Tom Whitfeld")
    for wrong, names in (("one name", ("Tom W", "tom w")), ("one of the names", ("Tom W", "Tom Whitfield"))):
        with pytest.raises(InvalidInput, match=wrong):
            club.people.same(*names, shown="Tom Berg")
    with pytest.raises(InvalidInput, match="goes by no other name"):
        club.people.apart("Tom Berg")


def test_the_name_to_show_may_be_chosen(club: UserMemory) -> None:
    assert club.people.same("Tom W", "Tom Whitfield", shown="Tom W").name == "Tom W"
    assert said(club, speaker="Tom Whitfield")[KEY] == "Tom W"
    assert club.people.same("Tom W", "Tom Whitfield", shown="Tom Whitfield").name == "Tom Whitfield"
