"""Train the learned default for steps on labelled streams and report how well it cuts.

    python tools/train_steps.py --data DIR [--report FILE] [--left-out] [--write]

Cues are computed by the policy itself, led along true or spoilt boundaries of the labelled streams, of copies
of them as other sensors would tell them, and of made-up agents (`boundary_steps/scripts.py`). Every figure is
of the policy online, along its own cuts: in five folds by stream, and with `--left-out` of sets whose whole
family was not trained on. `--write` trains on everything and writes what ships.
"""

import argparse
import hashlib
import json
import os
import sys
import time as clocks
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

from boundary_steps.data import SETS, Course, load
from boundary_steps.material import material
from boundary_steps.measure import report
from boundary_steps.models import by_family, by_fold, whole
from boundary_steps.rows import Rows, table

from episodic_agent.core.boundary.default_model import encode
from episodic_agent.core.boundary.steps.model import Model

LINE = 96


def gather(data: Path) -> dict[str, list[Course]]:
    """Read the labelled sets."""
    return {source: load(data, source) for source in SETS}


def rows_of(labelled: dict[str, list[Course]]) -> Rows:
    """Make the rows of everything that is learnt from."""
    return table(material([one for some in labelled.values() for one in some]))


def write_weights(model: Model, path: Path) -> None:
    """Write the module that the policy reads: plain text, base64 in lines of 96, and its checksum."""
    packed = encode(model.network)
    lines = [
        '"""Weights of the learned default for steps: written by `tools/train_steps.py`, not by hand."""',
        "",
        "from typing import Final",
        "",
        f'CHECKSUM: Final = "{hashlib.sha256(packed.encode()).hexdigest()[:16]}"',
        "PRIOR: Final[tuple[float, ...]] = (",
        *[f"    {share}," for share in model.prior],
        ")",
        "NETWORK: Final[tuple[str, ...]] = (",
        *[f'    "{packed[place : place + LINE]}",' for place in range(0, len(packed), LINE)],
        ")",
    ]
    path.write_text("\n".join([*lines, ""]))


def main() -> None:
    here = Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=here.parent / "shared" / "data")
    parser.add_argument("--report", type=Path, help="where to write the figures as JSON")
    parser.add_argument("--left-out", action="store_true", help="also judge sets of families never seen")
    parser.add_argument("--write", action="store_true", help="train on everything and write weights.py")
    options = parser.parse_args()
    if not options.data.is_dir():
        sys.exit(f"no folder {options.data}: name the labelled data with --data")
    began = clocks.time()
    labelled = gather(options.data)
    rows = rows_of(labelled)
    print(f"{len(rows.of)} rows", flush=True)
    found: dict[str, object] = {}
    if options.write:
        write_weights(whole(rows), here / "src/episodic_agent/core/boundary/steps/weights.py")
    if options.left_out:
        strange = by_family(rows)
        found["left out"] = report("left out", labelled, lambda c: strange[c.family])
    if options.report:
        models = by_fold(rows)
        found["folds"] = report("folds", labelled, lambda c: models[c.fold])
        body = {"figures": found, "seconds": round(clocks.time() - began)}
        options.report.write_text(json.dumps(body, indent=1))


if __name__ == "__main__":
    main()
