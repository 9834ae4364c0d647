"""More of Chinese, German, Spanish and French by grammar: work, kin, animals, tastes, habits, plans."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from episodic_agent.core.facts.grammar import Make, Rule, SlotMatch, name, rule

_END: Final = r"[^,;:.!?()—–]+"
_CUT: Final = re.compile(
    r"\s(?:und|aber|weil|denn|seit|mit|pero|porque|desde|con|y (?:no"
    r"|mi|me|soy|tengo|vivo|trabajo)|mais|parce|depuis"
    r"|avec|et (?:je|j'|mon|ma|on)|donc|car|así|wenn|wegen)\b",
    re.I,
)
_ARTICLE: Final = re.compile(
    r"^(?:einen?|eine[mnr]?|die|der|das|den|uno?|una|el|la|los|las"
    r"|une?|les?|des|du|de la|gern|gerne|mucho|muchísimo"
    r"|beaucoup|bien)\s+|^l'",
    re.I,
)
_PASSING: Final = re.compile(
    r"\b(?:heute|morgen|gerade|jetzt|gestern|hoy|mañana|ahora|ayer"
    r"|aujourd'hui|demain|maintenant|hier|das|dies\w*|es"
    r"|esto|eso|esta?|ese|esa|ça|cela|cette|ce|que|wenn|dass|cuando"
    r"|quand|tu|dein\w*|ton|ta)\b|今天|明天|昨天|现在|这|那|你|他|她|它|什么|哪",
    re.I,
)


def _take(attribute: str, holds: bool = True, *, complete: bool = False) -> Make:
    """Return what fills a slot with a noun, or with `complete` the clause up to its end."""

    def make(match: re.Match[str]) -> Iterator[SlotMatch]:
        statement = match.group("v").strip(" .!,。，！")
        value = statement if complete else _ARTICLE.sub("", _CUT.split(statement, maxsplit=1)[0]).strip()
        if value and len(value.split()) <= 14 and len(value) <= 90 and not _PASSING.search(value):
            no = bool(match.groupdict().get("no"))
            yield SlotMatch(attribute, value, holds is not no, own=match[0].strip(" .。!，,"))

    return make


def _list(attribute: str, holds: bool = True) -> Make:
    def make(match: re.Match[str]) -> Iterator[SlotMatch]:
        for part in re.split(r",\s|\s(?:und|y|et|e|oder|o|ou|ni)\s|[和、及]|跟", match.group("v"))[:5]:
            value = _ARTICLE.sub("", _CUT.split(part.strip(), maxsplit=1)[0]).strip(" .。!")
            if not value or len(value.split()) > 5 or _PASSING.search(value):
                return
            yield SlotMatch(attribute, value, holds)

    return make


def _tie(attribute: str) -> Make:
    def make(match: re.Match[str]) -> Iterator[SlotMatch]:
        called = (
            match.group("v") if re.match(r"[\u4e00-\u9fff]", match.group("v")) else name(match.group("v"))
        )
        if called:
            space = "" if re.match(r"[\u4e00-\u9fff]", called) else " "
            yield SlotMatch(attribute, f"{match.group('kin').lower()}{space}{called}")

    return make


_DE_PET: Final = (
    r"(?P<kin>Hund|Hündin|Katze|Kater|Hase|Kaninchen|Hamster|Wellensittich" r"|Pferd|Schildkröte|Papagei)"
)
_DE_WORK: Final = (
    r"(?P<v>[A-ZÄÖÜ][\wäöüß]*(?:er|erin|eur|eurin|ist|istin|loge"
    r"|login|ent|entin|ärztin|arzt|mann|frau|wirt|wirtin|pfleger"
    r"|schwester|meister|meisterin|anwalt|anwältin|koch|köchin|hebamme"
    r"|Hebamme|Arzt|Ärztin|Koch|Köchin|in)(?: (?:an|in|bei|im)"
    r" [^,;.!?]+)?)"
)
_DE_KIN: Final = (
    r"(?P<kin>Frau|Mann|Freundin|Freund|Partnerin|Partner|Schwester"
    r"|Bruder|Sohn|Tochter|Mutter|Vater|Mama|Papa|Oma|Opa"
    r"|Tante|Onkel|Cousin|Cousine|Nichte|Neffe|Enkel|Enkelin|Mitbewohner"
    r"|Mitbewohnerin|Chef|Chefin|Kollege|Kollegin)"
)
_ES_KIN: Final = (
    r"(?P<kin>marido|esposo|esposa|mujer|novia|novio|pareja|hermana"
    r"|hermano|hijo|hija|madre|padre|abuela|abuelo|tía|tío|prima"
    r"|primo|sobrina|sobrino|nieta|nieto|amiga|amigo|jefa|jefe|suegra"
    r"|suegro|cuñada|cuñado|perro|perra|gato|gata)"
)
_FR_KIN: Final = (
    r"(?P<kin>femme|mari|copine|copain|compagne|compagnon|conjoint"
    r"|sœur|soeur|frère|fils|fille|mère|père|grand-mère"
    r"|grand-père|tante|oncle|cousine?|nièce|neveu|amie?|patronne?"
    r"|colocataire|chienn?e?|chatt?e?)"
)
_ES_WHEN: Final = (
    r"(?:todos los \w+|todas las \w+|cada \w+|los (?:lunes|martes"
    r"|miércoles|jueves|viernes|sábados|domingos|fines de semana)"
    r"|por las (?:mañanas|tardes|noches)|(?:una|dos|tres|cuatro)"
    r" veces (?:a la semana|al mes|al año|por semana))"
)
_FR_WHEN: Final = (
    r"(?:tous les \w+|toutes les \w+|chaque \w+|le (?:lundi|mardi"
    r"|mercredi|jeudi|vendredi|samedi|dimanche)|(?:une|deux|trois"
    r"|quatre) fois par (?:semaine|mois|an|jour))"
)
_DE_WHEN: Final = (
    r"(?:jede[nrs]? \w+|(?:montags|dienstags|mittwochs|donnerstags"
    r"|freitags|samstags|sonntags|morgens|abends)|(?:einmal|zweimal"
    r"|dreimal|viermal) (?:pro|die|in der|im) \w+|immer|regelmäßig|meistens|täglich)"
)
_ES_NEXT: Final = (
    r"(?:en (?:verano|otoño|invierno|primavera|enero|febrero|marzo"
    r"|abril|mayo|junio|julio|agosto|septiembre|octubre"
    r"|noviembre|diciembre)|el (?:año|mes|verano|curso) que viene"
    r"|el próximo (?:año|mes|verano))"
)
_FR_NEXT: Final = (
    r"(?:en (?:janvier|février|mars|avril|mai|juin|juillet|août|septembre"
    r"|octobre|novembre|décembre)|l'an(?:née)? prochaine?"
    r"|cet (?:été|automne|hiver)|le mois prochain|au printemps|à la rentrée)"
)
_DE_NEXT: Final = (
    r"(?:nächste[nrsm]? (?:Jahr|Monat|Sommer|Herbst|Winter|Frühjahr"
    r"|Semester)|im (?:Januar|Februar|März|April|Mai|Juni|Juli"
    r"|August|September|Oktober|November|Dezember|Sommer|Herbst|Winter|Frühling|Frühjahr))"
)
ANYWHERE_OTHERS: Final[Mapping[str, tuple[tuple[re.Pattern[str], Make], ...]]] = {
    "de": (
        (
            re.compile(
                rf"\b[Mm]ein(?:e[mnr]?)? {_DE_KIN},? (?:heißt |ist )?(?P<v>[A-ZÄÖÜ][\wäöüß]+)\b(?!"
                rf" (?:von|des|der))"
            ),
            _tie("relationship"),
        ),
        (
            re.compile(
                rf"\b(?:[Mm]ein(?:e[mnr]?)?|[Ee]inen?|[Uu]nser(?:e[mnr]?)?) {_DE_PET},? (?:heißt"
                rf" |namens |der |die )*(?P<v>[A-ZÄÖÜ][\wäöüß]+)\b"
            ),
            _tie("has_pet"),
        ),
        (
            re.compile(
                r"\b(?:seit [\w ]+? )?als (?P<v>[A-ZÄÖÜ][\wäöüß]+(?:er|erin|ist"
                r"|istin|eur|eurin|pfleger|ent|entin))\b(?= in | bei |[.,]|$"
                r"| an )"
            ),
            _take("job"),
        ),
    ),
    "es": (
        (
            re.compile(rf"\b[Mm]i {_ES_KIN},? (?:se llama |es )?(?P<v>[A-ZÁÉÍÓÚ][\wáéíóúñ]+)\b"),
            _tie("relationship"),
        ),
        (
            re.compile(
                r"\b(?:un|una) (?P<kin>gato|gata|perro|perra|loro|conejo|tortuga"
                r"|caballo)[\w ]*?,? (?:que se llama |llamad[oa] |se llama )?(?P<v>[A-ZÁÉÍÓÚ][\wáéíóúñ]+"
                r")\b"
            ),
            _tie("has_pet"),
        ),
    ),
    "fr": (
        (
            re.compile(rf"\b(?:[Mm]on|[Mm]a) {_FR_KIN},? (?:s'appelle |c'est )?(?P<v>[A-ZÉÈ][\wéèêëïî]+)\b"),
            _tie("relationship"),
        ),
        (
            re.compile(
                r"\b(?:un|une) (?P<kin>chat|chatte|chien|chienne|lapin|perroquet"
                r"|cheval|tortue)[\w ]*?,? (?:qui s'appelle |appelée? |nommée?"
                r" |s'appelle )?(?P<v>[A-ZÉÈ][\wéèêëïî]+)\b"
            ),
            _tie("has_pet"),
        ),
    ),
    "zh": (
        (
            re.compile(
                r"我(?:的|家)?(?P<kin>女儿|儿子|姐姐|妹妹|哥哥|弟弟|老公|丈夫|老婆|妻子|女朋友|男朋友|朋友|室友|同事)"
                r"(?P<v>[\u4e00-\u9fff]{2})(?=考上|今年|已经|刚刚|昨天|最近|下个月|毕业|结婚|搬到)"
            ),
            _tie("relationship"),
        ),
        (
            re.compile(
                r"我(?:的|家)?(?P<kin>女儿|儿子|姐姐|妹妹|哥哥|弟弟|妈妈|爸爸|老公|丈夫|老婆|妻子|女朋友|男朋友"
                r"|室友|同事|猫|狗|奶奶|爷爷)(?:的名字)?(?:叫|名叫|是)(?P<v>[\u4e00-\u9fff]{2,3})(?=[，。,.!！]"
                r"|$)"
            ),
            _tie("relationship"),
        ),
        (
            re.compile(
                r"养了?(?:一|两|三)?[只条匹](?P<kin>[\u4e00-\u9fff]{1,3}?)[，,]?(?:它)?(?:叫"
                r"|名叫|名字叫)(?P<v>[\u4e00-\u9fff]{2,3})(?=[，。,.!！]|$)"
            ),
            _tie("has_pet"),
        ),
    ),
}


def _r(pattern: str, make: Make) -> Rule:
    return rule(pattern, make)


OTHERS_EVERYDAY: Final[Mapping[str, tuple[Rule, ...]]] = {
    "de": (
        _r(
            rf"(?:ich )?(?:bin|arbeite)(?: ich)?(?P<no> kein| keine)? (?:[\w.]+"
            rf" ){{0,4}}?(?:als |gelernter |gelernte |ausgebildete[r]? |eine?"
            rf" ){_DE_WORK}",
            _take("job"),
        ),
        _r(
            rf"ich arbeite (?P<no>nicht mehr )?(?:seit [\w ]+? )?(?P<v>(?:im"
            rf"|in der|in einem|in einer|bei der|bei einem|bei einer|beim"
            rf"|auf dem) {_END})",
            _take("employer"),
        ),
        _r(rf"ich studiere (?:seit [\w ]+? |gerade )?(?P<v>[A-ZÄÖÜ]{_END})", _take("studies")),
        _r(r"ich lerne (?:seit [\w ]+? |gerade )?(?P<v>[A-ZÄÖÜ]\w+)", _take("plans", complete=True)),
        _r(r"ich bin (?P<v>\d{1,2})(?: Jahre alt)?(?=[.,!]|$| und)", _take("age")),
        _r(r"ich bin in (?P<v>[A-ZÄÖÜ]\w+) (?:geboren|aufgewachsen)", _take("from")),
        _r(
            r"ich habe (?P<v>(?:zwei|drei|vier|einen|eine) (?:Kinder|Söhne"
            r"|Töchter|Sohn|Tochter|Brüder|Schwestern|Geschwister|Katzen"
            r"|Hunde|Hund|Katze))",
            _take("relationship", complete=True),
        ),
        _r(
            rf"ich (?:mag|liebe|sammle|interessiere mich für|stehe auf|schwärme"
            rf" für) (?!kein|nicht){_END.replace('[', '(?P<v>[', 1)})",
            _list("likes"),
        ),
        _r(
            rf"ich (?:hasse|verabscheue|mag kein|mag keine|mag keinen|kann)"
            rf" (?P<v>{_END}?)(?: nicht (?:ausstehen|leiden|ab))?(?=[.,!;]"
            rf"|$)",
            lambda m: _take("dislikes")(m) if "kann" not in m[0] or "nicht" in m[0] else iter(()),
        ),
        _r(rf"ich mag (?P<v>{_END}?) (?:gar |überhaupt )?nicht(?: mehr)?\b", _take("dislikes")),
        _r(
            rf"ich (?:\w+e) (?:sehr |total |wirklich )?(?:gern|gerne|am liebsten) (?P<v>{_END})",
            _take("likes"),
        ),
        _r(rf"mein Lieblings\w+ (?:ist|sind) (?P<v>{_END})", _take("likes")),
        _r(rf"meine Lieblings\w+ (?:ist|sind) (?P<v>{_END})", _take("likes")),
        _r(rf"ich habe (?:große |panische )?Angst vor (?P<v>{_END})", _take("dislikes")),
        _r(
            r"ich habe (?P<v>Diabetes|Asthma|Migräne|Heuschnupfen|Zöliakie"
            r"|ADHS|Epilepsie|Rheuma|eine \w+(?:allergie|unverträglichkeit))\b",
            _take("health"),
        ),
        _r(
            rf"ich (?P<v>(?:spiele|singe|tanze|laufe|schwimme|jogge|fahre"
            rf"|gehe|koche|male|lese|wandere|klettere|reite|backe|trainiere"
            rf"|meditiere|esse|trinke)\b[^;.!?]*?\b{_DE_WHEN}\b{_END}?)(?=[.,;!]"
            rf"|$)",
            _take("habit", complete=True),
        ),
        _r(
            rf"(?P<v>{_DE_WHEN} (?:spiele|singe|tanze|laufe|schwimme|jogge"
            rf"|fahre|gehe|koche|male|lese|wandere|trainiere|habe) ich{_END}?)(?=[.,;!]"
            rf"|$)",
            _take("habit", complete=True),
        ),
        _r(
            rf"ich (?P<v>(?:spiele|singe|tanze|klettere|reite|stricke|nähe|imkere|gärtnere)\b{_END})",
            _take("habit", complete=True),
        ),
        _r(
            rf"ich (?P<no>)?(?P<v>(?:rauche|trinke|esse|fahre|fliege) (?:nicht"
            rf"|nie|keinen?|keine) ?{_END}?)(?=[.,;!]|$)",
            _take("habit", complete=True),
        ),
        _r(
            rf"(?:ich|wir) (?P<v>(?:ziehe|ziehen|fange|mache|machen|heirate"
            rf"|heiraten|beginne|starte|fliege|fliegen|werde|werden|gehe|gehen)\b[^;.!?]*?{_DE_NEXT}"
            rf"{_END}?)(?=[.,;!]|$)",
            _take("plans", complete=True),
        ),
        _r(rf"{_DE_NEXT} (?P<v>\w+ (?:ich|wir) {_END}?)(?= und\b|[,;.!]|$)", _take("plans", complete=True)),
        _r(rf"ich (?:habe|bin) (?P<v>(?:19|20)\d\d {_END})", _take("did", complete=True)),
        _r(
            rf"ich (?:habe|bin) (?P<v>[^;.!?]*?\b(?:(?:zwei|drei|vier|fünf"
            rf"|sechs|zehn|\d+) Jahre|(?:19|20)\d\d)\b{_END})",
            _take("did", complete=True),
        ),
        _r(
            r"(?:bitte,? )?(?P<v>(?:keine|nie|niemals|immer|nur) [^.!?]+?),? bitte\b",
            _take("rule", complete=True),
        ),
        _r(
            r"bitte (?P<v>(?:antworte?|schreib|keine|nur|nie|immer|kein|kurz"
            r"|duz|siez|nenn mich)\w* [^.!?]+)",
            _take("rule", complete=True),
        ),
        _r(rf"(?P<v>nenn mich {_END})", _take("rule", complete=True)),
    ),
    "es": (
        _r(rf"(?:yo )?(?P<no>ya no |no )?trabajo (?:de|como) (?P<v>{_END})", _take("job")),
        _r(
            r"(?P<no>ya no |no )?soy (?:una? )?(?P<v>(?:[a-zñáéíóú]+(?:ista"
            r"|ólog[oa]|ógraf[oa]|ador|adora|edor|edora|ero|era|tor|tora"
            r"|sor|sora|nauta)|abogad[oa]|médic[oa]|arquitect[oa]|chef|músic[oa]"
            r"|jubilad[oa]|autónom[oa]|funcionari[oa]|veterinari[oa]|estudiante"
            r"|matrona)(?: (?:de|en) [^,;.!?]+)?)(?=[.,;!]|$| y | en )(?<!soltero)(?<!soltera)(?<!pr"
            r"imera)",
            _take("job"),
        ),
        _r(rf"(?P<no>ya no |no )?trabajo en (?P<v>(?:el|la|un|una) {_END})", _take("employer")),
        _r(rf"(?:tengo )?alergia (?:\w+ )?a (?P<v>{_END})", _list("allergic")),
        _r(rf"estudio (?P<v>[a-zñáéíóú]{{4,}}{_END})", _take("studies")),
        _r(r"(?:yo )?(?P<v>doy clases? de [\w ]+?)(?= en | a |[,.;!]|$)", _take("job", complete=True)),
        _r(rf"(?:yo )?doy clases?(?: de [\w ]+?)? en (?P<v>(?:el|la|un|una) {_END})", _take("employer")),
        _r(
            rf"(?:me (?:gustan?|encantan?|apasionan?|chiflan?|flipan?|interesan?)"
            rf"|adoro|amo|soy (?:muy )?(?:fan|fanátic[oa]|forof[oa]|aficionad[oa])"
            rf" (?:de|a)|prefiero) (?:mucho |muchísimo )?(?P<v>{_END})",
            _list("likes"),
        ),
        _r(
            rf"(?:odio|detesto|no soporto|no aguanto|no me gustan?(?: nada)?"
            rf"|me dan? (?:miedo|asco|pánico)|tengo (?:miedo|pánico) (?:a"
            rf"|de)) (?P<v>{_END})",
            _list("dislikes"),
        ),
        _r(rf"mi(?:s)? \w+ (?:favorit[oa]s?|preferid[oa]s?) (?:es|son) (?P<v>{_END})", _take("likes")),
        _r(
            r"tengo (?P<v>(?:dos|tres|cuatro|un|una) (?:hij[oa]s?|herman[oa]s?|niet[oa]s?))\b",
            _take("relationship", complete=True),
        ),
        _r(
            r"tengo (?P<v>(?:diabetes|asma|migrañas?|celiaquía|TDAH|epilepsia"
            r"|artritis|hipertensión)\b[^,;.!?]*)",
            _take("health"),
        ),
        _r(
            rf"(?:yo )?(?P<v>(?!no\b|soy|tengo|creo|pienso|quiero|necesito"
            rf"|estoy)\w+o\b[^;.!?]*?\b{_ES_WHEN}\b[^,;.!?]*)",
            _take("habit", complete=True),
        ),
        _r(rf"{_ES_WHEN},? (?P<v>(?:\w+o|voy|doy)\b {_END})", _take("habit", complete=True)),
        _r(
            rf"(?P<v>(?:toco|canto en|juego (?:al|a)|colecciono|practico|entreno|bailo) {_END})",
            _take("habit", complete=True),
        ),
        _r(rf"llevo (?P<v>(?:\w+|\d+) años {_END})", _take("habit", complete=True)),
        _r(
            rf"(?P<v>no (?:fumo|bebo|como|conduzco|tomo)\b{_END}?)(?=[.,;!]|$)", _take("habit", complete=True)
        ),
        _r(
            rf"(?P<v>(?:me mudo|nos mudamos|me voy|nos vamos|empiezo|empezamos"
            rf"|me caso|nos casamos|voy a|vamos a|tengo|abro|viajo) [^;.!?]*?{_ES_NEXT}[^,;.!?]*)",
            _take("plans", complete=True),
        ),
        _r(
            rf"{_ES_NEXT},? (?P<v>(?:me|nos|voy|vamos|empiezo|empezamos|viajo|abro|dejo) ?{_END})",
            _take("plans", complete=True),
        ),
        _r(
            r"(?P<v>(?:viví|trabajé|estudié|pasé|jugué|gané|corrí|publiqué"
            r"|nací|conocí|fundé|crucé|escribí|fui|hice|di|me casé|me gradué"
            r"|me jubilé) [^;.!?]*?(?:\b(?:19|20)\d\d|años|meses)[^,;.!?]*)",
            _take("did", complete=True),
        ),
        _r(
            r"(?:por favor,? )?(?P<v>(?:no me|nunca (?:me |nos |le )?(?!antes)\w+[ae]s\b|siempre|sin|solo"
            r"|respóndeme|contéstame|háblame|llámame|escríbeme|trátame) [^.!?]+)(?<=\w)",
            lambda m: (
                _take("rule", complete=True)(m)
                if re.search(
                    r"por favor|siempre|nunca|a partir de ahora|llámame|respóndeme|háblame|trátame",
                    m.string,
                    re.I,
                )
                else iter(())
            ),
        ),
    ),
    "fr": (
        _r(rf"je travaille comme (?P<v>{_END})", _take("job")),
        _r(
            rf"je suis (?P<no>pas )?(?:une? )?(?P<v>[a-zéèê]+(?:iste|logue"
            rf"|graphe|teur|trice|seur|seuse|ier|ière|cien|cienne|erand|naire"
            rf"|deur|euse|tecte)(?: (?:de|à|en|dans) {_END})?)(?=[.,;!]|$"
            rf"| et | à | dans )(?<!première)(?<!heureuse)(?<!dernière)",
            _take("job"),
        ),
        _r(rf"je travaille (?P<v>(?:à la|à l'|au|dans (?:une?|le|la)|chez|pour) ?{_END})", _take("employer")),
        _r(rf"j'étudie (?P<v>{_END})", _take("studies")),
        _r(r"je parle (?P<v>[^;:.!?]+)", _list("speaks")),
        _r(
            rf"(?:j'adore|j'aime(?: beaucoup| bien)?|je préfère|je suis (?:fan"
            rf"|passionnée?) (?:de|du|d')|je raffole (?:de|du|des)) ?(?!pas)"
            rf"{_END.replace('[', '(?P<v>[', 1)})",
            _list("likes"),
        ),
        _r(
            rf"(?:je déteste|je n'aime pas|je ne supporte pas|j'ai (?:peur"
            rf"|horreur) (?:de|du|des|de la|de l'|d')) ?(?P<v>{_END})",
            _list("dislikes"),
        ),
        _r(rf"mon \w+ préférée? (?:est|c'est) (?P<v>{_END})", _take("likes")),
        _r(rf"ma \w+ préférée? (?:est|c'est) (?P<v>{_END})", _take("likes")),
        _r(
            r"j'ai (?P<v>(?:deux|trois|quatre|une?) (?:enfants?|filles?|fils"
            r"|frères?|sœurs?|chats?|chiens?))\b",
            _take("relationship", complete=True),
        ),
        _r(
            r"j'ai (?:du |de l'|un |une )(?P<v>(?:diabète|asthme|migraines?|eczéma|TDAH|épilepsie)\b)",
            _take("health"),
        ),
        _r(
            rf"(?:je|j'|on|nous) ?(?P<v>(?!suis|ai\b|pense|crois|veux|peux)\w+"
            rf" [^;.!?]*?\b{_FR_WHEN}\b[^,;.!?]*)",
            _take("habit", complete=True),
        ),
        _r(rf"{_FR_WHEN},? (?:je |j')(?P<v>\w+ {_END})", _take("habit", complete=True)),
        _r(
            rf"je (?P<v>(?:joue (?:de|du|au|à)|chante|danse|fais (?:du|de"
            rf" la|de l')|collectionne|cours|nage|tricote|prends toujours)"
            rf" ?{_END})",
            _take("habit", complete=True),
        ),
        _r(
            rf"(?P<v>je ne (?:fume|bois|mange|conduis|prends) (?:pas|plus|jamais){_END}?)(?=[.,;!]|$)",
            _take("habit", complete=True),
        ),
        _r(
            rf"(?:je |j'|on |nous )(?P<v>(?!ne\b|suis\b|n')\w+ [^;.!?]*?{_FR_NEXT}[^,;.!?]*)(?<!\bai)",
            lambda m: (
                iter(())
                if re.match(r"(?:ai|avons|étais|suis né)", m["v"])
                else _take("plans", complete=True)(m)
            ),
        ),
        _r(rf"{_FR_NEXT},? (?:je |j'|on |nous )(?P<v>\w+ {_END})", _take("plans", complete=True)),
        _r(
            r"j'ai (?P<v>(?!envie|besoin|mal|faim)\w+ [^;.!?]*?\b(?:(?:19"
            r"|20)\d\d|ans|années)\b[^,;.!?]*)",
            _take("did", complete=True),
        ),
        _r(
            r"(?P<v>(?:réponds|écris|parle|tutoie|vouvoie|appelle|évite)[\w-]* [^.!?]+)",
            lambda m: (
                _take("rule", complete=True)(m)
                if re.search(r"toujours|jamais|désormais|-moi|s'il te plaît|stp", m.string, re.I)
                else iter(())
            ),
        ),
        _r(
            r"(?P<v>(?:pas d'|pas de |plus de |jamais de )[^.!?]+?,? (?:s'il te plaît|stp|merci))",
            _take("rule", complete=True),
        ),
    ),
    "zh": (
        _r(
            r"我(?:现在|目前)?在(?P<v>[\u4e00-\u9fffA-Za-z]{2,12}?)(?:工作|上班)(?=[，。,.!！了]|$)",
            _take("employer"),
        ),
        _r(
            r"我(?:现在|目前)?在(?P<v>[\u4e00-\u9fffA-Za-z]{2,12}?)(?:读|学习|念|上学|读书)", _take("studies")
        ),
        _r(r"我(?:正在|在)?(?:自)?学(?P<v>[\u4e00-\u9fff]{1,4}(?:语|文|琴|他|画|舞|拳|学))", _take("plans")),
        _r(
            r"我(?:是|当)(?:了)?(?:一?[名个位])?(?P<v>[\u4e00-\u9fff]{0,5}(?:师|员"
            r"|医生|学生|作家|护士|司机|经理|教授|律师|记者|工人|老板|厨子|警察|科学家))(?=[，。,.!！]|$)",
            _take("job"),
        ),
        _r(
            r"我(?:最|特别|很|非常|超|一直|从小|平时)*(?:喜欢|爱(?!人)|热爱|迷|痴迷于|酷爱)(?P<v>[\u4e00-\u9fff、]{2,14}?)(?=[，"
            r"。,.!！]|$|因为|但)",
            _list("likes"),
        ),
        _r(
            r"我(?:最|特别|很|非常|超|一直|从小)*(?:(?:不喜欢|讨厌|受不了|不爱)|(?:害?怕(?=黑|高|狗"
            r"|猫|蛇|蜘蛛|虫|老鼠|坐飞机|水|打雷|辣|热|鬼|打针)))(?P<v>[\u4e00-\u9fff、]{1,10}?)(?=[，。,.!！]"
            r"|$|因为|但)",
            _list("dislikes"),
        ),
        _r(r"我最喜欢的[\u4e00-\u9fff]{1,5}是(?P<v>[\u4e00-\u9fff《》A-Za-z]{2,12})", _take("likes")),
        _r(
            r"我(?P<v>(?:每天|每周|每个?月|每年|每晚|每早|周[一二三四五六日末]|经常|通常|从不|从来不)(?:[\u4e00-\u9fff\d]{0,6}?)(?:跑"
            r"|游|练|打|写|看书|喝|吃|做瑜伽|爬|骑|唱|跳|画|读|弹|散步|遛|锻炼|起床|睡)[\u4e00-\u9fff\d]{0,10})(?=[，。,.!！]"
            r"|$)",
            _take("habit"),
        ),
        _r(
            r"(?:我)?(?P<v>(?:每天|每周|每晚|每个周末)[\u4e00-\u9fff\d]{0,4}(?:都|去)?(?:跑步"
            r"|游泳|练|打球|打太极|写|爬山|做瑜伽|骑车|唱|画|弹)[\u4e00-\u9fff\d]{0,10})(?=[，。,.!！]"
            r"|$)",
            _take("habit"),
        ),
        _r(
            r"我(?P<v>(?:已经)?(?:弹|练|学|打|拉|画|写|教|当|做)了?[\u4e00-\u9fff]{1,6}(?:[\u4e00-\u9fff\d]{1,3})年了?)",
            _take("habit"),
        ),
        _r(
            r"我(?P<v>不(?:抽烟|喝酒|吃肉|开车|吃辣|会游泳|会开车|吃[\u4e00-\u9fff]{1,4}))(?=[，。,.!！了]|$)",
            _take("habit"),
        ),
        _r(r"我(?:会说|会讲|说)(?P<v>[\u4e00-\u9fff、]{2,12}(?:语|话|文))", _list("speaks")),
        _r(r"我有(?P<v>[一两三四二]个(?:孩子|女儿|儿子|姐姐|妹妹|哥哥|弟弟))", _take("relationship")),
        _r(
            r"我(?:家)?(?:养了?|有)(?P<v>[一两三四二][只条匹](?:猫|狗|兔子|乌龟|鹦鹉|仓鼠|金毛|橘猫))(?![，,]?(?:它)?(?:名字)?叫)",
            _take("has_pet"),
        ),
        _r(
            r"我?(?:有|得了|患有)(?P<v>糖尿病|哮喘|高血压|偏头痛|抑郁症|过敏性鼻炎|鼻炎|胃病|失眠|关节炎)",
            _take("health"),
        ),
        _r(
            r"我?(?:和[\u4e00-\u9fff]{2,4})?(?P<v>(?:明年|后年|下个月|今年[夏秋冬春]天|[一二三四五六七八九十\d]+月)(?:我"
            r"|我们)?(?:要|会|打算|准备|就|去|搬|结婚|开始)[\u4e00-\u9fff]{1,16})(?=[，。,.!！]"
            r"|$)",
            _take("plans"),
        ),
        _r(r"我(?P<v>\d{4}年[\u4e00-\u9fff]{3,18})(?=[，。,.!！]|$)", _take("did")),
        _r(
            r"我(?:在)(?P<v>[\u4e00-\u9fff]{2,6}(?:住|待|生活|工作|留学|当兵|教书)过?了?[\u4e00-\u9fff\d]{1,3}年)",
            _take("did"),
        ),
        _r(
            r"(?:请)(?P<v>(?:用(?=[\u4e00-\u9fff]{1,6}(?:回|答|跟我|和我))|叫我|一律|总是|始终)[^。！？?]{2,30})",
            _take("rule"),
        ),
        _r(r"(?P<v>(?:别|不要)(?:叫我|给我发|用表格|用表情)[^。！？?]{0,20})", _take("rule")),
        _r(r"(?P<v>(?:回答|回复)(?:都|要|请|尽量|一律)[^。！？?]{2,24})", _take("rule")),
    ),
}
