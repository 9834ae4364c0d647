"""MiniGrid and BabyAI worlds: rooms are places; doors, keys and boxes are what happens; a planner acts.

BabyAI levels are played by their own planning bot, mission after mission; other MiniGrid worlds by seeded
random moves. A new mission is a new world, so what came before it is over.
"""

import warnings
from collections.abc import Iterator
from random import Random
from typing import Any, Final

from minigrid.core.actions import Actions
from minigrid.core.roomgrid import RoomGrid
from minigrid.envs.babyai.core import roomgrid_level
from minigrid.envs.babyai.core.roomgrid_level import RoomGridLevel
from minigrid.minigrid_env import MiniGridEnv
from minigrid.utils.baby_ai_bot import BabyAIBot

from episodic_agent.agents.sensors.counting import Say
from episodic_agent.agents.sensors.environment import EnvironmentSensor, reset
from episodic_agent.errors import SensorError
from episodic_agent.schemas import Entity, Reading

DEFAULT_LEVEL: Final = "BabyAI-KeyCorridorS3R3-v0"
_VERBS: Final = {
    Actions.left: "turn left",
    Actions.right: "turn right",
    Actions.forward: "go forward",
    Actions.pickup: "pick up",
    Actions.drop: "put down",
    Actions.toggle: "toggle",
    Actions.done: "wait",
}
_SEEN: Final = ("door", "key", "ball", "box", "goal", "lava")
_IN_A_DOORWAY: Final = 0.4  # half in, half out: not sure enough to be a change of place
# What the planner raises when it is stuck; the mission is given up, as its own evaluation does.
_STUCK: Final = (AssertionError, AttributeError, IndexError, KeyError, TypeError, ValueError)

# Their generator prints while it tries, and standard output is not theirs. Redirecting it would take other
# threads' output too, so that module alone gets a print that says nothing.
vars(roomgrid_level)["print"] = lambda *_words: None


class MiniGridSensor(EnvironmentSensor):
    """One MiniGrid environment and whoever acts in it; another mission furnishes the same rooms anew."""

    def __init__(self, env_id: str = DEFAULT_LEVEL, *, seed: int = 0, say: Say | None = None) -> None:
        """Make the world; SensorError for an environment that is none of MiniGrid's."""
        super().__init__(env_id, seed=seed, say=say, checked=False)
        if not isinstance(self._env.unwrapped, MiniGridEnv):
            raise SensorError(f"{env_id} is no MiniGrid world; use --sensor gymnasium:{env_id}")
        self._world: MiniGridEnv = self._env.unwrapped
        # who acts looks at the world itself: the picture of its view takes a third of a step
        vars(self._world)["gen_obs"] = dict

    def __iter__(self) -> Iterator[Reading]:
        """Yield one reading for each move, without end: whoever reads stops when there is enough."""
        number = mission = 0
        while not self._closed:
            reset(self._env, self._seed + mission)
            mission += 1
            self._notes.count("missions")
            for reading in self._played(number, self._seed + mission):
                number = reading.number + 1
                yield reading
                if self._closed:
                    return

    def _played(self, number: int, seed: int) -> Iterator[Reading]:
        """Play one mission; the first reading is the world before anybody moved."""
        mover = _mover(self._world, seed)
        mission = str(self._world.mission)
        yield look(self._world, number, action=f"mission: {mission}", restarts=True)
        over = False
        while not over:
            number += 1
            try:
                action = Actions(next(mover))
            except _STUCK:
                self._notes.count("given_up")
                return
            _, reward, ended, cut_short, _ = self._env.step(action)
            over = ended or cut_short
            if over:
                self._notes.count("done" if ended and float(reward) > 0 else "failed")
            yield look(self._world, number, action=_action_text(self._world, action))


def _mover(world: MiniGridEnv, seed: int) -> Iterator[int]:
    if isinstance(world, RoomGridLevel):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            planner: Any = BabyAIBot  # untyped
            bot = planner(world)
            while True:
                yield int(bot.replan())
    chance = Random(seed)
    while True:
        yield chance.choices(
            (Actions.forward, Actions.left, Actions.right, Actions.toggle, Actions.pickup), (5, 2, 2, 2, 1)
        )[0]


