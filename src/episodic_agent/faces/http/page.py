"""The page `/docs`: every route with what it takes and returns, from the OpenAPI document, and no script.

Pages that draw themselves would load their scripts from somewhere else; this one works without a network.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any, Final

STYLE: Final = (
    "body{font:16px/1.5 sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem}"
    "h2{font:600 1.1rem monospace;margin-top:2.5rem}pre{background:#f4f4f4;padding:.7rem;overflow:auto}"
    "table{border-collapse:collapse}td,th{padding:.2rem .8rem .2rem 0;text-align:left;vertical-align:top}"
)


def page(document: Mapping[str, Any]) -> str:
    """Return an OpenAPI document as HTML; whatever it says is text there, never markup.

    >>> page({"info": {"title": "<b>", "version": "1"}, "paths": {}}).count("&lt;b&gt;")
    2
    """
    title = escape(f"{document['info']['title']} {document['info']['version']}")
    operations = [
        part
        for path, item in document["paths"].items()
        for method, operation in item.items()
        for part in _operation(document, f"{method.upper()} {path}", operation)
    ]
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            f"<title>{title}</title><style>{STYLE}</style></head><body><h1>{title}</h1>",
            '<p>The same for programs: <a href="openapi.json">openapi.json</a>.</p>',
            *operations,
            "</body></html>",
        ]
    )


def _operation(document: Mapping[str, Any], name: str, operation: Mapping[str, Any]) -> Iterator[str]:
    yield f"<h2>{escape(name)}</h2><p>{escape(operation.get('description', ''))}</p>"
    body = _schema(operation.get("requestBody"))
    if body:
        taken = _resolved(document, body)
        yield from _fields(document, taken)
        for example in taken.get("examples", ())[:1]:
            yield f"<pre>{escape(json.dumps(example, indent=2, ensure_ascii=False))}</pre>"
    rows = [
        f"<tr><td>{escape(status)}</td><td>{escape(answer.get('description', ''))}</td>"
        f"<td>{escape(_kind(_schema(answer)))}</td></tr>"
        for status, answer in operation["responses"].items()
    ]
    yield f"<table><tr><th>status</th><th>answer</th><th>form</th></tr>{''.join(rows)}</table>"


def _fields(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[str]:
    rows = []
    for name, answer in schema.get("properties", {}).items():
        needed = "" if name in schema.get("required", ()) else "?"
        about = answer.get("description") or _resolved(document, answer).get("description", "")
        rows.append(
            f"<tr><td><code>{escape(name + needed)}</code></td><td>{escape(_kind(answer))}</td>"
            f"<td>{escape(about)}</td></tr>"
        )
    if rows:
        yield f"<table><tr><th>field</th><th>form</th><th></th></tr>{''.join(rows)}</table>"


def _schema(holder: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the schema of a body, whatever media type it comes in."""
    media: Mapping[str, Any] = (holder or {}).get("content", {})
    return next((one["schema"] for one in media.values() if one.get("schema")), {})


def _resolved(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a schema refers to, or itself."""
    result: Any = schema
    if "$ref" in schema:
        result = document
        for name in str(schema["$ref"]).removeprefix("#/").split("/"):
            result = result[name]
    read: Mapping[str, Any] = result
    return read


def _kind(schema: Mapping[str, Any]) -> str:
    """Name the form of a value in a word or two.

    >>> _kind({"anyOf": [{"type": "string", "format": "uuid"}, {"type": "null"}]})
    'uuid'
    >>> _kind({"type": "array", "items": {"$ref": "#/components/schemas/Said"}})
    'list of Said'
    """
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    several: Sequence[Mapping[str, Any]] = schema.get("anyOf", ())
    named = [_kind(one) for one in several if one.get("type") != "null"]
    return " | ".join(named) or str(schema.get("format") or schema.get("type") or "")
