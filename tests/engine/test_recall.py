"""`search`: the right episode with the messages that prove it, or the honest word that there is none."""

import hashlib
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from builders.chats import CELLO, NOW, START, TAP, Clock, diary, mine, say, talk
from builders.embedders import TopicEmbedder, Unreliable
from builders.examples import first
from conftest import After, OpenMemory

from episodic_agent import Memory
from episodic_agent.core.strength import retrievability
from episodic_agent.errors import InvalidInput

DISTRACTORS = (
    "the meeting about the budget was moved to the small room",
    "somebody left a green umbrella at the reception desk",
    "the printer on the third floor needs a new cartridge of toner",
    "lunch is at half past twelve, the soup looks good today",
    "please remember to water the plants on the windowsill",
)
QUESTIONS = {
    "what did the plumber find wrong with the tap": "The plumber says a hairline crack",
    "how much is the direct flight to Lisbon": "There is a direct flight",
    "where is the flat that has a balcony": "A flat in Campo de Ourique",
    "who is my cello teacher": "My cello teacher Odile",
    "for how many minutes shall I bake with steam": "Bake the bread with steam",
}


def undertakings(memory: Memory, _clock: Clock) -> None:
    """Four undertakings in one thread, and a second thread with two hundred remarks of an office."""
    mine(memory).add(diary(), thread="ana")
    noise = [say(f"{DISTRACTORS[n % 5]} ({n})", n * 180, "colleague") for n in range(200)]
    mine(memory).add(noise, thread="office")


@pytest.fixture
def told(after: After, open_memory: OpenMemory) -> Memory:
    after(undertakings)
    return open_memory()


@pytest.mark.parametrize(("question", "answer"), QUESTIONS.items())
def test_the_right_episode_comes_first_with_its_evidence(told: Memory, question: str, answer: str) -> None:
    recall = mine(told).search(question)
    assert not recall.abstained
    assert list(recall) == list(recall.hits)
    best = recall.hits[0]
    assert answer in [e.observation.text[: len(answer)] for e in best.evidence]
    assert recall.observations[0].observation.text.startswith(answer)
    inside = {o.id for o in mine(told).episodes.messages(best.episode_id)}
    assert {e.observation.id for e in best.evidence} <= inside
    assert [h.score for h in recall.hits] == sorted((h.score for h in recall.hits), reverse=True)
    assert all(0 <= h.confidence <= 1 and 0 <= h.retrievability <= 1 for h in recall.hits)


def test_the_open_frame_is_found_like_an_episode(told: Memory) -> None:
    hit = mine(told).search("sourdough starter smells of vinegar").hits[0]
    assert hit.state == "open"
    assert hit.title.startswith("The sourdough starter")
    assert hit.evidence[0].observation.text.startswith("The sourdough starter")


def test_what_was_just_added_is_found_at_once(told: Memory) -> None:
    mine(told).add("my passport number ends in 8841", thread="ana")
    assert mine(told).search("passport number").observations[0].observation.text.endswith("8841")


def test_the_callers_own_id_names_the_evidence(told: Memory) -> None:
    assert mine(told).search("who is my cello teacher").observations[0].id == "cello0"


def test_nothing_relevant_is_said_as_such(told: Memory) -> None:
    recall = mine(told).search("quantum chromodynamics lagrangian")
    assert recall.abstained
    assert recall.confidence < 0.1
    assert str(recall) == "nothing relevant"
    assert not mine(told).search("cello teacher").abstained


def test_somebody_never_mentioned_is_nobody_to_tell_of(told: Memory) -> None:
    assert not mine(told).search("what did my cello teacher Odile say of the bow").abstained
    recall = mine(told).search("what did my painting teacher Zelda say of the bow")
    assert recall.abstained
    assert (
        mine(told).search("what did my painting teacher zelda say of the bow").confidence
        > 2 * recall.confidence
    )


def test_one_unknown_name_may_be_the_askers_where_only_roles_spoke(memory: Memory) -> None:
    mine(memory).add(
        [
            say("mango sticky rice is my favourite dessert", 0),
            say("noted, mango sticky rice it is", 1, "assistant"),
            say("my sister moved to Porto last year", 2),
        ]
    )
    alone = mine(memory).search("what is Ana's favourite dessert with rice")
    strange = mine(memory).search("what is Ana's favourite dessert with rice of Bob Lane")
    assert alone.confidence > strange.confidence
    mine(memory).add([say("I am here too", 3, name="Cleo")])
    assert mine(memory).search("what is Ana's favourite dessert with rice").confidence < alone.confidence


