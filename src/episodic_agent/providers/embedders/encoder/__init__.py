"""Sentence encoders of the BERT and XLM-R families, from a folder or the Hugging Face hub, without torch.

`reading` reads a published checkpoint and refuses what it cannot compute, `prompts` knows what stands before
queries and passages, `spelling` reads how settings name an encoder, `converting` writes it once as an ONNX
model into the cache folder, `embedder` embeds.

**Rules of the room.**
1. An encoder is known by what it computes: its name is a digest of weights, tokenizer, pooling and what
   stands before a passage, so a folder may move, and another revision never passes for the one before.
2. Nothing pickled is read: a pickle can run code.
3. What cannot be computed as sentence-transformers would compute it is refused by name when it is opened.
4. Rows have length 1, as all embedders' have, also where the published model leaves that to the caller.

**To add** an architecture, teach `minilm/graph.py` to write it and `reading` to recognise it, and let
`tools/make_encoders.py` make a small one to compare with.
"""
