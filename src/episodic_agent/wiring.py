"""The door-frame: the only file that names concrete stores, embedders and models, and introduces them.

Sensors, profiles and detectors of an agent have a door of their own, `wiring_agents.py`.
"""

import os
import re
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

from episodic_agent.core.boundary.contract import Policy
from episodic_agent.core.boundary.policies import calibrated, check_name, for_embedder
from episodic_agent.core.boundary.policies import policy as named_policy
from episodic_agent.core.calibration import Calibration
from episodic_agent.core.ingest import IntakeLimits
from episodic_agent.core.prompts import STAGES, THREAD_LINK
from episodic_agent.core.strength.retention import read_retention
from episodic_agent.core.threads.channels import read_channels
from episodic_agent.data import demo_folder
from episodic_agent.engine.chains.ancestry import check_chain_policy
from episodic_agent.engine.deps import LINK_PATIENCE, Deps, check_fact_policy, check_link_policy
from episodic_agent.engine.jobs.runner import check_jobs
from episodic_agent.engine.memory import Memory as Engine
from episodic_agent.errors import EpisodicError, InvalidInput, ProviderUnavailable
from episodic_agent.lazily import module
from episodic_agent.protocols import Embedder, LanguageModel, SpanSink, Store
from episodic_agent.settings import Settings, read_settings
from episodic_agent.stores.lease import is_gone, process_owner
from episodic_agent.stores.sqlite import SqliteStore
from episodic_agent.stores.sqlite import repair_file as repair_sqlite_file

if TYPE_CHECKING:
    from episodic_agent import wiring_agents
    from episodic_agent.engine.evaluate import calibrating
    from episodic_agent.engine.evaluate.calibrating import Conversation, Fitted
    from episodic_agent.providers.embedders import hashing, minilm
    from episodic_agent.providers.models import staged
else:
    calibrating = module("episodic_agent.engine.evaluate.calibrating")
    hashing = module("episodic_agent.providers.embedders.hashing")
    minilm = module("episodic_agent.providers.embedders.minilm")
    staged = module("episodic_agent.providers.models.staged")
    wiring_agents = module("episodic_agent.wiring_agents")

EMBEDDERS = ("auto", "minilm", "openai:MODEL", "hashing", "none")
LANGUAGE_MODELS = ("openai:MODEL", "none")
OPENAI = "openai:"
LONGEST_TIMEOUT = 3600.0  # seconds
REHEARSED = ("We are moving to Lisbon on 3 May, Ana said.", "As I told you yesterday, she likes the sea.")
SERVERS = ("postgresql", "postgres")  # URL schemes of databases on a server
Say = Callable[[str], None]


