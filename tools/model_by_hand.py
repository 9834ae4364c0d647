"""Be the language model: file each prompt, wait for the answer somebody writes, replay it from then on.

`serve FOLDER` speaks `/v1/chat/completions`. A prompt becomes `FOLDER/STAGE-HASH.prompt.json` (stage, system,
user, schema); its answer is read from `STAGE-HASH.answer.json` as soon as it is there. The name follows from
stage and prompt alone, so that what was answered once is replayed while the prompts stand. `waiting FOLDER`
shows what is to be answered. `play FOLDER LIFE.jsonl` plays a labelled life through the public calls, its
labels unseen, with this server as the model, and prints the figures of `episodic evaluate lives`. `pack`
makes one file of a folder, `unpack` a folder of one.

A folder says by name which policies its prompts were asked under (`policies.json`, written at its first
play): it is played under those again, whatever the defaults are by then. Rules that cannot be chosen by name
are named too; `play` says where today's are others, for then prompts may be others as well.

An answer file holds what the model writes, as it is: a JSON object, or any text (in a fence, after thinking).
"""

import argparse
import gzip
import json
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Final

from episodic_agent.core.links.policies import link_policy
from episodic_agent.engine.episodes import wording
from episodic_agent.engine.evaluate.lives import evaluate_file
from episodic_agent.engine.threads import resolving
from episodic_agent.errors import EpisodicError, InvalidInput
from episodic_agent.providers.models.openai import ModelLimits, OpenAIModel
from episodic_agent.wiring import load_settings, make_embedder, temporary_memory
from episodic_agent.wiring.policies import resolver

PATIENCE: Final = 3600.0  # seconds an answer is waited for
PAUSE: Final = 0.2  # seconds between two looks at a folder
PROMPT, ANSWER = ".prompt.json", ".answer.json"
POLICIES: Final = "policies.json"
CHOSEN: Final = ("boundaries", "links", "facts")  # policies that a memory can be opened under by name
_WIDE: Final = ("\u2e80", "\U0003ffff")  # written without spaces: about one token a character


def name_of(stage: str, prompt: str) -> str:
    """Return the name of a prompt: the same in every run and on every machine.

    >>> name_of("facts", "What lasts?")
    'facts-3f96ea3f6864'
    """
    return f"{stage}-{blake2b(f'{stage}{chr(10)}{prompt}'.encode(), digest_size=6).hexdigest()}"


