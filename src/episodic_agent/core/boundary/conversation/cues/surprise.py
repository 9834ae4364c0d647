"""How badly the frame so far predicted a message: seed 003's scale, kept true for lines in context."""


def novelty(similarity: float | None, unseen: float) -> float:
    """Return how new a message is to the frame, in [0, 1], from its standardised similarity and its words.

    `similarity` is in standard deviations of the embedder's neighbours (None: no vectors, words alone).

    >>> novelty(0.0, 0.5), novelty(-2.0, 1.0), novelty(None, 0.25)
    (0.5, 0.93, 0.1625)
    """
    if similarity is None:
        return round(0.65 * unseen, 4)
    by_vector = min(1.0, max(0.0, 0.5 - 0.2 * similarity))
    return round(0.7 * by_vector + 0.3 * unseen if unseen != 0.5 else by_vector, 4)


def surprise(new: float, content: float, reaction: float, answered: float) -> float:
    """Return the surprise of a message, in [0, 1].

    `new` is its novelty, `content` the weight of its content (an acknowledgement has next to none),
    `reaction` 0, .7 (pivot) or 1 (revelation), `answered` the novelty of the last message with content:
    "I had no idea" measures what it answers, or what it goes on to tell.

    >>> surprise(0.9, 0.02, 0.0, 0.9) < 0.05
    True
    >>> surprise(0.5, 0.3, 0.7, 0.6), surprise(0.5, 0.3, 1.0, 0.9)
    (0.69, 0.975)
    """
    plain = new * content
    if reaction >= 1.0:
        return round(min(1.0, max(plain, 0.75 + 0.25 * max(answered, new))), 4)
    if reaction > 0.0:
        return round(min(0.85, max(plain, 0.6 + 0.15 * max(answered, new))), 4)
    return round(plain, 4)
