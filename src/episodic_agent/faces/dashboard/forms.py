"""What a page sends back: read, and refused unless it came from a page that this visitor was shown."""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from fastapi import Request

from episodic_agent.errors import EpisodicError, InvalidInput
from episodic_agent.faces.dashboard.door import cookie_of

TOKEN: Final = "token"  # the name of the field
VISITOR: Final = "episodic_visitor"
MOST_FIELDS: Final = 100
FORM: Final = "application/x-www-form-urlencoded"
STALE: Final = "the page is too old, or another site sent this; load the page again and repeat what you did"


class Untrusted(EpisodicError):
    """A form did not come from a page of the dashboard."""

    status_hint = 403


@dataclass(frozen=True, slots=True)
class Form:
    """The fields of a form, each once."""

    fields: Mapping[str, str]

    def text(self, name: str) -> str:
        """Return a field without spaces around it; "" where it is missing."""
        return self.fields.get(name, "").strip()

    def needed(self, name: str) -> str:
        """Return a field that must be filled; InvalidInput where it is not."""
        value = self.text(name)
        if not value:
            raise InvalidInput(f"`{name}` is empty; fill it in")
        return value

    def number(self, name: str) -> int:
        """Return a whole number; InvalidInput for anything else."""
        value = self.needed(name)
        if not (value.isascii() and value.isdigit() and len(value) < 10):
            raise InvalidInput(f"`{name}` is a number, not {value[:40]!r}")
        return int(value)

    @property
    def back(self) -> str:
        """Return the page to go back to: a path of this site, nothing else."""
        return path_here(self.fields.get("back", ""))


def path_here(target: str) -> str:
    """Return a path of this site as it is; `/` for anything that a browser could read otherwise.

    >>> path_here("/users/ana"), path_here("//evil.example"), path_here("https://evil.example")
    ('/users/ana', '/', '/')
    """
    safe = target.startswith("/") and target[1:2] not in ("/", "\\") and target.isprintable()
    return target if safe and target.isascii() and "\\" not in target else "/"


def token_of(visitor: str) -> str:
    """Return the token of a visitor's pages: who cannot read the cookie cannot make it."""
    return hmac.new(visitor.encode(), b"episodic-agent form", "sha256").hexdigest()


async def form_of(request: Request) -> Form:
    """Read a form; Untrusted unless its origin is this site's and its token this visitor's."""
    if not _same_origin(request):
        raise Untrusted(STALE)
    if not request.headers.get("content-type", "").lower().startswith(FORM):
        raise InvalidInput(f"a form is sent as {FORM}")
    body = await request.body()
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="replace"
        )
    except ValueError as error:
        raise InvalidInput(f"the form cannot be read: {error}") from error
    fields = dict(pairs)
    visitor = cookie_of(request.scope, VISITOR)
    sent = fields.pop(TOKEN, "")
    if not visitor or not hmac.compare_digest(sent.encode(), token_of(visitor).encode()):
        raise Untrusted(STALE)
    return Form(fields)


def _same_origin(request: Request) -> bool:
    """Tell whether a browser says that a page of this site sent a request; all that can send one say so."""
    origin, host = request.headers.get("origin"), request.headers.get("host", "")
    if origin is None:
        return request.headers.get("sec-fetch-site") == "same-origin"
    try:
        return urlsplit(origin).netloc.lower() == host.lower() != ""
    except ValueError:
        return False
