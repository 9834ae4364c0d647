"""Skills from what was done again and again: actions in the same order, and requests answered alike.

No language model is needed: a skill is called by the request that usually stands before it, as it was said,
with "…" for what differs from time to time; without one by its actions. A pattern is checked in eight ways;
how often it was seen and the share of
checks it passes decide whether it becomes a skill. Two patterns that rest on the same turns are one: the
surer stands.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from episodic_agent.core.language.tenses import speaks_of_past
from episodic_agent.core.language.timewords import normal
from episodic_agent.core.recall.alone import asks
from episodic_agent.core.skills.confidence import THRESHOLD, initial_confidence, present_confidence
from episodic_agent.core.skills.requests import Exchange, Recurring, chooses, constant_terms, recurring
from episodic_agent.core.skills.sequences import (
    BASELINE,
    COMMAND_LINES,
    Action,
    Bounds,
    Course,
    Pattern,
    frequent,
)
from episodic_agent.schemas.skills import Skill, SkillKind, TurnRef

CHECKS: Final = ("frequent", "spread", "lasting", "succeeds", "accepted", "varied", "compact", "specific")
_MOSTLY: Final = 0.8  # share of occurrences a check is about
SAME_TURNS: Final = 0.5  # share of a pattern's turns in a surer one from which it is the same
_EXAMPLES: Final = 3
_EXAMPLE: Final = 160  # characters
_APART: Final = re.compile(r"[_\W]+")
_HUMPS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_USUALLY: Final = 0.5  # share of occurrences after a request that a skill is called by
_FEWEST: Final = 2  # words that texts must share to be told as one
_COMMON: Final = 0.4  # share of a text's words that others must have as well
_LONGEST: Final = 80  # characters of a request in a name
_LONGEST_NAME: Final = 200  # characters of a name made of actions
_PLEASE: Final = re.compile(
    r"(?i),?\s*\b(?:please|bitte|por favor|per favore|s['’]il (?:te|vous) pla[iî]t)\b,?"
)
GAP: Final = "…"  # stands for what differs from time to time
_MARKS: Final = ".,;:!?\"'()“”‘’«»"
_SPOKEN: Final = 4  # characters of an argument that may have come from an earlier result by more than chance


@dataclass(frozen=True, slots=True)
class Mined:
    """What mining found: skills, surest first, and the patterns that are none yet, with their confidence."""

    created: tuple[Skill, ...]
    below: tuple[Skill, ...]


def mine(courses: Sequence[Course], exchanges: Sequence[Exchange], bounds: Bounds = BASELINE) -> Mined:
    """Return the skills in the episodes of one user, in the order of time; the same input gives the same.

    `courses` are the actions of each episode or job, `exchanges` the requests of all of them.
    """
    objected = {e.turn for e in exchanges if e.objected}
    asked = {e.turn: e for e in exchanges}
    skills: list[Skill | None] = [_procedure(p, courses, asked, objected) for p in frequent(courses, bounds)]
    skills += [_request(group) for group in recurring(exchanges, bounds.least)]
    stored_skills = distinct(skill for skill in skills if skill is not None)
    return Mined(
        tuple(skill for skill in stored_skills if skill.confidence > THRESHOLD),
        tuple(skill for skill in stored_skills if skill.confidence <= THRESHOLD),
    )


def distinct(skills: Iterable[Skill], known: Sequence[Skill] = ()) -> list[Skill]:
    """Return skills surest first, without those whose turns are mostly a surer one's or a known one's."""
    stored_skills: list[Skill] = []
    taken: list[frozenset[TurnRef]] = [frozenset(skill.evidence) for skill in known]
    for skill in sorted(skills, key=_standing):
        turns = frozenset(skill.evidence)
        if any(len(turns & other) >= SAME_TURNS * len(turns) for other in taken):
            continue
        stored_skills.append(skill)
        taken.append(turns)
    return stored_skills


def seen_again(known: Skill, skill: Skill) -> Skill:
    """Return a known skill with the turns of a new finding of it; its confidence stays what uses made it.

    It was not idle when it was seen: the time before is taken off once, and counted from there.
    """
    evidence = tuple(sorted({*known.evidence, *skill.evidence}))
    seen = replace(known, evidence=evidence, frequency=len(evidence))
    if known.last_used is None or skill.last_used is None or skill.last_used <= known.last_used:
        return seen
    return replace(seen, confidence=present_confidence(known, skill.last_used), last_used=skill.last_used)


def _standing(skill: Skill) -> tuple[float, bool, int, str, tuple[str, ...]]:
    # of equals what was done says more than what was asked
    done = skill.kind is SkillKind.PROCEDURAL
    return -skill.confidence, not done, -len(skill.steps), skill.name, skill.steps


def _procedure(
    pattern: Pattern,
    courses: Sequence[Course],
    asked: dict[TurnRef, Exchange],
    objected: set[TurnRef],
) -> Skill:
    """Make a procedural skill of a frequent sequence of actions."""
    runs = [[courses[o.course].actions[p] for p in o.places] for o in pattern.occurrences]
    once = {run[0].turn: (run, o) for run, o in zip(runs, pattern.occurrences, strict=True)}
    rows = [run for run, _ in once.values()]
    parameters, steps = _arguments(pattern.names, rows)
    held = _Checks(len(rows))
    checks = {
        "frequent": len(rows) >= BASELINE.least,
        "spread": len({courses[o.course].episode_id for _, o in once.values()}) >= 2,
        "lasting": len({run[0].at.date() for run in rows}) >= 2,
        "succeeds": held.mostly(not any(action.failed for action in run) for run in rows),
        "accepted": held.mostly(not {a.turn for a in run} & objected for run in rows),
        # what differs may stand in any step: tests are run alike before each release of another version;
        # of two cases by turns each is one that is repeated
        "varied": not parameters or len({_all_arguments(run) for run in rows}) >= BASELINE.least,
        "compact": held.mostly(o.places[-1] - o.places[0] + 1 == len(o.places) for _, o in once.values()),
        "specific": len(set(pattern.names)) == len(pattern.names),
    }
    requests = [asked[turn].request for turn in once if turn in asked]
    request = request_form(requests)
    common = common_request(requests) if len(requests) >= _USUALLY * len(rows) else ""
    done = ", then ".join(_spoken(name) for name in pattern.names)
    ends = [run[-1] for run in rows if run[-1].step and not run[-1].failed]
    outcome = common_request([end.result for end in ends if end.result])
    return _skill(
        Skill(
            name=common or _cut(done, _LONGEST_NAME),
            description=f"{done}{f' when asked: {request}' if request else ''}",
            kind=SkillKind.PROCEDURAL,
            steps=steps,
            preconditions=(f"asked: {request}",) if request else (),
            postconditions=(outcome,) if outcome else (),
            parameters=parameters,
            examples=_examples(requests),
            evidence=tuple(sorted(once)),
        ),
        checks,
        max(run[-1].at for run in rows),
    )


def _request(group: Recurring) -> Skill | None:
    """Make a skill of a request that was answered again and again."""
    rows = group.exchanges
    answered = [row for row in rows if row.answer.strip() or row.tools]
    if not answered:
        return None
    tools = Counter(row.tools for row in rows).most_common(1)[0]
    baseline = tools[0] if tools[1] >= _MOSTLY * len(rows) else ()
    request, reply = request_form([row.request for row in rows]), request_form([r.answer for r in answered])
    held = _Checks(len(rows))
    alike = _shared_words([row.answer for row in answered])
    if alike and not baseline and held.mostly(_reports_a_deed(row) for row in answered):
        return None
    checks = {
        "frequent": len(rows) >= BASELINE.least,
        "spread": len({row.episode_id for row in rows}) >= 2,
        "lasting": len({row.at.date() for row in rows}) >= 2,
        "succeeds": held.mostly(not row.failed for row in rows),
        "accepted": held.mostly(not row.objected for row in rows),
        "varied": len({row.request.casefold() for row in rows}) > 1,
        "compact": len(answered) >= _MOSTLY * len(rows),
        "specific": bool(baseline) or alike,
    }
    deciding = held.mostly(chooses(row.request) for row in rows)
    kind = SkillKind.DECISION if deciding else SkillKind.INTERACTION if baseline else SkillKind.COMMUNICATION
    return _skill(
        Skill(
            name=f"{'decide' if deciding else 'answer'}: {request}",
            description=f"{'Help to decide' if deciding else 'Answer'} when asked: {request}",
            kind=kind,
            steps=(*map(_spoken, baseline), f"answer: {reply}" if alike else "answer"),
            preconditions=(f"asked: {request}",),
            parameters=_slots(rows),
            returns=f"an answer like: {reply}" if alike else "",
            examples=_examples([row.request for row in rows]),
            evidence=tuple(sorted({row.turn for row in rows})),
        ),
        checks,
        max(row.at for row in rows),
    )


def _reports_a_deed(exchange: Exchange) -> bool:
    """Tell whether an order is answered by words that it was done: "My pills, please", "They are taken".

    Who learns to say so learns nothing: what worked was the deed.
    """
    return not asks(exchange.request) and speaks_of_past(normal(exchange.answer))


def _skill(draft: Skill, checks: dict[str, bool], last: datetime) -> Skill:
    validation = sum(checks.values()) / len(checks)
    sure = initial_confidence(len(draft.evidence), validation)
    return replace(
        draft,
        frequency=len(draft.evidence),
        validation=validation,
        checks=checks,
        confidence=sure,
        initial=sure,
        last_used=last,
    )


class _Checks:
    """Shares of occurrences."""

    def __init__(self, count: int) -> None:
        self._count = count

    def mostly(self, held: Iterable[bool]) -> bool:
        return sum(held) >= _MOSTLY * self._count


def _arguments(
    names: Sequence[str], rows: Sequence[Sequence[Action]]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what differs from time to time, and the steps with their constant arguments.

    An argument that an earlier step of the same run returned is neither: it is handed on.
    """
    parameters: dict[str, None] = {}
    steps: list[str] = []
    for place, name in enumerate(names):
        if shell := rows[0][place].shell:
            line = _command_line([run[place] for run in rows])
            parameters |= {} if GAP not in line else {"command": None}
            steps.append(f"{shell}(command={line})")
            continue
        keys = [key for key in rows[0][place].arguments if all(key in run[place].arguments for run in rows)]
        texts: list[str] = []
        for key in keys:
            values = {run[place].arguments[key] for run in rows}
            if all(_handed_on(run, place, key) for run in rows):
                texts.append(f"{key} from before")
            elif len(values) == 1:
                texts.append(f"{key}={values.pop()[:40]}")
            else:
                parameters[key] = None
                texts.append(f"{key}=…")
        steps.append(f"{name}({', '.join(texts)})" if texts else name)
    return tuple(parameters), tuple(steps)


