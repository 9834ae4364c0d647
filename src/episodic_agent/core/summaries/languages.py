"""What extraction knows about languages: which one a text is in, and the words a summary is written with."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from episodic_agent.core.text import fold, script
from episodic_agent.core.text.stopwords import STOP_WORDS


@dataclass(frozen=True, slots=True)
class Phrasebook:
    """The words around extracted sentences; `{}` stands for a name (in `others`, for a count)."""

    said: str
    asked: str
    user: str
    assistant: str
    both: str
    others: str
    empty: str
    code: str
    joints: frozenset[str] = frozenset()
    openers: frozenset[str] = frozenset()
    subjects: frozenset[str] = frozenset()


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# joints: prepositions that a noun phrase may contain. openers: words that point back when they begin a
# sentence. subjects: what the next word after is a verb and no part of a noun phrase.
PHRASEBOOKS: Final = {
    "en": Phrasebook(
        "{} said:", "{} asked:", "the user", "the assistant", "{} and {}", "{} others",
        "Messages without words", "code",
        joints=_set("of to in for at from with about on"),
        openers=_set("it its it's that that's this these those they them he him she her so then there"
                     " which and but or because also otherwise such same yes no yeah yep nope sure however"
                     " wow yea haha oh lol meanwhile otherwise similarly additionally"),
        subjects=_set("i you he she it we they who to not can could will would shall should may might must"
                      " do does did don didn doesn won couldn wouldn shouldn let i'm i've i'll i'd we're"
                      " we've we'll you're you've you'll they're they've never n't don't didn't doesn't"
                      " can't won't"),
    ),
    "de": Phrasebook(
        "{} sagte:", "{} fragte:", "der Nutzer", "der Assistent", "{} und {}", "{} weitere",
        "Nachrichten ohne Worte", "Code",
        joints=_set("von in im für aus nach mit bei zum zur am über auf"),
        openers=_set("es das dies diese dieser dann er sie so und aber oder auch ja nein da dort"),
        subjects=_set("ich du er sie es wir ihr man zu nicht"),
    ),
    "es": Phrasebook(
        "{} dijo:", "{} preguntó:", "el usuario", "el asistente", "{} y {}", "{} más",
        "Mensajes sin palabras", "código",
        joints=_set("de del en para por con a al sobre"),
        openers=_set("eso esto ese esta él ella ellos ellas y pero o también así sí no entonces"),
        subjects=_set("yo tú él ella nosotros ellos ellas me te se nos le les no lo"),
    ),
    "fr": Phrasebook(
        "{} a dit :", "{} a demandé :", "l’utilisateur", "l’assistant", "{} et {}", "{} autres",
        "Messages sans paroles", "code",
        joints=_set("de du des en à au aux pour avec sur dans d"),
        openers=_set("il elle ils elles ça cela ce c'est et mais ou aussi alors oui non donc"),
        subjects=_set("je j tu il elle nous vous ils elles on me m te t se s ne n y ai as a avons avez ont"),
    ),
    "it": Phrasebook(
        "{} ha detto:", "{} ha chiesto:", "l’utente", "l’assistente", "{} e {}", "altri {}",
        "Messaggi senza parole", "codice",
        joints=_set("di del della dei delle in nel nella per con a al alla su da"),
        openers=_set("questo questa quello lui lei loro e ma o anche così sì no allora"),
        subjects=_set("io tu lui lei noi voi loro mi ti si ci vi non ho hai ha abbiamo avete hanno"),
    ),
    "pt": Phrasebook(
        "{} disse:", "{} perguntou:", "o usuário", "o assistente", "{} e {}", "mais {}",
        "Mensagens sem palavras", "código",
        joints=_set("de do da dos das em no na para por com a ao sobre"),
        openers=_set("isso isto esse esta ele ela eles elas e mas ou também assim sim não então"),
        subjects=_set("eu tu ele ela nós vocês você eles elas me te se nos não"),
    ),
    "nl": Phrasebook(
        "{} zei:", "{} vroeg:", "de gebruiker", "de assistent", "{} en {}", "{} anderen",
        "Berichten zonder woorden", "code",
        joints=_set("van in voor naar met uit bij op over"),
        openers=_set("het dat dit die deze dan hij zij ze en maar of ook ja nee zo"),
        subjects=_set("ik jij je hij zij ze wij we jullie te niet"),
    ),
    "ru": Phrasebook(
        "{}:", "{}:", "пользователь", "ассистент", "{} и {}", "ещё {}", "Сообщения без слов", "код",
        joints=_set("в на для из с о об к по у"),
        openers=_set("это этот эта эти он она они оно и но или также да нет тогда"),
        subjects=_set("я ты он она мы вы они не мне тебе ему ей нам вам им нужна нужен нужно нужны"),
    ),
    "zh": Phrasebook(
        "{}说：", "{}问：", "用户", "助手", "{}和{}", "其他{}人", "没有文字的消息", "代码",
        openers=_set("它 这 那 他 她 所以 但是 而且 因为"),
    ),
    "ja": Phrasebook(
        "{}：", "{}：", "ユーザー", "アシスタント", "{}と{}", "他{}人", "言葉のないメッセージ", "コード",
        openers=_set("それ これ あれ そして でも だから"),
    ),
    "ko": Phrasebook("{}:", "{}:", "사용자", "어시스턴트", "{}, {}", "외 {}명", "말 없는 메시지", "코드"),
    "": Phrasebook("{}:", "{}:", "user", "assistant", "{}, {}", "+{}", "Messages without words", "code"),
}  # fmt: skip
_BY_SCRIPT: Final = {"han": "zh", "kana": "ja", "cyrillic": "ru", "hangul": "ko"}
_READ: Final = 240  # words looked at to guess a language
_LEAST: Final = 0.12  # share of function words below which a language is not believed
_GUESSED: Final = tuple(sorted(name for name in STOP_WORDS if name != "ru"))
# Names that say what somebody is to the agent, not who: left out of titles, written out in summaries.
USERS: Final = frozenset({"user", "human", "customer", "client", "用户", "客户"})
ASSISTANTS: Final = frozenset({"assistant", "agent", "system", "bot", "ai", "model", "助手", "客服"})
SOURCES: Final = _set(
    "tool function calendar sms push note notes photo call email mail notification contact health device"
    " narrator sensor log robot"
)
UNSPACED: Final = frozenset({"han", "kana", "thai", "lao", "khmer", "myanmar"})


def phrasebook(language: str) -> Phrasebook:
    """Return the words to write in a language, bare signs for one that is not known."""
    return PHRASEBOOKS.get(language, PHRASEBOOKS[""])


def guess_language(words: Sequence[str], text: str) -> str:
    """Return the ISO 639-1 code of a text by its script and function words, "" when it cannot be told.

    >>> guess_language("wir haben gestern die neue wohnung gesehen".split(), "Wir haben …")
    'de'
    >>> guess_language([], "昨天我去了上海"), guess_language(["xyzzy"], "xyzzy")
    ('zh', '')
    """
    written = script(text)
    if written != "latin":
        return _BY_SCRIPT.get(written, "")
    counts = dict.fromkeys(_GUESSED, 0)
    for word in words[:_READ]:
        for name in _languages_of(word):
            counts[name] += 1
    # English first among equals: short texts are often only names and "a", "in", "me"
    best = max(_GUESSED, key=lambda name: (counts[name], name == "en"))
    return best if counts[best] >= max(1, _LEAST * len(words[:_READ])) else ""


@lru_cache(maxsize=8192)
def _languages_of(word: str) -> tuple[str, ...]:
    return tuple(name for name in _GUESSED if word in STOP_WORDS[name])


@lru_cache(maxsize=16_384)
def is_function_word(word: str, language: str) -> bool:
    """Tell whether a surface word carries no content in a language; contractions count by their parts.

    >>> is_function_word("don't", "en"), is_function_word("Lisbon", "en")
    (True, False)
    """
    stop = STOP_WORDS.get(language) or STOP_WORDS["en"]
    folded = fold(word.replace("’", "'"))
    if "'" not in folded:
        return folded in stop
    return folded.replace("'", "") in stop or all(part in stop or not part for part in folded.split("'"))
