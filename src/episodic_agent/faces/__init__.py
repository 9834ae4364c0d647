"""How people and programs reach the engine: thin layers that parse, make one call and render."""
