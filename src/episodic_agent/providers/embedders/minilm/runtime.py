"""The one place that imports ONNX Runtime, which would otherwise tell its maker that it was imported.

From 1.29 on its builds for Linux start a telemetry client when they are imported: a device id and a queue
under the home's cache folder, and some seconds later a connection to a host of its maker. The environment
stops it, if it says so before the import; `disable_telemetry_events()` comes too late.
"""

import os
from collections.abc import MutableMapping, Sequence
from typing import Any, Final

from episodic_agent.errors import InvalidInput

TELEMETRY = ("ORT_DISABLE_TELEMETRY", "ORT_TELEMETRY_DISABLED")
CPU: Final = "cpu"
AUTO: Final = "auto"
PROCESSOR: Final = "CPUExecutionProvider"
DEVICES: Final = {
    "cuda": "CUDAExecutionProvider",
    "rocm": "ROCMExecutionProvider",
    "migraphx": "MIGraphXExecutionProvider",
    "directml": "DmlExecutionProvider",
    "coreml": "CoreMLExecutionProvider",
    "openvino": "OpenVINOExecutionProvider",
}
"""The devices beside the processor by the names of settings, in the order `auto` tries them."""


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


def providers_for(device: str, available: Sequence[str]) -> list[str]:
    """Return the runtime's providers for a device, the processor last: it does what a device cannot.

    `auto` takes the first device there is. Raises InvalidInput for a device that is unknown or not there.

    >>> providers_for("auto", ["CUDAExecutionProvider", "CPUExecutionProvider"])
    ['CUDAExecutionProvider', 'CPUExecutionProvider']
    >>> providers_for("auto", ["AzureExecutionProvider", "CPUExecutionProvider"])
    ['CPUExecutionProvider']
    """
    if device == CPU:
        return [PROCESSOR]
    check_device(device)
    chosen = DEVICES.values() if device == AUTO else [DEVICES[device]]
    there = [provider for provider in chosen if provider in available][:1]
    if not there and device != AUTO:
        kinds = [name for name, provider in DEVICES.items() if provider in available]
        raise InvalidInput(
            f"this ONNX Runtime has no {DEVICES[device]}; it offers {', '.join([CPU, *kinds])}: install the "
            f"build of onnxruntime for {device} in place of the plain one, or set EPISODIC_DEVICE=cpu"
        )
    return [*there, PROCESSOR]


def check_device(device: str) -> str:
    """Return the name of a device; InvalidInput for an unknown one."""
    if device not in {CPU, AUTO, *DEVICES}:
        raise InvalidInput(
            f"EPISODIC_DEVICE: no device {device!r}; there are {', '.join([CPU, AUTO, *DEVICES])}"
        )
    return device
