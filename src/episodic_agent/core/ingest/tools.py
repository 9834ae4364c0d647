"""Tool calls and results in the shapes that OpenAI and Anthropic messages carry them, read into one."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

_SHOWN_ARGUMENTS: Final = 200
_NO_LISTS: Final = (str, bytes)


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One call, one result, or both. `answered` tells that a result (or an error) is here."""

    name: str | None = None
    arguments: object = None
    result: object = None
    error: object = None
    call_id: str | None = None
    answered: bool = False

    def as_json(self) -> dict[str, object]:
        """Return the observation's extras: the four names always, the call's id where there is one."""
        values: dict[str, object] = {
            "name": self.name,
            "arguments": self.arguments,
            "result": self.result,
            "error": self.error,
        }
        return values if self.call_id is None else {**values, "tool_call_id": self.call_id}


def tool_uses(fields: Mapping[str, object]) -> list[ToolUse]:
    """Find every call and result in one message, in order; none for a plain message.

    >>> [use.name for use in tool_uses({"tool_calls": [{"function": {"name": "now", "arguments": "{}"}}]})]
    ['now']
    >>> tool_uses({"role": "user", "content": "hi"})
    []
    """
    uses = [_openai_call(call) for call in _objects(fields.get("tool_calls"))]
    legacy = fields.get("function_call")
    if isinstance(legacy, Mapping):
        uses.append(_openai_call(legacy))
    for block in _objects(fields.get("content")):
        if block.get("type") == "tool_use":
            uses.append(ToolUse(_name(block), block.get("input"), call_id=_text_or_none(block.get("id"))))
        elif block.get("type") == "tool_result":
            uses.append(_result(None, block.get("content"), block.get("is_error"), block.get("tool_use_id")))
    if not uses and _is_tool_message(fields):
        uses.append(_tool_message(fields))
    return uses


def describe(use: ToolUse) -> str:
    """Say a tool use in words a person can read and a search can find.

    >>> describe(ToolUse("weather", {"city": "Lisbon"}))
    'called weather(city="Lisbon")'
    >>> describe(ToolUse("weather", result="18 °C", answered=True))
    'weather: 18 °C'
    """
    text = ""
    if use.name and (use.arguments is not None or not use.answered):
        text = f"called {use.name}({_arguments(use.arguments)})"
    if not use.answered:
        return text
    outcome = f"error: {_words(use.error)}" if use.error not in (None, False) else _words(use.result)
    if text:
        return f"{text}: {outcome}"
    return f"{use.name or 'tool result'}: {outcome}" if outcome or use.name else ""


def _objects(value: object) -> list[Mapping[str, object]]:
    if value is None or isinstance(value, _NO_LISTS) or not isinstance(value, Sequence):
        return []
    return [part for part in value if isinstance(part, Mapping)]


def _is_tool_message(fields: Mapping[str, object]) -> bool:
    if fields.get("role") in ("tool", "function") or fields.get("kind") == "tool":
        return True
    return fields.get("type") in ("function_call", "function_call_output", "tool_use", "tool_result")


def _tool_message(fields: Mapping[str, object]) -> ToolUse:
    """Read a tool role message, an item of a responses log, or an observation's own four names."""
    call_id = next(
        (fields[key] for key in ("tool_call_id", "call_id", "tool_use_id") if fields.get(key)), None
    )
    value = fields.get("arguments", fields.get("input"))
    arguments = None if value is None else _parsed(value)
    if fields.get("type") in ("function_call", "tool_use"):
        return ToolUse(_name(fields), arguments, call_id=_text_or_none(call_id))
    result = next(
        (fields[key] for key in ("result", "output", "content", "text") if fields.get(key) is not None), None
    )
    error = fields.get("error")
    failed = error if error not in (None, False, "") else fields.get("is_error")
    use = _result(_name(fields), result, failed, call_id)
    silent = use.result is None and use.error is None and arguments is not None
    return ToolUse(use.name, arguments, use.result, use.error, use.call_id, answered=not silent)


def _openai_call(call: Mapping[str, object]) -> ToolUse:
    function = call.get("function")
    inner = function if isinstance(function, Mapping) else call
    arguments = _parsed(inner.get("arguments", inner.get("args")))
    return ToolUse(_name(inner), arguments, call_id=_text_or_none(call.get("id")))


def _result(name: str | None, result: object, failed: object, call_id: object) -> ToolUse:
    value = _flat(result)
    error = None if failed in (None, False) else (value if failed is True else failed)
    return ToolUse(
        name, None, None if failed is True else value, error, _text_or_none(call_id), answered=True
    )


def _flat(result: object) -> object:
    """Join a list of text blocks to its text; leave every other value as it is."""
    blocks = _objects(result)
    if not blocks or not isinstance(result, Sequence) or len(blocks) != len(result):
        return result
    if not all(block.get("type") in ("text", "image", "document") for block in blocks):
        return result
    return "\n".join(str(block.get("text") or f"[{block['type']}]") for block in blocks)


def _parsed(arguments: object) -> object:
    """Parse arguments that travel as JSON in a string; a model's broken JSON stays text."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments


def _arguments(arguments: object) -> str:
    if isinstance(arguments, Mapping):
        text = ", ".join(f"{key}={_words(value, quoted=True)}" for key, value in arguments.items())
    else:
        text = "" if arguments is None else _words(arguments)
    return text if len(text) <= _SHOWN_ARGUMENTS else text[: _SHOWN_ARGUMENTS - 1] + "…"


def _words(value: object, *, quoted: bool = False) -> str:
    if value is None:
        return ""
    if isinstance(value, str) and not quoted:
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError, TypeError):  # a loop, or a number too long to print
        return str(type(value).__name__)


def _name(fields: Mapping[str, object]) -> str | None:
    return _text_or_none(fields.get("name"))


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None
