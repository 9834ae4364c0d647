"""A second real model behind an OpenAI-compatible endpoint: averaged word vectors, served over HTTP.

The model is made of the default model's own word embeddings, without its transformer: each piece of a word
weighs by its rarity (the vocabulary is ordered by frequency), and nothing is centred, so that even unrelated
texts have high cosines. It hears words and their kin, not sentences: a different geometry and a weaker model.
"""

import json
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper
from tokenizers import Tokenizer

from episodic_agent.providers.embedders.minilm.runtime import onnx_runtime
from episodic_agent.providers.embedders.minilm.weights import model_file
from episodic_agent.schemas import Vector

WORDS = "words"  # the name of the word embeddings in the converted model
TOKENIZER = "tokenizer"
SPECIAL = 1000  # below stand marks, unused places and single characters
RARE = 1000.0  # the rank of a word that weighs half


class WordAverage:
    """Embed texts as averages of word embeddings: unit vectors of 384 dimensions, zero for no known word."""

    name = "word-average"
    dimensions = 384

    def __init__(self, cache: Path) -> None:
        """Read the converted default model in `cache` at the first use."""
        self._cache = cache

    @cached_property
    def _parts(self) -> tuple[Tokenizer, NDArray[np.float32], NDArray[np.float32]]:
        model = onnx.load(str(model_file(self._cache)))
        words = next(t for t in model.graph.initializer if t.name == WORDS)
        tokenizer = _tokenizer(model, 512)
        matrix = numpy_helper.to_array(words).astype(np.float32)
        rank = np.maximum(np.arange(len(matrix)) - SPECIAL, 0.0)
        return tokenizer, matrix, (rank / (rank + RARE)).astype(np.float32)

    def embed(self, texts: Sequence[str]) -> Vector:
        """Embed texts: float32 [n, 384]."""
        tokenizer, matrix, weights = self._parts
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        encodings = tokenizer.encode_batch(list(texts), add_special_tokens=False)
        for row, encoding in zip(vectors, encodings, strict=True):
            ids = np.array(encoding.ids, np.int64)
            if len(ids):
                summed = weights[ids] @ matrix[ids]
                row[:] = summed / max(float(np.linalg.norm(summed)), 1e-12)
        return vectors


class Sentences:
    """Embed texts with a sentence model in an ONNX file that reads the default model's vocabulary.

    Takes the mean over the tokens of the last hidden states [texts, tokens, width], of which `output` is the
    name (of several exports: the one that ends in the model's own width).
    """

    def __init__(self, file: Path, cache: Path, output: str) -> None:
        """Open the model; the tokenizer is the default model's, from `cache`."""
        self.name = file.stem
        self._output = output
        self._session = onnx_runtime().InferenceSession(str(file), providers=["CPUExecutionProvider"])
        self._takes = {given.name for given in self._session.get_inputs()}
        self._tokenizer = _tokenizer(onnx.load(str(model_file(cache)), load_external_data=False), 128)

    def embed(self, texts: Sequence[str]) -> Vector:
        """Embed texts: float32 [n, width]."""
        rows = [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts))]
        order = sorted(range(len(rows)), key=lambda n: len(rows[n]))
        results: dict[int, NDArray[np.float32]] = {}
        for start in range(0, len(order), 16):
            group = order[start : start + 16]
            results.update(zip(group, self._run([rows[n] for n in group]), strict=True))
        return np.stack([results[n] for n in range(len(rows))])

    def _run(self, rows: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        ids = np.zeros((len(rows), max(map(len, rows))), np.int64)
        mask = np.zeros_like(ids)
        for place, row in enumerate(rows):
            ids[place, : len(row)], mask[place, : len(row)] = row, 1
        arguments = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden = self._session.run([self._output], {k: v for k, v in arguments.items() if k in self._takes})[
            0
        ]
        summed = (hidden * mask[..., None]).sum(axis=1)
        unit: NDArray[np.float32] = summed / np.linalg.norm(summed, axis=1, keepdims=True)
        return unit


def _tokenizer(model: onnx.ModelProto, longest: int) -> Tokenizer:
    tokenizer = Tokenizer.from_str(next(p.value for p in model.metadata_props if p.key == TOKENIZER))
    tokenizer.no_padding()
    tokenizer.enable_truncation(longest)
    return tokenizer


@dataclass
class Endpoint:
    """A running server: its address, what it was asked, and what it is to do next.

    `scripted` answers are sent first, one a request, each (status, headers, body); then the model answers.
    While `down` is set, every connection is closed without an answer.
    """

    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    scripted: deque[tuple[int, dict[str, str], bytes]] = field(default_factory=deque)
    down: bool = False


@contextmanager
def served(embed: Callable[[Sequence[str]], Vector]) -> Iterator[Endpoint]:
    """Serve a model as `POST /v1/embeddings` on this machine, as long as the block runs."""
    endpoint = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            if endpoint.down:
                self.close_connection = True
                return
            endpoint.asked.append(json.loads(body))
            endpoint.headers.append({k.lower(): v for k, v in self.headers.items()})
            if endpoint.scripted:
                self.reply(*endpoint.scripted.popleft())
            elif self.path != "/v1/embeddings":
                self.reply(404, {}, b'{"error": {"message": "no such path"}}')
            else:
                self.reply(200, {}, json.dumps(answer(endpoint.asked[-1], embed)).encode())

        def reply(self, status: int, headers: dict[str, str], body: bytes) -> None:
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with suppress(ConnectionError):  # whoever asked has given up
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    endpoint.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def answer(request: Mapping[str, Any], embed: Callable[[Sequence[str]], Vector]) -> dict[str, Any]:
    """Answer a request as the API does, the last text first: the order is told by `index`."""
    vectors = embed(request["input"])
    data = [
        {"object": "embedding", "index": n, "embedding": [float(x) for x in row[: request.get("dimensions")]]}
        for n, row in enumerate(vectors)
    ]
    return {"object": "list", "model": request["model"], "data": data[::-1]}
