"""Embed texts with an encoder on ONNX Runtime: sorted small batches on a few threads."""

import json
import os
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from episodic_agent.errors import ProviderUnavailable
from episodic_agent.lazily import module
from episodic_agent.providers.embedders.minilm.hub import DIMENSIONS, MAX_TOKENS
from episodic_agent.providers.embedders.minilm.runtime import CPU, onnx_runtime, providers_for
from episodic_agent.providers.embedders.minilm.weights import NAME, Report, check, is_sound, model_file, pull

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
else:
    np = module("numpy")

MAX_CHARACTERS = 20_000
"""Longer texts are cut before tokenising, which would cost time for tokens that are thrown away."""
BATCH_TOKENS = 256
"""Padded tokens per run; larger batches spill the processor's caches and are slower."""
DEVICE_TOKENS = 16_384
"""The same on another device than the processor, which small batches leave idle."""
WINDOW = 4096
"""Texts tokenised and sorted at a time, so that memory stays bounded however many come."""


def usable_processors(quota: Path = Path("/sys/fs/cgroup/cpu.max")) -> int:
    """Count the processors this process may use: its affinity, limited by a container's CPU quota."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        # cgroup v2: microseconds of processor time per period, "max" where there is no limit.
        used, period = quota.read_text(encoding="ascii").split()
        return max(1, min(count, int(used) // int(period)))
    except (OSError, ValueError):
        return count


def batches(lengths: Sequence[int], tokens: int = BATCH_TOKENS) -> Iterator[list[int]]:
    """Group positions by similar length, longest first, into batches of at most `tokens` padded tokens.

    A length above `tokens` makes a batch of its own. Lengths are at least 1.

    >>> list(batches([3, 200, 2, 130], tokens=256))
    [[1], [3], [0, 2]]
    """
    order = sorted(range(len(lengths)), key=lambda position: -lengths[position])
    while order:
        size = max(1, tokens // lengths[order[0]])
        yield order[:size]
        order = order[size:]


@dataclass(frozen=True)
class Loaded:
    """The session and tokenizer of one process; neither survives a fork."""

    process: int
    session: Any  # onnxruntime.InferenceSession
    tokenizer: Any  # tokenizers.Tokenizer
    silent: frozenset[int]
    """Ids of [CLS], [SEP] and [UNK]: any two texts of nothing else and one length would share a vector."""
    lower: bool = False
    on_processor: bool = True

    def tokens(self, texts: Sequence[str], prefix: str = "") -> list[list[int]]:
        """Token ids per text, [CLS] and [SEP] around them; a surrogate without its pair becomes "?"."""
        clean = [text[:MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8") for text in texts]
        shown = [prefix + (text.lower() if self.lower else text) for text in clean]
        return [encoding.ids for encoding in self.tokenizer.encode_batch_fast(shown)]

    def run(self, rows: Sequence[list[int]]) -> "Vectors":
        """Embed one batch of token ids, padded on the right to the longest."""
        shape = (len(rows), max(map(len, rows)))
        ids, mask = np.zeros(shape, np.int32), np.zeros(shape, np.int32)
        for row, tokens in enumerate(rows):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        vectors: Vectors = self.session.run(None, {"ids": ids, "mask": mask})[0]
        return vectors


class LocalEmbedder(ABC):
    """What every model that runs here does: load once in a process, batch, answer in the order of the texts.

    The model is loaded at the first use, again after a fork, and shared by threads and by other embedders.
    """

    name: str
    dimensions: int

    def __init__(self, *, threads: int | None = None, device: str = CPU) -> None:
        """Keep how to run; `threads` is the size of the pool, the usable processors by default."""
        self._threads = threads or usable_processors()
        self._device = device
        self._lock = threading.Lock()
        self._loaded: Loaded | None = None

    @abstractmethod
    def _open(self) -> Loaded:
        """Load the model; raises ProviderUnavailable."""

    def _vectors(self, texts: Sequence[str], prefix: str = "") -> "Vectors":
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for start in range(0, len(texts), WINDOW):
            self._embed_window(texts[start : start + WINDOW], vectors[start : start + WINDOW], prefix)
        return vectors

    def _embed_window(self, texts: Sequence[str], vectors: "Vectors", prefix: str) -> None:
        loaded = self._load()
        bare = loaded.tokens(texts)
        numbers = [position for position, row in enumerate(bare) if not loaded.silent.issuperset(row)]
        rows = loaded.tokens(texts, prefix) if prefix else bare  # what says nothing says no more behind it
        size = BATCH_TOKENS if loaded.on_processor else DEVICE_TOKENS
        groups = [[numbers[i] for i in group] for group in batches([len(rows[i]) for i in numbers], size)]

        def run(group: list[int]) -> None:
            vectors[group] = loaded.run([rows[position] for position in group])

        if len(groups) < 2 or self._threads == 1:
            for group in groups:
                run(group)
            return
        # run() drops the interpreter lock, so plain threads over one session use all processors.
        with ThreadPoolExecutor(self._threads, "minilm") as pool:
            for _ in pool.map(run, groups):
                pass

    def _load(self) -> Loaded:
        loaded = self._loaded
        if loaded is not None and loaded.process == os.getpid():
            return loaded
        with self._lock:
            if self._loaded is None or self._loaded.process != os.getpid():
                self._loaded = self._open()
            return self._loaded


class MiniLM(LocalEmbedder):
    """Embed texts locally as unit vectors of 384 dimensions (all-MiniLM-L6-v2, float32 or int8).

    A text is cut at 256 tokens (chunk longer ones before). One without any token the model knows (blank,
    zero-width, emoji only) gets the zero vector. A text's vector depends on its batch only in the last bits
    (about 1e-7), and differs as little between machines: compare with a tolerance.
    """

    dimensions = DIMENSIONS

    def __init__(
        self,
        cache: Path,
        *,
        name: str = NAME,
        threads: int | None = None,
        report: Report | None = None,
        device: str = CPU,
    ) -> None:
        """Keep where the model is; nothing is read yet.

        `name` is that of the precision. With `report`, a model that is missing or damaged is pulled at the
        first use, once, and `report` is given a line about it.
        """
        super().__init__(threads=threads, device=device)
        self.name = name
        self._cache = cache
        self._report = report
        self._missing: str = ""

    def embed(self, texts: Sequence[str]) -> "Vectors":
        """Embed texts: float32 [n, 384], rows of length 1, or 0 for a text that says nothing.

        Raises ProviderUnavailable when the model file is not in the cache, or is not the published one.
        """
        return self._vectors(texts)

    def preload(self) -> None:
        """Load the model where it is in the cache; a missing or damaged one is left to the first use."""
        if is_sound(self._cache, self.name):
            self._load()

    def _open(self) -> Loaded:
        """Pull a model that is missing or damaged, once: without a network each try may take a while."""
        if self._report is not None and not is_sound(self._cache, self.name):
            if not self._missing:
                try:
                    pull(self._cache, report=self._report, name=self.name)
                except ProviderUnavailable as error:
                    self._missing = str(error)
            if self._missing:
                raise ProviderUnavailable(self._missing)
        file = model_file(self._cache, self.name)
        check(file)
        return load(file, self._device)


class LoadedModels:
    """The models of a process, each loaded once for all who embed with it and gone with the last of them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._models: weakref.WeakValueDictionary[tuple[int | str, ...], Loaded] = (
            weakref.WeakValueDictionary()
        )

    def get(self, file: Path, device: str) -> Loaded:
        """Return the model of a file as it is now on a device, read unless it is there; raises as `load`."""
        try:
            stat = file.stat()
        except OSError as error:
            raise ProviderUnavailable(
                f"the embedding model {file} cannot be read: {error.strerror}"
            ) from error
        key = stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, device
        with self._lock:
            loaded = self._models.get(key)
            if loaded is None:
                loaded = self._models[key] = read_model(file, device)
            return loaded


