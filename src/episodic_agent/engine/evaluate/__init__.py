"""Score the engine on labelled data: boundaries of streams, and retrieval through the real path."""
