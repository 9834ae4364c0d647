"""What a command of the CLI left behind, and the kind of function that runs one in a test."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Read standard output, which must be exactly one JSON object on one line."""
        assert self.code == 0, self.err
        return self.object

    @property
    def object(self) -> Any:
        """Read the one JSON object, whatever the exit code."""
        assert self.out.count("\n") == 1
        assert self.out.endswith("\n")
        value = json.loads(self.out)
        assert isinstance(value, dict)
        return value

    @property
    def error(self) -> str:
        """Read the one line that says what is wrong; nothing may stand on standard output."""
        assert self.code != 0
        assert self.out == ""
        assert self.err.startswith("error: ")
        assert self.err.count("\n") == 1, self.err
        assert "Traceback" not in self.err
        return self.err


Run = Callable[..., Outcome]