class Memory(Engine):
    """An episodic memory; open it with `Memory.open()`."""

    @classmethod
    def open(
        cls,
        url: "str | Path | None" = None,
        *,
        space: str | None = None,
        embedder: "str | Embedder | None" = None,
        policy: str | None = None,
        language_model: "str | LanguageModel | None" = None,
        calibration: "str | Path | Calibration | None" = None,
        clock: Callable[[], datetime] | None = None,
        say: Say | None = None,
        resume: bool = True,
        jobs: str | None = None,
        link_policy: str | None = None,
        chain_policy: str | None = None,
        fact_policy: str | None = None,
    ) -> Self:
        """Open (and create, if need be) the memory at a path, `sqlite:///` or `postgresql://` URL.

        What is not given comes from the environment (`EPISODIC_*`, see the configuration page).
        `embedder` is `auto`, `minilm`, `openai:MODEL`, `hashing`, `none`, or an object with `name,
        dimensions, embed`; `language_model` is `none`, `openai:MODEL`, or an object with `name, complete`;
        `calibration` is `auto`, `none`, a file, or what `calibrate` fitted. `resume` has the background do
        what was left. Raises StoreError for an unusable file, InvalidInput for unknown names.
        """
        if not isinstance(url, str | os.PathLike | None):
            raise InvalidInput(f"name the memory as a path or a URL, not {type(url).__name__}")
        settings = load_settings()
        chosen = settings.embedder if embedder is None else embedder
        check_policy(policy or settings.policy)  # an unknown name is refused before a file is made
        done_by = check_jobs(jobs or settings.jobs)
        built = make_embedder(chosen, settings, say) if isinstance(chosen, str) else chosen
        fitted = find_calibration(built, settings, calibration)
        deps = Deps(
            retention=read_retention(settings.retention),  # refused before a file is made
            link_policy=check_link_policy(link_policy or settings.link_policy),
            chain_policy=check_chain_policy(chain_policy or settings.chain_policy),
            fact_policy=check_fact_policy(fact_policy or settings.fact_policy),
            budget=budget_of(settings),
            language_model=_language_model(language_model, settings),
            link_patience=link_patience(settings),
            store=make_store(str(url) if url is not None else settings.db, settings),
            embedder=built,
            policy=policy or settings.policy,
            resolve_policy=resolver(built, fitted),
            clock=clock or utc_now,
            entropy=secrets.randbits,
            owner=process_owner(),
            gone=is_gone,
            language=settings.language or None,
            calibration=fitted,
            channels=read_channels(settings.channels, timedelta(minutes=settings.thread_timeout)),
            trace_days=settings.trace_days,
            sink=make_sink(settings),
            limits=limits_of(settings),
        )
        memory = cls(deps, space=space or settings.space, jobs=done_by)
        if resume:
            memory.resume()
        return memory

    def warm(self) -> None:
        """Begin to load what a first message and a first answer need, so that neither waits for all of it.

        For a process that goes on: the model that embeds, and the word lists that messages are read by.
        """
        super().warm()
        # no daemon: a process must not end inside an import
        threading.Thread(target=_rehearse, args=(self._deps,), name="episodic-rehearsal").start()


def load_settings() -> Settings:
    """Read the settings of this process."""
    return read_settings(os.environ, Path.home())


def utc_now() -> datetime:
    """Return the present moment, aware, in UTC: the clock handed to the engine."""
    return datetime.now(UTC)


def make_store(url: str, settings: Settings) -> Store:
    """Open the store a URL or path names; InvalidInput names the schemes there are."""
    if not is_server(url):
        return SqliteStore(database_path(url), synchronous=settings.synchronous)
    module, options = _postgres(settings, "store")
    store: Store = module.PostgresStore(url, options)
    return store


def repair_file(url: str) -> Sequence[str]:
    """Do what a file needs before it can be opened as a memory; return what was done, a line each."""
    return [] if is_server(url) else repair_sqlite_file(database_path(url), utc_now())


def init_database(
    url: str, settings: Settings, logins: Sequence[str], worker_logins: Sequence[str]
) -> Sequence[tuple[str, str]]:
    """Make a server's database ready as its administrator and let logins in; return (state, what) by step."""
    module, options = _administration(url, settings)
    steps: Sequence[tuple[str, str]] = module.init_db(url, options, logins, worker_logins)
    return steps


def distribute_database(url: str, settings: Settings, shards: int) -> Iterator[str]:
    """Spread a server's database over the nodes of its Citus cluster; yield each statement that was run."""
    module, options = _administration(url, settings)
    yield from module.distribute_db(url, options, shards)


def distributing_statements(settings: Settings, shards: int) -> Sequence[str]:
    """Return what `distribute_database` would run on a database of one node."""
    module, _ = _postgres(settings, "server.distribute")
    statements: Sequence[str] = module.statements(shards)
    return statements


def index_database(url: str, settings: Settings, above: int | None, *, pack: bool) -> Iterator[str]:
    """Index the vectors of scopes with `above` documents (None: those search asks); yield the steps."""
    module, options = _administration(url, settings)
    yield from module.index_db(url, options, above, pack=pack)


