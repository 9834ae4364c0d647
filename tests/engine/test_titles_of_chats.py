"""A title names the matter: no salutation does, in whatever channel somebody writes as in a letter."""

from pathlib import Path

import pytest
from builders.chats import Clock

from episodic_agent import Memory

CHATS = {
    "Mr Whitcombe": ("Good afternoon Mr Whitcombe. We pay 1,950 now. 2,400 is a lot for a shop! Can we talk?",
                     "The roof will be seen to before April."),
    "Keller": ("Dear Mr Keller, the deck oven that you put in trips the fuse every morning.", "We will see."),
    "Frau Lund": ("Liebe Frau Lund, das Rad ist am Montag fertig und die Kette neu. Die Rechnung liegt bei.",
                  "Danke sehr!"),
    "Brandt": ("Hello Brandt team, the top deck heats no more since Monday.", "Thank you for your message."),
}  # fmt: skip


@pytest.mark.parametrize("who", CHATS)
def test_a_title_is_no_salutation(tmp_path: Path, clock: Clock, who: str) -> None:
    text, answer = CHATS[who]
    with Memory.open(tmp_path / "m.db", embedder="none", clock=clock) as memory:
        nadia = memory.user("nadia")
        nadia.add({"role": "user", "name": "Nadia", "content": text}, channel="chat")
        nadia.add({"role": "user", "name": who, "content": answer}, channel="chat")
        clock.forward(hours=2)
        nadia.flush()
        (card,) = nadia.episodes.list()
    for greeting in ("Dear", "Mr ", "Good afternoon", "Liebe", "Lund", "Hello", "Brandt"):
        assert greeting not in card.title
    assert len(card.title.split()) > 3
