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
Such are: who somebody is to whom; what they can, own, like, must not eat or do; how projects, machines, homes
are named, set up, decided; prices, terms, deadlines, regular times; what is booked, ordered, firmly planned;
standing wishes to the assistant. One sentence each, clear by itself, names instead of pronouns.
"""
EACH: Final = """\
message, quote: a message, and words of it that prove the fact, letter by letter.
lasts: how long from now it will be of use.
action: "new"; "reinforce" a known fact said again; "update" one whose value changed; "invalidate" one that no
longer holds. known: its alias, else null; one action each.
subject: whom or what it is about, by name; {subject} for the owner, whatever they are called.
value: the part that could change. holds: false for what is said not to be so.
since: the day from which it is so; on: the day of an event; YYYY-MM-DD, or null.
"""
NONE: Final = """\
A fact is settled, and will be asked for when this talk is long over. None is: what is over within a week,
errands and appointments too; what is asked about, looked for, fancied, thought over, until decided; how
things stand today, what is eaten or worn once, a whim; details that serve only the matter in hand, what goes
without saying; who is mentioned in passing, hearsay about strangers; hypotheticals, jokes, play, what is said
with a laugh; what only an assistant says. In doubt it is none. An empty list is a good answer.
"""
