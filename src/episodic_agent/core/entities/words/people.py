"""People: given names of many cultures, family names, titles, and the words that stand beside a name."""

from typing import Final

GIVEN: Final = """
aaron|abby|abigail|adam|adele|adrian|adriana|agnes|aidan|aileen|aisha|alan|albert|alberto|alejandra
alejandro|alec|alex|alexa|alexander|alexandra|alexis|alfred|alfredo|ali|alice|alicia|alina|alison|allan
allen|allison|alma|alvin|alyssa|amanda|amber|amelia|amir|amit|amy|ana|anastasia|andre|andrea|andreas|andrew
andy|angel|angela|angelica|angelina|angie|anita|anja|anke|ann|anna|annabelle|anne|annette|annie|anton
antoine|antonia|antonio|anya|april|aria|ariana|ariel|arjun|arnold|art|arthur|arturo|asha|ashley|astrid
aubrey|audrey|august|aurora|austin|ava|avery|ayesha|barb|barbara|barry|beatrice|beatriz|becky|bella|ben
benedict|benjamin|benny|bernadette|bernard|bernie|bert|bertha|beth|bethany|betsy|betty|beverly|bianca|bill
billy|bjorn|blake|bo|bob|bobby|bonnie|boris|brad|bradley|brandon|brenda|brendan|brent|brett|brian|briana
brianna|bridget|brittany|brooke|bruce|bruno|bryan|bryce|caitlin|caleb|calvin|cameron|camila|camille|candice
cara|carina|carl|carla|carlos|carly|carmen|carol|carole|carolina|caroline|carolyn|carrie|carter|casey
cassandra|cassie|catherine|cathy|cecilia|cedric|celeste|celia|celine|cesar|chad|chandra|charlene|charles
charlie|charlotte|chase|chelsea|cheryl|chloe|chris|christa|christian|christina|christine|christopher|christy
chuck|cindy|claire|clara|clarence|clark|claude|claudia|claus|clay|clement|cliff|clifford|clint|clyde|cody
colin|colleen|connie|connor|conor|constance|cora|corey|cory|courtney|craig|cristina|crystal|curtis|cynthia
daisy|dale|dalia|damian|damien|dan|dana|daniel|daniela|daniella|danielle|danny|daphne|darius|darlene|darrell
darren|daryl|dave|david|dawn|dean|deanna|deb|debbie|deborah|debra|deepak|deirdre|denis|denise|dennis|derek
derrick|desmond|diana|diane|dick|diego|dieter|dimitri|dina|dirk|dolores|dominic|dominique|don|donald|donna
dora|doris|dorothy|doug|douglas|drew|duncan|dustin|dwight|dylan|earl|ed|eddie|edgar|edith|edmund|eduardo
edward|edwin|eileen|elaine|elena|eleanor|eli|elias|elijah|elisa|elisabeth|elise|eliza|elizabeth|ella|ellen
ellie|elliot|elliott|elsa|elsie|elvis|emanuel|emil|emilia|emiliano|emilio|emilie|emily|emma|emmanuel|enrico
enrique|eric|erica|erich|erik|erika|erin|ernest|ernesto|ernie|esmeralda|esteban|estelle|esther|ethan|eugene
eva|evan|eve|evelyn|fabian|fabio|faith|fatima|fatou|federico|felicia|felipe|felix|fernanda|fernando|fiona
flora|florence|florian|floyd|frances|francesca|francesco|francis|francisco|francois|francoise|frank|frankie
franklin|franz|fred|freddie|frederic|frederick|freya|frida|friedrich|fritz|gabby|gabriel|gabriela|gabriella
gabrielle|gail|gareth|gary|gavin|gemma|gene|genevieve|geoff|geoffrey|george|georgia|georgina|gerald
geraldine|gerard|gerhard|gertrude|gianna|gilbert|gina|ginger|giorgio|giovanni|gisela|giulia|giuseppe|gladys
glen|glenn|gloria|gordon|grace|graham|grant|greg|gregory|greta|guadalupe|guido|guillermo|gunther|gus|gustavo
guy|gwen|hailey|hakim|hamid|hana|hank|hanna|hannah|hans|harald|harold|harriet|harris|harrison|harry|harvey
hassan|hazel|heather|hector|heidi|heike|heinrich|heinz|helen|helena|helga|helmut|henri|henrietta|henrik
henry|herbert|herman|hilary|hilda|holly|homer|hope|horst|howard|hubert|hugh|hugo|ian|ibrahim|ida|ignacio
igor|ilse|imani|imran|ines|ingrid|irene|irina|iris|irma|isaac|isabel|isabella|isabelle|isaiah|ismail|ivan
ivy|jack|jackie|jackson|jacob|jacqueline|jacques|jade|jaime|jake|jakob|jamal|james|jamie|jan|jana|jane|janet
janice|janine|jared|jasmine|jason|javier|jay|jayden|jean|jeanette|jeanne|jeff|jeffrey|jen|jenna|jennifer
jenny|jens|jeremiah|jeremy|jerome|jerry|jesse|jessica|jessie|jesus|jill|jillian|jim|jimena|jimmy|jo|joan
joanna|joanne|joao|joaquin|jochen|jodi|jody|joe|joel|joey|johan|johanna|johannes|john|johnny|jon|jonah|jonas
jonathan|jordan|jorg|jorge|jose|josef|joseph|josephine|josh|joshua|josie|joy|joyce|juan|juana|juanita|judith
judy|jules|julia|julian|juliana|julie|julien|juliet|juliette|julio|julius|june|jurgen|justin|justine|kai
kaitlyn|kamal|karen|karim|karin|karina|karl|karla|karolina|kate|katharina|katherine|kathleen|kathryn|kathy
katie|katja|katrin|katrina|kay|kayla|keith|kelly|kelvin|ken|kendra|kenneth|kenny|kent|kerry|kevin|khalid
kiara|kim|kimberly|kirk|kirsten|klaus|konrad|kofi|kristen|kristin|kristina|kristine|kunal|kurt|kwame|kyle
kylie|lakshmi|lana|lance|lara|larissa|larry|lars|latoya|laura|lauren|laurence|laurent|laurie|lawrence|lea
leah|lee|leila|lena|leo|leon|leona|leonard|leonardo|leroy|leslie|lester|levi|lewis|liam|lily|lilian|lillian
lina|linda|lindsay|lindsey|linus|lionel|lisa|liv|liza|lloyd|lois|lola|lopez|lorenzo|loretta|lori|lorraine
lottie|lou|louis|louisa|louise|luc|luca|lucas|lucia|lucille|lucy|luigi|luis|luisa|luka|lukas|luke|lupe|lydia
lyle|lynn|mabel|mack|maddie|madeleine|madeline|madison|mae|maggie|magnus|mahmoud|maja|malcolm|malik|mandy
manfred|manuel|manuela|mara|marc|marcel|marcela|marcella|marcia|marco|marcos|marcus|margaret|margarita|margo
maria|mariah|mariam|marianne|marie|mariela|marilyn|marina|mario|marion|marisa|marissa|marjorie|mark|marko
markus|marlene|marlon|marta|martha|martin|martina|marty|marvin|mary|maryam|mason|massimo|mateo|mathias
mathilde|matilda|matt|matteo|matthew|matthias|maureen|maurice|max|maxim|maxime|maximilian|maxine|maya|megan
mei|mel|melanie|melinda|melissa|mercedes|meredith|mia|micah|michael|michaela|michal|micheal|michel|michele
michelle|mick|mickey|miguel|mike|mikhail|mila|mildred|miles|milena|millie|milo|milton|mina|mindy|minh|mira
miranda|miriam|mitch|mitchell|moe|mohamed|mohammad|mohammed|moira|mollie|molly|mona|monica|monika|monique
morgan|morris|moses|muhammad|muriel|mustafa|myra|nadia|nadine|naomi|nancy|natalia|natalie|natasha|nate
nathan|nathaniel|neal|ned|neha|neil|nelly|nelson|nia|nicholas|nick|nicky|nico|nicola|nicolas|nicole|nigel
nikhil|nikita|niklas|nikolai|nils|nina|nisha|noah|noel|noelle|nora|norbert|norma|norman|octavia|olaf|oleg
olga|oliver|olivia|ollie|omar|oscar|oskar|otis|otto|owen|pablo|paige|pam|pamela|paola|paolo|parker|pascal
pat|patrice|patricia|patricio|patrick|patty|paul|paula|pauline|paulo|pavel|pearl|pedro|peggy|penelope|penny
perry|pete|peter|petra|phil|philip|philipp|philippe|phillip|phoebe|phyllis|pierre|piotr|polly|pooja|priya
quentin|quinn|rachel|rafael|rafaela|rahul|raj|rajesh|ralf|ralph|ramon|ramona|randall|randy|raphael|rashid
raul|ravi|ray|raymond|rebecca|reggie|regina|reginald|reinhard|remy|rena|renata|renate|rene|renee|reza|rhonda
ricardo|rich|richard|rick|ricky|rita|rob|robbie|robert|roberta|roberto|robin|robyn|rocco|rocio|rod|roderick
rodney|rodrigo|roger|rohan|rohit|roland|rolf|roman|ron|ronald|ronnie|rosa|rosalie|rosalind|rosario|rose
rosemary|rosie|ross|roxanne|roy|ruben|ruby|rudolf|rudy|rupert|russ|russell|ruth|ryan|sabine|sabrina|sadie
said|sally|salma|sam|samantha|samir|sammy|samuel|sandra|sandy|sanjay|santiago|sara|sarah|sasha|saul|savannah
scott|sean|sebastian|selena|selma|serena|sergei|sergio|seth|shane|shannon|sharon|shaun|shauna|shawn|sheila
shelby|sheldon|shelley|shelly|sheri|sherry|shirley|sidney|sienna|sigrid|silas|silvia|simon|simone|siobhan
skylar|sofia|sonia|sonja|sonya|sophia|sophie|spencer|stacey|stacy|stan|stanley|stefan|stefanie|stella|steph
stephan|stephanie|stephen|steve|steven|stewart|stuart|sue|sunil|susan|susanna|susanne|susie|suzanne|suzy
svetlana|sven|sybil|sylvia|tabitha|tamara|tammy|tania|tanja|tanya|tara|tariq|tatiana|taylor|ted|teresa|teri
terrence|terri|terry|tess|tessa|thea|thelma|theo|theodore|theresa|therese|thiago|thomas|thorsten|tiffany|tim
timo|timothy|tina|tobias|toby|todd|tom|tomas|tomasz|tommy|toni|tony|tracey|tracy|travis|trent|trevor|tricia
trina|trisha|tristan|troy|tyler|tyrone|ulrich|ulrike|uma|umar|ursula|uwe|valentina|valerie|vanessa|vera
vernon|veronica|vicki|vicky|victor|victoria|vijay|vikram|vince|vincent|vincenzo|viola|violet|virginia|vivi
vivian|viviana|vivienne|vlad|vladimir|wade|wallace|walt|walter|wanda|warren|wayne|wendy|werner|wesley
wilfred|wilhelm|will|willa|william|willie|willow|wilma|winston|wolfgang|wyatt|xavier|ximena|yael|yara|yasmin
yolanda|yosef|youssef|yusuf|yvette|yvonne|zach|zachary|zack|zainab|zara|zeke|zelda|zoe|zoey|zuri|aarav|aditi
aditya|ajay|akash|anand|anika|anil|anjali|ankit|anushka|arun|ashok|bala|chetan|deepa|dev|devi|divya|gita
hari|indira|ishaan|jaya|karan|kavita|kiran|krishna|lata|manish|meena|meera|mohan|nandini|naveen|nitin|padma
pankaj|prakash|preeti|radha|rakesh|ram|rani|rekha|ritu|sachin|sandeep|sanjana|shreya|sita|suresh|swati|tanvi
uday|usha|varun|vikas|vinod|vivek|yash|abdul|abdullah|ahmad|ahmed|amina|anwar|bilal|farah|farid|faisal|hadi
hamza|huda|hussein|jamila|kareem|khadija|laila|layla|mansour|nabil|nadir|nasser|noor|nour|rania|saeed|salim
samira|sana|tamer|walid|yasin|yasmine|zahra|zaid|ziad|aiko|akira|asuka|ayumi|chihiro|daisuke|emi|eri|haruka
haruki|haruto|hideo|hina|hinata|hiro|hiroshi|hiroko|ichiro|jiro|kaito|kaori|kazuki|keiko|kenji|kenta|kyoko
mai|makoto|mariko|masako|megumi|michiko|midori|miho|misaki|naoki|naoko|noriko|rei|ren|rin|ryo|sakura|satoshi
shinji|shota|sora|taka|takashi|takeshi|taro|tomoko|yoko|yoshi|yui|yuka|yuki|yumi|yuta|yuto|hyun|jae|ji-hoon
ji-woo|jihoon|jimin|jin|joon|min-jun|minho|minji|sang|seo-yeon|seung|soo|soojin|sung|young|bao|binh|chau
dung|duc|giang|hanh|hieu|hoa|huong|khanh|lan|linh|long|ngoc|nguyen|nhung|phuong|quan|quynh|thanh|thao|thi
thuy|trang|trinh|tuan|tuyet|van|viet|vinh|adaeze|ade|adwoa|akua|ama|amara|amadou|aminata|aniekan|ayo|baraka
chidi|chiamaka|chinonso|emeka|folake|ifeoma|ikenna|jabari|jelani|kamau|kwabena|kwesi|lindiwe|makena|mandla
nana|ngozi|njeri|nnamdi|nomsa|obinna|ola|olu|oluwaseun|sipho|tendai|thabo|themba|tunde|wanjiru|yaa|zanele
zola|agnieszka|aleksander|aleksandra|aleksei|alexei|andrei|andrzej|anatoly|arkady|bartek|bogdan|danuta|daria
dmitri|dmitry|ekaterina|ewa|fyodor|galina|grzegorz|ilya|iwona|jacek|jakub|jerzy|kasia|katarzyna|katya|kirill
konstantin|krzysztof|ksenia|lech|lev|lidia|ludmila|maciej|magda|magdalena|malgorzata|marek|mateusz|milan
milos|misha|mykola|nastya|nikolay|oksana|oleksandr|pawel|petr|polina|radek|ruslan|sergey|stanislav|svetla
tadeusz|tomek|vadim|valentin|vasily|viktor|viktoria|vitaly|volodymyr|wojciech|yaroslav|yelena|yevgeny|yulia
yuri|zbigniew|zdenek|zofia|aino|bjarne|eero|eino|elin|freja|gunnar|gudrun|hakan|helge|ingeborg|jari|jorgen
juha|jussi|karsten|kjell|lasse|leif|linnea|mats|mikael|mikko|niels|olav|pekka|per|pia|ragnar|sigurd|signe
solveig|soren|stig|svein|tarja|thor|tove|tuva|ulf|vidar|ylva|aitana|alba|alvaro|beto|blanca|carme|chema
concha|consuelo|cruz|dulce|efrain|elvira|encarna|esperanza|eusebio|fermin|gael|gerardo|gonzalo|inma|iker
itziar|jacinto|jordi|josefina|josep|leticia|lourdes|luz|macarena|marisol|maribel|nieves|nuria|octavio|paco
paloma|paz|pepe|pilar|rafa|ramiro|raquel|remedios|rogelio|salvador|santi|soledad|vicente|xavi|yago|amelie
anais|anouk|arnaud|aurelie|baptiste|bastien|benoit|brigitte|cecile|chantal|clemence|coralie|delphine|didier
elodie|emeline|etienne|fabrice|fanny|gaelle|gilles|guillaume|helene|herve|loic|lucie|ludovic|manon|margaux
marine|mathieu|mathis|maud|mireille|nathalie|noemie|odile|olivier|oceane|raphaelle|sandrine|severine|solene
stephane|sylvain|sylvie|thibault|thierry|valentine|veronique|virginie|yann|yannick|yves|alessandra
alessandro|alessia|beppe|chiara|claudio|cristiano|daniele|davide|domenico|donatella|elisabetta|emanuele
fabrizio|federica|filippo|flavia|franco|gaetano|giacomo|gianluca|gianni|giada|ilaria|ivo|lorenza|luciano
marcello|margherita|maurizio|mirella|nicolo|ornella|pasquale|piero|pietro|raffaele|riccardo|rossella|sandro
silvio|simona|stefania|stefano|tommaso|umberto|ugo|valentino|vittoria|vittorio|afonso|caio|catarina|duarte
eduarda|fabiana|flavio|goncalo|heitor|inacio|isadora|joana|juliano|leandro|lucinda|luiz|marcelo|mauricio
nuno|otavio|renato|rui|tiago|thais|vitoria|wagner|anneke|bart|bas|daan|femke|floris|gerrit|hendrik|jelle
jeroen|joost|joris|koen|lieke|maarten|marieke|marijke|mieke|pieter|rik|roos|ruud|sanne|sjoerd|thijs|tijs|wim
wouter|annika|bernd|birgit|britta|carsten|christoph|detlef|dorothea|elke|frauke|gabriele|heiko|henning
holger|ilona|ingo|jutta|kerstin|maike|marlies|maren|nele|ole|ottmar|rainer|reiner|rudiger|siegfried|silke
steffen|swen|tilman|torben|torsten|ute|volker|waltraud|wiebke|aoife|brigid|caoimhe|ciara|cian|declan|donal
eamon|eoin|fergus|finn|grainne|maeve|niamh|oisin|orla|padraig|roisin|ronan|saoirse|seamus|sinead|sorcha
tadhg|alasdair|angus|callum|catriona|euan|ewan|fraser|hamish|isla|iain|kirsty|lachlan|mairi|morag|rory|shona
bronwyn|carys|dilys|emrys|gethin|gwyneth|gwilym|huw|ieuan|rhiannon|rhys|sian|persis|fahim|akib|muhhamed
"""

