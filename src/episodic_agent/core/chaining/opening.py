"""How a session opens: going on with something, announcing something new, or on somebody else's behalf.

Forms are folded as `core.text.words` leaves them: lower case, without accents; an apostrophe splits a word.
Chinese has no spaces: its phrases are looked up as substrings. The lists hold closed classes of words.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from episodic_agent.core.linking import cues
from episodic_agent.core.linking.dependence import dependence
from episodic_agent.core.text import sentences, words

# Counted where a message begins, or after a short word ("ok", "so", "now").
DEICTIC: Final = """
continue|continuing|continued|let s continue|to continue|back to|back at|back on|still|again|once more
picking up|pick up|where we left|following up|follow up|carrying on|carry on|going on with|next step
next part|part two|part 2|round two|second attempt|second try|second draft|another attempt|another try
as planned|as agreed|as promised|as discussed|like last time|same as before|since last time|update
an update|weiter|weiter mit|weiter geht|zuruck zu|zuruck zum|zuruck zur|immer noch|nochmal|noch mal
noch einmal|wieder|wie besprochen|wie geplant|nachster schritt|zweiter versuch|sigo|sigo con|seguimos
seguimos con|continuo|continuamos|continuando|volviendo|volvemos a|vuelvo a|de vuelta|otra vez|de nuevo
todavia|como quedamos|segundo intento|siguiente paso|je continue|on continue|continuons|je reprends
reprenons|retour sur|retour a|revenons|encore|toujours|de nouveau|comme convenu|deuxieme essai
continuo con|continuiamo|torniamo a|di nuovo|ancora|come d accordo|voltando|de novo|outra vez|ainda
verder met|terug naar|nog steeds|opnieuw|продолжаем|продолжим|снова|опять|вернемся
"""
NEW: Final = """
totally different|completely different|entirely different|something different|something else|something new
a different|different kind of|different thing|different matter|different one|unrelated|separate matter
separate thing|separately|on the side|aside from that|besides that|also need|also want|also have to
also have a|also got|also thinking|from scratch|starting fresh|start fresh|fresh start|nothing to do with
not about|ganz anders|ganz was anderes|was ganz anderes|etwas ganz anderes|was neues|etwas neues
ausserdem brauche|ausserdem muss|ausserdem will|auch noch|brauche auch|muss auch|mochte auch
unabhangig davon|algo distinto|algo diferente|algo nuevo|otra cosa|aparte|tambien necesito|tambien quiero
tambien tengo que|desde cero|nada que ver|quelque chose de nouveau|tout autre chose|autre chose|a part ca
j ai aussi besoin|je dois aussi|je veux aussi|de zero|rien a voir|qualcosa di nuovo|qualcos altro
ho anche bisogno|da zero|uma coisa nova|outra coisa|tambem preciso|tambem quero|do zero|iets nieuws
iets anders|ook nog
"""
NOVEL: Final = """
new|a new|another|a different|different|neu|neue|neuer|neues|neuen|ein neuer|eine neue|ein neues
ein anderer|eine andere|ein anderes|andere|anderer|anderes|nuevo|nueva|un nuevo|una nueva|otro|otra
nouveau|nouvelle|nouvel|un nouveau|une nouvelle|un autre|une autre|autre|nuovo|nuova|un nuovo|una nuova
un altro|altra|novo|nova|um novo|uma nova|outro|outra|nieuw|nieuwe|een nieuwe|een ander|een andere|новый
новая|новое|другой|другая
"""
# "Another attempt" and "a new round" are of the old matter.
NOVEL_BUT_OLD: Final = """
attempt|try|round|version|draft|day|week|update|result|results|step|versuch|runde|fassung|tag|woche|stand
schritt|intento|ronda|dia|semana|paso|essai|tour|jour|semaine|etape|tentativo|giro|giorno|tentativa|poging
ronde|dag|попытка|раз
"""
OTHERS: Final = """
somebody|someone|someone else|somebody else|a customer|a client|a friend|a friend of mine|my friend
a colleague|my colleague|a coworker|a neighbour|a neighbor|the neighbour|the neighbor|my neighbour
my neighbor|our neighbour|our neighbor|an acquaintance|a relative|my cousin|a cousin|my brother|my sister
my aunt|my uncle|my niece|my nephew|my flatmate|my roommate|another team|another department
another company|another family|asks me|asked me|asking me|asks us|asked us|asking us|asked for my help
on behalf of|also called|same name|namesake|jemand|jemand anders|ein kunde|eine kundin|ein freund
eine freundin|meine freundin|mein freund|ein kollege|eine kollegin|der nachbar|die nachbarin|mein nachbar
meine nachbarin|unser nachbar|unsere nachbarin|ein bekannter|eine bekannte|mein bruder|meine schwester
meine tante|mein onkel|meine cousine|mein cousin|fragt mich|fragte mich|hat mich gefragt|bat mich
bittet mich|heisst auch|alguien|un cliente|una clienta|un amigo|una amiga|mi amigo|mi amiga|un companero
una companera|el vecino|la vecina|mi vecino|mi vecina|un conocido|mi hermano|mi hermana|mi primo|mi prima
mi tio|mi tia|me pide|me pidio|me ha pedido|me pregunta|tambien se llama|quelqu un|un client|une cliente
un ami|une amie|un collegue|une collegue|le voisin|la voisine|mon voisin|ma voisine|mon frere|ma soeur
mon cousin|ma cousine|me demande|m a demande|qualcuno|un amico|un amica|un collega|il vicino|la vicina
mio fratello|mia sorella|mi chiede|mi ha chiesto|alguem|um amigo|uma amiga|um cliente|um colega|o vizinho
a vizinha|meu irmao|minha irma|me pediu|iemand|een vriend|een vriendin|een klant|een collega|de buurman
de buurvrouw|mijn broer|mijn zus|кто то|друг|подруга|клиент|сосед
"""
# Requests and wishes of one's own that `dependence.fresh` does not know.
WISHES: Final = """
i have to|i ve got to|i ve to|we want to|we d like|we need|we have to|i m thinking of|i m planning
i am planning|i m starting|i am starting|someone said|do i need|should i|can i|could you|can you|would a
would you|suggest|ich muss|ich mochte|ich will|wir wollen|wir mochten|wir brauchen|ich plane|ich suche
kannst du|konntest du|soll ich|tengo que|me gustaria|queremos|estoy pensando|estoy buscando|puedes|podrias
ayudame|debo|je dois|j aimerais|nous voulons|on veut|on voudrait|je pense a|pourrais tu|devo|vorrei
vogliamo|puoi|tenho que|gostaria|pode|ik moet|ik wil|we willen|kun je
"""
_HAN: Final = {
    "deictic": "继续|接着|回到|还是|又|再来|上次|之前说|続き|また|계속|다시",
    "new": "另外|别的|新的|换个|換個|別件|新しい|다른|새로운",
    "others": "有人|朋友|邻居|鄰居|同事|客户|客戶|亲戚|帮别人|友達|同僚|お客|친구|이웃|동료|고객",
    "asks": "怎么|如何|多少|哪里|推荐|帮我|请|我想|我要|我需要|どう|教えて|어떻게|추천",
}
_IDEOGRAPHS: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_EARLY: Final = 2  # short words that may stand before a deictic opener
_HAN_EARLY: Final = 6


@dataclass(frozen=True, slots=True)
class Opening:
    """What the first words of a session do; each 0 or 1.

    `deictic` goes on ("back to", "still"), `new` announces another matter, `others` speaks for somebody else,
    `asks` is a request or a question of its own.
    """

    deictic: float = 0.0
    new: float = 0.0
    others: float = 0.0
    asks: float = 0.0


def opening(text: str) -> Opening:
    """Read how a session's first message opens it, in any of the languages of the lists.

    >>> opening("Back to the leak: both dumps are in.").deictic, opening("Weiter mit der Küche").deictic
    (1.0, 1.0)
    >>> opening("Totally different: would a cat help?").new, opening("A customer wants oak doors").others
    (1.0, 1.0)
    """
    line = _line(text)
    first = _line(next(iter(sentences(text)), text))
    deictic = _pattern(DEICTIC).search(" ".join(["", *line.split()[: _EARLY + 4], ""]))
    found = {
        "deictic": deictic is not None and deictic.start() <= _reach(line),
        "new": _pattern(NEW).search(line) is not None or _novel(first) or cues(text).new_subject,
        "others": _pattern(OTHERS).search(line) is not None,
        "asks": dependence(text).fresh > 0.0 or _pattern(WISHES).search(line) is not None,
    }
    if _IDEOGRAPHS.search(text):
        for name, source in _HAN.items():
            read = text.strip()[:_HAN_EARLY] if name == "deictic" else text
            found[name] = found[name] or re.search(source, read) is not None
    return Opening(**{name: float(value) for name, value in found.items()})


def _novel(first: str) -> bool:
    """Say whether the first words name something as new: "new idea", but not "another attempt"."""
    match = _pattern(NOVEL).match(first)
    if match is None:
        return False
    following = first[match.end() :].split()[:1]
    return bool(following) and following[0] not in _old()


def _reach(line: str) -> int:
    """Return where the last short word ends after which a deictic opener still opens."""
    place = 0
    for word in line.split()[:_EARLY]:
        place += len(word) + 1
    return place


def _line(text: str) -> str:
    return f" {' '.join(words(text))} "


@lru_cache(maxsize=1)
def _old() -> frozenset[str]:
    return frozenset(NOVEL_BUT_OLD.replace("\n", "|").split("|"))


@lru_cache(maxsize=8)
def _pattern(source: str) -> re.Pattern[str]:
    phrases = {phrase.strip() for phrase in source.replace("\n", "|").split("|") if phrase.strip()}
    longest = sorted(phrases, key=lambda phrase: (-len(phrase), phrase))
    return re.compile(f" (?:{'|'.join(map(re.escape, longest))})(?= )")
