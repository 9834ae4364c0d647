"""The words of a closed episode without a language model: title, summary and metadata.

Everything is taken from what was said, nothing is invented: the title is the most telling clause; the summary
is two or three whole sentences (more while all are as short as talk is), each with who said it and with its
relative times dated: what the title is of, a short first request, the last word of the matter, then whichever
adds most of the episode's own words for its length. An episode of an agent's steps is titled by its place and
told by what happened, in order.

**Rules of the room.**
1. The same input gives the same words, on every machine: ties have an order.
2. A title is never empty. It is one contiguous piece of what somebody said, at most 70 characters, mostly of
   what a person began with; fragments are never joined. A summary is empty only where nothing was said.
3. Code, markdown and tool output are tamed before they are quoted; whatever was said, words come out.
4. "Last month" becomes "last month (July 2023)"; a time that was only assumed dates nothing.
5. Greetings, courtesies, tool output and what was pasted (logs, traces, data, quoted letters, notices, parts
   for an assistant) never make a title where anything else was said; a system prompt never does, and beside
   talk none of these stands in a summary.
6. Vectors are optional: without them words find the centre.

**To add** a language, give it a phrasebook and its words in `languages.py`, formulae in `notices.toml`. What
a model says instead is checked against the same episode (`core/prompts/episode.py`).
"""
