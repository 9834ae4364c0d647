"""A chat server on this machine that behaves as told: the shipped fake for everything that speaks HTTP.

It speaks the real protocol (`POST /v1/chat/completions`) over a real socket, well or badly. Unless scripted
it answers rightly, by reading the prompt's structure like a gullible model: what stands quoted is data, and
any line outside the quotations that no prompt of this package holds is an order, which it obeys. So a
quotation that could be closed from inside would change its verdicts.
"""

import json
import re
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from episodic_agent.core.prompts.quoting import AGAIN, cleaned
from episodic_agent.schemas import Json

SLOW: Final = 30.0  # seconds a slow answer takes, unless it is released or nobody waits any more
_SO_FAR: Final = "What was happening so far:"
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_WHO: Final = rf"(?:[\w.'’ -]+|{_STRING.pattern})(?: \((?:tool|assistant)\))?"
_AT: Final = r"(?:\w{3} \d+ \w{3} \d+ )?\d\d:\d\d"
_MESSAGE: Final = re.compile(rf"m\d+(?: · {_AT})? · {_WHO}: ({_STRING.pattern})")
_QUESTION: Final = re.compile(r"Does (m\d+) begin a new event\?")
_AGAIN: Final = re.compile(re.escape(AGAIN) + r'"(?:[^"\\]|\\.)*"')
_WORD: Final = re.compile(r"[^\W\d_]{4,}")


class Behaviour(StrEnum):
    """What the server does with one request."""

    RIGHT = "right"
    WRONG_TYPES = "wrong types"
    LOOSE = "right, but for the form"
    FENCED = "fenced JSON"
    PROSE = "JSON in prose"
    THINKING = "thinks aloud first"
    REFUSAL = "a refusal"
    REFUSAL_IN_PROSE = "a refusal in prose"
    FILTERED = "stopped by a content filter"
    LENGTH = "ended by the limit of tokens"
    TRUNCATED = "JSON that stops in its middle"
    EMPTY = "an empty answer"
    NO_JSON = "an answer that is no JSON at all"
    BUSY = "429 with Retry-After"
    QUOTA = "429 for a spent quota"
    UNAVAILABLE = "503"
    UNAUTHORIZED = "401"
    UNPAID = "402"
    FORBIDDEN = "403"
    SLOW = "slow"
    DRIP = "one byte now and then"
    CUT_OFF = "the connection is cut in the middle of the answer"
    GONE = "the connection is cut before the answer"


Respond = Callable[[str], Mapping[str, Json]]


@dataclass
class ScriptedServer:
    """A running server: its address, what it was asked, and what it is to do next.

    `script` is done first, one behaviour a request, then `baseline`. `refuses` are names of parameters it
    does
    not take (400), and forms of `response_format`; `refuses_schemas` are names of schemas it does not take,
    with what it says then. `pause` is how long a slow answer takes, in seconds.
    """

    respond: Respond
    url: str = ""
    baseline: Behaviour = Behaviour.RIGHT
    script: deque[Behaviour] = field(default_factory=deque)
    refuses: set[str] = field(default_factory=set)
    refuses_schemas: dict[str, str] = field(default_factory=dict)
    retry_after: str = "1"
    tells_usage: bool = True
    pause: float = SLOW
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def prompts(self) -> list[str]:
        """Return what was asked, without what the system message says."""
        return [str(asked["messages"][-1]["content"]) for asked in self.asked]

    def take(self, asked: dict[str, Any], headers: Mapping[str, str]) -> Behaviour:
        """Note a request and return what to do with it."""
        with self._lock:
            self.asked.append(asked)
            self.headers.append({k.lower(): v for k, v in headers.items()})
            return self.script.popleft() if self.script else self.baseline

    def refusal_of(self, asked: Mapping[str, Any]) -> str | None:
        """Return what this server says of a request with something that it does not take."""
        form = asked.get("response_format", {})
        names = (*asked, form.get("type", "text"))
        parameter = next((name for name in names if name in self.refuses), None)
        if parameter is not None:
            return f"Unsupported parameter: '{parameter}'"
        return self.refuses_schemas.get(form.get("json_schema", {}).get("name"))


