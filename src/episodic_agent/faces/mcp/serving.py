"""Serve a memory over MCP: on standard input and output, or over HTTP to this machine."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import anyio
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp

from episodic_agent.engine.memory import Memory
from episodic_agent.faces.guard import guarded
from episodic_agent.faces.mcp.greeting import Greeter
from episodic_agent.faces.mcp.server import make_server

__all__ = ["HOST", "make_app", "serve_http", "serve_stdio"]
HOST = "127.0.0.1"
GRACE = 10  # seconds requests under way have when the server is told to stop


def serve_stdio(
    memory: Memory, user_id: str | None, budget: int, greeter: Greeter, only: Sequence[str] = ()
) -> None:
    """Serve one client until it closes our standard input; nothing but the protocol is on standard output."""
    anyio.run(_speak, memory, user_id, budget, greeter, only)


async def _speak(
    memory: Memory, user_id: str | None, budget: int, greeter: Greeter, only: Sequence[str]
) -> None:
    server = make_server(memory, user_id=user_id, budget=budget, only=only)
    client = anyio.wrap_file(greeter.incoming()), anyio.wrap_file(greeter.outgoing())
    async with stdio_server(*client) as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def serve_http(memory: Memory, user_id: str | None, budget: int, port: int, only: Sequence[str] = ()) -> None:
    """Serve `/mcp` to this machine until SIGINT or SIGTERM."""
    uvicorn: Any = import_module("uvicorn")  # on standard input and output nobody waits for it
    app = make_app(memory, user_id, budget, only)
    uvicorn.run(app, host=HOST, port=port, log_level="warning", timeout_graceful_shutdown=GRACE)


def make_app(memory: Memory, user_id: str | None, budget: int, only: Sequence[str] = ()) -> ASGIApp:
    """Return the application that serves `/mcp`, guarded as every HTTP face is."""
    server = make_server(memory, user_id=user_id, budget=budget, only=only)
    unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # `guarded` checks
    app = server.streamable_http_app(
        stateless_http=True, json_response=True, host=HOST, transport_security=unchecked
    )
    return guarded(app)
