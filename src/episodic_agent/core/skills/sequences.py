"""Frequent subsequences of actions, by prefix growth with bounded gaps (PrefixSpan), at a bounded cost.

An occurrence is a run of actions in one course with at most `gap` others between two of them; occurrences of
one pattern do not overlap. A pattern that is always part of another one is left out: the longer says more.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from episodic_agent.core.failing import outcome_of_step
from episodic_agent.core.ingest.words import FAILURE
from episodic_agent.schemas import Json, Kind, Observation
from episodic_agent.schemas.skills import TurnRef


@dataclass(frozen=True, slots=True)
class Action:
    """A tool call or a step: its name, its plain arguments, whether it failed, and the turn it belongs to.

    The `result` of a step is the outcome it was given. A call of a shell is named by what it runs ("git
    push"), and its `shell` is the tool: who works in one does everything by the same call.
    """

    name: str
    turn: TurnRef
    at: datetime
    arguments: Mapping[str, str] = field(default_factory=dict)
    result: str = ""
    failed: bool = False
    step: bool = False
    shell: str = ""


@dataclass(frozen=True, slots=True)
class Course:
    """The actions of one episode or job, in order; cross-thread episodes give courses that span threads."""

    episode_id: UUID
    actions: tuple[Action, ...]


@dataclass(frozen=True, slots=True)
class Bounds:
    """What keeps mining cheap: the newest courses, their last actions, and so many patterns at most."""

    least: int = 3  # occurrences
    gap: int = 1
    shortest: int = 2
    longest: int = 12
    courses: int = 500
    actions: int = 100
    patterns: int = 1_000


@dataclass(frozen=True, slots=True)
class Occurrence:
    """Where a pattern stands: a course and the places of its actions in it."""

    course: int
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pattern:
    """A frequent sequence of action names with its occurrences, in the order of courses."""

    names: tuple[str, ...]
    occurrences: tuple[Occurrence, ...]


BASELINE = Bounds()
_MOVING: Final = 2  # words: "turn left" is how an agent moves
_SOME: Final = 3  # times that an agent moves in an episode where it does
_COMMON: Final = 8  # an action of more than every eighth step is how it moves, not what it does
COMMAND_LINES: Final = frozenset({"command", "cmd"})  # arguments by which shells take what they run,
_OF_SHELLS: Final = COMMAND_LINES | {
    "description",
    "timeout",
    "cwd",
    "workdir",
    "run_in_background",
}  # and how
_BY_SHELL: Final = ("-c", "-lc")  # behind which a line stands that is given as a list
_CHAINED: Final = re.compile(r"&&|\|\||[;|\n]")
_GOES_THERE: Final = frozenset({"cd", "pushd", "export", "set", "source"})  # what only prepares a command
_SETTING: Final = re.compile(r"^\s*(?:[A-Za-z_]\w*=\S*\s+)+")
_WORD: Final = re.compile(r"[A-Za-z][\w.:+-]*")


def actions_of(observations: Sequence[Observation], turns: Mapping[int, TurnRef]) -> list[Action]:
    """Return the tool calls and an agent's actions among observations; `turns` gives the turn of each seq.

    An action that is done again at once is one; how the agent merely moves ("turn left", again and again) is
    none. Intake leaves `name`, `arguments`, `result` and `error` in `extras`; several calls stand under
    `calls`. A result in a message of its own belongs to the call with its id, else to the last open one of
    its name.
    """
    actions: list[Action] = []
    waiting: dict[str, int] = {}  # calls whose result is not here yet, by id and by name
    moves = _moves(observations)
    for observation in observations:
        if observation.kind is Kind.STEP and observation.seq in turns:
            _do(observation, turns[observation.seq], actions, moves)
        if observation.kind is not Kind.TOOL or observation.seq not in turns:
            continue
        calls = observation.extras.get("calls")
        several = (
            calls if isinstance(calls, Sequence) and not isinstance(calls, str) else [observation.extras]
        )
        for call in several:
            if isinstance(call, Mapping):
                _take(call, turns[observation.seq], observation.at, actions, waiting)
    return actions


def has_actions(observations: Sequence[Observation]) -> bool:
    """Tell whether an agent's steps say of two different actions at least that they were done."""
    moves = _moves(observations)
    names = {_action(one) for one in observations if one.kind is Kind.STEP} - moves - {""}
    return len(names) >= BASELINE.shortest


def _moves(observations: Sequence[Observation]) -> frozenset[str]:
    counts = Counter(name for one in observations if one.kind is Kind.STEP and (name := _action(one)))
    total = counts.total()
    return frozenset(
        name
        for name, count in counts.items()
        if count >= _SOME and count * _COMMON > total and len(name.split()) <= _MOVING
    )


def _action(observation: Observation) -> str:
    action = observation.extras.get("action")
    return " ".join(action.split()).rstrip(".") if isinstance(action, str) else ""


def _do(observation: Observation, turn: TurnRef, actions: list[Action], moves: frozenset[str]) -> None:
    """Add a step's action to those found, or what came of it to the same one just before."""
    name = _action(observation)
    if not name or name in moves:
        return
    outcome = observation.extras.get("outcome")
    result = " ".join(outcome.split()) if isinstance(outcome, str) else ""
    last = actions[-1] if actions else None
    if last is not None and last.step and last.name == name and last.turn == turn:
        # tried again until it was done: what counts is how it ended
        actions[-1] = replace(last, result=result, failed=outcome_of_step(observation) == FAILURE)
        return
    failed = outcome_of_step(observation) == FAILURE
    actions.append(Action(name, turn, observation.at, result=result, failed=failed, step=True))


def _take(
    call: Mapping[str, Json], turn: TurnRef, at: datetime, actions: list[Action], waiting: dict[str, int]
) -> None:
    """Add a call to those found, or a result to the call it answers."""
    name, result, error = call.get("name"), call.get("result"), call.get("error")
    keys = [f"id {call.get('tool_call_id')}"] if call.get("tool_call_id") else []
    keys += [f"name {name}"] if isinstance(name, str) and name else []
    answered = result is not None or error is not None
    text = "" if result is None else str(result)
    place = next((waiting[key] for key in keys if key in waiting), None)
    if answered and call.get("arguments") is None and place is not None:
        actions[place] = replace(actions[place], result=text, failed=error is not None)
        for key in [key for key, other in waiting.items() if other == place]:
            del waiting[key]
    elif isinstance(name, str) and name:
        if not answered:
            waiting.update(dict.fromkeys(keys, len(actions)))
        arguments = _plain(call.get("arguments"))
        # beside what a device is told stands which one: that command is not all there is to say
        only = COMMAND_LINES.intersection(arguments) if arguments.keys() <= _OF_SHELLS else ()
        runs = command_name(arguments[min(only)]) if only else ""
        action = Action(
            runs or name, turn, at, arguments, text, error is not None, shell=name if runs else ""
        )
        actions.append(action)


def command_name(line: str) -> str:
    """Return the program that a command line runs, with its subcommand; "" where it runs none.

    >>> command_name("cd web && pnpm test --run"), command_name("ls -la"), command_name("git switch main")
    ('pnpm test', 'ls', 'git switch')
    >>> command_name("./deploy.sh now"), command_name("CI=1 make test"), command_name("")
    ('./deploy.sh', 'make test', '')
    """
    parts = [words for part in _CHAINED.split(line) if (words := _SETTING.sub("", part).split())]
    words = next((words for words in parts if words[0] not in _GOES_THERE), [])
    verbs = words[1:2] if words and _WORD.fullmatch(words[0]) else []
    return " ".join([*words[:1], *(word for word in verbs if _WORD.fullmatch(word) and "." not in word)])


def _plain(arguments: Json) -> dict[str, str]:
    if not isinstance(arguments, Mapping):
        return {}
    return {
        str(k): " ".join(map(str, v[-1:] if v[-2:-1] and v[-2] in _BY_SHELL else v))
        if k in COMMAND_LINES and isinstance(v, list)
        else str(v)
        for k, v in arguments.items()
    }


def frequent(courses: Sequence[Course], bounds: Bounds = BASELINE) -> list[Pattern]:
    """Return the frequent patterns of courses (oldest first), most frequent first, none inside an equal one.

    >>> turns = [TurnRef(UUID(int=1), n) for n in range(9)]
    >>> at = datetime(2025, 1, 1)
    >>> names = ("search", "book", "mail") * 3
    >>> whole = Course(UUID(int=2), tuple(Action(n, t, at) for n, t in zip(names, turns)))
    >>> [(pattern.names, len(pattern.occurrences)) for pattern in frequent([whole])]
    [(('search', 'book', 'mail'), 3)]
    """
    newest = len(courses) - min(len(courses), bounds.courses)
    lines = {
        n: [action.name for action in course.actions[-bounds.actions :]]
        for n, course in enumerate(courses)
        if n >= newest
    }
    skipped = {n: max(len(courses[n].actions) - bounds.actions, 0) for n in lines}
    grown = _grown(lines, bounds)
    patterns = [pattern for pattern in grown if len(pattern.names) >= bounds.shortest]
    full_patterns = [p for p in _closed(patterns) if not _only_repeats(p.names)]
    ordered = sorted(full_patterns, key=lambda p: (-len(p.occurrences), -len(p.names), p.names))
    return [Pattern(p.names, tuple(_moved(o, skipped[o.course]) for o in p.occurrences)) for p in ordered]


def _moved(occurrence: Occurrence, by: int) -> Occurrence:
    return Occurrence(occurrence.course, tuple(place + by for place in occurrence.places))


def _grown(lines: Mapping[int, Sequence[str]], bounds: Bounds) -> list[Pattern]:
    """Grow patterns action by action, the most frequent beginning first, until the bounds are met."""
    singles: dict[str, list[Occurrence]] = {}
    for course, names in lines.items():
        for place, name in enumerate(names):
            singles.setdefault(name, []).append(Occurrence(course, (place,)))
    waiting: list[tuple[tuple[str, ...], list[Occurrence]]]
    waiting = [((name,), found) for name, found in singles.items() if len(found) >= bounds.least]
    waiting.sort(key=lambda entry: (-len(entry[1]), entry[0]))
    patterns: list[Pattern] = []
    while waiting and len(patterns) < bounds.patterns:
        names, embeddings = waiting.pop(0)
        patterns.append(Pattern(names, tuple(_disjoint(embeddings))))
        if len(names) == bounds.longest:
            continue
        # where the same always follows at once, what leaves it out is never as much as what holds it
        gap = 0 if _goes_on(embeddings, lines) else bounds.gap
        longer = [
            ((*names, name), found)
            for name, found in sorted(_extended(embeddings, lines, gap).items())
            if len(_disjoint(found)) >= bounds.least
        ]
        waiting = [*longer, *waiting]  # depth first: a long pattern is worth more than another short one
    return patterns


def _goes_on(embeddings: Sequence[Occurrence], lines: Mapping[int, Sequence[str]]) -> bool:
    """Tell whether one and the same action stands right behind every embedding."""
    following = {"".join(lines[e.course][e.places[-1] + 1 : e.places[-1] + 2]) for e in embeddings}
    return len(following) == 1 and "" not in following


def _extended(
    embeddings: Sequence[Occurrence], lines: Mapping[int, Sequence[str]], gap: int
) -> dict[str, list[Occurrence]]:
    """Return the embeddings of each pattern that is longer by one; for each end the latest beginning."""
    latest: dict[tuple[str, int, int], Occurrence] = {}
    for embedding in embeddings:
        names, last = lines[embedding.course], embedding.places[-1]
        for place in range(last + 1, min(last + gap + 2, len(names))):
            key = (names[place], embedding.course, place)
            longer = Occurrence(embedding.course, (*embedding.places, place))
            if key not in latest or longer.places > latest[key].places:
                latest[key] = longer
    occurrences: dict[str, list[Occurrence]] = {}
    for (name, _, _), occurrence in sorted(latest.items(), key=lambda entry: entry[0]):
        occurrences.setdefault(name, []).append(occurrence)
    return occurrences


def _disjoint(embeddings: Sequence[Occurrence]) -> list[Occurrence]:
    """Return as many embeddings as can be had without overlap: always the one that ends first."""
    chosen: list[Occurrence] = []
    for occurrence in sorted(embeddings, key=lambda o: (o.course, o.places[-1])):
        if (
            not chosen
            or chosen[-1].course != occurrence.course
            or chosen[-1].places[-1] < occurrence.places[0]
        ):
            chosen.append(occurrence)
    return chosen


def _closed(patterns: Sequence[Pattern]) -> list[Pattern]:
    by_count: dict[int, list[Pattern]] = {}
    for pattern in patterns:
        by_count.setdefault(len(pattern.occurrences), []).append(pattern)
    return [
        pattern
        for pattern in patterns
        if not any(
            len(other.names) > len(pattern.names) and _within(pattern.names, other.names)
            for other in by_count[len(pattern.occurrences)]
        )
    ]


def _within(inner: Sequence[str], outer: Sequence[str]) -> bool:
    left = iter(outer)
    return all(name in left for name in inner)


def _only_repeats(names: Sequence[str]) -> bool:
    return len(set(names)) == 1
