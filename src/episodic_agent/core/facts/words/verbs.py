"""English verbs by what they say of a speaker, and their forms: what is looked up of a clause's verb."""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from episodic_agent.core.entities.lists import word_set

# Done again and again when told in the present: they need no word of time.
PRACTISED: Final = word_set(
    """
    sing knit crochet sew bake garden volunteer coach foster mentor commute cycle climb surf ski skate
    box row fence blog meditate journal pray fast brew breed collect restore paint draw sketch sculpt jog
    swim hike dance fish hunt sail kayak camp babysit tutor recycle compost busk juggle forage whittle
    carve weave quilt embroider skateboard snowboard bike moderate referee umpire drum windsurf paddle
    dive homebrew ferment vape gamble freelance deadlift sleepwalk snore stammer stutter smoke lift
    translate teach farm preach conduct compose sculpt photograph craft crossdress cosplay fly spin
    trade invest tithe
    """
)
# Told in the present with what is done, they are habits too.
DONE: Final = word_set(
    """
    play eat drink wear use keep make grow write read watch drive ride run do take get go cook buy wake
    sleep walk work train attend practise practice listen follow support own pay bank rent share carry
    brew chair lead manage repair fix build sell serve donate raise subscribe skip avoid shower live
    perform record design code shave visit host edit review rise breastfeed study speak save order wash
    clean iron organise organize budget track log count weigh measure inject vote belong identify celebrate
    observe worship sit stand deliver sponsor represent publish coach race compete spend tend have call
    swear split cut dye colour style holiday vacation winter summer turn rely bring help look pick
    """
)
# Of these, the ones that seldom tell of the moment.
STEADY: Final = word_set(
    """
    play keep wear attend practise practice read watch drink eat lead manage chair support grow brew ride
    drive sleep rent share serve belong donate raise wake breed support subscribe own
    """
)
# Of the mind and of talk: in the present they tell about the moment.
TALK: Final = word_set(
    """
    think know mean guess hope suppose wonder say tell swear promise agree feel see hear seem look need
    want wish remember forget understand believe reckon bet doubt expect imagine assume appreciate thank
    apologise apologize love like hate prefer enjoy adore notice realise realize find figure ask mind
    trust care matter fancy dislike loathe detest despise regret deserve owe sound appear gather worry
    pretend miss
    """
)
# What is told of a life once and for all.
LIFE: Final = word_set(
    """
    graduate qualify join leave quit resign retire found start open win marry divorce separate adopt move
    emigrate immigrate inherit publish survive captain sail cycle hike row climb convert enlist represent
    compete exhibit intern elope hitchhike backpack grow serve teach study live work spend break train
    swim run walk coach co-found cofound launch build earn pass fail drop become tour debut perform record
    volunteer relocate patent illustrate translate settle desert flee escape apprentice
    """
)
# They say little without what is done.
LIGHT: Final = word_set(
    "get go have make try decide see do take put come give find start want feel end stay be use bring check"
    " look keep let reiterate mention ask send call tell eat grab contact head prepare watch struggle manage"
    " pick turn"
)
# What is done at a desk is the day's work.
OFFICE: Final = word_set(
    "upload submit adjust review update add create implement deploy install configure test fix debug"
    " schedule reschedule"
    " allocate finalize draft revise edit rewrite send receive email finish complete check call text"
    " order pay try stay"
    " decide plan notice realise end set reserve decline invite"
)
# What befalls a thing or a person owned.
PARTING: Final = word_set("sell ditch scrap rehome crash")
TASTE: Final = word_set("love like enjoy adore relish treasure cherish worship")
DISTASTE: Final = word_set("hate dislike loathe detest despise avoid dread fear abhor resent")
_IRREGULAR: Final = """
be was been|become became become|begin began begun|bite bit bitten|blow blew blown|break broke broken
bring brought brought|build built built|burn burnt burnt|buy bought bought|catch caught caught
choose chose chosen|come came come|cost cost cost|cut cut cut|dig dug dug|do did done|draw drew drawn
dream dreamt dreamt|drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|feed fed fed
feel felt felt|fight fought fought|find found found|flee fled fled|fly flew flown|forget forgot forgotten
forgive forgave forgiven|freeze froze frozen|get got got|get got gotten|give gave given|go went gone
grow grew grown|hang hung hung|have had had|hear heard heard|hide hid hidden|hit hit hit|hold held held
hurt hurt hurt|keep kept kept|know knew known|lay laid laid|lead led led|learn learnt learnt
leave left left|lend lent lent|let let let|lie lay lain|light lit lit|lose lost lost|make made made
mean meant meant|meet met met|pay paid paid|put put put|quit quit quit|read read read|ride rode ridden
ring rang rung|rise rose risen|run ran run|say said said|see saw seen|sell sold sold|send sent sent
set set set|sew sewed sewn|shake shook shaken|shoot shot shot|show showed shown|shut shut shut
sing sang sung|sink sank sunk|sit sat sat|sleep slept slept|speak spoke spoken|spend spent spent
spill spilt spilt|spin spun spun|split split split|stand stood stood|steal stole stolen|stick stuck stuck
strike struck struck|swear swore sworn|sweep swept swept|swim swam swum|take took taken
teach taught taught|tear tore torn|tell told told|think thought thought|throw threw thrown
understand understood understood|wake woke woken|wear wore worn|weave wove woven|win won won
write wrote written
"""


