"""Embedders and language models behind the `Embedder` and `LanguageModel` ports, and where traces go.

`embedders` and `models` hold one of each a module, `openai_http` what both need of a server, `otel` a
collector of traces. The fakes that ship are in `episodic_agent.testing`.

**Rules of the ring.**
1. A provider's name travels with what it makes: every vector, every decision. Another model is another name
   (I9).
2. An embedder returns float32 rows of length 1, and a zero row for what it cannot read; the same text gives
   the same row, whatever stands beside it in the batch.
3. A model is asked with a prompt and a schema and returns what was read; what it costs is told with it.
4. Whatever a server does wrong becomes an error of ours in one line, which says whether trying again may
   help. Keys are never shown.
5. Calls have an end: each a timeout for the whole answer, each server a limit of calls under way and a rest
   after failures.
6. Nothing is sent before it is needed, and what needs an extra is imported only when it is named.

**To add** a provider, implement the protocol, give it a name in `wiring`, and let it pass `tests/providers`;
an embedder needs a calibration (`episodic calibrate`) before its cosines mean anything to policies.
"""
