"""Two sections of a year's report: facts that changed and when, and what strength suppressed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from episodic_agent.core.facts.slots import STATED
from episodic_agent.core.language import plural
from episodic_agent.engine.user import UserMemory
from episodic_agent.faces.year.story import Event, Scripted, Story
from episodic_agent.schemas.facts import Fact

NEAR: Final = 7  # days by which a change may be learned at another time than it was told
ALL: Final = 1_000  # facts
OFTEN: Final = 30  # days from one look at what is held to be so to the next
SHOWN: Final = 5  # questions of which the report says what was suppressed, per memory
_DAY: Final = timedelta(days=1)
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Learned:
    """A fact as a memory learned it, in days of the story; `slot` is None where the story has none such."""

    slot: str | None
    fact: str
    value: str
    day: int
    until: int | None
    said: int


# --- facts -----------------------------------------------------------------------------------------------


def learned_facts(story: Story, memory: UserMemory, days: int) -> list[Learned]:
    """Return every fact a memory learned and believes to have held, by its first day."""
    noon = datetime.combine(story.start, datetime.min.time(), UTC)
    known = [card.fact for card in memory.facts.list(history=True, limit=ALL) if card.fact.holds]
    learneds = [learned for fact in known for learned in _learned(fact, story.facts, noon)]
    return sorted((one for one in learneds if one.day < days), key=lambda one: (one.day, one.fact))


def held_in_turn(story: Story, memory: UserMemory, days: int) -> list[Row]:
    """Ask a memory every month what is so; return what was new and what held no longer, by day."""
    rows: list[Row] = []
    before: set[str] = set()
    for day in [*range(OFTEN, days, OFTEN), days]:
        moment = datetime.combine(story.start, datetime.min.time(), UTC) + day * _DAY
        now = {card.fact.fact for card in memory.facts.list(at=moment, limit=ALL) if card.fact.holds}
        if now != before:
            rows.append({"day": day, "new": sorted(now - before), "gone": sorted(before - now)})
        before = now
    return rows


def judged(scripted: Sequence[Scripted], learned: Sequence[Learned], days: int) -> Row:
    """Hold what was learned against the story: `told` fact by fact, how many, and how many ends.

    A fact counts as learned when its beginning is, within `NEAR` days; an end likewise. Of the facts a memory
    holds those are right that the story has, beginning then.
    """
    rows: list[Row] = []
    for fact in (fact for fact in scripted if fact.day < days):
        until = fact.until if fact.until is not None and fact.until < days else None
        spoken_learned = next((one for one in learned if one.slot == fact.slot and _same(fact, one)), None)
        ended = spoken_learned is not None and until is not None and _near(spoken_learned.until, until)
        rows.append(
            {
                "slot": fact.slot,
                "value": fact.value,
                "day": fact.day,
                "until": until,
                "heard": None if spoken_learned is None else asdict(spoken_learned),
                "ended": ended if until is not None else None,
            }
        )
    right = [one for one in learned if any(_same(f, one) for f in scripted if f.slot == one.slot)]
    over = [one for one in learned if one.until is not None]
    ends = [f for f in scripted if f.until is not None]
    return {
        "facts": rows,
        "told": len(rows),
        "learned": sum(row["heard"] is not None for row in rows),
        "held": len(learned),
        "right": len(right),
        "ends_told": sum(row["until"] is not None for row in rows),
        "ends_learned": sum(bool(row["ended"]) for row in rows),
        "ends_held": len(over),
        "ends_right": sum(any(_same(f, one) and _near(one.until, f.until) for f in ends) for one in over),
    }


def facts_section(values: Mapping[str, Any]) -> list[str]:
    """Return lines on what was so, when it changed, and how much of it the memory learned."""
    score = values["facts"]
    lines = ["## Facts that changed, and when", ""]
    lines.append(
        f"Of {score['told']} facts that were told {score['learned']} were learned, and"
        f" {score['ends_learned']} of {score['ends_told']} ends. Of {score['held']} facts that the memory"
        f" holds {score['right']} are the story's, and {score['ends_right']} of {score['ends_held']} ends."
    )
    lines += ["", "| what | as told | learned | day | to day | learned as |", "|---|---|---|---|---|---|"]
    for row in score["facts"]:
        statement = row["heard"]
        as_told = f"day {row['day']}" + (f" to {row['until']}" if row["until"] is not None else "")
        mark = "no" if statement is None else "its end not" if row["ended"] is False else "yes"
        figures = (
            "- | - | -"
            if statement is None
            else f"{statement['day']} | {_end(statement['until'])} | {statement['fact']}"
        )
        lines.append(f"| {row['slot']}: {row['value']} | {as_told} | {mark} | {figures} |")
    others = [one["fact"] for one in values["learned"] if one["slot"] is None]
    lines += ["", f"Learned, and not in the story: {'; '.join(others) or 'nothing'}.", ""]
    for row in values["held"]:
        new = "; ".join(row["new"]) or "nothing new"
        lines.append(f"- by day {row['day']}: {new}" + _gone(row["gone"]))
    return [*lines, ""]


def _end(until: int | None) -> str:
    return "-" if until is None else str(until)


def _gone(gone: Sequence[str]) -> str:
    return f" (no longer: {'; '.join(gone)})" if gone else ""


def _learned(fact: Fact, scripted: Sequence[Scripted], start: datetime) -> Iterator[Learned]:
    """Yield a fact once for each slot of the story that it tells of: a quotation may tell of several."""
    slots = [
        f.slot
        for f in scripted
        if fact.attribute in (f.attribute, *_quoted(fact)) and f.key.casefold() in fact.value.casefold()
    ]
    until = None if fact.invalid_at is None else (fact.invalid_at - start) // _DAY
    day = (fact.valid_at - start) // _DAY
    told_of: list[str | None] = [*dict.fromkeys(slots)]
    for slot in told_of or [None]:
        yield Learned(slot, fact.fact, fact.value, day, until, len(fact.telling))


def _quoted(fact: Fact) -> Sequence[str]:
    """Return the attribute of a fact that quotes: what it is about stands in its words alone."""
    return [fact.attribute] if fact.attribute.startswith(STATED) else []


def _same(fact: Scripted, learned: Learned) -> bool:
    return fact.key.casefold() in learned.value.casefold() and _near(learned.day, fact.day)


def _near(number: int | None, other: int | None) -> bool:
    return number is not None and other is not None and abs(number - other) <= NEAR


# --- strength --------------------------------------------------------------------------------------------


def suppressed_by(memory: UserMemory, events: Sequence[Event]) -> list[Row]:
    """Ask for every event, and return what would have been a hit were it stronger.

    `its own` is True where that is the very episode of the event.
    """
    rows: list[Row] = []
    for event in events:
        for left in memory.search(event.question, suppressed=True).suppressed:
            text = " ".join(o.text for o in memory.episodes.messages(left.hit.episode_id))
            rows.append(
                {
                    "question": event.question,
                    "title": left.hit.title,
                    "retrievability": left.hit.retrievability,
                    "reason": left.reason,
                    "its own": event.lines[0] in text,
                }
            )
    return rows


def suppressed_section(suppressed: Mapping[str, Sequence[Row]], questions: int) -> list[str]:
    """Return lines on what questions would have brought, were it stronger."""
    lines = ["## What strength suppressed", ""]
    for name, rows in suppressed.items():
        asked = len({row["question"] for row in rows})
        own = sum(row["its own"] for row in rows)
        lines.append(
            f"{name.capitalize()}, {asked} of {questions} questions lose {plural(len(rows), 'hit')} "
            "to strength;"
            f" {own} of these are the episode that was asked for."
        )
        by_question = {row["question"]: row for row in sorted(rows, key=lambda row: row["its own"])}
        shown = sorted(by_question.values(), key=lambda row: not row["its own"])[:SHOWN]
        named = [f"- {row['question']} *{row['title']}* (R {row['retrievability']:.2f})" for row in shown]
        lines += ["", *named, *[""][: len(named)]]
    return lines
