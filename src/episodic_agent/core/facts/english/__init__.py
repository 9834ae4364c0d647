"""Rules that read facts from English sentences."""
