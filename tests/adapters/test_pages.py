"""The blocks of the adapters' page, each alone, where its framework is installed."""

import os
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from episodic_agent import Memory

# said before CrewAI is imported: nothing of a test leaves the machine
if find_spec("crewai") is not None:  # elsewhere the tests of our own traces run in this process
    os.environ |= {
        "CREWAI_DISABLE_TELEMETRY": "true",
        "OTEL_SDK_DISABLED": "true",
        "CREWAI_TRACING_ENABLED": "false",
    }
PAGE = Path(__file__).parents[2] / "docs" / "adapters.md"
MODULES = {
    "langgraph": "langgraph",
    "langchain": "langchain_core",
    "openai-agents": "agents",
    "pydantic-ai": "pydantic_ai",
    "llama-index": "llama_index",
    "crewai": "crewai",
    "agent-framework": "agent_framework",
}
BLOCKS = dict(
    re.findall(r"^```python ([\w-]+)\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
)


def test_the_page_has_a_block_for_every_adapter() -> None:
    assert BLOCKS.keys() == MODULES.keys()


@pytest.mark.parametrize("extra", MODULES)
def test_a_block_runs_as_it_stands(
    extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if find_spec(MODULES[extra]) is None:
        pytest.skip(f"{MODULES[extra]} is not installed; make test-adapters has it")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EPISODIC_EMBEDDER", "hashing")
    # in this process: a framework takes seconds to import
    exec(compile(BLOCKS[extra], f"{PAGE.name}: {extra}", "exec"), {"__name__": "__main__"})
    assert (tmp_path / "memory.db").stat().st_size > 0
    with Memory.open(tmp_path / "memory.db", embedder="hashing") as memory:
        assert "Odile" in str(memory.user("ana").search("the cello teacher Odile"))
    assert "Odile" in capsys.readouterr().out or extra in ("openai-agents", "pydantic-ai", "agent-framework")
