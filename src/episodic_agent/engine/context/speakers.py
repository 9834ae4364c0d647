"""Under which name a line of a context is told: whose promise it is tells what it is worth."""

from collections.abc import Iterable, Sequence
from typing import Final

from episodic_agent.core.context.telling import TOOL
from episodic_agent.core.episodes.roles import AGENTS
from episodic_agent.core.facts.speakers import is_owner
from episodic_agent.core.threads.turns import is_reply
from episodic_agent.schemas import Kind, Observation, Scope

ASSISTANT: Final = "assistant"
AGENT: Final = "agent"
SEVERAL: Final = 2  # people, of whom each is named


def are_named(observations: Iterable[Observation]) -> bool:
    """Tell whether each line names who said it: several people write in what may be told.

    So it is where an agent with a name answers one, who could begin a line of their own with that name.
    """
    people = set()
    for observation in observations:
        if is_named_agent(observation):
            return True
        if not is_reply(observation):
            people.add(observation.actor)
    return len(people) >= SEVERAL


def told_by(observation: Observation, *, whose: Scope, here: Sequence[Observation], named: bool) -> str:
    """Return under which name a line of an earlier talk is told.

    It is "" for the memory's own user and for who writes `here`, unless all are `named`.
    """
    own = is_owner(observation, whose.user_id) or any(one.actor == observation.actor for one in here)
    return replier(observation) or (observation.actor if named or not own else "")


def replier(observation: Observation) -> str:
    """Return under which name a reply is told: "tool", "assistant" or the agent's own, "" for none."""
    if not is_reply(observation):
        return ""
    if observation.kind is Kind.STEP:
        return observation.actor or AGENT  # as every other list calls it
    if observation.kind is Kind.TOOL:
        return TOOL
    return observation.actor if is_named_agent(observation) else ASSISTANT


def is_named_agent(observation: Observation) -> bool:
    """Tell whether somebody speaks for the agent under a name of their own, as people at a desk do."""
    is_message = observation.kind is Kind.MESSAGE
    return is_message and is_reply(observation) and observation.actor.casefold() not in AGENTS
