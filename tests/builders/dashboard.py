"""A dashboard that is served on a port of this machine, the memory it shows, and a browser that looks at it."""

import importlib
import os
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest
import uvicorn

from builders.chats import TOPICS, diary
from builders.links import link_decision
from builders.served import Attentive
from episodic_agent import Memory
from episodic_agent.data import demo_folder
from episodic_agent.faces.http.app import make_app
from episodic_agent.schemas import Link, ModelUse, Scope

CHROMIUM: Final = shutil.which("chromium") or "/usr/bin/chromium"
ARGUMENTS: Final = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
NOW: Final = datetime(2025, 6, 20, 12, tzinfo=UTC)
HOSTILE: Final = (
    "<script>document.title='taken'</script>\"'><img src=x onerror=\"document.title='taken'\">",
    "\u202eevil \u2066order\u2069 \x1b]52;c;cm0=\x07 \u200f",
    "x" * 10_000,
    "{{ 7 * 7 }} {% raw %} </textarea></title><svg onload=alert(1)>",
)


def no_browser() -> str:
    """Say why no browser can be driven here; "" where one can. Where it is required, its absence fails."""
    if Path(CHROMIUM).exists():
        return ""
    missing = f"no browser at {CHROMIUM}; `make browser` installs Debian's chromium"
    if os.environ.get("EPISODIC_TEST_BROWSER") == "required":
        pytest.fail(missing)
    return missing


@contextmanager
def served(opened: Callable[[], Memory], clock: Callable[[], datetime]) -> Iterator[str]:
    """Serve a memory with its dashboard; yield where."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    app = make_app(opened, clock, rate=10_000)
    server = Attentive(uvicorn.Config(app, log_level="error"))
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    until = time.monotonic() + 30
    while not server.started and time.monotonic() < until:
        time.sleep(0.005)
    assert server.started
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(20)
        listener.close()


@contextmanager
def browser() -> Iterator[Any]:
    """Start Debian's chromium, without a network of its own."""
    sync_playwright = importlib.import_module(
        "playwright.sync_api"
    ).sync_playwright  # absent: only these miss it

    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        yield chromium
        chromium.close()


def fill(memory: Memory) -> None:
    """Tell a memory a few months of Maya's life: work, family, an assistant; and what people did to it."""
    maya = memory.user("maya")
    for name in ("maya-assistant", "maya-work", "maya-family"):
        maya.import_file(demo_folder() / f"{name}.jsonl")
    maya.import_file(demo_folder() / "tim-channels.json")
    for n, (thread, lines) in enumerate(zip(("home", "travel", "cello", "bread"), TOPICS, strict=True)):
        for visit in range(7):
            begin = NOW - timedelta(days=350 - 47 * visit - 9 * n, hours=3 * n)
            maya.add(
                [
                    {
                        "role": role,
                        "content": text,
                        "timestamp": (begin + timedelta(minutes=3 * m)).isoformat(),
                    }
                    for m, (role, text) in enumerate(lines[: 4 - visit % 2])
                ],
                thread=thread,
            )
    maya.flush()
    _link(memory)
    closed = [card for card in maya.episodes.list() if card.state != "open"]
    maya.episodes.pin(closed[2].episode_id, reason="the release checklist")
    maya.episodes.suppress(closed[4].episode_id, reason="not for the assistant")
    maya.add("I am moving to Porto in September, the flat is signed", thread="moving")
    for name in ("Odile", "tim", "Bo Chen"):
        memory.user(name).add(diary())
    with memory._deps.store.begin(Scope("maya")) as tx:
        for n in range(24):
            use = ModelUse((NOW - timedelta(days=n)).date(), "episode", "small-model", 6 + n % 5, int(n % 7 == 3),
                           4200 + 911 * (n * n % 7), 620 + 97 * (n % 5), 11.5 + n)  # fmt: skip
            tx.upkeep.put(use)
        tx.upkeep.ask("link", "0190", "dashboard", now=NOW)
    store = memory._deps.store
    claimed = store.claim(
        "x:1:1", now=NOW + timedelta(hours=1), lease=timedelta(1), scope=Scope("maya"), kinds=["link"]
    )
    assert claimed is not None
    with store.begin(claimed[0]) as tx:
        tx.upkeep.put_back(
            claimed[1][0],
            error="attempt 5: ProviderUnavailable: the model at localhost:8080 did not answer within 30 s",
            retry_at=None,
        )


def _link(memory: Memory) -> None:
    """Link threads as both judges would, and two by hand."""
    maya, scope = memory.user("maya"), Scope("maya")
    threads = {thread.origin: thread for thread in maya.threads.list()}
    pairs = [("travel", "maya-family", True, 0.83), ("bread", "maya-assistant", False, 0.71)]
    for later, earlier, related, score in pairs:
        there = [threads[later], threads[earlier]]
        decision = link_decision(
            later, score, thread=there[0].id, candidate=there[1].id, at=NOW, related=related
        )
        opinion = {"model": "small-model", "prompt": "link-3", "related": related, "probability": 0.9 if related else 0.41,
                   "confidence": 0.8, "reasoning": "Both are about who comes along and on which day they leave."}  # fmt: skip
        decision = replace(decision, detail={**decision.detail, "llm": opinion, "disagreement": not related})
        with memory._deps.store.begin(scope) as tx:
            tx.knowledge.decide(decision)
            label = "HIGH" if related else "UNCERTAIN"
            tx.threads.save(Link(there[1].id, there[0].id, NOW, label=label, decision_id=decision.id))
    maya.links.add("cello", "home")