FAMILY: Final = """
smith|johnson|williams|brown|jones|garcia|miller|davis|rodriguez|martinez|hernandez|lopez|gonzalez|gonzales
wilson|anderson|thomas|taylor|moore|jackson|martin|perez|thompson|white|harris|sanchez|clark|ramirez|lewis
robinson|walker|allen|wright|torres|nguyen|hill|flores|green|adams|nelson|baker|hall|rivera|campbell
mitchell|carter|roberts|gomez|phillips|evans|turner|diaz|parker|cruz|edwards|collins|reyes|stewart|morris
morales|murphy|cook|rogers|gutierrez|ortiz|morgan|cooper|peterson|bailey|reed|kelly|howard|ramos|kim|cox
ward|richardson|watson|brooks|chavez|wood|bennett|gray|mendoza|ruiz|hughes|alvarez|castillo|sanders|patel
myers|long|ross|foster|jimenez|powell|jenkins|perry|russell|sullivan|bell|coleman|butler|henderson|barnes
fisher|vasquez|simmons|romero|patterson|hamilton|graham|reynolds|griffin|wallace|moreno|west|cole|hayes
bryant|herrera|gibson|ellis|tran|medina|aguilar|stevens|murray|ford|castro|marshall|owens|harrison|fernandez
mcdonald|woods|washington|kennedy|wells|vargas|freeman|webb|tucker|guzman|burns|crawford|olson|simpson
porter|hunter|gordon|mendez|silva|shaw|snyder|mason|dixon|munoz|hunt|hicks|holmes|palmer|wagner|black
robertson|boyd|stone|salazar|fox|warren|mills|meyer|rice|schmidt|garza|daniels|ferguson|nichols|stephens
soto|weaver|ryan|gardner|payne|grant|dunn|kelley|spencer|hawkins|arnold|pierce|hansen|peters|santos|hart
bradley|knight|elliott|cunningham|duncan|armstrong|hudson|carroll|lane|riley|andrews|alvarado|ray|delgado
berry|perkins|hoffman|johnston|matthews|pena|richards|contreras|willis|carpenter|lawrence|sandoval|guerrero
george|chapman|rios|estrada|ortega|watkins|greene|nunez|wheeler|valdez|harper|burke|larson|maldonado
morrison|franklin|carlson|austin|dominguez|carr|lawson|jacobs|obrien|o'brien|lynch|singh|vega|bishop
montgomery|oliver|jensen|harvey|williamson|gilbert|dean|sims|espinoza|howell|li|wong|reid|hanson|le|mccoy
garrett|burton|fuller|weber|welch|rojas|lucas|marquez|fields|park|yang|little|banks|padilla|day|walsh|bowman
schultz|luna|fowler|mejia|sharma|gupta|kumar|khan|ahmed|hussain|ali|shah|das|roy|sen|bose|rao|reddy|iyer
mehta|joshi|verma|mishra|chopra|kapoor|malhotra|banerjee|mukherjee|chatterjee|nair|menon|pillai|jain|muller
mueller|schneider|fischer|becker|schulz|koch|bauer|richter|klein|wolf|schroder|neumann|schwarz|zimmermann
braun|kruger|hofmann|hartmann|lange|schmitt|werner|krause|lehmann|kohler|herrmann|konig|walter|mayer|huber
kaiser|fuchs|lang|scholz|moller|weiss|jung|hahn|schubert|vogel|keller|gunther|frank|berger|winkler|roth|beck
lorenz|baumann|franke|albrecht|ludwig|bohm|dubois|durand|leroy|moreau|simon|laurent|lefebvre|michel|bertrand
roux|fournier|girard|bonnet|dupont|lambert|fontaine|rousseau|rossi|russo|ferrari|esposito|bianchi|romano
colombo|ricci|marino|greco|conti|bruno|gallo|costa|giordano|mancini|rizzo|lombardi|moretti|andersson
johansson|karlsson|nilsson|eriksson|larsson|olsson|persson|svensson|gustafsson|pettersson|nielsen|pedersen
andersen|christensen|larsen|sorensen|rasmussen|jorgensen|petersen|olsen|berg|haugen|ivanov|smirnov|kuznetsov
popov|petrov|sokolov|novak|svoboda|dvorak|kowalski|nowak|wisniewski|wojcik|sato|suzuki|takahashi|tanaka
watanabe|ito|yamamoto|nakamura|kobayashi|kato|yoshida|yamada|sasaki|yamaguchi|matsumoto|inoue|kimura|hayashi
shimizu|yamazaki|mori|abe|ikeda|hashimoto|ishikawa|ogawa|okada|choi|kang|cho|yoon|jang|lim|okafor|okonkwo
adeyemi|mensah|owusu|diallo|traore|mbeki|mandela|dlamini|nkosi|ndlovu|oliveira|souza|rodrigues|ferreira
alves|pereira|lima|gomes|ribeiro|carvalho|almeida|lopes|soares|fernandes|vieira|barbosa|rocha|dias
nascimento|andrade|moreira|de vries|bakker|janssen|visser|smit|de jong|van dijk
"""

