"""Fakes for testing programs that use this package: no key, no network, the same answers every time.

`HashingEmbedder` makes vectors by hashing words. `ScriptedModel` answers from a list or a function. `serving`
starts a chat server on this machine that speaks the real protocol and misbehaves as it is told (`Behaviour`).

**Rules of the room.**
1. A fake keeps the contract of the protocol it stands for; it never knows what is being tested.
2. A fake fails as the real thing fails: the same errors, from the same places.
3. Nothing in the package imports this room.

**To add** a fake, implement the protocol from `protocols` and run the tests of that protocol over it.
"""

from episodic_agent.providers.embedders.hashing import HashingEmbedder
from episodic_agent.testing.model_server import Behaviour, ScriptedServer, serving
from episodic_agent.testing.models import ScriptedModel

__all__ = ["Behaviour", "HashingEmbedder", "ScriptedModel", "ScriptedServer", "serving"]
