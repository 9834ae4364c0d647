"""Measures the shipped defaults on labelled data (`python -m benchmarks`)."""

import sys
from pathlib import Path

# The trainer's parts import each other as `boundary`, from beside the script: quality is judged with them.
sys.path.append(str(Path(__file__).parents[1] / "tools"))
