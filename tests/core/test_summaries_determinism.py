"""The same input gives the same words in every process: nothing may hang on the order of a set."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = """
import hashlib, json
from datetime import UTC, datetime
from uuid import UUID
from episodic_agent.core.episodes.extractive import encode_extractive
from episodic_agent.data import demo_folder
from episodic_agent.schemas import Observation

digest = hashlib.sha256()
for path in sorted(demo_folder().glob("*.jsonl")):
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    said = [
        Observation(UUID(int=n), UUID(int=1), n, datetime.fromisoformat(line["timestamp"]).astimezone(UTC),
                    datetime(2026, 1, 1, tzinfo=UTC), line.get("name") or line["role"], line["content"])
        for n, line in enumerate(lines)
    ]
    for size in (5, 12, 40):
        for start in range(0, len(said), size):
            words = encode_extractive(said[start : start + size], [None] * len(said[start : start + size]))
            digest.update(json.dumps([words.title, words.summary, words.metadata]).encode())
print(digest.hexdigest())
"""


def words_under(seed: int) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.mark.slow
def test_titles_summaries_and_keywords_do_not_hang_on_the_hash_seed() -> None:
    assert len({words_under(seed) for seed in (1, 7)}) == 1
