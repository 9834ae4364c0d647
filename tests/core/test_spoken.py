"""The language of the words around a context: by a short message, and in doubt by what the user said before."""

from collections.abc import Sequence
from itertools import chain

import pytest

from episodic_agent import Memory
from episodic_agent.core.context.frames import likely_languages, spoken_language
from episodic_agent.core.episodes.languages import guess_language
from episodic_agent.core.language import fold
from episodic_agent.core.language.terms import stop_words
from episodic_agent.data import listed_words, texts

QUESTIONS = {
    "en": (
        "When does the battery arrive?",
        "What do we have today?",
        "Any news?",
        "Where is my invoice?",
        "Thanks, that helps",
        "How much was it?",
        "And the brakes?",
        "Who is coming tomorrow?",
        "What's my address?",
        "Can I change the appointment?",
        "hello",
        "ok, will do",
        "Did the parcel get lost?",
        "price of the helmet",
        "what's the plan for Friday",
        "Who told you that?",
        "my order please",
        "Is it ready?",
        "Still waiting for a reply",
        "remind me what we agreed",
    ),
    "de": (
        "Wann kommt der Akku an?",
        "Was haben wir heute?",
        "Gibt es Neuigkeiten?",
        "Wo ist meine Rechnung?",
        "Danke, das hilft",
        "Wie viel hat es gekostet?",
        "Und die Bremsen?",
        "Wer kommt morgen?",
        "Wie lautet meine Adresse?",
        "Kann ich den Termin ändern?",
        "hallo",
        "ok, mach ich",
        "Ist das Paket verloren gegangen?",
        "Preis vom Helm",
        "was liegt am Freitag an",
        "Wer hat dir das gesagt?",
        "meine Bestellung bitte",
        "Ist es fertig?",
        "Ich warte noch auf eine Antwort",
        "woran hatten wir uns geeinigt",
    ),
    "es": (
        "¿Cuándo llega la batería?",
        "Qué tenemos hoy?",
        "Alguna novedad?",
        "Dónde está mi factura?",
        "Gracias, me sirve",
        "Cuánto costó?",
        "¿Y los frenos?",
        "Quién viene mañana?",
        "cual es mi direccion",
        "Puedo cambiar la cita?",
        "hola",
        "vale, lo hago",
        "Se ha perdido el paquete?",
        "precio del casco",
        "qué plan hay el viernes",
        "Quién te dijo eso?",
        "mi pedido por favor",
        "Está listo?",
        "Sigo esperando respuesta",
        "recuérdame qué acordamos",
    ),
    "fr": (
        "Quand arrive la batterie ?",
        "Qu'avons-nous aujourd'hui ?",
        "Du nouveau ?",
        "Où est ma facture ?",
        "Merci, ça m'aide",
        "Combien ça a coûté ?",
        "Et les freins ?",
        "Qui vient demain ?",
        "Quelle est mon adresse ?",
        "Je peux changer le rendez-vous ?",
        "bonjour",
        "ok, je le fais",
        "Le colis s'est perdu ?",
        "prix du casque",
        "c'est quoi le programme de vendredi",
        "Qui t'a dit ça ?",
        "ma commande s'il vous plaît",
        "C'est prêt ?",
        "J'attends toujours une réponse",
        "rappelle-moi ce qu'on avait convenu",
    ),
    "it": (
        "Quando arriva la batteria?",
        "Che cosa abbiamo oggi?",
        "Ci sono novità?",
        "Dov'è la mia fattura?",
        "Grazie, mi aiuta",
        "Quanto è costato?",
        "E i freni?",
        "Chi viene domani?",
        "Qual è il mio indirizzo?",
        "Posso cambiare l'appuntamento?",
        "ciao",
        "va bene, lo faccio",
        "Il pacco si è perso?",
        "prezzo del casco",
        "che programma c'è venerdì",
        "Chi te l'ha detto?",
        "il mio ordine per favore",
        "È pronto?",
        "Aspetto ancora una risposta",
        "ricordami cosa avevamo deciso",
    ),
    "pt": (
        "Quando chega a bateria?",
        "O que temos para hoje?",
        "Há novidades?",
        "Onde está a minha fatura?",
        "Obrigado, ajuda muito",
        "Quanto custou?",
        "E os travões?",
        "Quem vem amanhã?",
        "Qual é a minha morada?",
        "Posso mudar a consulta?",
        "boas",
        "ok, vou fazer",
        "A encomenda perdeu-se?",
        "preço do capacete",
        "qual é o plano para sexta",
        "Quem te disse isso?",
        "a minha encomenda por favor",
        "Está pronto?",
        "Continuo à espera de resposta",
        "lembra-me o que combinámos",
    ),
    "nl": (
        "Wanneer komt de accu?",
        "Wat hebben we vandaag?",
        "Is er nieuws?",
        "Waar is mijn factuur?",
        "Bedankt, dat helpt",
        "Hoeveel kostte het?",
        "En de remmen?",
        "Wie komt er morgen?",
        "Wat is mijn adres?",
        "Kan ik de afspraak verzetten?",
        "hoi",
        "oké, doe ik",
        "Is het pakket kwijt?",
        "prijs van de helm",
        "wat staat er vrijdag op het programma",
        "Wie heeft je dat verteld?",
        "mijn bestelling alsjeblieft",
        "Is het klaar?",
        "Ik wacht nog op antwoord",
        "herinner me aan wat we hadden afgesproken",
    ),
    "ru": (
        "Когда придёт аккумулятор?",
        "Что у нас сегодня?",
        "Есть новости?",
        "Где мой счёт?",
        "Спасибо, помогло",
        "Сколько это стоило?",
        "А тормоза?",
        "Кто придёт завтра?",
        "Какой у меня адрес?",
        "Можно перенести запись?",
    ),
    "zh": (
        "电池什么时候到？",
        "今天有什么安排？",
        "有消息吗？",
        "我的发票在哪里？",
        "谢谢，很有帮助",
        "多少钱？",
        "刹车呢？",
        "明天谁来？",
        "我的地址是什么？",
        "可以改预约吗？",
    ),
}
TALK = {
    "en": (
        "My order came without the bolts",
        "I work nights at the hospital, so please never call before four",
        "The light flickers since the rain",
    ),
    "de": (
        "Meine Bestellung kam ohne Schrauben an",
        "Ich arbeite nachts im Krankenhaus, bitte nie vor vier anrufen",
        "Das Licht flackert seit dem Regen",
    ),
    "es": (
        "Mi pedido llegó sin los tornillos",
        "Trabajo de noche en el hospital, no me llaméis antes de las cuatro",
        "La luz parpadea desde la lluvia",
    ),
    "fr": (
        "Ma commande est arrivée sans les vis",
        "Je travaille de nuit à l'hôpital, ne m'appelez jamais avant quatre heures",
        "La lumière clignote depuis la pluie",
    ),
    "it": (
        "Il mio ordine è arrivato senza le viti",
        "Lavoro di notte in ospedale, non chiamatemi prima delle quattro",
        "La luce lampeggia da quando ha piovuto",
    ),
    "pt": (
        "A minha encomenda chegou sem os parafusos",
        "Trabalho de noite no hospital, por favor não me liguem antes das quatro",
        "A luz pisca desde a chuva",
    ),
    "nl": (
        "Mijn bestelling kwam zonder de bouten",
        "Ik werk 's nachts in het ziekenhuis, bel me nooit voor vier uur",
        "Het licht knippert sinds de regen",
    ),
    "ru": (
        "Мой заказ пришёл без болтов",
        "Я работаю по ночам",
    ),
    "zh": (
        "我的订单没有螺丝",
        "我晚上在医院上班",
    ),
}
# Written after the lists of words were.
UNSEEN = {
    "en": (
        "Who fixed the gate?",
        "Is the meeting still on?",
        "book it then",
        "Did Anna call back?",
        "our flight number",
        "which one was cheaper",
    ),
    "de": (
        "Wer hat das Tor repariert?",
        "Findet das Treffen noch statt?",
        "dann buch es",
        "Hat Anna zurückgerufen?",
        "unsere Flugnummer",
        "welches war billiger",
    ),
    "es": (
        "Quién arregló la puerta?",
        "Sigue en pie la reunión?",
        "resérvalo entonces",
        "Ha llamado Anna?",
        "nuestro número de vuelo",
        "cuál era más barato",
    ),
    "fr": (
        "Qui a réparé le portail ?",
        "La réunion tient toujours ?",
        "réserve-le alors",
        "Anna a rappelé ?",
        "notre numéro de vol",
        "lequel était moins cher",
    ),
    "it": (
        "Chi ha riparato il cancello?",
        "La riunione è confermata?",
        "allora prenotalo",
        "Anna ha richiamato?",
        "il nostro numero di volo",
        "quale costava meno",
    ),
    "pt": (
        "Quem arranjou o portão?",
        "A reunião mantém-se?",
        "reserva então",
        "A Anna ligou de volta?",
        "o nosso número de voo",
        "qual era mais barato",
    ),
    "nl": (
        "Wie heeft het hek gemaakt?",
        "Gaat de vergadering nog door?",
        "boek het dan",
        "Heeft Anna teruggebeld?",
        "ons vluchtnummer",
        "welke was goedkoper",
    ),
}
CLOSE = {"es": "pt", "pt": "es", "it": "es", "fr": "it", "de": "nl", "nl": "de", "en": "de"}


