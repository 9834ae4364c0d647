"""Who speaks, and in earnest? Quotes, questions, hypotheticals, hearsay, tasks, irony, play apart.

Facts are read only from what a speaker says for themselves. Every test here errs towards silence: a fact not
read can be said again, a wrong one is believed.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from episodic_agent.core.facts.door import is_anothers, stances
from episodic_agent.core.language import sentences

_QUOTED: Final = re.compile(
    r"\"[^\"]*\"|“[^”]*”|«[^»]*»|„[^“”]*[“”]|「[^」]*」"
    r"|(?<!\w)['‘](?:[^'‘’\n]|(?<=\w)['’](?=\w)){12,}['’](?!\w)"  # an apostrophe inside a word ends nothing
)
_OPEN_QUOTE: Final = re.compile(r"[\"“„«「][^\"”“»」]*\Z")
_CODE: Final = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`", re.DOTALL)
_REPLY: Final = re.compile(r"^[ \t]*(?:>|&gt;|＞|\|).*$", re.MULTILINE)  # a quoted reply, line by line
_PERSON: Final = re.compile(r"\b(?:i|i'm|my|me|we|ich|mein|yo|mi|me|je|j'|mon|ma)\b|我", re.IGNORECASE)
_TRANSCRIPT: Final = re.compile(r"(?<!\w)(?:user|human|assistant|system|bot|ai)\s?:\s*\S", re.IGNORECASE)
_WORDS_LEFT: Final = 2  # a quotation of up to so many words is emphasis or a title, not speech

_PLAY: Final = re.compile(
    r"^\s*\*[^*\n]{3,60}\*|\b(?:let'?s (?:play|pretend|rehearse|role[- ]?play|say i(?:'m| am))|role[- ]?play"
    r"|pretend"
    r"|in character|stay in role|your turn|interview me"
    r"|(?:my|your) character|you(?:'re| are) (?:my|the|a|an) (?:ai|dm|gm|narrator|game ?master"
    r"|dungeon master|interviewer|shopkeeper|captain|junior|doctor|patient)"
    r"|i(?:'m| am|'ll be| will be) (?:playing|the (?:hero|villain"
    r"|patient|customer|killer|narrator"
    r"|player|dragon))|aye captain|once upon a time"
    r"|rollenspiel|stell dir vor|tu so|juguemos|imagina que|faisons comme si|imaginons|on joue"
    r"|jeu de rôle|角色扮演|假装|扮演)\b",
    re.IGNORECASE,
)
_TASK: Final = re.compile(
    r"^(?:(?:please|can you|could you|now|ok|okay|hey|hi|bitte|por"
    r" favor|s'il te plaît|请|帮我)[, ]*)*"
    r"(?:write|draft|compose|rewrite|summari[sz]e|translate|turn"
    r"|explain|compare|suggest|plan|make"
    r"|invent|imagine|create|generate|design"
    r"|give me|list|edit|proofread|finish|continue|describe|outline|prepare|format|convert|fix"
    r"|check|correct|read|sing|act|answer as"
    r"|schreib\w*|übersetz\w*|erfinde|verfass\w*|erkläre?|formulier\w*|mach\w* mir|"
    r"escrib[ea]\w*|redacta|traduce|inventa|explica|resume|haz\w*|écris|rédige|traduis|invente"
    r"|explique|résume|enlève|fais|corrige"
    r")\b|^(?:请|帮我|给我)?(?:写|翻译|编|总结|解释|改写|画|生成|起草)",
    re.IGNORECASE,
)
_IF: Final = re.compile(
    r"\b(?:if|unless|whether|theoretically|hypothetically"
    r"|suppose|supposing|assuming|imagine|imagining|what if|should"
    r" (?:the|they|he|she|it|i|we)\b"
    r"|wish|wished|dream of"
    r"|(?:in my|dans mes|en mis|in meinen) (?:dreams|rêves|sueños|träumen)"
    r"|in another life|in theory|i'd(?! (?:like you|rather|prefer))"
    r"|thinking (?:of|about|out loud)|considering|almost(?= (?:bought|moved|took|quit|married"
    r"|became))|when i(?:'m| am)|once i(?:'m| am)|one day|someday|some day|for a second"
    r"|falls|wenn|ob|würde\w*|wäre\w*|könnte\w*|hätte\w*|vielleicht|angenommen"
    r"|si|ojalá|quizás?|tal vez|sería|gustaría|podría|tuviera|fuera|viviera"
    r"|peut-être|serais|aurais|voudrais|pourrais|aimerais|s'il|s'ils)\b"
    r"|如果|要是|假如|假设|可能|也许|要不|或许|万一|就好了",
    re.IGNORECASE,
)
# Doubts that weigh on their own clause only, where that has a subject of its own.
_HEDGED: Final = re.compile(
    r"\b(?:would(?! (?:like you|rather|prefer))|wouldn't|could|couldn't|might|may(?= (?:be|have|not"
    r"|well))|maybe|perhaps|probably|possibly"
    r"|i guess|i suppose|not sure|no idea)\b",
    re.IGNORECASE,
)
_ANEW: Final = re.compile(
    r"(?:(?:[,;:—–]|\s-)\s*(?:so |but |and )?|\s(?:so|but|and) )(?=(?:i"
    r"|we|he|she|it|they|you|that"
    r"|this|who|maybe|perhaps|not|no)\b)",
    re.IGNORECASE,
)
# Conditions that make nothing doubtful: they are said to the listener.
_COURTESY: Final = re.compile(
    r",? ?\b(?:if (?:that helps|you(?:'re| are) (?:wondering|asking|curious|interested)"
    r"|you must know|it matters|you (?:need|want) (?:it|to know)|anyone asks|that matters"
    r"|i remember right(?:ly)?|you don't mind)"
    r"|,? even (?:if|when) [^.!?]*|, (?:auch wenn|aunque|même si)"
    r" [^.!?]*|in case you(?:'re| are) wondering|as if you didn't"
    r" know|if possible|falls du fragst"
    r"|si te interesa|s'il (?:te|vous) pla[îi]t|si no te importa)\b",
    re.IGNORECASE,
)
_HEARSAY: Final = re.compile(
    r"\b(?:they say|(?:he|she|they|it|who|everyone|everybody|someone"
    r"|somebody|people|nobody|friend"
    r"|boss|colleague|neighbou?r|doctor|mother|father|mum|mom|dad"
    r"|sister|brother|uncle|aunt|paper"
    r"|ad|sign|banner|profile|reviewer|article|website|form|letter"
    r"|file|notes?|caption|card|novel"
    r"|book|song|character)"
    r"(?: \w+)? (?:literally |just |once |always )?(?:says?|said"
    r"|writes|wrote|told|tells|claims?"
    r"|claimed|reads?|goes|went|thinks?|thought|reckons|insists|swears)"
    r"|according to|apparently|supposedly|allegedly|rumou?r|rumou?rs"
    r"|i(?:'ve)? heard|heard (?:that"
    r"|from)|word is|legend has it|i read that|so i'm told"
    r"|angeblich|laut|anscheinend|sagte|sagt|meinte|behauptet|ich habe gehört|es heißt"
    r"|dicen que|dice que|según|al parecer|me suelta|me dijo|dijo|il paraît|on dit|d'après"
    r"|soi-disant|dit que|m'a dit)\b|听说|据说|有人说|他说|她说|别人说",
    re.IGNORECASE,
)
_IRONY: Final = re.compile(
    r"^(?:oh,? (?:yeah|yes|sure|great|wonderful|joy|good|how)|sure,"
    r"|yeah,? right|yeah,? sure|ah,? yes"
    r"|yep,? (?:sure|right)|klar,|natürlich,|na klar|ja,? klar|claro"
    r"|por supuesto|bien sûr|mais oui|évidemment|oui,? bien sûr"
    r"|of course,|wonderful|fantastic|brilliant,|great,|lovely,|fabulous|right,)"
    r"|\b(?:obviously|clearly|as if|such an? \w+ (?:person|cook|driver"
    r"|dancer|talent|genius|hero)"
    r"|just (?:love|adore)|yeah right|said no one|not\b[.!]$|my favou?rite"
    r" kind|living the dream"
    r"|(?:love|adore|like|enjoy)\b[^.!?]*\b(?:especially|most of all|particularly) when"
    r"|nothing (?:better|like)|the highlight of|paparazzi|j'adore\b.*\bquand"
    r"|me encanta\b.*\bcuando|ich liebe es\b)\b"
    r"|\b(?:judging (?:by|from)|thanks (?:to|for) (?:the|your|that"
    r"|this|my)\b|as you can (?:see|tell)|at this rate"
    r"|(?:now|then),? apparently|or so it seems|for a living,? it"
    r" seems|basically (?:an?|the) \w+ (?:now|by now)"
    r"|by (?:now|accident),? (?:it seems|clearly)|at this point[.!]?$"
    r"|lucky me|that's how it feels|just what i needed|how lovely|ha ?ha|please\b[^.!?]*\bagain)"
    r"|\b(?:total|totally|truly) (?:relaxed|thrilled|delighted)|/s\b|🙄|😒|呵呵",
    re.IGNORECASE,
)
# What takes back all that the message stated so far: "I live in Rome! NOT!"
_TAKEN_BACK: Final = re.compile(
    r"(?:^\W*|[.,;:!?…–—(]\s?|\s-\s?)(?:(?:lol|(?:ha){1,4}|nah|well|ok|oh|i['’]?m|i am|it['’]s|that was|just"
    r"|only|war|ist|das|nur|ein|kleiner|bloß|nein|ach|so ein|es|era|est[áa]|una?|que|non"
    r"|c['’]est|c['’]était|une)"
    r"[ ,]{1,3}){0,4}"
    r"(?:kidding|joking|a joke|jk|j/k|psych|not|not really|in my dreams|scherz|spaß|witz|quatsch"
    r"|blödsinn|gelogen|von wegen|ich mache? nur spaß|broma|mentira|bromeo|estoy bromeando|blague"
    r"|je (?:plaisante|rigole|blague|déconne))(?=\W*$|\s?[,;:!.…–—])"
    r"|(?<!not )\b(?:just kidding|only joking|jk)\W*$"
    r"|(?<![欢歡爱愛是没沒別别])开(?:个|個)?玩笑|逗你|骗你的|才怪",
    re.IGNORECASE,
)
_CASED_IRONY: Final = re.compile(r"\bI AM(?! [A-Z]{2})\b|\b(?:LOVE|ADORE|SO|SUCH|TOTALLY)\b")
_ASKS: Final = re.compile(r"[?？]\s*[\"'”’»)]*\s*$")
_ASKING: Final = re.compile(
    r"^(?:so |and |but |then )?(?:what|who|whom|whose|which|when"
    r"|where|why|how|is|are|am|was|were"
    r"|do|does|did|can|could|will|would|should|shall|has|have|may|might|any|or"
    r"|right|remember|correct|was|wer|wo|wann|wie|warum|welche\w*"
    r"|kann|soll|ist|bin|habe|qué|quién"
    r"|dónde|cuándo|cómo|por qué|cuál|quel\w*|qui|où|quand|comment"
    r"|pourquoi|est-ce|c'est quand)\b",
    re.IGNORECASE,
)
# What is asked for always may have a condition: "always tell me if the dog dies".
_BIDS: Final = re.compile(
    r"(?:(?:please|and|also|ok|so|but),? )*(?:always|never|do ?n[o']t ever|from now on|in future"
    r"|whenever|when i (?:ask|say|send|paste|want)"
    r"|if i (?:ask|say|send|paste|want)|i(?:'d| would) (?:rather|prefer|like you))\b(?![^.!?]*\?)",
    re.IGNORECASE,
)
_OWNED: Final = re.compile(r"\b(?:my|our) \w", re.IGNORECASE)
# Who is imagined need not exist; whom a question or hearsay names does: "is my sister Orla coming?"
_IMAGINED: Final = re.compile(
    r"\b(?:imagine|imagining|suppose|supposing|if i had|wish|pretend|story|novel|character|fictional"
    r"|say i)\b",
    re.IGNORECASE,
)
_BREAK: Final = re.compile(r"[,;:—–]\s+|\s+-\s+")
_HAN_QUESTION: Final = re.compile(r"[吗呢么][？?]?$|[？?]$|还是.*[吗？]")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence in a speaker's own voice: quotations are blanked, `start` is its place in the message.

    `denies` marks a negation; `full_text` is the sentence of which this is a clause, "" where it is all of
    it.
    """

    text: str
    start: int
    task: bool = False
    wish: bool = False
    unsure: bool = False
    denies: bool = False
    full_text: str = ""

    @property
    def end(self) -> int:
        """Return where it ends in the message."""
        return self.start + len(self.text)


