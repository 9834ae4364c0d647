"""Cues of a boundary in a conversation: each a small pure function of words, vectors or times."""
