"""Any Gymnasium environment as a sensor: seeded random actions, rewards and endings as events.

Worlds of MiniGrid and BabyAI are read by `sensors.minigrid`, which knows rooms, doors and things.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

import gymnasium
import numpy as np

from episodic_agent.errors import InvalidInput, SensorError
from episodic_agent.schemas import Json, Reading
from episodic_agent.sensors.counting import Notes, Say

SHOWN: Final = 8  # numbers of an observation that are kept with a step
LARGEST_SEED: Final = 2**31 - 1


class GymnasiumSensor:
    """One environment, acted in at random (seeded); a new episode of it is a new world."""

    def __init__(self, env_id: str, *, seed: int = 0, say: Say | None = None) -> None:
        self._id = env_id
        self._seed = seed
        self._notes = Notes(say)
        self._closed = False
        self._env = make(env_id)

    @property
    def name(self) -> str:
        """Return the environment's id."""
        return self._id

    @property
    def counts(self) -> Mapping[str, int]:
        """Return how many worlds there were."""
        return self._notes.counts

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
            told: Mapping[str, Json] = {"id": f"reward:{number}", "entity": "reward", "new": reward}
            changes.append({"type": "state_change", **told})
        if ends:
            changes.append({"type": "ended", "id": f"ended:{number}", "entity": "episode"})
        return Reading(
            number=number,
            action=f"action {action}",
            changes=tuple(changes),
            restarts=begins,
            extras={"observation": numbers(observation), "reward": reward if math.isfinite(reward) else None},
        )

    def close(self) -> None:
        """Stop before the next step and close the environment."""
        self._closed = True
        self._env.close()


def make(env_id: str) -> "gymnasium.Env[Any, Any]":
    """Make an environment by its id; SensorError names the nearest ids when there is none."""
    try:
        env = gymnasium.make(env_id)
    except gymnasium.error.Error as error:
        told = str(error).split("\n")[0]
        raise SensorError(f"no environment {env_id!r}: {told}") from error
    return env


def reset(env: "gymnasium.Env[Any, Any]", seed: int) -> None:
    """Reset an environment to the world of a seed."""
    if not 0 <= seed <= LARGEST_SEED:
        raise InvalidInput(f"a seed must lie between 0 and {LARGEST_SEED}, not {seed}")
    env.reset(seed=seed)


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