_models = LoadedModels()


def _forget_parent() -> None:
    """Begin anew after a fork: no session survives one, and the lock may be held by a thread left behind."""
    global _models  # noqa: PLW0603 - what a process has loaded
    _models = LoadedModels()


if hasattr(os, "register_at_fork"):  # elsewhere nothing forks
    os.register_at_fork(after_in_child=_forget_parent)


def load(file: Path, device: str = CPU) -> Loaded:
    """Open a model's file, or share it with whoever has it open on this device in this process.

    Raises ProviderUnavailable for a file that cannot be read, InvalidInput for a device that is not there.
    """
    return _models.get(file, device)


def read_model(file: Path, device: str) -> Loaded:
    """Open a model's file: an ONNX session and the tokenizer kept in its metadata; raises as `load`."""
    onnxruntime = onnx_runtime()
    from tokenizers import Tokenizer  # noqa: PLC0415 - as late as the runtime, and for its reason

    failures = onnxruntime.capi.onnxruntime_pybind11_state
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    # Higher levels fuse Add and LayerNormalization back into the slow SkipLayerNormalization.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    unreadable = (failures.Fail, failures.InvalidProtobuf, failures.InvalidGraph, failures.RuntimeException)
    providers = providers_for(device, onnxruntime.get_available_providers())
    try:
        session = onnxruntime.InferenceSession(str(file), options, providers=providers)
        about = session.get_modelmeta().custom_metadata_map
        tokenizer: Any = Tokenizer.from_str(about["tokenizer"])
    except (*unreadable, failures.InvalidArgument, failures.NotImplemented, KeyError) as error:
        raise ProviderUnavailable(
            f"this ONNX Runtime cannot read the embedding model {file}: {error}"
        ) from error
    # The published file pads everything to 128 tokens and cuts there.
    tokenizer.no_padding()
    tokenizer.enable_truncation(int(about.get("max_tokens", MAX_TOKENS)))
    # "[SEP]" typed by somebody is text, not the end of it.
    tokenizer.encode_special_tokens = True
    silent = map(tokenizer.token_to_id, json.loads(about.get("silent", '["[CLS]", "[SEP]", "[UNK]"]')))
    lower, processor = about.get("lower") == "1", session.get_providers()[0] == providers_for(CPU, ())[0]
    return Loaded(os.getpid(), session, tokenizer, frozenset(silent), lower, processor)
