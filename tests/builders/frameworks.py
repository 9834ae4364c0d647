"""Frameworks that a test needs and the base environment has not got."""

import os
from importlib.util import find_spec

import pytest

REQUIRED = "EPISODIC_TEST_ADAPTERS"  # `required`: a missing framework fails instead of skipping


def framework(module: str) -> None:
    """Skip a file whose framework is not installed, and say where it is."""
    if find_spec(module.partition(".")[0]) is None and os.environ.get(REQUIRED) != "required":
        pytest.skip(f"{module} is not installed; make test-adapters has it", allow_module_level=True)