def earnest(text: str, language: str, actor: str = "") -> list[Sentence]:
    """Return the sentences a speaker stands for, in order; questions keep what was stated before they ask.

    >>> [s.text for s in earnest("I live in Bonn. If I lived in Rome! Is it far?", "en")]
    ['I live in Bonn.']
    >>> [s.text for s in earnest("I live in Bonn, is there a train?", "en")]
    ['I live in Bonn']
    """
    own = _unquoted(text)
    if _PLAY.search(own) or _TRANSCRIPT.search(own):
        return []
    matching_sentences: list[Sentence] = []
    for start, sentence in _placed(own, text, language):
        if _TAKEN_BACK.search(sentence):
            matching_sentences.clear()
            continue
        task = bool(_TASK.search(sentence))
        if (task and ":" in sentence) or is_anothers(sentence, actor):
            break  # what follows is the content of the task, or another's words, to the end of the message
        remaining = _sure(sentence if not _is_question(sentence, language) else _before_question(sentence))
        if remaining and not _doubtful(remaining):
            matching_sentences.append(Sentence(remaining, start, task))
        elif _BIDS.match(sentence) and not _HEARSAY.search(sentence) and "_" not in sentence:
            matching_sentences.append(Sentence(sentence, start, task, wish=True))
        elif (
            not task
            and _OWNED.search(sentence)
            and not _IMAGINED.search(sentence)
            and not _doubtful(sentence, ironic=True)
        ):
            matching_sentences.append(Sentence(sentence, start, unsure=True))
    return matching_sentences