def test_a_name_never_mentioned_empties_no_small_memory(open_memory: OpenMemory) -> None:
    for embedder in ("hashing", "none"):
        memory = open_memory(embedder=embedder)
        for name, text in (
            ("Tom", "The clutch was replaced"),
            ("Mia", "That is a lot"),
            ("Tom", "He was nice"),
        ):
            memory.user("few").add(say(text, 0, name=name))
        named = memory.user("few").search("when did Zelda have the clutch replaced?")
        plain = memory.user("few").search("when did he have the clutch replaced?")
        assert named.hits
        assert named.confidence < plain.confidence
        assert memory.user("few").search("what does Odile play?").abstained


def test_what_is_abstained_from_is_no_hit_and_stays_reachable(told: Memory) -> None:
    nothing, answer = (
        mine(told).search("quantum chromodynamics lagrangian"),
        mine(told).search("cello teacher"),
    )
    assert (nothing.abstained, list(nothing.hits)) == (True, [])
    assert nothing.candidates
    assert nothing.candidates[0].evidence
    assert nothing.notes[-1].startswith("nothing relevant: confidence 0.")
    assert (answer.abstained, bool(answer.hits), list(answer.candidates)) == (False, True, [])


def test_a_long_message_with_every_word_is_an_answer(open_memory: OpenMemory) -> None:
    memory = open_memory(embedder="none")
    rest = " ".join(f"word{n}" for n in range(300))
    mine(memory).add(
        [say(f"the gardener pruned the walnut {rest}", 0), *(say(f"remark {n}", n) for n in range(1, 9))]
    )
    assert mine(memory).search("which walnut did the gardener prune").confidence > 0.9


# --- filters and words about time -----------------------------------------------------------------------


def test_since_and_until_leave_only_that_stretch_of_event_time(told: Memory) -> None:
    day = START + timedelta(days=2)
    recall = mine(told).search(
        "bread cello tap", since=day - timedelta(hours=1), until=day + timedelta(hours=1), limit=50
    )
    assert recall.observations
    for evidence in recall.observations:
        assert day - timedelta(hours=1) <= evidence.observation.at < day + timedelta(hours=1)
    assert "cello" in recall.observations[0].observation.text


def test_a_naive_time_is_utc(told: Memory) -> None:
    aware = mine(told).search("cello", since=START + timedelta(days=2), until=START + timedelta(days=3))
    naive = mine(told).search(
        "cello", since=datetime(2024, 5, 3, 9), until=datetime(2024, 5, 4, 9), now=datetime(2024, 6, 1, 12)
    )
    assert [o.id for o in naive.observations] == [o.id for o in aware.observations]


def test_an_empty_stretch_finds_nothing(told: Memory) -> None:
    recall = mine(told).search("cello", since=START - timedelta(days=90), until=START - timedelta(days=80))
    assert (recall.abstained, list(recall.hits)) == (True, [])


def test_a_thread_filter_leaves_only_that_thread(told: Memory) -> None:
    recall = mine(told).search("cartridge", thread="office", limit=50)
    assert recall.observations
    assert all(e.observation.actor == "colleague" for e in recall.observations)
    assert (
        mine(told)
        .search("cartridge", thread="ana")
        .observations[0]
        .observation.text.startswith("The plumber")
    )


def test_words_about_time_prefer_their_day(memory: Memory) -> None:
    now = START + timedelta(days=3, hours=2)
    mine(memory).add([say("we had soup for dinner", 1440 * n, "ana") for n in range(4)])
    for question, day in (("what was for dinner yesterday", 3), ("what was for dinner on May 2", 2)):
        best = mine(memory).search(question, now=now).observations[0].observation
        assert best.at.day == day, question


def test_a_question_about_a_day_is_answered_if_anything_was_said_then(memory: Memory) -> None:
    mine(memory).add([say("we painted the fence green", 0), say("the soup was cold", 1440)])
    now = START + timedelta(days=20)
    for question, told_then in (("what happened on May 2?", True), ("what did we do on May 9?", False)):
        assert mine(memory).search(question, now=now).abstained == (not told_then), question


