"""Language models behind the `LanguageModel` protocol: any OpenAI-compatible server, and one for each stage.

**Rules of the room.**
1. A prompt and a schema go in, a value and its cost come out; what cannot be read raises `BadReply`.
2. Which forms of answer a server understands (schema, JSON object, text) is found out by asking, once.
3. An answer has an end: a timeout for the whole of it, few calls at a time, a rest after failures. A refused
   key is not asked with again for an hour.
4. Keys are never shown; what a server says is cut, cleaned and quoted.
5. Tokens are those the server reports, else estimated rather too high.

**To add** one, implement `LanguageModel` and give it a name in `wiring`; every stage can then be given to it.
`episodic_agent.testing` has a server that behaves as badly as real ones do.
"""