def clauses_apart(parts: Iterable[Sentence], language: str) -> list[Sentence]:
    """Return sentences with the clauses that negate apart from those that do not, each marked.

    >>> [(s.text, s.denies) for s in clauses_apart([Sentence("I live in Bonn, I don't own a car.", 0)], "en")]
    [('I live in Bonn', False), ("I don't own a car.", True)]
    """
    matching_sentences: list[Sentence] = []
    for part in parts:
        if part.wish or part.unsure:
            matching_sentences.append(part)
            continue
        pieces = list(stances(part.text, language))
        text = part.text if len(pieces) > 1 else ""
        matching_sentences.extend(
            Sentence(words, part.start + place, part.task, denies=denied, full_text=text)
            for place, words, denied in pieces
        )
    return matching_sentences


def _unquoted(text: str) -> str:
    """Blank what is quoted and code, so that every character keeps its place."""
    blank = _CODE.sub(lambda m: " " * len(m[0]), text)
    blank = _REPLY.sub(lambda m: " " * len(m[0]), blank)
    blank = _QUOTED.sub(_blanked, blank)
    return _OPEN_QUOTE.sub(lambda m: " " * len(m[0]), blank)


def _blanked(match: re.Match[str]) -> str:
    text = match.group()
    short = len(text.split()) <= _WORDS_LEFT and not _PERSON.search(text)
    return f" {text[1:-1]} " if short else "_" + " " * (len(text) - 1)