@pytest.mark.slow
def test_a_month_asked_long_afterwards_is_the_one_this_memory_knows(memory: Memory) -> None:
    mine(memory).add([say("we had soup for dinner", 1440 * n) for n in range(40)])
    question = "what was for dinner on May 3"
    for years in (0, 3):
        now = START + timedelta(days=45 + 365 * years)
        best = mine(memory).search(question, now=now, explain=True).observations[0]
        assert (best.observation.at.day, best.legs["time"] > 0) == (3, True), years


def test_a_grammatical_bigram_does_not_outweigh_a_word(open_memory: OpenMemory) -> None:
    memory = open_memory(embedder="none")
    mine(memory).add(
        [
            say("苹果很好吃", 0),
            say("那个的时是什么", 600),
            *(say(f"电脑{n}号", 1200 + 600 * n) for n in range(6)),
        ]
    )
    assert mine(memory).search("苹果的时是什").observations[0].observation.text == "苹果很好吃"


def test_a_name_in_the_question_prefers_what_that_person_said(memory: Memory) -> None:
    mine(memory).add(
        [
            say("my favourite colour is green", 0, name="Bo"),
            say("my favourite colour is blue", 1, name="Ana"),
            say("my favourite colour is red", 2, name="Cleo"),
        ]
    )
    for name, colour in (("Ana", "blue"), ("Bo", "green"), ("Cleo", "red")):
        best = mine(memory).search(f"what is {name}'s favourite colour").observations[0].observation
        assert (best.actor, best.text.split()[-1]) == (name, colour)


@pytest.mark.parametrize(("query", "answer"), [("anything on May 3?", "third"), ("2024-05-04", "fourth")])
def test_a_day_is_found_by_its_date_alone(open_memory: OpenMemory, query: str, answer: str) -> None:
    memory = open_memory(embedder="none")
    mine(memory).add([say(word, 1440 * n) for n, word in enumerate(("first", "second", "third", "fourth"))])
    assert mine(memory).search(query, now=NOW).observations[0].observation.text == answer


def test_a_speaker_is_found_by_name_alone(open_memory: OpenMemory) -> None:
    memory = open_memory(embedder="none")
    mine(memory).add([say("good morning", n, name=name) for n, name in enumerate(("Ana", "Bo", "Cleo"))])
    assert mine(memory).search("Cleo").observations[0].observation.actor == "Cleo"


# --- how many, and which ---------------------------------------------------------------------------------


def test_limit_counts_episodes_and_observations_are_ranked_on_their_own(told: Memory) -> None:
    few = mine(told).search("cello tap bread flight", limit=2, observations=7)
    many = mine(told).search("cello tap bread flight", limit=9, observations=7)
    assert (len(few.hits), len(few.observations)) == (2, 7)
    assert len(many.hits) > 2
    assert [e.id for e in few.observations] == [e.id for e in many.observations]
    assert len(mine(told).search("cello tap bread flight", limit=3).observations) == 3


@pytest.mark.parametrize("wrong", [{"limit": 0}, {"limit": -3}, {"observations": 0}])
def test_fewer_than_one_is_refused(told: Memory, wrong: dict[str, int]) -> None:
    with pytest.raises(InvalidInput, match="1 or more"):
        mine(told).search("cello", **wrong)


def test_near_duplicates_do_not_crowd_out_the_rest(memory: Memory) -> None:
    mine(memory).add([say("the train to Faro leaves at nine from platform two", n * 60) for n in range(8)])
    mine(memory).add(say("the train to Faro is cheaper with a return ticket", 600))
    texts = [e.observation.text for e in mine(memory).search("train to Faro", observations=4).observations]
    assert "the train to Faro is cheaper with a return ticket" in texts


def test_the_same_question_twice_gets_the_same_answer(told: Memory) -> None:
    assert mine(told).search("who is my cello teacher") == mine(told).search("who is my cello teacher")


def test_explain_shows_every_leg(told: Memory) -> None:
    plain, explained = (mine(told).search("cello teacher", explain=e) for e in (False, True))
    assert [e.id for e in plain.observations] == [e.id for e in explained.observations]
    assert {"lexical", "dense"} <= set(explained.observations[0].legs)
    assert explained.observations[0].legs["lexical"] > 0
    assert explained.observations[0].legs["dense"] > 0
    assert plain.observations[0].legs == {}
    assert explained.hits[0].legs


# --- what it must not do ---------------------------------------------------------------------------------