def scrub_database(url: str, settings: Settings, *, dry_run: bool) -> Iterator[str]:
    """Rewrite the tables that may hold bytes of what was erased; yield the steps."""
    module, options = _administration(url, settings)
    yield from module.scrub_db(url, options, dry_run=dry_run)


def _administration(url: str, settings: Settings) -> tuple[Any, Any]:
    if not is_server(url):
        raise InvalidInput(f"{url!r} is a file and needs no administrator; give --db postgresql://…")
    return _postgres(settings, "server.admin")


def _postgres(settings: Settings, name: str) -> tuple[Any, Any]:
    """Import a module of the PostgreSQL store, whose driver is an extra, and make the store's options."""
    try:
        module = import_module(f"episodic_agent.stores.postgres.{name}")
        connection = import_module("episodic_agent.stores.postgres.server.connection")
    except ImportError as error:
        if (error.name or "").startswith("episodic_agent"):
            raise
        raise InvalidInput(
            "PostgreSQL needs its driver; run pip install 'episodic-agent[postgres]'"
        ) from error
    return module, connection.PostgresOptions(
        pool_size=settings.connections, synchronous=settings.synchronous
    )


def is_server(url: str) -> bool:
    """Tell whether a URL names a database on a server, not a file.

    >>> is_server("postgresql://db/memory"), is_server("memory.db")
    (True, False)
    """
    return url.partition("://")[0] in SERVERS and "://" in url


def without_password(url: str) -> str:
    """Return a URL that may be shown.

    >>> without_password("postgresql://ana:secret@db/memory?password=secret")
    'postgresql://ana:***@db/memory?password=***'
    """
    if not is_server(url):
        return url
    # Up to the last @: a careless password may hold one itself.
    shown = re.sub(r"^(\w+://[^:/@?]*):.*@", r"\1:***@", url)
    return re.sub(r"([?&](?:ssl)?password=)[^&]*", r"\1***", shown)


def database_path(url: str) -> Path:
    """Return the file behind a path or `sqlite:///` URL; InvalidInput for another scheme or a folder.

    >>> database_path("sqlite:///memory.db").name
    'memory.db'
    """
    scheme, separator, rest = url.partition("://")
    if separator and scheme != "sqlite":
        raise InvalidInput(
            f"no store for {scheme!r}; use a path, sqlite:///FILE or postgresql://HOST/DATABASE"
        )
    if separator and (not rest.startswith("/") or rest == "/"):
        raise InvalidInput(f"{url!r} is no database; write sqlite:///FILE (or a path)")
    path = Path(rest[1:] if separator else url).expanduser()
    if path.is_dir():
        raise InvalidInput(f"{url!r} is a folder; name a file in it")
    return path


def make_embedder(name: str, settings: Settings, say: Say | None = None) -> Embedder | None:
    """Build the embedder a name stands for; None for `none`, or for `auto` where no model can be had."""
    tell = say or (lambda _line: None)
    cache = Path(settings.cache).expanduser()
    if name == "none":
        return None
    if name == "hashing":
        return hashing.HashingEmbedder()
    if name.startswith(OPENAI):
        return _openai(name, settings)
    if name not in EMBEDDERS:
        raise InvalidInput(f"no embedder {name!r}; there are {', '.join(EMBEDDERS)}")
    try:
        if not minilm.is_sound(cache):
            tell("fetching the embedding model once (about 83 MB) …")
            minilm.pull(cache, None, tell)
        return minilm.MiniLM(cache, threads=settings.threads or None)
    except ProviderUnavailable as error:
        if name == "minilm":
            raise
        tell(f"{error}; going on without: recall by words (BM25), segmentation by lexical cues")
        return None


def _openai(name: str, settings: Settings) -> Embedder:
    """Build the embedder of a model on a server; nothing is sent yet."""
    module = _served("embedders.openai", name)
    model, dimensions = module.read_name(name)
    built: Embedder = module.OpenAIEmbedder(model, dimensions=dimensions, **_server_of(name, settings))
    return built


