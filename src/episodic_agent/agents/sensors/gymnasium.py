"""Any Gymnasium environment as a sensor: seeded random actions, rewards and endings as events.

Worlds of MiniGrid and BabyAI are read by `agents.sensors.minigrid`, which knows rooms, doors and things.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from episodic_agent.agents.sensors.environment import EnvironmentSensor, reset
from episodic_agent.core.language import plural
from episodic_agent.schemas import Json, Reading

SHOWN: Final = 8  # numbers of an observation that are kept with a step


class GymnasiumSensor(EnvironmentSensor):
    """One environment, acted in at random (seeded); a new episode of it is a new world."""

    def __iter__(self) -> Iterator[Reading]:
        """Yield one reading for each step, without end: whoever reads stops when there is enough."""
        space = self._env.action_space
        space.seed(self._seed)
        number, world, over = 0, 0, True
        steps, total, before = 0, 0.0, math.nan
        while not self._closed:
            if over:
                reset(self._env, self._seed + world)
                self._notes.count("worlds")
                world += 1
                steps, total, before = 0, 0.0, math.nan
            action = space.sample()
            observation, reward, ended, cut_short, _ = self._env.step(action)
            reward, begins, over = float(reward), over, ended or cut_short
            steps, total = steps + 1, total + (reward if math.isfinite(reward) else 0.0)
            changes: list[Mapping[str, Json]] = []
            if reward and not before and math.isfinite(reward):  # one at every step is no event
                answers: Mapping[str, Json] = {"id": f"reward:{number}", "entity": "reward", "new": reward}
                changes.append({"type": "state_change", **answers})
            if over:
                how = "terminated" if ended else "truncated"
                new = f"{how} after {plural(steps, 'step')} with a return of {total:g}"
                changes.append(
                    {"type": "state_change", "id": f"ended:{number}", "entity": "episode", "new": new}
                )
            yield Reading(
                number=number,
                action=self._named(action),
                changes=tuple(changes),
                restarts=begins,
                extras={
                    "observation": numbers(observation),
                    "reward": reward if math.isfinite(reward) else None,
                },
            )
            number, before = number + 1, reward

    def _named(self, action: object) -> str:
        """Say an action by the name that the environment has for it, else by its number."""
        world: Any = self._env.unwrapped
        try:
            if hasattr(world, "get_action_meanings"):  # as Atari's have it
                return str(world.get_action_meanings()[action]).lower()
            return str(world.actions(action).name).replace("_", " ")  # an enumeration, as in MiniGrid
        except (AttributeError, IndexError, TypeError, ValueError):
            return f"action {action}"


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
