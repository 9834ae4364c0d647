"""Decisions: pure, synchronous, without I/O, clock, environment or logging."""
