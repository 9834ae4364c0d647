"""Words and phrases that steer a conversation, by what they do, in several languages.

Forms are folded as `core.text.words` leaves them: lower case, without accents; an apostrophe splits a word
("that's" is "that s"). Chinese has no spaces, so its phrases are looked up as substrings. The lists are
closed classes on purpose: a missing phrase only weakens a cue, a content word here would be a wrong one.
"""

from typing import Final

ACK: Final = """
ok|okay|k|kk|okey|alright|all right|right|yes|yeah|yep|yup|ya|yah|sure|sure thing|of course|certainly
definitely|absolutely|exactly|indeed|true|correct|agreed|fine|good|great|cool|nice|perfect|excellent
awesome|wonderful|lovely|got it|gotcha|gotten it|i got you|understood|i understand|i see|makes sense
make sense|sounds good|sounds great|sounds fine|sounds right|sounds like a plan|fair enough|fair point
good point|good to know|noted|duly noted|roger|copy that|will do|no problem|no worries|np|i hear you
i follow|i get it|i get that|i agree|same here|me too|my bad|thanks|thank you|thx|ty|cheers
much appreciated|appreciate it|appreciate that|that works|works for me|fits|clear|crystal clear|all clear
clear enough|that helps|that is helpful|helpful|that s helpful|very good|very well|mm|mhm|mm hmm|hmm|hm
uh huh|uh|um|ah|aha|oh|ooh|huh|wow|haha|lol|yay|interesting|that s interesting|what you mean
where you re coming from|where you are coming from|you re right|you are right|point taken|easy enough
as expected|just as i thought|like i thought|as i expected|i thought so|i figured|makes total sense
makes perfect sense|no|nope|nah|not really|i guess|i guess so|i think so|i suppose|i suppose so|maybe
probably|i know|that s right|consider it done|on it|i m on it|message received|received|loud and clear
i m with you|with you|following|following you|ja|klar|alles klar|genau|verstanden|ich verstehe|verstehe
gut|sehr gut|danke|danke schon|vielen dank|stimmt|okay danke|nein|ach so|achso|in ordnung|einverstanden
passt|macht sinn|ergibt sinn|das ergibt sinn|richtig|gerne|schon|super|prima|alles gut|si|vale|claro
de acuerdo|entendido|entiendo|ya veo|tiene sentido|gracias|muchas gracias|perfecto|bien|muy bien|bueno
exacto|por supuesto|listo|correcto|ah ya|oui|d accord|bien sur|compris|je comprends|je vois|ca marche
merci|merci beaucoup|parfait|tres bien|entendu|exactement|non|c est logique|c est clair|bien recu
ca a du sens|c est note|note|ah bon|va bene|certo|capito|ho capito|capisco|grazie|grazie mille|perfetto
bene|benissimo|esatto|d accordo|ha senso|chiaro|giusto|sim|entendi|compreendo|percebo|faz sentido
obrigado|obrigada|perfeito|muito bem|beleza|ta bom|esta bem|goed|begrepen|ik snap het|duidelijk|dank je
bedankt|klopt|ja hoor|tak|rozumiem|jasne|dobrze|dzieki|tamam|anladim|evet|tesekkurler|да|хорошо|понятно
понял|поняла|ясно|спасибо|ладно|согласен|точно|конечно|угу
""".replace("\n", "|")

# Words that may stand around an acknowledgement without adding anything.
FILLER: Final = """
i|you|we|he|she|they|it|this|that|these|those|me|us|my|your|is|are|am|was|be|s|m|re|ll|d|ve|t|a|an|the|to
for|of|so|very|all|now|then|and|well|just|too|really|quite|much|again|here|there|do|does|did|will|would
have|has|had|totally|completely|perfectly|pretty|what|on|in|with|about|everyone|guys|man|dude|sir|please
know|explaining|explanation|that one|vocalsound|disfmarker|gap|letting|think|telling|heads up|up
clarifying|clarification|sharing|info|help|das|ich|ist|es|sehr|ganz|dann|und|du|sie|mir|fur|die|der|jetzt
also|na|eso|lo|yo|que|muy|pues|entonces|ya|por|la|el|tu|su|con|ca|c|est|je|vous|tres|alors|donc|pour|le
les|tout|l|j|ai|il|e|un|molto|allora|per|ora|mi|tutto|che|o|um|uma|isso|muito|entao|eu|agora|tudo|para|de
het|een|dat|ik|dan|nu|wel|это|я|ну|вот|все|так|очень|за
dir|dich|euch|ihnen|uns|mich|te|ti|le|se|os|moi|toi|lui|leur|nous|vi|ci|lei|voi|voce|voces|jou|u|jullie
тебе|вам|вас|тебя|мне|меня
""".replace("\n", "|")