def _placed(own: str, text: str, language: str) -> Iterator[tuple[int, str]]:
    """Yield sentences with their places; they are cut in the whole text, so that blanks do not move a cut."""
    place = 0
    for sentence in sentences(text, language or None):
        start = text.find(sentence, place)
        if start < 0:
            continue
        place = start + len(sentence)
        statement = own[start:place]
        if statement.strip(" _.,!?"):
            yield start + len(statement) - len(statement.lstrip()), statement.strip()


def _is_question(sentence: str, language: str) -> bool:
    if language == "zh":
        return bool(_HAN_QUESTION.search(sentence))
    return bool(_ASKS.search(sentence)) or sentence.startswith("¿")


def _before_question(sentence: str) -> str:
    """Return what a sentence states before it asks, "" where it asks from the start or only asks back."""
    if _ASKING.match(sentence) or sentence.startswith("¿"):
        return ""
    for match in _BREAK.finditer(sentence):
        if _ASKING.match(sentence[match.end() :]):
            stated = sentence[: match.start()]
            # only what is said of oneself: "Going for a licence, is that mad?" weighs a plan
            return (
                stated
                if re.match(
                    r"(?:i|i'm|my|we|our|we're|i've|ich|wir|meine?|yo|mi|tengo|soy"
                    r"|vivo|trabajo|je|j'\w+|mon|ma)\b",
                    stated,
                    re.IGNORECASE,
                )
                else ""
            )
    return ""


def _sure(sentence: str) -> str:
    """Return a sentence up to the clause that is but a guess: "I'm a nurse, she may be too"."""
    doubt = _HEDGED.search(sentence)
    if doubt is None:
        return sentence
    starts = [found.start() for found in _ANEW.finditer(sentence) if found.end() <= doubt.start()]
    return sentence[: starts[-1]] if starts else ""


def _doubtful(sentence: str, *, ironic: bool = False) -> bool:
    plain = _COURTESY.sub("", sentence)
    if ironic:
        return "_" in plain or bool(_CASED_IRONY.search(plain) or _IRONY.search(plain))
    if _IF.search(plain) or _HEARSAY.search(plain) or "_" in plain:
        return True
    return bool(_CASED_IRONY.search(plain) or _IRONY.search(plain))
