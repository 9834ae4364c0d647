"""Titles and summaries of a robot's jobs: what was asked for or done, whatever somebody remarked meanwhile."""

from datetime import timedelta

from builders.chats import Clock, mine
from builders.robots import EIGHT, coffee

from episodic_agent import Memory

LAUNDRY = tuple(
    ("bath", action)
    for action in (
        "open the basket",
        "take the white laundry out",
        "put the white laundry into the drum",
        "start the drum",
        "fold the dry laundry",
        "carry the laundry to the cupboard",
    )
)
REMARK = "Good idea, the ladle belongs on the hook from now on"
TOLD = (
    "In the bath: open the basket; take the white laundry out; put the white laundry into the drum.",
    f"The user said: {REMARK}.",
    "In the bath: start the drum; fold the dry laundry; carry the laundry to the cupboard.",
)


def titled(memory: Memory, clock: Clock, rows: list[dict[str, object]]) -> list[tuple[str, str]]:
    clock.now = EIGHT + timedelta(hours=2)
    mine(memory).add(rows, thread="robot")
    mine(memory).flush()
    return [(card.title, card.summary) for card in reversed(mine(memory).episodes.list())]


def test_a_job_is_titled_by_the_request_that_started_it(memory: Memory, clock: Clock) -> None:
    ((title, summary),) = titled(memory, clock, coffee(0))
    assert title == "Make me a coffee"
    assert summary == (
        "The user said: Please make me a coffee. In the kitchen: fill the tank; put grounds in; shut the lid; "
        "press the button. In the living room: carry the mug; hand Mira the mug."
    )


def test_a_job_named_without_please_is_known_by_what_is_done_then(memory: Memory, clock: Clock) -> None:
    ((title, _),) = titled(memory, clock, coffee(0, "Sort the laundry", job=LAUNDRY))
    assert title == "Sort the laundry"


def test_one_remark_does_not_take_over_a_job(memory: Memory, clock: Clock) -> None:
    rows = coffee(0, "", job=LAUNDRY)
    remark = {"role": "user", "content": REMARK, "timestamp": rows[2]["timestamp"] + timedelta(seconds=5)}
    ((title, summary),) = titled(memory, clock, [*rows[:3], remark, *rows[3:]])
    assert title.startswith("Bath: take the white laundry out, put the white laundry into the drum")
    assert summary == " ".join(TOLD)


def test_who_only_says_who_he_is_titles_no_job(memory: Memory, clock: Clock) -> None:
    ((title, _),) = titled(memory, clock, coffee(0, "Robot, I am Jonas, Mira's brother"))
    assert title == "Kitchen: fill the tank, put grounds in, shut the lid"


def test_no_title_begins_with_what_came_of_it(memory: Memory, clock: Clock) -> None:
    texts = ("Outcome: cable is caught.", "Look into the drawer. Outcome: it opens.", "Take the ladle out.")
    rows = [
        {"kind": "step", "content": text, "location": "kitchen", "timestamp": EIGHT + timedelta(minutes=n)}
        for n, text in enumerate(texts)
    ]
    ((title, _),) = titled(memory, clock, rows)
    assert title == "Kitchen: cable is caught, Look into the drawer, Take the ladle out"
