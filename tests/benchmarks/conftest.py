import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # the package `benchmarks` lies beside `src`, not in it
