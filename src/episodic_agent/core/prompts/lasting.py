"""What a fact is: what every question for facts says of it, of each that is told, and of what is none.

A fact is settled, lasting, and told for its own sake. It says before its sentence for how long it is of use,
and one of days is none.
"""

from datetime import timedelta
from typing import Final

DAYS: Final = "days"
LASTS: Final = (DAYS, "weeks", "years")  # for how long a fact is of use; one of days is none
A_WEEK: Final = timedelta(days=7)

WORTH: Final = """\
Such are: who somebody is to whom; what they can, own, like, must not eat or do; how projects, machines and
homes are named, set up or decided; prices, terms, deadlines and regular times; what is booked, ordered or
firmly planned; standing wishes to the assistant. One fact is one sentence that is clear by itself, with names
instead of pronouns.
"""
EACH: Final = """\
message and quote: the alias of a message, and words of it that prove the fact, copied letter by letter.
lasts: "days", "weeks" or "years": how long from now it will be of use.
action: "new"; "reinforce" a known fact said again; "update" one whose value changed; "invalidate" one that no
longer holds. known: its alias, null for a new one; at most one action each.
subject: whom or what it is about, by name; {subject} for the owner of the memory, whatever they are called.
value: the part of the sentence that could change. holds: false for what is said not to be so.
since: the day from which it is so; on: the day of an event or appointment; YYYY-MM-DD, null where not told.
"""
NONE: Final = """\
A fact is settled, and will be asked for when this talk is long over. \
No facts are: what is over within a week,
appointments and errands of these days too; what somebody asks about, looks for, fancies or thinks over, until
it is decided; how a thing stands today, what is eaten or worn once, a whim or a mood; details that serve only
the matter in hand, and what goes without saying; who is only mentioned in passing, hearsay about strangers;
hypotheticals, jokes, what is said with a laugh, play; what only an assistant says. In doubt it is none. An
empty list is a good answer.
"""
