"""Words on a server: documents that came last as rows, all others packed into segments of blocks."""
