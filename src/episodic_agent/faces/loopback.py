"""Tell requests that this machine sends itself from those another site makes a browser send.

A page of any site may point a name of its own at 127.0.0.1 (DNS rebinding) and then read what is served
there; the browser still says that name as `Host`, and where it came from as `Origin`. So both must name this
machine.
"""

import re
from collections.abc import Iterable
from http import HTTPStatus
from ipaddress import IPv6Address, ip_address
from typing import Final
from urllib.parse import urlsplit

_HOST: Final = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[^\[\]:@/?#\s]+)(?::\d{0,5})?")


def is_loopback(name: str) -> bool:
    """Tell whether a host's name or address, without port, is this machine's own.

    >>> [is_loopback(name) for name in ("127.0.0.1", "::1", "LocalHost.", "0.0.0.0", "127.0.0.1.evil.net")]
    [True, True, True, False, False]
    """
    try:
        address = ip_address(name)
    except ValueError:
        return name.lower().removesuffix(".") == "localhost"
    inner = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return (inner or address).is_loopback


def names_loopback(authority: str) -> bool:
    """Tell whether a `Host` header, with or without a port, names this machine.

    >>> [names_loopback(host) for host in ("localhost:8765", "[::1]:80", "127.0.0.1:x", "a@127.0.0.1", "")]
    [True, True, False, False, False]
    """
    match = _HOST.fullmatch(authority)
    return match is not None and is_loopback(match["name"].strip("[]"))


def is_own_origin(origin: str) -> bool:
    """Tell whether an `Origin` header is a page of this machine.

    >>> [is_own_origin(o) for o in ("http://localhost:3000", "https://evil.example", "null", "file://")]
    [True, False, False, False]
    """
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and names_loopback(parts.netloc)


def refusal(hosts: Iterable[str], origins: Iterable[str]) -> tuple[HTTPStatus, str] | None:
    """Return status and reason for which a request with such headers is refused; None where it is local.

    `hosts` and `origins` are all values of the two headers: `Host` must be there, `Origin` need not.
    """
    named = list(hosts)
    if not named or not all(map(names_loopback, named)):
        text = f"for the host {named[0][:100]!r}" if named else "for no host"
        return (
            HTTPStatus.MISDIRECTED_REQUEST,
            f"the request is {text}; only this machine is served: ask 127.0.0.1, [::1] or localhost",
        )
    foreign = next((origin for origin in origins if not is_own_origin(origin)), None)
    if foreign is not None:
        return (
            HTTPStatus.FORBIDDEN,
            f"a page of {foreign[:100]!r} may not ask; only pages of this machine and programs may",
        )
    return None
