"""What the user's next turns say about a linking decision: right, wrong, or nothing (seed 002, 2.4).

Explicit words count 1, behaviour .5; silence and a bare "ok" label nothing.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final

from episodic_agent.core.linking.evidence import score
from episodic_agent.core.linking.features import Features, ThreadFeatures
from episodic_agent.core.linking.lexicon import cues
from episodic_agent.core.linking.policies import DEFAULT, link_policy
from episodic_agent.core.text import words

CORRECT: Final = "CORRECT"
INCORRECT: Final = "INCORRECT"
EXPLICIT, BEHAVIOUR = 1.0, 0.5
MOST_TURNS: Final = 2
WINDOW: Final = timedelta(minutes=10)
GOES_ON: Final = 0.5  # probability that a turn belongs with what went before it
SWITCHES: Final = 0.35  # between the two nobody can tell

DENIAL: Final = """
not what i meant|not what i mean|not what i asked|not what i was asking|not what i said|not what i wanted
isn t what i|is not what i|wasn t what i|i didn t mean|i did not mean|i don t mean|i didn t ask
i wasn t talking|i m not talking|i was not talking|i meant something else|i mean something else
i was asking about something else|why are you bringing|why do you bring|why bring up|why are you talking
why do you mention|why mention|what does that have to do|what has that to do|nothing to do with|don t mix
do not mix|stop mixing|mixing up|mixing things up|confusing this|confusing it|you re confusing
you are confusing|you confuse|forget about the|forget that one|new topic|this is a new|that s a new
it s a new|this is a different|that s a different|something else entirely|something completely different
not related|isn t about|is not about|wrong topic|wrong person|wrong conversation|i m talking about
i was talking about|i am talking about|which has nothing|nicht was ich|nicht das was ich
das meinte ich nicht|meinte ich nicht|nicht gemeint|meine ich nicht|darum geht es nicht
darum ging es nicht|hat damit nichts|nichts damit zu tun|nichts zu tun|was hat das mit|wieso redest du
warum redest du|wie kommst du auf|nicht vermischen|verwechselst|neues thema|anderes thema|no es lo que
no era lo que|no me referia|no me refiero|no es eso|no hablo de|no hablaba|no pregunte|no te pregunte
no tiene nada que ver|nada que ver|que tiene que ver|por que hablas|por que mencionas|no mezcles
me refiero a otra|otro tema|es un tema nuevo|te confundes|ce n est pas ce que|c est pas ce que
pas ce que je|je ne parle pas|je parle pas|je ne parlais pas|rien a voir|quel rapport|pourquoi tu parles
pourquoi parles tu|pourquoi vous parlez|ne melange|melange pas|autre sujet|nouveau sujet|je voulais dire
tu confonds|vous confondez|non intendevo|non e quello che|non c entra|che c entra|nao foi isso|nao e isso
nada a ver|я не это|не это имел|не об этом|при чем тут|not asking about the|nothing to do with that
"""
# Only where a sentence begins: elsewhere they are ordinary words.
DENIAL_OPENING: Final = """
not that|no not|not the|not this one|i wanted|i asked about|i asked for|i was asking about|i meant
no i mean|no i meant|nicht das|nicht die|nicht der|nicht den|nein nicht|ich wollte|ich meinte
ich hatte nach|ich habe nach|ich rede von|no esa|no ese|no eso|yo queria|quise decir|preguntaba por
pregunte por|pas celui|pas celle|pas ca|je voulais|je demandais|je parlais|no quello|no quella|wrong one
wrong thing|falsche
"""
CONFIRMATION: Final = """
that s the one|that is the one|that s it|that was it|that s what i meant|that is what i meant|exactly that
exactly that one|yes exactly|yes that one|yes that s|yes that is|right that s|right that one|yes the one
that s right|that s the thing|you remembered|good memory|glad you remember|well remembered|yes same
yes the same|exactly the one|spot on|yes i mean that|that one yes|genau das|genau die|genau der|ja genau
das meinte ich|den meinte ich|die meinte ich|das war s|stimmt genau|gut gemerkt|si ese|si esa|ese mismo
esa misma|justo eso|a eso me referia|c est bien ca|oui c est|oui celui|oui celle|c est celui la
c est celle la|proprio quello|e quello|isso mesmo|e esse|oui c est ca|si eso es|eso es lo que
ja das ist es
"""
REMINDER: Final = """
didn t we|did we not|haven t we|hadn t we|don t you remember|do you not remember|you don t remember
you forgot|have you forgotten|did you forget|we talked|we ve talked|we discussed|we ve discussed
we went over|we had this|i told you|i just told|i just said|as i said|like i said|as i told|you suggested
you told|you said|you gave|you recommended|you noted|you saved|you should know|you know that|you know this
you know which|you already|you wrote|you named|you mentioned|the one we|the one you|from last|from before
last time|same as before|haben wir nicht|hatten wir nicht|hatten wir doch|haben wir doch|hab ich dir
habe ich dir|hatte ich dir|ich hab dir|hab ich doch|habe ich doch|hatte ich doch|hast du doch|hast du mir
du weisst doch|das weisst du|weisst du nicht|schon gesagt|schon erzahlt|schon besprochen|wie gesagt
letztes mal|no hablamos|no habiamos|ya lo hablamos|ya te lo|ya lo dije|te lo dije|te dije|te habia|te di
te acuerdas|no te acuerdas|no recuerdas|me dijiste|me recomendaste|como te dije|ya hablamos|on n avait pas
on a deja|nous avions|nous avons deja|n en avons|je te l ai|je te l avais|je t avais|je vous avais|tu m as
tu m avais|tu te souviens|tu ne te souviens|tu as oublie|deja dit|deja parle|la derniere fois|ne avevamo
te l avevo|ti avevo|te l ho|ja te disse|ja falamos|i already told|i already gave|i already said
i already sent|i already asked|i already mentioned|i ve already told|i ve already said|we already talked
we already discussed|we already had|we ve already|i gave you all|i gave you the|i sent you the
i said that already|i mentioned it|i mentioned that|i mentioned this|you should have it
you have it already|ya te dije|ya te habia|ya te di|je t ai deja|je t ai dit|je vous ai deja|on en a deja
on avait deja|on avait parle|hattest du doch|hattest du mir|du hattest mir|du hattest doch
hast du vergessen|мы же говорили|мы уже говорили|я уже говорил|я уже говорила
"""
_HAN: Final = {
    "denial": (
        "不是这个意思|不是那个意思|我不是问|我没问|我问的是|我说的不是|不是这个|不是那个|有什么关系|无关|新话题|"
        "另一件事|别的事|搞混|混在一起|弄错|そうじゃな|違います|그게 아니"
    ),
    "confirmation": (
        "就是这个|就是那个|对就是|对,就是|对，就是|没错就是|没错，就是|正是|是这个|是那个|そうそう|それです|맞아"
    ),
    "reminder": (
        "不是说过|说过了|聊过|说过|讲过|告诉过|跟你说|给过你|不记得|忘了吗|上次|你推荐|你说的|前に言|言ったよ|지난번"
    ),
}
_DOUBTS: Final = re.compile(
    r"^\W*(?:which|what|welche\w*|qu[eé]|cu[aá]l\w*|quel\w*)\s+\S+\s*\?\?|^\W*(?:huh|hä|eh)\W*\?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class UserTurn:
    """A user's turn after a decision; `features` are what the evidence reads of it."""

    at: datetime
    text: str
    features: Features


