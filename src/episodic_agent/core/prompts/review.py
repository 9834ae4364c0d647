"""The question of seed 003's review: how did each recalled episode serve in what was said after it?"""

from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

from episodic_agent.core.prompts import REVIEW
from episodic_agent.core.prompts.lenient import STRING, closed, one_of
from episodic_agent.core.prompts.quoting import DATA, Aliases, named
from episodic_agent.core.review import FollowingTurn, Shown
from episodic_agent.errors import BadReply
from episodic_agent.schemas import Json
from episodic_agent.schemas.strength import Rating

VERSION: Final = "review-3"
STAGE: Final = REVIEW
RATINGS: Final[Mapping[str, Rating]] = {
    "again": Rating.AGAIN,
    "hard": Rating.HARD,
    "good": Rating.GOOD,
    "easy": Rating.EASY,
}
_LONGEST_EPISODE: Final = 1200  # characters
_LONGEST_TURN: Final = 800
_REVIEW = closed({"episode": STRING, "rating": one_of(RATINGS)})
SCHEMA = closed({"reviews": {"type": "array", "items": _REVIEW}})
_INSTRUCTIONS = f"""\
Memories were recalled for a question, and a conversation went on. Rate how each memory served in it:
again - not used, noise for this question; hard - used at the edge only; good - directly relevant and used;
easy - the answer could not have been given without it. Rate each once, by its alias; leave out a memory of
which the conversation tells nothing.
{DATA}"""


def prompt(query: str, shown: Sequence[Shown], turns: Sequence[FollowingTurn]) -> tuple[str, Aliases[UUID]]:
    """Return the prompt and the aliases its answer must use."""
    aliases: Aliases[UUID] = Aliases([one.episode_id for one in shown])
    lines = [_INSTRUCTIONS, f"Question: {named(query, _LONGEST_TURN)}", "Memories:"]
    lines += [f"{aliases.of(one.episode_id)}: {named(one.text, _LONGEST_EPISODE)}" for one in shown]
    lines.append("What was said after:")
    lines += [f"{named(turn.actor)}: {named(turn.text, _LONGEST_TURN)}" for turn in turns]
    return "\n".join(lines), aliases


def read_ratings(value: Mapping[str, Json], aliases: Aliases[UUID]) -> dict[UUID, Rating]:
    """Return a reply's ratings, those that can be read; raises BadReply where none of them can.

    A word that is none of the ratings, an alias nobody gave and a second rating of a memory are left out.
    """
    answers = value.get("reviews")
    if not isinstance(answers, list):
        raise BadReply(f"reviews must be a list, not {answers!r}")
    ratings: dict[UUID, Rating] = {}
    problem: BadReply | None = None
    for answer in answers:
        try:
            episode, rating = _read(answer, aliases)
        except BadReply as error:
            problem = problem or error
        else:
            ratings.setdefault(episode, rating)
    if problem is not None and not ratings:
        raise problem
    return ratings


def _read(answer: Json, aliases: Aliases[UUID]) -> tuple[UUID, Rating]:
    if not isinstance(answer, Mapping):
        raise BadReply(f"each review must be an object, not {answer!r}")
    episode, word = aliases.read(answer.get("episode")), answer.get("rating")
    if not isinstance(word, str) or word not in RATINGS:
        raise BadReply(f"rating must be one of {', '.join(RATINGS)}, not {word!r}")
    return episode, RATINGS[word]