# Family and given names in pinyin: "Zhu Xiuying", "Lei Mingxuan".
PINYIN_FAMILY: Final = """
wang|li|zhang|liu|chen|yang|zhao|huang|zhou|wu|xu|sun|hu|zhu|gao|lin|he|guo|ma|luo|liang|song|zheng|xie|han
tang|feng|yu|dong|xiao|cheng|cao|yuan|deng|fu|shen|zeng|peng|lu|su|jiang|cai|jia|ding|wei|xue|ye|yan|pan|du
dai|xia|zhong|tian|ren|fan|fang|shi|yao|tan|liao|zou|xiong|jin|hao|kong|bai|cui|kang|mao|qiu|qin|gu|hou|shao
meng|long|wan|duan|lei|qian|yin|chang|gong|wen|qiao|lai|pang|ouyang|sima|zhuge|situ|shangguan
"""

TITLES: Final = """
mr|mr.|mrs|mrs.|ms|ms.|miss|dr|dr.|doctor|prof|prof.|professor|sir|madam|lady|lord|captain|capt|capt.|sgt
sergeant|colonel|general|major|lieutenant|lt|officer|detective|judge|justice|senator|congressman|governor
mayor|president|chancellor|minister|king|queen|prince|princess|emperor|empress|pope|cardinal|bishop|saint
father|brother|sister|uncle|aunt|auntie|grandma|grandpa|cousin|coach|chef|nurse|boss|master|director|manager
engineer|teacher|secretary|herr|herrn|frau|fraulein|senor|senora|senorita|don|dona|monsieur|madame
mademoiselle|mme|mlle|signor|signora|dottor|duke|duchess|baron|count|sheikh|imam|rabbi|reverend|rev
"""
# After them a person, whatever the capitals say about the next word.
KIN: Final = """
friend|friends|best friend|buddy|pal|brother|sister|bro|sis|mother|mom|mum|father|dad|son|daughter|wife
husband|fiance|fiancee|boyfriend|girlfriend|partner|spouse|cousin|uncle|aunt|niece|nephew|grandma|grandpa
grandmother|grandfather|boss|manager|colleague|coworker|co-worker|roommate|neighbor|neighbour|teacher
professor|mentor|tutor|doctor|dentist|therapist|coach|trainer|advisor|adviser|lawyer|attorney|accountant
assistant|landlord|client|customer|classmate|teammate|supervisor|actor|actress|singer|director|author|writer
artist|painter|poet|composer|musician|scientist|freund|freundin|bruder|schwester|mutter|vater|frau|mann|sohn
tochter|chef|kollege|kollegin|amigo|amiga|hermano|hermana|madre|padre|hijo|hija|marido|esposa|jefe|ami|amie
frere|soeur|mere|pere|fils|fille|mari|femme|collegue|patron|named|player|driver|guitarist|drummer|producer
developer|mentee|intern|secretary|guy|girl|man|woman|kid|boy|baby|nanny
"""
SAYING: Final = """
said|says|asked|asks|told|tells|replied|answered|thinks|thought|wants|wanted|loves|loved|likes|liked|hates
knows|knew|went|goes|came|comes|called|texted|emailed|wrote|writes|works|worked|lives|lived|moved|met
married|died|born|suggested|recommended|agreed|mentioned|invited|helped|gave|bought|brought|offered|taught
hired|promised|plays|played|won|sings|sang|directed|starred|decided|felt|feels|smiled|laughed|cried|joined
left|graduated|studied|studies|proposed|introduced|explained|sagte|sagt|meinte|fragte|dijo|dice|pregunto|dit
demande|confirmed|advised|reminded|shared|sent|noted|praised|believes|believed|argued|insisted|declined
"""
# Before them or after them in a clause stands somebody.
MEETING: Final = """
with|meet|met|meeting|call|calling|called|text|texting|ask|asked|asking|tell|told|telling|invite|invited
inviting|visit|visited|visiting|thank|thanks|miss|love|hug|kiss|marry|married|dating|date|know|hi|hello|hey
dear|bye|congrats|congratulations|named|by|from|mit|con|avec|send|receive|email|emailed|see|saw|help|remind
introduce|hire|hired|between|alongside|under|starring
"""
FAMOUS: Final = """
taylor swift|paris hilton|beyonce|rihanna|madonna|eminem|drake|adele|elvis presley|michael jackson|bob dylan
john lennon|paul mccartney|david bowie|freddie mercury|kanye west|lady gaga|ed sheeran|justin bieber
billie eilish|ariana grande|bruno mars|mozart|beethoven|bach|chopin|vivaldi|picasso|van gogh
vincent van gogh|monet|rembrandt|michelangelo|leonardo da vinci|da vinci|salvador dali|frida kahlo
shakespeare|william shakespeare|jane austen|charles dickens|mark twain|hemingway|tolkien|george orwell
orwell|kafka|tolstoy|dostoevsky|goethe|homer|plato|aristotle|socrates|confucius|buddha|jesus christ|jesus
muhammad|einstein|albert einstein|newton|isaac newton|darwin|charles darwin|galileo|stephen hawking
marie curie|freud|karl marx|napoleon|julius caesar|cleopatra|alexander the great|genghis khan
george washington|abraham lincoln|lincoln|obama|barack obama|trump|donald trump|biden|joe biden
hillary clinton|bill clinton|george bush|reagan|nixon|churchill|winston churchill|hitler|adolf hitler|stalin
lenin|mao|mao zedong|putin|gandhi|mahatma gandhi|nelson mandela|martin luther king|queen elizabeth
king charles|prince william|elon musk|bill gates|steve jobs|jeff bezos|mark zuckerberg|warren buffett|oprah
oprah winfrey|tom hanks|brad pitt|leonardo dicaprio|tom cruise|will smith|meryl streep|scarlett johansson
robert de niro|al pacino|quentin tarantino|steven spielberg|spielberg|christopher nolan|alfred hitchcock
messi|lionel messi|ronaldo|cristiano ronaldo|pele|maradona|michael jordan|lebron james|kobe bryant
serena williams|roger federer|nadal|djokovic|usain bolt|tiger woods|muhammad ali|harry potter|hermione
voldemort|dumbledore|frodo|gandalf|sherlock holmes|james bond|batman|superman|spider-man|darth vader
luke skywalker|mickey mouse|donald duck|santa claus|zeus|athena|apollo|odin|thor
"""