def _fingerprint(database: Path) -> dict[str, str]:
    files = sorted(database.parent.glob(database.name + "*"))
    # -shm holds the readers' own marks: no part of the data
    return {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in files if not f.name.endswith("-shm")}


@pytest.mark.slow
def test_recall_writes_nothing(told: Memory, database: Path) -> None:
    strengths = [(mine(told).episodes.get(e.episode_id).stability, mine(told).episodes.get(e.episode_id).last_reviewed_at)
                 for e in mine(told).episodes.list() if e.state != "open"]  # fmt: skip
    before = _fingerprint(database)
    for question in QUESTIONS:
        for policy in ("default", "seed-003"):
            mine(told).search(question, policy=policy, explain=True)
    mine(told).episodes.recent()
    mine(told).boundaries.explain(mine(told).episodes.list()[0].episode_id)
    mine(told).boundaries.whatif("ana", "default")
    mine(told).boundaries.trace("ana")
    list(mine(told).export())
    assert _fingerprint(database) == before
    assert strengths == [(mine(told).episodes.get(e.episode_id).stability, mine(told).episodes.get(e.episode_id).last_reviewed_at)
                         for e in mine(told).episodes.list() if e.state != "open"]  # fmt: skip


@pytest.mark.parametrize("query", ["", "   ", "\n"])
def test_a_blank_query_is_refused(told: Memory, query: str) -> None:
    with pytest.raises(InvalidInput, match="query is empty"):
        mine(told).search(query)


@pytest.mark.parametrize(
    "query", ["?", "the", "🎉", "a" * 5000, "DROP TABLE observation; --", "\x00", "%_*\"'"]
)
def test_odd_queries_are_answered(told: Memory, query: str) -> None:
    assert isinstance(mine(told).search(query).abstained, bool)


def test_unusable_options_are_refused_in_words(told: Memory) -> None:
    with pytest.raises(InvalidInput, match="no recall policy 'best'; there are default, recall-2027-01"):
        mine(told).search("cello", policy="best")
    with pytest.raises(InvalidInput, match="`since` must be before `until`"):
        mine(told).search("cello", since=NOW, until=START)
    with pytest.raises(InvalidInput, match="knows no filters"):
        mine(told).search("cello", policy="seed-003", since=START)


# --- policy seed-003 -------------------------------------------------------------------------------------


def test_seed_003_is_rank_fusion_times_retrievability_to_the_letter(memory: Memory) -> None:
    mine(memory).add(diary())
    mine(memory).flush()
    recall = mine(memory).search("cello teacher bow strokes", policy="seed-003", now=NOW)
    cello = next(e for e in mine(memory).episodes.list() if e.start_at.day == 3)
    episode = mine(memory).episodes.get(cello.episode_id)
    days = (NOW - episode.last_reviewed_at).total_seconds() / 86_400
    strength = float(retrievability(episode.stability, days))
    best = recall.hits[0]
    assert best.episode_id == episode.id
    assert best.retrievability == pytest.approx(strength, abs=1e-6)
    assert best.score == pytest.approx(strength * 2 / 61, abs=1e-6)  # first in both legs, k = 60
    assert best.evidence
    assert mine(memory).search("cello", policy="rrf-decay", now=NOW) == mine(memory).search(
        "cello", policy="seed-003", now=NOW
    )


def test_seed_003_without_an_embedder_is_the_word_leg_and_says_so(open_memory: OpenMemory) -> None:
    memory = open_memory(embedder="none")
    mine(memory).add(diary())
    mine(memory).flush()
    recall = mine(memory).search("cello strings", policy="seed-003", now=NOW)
    assert recall.hits[0].score == pytest.approx(recall.hits[0].retrievability / 61, abs=1e-6)
    assert "words only" in recall.notes[0]


def test_age_changes_the_scores_of_seed_003(memory: Memory) -> None:
    mine(memory).add(diary())
    mine(memory).flush()
    fresh, old = (mine(memory).search("cello", policy="seed-003", now=now).hits[0] for now in (START, NOW))
    assert fresh.retrievability == 1
    assert old.score < fresh.score


# --- an embedder that comes and goes ---------------------------------------------------------------------


def test_a_query_that_cannot_be_embedded_is_answered_by_words(open_memory: OpenMemory) -> None:
    embedder = Unreliable(TopicEmbedder("tap", "lisbon", "cello", "bread"))
    memory = open_memory(embedder=embedder)
    mine(memory).add(diary())
    embedder.down = True
    recall = mine(memory).search("who is my cello teacher")
    assert recall.observations[0].observation.text.startswith("My cello teacher")
    assert "words only: the embedder is down" in recall.notes[0]


