"""The seed's story from end to end, with the pure parts alone: a day of SMS and WhatsApp, and one on the web."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import UUID

from episodic_agent.core.context.assembling import assemble
from episodic_agent.core.sections.resolutions import resolutions
from episodic_agent.core.sections.triggers import SectionState, Trigger, due
from episodic_agent.core.threads.resolution import (
    Arriving,
    IntakeVerdict,
    Resolution,
    Resolver,
    as_record,
    idle,
)
from episodic_agent.core.threads.turns import is_reply, pairs, turn_count, turns
from episodic_agent.schemas import Observation
from episodic_agent.schemas.contexts import AnsweredQuestion, Linked, ThreadBackground

TEN = datetime(2025, 11, 5, 10, tzinfo=UTC)


@dataclass
class Conversation:
    """What a store would keep: threads and their observations."""

    resolver: Resolver = field(
        default_factory=lambda: Resolver((), "ana", name=lambda arriving: UUID(int=arriving.id.int + 100))
    )
    said: dict[UUID, list[Observation]] = field(default_factory=dict)
    number: int = 0

    def say(
        self, minute: float, actor: str, text: str, channel: str, thread: UUID | None = None
    ) -> Resolution:
        self.number += 1
        at = TEN + timedelta(minutes=minute)
        made = Observation(UUID(int=self.number), UUID(int=0), 0, at, at, actor, text, channel=channel)
        settled = self.resolver.take(Arriving(made.id, at, channel, thread, reply=is_reply(made)))
        assert settled.thread is not None
        line = self.said.setdefault(settled.thread, [])
        line.append(Observation(made.id, settled.thread, len(line), at, at, actor, text, channel=channel))
        return settled

    def background(self, thread: UUID, title: str) -> ThreadBackground:
        view = next(t for t in self.resolver.threads if t.id == thread)
        line = self.said[thread]
        asked = [
            AnsweredQuestion(p.question, p.answer, line[p.first_seq].at, p.first_seq, p.last_seq)
            for p in pairs([*turns(line)][-5:])
        ]
        return ThreadBackground(
            thread, title, view.created_at, view.last_activity_at, 0, line[-1].seq, pairs=tuple(asked)
        )


def test_a_day_by_sms_and_whatsapp() -> None:
    day = Conversation()
    first = day.say(0, "user", "What's the weather tomorrow in New York?", "sms").thread
    day.say(0.5, "assistant", "Sunny, high 72°F", "sms")
    day.say(5, "user", "What about next week?", "whatsapp")
    day.say(5.5, "assistant", "Mixed, 65-75°F", "whatsapp")
    assert first is not None
    record = as_record(
        day.resolver.threads[0], "ana", timeout=timedelta(minutes=30), turn_count=turn_count(day.said[first])
    )
    assert (record["channels"], record["turn_count"]) == (["sms", "whatsapp"], 2)
    assert record["last_activity_at"] == "2025-11-05T10:05:30Z"

    later = day.say(40, "user", "Oh, and what is it on Thursday?", "sms")
    assert (later.verdict, later.closes) == (IntakeVerdict.OPENS, first)
    assert later.created_at == TEN + timedelta(minutes=40)
    assert (len(day.said[first]), turn_count(day.said[first])) == (4, 2)
    assert later.thread is not None
    context = assemble(
        "Oh, and what is it on Thursday?",
        day.background(later.thread, ""),
        at=later.created_at,
        linked=[Linked(day.background(first, "Weather in New York"))],
    )
    assert context.text == (
        "You were discussing weather in New York.\n"
        "Previous questions:\n"
        "- What's the weather tomorrow in New York? (Sunny, high 72°F)\n"
        "- What about next week? (Mixed, 65-75°F)\n\n"
        "Current question: Oh, and what is it on Thursday?\n"
        "(Continuing from previous thread after 35 min break)"
    )
    spans = [(i.first_seq, i.last_seq) for i in context.items if i.kind == "pair"]
    assert [day.said[first][a].text for a, _ in spans] == [
        p.question for p in pairs(list(turns(day.said[first])))
    ]

    section = SectionState(UUID(int=1), 0, 3, 2, TEN, closed=day.resolver.threads[0].status == "closed")
    assert [work.trigger for work in due(section, later.created_at)] == [Trigger.THREAD_END]
    words = resolutions(day.said[first])
    for text in (o.text for o in day.said[first]):
        assert text.rstrip("?") in words.meso.replace(" (6 November 2025)", "")
    assert [t.id for t in idle(day.resolver.threads, TEN + timedelta(minutes=71), "ana")] == [later.thread]


def test_a_day_on_the_web() -> None:
    day = Conversation()
    weather = day.say(0, "user", "What's the weather in New York?", "web").thread
    day.say(0.5, "assistant", "Sunny", "web", weather)
    web = Conversation(day.resolver, day.said, 50)
    web.resolver = Resolver(
        day.resolver.threads, "ana", name=lambda arriving: UUID(int=arriving.id.int + 100)
    )
    flight = web.say(1, "user", "Book a flight to Tokyo", "web").thread
    web.say(1.5, "assistant", "Which day?", "web", flight)
    assert weather is not None
    assert flight is not None
    assert weather != flight
    back = web.say(600, "user", "And tomorrow?", "web", weather)
    assert (back.verdict, back.thread, back.closes) == (IntakeVerdict.CONTINUES, weather, None)
    assert {t.status for t in web.resolver.threads} == {"open"}
    assert turn_count(web.said[weather]) == 2
    context = assemble(
        "And tomorrow?",
        web.background(weather, "Weather in New York"),
        at=TEN + timedelta(minutes=600),
        linked=[Linked(web.background(flight, "Flight to Tokyo"))],
        explicit=True,
    )
    assert context.text == (
        "You were discussing weather in New York.\n"
        "Previous questions:\n"
        "- What's the weather in New York? (Sunny)\n\n"
        "Current question: And tomorrow?"
    )
    assert idle(web.resolver.threads, TEN + timedelta(days=9), "ana") == []
