"""The error tree: what can go wrong, whether trying again may help, and how a face should say it.

Every message is one line and names the remedy. `retryable` tells a caller whether the same call may
succeed later; `status_hint` is the HTTP status a REST face answers with; `exit_code` is the CLI's.
"""

from typing import ClassVar


def install_extra(extra: str) -> str:
    """Return how to install an extra as the README installs the package: it is in no index, but cloned.

    >>> install_extra("serve")
    "run pip install '.[serve]' in the clone of episodic-agent"
    """
    return f"run pip install '.[{extra}]' in the clone of episodic-agent"


class EpisodicError(Exception):
    """Base of every error the engine raises on purpose."""

    retryable: ClassVar[bool] = False
    status_hint: ClassVar[int] = 500
    exit_code: ClassVar[int] = 1
    as_command: str = ""  # the message as the command line says it, where a program was told a call instead


class InvalidInput(EpisodicError):
    """The caller's data or arguments cannot be accepted as they are."""

    status_hint = 400
    exit_code = 2


class TooLarge(InvalidInput):
    """The caller's data is larger than a setting allows; the message names what was seen and the setting."""

    status_hint = 413


class NotFound(EpisodicError):
    """The thing named does not exist in this scope."""

    status_hint = 404
    exit_code = 3


class Conflict(EpisodicError):
    """Another writer was faster; the same call may be repeated."""

    retryable = True
    status_hint = 409
    exit_code = 4


class IdTaken(Conflict):
    """A message comes with the id of another one; what is stored stands, and repeating does not help."""

    retryable = False


class StoreError(EpisodicError):
    """The database refused or failed; nothing of the open transaction was kept."""

    exit_code = 5


class StoreDamaged(StoreError):
    """What is stored cannot be read as it was written."""


class StoreUnavailable(StoreError):
    """The database cannot be reached or written to right now (locked, full, read-only, gone)."""

    retryable = True
    status_hint = 503


class ProviderError(EpisodicError):
    """An embedder or a language model failed."""

    status_hint = 502
    exit_code = 6


class ProviderUnavailable(ProviderError):
    """An embedder or a language model is not there (not installed, not pulled, unreachable).

    `late` tells whether it was asked, and did not answer in time.
    """

    retryable = True
    status_hint = 503

    def __init__(self, message: str = "", *, late: bool = False) -> None:
        super().__init__(message)
        self.late = late


class BadReply(ProviderError):
    """A model answered with something that cannot be used: that fits no schema, or is no vector.

    The tokens are what the answer cost all the same, 0 where nobody told.
    """

    retryable = True

    def __init__(self, message: str, *, prompt_tokens: int = 0, completion_tokens: int = 0) -> None:
        super().__init__(message)
        self.prompt_tokens = prompt_tokens
        self.completion_tokens = completion_tokens


class ProviderRefused(ProviderError):
    """A provider refuses the key, or the account behind it: asking again changes nothing until that does.

    `sent` tells whether it was asked, or its refusal remembered.
    """

    def __init__(self, message: str, *, sent: bool = True) -> None:
        super().__init__(message)
        self.sent = sent


class BudgetSpent(ProviderUnavailable):
    """The budget for language models does not allow this call: the deterministic fallback answers at once."""


class SensorError(EpisodicError):
    """A sensor cannot be reached, or delivers nothing that can be read."""

    retryable = True
    status_hint = 502
    exit_code = 2


class KeyRefused(EpisodicError):
    """A service does not know the key, or the key's role does not allow what was asked."""

    status_hint = 403
    exit_code = 2


class UnreadableAnswer(EpisodicError):
    """A service answered with what this version of the client cannot read."""

    status_hint = 502
    exit_code = 6
