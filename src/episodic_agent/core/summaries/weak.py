"""Words that say little about what an episode is about: talk, not topic.

`LIGHT` words (verbs, adverbs, exclamations) never stand in a key phrase. `WEAK` words (adjectives, nouns
for anything) may, but do not make one. Compared as `text.fold` leaves them.
"""

from typing import Final

from episodic_agent.core.text import fold

_ENGLISH_VERBS: Final = """
absolutely accept achieve add added adding afford agree agreed aim aiming allow allows answer anyway apart
apparently appear applied applies apply applying appreciate aren ask asked asking assume avoid away babe
based became become becoming began begin believe bet better bought break bring bringing bro broke brought
build building built bye call called calling came care certainly change changed check checked checking
choose choosing chose come comes coming complete completely confirm confirmed congrats consider considered
considering contact continue correct could count couldn couple covered create created creating cross curious
currently cut dang deal decide decided deciding definitely depend depending depends describe described
determine didn discuss discussed discussing doesn done draw drop dude effectively either else end ended
ending enjoy enjoyed enjoying enough ensure ensures ensuring especially etc eventually everybody everyone
everything exactly except expect expecting explain explained explaining explore exploring express fall feel
feeling feels fell felt figure figured figuring fill filled finally find finding finish finished fit fix
fixed focus focused focusing follow followed following follows forget forgot forward found gave get gets
getting give given gives giving glad go goes going gone gonna gosh got gotta gotten grab grew guess ha had
haha hahaha hahahaha handle handling happen happened happening happens happy hasn hate haven hear heard
hearing held help helped helpful helping helps hey hi highly hold holding honestly hope hopefully hoping
however identify imagine implement improve include included includes including incorporate increase indeed
inform involve involves isn join keep keeping kept kinda knew know knowing known knows lead leading learn
learned learning leave leaving led left like liked likely likes listen literally live lived lives living
lmao lol look looked looking looks lose lost love loved loves loving made maintain maintaining make makes
making manage managed managing matter maybe mean means meant mention mentioned met might miss missed missing
nah name named need needed needing needs never nope nothing notice noticed obviously offer offered offering
omg oops oooh oooo ooh open organize otherwise ouch own owned owning pay paying perhaps perfectly pick
picked picking place plan planned planning play played playing please plus possibly post posted prefer
prepare prepared preparing prevent prioritize probably proceed protect provide provided provides providing
pull pulled push pushed put putting ran rather reach reached read reading realize realized really received
receive receiving recently recommend recommended reduce refer reflect regarding related rely remember remind
replace require required requires respond return returned returning review reviewed reviewing run running
said sat save saw say saying says schedule scheduled see seeing seem seemed seems seen sell send sending
sent serve set setting settle share shared shares sharing should shouldn show showed showing shows simply
sit sitting slowly sold solve somebody somehow someone something sometimes soon sort sound sounded sounds
speak spend spending spent spoke stand start started starting starts stated stay stayed staying still stop
stopped stuck studying submit suggest suggested suppose supposed sure surely take taken takes taking talk
talked talking taught tell telling tend thank thanks theirs thing think thinking thinks thought thru tho
though tired today together told tomorrow tonight took totally track transition tried truly try trying turn
turned turns type u ugh uh understand understanding understood update updated upload ur use used uses using
usually validate verify wait waited waiting wake walked wanna want wanted wanting wants warn wasn watch
watched watching wear wearing weigh welcome well went weren whenever whatever wherever win wish woke won
wondering wont work worked working works worried worry worth wouldn wow write writing written wrote ya yall
yay yea yeah yep yes yesterday yet yup ahead align alright already always around aw aww back certain dont im
ive id far hmm instead later mostly nearly often quickly right specifically straight suddenly therefore thus
till unfortunately without yourself cannot via per vs eg ie ok okay here's let's that's there's what's
besides within among across beyond toward towards visit visits begins below above detailed example examples
step steps tip tips approach approaches information details
"""
_ENGLISH_WEAK: Final = """
able actual additional amazing area areas aspect aspects attractive available awesome awful bad basic
beautiful best big bit brilliant challenging clear close comprehensive cool correct crazy current cute day
days deep delicious different difficult dumb early easy effective essential exciting experience experiences
extra fabulous family famous fantastic far fast favorite favourite few final fine first free friend friends
full fun funny future general good gorgeous great group guy guys hard healthy helpful high hour hours huge
idea ideas important incredible individual interesting item items job key kind kinds last late latest least
life list little long lot lots lovely low main major man mental min minute minutes moment moments money
month months morning natural necessary next nice night number old one ones only option options overall part
particular particularly parts past people perfect person personal piece place places point points positive
possible potential pretty previous problem problems process quick quiet real reason reasons recent regular
relevant scary second several short sick significant similar simple single situation size small soft
something sorry special specific strong stuff suitable super sweet terrible thing things third time times
top tough true two unique useful usual various way ways week weekend weeks whole wonderful world worst year
years young question questions answer response resources strategies strategy plan plans feedback goal goals
change changes level wide range variety sense amount numbers types sort sorts bunch couple set total side
end start three four five six seven eight nine ten also many much more most
"""
_GERMAN: Final = """
gut gute guten gutes super toll schön schon genau klar okay danke bitte gerne gern leider vielleicht
eigentlich natürlich einfach wirklich ganz gerade heute gestern morgen immer wieder erst jetzt machen macht
gemacht gehen geht ging gegangen kommen kommt kam gekommen sehen gesehen sagen sagt gesagt wissen weiß
finden finde gefunden denke denken glaube brauche brauchen freue freuen hoffe nehmen geben gibt lassen
bleiben bleibt stimmt echt hallo tschüss tag zeit sache sachen ding dinge leute fragen frage bisschen viele
wenig neue neuen neuer neues große großen kleine kleinen nächste nächsten letzte letzten jahr jahre monat
woche wochen stunde stunden
"""
_SPANISH: Final = """
bien bueno buena buenos buenas gracias hola claro vale genial perfecto favor quiero quieres quiere puedo
puede puedes tengo tienes tiene tenemos voy vas va vamos ir hacer hago hace hecho ver veo visto decir dice
dijo saber sé sabes creo gusta gustaría encanta espero necesito necesita parece siempre nunca ahora hoy ayer
mañana luego después antes casi cosa cosas día días vez veces año años mes semana tiempo gente nuevo nueva
gran grande mejor
"""
_FRENCH: Final = """
bien bon bonne bonjour merci salut super parfait veux veut peux peut faire fait fais aller vais va allons
voir vu dire dit savoir sais pense crois aime adore espère besoin faut toujours jamais maintenant
aujourd'hui hier demain après avant encore chose choses jour jours fois an ans année mois semaine temps gens
nouveau nouvelle grand grande petit petite vraiment peu beaucoup
"""
_OTHERS: Final = """
bene buono ciao grazie voglio posso devo fare fatto vado sono penso credo oggi ieri domani cosa cose volta
anno bom boa olá obrigado obrigada quero preciso fazer vou acho hoje ontem amanhã coisa coisas dia vez ano
goed hallo dank bedankt graag wil kan moet doen gaan ga denk vandaag gisteren morgen ding dingen dag keer
jaar привет спасибо хорошо ладно хочу могу надо нужно делать пойти думаю знаю сегодня вчера завтра день раз
год очень
"""
LIGHT: Final = frozenset(map(fold, (_ENGLISH_VERBS + _GERMAN + _SPANISH + _FRENCH + _OTHERS).split()))
WEAK: Final = frozenset(_ENGLISH_WEAK.split())
# Chinese and Japanese are not spaced: these break a run of characters into pieces that may be names.
_HAN_BREAKS: Final = """
哪家 那家 这家 一家 记得 昨日 今日 明日 来月 先月 来年 去年 昨晚 今晚 上个月 下个月 上周 下周
我们 你们 他们 她们 它们 咱们 自己 什么 怎么 怎样 为什么 哪里 哪个 这个
那个 这些 那些 这里 那里 这样 那样 因为 所以 但是 可是 不过 而且 或者
如果 虽然 然后 还是 还有 就是 不是 没有 可以 能够 应该 需要 想要 希望
觉得 认为 知道 喜欢 打算 准备 将要 正在 已经 一直 一起 一个 一些 一下
非常 特别 真的 其实 当然 好的 谢谢 您好 你好 今天 昨天 明天 现在 时候
参加 主要 真是 真好 不会 将会 不能 不要 只要 叫做 单位叫 家叫 名叫 上班
工作是 没问题 关于 通过 进行 以及 并且 帮我 请问 告诉
"""
HAN_BREAKS: Final = tuple(sorted(_HAN_BREAKS.split(), key=len, reverse=True))
HAN_BREAK_CHARACTERS: Final = (
    "的了吗呢吧啊呀嘛着是在我你您他她它们哪那这个与就也都很把被让给到去来说没不又再才还只最更太自"
)
# Characters that break a run unless they are part of one of these words.
HAN_DOUBTFUL: Final = (
    r"有(?![限效关机趣名])|(?<![性功可智技])能(?![力量源耗])|(?<![主重需])要(?![求点素])|(?<!感)想(?![法象])"
)
