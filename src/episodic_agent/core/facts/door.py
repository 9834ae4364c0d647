"""The door of the rules: what denies, and what somebody else says, teaches nothing; a denial may end a fact.

Rules fill slots and do not see what turns a sentence round. So a clause with a negation is read only for what
it ends: a fact that stands and is named. Words of a character, a quoted person or a pasted talk are not read.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Final

from episodic_agent.core.facts.slots import group_of, match_key, slot_of
from episodic_agent.core.language import fold
from episodic_agent.core.language.mentions import mentions
from episodic_agent.core.language.mentions.lists import word_set
from episodic_agent.schemas.facts import Fact, FactCandidate

_KIN: Final = (  # of the dead nothing is read as if they lived
    r"(?:husband|wife|partner|spouse|(?:grand|step)?(?:mother|father|son|daughter|child)|mum|mom|dad|sister"
    r"|brother|twin|uncle|aunt|cousin|niece|nephew|grandma|grandpa|granny|fianc[ée]e?|friend|dog|cat)"
)
_NO: Final = {
    "en": re.compile(
        r"\b(?:not|never|no|no[- ]one|none|nobody|nothing|nowhere|neither|nor|cannot|hardly|scarcely|barely"
        r"|\w+n['’ʼ]t|(?:d|did|does|ca|wo|is|are|was|were|have|has|had|ai|could|would|should|do)nt"
        r"|any ?more|den(?:y|ies|ied)|doubt|untrue|(?:false|wrong|a lie) that|far from (?:being|it|true)"
        r"|anything but|(?:almost|nearly) (?:an?(?! (?:year|decade|month|week|hundred|dozen))"
        r"|(?!drowned|died)\w+ed|became|took|quit|bought|got|went|left|had|won)"
        rf"|(?:late|deceased|departed) {_KIN}|lost (?:my|our) (?:\w+ )?{_KIN})\b",
        re.IGNORECASE,
    ),
    "de": re.compile(
        r"\b(?:nicht|nie|niemals|nichts|niemand\w*|kein\w*|weder|kaum|nirgend\w*|mitnichten|nich|nimmer|gewesen"
        r"|(?<!\.)(?-i:ne[td])|alles andere als|verstorben\w*|beinahe"
        r"|(?<!seit )fast(?! (?:immer|nur|jed|all|täglich|überall|ausschließ|food|\d)))\b",
        re.IGNORECASE,
    ),
    "es": re.compile(
        r"\b(?:no|nunca|jamás|tampoco|nadie|nada|ningún|ningun[oa]s?|ni|apenas|de todo menos|difunt[oa]"
        r"|(?:gustan?|interesan?) (?:muy |bastante )?poco"
        r"|(?<!hace )casi(?! (?:siempre|tod|cada|\d)))\b",
        re.IGNORECASE,
    ),
    "fr": re.compile(
        r"\b(?:ne|pas|jamais|rien|aucune?|ni|non|guère|tout sauf|failli|défunte?|feu mon"
        r"|presque(?! (?:tou|chaque|\d)))\b|\bn['’ʼ]"
        r"|\b(?:j['’ʼ]|je )\w+ (?:plus|point|(?:très |assez )?peu)\b",
        re.IGNORECASE,
    ),
    "zh": re.compile(r"[不没無无未沒莫]|并非|从来别|戒了|差一?点(?!钟)|已故"),
}
# Negations by form alone: idioms, answers to a question, words that hold the letters.
_NO_NEGATION: Final = {
    "en": re.compile(
        r"^(?:no|nope|oh no|why not)\b[,.!:; -]*(?=(?:i|i'm|i've|we|we're|my|it|it's|actually)\b)|\bno[,.!;:]"
        r"|\bcan(?:['’ʼ]?t|not| not) (?:stand|bear|abide|wait|help|get enough|stop)\b"
        r"|\b(?:do n[o']t|don['’ʼ]?t|never) (?:forget|worry|get me wrong)\b"
        r"|\bno (?:problem|worries|doubt|wonder|kidding)\b"
        r"|\bnot (?:only|just|to mention|far from|too far from|long ago|too long ago)\b|\bno\. ?\d",
        re.IGNORECASE,
    ),
    "de": re.compile(r"\bnicht (?:nur|weit|zu vergessen|wahr)\b|\bvergiss nicht\b", re.IGNORECASE),
    "es": re.compile(r"^no,|\bno (?:solo|sólo|olvides|te olvides)\b|\bnada más\b", re.IGNORECASE),
    "fr": re.compile(r"^non,|\bn['’ʼ]oublie pas\b|\bpas (?:mal|loin|seulement)\b", re.IGNORECASE),
    "zh": re.compile(
        r"不(?:错|[过過](?!敏)|但|仅|同|久|少|管|论|止|断|客气|好意思|锈钢)|差不多|对不起"
        r"|[没沒](?:问题|关系|错)|无(?:锡|论|线|人机)|未来"
    ),
}  # fmt: skip
_AND: Final = r"(?:so|but|and|because|since|while|though|although|und|aber|denn|y|pero|porque|et|mais|car)"
# Where a clause of its own begins: what another clause denies leaves it as it is. An aside is none.
_FRESH: Final = re.compile(
    rf"(?:\s*[,;:—–]\s*|\s-\s)(?:{_AND}\s+)?(?=\w)(?!\w+ \w+(?: \w+)?,)"
    rf"(?=(?:i|we|my|our|you|he|she|they|it|that)\b"
    rf"|(?:do not|never|please|like|have|has)\b|(?:do|does|have|has|ca|did)n['’ʼ]?t\b"
    rf"|(?:ich|wir|mein\w*|nicht|nie|kein\w*|bitte|yo|mi|me|nunca|je|j['’]|mon|ma|ne|n['’]|mais)\b"
    rf"|我|别|不)"
    rf"|\s+{_AND}\s+(?=(?:i|we|my|our|ich|wir|mein\w*|yo|mi|me|je|j['’]|mon|ma|ne|no|never|nunca|please)\b"
    rf"|(?:do|does|have|has|ca|did)n['’ʼ]?t\b|(?:do not|nicht|like do)\b)|\s*，(?=我|别|不)",
    re.IGNORECASE,
)  # fmt: skip

_SAYS: Final = re.compile(
    r"\b(?:says?|said|repl(?:y|ies|ied)|answer(?:s|ed)|claim(?:s|ed)|tells?|told|explain(?:s|ed)|writes?|wrote"
    r"|thinks?|thought|whisper(?:s|ed)|shout(?:s|ed)|announce[sd]|insist(?:s|ed)|add(?:s|ed)|ask(?:s|ed)|goes"
    r"|sings?|sang|mutter(?:s|ed)|declare[sd]|confess(?:es|ed)|admit(?:s|ted)|be like"
    r"|sagte?|meinte?|schreibt|schrieb|antwortete?|erzählte?|behauptete?|erklärte?|ruft|rief|fragte?"
    r"|dice|dijo|escrib[ei]ó?|respond[ei]ó?|cuenta|contó|afirma|contestó?|contesta|exclama|explica|pregunta"
    r"|dit|répond(?:it)?|écrit|affirme|raconte|explique|demande|crie)\b"
    r"(?P<between>(?: (?!i\b)[\w'’]+){0,3})"
    r"(?:\s*:|,?\s+(?:that |dass |que |qu')?(?=(?:i|i'm|i've|my|we|our|ich|mein\w*|yo|soy|tengo|vivo|trabajo"
    r"|estoy|je|j'\w+|mon|ma)\b))",
    re.IGNORECASE,
)
_SAYS_HAN: Final = re.compile(
    r"(?P<before>.?)(?:(?:说|說)\s*[:：，,]?|(?:表示|回答|写道|寫道|问道|喊道?)\s*[:：，,])\s*(?=[我“「])"
)
_OWN_SAYING: Final = re.compile(
    r"\b(?:i|we|ich|wir|yo|je|to|as)(?:['’]\w+)?(?: (?!who\b)\w+){0,2}\s*$", re.IGNORECASE
)
_STORY: Final = re.compile(
    r"\bin (?:the|my|our|this|a|that|his|her) (?:\w+ )?"
    r"(?:story|novel|dream|scenario|role-?play|fairy ?tale|fanfic)\b"
    r"|\bin (?:the|my|our|this|a|that) (?:\w+ )?"
    r"(?:game|film|movie|play|book|script|campaign|scene|sketch|song)(?:,| (?=(?:i|i'm|my|we)\b))"
    r"|\b(?:the|my|our|her|his) (?:main )?(?:character|hero|heroine|protagonist|narrator|villain)s?\b"
    r"(?! (?:from|of) )|\bin (?:der|meiner|dieser|einer) geschichte\b"
    r"|\bi(?:m|n einem|n meinem|n dem) (?:roman|traum|märchen|rollenspiel|spiel|film)(?:,| bin)"
    r"|\ben (?:el|la|mi|un|una|este|esta) (?:cuento|novela|historia|sueño|juego|película)\b"
    r"|\bdans (?:l['’]|le |la |mon |ma |un |une |cette |ce )(?:histoire|roman|conte|rêve|jeu|film)\b"
    r"|(?:故事|小说|小說|游戏|梦|电影|剧本|剧)里",
    re.IGNORECASE,
)
# A letter or a quotation is announced: "Let me quote the letter: I am a widow".
_LETTER: Final = re.compile(
    r"\b(?:quot(?:e[sd]?|ing)|letter|e-?mail|lyrics|poem|speech|essay|cit(?:e[sd]?|ing|o|ation)|zit(?:at|iere?)"
    r"|\w*brief|gedicht|carta|poema|lettre|poème)\b"
    r"[^:.!?]*:\W*(?=(?:i|i['’]m|i['’]ve|my|we|dear|ich|mein\w*|yo|soy|tengo|vivo|trabajo|je|j['’]\w+|mon|ma)\b)"
    r"|(?:引用|信|邮件)[^：:。]*[：:]\s*我",
    re.IGNORECASE,
)
_LABEL: Final = re.compile(r"^[-*•]?\s*(?P<label>[^\W\d_][\w.'’ -]{0,30}?)\s?[:：]\s*\S")
_ROLES: Final = word_set(
    "user customer client patient student teacher interviewer interviewee candidate narrator character human"
    " subject betreff asunto objet todo fixme quote zitat cita citation lyrics example beispiel ejemplo"
    " ai bot assistant agent speaker seller buyer guest host me them him her kunde kundin patient nutzer"
    " exemple benutzer cliente usuario paciente utilisateur"
    " 用户 客户 顾客 病人 患者 医生 助手 学生 老师 主角 旁白 甲 乙"
)
_SELF: Final = re.compile(r"\b(?:ich|wir|yo|he|hemos|je|j['’]ai)\b", re.IGNORECASE)
_GONE: Final = (
    r"\W+(?:has |had |sadly |just |recently )*"
    r"(?:died|passed away|passed|was put (?:down|to sleep)|ran away)\b"
)


def denies(sentence: str, language: str) -> bool:
    """Tell whether a sentence negates anything, in a language that has rules (else by the English words).

    >>> denies("I've never been to Japan.", "en"), denies("I can't wait, I live in Bonn", "en")
    (True, False)
    >>> denies("Ich habe keinen Hund.", "de"), denies("我没有狗。", "zh"), denies("不过我住在北京", "zh")
    (True, True, False)
    """
    known = language if language in _NO else "en"
    return _NO[known].search(_NO_NEGATION[known].sub(" ", sentence)) is not None


def stances(sentence: str, language: str) -> Iterator[tuple[int, str, bool]]:
    """Yield a sentence's parts as (place, words, whether they deny); cut only where one part denies.

    >>> list(stances("I live in Bonn, but I don't own a car.", "en"))
    [(0, 'I live in Bonn', False), (16, "but I don't own a car.", True)]
    >>> list(stances("I never said I work at NASA.", "en"))
    [(0, 'I never said I work at NASA.', True)]
    """
    if not denies(sentence, language):
        yield 0, sentence, False
        return
    cuts = [one.start() for one in _FRESH.finditer(sentence) if len(sentence[: one.start()].split()) > 1]
    for start, end in pairwise((0, *cuts, len(sentence))):
        words = sentence[start:end]
        plain = words.lstrip(" ,;:—–-，")
        if plain.strip():
            yield start + len(words) - len(plain), plain.rstrip(), denies(plain, language)


def is_anothers(sentence: str, actor: str) -> bool:
    """Tell whether a sentence is put into another's mouth: reported, of a story, a letter, or under a label.

    >>> is_anothers("The user in it says: I work at NASA", "Tom"), is_anothers("I said I was ill", "Tom")
    (True, False)
    >>> is_anothers("Alice: I live in Rome.", "Tom"), is_anothers("Context: I live in Rome.", "Tom")
    (True, False)
    """
    if _STORY.search(sentence) or _LETTER.search(sentence) or _labelled(sentence, actor):
        return True
    if any(one["before"] != "我" for one in _SAYS_HAN.finditer(sentence)):
        return True
    return any(
        not _OWN_SAYING.search(sentence[: one.start()]) and not re.search(r"\bich\b", one["between"], re.I)
        for one in _SAYS.finditer(sentence)
    )


def _labelled(sentence: str, actor: str) -> bool:
    match = _LABEL.match(sentence)
    if match is None:
        return False
    label = match["label"].strip()
    if fold(label) == fold(actor):
        return False
    named = next(iter(mentions(label)), None)
    return fold(label) in _ROLES or (named is not None and named.kind == "person" and named.text == label)


def has_gone(value: str, text: str) -> bool:
    """Tell whether a sentence says that the animal it names is dead or gone: "My dog Rex died"."""
    return re.search(re.escape(value.rsplit(maxsplit=1)[-1]) + _GONE, text, re.IGNORECASE) is not None


def admitted(
    read: Sequence[tuple[FactCandidate, bool]], known: Sequence[Fact], at: datetime
) -> Iterator[FactCandidate]:
    """Yield what may be learnt of candidates, each with whether its words deny something.

    What says that something is not so teaches nothing by itself: it must end a fact that stands at that time.
    A new value read beside such an end takes its place. A wish has its own "never" in it and stays.
    """
    ended = {
        (fold(one.subject), one.attribute)
        for one, denied in read
        if (denied or not one.holds) and _ends(one, known, at)
    }
    for candidate, denied in read:
        if not denied and candidate.holds:
            yield candidate
        elif candidate.attribute == "rule":  # a wish, but not what one never does oneself
            if not _SELF.search(candidate.value):
                yield candidate
        elif _ends(candidate, known, at) or (
            candidate.holds
            and slot_of(candidate.attribute).single
            and (fold(candidate.subject), candidate.attribute) in ended
        ):
            yield candidate


def _ends(candidate: FactCandidate, known: Sequence[Fact], at: datetime) -> bool:
    if candidate.holds is not (candidate.attribute == "dislikes"):
        return False
    group, key = (
        group_of(candidate.subject, candidate.attribute, candidate.value),
        match_key(candidate.attribute, candidate.value),
    )
    return any(
        fact.holds is not (fact.attribute == "dislikes")
        and (fact.invalid_at is None or fact.invalid_at > at)
        and group_of(fact.subject, fact.attribute, fact.value) == group
        and match_key(fact.attribute, fact.value) == key
        for fact in known
    )