def test_meaning_alone_finds_what_shares_no_word(open_memory: OpenMemory) -> None:
    embedder = TopicEmbedder(
        "cello", "tap", name="minilm-of-the-test"
    )  # abstention knows minilm's cosines only
    memory = open_memory(embedder=embedder)
    mine(memory).add([*talk(TAP, 0), *talk(CELLO, 1)])
    recall = mine(memory).search("violoncello", explain=True)
    assert not recall.abstained
    assert "cello" in recall.observations[0].observation.text
    assert (recall.observations[0].legs["lexical"], recall.observations[0].legs["dense"] > 0) == (0, True)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Kommt Onkel Rolf zum Geburtstag?", ""),
        ("Kommt Rolf zum Geburtstag?", ""),
        ("Will anybody from school travel to Atlantis?", "'Atlantis' is never mentioned here"),
        ("Did Quentin ever visit Atlantis?", "'Quentin' and 'Atlantis' are never mentioned here"),
    ],
)
def test_only_what_nobody_mentioned_is_said_never_to_be_mentioned(
    open_memory: OpenMemory, question: str, said: str
) -> None:
    user = mine(open_memory())
    for minute, text in enumerate(("Uncle Rolf rents a van.", "Uncle Rolf drives it to Altona.", "Right.")):
        user.add([{"name": "Lena", "content": text, "timestamp": f"2024-05-01T10:{minute:02}:00Z"}])
    recall = user.search(question)
    assert recall.abstained
    (note,) = [one for one in recall.notes if one.startswith("nothing relevant")]
    assert note.endswith(f"; {said}" if said else "is needed")


@pytest.mark.parametrize(
    ("question", "hour"),
    [
        ("what did I say yesterday evening?", 19),
        ("what did I say yesterday morning?", 9),
        ("what did I say on Thursday night?", 19),
        ("was habe ich gestern Nachmittag gesagt?", 14),
        ("昨天下午我说了什么", 14),
    ],
)
@pytest.mark.parametrize("offset", first(1, [0, 9]))
def test_a_part_of_a_day_leaves_only_its_hours_by_the_clock_of_who_writes(
    open_memory: OpenMemory, question: str, hour: int, offset: int
) -> None:
    zone = timezone(timedelta(hours=offset))
    written = datetime(2024, 5, 2, tzinfo=zone)  # a Thursday
    memory = open_memory(clock=lambda: (written + timedelta(hours=34)).astimezone(UTC))
    times = [written.replace(day=day, hour=said) for day in (1, 2) for said in (9, 14, 19)]
    mine(memory).add(
        [
            {"content": f"the boiler of flat {n} hums", "timestamp": at.isoformat()}
            for n, at in enumerate(times)
        ]
    )
    answer = mine(memory).search(question, observations=6, explain=True)
    in_time = [e.observation.at for e in answer.observations if e.legs["time"] > 0]
    assert in_time == [written.replace(hour=hour)]
    assert answer.observations[0].observation.at == written.replace(hour=hour)


@pytest.mark.parametrize("hours", [0, 1])  # asked in UTC, or where it was written
def test_a_day_of_summer_is_one_of_summer_time_in_winter_too(memory: Memory, hours: int) -> None:
    summer, winter = "2023-09-30T00:10:00+02:00", "2023-11-07T09:00:00+01:00"
    mine(memory).add([{"content": "the boiler hums", "timestamp": summer}])
    mine(memory).add([{"content": "the rent is due", "timestamp": "2023-10-01T00:10:00+02:00"}])
    mine(memory).add([{"content": "the roof leaks", "timestamp": winter}])
    asked = datetime(2023, 11, 7, 10, tzinfo=timezone(timedelta(hours=hours)))
    answer = mine(memory).search("Was war am 30. September?", now=asked)
    assert [one.observation.text for one in answer.observations] == ["the boiler hums"]


def test_a_zone_in_which_it_is_asked_goes_before_that_of_the_messages(open_memory: OpenMemory) -> None:
    memory = open_memory()
    times = [datetime(2024, 5, 2, hour, tzinfo=UTC) for hour in (9, 19)]
    mine(memory).add([{"content": "the boiler hums", "timestamp": at.isoformat()} for at in times])
    asked = datetime(2024, 5, 3, 6, tzinfo=timezone(timedelta(hours=9)))
    answer = mine(memory).search("what did I say yesterday evening?", now=asked, explain=True)
    assert [e.observation.at.hour for e in answer.observations if e.legs["time"] > 0] == [9]


