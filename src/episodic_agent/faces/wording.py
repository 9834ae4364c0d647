"""How every face for people says what is stored by a name of its own: reasons, decisions, who spoke.

The stored names stay in JSON, exports and HTTP; a name that somebody else's policy gave stands as it is.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from math import isfinite
from typing import TYPE_CHECKING, Final

from episodic_agent.core.facts.speakers import OWNER, as_prompted, speaker_of
from episodic_agent.core.language import plural
from episodic_agent.data import texts
from episodic_agent.showing import clipped

if TYPE_CHECKING:
    from episodic_agent.engine.results import FactHit, Hit
    from episodic_agent.schemas import AuditEntry, Caller
    from episodic_agent.schemas.decisions import Decision

FAINT: Final = 0.1  # confidence below which a hit behind the best is surely no answer
ANSWERS: Final = 0.15  # confidence from which a hit lends its facts some
SURE_FACT: Final = 0.45  # score from which a fact answers whatever else does
LISTED: Final = 10  # users that are named
_CUES: Final[Mapping[str, str]] = {  # of the policy `default`, which names them shortly
    "answers": "answers a question",
    "content": "without the clock",
    "continues": "carries on",
    "depth": "dip in likeness",
    "distance": "far in meaning",
    "marker": "opening words",
    "novelty": "new words",
    "silence_unusual": "unusual silence",
    "speaker": "another speaker",
    "weight": "says much",
    "words": "no words shared",
}
_STEP_CUES: Final[Mapping[str, str]] = {  # of the policies for steps
    "activity": "another activity",
    "armed": "ready to cut",
    "event": "events",
    "known_across": "words it has had",
    "location": "another place",
    "moved": "another place now",
    "pause": "hours of silence",
    "prediction": "the unexpected",
    "prediction_error": "prediction error",
    "R1_second_again": "second step as at its beginning",
    "things_across": "the same things before and after",
    "things_in_frame_R0": "things it has had",
    "unseen_R0": "words it has not had",
}
_LEGS: Final[Mapping[str, str]] = {  # what a score is the sum of
    "dense": "meaning",
    "lexical": "words",
    "more": "other messages",
    "observation": "best message",
    "own": "title and summary",
    "part": "part of the question",
    "second": "like the first hits",
    "states": "a statement",
    "replaced": "no longer so",
    "summary": "its summary",
}
_SCORED: Final = re.compile(r"\b([A-Za-z][A-Za-z0-9_]*) (-?\d\.\d\d)(?=[,)])")
_COMMAND: Final = re.compile(r"; `episodic ([a-z]+(?: [a-z]+)?)[^`]*`[^;]*")
_TOLD_FIRST: Final = ("observations", "episodes", "threads", "facts", "summaries", "decisions", "vectors")
TITLE: Final = 28  # characters of what a decision is about
_REASONS: Final[Mapping[str, str]] = {
    "": "the thread begins",
    "open": "still open",
    "manual": "on request",
    "location_change": "another place",
    "thread_end": "end of the thread",
    "surprise": "a surprise",
    "topic_shift": "new subject",
    "salient_event": "something important",
    "prediction_error": "the unexpected",
    "time_gap": "pause",
    "size_cap": "grown too long",
    "time_interval": "its time was over",
    "end_of_stream": "end of stream",
    "world_end": "end of the world's episode",
    "linked": "linked threads",
}
_DECISIONS: Final[Mapping[str, str]] = {
    "boundary": "an episode ends",
    "chain": "continues another",
    "compact": "a summary",
    "facts": "facts",
    "link": "same matter",
    "resegment": "cut anew",
    "review": "how a recall served",
    "session": "a session",
    "skill": "a skill",
    "skill_use": "a skill used",
    "thread": "which thread",
    "tune": "learning from outcomes",
}
_VERDICTS: Final[Mapping[tuple[str, str], str]] = {
    ("chain", "CHAIN"): "yes",
    ("chain", "DON'T_CHAIN"): "no",
    ("compact", "size"): "many turns",
    ("compact", "time"): "a day old",
    ("facts", "told"): "learnt",
    ("facts", "nothing"): "nothing lasting",
    ("link", "LINK"): "yes",
    ("link", "DON'T_LINK"): "no",
    ("session", "START"): "started",
    ("thread", "late"): "an earlier one",
    ("thread", "named"): "got a name",
    ("thread", "opens"): "a new one",
    ("thread", "reopens"): "one opened again",
}

FACES: Final[Mapping[str, str]] = {  # who calls
    "python": "a program in Python",
    "cli": "the command line",
    "http": "the HTTP service",
    "dashboard": "the dashboard",
    "mcp": "an agent's tools (MCP)",
    "work": "later work",
}


def work_words(kind: str) -> str:
    """Say what a kind of later work does.

    >>> work_words("encode"), work_words("mine")
    ('give an episode its title and summary', 'mine')
    """
    return texts("wording/audit.work").get(kind, kind)


def act_words(entry: "AuditEntry") -> str:
    """Say what an entry of the audit was: a call, later work, or a question to a language model."""
    if entry.kind == "model":
        return f"ask {entry.note or 'a language model'} {_asked(entry.verb)}"
    called = None if entry.by.face == "work" else texts("wording/audit.calls").get(entry.verb)
    return called or work_words(entry.verb)


def _asked(stage: str) -> str:
    return texts("wording/audit.asked").get(stage, stage)


def caller_words(caller: "Caller") -> str:
    """Say who did something, as the audit tells it.

    >>> from episodic_agent.schemas import Caller
    >>> caller_words(Caller("http", "3fa2", "write")), caller_words(Caller(""))
    ('the HTTP service, key 3fa2 (write)', 'not kept')
    """
    face = FACES.get(caller.face, caller.face) or "not kept"
    return f"{face}, key {caller.key} ({caller.role})" if caller.key else face


def counted_words(entry: "AuditEntry") -> str:
    """Say how many of what an entry of the audit counts, as people call it."""
    return entry.summary.replace("observation", "message")


def erased_words(counts: Mapping[str, int]) -> str:
    """Say what an erasure counted, what matters most first.

    All that is stored counts there: more facts and episodes than a memory's figures tell.

    >>> erased_words({"stays": 1, "observations": 3, "facts": 4})
    '3 observations, 4 facts (ended ones too), 1 stay'
    """
    order = [*(n for n in _TOLD_FIRST if n in counts), *(n for n in counts if n not in _TOLD_FIRST)]
    too = {"facts": " (ended ones too)"} if counts.get("facts", 0) > 1 else {}
    too |= {"episodes": " (those of whole parts too)"} if counts.get("parts") else {}
    return ", ".join(plural(counts[n], _single(n), n) + too.get(n, "") for n in order) or "nothing"


def _single(name: str) -> str:
    """Return the name of one of those that are counted.

    >>> _single("summaries"), _single("stays")
    ('summary', 'stay')
    """
    return f"{name.removesuffix('ies')}y" if name.endswith("ies") else name.removesuffix("s")


def for_no_terminal(problem: str, remedies: Mapping[str, str] | None = None) -> str:
    """Return an error for who has no command line: a remedy that is a command gives way.

    `remedies` take its place, by the command that an error names.

    >>> for_no_terminal("no episode 'x' in this memory; `episodic episodes` lists the ids")
    "no episode 'x' in this memory"
    >>> for_no_terminal("no fact 'x'; `episodic facts list` shows the ids", {"facts list": "get_facts tells"})
    "no fact 'x'; get_facts tells"
    """

    def other(command: re.Match[str]) -> str:
        remedy = (remedies or {}).get(command[1])
        return f"; {remedy}" if remedy else ""

    return _COMMAND.sub(other, problem)


def reason(name: str) -> str:
    """Say in a few words why an episode ended.

    >>> reason("topic_shift"), reason("time_gap"), reason("mine")
    ('new subject', 'pause', 'mine')
    """
    return _REASONS.get(name, name)


def decided(kind: str) -> str:
    """Say what kind of question a decision answered.

    >>> decided("boundary"), decided("mine")
    ('an episode ends', 'mine')
    """
    return _DECISIONS.get(kind, kind)


def sentence(text: str, name: str) -> str:
    """Return why an episode begins or ends, as an explanation says it, without stored names.

    >>> sentence("topic_shift: probability 0.53 (words 0.80)", "topic_shift")
    'probability 0.53 (no words shared 0.80)'
    >>> sentence("the thread begins here", "")
    'the thread begins here'
    """
    words = text.removeprefix(f"{name}: ")
    return _SCORED.sub(lambda score: f"{cue_words(score[1])} {score[2]}", words) if name else words


def cue_words(name: str) -> str:
    """Say what a cue tells as words; of a policy that names its own, the name.

    >>> cue_words("words"), cue_words("topic_distance")
    ('no words shared', 'topic distance')
    """
    return _CUES.get(name) or _STEP_CUES.get(name, name.replace("_", " "))


def leg_words(name: str) -> str:
    """Say what a part of a score stands for.

    >>> leg_words("lexical"), leg_words("time")
    ('words', 'time')
    """
    return _LEGS.get(name, name)


def verdict(decision: "Decision") -> str:
    """Say what was decided."""
    kind, name = decision.type, decision.verdict
    if kind == "compact":
        return compacted(name)
    return _VERDICTS.get((kind, name), reason(name) if kind == "boundary" else name)


def compacted(trigger: str) -> str:
    """Say why a part of a thread was summarised.

    >>> compacted("time"), compacted("manual")
    ('a day old', 'on request')
    """
    return _VERDICTS.get(("compact", trigger), reason(trigger))


def measured(decision: "Decision") -> str:
    """Say what a decision was measured by, in the unit it was measured in; "" where somebody asked for it."""
    kind, name, score, least = decision.type, decision.verdict, decision.score, decision.threshold
    if kind == "boundary" and name != "manual":
        needed = f", {least:.0%} is enough" if isfinite(least) else ""
        return f"{score:.0%} likely{needed}" if 0 <= score <= 1 else f"score {score:.2f}"
    if kind == "thread" and least:
        return f"{_hours(score / 3600)} of silence, limit {_hours(least / 3600)}"
    if kind == "compact" and name == "time":
        return f"{_hours(score)} old, limit {_hours(least)}"
    if kind == "compact" and name == "size":
        return f"{plural(round(score), 'turn')}, limit {least:.0f}"
    if kind == "facts":
        return plural(round(score), "statement")
    if kind in ("chain", "link", "skill"):
        return f"score {score:.2f}, {least:.2f} is needed"
    if kind == "skill_use":
        return f"confidence {score:.2f} now"
    if kind == "tune":
        return f"{score:.0%} right, {least:.0%} before"
    if kind == "review":
        return f"{score:.0f} on a scale from 1 to 4"
    return ""


def _hours(hours: float) -> str:
    """Say hours as a person does.

    >>> _hours(0.5), _hours(113.3), _hours(15_212)
    ('30 min', '113 h', '634 days')
    """
    if hours >= 120:
        return plural(round(hours / 24), "day")
    return f"{hours:.0f} h" if hours >= 2 else f"{hours * 60:.0f} min"


def likely_hits(hits: "Sequence[Hit]") -> "Sequence[Hit]":
    """Return the hits that people are shown: the best, and no other that is surely no answer.

    Reference policies are not confident of anything; theirs are all shown.
    """
    if not any(hit.confidence for hit in hits):
        return hits
    return [hit for rank, hit in enumerate(hits) if rank == 0 or hit.confidence >= FAINT]


def bearing_facts(facts: "Sequence[FactHit]", hits: "Sequence[Hit]") -> "Sequence[FactHit]":
    """Return the facts that people are shown beside some hits: those that surely answer, or stand in a hit.

    Words and meaning bring a fact near to many questions of a memory in one language; a fact of an episode
    that answers is another matter.
    """
    sure = any(hit.confidence for hit in hits)
    answers = [hit for hit in hits if hit.confidence >= ANSWERS or not sure]
    episodes = {hit.episode_id for hit in answers}
    messages = {proof.observation.id for hit in answers for proof in hit.evidence}
    return [
        known
        for known in facts
        if known.score >= SURE_FACT
        or not episodes.isdisjoint(known.episodes)
        or not messages.isdisjoint(proof.observation_id for proof in known.fact.evidence)
    ]


def minute(at: datetime) -> str:
    """Return a time to the minute, with its zone where that is not UTC.

    >>> from datetime import timedelta, timezone
    >>> minute(datetime(2026, 9, 30, 0, 10, tzinfo=timezone(timedelta(hours=2))))
    '2026-09-30 00:10 +02:00'
    """
    return f"{at:%Y-%m-%d %H:%M}{zone(at)}"


def second(at: datetime) -> str:
    """Return a time to the second, with its zone where that is not UTC."""
    return f"{at:%Y-%m-%d %H:%M:%S}{zone(at)}"


def lasted(start: datetime, end: datetime) -> str:
    """Say how long an episode lasted, as briefly as a column of a table needs it.

    >>> first = datetime(2026, 3, 1, 9)
    >>> lasted(first, datetime(2026, 3, 1, 9, 45)), lasted(first, datetime(2026, 3, 4, 9))
    ('45 min', '3 d')
    """
    minutes = int((end - start).total_seconds() // 60)
    if minutes < 100:
        return f"{minutes} min"
    return f"{minutes / 60:.0f} h" if minutes < 48 * 60 else f"{minutes / 1440:.0f} d"


def zone(at: datetime) -> str:
    """Return the zone of a time behind a space, "" for UTC."""
    return f" {at.isoformat()[-len('+00:00') :]}" if at.utcoffset() else ""


def spoken_by(actor: str, owner: str) -> str:
    """Name who spoke: whose memory it is by their own name, whatever the file called them.

    >>> [spoken_by(name, "nora") for name in ("user", "用户", "The user", "Tom")]
    ['nora', 'nora', 'nora', 'Tom']
    """
    return owner if speaker_of(actor) == OWNER else actor


def fact_words(fact: str, owner: str) -> str:
    """Say a fact for people: what its owner said stands under their own name.

    >>> fact_words('The user: "I fly on Monday."', "nora"), fact_words('Tom: "Me too."', "nora")
    ('nora: "I fly on Monday."', 'Tom: "Me too."')
    """
    words = as_prompted(fact)
    return fact if words == fact else f"{owner}: {words}"


def quoted(line: str, actor: str, owner: str) -> str:
    """Return a line that begins with its speaker (`Evidence.quoted`) under the name people know."""
    return f"{spoken_by(actor, owner)}{line.removeprefix(actor)}"


def users_words(users: Sequence[str]) -> str:
    """Say whose memories there are, the first of them by name.

    >>> users_words(["ana", "bo"]), users_words([])
    ('there are ana, bo', 'nobody is remembered here yet')
    """
    more = f" and {len(users) - LISTED} more" if len(users) > LISTED else ""
    return f"there are {', '.join(users[:LISTED])}{more}" if users else "nobody is remembered here yet"


def spaces_words(spaces: Sequence[str]) -> str:
    """Say in which spaces users are remembered, where none is in the one that was opened.

    >>> spaces_words(["acme", "bici"])
    'nobody is remembered in this space, but in acme, bici; name one with EPISODIC_SPACE'
    """
    more = f" and {len(spaces) - LISTED} more" if len(spaces) > LISTED else ""
    names = f"{', '.join(spaces[:LISTED])}{more}"
    return f"nobody is remembered in this space, but in {names}; name one with EPISODIC_SPACE"


def subject_words(title: str, identity: str) -> str:
    """Name what a decision is about by its title and the beginning of its id."""
    return f"{clipped(title, TITLE)} ({identity})" if title else identity