GREETING: Final = """
hi|hello|hey|hiya|good morning|good afternoon|good evening|greetings|howdy|what s up|whats up
welcome back|nice to meet you|how are you|how are you doing|how is it going|how s it going
how have you been|how was your|how s your day|hope you|hallo|guten morgen|guten tag|guten abend|moin
servus|wie geht|gruss gott|hola|buenos dias|buenas tardes|buenas noches|que tal|como estas|bonjour
bonsoir|salut|coucou|comment ca va|comment allez|ciao|buongiorno|buonasera|come stai|ola|bom dia
boa tarde|boa noite|tudo bem|como vai|goedemorgen|hoi|czesc|dzien dobry|merhaba|gunaydin|привет
здравствуйте|доброе утро|добрый день|добрый вечер|как дела
""".replace("\n", "|")

CLOSING: Final = """
bye|goodbye|bye bye|see you|see ya|take care|good night|goodnight|talk later|talk to you later|talk soon
ttyl|have a good|have a great|have a nice|have a lovely|have fun|until next time|catch you later
that s all|that is all|that will be all|that ll be all|nothing else|gotta go|i have to go|i need to go
got to go|heading to bed|sleep well|see you tomorrow|that s everything|anything else|you re welcome
you are welcome|my pleasure|glad i could help|happy to help|tschuss|auf wiedersehen|bis bald|bis spater
bis morgen|gute nacht|schonen tag|mach s gut|das war s|das ware alles|adios|hasta luego|hasta manana
nos vemos|buenas noches|cuidate|eso es todo|chao|au revoir|a bientot|a demain|bonne nuit|bonne journee
bonne soiree|c est tout|arrivederci|a presto|a domani|buona notte|buonanotte|buona giornata|e tutto|tchau
ate logo|ate amanha|boa noite|ate mais|e so isso|tot ziens|doei|до свидания|пока|спокойной ночи|до завтра
""".replace("\n", "|")

THANKS: Final = """
thanks|thank you|thx|ty|many thanks|much appreciated|appreciate it|cheers|danke|vielen dank|danke schon
gracias|muchas gracias|merci|merci beaucoup|grazie|grazie mille|obrigado|obrigada|dank je|bedankt|dzieki
tesekkurler|спасибо
""".replace("\n", "|")

SHIFT: Final = """
by the way|btw|anyway|anyways|anyhow|on another note|on a different note|on a side note|side note
changing the subject|change of subject|change the subject|different topic|new topic|another topic
next topic|another question|one more question|one more thing|another thing|different question
next question|unrelated|moving on|let s move on|let us move on|switching gears|speaking of
that reminds me|while i m at it|also i|also can|i also|what about|how about|apart from|aside from|besides
before i forget|oh and|incidentally|next|next up|next item|let s talk about|let s discuss
i have a question|quick question|i was wondering|i wonder|as for|regarding|back to|going back to
coming back to|returning to|earlier you|to change|ubrigens|apropos|anderes thema|themenwechsel|nebenbei
was anderes|noch eine frage|noch was|eine andere frage|zuruck zu|abgesehen|por cierto|a proposito
cambiando de tema|otra cosa|otra pregunta|una pregunta|pasando a|volviendo a|hablando de|au fait|a propos
changeons de sujet|autre chose|autre question|une question|par ailleurs|pour revenir|passons a|sinon
comunque|cambiando argomento|un altra cosa|un altra domanda|tornando a|parlando di|alias
mudando de assunto|outra coisa|outra pergunta|voltando a|falando nisso|trouwens|iets anders|andere vraag
кстати|другая тема|другой вопрос|еще вопрос|между прочим|возвращаясь|bu arada|przy okazji|nawiasem mowiac
""".replace("\n", "|")

