"""The HTTP face: seed 003's routes over one memory."""
