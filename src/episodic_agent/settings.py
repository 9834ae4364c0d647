"""Everything the environment may say, read once and nowhere else.

Only `EPISODIC_*` variables are read (and a few of others as a fallback); an unknown one is refused, because
a misspelt setting that is silently ignored is worse than an error. `DATABASE_URL` belongs to the host.
"""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from episodic_agent.errors import InvalidInput

PREFIX = "EPISODIC_"
_NUMBERS = (
    "threads",
    "connections",
    "thread_timeout",
    "llm_concurrency",
    "trace_days",
    "tool_budget",
    "message_bytes",
    "unpacked_bytes",
    "unpacked_ratio",
)
FALLBACKS = {
    "OPENAI_BASE_URL": "openai_base_url",
    "OPENAI_API_KEY": "openai_api_key",
    "OTEL_EXPORTER_OTLP_ENDPOINT": "otel_endpoint",
}
CACHE_FOLDER = Path(".cache") / "episodic-agent"


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one process; each field is an environment variable `EPISODIC_<FIELD>`.

    - `db`: the store, `sqlite:///PATH`, a bare path, or `postgresql://USER@HOST/DATABASE`.
    - `user`: whose memory commands and servers work on unless told otherwise (empty: nobody is named).
    - `space`: the space a memory is opened in.
    - `embedder`: `auto` (the local model, fetched at first use; without it recall goes by words),
      `minilm` (refuse to run without it), `minilm-int8` (faster, a little less exact), `hf:OWNER/MODEL` or a
      folder (another sentence encoder), `openai:MODEL` (a server), `hashing` (tests), or `none`.
    - `device`: where local models run: `cpu`, `auto` (a device that onnxruntime was built for, if any),
      `cuda`, `rocm`, `migraphx`, `directml`, `coreml`, `openvino`.
    - `openai_base_url`, `openai_api_key`: where `openai:` models are served, and the key (both fall back to
      the variables without `EPISODIC_`, which alone turn nothing on).
    - `llm`: the language model: `none`, or `openai:MODEL` (a server). A key alone never turns one on.
    - `llm_stages`: another model, or `none`, for single stages: `topic_shift=openai:small,…`.
    - `llm_timeout`: seconds an answer may take, and those of single stages: `20,topic_shift=5`.
    - `llm_concurrency`: how many calls of one process may be under way at once.
    - `llm_budget`: how many tokens a day (UTC) a space may cost; `none`: no limit. Beyond it the work is done
      without a model.
    - `calibration`: of an embedder that is not the default: `auto` (what `calibrate` left in the cache
      folder, if it did), a file, or `none`.
    - `policy`: the boundary policy of new threads.
    - `link_policy`: what links threads before tuning, `default`, `link-2026-12` or `seed-002`; `none`:
      threads are not linked.
    - `chain_policy`: the policy that says which earlier session one goes on from, `default`, `chain-fixed` or
      `seed-004`; `none`: sessions are not chained.
    - `fact_policy`: how a language model is asked for facts, `default` or `seed-003` (in two steps).
    - `cache`: the folder of downloaded models.
    - `synchronous`: `normal` survives a killed process, `full` a power cut (a server: both).
    - `threads`: processors the embedder uses (0: all there are).
    - `connections`: how many connections to a server one process holds at most.
    - `language`: the language texts are stemmed in (`de`, `fr`, …; empty: by script, Latin as English).
      Keep it for the life of a memory: words are indexed by their stems.
    - `thread_timeout`: minutes of silence after which a message without a thread begins another.
    - `channels`: the kinds and timeouts of channels, `NAME=implicit|explicit[:MINUTES]`, with commas between.
    - `trace_days`: how many days it is kept what the work for a turn took (0: it is not kept).
    - `retention`: what a user's memory lets go who has set no policy: `none`, or rules such as
      `age=365d,strength=0.2,count=10000,grace=30d,keep=facts,audit=730d`.
    - `otel_endpoint`: where spans go besides, an OpenTelemetry collector's address for OTLP over HTTP (falls
      back to the standard variable).
    - `tool_budget`: how many bytes an answer of a tool may take as JSON (MCP), from 1000 on.
    - `message_bytes`: how many bytes the text of a message may have as UTF-8, and how many all that comes
      with it. A line of a file, or a conversation in a list, may have 64 times that.
    - `unpacked_bytes`, `unpacked_ratio`: how many bytes a packed file may unpack to, and how many times its
      own size.
    - `jobs`: who does later work: `here` (this process) or `workers` (only `episodic worker` processes).
    """

    db: str = "episodic.db"
    user: str = ""
    space: str = "default"
    embedder: str = "auto"
    device: str = "cpu"
    openai_base_url: str = ""
    openai_api_key: str = field(default="", repr=False)
    llm: str = "none"
    llm_stages: str = ""
    llm_timeout: str = "20"
    llm_concurrency: int = 4
    llm_budget: str = "none"
    calibration: str = "auto"
    policy: str = "default"
    link_policy: str = "default"
    chain_policy: str = "default"
    fact_policy: str = "default"
    cache: str = ""
    synchronous: str = "normal"
    threads: int = 0
    connections: int = 10
    language: str = ""
    thread_timeout: int = 30
    channels: str = ""
    jobs: str = "here"
    trace_days: int = 30
    retention: str = "none"
    otel_endpoint: str = ""
    tool_budget: int = 16_000
    message_bytes: int = 1_000_000
    unpacked_bytes: int = 4_000_000_000
    unpacked_ratio: int = 200


def read_settings(environment: Mapping[str, str], home: Path) -> Settings:
    """Build settings from environment variables; raises InvalidInput naming an unknown or unusable one.

    >>> read_settings({"EPISODIC_USER": "ana", "PATH": "/bin"}, Path("/home/ana")).user
    'ana'
    """
    known = {PREFIX + f.name.upper(): f.name for f in fields(Settings)}
    bare = [name.removeprefix(PREFIX) for name in known]  # the prefix they share would make all of them near
    values: dict[str, str | int] = {"cache": str(home / CACHE_FOLDER)}
    values |= {own: environment[name] for name, own in FALLBACKS.items() if name in environment}
    for name, value in environment.items():
        if not name.startswith(PREFIX) or name.startswith(PREFIX + "TEST_"):
            continue
        if name not in known:
            near = difflib.get_close_matches(name.removeprefix(PREFIX), bare, n=1)
            hint = f"did you mean {PREFIX + near[0]}?" if near else "known: " + ", ".join(sorted(known))
            raise InvalidInput(f"unknown setting {name}; {hint}")
        values[known[name]] = _number(name, value) if known[name] in _NUMBERS else value
    return Settings(**values)  # type: ignore[arg-type]


def _number(name: str, value: str) -> int:
    if not (value.isascii() and value.isdigit()):
        raise InvalidInput(f"{name} must be a whole number from 0, not {value!r}")
    return int(value)
