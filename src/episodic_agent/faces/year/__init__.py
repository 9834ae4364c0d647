"""A year of an invented person's conversations, told to two memories: one that reviews, one that does not."""
