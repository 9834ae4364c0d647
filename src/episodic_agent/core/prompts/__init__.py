"""What is said to a language model and what it must answer, as pure functions with versions.

Each caller is a *stage* (`topic_shift`, `episode`, `thread_link`, `facts`, `review`, `compact`, `skills`), by
whose name its model is chosen and its cost counted. A module holds one stage: its question, the schema of its
answer, and what of an answer can be used; `digest` asks what `episode` and `facts` ask in one reading.

**Rules of the room.**
1. Everything a person or a memory said is data: it stands as a JSON string on a line of its own, and the
   instructions say so (`quoting.py`).
2. Ids never go out: short aliases do, and come back mapped; one nobody gave is reported, not guessed.
3. Answers are read leniently, field by field (`lenient.py`); what a stage cannot do without it asks for once
   more, with what was wrong.
4. What a model says is checked against what was said: numbers, names, times and quotations (`grounding.py`).
5. The version names a prompt with its guidance, and is kept with the decision.
6. The same input gives the same prompt, to the byte.

**To add** a stage, write a module with a version, a prompt, a schema and a reader; give it a deterministic
fallback where it is asked (I8), and run the injections of `tests/builders` against it.
"""

from typing import Final

TOPIC_SHIFT: Final = "topic_shift"
EPISODE: Final = "episode"
THREAD_LINK: Final = "thread_link"
COMPACT: Final = "compact"
SKILLS: Final = "skills"
REVIEW: Final = "review"
FACTS: Final = "facts"
STAGES: Final = (TOPIC_SHIFT, EPISODE, THREAD_LINK, COMPACT, SKILLS, REVIEW, FACTS)


def question_of(by: str) -> str:
    """Return the question that words or a decision are from, whatever its version and the model.

    >>> question_of("openai:small digest-2"), question_of("digest-1"), question_of("extractive-3")
    ('digest', 'digest', 'extractive')
    """
    return by.rpartition(" ")[2].rpartition("-")[0]