def _all_arguments(run: Sequence[Action]) -> tuple[tuple[str, str], ...]:
    return tuple(pair for action in run for pair in sorted(action.arguments.items()))


def _command_line(calls: Sequence[Action]) -> str:
    """Return what calls of a shell ran, with "…" for what differs; the program alone where lengths do."""
    lines = [call.arguments[min(COMMAND_LINES.intersection(call.arguments))] for call in calls]
    rows = [line.split() for line in lines]
    if len({len(row) for row in rows}) > 1:
        return f"{calls[0].name} {GAP}"
    return _cut(_with_gaps(rows[0], [len(set(column)) == 1 for column in zip(*rows, strict=True)]))


def _handed_on(run: Sequence[Action], place: int, key: str) -> bool:
    value = run[place].arguments[key]
    return len(value) >= _SPOKEN and any(value in action.result for action in run[:place])


def _spoken(name: str) -> str:
    """Return an action as people read it; what stands in words already stays as it is.

    >>> _spoken("getWeather"), _spoken("hand_Mira"), _spoken("bring Mira's mug")
    ('get weather', 'hand Mira', "bring Mira's mug")
    """
    if " " in name:
        return name
    words: list[str] = []
    for part in _APART.split(name):
        humps = [hump for hump in _HUMPS.split(part) if hump]
        # a capital inside a word only joins it to the one before; at a word's beginning it is a name's
        words += humps if len(humps) == 1 else [hump.lower() for hump in humps]
    return " ".join(words) or name