def look(world: MiniGridEnv, number: int, *, action: str = "", restarts: bool = False) -> Reading:
    """Read a world as its agent stands in it: the room, what is in it, what it carries."""
    place, sure = _place(world)
    return Reading(
        number=number,
        place=place,
        confidence=sure,
        entities=tuple(_things(world)),
        action=action,
        restarts=restarts,
        extras={
            "position": [int(world.agent_pos[0]), int(world.agent_pos[1])],
            "mission": str(world.mission),
        },
    )


def _place(world: MiniGridEnv) -> tuple[str, float]:
    x, y = int(world.agent_pos[0]), int(world.agent_pos[1])
    if not isinstance(world, RoomGrid):
        return _room_of_list(world, x, y)
    column, row = x // (world.room_size - 1), y // (world.room_size - 1)
    in_door = x % (world.room_size - 1) == 0 or y % (world.room_size - 1) == 0
    return room_name(column, row, world.num_cols, world.num_rows), _IN_A_DOORWAY if in_door else 1.0


def _room_of_list(world: Any, x: int, y: int) -> tuple[str, float]:
    """Return the room of a world that lists its rooms (MultiRoom), or the world as one place."""
    for number, room in enumerate(getattr(world, "rooms", ()) or ()):
        (left, top), (width, height) = room.top, room.size
        if left < x < left + width - 1 and top < y < top + height - 1:
            return f"room {number + 1}", 1.0
    return ("the world", 1.0) if not getattr(world, "rooms", None) else ("doorway", _IN_A_DOORWAY)


def room_name(column: int, row: int, columns: int, rows: int) -> str:
    """Name a room of a grid by where it lies; larger grids by letter and number.

    >>> room_name(0, 0, 3, 3), room_name(1, 1, 3, 3), room_name(2, 1, 3, 3), room_name(4, 0, 5, 1)
    ('north-west room', 'middle room', 'east room', 'room E1')
    """
    if columns > 3 or rows > 3:
        return f"room {chr(ord('A') + column % 26)}{row + 1}"
    north = {1: ("",), 2: ("north", "south"), 3: ("north", "", "south")}[rows][row]
    west = {1: ("",), 2: ("west", "east"), 3: ("west", "", "east")}[columns][column]
    return f"{'-'.join(part for part in (north, west) if part) or 'middle'} room"


def _things(world: MiniGridEnv) -> Iterator[Entity]:
    """Yield what is in the agent's room, its doors included, and what it carries."""
    for x, y in _cells(world):
        thing = world.grid.get(x, y)
        if thing is not None and thing.type in _SEEN:
            yield _entity(thing, _state(thing))
    if world.carrying is not None:
        yield _entity(world.carrying, "carried")


def _cells(world: MiniGridEnv) -> Iterator[tuple[int, int]]:
    left, top, right, bottom = 0, 0, world.grid.width - 1, world.grid.height - 1
    if isinstance(world, RoomGrid):
        room = world.room_from_pos(*world.agent_pos)
        left, top = room.top
        right, bottom = left + room.size[0] - 1, top + room.size[1] - 1
    for y in range(top, bottom + 1):
        for x in range(left, right + 1):
            yield x, y


def _entity(thing: Any, state: str) -> Entity:
    label = f"{thing.color} {thing.type}"
    born = thing.init_pos or thing.cur_pos or ("", "")
    return Entity(f"{label} {born[0]},{born[1]}".strip(), label, category=str(thing.type), state=state)


def _state(thing: Any) -> str:
    if thing.type == "door":
        return "open" if thing.is_open else "locked" if thing.is_locked else "closed"
    return "lying" if thing.type in ("key", "ball", "box") else ""


def _action_text(world: MiniGridEnv, action: Actions) -> str:
    verb = _VERBS[action]
    if action is Actions.pickup and world.carrying is not None:
        return f"pick up the {world.carrying.color} {world.carrying.type}"
    if action is Actions.toggle:
        ahead: Any = world.grid.get(*world.front_pos)
        if ahead is not None and ahead.type == "door":
            return f"{'open' if ahead.is_open else 'close'} the {ahead.color} door"
    return verb
