"""Values that every room speaks of: JSON, vectors, whose memory it is, a copy of its file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Json: TypeAlias = "str | int | float | bool | Sequence[Json] | Mapping[str, Json] | None"


Vector: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose memory it is. Every row carries both names and every query stays inside one scope (I11)."""

    user_id: str = "default"
    space: str = "default"


@dataclass(frozen=True, slots=True)
class Backup:
    """A copy of a whole database, verified: where it is, its size, and how many observations it holds."""

    path: Path
    bytes: int
    observations: int
