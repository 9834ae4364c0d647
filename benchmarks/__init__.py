"""Measure the engine: boundaries and recall on labelled data, speed and size (`python -m benchmarks`)."""
