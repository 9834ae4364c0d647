"""Phrases that tie a message to something earlier, cut it off, or say nothing of their own.

Forms are folded as `core.text.words` leaves them: lower case, without accents; an apostrophe splits a word
("that's" is "that s"). Chinese and Japanese have no spaces: their phrases are looked up as substrings. The
lists are closed classes on purpose: a missing phrase weakens the evidence, a content word would fake it.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from episodic_agent.core.boundary.cues import lexicon as turns
from episodic_agent.core.text import words

RECALL: Final = """
remember when|remember that|remember the|remember what|remember how|remember our|remember my|remember i
do you remember|you remember|if you remember|do you recall|you recall|as i recall|recall when|recall that
we talked|we ve talked|we have talked|we were talking|we spoke|we discussed|we ve discussed
we were discussing|we chatted|we mentioned|we looked at|we were looking at|we went over|we worked on
we started|we planned|we agreed|we decided|we left off|where we left|left off|i told you|i asked you
i asked about|i mentioned|i was asking|i was telling you|i said earlier|i said before|i brought up
i ve mentioned|you told me|you said|you mentioned|you recommended|you suggested|you gave me|you found
you helped me|you sent me|you showed me|you explained|like i said|as i said|as we said|as discussed
as mentioned|last time|earlier today|earlier on|you were saying|the other day|a while ago|a while back
some time ago|going back to|back to the|back to my|back to our|coming back to|returning to|following up on
follow up on|to follow up|circling back|picking up|pick up where|our conversation|our chat|our discussion
our last|from before|from earlier|from last week|from yesterday|last week|last month|yesterday|days ago
weeks ago|a week ago|months ago|last monday|last tuesday|last wednesday|last thursday|last friday
last saturday|last sunday|erinnerst du dich|weisst du noch|erinnern sie sich|wissen sie noch
wir haben uber|hatten wir uber|wir hatten uber|hatten wir doch|daruber gesprochen|gesprochen haben
gesprochen hatten|besprochen|hast du gesagt|hattest du|du hattest|du hast mir|du sagtest|du meintest
hatte ich dir|habe ich dir|ich hatte dir|ich hatte gefragt|hatte ich gefragt|ich hatte erwahnt
hatte ich erwahnt|letzte woche|letzten monat|letztes mal|das letzte mal|beim letzten mal|neulich
vor kurzem|vorhin|gestern|vorgestern|vor einer woche|vor zwei wochen|vor ein paar tagen|zuruck zu
zuruck zum|zuruck zur|nochmal zu|noch mal zu|noch einmal zu|wie besprochen|te acuerdas|se acuerda
recuerdas|recuerda cuando|recuerda que|acuerdas cuando|hablamos de|hablamos sobre|habiamos hablado
estuvimos hablando|hablabamos de|comentamos|te comente|te conte|te dije|te pregunte|te habia preguntado
me dijiste|me dijo|me recomendaste|mencionaste|mencione|la semana pasada|el mes pasado|la ultima vez
la otra vez|el otro dia|ayer|anteayer|hace una semana|hace unos dias|hace dias|hace un rato|volviendo a
volviendo al|retomando|como te dije|como dijimos|lo que hablamos|tu te souviens|te souviens tu
vous vous souvenez|vous souvenez vous|rappelle toi|tu te rappelles|on avait parle|on a parle
nous avons parle|nous avions parle|on parlait de|nous parlions|on discutait|on avait discute
je t avais parle|je t ai parle|je vous avais parle|je t avais demande|je t ai demande|je t avais dit
je t ai dit|tu m avais dit|tu m as dit|tu m avais conseille|tu m avais recommande|vous m aviez dit
la semaine derniere|le mois dernier|la derniere fois|l autre jour|l autre fois|hier|avant hier
il y a une semaine|il y a quelques jours|tout a l heure|pour revenir|revenons|je reviens sur|ti ricordi
si ricorda|avevamo parlato|abbiamo parlato|parlavamo di|mi avevi detto|mi hai detto|ti avevo
la settimana scorsa|l ultima volta|l altro giorno|ieri|tornando a|voce lembra|lembra quando|lembra que
falamos sobre|falamos de|a gente falou|voce disse|voce me disse|semana passada|a ultima vez|outro dia
ontem|voltando a|weet je nog|we hadden het over|vorige week|gisteren|de vorige keer|помнишь|помните
мы говорили|мы обсуждали|ты говорил|ты говорила|на прошлой неделе|в прошлый раз|вчера
"""

# Recall cues that may be plain content ("I was ill last week"): a date names a time, not a conversation.
DATED: Final = """
last week|last month|yesterday|days ago|weeks ago|a week ago|months ago|last monday|last tuesday
last wednesday|last thursday|last friday|last saturday|last sunday|from last week|from yesterday
a while ago|a while back|some time ago|the other day|letzte woche|letzten monat|neulich|vor kurzem|vorhin
gestern|vorgestern|vor einer woche|vor zwei wochen|vor ein paar tagen|la semana pasada|el mes pasado
el otro dia|ayer|anteayer|hace una semana|hace unos dias|hace dias|hace un rato|la semaine derniere
le mois dernier|l autre jour|hier|avant hier|il y a une semaine|il y a quelques jours|tout a l heure
la settimana scorsa|l altro giorno|ieri|semana passada|outro dia|ontem|vorige week|gisteren
на прошлой неделе|вчера|you said|you found|i mentioned|we started|we planned|we decided|we agreed|left off
recuerda que|remember the|remember that|from before|me dijo
"""

NEW_SUBJECT: Final = """
different topic|different question|different subject|different matter|different note|new topic
new question|new subject|another topic|another question|another subject|another matter|unrelated
on another note|on a side note|side note|changing the subject|change the subject|change of subject
change of topic|changing topics|switching topics|switch topics|switching gears|something else
something completely different|something different|totally different|completely different
nothing to do with|not related|by the way|btw|moving on|let s move on|off topic|random question
quick question|for something else|next topic|separate question|anderes thema|ein anderes thema|was anderes
etwas anderes|ganz was anderes|etwas ganz anderes|themenwechsel|neues thema|eine andere frage|andere frage
neue frage|ubrigens|nebenbei|hat nichts damit zu tun|apropos|otra cosa|otro tema|otra pregunta
cambiando de tema|cambio de tema|por cierto|nada que ver|tema distinto|nueva pregunta|algo distinto
algo diferente|pregunta distinta|autre chose|autre sujet|autre question|changeons de sujet|rien a voir
au fait|nouvelle question|nouveau sujet|un altra cosa|altra domanda|cambiando argomento|cambiamo argomento
tutt altro|outra coisa|outro assunto|outra pergunta|mudando de assunto|a proposito|iets anders
ander onderwerp|andere vraag|trouwens|другая тема|другой вопрос|кстати|о другом
"""

# Openers that need something before them; they count only at a message's beginning.
CONTINUATION: Final = """
and|oh and|ok and|okay and|so and|but|but what|or|what about|and what about|how about|and how about
what if|what else|anything else|any other|any others|also|plus|then|and then|so then|same for
same thing for|same with|and the|and if|and for|and in|and on|instead|still|again|actually|on that
about that|for that|as for|another one|the other one|which one|which of|any update|any news|update on
how did|wait|hmm and|ah and|also for|ok so|okay so|so|so what|and also|does it|does that|will it|was it
can it|should i still|do they|are they|were they|would it|would that|how much is it|how long does it
thanks and|thanks also|und|und was|und wie|aber|oder|was ist mit|und was ist mit|wie ist es mit
wie sieht es mit|wie war s mit|wie steht es|auch|dann|und dann|ach und|ah und|oh und|noch was dazu
dazu noch|gilt das|geht das|ist das|wie ware es|y|e|pero|o|que tal|y que|y si|y como|y el|y la|y en|y para
tambien|entonces|ah y|oh y|ademas|y entonces|sirve|eso|et|et si|et pour|et le|et la|et en|mais|ou|alors
donc|aussi|ah et|oh et|qu en est il|et qu en est il|est ce que ca|c est|ca|ma|allora|anche|e se|e per|e il
mas|entao|tambem|e o|e a|en|maar|ook|dus|и|а|но|тогда|а как|а что|также|еще
"""

ANAPHORA: Final = """
it|its|that|this|those|these|them|they|their|he|she|him|his|her|ones|one|both|either|neither|there|same
such|the other|the former|the latter|do so|es|das|dies|dazu|davon|damit|dafur|daran|dort|beide|beiden
dieselbe|denselben|eso|esto|aquello|ahi|alli|ambos|ambas|ese|esa|esos|esas|mismo|misma|ca|cela|celui|celle
ceux|y|les deux|meme|questo|quello|cio|entrambi|isso|isto|dat|daar|это|этого|там|оба
"""

# Talk about talk, words of politeness, halves of contractions: nothing of what is talked about.
TALK: Final = """
one ones don doesn didn isn aren wasn weren hasn haven hadn won wouldn couldn shouldn
remember recall talk talked talking discuss discussed discussing discussion conversation chat chatted
chatting mention mentioned question questions ask asked asking tell told telling say said saying know
think want wanted need needed like get got getting thing things something anything everything topic
subject update news quick quickly wondering wonder guess maybe actually really also btw anyway please
thanks thank ok okay sure yes great look looking find found help helped help way lot bit try trying going
go make let idea another different other random completely totally unrelated case erinnern erinnerst
besprochen gesprochen reden frage fragen sagen gesagt wissen weisst moechte mochte brauche bitte danke
ding sache thema etwas eigentlich gern gerne mal noch gibt geht recuerdas recordar acuerdas hablar
hablamos hablado pregunta preguntar decir dicho dijiste quiero necesito saber cosa cosas tema favor
gracias algo puedes podrias souviens rappelle parler parle discuter question demander dire voudrais veux
besoin chose choses sujet merci quelque peux pourrais faire
"""

# "That's not what I meant" is an outcome's business (`outcomes.py`); these only say that nothing is said.
_HAN: Final[dict[str, str]] = {
    "recall": (
        "记得|还记得|上次|上回|之前说|之前聊|之前提|之前问|之前讨论|我们聊过|聊过|聊到|我们谈|谈过|谈到|讨论过|"
        "说过|提到过|提过|你说的|你跟我说|我问过|我跟你说|上周|上个星期|上星期|上个月|昨天|前天|前几天|那天|刚才|"
        "回到|覚えて|この前|前回|先週|昨日|話した|기억나|지난번|지난주|어제"
    ),
    "dated": "上周|上个星期|上星期|上个月|昨天|前天|前几天|那天|刚才|先週|昨日|지난주|어제|你说的|说过",
    "new": (
        "换个话题|另外一个问题|另一个问题|另一件事|别的问题|别的事|顺便问|顺便说|题外话|不相关|无关|另外问|"
        "话题を変|別の|ところで|다른 이야기|다른 질문|그런데"
    ),
    "continuation": "那么|那|还有|然后|所以|不过|但是|而且|如果|呢|它|だから|それで|では|그럼|그러면|그리고",
    "anaphora": (
        "这个|那个|这些|那些|它|他们|她们|这样|那样|这里|那里|那边|两个|都|それ|これ|そこ|그거|이거|거기"
    ),
    "nothing": turns.HAN["ack"] + "|" + turns.HAN["thanks"] + "|" + turns.HAN["closing"],
}
_IDEOGRAPHS: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_OPENS: Final = 4  # code points into a text without spaces that still count as its beginning
_HAN_FILLER: Final = re.compile("[的了吧啊呀哦嗯您你]")
_ENDS: Final = re.compile("呢[?？!！。]*$")


@dataclass(frozen=True, slots=True)
class Cues:
    """What a message's words do, whatever it is about.

    `recall` names an earlier conversation ("we talked about"); `dated` only a time ("last week"), which may
    be plain content. `continuation` opens as if something went before, `anaphora` points at it. `nothing` is
    thanks, a greeting or an "ok" without anything beside it.
    """

    recall: bool = False
    dated: bool = False
    new_subject: bool = False
    continuation: bool = False
    anaphora: bool = False
    nothing: bool = False


def cues(text: str) -> Cues:
    """Read the cues of a message, in any of the languages of the lists.

    >>> cues("Remember when we talked about New York?").recall, cues("Oh, and on Thursday?").continuation
    (True, True)
    >>> cues("还记得我们聊过的机票吗？").recall, cues("ok, thanks!").nothing
    (True, True)
    """
    line = f" {' '.join(words(text))} "
    asks = re.search("[?？؟]", text) is not None
    found = Cues(
        recall=_recall().search(line) is not None,
        dated=_pattern(DATED).search(line) is not None,
        new_subject=_pattern(NEW_SUBJECT).search(line) is not None,
        continuation=_pattern(CONTINUATION).match(line) is not None,
        anaphora=_pattern(ANAPHORA).search(line) is not None,
        nothing=not asks and _says_nothing(line),
    )
    return _with_ideographs(text, found, asks=asks) if _IDEOGRAPHS.search(text) else found


def own_words(text: str) -> str:
    """Return a text's folded words without phrases of recall or a new subject and without talk about talk.

    >>> own_words("Remember when we talked about rain? Different question: boots")
    'about rain boots'
    """
    line = f" {' '.join(words(text))} "
    for pattern in (_pattern(RECALL), _pattern(NEW_SUBJECT)):
        line = pattern.sub("", line)
    if _IDEOGRAPHS.search(line):
        for name in ("recall", "new"):
            line = _han(name).sub(" ", line)
    return " ".join(word for word in line.split() if word not in _TALK)


def _with_ideographs(text: str, found: Cues, *, asks: bool) -> Cues:
    bare = text.strip()
    opening = _han("continuation").search(bare[:_OPENS]) is not None or _ENDS.search(bare) is not None
    said = _han("nothing").sub("", text)
    return Cues(
        recall=found.recall or _han("recall").search(_han("dated").sub("", text)) is not None,
        dated=found.dated or _han("dated").search(text) is not None,
        new_subject=found.new_subject or _han("new").search(text) is not None,
        continuation=found.continuation or opening,
        anaphora=found.anaphora or _han("anaphora").search(text) is not None,
        nothing=found.nothing or (not asks and not re.search(r"\w", _HAN_FILLER.sub("", said))),
    )


def _says_nothing(line: str) -> bool:
    """Say whether nothing is left without acknowledgements, thanks, greetings, partings and filler."""
    if not line.strip():
        return True
    left = _pattern(_EMPTY).sub("", line)
    return left != line and not (set(left.split()) - _FILLER)


def _phrases(source: str) -> frozenset[str]:
    return frozenset(phrase.strip() for phrase in source.replace("\n", "|").split("|") if phrase.strip())


@lru_cache(maxsize=16)
def _pattern(source: str) -> re.Pattern[str]:
    return _compiled(_phrases(source))


@lru_cache(maxsize=1)
def _recall() -> re.Pattern[str]:
    """Compile the cues that can only mean an earlier conversation."""
    return _compiled(_phrases(RECALL) - _phrases(DATED))


def _compiled(phrases: frozenset[str]) -> re.Pattern[str]:
    longest = sorted(phrases, key=lambda phrase: (-len(phrase), phrase))
    return re.compile(f" (?:{'|'.join(map(re.escape, longest))})(?= )")


@lru_cache(maxsize=8)
def _han(name: str) -> re.Pattern[str]:
    longest = sorted(_HAN[name].split("|"), key=lambda phrase: (-len(phrase), phrase))
    return re.compile("|".join(map(re.escape, longest)))


_FILLER: Final = _phrases(turns.FILLER)
_TALK: Final = frozenset(TALK.split())
_SO_MUCH: Final = (
    "a lot|so much|for now|for today|again|very kind|talk soon|lots|a million|a bunch|then|mille|mucho"
)
_EMPTY: Final = "|".join((_SO_MUCH, turns.ACK, turns.THANKS, turns.GREETING, turns.CLOSING))
