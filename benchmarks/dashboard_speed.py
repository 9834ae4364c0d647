"""The dashboard over a large memory: when the first page is painted, how many frames a second it moves at.

    python -m benchmarks.dashboard_speed [messages] [file]

Messages of one user, a hundred a thread, are added with the hashing embedder; then a chromium opens the
timeline, zooms and moves, and reports what the browser measured itself. A file is kept, and shown as it is
where it is there already; nothing of it is worked on, so that the server's processor is the pages' alone.
"""

import json
import os
import random
import sys
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from builders.dashboard import browser, served

from benchmarks.provenance import provenance
from benchmarks.results import merge
from episodic_agent import Memory
from episodic_agent.wiring import utc_now

RESULTS = Path(__file__).parent / "results"
MESSAGES, OF_THREAD = 100_000, 100
FRAMES = """async () => {
  const view = document.querySelector('[data-timeline]');
  const button = (name) => view.querySelector(`[data-do=${name}]`);
  const begun = performance.now();
  const first = view.stats.frames;
  let last = begun, slowest = 0, ticks = 0, drawn = 0;
  while (performance.now() - begun < 4000) {
    button(['in', 'right', 'left', 'out'][ticks % 4]).click();
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    slowest = Math.max(slowest, now - last);
    drawn = Math.max(drawn, view.stats.drawn);
    last = now;
    ticks++;
  }
  const seconds = (performance.now() - begun) / 1000;
  return {frames_a_second: (view.stats.frames - first) / seconds, slowest_ms: slowest, most_drawn: drawn};
}"""
# how often this browser, on this machine, draws where nothing has to be drawn: what can be had at all
IDLE = """async () => {
  let ticks = 0;
  const begun = performance.now();
  while (performance.now() - begun < 2000) { await new Promise(requestAnimationFrame); ticks++; }
  return {frames_a_second: ticks / (performance.now() - begun) * 1000};
}"""
PAINT = """() =>
  Object.fromEntries(performance.getEntriesByType('paint').map(one => [one.name, one.startTime]))"""


def messages(count: int) -> Iterator[dict[str, Any]]:
    """Yield made-up messages of three years."""
    draw = random.Random(7)
    words = [
        f"{a}{b}"
        for a in ("ta", "ki", "lo", "mer", "bri", "so")
        for b in ("per", "ling", "dow", "rik", "van")
    ]
    start = datetime(2023, 1, 1, tzinfo=UTC)
    at = start
    for n in range(count):
        at += timedelta(minutes=2 if n % 12 else draw.randint(90, 400))
        text = " ".join(draw.choices(words, k=9))
        yield {
            "role": "user" if n % 2 == 0 else "assistant", "content": text, "timestamp": at.isoformat(),
            "conversation_id": f"thread-{n // OF_THREAD}",
        }  # fmt: skip


def measure(count: int, kept: Path | None = None) -> Iterator[tuple[str, Any]]:
    """Yield what was measured, by name."""
    with TemporaryDirectory() as folder:
        path = kept or Path(folder) / "memory.db"
        if not path.exists():
            begun = time.perf_counter()
            with _opened(path) as memory:
                memory.user("ana").add(messages(count))
                memory.user("ana").flush()
            yield "filled_s", time.perf_counter() - begun
        with served(lambda: _opened(path), utc_now) as url, browser() as chromium:
            page = chromium.new_page(base_url=url, viewport={"width": 1320, "height": 900})
            for name in ("first", "second"):
                begun, worked = time.perf_counter(), time.process_time()
                page.goto("/users/ana", wait_until="commit")
                yield f"{name}_answer_ms", 1000 * (time.perf_counter() - begun)
                # of a processor, by the server and the browser's driver, however many wait for it
                yield f"{name}_answer_processor_ms", 1000 * (time.process_time() - worked)
                page.wait_for_selector("[data-ready]", timeout=120_000)
                yield f"{name}_timeline_ms", 1000 * (time.perf_counter() - begun)
                page.wait_for_selector("[data-ready=yes]", timeout=120_000)
                yield f"{name}_timeline_whole_ms", 1000 * (time.perf_counter() - begun)
                yield f"{name}_whole_processor_ms", 1000 * (time.process_time() - worked)
                yield f"{name}_paint_ms", page.evaluate(PAINT).get("first-contentful-paint")
            yield "timeline", page.evaluate(FRAMES)
            yield "idle", page.evaluate(IDLE)
            episode = page.locator(".list h3 a").nth(2).get_attribute("href")
            for name, path_ in (("users", "/"), ("episode", episode), ("threads", "/users/ana/threads"),
                                ("facts", "/users/ana/facts"), ("links", "/users/ana/links"),
                                ("strength", "/users/ana/strength"), ("jobs", "/jobs")):  # fmt: skip
                page.goto(path_)
                while not page.evaluate(PAINT):  # the page's policy lets no condition be waited for inside it
                    page.wait_for_timeout(20)
                yield f"{name}_paint_ms", page.evaluate(PAINT)["first-contentful-paint"]


def _opened(path: Path) -> Memory:
    return Memory.open(path, embedder="hashing", policy="seed-001", jobs="workers")


def figures(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was measured as the figures of a row, rounded."""
    row: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            row |= {f"{name} {inner}": _rounded(one) for inner, one in value.items()}
        else:
            row[name] = _rounded(value)
    return row


def _rounded(value: Any) -> Any:
    return round(value, 1) if isinstance(value, float) else value


def main() -> None:
    """Keep what was measured as a row of the results, and print it line by line."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else MESSAGES
    kept = Path(sys.argv[2]) if len(sys.argv) > 2 else None
    values = {}
    for name, value in measure(count, kept):
        values[name] = value
        sys.stdout.write(json.dumps({name: value}) + "\n")
        sys.stdout.flush()
    load = round(os.getloadavg()[0], 1)
    row = {**figures(values), "load": load, **provenance(sys.argv[1:2])}
    merge(RESULTS, "dashboard", {f"{count:,} messages": row})


if __name__ == "__main__":
    main()
