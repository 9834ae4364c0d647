"""The door the founding documents name: the protocols of the house, under their first address."""

from episodic_agent.protocols import BoundaryDetector, Embedder, LanguageModel, Sensor, Store, Transaction

__all__ = ["BoundaryDetector", "Embedder", "LanguageModel", "Sensor", "Store", "Transaction"]
