"""The demonstration does what it says, judged by labels written by somebody who had not seen the rules."""

import importlib
import io
import json
import os
from contextlib import redirect_stdout
from math import ceil
from pathlib import Path

import pytest

from episodic_agent import Memory
from episodic_agent.data import demo_folder
from episodic_agent.faces.cli.main import main
from episodic_agent.providers.embedders.minilm import is_present
from episodic_agent.wiring import load_settings

DATA = demo_folder()
pytestmark = pytest.mark.slow  # the whole demonstration is made once
PROBLEM = "the embedding model is not at hand: `episodic models pull`"


MOST_LINES, WIDTH = 53, 100


def shown(*arguments: str) -> str:
    """Run the demonstration and return what it prints."""
    if not is_present(Path(load_settings().cache)):
        if os.environ.get("EPISODIC_TEST_MODEL") == "required":
            pytest.fail(PROBLEM)
        pytest.skip(PROBLEM)
    with redirect_stdout(io.StringIO()) as printed:
        main(["demo", *arguments])
    return printed.getvalue()


@pytest.fixture(scope="module")
def minute(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    output = tmp_path_factory.mktemp("shown") / "demo"
    return output, shown("--output", str(output))


@pytest.fixture(scope="module")
def folder(minute: tuple[Path, str]) -> Path:
    return minute[0]


@pytest.fixture(scope="module")
def text(minute: tuple[Path, str]) -> str:
    return minute[1]


def below(text: str, opening: str) -> list[str]:
    """Return the lines after the heading, or the question, that begins so."""
    lines = text.splitlines()
    return lines[next(at for at, line in enumerate(lines) if line.startswith(opening)) + 1 :]


def test_the_demo_is_read_in_a_minute(text: str, folder: Path) -> None:
    lines = [line.rstrip("─ ") for line in text.replace(str(folder), "demo").splitlines()]
    assert sum(max(1, ceil(len(line) / WIDTH)) for line in lines) <= MOST_LINES
    assert lines[0].startswith("Maya's bundled chats: 271 messages, 3 threads, 54 episodes.")


def test_the_demo_lists_its_newest_episodes_with_why_each_began(text: str) -> None:
    rows = below(text, "Maya's bundled chats")[:8]
    assert rows[-1].startswith("2025-05-03  assistant  One month of cello today")
    assert all(row.endswith("new subject") or "  pause of " in row for row in rows)


def test_the_demo_shows_a_cut_that_no_pause_explains(text: str) -> None:
    before, after, why, cues, *_ = below(text, "A new episode without a pause")
    assert before.startswith('before  assistant: "Good, that tells us the leak is above the valves')
    assert after.startswith(
        'after   Maya: "Bathroom water it is. On a happier note, Jonas and I want to go away'
    )
    assert why.startswith("Only 4 minutes apart; 32 minutes of silence earlier cut nothing.")
    assert "no words shared 0.9" in cues
    assert "silence 0." in cues


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (
            "When does Maya start at Tidewater?",
            'Maya, 28 Apr 2025: "THEY WANT ME. Tidewater just rang: offer at 66, start on 1 July, two days a week '
            'from home."',
        ),
        (
            "Where was Hanna's lost dog found?",
            'Hanna, 13 Apr 2025: "FOUND HIM. He was in the greenhouse of an old man at the allotments, asleep on a '
            'sack of seed potatoes!!!"',
        ),
        (
            "Who owns ticket ING-482?",
            'Priya, 14 Apr 2025: "OK. Ticket is ING-482, Maya owns it, update me on Thursday at the latest"',
        ),
        ("What is the name of Maya's dentist?", "nothing relevant"),
    ],
)
def test_the_demo_prints_the_sentence_that_answers_or_none(text: str, question: str, answer: str) -> None:
    assert below(text, f"? {question}")[0].strip() == answer


