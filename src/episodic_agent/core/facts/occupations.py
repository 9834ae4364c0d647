"""Which noun phrases name work: by the lists, by their ending, or by their short form."""

import re
from typing import Final

from episodic_agent.core.entities.lists import word_set
from episodic_agent.core.facts.english_life import occupation
from episodic_agent.core.facts.grammar import bare, head

_NOT_WORK: Final = word_set(
    """
    believer loser winner beginner member lover hater stranger owner user reader starter number sucker
    customer newcomer foodie supporter follower hoarder drinker smoker sleeper thinker sinner mother
    father sister brother twin daughter eater walker keeper monster killer disaster bother matter learner
    prisoner helper volunteer visitor prior minor major senior junior moderator contributor survivor
    creator doer fighter outsider insider newbie witness favor colour humor mirror error factor terror
    computer paper letter character layer offer player gamer speaker listener participant master
    tumor rumor candidate flower tiger spider power tower corner border order shoulder feminist optimist
    pessimist perfectionist realist minimalist vegetarian librarian-not comedian-not person human lefty
    """
)
_SUFFIX: Final = re.compile(
    r"\w{3,}(?:ologist|ographer|grapher|smith|wright|monger|keeper|maker|therapist|hygienist|anist|ician|onomist|iatrist|optist|ologer|wife)$"
)
_SHORT_WORK: Final = word_set(
    """
    hygienist estimator inspector assessor adjuster planner underwriter paramedic stylist florist
    decorator handler steward stewardess sailor baker trader farmhand carer roadie busker bricklayer
    fitter machinist driller rigger welder demonstrator invigilator warden usher cabbie trucker
    freelancer copyeditor columnist cartoonist animator sculptor ceramicist bouncer barback
    dishwasher caterer bellhop concierge landlord vicar imam deacon chaplain cantor magistrate
    bailiff constable sergeant corporal commander colonel councillor mayor lobbyist organizer
    fundraiser stagehand gaffer gp pa ta hgv-driver rn lpn ea sre dba cto ceo qa dj mc mp md
    phd-student postdoc undergrad grad-student
    """
)


def work_of(said: str) -> str:
    """Return the work a noun phrase names, by list, by ending or by its short form; "" where it names none.

    >>> work_of("a dental hygienist in Leeds"), work_of("a GP"), work_of("a reader")
    ('dental hygienist', 'GP', '')
    """
    known = occupation(said)
    if known:
        return known
    value = bare(re.split(r"\s+(?:at|with|for|by|on|who|from|near|in)\b", said, maxsplit=1)[0])
    last = head(value)
    last_two = "-".join(value.casefold().split()[-2:])
    if len(value.split()) > 5 or last in _NOT_WORK:
        return ""
    return value if _SUFFIX.match(last) or last in _SHORT_WORK or last_two in _SHORT_WORK else ""
