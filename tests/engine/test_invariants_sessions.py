"""Random programs with sessions between everything else; every invariant must hold after them too."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from builders.examples import share
from engine.test_invariants import (
    ADDS,
    OPERATIONS,
    POLICIES,
    QUIETLY,
    SENTENCES,
    STEP_POLICIES,
    USERS,
    WHOSE,
    World,
    run_program,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from episodic_agent.engine.threads.sessions import Session
from episodic_agent.schemas import Scope


@dataclass(frozen=True)
class StartSession:
    user: str
    thread: str
    key: int | None

    def run(self, w: World) -> None:
        key = None if self.key is None else f"{self.thread} {self.key}"
        known = {one.key for one in _sessions(w, self.user)}
        if (self.user, self.thread) in w.said and (key is None or key not in known):
            w.closed_blind |= w.blind()  # what ran until now is over
            w.closed = True
        w.said.setdefault((self.user, self.thread), [])
        topic = SENTENCES[len(known) % len(SENTENCES)]
        session = w.memory.user(self.user).sessions.start(topic, thread=self.thread, key=key)
        assert session.state == "open" or key in known
        w.number += 1


@dataclass(frozen=True)
class EndSession:
    user: str
    outcome: str | None

    def run(self, w: World) -> None:
        for session in _sessions(w, self.user):
            if session.outcome is None:
                w.closed_blind |= w.blind()
                w.closed = True
                ended = w.memory.user(self.user).sessions.end(session.id, self.outcome)
                assert ended.state != "open"
                assert ended == w.memory.user(self.user).sessions.end(session.id)


def _sessions(w: World, user: str) -> Sequence[Session]:
    return w.memory.user(user).sessions.list() if Scope(user) in w.store.scopes() else []


STARTS = st.builds(StartSession, key=st.none() | st.integers(0, 2), **WHOSE)
ENDS = st.builds(EndSession, user=st.sampled_from(USERS), outcome=st.sampled_from([None, "success"]))
PROGRAMS = st.one_of(STARTS, ADDS, ENDS, OPERATIONS)


@settings(max_examples=share(15), **QUIETLY)
@given(
    st.lists(PROGRAMS, min_size=3, max_size=14), st.sampled_from((*POLICIES, *STEP_POLICIES)), st.booleans()
)
def test_every_invariant_holds_with_sessions_in_between(
    program: Sequence[Any], policy: str, model: bool
) -> None:
    run_program(program, policy, model=model)


@pytest.mark.slow
@settings(max_examples=20, **QUIETLY)
@given(
    st.lists(PROGRAMS, min_size=8, max_size=30), st.sampled_from((*POLICIES, *STEP_POLICIES)), st.booleans()
)
def test_every_invariant_holds_with_sessions_in_between_at_length(
    program: Sequence[Any], policy: str, model: bool
) -> None:
    run_program(program, policy, model=model)
