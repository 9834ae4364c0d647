"""The local embedder: all-MiniLM-L6-v2 on ONNX Runtime, without torch and without a network once pulled."""

from episodic_agent.providers.minilm.embedder import MiniLM
from episodic_agent.providers.minilm.weights import NAME, is_present, model_file, pull

__all__ = ["NAME", "MiniLM", "is_present", "model_file", "pull"]
