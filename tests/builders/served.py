"""A service of this process on a socket of this machine, for clients that ask over a real connection."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import uvicorn

from episodic_agent import Memory
from episodic_agent.faces.http.app import make_app
from episodic_agent.wiring import utc_now


@contextmanager
def served(memory: Memory, **options: float) -> Iterator[str]:
    """Serve a memory that is open; yield its address."""
    app = make_app(lambda: nullcontext(memory), utc_now, **options)  # type: ignore[arg-type]
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
