"""What the service counts of its requests, as text that Prometheus reads; no word of a memory is in it.

Several processes of one service count as one: any of them may be asked, and no count may ever fall.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

TEXT: Final = "text/plain; version=0.0.4; charset=utf-8"
BOUNDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)  # seconds
SOON: Final = 1.0  # seconds until the others see what a process counted
_OTHER: Final = "other"  # what leads to no route: names of paths would be without end


@dataclass(slots=True)
class RequestCounts:
    """Requests by method, route and status, how long they took by route, and how many are under way."""

    requests: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    within: Counter[tuple[str, float]] = field(default_factory=Counter)
    seconds: Counter[str] = field(default_factory=Counter)
    running: int = 0

    def note(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request that was answered."""
        self.requests[method, route, status] += 1
        self.seconds[route] += seconds  # type: ignore[assignment]
        for bound in BOUNDS:
            self.within[route, bound] += seconds <= bound

    def together(self) -> "RequestCounts":
        """Return the counts of all processes of the service."""
        return self

    def include(self, other: "RequestCounts") -> None:
        """Add the counts of another process."""
        self.requests.update(other.requests)
        self.within.update(other.within)
        self.seconds.update(other.seconds)
        self.running += other.running

    def lines(self, gauges: Mapping[str, float]) -> Iterator[str]:
        """Yield the lines Prometheus reads, `gauges` by name behind them."""
        yield "# TYPE episodic_http_requests_total counter"
        for (method, route, status), count in sorted(self.requests.items()):
            labels = f'method="{method}",route="{route}",status="{status}"'
            yield f"episodic_http_requests_total{{{labels}}} {count}"
        yield "# TYPE episodic_http_request_seconds histogram"
        totals: Counter[str] = Counter()
        for (_, route, _), count in self.requests.items():
            totals[route] += count
        for route, total in sorted(totals.items()):
            name = "episodic_http_request_seconds"
            for bound in BOUNDS:
                yield f'{name}_bucket{{route="{route}",le="{bound:g}"}} {self.within[route, bound]}'
            yield f'{name}_bucket{{route="{route}",le="+Inf"}} {total}'
            yield f'{name}_sum{{route="{route}"}} {self.seconds[route]:.6f}'
            yield f'{name}_count{{route="{route}"}} {total}'
        for name, value in {"episodic_http_requests_running": self.running, **gauges}.items():
            yield f"# TYPE {name} gauge"
            yield f"{name} {value:g}"


class SharedCounts(RequestCounts):
    """What one of several processes counts, in a file beside those of the others.

    A process that takes the place of one that died goes on from its counts. A file is written before its
    counts are told and, while requests come, once a second.
    """

    def __init__(self, folder: Path, place: int) -> None:
        super().__init__()
        self._file = folder / f"counts-{place}.json"
        self._due = False
        with suppress(FileNotFoundError):
            self.include(_read(self._file))
        self.running = 0  # what ran there was cut off
        self.publish()

    def note(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request that was answered, and let the others know soon; called in the event loop."""
        super().note(method, route, status, seconds)
        if not self._due:
            self._due = True
            asyncio.get_running_loop().call_later(SOON, self.publish)

    def publish(self) -> None:
        """Write the counts where the other processes read them."""
        self._due = False
        counters = (self.requests, self.within, self.seconds)
        listed = [[[key, count] for key, count in counter.items()] for counter in counters]
        fresh = self._file.with_suffix(".new")
        with suppress(OSError):  # the folder is gone where the service ends
            fresh.write_text(json.dumps([*listed, self.running]), encoding="utf-8")
            fresh.replace(self._file)

    def together(self) -> RequestCounts:
        """Return the counts of all processes: these as they are, of the others what they wrote."""
        self.publish()
        every = RequestCounts()
        for file in sorted(self._file.parent.glob("counts-*.json")):
            every.include(_read(file))
        return every


def _read(file: Path) -> RequestCounts:
    requests, within, seconds, running = json.loads(file.read_text(encoding="utf-8"))
    return RequestCounts(
        Counter({tuple(key): count for key, count in requests}),
        Counter({tuple(key): count for key, count in within}),
        Counter(dict(seconds)),
        running,
    )


class RequestMeter:
    """Count every request and how long it took until its answer began."""

    def __init__(
        self, app: ASGIApp, *, counts: RequestCounts, tick: Callable[[], float] = perf_counter
    ) -> None:
        self._app = app
        self._counts = counts
        self._tick = tick

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request and count it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun, statuses = self._tick(), list[int]()

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])
            await send(message)

        self._counts.running += 1
        try:
            await self._app(scope, receive, watched)
        finally:
            self._counts.running -= 1
            status = statuses[0] if statuses else 500
            self._counts.note(scope["method"], _route(scope), status, self._tick() - begun)


def _route(scope: Scope) -> str:
    """Return the path of a route as the document has it: it may know itself without what is before it."""
    path: str = getattr(scope.get("route"), "path", "")
    missing = scope["path"].count("/") - path.count("/")
    return "/".join(scope["path"].split("/")[: missing + 1]) + path if path else _OTHER
