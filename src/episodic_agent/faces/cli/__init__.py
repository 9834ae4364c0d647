"""The `episodic` command: each command parses, makes one call and renders."""
