"""Embedders and language models behind the `Embedder` and `LanguageModel` ports."""
