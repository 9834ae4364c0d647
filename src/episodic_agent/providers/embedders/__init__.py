"""Embedders behind the `Embedder` protocol: texts into vectors, here or on a server.

`minilm` runs on this machine, `openai` asks any compatible server, `hashing` needs no model and knows no
meaning.

**Rules of the room.**
1. The name travels with every vector; vectors of two names are never compared (I9).
2. Rows are float32 of length 1, a zero row for what cannot be read; the same text gives the same row,
   whatever stands beside it in the batch.
3. Nothing is loaded or sent before the first text.
4. A failure is one line that says whether trying again may help; what was told meanwhile gets its vectors
   later.

**To add** one, implement `Embedder`, give it a name in `wiring`, and run `episodic calibrate` for it: until
its scale is known policies and confidence go by words.
"""
