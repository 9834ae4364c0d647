"""Embed texts with all-MiniLM-L6-v2 on ONNX Runtime: sorted small batches on a few threads."""

import os
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from episodic_agent.errors import ProviderUnavailable
from episodic_agent.lazily import module
from episodic_agent.providers.embedders.minilm.runtime import onnx_runtime
from episodic_agent.providers.embedders.minilm.weights import (
    DIMENSIONS,
    MAX_TOKENS,
    NAME,
    Report,
    check,
    is_sound,
    model_file,
    pull,
)

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
class _Loaded:
    """The session and tokenizer of one process; neither survives a fork."""

    process: int
    session: Any  # onnxruntime.InferenceSession
    tokenizer: Any  # tokenizers.Tokenizer
    silent: frozenset[int]
    """Ids of [CLS], [SEP] and [UNK]: any two texts of nothing else and one length would share a vector."""

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids per text, [CLS] and [SEP] around them; a surrogate without its pair becomes "?"."""
        clean = [text[:MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8") for text in texts]
        return [encoding.ids for encoding in self.tokenizer.encode_batch_fast(clean)]

    def run(self, rows: Sequence[list[int]]) -> "Vectors":
        """Embed one batch of token ids, padded on the right to the longest."""
        shape = (len(rows), max(map(len, rows)))
        ids, mask = np.zeros(shape, np.int32), np.zeros(shape, np.int32)
        for row, tokens in enumerate(rows):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        vectors: Vectors = self.session.run(None, {"ids": ids, "mask": mask})[0]
        return vectors


class MiniLM:
    """Embed texts locally as unit vectors of 384 dimensions (all-MiniLM-L6-v2, float32).

    A text is cut at 256 tokens (chunk longer ones before). One without any token the model knows (blank,
    zero-width, emoji only) gets the zero vector. A text's vector depends on its batch only in the last bits
    (about 1e-7), and differs as little between machines: compare with a tolerance.
    The model is loaded at the first use, again after a fork, and shared by threads.
    """

    name = NAME
    dimensions = DIMENSIONS

    def __init__(self, cache: Path, *, threads: int | None = None, report: Report | None = None) -> None:
        """Keep where the model is; nothing is read yet.

        `threads` is the size of the pool, the usable processors by default. With `report`, a model that is
        missing or damaged is pulled at the first use, once, and `report` is given a line about it.
        """
        self._cache = cache
        self._threads = threads or usable_processors()
        self._report = report
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None
        self._missing: str = ""

    def embed(self, texts: Sequence[str]) -> "Vectors":
        """Embed texts: float32 [n, 384], rows of length 1, or 0 for a text that says nothing.

        Raises ProviderUnavailable when the model file is not in the cache, or is not the published one.
        """
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for start in range(0, len(texts), WINDOW):
            self._embed_window(texts[start : start + WINDOW], vectors[start : start + WINDOW])
        return vectors

    def preload(self) -> None:
        """Load the model where it is in the cache; a missing or damaged one is left to the first use."""
        if is_sound(self._cache):
            self._load()

    def _embed_window(self, texts: Sequence[str], vectors: "Vectors") -> None:
        loaded = self._load()
        rows = loaded.tokens(texts)
        numbers = [position for position, row in enumerate(rows) if not loaded.silent.issuperset(row)]
        groups = [[numbers[i] for i in group] for group in batches([len(rows[i]) for i in numbers])]

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

    def _load(self) -> _Loaded:
        loaded = self._loaded
        if loaded is not None and loaded.process == os.getpid():
            return loaded
        with self._lock:
            if self._loaded is None or self._loaded.process != os.getpid():
                self._obtain()
                self._loaded = load(model_file(self._cache))
            return self._loaded

    def _obtain(self) -> None:
        """Pull a model that is missing or damaged, once: without a network each try may take a while."""
        if self._report is None or is_sound(self._cache):
            return
        if not self._missing:
            try:
                pull(self._cache, report=self._report)
                return
            except ProviderUnavailable as error:
                self._missing = str(error)
        raise ProviderUnavailable(self._missing)


def load(file: Path) -> _Loaded:
    """Open the model file: an ONNX session of one thread and the tokenizer kept in its metadata."""
    check(file)
    onnxruntime = onnx_runtime()
    from tokenizers import Tokenizer  # noqa: PLC0415 - as late as the runtime, and for its reason

    failures = onnxruntime.capi.onnxruntime_pybind11_state
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    # Higher levels fuse Add and LayerNormalization back into the slow SkipLayerNormalization.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    unreadable = (failures.Fail, failures.InvalidProtobuf, failures.InvalidGraph, failures.RuntimeException)
    try:
        session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        tokenizer: Any = Tokenizer.from_str(session.get_modelmeta().custom_metadata_map["tokenizer"])
    except (*unreadable, failures.InvalidArgument, failures.NotImplemented, KeyError) as error:
        raise ProviderUnavailable(
            f"this ONNX Runtime cannot read the embedding model {file}: {error}"
        ) from error
    # The published file pads everything to 128 tokens and cuts there.
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    # "[SEP]" typed by somebody is text, not the end of it.
    tokenizer.encode_special_tokens = True
    silent = frozenset(map(tokenizer.token_to_id, ("[CLS]", "[SEP]", "[UNK]")))
    return _Loaded(os.getpid(), session, tokenizer, silent)
