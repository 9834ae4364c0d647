"""The one training room: everything the package ships that a program learnt, made again by one command.

    python tools/train.py                   # list what is trained, by what, from what, when
    python tools/train.py recall facts      # measure these, sets left out beside; nothing is written
    python tools/train.py --write recall    # and ship them, with their rows in data/PROVENANCE.toml
    python tools/train.py --write all       # everything

Each trainer is a program of its own, with more options (`python tools/train_facts.py --help`). They run one
after the other in the order below, because some read what an earlier one ships.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from shipping import DATA, ROOT, digest, read_rows

LIVES: Final = "{lives}"


@dataclass(frozen=True)
class Trainer:
    """A program that trains, the options it always takes, and those that measure alone or ship as well."""

    program: str
    always: Sequence[str] = ("--data", "{data}")
    measure: Sequence[str] = ()
    ship: Sequence[str] = ("--write",)

    def command(self, values: Mapping[str, str], lives: Sequence[str], *, write: bool) -> list[str]:
        """Return what is run."""
        options = [*self.always, *(self.ship if write else self.measure)]
        told: list[str] = []
        for option in options:
            told.extend(lives if option == LIVES else [option.format_map(values)])
        if self.program.startswith("benchmarks/"):
            module = self.program.removesuffix(".py").replace("/", ".")
            return [sys.executable, "-m", module, *told]
        return [sys.executable, self.program, *told]


TRAINERS: Final[Mapping[str, Trainer]] = {
    "boundary": Trainer(
        "tools/train_boundary.py",
        ("--data", "{data}", "--vectors", "{cache}/boundary"),
        ("--leave-out", "--report", "{cache}/boundary.json"),
        ("--leave-out", "--report", "{cache}/boundary.json", "--write"),
    ),
    "steps": Trainer("tools/train_steps.py", measure=("--left-out",), ship=("--left-out", "--write")),
    "linking": Trainer(
        "tools/train_linking.py", ("--data", "{data}", "--labels", "{root}/benchmarks/cases/links.jsonl")
    ),
    "links": Trainer("tools/train_links.py", (LIVES,), ("--only-measure",), ()),
    "crowd": Trainer("benchmarks/thread_quality.py", ship=("--fit",)),
    "chains": Trainer("benchmarks/chain_training.py"),
    "chain-choice": Trainer("benchmarks/chain_choice_training.py"),
    "wishes": Trainer("tools/train_wishes.py", (LIVES,), ("--only-measure",), ()),
    "habits": Trainer("tools/train_habits.py", (), ("--only-measure",), ()),
    "commitments": Trainer("tools/train_commitments.py", ("--data", "{data}"), ("--only-measure",), ()),
    "whose": Trainer("tools/train_whose.py", (), ("--only-measure",), ()),
    "facts": Trainer("tools/train_facts.py", (LIVES,), ("--only-measure",), ()),
    "changes": Trainer("tools/train_changes.py", (LIVES,), ("--only-measure",), ()),
    "context": Trainer("tools/train_context.py", (LIVES,), ("--only-measure",), ()),
    "recall": Trainer("tools/train_recall.py"),
}
# It learns nothing from labels, and is given the published weights of the model: it runs by itself.
BESIDE: Final = {"tools/quantise_minilm.py": "quantise_minilm"}


def listed() -> list[str]:
    """Return a line for each trained file: its trainer, its day, and whether that program changed since."""
    names = BESIDE | {trainer.program: name for name, trainer in TRAINERS.items()}
    lines = []
    for file, row in read_rows(DATA).items():
        if row["made_by"] == "hand":
            continue
        name = names.get(row["made_by"], "nothing makes it again")
        changed = "" if row["maker_sha256"] == digest(ROOT / row["made_by"]) else " (trainer changed since)"
        lines.append(f"{name}: {file}, {row['made_on']}{changed}, from {row['made_from']}")
    return sorted(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help=f"{', '.join(TRAINERS)} or all")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "episodic-agent" / "training")
    parser.add_argument("--write", action="store_true", help="ship what is trained")
    options = parser.parse_args()
    if not options.names:
        print("\n".join(listed()))
        return
    names = list(TRAINERS) if "all" in options.names else options.names
    unknown = [name for name in names if name not in TRAINERS]
    if unknown:
        sys.exit(f"nothing is called {', '.join(unknown)}; there are {', '.join(TRAINERS)} and all")
    lives = sorted(str(file) for file in (options.data / "lives").glob("*.jsonl"))
    if not lives:
        sys.exit(f"no labelled lives in {options.data / 'lives'}: name the labelled data with --data")
    options.cache.mkdir(parents=True, exist_ok=True)
    values = {"data": str(options.data), "cache": str(options.cache), "root": str(ROOT)}
    ran = [name for name in TRAINERS if name in names]
    failed = []
    for name in ran:
        started = time.monotonic()
        command = TRAINERS[name].command(values, lives, write=options.write)
        print(f"== {name}: {' '.join(command[1:])}", flush=True)
        path = os.pathsep.join([str(ROOT / "tools"), str(ROOT)])
        done = subprocess.run(command, cwd=ROOT, env=os.environ | {"PYTHONPATH": path}, check=False)
        print(f"== {name}: {time.monotonic() - started:.0f} s, exit {done.returncode}", flush=True)
        failed += [name] if done.returncode else []
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
