"""Write an encoder once as an ONNX model into the cache folder, and find it there again.

Three files make one: `NAME.onnx` (graph, tokenizer, prompt of passages), the weights beside it, which large
models could not have inside, and a *record* for each way it was named. The record says which model a name
stood for when it was converted, and by what its source is known to be the same; it is written last.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from episodic_agent.errors import InvalidInput, ProviderUnavailable
from episodic_agent.lazily import module
from episodic_agent.providers.embedders.encoder.reading import Prompts
from episodic_agent.providers.embedders.encoder.spelling import HUB, Spelled
from episodic_agent.providers.embedders.minilm.hub import HubError, NotOnHub, fetched_file, is_hub_id
from episodic_agent.providers.embedders.minilm.weights import check, write_whole

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from episodic_agent.providers.embedders.encoder import reading
    from episodic_agent.providers.embedders.encoder.reading import Checkpoint
    from episodic_agent.providers.embedders.minilm import graph, protobuf
else:
    reading = module("episodic_agent.providers.embedders.encoder.reading")
    graph = module("episodic_agent.providers.embedders.minilm.graph")
    protobuf = module("episodic_agent.providers.embedders.minilm.protobuf")

PREFIX: Final = "encoder:"
"""What every encoder's name begins with, so that none is taken for the default embedder's."""
FOLDER: Final = "encoders"
INLINE: Final = 1024
"""Bytes up to which a weight stays in the graph, which may have to know it before it is run."""
ALIGNED: Final = 64
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class EncoderRecord:
    """An encoder in the cache: how it was named, its own name, and what is checked before it is used.

    `stamp` is what changes with a folder's files, "" for one of the hub. `hashes` are those of graph and
    weights.
    """

    source: str
    name: str
    dimensions: int
    query: str
    passage: str
    stamp: str
    weights: str
    hashes: tuple[str, str]

    @property
    def stem(self) -> str:
        """Return the name of its files, without ending."""
        return self.name.removeprefix(PREFIX)

    def check(self, cache: Path) -> Path:
        """Return the model's file; raises ProviderUnavailable where it or its weights are damaged."""
        file = cache / FOLDER / f"{self.stem}.onnx"
        for path, expected in zip((file, file.with_name(self.weights)), self.hashes, strict=True):
            check(path, frozenset({expected}), "open the memory again, which converts it anew")
        return file


def obtained(cache: Path, spelled: Spelled, say: Say, *, anew: bool = False) -> EncoderRecord:
    """Return an encoder's record, converting it where it is not in the cache, or its folder was changed.

    `anew` asks the hub again. Raises InvalidInput for a model that cannot be used, ProviderUnavailable where
    the hub cannot be reached or the cache not be written.
    """
    if not spelled.repository and is_hub_id(spelled.source) and not spelled.folder.is_dir():
        raise InvalidInput(
            f"no such folder: {spelled.source}; for the model on the Hugging Face hub write "
            f"{HUB}{spelled.source}"
        )
    stamp = "" if spelled.repository else _stamp(spelled.folder)
    known = _known(cache, spelled)
    if known is not None and known.stamp == stamp and not (anew and spelled.repository):
        return known
    folder = _fetched(spelled, say) if spelled.repository else spelled.folder
    checkpoint = reading.read_checkpoint(folder, spelled.label)
    say(f"converting {spelled.label} once …")
    prompts = Prompts(
        checkpoint.prompts.query if spelled.query is None else spelled.query,
        checkpoint.prompts.passage if spelled.passage is None else spelled.passage,
    )
    if prompts != Prompts():
        say(f"{spelled.label}: before a query stands {prompts.query!r}, before a passage {prompts.passage!r}")
    try:
        record = _converted(cache / FOLDER, replace(checkpoint, prompts=prompts), spelled, stamp)
        write_whole(_record_file(cache, spelled), json.dumps(asdict(record), indent=1).encode())
    except OSError as error:
        raise ProviderUnavailable(f"cannot write the embedding model into {cache}: {error}") from error
    return record


def records(cache: Path) -> Iterator[EncoderRecord]:
    """Yield the encoders of a cache folder by how they were named; unreadable ones are left out."""
    known = [
        record for path in sorted((cache / FOLDER).glob("*.json")) if (record := _read(path)) is not None
    ]
    yield from sorted(known, key=lambda record: record.source)


def _known(cache: Path, spelled: Spelled) -> EncoderRecord | None:
    record = _read(_record_file(cache, spelled))
    if record is None:
        return None
    try:
        record.check(cache)
    except ProviderUnavailable:
        return None
    return record


