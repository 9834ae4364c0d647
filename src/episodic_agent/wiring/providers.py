"""Embedders, language models and collectors of traces by the names that settings give them."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from episodic_agent.core.prompts import STAGES, THREAD_LINK
from episodic_agent.engine.deps import LINK_PATIENCE
from episodic_agent.errors import InvalidInput, ProviderUnavailable, install_extra
from episodic_agent.lazily import module
from episodic_agent.protocols import Embedder, LanguageModel, SpanSink
from episodic_agent.settings import Settings

if TYPE_CHECKING:
    from episodic_agent.providers.embedders import hashing, minilm
    from episodic_agent.providers.embedders.encoder import converting, spelling
    from episodic_agent.providers.embedders.encoder import embedder as encoders
    from episodic_agent.providers.embedders.minilm import runtime
    from episodic_agent.providers.models import staged
else:
    hashing = module("episodic_agent.providers.embedders.hashing")
    minilm = module("episodic_agent.providers.embedders.minilm")
    converting = module("episodic_agent.providers.embedders.encoder.converting")
    encoders = module("episodic_agent.providers.embedders.encoder.embedder")
    spelling = module("episodic_agent.providers.embedders.encoder.spelling")
    runtime = module("episodic_agent.providers.embedders.minilm.runtime")
    staged = module("episodic_agent.providers.models.staged")

EMBEDDERS = ("auto", "minilm", "minilm-int8", "hf:OWNER/MODEL", "a folder", "openai:MODEL", "hashing", "none")
LANGUAGE_MODELS = ("openai:MODEL", "none")
OPENAI = "openai:"
LONGEST_TIMEOUT = 3600.0  # seconds
Say = Callable[[str], None]


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
    device = runtime.check_device(settings.device)
    if spelling.is_encoder(name):
        record = converting.obtained(cache, spelling.read_spelling(name), tell)
        return encoders.SentenceEncoder(cache, record, threads=settings.threads or None, device=device)
    if name != "auto" and name not in minilm.NAMES:
        raise InvalidInput(f"no embedder {name!r}; there are {', '.join(EMBEDDERS)}")
    model = minilm.NAMES.get(name, minilm.NAME)
    try:
        if not minilm.is_sound(cache, model):
            tell("fetching the embedding model once (about 83 MB) …")
            minilm.pull(cache, None, tell, name=model)
        return minilm.MiniLM(cache, name=model, threads=settings.threads or None, device=device)
    except ProviderUnavailable as error:
        if name != "auto":
            raise
        tell(f"{error}; going on without: recall by words (BM25), segmentation by lexical cues")
        return None


def embedder_by_name(name: str, settings: Settings) -> Embedder | None:
    """Return the embedder that vectors of this name were made by, where it is at hand; nothing is fetched.

    One on a server is taken to be there. Raises InvalidInput where the settings do not suffice for it.
    """
    cache = Path(settings.cache).expanduser()
    how: dict[str, Any] = {"threads": settings.threads or None, "device": settings.device}
    if name in minilm.NAMES.values():
        return minilm.MiniLM(cache, name=name, **how) if minilm.is_sound(cache, name) else None
    for record in converting.records(cache):
        if record.name == name:
            return encoders.SentenceEncoder(cache, record, **how)
    size = name.removeprefix("hashing-")
    if size != name and size.isdecimal() and int(size):
        return hashing.HashingEmbedder(int(size))
    return _openai(name, settings) if name.startswith(OPENAI) else None


@dataclass(frozen=True, slots=True)
class PulledModel:
    """A model in the cache folder: its file, and how settings name it."""

    path: Path
    setting: str


def pull_model(name: str, settings: Settings, say: Say, source: str | None = None) -> PulledModel:
    """Put a local model into the cache folder: `minilm`, `minilm-int8`, an id on the hub, or a folder.

    `source` is where the default model's weights are taken from. Raises InvalidInput for what is none of
    these, ProviderUnavailable where it cannot be had.
    """
    cache = Path(settings.cache).expanduser()
    if name in minilm.NAMES:
        return PulledModel(minilm.pull(cache, source, say, name=minilm.NAMES[name]), name)
    if source is not None:
        raise InvalidInput(f"--from gives the weights of minilm, and {name} is another model; leave one out")
    if not spelling.is_encoder(spelling.with_hub(name)):
        raise InvalidInput(
            f"no model {name!r}; there are {', '.join(minilm.NAMES)}, OWNER/MODEL of the Hugging Face hub, "
            "and folders"
        )
    spelled = spelling.read_spelling(spelling.with_hub(name))
    record = converting.obtained(cache, spelled, say, anew=True)
    return PulledModel(record.check(cache), spelling.with_hub(name))


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
        raise InvalidInput(f"{name} needs an HTTP client; {install_extra('openai')}") from error


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


def chosen_language_model(chosen: "str | LanguageModel | None", settings: Settings) -> LanguageModel | None:
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
        raise InvalidInput(f"EPISODIC_OTEL_ENDPOINT needs OpenTelemetry; {install_extra('otel')}") from error
    sink: SpanSink = module.OtelSink(settings.otel_endpoint)
    return sink