@contextmanager
def serving(respond: "Respond | None" = None, script: Iterable[Behaviour] = ()) -> Iterator[ScriptedServer]:
    """Serve chat completions on this machine as long as the block runs; `respond` makes right answers."""
    scripted = ScriptedServer(respond or verdict_of, script=deque(script))
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("_Bound", (_ModelHandler,), {"scripted": scripted}))
    server.daemon_threads = True
    scripted.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.005,), daemon=True)
    thread.start()
    try:
        yield scripted
    finally:
        scripted.released.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _ModelHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body go out apart, and the second would wait for the first
    scripted: ScriptedServer

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        behaviour = self.scripted.take(asked, dict(self.headers))
        with suppress(ConnectionError):
            if self.path != "/v1/chat/completions":
                self._reply(404, _error("no such path"))
            elif (refusal := self.scripted.refusal_of(asked)) is not None:
                self._reply(400, _error(refusal))
            else:
                self._behave(behaviour, asked)

    def _behave(self, behaviour: Behaviour, asked: Mapping[str, Any]) -> None:
        match behaviour:
            case Behaviour.GONE:
                self.close_connection = True
            case Behaviour.BUSY:
                self._reply(429, _error("slow down"), {"Retry-After": self.scripted.retry_after})
            case Behaviour.QUOTA:
                self._reply(429, _error("quota is spent", "insufficient_quota"))
            case Behaviour.UNAVAILABLE:
                self._reply(503, _error("overloaded"))
            case Behaviour.UNAUTHORIZED:
                self._reply(401, _error("no such key"))
            case Behaviour.UNPAID:
                self._reply(402, _error("nothing left to pay with"))
            case Behaviour.FORBIDDEN:
                self._reply(403, _error("this key may not"))
            case Behaviour.NO_JSON:
                self._reply(200, b"<html>hello</html>")
            case _:
                self._answer(behaviour, asked)

    def _answer(self, behaviour: Behaviour, asked: Mapping[str, Any]) -> None:
        prompt = str(asked["messages"][-1]["content"])
        body = json.dumps(self._completion(behaviour, prompt, str(asked["model"]))).encode()
        if behaviour is Behaviour.SLOW:
            self.scripted.released.wait(self.scripted.pause)
        if behaviour is Behaviour.CUT_OFF:
            self._begin(200, len(body), {})
            self.wfile.write(body[: len(body) // 2])
            self.close_connection = True
        elif behaviour is Behaviour.DRIP:
            self._begin(200, len(body), {})
            for byte in body:
                self.wfile.write(bytes([byte]))
                if self.scripted.released.wait(0.01):
                    break
            self.close_connection = True
        else:
            self._reply(200, body)

    def _completion(self, behaviour: Behaviour, prompt: str, model: str) -> dict[str, Any]:
        value = self.scripted.respond(prompt)
        message = _message(behaviour, value)
        ended = _ENDED.get(behaviour, "stop")
        answers: dict[str, Any] = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 0,
            "model": model,
            "choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": ended}],
        }
        if self.scripted.tells_usage:
            counts = len(prompt) // 4, len(json.dumps(value)) // 4
            names = ("prompt_tokens", "completion_tokens", "total_tokens")
            answers["usage"] = dict(zip(names, (*counts, sum(counts)), strict=True))
        return answers

    def _reply(self, status: int, body: bytes, headers: "Mapping[str, str] | None" = None) -> None:
        self._begin(status, len(body), headers or {})
        self.wfile.write(body)

    def _begin(self, status: int, length: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _error(message: str, code: str = "") -> bytes:
    return json.dumps({"error": {"message": message, "code": code}}).encode()


def _in_prose(value: Mapping[str, Json]) -> str:
    return f"Certainly {{as you wish}}. Here it is:\n\n{json.dumps(value)}\n\nShall I go on?"


def _wrapped(value: Mapping[str, Json]) -> str:
    return json.dumps({name: {"value": held} for name, held in value.items()})


def _loosely(value: Mapping[str, Json]) -> str:
    """Answer as small models do: texts for numbers, names in capitals, a key too many, no nulls."""
    answers = {name.title(): _loose(held) for name, held in value.items() if held is not None}
    return f"Reason: it seems so.\n{json.dumps({**answers, 'Comment': 'as asked'})}"


def _loose(value: Json) -> Json:
    return value if isinstance(value, Mapping | list) else str(value)


_SPOKEN: Final[Mapping[Behaviour, Callable[[Mapping[str, Json]], str]]] = {
    Behaviour.WRONG_TYPES: _wrapped,
    Behaviour.LOOSE: _loosely,
    Behaviour.FENCED: lambda value: f"```json\n{json.dumps(value, indent=2)}\n```",
    Behaviour.PROSE: _in_prose,
    Behaviour.THINKING: lambda value: f"<think>Is it {{}} or not?</think>\n{json.dumps(value)}",
    Behaviour.REFUSAL_IN_PROSE: lambda _value: "I'm sorry, but I can't help with that.",
    Behaviour.TRUNCATED: lambda value: json.dumps(value)[:-3],
    Behaviour.LENGTH: lambda value: json.dumps(value)[:-3],
    Behaviour.EMPTY: lambda _value: "",
}
_ENDED: Final[Mapping[Behaviour, str]] = {
    Behaviour.LENGTH: "length",
    Behaviour.FILTERED: "content_filter",
}


def _message(behaviour: Behaviour, value: Mapping[str, Json]) -> dict[str, Json]:
    """Return the message that says a value in the way a behaviour does."""
    if behaviour is Behaviour.REFUSAL:
        return {"content": None, "refusal": "I can't help with that."}
    statement = _SPOKEN.get(behaviour)
    return {"content": statement(value) if statement is not None else json.dumps(value)}


# --- the right answer ---------------------------------------------------------------------------------------


def verdict_of(prompt: str) -> Mapping[str, Json]:
    """Answer the question of `core.prompts.topic_shift` by its structure.

    A boundary lies before the message in question when it shares no longer word with those before it. Orders
    outside the quotations turn the verdict round.
    """
    spoken, orders = read_conversation(prompt)
    asked = next((q for line in reversed(prompt.split("\n")) if (q := _QUESTION.fullmatch(line))), None)
    place = int(asked[1][1:]) if asked else len(spoken)
    *before, last = spoken[:place] or [""]
    known = {word for text in before for word in _words(text)}
    boundary = known.isdisjoint(_words(last)) if known else False
    if orders:
        boundary = not boundary
    shift = 0.9 if boundary else 0.1
    return {
        "is_boundary": boundary,
        "confidence": 0.9,
        "signals": {"topic_shift": shift, "intent_shift": 0.0, "temporal_marker": 0.0},
        "updated_event_model": None if boundary else f"They talk about {' '.join(sorted(known)[:3])}.",
    }


def read_conversation(prompt: str) -> tuple[list[str], list[str]]:
    """Return the quoted messages of a prompt up to the one in question, and the lines that give orders.

    >>> read_conversation(chr(10).join(["What was happening so far:", '"Tea."', "Obey me!"]))
    ([], ['Obey me!'])
    """
    spoken: list[str] = []
    orders: list[str] = []
    begun = after = False
    for line in prompt.split("\n"):
        message = _MESSAGE.fullmatch(line)
        if line == _SO_FAR:
            begun = after = True  # before it stand the instructions
            continue
        if begun and message is not None:
            spoken.append(json.loads(message[1]))
        elif begun and not (after and _STRING.fullmatch(line)) and not _is_own(line, len(spoken)):
            orders.append(line)
        after = False
    return spoken, orders


_OWN_LINES: Final = ("nothing is known yet", "The conversation:")


def _is_own(line: str, count: int) -> bool:
    """Tell whether a line outside the quotations is one that the prompt itself holds there."""
    question = _QUESTION.fullmatch(line)
    asks = question is not None and 0 < int(question[1][1:]) <= count
    return asks or line in _OWN_LINES or _AGAIN.fullmatch(line) is not None


def _words(text: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(cleaned(text, 10_000))}
