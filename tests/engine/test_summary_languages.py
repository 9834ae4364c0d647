"""A summary speaks the language of what was said, though its few function words are those of neighbours too."""

import pytest
from builders.chats import Clock, mine
from conftest import OpenMemory


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("Voilà la photo de la fenêtre fendue", "L’utilisateur a dit"),
        ("La reparación de la ventanilla", "El usuario dijo"),
        ("La riparazione della vetrina rotta", "L’utente ha detto"),
    ],
)
def test_a_single_line_is_summed_up_in_its_own_language(
    open_memory: OpenMemory, clock: Clock, text: str, begins: str
) -> None:
    with open_memory(embedder="none", policy="seed-001", clock=clock) as memory:
        mine(memory).add(text, thread="one")
        mine(memory).flush()
        (card,) = mine(memory).episodes.list()
        assert card.summary.startswith(begins)
