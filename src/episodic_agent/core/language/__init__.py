"""Text as the engine reads it: repair at the door, scripts, search terms, sentences, windows, times in words.

**Rules of the room.**
1. Repair first: NUL and lone surrogates become U+FFFD. Everything behind the door may rely on it.
2. One function makes terms of what is stored and of what is asked (`terms.py`): folded stems, parts of
   compounds and identifiers, plain numbers, bigrams of Chinese, Japanese, Korean and Thai.
3. No term crosses a space, so the cost of a text is linear, and what is known of a distinct word is looked up
   once.
4. The script decides how a text is cut; a declared language decides stems and stop words of its own script
   alone.
5. No clock: what "last week" is depends on the moment given (`timewords.py`; parts of a day are in
   `dayparts.py`, days to come in `coming.py`); a query is read in a tenth of a millisecond, in two where it
   names such a part.
6. Signs nobody sees are shown to people as escapes, written into JSON as escapes, and taken out for models
   (`terms.py`).

**To add** a language, give it stop words, a stemmer and its words of time; the tests ask that forms of a word
meet and that other scripts are left alone. What a text names is read in `mentions/`.
"""

from episodic_agent.core.language.counts import plural
from episodic_agent.core.language.sentences import excerpt, pieces, sentences
from episodic_agent.core.language.terms import (
    INVISIBLE,
    LINE_BREAKS,
    TOKENS_VERSION,
    fold,
    repair,
    script,
    term_counts,
    tokens,
    words,
)
from episodic_agent.showing import escaped, visible

__all__ = [
    "INVISIBLE",
    "LINE_BREAKS",
    "TOKENS_VERSION",
    "escaped",
    "excerpt",
    "fold",
    "pieces",
    "plural",
    "repair",
    "script",
    "sentences",
    "term_counts",
    "tokens",
    "visible",
    "words",
]
