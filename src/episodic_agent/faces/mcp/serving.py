"""Serve a memory over MCP: on standard input and output, or over HTTP to this machine."""

from importlib import import_module
from typing import Any

import anyio
from mcp.server.stdio import stdio_server

from episodic_agent.engine.memory import Memory
from episodic_agent.faces.mcp.server import make_server

HOST = "127.0.0.1"
GRACE = 10  # seconds requests under way have when the server is told to stop


def serve_stdio(memory: Memory, user_id: str | None, budget: int) -> None:
    """Serve one client until it closes our standard input; nothing but the protocol is on standard output."""
    anyio.run(_speak, memory, user_id, budget)


async def _speak(memory: Memory, user_id: str | None, budget: int) -> None:
    server = make_server(memory, user_id=user_id, budget=budget)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def serve_http(memory: Memory, user_id: str | None, budget: int, port: int) -> None:
    """Serve `/mcp` to this machine until SIGINT or SIGTERM."""
    uvicorn: Any = import_module("uvicorn")  # on standard input and output nobody waits for it
    server = make_server(memory, user_id=user_id, budget=budget)
    app = server.streamable_http_app(stateless_http=True, json_response=True, host=HOST)
    uvicorn.run(app, host=HOST, port=port, log_level="warning", timeout_graceful_shutdown=GRACE)
