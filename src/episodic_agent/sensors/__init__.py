"""Where readings come from: recordings, standard input, simulated worlds, a Unity scene.

Each module is one kind of sensor behind `core.interfaces.Sensor`; `wiring_agents.make_sensor` knows them by
name. What needs another package (`gymnasium`, `minigrid`, `websockets`) is imported by that module alone.
"""
