"""Any Gymnasium environment as a sensor: seeded random actions, rewards and endings as events.

Worlds of MiniGrid and BabyAI are read by `agents.sensors.minigrid`, which knows rooms, doors and things.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np

from episodic_agent.agents.sensors.environment import EnvironmentSensor, reset
from episodic_agent.schemas import Json, Reading

SHOWN: Final = 8  # numbers of an observation that are kept with a step


class GymnasiumSensor(EnvironmentSensor):
    """One environment, acted in at random (seeded); a new episode of it is a new world."""

    def __iter__(self) -> Iterator[Reading]:
        """Yield one reading for each step, without end: whoever reads stops when there is enough."""
        space = self._env.action_space
        space.seed(self._seed)
        number, world, over = 0, 0, True
        while not self._closed:
            if over:
                reset(self._env, self._seed + world)
                self._notes.count("worlds")
                world += 1
            action = space.sample()
            observation, reward, ended, cut_short, _ = self._env.step(action)
            yield self._reading(number, action, observation, float(reward), begins=over, ends=ended)
            number, over = number + 1, ended or cut_short

    def _reading(
        self, number: int, action: object, observation: object, reward: float, *, begins: bool, ends: bool
    ) -> Reading:
        changes: list[Mapping[str, Json]] = []
        if math.isfinite(reward) and reward:
            answers: Mapping[str, Json] = {"id": f"reward:{number}", "entity": "reward", "new": reward}
            changes.append({"type": "state_change", **answers})
        if ends:
            changes.append({"type": "ended", "id": f"ended:{number}", "entity": "episode"})
        return Reading(
            number=number,
            action=f"action {action}",
            changes=tuple(changes),
            restarts=begins,
            extras={"observation": numbers(observation), "reward": reward if math.isfinite(reward) else None},
        )


def numbers(observation: object) -> list[Json]:
    """Return the first numbers of an observation, rounded; none of one that has none.

    >>> numbers((1, 2.25, float("nan")))
    [1.0, 2.25]
    """
    try:
        flat = np.asarray(observation, dtype=np.float64).ravel()[:SHOWN]
    except (TypeError, ValueError):
        return []
    return [round(float(value), 6) for value in flat if math.isfinite(value)]