def _forms() -> tuple[Mapping[str, str], Mapping[str, str]]:
    past: dict[str, str] = {}
    done: dict[str, str] = {}
    for row in _IRREGULAR.replace("\n", "|").split("|"):
        if row.strip():
            lemma, was, been = row.split()
            past[was], done[been] = lemma, lemma
    return MappingProxyType(past), MappingProxyType(done)


PAST, PARTICIPLE = _forms()
KNOWN: Final = PRACTISED | DONE | TALK | LIFE | PARTING | DISTASTE | frozenset(PAST.values())
_STEMS: Final = KNOWN | LIGHT | OFFICE
_NOT_PAST: Final = word_set(
    "need feed speed seed breed bleed exceed succeed proceed indeed hundred red bed wed"
)


def _stem(word: str, ending: str) -> str:
    """Return the lemma of a regular form: the one the lists know, else the plainest."""
    base = word[: -len(ending)]
    doubled = base[:-1] if len(base) > 3 and base[-1] == base[-2] else base
    tries = (base, f"{base}e", doubled, f"{base[:-1]}y" if base.endswith("i") else base)
    return next((one for one in tries if one in _STEMS), tries[-1])


@lru_cache(maxsize=4096)
def past_of(word: str) -> str:
    """Return the verb a past form belongs to, "" where it is none.

    >>> past_of("moved"), past_of("quit"), past_of("married"), past_of("need"), past_of("swapped")
    ('move', 'quit', 'marry', '', 'swapp')
    """
    if word in PAST:
        return PAST[word]
    return _stem(word, "ed") if word.endswith("ed") and len(word) > 4 and word not in _NOT_PAST else ""


@lru_cache(maxsize=4096)
def participle_of(word: str) -> str:
    """Return the verb a past participle belongs to, "" where it is none.

    >>> participle_of("given"), participle_of("lived"), participle_of("red")
    ('give', 'live', '')
    """
    return PARTICIPLE.get(word, "") or ("" if word in PAST else past_of(word))


@lru_cache(maxsize=4096)
def doing_of(word: str) -> str:
    """Return the verb an -ing form belongs to, "" where it is none.

    >>> doing_of("running"), doing_of("saving"), doing_of("morning"), doing_of("thing")
    ('run', 'save', '', '')
    """
    if (
        not word.endswith("ing")
        or len(word) < 5
        or word in ("morning", "evening", "thing", "spring", "string")
    ):
        return ""
    return _stem(word, "ing")


@lru_cache(maxsize=4096)
def third_to_base(word: str) -> str:
    """Return the base of a third person's verb.

    >>> third_to_base("lives"), third_to_base("studies"), third_to_base("teaches"), third_to_base("has")
    ('live', 'study', 'teach', 'have')
    """
    fixed = {"is": "am", "has": "have", "does": "do", "goes": "go", "was": "was"}
    if word in fixed:
        return fixed[word]
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith("es") and word[:-2] in KNOWN:
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word