def test_the_demo_shows_a_fact_that_was_learned_and_what_took_the_place_of_another(text: str) -> None:
    rows = below(text, "Facts learned from Ana's chats")
    assert rows[:4] == [
        '3 Mar 2026 until 28 May 2026  "I\'m vegetarian."',
        'then since 28 May 2026        "I\'m no longer vegetarian, by the way. I eat fish again."',
        'since 3 Mar 2026              "I\'m allergic to walnuts, even traces of them."',
        'since 10 Jun 2026             "My sister Rita is here on Saturday, she can\'t stand mushrooms."',
    ]


def test_the_demo_shows_what_a_prompt_is_told_of_the_diet_and_the_allergy(text: str) -> None:
    rows = below(text, "The text for a prompt")
    context = [line.strip() for line in rows[: next(n for n, line in enumerate(rows) if line[0] != " ")]]
    assert len(context) <= 13
    # what somebody must not or does not eat is told to whoever asks what to cook
    assert context[:3] == [
        "What is known:",
        '- "I\'m allergic to walnuts, even traces of them." (2026-03-03)',
        '- "I\'m no longer vegetarian, by the way. I eat fish again." (2026-05-28)',
    ]
    assert any(line.startswith("- My sister Rita is here on Saturday, she can't stand") for line in context)
    assert not any("I'm vegetarian" in line for line in context)
    assert "Current question: What shall I cook on Saturday?" in context


def test_the_demo_names_its_other_parts_and_a_command_to_try(text: str, folder: Path) -> None:
    rows = below(text, "More")
    for row, flag in zip(rows, ("--channels", "--arc", "--agent", "--year"), strict=False):
        assert f" demo {flag} " in row
    assert f"{folder / 'boundaries.png'}" in rows[4]
    assert f"--db {folder / 'memory.db'} search" in rows[5]


def test_the_demo_tells_scripts_the_same(tmp_path: Path) -> None:
    said = json.loads(shown("--json", "--output", str(tmp_path / "json")))
    assert [len(said["episodes"]), len(said["answers"])] == [54, 4]
    assert [answer["abstained"] for answer in said["answers"]] == [False, False, False, True]
    assert said["cut"]["begins"]["reason"] == "topic_shift"
    replaced, *lasting = sorted(said["facts"], key=lambda fact: fact["invalid_at"] or "~")
    assert replaced["superseded_by"] in {fact["id"] for fact in lasting}
    assert "walnuts" in said["context"]["text"]


def test_the_demo_leaves_a_picture_and_the_episodes_as_markdown(folder: Path) -> None:
    assert (folder / "boundaries.png").read_bytes().startswith(b"\x89PNG")
    pages = sorted((folder / "episodes").glob("*.md"))
    assert len(pages) > 20
    assert all(page.read_text(encoding="utf-8").startswith("# ") for page in pages)


def test_the_demo_cuts_where_a_careful_reader_would(folder: Path) -> None:
    labels = json.loads((DATA / "boundaries.json").read_text(encoding="utf-8"))
    right = limit = index = 0
    with Memory.open(folder / "memory.db") as memory:
        for thread, ids in labels.items():
            cards = memory.user("maya").episodes.list(thread=thread)
            starts = {memory.user("maya").episodes.messages(c.episode_id)[0].external_id for c in cards[1:]}
            expected = set(ids[1:])  # the first label is the conversation's beginning
            right += len(starts & expected)
            limit += len(expected)
            index += len(starts)
    assert right / index >= 0.7  # seldom a boundary where nothing begins
    assert 2 * right / (limit + index) >= 0.8


def test_the_demo_answers_its_questions_with_the_messages_that_prove_it(folder: Path) -> None:
    questions = json.loads((DATA / "questions.json").read_text(encoding="utf-8"))
    with Memory.open(folder / "memory.db") as memory:
        for question in questions:
            recall = memory.user("maya").search(question["question"], observations=10)
            shown = {e.id for e in recall.observations}
            targets = {e["id"] for e in question["evidence"]}
            assert recall.abstained == (not targets), question["question"]
            assert not targets or shown & targets, question["question"]


