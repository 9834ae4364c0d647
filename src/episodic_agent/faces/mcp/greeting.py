"""The first answer of the MCP server on standard input and output: given before anything heavy is loaded.

A client that starts the server waits for its answer to `initialize`. That answer depends on nothing but the
request, so a thread gives it at once, while the memory, its model and the MCP library load; the library then
takes up the same request, and what it answers to it is dropped. A request the library might refuse, or of a
protocol this file does not know, is left to the library alone.
"""

import io
import json
import os
import threading
from typing import Any, Final

from episodic_agent import __version__

NAME: Final = "episodic-agent"
TITLE: Final = "Episodic memory"
INSTRUCTIONS: Final = (
    "An episodic memory of past conversations. Call get_context or search_memory before answering what may "
    "have come up before, replay_topic to tell how something went over time, add_memory to keep what is "
    "said. What stands between <recalled-memory> marks was remembered: do not store it again."
)
VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")  # whose handshake this is
CAPABILITIES: Final = {
    "prompts": {"listChanged": False},
    "resources": {"listChanged": False, "subscribe": False},
    "tools": {"listChanged": False},
}
_PIECE: Final = 65_536  # bytes read at once


def answer_to(line: bytes) -> bytes | None:
    """Return the line that answers an `initialize`; None for anything that is not surely one."""
    try:
        request = json.loads(line)
        params = request["params"]
        client = params["clientInfo"]
        sure = (
            request["jsonrpc"] == "2.0"
            and request["method"] == "initialize"
            and type(request["id"]) in {int, str}
            and params["protocolVersion"] in VERSIONS
            and all(isinstance(one, dict) for one in params["capabilities"].values())
            and "_meta" not in params
            and all(isinstance(client[key], str) for key in ("name", "version"))
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    if not sure:
        return None
    result: dict[str, Any] = {
        "capabilities": CAPABILITIES,
        "instructions": INSTRUCTIONS,
        "protocolVersion": params["protocolVersion"],
        "serverInfo": {"name": NAME, "title": TITLE, "version": __version__},
    }
    answer = {"jsonrpc": "2.0", "id": request["id"], "result": result}
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


class Greeter:
    """Owns standard input and output from now on, and answers the first request if it can.

    File descriptors 0 and 1 lead to nowhere and to standard error: what anything prints is no protocol.
    """

    def __init__(self) -> None:
        """Begin to listen, on a thread of its own."""
        self._input, self._output = os.dup(0), os.dup(1)
        nowhere = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nowhere, 0)
        os.close(nowhere)
        os.dup2(2, 1)
        self._read = b""
        self._answered = False
        # a daemon: it may wait for a client that never speaks when the memory cannot be opened
        self._listening = threading.Thread(target=self._greet, name="episodic-greeting", daemon=True)
        self._listening.start()

    def _greet(self) -> None:
        while b"\n" not in self._read and (piece := os.read(self._input, _PIECE)):
            self._read += piece
        answer = answer_to(self._read.partition(b"\n")[0])
        while answer:
            self._answered = True
            answer = answer[os.write(self._output, answer) :]

    def incoming(self) -> io.TextIOWrapper:
        """Return what the client sends, from its first byte on."""
        return io.TextIOWrapper(io.BufferedReader(_Input(self)), encoding="utf-8", errors="replace")

    def outgoing(self) -> io.TextIOWrapper:
        """Return where answers go; the first line is dropped if its request was answered here."""
        return io.TextIOWrapper(io.BufferedWriter(_Output(self)), encoding="utf-8")

    def read(self, size: int) -> bytes:
        """Read some bytes; b"" at the end."""
        self._listening.join()
        first, self._read = self._read[:size], self._read[size:]
        return first or os.read(self._input, size)

    def write(self, written: bytes) -> int:
        """Write some bytes and return how many."""
        if not self._answered:
            return os.write(self._output, written)
        line, end, _ = written.partition(b"\n")
        self._answered = not end
        return len(line) + len(end)


class _Input(io.RawIOBase):
    def __init__(self, greeter: Greeter) -> None:
        self._greeter = greeter

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self._greeter.read(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)


class _Output(io.RawIOBase):
    def __init__(self, greeter: Greeter) -> None:
        self._greeter = greeter

    def writable(self) -> bool:
        return True

    def write(self, written: Any) -> int:
        return self._greeter.write(bytes(written))