def _served(module: str, name: str) -> Any:
    """Import a provider of models on a server, whose HTTP client is an extra."""
    try:
        return import_module(f"episodic_agent.providers.{module}")
    except ImportError as error:
        if (error.name or "").startswith("episodic_agent"):
            raise
        raise InvalidInput(
            f"{name} needs an HTTP client; run pip install 'episodic-agent[openai]'"
        ) from error


def _server_of(name: str, settings: Settings) -> dict[str, str]:
    """Return where `openai:` models are served, and the key."""
    if not settings.openai_api_key and not settings.openai_base_url:
        raise InvalidInput(
            f"{name} needs EPISODIC_OPENAI_API_KEY, or EPISODIC_OPENAI_BASE_URL of a server of your own"
        )
    where = {"base_url": settings.openai_base_url} if settings.openai_base_url else {}
    return {**where, "api_key": settings.openai_api_key}


def make_language_model(name: str, settings: Settings) -> LanguageModel | None:
    """Build the language model a name stands for, with other ones for the stages the settings name.

    None where no stage has one. Nothing is sent yet. Raises InvalidInput for unknown names and stages.
    """
    chosen = dict(_by_stage("EPISODIC_LLM_STAGES", settings.llm_stages))
    if "" in chosen:
        raise InvalidInput(f"EPISODIC_LLM_STAGES: {chosen['']!r} names no stage; write STAGE=MODEL")
    name = name.strip() or "none"  # a variable set to nothing
    names = dict.fromkeys((name, *chosen.values()))
    built: dict[str, LanguageModel | None] = {"none": None}
    built |= _chat_models([one for one in names if one != "none"], settings)
    if all(model is None for model in built.values()):
        return None
    return staged.StagedModel(built[name], {stage: built[model] for stage, model in chosen.items()})


def _language_model(chosen: "str | LanguageModel | None", settings: Settings) -> LanguageModel | None:
    """Return the model that was given, or the one that a name stands for; None: that of the settings."""
    named = settings.llm if chosen is None else chosen
    return make_language_model(named, settings) if isinstance(named, str) else named


def _chat_models(names: Sequence[str], settings: Settings) -> dict[str, LanguageModel]:
    """Build models on a server, which share the number of calls that may be under way."""
    seconds = _timeouts(settings)
    built: dict[str, LanguageModel] = {}
    slots = None
    for name in names:
        if not name.startswith(OPENAI):
            raise InvalidInput(f"no language model {name!r}; there are {', '.join(LANGUAGE_MODELS)}")
        module = _served("models.openai", name)
        slots = slots or module.ModelSlots(settings.llm_concurrency)
        limits = module.ModelLimits(timeout=seconds.get("", module.TIMEOUT), timeouts=seconds)
        model = module.read_name(name)
        built[name] = module.OpenAIModel(model, limits=limits, slots=slots, **_server_of(name, settings))
    return built


def _timeouts(settings: Settings) -> dict[str, float]:
    """Return how long the answer of each stage is waited for, in seconds; that of all others under ""."""
    return {s: _seconds(text) for s, text in _by_stage("EPISODIC_LLM_TIMEOUT", settings.llm_timeout)}


def link_patience(settings: Settings) -> float:
    """Return how long a link's decision waits for a model's answer, in seconds: as long as its stage's call.

    A message waits with it, so that where nothing is said of the stage it is less than others are given.
    """
    return _timeouts(settings).get(THREAD_LINK, LINK_PATIENCE)


