"""Thread resolution: the rows of seed 002's test conditions, and what holds for any order of arrivals."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodic_agent.core.threads.channels import ChannelKind, Channels
from episodic_agent.core.threads.resolution import (
    Arriving,
    IntakeVerdict,
    Resolution,
    Resolver,
    ThreadView,
    after,
    as_record,
    closed,
    idle,
    resolve,
)
from episodic_agent.errors import InvalidInput, NotFound

DAY = datetime(2025, 11, 5, tzinfo=UTC)
ANA = "ana"


def at(clock: str, days: int = 0) -> datetime:
    parts = [int(part) for part in clock.split(":")]
    return DAY + timedelta(days=days, hours=parts[0], minutes=parts[1], seconds=parts[2] if parts[2:] else 0)


def view(number: int, start: str, end: str, *channels: str, **more: object) -> ThreadView:
    made = ThreadView(UUID(int=number), channels or ("sms",), False, at(start), at(end))
    return replace(made, **more)  # type: ignore[arg-type]


def comes(clock: str, channel: str | None = "sms", days: int = 0, **more: object) -> Arriving:
    return replace(Arriving(UUID(int=999), at(clock, days), channel), **more)  # type: ignore[arg-type]


def ask(arriving: Arriving, *threads: ThreadView, channels: Channels | None = None) -> Resolution:
    return resolve(arriving, threads, ANA, channels or Channels())


def named(arriving: Arriving) -> UUID:
    return UUID(int=arriving.id.int + 10_000)


def resolver(*threads: ThreadView, channels: Channels | None = None) -> Resolver:
    return Resolver(threads, ANA, channels or Channels(), name=named)


WEATHER = view(1, "09:50", "10:00")


@pytest.mark.parametrize(
    ("clock", "timeout", "verdict"),
    [
        ("10:45", 30, IntakeVerdict.OPENS),
        ("10:15", 30, IntakeVerdict.CONTINUES),
        ("10:45", 60, IntakeVerdict.CONTINUES),
        ("10:30:00", 30, IntakeVerdict.CONTINUES),
        ("10:30:01", 30, IntakeVerdict.OPENS),
        ("10:00", 0, IntakeVerdict.CONTINUES),
        ("10:00:01", 0, IntakeVerdict.OPENS),
    ],
)
def test_only_a_silence_longer_than_the_timeout_opens_a_thread(
    clock: str, timeout: int, verdict: IntakeVerdict
) -> None:
    resolution = ask(comes(clock), replace(WEATHER, timeout=timedelta(minutes=timeout)))
    assert resolution.verdict is verdict
    assert resolution.timeout == timedelta(minutes=timeout)


def test_a_new_thread_begins_with_its_message_and_leaves_the_old_one_as_it_was() -> None:
    resolution = ask(comes("10:45"), WEATHER)
    assert (resolution.created_at, resolution.last_activity_at, resolution.channels) == (
        at("10:45"),
        at("10:45"),
        ("sms",),
    )
    assert resolution.closes == WEATHER.id
    assert resolution.gap == timedelta(minutes=45)
    assert resolution.features() == {"gap_seconds": 2700.0, "timeout_seconds": 1800.0}
    steps = resolver(WEATHER)
    steps.take(comes("10:45"))
    assert steps.threads[0] == closed(WEATHER)


def test_a_message_on_another_channel_joins_the_current_thread() -> None:
    steps = resolver()
    first = steps.take(comes("10:00", "sms", id=UUID(int=1)))
    second = steps.take(comes("10:05", "WhatsApp", id=UUID(int=2)))
    assert first.thread == second.thread
    assert steps.threads[0].channels == ("sms", "whatsapp")
    assert steps.threads[0].last_activity_at == at("10:05")


def test_a_chosen_thread_takes_the_message_however_long_it_was_silent() -> None:
    old = view(1, "09:00", "09:10", "web", explicit=True)
    other = view(2, "10:00", "10:05", "web", explicit=True)
    resolution = ask(comes("10:06", "web", days=3, thread=old.id), old, other)
    assert (resolution.verdict, resolution.thread, resolution.closes) == (
        IntakeVerdict.CONTINUES,
        old.id,
        None,
    )
    assert resolution.last_activity_at == at("10:06", 3)
    assert resolution.created_at == old.created_at


def test_switching_rapidly_among_three_threads_changes_only_the_chosen_one() -> None:
    threads = [view(n, "09:00", "09:10", "web", explicit=True) for n in (1, 2, 3)]
    steps = resolver(*threads)
    order = [1, 2, 3, 1, 3, 2, 2, 1]
    for second, number in enumerate(order):
        arriving = comes(f"10:00:0{second}", "web", id=UUID(int=100 + second), thread=UUID(int=number))
        before = {t.id: t for t in steps.threads}
        assert steps.take(arriving).thread == UUID(int=number)
        changed = [t for t in steps.threads if before[t.id] != t]
        assert [t.id.int for t in changed] == [number]
    assert {t.status for t in steps.threads} == {"open"}


def test_an_explicit_channel_without_a_chosen_thread_opens_one() -> None:
    resolution = ask(comes("10:01", "web"), WEATHER)
    assert (resolution.verdict, resolution.explicit, resolution.closes) == (IntakeVerdict.OPENS, True, None)


ANSWERED = view(4, "09:50", "10:00", "web", explicit=True, unpicked=True, answered=True)
UNANSWERED = replace(ANSWERED, answered=False)


@pytest.mark.parametrize(
    ("clock", "thread", "verdict"),
    [
        ("10:01", ANSWERED, "continues"),
        ("10:30", ANSWERED, "continues"),
        ("10:30:01", ANSWERED, "opens"),  # a silence longer than the timeout
        ("09:40", ANSWERED, "opens"),  # before it began
        ("10:01", replace(ANSWERED, unpicked=False, answered=False), "opens"),  # somebody names it
        ("10:02", UNANSWERED, "continues"),
        ("10:02:01", UNANSWERED, "opens"),  # no answer shows that nobody picks threads
        ("10:01", closed(ANSWERED, "manual"), "opens"),
        ("10:01", replace(ANSWERED, channels=("app",)), "opens"),
    ],
)
def test_where_nobody_picks_threads_an_explicit_channel_goes_on_with_its_last_one(
    clock: str, thread: ThreadView, verdict: str
) -> None:
    resolution = ask(comes(clock, "web"), thread)
    assert resolution.verdict == verdict
    assert (resolution.thread == thread.id) == (verdict == "continues")


def test_what_nobody_answered_goes_on_where_answers_find_their_place() -> None:
    alone = view(5, "10:05", "10:05", "web", explicit=True, unpicked=True)
    assert ask(comes("10:20", "web"), ANSWERED, alone).thread == alone.id
    assert ask(comes("10:20", "web"), alone).verdict is IntakeVerdict.OPENS


def test_only_the_last_thread_of_an_explicit_channel_goes_on() -> None:
    picked = view(5, "10:01", "10:02", "web", explicit=True)
    assert ask(comes("10:03", "web"), ANSWERED, picked).verdict is IntakeVerdict.OPENS


def test_what_means_nothing_alone_follows_to_an_explicit_channel() -> None:
    texting = replace(WEATHER, answered=True)
    assert ask(comes("10:01", "web", leans=True), texting).thread == texting.id
    assert ask(comes("10:01", "web"), texting).verdict is IntakeVerdict.OPENS
    assert ask(comes("10:31", "web", leans=True), texting).verdict is IntakeVerdict.OPENS
    assert ask(comes("10:01", "web", leans=True), WEATHER).verdict is IntakeVerdict.OPENS


def test_turns_on_an_explicit_channel_are_one_thread_until_it_is_named_or_falls_silent() -> None:
    def day(*turns: tuple[str, bool], name: UUID | None = None) -> list[UUID]:
        steps = resolver()
        found = []
        for number, (clock, reply) in enumerate(turns):
            if name is not None and found and reply:
                name = found[-1]  # whoever picks threads names the one they were told of
            arriving = comes(clock, "web", id=UUID(int=number), reply=reply, thread=name if reply else None)
            found.append(steps.take(arriving).thread)
            steps = resolver(*steps.threads)  # each in a call of its own
        return found

    turns = (("10:00", False), ("10:00:10", True), ("10:02", False), ("10:02:05", True), ("10:50", False))
    assert [len(set(day(*turns[:n]))) for n in range(1, 6)] == [1, 1, 1, 1, 2]
    assert len(set(day(*turns, name=UUID(int=1)))) == 3


def test_a_list_on_an_explicit_channel_is_one_conversation() -> None:
    steps = resolver()
    settleds = [steps.take(comes(f"1{n}:00", "web", id=UUID(int=n))) for n in range(4)]
    assert len({f.thread for f in settleds}) == 1
    assert len({resolver().take(comes("10:00", "web", id=UUID(int=n))).thread for n in range(4)}) == 4


def test_in_a_list_a_message_without_a_thread_does_not_follow_one_that_named_its_own() -> None:
    chosen = view(1, "09:00", "09:10", "web", explicit=True)
    steps = resolver(chosen)
    assert steps.take(comes("10:00", "web", id=UUID(int=11), thread=chosen.id)).thread == chosen.id
    assert steps.take(comes("10:01", "web", id=UUID(int=12))).verdict is IntakeVerdict.OPENS


def test_a_list_on_an_implicit_channel_is_cut_where_silence_cuts_it() -> None:
    steps = resolver()
    identifiers = [
        steps.take(comes(c, id=UUID(int=n))).thread for n, c in enumerate(("10:00", "10:20", "11:00"))
    ]
    assert identifiers[0] == identifiers[1] != identifiers[2]


def test_a_named_thread_that_nobody_knows_is_an_error_unless_the_caller_creates_it() -> None:
    with pytest.raises(NotFound, match="name one of the user's threads"):
        ask(comes("10:00", thread=UUID(int=7)), WEATHER)
    resolution = ask(comes("10:00", thread=UUID(int=7), creates=True), WEATHER)
    assert (resolution.verdict, resolution.thread, resolution.explicit, resolution.closes) == (
        IntakeVerdict.OPENS,
        UUID(int=7),
        True,
        None,
    )


def test_a_closed_thread_reopens_when_it_is_chosen() -> None:
    resolution = ask(comes("12:00", thread=WEATHER.id), closed(WEATHER, "manual"))
    assert resolution.verdict is IntakeVerdict.REOPENS
    then = after(resolution, closed(WEATHER, "manual"))
    assert (then.status, then.closed_for) == ("open", "")


def test_a_thread_closed_by_hand_is_not_continued() -> None:
    for clock in ("10:00", "10:05"):
        assert ask(comes(clock), closed(WEATHER, "manual")).verdict is IntakeVerdict.OPENS
    assert ask(comes("09:59"), closed(WEATHER, "manual")).verdict is IntakeVerdict.LATE


@pytest.mark.parametrize(
    ("clock", "verdict"), [("10:20", IntakeVerdict.REOPENS), ("10:31", IntakeVerdict.OPENS)]
)
def test_the_sweep_changes_nothing_for_a_message_that_was_only_slow(
    clock: str, verdict: IntakeVerdict
) -> None:
    resolution = ask(comes(clock), closed(WEATHER))
    assert resolution.verdict is verdict
    assert resolution.closes is None


def test_the_most_recently_active_open_thread_is_the_current_one_on_any_channel() -> None:
    chosen = view(2, "09:55", "10:20", "web", explicit=True)
    assert ask(comes("10:25"), WEATHER, chosen).thread == chosen.id
    gone = ask(comes("11:30"), WEATHER, chosen)
    assert (gone.verdict, gone.closes) == (IntakeVerdict.OPENS, None)  # what a user chose stays to be chosen


@pytest.mark.parametrize(
    ("channels", "own", "minutes"),
    [
        (Channels(), None, 30),
        (Channels(timeout=timedelta(minutes=5)), None, 5),
        (Channels(by_channel={"SMS": timedelta(minutes=40)}), None, 40),
        (Channels(by_channel={"sms": timedelta(minutes=40)}, by_user={ANA: timedelta(minutes=50)}), None, 50),
        (
            Channels(
                by_user={ANA: timedelta(minutes=50)}, by_user_channel={(ANA, "sms"): timedelta(hours=1)}
            ),
            None,
            60,
        ),
        (Channels(by_user_channel={(ANA, "sms"): timedelta(hours=1)}), timedelta(minutes=70), 70),
        (Channels(by_user_channel={("bo", "sms"): timedelta(hours=1)}), None, 30),
        (Channels(by_user_channel={(ANA, "email"): timedelta(hours=1)}), None, 30),
    ],
)
def test_the_nearest_timeout_wins(channels: Channels, own: timedelta | None, minutes: int) -> None:
    thread = replace(WEATHER, timeout=own)
    edge = at("10:00") + timedelta(minutes=minutes)
    for second, verdict in ((0, IntakeVerdict.CONTINUES), (1, IntakeVerdict.OPENS)):
        arriving = replace(comes("10:00"), at=edge + timedelta(seconds=second))
        assert ask(arriving, thread, channels=channels).verdict is verdict


def test_a_negative_timeout_is_refused() -> None:
    with pytest.raises(InvalidInput, match="must not be negative"):
        Channels(by_user={ANA: timedelta(seconds=-1)})


@pytest.mark.parametrize(
    ("channel", "kind"),
    [
        *((c, "implicit") for c in ("sms", "whatsapp", "email", "telegram", "signal", "default", None, "  ")),
        *((c, "explicit") for c in ("web", "mobile", "app", "cli", "WEB")),
        ("carrier pigeon", "implicit"),
    ],
)
def test_channels_have_their_kinds(channel: str | None, kind: str) -> None:
    assert Channels().kind(channel) == kind


def test_kinds_can_be_configured() -> None:
    own = Channels(
        kinds={"Kiosk": ChannelKind.EXPLICIT, "web": ChannelKind.IMPLICIT}, unknown=ChannelKind.EXPLICIT
    )
    assert [own.kind(c) for c in ("kiosk", "web", "fax", "sms")] == [
        "explicit",
        "implicit",
        "explicit",
        "implicit",
    ]


# --- out of order ----------------------------------------------------------------------------------------


def test_a_late_message_never_moves_activity_back() -> None:
    resolution = ask(comes("09:55"), WEATHER)
    assert (resolution.thread, resolution.last_activity_at) == (WEATHER.id, at("10:00"))


def test_a_message_before_the_current_thread_joins_the_one_whose_span_holds_it() -> None:
    morning = closed(view(1, "08:00", "08:20"))
    now = view(2, "12:00", "12:10")
    for clock, joined in (("08:10", 1), ("08:50", 1), ("07:30", 1), ("11:30", 2), ("11:40", 2)):
        resolution = ask(comes(clock), morning, now)
        assert resolution.thread == UUID(int=joined), clock
    assert ask(comes("11:30"), morning, now).verdict is IntakeVerdict.CONTINUES
    assert ask(comes("08:50"), morning, now).verdict is IntakeVerdict.LATE
    assert ask(comes("08:50:01"), morning, now).verdict is IntakeVerdict.OPENS
    assert ask(comes("07:29"), morning, now).verdict is IntakeVerdict.OPENS


def test_a_late_message_leaves_a_closed_thread_closed() -> None:
    morning = closed(view(1, "08:00", "08:20"), "manual")
    resolution = ask(comes("08:30"), morning, view(2, "12:00", "12:10"))
    then = after(resolution, morning)
    assert (then.status, then.closed_for, then.last_activity_at) == ("closed", "manual", at("08:30"))


def test_an_import_of_two_years_ago_never_lands_in_todays_thread() -> None:
    steps = resolver(view(1, "12:00", "12:10"))
    old = [steps.take(comes(c, days=-730, id=UUID(int=n))) for n, c in enumerate(("09:00", "09:20", "11:00"))]
    assert [f.verdict for f in old] == [IntakeVerdict.OPENS, IntakeVerdict.LATE, IntakeVerdict.OPENS]
    assert old[0].thread == old[1].thread != old[2].thread
    assert UUID(int=1) not in {f.thread for f in old}
    assert steps.take(comes("12:15", id=UUID(int=9))).thread == UUID(int=1)


def test_between_two_threads_a_late_message_joins_the_one_before_it() -> None:
    first, second = closed(view(1, "08:00", "08:20")), closed(view(2, "09:00", "09:10"))
    assert ask(comes("08:45"), first, second, view(3, "12:00", "12:10")).thread == first.id


# --- replies ---------------------------------------------------------------------------------------------


def test_a_reply_extends_a_thread_and_never_opens_one() -> None:
    resolution = ask(comes("11:00", reply=True), WEATHER)
    assert (resolution.verdict, resolution.thread, resolution.last_activity_at) == (
        IntakeVerdict.CONTINUES,
        WEATHER.id,
        at("11:00"),
    )
    assert ask(comes("11:00", reply=True), closed(WEATHER, "manual")).verdict is IntakeVerdict.REOPENS
    web = view(2, "08:00", "08:10", "web", explicit=True)
    older = view(3, "07:00", "07:10", "web", explicit=True)
    assert ask(comes("11:00", "web", reply=True), WEATHER, web, older).thread == web.id


def test_the_question_after_a_slow_reply_continues_the_thread() -> None:
    steps = resolver(WEATHER)
    steps.take(comes("10:29", reply=True, id=UUID(int=1)))
    assert steps.take(comes("10:50", id=UUID(int=2))).thread == WEATHER.id


def test_an_old_reply_goes_where_its_conversation_was() -> None:
    morning, noon = closed(view(1, "08:00", "08:20")), view(2, "12:00", "12:10")
    assert ask(comes("08:30", reply=True), morning, noon).thread == morning.id
    assert ask(comes("10:00", reply=True), morning, noon).thread == morning.id
    assert ask(comes("11:59", reply=True), morning, noon).thread == noon.id
    assert ask(comes("06:00", reply=True), morning, noon).verdict is IntakeVerdict.OPENS


def test_only_where_there_is_no_thread_at_all_a_reply_opens_one() -> None:
    assert ask(comes("10:00", reply=True)).verdict is IntakeVerdict.OPENS
    assert ask(comes("10:00", "web", reply=True)).verdict is IntakeVerdict.OPENS


# --- the clock -------------------------------------------------------------------------------------------


def test_the_sweep_closes_idle_implicit_threads_only() -> None:
    threads = [
        view(1, "09:00", "09:10"),
        view(2, "09:00", "09:30:00"),
        view(3, "09:00", "09:10", "web", explicit=True),
        view(4, "09:00", "09:10", timeout=timedelta(hours=3)),
        closed(view(5, "07:00", "07:10")),
        view(6, "08:00", "08:10", "sms", "email"),
    ]
    slow_mail = Channels(by_channel={"email": timedelta(hours=5)})
    assert [t.id.int for t in idle(threads, at("10:00"), ANA)] == [6, 1]
    assert [t.id.int for t in idle(threads, at("10:00:01"), ANA)] == [6, 1, 2]
    assert [t.id.int for t in idle(threads, at("10:00"), ANA, slow_mail)] == [1]


# --- the record ------------------------------------------------------------------------------------------


def test_a_thread_is_written_as_the_seed_writes_it() -> None:
    thread = ThreadView(
        UUID(int=1),
        ("sms", "whatsapp"),
        False,
        at("10:00"),
        at("11:45").astimezone(timezone(timedelta(hours=5))),
    )
    record = as_record(
        thread,
        "user_xyz",
        timeout=timedelta(minutes=30),
        turn_count=3,
        primary_episode_id="episode_1",
        cross_thread_episodes=["episode_multi_1"],
        summary="User asking about weather in New York",
    )
    assert list(record.items()) == [
        ("thread_id", "00000000-0000-0000-0000-000000000001"),
        ("user_id", "user_xyz"),
        ("created_at", "2025-11-05T10:00:00Z"),
        ("last_activity_at", "2025-11-05T11:45:00Z"),
        ("channels", ["sms", "whatsapp"]),
        ("inactivity_timeout_minutes", 30),
        ("explicit_channel", False),
        ("primary_episode_id", "episode_1"),
        ("cross_thread_episodes", ["episode_multi_1"]),
        ("turn_count", 3),
        ("summary", "User asking about weather in New York"),
    ]
    assert as_record(thread, "u", timeout=timedelta(seconds=90), turn_count=0)[
        "inactivity_timeout_minutes"
    ] == pytest.approx(1.5)


# --- properties ------------------------------------------------------------------------------------------

CHANNEL = st.sampled_from([None, "sms", "whatsapp", "web", "fax"])
MINUTES = st.integers(0, 400)


@st.composite
def streams(draw: st.DrawFn, channel: st.SearchStrategy[str | None] = CHANNEL) -> list[Arriving]:
    size = draw(st.integers(0, 24))
    return [
        Arriving(
            UUID(int=n + 1),
            DAY + timedelta(minutes=draw(MINUTES)),
            draw(channel),
            thread=draw(st.sampled_from([None, None, None, UUID(int=77), UUID(int=78)])),
            creates=True,
            reply=draw(st.booleans()),
        )
        for n in range(size)
    ]


def fold(stream: Sequence[Arriving], threads: Sequence[ThreadView] = ()) -> tuple[list[Resolution], Resolver]:
    steps = resolver(*threads)
    return [steps.take(arriving) for arriving in stream], steps


@given(streams())
def test_every_observation_gets_one_thread_that_spans_it(stream: list[Arriving]) -> None:
    resolutions, steps = fold(stream)
    threads = {t.id: t for t in steps.threads}
    spans: dict[UUID, list[datetime]] = {}
    for arriving, resolution in zip(stream, resolutions, strict=True):
        assert resolution.thread is not None
        spans.setdefault(resolution.thread, []).append(arriving.at)
    assert set(spans) == set(threads)
    for identity, times in spans.items():
        assert (threads[identity].created_at, threads[identity].last_activity_at) == (min(times), max(times))


@given(streams())
def test_resolution_is_deterministic_and_blind_to_the_order_threads_are_given_in(
    stream: list[Arriving],
) -> None:
    resolutions, steps = fold(stream)
    assert fold(stream)[0] == resolutions
    threads = list(steps.threads)
    probe = comes("05:00")
    assert resolve(probe, threads, ANA) == resolve(probe, threads[::-1], ANA)


@given(streams(st.sampled_from([None, "sms", "whatsapp", "fax"])), st.data())
def test_on_implicit_channels_batches_are_the_same_as_one_by_one(
    stream: list[Arriving], data: st.DataObject
) -> None:
    resolutions, steps = fold(stream)
    cut = data.draw(st.integers(0, len(stream)))
    first, middle = fold(stream[:cut])
    second, end = fold(stream[cut:], middle.threads)
    assert [*first, *second] == resolutions
    assert end.threads == steps.threads


@given(streams())
def test_activity_never_moves_back_and_only_one_thread_ends_at_a_time(stream: list[Arriving]) -> None:
    steps = resolver()
    for arriving in stream:
        before = {t.id: t for t in steps.threads}
        resolution = steps.take(arriving)
        now = {t.id: t for t in steps.threads}
        assert all(now[i].last_activity_at >= t.last_activity_at for i, t in before.items())
        changed = {i for i, t in before.items() if now[i] != t}
        assert changed <= {resolution.thread, resolution.closes}


@given(streams(), st.lists(st.booleans(), min_size=24, max_size=24))
def test_a_message_that_comes_twice_changes_nothing(stream: list[Arriving], again: list[bool]) -> None:
    once, twice = fold(stream), resolver()
    for arriving, repeated in zip(stream, again, strict=False):
        thread = twice.take(arriving).thread
        if repeated:
            before = list(twice.threads)
            second = twice.take(replace(arriving, at=arriving.at + timedelta(days=3)))
            assert (second.verdict, second.thread) == (IntakeVerdict.DUPLICATE, thread)
            assert list(twice.threads) == before
    assert twice.threads == once[1].threads


@given(st.lists(MINUTES, max_size=20), st.integers(0, 90))
def test_in_order_the_threads_are_the_runs_between_long_silences(minutes: list[int], timeout: int) -> None:
    times = sorted(minutes)
    steps = resolver(channels=Channels(timeout=timedelta(minutes=timeout)))
    identifiers = [
        steps.take(Arriving(UUID(int=n), DAY + timedelta(minutes=m), "sms")).thread
        for n, m in enumerate(times)
    ]
    cuts = [later - earlier > timeout for earlier, later in pairwise(times)]
    assert [a != b for a, b in pairwise(identifiers)] == cuts


@given(st.lists(MINUTES, max_size=16), st.data())
def test_the_sweep_between_messages_changes_no_membership(minutes: list[int], data: st.DataObject) -> None:
    stream = [Arriving(UUID(int=n), DAY + timedelta(minutes=m), "sms") for n, m in enumerate(sorted(minutes))]
    plain, _ = fold(stream)
    threads: list[ThreadView] = []
    swept = []
    for arriving in stream:
        steps = resolver(*threads)
        swept.append(steps.take(arriving).thread)
        ended = {t.id for t in idle(steps.threads, DAY + timedelta(minutes=data.draw(MINUTES)), ANA)}
        threads = [closed(t) if t.id in ended else t for t in steps.threads]
    assert swept == [f.thread for f in plain]
