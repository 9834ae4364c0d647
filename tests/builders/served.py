"""A service of this process on a socket of this machine, for clients that ask over a real connection."""

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import uvicorn

from episodic_agent import Memory
from episodic_agent.faces.http.app import make_app
from episodic_agent.wiring import utc_now

TICK, PATIENCE = 0.005, 0.3  # seconds


class Attentive(uvicorn.Server):
    """A server that looks every few milliseconds whether it is to end, where uvicorn's own waits tenths of seconds.

    What is still asked when it ends has `PATIENCE` to be finished, as `timeout_graceful_shutdown` of another.
    """

    async def main_loop(self) -> None:
        ticks = 0
        while not await self.on_tick(ticks):
            ticks += 1
            await asyncio.sleep(TICK)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for listening in (*self.servers, *(sockets or ())):
            listening.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        try:
            async with asyncio.timeout(PATIENCE):
                while self.server_state.connections or self.server_state.tasks:
                    await asyncio.sleep(TICK)
        except TimeoutError:
            for task in self.server_state.tasks:
                task.cancel()
        await self.lifespan.shutdown()


@contextmanager
def served(memory: Memory, **options: float) -> Iterator[str]:
    """Serve a memory that is open; yield its address."""
    app = make_app(lambda: nullcontext(memory), utc_now, **options)  # type: ignore[arg-type]
    server = Attentive(uvicorn.Config(app, port=0, log_level="critical"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.002)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
