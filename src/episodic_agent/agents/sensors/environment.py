"""What every simulated world has: an environment made by its id, a seed, and what was noticed in it."""

from collections.abc import Mapping
from typing import Any, Final

import gymnasium

from episodic_agent.agents.sensors.counting import Notes, Say
from episodic_agent.errors import InvalidInput, SensorError

LARGEST_SEED: Final = 2**31 - 1


class EnvironmentSensor:
    """One environment; who reads it is the business of the sensors made from this."""

    def __init__(self, env_id: str, *, seed: int = 0, say: Say | None = None, checked: bool = True) -> None:
        """Make the environment; `checked` lets Gymnasium look at what it returns."""
        self._id = env_id
        self._seed = seed
        self._notes = Notes(say)
        self._closed = False
        self._env = make(env_id, checked=checked)

    @property
    def name(self) -> str:
        """Return the environment's id."""
        return self._id

    @property
    def counts(self) -> Mapping[str, int]:
        """Return how many worlds there were and how they ended."""
        return self._notes.counts

    def close(self) -> None:
        """Stop before the next step and close the environment."""
        self._closed = True
        self._env.close()


def make(env_id: str, *, checked: bool = True) -> "gymnasium.Env[Any, Any]":
    """Make an environment by its id; SensorError names the nearest ids when there is none."""
    try:
        env = gymnasium.make(env_id, disable_env_checker=not checked)
    except gymnasium.error.Error as error:
        text = str(error).split("\n")[0]
        raise SensorError(f"no environment {env_id!r}: {text}") from error
    return env


def reset(env: "gymnasium.Env[Any, Any]", seed: int) -> None:
    """Reset an environment to the world of a seed."""
    if not 0 <= seed <= LARGEST_SEED:
        raise InvalidInput(f"a seed must lie between 0 and {LARGEST_SEED}, not {seed}")
    env.reset(seed=seed)
