"""Who holds a lease: a process of a machine, told apart from a later one with the same number."""

import os
import socket
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

_START_FIELD = 19  # of what follows the command in /proc/PID/stat: start time in clock ticks since boot


def process_owner() -> str:
    """Name this process for `Store.claim`: "host:pid:start"."""
    pid = os.getpid()
    return f"{_host()}:{pid}:{_start_of(pid)}"


def is_gone(owner: str) -> bool:
    """Tell whether `owner` was a process of this machine that no longer runs. Other machines' are never gone.

    >>> is_gone(process_owner()), is_gone("elsewhere:1:2"), is_gone("no owner at all")
    (False, False, False)
    """
    host, _, rest = owner.partition(":")
    pid, _, start = rest.partition(":")
    # Elsewhere than on POSIX systems signal 0 is not a question but a death sentence.
    if host != _host() or not pid.isdigit() or os.name != "posix":
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass  # it runs, as another user
    return bool(start) and start != _start_of(int(pid))


@lru_cache(maxsize=1)
def _host() -> str:
    """Name the machine, or the container: process numbers mean nothing outside their namespace."""
    name = socket.gethostname().replace(":", "-")
    with suppress(OSError):
        name += "/" + os.readlink("/proc/self/ns/pid").strip("pid:[]")
    return name


def _start_of(pid: int) -> str:
    """Return when a process started, "" where the system does not say."""
    try:
        # The command may hold spaces and brackets; fields are counted from its last bracket.
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return status.rpartition(")")[2].split()[_START_FIELD]
