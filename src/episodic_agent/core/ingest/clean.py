"""Turn any value a caller may send into repaired, plain JSON."""

import math
from collections.abc import Mapping, Sequence
from datetime import date

from episodic_agent.core.ingest.words import DEPTH, LONGEST_NUMBER, as_plain
from episodic_agent.core.language import repair
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import Json


class Cleaner:
    """Repair every string that passes and remember whether one had to be."""

    def __init__(self) -> None:
        self.repaired = False

    def text(self, text: str) -> str:
        """Return the text with what no database can hold replaced."""
        clean, changed = repair(text)
        self.repaired = self.repaired or changed
        return clean

    def mapping(self, value: Mapping[object, object]) -> dict[str, Json]:
        """Return an object of plain JSON with repaired keys and values."""
        return {self.text(str(key)): self.json(inner) for key, inner in value.items()}

    def json(self, value: object, depth: int = 0) -> Json:
        """Turn a caller's value into plain JSON; what JSON has no word for becomes its text, NaN null."""
        if depth > DEPTH:
            raise InvalidInput(f"a value is nested deeper than {DEPTH} levels; send it flatter")
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, int) and value.bit_length() > LONGEST_NUMBER:  # Python cannot print the longest
            raise InvalidInput(f"a number has {value.bit_length()} bits; send it as a string")
        own = as_plain(value)
        if own is not value:
            return self.json(own, depth + 1)
        if value is None or isinstance(value, bool | int):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else None
        if isinstance(value, Mapping):
            return {self.text(str(key)): self.json(inner, depth + 1) for key, inner in value.items()}
        if isinstance(value, Sequence | set | frozenset) and not isinstance(value, bytes | bytearray):
            return [self.json(inner, depth + 1) for inner in value]
        return value.isoformat() if isinstance(value, date) else self.text(str(value))
