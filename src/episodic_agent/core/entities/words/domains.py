"""Domains of talk and the words that tell them, as plain words: stems are made when first used.

English first; the commonest words of German, Spanish and French; Chinese and Japanese as substrings.
A word may tell two domains; what everyday talk uses for anything ("time", "good") tells none.
"""

from typing import Final

DOMAINS: Final[dict[str, str]] = {
    "weather": """
weather|forecast|rain|rainy|raining|shower|drizzle|storm|stormy|thunder|thunderstorm|lightning|snow|snowy
snowing|blizzard|hail|sleet|frost|freezing|icy|fog|foggy|mist|wind|windy|breeze|gust|hurricane|tornado
typhoon|cyclone|sunny|sunshine|sunset|cloud|cloudy|overcast|umbrella|raincoat|temperature|degrees|celsius
fahrenheit|humid|humidity|heatwave|chilly|drought|flood|flooding|barometer|climate|precipitation|uv|wetter
regen|regnet|schnee|sonnig|gewitter|regenschirm|temperatur|clima|lluvia|llueve|nieve|soleado|tormenta
paraguas|temperatura|meteo|pluie|pleut|neige|orage|parapluie|soleil
""",
    "travel": """
travel|traveling|travelling|trip|journey|vacation|holiday|holidays|getaway|tour|tourist|tourism|sightseeing
itinerary|destination|flight|flights|airline|airport|plane|boarding|passport|visa|luggage|suitcase|baggage
packing|hotel|hostel|airbnb|homestay|resort|booking|reservation|checkin|train|railway|bus|ferry|cruise
roadtrip|backpack|backpacking|camping|hike|hiking|trail|beach|island|mountain|landmark|museum|abroad|jetlag
ticket|tickets|departure|arrival|layover|customs|souvenir|scenic|scenery|explore|guidebook|commute|subway
metro|taxi|uber|visit|reise|urlaub|flug|flughafen|zug|koffer|strand|viaje|viajar|vuelo|aeropuerto|tren
maleta|playa|vacaciones|voyage|voyager|vol|avion|aeroport|valise|plage|vacances
""",
    "food": """
food|eat|eating|ate|meal|meals|breakfast|lunch|dinner|supper|brunch|snack|snacks|dessert|cook|cooking|cooked
bake|baking|baked|recipe|recipes|ingredient|ingredients|kitchen|restaurant|cafe|coffee|tea|juice|wine|beer
cocktail|drink|drinks|bread|butter|cheese|milk|egg|eggs|bacon|meat|beef|pork|chicken|fish|seafood|sushi
ramen|noodle|noodles|pasta|pizza|burger|sandwich|salad|soup|stew|curry|rice|beans|potato|tomato|onion|garlic
spice|spicy|salt|sugar|sauce|vegetable|vegetables|fruit|apple|banana|orange|strawberry|chocolate|cake|cookie
cookies|pie|vegan|vegetarian|delicious|tasty|hungry|takeout|takeaway|grill|bbq|barbecue|steak|taco|tacos
dumpling|dumplings|hotpot|menu|chef|cuisine|flavor|essen|kochen|fruhstuck|mittagessen|abendessen|brot|kaffee
kuchen|comida|comer|cenar|cena|desayuno|almuerzo|receta|cocinar|manger|cuisiner|recette|diner|dejeuner
petit-dejeuner|pain|gateau|nourriture
""",
    "health": """
health|healthy|doctor|doctors|hospital|clinic|nurse|medicine|medication|pill|pills|prescription|pharmacy
symptom|symptoms|sick|illness|disease|infection|virus|covid|flu|fever|cough|headache|migraine|pain|ache|sore
injury|injured|surgery|operation|therapy|therapist|anxiety|depression|stress|mental|sleep|insomnia|diet
nutrition|vitamin|vitamins|allergy|allergic|asthma|diabetes|cancer|blood|pressure|heart|cholesterol|vaccine
vaccination|dentist|dental|tooth|teeth|bandage|wound|recovery|rehab|physiotherapy|pregnant|pregnancy|weight
obesity|meditation|wellness|checkup|diagnosis|patient|treatment|ambulance|emergency|skin|rash|gesundheit
arzt|krankenhaus|krank|schmerzen|medikament|apotheke|salud|medico|enfermo|dolor|medicina|farmacia|sante
medecin|hopital|malade|douleur|medicament
""",
    "money": """
money|cash|budget|budgeting|bank|banking|account|savings|save|saving|invest|investing|investment|investments
stock|stocks|shares|bond|bonds|fund|funds|portfolio|dividend|crypto|bitcoin|loan|loans|debt|mortgage|credit
interest|rent|bill|bills|payment|payments|payer|salary|income|wage|wages|bonus|tax|taxes|refund|expense
expenses|cost|costs|price|fee|fees|insurance|pension|retirement|inflation|economy|financial|finance|finances
currency|dollar|dollars|euro|euros|yuan|transfer|deposit|withdraw|withdrawal|balance|invoice|receipt|audit
geld|konto|sparen|kredit|miete|steuer|steuern|gehalt|rechnung|dinero|cuenta|ahorrar|prestamo|alquiler
impuestos|sueldo|factura|argent|compte|epargne|pret|loyer|impots|salaire|facture
""",
    "work": """
work|job|jobs|career|careers|office|boss|manager|colleague|colleagues|coworker|coworkers|employee|employees
employer|company|business|startup|client|clients|customer|customers|meeting|meetings|agenda|deadline
deadlines|project|projects|presentation|report|reports|proposal|contract|interview|resume|cv|hire|hiring
hired|fired|layoff|promotion|raise|shift|overtime|freelance|freelancer|intern|internship|team|teamwork
leadership|supervisor|department|workplace|remote|workload|productivity|stakeholder|stakeholders|sales
marketing|negotiation|resign|unemployed|occupation|profession|professional|arbeit|chef|kollege|kollegen|buro
besprechung|bewerbung|trabajo|empleo|jefe|oficina|reunion|entrevista|travail|emploi|patron|bureau|collegue
entretien|stage
""",
    "shopping": """
shop|shops|shopping|store|stores|mall|supermarket|grocery|groceries|market|buy|buying|bought|purchase
purchased|order|ordered|delivery|delivered|courier|parcel|package|shipping|shipment|return|refund|discount
sale|coupon|bargain|cart|checkout|brand|brands|retail|retailer|clothes|clothing|dress|shirt|shirts|jeans
jacket|coat|skirt|sweater|shoes|sneakers|boots|handbag|jewelry|necklace|ring|fashion|outfit|cosmetics|makeup
lipstick|perfume|gift|gifts|present|presents|warehouse|stock|fabric|einkaufen|laden|kaufen|gekauft|kleid
schuhe|geschenk|rabatt|compras|tienda|comprar|ropa|zapatos|regalo|descuento|magasin|acheter|achat|robe
chaussures|cadeau|soldes
""",
    "sport": """
sport|sports|gym|workout|workouts|exercise|exercises|exercising|training|trainer|fitness|run|running|runner
jog|jogging|marathon|race|cycling|bike|biking|swim|swimming|yoga|pilates|stretch|stretching|plank|squats
football|soccer|basketball|baseball|tennis|badminton|volleyball|golf|hockey|rugby|cricket|boxing|kickboxing
wrestling|skiing|ski|snowboard|skating|surfing|climbing|rowing|athletics|athlete|player|players|team|teams
coach|match|tournament|league|championship|champion|cup|olympics|medal|score|goal|goals|stadium|referee
season|playoffs|quarterback|pace|kilometers|muscle|muscles|strength|cardio|fussball|spiel|mannschaft|laufen
schwimmen|turnier|futbol|partido|equipo|gimnasio|correr|nadar|foot|equipe|courir|natation|tournoi
""",
    "film": """
film|films|movie|movies|cinema|theater|theatre|actor|actors|actress|director|directed|scene|scenes|plot
character|characters|screenplay|script|sequel|prequel|trilogy|trailer|episode|episodes|season|series|sitcom
show|shows|tv|television|streaming|netflix|hulu|documentary|anime|cartoon|animation|animated|comedy|drama
thriller|horror|romance|protagonist|villain|hero|cast|starring|premiere|oscar|oscars|screening|binge|watch
watching|schauspieler|serie|kino|pelicula|peliculas|actriz|cine|acteur|actrice|realisateur
""",
    "music": """
music|song|songs|sing|singing|singer|band|bands|album|albums|lyrics|melody|rhythm|concert|concerts|gig
festival|guitar|piano|violin|drum|drums|bass|orchestra|symphony|opera|jazz|rock|pop|rap|hip-hop|classical
playlist|spotify|musician|musicians|composer|chord|chords|tune|vinyl|dj|karaoke|choir|tour|chart|billboard
grammy|remix|dance|dancing|dancer|ballet|audio|headphones|musik|lied|sanger|konzert|gitarre|cancion
canciones|cantante|concierto|guitarra|musica|musique|chanson|chanteur|guitare
""",
    "home": """
home|house|apartment|flat|condo|room|rooms|bedroom|bathroom|kitchen|livingroom|garage|garden|gardening|yard
backyard|balcony|furniture|sofa|couch|table|chair|bed|mattress|lamp|curtain|curtains|carpet|rug|decor
decorate|decoration|renovation|renovate|paint|painting|repair|repairs|plumber|plumbing|leak|leaking|pipe
electrician|heating|laundry|washing|dishwasher|dishes|clean|cleaning|vacuum|tidy|chores|fridge|oven|stove
sink|toilet|faucet|neighbor|neighbour|neighbors|landlord|tenant|lease|moving|roof|window|windows|door|wall
floor|shelf|plant|plants|haus|wohnung|zimmer|kuche|mobel|garten|putzen|reparieren|nachbar|casa|piso
habitacion|cocina|muebles|jardin|limpiar|vecino|maison|appartement|chambre|meubles|nettoyer|voisin
""",
    "family": """
family|families|mother|mom|mum|mama|father|dad|papa|parent|parents|brother|sister|siblings|son|daughter
child|children|kid|kids|baby|toddler|grandma|grandpa|grandmother|grandfather|grandparents|grandson
granddaughter|uncle|aunt|cousin|cousins|nephew|niece|wife|husband|spouse|marriage|married|marry|wedding
engaged|engagement|fiance|fiancee|anniversary|divorce|divorced|boyfriend|girlfriend|relationship
relationships|dating|date|romantic|love|birthday|birthdays|relatives|household|parenting|adoption|adopted
pregnant|newborn|familie|mutter|vater|bruder|schwester|tochter|sohn|eltern|kinder|hochzeit|geburtstag
familia|madre|padre|hermano|hermana|hijo|hija|boda|cumpleanos|famille|mere|pere|frere|soeur|fille|fils
mariage|anniversaire
""",
    "technology": """
computer|computers|laptop|pc|phone|phones|smartphone|tablet|software|hardware|app|apps|program|programming
programmer|code|coding|coder|bug|bugs|debug|debugging|error|errors|compile|compiler|server|servers|database
network|internet|wifi|wireless|router|modem|browser|website|web|online|email|password|login|account|install
installed|installing|installation|update|upgrade|driver|drivers|kernel|boot|reboot|partition|disk|drive|usb
cd|dvd|file|files|folder|directory|download|upload|backup|screen|monitor|keyboard|mouse|printer|linux|ubuntu
windows|mac|android|iphone|api|javascript|python|java|html|css|function|functions|algorithm|data|dataset|ai
robot|chatbot|cloud|deploy|deployment|repository|git|terminal|shell|script|config|configuration|desktop
package|packages|cpu|gpu|ram|memory|storage|battery|charger|sudo|rechner|drucker|passwort|programmieren
ordenador|contrasena|programar|ordinateur|logiciel|imprimante|telephone|telefono|movil
""",
    "education": """
school|schools|class|classes|classroom|teacher|teachers|student|students|study|studying|studied|studies
homework|assignment|assignments|essay|essays|thesis|exam|exams|test|tests|quiz|grade|grades|course|courses
lecture|lectures|professor|university|college|campus|degree|diploma|graduate|graduated|graduation
scholarship|tuition|semester|curriculum|lesson|lessons|learn|learning|tutor|tutoring|math|maths|mathematics
physics|chemistry|biology|history|geography|literature|probability|equation|equations|geometry|algebra
textbook|library|kindergarten|preschool|research|academic|phd|schule|lehrer|unterricht|prufung|hausaufgaben
studium|universitat|lernen|escuela|maestro|profesor|clase|examen|deberes|universidad|estudiar|ecole
professeur|cours|devoirs|universite|etudier
""",
    "pets": """
pet|pets|dog|dogs|puppy|puppies|cat|cats|kitten|kittens|kitty|hamster|rabbit|bunny|parrot|bird|birds
goldfish|fish|aquarium|turtle|horse|horses|pony|vet|veterinarian|leash|collar|litter|kibble|bark|barking
meow|purr|breed|breeds|breeder|shelter|adopt|groom|grooming|paw|paws|tail|feline|canine|animal|animals|hund
hunde|katze|katzen|tierarzt|haustier|perro|perros|gato|gatos|mascota|veterinario|chien|chiens|chat|chats
veterinaire|animaux
""",
    "reading": """
book|books|novel|novels|read|reading|author|authors|writer|writers|poem|poems|poetry|poet|fiction|nonfiction
memoir|biography|bestseller|chapter|chapters|paperback|audiobook|bookstore|library|literary|publisher
publishing|manuscript|genre|fantasy|buch|bucher|lesen|roman|libro|libros|leer|novela|livre|livres|lire
""",
    "politics": """
politics|political|government|president|minister|parliament|congress|senate|election|elections|vote|voting
voter|voters|party|democracy|democratic|republican|law|laws|legislation|constitution|court|judge|policy|war
wars|army|military|treaty|empire|king|queen|revolution|rebellion|colony|colonial|independence|republic
battle|invasion|protest|protests|rights|citizen|citizens|immigration|diplomat|embassy|sanctions|regierung
wahl|gesetz|krieg|gobierno|elecciones|ley|guerra|gouvernement|loi|guerre
""",
    "games": """
game|games|gaming|gamer|videogame|videogames|console|playstation|xbox|nintendo|chess|puzzle|puzzles|board
cards|poker|quest|quests|level|multiplayer|esports|arcade|lego|dice|spiel|spiele|juego|juegos|jeu|jeux
""",
    "beauty": """
skin|skincare|cream|serum|moisturizer|lotion|makeup|foundation|mascara|lipstick|hair|haircut|hairstyle
shampoo|conditioner|nail|nails|manicure|salon|spa|facial|perfume|acne|sunscreen|beauty|barber|kosmetik|haare
maquillaje|pelo|cheveux|maquillage
""",
    "vehicles": """
car|cars|vehicle|vehicles|truck|motorcycle|motorbike|engine|tire|tires|tyre|brake|brakes|oil|gas|gasoline
petrol|fuel|mechanic|garage|drive|driver|driving|license|parking|traffic|highway|repair|charging|electric
auto|autos|fahrrad|werkstatt|coche|carro|gasolina|taller|voiture|essence|garagiste|moto
""",
}