# Given names that are also everyday words: persons only where the words around them say so.
DOUBTFUL: Final = """
will|mark|bill|art|grant|rich|rob|jack|pat|drew|dawn|faith|hope|joy|grace|rose|lily|daisy|ivy|iris|violet
ruby|pearl|amber|crystal|jade|ginger|heather|holly|april|may|june|august|summer|autumn|penny|frank|chase
miles|dean|dick|rod|gene|guy|jay|ray|roman|robin|sandy|sue|van|wade|young|long|lane|stone|said|don|earl|duke
angel|christian|mason|hunter|cook|baker|miller|taylor|page|price|rice|kay|bo|ed|al|sky|star|storm|river
brook|clay|cliff|dale|glen|heath|forest|reed|west|north|bell|bush|wood|woods|hill|hall|fields|banks|rivers
brooks|black|brown|green|white|gray|grey|gold|silver|king|queen|prince|bishop|knight|law|day|winter|spring
melody|harmony|charity|mercy|destiny|chance|colt|buck|bud|skip|buddy|junior|major|sunny|honey|candy|cherry
olive|sage|basil|rosemary|willow|hazel|fern|flora|bird|martin|phoenix|chad|alma|luna|sol|mar|jesus|reina
salvador|per|kai|ole|thor|roos|bart|basic|carme|nia|ola|rin|ren|rei|mai|mina|lan|thi|dung|hoa|sung|sang|soo
jin|jae|quan|ram|ella|else|an|bas|rik|ute|elke|ama|nana|hari|lata|patty|tara|misty|stormy|tad|tab|gay|fanny
willy|woody|curt|ernest|constant|felicity|prudence|trinity|genesis|nevaeh|cash|ace|blaze|rusty|dusty|rocky
sonny|lance|pierce|piers|peg|mick|nell|gill|les|rex|stew|jo|pip|dot|minnie|sunil|titan|atlas|orion|aurora
nova|sierra|sienna|savanna
""".strip()