def right(talk: Sequence[str], language: str) -> int:
    return sum(spoken_language(text, talk) == language for text in QUESTIONS[language])


@pytest.mark.parametrize("language", QUESTIONS)
def test_short_questions_tell_their_language(language: str) -> None:
    questions = QUESTIONS[language]
    assert right([], language) >= len(questions) - 2
    assert right(TALK[language], language) == len(questions)
    assert right(TALK["en"], language) >= len(questions) - 2, "those of a memory in English too"
    if language in CLOSE:
        assert right(TALK[CLOSE[language]], language) >= len(questions) - 2, "and in a close one"


def test_what_only_looks_foreign_is_of_the_language_of_the_talk() -> None:
    for message in (
        "Where did I put the Müller file?",
        "the man in the van",
        "the heute show",
        "on the menu",
    ):
        assert spoken_language(message) == spoken_language(message, TALK["de"]) == "en"
    for message in ("war tribune", "die hard", "piano lessons", "naïve question", "error in main.py"):
        assert likely_languages(message) == ()


def test_a_sign_of_one_language_tells_it_beside_any_talk() -> None:
    for talk in TALK.values():
        assert spoken_language("¿Y el martes?", talk) == "es"
        assert spoken_language("Há novidades?", talk) == "pt"


def test_between_close_languages_most_of_the_talk_decides() -> None:
    assert likely_languages("Quando?") == ()
    for language in ("it", "pt"):
        assert spoken_language("Quando?", [*TALK[language], TALK["en"][0]]) == language


