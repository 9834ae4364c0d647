"""How short word lists are written in code; long ones are data files (`episodic_agent.data`)."""


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())
