"""The local embedder: all-MiniLM-L6-v2 on ONNX Runtime, without torch and without a network once pulled.

`weights` obtains the model once and checks it by hash, `hub` is its door to Hugging Face's, `graph` builds
one ONNX graph from its safetensors (`protobuf` writes the few messages that takes), `runtime` is the only
importer of ONNX Runtime, `embedder` embeds.

**Rules of the room.**
1. The converted model has one hash, which is in the source; whatever made the file, it is checked at loading.
2. float32: a vector must not depend on its neighbours in the batch, or replay would differ (I7).
3. ONNX Runtime is silenced before it is imported: it would report home otherwise.
4. Long texts come in windows (`core/language/windows.py`); what is longer than the model reads is cut. Blank
   text is a zero row, and so is text whose every token is unknown.
5. Texts are sorted by length into small batches on a few threads; the order of answers is that of the texts.

**To add** another local model, write its graph and its hash beside these, and give it a name of its own:
vectors of two models are never compared.
"""

from typing import TYPE_CHECKING

from episodic_agent.lazily import names_from

if TYPE_CHECKING:
    from episodic_agent.providers.embedders.minilm.embedder import MiniLM
    from episodic_agent.providers.embedders.minilm.weights import (
        NAME,
        NAMES,
        is_present,
        is_sound,
        model_file,
        pull,
    )
else:
    __getattr__ = names_from(
        __name__,
        {
            "embedder": "MiniLM",
            "weights": "NAME NAMES is_present is_sound model_file pull",
        },
    )

__all__ = ["NAME", "NAMES", "MiniLM", "is_present", "is_sound", "model_file", "pull"]