HAN: Final[dict[str, str]] = {
    "weather": "天气|下雨|下雪|雨伞|气温|温度|晴|阴天|台风|空气质量|预报|天気|雨|날씨|비가",
    "travel": "旅行|旅游|出差|机票|航班|酒店|民宿|火车|高铁|机场|行李|景点|签证|出发|旅行|飛行機|여행",
    "food": "吃饭|早饭|午饭|晚饭|早餐|午餐|晚餐|餐厅|饭店|火锅|做饭|面条|饺子|水果|咖啡|奶茶|ご飯|料理|음식",
    "health": "医院|医生|看病|体检|感冒|发烧|咳嗽|吃药|健康|血压|尿酸|手术|康复|受伤|睡眠|病院|薬|병원",
    "money": "银行|转账|工资|贷款|理财|基金|股票|余额|账户|收入|支出|缴费|房租|预算|税|お金|給料|돈",
    "work": "工作|上班|加班|公司|同事|老板|会议|项目|客户|合同|面试|职位|简历|出差|仕事|会社|회사",
    "shopping": "购物|买|超市|商场|快递|包裹|发货|退货|优惠|打折|订单|淘宝|买い物|쇼핑",
    "sport": "运动|跑步|健身|训练|游泳|篮球|足球|羽毛球|瑜伽|比赛|锻炼|公里|運動|試合|운동",
    "film": "电影|电视剧|导演|演员|动漫|番剧|影院|综艺|映画|アニメ|영화",
    "music": "音乐|歌曲|唱歌|歌手|演唱会|钢琴|吉他|专辑|音楽|歌|음악",
    "home": "家里|房子|装修|家具|客厅|厨房|卧室|打扫|维修|漏水|物业|邻居|花园|家務|部屋|집",
    "family": "家人|妈妈|爸爸|母亲|父亲|儿子|女儿|孩子|奶奶|爷爷|姐姐|妹妹|哥哥|老公|老婆|结婚|生日|가족",
    "technology": "电脑|手机|软件|程序|代码|网络|系统|存储|密码|文件|服务器|数据|升级|バグ|パソコン|컴퓨터",
    "education": "学校|老师|学生|作业|考试|数学|英语|上课|放学|毕业|培训|学习|课程|初中|高中|勉強|試験|학교",
    "pets": "宠物|狗|猫|小狗|小猫|兽医|犬|ペット|고양이|강아지",
    "reading": "看书|小说|读书|作家|图书馆|阅读|本を|책",
    "vehicles": "汽车|开车|车子|加油|停车|修车|驾照|車|자동차",
    "beauty": "护肤|化妆|美容|头发|理发|面膜|口红",
}
