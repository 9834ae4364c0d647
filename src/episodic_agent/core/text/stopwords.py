"""Words that carry no content, by language: function words, question words, auxiliary verbs.

Forms are listed as `terms.fold` leaves them: lower case, without accents.
They are dropped from texts and queries alike.
"""

from typing import Final

_ENGLISH: Final = """
a an the and or but if then than so as of at by for from in into on onto to with without about over
under up down out off this that these those there here it its itself i me my mine myself we us our
ours ourselves you your yours yourself yourselves he him his himself she her hers herself they them
their theirs themselves who whom whose what which when where why how whether be am is are was were
been being do does did doing done have has had having will would shall should can could may might
must ought not no nor yes ok okay just also too very really quite some any all both each every
either neither such own same other another more most much many few less least only even ever still
yet again once because while during until till since before after between through against among per
via let lets s t m d re ve ll im ive youre youve theyre thats whats cant dont didnt doesnt isnt
wasnt wont gonna wanna um uh uhm mm hmm mhm yeah yep oh ah er hey hi hello please thanks thank
"""
_GERMAN: Final = """
der die das den dem des ein eine einen einem einer eines und oder aber wenn dann als wie so von vom
zu zum zur in im ins an am auf aus bei mit nach vor uber unter fur durch gegen ohne um bis seit
wahrend wegen trotz ich mich mir mein meine meinen meinem meiner meines du dich dir dein deine
deinen deinem deiner er ihn ihm sein seine seinen seinem seiner sie ihr ihre ihren ihrem ihrer es
wir uns unser unsere unseren euch euer eure man sich wer wen wem wessen was welche welcher welches
welchen wann wo wohin woher warum wieso weshalb ist bin bist sind seid war warst waren wart gewesen
wird werde wirst werden wurde wurden worden hat habe hast haben habt hatte hatten kann kannst konnen
konnte konnten muss mussen musste soll sollen sollte will wollen wollte darf durfen mag mochte nicht
kein keine keinen keinem ja nein doch noch schon auch nur sehr mal denn da hier dort dies diese
dieser dieses diesen jede jeder jedes alle alles etwas nichts viel mehr also dass ob weil
"""
_SPANISH: Final = """
el la los las un una unos unas lo al del de a en y e o u pero si no que como cuando donde quien
quienes cual cuales cuanto cuantos cuanta cuantas por para con sin sobre entre hasta desde durante
hacia segun contra tras yo me mi mis mio mia tu te ti tus usted ustedes ella ello ellos ellas nos
nosotros nosotras vosotros os se su sus suyo nuestro nuestra nuestros nuestras este esta esto estos
estas ese esa eso esos esas aquel aquella aquello ser es soy eres somos son era eran fue fui fueron
sido estar estoy estamos estan estaba estaban estuvo hay haber he has ha hemos han habia hizo muy
mas menos tambien ya aun solo tan tanto todo toda todos todas algo nada porque pues le les
"""
_FRENCH: Final = """
le la les l un une des du de d au aux a en et ou mais si ne n pas plus que qu qui quoi dont quand
comment pourquoi combien quel quelle quels quelles ce c cet cette ces ca cela je j me m moi mon ma
mes tu te t toi ton ta tes il elle on se s soi son sa ses nous notre nos vous votre vos ils elles
leur leurs lui y etre est suis es sommes etes sont etait etaient ete fut sera avoir ai as avons avez
ont avait avaient eu par pour avec sans sur sous dans entre vers chez depuis pendant contre comme
tres aussi deja encore meme tout toute tous toutes rien bien donc car parce lorsque
"""
_ITALIAN: Final = """
il lo la i gli le l un uno una di del dello della dei degli delle d a al allo alla ai agli alle da
dal dallo dalla dai dagli dalle in nel nello nella nei negli nelle con col su sul sullo sulla sui
sugli sulle per tra fra e ed o ma se non che chi cui quale quali quando dove come perche quanto
quanti quanta quante io mi me mio mia miei mie tu ti te tuo tua tuoi tue lui lei esso essa si suo
sua suoi sue noi ci nostro nostra nostri nostre voi vi vostro vostra loro li ne questo questa questi
queste quello quella quelli quelle essere sono sei siamo siete era erano stato stata fu avere ho hai
ha abbiamo avete hanno aveva avevano molto piu meno anche gia ancora solo tutto tutta tutti tutte
poi
"""
_PORTUGUESE: Final = """
o a os as um uma uns umas de do da dos das em no na nos nas num numa por pelo pela pelos pelas para
com sem sobre entre ate desde durante contra e ou mas se nao que quem qual quais quando onde como
porque quanto quantos quanta quantas eu me mim meu minha meus minhas tu te ti teu tua voce voces ele
ela eles elas lhe lhes si seu sua seus suas nosso nossa nossos nossas este esta isto estes estas
esse essa isso esses essas aquele aquela aquilo ser sou es somos sao era eram foi fui foram sido
estar estou estao estava estavam ha haver ter tem tenho tinha muito mais menos tambem ja ainda so
tudo todo toda todos todas ao aos
"""
_DUTCH: Final = """
de het een en of maar als dan dat die dit deze van voor met zonder in op aan bij uit naar om tot
door over onder tegen tussen sinds tijdens ik mij me mijn jij je jou jouw u uw hij hem zijn zij ze
haar wij we ons onze jullie hun hen zich wie wat welke welk wanneer waar waarom hoe is ben bent was
waren geweest wordt word worden werd werden heb hebt heeft hebben had hadden kan kunnen kon konden
zal zullen zou zouden moet moeten mag niet geen nee ja ook nog al wel zeer heel meer veel alle alles
iets niets er hier daar want omdat dus toen nu te
"""
_RUSSIAN: Final = """
и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было
вот от меня еще нет о из ему теперь когда даже ну ли если уже или ни быть был него до вас нибудь
опять уж вам ведь там потом себя ничего ей может они тут где есть надо ней для мы тебя их чем была
сам чтоб без будто чего раз тоже себе под будет ж тогда кто этот того потому этого какой какая какие
совсем ним здесь этом почти мой моя мои мое тем чтобы нее были куда зачем всех можно при об этой
перед чуть том такой им более всегда это эта эти наш наша ваш ваша сколько почему который которая
которые которое свой своя свои
"""

STOP_WORDS: Final[dict[str, frozenset[str]]] = {
    "en": frozenset(_ENGLISH.split()),
    "de": frozenset(_GERMAN.split()),
    "es": frozenset(_SPANISH.split()),
    "fr": frozenset(_FRENCH.split()),
    "it": frozenset(_ITALIAN.split()),
    "pt": frozenset(_PORTUGUESE.split()),
    "nl": frozenset(_DUTCH.split()),
    "ru": frozenset(_RUSSIAN.split()),
}
# Acronyms that would otherwise be taken for stop words; only in capitals.
KEPT_CAPITALS: Final = frozenset({"IT", "US", "WHO"})
# Chinese characters that carry no content alone; bigrams with them are kept.
HAN_PARTICLES: Final = frozenset("的了吗呢吧啊呀嘛着过是在我你他她它们什么哪那这个和与就也都很把被")
