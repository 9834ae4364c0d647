"""How settings name an encoder: `hf:OWNER/MODEL` or a folder, and what may follow a question mark."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from episodic_agent.errors import InvalidInput
from episodic_agent.providers.embedders.minilm.hub import is_hub_id

HUB: Final = "hf:"
_KEYS: Final = ("query", "passage")


@dataclass(frozen=True, slots=True)
class Spelled:
    """An encoder as it was named: a folder, or an id on the hub with a revision ("": the newest).

    `query` and `passage` are what the name says stands before a text; None: what the model says.
    """

    source: str
    repository: str = ""
    revision: str = ""
    query: str | None = None
    passage: str | None = None

    @property
    def folder(self) -> Path:
        """Return the folder of an encoder that is none of the hub's."""
        return Path(self.source).expanduser()

    @property
    def label(self) -> str:
        """Return the model's own name, without owner or folders."""
        return (self.repository or str(self.folder.absolute())).rstrip("/").rpartition("/")[2]


def is_encoder(name: str) -> bool:
    """Tell whether a name is that of an encoder, as settings spell it.

    >>> is_encoder("hf:intfloat/e5-small"), is_encoder("/models/e5"), is_encoder("minlm")
    (True, True, False)
    """
    path = name.partition("?")[0]
    spelled = path.startswith((HUB, "~", ".")) or os.sep in path or "/" in path
    return not name.startswith("openai:") and (spelled or Path(path).is_dir())


def with_hub(name: str) -> str:
    """Return an id of the hub as settings spell it; a folder that is there is one.

    >>> with_hub("intfloat/e5-small"), with_hub("hf:intfloat/e5-small"), with_hub("/models/e5")
    ('hf:intfloat/e5-small', 'hf:intfloat/e5-small', '/models/e5')
    """
    place = name.partition("?")[0]
    repository = place.partition("@")[0]
    return HUB + name if is_hub_id(repository) and not Path(place).is_dir() else name


def read_spelling(name: str) -> Spelled:
    """Read a name; raises InvalidInput for a form that is none.

    >>> read_spelling("hf:intfloat/e5-small@main?query=query: ").query
    'query: '
    """
    source, _, options = name.partition("?")
    prompts: dict[str, str] = {}
    for piece in filter(None, options.split("&")):
        key, equals, value = piece.partition("=")
        if not equals or key not in _KEYS:
            raise InvalidInput(f"{name!r}: after the ? stand query=TEXT and passage=TEXT, with & between")
        prompts[key] = unquote(value)
    if not source.startswith(HUB):
        return Spelled(source, query=prompts.get("query"), passage=prompts.get("passage"))
    repository, _, revision = source.removeprefix(HUB).partition("@")
    if not is_hub_id(repository):
        raise InvalidInput(f"{name!r} is no Hugging Face id; write hf:OWNER/MODEL or hf:OWNER/MODEL@REVISION")
    return Spelled(source, repository, revision, prompts.get("query"), prompts.get("passage"))
