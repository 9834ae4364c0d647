"""The basics in Chinese, German, Spanish and French: home, origin, work, allergy, diet, likes, wishes, plans.

Patterns are tried at the beginning of every clause, over its sentence, as in English; what a value is cut by
differs between languages.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from episodic_agent.core.facts.grammar import Make, Rule, SlotMatch, name, place, rule

_STOPS: Final[Mapping[str, str]] = {
    "de": r"\s(?:und (?:ich|wir|mein|bin|habe|arbeite|komme|wohne)|aber|weil|denn|seit|deswegen|jetzt"
    r"|mit|sehr|gerne?|nicht|mehr|als|bei|für|ursprünglich|allergisch)\b",
    "es": r"\s(?:y (?:yo|mi|no|me|soy|tengo|trabajo|vivo)|pero|porque|desde"
    r"|con|ahora|así que|hace|por"
    r"|cuando|mucho|antes)\b",
    "fr": r"\s(?:et (?:je|j'|mon|ma|nous)|mais|parce|depuis|avec|maintenant|donc|car|quand|beaucoup"
    r"|pour)\b",
    "zh": r"(?:，|。|、所以|，所以|因为|但是|但|所以|的时候|，)",
}


def _cut(text: str, language: str) -> str:
    value = re.split(_STOPS[language], text.strip(), maxsplit=1)[0].strip(" .!,。，！")
    return "" if len(value.split()) > 8 or len(value) > 60 else value


def _noun(attribute: str, language: str, *, holds: bool = True) -> Make:
    article = re.compile(
        r"^(?:einen?|eine[mnr]?|die|der|das|den|meine?n?|uno?|una|el"
        r"|la|los|las|mis?|une?|les?|des|du"
        r"|de la)\s+|^l'|^(?:一[个家位名只条]|在)",
        re.I,
    )

    def make(match: re.Match[str]) -> Iterator[SlotMatch]:
        value = article.sub("", _cut(match.group("v"), language))
        if value and not re.match(
            r"(?:es|das|dies|diese\w*|esto|eso|ça|cela|这|那|它|你|他|她|什么|que|quand|wenn|cuando)\b", value
        ):
            no = bool(match.groupdict().get("no"))
            yield SlotMatch(attribute, value, holds is not no, own=match.string.strip(" .。!"))

    return make


def _place(attribute: str, *, holds: bool = True) -> Make:
    def make(match: re.Match[str]) -> Iterator[SlotMatch]:
        value = place(match.group("v"))
        if value:
            yield SlotMatch(attribute, value, holds is not bool(match.groupdict().get("no")))

    return make


def _han(attribute: str, *, holds: bool = True) -> Make:
    def make(match: re.Match[str]) -> Iterator[SlotMatch]:
        value = match.group("v").strip(" 了的")
        if 1 < len(value) <= 16 and not re.search(r"[这那你他她它哪什]|今天|昨天|明天", value):
            yield SlotMatch(
                attribute,
                value,
                holds is not bool(match.groupdict().get("no")),
                own=match.string.strip("。！ "),
            )

    return make


def _both(first: str, second: str) -> Make:
    """Return what reads two slots of one pattern: the groups `a` and `v`."""

    def make(match: re.Match[str]) -> Iterator[SlotMatch]:
        yield SlotMatch(first, match.group("a").strip())
        yield SlotMatch(second, match.group("v").strip())

    return make


def _called(match: re.Match[str]) -> Iterator[SlotMatch]:
    if value := name(match.group("v")):
        yield SlotMatch("name", value)


def _kin(kind: str, match: re.Match[str]) -> Iterator[SlotMatch]:
    if value := name(match.group("v")):
        yield SlotMatch("relationship", f"{match.group('kin').lower()} {value}")


def _each_wish(match: re.Match[str]) -> Iterator[SlotMatch]:
    """Read every wish of a list: "用简体字，别用表格"."""
    for part in re.split(r"[，,；;]", match.group("v")):
        if 2 <= len(part) <= 24 and re.match(r"(?:也|请|都)*(?:用|不要|别|不用|叫|一律|总是|少|多)", part):
            yield SlotMatch("rule", part.strip(), own=part.strip())


def _clause_maker(attribute: str, *, holds: bool = True) -> Make:
    """Return what takes the whole clause, for slots told in the speaker's words."""

    def make(match: re.Match[str]) -> Iterator[SlotMatch]:
        own = re.split(r"[.;!?。！？]", match.string, maxsplit=1)[0].strip(" ,，")
        value = re.split(r",\s(?:y|und|et|ya|denn|weil|porque|donc|mi|mein)\b", match.group("v"), maxsplit=1)[
            0
        ].strip(" ,.，。")
        if value:
            yield SlotMatch(attribute, value, holds, own=own)

    return make


