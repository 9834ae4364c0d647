"""Values that every room speaks of: JSON, vectors, whose memory it is, a copy of its file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from episodic_agent.lazily import late_type, module

if TYPE_CHECKING:
    import numpy as np
    from numpy import typing as npt

    Vector: TypeAlias = npt.NDArray[np.float32]
else:
    np = module("numpy")
    npt = module("numpy.typing")
    Vector = late_type("npt.NDArray[np.float32]", __name__)

Json: TypeAlias = "str | int | float | bool | Sequence[Json] | Mapping[str, Json] | None"


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
