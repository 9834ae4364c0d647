"""Databases that many tests begin with: a story is told once in each test process, and every test gets a copy."""

import shutil
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from psycopg.conninfo import conninfo_to_dict
from stores.postgres_server import Databases

from builders.chats import Clock
from episodic_agent import Memory
from episodic_agent.wiring import is_server

Story = Callable[[Memory, Clock], None]


class Originals:
    """What stories left behind, a database for each story and store."""

    def __init__(self, folder: Path, postgres: Callable[[], Databases]) -> None:
        self._folder = folder
        self._postgres = postgres  # called only where a story is told to a server
        self._told: dict[tuple[Story, bool, str], tuple[str, datetime]] = {}

    def copy(self, story: Story, url: str, clock: Clock, **options: Any) -> None:
        """Put what a story leaves into the fresh database at `url`; the clock then stands where it ended.

        `options` are those of `Memory.open` that the story is told with.
        """
        key = (story, is_server(url), repr(sorted(options.items())))
        if key not in self._told:
            self._told[key] = self._tell(story, server=is_server(url), **options)
        original, clock.now = self._told[key]
        if is_server(url):
            self._postgres().replace(str(conninfo_to_dict(url)["dbname"]), original)
        else:
            shutil.copyfile(original, url.removeprefix("sqlite:///"))

    def _tell(self, story: Story, *, server: bool, **options: Any) -> tuple[str, datetime]:
        clock = Clock()
        original = self._postgres().ready() if server else str(self._folder / f"{len(self._told)}.db")
        url = self._postgres().url(original) if server else f"sqlite:///{original}"
        with Memory.open(url, clock=clock, **options) as memory:
            story(memory, clock)
        return original, clock.now
