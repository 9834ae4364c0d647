"""Courses of actions and exchanges from episodes: tool calls by episode, an agent's steps by job.

Where a robot changes rooms its episodes are cut, though the job goes on: what it does in an episode that
begins right behind another one, with a step and without a pause, belongs to the same course. A request begins
a new one.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from episodic_agent.core.boundary.conversation.cues.speech import speech
from episodic_agent.core.skills.requests import Exchange, exchanges_of
from episodic_agent.core.skills.sequences import Action, Course, actions_of
from episodic_agent.core.threads.turns import Turn, turns
from episodic_agent.schemas import Kind, Observation
from episodic_agent.schemas.skills import TurnRef

_GOES_ON: Final = timedelta(minutes=10)  # between two steps of one job


class _Before(NamedTuple):
    """What ended in a thread last: where, when, in which turn and course, and whether somebody opened it."""

    seq: int
    at: datetime
    turn: TurnRef
    opened: bool
    course: int


def courses_of(
    episodes: Sequence[tuple[UUID, Sequence[Observation]]],
) -> tuple[list[Course], list[Exchange]]:
    """Return the courses and the exchanges of episodes, each with its id and its observations in seq order.

    Episodes come in the order of time. Each gives one course at least, however few its actions.
    """
    courses: list[Course] = []
    exchanges: list[Exchange] = []
    ended: dict[UUID, _Before] = {}
    for identity, observations in episodes:
        cut = list(turns(observations))
        begins = {o.seq: TurnRef(o.thread_id, turn.first_seq) for turn in cut for o in turn.observations}
        before = _before(observations, ended)
        if before is not None and before.opened and not cut[0].opened:
            begins |= {one.seq: before.turn for one in cut[0].observations}
        actions = actions_of(observations, begins)
        exchanges.extend(exchanges_of(cut, identity, actions))
        groups = _jobs(cut, begins, actions)
        if before is not None and not cut[0].opened:
            course, first = courses[before.course], groups.pop(0)
            courses[before.course] = replace(course, actions=(*course.actions, *first))
            at = before.course if not groups else len(courses) + len(groups) - 1
        else:
            at = len(courses) + len(groups) - 1
        courses.extend(Course(identity, tuple(group)) for group in groups)
        if observations:
            last = observations[-1]
            turn = begins[last.seq]
            opened = cut[-1].opened or (before is not None and before.opened and len(cut) == 1)
            ended[last.thread_id] = _Before(last.seq, last.at, turn, opened, at)
    return courses, exchanges


def _before(observations: Sequence[Observation], ended: dict[UUID, _Before]) -> _Before | None:
    """Return what an episode that begins with a step goes on from, None where it begins anew."""
    if not observations or observations[0].kind is not Kind.STEP:
        return None
    first = observations[0]
    before = ended.get(first.thread_id)
    if before is None or before.seq + 1 != first.seq or first.at - before.at > _GOES_ON:
        return None
    return before


def _jobs(cut: Sequence[Turn], begins: dict[int, TurnRef], actions: Sequence[Action]) -> list[list[Action]]:
    """Return the actions of an episode in groups; a request that steps follow begins a new one."""
    fresh = {
        begins[turn.first_seq]
        for turn in cut
        if turn.opened
        and any(one.kind is Kind.STEP for one in turn.observations)
        and speech(turn.observations[0].text)[0].requests
    }
    groups: list[list[Action]] = [[]]
    turn: TurnRef | None = None
    for action in actions:
        if action.turn != turn and action.turn in fresh and groups[-1]:
            groups.append([])
        turn = action.turn
        groups[-1].append(action)
    return groups