# Family names and honorifics of Chinese, Japanese and Korean.
HAN_FAMILY: Final = (
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛"
    "叶阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔"
    "贺赖龚文庞樊兰殷施陶洪翟安颜倪严牛温芦季俞章鲁葛伍韦申尤毕聂丛焦向柳邢路岳齐梅莫庄辛管祝左涂谷祁"
    "时舒耿牟卜詹关苗凌费纪靳盛童欧甄项曲成游阳裴席卫查屈鲍位覃霍翁隋植甘景薄单包司柏宁柯阮桂闵解强柴"
    "华车冉房边辜吉饶刁瞿戚丘古米池滕晋苑邬臧畅宫来嵺苟全褚廉简娄盖符奚木穆党燕郎邸冀谈姬屠连郜晏栾郁"
    "商蒙计喻揭窦迟宇敖糜鄢冷卓花仇艾蓝都巩稽井练仲乐虞卞封竺冼原官衣楚佟栗匡宗应台巫鞠僧桑荆谌银扬明"
    "沙伏岑习胥保和蔺"
)
HAN_TITLES: Final = """
先生|女士|小姐|太太|老师|教授|医生|大夫|经理|主任|总|阿姨|叔叔|大爷|大妈|师傅|同学|さん|ちゃん|くん|様|先輩
씨|님
"""