# Openers that tie a message to the one before it.
CONTINUE: Final = """
and|but|so|because|cause|or|then|which|also|too|though|however|therefore|still|plus|well|actually|like
even|yes|no|it|that|und|aber|weil|oder|dann|denn|doch|deshalb|y|pero|porque|entonces|o|asi|et|mais|parce
donc|ou|alors|puis|car|e|ma|perche|quindi|allora|poi|mas|entao|en|maar|want|dus|и|но|а|потому|или|так
тогда
""".replace("\n", "|")

ANAPHORA: Final = """
it|its|that|this|these|those|they|them|their|he|him|his|she|her|there|then|one|ones|same|such|both|either
neither|former|latter|above|the first|the other|another|es|das|dies|diese|dieser|dieses|er|ihn|sein|ihr
ihre|dort|davon|damit|dazu|dafur|eso|esto|ese|esta|este|ella|ellos|ellas|lo|ahi|alli|ca|cela|ceci|celui
celle|elle|ils|elles|y|en|lui|leur|questo|quello|cio|lei|loro|ci|ne|isso|isto|esse|essa|ele|ela|eles|elas
dat|deze|dit|die|hij|zij|hun|это|этот|эта|эти|он|она|они|его|ее|их|там|такой
""".replace("\n", "|")

WH: Final = """
what|who|whom|whose|which|when|where|why|how|was|wer|wen|wem|wann|wo|warum|wieso|wie|welche|welcher
welches|que|quien|cual|cuando|donde|por que|como|cuanto|cuanta|quel|quelle|qui|quand|ou|pourquoi|comment
combien|quoi|che|chi|quale|quando|dove|perche|come|quanto|quem|qual|onde|wat|wanneer|waar|waarom|hoe|что
кто|когда|где|почему|зачем|как|какой|какая|сколько
""".replace("\n", "|")

AUX: Final = """
do|does|did|is|are|was|were|am|can|could|will|would|shall|should|have|has|had|may|might|any|kannst|konnen
kann|hast|haben|ist|sind|soll|wird|darf|puedes|puede|tienes|tiene|hay|es|son|quieres|peux|pouvez|est|as
avez|etes|puis|puoi|puo|hai|ha|sei|pode|voce|tem|kun|heb|ben|можно|есть|ты|вы
""".replace("\n", "|")

REQUEST: Final = """
i need|i want|i would like|i d like|i m looking|i am looking|looking for|can you|could you|would you
please|help me|i have a|how do i|how can i|how to|tell me|show me|find me|give me|do i need|can i|could i
should i|i m trying|i am trying|i m interested|let s|what if|ich brauche|ich mochte|ich will|ich suche
konnen sie|kannst du|bitte|hilf mir|wie kann ich|necesito|quiero|quisiera|me gustaria|busco|puedes
puede usted|por favor|ayudame|como puedo|j ai besoin|je veux|je voudrais|je cherche|peux tu|pouvez vous
s il vous plait|aidez moi|ho bisogno|vorrei|voglio|cerco|puoi|per favore|aiutami|come posso|preciso|quero
gostaria|procuro|pode|me ajude|como posso|ik wil|ik zoek|kunt u|мне нужно|я хочу|помогите|пожалуйста
""".replace("\n", "|")

YOU: Final = """
you|your|yours|u|du|dein|deine|ihr|sie|ihre|tu|tus|usted|ustedes|vous|votre|vos|ton|ta|tes|tuo|tua|voce
seu|sua|jij|je|ты|вы|твой|ваш
""".replace("\n", "|")
SELF: Final = """
i|my|me|mine|we|our|us|ich|mein|meine|wir|yo|mi|mis|je|mon|ma|mes|nous|io|mio|mia|eu|meu|minha|ik|mijn|я
мой|моя|мы
""".replace("\n", "|")

PIVOT: Final = """
wait|wait what|wait a|wait no|hold on|hang on|that s different|that is different|that s not what
that is not what|not what i|come again|say that again|really|seriously|are you sure|are you serious
is that right|since when|that s odd|that is odd|that s strange|that s weird|that is weird|that doesn t
that does not|doesn t match|contradicts|huh|what do you mean|i thought|i assumed|didn t you say
but you said|you said|earlier you said|that s new|that is new|that can t be|that cannot be|how come
that s surprising|that is surprising|not what i expected|unexpected|change of plan|change of plans
on second thought|actually no|scratch that|moment mal|warte|warte mal|wie bitte|echt jetzt|wirklich
das ist anders|im ernst|seit wann|komisch|espera|un momento|como dices|en serio|de verdad
eso es diferente|que raro|attends|attendez|pardon|vraiment|serieux|c est different|c est bizarre|aspetta
come scusa|davvero|sul serio|e diverso|strano|espera ai|como assim|serio|estranho|wacht|wat zeg je
echt waar|подожди|погоди|что|серьезно|правда|странно|это другое
""".replace("\n", "|")

