"""Memory inside agent frameworks: one thin file each, bound to one user's memory.

`langgraph` (a store), `langchain` (chat history and a retriever), `openai_agents` (a session and tools),
`pydantic_ai` (a capability), `llama_index` (a memory block), `crewai` (a crew's memory), `agent_framework` (a
context provider). Each needs its framework, which the extra of the same name installs.

**Rules of the room.**
1. An adapter speaks the framework's own protocol and the handle's verbs, and decides nothing.
2. What the framework hands over is kept once: by the framework's ids, or by where it stands in its run.
3. A message is kept in words, which are searched, and as the framework wrote it, which is given back.
4. What is recalled for a prompt stands between marks, so that it is known when it comes back.
5. Only the file of a framework imports it; without it the import says which extra is missing.

**To add** a framework, write its file, its extra, its tests against the real thing in `tests/adapters`.
"""
