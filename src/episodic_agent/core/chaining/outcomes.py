"""How an episode ended, read from its last words: conservative, in several languages, else unknown.

Forms are folded as `core.text.words` leaves them. The last sentence of the user that says how it stands
decides; a question says nothing, and neither does what the assistant promises.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from episodic_agent.core.text import sentences, words

SUCCESS, PARTIAL, FAILURE, ONGOING = "success", "partial", "failure", "ongoing"
ABANDONED, UNKNOWN = "abandoned", "unknown"
OUTCOMES: Final = (SUCCESS, PARTIAL, FAILURE, ONGOING, ABANDONED, UNKNOWN)
LAST_MESSAGES: Final = 3  # of the user, newest first

# In the order in which they are looked for: "does not work yet" is no success.
_FORMS: Final = {
    ABANDONED: """
give up|giving up|gave up|forget it|forget about it|never mind|nevermind|abandon it|abandoning
abandoned it|ich gebe auf|gebe es auf|vergiss es|aufgegeben|lo dejo|lo dejamos|dejalo|olvidalo|me rindo
laisse tomber|j abandonne|on abandonne|lascia perdere|ci rinuncio|rinuncio|esquece|desisto|laat maar
ik geef het op|забудь|бросаю|сдаюсь
""",
    PARTIAL: """
partly works|partly done|partially|half of it|only half|works except|works but|done except|all but one
mostly works|almost works|almost done|nearly done|mostly done|teilweise|fast fertig|zur halfte|bis auf
a medias|casi listo|casi esta|presque fini|a moitie|quasi finito|quase pronto|bijna klaar|частично
почти готово
""",
    FAILURE: """
doesn t work|does not work|didn t work|did not work|not working|still broken|still fails|still failing
failed|it fails|no luck|couldn t fix|could not fix|can t fix|didn t help|did not help|rejected|turned down
said no|nothing worked|no success|geht nicht|funktioniert nicht|hat nicht geklappt|klappt nicht
gescheitert|fehlgeschlagen|abgelehnt|no funciona|no funciono|no ha funcionado|ha fallado|no sirvio
rechazado|rechazada|ne marche pas|n a pas marche|ca n a pas|echoue|non funziona|non ha funzionato|fallito
nao funciona|nao funcionou|falhou|werkt niet|mislukt|не работает|не получилось|не помогло|отказали
ont refuse|a refuse
""",
    ONGOING: """
to be continued|will continue|i ll continue|we ll continue|let s continue|continue tomorrow|more tomorrow
see tomorrow|will see|we ll see|i ll try|i ll check|i ll let you know|trying it|on it|not yet|not done yet
not finished|not ready|in progress|still waiting|waiting for|wait for|still missing|is missing|next week
morgen weiter|geht weiter|noch nicht|warte auf|warten auf|fehlt noch|ich probiere|ich versuche
nachste woche|manana sigo|seguimos manana|todavia no|aun no|falta|esperando|a la espera|lo intento
lo probare|a suivre|pas encore|en cours|j attends|on attend|il manque|je vais essayer|semaine prochaine
non ancora|in corso|aspetto|provero|ainda nao|a espera|vou tentar|nog niet|wacht op|еще не|жду|попробую
в процессе
""",
    SUCCESS: """
it works|works now|that works|works fine|works again|that worked|it worked|worked like|solved|fixed it
resolved|that was it|problem gone|it s gone|all done|it s done|all good now|good to go|deployed|shipped
submitted|handed in|delivered|signed|accepted|approved|case closed|closing the ticket|closed the ticket
closed it|passed|success|succeeded|booked|filed|it s ready|funktioniert|geht jetzt|lauft jetzt
lauft wieder|hat geklappt|geklappt|gelost|behoben|erledigt|fertig|geschafft|abgegeben|unterschrieben
gebucht|bestanden|funciona|ya funciona|ha funcionado|funciono|resuelto|solucionado|arreglado|listo
entregado|reservado|aprobado|ca marche|ca a marche|resolu|c est fait|funziona|ha funzionato|risolto
sistemato|consegnato|prenotato|resolvido|terminei|entregue|assinado|het werkt|opgelost|klaar|gelukt
работает|решено|готово|получилось|сдал|сдала|подписали|it s fixed|is fixed|fixed now|got it fixed
it s finished|all finished|is finished now|c est regle|he terminado|hemos terminado|tout est fini
""",
}
_DONE: Final = frozenset(("done", "fertig", "listo", "fini", "fatto", "hecho", "klaar", "готово"))
_HAN: Final = {
    ABANDONED: "算了|放弃|不弄了|不搞了|やめる|諦め|그만둘|포기",
    PARTIAL: "差不多了|一部分|还差一点|ほぼ|거의 다",
    FAILURE: "不行|失败|没成功|没用|还是不|坏了|うまくいかない|失敗|안 돼|실패",
    ONGOING: "明天继续|还没|等着|在等|试试|まだ|待って|아직|기다리",
    SUCCESS: "搞定|成功|解决了|好了|完成|弄好了|通过了|できた|解決|成功|해결|완료|됐어",
}
_IDEOGRAPHS: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def outcome_of(own: Sequence[str]) -> str:
    """Return how an episode ended from the user's messages in order; `unknown` where nobody says.

    >>> outcome_of(["It leaks again", "Patched. It works now, thanks!"])
    'success'
    >>> outcome_of(["Does it work now?"]), outcome_of(["I give up."]), outcome_of(["Es geht nicht."])
    ('unknown', 'abandoned', 'failure')
    """
    for text in [*own][: -LAST_MESSAGES - 1 : -1]:
        for sentence in reversed(sentences(text)):
            if not re.search("[?？]", sentence) and (found := _said(sentence)):
                return found
    return UNKNOWN


def _said(sentence: str) -> str:
    spoken = words(sentence)
    if len(spoken) == 1 and spoken[0] in _DONE:
        return SUCCESS
    line = f" {' '.join(spoken)} "
    found = (outcome for outcome, forms in _FORMS.items() if _pattern(forms).search(line))
    return next(found, _unspaced(sentence))


def _unspaced(sentence: str) -> str:
    if not _IDEOGRAPHS.search(sentence):
        return ""
    return next((outcome for outcome, forms in _HAN.items() if re.search(forms, sentence)), "")


def outcome_named(word: object, known: Iterable[str] = OUTCOMES) -> str:
    """Return an outcome as it is written here, `unknown` for any other word.

    >>> outcome_named(" Success "), outcome_named("great")
    ('success', 'unknown')
    """
    folded = word.strip().casefold() if isinstance(word, str) else ""
    return folded if folded in known else UNKNOWN


@lru_cache(maxsize=8)
def _pattern(source: str) -> re.Pattern[str]:
    phrases = {phrase.strip() for phrase in source.replace("\n", "|").split("|") if phrase.strip()}
    longest = sorted(phrases, key=lambda phrase: (-len(phrase), phrase))
    return re.compile(f" (?:{'|'.join(map(re.escape, longest))})(?= )")
