"""Write the TypeScript client of `/v1` from the service's own document: `python tools/typescript_client.py`.

`client.js` is the runtime, written by hand. What is written here: `operations.js`, the table of operations,
and `index.d.ts`, the types of all that is asked and answered. A test compares both with the document.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from episodic_agent import Memory
from episodic_agent.faces.http.app import make_app
from episodic_agent.wiring import utc_now

FOLDER = Path(__file__).parents[1] / "clients" / "typescript"
HEAD = "// Made from the service's OpenAPI document by tools/typescript_client.py; change it there.\n"
_REF = "#/components/schemas/"
_SCALARS = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
_FIXED = """
export interface ClientOptions {
  /** A key that `episodic keys create` made; none is needed on the machine itself where there are none. */
  key?: string;
  /** Milliseconds an answer may take; 60,000 unless given. */
  timeout?: number;
  /** How often a request is sent that the service asks to be sent again (429, 503); 4 unless given. */
  tries?: number;
  fetch?: typeof fetch;
}

/** What the service refused: its problem document. */
export class EpisodicError extends Error {
  readonly status: number;
  readonly problem: Problem;
}

/** A memory behind a service; the space is the key's. */
export class Client extends SpaceMemory {
  constructor(url?: string, options?: ClientOptions);
  /** Return a user's memory; nothing is asked for it. */
  user(name: string): UserMemory;
}

export interface Page<Item> {
  items: Item[];
  next: string | null;
}

/** Read a list page by page: `for await (const episode of all(ana.episodes.list))`. */
export function all<Asked extends object, Item>(
  list: (asked: Asked) => Promise<Page<Item>>,
  asked?: Asked,
): AsyncGenerator<Item>;
"""


def document() -> dict[str, Any]:
    """Return the document of a service of nobody's memory."""
    return make_app(lambda: Memory.open(":memory:", embedder="none", resume=False), utc_now).openapi()


class Operation:
    """One operation of the document, as a method."""

    def __init__(self, path: str, method: str, spec: Mapping[str, Any], schemas: Mapping[str, Any]) -> None:
        self.path, self.method, self.spec = path, method.upper(), spec
        self.of_user = "{user}" in path
        self.id: str = spec["operationId"]
        room, _, verb = spec["x-verb"].rpartition(".")
        plain = f"{room}_{verb}".strip("_") if self.of_user else f"space_{room}_{verb}".replace("__", "_")
        self.room = room
        self.name = camel(
            verb if self.id == plain else self.id.removeprefix("space_").removeprefix(f"{room}_")
        )
        self.parameters = [p for p in spec.get("parameters", ()) if (p["in"], p["name"]) != ("path", "user")]
        sent = spec.get("requestBody", {}).get("content", {})
        self.file = "application/octet-stream" in sent
        body = sent.get("application/json", {}).get("schema")
        self.body = schemas[body["$ref"].removeprefix(_REF)] if body and "$ref" in body else None
        self.streams = "application/x-ndjson" in str(spec["responses"].get("200", {}))

    def names(self, place: str) -> list[str]:
        """Return the names of its parameters in a place."""
        return [p["name"] for p in self.parameters if p["in"] == place]

    def row(self) -> dict[str, Any]:
        """Return its row of the table."""
        row: dict[str, Any] = {"method": self.method, "path": self.path}
        for place in ("query", "header"):
            if names := self.names(place):
                row[place] = names
        return row | ({"file": True} if self.file else {}) | ({"lines": True} if self.streams else {})

    def asked(self) -> str:
        """Return the type of what it is asked with, and whether it may be left out."""
        fields = [
            field(camel_header(p["name"]), p["schema"], needed=p["required"], about=p.get("description"))
            for p in self.parameters
        ]
        if self.body:
            needed = self.body.get("required", ())
            fields += [field(n, s, needed=n in needed) for n, s in self.body["properties"].items()]
        if self.file:
            fields.append("body: BodyInit")
        optional = "?" if all("?:" in one for one in fields) else ""
        return f"asked{optional}: {{ {'; '.join(fields)} }}" if fields else ""

    def answer(self) -> str:
        """Return the type of what it returns."""
        if self.streams:
            return "AsyncGenerator<string>"
        for status in ("200", "202"):
            content = self.spec["responses"].get(status, {}).get("content", {})
            if schema := content.get("application/json", {}).get("schema"):
                return f"Promise<{type_of(schema)}>"
        return "Promise<void>"

    def declared(self) -> str:
        """Return the line that declares it, under what it does."""
        about = comment(self.spec["summary"])
        return f"  {about}\n  {self.name}({self.asked()}): {self.answer()};"


def camel(name: str) -> str:
    """Return a name as JavaScript writes it.

    >>> camel("import_file")
    'importFile'
    """
    return re.sub(r"_(\w)", lambda match: match[1].upper(), name)


