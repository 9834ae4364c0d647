"""Sequences: `Memory` and one module per verb; meets stores and providers only in `core.interfaces`."""
