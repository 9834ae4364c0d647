"""What somebody took on to do: which messages tell of it, which questions ask for it, and whose it is.

"What did Jonas promise?" is not answered by what sounds like a promise but by "slides will be with you on
Friday", and "leave it with me" says only with the request before it what is meant. Whether a message takes
something on, and whether a question asks for that, two judges tell that were taught by examples; which of it
answers a question a weighed sum of few features tells. All are made by `tools/train_commitments.py`.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from episodic_agent.core.episodes.languages import ASSISTANTS
from episodic_agent.core.facts.stating import SHORT, is_person, likely, parts_of, vector_of
from episodic_agent.core.language import fold, sentences
from episodic_agent.core.recall.alone import QUESTION_MARKS
from episodic_agent.core.recall.query import ASKER, ASKER_ROLES, people_named
from episodic_agent.data import arrays
from episodic_agent.schemas import Vector

TAKING: Final = "recall/commitments.npz"
LISTING: Final = "recall/commitments_listed.npz"
ASKING: Final = "recall/commitments_asked.npz"
CHOOSING: Final = "recall/commitments_chosen.npz"
WHOSE: Final = "recall/commitments_whose.npz"
ADDRESSED: Final = "recall/commitments_addressed.npz"
ASKED: Final = 0.45  # from which a question asks for commitments
LONGEST: Final = 400  # characters of such a question
LISTED: Final = 0.3  # from which a message is listed as one that takes something on
SURE_TAKING: Final = 0.45  # from which a message takes something on where nothing but whose it is is asked
_PARTS: Final = 12  # of a long message that are judged, its last
BY_NAME: Final = 0.45  # what surely taking something on tells where only its speaker is asked for
LIST_ASKED: Final = 0.6  # how likely a question that names no matter asks for commitments that are listed
SURE: Final = 0.65  # from which surely others' are asked for; up to 1 - that, the asker's
_FAR: Final = 4.0  # log-odds beyond which a judge is not believed


class AskedPeople(NamedTuple):
    """Who a question for commitments is about: whose they are, and to whom; by the actors' names, folded.

    `whose` is empty where it names nobody, or a "we". `sure`: nobody else's are asked for.
    """

    whose: frozenset[str]
    others: frozenset[str]
    sure: bool = False

    def keeps(self, undertaking: "Undertaking") -> bool:
        """Tell whether a message is one of theirs, and to whom it is asked for.

        That of somebody else who names them mostly speaks to them.
        """
        text = fold(undertaking.text)
        to_them = undertaking.in_thread or undertaking.others_near
        return fold(undertaking.actor) in self.whose and (
            not self.others or to_them or any(_names(text, who) for who in self.others)
        )


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


def takes_on(text: str, vector: Vector | None = None) -> float:
    """Return how likely a message takes something on, for whoever it tells of; in [0, 1].

    A long message does where one of its sentences does.
    """
    parts = [text[start:end] for start, end in parts_of(text)][-_PARTS:]
    if len(parts) < 2:
        return likely(TAKING, text, vector)
    by_words = max(likely(TAKING, part) for part in parts)
    return by_words if vector is None else 0.5 * (by_words + likely(TAKING, text, vector))


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
    """
    askers, actors = frozenset({fold(owner), *ASKER_ROLES}), list(actors)
    named = [(at, frozenset({fold(actor)})) for at, actor in people_named(question, actors)]
    people = frozenset().union(*(who for _, who in named)) - askers
    spoken_to = frozenset(map(fold, actors)) & ASSISTANTS
    if spoken_to and not people and likely(ADDRESSED, question, vector) >= SURE:
        return AskedPeople(spoken_to, frozenset(), sure=True)
    by_others = likely(WHOSE, question, vector)
    if by_others >= SURE:
        everybody = frozenset(fold(actor) for actor in actors if is_person(actor)) - askers
        return AskedPeople(people or everybody, frozenset(), sure=True)
    if by_others <= 1.0 - SURE:
        return AskedPeople(askers, people, sure=True)
    asking = re.search(ASKER, question.casefold())
    named += [(asking.start(), askers)] if asking else []
    named.sort(key=lambda one: one[0])
    if not named and likely(ASKING, question, vector) >= LIST_ASKED:  # "which promises are open?": anybody's
        return AskedPeople(
            askers.union(fold(actor) for actor in actors if is_person(actor)), frozenset(), sure=True
        )
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


@cache
def _chosen() -> tuple[NDArray[np.float64], float]:
    shipped = arrays(CHOOSING)
    return shipped["weights"].astype(np.float64), float(shipped["base"])
