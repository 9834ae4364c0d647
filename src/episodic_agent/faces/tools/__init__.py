"""The tools an agent calls: one table, for MCP and for the function formats of OpenAI and Anthropic alike."""