def tokens_of(text: str) -> int:
    """Estimate tokens as usual tokenizers count them: four letters of Latin script, one Han character.

    >>> tokens_of("A dripping tap."), tokens_of("水龙头")
    (4, 3)
    """
    wide = sum(_WIDE[0] <= character <= _WIDE[1] for character in text)
    return wide + -(-(len(text) - wide) // 4)


@dataclass(frozen=True, slots=True)
class Folder:
    """Prompts and answers as files; `waits` seconds for an answer that is not there (0: it never comes)."""

    path: Path
    waits: float = PATIENCE

    def answer(self, stage: str, system: str, prompt: str, schema: Mapping[str, Any]) -> str | None:
        """Return the answer to a prompt, filed where it is new; None where none comes."""
        name = name_of(stage, prompt)
        asked = {"stage": stage, "system": system, "user": prompt, "schema": schema}
        filed, answer = self.path / (name + PROMPT), self.path / (name + ANSWER)
        if not filed.exists():
            filed.write_text(json.dumps(asked, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        until = time.monotonic() + self.waits
        while not _is_written(answer):
            if time.monotonic() >= until:
                return None
            time.sleep(PAUSE)
        return answer.read_text(encoding="utf-8").strip()

    def waiting(self) -> list[Path]:
        """Return the prompts that have no answer, oldest first."""
        prompts = [p for p in self.path.glob(f"*{PROMPT}") if not _is_written(_answer_to(p))]
        return sorted(prompts, key=lambda p: (p.stat().st_mtime_ns, p.name))


def _answer_to(prompt: Path) -> Path:
    return prompt.with_name(prompt.name.removesuffix(PROMPT) + ANSWER)


def _is_written(answer: Path) -> bool:
    return answer.exists() and answer.stat().st_size > 0  # an empty one is being written


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    folder: Folder

    def do_POST(self) -> None:
        """Answer one completion with what the folder holds for it."""
        asked = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        shape = asked.get("response_format", {}).get("json_schema", {})
        stage, schema = str(shape.get("name", "none")), shape.get("schema", {})
        texts = {m["role"]: str(m["content"]) for m in asked["messages"]}
        system, prompt = texts.get("system", ""), texts.get("user", "")
        answer = self.folder.answer(stage, system, prompt, schema)
        if answer is None:
            self._reply(503, {"error": {"message": f"nobody answered {name_of(stage, prompt)}"}})
            return
        counts = tokens_of(system) + tokens_of(prompt), tokens_of(answer)
        message = {"role": "assistant", "content": answer}
        usage = {"prompt_tokens": counts[0], "completion_tokens": counts[1], "total_tokens": sum(counts)}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        self._reply(200, {"model": asked.get("model"), "choices": [choice], "usage": usage})

    def _reply(self, status: int, value: Mapping[str, Any]) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serving(folder: Folder, port: int = 0) -> Iterator[str]:
    """Serve a folder as a model as long as the block runs; gives the base URL."""
    folder.path.mkdir(parents=True, exist_ok=True)
    server = ThreadingHTTPServer(("127.0.0.1", port), type("_Bound", (_Handler,), {"folder": folder}))
    server.daemon_threads = True
    Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()


def todays_policies() -> dict[str, str]:
    """Return the names of what decides today what a model is asked."""
    settings = load_settings()
    embedder = make_embedder(settings.embedder, settings, None)
    return {
        "boundaries": resolver(embedder, None)(settings.policy).name,
        "links": link_policy(settings.link_policy).name,
        "facts": settings.fact_policy,
        "threads": resolving.POLICY,
        "titles": wording.EXTRACTIVE,
        "embedder": embedder.name if embedder is not None else "none",
    }


def policies_of(folder: Path) -> dict[str, str]:
    """Return the policies a folder was recorded under, today's for a new one, which then says so."""
    kept = folder / POLICIES
    if not kept.exists():
        folder.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(todays_policies(), indent=1) + "\n", encoding="utf-8")
    policies = {str(name): str(value) for name, value in json.loads(kept.read_text(encoding="utf-8")).items()}
    if missing := [name for name in CHOSEN if name not in policies]:
        raise InvalidInput(
            f"{kept} names no policy for {', '.join(missing)}; delete it to play under today's"
        )
    return policies


def others_today(folder: Path) -> list[str]:
    """Return a line for each rule a folder was recorded under that is another today and cannot be chosen."""
    today = todays_policies()
    return [
        f"{name}: recorded under {recorded}, today's is {today[name]}"
        for name, recorded in policies_of(folder).items()
        if name not in CHOSEN and today.get(name) != recorded
    ]


def play(folder: Folder, life: Path, messages: int | None) -> Mapping[str, Any]:
    """Play a life with the folder as its model, under the folder's policies; return the figures."""
    settings = load_settings()
    embedder = make_embedder(settings.embedder, settings, None)
    policies = policies_of(folder.path)
    patience = max(folder.waits, 30.0) + 60.0

    def progress(count: int) -> None:
        print(f"\r{life.name}: {count}", end="", file=sys.stderr, flush=True)

    with serving(folder) as url:
        model = OpenAIModel("by-hand", base_url=url, limits=ModelLimits(tries=1, timeout=patience))
        return evaluate_file(
            life,
            lambda clock, language: temporary_memory(
                embedder,
                policy=policies["boundaries"],
                link_policy=policies["links"],
                fact_policy=policies["facts"],
                now=clock,
                language=language,
                language_model=model,
                patience=patience,
            ),
            messages=messages,
            progress=progress,
        )


def pack(folder: Path, output: Path) -> int:
    """Write a folder's policies and answered prompts as one gzipped file of JSON lines; return how many."""
    rows: list[dict[str, Any]] = []
    for prompt in sorted(folder.glob(f"*{PROMPT}")):
        if (answer := _answer_to(prompt)).exists():
            asked = json.loads(prompt.read_text(encoding="utf-8"))
            name = prompt.name.removesuffix(PROMPT)
            rows.append({"name": name, **asked, "answer": answer.read_text(encoding="utf-8").strip()})
    lines = "".join(
        json.dumps(r, ensure_ascii=False) + "\n" for r in [{"policies": policies_of(folder)}, *rows]
    )
    output.write_bytes(gzip.compress(lines.encode(), mtime=0))
    return len(rows)


def unpack(packed: Path, folder: Path) -> int:
    """Write a packed file as a folder; return how many prompts it has."""
    folder.mkdir(parents=True, exist_ok=True)
    first, *rows = [json.loads(line) for line in gzip.decompress(packed.read_bytes()).decode().splitlines()]
    if "policies" not in first:
        raise InvalidInput(
            f"{packed} does not say under which policies it was made; play it, then pack it anew"
        )
    (folder / POLICIES).write_text(json.dumps(first["policies"], indent=1) + "\n", encoding="utf-8")
    for row in rows:
        name, answer = row.pop("name"), row.pop("answer")
        text = json.dumps(row, ensure_ascii=False, indent=1) + "\n"
        (folder / (name + PROMPT)).write_text(text, encoding="utf-8")
        (folder / (name + ANSWER)).write_text(answer + "\n", encoding="utf-8")
    return len(rows)


def _show(folder: Folder) -> None:
    for prompt in folder.waiting():
        asked = json.loads(prompt.read_text(encoding="utf-8"))
        keys = ", ".join(asked["schema"].get("properties", {}))
        print(f"=== {prompt.name.removesuffix(PROMPT)} (answer: {keys})\n{asked['user']}\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, described in (
        ("serve", "be the model of any program until interrupted"),
        ("waiting", "show the prompts that have no answer"),
        ("play", "play a labelled life with this model"),
        ("pack", "make one file of a folder"),
        ("unpack", "make a folder of one file"),
    ):
        command = commands.add_parser(name, help=described)
        command.add_argument("folder", type=Path)
        if name in ("serve", "play"):
            command.add_argument("--replay", action="store_true", help="wait for no answer that is not there")
        if name == "serve":
            command.add_argument("--port", type=int, default=8099)
        if name == "play":
            command.add_argument("life", type=Path)
            command.add_argument("--messages", type=int, help="play so many (default: all)")
        if name in ("pack", "unpack"):
            command.add_argument("packed", type=Path)
    return parser


def _serve(folder: Folder, port: int) -> None:
    with serving(folder, port) as url:
        print(f"EPISODIC_LLM=openai:by-hand EPISODIC_OPENAI_BASE_URL={url}", flush=True)
        while True:
            time.sleep(PATIENCE)


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line says; return the exit code."""
    try:
        return _do(_parser().parse_args(arguments))
    except EpisodicError as error:
        print(error, file=sys.stderr)
        return 2


def _do(options: argparse.Namespace) -> int:
    folder = Folder(options.folder, 0.0 if getattr(options, "replay", False) else PATIENCE)
    missing = next((p for p in (getattr(options, "life", None),) if p is not None and not p.is_file()), None)
    if options.command in ("waiting", "pack") and not options.folder.is_dir():
        missing = options.folder
    if options.command == "unpack" and not options.packed.is_file():
        missing = options.packed
    if missing is not None:
        print(f"no such file or folder: {missing}", file=sys.stderr)
        return 2
    match options.command:
        case "serve":
            with suppress(KeyboardInterrupt):
                _serve(folder, options.port)
        case "waiting":
            _show(folder)
        case "play":
            for line in others_today(options.folder):
                print(f"{line}; prompts may be others", file=sys.stderr)
            print(json.dumps(play(folder, options.life, options.messages), ensure_ascii=False, indent=1))
        case "pack":
            print(f"{pack(options.folder, options.packed)} prompts")
        case _:
            print(f"{unpack(options.packed, options.folder)} prompts")
    return 0


if __name__ == "__main__":
    sys.exit(main())