def test_questions_whose_words_no_list_was_written_for_are_of_the_language_of_the_talk() -> None:
    wrong = [
        text
        for language, questions in UNSEEN.items()
        for text in questions
        if spoken_language(text, TALK[language]) != language
    ]
    alone = [spoken_language(text) == language for language, listed in UNSEEN.items() for text in listed]
    assert wrong == []
    assert sum(alone) >= 33


class TestLanguagesWithoutFrames:
    """Turkish talk was told under German headings, Polish under Portuguese ones: the nearest neighbour's."""

    @pytest.mark.parametrize(
        "message",
        [
            "Arabanın aküsü bitti, usta da yarın gelecek",
            "Bu akşam da evde kaldım, der gibi bir hali vardı",
            "Kızım için de bir hediye lazım, ne alsam",
            "Doktor bana kontrol için gün verdi",
            "Işık faturası da geldi bu ay çok",
            "Mam jutro wizytę u dentysty, o której to było?",
            "Nie lubię kawy, proszę o herbatę",
            "Unde locuiesc acum?",
            "Holnap orvoshoz megyek",
            "Mai tôi đi khám răng",
            "Zítra jdu k zubaři",
            "Besok saya ke dokter gigi",
            "Завтра йду до лікаря, треба взяти довідку",
        ],
    )
    def test_is_told_as_none(self, message: str) -> None:
        assert spoken_language(message) == guess_language(message) == ""

    def test_their_names_in_other_talk_change_nothing(self) -> None:
        assert spoken_language("When does Işıl fly to İzmir with Łukasz?") == "en"
        assert spoken_language("Wann kommt Işıl mit dem Zug nach Łódź?") == "de"
        assert spoken_language("Мы едем в Київ поездом, где мой билет?") == "ru"

    def test_no_word_of_theirs_is_one_of_a_language_with_headings(self) -> None:
        own = "language/own_words"
        with_headings = {*chain(*stop_words().values())}
        with_headings |= {*chain(*(listed_words(f"{own}.words.{name}") for name in texts(f"{own}.words")))}
        others = {*chain(*(listed_words(f"{own}.others.{name}") for name in texts(f"{own}.others")))}
        assert len(others) > 400
        assert not others & with_headings
        assert all(fold(word) == word for word in others)

    def test_contexts_are_framed_in_english_then(self) -> None:
        with Memory.open(":memory:", embedder="none") as memory:
            elif_ = memory.user("elif")
            elif_.add("Arabanın aküsü bitti, usta da yarın gelecek", channel="app")
            elif_.add("Doktor bana kontrol için gün verdi", channel="app")
            for message in ("Merhaba", "Kızım için de bir hediye lazım, ne alsam"):
                assert "Current question:" in elif_.context(message, channel="app").text
            assert "Aktuelle Frage:" in elif_.context("Was soll ich heute Abend kochen?", channel="web").text

    def test_summaries_take_no_words_of_a_neighbour(self) -> None:
        with Memory.open(":memory:", embedder="none") as memory:
            elif_ = memory.user("elif")
            elif_.add("Annem de geliyor, ablam da", channel="app")
            elif_.add("Artık et yemiyorum, tarif verirken dikkat et", channel="app")
            (summary,) = (episode.summary for episode in elif_.episodes.list())
            assert summary.startswith("User: Annem de geliyor")