def test_an_evening_nobody_spoke_in_is_not_taken_for_the_one_before(memory: Memory) -> None:
    mine(memory).add(
        [say("the boiler hums", minutes) for minutes in (600, 1440)]
    )  # at seven, at nine next day
    question = "what did I say yesterday evening?"
    answer = mine(memory).search(question, now=START + timedelta(days=2))
    assert answer.observations == ()
    assert answer.notes == ["nothing was said from 2024-05-02 17:00 to 2024-05-02 23:00 UTC"]


@pytest.mark.parametrize(
    "question",
    ["Was war am 24.4.?", "What happened on 24 April?", "Was war vor 8 Tagen?", "¿Qué pasó hace ocho días?"],
)
def test_where_nothing_was_said_in_a_time_asked_for_alone_that_is_the_answer(
    memory: Memory, question: str
) -> None:
    mine(memory).add([say("the boiler hums"), say("the rent is due", 1440)])
    answer = mine(memory).search(question, now=START + timedelta(days=1))
    assert list(answer.hits) == []
    assert answer.notes == ["nothing was said of 2024-04-24"]


def test_who_asks_what_was_said_at_a_time_is_told_of_that_time_alone(memory: Memory, clock: Clock) -> None:
    mine(memory).add("I live in Graz, and I took my bike to Rad-Eck yesterday.", thread="chat")
    clock.forward(days=9)
    mine(memory).add("The school begins at eight now.", thread="chat")
    clock.forward(days=1)
    mine(memory).flush()
    for question in ("What did I say yesterday?", "Was habe ich gestern gesagt?", "昨天我说了什么？"):
        answer = mine(memory).search(question)
        texts = [hit.observation.text for hit in answer.observations]
        assert texts == ["The school begins at eight now."], question
        assert answer.confidence > 0.9
        assert [hit.fact.fact for hit in answer.facts if "Graz" in hit.fact.fact] == []
    clock.forward(days=200)
    answer = mine(memory).search("What did I say yesterday?")
    assert (answer.hits, answer.observations, list(answer.facts)) == ((), (), [])
    assert answer.notes[0].startswith("nothing was said from ")
    assert str(answer) == answer.notes[0]
    assert len(mine(memory).search("What did we talk about before Monday?").observations) == 2
    (note,) = mine(memory).search("What did I say before 3 March 2020?").notes
    assert note == "nothing was said before 2020-03-03 00:00 UTC"
    assert len(mine(memory).search("Where did I take my bike yesterday?").observations) > 0


@pytest.mark.parametrize("question", ["what did I say yesterday?", "what did I say on Thursday?"])
def test_a_whole_day_is_one_of_whoever_writes(open_memory: OpenMemory, question: str) -> None:
    memory = open_memory(clock=lambda: datetime(2024, 5, 2, 17, tzinfo=UTC))  # Friday, two in the morning
    times = ["2024-05-01T23:00:00+09:00", "2024-05-02T01:00:00+09:00", "2024-05-03T01:00:00+09:00"]
    mine(memory).add([{"content": f"the boiler hums, {at}", "timestamp": at} for at in times])
    answer = mine(memory).search(question)
    assert [one.observation.text for one in answer.observations] == [f"the boiler hums, {times[1]}"]


def test_a_channel_nothing_came_by_is_named_with_those_there_are(memory: Memory) -> None:
    mine(memory).add("The boiler hums.", channel="whatsapp")
    assert mine(memory).search("boiler", channel=" WhatsApp").hits
    answer = mine(memory).search("boiler", channel="whatsap")
    assert answer.hits == ()
    assert answer.notes[-1] == "nothing is stored of channel 'whatsap'; there are whatsapp"


def test_a_month_asked_for_long_after_is_the_one_that_is_known(memory: Memory, clock: Clock) -> None:
    mine(memory).add("The boiler was repaired.", thread="chat")
    month = f"{clock.now:%B}"
    clock.forward(days=700)
    answer = mine(memory).search(f"What did I say in {month}?")
    assert [hit.observation.text for hit in answer.observations] == ["The boiler was repaired."]