def test_the_demo_lets_an_agent_walk_through_a_house_and_asks_it_by_place(tmp_path: Path) -> None:
    folder = tmp_path / "agent"
    text = shown("--agent", "--output", str(folder))
    for name in ("household.png", "map.png"):
        assert (folder / name).read_bytes().startswith(b"\x89PNG")
        assert str(folder / name) in text
    assert text.startswith("An agent in a house: 160 steps, 13 episodes")
    assert "agent: In the hallway: the postman brings a parcel" in "\n".join(below(text, "? Who brought"))
    with Memory.open(folder / "memory.db") as memory:
        seen = memory.user("robot").places.list(thread="household")
        assert {card.label for card in seen.places} >= {"kitchen", "hallway", "living room", "bathroom"}
        assert sum(card.steps for card in seen.places) == memory.user("robot").stats().observations >= 150
        kitchen = memory.user("robot").search("What happened in the kitchen?", limit=1).hits[0]
        assert memory.user("robot").episodes.get(kitchen.episode_id).metadata["location"] == "kitchen"
        (proof,) = (
            memory.user("robot").search("Who brought the parcel?", limit=1, observations=1).observations
        )
        assert "postman" in proof.observation.text


def test_what_one_user_of_the_demo_says_is_none_of_the_others(folder: Path) -> None:
    with Memory.open(folder / "memory.db") as memory:
        known = [card.fact.value for card in memory.user("maya").facts.list(limit=1000)]
        assert known
        assert not any("Rita" in value for value in known)
        assert memory.user("ana").search("Where was the lost dog found?").abstained


def test_a_folder_with_other_things_is_never_emptied(tmp_path: Path) -> None:
    (tmp_path / "diary.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(SystemExit) as left:
        main(["demo", "--output", str(tmp_path)])
    assert left.value.code == 2
    assert (tmp_path / "diary.txt").read_text(encoding="utf-8") == "mine"


def test_the_demo_tells_one_story_over_three_channels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = shown("--channels")
    folder = tmp_path / "demo-channels"
    assert "web 2026-03-09T18:00:00Z goes on with sms 2026-03-02T09:10:00Z" in text
    assert "Your passport, the title of the car" in "\n".join(below(text, "What the next prompt is told"))
    with Memory.open(folder / "memory.db") as memory:
        asked, *_ = (t for t in memory.user("tim").threads.list() if t.channels == ("web",))
        linked = {card.earlier.channels for card in memory.user("tim").links.list(thread=asked.origin)}
        assert linked == {("sms", "whatsapp")}  # and not the oat milk
        context = memory.user("tim").context(
            "Remember when we talked about registering my car? Which papers were it?",
            channel="web",
            form="seed-002",
        )
    assert "Your passport, the title of the car" in context.text
    assert "oat milk" not in context.text


def test_the_demo_tells_a_hunt_of_three_days_and_draws_it(tmp_path: Path) -> None:
    folder = tmp_path / "arc"
    printed = shown("--arc", "--output", str(folder))
    assert "· 3 sessions · 3 days" in printed
    assert (folder / "arc.png").read_bytes().startswith(b"\x89PNG")
    with Memory.open(folder / "memory.db") as memory:
        days = ["monday", "tuesday", "wednesday"]
        threads = {thread.id: thread.origin for thread in memory.user("noor").threads.list()}
        last = memory.user("noor").sections.list(limit=1)[0].episode_id
        for episodes in (memory.user("noor").chains.get(last), memory.user("noor").chains.tree(last)):
            assert [threads[one.thread_id] for one in episodes] == days  # neither bread nor cake
        assert [threads[one.thread_id] for one in memory.user("noor").chains.sequence("memory leak")] == days
        text = memory.user("noor").chains.replay("memory leak")
    assert text.startswith("📜 Episode history for 'memory leak' (3 episodes):")
    assert text.count("(continues from ") == 2


def test_without_matplotlib_the_demo_tells_all_and_how_to_get_its_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    present = importlib.import_module

    def missing(name: str, package: str | None = None) -> object:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return present(name, package)

    monkeypatch.setattr("episodic_agent.faces.plot.figure.importlib.import_module", missing)
    text = shown("--arc", "--output", str(tmp_path / "arc"))
    assert "· 3 sessions · 3 days" in text
    assert "pip install '.[plot]'" in text
    assert not (tmp_path / "arc" / "arc.png").exists()
