"""The kinds of later work: what is stored as a job's kind, by which it is asked for and handled.

They stand apart so that asking for work does not load what does it (`engine/works.py` has the handlers). Some
are also the type of the decision that the work writes.
"""

from typing import Final

ASK: Final = "ask"  # whether a model sees a new topic
CHAIN: Final = "chain"  # which session goes on from which; a decision's type, too
COMPACT: Final = "compact"  # words of a section
EMBED: Final = "embed"  # vectors that nobody waited for
ENCODE: Final = "encode"  # words and vector of an episode
FACTS: Final = "facts"  # what lasts of what was said; a decision's type, too
LINK: Final = "link"  # which threads belong together; a decision's type, too
LINK_END: Final = "link_end"  # the links of a thread that is over, judged again
MINE: Final = "skills"
OUTCOME: Final = "outcome"  # what came of a link or a chain; where its decision's detail keeps that, too
PIECES: Final = "pieces"  # vectors of the pieces of a long message
QUOTE: Final = "quote"  # what messages state, in their own words, as they come
REEMBED: Final = "reembed"  # vectors of another embedder than those there are
REVIEW: Final = "review"  # how what was recalled served; a decision's type, too
RUN: Final = "run"  # the note of an agent's run under way
TUNE: Final = "tune"  # learning from outcomes; a decision's type, too

TUNED: Final = (LINK, CHAIN)  # the decisions that outcomes teach
# what callers are promised; questions to models may take long
AWAITED: Final = (EMBED, PIECES, ENCODE, QUOTE, FACTS, MINE)
SINGLY: Final = (ASK, EMBED, PIECES, QUOTE, FACTS, LINK, MINE, REEMBED, REVIEW)  # may wait long for others
