"""What stands before a query and before a passage: as named, as the model says, or as it was published."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

_QUERY: Final = ("query",)
_PASSAGE: Final = ("passage", "document", "corpus")
PUBLISHED: Final = (
    # the cards of these models say so; their files of configuration do not
    (re.compile(r"(multilingual-)?e5-(small|base|large)(-v2)?"), "query: ", "passage: "),
    (
        re.compile(r"bge-(small|base|large)-en(-v1\.5)?"),
        "Represent this sentence for searching relevant passages: ",
        "",
    ),
)


@dataclass(frozen=True, slots=True)
class Prompts:
    """What stands before a query and before a passage; empty where nothing does."""

    query: str = ""
    passage: str = ""


def prompts_of(configuration: Mapping[str, Any], label: str) -> Prompts:
    """Return the prompts of a model by its `config_sentence_transformers.json`, or else by its name.

    >>> prompts_of({"prompts": {"query": "q: ", "document": "d: "}}, "mine")
    Prompts(query='q: ', passage='d: ')
    >>> prompts_of({}, "multilingual-e5-small")
    Prompts(query='query: ', passage='passage: ')
    """
    named = configuration.get("prompts")
    prompts = {k: v for k, v in named.items() if isinstance(v, str)} if isinstance(named, Mapping) else {}
    default = prompts.get(str(configuration.get("default_prompt_name")), "")
    if any(prompts.values()):
        return Prompts(_first(prompts, _QUERY, default), _first(prompts, _PASSAGE, default))
    for pattern, query, passage in PUBLISHED:
        if pattern.fullmatch(label):
            return Prompts(query, passage)
    return Prompts()


def _first(prompts: Mapping[str, str], names: tuple[str, ...], default: str) -> str:
    return next((prompts[name] for name in names if name in prompts), default)
