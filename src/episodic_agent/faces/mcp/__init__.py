"""Memory over the Model Context Protocol; needs the extra `mcp`."""