def common_request(texts: Sequence[str]) -> str:
    """Return what is usually asked for, as the shortest request says it, "" where that differs.

    >>> common_request(["Please make me a coffee.", "Make me a coffee please", "could you make me a coffee?"])
    'Make me a coffee'
    >>> common_request(["Sort the laundry", "What a day!", "I am home"])
    ''
    """
    rows = [words for text in texts if (words := _PLEASE.sub("", text[:_EXAMPLE]).split())]
    if not rows:
        return ""
    counts = Counter(word for row in rows for word in {_bare(word) for word in row})

    def differing(row: Sequence[str]) -> int:
        return sum(counts[_bare(word)] < _MOSTLY * len(rows) for word in row)

    best = min(rows, key=lambda row: (differing(row), len(row), " ".join(row)))
    same = sum(list(map(_bare, row)) == list(map(_bare, best)) for row in rows)
    shared = len(best) - differing(best)
    if same < _MOSTLY * len(rows) and shared < max(_FEWEST, len(best) * _COMMON):
        return ""
    name = _cut(_with_gaps(best, [counts[_bare(word)] >= _MOSTLY * len(rows) for word in best])).rstrip(
        ".!, "
    )
    return name[:1].upper() + name[1:]


def request_form(texts: Sequence[str]) -> str:
    """Return what texts have in common, in the words of the first, with "…" for what differs.

    The first is quoted as it stands where hardly a word is common, as in scripts without spaces.

    >>> request_form(["What's the weather in Oslo today?", "What's the weather in Rome today?"])
    "What's the weather in … today?"
    >>> request_form(["东京天气怎么样", "北京天气怎么样"]), request_form([])
    ('东京天气怎么样', '')
    """
    rows = [" ".join(text[:_EXAMPLE].split()).split(" ") for text in texts if text.strip()]
    if not rows:
        return ""
    counts = Counter(word for row in rows for word in {_bare(word) for word in row})
    shared = [counts[_bare(word)] >= _MOSTLY * len(rows) for word in rows[0]]
    if sum(shared) < max(_FEWEST, len(shared) * _COMMON):
        return _cut(" ".join(rows[0]))
    return _cut(_with_gaps(rows[0], shared))