def _by_stage(setting: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield (stage, value) of `value,stage=value,…`; the stage of a bare value is ""."""
    for piece in filter(None, (piece.strip() for piece in text.split(","))):
        stage, result, value = (part.strip() for part in piece.rpartition("="))
        if (result and stage not in STAGES) or not value:
            raise InvalidInput(f"{setting}: no stage {stage!r} in {piece!r}; stages: {', '.join(STAGES)}")
        yield stage, value


def _seconds(text: str) -> float:
    with suppress(ValueError):
        if 0.0 < (seconds := float(text)) <= LONGEST_TIMEOUT:
            return seconds
    raise InvalidInput(f"EPISODIC_LLM_TIMEOUT: {text!r} is no number of seconds up to {LONGEST_TIMEOUT:g}")


def make_sink(settings: Settings) -> SpanSink | None:
    """Return who is told of spans: a collector where the settings name one.

    Without the extra it is an error where our own setting asks for it; the standard variable, which speaks to
    every program of the host, then turns nothing on.
    """
    if not settings.otel_endpoint:
        return None
    try:
        module = import_module("episodic_agent.providers.otel")
    except ImportError as error:
        if (error.name or "").startswith("episodic_agent"):
            raise
        if "EPISODIC_OTEL_ENDPOINT" not in os.environ:
            return None
        raise InvalidInput(
            "EPISODIC_OTEL_ENDPOINT needs OpenTelemetry; run pip install 'episodic-agent[otel]'"
        ) from error
    sink: SpanSink = module.OtelSink(settings.otel_endpoint)
    return sink


def limits_of(settings: Settings) -> IntakeLimits:
    """Return how large what is taken in may be."""
    return IntakeLimits(settings.message_bytes, settings.unpacked_bytes, settings.unpacked_ratio)


def budget_of(settings: Settings) -> int | None:
    """Return how many tokens a day language models may cost a space; None: no limit."""
    text = settings.llm_budget.strip().replace("_", "")
    if text in ("none", ""):
        return None
    if not (text.isascii() and text.isdigit()):
        raise InvalidInput(f"EPISODIC_LLM_BUDGET must be a whole number of tokens or `none`, not {text!r}")
    return int(text)


def calibration_file(embedder: str, settings: Settings) -> Path:
    """Return where `calibrate` keeps what it fitted for an embedder, unless told otherwise."""
    return Path(settings.cache).expanduser() / "calibrations" / f"{quote(embedder, safe='')}.json"


def _is_there(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a folder we may not look into holds nothing fitted for us
        return False


def find_calibration(
    embedder: Embedder | None, settings: Settings, target: "str | Path | Calibration | None" = None
) -> Calibration | None:
    """Return what was fitted for an embedder: given, in a file, or by default in the cache folder; else None.

    Raises InvalidInput for a file that is missing, damaged or of another embedder.
    """
    chosen = settings.calibration if target is None else target
    if embedder is None or chosen in ("none", ""):
        return None
    if isinstance(chosen, Calibration):
        calibration = chosen
    elif chosen == "auto":
        path = calibration_file(embedder.name, settings)
        if not _is_there(path):
            return None
        calibration = calibrating.load(path)
    else:
        calibration = calibrating.load(Path(chosen).expanduser())
    if calibration.embedder != embedder.name:
        raise InvalidInput(
            f"this calibration was fitted for {calibration.embedder}, not {embedder.name}; run `episodic "
            f"calibrate`"
        )
    return calibration


def demo_conversations() -> "list[Conversation]":
    """Return the conversations that come with the package."""
    folder = demo_folder()
    return [talk for path in sorted(folder.glob("*.jsonl")) for talk in calibrating.conversations_in(path)]


def calibrate(
    embedder: "str | Embedder",
    conversations: "Sequence[Conversation] | None" = None,
    *,
    labelled: Sequence[Path] = (),
    output: "str | Path | None" = None,
    say: Say | None = None,
) -> "Fitted":
    """Fit an embedder's scale on conversations (lists of texts; default: the shipped ones) and keep it.

    It is written to `output`, by default to where `Memory.open` looks for it. `labelled` files, as for
    `evaluate segmentation`, also settle the threshold. The default embedder must be at hand, to compare with.
    Raises InvalidInput for it itself, for too few texts and unknown names.
    """
    settings = load_settings()
    built = make_embedder(embedder, settings, say) if isinstance(embedder, str) else embedder
    if built is None:
        raise InvalidInput(f"{embedder!r} makes no vectors; name the --embedder to calibrate")
    default = make_embedder("minilm", settings, say)
    if default is None:  # `minilm` raises where it cannot be had
        raise ProviderUnavailable("the default embedder is missing; run `episodic models pull`")
    texts = demo_conversations() if conversations is None else conversations
    fitted = calibrating.calibrate(built, default, texts, labelled, say or (lambda _line: None))
    calibrating.save(fitted.calibration, Path(output) if output else calibration_file(built.name, settings))
    return fitted


@contextmanager
def temporary_memory(
    embedder: Embedder | None,
    *,
    policy: str = "default",
    now: "datetime | Callable[[], datetime] | None" = None,
    language: str | None = None,
    calibration: Calibration | None = None,
    language_model: LanguageModel | None = None,
    patience: float | None = None,
) -> Iterator[Engine]:
    """Open a fresh memory in a temporary folder, for evaluations and trials; gone afterwards.

    `now` is the moment it always is there, or a clock; `patience` is how many seconds a link waits for the
    language model, where the settings are not to say.
    """
    settings = replace(load_settings(), synchronous="normal")
    with TemporaryDirectory(prefix="episodic-") as folder:
        clock = (lambda: now) if isinstance(now, datetime) else now or utc_now
        deps = Deps(
            store=make_store(str(Path(folder) / "trial.db"), settings),
            embedder=embedder,
            policy=policy,
            resolve_policy=resolver(embedder, calibration),
            clock=clock,
            entropy=secrets.randbits,
            owner=process_owner(),
            language=language,
            calibration=calibration,
            language_model=language_model,
            fact_policy=check_fact_policy(settings.fact_policy),
            link_patience=link_patience(settings) if patience is None else patience,
            limits=limits_of(settings),
        )
        with Engine(deps) as memory:
            yield memory


def _rehearse(deps: Deps) -> None:
    """Tell a memory that is thrown away what loads a first message's modules and builds its word lists.

    A process that ends meanwhile can load nothing more: RuntimeError.
    """
    with (
        suppress(EpisodicError, OSError, RuntimeError),
        temporary_memory(hashing.HashingEmbedder(), policy=deps.policy, language=deps.language) as trial,
    ):
        somebody = trial.user("somebody", new=True)
        somebody.add(REHEARSED)
        somebody.search(REHEARSED[0])


def resolver(
    embedder: Embedder | None, calibration: Calibration | None = None
) -> Callable[[str], Policy[Any]]:
    """Return how policies are found by name where this embedder makes the vectors."""
    return lambda name: resolve_policy(name, embedder=embedder, calibration=calibration)


def check_policy(name: str) -> None:
    """Refuse a policy nobody knows; one of ours whose name says everything is not loaded for it."""
    if ":" in name.partition("?")[0]:
        wiring_agents.detector_policy(name)
    else:
        check_name(name)


def resolve_policy(
    name: str,
    overrides: Mapping[str, Any] | None = None,
    *,
    embedder: Embedder | None = None,
    calibration: Calibration | None = None,
) -> Policy[Any]:
    """Return a policy by name with changed parameters; InvalidInput names what there is.

    `module:Class` is a detector of the user's own, its parameters those of its constructor:
    `mine.detectors:MyDetector?threshold=0.5`.
    """
    arguments = overrides or {}
    if ":" in name.partition("?")[0]:
        return wiring_agents.detector_policy(name)
    named = calibrated(name, calibration, **arguments) if calibration else named_policy(name, **arguments)
    return named if embedder is None else for_embedder(named, embedder.name)
