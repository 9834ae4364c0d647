"""The one place that imports ONNX Runtime, which would otherwise tell its maker that it was imported.

From 1.29 on its builds for Linux start a telemetry client when they are imported: a device id and a queue
under the home's cache folder, and some seconds later a connection to a host of its maker. The environment
stops it, if it says so before the import; `disable_telemetry_events()` comes too late.
"""

import os
from collections.abc import MutableMapping
from typing import Any

TELEMETRY = ("ORT_DISABLE_TELEMETRY", "ORT_TELEMETRY_DISABLED")


def silence(environment: MutableMapping[str, str]) -> None:
    """Have ONNX Runtime report nothing, in this process and its children, unless the user has decided.

    Who has set one of the two variables has decided for both.

    >>> environment = {"ORT_TELEMETRY_DISABLED": "0"}
    >>> silence(environment)
    >>> environment["ORT_DISABLE_TELEMETRY"]
    '0'
    """
    decided = next((environment[name] for name in TELEMETRY if name in environment), "1")
    for name in TELEMETRY:
        environment.setdefault(name, decided)


def onnx_runtime() -> Any:
    """Import ONNX Runtime, silently; it takes a quarter of a second, and most commands never embed."""
    silence(os.environ)
    import onnxruntime  # noqa: PLC0415

    return onnxruntime