REVELATION: Final = """
i had no idea|had no idea|no idea that|changes everything|change everything|changed everything
i never knew|never knew|never would have|i would never have|would have never|i can t believe
can t believe|i cannot believe|unbelievable|incredible|i m shocked|i am shocked|shocked|i m stunned
stunned|speechless|mind blown|mind blowing|blown away|no way|you re kidding|you are kidding
are you kidding|you must be joking|you re joking|jaw|out of nowhere|did not see that coming
didn t see that coming|never saw that coming|game changer|turns everything|everything i thought
everything we thought|all wrong|completely wrong|this whole time|all this time|all along|oh my god|omg
oh my goodness|holy|what the|i m floored|floored|rethink everything|start over|start from scratch
i didn t know|i did not know|nobody told|no one told|never expected|i never expected|i never imagined
never imagined|i never thought|beyond belief|bombshell|impossible|das andert alles|ich hatte keine ahnung
keine ahnung|unglaublich|nicht zu fassen|das gibt s nicht|hatte ich nie|no tenia idea|no tenia ni idea
eso lo cambia todo|lo cambia todo|increible|no puede ser|no lo puedo creer|no lo sabia|ca change tout
je n en avais aucune idee|aucune idee|incroyable|je n arrive pas a|pas possible|je ne savais pas
non ne avevo idea|cambia tutto|incredibile|non ci posso credere|non lo sapevo|nao fazia ideia
isso muda tudo|muda tudo|inacreditavel|nao acredito|eu nao sabia|ik had geen idee|dat verandert alles
ongelooflijk|я понятия не|это все меняет|не может быть|невероятно|я не знал|я не знала
""".replace("\n", "|")

# Substrings for text without spaces.
HAN: Final[dict[str, str]] = {
    "ack": (
        "好的|好吧|好|嗯嗯|嗯|哦|噢|是的|对的|对|明白了|明白|知道了|知道|了解|懂了|收到|没问题|"
        "可以|行|有道理|谢谢|谢了|不客气|没事|当然|是啊|是|没错|原来如此|わかりました|了解です|"
        "なるほど|はい|ええ|そうですね|네|알겠습니다|알겠어요|그래요"
    ),
    "greeting": "你好|您好|早上好|下午好|晚上好|大家好|嗨|哈喽|こんにちは|おはよう|こんばんは|안녕",
    "closing": (
        "再见|拜拜|晚安|回头见|下次见|明天见|祝您|祝你|没有其他|没有别的|没别的|さようなら|"
        "おやすみ|またね|잘 가|안녕히"
    ),
    "thanks": "谢谢|感谢|多谢|ありがとう|감사",
    "shift": (
        "对了|另外|还有一个|还有件事|顺便|话说|换个话题|说到|再问|还想问|再请问|我还想|还有就是|"
        "回到|ところで|そういえば|ちなみに|別の|그런데|참,"
    ),
    "continue": "所以|但是|因为|而且|然后|那么|那|不过|可是|でも|だから|それで|그래서|하지만",
    "anaphora": "这个|那个|这些|那些|它|他|她|这样|那样|这|那|それ|これ|あれ|그것|이것",
    "wh": "什么|谁|哪|为什么|怎么|几|多少|何|誰|どこ|なぜ|どう|いつ|무엇|누구|어디|왜",
    "aux": "吗|能不能|可不可以|是不是|有没有|是否|ですか|ますか|까",
    "request": "我想|我要|请问|帮我|麻烦|需要|能帮|请|お願い|ください|주세요",
    "you": "你|您|あなた|당신",
    "self": "我|俺|私|僕|나|저",
    "pivot": "等等|等一下|什么?|什么？|真的吗|真的假的|不一样|不对|奇怪|待って|本当|違う|정말",
    "revelation": (
        "没想到|不敢相信|完全不知道|竟然|居然|改变了一切|彻底改变|太意外|难以置信|知らなかった|"
        "信じられない|몰랐"
    ),
}