def _read(path: Path) -> EncoderRecord | None:
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        return EncoderRecord(**{**raw, "hashes": tuple(raw["hashes"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None  # it is made anew


def _record_file(cache: Path, spelled: Spelled) -> Path:
    place = spelled.source if spelled.repository else str(spelled.folder.absolute())
    named = json.dumps([place, spelled.query, spelled.passage])
    return cache / FOLDER / f"{hashlib.sha256(named.encode()).hexdigest()[:16]}.json"


def _stamp(folder: Path) -> str:
    """Return what changes when a file of a model's folder does: sizes and times."""
    paths = sorted([*folder.glob("*.json"), *folder.glob("*.safetensors"), *folder.glob("*/*.json"),
                    *folder.glob("*/*.safetensors")])  # fmt: skip
    values = []
    for path in paths:
        stat = path.stat()
        values.append(f"{path.relative_to(folder)} {stat.st_size} {stat.st_mtime_ns} {stat.st_ctime_ns}")
    return hashlib.sha256("\n".join(values).encode("utf-8", "replace")).hexdigest()


def _fetched(spelled: Spelled, say: Say) -> Path:
    """Fetch the files of an encoder from the hub into its cache, and return their folder."""
    say(f"obtaining {spelled.repository} (once) from the Hugging Face hub")

    def fetch(name: str, *, optional: bool = False) -> Path | None:
        try:
            return fetched_file(spelled.repository, name, spelled.revision)
        except NotOnHub as error:
            if optional:
                return None
            raise InvalidInput(
                f"{HUB}{spelled.repository}: {error}; weights are read from {reading.WEIGHTS} alone, "
                "since a pickle can run code: take a revision that has it (hf:OWNER/MODEL@REVISION) "
                "or another model"
            ) from error

    try:
        config = fetch(reading.CONFIG, optional=True)
        listed = fetch(reading.MODULES, optional=True)
        places = _places(listed) if listed is not None else []
        base = places[0] if places else ""
        fetched = [fetch(f"{base}{name}", optional=True) for name in reading.OPTIONAL]
        fetched += [fetch(reading.PROMPTS, optional=True)]
        for place in places[1:]:
            if fetch(f"{place}{reading.CONFIG}", optional=True) is not None:
                fetch(f"{place}{reading.WEIGHTS}", optional=True)
        if base:
            config = fetch(f"{base}{reading.CONFIG}")
        fetch(f"{base}{reading.TOKENIZER}")
        weights = fetch(f"{base}{reading.WEIGHTS}")
    except HubError as error:
        raise ProviderUnavailable(
            f"cannot obtain {spelled.repository} from the Hugging Face hub ({error}). Without a network: "
            "fetch the repository on another machine, bring its folder here and name it: "
            "EPISODIC_EMBEDDER=/path/to/folder"
        ) from error
    first = config or weights
    assert first is not None  # one that is not optional
    return first.parent.parent if base else first.parent


def _places(modules: Path) -> list[str]:
    try:
        paths = [str(entry["path"]) for entry in json.loads(modules.read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError, KeyError):
        return []  # `reading` says what is wrong with it
    return [f"{path}/" if path else "" for path in paths if ".." not in path and not path.startswith("/")]


def _converted(folder: Path, checkpoint: "Checkpoint", spelled: Spelled, stamp: str) -> EncoderRecord:
    """Write weights and graph; what is there already is the same."""
    folder.mkdir(parents=True, exist_ok=True)
    metadata = {
        "tokenizer": checkpoint.tokenizer,
        "max_tokens": str(checkpoint.model.max_tokens),
        "silent": json.dumps(list(checkpoint.silent)),
        "lower": "1" if checkpoint.lower else "0",
        "passage": checkpoint.prompts.passage,
    }
    # the name says what was read and how, not what the model is called: it is part of the graph otherwise
    model = replace(checkpoint.model, name="encoder")
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        part = Path(temporary, "weights")
        with part.open("wb") as file:
            sheet = _Sheet(file)
            graph.build(checkpoint.tensors, metadata, model, sheet.write)
            file.flush()
            os.fsync(file.fileno())
        digest = sheet.hash.hexdigest()
        weights = f"{digest[:16]}.weights"
        content = graph.build(checkpoint.tensors, metadata, model, lambda n, a: sheet.placed(n, a, weights))
        hashed = hashlib.sha256(content).hexdigest()
        name = f"{PREFIX}{model.dimensions}-{hashed[:12]}"
        part.replace(folder / weights)
    prompts = checkpoint.prompts
    record = EncoderRecord(
        spelled.source,
        name,
        model.dimensions,
        prompts.query,
        prompts.passage,
        stamp,
        weights,
        (hashed, digest),
    )
    write_whole(folder / f"{record.stem}.onnx", content)
    return record


class _Sheet:
    """The weights of a model one behind the other in a file, and where each of them is."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._places: dict[str, tuple[int, int]] = {}
        self._end = 0
        self.hash = hashlib.sha256()

    def write(self, name: str, array: "NDArray[np.generic]") -> bytes:
        """Write a weight; the graph that is built meanwhile is thrown away."""
        if array.nbytes > INLINE:
            self._put(bytes(-self._end % ALIGNED))
            data = protobuf.little_endian(array)
            self._places[name] = (self._end, len(data))
            self._put(data)
        return b""

    def placed(self, name: str, array: "NDArray[np.generic]", location: str) -> bytes:
        """Encode a weight as its place in the file."""
        if name not in self._places:
            return protobuf.tensor(name, array)
        offset, length = self._places[name]
        return protobuf.external_tensor(
            name, array.dtype.name, array.shape, location=location, offset=offset, length=length
        )

    def _put(self, data: bytes) -> None:
        self._file.write(data)
        self.hash.update(data)
        self._end += len(data)
