"""What an adapter says whose framework is not there: the extra that brings it, in one line."""

import importlib
import sys

import pytest

ADAPTERS = {
    "langgraph": ("langgraph", "langgraph"),
    "langchain": ("langchain_core", "langchain"),
    "openai_agents": ("agents", "openai-agents"),
    "pydantic_ai": ("pydantic_ai", "pydantic-ai"),
    "llama_index": ("llama_index", "llama-index"),
    "crewai": ("crewai", "crewai"),
    "agent_framework": ("agent_framework", "agent-framework"),
}


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_an_adapter_without_its_framework_names_the_extra(
    adapter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, extra = ADAPTERS[adapter]
    for loaded in [n for n in sys.modules if n == module or n.startswith(f"{module}.")]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, module, None)  # importing it fails, as if it were not installed
    monkeypatch.delitem(sys.modules, f"episodic_agent.adapters.{adapter}", raising=False)
    with pytest.raises(ImportError) as missing:
        importlib.import_module(f"episodic_agent.adapters.{adapter}")
    assert str(missing.value).endswith(f"run pip install '.[{extra}]' in the clone of episodic-agent")
    assert "\n" not in str(missing.value)
