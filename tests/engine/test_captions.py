"""Meetings as captions: who speaks, what is one message, and when a meeting was that only counts seconds."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from builders.commands import Run
from builders.importing import SAMPLES, read
from builders.web import LocalClient

from episodic_agent import Memory
from episodic_agent.core.ingest import read_time
from episodic_agent.engine.files.formats.captions import written_beginning
from episodic_agent.engine.files.options import ReadingOptions
from episodic_agent.faces.http.app import make_app
from episodic_agent.wiring import utc_now

OpenMemory = Callable[..., Memory]
DATED = "2026-03-04 14.30 Weekly.vtt"
NO_DAY = SAMPLES / "wrong" / "captions-without-a-day.vtt"


def captions(path: Path, *spoken: tuple[int, str]) -> Path:
    """Write captions of three seconds, each at a second of its own."""
    cues = [f"00:{at // 60:02}:{at % 60:02}.000 --> 00:{at // 60:02}:{at % 60 + 3:02}.000\n{text}\n"
            for at, text in spoken]  # fmt: skip
    path.write_text("WEBVTT\n\n" + "\n".join(cues), encoding="utf-8")
    return path


def messages(path: Path, **options: Any) -> list[tuple[str, str]]:
    rows = read(path, ReadingOptions(**options))["messages"]
    return [(speaker, text) for speaker, _, _, _, text in rows]


def test_what_one_person_says_in_one_go_is_one_message(tmp_path: Path) -> None:
    path = captions(
        tmp_path / DATED, (0, "<v Ana>One,</v>"), (3, "<v Ana>two,</v>"), (6, "<v Bo>Three.</v>"),
        (9, "<v Ana>Four.</v>"), (50, "<v Ana>Much later.</v>"),
    )  # fmt: skip
    assert messages(path) == [
        ("Ana", "One, two,"),
        ("Bo", "Three."),
        ("Ana", "Four."),
        ("Ana", "Much later."),
    ]


def test_a_long_speech_is_parted_where_a_sentence_ends(tmp_path: Path) -> None:
    spoken = [(n, f"<v Ana>And this is what was said in part {n}{'.' if n % 3 == 0 else ','}</v>")
              for n in range(57)]  # fmt: skip
    parts = [text for _, text in messages(captions(tmp_path / DATED, *spoken))]
    assert len(parts) == 2
    assert parts[0].endswith(".")
    assert len(parts[0]) >= 1500


def test_what_stands_before_a_colon_is_a_speaker_where_it_is_one(tmp_path: Path) -> None:
    path = captions(
        tmp_path / DATED, (0, "Ana: Two things."), (3, "One more: the tickets."), (6, "and the hotel."),
        (9, "Bo (he/him): Fine."), (12, "Ana: Good."), (15, "Bo (he/him): Bye."),
    )  # fmt: skip
    assert messages(path) == [
        ("Ana", "Two things. One more: the tickets. and the hotel."),
        ("Bo (he/him)", "Fine."),
        ("Ana", "Good."),
        ("Bo (he/him)", "Bye."),
    ]


def test_marks_and_signs_of_captions_are_no_words(tmp_path: Path) -> None:
    path = captions(
        tmp_path / DATED, (0, "&gt;&gt; Ana: <i>Tea</i> &amp; cake, 3 &lt; 4 &gt; 2"), (3, "- Bo:  <b>No</b>"),
        (6, "Ana: <00:00:07.000>Why?"),
    )  # fmt: skip
    assert messages(path) == [("Ana", "Tea & cake, 3 < 4 > 2"), ("Bo", "No"), ("Ana", "Why?")]


def test_captions_without_speakers_are_of_somebody_unknown_and_that_is_said(tmp_path: Path) -> None:
    seen = read(captions(tmp_path / DATED, (0, "so we begin"), (3, "with the roof")))
    assert [(row[0], row[4]) for row in seen["messages"]] == [("unknown", "so we begin with the roof")]
    assert seen["notes"] == ["captions that name no speaker: all is by somebody unknown"]


def test_files_of_other_systems_are_read_as_well(tmp_path: Path) -> None:
    path = tmp_path / "2026-03-04 Talk.srt"
    text = (
        "\ufeff1\n00:00:01,000 --> 00:00:02,000\nAna: Hi.\n\n2\n00:00:03,000 --> 00:00:04,000\nBo: Hello.\n"
    )
    path.write_bytes(text.replace("\n", "\r\n").encode())
    assert messages(path) == [("Ana", "Hi."), ("Bo", "Hello.")]
    path.write_bytes(text.replace("\n\n", "\n").encode("utf-16"))  # and without the empty lines
    assert messages(path) == [("Ana", "Hi."), ("Bo", "Hello.")]


# --- when it was -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "began"),
    [
        ("GMT20260304-143012_Recording.transcript", "2026-03-04T14:30:12+00:00"),  # Zoom
        ("2026-03-04 14.30.12 Weekly 8123456789", "2026-03-04T14:30:12"),  # Zoom, kept on the machine
        ("Weekly-20260304_143012-Meeting Recording", "2026-03-04T14:30:12"),  # Teams
        ("Weekly (2026-03-04 at 14_30 GMT-3)", "2026-03-04T14:30:00-03:00"),  # Meet
        ("Weekly - 2026_03_04 14_30 CET - Recording", "2026-03-04T14:30:00"),
        ("2026-03-04T14:30:00+01:00", "2026-03-04T14:30:00+01:00"),
        ("20260304143012", "2026-03-04T14:30:12"),
        ("4.3.2026, 2:30 PM", "2026-03-04T14:30:00"),
        ("2026-03-04 Weekly", "2026-03-04T00:00:00"),
        ("2026-03-04 25.00", "2026-03-04T00:00:00"),
        ("Weekly 12", None),
        ("8123456789", None),
        ("2026-13-04", None),
    ],
)
def test_a_name_says_when_a_recording_began(name: str, began: str | None) -> None:
    written = written_beginning(name, ReadingOptions())
    assert (written and written[0].isoformat()) == began


def test_a_day_without_a_clock_is_no_time_of_day(memory: Memory, tmp_path: Path) -> None:
    ana = memory.user("ana")
    ana.import_file(captions(tmp_path / "2026-03-04 Weekly.vtt", (3, "Ana: Good morning."), (9, "Bo: Hi.")))
    (thread,) = ana.threads.list()
    assert (thread.title, f"{thread.last_activity_at:%Y-%m-%d}") == ("2026-03-04 Weekly", "2026-03-04")
    (episode,) = ana.episodes.list()
    assert {o.at_source.value for o in ana.episodes.messages(episode.episode_id)} == {"date_only"}


def test_a_file_that_says_no_day_names_the_remedy_and_takes_it(run: Run) -> None:
    refused = run("import", NO_DAY)
    assert refused.code == 2
    assert "0 added" in refused.out
    (line,) = (line for line in refused.err.splitlines() if line.startswith("unreadable: "))
    assert "nothing says on which day that was" in line
    assert line.endswith("as in 2026-03-04 14.30 Weekly.vtt, or pass --began")
    began = ("--began", "2026-03-04 14:30", "--timezone", "Europe/Berlin")
    assert run("import", NO_DAY, *began, "--json").json["added"] == 1
    assert run("import", NO_DAY, *began, "--json").json["added"] == 0
    assert "captions-without-a-day 2026-03-04" in run("threads").out
    assert "2026-03-04T13:30:01" in run("threads", "--json").out
    assert "cannot read the time 'soon'" in run("import", NO_DAY, "--began", "soon").error


def test_what_is_given_goes_before_what_is_written(tmp_path: Path) -> None:
    path = captions(tmp_path / DATED, (0, "Ana: Hi."))
    (row,) = read(path, ReadingOptions(began=read_time("2025-01-02T08:00:00+01:00")))["messages"]
    assert row[1] == "2025-01-02T07:00:00+00:00"


def test_a_folder_says_the_day_wherever_we_stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "2026-03-04 15.00.12 Weekly"
    folder.mkdir()
    captions(folder / "audio_transcript.vtt", (0, "Ana: Hi."))
    monkeypatch.chdir(folder)
    for path in (folder / "audio_transcript.vtt", Path("audio_transcript.vtt")):
        (row,) = read(path)["messages"]
        assert (row[1], row[3]) == ("2026-03-04T15:00:12+00:00", folder.name)


def test_python_takes_a_moment_as_well(memory: Memory) -> None:
    ana = memory.user("ana")
    assert ana.import_file(NO_DAY, began=datetime(2026, 3, 4, 14, 30, tzinfo=UTC)).added == 1
    assert ana.import_file(NO_DAY, began="2026-03-04T15:30:00+01:00").added == 0


def test_the_service_takes_a_meeting_and_says_what_is_missing_in_its_words(
    open_memory: OpenMemory,
) -> None:
    with LocalClient(make_app(open_memory, utc_now)) as client:
        to, body = "/v1/users/ana/import", NO_DAY.read_bytes()
        refused = client.post(to, content=body, params={"name": "weekly.vtt"})
        assert refused.status_code == 422
        assert "give ?began=" in refused.json()["detail"]
        named = client.post(to, content=body, params={"name": DATED})
        assert (named.json()["added"], named.json()["format"]) == (1, "captions")
        given = client.post(to, content=body, params={"name": "weekly.vtt", "began": "2026-03-05T09:00:00Z"})
        assert given.json()["added"] == 1
