"""Train the learned default for steps on labelled streams and report how well it cuts.

    python tools/train_steps.py --data DIR [--report FILE] [--left-out] [--write]

Cues are computed by the policy itself, led along true or spoilt boundaries of the labelled streams, of copies
of them as other sensors would tell them, and of made-up agents (`boundary_steps/scripts.py`). Every figure is
of the policy online, along its own cuts: in five folds by stream, and with `--left-out` of sets whose whole
family was not trained on. `--write` trains on everything and writes what ships.
"""

import argparse
import json
import os
import sys
import time as clocks
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from boundary_steps.data import SETS, Course, load
from boundary_steps.material import material
from boundary_steps.measure import report
from boundary_steps.models import by_family, by_fold, whole
from boundary_steps.rows import Rows, table
from shipping import DATA, Origin, ship_arrays

from episodic_agent.core.boundary.conversation.model import encode
from episodic_agent.core.boundary.steps.learned import StepsModel


def gather(data: Path) -> dict[str, list[Course]]:
    """Read the labelled sets."""
    return {source: load(data, source) for source in SETS}


def rows_of(labelled: dict[str, list[Course]]) -> Rows:
    """Make the rows of everything that is learnt from."""
    return table(material([one for some in labelled.values() for one in some]))


def write_weights(model: StepsModel, folder: Path = DATA) -> None:
    """Write the archive that the policy reads: the network in float16 and the prior."""
    arrays = {"prior": np.array(model.prior), "network": encode(model.network)}
    made_from = f"labelled streams ({', '.join(SETS)}), copies of them and made-up agents"
    what = "network of the steps policy steps-2027-01, and the share of the training's gaps by probability"
    ship_arrays("boundary/steps.npz", arrays, Origin("tools/train_steps.py", made_from, what), folder)


def main() -> None:
    here = Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=here.parent / "shared" / "data")
    parser.add_argument("--report", type=Path, help="where to write the figures as JSON")
    parser.add_argument("--left-out", action="store_true", help="also judge sets of families never seen")
    parser.add_argument("--write", action="store_true", help="train on everything and write what ships")
    options = parser.parse_args()
    if not options.data.is_dir():
        sys.exit(f"no folder {options.data}: name the labelled data with --data")
    began = clocks.time()
    labelled = gather(options.data)
    rows = rows_of(labelled)
    print(f"{len(rows.of)} rows", flush=True)
    values: dict[str, object] = {}
    if options.write:
        write_weights(whole(rows))
    if options.left_out:
        strange = by_family(rows)
        values["left out"] = report("left out", labelled, lambda c: strange[c.family])
    if options.report:
        models = by_fold(rows)
        values["folds"] = report("folds", labelled, lambda c: models[c.fold])
        body = {"figures": values, "seconds": round(clocks.time() - began)}
        options.report.write_text(json.dumps(body, indent=1))


if __name__ == "__main__":
    main()
