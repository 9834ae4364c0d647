"""What a step says stands in its text, whichever way it came; what cannot be is refused by its name."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from builders.chats import Clock, mine
from builders.commands import Run
from builders.web import LocalClient

from episodic_agent import Memory
from episodic_agent.core.ingest import words
from episodic_agent.errors import IdTaken, InvalidInput, NotFound
from episodic_agent.faces.http.app import make_app
from episodic_agent.schemas import Reading

NAN = float("nan")
DRAWER = {
    "kind": "step",
    "action": "push the drawer in, press the ladle down with a spatula",
    "location": "kitchen",
    "content": "Second drawer, ladle caught. Outcome: drawer opens.",
}
TOLD = (
    "In the kitchen: push the drawer in, press the ladle down with a spatula; "
    "Second drawer, ladle caught. Outcome: drawer opens."
)


@pytest.fixture
def memory(tmp_path: Path, clock: Clock) -> Iterator[Memory]:
    with Memory.open(tmp_path / "steps.db", embedder="hashing", clock=clock) as opened:
        yield opened


def told(memory: Memory) -> list[str]:
    cards = mine(memory).episodes.list()
    return [o.text for card in cards for o in mine(memory).episodes.messages(card.episode_id)]


def test_a_step_with_content_keeps_its_action_and_place_and_is_found_by_them(memory: Memory) -> None:
    mine(memory).add(DRAWER)
    assert told(memory) == [TOLD]
    found = mine(memory).search("where is the spatula")
    assert [proof.observation.text for hit in found.hits for proof in hit.evidence] == [TOLD]


@pytest.mark.parametrize(
    ("step", "text"),
    [
        ({"content": "the light is blue"}, "the light is blue"),
        ({"content": "the light is blue", "location": "hall"}, "In the hall: the light is blue"),
        (
            {"content": "Take the mug in the kitchen.", "action": "take the mug", "location": "Kitchen"},
            "Take the mug in the kitchen.",
        ),
        ({"action": 3, "location": "bath"}, "In the bath: action 3"),
        ({"action": np.int64(3)}, "action 3"),
        ({"action": "look", "objects": "mug"}, "look; with mug"),
        ({"action": "wash", "outcome": "failure", "reward": -1.0}, "wash; failed; reward -1.0"),
        ({"action": "wash", "outcome": True}, "wash; succeeded"),
        ({"action": "pull", "outcome": "drawer opens"}, "pull; outcome: drawer opens"),
    ],
)
def test_a_step_is_told_in_one_text(memory: Memory, step: dict[str, Any], text: str) -> None:
    mine(memory).add({"kind": "step", **step})
    assert told(memory) == [text]


def test_what_failed_can_be_asked(memory: Memory) -> None:
    tasks = [("wipe the mirror", "success"), ("unscrew the tap", "failed"), ("fold the towel", "success")]
    mine(memory).add(
        [{"kind": "step", "action": a, "location": "bath", "outcome": o} for a, o in tasks], thread="t"
    )
    found = mine(memory).search("what failed in the bath?")
    assert "In the bath: unscrew the tap; failed" in [
        proof.observation.text for hit in found.hits for proof in hit.evidence
    ]


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"location": NAN}, "location must be a name or a finite number, not nan"),
        ({"location": {"x": NAN, "y": 2}}, "location is an object without a name"),
        ({"position": [1.0, NAN]}, "position must be finite numbers"),
        ({"location_confidence": 7}, "location_confidence must be a number between 0 and 1, not 7"),
        ({"location_confidence": NAN}, "location_confidence must be a number between 0 and 1, not nan"),
        ({"reward": NAN}, "reward must be a finite number, not nan"),
        ({"outcome": 3}, "outcome must be a text"),
        ({"objects": 3}, "objects must be a text or a list"),
        ({"action": True}, "action must be a text or a finite number, not a boolean"),
        ({"kind": "stepp"}, "no kind 'stepp'; did you mean 'step'"),
    ],
)
def test_what_a_step_cannot_be_is_refused_by_name(memory: Memory, wrong: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        mine(memory).add({"kind": "step", "action": "look", **wrong})
    assert named in str(refused.value)


def test_a_step_of_which_only_the_place_is_understood_is_unreadable(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "steps.json"
    path.write_text(
        json.dumps([{"room": "hall", "action": "look"}, {"room": "hall", "obs": "a mug", "act": "take"}]),
        encoding="utf-8",
    )
    answer = run("import", str(path))
    assert "of a step only its place is understood, not obs, act" in answer.out + answer.err


@pytest.mark.parametrize(
    ("key", "value", "meant"),
    [
        ("object", "mug", "objects"),
        ("objets", ["mug"], "objects"),
        ("event", "a thud", "events"),
        ("entity", {"label": "mug"}, "entities"),
        ("sucess", True, "outcome"),
        ("success", True, "outcome"),
        ("outcom", "failure", "outcome"),
        ("locaton", "hall", "location"),
    ],
)
def test_a_key_of_a_step_that_says_nothing_is_refused_with_the_one_meant(
    memory: Memory, key: str, value: Any, meant: str
) -> None:
    with pytest.raises(InvalidInput, match=f'unknown key "{key}"; did you mean "{meant}"'):
        mine(memory).add([{"kind": "step", "action": "look", key: value}], thread="tour")
    assert told(memory) == []


def test_keys_of_ones_own_stay_with_a_step(memory: Memory) -> None:
    own = {"battery": 0.4, "goal": "find the mug", "actions": ["look", "take"], "frame_id": 7}
    mine(memory).add({"kind": "step", "action": "look", **own, "extras": {"object": "mug"}})
    mine(memory).add({"role": "user", "content": "It went well.", "success": True, "object": "mug"})
    cards = mine(memory).episodes.list()
    extras = [o.extras for card in cards for o in mine(memory).episodes.messages(card.episode_id)]
    assert {**own, "action": "look", "object": "mug"} in extras
    assert {"success": True, "object": "mug"} in extras


def test_an_import_takes_steps_with_keys_of_another_program(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "steps.json"
    steps = [{"kind": "step", "action": "look", "object": "mug", "sucess": True, "location": "hall"}]
    path.write_text(json.dumps(steps), encoding="utf-8")
    assert run("import", str(path)).code == 0
    assert "In the hall: look" in run("search", "look").out


@pytest.mark.parametrize(
    ("label", "happened"),
    [
        ("Tom Reddy", "Tom Reddy appeared"),
        ("the fitter of Castle Care", "the fitter of Castle Care appeared"),
        ("a parcel", "a parcel appeared"),
        ("my daughter", "my daughter appeared"),
        ("apple", "an apple appeared"),
        ("mug", "a mug appeared"),
        ("喵", "喵 appeared"),
    ],
)
def test_no_article_stands_before_a_name_or_another_article(
    memory: Memory, label: str, happened: str
) -> None:
    step = {"kind": "step", "action": "open the door", "events": [{"type": "appearance", "label": label}]}
    mine(memory).add(step)
    assert told(memory) == [f"open the door; {happened}"]


@pytest.mark.parametrize(("kind", "label"), [("disappearance", "Tom Reddy"), ("moved", "Tom Reddy")])
def test_whoever_goes_has_no_article_either(memory: Memory, kind: str, label: str) -> None:
    mine(memory).add({"kind": "step", "action": "look", "events": [{"type": kind, "label": label}]})
    assert told(memory)[0].startswith("look; Tom Reddy ")


def test_a_step_that_an_older_release_stored_is_the_same_when_it_comes_again(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = {"kind": "step", "action": "look", "events": [{"type": "new", "label": "Tom"}], "id": "x1"}
    with monkeypatch.context() as older:
        older.setattr(words, "article_of", lambda article, _: f"{article} ")
        assert mine(memory).add(step)[0].added
    assert told(memory) == ["look; a Tom appeared"]
    assert not mine(memory).add(step)[0].added  # and no IdTaken


def test_a_title_names_each_place_in_which_what_it_tells_happened(memory: Memory) -> None:
    steps = [("living room", "look on the sofa"), ("hall", "look at the hook"), ("hall", "hang up the keys")]
    mine(memory).add([{"kind": "step", "location": p, "action": a} for p, a in steps], thread="t")
    memory.upkeep()
    (card,) = mine(memory).episodes.list()
    assert card.title == "Living room: look on the sofa; hall: look at the hook, hang up the keys"


@pytest.mark.slow
def test_http_takes_the_steps_that_python_takes(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "http.db"
    with LocalClient(make_app(lambda: Memory.open(path, embedder="hashing", clock=clock), clock)) as client:

        def post(**step: Any) -> Any:
            return client.post("/v1/users/ana/messages", json={"messages": [{"kind": "step", **step}]})

        assert post(action="look around", location="kitchen").status_code == 202
        assert post(action="look", location="hall", id="x1", content="dark").status_code == 202
        for other in ("bath", "hall"):
            answer = post(action="look", location=other, id="x1", content="dark")
            assert answer.status_code == (409 if other == "bath" else 202)
        wrong = post(action="look", location={"label": "hall"}, outcome="failed", reward=1.0)
        assert wrong.status_code == 202
        fields = client.get("/openapi.json").json()["components"]["schemas"]["NewMessage"]["properties"]
        assert {"kind", "action", "location", "objects", "events", "outcome", "reward"} <= set(fields)
        swallowed = post(action="look", object="mug")
        assert swallowed.status_code == 400
        assert 'unknown key "object"; did you mean "objects"' in swallowed.json()["detail"]
        missed = client.post("/v1/users/ana/sessions/nosuch/end", json={})
        assert missed.status_code == 404
        assert "no session 'nosuch'" in missed.json()["detail"]
        assert "GET /v1/users/{user}/sessions" in missed.json()["detail"]


def test_an_id_with_the_same_content_elsewhere_is_taken(memory: Memory) -> None:
    here = {"kind": "step", "content": "the hall and the bath are dark", "location": "hall", "id": "x1"}
    assert mine(memory).add(here)[0].added
    assert not mine(memory).add(here)[0].added
    with pytest.raises(IdTaken):
        mine(memory).add({**here, "location": "bath"})


class Wrong:
    name = "wrong"
    counts: Mapping[str, int] = MappingProxyType({})

    def __iter__(self) -> Iterator[Reading]:
        yield Reading(0, place="hall", action="look", text="a blue light")
        yield Reading(1, place=3)  # type: ignore[arg-type]
        yield Reading(2, place="hall", confidence=NAN)
        yield Reading(3, place="hall", entities=("mug",))  # type: ignore[arg-type]

    def close(self) -> None:
        pass


def test_a_run_says_which_field_of_a_reading_was_wrong_and_how_many_were_refused(memory: Memory) -> None:
    report = mine(memory).run(Wrong(), thread="t")
    assert report.refusals == [
        "reading 1: place must be a text or None, not a number",
        "reading 2: confidence must be a number between 0 and 1, not nan",
        "reading 3: entities must be a tuple of Entity, not of str",
    ]
    assert "3 refused" in repr(report)
    assert told(memory) == ["In the hall: look; a blue light"]


def test_an_unknown_session_is_said_to_be_one_and_an_empty_one_that_succeeded_is_not_abandoned(
    memory: Memory,
) -> None:
    mine(memory).add("hello")
    with pytest.raises(NotFound, match=r"no session 'nosuch'.*`sessions.list.*"):
        mine(memory).sessions.end("nosuch")
    session = mine(memory).sessions.start("make coffee")
    ended = mine(memory).sessions.end(session.id, "success")
    assert "success" in repr(ended)
    assert "abandoned" not in repr(ended)


def test_the_times_of_a_visit_stand_in_one_unit(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "steps.jsonl"
    minutes = [("kitchen", 0), ("kitchen", 178), ("hall", 180), ("kitchen", 420), ("kitchen", 598)]
    steps = [
        {"action": "look", "location": p, "timestamp": f"2026-03-01T{8 + m // 60:02}:{m % 60:02}:00Z"}
        for p, m in minutes
    ]
    path.write_text("".join(json.dumps(one) + "\n" for one in steps), encoding="utf-8")
    assert run("import", str(path)).code == 0
    newest = run("visits", "kitchen").out.splitlines()[1]
    assert "3.0 h" in newest
    assert " 4 h " in newest


def rug(day: int, action: str, outcome: object, *objects: str, place: str = "kitchen") -> dict[str, Any]:
    """Return a step of a day in November, as a robot tells it."""
    return {
        "kind": "step",
        "action": action,
        "objects": objects or ["rug"],
        "location": place,
        "outcome": outcome,
        "timestamp": f"2026-11-{day}T09:{10 + len(action) % 40}:00+00:00",
    }


@pytest.fixture
def household(memory: Memory) -> Memory:
    """Hold five days of a robot: what failed, what came right, and what was broken off."""
    days = {
        19: [
            rug(19, "drive across the rug", False),
            rug(19, "drive back straight over it", "failed"),
            rug(19, "turn left on the spot and pull away", True),
        ],
        20: [
            rug(20, "open the dishwasher by its handle", False, "dishwasher"),
            rug(20, "put all the mugs into the sink instead of it", True, "mugs", "sink"),
        ],
        21: [rug(21, "vacuum the carpet", "interrupted", "carpet", place="bedroom")],
        22: [rug(22, "fold the towels", "success", "towels", place="bath")],
        23: [rug(23, "look for the ring", "failure", "shelf", place="bath")],
    }
    for day, steps in days.items():
        mine(memory).add(steps, thread=f"day {day}")
        for thread in mine(memory).threads.list():
            mine(memory).threads.close(thread.id)
    mine(memory).flush()
    return memory


def days_of(memory: Memory, where: str) -> list[int]:
    return sorted(card.start_at.day for card in mine(memory).episodes.list(where=where))


@pytest.mark.parametrize(
    ("where", "days"),
    [
        ("outcome=failure", [20, 23]),
        ("outcome=failed", [20, 23]),
        ("outcome=success", [19, 22]),
        ("outcome=interrupted", [21]),
        ("outcome=ongoing", [21]),
    ],
)
def test_an_episode_came_out_as_the_last_try_of_its_steps(
    household: Memory, where: str, days: list[int]
) -> None:
    assert days_of(household, where) == days


@pytest.mark.parametrize(
    ("question", "steps"),
    [
        (
            "Which steps failed in the kitchen?",
            {
                "drive across the rug",
                "drive back straight over it",
                "turn left on the spot and pull away",
                "open the dishwasher by its handle",
            },
        ),
        ("what went wrong on 23 November?", {"look for the ring"}),
        ("Was ist am 23. November schiefgegangen?", {"look for the ring"}),
        ("qu'est-ce qui n'a pas marché le 23 novembre ?", {"look for the ring"}),
        ("¿qué falló el 23 de noviembre?", {"look for the ring"}),
        ("which jobs were interrupted?", {"vacuum the carpet"}),
        (
            "what worked?",
            {"drive across the rug", "drive back straight over it", "turn left on the spot and pull away"},
        ),
    ],
)
def test_what_failed_is_answered_by_the_outcomes_of_steps(
    household: Memory, question: str, steps: set[str]
) -> None:
    recall = mine(household).search(question, now="2026-11-24T09:00:00+00:00")
    assert not recall.abstained
    texts = [proof.observation.text for hit in recall.hits for proof in hit.evidence]
    assert {text.split(": ", 1)[1].split(";")[0] for text in texts} == steps
    assert recall.confidence > 0.9


def test_who_ends_a_session_says_how_it_ended(memory: Memory) -> None:
    session = mine(memory).sessions.start("find the ring")
    mine(memory).add([rug(23, "look for the ring", False)], thread=session.thread)
    mine(memory).sessions.end(session.id, outcome="abandoned")
    assert days_of(memory, "outcome=abandoned") == [23]


CROSSINGS = (
    (20, False, "left wheel caught in the fringe"),
    (21, False, "left wheel caught again"),
    (28, True, "diagonally, no catch"),
)


def test_titles_and_summaries_tell_what_failed_and_what_worked(memory: Memory) -> None:
    for day, outcome, content in CROSSINGS:
        crossing = rug(day, "drive across the rug to the fridge", outcome)
        mine(memory).add({**crossing, "content": content}, thread=f"log {day}")
    mine(memory).flush()
    words = {card.start_at.day: (card.title, card.summary) for card in mine(memory).episodes.list()}
    failed = "drive across the rug to the fridge (failed"
    assert words[20] == (
        f"Kitchen: {failed})",
        f"In the kitchen: {failed}: left wheel caught in the fringe).",
    )
    assert words[21][1] == f"In the kitchen: {failed}: left wheel caught again)."
    assert words[28] == (
        "Kitchen: drive across the rug to the fridge",
        "In the kitchen: drive across the rug to the fridge (diagonally, no catch).",
    )
    story = str(mine(memory).chains.replay("drive across the rug to the fridge"))
    assert "(failed: left wheel caught again)" in story
    assert "(diagonally, no catch)" in story


def test_a_summary_tells_what_made_a_failure_right(household: Memory) -> None:
    cards = {card.start_at.day: card for card in mine(household).episodes.list()}
    assert cards[19].summary == (
        "In the kitchen: drive across the rug (failed); drive back straight over it (failed); "
        "turn left on the spot and pull away (worked)."
    )
    assert cards[21].title == "Bedroom: vacuum the carpet (interrupted)"
    assert cards[22].summary == "In the bath: fold the towels."


def test_who_is_to_do_what_failed_is_told_first_what_worked_last(memory: Memory) -> None:
    request = "Drive across the kitchen rug to the sink"
    for day in range(10, 20):
        failed = rug(day, "drive across the kitchen rug to the sink", False)
        mine(memory).add({**failed, "content": f"caught for the {day}th time"}, thread=f"log {day}")
    mine(memory).add(rug(20, "drive over the rug diagonally", True), thread="log 20")
    mine(memory).flush()
    text = mine(memory).context(request, thread="new", at="2026-11-29T09:00:00Z", max_tokens=100).text
    assert "drive over the rug diagonally" in text
