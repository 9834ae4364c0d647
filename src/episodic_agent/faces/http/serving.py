"""Run the application on a socket."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import uvicorn

from episodic_agent.engine.memory import Memory
from episodic_agent.faces.http.app import make_app
from episodic_agent.faces.http.keyed import RATE
from episodic_agent.wiring import utc_now

GRACE = 10  # seconds requests under way have when the server is told to stop


def serve(
    opened: Callable[[], AbstractContextManager[Memory]],
    host: str,
    port: int,
    *,
    rate: float = RATE,
    keyed: bool = True,
) -> None:
    """Serve until SIGINT or SIGTERM; `rate` and `keyed` as for `make_app`."""
    app = make_app(opened, utc_now, rate=rate, keyed=keyed)
    uvicorn.run(app, host=host, port=port, log_level="warning", timeout_graceful_shutdown=GRACE)