def _rule(pattern: str, make: Make) -> Rule:
    return rule(pattern, make)


_E: Final = r"(?P<v>[^,;:.!?()—–]+)"
_DE_KIN: Final = (
    r"(?P<kin>Frau|Mann|Freundin|Freund|Partnerin|Partner|Schwester|Bruder|Sohn|Tochter|Mutter"
    r"|Vater|Oma|Opa|Tante|Onkel|Cousin|Cousine)"
)
_ES_KIN: Final = (
    r"(?P<kin>marido|esposo|esposa|mujer|novia|novio|pareja|hermana"
    r"|hermano|hijo|hija|madre|padre"
    r"|abuela|abuelo|tía|tío|prima|primo)"
)
_FR_KIN: Final = (
    r"(?P<kin>mari|femme|copine|copain|compagne|compagnon|sœur|soeur|frère|fils|fille|mère|père"
    r"|grand-mère|grand-père|tante|oncle|cousine|cousin)"
)
_JOBS_DE: Final = (
    r"(?P<v>\w*(?:lehrerin|lehrer|ingenieurin|ingenieur|ärztin|arzt"
    r"|pflegerin|pfleger|köchin|koch"
    r"|bäckerin|bäcker|entwicklerin|entwickler|informatikerin|informatiker|anwältin|anwalt"
    r"|architektin|architekt|verkäuferin|verkäufer|musikerin|musiker|journalistin|journalist"
    r"|studentin|student|rentnerin|rentner|erzieherin|erzieher|tischlerin|tischler|elektrikerin"
    r"|elektriker|mechanikerin|mechaniker|gärtnerin|gärtner|hebamme"
    r"|beraterin|berater|designerin"
    r"|designer|fotografin|fotograf|krankenschwester|apothekerin"
    r"|apotheker|übersetzerin|übersetzer"
    r"|polizistin|polizist|richterin|richter|schreinerin|schreiner|buchhalterin|buchhalter"
    r"|biologin|biologe|physikerin|physiker|grafikerin|grafiker|fahrerin|fahrer|logopädin"
    r"|selbstständig|selbständig))\b"
)
_JOBS_ES: Final = (
    r"(?P<v>(?:profesora?|maestr[oa]|ingenier[oa]|médic[oa]|enfermer[oa]"
    r"|abogad[oa]|arquitect[oa]"
    r"|camarer[oa]|cociner[oa]|periodista|programadora?|diseñadora?|autónom[oa]|jubilad[oa]"
    r"|estudiante|músic[oa]|electricista|fontaner[oa]|carpinter[oa]|panader[oa]|traductora?"
    r"|contable|psicólog[oa]|fotógraf[oa]|veterinari[oa]|farmacéutic[oa]|conductora?|escritora?"
    r"|peluquer[oa]|bombero|bombera|policía|bibliotecari[oa]|guía)\b(?: de [\w ]+)?)"
)
_JOBS_FR: Final = (
    r"(?P<v>(?:professeure?|prof|instituteur|institutrice|ingénieure?|médecin|infirmi(?:er|ère)"
    r"|avocate?|architecte|serveu(?:r|se)|cuisini(?:er|ère)|journaliste|développeu(?:r|se)"
    r"|graphiste|retraitée?|étudiante?|musicien(?:ne)?|électricien(?:ne)?|plombier|menuisi(?:er"
    r"|ère)|boulang(?:er|ère)|traduct(?:eur|rice)|comptable|psychologue|photographe|vétérinaire"
    r"|pharmacien(?:ne)?|écrivain|coiffeu(?:r|se)|pompier|bibliothécaire"
    r"|libraire|sage-femme|kiné"
    r"|kinésithérapeute|chauffeur)\b(?: (?:de|d'|en)[\w '’]+)?)"
)
_DATE: Final = r"(?P<v>(?:le |el |der |am )?\d{1,2}(?:\.|er)?(?: de)? \w+)"
OTHERS: Final[Mapping[str, tuple[Rule, ...]]] = {
    "de": (
        _rule(r"(?:ich heiße|mein Name ist) (?P<v>\w+(?: [A-ZÄÖÜ]\w+)?)", _called),
        _rule(r"(?:ich|wir) (?:wohnen?|leben?) (?P<no>nicht(?: mehr)?) in (?P<v>.+)", _place("lives_in")),
        _rule(
            r"(?:ich|wir) (?:wohnen?|leben?)(?: seit [\w ]+?| jetzt| nun| inzwischen)? in (?P<v>.+)",
            _place("lives_in"),
        ),
        _rule(r"wir sind jetzt in (?P<v>.+)", _place("lives_in")),
        _rule(
            r"(?:ich|wir) (?:bin|sind)(?: [\w ]+?)? nach (?P<v>.+?) (?:gezogen|umgezogen)", _place("lives_in")
        ),
        _rule(r"(?:ursprünglich )?(?:ich )?komme(?: ich)?(?: ursprünglich)? aus (?P<v>.+)", _place("from")),
        _rule(
            r"(?:ich )?(?:bin|arbeite)(?: ich)?(?P<no> kein| keine)?(?: \w+)? (?:als )?" + _JOBS_DE,
            _noun("job", "de"),
        ),
        _rule(
            r"ich arbeite (?:bei|für) (?:der |dem )?(?P<v>[A-ZÄÖÜ][\w&.-]*(?: [A-ZÄÖÜ][\w&.-]*)*)",
            _noun("employer", "de"),
        ),
        _rule(
            r"ich bin (?P<no>nicht )?(?:gegen |auf )(?P<v>[\wäöüß -]+?) allergisch", _noun("allergic", "de")
        ),
        _rule(r"ich bin (?P<no>nicht )?allergisch (?:gegen|auf) " + _E, _noun("allergic", "de")),
        _rule(
            r"ich bin (?P<no>nicht |kein )?(?P<v>vegan|vegetarisch|Veganer(?:in)?|Vegetarier(?:in)?)\b",
            _noun("diet", "de"),
        ),
        _rule(
            r"ich (?:esse|trinke) (?:kein|keinen|keine) (?P<v>\w+)",
            lambda m: iter([SlotMatch("diet", f"kein {m['v']}")]),
        ),
        _rule(
            r"ich (?:mag|hasse|liebe)(?P<no>(?!)x)? (?!es\b|dich\b|das\b|wenn\b|dass\b"
            r"|diese)(?P<v>[A-ZÄÖÜ]\w+)(?=\s*[.!,]|$)",
            lambda m: iter(
                [SlotMatch("dislikes" if m[0].lower().startswith("ich hasse") else "likes", m["v"])]
            ),
        ),
        _rule(r"ich mag (?:kein|keine|keinen) (?P<v>\w+)", _noun("likes", "de", holds=False)),
        _rule(r"mein Geburtstag ist " + r"(?P<v>(?:am |der )?\d{1,2}\. \w+)", _noun("birthday", "de")),
        _rule(r"ich spreche (?P<v>[A-Z]\w+(?:, [A-Z]\w+)*(?: und [A-Z]\w+)?)", _noun("speaks", "de")),
        _rule(r"meine? " + _DE_KIN + r" (?:heißt |ist )?(?P<v>[A-ZÄÖÜ]\w+)\b", lambda m: _kin("de", m)),
        _rule(r"(?:bitte )?(?P<v>(?:duze?|sieze?) mich)\b", _clause_maker("rule")),
        _rule(
            r"(?:bitte )?(?:und )?(?P<v>(?:schreib|antworte?|nutze|verwende|gib"
            r"|sprich)\w*[^.!?]*\b(?:immer|nie|niemals|ab jetzt|künftig)\b[^.!?]*)",
            _clause_maker("rule"),
        ),
        _rule(
            r"(?:und )?(?P<v>(?:schreib|antworte?) (?:ohne|auf|in) [^.!?,]+)(?=[.!]?$)", _clause_maker("rule")
        ),
        _rule(
            r"(?:bitte )?(?P<v>(?:immer|nie|niemals|ab jetzt|künftig) [^.!?]*)(?=[.!]?$)(?<=\w{2})",
            _clause_maker("rule"),
        ),
        _rule(
            r"ich (?:plane|habe vor|will nächstes Jahr|möchte nächstes Jahr|werde nächstes Jahr) " + _E,
            _clause_maker("plans"),
        ),
        _rule(
            r"(?:nächstes Jahr|im (?:Sommer|Herbst|Winter|Frühling|Frühjahr))"
            r" (?P<v>(?:ziehe|ziehen|mache"
            r"|fange|beginne|heirate|heiraten) (?:ich|wir) [^.!?,;]+)",
            _clause_maker("plans"),
        ),
        _rule(
            r"ich (?:habe|hab) (?P<v>(?:[\w ]+ )?(?:\d+|zwei|drei|vier|fünf"
            r"|zehn) Jahre [^.!?,;]*(?:gelebt"
            r"|gearbeitet|gewohnt|studiert|gespielt))",
            _clause_maker("did"),
        ),
    ),
    "es": (
        _rule(r"(?:me llamo|mi nombre es) (?P<v>\w+(?: [A-Z]\w+)?)", _called),
        _rule(r"(?:yo )?(?P<no>ya no |no )?vivo(?: ahora| actualmente)? en (?P<v>.+)", _place("lives_in")),
        _rule(r"(?:me (?:he mudado|mudé)|nos mudamos) a (?P<v>.+)", _place("lives_in")),
        _rule(r"(?:soy de|vengo de|nací en|crecí en) (?P<v>.+)", _place("from")),
        _rule(
            r"(?:y )?(?:desde \w+ )?(?:yo )?(?P<no>ya no |no )?(?:soy|trabajo"
            r" de|trabajo como)(?: una?)? " + _JOBS_ES,
            _noun("job", "es"),
        ),
        _rule(
            r"(?P<no>ya no |no )?trabajo en (?P<v>(?:el|la|un|una) (?:banco|hospital|colegio|escuela"
            r"|universidad|puerto|hotel|biblioteca|restaurante|empresa|tienda|oficina|farmacia"
            r"|ayuntamiento|museo|fábrica|bar)\b[^,;.!?]*)",
            _noun("employer", "es"),
        ),
        _rule(
            r"(?P<no>ya no |no )?trabajo (?:en|para) (?P<v>[A-ZÁÉÍÓÚ][\w&.-]*(?: [A-ZÁÉÍÓÚ][\w&.-]*)*)",
            _noun("employer", "es"),
        ),
        _rule(
            r"(?P<no>no )?(?:soy|tengo) al[eé]rgi(?:co|ca|a) (?:al?|a los|a las|a la) " + _E,
            _noun("allergic", "es"),
        ),
        _rule(r"(?P<no>ya no |no )?soy (?P<v>vegan[oa]|vegetarian[oa]|celíac[oa])\b", _noun("diet", "es")),
        _rule(
            r"no (?:como|bebo) (?P<v>\w+)(?=[,.!]|$| y\b| ni\b| porque\b)",
            lambda m: iter([SlotMatch("diet", f"no {m['v']}")]),
        ),
        _rule(r"mi cumpleaños es (?:el )?(?P<v>\d{1,2} de \w+)", _noun("birthday", "es")),
        _rule(r"(?:y )?no me gustan? (?:nada )?" + _E, _noun("dislikes", "es")),
        _rule(
            r"(?:y )?(?:a mí )?me (?:gustan?|encantan?)(?: mucho| muchísimo)?"
            r" (?!que\b|tu\b|cómo\b|esta?\b"
            r"|ese\b|esa\b|cuando\b|esto\b)" + _E,
            _noun("likes", "es"),
        ),
        _rule(r"odio (?!que\b|cuando\b|esta?\b|esto\b)" + _E, _noun("dislikes", "es")),
        _rule(
            r"(?:yo )?(?P<v>(?:juego|toco|nado|corro|entreno|voy|canto|bailo"
            r"|cocino)\b[^;.!?]*\b(?:todos los|todas las|cada|los (?:lunes"
            r"|martes|miércoles|jueves|viernes"
            r"|sábados|domingos))\b[^,;.!?]*)",
            _clause_maker("habit"),
        ),
        _rule(r"mi " + _ES_KIN + r" (?:se llama |es )?(?P<v>[A-ZÁÉÍÓÚ]\w+)\b", lambda m: _kin("es", m)),
        _rule(r"tengo (?P<v>(?:un|una|dos|tres) (?:gat[oa]s?|perr[oa]s?))\b", _noun("has_pet", "es")),
        _rule(r"tengo (?P<v>\d{1,2}) años", _noun("age", "es")),
        _rule(
            r"hablo (?P<v>(?:español|inglés|francés|alemán|catalán|gallego|euskera|italiano|portugués"
            r"|chino|árabe)[^.;!?]*)",
            _noun("speaks", "es"),
        ),
        _rule(
            r"(?:por favor,? )?(?P<v>(?:respónde|contésta|escríbe|háblame|trátame|llámame|tutéa|usa"
            r"|dame)\w*\b[^.!?]*\b(?:siempre|nunca|a partir de ahora|de aquí en adelante|de tú"
            r"|de usted)\b[^.!?]*)",
            _clause_maker("rule"),
        ),
        _rule(
            r"(?P<v>(?:siempre|nunca|jamás) (?:me )?(?:respond|contest|escrib|habl|trat|us|dame|pong"
            r"|llam)\w*[^.!?]*)",
            _clause_maker("rule"),
        ),
        _rule(
            r"(?:en (?:verano|otoño|invierno|primavera|enero|febrero|marzo"
            r"|abril|mayo|junio|julio|agosto"
            r"|septiembre|octubre|noviembre|diciembre)|el (?:año|mes) que"
            r" viene) (?P<v>(?:me (?:mudo|caso"
            r"|voy|jubilo)|nos (?:mudamos|casamos|vamos)|empiezo|empezamos|voy a|vamos a) [^,;.!?]+)",
            _clause_maker("plans"),
        ),
        _rule(
            r"(?P<v>(?:me mudo|nos mudamos|me voy a vivir|me caso|nos casamos"
            r"|me jubilo) [^,;.!?]*(?:en (?:verano|otoño|invierno|primavera"
            r"|enero|febrero|marzo|abril|mayo"
            r"|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)|el (?:año"
            r"|mes) que viene)[^,;.!?]*)",
            _clause_maker("plans"),
        ),
        _rule(
            r"(?:de (?:niñ[oa]|pequeñ[oa]|joven) )?(?P<v>(?:viví|trabajé|estudié|pasé|jugué|fui"
            r"|di clases) [^,;.!?]*(?:años|meses|temporadas)\b[^,;.!?]*)",
            _clause_maker("did"),
        ),
    ),
    "fr": (
        _rule(r"(?:je m'appelle|mon nom est) (?P<v>[A-ZÉÈ][\w-]+)", _called),
        _rule(r"(?:je n')?(?:j')?habite (?P<no>plus |pas )?(?:à|en|au) (?P<v>.+)", _place("lives_in")),
        _rule(r"je ne vis (?P<no>plus |pas )(?:à|en|au) (?P<v>.+)", _place("lives_in")),
        _rule(r"(?:je vis|nous habitons|on habite|nous vivons) (?:à|en|au) (?P<v>.+)", _place("lives_in")),
        _rule(
            r"(?:j'ai déménagé|on a déménagé|je me suis installée?) (?:à|en|au) (?P<v>.+)", _place("lives_in")
        ),
        _rule(r"je (?:viens|suis originaire) (?:de |d')(?P<v>.+)", _place("from")),
        _rule(r"j'ai grandi (?:à|en|au) (?P<v>.+)", _place("from")),
        _rule(
            r"je (?:ne )?(?:suis|travaille comme) (?P<no>pas |plus )?(?:une? )?" + _JOBS_FR,
            _noun("job", "fr"),
        ),
        _rule(
            r"je travaille (?:chez|pour|à la|à l'|au) (?P<v>(?:la )?[A-ZÉ][\w&.-]*(?: [A-ZÉ][\w&.-]*)*)",
            _noun("employer", "fr"),
        ),
        _rule(r"je (?:ne )?suis (?P<no>pas )?allergique (?:aux?|à la|à l'|à) " + _E, _noun("allergic", "fr")),
        _rule(r"je (?:ne )?suis (?P<no>pas |plus )?(?P<v>végane?|végétarien(?:ne)?)\b", _noun("diet", "fr")),
        _rule(
            r"je ne (?:mange|bois) (?:pas|jamais|plus) (?:de |d')(?P<v>\w+)",
            lambda m: iter([SlotMatch("diet", f"pas de {m['v']}")]),
        ),
        _rule(
            r"(?:j'adore|j'aime(?: beaucoup| bien)?) (?!(?:quand|que|ça|ton|cette|ce)\b)" + _E,
            _noun("likes", "fr"),
        ),
        _rule(
            r"(?:je n'aime pas|je déteste|j'ai horreur (?:de|du|des)|je n'aime plus) (?!(?:quand|que|ça"
            r"|ton|cette|ce)\b)" + _E,
            _noun("dislikes", "fr"),
        ),
        _rule(r"j'ai peur (?:de la |de l'|du |des |de |d')" + _E, _noun("dislikes", "fr")),
        _rule(r"mon anniversaire (?:est|tombe),? (?:le )?(?P<v>\d{1,2}(?:er)? \w+)", _noun("birthday", "fr")),
        _rule(r"j'ai (?P<v>\d{1,2}) ans", _noun("age", "fr")),
        _rule(
            r"(?:ma|mon) " + _FR_KIN + r" (?:s'appelle |c'est )?(?P<v>[A-ZÉ]\w+)\b", lambda m: _kin("fr", m)
        ),
        _rule(
            r"(?:s'il te plaît,? )?(?P<v>(?:ne (?:me )?(?:mets|met|utilise|écris|réponds)\w* (?:jamais"
            r"|plus)|(?:réponds|écris|utilise|parle|tutoie)[\w-]*\b[^.!?]*\b(?:toujours|désormais"
            r"|à partir de maintenant)|tutoie-moi|toujours |jamais de )[^.!?]*)",
            _clause_maker("rule"),
        ),
        _rule(
            r"(?:l'an(?:née)? prochaine?|cet (?:été|automne|hiver)|ce printemps"
            r"|en (?:janvier|février|mars"
            r"|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre)) (?P<v>(?:je|j'|nous"
            r"|on) ?(?:passe|déménage|commence|me marie|pars|vais|prends"
            r"|déménageons|nous marions|se marie"
            r"|ouvre)\b[^,;.!?]*)",
            _clause_maker("plans"),
        ),
        _rule(
            r"(?P<v>(?:je|j'|nous|on) ?(?:passe|déménage|commence|me marie|pars|prends|se marie"
            r"|ouvre)\b[^,;.!?]*\b(?:l'an(?:née)? prochaine?|cet (?:été|automne|hiver)|en (?:janvier"
            r"|février|mars|avril|mai|juin|juillet|août|septembre|octobre"
            r"|novembre|décembre))\b[^,;.!?]*)",
            _clause_maker("plans"),
        ),
        _rule(
            r"j'ai (?P<v>(?:vécu|travaillé|étudié|enseigné|passé)\b[^,;.!?]*\b(?:ans|années"
            r"|mois)\b[^,;.!?]*)",
            _clause_maker("did"),
        ),
    ),
    "zh": (
        _rule(r"我(?:叫|的名字是|的名字叫)(?P<v>[\u4e00-\u9fff]{2,4})(?=[，。,.!！]|$)", _han("name")),
        _rule(
            r"我?(?:已经)?(?P<no>不)(?:再)?住在?(?P<v>[\u4e00-\u9fff]{2,5}?)了?(?=[，。,.!！]|$)",
            _han("lives_in"),
        ),
        _rule(
            r"我(?:现在|目前|一直)?(?:住在|家在|定居在|生活在)(?P<v>[\u4e00-\u9fff]{2,6}?)(?=[，。,.!！了]|$)",
            _han("lives_in"),
        ),
        _rule(
            r"(?:我)?(?:上个月|去年|今年|前年|刚|最近|已经)?(?:我)?(?:刚)?搬到了?(?P<v>[\u4e00-\u9fff]{2,5}?)了?(?=[，。,.!"
            r"！]|$)",
            _han("lives_in"),
        ),
        _rule(
            r"我(?:是|来自|老家在|老家是)(?P<v>[\u4e00-\u9fff]{2,5}?)(?<!的)人(?=[，。,.!！]|$)", _han("from")
        ),
        _rule(r"我(?:来自|老家在|老家是)(?P<v>[\u4e00-\u9fff]{2,5})(?=[，。,.!！]|$)", _han("from")),
        _rule(
            r"(?:我)?(?:现在)?在(?P<a>(?!一家|家里|公司|这|那)[\u4e00-\u9fff]{2,3})(?:做|当"
            r"|担任)(?P<v>[\u4e00-\u9fff]{1,6}(?:师|员|生|家|长|士|工|手|司机|经理|教授|律师|记者))(?=[，。,.!！]|$)",
            _both("lives_in", "job"),
        ),
        _rule(
            r"(?:我)?(?:现在)?在(?:一家|一所|一间|这家)?[\u4e00-\u9fff]{2,8}?(?:做|当|担任)(?P<v>[\u4e00-\u9fff]{1,6"
            r"}(?:师"
            r"|员|生|家|长|士|工|手|司机|经理|教授|律师|记者))(?=[，。,.!！]|$)",
            _han("job"),
        ),
        _rule(
            r"我(?P<no>不)?是(?:一名|一个|一位|个|名)?(?P<v>[\u4e00-\u9fff]{0,6}(?:师"
            r"|员|医生|学生|作家|画家|护士|司机|经理|教授|律师|记者"
            r"|警察|演员))(?=[，。,.!！]|$)",
            _han("job"),
        ),
        _rule(
            r"我(?P<no>不)?对(?P<v>(?:花生|坚果|海鲜|虾|螃蟹|牛奶|乳制品|鸡蛋|青霉素|阿司匹林|花粉|尘螨"
            r"|猫毛|狗毛|猫|狗|芒果|菠萝|小麦|大豆|乳胶|酒精|头孢"
            r"|桃子|芝麻|鱼)[\u4e00-\u9fff]{0,2}?)过敏",
            _han("allergic"),
        ),
        _rule(
            r"我(?:从来|从|已经|现在)?不(?:吃|喝)(?P<v>辣|肉|猪肉|牛肉|羊肉|海鲜|鱼|香菜|葱|蒜|甜食|奶制品|酒|咖啡|鸡蛋|麸质|内脏)",
            lambda m: iter([SlotMatch("diet", m["v"], False)]),
        ),
        _rule(r"我(?:吃素|是素食者|是素食主义者)(?P<v>)", lambda m: iter([SlotMatch("diet", "吃素")])),
        _rule(
            r"(?:我)?(?:平时|一直|很|特别|最|非常|从小)*(?P<no>不)?(?:喜欢|爱好是|热爱)(?P<v>(?!你|这|那|他|她"
            r"|它)[\u4e00-\u9fff]{2,8}?)(?=[，。,.!！]|$)",
            _han("likes"),
        ),
        _rule(
            r"我(?:特别|很|最|非常)?讨厌(?P<v>(?!你|这|那|他|她|它)[\u4e00-\u9fff]{2,8}?)(?=[，。,.!！]|$)",
            _han("dislikes"),
        ),
        _rule(
            r"我(?:的)?(?P<kin>姐姐|妹妹|哥哥|弟弟|妈妈|爸爸|老公|丈夫|老婆|妻子|儿子|女儿|女朋友|男朋友)(?:叫|的名字叫"
            r"|名叫)(?P<v>[\u4e00-\u9fff]{2,4})(?=[，。,.!！]|$)",
            lambda m: iter([SlotMatch("relationship", f"{m['kin']}{m['v']}")]),
        ),
        _rule(r"我的生日是(?P<v>\d{1,2}月\d{1,2}[日号])", _han("birthday")),
        _rule(r"我(?:今年)?(?P<v>\d{1,2})岁", lambda m: iter([SlotMatch("age", m["v"])])),
        _rule(
            r"我?(?:打算|计划|准备|决定)(?:要)?(?P<v>(?=[^。]*(?:明年|后年|考研|考博|考公|考驾照"
            r"|创业|结婚|搬家|搬到|买房|买车|出国|读博|读研|移民|留学"
            r"|辞职|换工作|退休|生孩子|要孩子|开店|开一家|开公司|学车))[^。！？?了好]{2,30})",
            _clause_maker("plans"),
        ),
        _rule(
            r"(?:我)?不(?P<v>考[博研]|结婚|出国|辞职|搬家|读博|创业)了",
            lambda m: iter([SlotMatch("plans", m["v"], False, own=m.string.strip("。"), ends=True)]),
        ),
        _rule(
            r"(?:我)(?:小时候|年轻时|以前|曾经)(?P<v>[^。！？?，]{0,16}(?:年|月)[^。！？?，]{0,10})",
            _clause_maker("did"),
        ),
        _rule(
            r"(?:请)?(?:以后|今后|从现在起)(?:请)?(?:(?:回答|回复|跟|给)我(?:说话|时|的时候)?)?"
            r"(?P<v>(?:都|不要|别|用|叫|一律|总是)[^。！？?]{2,40})",
            _each_wish,
        ),
        _rule(
            r"(?:请)?(?P<v>(?:永远|始终|一直|总是)(?:用|不要|别|叫)[^。！？?]{2,30})", _clause_maker("rule")
        ),
    ),
}
