"""The server of the pages' Python blocks: each runs in a process of its own that has imports and word lists."""

import os
import runpy
import sys
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType

from benchmarks.lives import Order, Say, serve
from episodic_agent import Memory, core, engine, wiring
from episodic_agent.stores import sqlite


def load_all(*rooms: ModuleType) -> None:
    for room in rooms:
        for found in walk_packages(room.__path__, f"{room.__name__}."):
            import_module(found.name)


def read_words() -> None:
    """Read the word lists and weights that a first message asks for; what it was told is forgotten."""
    with Memory.open(":memory:", embedder="hashing") as memory:
        ana = memory.user("ana")
        ana.add("My sister Hannah is a nurse in Lisbon", thread="family")
        ana.flush()
        ana.context("What does Hannah do?")
        ana.search("who is a nurse?")


def run(order: Order, say: Say) -> None:
    """Run a file as `python FILE` does, in an environment and a folder, and write what it prints to files."""
    os.setsid()
    for name, place in (("/dev/null", 0), (order["out"], 1), (order["err"], 2)):
        os.dup2(os.open(name, os.O_RDWR | os.O_CREAT), place)
    os.environ.clear()
    os.environ.update(order["environment"])
    os.chdir(order["folder"])
    sys.argv = [order["file"]]
    try:
        runpy.run_path(order["file"], run_name="__main__")
        say({"done": True})
    finally:
        sys.stdout.flush()


if __name__ == "__main__":
    load_all(core, engine, sqlite, wiring)
    read_words()
    serve({"run": run})
