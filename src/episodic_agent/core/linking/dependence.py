"""How much a message needs something said before it, read from its closed-class words alone.

A follow-up points ("it", "the cheaper one", "the second"), goes on ("still", "again", "else") or reports what
came of advice ("did that, works now"); a fresh request introduces what it is about ("is there a …", "how do I
…"). English mostly; German, Spanish, French and Chinese by their commonest forms.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from episodic_agent.core.text import words

POINTING: Final = """
it|its|they|them|their|he|him|his|she|her|hers|this|that|these|those|er|ihn|ihm|sie|ihr|ihre|es|das|dies
davon|damit|dazu|dafur|daran|darin|ello|eso|esto|ella|ellos|ellas|le|lo|il|elle|ils|elles|ca|cela|lui|en
"""
# What looks like pointing and is not: weather, clauses, relative clauses, "instead of" something named.
IDLE: Final = """
instead of|is it safe|is it true|is it possible|is it normal|is it ok|is it okay|is it worth|is it better
is it bad|is it legal|is it healthy|is it going to|is it raining|does it take|does it cost|it s raining
it is raining|it rains|will it rain|will it snow|that s free|that is free|what time is it|that i|that you
that he|that she|that they|that we|that is|so that|that has|that have|that can|i think that|believe that
know that
"""
CHOOSING: Final = """
the one|the ones|that one|this one|those ones|these ones|other one|second one|first one|last one
cheaper one|cheapest one|quiet one|bigger one|smaller one|better one|big one|small one|new one|old one
own one|own that one|the first|the second|the third|the former|the latter|the other|the others|the rest
the two|the three|both|either|neither|instead|which one|which of|any of|none of|all of them|each of
of them|of those|of these|one of the|one more like|more like that|a different one|another one|not that
more of|the same|the cheaper|the cheapest|den ersten|den zweiten|die erste|die zweite|das erste|das zweite
der zweite|der erste|den anderen|die andere|beide|beiden|den gleichen|stattdessen|el primero|el segundo
la primera|la segunda|el otro|la otra|los dos|las dos|ambos|ambas|uno mas|el mismo|le premier|le deuxieme
le second|la premiere|la deuxieme|l autre|celui|celle|ceux|les deux|un autre|pareil|il secondo|il primo
entrambi|o segundo|o primeiro|os dois
"""
GOING_ON: Final = """
still|again|anymore|any more|already|yet|now|finally|what else|anything else|too|as well|so far|further
even|then|since then|after all|as you|like you|noch|wieder|immer noch|jetzt|auch|schon|endlich|doch|sigue
ahora|todavia|aun|ya|tambien|otra vez|encore|toujours|maintenant|aussi|enfin|deja|alors
"""
FRESH: Final = """
is there a|is there an|are there any|is there any|how do i|how do you|how can i|how to|how does one
how much is a|how much does a|how long does a|how many|how long are|what is a|what s a|what is the
what s the|what are the|who is|who was|who won|who wrote|who painted|where can i|where do i|where is
which is the|what s a good|what is a good|recommend a|recommend me|can you recommend|find me|find a
book me|book a|i need a|i need an|i need to|i want to|i d like|i would like|i m looking for|looking for a
tell me a|tell me something|write a|write me|draft a|draft an|make me|set a|set an|add a|remind me
please remind|convert|translate|how far is|how old is|how tall is|do i have to|do you know|can you tell me
could you tell me|what does|what do|what time|when does|when is|when do|does the|is the|are the|my new
help me|give me a|show me|at what age|i ve been thinking|wie lange|wie viel|wie teuer|welche|welcher
welches|wo kann ich|wo finde|wie kann ich|was kostet|ich brauche|gibt es|cuanto cuesta|donde puedo|como se
como puedo|necesito|quiero|busco|cual es|hay|combien coute|ou puis je|comment|je cherche|j ai besoin
peux tu|quel est|quelle est|je voudrais
"""
REPORT: Final = """
worked|works|helped|helps|tried|did|done|didn t|did not|went|took|got|came|bought|booked|used|changed
moved|made|told|said|says|asked|answered|told me|he said|she said|they said|it says|it said|turns out|i ve
i have|no luck|fixed|failed|passed|listened|watched|read it|finished|gone|stopped|broke|results|update
like you said|as you said|your advice|your tip|your idea|you were right|worked out|hat geklappt|geklappt
funktioniert|gemacht|probiert|war|hat|habe|he hecho|funciono|funciona|probe|hice|ha|fait|marche|essaye
a marche|j ai
"""
DEFINITE: Final = """
the|der|die|das|den|dem|el|la|los|las|le|les|l
"""
INDEFINITE: Final = """
a|an|any|some|ein|eine|einen|einem|einer|un|una|unos|unas|une|des
"""
PERSONAL: Final = "my|our|mein|meine|meinen|meiner|mi|mis|mon|ma|mes|notre"
ADVICE: Final = """
you gave|you told|you suggested|you said|you named|you mentioned|you recommended|you found|you explained
you sent|you showed|you listed|you wrote|did you|didn t you|did we|didn t we|we once|you once|of yours
du gesagt|du mir|hattest du|hast du|me dijiste|me diste|tu m as|tu m avais|you call it|you called
"""
_HAN: Final = {
    "pointing": "它|他|她|这|那|这个|那个|你说|照你",
    "going_on": "还|再|又|了吗|还是|仍然|现在|也|已经",
    "report": "了，|过了|完了|好了|试了|做了|用了|看完|洗过",
    "fresh": "帮我|请|怎么|哪里|推荐|我想|我要|可以.*吗|多少钱",
}
_IDEOGRAPHS: Final = re.compile("[\u3400-\u9fff]")
_FEW: Final = 5  # words; shorter messages seldom introduce a subject


@dataclass(frozen=True, slots=True)
class Dependence:
    """What stands in a message that points back, or that begins anew; each a share in [0, 1]."""

    pointing: float = 0.0
    choosing: float = 0.0
    going_on: float = 0.0
    fresh: float = 0.0
    report: float = 0.0
    definite: float = 0.0
    indefinite: float = 0.0
    personal: float = 0.0
    advice: float = 0.0
    fragment: float = 0.0
    asks: float = 0.0


def dependence(text: str) -> Dependence:
    """Read how much a message depends on an earlier one.

    >>> dependence("Is it cheaper than the other one?").pointing, dependence("How do I boil an egg?").fresh
    (1.0, 1.0)
    """
    spoken = words(text)
    line = f" {' '.join(spoken)} "
    found = {
        "pointing": _any(POINTING, _pattern(IDLE).sub(" ", line)),
        "choosing": _any(CHOOSING, _pattern(IDLE).sub(" ", line)),
        "going_on": _any(GOING_ON, line),
        "fresh": _any(FRESH, line),
        "report": _any(REPORT, line),
        "definite": _any(DEFINITE, line),
        "indefinite": _any(INDEFINITE, line),
        "personal": _any(PERSONAL, line),
        "advice": _any(ADVICE, line),
    }
    if _IDEOGRAPHS.search(text):
        found |= {name: float(bool(re.search(source, text))) for name, source in _HAN.items()}
    else:
        found["fragment"] = max(0.0, 1.0 - max(len(spoken) - 1, 0) / _FEW)
    return Dependence(**found, asks=float(bool(re.search("[?？]", text))))


def _any(source: str, line: str) -> float:
    """Return 1 where any phrase of the list stands."""
    return float(bool(_pattern(source).search(line)))


@lru_cache(maxsize=16)
def _pattern(source: str) -> re.Pattern[str]:
    phrases = {phrase.strip() for phrase in source.replace("\n", "|").split("|") if phrase.strip()}
    longest = sorted(phrases, key=lambda phrase: (-len(phrase), phrase))
    return re.compile(f" (?:{'|'.join(map(re.escape, longest))})(?= )")
