"""The default policy for conversations, and the cues it reads."""
