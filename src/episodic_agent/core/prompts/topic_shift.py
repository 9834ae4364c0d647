"""The question of the topic channel: did the conversation move on with one of its messages?

Seed 001 asks about the newest message. The default policy asks about an earlier one, with the few that came
after it in view, and where it is in doubt only.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from episodic_agent.core.boundary.contract import Verdict
from episodic_agent.core.prompts import TOPIC_SHIFT
from episodic_agent.core.prompts.lenient import BOOLEAN, SHARE, STRING_OR_NULL, closed
from episodic_agent.core.prompts.quoting import DATA, Aliases, lines_of, named
from episodic_agent.errors import BadReply
from episodic_agent.schemas import Json, Observation

VERSION = "topic-shift-6"
STAGE: Final = TOPIC_SHIFT
LONGEST_MESSAGE = 2_000  # characters
LONGEST_CONVERSATION = 24_000  # characters: about 6,000 tokens of English
LEAST_OF_MESSAGE = 200  # characters of each message that are shown, however many there are
SIGNALS = ("topic_shift", "intent_shift", "temporal_marker")

_SIGNALS = closed(dict.fromkeys(SIGNALS, SHARE))
SCHEMA = closed(
    {
        "is_boundary": BOOLEAN,
        "confidence": SHARE,
        "signals": _SIGNALS,
        "updated_event_model": STRING_OR_NULL,
    }
)
# Looking back, the reasons stand before the verdict, and nothing is asked for that nobody would use.
LOOKING_BACK = closed({"signals": _SIGNALS, "is_boundary": BOOLEAN, "confidence": SHARE})

_INSTRUCTIONS = """\
You watch a conversation and decide whether its newest message begins a new event.
Weigh three things: topic_shift (the subject changed), intent_shift (a speaker's goal changed, for example
from discussing to deciding) and temporal_marker (words like "by the way", "anyway", "later that day").
If it does not begin a new event, describe in one or two sentences what is happening now as
updated_event_model, in the language of the conversation; otherwise give null.
{data}"""

_LOOKING_BACK = """\
You watch a conversation and decide whether one message in it begins a new event.
Weigh three things: topic_shift (the subject changed), intent_shift (a speaker's goal changed, for example
from discussing to deciding) and temporal_marker (words like "by the way", "anyway", "later that day").
The messages after the one in question show whether the subject stayed changed: a short remark on something
else, an answer, thanks or an aside begin nothing.
{data}"""


def prompt(event_model: str, observations: Sequence[Observation], gap: int | None = None) -> str:
    """Return the prompt for a frame whose last observation is the one in question, or the one at seq `gap`.

    Messages stand under aliases m1, m2, …, a line each. A long conversation is shortened message by message,
    so that it fits the smallest models' windows.
    """
    share = max(LEAST_OF_MESSAGE, LONGEST_CONVERSATION // max(len(observations), 1))
    names = Aliases([o.id for o in observations], "m")
    so_far = named(event_model, LONGEST_MESSAGE) if event_model.strip() else "nothing is known yet"
    instructions = _INSTRUCTIONS if gap is None else _LOOKING_BACK
    asked = next((o for o in observations if o.seq == gap), observations[-1])
    return "\n".join(
        [
            instructions.format(data=DATA),
            "What was happening so far:",
            so_far,
            "The conversation:",
            *lines_of(observations, min(LONGEST_MESSAGE, share)),
            f"Does {names.of(asked.id)} begin a new event?",
        ]
    )


def read_verdict(value: Mapping[str, Json]) -> Verdict:
    """Return the verdict of a reply; raises BadReply naming what is wrong.

    Signals and an event model may be missing, and so may the confidence of a no.

    >>> read_verdict({"is_boundary": True, "confidence": 0.9, "signals": {}}).confidence
    0.9
    """
    boundary, confidence = value.get("is_boundary"), value.get("confidence")
    if not isinstance(boundary, bool):
        raise BadReply(f"is_boundary must be true or false, not {boundary!r}")
    if boundary is False and confidence is None:
        confidence = 0.0  # no boundary it is all the same
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        raise BadReply(f"confidence must be a number from 0 to 1, not {confidence!r}")
    signals = value.get("signals")
    model = value.get("updated_event_model")
    if model is not None and not isinstance(model, str):
        raise BadReply(f"updated_event_model must be a text or null, not {model!r}")
    numbers = signals if isinstance(signals, Mapping) else {}
    answers = {k: v for k, v in numbers.items() if k in SIGNALS and isinstance(v, int | float)}
    values = {k: float(v) for k, v in answers.items() if 0 <= v <= 1}  # NaN is not, nor what no float holds
    return Verdict(boundary, float(confidence), values, model.strip() or None if model else None)