def _with_gaps(row: Sequence[str], shared: Sequence[bool]) -> str:
    words: list[str] = []
    for word, is_shared in zip(row, shared, strict=True):
        if is_shared or words[-1:] != [GAP]:
            words.append(word if is_shared else GAP)
    return " ".join(words)


def _bare(word: str) -> str:
    return word.casefold().strip(_MARKS)


def _cut(text: str, longest: int = _LONGEST) -> str:
    return text if len(text) <= longest else f"{text[:longest].rsplit(' ', 1)[0]} …"


def _shared_words(texts: Sequence[str]) -> bool:
    """Tell whether most of the texts share a word that is no name, number or time."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(constant_terms(text[:_EXAMPLE]))
    return any(count >= _MOSTLY * len(texts) for count in counts.values())


def _slots(rows: Sequence[Exchange]) -> tuple[str, ...]:
    """Name what differs between the requests by its kind."""
    kinds: dict[str, Callable[[str], bool]] = {
        "name": _has(r"(?<=[\w,;:’')] )[A-Z][\w’'-]*"),
        "number": _has(r"\d"),
        "time": _has(r"(?i)\b(?:to(?:day|morrow|night)|week|\w+day|month)\b"),
    }
    return tuple(k for k, has in kinds.items() if sum(has(row.request) for row in rows) * 2 >= len(rows))


def _has(pattern: str) -> Callable[[str], bool]:
    return lambda text: re.search(pattern, text) is not None


def _examples(requests: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(" ".join(text[:_EXAMPLE].split()) for text in requests))[:_EXAMPLES]
