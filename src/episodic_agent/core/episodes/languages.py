"""What extraction knows about languages: which one a text is in, and the words a summary is written with.

Some words say little about what an episode is about: talk, not topic (`data/language/weak.toml`).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from episodic_agent.core.language import fold, script, tokens, words
from episodic_agent.core.language.coming import words_pattern
from episodic_agent.core.language.remembering import LONGEST, remembered
from episodic_agent.core.language.terms import stop_words
from episodic_agent.data import listed_words, phrases, tables, text, texts


@dataclass(frozen=True, slots=True)
class Phrasebook:
    """The words around extracted sentences; `{}` stands for a name.

    `joints` may stand inside a noun phrase, `openers` point back, after `subjects` comes a verb.
    """

    says: str
    asked: str
    user: str
    assistant: str
    empty: str
    code: str
    joints: frozenset[str] = frozenset()
    openers: frozenset[str] = frozenset()
    subjects: frozenset[str] = frozenset()


_BY_SCRIPT: Final = {"han": "zh", "kana": "ja", "cyrillic": "ru", "hangul": "ko"}
_READ: Final = 240  # words looked at to guess a language
_LEAST: Final = 0.12  # share of function words below which a language is not believed
_CERTAIN: Final = 2  # different function words of a language whose other function words tell nothing
_FEW: Final = 2  # words in which one function word tells nothing
_NO_WORDS: Final = re.compile(
    r"\x1b\].*?(?:\x07|\x1b\\)|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|</?[a-zA-Z][^<>]*>|\b[a-zA-Z]+://[^\s\])>]+"
)
_PLAIN: Final = re.compile(r"[^\W\d_]+")
_ELIDED: Final = re.compile(r"\b([^\W\d_])['’](?=\w)")  # j'habite, l’été


@cache
def _guessed() -> tuple[str, ...]:
    return tuple(sorted(name for name in stop_words() if name != "ru"))


# Names that say what somebody is to the agent, not who: left out of titles, written out in summaries.
USERS: Final = frozenset({"user", "human", "customer", "client", "用户", "客户"})
ASSISTANTS: Final = frozenset({"assistant", "agent", "system", "bot", "ai", "model", "助手", "客服"})
SOURCES: Final = frozenset(
    {
        "tool", "function", "calendar", "sms", "push", "note", "notes", "photo", "call", "email", "mail",
        "notification", "contact", "health", "device", "narrator", "sensor", "log", "robot",
    }
)  # fmt: skip
# Who only instructs an assistant: what they write is no title.
PROMPTS: Final = frozenset({"system", "developer"})
UNSPOKEN: Final = SOURCES | PROMPTS  # no part of the talk: they stand in summaries where nobody talks
UNSPACED: Final = frozenset({"han", "kana", "thai", "lao", "khmer", "myanmar"})


def phrasebook(language: str) -> Phrasebook:
    """Return the words to write in a language, bare signs for one that is not known."""
    books = phrasebooks()
    return books.get(language, books["none"])


@cache
def phrasebooks() -> Mapping[str, Phrasebook]:
    """Return the words to write in each language there are some of."""
    return {language: _read_book(language, book) for language, book in tables("language/phrasebooks").items()}


def _read_book(language: str, book: Mapping[str, str]) -> Phrasebook:
    def listed(name: str) -> frozenset[str]:
        return listed_words(f"language/phrasebooks.{language}.{name}") if name in book else frozenset()

    return Phrasebook(
        book["said"], book["asked"], book["user"], book["assistant"],
        book["empty"], book["code"], listed("joints"), listed("openers"), listed("subjects"),
    )  # fmt: skip


def guess_language(text: str, least: int = 1) -> str:
    """Return the ISO 639-1 code of a text by its script and function words, "" when it cannot be told.

    In Latin script a language other than English takes at least `least` different function words, one of
    them longer than a letter (or elided), and as many more than English where that has some; a single one
    must be its own, among several words.
    Terminal sequences, tags and addresses are no words. What is in a language without words here, as Turkish,
    is in none: its neighbours' are not its own.

    >>> guess_language("Wir haben gestern die neue Wohnung gesehen"), guess_language("昨天我去了上海")
    ('de', 'zh')
    >>> guess_language("Voilà la photo de la fenêtre"), guess_language("La habitación de la niña")
    ('fr', 'es')
    >>> guess_language("Ne zaman gelecek, yarın de var mı?"), guess_language("Коли приїде лікар?")
    ('', '')
    >>> [guess_language(text) for text in ("xyzzy", "x y", "word word word", "reply l, s, n: the seal")]
    ['', '', '', 'en']
    >>> [guess_language("Was steht heute an?", least=least) for least in (1, 2)]
    ['en', '']
    """
    return _language_of_text(text, least)


@remembered(256, longest=4 * LONGEST)  # an episode's words, its part's and its chain's begin with the same
def _language_of_text(text: str, least: int) -> str:
    plain = _NO_WORDS.sub(" ", text)
    written = script(plain)
    read = list(dict.fromkeys(words(plain)[:_READ]))
    others = len(other_words(plain, read))
    if written != "latin":
        return "" if others > _LEAST * len(read) else _BY_SCRIPT.get(written, "")
    elided = {fold(letter) for letter in _ELIDED.findall(plain)}
    seen = {name: [word for word in read if name in _languages_of(word)] for name in _guessed()}
    # other letters are anything: a list's, a variable's
    numbers = {name: sum(len(word) > 1 or word in elided for word in seen[name]) for name in seen}
    # English first among equals: short texts are often only names and "a", "in", "me"
    best = max(_guessed(), key=lambda name: (numbers[name], len(seen[name]), name == "en"))
    if best != "en":
        like = [n for n in seen if (numbers[n], len(seen[n])) == (numbers[best], len(seen[best]))]
        # of those whose spelling tells nothing the first stands
        best = max(like, key=lambda name: _spelled(plain, name)) if len(like) > 1 else best
    least_seen = max(1, _LEAST * len(read))
    if others and others >= len(seen[best]):
        return ""
    if best != "en" and len(seen[best]) >= least_seen and _is_sure(best, seen, len(read), least):
        lead = numbers[best] - numbers["en"]
        if lead >= (least if numbers["en"] else 1) and len(seen[best]) > len(seen["en"]):
            return best
    if len(seen["en"]) < least_seen or (least > 1 and not _is_sure_english(seen, len(read), least)):
        return ""
    return "en"


def other_words(text: str, read: Sequence[str]) -> set[str]:
    """Return those of a text's words `read` (folded) that are of a language in which nothing is written here.

    That is by a list of such words, or by letters in its lower-case words that no other language writes.
    """
    lists, letters = _others()
    lower = (word for word in _PLAIN.findall(text) if word[0].islower())  # no names
    lettered = {fold(word) for word in lower if not letters.isdisjoint(word)}
    return {word for word in read if word in lists or word in lettered}


@cache
def _others() -> tuple[frozenset[str], frozenset[str]]:
    listed = (
        listed_words(f"language/own_words.others.{name}") for name in texts("language/own_words.others")
    )
    return frozenset().union(*listed), listed_words("language/own_words.other_letters.all")


def _spelled(text: str, language: str) -> int:
    """Count what of a text is spelled as in a language, and not as in its neighbours."""
    pattern = _spellings().get(language)
    return 0 if pattern is None else len(set(pattern.findall(text.lower())))


@cache
def _spellings() -> Mapping[str, re.Pattern[str]]:
    return {name: re.compile(forms) for name, forms in texts("language/spellings").items()}


def content_terms(text: str, language: str | None = None) -> list[str]:
    """Return the search terms of a text without the function words of the language it is in.

    Terms leave out those of the declared language, or of English: "hat" is a word like others to a memory
    that says nothing of German. Of a text of nothing else all terms are left.

    >>> content_terms("Was hat der Notar gekostet?"), content_terms("der die das")
    (['notar', 'gekostet'], ['der', 'die', 'das'])
    """
    terms = tokens(text, language)
    functional = stop_words().get(guess_language(text, least=_CERTAIN), frozenset())
    empty = {term for word in words(text) if word in functional for term in tokens(word, language)}
    return [term for term in terms if term not in empty] or terms


def _is_sure_english(texts: Mapping[str, Sequence[str]], length: int, least: int) -> bool:
    """Tell whether words are English rather than shared with it; one alone must be its own."""
    others = max(len(texts[name]) for name in texts if name != "en")
    return len(texts["en"]) > others and (len(texts["en"]) >= least or (not others and length > _FEW))


def _is_sure(best: str, texts: Mapping[str, Sequence[str]], length: int, least: int) -> bool:
    """Tell whether a language is more than a chance (of neighbours that share words the first stands)."""
    if len(texts[best]) > 1:
        return len(texts[best]) >= least
    alone = not any(texts[name] for name in texts if name != best)
    return least == 1 and length > _FEW and alone


@lru_cache(maxsize=8192)
def _languages_of(word: str) -> tuple[str, ...]:
    return tuple(name for name in _guessed() if word in stop_words()[name])


@lru_cache(maxsize=16_384)
def is_function_word(word: str, language: str) -> bool:
    """Tell whether a surface word carries no content in a language; contractions count by their parts.

    >>> is_function_word("don't", "en"), is_function_word("Lisbon", "en")
    (True, False)
    """
    stop = stop_words().get(language) or stop_words()["en"]
    folded = fold(word.replace("’", "'"))
    if "'" not in folded:
        return folded in stop
    return folded.replace("'", "") in stop or all(part in stop or not part for part in folded.split("'"))


_TALK: Final = ("english_verbs", "german", "spanish", "french", "others")
# Characters that break a run unless they are part of one of these words.
_HAN_DOUBTFUL: Final = (
    r"有(?![限效关机趣名])|(?<![性功可智技])能(?![力量源耗])|(?<![主重需])要(?![求点素])|(?<!感)想(?![法象])"
)


@cache
def light() -> frozenset[str]:
    """Return the folded words (verbs, adverbs, exclamations) that never stand in a key phrase."""
    return frozenset(fold(word) for name in _TALK for word in listed_words(f"language/weak.{name}"))


@cache
def weak() -> frozenset[str]:
    """Return the folded words (adjectives, nouns for anything) that alone make no key phrase."""
    return listed_words("language/weak.english_weak")


@cache
def negation() -> re.Pattern[str]:
    """Return what matches a word that turns what is told into its opposite, in a folded text."""
    return re.compile(rf"{words_pattern(phrases('facts/cues.negation')).pattern}|\w+n['’]t(?!\w)")


@cache
def abbreviated() -> frozenset[str]:
    """Return the folded words written with a stop that ends nothing: "Dr. Peña"."""
    return listed_words("language/fillers.stopped")


@cache
def han_run() -> re.Pattern[str]:
    """Return what breaks a run of Chinese or Japanese characters into pieces that may be names."""
    breaks = sorted(text("language/weak.han_breaks").split(), key=len, reverse=True)
    characters = text("language/weak.han_break_characters")
    return re.compile("|".join([*map(re.escape, breaks), _HAN_DOUBTFUL, f"[{characters}]", r"[^\w]+", r"_"]))
