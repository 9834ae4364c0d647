r"""Characters that nobody sees but that do something: to a terminal, to the order of a text, to a prompt.

Whoever prints for people makes them visible as escapes, whoever writes JSON escapes them there (`showing`);
whoever shows text to a model takes them out (`INVISIBLE`, `LINE_BREAKS`).
"""

import re
from typing import Final

LINE_BREAKS: Final = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
"""Everything that some reader takes for the end of a line, but the line end itself."""

# Controls but tab and line end; invisible, filling and reordering characters, but the joiners that scripts
# need and the selectors of emoji; tags and other selectors, in which whole texts have been smuggled.
INVISIBLE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]+"
)
