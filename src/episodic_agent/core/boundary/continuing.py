"""Bring a policy to where it must stand after a thread was segmented again, so that it can go on."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final, TypeVar

from episodic_agent.core.boundary.contract import DRAIN_ALL, Arrival, Boundary, Input, ManualCut, Policy
from episodic_agent.core.boundary.conversation.default import DefaultPolicy
from episodic_agent.core.boundary.machine import replay

M = TypeVar("M")
_NEVER: Final = datetime(1970, 1, 1, tzinfo=UTC)  # when nobody asked for a cut: no policy reads it
_SURE: Final = 0.999999  # no probability reaches it but 1
_ENDLESS: Final = 1 << 31


def continued(inputs: Sequence[Input], cuts: Sequence[Boundary], policy: Policy[M]) -> M:
    """Return the policy's memory behind all inputs: its frames as `cuts` say, its habits those of the thread.

    The observations behind the last cut are its open frame; the newest of them may still be undecided, as
    they always may. With a policy whose cuts cannot be moved this is the memory of its replay.
    """
    steady = _without_own_cuts(policy)
    return replay(inputs if steady is policy else _with_cuts(inputs, cuts), steady).memory


def _without_own_cuts(policy: Policy[M]) -> Policy[M]:
    """Return the policy as it learns but does not cut; the same one where it cannot be kept from it."""
    if isinstance(policy, DefaultPolicy):
        return replace(policy, threshold=_SURE, idle_after=None, max_length=_ENDLESS)
    return policy


def _with_cuts(inputs: Sequence[Input], cuts: Sequence[Boundary]) -> list[Input]:
    """Return the inputs with a drain wherever a frame ends; the drains among them stay."""
    limits = {cut.before_seq for cut in cuts if cut.edge != DRAIN_ALL}
    placed: list[Input] = []
    for item in inputs:
        if isinstance(item, Arrival) and item.observation.seq in limits:
            placed.append(ManualCut(_NEVER))
        placed.append(item)
    return placed
