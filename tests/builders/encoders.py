"""Small sentence encoders of random weights, and the vectors sentence-transformers gives (see their maker).

`tools/make_encoders.py` made them; `cases.json` says with which versions.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

DATA = Path(__file__).parents[1] / "data" / "encoders"
CASES: list[dict[str, Any]] = json.loads((DATA / "cases.json").read_text(encoding="utf-8"))["cases"]
TEXTS: list[str] = json.loads((DATA / "cases.json").read_text(encoding="utf-8"))["texts"]


def case(name: str) -> dict[str, Any]:
    """Return a case by its name."""
    return next(one for one in CASES if one["name"] == name)


def encoder_folder(chosen: dict[str, Any], folder: Path) -> Path:
    """Write the model of a case into a folder, as it would be published."""
    shutil.copytree(DATA / chosen["base"], folder)
    for path, content in chosen["files"].items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(json.dumps(content), encoding="utf-8")
    if "2_Dense/config.json" in chosen["files"]:
        shutil.copy(DATA / "dense.safetensors", folder / "2_Dense" / "model.safetensors")
    return folder


def expected(chosen: dict[str, Any], kind: str) -> NDArray[np.float64]:
    """Return the reference's vectors of a case, brought to length 1."""
    rows = np.array(chosen[kind])
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))
