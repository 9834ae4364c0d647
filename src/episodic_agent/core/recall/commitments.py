"""What somebody took on to do: which messages tell of it, which questions ask for it, and what settles it.

"What did Jonas promise?" is not answered by what sounds like a promise but by "slides will be with you on
Friday", and "leave it with me" says only with the request before it what is meant. Whether a message takes
something on, and whether a question asks for that, two judges tell that were taught by examples; which of it
answers a question a weighed sum of few features tells.

"Got the back room, 4 till 10" settles "I'll ring the Riverside" and shares no word with it; "don't forget the
Riverside" shares its rarest and settles nothing. A judge reads whether a message reports that something is
settled at all; boosted trees over the pair, beside all else that was taken on, whether it is this: well in
one thread, seldom where another tells of it. How its session ended tells it, too: a decision in words of the
promise that says something is done ("19 euros refunded"), not that it is to come ("refund promised by the
31st"), or success once it was due. All judges are made by `tools/train_commitments.py`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache, lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from episodic_agent.core.episodes.languages import ASSISTANTS, content_terms
from episodic_agent.core.facts.stating import SHORT, is_person, likely, parts_of, vector_of
from episodic_agent.core.language import fold, sentences
from episodic_agent.core.recall.alone import QUESTION_MARKS
from episodic_agent.core.recall.due import due_by
from episodic_agent.core.recall.query import ASKER, ASKER_ROLES, people_named
from episodic_agent.data import arrays, phrases
from episodic_agent.schemas import Vector

TAKING: Final = "recall/commitments.npz"
LISTING: Final = "recall/commitments_listed.npz"
ASKING: Final = "recall/commitments_asked.npz"
CHOOSING: Final = "recall/commitments_chosen.npz"
WHOSE: Final = "recall/commitments_whose.npz"
ADDRESSED: Final = "recall/commitments_addressed.npz"
OURS: Final = "recall/commitments_ours.npz"
REQUESTING: Final = "recall/commitments_requests.npz"
BY_OTHERS: Final = "recall/commitments_by_others.npz"
OPEN_SESSIONS: Final = "recall/sessions/open_asked.npz"
SINCE_SESSION: Final = "recall/sessions/since_asked.npz"
ASKED: Final = 0.5  # from which a question asks for commitments
LONGEST: Final = 400  # characters of such a question
MAYBE: Final = 0.3  # from which a message may take something on
LISTED: Final = 0.3  # from which a message is listed as one that takes something on
SURE_TAKING: Final = 0.45  # from which a message takes something on where nothing but whose it is is asked
_PARTS: Final = 12  # of a long message that are judged, its last
BY_NAME: Final = 0.45  # what surely taking something on tells where only its speaker is asked for
LIST_ASKED: Final = 0.6  # how likely a question that names no matter asks for commitments that are listed
SURE: Final = 0.65  # from which surely others' are asked for; up to 1 - that, the asker's
REQUESTS: Final = 0.5  # from which a message only asks something of others
OF_ANOTHER: Final = 0.8  # from which it tells what somebody else takes on
_BOTH: Final = "language/coming.both"
_PIECE: Final = 2  # words of content that what "and" joins has at least, to be something of its own
_SURNAME: Final = 4  # letters of the last word of a name from which it alone names its bearer
_FAR: Final = 4.0  # log-odds beyond which a judge is not believed


class AskedPeople(NamedTuple):
    """Who a question for commitments is about: whose they are, and to whom; by the actors' names, folded.

    `whose` is empty where it names nobody, or a "we". `sure`: nobody else's are asked for. `own`: the asker's
    are, not what they tell of others. `names` are words of the question that name somebody who never spoke:
    to whom, or with `by_them` whose.
    """

    whose: frozenset[str]
    others: frozenset[str]
    sure: bool = False
    own: bool = False
    names: frozenset[str] = frozenset()
    by_them: bool = False

    def keeps(self, undertaking: "Undertaking") -> bool:
        """Tell whether a message is one of theirs, and to whom it is asked for.

        That of somebody else who names them mostly speaks to them. Of "Jonas said he'll pay me back" it is
        Jonas who takes it on, whoever says so.
        """
        text = fold(undertaking.text)
        of_another = undertaking.of_another >= OF_ANOTHER
        if self.by_them and of_another and any(_is_named(text, who) for who in self.whose | self.names):
            return True
        if fold(undertaking.actor) not in self.whose:
            return False
        if self.by_them or not (self.others or self.names):
            return True
        to_them = undertaking.in_thread or undertaking.others_near
        setting = f"{text}\n{undertaking.setting}"
        return to_them or any(_is_named(setting, who) for who in self.others | self.names)

    def lists(self, undertaking: "Undertaking") -> bool:
        """Tell whether one of theirs is taken on by them: of others is only asked something, of them told."""
        return undertaking.of_another < OF_ANOTHER if self.own else undertaking.asks < REQUESTS

    def naming(self, terms: Iterable[str], some: Iterable["Undertaking"]) -> "AskedPeople":
        """Return them with those words of the question that name somebody beside some messages.

        Whoever bears such a name takes nothing on toward themselves.
        """
        texts = [f"{fold(one.text)}\n{one.setting}" for one in some]
        names = frozenset(term for term in terms if any(_names(text, term) for text in texts))
        if self.own or self.others or not names or not self.sure:
            return self
        bearers = frozenset(who for who in self.whose if any(_names(who, name) for name in names))
        return self._replace(names=names, whose=bearers if self.by_them else self.whose - bearers)


class Undertaking(NamedTuple):
    """A message that may take something on, beside a question.

    `answers`: somebody else spoke just before it; `likelihood` is that of taking something on; `cosine` and
    `held` (of the question's words, by rarity, of the best 1) are its own or of what it answers, `held_near`
    of the messages around it; `in_thread`: the question names its thread; `others_near`: somebody else whom
    the question names speaks beside it.
    """

    actor: str
    text: str
    answers: bool
    likelihood: float
    cosine: float
    held: float
    held_near: float
    in_thread: bool
    others_near: bool
    days: float
    asks: float = 0.0
    of_another: float = 0.0
    setting: str = ""


FEATURES: Final = (
    "takes on", "cosine", "terms", "no terms", "by whom is asked", "by another", "nobody asked of",
    "names whom is asked of", "names the other", "days", "asks", "terms near", "in the thread",
    "the other near",
)  # fmt: skip


def asks_for_commitments(question: str, vector: Vector | None = None, least: float = ASKED) -> bool:
    """Tell whether a question is for what somebody promised, or has yet to do.

    `vector` [384] is that of the judges' embedder, None: none; `least` is how likely it must be.

    >>> asks_for_commitments("What did I promise Lena?"), asks_for_commitments("Where does Lena live?")
    (True, False)
    """
    return len(question) <= LONGEST and likely(ASKING, question, vector) >= least


def asks_for_open_sessions(question: str, vector: Vector | None = None) -> bool:
    """Tell whether a question is for the sessions that are open; `vector` as in `asks_for_commitments`.

    >>> asks_for_open_sessions("which tickets are open?"), asks_for_open_sessions("which shops are open?")
    (True, False)
    """
    return len(question) <= LONGEST and likely(OPEN_SESSIONS, question, vector) >= SURE


def asks_since_session(question: str, vector: Vector | None = None) -> bool:
    """Tell whether a question is for what is new since the last session; `vector` as above.

    >>> questions = "what changed since the last ticket?", "what was in the last ticket?"
    >>> [asks_since_session(question) for question in questions]
    [True, False]
    """
    return len(question) <= LONGEST and likely(SINCE_SESSION, question, vector) >= SURE


def asking_sentence(question: str) -> str:
    """Return the sentence of a message that asks for commitments, the whole where it has one sentence.

    Whoever asks says good morning before it, and why behind it: neither says what was taken on.

    >>> asking_sentence("Morning! What did I promise Lena? I feel like I'm forgetting things.")
    'What did I promise Lena?'
    """
    parts = sentences(question) if len(question) <= LONGEST else []
    if len(parts) < 2:
        return question
    best = max(parts, key=lambda part: likely(ASKING, part))
    return best if likely(ASKING, best) >= max(ASKED, likely(ASKING, question)) else question


def takes_on(text: str, vector: Vector | None = None) -> float:
    """Return how likely a message takes something on, for whoever it tells of; in [0, 1].

    A long message does where one of its sentences does.
    """
    parts = [text[start:end] for start, end in parts_of(text)][-_PARTS:]
    if len(parts) < 2:
        return likely(TAKING, text, vector)
    by_words = max(likely(TAKING, part) for part in parts)
    return by_words if vector is None else 0.5 * (by_words + likely(TAKING, text, vector))


def only_asks(text: str, vector: Vector | None = None) -> float:
    """Return how likely a message asks something of others, or complains, and takes nothing on; in [0, 1].

    >>> only_asks("I want my money back") > REQUESTS > only_asks("You get your money back by Friday")
    True
    """
    return _where_taking(REQUESTING, text, vector)


def of_another(text: str, vector: Vector | None = None) -> float:
    """Return how likely what a message tells of is taken on by somebody else than who speaks; in [0, 1].

    >>> texts = "Jonas said he'll pay me back the 60 on Sunday", "I'll pay Jonas back"
    >>> [of_another(text) > OF_ANOTHER for text in texts]
    [True, False]
    """
    return _where_taking(BY_OTHERS, text, vector)


def _where_taking(judge: str, text: str, vector: Vector | None) -> float:
    """Return how likely a judge holds a message for what it looks for: the least of all that takes on."""
    parts = [text[start:end] for start, end in parts_of(text)][-_PARTS:] or [text]
    taking = [part for part in parts if likely(TAKING, part) >= SURE_TAKING] or parts
    by_words = min(likely(judge, part) for part in taking)
    return by_words if vector is None else 0.5 * (by_words + likely(judge, text, vector))


def may_be_listed(text: str) -> bool:
    """Tell whether a message likely takes something on among all that is said in weeks, by its words.

    What finds commitments was taught by lines of which half take something on, and takes "van: they have one
    for 390" for one; this judge heard the rest of the talk, too.

    >>> may_be_listed("then I bring the rope"), may_be_listed("van: they have a 7-seater for 390 the weekend")
    (True, False)
    """
    return max(likely(LISTING, text[start:end]) for start, end in parts_of(text)[-_PARTS:]) >= LISTED


def undertakings(text: str, language: str | None = None) -> tuple[str, ...]:
    """Return the sentences of a message that take something on; all of a short one that has no two of them.

    >>> undertakings("I'll call Jo.")
    ("I'll call Jo.",)
    >>> undertakings("Sure, I'll call Jo on Friday. And I'll book the van.")
    ("Sure, I'll call Jo on Friday.", "And I'll book the van.")
    """
    parts = tuple(part for part in sentences(text, language)[-_PARTS:] if likely(TAKING, part) >= SURE_TAKING)
    enough = len(parts) > 1 or (parts and len(text) > SHORT)
    return parts if enough else (text,)


def parts_taken_on(text: str, language: str | None = None) -> tuple[str, ...]:
    """Return the parts of what takes something on of which one may be settled and another not, in its words.

    That is each sentence that does, with those around it that do not, and what "and" joins in one where
    each side has words of content.

    >>> parts_taken_on("I'll book the vet and order the cake.")
    ("I'll book the vet", 'order the cake.')
    >>> parts_taken_on("I'll bring bread and butter.")
    ("I'll bring bread and butter.",)
    """
    rows: list[str] = []
    pending = ""
    for sentence in sentences(text, language):
        if likely(TAKING, sentence) >= MAYBE:
            rows.append(f"{pending} {sentence}".strip())
            pending = ""
        elif rows:
            rows[-1] += f" {sentence}"
        else:
            pending = f"{pending} {sentence}".strip()
    return tuple(part for row in rows or [text] for part in _joined(row, language))


def _joined(sentence: str, language: str | None) -> Iterator[str]:
    pieces = re.split(rf"\s+(?:{'|'.join(phrases(_BOTH))})\s+", sentence)
    own = all(len(content_terms(piece, language)) >= _PIECE for piece in pieces)
    yield from (piece.rstrip(",") for piece in pieces) if own else (sentence,)


def towards_commitments() -> Vector:
    """Return the direction [384] in the judges' embedder's space in which what takes something on lies."""
    return vector_of(TAKING)


def people_asked(
    question: str, actors: Iterable[str], owner: str, vector: Vector | None = None
) -> AskedPeople:
    """Return who is asked of: a judge tells whether the asker or others, else whoever is named first.

    Where others are asked of and none is named, that is everybody else; "you" is an assistant. `vector` [384]
    is that of the judges' embedder, None: none.

    >>> asked = people_asked("what did I promise Lena?", ["Ana", "Lena"], "Ana")
    >>> sorted(asked.whose), sorted(asked.others)
    (['ana', 'human', 'user'], ['lena'])
    >>> people_asked("did Lena promise me anything?", ["Ana", "Lena"], "Ana").whose
    frozenset({'lena'})
    >>> people_asked("was schulden mir die anderen noch?", ["Ana", "Lena"], "Ana").whose
    frozenset({'lena'})
    >>> people_asked("what did you promise me?", ["Ana", "Lena", "assistant"], "Ana").whose
    frozenset({'assistant'})
    >>> sorted(people_asked("what did we promise Lena?", ["Ana", "Ben", "Lena"], "Ana").whose)
    ['ana', 'ben', 'human', 'user']
    """
    askers, actors = frozenset({fold(owner), *ASKER_ROLES}), list(actors)
    named = [(at, frozenset({fold(actor)})) for at, actor in people_named(question, actors)]
    people = frozenset().union(*(who for _, who in named)) - askers
    spoken_to = frozenset(map(fold, actors)) & ASSISTANTS
    if spoken_to and not people and likely(ADDRESSED, question, vector) >= SURE:
        return AskedPeople(spoken_to, frozenset(), sure=True)
    everybody = frozenset(fold(actor) for actor in actors if is_person(actor))
    if likely(OURS, question, vector) >= SURE:  # anybody's but theirs to whom it is
        return AskedPeople((askers | everybody) - people, people, sure=True)
    by_others = likely(WHOSE, question, vector)
    if by_others >= SURE:
        return AskedPeople(people or everybody - askers, frozenset(), sure=True, by_them=True)
    if by_others <= 1.0 - SURE:
        return AskedPeople(askers, people, sure=True, own=True)
    asking = re.search(ASKER, question.casefold())
    named += [(asking.start(), askers)] if asking else []
    named.sort(key=lambda one: one[0])
    if not named and likely(ASKING, question, vector) >= LIST_ASKED:  # "which promises are open?": anybody's
        return AskedPeople(askers | everybody, frozenset(), sure=True)
    whose = named[0][1] if named else frozenset()
    return AskedPeople(whose, frozenset().union(*(who for _, who in named[1:])) - whose)


def answering(asked: AskedPeople, some: Sequence[Undertaking]) -> NDArray[np.float64]:
    """Return how likely each of some messages tells what a question for commitments asks for; in [0, 1]."""
    if not some:
        return np.zeros(0)
    weights, base = _chosen()
    result: NDArray[np.float64] = 1.0 / (1.0 + np.exp(-(features(asked, some) @ weights + base)))
    return result


def by_name_alone(asked: AskedPeople, some: Iterable[Undertaking]) -> float:
    """Return how likely a message is what a question asks for that names nothing but whose it is; in [0, 1].

    "What did Jonas promise?" has no word of what he took on: nothing but that he did, and he alone, answers.
    Of "what did we promise?" anybody's does.
    """
    by_them = (one.likelihood for one in some if not asked.whose or fold(one.actor) in asked.whose)
    return BY_NAME * max(by_them, default=0.0)


def features(asked: AskedPeople, some: Sequence[Undertaking]) -> NDArray[np.float64]:
    """Return what messages are chosen by, a row each, as `FEATURES` names it."""
    wordless = not any(undertaking.held > 0 for undertaking in some)
    return np.array([_features(asked, undertaking, wordless=wordless) for undertaking in some])


def _features(asked: AskedPeople, undertaking: Undertaking, *, wordless: bool) -> list[float]:
    odds = np.log(max(undertaking.likelihood, 1e-6) / max(1.0 - undertaking.likelihood, 1e-6))
    speaker, text = fold(undertaking.actor), fold(undertaking.text)
    said_by = speaker in asked.whose
    names = any(_names(text, who) for who in asked.whose)
    other = any(_names(text, who) for who in asked.others)
    return [
        float(np.clip(odds, -_FAR, _FAR)),
        undertaking.cosine,
        undertaking.held,
        float(wordless),
        float(said_by),
        float(bool(asked.whose) and not said_by and is_person(undertaking.actor)),
        float(not asked.whose),
        float(names and not said_by),
        float(other),
        float(np.log1p(max(undertaking.days, 0.0))),
        float(undertaking.text.rstrip().endswith(QUESTION_MARKS)),
        undertaking.held_near,
        float(undertaking.in_thread),
        float(undertaking.others_near),
    ]


def _names(text: str, who: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(who)}(?!\w)", text) is not None


def _is_named(text: str, who: str) -> bool:
    """Tell whether a text names somebody, by all of the name or by its last word: "Ms Okafor"."""
    last = who.rsplit(maxsplit=1)[-1] if who.split() else who
    return _names(text, who) or (len(last) >= _SURNAME and _names(text, last))


@cache
def _chosen() -> tuple[NDArray[np.float64], float]:
    shipped = arrays(CHOOSING)
    return shipped["weights"].astype(np.float64), float(shipped["base"])


REPORTING: Final = "recall/settled.npz"
PAIRING: Final = "recall/settled_pairs.npz"
DECIDED: Final = "recall/settled_decided.npz"
DONE: Final = 0.5  # from which a decision says that something is done,
DONE_WELL: Final = 0.3  # and where its session ended well
SHARED: Final = 0.3  # share of a decision's words, by rarity, that what it settles has
_BEYOND: Final = 40  # messages of a thread from which on it does not matter how many stand between
_SHORT: Final = 6  # words of a message that says only by its place what it is about


class Report(NamedTuple):
    """A message beside something that was taken on before it.

    `length` counts its words. `likelihood`: it reports that something is settled; `takes_on`: it takes
    something on itself. `cosine` is how near its words are, `with_before` these and the message before it,
    `margin` how much nearer the nearer of both is than to the next of all that was taken on; `held` is which
    share of the words that were taken on, by rarity, it holds, `held_margin` how much more of them than of
    the next, `held_near` which share the messages before it hold. `between` counts the messages between in
    one thread (None: it stands in another), `others_between` what else was taken on between; `in_stream`:
    they stand in one thread, or in two that silence parted. `by_whose`: whoever took it on says it;
    `by_asker`: who had asked for it.
    """

    text: str
    length: int
    likelihood: float
    takes_on: float
    cosine: float
    with_before: float
    margin: float
    held: float
    held_margin: float
    held_near: float
    between: int | None
    others_between: int
    in_stream: bool
    by_whose: bool
    by_asker: bool
    days: float


SETTLING_FEATURES: Final = (
    "reports", "takes on", "cosine", "with before", "margin", "terms", "terms margin", "terms near",
    "in the thread", "in the stream", "between", "others between", "the last", "by whose", "by the asker",
    "days", "asks", "short", "short and last", "reports and margin", "reports and terms", "reports and last",
)  # fmt: skip


def reports(text: str, vector: Vector | None = None) -> float:
    """Return how likely a message reports that something is settled, in [0, 1].

    `vector` [384] is that of the judges' embedder, None: none.
    """
    return likely(REPORTING, text, vector)


def towards_reports() -> Vector:
    """Return the direction [384] in the judges' embedder's space in which reports lie."""
    return vector_of(REPORTING)


def says_done(decision: str, at: datetime, *, well: bool) -> bool:
    """Tell whether a decision of a session that ended at `at` says that something is done, and not to come.

    `well`: the session ended with success.

    >>> from datetime import UTC
    >>> at = datetime(2026, 10, 23, tzinfo=UTC)
    >>> [says_done(text, at, well=True) for text in ("report sent", "refund of 12 promised until 31 October")]
    [True, False]
    """
    due = due_by(decision, at)
    return (due is None or due <= at.date()) and likely(DECIDED, decision) >= (DONE_WELL if well else DONE)


def pieces_settled(
    decided: Iterable[str], pieces: Sequence[frozenset[str]], weights: Mapping[str, float]
) -> list[int]:
    """Return the places of those pieces that the words of a decision settle: the ones that share most.

    A piece is words of what was taken on. `weights` are of words by rarity, of those that are known; a piece
    shares more than `SHARED` of all.

    >>> crown, bill = frozenset({"crown", "lab"}), frozenset({"bill"})
    >>> pieces_settled(["crown", "fitted"], [crown, bill], {"crown": 2.0})
    [0]
    """
    known = {term: weights[term] for term in decided if term in weights}
    shares = [sum(weight for term, weight in known.items() if term in piece) for piece in pieces]
    best = max(shares, default=0.0)
    return (
        [n for n, share in enumerate(shares) if share == best] if best > SHARED * sum(known.values()) else []
    )


def settling(some: Sequence[Report]) -> NDArray[np.float64]:
    """Return how likely each of some messages settles what it stands beside, in [0, 1]."""
    if not some:
        return np.zeros(0)
    return _pairing().likely(settling_features(some))


def settling_features(some: Sequence[Report]) -> NDArray[np.float64]:
    """Return what messages beside something taken on are judged by, a row each, as `FEATURES` names it."""
    return np.array([_settling_features(report) for report in some])


def _settling_features(report: Report) -> list[float]:
    reported, takes_on = _certainty(report.likelihood), _certainty(report.takes_on)
    between = _BEYOND if report.between is None else min(report.between, _BEYOND)
    short = float(report.length <= _SHORT)
    last = float(report.between is not None and not report.others_between)
    return [
        reported,
        takes_on,
        report.cosine,
        report.with_before,
        report.margin,
        report.held,
        report.held_margin,
        report.held_near,
        float(report.between is not None),
        float(report.in_stream),
        float(np.log1p(between)),
        float(np.log1p(report.others_between)),
        last,
        float(report.by_whose),
        float(report.by_asker),
        float(np.log1p(max(report.days, 0.0))),
        float(report.text.rstrip().endswith(QUESTION_MARKS)),
        short,
        short * last,
        report.likelihood * max(report.margin, 0.0),
        report.likelihood * max(report.held_margin, 0.0),
        report.likelihood * last,
    ]


@lru_cache(maxsize=4096)  # a message is judged beside each thing that was taken on
def _certainty(share: float) -> float:
    """Return the log-odds of a likelihood, as far as its judge is believed."""
    return float(np.clip(np.log(max(share, 1e-6) / max(1.0 - share, 1e-6)), -_FAR, _FAR))


class PairTrees(NamedTuple):
    """Boosted trees over a pair's features.

    A report is believed by its words where it stands next, by what it names where it stands far away.
    Each array is [trees, nodes], a tree's root first: what a node asks (`feature` at most `threshold`), where
    it leads (`left`, `right`; a leaf to itself), and what it adds to the log-odds, which begin at `base`.
    """

    feature: NDArray[np.intp]
    threshold: NDArray[np.float64]
    left: NDArray[np.intp]
    right: NDArray[np.intp]
    value: NDArray[np.float64]
    base: float
    depth: int

    def likely(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability of each row of features, [n]."""
        trees = np.arange(len(self.feature))
        at = np.zeros((len(rows), len(trees)), np.intp)
        beside = np.arange(len(rows))[:, None]
        for _ in range(self.depth):
            below = rows[beside, self.feature[trees, at]] <= self.threshold[trees, at]
            at = np.where(below, self.left[trees, at], self.right[trees, at])
        result: NDArray[np.float64] = 1.0 / (1.0 + np.exp(-(self.value[trees, at].sum(axis=1) + self.base)))
        return result


@cache
def _pairing() -> PairTrees:
    shipped = arrays(PAIRING)
    feature, left, right = (shipped[name].astype(np.intp) for name in ("feature", "left", "right"))
    threshold, value = (shipped[name].astype(np.float64) for name in ("threshold", "value"))
    return PairTrees(feature, threshold, left, right, value, float(shipped["base"]), int(shipped["depth"]))
