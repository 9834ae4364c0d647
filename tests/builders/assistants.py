"""What an assistant does for somebody, day after day, in the shapes chat APIs send."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

TEN = datetime(2025, 11, 5, 10, tzinfo=UTC)
CITIES = ("Boston", "Lisbon", "Oslo", "Tokyo", "Lima", "Cairo", "Perth", "Quito", "Turin", "Accra")
Message = dict[str, Any]


def weather(day: int, *, fails: bool = False) -> list[Message]:
    """One day's question after the weather: two tool calls with their results, an answer, thanks."""
    city, at = CITIES[day % len(CITIES)], TEN + timedelta(days=day)
    place = f"place-{day:03}"
    return _timed(
        at,
        [
            {"role": "user", "content": f"What's the weather in {city} on Thursday?"},
            _call(f"f{day}", "find_place", {"query": city}),
            {"role": "tool", "tool_call_id": f"f{day}", "content": json.dumps({"id": place})},
            _call(f"w{day}", "get_weather", {"place": place, "unit": "celsius"}),
            {"role": "tool", "tool_call_id": f"w{day}", "name": "get_weather", "content": "sunny"}
            | ({"error": "away"} if fails else {}),
            {"role": "assistant", "content": f"Sunny in {city}, about {day + 4} degrees."},
            {"role": "user", "content": "Thanks a lot!"},
        ],
    )


def invoice(day: int) -> list[Message]:
    """One day's invoice: a request that is answered alike, with one tool and without another."""
    at = TEN + timedelta(days=day, hours=3)
    return _timed(
        at,
        [
            {"role": "user", "content": f"Please send the invoice number {day + 400} to the bakery"},
            _call(f"i{day}", "send_mail", {"subject": f"Invoice {day + 400}"}),
            {"role": "tool", "tool_call_id": f"i{day}", "content": "sent"},
            {"role": "assistant", "content": f"Invoice {day + 400} was sent to the bakery by mail."},
        ],
    )


def deployment(day: int, *, shell: bool) -> list[Message]:
    """One day's deployment: the tests are run alike each time, what is deployed differs; by tools or in a shell."""
    at, version = TEN + timedelta(days=day, hours=5), f"quill:{day + 30}"
    if shell:
        lines = (f"cd web && git switch release-{day}", "pnpm test", "pnpm run deploy")
        calls = [("bash", {"command": line, "description": f"step of {version}"}) for line in lines]
    else:
        calls = [
            ("run_tests", {"suite": "smoke"}),
            ("build_image", {"tag": version}),
            ("deploy_staging", {"image": version}),
        ]
    rows: list[Message] = [{"role": "user", "content": f"deploy {version} to staging"}]
    for n, (name, arguments) in enumerate(calls):
        rows.append(_call(f"d{day}-{n}", name, arguments))
        rows.append(
            {
                "role": "tool",
                "tool_call_id": f"d{day}-{n}",
                "content": f"{version} it is" if n else "smoke ok",
            }
        )
    return _timed(at, [*rows, {"role": "assistant", "content": f"{version} is on staging."}])


def _call(identity: str, name: str, arguments: Message) -> Message:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"role": "assistant", "tool_calls": [{"id": identity, "function": function}]}


def _timed(at: datetime, messages: Sequence[Message]) -> list[Message]:
    return [{**m, "timestamp": at + timedelta(seconds=20 * n)} for n, m in enumerate(messages)]