def camel_header(name: str) -> str:
    """Return the name under which a header is given.

    >>> camel_header("idempotency-key")
    'idempotencyKey'
    """
    return re.sub(r"-(\w)", lambda match: match[1].upper(), name.lower()) if "-" in name else name


def comment(text: str) -> str:
    """Return a text as a comment that it cannot end."""
    line = " ".join(text.split()).replace("*/", "*\\/")
    return f"/** {line} */"


def field(name: str, schema: Mapping[str, Any], *, needed: bool, about: str | None = None) -> str:
    """Return the declaration of one field."""
    shown = name if re.fullmatch(r"[A-Za-z_$][\w$]*", name) else json.dumps(name)
    return f"{comment(about) + ' ' if about else ''}{shown}{'' if needed else '?'}: {type_of(schema)}"


def type_of(schema: Mapping[str, Any]) -> str:
    """Return a schema as a type.

    >>> type_of({"anyOf": [{"type": "string"}, {"type": "null"}]})
    'string | null'
    """
    if ref := schema.get("$ref"):
        return str(ref).removeprefix(_REF)
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(map(json.dumps, schema["enum"]))
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            glue = " & " if several == "allOf" else " | "
            return glue.join(dict.fromkeys(map(type_of, schema[several])))
    kind = schema.get("type")
    if kind == "array":
        item = type_of(schema.get("items", {}))
        return f"({item})[]" if " " in item else f"{item}[]"
    if kind == "object" and "properties" not in schema:
        values = schema.get("additionalProperties")
        return f"Record<string, {type_of(values) if isinstance(values, Mapping) else 'unknown'}>"
    return _SCALARS.get(str(kind), "unknown")


def interface(name: str, schema: Mapping[str, Any]) -> str:
    """Return a schema as a type with a name."""
    about = f"{comment(schema['description'])}\n" if schema.get("description") else ""
    if "properties" not in schema:
        return f"{about}export type {name} = {type_of(schema)};\n"
    needed = schema.get("required", ())
    fields = [
        f"  {field(n, s, needed=n in needed, about=s.get('description'))};"
        for n, s in schema["properties"].items()
    ]
    if schema.get("additionalProperties") is True:
        fields.append("  [more: string]: unknown;")
    return f"{about}export interface {name} {{\n" + "\n".join(fields) + "\n}\n"


def operations(spec: Mapping[str, Any]) -> list[Operation]:
    """Return the operations of `/v1`."""
    schemas = spec["components"]["schemas"]
    return [
        Operation(path, method, one, schemas)
        for path, methods in spec["paths"].items()
        for method, one in methods.items()
        if path.startswith("/v1/") and "x-verb" in one
    ]


def reached(spec: Mapping[str, Any], several: Sequence[Operation]) -> Iterator[str]:
    """Yield the names of the schemas that the operations lead to, in the order of the document."""
    schemas = spec["components"]["schemas"]
    waiting = [
        *re.findall(rf"{_REF}(\w+)", json.dumps([one.spec for one in several])),
        "Problem",
        "NewMessage",
    ]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += re.findall(rf"{_REF}(\w+)", json.dumps(schemas[name]))
    yield from (name for name in schemas if name in seen and not name.endswith("Request"))


def tree(several: Sequence[Operation], kind: str) -> str:
    """Return a class with the methods of a tree and its rooms."""
    rooms = sorted({one.room for one in several if one.room})
    texts = []
    for room in rooms:
        methods = [one.declared() for one in several if one.room == room]
        texts.append(f"export interface {kind}{room.title()} {{\n" + "\n".join(methods) + "\n}\n")
    own = [one.declared() for one in several if not one.room]
    own += [f"  readonly {room}: {kind}{room.title()};" for room in rooms]
    texts.append(f"export class {kind} {{\n" + "\n".join(own) + "\n}\n")
    return "\n".join(texts)


def files(spec: Mapping[str, Any]) -> dict[str, str]:
    """Return the text of every file that is made, by its name."""
    several = operations(spec)
    user, space = ([one for one in several if one.of_user is whose] for whose in (True, False))
    rows = {
        kind: {f"{one.room}.{one.name}".strip("."): one.row() for one in some}
        for kind, some in (("user", user), ("space", space))
    }
    table = json.dumps(rows, indent=1, ensure_ascii=False)
    schemas = spec["components"]["schemas"]
    nouns = [interface(name, schemas[name]) for name in reached(spec, several)]
    types = "\n".join([*nouns, tree(user, "UserMemory"), tree(space, "SpaceMemory")])
    return {
        "operations.js": f"{HEAD}export default {table};\n",
        "index.d.ts": f"{HEAD}\n{types}{_FIXED}",
    }


if __name__ == "__main__":
    for file, text in files(document()).items():
        (FOLDER / file).write_text(text, encoding="utf-8")