@dataclass(frozen=True, slots=True)
class Outcome:
    """CORRECT, INCORRECT or None for nothing learnt; how strongly (1 words, .5 behaviour); and why."""

    label: str | None
    strength: float
    why: str


NOTHING: Final = Outcome(None, 0.0, "nothing was said about it")


def outcome_of(
    turns: Sequence[UserTurn],
    context: ThreadFeatures,
    *,
    linked: bool,
    decided_at: datetime,
) -> Outcome:
    """Return what the user's turns after a decision say about it.

    Only the first two turns within ten minutes of `decided_at` count. `context` is what the turns would go
    on with: the linked thread (where one was) with the message and the reply.

    >>> from episodic_agent.core.linking.features import features_of, thread_of
    >>> from datetime import UTC
    >>> at = datetime(2026, 3, 2, 18, tzinfo=UTC)
    >>> said = "That's not what I meant"
    >>> turn = UserTurn(at + timedelta(minutes=1), said, features_of(said))
    >>> outcome_of([turn], thread_of("a", [(at, features_of("rain"))]), linked=True, decided_at=at).label
    'INCORRECT'
    """
    heard = [turn for turn in turns[:MOST_TURNS] if timedelta(0) <= turn.at - decided_at <= WINDOW]
    for turn in heard:  # words, wherever they stand, weigh more than what the first turn is about
        said = _in_words(turn.text, linked=linked)
        if said is not None:
            return said
    telling = [turn for turn in heard if not cues(turn.text).nothing]
    return _in_behaviour(telling[0], context, linked=linked) if telling else NOTHING


def _in_words(text: str, *, linked: bool) -> Outcome | None:
    if not linked:
        if _says("reminder", REMINDER, text) or cues(text).recall:
            return Outcome(INCORRECT, EXPLICIT, "the user says that it was talked about before")
        return None
    if denies(text):
        return Outcome(INCORRECT, EXPLICIT, "the user says that something else was meant")
    if _says("confirmation", CONFIRMATION, text):
        return Outcome(CORRECT, EXPLICIT, "the user confirms what was recalled")
    return None


def denies(text: str) -> bool:
    """Say whether a user objects to what was recalled: something else was meant.

    >>> denies("No, that's not what I meant"), denies("That's the one, thanks")
    (True, False)
    """
    return _says("denial", DENIAL, text) or _opens(text) or bool(_DOUBTS.search(text))


def _in_behaviour(turn: UserTurn, context: ThreadFeatures, *, linked: bool) -> Outcome:
    if not linked:
        return Outcome(CORRECT, BEHAVIOUR, "the user goes on without missing anything")
    chance = score(turn.features, context, turn.at, link_policy(DEFAULT)).score
    if chance >= GOES_ON:
        return Outcome(CORRECT, BEHAVIOUR, "the user goes on with it")
    if chance <= SWITCHES or cues(turn.text).new_subject:
        return Outcome(INCORRECT, BEHAVIOUR, "the user turns to something else")
    return NOTHING


def _says(name: str, source: str, text: str) -> bool:
    line = f" {' '.join(words(text))} "
    return bool(_pattern(source).search(line)) or bool(re.search(_HAN[name], text))


def _opens(text: str) -> bool:
    """Say whether a sentence of the text, or a part after a comma, opens with a denial."""
    parts = re.split(r"[.,;:!?…。，！？]+", text)
    return any(_pattern(DENIAL_OPENING).match(f" {' '.join(words(part))} ") for part in parts)


@lru_cache(maxsize=4)
def _pattern(source: str) -> re.Pattern[str]:
    phrases = {phrase.strip() for phrase in source.replace("\n", "|").split("|") if phrase.strip()}
    longest = sorted(phrases, key=lambda phrase: (-len(phrase), phrase))
    return re.compile(f" (?:{'|'.join(map(re.escape, longest))})(?= )")
