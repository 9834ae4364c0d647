"""Whose words go where a person is forgotten: everything one speaker said."""

import difflib
from collections.abc import Collection
from typing import Final

from episodic_agent.core.facts.speakers import OWNER, speaker_of
from episodic_agent.core.language import fold, words
from episodic_agent.engine.recall.filtering import MOST_SPEAKERS, actors_called
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.protocols import Transaction
from episodic_agent.schemas import Scope

NAMED: Final = 10  # of them an error names
_ALIKE: Final = 0.85  # as difflib counts: "Gretta" and "Greta"


def speaker_name(scope: Scope, speaker: str) -> str:
    """Return what a receipt's fingerprint is of: one name, however the speaker is written.

    >>> [speaker_name(Scope("lena"), name) for name in ("Tom", "user", "Lena")]
    ['tom', 'lena', 'lena']
    """
    name = fold(speaker.strip())
    return fold(scope.user_id) if speaker_of(name) == OWNER else name


def refs_of_speaker(tx: Transaction, speaker: str) -> list[int]:
    """Return the references of all that a speaker said.

    Whose memory it is goes by their own name, whatever a chat calls them ("user"). Case does not matter.
    Raises NotFound, with who did speak, where nobody of the name did, InvalidInput for an empty name.
    """
    if not speaker.strip():
        raise InvalidInput("`speaker` is empty; name who said what is to go")
    meant = actors_called(tx, speaker)
    if not meant:
        name, spoke = speaker_name(tx.scope, speaker), list(tx.observations.actors(limit=MOST_SPEAKERS))
        parts = {*words(name)}
        near = [one for one in spoke if parts and parts <= {*words(fold(one))}][:NAMED]
        near = near or difflib.get_close_matches(speaker, spoke, n=1)
        guess = f"did you mean {' or '.join(map(repr, near))}? Give the whole name; " if near else ""
        more = ", …" if len(spoke) > NAMED else ""
        known = ", ".join(map(repr, spoke[:NAMED])) or "nobody"
        raise NotFound(f"nothing that {speaker!r} said is in this memory; {guess}who spoke: {known}{more}")
    return list(tx.observations.having("actor", sorted(meant)))


def near_names(tx: Transaction, speaker: str, own: Collection[str]) -> dict[str, int]:
    """Return speakers who may be the same person by their name, with how often each spoke; not `own` names.

    One has the words of the other ("Greta", "Greta Lindqvist": renamed), or is written a little otherwise.
    """
    name = speaker_name(tx.scope, speaker)
    spoke = tx.observations.actors(limit=MOST_SPEAKERS)
    others = {
        actor: other
        for actor in spoke
        if (other := speaker_name(tx.scope, actor)) != name and actor not in own
    }
    alike = {*difflib.get_close_matches(name, [*others.values()], n=NAMED, cutoff=_ALIKE)}
    parts = {*words(name)}
    near = [
        actor
        for actor, other in others.items()
        if other in alike or (parts and (parts <= {*words(other)} or {*words(other)} <= parts))
    ]
    return {actor: spoke[actor] for actor in near[:NAMED]}
