"""Run the application on a socket, in this process or in several."""

import asyncio
import os
import signal
import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context, parent_process
from multiprocessing.context import SpawnProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any, Final

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from episodic_agent.engine.memory import Memory
from episodic_agent.faces.guard import SLOWEST
from episodic_agent.faces.http.allowances import Allowances, SharedAllowances
from episodic_agent.faces.http.app import make_app
from episodic_agent.faces.http.keyed import RATE
from episodic_agent.faces.http.metrics import RequestCounts, SharedCounts
from episodic_agent.faces.http.opening import EndOfService, answering, listen
from episodic_agent.wiring import utc_now

__all__ = ["GRACE", "Limits", "answering", "listen", "serve", "serve_many"]

GRACE: Final = 10  # seconds requests under way have when the server is told to stop
PAUSE: Final = 1.0  # seconds what comes is refused before connections close: balancers see it is not ready
AGAIN: Final = 1.0  # seconds between looks at whether a process died
Opened = Callable[[], AbstractContextManager[Memory]]


@dataclass(frozen=True, slots=True)
class Limits:
    """What of a server does not hang on the memory: `rate` as for `make_app`.

    `shared` is the folder in which several processes count their requests, `place` which of them this is.
    """

    host: str
    port: int
    rate: float = RATE
    shared: Path | None = None
    place: int = 0


class Impatient(H11Protocol):
    """A connection that is cut where the head of a request does not come in time, however it drips."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the head of the first request."""
        super().connection_made(transport)
        self._await_head()

    def data_received(self, data: bytes) -> None:
        """Read on; wait for the rest of a head that is not whole, from its first byte on."""
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._await_head()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(SLOWEST, self.timeout_keep_alive_handler)

    def _stop_waiting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


class DrainingServer(uvicorn.Server):
    """A server that at SIGTERM first refuses what comes, for a moment, and then closes."""

    def __init__(self, config: uvicorn.Config, end: EndOfService) -> None:
        super().__init__(config)
        self._end = end

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to end; at a second signal, or where somebody waits at a terminal, at once."""
        if sig == signal.SIGINT or self._end.begun or not self.started:
            self._end.begun = True
            super().handle_exit(sig, frame)
            return
        self._end.begun = True
        later = threading.Timer(PAUSE, super().handle_exit, (sig, frame))
        later.daemon = True
        later.start()


def serve(
    opened: Opened,
    host: str,
    port: int,
    *,
    rate: float = RATE,
    sockets: Sequence[socket.socket] | None = None,
    shared: tuple[Allowances, RequestCounts] | None = None,
) -> None:
    """Serve until SIGINT or SIGTERM; `rate` and what is `shared` with other processes as for `make_app`."""
    end = EndOfService()
    allowances, counts = shared or (None, None)
    app = make_app(opened, utc_now, rate=rate, end=end, allowances=allowances, counts=counts)
    config = uvicorn.Config(
        app, host=host, port=port, http=Impatient, log_level="warning", timeout_graceful_shutdown=GRACE
    )
    DrainingServer(config, end).run(None if sockets is None else list(sockets))


def serve_many(
    opened: Opened, limits: Limits, processes: int, *, listener: socket.socket | None = None
) -> None:
    """Serve from several processes, which share a socket, until SIGINT or SIGTERM; replace those that die.

    `listener` is the socket, made here where it is None. `opened` goes to other processes: it is a function
    of a module, or an object of plain values.
    """
    stop = threading.Event()
    usual = {sig: signal.signal(sig, lambda *_: stop.set()) for sig in (signal.SIGTERM, signal.SIGINT)}
    try:
        with (
            TemporaryDirectory(prefix="episodic-serve-") as folder,
            listener or listen(limits.host, limits.port) as shared,
        ):
            begin = partial(_begin, opened, replace(limits, shared=Path(folder)), shared)
            running = [begin(place) for place in range(processes)]
            while not stop.wait(AGAIN):
                running = [each if each.is_alive() else begin(place) for place, each in enumerate(running)]
            for process in running:
                process.terminate()
            shared.close()  # what comes from now on is refused by the system
            for process in running:
                process.join(PAUSE + GRACE + 5)
                if process.is_alive():
                    process.kill()
    finally:
        for sig, handler in usual.items():
            signal.signal(sig, handler)


def _begin(opened: Opened, limits: Limits, shared: socket.socket, place: int) -> SpawnProcess:
    """Start one process; nothing of this one's threads and connections goes over to it."""
    arguments = (opened, replace(limits, place=place), shared)
    process = get_context("spawn").Process(target=_serve_shared, args=arguments)
    process.start()
    return process


def _serve_shared(opened: Opened, limits: Limits, shared: socket.socket) -> None:
    """Serve from one of several processes, until it is told to end or the one that began it is gone."""
    threading.Thread(target=_end_with_parent, name="episodic-parent", daemon=True).start()
    together = None
    if limits.shared is not None:
        allowances = SharedAllowances(limits.shared / "allowances")
        together = allowances, SharedCounts(limits.shared, limits.place)
    serve(opened, limits.host, limits.port, rate=limits.rate, sockets=[shared], shared=together)


def _end_with_parent() -> None:
    """Wait until the process that began this one is gone, and end as if told to: nobody replaces it."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
